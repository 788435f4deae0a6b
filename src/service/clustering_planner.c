/* SPDX-License-Identifier: Apache-2.0 */
#include "service/clustering_planner.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/java_pattern.h"
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

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of a comma list, whether or not there are such partitions: they count as well. */
static hudi_status split_list(struct hd_op *op, struct planner *planner, const char *list,
                              const char ***out, size_t *n_out)
{
    size_t n = 1;

    for (const char *c = list; *c != '\0'; c++)
        n += *c == ',';
    HD_TRY(hd_arena_array(op, &planner->arena, n, sizeof **out, out));
    for (*n_out = 0; *n_out < n; list += strcspn(list, ",") + 1)
        HD_TRY(hd_arena_strndup(op, &planner->arena, list, strcspn(list, ","),
                                (char **)&(*out)[(*n_out)++]));
    qsort(*out, n, sizeof **out, compare_texts);
    return HUDI_OK;
}

/* Those that are listed, else those that match the pattern, else all; by name. */
static hudi_status list_partitions(struct hd_op *op, struct planner *planner, const char ***out,
                                   size_t *n_out)
{
    const char *const selected = text_of(planner, PREFIX "partition.selected");
    const char *const text = text_of(planner, PREFIX "partition.regex.pattern");
    struct hd_java_pattern pattern = {0};

    if (*selected != '\0')
        return split_list(op, planner, selected, out, n_out);
    if (*text != '\0')
        HD_TRY(hd_java_pattern_parse(op, text, &pattern));
    *n_out = 0;
    hudi_status status =
        hd_arena_array(op, &planner->arena, planner->view.n_partitions, sizeof **out, out);
    for (size_t i = 0; i < planner->view.n_partitions && status == HUDI_OK; i++)
        if (*text == '\0' || hd_java_pattern_matches(&pattern, planner->view.partitions[i]))
            (*out)[(*n_out)++] = planner->view.partitions[i];
    hd_java_pattern_clear(&pattern);
    return status;
}

/* The hour of day, in the zone of the timeline. */
static uint64_t hour_of_day(struct hd_op *op, const struct planner *planner)
{
    char now[HD_INSTANT_TIME_BYTES];

    hd_instant_time_format(hd_now_ms(op), planner->table->timeline.utc, now);
    return (uint64_t)(now[8] - '0') * 10 + (uint64_t)(now[9] - '0');
}

/* What hoodie.clustering.plan.partition.filter.mode leaves of them.
 * Source: ClusteringPlanPartitionFilter (Hudi 0.15.0) */
static hudi_status filter_partitions(struct hd_op *op, const struct planner *planner,
                                     const char **partitions, size_t *n)
{
    const char *const mode = text_of(planner, "hoodie.clustering.plan.partition.filter.mode");
    const char *const begin = text_of(planner, PREFIX "cluster.begin.partition");
    const char *const end = text_of(planner, PREFIX "cluster.end.partition");
    const uint64_t skipped = number_of(planner, PREFIX "daybased.skipfromlatest.partitions");
    const uint64_t taken = number_of(planner, PREFIX "daybased.lookback.partitions");
    const bool recent = strcasecmp(mode, "RECENT_DAYS") == 0;
    const bool between = strcasecmp(mode, "SELECTED_PARTITIONS") == 0;
    const bool rolling = strcasecmp(mode, "DAY_ROLLING") == 0;
    const uint64_t hour = hour_of_day(op, planner);
    const size_t n_all = *n;

    if (!recent && !between && !rolling && *mode != '\0' && strcasecmp(mode, "NONE") != 0)
        return hd_fail(op, HUDI_INVALID,
                       "hoodie.clustering.plan.partition.filter.mode %.50s is none of NONE, "
                       "RECENT_DAYS, SELECTED_PARTITIONS, DAY_ROLLING",
                       mode);
    *n = 0;
    for (size_t i = 0; i < n_all; i++) {
        const size_t from_newest = n_all - 1 - i;

        if ((recent && (from_newest < skipped || from_newest - skipped >= taken)) ||
            (between && (strcmp(partitions[i], begin) < 0 ||
                         (*end != '\0' && strcmp(partitions[i], end) > 0))) ||
            (rolling && i % 24 != hour))
            continue;
        partitions[(*n)++] = partitions[i];
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
    const char **partitions;
    size_t n_partitions;

    HD_TRY(hd_pending_compaction_file_ids(op, &planner->table->timeline, &planner->arena,
                                          &planner->compactions, &planner->n_compactions));
    HD_TRY(hd_pending_clustering_file_ids(op, &planner->table->timeline, &planner->arena,
                                          &planner->clusterings, &planner->n_clusterings));
    HD_TRY(
        hd_arena_array(op, &planner->arena, n, sizeof *planner->candidates, &planner->candidates));
    HD_TRY(hd_arena_array(op, &plan->arena, n, sizeof *plan->slices, &plan->slices));
    HD_TRY(list_partitions(op, planner, &partitions, &n_partitions));
    HD_TRY(filter_partitions(op, planner, partitions, &n_partitions));
    for (size_t i = 0; i < n_partitions; i++) {
        const char *const *const found =
            bsearch(&partitions[i], planner->view.partitions, planner->view.n_partitions,
                    sizeof *planner->view.partitions, compare_texts);

        if (found != NULL && (i == 0 || strcmp(partitions[i], partitions[i - 1]) != 0))
            HD_TRY(plan_partition(op, planner, (size_t)(found - planner->view.partitions)));
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
