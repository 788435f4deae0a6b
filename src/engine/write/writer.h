/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_WRITER_H
#define HD_ENGINE_WRITER_H

#include "engine/write/write_config.h"
#include "engine/write/write_status.h"

/**
 * The writer task: rows in, base files written, a write status out. Which flow the rows take
 * (upsert.c or insert.c) is the operation's choice.
 */
typedef struct hd_writer hd_writer;

/** `config` must outlive the writer. */
hudi_status hd_writer_open(struct hd_op *op, const struct hd_write_config *config, hd_writer **out);

/** Take all rows of a stream (taken, also on failure). `name`: of its file in what is said of rows
 * that fail, or NULL. */
hudi_status hd_writer_write(struct hd_op *op, hd_writer *writer, const char *name,
                            struct ArrowArrayStream *in);

/** Count a record that failed before it became a row, when its input had given `n_rows`:
 * hd_write_status_fail(). */
hudi_status hd_writer_fail_record(struct hd_op *op, hd_writer *writer, int64_t n_rows,
                                  const char *where, const char *reason);

/** Write everything out; `out` is cleared by the caller. Frees the writer in any case. */
hudi_status hd_writer_close(struct hd_op *op, hd_writer *writer, struct hd_write_status *out);
void hd_writer_abort(struct hd_op *op, hd_writer *writer);

#endif
