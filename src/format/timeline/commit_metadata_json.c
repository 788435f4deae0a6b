/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HoodieCommitMetadata and HoodieReplaceCommitMetadata as JSON: docs/format/timeline.md 5.1.
 */
#include <stddef.h>
#include <string.h>

#include "base/map.h"
#include "codec/avro_value.h"
#include "codec/json.h"
#include "format/layout/file_name.h"
#include "format/timeline/commit_metadata.h"

static const char AVRO_MAGIC[] = {'O', 'b', 'j', 1};

/* Members of a write stat that are plain numbers or texts, in the order of Hudi 0.15. */
enum member_kind { TEXT, LONG, CDC_STATS, MIN_TIME, MAX_TIME, RUNTIME_STATS };
struct member {
    const char *key;
    enum member_kind kind;
    size_t offset;
};

#define MEMBER(key, kind, field)                                                                   \
    {                                                                                              \
        key, kind, offsetof(struct hd_write_stat, field)                                           \
    }

static const struct member MEMBERS[] = {
    MEMBER("fileId", TEXT, file_id),
    MEMBER("path", TEXT, path),
    MEMBER("cdcStats", CDC_STATS, cdc_paths),
    MEMBER("prevCommit", TEXT, prev_commit),
    MEMBER("numWrites", LONG, num_writes),
    MEMBER("numDeletes", LONG, num_deletes),
    MEMBER("numUpdateWrites", LONG, num_update_writes),
    MEMBER("numInserts", LONG, num_inserts),
    MEMBER("totalWriteBytes", LONG, total_write_bytes),
    MEMBER("totalWriteErrors", LONG, total_write_errors),
    MEMBER("tempPath", TEXT, temp_path),
    MEMBER("partitionPath", TEXT, partition_path),
    MEMBER("totalLogRecords", LONG, total_log_records),
    MEMBER("totalLogFilesCompacted", LONG, total_log_files_compacted),
    MEMBER("totalLogSizeCompacted", LONG, total_log_size_compacted),
    MEMBER("totalUpdatedRecordsCompacted", LONG, total_updated_records_compacted),
    MEMBER("totalLogBlocks", LONG, total_log_blocks),
    MEMBER("totalCorruptLogBlock", LONG, total_corrupt_log_blocks),
    MEMBER("totalRollbackBlocks", LONG, total_rollback_blocks),
    MEMBER("fileSizeInBytes", LONG, file_size_in_bytes),
    MEMBER("minEventTime", MIN_TIME, min_event_time),
    MEMBER("maxEventTime", MAX_TIME, max_event_time),
    MEMBER("runtimeStats", RUNTIME_STATS, has_runtime_stats),
};

/* ---- reading ------------------------------------------------------------------------------ */

/* A C string in the arena; JSON may smuggle in a NUL, which would cut names short. */
static hudi_status copy_slice(struct hd_op *op, struct hd_arena *arena, struct hd_slice text,
                              const char *what, const char **out)
{
    char *copy = NULL;

    if (text.data != NULL) {
        if (memchr(text.data, 0, text.size) != NULL)
            return hd_fail(op, HUDI_CORRUPT, "%s holds a NUL character", what);
        HD_TRY(hd_arena_strndup(op, arena, text.data, text.size, &copy));
    }
    *out = copy;
    return HUDI_OK;
}

/* A member's name: never NULL. */
static hudi_status copy_key(struct hd_op *op, struct hd_arena *arena, struct hd_slice key,
                            const char *what, const char **out)
{
    return copy_slice(op, arena, key.data != NULL ? key : hd_slice_text(""), what, out);
}

static hudi_status find_text(struct hd_op *op, struct hd_arena *arena, const hd_json *object,
                             const char *key, const char **out)
{
    struct hd_slice text;

    HD_TRY(hd_json_find_string(op, object, key, &text));
    return copy_slice(op, arena, text, key, out);
}

static hudi_status read_cdc_stats(struct hd_op *op, struct hd_arena *arena, const hd_json *object,
                                  struct hd_write_stat *out)
{
    const hd_json *cdc, *value;
    struct hd_json_iter iter = {0};
    struct hd_slice key;

    HD_TRY(hd_json_find_object(op, object, "cdcStats", &cdc));
    const size_t n = hd_json_length(cdc);
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->cdc_paths, &out->cdc_paths));
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->cdc_sizes, &out->cdc_sizes));
    while (out->n_cdc < n && hd_json_next(cdc, &iter, &key, &value)) {
        HD_TRY(copy_key(op, arena, key, "cdcStats", &out->cdc_paths[out->n_cdc]));
        HD_TRY(hd_json_as_int64(op, value, "cdcStats", &out->cdc_sizes[out->n_cdc]));
        out->n_cdc++;
    }
    return HUDI_OK;
}

static hudi_status read_log_members(struct hd_op *op, struct hd_arena *arena, const hd_json *object,
                                    struct hd_write_stat *out)
{
    const hd_json *files;
    int64_t version;

    HD_TRY(hd_json_find_int64(op, object, "logVersion", 0, &version));
    if (version < INT32_MIN || version > INT32_MAX)
        return hd_fail(op, HUDI_CORRUPT, "logVersion does not fit 32 bits");
    out->log_version = (int32_t)version;
    HD_TRY(hd_json_find_int64(op, object, "logOffset", 0, &out->log_offset));
    HD_TRY(find_text(op, arena, object, "baseFile", &out->base_file));
    HD_TRY(hd_json_find_array(op, object, "logFiles", &files));
    const size_t n = hd_json_length(files);
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->log_files, &out->log_files));
    for (; out->n_log_files < n; out->n_log_files++) {
        struct hd_slice name;

        HD_TRY(hd_json_as_string(op, hd_json_at(files, out->n_log_files), "logFiles", &name));
        HD_TRY(copy_slice(op, arena, name, "logFiles", &out->log_files[out->n_log_files]));
    }
    return HUDI_OK;
}

static hudi_status read_runtime_stats(struct hd_op *op, const hd_json *object,
                                      struct hd_write_stat *out)
{
    const hd_json *runtime;

    HD_TRY(hd_json_find_object(op, object, "runtimeStats", &runtime));
    out->has_runtime_stats = runtime != NULL;
    HD_TRY(hd_json_find_int64(op, runtime, "totalScanTime", 0, &out->total_scan_time_ms));
    HD_TRY(hd_json_find_int64(op, runtime, "totalUpsertTime", 0, &out->total_upsert_time_ms));
    return hd_json_find_int64(op, runtime, "totalCreateTime", 0, &out->total_create_time_ms);
}

static hudi_status read_member(struct hd_op *op, struct hd_arena *arena, const hd_json *object,
                               const struct member *member, struct hd_write_stat *out)
{
    void *const field = (char *)out + member->offset;

    switch (member->kind) {
    case TEXT:
        return find_text(op, arena, object, member->key, field);
    case LONG:
        return hd_json_find_int64(op, object, member->key, 0, field);
    case CDC_STATS:
        return read_cdc_stats(op, arena, object, out);
    case MIN_TIME:
    case MAX_TIME:
        if (!hd_json_is_null(hd_json_member(object, member->key)))
            out->has_event_times = true;
        return hd_json_find_int64(op, object, member->key, 0, field);
    case RUNTIME_STATS:
        return read_runtime_stats(op, object, out);
    }
    return HUDI_OK;
}

static bool names_log_file(const char *path)
{
    struct hd_file_name name;
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    return path != NULL && hd_file_name_parse(slash != NULL ? slash + 1 : path, &name) &&
           name.kind != HD_FILE_BASE;
}

static hudi_status read_stat(struct hd_op *op, struct hd_arena *arena, const hd_json *object,
                             struct hd_write_stat *out)
{
    *out = (struct hd_write_stat){0};
    if (!hd_json_is_object(object))
        return hd_fail(op, HUDI_CORRUPT, "a write stat is no object");
    for (size_t i = 0; i < HD_ARRAY_LENGTH(MEMBERS); i++)
        HD_TRY(read_member(op, arena, object, &MEMBERS[i], out));
    HD_TRY(find_text(op, arena, object, "prevBaseFile", &out->prev_base_file));
    out->is_log =
        !hd_json_is_null(hd_json_member(object, "logVersion")) || names_log_file(out->path);
    if (out->is_log)
        HD_TRY(read_log_members(op, arena, object, out));
    return HUDI_OK;
}

static hudi_status read_partitions(struct hd_op *op, const hd_json *document,
                                   struct hd_commit_metadata *out)
{
    const hd_json *partitions, *stats;
    struct hd_json_iter iter = {0};
    struct hd_slice key;

    HD_TRY(hd_json_find_object(op, document, "partitionToWriteStats", &partitions));
    while (partitions != NULL && hd_json_next(partitions, &iter, &key, &stats)) {
        const char *partition_path;

        if (!hd_json_is_array(stats))
            return hd_fail(op, HUDI_CORRUPT, "the write stats of a partition are no array");
        HD_TRY(copy_key(op, &out->arena, key, "a partition path", &partition_path));
        for (size_t i = 0; i < hd_json_length(stats); i++) {
            struct hd_write_stat *stat;

            HD_TRY(hd_commit_metadata_new_stat(op, out, &stat));
            HD_TRY(read_stat(op, &out->arena, hd_json_at(stats, i), stat));
            if (stat->partition_path == NULL || strcmp(stat->partition_path, partition_path) == 0)
                stat->partition_path = partition_path; /* one copy for all of them */
        }
    }
    return HUDI_OK;
}

static hudi_status read_extra(struct hd_op *op, const hd_json *document,
                              struct hd_commit_metadata *out)
{
    const hd_json *extra, *value;
    struct hd_json_iter iter = {0};
    struct hd_slice key;

    HD_TRY(hd_json_find_object(op, document, "extraMetadata", &extra));
    const size_t n = hd_json_length(extra);
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->extra_keys, &out->extra_keys));
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->extra_values, &out->extra_values));
    out->extra_capacity = n;
    while (out->n_extra < n && hd_json_next(extra, &iter, &key, &value)) {
        struct hd_slice text = {0};

        if (!hd_json_is_null(value))
            HD_TRY(hd_json_as_string(op, value, "extraMetadata", &text));
        HD_TRY(copy_key(op, &out->arena, key, "extraMetadata", &out->extra_keys[out->n_extra]));
        HD_TRY(
            copy_slice(op, &out->arena, text, "extraMetadata", &out->extra_values[out->n_extra]));
        out->n_extra++;
    }
    return HUDI_OK;
}

static hudi_status read_replaced_ids(struct hd_op *op, struct hd_arena *arena, const hd_json *ids,
                                     struct hd_replaced *out)
{
    if (!hd_json_is_array(ids))
        return hd_fail(op, HUDI_CORRUPT, "the replaced file ids of a partition are no array");
    out->file_id_capacity = hd_json_length(ids);
    HD_TRY(hd_arena_array(op, arena, out->file_id_capacity, sizeof *out->file_ids, &out->file_ids));
    for (; out->n_file_ids < out->file_id_capacity; out->n_file_ids++) {
        struct hd_slice id;

        HD_TRY(hd_json_as_string(op, hd_json_at(ids, out->n_file_ids), "partitionToReplaceFileIds",
                                 &id));
        HD_TRY(copy_slice(op, arena, id, "partitionToReplaceFileIds",
                          &out->file_ids[out->n_file_ids]));
    }
    return HUDI_OK;
}

static hudi_status read_replaced(struct hd_op *op, const hd_json *document,
                                 struct hd_commit_metadata *out)
{
    const hd_json *partitions, *ids;
    struct hd_json_iter iter = {0};
    struct hd_slice key;

    HD_TRY(hd_json_find_object(op, document, "partitionToReplaceFileIds", &partitions));
    out->is_replace = partitions != NULL;
    const size_t n = hd_json_length(partitions);
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->replaced, &out->replaced));
    out->replaced_capacity = n;
    while (out->n_replaced < n && hd_json_next(partitions, &iter, &key, &ids)) {
        struct hd_replaced *const replaced = &out->replaced[out->n_replaced];

        HD_TRY(copy_key(op, &out->arena, key, "a partition path", &replaced->partition_path));
        HD_TRY(read_replaced_ids(op, &out->arena, ids, replaced));
        out->n_replaced++;
    }
    return HUDI_OK;
}

/* Versions 8 and 9: a container file with one record. */
static hudi_status parse_avro(struct hd_op *op, struct hd_slice bytes,
                              struct hd_commit_metadata *out)
{
    struct hd_arena arena = {0};
    struct hd_avro_value record;

    hudi_status status = hd_avro_read_single(op, &arena, bytes, &record);
    if (status == HUDI_OK)
        status = hd_commit_metadata_of_avro(op, &record, out);
    if (status != HUDI_OK)
        hd_commit_metadata_clear(out);
    hd_arena_clear(&arena);
    return status;
}

hudi_status hd_commit_metadata_parse(struct hd_op *op, struct hd_slice bytes,
                                     struct hd_commit_metadata *out)
{
    hudi_status status = HUDI_OK;
    struct hd_commit_metadata metadata = {0};
    hd_json *document = NULL;

    *out = (struct hd_commit_metadata){0};
    if (bytes.size >= sizeof AVRO_MAGIC && memcmp(bytes.data, AVRO_MAGIC, sizeof AVRO_MAGIC) == 0)
        return parse_avro(op, bytes, out);
    HD_TRY(hd_json_parse(op, bytes, &document));
    if (!hd_json_is_object(document))
        HD_TRY_OUT(hd_fail(op, HUDI_CORRUPT, "commit metadata is no JSON object"));
    HD_TRY_OUT(read_partitions(op, document, &metadata));
    HD_TRY_OUT(hd_json_find_bool(op, document, "compacted", false, &metadata.compacted));
    HD_TRY_OUT(read_extra(op, document, &metadata));
    HD_TRY_OUT(find_text(op, &metadata.arena, document, "operationType", &metadata.operation_type));
    HD_TRY_OUT(read_replaced(op, document, &metadata));
    *out = metadata;
    metadata = (struct hd_commit_metadata){0}; /* now the caller's */
out:
    hd_commit_metadata_clear(&metadata);
    hd_json_free(document);
    return status;
}

hudi_status hd_write_stat_parse(struct hd_op *op, struct hd_arena *arena, struct hd_slice json,
                                struct hd_write_stat *out)
{
    hd_json *document;

    *out = (struct hd_write_stat){0};
    HD_TRY(hd_json_parse(op, json, &document));
    hudi_status status = read_stat(op, arena, document, out);
    hd_json_free(document);
    if (status != HUDI_OK)
        *out = (struct hd_write_stat){0};
    return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

static hudi_status write_cdc_stats(struct hd_op *op, struct hd_json_writer *json,
                                   const struct hd_write_stat *stat)
{
    HD_TRY(hd_json_key(op, json, "cdcStats"));
    if (stat->n_cdc == 0)
        return hd_json_null(op, json);
    HD_TRY(hd_json_begin_object(op, json));
    for (size_t i = 0; i < stat->n_cdc; i++)
        HD_TRY(hd_json_put_int64(op, json, stat->cdc_paths[i], stat->cdc_sizes[i]));
    return hd_json_end_object(op, json);
}

static hudi_status write_event_time(struct hd_op *op, struct hd_json_writer *json, const char *key,
                                    const struct hd_write_stat *stat, int64_t value)
{
    HD_TRY(hd_json_key(op, json, key));
    return stat->has_event_times ? hd_json_int64(op, json, value) : hd_json_null(op, json);
}

static hudi_status write_runtime_stats(struct hd_op *op, struct hd_json_writer *json,
                                       const struct hd_write_stat *stat)
{
    HD_TRY(hd_json_key(op, json, "runtimeStats"));
    if (!stat->has_runtime_stats)
        return hd_json_null(op, json);
    HD_TRY(hd_json_begin_object(op, json));
    HD_TRY(hd_json_put_int64(op, json, "totalScanTime", stat->total_scan_time_ms));
    HD_TRY(hd_json_put_int64(op, json, "totalUpsertTime", stat->total_upsert_time_ms));
    HD_TRY(hd_json_put_int64(op, json, "totalCreateTime", stat->total_create_time_ms));
    return hd_json_end_object(op, json);
}

static hudi_status write_text_array(struct hd_op *op, struct hd_json_writer *json, const char *key,
                                    const char *const *texts, size_t n)
{
    HD_TRY(hd_json_key(op, json, key));
    HD_TRY(hd_json_begin_array(op, json));
    for (size_t i = 0; i < n; i++)
        HD_TRY(hd_json_text(op, json, texts[i]));
    return hd_json_end_array(op, json);
}

static hudi_status write_member(struct hd_op *op, struct hd_json_writer *json,
                                const struct member *member, const struct hd_write_stat *stat)
{
    const void *const field = (const char *)stat + member->offset;

    switch (member->kind) {
    case TEXT:
        return hd_json_put_text(op, json, member->key, *(const char *const *)field);
    case LONG:
        return hd_json_put_int64(op, json, member->key, *(const int64_t *)field);
    case CDC_STATS:
        return write_cdc_stats(op, json, stat);
    case MIN_TIME:
    case MAX_TIME:
        return write_event_time(op, json, member->key, stat, *(const int64_t *)field);
    case RUNTIME_STATS:
        return write_runtime_stats(op, json, stat);
    }
    return HUDI_OK;
}

static hudi_status write_stat(struct hd_op *op, struct hd_json_writer *json,
                              const struct hd_write_stat *stat)
{
    HD_TRY(hd_json_begin_object(op, json));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(MEMBERS); i++)
        HD_TRY(write_member(op, json, &MEMBERS[i], stat));
    if (stat->prev_base_file != NULL)
        HD_TRY(hd_json_put_text(op, json, "prevBaseFile", stat->prev_base_file));
    if (stat->is_log) {
        HD_TRY(hd_json_put_int64(op, json, "logVersion", stat->log_version));
        HD_TRY(hd_json_put_int64(op, json, "logOffset", stat->log_offset));
        HD_TRY(
            hd_json_put_text(op, json, "baseFile", stat->base_file != NULL ? stat->base_file : ""));
        HD_TRY(write_text_array(op, json, "logFiles", stat->log_files, stat->n_log_files));
    }
    return hd_json_end_object(op, json);
}

static const char *partition_of(const struct hd_write_stat *stat)
{
    return stat->partition_path != NULL ? stat->partition_path : "";
}

/* The stats of one partition are one array, wherever they stand: chains of stats by partition. */
static hudi_status write_partitions(struct hd_op *op, struct hd_json_writer *json,
                                    const struct hd_commit_metadata *metadata)
{
    hudi_status status = HUDI_OK;
    struct hd_map partitions = {0}; /* partition -> its last stat so far, at the end its first */
    const size_t none = metadata->n_stats;
    size_t *next;

    HD_TRY(hd_alloc_array(op, metadata->n_stats, sizeof *next, &next));
    for (size_t i = metadata->n_stats; i > 0; i--) {
        struct hd_map_entry *entry;
        bool added;

        HD_TRY_OUT(hd_map_put(op, &partitions, hd_slice_text(partition_of(&metadata->stats[i - 1])),
                              none, &entry, &added));
        next[i - 1] = (size_t)entry->value;
        entry->value = i - 1;
    }
    HD_TRY_OUT(hd_json_key(op, json, "partitionToWriteStats"));
    HD_TRY_OUT(hd_json_begin_object(op, json));
    for (size_t i = 0; i < metadata->n_stats; i++) {
        const struct hd_slice partition = hd_slice_text(partition_of(&metadata->stats[i]));

        if (hd_map_find(&partitions, partition)->value != i) /* not the partition's first */
            continue;
        HD_TRY_OUT(hd_json_key_slice(op, json, partition));
        HD_TRY_OUT(hd_json_begin_array(op, json));
        for (size_t j = i; j != none; j = next[j])
            HD_TRY_OUT(write_stat(op, json, &metadata->stats[j]));
        HD_TRY_OUT(hd_json_end_array(op, json));
    }
    HD_TRY_OUT(hd_json_end_object(op, json));
out:
    hd_map_clear(&partitions);
    hd_free(op, next);
    return status;
}

static hudi_status write_replaced(struct hd_op *op, struct hd_json_writer *json,
                                  const struct hd_commit_metadata *metadata)
{
    HD_TRY(hd_json_key(op, json, "partitionToReplaceFileIds"));
    HD_TRY(hd_json_begin_object(op, json));
    for (size_t i = 0; i < metadata->n_replaced; i++) {
        const struct hd_replaced *const replaced = &metadata->replaced[i];

        HD_TRY(write_text_array(op, json, replaced->partition_path, replaced->file_ids,
                                replaced->n_file_ids));
    }
    return hd_json_end_object(op, json);
}

hudi_status hd_commit_metadata_format(struct hd_op *op, const struct hd_commit_metadata *metadata,
                                      struct hd_str *out)
{
    struct hd_json_writer json;

    hd_json_writer_init(&json, out, HD_JSON_PRETTY);
    HD_TRY(hd_json_begin_object(op, &json));
    HD_TRY(write_partitions(op, &json, metadata));
    HD_TRY(hd_json_put_bool(op, &json, "compacted", metadata->compacted));
    HD_TRY(hd_json_key(op, &json, "extraMetadata"));
    HD_TRY(hd_json_begin_object(op, &json));
    for (size_t i = 0; i < metadata->n_extra; i++)
        HD_TRY(hd_json_put_text(op, &json, metadata->extra_keys[i], metadata->extra_values[i]));
    HD_TRY(hd_json_end_object(op, &json));
    HD_TRY(hd_json_put_text(op, &json, "operationType", metadata->operation_type));
    if (metadata->is_replace)
        HD_TRY(write_replaced(op, &json, metadata));
    return hd_json_end_object(op, &json);
}

hudi_status hd_write_stat_format(struct hd_op *op, const struct hd_write_stat *stat,
                                 struct hd_str *out)
{
    struct hd_json_writer json;

    hd_json_writer_init(&json, out, HD_JSON_COMPACT);
    return write_stat(op, &json, stat);
}
