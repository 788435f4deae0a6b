/* SPDX-License-Identifier: Apache-2.0 */
#include "service/cleaning.h"

#include "base/progress.h"
#include <string.h>

#include "engine/commit/heartbeat.h"
#include "engine/commit/rollback.h"
#include "engine/commit/writable.h"
#include "format/layout/file_name.h"
#include "format/layout/partition.h"
#include "format/timeline/transition.h"
#include "service/clean_planner.h"
#include "service/serviceable.h"

/* ---- carrying a plan out --------------------------------------------------------------------- */

struct run {
    const struct hd_table_snapshot *table;
    const struct hd_clean_plan *plan;
    struct hd_clean_metadata metadata;
};

/* A clean deletes what its plan names: nothing but data files in partitions of the table. */
static hudi_status check_plan(struct hd_op *op, const struct hd_clean_plan *plan)
{
    for (size_t i = 0; i < plan->n_partitions; i++) {
        const struct hd_clean_partition *const partition = &plan->partitions[i];
        struct hd_file_name parsed;

        if (!hd_partition_path_is_inside(partition->partition_path))
            return hd_fail(op, HUDI_CORRUPT, "a clean plan names partition \"%.200s\"",
                           partition->partition_path);
        for (size_t j = 0; j < partition->n_files; j++)
            if (!hd_file_name_parse(partition->files[j], &parsed))
                return hd_fail(op, HUDI_CORRUPT,
                               "a clean plan names \"%.200s\", which is no data file",
                               partition->files[j]);
    }
    for (size_t i = 0; i < plan->n_deleted_partitions; i++)
        if (!hd_partition_path_is_inside(plan->deleted_partitions[i]))
            return hd_fail(op, HUDI_CORRUPT, "a clean plan names partition \"%.200s\"",
                           plan->deleted_partitions[i]);
    return HUDI_OK;
}

/* One file; what cannot be deleted is told in the result, and no failure of the clean. */
static hudi_status delete_file(struct hd_op *op, const struct run *run, const char *folder,
                               const char *name, bool *deleted)
{
    char *path;

    HD_TRY(hd_path_join(op, folder, name, &path));
    const hudi_status status = hd_fs_delete_file(op, run->table->fs, path);
    hd_free(op, path);
    *deleted = status == HUDI_OK;
    if (status == HUDI_CANCELLED || status == HUDI_NO_MEMORY)
        return status;
    if (status != HUDI_OK && status != HUDI_NOT_FOUND) {
        hd_log(op, HD_LOG_WARN, "clean: %s could not be deleted: %s", name,
               op->error == NULL ? hudi_status_name(status) : hudi_error_message(op->error));
        hd_op_clear_error(op);
    }
    return HUDI_OK;
}

static hudi_status clean_partition(struct hd_op *op, void *argument, size_t i)
{
    struct run *const run = argument;
    struct hd_cleaned_partition *const partition = &run->metadata.partitions[i];
    hudi_status status = HUDI_OK;
    struct hd_file_info info;
    char *folder;

    HD_TRY(hd_path_join(op, run->table->path, partition->partition_path, &folder));
    for (size_t j = 0; j < partition->n_files && status == HUDI_OK; j++) {
        status = hd_op_check_cancel(op);
        if (status == HUDI_OK)
            status = delete_file(op, run, folder, partition->files[j], &partition->deleted[j]);
        hd_progress_add(op, 1, 0);
    }
    if (status == HUDI_OK)
        status = hd_fs_stat(op, run->table->fs, folder, &info);
    if (status == HUDI_OK)
        status = hd_fs_sync_dir(op, run->table->fs, folder);
    hd_free(op, folder);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

static bool has_pending_write(const struct hd_timeline *timeline)
{
    for (size_t i = 0; i < timeline->n_instants; i++)
        if (hd_instant_is_write(&timeline->instants[i]) &&
            timeline->instants[i].state != HD_COMPLETED)
            return true;
    return false;
}

/* True when there is nothing in the folder but what readers know partitions by. */
static hudi_status is_empty(struct hd_op *op, const struct run *run, const char *folder, bool *out)
{
    static const char *const KEPT[] = {HD_PARTITION_METAFILE, "." HD_PARTITION_METAFILE ".crc",
                                       HD_PARTITION_METAFILE ".parquet",
                                       HD_PARTITION_METAFILE ".orc"};
    struct hd_arena arena = {0};
    struct hd_file_info *infos;
    size_t n;

    *out = false;
    const hudi_status status = hd_fs_list(op, run->table->fs, folder, &arena, &infos, &n);
    if (status == HUDI_OK) {
        *out = true;
        for (size_t i = 0; i < n; i++) {
            bool kept = false;

            for (size_t k = 0; k < HD_ARRAY_LENGTH(KEPT); k++)
                kept = kept || strcmp(infos[i].name, KEPT[k]) == 0;
            *out = *out && kept && !infos[i].is_dir;
        }
    }
    hd_arena_clear(&arena);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

/* The plan is old by now: the folder is looked at again, with no write under way. */
static hudi_status delete_partition(struct hd_op *op, const struct run *run, const char *path,
                                    bool *deleted)
{
    char *folder;
    bool empty;

    *deleted = false;
    if (path[0] == '\0' || has_pending_write(&run->table->timeline))
        return HUDI_OK;
    HD_TRY(hd_path_join(op, run->table->path, path, &folder));
    hudi_status status = is_empty(op, run, folder, &empty);
    if (status == HUDI_OK && empty)
        status = hd_fs_delete_tree(op, run->table->fs, folder);
    if (status == HUDI_OK && empty) {
        *deleted = true;
        *strrchr(folder, '/') = '\0';
        status = hd_fs_sync_dir(op, run->table->fs, folder);
    }
    hd_free(op, folder);
    return status;
}

/* Partitions that are deleted have an entry of their own when no file of theirs was. */
static struct hd_cleaned_partition *entry_of(struct hd_clean_metadata *metadata, const char *path)
{
    for (size_t i = 0; i < metadata->n_partitions; i++)
        if (strcmp(metadata->partitions[i].partition_path, path) == 0)
            return &metadata->partitions[i];
    struct hd_cleaned_partition *const added = &metadata->partitions[metadata->n_partitions++];
    *added = (struct hd_cleaned_partition){.partition_path = path};
    return added;
}

static hudi_status begin_metadata(struct hd_op *op, struct run *run, const char *time)
{
    const struct hd_clean_plan *const plan = run->plan;
    struct hd_clean_metadata *const metadata = &run->metadata;

    metadata->start_time = time;
    metadata->earliest_time = plan->earliest_time == NULL ? "" : plan->earliest_time;
    metadata->last_completed = plan->last_completed;
    metadata->policy = plan->policy;
    metadata->savepoints = plan->savepoints;
    HD_TRY(hd_arena_array(op, &metadata->arena, plan->n_partitions + plan->n_deleted_partitions,
                          sizeof *metadata->partitions, &metadata->partitions));
    for (size_t i = 0; i < plan->n_partitions; i++) {
        metadata->partitions[i] =
            (struct hd_cleaned_partition){.partition_path = plan->partitions[i].partition_path,
                                          .files = plan->partitions[i].files,
                                          .n_files = plan->partitions[i].n_files};
        HD_TRY(hd_arena_array(op, &metadata->arena, plan->partitions[i].n_files, sizeof(bool),
                              &metadata->partitions[i].deleted));
    }
    metadata->n_partitions = plan->n_partitions;
    return HUDI_OK;
}

static hudi_status complete(struct hd_op *op, struct run *run, uint64_t started_ms)
{
    const struct hd_table_snapshot *const table = run->table;
    struct hd_str bytes = {0};

    run->metadata.taken_ms = (int64_t)(hd_now_ms(op) - started_ms);
    hudi_status status =
        hd_clean_metadata_encode(op, &run->metadata, table->config.version, &bytes);
    if (status == HUDI_OK)
        status = hd_transition_complete(op, &table->timeline, run->metadata.start_time,
                                        HD_ACTION_CLEAN, bytes.data, bytes.size);
    hd_str_clear(&bytes);
    return status == HUDI_EXISTS ? HUDI_OK : status; /* by another that ran the same plan */
}

static void count(const struct run *run, struct hd_clean_outcome *outcome)
{
    for (size_t i = 0; i < run->metadata.n_partitions; i++) {
        const struct hd_cleaned_partition *const partition = &run->metadata.partitions[i];

        for (size_t j = 0; j < partition->n_files; j++) {
            outcome->n_deleted += partition->deleted[j];
            outcome->n_failed += !partition->deleted[j];
        }
        outcome->n_partitions_deleted += partition->partition_deleted;
    }
}

/* Steps 2 to 6 of cleaning.h, the lock held at begin and end; the table may be loaded anew. `bytes`
 * is the plan as it stands in the requested file. */
static hudi_status run_plan(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction,
                            struct hd_slice bytes, struct hd_clean_outcome *outcome)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot *const table = transaction->table;
    hd_heartbeat *heartbeat = NULL;
    struct run run = {.table = table, .plan = &outcome->plan};
    struct hd_progress progress;
    const uint64_t started_ms = hd_now_ms(op);
    const bool repeats = table->config.version->clean_inflight_has_plan;

    HD_TRY_OUT(check_plan(op, &outcome->plan));
    if (transaction->shared)
        HD_TRY_OUT(hd_heartbeat_start(op, table, transaction->options, outcome->time, &heartbeat));
    if (outcome->state == HD_REQUESTED)
        HD_TRY_OUT(hd_transition_start(op, &table->timeline, outcome->time, HD_ACTION_CLEAN,
                                       repeats ? bytes.data : NULL, repeats ? bytes.size : 0));
    outcome->state = HD_INFLIGHT;
    HD_TRY_OUT(hd_switch_metadata_table_off(op, table));
    HD_TRY_OUT(begin_metadata(op, &run, outcome->time));
    hd_transaction_end(transaction);
    hd_progress_begin(op, &progress, "clean", outcome->time, "files", outcome->n_files);
    HD_TRY_OUT(hd_pool_each(op, pool, run.metadata.n_partitions, clean_partition, &run));
    if (transaction->shared)
        HD_TRY_OUT(hd_transaction_begin(op, transaction));
    for (size_t i = 0; i < outcome->plan.n_deleted_partitions; i++) {
        const char *const path = outcome->plan.deleted_partitions[i];

        HD_TRY_OUT(
            delete_partition(op, &run, path, &entry_of(&run.metadata, path)->partition_deleted));
    }
    HD_TRY_OUT(complete(op, &run, started_ms));
    outcome->state = HD_COMPLETED;
    count(&run, outcome);
    hd_log(op, HD_LOG_INFO, "clean %s deleted %zu files", outcome->time, outcome->n_deleted);
out:
    hd_progress_end(op);
    hd_heartbeat_stop(op, heartbeat);
    hd_clean_metadata_clear(&run.metadata);
    return status;
}

/* ---- plans ---------------------------------------------------------------------------------- */

static hudi_status new_outcome(struct hd_op *op, struct hd_clean_report *report,
                               struct hd_clean_outcome **out)
{
    HD_TRY(hd_grow(op, &report->cleans, &report->capacity, report->n_cleans + 1,
                   sizeof *report->cleans));
    *out = &report->cleans[report->n_cleans++];
    **out = (struct hd_clean_outcome){0};
    return HUDI_OK;
}

static void count_planned(struct hd_clean_outcome *outcome)
{
    for (size_t i = 0; i < outcome->plan.n_partitions; i++)
        outcome->n_files += outcome->plan.partitions[i].n_files;
}

/* A plan that cannot be read has deleted nothing while it is only requested; later, what it has
 * deleted no reader needs. Either way it is planned again. Writers before 0.12 wrote such files in
 * place, so that a crash left them empty. */
static hudi_status drop_unreadable(struct hd_op *op, const struct hd_table_snapshot *table,
                                   const struct hd_instant *instant)
{
    hd_log(op, HD_LOG_WARN, "the plan of clean %s cannot be read (%s); it is planned again",
           instant->time, op->error == NULL ? "empty" : hudi_error_message(op->error));
    hd_op_clear_error(op);
    return hd_transition_remove_pending(op, &table->timeline, instant);
}

/* A pending clean: into the report, and run unless only listed. */
static hudi_status take_pending(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction,
                                const struct hd_instant *instant, bool run,
                                struct hd_clean_report *report)
{
    const struct hd_table_snapshot *const table = transaction->table;
    struct hd_clean_outcome *outcome;
    uint8_t *bytes;
    size_t n;

    hudi_status status = hd_timeline_read(op, &table->timeline, instant, HD_REQUESTED, &bytes, &n);
    if (status == HUDI_NOT_FOUND) { /* an inflight file alone: nobody can finish it */
        hd_op_clear_error(op);
        return run ? hd_transition_remove_pending(op, &table->timeline, instant) : HUDI_OK;
    }
    HD_TRY(status);
    HD_TRY_OUT(new_outcome(op, report, &outcome));
    memcpy(outcome->time, instant->time, strlen(instant->time) + 1);
    outcome->state = instant->state;
    status = hd_clean_plan_decode(op, hd_slice_of(bytes, n), &outcome->plan);
    if (status == HUDI_CORRUPT && run) {
        report->n_cleans--;
        HD_TRY_OUT(drop_unreadable(op, table, instant));
        goto out;
    }
    if (status != HUDI_OK)
        status = hd_timeline_fail_path(op, status, &table->timeline, instant, HD_REQUESTED);
    HD_TRY_OUT(status);
    if (run)
        HD_TRY_OUT(hd_clean_plan_spare(op, pool, table, &outcome->plan));
    count_planned(outcome);
    if (run)
        status = run_plan(op, pool, transaction, hd_slice_of(bytes, n), outcome);
out:
    hd_free(op, bytes);
    return status;
}

/* A completed clean without content, which writers before 0.12 left in a crash: run it again. */
static hudi_status reopen_empty(struct hd_op *op, struct hd_table_snapshot *table)
{
    bool changed = false;

    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *const instant = &table->timeline.instants[i];

        if (instant->action != HD_ACTION_CLEAN || instant->state != HD_COMPLETED ||
            instant->size_bytes > 0)
            continue;
        hd_log(op, HD_LOG_WARN, "clean %s is empty (0 bytes) and is run again", instant->time);
        HD_TRY(hd_transition_revert_completed(op, &table->timeline, instant));
        changed = true;
    }
    return changed ? hd_table_snapshot_reload(op, table) : HUDI_OK;
}

static bool is_pending_clean(const struct hd_instant *instant)
{
    return instant->action == HD_ACTION_CLEAN && instant->state != HD_COMPLETED;
}

/* Another process runs it: it beats, or has begun just now. To run a plan twice does no harm, but
 * Hudi's cleaner fails when its clean is completed for it. */
static hudi_status is_at_work(struct hd_op *op, const struct hd_transaction *transaction,
                              const struct hd_instant *instant, bool *out)
{
    int64_t age_ms;

    *out = false;
    if (!transaction->shared || instant->state != HD_INFLIGHT)
        return HUDI_OK;
    HD_TRY(hd_heartbeat_age_ms(op, transaction->table, instant->time, &age_ms));
    if (age_ms < 0)
        age_ms = (int64_t)hd_now_ms(op) - instant->modified_ms;
    *out = age_ms <= hd_heartbeat_patience_ms(transaction->options);
    if (*out)
        hd_log(op, HD_LOG_INFO, "clean %s is left to the process that runs it", instant->time);
    return HUDI_OK;
}

/* `*any` tells whether there was one, `*at_work` whether others run one. The table may be loaded
 * anew with each that is run. */
static hudi_status take_all_pending(struct hd_op *op, hd_pool *pool,
                                    struct hd_transaction *transaction, bool run,
                                    struct hd_clean_report *report, bool *any, bool *at_work)
{
    struct hd_table_snapshot *const table = transaction->table;
    char after[HD_INSTANT_TIME_BYTES] = "";

    *any = *at_work = false;
    if (run)
        HD_TRY(reopen_empty(op, table));
    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *const instant = &table->timeline.instants[i];
        bool others = false;

        if (!is_pending_clean(instant) || strcmp(instant->time, after) <= 0)
            continue;
        *any = true;
        memcpy(after, instant->time, strlen(instant->time) + 1);
        if (run)
            HD_TRY(is_at_work(op, transaction, instant, &others));
        *at_work = *at_work || others;
        if (others)
            continue;
        HD_TRY(take_pending(op, pool, transaction, instant, run, report));
        i = run ? (size_t)-1 : i; /* from the start: the timeline may be another */
    }
    return run && *any ? hd_table_snapshot_reload(op, table) : HUDI_OK;
}

/* Step 1, and the rest with `run`. */
static hudi_status plan_new(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction,
                            bool automatic, bool write, bool run, struct hd_clean_report *report)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot *const table = transaction->table;
    struct hd_clean_outcome *outcome;
    struct hd_str bytes = {0};
    char *uri = NULL;

    HD_TRY(new_outcome(op, report, &outcome));
    HD_TRY_OUT(hd_clean_plan_make(op, pool, table, transaction->options, automatic, &outcome->plan,
                                  &outcome->n_bytes));
    if (outcome->plan.n_partitions == 0 && outcome->plan.n_deleted_partitions == 0) {
        hd_clean_plan_clear(&outcome->plan);
        report->n_cleans--;
        goto out;
    }
    count_planned(outcome);
    if (!write)
        goto out;
    HD_TRY_OUT(hd_fs_uri(op, table->fs, table->path, &uri));
    HD_TRY_OUT(hd_clean_plan_encode(op, &outcome->plan, table->config.version, uri, &bytes));
    HD_TRY_OUT(hd_transition_new_time(op, &table->timeline, outcome->time));
    HD_TRY_OUT(hd_transition_request(op, &table->timeline, outcome->time, HD_ACTION_CLEAN,
                                     bytes.data, bytes.size));
    if (run)
        status = run_plan(op, pool, transaction, hd_str_slice(&bytes), outcome);
out:
    hd_free(op, uri);
    hd_str_clear(&bytes);
    return status;
}

/* ---- the service ---------------------------------------------------------------------------- */

static hudi_status clean_table(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction,
                               enum hd_clean_step step, bool automatic,
                               struct hd_clean_report *report)
{
    const bool runs = step == HD_CLEAN_PLAN_AND_RUN || step == HD_CLEAN_RUN;
    bool any = false, at_work = false;

    if (runs)
        HD_TRY(hd_rollback_before_clean(op, pool, transaction->table, transaction->options));
    if (step != HD_CLEAN_DRY_RUN)
        HD_TRY(take_all_pending(op, pool, transaction, runs, report, &any, &at_work));
    if (step == HD_CLEAN_RUN || step == HD_CLEAN_PENDING || (step == HD_CLEAN_SCHEDULE && any) ||
        at_work)
        return HUDI_OK;
    return plan_new(op, pool, transaction, automatic, step != HD_CLEAN_DRY_RUN, runs, report);
}

hudi_status hd_clean(struct hd_op *op, hd_pool *pool, const char *uri,
                     const struct hd_options *options, enum hd_clean_step step,
                     struct hd_clean_report *out)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_transaction transaction;

    *out = (struct hd_clean_report){0};
    hd_transaction_init(&transaction, &table, options);
    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &table));
    if (step != HD_CLEAN_DRY_RUN && step != HD_CLEAN_PENDING) {
        HD_TRY_OUT(hd_check_serviceable(op, &table));
        HD_TRY_OUT(hd_transaction_begin(op, &transaction));
    }
    HD_TRY_OUT(hd_check_serviceable(op, &table));
    HD_TRY_OUT(clean_table(op, pool, &transaction, step, false, out));
out:
    hd_transaction_close(&transaction);
    hd_table_snapshot_clear(op, &table);
    if (status != HUDI_OK)
        hd_clean_report_clear(op, out);
    return hd_fail_path(op, status, uri);
}

void hd_clean_report_clear(struct hd_op *op, struct hd_clean_report *report)
{
    for (size_t i = 0; i < report->n_cleans; i++)
        hd_clean_plan_clear(&report->cleans[i].plan);
    hd_free(op, report->cleans);
    *report = (struct hd_clean_report){0};
}

/* ---- after a write -------------------------------------------------------------------------- */

/* Writes since the last clean: by what that one says it saw (0.12 and later), else by its time. */
static hudi_status is_due(struct hd_op *op, const struct hd_table_snapshot *table,
                          const struct hd_options *options, bool *out)
{
    const struct hd_timeline *const timeline = &table->timeline;
    const int64_t wanted =
        hd_options_int(options, &table->config.properties, "hoodie.clean.max.commits");
    struct hd_clean_metadata last;
    const char *since = "";
    int64_t n = 0;

    *out = true;
    if (wanted <= 1)
        return HUDI_OK;
    const hudi_status status = hd_clean_last(op, timeline, &last);
    if (status != HUDI_NOT_FOUND) {
        HD_TRY(status);
        since = last.last_completed[0] != '\0' ? last.last_completed : last.start_time;
    }
    for (size_t i = 0; i < timeline->n_instants; i++)
        n += hd_instant_is_completed_write(&timeline->instants[i]) &&
             strcmp(timeline->instants[i].time, since) > 0;
    if (status == HUDI_OK)
        hd_clean_metadata_clear(&last);
    *out = n >= wanted;
    return HUDI_OK;
}

hudi_status hd_clean_due(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction)
{
    struct hd_table_snapshot *const table = transaction->table;
    const struct hd_options *const options = transaction->options;
    struct hd_clean_report report = {0};
    bool due;

    if (!hd_options_bool(options, &table->config.properties, "hoodie.clean.automatic"))
        return HUDI_OK;
    HD_TRY(hd_rollback_before_clean(op, pool, table, options));
    HD_TRY(is_due(op, table, options, &due));
    if (!due)
        return HUDI_OK;
    hudi_status status = clean_table(op, pool, transaction, HD_CLEAN_PLAN_AND_RUN, true, &report);
    if (status == HUDI_OK && report.n_cleans > 0)
        status = hd_transaction_begin(op, transaction);
    hd_clean_report_clear(op, &report);
    return status;
}
