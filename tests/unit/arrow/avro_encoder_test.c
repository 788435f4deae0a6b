/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/arrow/avro_testing.h"
#include "unit/codec/corpus.h"

/* ---- helpers --------------------------------------------------------------------------------- */

struct encoding {
    struct hd_arena arena;
    struct hd_avro_schema *writer;
    struct ArrowSchema rows;
    hd_avro_encoder *encoder;
};

/* `columns` in Avro says what the rows are, `writer` what the records are. */
static hudi_status begin(struct hd_op *op, const char *columns, const char *writer,
                         struct encoding *e)
{
    *e = (struct encoding){0};
    e->writer = test_avro(op, &e->arena, writer);
    OK(hd_avro_to_arrow(op, test_avro(op, &e->arena, columns), &e->rows));
    return hd_avro_encoder_new(op, &e->rows, e->writer, &e->encoder);
}

static void end(struct hd_op *op, struct encoding *e)
{
    hd_avro_encoder_free(op, e->encoder);
    hd_schema_clear(&e->rows);
    hd_arena_clear(&e->arena);
}

static void assert_hex(const struct hd_str *bytes, const char *hex)
{
    const struct hd_slice wanted = test_hex(hex);

    assert_int_equal(bytes->size, wanted.size);
    assert_memory_equal(hd_str_text(bytes), wanted.data, wanted.size);
    test_hex_free(wanted);
}

static void assert_encodes_batch(struct hd_op *op, struct encoding *e,
                                 const struct ArrowArray *batch, const char *const *records,
                                 int64_t n)
{
    struct hd_str out = {0}, all = {0};

    for (int64_t i = 0; i < n; i++) {
        out.size = 0;
        OK(hd_avro_encoder_add(op, e->encoder, batch, &i, 1, false, &out));
        assert_hex(&out, records[i]);
        OK(hd_str_append_text(op, &all, records[i]));
    }
    out.size = 0;
    OK(hd_avro_encoder_add(op, e->encoder, batch, NULL, n, false, &out));
    assert_hex(&out, hd_str_text(&all));
    hd_str_clear(&out);
    hd_str_clear(&all);
}

/* The rows give these records, one by one, together, and from arrays with offsets everywhere. */
static void assert_encodes(struct hd_op *op, const char *columns, const char *writer,
                           const char *rows, const char *const *records, int64_t n)
{
    struct encoding e;

    OK(begin(op, columns, writer, &e));
    struct ArrowArray batch = test_array(op, &e.rows, rows);
    assert_encodes_batch(op, &e, &batch, records, n);
    struct ArrowArray shifted = test_shifted(op, &e.rows, &batch);
    assert_encodes_batch(op, &e, &shifted, records, n);
    hd_array_clear(&shifted);
    end(op, &e);
}

static void assert_encodes_one(struct hd_op *op, const char *column_type, const char *writer_type,
                               const char *value, const char *hex)
{
    char columns[1000], writer[1000], rows[400];

    snprintf(columns, sizeof columns, AVRO_RECORD("{\"name\":\"v\",\"type\":%s}"), column_type);
    snprintf(writer, sizeof writer, AVRO_RECORD("{\"name\":\"v\",\"type\":%s}"), writer_type);
    snprintf(rows, sizeof rows, "[(%s)]", value);
    assert_encodes(op, columns, writer, rows, &hex, 1);
}

#define ASSERT_MESSAGE(part)                                                                       \
    do {                                                                                           \
        assert_non_null(op->error);                                                                \
        if (strstr(hudi_error_message(op->error), (part)) == NULL)                                 \
            print_error("%s\n", hudi_error_message(op->error));                                    \
        assert_non_null(strstr(hudi_error_message(op->error), (part)));                            \
        hd_op_clear_error(op);                                                                     \
    } while (0)

/* `value` NULL: refused for its type. */
static void assert_refuses(struct hd_op *op, const char *column_type, const char *writer_type,
                           const char *value, hudi_status wanted, const char *message)
{
    char columns[1000], writer[1000], rows[400];
    struct hd_str out = {0};
    struct encoding e;

    snprintf(columns, sizeof columns, AVRO_RECORD("{\"name\":\"v\",\"type\":%s}"), column_type);
    snprintf(writer, sizeof writer, AVRO_RECORD("{\"name\":\"v\",\"type\":%s}"), writer_type);
    hudi_status status = begin(op, columns, writer, &e);
    assert_int_equal(status == HUDI_OK, value != NULL);
    if (value != NULL) {
        snprintf(rows, sizeof rows, "[(%s)]", value);
        struct ArrowArray batch = test_array(op, &e.rows, rows);
        OK(hd_str_append_text(op, &out, "before"));
        status = hd_avro_encoder_add(op, e.encoder, &batch, NULL, 1, true, &out);
        assert_string_equal(hd_str_text(&out), "before");
        hd_array_clear(&batch);
    }
    assert_int_equal(status, wanted);
    ASSERT_MESSAGE(message);
    hd_str_clear(&out);
    end(op, &e);
}

#define DECIMAL(precision, scale)                                                                  \
    "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":" #precision                    \
    ",\"scale\":" #scale "}"
#define DECIMAL_FIXED(size, precision, scale)                                                      \
    "{\"type\":\"fixed\",\"name\":\"f\",\"size\":" #size                                           \
    ",\"logicalType\":\"decimal\",\"precision\":" #precision ",\"scale\":" #scale "}"

/* ---- tests ----------------------------------------------------------------------------------- */

static void records_are_those_of_fastavro(void **state)
{
    struct hd_op *op = *state;

    assert_encodes(op, PRIMITIVES, PRIMITIVES, PRIMITIVE_ROWS, PRIMITIVE_RECORDS, 2);
    assert_encodes(op, LOGICALS, LOGICALS, LOGICAL_ROWS, LOGICAL_RECORDS, 1);
    assert_encodes(op, NESTED("[\"null\",\"int\"]"), NESTED(SEVERAL),
                   "[(\"one\", 7, 2.5, 5, (1, \"why\"), [\"p\", null, \"q\"], [(\"z\", [1, 2]), "
                   "(\"a\", [])]), (null, null, -1, null, null, [], null)]",
                   NESTED_RECORDS, 2);
}

/* Schemas and records of log blocks in the golden tables: schema, two NULs, records back to back.
 */
static void records_of_hudi_come_back_byte_for_byte(void **state)
{
    static const char *const FILES[] = {
        "hudi_flink_0_10_types",   "hudi_spark_1_1_soft_delete", "hudi_spark_0_15_evolved",
        "hudi_spark_0_15_changes", "hudi_spark_1_2_decimal",
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(FILES); i++) {
        char path[100];
        snprintf(path, sizeof path, "avro_rows/%s", FILES[i]);
        const struct hd_slice file = test_corpus(path);
        const size_t n_schema = strlen((const char *)file.data);
        struct hd_cursor in = hd_cursor_over(file.data + n_schema + 2, file.size - n_schema - 2, 0);
        const struct hd_cursor start = in;
        struct hd_str out = {0};
        struct encoding e;
        struct ArrowArray rows;
        hd_avro_decoder *decoder;

        OK(begin(op, (const char *)file.data, (const char *)file.data, &e));
        OK(hd_avro_decoder_new(op, e.writer, &e.rows, &decoder));
        while (hd_cursor_left(&in) > 0)
            OK(hd_avro_decoder_take(op, decoder, &in));
        OK(hd_avro_decoder_finish(op, decoder, &rows));
        assert_true(rows.length > 0);
        OK(hd_avro_encoder_add(op, e.encoder, &rows, NULL, rows.length, false, &out));
        assert_int_equal(out.size, hd_cursor_left(&start));
        assert_memory_equal(out.data, start.at, out.size);
        hd_array_clear(&rows);
        hd_avro_decoder_free(op, decoder);
        hd_str_clear(&out);
        end(op, &e);
        test_slice_free(file);
    }
}

static void records_have_their_length_before_them_where_it_is_asked_for(void **state)
{
    struct hd_op *op = *state;
    const char *const one = AVRO_RECORD(AVRO_FIELD("s", "\"string\""));
    struct hd_str out = {0};
    struct encoding e;

    OK(begin(op, one, one, &e));
    struct ArrowArray batch = test_array(op, &e.rows, "[(\"a\"), (\"\"), (\"bcd\")]");
    OK(hd_str_append_char(op, &out, 'x'));
    OK(hd_avro_encoder_add(op, e.encoder, &batch, (const int64_t[]){2, 0, 2}, 3, true, &out));
    assert_hex(&out, "78"
                     "0000000406626364"
                     "000000020261"
                     "0000000406626364");
    assert_int_equal(
        hd_avro_encoder_add(op, e.encoder, &batch, (const int64_t[]){3}, 1, true, &out),
        HUDI_INVALID);
    ASSERT_MESSAGE("row 3 of a batch of 3");
    assert_int_equal(out.size, 23);
    hd_array_clear(&batch);
    hd_str_clear(&out);
    end(op, &e);
}

static void columns_widen_into_their_fields(void **state)
{
    struct hd_op *op = *state;

    assert_encodes_one(op, "\"int\"", "\"long\"", "-42", "53");
    assert_encodes_one(op, "\"int\"", "\"double\"", "1", "000000000000f03f");
    assert_encodes_one(op, "\"long\"", "\"float\"", "1", "0000803f");
    assert_encodes_one(op, "\"float\"", "\"double\"", "1.5", "000000000000f83f");
    assert_encodes_one(op, "\"string\"", "\"bytes\"", "\"hi\"", "046869");
    assert_encodes_one(op, "\"int\"", "[\"string\",\"null\",\"double\",\"int\"]", "1", "0602");
    assert_encodes_one(op, "\"int\"", "[\"string\",\"null\",\"long\"]", "1", "0402");
    assert_encodes_one(op, "[\"null\",\"int\"]", "[\"string\",\"null\",\"long\"]", "null", "02");
    assert_encodes_one(op, "\"long\"", AVRO_LOGICAL("long", "timestamp-micros"), "-1", "01");
    assert_encodes_one(op, AVRO_LOGICAL("int", "date"), "\"int\"", "19782", "8cb502");
    assert_encodes_one(op, "\"string\"",
                       "{\"type\":\"fixed\",\"name\":\"f\",\"size\":16,\"logicalType\":\"uuid\"}",
                       "\"12345678-9abc-def0-1234-56789ABCDEF0\"",
                       "123456789abcdef0123456789abcdef0");
    assert_refuses(op, "\"long\"", "\"int\"", NULL, HUDI_SCHEMA,
                   "column v: int64 does not go into Avro int");
    assert_refuses(op, "\"string\"", "[\"null\",\"int\"]", NULL, HUDI_SCHEMA,
                   "column v: string does not go into Avro union");
}

static void times_go_into_other_units_only_when_nothing_is_lost(void **state)
{
    struct hd_op *op = *state;
    const char *const millis = AVRO_LOGICAL("long", "timestamp-millis");
    const char *const micros = AVRO_LOGICAL("long", "timestamp-micros");

    assert_encodes_one(op, micros, millis, "-1000", "01");
    assert_encodes_one(op, millis, micros, "1", "d00f");
    assert_refuses(op, micros, millis, "-1", HUDI_INVALID,
                   "column v row 0: -1 does not fit Avro long timestamp-millis");
    assert_refuses(op, millis, micros, "9223372036854775807", HUDI_INVALID,
                   "9223372036854775807 does not fit");
    assert_refuses(op, micros, AVRO_LOGICAL("long", "local-timestamp-micros"), NULL, HUDI_SCHEMA,
                   "column v: timestamp[us, UTC] does not go into");
}

static void decimals_are_as_short_as_they_can_be_on_bytes(void **state)
{
    struct hd_op *op = *state;

    assert_encodes_one(op, DECIMAL(20, 2), DECIMAL(20, 2), "0", "0200");
    assert_encodes_one(op, DECIMAL(20, 2), DECIMAL(20, 2), "-1", "02ff");
    assert_encodes_one(op, DECIMAL(20, 2), DECIMAL(20, 2), "127", "027f");
    assert_encodes_one(op, DECIMAL(20, 2), DECIMAL(20, 2), "128", "040080");
    assert_encodes_one(op, DECIMAL(20, 2), DECIMAL(20, 2), "-128", "0280");
    assert_encodes_one(op, DECIMAL(20, 2), DECIMAL(20, 2), "-129", "04ff7f");
    assert_encodes_one(op, DECIMAL(5, 2), DECIMAL_FIXED(3, 5, 2), "-129", "ffff7f");
    assert_encodes_one(op, DECIMAL(5, 2), DECIMAL_FIXED(20, 38, 2), "258",
                       "0000000000000000000000000000000000000102");
    assert_encodes_one(op, DECIMAL(5, 2), DECIMAL(4, 1), "1230",
                       "02"
                       "7b");
    assert_refuses(op, DECIMAL(5, 2), DECIMAL(4, 1), "1234", HUDI_INVALID,
                   "column v row 0: 12.34 does not fit Avro bytes decimal");
    assert_refuses(op, DECIMAL(5, 0), DECIMAL(2, 0), "100", HUDI_INVALID, "100 does not fit");
}

static void nulls_and_symbols_that_the_field_does_not_take_are_refused(void **state)
{
    struct hd_op *op = *state;

    assert_refuses(op, "[\"null\",\"int\"]", "\"int\"", "null", HUDI_INVALID,
                   "column v row 0 is null");
    assert_encodes_one(op, "[\"null\",\"int\"]", "\"int\"", "1", "02");
    assert_refuses(op, "\"string\"", "{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\"]}",
                   "\"B\"", HUDI_INVALID, "column v row 0: \"B\" does not fit Avro enum");
}

static void fields_without_column_take_default_or_null(void **state)
{
    struct hd_op *op = *state;
    const char *const columns =
        AVRO_RECORD(AVRO_FIELD("i", "\"int\"") "," AVRO_FIELD("more", "\"string\""));
    struct encoding e;

    assert_encodes(
        op, columns,
        AVRO_RECORD("{\"name\":\"s\",\"type\":\"string\",\"default\":\"hi\"}," AVRO_FIELD(
            "n",
            "[\"long\",\"null\"]") "," AVRO_FIELD("i",
                                                  "\"long\"") ","
                                                              "{\"name\":\"u\",\"type\":[\"int\","
                                                              "\"null\"],\"default\":3}"),
        "[(7, \"x\")]",
        (const char *const[]){"046869"
                              "02"
                              "0e"
                              "0006"},
        1);
    assert_int_equal(begin(op, columns, AVRO_RECORD(AVRO_FIELD("s", "\"string\"")), &e),
                     HUDI_SCHEMA);
    ASSERT_MESSAGE("field s has neither a column nor a default and takes no null");
    end(op, &e);
}

static void strings_may_come_as_dictionaries(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct ArrowSchema rows = {0};
    struct ArrowArray column, batch;
    struct hd_str out = {0};
    hd_avro_encoder *encoder;

    OK(hd_schema_init_struct(op, &rows, "", false, 1));
    OK(hd_schema_init_dictionary(op, rows.children[0], "s", true));
    OK(hd_array_constant_dictionary(op, hd_slice_text("abc"), 3, &column));
    OK(hd_array_struct(op, &column, 1, 3, &batch));
    OK(hd_avro_encoder_new(
        op, &rows, test_avro(op, &arena, AVRO_RECORD(AVRO_FIELD("s", "[\"null\",\"string\"]"))),
        &encoder));
    OK(hd_avro_encoder_add(op, encoder, &batch, NULL, 2, false, &out));
    assert_hex(&out, "0206616263"
                     "0206616263");
    hd_avro_encoder_free(op, encoder);
    hd_str_clear(&out);
    hd_array_clear(&batch);
    hd_schema_clear(&rows);
    hd_arena_clear(&arena);
}

/* ---- there and back -------------------------------------------------------------------------- */

static void append_random(struct hd_op *op, hd_builder *b, bool nullable);

static void append_random_parts(struct hd_op *op, hd_builder *b)
{
    const enum hd_type_id id = hd_builder_type(b)->id;
    const uint64_t n = id == HD_TYPE_STRUCT ? 1 : hd_random_u64(op) % 6;

    for (uint64_t i = 0; i < n; i++) {
        if (id != HD_TYPE_STRUCT)
            append_random(op, hd_builder_child(b, 0), id == HD_TYPE_LIST);
        if (id == HD_TYPE_MAP)
            append_random(op, hd_builder_child(b, 1), true);
        for (int64_t child = 0; id == HD_TYPE_STRUCT && child < 2; child++)
            append_random(op, hd_builder_child(b, child), true);
    }
    OK(hd_builder_append_valid(op, b));
}

/* Values of all sizes: as many small ones as large ones. */
static void append_random(struct hd_op *op, hd_builder *b, bool nullable)
{
    const uint64_t bits = hd_random_u64(op) >> hd_random_u64(op) % 64;
    const int64_t number = hd_random_u64(op) % 2 == 0 ? (int64_t)bits : -(int64_t)(bits >> 1);
    char text[40];

    if (nullable && hd_random_u64(op) % 5 == 0) {
        OK(hd_builder_append_null(op, b));
        return;
    }
    switch (hd_builder_type(b)->id) {
    case HD_TYPE_STRUCT:
    case HD_TYPE_LIST:
    case HD_TYPE_MAP:
        append_random_parts(op, b);
        return;
    case HD_TYPE_STRING: {
        const size_t n = bits % sizeof text;
        memset(text, 'a' + (int)(n % 26), n);
        OK(hd_builder_append_bytes(op, b, hd_slice_of(text, n)));
        return;
    }
    case HD_TYPE_FIXED_BINARY:
        OK(hd_builder_append_bytes(op, b, hd_slice_of(&bits, 3)));
        return;
    case HD_TYPE_DOUBLE:
        OK(hd_builder_append_double(op, b, (double)number / 3));
        return;
    case HD_TYPE_DECIMAL:
        OK(hd_builder_append_decimal(op, b, (hd_int128)number * (int64_t)(bits % 1000000000)));
        return;
    case HD_TYPE_BOOL:
        OK(hd_builder_append_integer(op, b, (int64_t)(bits & 1)));
        return;
    case HD_TYPE_INT32:
        OK(hd_builder_append_integer(op, b, (int32_t)bits));
        return;
    default:
        OK(hd_builder_append_integer(op, b, number));
    }
}

#define OR_NULL(type) "[\"null\"," type "]"

static void random_rows_come_back_as_they_were(void **state)
{
    enum { N_ROWS = 300 };
    struct hd_op *op = *state;
    const char *const schema = AVRO_RECORD(
        AVRO_FIELD("l", OR_NULL("\"long\"")) "," AVRO_FIELD("i", OR_NULL("\"int\"")) "," AVRO_FIELD("s", OR_NULL("\"string\"")) "," AVRO_FIELD("b", OR_NULL("\"boolean\"")) "," AVRO_FIELD(
            "d",
            OR_NULL(
                "\"double\"")) "," AVRO_FIELD("db",
                                              OR_NULL(DECIMAL(
                                                  38,
                                                  3))) "," AVRO_FIELD("x",
                                                                      OR_NULL(
                                                                          "{\"type\":\"fixed\","
                                                                          "\"name\":\"x\",\"size\":"
                                                                          "3}")) "," AVRO_FIELD("t",
                                                                                                OR_NULL(
                                                                                                    "{\"type\":"
                                                                                                    "\"array\","
                                                                                                    "\"items\":["
                                                                                                    "\"null\",{\"type\":"
                                                                                                    "\"map\",\"values\":"
                                                                                                    "[{\"type\":"
                                                                                                    "\"record\","
                                                                                                    "\"name\":\"p\","
                                                                                                    "\"fields\":"
                                                                                                    "[" AVRO_FIELD("a", OR_NULL("\"string\"")) "," AVRO_FIELD(
                                                                                                        "b",
                                                                                                        OR_NULL(
                                                                                                            "{\"type\":"
                                                                                                            "\"array\","
                                                                                                            "\"items\":["
                                                                                                            "\"long\","
                                                                                                            "\"null\"]"
                                                                                                            "}")) "]},"
                                                                                                                  "\"nul"
                                                                                                                  "l\"]}"
                                                                                                                  "]"
                                                                                                                  "}")));
    struct encoding e;
    struct ArrowArray rows, again;
    struct hd_str records = {0};
    hd_avro_decoder *decoder;
    struct hd_view a, b;
    hd_builder *root;

    OK(begin(op, schema, schema, &e));
    OK(hd_avro_decoder_new(op, e.writer, &e.rows, &decoder));
    OK(hd_builder_new(op, &e.rows, &root));
    for (int batch = 0; batch < 5; batch++) {
        for (int row = 0; row < N_ROWS; row++) {
            for (int64_t i = 0; i < e.rows.n_children; i++)
                append_random(op, hd_builder_child(root, i), true);
            OK(hd_builder_append_valid(op, root));
        }
        OK(hd_builder_finish(op, root, &rows));
        records.size = 0;
        OK(hd_avro_encoder_add(op, e.encoder, &rows, NULL, N_ROWS, false, &records));
        struct hd_cursor in = hd_cursor_over(records.data, records.size, 0);
        for (int row = 0; row < N_ROWS; row++)
            OK(hd_avro_decoder_take(op, decoder, &in));
        assert_int_equal(hd_cursor_left(&in), 0);
        OK(hd_avro_decoder_finish(op, decoder, &again));
        OK(hd_view_open(op, &e.arena, &e.rows, &rows, &a));
        OK(hd_view_open(op, &e.arena, &e.rows, &again, &b));
        for (int row = 0; row < N_ROWS; row++)
            assert_int_equal(hd_view_compare(&a, row, &b, row), 0);
        hd_array_clear(&rows);
        hd_array_clear(&again);
    }
    hd_builder_free(root);
    hd_avro_decoder_free(op, decoder);
    hd_str_clear(&records);
    end(op, &e);
}

static void every_failed_allocation_is_reported_and_changes_nothing(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;
    struct encoding e;

    OK(begin(op, PRIMITIVES, PRIMITIVES, &e));
    struct ArrowArray batch = test_array(op, &e.rows, PRIMITIVE_ROWS);
    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_str out = {0};
        hd_avro_encoder *encoder;

        test_fault_arm(op, nth);
        status = hd_avro_encoder_new(op, &e.rows, e.writer, &encoder);
        for (int i = 0; status == HUDI_OK && i < 20; i++) {
            const size_t before = out.size;
            status = hd_avro_encoder_add(op, encoder, &batch, NULL, 2, true, &out);
            assert_true(status == HUDI_OK || out.size == before);
        }
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        hd_avro_encoder_free(op, encoder);
        hd_str_clear(&out);
        hd_op_clear_error(op);
    }
    hd_array_clear(&batch);
    end(op, &e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(records_are_those_of_fastavro),
        TEST(records_of_hudi_come_back_byte_for_byte),
        TEST(records_have_their_length_before_them_where_it_is_asked_for),
        TEST(columns_widen_into_their_fields),
        TEST(times_go_into_other_units_only_when_nothing_is_lost),
        TEST(decimals_are_as_short_as_they_can_be_on_bytes),
        TEST(nulls_and_symbols_that_the_field_does_not_take_are_refused),
        TEST(fields_without_column_take_default_or_null),
        TEST(strings_may_come_as_dictionaries),
        TEST(random_rows_come_back_as_they_were),
        TEST(every_failed_allocation_is_reported_and_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
