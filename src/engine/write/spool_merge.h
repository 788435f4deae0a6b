/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SPOOL_MERGE_H
#define HD_ENGINE_SPOOL_MERGE_H

#include "engine/record/row_spool.h"

/**
 * Buckets of a spool, each in order, as one sequence in order: the merge of an external sort. Equal
 * records come in the order of their buckets. In memory there is a chunk a bucket. One thread at a
 * time; several merges of one sealed spool may run side by side.
 */
typedef struct hd_spool_merge hd_spool_merge;

/** Order of two records of the spool: negative, 0, positive. */
typedef int hd_spool_compare(struct hd_slice a, struct hd_slice b);

/** Buckets first, first + step, ... (n of them) of `spool`, which must outlive the merge. */
hudi_status hd_spool_merge_open(struct hd_op *op, const hd_row_spool *spool, uint32_t first,
                                uint32_t step, uint32_t n, hd_spool_compare *compare,
                                hd_spool_merge **out);
void hd_spool_merge_free(struct hd_op *op, hd_spool_merge *merge);

/** The record at hand, valid until it is passed; false at the end. */
bool hd_spool_merge_peek(const hd_spool_merge *merge, struct hd_slice *out);
/** Pass the record at hand. @return HUDI_CORRUPT, HUDI_IO */
hudi_status hd_spool_merge_pass(struct hd_op *op, hd_spool_merge *merge);

#endif
