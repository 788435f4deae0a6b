/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_COMPACTION_H
#define HD_SERVICE_COMPACTION_H

#include "base/pool.h"
#include "format/layout/table_snapshot.h"
#include "format/table/config_keys.h"
#include "format/timeline/compaction_plan.h"

/*
 * Compaction: the log files of file slices are merged into new base files of their groups. Steps,
 * each safe to be killed after: the table reads the same before and after each.
 *
 *   1 {t}.compaction.requested: the plan. From here on new log files of its groups carry {t}, and
 *     lie on what it will make
 *   2 the metadata table is switched off
 *   3 {t}.compaction.inflight
 *   4 markers, base files
 *   5 stray files deleted, the folders of files synced
 *   6 {t}.commit: readers take the new base files
 *   7 markers deleted
 *
 * A compaction that was begun and did not end is rolled back to its plan (engine/commit/rollback.h)
 * by the next one that runs, and run again. Old files stay for the cleaner.
 */

enum hd_compact_step {
    HD_COMPACT_PLAN_AND_RUN, /* pending plans first, then a new one */
    HD_COMPACT_SCHEDULE,     /* plan only */
    HD_COMPACT_RUN,          /* pending plans only */
    HD_COMPACT_DRY_RUN,      /* what a plan would hold; nothing is written */
    HD_COMPACT_PENDING,      /* pending plans; nothing is written */
};

/** One compaction: a plan and what became of it. */
struct hd_compact_outcome {
    char time[HD_INSTANT_TIME_BYTES]; /* "" in a dry run */
    enum hd_instant_state state;
    struct hd_compaction_plan plan;
    uint64_t n_bytes;         /* to be read; 0 when the plan was made earlier */
    size_t n_files;           /* base files written, when it has run */
    int64_t n_rows;           /* in these */
    uint64_t n_bytes_written; /* of these */
};

struct hd_compact_report {
    struct hd_compact_outcome *compactions; /* those run, planned or listed, oldest first */
    size_t n_compactions;
    size_t capacity;
};
void hd_compact_report_clear(struct hd_op *op, struct hd_compact_report *report);

/**
 * Compact a merge-on-read table, under the write lock (dry run and list: without).
 * @param time  with HD_COMPACT_RUN: this plan alone; NULL: all
 * @return HUDI_CONFLICT (retriable) when another writer keeps the lock; HUDI_INVALID for a
 *         copy-on-write table, and for a time that is no pending compaction's;
 * HUDI_NOT_IMPLEMENTED; HUDI_CORRUPT, HUDI_NOT_FOUND, HUDI_IO of what files are
 */
hudi_status hd_compact(struct hd_op *op, hd_pool *pool, const char *uri,
                       const struct hd_options *options, enum hd_compact_step step,
                       const char *time, struct hd_compact_report *out);

/**
 * After a write of this process, which holds the lock: with hoodie.compact.inline run what is
 * pending and, when it is time, a new compaction; with hoodie.compact.schedule.inline only plan it,
 * while none is pending. Nothing to do for a copy-on-write table. Loads the table anew.
 */
hudi_status hd_compact_due(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                           const struct hd_options *options);

#endif
