/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_JSON_VALUE_H
#define HD_ARROW_JSON_VALUE_H

#include "arrow/view.h"
#include "base/str.h"

/**
 * Values as compact JSON: null, booleans, integers, strings, bytes in base64, lists, maps and
 * structs as objects. Recursion is bounded by the schema's depth.
 */
struct hd_json_form {
    /** Of the types that have several forms in JSON: FLOAT, DOUBLE, DECIMAL, DATE, TIME and
     * TIMESTAMP; the value is not null. */
    hudi_status (*scalar)(struct hd_op *op, const struct hd_view *view, int64_t row,
                          struct hd_str *out);
    bool sorted_maps; /* by key; else in the order stored */
};

/** @return HUDI_INTERNAL for a type without a form, HUDI_NO_MEMORY */
hudi_status hd_json_of_value(struct hd_op *op, const struct hd_json_form *form,
                             const struct hd_view *view, int64_t row, struct hd_str *out);

/** An object of the first `n` columns of a row. */
hudi_status hd_json_of_row(struct hd_op *op, const struct hd_json_form *form,
                           const struct hd_view *view, int64_t n, int64_t row, struct hd_str *out);

#endif
