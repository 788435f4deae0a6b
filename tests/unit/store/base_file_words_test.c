/* SPDX-License-Identifier: Apache-2.0 */
/* Text columns of few words, which are read as indices into them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arrow/builder.h"
#include "arrow/schema.h"
#include "arrow/view.h"
#include "unit/store/store_testing.h"

#define PATH "/t/f.parquet"
#define LONG_BYTES 2000

static const struct hd_base_write_options OPTIONS = {.format = HD_BASE_FILE_PARQUET,
                                                     .codec = HD_BASE_CODEC_ZSTD,
                                                     .codec_level = INT32_MIN,
                                                     .row_group_rows = 50000,
                                                     .dictionary = true};

/* The word of a row: none, empty, short, longer than a block, long. */
static bool word_of(int64_t row, bool all_long, struct hd_slice *out)
{
    static char bytes[LONG_BYTES];
    static const size_t SIZES[] = {0, 1, 31, 32, 33, 64, 100, 300};

    memset(bytes, 'w', sizeof bytes);
    *out = hd_slice_of(bytes, all_long ? LONG_BYTES : SIZES[row % 8]);
    return all_long || row % 11 != 3;
}

static void write_words(struct hd_op *op, hd_file_system *fs, int64_t n, bool all_long)
{
    const struct hd_type types[] = {{.id = HD_TYPE_STRING}, {.id = HD_TYPE_BINARY}};
    struct ArrowSchema schema;
    struct ArrowArray rows;
    hd_base_writer *writer;
    hd_output_file *file;
    hd_builder *builder;
    uint64_t n_bytes;

    ASSERT_OK(op, hd_schema_init_struct(op, &schema, "", false, 2));
    ASSERT_OK(op, hd_schema_init_field(op, schema.children[0], "text", &types[0], true));
    ASSERT_OK(op, hd_schema_init_field(op, schema.children[1], "bytes", &types[1], true));
    ASSERT_OK(op, hd_fs_open_output(op, fs, PATH, true, &file));
    ASSERT_OK(op, hd_base_writer_open(op, file, &schema, &OPTIONS, &writer));
    for (int64_t row = 0; row < n;) {
        ASSERT_OK(op, hd_builder_new(op, &schema, &builder));
        for (int64_t end = row + 5000; row < end && row < n; row++) {
            struct hd_slice word;
            const bool valid = word_of(row, all_long, &word);
            for (int32_t i = 0; i < 2; i++) {
                hd_builder *column = hd_builder_child(builder, i);
                ASSERT_OK(op, valid ? hd_builder_append_bytes(op, column, word)
                                    : hd_builder_append_null(op, column));
            }
            ASSERT_OK(op, hd_builder_append_valid(op, builder));
        }
        ASSERT_OK(op, hd_builder_finish(op, builder, &rows));
        hd_builder_free(builder);
        ASSERT_OK(op, hd_base_writer_write(op, writer, &rows));
        hd_array_clear(&rows);
    }
    ASSERT_OK(op, hd_base_writer_close(op, writer, &n_bytes));
    hd_schema_clear(&schema);
}

static void check_batch(struct hd_op *op, const struct ArrowSchema *schema,
                        const struct ArrowArray *rows, int64_t first, bool all_long)
{
    struct hd_arena arena = {0};
    struct hd_view view;

    ASSERT_OK(op, hd_view_open(op, &arena, schema, rows, &view));
    for (int64_t i = 0; i < rows->length; i++) {
        struct hd_slice word;
        const bool valid = word_of(first + i, all_long, &word);
        for (int32_t c = 0; c < 2; c++) {
            assert_int_equal(hd_view_is_null(&view.children[c], i), !valid);
            assert_true(!valid || hd_slice_equal(hd_view_bytes(&view.children[c], i), word));
        }
    }
    hd_arena_clear(&arena);
}

static void check_words(struct hd_op *op, int64_t n, bool all_long, int64_t batch_rows)
{
    const struct hd_base_read_options options = {.batch_rows = batch_rows};
    hd_file_system *fs = test_memory_open(op);
    hd_base_reader *reader;
    hd_base_batches *batches;
    struct ArrowArray rows;
    hudi_status status;
    int64_t row = 0;

    write_words(op, fs, n, all_long);
    ASSERT_OK(op, hd_base_reader_open(op, test_open(op, fs, PATH), HD_BASE_FILE_PARQUET, &reader));
    ASSERT_OK(op, hd_base_reader_read(op, reader, &options, &batches));
    while ((status = hd_base_batches_next(op, batches, &rows)) == HUDI_OK) {
        assert_true(rows.length > 0 && rows.length <= (all_long ? 20000 : n));
        check_batch(op, hd_base_reader_schema(reader), &rows, row, all_long);
        row += rows.length;
        hd_array_clear(&rows);
    }
    assert_int_equal(status, HUDI_END);
    assert_int_equal(row, n);
    hd_base_batches_close(batches);
    hd_base_reader_close(reader);
    test_memory_close(fs);
}

static void gives_the_words_of_all_rows(void **state)
{
    check_words(*state, 60000, false, 0);
}

/* Indices of a batch begin in the midst of a page, and of a byte of its bitmap. */
static void gives_them_in_batches_of_any_size(void **state)
{
    check_words(*state, 5003, false, 7);
    check_words(*state, 5003, false, 1);
}

/* What is a few bytes in the file would be 100 MB in one batch. */
static void long_words_come_in_smaller_batches(void **state)
{
    check_words(*state, 50000, true, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gives_the_words_of_all_rows, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(gives_them_in_batches_of_any_size, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(long_words_come_in_smaller_batches, test_op_setup,
                                        test_op_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
