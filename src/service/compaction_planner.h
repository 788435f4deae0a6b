/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_COMPACTION_PLANNER_H
#define HD_SERVICE_COMPACTION_PLANNER_H

#include "base/pool.h"
#include "format/layout/table_snapshot.h"
#include "format/table/config_keys.h"
#include "format/timeline/compaction_plan.h"

/*
 * Which file slices a compaction merges. Rules: docs/format/table-services.md 1.2, 1.3. Invariants
 *
 *  1. Only the latest slice of a live file group, with all log files that it has.
 *  2. No group that a pending compaction, log compaction or clustering names.
 */

/**
 * Whether it is time by hoodie.compact.inline.trigger.strategy and its keys. `by_hand`: without one
 * of these keys (of the call or the table) any delta commit will do.
 */
hudi_status hd_compaction_is_due(struct hd_op *op, const struct hd_table_snapshot *table,
                                 const struct hd_options *options, bool by_hand, bool *out);

/** Of log compaction: whether hoodie.log.compaction.blocks.threshold delta commits have completed
 * since the last compaction or log compaction, pending ones too; `by_hand`: any time will do. */
hudi_status hd_log_compaction_is_due(struct hd_op *op, const struct hd_table_snapshot *table,
                                     const struct hd_options *options, bool by_hand, bool *out);

/**
 * Make the plan of a log compaction: slices of hoodie.log.compaction.blocks.threshold log files, or
 * of so many blocks in these. Source: HoodieLogCompactionPlanGenerator (Hudi 0.15.0), which counts
 * only blocks that are valid
 */
hudi_status hd_log_compaction_plan_make(struct hd_op *op, hd_pool *pool,
                                        const struct hd_table_snapshot *table,
                                        const struct hd_options *options,
                                        struct hd_compaction_plan *out, uint64_t *n_bytes);

/**
 * Make a plan by hoodie.compaction.strategy and its keys; without operations there is nothing to
 * compact, and no instant is to be made.
 * @param n_bytes  of the files to be read
 * @return HUDI_INVALID for a strategy that is not known, and partitions that are no days where it
 *         goes by days; HUDI_CORRUPT for plans that cannot be read
 *
 * Source: ScheduleCompactionActionExecutor, HoodieCompactionPlanGenerator, CompactionStrategy and
 * those derived from it (Hudi 0.10.1, 0.15.0)
 */
hudi_status hd_compaction_plan_make(struct hd_op *op, hd_pool *pool,
                                    const struct hd_table_snapshot *table,
                                    const struct hd_options *options,
                                    struct hd_compaction_plan *out, uint64_t *n_bytes);

#endif
