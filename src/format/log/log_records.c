/* SPDX-License-Identifier: Apache-2.0 */

#include "format/log/log_records.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked_int.h"
#include "format/log/log_internal.h"

#define LENGTH_BYTES 4
#define PIECE_BYTES (1u << 20)

/* Have at least `n` bytes in the cursor, which the caller knows to be in the content. */
static hudi_status fill(struct hd_op *op, struct hd_log_records *records, uint64_t n)
{
    const size_t kept = hd_cursor_left(&records->in);
    const uint64_t offset = hd_cursor_offset(&records->in);

    if (kept >= n || records->file == NULL)
        return HUDI_OK; /* in memory: the cursor tells what is missing */
    if (kept > 0)
        memmove(records->buffer, records->in.at, kept);
    records->in = hd_cursor_over(records->buffer, kept, offset);
    if (n > records->capacity) {
        const size_t before = records->capacity;

        HD_TRY(hd_grow(op, &records->buffer, &records->capacity, (size_t)n, 1));
        if (hd_budget_try_reserve(op, records->capacity - before))
            records->budgeted_bytes += records->capacity - before;
        records->in = hd_cursor_over(records->buffer, kept, offset);
    }
    const uint64_t unread = records->end_offset - records->next_offset;
    const size_t room = records->capacity - kept;
    const size_t n_read = unread < room ? (size_t)unread : room;
    HD_TRY(hd_input_file_read_at(op, records->file, records->next_offset, records->buffer + kept,
                                 n_read));
    records->next_offset += n_read;
    records->in = hd_cursor_over(records->buffer, kept + n_read, offset);
    return HUDI_OK;
}

static uint64_t left_bytes(const struct hd_log_records *records)
{
    return hd_cursor_left(&records->in) + (records->end_offset - records->next_offset);
}

static hudi_status read_head(struct hd_op *op, struct hd_log_records *records)
{
    HD_TRY(fill(op, records, hd_min_u64(2 * LENGTH_BYTES, left_bytes(records))));
    HD_TRY(hd_cursor_u32be(op, &records->in, &records->version));
    if (records->version < 1 || records->version > HD_LOG_MAX_CONTENT_VERSION)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "data block at byte %" PRIu64 " has content version %" PRIu32,
                       records->block_offset, records->version);
    HD_TRY(hd_cursor_u32be(op, &records->in, &records->n_records));
    if (records->n_records > left_bytes(records) / LENGTH_BYTES)
        return hd_fail(op, HUDI_CORRUPT,
                       "data block at byte %" PRIu64 " says it has %" PRIu32 " records in %" PRIu64
                       " bytes",
                       records->block_offset, records->n_records, left_bytes(records));
    records->n_left = records->n_records;
    return HUDI_OK;
}

hudi_status hd_log_records_open(struct hd_op *op, hd_input_file *file,
                                const struct hd_log_block *block, struct hd_log_records *out)
{
    const bool loaded = block->body != NULL;
    struct hd_log_records records = {
        .in = hd_cursor_over(block->content.data, block->content.size, block->content_offset),
        .block_offset = block->offset,
    };
    hudi_status status = HUDI_OK;

    *out = (struct hd_log_records){0};
    if (!loaded) {
        records.file = file;
        records.next_offset = block->content_offset;
        records.end_offset = block->content_offset + block->content_bytes;
        const size_t wanted = (size_t)hd_min_u64(block->content_bytes, PIECE_BYTES);
        HD_TRY(hd_alloc_raw(op, wanted, 1, &records.buffer));
        records.capacity = wanted;
        if (hd_budget_try_reserve(op, wanted))
            records.budgeted_bytes = wanted;
    }
    HD_TRY_OUT(read_head(op, &records));
    *out = records;
    records = (struct hd_log_records){0};
out:
    hd_log_records_close(op, &records);
    return status;
}

hudi_status hd_log_records_next(struct hd_op *op, struct hd_log_records *records,
                                struct hd_slice *out)
{
    uint32_t n_bytes;

    *out = (struct hd_slice){0};
    if (records->n_left == 0)
        return HUDI_END;
    HD_TRY(fill(op, records, hd_min_u64(LENGTH_BYTES, left_bytes(records))));
    HD_TRY(hd_cursor_u32be(op, &records->in, &n_bytes));
    if (n_bytes > left_bytes(records))
        return hd_fail(op, HUDI_CORRUPT,
                       "a record of %" PRIu32 " bytes at byte %" PRIu64
                       " runs past the end of its block",
                       n_bytes, hd_cursor_offset(&records->in));
    HD_TRY(fill(op, records, n_bytes));
    HD_TRY(hd_cursor_take(op, &records->in, n_bytes, out));
    records->n_left--;
    return HUDI_OK;
}

void hd_log_records_close(struct hd_op *op, struct hd_log_records *records)
{
    hd_free(op, records->buffer);
    hd_budget_release(op, records->budgeted_bytes);
    *records = (struct hd_log_records){0};
}
