/* SPDX-License-Identifier: Apache-2.0 */
#include "service/clustering.h"

#include <string.h>

#include "engine/commit/rollback.h"
#include "engine/commit/table_lock.h"
#include "engine/commit/writable.h"
#include "format/timeline/transition.h"
#include "service/clustering_planner.h"
#include "service/rewritable.h"

/* ---- plans ---------------------------------------------------------------------------------- */

static hudi_status new_outcome(struct hd_op *op, struct hd_cluster_report *report,
                               struct hd_cluster_outcome **out)
{
    HD_TRY(hd_grow(op, &report->clusterings, &report->capacity, report->n_clusterings + 1,
                   sizeof *report->clusterings));
    *out = &report->clusterings[report->n_clusterings++];
    **out = (struct hd_cluster_outcome){0};
    return HUDI_OK;
}

static hudi_status request(struct hd_op *op, const struct hd_table_snapshot *table,
                           struct hd_cluster_outcome *outcome)
{
    struct hd_str bytes = {0};
    hudi_status status = HUDI_OK;
    char *uri = NULL;

    HD_TRY_OUT(hd_fs_uri(op, table->fs, table->path, &uri));
    HD_TRY_OUT(hd_replace_plan_encode(op, &outcome->plan, uri, &bytes));
    HD_TRY_OUT(hd_transition_new_time(op, &table->timeline, outcome->time));
    HD_TRY_OUT(hd_transition_request(op, &table->timeline, outcome->time, HD_ACTION_REPLACECOMMIT,
                                     bytes.data, bytes.size));
    outcome->state = HD_REQUESTED;
out:
    hd_free(op, uri);
    hd_str_clear(&bytes);
    return status;
}

/* A new plan, unless it is not time or there is nothing to compact; written with `write`. */
static hudi_status plan_new(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                            const struct hd_options *options, bool by_hand, bool write,
                            struct hd_cluster_report *report, struct hd_cluster_outcome **out)
{
    struct hd_cluster_outcome *outcome;
    bool due = by_hand;

    *out = NULL;
    if (!by_hand)
        HD_TRY(hd_clustering_is_due(op, table, options, &due));
    if (!due || (write && hd_has_live_write(op, table)))
        return HUDI_OK;
    HD_TRY(new_outcome(op, report, &outcome));
    HD_TRY(hd_clustering_plan_make(op, pool, table, options, &outcome->plan, &outcome->n_bytes));
    if (outcome->plan.n_groups == 0) {
        hd_replace_plan_clear(&outcome->plan);
        report->n_clusterings--;
        return HUDI_OK;
    }
    *out = outcome;
    return write ? request(op, table, outcome) : HUDI_OK;
}

/* ---- pending ones --------------------------------------------------------------------------- */

/* Below version 8 a clustering is a replacecommit with a plan. */
static hudi_status is_pending(struct hd_op *op, const struct hd_timeline *timeline,
                              const struct hd_instant *instant, bool *out)
{
    struct hd_replace_plan plan;

    *out = false;
    if (instant->pending_action != HD_ACTION_REPLACECOMMIT || instant->state == HD_COMPLETED ||
        !instant->has_requested)
        return HUDI_OK;
    HD_TRY(hd_replace_plan_read(op, timeline, instant, &plan));
    *out = plan.is_clustering;
    hd_replace_plan_clear(&plan);
    return HUDI_OK;
}

/* Those begun go back to their plans. */
static hudi_status roll_back_begun(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                   const char *time)
{
    bool changed = false;

    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *const instant = &table->timeline.instants[i];
        bool pending;

        HD_TRY(is_pending(op, &table->timeline, instant, &pending));
        if (!pending || instant->state != HD_INFLIGHT ||
            (time != NULL && strcmp(time, instant->time) != 0))
            continue;
        hd_log(op, HD_LOG_WARN, "clustering %s was begun and did not end; it is run again",
               instant->time);
        HD_TRY(hd_rollback_instant(op, pool, table, instant));
        changed = true;
    }
    return changed ? hd_table_snapshot_reload(op, table) : HUDI_OK;
}

static hudi_status run_one(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                           const struct hd_options *options, struct hd_cluster_outcome *outcome)
{
    HD_TRY(hd_clustering_run(op, pool, table, options, outcome));
    hd_log(op, HD_LOG_INFO, "clustering %s wrote %zu base files", outcome->time, outcome->n_files);
    return hd_table_snapshot_reload(op, table);
}

/* Into the report, and run unless only listed. The timeline is loaded anew after each that is run,
 * so times are copied. */
static hudi_status take_pending(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                const struct hd_options *options, const char *time, bool run,
                                struct hd_cluster_report *report)
{
    char after[HD_INSTANT_TIME_BYTES] = "";
    bool found = false;

    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *const instant = &table->timeline.instants[i];
        struct hd_cluster_outcome *outcome;
        bool pending;

        HD_TRY(is_pending(op, &table->timeline, instant, &pending));
        if (!pending || strcmp(instant->time, after) <= 0 ||
            (time != NULL && strcmp(time, instant->time) != 0))
            continue;
        found = true;
        memcpy(after, instant->time, strlen(instant->time) + 1);
        HD_TRY(new_outcome(op, report, &outcome));
        memcpy(outcome->time, after, sizeof outcome->time);
        outcome->state = instant->state;
        HD_TRY(hd_replace_plan_read(op, &table->timeline, instant, &outcome->plan));
        if (!run)
            continue;
        HD_TRY(run_one(op, pool, table, options, outcome));
        i = 0;
    }
    if (time != NULL && !found)
        return hd_fail(op, HUDI_INVALID, "there is no pending clustering %s", time);
    return HUDI_OK;
}

/* ---- the service ---------------------------------------------------------------------------- */

static bool changes(enum hd_cluster_step step)
{
    return step != HD_CLUSTER_DRY_RUN && step != HD_CLUSTER_PENDING;
}

static hudi_status cluster_table(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                 const struct hd_options *options, enum hd_cluster_step step,
                                 const char *time, bool by_hand, struct hd_cluster_report *report)
{
    const bool runs = step == HD_CLUSTER_PLAN_AND_RUN || step == HD_CLUSTER_RUN;
    struct hd_cluster_outcome *outcome;

    if (changes(step)) {
        HD_TRY(hd_switch_metadata_table_off(op, table));
        HD_TRY(hd_rollback_failed_writes(op, pool, table, options));
    }
    if (runs)
        HD_TRY(roll_back_begun(op, pool, table, time));
    if (runs || step == HD_CLUSTER_PENDING)
        HD_TRY(take_pending(op, pool, table, options, time, runs, report));
    if (step == HD_CLUSTER_RUN || step == HD_CLUSTER_PENDING)
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
    HD_TRY(hd_check_writable(op, table));
    HD_TRY(hd_check_no_restore(op, &table->timeline));
    return hd_check_rewritable(op, table, options);
}

hudi_status hd_cluster(struct hd_op *op, hd_pool *pool, const char *uri,
                       const struct hd_options *options, enum hd_cluster_step step,
                       const char *time, struct hd_cluster_report *out)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_fs_lock *lock = NULL;
    const uint64_t wait_ms = (uint64_t)hd_options_int(options, NULL, "libhudi.write.lock.wait.ms");

    *out = (struct hd_cluster_report){0};
    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &table));
    if (changes(step)) {
        HD_TRY_OUT(check_table(op, &table, options));
        HD_TRY_OUT(hd_table_lock(op, &table, options, wait_ms, &lock));
        HD_TRY_OUT(hd_table_snapshot_reload(op, &table));
    }
    HD_TRY_OUT(check_table(op, &table, options));
    HD_TRY_OUT(cluster_table(op, pool, &table, options, step, time, true, out));
out:
    hd_fs_unlock(lock);
    hd_table_snapshot_clear(op, &table);
    if (status != HUDI_OK)
        hd_cluster_report_clear(op, out);
    return hd_fail_path(op, status, uri);
}

void hd_cluster_report_clear(struct hd_op *op, struct hd_cluster_report *report)
{
    for (size_t i = 0; i < report->n_clusterings; i++)
        hd_replace_plan_clear(&report->clusterings[i].plan);
    hd_free(op, report->clusterings);
    *report = (struct hd_cluster_report){0};
}

/* ---- after a write -------------------------------------------------------------------------- */

static hudi_status has_pending(struct hd_op *op, const struct hd_timeline *timeline, bool *out)
{
    *out = false;
    for (size_t i = 0; i < timeline->n_instants && !*out; i++)
        HD_TRY(is_pending(op, timeline, &timeline->instants[i], out));
    return HUDI_OK;
}

hudi_status hd_cluster_due(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                           const struct hd_options *options)
{
    const struct hd_properties *const properties = &table->config.properties;
    const bool runs = hd_options_bool(options, properties, "hoodie.clustering.inline");
    struct hd_cluster_report report = {0};
    bool pending;

    if (!runs && !hd_options_bool(options, properties, "hoodie.clustering.schedule.inline"))
        return HUDI_OK;
    HD_TRY(hd_table_snapshot_reload(op, table));
    HD_TRY(check_table(op, table, options));
    HD_TRY(has_pending(op, &table->timeline, &pending));
    if (!runs && pending)
        return HUDI_OK;
    const hudi_status status =
        cluster_table(op, pool, table, options,
                      runs ? HD_CLUSTER_PLAN_AND_RUN : HD_CLUSTER_SCHEDULE, NULL, false, &report);
    hd_cluster_report_clear(op, &report);
    return status;
}
