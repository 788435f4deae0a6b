/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_AVRO_INTERNAL_H
#define HD_CODEC_AVRO_INTERNAL_H

#include "base/checked_int.h"
#include "codec/avro_schema.h"

/** Nesting of values that is decoded and encoded: a record that holds itself through a union may
 * nest deeper than its schema. */
#define HD_AVRO_MAX_VALUE_DEPTH 256

/** Items without bytes in one block of an array, records without bytes in one of a container. */
#define HD_AVRO_MAX_ZERO_ITEMS 1024

/** The primitive type of that name, HD_AVRO_UNION when there is none. */
enum hd_avro_type hd_avro_primitive_type(struct hd_slice name);

/** Set the logical type of that name; false, and nothing set, when it is unknown or does not fit.
 */
bool hd_avro_set_logical(struct hd_avro_schema *schema, struct hd_slice name, int64_t precision,
                         int64_t scale);

#endif
