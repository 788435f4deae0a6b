/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_AVRO_ENCODER_H
#define HD_ARROW_AVRO_ENCODER_H

#include <stdbool.h>
#include <stdint.h>

#include "arrow/type.h"
#include "base/op.h"
#include "base/str.h"
#include "codec/avro_schema.h"

/**
 * Rows of a batch as Avro records, the other way round from arrow/avro_decoder.h: compiled once for
 * a pair of schemas, no allocation per row. The bytes are those of Avro Java's encoder: arrays and
 * maps in one block with a count, decimals in bytes as short as they can be.
 *
 * A column goes into a field of its own type or of one that holds all its values: int to long,
 * float, double; long to float and double; float to double; string and bytes each to the other;
 * fixed to bytes; strings to an enum's symbols or a uuid's text to fixed; int and long to date,
 * time, timestamp and back (the number stays); times, timestamps and decimals to another unit or
 * scale when that loses nothing (HUDI_INVALID for the value that does). Of a union the first branch
 * of the column's own type is taken, else the first that fits.
 */
typedef struct hd_avro_encoder hd_avro_encoder;

/**
 * Compile the program for struct type `rows` (canonical types; strings may be dictionary-encoded)
 * to records of `writer`. Columns go to fields by name; a field without column takes its default,
 * else null where it may be null; columns without field are left out. `rows` is not
 * kept; `writer` must live as long as the encoder.
 * @return HUDI_SCHEMA naming the field: its type cannot take the column's, or it has neither
 *         column, default nor null
 */
hudi_status hd_avro_encoder_new(struct hd_op *op, const struct ArrowSchema *rows,
                                const struct hd_avro_schema *writer, hd_avro_encoder **out);
/** Takes NULL. */
void hd_avro_encoder_free(struct hd_op *op, hd_avro_encoder *encoder);

/**
 * Append `n` rows of `batch` (of the type given to hd_avro_encoder_new()) to `out`: those numbered
 * `rows[0..n)`, or the first `n` when `rows` is NULL. With `with_lengths` each record has its size
 * before it as a 32-bit big-endian number, as in log blocks. On failure `out` is as before.
 * @return HUDI_INVALID naming field and row: a null that the field does not take, a value that does
 *         not fit it, a record of more than 2^31 - 1 bytes; HUDI_NO_MEMORY
 */
hudi_status hd_avro_encoder_add(struct hd_op *op, hd_avro_encoder *encoder,
                                const struct ArrowArray *batch, const int64_t *rows, int64_t n,
                                bool with_lengths, struct hd_str *out);

#endif
