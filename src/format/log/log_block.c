/* SPDX-License-Identifier: Apache-2.0 */

#include "format/log/log_block.h"

#include <inttypes.h>

#include "format/log/log_internal.h"

#define ROLLBACK_COMMAND "0"

void hd_log_block_clear(struct hd_op *op, struct hd_log_block *block)
{
    hd_free(op, block->header_bytes);
    hd_free(op, block->body);
    hd_budget_release(op, block->budgeted_bytes);
    *block = (struct hd_log_block){0};
}

const char *hd_log_block_type_name(enum hd_log_block_type type)
{
    static const char *const NAMES[] = {
        [HD_LOG_COMMAND] = "COMMAND",       [HD_LOG_DELETE] = "DELETE",
        [HD_LOG_CORRUPT] = "CORRUPT",       [HD_LOG_AVRO_DATA] = "AVRO_DATA",
        [HD_LOG_HFILE_DATA] = "HFILE_DATA", [HD_LOG_PARQUET_DATA] = "PARQUET_DATA",
        [HD_LOG_CDC_DATA] = "CDC_DATA",
    };

    return NAMES[type];
}

const char *hd_log_header_key_name(uint32_t key)
{
    static const char *const NAMES[] = {
        [HD_LOG_INSTANT_TIME] = "INSTANT_TIME",
        [HD_LOG_TARGET_INSTANT_TIME] = "TARGET_INSTANT_TIME",
        [HD_LOG_SCHEMA] = "SCHEMA",
        [HD_LOG_COMMAND_BLOCK_TYPE] = "COMMAND_BLOCK_TYPE",
        [HD_LOG_COMPACTED_BLOCK_TIMES] = "COMPACTED_BLOCK_TIMES",
        [HD_LOG_RECORD_POSITIONS] = "RECORD_POSITIONS",
        [HD_LOG_BLOCK_IDENTIFIER] = "BLOCK_IDENTIFIER",
        [HD_LOG_IS_PARTIAL] = "IS_PARTIAL",
        [HD_LOG_BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS] =
            "BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS",
    };

    return key < HD_ARRAY_LENGTH(NAMES) ? NAMES[key] : NULL;
}

hudi_status hd_log_header_open(struct hd_op *op, const struct hd_log_block *block,
                               struct hd_log_header_entries *out)
{
    *out = (struct hd_log_header_entries){
        .in = hd_cursor_over(block->header.data, block->header.size, block->offset)};
    if (block->type == HD_LOG_CORRUPT)
        return HUDI_OK;
    return hd_cursor_u32be(op, &out->in, &out->n_left);
}

hudi_status hd_log_header_next(struct hd_op *op, struct hd_log_header_entries *entries,
                               uint32_t *key, struct hd_slice *value)
{
    uint32_t n_bytes;

    if (entries->n_left == 0)
        return HUDI_END;
    HD_TRY(hd_cursor_u32be(op, &entries->in, key));
    HD_TRY(hd_cursor_u32be(op, &entries->in, &n_bytes));
    HD_TRY(hd_cursor_take(op, &entries->in, n_bytes, value));
    entries->n_left--;
    return HUDI_OK;
}

hudi_status hd_log_header_find(struct hd_op *op, const struct hd_log_block *block,
                               enum hd_log_header_key key, struct hd_slice *out)
{
    struct hd_log_header_entries entries;
    uint32_t entry_key;

    *out = (struct hd_slice){0};
    HD_TRY(hd_log_header_open(op, block, &entries));
    for (;;) {
        struct hd_slice value;
        const hudi_status status = hd_log_header_next(op, &entries, &entry_key, &value);

        if (status == HUDI_END)
            return HUDI_NOT_FOUND;
        HD_TRY(status);
        if (entry_key == (uint32_t)key) {
            *out = value;
            return HUDI_OK;
        }
    }
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
    const uint64_t size = HD_LOG_MIN_SIZE - 4 + header_bytes + content_bytes;
    if (header_bytes > MAX_BLOCK_BYTES || content_bytes > MAX_BLOCK_BYTES ||
        size + HD_LOG_PREFIX_BYTES > MAX_BLOCK_BYTES)
        return hd_fail(op, HUDI_INVALID, "a log block of %" PRIu64 " bytes is too large", size);
    HD_TRY(hd_str_append(op, head, HD_LOG_MAGIC, HD_LOG_MAGIC_BYTES));
    HD_TRY(append_be(op, head, size, 8));
    HD_TRY(append_be(op, head, HD_LOG_FORMAT_VERSION, 4));
    HD_TRY(append_be(op, head, (uint64_t)type, 4));
    HD_TRY(append_be(op, head, n_header, 4));
    for (size_t i = 0; i < n_header; i++) {
        HD_TRY(append_be(op, head, (uint64_t)header[i].key, 4));
        HD_TRY(append_be(op, head, header[i].value.size, 4));
        HD_TRY(hd_str_append(op, head, header[i].value.data, header[i].value.size));
    }
    HD_TRY(append_be(op, head, content_bytes, 8));
    HD_TRY(append_be(op, tail, 0, 4)); /* footer */
    return append_be(op, tail, size + HD_LOG_MAGIC_BYTES, 8);
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
