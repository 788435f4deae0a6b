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
 *   5 the target's inflight and requested files are deleted; of a compaction or clustering only the
 *     inflight one, since its plan is to be run again
 *   6 {r}.rollback: what was done
 *   7 the target's marker folder and heartbeat are deleted
 *
 * What there is to undo: rollback_request.h. A completed compaction is not rolled back
 * (HUDI_NOT_IMPLEMENTED).
 * Source: BaseRollbackActionExecutor, MarkerBasedRollbackStrategy (Hudi 0.15.0)
 */
hudi_status hd_rollback_instant(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                const struct hd_instant *target);

/** Finish rollbacks that were begun, then roll back every pending commit, deltacommit and
 * replacecommit (clustering plans and compactions stay: they are run again) but for those whose
 * writer beats (heartbeat.h). `options` may be NULL. Reloads the table when anything was done.
 * Source: BaseHoodieTableServiceClient.rollbackFailedWrites (eager, and lazy) */
hudi_status hd_rollback_failed_writes(struct hd_op *op, hd_pool *pool,
                                      struct hd_table_snapshot *table,
                                      const struct hd_options *options);

#endif
