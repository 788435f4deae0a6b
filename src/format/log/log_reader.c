/* SPDX-License-Identifier: Apache-2.0 */

#include "format/log/log_reader.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked_int.h"
#include "format/log/log_internal.h"

/* How much of a file is read at once: most log files are smaller. */
#define WINDOW_BYTES 65536u

struct hd_log_reader {
    hd_input_file *file;
    uint64_t at;     /* where the next block starts and the previous one ends */
    uint8_t *window; /* bytes of the file from `window_offset` */
    size_t window_capacity;
    uint64_t window_offset;
    size_t window_bytes;
    /* Made when the way back is not found by the sizes: where blocks start, whole and corrupt. */
    uint64_t *starts;
    size_t n_starts;
    size_t starts_capacity;
    bool has_starts;
};

/* What is known of a block before its header is looked at. */
struct frame {
    uint64_t size;      /* of the block, magic to trailer */
    const char *damage; /* NULL: whole; `size` is not set otherwise */
    bool has_magic;
};

static const char NO_MAGIC[] = "does not begin as a block";
static const char CUT_SHORT[] = "is cut short";
static const char TOO_LONG[] = "its size runs past the end of the file";
static const char TOO_SMALL[] = "its size is smaller than that of any block";
static const char SIZES_DIFFER[] = "its size and the one at its end differ";
static const char BAD_PARTS[] = "its parts do not fit into it";
static const char MARKED[] = "is marked as corrupt";
static const char BAD_NUMBERS[] = "its version or type is a number that none has";

/* Versions and types are counted up from 0; no release will come near it. */
#define MAX_NUMBER 255u

/* ---- opening ------------------------------------------------------------------------------ */

hudi_status hd_log_reader_of_file(struct hd_op *op, hd_input_file *file, hd_log_reader **out)
{
    *out = NULL;
    const hudi_status status = hd_alloc(op, sizeof **out, out);
    if (status != HUDI_OK) {
        hd_input_file_close(file);
        return status;
    }
    (*out)->file = file;
    return HUDI_OK;
}

hudi_status hd_log_reader_open(struct hd_op *op, hd_file_system *fs, const char *path,
                               hd_log_reader **out)
{
    hd_input_file *file;

    *out = NULL;
    HD_TRY(hd_fs_open_input(op, fs, path, &file));
    return hd_log_reader_of_file(op, file, out);
}

void hd_log_reader_close(struct hd_op *op, hd_log_reader *reader)
{
    if (reader == NULL)
        return;
    hd_input_file_close(reader->file);
    hd_free(op, reader->window);
    hd_free(op, reader->starts);
    hd_free(op, reader);
}

hd_input_file *hd_log_reader_file(hd_log_reader *reader)
{
    return reader->file;
}

uint64_t hd_log_reader_offset(const hd_log_reader *reader)
{
    return reader->at;
}

void hd_log_reader_seek(hd_log_reader *reader, uint64_t offset)
{
    reader->at = hd_min_u64(offset, hd_input_file_size(reader->file));
}

/* ---- bytes of the file -------------------------------------------------------------------- */

static bool in_window(const hd_log_reader *reader, uint64_t offset, uint64_t n)
{
    return offset >= reader->window_offset &&
           offset - reader->window_offset <= reader->window_bytes &&
           n <= reader->window_bytes - (offset - reader->window_offset);
}

static struct hd_cursor cursor_at(const hd_log_reader *reader, uint64_t offset, uint64_t n)
{
    return hd_cursor_over(reader->window + (offset - reader->window_offset), (size_t)n, offset);
}

/* A cursor over `n` bytes that the file has, n at most WINDOW_BYTES; valid until the next call. */
static hudi_status peek(struct hd_op *op, hd_log_reader *reader, uint64_t offset, uint64_t n,
                        struct hd_cursor *out)
{
    const uint64_t file_bytes = hd_input_file_size(reader->file);

    if (!in_window(reader, offset, n)) {
        const size_t n_read = (size_t)hd_min_u64(WINDOW_BYTES, file_bytes - offset);

        reader->window_bytes = 0;
        HD_TRY(hd_grow(op, &reader->window, &reader->window_capacity,
                       (size_t)hd_min_u64(WINDOW_BYTES, file_bytes), 1));
        HD_TRY(hd_input_file_read_at(op, reader->file, offset, reader->window, n_read));
        reader->window_offset = offset;
        reader->window_bytes = n_read;
    }
    *out = cursor_at(reader, offset, n);
    return HUDI_OK;
}

/* Any number of bytes that the file has, copied. */
static hudi_status copy_out(struct hd_op *op, hd_log_reader *reader, uint64_t offset, uint64_t n,
                            uint8_t *into)
{
    if (!in_window(reader, offset, n))
        return hd_input_file_read_at(op, reader->file, offset, into, n);
    if (n > 0)
        memcpy(into, cursor_at(reader, offset, n).at, (size_t)n);
    return HUDI_OK;
}

static hudi_status u64_at(struct hd_op *op, hd_log_reader *reader, uint64_t offset, uint64_t *out)
{
    uint8_t bytes[8];

    HD_TRY(copy_out(op, reader, offset, sizeof bytes, bytes));
    struct hd_cursor in = hd_cursor_over(bytes, sizeof bytes, offset);
    return hd_cursor_u64be(op, &in, out);
}

/* Offset of the next magic at or after `from`, the size of the file when there is none. */
static hudi_status find_magic(struct hd_op *op, hd_log_reader *reader, uint64_t from, uint64_t *out)
{
    const uint64_t file_bytes = hd_input_file_size(reader->file);
    struct hd_cursor in;

    *out = file_bytes;
    while (from < file_bytes && file_bytes - from >= HD_LOG_MAGIC_BYTES) {
        const uint64_t left = file_bytes - from;
        uint64_t n = hd_min_u64(left, WINDOW_BYTES);

        HD_TRY(hd_op_check_cancel(op));
        if (in_window(reader, from, HD_LOG_MAGIC_BYTES)) /* what is there is searched first */
            n = hd_min_u64(n, reader->window_offset + reader->window_bytes - from);
        HD_TRY(peek(op, reader, from, n, &in));
        const uint8_t *const at = memmem(in.at, (size_t)n, HD_LOG_MAGIC, HD_LOG_MAGIC_BYTES);
        if (at != NULL) {
            *out = from + (uint64_t)(at - in.at);
            break;
        }
        from += n - (HD_LOG_MAGIC_BYTES - 1); /* one may begin at the end of this piece */
    }
    return HUDI_OK;
}

/* ---- the frame: invariants 1 to 4 ----------------------------------------------------------- */

/* Whether a block of `size` at `offset` ends as it should; NULL or what is wrong. */
static hudi_status check_size(struct hd_op *op, hd_log_reader *reader, uint64_t offset,
                              uint64_t size, const char **damage)
{
    const uint64_t left = hd_input_file_size(reader->file) - offset - HD_LOG_PREFIX_BYTES;
    uint64_t total;

    *damage = size > left ? TOO_LONG : size < HD_LOG_MIN_SIZE ? TOO_SMALL : NULL;
    if (*damage != NULL)
        return HUDI_OK;
    HD_TRY(u64_at(op, reader, offset + HD_LOG_PREFIX_BYTES + size - HD_LOG_TRAILER_BYTES, &total));
    if (total != size + HD_LOG_MAGIC_BYTES)
        *damage = SIZES_DIFFER;
    return HUDI_OK;
}

/* At least six bytes follow `offset`. */
static hudi_status read_frame(struct hd_op *op, hd_log_reader *reader, uint64_t offset,
                              struct frame *out)
{
    const uint64_t left = hd_input_file_size(reader->file) - offset;
    struct hd_cursor in;
    uint64_t size;

    *out = (struct frame){0};
    HD_TRY(peek(op, reader, offset, hd_min_u64(left, HD_LOG_PREFIX_BYTES), &in));
    out->has_magic = memcmp(in.at, HD_LOG_MAGIC, HD_LOG_MAGIC_BYTES) == 0;
    if (!out->has_magic || left < HD_LOG_PREFIX_BYTES) {
        out->damage = out->has_magic ? CUT_SHORT : NO_MAGIC;
        return HUDI_OK;
    }
    HD_TRY(hd_cursor_skip(op, &in, HD_LOG_MAGIC_BYTES));
    HD_TRY(hd_cursor_u64be(op, &in, &size));
    HD_TRY(check_size(op, reader, offset, size, &out->damage));
    if (out->damage != NULL && size > UINT32_MAX) {
        const char *damage;

        size &= UINT32_MAX;
        HD_TRY(check_size(op, reader, offset, size, &damage));
        if (damage == NULL) {
            out->damage = NULL;
            hd_log(op, HD_LOG_WARN,
                   "%s: the high half of the size of the log block at byte %" PRIu64
                   " is damaged; the rest of it agrees",
                   hd_input_file_path(reader->file), offset);
        }
    }
    out->size = HD_LOG_PREFIX_BYTES + size;
    return HUDI_OK;
}

/* ---- what is in a block ------------------------------------------------------------------- */

/* Pass over the map at `*at`; `*fits` is false when it runs past `end`. Each entry takes at least 8
 * bytes, so a hostile count ends the loop there. */
static hudi_status pass_map(struct hd_op *op, hd_log_reader *reader, uint64_t *at, uint64_t end,
                            bool *fits)
{
    struct hd_cursor in;
    uint32_t n_entries, key, n_bytes;

    *fits = false;
    if (end - *at < 4)
        return HUDI_OK;
    HD_TRY(peek(op, reader, *at, 4, &in));
    HD_TRY(hd_cursor_u32be(op, &in, &n_entries));
    *at += 4;
    for (uint32_t i = 0; i < n_entries; i++) {
        if (end - *at < 8)
            return HUDI_OK;
        HD_TRY(peek(op, reader, *at, 8, &in));
        HD_TRY(hd_cursor_u32be(op, &in, &key));
        HD_TRY(hd_cursor_u32be(op, &in, &n_bytes));
        *at += 8;
        if (n_bytes > end - *at)
            return HUDI_OK;
        *at += n_bytes;
    }
    *fits = true;
    return HUDI_OK;
}

/* Everything between type and trailer; `*fits` is false when the lengths do not add up. */
static hudi_status pass_parts(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                              uint64_t *header_end, bool *fits)
{
    const uint64_t end = block->offset + block->size - HD_LOG_TRAILER_BYTES;
    uint64_t at = block->offset + HD_LOG_PREFIX_BYTES + 8;

    HD_TRY(pass_map(op, reader, &at, end, fits));
    if (!*fits)
        return HUDI_OK;
    *header_end = at;
    *fits = end - at >= 8;
    if (!*fits)
        return HUDI_OK;
    HD_TRY(u64_at(op, reader, at, &block->content_bytes));
    at += 8;
    block->content_offset = at;
    *fits = block->content_bytes <= end - at;
    if (!*fits)
        return HUDI_OK;
    at += block->content_bytes;
    /* The footer is empty and four bytes behind a content that may be large: not a window's worth
     * is read for it. */
    if (end - at == 4 && !in_window(reader, at, 4)) {
        uint64_t footer_and_trailer;

        HD_TRY(u64_at(op, reader, at, &footer_and_trailer));
        *fits = footer_and_trailer >> 32 == 0;
        return HUDI_OK;
    }
    HD_TRY(pass_map(op, reader, &at, end, fits));
    *fits = *fits && at == end;
    return HUDI_OK;
}

/* A whole frame: version, type and header. */
static hudi_status read_parts(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block)
{
    const uint64_t header_offset = block->offset + HD_LOG_PREFIX_BYTES + 8;
    uint64_t header_end = header_offset;
    uint32_t version, type;
    struct hd_cursor in;
    bool fits;

    HD_TRY(peek(op, reader, block->offset + HD_LOG_PREFIX_BYTES, 8, &in));
    HD_TRY(hd_cursor_u32be(op, &in, &version));
    HD_TRY(hd_cursor_u32be(op, &in, &type));
    if (version > MAX_NUMBER || type > MAX_NUMBER) {
        block->type = HD_LOG_CORRUPT;
        block->damage = BAD_NUMBERS;
        return HUDI_OK;
    }
    if (version != HD_LOG_FORMAT_VERSION)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "log block at byte %" PRIu64 " has log format version %" PRIu32,
                       block->offset, version);
    if (type > HD_LOG_CDC_DATA)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "log block at byte %" PRIu64 " is of unknown type %" PRIu32, block->offset,
                       type);
    block->type = (enum hd_log_block_type)type;
    HD_TRY(pass_parts(op, reader, block, &header_end, &fits));
    if (!fits || block->type == HD_LOG_CORRUPT) {
        block->type = HD_LOG_CORRUPT;
        block->damage = fits ? MARKED : BAD_PARTS;
        block->content_offset = block->content_bytes = 0;
        return HUDI_OK;
    }
    const uint64_t header_bytes = header_end - header_offset;
    HD_TRY(hd_alloc_raw(op, (size_t)header_bytes, 1, &block->header_bytes));
    block->header = hd_slice_of(block->header_bytes, (size_t)header_bytes);
    return copy_out(op, reader, header_offset, header_bytes, block->header_bytes);
}

/* The block at `offset`, whose frame is known. */
static hudi_status read_block(struct hd_op *op, hd_log_reader *reader, uint64_t offset,
                              const struct frame *frame, struct hd_log_block *out)
{
    *out = (struct hd_log_block){.offset = offset, .size = frame->size};
    if (frame->damage == NULL)
        return read_parts(op, reader, out);

    uint64_t next;
    HD_TRY(find_magic(op, reader, offset + 1, &next)); /* a magic ends with what one begins with */
    out->type = HD_LOG_CORRUPT;
    out->damage = frame->damage;
    out->size = next - offset;
    return HUDI_OK;
}

/* ---- walking ------------------------------------------------------------------------------ */

static bool at_end(const hd_log_reader *reader)
{
    return hd_input_file_size(reader->file) - reader->at < HD_LOG_MAGIC_BYTES;
}

static void warn(struct hd_op *op, const hd_log_reader *reader, const struct hd_log_block *block)
{
    hd_log(op, HD_LOG_WARN, "%s: the log block at bytes %" PRIu64 " to %" PRIu64 " is corrupt: %s",
           hd_input_file_path(reader->file), block->offset, block->offset + block->size,
           block->damage);
}

hudi_status hd_log_reader_next(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *out)
{
    struct hd_log_block block;
    struct frame frame;

    *out = (struct hd_log_block){0};
    if (at_end(reader))
        return HUDI_END;
    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(read_frame(op, reader, reader->at, &frame));
    const hudi_status status = read_block(op, reader, reader->at, &frame, &block);
    if (status == HUDI_OK || status == HUDI_NOT_IMPLEMENTED)
        reader->at += block.size;
    if (status != HUDI_OK) {
        hd_log_block_clear(op, &block);
        return hd_fail_path(op, status, hd_input_file_path(reader->file));
    }
    if (block.type == HD_LOG_CORRUPT)
        warn(op, reader, &block);
    *out = block;
    return HUDI_OK;
}

/* Where all blocks before reader->at start; done once. */
static hudi_status find_starts(struct hd_op *op, hd_log_reader *reader)
{
    const uint64_t here = reader->at;
    hudi_status status = HUDI_OK;

    reader->at = 0;
    reader->n_starts = 0;
    while (!at_end(reader)) {
        struct frame frame;
        uint64_t size;

        HD_TRY_OUT(hd_grow(op, &reader->starts, &reader->starts_capacity, reader->n_starts + 1,
                           sizeof *reader->starts));
        HD_TRY_OUT(read_frame(op, reader, reader->at, &frame));
        size = frame.size;
        if (frame.damage != NULL) {
            struct hd_log_block block;

            HD_TRY_OUT(read_block(op, reader, reader->at, &frame, &block));
            size = block.size;
        }
        reader->starts[reader->n_starts++] = reader->at;
        reader->at += size;
    }
    reader->has_starts = true;
out:
    reader->at = here;
    return status;
}

/* The last start before the reader's place. There is one: a file with a place behind its first
 * byte that is no block is shorter than six bytes. */
static bool start_before(const hd_log_reader *reader, uint64_t *out)
{
    size_t low = 0, high = reader->n_starts; /* starts below `low` are before, from `high` on not */

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (reader->starts[middle] < reader->at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    *out = reader->starts[low - 1];
    return true;
}

/* By the size at its end; false when that leads to no block. */
static hudi_status step_back(struct hd_op *op, hd_log_reader *reader, uint64_t *start, bool *found)
{
    const uint64_t least = HD_LOG_PREFIX_BYTES + HD_LOG_MIN_SIZE;
    struct frame frame;
    uint64_t total;

    *found = false;
    if (reader->at < least)
        return HUDI_OK;
    HD_TRY(u64_at(op, reader, reader->at - HD_LOG_TRAILER_BYTES, &total));
    if (total < least - 8 || total > reader->at - 8)
        return HUDI_OK;
    *start = reader->at - 8 - total;
    HD_TRY(read_frame(op, reader, *start, &frame));
    *found = frame.damage == NULL && frame.size == total + 8;
    return HUDI_OK;
}

hudi_status hd_log_reader_previous(struct hd_op *op, hd_log_reader *reader,
                                   struct hd_log_block *out)
{
    uint64_t start = 0;
    bool found = false;

    *out = (struct hd_log_block){0};
    if (reader->at == 0)
        return HUDI_END;
    if (!reader->has_starts) {
        HD_TRY(step_back(op, reader, &start, &found));
        if (!found)
            HD_TRY(find_starts(op, reader));
    }
    if (!found && !start_before(reader, &start)) {
        reader->at = 0;
        return HUDI_END;
    }
    reader->at = start;
    const hudi_status status = hd_log_reader_next(op, reader, out);
    if (status == HUDI_OK || status == HUDI_NOT_IMPLEMENTED)
        reader->at = start;
    return status;
}

hudi_status hd_log_reader_content(struct hd_op *op, hd_log_reader *reader,
                                  struct hd_log_block *block)
{
    if (block->body != NULL)
        return HUDI_OK;
    HD_TRY(hd_alloc_raw(op, (size_t)block->content_bytes, 1, &block->body));
    const hudi_status status =
        copy_out(op, reader, block->content_offset, block->content_bytes, block->body);
    if (status != HUDI_OK) {
        hd_free(op, block->body);
        block->body = NULL;
        return status;
    }
    block->content = hd_slice_of(block->body, (size_t)block->content_bytes);
    if (hd_budget_try_reserve(op, block->content_bytes))
        block->budgeted_bytes = block->content_bytes;
    return HUDI_OK;
}

/* ---- the end of a file ---------------------------------------------------------------------- */

hudi_status hd_log_file_is_whole(struct hd_op *op, hd_file_system *fs, const char *path,
                                 uint64_t *n_bytes, bool *out)
{
    struct hd_log_block block;
    hd_log_reader *reader;

    *out = false;
    HD_TRY(hd_log_reader_open(op, fs, path, &reader));
    *n_bytes = hd_input_file_size(hd_log_reader_file(reader));
    hd_log_reader_seek(reader, UINT64_MAX);
    hudi_status status = hd_log_reader_previous(op, reader, &block);
    if (status == HUDI_OK) {
        *out = block.type != HD_LOG_CORRUPT && block.offset + block.size == *n_bytes;
        hd_log_block_clear(op, &block);
    } else if (status == HUDI_END) {
        *out = *n_bytes == 0;
        status = HUDI_OK;
    } else if (status == HUDI_NOT_IMPLEMENTED) {
        hd_op_clear_error(op); /* of a kind that is not known: nor is what may follow it */
        status = HUDI_OK;
    }
    hd_log_reader_close(op, reader);
    return status;
}
