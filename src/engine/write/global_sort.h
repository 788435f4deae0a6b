/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_GLOBAL_SORT_H
#define HD_ENGINE_GLOBAL_SORT_H

#include "arrow/array.h"
#include "arrow/view.h"
#include "base/op.h"

/**
 * Rows of any number in the order of partition number and, when asked for, record key, equal ones
 * in the order in which they came: an external merge sort. The caller gives sorted runs, each as
 * much as memory holds; they lie on disk and come back as one sequence. In memory there is a chunk
 * of 32 KiB of each of at most HD_GLOBAL_SORT_FAN_IN runs: more of them are merged in several
 * passes.
 */
typedef struct hd_global_sort hd_global_sort;

#define HD_GLOBAL_SORT_FAN_IN 256

/** @param record  struct of the rows, borrowed. @param by_key  else by partition alone.
 *  @param folder  of the file, NULL: TMPDIR or /tmp */
hudi_status hd_global_sort_new(struct hd_op *op, const struct ArrowSchema *record, bool by_key,
                               const char *folder, hd_global_sort **out);
void hd_global_sort_free(struct hd_op *op, hd_global_sort *sort);

/** The rows that follow are the next run. */
hudi_status hd_global_sort_begin_run(struct hd_op *op, hd_global_sort *sort);
/** Row `row` of `columns`, not before the run's last one. */
hudi_status hd_global_sort_add(struct hd_op *op, hd_global_sort *sort, uint32_t partition,
                               struct hd_slice key, const struct hd_view *columns,
                               int64_t n_columns, int64_t row);
/** All runs are given; on to hd_global_sort_next(). */
hudi_status hd_global_sort_finish(struct hd_op *op, hd_global_sort *sort);

/** The next rows, all of one partition, with their keys (STRING); HUDI_END. */
hudi_status hd_global_sort_next(struct hd_op *op, hd_global_sort *sort, uint32_t *partition,
                                struct hd_shared_array **records, struct ArrowArray *keys);

#endif
