/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "rows/json_rows.h"
#include "rows/table_rows.h"

#define MAX_WIDTH 40
#define WIDTH_ROWS 500

/* Characters of a UTF-8 text, near enough to columns on a terminal. */
static size_t width_of(struct hd_slice text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.size; i++)
        n += (text.data[i] & 0xc0) != 0x80;
    return n;
}

/* A value as people want it: strings bare, what is longer than MAX_WIDTH cut. */
static hudi_status cell(struct hd_op *op, const struct hd_view *view, int64_t row,
                        struct hd_str *out)
{
    out->size = 0;
    if (!hd_view_is_null(view, row) &&
        (view->type.id == HD_TYPE_STRING || view->type.id == HD_TYPE_DICTIONARY)) {
        const struct hd_slice text = hd_view_bytes(view, row);
        HD_TRY(hd_str_append(op, out, text.data, text.size));
    } else {
        HD_TRY(hd_json_rows_value(op, view, row, out));
        if (out->size >= 2 && out->data[0] == '"') { /* dates, decimals */
            memmove(out->data, out->data + 1, out->size - 2);
            out->size -= 2;
        }
    }
    for (size_t i = 0; i < out->size; i++)
        if ((unsigned char)out->data[i] < 0x20)
            out->data[i] = ' ';
    if (width_of(hd_str_slice(out)) <= MAX_WIDTH)
        return HUDI_OK;
    size_t end = 0;
    for (size_t n = 0; end < out->size; end++)
        if (((unsigned char)out->data[end] & 0xc0) != 0x80 && n++ == MAX_WIDTH - 1)
            break;
    out->size = end;
    return hd_str_append_text(op, out, "…");
}

static bool is_number(const struct hd_view *view)
{
    switch (view->type.id) {
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_DECIMAL:
        return true;
    default:
        return false;
    }
}

static hudi_status pad(struct hd_op *op, struct hd_str *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        HD_TRY(hd_str_append_char(op, line, ' '));
    return HUDI_OK;
}

static hudi_status put(struct hd_op *op, struct hd_slice text, size_t width, bool right, bool last,
                       struct hd_str *line)
{
    const size_t n = width_of(text), missing = width > n ? width - n : 0;

    if (right)
        HD_TRY(pad(op, line, missing));
    HD_TRY(hd_str_append(op, line, text.data, text.size));
    if (last)
        return hd_str_append_char(op, line, '\n');
    return pad(op, line, (right ? 0 : missing) + 2);
}

static hudi_status measure(struct hd_op *op, const struct ArrowSchema *schema,
                           const struct hd_view *root, size_t *widths, struct hd_str *scratch)
{
    for (int64_t c = 0; c < schema->n_children; c++) {
        widths[c] = width_of(hd_slice_text(schema->children[c]->name));
        for (int64_t row = 0; row < root->length && row < WIDTH_ROWS; row++) {
            HD_TRY(cell(op, &root->children[c], row, scratch));
            const size_t n = width_of(hd_str_slice(scratch));
            if (n > widths[c])
                widths[c] = n;
        }
    }
    return HUDI_OK;
}

static hudi_status write_batch(struct hd_op *op, const struct hd_view *root, const size_t *widths,
                               struct hd_str *line, struct hd_str *scratch, hd_output_file *file)
{
    for (int64_t row = 0; row < root->length; row++) {
        line->size = 0;
        for (int64_t c = 0; c < root->n_children; c++) {
            HD_TRY(cell(op, &root->children[c], row, scratch));
            HD_TRY(put(op, hd_str_slice(scratch), widths[c], is_number(&root->children[c]),
                       c + 1 == root->n_children, line));
        }
        HD_TRY(hd_output_file_write(op, file, line->data, line->size));
    }
    return HUDI_OK;
}

static hudi_status write_head(struct hd_op *op, const struct ArrowSchema *schema,
                              const struct hd_view *root, const size_t *widths, struct hd_str *line,
                              hd_output_file *file)
{
    for (int64_t c = 0; c < schema->n_children; c++)
        HD_TRY(put(op, hd_slice_text(schema->children[c]->name), widths[c],
                   is_number(&root->children[c]), c + 1 == schema->n_children, line));
    return hd_output_file_write(op, file, line->data, line->size);
}

hudi_status hd_table_rows_write(struct hd_op *op, struct ArrowArrayStream *stream,
                                hd_output_file *file, int64_t *n_rows)
{
    hudi_status status = HUDI_OK;
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    struct hd_arena arena = {0};
    struct hd_str line = {0}, scratch = {0};
    size_t *widths = NULL;
    int64_t written = 0;

    HD_TRY_OUT(hd_stream_schema(op, stream, &schema));
    for (;;) {
        struct hd_view root;

        status = hd_stream_next(op, stream, &batch);
        if (status == HUDI_END)
            break;
        HD_TRY_OUT(status);
        HD_TRY_OUT(hd_view_open(op, &arena, &schema, &batch, &root));
        if (widths == NULL) {
            HD_TRY_OUT(hd_alloc_array(op, (size_t)schema.n_children, sizeof *widths, &widths));
            HD_TRY_OUT(measure(op, &schema, &root, widths, &scratch));
            HD_TRY_OUT(write_head(op, &schema, &root, widths, &line, file));
        }
        HD_TRY_OUT(write_batch(op, &root, widths, &line, &scratch, file));
        written += batch.length;
        hd_array_clear(&batch);
        hd_arena_reset(&arena);
    }
    line.size = 0;
    HD_TRY_OUT(
        hd_str_printf(op, &line, "(%lld row%s)\n", (long long)written, written == 1 ? "" : "s"));
    HD_TRY_OUT(hd_output_file_write(op, file, line.data, line.size));
    if (n_rows != NULL)
        *n_rows = written;
out:
    hd_array_clear(&batch);
    hd_schema_clear(&schema);
    hd_arena_clear(&arena);
    hd_str_clear(&line);
    hd_str_clear(&scratch);
    hd_free(op, widths);
    return status;
}
