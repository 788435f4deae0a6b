/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SLICE_COLUMNS_H
#define HD_ENGINE_SLICE_COLUMNS_H

#include "arrow/array.h"
#include "engine/slice/slice_reader.h"
#include "store/base_file.h"

/* Private to engine/slice: where each column of a query comes from in one file or log block. */

/** A file's columns as those that are read. */
struct hd_slice_file {
    hd_projection *projection; /* to the columns that are read */
    struct ArrowSchema schema; /* the file's columns as they are understood */
    int32_t *column_of;        /* by number of the column read: number in the file, or -1 */
};

/** @param file_schema  its internal schema; NULL: columns by name
 *  @param read         the columns that are read
 *  @param file         the file's own schema */
hudi_status hd_slice_file_init(struct hd_op *op, const struct hd_slice_query *query,
                               const char *file_schema, const struct ArrowSchema *read,
                               const struct ArrowSchema *file, struct hd_slice_file *out);
void hd_slice_file_clear(struct hd_op *op, struct hd_slice_file *file);

/** Columns that are read are numbered 0.. in the order of the query's schema. */
struct hd_slice_columns {
    struct ArrowSchema read;
    int32_t *read_of;          /* by number in the query's schema: number in `read`, or -1 */
    int32_t operation;         /* number in `read` of _hoodie_operation (the last one), or -1 */
    struct ArrowArray *fixed;  /* by number in the query's schema: one row, where the column is
                                  filled from the partition path; else all zero */
    struct hd_slice_file file; /* the base file; all zero after hd_slice_columns_choose() */
    const struct ArrowSchema *schema; /* the query's */
};

/** @param file  the base file's schema */
hudi_status hd_slice_columns_init(struct hd_op *op, const struct hd_slice_query *query,
                                  const struct hd_slice_source *slice,
                                  const struct ArrowSchema *file, struct hd_slice_columns *out);

/** Only which columns are read: `file` may be NULL, and is not projected from. */
hudi_status hd_slice_columns_choose(struct hd_op *op, const struct hd_slice_query *query,
                                    const struct hd_slice_source *slice,
                                    const struct ArrowSchema *file, bool operation,
                                    struct hd_slice_columns *out);
void hd_slice_columns_clear(struct hd_op *op, struct hd_slice_columns *columns);

/** Is the column left out of the table's files, so that only the partition path has it? */
bool hd_slice_column_is_dropped(const struct hd_table_config *config, const char *name);

/** Row groups that may hold rows that pass, ascending; free with hd_free(). */
hudi_status hd_slice_row_groups(struct hd_op *op, const struct hd_slice_query *query,
                                const struct hd_slice_columns *columns, hd_base_reader *reader,
                                int32_t **out, int32_t *n);

#endif
