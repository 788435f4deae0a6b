/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/base_sink.h"

#include <stdio.h>
#include <strings.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "base/checked_int.h"
#include "engine/record/key_range.h"
#include "engine/write/sequence_numbers.h"
#include "format/layout/file_name.h"
#include "format/layout/partition.h"
#include "format/table/table_schema.h"

#define ROW_GROUP_ROWS 100000
#define MIN_LOOK_ROWS 100 /* between two looks at a file's size */

struct hd_base_sink {
    const struct hd_write_config *config;
    const struct hd_write_schema *schema;
    struct ArrowSchema file_schema; /* schema->file with dictionary types */
    char *partition_path;
    char *file_id;
    char *file_name;
    char *path;                 /* relative to the table */
    struct hd_str seqno_prefix; /* "{instant}_{ordinal}_" */
    uint64_t next_seqno;
    hd_base_writer *writer;
    hd_bloom *bloom; /* NULL for tables without meta columns */
    struct hd_key_range range;
    uint64_t max_bytes;
    struct hd_slice *key_slices; /* scratch for the filter */
    size_t key_capacity;
};

static hudi_status codec_of(struct hd_op *op, const struct hd_write_config *config,
                            enum hd_base_codec *out)
{
    static const struct {
        const char *name;
        enum hd_base_codec codec;
    } CODECS[] = {{"zstd", HD_BASE_CODEC_ZSTD},    {"snappy", HD_BASE_CODEC_SNAPPY},
                  {"gzip", HD_BASE_CODEC_GZIP},    {"lz4", HD_BASE_CODEC_LZ4},
                  {"lz4_raw", HD_BASE_CODEC_LZ4},  {"uncompressed", HD_BASE_CODEC_UNCOMPRESSED},
                  {"", HD_BASE_CODEC_UNCOMPRESSED}};
    static const char KEY[] = "hoodie.parquet.compression.codec";

    if (!hd_options_has(&config->options, KEY) &&
        hd_properties_get(&config->table->config.properties, KEY) == NULL) {
        /* ZSTD where every reader of the table version has it: far cheaper than GZIP, as small. */
        *out = config->table->config.version->number >= 6 ? HD_BASE_CODEC_ZSTD : HD_BASE_CODEC_GZIP;
        return HUDI_OK;
    }
    const char *name = hd_write_text(config, KEY);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(CODECS); i++) {
        if (strcasecmp(name, CODECS[i].name) == 0) {
            *out = CODECS[i].codec;
            return HUDI_OK;
        }
    }
    return hd_fail(op, HUDI_INVALID,
                   "%s \"%s\" is none of zstd, snappy, gzip, lz4_raw, uncompressed", KEY, name);
}

static hudi_status level_of(struct hd_op *op, const struct hd_write_config *config,
                            enum hd_base_codec codec, int32_t *out)
{
    static const struct {
        const char *name;
        int min, max;
    } LEVELS[] = {
        [HD_BASE_CODEC_ZSTD] = {"zstd", -7, 22},
        [HD_BASE_CODEC_GZIP] = {"gzip", 1, 9},
        [HD_BASE_CODEC_LZ4] = {"lz4", 1, 12},
        [HD_BASE_CODEC_SNAPPY] = {"snappy", 0, 0},
        [HD_BASE_CODEC_UNCOMPRESSED] = {"uncompressed", 0, 0},
    };
    static const char KEY[] = "libhudi.parquet.compression.level";
    const int64_t level = hd_write_int(config, KEY);

    *out = INT32_MIN;
    if (!hd_options_has(&config->options, KEY))
        return HUDI_OK;
    if (LEVELS[codec].max == 0)
        return hd_fail(op, HUDI_INVALID, "%s=%lld: %s has no levels", KEY, (long long)level,
                       LEVELS[codec].name);
    if (level < LEVELS[codec].min || level > LEVELS[codec].max)
        return hd_fail(op, HUDI_INVALID, "%s=%lld is no level of %s: %d to %d", KEY,
                       (long long)level, LEVELS[codec].name, LEVELS[codec].min, LEVELS[codec].max);
    *out = (int32_t)level;
    return HUDI_OK;
}

hudi_status hd_base_sink_check_codec(struct hd_op *op, const struct hd_write_config *config)
{
    enum hd_base_codec codec;
    int32_t level;

    HD_TRY(codec_of(op, config, &codec));
    return level_of(op, config, codec, &level);
}

static hudi_status make_file_schema(struct hd_op *op, hd_base_sink *sink, bool copied_rows)
{
    HD_TRY(hd_schema_copy(op, &sink->schema->file, &sink->file_schema));
    const bool name_rewritten = sink->config->table->config.version->file_name_rewritten;
    for (int32_t i = 0; i < sink->schema->n_meta; i++) {
        const char *name = hd_meta_columns[i];
        const bool constant =
            strcmp(name, HD_META_PARTITION_PATH) == 0 ||
            (strcmp(name, HD_META_COMMIT_TIME) == 0 && !copied_rows) ||
            (strcmp(name, HD_META_FILE_NAME) == 0 && (!copied_rows || name_rewritten));
        if (!constant)
            continue;
        hd_schema_clear(sink->file_schema.children[i]);
        HD_TRY(hd_schema_init_dictionary(op, sink->file_schema.children[i], name, true));
    }
    return HUDI_OK;
}

static hudi_status make_names(struct hd_op *op, hd_base_sink *sink,
                              const struct hd_base_sink_target *target)
{
    char token[HD_WRITE_TOKEN_BYTES];
    const struct hd_write_config *config = sink->config;
    const char *extension =
        config->table->config.base_file_format == HD_BASE_FILE_ORC ? ".orc" : ".parquet";

    hd_write_token_format(target->ordinal, config->task, config->attempt, token);
    HD_TRY(hd_strdup(op, target->partition_path, &sink->partition_path));
    HD_TRY(hd_strdup(op, target->file_id, &sink->file_id));
    HD_TRY(hd_base_file_name_format(op, target->file_id, token, config->instant_time, extension,
                                    &sink->file_name));
    HD_TRY(hd_path_join(op, target->partition_path, sink->file_name, &sink->path));
    return hd_str_printf(op, &sink->seqno_prefix, "%s_%u_", config->instant_time, target->ordinal);
}

hudi_status hd_rows_writer_open(struct hd_op *op, const struct hd_write_config *config,
                                const struct hd_write_schema *schema,
                                const struct ArrowSchema *columns, hd_output_file *file,
                                hd_base_writer **out)
{
    static const char *const UNIQUE[] = {HD_META_RECORD_KEY, HD_META_COMMIT_SEQNO};
    struct hd_base_write_options options = {
        .format = config->table->config.base_file_format,
        .row_group_rows = ROW_GROUP_ROWS,
        .page_bytes = (uint64_t)hd_write_int(config, "hoodie.parquet.page.size"),
        .dictionary = hd_write_bool(config, "hoodie.parquet.dictionary.enabled"),
        .no_dictionary = UNIQUE,
        .n_no_dictionary = schema->n_meta > 0 ? HD_ARRAY_LENGTH(UNIQUE) : 0,
    };
    hudi_status status = codec_of(op, config, &options.codec);

    *out = NULL;
    if (status == HUDI_OK)
        status = level_of(op, config, options.codec, &options.codec_level);
    if (status != HUDI_OK) {
        hd_output_file_abort(file);
        return status;
    }
    /* A row group is in memory until it is written, and several files may be open. */
    options.row_group_bytes = hd_min_u64(
        (uint64_t)hd_write_int(config, "hoodie.parquet.block.size"), op->budget->limit_bytes / 8);
    HD_TRY(hd_base_writer_open(op, file, columns, &options, out));
    HD_TRY_OUT(hd_base_writer_key_value(op, *out, "parquet.avro.schema",
                                        hd_slice_text(schema->file_avro)));
    HD_TRY_OUT(hd_base_writer_key_value(op, *out, "writer.model.name", hd_slice_text("avro")));
out:
    if (status != HUDI_OK) {
        hd_base_writer_abort(*out);
        *out = NULL;
    }
    return status;
}

static hudi_status open_writer(struct hd_op *op, hd_base_sink *sink)
{
    hd_output_file *file;
    char *path = NULL;

    HD_TRY(hd_path_join(op, sink->config->table->path, sink->path, &path));
    hudi_status status = hd_fs_open_output(op, sink->config->table->fs, path, true, &file);
    if (status == HUDI_OK)
        status = hd_rows_writer_open(op, sink->config, sink->schema, &sink->file_schema, file,
                                     &sink->writer);
    hd_free(op, path);
    return status;
}

static hudi_status new_bloom(struct hd_op *op, const struct hd_write_config *config, hd_bloom **out)
{
    enum hd_bloom_type type;

    HD_TRY(hd_bloom_type_parse(
        op, hd_slice_text(hd_write_text(config, "hoodie.bloom.index.filter.type")), &type));
    return hd_bloom_new(
        op, type, (uint32_t)hd_write_int(config, "hoodie.index.bloom.num_entries"),
        hd_options_double(&config->options, &config->table->config.properties,
                          "hoodie.index.bloom.fpp"),
        (uint32_t)hd_write_int(config, "hoodie.bloom.index.filter.dynamic.max.entries"), out);
}

hudi_status hd_base_sink_open(struct hd_op *op, const struct hd_write_config *config,
                              const struct hd_write_schema *schema,
                              const struct hd_base_sink_target *target, hd_base_sink **out)
{
    hudi_status status = HUDI_OK;
    hd_base_sink *sink;
    const struct hd_table_snapshot *table = config->table;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *sink, &sink));
    sink->config = config;
    sink->schema = schema;
    sink->next_seqno = target->first_seqno;
    const uint64_t wanted = (uint64_t)hd_write_int(config, "hoodie.parquet.max.file.size");
    sink->max_bytes =
        wanted +
        (uint64_t)((double)wanted * hd_options_double(&config->options, &table->config.properties,
                                                      "hoodie.parquet.compression.ratio"));
    HD_TRY_OUT(make_file_schema(op, sink, target->copied_rows));
    HD_TRY_OUT(make_names(op, sink, target));
    if (schema->n_meta > 0 && hd_write_bool(config, "hoodie.parquet.bloom.filter.enabled"))
        HD_TRY_OUT(new_bloom(op, config, &sink->bloom));
    HD_TRY_OUT(hd_partition_ensure(op, table->fs, table->path, &table->config, sink->partition_path,
                                   config->instant_time));
    HD_TRY_OUT(hd_marker_create(op, table->fs, table->path, config->instant_time,
                                sink->partition_path, sink->file_name, target->io_type));
    HD_TRY_OUT(open_writer(op, sink));
    *out = sink;
    return HUDI_OK;
out:
    hd_base_sink_abort(op, sink);
    return status;
}

hudi_status hd_base_sink_sequence_numbers(struct hd_op *op, hd_base_sink *sink, int64_t n,
                                          struct ArrowArray *out)
{
    return hd_sequence_numbers(op, hd_str_slice(&sink->seqno_prefix), &sink->next_seqno, n, out);
}

hudi_status hd_base_sink_add_keys(struct hd_op *op, hd_base_sink *sink, const struct hd_view *keys)
{
    if (sink->bloom == NULL || keys->length == 0)
        return HUDI_OK;
    const size_t n = (size_t)keys->length;
    HD_TRY(hd_grow(op, &sink->key_slices, &sink->key_capacity, n, sizeof *sink->key_slices));
    for (size_t i = 0; i < n; i++)
        sink->key_slices[i] = hd_view_bytes(keys, (int64_t)i);
    HD_TRY(hd_bloom_add_batch(op, sink->bloom, sink->key_slices, n));
    return hd_key_range_add(op, &sink->range, keys);
}

hudi_status hd_base_sink_widen_range(struct hd_op *op, hd_base_sink *sink, struct hd_slice key)
{
    return hd_key_range_add_key(op, &sink->range, key);
}

bool hd_base_sink_has_bloom(const hd_base_sink *sink)
{
    return sink->bloom != NULL;
}

void hd_base_sink_set_bloom(struct hd_op *op, hd_base_sink *sink, hd_bloom *bloom)
{
    hd_bloom_free(op, sink->bloom);
    sink->bloom = bloom;
}

const struct ArrowSchema *hd_base_sink_schema(const hd_base_sink *sink)
{
    return &sink->file_schema;
}

const char *hd_base_sink_file_name(const hd_base_sink *sink)
{
    return sink->file_name;
}

uint64_t hd_base_sink_next_seqno(const hd_base_sink *sink)
{
    return sink->next_seqno;
}

bool hd_base_sink_can_write(const hd_base_sink *sink)
{
    return hd_base_writer_bytes(sink->writer) < sink->max_bytes;
}

int64_t hd_base_sink_rows_to_look(const hd_base_sink *sink)
{
    const uint64_t n_bytes = hd_base_writer_bytes(sink->writer);
    const int64_t n_rows = hd_base_writer_rows(sink->writer);

    if (n_rows == 0 || n_bytes >= sink->max_bytes)
        return MIN_LOOK_ROWS;
    const double average = (double)hd_max_u64(n_bytes, 1) / (double)n_rows;
    const double half = (double)(sink->max_bytes - n_bytes) / average / 2;
    const int64_t grain = n_rows / 64 > MIN_LOOK_ROWS ? n_rows / 64 : MIN_LOOK_ROWS;

    if (half >= (double)n_rows)
        return n_rows > MIN_LOOK_ROWS ? n_rows : MIN_LOOK_ROWS;
    return half > (double)grain ? (int64_t)half : grain;
}

int64_t hd_base_sink_rows(const hd_base_sink *sink)
{
    return hd_base_writer_rows(sink->writer);
}

hudi_status hd_base_sink_file_rows(struct hd_op *op, hd_base_sink *sink, struct ArrowArray *columns,
                                   int64_t n_rows)
{
    struct ArrowArray batch = {0};

    HD_TRY(hd_array_struct(op, columns, (int32_t)sink->file_schema.n_children, n_rows, &batch));
    const hudi_status status = hd_base_writer_write(op, sink->writer, &batch);
    hd_array_clear(&batch);
    return status;
}

/* One value in every row, in the type that the file's schema gives the column. */
static hudi_status constant(struct hd_op *op, const hd_base_sink *sink, int32_t column,
                            const char *value, int64_t n, struct ArrowArray *out)
{
    if (sink->file_schema.children[column]->dictionary != NULL)
        return hd_array_constant_dictionary(op, hd_slice_text(value), n, out);
    return hd_array_constant_string(op, hd_slice_text(value), n, out);
}

static hudi_status meta_columns(struct hd_op *op, hd_base_sink *sink, struct ArrowArray *keys,
                                int64_t n, struct ArrowArray *columns)
{
    struct hd_arena arena = {0};
    struct hd_view view;
    hudi_status status = HUDI_OK;

    HD_TRY_OUT(hd_view_open(op, &arena, sink->schema->file.children[2], keys, &view));
    HD_TRY_OUT(hd_base_sink_add_keys(op, sink, &view));
    HD_TRY_OUT(constant(op, sink, 0, sink->config->instant_time, n, &columns[0]));
    HD_TRY_OUT(hd_base_sink_sequence_numbers(op, sink, n, &columns[1]));
    hd_array_move(keys, &columns[2]);
    HD_TRY_OUT(constant(op, sink, 3, sink->partition_path, n, &columns[3]));
    HD_TRY_OUT(constant(op, sink, 4, sink->file_name, n, &columns[4]));
out:
    hd_arena_clear(&arena);
    return status;
}

hudi_status hd_base_sink_new_rows(struct hd_op *op, hd_base_sink *sink,
                                  struct hd_shared_array *records, struct ArrowArray *keys)
{
    hudi_status status = HUDI_OK;
    const struct hd_write_schema *schema = sink->schema;
    const int64_t n = hd_shared_array_get(records)->length;
    const int32_t n_columns = (int32_t)sink->file_schema.n_children;
    struct ArrowArray *columns = NULL;

    HD_TRY_OUT(hd_alloc_array(op, (size_t)n_columns, sizeof *columns, &columns));
    if (schema->n_meta > 0)
        HD_TRY_OUT(meta_columns(op, sink, keys, n, columns));
    for (int32_t i = 0; i < schema->n_stored; i++)
        HD_TRY_OUT(hd_array_share(op, records, schema->stored[i], &columns[schema->n_meta + i]));
    HD_TRY_OUT(hd_base_sink_file_rows(op, sink, columns, n));
out:
    for (int32_t i = 0; columns != NULL && i < n_columns; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    hd_array_clear(keys);
    return status;
}

hudi_status hd_base_sink_can_copy(struct hd_op *op, hd_base_sink *sink, hd_base_reader *reader,
                                  bool *out)
{
    return hd_base_writer_can_copy(op, sink->writer, reader, out);
}

bool hd_base_sink_wants_copy(const hd_base_sink *sink, const hd_base_reader *reader,
                             int32_t row_group)
{
    return hd_base_writer_wants_copy(sink->writer, reader, row_group);
}

hudi_status hd_base_sink_copy_row_group(struct hd_op *op, hd_base_sink *sink,
                                        hd_base_reader *reader, int32_t row_group)
{
    struct hd_base_replaced_column name = {
        .column = hd_schema_find(&sink->file_schema, HD_META_FILE_NAME)};

    if (name.column < 0 || sink->file_schema.children[name.column]->dictionary == NULL)
        return hd_base_writer_copy_row_group(op, sink->writer, reader, row_group, NULL, 0);
    HD_TRY(hd_array_constant_dictionary(op, hd_slice_text(sink->file_name),
                                        hd_base_reader_row_group_rows(reader, row_group),
                                        &name.values));
    const hudi_status status =
        hd_base_writer_copy_row_group(op, sink->writer, reader, row_group, &name, 1);
    hd_array_clear(&name.values);
    return status;
}

static hudi_status write_footer(struct hd_op *op, hd_base_sink *sink)
{
    hudi_status status = HUDI_OK;
    struct hd_str text = {0};

    if (sink->bloom == NULL)
        return HUDI_OK;
    HD_TRY_OUT(hd_bloom_encode(op, sink->bloom, &text));
    HD_TRY_OUT(hd_base_writer_key_value(op, sink->writer, HD_BLOOM_KEY, hd_str_slice(&text)));
    if (hd_bloom_type_of(sink->bloom) != HD_BLOOM_SIMPLE)
        HD_TRY_OUT(hd_base_writer_key_value(
            op, sink->writer, HD_BLOOM_TYPE_KEY,
            hd_slice_text(hd_bloom_type_name(hd_bloom_type_of(sink->bloom)))));
    if (sink->range.any && hd_base_writer_rows(sink->writer) > 0) {
        HD_TRY_OUT(hd_base_writer_key_value(op, sink->writer, HD_MIN_RECORD_KEY,
                                            hd_str_slice(&sink->range.min)));
        HD_TRY_OUT(hd_base_writer_key_value(op, sink->writer, HD_MAX_RECORD_KEY,
                                            hd_str_slice(&sink->range.max)));
    }
out:
    hd_str_clear(&text);
    return status;
}

hudi_status hd_base_sink_close(struct hd_op *op, hd_base_sink *sink, struct hd_arena *arena,
                               struct hd_write_stat *stat)
{
    hudi_status status = HUDI_OK;
    uint64_t n_bytes = 0;

    HD_TRY_OUT(write_footer(op, sink));
    const int64_t n_rows = hd_base_writer_rows(sink->writer);
    status = hd_base_writer_close(op, sink->writer, &n_bytes);
    sink->writer = NULL;
    HD_TRY_OUT(status);
    HD_TRY_OUT(hd_arena_strdup(op, arena, sink->file_id, (char **)&stat->file_id));
    HD_TRY_OUT(hd_arena_strdup(op, arena, sink->path, (char **)&stat->path));
    HD_TRY_OUT(hd_arena_strdup(op, arena, sink->partition_path, (char **)&stat->partition_path));
    stat->num_writes = n_rows;
    stat->total_write_bytes = (int64_t)n_bytes;
    stat->file_size_in_bytes = (int64_t)n_bytes;
out:
    hd_base_sink_abort(op, sink);
    return status;
}

void hd_base_sink_abort(struct hd_op *op, hd_base_sink *sink)
{
    if (sink == NULL)
        return;
    hd_base_writer_abort(sink->writer);
    hd_bloom_free(op, sink->bloom);
    hd_key_range_clear(&sink->range);
    hd_str_clear(&sink->seqno_prefix);
    hd_schema_clear(&sink->file_schema);
    hd_free(op, sink->partition_path);
    hd_free(op, sink->file_id);
    hd_free(op, sink->file_name);
    hd_free(op, sink->path);
    hd_free(op, sink->key_slices);
    hd_free(op, sink);
}
