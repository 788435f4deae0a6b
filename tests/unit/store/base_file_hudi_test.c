/* SPDX-License-Identifier: Apache-2.0 */
/* Base files that Hudi wrote, read to the rows that it was given; and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/store/store_testing.h"

#define CORPUS HD_SOURCE_DIR "/fuzz/corpus/base_file/"

struct rows {
    hd_base_reader *reader;
    struct ArrowArray array;
    struct hd_arena arena;
    struct hd_view view;
};

static void open_rows(struct hd_op *op, const char *path, enum hd_base_file_format format,
                      struct rows *out)
{
    *out = (struct rows){.reader = test_reader(op, path, format)};
    assert_true(hd_type_is_canonical(hd_base_reader_schema(out->reader)));
    test_read_all(op, out->reader, &out->array);
    ASSERT_OK(op, hd_view_open(op, &out->arena, hd_base_reader_schema(out->reader), &out->array,
                               &out->view));
}

static void close_rows(struct rows *rows)
{
    hd_arena_clear(&rows->arena);
    hd_array_clear(&rows->array);
    hd_base_reader_close(rows->reader);
}

static __int128 decimal_at(const struct hd_view *view, int64_t row)
{
    __int128 value;

    memcpy(&value, hd_view_bytes(view, row).data, sizeof value);
    return value;
}

static const struct hd_view *typed(const struct rows *rows, const char *name, enum hd_type_id id)
{
    const struct hd_view *view = test_column(&rows->view, name);

    assert_int_equal(view->type.id, id);
    return view;
}

/* Flink's row writer of 0.10: no logical type for milliseconds, INT96 for seconds. */
static void reads_flink_row_writer(void **state)
{
    struct hd_op *op = *state;
    char *table = test_golden_unpack("flink010-cow-types-bulk");
    char *path = test_golden_find(table, "p1", ".parquet");
    struct rows rows;

    open_rows(op, path, HD_BASE_FILE_PARQUET, &rows);
    assert_int_equal(rows.array.length, 2);
    assert_text(typed(&rows, "_hoodie_record_key", HD_TYPE_STRING), 0, "1");
    assert_true(hd_view_bool(typed(&rows, "c_bool", HD_TYPE_BOOL), 0));
    assert_int_equal(hd_view_i32(typed(&rows, "c_i8", HD_TYPE_INT32), 0), -128);
    assert_int_equal(hd_view_i32(typed(&rows, "c_i16", HD_TYPE_INT32), 0), -32768);
    assert_int_equal(hd_view_i64(typed(&rows, "c_i64", HD_TYPE_INT64), 0), INT64_MIN);
    assert_true(hd_view_float(typed(&rows, "c_f32", HD_TYPE_FLOAT), 0) == 1.5f);
    assert_true(hd_view_double(typed(&rows, "c_f64", HD_TYPE_DOUBLE), 0) == -2.25e300);
    assert_true(decimal_at(typed(&rows, "c_d1", HD_TYPE_DECIMAL), 0) == -1234567890);
    assert_true(decimal_at(typed(&rows, "c_d3", HD_TYPE_DECIMAL), 0) == -99999);
    assert_text(typed(&rows, "c_ch", HD_TYPE_STRING), 1, "    ");
    assert_int_equal(hd_view_bytes(typed(&rows, "c_bytes", HD_TYPE_BINARY), 0).size, 4);
    assert_int_equal(hd_view_i32(typed(&rows, "c_date", HD_TYPE_DATE), 0), -1);
    assert_int_equal(hd_view_i64(typed(&rows, "c_ts", HD_TYPE_INT64), 0), 1646881621123);
    const struct hd_view *int96 = typed(&rows, "c_ts0", HD_TYPE_TIMESTAMP);
    assert_int_equal(int96->type.unit, HD_UNIT_MICRO);
    assert_true(int96->type.utc);
    assert_int_equal(hd_view_i64(int96, 0), 1646881621000000);
    assert_int_equal(hd_view_i64(int96, 1), 0);
    const struct hd_view *time = typed(&rows, "c_time", HD_TYPE_TIME);
    assert_int_equal(time->type.unit, HD_UNIT_MILLI);
    assert_int_equal(hd_view_i32(time, 0), ((23 * 60 + 59) * 60 + 58) * 1000);
    close_rows(&rows);
    free(path);
    test_golden_remove(table);
}

/* Hudi's Avro writer: `repeated int32 array`, no element of which can be null. */
static void reads_two_level_lists(void **state)
{
    struct hd_op *op = *state;
    struct rows rows;
    struct hd_slice value;
    int64_t n;

    open_rows(op, CORPUS "avro-writer.parquet", HD_BASE_FILE_PARQUET, &rows);
    assert_int_equal(rows.array.length, 40);
    ASSERT_OK(op, hd_base_reader_key_value(op, rows.reader, "hoodie_min_record_key", &value));
    assert_true(hd_slice_equal(value, hd_slice_text("k0000")));
    assert_text(typed(&rows, "id", HD_TYPE_STRING), 1, "k0001");
    const struct hd_view *list = typed(&rows, "arr", HD_TYPE_LIST);
    int64_t first = hd_view_list(list, 1, &n);
    assert_int_equal(n, 3);
    assert_int_equal(hd_view_i32(&list->children[0], first), 1);
    assert_int_equal(hd_view_i32(&list->children[0], first + 1), 7);
    assert_int_equal(hd_view_i32(&list->children[0], first + 2), -1);
    (void)hd_view_list(list, 2, &n);
    assert_int_equal(n, 0);
    const struct hd_view *structs = typed(&rows, "ast", HD_TYPE_LIST);
    first = hd_view_list(structs, 1, &n);
    assert_int_equal(n, 2);
    assert_text(&structs->children[0].children[0], first, "k1");
    assert_true(decimal_at(&structs->children[0].children[1], first) == 25);
    assert_true(hd_view_is_null(&structs->children[0].children[1], first + 1));
    const struct hd_view *map = typed(&rows, "m", HD_TYPE_MAP);
    (void)hd_view_list(map, 1, &n);
    assert_int_equal(n, 3);
    const struct hd_view *time = typed(&rows, "t", HD_TYPE_TIMESTAMP);
    assert_true(time->type.utc);
    assert_int_equal(hd_view_i64(time, 1), 1709276399123457);
    assert_int_equal(hd_view_i32(typed(&rows, "dt", HD_TYPE_DATE), 1), -2);
    close_rows(&rows);
}

/* Spark's row writer: three levels, nulls in lists. */
static void reads_lists_with_nulls(void **state)
{
    struct hd_op *op = *state;
    struct rows rows;
    int64_t n, row = 0;

    open_rows(op, CORPUS "row-writer.parquet", HD_BASE_FILE_PARQUET, &rows);
    const struct hd_view *id = typed(&rows, "id", HD_TYPE_STRING);
    while (!hd_slice_equal(hd_view_bytes(id, row), hd_slice_text("k0005")))
        row++;
    const struct hd_view *list = typed(&rows, "arr", HD_TYPE_LIST);
    int64_t first = hd_view_list(list, row, &n);
    assert_int_equal(n, 3);
    assert_int_equal(hd_view_i32(&list->children[0], first), 5);
    assert_true(hd_view_is_null(&list->children[0], first + 1));
    assert_int_equal(hd_view_i32(&list->children[0], first + 2), -5);
    const struct hd_view *texts = typed(&rows, "arrs", HD_TYPE_LIST);
    first = hd_view_list(texts, row, &n);
    assert_int_equal(n, 4);
    assert_text(&texts->children[0], first + 1, "");
    assert_true(hd_view_is_null(&texts->children[0], first + 2));
    assert_text(&texts->children[0], first + 3, "s5");
    assert_true(decimal_at(typed(&rows, "dec10", HD_TYPE_DECIMAL), row) == -6170);
    assert_true(hd_view_double(typed(&rows, "d", HD_TYPE_DOUBLE), row) < -1e308);
    close_rows(&rows);
}

static void reads_orc(void **state)
{
    struct hd_op *op = *state;
    char *table = test_golden_unpack("spark-0.15.0-orc-cow");
    char *path = test_golden_find(table, "south", "c9b76d24");
    const int32_t columns[] = {13, 2};
    const struct hd_base_read_options options = {.columns = columns, .n_columns = 2};
    hd_base_batches *batches;
    struct ArrowArray two;
    struct rows rows;
    struct hd_slice value;

    open_rows(op, path, HD_BASE_FILE_ORC, &rows);
    ASSERT_OK(op, hd_base_reader_key_value(op, rows.reader, "hoodie_min_record_key", &value));
    assert_true(hd_slice_equal(value, hd_slice_text("k0001")));
    assert_int_equal(hd_base_reader_key_value(op, rows.reader, "none", &value), HUDI_NOT_FOUND);
    assert_text(typed(&rows, "_hoodie_record_key", HD_TYPE_STRING), 0, "k0001");
    assert_text(typed(&rows, "name", HD_TYPE_STRING), 0, "name-1-v0");
    assert_int_equal(hd_view_i32(typed(&rows, "qty", HD_TYPE_INT32), 0), 10);
    assert_true(decimal_at(typed(&rows, "amount", HD_TYPE_DECIMAL), 0) == 100);
    assert_int_equal(hd_view_i32(typed(&rows, "day", HD_TYPE_DATE), 0), 19724);
    assert_int_equal(hd_view_i64(typed(&rows, "ts", HD_TYPE_INT64), 0), 1000000);
    assert_string_equal(hd_base_reader_schema(rows.reader)->children[13]->name, "ts");

    ASSERT_OK(op, hd_base_reader_read(op, rows.reader, &options, &batches));
    ASSERT_OK(op, hd_base_batches_next(op, batches, &two));
    assert_int_equal(two.length, rows.array.length);
    assert_int_equal(((const int64_t *)two.children[0]->buffers[1])[0], 1000000);
    assert_memory_equal(two.children[1]->buffers[2], "k0001", 5);
    hd_array_clear(&two);
    hd_base_batches_close(batches);
    close_rows(&rows);
    free(path);
    test_golden_remove(table);
}

/* Open and read all of `bytes`; what it comes to. */
static hudi_status read_bytes(struct hd_op *op, const uint8_t *bytes, size_t n,
                              enum hd_base_file_format format)
{
    hd_base_reader *reader;
    hd_base_batches *batches;
    hd_input_file *file;
    struct ArrowArray rows;

    hd_op_clear_error(op);
    ASSERT_OK(op, hd_input_file_of_bytes(op, bytes, n, &file));
    hudi_status status = hd_base_reader_open(op, file, format, &reader);
    if (status != HUDI_OK)
        return status;
    status = hd_base_reader_read(op, reader, NULL, &batches);
    if (status == HUDI_OK) {
        while ((status = hd_base_batches_next(op, batches, &rows)) == HUDI_OK)
            hd_array_clear(&rows);
        hd_base_batches_close(batches);
    }
    hd_base_reader_close(reader);
    return status;
}

static void expect_damage(struct hd_op *op, hudi_status status)
{
    assert_int_equal(status, HUDI_CORRUPT);
    assert_true(strlen(hudi_error_message(op->error)) > 5);
    assert_non_null(hudi_error_path(op->error));
}

static void reports_every_truncation(void **state)
{
    struct hd_op *op = *state;
    const char *const names[] = {CORPUS "row-writer.parquet", CORPUS "zlib.orc"};

    for (int i = 0; i < 2; i++) {
        const enum hd_base_file_format format = i == 0 ? HD_BASE_FILE_PARQUET : HD_BASE_FILE_ORC;
        size_t n;
        uint8_t *bytes = test_bytes(names[i], &n);
        assert_int_equal(read_bytes(op, bytes, n, format), HUDI_END);
        for (size_t cut = 0; cut < n; cut++)
            expect_damage(op, read_bytes(op, bytes, cut, format));
        free(bytes);
    }
}

/* A byte changed: other rows or a report, nothing worse. In Parquet, where reading takes longer,
 * one byte in 31. */
static void survives_changed_bytes(void **state)
{
    struct hd_op *op = *state;
    const char *const names[] = {CORPUS "row-writer.parquet", CORPUS "zlib.orc"};

    for (int i = 0; i < 2; i++) {
        const enum hd_base_file_format format = i == 0 ? HD_BASE_FILE_PARQUET : HD_BASE_FILE_ORC;
        size_t n, damaged = 0;
        uint8_t *bytes = test_bytes(names[i], &n);
        for (size_t at = 0; at < n; at += i == 0 ? 31 : 1) {
            const uint8_t old = bytes[at];
            bytes[at] ^= (uint8_t)(1u << (at % 8));
            const hudi_status status = read_bytes(op, bytes, n, format);
            if (status != HUDI_END && status != HUDI_NOT_IMPLEMENTED && status != HUDI_NO_MEMORY)
                expect_damage(op, status);
            damaged += status != HUDI_END;
            bytes[at] = old;
        }
        assert_true(damaged > 100);
        free(bytes);
    }
}

static void refuses_what_is_no_base_file(void **state)
{
    struct hd_op *op = *state;

    expect_damage(op, read_bytes(op, (const uint8_t *)"", 0, HD_BASE_FILE_PARQUET));
    expect_damage(op, read_bytes(op, (const uint8_t *)"", 0, HD_BASE_FILE_ORC));
    expect_damage(op,
                  read_bytes(op, (const uint8_t *)"PAR1\0\0\0\0PAR1", 12, HD_BASE_FILE_PARQUET));
    expect_damage(
        op, read_bytes(op, (const uint8_t *)"PAR1\xff\xff\xff\x7fPAR1", 12, HD_BASE_FILE_PARQUET));
    expect_damage(
        op, read_bytes(op, (const uint8_t *)"ORC123456789012345678\x20", 22, HD_BASE_FILE_ORC));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_flink_row_writer),       TEST(reads_two_level_lists),
        TEST(reads_lists_with_nulls),       TEST(reads_orc),
        TEST(reports_every_truncation),     TEST(survives_changed_bytes),
        TEST(refuses_what_is_no_base_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
