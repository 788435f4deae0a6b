/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/json_value.h"

#include <inttypes.h>
#include <stdlib.h>

#include "codec/base64.h"
#include "codec/json.h"

static hudi_status append_quoted_bytes(struct hd_op *op, struct hd_slice bytes, struct hd_str *out)
{
    HD_TRY(hd_str_append_char(op, out, '"'));
    HD_TRY(hd_base64_encode(op, bytes, out));
    return hd_str_append_char(op, out, '"');
}

static hudi_status append_list(struct hd_op *op, const struct hd_json_form *form,
                               const struct hd_view *view, int64_t row, struct hd_str *out)
{
    int64_t n;
    const int64_t first = hd_view_list(view, row, &n);

    HD_TRY(hd_str_append_char(op, out, '['));
    for (int64_t i = 0; i < n; i++) {
        if (i > 0)
            HD_TRY(hd_str_append_char(op, out, ','));
        HD_TRY(hd_json_of_value(op, form, &view->children[0], first + i, out));
    }
    return hd_str_append_char(op, out, ']');
}

static int by_key(const void *a, const void *b, void *keys)
{
    return hd_slice_compare(hd_view_bytes(keys, *(const int64_t *)a),
                            hd_view_bytes(keys, *(const int64_t *)b));
}

static hudi_status append_map(struct hd_op *op, const struct hd_json_form *form,
                              const struct hd_view *view, int64_t row, struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    int64_t n, *order = NULL;
    const int64_t first = hd_view_list(view, row, &n);
    const struct hd_view *keys = &view->children[0].children[0];
    const struct hd_view *values = &view->children[0].children[1];

    HD_TRY(hd_alloc_raw(op, (size_t)n, sizeof *order, &order));
    for (int64_t i = 0; i < n; i++)
        order[i] = first + i;
    if (form->sorted_maps)
        qsort_r(order, (size_t)n, sizeof *order, by_key, (void *)keys);
    HD_TRY_OUT(hd_str_append_char(op, out, '{'));
    for (int64_t i = 0; i < n; i++) {
        if (i > 0)
            HD_TRY_OUT(hd_str_append_char(op, out, ','));
        HD_TRY_OUT(hd_json_append_string(op, out, hd_view_bytes(keys, order[i])));
        HD_TRY_OUT(hd_str_append_char(op, out, ':'));
        HD_TRY_OUT(hd_json_of_value(op, form, values, order[i], out));
    }
    HD_TRY_OUT(hd_str_append_char(op, out, '}'));
out:
    hd_free(op, order);
    return status;
}

hudi_status hd_json_of_row(struct hd_op *op, const struct hd_json_form *form,
                           const struct hd_view *view, int64_t n, int64_t row, struct hd_str *out)
{
    HD_TRY(hd_str_append_char(op, out, '{'));
    for (int64_t i = 0; i < n; i++) {
        const struct hd_view *child = &view->children[i];

        if (i > 0)
            HD_TRY(hd_str_append_char(op, out, ','));
        HD_TRY(hd_json_append_string(op, out, hd_slice_text(child->name)));
        HD_TRY(hd_str_append_char(op, out, ':'));
        HD_TRY(hd_json_of_value(op, form, child, row, out));
    }
    return hd_str_append_char(op, out, '}');
}

hudi_status hd_json_of_value(struct hd_op *op, const struct hd_json_form *form,
                             const struct hd_view *view, int64_t row, struct hd_str *out)
{
    if (hd_view_is_null(view, row))
        return hd_str_append(op, out, "null", 4);
    switch (view->type.id) {
    case HD_TYPE_BOOL:
        return hd_str_append_text(op, out, hd_view_bool(view, row) ? "true" : "false");
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
        return hd_str_printf(op, out, "%" PRId64, hd_view_integer(view, row));
    case HD_TYPE_STRING:
    case HD_TYPE_DICTIONARY:
        return hd_json_append_string(op, out, hd_view_bytes(view, row));
    case HD_TYPE_BINARY:
    case HD_TYPE_FIXED_BINARY:
        return append_quoted_bytes(op, hd_view_bytes(view, row), out);
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_DECIMAL:
    case HD_TYPE_DATE:
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
        return form->scalar(op, view, row, out);
    case HD_TYPE_LIST:
        return append_list(op, form, view, row, out);
    case HD_TYPE_MAP:
        return append_map(op, form, view, row, out);
    case HD_TYPE_STRUCT:
        return hd_json_of_row(op, form, view, view->n_children, row, out);
    default:
        return hd_fail(op, HUDI_INTERNAL, "column \"%s\" is of a type that has no JSON form",
                       view->name);
    }
}
