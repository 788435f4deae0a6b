/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_ROW_CURSOR_H
#define HD_ENGINE_ROW_CURSOR_H

#include "store/base_file.h"

/*
 * Private to engine/slice: which rows of a base file the batches of some of its row groups are.
 * Row groups that are not read count: the number of a row is that in the file.
 */
struct hd_row_cursor {
    const hd_base_reader *base;
    const int32_t *row_groups; /* ascending; borrowed, as `base` */
    int32_t n_row_groups;
    int32_t at;         /* number in `row_groups` */
    uint64_t first_row; /* of that row group */
    int64_t n_passed;   /* rows of it */
};

/** Before the first batch of these row groups. */
void hd_row_cursor_start(const hd_base_reader *base, const int32_t *row_groups, int32_t n,
                         struct hd_row_cursor *out);

/**
 * After hd_base_batches_next(): `*first` is the number of the batch's first row.
 * @param read   what that returned
 * @param batch  and gave; cleared on failure
 * @return `read`; HUDI_CORRUPT when row groups have more or fewer rows than the footer says
 */
hudi_status hd_row_cursor_follow(struct hd_op *op, struct hd_row_cursor *cursor, hudi_status read,
                                 struct ArrowArray *batch, uint64_t *first);

#endif
