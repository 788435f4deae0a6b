/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/array.h"
#include "arrow/json_value.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "codec/json.h"
#include "rows/json_rows.h"
#include "rows/text_value.h"

#define FLUSH_BYTES (1u << 20)

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

static hudi_status append_scalar(struct hd_op *op, const struct hd_view *view, int64_t row,
                                 struct hd_str *out)
{
    switch (view->type.id) {
    case HD_TYPE_FLOAT:
        return hd_json_append_double(op, out, (double)hd_view_float(view, row));
    case HD_TYPE_DOUBLE:
        return hd_json_append_double(op, out, hd_view_double(view, row));
    default:
        return append_quoted_text(op, view, row, out);
    }
}

/* Keys of maps are sorted: a map has no order of its own. */
static const struct hd_json_form FORM = {append_scalar, true};

hudi_status hd_json_rows_value(struct hd_op *op, const struct hd_view *view, int64_t row,
                               struct hd_str *out)
{
    return hd_json_of_value(op, &FORM, view, row, out);
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
        HD_TRY_OUT(hd_json_of_row(op, &FORM, &view, view.n_children, row, text));
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
        if (status == HUDI_END)
            break;
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
