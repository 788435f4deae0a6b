/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_CAST_H
#define HD_ARROW_CAST_H

#include "arrow/type.h"
#include "base/op.h"
#include "hudi/arrow_c.h"

/** The canonical form of any Arrow field: large and view strings become STRING, small and unsigned
 * integers INT32 or INT64 (uint64: refused), half floats FLOAT, date64 DATE, dictionaries their
 * values, decimal32/64 DECIMAL, time32[s] TIME millis, timestamp[s] millis, large and fixed-size
 * lists LIST. @return HUDI_NOT_IMPLEMENTED naming field and type (unions, intervals, decimals of
 * more than 38 digits). */
hudi_status hd_canonical_schema(struct hd_op *op, const struct ArrowSchema *field,
                                struct ArrowSchema *out);

/** Which changes of type keep every value. */
enum hd_cast_rule {
    HD_CAST_CANONICAL, /* only the change of layout described above */
    HD_CAST_WIDEN,     /* and Avro's promotions: int to long, float, double; long to float, double;
                          float to double; string and bytes each to the other; decimal to one that
                          holds all its values; timestamps to a finer unit */
    HD_CAST_READ,      /* and what schema evolution on read admits: numbers and dates to string,
                          string to date and decimal, timestamps to a coarser unit (floor) */
    HD_CAST_INPUT,     /* and what a text or loosely typed input means: long to int, double to
                          float, string to numbers, dates and times, each value checked: one that
                          does not fit is HUDI_INVALID naming field, row and value */
};

/** HUDI_OK when `from` may become `to` under `rule`, else HUDI_SCHEMA naming path and both types.
 * Struct fields are matched by name; one missing in `from` must be nullable in `to`; one missing in
 * `to` is dropped only under HD_CAST_READ. */
hudi_status hd_cast_check(struct hd_op *op, const struct ArrowSchema *from,
                          const struct ArrowSchema *to, enum hd_cast_rule rule);

/** Convert an array; `*array` is taken over and shared where nothing changes. `to` is canonical. */
hudi_status hd_cast(struct hd_op *op, const struct ArrowSchema *from, struct ArrowArray *array,
                    const struct ArrowSchema *to, enum hd_cast_rule rule, struct ArrowArray *out);

#endif
