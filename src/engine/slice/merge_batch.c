/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "engine/slice/log_merge_internal.h"

/* Rows of the base file with the entries of their keys, and the entries that are left. */

#define MAX_REST_ROWS 65536

/* ---- which rows have an entry -------------------------------------------------------------- */

static hudi_status find_hits(struct hd_op *op, hd_log_merge *merge, const struct hd_view *keys)
{
    const int64_t n = keys->length;

    HD_TRY(hd_grow(op, &merge->found, &merge->found_capacity, (size_t)n, sizeof *merge->found));
    HD_TRY(hd_grow(op, &merge->rows, &merge->row_capacity, (size_t)n, sizeof *merge->rows));
    HD_TRY(hd_grow(op, &merge->hits, &merge->hit_capacity, (size_t)n, sizeof *merge->hits));
    hd_spillable_map_find(merge->map, 0, keys, 0, n, merge->found);
    merge->n_hits = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t entry = merge->found[i];

        if (entry < 0)
            continue;
        merge->met[entry / 8] |= (uint8_t)(1 << (entry % 8));
        merge->rows[merge->n_hits] = (uint32_t)i;
        merge->hits[merge->n_hits++] = entry;
    }
    return HUDI_OK;
}

/* The same by row: of the `n` rows from `first` on. */
static hudi_status find_hits_by_row(struct hd_op *op, hd_log_merge *merge, uint64_t first,
                                    int64_t n)
{
    HD_TRY(hd_grow(op, &merge->rows, &merge->row_capacity, (size_t)n, sizeof *merge->rows));
    HD_TRY(hd_grow(op, &merge->hits, &merge->hit_capacity, (size_t)n, sizeof *merge->hits));
    merge->n_hits =
        hd_row_entries_find(&merge->row_entries, first, (uint64_t)n, merge->rows, merge->hits);
    for (int64_t i = 0; i < merge->n_hits; i++)
        merge->met[merge->hits[i] / 8] |= (uint8_t)(1 << (merge->hits[i] % 8));
    return HUDI_OK;
}

/* ---- what becomes of them ------------------------------------------------------------------ */

/* A batch of the base file and the entries that its rows meet, row by row of the hits. */
struct meeting {
    hd_log_merge *merge;
    const struct hd_merge_columns *columns;
    struct hd_shared_array *stored, *entries;
    struct hd_view stored_views, entry_views;
    const struct hd_view *keys; /* of the rows; NULL by row */
    int64_t n_rows;
    bool changes; /* not every row stays as it is */
    bool has_column_merges;
};

static void choose(struct meeting *m)
{
    hd_log_merge *const merge = m->merge;

    for (int64_t i = 0; i < merge->n_hits; i++) {
        const struct hd_merge_side stored =
            hd_merge_side_of_row(m->columns, m->stored_views.children, merge->rows[i]);
        const struct hd_merge_side entry =
            hd_merge_side_of_entry(m->columns, m->entry_views.children, i);
        const enum hd_merge_choice choice = hd_log_merge_choose(m->columns, &stored, &entry);

        merge->choices[i] = (uint8_t)choice;
        m->changes = m->changes || choice != HD_MERGE_KEEP_STORED;
        m->has_column_merges = m->has_column_merges || choice == HD_MERGE_COLUMNS;
        merge->stats.n_deleted += choice == HD_MERGE_DELETE;
        if (choice == HD_MERGE_DELETE && merge->stats.has_keys)
            hd_key_digest_remove(&merge->stats.keys, hd_key_digest_key(m->keys, merge->rows[i]));
        merge->stats.n_updated += choice == HD_MERGE_TAKE_INCOMING || choice == HD_MERGE_COLUMNS;
    }
}

/* Runs of the merged rows, as column `column` of `read` has them (any, without column merges). */
static hudi_status make_runs(struct hd_op *op, const struct meeting *m, int32_t column)
{
    hd_log_merge *const merge = m->merge;
    struct hd_run_list *const runs = &merge->runs;
    uint32_t next = 0;

    hd_run_list_reset(runs);
    for (int64_t i = 0; i < merge->n_hits; i++) {
        const uint32_t row = merge->rows[i];
        bool from_entry = merge->choices[i] == HD_MERGE_TAKE_INCOMING;

        if (merge->choices[i] == HD_MERGE_KEEP_STORED)
            continue; /* in the run of what is around it */
        if (row > next)
            HD_TRY(hd_run_list_add(op, runs, 0, next, row - next));
        next = row + 1;
        if (merge->choices[i] == HD_MERGE_DELETE)
            continue;
        if (merge->choices[i] == HD_MERGE_COLUMNS) {
            const struct hd_merge_side stored =
                hd_merge_side_of_row(m->columns, m->stored_views.children, row);
            const struct hd_merge_side entry =
                hd_merge_side_of_entry(m->columns, m->entry_views.children, i);

            from_entry = hd_log_merge_takes_entry(m->columns, column, &stored, &entry,
                                                  m->entry_views.children);
        }
        HD_TRY(hd_run_list_add(op, runs, from_entry ? 1 : 0, from_entry ? (uint32_t)i : row, 1));
    }
    return m->n_rows > next ? hd_run_list_add(op, runs, 0, next, (uint32_t)m->n_rows - next)
                            : HUDI_OK;
}

static hudi_status merge_column(struct hd_op *op, const struct meeting *m, int32_t column,
                                struct ArrowArray *out)
{
    const struct ArrowSchema *field = m->columns->base.read.children[column];
    struct ArrowArray stored = {0}, entry = {0};
    const struct ArrowArray *sources[2] = {&stored, &entry};
    hudi_status status;

    HD_TRY_OUT(hd_array_share(op, m->stored, column, &stored));
    HD_TRY_OUT(hd_array_share(op, m->entries, column, &entry));
    HD_TRY_OUT(hd_gather(op, field, sources, 2, m->merge->runs.runs, m->merge->runs.n_runs, out));
out:
    hd_array_clear(&stored);
    hd_array_clear(&entry);
    return status;
}

static hudi_status merge_columns(struct hd_op *op, const struct meeting *m, struct ArrowArray *out)
{
    const int32_t n = m->columns->n_read;
    struct ArrowArray *columns = NULL;
    hudi_status status;

    HD_TRY(hd_alloc_array(op, (size_t)n, sizeof *columns, &columns));
    for (int32_t i = 0; i < n; i++) {
        if (i == 0 || m->has_column_merges)
            HD_TRY_OUT(make_runs(op, m, i));
        HD_TRY_OUT(merge_column(op, m, i, &columns[i]));
    }
    HD_TRY_OUT(hd_array_struct(op, columns, n, (int64_t)m->merge->runs.n_rows, out));
out:
    for (int32_t i = 0; i < n; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    return status;
}

/* `batch` is taken, also on failure; `keys` are of its rows, NULL by row, where `first_row` is the
 * number of the first one. */
static hudi_status meet(struct hd_op *op, hd_log_merge *merge, const struct hd_view *keys,
                        uint64_t first_row, struct ArrowArray *batch, struct ArrowArray *out)
{
    struct meeting m = {
        .merge = merge, .columns = merge->columns, .keys = keys, .n_rows = batch->length};
    struct ArrowArray entries = {0};
    hudi_status status;

    HD_TRY_OUT(hd_grow(op, &merge->choices, &merge->choice_capacity, (size_t)merge->n_hits,
                       sizeof *merge->choices));
    HD_TRY_OUT(hd_spillable_map_get(op, merge->map, merge->hits, merge->n_hits, &entries));
    HD_TRY_OUT(hd_view_open(op, &merge->arena, &m.columns->base.read, batch, &m.stored_views));
    HD_TRY_OUT(hd_view_open(op, &merge->arena, &m.columns->entry, &entries, &m.entry_views));
    if (merge->is_by_row)
        HD_TRY_OUT(hd_log_merge_check_hits(op, merge, m.stored_views.children, first_row));
    choose(&m);
    if (!m.changes) {
        hd_array_move(batch, out);
        goto out;
    }
    HD_TRY_OUT(hd_shared_array_new(op, batch, &m.stored));
    HD_TRY_OUT(hd_shared_array_new(op, &entries, &m.entries));
    HD_TRY_OUT(merge_columns(op, &m, out));
out:
    hd_shared_array_free(m.stored);
    hd_shared_array_free(m.entries);
    hd_array_clear(&entries);
    hd_array_clear(batch);
    return status;
}

/* Only the rows of the part, unless that has all keys. */
static hudi_status keep_part(struct hd_op *op, hd_log_merge *merge, const struct hd_view *keys,
                             struct ArrowArray *batch)
{
    const struct ArrowSchema *read = &merge->columns->base.read;
    const struct ArrowArray *source = batch;
    struct ArrowArray kept;

    hd_run_list_reset(&merge->runs);
    for (int64_t i = 0; i < keys->length; i++) {
        const bool is_null = hd_view_is_null(keys, i);

        if (hd_key_part_has(&merge->part, is_null ? (struct hd_slice){0} : hd_view_bytes(keys, i)))
            HD_TRY(hd_run_list_add(op, &merge->runs, 0, (uint32_t)i, 1));
    }
    HD_TRY(hd_gather(op, read, &source, 1, merge->runs.runs, merge->runs.n_runs, &kept));
    hd_array_clear(batch);
    hd_array_move(&kept, batch);
    return HUDI_OK;
}

static hudi_status apply_by_row(struct hd_op *op, hd_log_merge *merge, struct ArrowArray *batch,
                                uint64_t first_row)
{
    struct ArrowArray merged;

    hd_arena_reset(&merge->arena);
    HD_TRY(find_hits_by_row(op, merge, first_row, batch->length));
    if (merge->n_hits == 0)
        return HUDI_OK;
    HD_TRY(meet(op, merge, NULL, first_row, batch, &merged));
    hd_array_move(&merged, batch);
    return HUDI_OK;
}

static hudi_status apply(struct hd_op *op, hd_log_merge *merge, struct ArrowArray *batch,
                         struct ArrowArray *made)
{
    struct ArrowArray merged;
    struct hd_view keys;

    hd_arena_reset(&merge->arena);
    HD_TRY(hd_merge_columns_keys(op, merge->columns, batch, &merge->arena, made, &keys));
    if (merge->part.width < HD_ALL_KEYS) {
        HD_TRY(keep_part(op, merge, &keys, batch));
        hd_array_clear(made);
        hd_arena_reset(&merge->arena);
        HD_TRY(hd_merge_columns_keys(op, merge->columns, batch, &merge->arena, made, &keys));
    }
    if (merge->stats.has_keys)
        hd_key_digest_add_rows(&merge->stats.keys, &keys);
    HD_TRY(find_hits(op, merge, &keys));
    if (merge->n_hits == 0)
        return HUDI_OK;
    HD_TRY(meet(op, merge, &keys, 0, batch, &merged));
    hd_array_move(&merged, batch);
    return HUDI_OK;
}

hudi_status hd_log_merge_apply(struct hd_op *op, hd_log_merge *merge, struct ArrowArray *batch,
                               uint64_t first_row)
{
    struct ArrowArray made = {0};

    if (batch->length == 0)
        return HUDI_OK;
    if ((uint64_t)batch->length > UINT32_MAX)
        return hd_fail(op, HUDI_INTERNAL, "a batch of %lld rows", (long long)batch->length);
    const hudi_status status = merge->is_by_row ? apply_by_row(op, merge, batch, first_row)
                                                : apply(op, merge, batch, &made);

    hd_array_clear(&made);
    if (status != HUDI_OK)
        hd_array_clear(batch);
    return status;
}

/* ---- rows that are not read ---------------------------------------------------------------- */

static hudi_status give_rest(struct hd_op *op, hd_log_merge *merge, struct ArrowArray *entries,
                             struct ArrowArray *out);

/* Of the entries at hand, as `keys` has its columns. */
static hudi_status view_as_keys(struct hd_op *op, hd_log_merge *merge,
                                const struct hd_merge_columns *keys,
                                const struct ArrowArray *entries, struct hd_view **out)
{
    const struct hd_merge_columns *columns = merge->columns;
    struct hd_view view;

    HD_TRY(hd_view_open(op, &merge->arena, &columns->entry, entries, &view));
    HD_TRY(hd_arena_array(op, &merge->arena, (size_t)keys->n_read + 1, sizeof **out, out));
    for (int32_t i = 0; i < keys->n_read; i++) {
        const char *name = keys->base.read.children[i]->name;
        const int32_t at = hd_schema_find(&columns->base.read, name);

        if (at < 0)
            return hd_fail(op, HUDI_INTERNAL, "column %s is not read", name);
        (*out)[i] = view.children[at];
    }
    (*out)[hd_merge_columns_mark(keys)] = view.children[hd_merge_columns_mark(columns)];
    return HUDI_OK;
}

/* Leave out of `hits` the entries that lose against the rows they meet. */
static hudi_status leave_out_losers(struct hd_op *op, hd_log_merge *merge,
                                    const struct hd_merge_columns *keys,
                                    const struct ArrowArray *batch,
                                    const struct ArrowArray *entries)
{
    struct hd_view rows, *views;
    int64_t n = 0;

    HD_TRY(hd_view_open(op, &merge->arena, &keys->base.read, batch, &rows));
    HD_TRY(view_as_keys(op, merge, keys, entries, &views));
    for (int64_t i = 0; i < merge->n_hits; i++) {
        const struct hd_merge_side stored =
            hd_merge_side_of_row(keys, rows.children, merge->rows[i]);
        const struct hd_merge_side entry = hd_merge_side_of_entry(keys, views, i);

        if (hd_log_merge_choose(keys, &stored, &entry) != HD_MERGE_KEEP_STORED)
            merge->hits[n++] = merge->hits[i];
    }
    merge->n_hits = n;
    return HUDI_OK;
}

/* Rows of which only the columns of `keys` are read, and their entries. */
static hudi_status find_met(struct hd_op *op, hd_log_merge *merge,
                            const struct hd_merge_columns *keys, const struct ArrowArray *batch,
                            uint64_t first_row, struct ArrowArray *made)
{
    struct hd_view view;

    if (merge->is_by_row)
        return find_hits_by_row(op, merge, first_row, batch->length);
    HD_TRY(hd_merge_columns_keys(op, keys, batch, &merge->arena, made, &view));
    return find_hits(op, merge, &view);
}

hudi_status hd_log_merge_replace(struct hd_op *op, hd_log_merge *merge,
                                 const struct hd_merge_columns *keys,
                                 const struct ArrowArray *batch, uint64_t first_row,
                                 struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    struct ArrowArray made = {0}, entries = {0};
    struct hd_slice_merge_stats stats = merge->stats;

    *out = (struct ArrowArray){0};
    hd_arena_reset(&merge->arena);
    HD_TRY_OUT(find_met(op, merge, keys, batch, first_row, &made));
    const int64_t n_met = merge->n_hits;
    if (n_met == 0)
        goto out;
    HD_TRY_OUT(hd_spillable_map_get(op, merge->map, merge->hits, merge->n_hits, &entries));
    HD_TRY_OUT(leave_out_losers(op, merge, keys, batch, &entries));
    if (merge->n_hits == 0)
        goto out;
    if (merge->n_hits < n_met) {
        hd_array_clear(&entries);
        HD_TRY_OUT(hd_spillable_map_get(op, merge->map, merge->hits, merge->n_hits, &entries));
    }
    HD_TRY_OUT(give_rest(op, merge, &entries, out));
    stats.n_updated += out->length;
    stats.n_deleted += merge->n_hits - out->length;
    merge->stats = stats;
out:
    hd_array_clear(&entries);
    hd_array_clear(&made);
    return status;
}

/* ---- the rest ------------------------------------------------------------------------------ */

/* The next entries that no row had; sets merge->hits. */
static hudi_status collect_rest(struct hd_op *op, hd_log_merge *merge)
{
    const int64_t n = hd_spillable_map_length(merge->map);
    const int64_t limit = merge->rest_rows < MAX_REST_ROWS ? merge->rest_rows : MAX_REST_ROWS;

    HD_TRY(hd_grow(op, &merge->hits, &merge->hit_capacity, (size_t)limit, sizeof *merge->hits));
    merge->n_hits = 0;
    for (; merge->next_entry < n && merge->n_hits < limit; merge->next_entry++) {
        const int64_t entry = merge->next_entry;

        if ((merge->met[entry / 8] & (1 << (entry % 8))) == 0)
            merge->hits[merge->n_hits++] = entry;
        else
            merge->stats.n_met++;
    }
    return merge->n_hits > 0 ? HUDI_OK : HUDI_END;
}

/* Rows among entries: not the deletes. */
static hudi_status select_rows(struct hd_op *op, hd_log_merge *merge, const struct hd_view *entries)
{
    hd_run_list_reset(&merge->runs);
    for (int64_t i = 0; i < entries->length; i++) {
        const struct hd_merge_side side =
            hd_merge_side_of_entry(merge->columns, entries->children, i);

        if (!hd_merger_is_delete(merge->columns->merger, &side))
            HD_TRY(hd_run_list_add(op, &merge->runs, 0, (uint32_t)i, 1));
    }
    return HUDI_OK;
}

static hudi_status rest_column(struct hd_op *op, const hd_log_merge *merge,
                               struct hd_shared_array *entries, int64_t n_entries, int32_t column,
                               struct ArrowArray *out)
{
    struct ArrowArray whole;

    if (merge->runs.n_rows == (uint64_t)n_entries)
        return hd_array_share(op, entries, column, out);
    HD_TRY(hd_array_share(op, entries, column, &whole));
    const struct ArrowArray *source = &whole;
    const hudi_status status = hd_gather(op, merge->columns->nullable.children[column], &source, 1,
                                         merge->runs.runs, merge->runs.n_runs, out);
    hd_array_clear(&whole);
    return status;
}

static hudi_status digest_added(struct hd_op *op, hd_log_merge *merge,
                                const struct ArrowArray *columns)
{
    const int32_t key = merge->columns->key;
    struct hd_view keys;

    if (!merge->stats.has_keys)
        return HUDI_OK;
    HD_TRY(hd_view_open(op, &merge->arena, merge->columns->nullable.children[key], &columns[key],
                        &keys));
    hd_key_digest_add_rows(&merge->stats.keys, &keys);
    return HUDI_OK;
}

/* `entries` (taken) without deletes, as columns of `read`. */
static hudi_status give_rest(struct hd_op *op, hd_log_merge *merge, struct ArrowArray *entries,
                             struct ArrowArray *out)
{
    const int32_t n = merge->columns->n_read;
    const int64_t n_entries = entries->length;
    struct hd_shared_array *shared = NULL;
    struct ArrowArray *columns = NULL;
    struct hd_view view;
    hudi_status status;

    hd_arena_reset(&merge->arena);
    HD_TRY_OUT(hd_view_open(op, &merge->arena, &merge->columns->entry, entries, &view));
    HD_TRY_OUT(select_rows(op, merge, &view));
    HD_TRY_OUT(hd_shared_array_new(op, entries, &shared));
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n, sizeof *columns, &columns));
    for (int32_t i = 0; i < n; i++)
        HD_TRY_OUT(rest_column(op, merge, shared, n_entries, i, &columns[i]));
    HD_TRY_OUT(digest_added(op, merge, columns));
    HD_TRY_OUT(hd_array_struct(op, columns, n, (int64_t)merge->runs.n_rows, out));
    merge->stats.n_added += (int64_t)merge->runs.n_rows;
    merge->stats.n_void += n_entries - (int64_t)merge->runs.n_rows;
out:
    for (int32_t i = 0; columns != NULL && i < n; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    hd_shared_array_free(shared);
    hd_array_clear(entries);
    return status;
}

hudi_status hd_log_merge_rest(struct hd_op *op, hd_log_merge *merge, struct ArrowArray *out)
{
    struct ArrowArray entries;

    *out = (struct ArrowArray){0};
    do {
        hd_array_clear(out);
        HD_TRY(hd_op_check_cancel(op));
        HD_TRY(collect_rest(op, merge));
        HD_TRY(hd_spillable_map_get(op, merge->map, merge->hits, merge->n_hits, &entries));
        HD_TRY(give_rest(op, merge, &entries, out));
    } while (out->length == 0);
    return HUDI_OK;
}
