/* SPDX-License-Identifier: Apache-2.0 */
/* Moves out of file slices with log files: what is stored is what merging gives. */
#include <stdlib.h>

#include "arrow/schema.h"
#include "engine/index/merged_rows.h"
#include "engine/write/upsert_internal.h"
#include "format/table/table_schema.h"

/* A hit that moves, by its entry. */
struct mover {
    int64_t entry;
    struct hd_index_hit *hit;
    bool seen;
};

/* A slice on its way. */
struct merged_moves {
    struct hd_upsert_moves *moves;
    struct hd_merged_rows rows;
    struct hd_merged_slice slice;
    hd_key_generator *generator; /* NULL: that column is there */
    struct mover *movers;        /* by entry */
    struct hd_arena arena;       /* one batch */
};

static int by_entry(const void *a, const void *b)
{
    const struct mover *x = a, *y = b;

    return (x->entry > y->entry) - (x->entry < y->entry);
}

static hudi_status collect_movers(struct hd_op *op, struct merged_moves *merged)
{
    const struct hd_upsert_moves *moves = merged->moves;

    HD_TRY(hd_alloc_array(op, moves->n, sizeof *merged->movers, &merged->movers));
    for (size_t i = 0; i < moves->n; i++) {
        struct hd_index_hit *hit = &moves->file->hits[moves->which[i]];
        merged->movers[i] = (struct mover){.entry = hit->entry, .hit = hit};
    }
    qsort(merged->movers, moves->n, sizeof *merged->movers, by_entry);
    return HUDI_OK;
}

static hudi_status open_slice(struct hd_op *op, struct merged_moves *merged)
{
    struct hd_upsert_moves *moves = merged->moves;
    const struct hd_write_config *config = moves->upsert->config;
    const struct ArrowSchema *stored = &merged->rows.rows;

    HD_TRY(hd_merged_rows_open(op, config->table, &config->options, NULL, 0, 1, &merged->rows));
    HD_TRY(hd_upsert_want_columns(op, moves, stored));
    HD_TRY(hd_projection_new(op, &moves->wanted, stored, NULL, HD_CAST_READ, &moves->projection));
    if (!config->table->config.populate_meta_fields)
        HD_TRY(hd_record_key_generator_new(op, &config->table->config, &config->options, stored,
                                           config->encoding, &merged->generator));
    return hd_merged_slice_open(op, &merged->rows, moves->file->slice, &merged->slice);
}

/* Record keys of a batch; `made` holds them where they are rebuilt. */
static hudi_status keys_of(struct hd_op *op, struct merged_moves *merged,
                           const struct ArrowArray *batch, struct ArrowArray *made,
                           struct hd_view *out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema field;
    struct hd_view view;

    if (merged->generator == NULL) {
        HD_TRY(hd_view_open(op, &merged->arena, &merged->rows.rows, batch, &view));
        *out = view.children[hd_schema_find(&merged->rows.rows, HD_META_RECORD_KEY)];
        return HUDI_OK;
    }
    HD_TRY(hd_key_generator_record_keys(op, merged->generator, batch, made));
    HD_TRY(hd_schema_init_field(op, &field, HD_META_RECORD_KEY, &text, false));
    const hudi_status status = hd_view_open(op, &merged->arena, &field, made, out);
    hd_schema_clear(&field);
    return status;
}

/* The columns that the projection takes, of all that are stored. */
static hudi_status project(struct hd_op *op, struct merged_moves *merged,
                           struct hd_shared_array *batch, struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    struct ArrowArray *columns = NULL, taken = {0};
    int32_t n;
    const int32_t *numbers = hd_projection_file_columns(merged->moves->projection, &n);

    HD_TRY(hd_alloc_array(op, (size_t)n, sizeof *columns, &columns));
    for (int32_t i = 0; i < n; i++)
        HD_TRY_OUT(hd_array_share(op, batch, numbers[i], &columns[i]));
    HD_TRY_OUT(hd_array_struct(op, columns, n, hd_shared_array_get(batch)->length, &taken));
    status = hd_projection_apply(op, merged->moves->projection, &taken, out);
out:
    for (int32_t i = 0; i < n; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    return status;
}

/* The movers among the rows of a batch: row numbers and movers, in row order. */
static hudi_status find_movers(struct hd_op *op, struct merged_moves *merged,
                               const struct hd_view *keys, int64_t *rows, struct mover **found,
                               size_t *n_found)
{
    const struct hd_upsert_moves *moves = merged->moves;
    int64_t *entries;

    HD_TRY(hd_arena_array(op, &merged->arena, (size_t)keys->length, sizeof *entries, &entries));
    hd_spillable_map_find(moves->upsert->map, 0, keys, 0, keys->length, entries);
    *n_found = 0;
    for (int64_t row = 0; row < keys->length; row++) {
        const struct mover wanted = {.entry = entries[row]};
        struct mover *mover = entries[row] < 0 ? NULL
                                               : bsearch(&wanted, merged->movers, moves->n,
                                                         sizeof *merged->movers, by_entry);

        if (mover == NULL || mover->seen)
            continue;
        mover->seen = true;
        rows[*n_found] = row;
        found[(*n_found)++] = mover;
    }
    return HUDI_OK;
}

static hudi_status decide_batch(struct hd_op *op, struct merged_moves *merged,
                                struct hd_shared_array *batch)
{
    hudi_status status = HUDI_OK;
    struct hd_upsert_moves *moves = merged->moves;
    const size_t n_rows = (size_t)hd_shared_array_get(batch)->length;
    struct ArrowArray made = {0}, projected = {0}, incoming = {0};
    struct hd_view keys, stored, fresh;
    struct mover **found;
    int64_t *rows, *entries;
    size_t n = 0;

    hd_arena_reset(&merged->arena);
    HD_TRY_OUT(keys_of(op, merged, hd_shared_array_get(batch), &made, &keys));
    HD_TRY_OUT(hd_arena_array(op, &merged->arena, n_rows, sizeof *rows, &rows));
    HD_TRY_OUT(hd_arena_array(op, &merged->arena, n_rows, sizeof *found, &found));
    HD_TRY_OUT(find_movers(op, merged, &keys, rows, found, &n));
    if (n == 0)
        goto out;
    HD_TRY_OUT(hd_arena_array(op, &merged->arena, n, sizeof *entries, &entries));
    for (size_t i = 0; i < n; i++)
        entries[i] = found[i]->entry;
    HD_TRY_OUT(hd_spillable_map_get(op, moves->upsert->map, entries, (int64_t)n, &incoming));
    HD_TRY_OUT(project(op, merged, batch, &projected));
    HD_TRY_OUT(hd_view_open(op, &merged->arena, &moves->wanted, &projected, &stored));
    HD_TRY_OUT(hd_view_open(op, &merged->arena, &moves->upsert->schema->record, &incoming, &fresh));
    for (size_t i = 0; i < n; i++)
        HD_TRY_OUT(hd_upsert_decide_move(op, moves, found[i]->hit, &projected, stored.children,
                                         rows[i], &incoming, fresh.children, (int64_t)i));
out:
    hd_array_clear(&made);
    hd_array_clear(&projected);
    hd_array_clear(&incoming);
    return status;
}

static hudi_status read_slice(struct hd_op *op, struct merged_moves *merged)
{
    for (;;) {
        struct ArrowArray array = {0};
        struct hd_shared_array *batch;

        HD_TRY(hd_op_check_cancel(op));
        hudi_status status = hd_slice_reader_next(op, merged->slice.reader, &array);
        if (status == HUDI_END)
            return HUDI_OK;
        HD_TRY(status);
        HD_TRY(hd_shared_array_new(op, &array, &batch));
        status = decide_batch(op, merged, batch);
        hd_shared_array_free(batch);
        HD_TRY(status);
    }
}

/* What merging does not give is deleted already. A key that is stored twice was decided upon once.
 */
static void settle_rest(struct merged_moves *merged)
{
    const size_t n = merged->moves->n;

    for (size_t i = 0, end; i < n; i = end) {
        struct mover *decided = NULL;

        for (end = i; end < n && merged->movers[end].entry == merged->movers[i].entry; end++)
            if (merged->movers[end].seen)
                decided = &merged->movers[end];
        if (decided == NULL) {
            decided = &merged->movers[i];
            hd_upsert_move_away(merged->moves, decided->hit);
        }
        for (size_t k = i; k < end; k++)
            merged->movers[k].hit->drop = decided->hit->drop;
    }
}

hudi_status hd_upsert_resolve_merged(struct hd_op *op, struct hd_upsert_moves *moves)
{
    hudi_status status = HUDI_OK;
    struct merged_moves merged = {.moves = moves};

    HD_TRY_OUT(collect_movers(op, &merged));
    HD_TRY_OUT(open_slice(op, &merged));
    HD_TRY_OUT(read_slice(op, &merged));
    settle_rest(&merged);
out:
    hd_merged_slice_close(op, &merged.slice);
    hd_merged_rows_close(op, &merged.rows);
    hd_key_generator_free(merged.generator);
    hd_free(op, merged.movers);
    hd_arena_clear(&merged.arena);
    return status;
}
