/* SPDX-License-Identifier: Apache-2.0 */
#include "support/arrow_rows.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *must_alloc(size_t n_bytes)
{
    void *const memory = calloc(1, n_bytes == 0 ? 1 : n_bytes);

    if (memory == NULL)
        abort();
    return memory;
}

static char *copy_text(const char *text, size_t n)
{
    char *const copy = must_alloc(n + 1);

    memcpy(copy, text, n);
    return copy;
}

/* ---- making ------------------------------------------------------------------------------- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    free((char *)schema->name);
    schema->release = NULL;
}

static const char *format_of(char type)
{
    switch (type) {
    case 's':
        return "u";
    case 'i':
        return "i";
    case 'l':
        return "l";
    case 'd':
        return "g";
    default:
        return "b";
    }
}

static void init_field(struct ArrowSchema *out, const char *name, const char *format, bool nullable)
{
    *out = (struct ArrowSchema){.format = format,
                                .name = copy_text(name, strlen(name)),
                                .flags = nullable ? ARROW_FLAG_NULLABLE : 0,
                                .release = release_schema};
}

void test_schema_make(const struct test_column *columns, size_t n_columns, struct ArrowSchema *out)
{
    init_field(out, "", "+s", false);
    out->n_children = (int64_t)n_columns;
    out->children = must_alloc(n_columns * sizeof *out->children);
    for (size_t i = 0; i < n_columns; i++) {
        out->children[i] = must_alloc(sizeof **out->children);
        init_field(out->children[i], columns[i].name, format_of(columns[i].type),
                   !columns[i].required);
    }
}

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    for (int64_t i = 0; i < array->n_buffers; i++)
        free((void *)array->buffers[i]);
    free(array->buffers);
    array->release = NULL;
}

static void init_array(struct ArrowArray *out, size_t n_rows, int64_t n_buffers)
{
    *out = (struct ArrowArray){.length = (int64_t)n_rows,
                               .n_buffers = n_buffers,
                               .buffers = must_alloc((size_t)n_buffers * sizeof *out->buffers),
                               .release = release_array};
}

static const char *cell_of(const struct test_rows *rows, size_t row, size_t column)
{
    return rows->cells[row * rows->n_columns + column];
}

static void set_bit(uint8_t *bits, size_t i)
{
    bits[i / 8] |= (uint8_t)(1u << (i % 8));
}

static void fill_texts(const struct test_rows *rows, size_t first, size_t n, size_t column,
                       struct ArrowArray *out)
{
    int32_t *const offsets = must_alloc((n + 1) * sizeof *offsets);
    size_t n_bytes = 0;

    for (size_t i = 0; i < n; i++) {
        const char *const cell = cell_of(rows, first + i, column);
        n_bytes += cell == NULL ? 0 : strlen(cell);
        offsets[i + 1] = (int32_t)n_bytes;
    }
    char *const bytes = must_alloc(n_bytes);
    for (size_t i = 0; i < n; i++) {
        const char *const cell = cell_of(rows, first + i, column);
        if (cell != NULL)
            memcpy(bytes + offsets[i], cell, strlen(cell));
    }
    out->buffers[1] = offsets;
    out->buffers[2] = bytes;
}

static void fill_values(const struct test_rows *rows, size_t first, size_t n, size_t column,
                        struct ArrowArray *out)
{
    uint8_t *const values = must_alloc(n * 8);

    for (size_t i = 0; i < n; i++) {
        const char *const cell = cell_of(rows, first + i, column);

        if (cell == NULL)
            continue;
        switch (rows->columns[column].type) {
        case 'i':
            ((int32_t *)(void *)values)[i] = (int32_t)strtol(cell, NULL, 10);
            break;
        case 'l':
            ((int64_t *)(void *)values)[i] = strtoll(cell, NULL, 10);
            break;
        case 'd':
            ((double *)(void *)values)[i] = strtod(cell, NULL);
            break;
        default:
            if (strcmp(cell, "true") == 0)
                set_bit(values, i);
            break;
        }
    }
    out->buffers[1] = values;
}

static void fill_column(const struct test_rows *rows, size_t first, size_t n, size_t column,
                        struct ArrowArray *out)
{
    const bool is_text = rows->columns[column].type == 's';
    uint8_t *const valid = must_alloc(n / 8 + 1);

    init_array(out, n, is_text ? 3 : 2);
    for (size_t i = 0; i < n; i++) {
        if (cell_of(rows, first + i, column) != NULL)
            set_bit(valid, i);
        else
            out->null_count++;
    }
    out->buffers[0] = valid;
    if (is_text)
        fill_texts(rows, first, n, column, out);
    else
        fill_values(rows, first, n, column, out);
}

static void make_array(const struct test_rows *rows, size_t first, size_t n, struct ArrowArray *out)
{
    init_array(out, n, 1);
    out->n_children = (int64_t)rows->n_columns;
    out->children = must_alloc(rows->n_columns * sizeof *out->children);
    for (size_t i = 0; i < rows->n_columns; i++) {
        out->children[i] = must_alloc(sizeof **out->children);
        fill_column(rows, first, n, i, out->children[i]);
    }
}

void test_batch_make(const struct test_rows *rows, struct ArrowSchema *schema,
                     struct ArrowArray *array)
{
    test_schema_make(rows->columns, rows->n_columns, schema);
    make_array(rows, 0, rows->n_rows, array);
}

/* ---- streams ------------------------------------------------------------------------------ */

struct source {
    struct ArrowSchema schema;
    struct ArrowArray *batches;
    size_t n_batches;
    size_t next;
    struct test_stream_plan plan;
};

static int source_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const struct source *const source = stream->private_data;
    const struct ArrowSchema *const schema = &source->schema;

    init_field(out, "", "+s", false);
    out->n_children = schema->n_children;
    out->children = must_alloc((size_t)schema->n_children * sizeof *out->children);
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowSchema *const field = schema->children[i];

        out->children[i] = must_alloc(sizeof **out->children);
        init_field(out->children[i], field->name, field->format, field->flags != 0);
    }
    return 0;
}

static int source_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct source *const source = stream->private_data;
    const int at = (int)source->next;

    *out = (struct ArrowArray){0};
    if (at == source->plan.cancel_at)
        hudi_cancel_request(source->plan.cancel);
    if (at == source->plan.fail_at)
        return 5;
    if (source->next == source->n_batches)
        return 0;
    *out = source->batches[source->next];
    source->batches[source->next++].release = NULL;
    return 0;
}

static const char *source_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "the input broke off";
}

static void source_release(struct ArrowArrayStream *stream)
{
    struct source *const source = stream->private_data;

    for (size_t i = 0; i < source->n_batches; i++)
        if (source->batches[i].release != NULL)
            source->batches[i].release(&source->batches[i]);
    free(source->batches);
    source->schema.release(&source->schema);
    free(source);
    stream->release = NULL;
}

void test_stream_open(const struct test_rows *rows, const struct test_stream_plan *plan,
                      struct ArrowArrayStream *out)
{
    static const struct test_stream_plan PLAIN = {.fail_at = -1, .cancel_at = -1};
    struct source *const source = must_alloc(sizeof *source);

    source->plan = plan == NULL ? PLAIN : *plan;
    test_schema_make(rows->columns, rows->n_columns, &source->schema);
    const size_t step = source->plan.batch_rows == 0 ? rows->n_rows + 1 : source->plan.batch_rows;
    source->batches = must_alloc((rows->n_rows / step + 1) * sizeof *source->batches);
    for (size_t first = 0; first < rows->n_rows; first += step)
        make_array(rows, first, rows->n_rows - first < step ? rows->n_rows - first : step,
                   &source->batches[source->n_batches++]);
    *out = (struct ArrowArrayStream){.get_schema = source_schema,
                                     .get_next = source_next,
                                     .get_last_error = source_error,
                                     .release = source_release,
                                     .private_data = source};
}

/* ---- reading ------------------------------------------------------------------------------ */

static bool bit_of(const void *bits, int64_t i)
{
    return (((const uint8_t *)bits)[i / 8] >> (i % 8)) & 1;
}

static char *print_value(const struct ArrowSchema *field, const struct ArrowArray *array,
                         int64_t row)
{
    const int64_t at = row + array->offset;
    char text[64];

    if (array->n_buffers > 0 && array->buffers[0] != NULL && !bit_of(array->buffers[0], at))
        return NULL;
    if (field->dictionary != NULL) {
        int64_t index = 0;

        if (strcmp(field->format, "i") == 0)
            index = ((const int32_t *)array->buffers[1])[at];
        else if (strcmp(field->format, "c") == 0)
            index = ((const int8_t *)array->buffers[1])[at];
        else
            fail_msg("dictionary indices of format %s", field->format);
        return print_value(field->dictionary, array->dictionary, index);
    }
    switch (field->format[0]) {
    case 'u': {
        const int32_t *const offsets = array->buffers[1];
        return copy_text((const char *)array->buffers[2] + offsets[at],
                         (size_t)(offsets[at + 1] - offsets[at]));
    }
    case 'U': {
        const int64_t *const offsets = array->buffers[1];
        return copy_text((const char *)array->buffers[2] + offsets[at],
                         (size_t)(offsets[at + 1] - offsets[at]));
    }
    case 'i':
        snprintf(text, sizeof text, "%" PRId32, ((const int32_t *)array->buffers[1])[at]);
        break;
    case 'l':
        snprintf(text, sizeof text, "%" PRId64, ((const int64_t *)array->buffers[1])[at]);
        break;
    case 'g':
        snprintf(text, sizeof text, "%.17g", ((const double *)array->buffers[1])[at]);
        break;
    case 'b':
        snprintf(text, sizeof text, "%s", bit_of(array->buffers[1], at) ? "true" : "false");
        break;
    default:
        fail_msg("column \"%s\" has the format %s", field->name, field->format);
    }
    return copy_text(text, strlen(text));
}

static void add_batch(const struct ArrowSchema *schema, const struct ArrowArray *batch,
                      struct test_table_rows *out)
{
    const size_t n_rows = (size_t)batch->length;
    const size_t wanted = (out->n_rows + n_rows) * out->n_columns;

    if (wanted > out->capacity) {
        out->capacity = wanted * 2;
        out->cells = realloc(out->cells, out->capacity * sizeof *out->cells);
        if (out->cells == NULL)
            abort();
    }
    for (size_t column = 0; column < out->n_columns; column++)
        for (size_t row = 0; row < n_rows; row++)
            out->cells[(out->n_rows + row) * out->n_columns + column] = print_value(
                schema->children[column], batch->children[column], (int64_t)row + batch->offset);
    out->n_rows += n_rows;
}

bool test_rows_try_read(struct ArrowArrayStream *in, struct test_table_rows *out)
{
    struct ArrowSchema schema;
    bool whole = false;

    *out = (struct test_table_rows){0};
    if (in->get_schema(in, &schema) != 0)
        return false;
    out->n_columns = (size_t)schema.n_children;
    out->names = must_alloc(out->n_columns * sizeof *out->names);
    for (size_t i = 0; i < out->n_columns; i++)
        out->names[i] = copy_text(schema.children[i]->name, strlen(schema.children[i]->name));
    for (;;) {
        struct ArrowArray batch;

        if (in->get_next(in, &batch) != 0)
            break;
        whole = batch.release == NULL;
        if (whole)
            break;
        add_batch(&schema, &batch, out);
        batch.release(&batch);
    }
    schema.release(&schema);
    return whole;
}

void test_rows_read(struct ArrowArrayStream *in, struct test_table_rows *out)
{
    if (!test_rows_try_read(in, out))
        fail_msg("%s", in->get_last_error(in));
    in->release(in);
}

int test_rows_column(const struct test_table_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->n_columns; i++)
        if (strcmp(rows->names[i], name) == 0)
            return (int)i;
    return -1;
}

const char *test_rows_cell(const struct test_table_rows *rows, size_t row, const char *name)
{
    const int column = test_rows_column(rows, name);

    return column < 0 ? NULL : rows->cells[row * rows->n_columns + (size_t)column];
}

void test_rows_clear(struct test_table_rows *rows)
{
    for (size_t i = 0; i < rows->n_rows * rows->n_columns; i++)
        free(rows->cells[i]);
    for (size_t i = 0; i < rows->n_columns; i++)
        free(rows->names[i]);
    free(rows->cells);
    free(rows->names);
    *rows = (struct test_table_rows){0};
}
