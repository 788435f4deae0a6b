/* SPDX-License-Identifier: Apache-2.0 */
#include "service/undo.h"

#include <string.h>

#include "engine/commit/heartbeat.h"
#include "engine/commit/rollback.h"
#include "engine/commit/table_lock.h"
#include "engine/commit/writable.h"
#include "service/revertible.h"
#include "service/undo_preview.h"

static const struct hd_instant *find_write(const struct hd_timeline *timeline, const char *time)
{
    for (size_t i = hd_timeline_lower_bound(timeline, time);
         i < timeline->n_instants && strcmp(timeline->instants[i].time, time) == 0; i++)
        if (hd_instant_is_write(&timeline->instants[i]))
            return &timeline->instants[i];
    return NULL;
}

/* A compaction that was begun goes back to its plan. The plan itself stays: writes put log files on
 * it. */
static bool is_for_good(const struct hd_instant *target)
{
    return target->state == HD_COMPLETED || target->pending_action != HD_ACTION_COMPACTION;
}

static hudi_status roll_back_target(struct hd_op *op, hd_pool *pool,
                                    struct hd_table_snapshot *table,
                                    const struct hd_instant *target)
{
    return is_for_good(target) ? hd_rollback_for_good(op, table, target)
                               : hd_rollback_instant(op, pool, table, target);
}

/* What is being written is its writer's. */
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

static hudi_status check_target(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_options *options, const struct hd_instant *target)
{
    HD_TRY(check_dead(op, table, options, target));
    HD_TRY(hd_check_revertible(op, table, target));
    if (!is_for_good(target) && target->state == HD_REQUESTED)
        return hd_fail(op, HUDI_INVALID, "%s is a compaction that is planned only: run it",
                       target->time);
    return HUDI_OK;
}

hudi_status hd_undo(struct hd_op *op, hd_pool *pool, const char *uri,
                    const struct hd_options *options, const char *time)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_fs_lock *lock = NULL;
    const struct hd_instant *target;
    bool undone = false;

    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &table));
    HD_TRY_OUT(hd_check_writable(op, &table));
    HD_TRY_OUT(hd_table_lock(op, &table, options, hd_table_lock_wait_ms(options), &lock));
    HD_TRY_OUT(hd_table_snapshot_reload(op, &table));
    HD_TRY_OUT(hd_check_no_restore(op, &table.timeline));
    HD_TRY_OUT(hd_finish_rollbacks(op, &table, time, &undone));
    target = find_write(&table.timeline, time);
    if (target == NULL && undone) /* by a rollback that was killed */
        goto out;
    if (target == NULL)
        HD_TRY_OUT(hd_fail(op, HUDI_INVALID, "there is no write %s on the timeline", time));
    HD_TRY_OUT(check_target(op, &table, options, target));
    HD_TRY_OUT(hd_switch_metadata_table_off(op, &table));
    target = find_write(&table.timeline, time); /* the timeline is another */
    if (target == NULL)
        HD_TRY_OUT(hd_fail(op, HUDI_CONFLICT, "%s was rolled back by somebody else", time));
    HD_TRY_OUT(roll_back_target(op, pool, &table, target));
out:
    hd_fs_unlock(lock);
    hd_table_snapshot_clear(op, &table);
    return hd_fail_path(op, status, uri);
}

hudi_status hd_undo_preview(struct hd_op *op, const char *uri, const struct hd_options *options,
                            const char *time, struct hd_preview *out)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_undoing undoing = {0};
    const struct hd_instant *target;
    bool undone = false;

    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &table));
    HD_TRY_OUT(hd_check_writable(op, &table));
    HD_TRY_OUT(hd_table_lock_check_options(op, options));
    HD_TRY_OUT(hd_check_no_restore(op, &table.timeline));
    HD_TRY_OUT(hd_undoing_begin(op, &table, out, &undoing));
    HD_TRY_OUT(hd_undoing_finish_rollbacks(op, &undoing, time, &undone));
    target = find_write(&undoing.after.timeline, time);
    if (target == NULL && undone)
        goto out;
    if (target == NULL)
        HD_TRY_OUT(hd_fail(op, HUDI_INVALID, "there is no write %s on the timeline", time));
    HD_TRY_OUT(check_target(op, &undoing.after, options, target));
    HD_TRY_OUT(hd_undoing_roll_back(op, &undoing, target, is_for_good(target)));
    hd_undoing_end(&undoing);
out:
    hd_undoing_clear(&undoing);
    hd_table_snapshot_clear(op, &table);
    return hd_fail_path(op, status, uri);
}
