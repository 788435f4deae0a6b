/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_SAVEPOINT_H
#define HD_SERVICE_SAVEPOINT_H

#include "base/pool.h"
#include "service/preview.h"

/**
 * Keep what the table is as of a completed write: cleans spare its files, archiving its instant,
 * and a restore can go back to it. Under the write lock: {t}.savepoint.inflight, then {t}.savepoint
 * with the names of all files of the slices as of then; killed in between, making it again works.
 * @return HUDI_INVALID for what is no completed write of the active timeline, or was cleaned since;
 *         HUDI_EXISTS
 * Source: SavepointActionExecutor (Hudi 0.15.0)
 */
hudi_status hd_savepoint(struct hd_op *op, hd_pool *pool, const char *uri,
                         const struct hd_options *options, const char *time, const char *user,
                         const char *comments);

/** Drop a savepoint. @return HUDI_INVALID when there is none */
hudi_status hd_savepoint_delete(struct hd_op *op, const char *uri, const struct hd_options *options,
                                const char *time);

/**
 * Take the table back to what it was after a completed write, for good: every later write is rolled
 * back, the newest first. Under the write lock. Steps, each safe to be killed after; until the next
 * restore has finished it, the table is not written to, and reads as after some of the later
 * writes:
 *
 *   1 {r}.restore.requested: the plan, every instant to roll back
 *   2 {r}.restore.inflight
 *   3 each rollback, with all of its own steps (rollback.h)
 *   4 {r}.restore: what was done
 *   5 the rollbacks since then are deleted; killed before, they stay, and say the same once more
 *
 * @param n_rolled_back  instants; may be NULL
 * @return HUDI_INVALID for what is no completed write of the active timeline, is not savepointed
 * and was cleaned since, or has savepoints or archived writes after it
 * Source: BaseRestoreActionExecutor, RestorePlanActionExecutor (Hudi 0.15.0)
 */
hudi_status hd_restore(struct hd_op *op, hd_pool *pool, const char *uri,
                       const struct hd_options *options, const char *time, size_t *n_rolled_back);

/** What each would do, as the table stands now; refuses what they refuse, but takes no lock. Of a
 * savepoint: the files that it would keep, or keeps until it is dropped. @param out  all zero */
hudi_status hd_savepoint_preview(struct hd_op *op, hd_pool *pool, const char *uri,
                                 const struct hd_options *options, const char *time,
                                 struct hd_preview *out);
hudi_status hd_savepoint_delete_preview(struct hd_op *op, const char *uri,
                                        const struct hd_options *options, const char *time,
                                        struct hd_preview *out);
hudi_status hd_restore_preview(struct hd_op *op, hd_pool *pool, const char *uri,
                               const struct hd_options *options, const char *time,
                               struct hd_preview *out);

/** Refuse a time that is no completed write on the timeline, or that cleans have reached since.
 * @return HUDI_INVALID */
hudi_status hd_check_readable(struct hd_op *op, hd_pool *pool,
                              const struct hd_table_snapshot *table, const char *time);

#endif
