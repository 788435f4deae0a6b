/* SPDX-License-Identifier: Apache-2.0 */
#include "format/timeline/clean_plan.h"

#include "codec/avro.h"
#include "codec/avro_value.h"
#include "format/timeline/plan_fields.h"

/* ---- schema: fields by the release that brought them ------------------------------------------
 */

#define PLAN_VERSION 2

static const char SCHEMA_START[] =
    "{\"type\":\"record\",\"name\":\"HoodieCleanerPlan\",\"namespace\":\"org.apache.hudi.avro."
    "model\",\"fields\":[{\"name\":\"earliestInstantToRetain\",\"type\":[\"null\",{\"type\":"
    "\"record\",\"name\":\"HoodieActionInstant\",\"fields\":[{\"name\":\"timestamp\",\"type\":"
    "\"string\"},{\"name\":\"action\",\"type\":\"string\"},{\"name\":\"state\",\"type\":"
    "\"string\"}]}],\"default\":null}";
static const char SCHEMA_LAST_COMPLETED[] =
    ",{\"name\":\"lastCompletedCommitTimestamp\",\"type\":\"string\",\"default\":\"\"}";
static const char SCHEMA_FILES[] =
    ",{\"name\":\"policy\",\"type\":\"string\"},{\"name\":\"filesToBeDeletedPerPartition\","
    "\"type\":[\"null\",{\"type\":\"map\",\"values\":{\"type\":\"array\",\"items\":\"string\"}}],"
    "\"default\":null},{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1},"
    "{\"name\":\"filePathsToBeDeletedPerPartition\",\"type\":[\"null\",{\"type\":\"map\","
    "\"values\":{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":"
    "\"HoodieCleanFileInfo\",\"fields\":[{\"name\":\"filePath\",\"type\":[\"null\",\"string\"],"
    "\"default\":null},{\"name\":\"isBootstrapBaseFile\",\"type\":[\"null\",\"boolean\"],"
    "\"default\":null}]}}}],\"default\":null}";
static const char SCHEMA_PARTITIONS[] =
    ",{\"name\":\"partitionsToBeDeleted\",\"type\":[\"null\",{\"type\":\"array\",\"items\":"
    "\"string\"}],\"default\":null}";

static hudi_status schema_of(struct hd_op *op, const struct hd_table_version *version,
                             struct hd_str *out)
{
    HD_TRY(hd_str_append_text(op, out, SCHEMA_START));
    if (version->clean_has_last_completed)
        HD_TRY(hd_str_append_text(op, out, SCHEMA_LAST_COMPLETED));
    HD_TRY(hd_str_append_text(op, out, SCHEMA_FILES));
    if (version->clean_deletes_partitions)
        HD_TRY(hd_str_append_text(op, out, SCHEMA_PARTITIONS));
    if (version->clean_has_extra)
        HD_TRY(hd_str_append_text(op, out, HD_PLAN_EXTRA_SCHEMA));
    return hd_str_append_text(op, out, "]}");
}

/* ---- writing ------------------------------------------------------------------------------ */

static hudi_status put_earliest(struct hd_op *op, struct hd_str *out,
                                const struct hd_clean_plan *plan)
{
    HD_TRY(hd_avro_write_long(op, out, plan->earliest_time != NULL));
    if (plan->earliest_time == NULL)
        return HUDI_OK;
    HD_TRY(hd_plan_put_text(op, out, plan->earliest_time));
    HD_TRY(hd_plan_put_text(op, out, plan->earliest_action));
    return hd_plan_put_text(op, out, "COMPLETED");
}

static hudi_status put_files(struct hd_op *op, struct hd_str *out,
                             const struct hd_clean_partition *partition, const char *table_uri)
{
    const char *const slash = partition->partition_path[0] == '\0' ? "" : "/";
    const size_t folder_bytes = strlen(table_uri) + strlen(slash) +
                                strlen(partition->partition_path) + 1 /* before the name */;

    if (partition->n_files > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)partition->n_files));
    for (size_t i = 0; i < partition->n_files; i++) {
        const char *const name = partition->files[i];

        HD_TRY(hd_avro_write_long(op, out, 1));
        HD_TRY(hd_avro_write_long(op, out, (int64_t)(folder_bytes + strlen(name))));
        HD_TRY(hd_str_append_text(op, out, table_uri));
        HD_TRY(hd_str_append_text(op, out, slash));
        HD_TRY(hd_str_append_text(op, out, partition->partition_path));
        HD_TRY(hd_str_append_char(op, out, '/'));
        HD_TRY(hd_str_append_text(op, out, name));
        HD_TRY(hd_avro_write_long(op, out, 1)); /* isBootstrapBaseFile */
        HD_TRY(hd_avro_write_boolean(op, out, false));
    }
    return hd_avro_write_long(op, out, 0);
}

static hudi_status put_partitions(struct hd_op *op, struct hd_str *out,
                                  const struct hd_clean_plan *plan, const char *table_uri)
{
    if (plan->n_partitions > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)plan->n_partitions));
    for (size_t i = 0; i < plan->n_partitions; i++) {
        HD_TRY(hd_plan_put_text(op, out, plan->partitions[i].partition_path));
        HD_TRY(put_files(op, out, &plan->partitions[i], table_uri));
    }
    return hd_avro_write_long(op, out, 0);
}

static hudi_status put_texts(struct hd_op *op, struct hd_str *out, const char *const *texts,
                             size_t n)
{
    if (n > 0)
        HD_TRY(hd_avro_write_long(op, out, (int64_t)n));
    for (size_t i = 0; i < n; i++)
        HD_TRY(hd_plan_put_text(op, out, texts[i]));
    return hd_avro_write_long(op, out, 0);
}

static hudi_status put_record(struct hd_op *op, struct hd_str *out,
                              const struct hd_clean_plan *plan,
                              const struct hd_table_version *version, const char *table_uri)
{
    HD_TRY(put_earliest(op, out, plan));
    if (version->clean_has_last_completed)
        HD_TRY(hd_plan_put_text(op, out, plan->last_completed));
    HD_TRY(hd_plan_put_text(op, out, plan->policy));
    HD_TRY(hd_avro_write_long(op, out, 1)); /* the map of version 1: there and empty */
    HD_TRY(hd_avro_write_long(op, out, 0));
    HD_TRY(hd_avro_write_long(op, out, 0)); /* version: an int */
    HD_TRY(hd_avro_write_long(op, out, PLAN_VERSION));
    HD_TRY(hd_avro_write_long(op, out, 1));
    HD_TRY(put_partitions(op, out, plan, table_uri));
    if (version->clean_deletes_partitions) {
        HD_TRY(hd_avro_write_long(op, out, 1));
        HD_TRY(put_texts(op, out, plan->deleted_partitions, plan->n_deleted_partitions));
    }
    return version->clean_has_extra ? hd_plan_put_savepoints(op, out, plan->savepoints) : HUDI_OK;
}

hudi_status hd_clean_plan_encode(struct hd_op *op, const struct hd_clean_plan *plan,
                                 const struct hd_table_version *version, const char *table_uri,
                                 struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_str schema = {0}, record = {0};

    HD_TRY_OUT(schema_of(op, version, &schema));
    HD_TRY_OUT(put_record(op, &record, plan, version, table_uri));
    HD_TRY_OUT(hd_plan_file(op, hd_str_slice(&schema), hd_str_slice(&record), out));
out:
    hd_str_clear(&schema);
    hd_str_clear(&record);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* One file: its path (version 1), or a record of it. */
static hudi_status read_file(struct hd_op *op, struct hd_arena *arena,
                             const struct hd_avro_value *item, const char **out)
{
    bool of_bootstrap = false;

    if (item->type == HD_AVRO_RECORD) {
        HD_TRY(hd_plan_find_text(op, arena, item, "filePath", out));
        HD_TRY(hd_avro_find_boolean(op, item, "isBootstrapBaseFile", false, &of_bootstrap));
    } else {
        HD_TRY(hd_plan_text(op, arena, item, "a file", out));
    }
    if (of_bootstrap)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "a clean plan with files of a bootstrap source");
    if (*out == NULL)
        return hd_fail(op, HUDI_CORRUPT, "a file of a clean plan has no path");
    *out = hd_plan_file_name(*out);
    return HUDI_OK;
}

static hudi_status read_partitions(struct hd_op *op, const struct hd_avro_value *map,
                                   struct hd_clean_plan *out)
{
    const size_t n = map == NULL ? 0 : map->n_items;

    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->partitions, &out->partitions));
    for (; out->n_partitions < n; out->n_partitions++) {
        struct hd_clean_partition *const partition = &out->partitions[out->n_partitions];
        const struct hd_avro_value *const files = &map->items[out->n_partitions];

        HD_TRY(hd_plan_key(op, &out->arena, map->keys[out->n_partitions], "a partition path",
                           &partition->partition_path));
        if (files->type != HD_AVRO_ARRAY)
            return hd_fail(op, HUDI_CORRUPT, "the files of a clean plan are no list");
        HD_TRY(hd_arena_array(op, &out->arena, files->n_items, sizeof *partition->files,
                              &partition->files));
        for (; partition->n_files < files->n_items; partition->n_files++)
            HD_TRY(read_file(op, &out->arena, &files->items[partition->n_files],
                             &partition->files[partition->n_files]));
    }
    return HUDI_OK;
}

static hudi_status read_plan(struct hd_op *op, const struct hd_avro_value *record, void *result)
{
    struct hd_clean_plan *const out = result;
    const struct hd_avro_value *earliest, *files;
    struct hd_arena *const arena = &out->arena;

    HD_TRY(
        hd_avro_find_container(op, record, "earliestInstantToRetain", HD_AVRO_RECORD, &earliest));
    HD_TRY(hd_plan_find_text(op, arena, earliest, "timestamp", &out->earliest_time));
    HD_TRY(hd_plan_find_text(op, arena, earliest, "action", &out->earliest_action));
    HD_TRY(
        hd_plan_find_text(op, arena, record, "lastCompletedCommitTimestamp", &out->last_completed));
    HD_TRY(hd_plan_find_text(op, arena, record, "policy", &out->policy));
    if (out->last_completed == NULL)
        out->last_completed = "";
    if (out->policy == NULL)
        return hd_fail(op, HUDI_CORRUPT, "a clean plan without a policy");
    if (out->earliest_time != NULL && out->earliest_action == NULL)
        out->earliest_action = "commit";
    HD_TRY(hd_avro_find_container(op, record, "filePathsToBeDeletedPerPartition", HD_AVRO_MAP,
                                  &files));
    if (files == NULL || files->n_items == 0)
        HD_TRY(hd_avro_find_container(op, record, "filesToBeDeletedPerPartition", HD_AVRO_MAP,
                                      &files));
    HD_TRY(read_partitions(op, files, out));
    HD_TRY(hd_plan_find_texts(op, arena, record, "partitionsToBeDeleted", &out->deleted_partitions,
                              &out->n_deleted_partitions));
    return hd_plan_find_savepoints(op, arena, record, &out->savepoints);
}

hudi_status hd_clean_plan_decode(struct hd_op *op, struct hd_slice bytes, struct hd_clean_plan *out)
{
    return hd_plan_decode(op, bytes, read_plan, out, sizeof *out, &out->arena);
}

void hd_clean_plan_clear(struct hd_clean_plan *plan)
{
    hd_arena_clear(&plan->arena);
    *plan = (struct hd_clean_plan){0};
}
