/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_RECONCILE_MARKERS_H
#define HD_ENGINE_RECONCILE_MARKERS_H

#include "base/pool.h"
#include "format/layout/table_snapshot.h"
#include "format/timeline/commit_metadata.h"

/**
 * Before an instant completes: every file that a task announced and that no write stat names is the
 * leftover of a failed or repeated attempt, and is deleted. Without this a reader would see its
 * rows twice. So are log files that only such an attempt wrote to. What is left and what is gone is
 * durable on return: the files were synced when they were closed, here their folders are. Safe to
 * be killed at any point and run again. Source: HoodieTable.reconcileAgainstMarkers (Hudi 0.15.0)
 */
hudi_status hd_reconcile_markers(struct hd_op *op, hd_pool *pool,
                                 const struct hd_table_snapshot *table, const char *instant_time,
                                 const struct hd_commit_metadata *metadata);

#endif
