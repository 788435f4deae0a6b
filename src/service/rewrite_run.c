/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/progress.h"
#include "engine/commit/reconcile_markers.h"
#include "engine/commit/rollback.h"
#include "format/layout/missing_logs.h"
#include "format/marker/marker.h"
#include "format/timeline/transition.h"
#include "service/rewrite_service.h"

#define MAX_ATTEMPT 1000000000

/* ---- what is rewritten ---------------------------------------------------------------------- */

static hudi_status find_work(struct hd_op *op, struct hd_rewrite_run *run,
                             struct hd_rewrite_work *work)
{
    const hd_rewrite_service *const service = run->outcome->service;

    for (size_t i = 0; i < work->n_slices; i++) {
        HD_TRY(hd_rewrite_job_find(op, &run->job, &run->view, &work->slices[i], &work->sources[i],
                                   &work->log_bytes[i]));
        if (service->check_slice != NULL)
            HD_TRY(service->check_slice(op, run, work, i));
    }
    return HUDI_OK;
}

static hudi_status find_works(struct hd_op *op, struct hd_rewrite_run *run)
{
    const struct hd_planned_slice *const slices = run->outcome->slices;
    const size_t n = run->outcome->n_slices;
    struct hd_slice_source *sources;
    const char **partitions;
    uint64_t *log_bytes;

    HD_TRY(hd_arena_array(op, &run->job.arena, n, sizeof *partitions, &partitions));
    HD_TRY(hd_arena_array(op, &run->job.arena, n, sizeof *sources, &sources));
    HD_TRY(hd_arena_array(op, &run->job.arena, n, sizeof *log_bytes, &log_bytes));
    for (size_t i = 0; i < n; i++)
        partitions[i] = slices[i].partition_path;
    HD_TRY(hd_rewrite_job_view(op, &run->job, partitions, n, &run->view));
    HD_TRY(hd_alloc_array(op, n, sizeof *run->works, &run->works));
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || slices[i].group != slices[i - 1].group) {
            run->works[run->n_works] = (struct hd_rewrite_work){.slices = &slices[i],
                                                                .sources = &sources[i],
                                                                .log_bytes = &log_bytes[i],
                                                                .ordinal = (uint32_t)run->n_works};
            run->n_works++;
        }
        run->works[run->n_works - 1].n_slices++;
    }
    for (size_t i = 0; i < run->n_works; i++)
        HD_TRY(find_work(op, run, &run->works[i]));
    return HUDI_OK;
}

static const struct hd_file_slice *slice_of(const struct hd_rewrite_run *run,
                                            const struct hd_slice_source *source)
{
    const struct hd_file_group *const group =
        hd_file_system_view_find(&run->view, source->partition_path, source->file_id);

    for (size_t i = 0; group != NULL && i < group->n_slices; i++)
        if (strcmp(group->slices[i].base_instant, source->instant) == 0)
            return &group->slices[i];
    return NULL;
}

/* What is missing: an error, or with libhudi.read.recover a warning of each. */
static hudi_status tell_missing(struct hd_op *op, const struct hd_rewrite_run *run,
                                const struct hd_missing_log *logs, size_t n)
{
    struct hd_str text = {0};
    hudi_status status = HUDI_OK;

    for (size_t i = 0; i < n; i++) {
        text.size = 0;
        HD_TRY_OUT(hd_missing_log_describe(op, &logs[i], &text));
        if (!run->job.query.recover)
            HD_TRY_OUT(hd_fail(op, HUDI_CORRUPT,
                               "%s: its rows may be lost for good (libhudi.read.recover=true "
                               "goes on without them)",
                               hd_str_text(&text)));
        hd_log(op, HD_LOG_WARN, "%s: its rows are left out", hd_str_text(&text));
    }
out:
    hd_str_clear(&text);
    return status;
}

/* What a write put into log files is there, before others take their place. */
static hudi_status check_logs(struct hd_op *op, struct hd_rewrite_run *run)
{
    const struct hd_table_config *const config = &run->table->config;
    const struct hd_file_slice **slices;
    struct hd_missing_log *logs;
    size_t n = 0, n_missing;

    if (config->type != HD_MERGE_ON_READ || !config->version->log_is_of_slice)
        return HUDI_OK;
    HD_TRY(hd_arena_array(op, &run->job.arena, run->outcome->n_slices, sizeof *slices, &slices));
    for (size_t i = 0; i < run->n_works; i++)
        for (size_t s = 0; s < run->works[i].n_slices; s++) {
            slices[n] = slice_of(run, &run->works[i].sources[s]);
            n += slices[n] != NULL;
        }
    HD_TRY(hd_missing_logs_find(op, &run->table->timeline, slices, n, NULL, &run->job.arena, &logs,
                                &n_missing));
    return tell_missing(op, run, logs, n_missing);
}

static hudi_status prepare(struct hd_op *op, struct hd_rewrite_run *run)
{
    HD_TRY(hd_rewrite_job_init(op, run->pool, run->table, run->options, run->outcome->time,
                               &run->job));
    if (run->outcome->service->prepare != NULL)
        HD_TRY(run->outcome->service->prepare(op, run));
    HD_TRY(find_works(op, run));
    return check_logs(op, run);
}

static hudi_status rewrite_one(struct hd_op *op, void *argument, size_t i)
{
    struct hd_rewrite_run *const run = argument;

    HD_TRY(run->outcome->service->rewrite(op, run, &run->works[i]));
    hd_progress_add(op, run->works[i].n_slices, 0);
    return HUDI_OK;
}

/* ---- the end -------------------------------------------------------------------------------- */

static hudi_status make_metadata(struct hd_op *op, const struct hd_rewrite_run *run,
                                 struct hd_commit_metadata *metadata)
{
    for (size_t i = 0; i < run->n_works; i++)
        for (size_t s = 0; s < run->works[i].status.n_stats; s++)
            HD_TRY(hd_commit_metadata_add_stat(op, metadata, &run->works[i].status.stats[s]));
    HD_TRY(run->outcome->service->describe(op, run, metadata));
    return hd_commit_metadata_set_extra(op, metadata, "schema", run->job.schema.avro);
}

/* Steps 5 and 6. */
static hudi_status complete(struct hd_op *op, struct hd_rewrite_run *run)
{
    const char *const time = run->outcome->time;
    hudi_status status = HUDI_OK;
    struct hd_commit_metadata metadata = {0};
    struct hd_str text = {0};

    HD_TRY_OUT(make_metadata(op, run, &metadata));
    HD_TRY_OUT(hd_reconcile_markers(op, run->pool, run->table, time, &metadata));
    HD_TRY_OUT(hd_take_turn(op, run->transaction, run->heartbeat, run->outcome->service->role, time,
                            &metadata));
    HD_TRY_OUT(hd_commit_metadata_format(op, &metadata, &text));
    HD_TRY_OUT(hd_op_check_cancel(op));
    status = hd_transition_complete(op, &run->table->timeline, time, run->outcome->service->action,
                                    text.data, text.size);
    if (status == HUDI_EXISTS)
        status = hd_fail(op, HUDI_CONFLICT, "%s %s was completed by somebody else",
                         run->outcome->service->name, time);
out:
    hd_commit_metadata_clear(&metadata);
    hd_str_clear(&text);
    return status;
}

static void count(const struct hd_rewrite_run *run)
{
    struct hd_rewrite_outcome *const outcome = run->outcome;

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

/* Somebody else may have taken the plan over: all that is ours are the files. */
static hudi_status delete_own_files(struct hd_op *op, const struct hd_rewrite_run *run)
{
    for (size_t i = 0; i < run->n_works; i++) {
        for (size_t s = 0; s < run->works[i].status.n_stats; s++) {
            char *path;

            HD_TRY(hd_path_join(op, run->table->path, run->works[i].status.stats[s].path, &path));
            const hudi_status status = hd_fs_delete_file(op, run->table->fs, path);
            hd_free(op, path);
            if (status != HUDI_OK && status != HUDI_NOT_FOUND)
                return status;
        }
    }
    return HUDI_OK;
}

static hudi_status roll_back(struct hd_op *op, struct hd_rewrite_run *run)
{
    HD_TRY(hd_transaction_begin(op, run->transaction));
    if (hd_heartbeat_is_lost(op, run->heartbeat))
        return delete_own_files(op, run);
    const struct hd_instant *const instant = hd_timeline_find(
        &run->table->timeline, run->outcome->time, run->outcome->service->completed_action);
    return instant != NULL && instant->state == HD_INFLIGHT
               ? hd_rollback_instant(op, run->pool, run->table, instant)
               : HUDI_OK;
}

/* With an op of its own: the first error stays the one that is told. */
static void undo(struct hd_op *op, struct hd_rewrite_run *run)
{
    struct hd_op own;

    hd_op_init_child(&own, op);
    own.cancelled = NULL;
    const hudi_status status = roll_back(&own, run);
    if (status != HUDI_OK)
        hd_log(op, HD_LOG_WARN,
               "%s %s failed and could not be rolled back; the next one will do it",
               run->outcome->service->name, run->outcome->time);
    hd_op_clear(&own);
}

static void release(struct hd_op *op, struct hd_rewrite_run *run)
{
    for (size_t i = 0; i < run->n_works; i++)
        hd_write_status_clear(op, &run->works[i].status);
    hd_free(op, run->works);
    hd_file_system_view_clear(&run->view);
    hd_rewrite_job_clear(op, &run->job);
}

hudi_status hd_rewrite_check(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction,
                             struct hd_rewrite_outcome *outcome)
{
    struct hd_rewrite_run run = {.pool = pool,
                                 .transaction = transaction,
                                 .table = transaction->table,
                                 .options = transaction->options,
                                 .outcome = outcome};

    if (hd_options_bool(run.options, NULL, "libhudi.read.recover"))
        return HUDI_OK;
    const hudi_status status = prepare(op, &run);
    release(op, &run);
    return status;
}

/* Where others may take over what they think is dead, names of files are not those of another
 * attempt. */
static hudi_status begin_to_beat(struct hd_op *op, struct hd_rewrite_run *run)
{
    if (!run->transaction->shared)
        return HUDI_OK;
    run->job.config.attempt = hd_random_u64(op) % MAX_ATTEMPT;
    return hd_heartbeat_start(op, run->table, run->options, run->outcome->time, &run->heartbeat);
}

hudi_status hd_rewrite_run(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction,
                           struct hd_rewrite_outcome *outcome)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot *const table = transaction->table;
    struct hd_rewrite_run run = {.pool = pool,
                                 .transaction = transaction,
                                 .table = table,
                                 .options = transaction->options,
                                 .outcome = outcome};
    struct hd_progress progress;
    bool begun = false;

    HD_TRY_OUT(prepare(op, &run));
    HD_TRY_OUT(begin_to_beat(op, &run));
    begun = true;
    HD_TRY_OUT(hd_transition_start(op, &table->timeline, outcome->time, outcome->service->action,
                                   NULL, 0));
    hd_transaction_end(transaction);
    outcome->state = HD_INFLIGHT;
    hd_progress_begin(op, &progress, outcome->service->name, outcome->time, "file slices",
                      outcome->n_slices);
    HD_TRY_OUT(hd_pool_each(op, pool, run.n_works, rewrite_one, &run));
    HD_TRY_OUT(complete(op, &run));
    begun = false;
    hd_transaction_end(transaction);
    count(&run);
    if (hd_markers_delete(op, table->fs, table->path, outcome->time) != HUDI_OK) {
        hd_log(op, HD_LOG_WARN, "the marker folder of %s could not be deleted", outcome->time);
        hd_op_clear_error(op);
    }
out:
    hd_progress_end(op);
    if (begun)
        undo(op, &run);
    hd_heartbeat_stop(op, run.heartbeat);
    release(op, &run);
    return status;
}
