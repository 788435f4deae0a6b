/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked_int.h"
#include "engine/scan/changes_internal.h"

/*
 * The changes of one unit. Images that were not logged come from maps by record key: of the rows
 * that changed when they are known (records of a .cdc file), else of all rows before.
 */

#define CHUNK_ROWS 1024
#define MAP_BYTES (UINT64_C(64) << 20) /* of images in memory, at most */

struct hd_change_reader {
    struct hd_changes *changes;
    const struct hd_change_unit *unit;
    struct hd_arena arena;  /* of slice sources */
    hd_slice_reader *slice; /* rows that are given out, or compared */
    hd_logged_changes *logged;
    struct ArrowArray first; /* of `logged`: read to see which images it has */
    hd_spillable_map *records, *before, *after;
    bool needs_before, needs_after; /* images of `records` that were not logged */
    int64_t next_entry;             /* of `records`, or of `before` when looking for deletes */
    uint8_t *seen;                  /* bits by entry of `before` */
};

void hd_change_rows_clear(struct hd_change_rows *rows)
{
    hd_array_clear(&rows->before.array);
    hd_array_clear(&rows->after.array);
    hd_arena_clear(&rows->arena);
    *rows = (struct hd_change_rows){0};
}

static hudi_status rows_init(struct hd_op *op, struct hd_change_rows *rows, int64_t n)
{
    rows->n_rows = n;
    HD_TRY(hd_arena_array(op, &rows->arena, (size_t)n, 1, &rows->ops));
    HD_TRY(
        hd_arena_array(op, &rows->arena, (size_t)n, sizeof *rows->before.rows, &rows->before.rows));
    return hd_arena_array(op, &rows->arena, (size_t)n, sizeof *rows->after.rows, &rows->after.rows);
}

/* ---- maps --------------------------------------------------------------------------------- */

static hudi_status open_slice(struct hd_op *op, struct hd_changes *changes,
                              const struct hd_change_unit *unit,
                              const struct hd_slice_source *source, hd_slice_reader **out)
{
    return hd_change_is_gone(op, hd_slice_reader_open(op, &changes->images, source, out), changes,
                             unit, source->base_path == NULL ? "a log file" : source->base_path);
}

static hudi_status check_keys(struct hd_op *op, const struct hd_changes *changes)
{
    if (changes->table->config.populate_meta_fields)
        return HUDI_OK;
    return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                   "images that were not logged are found by _hoodie_record_key, which this table "
                   "does not store");
}

static hudi_status check_no_nulls(struct hd_op *op, const struct hd_view *keys)
{
    for (int64_t i = 0; keys->null_count != 0 && i < keys->length; i++) {
        if (hd_view_is_null(keys, i))
            return hd_fail(op, HUDI_CORRUPT, "a row has no record key");
    }
    return HUDI_OK;
}

/* The rows of a batch whose keys are in `wanted` (NULL: all) into the map. */
static hudi_status put_rows(struct hd_op *op, const struct hd_changes *changes,
                            struct hd_shared_array *batch, const hd_spillable_map *wanted,
                            hd_spillable_map *map)
{
    hudi_status status = HUDI_OK;
    const struct ArrowArray *array = hd_shared_array_get(batch);
    struct hd_arena arena = {0};
    struct hd_view view;
    int64_t *rows = NULL, n = array->length;

    HD_TRY_OUT(hd_view_open(op, &arena, &changes->image_schema, array, &view));
    const struct hd_view *keys = &view.children[changes->n_image_columns];
    HD_TRY_OUT(check_no_nulls(op, keys));
    if (wanted != NULL) {
        HD_TRY_OUT(hd_arena_array(op, &arena, (size_t)n, sizeof *rows, &rows));
        hd_spillable_map_find(wanted, 0, keys, 0, n, rows);
        n = 0;
        for (int64_t i = 0; i < array->length; i++) {
            if (rows[i] >= 0)
                rows[n++] = i;
        }
    }
    if (n > 0)
        status = hd_spillable_map_put(op, map, keys, NULL, batch, rows, n, NULL, NULL);
out:
    hd_arena_clear(&arena);
    return status;
}

static hudi_status map_new(struct hd_op *op, const struct hd_changes *changes,
                           const struct ArrowSchema *schema, hd_spillable_map **out)
{
    const struct hd_spillable_map_options options = {
        .schema = schema,
        .memory_bytes = hd_min_u64(MAP_BYTES, op->budget->limit_bytes / 8),
        .compress = true,
        .folder = changes->plan->spill_folder,
    };

    return hd_spillable_map_new(op, &options, out);
}

static hudi_status load_map(struct hd_op *op, struct hd_changes *changes,
                            const struct hd_change_unit *unit, const struct hd_slice_source *slice,
                            const hd_spillable_map *wanted, hd_spillable_map **out)
{
    hudi_status status = HUDI_OK;
    hd_slice_reader *reader = NULL;
    struct ArrowArray batch;

    *out = NULL;
    HD_TRY(check_keys(op, changes));
    HD_TRY(map_new(op, changes, &changes->image_schema, out));
    HD_TRY_OUT(open_slice(op, changes, unit, slice, &reader));
    for (;;) {
        struct hd_shared_array *shared;

        status = hd_slice_reader_next(op, reader, &batch);
        if (status == HUDI_END) {
            status = HUDI_OK;
            break;
        }
        HD_TRY_OUT(status);
        HD_TRY_OUT(hd_shared_array_new(op, &batch, &shared));
        status = put_rows(op, changes, shared, wanted, *out);
        hd_shared_array_free(shared);
        HD_TRY_OUT(status);
    }
out:
    hd_slice_reader_close(reader);
    if (status != HUDI_OK) {
        hd_spillable_map_free(op, *out);
        *out = NULL;
    }
    return status;
}

/* A side from a map: entries[i] of change i, or -1. */
static hudi_status side_of_map(struct hd_op *op, const struct hd_changes *changes,
                               const hd_spillable_map *map, struct hd_change_rows *rows,
                               const int64_t *entries, struct hd_change_side *side)
{
    int64_t *wanted, n = 0;

    HD_TRY(hd_arena_array(op, &rows->arena, (size_t)rows->n_rows, sizeof *wanted, &wanted));
    for (int64_t i = 0; i < rows->n_rows; i++) {
        side->rows[i] = entries[i] < 0 ? -1 : n;
        if (entries[i] >= 0)
            wanted[n++] = entries[i];
    }
    side->n_columns = changes->n_image_columns;
    HD_TRY(hd_spillable_map_get(op, map, wanted, n, &side->array));
    return hd_view_open(op, &rows->arena, &changes->image_schema, &side->array, &side->view);
}

/* ---- rows of one slice -------------------------------------------------------------------- */

static hudi_status next_of_slice(struct hd_op *op, struct hd_change_reader *reader,
                                 struct hd_change_rows *rows)
{
    const struct hd_changes *changes = reader->changes;
    const bool inserts = reader->unit->kind == HD_CHANGE_INSERTED;
    struct hd_change_side *side = inserts ? &rows->after : &rows->before;
    struct hd_change_side *other = inserts ? &rows->before : &rows->after;

    HD_TRY(hd_slice_reader_next(op, reader->slice, &side->array));
    HD_TRY(rows_init(op, rows, side->array.length));
    side->n_columns = changes->n_image_columns;
    HD_TRY(hd_view_open(op, &rows->arena, &changes->image_schema, &side->array, &side->view));
    memset(rows->ops, inserts ? 'i' : 'd', (size_t)rows->n_rows);
    for (int64_t i = 0; i < rows->n_rows; i++)
        side->rows[i] = i;
    other->rows = NULL;
    return HUDI_OK;
}

/* ---- logged changes ----------------------------------------------------------------------- */

static hudi_status take_ops(struct hd_op *op, const struct hd_view *ops,
                            struct hd_change_rows *rows)
{
    for (int64_t i = 0; i < rows->n_rows; i++) {
        const struct hd_slice text =
            hd_view_is_null(ops, i) ? hd_slice_of(NULL, 0) : hd_view_bytes(ops, i);

        if (text.size != 1 || strchr("iud", text.data[0]) == NULL)
            return hd_fail(op, HUDI_CORRUPT, "a logged change has the operation \"%.*s\"",
                           (int)hd_min_u64(text.size, 32), (const char *)text.data);
        rows->ops[i] = (char)text.data[0];
    }
    return HUDI_OK;
}

/* A side that was logged: column `column` of the records. */
static void side_of_records(const struct hd_view *records, enum hd_logged_column column,
                            const struct hd_change_rows *rows, char without,
                            struct hd_change_side *side)
{
    side->view = records->children[column];
    side->n_columns = side->view.n_children;
    for (int64_t i = 0; i < rows->n_rows; i++)
        side->rows[i] = rows->ops[i] == without || hd_view_is_null(&side->view, i) ? -1 : i;
}

/* Records with both images are changes as they are. */
static hudi_status next_as_logged(struct hd_op *op, struct hd_change_reader *reader,
                                  struct hd_change_rows *rows)
{
    struct hd_change_side *before = &rows->before;
    bool has_before = true, has_after = true;
    struct hd_view view;

    if (reader->first.release != NULL)
        hd_array_move(&reader->first, &before->array);
    else
        HD_TRY(hd_logged_changes_next(op, reader->logged, &before->array, &has_before, &has_after));
    if (!has_before || !has_after)
        return hd_fail(op, HUDI_CORRUPT,
                       "changes of %s in file group %s were logged with and without images",
                       reader->changes->instant->time, reader->unit->file_id);
    HD_TRY(rows_init(op, rows, before->array.length));
    HD_TRY(hd_view_open(op, &rows->arena, &reader->changes->logged_schema, &before->array, &view));
    HD_TRY(take_ops(op, &view.children[HD_LOGGED_OP], rows));
    side_of_records(&view, HD_LOGGED_BEFORE, rows, 'i', before);
    side_of_records(&view, HD_LOGGED_AFTER, rows, 'd', &rows->after);
    return HUDI_OK;
}

/* Records without images, by record key. */
static hudi_status put_records(struct hd_op *op, struct hd_change_reader *reader,
                               struct ArrowArray *batch)
{
    hudi_status status = HUDI_OK;
    const struct ArrowSchema *schema = &reader->changes->logged_schema;
    struct hd_arena arena = {0};
    struct hd_shared_array *shared;
    struct hd_view view;

    HD_TRY(hd_shared_array_new(op, batch, &shared));
    const struct ArrowArray *array = hd_shared_array_get(shared);
    HD_TRY_OUT(hd_view_open(op, &arena, schema, array, &view));
    const struct hd_view *keys = &view.children[HD_LOGGED_KEY];
    HD_TRY_OUT(check_no_nulls(op, keys));
    status = hd_spillable_map_put(op, reader->records, keys, NULL, shared, NULL, array->length,
                                  NULL, NULL);
out:
    hd_shared_array_free(shared);
    hd_arena_clear(&arena);
    return status;
}

static hudi_status load_records(struct hd_op *op, struct hd_change_reader *reader)
{
    struct hd_changes *changes = reader->changes;
    struct hd_slice_source source;

    HD_TRY(map_new(op, changes, &changes->logged_schema, &reader->records));
    while (reader->first.release != NULL) {
        bool has_before, has_after;

        HD_TRY(put_records(op, reader, &reader->first));
        const hudi_status status =
            hd_logged_changes_next(op, reader->logged, &reader->first, &has_before, &has_after);
        if (status == HUDI_END)
            break;
        HD_TRY(status);
        reader->needs_before |= !has_before;
        reader->needs_after |= !has_after;
    }
    if (reader->needs_before) {
        HD_TRY(hd_change_slice_before(op, changes, reader->unit, &reader->arena, &source));
        HD_TRY(load_map(op, changes, reader->unit, &source, reader->records, &reader->before));
    }
    if (reader->needs_after) {
        HD_TRY(hd_change_slice_after(op, changes, reader->unit, &reader->arena, &source));
        HD_TRY(load_map(op, changes, reader->unit, &source, reader->records, &reader->after));
    }
    return HUDI_OK;
}

static hudi_status open_logged(struct hd_op *op, struct hd_change_reader *reader)
{
    bool has_before, has_after;

    HD_TRY(hd_logged_changes_open(op, reader->changes, reader->unit, &reader->logged));
    const hudi_status status =
        hd_logged_changes_next(op, reader->logged, &reader->first, &has_before, &has_after);
    if (status == HUDI_END)
        return HUDI_OK; /* no record */
    HD_TRY(status);
    reader->needs_before = !has_before;
    reader->needs_after = !has_after;
    return has_before && has_after ? HUDI_OK : load_records(op, reader);
}

/* A side of the records `keys`, from the map; `without`: the operation that has no such side. */
static hudi_status look_up(struct hd_op *op, const struct hd_change_reader *reader,
                           const hd_spillable_map *map, const struct hd_view *keys, char without,
                           struct hd_change_rows *rows, struct hd_change_side *side)
{
    int64_t *entries;

    HD_TRY(hd_arena_array(op, &rows->arena, (size_t)rows->n_rows, sizeof *entries, &entries));
    hd_spillable_map_find(map, 0, keys, 0, rows->n_rows, entries);
    for (int64_t i = 0; i < rows->n_rows; i++) {
        const struct hd_slice key = hd_view_bytes(keys, i);

        if (rows->ops[i] == without)
            entries[i] = -1;
        else if (entries[i] < 0)
            return hd_fail(op, HUDI_CORRUPT,
                           "changes of %s in file group %s log \"%c\" of key \"%.*s\", which has "
                           "no row %s it",
                           reader->changes->instant->time, reader->unit->file_id, rows->ops[i],
                           (int)hd_min_u64(key.size, 100), (const char *)key.data,
                           without == 'i' ? "before" : "after");
    }
    return side_of_map(op, reader->changes, map, rows, entries, side);
}

/* Records from the map, their images looked up. Images that were logged are in `records`, which
 * `rows->before.array` or, where the other side needs that place, `rows->after.array` owns. */
static hudi_status next_looked_up(struct hd_op *op, struct hd_change_reader *reader,
                                  struct hd_change_rows *rows)
{
    const struct ArrowSchema *schema = &reader->changes->logged_schema;
    const int64_t first = reader->next_entry;
    const int64_t n_left = hd_spillable_map_length(reader->records) - first;
    const int64_t n = n_left < CHUNK_ROWS ? n_left : CHUNK_ROWS;
    struct hd_change_side *before = &rows->before, *after = &rows->after;
    struct ArrowArray records = {0};
    struct hd_view view;
    int64_t *entries;

    if (n == 0)
        return HUDI_END;
    HD_TRY(rows_init(op, rows, n));
    HD_TRY(hd_arena_array(op, &rows->arena, (size_t)n, sizeof *entries, &entries));
    for (int64_t i = 0; i < n; i++)
        entries[i] = first + i;
    reader->next_entry += n;
    HD_TRY(hd_spillable_map_get(op, reader->records, entries, n, &records));
    hudi_status status = hd_view_open(op, &rows->arena, schema, &records, &view);
    if (status == HUDI_OK)
        status = take_ops(op, &view.children[HD_LOGGED_OP], rows);
    const struct hd_view *keys = &view.children[HD_LOGGED_KEY];
    if (status == HUDI_OK && reader->needs_before)
        status = look_up(op, reader, reader->before, keys, 'i', rows, before);
    if (status == HUDI_OK && reader->needs_after)
        status = look_up(op, reader, reader->after, keys, 'd', rows, after);
    if (status == HUDI_OK && !reader->needs_before) {
        side_of_records(&view, HD_LOGGED_BEFORE, rows, 'i', before);
        hd_array_move(&records, &before->array);
    } else if (status == HUDI_OK && !reader->needs_after) {
        side_of_records(&view, HD_LOGGED_AFTER, rows, 'd', after);
        hd_array_move(&records, &after->array);
    }
    hd_array_clear(&records);
    return status;
}

/* ---- slices compared ---------------------------------------------------------------------- */

static hudi_status open_compared(struct hd_op *op, struct hd_change_reader *reader)
{
    struct hd_changes *changes = reader->changes;
    struct hd_slice_source source;

    HD_TRY(hd_change_slice_before(op, changes, reader->unit, &reader->arena, &source));
    HD_TRY(load_map(op, changes, reader->unit, &source, NULL, &reader->before));
    const size_t n_bytes = (size_t)hd_spillable_map_length(reader->before) / 8 + 1;
    HD_TRY(hd_alloc(op, n_bytes, &reader->seen));
    HD_TRY(hd_change_slice_after(op, changes, reader->unit, &reader->arena, &source));
    return open_slice(op, changes, reader->unit, &source, &reader->slice);
}

/* A row after that this instant wrote, or that was not there before. */
static hudi_status next_written(struct hd_op *op, struct hd_change_reader *reader,
                                struct hd_change_rows *rows)
{
    const struct hd_changes *changes = reader->changes;
    const struct hd_slice time = hd_slice_text(changes->instant->time);
    struct hd_change_side *after = &rows->after;
    int64_t *entries, n = 0;

    HD_TRY(hd_slice_reader_next(op, reader->slice, &after->array));
    const int64_t n_rows = after->array.length;
    HD_TRY(rows_init(op, rows, n_rows));
    HD_TRY(hd_arena_array(op, &rows->arena, (size_t)n_rows, sizeof *entries, &entries));
    HD_TRY(hd_view_open(op, &rows->arena, &changes->image_schema, &after->array, &after->view));
    const struct hd_view *keys = &after->view.children[changes->n_image_columns];
    const struct hd_view *times = &keys[1];
    hd_spillable_map_find(reader->before, 0, keys, 0, n_rows, entries);
    for (int64_t i = 0; i < n_rows; i++) {
        if (entries[i] >= 0)
            reader->seen[entries[i] / 8] |= (uint8_t)(1 << (entries[i] % 8));
        if (entries[i] >= 0 &&
            (hd_view_is_null(times, i) || !hd_slice_equal(hd_view_bytes(times, i), time)))
            continue;
        rows->ops[n] = entries[i] >= 0 ? 'u' : 'i';
        after->rows[n] = i;
        entries[n++] = entries[i];
    }
    rows->n_rows = n;
    after->n_columns = changes->n_image_columns;
    return side_of_map(op, changes, reader->before, rows, entries, &rows->before);
}

/* Rows before that are not there after. */
static hudi_status next_missing(struct hd_op *op, struct hd_change_reader *reader,
                                struct hd_change_rows *rows)
{
    const int64_t n_entries = hd_spillable_map_length(reader->before);
    int64_t entries[CHUNK_ROWS] = {0}, n = 0;

    for (; n < CHUNK_ROWS && reader->next_entry < n_entries; reader->next_entry++) {
        if ((reader->seen[reader->next_entry / 8] >> (reader->next_entry % 8) & 1) == 0)
            entries[n++] = reader->next_entry;
    }
    if (n == 0)
        return HUDI_END;
    HD_TRY(rows_init(op, rows, n));
    memset(rows->ops, 'd', (size_t)n);
    rows->after.rows = NULL;
    return side_of_map(op, reader->changes, reader->before, rows, entries, &rows->before);
}

static hudi_status next_compared(struct hd_op *op, struct hd_change_reader *reader,
                                 struct hd_change_rows *rows)
{
    if (reader->slice != NULL) {
        const hudi_status status = next_written(op, reader, rows);

        if (status != HUDI_END)
            return status;
        hd_slice_reader_close(reader->slice);
        reader->slice = NULL;
    }
    return next_missing(op, reader, rows);
}

/* ---- the reader --------------------------------------------------------------------------- */

static hudi_status open_rows(struct hd_op *op, struct hd_change_reader *reader)
{
    struct hd_changes *changes = reader->changes;
    struct hd_slice_source source;

    if (reader->unit->kind == HD_CHANGE_INSERTED)
        HD_TRY(hd_change_slice_after(op, changes, reader->unit, &reader->arena, &source));
    else
        HD_TRY(hd_change_slice_before(op, changes, reader->unit, &reader->arena, &source));
    return open_slice(op, changes, reader->unit, &source, &reader->slice);
}

hudi_status hd_change_reader_open(struct hd_op *op, struct hd_changes *changes,
                                  const struct hd_change_unit *unit, struct hd_change_reader **out)
{
    struct hd_change_reader *reader;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *reader, &reader));
    reader->changes = changes;
    reader->unit = unit;
    const hudi_status status = unit->kind == HD_CHANGE_LOGGED     ? open_logged(op, reader)
                               : unit->kind == HD_CHANGE_COMPARED ? open_compared(op, reader)
                                                                  : open_rows(op, reader);
    if (status != HUDI_OK) {
        hd_change_reader_close(op, reader);
        return status;
    }
    *out = reader;
    return HUDI_OK;
}

hudi_status hd_change_reader_next(struct hd_op *op, struct hd_change_reader *reader,
                                  struct hd_change_rows *rows)
{
    hudi_status status;

    if (reader->unit->kind == HD_CHANGE_LOGGED)
        status = reader->records != NULL ? next_looked_up(op, reader, rows)
                                         : next_as_logged(op, reader, rows);
    else if (reader->unit->kind == HD_CHANGE_COMPARED)
        status = next_compared(op, reader, rows);
    else
        status = next_of_slice(op, reader, rows);
    if (status != HUDI_OK)
        hd_change_rows_clear(rows);
    return status;
}

void hd_change_reader_close(struct hd_op *op, struct hd_change_reader *reader)
{
    if (reader == NULL)
        return;
    hd_slice_reader_close(reader->slice);
    hd_logged_changes_close(op, reader->logged);
    hd_array_clear(&reader->first);
    hd_spillable_map_free(op, reader->records);
    hd_spillable_map_free(op, reader->before);
    hd_spillable_map_free(op, reader->after);
    hd_free(op, reader->seen);
    hd_arena_clear(&reader->arena);
    hd_free(op, reader);
}
