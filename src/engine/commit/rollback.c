/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/rollback.h"

#include "base/map.h"
#include "engine/commit/heartbeat.h"
#include "engine/commit/rollback_request.h"
#include "engine/commit/rollback_steps.h"
#include "engine/commit/table_lock.h"
#include "engine/commit/writable.h"
#include "format/layout/file_name.h"
#include "format/log/log_writer.h"
#include "format/marker/marker.h"
#include "format/timeline/replace_plan.h"
#include "format/timeline/rollback_plan.h"
#include "format/timeline/transition.h"

#define FAILED_WRITES "hoodie.cleaner.policy.failed.writes"

/* ---- carrying it out --------------------------------------------------------------------------
 */

/* Log files that carry a compaction's time were put there by other writes, which stay. */
static bool is_log_of_others(const struct hd_rollback_plan *plan, bool for_good, const char *name)
{
    struct hd_file_name parsed;

    return !for_good && strcmp(plan->target_action, hd_action_name(HD_ACTION_COMPACTION)) == 0 &&
           hd_file_name_parse(name, &parsed) && parsed.kind != HD_FILE_BASE;
}

hudi_status hd_rollback_file_name(struct hd_op *op, const struct hd_rollback_plan *plan,
                                  bool for_good, const char *planned, const char **out)
{
    const char *slash = strrchr(planned, '/');
    const char *name = slash == NULL ? planned : slash + 1;
    struct hd_file_name parsed;

    *out = NULL;
    if (is_log_of_others(plan, for_good, name))
        return HUDI_OK;
    if (!hd_file_name_parse(name, &parsed) ||
        !hd_slice_equal(parsed.instant, hd_slice_text(plan->target_time)))
        return hd_fail(op, HUDI_CORRUPT, "rollback plan of %s names %s, a file of another instant",
                       plan->target_time, planned);
    *out = name;
    return HUDI_OK;
}

static hudi_status delete_file(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_rollback_plan *plan,
                               const struct hd_rollback_request *request, bool for_good,
                               const char *planned)
{
    const char *name;
    char *path = NULL;

    HD_TRY(hd_rollback_file_name(op, plan, for_good, planned, &name));
    if (name == NULL)
        return HUDI_OK;
    HD_TRY(hd_asprintf(op, &path, "%s%s%s/%s", table->path,
                       request->partition_path[0] == '\0' ? "" : "/", request->partition_path,
                       name));
    const hudi_status status = hd_fs_delete_file(op, table->fs, path);
    hd_free(op, path);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

/* A file that came back after a loss of power would be of an instant that nobody knows. */
static hudi_status sync_partition(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const char *partition_path)
{
    struct hd_file_info info;
    char *path = NULL;

    HD_TRY(hd_path_join(op, table->path, partition_path, &path));
    hudi_status status = hd_fs_stat(op, table->fs, path, &info);
    if (status == HUDI_OK)
        status = hd_fs_sync_dir(op, table->fs, path);
    hd_free(op, path);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

static hudi_status delete_files(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_rollback_plan *plan, bool for_good)
{
    for (size_t i = 0; i < plan->n_requests; i++) {
        for (size_t f = 0; f < plan->requests[i].n_files; f++)
            HD_TRY(delete_file(op, table, plan, &plan->requests[i], for_good,
                               plan->requests[i].files[f]));
        HD_TRY(sync_partition(op, table, plan->requests[i].partition_path));
    }
    return HUDI_OK;
}

/* Temporary files of the target's log files that never got their name. What a task that lives on
 * writes there is of no use any more. */
static hudi_status delete_temporaries(struct hd_op *op, const struct hd_table_snapshot *table,
                                      const char *partition_path, const char *target_time)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_file_info *files;
    char *dir = NULL, *path = NULL;
    size_t n = 0;

    HD_TRY_OUT(hd_path_join(op, table->path, partition_path, &dir));
    status = hd_fs_list_names(op, table->fs, dir, &arena, &files, &n);
    for (size_t i = 0; i < n && status == HUDI_OK; i++) {
        if (files[i].is_dir || !hd_log_temporary_is_of(files[i].name, target_time))
            continue;
        hd_free(op, path);
        path = NULL;
        HD_TRY_OUT(hd_path_join(op, dir, files[i].name, &path));
        status = hd_fs_delete_file(op, table->fs, path);
        if (status == HUDI_NOT_FOUND)
            status = HUDI_OK;
    }
out:
    hd_free(op, dir);
    hd_free(op, path);
    hd_arena_clear(&arena);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

/* In the partitions that the target's APPEND markers name. */
static hudi_status sweep(struct hd_op *op, const struct hd_table_snapshot *table,
                         const char *target_time)
{
    struct hd_arena arena = {0};
    struct hd_map partitions = {0};
    struct hd_marker *markers;
    size_t n = 0;

    hudi_status status =
        hd_markers_read(op, table->fs, table->path, target_time, &arena, &markers, &n);
    for (size_t i = 0; i < n && status == HUDI_OK; i++) {
        const char *slash = strrchr(markers[i].data_path, '/');

        if (markers[i].type == HD_IO_APPEND)
            status =
                hd_map_put(op, &partitions,
                           hd_slice_of(markers[i].data_path,
                                       slash == NULL ? 0 : (size_t)(slash - markers[i].data_path)),
                           0, NULL, NULL);
    }
    for (size_t i = 0; i < partitions.n_entries && status == HUDI_OK; i++)
        status = delete_temporaries(op, table, (const char *)partitions.entries[i].key.data,
                                    target_time);
    hd_map_clear(&partitions);
    hd_arena_clear(&arena);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

/* A pending compaction, or a clustering: below version 8 a replacecommit with a plan. */
hudi_status hd_rollback_keeps_plan(struct hd_op *op, const struct hd_timeline *timeline,
                                   const struct hd_instant *instant, bool *out)
{
    struct hd_replace_plan plan;

    *out = instant->pending_action == HD_ACTION_COMPACTION;
    if (instant->pending_action != HD_ACTION_REPLACECOMMIT || !instant->has_requested)
        return HUDI_OK;
    HD_TRY(hd_replace_plan_read(op, timeline, instant, &plan));
    *out = plan.is_clustering;
    hd_replace_plan_clear(&plan);
    return HUDI_OK;
}

/* Step 5 of rollback.h. */
static hudi_status end_target(struct hd_op *op, const struct hd_timeline *timeline,
                              const struct hd_instant *target, bool for_good)
{
    bool keeps = false;

    if (!for_good)
        HD_TRY(hd_rollback_keeps_plan(op, timeline, target, &keeps));
    if (!keeps || target->state == HD_COMPLETED)
        return hd_transition_remove_pending(op, timeline, target);
    return target->has_inflight ? hd_transition_revert_inflight(op, timeline, target) : HUDI_OK;
}

hudi_status hd_rollback_find_target(struct hd_op *op, const struct hd_timeline *timeline,
                                    const struct hd_rollback_plan *plan, const char *time,
                                    bool *for_good, const struct hd_instant **out)
{
    enum hd_action action;

    if (!hd_action_parse(hd_slice_text(plan->target_action), &action))
        return hd_fail(op, HUDI_CORRUPT, "rollback plan %s of an unknown action %s", time,
                       plan->target_action);
    const struct hd_instant *const target =
        hd_timeline_find(timeline, plan->target_time, hd_action_completed_as(action));
    if (target != NULL && target->state == HD_COMPLETED && action == HD_ACTION_COMPACTION)
        return hd_fail(op, HUDI_CONFLICT, "rollback %s of compaction %s, which is completed", time,
                       plan->target_time);
    /* Planned while it was completed, and turned back since: a pending one is called so. */
    *for_good = *for_good || (target != NULL && action == HD_ACTION_COMMIT &&
                              target->pending_action == HD_ACTION_COMPACTION);
    *out = target;
    return HUDI_OK;
}

/* Steps 2 to 7 of rollback.h; any of them may have been done before. */
static hudi_status run_plan(struct hd_op *op, const struct hd_table_snapshot *table,
                            struct hd_rollback_plan *plan, const char *time, bool inflight,
                            bool for_good)
{
    const struct hd_timeline *timeline = &table->timeline;
    const uint64_t started = hd_now_ms(op);
    struct hd_str metadata = {0};
    const struct hd_instant *target;

    if (!inflight)
        HD_TRY(hd_transition_start(op, timeline, time, HD_ACTION_ROLLBACK, NULL, 0));
    HD_TRY(hd_rollback_find_target(op, timeline, plan, time, &for_good, &target));
    if (target != NULL && target->state == HD_COMPLETED)
        HD_TRY(hd_transition_revert_completed(op, timeline, target));
    HD_TRY(delete_files(op, table, plan, for_good));
    HD_TRY(hd_rollback_append_blocks(op, table, plan, time));
    HD_TRY(sweep(op, table, plan->target_time));
    if (target != NULL)
        HD_TRY(end_target(op, timeline, target, for_good));
    hudi_status status =
        hd_rollback_metadata_encode(op, plan, time, (int64_t)(hd_now_ms(op) - started), &metadata);
    if (status == HUDI_OK)
        status = hd_transition_complete(op, timeline, time, HD_ACTION_ROLLBACK, metadata.data,
                                        metadata.size);
    hd_str_clear(&metadata);
    if (status != HUDI_OK && status != HUDI_EXISTS)
        return status;
    HD_TRY(hd_markers_delete(op, table->fs, table->path, plan->target_time));
    return hd_heartbeat_remove(op, table, plan->target_time);
}

static hudi_status roll_back(struct hd_op *op, struct hd_table_snapshot *table,
                             const struct hd_instant *target, bool for_good)
{
    hudi_status status = HUDI_OK;
    struct hd_rollback_plan plan = {0};
    struct hd_str bytes = {0};
    char time[HD_INSTANT_TIME_BYTES];

    HD_TRY_OUT(hd_rollback_request_make(op, table, target, for_good, &plan));
    HD_TRY_OUT(hd_rollback_plan_encode(op, &plan, &bytes));
    HD_TRY_OUT(hd_transition_new_time(op, &table->timeline, time));
    HD_TRY_OUT(hd_transition_request(op, &table->timeline, time, HD_ACTION_ROLLBACK, bytes.data,
                                     bytes.size));
    HD_TRY_OUT(run_plan(op, table, &plan, time, false, for_good));
    hd_log(op, HD_LOG_INFO, "rolled back %s", target->time);
out:
    hd_rollback_request_free(op, &plan);
    hd_str_clear(&bytes);
    return status;
}

hudi_status hd_rollback_instant(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                const struct hd_instant *target)
{
    (void)pool;
    return roll_back(op, table, target, target->state == HD_COMPLETED);
}

hudi_status hd_rollback_for_good(struct hd_op *op, struct hd_table_snapshot *table,
                                 const struct hd_instant *target)
{
    return roll_back(op, table, target, true);
}

hudi_status hd_rollback_read_plan(struct hd_op *op, const struct hd_timeline *timeline,
                                  const struct hd_instant *rollback, struct hd_rollback_plan *out,
                                  bool *readable)
{
    uint8_t *bytes = NULL;
    size_t n;

    *out = (struct hd_rollback_plan){0};
    HD_TRY(hd_timeline_read(op, timeline, rollback, HD_REQUESTED, &bytes, &n));
    const hudi_status status = hd_rollback_plan_decode(op, hd_slice_of(bytes, n), out);
    hd_free(op, bytes);
    *readable = status != HUDI_CORRUPT || rollback->state != HD_REQUESTED;
    if (*readable)
        return status;
    hd_op_clear_error(op);
    return HUDI_OK;
}

/* A rollback that was begun: its plan again, which is removed when it cannot be read. */
static hudi_status resume(struct hd_op *op, struct hd_table_snapshot *table,
                          const struct hd_instant *rollback, const char *wanted, bool *found)
{
    struct hd_rollback_plan plan;
    bool readable;

    HD_TRY(hd_rollback_read_plan(op, &table->timeline, rollback, &plan, &readable));
    if (!readable) {
        hd_log(op, HD_LOG_WARN, "the plan of rollback %s cannot be read; it is planned again",
               rollback->time);
        return hd_transition_remove_pending(op, &table->timeline, rollback);
    }
    const hudi_status status =
        run_plan(op, table, &plan, rollback->time, rollback->state == HD_INFLIGHT, false);
    *found = *found || (wanted != NULL && strcmp(plan.target_time, wanted) == 0);
    hd_rollback_plan_clear(&plan);
    return status;
}

hudi_status hd_finish_rollbacks(struct hd_op *op, struct hd_table_snapshot *table,
                                const char *wanted, bool *found)
{
    bool changed = false, unused = false;

    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *const instant = &table->timeline.instants[i];

        if (instant->action != HD_ACTION_ROLLBACK || instant->state == HD_COMPLETED)
            continue;
        if (!changed)
            HD_TRY(hd_switch_metadata_table_off(op, table));
        HD_TRY(resume(op, table, instant, wanted, found == NULL ? &unused : found));
        changed = true;
    }
    return changed ? hd_table_snapshot_reload(op, table) : HUDI_OK;
}

/* Compactions and clusterings are run again, not undone. */
hudi_status hd_rollback_is_failed_write(struct hd_op *op, const struct hd_timeline *timeline,
                                        const struct hd_instant *instant, bool *out)
{
    bool keeps;

    *out = instant->state != HD_COMPLETED && (instant->pending_action == HD_ACTION_COMMIT ||
                                              instant->pending_action == HD_ACTION_DELTACOMMIT ||
                                              instant->pending_action == HD_ACTION_REPLACECOMMIT);
    if (!*out)
        return HUDI_OK;
    HD_TRY(hd_rollback_keeps_plan(op, timeline, instant, &keeps));
    *out = !keeps;
    return HUDI_OK;
}

hudi_status hd_rollback_failed_writes(struct hd_op *op, hd_pool *pool,
                                      struct hd_table_snapshot *table,
                                      const struct hd_options *options)
{
    bool changed = false;

    HD_TRY(hd_finish_rollbacks(op, table, NULL, NULL));
    if (options != NULL && strcmp(hd_options_text(options, NULL, FAILED_WRITES), "NEVER") == 0)
        return HUDI_OK;
    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *instant = &table->timeline.instants[i];
        bool failed, alive;

        HD_TRY(hd_rollback_is_failed_write(op, &table->timeline, instant, &failed));
        if (!failed)
            continue;
        HD_TRY(hd_heartbeat_is_alive(op, table, options, instant->time, &alive));
        if (alive)
            continue;
        hd_log(op, HD_LOG_WARN, "%s was left by a writer that did not finish; rolling it back",
               instant->time);
        if (!changed)
            HD_TRY(hd_switch_metadata_table_off(op, table));
        HD_TRY(hd_rollback_instant(op, pool, table, instant));
        changed = true;
    }
    return changed ? hd_table_snapshot_reload(op, table) : HUDI_OK;
}

static bool has_policy(const struct hd_options *options, const char *policy)
{
    const char *set = hd_options_text(options, NULL, FAILED_WRITES);

    if (hd_has_several_writers(options) && strcmp(set, "EAGER") == 0)
        set = "LAZY";
    return strcmp(set, policy) == 0;
}

hudi_status hd_rollback_before_write(struct hd_op *op, hd_pool *pool,
                                     struct hd_table_snapshot *table,
                                     const struct hd_options *options)
{
    return has_policy(options, "EAGER") ? hd_rollback_failed_writes(op, pool, table, options)
                                        : hd_finish_rollbacks(op, table, NULL, NULL);
}

hudi_status hd_rollback_before_clean(struct hd_op *op, hd_pool *pool,
                                     struct hd_table_snapshot *table,
                                     const struct hd_options *options)
{
    return has_policy(options, "LAZY") ? hd_rollback_failed_writes(op, pool, table, options)
                                       : HUDI_OK;
}
