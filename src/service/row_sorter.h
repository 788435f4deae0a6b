/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_ROW_SORTER_H
#define HD_SERVICE_ROW_SORTER_H

#include "service/cluster_group.h"

/** Rows of a clustering, brought in order of their layout keys; equal ones stay as they come.
 * What memory does not hold goes through disk (engine/write/global_sort.h). */
typedef struct hd_row_sorter hd_row_sorter;

hudi_status hd_row_sorter_new(struct hd_op *op, const struct hd_cluster_job *job,
                              hd_row_sorter **out);
/** Takes NULL. */
void hd_row_sorter_free(struct hd_op *op, hd_row_sorter *sorter);

/** Rows of job->rows (taken). */
hudi_status hd_row_sorter_add(struct hd_op *op, hd_row_sorter *sorter, struct ArrowArray *rows);
/** All rows are given; on to hd_row_sorter_next(). */
hudi_status hd_row_sorter_finish(struct hd_op *op, hd_row_sorter *sorter);
/** The next rows; HUDI_END. */
hudi_status hd_row_sorter_next(struct hd_op *op, hd_row_sorter *sorter, struct ArrowArray *out);

#endif
