/* SPDX-License-Identifier: Apache-2.0 */
#include "service/clustering_planner.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "format/layout/file_system_view.h"
#include "service/layout_key.h"

#define STRATEGY "org.apache.hudi.client.clustering.run.strategy.SparkSortAndSizeExecutionStrategy"
#define PREFIX "hoodie.clustering.plan.strategy."

struct candidate {
    const struct hd_file_slice *slice;
    uint64_t bytes; /* by which groups are filled */
    size_t number;
};

struct planner {
    const struct hd_table_snapshot *table;
    const struct hd_options *options;
    struct hd_arena arena;
    struct hd_file_system_view view;
    struct hd_pending_file_group *compactions, *clusterings;
    size_t n_compactions, n_clusterings;
    struct candidate *candidates; /* of the partition at hand */
    size_t n_candidates;
    uint64_t small_bytes, target_bytes, group_bytes, unwritten_bytes;
    size_t max_groups;
    bool sorts;
    struct hd_replace_plan *plan;
    uint64_t n_bytes;
};

hudi_status hd_clustering_is_due(struct hd_op *op, const struct hd_table_snapshot *table,
                                 const struct hd_options *options, bool *out)
{
    const struct hd_timeline *const timeline = &table->timeline;
    int64_t n = 0;

    (void)op;
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (!hd_instant_is_completed_write(instant))
            continue;
        n = instant->action == HD_ACTION_REPLACECOMMIT ? 0 : n + 1;
    }
    *out = n >= hd_options_int(options, &table->config.properties,
                               "hoodie.clustering.inline.max.commits");
    return HUDI_OK;
}

/* ---- options -------------------------------------------------------------------------------- */

static const char *text_of(const struct planner *planner, const char *key)
{
    const char *const text =
        hd_options_text(planner->options, &planner->table->config.properties, key);

    return text == NULL ? "" : text;
}

static uint64_t number_of(const struct planner *planner, const char *key)
{
    return (uint64_t)hd_options_int(planner->options, &planner->table->config.properties, key);
}

static hudi_status add_param(struct hd_op *op, struct hd_replace_plan *plan, const char *key,
                             const char *value)
{
    if (*value == '\0')
        return HUDI_OK;
    plan->param_keys[plan->n_params] = key;
    HD_TRY(hd_arena_strdup(op, &plan->arena, value, (char **)&plan->param_values[plan->n_params]));
    plan->n_params++;
    return HUDI_OK;
}

static hudi_status read_options(struct hd_op *op, struct planner *planner)
{
    struct hd_replace_plan *const plan = planner->plan;
    const char *const columns = text_of(planner, HD_SORT_COLUMNS_KEY);
    const char *const name = text_of(planner, HD_LAYOUT_KEY);
    enum hd_layout layout;

    if (!hd_layout_parse(name, &layout))
        return hd_fail(op, HUDI_INVALID, "%s \"%.100s\" is none of linear, z-order, hilbert",
                       HD_LAYOUT_KEY, name);
    planner->sorts = *columns != '\0';
    planner->small_bytes = number_of(planner, PREFIX "small.file.limit");
    planner->target_bytes = number_of(planner, PREFIX "target.file.max.bytes");
    planner->group_bytes = number_of(planner, PREFIX "max.bytes.per.group");
    planner->max_groups = number_of(planner, PREFIX "max.num.groups");
    planner->unwritten_bytes = number_of(planner, "hoodie.parquet.max.file.size");
    plan->operation_type = "CLUSTER";
    plan->is_clustering = true;
    plan->strategy_class = STRATEGY;
    HD_TRY(hd_arena_array(op, &plan->arena, 2, sizeof *plan->param_keys, &plan->param_keys));
    HD_TRY(hd_arena_array(op, &plan->arena, 2, sizeof *plan->param_values, &plan->param_values));
    HD_TRY(add_param(op, plan, HD_SORT_COLUMNS_KEY, columns));
    return layout == HD_LAYOUT_LINEAR ? HUDI_OK : add_param(op, plan, HD_LAYOUT_KEY, name);
}

/* ---- partitions ----------------------------------------------------------------------------- */

static bool is_listed(const char *list, const char *partition)
{
    const size_t length = strlen(partition);

    for (; *list != '\0'; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && strncmp(list, partition, length) == 0)
            return true;
    return false;
}

/* By hoodie.clustering.plan.partition.filter.mode. Partitions are sorted by name. */
static hudi_status is_wanted(struct hd_op *op, const struct planner *planner, size_t i, bool *out)
{
    const char *const mode = text_of(planner, "hoodie.clustering.plan.partition.filter.mode");
    const char *const path = planner->view.partitions[i];
    const char *const selected = text_of(planner, PREFIX "partition.selected");
    const size_t from_newest = planner->view.n_partitions - 1 - i;

    *out = *selected == '\0' || is_listed(selected, path);
    if (strcasecmp(mode, "RECENT_DAYS") == 0) {
        const uint64_t skipped = number_of(planner, PREFIX "daybased.skipfromlatest.partitions");
        const uint64_t taken = number_of(planner, PREFIX "daybased.lookback.partitions");

        *out = *out && from_newest >= skipped && from_newest - skipped < taken;
    } else if (strcasecmp(mode, "SELECTED_PARTITIONS") == 0) {
        const char *const begin = text_of(planner, PREFIX "cluster.begin.partition");
        const char *const end = text_of(planner, PREFIX "cluster.end.partition");

        *out = *out && strcmp(path, begin) >= 0 && (*end == '\0' || strcmp(path, end) <= 0);
    } else if (*mode != '\0' && strcasecmp(mode, "NONE") != 0) {
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "hoodie.clustering.plan.partition.filter.mode %.50s is not supported", mode);
    }
    return HUDI_OK;
}

/* ---- slices --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct candidate *const x = a, *const y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static void find_candidates(struct planner *planner, size_t partition)
{
    const size_t first = planner->view.first_group[partition];

    planner->n_candidates = 0;
    for (size_t g = first; g < planner->view.first_group[partition + 1]; g++) {
        const struct hd_file_slice *const slice =
            hd_file_group_slice_as_of(&planner->view.groups[g], NULL);

        if (slice == NULL || slice->compaction_instant != NULL ||
            (slice->base != NULL && slice->base->size_bytes >= planner->small_bytes) ||
            hd_pending_file_group_find(planner->compactions, planner->n_compactions,
                                       slice->partition_path, slice->file_id) != NULL ||
            hd_pending_file_group_find(planner->clusterings, planner->n_clusterings,
                                       slice->partition_path, slice->file_id) != NULL)
            continue;
        planner->candidates[planner->n_candidates++] = (struct candidate){
            .slice = slice,
            .bytes = slice->base != NULL ? slice->base->size_bytes : planner->unwritten_bytes,
            .number = g};
    }
    if (planner->n_candidates > 0)
        qsort(planner->candidates, planner->n_candidates, sizeof *planner->candidates, compare);
}

static hudi_status keep(struct hd_op *op, struct hd_replace_plan *plan, const char *text,
                        const char **out)
{
    return hd_arena_strdup(op, &plan->arena, text, (char **)out);
}

static hudi_status add_slice(struct hd_op *op, struct planner *planner,
                             const struct hd_file_slice *slice, int64_t n_output_files)
{
    struct hd_replace_plan *const plan = planner->plan;
    struct hd_clustering_slice *const out = &plan->slices[plan->n_slices++];

    out->group = plan->n_groups;
    out->n_output_files = n_output_files;
    HD_TRY(keep(op, plan, slice->partition_path, &out->partition_path));
    HD_TRY(keep(op, plan, slice->file_id, &out->file_id));
    if (slice->base != NULL) {
        HD_TRY(keep(op, plan, slice->base->name, &out->data_file));
        out->base_bytes = slice->base->size_bytes;
    }
    HD_TRY(hd_arena_array(op, &plan->arena, slice->n_logs, sizeof *out->delta_files,
                          &out->delta_files));
    for (; out->n_delta_files < slice->n_logs; out->n_delta_files++) {
        HD_TRY(keep(op, plan, slice->logs[out->n_delta_files].name,
                    &out->delta_files[out->n_delta_files]));
        out->log_bytes += slice->logs[out->n_delta_files].size_bytes;
    }
    planner->n_bytes += out->base_bytes + out->log_bytes;
    return HUDI_OK;
}

/* Candidates [first, end) as one input group. */
static hudi_status add_group(struct hd_op *op, struct planner *planner, size_t first, size_t end,
                             uint64_t n_bytes)
{
    const uint64_t n_files = (n_bytes + planner->target_bytes - 1) / planner->target_bytes;

    if (end == first || planner->plan->n_groups == planner->max_groups ||
        (end - first == 1 && !planner->sorts && planner->candidates[first].slice->n_logs == 0))
        return HUDI_OK;
    for (size_t i = first; i < end; i++)
        HD_TRY(add_slice(op, planner, planner->candidates[i].slice,
                         n_files == 0 ? 1 : (int64_t)n_files));
    planner->plan->n_groups++;
    return HUDI_OK;
}

static hudi_status plan_partition(struct hd_op *op, struct planner *planner, size_t partition)
{
    uint64_t n_bytes = 0;
    size_t first = 0;

    find_candidates(planner, partition);
    for (size_t i = 0; i < planner->n_candidates; i++) {
        const uint64_t bytes = planner->candidates[i].bytes;

        if (i > first && bytes > planner->group_bytes - n_bytes) {
            HD_TRY(add_group(op, planner, first, i, n_bytes));
            first = i;
            n_bytes = 0;
        }
        n_bytes = bytes > planner->group_bytes - n_bytes ? planner->group_bytes : n_bytes + bytes;
    }
    return add_group(op, planner, first, planner->n_candidates, n_bytes);
}

static hudi_status make_plan(struct hd_op *op, struct planner *planner)
{
    struct hd_replace_plan *const plan = planner->plan;
    const size_t n = planner->view.n_groups;

    HD_TRY(hd_pending_compaction_file_ids(op, &planner->table->timeline, &planner->arena,
                                          &planner->compactions, &planner->n_compactions));
    HD_TRY(hd_pending_clustering_file_ids(op, &planner->table->timeline, &planner->arena,
                                          &planner->clusterings, &planner->n_clusterings));
    HD_TRY(
        hd_arena_array(op, &planner->arena, n, sizeof *planner->candidates, &planner->candidates));
    HD_TRY(hd_arena_array(op, &plan->arena, n, sizeof *plan->slices, &plan->slices));
    for (size_t i = 0; i < planner->view.n_partitions; i++) {
        bool wanted;

        HD_TRY(is_wanted(op, planner, i, &wanted));
        if (wanted)
            HD_TRY(plan_partition(op, planner, i));
    }
    return HUDI_OK;
}

hudi_status hd_clustering_plan_make(struct hd_op *op, hd_pool *pool,
                                    const struct hd_table_snapshot *table,
                                    const struct hd_options *options, struct hd_replace_plan *out,
                                    uint64_t *n_bytes)
{
    hudi_status status = HUDI_OK;
    struct planner planner = {.table = table, .options = options, .plan = out};

    *out = (struct hd_replace_plan){0};
    *n_bytes = 0;
    HD_TRY_OUT(read_options(op, &planner));
    HD_TRY_OUT(hd_file_system_view_load(op, pool, table->fs, table->path, &table->config,
                                        &table->timeline, NULL, 0, &planner.view));
    HD_TRY_OUT(make_plan(op, &planner));
    *n_bytes = planner.n_bytes;
out:
    hd_file_system_view_clear(&planner.view);
    hd_arena_clear(&planner.arena);
    if (status != HUDI_OK)
        hd_replace_plan_clear(out);
    return status;
}
