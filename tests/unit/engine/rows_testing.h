/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for tests, from text: a schema as lines "name type", rows as lines of cells between '|',
 * where
 * "~" is null. Nested columns are null in all rows. */
#ifndef TEST_ENGINE_ROWS_TESTING_H
#define TEST_ENGINE_ROWS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/cast.h"
#include "arrow/gather.h"
#include "arrow/schema.h"
#include "arrow/view.h"
#include "engine/slice/slice_reader.h"
#include "format/table/table_schema.h"
#include "store/base_file.h"
#include "support/fault.h"
#include "support/table.h"

static inline void test_schema(struct hd_op *op, const char *columns, struct ArrowSchema *out)
{
    test_must(op, hd_table_schema_parse(op, hd_slice_text(columns), out));
}

/*
 * Bytes before the first of `stops`, or before the end. Not strcspn: under ASan's strict string
 * checks that measures the whole text at each call, which is quadratic in the lines of a text.
 */
static inline size_t test_span(const char *text, const char *stops)
{
    size_t n = 0;

    for (; text[n] != '\0'; n++)
        for (const char *stop = stops; *stop != '\0'; stop++)
            if (text[n] == *stop)
                return n;
    return n;
}

/* The cells of column `column`, cast to its type. */
static inline void test_column(struct hd_op *op, const struct ArrowSchema *field, int32_t column,
                               const char *rows, struct ArrowArray *out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema string;
    struct ArrowArray cells;
    hd_builder *builder;

    test_must(op, hd_schema_init_field(op, &string, field->name, &text, true));
    test_must(op, hd_builder_new(op, &string, &builder));
    for (const char *line = rows; *line != '\0';) {
        const char *cell = line, *end = line + test_span(line, "\n");

        for (int32_t i = 0; i < column && cell <= end; i++)
            cell += test_span(cell, "|\n") + 1;
        const size_t n = cell < end ? test_span(cell, "|\n") : 0;
        if (cell > end || (n == 1 && cell[0] == '~'))
            test_must(op, hd_builder_append_null(op, builder));
        else
            test_must(op, hd_builder_append_bytes(op, builder, hd_slice_of(cell, n)));
        line = *end == '\n' ? end + 1 : end;
    }
    test_must(op, hd_builder_finish(op, builder, &cells));
    hd_builder_free(builder);
    if (field->n_children > 0) {
        test_must(op, hd_array_nulls(op, field, cells.length, out));
        hd_array_clear(&cells);
    } else {
        test_must(op, hd_cast(op, &string, &cells, field, HD_CAST_INPUT, out));
    }
    hd_schema_clear(&string);
}

static inline void test_rows(struct hd_op *op, const struct ArrowSchema *schema, const char *rows,
                             struct ArrowArray *out)
{
    struct ArrowArray columns[32] = {0};
    const int32_t n = (int32_t)schema->n_children;

    assert_true(n > 0 && n <= 32);
    for (int32_t i = 0; i < n; i++)
        test_column(op, schema->children[i], i, rows, &columns[i]);
    test_must(op, hd_array_struct(op, columns, n, columns[0].length, out));
}

/* Append the rows of a batch as such lines; a timestamp is the number that it is stored as. */
static inline void test_append_rows(struct hd_op *op, const struct ArrowSchema *schema,
                                    const struct ArrowArray *batch, struct hd_str *out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowArray columns[32] = {0}, copy;
    struct hd_view views[32];
    struct hd_arena arena = {0};
    const int32_t n = (int32_t)schema->n_children;

    assert_true(n <= 32);
    assert_int_equal(batch->n_children, n);
    for (int32_t i = 0; i < n; i++) {
        const struct hd_run run = {0, (uint32_t)batch->offset, (uint32_t)batch->length};
        const struct ArrowArray *source = batch->children[i];
        struct hd_type type;
        struct ArrowSchema string, plain;

        test_must(op, hd_gather(op, schema->children[i], &source, 1, &run, 1, &copy));
        test_must(op, hd_type_of(op, schema->children[i], &type));
        if (type.id == HD_TYPE_TIMESTAMP)
            type = (struct hd_type){.id = HD_TYPE_INT64};
        test_must(op, hd_schema_init_field(op, &plain, schema->children[i]->name, &type, true));
        test_must(op, hd_schema_init_field(op, &string, schema->children[i]->name, &text, true));
        test_must(op, hd_cast(op, &plain, &copy, &string, HD_CAST_INPUT, &columns[i]));
        hd_schema_clear(&plain);
        test_must(op, hd_view_open(op, &arena, &string, &columns[i], &views[i]));
        hd_schema_clear(&string);
    }
    for (int64_t row = 0; row < batch->length; row++) {
        for (int32_t i = 0; i < n; i++) {
            const bool null = hd_view_is_null(&views[i], row);
            const struct hd_slice cell = null ? hd_slice_text("~") : hd_view_bytes(&views[i], row);

            if (i > 0)
                test_must(op, hd_str_append_char(op, out, '|'));
            test_must(op, hd_str_append(op, out, cell.data, cell.size));
        }
        test_must(op, hd_str_append_char(op, out, '\n'));
    }
    for (int32_t i = 0; i < n; i++)
        hd_array_clear(&columns[i]);
    hd_arena_clear(&arena);
}

/* A Parquet file of those rows in row groups of `row_group_rows` (0: one). */
static inline void test_base_file(struct hd_op *op, hd_file_system *fs, const char *path,
                                  const char *columns, const char *rows, int64_t row_group_rows)
{
    const struct hd_base_write_options options = {.format = HD_BASE_FILE_PARQUET,
                                                  .codec = HD_BASE_CODEC_UNCOMPRESSED,
                                                  .codec_level = INT32_MIN,
                                                  .row_group_rows = row_group_rows};
    struct ArrowSchema schema;
    struct ArrowArray batch;
    hd_output_file *file;
    hd_base_writer *writer;
    uint64_t n_bytes;

    test_schema(op, columns, &schema);
    test_rows(op, &schema, rows, &batch);
    test_must(op, hd_fs_open_output(op, fs, path, false, &file));
    test_must(op, hd_base_writer_open(op, file, &schema, &options, &writer));
    test_must(op, hd_base_writer_write(op, writer, &batch));
    test_must(op, hd_base_writer_close(op, writer, &n_bytes));
    hd_array_clear(&batch);
    hd_schema_clear(&schema);
}

#endif
