/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_REWRITE_SERVICE_H
#define HD_SERVICE_REWRITE_SERVICE_H

#include "engine/commit/turn.h"
#include "engine/write/write_status.h"
#include "service/rewrite.h"
#include "service/rewrite_job.h"

/** Slices of a plan that are rewritten together, by one thread. */
struct hd_rewrite_work {
    const struct hd_planned_slice *slices;
    struct hd_slice_source *sources; /* likewise n_slices of them */
    uint64_t *log_bytes;
    size_t n_slices;
    uint32_t ordinal;              /* among the works of the plan */
    struct hd_write_status status; /* gets the stats of what is written */
};

/** A plan that is carried out. */
struct hd_rewrite_run {
    hd_pool *pool;
    struct hd_transaction *transaction;
    struct hd_table_snapshot *table; /* the transaction's */
    const struct hd_options *options;
    hd_heartbeat *heartbeat; /* NULL where there is one writer */
    struct hd_rewrite_outcome *outcome;
    struct hd_rewrite_job job;
    struct hd_file_system_view view; /* of the plan's partitions */
    struct hd_rewrite_work *works;
    size_t n_works;
    void *own; /* of the service, in job.arena */
};

/** What a service adds to the flow of rewrite.c and rewrite_run.c. */
struct hd_rewrite_service {
    const char *name; /* "compaction" */
    enum hd_action action;
    enum hd_action completed_action;
    enum hd_conflict_role role;
    bool drops_plan; /* with an attempt that failed, which is not run again */
    const char *inline_key;
    const char *schedule_key; /* NULL: there is none */

    /* Whether tables of this type have anything for it. */
    bool (*is_for)(const struct hd_table_config *config);
    hudi_status (*check)(struct hd_op *op, const struct hd_table_snapshot *table,
                         const struct hd_options *options);

    /* Plans. plan_make() and plan_read() fill outcome->plan and outcome->slices (hd_alloc). */
    hudi_status (*is_due)(struct hd_op *op, const struct hd_table_snapshot *table,
                          const struct hd_options *options, bool by_hand, bool *out);
    hudi_status (*plan_make)(struct hd_op *op, hd_pool *pool, const struct hd_table_snapshot *table,
                             const struct hd_options *options, struct hd_rewrite_outcome *outcome);
    hudi_status (*plan_read)(struct hd_op *op, const struct hd_timeline *timeline,
                             const struct hd_instant *instant, struct hd_rewrite_outcome *outcome);
    void (*plan_clear)(struct hd_rewrite_outcome *outcome);
    /* Write the requested file of outcome->time. */
    hudi_status (*request)(struct hd_op *op, const struct hd_table_snapshot *table,
                           const struct hd_rewrite_outcome *outcome);
    /* Of a pending instant of the service's action whether it is one; NULL: it is. */
    hudi_status (*is_plan)(struct hd_op *op, const struct hd_timeline *timeline,
                           const struct hd_instant *instant, bool *out);

    /* Running. prepare(): after the job is made, before slices are looked for; NULL: nothing. */
    hudi_status (*prepare)(struct hd_op *op, struct hd_rewrite_run *run);
    /* Whether slice `i` of the work, as it was found, may be rewritten; NULL: it may. */
    hudi_status (*check_slice)(struct hd_op *op, const struct hd_rewrite_run *run,
                               const struct hd_rewrite_work *work, size_t i);
    hudi_status (*rewrite)(struct hd_op *op, const struct hd_rewrite_run *run,
                           struct hd_rewrite_work *work);
    /* What the completed file says beside stats and schema. */
    hudi_status (*describe)(struct hd_op *op, const struct hd_rewrite_run *run,
                            struct hd_commit_metadata *metadata);
};

/** Whether a plan that is not written yet could be run as far as its log files go: one of them may
 * be gone or cut, and the plan would then stay for good. @return HUDI_CORRUPT, unless
 * libhudi.read.recover says that it may be run without */
hudi_status hd_rewrite_check(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction,
                             struct hd_rewrite_outcome *outcome);

/** Steps 3 to 7 of a requested one, the lock held and the table loaded under it. On failure it is
 * rolled back to its plan, as far as that can be done now. */
hudi_status hd_rewrite_run(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction,
                           struct hd_rewrite_outcome *outcome);

#endif
