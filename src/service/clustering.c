/* SPDX-License-Identifier: Apache-2.0 */
#include "service/clustering.h"

#include <stdio.h>
#include <string.h>

#include "arrow/schema.h"
#include "engine/commit/writable.h"
#include "format/timeline/transition.h"
#include "service/cluster_group.h"
#include "service/clustering_planner.h"
#include "service/rewrite_service.h"

static bool is_for(const struct hd_table_config *config)
{
    (void)config;
    return true;
}

static hudi_status check(struct hd_op *op, const struct hd_table_snapshot *table,
                         const struct hd_options *options)
{
    (void)options;
    return hd_check_writable(op, table);
}

/* ---- plans ---------------------------------------------------------------------------------- */

static hudi_status is_due(struct hd_op *op, const struct hd_table_snapshot *table,
                          const struct hd_options *options, bool by_hand, bool *out)
{
    *out = by_hand;
    return by_hand ? HUDI_OK : hd_clustering_is_due(op, table, options, out);
}

static hudi_status list_slices(struct hd_op *op, struct hd_rewrite_outcome *outcome)
{
    const struct hd_replace_plan *const plan = &outcome->plan.replace;

    HD_TRY(hd_alloc_array(op, plan->n_slices, sizeof *outcome->slices, &outcome->slices));
    for (size_t i = 0; i < plan->n_slices; i++) {
        const struct hd_clustering_slice *const slice = &plan->slices[i];

        outcome->slices[i] = (struct hd_planned_slice){.partition_path = slice->partition_path,
                                                       .file_id = slice->file_id,
                                                       .data_file = slice->data_file,
                                                       .delta_files = slice->delta_files,
                                                       .n_delta_files = slice->n_delta_files,
                                                       .group = slice->group};
    }
    outcome->n_slices = plan->n_slices;
    return HUDI_OK;
}

static hudi_status plan_make(struct hd_op *op, hd_pool *pool, const struct hd_table_snapshot *table,
                             const struct hd_options *options, struct hd_rewrite_outcome *outcome)
{
    HD_TRY(hd_clustering_plan_make(op, pool, table, options, &outcome->plan.replace,
                                   &outcome->n_bytes));
    return list_slices(op, outcome);
}

static hudi_status plan_read(struct hd_op *op, const struct hd_timeline *timeline,
                             const struct hd_instant *instant, struct hd_rewrite_outcome *outcome)
{
    HD_TRY(hd_replace_plan_read(op, timeline, instant, &outcome->plan.replace));
    return list_slices(op, outcome);
}

static void plan_clear(struct hd_rewrite_outcome *outcome)
{
    hd_replace_plan_clear(&outcome->plan.replace);
}

static hudi_status request(struct hd_op *op, const struct hd_table_snapshot *table,
                           const struct hd_rewrite_outcome *outcome)
{
    struct hd_str bytes = {0};
    hudi_status status = HUDI_OK;
    char *uri = NULL;

    HD_TRY_OUT(hd_fs_uri(op, table->fs, table->path, &uri));
    HD_TRY_OUT(hd_replace_plan_encode(op, &outcome->plan.replace, uri, &bytes));
    status = hd_transition_request(op, &table->timeline, outcome->time, HD_ACTION_REPLACECOMMIT,
                                   bytes.data, bytes.size);
out:
    hd_free(op, uri);
    hd_str_clear(&bytes);
    return status;
}

/* Below version 8 a clustering is a replacecommit with a plan. */
static hudi_status is_plan(struct hd_op *op, const struct hd_timeline *timeline,
                           const struct hd_instant *instant, bool *out)
{
    struct hd_replace_plan plan;

    *out = false;
    if (!instant->has_requested)
        return HUDI_OK;
    HD_TRY(hd_replace_plan_read(op, timeline, instant, &plan));
    *out = plan.is_clustering;
    hd_replace_plan_clear(&plan);
    return HUDI_OK;
}

/* ---- how ------------------------------------------------------------------------------------ */

static const char *param(const struct hd_rewrite_run *run, const char *key)
{
    const struct hd_replace_plan *const plan = &run->outcome->plan.replace;

    for (size_t i = 0; i < plan->n_params; i++)
        if (strcmp(plan->param_keys[i], key) == 0)
            return plan->param_values[i];
    return "";
}

static hudi_status add_sort_column(struct hd_op *op, struct hd_rewrite_run *run, const char *name,
                                   size_t size, int32_t *out)
{
    const struct ArrowSchema *const file = &run->job.schema.file;
    struct hd_type type;
    char *column;

    HD_TRY(hd_arena_strndup(op, &run->job.arena, name, size, &column));
    *out = hd_schema_find(file, column);
    if (*out < 0)
        return hd_fail(op, HUDI_INVALID, "sort column \"%.100s\" is no column of the table",
                       column);
    HD_TRY(hd_type_of(op, file->children[*out], &type));
    return hd_layout_type_ok(&type)
               ? HUDI_OK
               : hd_fail(op, HUDI_INVALID, "sort column \"%.100s\" has no order", column);
}

/* As the plan says; the curve may also be an option, since Hudi's plans do not name it. */
static hudi_status read_layout(struct hd_op *op, struct hd_rewrite_run *run,
                               struct hd_cluster_job *job)
{
    const char *columns = param(run, HD_SORT_COLUMNS_KEY), *name = param(run, HD_LAYOUT_KEY);
    const struct ArrowSchema *const file = &run->job.schema.file;
    int32_t *numbers;
    size_t n = 1;

    if (*name == '\0')
        name = hd_options_text(run->options, &run->table->config.properties, HD_LAYOUT_KEY);
    if (!hd_layout_parse(name, &job->layout))
        return hd_fail(op, HUDI_INVALID, "%s \"%.100s\" is none of linear, z-order, hilbert",
                       HD_LAYOUT_KEY, name);
    for (const char *c = columns; *c != '\0'; c++)
        n += *c == ',';
    HD_TRY(hd_arena_array(op, &run->job.arena, n, sizeof *numbers, &numbers));
    for (columns += strspn(columns, ", "); *columns != '\0'; columns += strspn(columns, ", ")) {
        const size_t size = strcspn(columns, ", ");

        HD_TRY(add_sort_column(op, run, columns, size, &numbers[job->n_sort_columns++]));
        columns += size;
    }
    HD_TRY(hd_rewrite_job_narrow(op, &run->job, numbers, job->n_sort_columns));
    for (size_t i = 0; i < job->n_sort_columns; i++)
        numbers[i] = hd_schema_find(&run->job.rows, file->children[numbers[i]]->name);
    job->sort_columns = numbers;
    if (job->layout != HD_LAYOUT_LINEAR && job->n_sort_columns > HD_LAYOUT_MAX_COLUMNS)
        return hd_fail(op, HUDI_INVALID, "%zu sort columns, of which a curve takes %d",
                       job->n_sort_columns, HD_LAYOUT_MAX_COLUMNS);
    return HUDI_OK;
}

static hudi_status prepare(struct hd_op *op, struct hd_rewrite_run *run)
{
    const size_t n_workers = run->pool == NULL ? 1 : hd_pool_threads(run->pool);
    struct hd_cluster_job *job;
    char target[32];

    snprintf(target, sizeof target, "%lld",
             (long long)hd_options_int(run->options, &run->table->config.properties,
                                       "hoodie.clustering.plan.strategy.target.file.max.bytes"));
    HD_TRY(hd_options_set(op, &run->job.config.options, "hoodie.parquet.max.file.size", target));
    HD_TRY(hd_arena_alloc(op, &run->job.arena, sizeof *job, &job));
    *job = (struct hd_cluster_job){.config = &run->job.config,
                                   .schema = &run->job.schema,
                                   .query = &run->job.query,
                                   .rows = &run->job.rows,
                                   .sort_bytes = op->budget->limit_bytes / 4 / n_workers};
    run->own = job;
    return read_layout(op, run, job);
}

/* ---- running -------------------------------------------------------------------------------- */

static hudi_status check_slice(struct hd_op *op, const struct hd_rewrite_run *run,
                               const struct hd_rewrite_work *work, size_t i)
{
    const struct hd_planned_slice *const slice = &work->slices[i];
    const struct hd_file_group *const group =
        hd_file_system_view_find(&run->view, slice->partition_path, slice->file_id);

    if (strcmp(slice->partition_path, work->slices[0].partition_path) != 0)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "clustering %s: an input group of several partitions", run->outcome->time);
    /* Nothing may have been written to the group since: it would not show any more. */
    if (group->replaced_by != NULL ||
        strcmp(group->slices[0].base_instant, work->sources[i].instant) != 0)
        return hd_fail(op, HUDI_CONFLICT,
                       "clustering %s: file group %s was written to after the plan",
                       run->outcome->time, slice->file_id);
    return HUDI_OK;
}

static hudi_status rewrite(struct hd_op *op, const struct hd_rewrite_run *run,
                           struct hd_rewrite_work *work)
{
    return hd_cluster_group(op, run->own, work->sources, work->n_slices, work->ordinal,
                            &work->status);
}

static hudi_status describe(struct hd_op *op, const struct hd_rewrite_run *run,
                            struct hd_commit_metadata *metadata)
{
    metadata->is_replace = true;
    metadata->operation_type = "CLUSTER";
    for (size_t i = 0; i < run->outcome->n_slices; i++)
        HD_TRY(hd_commit_metadata_add_replaced(op, metadata, run->outcome->slices[i].partition_path,
                                               run->outcome->slices[i].file_id));
    return HUDI_OK;
}

const hd_rewrite_service hd_clustering = {
    .name = "clustering",
    .action = HD_ACTION_REPLACECOMMIT,
    .completed_action = HD_ACTION_REPLACECOMMIT,
    .role = HD_CONFLICT_CLUSTERING,
    .inline_key = "hoodie.clustering.inline",
    .schedule_key = "hoodie.clustering.schedule.inline",
    .is_for = is_for,
    .check = check,
    .is_due = is_due,
    .plan_make = plan_make,
    .plan_read = plan_read,
    .plan_clear = plan_clear,
    .request = request,
    .is_plan = is_plan,
    .prepare = prepare,
    .check_slice = check_slice,
    .rewrite = rewrite,
    .describe = describe,
};
