/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_LAYOUT_KEY_H
#define HD_SERVICE_LAYOUT_KEY_H

#include "arrow/view.h"
#include "base/op.h"
#include "base/str.h"

/*
 * Where a row stands among those that are clustered: bytes that compare (as unsigned, and as
 * hd_key_compare() does) in the order wanted. Nulls come first.
 *
 * linear   columns one after the other, each whole
 * z-order  the first 64 bits of the columns, bit by bit of each column in turn
 * hilbert  the first 64 bits of the columns as a point on the Hilbert curve
 */
enum hd_layout { HD_LAYOUT_LINEAR, HD_LAYOUT_Z_ORDER, HD_LAYOUT_HILBERT };

#define HD_LAYOUT_MAX_COLUMNS 16 /* of z-order and hilbert */

/** "linear", "z-order", "hilbert" in any case, NULL and "": linear. */
bool hd_layout_parse(const char *text, enum hd_layout *out);

/** Can values of a type be brought in order? */
bool hd_layout_type_ok(const struct hd_type *type);

/** Append the key of row `row` of `n` columns. */
hudi_status hd_layout_key(struct hd_op *op, enum hd_layout layout, const struct hd_view *columns,
                          size_t n, int64_t row, struct hd_str *out);

#endif
