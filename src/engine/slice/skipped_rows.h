/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SKIPPED_ROWS_H
#define HD_ENGINE_SKIPPED_ROWS_H

#include "engine/slice/log_merge.h"
#include "engine/slice/row_cursor.h"

/*
 * Private to engine/slice: the row groups of a base file that statistics left out, where log files
 * replace rows in them. A key that stands there several times is as many rows, and a row may win
 * against its entry, so the columns that merging goes by are read (of row groups that may hold any
 * of the log files' keys) and nothing else.
 */
struct hd_skipped_rows {
    hd_base_reader *base; /* borrowed */
    int32_t *row_groups;
    int32_t n_row_groups;
    struct hd_merge_columns columns; /* of the keys alone; all zero with no row groups */
    hd_base_batches *batches;
    int32_t *wanted; /* row groups that are read */
    struct hd_row_cursor cursor;
    bool at_end;
};

/** @param merge  tells whether keys are read
 *  @param read   the row groups that are read, ascending */
hudi_status hd_skipped_rows_init(struct hd_op *op, const struct hd_slice_query *query,
                                 const struct hd_slice_source *slice, hd_base_reader *base,
                                 const hd_log_merge *merge, const int32_t *read, int32_t n_read,
                                 struct hd_skipped_rows *out);
/** Takes one that is all zero. */
void hd_skipped_rows_clear(struct hd_op *op, struct hd_skipped_rows *skipped);

/** The next rows that the entries of `merge` put in the place of skipped ones, as columns of its
 * `read`. HUDI_END */
hudi_status hd_skipped_rows_next(struct hd_op *op, struct hd_skipped_rows *skipped,
                                 hd_log_merge *merge, struct ArrowArray *out);

/** From the start, for the next part of the keys. */
void hd_skipped_rows_restart(struct hd_skipped_rows *skipped);

#endif
