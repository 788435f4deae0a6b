/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/arrow/avro_testing.h"

/* ---- helpers --------------------------------------------------------------------------------- */

struct decoding {
    struct hd_arena arena;
    struct hd_avro_schema *writer;
    struct hd_avro_schema *reader;
    struct ArrowSchema wanted;
    hd_avro_decoder *decoder;
};

/* `reader` in Avro says which columns are wanted, and the defaults of those that are missing. */
static hudi_status begin(struct hd_op *op, const char *writer, const char *reader,
                         struct decoding *d)
{
    *d = (struct decoding){0};
    d->writer = test_avro(op, &d->arena, writer);
    d->reader = test_avro(op, &d->arena, reader);
    OK(hd_avro_to_arrow(op, d->reader, &d->wanted));
    const struct hd_avro_decoder_options options = {.reader = d->reader};
    return hd_avro_decoder_new_with(op, d->writer, &d->wanted, &options, &d->decoder);
}

static void end(struct hd_op *op, struct decoding *d)
{
    hd_avro_decoder_free(op, d->decoder);
    hd_schema_clear(&d->wanted);
    hd_arena_clear(&d->arena);
}

static hudi_status add_hex(struct hd_op *op, struct decoding *d, const char *hex)
{
    const struct hd_slice record = test_hex(hex);
    const hudi_status status = hd_avro_decoder_add(op, d->decoder, record);

    test_hex_free(record);
    return status;
}

static void assert_decodes(struct hd_op *op, const char *writer, const char *reader,
                           const char *const *records, size_t n, const char *rows)
{
    struct decoding d;
    struct ArrowArray out;

    OK(begin(op, writer, reader, &d));
    for (int round = 0; round < 2; round++) { /* a decoder goes on after a batch */
        for (size_t i = 0; i < n; i++)
            OK(add_hex(op, &d, records[i]));
        assert_int_equal(hd_avro_decoder_n_rows(d.decoder), n);
        assert_true(hd_avro_decoder_bytes(d.decoder) > 0);
        OK(hd_avro_decoder_finish(op, d.decoder, &out));
        assert_int_equal(hd_avro_decoder_n_rows(d.decoder), 0);
        ASSERT_ARRAY(&d.wanted, &out, rows);
        hd_array_clear(&out);
    }
    end(op, &d);
}

static void assert_decodes_one(struct hd_op *op, const char *writer_type, const char *reader_type,
                               const char *hex, const char *value)
{
    char writer[1000], reader[1000], rows[400];

    snprintf(writer, sizeof writer, AVRO_RECORD("{\"name\":\"v\",\"type\":%s}"), writer_type);
    snprintf(reader, sizeof reader, AVRO_RECORD("{\"name\":\"v\",\"type\":%s}"), reader_type);
    snprintf(rows, sizeof rows, "[(%s)]", value);
    assert_decodes(op, writer, reader, &hex, 1, rows);
}

#define ASSERT_MESSAGE(part)                                                                       \
    do {                                                                                           \
        assert_non_null(op->error);                                                                \
        if (strstr(hudi_error_message(op->error), (part)) == NULL)                                 \
            print_error("%s\n", hudi_error_message(op->error));                                    \
        assert_non_null(strstr(hudi_error_message(op->error), (part)));                            \
        hd_op_clear_error(op);                                                                     \
    } while (0)

/* One record of one field `v` fails with this message and leaves no row. */
static void assert_refuses(struct hd_op *op, const char *writer_type, const char *reader_type,
                           const char *hex, hudi_status wanted, const char *message)
{
    char writer[1000], reader[1000];
    struct decoding d;

    snprintf(writer, sizeof writer, AVRO_RECORD("{\"name\":\"v\",\"type\":%s}"), writer_type);
    snprintf(reader, sizeof reader, AVRO_RECORD("{\"name\":\"v\",\"type\":%s}"), reader_type);
    hudi_status status = begin(op, writer, reader, &d);
    if (status == HUDI_OK) {
        assert_non_null(hex);
        status = add_hex(op, &d, hex);
        assert_int_equal(hd_avro_decoder_n_rows(d.decoder), 0);
    } else {
        assert_null(hex);
        assert_null(d.decoder);
    }
    assert_int_equal(status, wanted);
    ASSERT_MESSAGE(message);
    end(op, &d);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void primitive_types_of_fastavro_are_read(void **state)
{
    struct hd_op *op = *state;

    assert_decodes(op, PRIMITIVES, PRIMITIVES, PRIMITIVE_RECORDS, 2, PRIMITIVE_ROWS);
}

static void logical_types_of_fastavro_are_read(void **state)
{
    struct hd_op *op = *state;

    assert_decodes(op, LOGICALS, LOGICALS, LOGICAL_RECORDS, 1, LOGICAL_ROWS);
}

static void unions_records_lists_and_maps_are_read(void **state)
{
    struct hd_op *op = *state;

    assert_decodes(op, NESTED(SEVERAL), NESTED("[\"null\",\"double\"]"), NESTED_RECORDS, 3,
                   NESTED_ROWS);
}

static void a_branch_that_the_column_does_not_take_is_refused_when_it_occurs(void **state)
{
    struct hd_op *op = *state;
    struct decoding d;
    struct ArrowArray out;

    OK(begin(op, NESTED(SEVERAL), NESTED("[\"null\",\"double\"]"), &d));
    OK(add_hex(op, &d, NESTED_RECORDS[0]));
    assert_int_equal(add_hex(op, &d, "0002000000000000000000040874657874000000"), HUDI_INVALID);
    ASSERT_MESSAGE("column d row 1: the branch string of the union does not fit double");
    OK(add_hex(op, &d, NESTED_RECORDS[1]));
    OK(hd_avro_decoder_finish(op, d.decoder, &out));
    ASSERT_ARRAY(&d.wanted, &out,
                 "[(\"one\", 7, 2.5, 5, (1, \"why\"), [\"p\", null, \"q\"], [(\"z\", [1, 2]), "
                 "(\"a\", [])]), (null, null, -1, null, null, [], null)]");
    hd_array_clear(&out);
    end(op, &d);
}

static void a_branch_with_parts_that_do_not_fit_is_refused_when_it_occurs(void **state)
{
    struct hd_op *op = *state;
    const char *const both = "[{\"type\":\"record\",\"name\":\"p\",\"fields\":[" AVRO_FIELD(
        "x", "\"string\"") "]},"
                           "\"null\",{\"type\":\"record\",\"name\":\"q\",\"fields\":[" AVRO_FIELD(
                               "x", "\"int\"") "]}]";
    const char *const second =
        "[\"null\",{\"type\":\"record\",\"name\":\"q\",\"fields\":[" AVRO_FIELD("x",
                                                                                "\"int\"") "]}]";

    assert_decodes_one(op, both, second, "0402", "(1)");
    assert_decodes_one(op, both, second, "02", "null");
    assert_refuses(op, both, second, "000261", HUDI_INVALID,
                   "column v row 0: the branch record of the union does not fit struct<x: int32>");
}

static void promotions_are_those_of_avro_and_hudi(void **state)
{
    struct hd_op *op = *state;

    assert_decodes_one(op, "\"int\"", "\"long\"", "53", "-42");
    assert_decodes_one(op, "\"int\"", "\"float\"", "53", "-42");
    assert_decodes_one(op, "\"int\"", "\"double\"", "53", "-42");
    assert_decodes_one(op, "\"long\"", "\"float\"", "fe0f", "1023");
    assert_decodes_one(op, "\"long\"", "\"double\"", "ffffffffffffffffff01",
                       "-9.2233720368547758e+18");
    assert_decodes_one(op, "\"float\"", "\"double\"", "0000c03f", "1.5");
    assert_decodes_one(op, "\"string\"", "\"bytes\"", "046869", "\"hi\"");
    assert_decodes_one(op, "\"bytes\"", "\"string\"", "046869", "\"hi\"");
    assert_decodes_one(op, "\"int\"", "\"string\"", "53", "\"-42\"");
    assert_decodes_one(op, "\"long\"", "\"string\"", "9693d89fee47", "\"1234567890123\"");
    assert_decodes_one(op, "\"float\"", "\"string\"", "cdcccc3d", "\"0.1\"");
    assert_decodes_one(op, "\"double\"", "\"string\"", "f64ae1c7022dc544",
                       "\"1.9999999999999998E23\"");
    assert_decodes_one(op, AVRO_LOGICAL("int", "date"), "\"string\"", "84a402", "\"2021-03-04\"");
    assert_decodes_one(op, "\"string\"", AVRO_LOGICAL("int", "date"), "14323032302d30312d3032",
                       "18263");
}

static void floats_widen_exactly_or_by_their_text(void **state)
{
    struct hd_op *op = *state;
    static const char *const RECORDS[] = {"cdcccc3d", "0000c07f", "000080ff", "00000080"};
    static const char *const ROWS[] = {"[(0.10000000149011612), (nan), (-inf), (-0)]",
                                       "[(0.10000000000000001), (nan), (-inf), (-0)]"};

    for (int by_text = 0; by_text <= 1; by_text++) {
        struct hd_arena arena = {0};
        struct ArrowSchema wanted;
        struct ArrowArray out;
        hd_avro_decoder *decoder;
        const struct hd_avro_decoder_options options = {.floats_by_text = by_text == 1};

        OK(hd_avro_to_arrow(op, test_avro(op, &arena, AVRO_RECORD(AVRO_FIELD("v", "\"double\""))),
                            &wanted));
        OK(hd_avro_decoder_new_with(
            op, test_avro(op, &arena, AVRO_RECORD(AVRO_FIELD("v", "\"float\""))), &wanted, &options,
            &decoder));
        for (size_t i = 0; i < HD_ARRAY_LENGTH(RECORDS); i++) {
            const struct hd_slice record = test_hex(RECORDS[i]);
            OK(hd_avro_decoder_add(op, decoder, record));
            test_hex_free(record);
        }
        OK(hd_avro_decoder_finish(op, decoder, &out));
        ASSERT_ARRAY(&wanted, &out, ROWS[by_text]);
        hd_array_clear(&out);
        hd_avro_decoder_free(op, decoder);
        hd_schema_clear(&wanted);
        hd_arena_clear(&arena);
    }
}

#define DECIMAL(type, precision, scale)                                                            \
    "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":" #precision                    \
    ",\"scale\":" #scale "}"

static void decimals_widen_and_keep_their_value(void **state)
{
    struct hd_op *op = *state;

    assert_decodes_one(op, DECIMAL("bytes", 10, 2), DECIMAL("bytes", 20, 5), "0601e23a",
                       "123450000");
    assert_decodes_one(op, DECIMAL("bytes", 10, 2), "\"string\"", "0601e23a", "\"1234.50\"");
    assert_decodes_one(op, "\"int\"", DECIMAL("bytes", 10, 2), "53", "-4200");
    assert_decodes_one(op, "\"double\"", DECIMAL("bytes", 10, 2), "000000000000f43f", "125");
    assert_decodes_one(op, "\"string\"", DECIMAL("bytes", 10, 2), "0a312e303035", "101");
    assert_decodes_one(op, "\"bytes\"", DECIMAL("bytes", 10, 2), "04ff38", "-200");
    /* 20 bytes for a small number: sign bytes only */
    assert_decodes_one(op,
                       "{\"type\":\"fixed\",\"name\":\"f\",\"size\":20,\"logicalType\":"
                       "\"decimal\",\"precision\":38,\"scale\":0}",
                       DECIMAL("bytes", 38, 0), "ffffffffffffffffffffffffffffffffffffff85", "-123");
    assert_refuses(op, "\"int\"", DECIMAL("bytes", 4, 2), "fe0f", HUDI_INVALID,
                   "column \"v\" row 0: 1023 does not fit decimal(4, 2)");
    assert_refuses(op, DECIMAL("bytes", 2, 0), DECIMAL("bytes", 2, 0), "0400c8", HUDI_INVALID,
                   "column v: a decimal of more than 2 digits");
    assert_refuses(op, DECIMAL("bytes", 2, 0), DECIMAL("bytes", 2, 0), "00", HUDI_CORRUPT,
                   "column v: no decimal at byte");
}

static void units_of_time_are_converted_or_refused(void **state)
{
    struct hd_op *op = *state;
    const char *const millis = AVRO_LOGICAL("long", "timestamp-millis");
    const char *const micros = AVRO_LOGICAL("long", "timestamp-micros");

    assert_decodes_one(op, millis, micros, "aed5cba78e39", "981173106007000");
    assert_decodes_one(op, micros, millis, "aac49debd99e8906", "1709168523456");
    assert_decodes_one(op, micros, millis, "01", "-1"); /* down, not towards zero */
    assert_decodes_one(op, AVRO_LOGICAL("int", "time-millis"), AVRO_LOGICAL("long", "time-micros"),
                       "aab2992b", "45296789000");
    assert_refuses(op, millis, micros, "feffffffffffffffff01", HUDI_INVALID,
                   "column \"v\" row 0: 9223372036854775807 does not fit timestamp[us, UTC]");
    /* one and the same to Avro: the number stays */
    assert_decodes_one(op, "\"long\"", micros, "aac49debd99e8906", "1709168523456789");
    assert_decodes_one(op, micros, "\"long\"", "aac49debd99e8906", "1709168523456789");
    assert_decodes_one(op, "\"int\"", AVRO_LOGICAL("int", "date"), "8cb502", "19782");
    assert_decodes_one(op, micros, AVRO_LOGICAL("long", "local-timestamp-micros"),
                       "aac49debd99e8906", "1709168523456789");
    assert_refuses(op, "\"long\"", AVRO_LOGICAL("int", "date"), NULL, HUDI_SCHEMA,
                   "column v: Avro long cannot become date");
}

static void uuids_on_fixed_become_texts_where_texts_are_wanted(void **state)
{
    struct hd_op *op = *state;

    assert_decodes_one(op,
                       "{\"type\":\"fixed\",\"name\":\"f\",\"size\":16,\"logicalType\":\"uuid\"}",
                       "\"string\"", "123456789abcdef0123456789abcdef0",
                       "\"12345678-9abc-def0-1234-56789abcdef0\"");
}

static void types_that_do_not_go_together_are_refused_by_name(void **state)
{
    struct hd_op *op = *state;

    assert_refuses(op, "\"string\"", "\"int\"", NULL, HUDI_SCHEMA,
                   "column v: Avro string cannot become int32");
    assert_refuses(op, "\"double\"", "\"float\"", NULL, HUDI_SCHEMA, "column v: Avro double");
    assert_refuses(op, "{\"type\":\"array\",\"items\":\"string\"}",
                   "{\"type\":\"array\",\"items\":\"int\"}", NULL, HUDI_SCHEMA,
                   "column v.element: Avro string cannot become int32");
    assert_refuses(op, "[\"null\",\"string\"]", "\"int\"", NULL, HUDI_SCHEMA, "column v: ");
    assert_refuses(op, "[\"null\",\"string\",\"boolean\"]", "\"int\"", NULL, HUDI_SCHEMA,
                   "column v: Avro union cannot become int32");
    assert_refuses(op, "\"boolean\"", "{\"type\":\"map\",\"values\":\"int\"}", NULL, HUDI_SCHEMA,
                   "column v: Avro boolean cannot become map");
}

static void nulls_where_the_column_has_none_are_refused(void **state)
{
    struct hd_op *op = *state;

    assert_decodes_one(op, "[\"null\",\"int\"]", "\"int\"", "0202", "1");
    assert_refuses(op, "[\"null\",\"int\"]", "\"int\"", "00", HUDI_INVALID,
                   "column v is null in row 0");
    assert_refuses(op, "[\"int\",\"null\"]", "\"int\"", "02", HUDI_INVALID, "column v is null");
    assert_refuses(op, "[\"null\",\"int\",\"string\"]", "\"int\"", "00", HUDI_INVALID,
                   "column v is null");
}

static void text_that_is_not_utf8_is_refused(void **state)
{
    struct hd_op *op = *state;

    assert_refuses(op, "\"string\"", "\"string\"", "0461ff", HUDI_CORRUPT,
                   "column v: text is not UTF-8");
    assert_refuses(op, "\"bytes\"", "\"string\"", "0461ff", HUDI_CORRUPT,
                   "column v: text that is not UTF-8");
    assert_refuses(op, "{\"type\":\"map\",\"values\":\"int\"}",
                   "{\"type\":\"map\",\"values\":\"int\"}", "0202ff0200", HUDI_CORRUPT,
                   "column v.key: text is not UTF-8");
    /* what is behind a text does not count, whatever is copied */
    assert_decodes(op, AVRO_RECORD(AVRO_FIELD("v", "\"string\"") "," AVRO_FIELD("w", "\"bytes\"")),
                   AVRO_RECORD(AVRO_FIELD("v", "\"string\"")),
                   (const char *const[]){"0261"
                                         "20ffffffffffffffffffffffffffffffff"},
                   1, "[(\"a\")]");
}

/* ---- columns --------------------------------------------------------------------------------- */

static void columns_are_found_by_name_and_others_passed_over(void **state)
{
    struct hd_op *op = *state;

    assert_decodes(op, PRIMITIVES,
                   AVRO_RECORD(AVRO_FIELD("e", "\"string\"") "," AVRO_FIELD("i", "\"int\"")),
                   PRIMITIVE_RECORDS, 2, "[(\"BLUE\", -2147483648), (\"RED\", 2147483647)]");
    assert_decodes(op, NESTED(SEVERAL),
                   AVRO_RECORD(AVRO_FIELD("m", "[\"null\",{\"type\":\"map\",\"values\":{\"type\":"
                                               "\"array\",\"items\":\"long\"}}]")),
                   NESTED_RECORDS, 3, "[([(\"z\", [1, 2]), (\"a\", [])]), (null), ([])]");
    assert_decodes(op, LOGICALS, AVRO_RECORD(AVRO_FIELD("u", "\"string\"")), LOGICAL_RECORDS, 1,
                   "[(\"12345678-9abc-def0-1234-56789abcdef0\")]");
    assert_decodes(op, NESTED(SEVERAL), AVRO_RECORD(""), NESTED_RECORDS, 3, "[(), (), ()]");
}

static void columns_that_the_writer_lacks_are_null_or_their_default(void **state)
{
    struct hd_op *op = *state;
    const char *const writer = AVRO_RECORD(AVRO_FIELD("i", "\"int\""));
    struct decoding d;

    assert_decodes(
        op, writer,
        AVRO_RECORD(
            "{\"name\":\"n\",\"type\":[\"null\",\"string\"],\"default\":null},"
            "{\"name\":\"s\",\"type\":\"string\",\"default\":\"new\"}," AVRO_FIELD(
                "i", "\"int\"") ","
                                "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"items\":\"int\"},"
                                "\"default\":[1,2]},"
                                "{\"name\":\"p\",\"type\":{\"type\":\"record\",\"name\":\"q\","
                                "\"fields\":["
                                "{\"name\":\"x\",\"type\":[\"long\",\"null\"],\"default\":7}]},"
                                "\"default\":{}}"),
        (const char *const[]){"02", "04"}, 2,
        "[(null, \"new\", 1, [1, 2], (7)), (null, \"new\", 2, [1, 2], (7))]");
    assert_int_equal(begin(op, writer, AVRO_RECORD(AVRO_FIELD("s", "\"string\"")), &d),
                     HUDI_SCHEMA);
    ASSERT_MESSAGE("column s is not in the records, takes no null and has no default");
    end(op, &d);
}

static void fields_that_a_nested_record_lacks_take_their_defaults(void **state)
{
    struct hd_op *op = *state;

    assert_decodes(
        op,
        AVRO_RECORD(AVRO_FIELD("p", "{\"type\":\"array\",\"items\":[\"null\",{\"type\":\"record\","
                                    "\"name\":\"q\",\"fields\":[{\"name\":\"x\",\"type\":\"int\"}]"
                                    "}]}")),
        AVRO_RECORD(AVRO_FIELD("p", "{\"type\":\"array\",\"items\":[\"null\",{\"type\":\"record\","
                                    "\"name\":\"q\",\"fields\":[{\"name\":\"y\",\"type\":\"string\""
                                    ",\"default\":\"d\"},{\"name\":\"x\",\"type\":\"long\"}]}]}")),
        (const char *const[]){"0602080002"
                              "0a00"},
        1, "[([(\"d\", 4), null, (\"d\", 5)])]");
}

static void a_record_that_holds_itself_is_read_as_deep_as_it_is_wanted(void **state)
{
    struct hd_op *op = *state;

    assert_decodes(
        op,
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"id\",\"type\":\"long\"},"
        "{\"name\":\"next\",\"type\":[\"null\",\"r\"]},{\"name\":\"s\",\"type\":\"string\"}]}",
        AVRO_RECORD(AVRO_FIELD("s", "\"string\"") "," AVRO_FIELD(
            "next", "[\"null\",{\"type\":\"record\",\"name\":\"q\",\"fields\":[{\"name\":\"id\","
                    "\"type\":\"long\"}]}]")),
        (const char *const[]){"020204020600026302620261"}, 1, "[(\"a\", (2))]");
}

static void a_record_nested_without_end_is_refused(void **state)
{
    struct hd_op *op = *state;
    struct decoding d;
    char hex[4001] = "";

    OK(begin(op,
             "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"next\",\"type\":"
             "[\"null\",\"r\"]},{\"name\":\"s\",\"type\":\"string\"}]}",
             AVRO_RECORD(AVRO_FIELD("s", "\"string\"")), &d));
    for (size_t i = 0; i + 2 < sizeof hex; i += 2)
        memcpy(hex + i, "02", 3);
    assert_int_equal(add_hex(op, &d, hex), HUDI_CORRUPT);
    ASSERT_MESSAGE("column next: Avro value at byte ");
    end(op, &d);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void blocks_of_items_may_have_sizes_and_come_in_parts(void **state)
{
    struct hd_op *op = *state;
    const char *const longs = "{\"type\":\"array\",\"items\":\"long\"}";

    assert_decodes_one(op, longs, longs, "0304020404060800", "[1, 2, 3, 4]");
}

static void bytes_behind_a_record_are_left_alone(void **state)
{
    struct hd_op *op = *state;
    const struct hd_slice bytes = test_hex("020406");
    struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 100);
    const char *const one = AVRO_RECORD(AVRO_FIELD("i", "\"int\""));
    struct decoding d;
    struct ArrowArray out;

    OK(begin(op, one, one, &d));
    OK(hd_avro_decoder_add(op, d.decoder, bytes));
    for (int i = 0; i < 3; i++)
        OK(hd_avro_decoder_take(op, d.decoder, &in));
    assert_int_equal(hd_cursor_left(&in), 0);
    assert_int_equal(hd_avro_decoder_take(op, d.decoder, &in), HUDI_CORRUPT);
    ASSERT_MESSAGE("column i: no int at byte 103");
    OK(hd_avro_decoder_finish(op, d.decoder, &out));
    ASSERT_ARRAY(&d.wanted, &out, "[(1), (1), (2), (3)]");
    hd_array_clear(&out);
    test_hex_free(bytes);
    end(op, &d);
}

static void assert_every_cut_fails(struct hd_op *op, const char *writer, const char *reader,
                                   const char *hex, const char *rows)
{
    const struct hd_slice record = test_hex(hex);
    struct decoding d;
    struct ArrowArray out;

    OK(begin(op, writer, reader, &d));
    for (size_t n = 0; n < record.size; n++) {
        char cut[1000];
        snprintf(cut, sizeof cut, "%.*s", (int)(2 * n), hex);
        assert_int_equal(add_hex(op, &d, cut), HUDI_CORRUPT);
        hd_op_clear_error(op);
        assert_int_equal(hd_avro_decoder_n_rows(d.decoder), 0);
    }
    OK(hd_avro_decoder_add(op, d.decoder, record));
    OK(hd_avro_decoder_finish(op, d.decoder, &out));
    ASSERT_ARRAY(&d.wanted, &out, rows);
    hd_array_clear(&out);
    test_hex_free(record);
    end(op, &d);
}

static void records_cut_at_any_byte_are_corrupt_and_leave_nothing(void **state)
{
    struct hd_op *op = *state;

    assert_every_cut_fails(op, NESTED(SEVERAL), NESTED("[\"null\",\"double\"]"), NESTED_RECORDS[0],
                           "[(\"one\", 7, 2.5, 5, (1, \"why\"), [\"p\", null, \"q\"], "
                           "[(\"z\", [1, 2]), (\"a\", [])])]");
    assert_every_cut_fails(op, NESTED(SEVERAL), AVRO_RECORD(""), NESTED_RECORDS[0], "[()]");
    assert_every_cut_fails(op, LOGICALS, LOGICALS, LOGICAL_RECORDS[0], LOGICAL_ROWS);
    assert_every_cut_fails(op, LOGICALS, AVRO_RECORD(AVRO_FIELD("df", "\"string\"")),
                           LOGICAL_RECORDS[0], "[(\"98765432109876543.210\")]");
}

static void counts_beyond_the_bytes_are_refused_before_memory_is(void **state)
{
    struct hd_op *op = *state;
    const char *const longs = "{\"type\":\"array\",\"items\":\"long\"}";
    const char *const nothing = "{\"type\":\"array\",\"items\":\"null\"}";
    const char *const large = "feffffffffffffffff01"; /* 2^63 - 1 */

    assert_refuses(op, longs, longs, large, HUDI_CORRUPT, "column v: more items than bytes");
    assert_refuses(op, longs, longs, "08020202", HUDI_CORRUPT, "column v: more items than bytes");
    assert_refuses(op, nothing, nothing, "821000", HUDI_CORRUPT, "column v: more items than bytes");
    assert_refuses(op, "\"string\"", "\"string\"", large, HUDI_CORRUPT, "column v: text is cut");
}

/* ---- many rows ------------------------------------------------------------------------------- */

static void batches_of_many_rows_keep_nulls_texts_and_items_apart(void **state)
{
    struct hd_op *op = *state;
    const char *const schema = AVRO_RECORD(AVRO_FIELD("s", "[\"null\",\"string\"]") "," AVRO_FIELD(
        "l", "{\"type\":\"array\",\"items\":[\"int\",\"null\"]}"));
    struct decoding d;
    struct ArrowArray out;
    struct hd_arena arena = {0};
    struct hd_view view;
    int64_t n;

    OK(begin(op, schema, schema, &d));
    for (int batch = 0; batch < 2; batch++) {
        for (int i = 0; i < 5000; i++) {
            char hex[64];
            if (i % 3 == 0)
                snprintf(hex, sizeof hex,
                         "00"
                         "04"
                         "0010"
                         "02"
                         "00");
            else
                snprintf(hex, sizeof hex,
                         "02"
                         "04%02x%02x"
                         "00",
                         'a' + i % 26, 'A' + i % 26);
            OK(add_hex(op, &d, hex));
            if (i % 100 == 7) { /* a bad one in between */
                assert_int_equal(add_hex(op, &d, "0202620401"), HUDI_CORRUPT);
                hd_op_clear_error(op);
            }
        }
        OK(hd_avro_decoder_finish(op, d.decoder, &out));
        OK(hd_view_open(op, &arena, &d.wanted, &out, &view));
        OK(hd_view_validate(op, &view));
        assert_int_equal(view.length, 5000);
        for (int i = 0; i < 5000; i++) {
            const struct hd_view *texts = &view.children[0], *lists = &view.children[1];
            const int64_t first = hd_view_list(lists, i, &n);
            assert_int_equal(hd_view_is_null(texts, i), i % 3 == 0);
            assert_int_equal(n, i % 3 == 0 ? 2 : 0);
            if (n == 0) {
                const char text[] = {(char)('a' + i % 26), (char)('A' + i % 26)};
                assert_true(hd_slice_equal(hd_view_bytes(texts, i), hd_slice_of(text, 2)));
            } else {
                assert_int_equal(hd_view_i32(&lists->children[0], first), 8);
                assert_true(hd_view_is_null(&lists->children[0], first + 1));
            }
        }
        hd_array_clear(&out);
        hd_arena_reset(&arena);
    }
    hd_arena_clear(&arena);
    end(op, &d);
}

static void every_failed_allocation_is_reported_and_leaves_no_row(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct decoding d = {0};
        struct ArrowArray out = {0};

        d.writer = test_avro(op, &d.arena, NESTED(SEVERAL));
        OK(hd_avro_to_arrow(op, test_avro(op, &d.arena, NESTED("[\"null\",\"double\"]")),
                            &d.wanted));
        test_fault_arm(op, nth);
        status = hd_avro_decoder_new(op, d.writer, &d.wanted, &d.decoder);
        for (int i = 0; status == HUDI_OK && i < 200; i++) {
            status = add_hex(op, &d, NESTED_RECORDS[i % 3]);
            assert_int_equal(hd_avro_decoder_n_rows(d.decoder), i + (status == HUDI_OK));
        }
        if (status == HUDI_OK)
            status = hd_avro_decoder_finish(op, d.decoder, &out);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        hd_array_clear(&out);
        end(op, &d);
        hd_op_clear_error(op);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(primitive_types_of_fastavro_are_read),
        TEST(logical_types_of_fastavro_are_read),
        TEST(unions_records_lists_and_maps_are_read),
        TEST(a_branch_that_the_column_does_not_take_is_refused_when_it_occurs),
        TEST(a_branch_with_parts_that_do_not_fit_is_refused_when_it_occurs),
        TEST(promotions_are_those_of_avro_and_hudi),
        TEST(floats_widen_exactly_or_by_their_text),
        TEST(decimals_widen_and_keep_their_value),
        TEST(units_of_time_are_converted_or_refused),
        TEST(uuids_on_fixed_become_texts_where_texts_are_wanted),
        TEST(types_that_do_not_go_together_are_refused_by_name),
        TEST(nulls_where_the_column_has_none_are_refused),
        TEST(text_that_is_not_utf8_is_refused),
        TEST(columns_are_found_by_name_and_others_passed_over),
        TEST(columns_that_the_writer_lacks_are_null_or_their_default),
        TEST(fields_that_a_nested_record_lacks_take_their_defaults),
        TEST(a_record_that_holds_itself_is_read_as_deep_as_it_is_wanted),
        TEST(a_record_nested_without_end_is_refused),
        TEST(blocks_of_items_may_have_sizes_and_come_in_parts),
        TEST(bytes_behind_a_record_are_left_alone),
        TEST(records_cut_at_any_byte_are_corrupt_and_leave_nothing),
        TEST(counts_beyond_the_bytes_are_refused_before_memory_is),
        TEST(batches_of_many_rows_keep_nulls_texts_and_items_apart),
        TEST(every_failed_allocation_is_reported_and_leaves_no_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
