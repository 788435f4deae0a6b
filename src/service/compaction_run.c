/* SPDX-License-Identifier: Apache-2.0 */
#include "service/compaction_run.h"

#include "engine/commit/reconcile_markers.h"
#include "engine/commit/rollback.h"
#include "format/marker/marker.h"
#include "format/timeline/transition.h"
#include "service/compact_slice.h"
#include "service/rewrite_job.h"

/* One operation of the plan, as it is found. */
struct work {
    struct hd_slice_source source;
    uint64_t log_bytes;
    struct hd_arena arena; /* of the stat */
    struct hd_write_stat stat;
};

struct run {
    hd_pool *pool;
    struct hd_table_snapshot *table;
    const struct hd_compact_outcome *outcome;
    struct hd_file_system_view view;
    struct hd_rewrite_job rewrite;
    struct hd_compact_job job;
    struct work *works;
    size_t n_works;
};

/* ---- what is merged ------------------------------------------------------------------------- */

static hudi_status find_works(struct hd_op *op, struct run *run)
{
    const struct hd_compaction_plan *const plan = &run->outcome->plan;
    const char **partitions;

    HD_TRY(hd_arena_array(op, &run->rewrite.arena, plan->n_operations, sizeof *partitions,
                          &partitions));
    for (size_t i = 0; i < plan->n_operations; i++)
        partitions[i] = plan->operations[i].partition_path;
    HD_TRY(hd_rewrite_job_view(op, &run->rewrite, partitions, plan->n_operations, &run->view));
    HD_TRY(hd_alloc_array(op, plan->n_operations, sizeof *run->works, &run->works));
    run->n_works = plan->n_operations;
    for (size_t i = 0; i < run->n_works; i++) {
        const struct hd_compaction_operation *const operation = &plan->operations[i];
        const struct hd_planned_slice planned = {.partition_path = operation->partition_path,
                                                 .file_id = operation->file_id,
                                                 .base_instant = operation->base_instant,
                                                 .data_file = operation->data_file,
                                                 .delta_files = operation->delta_files,
                                                 .n_delta_files = operation->n_delta_files};

        HD_TRY(hd_rewrite_job_find(op, &run->rewrite, &run->view, &planned, &run->works[i].source,
                                   &run->works[i].log_bytes));
    }
    return HUDI_OK;
}

static hudi_status prepare(struct hd_op *op, struct run *run, const struct hd_options *options)
{
    HD_TRY(
        hd_rewrite_job_init(op, run->pool, run->table, options, run->outcome->time, &run->rewrite));
    run->job = (struct hd_compact_job){.config = &run->rewrite.config,
                                       .schema = &run->rewrite.schema,
                                       .query = &run->rewrite.query};
    return find_works(op, run);
}

static hudi_status compact_one(struct hd_op *op, void *argument, size_t i)
{
    struct run *const run = argument;
    struct work *const work = &run->works[i];

    return hd_compact_slice(op, &run->job, &work->source, work->log_bytes, (uint32_t)i,
                            &work->arena, &work->stat);
}

/* ---- the end -------------------------------------------------------------------------------- */

static hudi_status make_metadata(struct hd_op *op, const struct run *run,
                                 struct hd_commit_metadata *metadata)
{
    metadata->compacted = true;
    metadata->operation_type = run->table->config.version->compaction_named ? "COMPACT" : NULL;
    for (size_t i = 0; i < run->n_works; i++)
        if (run->works[i].stat.path != NULL)
            HD_TRY(hd_commit_metadata_add_stat(op, metadata, &run->works[i].stat));
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
                                    HD_ACTION_COMPACTION, text.data, text.size);
    if (status == HUDI_EXISTS)
        status = hd_fail(op, HUDI_CONFLICT, "compaction %s was completed by somebody else",
                         run->outcome->time);
out:
    hd_commit_metadata_clear(&metadata);
    hd_str_clear(&text);
    return status;
}

static void count(const struct run *run, struct hd_compact_outcome *outcome)
{
    outcome->state = HD_COMPLETED;
    for (size_t i = 0; i < run->n_works; i++) {
        const struct hd_write_stat *const stat = &run->works[i].stat;

        outcome->n_files += stat->path != NULL;
        outcome->n_rows += stat->num_writes;
        outcome->n_bytes_written += (uint64_t)stat->total_write_bytes;
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
            hd_timeline_find(&run->table->timeline, run->outcome->time, HD_ACTION_COMMIT);
        if (instant != NULL && instant->state == HD_INFLIGHT)
            status = hd_rollback_instant(&own, run->pool, run->table, instant);
    }
    if (status != HUDI_OK)
        hd_log(op, HD_LOG_WARN,
               "compaction %s failed and could not be rolled back; the next one will do it",
               run->outcome->time);
    hd_op_clear(&own);
}

static void release(struct hd_op *op, struct run *run)
{
    for (size_t i = 0; i < run->n_works; i++)
        hd_arena_clear(&run->works[i].arena);
    hd_free(op, run->works);
    hd_file_system_view_clear(&run->view);
    hd_rewrite_job_clear(op, &run->rewrite);
}

hudi_status hd_compaction_run(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                              const struct hd_options *options, struct hd_compact_outcome *outcome)
{
    hudi_status status = HUDI_OK;
    struct run run = {.pool = pool, .table = table, .outcome = outcome};
    bool begun = false;

    HD_TRY_OUT(prepare(op, &run, options));
    begun = true;
    HD_TRY_OUT(
        hd_transition_start(op, &table->timeline, outcome->time, HD_ACTION_COMPACTION, NULL, 0));
    outcome->state = HD_INFLIGHT;
    HD_TRY_OUT(hd_pool_each(op, pool, run.n_works, compact_one, &run));
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
