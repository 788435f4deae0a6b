/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "arrow/array.h"
#include "engine/slice/log_merge_internal.h"

/*
 * Row groups of the base file in which no entry has a key. Their bounds of the key column tell it
 * for those that no key falls into; where few do, the keys of the row group are read and looked up;
 * a row group that many keys fall into counts as touched.
 */

/* Keys per row group of the file up to which a row group's own are worth being read: spread over
 * all of them, that many leave one in ten untouched. */
#define PROBED_KEYS 2

/* One row group. */
struct range {
    struct hd_key_bounds bounds;
    size_t first, last; /* positions of the bounds */
};

struct ranges {
    struct range *ranges;
    int32_t n;
    struct hd_slice *bounds; /* of all, sorted, each once */
    size_t n_bounds;
    int64_t *counts; /* of keys by position: 2 i + 1 for bound i itself, 2 i for what is below it */
};

static hudi_status take_bound(struct hd_op *op, struct hd_arena *arena,
                              const struct ArrowSchema *field, const struct ArrowArray *array,
                              struct hd_slice *out)
{
    struct hd_view view;
    char *copy;

    HD_TRY(hd_view_open(op, arena, field, array, &view));
    const struct hd_slice bytes = hd_view_bytes(&view, 0);
    HD_TRY(hd_arena_strndup(op, arena, bytes.data, bytes.size, &copy));
    *out = hd_slice_of(copy, bytes.size);
    return HUDI_OK;
}

hudi_status hd_log_merge_key_bounds(struct hd_op *op, struct hd_arena *arena, hd_base_reader *base,
                                    int32_t row_group, int32_t column, struct hd_key_bounds *out)
{
    const struct ArrowSchema *const field = hd_base_reader_schema(base)->children[column];
    struct hd_column_stats stats;
    hudi_status status = HUDI_OK;

    *out = (struct hd_key_bounds){0};
    HD_TRY(hd_base_reader_column_stats(op, base, row_group, column, &stats));
    if (stats.has_bounds) {
        HD_TRY_OUT(take_bound(op, arena, field, &stats.min, &out->min));
        HD_TRY_OUT(take_bound(op, arena, field, &stats.max, &out->max));
        out->is_known = true;
    }
out:
    hd_column_stats_clear(&stats);
    return status;
}

static int by_bytes(const void *a, const void *b)
{
    return hd_slice_compare(*(const struct hd_slice *)a, *(const struct hd_slice *)b);
}

/* Bounds below `key`. */
static size_t n_below(const struct ranges *ranges, struct hd_slice key)
{
    size_t low = 0, high = ranges->n_bounds;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (hd_slice_compare(ranges->bounds[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t position_of(const struct ranges *ranges, struct hd_slice key)
{
    const size_t below = n_below(ranges, key);

    return 2 * below +
           (below < ranges->n_bounds && hd_slice_compare(ranges->bounds[below], key) == 0);
}

static hudi_status read_ranges(struct hd_op *op, struct hd_arena *arena, hd_base_reader *base,
                               int32_t column, struct ranges *out)
{
    const size_t n = (size_t)out->n;
    size_t n_bounds = 0;

    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->ranges, &out->ranges));
    HD_TRY(hd_arena_array(op, arena, 2 * n, sizeof *out->bounds, &out->bounds));
    HD_TRY(hd_arena_array(op, arena, 4 * n + 1, sizeof *out->counts, &out->counts));
    for (int32_t i = 0; i < out->n; i++) {
        struct range *const range = &out->ranges[i];

        HD_TRY(hd_log_merge_key_bounds(op, arena, base, i, column, &range->bounds));
        if (!range->bounds.is_known)
            continue;
        out->bounds[n_bounds++] = range->bounds.min;
        out->bounds[n_bounds++] = range->bounds.max;
    }
    qsort(out->bounds, n_bounds, sizeof *out->bounds, by_bytes);
    for (size_t i = 0; i < n_bounds; i++)
        if (i == 0 || hd_slice_compare(out->bounds[i], out->bounds[i - 1]) != 0)
            out->bounds[out->n_bounds++] = out->bounds[i];
    for (int32_t i = 0; i < out->n; i++) {
        out->ranges[i].first = position_of(out, out->ranges[i].bounds.min);
        out->ranges[i].last = position_of(out, out->ranges[i].bounds.max);
    }
    return HUDI_OK;
}

static int64_t n_keys_in(const struct ranges *ranges, const struct range *range, int64_t n_all)
{
    int64_t n = 0;

    if (!range->bounds.is_known)
        return n_all;
    for (size_t i = range->first; i <= range->last; i++)
        n += ranges->counts[i];
    return n;
}

/* Whether any row of the row group has the key of an entry. */
static hudi_status probe(struct hd_op *op, const hd_log_merge *merge, hd_base_reader *base,
                         int32_t row_group, int32_t column, bool *touched)
{
    const struct hd_base_read_options options = {
        .columns = &column, .n_columns = 1, .row_groups = &row_group, .n_row_groups = 1};
    const struct ArrowSchema *const field = hd_base_reader_schema(base)->children[column];
    hudi_status status = HUDI_OK;
    hd_base_batches *batches = NULL;
    struct ArrowArray batch = {0};
    struct hd_arena arena = {0};
    struct hd_view keys;
    int64_t entry;

    *touched = false;
    HD_TRY(hd_base_reader_read(op, base, &options, &batches));
    while (!*touched) {
        HD_TRY_OUT(hd_op_check_cancel(op));
        status = hd_base_batches_next(op, batches, &batch);
        if (status != HUDI_OK)
            break;
        hd_arena_reset(&arena);
        HD_TRY_OUT(hd_view_open(op, &arena, field, batch.children[0], &keys));
        for (int64_t i = 0; i < keys.length && !*touched; i++) {
            hd_spillable_map_find(merge->map, 0, &keys, i, 1, &entry);
            *touched = entry >= 0;
        }
        hd_array_clear(&batch);
    }
out:
    hd_array_clear(&batch);
    hd_arena_clear(&arena);
    hd_base_batches_close(batches);
    return status == HUDI_END ? HUDI_OK : status;
}

hudi_status hd_log_merge_key_column(struct hd_op *op, const hd_log_merge *merge,
                                    hd_base_reader *base, int32_t *out)
{
    const struct hd_merge_columns *const columns = merge->columns;
    struct hd_type type;

    *out = -1;
    if (columns->key < 0 || columns->base.file.column_of[columns->key] < 0)
        return HUDI_OK;
    const int32_t column = columns->base.file.column_of[columns->key];
    HD_TRY(hd_type_of(op, hd_base_reader_schema(base)->children[column], &type));
    if (type.id == HD_TYPE_STRING)
        *out = column;
    return HUDI_OK;
}

/* The same by row. */
static void leave_touched_rows(const hd_log_merge *merge, const hd_base_reader *base,
                               bool *untouched)
{
    uint64_t first = 0;

    for (int32_t i = 0; i < hd_base_reader_n_row_groups(base); i++) {
        const uint64_t n = (uint64_t)hd_base_reader_row_group_rows(base, i);

        untouched[i] = untouched[i] && !hd_row_entries_any(&merge->row_entries, first, n);
        first += n;
    }
}

hudi_status hd_log_merge_untouched(struct hd_op *op, const hd_log_merge *merge,
                                   hd_base_reader *base, bool *untouched)
{
    const int64_t n_keys = hd_spillable_map_length(merge->map);
    struct ranges ranges = {.n = hd_base_reader_n_row_groups(base)};
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    int32_t column;

    if (merge->is_by_row) {
        leave_touched_rows(merge, base, untouched);
        return HUDI_OK;
    }
    HD_TRY_OUT(hd_log_merge_key_column(op, merge, base, &column));
    if (column < 0 || merge->part.width < HD_ALL_KEYS) {
        memset(untouched, 0, (size_t)ranges.n * sizeof *untouched);
        goto out;
    }
    HD_TRY_OUT(read_ranges(op, &arena, base, column, &ranges));
    for (int64_t i = 0; i < n_keys; i++)
        ranges.counts[position_of(&ranges, hd_spillable_map_key(merge->map, i))]++;
    for (int32_t i = 0; i < ranges.n; i++) {
        const int64_t n = n_keys_in(&ranges, &ranges.ranges[i], n_keys);
        bool touched = n > 0;

        if (untouched[i] && touched && n <= (int64_t)PROBED_KEYS * ranges.n)
            HD_TRY_OUT(probe(op, merge, base, i, column, &touched));
        untouched[i] = untouched[i] && !touched;
    }
out:
    hd_arena_clear(&arena);
    return status;
}
