/* SPDX-License-Identifier: Apache-2.0 */

#include "format/log/log_block.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC_BYTES 6
#define PREFIX_BYTES 14 /* magic and size */
#define TRAILER_BYTES 8
/* What the size field counts in an empty block: version, type, two empty maps, content length and
 * the trailer. */
#define MIN_SIZE 32
#define FORMAT_VERSION 1
#define MAX_CONTENT_VERSION 3
#define ROLLBACK_COMMAND "0"

/* How much of a file is looked at in one go in search of a magic. */
#define SEARCH_BYTES 65536u

static const uint8_t MAGIC[MAGIC_BYTES] = {'#', 'H', 'U', 'D', 'I', '#'};

/* ---- reading ------------------------------------------------------------------------------ */

/* Each entry takes at least 8 bytes, so a hostile count ends the loop at the end of the body. */
static hudi_status take_map(struct hd_op *op, struct hd_cursor *in, struct hd_slice *out)
{
    const struct hd_cursor start = *in;
    uint32_t n_entries, key, n_bytes;
    struct hd_slice value;

    HD_TRY(hd_cursor_u32be(op, in, &n_entries));
    for (uint32_t i = 0; i < n_entries; i++) {
        HD_TRY(hd_cursor_u32be(op, in, &key));
        HD_TRY(hd_cursor_u32be(op, in, &n_bytes));
        HD_TRY(hd_cursor_take(op, in, n_bytes, &value));
    }
    *out = hd_cursor_since(in, start);
    return HUDI_OK;
}

/* Everything between the size and the trailer. */
static hudi_status decode_body(struct hd_op *op, struct hd_cursor in, struct hd_log_block *out)
{
    const uint64_t offset = out->offset;
    uint32_t version, type;
    uint64_t content_bytes;
    struct hd_slice footer;

    HD_TRY(hd_cursor_u32be(op, &in, &version));
    if (version != FORMAT_VERSION)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "log block at byte %" PRIu64 " has log format version %" PRIu32, offset,
                       version);
    HD_TRY(hd_cursor_u32be(op, &in, &type));
    if (type > HD_LOG_CDC_DATA)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "log block at byte %" PRIu64 " is of unknown type %" PRIu32, offset, type);
    if (type == HD_LOG_CORRUPT)
        return hd_fail(op, HUDI_CORRUPT, "log block at byte %" PRIu64 " is marked as corrupt",
                       offset);
    out->type = (enum hd_log_block_type)type;
    HD_TRY(take_map(op, &in, &out->header));
    HD_TRY(hd_cursor_u64be(op, &in, &content_bytes));
    HD_TRY(hd_cursor_take(op, &in, content_bytes, &out->content));
    HD_TRY(take_map(op, &in, &footer));
    if (hd_cursor_left(&in) != 0)
        return hd_fail(op, HUDI_CORRUPT,
                       "log block at byte %" PRIu64 " has %zu bytes more than its parts", offset,
                       hd_cursor_left(&in));
    return HUDI_OK;
}

/* Invariant 1: the size in front against the one behind, before anything is allocated. */
static hudi_status check_frame(struct hd_op *op, hd_input_file *file, uint64_t offset,
                               uint64_t body_bytes)
{
    const uint64_t left = hd_input_file_size(file) - offset - PREFIX_BYTES;
    uint8_t bytes[TRAILER_BYTES];
    uint64_t total;

    if (body_bytes > left)
        return hd_fail(op, HUDI_CORRUPT, "log block at byte %" PRIu64 " runs past the end", offset);
    if (body_bytes < MIN_SIZE)
        return hd_fail(op, HUDI_CORRUPT,
                       "log block at byte %" PRIu64 " says it has %" PRIu64
                       " bytes, fewer than any has",
                       offset, body_bytes);
    const uint64_t trailer = offset + PREFIX_BYTES + body_bytes - TRAILER_BYTES;
    HD_TRY(hd_input_file_read_at(op, file, trailer, bytes, sizeof bytes));
    struct hd_cursor in = hd_cursor_over(bytes, sizeof bytes, trailer);
    HD_TRY(hd_cursor_u64be(op, &in, &total));
    if (total != body_bytes + MAGIC_BYTES)
        return hd_fail(op, HUDI_CORRUPT,
                       "log block at byte %" PRIu64 " begins with a size of %" PRIu64
                       " and ends with one of %" PRIu64,
                       offset, body_bytes, total - MAGIC_BYTES);
    return HUDI_OK;
}

hudi_status hd_log_block_read(struct hd_op *op, hd_input_file *file, uint64_t offset,
                              struct hd_log_block *out)
{
    hudi_status status = HUDI_OK;
    const uint64_t file_bytes = hd_input_file_size(file);
    uint64_t body_bytes;
    uint8_t prefix[PREFIX_BYTES];
    struct hd_cursor in = hd_cursor_over(prefix, PREFIX_BYTES, offset);
    struct hd_log_block block = {.offset = offset};

    *out = (struct hd_log_block){0};
    if (offset >= file_bytes || file_bytes - offset < MAGIC_BYTES)
        return HUDI_END;
    if (file_bytes - offset < PREFIX_BYTES)
        return hd_fail(op, HUDI_CORRUPT, "log block at byte %" PRIu64 " is cut short", offset);
    HD_TRY(hd_input_file_read_at(op, file, offset, prefix, PREFIX_BYTES));
    HD_TRY(hd_cursor_expect(op, &in, MAGIC, sizeof MAGIC));
    HD_TRY(hd_cursor_u64be(op, &in, &body_bytes));
    HD_TRY(check_frame(op, file, offset, body_bytes));

    block.size = PREFIX_BYTES + body_bytes;
    HD_TRY_OUT(hd_alloc_raw(op, body_bytes, 1, &block.body));
    HD_TRY_OUT(hd_input_file_read_at(op, file, offset + PREFIX_BYTES, block.body, body_bytes));
    in = hd_cursor_over(block.body, body_bytes - TRAILER_BYTES, offset + PREFIX_BYTES);
    HD_TRY_OUT(decode_body(op, in, &block));
    *out = block;
    block.body = NULL; /* now the caller's */
out:
    hd_free(op, block.body);
    return status;
}

void hd_log_block_clear(struct hd_op *op, struct hd_log_block *block)
{
    hd_free(op, block->body);
    *block = (struct hd_log_block){0};
}

hudi_status hd_log_next_magic(struct hd_op *op, hd_input_file *file, uint64_t from, uint64_t *out)
{
    hudi_status status = HUDI_OK;
    const uint64_t file_bytes = hd_input_file_size(file);
    uint8_t *buffer;

    *out = file_bytes;
    if (from >= file_bytes || file_bytes - from < MAGIC_BYTES)
        return HUDI_END;
    HD_TRY(hd_alloc_raw(op, SEARCH_BYTES, 1, &buffer));
    for (;;) {
        const uint64_t left = file_bytes - from;
        const size_t n = left < SEARCH_BYTES ? (size_t)left : SEARCH_BYTES;
        const uint8_t *at;

        HD_TRY_OUT(hd_op_check_cancel(op));
        HD_TRY_OUT(hd_input_file_read_at(op, file, from, buffer, n));
        at = memmem(buffer, n, MAGIC, sizeof MAGIC);
        if (at != NULL) {
            *out = from + (uint64_t)(at - buffer);
            break;
        }
        if (n == left) {
            status = HUDI_END;
            break;
        }
        from += n - (MAGIC_BYTES - 1); /* one may begin at the end of this piece */
    }
out:
    hd_free(op, buffer);
    return status;
}

hudi_status hd_log_header_find(struct hd_op *op, const struct hd_log_block *block,
                               enum hd_log_header_key key, struct hd_slice *out)
{
    struct hd_cursor in = hd_cursor_over(block->header.data, block->header.size, block->offset);
    uint32_t n_entries, entry_key, n_bytes;

    *out = (struct hd_slice){0};
    HD_TRY(hd_cursor_u32be(op, &in, &n_entries));
    for (uint32_t i = 0; i < n_entries; i++) {
        struct hd_slice value;

        HD_TRY(hd_cursor_u32be(op, &in, &entry_key));
        HD_TRY(hd_cursor_u32be(op, &in, &n_bytes));
        HD_TRY(hd_cursor_take(op, &in, n_bytes, &value));
        if (entry_key == (uint32_t)key) {
            *out = value;
            return HUDI_OK;
        }
    }
    return HUDI_NOT_FOUND;
}

hudi_status hd_log_records_open(struct hd_op *op, const struct hd_log_block *block,
                                struct hd_log_records *out)
{
    const uint64_t content_offset =
        block->offset + PREFIX_BYTES + (uint64_t)(block->content.data - block->body);

    *out = (struct hd_log_records){
        .in = hd_cursor_over(block->content.data, block->content.size, content_offset)};
    HD_TRY(hd_cursor_u32be(op, &out->in, &out->version));
    if (out->version < 1 || out->version > MAX_CONTENT_VERSION)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "data block at byte %" PRIu64 " has content version %" PRIu32, block->offset,
                       out->version);
    HD_TRY(hd_cursor_u32be(op, &out->in, &out->n_left));
    if (out->n_left > hd_cursor_left(&out->in) / 4) /* each record's length takes four bytes */
        return hd_fail(op, HUDI_CORRUPT,
                       "data block at byte %" PRIu64 " says it has %" PRIu32
                       " records in %zu bytes",
                       block->offset, out->n_left, hd_cursor_left(&out->in));
    return HUDI_OK;
}

hudi_status hd_log_records_next(struct hd_op *op, struct hd_log_records *records,
                                struct hd_slice *out)
{
    uint32_t n_bytes;

    *out = (struct hd_slice){0};
    if (records->n_left == 0)
        return HUDI_END;
    HD_TRY(hd_cursor_u32be(op, &records->in, &n_bytes));
    HD_TRY(hd_cursor_take(op, &records->in, n_bytes, out));
    records->n_left--;
    return HUDI_OK;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Readers on the JVM hold sizes in 32 bits. */
#define MAX_BLOCK_BYTES INT32_MAX

static hudi_status append_be(struct hd_op *op, struct hd_str *out, uint64_t value, size_t n_bytes)
{
    char bytes[8];

    for (size_t i = 0; i < n_bytes; i++)
        bytes[i] = (char)(uint8_t)(value >> (8 * (n_bytes - 1 - i)));
    return hd_str_append(op, out, bytes, n_bytes);
}

hudi_status hd_log_block_frame(struct hd_op *op, enum hd_log_block_type type,
                               const struct hd_log_header_entry *header, size_t n_header,
                               uint64_t content_bytes, struct hd_str *head, struct hd_str *tail)
{
    uint64_t header_bytes = 4;

    for (size_t i = 0; i < n_header; i++)
        header_bytes += 8 + header[i].value.size;
    const uint64_t size = MIN_SIZE - 4 + header_bytes + content_bytes;
    if (header_bytes > MAX_BLOCK_BYTES || content_bytes > MAX_BLOCK_BYTES ||
        size + PREFIX_BYTES > MAX_BLOCK_BYTES)
        return hd_fail(op, HUDI_INVALID, "a log block of %" PRIu64 " bytes is too large", size);
    HD_TRY(hd_str_append(op, head, MAGIC, sizeof MAGIC));
    HD_TRY(append_be(op, head, size, 8));
    HD_TRY(append_be(op, head, FORMAT_VERSION, 4));
    HD_TRY(append_be(op, head, (uint64_t)type, 4));
    HD_TRY(append_be(op, head, n_header, 4));
    for (size_t i = 0; i < n_header; i++) {
        HD_TRY(append_be(op, head, (uint64_t)header[i].key, 4));
        HD_TRY(append_be(op, head, header[i].value.size, 4));
        HD_TRY(hd_str_append(op, head, header[i].value.data, header[i].value.size));
    }
    HD_TRY(append_be(op, head, content_bytes, 8));
    HD_TRY(append_be(op, tail, 0, 4)); /* footer */
    return append_be(op, tail, size + MAGIC_BYTES, 8);
}

hudi_status hd_log_block_encode(struct hd_op *op, enum hd_log_block_type type,
                                const struct hd_log_header_entry *header, size_t n_header,
                                const struct hd_slice *content, size_t n_content,
                                struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    uint64_t content_bytes = 0;
    struct hd_str head = {0}, tail = {0};

    for (size_t i = 0; i < n_content; i++)
        content_bytes += content[i].size;
    HD_TRY_OUT(hd_log_block_frame(op, type, header, n_header, content_bytes, &head, &tail));
    /* What follows cannot fail. */
    HD_TRY_OUT(hd_str_reserve(op, out, head.size + (size_t)content_bytes + tail.size));
    HD_TRY_OUT(hd_str_append(op, out, head.data, head.size));
    for (size_t i = 0; i < n_content; i++)
        HD_TRY_OUT(hd_str_append(op, out, content[i].data, content[i].size));
    HD_TRY_OUT(hd_str_append(op, out, tail.data, tail.size));
out:
    hd_str_clear(&head);
    hd_str_clear(&tail);
    return status;
}

hudi_status hd_log_rollback_block_encode(struct hd_op *op, const char *instant,
                                         const char *target_instant, struct hd_str *out)
{
    const struct hd_log_header_entry header[] = {
        {HD_LOG_INSTANT_TIME, hd_slice_text(instant)},
        {HD_LOG_COMMAND_BLOCK_TYPE, hd_slice_text(ROLLBACK_COMMAND)},
        {HD_LOG_TARGET_INSTANT_TIME, hd_slice_text(target_instant)},
    };

    return hd_log_block_encode(op, HD_LOG_COMMAND, header, HD_ARRAY_LENGTH(header), NULL, 0, out);
}
