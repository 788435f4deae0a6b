/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "codec/avro_value.h"
#include "format/timeline/plan_fields.h"
#include "format/timeline/rollback_plan.h"

#define NAMESPACE "org.apache.hudi.avro.model"
#define INSTANT_INFO                                                                               \
    "{\"type\":\"record\",\"name\":\"HoodieInstantInfo\",\"namespace\":\"" NAMESPACE "\","         \
    "\"fields\":[{\"name\":\"commitTime\",\"type\":\"string\"},"                                   \
    "{\"name\":\"action\",\"type\":\"string\"}]}"
#define VERSION_FIELD "{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}"

static const char METADATA_SCHEMA[] =
    "{\"type\":\"record\",\"name\":\"HoodieRollbackMetadata\",\"namespace\":\"" NAMESPACE "\","
    "\"fields\":[{\"name\":\"startRollbackTime\",\"type\":\"string\"},"
    "{\"name\":\"timeTakenInMillis\",\"type\":\"long\"},"
    "{\"name\":\"totalFilesDeleted\",\"type\":\"int\"},"
    "{\"name\":\"commitsRollback\",\"type\":{\"type\":\"array\",\"items\":\"string\"}},"
    "{\"name\":\"partitionMetadata\",\"type\":{\"type\":\"map\",\"values\":"
    "{\"type\":\"record\",\"name\":\"HoodieRollbackPartitionMetadata\",\"fields\":["
    "{\"name\":\"partitionPath\",\"type\":\"string\"},"
    "{\"name\":\"successDeleteFiles\",\"type\":{\"type\":\"array\",\"items\":\"string\"}},"
    "{\"name\":\"failedDeleteFiles\",\"type\":{\"type\":\"array\",\"items\":\"string\"}},"
    "{\"name\":\"rollbackLogFiles\",\"type\":[\"null\",{\"type\":\"map\",\"values\":\"long\"}],"
    "\"default\":null},"
    "{\"name\":\"logFilesFromFailedCommit\",\"type\":[\"null\",{\"type\":\"map\",\"values\":"
    "\"long\"}],"
    "\"default\":null}]}}}," VERSION_FIELD ","
    "{\"name\":\"instantsRollback\",\"type\":{\"type\":\"array\",\"items\":" INSTANT_INFO "},"
    "\"default\":[]}]}";

/* ---- writing ------------------------------------------------------------------------------ */

static struct hd_avro_value text(const char *value)
{
    return hd_avro_string_value(hd_slice_text(value));
}

/* What the requests of one partition did, end to end. */
struct partition_result {
    const char **files;
    size_t n_files;
    const char **log_paths;
    int64_t *log_sizes;
    size_t n_logs;
    const char **rollback_log_paths;
    int64_t *rollback_log_sizes;
    size_t n_rollback_logs;
};

static void count_request(struct partition_result *result,
                          const struct hd_rollback_request *request)
{
    result->n_files += request->n_files;
    result->n_logs += request->n_logs;
    result->n_rollback_logs += request->n_rollback_logs;
}

static hudi_status make_room(struct hd_op *op, struct hd_arena *arena,
                             struct partition_result *result)
{
    HD_TRY(hd_arena_array(op, arena, result->n_files, sizeof *result->files, &result->files));
    HD_TRY(
        hd_arena_array(op, arena, result->n_logs, sizeof *result->log_paths, &result->log_paths));
    HD_TRY(
        hd_arena_array(op, arena, result->n_logs, sizeof *result->log_sizes, &result->log_sizes));
    HD_TRY(hd_arena_array(op, arena, result->n_rollback_logs, sizeof *result->rollback_log_paths,
                          &result->rollback_log_paths));
    HD_TRY(hd_arena_array(op, arena, result->n_rollback_logs, sizeof *result->rollback_log_sizes,
                          &result->rollback_log_sizes));
    result->n_files = result->n_logs = result->n_rollback_logs = 0;
    return HUDI_OK;
}

static void add_request(struct partition_result *result, const struct hd_rollback_request *request)
{
    for (size_t i = 0; i < request->n_files; i++)
        result->files[result->n_files++] = request->files[i];
    for (size_t i = 0; i < request->n_logs; i++) {
        result->log_paths[result->n_logs] = request->log_paths[i];
        result->log_sizes[result->n_logs++] = request->log_sizes[i];
    }
    for (size_t i = 0; i < request->n_rollback_logs; i++) {
        result->rollback_log_paths[result->n_rollback_logs] = request->rollback_log_paths[i];
        result->rollback_log_sizes[result->n_rollback_logs++] = request->rollback_log_sizes[i];
    }
}

static hudi_status partition_value(struct hd_op *op, struct hd_arena *arena,
                                   const struct hd_avro_schema *schema, struct hd_slice path,
                                   const struct partition_result *result, struct hd_avro_value *out)
{
    struct hd_avro_value value;

    HD_TRY(hd_avro_record_new(op, arena, schema, out));
    HD_TRY(hd_avro_set(op, out, "partitionPath", hd_avro_string_value(path)));
    HD_TRY(hd_plan_texts_value(op, arena, result->files, result->n_files, &value));
    HD_TRY(hd_avro_set(op, out, "successDeleteFiles", value));
    HD_TRY(hd_avro_array_new(op, arena, 0, &value));
    HD_TRY(hd_avro_set(op, out, "failedDeleteFiles", value));
    HD_TRY(hd_plan_sizes_value(op, arena, result->rollback_log_paths, result->rollback_log_sizes,
                               result->n_rollback_logs, &value));
    HD_TRY(hd_avro_set(op, out, "rollbackLogFiles", value));
    HD_TRY(hd_plan_sizes_value(op, arena, result->log_paths, result->log_sizes, result->n_logs,
                               &value));
    return hd_avro_set(op, out, "logFilesFromFailedCommit", value);
}

/* The requests by partition: a map's key must not come twice, since Java keeps the last. */
static hudi_status partitions_value(struct hd_op *op, struct hd_arena *arena,
                                    const struct hd_avro_schema *schema,
                                    const struct hd_rollback_plan *plan, struct hd_map *partitions,
                                    struct hd_avro_value *out, int64_t *n_files)
{
    struct partition_result *results;
    struct hd_map_entry *entry;

    *n_files = 0;
    HD_TRY(hd_arena_array(op, arena, plan->n_requests, sizeof *results, &results));
    for (size_t i = 0; i < plan->n_requests; i++) {
        HD_TRY(hd_map_put(op, partitions, hd_slice_text(plan->requests[i].partition_path),
                          partitions->n_entries, &entry, NULL));
        count_request(&results[entry->value], &plan->requests[i]);
    }
    for (size_t i = 0; i < partitions->n_entries; i++)
        HD_TRY(make_room(op, arena, &results[i]));
    for (size_t i = 0; i < plan->n_requests; i++) {
        entry = hd_map_find(partitions, hd_slice_text(plan->requests[i].partition_path));
        add_request(&results[entry->value], &plan->requests[i]);
        *n_files += (int64_t)plan->requests[i].n_files;
    }
    HD_TRY(hd_avro_map_new(op, arena, partitions->n_entries, out));
    for (size_t i = 0; i < partitions->n_entries; i++) {
        out->keys[i] = partitions->entries[i].key;
        HD_TRY(partition_value(op, arena, schema, out->keys[i], &results[i], &out->items[i]));
    }
    return HUDI_OK;
}

static hudi_status instants_value(struct hd_op *op, struct hd_arena *arena,
                                  const struct hd_avro_schema *schema,
                                  const struct hd_rollback_plan *plan, struct hd_avro_value *out)
{
    HD_TRY(hd_avro_array_new(op, arena, 1, out));
    HD_TRY(hd_avro_record_new(op, arena, schema, &out->items[0]));
    HD_TRY(hd_avro_set(op, &out->items[0], "commitTime", text(plan->target_time)));
    return hd_avro_set(op, &out->items[0], "action", text(plan->target_action));
}

hudi_status hd_rollback_metadata_encode(struct hd_op *op, const struct hd_rollback_plan *plan,
                                        const char *rollback_time, int64_t taken_ms,
                                        struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_map partition_index = {0};
    const struct hd_slice json = hd_slice_of(METADATA_SCHEMA, sizeof METADATA_SCHEMA - 1);
    struct hd_avro_schema *schema;
    struct hd_avro_value record, commits, partitions, instants;
    int64_t n_files;

    HD_TRY_OUT(hd_avro_schema_parse(op, &arena, json, &schema));
    HD_TRY_OUT(hd_avro_record_new(op, &arena, schema, &record));
    HD_TRY_OUT(hd_avro_set(op, &record, "startRollbackTime", text(rollback_time)));
    HD_TRY_OUT(hd_avro_set(op, &record, "timeTakenInMillis", hd_avro_long_value(taken_ms)));
    HD_TRY_OUT(hd_plan_texts_value(op, &arena, &plan->target_time, 1, &commits));
    HD_TRY_OUT(hd_avro_set(op, &record, "commitsRollback", commits));
    HD_TRY_OUT(partitions_value(
        op, &arena, hd_avro_schema_of_items(hd_avro_schema_of_field(schema, "partitionMetadata")),
        plan, &partition_index, &partitions, &n_files));
    HD_TRY_OUT(hd_avro_set(op, &record, "partitionMetadata", partitions));
    HD_TRY_OUT(hd_avro_set(op, &record, "totalFilesDeleted", hd_avro_long_value(n_files)));
    HD_TRY_OUT(instants_value(
        op, &arena, hd_avro_schema_of_items(hd_avro_schema_of_field(schema, "instantsRollback")),
        plan, &instants));
    HD_TRY_OUT(hd_avro_set(op, &record, "instantsRollback", instants));
    HD_TRY_OUT(hd_avro_write_single(op, schema, &record, out));
out:
    hd_map_clear(&partition_index);
    hd_arena_clear(&arena);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static hudi_status read_partition(struct hd_op *op, struct hd_arena *arena,
                                  const struct hd_avro_value *record, const char *path,
                                  struct hd_rollback_request *out)
{
    *out = (struct hd_rollback_request){
        .partition_path = path, .file_id = "", .latest_base_instant = ""};
    HD_TRY(hd_plan_find_texts(op, arena, record, "successDeleteFiles", &out->files, &out->n_files));
    HD_TRY(hd_plan_find_sizes(op, arena, record, "rollbackLogFiles", &out->rollback_log_paths,
                              &out->rollback_log_sizes, &out->n_rollback_logs));
    HD_TRY(hd_plan_find_sizes(op, arena, record, "logFilesFromFailedCommit", &out->log_paths,
                              &out->log_sizes, &out->n_logs));
    if (out->n_logs > 0)
        return HUDI_OK;
    return hd_plan_find_sizes(op, arena, record, "writtenLogFiles" /* 0.10 */, &out->log_paths,
                              &out->log_sizes, &out->n_logs);
}

/* The instant that was rolled back, in the newer form or as a bare time. */
static hudi_status read_target(struct hd_op *op, const struct hd_avro_value *record,
                               struct hd_rollback_plan *out)
{
    const struct hd_avro_value *instants;
    const char **times;
    size_t n;

    HD_TRY(hd_avro_find_container(op, record, "instantsRollback", HD_AVRO_ARRAY, &instants));
    if (instants != NULL && instants->n_items > 0) {
        HD_TRY(hd_plan_find_text(op, &out->arena, &instants->items[0], "commitTime",
                                 &out->target_time));
        HD_TRY(
            hd_plan_find_text(op, &out->arena, &instants->items[0], "action", &out->target_action));
    } else {
        HD_TRY(hd_plan_find_texts(op, &out->arena, record, "commitsRollback", &times, &n));
        out->target_time = n > 0 ? times[0] : NULL;
    }
    if (out->target_time == NULL)
        return hd_fail(op, HUDI_CORRUPT, "a rollback's metadata names no instant");
    if (out->target_action == NULL)
        out->target_action = "";
    return HUDI_OK;
}

static hudi_status read_metadata(struct hd_op *op, const struct hd_avro_value *record, void *result)
{
    struct hd_rollback_plan *const out = result;
    const struct hd_avro_value *partitions;

    HD_TRY(read_target(op, record, out));
    HD_TRY(hd_avro_find_container(op, record, "partitionMetadata", HD_AVRO_MAP, &partitions));
    const size_t n = partitions == NULL ? 0 : partitions->n_items;
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->requests, &out->requests));
    for (; out->n_requests < n; out->n_requests++) {
        const char *path;

        HD_TRY(hd_plan_key(op, &out->arena, partitions->keys[out->n_requests], "a partition path",
                           &path));
        HD_TRY(read_partition(op, &out->arena, &partitions->items[out->n_requests], path,
                              &out->requests[out->n_requests]));
    }
    return HUDI_OK;
}

hudi_status hd_rollback_metadata_decode(struct hd_op *op, struct hd_slice bytes,
                                        struct hd_rollback_plan *out)
{
    return hd_plan_decode(op, bytes, read_metadata, out, sizeof *out, &out->arena);
}
