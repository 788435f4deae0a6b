/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ROWS_TEXT_VALUE_H
#define HD_ROWS_TEXT_VALUE_H

#include "arrow/view.h"
#include "base/op.h"
#include "base/str.h"

/*
 * Texts of values, as docs/ROWS.md has them: dates 2024-01-31, timestamps with exactly 3, 6 or 9
 * fraction digits by their unit and Z unless local, decimals with exactly their scale.
 */
hudi_status hd_text_date(struct hd_op *op, int32_t days, struct hd_str *out);
hudi_status hd_text_time(struct hd_op *op, int64_t value, enum hd_time_unit unit,
                         struct hd_str *out);
hudi_status hd_text_timestamp(struct hd_op *op, int64_t value, enum hd_time_unit unit, bool utc,
                              struct hd_str *out);
/** `bytes`: 16, little-endian. */
hudi_status hd_text_decimal(struct hd_op *op, const uint8_t *bytes, int32_t scale,
                            struct hd_str *out);

#endif
