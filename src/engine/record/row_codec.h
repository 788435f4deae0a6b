/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_ROW_CODEC_H
#define HD_ENGINE_ROW_CODEC_H

#include <stdint.h>

#include "arrow/builder.h"
#include "arrow/view.h"
#include "base/cursor.h"
#include "base/op.h"
#include "base/str.h"
#include "hudi/arrow_c.h"

/*
 * One row of any canonical struct as bytes, for the disk side of the spillable map. Private to the
 * process; still everything is checked on the way back, as of any file.
 *
 *     struct   bitmap of its columns, bit i (from the lowest of byte 0) set: column i has a value |
 *              the values, in order
 *     bool     1 byte, 0 or 1
 *     int32, date, time[ms], float                  4 bytes, little-endian
 *     int64, timestamp, time[us, ns], double        8 bytes, little-endian
 *     decimal  16 bytes, little-endian two's complement
 *     fixed    its width
 *     string, binary   varint length | bytes
 *     list     varint count | bitmap of the items | the items that are not null
 *     map      varint count | bitmap of the values | for each entry its key and, if not null, value
 *     null     nothing: its bit is never set
 */

/** Append row `row` of the `n` columns. A dictionary-encoded column is written as its strings. On
 * failure `out` is as before.
 * @return HUDI_INVALID for a map key that is null, HUDI_NO_MEMORY */
hudi_status hd_row_encode(struct hd_op *op, const struct hd_view *columns, int64_t n, int64_t row,
                          struct hd_str *out);

/**
 * Append the row that `in` is at to `builder`, which was made for `schema`. On failure the builder
 * is as before.
 * @return HUDI_CORRUPT for bytes that are no row of it; HUDI_INVALID when the builder's strings
 *         pass 2 GiB; HUDI_NO_MEMORY. Allocates no more than a small multiple of what `in` holds
 *         times the number of columns
 */
hudi_status hd_row_decode(struct hd_op *op, const struct ArrowSchema *schema, struct hd_cursor *in,
                          hd_builder *builder);

#endif
