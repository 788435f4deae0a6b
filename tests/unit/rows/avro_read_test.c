/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/arrow/arrow_testing.h"

#include "arrow/stream.h"
#include "rows/avro_rows.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_of_fastavro_are_read_in_any_codec),
        TEST(files_cut_inside_a_block_are_corrupt),
        TEST(a_block_with_more_bytes_than_its_records_take_is_corrupt),
        TEST(every_fault_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
