/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_UPSERT_H
#define HD_ENGINE_UPSERT_H

#include "engine/write/input.h"

/**
 * Upsert and delete of one writer task: records are collected by key (pre-combined), looked up in
 * the index, and written where they belong. upsert.c reads top to bottom as that flow.
 */
typedef struct hd_upsert hd_upsert;

/** `schema`, `partitions` and `status` belong to the caller and must outlive this. */
hudi_status hd_upsert_open(struct hd_op *op, const struct hd_write_config *config,
                           const struct hd_write_schema *schema,
                           struct hd_partition_set *partitions, struct hd_write_status *status,
                           hd_upsert **out);

/** Take records in; `batch` stays the caller's. */
hudi_status hd_upsert_add(struct hd_op *op, hd_upsert *upsert, struct hd_input_batch *batch);

/** Write everything: file groups in parallel, stats in the order of partition and file group. */
hudi_status hd_upsert_finish(struct hd_op *op, hd_upsert *upsert);

void hd_upsert_free(struct hd_op *op, hd_upsert *upsert);

#endif
