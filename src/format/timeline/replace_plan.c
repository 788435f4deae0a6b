/* SPDX-License-Identifier: Apache-2.0 */

#include "format/timeline/replace_plan.h"

#include <stdlib.h>
#include <string.h>

#include "format/timeline/compaction_plan.h"
#include "format/timeline/plan_fields.h"

#define CLUSTER "CLUSTER"

/* The parts of the plan as the releases have them, since a reader looks up branches by full name.
 */
#define RECORD(name, fields)                                                                       \
    "{\"type\":\"record\",\"name\":\"" name "\",\"namespace\":\"org.apache.hudi.avro.model\","     \
    "\"fields\":[" fields "]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":[\"null\"," type "],\"default\":null}"
#define VERSION "{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}"
#define STRING "\"string\""
#define ARRAY(items) "{\"type\":\"array\",\"items\":" items "}"
#define MAP(values) "{\"type\":\"map\",\"values\":" values "}"

#define SLICE_INFO                                                                                 \
    RECORD("HoodieSliceInfo",                                                                      \
           FIELD("dataFilePath", STRING) "," FIELD("deltaFilePaths", ARRAY(STRING)) "," FIELD(     \
               "fileId", STRING) "," FIELD("partitionPath", STRING) "," FIELD("bootstrapFilePath", \
                                                                              STRING) "," VERSION)
#define GROUP                                                                                      \
    RECORD("HoodieClusteringGroup",                                                                \
           FIELD("slices", ARRAY(SLICE_INFO)) "," FIELD(                                           \
               "metrics", MAP("\"double\"")) ",{\"name\":\"numOutputFileGroups\",\"type\":"        \
                                             "[\"int\",\"null\"],\"default\":1}"                   \
                                             "," FIELD("extraMetadata", MAP(STRING)) "," VERSION)
#define STRATEGY                                                                                   \
    RECORD("HoodieClusteringStrategy", FIELD("strategyClassName", STRING) "," FIELD(               \
                                           "strategyParams", MAP(STRING)) "," VERSION)
#define PLAN                                                                                       \
    RECORD("HoodieClusteringPlan",                                                                 \
           FIELD("inputGroups", ARRAY(GROUP)) "," FIELD("strategy", STRATEGY) "," FIELD(           \
               "extraMetadata", MAP(STRING)) "," VERSION                                           \
                                             "," FIELD("preserveHoodieMetadata", "\"boolean\""))

static const char SCHEMA[] =
    RECORD("HoodieRequestedReplaceMetadata",
           FIELD("operationType", STRING) "," FIELD("clusteringPlan", PLAN) "," FIELD(
               "extraMetadata", MAP(STRING)) "," VERSION);

struct hd_slice hd_replace_plan_schema(void)
{
    return hd_slice_of(SCHEMA, sizeof SCHEMA - 1);
}

hudi_status hd_replace_plan_encode_empty(struct hd_op *op, struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    const struct hd_slice json = hd_slice_of(SCHEMA, sizeof SCHEMA - 1);
    struct hd_avro_schema *schema;
    struct hd_avro_value record;

    HD_TRY_OUT(hd_avro_schema_parse(op, &arena, json, &schema));
    HD_TRY_OUT(hd_avro_record_new(op, &arena, schema, &record));
    HD_TRY_OUT(hd_avro_set(op, &record, "version", hd_avro_null_value()));
    HD_TRY_OUT(hd_avro_write_single(op, schema, &record, out));
out:
    hd_arena_clear(&arena);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static hudi_status read_slice(struct hd_op *op, struct hd_arena *arena,
                              const struct hd_avro_value *record, struct hd_clustering_slice *out)
{
    HD_TRY(hd_plan_find_text(op, arena, record, "partitionPath", &out->partition_path));
    HD_TRY(hd_plan_find_text(op, arena, record, "fileId", &out->file_id));
    HD_TRY(hd_plan_find_text(op, arena, record, "dataFilePath", &out->data_file));
    HD_TRY(hd_plan_find_texts(op, arena, record, "deltaFilePaths", &out->delta_files,
                              &out->n_delta_files));
    if (out->file_id == NULL)
        return hd_fail(op, HUDI_CORRUPT, "a clustering plan names no file group");
    if (out->partition_path == NULL)
        out->partition_path = "";
    out->data_file = hd_plan_file_name(out->data_file);
    if (out->data_file != NULL && out->data_file[0] == '\0') /* no base file */
        out->data_file = NULL;
    for (size_t i = 0; i < out->n_delta_files; i++)
        out->delta_files[i] = hd_plan_file_name(out->delta_files[i]);
    return HUDI_OK;
}

static hudi_status read_group(struct hd_op *op, const struct hd_avro_value *group, size_t number,
                              struct hd_replace_plan *out)
{
    const struct hd_avro_value *slices;
    int64_t n_output_files;

    HD_TRY(hd_avro_find_long(op, group, "numOutputFileGroups", 1, &n_output_files));
    HD_TRY(hd_avro_find_container(op, group, "slices", HD_AVRO_ARRAY, &slices));
    for (size_t i = 0; slices != NULL && i < slices->n_items; i++) {
        struct hd_clustering_slice *const slice = &out->slices[out->n_slices];

        HD_TRY(read_slice(op, &out->arena, &slices->items[i], slice));
        slice->group = number;
        slice->n_output_files = n_output_files;
        out->n_slices++;
    }
    return HUDI_OK;
}

static hudi_status read_groups(struct hd_op *op, const struct hd_avro_value *plan,
                               struct hd_replace_plan *out)
{
    const struct hd_avro_value *groups, *slices;
    size_t n_slices = 0;

    HD_TRY(hd_avro_find_container(op, plan, "inputGroups", HD_AVRO_ARRAY, &groups));
    if (groups == NULL)
        return HUDI_OK;
    out->n_groups = groups->n_items;
    for (size_t i = 0; i < out->n_groups; i++) {
        HD_TRY(hd_avro_find_container(op, &groups->items[i], "slices", HD_AVRO_ARRAY, &slices));
        n_slices += slices == NULL ? 0 : slices->n_items;
    }
    HD_TRY(hd_arena_array(op, &out->arena, n_slices, sizeof *out->slices, &out->slices));
    for (size_t i = 0; i < out->n_groups; i++)
        HD_TRY(read_group(op, &groups->items[i], i, out));
    return HUDI_OK;
}

static hudi_status read_strategy(struct hd_op *op, const struct hd_avro_value *plan,
                                 struct hd_replace_plan *out)
{
    const struct hd_avro_value *strategy, *params;

    HD_TRY(hd_avro_find_container(op, plan, "strategy", HD_AVRO_RECORD, &strategy));
    HD_TRY(hd_plan_find_text(op, &out->arena, strategy, "strategyClassName", &out->strategy_class));
    HD_TRY(hd_avro_find_container(op, strategy, "strategyParams", HD_AVRO_MAP, &params));
    const size_t n = params == NULL ? 0 : params->n_items;
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->param_keys, &out->param_keys));
    HD_TRY(hd_arena_array(op, &out->arena, n, sizeof *out->param_values, &out->param_values));
    for (; out->n_params < n; out->n_params++) {
        HD_TRY(hd_plan_key(op, &out->arena, params->keys[out->n_params], "strategyParams",
                           &out->param_keys[out->n_params]));
        HD_TRY(hd_plan_text(op, &out->arena, &params->items[out->n_params], "strategyParams",
                            &out->param_values[out->n_params]));
    }
    return HUDI_OK;
}

static hudi_status read_record(struct hd_op *op, const struct hd_avro_value *record, void *result)
{
    struct hd_replace_plan *const out = result;
    const struct hd_avro_value *plan;

    HD_TRY(hd_plan_find_text(op, &out->arena, record, "operationType", &out->operation_type));
    HD_TRY(hd_avro_find_container(op, record, "clusteringPlan", HD_AVRO_RECORD, &plan));
    if (out->operation_type == NULL || strcmp(out->operation_type, CLUSTER) != 0)
        return HUDI_OK;
    if (plan == NULL)
        return hd_fail(op, HUDI_CORRUPT, "a requested clustering has no plan");
    out->is_clustering = true;
    HD_TRY(read_groups(op, plan, out));
    return read_strategy(op, plan, out);
}

hudi_status hd_replace_plan_parse(struct hd_op *op, struct hd_slice bytes,
                                  struct hd_replace_plan *out)
{
    if (bytes.size == 0) {
        *out = (struct hd_replace_plan){0};
        return HUDI_OK;
    }
    return hd_plan_decode(op, bytes, read_record, out, sizeof *out, &out->arena);
}

hudi_status hd_replace_plan_read(struct hd_op *op, const struct hd_timeline *timeline,
                                 const struct hd_instant *instant, struct hd_replace_plan *out)
{
    uint8_t *bytes;
    size_t n;

    *out = (struct hd_replace_plan){0};
    if (!instant->has_requested) /* tolerated: readers do not need it */
        return HUDI_OK;
    HD_TRY(hd_timeline_read(op, timeline, instant, HD_REQUESTED, &bytes, &n));
    hudi_status status = hd_replace_plan_parse(op, hd_slice_of(bytes, n), out);
    hd_free(op, bytes);
    return status == HUDI_OK ? HUDI_OK
                             : hd_timeline_fail_path(op, status, timeline, instant, HD_REQUESTED);
}

void hd_replace_plan_clear(struct hd_replace_plan *plan)
{
    hd_arena_clear(&plan->arena);
    *plan = (struct hd_replace_plan){0};
}

/* ---- pending services --------------------------------------------------------------------- */

struct group_list {
    struct hd_arena *arena;
    struct hd_pending_file_group *groups; /* heap */
    size_t n;
    size_t capacity;
};

static hudi_status add_group(struct hd_op *op, struct group_list *list, const char *partition_path,
                             const char *file_id, const char *instant)
{
    char *partition_copy, *id_copy;

    HD_TRY(hd_grow(op, &list->groups, &list->capacity, list->n + 1, sizeof *list->groups));
    HD_TRY(hd_arena_strdup(op, list->arena, partition_path, &partition_copy));
    HD_TRY(hd_arena_strdup(op, list->arena, file_id, &id_copy));
    list->groups[list->n++] = (struct hd_pending_file_group){partition_copy, id_copy, instant};
    return HUDI_OK;
}

static hudi_status add_clustering(struct hd_op *op, const struct hd_timeline *timeline,
                                  const struct hd_instant *instant, struct group_list *list)
{
    hudi_status status = HUDI_OK;
    struct hd_replace_plan plan;
    char *time;

    HD_TRY(hd_replace_plan_read(op, timeline, instant, &plan));
    HD_TRY_OUT(hd_arena_strdup(op, list->arena, instant->time, &time));
    for (size_t i = 0; i < plan.n_slices; i++)
        HD_TRY_OUT(
            add_group(op, list, plan.slices[i].partition_path, plan.slices[i].file_id, time));
out:
    hd_replace_plan_clear(&plan);
    return status;
}

static hudi_status add_compaction(struct hd_op *op, const struct hd_timeline *timeline,
                                  const struct hd_instant *instant, struct group_list *list)
{
    hudi_status status = HUDI_OK;
    struct hd_compaction_plan plan;
    char *time;

    HD_TRY(hd_compaction_plan_read(op, timeline, instant, &plan));
    HD_TRY_OUT(hd_arena_strdup(op, list->arena, instant->time, &time));
    for (size_t i = 0; i < plan.n_operations; i++)
        HD_TRY_OUT(add_group(op, list, plan.operations[i].partition_path,
                             plan.operations[i].file_id, time));
out:
    hd_compaction_plan_clear(&plan);
    return status;
}

static int compare_key(const struct hd_pending_file_group *group, const char *partition_path,
                       const char *file_id)
{
    const int order = strcmp(group->partition_path, partition_path);

    return order != 0 ? order : strcmp(group->file_id, file_id);
}

static int compare_groups(const void *a, const void *b)
{
    const struct hd_pending_file_group *const x = a, *const y = b;
    const int order = compare_key(x, y->partition_path, y->file_id);

    return order != 0 ? order : strcmp(x->instant, y->instant);
}

/* Read the plans of the pending instants of these actions. */
static hudi_status
collect_groups(struct hd_op *op, const struct hd_timeline *timeline, struct hd_arena *arena,
               const enum hd_action *actions, size_t n_actions,
               hudi_status (*add)(struct hd_op *op, const struct hd_timeline *timeline,
                                  const struct hd_instant *instant, struct group_list *list),
               struct hd_pending_file_group **out, size_t *n)
{
    hudi_status status = HUDI_OK;
    struct group_list list = {.arena = arena};

    *out = NULL;
    *n = 0;
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        for (size_t j = 0; instant->state != HD_COMPLETED && j < n_actions; j++) {
            if (instant->pending_action == actions[j])
                HD_TRY_OUT(add(op, timeline, instant, &list));
        }
    }
    HD_TRY_OUT(hd_arena_array(op, arena, list.n, sizeof **out, out));
    if (list.n > 0) {
        qsort(list.groups, list.n, sizeof *list.groups, compare_groups);
        memcpy(*out, list.groups, list.n * sizeof *list.groups);
    }
    *n = list.n;
out:
    hd_free(op, list.groups);
    return status;
}

hudi_status hd_pending_clustering_file_ids(struct hd_op *op, const struct hd_timeline *timeline,
                                           struct hd_arena *arena,
                                           struct hd_pending_file_group **out, size_t *n)
{
    static const enum hd_action ACTIONS[] = {HD_ACTION_REPLACECOMMIT, HD_ACTION_CLUSTERING};

    return collect_groups(op, timeline, arena, ACTIONS, HD_ARRAY_LENGTH(ACTIONS), add_clustering,
                          out, n);
}

hudi_status hd_pending_compaction_file_ids(struct hd_op *op, const struct hd_timeline *timeline,
                                           struct hd_arena *arena,
                                           struct hd_pending_file_group **out, size_t *n)
{
    static const enum hd_action ACTIONS[] = {HD_ACTION_COMPACTION, HD_ACTION_LOGCOMPACTION};

    return collect_groups(op, timeline, arena, ACTIONS, HD_ARRAY_LENGTH(ACTIONS), add_compaction,
                          out, n);
}

const struct hd_pending_file_group *
hd_pending_file_group_find(const struct hd_pending_file_group *groups, size_t n,
                           const char *partition_path, const char *file_id)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare_key(&groups[middle], partition_path, file_id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && compare_key(&groups[low], partition_path, file_id) == 0 ? &groups[low] : NULL;
}
