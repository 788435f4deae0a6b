/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_INSERT_H
#define HD_ENGINE_INSERT_H

#include "engine/write/input.h"

/**
 * Operations that look nothing up: bulk_insert, insert, insert_overwrite(_table). Rows stream to
 * their partition's files as they come; a chunk of rows is split by partition (and sorted, where
 * hoodie.bulkinsert.sort.mode says so) and the partitions are written in parallel. Rows that come
 * in turns for more partitions than files may be open (64, fewer where memory is small) go through
 * disk, and from there to one partition after the other: each has one file, not one a chunk.
 */
typedef struct hd_insert hd_insert;

/** `schema`, `partitions` and `status` belong to the caller and must outlive this. The partitions'
 * ordinals (see base_sink.h) count from `first_ordinal`.
 * @param fill_small_files  false where the rows have been offered to the small files already: a
 *                          file group is written once in a commit */
hudi_status hd_insert_open(struct hd_op *op, const struct hd_write_config *config,
                           const struct hd_write_schema *schema,
                           struct hd_partition_set *partitions, uint32_t first_ordinal,
                           bool fill_small_files, struct hd_write_status *status, hd_insert **out);

/** Take records in (the batch is emptied). */
hudi_status hd_insert_add(struct hd_op *op, hd_insert *insert, struct hd_input_batch *batch);

/** Write what is left and close all files. */
hudi_status hd_insert_finish(struct hd_op *op, hd_insert *insert);

void hd_insert_free(struct hd_op *op, hd_insert *insert);

#endif
