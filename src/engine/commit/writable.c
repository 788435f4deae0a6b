/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/writable.h"

#include <ctype.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "arrow/view.h"
#include "codec/avro_schema.h"
#include "engine/commit/key_encoding.h"
#include "engine/commit/table_lock.h"
#include "engine/write/write_config.h"
#include "format/log/log_reader.h"
#include "format/table/table_schema.h"

/* Bucket numbers are eight digits; more buckets than this nobody has, and a random UUID begins with
 * such a number once in a million. */
#define BUCKET_DIGITS 8
#define MAX_BUCKETS 100000
/* Commits looked at from the newest back: a begin must not cost more as the timeline grows. */
#define MAX_COMMITS_READ 16

static bool has_bucket_form(const char *file_id)
{
    long bucket = 0;

    for (int i = 0; i < BUCKET_DIGITS; i++) {
        if (!isdigit((unsigned char)file_id[i]))
            return false;
        bucket = bucket * 10 + (file_id[i] - '0');
    }
    return bucket < MAX_BUCKETS;
}

static bool has_base_file(const struct hd_commit_metadata *metadata)
{
    for (size_t i = 0; i < metadata->n_stats; i++)
        if (!metadata->stats[i].is_log)
            return true;
    return false;
}

/* The newest completed write that made base files (with `any`: any files), searched from `*i`
 * instants on backwards; `*i` is set to its number. HUDI_NOT_FOUND (no error) when there is none
 * near. */
static hudi_status newest_files(struct hd_op *op, const struct hd_timeline *timeline, size_t *i,
                                bool any, struct hd_commit_metadata *out)
{
    int n_read = 0;

    while (*i > 0 && n_read < MAX_COMMITS_READ) {
        const struct hd_instant *instant = &timeline->instants[--*i];

        if (!hd_instant_is_completed_write(instant))
            continue;
        n_read++;
        HD_TRY(hd_timeline_read_commit(op, timeline, instant, out));
        if (any ? out->n_stats > 0 : has_base_file(out))
            return HUDI_OK;
        hd_commit_metadata_clear(out);
    }
    return HUDI_NOT_FOUND;
}

/* Tables of the bucket index: every group's id begins with its bucket number. Writing there without
 * that index would put keys where their owners never look. */
static hudi_status check_file_ids(struct hd_op *op, const struct hd_table_snapshot *table)
{
    struct hd_commit_metadata newest;
    size_t i = table->timeline.n_instants, n_buckets = 0;

    const hudi_status found = newest_files(op, &table->timeline, &i, true, &newest);
    if (found == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(found);
    for (size_t s = 0; s < newest.n_stats; s++)
        n_buckets += has_bucket_form(newest.stats[s].file_id);
    const bool bucket = n_buckets == newest.n_stats;
    hd_commit_metadata_clear(&newest);
    if (bucket)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "the table's file groups are those of a bucket index; writing to it is not "
                       "supported yet");
    return HUDI_OK;
}

/* As check_file_ids(): of the consistent hashing engine, whose groups are told in files of their
 * own. */
static hudi_status check_consistent_buckets(struct hd_op *op, const struct hd_table_snapshot *table)
{
    struct hd_file_info info;
    char *path = NULL;

    if (table->config.type != HD_MERGE_ON_READ)
        return HUDI_OK;
    HD_TRY(hd_path_join(op, table->path, ".hoodie/.bucket_index", &path));
    const hudi_status status = hd_fs_stat(op, table->fs, path, &info);
    hd_free(op, path);
    if (status == HUDI_OK)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "the table's file groups are those of a bucket index of consistent hashing; "
                       "writing to it is not supported yet");
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

hudi_status hd_check_no_restore(struct hd_op *op, const struct hd_timeline *timeline)
{
    for (size_t i = 0; i < timeline->n_instants; i++)
        if (timeline->instants[i].action == HD_ACTION_RESTORE &&
            timeline->instants[i].state != HD_COMPLETED)
            return hd_fail(op, HUDI_CONFLICT,
                           "restore %s is not finished: run it again (hudi restore)",
                           timeline->instants[i].time);
    return HUDI_OK;
}

/* An instant of the second layout cannot be completed yet: nothing may be begun. */
static hudi_status check_version(struct hd_op *op, const struct hd_table_version *version)
{
    if (!version->writes_supported || version->timeline_layout > 1)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "writing to tables of version %d is not supported yet", version->number);
    return HUDI_OK;
}

hudi_status hd_check_new_table(struct hd_op *op, const struct hd_options *options)
{
    struct hd_table_snapshot table = {0}; /* of which no more is known */
    struct hd_write_config config = {.table = &table};
    const char *const key = hd_options_has(options, "hoodie.table.version")
                                ? "hoodie.table.version"
                                : "hoodie.write.table.version";

    HD_TRY(hd_table_version_of(op, (int)hd_options_int(options, NULL, key), &table.config.version));
    HD_TRY(check_version(op, table.config.version));
    HD_TRY(hd_table_lock_check_options(op, options));
    const hudi_status status = hd_write_config_init(op, options, &config);
    hd_write_config_clear(&config);
    return status;
}

hudi_status hd_check_writable(struct hd_op *op, const struct hd_table_snapshot *table)
{
    const struct hd_table_config *config = &table->config;
    const char *why = NULL;

    HD_TRY(check_version(op, config->version));
    if (config->is_bootstrap)
        why = "bootstrap tables (hoodie.bootstrap.base.path)";
    else if (config->base_file_format == HD_BASE_FILE_ORC)
        why = "tables of ORC files";
    else if (config->key_generator == HD_KEYGEN_USER)
        why = "tables with a key generator class of their own";
    if (why != NULL)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "writing to %s is not supported yet", why);
    HD_TRY(check_consistent_buckets(op, table));
    return check_file_ids(op, table);
}

static hudi_status check_schema(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_options *options)
{
    hudi_status status = HUDI_OK;
    char *avro = NULL, *latest = NULL;
    struct ArrowSchema schema = {0};
    hd_key_generator *generator = NULL;

    status = hd_timeline_table_schema(op, &table->timeline, &table->config, NULL, &avro, &latest);
    if (status == HUDI_NOT_FOUND)
        return HUDI_OK; /* the first rows bring it */
    HD_TRY_OUT(status);
    if (latest != NULL)
        HD_TRY_OUT(hd_fail(op, HUDI_NOT_IMPLEMENTED,
                           "writing to tables whose columns evolve by DDL (schema on read) is not "
                           "supported yet (Spark does with hoodie.schema.on.read.enable=true)"));
    HD_TRY_OUT(hd_table_schema_from_avro(op, avro, &schema));
    if (table->config.drop_partition_columns) /* the rows have more columns than the schema */
        HD_TRY_OUT(hd_record_key_generator_new(op, &table->config, options, &schema,
                                               HD_COMPLEX_WITH_FIELD, &generator));
    else
        HD_TRY_OUT(hd_key_generator_new(op, &table->config, options, &schema, HD_COMPLEX_WITH_FIELD,
                                        &generator));
out:
    hd_key_generator_free(generator);
    hd_schema_clear(&schema);
    hd_free(op, avro);
    hd_free(op, latest);
    return status;
}

static hudi_status refuse_changelog(struct hd_op *op)
{
    return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                   "the file keeps changelog operations (%s); writing to such tables is not "
                   "supported (Flink does with changelog.enabled=true)",
                   HD_META_OPERATION);
}

/* A file that a cleaner has removed since says nothing. */
static hudi_status check_rows(struct hd_op *op, const struct hd_table_snapshot *table,
                              const char *file_path)
{
    hudi_status status = HUDI_OK;
    struct hd_file_info info;
    hd_input_file *file = NULL;
    hd_base_reader *reader = NULL;
    char *path = NULL;

    HD_TRY_OUT(hd_path_join(op, table->path, file_path, &path));
    status = hd_fs_stat(op, table->fs, path, &info);
    if (status == HUDI_NOT_FOUND) {
        status = HUDI_OK;
        goto out;
    }
    HD_TRY_OUT(status);
    HD_TRY_OUT(hd_fs_open_input(op, table->fs, path, &file));
    HD_TRY_OUT(hd_base_reader_open(op, file, table->config.base_file_format, &reader));
    if (hd_schema_find(hd_base_reader_schema(reader), HD_META_OPERATION) >= 0)
        status = refuse_changelog(op);
out:
    hd_base_reader_close(reader);
    hd_free(op, path);
    return hd_fail_path(op, status, file_path);
}

/* As check_rows(), by the schema of a block; `*known` stays false for one without, and for one that
 * is damaged: writes do not fail for it. */
static hudi_status check_block(struct hd_op *op, const struct hd_log_block *block, bool *known)
{
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema;
    struct hd_slice json;
    hudi_status status;

    if (block->type == HD_LOG_CORRUPT || block->type == HD_LOG_COMMAND)
        return HUDI_OK;
    status = hd_log_header_find(op, block, HD_LOG_SCHEMA, &json);
    if (status != HUDI_OK)
        return status == HUDI_NOT_FOUND ? HUDI_OK : status;
    status = hd_avro_schema_parse(op, &arena, json, &schema);
    *known = status == HUDI_OK;
    if (*known && schema->type == HD_AVRO_RECORD &&
        hd_avro_schema_field(schema, HD_META_OPERATION) != NULL)
        status = refuse_changelog(op);
    hd_arena_clear(&arena);
    if (status != HUDI_CORRUPT)
        return status;
    hd_op_clear_error(op);
    return HUDI_OK;
}

/* Of the first block that has a schema. */
static hudi_status check_blocks(struct hd_op *op, const struct hd_table_snapshot *table,
                                const char *file_path)
{
    hudi_status status = HUDI_OK;
    struct hd_file_info info;
    struct hd_log_block block;
    hd_log_reader *reader = NULL;
    char *path = NULL;
    bool known = false;

    HD_TRY_OUT(hd_path_join(op, table->path, file_path, &path));
    status = hd_fs_stat(op, table->fs, path, &info);
    if (status != HUDI_OK)
        goto out;
    HD_TRY_OUT(hd_log_reader_open(op, table->fs, path, &reader));
    while (status == HUDI_OK && !known) {
        status = hd_log_reader_next(op, reader, &block);
        if (status == HUDI_NOT_IMPLEMENTED) { /* the next one tells */
            hd_op_clear_error(op);
            status = HUDI_OK;
            continue;
        }
        if (status != HUDI_OK)
            break;
        status = check_block(op, &block, &known);
        hd_log_block_clear(op, &block);
    }
out:
    hd_log_reader_close(op, reader);
    hd_free(op, path);
    return status == HUDI_NOT_FOUND || status == HUDI_END ? HUDI_OK
                                                          : hd_fail_path(op, status, file_path);
}

/* One file of the newest commit that has any of that kind. */
static hudi_status check_newest(struct hd_op *op, const struct hd_table_snapshot *table, bool logs)
{
    struct hd_commit_metadata newest;
    size_t i = table->timeline.n_instants;

    hudi_status status = newest_files(op, &table->timeline, &i, logs, &newest);
    if (status != HUDI_OK)
        return status == HUDI_NOT_FOUND ? HUDI_OK : status;
    for (size_t s = 0; s < newest.n_stats; s++) {
        if (newest.stats[s].is_log != logs)
            continue;
        status = logs ? check_blocks(op, table, newest.stats[s].path)
                      : check_rows(op, table, newest.stats[s].path);
        break;
    }
    hd_commit_metadata_clear(&newest);
    return status;
}

hudi_status hd_check_columns(struct hd_op *op, const struct hd_table_snapshot *table,
                             const struct hd_options *options)
{
    HD_TRY(hd_timeline_check_writes(op, &table->timeline));
    HD_TRY(check_schema(op, table, options));
    HD_TRY(check_newest(op, table, false));
    return table->config.type == HD_MERGE_ON_READ ? check_newest(op, table, true) : HUDI_OK;
}

/* A file that a cleaner has removed since decides nothing. */
static hudi_status detect_in_file(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const char *file_path, enum hd_complex_encoding *out,
                                  bool *decided)
{
    hudi_status status = HUDI_OK;
    char *path = NULL;
    hd_input_file *file = NULL;
    hd_base_reader *reader = NULL;
    hd_base_batches *batches = NULL;
    struct ArrowArray batch = {0};
    struct ArrowSchema schema = {0};
    struct hd_arena arena = {0};
    struct hd_view view;
    int64_t n_seen;

    HD_TRY_OUT(hd_path_join(op, table->path, file_path, &path));
    struct hd_file_info info;
    status = hd_fs_stat(op, table->fs, path, &info);
    if (status == HUDI_NOT_FOUND) {
        status = HUDI_OK;
        goto out;
    }
    HD_TRY_OUT(status);
    HD_TRY_OUT(hd_fs_open_input(op, table->fs, path, &file));
    HD_TRY_OUT(hd_base_reader_open(op, file, table->config.base_file_format, &reader));
    const int32_t column = hd_schema_find(hd_base_reader_schema(reader), HD_META_RECORD_KEY);
    if (column < 0)
        goto out;
    const struct hd_base_read_options options = {.columns = &column, .n_columns = 1};
    HD_TRY_OUT(hd_base_reader_read(op, reader, &options, &batches));
    HD_TRY_OUT(hd_schema_select(op, hd_base_reader_schema(reader), &column, 1, &schema));
    for (;;) {
        status = hd_base_batches_next(op, batches, &batch);
        if (status == HUDI_END) {
            status = HUDI_OK;
            break;
        }
        HD_TRY_OUT(status);
        HD_TRY_OUT(hd_view_open(op, &arena, &schema, &batch, &view));
        HD_TRY_OUT(hd_complex_encoding_detect(op, table->config.record_key_fields[0],
                                              &view.children[0], &n_seen, out));
        hd_array_clear(&batch);
        if (n_seen > 0) {
            *decided = true;
            break;
        }
    }
out:
    hd_free(op, path);
    hd_array_clear(&batch);
    hd_arena_clear(&arena);
    hd_schema_clear(&schema);
    hd_base_batches_close(batches);
    hd_base_reader_close(reader);
    return hd_fail_path(op, status, file_path);
}

/* Base files are not of the newest commits, or there are none: by the partitions that these wrote
 * to.
 */
static hudi_status detect_in_slices(struct hd_op *op, const struct hd_table_snapshot *table,
                                    enum hd_complex_encoding without_rows,
                                    enum hd_complex_encoding *out)
{
    size_t i = table->timeline.n_instants;
    bool decided = false;

    while (!decided) {
        struct hd_commit_metadata newest;
        const hudi_status found = newest_files(op, &table->timeline, &i, true, &newest);

        if (found == HUDI_NOT_FOUND)
            break;
        HD_TRY(found);
        hudi_status status = HUDI_OK;
        for (size_t s = 0; s < newest.n_stats && status == HUDI_OK && !decided; s++)
            if (s == 0 ||
                strcmp(newest.stats[s].partition_path, newest.stats[s - 1].partition_path) != 0)
                status = hd_detect_key_encoding_in(op, table, newest.stats[s].partition_path, out,
                                                   &decided);
        hd_commit_metadata_clear(&newest);
        HD_TRY(status);
    }
    if (!decided)
        *out = without_rows;
    return HUDI_OK;
}

hudi_status hd_detect_key_encoding(struct hd_op *op, const struct hd_table_snapshot *table,
                                   enum hd_complex_encoding without_rows,
                                   enum hd_complex_encoding *out)
{
    size_t i = table->timeline.n_instants;
    bool decided = false;

    *out = without_rows;
    if (table->config.key_generator != HD_KEYGEN_COMPLEX ||
        table->config.n_record_key_fields != 1 || !table->config.populate_meta_fields)
        return HUDI_OK;
    while (!decided) {
        struct hd_commit_metadata newest;
        const hudi_status found = newest_files(op, &table->timeline, &i, false, &newest);

        if (found == HUDI_NOT_FOUND) {
            *out = without_rows;
            return table->config.type == HD_MERGE_ON_READ
                       ? detect_in_slices(op, table, without_rows, out)
                       : HUDI_OK;
        }
        HD_TRY(found);
        hudi_status status = HUDI_OK;
        for (size_t s = 0; s < newest.n_stats && status == HUDI_OK && !decided; s++)
            if (!newest.stats[s].is_log)
                status = detect_in_file(op, table, newest.stats[s].path, out, &decided);
        hd_commit_metadata_clear(&newest);
        HD_TRY(status);
    }
    return HUDI_OK;
}

hudi_status hd_switch_metadata_table_off(struct hd_op *op, struct hd_table_snapshot *table)
{
    static const struct hd_property CHANGES[] = {
        {"hoodie.table.metadata.partitions", NULL},
        {"hoodie.table.metadata.partitions.inflight", NULL},
    };
    char *folder = NULL;
    struct hd_file_info info;

    HD_TRY(hd_asprintf(op, &folder, "%s/.hoodie/metadata", table->path));
    hudi_status status = hd_fs_stat(op, table->fs, folder, &info);
    const bool has_folder = status == HUDI_OK;
    if (status == HUDI_NOT_FOUND)
        status = HUDI_OK;
    if (status == HUDI_OK && table->config.metadata_table) {
        hd_log(op, HD_LOG_WARN,
               "the metadata table is switched off: this writer does not keep it up to date");
        status = hd_table_config_update(op, table->fs, table->path, &table->config, CHANGES,
                                        HD_ARRAY_LENGTH(CHANGES));
    }
    if (status == HUDI_OK && has_folder)
        status = hd_fs_delete_tree(op, table->fs, folder);
    hd_free(op, folder);
    return status;
}
