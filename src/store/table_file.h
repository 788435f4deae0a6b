/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_TABLE_FILE_H
#define HD_STORE_TABLE_FILE_H

#include "arrow/misfit.h"
#include "base/op.h"
#include "hudi/arrow_c.h"
#include "store/input_file.h"
#include "store/output_file.h"

/*
 * Files that bring rows in or take them out whole, as opposed to base files of a table
 * (base_file.h) and to formats read record by record (rows/).
 */

enum hd_table_file_format {
    HD_TABLE_FILE_CSV,
    HD_TABLE_FILE_ARROW, /* reading: IPC stream or file, told apart by the magic; writing: stream */
    HD_TABLE_FILE_PARQUET,
    HD_TABLE_FILE_ORC,
};

/**
 * Rows of a file as a stream of canonical batches; memory stays bounded whatever the file's size.
 * `file` is taken, also on failure. What `op` points to must outlive the stream.
 *
 * CSV: first line the column names, "," between and double quotes around; "", NA, null and NULL
 * without quotes are null. `types` (may be NULL: a struct of canonical fields, copied) names the
 * type of columns by name; the others' is guessed from the first 16 MiB: integer, boolean, date,
 * time, timestamp, double, else string. Columns of `types` that the file lacks are not made up. For
 * the other formats `types` is not looked at.
 *
 * With `left_out` (may be NULL, copied) a CSV row with too many or too few columns, or with a value
 * that is not of its column's type, is told there ("row 3", counted from 1 without the line of
 * names) and left out. Other formats have no such rows.
 *
 * @return HUDI_INVALID for text that is not of its column's type, HUDI_CORRUPT, HUDI_IO,
 *         HUDI_NOT_IMPLEMENTED for types that the library does not have
 */
hudi_status hd_table_file_open(struct hd_op *op, hd_input_file *file,
                               enum hd_table_file_format format, const struct ArrowSchema *types,
                               const struct hd_left_out *left_out, struct ArrowArrayStream *out);

/**
 * Write all rows of `stream` to `file`; both are taken. CSV has a line of names, no quotes where
 * none are needed, nothing for null, and no nested columns (HUDI_NOT_IMPLEMENTED). Parquet is
 * ZSTD-compressed. On failure the file is gone. ORC: HUDI_NOT_IMPLEMENTED.
 */
hudi_status hd_table_file_write(struct hd_op *op, enum hd_table_file_format format,
                                struct ArrowArrayStream *stream, hd_output_file *file);

#endif
