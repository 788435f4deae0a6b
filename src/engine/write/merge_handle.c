/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/merge_handle.h"

#include "arrow/array.h"
#include "arrow/schema.h"
#include "engine/record/key_range.h"
#include "engine/record/projection.h"
#include "engine/write/base_sink.h"
#include "engine/write/change_log.h"
#include "engine/write/merge_rows.h"
#include "format/table/table_schema.h"

enum { COMMIT_TIME, SEQNO, RECORD_KEY, PARTITION_PATH, FILE_NAME };

struct hd_merge_handle {
    struct hd_merge_request request;
    hd_base_reader *reader;
    bool as_stored; /* the old file has the columns of the new one in every respect */
    hd_projection *projection;
    hd_base_sink *sink;
    hd_change_log *changes; /* NULL: the table does not log them */
    bool collect_keys;      /* the old footer has no filter or range to go on from */
    int64_t row;            /* of the old file: first of the batch at hand */
    size_t next_hit;
    int64_t n_old_rows;
    int64_t n_updated;
    int64_t n_deleted;
    int64_t n_appended;
    /* scratch of one batch */
    const struct hd_index_hit *hits;
    struct ArrowArray incoming; /* records of the hits */
    struct ArrowArray fed_keys; /* their keys, where changes are logged and there is a feed */
    struct hd_merge_runs runs;
    struct hd_run_list column_runs;
    uint32_t *hit_rows;
    int64_t *hit_entries;
    size_t hit_capacity, entry_capacity;
    struct hd_arena arena;
};

static hudi_status open_old_file(struct hd_op *op, hd_merge_handle *handle)
{
    hudi_status status = HUDI_OK;
    const struct hd_write_config *config = handle->request.config;
    const struct hd_data_file *base = handle->request.slice->base;
    hd_input_file *file = NULL;
    char *path = NULL;

    HD_TRY_OUT(hd_path_join(op, config->table->path, base->path, &path));
    HD_TRY_OUT(hd_fs_open_input(op, config->table->fs, path, &file));
    HD_TRY_OUT(
        hd_base_reader_open(op, file, config->table->config.base_file_format, &handle->reader));
    handle->n_old_rows = hd_base_reader_n_rows(handle->reader);
    if (hd_schema_find(hd_base_reader_schema(handle->reader), HD_META_OPERATION) >= 0)
        status = hd_fail(op, HUDI_NOT_IMPLEMENTED,
                         "the file keeps changelog operations (%s); writing to such tables is not "
                         "supported",
                         HD_META_OPERATION);
out:
    hd_free(op, path);
    return hd_fail_path(op, status, base->path);
}

/* Old rows as reading sees them: what was stored under other types goes on as what it means.
 * Columns that get one value in all rows (the sink gives them a dictionary) are not read: null in
 * batches. */
static hudi_status project_old_rows(struct hd_op *op, hd_merge_handle *handle)
{
    const struct ArrowSchema *const wanted = &handle->request.schema->file;
    const struct ArrowSchema *const written = hd_base_sink_schema(handle->sink);
    const struct ArrowSchema *const schema = hd_base_reader_schema(handle->reader);
    hudi_status status = HUDI_OK;
    struct ArrowSchema stored = {0};
    const char **names = NULL;

    HD_TRY_OUT(hd_alloc_array(op, (size_t)wanted->n_children, sizeof *names, &names));
    for (int64_t i = 0; i < wanted->n_children; i++)
        names[i] = written->children[i]->dictionary != NULL ? NULL : wanted->children[i]->name;
    HD_TRY_OUT(hd_stored_schema(op, schema, wanted, &stored));
    HD_TRY_OUT(hd_projection_new(op, wanted, &stored, names, HD_CAST_READ, &handle->projection));
    status = hd_reads_as_stored(op, schema, wanted, &handle->as_stored);
out:
    hd_schema_clear(&stored);
    hd_free(op, names);
    return hd_fail_path(op, status, handle->request.slice->base->path);
}

/* Go on from the old file's filter and key range, or note that they must be collected anew. */
static hudi_status inherit_footer(struct hd_op *op, hd_merge_handle *handle)
{
    struct hd_slice text, code = {0}, min, max;
    enum hd_bloom_type type;
    hd_bloom *bloom = NULL;

    if (!hd_base_sink_has_bloom(handle->sink))
        return HUDI_OK;
    handle->collect_keys = true;
    hudi_status found = hd_base_reader_key_value(op, handle->reader, HD_BLOOM_KEY, &text);
    if (found == HUDI_OK)
        found = hd_base_reader_key_value(op, handle->reader, HD_MIN_RECORD_KEY, &min);
    if (found == HUDI_OK)
        found = hd_base_reader_key_value(op, handle->reader, HD_MAX_RECORD_KEY, &max);
    if (found == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(found);
    found = hd_base_reader_key_value(op, handle->reader, HD_BLOOM_TYPE_KEY, &code);
    if (found != HUDI_OK && found != HUDI_NOT_FOUND)
        return found;
    HD_TRY(hd_bloom_type_parse(op, code, &type));
    HD_TRY(hd_bloom_decode(op, type, text, &bloom));
    hd_base_sink_set_bloom(op, handle->sink, bloom);
    HD_TRY(hd_base_sink_widen_range(op, handle->sink, min));
    HD_TRY(hd_base_sink_widen_range(op, handle->sink, max));
    handle->collect_keys = false;
    return HUDI_OK;
}

/* Views of the record columns in a batch of file rows; columns that are not stored read as null. */
static hudi_status stored_views(struct hd_op *op, hd_merge_handle *handle,
                                const struct ArrowArray *batch, struct hd_view **out)
{
    const struct hd_write_schema *schema = handle->request.schema;
    struct hd_view root;

    HD_TRY(hd_view_open(op, &handle->arena, &schema->file, batch, &root));
    HD_TRY(
        hd_arena_array(op, &handle->arena, (size_t)schema->record.n_children, sizeof **out, out));
    for (int64_t i = 0; i < schema->record.n_children; i++)
        (*out)[i] = (struct hd_view){.type = {.id = HD_TYPE_NULL}, .length = batch->length};
    for (int32_t i = 0; i < schema->n_stored; i++)
        (*out)[schema->stored[i]] = root.children[schema->n_meta + i];
    return HUDI_OK;
}

/* Source 1 of a column's runs: the new values. */
static hudi_status new_values(struct hd_op *op, hd_merge_handle *handle, int32_t column,
                              struct ArrowArray *out)
{
    switch (column) {
    case COMMIT_TIME:
        return hd_array_constant_string(op, hd_slice_text(handle->request.config->instant_time), 1,
                                        out);
    case SEQNO:
        return hd_base_sink_sequence_numbers(op, handle->sink, handle->runs.n_changed, out);
    default:
        return hd_array_constant_string(op, hd_slice_text(hd_base_sink_file_name(handle->sink)), 1,
                                        out);
    }
}

static hudi_status merge_meta_column(struct hd_op *op, hd_merge_handle *handle, int32_t column,
                                     const struct ArrowArray *batch, struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    const struct ArrowSchema *field = hd_base_sink_schema(handle->sink)->children[column];
    const struct hd_run_list *runs = column == RECORD_KEY ? &handle->runs.kept
                                     : column == SEQNO    ? &handle->runs.seqno
                                                          : &handle->runs.commit;
    struct ArrowArray fresh = {0};

    if (field->dictionary != NULL) {
        const char *value = column == FILE_NAME ? hd_base_sink_file_name(handle->sink)
                                                : handle->request.slice->partition_path;
        return hd_array_constant_dictionary(op, hd_slice_text(value),
                                            (int64_t)handle->runs.kept.n_rows, out);
    }
    const struct ArrowArray *sources[2] = {batch->children[column], NULL};
    if (column != RECORD_KEY) {
        HD_TRY(new_values(op, handle, column, &fresh));
        sources[1] = &fresh;
    }
    status =
        hd_gather(op, field, sources, column == RECORD_KEY ? 1 : 2, runs->runs, runs->n_runs, out);
    hd_array_clear(&fresh);
    return status;
}

/* Old row of the next hit, INT64_MAX: none. */
static int64_t next_hit_row(const hd_merge_handle *handle)
{
    const struct hd_merge_request *request = &handle->request;

    if (request->feed != NULL)
        return request->feed->next_row(request->feed->self);
    return handle->next_hit < request->n_hits ? request->hits[handle->next_hit].row : INT64_MAX;
}

/* The hits before old row `end_row` out of the request's, and their records out of its map. */
static hudi_status take_mapped(struct hd_op *op, hd_merge_handle *handle, int64_t end_row,
                               size_t *n_hits)
{
    const struct hd_merge_request *request = &handle->request;
    size_t end = handle->next_hit;

    while (end < request->n_hits && request->hits[end].row < end_row)
        end++;
    handle->hits = request->hits + handle->next_hit;
    *n_hits = end - handle->next_hit;
    handle->next_hit = end;
    if (*n_hits == 0)
        return HUDI_OK;
    HD_TRY(hd_grow(op, &handle->hit_entries, &handle->entry_capacity, *n_hits,
                   sizeof *handle->hit_entries));
    for (size_t i = 0; i < *n_hits; i++)
        handle->hit_entries[i] = handle->hits[i].entry;
    return hd_spillable_map_get(op, request->map, handle->hit_entries, (int64_t)*n_hits,
                                &handle->incoming);
}

/* The hits of rows [handle->row, handle->row + n): their records, and rows relative to the batch.
 */
static hudi_status take_hits(struct hd_op *op, hd_merge_handle *handle, int64_t n, size_t *n_hits)
{
    const struct hd_merge_feed *feed = handle->request.feed;

    *n_hits = 0;
    hd_array_clear(&handle->incoming);
    hd_array_clear(&handle->fed_keys);
    if (next_hit_row(handle) >= handle->row + n)
        return HUDI_OK;
    if (feed == NULL)
        HD_TRY(take_mapped(op, handle, handle->row + n, n_hits));
    else
        HD_TRY(feed->take(op, feed->self, handle->row + n, &handle->hits, n_hits, &handle->incoming,
                          handle->changes == NULL ? NULL : &handle->fed_keys));
    HD_TRY(
        hd_grow(op, &handle->hit_rows, &handle->hit_capacity, *n_hits, sizeof *handle->hit_rows));
    for (size_t i = 0; i < *n_hits; i++)
        handle->hit_rows[i] = (uint32_t)(handle->hits[i].row - handle->row);
    return HUDI_OK;
}

/* Keys of some hits of the batch, by number in it. */
static hudi_status hit_keys(struct hd_op *op, hd_merge_handle *handle, int64_t *hits, size_t n,
                            struct ArrowArray *out)
{
    const struct ArrowArray *sources[] = {&handle->fed_keys};
    const struct ArrowSchema field = {.format = "u", .name = "key"};
    hudi_status status = HUDI_OK;
    struct hd_run_list runs = {0};

    if (handle->request.feed == NULL) {
        for (size_t i = 0; i < n; i++)
            hits[i] = handle->hit_entries[hits[i]];
        return hd_spillable_map_keys(op, handle->request.map, hits, (int64_t)n, out);
    }
    for (size_t i = 0; i < n; i++)
        HD_TRY_OUT(hd_run_list_add(op, &runs, 0, (uint32_t)hits[i], 1));
    status = hd_gather(op, &field, sources, 1, runs.runs, runs.n_runs, out);
out:
    hd_free(op, runs.runs);
    return status;
}

/* Log what the hits of a batch did; `columns` is what becomes of it. */
static hudi_status log_changes(struct hd_op *op, hd_merge_handle *handle,
                               const struct ArrowArray *batch, size_t n_hits,
                               const struct ArrowArray *columns)
{
    hudi_status status = HUDI_OK;
    struct ArrowArray keys = {0};
    uint32_t *before;
    int64_t *after, *logged, n_deleted = 0;
    size_t n = 0;

    if (handle->changes == NULL)
        return HUDI_OK;
    HD_TRY(hd_arena_array(op, &handle->arena, n_hits, sizeof *before, &before));
    HD_TRY(hd_arena_array(op, &handle->arena, n_hits, sizeof *after, &after));
    HD_TRY(hd_arena_array(op, &handle->arena, n_hits, sizeof *logged, &logged));
    for (size_t i = 0; i < n_hits; i++) {
        const enum hd_merge_choice choice = handle->runs.choices[i];

        if (choice == HD_MERGE_KEEP_STORED || choice == HD_MERGE_REWRITE_STORED)
            continue; /* its values stay */
        before[n] = handle->hit_rows[i];
        after[n] = choice == HD_MERGE_DELETE ? -1 : (int64_t)handle->hit_rows[i] - n_deleted;
        n_deleted += choice == HD_MERGE_DELETE;
        logged[n++] = (int64_t)i;
    }
    if (n == 0)
        return HUDI_OK;
    HD_TRY_OUT(hit_keys(op, handle, logged, n, &keys));
    const struct hd_logged_rows rows = {.before = batch,
                                        .before_rows = before,
                                        .after = columns,
                                        .after_rows = after,
                                        .keys = &keys,
                                        .n = n};
    status = hd_change_log_rows(op, handle->changes, &rows);
out:
    hd_array_clear(&keys);
    return status;
}

/* Columns of a batch in which some rows are hit. */
static hudi_status merge_batch(struct hd_op *op, hd_merge_handle *handle,
                               const struct ArrowArray *batch, size_t n_hits,
                               struct ArrowArray *columns)
{
    hudi_status status = HUDI_OK;
    const struct hd_merge_request *request = &handle->request;
    const struct hd_write_schema *schema = request->schema;
    const struct ArrowArray *incoming = &handle->incoming;
    struct hd_view *stored, fresh;
    const uint32_t n_rows = (uint32_t)batch->length;

    HD_TRY_OUT(stored_views(op, handle, batch, &stored));
    HD_TRY_OUT(hd_view_open(op, &handle->arena, &schema->record, incoming, &fresh));
    HD_TRY_OUT(hd_merge_runs_make(op, request, stored, fresh.children, handle->hits,
                                  handle->hit_rows, n_hits, n_rows, &handle->runs));
    for (int32_t i = 0; i < schema->n_meta; i++)
        HD_TRY_OUT(merge_meta_column(op, handle, i, batch, &columns[i]));
    for (int32_t i = 0; i < schema->n_stored; i++) {
        const int32_t column = schema->stored[i];
        const struct ArrowArray *sources[2] = {batch->children[schema->n_meta + i],
                                               incoming->children[column]};
        const struct hd_run_list *runs = &handle->runs.records;

        if (handle->runs.has_column_merges) {
            HD_TRY_OUT(hd_merge_runs_column(op, request, &handle->runs, column, stored,
                                            fresh.children, handle->hit_rows, n_hits, n_rows,
                                            &handle->column_runs));
            runs = &handle->column_runs;
        }
        HD_TRY_OUT(hd_gather(op, schema->record.children[column], sources, 2, runs->runs,
                             runs->n_runs, &columns[schema->n_meta + i]));
    }
    handle->n_updated += handle->runs.n_updated;
    handle->n_deleted += handle->runs.n_deleted;
    status = log_changes(op, handle, batch, n_hits, columns);
out:
    hd_array_clear(&handle->incoming);
    return status;
}

/* Columns of a batch that no record hits: the old ones, shared; the file name made anew. */
static hudi_status share_batch(struct hd_op *op, hd_merge_handle *handle,
                               struct hd_shared_array *batch, struct ArrowArray *columns)
{
    const struct ArrowSchema *schema = hd_base_sink_schema(handle->sink);
    const int64_t n_rows = hd_shared_array_get(batch)->length;

    for (int32_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->dictionary == NULL) {
            HD_TRY(hd_array_share(op, batch, i, &columns[i]));
            continue;
        }
        const char *value = i == FILE_NAME ? hd_base_sink_file_name(handle->sink)
                                           : handle->request.slice->partition_path;
        HD_TRY(hd_array_constant_dictionary(op, hd_slice_text(value), n_rows, &columns[i]));
    }
    return HUDI_OK;
}

/* Filter and range of the rows written, where the old footer had none. */
static hudi_status collect_keys(struct hd_op *op, hd_merge_handle *handle,
                                const struct ArrowArray *keys)
{
    struct hd_view view;

    if (!handle->collect_keys)
        return HUDI_OK;
    HD_TRY(hd_view_open(op, &handle->arena, handle->request.schema->file.children[RECORD_KEY], keys,
                        &view));
    return hd_base_sink_add_keys(op, handle->sink, &view);
}

/* One batch of old rows, in the layout of the new file (taken). */
static hudi_status write_batch(struct hd_op *op, hd_merge_handle *handle, struct ArrowArray *batch)
{
    hudi_status status = HUDI_OK;
    const int32_t n_columns = (int32_t)handle->request.schema->file.n_children;
    const int64_t n_rows = batch->length;
    struct hd_shared_array *shared = NULL;
    struct ArrowArray *columns = NULL;
    size_t n_hits;

    hd_arena_reset(&handle->arena);
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n_columns, sizeof *columns, &columns));
    HD_TRY_OUT(take_hits(op, handle, n_rows, &n_hits));
    int64_t n_written = n_rows;
    if (n_hits > 0) {
        HD_TRY_OUT(merge_batch(op, handle, batch, n_hits, columns));
        n_written = (int64_t)handle->runs.kept.n_rows;
    } else {
        HD_TRY_OUT(hd_shared_array_new(op, batch, &shared));
        HD_TRY_OUT(share_batch(op, handle, shared, columns));
    }
    if (handle->request.schema->n_meta > 0)
        HD_TRY_OUT(collect_keys(op, handle, &columns[RECORD_KEY]));
    HD_TRY_OUT(hd_base_sink_file_rows(op, handle->sink, columns, n_written));
    handle->row += n_rows;
out:
    for (int32_t i = 0; columns != NULL && i < n_columns; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    hd_shared_array_free(shared);
    hd_array_clear(batch);
    return status;
}

/* The row groups [first, end) of the old file by their rows. */
static hudi_status write_decoded(struct hd_op *op, hd_merge_handle *handle, int32_t first,
                                 int32_t end)
{
    hudi_status status = HUDI_OK;
    hd_base_batches *batches = NULL;
    struct hd_base_read_options options = {.n_row_groups = end - first};
    int32_t *row_groups = NULL;

    options.columns = hd_projection_file_columns(handle->projection, &options.n_columns);
    HD_TRY_OUT(hd_alloc_array(op, (size_t)options.n_row_groups, sizeof *row_groups, &row_groups));
    for (int32_t i = first; i < end; i++)
        row_groups[i - first] = i;
    options.row_groups = row_groups;
    HD_TRY_OUT(hd_base_reader_read(op, handle->reader, &options, &batches));
    for (;;) {
        struct ArrowArray read = {0}, batch = {0};

        HD_TRY_OUT(hd_op_check_cancel(op));
        status = hd_base_batches_next(op, batches, &read);
        if (status == HUDI_END) {
            status = HUDI_OK;
            break;
        }
        HD_TRY_OUT(status);
        HD_TRY_OUT(hd_projection_apply(op, handle->projection, &read, &batch));
        HD_TRY_OUT(write_batch(op, handle, &batch));
    }
out:
    hd_base_batches_close(batches);
    hd_free(op, row_groups);
    return status;
}

/*
 * Which row groups of the old file become part of the new one as bytes: those without hits, where
 * the columns are the same in every respect and no keys are to be looked at. Small ones are decoded
 * and written with what is around them. Hits that come as they are needed leave it to the moment
 * when a row group's turn has come.
 */
static hudi_status plan_copies(struct hd_op *op, hd_merge_handle *handle, int32_t n_row_groups,
                               bool *copied)
{
    const struct hd_merge_request *request = &handle->request;
    int64_t end = 0;
    size_t hit = 0;
    bool can;

    if (handle->collect_keys || !handle->as_stored)
        return HUDI_OK;
    HD_TRY(hd_base_sink_can_copy(op, handle->sink, handle->reader, &can));
    for (int32_t i = 0; can && i < n_row_groups; i++) {
        const size_t first_hit = hit;

        end += hd_base_reader_row_group_rows(handle->reader, i);
        while (hit < request->n_hits && request->hits[hit].row < end)
            hit++;
        copied[i] = (request->feed != NULL || hit == first_hit) &&
                    hd_base_sink_wants_copy(handle->sink, handle->reader, i);
    }
    return HUDI_OK;
}

static hudi_status write_row_groups(struct hd_op *op, hd_merge_handle *handle, int32_t n,
                                    const bool *copied)
{
    for (int32_t i = 0, end; i < n; i = end) {
        const int64_t n_rows = hd_base_reader_row_group_rows(handle->reader, i);

        end = i + 1;
        if (copied[i] && next_hit_row(handle) >= handle->row + n_rows) {
            HD_TRY(hd_base_sink_copy_row_group(op, handle->sink, handle->reader, i));
            handle->row += n_rows;
            continue;
        }
        while (handle->request.feed == NULL && end < n && !copied[end])
            end++;
        HD_TRY(write_decoded(op, handle, i, end));
    }
    return HUDI_OK;
}

static hudi_status write_old_rows(struct hd_op *op, hd_merge_handle *handle)
{
    hudi_status status = HUDI_OK;
    const int32_t n_row_groups = hd_base_reader_n_row_groups(handle->reader);
    bool *copied = NULL;

    HD_TRY_OUT(hd_alloc_array(op, (size_t)n_row_groups, sizeof *copied, &copied));
    HD_TRY_OUT(plan_copies(op, handle, n_row_groups, copied));
    HD_TRY_OUT(write_row_groups(op, handle, n_row_groups, copied));
    if (handle->row != handle->n_old_rows || next_hit_row(handle) != INT64_MAX)
        status = hd_fail(op, HUDI_CORRUPT, "%lld rows where the footer says %lld",
                         (long long)handle->row, (long long)handle->n_old_rows);
out:
    hd_free(op, copied);
    return hd_fail_path(op, status, handle->request.slice->base->path);
}

static hudi_status open_changes(struct hd_op *op, hd_merge_handle *handle)
{
    const struct hd_merge_request *request = &handle->request;
    const struct hd_change_log_target target = {.config = request->config,
                                                .schema = request->schema,
                                                .partition_path = request->slice->partition_path,
                                                .file_id = request->slice->file_id,
                                                .ordinal = request->ordinal};

    return request->config->table->config.cdc_enabled
               ? hd_change_log_open(op, &target, &handle->changes)
               : HUDI_OK;
}

hudi_status hd_merge_handle_open(struct hd_op *op, const struct hd_merge_request *request,
                                 hd_merge_handle **out)
{
    hudi_status status = HUDI_OK;
    hd_merge_handle *handle;
    const struct hd_base_sink_target target = {.partition_path = request->slice->partition_path,
                                               .file_id = request->slice->file_id,
                                               .ordinal = request->ordinal,
                                               .first_seqno = request->first_seqno,
                                               .io_type = HD_IO_MERGE,
                                               .copied_rows = true};

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *handle, &handle));
    handle->request = *request;
    HD_TRY_OUT(open_old_file(op, handle));
    HD_TRY_OUT(hd_base_sink_open(op, request->config, request->schema, &target, &handle->sink));
    HD_TRY_OUT(project_old_rows(op, handle));
    HD_TRY_OUT(open_changes(op, handle));
    HD_TRY_OUT(inherit_footer(op, handle));
    HD_TRY_OUT(write_old_rows(op, handle));
    *out = handle;
    return HUDI_OK;
out:
    hd_merge_handle_abort(op, handle);
    return status;
}

hudi_status hd_merge_handle_append(struct hd_op *op, hd_merge_handle *handle,
                                   struct hd_shared_array *records, struct ArrowArray *keys)
{
    hudi_status status = HUDI_OK;

    handle->n_appended += hd_shared_array_get(records)->length;
    if (handle->changes != NULL)
        status = hd_change_log_inserts(op, handle->changes, records, keys);
    if (status != HUDI_OK) {
        hd_array_clear(keys);
        return status;
    }
    return hd_base_sink_new_rows(op, handle->sink, records, keys);
}

uint64_t hd_merge_handle_next_seqno(const hd_merge_handle *handle)
{
    return hd_base_sink_next_seqno(handle->sink);
}

bool hd_merge_handle_can_write(const hd_merge_handle *handle)
{
    return hd_base_sink_can_write(handle->sink);
}

hudi_status hd_merge_handle_close(struct hd_op *op, hd_merge_handle *handle, struct hd_arena *arena,
                                  struct hd_write_stat *stat)
{
    hudi_status status = HUDI_OK;
    const struct hd_file_slice *slice = handle->request.slice;
    const int64_t expected = handle->n_old_rows - handle->n_deleted + handle->n_appended;

    *stat = (struct hd_write_stat){0};
    HD_TRY_OUT(hd_arena_strdup(op, arena, slice->base_instant, (char **)&stat->prev_commit));
    HD_TRY_OUT(hd_arena_strdup(op, arena, slice->base->name, (char **)&stat->prev_base_file));
    if (hd_base_sink_rows(handle->sink) != expected) {
        status = hd_fail(op, HUDI_INTERNAL, "%lld rows written where %lld were expected",
                         (long long)hd_base_sink_rows(handle->sink), (long long)expected);
        goto out;
    }
    status = hd_base_sink_close(op, handle->sink, arena, stat);
    handle->sink = NULL;
    if (status == HUDI_OK && handle->changes != NULL) {
        status = hd_change_log_close(op, handle->changes, arena, stat);
        handle->changes = NULL;
    }
    stat->num_update_writes = handle->n_updated;
    stat->num_deletes = handle->n_deleted;
    stat->num_inserts = handle->n_appended;
out:
    hd_merge_handle_abort(op, handle);
    return hd_fail_path(op, status, slice->base->path);
}

void hd_merge_handle_abort(struct hd_op *op, hd_merge_handle *handle)
{
    if (handle == NULL)
        return;
    hd_base_sink_abort(op, handle->sink);
    hd_change_log_abort(op, handle->changes);
    hd_projection_free(handle->projection);
    hd_base_reader_close(handle->reader);
    hd_merge_runs_clear(op, &handle->runs);
    hd_free(op, handle->column_runs.runs);
    hd_array_clear(&handle->incoming);
    hd_array_clear(&handle->fed_keys);
    hd_free(op, handle->hit_rows);
    hd_free(op, handle->hit_entries);
    hd_arena_clear(&handle->arena);
    hd_free(op, handle);
}
