/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ROWS_AVRO_ROWS_H
#define HD_ROWS_AVRO_ROWS_H

#include "base/op.h"
#include "hudi/arrow_c.h"
#include "store/input_file.h"
#include "store/output_file.h"

/**
 * Rows of an Avro container file (codec null, deflate, snappy, zstandard) as a stream of batches;
 * columns and their types are those of the file's schema (arrow/avro_type.h). One block of the file
 * and one batch are in memory. `file` is taken, also on failure; what `op` points to must outlive
 * the stream.
 * @return HUDI_CORRUPT; HUDI_NOT_IMPLEMENTED for another codec, unions of several types and
 *         recursive records; from the stream also HUDI_CORRUPT naming column and byte
 */
hudi_status hd_avro_rows_open(struct hd_op *op, hd_input_file *file, struct ArrowArrayStream *out);

/**
 * Write all rows of `stream` (canonical; stays the caller's) as a container file of schema
 * `avro_json`, codec null, blocks of 64 KiB. `n_rows` may be NULL.
 * @return HUDI_INVALID naming column and row for a value that the schema does not take
 */
hudi_status hd_avro_rows_write(struct hd_op *op, struct ArrowArrayStream *stream,
                               const char *avro_json, hd_output_file *file, int64_t *n_rows);

#endif
