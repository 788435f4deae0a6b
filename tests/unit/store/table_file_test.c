/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arrow/stream.h"
#include "store/table_file.h"
#include "unit/store/store_testing.h"

struct rows {
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct hd_arena arena;
    struct hd_view view;
};

static hudi_status open_text(struct hd_op *op, const char *text, size_t n,
                             const struct ArrowSchema *types, struct ArrowArrayStream *out)
{
    hd_input_file *file;

    ASSERT_OK(op, hd_input_file_of_bytes(op, text, n, &file));
    return hd_table_file_open(op, file, HD_TABLE_FILE_CSV, types, NULL, out);
}

/* The rows of a stream that has one batch. */
static void take_rows(struct hd_op *op, struct ArrowArrayStream *stream, struct rows *out)
{
    struct ArrowArray none;

    *out = (struct rows){0};
    ASSERT_OK(op, hd_stream_schema(op, stream, &out->schema));
    assert_true(hd_type_is_canonical(&out->schema));
    ASSERT_OK(op, hd_stream_next(op, stream, &out->array));
    assert_int_equal(hd_stream_next(op, stream, &none), HUDI_END);
    ASSERT_OK(op, hd_view_open(op, &out->arena, &out->schema, &out->array, &out->view));
    hd_stream_clear(stream);
}

static void free_rows(struct rows *rows)
{
    hd_arena_clear(&rows->arena);
    hd_array_clear(&rows->array);
    hd_schema_clear(&rows->schema);
}

static const struct hd_view *typed(const struct rows *rows, const char *name, enum hd_type_id id)
{
    const struct hd_view *view = test_column(&rows->view, name);

    assert_int_equal(view->type.id, id);
    return view;
}

static const char CSV[] = "id,name,qty,price,day,at,ok,note\n"
                          "k1,\"Smith, \"\"J\"\"\",1,1.5,2024-01-02,2024-01-02 03:04:05,true,\n"
                          "k2,NA,,2,1500-01-01,2024-01-02 03:04:05.25,false,\n"
                          "k3,\"\",-3,NaN,,,null,\n"
                          "k4,\"two\nlines\",4,-1e5,1969-12-31,,true,";

static void guesses_the_types_of_csv(void **state)
{
    struct hd_op *op = *state;
    struct ArrowArrayStream stream;
    struct rows rows;

    ASSERT_OK(op, open_text(op, CSV, sizeof CSV - 1, NULL, &stream));
    take_rows(op, &stream, &rows);
    assert_int_equal(rows.array.length, 4);
    const struct hd_view *name = typed(&rows, "name", HD_TYPE_STRING);
    assert_text(name, 0, "Smith, \"J\"");
    assert_true(hd_view_is_null(name, 1));
    assert_text(name, 2, ""); /* in quotes: a value */
    assert_text(name, 3, "two\nlines");
    assert_int_equal(hd_view_i64(typed(&rows, "qty", HD_TYPE_INT64), 2), -3);
    assert_true(hd_view_is_null(typed(&rows, "qty", HD_TYPE_INT64), 1));
    const struct hd_view *price = typed(&rows, "price", HD_TYPE_DOUBLE);
    assert_true(hd_view_double(price, 3) == -1e5);
    assert_true(hd_view_double(price, 2) != hd_view_double(price, 2));
    assert_int_equal(hd_view_i32(typed(&rows, "day", HD_TYPE_DATE), 3), -1);
    assert_int_equal(hd_view_i32(typed(&rows, "day", HD_TYPE_DATE), 1), -171664);
    const struct hd_view *at = typed(&rows, "at", HD_TYPE_TIMESTAMP);
    assert_int_equal(at->type.unit, HD_UNIT_MICRO);
    assert_int_equal(hd_view_i64(at, 1), 1704164645250000);
    assert_true(hd_view_bool(typed(&rows, "ok", HD_TYPE_BOOL), 0));
    assert_true(hd_view_is_null(typed(&rows, "ok", HD_TYPE_BOOL), 2));
    assert_true(hd_view_is_null(typed(&rows, "note", HD_TYPE_STRING), 0));
    free_rows(&rows);
}

static void takes_the_types_of_csv_that_it_is_told(void **state)
{
    struct hd_op *op = *state;
    static const char text[] = "id,amount,at,n,extra\n007,1.5,2024-01-02T03:04:05Z,7,x\n";
    const struct hd_type types[] = {
        {.id = HD_TYPE_STRING},
        {.id = HD_TYPE_DECIMAL, .precision = 10, .scale = 2},
        {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MILLI, .utc = true},
        {.id = HD_TYPE_INT32},
        {.id = HD_TYPE_INT64},
    };
    const char *const names[] = {"id", "amount", "at", "n", "not_there"};
    struct ArrowSchema wanted;
    struct ArrowArrayStream stream;
    struct rows rows;
    __int128 amount;

    ASSERT_OK(op, hd_schema_init_struct(op, &wanted, "", false, 5));
    for (int i = 0; i < 5; i++)
        ASSERT_OK(op, hd_schema_init_field(op, wanted.children[i], names[i], &types[i], true));
    ASSERT_OK(op, open_text(op, text, sizeof text - 1, &wanted, &stream));
    take_rows(op, &stream, &rows);
    assert_int_equal(rows.view.n_children, 5);
    assert_text(typed(&rows, "id", HD_TYPE_STRING), 0, "007");
    memcpy(&amount, hd_view_bytes(typed(&rows, "amount", HD_TYPE_DECIMAL), 0).data, sizeof amount);
    assert_true(amount == 150);
    const struct hd_view *at = typed(&rows, "at", HD_TYPE_TIMESTAMP);
    assert_true(at->type.utc && at->type.unit == HD_UNIT_MILLI);
    assert_int_equal(hd_view_i64(at, 0), 1704164645000);
    assert_int_equal(hd_view_i32(typed(&rows, "n", HD_TYPE_INT32), 0), 7);
    assert_text(typed(&rows, "extra", HD_TYPE_STRING), 0, "x");
    free_rows(&rows);
    hd_schema_clear(&wanted);
}

static void says_what_is_wrong_with_csv(void **state)
{
    struct hd_op *op = *state;
    const struct hd_type number = {.id = HD_TYPE_INT64};
    struct ArrowSchema wanted;
    struct ArrowArrayStream stream;

    assert_int_equal(open_text(op, "", 0, NULL, &stream), HUDI_INVALID);
    assert_string_equal(hudi_error_message(op->error), "CSV file without a line of column names");
    hd_op_clear_error(op);
    assert_int_equal(open_text(op, "a,b\n1,2,3\n", 10, NULL, &stream), HUDI_INVALID);
    assert_non_null(strstr(hudi_error_message(op->error), "2 columns, got 3"));
    hd_op_clear_error(op);
    assert_int_equal(open_text(op, "a,a\n1,2\n", 8, NULL, &stream), HUDI_INVALID);
    hd_op_clear_error(op);
    ASSERT_OK(op, hd_schema_init_struct(op, &wanted, "", false, 1));
    ASSERT_OK(op, hd_schema_init_field(op, wanted.children[0], "a", &number, true));
    struct ArrowArray rows = {0};
    ASSERT_OK(op, open_text(op, "a\n1\nx\n", 6, &wanted, &stream));
    assert_int_equal(hd_stream_next(op, &stream, &rows), HUDI_INVALID);
    assert_non_null(
        strstr(hudi_error_message(op->error), "row 2: column \"a\": \"x\" does not fit int64"));
    hd_stream_clear(&stream);
    hd_schema_clear(&wanted);
}

static hudi_status note(struct hd_op *op, void *self, int64_t n_rows, const char *where,
                        const char *reason)
{
    (void)n_rows;
    return hd_str_printf(op, self, "%s: %s\n", where, reason);
}

/* What is read with a bad row near must be what is read without: blanks, quotes, words for null. */
static void leaves_out_csv_rows_that_do_not_fit(void **state)
{
    struct hd_op *op = *state;
    static const char GOOD[] = "1, 5 ,0.5,true,NA,2.50,2024-02-29\n"
                               "2,\"\",nan,False,\"NA\",-1,1999-12-31\n"
                               "3,NULL,-1e3,1,\"a,b\",\"0\",\n";
    static const char BAD[] = "4,x,0,true,s,1,2024-01-01\n"
                              "5,1\n"
                              "6,1,0,true,\xff\xfe,1,2024-01-01\n"
                              "7,1,0,maybe,s,100,2024-01-32\n"
                              "8,1,0,true,s,1,2024-01-01,9\n";
    static const char NAMES[] = "id,n,g,b,s,d,day\n";
    const struct hd_type types[] = {
        {.id = HD_TYPE_INT64},  {.id = HD_TYPE_INT32},
        {.id = HD_TYPE_DOUBLE}, {.id = HD_TYPE_BOOL},
        {.id = HD_TYPE_STRING}, {.id = HD_TYPE_DECIMAL, .precision = 4, .scale = 2},
        {.id = HD_TYPE_DATE}};
    static const char *const FIELDS[] = {"id", "n", "g", "b", "s", "d", "day"};
    struct ArrowSchema wanted;
    struct ArrowArrayStream stream;
    struct hd_str told = {0}, text = {0};
    struct rows rows[2];

    ASSERT_OK(op, hd_schema_init_struct(op, &wanted, "", false, 7));
    for (int i = 0; i < 7; i++)
        ASSERT_OK(op, hd_schema_init_field(op, wanted.children[i], FIELDS[i], &types[i], true));
    for (int with_bad = 0; with_bad < 2; with_bad++) {
        hd_input_file *file;
        const struct hd_left_out left_out = {note, &told};

        text.size = 0;
        ASSERT_OK(op, hd_str_printf(op, &text, "%s%s%s", NAMES, with_bad ? BAD : "", GOOD));
        ASSERT_OK(op, hd_input_file_of_bytes(op, text.data, text.size, &file));
        ASSERT_OK(op, hd_table_file_open(op, file, HD_TABLE_FILE_CSV, &wanted, &left_out, &stream));
        take_rows(op, &stream, &rows[with_bad]);
        assert_int_equal(rows[with_bad].array.length, 3);
    }
    for (int i = 0; i < 7; i++) {
        for (int row = 0; row < 3; row++)
            assert_int_equal(
                hd_view_compare(&rows[0].view.children[i], row, &rows[1].view.children[i], row), 0);
    }
    assert_string_equal(hd_str_text(&told),
                        "row 2: has 2 columns, not 7\n"
                        "row 5: has 8 columns, not 7\n"
                        "row 1: column \"n\": \"x\" does not fit int32\n"
                        "row 3: column \"s\": \"\\xff\\xfe\" does not fit string\n"
                        "row 4: column \"b\": \"maybe\" does not fit bool\n");
    for (int i = 0; i < 2; i++)
        free_rows(&rows[i]);
    hd_str_clear(&told);
    hd_str_clear(&text);
    hd_schema_clear(&wanted);
}

static void a_header_alone_is_no_rows(void **state)
{
    struct hd_op *op = *state;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray rows;

    ASSERT_OK(op, open_text(op, "a,b\n", 4, NULL, &stream));
    ASSERT_OK(op, hd_stream_schema(op, &stream, &schema));
    assert_int_equal(schema.n_children, 2);
    assert_int_equal(hd_stream_next(op, &stream, &rows), HUDI_END);
    hd_schema_clear(&schema);
    hd_stream_clear(&stream);
}

/* Chunks are 16 MiB: rows, one of them with a line break in quotes, lie across their ends. */
static void reads_csv_larger_than_a_chunk(void **state)
{
    struct hd_op *op = *state;
    const int64_t n_rows = 900000;
    struct ArrowArrayStream stream;
    struct ArrowArray rows;
    hudi_status status;
    int64_t sum = 0, n = 0;
    size_t size = 0;
    char *text = malloc(40u << 20);

    size += (size_t)sprintf(text, "id,v,s\n");
    for (int64_t i = 0; i < n_rows; i++)
        size += (size_t)sprintf(text + size, "key-%09d,%d,\"line\n%d\"\n", (int)i, (int)i, (int)i);
    assert_true(size > (17u << 20));
    ASSERT_OK(op, open_text(op, text, size, NULL, &stream));
    free(text);
    while ((status = hd_stream_next(op, &stream, &rows)) == HUDI_OK) {
        const int64_t *v = (const int64_t *)rows.children[1]->buffers[1] + rows.children[1]->offset;
        assert_true(rows.length <= 65536);
        for (int64_t i = 0; i < rows.length; i++)
            sum += v[i];
        n += rows.length;
        hd_array_clear(&rows);
    }
    assert_int_equal(status, HUDI_END);
    assert_int_equal(n, n_rows);
    assert_int_equal(sum, n_rows * (n_rows - 1) / 2);
    hd_stream_clear(&stream);
}

/* CSV to each format that can be written, and back. */
static void writes_what_it_reads(void **state)
{
    struct hd_op *op = *state;
    const enum hd_table_file_format formats[] = {HD_TABLE_FILE_CSV, HD_TABLE_FILE_ARROW,
                                                 HD_TABLE_FILE_PARQUET};
    hd_file_system *fs = test_memory_open(op);

    for (size_t i = 0; i < HD_ARRAY_LENGTH(formats); i++) {
        struct ArrowArrayStream stream;
        struct rows rows;
        hd_output_file *out;

        ASSERT_OK(op, open_text(op, CSV, sizeof CSV - 1, NULL, &stream));
        ASSERT_OK(op, hd_fs_open_output(op, fs, "/t/f", false, &out));
        ASSERT_OK(op, hd_table_file_write(op, formats[i], &stream, out));
        ASSERT_OK(
            op, hd_table_file_open(op, test_open(op, fs, "/t/f"), formats[i], NULL, NULL, &stream));
        take_rows(op, &stream, &rows);
        assert_int_equal(rows.array.length, 4);
        assert_text(typed(&rows, "name", HD_TYPE_STRING), 3, "two\nlines");
        assert_text(typed(&rows, "name", HD_TYPE_STRING), 2, "");
        assert_true(hd_view_is_null(typed(&rows, "name", HD_TYPE_STRING), 1));
        assert_int_equal(hd_view_i64(typed(&rows, "at", HD_TYPE_TIMESTAMP), 1), 1704164645250000);
        assert_int_equal(hd_view_i32(typed(&rows, "day", HD_TYPE_DATE), 1), -171664);
        free_rows(&rows);
    }
    test_memory_close(fs);
}

static void writing_takes_its_arguments_whatever_happens(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    struct ArrowArrayStream stream;
    struct hd_file_info info;
    hd_output_file *out;

    ASSERT_OK(op, open_text(op, CSV, sizeof CSV - 1, NULL, &stream));
    ASSERT_OK(op, hd_fs_open_output(op, fs, "/t/f", false, &out));
    assert_int_equal(hd_table_file_write(op, HD_TABLE_FILE_ORC, &stream, out),
                     HUDI_NOT_IMPLEMENTED);
    assert_null(stream.release);
    hd_op_clear_error(op);
    hd_memory_set_capacity(fs, 100);
    for (int format = HD_TABLE_FILE_CSV; format <= HD_TABLE_FILE_PARQUET; format++) {
        ASSERT_OK(op, open_text(op, CSV, sizeof CSV - 1, NULL, &stream));
        ASSERT_OK(op, hd_fs_open_output(op, fs, "/t/f", false, &out));
        assert_int_equal(hd_table_file_write(op, (enum hd_table_file_format)format, &stream, out),
                         HUDI_IO);
        assert_null(stream.release);
        assert_int_equal(hd_fs_stat(op, fs, "/t/f", &info), HUDI_NOT_FOUND);
        hd_op_clear_error(op);
    }
    test_memory_close(fs);
}

static void reports_damaged_arrow_files(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    struct ArrowArrayStream stream;
    hd_output_file *out;
    hd_input_file *in;
    struct ArrowArray rows;
    uint8_t *bytes;
    size_t n;

    ASSERT_OK(op, open_text(op, CSV, sizeof CSV - 1, NULL, &stream));
    ASSERT_OK(op, hd_fs_open_output(op, fs, "/t/f", false, &out));
    ASSERT_OK(op, hd_table_file_write(op, HD_TABLE_FILE_ARROW, &stream, out));
    ASSERT_OK(op, hd_fs_read_file(op, fs, "/t/f", 1 << 20, &bytes, &n));
    for (size_t cut = 0; cut < n - 8; cut++) { /* the last 8 bytes mark the end, which may lack */
        ASSERT_OK(op, hd_input_file_of_bytes(op, bytes, cut, &in));
        hudi_status status = hd_table_file_open(op, in, HD_TABLE_FILE_ARROW, NULL, NULL, &stream);
        while (status == HUDI_OK) {
            status = hd_stream_next(op, &stream, &rows);
            if (status == HUDI_OK)
                hd_array_clear(&rows);
        }
        hd_stream_clear(&stream);
        assert_true(status == HUDI_CORRUPT || status == HUDI_END);
        hd_op_clear_error(op);
    }
    hd_free(op, bytes);
    test_memory_close(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(guesses_the_types_of_csv),    TEST(takes_the_types_of_csv_that_it_is_told),
        TEST(says_what_is_wrong_with_csv), TEST(leaves_out_csv_rows_that_do_not_fit),
        TEST(a_header_alone_is_no_rows),   TEST(reads_csv_larger_than_a_chunk),
        TEST(writes_what_it_reads),        TEST(writing_takes_its_arguments_whatever_happens),
        TEST(reports_damaged_arrow_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
