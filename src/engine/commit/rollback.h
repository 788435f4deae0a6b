/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_ROLLBACK_H
#define HD_ENGINE_ROLLBACK_H

#include "base/pool.h"
#include "format/layout/table_snapshot.h"

/**
 * Undo one instant, under the write lock. Steps, each safe to be killed
 * after: the next writer finds the pending rollback and runs its plan again.
 *
 *   1 {r}.rollback.requested: the plan, every file to delete by full path, and (merge-on-read below
 *     table version 8) the log files that get a rollback block
 *   2 {r}.rollback.inflight
 *   3 a completed target is turned back to inflight: from here on its rows do not show
 *   4 the files are deleted, for good: their folders are synced; rollback blocks are written, each
 *     in a log file that shows whole or not at all
 *   5 the target's inflight and requested files are deleted; of a pending compaction or clustering
 *     only the inflight one, since its plan is to be run again
 *   6 {r}.rollback: what was done
 *   7 the target's marker folder and heartbeat are deleted
 *
 * What there is to undo: rollback_request.h. A completed compaction goes with its plan and with all
 * log files on its slices: nothing that counts may have been written to them
 * (service/revertible.h). A completed clustering goes with its plan as well, but for a rollback
 * that is killed between steps 3 and 5: then the plan stays, to be run again.
 * Source: BaseRollbackActionExecutor, MarkerBasedRollbackStrategy, ListingBasedRollbackStrategy
 * (Hudi 0.15.0)
 */
hudi_status hd_rollback_instant(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                const struct hd_instant *target);

/** The same, of an instant that is not to be run again: the plan of a pending compaction or
 * clustering goes as well, and log files on the slices of the compaction, whose writes must be
 * rolled back by then. Killed after step 2, the plan stays: to be called again.
 * Source: MergeOnReadRestoreActionExecutor (Hudi 0.15.0) */
hudi_status hd_rollback_for_good(struct hd_op *op, struct hd_table_snapshot *table,
                                 const struct hd_instant *target);

/** Finish rollbacks that were begun. Reloads the table when there were any. `*found` (may be NULL
 * with `wanted`) is set when `wanted` was among those undone, and left alone otherwise. */
hudi_status hd_finish_rollbacks(struct hd_op *op, struct hd_table_snapshot *table,
                                const char *wanted, bool *found);

/** Finish rollbacks that were begun, then roll back every pending commit, deltacommit and
 * replacecommit (clustering plans and compactions stay: they are run again) but for those whose
 * writer beats (heartbeat.h). `options` may be NULL. Reloads the table when anything was done.
 * Source: BaseHoodieTableServiceClient.rollbackFailedWrites (eager, and lazy) */
hudi_status hd_rollback_failed_writes(struct hd_op *op, hd_pool *pool,
                                      struct hd_table_snapshot *table,
                                      const struct hd_options *options);

/**
 * Who rolls failed writes back is hoodie.cleaner.policy.failed.writes: EAGER the next write, before
 * it begins; LAZY the next clean; NEVER nobody. Several writers are LAZY unless they are NEVER: a
 * write that begins has nothing to do with those of others. Rollbacks that were begun are finished
 * by either. Source: CleanerUtils.rollbackFailedWrites (Hudi 0.15.0)
 */
hudi_status hd_rollback_before_write(struct hd_op *op, hd_pool *pool,
                                     struct hd_table_snapshot *table,
                                     const struct hd_options *options);
hudi_status hd_rollback_before_clean(struct hd_op *op, hd_pool *pool,
                                     struct hd_table_snapshot *table,
                                     const struct hd_options *options);

#endif
