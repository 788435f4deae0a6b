/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/json.h"
#include "support/fault.h"
#include "unit/codec/corpus.h"

static hd_json *parse(struct hd_op *op, const char *text)
{
    hd_json *json;

    assert_int_equal(hd_json_parse(op, hd_slice_text(text), &json), HUDI_OK);
    return json;
}

static void reads_values_by_name_and_type(void **state)
{
    struct hd_op *op = *state;
    hd_json *json = parse(op, " {\"s\":\"t\\u00e9xt\",\"i\":-9223372036854775808,\"d\":1.5,"
                              "\"b\":true,\"o\":{\"x\":1},\"a\":[1,2,3],\"n\":null} ");
    struct hd_slice text;
    const hd_json *part;
    int64_t integer;
    double real;
    bool flag;

    assert_int_equal(hd_json_get_string(op, json, "s", &text), HUDI_OK);
    assert_string_equal((const char *)text.data, "t\xc3\xa9xt");
    assert_int_equal(hd_json_get_int64(op, json, "i", &integer), HUDI_OK);
    assert_true(integer == INT64_MIN);
    assert_int_equal(hd_json_get_double(op, json, "d", &real), HUDI_OK);
    assert_true(real == 1.5);
    assert_int_equal(hd_json_get_bool(op, json, "b", &flag), HUDI_OK);
    assert_true(flag);
    assert_int_equal(hd_json_get_object(op, json, "o", &part), HUDI_OK);
    assert_int_equal(hd_json_length(part), 1);
    assert_int_equal(hd_json_get_array(op, json, "a", &part), HUDI_OK);
    assert_int_equal(hd_json_length(part), 3);
    assert_int_equal(hd_json_as_int64(op, hd_json_at(part, 2), "a", &integer), HUDI_OK);
    assert_int_equal(integer, 3);
    assert_null(hd_json_at(part, 3));
    assert_null(hd_json_member(part, "s"));
    assert_null(hd_json_member(json, "none"));
    assert_true(hd_json_is_null(hd_json_member(json, "n")));
    hd_json_free(json);
}

static void missing_and_null_members_take_the_fallback(void **state)
{
    struct hd_op *op = *state;
    hd_json *json = parse(op, "{\"n\":null}");
    static const char *const KEYS[] = {"n", "missing"};

    for (size_t i = 0; i < 2; i++) {
        struct hd_slice text = hd_slice_text("x");
        const hd_json *part = json;
        int64_t integer;
        double real;
        bool flag;

        assert_int_equal(hd_json_find_string(op, json, KEYS[i], &text), HUDI_OK);
        assert_null(text.data);
        assert_int_equal(hd_json_find_int64(op, json, KEYS[i], 7, &integer), HUDI_OK);
        assert_int_equal(integer, 7);
        assert_int_equal(hd_json_find_double(op, json, KEYS[i], 0.5, &real), HUDI_OK);
        assert_true(real == 0.5);
        assert_int_equal(hd_json_find_bool(op, json, KEYS[i], true, &flag), HUDI_OK);
        assert_true(flag);
        assert_int_equal(hd_json_find_object(op, json, KEYS[i], &part), HUDI_OK);
        assert_null(part);
        assert_int_equal(hd_json_find_array(op, json, KEYS[i], &part), HUDI_OK);
        assert_null(part);
        assert_int_equal(hd_json_get_string(op, json, KEYS[i], &text), HUDI_CORRUPT);
        hd_op_clear_error(op);
        assert_int_equal(hd_json_get_array(op, json, KEYS[i], &part), HUDI_CORRUPT);
        hd_op_clear_error(op);
    }
    hd_json_free(json);
}

static void wrong_types_are_named_in_the_error(void **state)
{
    struct hd_op *op = *state;
    hd_json *json = parse(op, "{\"version\":[1]}");
    int64_t integer;

    assert_int_equal(hd_json_find_int64(op, json, "version", 1, &integer), HUDI_CORRUPT);
    assert_string_equal(hudi_error_message(op->error),
                        "JSON \"version\" is an array where an integer is expected");
    hd_op_clear_error(op);
    hd_json_free(json);
}

static void integers_may_be_written_as_integral_reals(void **state)
{
    struct hd_op *op = *state;
    hd_json *json = parse(op, "[3.0, 3.5, 1e30, 4]");
    int64_t integer;
    double real;

    assert_int_equal(hd_json_as_int64(op, hd_json_at(json, 0), "x", &integer), HUDI_OK);
    assert_int_equal(integer, 3);
    assert_int_equal(hd_json_as_int64(op, hd_json_at(json, 1), "x", &integer), HUDI_CORRUPT);
    hd_op_clear_error(op);
    assert_int_equal(hd_json_as_int64(op, hd_json_at(json, 2), "x", &integer), HUDI_CORRUPT);
    hd_op_clear_error(op);
    assert_int_equal(hd_json_as_double(op, hd_json_at(json, 3), "x", &real), HUDI_OK);
    assert_true(real == 4);
    hd_json_free(json);
}

static void members_are_walked_in_their_order(void **state)
{
    struct hd_op *op = *state;
    hd_json *json = parse(op, "{\"z\":1,\"a\":2,\"m\":3}");
    struct hd_json_iter iter = {0};
    struct hd_slice key;
    const hd_json *value;
    char order[4] = {0};
    size_t n = 0;

    while (hd_json_next(json, &iter, &key, &value))
        order[n++] = (char)key.data[0];
    assert_string_equal(order, "zam");
    assert_false(hd_json_next(json, &iter, &key, &value));
    iter = (struct hd_json_iter){0};
    assert_false(hd_json_next(hd_json_member(json, "z"), &iter, &key, &value));
    hd_json_free(json);
}

static void refuses_what_is_not_one_json_text(void **state)
{
    static const char *const BAD[] = {"",         " ",          "{",         "}",
                                      "{}{}",     "[1,]",       "{\"a\" 1}", "{a:1}",
                                      "nul",      "'a'",        "\"\xff\"",  "\"\\ud800\"",
                                      "[1] x",    "\"a\nb\"",   "01",        "9223372036854775808",
                                      "\"open",   "{\"a\":1,}", "1e999",     "\"\xed\xa0\x80\"",
                                      "[\"\\x\"]"};
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        hd_json *json;

        assert_int_equal(hd_json_parse(op, hd_slice_text(BAD[i]), &json), HUDI_CORRUPT);
        assert_null(json);
        assert_null(strchr(hudi_error_message(op->error), '\n'));
        hd_op_clear_error(op);
    }
}

static void bounds_the_nesting(void **state)
{
    struct hd_op *op = *state;
    char text[2 * HD_JSON_MAX_DEPTH + 2];
    hd_json *json;

    memset(text, '[', HD_JSON_MAX_DEPTH);
    memset(text + HD_JSON_MAX_DEPTH, ']', HD_JSON_MAX_DEPTH);
    assert_int_equal(hd_json_parse(op, hd_slice_of(text, 2 * HD_JSON_MAX_DEPTH), &json), HUDI_OK);

    struct hd_str out = {0};
    struct hd_json_writer writer;
    hd_json_writer_init(&writer, &out, HD_JSON_COMPACT);
    assert_int_equal(hd_json_value(op, &writer, json), HUDI_OK);
    assert_memory_equal(out.data, text, 2 * HD_JSON_MAX_DEPTH);
    hd_str_clear(&out);
    hd_json_free(json);

    memset(text, '[', HD_JSON_MAX_DEPTH + 1);
    memset(text + HD_JSON_MAX_DEPTH + 1, ']', HD_JSON_MAX_DEPTH + 1);
    assert_int_equal(hd_json_parse(op, hd_slice_of(text, sizeof text), &json), HUDI_CORRUPT);
    hd_op_clear_error(op);
    json = parse(op, "\"[[[[\\\"[[[[\""); /* in a string they do not nest */
    hd_json_free(json);
}

/* The commit file of a table that Flink wrote with Hudi 0.10, by Jackson's pretty printer. */
static void pretty_form_is_that_of_jackson(void **state)
{
    struct hd_op *op = *state;
    struct hd_slice file = test_corpus("json/hudi-0.10-commit");
    struct hd_str out = {0};
    struct hd_json_writer writer;
    hd_json *json;

    assert_int_equal(hd_json_parse(op, file, &json), HUDI_OK);
    hd_json_writer_init(&writer, &out, HD_JSON_PRETTY);
    assert_int_equal(hd_json_value(op, &writer, json), HUDI_OK);
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.data, file.data, file.size);
    hd_str_clear(&out);
    hd_json_free(json);
    test_slice_free(file);
}

static hudi_status write_sample(struct hd_op *op, enum hd_json_style style, struct hd_str *out)
{
    struct hd_json_writer json;

    hd_json_writer_init(&json, out, style);
    HD_TRY(hd_json_begin_object(op, &json));
    HD_TRY(hd_json_put_int64(op, &json, "version", 1));
    HD_TRY(hd_json_put_text(op, &json, "name", NULL));
    HD_TRY(hd_json_put_bool(op, &json, "flag", false));
    HD_TRY(hd_json_put_string(op, &json, "text", hd_slice_text("x")));
    HD_TRY(hd_json_key(op, &json, "nodes"));
    HD_TRY(hd_json_begin_array(op, &json));
    for (int i = 0; i < 2; i++) {
        HD_TRY(hd_json_begin_object(op, &json));
        HD_TRY(hd_json_key(op, &json, "value"));
        HD_TRY(hd_json_double(op, &json, i));
        HD_TRY(hd_json_end_object(op, &json));
    }
    HD_TRY(hd_json_end_array(op, &json));
    HD_TRY(hd_json_key(op, &json, "numbers"));
    HD_TRY(hd_json_begin_array(op, &json));
    HD_TRY(hd_json_int64(op, &json, INT64_MIN));
    HD_TRY(hd_json_null(op, &json));
    HD_TRY(hd_json_end_array(op, &json));
    HD_TRY(hd_json_key(op, &json, "none"));
    HD_TRY(hd_json_begin_array(op, &json));
    HD_TRY(hd_json_end_array(op, &json));
    HD_TRY(hd_json_key(op, &json, "empty"));
    HD_TRY(hd_json_begin_object(op, &json));
    HD_TRY(hd_json_end_object(op, &json));
    HD_TRY(hd_json_key(op, &json, "raw"));
    HD_TRY(hd_json_raw(op, &json, hd_slice_text("[1]")));
    return hd_json_end_object(op, &json);
}

static void writes_compact_and_pretty(void **state)
{
    struct hd_op *op = *state;
    struct hd_str out = {0};

    assert_int_equal(write_sample(op, HD_JSON_COMPACT, &out), HUDI_OK);
    assert_string_equal(out.data,
                        "{\"version\":1,\"name\":null,\"flag\":false,\"text\":\"x\",\"nodes\":"
                        "[{\"value\":0.0},{\"value\":1.0}],\"numbers\":[-9223372036854775808,null],"
                        "\"none\":[],\"empty\":{},\"raw\":[1]}");
    out.size = 0;
    assert_int_equal(write_sample(op, HD_JSON_PRETTY, &out), HUDI_OK);
    assert_string_equal(out.data, "{\n"
                                  "  \"version\" : 1,\n"
                                  "  \"name\" : null,\n"
                                  "  \"flag\" : false,\n"
                                  "  \"text\" : \"x\",\n"
                                  "  \"nodes\" : [ {\n"
                                  "    \"value\" : 0.0\n"
                                  "  }, {\n"
                                  "    \"value\" : 1.0\n"
                                  "  } ],\n"
                                  "  \"numbers\" : [ -9223372036854775808, null ],\n"
                                  "  \"none\" : [ ],\n"
                                  "  \"empty\" : { },\n"
                                  "  \"raw\" : [1]\n"
                                  "}");
    hd_str_clear(&out);
}

static void escapes_what_json_cannot_hold_and_nothing_else(void **state)
{
    struct hd_op *op = *state;
    struct hd_str out = {0};
    const char all[] = "\0\x01\b\t\n\v\f\r\x1f \"\\/\x7f\xc3\xa9\xf0\x9f\x98\x80";

    assert_int_equal(hd_json_append_string(op, &out, hd_slice_of(all, sizeof all - 1)), HUDI_OK);
    assert_string_equal(out.data, "\"\\u0000\\u0001\\b\\t\\n\\u000B\\f\\r\\u001F \\\"\\\\/\x7f"
                                  "\xc3\xa9\xf0\x9f\x98\x80\"");
    hd_json *json = parse(op, out.data);
    struct hd_slice back;
    assert_int_equal(hd_json_as_string(op, json, "x", &back), HUDI_OK);
    assert_true(hd_slice_equal(back, hd_slice_of(all, sizeof all - 1)));
    hd_json_free(json);
    hd_str_clear(&out);
}

static void refuses_to_write_text_that_is_not_utf8(void **state)
{
    static const char *const BAD[] = {"\x80",
                                      "a\xc3",
                                      "\xc0\x80",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xc3("};
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct hd_str out = {0};

        assert_int_equal(hd_json_append_string(op, &out, hd_slice_text(BAD[i])), HUDI_INVALID);
        assert_int_equal(out.size, 0);
        hd_op_clear_error(op);
        hd_str_clear(&out);
    }
}

static void doubles_are_short_and_read_back_the_same(void **state)
{
    static const struct {
        double value;
        const char *text;
    } VECTORS[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-2.5, "-2.5"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {100.0, "100.0"},
        {9999999.0, "9999999.0"},
        {9999999.5, "9999999.5"},
        {1e7, "1.0E7"},
        {123456789.0, "1.23456789E8"},
        {0.001, "0.001"},
        {0.0012, "0.0012"},
        {0.00099, "9.9E-4"},
        {0.01, "0.01"},
        {5e-324, "5.0E-324"},
        {2.2250738585072014e-308, "2.2250738585072014E-308"},
        {1.7976931348623157e308, "1.7976931348623157E308"},
        {HUGE_VAL, "\"Infinity\""},
        {-HUGE_VAL, "\"-Infinity\""},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        struct hd_str out = {0};

        assert_int_equal(hd_json_append_double(op, &out, VECTORS[i].value), HUDI_OK);
        assert_string_equal(out.data, VECTORS[i].text);
        if (isfinite(VECTORS[i].value))
            assert_true(strtod(out.data, NULL) == VECTORS[i].value);
        hd_str_clear(&out);
    }
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        struct hd_str out = {0};
        double value;

        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        assert_int_equal(hd_json_append_double(op, &out, value), HUDI_OK);
        assert_true(strtod(out.data, NULL) == value);
        hd_str_clear(&out);
    }
    struct hd_str out = {0};
    assert_int_equal(hd_json_append_double(op, &out, NAN), HUDI_OK);
    assert_string_equal(out.data, "\"NaN\"");
    hd_str_clear(&out);
}

static void refuses_every_truncation(void **state)
{
    struct hd_op *op = *state;
    struct hd_slice file = test_corpus("json/hudi-0.10-commit");

    for (size_t n = 0; n < file.size; n++) {
        struct hd_slice cut = test_cut(file, n);
        hd_json *json;

        assert_int_equal(hd_json_parse(op, cut, &json), HUDI_CORRUPT);
        assert_null(json);
        hd_op_clear_error(op);
        test_slice_free(cut);
    }
    test_slice_free(file);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_str out = {0};
        hd_json *json = NULL;

        test_fault_arm(op, nth);
        status = hd_json_parse(op, hd_slice_text("{\"a\":[1,\"x\"]}"), &json);
        if (status == HUDI_OK)
            status = write_sample(op, HD_JSON_PRETTY, &out);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_json_free(json);
        hd_str_clear(&out);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_values_by_name_and_type),
        TEST(missing_and_null_members_take_the_fallback),
        TEST(wrong_types_are_named_in_the_error),
        TEST(integers_may_be_written_as_integral_reals),
        TEST(members_are_walked_in_their_order),
        TEST(refuses_what_is_not_one_json_text),
        TEST(bounds_the_nesting),
        TEST(pretty_form_is_that_of_jackson),
        TEST(writes_compact_and_pretty),
        TEST(escapes_what_json_cannot_hold_and_nothing_else),
        TEST(refuses_to_write_text_that_is_not_utf8),
        TEST(doubles_are_short_and_read_back_the_same),
        TEST(refuses_every_truncation),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
