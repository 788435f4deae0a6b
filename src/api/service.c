/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "engine/commit/heartbeat.h"
#include "engine/commit/rollback.h"
#include "engine/commit/table_lock.h"
#include "engine/commit/writable.h"
#include "format/timeline/replace_plan.h"

/* Only what nothing builds on may go: a write that did not finish, or the newest completed one. */
static hudi_status choose_target(struct hd_op *op, const struct hd_timeline *timeline,
                                 const char *time, const struct hd_instant **out)
{
    const struct hd_instant *last = hd_timeline_last_completed_write(timeline);

    *out = NULL;
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *instant = &timeline->instants[i];
        if (strcmp(instant->time, time) == 0 && hd_instant_is_write(instant))
            *out = instant;
    }
    if (*out == NULL)
        return hd_fail(op, HUDI_INVALID, "there is no write %s on the timeline", time);
    if (hd_timeline_find(timeline, time, HD_ACTION_SAVEPOINT) != NULL)
        return hd_fail(op, HUDI_INVALID, "%s is savepointed: drop the savepoint first", time);
    if ((*out)->state == HD_COMPLETED && *out != last)
        return hd_fail(op, HUDI_INVALID,
                       "%s is not the newest completed write (%s is): what came after builds on it",
                       time, last->time);
    return HUDI_OK;
}

/* Nor one whose files the plan of a compaction or clustering names: it could never be run. */
static hudi_status check_plans(struct hd_op *op, const struct hd_timeline *timeline,
                               const struct hd_instant *target)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_pending_file_group *groups[2];
    size_t n[2] = {0, 0};

    if (target->state != HD_COMPLETED)
        return HUDI_OK;
    HD_TRY_OUT(hd_pending_compaction_file_ids(op, timeline, &arena, &groups[0], &n[0]));
    HD_TRY_OUT(hd_pending_clustering_file_ids(op, timeline, &arena, &groups[1], &n[1]));
    for (size_t list = 0; list < 2; list++)
        for (size_t i = 0; i < n[list]; i++)
            if (strcmp(groups[list][i].instant, target->time) > 0)
                HD_TRY_OUT(hd_fail(op, HUDI_INVALID,
                                   "%s is planned on what %s wrote: run the plan first",
                                   groups[list][i].instant, target->time));
out:
    hd_arena_clear(&arena);
    return status;
}

/* Nor one that is being written. */
static hudi_status check_dead(struct hd_op *op, const struct hd_table_snapshot *table,
                              const struct hd_options *options, const struct hd_instant *target)
{
    bool alive;

    if (target->state == HD_COMPLETED)
        return HUDI_OK;
    HD_TRY(hd_heartbeat_is_alive(op, table, options, target->time, &alive));
    return alive ? hd_fail_retriable(op, hd_fail(op, HUDI_CONFLICT,
                                                 "%s is at work: its writer beats", target->time))
                 : HUDI_OK;
}

static hudi_status roll_back(struct hd_op *op, hudi_context *context, const char *uri,
                             const struct hd_options *options, const char *time)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_fs_lock *lock = NULL;
    const struct hd_instant *target;

    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &table));
    HD_TRY_OUT(hd_check_writable(op, &table));
    HD_TRY_OUT(hd_table_lock(op, &table, options, hd_table_lock_wait_ms(options), &lock));
    HD_TRY_OUT(hd_table_snapshot_reload(op, &table));
    HD_TRY_OUT(hd_check_no_restore(op, &table.timeline));
    HD_TRY_OUT(choose_target(op, &table.timeline, time, &target));
    HD_TRY_OUT(check_dead(op, &table, options, target));
    HD_TRY_OUT(check_plans(op, &table.timeline, target));
    HD_TRY_OUT(hd_switch_metadata_table_off(op, &table));
    HD_TRY_OUT(hd_rollback_instant(op, context->pool, &table, target));
out:
    hd_fs_unlock(lock);
    hd_table_snapshot_clear(op, &table);
    return hd_fail_path(op, status, uri);
}

hudi_status hudi_rollback(hudi_table *table, const char *instant_time, hudi_error **err)
{
    struct hd_op op;

    hd_call_begin(&op, table->context, NULL);
    return hd_call_end(
        &op, roll_back(&op, table->context, table->snapshot.uri, &table->options, instant_time),
        err);
}
