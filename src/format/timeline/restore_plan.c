/* SPDX-License-Identifier: Apache-2.0 */
#include "format/timeline/restore_plan.h"

#include "codec/avro_value.h"
#include "format/timeline/plan_fields.h"
#include "format/timeline/record_schemas.h"

#define PLAN_VERSION 2
#define METADATA_VERSION 1

static struct hd_avro_value text(const char *value)
{
    return hd_avro_string_value(hd_slice_text(value));
}

static hudi_status steps_value(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_avro_schema *schema,
                               const struct hd_restore_plan *plan, struct hd_avro_value *out)
{
    HD_TRY(hd_avro_array_new(op, arena, plan->n_steps, out));
    for (size_t i = 0; i < plan->n_steps; i++) {
        HD_TRY(hd_avro_record_new(op, arena, schema, &out->items[i]));
        HD_TRY(hd_avro_set(op, &out->items[i], "commitTime", text(plan->steps[i].time)));
        HD_TRY(hd_avro_set(op, &out->items[i], "action", text(plan->steps[i].action)));
    }
    return HUDI_OK;
}

/* A record's schema, parsed, and an empty record of it. */
static hudi_status begin_record(struct hd_op *op, struct hd_arena *arena, const char *name,
                                struct hd_str *json, struct hd_avro_schema **schema,
                                struct hd_avro_value *record)
{
    HD_TRY(hd_record_schema(op, name, json));
    HD_TRY(hd_avro_schema_parse(op, arena, hd_str_slice(json), schema));
    return hd_avro_record_new(op, arena, *schema, record);
}

hudi_status hd_restore_plan_encode(struct hd_op *op, const struct hd_restore_plan *plan,
                                   struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_str json = {0};
    struct hd_avro_schema *schema;
    struct hd_avro_value record, steps;

    HD_TRY_OUT(begin_record(op, &arena, "HoodieRestorePlan", &json, &schema, &record));
    HD_TRY_OUT(steps_value(
        op, &arena, hd_avro_schema_of_items(hd_avro_schema_of_field(schema, "instantsToRollback")),
        plan, &steps));
    HD_TRY_OUT(hd_avro_set(op, &record, "instantsToRollback", steps));
    HD_TRY_OUT(hd_avro_set(op, &record, "version", hd_avro_long_value(PLAN_VERSION)));
    if (plan->target != NULL)
        HD_TRY_OUT(hd_avro_set(op, &record, "savepointToRestoreTimestamp", text(plan->target)));
    HD_TRY_OUT(hd_avro_write_single(op, schema, &record, out));
out:
    hd_str_clear(&json);
    hd_arena_clear(&arena);
    return status;
}

static hudi_status read_plan(struct hd_op *op, const struct hd_avro_value *record, void *result)
{
    struct hd_restore_plan *const out = result;
    const struct hd_avro_value *steps;

    HD_TRY(hd_plan_find_text(op, &out->arena, record, "savepointToRestoreTimestamp", &out->target));
    HD_TRY(hd_avro_find_container(op, record, "instantsToRollback", HD_AVRO_ARRAY, &steps));
    const size_t n = steps == NULL ? 0 : steps->n_items;
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->steps, &out->steps));
    for (; out->n_steps < n; out->n_steps++) {
        struct hd_restore_step *const step = &out->steps[out->n_steps];

        HD_TRY(hd_plan_find_text(op, &out->arena, &steps->items[out->n_steps], "commitTime",
                                 &step->time));
        HD_TRY(hd_plan_find_text(op, &out->arena, &steps->items[out->n_steps], "action",
                                 &step->action));
        if (step->time == NULL || step->action == NULL)
            return hd_fail(op, HUDI_CORRUPT, "a restore plan has an instant without time");
    }
    return HUDI_OK;
}

hudi_status hd_restore_plan_decode(struct hd_op *op, struct hd_slice bytes,
                                   struct hd_restore_plan *out)
{
    return hd_plan_decode(op, bytes, read_plan, out, sizeof *out, &out->arena);
}

void hd_restore_plan_clear(struct hd_restore_plan *plan)
{
    hd_arena_clear(&plan->arena);
    *plan = (struct hd_restore_plan){0};
}

/* Each instant's list of one rollback's metadata. */
static hudi_status rollbacks_value(struct hd_op *op, struct hd_arena *arena,
                                   const struct hd_restore_plan *plan,
                                   const struct hd_slice *rollbacks, struct hd_avro_value *out)
{
    HD_TRY(hd_avro_map_new(op, arena, plan->n_steps, out));
    for (size_t i = 0; i < plan->n_steps; i++) {
        const size_t n = rollbacks[i].size > 0;

        out->keys[i] = hd_slice_text(plan->steps[i].time);
        HD_TRY(hd_avro_array_new(op, arena, n, &out->items[i]));
        if (n > 0)
            HD_TRY(hd_avro_read_single(op, arena, rollbacks[i], &out->items[i].items[0]));
    }
    return HUDI_OK;
}

hudi_status hd_restore_metadata_encode(struct hd_op *op, const struct hd_restore_plan *plan,
                                       const struct hd_slice *rollbacks, const char *restore_time,
                                       int64_t taken_ms, struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_str json = {0};
    struct hd_avro_schema *schema;
    struct hd_avro_value record, value;

    HD_TRY_OUT(begin_record(op, &arena, "HoodieRestoreMetadata", &json, &schema, &record));
    HD_TRY_OUT(hd_avro_set(op, &record, "startRestoreTime", text(restore_time)));
    HD_TRY_OUT(hd_avro_set(op, &record, "timeTakenInMillis", hd_avro_long_value(taken_ms)));
    HD_TRY_OUT(hd_avro_array_new(op, &arena, plan->n_steps, &value));
    for (size_t i = 0; i < plan->n_steps; i++)
        value.items[i] = text(plan->steps[i].time);
    HD_TRY_OUT(hd_avro_set(op, &record, "instantsToRollback", value));
    HD_TRY_OUT(rollbacks_value(op, &arena, plan, rollbacks, &value));
    HD_TRY_OUT(hd_avro_set(op, &record, "hoodieRestoreMetadata", value));
    HD_TRY_OUT(hd_avro_set(op, &record, "version", hd_avro_long_value(METADATA_VERSION)));
    HD_TRY_OUT(steps_value(
        op, &arena, hd_avro_schema_of_items(hd_avro_schema_of_field(schema, "restoreInstantInfo")),
        plan, &value));
    HD_TRY_OUT(hd_avro_set(op, &record, "restoreInstantInfo", value));
    HD_TRY_OUT(hd_avro_write_single(op, schema, &record, out));
out:
    hd_str_clear(&json);
    hd_arena_clear(&arena);
    return status;
}
