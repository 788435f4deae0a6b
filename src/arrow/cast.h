/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_CAST_H
#define HD_ARROW_CAST_H

#include "arrow/misfit.h"
#include "arrow/type.h"
#include "base/op.h"
#include "hudi/arrow_c.h"

/** The canonical form of any Arrow field: large and view strings become STRING, small and unsigned
 * integers INT32 or INT64 (uint64: refused), half floats FLOAT, date64 DATE, dictionaries their
 * values, decimal32/64 DECIMAL, time32[s] TIME millis, timestamp[s] millis, large and fixed-size
 * lists and list views LIST. @return HUDI_NOT_IMPLEMENTED naming field and type (unions, intervals,
 * decimals of more than 38 digits). */
hudi_status hd_canonical_schema(struct hd_op *op, const struct ArrowSchema *field,
                                struct ArrowSchema *out);

/** Which changes of type are allowed; each rule allows what those before it do. A value that does
 * not fit is HUDI_INVALID naming column, row and value under every rule (bytes that are not UTF-8
 * and become a string, a timestamp past 64 bits in a finer unit). */
enum hd_cast_rule {
    HD_CAST_CANONICAL, /* only the change of layout described above */
    HD_CAST_WIDEN,     /* and Avro's promotions: int to long, float, double; long to float, double;
                          float to double (exactly); string and bytes each to the other; fixed to
                          bytes; decimal to one that holds all its values; times and timestamps to
                          a finer unit; a column of type null to any */
    HD_CAST_READ,      /* and what schema evolution on read admits: numbers and dates to string,
                          numbers and strings to decimal (HALF_UP), string to date, times and
                          timestamps to a coarser unit (floor) or between instant and local (the
                          number stays). From here on a float becomes the double of its decimal
                          text, 0.1 stays 0.1 */
    HD_CAST_INPUT,     /* and what a text or loosely typed input means: long to int, double to
                          float, whole float and decimal to int, int and long to date, time and
                          timestamp (units of the column), string to numbers, boolean, date, time
                          and timestamp (arrow/text.h), string and bytes to fixed of that width,
                          boolean to string, date to timestamp, timestamp at midnight to date, any
                          decimal to another. Exact here: decimals from texts and decimals, coarser
                          units, whole numbers as float or double */
};

/** HUDI_OK when `from` may become `to` under `rule`, else HUDI_SCHEMA naming path and both types.
 * Struct fields are matched by name; one missing in `from` must be nullable in `to`; one missing in
 * `to` is dropped only under HD_CAST_READ. */
hudi_status hd_cast_check(struct hd_op *op, const struct ArrowSchema *from,
                          const struct ArrowSchema *to, enum hd_cast_rule rule);

/** Convert an array, checked as by hd_cast_check(); `*array` is taken over (also on failure) and
 * kept where nothing changes. `to` is canonical. Checks the layout of what it is given (offsets,
 * indices, buffers), so that what comes out is safe for the rest of the library.
 * @return HUDI_INVALID for a layout that contradicts itself, a value that does not fit, and a null
 *         where `to` is not nullable; all name column and row. Text of numbers, decimals and dates
 * is Java's toString. Source: HoodieAvroUtils.rewritePrimaryType (Hudi 0.15.0). */
hudi_status hd_cast(struct hd_op *op, const struct ArrowSchema *from, struct ArrowArray *array,
                    const struct ArrowSchema *to, enum hd_cast_rule rule, struct ArrowArray *out);

/** hd_cast() that goes on past values which do not fit and nulls where none may be: their rows (the
 * array's own, also for what lies in lists below) are added to `misfits` and hold in `out` zeros,
 * nulls or what was there. `misfits` NULL: hd_cast(). Values of a dictionary that do not fit its
 * own canonical type are faults of the whole. */
hudi_status hd_cast_rows(struct hd_op *op, const struct ArrowSchema *from, struct ArrowArray *array,
                         const struct ArrowSchema *to, enum hd_cast_rule rule,
                         struct hd_misfits *misfits, struct ArrowArray *out);

#endif
