/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>

#include "arrow/decimal.h"
#include "arrow/java_text.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "engine/scan/changes_internal.h"

/*
 * Rows as JSON texts. The form is that of Hudi's images (Avro's and Jackson's texts of the stored
 * value): times are numbers in the unit of their type. Depth is bounded by the schema's.
 */

static hudi_status append_value(struct hd_op *op, const struct hd_view *view, int64_t row,
                                struct hd_str *out);

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

static hudi_status append_binary(struct hd_op *op, struct hd_slice bytes, struct hd_str *out)
{
    HD_TRY(hd_str_append_char(op, out, '"'));
    HD_TRY(hd_base64_encode(op, bytes, out));
    return hd_str_append_char(op, out, '"');
}

static hudi_status append_list(struct hd_op *op, const struct hd_view *view, int64_t row,
                               struct hd_str *out)
{
    int64_t n;
    const int64_t first = hd_view_list(view, row, &n);

    HD_TRY(hd_str_append_char(op, out, '['));
    for (int64_t i = 0; i < n; i++) {
        if (i > 0)
            HD_TRY(hd_str_append_char(op, out, ','));
        HD_TRY(append_value(op, &view->children[0], first + i, out));
    }
    return hd_str_append_char(op, out, ']');
}

static hudi_status append_map(struct hd_op *op, const struct hd_view *view, int64_t row,
                              struct hd_str *out)
{
    const struct hd_view *entries = &view->children[0];
    int64_t n;
    const int64_t first = hd_view_list(view, row, &n);

    HD_TRY(hd_str_append_char(op, out, '{'));
    for (int64_t i = 0; i < n; i++) {
        if (i > 0)
            HD_TRY(hd_str_append_char(op, out, ','));
        HD_TRY(hd_json_append_string(op, out, hd_view_bytes(&entries->children[0], first + i)));
        HD_TRY(hd_str_append_char(op, out, ':'));
        HD_TRY(append_value(op, &entries->children[1], first + i, out));
    }
    return hd_str_append_char(op, out, '}');
}

static hudi_status append_value(struct hd_op *op, const struct hd_view *view, int64_t row,
                                struct hd_str *out)
{
    if (hd_view_is_null(view, row))
        return hd_str_append(op, out, "null", 4);
    switch (view->type.id) {
    case HD_TYPE_BOOL:
        return hd_str_append_text(op, out, hd_view_bool(view, row) ? "true" : "false");
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
    case HD_TYPE_DATE:
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
        return hd_str_printf(op, out, "%" PRId64, hd_view_integer(view, row));
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
        return append_floating(op, view, row, out);
    case HD_TYPE_STRING:
    case HD_TYPE_DICTIONARY:
        return hd_json_append_string(op, out, hd_view_bytes(view, row));
    case HD_TYPE_BINARY:
    case HD_TYPE_FIXED_BINARY:
        return append_binary(op, hd_view_bytes(view, row), out);
    case HD_TYPE_DECIMAL:
        return append_decimal(op, view, row, out);
    case HD_TYPE_LIST:
        return append_list(op, view, row, out);
    case HD_TYPE_MAP:
        return append_map(op, view, row, out);
    case HD_TYPE_STRUCT:
        return hd_change_image(op, view, view->n_children, row, out);
    default:
        return hd_fail(op, HUDI_INTERNAL, "column \"%s\" is of a type that has no JSON form",
                       view->name);
    }
}

hudi_status hd_change_image(struct hd_op *op, const struct hd_view *row_view, int64_t n_columns,
                            int64_t row, struct hd_str *out)
{
    HD_TRY(hd_str_append_char(op, out, '{'));
    for (int64_t i = 0; i < n_columns; i++) {
        const struct hd_view *child = &row_view->children[i];

        if (i > 0)
            HD_TRY(hd_str_append_char(op, out, ','));
        HD_TRY(hd_json_append_string(op, out, hd_slice_text(child->name)));
        HD_TRY(hd_str_append_char(op, out, ':'));
        HD_TRY(append_value(op, child, row, out));
    }
    return hd_str_append_char(op, out, '}');
}
