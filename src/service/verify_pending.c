/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "engine/commit/heartbeat.h"
#include "format/timeline/clean_plan.h"
#include "format/timeline/compaction_plan.h"
#include "format/timeline/replace_plan.h"
#include "format/timeline/restore_plan.h"
#include "service/verify_internal.h"

/* An instant that nothing was heard of for so long has no writer any more. */
#define HUNG_MS (INT64_C(60) * 60 * 1000)

/* ---- plans ---------------------------------------------------------------------------------- */

static hudi_status check_file(struct hd_op *op, struct hd_verify *verify,
                              const struct hd_instant *instant, const char *partition_path,
                              const char *name)
{
    const struct hd_table_snapshot *const table = &verify->table;
    struct hd_file_info info;
    char *where = NULL, *path = NULL;
    hudi_status status = HUDI_OK;

    if (name == NULL)
        return HUDI_OK;
    HD_TRY_OUT(hd_path_join(op, partition_path, name, &where));
    HD_TRY_OUT(hd_path_join(op, table->path, where, &path));
    status = hd_fs_stat(op, table->fs, path, &info);
    if (status != HUDI_NOT_FOUND)
        goto out;
    HD_TRY_OUT(hd_report_finding(op, &verify->report, "missing-plan-file", where,
                                 "the pending %s %s wants it, and it is gone",
                                 hd_action_name(instant->pending_action), instant->time));
    status = hd_report_of_instant(op, &verify->report, hd_slice_text(instant->time));
out:
    hd_free(op, where);
    hd_free(op, path);
    return status;
}

static hudi_status check_files(struct hd_op *op, struct hd_verify *verify,
                               const struct hd_instant *instant, const char *partition_path,
                               const char *base, const char *const *logs, size_t n_logs)
{
    HD_TRY(check_file(op, verify, instant, partition_path, base));
    for (size_t i = 0; i < n_logs; i++)
        HD_TRY(check_file(op, verify, instant, partition_path, logs[i]));
    return HUDI_OK;
}

static hudi_status check_compaction(struct hd_op *op, struct hd_verify *verify,
                                    const struct hd_instant *instant, struct hd_slice bytes)
{
    struct hd_compaction_plan plan;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_compaction_plan_parse(op, bytes, &plan));
    for (size_t i = 0; i < plan.n_operations && status == HUDI_OK; i++)
        status = check_files(op, verify, instant, plan.operations[i].partition_path,
                             plan.operations[i].data_file, plan.operations[i].delta_files,
                             plan.operations[i].n_delta_files);
    hd_compaction_plan_clear(&plan);
    return status;
}

static hudi_status check_clustering(struct hd_op *op, struct hd_verify *verify,
                                    const struct hd_instant *instant, struct hd_slice bytes)
{
    struct hd_replace_plan plan;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_replace_plan_parse(op, bytes, &plan));
    for (size_t i = 0; i < plan.n_slices && status == HUDI_OK; i++)
        status = check_files(op, verify, instant, plan.slices[i].partition_path,
                             plan.slices[i].data_file, plan.slices[i].delta_files,
                             plan.slices[i].n_delta_files);
    hd_replace_plan_clear(&plan);
    return status;
}

/* The plans of cleans and restores name what goes: that it is gone is no fault. */
static hudi_status check_content(struct hd_op *op, struct hd_verify *verify,
                                 const struct hd_instant *instant, struct hd_slice bytes)
{
    struct hd_clean_plan clean;
    struct hd_restore_plan restore;

    switch (instant->pending_action) {
    case HD_ACTION_COMPACTION:
    case HD_ACTION_LOGCOMPACTION:
        return check_compaction(op, verify, instant, bytes);
    case HD_ACTION_REPLACECOMMIT:
    case HD_ACTION_CLUSTERING:
        return check_clustering(op, verify, instant, bytes);
    case HD_ACTION_CLEAN:
        HD_TRY(hd_clean_plan_decode(op, bytes, &clean));
        hd_clean_plan_clear(&clean);
        return HUDI_OK;
    case HD_ACTION_RESTORE:
        HD_TRY(hd_restore_plan_decode(op, bytes, &restore));
        hd_restore_plan_clear(&restore);
        return HUDI_OK;
    default:
        return HUDI_OK;
    }
}

static hudi_status check_plan(struct hd_op *op, struct hd_verify *verify,
                              const struct hd_instant *instant)
{
    uint8_t *bytes;
    size_t n;

    if (!instant->has_requested)
        return HUDI_OK;
    hudi_status status =
        hd_timeline_read(op, &verify->table.timeline, instant, HD_REQUESTED, &bytes, &n);
    if (status == HUDI_NOT_FOUND) {
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    if (status == HUDI_OK) {
        status = check_content(op, verify, instant, hd_slice_of(bytes, n));
        hd_free(op, bytes);
    }
    return status == HUDI_OK
               ? HUDI_OK
               : hd_report_failure(op, &verify->report, status, "damaged-instant", instant->time);
}

/* ---- heartbeats ------------------------------------------------------------------------------*/

static int64_t age_ms(struct hd_op *op, int64_t modified_ms)
{
    const int64_t now_ms = (int64_t)hd_now_ms(op);

    return now_ms > modified_ms ? now_ms - modified_ms : 0;
}

hudi_status hd_verify_pending(struct hd_op *op, struct hd_verify *verify,
                              const struct hd_instant *instant)
{
    const char *const action = hd_action_name(instant->pending_action);
    const char *const state = hd_instant_state_name(instant->state);
    const int64_t age = age_ms(op, instant->modified_ms);
    int64_t beat;

    /* A writer that beats is at work; one that has stopped beating is dead. */
    HD_TRY(hd_heartbeat_age_ms(op, &verify->table, instant->time, &beat));
    if (beat >= 0 && beat <= hd_heartbeat_patience_ms(verify->options))
        HD_TRY(hd_report_note(op, &verify->report, "writer-at-work", instant->time,
                              "%s is %s, and its writer beats", action, state));
    else if (beat >= 0)
        HD_TRY(hd_report_note(op, &verify->report, "dead-heartbeat", instant->time,
                              "%s is %s, and its writer was last heard of %" PRId64 " s ago",
                              action, state, beat / 1000));
    else if (age > HUNG_MS)
        HD_TRY(hd_report_note(op, &verify->report, "hung-instant", instant->time,
                              "%s is %s since %" PRId64 " minutes: its writer died, or nobody has "
                              "run it",
                              action, state, age / 60000));
    else
        HD_TRY(hd_report_note(op, &verify->report, "pending-instant", instant->time,
                              "%s is %s: it is at work, or its writer died", action, state));
    return check_plan(op, verify, instant);
}

static bool is_pending(const struct hd_timeline *timeline, const char *time)
{
    for (size_t i = hd_timeline_lower_bound(timeline, time);
         i < timeline->n_instants && strcmp(timeline->instants[i].time, time) == 0; i++)
        if (timeline->instants[i].state != HD_COMPLETED)
            return true;
    return false;
}

hudi_status hd_verify_heartbeats(struct hd_op *op, struct hd_verify *verify)
{
    const struct hd_table_snapshot *const table = &verify->table;
    struct hd_arena listing = {0};
    struct hd_file_info *infos;
    size_t n = 0;
    char *path;

    HD_TRY(hd_path_join(op, table->path, HD_HEARTBEAT_FOLDER, &path));
    hudi_status status = hd_fs_list(op, table->fs, path, &listing, &infos, &n);
    hd_free(op, path);
    for (size_t i = 0; i < n && status == HUDI_OK; i++) {
        char *where;

        if (infos[i].is_dir || strspn(infos[i].name, "0123456789") != strlen(infos[i].name) ||
            is_pending(&table->timeline, infos[i].name) ||
            age_ms(op, infos[i].modified_ms) <= hd_heartbeat_patience_ms(verify->options))
            continue;
        status = hd_path_join(op, HD_HEARTBEAT_FOLDER, infos[i].name, &where);
        if (status != HUDI_OK)
            break;
        status = hd_report_note(op, &verify->report, "dead-heartbeat", where,
                                "heartbeat of an instant that is not at work");
        hd_free(op, where);
    }
    hd_arena_clear(&listing);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}
