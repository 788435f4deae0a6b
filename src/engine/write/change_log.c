/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/change_log.h"

#include <string.h>
#include <strings.h>

#include "arrow/avro_encoder.h"
#include "arrow/builder.h"
#include "arrow/gather.h"
#include "arrow/schema.h"
#include "base/checked_int.h"
#include "format/layout/file_name.h"
#include "format/log/log_block.h"
#include "format/log/log_writer.h"
#include "format/marker/marker.h"

/* A block is held in memory until it is written; real readers hold it whole as well. */
#define MAX_BLOCK_BYTES (UINT64_C(16) << 20)
#define CHUNK_ROWS 4096

enum logging_mode { OP_KEY_ONLY, DATA_BEFORE, DATA_BEFORE_AFTER };

/* Columns of a record's batch; the schema of the mode takes those that it has. */
enum { OP, TS_MS, RECORD_KEY, BEFORE, AFTER, N_COLUMNS };

struct hd_change_log {
    const struct hd_write_config *config;
    const struct hd_write_schema *schema;
    enum logging_mode mode;
    const char *partition_path, *file_id; /* in the arena */
    char token[HD_WRITE_TOKEN_BYTES];
    struct hd_arena arena;
    struct hd_str avro;         /* schema of the records */
    struct ArrowSchema records; /* N_COLUMNS */
    hd_avro_encoder *encoder;
    hd_log_writer *writer;
    uint64_t block_bytes;
    struct hd_str block; /* records that wait */
    int64_t n_records;
    /* Files: path -> size */
    const char **paths;
    int64_t *sizes;
    size_t n_files, path_capacity, size_capacity;
};

/* ---- schema ------------------------------------------------------------------------------- */

static hudi_status mode_of(struct hd_op *op, const struct hd_write_config *config,
                           enum logging_mode *out)
{
    static const char *const NAMES[] = {"OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"};
    /* Names of Hudi 0.13. */
    static const char *const OLD_NAMES[] = {"op_key_only", "data_before", "data_before_after"};
    const char *mode = config->table->config.cdc_mode;

    *out = DATA_BEFORE_AFTER;
    if (mode == NULL || mode[0] == '\0')
        return HUDI_OK;
    for (int i = 0; i < 3; i++) {
        if (strcasecmp(mode, NAMES[i]) == 0 || strcmp(mode, OLD_NAMES[i]) == 0) {
            *out = (enum logging_mode)i;
            return HUDI_OK;
        }
    }
    return hd_fail(op, HUDI_INVALID, "hoodie.table.cdc.supplemental.logging.mode \"%s\"", mode);
}

static hudi_status text_field(struct hd_op *op, struct hd_arena *arena, const char *name,
                              bool null_first, struct hd_avro_field *out)
{
    struct hd_avro_schema *text, *both;

    HD_TRY(hd_avro_schema_new(op, arena, HD_AVRO_STRING, HD_AVRO_PLAIN, &text));
    HD_TRY(hd_avro_schema_nullable(op, arena, text, &both));
    if (!null_first) {
        struct hd_avro_schema *null = both->branches[0];

        both->branches[0] = both->branches[1];
        both->branches[1] = null;
    }
    *out = (struct hd_avro_field){
        .name = name, .schema = both, .default_json = null_first ? "null" : NULL};
    return HUDI_OK;
}

static hudi_status image_field(struct hd_op *op, struct hd_arena *arena, const char *name,
                               struct hd_avro_schema *image, struct hd_avro_field *out)
{
    *out = (struct hd_avro_field){.name = name, .default_json = "null"};
    return hd_avro_schema_nullable(op, arena, image, &out->schema);
}

/* The record of the mode, as real writers name it and its fields. */
static hudi_status make_avro(struct hd_op *op, hd_change_log *log, struct hd_avro_schema **out)
{
    struct hd_arena *arena = &log->arena;
    struct hd_avro_schema *record, *image;
    struct hd_avro_field *fields;
    const bool null_first = log->mode != OP_KEY_ONLY;
    size_t n = 0;

    HD_TRY(hd_avro_schema_new(op, arena, HD_AVRO_RECORD, HD_AVRO_PLAIN, &record));
    HD_TRY(hd_avro_schema_parse(op, arena, hd_slice_text(log->schema->avro), &image));
    HD_TRY(hd_arena_array(op, arena, N_COLUMNS, sizeof *fields, &fields));
    HD_TRY(text_field(op, arena, "op", null_first, &fields[n++]));
    HD_TRY(text_field(op, arena, log->mode == DATA_BEFORE_AFTER ? "ts_ms" : "record_key",
                      null_first, &fields[n++]));
    if (log->mode != OP_KEY_ONLY)
        HD_TRY(image_field(op, arena, "before", image, &fields[n++]));
    if (log->mode == DATA_BEFORE_AFTER)
        HD_TRY(image_field(op, arena, "after", image, &fields[n++]));
    record->fields = fields;
    record->n_fields = n;
    record->name = log->mode == OP_KEY_ONLY ? "Record" : "CDC";
    /* Beside the table's own record, as there; that of keys alone has none. */
    record->name_space = log->mode == OP_KEY_ONLY          ? ""
                         : strcmp(image->name, "CDC") == 0 ? "hudi.cdc"
                                                           : image->name_space;
    HD_TRY(hd_arena_printf(op, arena, (char **)&record->full_name, "%s%s%s", record->name_space,
                           record->name_space[0] == '\0' ? "" : ".", record->name));
    HD_TRY(hd_avro_schema_finish(op, record));
    *out = record;
    return hd_avro_schema_format(op, record, &log->avro);
}

/* The stored table columns as a struct. */
static hudi_status image_schema(struct hd_op *op, const struct hd_write_schema *schema,
                                const char *name, struct ArrowSchema *out)
{
    HD_TRY(hd_schema_init_struct(op, out, name, true, schema->n_stored));
    for (int32_t i = 0; i < schema->n_stored; i++)
        HD_TRY(hd_schema_copy(op, schema->file.children[schema->n_meta + i], out->children[i]));
    return HUDI_OK;
}

static hudi_status make_records_schema(struct hd_op *op, hd_change_log *log)
{
    static const char *const TEXTS[] = {"op", "ts_ms", "record_key"};
    const struct hd_type text = {.id = HD_TYPE_STRING};

    HD_TRY(hd_schema_init_struct(op, &log->records, "", false, N_COLUMNS));
    for (int i = 0; i <= RECORD_KEY; i++)
        HD_TRY(hd_schema_init_field(op, log->records.children[i], TEXTS[i], &text, true));
    HD_TRY(image_schema(op, log->schema, "before", log->records.children[BEFORE]));
    return image_schema(op, log->schema, "after", log->records.children[AFTER]);
}

/* ---- opening ------------------------------------------------------------------------------ */

/* The marker, in the form that the table version's releases look for. */
static hudi_status announce(struct hd_op *op, void *self, const char *file_name)
{
    const hd_change_log *log = self;
    const struct hd_table_snapshot *table = log->config->table;
    char *name = NULL;

    if (table->config.version->append_marker_of_slice) {
        HD_TRY(hd_base_file_name_format(
            op, log->file_id, log->token, log->config->instant_time,
            table->config.base_file_format == HD_BASE_FILE_ORC ? ".orc" : ".parquet", &name));
        file_name = name;
    }
    const hudi_status status =
        hd_marker_create(op, table->fs, table->path, log->config->instant_time, log->partition_path,
                         file_name, HD_IO_APPEND);
    hd_free(op, name);
    return status;
}

static hudi_status open_writer(struct hd_op *op, hd_change_log *log,
                               const struct hd_change_log_target *target)
{
    const struct hd_write_config *config = log->config;

    HD_TRY(hd_arena_strdup(op, &log->arena, target->partition_path, (char **)&log->partition_path));
    HD_TRY(hd_arena_strdup(op, &log->arena, target->file_id, (char **)&log->file_id));
    hd_write_token_format(target->ordinal, config->task, config->attempt, log->token);
    const struct hd_log_target file = {
        .fs = config->table->fs,
        .table_path = config->table->path,
        .partition_path = target->partition_path,
        .file_id = target->file_id,
        .instant = config->instant_time,
        .writer = config->instant_time,
        .write_token = log->token,
        .suffix = ".cdc",
        .first_version = 1,
        .max_bytes = (uint64_t)hd_write_int(config, "hoodie.logfile.max.size"),
        .announce = announce,
        .self = log,
    };

    return hd_log_writer_open(op, &file, &log->writer);
}

hudi_status hd_change_log_open(struct hd_op *op, const struct hd_change_log_target *target,
                               hd_change_log **out)
{
    hudi_status status = HUDI_OK;
    hd_change_log *log;
    struct hd_avro_schema *avro;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *log, &log));
    log->config = target->config;
    log->schema = target->schema;
    log->block_bytes =
        hd_min_u64((uint64_t)hd_write_int(log->config, "hoodie.logfile.data.block.max.size"),
                   hd_min_u64(MAX_BLOCK_BYTES, op->budget->limit_bytes / 16));
    HD_TRY_OUT(mode_of(op, log->config, &log->mode));
    HD_TRY_OUT(make_avro(op, log, &avro));
    HD_TRY_OUT(make_records_schema(op, log));
    HD_TRY_OUT(hd_avro_encoder_new(op, &log->records, avro, &log->encoder));
    HD_TRY_OUT(open_writer(op, log, target));
    *out = log;
    return HUDI_OK;
out:
    hd_change_log_abort(op, log);
    return status;
}

/* ---- blocks ------------------------------------------------------------------------------- */

static void put_be32(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
}

static hudi_status note_file(struct hd_op *op, hd_change_log *log,
                             const struct hd_log_append *append)
{
    const size_t n = log->n_files;

    if (n == 0 || strcmp(log->paths[n - 1], append->path) != 0) {
        char *path;

        HD_TRY(hd_grow(op, &log->paths, &log->path_capacity, n + 1, sizeof *log->paths));
        HD_TRY(hd_grow(op, &log->sizes, &log->size_capacity, n + 1, sizeof *log->sizes));
        HD_TRY(hd_arena_strdup(op, &log->arena, append->path, &path));
        log->paths[n] = path;
        log->n_files++;
    }
    log->sizes[log->n_files - 1] = (int64_t)(append->offset + append->size_bytes);
    return HUDI_OK;
}

static hudi_status write_block(struct hd_op *op, hd_change_log *log)
{
    hudi_status status = HUDI_OK;
    const struct hd_log_header_entry header[] = {
        {HD_LOG_INSTANT_TIME, hd_slice_text(log->config->instant_time)},
        {HD_LOG_SCHEMA, hd_str_slice(&log->avro)}};
    struct hd_str head = {0}, tail = {0};
    struct hd_log_append append;
    uint8_t counts[8];

    put_be32(counts, log->config->table->config.version->log_content_version);
    put_be32(counts + 4, (uint32_t)log->n_records);
    HD_TRY_OUT(hd_log_block_frame(op, HD_LOG_CDC_DATA, header, HD_ARRAY_LENGTH(header),
                                  sizeof counts + log->block.size, &head, &tail));
    const struct hd_slice parts[] = {hd_str_slice(&head), hd_slice_of(counts, sizeof counts),
                                     hd_str_slice(&log->block), hd_str_slice(&tail)};
    HD_TRY_OUT(hd_log_writer_append(op, log->writer, parts, HD_ARRAY_LENGTH(parts), &append));
    HD_TRY_OUT(note_file(op, log, &append));
    log->block.size = 0;
    log->n_records = 0;
out:
    hd_str_clear(&head);
    hd_str_clear(&tail);
    return status;
}

/* Rows that take about a block, of `n_rows` that take `n_bytes`. */
static int64_t rows_of_block(const hd_change_log *log, uint64_t n_bytes, int64_t n_rows)
{
    const uint64_t row_bytes = 1 + n_bytes / (uint64_t)(n_rows == 0 ? 1 : n_rows);
    const uint64_t n = log->block_bytes / row_bytes;

    return n < 1 ? 1 : n > CHUNK_ROWS ? CHUNK_ROWS : (int64_t)n;
}

/* Encode `n` records of these columns (taken). */
static hudi_status add_records(struct hd_op *op, hd_change_log *log, struct ArrowArray *columns,
                               int64_t n)
{
    hudi_status status = HUDI_OK;
    struct ArrowArray batch = {0};
    int64_t *rows = NULL;

    HD_TRY_OUT(hd_array_struct(op, columns, N_COLUMNS, n, &batch));
    const int64_t chunk = rows_of_block(log, hd_array_bytes(&log->records, &batch), n);
    HD_TRY_OUT(hd_alloc_raw(op, (size_t)chunk, sizeof *rows, &rows));
    for (int64_t done = 0; done < n; done += chunk) {
        const int64_t n_chunk = n - done < chunk ? n - done : chunk;

        for (int64_t i = 0; i < n_chunk; i++)
            rows[i] = done + i;
        HD_TRY_OUT(hd_avro_encoder_add(op, log->encoder, &batch, rows, n_chunk, true, &log->block));
        log->n_records += n_chunk;
        if (log->block.size >= log->block_bytes)
            HD_TRY_OUT(write_block(op, log));
    }
out:
    hd_free(op, rows);
    hd_array_clear(&batch);
    return status;
}

static void clear_columns(struct ArrowArray *columns)
{
    for (int i = 0; i < N_COLUMNS; i++)
        hd_array_clear(&columns[i]);
}

/* ---- old rows ----------------------------------------------------------------------------- */

/* The file's table columns as one struct, borrowed. */
static hudi_status borrow_image(struct hd_op *op, const hd_change_log *log,
                                const struct ArrowArray *const *columns, int64_t n_rows,
                                struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    const int32_t n = log->schema->n_stored;
    struct ArrowArray *borrowed = NULL;

    HD_TRY(hd_alloc_array(op, (size_t)n, sizeof *borrowed, &borrowed));
    for (int32_t i = 0; i < n; i++)
        HD_TRY_OUT(hd_array_borrow(op, columns[i], &borrowed[i]));
    status = hd_array_struct(op, borrowed, n, n_rows, out);
out:
    for (int32_t i = 0; i < n; i++)
        hd_array_clear(&borrowed[i]);
    hd_free(op, borrowed);
    return status;
}

/* Images of changes [first, first + n): their rows of a side, null where there is none. */
static hudi_status gather_images(struct hd_op *op, const hd_change_log *log,
                                 const struct hd_logged_rows *rows, int side, size_t first,
                                 size_t n, struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    const struct hd_write_schema *schema = log->schema;
    const struct ArrowArray **columns = NULL;
    struct ArrowArray image = {0};
    const struct ArrowArray *source = &image;
    struct hd_run_list runs = {0};

    HD_TRY_OUT(hd_alloc_array(op, (size_t)schema->n_stored + 1, sizeof *columns, &columns));
    for (int32_t i = 0; i < schema->n_stored; i++)
        columns[i] = side == BEFORE ? rows->before->children[schema->n_meta + i]
                                    : &rows->after[schema->n_meta + i];
    const int64_t n_rows = schema->n_stored == 0 ? 0 : columns[0]->length;
    HD_TRY_OUT(borrow_image(op, log, columns, n_rows, &image));
    for (size_t i = first; i < first + n; i++) {
        const int64_t row = side == BEFORE ? rows->before_rows[i] : rows->after_rows[i];

        HD_TRY_OUT(
            hd_run_list_add(op, &runs, row < 0 ? HD_RUN_NULLS : 0, row < 0 ? 0 : (uint32_t)row, 1));
    }
    status = hd_gather(op, log->records.children[side], &source, 1, runs.runs, runs.n_runs, out);
out:
    hd_array_clear(&image);
    hd_free(op, columns);
    hd_free(op, runs.runs);
    return status;
}

static hudi_status make_ops(struct hd_op *op, const hd_change_log *log,
                            const struct hd_logged_rows *rows, size_t first, size_t n,
                            struct ArrowArray *out)
{
    hd_builder *builder;
    hudi_status status = hd_builder_new(op, log->records.children[OP], &builder);

    HD_TRY(status);
    for (size_t i = first; status == HUDI_OK && i < first + n; i++)
        status = hd_builder_append_bytes(op, builder,
                                         hd_slice_text(rows->after_rows[i] < 0 ? "d" : "u"));
    if (status == HUDI_OK)
        status = hd_builder_finish(op, builder, out);
    hd_builder_free(builder);
    return status;
}

static hudi_status log_chunk(struct hd_op *op, hd_change_log *log,
                             const struct hd_logged_rows *rows, size_t first, size_t n)
{
    hudi_status status = HUDI_OK;
    const struct hd_slice time = hd_slice_text(log->config->instant_time);
    struct ArrowArray columns[N_COLUMNS] = {0};
    const struct hd_run run = {0, (uint32_t)first, (uint32_t)n};

    HD_TRY_OUT(make_ops(op, log, rows, first, n, &columns[OP]));
    HD_TRY_OUT(hd_array_constant_string(op, time, (int64_t)n, &columns[TS_MS]));
    HD_TRY_OUT(hd_gather(op, log->records.children[RECORD_KEY], &rows->keys, 1, &run, 1,
                         &columns[RECORD_KEY]));
    for (int side = BEFORE; side <= AFTER; side++) {
        if (log->mode == DATA_BEFORE_AFTER || (side == BEFORE && log->mode == DATA_BEFORE))
            HD_TRY_OUT(gather_images(op, log, rows, side, first, n, &columns[side]));
        else
            HD_TRY_OUT(hd_array_nulls(op, log->records.children[side], (int64_t)n, &columns[side]));
    }
    status = add_records(op, log, columns, (int64_t)n);
out:
    clear_columns(columns);
    return status;
}

hudi_status hd_change_log_rows(struct hd_op *op, hd_change_log *log,
                               const struct hd_logged_rows *rows)
{
    const size_t chunk = (size_t)rows_of_block(
        log, hd_array_bytes(&log->schema->file, rows->before), rows->before->length);

    for (size_t done = 0; done < rows->n; done += chunk) {
        const size_t left = rows->n - done;

        HD_TRY(log_chunk(op, log, rows, done, left < chunk ? left : chunk));
    }
    return HUDI_OK;
}

/* ---- new rows ----------------------------------------------------------------------------- */

static hudi_status share_image(struct hd_op *op, const hd_change_log *log,
                               struct hd_shared_array *records, struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    const int32_t n = log->schema->n_stored;
    struct ArrowArray *columns = NULL;

    HD_TRY(hd_alloc_array(op, (size_t)n, sizeof *columns, &columns));
    for (int32_t i = 0; i < n; i++)
        HD_TRY_OUT(hd_array_share(op, records, log->schema->stored[i], &columns[i]));
    status = hd_array_struct(op, columns, n, hd_shared_array_get(records)->length, out);
out:
    for (int32_t i = 0; i < n; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    return status;
}

hudi_status hd_change_log_inserts(struct hd_op *op, hd_change_log *log,
                                  struct hd_shared_array *records, const struct ArrowArray *keys)
{
    hudi_status status = HUDI_OK;
    const int64_t n = hd_shared_array_get(records)->length;
    struct ArrowArray columns[N_COLUMNS] = {0};

    if (n == 0)
        return HUDI_OK;
    if (keys->release == NULL && log->mode != DATA_BEFORE_AFTER)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "a table without meta columns logs changes with both images only "
                       "(hoodie.table.cdc.supplemental.logging.mode=DATA_BEFORE_AFTER)");
    HD_TRY_OUT(hd_array_constant_string(op, hd_slice_text("i"), n, &columns[OP]));
    HD_TRY_OUT(
        hd_array_constant_string(op, hd_slice_text(log->config->instant_time), n, &columns[TS_MS]));
    if (keys->release != NULL)
        HD_TRY_OUT(hd_array_borrow(op, keys, &columns[RECORD_KEY]));
    else
        HD_TRY_OUT(hd_array_nulls(op, log->records.children[RECORD_KEY], n, &columns[RECORD_KEY]));
    HD_TRY_OUT(hd_array_nulls(op, log->records.children[BEFORE], n, &columns[BEFORE]));
    if (log->mode == DATA_BEFORE_AFTER)
        HD_TRY_OUT(share_image(op, log, records, &columns[AFTER]));
    else
        HD_TRY_OUT(hd_array_nulls(op, log->records.children[AFTER], n, &columns[AFTER]));
    status = add_records(op, log, columns, n);
out:
    clear_columns(columns);
    return status;
}

/* ---- closing ------------------------------------------------------------------------------ */

hudi_status hd_change_log_close(struct hd_op *op, hd_change_log *log, struct hd_arena *arena,
                                struct hd_write_stat *stat)
{
    hudi_status status = HUDI_OK;

    if (log->n_records > 0 || log->n_files == 0)
        HD_TRY_OUT(write_block(op, log));
    hd_log_writer *writer = log->writer;
    log->writer = NULL;
    HD_TRY_OUT(hd_log_writer_close(op, writer));
    HD_TRY_OUT(hd_arena_array(op, arena, log->n_files, sizeof *stat->cdc_paths, &stat->cdc_paths));
    HD_TRY_OUT(hd_arena_array(op, arena, log->n_files, sizeof *stat->cdc_sizes, &stat->cdc_sizes));
    for (size_t i = 0; i < log->n_files; i++) {
        HD_TRY_OUT(hd_arena_strdup(op, arena, log->paths[i], (char **)&stat->cdc_paths[i]));
        stat->cdc_sizes[i] = log->sizes[i];
    }
    stat->n_cdc = log->n_files;
out:
    hd_change_log_abort(op, log);
    return status;
}

void hd_change_log_abort(struct hd_op *op, hd_change_log *log)
{
    if (log == NULL)
        return;
    hd_log_writer_abort(op, log->writer);
    hd_avro_encoder_free(op, log->encoder);
    hd_schema_clear(&log->records);
    hd_str_clear(&log->avro);
    hd_str_clear(&log->block);
    hd_free(op, log->paths);
    hd_free(op, log->sizes);
    hd_arena_clear(&log->arena);
    hd_free(op, log);
}
