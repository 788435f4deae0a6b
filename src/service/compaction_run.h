/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_COMPACTION_RUN_H
#define HD_SERVICE_COMPACTION_RUN_H

#include "service/compaction.h"

/**
 * Steps 3 to 7 of compaction.h for a requested compaction (outcome: its time and plan), file groups
 * in parallel on the pool. The log files of a slice are all that lie there, also those that came
 * after the plan: what is not merged now would show no more. On failure the compaction is rolled
 * back to its plan, as far as that can be done now.
 * @return HUDI_CONFLICT when a file of the plan is gone or of another group
 */
hudi_status hd_compaction_run(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                              const struct hd_options *options, struct hd_compact_outcome *outcome);

#endif
