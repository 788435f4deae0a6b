/* SPDX-License-Identifier: Apache-2.0 */
#include "service/compaction.h"

#include <string.h>

#include "engine/commit/rollback.h"
#include "engine/commit/table_lock.h"
#include "engine/commit/writable.h"
#include "format/timeline/transition.h"
#include "service/compaction_planner.h"
#include "service/compaction_run.h"
#include "service/rewritable.h"

#define AUX_FOLDER ".hoodie/.aux"

/* ---- plans ---------------------------------------------------------------------------------- */

static hudi_status new_outcome(struct hd_op *op, struct hd_compact_report *report,
                               struct hd_compact_outcome **out)
{
    HD_TRY(hd_grow(op, &report->compactions, &report->capacity, report->n_compactions + 1,
                   sizeof *report->compactions));
    *out = &report->compactions[report->n_compactions++];
    **out = (struct hd_compact_outcome){0};
    return HUDI_OK;
}

/* Releases before 0.14 look for the plan there first. */
static hudi_status publish_aux(struct hd_op *op, const struct hd_table_snapshot *table,
                               const char *time, const struct hd_str *bytes)
{
    hudi_status status = HUDI_OK;
    char *folder = NULL, *path = NULL;

    if (!table->config.version->compaction_in_aux)
        return HUDI_OK;
    HD_TRY_OUT(hd_path_join(op, table->path, AUX_FOLDER, &folder));
    HD_TRY_OUT(hd_asprintf(op, &path, "%s/%s.compaction.requested", folder, time));
    HD_TRY_OUT(hd_fs_make_dirs(op, table->fs, folder));
    status = hd_fs_publish(op, table->fs, path, bytes->data, bytes->size);
out:
    hd_free(op, folder);
    hd_free(op, path);
    return status;
}

static hudi_status request(struct hd_op *op, const struct hd_table_snapshot *table,
                           struct hd_compact_outcome *outcome)
{
    struct hd_str bytes = {0};
    hudi_status status = HUDI_OK;

    HD_TRY_OUT(hd_compaction_plan_encode(op, &outcome->plan, table->config.version, &bytes));
    HD_TRY_OUT(hd_transition_new_time(op, &table->timeline, outcome->time));
    HD_TRY_OUT(publish_aux(op, table, outcome->time, &bytes));
    HD_TRY_OUT(hd_transition_request(op, &table->timeline, outcome->time, HD_ACTION_COMPACTION,
                                     bytes.data, bytes.size));
    outcome->state = HD_REQUESTED;
out:
    hd_str_clear(&bytes);
    return status;
}

/* A new plan, unless it is not time or there is nothing to compact; written with `write`. */
static hudi_status plan_new(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                            const struct hd_options *options, bool by_hand, bool write,
                            struct hd_compact_report *report, struct hd_compact_outcome **out)
{
    struct hd_compact_outcome *outcome;
    bool due;

    *out = NULL;
    HD_TRY(hd_compaction_is_due(op, table, options, by_hand, &due));
    if (!due || (write && hd_has_live_write(op, table)))
        return HUDI_OK;
    HD_TRY(new_outcome(op, report, &outcome));
    HD_TRY(hd_compaction_plan_make(op, pool, table, options, &outcome->plan, &outcome->n_bytes));
    if (outcome->plan.n_operations == 0) {
        hd_compaction_plan_clear(&outcome->plan);
        report->n_compactions--;
        return HUDI_OK;
    }
    *out = outcome;
    return write ? request(op, table, outcome) : HUDI_OK;
}

/* ---- pending ones --------------------------------------------------------------------------- */

static bool is_pending(const struct hd_instant *instant)
{
    return instant->pending_action == HD_ACTION_COMPACTION && instant->state != HD_COMPLETED;
}

/* Those begun go back to their plans. */
static hudi_status roll_back_begun(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                   const char *time)
{
    bool changed = false;

    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *const instant = &table->timeline.instants[i];

        if (!is_pending(instant) || instant->state != HD_INFLIGHT ||
            (time != NULL && strcmp(time, instant->time) != 0))
            continue;
        hd_log(op, HD_LOG_WARN, "compaction %s was begun and did not end; it is run again",
               instant->time);
        HD_TRY(hd_rollback_instant(op, pool, table, instant));
        changed = true;
    }
    return changed ? hd_table_snapshot_reload(op, table) : HUDI_OK;
}

static hudi_status run_one(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                           const struct hd_options *options, struct hd_compact_outcome *outcome)
{
    HD_TRY(hd_compaction_run(op, pool, table, options, outcome));
    hd_log(op, HD_LOG_INFO, "compaction %s wrote %zu base files", outcome->time, outcome->n_files);
    return hd_table_snapshot_reload(op, table);
}

/* Into the report, and run unless only listed. The timeline is loaded anew after each that is run,
 * so times are copied. */
static hudi_status take_pending(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                const struct hd_options *options, const char *time, bool run,
                                struct hd_compact_report *report)
{
    char after[HD_INSTANT_TIME_BYTES] = "";
    bool found = false;

    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *const instant = &table->timeline.instants[i];
        struct hd_compact_outcome *outcome;

        if (!is_pending(instant) || strcmp(instant->time, after) <= 0 ||
            (time != NULL && strcmp(time, instant->time) != 0))
            continue;
        found = true;
        memcpy(after, instant->time, strlen(instant->time) + 1);
        HD_TRY(new_outcome(op, report, &outcome));
        memcpy(outcome->time, after, sizeof outcome->time);
        outcome->state = instant->state;
        HD_TRY(hd_compaction_plan_read(op, &table->timeline, instant, &outcome->plan));
        if (!run)
            continue;
        HD_TRY(run_one(op, pool, table, options, outcome));
        i = 0;
    }
    if (time != NULL && !found)
        return hd_fail(op, HUDI_INVALID, "there is no pending compaction %s", time);
    return HUDI_OK;
}

/* ---- the service ---------------------------------------------------------------------------- */

static bool changes(enum hd_compact_step step)
{
    return step != HD_COMPACT_DRY_RUN && step != HD_COMPACT_PENDING;
}

static hudi_status compact_table(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                 const struct hd_options *options, enum hd_compact_step step,
                                 const char *time, bool by_hand, struct hd_compact_report *report)
{
    const bool runs = step == HD_COMPACT_PLAN_AND_RUN || step == HD_COMPACT_RUN;
    struct hd_compact_outcome *outcome;

    if (changes(step)) {
        HD_TRY(hd_switch_metadata_table_off(op, table));
        HD_TRY(hd_rollback_failed_writes(op, pool, table, options));
    }
    if (runs)
        HD_TRY(roll_back_begun(op, pool, table, time));
    if (runs || step == HD_COMPACT_PENDING)
        HD_TRY(take_pending(op, pool, table, options, time, runs, report));
    if (step == HD_COMPACT_RUN || step == HD_COMPACT_PENDING)
        return HUDI_OK;
    HD_TRY(plan_new(op, pool, table, options, by_hand, changes(step), report, &outcome));
    if (outcome == NULL || !runs)
        return HUDI_OK;
    HD_TRY(hd_table_snapshot_reload(op, table));
    return run_one(op, pool, table, options, outcome);
}

static hudi_status check_table(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_options *options)
{
    if (table->config.type != HD_MERGE_ON_READ)
        return hd_fail(op, HUDI_INVALID, "a copy-on-write table has no log files to compact");
    HD_TRY(hd_check_no_restore(op, &table->timeline));
    return hd_check_rewritable(op, table, options);
}

hudi_status hd_compact(struct hd_op *op, hd_pool *pool, const char *uri,
                       const struct hd_options *options, enum hd_compact_step step,
                       const char *time, struct hd_compact_report *out)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_fs_lock *lock = NULL;
    const uint64_t wait_ms = (uint64_t)hd_options_int(options, NULL, "libhudi.write.lock.wait.ms");

    *out = (struct hd_compact_report){0};
    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &table));
    if (changes(step)) {
        HD_TRY_OUT(check_table(op, &table, options));
        HD_TRY_OUT(hd_table_lock(op, &table, options, wait_ms, &lock));
        HD_TRY_OUT(hd_table_snapshot_reload(op, &table));
    }
    HD_TRY_OUT(check_table(op, &table, options));
    HD_TRY_OUT(compact_table(op, pool, &table, options, step, time, true, out));
out:
    hd_fs_unlock(lock);
    hd_table_snapshot_clear(op, &table);
    if (status != HUDI_OK)
        hd_compact_report_clear(op, out);
    return hd_fail_path(op, status, uri);
}

void hd_compact_report_clear(struct hd_op *op, struct hd_compact_report *report)
{
    for (size_t i = 0; i < report->n_compactions; i++)
        hd_compaction_plan_clear(&report->compactions[i].plan);
    hd_free(op, report->compactions);
    *report = (struct hd_compact_report){0};
}

/* ---- after a write -------------------------------------------------------------------------- */

static bool has_pending(const struct hd_timeline *timeline)
{
    for (size_t i = 0; i < timeline->n_instants; i++)
        if (is_pending(&timeline->instants[i]))
            return true;
    return false;
}

hudi_status hd_compact_due(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                           const struct hd_options *options)
{
    const struct hd_properties *const properties = &table->config.properties;
    const bool runs = hd_options_bool(options, properties, "hoodie.compact.inline");
    struct hd_compact_report report = {0};

    if (table->config.type != HD_MERGE_ON_READ ||
        (!runs && !hd_options_bool(options, properties, "hoodie.compact.schedule.inline")))
        return HUDI_OK;
    HD_TRY(hd_table_snapshot_reload(op, table));
    HD_TRY(check_table(op, table, options));
    if (!runs && has_pending(&table->timeline))
        return HUDI_OK;
    const hudi_status status =
        compact_table(op, pool, table, options,
                      runs ? HD_COMPACT_PLAN_AND_RUN : HD_COMPACT_SCHEDULE, NULL, false, &report);
    hd_compact_report_clear(op, &report);
    return status;
}
