/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_AVRO_TYPE_H
#define HD_ARROW_AVRO_TYPE_H

#include <stdbool.h>

#include "arrow/type.h"
#include "base/op.h"
#include "codec/avro_schema.h"

/**
 * The canonical Arrow type of an Avro type without parts:
 *
 *   boolean int long float double      BOOL INT32 INT64 FLOAT DOUBLE
 *   string, enum, uuid on string       STRING          bytes  BINARY
 *   fixed(n), uuid on it               FIXED_BINARY(n)
 *   decimal on bytes or fixed          DECIMAL
 *   date, time-millis, time-micros     DATE, TIME(ms), TIME(us)
 *   timestamp-*, local-timestamp-*     TIMESTAMP of that unit, UTC or without zone
 *
 * @return false for records, arrays, maps, unions, decimals of more than 38 digits and fixed of
 *         2^31 bytes and more
 */
bool hd_avro_leaf_type(const struct hd_avro_schema *avro, struct hd_type *out);

/**
 * The struct schema of an Avro record. Besides the above: [null, T] and [T, null] give a nullable
 * column; array, map and record LIST (child "element"), MAP (key, value) and STRUCT.
 * @return HUDI_NOT_IMPLEMENTED for unions of several types, recursive records, too many digits;
 *         HUDI_CORRUPT when `record` is none; both name the column
 */
hudi_status hd_avro_to_arrow(struct hd_op *op, const struct hd_avro_schema *record,
                             struct ArrowSchema *out);

#endif
