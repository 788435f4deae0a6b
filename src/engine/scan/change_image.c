/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>

#include "arrow/decimal.h"
#include "arrow/java_text.h"
#include "arrow/json_value.h"
#include "engine/scan/changes_internal.h"

/*
 * Rows as JSON texts. The form is that of Hudi's images (Avro's and Jackson's texts of the stored
 * value): times are numbers in the unit of their type.
 */

static hudi_status append_quoted(struct hd_op *op, struct hd_str *out, const char *text, size_t n)
{
    HD_TRY(hd_str_append_char(op, out, '"'));
    HD_TRY(hd_str_append(op, out, text, n));
    return hd_str_append_char(op, out, '"');
}

static hudi_status append_floating(struct hd_op *op, const struct hd_view *view, int64_t row,
                                   struct hd_str *out)
{
    const bool is_float = view->type.id == HD_TYPE_FLOAT;
    const double value = is_float ? (double)hd_view_float(view, row) : hd_view_double(view, row);
    char text[HD_JAVA_TEXT_BYTES];
    const size_t n = is_float ? hd_java_float_format(hd_view_float(view, row), text)
                              : hd_java_double_format(value, text);

    return isfinite(value) ? hd_str_append(op, out, text, n) : append_quoted(op, out, text, n);
}

static hudi_status append_decimal(struct hd_op *op, const struct hd_view *view, int64_t row,
                                  struct hd_str *out)
{
    char text[HD_JAVA_TEXT_BYTES];
    const size_t n = hd_java_decimal_format(hd_decimal_load(hd_view_bytes(view, row).data),
                                            view->type.scale, text);

    return append_quoted(op, out, text, n);
}

static hudi_status append_scalar(struct hd_op *op, const struct hd_view *view, int64_t row,
                                 struct hd_str *out)
{
    switch (view->type.id) {
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
        return append_floating(op, view, row, out);
    case HD_TYPE_DECIMAL:
        return append_decimal(op, view, row, out);
    default:
        return hd_str_printf(op, out, "%" PRId64, hd_view_integer(view, row));
    }
}

hudi_status hd_change_image(struct hd_op *op, const struct hd_view *row_view, int64_t n_columns,
                            int64_t row, struct hd_str *out)
{
    static const struct hd_json_form FORM = {append_scalar, false};

    return hd_json_of_row(op, &FORM, row_view, n_columns, row, out);
}
