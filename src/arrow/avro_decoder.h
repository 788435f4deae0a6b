/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_AVRO_DECODER_H
#define HD_ARROW_AVRO_DECODER_H

#include <stdbool.h>
#include <stdint.h>

#include "arrow/type.h"
#include "base/cursor.h"
#include "base/op.h"
#include "base/str.h"
#include "codec/avro_schema.h"

/**
 * Avro records to columns. A pair of schemas is compiled once into a flat program; a record then
 * costs neither an allocation nor a tree of values. Columns grow by doubling.
 *
 * A value of the writer's type becomes the wanted type:
 *
 *   the same type                     as it is; enums become strings, a uuid on fixed its text
 *   numbers                           int to long, float, double; long to float, double; float to
 *                                     double
 *   string and bytes                  each to the other; fixed to bytes
 *   numbers, decimals, dates, times   to string, as Java's toString (times and timestamps: their
 *                                     number)
 *   numbers, decimals, strings        to decimal, HALF_UP; a decimal that does not fit is refused
 *   string                            to date
 *   times, timestamps                 to another unit: finer exactly, coarser rounded down; from
 *                                     instant to local and back the number stays
 *   int, long                         to date, time, timestamp and back: the number stays, since in
 *                                     Avro these are the same bytes
 *   bytes, fixed                      to decimal: the unscaled number
 *   union                             the branch that the value has, by these rules; a branch
 *                                     that none of them covers is refused when it occurs
 *
 * Source: Avro's schema resolution; HoodieAvroUtils.rewritePrimaryType (Hudi 0.15.0).
 */
typedef struct hd_avro_decoder hd_avro_decoder;

/** All optional. */
struct hd_avro_decoder_options {
    /** The reader's record: its fields' defaults are the values of columns that the writer lacks. A
     * column not in it, or without default, is null. NULL: all such columns are null. */
    const struct hd_avro_schema *reader;
    /** A float becomes the double with its decimal text, 0.1 and not 0.10000000149011612. Hudi does
     * that to log records from 1.1 on, and in all releases where it rewrites records (schema on
     * read, a number in the same record that became a string); otherwise it leaves it to Avro,
     * which widens exactly. Source: HoodieAvroUtils.recordNeedsRewriteForExtendedAvroTypePromotion.
     */
    bool floats_by_text;
};

/**
 * Compile the program for records of `writer` (a record schema, of hd_avro_schema_parse() or
 * finished) to columns `wanted` (a struct of canonical types; columns are found in the writer by
 * name). What is not wanted is passed over. Neither schema is kept, but `writer` must live as long
 * as the decoder (it is used to pass over values).
 * @return HUDI_SCHEMA naming the column: of a type that the writer's cannot become, or missing in
 *         the writer, without default and not nullable
 */
hudi_status hd_avro_decoder_new(struct hd_op *op, const struct hd_avro_schema *writer,
                                const struct ArrowSchema *wanted, hd_avro_decoder **out);
/** `options` may be NULL, and is not kept. */
hudi_status hd_avro_decoder_new_with(struct hd_op *op, const struct hd_avro_schema *writer,
                                     const struct ArrowSchema *wanted,
                                     const struct hd_avro_decoder_options *options,
                                     hd_avro_decoder **out);
/** Takes NULL. */
void hd_avro_decoder_free(struct hd_op *op, hd_avro_decoder *decoder);

/**
 * Append one record. Bytes of `record` behind its value are left alone, as Hudi does with what the
 * length of a log record covers. A failed record leaves no trace: the rows before it stay.
 * @return HUDI_CORRUPT for bytes that end early or are no such value (strings that are not UTF-8,
 *         too); HUDI_INVALID for a value that does not fit the column, a null where the column has
 *         none, and once a column of the batch passes 2 GiB of strings or 2^31 items; all name the
 *         field. HUDI_NO_MEMORY
 */
hudi_status hd_avro_decoder_add(struct hd_op *op, hd_avro_decoder *decoder, struct hd_slice record);

/** Append the record at the cursor, which is then behind it (where it was on failure): for records
 * back to back, as in container files. */
hudi_status hd_avro_decoder_take(struct hd_op *op, hd_avro_decoder *decoder, struct hd_cursor *in);

int64_t hd_avro_decoder_n_rows(const hd_avro_decoder *decoder);

/** Memory that the rows so far hold, in bytes; costs nothing, may be asked for each row. */
uint64_t hd_avro_decoder_bytes(const hd_avro_decoder *decoder);

/** The rows so far as a struct array of `wanted`; the decoder is empty again and may go on, also
 * after a failure (the rows are then lost). */
hudi_status hd_avro_decoder_finish(struct hd_op *op, hd_avro_decoder *decoder,
                                   struct ArrowArray *out);

#endif
