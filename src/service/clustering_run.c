/* SPDX-License-Identifier: Apache-2.0 */
#include "service/clustering.h"

#include <stdio.h>
#include <string.h>

#include "arrow/schema.h"
#include "engine/commit/reconcile_markers.h"
#include "engine/commit/rollback.h"
#include "format/marker/marker.h"
#include "format/timeline/transition.h"
#include "service/cluster_group.h"
#include "service/clustering_planner.h"
#include "service/rewrite_job.h"

/* One input group of the plan. */
struct work {
    const struct hd_clustering_slice *slices;
    struct hd_slice_source *sources;
    size_t n_sources;
    struct hd_write_status status; /* its stats */
};

struct run {
    hd_pool *pool;
    struct hd_table_snapshot *table;
    const struct hd_cluster_outcome *outcome;
    struct hd_file_system_view view;
    struct hd_rewrite_job rewrite;
    struct hd_cluster_job job;
    struct work *works;
    size_t n_works;
};

/* ---- what is rewritten ---------------------------------------------------------------------- */

static hudi_status find_sources(struct hd_op *op, struct run *run, struct work *work)
{
    uint64_t log_bytes;

    for (size_t i = 0; i < work->n_sources; i++) {
        const struct hd_clustering_slice *const slice = &work->slices[i];
        const struct hd_planned_slice planned = {.partition_path = slice->partition_path,
                                                 .file_id = slice->file_id,
                                                 .data_file = slice->data_file,
                                                 .delta_files = slice->delta_files,
                                                 .n_delta_files = slice->n_delta_files};
        const struct hd_file_group *const group =
            hd_file_system_view_find(&run->view, slice->partition_path, slice->file_id);

        if (strcmp(slice->partition_path, work->slices[0].partition_path) != 0)
            return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                           "clustering %s: an input group of several partitions",
                           run->outcome->time);
        HD_TRY(hd_rewrite_job_find(op, &run->rewrite, &run->view, &planned, &work->sources[i],
                                   &log_bytes));
        /* Nothing may have been written to the group since: it would not show any more. */
        if (group->replaced_by != NULL ||
            strcmp(group->slices[0].base_instant, work->sources[i].instant) != 0)
            return hd_fail(op, HUDI_CONFLICT,
                           "clustering %s: file group %s was written to after the plan",
                           run->outcome->time, slice->file_id);
    }
    return HUDI_OK;
}

static hudi_status find_works(struct hd_op *op, struct run *run)
{
    const struct hd_replace_plan *const plan = &run->outcome->plan;
    struct hd_slice_source *sources;
    const char **partitions;

    HD_TRY(
        hd_arena_array(op, &run->rewrite.arena, plan->n_slices, sizeof *partitions, &partitions));
    HD_TRY(hd_arena_array(op, &run->rewrite.arena, plan->n_slices, sizeof *sources, &sources));
    for (size_t i = 0; i < plan->n_slices; i++)
        partitions[i] = plan->slices[i].partition_path;
    HD_TRY(hd_rewrite_job_view(op, &run->rewrite, partitions, plan->n_slices, &run->view));
    HD_TRY(hd_alloc_array(op, plan->n_slices, sizeof *run->works, &run->works));
    for (size_t i = 0; i < plan->n_slices; i++) {
        if (i == 0 || plan->slices[i].group != plan->slices[i - 1].group)
            run->works[run->n_works++] =
                (struct work){.slices = &plan->slices[i], .sources = &sources[i]};
        run->works[run->n_works - 1].n_sources++;
    }
    for (size_t i = 0; i < run->n_works; i++)
        HD_TRY(find_sources(op, run, &run->works[i]));
    return HUDI_OK;
}

/* ---- how ------------------------------------------------------------------------------------ */

static const char *param(const struct run *run, const char *key)
{
    const struct hd_replace_plan *const plan = &run->outcome->plan;

    for (size_t i = 0; i < plan->n_params; i++)
        if (strcmp(plan->param_keys[i], key) == 0)
            return plan->param_values[i];
    return "";
}

static hudi_status add_sort_column(struct hd_op *op, struct run *run, const char *name, size_t size,
                                   int32_t *out)
{
    const struct ArrowSchema *const file = &run->rewrite.schema.file;
    struct hd_type type;
    char *column;

    HD_TRY(hd_arena_strndup(op, &run->rewrite.arena, name, size, &column));
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
static hudi_status read_layout(struct hd_op *op, struct run *run, const struct hd_options *options)
{
    const char *columns = param(run, HD_SORT_COLUMNS_KEY), *name = param(run, HD_LAYOUT_KEY);
    int32_t *numbers;
    size_t n = 1;

    if (*name == '\0')
        name = hd_options_text(options, &run->table->config.properties, HD_LAYOUT_KEY);
    if (!hd_layout_parse(name, &run->job.layout))
        return hd_fail(op, HUDI_INVALID, "%s \"%.100s\" is none of linear, z-order, hilbert",
                       HD_LAYOUT_KEY, name);
    for (const char *c = columns; *c != '\0'; c++)
        n += *c == ',';
    HD_TRY(hd_arena_array(op, &run->rewrite.arena, n, sizeof *numbers, &numbers));
    for (columns += strspn(columns, ", "); *columns != '\0'; columns += strspn(columns, ", ")) {
        const size_t size = strcspn(columns, ", ");

        HD_TRY(add_sort_column(op, run, columns, size, &numbers[run->job.n_sort_columns++]));
        columns += size;
    }
    run->job.sort_columns = numbers;
    if (run->job.layout != HD_LAYOUT_LINEAR && run->job.n_sort_columns > HD_LAYOUT_MAX_COLUMNS)
        return hd_fail(op, HUDI_INVALID, "%zu sort columns, of which a curve takes %d",
                       run->job.n_sort_columns, HD_LAYOUT_MAX_COLUMNS);
    return HUDI_OK;
}

static hudi_status prepare(struct hd_op *op, struct run *run, const struct hd_options *options)
{
    const size_t n_workers = run->pool == NULL ? 1 : hd_pool_threads(run->pool);
    char target[32];

    HD_TRY(
        hd_rewrite_job_init(op, run->pool, run->table, options, run->outcome->time, &run->rewrite));
    snprintf(target, sizeof target, "%lld",
             (long long)hd_options_int(options, &run->table->config.properties,
                                       "hoodie.clustering.plan.strategy.target.file.max.bytes"));
    HD_TRY(
        hd_options_set(op, &run->rewrite.config.options, "hoodie.parquet.max.file.size", target));
    run->job = (struct hd_cluster_job){.config = &run->rewrite.config,
                                       .schema = &run->rewrite.schema,
                                       .query = &run->rewrite.query,
                                       .sort_bytes = op->budget->limit_bytes / 4 / n_workers};
    HD_TRY(read_layout(op, run, options));
    return find_works(op, run);
}

static hudi_status cluster_one(struct hd_op *op, void *argument, size_t i)
{
    struct run *const run = argument;
    struct work *const work = &run->works[i];

    return hd_cluster_group(op, &run->job, work->sources, work->n_sources, (uint32_t)i,
                            &work->status);
}

/* ---- the end -------------------------------------------------------------------------------- */

static hudi_status make_metadata(struct hd_op *op, const struct run *run,
                                 struct hd_commit_metadata *metadata)
{
    const struct hd_replace_plan *const plan = &run->outcome->plan;

    metadata->is_replace = true;
    metadata->operation_type = "CLUSTER";
    for (size_t i = 0; i < run->n_works; i++)
        for (size_t s = 0; s < run->works[i].status.n_stats; s++)
            HD_TRY(hd_commit_metadata_add_stat(op, metadata, &run->works[i].status.stats[s]));
    for (size_t i = 0; i < plan->n_slices; i++)
        HD_TRY(hd_commit_metadata_add_replaced(op, metadata, plan->slices[i].partition_path,
                                               plan->slices[i].file_id));
    return hd_commit_metadata_set_extra(op, metadata, "schema", run->rewrite.schema.avro);
}

/* Steps 5 and 6. */
static hudi_status complete(struct hd_op *op, struct run *run)
{
    hudi_status status = HUDI_OK;
    struct hd_commit_metadata metadata = {0};
    struct hd_str text = {0};

    HD_TRY_OUT(make_metadata(op, run, &metadata));
    HD_TRY_OUT(hd_commit_metadata_format(op, &metadata, &text));
    HD_TRY_OUT(hd_reconcile_markers(op, run->pool, run->table, run->outcome->time, &metadata));
    HD_TRY_OUT(hd_op_check_cancel(op));
    status = hd_transition_complete(op, &run->table->timeline, run->outcome->time,
                                    HD_ACTION_REPLACECOMMIT, text.data, text.size);
    if (status == HUDI_EXISTS)
        status = hd_fail(op, HUDI_CONFLICT, "clustering %s was completed by somebody else",
                         run->outcome->time);
out:
    hd_commit_metadata_clear(&metadata);
    hd_str_clear(&text);
    return status;
}

static void count(const struct run *run, struct hd_cluster_outcome *outcome)
{
    outcome->state = HD_COMPLETED;
    for (size_t i = 0; i < run->n_works; i++) {
        for (size_t s = 0; s < run->works[i].status.n_stats; s++) {
            const struct hd_write_stat *const stat = &run->works[i].status.stats[s];

            outcome->n_files++;
            outcome->n_rows += stat->num_writes;
            outcome->n_bytes_written += (uint64_t)stat->total_write_bytes;
        }
    }
}

/* With an op of its own: the first error stays the one that is told. */
static void undo(struct hd_op *op, struct run *run)
{
    struct hd_op own;
    hudi_status status;

    hd_op_init_child(&own, op);
    own.cancelled = NULL;
    status = hd_table_snapshot_reload(&own, run->table);
    if (status == HUDI_OK) {
        const struct hd_instant *const instant =
            hd_timeline_find(&run->table->timeline, run->outcome->time, HD_ACTION_REPLACECOMMIT);
        if (instant != NULL && instant->state == HD_INFLIGHT)
            status = hd_rollback_instant(&own, run->pool, run->table, instant);
    }
    if (status != HUDI_OK)
        hd_log(op, HD_LOG_WARN,
               "clustering %s failed and could not be rolled back; the next one will do it",
               run->outcome->time);
    hd_op_clear(&own);
}

static void release(struct hd_op *op, struct run *run)
{
    for (size_t i = 0; i < run->n_works; i++)
        hd_write_status_clear(op, &run->works[i].status);
    hd_free(op, run->works);
    hd_file_system_view_clear(&run->view);
    hd_rewrite_job_clear(op, &run->rewrite);
}

hudi_status hd_clustering_run(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                              const struct hd_options *options, struct hd_cluster_outcome *outcome)
{
    hudi_status status = HUDI_OK;
    struct run run = {.pool = pool, .table = table, .outcome = outcome};
    bool begun = false;

    HD_TRY_OUT(prepare(op, &run, options));
    begun = true;
    HD_TRY_OUT(
        hd_transition_start(op, &table->timeline, outcome->time, HD_ACTION_REPLACECOMMIT, NULL, 0));
    outcome->state = HD_INFLIGHT;
    HD_TRY_OUT(hd_pool_each(op, pool, run.n_works, cluster_one, &run));
    HD_TRY_OUT(complete(op, &run));
    begun = false;
    count(&run, outcome);
    if (hd_markers_delete(op, table->fs, table->path, outcome->time) != HUDI_OK) {
        hd_log(op, HD_LOG_WARN, "the marker folder of %s could not be deleted", outcome->time);
        hd_op_clear_error(op);
    }
out:
    if (begun)
        undo(op, &run);
    release(op, &run);
    return status;
}
