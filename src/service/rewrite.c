/* SPDX-License-Identifier: Apache-2.0 */
#include "service/rewrite.h"

#include <string.h>

#include "engine/commit/rollback.h"
#include "engine/commit/writable.h"
#include "format/timeline/transition.h"
#include "service/rewritable.h"
#include "service/rewrite_service.h"
#include "service/serviceable.h"

/* One service on one table. */
struct flow {
    hd_pool *pool;
    struct hd_transaction *transaction;
    struct hd_table_snapshot *table; /* the transaction's */
    const struct hd_options *options;
    const hd_rewrite_service *service;
    const char *time;
    struct hd_rewrite_report *report;
};

/* ---- the report ----------------------------------------------------------------------------- */

static hudi_status new_outcome(struct hd_op *op, const struct flow *flow,
                               struct hd_rewrite_outcome **out)
{
    struct hd_rewrite_report *const report = flow->report;

    HD_TRY(hd_grow(op, &report->outcomes, &report->capacity, report->n_outcomes + 1,
                   sizeof *report->outcomes));
    *out = &report->outcomes[report->n_outcomes++];
    **out = (struct hd_rewrite_outcome){.service = flow->service};
    return HUDI_OK;
}

static void clear_outcome(struct hd_op *op, struct hd_rewrite_outcome *outcome)
{
    outcome->service->plan_clear(outcome);
    hd_free(op, outcome->slices);
}

void hd_rewrite_report_clear(struct hd_op *op, struct hd_rewrite_report *report)
{
    for (size_t i = 0; i < report->n_outcomes; i++)
        clear_outcome(op, &report->outcomes[i]);
    hd_free(op, report->outcomes);
    *report = (struct hd_rewrite_report){0};
}

/* ---- plans ---------------------------------------------------------------------------------- */

static hudi_status request(struct hd_op *op, const struct flow *flow,
                           struct hd_rewrite_outcome *outcome)
{
    HD_TRY(hd_transition_new_time(op, &flow->table->timeline, outcome->time));
    HD_TRY(flow->service->request(op, flow->table, outcome));
    outcome->state = HD_REQUESTED;
    return HUDI_OK;
}

/* A new plan, unless it is not time or there is nothing to rewrite; written with `write`. */
static hudi_status plan_new(struct hd_op *op, const struct flow *flow, bool by_hand, bool write,
                            struct hd_rewrite_outcome **out)
{
    struct hd_rewrite_outcome *outcome;
    bool due;

    *out = NULL;
    HD_TRY(flow->service->is_due(op, flow->table, flow->options, by_hand, &due));
    if (!due || (write && !flow->transaction->shared && hd_has_live_write(op, flow->table)))
        return HUDI_OK;
    HD_TRY(new_outcome(op, flow, &outcome));
    HD_TRY(flow->service->plan_make(op, flow->pool, flow->table, flow->options, outcome));
    if (outcome->n_slices == 0) {
        clear_outcome(op, outcome);
        flow->report->n_outcomes--;
        return HUDI_OK;
    }
    HD_TRY(hd_rewrite_check(op, flow->pool, flow->transaction, outcome));
    *out = outcome;
    return write ? request(op, flow, outcome) : HUDI_OK;
}

/* ---- pending ones --------------------------------------------------------------------------- */

static hudi_status is_pending(struct hd_op *op, const struct flow *flow,
                              const struct hd_instant *instant, bool *out)
{
    *out = instant->pending_action == flow->service->action && instant->state != HD_COMPLETED &&
           (flow->time == NULL || strcmp(flow->time, instant->time) == 0);
    return *out && flow->service->is_plan != NULL
               ? flow->service->is_plan(op, &flow->table->timeline, instant, out)
               : HUDI_OK;
}

/* Those begun go back to their plans, but for those at work. */
static hudi_status roll_back_begun(struct hd_op *op, const struct flow *flow)
{
    bool changed = false;

    for (size_t i = 0; i < flow->table->timeline.n_instants; i++) {
        const struct hd_instant *const instant = &flow->table->timeline.instants[i];
        bool pending, at_work;

        HD_TRY(is_pending(op, flow, instant, &pending));
        if (!pending || instant->state != HD_INFLIGHT)
            continue;
        HD_TRY(hd_check_at_work(op, flow->transaction, instant, flow->time != NULL, &at_work));
        if (at_work)
            continue;
        hd_log(op, HD_LOG_WARN, "%s %s was begun and did not end; it is %s", flow->service->name,
               instant->time, flow->service->drops_plan ? "rolled back" : "run again");
        HD_TRY(hd_rollback_instant(op, flow->pool, flow->table, instant));
        changed = true;
    }
    return changed ? hd_table_snapshot_reload(op, flow->table) : HUDI_OK;
}

static hudi_status run_one(struct hd_op *op, const struct flow *flow,
                           struct hd_rewrite_outcome *outcome)
{
    HD_TRY(hd_rewrite_run(op, flow->pool, flow->transaction, outcome));
    hd_log(op, HD_LOG_INFO, "%s %s wrote %zu files", flow->service->name, outcome->time,
           outcome->n_files);
    return hd_transaction_begin(op, flow->transaction);
}

/* Into the report, and run unless only listed. The timeline is loaded anew after each that is run,
 * so times are copied. */
static hudi_status take_pending(struct hd_op *op, const struct flow *flow, bool run)
{
    const struct hd_timeline *const timeline = &flow->table->timeline;
    char after[HD_INSTANT_TIME_BYTES] = "";

    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];
        struct hd_rewrite_outcome *outcome;
        bool pending;

        HD_TRY(is_pending(op, flow, instant, &pending));
        if (!pending || strcmp(instant->time, after) <= 0)
            continue;
        memcpy(after, instant->time, strlen(instant->time) + 1);
        if (run && instant->state == HD_INFLIGHT) { /* roll_back_begun() left it */
            if (flow->time != NULL)
                return hd_fail_retriable(op, hd_fail(op, HUDI_CONFLICT,
                                                     "%s %s is at work: its writer beats",
                                                     flow->service->name, flow->time));
            continue;
        }
        HD_TRY(new_outcome(op, flow, &outcome));
        memcpy(outcome->time, after, sizeof outcome->time);
        outcome->state = instant->state;
        HD_TRY(flow->service->plan_read(op, timeline, instant, outcome));
        if (!run)
            continue;
        HD_TRY(run_one(op, flow, outcome));
        i = 0;
    }
    if (flow->time != NULL && after[0] == '\0')
        return hd_fail(op, HUDI_INVALID, "there is no pending %s %s", flow->service->name,
                       flow->time);
    return HUDI_OK;
}

/* ---- the service ---------------------------------------------------------------------------- */

static bool changes(enum hd_rewrite_step step)
{
    return step != HD_REWRITE_DRY_RUN && step != HD_REWRITE_PENDING;
}

static hudi_status rewrite_table(struct hd_op *op, const struct flow *flow,
                                 enum hd_rewrite_step step, bool by_hand)
{
    const bool runs = step == HD_REWRITE_PLAN_AND_RUN || step == HD_REWRITE_RUN;
    struct hd_rewrite_outcome *outcome;

    if (changes(step)) {
        HD_TRY(hd_switch_metadata_table_off(op, flow->table));
        HD_TRY(hd_rollback_failed_writes(op, flow->pool, flow->table, flow->options));
    }
    if (runs)
        HD_TRY(roll_back_begun(op, flow));
    if (runs || step == HD_REWRITE_PENDING)
        HD_TRY(take_pending(op, flow, runs));
    if (step == HD_REWRITE_RUN || step == HD_REWRITE_PENDING)
        return HUDI_OK;
    HD_TRY(plan_new(op, flow, by_hand, changes(step), &outcome));
    if (outcome == NULL || !runs)
        return HUDI_OK;
    HD_TRY(hd_table_snapshot_reload(op, flow->table));
    return run_one(op, flow, outcome);
}

static hudi_status check_table(struct hd_op *op, const struct flow *flow)
{
    HD_TRY(flow->service->check(op, flow->table, flow->options));
    HD_TRY(hd_check_no_restore(op, &flow->table->timeline));
    return hd_check_rewritable(op, flow->table, flow->options);
}

hudi_status hd_rewrite(struct hd_op *op, hd_pool *pool, const char *uri,
                       const struct hd_options *options, const hd_rewrite_service *service,
                       enum hd_rewrite_step step, const char *time, struct hd_rewrite_report *out)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_transaction transaction;
    const struct flow flow = {.pool = pool,
                              .transaction = &transaction,
                              .table = &table,
                              .options = options,
                              .service = service,
                              .time = time,
                              .report = out};

    *out = (struct hd_rewrite_report){0};
    hd_transaction_init(&transaction, &table, options);
    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &table));
    if (changes(step)) {
        HD_TRY_OUT(check_table(op, &flow));
        HD_TRY_OUT(hd_transaction_begin(op, &transaction));
    }
    HD_TRY_OUT(check_table(op, &flow));
    HD_TRY_OUT(rewrite_table(op, &flow, step, true));
out:
    hd_transaction_close(&transaction);
    hd_table_snapshot_clear(op, &table);
    if (status != HUDI_OK)
        hd_rewrite_report_clear(op, out);
    return hd_fail_path(op, status, uri);
}

/* ---- after a write -------------------------------------------------------------------------- */

static hudi_status has_pending(struct hd_op *op, const struct flow *flow, bool *out)
{
    const struct hd_timeline *const timeline = &flow->table->timeline;

    *out = false;
    for (size_t i = 0; i < timeline->n_instants && !*out; i++)
        HD_TRY(is_pending(op, flow, &timeline->instants[i], out));
    return HUDI_OK;
}

hudi_status hd_rewrite_due(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction,
                           const hd_rewrite_service *service)
{
    struct hd_table_snapshot *const table = transaction->table;
    const struct hd_options *const options = transaction->options;
    const struct hd_properties *const properties = &table->config.properties;
    const bool runs = hd_options_bool(options, properties, service->inline_key);
    struct hd_rewrite_report report = {0};
    const struct flow flow = {.pool = pool,
                              .transaction = transaction,
                              .table = table,
                              .options = options,
                              .service = service,
                              .report = &report};
    bool pending;

    if (!service->is_for(&table->config) ||
        (!runs && (service->schedule_key == NULL ||
                   !hd_options_bool(options, properties, service->schedule_key))))
        return HUDI_OK;
    HD_TRY(hd_transaction_begin(op, transaction));
    HD_TRY(check_table(op, &flow));
    HD_TRY(has_pending(op, &flow, &pending));
    if (!runs && pending)
        return HUDI_OK;
    const hudi_status status =
        rewrite_table(op, &flow, runs ? HD_REWRITE_PLAN_AND_RUN : HD_REWRITE_SCHEDULE, false);
    hd_rewrite_report_clear(op, &report);
    return status;
}
