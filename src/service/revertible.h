/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_REVERTIBLE_H
#define HD_SERVICE_REVERTIBLE_H

#include "format/layout/table_snapshot.h"

/**
 * Whether a write can be rolled back by itself, without losing more than what it wrote. A pending
 * one can. A completed one can when nothing builds on it, and what it replaced is still there:
 *
 *  - it is the newest completed write, not savepointed, and no write is pending behind it
 *  - no compaction or clustering has a plan that names its files
 *  - no later clean took, or plans to take, files of the slices or file groups that it replaced
 *  - it is not the last write of the active timeline with others archived before it: without any
 *    completed write, readers take no file at all
 *
 * @return HUDI_INVALID saying what is in the way
 * Source: BaseRollbackActionExecutor.validateRollbackCommitSequence (Hudi 0.15.0), which looks at
 * the first alone
 */
hudi_status hd_check_revertible(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_instant *target);

#endif
