/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ROWS_TABLE_ROWS_H
#define HD_ROWS_TABLE_ROWS_H

#include "base/op.h"
#include "hudi/arrow_c.h"
#include "store/output_file.h"

/** Rows for people: aligned columns under their names. Widths come from the first batch; longer
 * values later on push their row out of line. Long values are cut at 40 characters. `n_rows` may be
 * NULL. */
hudi_status hd_table_rows_write(struct hd_op *op, struct ArrowArrayStream *stream,
                                hd_output_file *file, int64_t *n_rows);

#endif
