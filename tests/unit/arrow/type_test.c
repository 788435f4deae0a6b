/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_testing.h"

static void assert_described(struct hd_op *op, const struct ArrowSchema *field, const char *text)
{
    struct hd_str out = {0};

    OK(hd_type_describe(op, field, &out));
    assert_string_equal(hd_str_text(&out), text);
    hd_str_clear(&out);
}

static void knows_every_format_of_arrow(void **state)
{
    static const struct {
        const char *format;
        enum hd_type_id id;
        const char *text;
    } CASES[] = {
        {"n", HD_TYPE_NULL, "null"},
        {"b", HD_TYPE_BOOL, "bool"},
        {"i", HD_TYPE_INT32, "int32"},
        {"l", HD_TYPE_INT64, "int64"},
        {"f", HD_TYPE_FLOAT, "float"},
        {"g", HD_TYPE_DOUBLE, "double"},
        {"u", HD_TYPE_STRING, "string"},
        {"z", HD_TYPE_BINARY, "binary"},
        {"w:16", HD_TYPE_FIXED_BINARY, "fixed_size_binary[16]"},
        {"d:10,2", HD_TYPE_DECIMAL, "decimal(10, 2)"},
        {"d:38,38,128", HD_TYPE_DECIMAL, "decimal(38, 38)"},
        {"d:10,-2", HD_TYPE_OTHER, "decimal(10, -2)"},
        {"d:9,2,32", HD_TYPE_OTHER, "decimal(9, 2)"},
        {"d:76,2,256", HD_TYPE_OTHER, "decimal(76, 2)"},
        {"tdD", HD_TYPE_DATE, "date32[day]"},
        {"tdm", HD_TYPE_OTHER, "date64[ms]"},
        {"tts", HD_TYPE_OTHER, "time32[s]"},
        {"ttm", HD_TYPE_TIME, "time32[ms]"},
        {"ttn", HD_TYPE_TIME, "time64[ns]"},
        {"tss:", HD_TYPE_OTHER, "timestamp[s]"},
        {"tsu:", HD_TYPE_TIMESTAMP, "timestamp[us]"},
        {"tsm:UTC", HD_TYPE_TIMESTAMP, "timestamp[ms, UTC]"},
        {"tsn:Europe/Berlin", HD_TYPE_TIMESTAMP, "timestamp[ns, Europe/Berlin]"},
        {"c", HD_TYPE_OTHER, "int8"},
        {"L", HD_TYPE_OTHER, "uint64"},
        {"U", HD_TYPE_OTHER, "large_string"},
        {"vz", HD_TYPE_OTHER, "binary_view"},
        {"tDn", HD_TYPE_OTHER, "duration[ns]"},
        {"tin", HD_TYPE_OTHER, "month_day_nano_interval"},
        {"+s", HD_TYPE_STRUCT, "struct<>"},
        {"+ud:0,1", HD_TYPE_OTHER, "union<>"},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        const struct ArrowSchema field = FIELD(CASES[i].format, "x");
        struct hd_type type;

        OK(hd_type_of(op, &field, &type));
        assert_int_equal(type.id, CASES[i].id);
        assert_described(op, &field, CASES[i].text);
    }
}

static void reads_the_parameters_of_a_type(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema decimal = FIELD("d:38,10", "x"), fixed = FIELD("w:7", "x");
    const struct ArrowSchema local = FIELD("tsn:", "x"), utc = FIELD("tsm:+01:00", "x");
    struct hd_type type;

    OK(hd_type_of(op, &decimal, &type));
    assert_int_equal(type.precision, 38);
    assert_int_equal(type.scale, 10);
    OK(hd_type_of(op, &fixed, &type));
    assert_int_equal(type.byte_width, 7);
    OK(hd_type_of(op, &local, &type));
    assert_int_equal(type.unit, HD_UNIT_NANO);
    assert_false(type.utc);
    OK(hd_type_of(op, &utc, &type));
    assert_int_equal(type.unit, HD_UNIT_MILLI);
    assert_true(type.utc);
}

static void refuses_what_is_no_format(void **state)
{
    static const char *const FORMATS[] = {"",     "x",        "ii",  "w:",     "w:-1", "w:1x",
                                          "d:10", "d:10,2,7", "tsx", "ts",     "tsu",  "+l",
                                          "+m",   "+w:2",     "+q",  "d:0,0",  "vx",   "+L",
                                          "+r",   "tDx",      "ttx", "d:1,1,", "tiX",  "+w:x"};
    struct hd_op *op = *state;
    struct hd_type type;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(FORMATS); i++) {
        const struct ArrowSchema field = FIELD(FORMATS[i], "x");

        assert_int_equal(hd_type_of(op, &field, &type), HUDI_INVALID);
        hd_op_clear_error(op);
    }
    const struct ArrowSchema none = {0};
    assert_int_equal(hd_type_of(op, &none, &type), HUDI_INVALID);
}

static void describes_nested_types(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema key = FIELD("u", "key"), value = FIELD("l", "value");
    struct ArrowSchema *pair[] = {&key, &value};
    struct ArrowSchema entries = PARENT("+s", "entries", pair);
    struct ArrowSchema *of_map[] = {&entries};
    struct ArrowSchema map = PARENT("+m", "m", of_map);
    struct ArrowSchema item = FIELD("d:5,2", "item");
    struct ArrowSchema *of_list[] = {&item};
    struct ArrowSchema list = PARENT("+l", "a", of_list);
    struct ArrowSchema *columns[] = {&map, &list};
    const struct ArrowSchema root = PARENT("+s", "", columns);
    struct ArrowSchema words = FIELD("u", "");
    const struct ArrowSchema dictionary = {.format = "i", .name = "d", .dictionary = &words};
    struct hd_type type;

    assert_described(op, &root, "struct<m: map<string, int64>, a: list<item: decimal(5, 2)>>");
    assert_true(hd_type_is_canonical(&root));
    assert_described(op, &dictionary, "dictionary<string>");
    OK(hd_type_of(op, &dictionary, &type));
    assert_int_equal(type.id, HD_TYPE_DICTIONARY);
    assert_false(hd_type_is_canonical(&dictionary));
    value.format = "L";
    assert_false(hd_type_is_canonical(&root));
}

static void compares_types_by_names_of_struct_children_alone(void **state)
{
    struct ArrowSchema a = FIELD("i", "a"), b = FIELD("u", "b"), c = FIELD("u", "c");
    struct ArrowSchema *ab[] = {&a, &b}, *ac[] = {&a, &c}, *just_b[] = {&b}, *just_c[] = {&c};
    const struct ArrowSchema struct_ab = PARENT("+s", "x", ab), struct_ac = PARENT("+s", "x", ac);
    const struct ArrowSchema list_b = PARENT("+l", "x", just_b), list_c = PARENT("+l", "y", just_c);
    struct ArrowSchema entries_ab = PARENT("+s", "e", ab), entries_ac = PARENT("+s", "f", ac);
    struct ArrowSchema *of_ab[] = {&entries_ab}, *of_ac[] = {&entries_ac};
    const struct ArrowSchema map_ab = PARENT("+m", "x", of_ab), map_ac = PARENT("+m", "x", of_ac);
    const struct ArrowSchema utc = FIELD("tsu:UTC", "x"), zone = FIELD("tsu:Z", "x"),
                             local = FIELD("tsu:", "x");

    (void)state;
    assert_true(hd_type_equal(&struct_ab, &struct_ab));
    assert_false(hd_type_equal(&struct_ab, &struct_ac));
    assert_true(hd_type_equal(&list_b, &list_c));
    assert_true(hd_type_equal(&map_ab, &map_ac));
    assert_true(hd_type_equal(&utc, &zone));
    assert_false(hd_type_equal(&utc, &local));
    assert_false(hd_type_equal(&a, &b));
}

static void refuses_types_that_nest_too_deep(void **state)
{
    enum { DEPTH = 200 };
    struct hd_op *op = *state;
    struct ArrowSchema fields[DEPTH + 1];
    struct ArrowSchema *children[DEPTH];
    struct hd_str out = {0};
    struct ArrowSchema copy;
    struct ArrowArray array;
    hd_builder *builder;

    for (int i = 0; i < DEPTH; i++) {
        children[i] = &fields[i + 1];
        fields[i] = (struct ArrowSchema){.format = "+l", .n_children = 1, .children = &children[i]};
    }
    fields[DEPTH] = (struct ArrowSchema){.format = "i"};
    assert_int_equal(hd_type_describe(op, fields, &out), HUDI_INVALID);
    assert_false(hd_type_is_canonical(fields));
    assert_false(hd_type_equal(fields, fields));
    assert_int_equal(hd_schema_copy(op, fields, &copy), HUDI_INVALID);
    assert_null(copy.release);
    assert_int_equal(hd_array_nulls(op, fields, 3, &array), HUDI_INVALID);
    assert_null(array.release);
    assert_int_equal(hd_builder_new(op, fields, &builder), HUDI_INVALID);
    assert_null(builder);
    hd_str_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(knows_every_format_of_arrow),
        TEST(reads_the_parameters_of_a_type),
        TEST(refuses_what_is_no_format),
        TEST(describes_nested_types),
        cmocka_unit_test(compares_types_by_names_of_struct_children_alone),
        TEST(refuses_types_that_nest_too_deep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
