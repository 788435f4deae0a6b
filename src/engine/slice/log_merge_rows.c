/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "arrow/schema.h"
#include "engine/slice/log_merge_internal.h"

/*
 * Whether rows of the base file find their entries by their number in the file. The blocks'
 * positions are bytes that nothing vouches for, and a wrong one gives two wrong rows, so:
 *
 *  1. Where the record key of the rows is read anyway, and where what is read replaces the log
 *     files, keys serve.
 *  2. All blocks that count must have positions in the very base file that is read, as many as
 *     records (log_scan.c, log_rows.c); rows and keys must be one to one, within the file
 *     (row_entries.h).
 *  3. The key of an entry must be within the bounds of the keys of its row's row group, where
 *     the footer has such.
 *
 * Otherwise keys serve for the whole slice, which costs nothing but what was hoped for: entries are
 * kept by key. What is wrong in the blocks is warned about.
 */

#define FOUND_AT_ONCE 65536

hudi_status hd_log_merge_try_rows(struct hd_op *op, hd_log_merge *merge, hd_base_reader *base)
{
    const struct hd_merge_columns *const columns = merge->columns;
    const struct hd_slice_query *const query = &columns->query;

    if (!query->use_positions || query->replaces_logs || query->digests_keys || base == NULL ||
        columns->key < 0 || columns->wants_key || !merge->scan.has_positions)
        return HUDI_OK;
    merge->tries_rows = true;
    return hd_row_entries_init(op, hd_base_reader_n_rows(base), &merge->row_entries);
}

hudi_status hd_log_merge_add_rows(struct hd_op *op, hd_log_merge *merge,
                                  const struct hd_log_batch *batch, int64_t n)
{
    if (!hd_log_merge_tries_rows(merge))
        return HUDI_OK;
    if (batch->positions == NULL)
        hd_row_entries_drop(op, &merge->row_entries, "a block has none that can be used", false);
    return hd_row_entries_add(op, &merge->row_entries, merge->put_numbers, batch->positions, n);
}

/* Of the entries whose rows are the `n` from `first` on. */
static hudi_status check_bounds(struct hd_op *op, hd_log_merge *merge,
                                const struct hd_key_bounds *bounds, uint64_t first, uint64_t n)
{
    for (uint64_t at = 0; at < n; at += FOUND_AT_ONCE) {
        const uint64_t n_looked = n - at < FOUND_AT_ONCE ? n - at : FOUND_AT_ONCE;

        merge->n_hits = hd_row_entries_find(&merge->row_entries, first + at, n_looked, merge->rows,
                                            merge->hits);
        for (int64_t i = 0; i < merge->n_hits; i++) {
            const struct hd_slice key = hd_spillable_map_key(merge->map, merge->hits[i]);

            if (hd_slice_compare(key, bounds->min) >= 0 && hd_slice_compare(key, bounds->max) <= 0)
                continue;
            hd_row_entries_drop(op, &merge->row_entries,
                                "the row group of one does not have its record key", true);
            return HUDI_OK;
        }
    }
    return HUDI_OK;
}

static hudi_status check_row_groups(struct hd_op *op, hd_log_merge *merge, hd_base_reader *base)
{
    struct hd_arena arena = {0};
    hudi_status status = HUDI_OK;
    uint64_t first = 0;
    int32_t column;

    HD_TRY(hd_log_merge_key_column(op, merge, base, &column));
    if (column < 0)
        return HUDI_OK;
    HD_TRY(hd_grow(op, &merge->rows, &merge->row_capacity, FOUND_AT_ONCE, sizeof *merge->rows));
    HD_TRY(hd_grow(op, &merge->hits, &merge->hit_capacity, FOUND_AT_ONCE, sizeof *merge->hits));
    for (int32_t i = 0; i < hd_base_reader_n_row_groups(base); i++) {
        const uint64_t n = (uint64_t)hd_base_reader_row_group_rows(base, i);
        struct hd_key_bounds bounds;

        hd_arena_reset(&arena);
        if (merge->row_entries.flaw == NULL && hd_row_entries_any(&merge->row_entries, first, n)) {
            HD_TRY_OUT(hd_log_merge_key_bounds(op, &arena, base, i, column, &bounds));
            if (bounds.is_known)
                HD_TRY_OUT(check_bounds(op, merge, &bounds, first, n));
        }
        first += n;
    }
out:
    hd_arena_clear(&arena);
    return status;
}

hudi_status hd_log_merge_settle_rows(struct hd_op *op, hd_log_merge *merge, hd_base_reader *base)
{
    struct hd_row_entries *const rows = &merge->row_entries;

    if (!merge->tries_rows)
        return HUDI_OK;
    merge->tries_rows = false;
    HD_TRY(hd_row_entries_seal(op, rows));
    if (rows->flaw == NULL)
        HD_TRY(check_row_groups(op, merge, base));
    merge->is_by_row = rows->flaw == NULL;
    merge->stats.is_by_row = merge->is_by_row;
    if (!merge->is_by_row)
        hd_log(op, rows->is_wrong ? HD_LOG_WARN : HD_LOG_INFO,
               "%s is merged with its log files by key, not by record positions: %s",
               merge->slice->base_path, rows->flaw);
    return HUDI_OK;
}
