/* SPDX-License-Identifier: Apache-2.0 */
#include "format/timeline/rollback_plan.h"

#include "codec/avro_value.h"
#include "format/timeline/plan_fields.h"

#define NAMESPACE "org.apache.hudi.avro.model"
#define INSTANT_INFO                                                                               \
    "{\"type\":\"record\",\"name\":\"HoodieInstantInfo\",\"namespace\":\"" NAMESPACE "\","         \
    "\"fields\":[{\"name\":\"commitTime\",\"type\":\"string\"},"                                   \
    "{\"name\":\"action\",\"type\":\"string\"}]}"
#define VERSION_FIELD "{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}"

static const char PLAN_SCHEMA[] =
    "{\"type\":\"record\",\"name\":\"HoodieRollbackPlan\",\"namespace\":\"" NAMESPACE "\","
    "\"fields\":[{\"name\":\"instantToRollback\",\"type\":[\"null\"," INSTANT_INFO "],"
    "\"default\":null},"
    "{\"name\":\"RollbackRequests\",\"type\":[\"null\",{\"type\":\"array\",\"items\":"
    "{\"type\":\"record\",\"name\":\"HoodieRollbackRequest\",\"fields\":["
    "{\"name\":\"partitionPath\",\"type\":\"string\"},"
    "{\"name\":\"fileId\",\"type\":[\"null\",\"string\"],\"default\":null},"
    "{\"name\":\"latestBaseInstant\",\"type\":[\"null\",\"string\"],\"default\":null},"
    "{\"name\":\"filesToBeDeleted\",\"type\":{\"type\":\"array\",\"items\":\"string\"},"
    "\"default\":[]},"
    "{\"name\":\"logBlocksToBeDeleted\",\"type\":[\"null\",{\"type\":\"map\",\"values\":\"long\"}],"
    "\"default\":null}]}}],\"default\":null}," VERSION_FIELD "]}";

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

static struct hd_avro_value text(const char *value)
{
    return hd_avro_string_value(hd_slice_text(value));
}

static hudi_status text_array(struct hd_op *op, struct hd_arena *arena, const char *const *texts,
                              size_t n, struct hd_avro_value *out)
{
    HD_TRY(hd_avro_array_new(op, arena, n, out));
    for (size_t i = 0; i < n; i++)
        out->items[i] = text(texts[i]);
    return HUDI_OK;
}

static hudi_status instant_info(struct hd_op *op, struct hd_arena *arena,
                                const struct hd_avro_schema *schema,
                                const struct hd_rollback_plan *plan, struct hd_avro_value *out)
{
    HD_TRY(hd_avro_record_new(op, arena, schema, out));
    HD_TRY(hd_avro_set(op, out, "commitTime", text(plan->target_time)));
    return hd_avro_set(op, out, "action", text(plan->target_action));
}

static hudi_status request_value(struct hd_op *op, struct hd_arena *arena,
                                 const struct hd_avro_schema *schema,
                                 const struct hd_rollback_request *request,
                                 struct hd_avro_value *out)
{
    struct hd_avro_value files, logs;

    HD_TRY(hd_avro_record_new(op, arena, schema, out));
    HD_TRY(hd_avro_set(op, out, "partitionPath", text(request->partition_path)));
    HD_TRY(hd_avro_set(op, out, "fileId", text(request->file_id)));
    HD_TRY(hd_avro_set(op, out, "latestBaseInstant", text(request->latest_base_instant)));
    HD_TRY(text_array(op, arena, request->files, request->n_files, &files));
    HD_TRY(hd_avro_set(op, out, "filesToBeDeleted", files));
    /* An empty map, not null, as the real writers leave it: some readers do not look for null. */
    HD_TRY(hd_avro_map_new(op, arena, request->n_logs, &logs));
    for (size_t i = 0; i < request->n_logs; i++) {
        logs.keys[i] = hd_slice_text(request->log_paths[i]);
        logs.items[i] = hd_avro_long_value(request->log_sizes[i]);
    }
    return hd_avro_set(op, out, "logBlocksToBeDeleted", logs);
}

hudi_status hd_rollback_plan_encode(struct hd_op *op, const struct hd_rollback_plan *plan,
                                    struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    const struct hd_slice json = hd_slice_of(PLAN_SCHEMA, sizeof PLAN_SCHEMA - 1);
    struct hd_avro_schema *schema;
    const struct hd_avro_schema *requests_schema;
    struct hd_avro_value record, target, requests;

    HD_TRY_OUT(hd_avro_schema_parse(op, &arena, json, &schema));
    HD_TRY_OUT(hd_avro_record_new(op, &arena, schema, &record));
    HD_TRY_OUT(instant_info(op, &arena, hd_avro_schema_of_field(schema, "instantToRollback"), plan,
                            &target));
    HD_TRY_OUT(hd_avro_set(op, &record, "instantToRollback", target));
    requests_schema = hd_avro_schema_of_items(hd_avro_schema_of_field(schema, "RollbackRequests"));
    HD_TRY_OUT(hd_avro_array_new(op, &arena, plan->n_requests, &requests));
    for (size_t i = 0; i < plan->n_requests; i++)
        HD_TRY_OUT(
            request_value(op, &arena, requests_schema, &plan->requests[i], &requests.items[i]));
    HD_TRY_OUT(hd_avro_set(op, &record, "RollbackRequests", requests));
    HD_TRY_OUT(hd_avro_write_single(op, schema, json, &record, out));
out:
    hd_arena_clear(&arena);
    return status;
}

static hudi_status read_logs(struct hd_op *op, struct hd_arena *arena,
                             const struct hd_avro_value *record, struct hd_rollback_request *out)
{
    const struct hd_avro_value *logs;

    HD_TRY(hd_avro_find_container(op, record, "logBlocksToBeDeleted", HD_AVRO_MAP, &logs));
    const size_t n = logs == NULL ? 0 : logs->n_items;
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->log_paths, &out->log_paths));
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->log_sizes, &out->log_sizes));
    for (; out->n_logs < n; out->n_logs++) {
        HD_TRY(hd_plan_key(op, arena, logs->keys[out->n_logs], "a log file of a rollback plan",
                           &out->log_paths[out->n_logs]));
        HD_TRY(hd_avro_as_long(op, &logs->items[out->n_logs], "a log file's size",
                               &out->log_sizes[out->n_logs]));
    }
    return HUDI_OK;
}

static hudi_status read_request(struct hd_op *op, struct hd_arena *arena,
                                const struct hd_avro_value *record, struct hd_rollback_request *out)
{
    HD_TRY(hd_plan_find_text(op, arena, record, "partitionPath", &out->partition_path));
    HD_TRY(hd_plan_find_text(op, arena, record, "fileId", &out->file_id));
    HD_TRY(hd_plan_find_text(op, arena, record, "latestBaseInstant", &out->latest_base_instant));
    HD_TRY(hd_plan_find_texts(op, arena, record, "filesToBeDeleted", &out->files, &out->n_files));
    if (out->partition_path == NULL)
        return hd_fail(op, HUDI_CORRUPT, "a rollback request names no partition");
    if (out->file_id == NULL)
        out->file_id = "";
    if (out->latest_base_instant == NULL)
        out->latest_base_instant = "";
    return read_logs(op, arena, record, out);
}

static hudi_status read_plan(struct hd_op *op, const struct hd_avro_value *record,
                             struct hd_rollback_plan *out)
{
    const struct hd_avro_value *target, *requests;

    HD_TRY(hd_avro_find_container(op, record, "instantToRollback", HD_AVRO_RECORD, &target));
    HD_TRY(hd_plan_find_text(op, &out->arena, target, "commitTime", &out->target_time));
    HD_TRY(hd_plan_find_text(op, &out->arena, target, "action", &out->target_action));
    if (out->target_time == NULL || out->target_action == NULL)
        return hd_fail(op, HUDI_CORRUPT, "a rollback plan names no instant");
    HD_TRY(hd_avro_find_container(op, record, "RollbackRequests", HD_AVRO_ARRAY, &requests));
    const size_t n = requests == NULL ? 0 : requests->n_items;
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->requests, &out->requests));
    for (; out->n_requests < n; out->n_requests++)
        HD_TRY(read_request(op, &out->arena, &requests->items[out->n_requests],
                            &out->requests[out->n_requests]));
    return HUDI_OK;
}

hudi_status hd_rollback_plan_decode(struct hd_op *op, struct hd_slice bytes,
                                    struct hd_rollback_plan *out)
{
    hudi_status status = HUDI_OK;
    struct hd_arena values = {0};
    struct hd_avro_value record;

    *out = (struct hd_rollback_plan){0};
    HD_TRY_OUT(hd_avro_read_single(op, &values, bytes, &record));
    HD_TRY_OUT(read_plan(op, &record, out));
out:
    hd_arena_clear(&values);
    if (status != HUDI_OK)
        hd_rollback_plan_clear(out);
    return status;
}

void hd_rollback_plan_clear(struct hd_rollback_plan *plan)
{
    hd_arena_clear(&plan->arena);
    *plan = (struct hd_rollback_plan){0};
}

/* ---- metadata ---------------------------------------------------------------------------------
 */

/* One entry per partition; a plan may have several requests for one. */
static hudi_status partition_value(struct hd_op *op, struct hd_arena *arena,
                                   const struct hd_avro_schema *schema,
                                   const struct hd_rollback_request *request,
                                   struct hd_avro_value *out)
{
    struct hd_avro_value files, none, no_logs;

    HD_TRY(hd_avro_record_new(op, arena, schema, out));
    HD_TRY(hd_avro_set(op, out, "partitionPath", text(request->partition_path)));
    HD_TRY(text_array(op, arena, request->files, request->n_files, &files));
    HD_TRY(hd_avro_set(op, out, "successDeleteFiles", files));
    HD_TRY(hd_avro_array_new(op, arena, 0, &none));
    HD_TRY(hd_avro_set(op, out, "failedDeleteFiles", none));
    HD_TRY(hd_avro_map_new(op, arena, 0, &no_logs));
    return hd_avro_set(op, out, "rollbackLogFiles", no_logs);
}

static hudi_status partitions_value(struct hd_op *op, struct hd_arena *arena,
                                    const struct hd_avro_schema *schema,
                                    const struct hd_rollback_plan *plan, struct hd_avro_value *out,
                                    int64_t *n_files)
{
    *n_files = 0;
    HD_TRY(hd_avro_map_new(op, arena, plan->n_requests, out));
    for (size_t i = 0; i < plan->n_requests; i++) {
        out->keys[i] = hd_slice_text(plan->requests[i].partition_path);
        HD_TRY(partition_value(op, arena, schema, &plan->requests[i], &out->items[i]));
        *n_files += (int64_t)plan->requests[i].n_files;
    }
    return HUDI_OK;
}

hudi_status hd_rollback_metadata_encode(struct hd_op *op, const struct hd_rollback_plan *plan,
                                        const char *rollback_time, int64_t taken_ms,
                                        struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    const struct hd_slice json = hd_slice_of(METADATA_SCHEMA, sizeof METADATA_SCHEMA - 1);
    struct hd_avro_schema *schema;
    struct hd_avro_value record, commits, partitions, instants;
    int64_t n_files;

    HD_TRY_OUT(hd_avro_schema_parse(op, &arena, json, &schema));
    HD_TRY_OUT(hd_avro_record_new(op, &arena, schema, &record));
    HD_TRY_OUT(hd_avro_set(op, &record, "startRollbackTime", text(rollback_time)));
    HD_TRY_OUT(hd_avro_set(op, &record, "timeTakenInMillis", hd_avro_long_value(taken_ms)));
    HD_TRY_OUT(text_array(op, &arena, &plan->target_time, 1, &commits));
    HD_TRY_OUT(hd_avro_set(op, &record, "commitsRollback", commits));
    HD_TRY_OUT(partitions_value(
        op, &arena, hd_avro_schema_of_items(hd_avro_schema_of_field(schema, "partitionMetadata")),
        plan, &partitions, &n_files));
    HD_TRY_OUT(hd_avro_set(op, &record, "partitionMetadata", partitions));
    HD_TRY_OUT(hd_avro_set(op, &record, "totalFilesDeleted", hd_avro_long_value(n_files)));
    HD_TRY_OUT(hd_avro_array_new(op, &arena, 1, &instants));
    HD_TRY_OUT(instant_info(
        op, &arena, hd_avro_schema_of_items(hd_avro_schema_of_field(schema, "instantsRollback")),
        plan, &instants.items[0]));
    HD_TRY_OUT(hd_avro_set(op, &record, "instantsRollback", instants));
    HD_TRY_OUT(hd_avro_write_single(op, schema, json, &record, out));
out:
    hd_arena_clear(&arena);
    return status;
}
