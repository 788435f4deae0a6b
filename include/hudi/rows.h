/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_ROWS_H
#define HUDI_ROWS_H

#include "hudi/arrow_c.h"
#include "hudi/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Rows from and to files: "parquet", "orc", "csv", "jsonl", "avro", "arrow" (IPC). The JSON-lines
 * form is described in docs/ROWS.md.
 */

/** Read rows. `path` "-" is standard input: copied to a temporary file to its end, from which it
 * may be opened again with the same context (by one thread at a time); jsonl with `types` is read
 * as it comes, once, unless such a copy is there. `format` NULL: by the name's ending, standard
 * input: jsonl. `types` (may be NULL, stays the caller's) gives the columns' types where the file
 * has none (jsonl, csv); without it they are inferred from the first rows. */
HUDI_EXPORT hudi_status hudi_rows_open(hudi_context *context, const char *path, const char *format,
                                       const struct ArrowSchema *types,
                                       struct ArrowArrayStream *out, hudi_error **err);

/** Write a whole stream (taken): "table", "jsonl", "csv", "parquet", "avro" or "arrow". `path` "-"
 * is standard output. `*n_rows` may be NULL. */
HUDI_EXPORT hudi_status hudi_rows_write(hudi_context *context, struct ArrowArrayStream *in,
                                        const char *path, const char *format, int64_t *n_rows,
                                        hudi_error **err);

#ifdef __cplusplus
}
#endif
#endif
