/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SLICE_ROWS_H
#define HD_ENGINE_SLICE_ROWS_H

#include "arrow/gather.h"
#include "engine/slice/slice_columns.h"

/* Private to engine/slice: which rows of a batch are given out, and those rows as columns of the
 * query. One thread at a time. */
struct hd_slice_rows {
    const struct hd_slice_query *query;
    const struct hd_slice_columns *columns; /* where the batches' columns come from */
    struct hd_run_list runs;                /* what was selected of the last batch */
    uint8_t *passes;                        /* of each row: scratch */
    size_t pass_capacity;
    struct hd_arena arena; /* views of one batch */
    const struct hd_view **views;
};

hudi_status hd_slice_rows_init(struct hd_op *op, const struct hd_slice_query *query,
                               const struct hd_slice_columns *columns, struct hd_slice_rows *out);
void hd_slice_rows_clear(struct hd_op *op, struct hd_slice_rows *rows);

/** Select rows of `batch` (of the projection) into `runs`. */
hudi_status hd_slice_rows_select(struct hd_op *op, struct hd_slice_rows *rows,
                                 const struct ArrowArray *batch);

/** The selected rows of `batch` (taken over, also on failure) as columns of the query. */
hudi_status hd_slice_rows_give(struct hd_op *op, const struct hd_slice_rows *rows,
                               struct ArrowArray *batch, struct ArrowArray *out);

#endif
