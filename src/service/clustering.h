/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_CLUSTERING_H
#define HD_SERVICE_CLUSTERING_H

#include "base/pool.h"
#include "format/layout/table_snapshot.h"
#include "format/table/config_keys.h"
#include "format/timeline/replace_plan.h"

/*
 * Clustering: rows of small files go to new file groups, sorted if asked for. Steps, each safe to
 * be killed after: the table reads the same before and after each.
 *
 *   1 {t}.replacecommit.requested: the plan. From here on its file groups take no updates
 *   2 the metadata table is switched off
 *   3 {t}.replacecommit.inflight
 *   4 markers, base files
 *   5 stray files deleted, the folders of files synced
 *   6 {t}.replacecommit: readers take the new groups, the old ones are replaced
 *   7 markers deleted
 *
 * A clustering that was begun and did not end is rolled back to its plan by the next one that runs,
 * and run again. Old files stay for the cleaner.
 */

enum hd_cluster_step {
    HD_CLUSTER_PLAN_AND_RUN, /* pending plans first, then a new one */
    HD_CLUSTER_SCHEDULE,     /* plan only */
    HD_CLUSTER_RUN,          /* pending plans only */
    HD_CLUSTER_DRY_RUN,      /* what a plan would hold; nothing is written */
    HD_CLUSTER_PENDING,      /* pending plans; nothing is written */
};

/** One clustering: a plan and what became of it. */
struct hd_cluster_outcome {
    char time[HD_INSTANT_TIME_BYTES]; /* "" in a dry run */
    enum hd_instant_state state;
    struct hd_replace_plan plan;
    uint64_t n_bytes;         /* to be read; 0 when the plan was made earlier */
    size_t n_files;           /* base files written, when it has run */
    int64_t n_rows;           /* in these */
    uint64_t n_bytes_written; /* of these */
};

struct hd_cluster_report {
    struct hd_cluster_outcome *clusterings; /* those run, planned or listed, oldest first */
    size_t n_clusterings;
    size_t capacity;
};
void hd_cluster_report_clear(struct hd_op *op, struct hd_cluster_report *report);

/**
 * Cluster a table, under the write lock (dry run and list: without).
 * @param time  with HD_CLUSTER_RUN: this plan alone; NULL: all
 * @return HUDI_CONFLICT (retriable) when another writer keeps the lock; HUDI_INVALID for options,
 *         and for a time that is no pending clustering's; HUDI_NOT_IMPLEMENTED; HUDI_CORRUPT,
 *         HUDI_IO of what files are
 */
hudi_status hd_cluster(struct hd_op *op, hd_pool *pool, const char *uri,
                       const struct hd_options *options, enum hd_cluster_step step,
                       const char *time, struct hd_cluster_report *out);

/** After a write of this process, which holds the lock: with hoodie.clustering.inline run what is
 * pending and, when it is time, a new clustering; with hoodie.clustering.schedule.inline only plan
 * it, while none is pending. Loads the table anew. */
hudi_status hd_cluster_due(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                           const struct hd_options *options);

/** Steps 3 to 7 for a requested one (clustering_run.c). On failure it is rolled back to its plan,
 * as far as that can be done now. */
hudi_status hd_clustering_run(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                              const struct hd_options *options, struct hd_cluster_outcome *outcome);

#endif
