/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/log_entries.h"

#include "arrow/array.h"
#include "base/map.h"
#include "engine/slice/log_merge_internal.h"
#include "format/table/table_schema.h"

#define MAX_ENTRIES 65536

struct hd_log_entries {
    struct hd_merge_columns columns;
    hd_log_merge *merge;
    struct hd_str instants, newest;
    struct hd_arena arena; /* of one batch */
    bool *is_delete, *by_arrival;
    size_t delete_capacity, arrival_capacity;
};

static hudi_status list_instants(struct hd_op *op, hd_log_entries *entries)
{
    const struct hd_log_scan *const scan = &entries->merge->scan;
    struct hd_map seen = {0};
    hudi_status status = HUDI_OK;

    for (size_t i = 0; i < scan->n_chosen; i++) {
        const struct hd_slice instant = scan->entries[scan->chosen[i]].instant;
        bool added;

        HD_TRY_OUT(hd_map_put(op, &seen, instant, 0, NULL, &added));
        if (!added)
            continue;
        if (entries->instants.size > 0)
            HD_TRY_OUT(hd_str_append_text(op, &entries->instants, ","));
        HD_TRY_OUT(hd_str_append(op, &entries->instants, instant.data, instant.size));
        if (hd_slice_compare(instant, hd_str_slice(&entries->newest)) <= 0)
            continue;
        entries->newest.size = 0;
        HD_TRY_OUT(hd_str_append(op, &entries->newest, instant.data, instant.size));
    }
out:
    hd_map_clear(&seen);
    return status;
}

static hudi_status load(struct hd_op *op, const struct hd_slice_query *query,
                        const struct hd_slice_source *slice, hd_log_entries *entries)
{
    HD_TRY(hd_merge_columns_init(op, query, slice, NULL, &entries->columns));
    HD_TRY(hd_log_merge_load(op, slice, &entries->columns, NULL, &entries->merge));
    if (entries->columns.is_partial)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "log blocks of partial updates are not compacted");
    return list_instants(op, entries);
}

hudi_status hd_log_entries_open(struct hd_op *op, const struct hd_slice_query *query,
                                const struct hd_slice_source *slice, hd_log_entries **out)
{
    hd_log_entries *entries;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *entries, &entries));
    const hudi_status status = load(op, query, slice, entries);

    if (status != HUDI_OK) {
        hd_log_entries_close(op, entries);
        return status;
    }
    *out = entries;
    return HUDI_OK;
}

void hd_log_entries_close(struct hd_op *op, hd_log_entries *entries)
{
    if (entries == NULL)
        return;
    hd_log_merge_free(op, entries->merge);
    hd_merge_columns_clear(op, &entries->columns);
    hd_str_clear(&entries->instants);
    hd_str_clear(&entries->newest);
    hd_arena_clear(&entries->arena);
    hd_free(op, entries->is_delete);
    hd_free(op, entries->by_arrival);
    hd_free(op, entries);
}

const hd_merger *hd_log_entries_merger(const hd_log_entries *entries)
{
    return entries->columns.merger;
}

const char *hd_log_entries_instants(const hd_log_entries *entries)
{
    return entries->instants.size == 0 ? "" : entries->instants.data;
}

const char *hd_log_entries_newest(const hd_log_entries *entries)
{
    return entries->newest.size == 0 ? "" : entries->newest.data;
}

struct hd_slice_merge_stats hd_log_entries_stats(const hd_log_entries *entries)
{
    return hd_log_merge_stats(entries->merge);
}

/* ---- batches -------------------------------------------------------------------------------- */

static hudi_status take_marks(struct hd_op *op, hd_log_entries *entries,
                              const struct ArrowArray *batch)
{
    const struct hd_merge_columns *const columns = &entries->columns;
    struct hd_view view;

    hd_arena_reset(&entries->arena);
    HD_TRY(hd_view_open(op, &entries->arena, &columns->entry, batch, &view));
    HD_TRY(hd_grow(op, &entries->is_delete, &entries->delete_capacity, (size_t)batch->length,
                   sizeof *entries->is_delete));
    HD_TRY(hd_grow(op, &entries->by_arrival, &entries->arrival_capacity, (size_t)batch->length,
                   sizeof *entries->by_arrival));
    for (int64_t i = 0; i < batch->length; i++) {
        const int32_t mark = hd_view_i32(&view.children[hd_merge_columns_mark(columns)], i);

        if (!hd_view_is_null(&view.children[columns->operation], i))
            return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                           "log files of a changelog (%s) are not compacted", HD_META_OPERATION);
        entries->is_delete[i] = mark != HD_MARK_ROW;
        entries->by_arrival[i] = mark == HD_MARK_DELETE_BY_ARRIVAL;
    }
    return HUDI_OK;
}

/* The columns of `batch` (taken) that are columns of the query's schema. */
static hudi_status take_rows(struct hd_op *op, const hd_log_entries *entries,
                             struct ArrowArray *batch, struct ArrowArray *out)
{
    const int32_t n = entries->columns.operation;
    const int64_t n_rows = batch->length;
    struct hd_shared_array *shared = NULL;
    struct ArrowArray *columns = NULL;
    hudi_status status;

    HD_TRY_OUT(hd_shared_array_new(op, batch, &shared));
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n, sizeof *columns, &columns));
    for (int32_t i = 0; i < n; i++)
        HD_TRY_OUT(hd_array_share(op, shared, i, &columns[i]));
    HD_TRY_OUT(hd_array_struct(op, columns, n, n_rows, out));
out:
    for (int32_t i = 0; columns != NULL && i < n; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    hd_shared_array_free(shared);
    hd_array_clear(batch);
    return status;
}

/* Numbers of the next entries, in merge->hits. */
static hudi_status next_numbers(struct hd_op *op, hd_log_merge *merge)
{
    const int64_t limit = merge->rest_rows < MAX_ENTRIES ? merge->rest_rows : MAX_ENTRIES;

    while (merge->next_entry >= hd_spillable_map_length(merge->map))
        HD_TRY(hd_log_merge_next_part(op, merge));
    HD_TRY(hd_grow(op, &merge->hits, &merge->hit_capacity, (size_t)limit, sizeof *merge->hits));
    merge->n_hits = 0;
    while (merge->next_entry < hd_spillable_map_length(merge->map) && merge->n_hits < limit)
        merge->hits[merge->n_hits++] = merge->next_entry++;
    return HUDI_OK;
}

hudi_status hd_log_entries_next(struct hd_op *op, hd_log_entries *entries,
                                struct hd_log_entry_batch *out)
{
    hd_log_merge *const merge = entries->merge;
    hudi_status status = HUDI_OK;
    struct ArrowArray batch = {0};

    *out = (struct hd_log_entry_batch){0};
    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(next_numbers(op, merge));
    HD_TRY_OUT(hd_spillable_map_get(op, merge->map, merge->hits, merge->n_hits, &batch));
    HD_TRY_OUT(hd_spillable_map_keys(op, merge->map, merge->hits, merge->n_hits, &out->keys));
    HD_TRY_OUT(take_marks(op, entries, &batch));
    HD_TRY_OUT(take_rows(op, entries, &batch, &out->rows));
    out->n = merge->n_hits;
    out->is_delete = entries->is_delete;
    out->by_arrival = entries->by_arrival;
    return HUDI_OK;
out:
    hd_array_clear(&batch);
    hd_array_clear(&out->keys);
    return status;
}
