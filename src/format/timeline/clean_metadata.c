/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/avro.h"
#include "codec/avro_value.h"
#include "format/timeline/clean_plan.h"
#include "format/timeline/plan_fields.h"

#define METADATA_VERSION 2

/* ---- schema: fields by the release that brought them ------------------------------------------
 */

static const char SCHEMA_START[] =
    "{\"type\":\"record\",\"name\":\"HoodieCleanMetadata\",\"namespace\":\"org.apache.hudi.avro."
    "model\",\"fields\":[{\"name\":\"startCleanTime\",\"type\":\"string\"},"
    "{\"name\":\"timeTakenInMillis\",\"type\":\"long\"},"
    "{\"name\":\"totalFilesDeleted\",\"type\":\"int\"},"
    "{\"name\":\"earliestCommitToRetain\",\"type\":\"string\"}";
static const char SCHEMA_LAST_COMPLETED[] =
    ",{\"name\":\"lastCompletedCommitTimestamp\",\"type\":\"string\",\"default\":\"\"}";
static const char SCHEMA_PARTITIONS[] =
    ",{\"name\":\"partitionMetadata\",\"type\":{\"type\":\"map\",\"values\":{\"type\":\"record\","
    "\"name\":\"HoodieCleanPartitionMetadata\",\"fields\":[{\"name\":\"partitionPath\",\"type\":"
    "\"string\"},{\"name\":\"policy\",\"type\":\"string\"},{\"name\":\"deletePathPatterns\","
    "\"type\":{\"type\":\"array\",\"items\":\"string\"}},{\"name\":\"successDeleteFiles\","
    "\"type\":{\"type\":\"array\",\"items\":\"string\"}},{\"name\":\"failedDeleteFiles\","
    "\"type\":{\"type\":\"array\",\"items\":\"string\"}}";
static const char SCHEMA_PARTITION_DELETED[] =
    ",{\"name\":\"isPartitionDeleted\",\"type\":[\"null\",\"boolean\"],\"default\":null}";
static const char SCHEMA_END[] =
    "]}}},{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1},"
    "{\"name\":\"bootstrapPartitionMetadata\",\"type\":[\"null\",{\"type\":\"map\",\"values\":"
    "\"HoodieCleanPartitionMetadata\",\"default\":null}],\"default\":null}";

static hudi_status schema_of(struct hd_op *op, const struct hd_table_version *version,
                             struct hd_str *out)
{
    HD_TRY(hd_str_append_text(op, out, SCHEMA_START));
    if (version->clean_has_last_completed)
        HD_TRY(hd_str_append_text(op, out, SCHEMA_LAST_COMPLETED));
    HD_TRY(hd_str_append_text(op, out, SCHEMA_PARTITIONS));
    if (version->clean_deletes_partitions)
        HD_TRY(hd_str_append_text(op, out, SCHEMA_PARTITION_DELETED));
    HD_TRY(hd_str_append_text(op, out, SCHEMA_END));
    if (version->clean_has_extra)
        HD_TRY(hd_str_append_text(op, out, HD_PLAN_EXTRA_SCHEMA));
    return hd_str_append_text(op, out, "]}");
}

/* ---- writing ------------------------------------------------------------------------------ */

/* The names whose `deleted` is `which`; all with `deleted` NULL. */
static hudi_status put_names(struct hd_op *op, struct hd_str *out,
                             const struct hd_cleaned_partition *partition, const bool *deleted,
                             bool which)
{
    size_t n = 0;

    for (size_t i = 0; i < partition->n_files; i++)
        n += deleted == NULL || deleted[i] == which;
    if (n > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)n));
    for (size_t i = 0; i < partition->n_files; i++)
        if (deleted == NULL || deleted[i] == which)
            HD_TRY(hd_plan_put_text(op, out, partition->files[i]));
    return hd_avro_write_long(op, out, 0);
}

static hudi_status put_partition(struct hd_op *op, struct hd_str *out,
                                 const struct hd_clean_metadata *metadata,
                                 const struct hd_cleaned_partition *partition,
                                 const struct hd_table_version *version)
{
    HD_TRY(hd_plan_put_text(op, out, partition->partition_path)); /* the key */
    HD_TRY(hd_plan_put_text(op, out, partition->partition_path));
    HD_TRY(hd_plan_put_text(op, out, metadata->policy));
    HD_TRY(put_names(op, out, partition, NULL, true));
    HD_TRY(put_names(op, out, partition, partition->deleted, true));
    HD_TRY(put_names(op, out, partition, partition->deleted, false));
    if (!version->clean_deletes_partitions)
        return HUDI_OK;
    HD_TRY(hd_avro_write_long(op, out, 1));
    return hd_avro_write_boolean(op, out, partition->partition_deleted);
}

static int64_t count_deleted(const struct hd_clean_metadata *metadata)
{
    int64_t n = 0;

    for (size_t i = 0; i < metadata->n_partitions; i++)
        for (size_t j = 0; j < metadata->partitions[i].n_files; j++)
            n += metadata->partitions[i].deleted[j];
    return n;
}

static hudi_status put_record(struct hd_op *op, struct hd_str *out,
                              const struct hd_clean_metadata *metadata,
                              const struct hd_table_version *version)
{
    HD_TRY(hd_plan_put_text(op, out, metadata->start_time));
    HD_TRY(hd_avro_write_long(op, out, metadata->taken_ms));
    HD_TRY(hd_avro_write_long(op, out, count_deleted(metadata)));
    HD_TRY(hd_plan_put_text(op, out, metadata->earliest_time));
    if (version->clean_has_last_completed)
        HD_TRY(hd_plan_put_text(op, out, metadata->last_completed));
    if (metadata->n_partitions > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)metadata->n_partitions));
    for (size_t i = 0; i < metadata->n_partitions; i++)
        HD_TRY(put_partition(op, out, metadata, &metadata->partitions[i], version));
    HD_TRY(hd_avro_write_long(op, out, 0));
    HD_TRY(hd_avro_write_long(op, out, 0)); /* version: an int */
    HD_TRY(hd_avro_write_long(op, out, METADATA_VERSION));
    HD_TRY(hd_avro_write_long(op, out, 1)); /* files of a bootstrap source: none */
    HD_TRY(hd_avro_write_long(op, out, 0));
    return version->clean_has_extra ? hd_plan_put_savepoints(op, out, metadata->savepoints)
                                    : HUDI_OK;
}

hudi_status hd_clean_metadata_encode(struct hd_op *op, const struct hd_clean_metadata *metadata,
                                     const struct hd_table_version *version, struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_str schema = {0}, record = {0};

    HD_TRY_OUT(schema_of(op, version, &schema));
    HD_TRY_OUT(put_record(op, &record, metadata, version));
    HD_TRY_OUT(hd_plan_file(op, hd_str_slice(&schema), hd_str_slice(&record), out));
out:
    hd_str_clear(&schema);
    hd_str_clear(&record);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* What was deleted, then what was not: the real order of names is that of the patterns. */
static hudi_status read_partition(struct hd_op *op, struct hd_arena *arena,
                                  const struct hd_avro_value *record,
                                  struct hd_cleaned_partition *out)
{
    const char **deleted, **failed;
    size_t n_deleted, n_failed;

    if (record->type != HD_AVRO_RECORD)
        return hd_fail(op, HUDI_CORRUPT, "a partition of a clean is no record");
    HD_TRY(hd_plan_find_texts(op, arena, record, "successDeleteFiles", &deleted, &n_deleted));
    HD_TRY(hd_plan_find_texts(op, arena, record, "failedDeleteFiles", &failed, &n_failed));
    HD_TRY(hd_avro_find_boolean(op, record, "isPartitionDeleted", false, &out->partition_deleted));
    HD_TRY(hd_arena_array(op, arena, n_deleted + n_failed, sizeof *out->files, &out->files));
    HD_TRY(hd_arena_array(op, arena, n_deleted + n_failed, sizeof *out->deleted, &out->deleted));
    for (size_t i = 0; i < n_deleted; i++) {
        out->deleted[out->n_files] = true;
        out->files[out->n_files++] = deleted[i];
    }
    for (size_t i = 0; i < n_failed; i++)
        out->files[out->n_files++] = failed[i];
    return HUDI_OK;
}

static hudi_status read_metadata(struct hd_op *op, const struct hd_avro_value *record, void *result)
{
    struct hd_clean_metadata *const out = result;
    struct hd_arena *const arena = &out->arena;
    const struct hd_avro_value *map;

    HD_TRY(hd_plan_find_text(op, arena, record, "startCleanTime", &out->start_time));
    HD_TRY(hd_avro_find_long(op, record, "timeTakenInMillis", 0, &out->taken_ms));
    HD_TRY(hd_avro_find_long(op, record, "totalFilesDeleted", 0, &out->n_deleted));
    HD_TRY(hd_plan_find_text(op, arena, record, "earliestCommitToRetain", &out->earliest_time));
    HD_TRY(
        hd_plan_find_text(op, arena, record, "lastCompletedCommitTimestamp", &out->last_completed));
    HD_TRY(hd_avro_find_container(op, record, "partitionMetadata", HD_AVRO_MAP, &map));
    const size_t n = map == NULL ? 0 : map->n_items;
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->partitions, &out->partitions));
    for (; out->n_partitions < n; out->n_partitions++) {
        struct hd_cleaned_partition *const partition = &out->partitions[out->n_partitions];

        HD_TRY(hd_plan_key(op, arena, map->keys[out->n_partitions], "a partition path",
                           &partition->partition_path));
        HD_TRY(read_partition(op, arena, &map->items[out->n_partitions], partition));
        HD_TRY(
            hd_plan_find_text(op, arena, &map->items[out->n_partitions], "policy", &out->policy));
    }
    if (out->start_time == NULL || out->earliest_time == NULL)
        return hd_fail(op, HUDI_CORRUPT, "the metadata of a clean has no times");
    if (out->last_completed == NULL)
        out->last_completed = "";
    if (out->policy == NULL)
        out->policy = "";
    return hd_plan_find_savepoints(op, arena, record, &out->savepoints);
}

hudi_status hd_clean_metadata_decode(struct hd_op *op, struct hd_slice bytes,
                                     struct hd_clean_metadata *out)
{
    return hd_plan_decode(op, bytes, read_metadata, out, sizeof *out, &out->arena);
}

void hd_clean_metadata_clear(struct hd_clean_metadata *metadata)
{
    hd_arena_clear(&metadata->arena);
    *metadata = (struct hd_clean_metadata){0};
}
