/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_CLEAN_PLANNER_H
#define HD_SERVICE_CLEAN_PLANNER_H

#include "base/map.h"
#include "base/pool.h"
#include "format/layout/file_system_view.h"
#include "format/layout/table_snapshot.h"
#include "format/timeline/clean_plan.h"

/*
 * Which files a clean takes. Rules: docs/format/table-services.md 4.2. Invariants
 *
 *  1. The newest slice of a live file group stays, whatever the policy.
 *  2. With an earliest instant to retain, the table reads as of that instant and any later one as
 *     it did before: slices from then on and the one before them stay, and so do groups that were
 *     replaced then or later.
 *  3. A slice with a file that a savepoint or a plan (compaction, clustering) names stays whole.
 *  4. No instant that is at work or later than one is ever passed by the earliest instant.
 */

enum hd_clean_policy { HD_CLEAN_COMMITS, HD_CLEAN_VERSIONS, HD_CLEAN_HOURS };

/** One plan being made. */
struct hd_clean_planner {
    hd_pool *pool;
    const struct hd_table_snapshot *table;
    enum hd_clean_policy policy;
    int64_t n_retained; /* commits, versions or hours */
    bool incremental;
    bool automatic; /* after a write: never look at partitions that no instant names */
    bool has_pending_write;
    struct hd_map needed;      /* file names that savepoints and plans hold on to */
    struct hd_map compactions; /* "partition/file id" -> base instant (in the arena) */
    struct hd_arena arena;
    struct hd_str key; /* for look-ups */
    struct hd_clean_plan *plan;
    struct hd_clean_partition *partitions; /* become the plan's */
    size_t n_partitions, partition_capacity;
    const char **deleted;
    size_t n_deleted, deleted_capacity;
    const char **names; /* of the partition at hand */
    size_t n_names, name_capacity;
    uint64_t n_bytes; /* of the files planned so far */
};

/**
 * Make the plan of a clean by the options (hoodie.cleaner.*). A plan without partitions: there is
 * nothing to clean, and no instant is to be made.
 * @param automatic  after a write, where no earlier clean is known: only partitions that writes of
 *                   the active timeline changed are looked at, since a table that has nothing to
 *                   clean must not be listed with every write
 * @param n_bytes    of the files planned
 * @return HUDI_CORRUPT for plans and commits that cannot be read
 *
 * Source: CleanPlanActionExecutor, CleanPlanner, CleanerUtils (Hudi 0.10.1, 0.15.0)
 */
hudi_status hd_clean_plan_make(struct hd_op *op, hd_pool *pool,
                               const struct hd_table_snapshot *table,
                               const struct hd_options *options, bool automatic,
                               struct hd_clean_plan *plan, uint64_t *n_bytes);

/** Take out of a plan that was made earlier what the table needs by now: files of savepoints and of
 * newest slices. After a restore, a clean that was pending must not delete what was restored. */
hudi_status hd_clean_plan_spare(struct hd_op *op, hd_pool *pool,
                                const struct hd_table_snapshot *table, struct hd_clean_plan *plan);

/** The earliest instant that a clean by these options would retain now; "" when there is none. */
hudi_status hd_clean_earliest(struct hd_op *op, const struct hd_table_snapshot *table,
                              const struct hd_options *options, char out[HD_INSTANT_TIME_BYTES]);

/** Metadata of the newest completed clean; HUDI_NOT_FOUND (no error) when there is none. */
hudi_status hd_clean_last(struct hd_op *op, const struct hd_timeline *timeline,
                          struct hd_clean_metadata *out);

/* ---- within the planner ----------------------------------------------------------------------*/

/** Set the plan's earliest instant and what goes with it: clean_window.c. */
hudi_status hd_clean_find_earliest(struct hd_op *op, struct hd_clean_planner *planner);
/** Partitions to look at, sorted, in the planner's arena. */
hudi_status hd_clean_find_partitions(struct hd_op *op, struct hd_clean_planner *planner,
                                     const char ***out, size_t *n);
/** Plan these partitions: clean_files.c. */
hudi_status hd_clean_plan_partitions(struct hd_op *op, struct hd_clean_planner *planner,
                                     const char *const *partitions, size_t n);

#endif
