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

static struct hd_avro_value text(const char *value)
{
    return hd_avro_string_value(hd_slice_text(value));
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
    HD_TRY(hd_plan_texts_value(op, arena, request->files, request->n_files, &files));
    HD_TRY(hd_avro_set(op, out, "filesToBeDeleted", files));
    /* An empty map, not null, as the real writers leave it: some readers do not look for null. */
    HD_TRY(hd_plan_sizes_value(op, arena, request->log_paths, request->log_sizes, request->n_logs,
                               &logs));
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
    HD_TRY_OUT(hd_avro_write_single(op, schema, &record, out));
out:
    hd_arena_clear(&arena);
    return status;
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
    return hd_plan_find_sizes(op, arena, record, "logBlocksToBeDeleted", &out->log_paths,
                              &out->log_sizes, &out->n_logs);
}

static hudi_status read_plan(struct hd_op *op, const struct hd_avro_value *record, void *result)
{
    struct hd_rollback_plan *const out = result;
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
    return hd_plan_decode(op, bytes, read_plan, out, sizeof *out, &out->arena);
}

void hd_rollback_plan_clear(struct hd_rollback_plan *plan)
{
    hd_arena_clear(&plan->arena);
    *plan = (struct hd_rollback_plan){0};
}
