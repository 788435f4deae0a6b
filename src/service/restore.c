/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "engine/commit/heartbeat.h"
#include "engine/commit/rollback.h"
#include "engine/commit/table_lock.h"
#include "engine/commit/writable.h"
#include "format/timeline/archived_timeline.h"
#include "format/timeline/replace_plan.h"
#include "format/timeline/restore_plan.h"
#include "format/timeline/rollback_plan.h"
#include "format/timeline/savepoint_metadata.h"
#include "format/timeline/transition.h"
#include "service/savepoint.h"
#include "service/serviceable.h"
#include "service/undo_preview.h"

/* ---- may it be done ------------------------------------------------------------------------- */

static hudi_status check_savepoints_after(struct hd_op *op, const struct hd_timeline *timeline,
                                          const char *time)
{
    for (size_t i = 0; i < timeline->n_instants; i++)
        if (timeline->instants[i].action == HD_ACTION_SAVEPOINT &&
            strcmp(timeline->instants[i].time, time) > 0)
            return hd_fail(op, HUDI_INVALID,
                           "%s is savepointed and would be lost: drop that savepoint first",
                           timeline->instants[i].time);
    return HUDI_OK;
}

/* All that a savepoint names must still be there. */
static hudi_status check_savepoint(struct hd_op *op, const struct hd_table_snapshot *table,
                                   const struct hd_instant *savepoint)
{
    struct hd_savepoint_metadata metadata;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_savepoint_metadata_read(op, &table->timeline, savepoint, &metadata));
    for (size_t p = 0; p < metadata.n_partitions && status == HUDI_OK; p++) {
        const struct hd_savepoint_partition *const partition = &metadata.partitions[p];

        for (size_t f = 0; f < partition->n_files && status == HUDI_OK; f++) {
            struct hd_file_info info;
            char *path;

            HD_TRY_OUT(hd_asprintf(op, &path, "%s/%s%s%s", table->path, partition->partition_path,
                                   partition->partition_path[0] == '\0' ? "" : "/",
                                   partition->files[f]));
            status = hd_fs_stat(op, table->fs, path, &info);
            hd_free(op, path);
            if (status == HUDI_NOT_FOUND)
                status = hd_fail(op, HUDI_CORRUPT, "%s of savepoint %s is gone",
                                 partition->files[f], savepoint->time);
        }
    }
out:
    hd_savepoint_metadata_clear(&metadata);
    return status;
}

static bool is_active_write(const struct hd_timeline *timeline, const char *time)
{
    for (size_t i = hd_timeline_lower_bound(timeline, time);
         i < timeline->n_instants && strcmp(timeline->instants[i].time, time) == 0; i++)
        if (hd_instant_is_write(&timeline->instants[i]))
            return true;
    return false;
}

/* Files of an archived write would count for good, whoever goes back to before it. */
static hudi_status check_archive(struct hd_op *op, const struct hd_table_snapshot *table,
                                 const char *time)
{
    struct hd_archived_timeline archive;

    if (table->timeline.start == NULL || strcmp(table->timeline.start, time) <= 0)
        return HUDI_OK; /* no savepoint that stands alone before what was archived */
    HD_TRY(hd_archived_timeline_load(op, table->fs, table->path, &table->config, time, NULL,
                                     &archive));
    hudi_status status = HUDI_OK;
    for (size_t i = 0; i < archive.n_instants && status == HUDI_OK; i++)
        if (archive.instants[i].has_commit && strcmp(archive.instants[i].time, time) > 0 &&
            !is_active_write(&table->timeline, archive.instants[i].time))
            status = hd_fail(op, HUDI_INVALID, "%s came after %s and was archived: it stays",
                             archive.instants[i].time, time);
    hd_archived_timeline_clear(&archive);
    return status;
}

/* What a live writer goes on to write would not be undone. */
static hudi_status check_writers(struct hd_op *op, const struct hd_table_snapshot *table,
                                 const struct hd_options *options, const char *time)
{
    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *const instant = &table->timeline.instants[i];
        bool alive;

        if (!hd_instant_is_write(instant) || instant->state == HD_COMPLETED ||
            strcmp(instant->time, time) <= 0)
            continue;
        HD_TRY(hd_heartbeat_is_alive(op, table, options, instant->time, &alive));
        if (alive)
            return hd_fail_retriable(
                op, hd_fail(op, HUDI_CONFLICT, "%s is at work: its writer beats", instant->time));
    }
    return HUDI_OK;
}

static hudi_status check(struct hd_op *op, hd_pool *pool, const struct hd_table_snapshot *table,
                         const struct hd_options *options, const char *time)
{
    const struct hd_instant *const savepoint =
        hd_timeline_find(&table->timeline, time, HD_ACTION_SAVEPOINT);

    HD_TRY(check_savepoints_after(op, &table->timeline, time));
    HD_TRY(check_archive(op, table, time));
    HD_TRY(check_writers(op, table, options, time));
    if (savepoint != NULL && savepoint->state == HD_COMPLETED)
        return check_savepoint(op, table, savepoint);
    return hd_check_readable(op, pool, table, time);
}

/* ---- the plan ------------------------------------------------------------------------------- */

static hudi_status is_pending_clustering(struct hd_op *op, const struct hd_timeline *timeline,
                                         const struct hd_instant *instant, bool *out)
{
    struct hd_replace_plan plan;

    *out = instant->state != HD_COMPLETED && instant->pending_action == HD_ACTION_CLUSTERING;
    if (instant->state == HD_COMPLETED || !instant->has_requested ||
        instant->pending_action != HD_ACTION_REPLACECOMMIT)
        return HUDI_OK;
    HD_TRY(hd_replace_plan_read(op, timeline, instant, &plan));
    *out = plan.is_clustering;
    hd_replace_plan_clear(&plan);
    return HUDI_OK;
}

/* Pending clusterings first, then all later writes, the newest first of each. */
static hudi_status make_plan(struct hd_op *op, const struct hd_table_snapshot *table,
                             const char *time, struct hd_restore_plan *plan)
{
    const struct hd_timeline *const timeline = &table->timeline;

    plan->target = time;
    HD_TRY(
        hd_arena_array(op, &plan->arena, timeline->n_instants, sizeof *plan->steps, &plan->steps));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = timeline->n_instants; i > 0; i--) {
            const struct hd_instant *const instant = &timeline->instants[i - 1];
            bool clustering;
            char *copy;

            if (!hd_instant_is_write(instant) || strcmp(instant->time, time) <= 0)
                continue;
            HD_TRY(is_pending_clustering(op, timeline, instant, &clustering));
            if (clustering != (pass == 0))
                continue;
            HD_TRY(hd_arena_strdup(op, &plan->arena, instant->time, &copy));
            plan->steps[plan->n_steps++] =
                (struct hd_restore_step){copy, hd_action_name(instant->action)};
        }
    }
    return HUDI_OK;
}

/* ---- carrying it out ------------------------------------------------------------------------ */

static hudi_status roll_back(struct hd_op *op, struct hd_table_snapshot *table,
                             const struct hd_restore_step *step)
{
    HD_TRY(hd_table_snapshot_reload(op, table));
    for (size_t i = hd_timeline_lower_bound(&table->timeline, step->time);
         i < table->timeline.n_instants &&
         strcmp(table->timeline.instants[i].time, step->time) == 0;
         i++)
        if (hd_instant_is_write(&table->timeline.instants[i]))
            return hd_rollback_for_good(op, table, &table->timeline.instants[i]);
    return HUDI_OK; /* done before */
}

/* The files of the rollbacks since the restore began, by the instant that each undid. */
static hudi_status read_rollbacks(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const struct hd_restore_plan *plan, const char *restore_time,
                                  struct hd_arena *arena, struct hd_slice *out)
{
    const struct hd_timeline *const timeline = &table->timeline;

    for (size_t i = hd_timeline_lower_bound(timeline, restore_time); i < timeline->n_instants;
         i++) {
        const struct hd_instant *const instant = &timeline->instants[i];
        struct hd_rollback_plan done;
        uint8_t *bytes;
        size_t n;

        if (instant->action != HD_ACTION_ROLLBACK || instant->state != HD_COMPLETED)
            continue;
        HD_TRY(hd_timeline_read(op, timeline, instant, HD_COMPLETED, &bytes, &n));
        hudi_status status = hd_rollback_metadata_decode(op, hd_slice_of(bytes, n), &done);
        for (size_t s = 0; s < plan->n_steps && status == HUDI_OK; s++) {
            char *copy;

            if (strcmp(plan->steps[s].time, done.target_time) != 0)
                continue;
            status = hd_arena_strndup(op, arena, bytes, n, &copy);
            out[s] = hd_slice_of(copy, n);
        }
        hd_rollback_plan_clear(&done);
        hd_free(op, bytes);
        HD_TRY(status);
    }
    return HUDI_OK;
}

/* Step 5 of savepoint.h: what was rolled back is told by the restore. */
static hudi_status remove_rollbacks(struct hd_op *op, struct hd_table_snapshot *table,
                                    const char *target)
{
    HD_TRY(hd_table_snapshot_reload(op, table));
    for (size_t i = table->timeline.n_instants; i > 0; i--) {
        const struct hd_instant *const instant = &table->timeline.instants[i - 1];

        if (instant->action == HD_ACTION_ROLLBACK && strcmp(instant->time, target) > 0)
            HD_TRY(hd_transition_remove_rollback(op, &table->timeline, instant));
    }
    return HUDI_OK;
}

/* Steps 2 to 5 of savepoint.h; any of them may have been done before. */
static hudi_status run_plan(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                            const struct hd_restore_plan *plan, const char *time, bool inflight)
{
    hudi_status status = HUDI_OK;
    const uint64_t started_ms = hd_now_ms(op);
    struct hd_arena arena = {0};
    struct hd_slice *rollbacks;
    struct hd_str bytes = {0};

    if (!inflight)
        HD_TRY_OUT(hd_transition_start(op, &table->timeline, time, HD_ACTION_RESTORE, NULL, 0));
    HD_TRY_OUT(hd_switch_metadata_table_off(op, table));
    HD_TRY_OUT(hd_table_snapshot_reload(op, table));
    HD_TRY_OUT(
        hd_rollback_failed_writes(op, pool, table, NULL)); /* and rollbacks that were begun */
    for (size_t i = 0; i < plan->n_steps; i++) {
        HD_TRY_OUT(hd_op_check_cancel(op));
        HD_TRY_OUT(roll_back(op, table, &plan->steps[i]));
    }
    HD_TRY_OUT(hd_table_snapshot_reload(op, table));
    HD_TRY_OUT(hd_arena_array(op, &arena, plan->n_steps, sizeof *rollbacks, &rollbacks));
    HD_TRY_OUT(read_rollbacks(op, table, plan, time, &arena, rollbacks));
    HD_TRY_OUT(hd_restore_metadata_encode(op, plan, rollbacks, time,
                                          (int64_t)(hd_now_ms(op) - started_ms), &bytes));
    status = hd_transition_complete(op, &table->timeline, time, HD_ACTION_RESTORE, bytes.data,
                                    bytes.size);
    HD_TRY_OUT(status == HUDI_EXISTS ? HUDI_OK : status);
    if (plan->target != NULL) /* plans of older releases do not say */
        status = remove_rollbacks(op, table, plan->target);
out:
    hd_arena_clear(&arena);
    hd_str_clear(&bytes);
    return status;
}

/* A restore that was begun: its plan again. One that cannot be read was never acted on. */
static hudi_status resume(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                          const struct hd_instant *restore, size_t *n)
{
    struct hd_restore_plan plan = {0};
    char time[HD_INSTANT_TIME_BYTES];
    uint8_t *bytes = NULL;
    size_t n_bytes;

    memcpy(time, restore->time, strlen(restore->time) + 1);
    const bool inflight = restore->state == HD_INFLIGHT;
    HD_TRY(hd_timeline_read(op, &table->timeline, restore, HD_REQUESTED, &bytes, &n_bytes));
    hudi_status status = hd_restore_plan_decode(op, hd_slice_of(bytes, n_bytes), &plan);
    hd_free(op, bytes);
    if (status == HUDI_CORRUPT && !inflight) {
        hd_op_clear_error(op);
        return hd_transition_remove_pending(op, &table->timeline, restore);
    }
    HD_TRY(status);
    status = run_plan(op, pool, table, &plan, time, inflight);
    *n += plan.n_steps;
    hd_restore_plan_clear(&plan);
    return status;
}

static hudi_status resume_all(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                              size_t *n)
{
    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *const instant = &table->timeline.instants[i];

        if (instant->action != HD_ACTION_RESTORE || instant->state == HD_COMPLETED)
            continue;
        HD_TRY(resume(op, pool, table, instant, n));
        HD_TRY(hd_table_snapshot_reload(op, table));
        i = (size_t)-1; /* from the start: the timeline is another */
    }
    return HUDI_OK;
}

static hudi_status restore(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                           const struct hd_options *options, const char *time, size_t *n)
{
    hudi_status status = HUDI_OK;
    struct hd_restore_plan plan = {0};
    struct hd_str bytes = {0};
    char restore_time[HD_INSTANT_TIME_BYTES];

    HD_TRY_OUT(resume_all(op, pool, table, n));
    HD_TRY_OUT(check(op, pool, table, options, time));
    HD_TRY_OUT(make_plan(op, table, time, &plan));
    if (plan.n_steps == 0)
        goto out;
    HD_TRY_OUT(hd_restore_plan_encode(op, &plan, &bytes));
    HD_TRY_OUT(hd_transition_new_time(op, &table->timeline, restore_time));
    HD_TRY_OUT(hd_transition_request(op, &table->timeline, restore_time, HD_ACTION_RESTORE,
                                     bytes.data, bytes.size));
    HD_TRY_OUT(run_plan(op, pool, table, &plan, restore_time, false));
    *n += plan.n_steps;
out:
    hd_restore_plan_clear(&plan);
    hd_str_clear(&bytes);
    return status;
}

hudi_status hd_restore(struct hd_op *op, hd_pool *pool, const char *uri,
                       const struct hd_options *options, const char *time, size_t *n_rolled_back)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_fs_lock *lock = NULL;
    const uint64_t wait_ms = hd_table_lock_wait_ms(options);
    size_t n = 0;

    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &table));
    HD_TRY_OUT(hd_check_service_table(op, &table));
    HD_TRY_OUT(hd_check_writable(op, &table)); /* what can be rolled back */
    HD_TRY_OUT(hd_table_lock(op, &table, options, wait_ms, &lock));
    HD_TRY_OUT(hd_table_snapshot_reload(op, &table));
    HD_TRY_OUT(hd_check_service_table(op, &table));
    HD_TRY_OUT(restore(op, pool, &table, options, time, &n));
    if (n_rolled_back != NULL)
        *n_rolled_back = n;
out:
    hd_fs_unlock(lock);
    hd_table_snapshot_clear(op, &table);
    return hd_fail_path(op, status, uri);
}

/* ---- what it would do ----------------------------------------------------------------------- */

/* As run_plan(). */
static hudi_status preview_plan(struct hd_op *op, struct hd_undoing *undoing,
                                const struct hd_restore_plan *plan)
{
    const struct hd_timeline *const timeline = &undoing->after.timeline;

    HD_TRY(hd_undoing_failed_writes(op, undoing));
    for (size_t s = 0; s < plan->n_steps; s++) {
        size_t i = hd_timeline_lower_bound(timeline, plan->steps[s].time);

        while (i < timeline->n_instants &&
               strcmp(timeline->instants[i].time, plan->steps[s].time) == 0 &&
               !hd_instant_is_write(&timeline->instants[i]))
            i++;
        if (i < timeline->n_instants &&
            strcmp(timeline->instants[i].time, plan->steps[s].time) == 0)
            HD_TRY(hd_undoing_roll_back(op, undoing, &timeline->instants[i], true));
    }
    return HUDI_OK;
}

/* As resume(). */
static hudi_status preview_resumed(struct hd_op *op, struct hd_undoing *undoing,
                                   const struct hd_instant *restore)
{
    struct hd_restore_plan plan = {0};
    uint8_t *bytes = NULL;
    size_t n;

    HD_TRY(hd_timeline_read(op, &undoing->table->timeline, restore, HD_REQUESTED, &bytes, &n));
    hudi_status status = hd_restore_plan_decode(op, hd_slice_of(bytes, n), &plan);
    hd_free(op, bytes);
    if (status == HUDI_CORRUPT && restore->state != HD_INFLIGHT) {
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    HD_TRY(status);
    status = preview_plan(op, undoing, &plan);
    hd_restore_plan_clear(&plan);
    return status;
}

/* As restore(). */
static hudi_status preview(struct hd_op *op, hd_pool *pool, const struct hd_table_snapshot *table,
                           const struct hd_options *options, const char *time,
                           struct hd_undoing *undoing)
{
    struct hd_restore_plan plan = {0};

    for (size_t i = 0; i < table->timeline.n_instants; i++)
        if (table->timeline.instants[i].action == HD_ACTION_RESTORE &&
            table->timeline.instants[i].state != HD_COMPLETED)
            HD_TRY(preview_resumed(op, undoing, &table->timeline.instants[i]));
    HD_TRY(check(op, pool, &undoing->after, options, time));
    hudi_status status = make_plan(op, &undoing->after, time, &plan);
    if (status == HUDI_OK && plan.n_steps > 0)
        status = preview_plan(op, undoing, &plan);
    hd_restore_plan_clear(&plan);
    return status;
}

hudi_status hd_restore_preview(struct hd_op *op, hd_pool *pool, const char *uri,
                               const struct hd_options *options, const char *time,
                               struct hd_preview *out)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_undoing undoing = {0};

    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &table));
    HD_TRY_OUT(hd_check_service_table(op, &table));
    HD_TRY_OUT(hd_check_writable(op, &table));
    HD_TRY_OUT(hd_table_lock_check_options(op, options));
    HD_TRY_OUT(hd_undoing_begin(op, &table, out, &undoing));
    HD_TRY_OUT(preview(op, pool, &table, options, time, &undoing));
    hd_undoing_end(&undoing);
out:
    hd_undoing_clear(&undoing);
    hd_table_snapshot_clear(op, &table);
    return hd_fail_path(op, status, uri);
}
