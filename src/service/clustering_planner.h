/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_CLUSTERING_PLANNER_H
#define HD_SERVICE_CLUSTERING_PLANNER_H

#include "base/pool.h"
#include "format/layout/table_snapshot.h"
#include "format/table/config_keys.h"
#include "format/timeline/replace_plan.h"

#define HD_SORT_COLUMNS_KEY "hoodie.clustering.plan.strategy.sort.columns"
#define HD_LAYOUT_KEY "hoodie.layout.optimize.strategy"

/** Whether hoodie.clustering.inline.max.commits writes have completed since the last clustering. */
hudi_status hd_clustering_is_due(struct hd_op *op, const struct hd_table_snapshot *table,
                                 const struct hd_options *options, bool *out);

/**
 * Make a plan by hoodie.clustering.plan.strategy.*: the latest file slices of live groups that no
 * pending service names and whose base file is small, largest first, in input groups of one
 * partition each. Nothing is planned for a group of one slice that is not sorted. Without groups
 * there is nothing to cluster, and no instant is to be made.
 * @param n_bytes  of the files to be read
 * @return HUDI_INVALID for options, HUDI_NOT_IMPLEMENTED, HUDI_CORRUPT for plans
 *
 * Source: PartitionAwareClusteringPlanStrategy, SparkSizeBasedClusteringPlanStrategy (Hudi 0.15.0)
 */
hudi_status hd_clustering_plan_make(struct hd_op *op, hd_pool *pool,
                                    const struct hd_table_snapshot *table,
                                    const struct hd_options *options, struct hd_replace_plan *out,
                                    uint64_t *n_bytes);

#endif
