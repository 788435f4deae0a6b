/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "rows/json_rows.h"
#include "rows/text_value.h"

#define FLUSH_BYTES (1u << 20)

static hudi_status append_quoted_bytes(struct hd_op *op, struct hd_slice bytes, struct hd_str *out)
{
    HD_TRY(hd_str_append_char(op, out, '"'));
    HD_TRY(hd_base64_encode(op, bytes, out));
    return hd_str_append_char(op, out, '"');
}

static hudi_status append_quoted_text(struct hd_op *op, const struct hd_view *view, int64_t row,
                                      struct hd_str *out)
{
    HD_TRY(hd_str_append_char(op, out, '"'));
    switch (view->type.id) {
    case HD_TYPE_DATE:
        HD_TRY(hd_text_date(op, hd_view_i32(view, row), out));
        break;
    case HD_TYPE_TIME:
        HD_TRY(hd_text_time(op, hd_view_integer(view, row), view->type.unit, out));
        break;
    case HD_TYPE_TIMESTAMP:
        HD_TRY(hd_text_timestamp(op, hd_view_i64(view, row), view->type.unit, view->type.utc, out));
        break;
    default:
        HD_TRY(hd_text_decimal(op, hd_view_bytes(view, row).data, view->type.scale, out));
        break;
    }
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
        HD_TRY(hd_json_rows_value(op, &view->children[0], first + i, out));
    }
    return hd_str_append_char(op, out, ']');
}

static int by_key(const void *a, const void *b, void *keys)
{
    return hd_slice_compare(hd_view_bytes(keys, *(const int64_t *)a),
                            hd_view_bytes(keys, *(const int64_t *)b));
}

/* Maps are objects, their keys sorted: a map has no order of its own. */
static hudi_status append_map(struct hd_op *op, const struct hd_view *view, int64_t row,
                              struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    int64_t n, *order = NULL;
    const int64_t first = hd_view_list(view, row, &n);
    const struct hd_view *keys = &view->children[0].children[0];
    const struct hd_view *values = &view->children[0].children[1];

    HD_TRY(hd_alloc_raw(op, (size_t)n, sizeof *order, &order));
    for (int64_t i = 0; i < n; i++)
        order[i] = first + i;
    qsort_r(order, (size_t)n, sizeof *order, by_key, (void *)keys);
    HD_TRY_OUT(hd_str_append_char(op, out, '{'));
    for (int64_t i = 0; i < n; i++) {
        if (i > 0)
            HD_TRY_OUT(hd_str_append_char(op, out, ','));
        HD_TRY_OUT(hd_json_append_string(op, out, hd_view_bytes(keys, order[i])));
        HD_TRY_OUT(hd_str_append_char(op, out, ':'));
        HD_TRY_OUT(hd_json_rows_value(op, values, order[i], out));
    }
    HD_TRY_OUT(hd_str_append_char(op, out, '}'));
out:
    hd_free(op, order);
    return status;
}

static hudi_status append_struct(struct hd_op *op, const struct hd_view *view, int64_t row,
                                 struct hd_str *out)
{
    HD_TRY(hd_str_append_char(op, out, '{'));
    for (int64_t i = 0; i < view->n_children; i++) {
        const struct hd_view *child = &view->children[i];

        if (i > 0)
            HD_TRY(hd_str_append_char(op, out, ','));
        HD_TRY(hd_json_append_string(op, out, hd_slice_text(child->name)));
        HD_TRY(hd_str_append_char(op, out, ':'));
        HD_TRY(hd_json_rows_value(op, child, row, out));
    }
    return hd_str_append_char(op, out, '}');
}

hudi_status hd_json_rows_value(struct hd_op *op, const struct hd_view *view, int64_t row,
                               struct hd_str *out)
{
    if (hd_view_is_null(view, row))
        return hd_str_append(op, out, "null", 4);
    switch (view->type.id) {
    case HD_TYPE_BOOL:
        return hd_str_append_text(op, out, hd_view_bool(view, row) ? "true" : "false");
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
        return hd_str_printf(op, out, "%" PRId64, hd_view_integer(view, row));
    case HD_TYPE_FLOAT:
        return hd_json_append_double(op, out, (double)hd_view_float(view, row));
    case HD_TYPE_DOUBLE:
        return hd_json_append_double(op, out, hd_view_double(view, row));
    case HD_TYPE_STRING:
    case HD_TYPE_DICTIONARY:
        return hd_json_append_string(op, out, hd_view_bytes(view, row));
    case HD_TYPE_BINARY:
    case HD_TYPE_FIXED_BINARY:
        return append_quoted_bytes(op, hd_view_bytes(view, row), out);
    case HD_TYPE_DECIMAL:
    case HD_TYPE_DATE:
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
        return append_quoted_text(op, view, row, out);
    case HD_TYPE_LIST:
        return append_list(op, view, row, out);
    case HD_TYPE_MAP:
        return append_map(op, view, row, out);
    case HD_TYPE_STRUCT:
        return append_struct(op, view, row, out);
    default:
        return hd_fail(op, HUDI_INTERNAL, "column \"%s\" is of a type that has no JSON form",
                       view->name);
    }
}

static hudi_status write_batch(struct hd_op *op, const struct ArrowSchema *schema,
                               const struct ArrowArray *batch, hd_output_file *file,
                               struct hd_str *text)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_view view;

    HD_TRY_OUT(hd_view_open(op, &arena, schema, batch, &view));
    for (int64_t row = 0; row < batch->length; row++) {
        HD_TRY_OUT(append_struct(op, &view, row, text));
        HD_TRY_OUT(hd_str_append_char(op, text, '\n'));
        if (text->size < FLUSH_BYTES)
            continue;
        HD_TRY_OUT(hd_output_file_write(op, file, text->data, text->size));
        text->size = 0;
    }
out:
    hd_arena_clear(&arena);
    return status;
}

hudi_status hd_json_rows_write(struct hd_op *op, struct ArrowArrayStream *stream,
                               hd_output_file *file, int64_t *n_rows)
{
    hudi_status status = HUDI_OK;
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    struct hd_str text = {0};
    int64_t written = 0;

    HD_TRY_OUT(hd_stream_schema(op, stream, &schema));
    for (;;) {
        status = hd_stream_next(op, stream, &batch);
        if (status == HUDI_END) {
            status = HUDI_OK;
            break;
        }
        HD_TRY_OUT(status);
        HD_TRY_OUT(write_batch(op, &schema, &batch, file, &text));
        written += batch.length;
        hd_array_clear(&batch);
    }
    HD_TRY_OUT(hd_output_file_write(op, file, text.data, text.size));
    if (n_rows != NULL)
        *n_rows = written;
out:
    hd_array_clear(&batch);
    hd_schema_clear(&schema);
    hd_str_clear(&text);
    return status;
}
