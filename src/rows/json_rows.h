/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ROWS_JSON_ROWS_H
#define HD_ROWS_JSON_ROWS_H

#include "arrow/misfit.h"
#include "arrow/view.h"
#include "base/op.h"
#include "hudi/arrow_c.h"
#include "rows/line_reader.h"
#include "store/output_file.h"

/*
 * Rows as JSON lines: one object a row, compact, columns in schema order. The form of each type is
 * in docs/ROWS.md; what is written is read back as the same value.
 */

/** One value as JSON text. */
hudi_status hd_json_rows_value(struct hd_op *op, const struct hd_view *view, int64_t row,
                               struct hd_str *out);

/** Write all rows of `stream` (canonical; stays the caller's). `n_rows` may be NULL. */
hudi_status hd_json_rows_write(struct hd_op *op, struct ArrowArrayStream *stream,
                               hd_output_file *file, int64_t *n_rows);

/** Is a member of this name none of the rows' (a meta column)? */
typedef bool (*hd_name_test)(const char *name);

/**
 * Read lines into batches. `reader` is taken. With `types` (struct, canonical, copied) each line's
 * members are parsed as the columns' types, columns missing in a line are null, members
 * that `is_ignored` names are ignored unless they are columns of `types`. Types of members that
 * `types` (may be NULL) has not are guessed from the first 1,000 lines: bool, long, double, string,
 * lists, structs; such columns stand behind the others, in the order of first sight.
 *
 * With `left_out` (may be NULL, copied) a line that is no JSON, no object, or does not fit the
 * columns is told there ("line 3", `column "a": "x" is no integer`) and left out.
 * @return (from the stream) HUDI_INVALID: "line 3: " and the same reason
 */
hudi_status hd_json_rows_open(struct hd_op *op, hd_line_reader *reader,
                              const struct ArrowSchema *types, hd_name_test is_ignored,
                              const struct hd_left_out *left_out, struct ArrowArrayStream *out);

#endif
