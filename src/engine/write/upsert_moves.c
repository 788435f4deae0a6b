/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/gather.h"
#include "arrow/schema.h"
#include "engine/record/projection.h"
#include "engine/write/upsert_internal.h"
#include "store/base_file.h"

/* Records whose partitions are found anew at a time. */
#define BATCH_ROWS 16384

/* Of upsert->settled: a row in the record's own partition is updated where it is. */
#define AT_HOME 2

static bool is_elsewhere(const hd_upsert *upsert, const struct hd_file_slice *slice,
                         uint32_t partition)
{
    const struct hd_slice path = hd_partition_set_path(upsert->partitions, partition);

    return !hd_slice_equal(path, hd_slice_text(slice->partition_path));
}

static bool is_move(const hd_upsert *upsert, const struct hd_file_slice *slice, int64_t entry)
{
    return is_elsewhere(upsert, slice, upsert->partition_of[entry]);
}

/* ---- partitions of records made of two ---------------------------------------------------- */

/* Partition numbers of `records`, which had a place when they came: so they all have one. */
static hudi_status partitions_of(struct hd_op *op, hd_upsert *upsert,
                                 const struct ArrowArray *records, uint32_t *out)
{
    hudi_status status = HUDI_OK;
    const struct hd_write_config *config = upsert->config;
    hd_key_generator *generator = NULL;
    struct hd_keys keys = {0};
    struct hd_arena arena = {0};

    HD_TRY_OUT(hd_key_generator_new(op, &config->table->config, &config->options,
                                    &upsert->schema->record, config->encoding, &generator));
    HD_TRY_OUT(hd_key_generator_apply(op, generator, records, &arena, upsert->partitions, &keys));
    if (keys.n_failures > 0)
        HD_TRY_OUT(hd_fail(op, HUDI_INVALID, "a record made of two has no place: %s",
                           keys.failures[0].reason));
    memcpy(out, keys.partitions, (size_t)records->length * sizeof *out);
out:
    hd_keys_clear(op, &keys);
    hd_arena_clear(&arena);
    hd_key_generator_free(generator);
    return status;
}

hudi_status hd_upsert_repartition(struct hd_op *op, hd_upsert *upsert)
{
    const int64_t n_records = hd_spillable_map_length(upsert->map);
    hudi_status status = HUDI_OK;

    for (int64_t first = 0; first < n_records && status == HUDI_OK; first += BATCH_ROWS) {
        const int64_t n = n_records - first < BATCH_ROWS ? n_records - first : BATCH_ROWS;
        struct ArrowArray records = {0};
        int64_t *entries = NULL;

        HD_TRY(hd_alloc_array(op, (size_t)n, sizeof *entries, &entries));
        for (int64_t i = 0; i < n; i++)
            entries[i] = first + i;
        status = hd_spillable_map_get(op, upsert->map, entries, n, &records);
        if (status == HUDI_OK)
            status = partitions_of(op, upsert, &records, upsert->partition_of + first);
        hd_array_clear(&records);
        hd_free(op, entries);
    }
    return status;
}

hudi_status hd_upsert_want_columns(struct hd_op *op, struct hd_upsert_moves *moves,
                                   const struct ArrowSchema *stored)
{
    HD_TRY(hd_schema_copy(op, &moves->upsert->schema->record, &moves->wanted));
    for (int64_t i = 0; i < moves->wanted.n_children; i++)
        if (hd_schema_find(stored, moves->wanted.children[i]->name) < 0)
            moves->wanted.children[i]->flags |= ARROW_FLAG_NULLABLE;
    return HUDI_OK;
}

/* ---- rows of one old file ----------------------------------------------------------------- */

static hudi_status open_file(struct hd_op *op, struct hd_upsert_moves *moves)
{
    hudi_status status = HUDI_OK;
    const struct hd_write_config *config = moves->upsert->config;
    hd_input_file *file = NULL;
    struct ArrowSchema stored = {0};
    char *path = NULL;

    HD_TRY_OUT(hd_path_join(op, config->table->path, moves->file->slice->base->path, &path));
    HD_TRY_OUT(hd_fs_open_input(op, config->table->fs, path, &file));
    HD_TRY_OUT(
        hd_base_reader_open(op, file, config->table->config.base_file_format, &moves->reader));
    HD_TRY_OUT(hd_upsert_want_columns(op, moves, hd_base_reader_schema(moves->reader)));
    HD_TRY_OUT(hd_stored_schema(op, hd_base_reader_schema(moves->reader), &moves->wanted, &stored));
    HD_TRY_OUT(
        hd_projection_new(op, &moves->wanted, &stored, NULL, HD_CAST_READ, &moves->projection));
out:
    hd_schema_clear(&stored);
    hd_free(op, path);
    return status;
}

/* A record of both sides: its columns from two one-row sources. */
static hudi_status merged_record(struct hd_op *op, const struct hd_upsert_moves *moves,
                                 const struct ArrowArray *stored, const struct ArrowArray *incoming,
                                 const struct hd_merge_side *old, const struct hd_merge_side *new,
                                 struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    const struct ArrowSchema *schema = &moves->upsert->schema->record;
    const int32_t n = (int32_t)schema->n_children;
    struct ArrowArray *columns = NULL;

    HD_TRY(hd_alloc_array(op, (size_t)n, sizeof *columns, &columns));
    for (int32_t i = 0; i < n; i++) {
        const bool from_new = hd_merger_column_from_incoming(moves->upsert->merger, i, old, new);
        const struct ArrowArray *source = (from_new ? incoming : stored)->children[i];
        const struct hd_run run = {
            .source = 0, .start = (uint32_t)(from_new ? new->row : old->row), .length = 1};
        HD_TRY_OUT(hd_gather(op, schema->children[i], &source, 1, &run, 1, &columns[i]));
    }
    HD_TRY_OUT(hd_array_struct(op, columns, n, 1, out));
out:
    for (int32_t i = 0; i < n; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    return status;
}

/* Put a merged record in the place of the incoming one. */
static hudi_status replace_record(struct hd_op *op, hd_upsert *upsert, int64_t entry,
                                  struct ArrowArray *record)
{
    hudi_status status = HUDI_OK;
    struct hd_shared_array *shared = NULL;
    struct ArrowArray keys = {0};
    struct ArrowSchema field = {0};
    struct hd_arena arena = {0};
    struct hd_view view;
    const struct hd_type text = {.id = HD_TYPE_STRING};

    HD_TRY_OUT(hd_spillable_map_keys(op, upsert->map, &entry, 1, &keys));
    HD_TRY_OUT(hd_schema_init_field(op, &field, "key", &text, false));
    HD_TRY_OUT(hd_view_open(op, &arena, &field, &keys, &view));
    HD_TRY_OUT(hd_shared_array_new(op, record, &shared));
    HD_TRY_OUT(hd_spillable_map_put(op, upsert->map, &view, NULL, shared, NULL, 1, NULL, NULL));
out:
    hd_schema_clear(&field);
    hd_arena_clear(&arena);
    hd_array_clear(&keys);
    hd_shared_array_free(shared);
    return status;
}

/* The stored row stays in its file, whatever the merge handle makes of it there. */
static hudi_status settle_in_place(struct hd_op *op, struct hd_upsert_moves *moves, int64_t entry)
{
    hd_upsert *upsert = moves->upsert;
    struct hd_map *paths = &upsert->partitions->paths;
    struct hd_map_entry *path;

    HD_TRY(hd_map_put(op, paths, hd_slice_text(moves->file->slice->partition_path),
                      paths->n_entries, &path, NULL));
    upsert->partition_of[entry] = (uint32_t)path->value;
    upsert->settled[entry] = AT_HOME;
    return HUDI_OK;
}

/* The stored row goes; its record is inserted where it belongs, unless a row of it is there. */
void hd_upsert_move_away(const struct hd_upsert_moves *moves, struct hd_index_hit *hit)
{
    hit->drop = true;
    if (moves->upsert->settled[hit->entry] != AT_HOME)
        moves->upsert->settled[hit->entry] = 0;
}

hudi_status hd_upsert_decide_move(struct hd_op *op, struct hd_upsert_moves *moves,
                                  struct hd_index_hit *hit, const struct ArrowArray *stored,
                                  const struct hd_view *stored_columns, int64_t row,
                                  const struct ArrowArray *incoming,
                                  const struct hd_view *incoming_columns, int64_t incoming_row)
{
    hudi_status status = HUDI_OK;
    hd_upsert *upsert = moves->upsert;
    const bool deletes = upsert->config->operation == HD_OPERATION_DELETE;
    const struct hd_merge_side old = {.columns = stored_columns, .row = row};
    const struct hd_merge_side new = {.columns = incoming_columns,
                                      .row = incoming_row,
                                      .is_delete = deletes,
                                      .by_arrival = deletes};
    struct ArrowArray record = {0};
    uint32_t partition;
    const enum hd_merge_choice choice = hd_merger_combine(upsert->merger, &old, &new);

    if (choice == HD_MERGE_TAKE_INCOMING) {
        hd_upsert_move_away(moves, hit);
        return HUDI_OK;
    }
    if (choice != HD_MERGE_COLUMNS)
        return settle_in_place(op, moves, hit->entry);
    HD_TRY_OUT(merged_record(op, moves, stored, incoming, &old, &new, &record));
    HD_TRY_OUT(partitions_of(op, upsert, &record, &partition));
    if (is_elsewhere(upsert, moves->file->slice, partition)) {
        upsert->partition_of[hit->entry] = partition;
        hd_upsert_move_away(moves, hit);
    } else {
        HD_TRY_OUT(settle_in_place(op, moves, hit->entry));
    }
    HD_TRY_OUT(replace_record(op, upsert, hit->entry, &record));
out:
    hd_array_clear(&record);
    return status;
}

/* The moving hits in rows [first_row, first_row + batch->length), from hit number `*next` on. */
static hudi_status decide_batch(struct hd_op *op, struct hd_upsert_moves *moves,
                                const struct ArrowArray *batch, int64_t first_row, size_t *next)
{
    hudi_status status = HUDI_OK;
    struct hd_index_hit *hits = moves->file->hits;
    struct hd_arena arena = {0};
    struct ArrowArray incoming = {0};
    struct hd_view stored, fresh;
    int64_t *entries;
    size_t n = 0;

    while (*next + n < moves->n && hits[moves->which[*next + n]].row < first_row + batch->length)
        n++;
    if (n == 0)
        return HUDI_OK;
    HD_TRY_OUT(hd_arena_array(op, &arena, n, sizeof *entries, &entries));
    for (size_t i = 0; i < n; i++)
        entries[i] = hits[moves->which[*next + i]].entry;
    HD_TRY_OUT(hd_spillable_map_get(op, moves->upsert->map, entries, (int64_t)n, &incoming));
    HD_TRY_OUT(hd_view_open(op, &arena, &moves->wanted, batch, &stored));
    HD_TRY_OUT(hd_view_open(op, &arena, &moves->upsert->schema->record, &incoming, &fresh));
    for (size_t i = 0; i < n; i++) {
        struct hd_index_hit *hit = &hits[moves->which[*next + i]];
        HD_TRY_OUT(hd_upsert_decide_move(op, moves, hit, batch, stored.children,
                                         hit->row - first_row, &incoming, fresh.children,
                                         (int64_t)i));
    }
    *next += n;
out:
    hd_array_clear(&incoming);
    hd_arena_clear(&arena);
    return status;
}

/* Read the row groups that hold moving rows. */
static hudi_status read_rows(struct hd_op *op, struct hd_upsert_moves *moves)
{
    hudi_status status = HUDI_OK;
    hd_base_batches *batches = NULL;
    struct hd_base_read_options options = {.n_row_groups = 1};
    int64_t first_row = 0;
    size_t next = 0;

    options.columns = hd_projection_file_columns(moves->projection, &options.n_columns);
    for (int32_t g = 0; g < hd_base_reader_n_row_groups(moves->reader); g++) {
        const int64_t n_rows = hd_base_reader_row_group_rows(moves->reader, g);
        int64_t row = first_row;

        first_row += n_rows;
        if (next == moves->n || moves->file->hits[moves->which[next]].row >= first_row)
            continue;
        options.row_groups = &g;
        HD_TRY_OUT(hd_base_reader_read(op, moves->reader, &options, &batches));
        for (;;) {
            struct ArrowArray read = {0}, batch = {0};

            status = hd_base_batches_next(op, batches, &read);
            if (status == HUDI_END) {
                status = HUDI_OK;
                break;
            }
            HD_TRY_OUT(status);
            HD_TRY_OUT(hd_projection_apply(op, moves->projection, &read, &batch));
            const int64_t n = batch.length;
            status = decide_batch(op, moves, &batch, row, &next);
            hd_array_clear(&batch);
            HD_TRY_OUT(status);
            row += n;
        }
        hd_base_batches_close(batches);
        batches = NULL;
    }
out:
    hd_base_batches_close(batches);
    return status;
}

static bool moves_records(const hd_upsert *upsert)
{
    const char *key = upsert->index_type == HD_INDEX_GLOBAL_BLOOM
                          ? "hoodie.bloom.index.update.partition.path"
                          : "hoodie.simple.index.update.partition.path";

    return hd_write_bool(upsert->config, key);
}

static hudi_status resolve_file(struct hd_op *op, hd_upsert *upsert, struct hd_file_hits *file)
{
    hudi_status status = HUDI_OK;
    struct hd_upsert_moves moves = {.upsert = upsert, .file = file};

    HD_TRY_OUT(hd_alloc_array(op, file->n_hits, sizeof *moves.which, &moves.which));
    for (size_t i = 0; i < file->n_hits; i++)
        if (is_move(upsert, file->slice, file->hits[i].entry))
            moves.which[moves.n++] = i;
    if (moves.n == 0)
        goto out;
    if (file->slice->n_logs > 0) {
        HD_TRY_OUT(hd_upsert_resolve_merged(op, &moves));
        goto out;
    }
    HD_TRY_OUT(open_file(op, &moves));
    HD_TRY_OUT(read_rows(op, &moves));
out:
    hd_free(op, moves.which);
    hd_projection_free(moves.projection);
    hd_base_reader_close(moves.reader);
    hd_schema_clear(&moves.wanted);
    return file->slice->base == NULL ? status : hd_fail_path(op, status, file->slice->base->path);
}

hudi_status hd_upsert_resolve_moves(struct hd_op *op, hd_upsert *upsert)
{
    if (!moves_records(upsert))
        return HUDI_OK; /* updated where they are: the new partition value is not followed */
    for (size_t f = 0; f < upsert->tagged.n_files; f++) {
        const struct hd_file_hits *file = &upsert->tagged.files[f];

        for (size_t i = 0; i < file->n_hits; i++)
            if (!is_move(upsert, file->slice, file->hits[i].entry))
                upsert->settled[file->hits[i].entry] = AT_HOME;
    }
    for (size_t f = 0; f < upsert->tagged.n_files; f++)
        HD_TRY(resolve_file(op, upsert, &upsert->tagged.files[f]));
    return HUDI_OK;
}
