/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_REWRITE_H
#define HD_SERVICE_REWRITE_H

#include "base/pool.h"
#include "engine/commit/transaction.h"
#include "format/timeline/compaction_plan.h"
#include "format/timeline/replace_plan.h"

/*
 * Services that rewrite file slices by a plan. What is planned, and what a slice becomes, is the
 * service's (compaction.h, clustering.h); the way there is one. Steps, each safe to be killed
 * after: the table reads the same before and after each.
 *
 *   1 the metadata table is switched off
 *   2 {t}.ACTION.requested: the plan
 *   3 {t}.ACTION.inflight
 *   4 markers, data files
 *   5 stray files deleted, the folders of files synced
 *   6 the completed file: readers take what was written
 *   7 markers deleted
 *
 * One that was begun and did not end is rolled back to its plan (engine/commit/rollback.h) by the
 * next one of its kind that runs, and run again (log compaction: planned anew). Old files stay for
 * the cleaner.
 *
 * With several writers the lock is held for steps 1 to 3, and again from the end of 5 on, when it
 * compares itself with what others did meanwhile (engine/commit/conflict.h). In between it beats,
 * and nobody else runs the plan.
 */

enum hd_rewrite_step {
    HD_REWRITE_PLAN_AND_RUN, /* pending plans first, then a new one */
    HD_REWRITE_SCHEDULE,     /* plan only */
    HD_REWRITE_RUN,          /* pending plans only */
    HD_REWRITE_DRY_RUN,      /* what a plan would hold; nothing is written */
    HD_REWRITE_PENDING,      /* pending plans; nothing is written */
};

/** One of these services. */
typedef struct hd_rewrite_service hd_rewrite_service;

/** A slice of a plan, by names, which belong to the plan. */
struct hd_planned_slice {
    const char *partition_path;
    const char *file_id;
    const char *base_instant; /* NULL: of the base file, or of the log files */
    const char *data_file;    /* NULL: log files only */
    const char *const *delta_files;
    size_t n_delta_files;
    size_t group; /* slices next to one another of the same group are rewritten together */
};

/** A plan and what became of it. */
struct hd_rewrite_outcome {
    const hd_rewrite_service *service;
    char time[HD_INSTANT_TIME_BYTES]; /* "" in a dry run */
    enum hd_instant_state state;
    union {
        struct hd_compaction_plan compaction;
        struct hd_replace_plan replace;
    } plan; /* of the service's form */
    struct hd_planned_slice *slices;
    size_t n_slices;
    uint64_t n_bytes;         /* to be read; 0 when the plan was made earlier */
    size_t n_files;           /* files written, when it has run */
    int64_t n_rows;           /* in these */
    uint64_t n_bytes_written; /* of these */
};

struct hd_rewrite_report {
    struct hd_rewrite_outcome *outcomes; /* those run, planned or listed, oldest first */
    size_t n_outcomes;
    size_t capacity;
};
void hd_rewrite_report_clear(struct hd_op *op, struct hd_rewrite_report *report);

/**
 * Run a service on a table, under the write lock (dry run and list: without; several writers: as
 * above).
 * @param time  with HD_REWRITE_RUN: this plan alone; NULL: all
 * @return HUDI_CONFLICT (retriable) when another writer keeps the lock,
 *         runs the plan of `time`, or was first to change a file group; HUDI_INVALID for options,
 *         for a table of which there is nothing to rewrite, and for a time that is no pending
 *         plan's; HUDI_NOT_IMPLEMENTED; HUDI_CORRUPT, HUDI_NOT_FOUND, HUDI_IO of what files are
 */
hudi_status hd_rewrite(struct hd_op *op, hd_pool *pool, const char *uri,
                       const struct hd_options *options, const hd_rewrite_service *service,
                       enum hd_rewrite_step step, const char *time, struct hd_rewrite_report *out);

/**
 * After a write of this process, whose transaction has the lock: with the service's inline key run
 * what is pending and, when it is time, a new one; with its schedule.inline key only plan it, while
 * none is pending. Nothing to do for a table that the service is not for. Loads the table anew.
 */
hudi_status hd_rewrite_due(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction,
                           const hd_rewrite_service *service);

#endif
