/* SPDX-License-Identifier: Apache-2.0 */

#include "format/timeline/transition.h"

#include <inttypes.h>
#include <string.h>

/* ---- new times ---------------------------------------------------------------------------- */

/* The last time given out by this process: the one piece of state that all tables share, since two
 * writers in one process may start within a millisecond. */
static _Atomic(uint64_t) last_given_ms;

/* A clock this far behind the last time is another clock (or was set back): its own table's
 * timeline keeps the order then. */
#define SAME_CLOCK_MS 60000

static uint64_t claim_now(struct hd_op *op)
{
    const uint64_t now_ms = hd_now_ms(op);
    uint64_t last = atomic_load(&last_given_ms), mine;

    do {
        mine = now_ms;
        if (last >= now_ms && last - now_ms < SAME_CLOCK_MS)
            mine = last + 1;
    } while (!atomic_compare_exchange_weak(&last_given_ms, &last, mine > last ? mine : last));
    if (mine > now_ms)
        hd_sleep_ms(op, mine - now_ms < 1000 ? mine - now_ms : 1000);
    return mine;
}

hudi_status hd_transition_new_time(struct hd_op *op, const struct hd_timeline *timeline,
                                   char out[HD_INSTANT_TIME_BYTES])
{
    const char *const newest =
        timeline->n_instants > 0 ? timeline->instants[timeline->n_instants - 1].time : "";

    HD_TRY(hd_op_check_cancel(op));
    hd_instant_time_format(claim_now(op), timeline->utc, out);
    if (strcmp(out, newest) > 0)
        return HUDI_OK;
    /* Another machine's clock is ahead, or daylight saving time has ended. */
    if (!hd_instant_time_next(newest, out))
        return hd_fail(op, HUDI_INVALID, "the newest instant %s is no time that another can follow",
                       newest);
    return HUDI_OK;
}

/* ---- state files -------------------------------------------------------------------------- */

static hudi_status path_of(struct hd_op *op, const struct hd_timeline *timeline, const char *time,
                           enum hd_action action, enum hd_instant_state state, char **out)
{
    const struct hd_instant instant = {.time = time, .action = action, .pending_action = action};

    if (state == HD_COMPLETED && timeline->version->timeline_layout >= 2)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "completing an instant of a table of version %d",
                       timeline->version->number);
    return hd_timeline_path(op, timeline, &instant, state, out);
}

static hudi_status publish(struct hd_op *op, const struct hd_timeline *timeline, const char *time,
                           enum hd_action action, enum hd_instant_state state, const void *content,
                           size_t n)
{
    char *path;

    HD_TRY(path_of(op, timeline, time, action, state, &path));
    hudi_status status = hd_fs_publish(op, timeline->fs, path, content, n);
    hd_free(op, path);
    return status;
}

/* HUDI_CONFLICT unless the state's file is there: somebody rolled the instant back. */
static hudi_status require(struct hd_op *op, const struct hd_timeline *timeline, const char *time,
                           enum hd_action action, enum hd_instant_state state)
{
    struct hd_file_info info;
    char *path;

    HD_TRY(path_of(op, timeline, time, action, state, &path));
    hudi_status status = hd_fs_stat(op, timeline->fs, path, &info);
    if (status == HUDI_NOT_FOUND)
        status = hd_fail_path(op,
                              hd_fail(op, HUDI_CONFLICT, "%s %s is no longer %s: rolled back?",
                                      hd_action_name(action), time,
                                      state == HD_REQUESTED ? "requested" : "inflight"),
                              path);
    hd_free(op, path);
    return status;
}

/* HUDI_EXISTS with an error. */
static hudi_status publish_new(struct hd_op *op, const struct hd_timeline *timeline,
                               const char *time, enum hd_action action, enum hd_instant_state state,
                               const void *content, size_t n)
{
    hudi_status status = publish(op, timeline, time, action, state, content, n);

    if (status == HUDI_EXISTS)
        return hd_fail(op, HUDI_EXISTS, "%s %s is %s already", hd_action_name(action), time,
                       state == HD_REQUESTED ? "requested" : "inflight");
    return status;
}

hudi_status hd_transition_request(struct hd_op *op, const struct hd_timeline *timeline,
                                  const char *time, enum hd_action action, const void *content,
                                  size_t n)
{
    return publish_new(op, timeline, time, action, HD_REQUESTED, content, n);
}

hudi_status hd_transition_start(struct hd_op *op, const struct hd_timeline *timeline,
                                const char *time, enum hd_action action, const void *content,
                                size_t n)
{
    if (action != HD_ACTION_SAVEPOINT) /* has no requested file */
        HD_TRY(require(op, timeline, time, action, HD_REQUESTED));
    return publish_new(op, timeline, time, action, HD_INFLIGHT, content, n);
}

hudi_status hd_transition_complete(struct hd_op *op, const struct hd_timeline *timeline,
                                   const char *time, enum hd_action action, const void *content,
                                   size_t n)
{
    struct hd_file_info info;
    char *path;

    HD_TRY(path_of(op, timeline, time, action, HD_COMPLETED, &path));
    hudi_status status = hd_fs_stat(op, timeline->fs, path, &info);
    if (status == HUDI_OK)
        status = HUDI_EXISTS;
    else if (status == HUDI_NOT_FOUND)
        status = require(op, timeline, time, action, HD_INFLIGHT);
    if (status == HUDI_OK)
        status = hd_fs_publish(op, timeline->fs, path, content, n);
    hd_free(op, path);
    return status;
}

/* ---- back --------------------------------------------------------------------------------- */

/* Delete a state's file; a missing one is fine. Not durable before sync_folder(). */
static hudi_status delete_state(struct hd_op *op, const struct hd_timeline *timeline,
                                const struct hd_instant *instant, enum hd_instant_state state)
{
    char *path;

    HD_TRY(hd_timeline_path(op, timeline, instant, state, &path));
    hudi_status status = hd_fs_delete_file(op, timeline->fs, path);
    hd_free(op, path);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

static hudi_status sync_folder(struct hd_op *op, const struct hd_timeline *timeline)
{
    char *folder;

    HD_TRY(hd_path_join(op, timeline->table_path, timeline->version->timeline_folder, &folder));
    hudi_status status = hd_fs_sync_dir(op, timeline->fs, folder);
    hd_free(op, folder);
    return status;
}

hudi_status hd_transition_remove_pending(struct hd_op *op, const struct hd_timeline *timeline,
                                         const struct hd_instant *instant)
{
    HD_TRY(delete_state(op, timeline, instant, HD_INFLIGHT));
    HD_TRY(sync_folder(op, timeline)); /* never an inflight file without its requested one */
    HD_TRY(delete_state(op, timeline, instant, HD_REQUESTED));
    return sync_folder(op, timeline);
}

hudi_status hd_transition_revert_inflight(struct hd_op *op, const struct hd_timeline *timeline,
                                          const struct hd_instant *instant)
{
    HD_TRY(require(op, timeline, instant->time, instant->pending_action, HD_REQUESTED));
    HD_TRY(delete_state(op, timeline, instant, HD_INFLIGHT));
    return sync_folder(op, timeline);
}

static hudi_status ensure_state(struct hd_op *op, const struct hd_timeline *timeline,
                                const struct hd_instant *instant, enum hd_instant_state state)
{
    hudi_status status =
        publish(op, timeline, instant->time, instant->pending_action, state, "", 0);

    return status == HUDI_EXISTS ? HUDI_OK : status;
}

hudi_status hd_transition_revert_completed(struct hd_op *op, const struct hd_timeline *timeline,
                                           const struct hd_instant *instant)
{
    HD_TRY(ensure_state(op, timeline, instant, HD_REQUESTED));
    HD_TRY(ensure_state(op, timeline, instant, HD_INFLIGHT));
    HD_TRY(delete_state(op, timeline, instant, HD_COMPLETED));
    return sync_folder(op, timeline);
}

hudi_status hd_transition_remove_archived(struct hd_op *op, const struct hd_timeline *timeline,
                                          const struct hd_instant *const *instants, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        HD_TRY(delete_state(op, timeline, instants[i], HD_INFLIGHT));
        HD_TRY(delete_state(op, timeline, instants[i], HD_REQUESTED));
    }
    HD_TRY(sync_folder(op, timeline));
    for (size_t i = 0; i < n; i++) {
        HD_TRY(delete_state(op, timeline, instants[i], HD_COMPLETED));
        HD_TRY(sync_folder(op, timeline));
    }
    return HUDI_OK;
}

hudi_status hd_transition_remove_savepoint(struct hd_op *op, const struct hd_timeline *timeline,
                                           const struct hd_instant *instant)
{
    HD_TRY(delete_state(op, timeline, instant, HD_COMPLETED));
    HD_TRY(sync_folder(op, timeline));
    HD_TRY(delete_state(op, timeline, instant, HD_INFLIGHT));
    return sync_folder(op, timeline);
}

hudi_status hd_transition_remove_rollback(struct hd_op *op, const struct hd_timeline *timeline,
                                          const struct hd_instant *instant)
{
    HD_TRY(delete_state(op, timeline, instant, HD_INFLIGHT));
    HD_TRY(delete_state(op, timeline, instant, HD_REQUESTED));
    HD_TRY(sync_folder(op, timeline));
    HD_TRY(delete_state(op, timeline, instant, HD_COMPLETED));
    return sync_folder(op, timeline);
}
