/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_CLEANING_H
#define HD_SERVICE_CLEANING_H

#include "base/pool.h"
#include "engine/commit/transaction.h"
#include "format/timeline/clean_plan.h"

/*
 * Cleaning: files of old versions are deleted. With LAZY failed writes those whose heartbeat has
 * stopped are rolled back first (engine/commit/rollback.h), whatever else there is to do. Steps,
 * each safe to be killed after: the next clean finds the pending one and runs its plan again, in
 * which what is gone already counts as done.
 *
 *   1 {c}.clean.requested: the plan, every file to delete
 *   2 {c}.clean.inflight
 *   3 the metadata table is switched off, since it would still list the files
 *   4 the files are deleted, for good: their folders are synced
 *   5 partitions that are empty now are deleted
 *   6 {c}.clean: what was done
 *
 * With several writers the lock is held for steps 1 to 3, and again for 5 and 6; in between it
 * beats, and others leave it alone.
 */

enum hd_clean_step {
    HD_CLEAN_PLAN_AND_RUN, /* pending cleans first, then a new one */
    HD_CLEAN_SCHEDULE,     /* plan only; nothing while another one is pending */
    HD_CLEAN_RUN,          /* pending ones only */
    HD_CLEAN_DRY_RUN,      /* what a plan would hold; nothing is written */
    HD_CLEAN_PENDING,      /* the plans of pending ones; nothing is written */
};

/** One clean: a plan and what became of it. */
struct hd_clean_outcome {
    char time[HD_INSTANT_TIME_BYTES]; /* "" in a dry run */
    enum hd_instant_state state;
    struct hd_clean_plan plan;
    size_t n_files;   /* planned */
    uint64_t n_bytes; /* planned; 0 when the plan was made earlier */
    size_t n_deleted; /* files, when it has run */
    size_t n_failed;  /* files that were gone, or could not be deleted */
    size_t n_partitions_deleted;
};

struct hd_clean_report {
    struct hd_clean_outcome *cleans; /* those run or planned, oldest first */
    size_t n_cleans;
    size_t capacity;
};
void hd_clean_report_clear(struct hd_op *op, struct hd_clean_report *report);

/**
 * Clean a table, under the write lock (dry run and list: without). Refused for bootstrap tables and
 * those that this library does not write.
 * @return HUDI_CONFLICT (retriable) when another writer keeps the lock, HUDI_NOT_IMPLEMENTED,
 *         HUDI_CORRUPT for what plans and commits are, HUDI_IO
 */
hudi_status hd_clean(struct hd_op *op, hd_pool *pool, const char *uri,
                     const struct hd_options *options, enum hd_clean_step step,
                     struct hd_clean_report *out);

/** After a write, of a table that is loaded and locked, and is so on success: clean if
 * hoodie.clean.automatic says so and hoodie.clean.max.commits writes have completed since the last
 * clean. The timeline is loaded again when anything was done. */
hudi_status hd_clean_due(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction);

#endif
