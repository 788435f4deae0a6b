/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet as our writer makes it and any reader gets it back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/store/store_testing.h"

#define PATH "/t/f.parquet"

static const struct hd_base_write_options ZSTD = {.format = HD_BASE_FILE_PARQUET,
                                                  .codec = HD_BASE_CODEC_ZSTD,
                                                  .codec_level = INT32_MIN,
                                                  .dictionary = true};

/* id long not null, s string, d decimal(10,2), l list<int> */
static void make_schema(struct hd_op *op, struct ArrowSchema *out)
{
    const struct hd_type integer = {.id = HD_TYPE_INT64};
    const struct hd_type element = {.id = HD_TYPE_INT32};
    const struct hd_type text = {.id = HD_TYPE_STRING};
    const struct hd_type decimal = {.id = HD_TYPE_DECIMAL, .precision = 10, .scale = 2};

    ASSERT_OK(op, hd_schema_init_struct(op, out, "", false, 4));
    ASSERT_OK(op, hd_schema_init_field(op, out->children[0], "id", &integer, false));
    ASSERT_OK(op, hd_schema_init_field(op, out->children[1], "s", &text, true));
    ASSERT_OK(op, hd_schema_init_field(op, out->children[2], "d", &decimal, true));
    ASSERT_OK(op, hd_schema_init_list(op, out->children[3], "l", true));
    ASSERT_OK(op, hd_schema_init_field(op, out->children[3]->children[0], "item", &element, true));
}

/* Row i: id i, s "v<i%7>" (null when i%5 == 4), d -i cents (null when i%3 == 2), l: i%6 0 null, 1
 * [], 2 [i], 3 [null], 4 [i,null,-i], 5 [] */
static void append_list(struct hd_op *op, hd_builder *list, int64_t i)
{
    hd_builder *item = hd_builder_child(list, 0);

    if (i % 6 == 0) {
        ASSERT_OK(op, hd_builder_append_null(op, list));
        return;
    }
    if (i % 6 == 2 || i % 6 == 4)
        ASSERT_OK(op, hd_builder_append_integer(op, item, i));
    if (i % 6 == 3 || i % 6 == 4)
        ASSERT_OK(op, hd_builder_append_null(op, item));
    if (i % 6 == 4)
        ASSERT_OK(op, hd_builder_append_integer(op, item, -i));
    ASSERT_OK(op, hd_builder_append_valid(op, list));
}

static void make_rows(struct hd_op *op, const struct ArrowSchema *schema, int64_t from, int64_t n,
                      struct ArrowArray *out)
{
    hd_builder *rows;

    ASSERT_OK(op, hd_builder_new(op, schema, &rows));
    for (int64_t i = from; i < from + n; i++) {
        char text[8];
        snprintf(text, sizeof text, "v%d", (int)(i % 7));
        ASSERT_OK(op, hd_builder_append_integer(op, hd_builder_child(rows, 0), i));
        ASSERT_OK(op, i % 5 == 4 ? hd_builder_append_null(op, hd_builder_child(rows, 1))
                                 : hd_builder_append_bytes(op, hd_builder_child(rows, 1),
                                                           hd_slice_text(text)));
        ASSERT_OK(op, i % 3 == 2 ? hd_builder_append_null(op, hd_builder_child(rows, 2))
                                 : hd_builder_append_decimal(op, hd_builder_child(rows, 2), -i));
        append_list(op, hd_builder_child(rows, 3), i);
        ASSERT_OK(op, hd_builder_append_valid(op, rows));
    }
    ASSERT_OK(op, hd_builder_finish(op, rows, out));
    hd_builder_free(rows);
}

static void check_row(const struct hd_view *rows, int64_t row, int64_t i)
{
    const struct hd_view *list = &rows->children[3];
    char text[8];
    int64_t n;

    assert_int_equal(hd_view_i64(&rows->children[0], row), i);
    snprintf(text, sizeof text, "v%d", (int)(i % 7));
    if (i % 5 == 4)
        assert_true(hd_view_is_null(&rows->children[1], row));
    else
        assert_text(&rows->children[1], row, text);
    if (i % 3 == 2) {
        assert_true(hd_view_is_null(&rows->children[2], row));
    } else {
        __int128 value;
        memcpy(&value, hd_view_bytes(&rows->children[2], row).data, sizeof value);
        assert_true(value == -i);
    }
    assert_int_equal(hd_view_is_null(list, row), i % 6 == 0);
    if (i % 6 == 0)
        return;
    const int64_t first = hd_view_list(list, row, &n);
    const int expected[] = {0, 0, 1, 1, 3, 0};
    assert_int_equal(n, expected[i % 6]);
    if (i % 6 == 2 || i % 6 == 4)
        assert_int_equal(hd_view_i32(&list->children[0], first), i);
    if (i % 6 == 3)
        assert_true(hd_view_is_null(&list->children[0], first));
    if (i % 6 == 4) {
        assert_true(hd_view_is_null(&list->children[0], first + 1));
        assert_int_equal(hd_view_i32(&list->children[0], first + 2), -i);
    }
}

/* Write `n` rows in batches of `batch` to PATH. */
static hudi_status write_rows(struct hd_op *op, hd_file_system *fs,
                              const struct hd_base_write_options *options, int64_t n, int64_t batch)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray rows = {0};
    hd_base_writer *writer = NULL;
    hd_output_file *file;
    hudi_status status = HUDI_OK;
    uint64_t n_bytes;

    HD_TRY(hd_fs_open_output(op, fs, PATH, false, &file));
    make_schema(op, &schema);
    HD_TRY_OUT(hd_base_writer_open(op, file, &schema, options, &writer));
    for (int64_t i = 0; i < n; i += batch) {
        make_rows(op, &schema, i, n - i < batch ? n - i : batch, &rows);
        HD_TRY_OUT(hd_base_writer_write(op, writer, &rows));
        hd_array_clear(&rows);
        assert_true(hd_base_writer_bytes(writer) > 0);
    }
    assert_int_equal(hd_base_writer_rows(writer), n);
    HD_TRY_OUT(hd_base_writer_key_value(op, writer, "who", hd_slice_text("us")));
    HD_TRY_OUT(hd_base_writer_key_value(op, writer, "who", hd_slice_text("me")));
    HD_TRY_OUT(hd_base_writer_key_value(op, writer, "none", (struct hd_slice){0}));
    status = hd_base_writer_close(op, writer, &n_bytes);
    writer = NULL;
    if (status == HUDI_OK) {
        hd_input_file *in = test_open(op, fs, PATH);
        assert_int_equal(hd_input_file_size(in), n_bytes);
        hd_input_file_close(in);
    }
out:
    hd_base_writer_abort(writer);
    hd_array_clear(&rows);
    hd_schema_clear(&schema);
    return status;
}

static void check_rows(struct hd_op *op, hd_base_reader *reader, int64_t n, int64_t batch_rows)
{
    const struct hd_base_read_options options = {.batch_rows = batch_rows};
    hd_base_batches *batches;
    struct ArrowArray rows;
    hudi_status status;
    int64_t i = 0;

    ASSERT_OK(op, hd_base_reader_read(op, reader, &options, &batches));
    while ((status = hd_base_batches_next(op, batches, &rows)) == HUDI_OK) {
        struct hd_arena arena = {0};
        struct hd_view view;
        ASSERT_OK(op, hd_view_open(op, &arena, hd_base_reader_schema(reader), &rows, &view));
        assert_true(rows.length > 0);
        assert_true(batch_rows == 0 || rows.length <= batch_rows);
        for (int64_t row = 0; row < rows.length; row++)
            check_row(&view, row, i++);
        hd_arena_clear(&arena);
        hd_array_clear(&rows);
    }
    assert_int_equal(status, HUDI_END);
    assert_int_equal(i, n);
    hd_base_batches_close(batches);
}

static void gives_back_what_was_written(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);

    for (int codec = HD_BASE_CODEC_UNCOMPRESSED; codec <= HD_BASE_CODEC_LZ4; codec++) {
        struct hd_base_write_options options = ZSTD;
        hd_base_reader *reader;
        struct hd_slice value;

        options.codec = (enum hd_base_codec)codec;
        options.dictionary = codec % 2 == 0;
        options.row_group_rows = 700;
        ASSERT_OK(op, write_rows(op, fs, &options, 2000, 300));
        ASSERT_OK(op,
                  hd_base_reader_open(op, test_open(op, fs, PATH), HD_BASE_FILE_PARQUET, &reader));
        assert_int_equal(hd_base_reader_n_rows(reader), 2000);
        assert_int_equal(hd_base_reader_n_row_groups(reader), 3);
        assert_int_equal(hd_base_reader_row_group_rows(reader, 0), 700);
        assert_int_equal(hd_base_reader_row_group_rows(reader, 2), 600);
        assert_true(hd_base_reader_row_group_bytes(reader, 0) > 100);
        ASSERT_OK(op, hd_base_reader_key_value(op, reader, "who", &value));
        assert_true(hd_slice_equal(value, hd_slice_text("me")));
        ASSERT_OK(op, hd_base_reader_key_value(op, reader, "none", &value));
        assert_int_equal(value.size, 0);
        assert_int_equal(hd_base_reader_key_value(op, reader, "ARROW:schema", &value),
                         HUDI_NOT_FOUND);
        check_rows(op, reader, 2000, 0);
        check_rows(op, reader, 2000, 64);
        hd_base_reader_close(reader);
    }
    test_memory_close(fs);
}

static void reads_columns_and_row_groups_that_were_asked_for(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    struct hd_base_write_options write = ZSTD;
    const int32_t columns[] = {3, 0}, row_groups[] = {0, 2};
    const struct hd_base_read_options options = {
        .columns = columns, .n_columns = 2, .row_groups = row_groups, .n_row_groups = 2};
    hd_base_reader *reader;
    hd_base_batches *batches;
    struct ArrowArray rows;
    struct ArrowSchema schema;

    write.row_group_rows = 10;
    ASSERT_OK(op, write_rows(op, fs, &write, 30, 30));
    ASSERT_OK(op, hd_base_reader_open(op, test_open(op, fs, PATH), HD_BASE_FILE_PARQUET, &reader));
    ASSERT_OK(op, hd_schema_select(op, hd_base_reader_schema(reader), columns, 2, &schema));
    ASSERT_OK(op, hd_base_reader_read(op, reader, &options, &batches));
    for (int group = 0; group < 2; group++) {
        struct hd_arena arena = {0};
        struct hd_view view;
        ASSERT_OK(op, hd_base_batches_next(op, batches, &rows));
        assert_int_equal(rows.length, 10);
        ASSERT_OK(op, hd_view_open(op, &arena, &schema, &rows, &view));
        assert_int_equal(view.children[0].type.id, HD_TYPE_LIST);
        for (int64_t row = 0; row < 10; row++)
            assert_int_equal(hd_view_i64(&view.children[1], row), 20 * group + row);
        hd_arena_clear(&arena);
        hd_array_clear(&rows);
    }
    assert_int_equal(hd_base_batches_next(op, batches, &rows), HUDI_END);
    hd_base_batches_close(batches);
    hd_schema_clear(&schema);
    hd_base_reader_close(reader);
    test_memory_close(fs);
}

static void counts_rows_without_columns(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    const int32_t none = 0;
    const struct hd_base_read_options options = {.columns = &none, .batch_rows = 18};
    hd_base_reader *reader;
    hd_base_batches *batches;
    struct ArrowArray rows;

    ASSERT_OK(op, write_rows(op, fs, &ZSTD, 30, 30));
    ASSERT_OK(op, hd_base_reader_open(op, test_open(op, fs, PATH), HD_BASE_FILE_PARQUET, &reader));
    ASSERT_OK(op, hd_base_reader_read(op, reader, &options, &batches));
    for (int64_t expected = 18; expected > 0; expected = expected == 18 ? 12 : 0) {
        ASSERT_OK(op, hd_base_batches_next(op, batches, &rows));
        assert_int_equal(rows.length, expected);
        assert_int_equal(rows.n_children, 0);
        hd_array_clear(&rows);
    }
    assert_int_equal(hd_base_batches_next(op, batches, &rows), HUDI_END);
    hd_base_batches_close(batches);
    hd_base_reader_close(reader);
    test_memory_close(fs);
}

static void an_empty_file_has_a_schema_and_no_row_groups(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    hd_base_reader *reader;

    ASSERT_OK(op, write_rows(op, fs, &ZSTD, 0, 1));
    ASSERT_OK(op, hd_base_reader_open(op, test_open(op, fs, PATH), HD_BASE_FILE_PARQUET, &reader));
    assert_int_equal(hd_base_reader_n_rows(reader), 0);
    assert_int_equal(hd_base_reader_n_row_groups(reader), 0);
    assert_int_equal(hd_base_reader_schema(reader)->n_children, 4);
    check_rows(op, reader, 0, 0);
    hd_base_reader_close(reader);
    test_memory_close(fs);
}

static void statistics_bound_what_is_there(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    struct hd_base_write_options options = ZSTD;
    hd_base_reader *reader;
    struct hd_column_stats stats;
    __int128 decimal;

    options.row_group_rows = 10;
    ASSERT_OK(op, write_rows(op, fs, &options, 30, 30));
    ASSERT_OK(op, hd_base_reader_open(op, test_open(op, fs, PATH), HD_BASE_FILE_PARQUET, &reader));
    ASSERT_OK(op, hd_base_reader_column_stats(op, reader, 1, 0, &stats));
    assert_true(stats.has_bounds && stats.has_null_count);
    assert_int_equal(stats.null_count, 0);
    assert_int_equal(stats.min.length, 1);
    assert_int_equal(((const int64_t *)stats.min.buffers[1])[stats.min.offset], 10);
    assert_int_equal(((const int64_t *)stats.max.buffers[1])[stats.max.offset], 19);
    hd_column_stats_clear(&stats);
    ASSERT_OK(op, hd_base_reader_column_stats(op, reader, 0, 1, &stats));
    assert_true(stats.has_bounds);
    assert_int_equal(stats.null_count, 2);
    assert_memory_equal(stats.min.buffers[2], "v0", 2);
    assert_memory_equal(stats.max.buffers[2], "v6", 2);
    hd_column_stats_clear(&stats);
    ASSERT_OK(op, hd_base_reader_column_stats(op, reader, 0, 2, &stats));
    assert_true(stats.has_bounds);
    memcpy(&decimal, stats.min.buffers[1], sizeof decimal);
    assert_true(decimal == -9);
    hd_column_stats_clear(&stats);
    ASSERT_OK(op, hd_base_reader_column_stats(op, reader, 0, 3, &stats));
    assert_false(stats.has_bounds || stats.has_null_count); /* nested: unknown */
    hd_column_stats_clear(&stats);
    hd_base_reader_close(reader);
    test_memory_close(fs);
}

/* A value too long for the footer: absent bounds are unknown, not "all null" (case B10). */
static void long_values_have_no_or_right_bounds(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema schema;
    struct ArrowArray rows = {0};
    struct hd_column_stats stats;
    hd_builder *builder;
    hd_base_writer *writer;
    hd_base_reader *reader;
    hd_output_file *file;
    uint64_t n_bytes;
    char *z = malloc(5000);

    memset(z, 'z', 5000);
    ASSERT_OK(op, hd_schema_init_struct(op, &schema, "", false, 1));
    ASSERT_OK(op, hd_schema_init_field(op, schema.children[0], "s", &text, true));
    ASSERT_OK(op, hd_builder_new(op, &schema, &builder));
    hd_builder *s = hd_builder_child(builder, 0);
    ASSERT_OK(op, hd_builder_append_bytes(op, s, hd_slice_text("a")));
    ASSERT_OK(op, hd_builder_append_valid(op, builder));
    ASSERT_OK(op, hd_builder_append_bytes(op, s, hd_slice_of(z, 5000)));
    ASSERT_OK(op, hd_builder_append_valid(op, builder));
    ASSERT_OK(op, hd_builder_finish(op, builder, &rows));
    ASSERT_OK(op, hd_fs_open_output(op, fs, PATH, true, &file));
    ASSERT_OK(op, hd_base_writer_open(op, file, &schema, &ZSTD, &writer));
    ASSERT_OK(op, hd_base_writer_write(op, writer, &rows));
    ASSERT_OK(op, hd_base_writer_close(op, writer, &n_bytes));
    ASSERT_OK(op, hd_base_reader_open(op, test_open(op, fs, PATH), HD_BASE_FILE_PARQUET, &reader));
    ASSERT_OK(op, hd_base_reader_column_stats(op, reader, 0, 0, &stats));
    if (stats.has_null_count)
        assert_int_equal(stats.null_count, 0);
    if (stats.has_bounds) {
        const int32_t *offsets = stats.max.buffers[1];
        const struct hd_slice max = hd_slice_of((const uint8_t *)stats.max.buffers[2] + offsets[0],
                                                (size_t)(offsets[1] - offsets[0]));
        assert_true(hd_slice_compare(max, hd_slice_of(z, 5000)) >= 0);
    }
    hd_column_stats_clear(&stats);
    hd_base_reader_close(reader);
    hd_array_clear(&rows);
    hd_builder_free(builder);
    hd_schema_clear(&schema);
    free(z);
    test_memory_close(fs);
}

/* Meta columns come as dictionaries; another dictionary in a later batch is no obstacle, and the
 * memory of an earlier one may be gone by then. */
static void takes_dictionary_columns(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    const char *const times[] = {"20240101", "20240101", "20240202"};
    struct ArrowSchema schema;
    hd_base_writer *writer;
    hd_base_reader *reader;
    hd_output_file *file;
    struct ArrowArray all;
    struct hd_arena arena = {0};
    struct hd_view view;
    uint64_t n_bytes;

    ASSERT_OK(op, hd_schema_init_struct(op, &schema, "", false, 1));
    ASSERT_OK(op, hd_schema_init_dictionary(op, schema.children[0], "_hoodie_commit_time", true));
    ASSERT_OK(op, hd_fs_open_output(op, fs, PATH, true, &file));
    ASSERT_OK(op, hd_base_writer_open(op, file, &schema, &ZSTD, &writer));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(times); i++) {
        struct ArrowArray column, rows;
        ASSERT_OK(op, hd_array_constant_dictionary(op, hd_slice_text(times[i]), 1000, &column));
        ASSERT_OK(op, hd_array_struct(op, &column, 1, 1000, &rows));
        ASSERT_OK(op, hd_base_writer_write(op, writer, &rows));
        hd_array_clear(&rows);
    }
    ASSERT_OK(op, hd_base_writer_close(op, writer, &n_bytes));
    assert_true(n_bytes < 2000);
    ASSERT_OK(op, hd_base_reader_open(op, test_open(op, fs, PATH), HD_BASE_FILE_PARQUET, &reader));
    test_read_all(op, reader, &all);
    ASSERT_OK(op, hd_view_open(op, &arena, hd_base_reader_schema(reader), &all, &view));
    assert_int_equal(view.children[0].type.id, HD_TYPE_STRING);
    assert_text(&view.children[0], 0, "20240101");
    assert_text(&view.children[0], 1999, "20240101");
    assert_text(&view.children[0], 2000, "20240202");
    hd_arena_clear(&arena);
    hd_array_clear(&all);
    hd_base_reader_close(reader);
    hd_schema_clear(&schema);
    test_memory_close(fs);
}

static void refuses_nulls_in_a_required_column_and_orc(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    const struct hd_type integer = {.id = HD_TYPE_INT64};
    struct hd_base_write_options orc = ZSTD;
    struct ArrowSchema schema, nullable;
    struct ArrowArray rows;
    struct hd_file_info info;
    hd_base_writer *writer;
    hd_output_file *file;
    uint64_t n_bytes;

    ASSERT_OK(op, hd_schema_init_struct(op, &schema, "", false, 1));
    ASSERT_OK(op, hd_schema_init_field(op, schema.children[0], "id", &integer, false));
    ASSERT_OK(op, hd_schema_copy_as(op, &schema, "", true, &nullable));
    ASSERT_OK(op, hd_array_nulls(op, &nullable, 3, &rows));
    ASSERT_OK(op, hd_fs_open_output(op, fs, PATH, true, &file));
    ASSERT_OK(op, hd_base_writer_open(op, file, &schema, &ZSTD, &writer));
    assert_int_equal(hd_base_writer_write(op, writer, &rows), HUDI_INVALID);
    hd_op_clear_error(op);
    assert_int_equal(hd_base_writer_close(op, writer, &n_bytes), HUDI_INVALID);
    hd_op_clear_error(op);
    assert_int_equal(hd_fs_stat(op, fs, PATH, &info), HUDI_NOT_FOUND);

    orc.format = HD_BASE_FILE_ORC;
    ASSERT_OK(op, hd_fs_open_output(op, fs, PATH, true, &file));
    assert_int_equal(hd_base_writer_open(op, file, &schema, &orc, &writer), HUDI_NOT_IMPLEMENTED);
    assert_null(writer);
    assert_int_equal(hd_fs_stat(op, fs, PATH, &info), HUDI_NOT_FOUND);
    hd_array_clear(&rows);
    hd_schema_clear(&schema);
    hd_schema_clear(&nullable);
    test_memory_close(fs);
}

static void a_full_disk_is_said_and_leaves_no_file(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    struct hd_file_info info;

    hd_memory_set_capacity(fs, 1000);
    assert_int_equal(write_rows(op, fs, &ZSTD, 2000, 500), HUDI_IO);
    assert_non_null(strstr(hudi_error_message(op->error), "no space left on device"));
    assert_string_equal(hudi_error_path(op->error), PATH);
    assert_int_equal(hd_fs_stat(op, fs, PATH, &info), HUDI_NOT_FOUND);
    test_memory_close(fs);
}

static void writing_survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    struct ArrowSchema schema;
    struct ArrowArray rows;
    hudi_status status = HUDI_INTERNAL;
    uint64_t n_bytes = 0;

    make_schema(op, &schema);
    make_rows(op, &schema, 0, 100, &rows);
    for (int nth = 1; status != HUDI_OK; nth++) {
        hd_output_file *file;
        hd_base_writer *writer = NULL;
        struct hd_file_info info;

        test_fault_arm(op, nth);
        status = hd_fs_open_output(op, fs, PATH, true, &file);
        if (status == HUDI_OK)
            status = hd_base_writer_open(op, file, &schema, &ZSTD, &writer);
        if (status == HUDI_OK) {
            status = hd_base_writer_write(op, writer, &rows);
            if (status == HUDI_OK)
                status = hd_base_writer_close(op, writer, &n_bytes);
            else
                hd_base_writer_abort(writer);
        }
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        hd_op_clear_error(op);
        assert_int_equal(hd_fs_stat(op, fs, PATH, &info),
                         status == HUDI_OK ? HUDI_OK : HUDI_NOT_FOUND);
        assert_true(nth < 100000);
    }
    assert_true(n_bytes > 0);
    hd_array_clear(&rows);
    hd_schema_clear(&schema);
    test_memory_close(fs);
}

static void reading_survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    hudi_status status = HUDI_INTERNAL;

    ASSERT_OK(op, write_rows(op, fs, &ZSTD, 50, 50));
    for (int nth = 1; status != HUDI_END; nth++) {
        hd_input_file *file = NULL;
        hd_base_reader *reader = NULL;
        hd_base_batches *batches = NULL;
        struct ArrowArray rows;

        test_fault_arm(op, nth);
        status = hd_fs_open_input(op, fs, PATH, &file);
        if (status == HUDI_OK)
            status = hd_base_reader_open(op, file, HD_BASE_FILE_PARQUET, &reader);
        if (status == HUDI_OK)
            status = hd_base_reader_read(op, reader, NULL, &batches);
        while (status == HUDI_OK) {
            status = hd_base_batches_next(op, batches, &rows);
            if (status == HUDI_OK)
                hd_array_clear(&rows);
        }
        hd_base_batches_close(batches);
        hd_base_reader_close(reader);
        assert_int_equal(status == HUDI_END, !test_fault_fired(op));
        assert_true(nth < 100000);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
    test_memory_close(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gives_back_what_was_written),
        TEST(reads_columns_and_row_groups_that_were_asked_for),
        TEST(counts_rows_without_columns),
        TEST(an_empty_file_has_a_schema_and_no_row_groups),
        TEST(statistics_bound_what_is_there),
        TEST(long_values_have_no_or_right_bounds),
        TEST(takes_dictionary_columns),
        TEST(refuses_nulls_in_a_required_column_and_orc),
        TEST(a_full_disk_is_said_and_leaves_no_file),
        TEST(writing_survives_every_fault),
        TEST(reading_survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
