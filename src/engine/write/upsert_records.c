/* SPDX-License-Identifier: Apache-2.0 */
/* Record key and pre-combine: rows -> one record per key. */
#include "arrow/schema.h"
#include "engine/write/upsert_internal.h"

/* Of hoodie.memory.merge.max.size, as ExternalSpillableMap has it. Where records come from disk
 * anyway, keys matter more: the more of them at a time, the fewer passes over the files' keys. */
#define MEMORY_SHARE 0.8
#define SPOOLED_MEMORY_SHARE 0.3

static bool keep_later(void *self, const struct hd_view *old_columns, int64_t old_row,
                       const struct hd_view *new_columns, int64_t new_row, bool *columns)
{
    hd_upsert *upsert = self;
    const struct hd_merge_side earlier = {.columns = old_columns, .row = old_row};
    const struct hd_merge_side later = {.columns = new_columns, .row = new_row};
    const bool replace =
        !upsert->combine || hd_merger_precombine(upsert->merger, &earlier, &later, columns);

    /* Room was made before the put: one decision a row at most. */
    upsert->merged_columns |= *columns;
    if (upsert->global)
        upsert->decisions[upsert->n_decisions++] = replace;
    return replace;
}

static bool column_of_later(void *self, int32_t column, const struct hd_view *old_columns,
                            int64_t old_row, const struct hd_view *new_columns, int64_t new_row)
{
    const struct hd_merge_side earlier = {.columns = old_columns, .row = old_row};
    const struct hd_merge_side later = {.columns = new_columns, .row = new_row};

    return hd_merger_column_from_incoming(((hd_upsert *)self)->merger, column, &earlier, &later);
}

hudi_status hd_upsert_open_map(struct hd_op *op, hd_upsert *upsert)
{
    const uint64_t memory = hd_write_merge_memory(op, upsert->config);
    const double share = upsert->spooled != NULL ? SPOOLED_MEMORY_SHARE : MEMORY_SHARE;

    upsert->memory_bytes = memory;
    return hd_write_open_map(op, upsert->config, &upsert->schema->record,
                             (uint64_t)((double)memory * share), upsert->keep_all, &upsert->map);
}

hudi_status hd_upsert_with_older(struct hd_op *op, const hd_upsert *upsert, struct hd_arena *arena,
                                 const int64_t *entries, int64_t n, const int64_t **out,
                                 int64_t *n_out)
{
    int64_t n_all = 0, *all;

    *out = entries;
    *n_out = n;
    if (!upsert->keep_all)
        return HUDI_OK;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = entries[i]; e >= 0; e = hd_spillable_map_older(upsert->map, e))
            n_all++;
    HD_TRY(hd_arena_array(op, arena, (size_t)n_all, sizeof *all, &all));
    *out = all;
    *n_out = n_all;
    for (int64_t i = n; i-- > 0;) /* from the end, as the newest comes first */
        for (int64_t e = entries[i]; e >= 0; e = hd_spillable_map_older(upsert->map, e))
            all[--n_all] = e;
    return HUDI_OK;
}

/* Global index: each entry's partition is that of the row that was kept. Decisions come in the
 * order of rows, one for each that met an older row of its key. */
static void note_partitions(hd_upsert *upsert, const struct hd_input_batch *batch,
                            const int64_t *entries, int64_t n_before)
{
    int64_t n_known = n_before;
    size_t next = 0;

    for (int64_t i = 0; i < batch->n_rows; i++) {
        const int64_t row = batch->rows != NULL ? batch->rows[i] : i;
        const bool is_new = entries[i] >= n_known;

        if (is_new)
            n_known = entries[i] + 1;
        if (is_new || upsert->decisions[next++])
            upsert->partition_of[entries[i]] = batch->keys.partitions[row];
    }
}

static hudi_status put_global(struct hd_op *op, hd_upsert *upsert,
                              const struct hd_input_batch *batch, const struct hd_view *keys,
                              const struct hd_spillable_map_resolve *resolve, int64_t *entries)
{
    hudi_status status = HUDI_OK;
    const int64_t n_before = hd_spillable_map_length(upsert->map);
    const size_t n = (size_t)batch->n_rows;
    int64_t *own = NULL;

    if (entries == NULL) {
        HD_TRY_OUT(hd_alloc_raw(op, n, sizeof *own, &own));
        entries = own;
    }
    HD_TRY_OUT(hd_grow(op, &upsert->decisions, &upsert->decision_capacity, n, 1));
    HD_TRY_OUT(hd_grow(op, &upsert->partition_of, &upsert->partition_capacity, (size_t)n_before + n,
                       sizeof *upsert->partition_of));
    upsert->n_decisions = 0;
    HD_TRY_OUT(hd_spillable_map_put(op, upsert->map, keys, NULL, batch->records, batch->rows,
                                    batch->n_rows, resolve, entries));
    note_partitions(upsert, batch, entries, n_before);
out:
    hd_free(op, own);
    return status;
}

hudi_status hd_upsert_put(struct hd_op *op, hd_upsert *upsert, const struct hd_input_batch *batch,
                          int64_t *entries)
{
    hudi_status status = HUDI_OK;
    const struct hd_type text = {.id = HD_TYPE_STRING};
    const struct hd_spillable_map_resolve resolve = {
        .replace = keep_later, .take_new = column_of_later, .self = upsert};
    struct ArrowSchema field = {0};
    struct hd_arena arena = {0};
    struct hd_view keys;

    HD_TRY_OUT(hd_schema_init_field(op, &field, "key", &text, false));
    HD_TRY_OUT(hd_view_open(op, &arena, &field, &batch->keys.record_keys, &keys));
    if (upsert->global)
        HD_TRY_OUT(put_global(op, upsert, batch, &keys, &resolve, entries));
    else
        HD_TRY_OUT(hd_spillable_map_put(op, upsert->map, &keys, batch->keys.partitions,
                                        batch->records, batch->rows, batch->n_rows,
                                        upsert->combine ? &resolve : NULL, entries));
out:
    hd_schema_clear(&field);
    hd_arena_clear(&arena);
    return status;
}
