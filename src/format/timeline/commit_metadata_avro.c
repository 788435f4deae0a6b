/* SPDX-License-Identifier: Apache-2.0 */

#include <stddef.h>
#include <string.h>

#include "format/layout/file_name.h"
#include "format/timeline/commit_metadata.h"
#include "format/timeline/plan_fields.h"

struct number {
    const char *name;
    size_t offset;
};

#define NUMBER(name, field)                                                                        \
    {                                                                                              \
        name, offsetof(struct hd_write_stat, field)                                                \
    }

static const struct number NUMBERS[] = {
    NUMBER("numWrites", num_writes),
    NUMBER("numDeletes", num_deletes),
    NUMBER("numUpdateWrites", num_update_writes),
    NUMBER("numInserts", num_inserts),
    NUMBER("totalWriteBytes", total_write_bytes),
    NUMBER("totalWriteErrors", total_write_errors),
    NUMBER("fileSizeInBytes", file_size_in_bytes),
    NUMBER("totalLogRecords", total_log_records),
    NUMBER("totalLogFilesCompacted", total_log_files_compacted),
    NUMBER("totalLogSizeCompacted", total_log_size_compacted),
    NUMBER("totalUpdatedRecordsCompacted", total_updated_records_compacted),
    NUMBER("totalLogBlocks", total_log_blocks),
    NUMBER("totalCorruptLogBlock", total_corrupt_log_blocks),
    NUMBER("totalRollbackBlocks", total_rollback_blocks),
    NUMBER("totalLogReadTimeMs", total_log_read_time_ms),
    NUMBER("minEventTime", min_event_time),
    NUMBER("maxEventTime", max_event_time),
    NUMBER("logOffset", log_offset),
};

static hudi_status read_cdc_stats(struct hd_op *op, struct hd_arena *arena,
                                  const struct hd_avro_value *record, struct hd_write_stat *out)
{
    const struct hd_avro_value *cdc;

    HD_TRY(hd_avro_find_container(op, record, "cdcStats", HD_AVRO_MAP, &cdc));
    const size_t n = cdc == NULL ? 0 : cdc->n_items;
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->cdc_paths, &out->cdc_paths));
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->cdc_sizes, &out->cdc_sizes));
    for (; out->n_cdc < n; out->n_cdc++) {
        HD_TRY(
            hd_plan_key(op, arena, cdc->keys[out->n_cdc], "cdcStats", &out->cdc_paths[out->n_cdc]));
        HD_TRY(
            hd_avro_as_long(op, &cdc->items[out->n_cdc], "cdcStats", &out->cdc_sizes[out->n_cdc]));
    }
    return HUDI_OK;
}

static bool has_value(const struct hd_avro_value *record, const char *name)
{
    return !hd_avro_value_is_null(hd_avro_value_field(record, name));
}

static bool names_log_file(const char *path)
{
    struct hd_file_name name;

    return path != NULL && hd_file_name_parse(hd_plan_file_name(path), &name) &&
           name.kind != HD_FILE_BASE;
}

static hudi_status read_stat(struct hd_op *op, struct hd_arena *arena,
                             const struct hd_avro_value *record, struct hd_write_stat *out)
{
    int64_t log_version;

    *out = (struct hd_write_stat){0};
    HD_TRY(hd_plan_find_text(op, arena, record, "fileId", &out->file_id));
    HD_TRY(hd_plan_find_text(op, arena, record, "path", &out->path));
    HD_TRY(hd_plan_find_text(op, arena, record, "partitionPath", &out->partition_path));
    HD_TRY(hd_plan_find_text(op, arena, record, "prevCommit", &out->prev_commit));
    HD_TRY(hd_plan_find_text(op, arena, record, "prevBaseFile", &out->prev_base_file));
    HD_TRY(hd_plan_find_text(op, arena, record, "baseFile", &out->base_file));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(NUMBERS); i++)
        HD_TRY(hd_avro_find_long(op, record, NUMBERS[i].name, 0,
                                 (int64_t *)(void *)((char *)out + NUMBERS[i].offset)));
    HD_TRY(hd_avro_find_long(op, record, "logVersion", 0, &log_version));
    out->log_version = (int32_t)log_version; /* an int in its schema */
    out->has_event_times = has_value(record, "minEventTime") || has_value(record, "maxEventTime");
    out->is_log = has_value(record, "logVersion") || names_log_file(out->path);
    HD_TRY(hd_plan_find_texts(op, arena, record, "logFiles", &out->log_files, &out->n_log_files));
    return read_cdc_stats(op, arena, record, out);
}

static hudi_status read_partitions(struct hd_op *op, const struct hd_avro_value *record,
                                   struct hd_commit_metadata *out)
{
    const struct hd_avro_value *partitions;

    HD_TRY(hd_avro_find_container(op, record, "partitionToWriteStats", HD_AVRO_MAP, &partitions));
    for (size_t i = 0; partitions != NULL && i < partitions->n_items; i++) {
        const struct hd_avro_value *const stats = &partitions->items[i];
        const char *partition_path;

        HD_TRY(
            hd_plan_key(op, &out->arena, partitions->keys[i], "a partition path", &partition_path));
        if (stats->type != HD_AVRO_ARRAY)
            return hd_fail(op, HUDI_CORRUPT, "the write stats of a partition are no array");
        for (size_t j = 0; j < stats->n_items; j++) {
            struct hd_write_stat *stat;

            HD_TRY(hd_commit_metadata_new_stat(op, out, &stat));
            HD_TRY(read_stat(op, &out->arena, &stats->items[j], stat));
            if (stat->partition_path == NULL)
                stat->partition_path = partition_path;
        }
    }
    return HUDI_OK;
}

static hudi_status read_extra(struct hd_op *op, const struct hd_avro_value *record,
                              struct hd_commit_metadata *out)
{
    const struct hd_avro_value *extra;

    HD_TRY(hd_avro_find_container(op, record, "extraMetadata", HD_AVRO_MAP, &extra));
    const size_t n = extra == NULL ? 0 : extra->n_items;
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->extra_keys, &out->extra_keys));
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->extra_values, &out->extra_values));
    out->extra_capacity = n;
    for (; out->n_extra < n; out->n_extra++) {
        HD_TRY(hd_plan_key(op, &out->arena, extra->keys[out->n_extra], "extraMetadata",
                           &out->extra_keys[out->n_extra]));
        if (!hd_avro_value_is_null(&extra->items[out->n_extra]))
            HD_TRY(hd_plan_text(op, &out->arena, &extra->items[out->n_extra], "extraMetadata",
                                &out->extra_values[out->n_extra]));
    }
    return HUDI_OK;
}

static hudi_status read_replaced(struct hd_op *op, const struct hd_avro_value *record,
                                 struct hd_commit_metadata *out)
{
    const struct hd_avro_value *partitions;

    HD_TRY(
        hd_avro_find_container(op, record, "partitionToReplaceFileIds", HD_AVRO_MAP, &partitions));
    out->is_replace = partitions != NULL;
    const size_t n = partitions == NULL ? 0 : partitions->n_items;
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->replaced, &out->replaced));
    out->replaced_capacity = n;
    for (; out->n_replaced < n; out->n_replaced++) {
        const struct hd_avro_value *const ids = &partitions->items[out->n_replaced];
        struct hd_replaced *const replaced = &out->replaced[out->n_replaced];

        HD_TRY(hd_plan_key(op, &out->arena, partitions->keys[out->n_replaced], "a partition path",
                           &replaced->partition_path));
        if (ids->type != HD_AVRO_ARRAY)
            return hd_fail(op, HUDI_CORRUPT, "the replaced file ids of a partition are no array");
        HD_TRY(hd_arena_array(op, &out->arena, ids->n_items, sizeof *replaced->file_ids,
                              &replaced->file_ids));
        replaced->file_id_capacity = ids->n_items;
        for (; replaced->n_file_ids < ids->n_items; replaced->n_file_ids++)
            HD_TRY(hd_plan_text(op, &out->arena, &ids->items[replaced->n_file_ids],
                                "partitionToReplaceFileIds",
                                &replaced->file_ids[replaced->n_file_ids]));
    }
    return HUDI_OK;
}

hudi_status hd_commit_metadata_of_avro(struct hd_op *op, const struct hd_avro_value *record,
                                       struct hd_commit_metadata *out)
{
    HD_TRY(read_partitions(op, record, out));
    HD_TRY(read_extra(op, record, out));
    HD_TRY(read_replaced(op, record, out));
    HD_TRY(hd_plan_find_text(op, &out->arena, record, "operationType", &out->operation_type));
    HD_TRY(hd_avro_find_boolean(op, record, "compacted", false, &out->compacted));
    if (out->operation_type != NULL && strcmp(out->operation_type, "COMPACT") == 0)
        out->compacted = true; /* archives of 0.x have no such field */
    return HUDI_OK;
}
