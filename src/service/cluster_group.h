/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_CLUSTER_GROUP_H
#define HD_SERVICE_CLUSTER_GROUP_H

#include "engine/slice/slice_reader.h"
#include "engine/write/write_config.h"
#include "engine/write/write_status.h"
#include "service/layout_key.h"

/** What the input groups of one clustering share. */
struct hd_cluster_job {
    const struct hd_write_config *config; /* instant_time is the clustering's; files roll over at
                                             its hoodie.parquet.max.file.size */
    const struct hd_write_schema *schema;
    const struct hd_slice_query *query;
    const struct ArrowSchema *rows; /* what the query gives: schema->file but for columns that
                                       writing makes */
    enum hd_layout layout;
    const int32_t *sort_columns; /* numbers in `rows`; none: rows stay in order */
    size_t n_sort_columns;
    uint64_t sort_bytes; /* rows that are sorted in memory; more go through disk */
};

/**
 * Rewrite file slices of one partition into new file groups, merged with their log files, and check
 * that no row is lost: of each slice as compaction does it, and rows written are rows read.
 * @param out  gets the stats of the files
 * @return HUDI_INTERNAL when the numbers do not agree
 */
hudi_status hd_cluster_group(struct hd_op *op, const struct hd_cluster_job *job,
                             const struct hd_slice_source *sources, size_t n_sources,
                             uint32_t ordinal, struct hd_write_status *out);

#endif
