/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/append_handle.h"

#include "arrow/schema.h"
#include "engine/record/delete_values.h"
#include "engine/write/block_rows.h"
#include "engine/write/sequence_numbers.h"
#include "format/layout/partition.h"
#include "format/log/log_block.h"
#include "format/log/log_deletes.h"
#include "format/log/log_writer.h"
#include "format/marker/marker.h"
#include "format/table/table_schema.h"

enum { COMMIT_TIME, SEQNO, RECORD_KEY, PARTITION_PATH, FILE_NAME };

/* A block's records are encoded this many at a time, or as many as take this share of a block. */
#define CHUNK_ROWS 8192
#define CHUNKS_PER_BLOCK 8
/* Readers on the JVM hold sizes in 32 bits. */
#define MAX_BLOCK_BYTES (INT64_C(1) << 30)

struct hd_append_handle {
    struct hd_append_request request;
    struct hd_write_status *status;
    const char *base_instant; /* in the names of log files */
    struct hd_arena arena;
    struct ArrowSchema rows; /* schema->file, constant columns as dictionaries */
    hd_log_writer *writer;
    char token[HD_WRITE_TOKEN_BYTES];
    struct hd_str seqno_prefix;
    uint64_t next_seqno;
    int64_t block_bytes;
    /* the blocks at hand */
    hd_block_rows *records;
    struct hd_log_deletes deletes;
    /* scratch of one batch */
    struct hd_arena batch_arena;
    int64_t *live;
    size_t live_capacity;
    /* what was appended to the file of `stat`; stat.path NULL: nothing yet */
    struct hd_write_stat stat;
};

/* ---- names and stats --------------------------------------------------------------------------
 */

/* Log files of the slice that carry the base instant: those on a pending compaction make a slice of
 * their own, without base file. */
static bool is_of_slice(const hd_append_handle *handle, const struct hd_data_file *log)
{
    return strcmp(log->instant, handle->base_instant) == 0;
}

/* The newest log file of the slice; NULL when there is none. */
static const struct hd_data_file *last_log(const hd_append_handle *handle)
{
    const struct hd_file_slice *slice = handle->request.slice;
    const struct hd_data_file *last = NULL;

    for (size_t i = 0; i < slice->n_logs; i++)
        if (is_of_slice(handle, &slice->logs[i]) &&
            (last == NULL || slice->logs[i].log_version >= last->log_version))
            last = &slice->logs[i];
    return last;
}

/* Whether the newest log file is written on, as Hudi does where the store can. */
static bool appends(const struct hd_write_config *config)
{
    return config->may_append && config->table->config.version->log_is_of_slice &&
           hd_write_bool(config, "libhudi.log.append.enable") &&
           hd_fs_can_append(config->table->fs);
}

/* The marker, in the form that the table version's releases look for. */
static hudi_status announce(struct hd_op *op, void *self, const char *file_name)
{
    const hd_append_handle *handle = self;
    const struct hd_write_config *config = handle->request.config;
    const struct hd_table_snapshot *table = config->table;
    const struct hd_file_slice *slice = handle->request.slice;
    char *name = NULL;
    hudi_status status = HUDI_OK;

    if (table->config.version->append_marker_of_slice) {
        HD_TRY(hd_base_file_name_format(
            op, slice->file_id, handle->token, handle->base_instant,
            table->config.base_file_format == HD_BASE_FILE_ORC ? ".orc" : ".parquet", &name));
        file_name = name;
    }
    status = hd_marker_create(op, table->fs, table->path, config->instant_time,
                              slice->partition_path, file_name, HD_IO_APPEND);
    hd_free(op, name);
    return status;
}

/* A stat of the slice as it was found. */
static hudi_status begin_stat(struct hd_op *op, hd_append_handle *handle)
{
    const struct hd_file_slice *slice = handle->request.slice;
    struct hd_arena *arena = &handle->status->arena;
    struct hd_write_stat *stat = &handle->stat;
    const bool compacting = slice->base_instant != handle->base_instant;

    *stat = (struct hd_write_stat){.is_log = true, .base_file = ""};
    HD_TRY(hd_arena_strdup(op, arena, slice->file_id, (char **)&stat->file_id));
    HD_TRY(hd_arena_strdup(op, arena, slice->partition_path, (char **)&stat->partition_path));
    HD_TRY(hd_arena_strdup(op, arena, handle->base_instant, (char **)&stat->prev_commit));
    if (slice->base != NULL && !compacting)
        HD_TRY(hd_arena_strdup(op, arena, slice->base->name, (char **)&stat->base_file));
    HD_TRY(hd_arena_array(op, arena, slice->n_logs, sizeof *stat->log_files, &stat->log_files));
    for (size_t i = 0; i < slice->n_logs; i++) {
        if (!is_of_slice(handle, &slice->logs[i]))
            continue;
        HD_TRY(hd_arena_strdup(op, arena, slice->logs[i].name,
                               (char **)&stat->log_files[stat->n_log_files]));
        stat->n_log_files++;
    }
    return HUDI_OK;
}

/* The stat at hand becomes one of a file that was just begun. */
static hudi_status name_stat(struct hd_op *op, hd_append_handle *handle,
                             const struct hd_log_append *append)
{
    struct hd_arena *arena = &handle->status->arena;
    struct hd_write_stat *stat = &handle->stat;
    const char **names;

    if (stat->path != NULL) { /* rolled over */
        HD_TRY(hd_write_status_add(op, handle->status, stat));
        const struct hd_write_stat *last = &handle->status->stats[handle->status->n_stats - 1];

        *stat = (struct hd_write_stat){.is_log = true,
                                       .file_id = last->file_id,
                                       .partition_path = last->partition_path,
                                       .prev_commit = last->prev_commit,
                                       .base_file = last->base_file,
                                       .log_files = last->log_files,
                                       .n_log_files = last->n_log_files};
    }
    bool listed = false; /* when it is written on */
    HD_TRY(hd_arena_array(op, arena, stat->n_log_files + 1, sizeof *names, &names));
    for (size_t i = 0; i < stat->n_log_files; i++) {
        names[i] = stat->log_files[i];
        listed = listed || strcmp(names[i], append->file_name) == 0;
    }
    if (!listed)
        HD_TRY(hd_arena_strdup(op, arena, append->file_name, (char **)&names[stat->n_log_files++]));
    stat->log_files = names;
    HD_TRY(hd_arena_strdup(op, arena, append->path, (char **)&stat->path));
    stat->log_version = (int32_t)append->version;
    stat->log_offset = (int64_t)append->offset;
    return HUDI_OK;
}

static hudi_status count_append(struct hd_op *op, hd_append_handle *handle,
                                const struct hd_log_append *append, bool deletes)
{
    struct hd_write_stat *stat = &handle->stat;

    if (stat->path == NULL || strcmp(stat->path, append->path) != 0)
        HD_TRY(name_stat(op, handle, append));
    stat->num_writes += hd_block_rows_length(handle->records);
    stat->num_update_writes += hd_block_rows_length(handle->records);
    if (deletes)
        stat->num_deletes += (int64_t)handle->deletes.n;
    stat->total_write_bytes += (int64_t)append->size_bytes;
    stat->file_size_in_bytes = (int64_t)(append->offset + append->size_bytes);
    return HUDI_OK;
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static hudi_status make_rows_schema(struct hd_op *op, hd_append_handle *handle)
{
    static const int CONSTANT[] = {COMMIT_TIME, PARTITION_PATH, FILE_NAME};
    const struct hd_write_schema *schema = handle->request.schema;

    HD_TRY(hd_schema_copy(op, &schema->file, &handle->rows));
    for (size_t i = 0;
         i < HD_ARRAY_LENGTH(CONSTANT) && schema->n_meta > 0 && handle->request.compacted == NULL;
         i++) {
        struct ArrowSchema *field = handle->rows.children[CONSTANT[i]];
        hd_schema_clear(field);
        HD_TRY(hd_schema_init_dictionary(op, field, hd_meta_columns[CONSTANT[i]], true));
    }
    return HUDI_OK;
}

static hudi_status open_writer(struct hd_op *op, hd_append_handle *handle)
{
    const struct hd_write_config *config = handle->request.config;
    const struct hd_table_snapshot *table = config->table;
    const struct hd_file_slice *slice = handle->request.slice;
    const struct hd_data_file *last = last_log(handle);
    const struct hd_log_target target = {
        .fs = table->fs,
        .table_path = table->path,
        .partition_path = slice->partition_path,
        .file_id = slice->file_id,
        .instant = handle->base_instant,
        .writer = config->instant_time,
        .write_token = handle->token,
        .last_file = last != NULL && appends(config) ? last->name : NULL,
        .first_version = last == NULL ? 1 : last->log_version + 1,
        .max_bytes = (uint64_t)hd_write_int(config, "hoodie.logfile.max.size"),
        .announce = announce,
        .self = handle};

    HD_TRY(hd_partition_ensure(op, table->fs, table->path, &table->config, slice->partition_path,
                               config->instant_time));
    return hd_log_writer_open(op, &target, &handle->writer);
}

hudi_status hd_append_handle_open(struct hd_op *op, const struct hd_append_request *request,
                                  struct hd_write_status *write_status, hd_append_handle **out)
{
    hudi_status status = HUDI_OK;
    hd_append_handle *handle;
    const struct hd_write_config *config = request->config;
    const struct hd_file_slice *slice = request->slice;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *handle, &handle));
    handle->request = *request;
    handle->status = write_status;
    handle->base_instant =
        slice->compaction_instant != NULL ? slice->compaction_instant : slice->base_instant;
    handle->block_bytes = hd_write_int(config, "hoodie.logfile.data.block.max.size");
    if (handle->block_bytes > MAX_BLOCK_BYTES)
        handle->block_bytes = MAX_BLOCK_BYTES;
    if ((uint64_t)handle->block_bytes > op->budget->limit_bytes / 8)
        handle->block_bytes = (int64_t)(op->budget->limit_bytes / 8);
    hd_write_token_format(request->ordinal, config->task, config->attempt, handle->token);
    HD_TRY_OUT(
        hd_str_printf(op, &handle->seqno_prefix, "%s_%u_", config->instant_time, request->ordinal));
    HD_TRY_OUT(begin_stat(op, handle));
    HD_TRY_OUT(make_rows_schema(op, handle));
    HD_TRY_OUT(hd_block_rows_new(op, config, request->schema, &handle->rows, &handle->records));
    HD_TRY_OUT(open_writer(op, handle));
    *out = handle;
    return HUDI_OK;
out:
    hd_append_handle_abort(op, handle);
    return status;
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* Bytes around and of one block, as parts to be written. */
struct block_parts {
    struct hd_str head, tail;
    struct hd_str bytes; /* content of a delete block */
};

static void clear_parts(struct block_parts *block)
{
    hd_str_clear(&block->head);
    hd_str_clear(&block->tail);
    hd_str_clear(&block->bytes);
}

static hudi_status frame(struct hd_op *op, const hd_append_handle *handle,
                         enum hd_log_block_type type, uint64_t content_bytes,
                         struct block_parts *block)
{
    const char *const compacted = handle->request.compacted;
    const struct hd_log_header_entry header[] = {
        {HD_LOG_INSTANT_TIME, hd_slice_text(handle->request.config->instant_time)},
        {HD_LOG_SCHEMA, hd_slice_text(handle->request.schema->file_avro)},
        {HD_LOG_COMPACTED_BLOCK_TIMES, hd_slice_text(compacted == NULL ? "" : compacted)}};
    const size_t n = HD_ARRAY_LENGTH(header) - (compacted == NULL);

    return hd_log_block_frame(op, type, header, n, content_bytes, &block->head, &block->tail);
}

static hudi_status data_block(struct hd_op *op, const hd_append_handle *handle,
                              struct block_parts *block, struct hd_slice *parts, size_t *n)
{
    struct hd_block_content content;

    if (hd_block_rows_length(handle->records) == 0)
        return HUDI_OK;
    HD_TRY(hd_block_rows_finish(op, handle->records, &content));
    HD_TRY(frame(op, handle, content.type, content.n_bytes, block));
    parts[(*n)++] = hd_str_slice(&block->head);
    for (size_t i = 0; i < content.n_parts; i++)
        parts[(*n)++] = content.parts[i];
    parts[(*n)++] = hd_str_slice(&block->tail);
    return HUDI_OK;
}

static hudi_status delete_block(struct hd_op *op, const hd_append_handle *handle,
                                struct block_parts *block, struct hd_slice *parts, size_t *n)
{
    if (handle->deletes.n == 0)
        return HUDI_OK;
    HD_TRY(hd_log_deletes_encode(op,
                                 handle->request.config->table->config.version->log_content_version,
                                 &handle->deletes, &block->bytes));
    HD_TRY(frame(op, handle, HD_LOG_DELETE, block->bytes.size, block));
    parts[(*n)++] = hd_str_slice(&block->head);
    parts[(*n)++] = hd_str_slice(&block->bytes);
    parts[(*n)++] = hd_str_slice(&block->tail);
    return HUDI_OK;
}

/* Write what is buffered as one group: the data block, then, with `deletes`, the delete block. */
static hudi_status flush(struct hd_op *op, hd_append_handle *handle, bool deletes)
{
    hudi_status status = HUDI_OK;
    struct block_parts data = {0}, deleted = {0};
    struct hd_log_append append;
    struct hd_slice parts[7];
    size_t n = 0;

    HD_TRY_OUT(data_block(op, handle, &data, parts, &n));
    if (deletes)
        HD_TRY_OUT(delete_block(op, handle, &deleted, parts, &n));
    if (n == 0)
        goto out;
    HD_TRY_OUT(hd_log_writer_append(op, handle->writer, parts, n, &append));
    HD_TRY_OUT(count_append(op, handle, &append, deletes));
    hd_block_rows_reset(handle->records);
    if (deletes) {
        handle->deletes.n = 0;
        hd_arena_reset(&handle->deletes.arena);
    }
out:
    clear_parts(&data);
    clear_parts(&deleted);
    return status;
}

/* ---- records ----------------------------------------------------------------------------------
 */

/* The batch's columns in the order of `rows`. */
static hudi_status file_rows(struct hd_op *op, hd_append_handle *handle,
                             struct hd_shared_array *records, struct ArrowArray *keys,
                             struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    const struct hd_append_request *request = &handle->request;
    const struct hd_write_schema *schema = request->schema;
    const int64_t n = hd_shared_array_get(records)->length;
    const int32_t n_columns = (int32_t)handle->rows.n_children;
    struct ArrowArray *columns = NULL;

    HD_TRY(hd_alloc_array(op, (size_t)n_columns, sizeof *columns, &columns));
    if (schema->n_meta > 0) {
        HD_TRY_OUT(hd_array_constant_dictionary(op, hd_slice_text(request->config->instant_time), n,
                                                &columns[COMMIT_TIME]));
        HD_TRY_OUT(hd_sequence_numbers(op, hd_str_slice(&handle->seqno_prefix), &handle->next_seqno,
                                       n, &columns[SEQNO]));
        HD_TRY_OUT(hd_array_borrow(op, keys, &columns[RECORD_KEY]));
        HD_TRY_OUT(hd_array_constant_dictionary(op, hd_slice_text(request->slice->partition_path),
                                                n, &columns[PARTITION_PATH]));
        HD_TRY_OUT(hd_array_constant_dictionary(op, hd_slice_text(request->slice->file_id), n,
                                                &columns[FILE_NAME]));
    }
    for (int32_t i = 0; i < schema->n_stored; i++)
        HD_TRY_OUT(hd_array_share(op, records, schema->stored[i], &columns[schema->n_meta + i]));
    HD_TRY_OUT(hd_array_struct(op, columns, n_columns, n, out));
out:
    for (int32_t i = 0; i < n_columns; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    return status;
}

/* Encode rows `live[0..n)` of the batch, in blocks. */
static hudi_status add_records(struct hd_op *op, hd_append_handle *handle,
                               const struct ArrowArray *batch, const int64_t *live, int64_t n)
{
    const int64_t row_bytes = 1 + (int64_t)hd_array_bytes(&handle->rows, batch) /
                                      (batch->length == 0 ? 1 : batch->length);
    int64_t chunk = handle->block_bytes / CHUNKS_PER_BLOCK / row_bytes;

    chunk = chunk < 1 ? 1 : chunk > CHUNK_ROWS ? CHUNK_ROWS : chunk;
    for (int64_t done = 0; done < n; done += chunk) {
        const int64_t part = n - done < chunk ? n - done : chunk;

        HD_TRY(hd_op_check_cancel(op));
        HD_TRY(hd_block_rows_add(op, handle->records, batch, live + done, part));
        if ((int64_t)hd_block_rows_bytes(handle->records) >= handle->block_bytes)
            HD_TRY(flush(op, handle, false));
    }
    return HUDI_OK;
}

static hudi_status grow_deletes(struct hd_op *op, struct hd_log_deletes *deletes)
{
    size_t keys = deletes->capacity, paths = deletes->capacity, ordering = deletes->capacity;
    const size_t wanted = deletes->n + 1 + deletes->n / 2;

    if (deletes->n < deletes->capacity)
        return HUDI_OK;
    HD_TRY(hd_grow(op, &deletes->record_keys, &keys, wanted, sizeof *deletes->record_keys));
    HD_TRY(
        hd_grow(op, &deletes->partition_paths, &paths, wanted, sizeof *deletes->partition_paths));
    HD_TRY(hd_grow(op, &deletes->ordering, &ordering, wanted, sizeof *deletes->ordering));
    deletes->capacity = wanted;
    return HUDI_OK;
}

/* `by_arrival`: whatever is stored goes, as the operation says or was found out before. Version 2
 * has no form for bytes; these deletes take effect by arrival too. */
static hudi_status add_delete(struct hd_op *op, hd_append_handle *handle, struct hd_slice key,
                              const struct hd_merge_side *side, bool by_arrival)
{
    struct hd_log_deletes *deletes = &handle->deletes;
    const uint32_t version = handle->request.config->table->config.version->log_content_version;
    const struct hd_view *ordering =
        by_arrival ? NULL : hd_merger_ordering_value(handle->request.merger, side);
    struct hd_ordering_value value = {.type = HD_ORDERING_INT};
    char *copy;

    HD_TRY(grow_deletes(op, deletes));
    HD_TRY(hd_arena_strndup(op, &deletes->arena, key.data, key.size, &copy));
    if (ordering != NULL)
        HD_TRY(hd_ordering_value_of(op, ordering, side->row, &deletes->arena, &value));
    if (value.type == HD_ORDERING_BYTES && version == 2)
        value = (struct hd_ordering_value){.type = HD_ORDERING_INT};
    deletes->record_keys[deletes->n] = hd_slice_of(copy, key.size);
    deletes->partition_paths[deletes->n] = hd_slice_text(handle->request.slice->partition_path);
    deletes->ordering[deletes->n] = value;
    deletes->n++;
    if (deletes->arena.total_bytes < (uint64_t)handle->block_bytes)
        return HUDI_OK;
    return flush(op, handle, true);
}

hudi_status hd_append_handle_append(struct hd_op *op, hd_append_handle *handle,
                                    struct hd_shared_array *records, struct ArrowArray *keys,
                                    const bool *drop)
{
    hudi_status status = HUDI_OK;
    const struct hd_append_request *request = &handle->request;
    const struct ArrowArray *array = hd_shared_array_get(records);
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema key_field = {0};
    struct ArrowArray batch = {0};
    struct hd_view view, key_view;
    int64_t n_live = 0;

    hd_arena_reset(&handle->batch_arena);
    HD_TRY_OUT(hd_view_open(op, &handle->batch_arena, &request->schema->record, array, &view));
    HD_TRY_OUT(hd_schema_init_field(op, &key_field, "key", &text, false));
    HD_TRY_OUT(hd_view_open(op, &handle->batch_arena, &key_field, keys, &key_view));
    HD_TRY_OUT(hd_grow(op, &handle->live, &handle->live_capacity, (size_t)array->length,
                       sizeof *handle->live));
    for (int64_t row = 0; row < array->length; row++) {
        const struct hd_merge_side side = {
            .columns = view.children, .row = row, .is_delete = request->deletes};
        const bool by_arrival = request->deletes || (drop != NULL && drop[row]);

        if (by_arrival || hd_merger_is_delete(request->merger, &side))
            HD_TRY_OUT(add_delete(op, handle, hd_view_bytes(&key_view, row), &side, by_arrival));
        else
            handle->live[n_live++] = row;
    }
    if (n_live == 0)
        goto out;
    HD_TRY_OUT(file_rows(op, handle, records, keys, &batch));
    status = add_records(op, handle, &batch, handle->live, n_live);
out:
    hd_schema_clear(&key_field);
    hd_array_clear(&batch);
    hd_array_clear(keys);
    return status;
}

hudi_status hd_append_handle_append_merged(struct hd_op *op, hd_append_handle *handle,
                                           const struct ArrowArray *rows,
                                           const struct ArrowArray *keys, const bool *is_delete,
                                           const bool *by_arrival)
{
    const struct hd_write_schema *const schema = handle->request.schema;
    const struct ArrowSchema key_field = {.format = "u", .name = "key"};
    struct hd_view view, key_view;
    int64_t n_live = 0;

    hd_arena_reset(&handle->batch_arena);
    HD_TRY(hd_view_open(op, &handle->batch_arena, &schema->file, rows, &view));
    HD_TRY(hd_view_open(op, &handle->batch_arena, &key_field, keys, &key_view));
    HD_TRY(hd_grow(op, &handle->live, &handle->live_capacity, (size_t)rows->length,
                   sizeof *handle->live));
    for (int64_t row = 0; row < rows->length; row++) {
        const struct hd_merge_side side = {
            .columns = view.children + schema->n_meta, .row = row, .is_delete = true};

        if (is_delete[row])
            HD_TRY(add_delete(op, handle, hd_view_bytes(&key_view, row), &side, by_arrival[row]));
        else
            handle->live[n_live++] = row;
    }
    return add_records(op, handle, rows, handle->live, n_live);
}

hudi_status hd_append_handle_close(struct hd_op *op, hd_append_handle *handle)
{
    hudi_status status = HUDI_OK;

    HD_TRY_OUT(flush(op, handle, true));
    status = hd_log_writer_close(op, handle->writer);
    handle->writer = NULL;
    HD_TRY_OUT(status);
    if (handle->stat.path != NULL)
        HD_TRY_OUT(hd_write_status_add(op, handle->status, &handle->stat));
out:
    hd_append_handle_abort(op, handle);
    return status;
}

void hd_append_handle_abort(struct hd_op *op, hd_append_handle *handle)
{
    if (handle == NULL)
        return;
    hd_log_writer_abort(op, handle->writer);
    hd_block_rows_free(op, handle->records);
    hd_schema_clear(&handle->rows);
    hd_str_clear(&handle->seqno_prefix);
    hd_log_deletes_clear(op, &handle->deletes);
    hd_free(op, handle->live);
    hd_arena_clear(&handle->batch_arena);
    hd_arena_clear(&handle->arena);
    hd_free(op, handle);
}
