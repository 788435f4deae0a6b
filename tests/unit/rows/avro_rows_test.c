/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/arrow/arrow_testing.h"

#include "arrow/stream.h"
#include "rows/avro_rows.h"
#include "store/file_system.h"
#include "unit/codec/corpus.h"

/* The corpus has files of fastavro 1.13.1: 3 rows 3 times, blocks of about 40 bytes. */
#define ROWS                                                                                       \
    "(\"one\", 7, 2.5, 5, (1, \"why\"), [\"p\", null, \"q\"], [(\"z\", [1, 2]), (\"a\", [])]), "   \
    "(null, null, -1, null, null, [], null), (\"\", -1, 0, 2.25, (-9, null), [null], [])"

/* All rows of `bytes` in one batch. */
static hudi_status read_all(struct hd_op *op, struct hd_slice bytes, struct ArrowSchema *schema,
                            struct ArrowArray *rows)
{
    struct ArrowArrayStream stream;
    struct ArrowArray none;
    hd_input_file *file;

    *schema = (struct ArrowSchema){0};
    *rows = (struct ArrowArray){0};
    OK(hd_input_file_of_bytes(op, bytes.data, bytes.size, &file));
    HD_TRY(hd_avro_rows_open(op, file, &stream));
    hudi_status status = hd_stream_schema(op, &stream, schema);
    if (status == HUDI_OK)
        status = hd_stream_next(op, &stream, rows);
    if (status == HUDI_OK)
        assert_int_equal(hd_stream_next(op, &stream, &none), HUDI_END);
    hd_stream_clear(&stream);
    return status;
}

static void files_of_fastavro_are_read_in_any_codec(void **state)
{
    static const char *const FILES[] = {"avro_rows/container_null", "avro_rows/container_deflate"};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(FILES); i++) {
        const struct hd_slice bytes = test_corpus(FILES[i]);
        struct ArrowSchema schema;
        struct ArrowArray rows;

        OK(read_all(op, bytes, &schema, &rows));
        ASSERT_ARRAY(&schema, &rows, "[" ROWS ", " ROWS ", " ROWS "]");
        hd_array_clear(&rows);
        hd_schema_clear(&schema);
        test_slice_free(bytes);
    }
}

/* A file that ends between two blocks is whole to anybody who does not know how long it was. */
static void files_cut_inside_a_block_are_corrupt(void **state)
{
    struct hd_op *op = *state;
    const struct hd_slice bytes = test_corpus("avro_rows/container_null");
    int n_whole = 0;

    for (size_t n = 0; n < bytes.size; n++) {
        const struct hd_slice cut = test_cut(bytes, n);
        struct ArrowSchema schema;
        struct ArrowArray rows;
        const hudi_status status = read_all(op, cut, &schema, &rows);

        if (status == HUDI_OK || status == HUDI_END) {
            n_whole++;
            assert_memory_equal(cut.data + n - 16, "0123456789abcdef", 16);
        } else {
            assert_int_equal(status, HUDI_CORRUPT);
            assert_non_null(op->error);
        }
        hd_op_clear_error(op);
        hd_array_clear(&rows);
        hd_schema_clear(&schema);
        test_slice_free(cut);
    }
    assert_in_range(n_whole, 2, 9);
    test_slice_free(bytes);
}

static void a_block_with_more_bytes_than_its_records_take_is_corrupt(void **state)
{
    struct hd_op *op = *state;
    struct hd_slice bytes = test_corpus("avro_rows/container_null");
    uint8_t *count = (uint8_t *)(uintptr_t)bytes.data;
    struct ArrowSchema schema;
    struct ArrowArray rows;

    /* the count of the first block, right behind the header's sync marker */
    while (memcmp(count, "0123456789abcdef", 16) != 0)
        count++;
    assert_true(count[16] >= 2);
    count[16] -= 2;
    assert_int_equal(read_all(op, bytes, &schema, &rows), HUDI_CORRUPT);
    assert_non_null(strstr(hudi_error_message(op->error), "bytes behind its records"));
    hd_op_clear_error(op);
    hd_schema_clear(&schema);
    test_slice_free(bytes);
}

static void every_fault_is_reported(void **state)
{
    struct hd_op *op = *state;
    const struct hd_slice bytes = test_corpus("avro_rows/container_deflate");
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct ArrowArrayStream stream = {0};
        struct ArrowArray rows = {0};
        hd_input_file *file;

        OK(hd_input_file_of_bytes(op, bytes.data, bytes.size, &file));
        test_fault_arm(op, nth);
        status = hd_avro_rows_open(op, file, &stream);
        if (status == HUDI_OK)
            status = hd_stream_next(op, &stream, &rows);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        hd_array_clear(&rows);
        hd_stream_clear(&stream);
        hd_op_clear_error(op);
    }
    test_slice_free(bytes);
}

/* Written into memory, in as many blocks as the rows take, and read back. */
static void rows_are_written_as_they_are_read(void **state)
{
    struct hd_op *op = *state;
    const char *const json = "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"i\","
                             "\"type\":\"long\"},{\"name\":\"s\",\"type\":[\"null\",\"string\"]}]}";
    struct ArrowSchema id = {.format = "l", .name = "i"}, text = FIELD("u", "s");
    struct ArrowSchema *columns[] = {&id, &text};
    const struct ArrowSchema root = PARENT("+s", "", columns);
    hudi_status status = HUDI_INTERNAL;
    hd_file_system *fs = NULL;
    char *inner = NULL;
    hd_builder *b;

    OK(hd_fs_open(op, "memory:avro-rows", &fs, &inner));
    OK(hd_builder_new(op, &root, &b));
    for (int nth = 1; status != HUDI_OK; nth += nth < 20 ? 1 : 7) {
        struct ArrowArrayStream stream;
        struct ArrowArray rows, read;
        hd_output_file *file;
        hd_input_file *back;
        int64_t n = -1;

        for (int i = 0; i < 10000; i++) {
            OK(hd_builder_append_integer(op, hd_builder_child(b, 0), i));
            OK(i % 5 == 0 ? hd_builder_append_null(op, hd_builder_child(b, 1))
                          : hd_builder_append_bytes(op, hd_builder_child(b, 1),
                                                    hd_slice_of("a text of 20 bytes..", 20)));
            OK(hd_builder_append_valid(op, b));
        }
        OK(hd_builder_finish(op, b, &rows));
        OK(hd_stream_of_batches(op, &root, &rows, 1, &stream));
        OK(hd_fs_open_output(op, fs, "rows.avro", false, &file));
        test_fault_arm(op, nth);
        status = hd_avro_rows_write(op, &stream, json, file, &n);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        hd_op_clear_error(op);
        hd_stream_clear(&stream);
        if (status != HUDI_OK) {
            hd_output_file_abort(file);
            continue;
        }
        assert_int_equal(n, 10000);
        OK(hd_output_file_close(op, file, false));
        OK(hd_fs_open_input(op, fs, "rows.avro", &back));
        assert_true(hd_input_file_size(back) > 3 * 65536);
        OK(hd_avro_rows_open(op, back, &stream));
        OK(hd_stream_next(op, &stream, &read));
        assert_int_equal(read.length, 10000);
        assert_int_equal(((const int64_t *)read.children[0]->buffers[1])[9999], 9999);
        assert_int_equal(read.children[1]->null_count, 2000);
        hd_array_clear(&read);
        hd_stream_clear(&stream);
    }
    hd_builder_free(b);
    hd_free(op, inner);
    hd_fs_free(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_of_fastavro_are_read_in_any_codec),
        TEST(files_cut_inside_a_block_are_corrupt),
        TEST(a_block_with_more_bytes_than_its_records_take_is_corrupt),
        TEST(every_fault_is_reported),
        TEST(rows_are_written_as_they_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
