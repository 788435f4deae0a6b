/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SLICE_COLUMNS_H
#define HD_ENGINE_SLICE_COLUMNS_H

#include "arrow/array.h"
#include "engine/slice/slice_reader.h"
#include "store/base_file.h"

/* Private to engine/slice: where each column of a query comes from in one base file. */

/** Columns that are read are numbered 0.. in the order of hd_slice_columns.projection's target. */
struct hd_slice_columns {
    hd_projection *projection;
    struct ArrowSchema file;  /* the file's columns as they are understood */
    struct ArrowSchema read;  /* target of the projection */
    int32_t *read_of;         /* by number in the query's schema: number in `read`, or -1 */
    int32_t *file_column_of;  /* by number in `read`: number in the file, or -1 */
    int32_t operation;        /* number in `read` of _hoodie_operation, or -1 */
    struct ArrowArray *fixed; /* by number in the query's schema: one row, where the column is
                                 filled from the partition path; else all zero */
    const struct ArrowSchema *schema; /* the query's */
};

/** @param file  the base file's schema */
hudi_status hd_slice_columns_init(struct hd_op *op, const struct hd_slice_query *query,
                                  const struct hd_slice_source *slice,
                                  const struct ArrowSchema *file, struct hd_slice_columns *out);
void hd_slice_columns_clear(struct hd_op *op, struct hd_slice_columns *columns);

/** Is the column left out of the table's files, so that only the partition path has it? */
bool hd_slice_column_is_dropped(const struct hd_table_config *config, const char *name);

/** Row groups that may hold rows that pass, ascending; free with hd_free(). */
hudi_status hd_slice_row_groups(struct hd_op *op, const struct hd_slice_query *query,
                                const struct hd_slice_columns *columns, hd_base_reader *reader,
                                int32_t **out, int32_t *n);

#endif
