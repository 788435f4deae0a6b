/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_ROLLBACK_REQUEST_H
#define HD_ENGINE_ROLLBACK_REQUEST_H

#include "format/layout/table_snapshot.h"
#include "format/timeline/rollback_plan.h"

/**
 * What is to be done to undo an instant. Free with hd_rollback_request_free(), not as a decoded
 * plan. Files whose name carries the instant's time are deleted; of merge-on-read tables below
 * version 8 that is a log file whose base instant it is. Other log files that the instant wrote to
 * are asked a rollback block for, once for each file group.
 *
 * Pending instants say what they wrote by their markers. Without these, and for completed instants,
 * the table's folders are listed, and the commit's (or the inflight file's) write stats say which
 * log files. Of a pending compaction only base files go: the log files that carry its time are
 * those of other writes; `for_good` they go as well, even when it is only planned.
 * @param plan  all zero
 * Source: MarkerBasedRollbackStrategy, ListingBasedRollbackStrategy (Hudi 0.15.0)
 */
hudi_status hd_rollback_request_make(struct hd_op *op, const struct hd_table_snapshot *table,
                                     const struct hd_instant *target, bool for_good,
                                     struct hd_rollback_plan *plan);
void hd_rollback_request_free(struct hd_op *op, struct hd_rollback_plan *plan);

/**
 * Append the rollback blocks that the plan of instant `time` asks for, each in a log file of its
 * own behind the others of its slice, and note in the plan where they are. What an earlier run of
 * the plan wrote is found, not written again.
 */
hudi_status hd_rollback_append_blocks(struct hd_op *op, const struct hd_table_snapshot *table,
                                      struct hd_rollback_plan *plan, const char *time);

#endif
