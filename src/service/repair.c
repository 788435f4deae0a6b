/* SPDX-License-Identifier: Apache-2.0 */
#include "service/repair.h"

#include <string.h>

#include "engine/commit/rollback.h"
#include "engine/commit/table_lock.h"
#include "engine/commit/writable.h"
#include "format/layout/partition.h"
#include "format/marker/marker.h"
#include "format/timeline/clean_plan.h"
#include "format/timeline/compaction_plan.h"
#include "format/timeline/replace_plan.h"
#include "format/timeline/transition.h"
#include "service/serviceable.h"
#include "service/verify_internal.h"

struct repair {
    hd_pool *pool;
    const struct hd_options *options;
    struct hd_table_snapshot table;
    struct hd_verification found;
    struct hd_report done;
    bool dry_run;
};

/* ---- instants that hang --------------------------------------------------------------------- */

/* A writer is at work: what looks dead may be its own. */
static bool somebody_writes(const struct repair *repair)
{
    for (size_t i = 0; i < repair->found.n_notes; i++)
        if (strcmp(repair->found.notes[i].kind, "writer-at-work") == 0)
            return true;
    return false;
}

static bool is_write_or_rollback(const struct hd_instant *instant)
{
    return instant->pending_action == HD_ACTION_COMMIT ||
           instant->pending_action == HD_ACTION_DELTACOMMIT ||
           instant->pending_action == HD_ACTION_REPLACECOMMIT ||
           instant->action == HD_ACTION_ROLLBACK;
}

/* Only with a plan is a replacecommit a clustering, which is run again and not undone. */
static hudi_status is_clustering(struct hd_op *op, const struct repair *repair,
                                 const struct hd_instant *instant, bool *out)
{
    struct hd_replace_plan plan;

    *out = false;
    if (instant->pending_action != HD_ACTION_REPLACECOMMIT || !instant->has_requested)
        return HUDI_OK;
    const hudi_status status = hd_replace_plan_read(op, &repair->table.timeline, instant, &plan);
    if (status == HUDI_CORRUPT) {
        hd_op_clear_error(op);
        *out = true; /* what it is cannot be told: left to the plans */
        return HUDI_OK;
    }
    HD_TRY(status);
    *out = plan.is_clustering;
    hd_replace_plan_clear(&plan);
    return HUDI_OK;
}

static hudi_status roll_back_hung(struct hd_op *op, struct repair *repair)
{
    const struct hd_timeline *const timeline = &repair->table.timeline;
    bool any = false;

    if (somebody_writes(repair) || hd_check_writable(op, &repair->table) != HUDI_OK) {
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];
        bool clustering;

        if (instant->state == HD_COMPLETED || !is_write_or_rollback(instant))
            continue;
        HD_TRY(is_clustering(op, repair, instant, &clustering));
        if (clustering)
            continue;
        HD_TRY(hd_report_finding(op, &repair->done, "rolled-back", instant->time,
                                 instant->action == HD_ACTION_ROLLBACK
                                     ? "a rollback that was begun is finished"
                                     : "a %s that did not complete is undone",
                                 hd_action_name(instant->pending_action)));
        any = true;
    }
    if (!any || repair->dry_run)
        return HUDI_OK;
    HD_TRY(hd_switch_metadata_table_off(op, &repair->table));
    HD_TRY(hd_rollback_failed_writes(op, repair->pool, &repair->table, repair->options));
    return hd_table_snapshot_reload(op, &repair->table);
}

/* ---- plans that cannot be read -------------------------------------------------------------- */

static hudi_status parse_plan(struct hd_op *op, enum hd_action action, struct hd_slice bytes)
{
    struct hd_compaction_plan compaction;
    struct hd_replace_plan replace;
    struct hd_clean_plan clean;

    switch (action) {
    case HD_ACTION_COMPACTION:
    case HD_ACTION_LOGCOMPACTION:
        HD_TRY(hd_compaction_plan_parse(op, bytes, &compaction));
        hd_compaction_plan_clear(&compaction);
        return HUDI_OK;
    case HD_ACTION_REPLACECOMMIT:
    case HD_ACTION_CLUSTERING:
        HD_TRY(hd_replace_plan_parse(op, bytes, &replace));
        hd_replace_plan_clear(&replace);
        return HUDI_OK;
    case HD_ACTION_CLEAN:
        HD_TRY(hd_clean_plan_decode(op, bytes, &clean));
        hd_clean_plan_clear(&clean);
        return HUDI_OK;
    default:
        return HUDI_OK;
    }
}

/* Only of what is requested and no more: nothing was made of it. */
static hudi_status drop_plan(struct hd_op *op, struct repair *repair,
                             const struct hd_instant *instant)
{
    const struct hd_timeline *const timeline = &repair->table.timeline;
    uint8_t *bytes;
    size_t n;

    hudi_status status = hd_timeline_read(op, timeline, instant, HD_REQUESTED, &bytes, &n);
    if (status == HUDI_NOT_FOUND) {
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    HD_TRY(status);
    status = parse_plan(op, instant->pending_action, hd_slice_of(bytes, n));
    hd_free(op, bytes);
    if (status != HUDI_CORRUPT)
        return status;
    hd_op_clear_error(op);
    HD_TRY(hd_report_finding(op, &repair->done, "dropped-plan", instant->time,
                             "the plan of a %s cannot be read, and nobody has acted on it",
                             hd_action_name(instant->pending_action)));
    return repair->dry_run ? HUDI_OK : hd_transition_remove_pending(op, timeline, instant);
}

static hudi_status drop_plans(struct hd_op *op, struct repair *repair)
{
    for (size_t i = 0; i < repair->table.timeline.n_instants; i++)
        if (repair->table.timeline.instants[i].state == HD_REQUESTED &&
            repair->table.timeline.instants[i].action != HD_ACTION_ROLLBACK)
            HD_TRY(drop_plan(op, repair, &repair->table.timeline.instants[i]));
    return repair->dry_run ? HUDI_OK : hd_table_snapshot_reload(op, &repair->table);
}

/* ---- files around the rows ------------------------------------------------------------------ */

/* Whoever made the partition is not known any more; readers do not ask. */
static hudi_status make_metafile(struct hd_op *op, struct repair *repair, const char *where)
{
    const struct hd_table_snapshot *const table = &repair->table;
    const struct hd_instant *const last = hd_timeline_last_completed_write(&table->timeline);
    const char *const partition = strcmp(where, ".") == 0 ? "" : where;

    if (last == NULL)
        return HUDI_OK;
    HD_TRY(hd_report_finding(op, &repair->done, "made-metafile", where,
                             "other readers see the partition from now on"));
    return repair->dry_run ? HUDI_OK
                           : hd_partition_ensure(op, table->fs, table->path, &table->config,
                                                 partition, last->time);
}

static hudi_status delete_markers(struct hd_op *op, struct repair *repair, const char *where)
{
    const struct hd_table_snapshot *const table = &repair->table;
    const char *const slash = strrchr(where, '/');

    HD_TRY(hd_report_finding(op, &repair->done, "deleted-markers", where,
                             "markers of an instant that is not at work"));
    return repair->dry_run || slash == NULL
               ? HUDI_OK
               : hd_markers_delete(op, table->fs, table->path, slash + 1);
}

static hudi_status delete_heartbeat(struct hd_op *op, struct repair *repair, const char *where)
{
    const struct hd_table_snapshot *const table = &repair->table;
    char *path;

    HD_TRY(hd_report_finding(op, &repair->done, "deleted-heartbeat", where,
                             "heartbeat of an instant that is not at work"));
    if (repair->dry_run)
        return HUDI_OK;
    HD_TRY(hd_path_join(op, table->path, where, &path));
    const hudi_status status = hd_fs_delete_file(op, table->fs, path);
    hd_free(op, path);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

/* By what the check found, which is of a moment before the lock: each is looked at again. */
static hudi_status repair_files(struct hd_op *op, struct repair *repair)
{
    for (size_t i = 0; i < repair->found.n_findings; i++)
        if (strcmp(repair->found.findings[i].kind, "missing-metafile") == 0)
            HD_TRY(make_metafile(op, repair, repair->found.findings[i].where));
    for (size_t i = 0; i < repair->found.n_notes; i++) {
        const struct hd_finding *const note = &repair->found.notes[i];
        const char *const slash = strrchr(note->where, '/');

        if (slash == NULL)
            continue;
        if (strcmp(note->kind, "leftover-markers") == 0 &&
            hd_timeline_is_committed(&repair->table.timeline, slash + 1))
            HD_TRY(delete_markers(op, repair, note->where));
        else if (strcmp(note->kind, "dead-heartbeat") == 0)
            HD_TRY(delete_heartbeat(op, repair, note->where));
    }
    return HUDI_OK;
}

static hudi_status run(struct hd_op *op, struct repair *repair)
{
    HD_TRY(hd_check_serviceable(op, &repair->table));
    HD_TRY(roll_back_hung(op, repair));
    HD_TRY(drop_plans(op, repair));
    return repair_files(op, repair);
}

hudi_status hd_repair(struct hd_op *op, hd_pool *pool, const char *uri,
                      const struct hd_options *options, bool dry_run, struct hd_verification *out)
{
    hudi_status status = HUDI_OK;
    struct repair repair = {.pool = pool, .options = options, .dry_run = dry_run};
    struct hd_fs_lock *lock = NULL;
    const uint64_t wait_ms = hd_table_lock_wait_ms(options);

    *out = (struct hd_verification){0};
    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &repair.table));
    HD_TRY_OUT(hd_check_serviceable(op, &repair.table));
    if (!dry_run)
        HD_TRY_OUT(hd_table_lock(op, &repair.table, options, wait_ms, &lock));
    HD_TRY_OUT(hd_table_snapshot_reload(op, &repair.table));
    HD_TRY_OUT(hd_verify(op, pool, uri, options, &repair.found));
    HD_TRY_OUT(run(op, &repair));
    HD_TRY_OUT(hd_report_publish(op, &repair.done, out));
out:
    hd_fs_unlock(lock);
    hd_report_clear(&repair.done);
    hd_verification_clear(&repair.found);
    hd_table_snapshot_clear(op, &repair.table);
    return hd_fail_path(op, status, uri);
}
