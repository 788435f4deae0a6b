/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/cast.h"
#include "arrow_testing.h"

/* `text` of type `from` becomes `expected` of type `to`, also with offsets everywhere. */
static void assert_cast(struct hd_op *op, const struct ArrowSchema *from, const char *text,
                        const struct ArrowSchema *to, enum hd_cast_rule rule, const char *expected)
{
    for (int shifted = 0; shifted < 2; shifted++) {
        struct ArrowArray array = test_array(op, from, text), out;

        if (shifted)
            array = test_shifted(op, from, &array);
        OK(hd_cast(op, from, &array, to, rule, &out));
        assert_null(array.release);
        ASSERT_ARRAY(to, &out, expected);
        hd_array_clear(&out);
    }
}

static void assert_refused(struct hd_op *op, const struct ArrowSchema *from, const char *text,
                           const struct ArrowSchema *to, enum hd_cast_rule rule,
                           hudi_status expected, const char *message)
{
    struct ArrowArray array = test_array(op, from, text), out;

    assert_int_equal(hd_cast(op, from, &array, to, rule, &out), expected);
    assert_null(array.release);
    assert_null(out.release);
    assert_string_equal(hudi_error_message(op->error), message);
    hd_op_clear_error(op);
}

/* One column: formats, least rule, rows before and after. */
static const struct {
    const char *from, *to;
    enum hd_cast_rule rule;
    const char *text, *expected;
} CASES[] = {
    {"i", "i", HD_CAST_CANONICAL, "[1, null, -3]", "[1, null, -3]"},
    {"i", "l", HD_CAST_WIDEN, "[1, null, -2147483648]", "[1, null, -2147483648]"},
    {"i", "f", HD_CAST_WIDEN, "[1, null, 16777217]", "[1, null, 16777216]"},
    {"i", "g", HD_CAST_WIDEN, "[1, null, 16777217]", "[1, null, 16777217]"},
    {"l", "f", HD_CAST_WIDEN, "[36028797018963969, null]", "[3.6028797e+16, null]"},
    {"l", "g", HD_CAST_WIDEN, "[5, null]", "[5, null]"},
    {"f", "g", HD_CAST_WIDEN, "[0.5, null, -1e30]", "[0.5, null, -1.0000000150474662e+30]"},
    {"u", "z", HD_CAST_WIDEN, "[\"a\", null]", "[\"a\", null]"},
    {"z", "u", HD_CAST_WIDEN, "[\"a\", null, \"\xc3\xbc\"]", "[\"a\", null, \"\xc3\xbc\"]"},
    {"w:2", "z", HD_CAST_WIDEN, "[\"ab\", null, \"cd\"]", "[\"ab\", null, \"cd\"]"},
    {"n", "u", HD_CAST_WIDEN, "[null, null]", "[null, null]"},
    {"d:5,2", "d:7,4", HD_CAST_WIDEN, "[12345, null, -1]", "[1234500, null, -100]"},
    {"d:5,2", "d:6,2", HD_CAST_WIDEN, "[12345, null, -1]", "[12345, null, -1]"},
    {"tsm:UTC", "tsu:UTC", HD_CAST_WIDEN, "[-1, null, 5]", "[-1000, null, 5000]"},
    {"ttm", "ttu", HD_CAST_WIDEN, "[1, null]", "[1000, null]"},
    {"i", "u", HD_CAST_READ, "[1, null, -20]", "[\"1\", null, \"-20\"]"},
    {"l", "u", HD_CAST_READ, "[-9223372036854775808]", "[\"-9223372036854775808\"]"},
    {"f", "u", HD_CAST_READ, "[0.1, 1, null, 1e10]", "[\"0.1\", \"1.0\", null, \"1.0E10\"]"},
    {"g", "u", HD_CAST_READ, "[0.001, 1e-4, 9999999, 1e7, nan, -inf, -0.0]",
     "[\"0.001\", \"1.0E-4\", \"9999999.0\", \"1.0E7\", \"NaN\", \"-Infinity\", \"-0.0\"]"},
    {"d:10,2", "u", HD_CAST_READ, "[1250, -5, null, 0]", "[\"12.50\", \"-0.05\", null, \"0.00\"]"},
    {"d:38,10", "u", HD_CAST_READ, "[1]", "[\"1E-10\"]"},
    {"tdD", "u", HD_CAST_READ, "[0, null, -141427]", "[\"1970-01-01\", null, \"1582-10-15\"]"},
    {"i", "d:10,2", HD_CAST_READ, "[7, null]", "[700, null]"},
    {"l", "d:38,0", HD_CAST_READ, "[-9223372036854775808]", "[-9223372036854775808]"},
    {"f", "d:10,2", HD_CAST_READ, "[1.005, null]", "[101, null]"},
    {"g", "d:10,2", HD_CAST_READ, "[-1.005, 0.1]", "[-101, 10]"},
    {"u", "d:10,2", HD_CAST_READ, "[\"1.005\", null, \"-3\"]", "[101, null, -300]"},
    {"u", "tdD", HD_CAST_READ, "[\"1969-12-31\", null]", "[-1, null]"},
    {"tsu:UTC", "tsm:UTC", HD_CAST_READ, "[-1, 1999, null]", "[-1, 1, null]"},
    {"tsn:", "tsn:UTC", HD_CAST_READ, "[-1, null]", "[-1, null]"},
    {"tsn:", "tsm:UTC", HD_CAST_READ, "[-1000001, null]", "[-2, null]"},
    {"ttn", "ttm", HD_CAST_READ, "[1999999, null]", "[1, null]"},
    {"l", "g", HD_CAST_WIDEN, "[9007199254740993, null]", "[9007199254740992, null]"},
    {"l", "i", HD_CAST_INPUT, "[2147483647, null]", "[2147483647, null]"},
    {"g", "f", HD_CAST_INPUT, "[0.1, null, inf]", "[0.100000001, null, inf]"},
    {"g", "l", HD_CAST_INPUT, "[-3, null]", "[-3, null]"},
    {"g", "i", HD_CAST_INPUT, "[7]", "[7]"},
    {"d:10,2", "i", HD_CAST_INPUT, "[700, null]", "[7, null]"},
    {"d:10,2", "g", HD_CAST_INPUT, "[-1250, null]", "[-12.5, null]"},
    {"d:10,4", "d:5,2", HD_CAST_INPUT, "[12500, null]", "[125, null]"},
    {"i", "tdD", HD_CAST_INPUT, "[1, null]", "[1, null]"},
    {"l", "tsu:UTC", HD_CAST_INPUT, "[1, null]", "[1, null]"},
    {"l", "ttm", HD_CAST_INPUT, "[86399999]", "[86399999]"},
    {"tdD", "tsm:UTC", HD_CAST_INPUT, "[-1, null]", "[-86400000, null]"},
    {"tsu:", "tdD", HD_CAST_INPUT, "[-86400000000, null]", "[-1, null]"},
    {"u", "i", HD_CAST_INPUT, "[\"7\", null, \"-8.0\"]", "[7, null, -8]"},
    {"u", "l", HD_CAST_INPUT, "[\"9223372036854775807\"]", "[9223372036854775807]"},
    {"u", "g", HD_CAST_INPUT, "[\"0.1\", null, \"NaN\"]", "[0.10000000000000001, null, nan]"},
    {"u", "f", HD_CAST_INPUT, "[\"0.1\", null]", "[0.100000001, null]"},
    {"u", "b", HD_CAST_INPUT, "[\"TRUE\", null, \"false\"]", "[true, null, false]"},
    {"b", "u", HD_CAST_INPUT, "[true, null, false]", "[\"true\", null, \"false\"]"},
    {"u", "ttu", HD_CAST_INPUT, "[\"00:00:01\", null]", "[1000000, null]"},
    {"u", "tsm:UTC", HD_CAST_INPUT, "[\"1970-01-02T00:00:00.001+01:00\"]", "[82800001]"},
    {"u", "w:2", HD_CAST_INPUT, "[\"ab\", null]", "[\"ab\", null]"},
    {"z", "w:2", HD_CAST_INPUT, "[\"ab\", null]", "[\"ab\", null]"},
};

/* Exactly as Avro does, or as the double of the same text where files are read and rows come in. */
static void floats_become_doubles_by_the_rule(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema from = FIELD("f", "a"), to = FIELD("g", "a");
    static const char TEXT[] = "[0.1, null, -1e30, 3, nan]";
    static const char BY_TEXT[] = "[0.10000000000000001, null, -1e+30, 3, nan]";

    assert_cast(op, &from, TEXT, &to, HD_CAST_WIDEN,
                "[0.10000000149011612, null, -1.0000000150474662e+30, 3, nan]");
    assert_cast(op, &from, TEXT, &to, HD_CAST_READ, BY_TEXT);
    assert_cast(op, &from, TEXT, &to, HD_CAST_INPUT, BY_TEXT);
}

static void converts_each_pair_of_types_from_its_rule_on(void **state)
{
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        const struct ArrowSchema from = FIELD(CASES[i].from, "a"), to = FIELD(CASES[i].to, "a");

        for (int rule = 0; rule <= HD_CAST_INPUT; rule++) {
            const hudi_status status = hd_cast_check(op, &from, &to, (enum hd_cast_rule)rule);
            assert_int_equal(status, rule < (int)CASES[i].rule ? HUDI_SCHEMA : HUDI_OK);
            hd_op_clear_error(op);
        }
        assert_cast(op, &from, CASES[i].text, &to, CASES[i].rule, CASES[i].expected);
        assert_cast(op, &from, "[]", &to, CASES[i].rule, "[]");
    }
}

static void refuses_values_that_do_not_fit(void **state)
{
    static const struct {
        const char *from, *to, *text, *message;
    } MISFITS[] = {
        {"l", "i", "[null, 2147483648]", "column \"a\" row 1: 2147483648 does not fit int32"},
        {"g", "f", "[1e39]", "column \"a\" row 0: 1.0E39 does not fit float"},
        {"g", "l", "[1.5]", "column \"a\" row 0: 1.5 does not fit int64"},
        {"g", "l", "[9.3e18]", "column \"a\" row 0: 9.3E18 does not fit int64"},
        {"g", "l", "[nan]", "column \"a\" row 0: NaN does not fit int64"},
        {"u", "tdD", "[\"2023-02-29\"]",
         "column \"a\" row 0: \"2023-02-29\" does not fit date32[day]"},
        {"u", "i", "[\"\"]", "column \"a\" row 0: \"\" does not fit int32"},
        {"u", "i", "[\"a\nb\"]", "column \"a\" row 0: \"a\\x0ab\" does not fit int32"},
        {"u", "w:2", "[\"abc\"]", "column \"a\" row 0: \"abc\" does not fit fixed_size_binary[2]"},
        {"u", "d:5,2", "[\"1.005\"]", "column \"a\" row 0: \"1.005\" does not fit decimal(5, 2)"},
        {"d:9,2", "d:4,2", "[10000]", "column \"a\" row 0: 100.00 does not fit decimal(4, 2)"},
        {"d:9,2", "i", "[150]", "column \"a\" row 0: 1.50 does not fit int32"},
        {"z", "u", "[\"ok\", \"\xff\"]", "column \"a\" row 1: \"\\xff\" does not fit string"},
        {"tsm:", "tsn:", "[9223372036855]",
         "column \"a\" row 0: 9223372036855 does not fit timestamp[ns]"},
        {"tsn:UTC", "tsu:UTC", "[null, -1]",
         "column \"a\" row 1: -1 does not fit timestamp[us, UTC]"},
        {"l", "g", "[9007199254740993]",
         "column \"a\" row 0: 9007199254740993 does not fit double"},
        {"l", "f", "[16777217]", "column \"a\" row 0: 16777217 does not fit float"},
        {"tsm:", "tdD", "[1]", "column \"a\" row 0: 1 does not fit date32[day]"},
        {"l", "ttm", "[86400000]", "column \"a\" row 0: 86400000 does not fit time32[ms]"},
        {"u", "i", "[\"01234567890123456789012345678901234567890123456789\"]",
         "column \"a\" row 0: \"0123456789012345678901234567890123456789\"... does not fit int32"},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(MISFITS); i++) {
        const struct ArrowSchema from = FIELD(MISFITS[i].from, "a"), to = FIELD(MISFITS[i].to, "a");

        assert_refused(op, &from, MISFITS[i].text, &to, HD_CAST_INPUT, HUDI_INVALID,
                       MISFITS[i].message);
    }
}

static void takes_what_loses_no_digit(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema whole = FIELD("l", "a"), real = FIELD("g", "a"),
                             nanos = FIELD("tsn:", "a"), micros = FIELD("tsu:", "a");

    assert_cast(op, &whole, "[-9223372036854775808, null]", &real, HD_CAST_INPUT,
                "[-9.2233720368547758e+18, null]");
    assert_cast(op, &nanos, "[-1000, null]", &micros, HD_CAST_INPUT, "[-1, null]");
}

static void refuses_changes_that_no_rule_allows(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } PAIRS[] = {
        {"b", "i", "column \"a\" of type bool cannot become int32"},
        {"tdD", "i", "column \"a\" of type date32[day] cannot become int32"},
        {"tsu:UTC", "l", "column \"a\" of type timestamp[us, UTC] cannot become int64"},
        {"w:2", "w:3",
         "column \"a\" of type fixed_size_binary[2] cannot become "
         "fixed_size_binary[3]"},
        {"g", "tsu:", "column \"a\" of type double cannot become timestamp[us]"},
        {"+s", "u", "column \"a\" of type struct<> cannot become string"},
        {"u", "+s", "column \"a\" of type string cannot become struct<>"},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(PAIRS); i++) {
        struct ArrowSchema a = FIELD(PAIRS[i].from, "a"), b = FIELD(PAIRS[i].to, "a");
        struct ArrowSchema *of_from[] = {&a}, *of_to[] = {&b};
        const struct ArrowSchema from = PARENT("+s", "", of_from), to = PARENT("+s", "", of_to);

        assert_int_equal(hd_cast_check(op, &from, &to, HD_CAST_INPUT), HUDI_SCHEMA);
        assert_string_equal(hudi_error_message(op->error), PAIRS[i].message);
        hd_op_clear_error(op);
    }
}

static void matches_struct_fields_by_name(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema a = FIELD("i", "a"), b = FIELD("u", "b"), c = FIELD("i", "c");
    struct ArrowSchema long_a = FIELD("l", "a"), required = {.format = "i", .name = "d"};
    struct ArrowSchema *of_from[] = {&a, &b}, *of_to[] = {&c, &b, &long_a};
    struct ArrowSchema *of_fewer[] = {&b}, *of_required[] = {&a, &b, &required};
    const struct ArrowSchema from = PARENT("+s", "", of_from), to = PARENT("+s", "", of_to);
    const struct ArrowSchema fewer = PARENT("+s", "", of_fewer);
    const struct ArrowSchema more = PARENT("+s", "", of_required);
    const char *rows = "[(1, \"x\"), null, (null, \"y\")]";

    assert_cast(op, &from, rows, &to, HD_CAST_WIDEN,
                "[(null, \"x\", 1), null, (null, \"y\", null)]");
    assert_cast(op, &from, rows, &fewer, HD_CAST_READ, "[(\"x\"), null, (\"y\")]");
    assert_refused(op, &from, rows, &fewer, HD_CAST_INPUT, HUDI_SCHEMA,
                   "column \"a\" is not in the schema");
    assert_refused(op, &from, rows, &more, HD_CAST_READ, HUDI_SCHEMA,
                   "column \"d\" is required and missing");
}

static void converts_below_lists_maps_and_structs(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema key = FIELD("u", "keys"), value = FIELD("i", "values");
    struct ArrowSchema *of_entries[] = {&key, &value};
    struct ArrowSchema entries = PARENT("+s", "entries", of_entries);
    struct ArrowSchema *of_map[] = {&entries};
    struct ArrowSchema map = PARENT("+m", "m", of_map);
    struct ArrowSchema item = FIELD("i", "element");
    struct ArrowSchema *of_list[] = {&item};
    struct ArrowSchema list = PARENT("+l", "l", of_list);
    struct ArrowSchema *of_lists[] = {&list};
    struct ArrowSchema lists = PARENT("+l", "ll", of_lists);
    struct ArrowSchema *columns[] = {&map, &lists};
    const struct ArrowSchema from = PARENT("+s", "", columns);

    struct ArrowSchema key2 = FIELD("u", "key"), value2 = FIELD("u", "value");
    struct ArrowSchema *of_entries2[] = {&key2, &value2};
    struct ArrowSchema entries2 = PARENT("+s", "key_value", of_entries2);
    struct ArrowSchema *of_map2[] = {&entries2};
    struct ArrowSchema map2 = PARENT("+m", "m", of_map2);
    struct ArrowSchema item2 = FIELD("l", "item");
    struct ArrowSchema *of_list2[] = {&item2};
    struct ArrowSchema list2 = PARENT("+l", "l", of_list2);
    struct ArrowSchema *of_lists2[] = {&list2};
    struct ArrowSchema lists2 = PARENT("+l", "ll", of_lists2);
    struct ArrowSchema *columns2[] = {&lists2, &map2};
    const struct ArrowSchema to = PARENT("+s", "", columns2);

    assert_cast(op, &from,
                "[([(\"k\", 1), (\"l\", null)], [[1, 2], null, []]), (null, []), null, "
                "([], null), ([(\"m\", 3)], [[null, 4]])]",
                &to, HD_CAST_READ,
                "[([[1, 2], null, []], [(\"k\", \"1\"), (\"l\", null)]), ([], null), null, "
                "(null, []), ([[null, 4]], [(\"m\", \"3\")])]");
    value2.format = "b";
    assert_int_equal(hd_cast_check(op, &from, &to, HD_CAST_INPUT), HUDI_SCHEMA);
    assert_string_equal(hudi_error_message(op->error),
                        "column \"m.value\" of type int32 cannot become bool");
    hd_op_clear_error(op);
    value2.format = "u";
    item.format = "l";
    item2.format = "i";
    assert_refused(op, &from, "[([], [[1], [2147483648]])]", &to, HD_CAST_INPUT, HUDI_INVALID,
                   "column \"ll.l.item\" row 0: 2147483648 does not fit int32");
}

static void keeps_the_buffers_of_columns_that_stay(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema a = FIELD("u", "a"), b = FIELD("i", "b"), wide = FIELD("l", "b");
    struct ArrowSchema *of_from[] = {&a, &b}, *of_to[] = {&a, &wide};
    const struct ArrowSchema from = PARENT("+s", "", of_from), to = PARENT("+s", "", of_to);
    struct ArrowArray array = test_array(op, &from, "[(\"x\", 1)]"), out;
    const void *data = array.children[0]->buffers[2];

    OK(hd_cast(op, &from, &array, &to, HD_CAST_WIDEN, &out));
    assert_ptr_equal(out.children[0]->buffers[2], data);
    hd_array_clear(&out);
}

static void refuses_nulls_in_required_columns(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema a = FIELD("i", "a"), s, required = {.format = "i", .name = "a"};
    struct ArrowSchema *of_from[] = {&a}, *of_to[] = {&required};
    s = (struct ArrowSchema)PARENT("+s", "s", of_from);
    struct ArrowSchema s2 = PARENT("+s", "s", of_to);
    struct ArrowSchema *columns[] = {&s}, *columns2[] = {&s2};
    const struct ArrowSchema from = PARENT("+s", "", columns), to = PARENT("+s", "", columns2);

    /* a null below a null struct is no value */
    assert_cast(op, &from, "[((1)), (null), null]", &to, HD_CAST_WIDEN, "[((1)), (null), null]");
    assert_refused(op, &from, "[((1)), (null), ((null))]", &to, HD_CAST_WIDEN, HUDI_INVALID,
                   "column \"s.a\" row 2: null where a value must be");
}

/* Whatever lies how deep, the row is the array's; one row with two faults is in the list once. */
static void tells_rows_that_do_not_fit_and_casts_the_others(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema a = FIELD("u", "a"), item = FIELD("l", "item"), l, d = FIELD("u", "d");
    struct ArrowSchema a2 = FIELD("i", "a"), item2 = FIELD("i", "item"), l2,
                       d2 = {.format = "d:4,2", .name = "d"};
    struct ArrowSchema *of_l[] = {&item}, *of_l2[] = {&item2};
    l = (struct ArrowSchema)PARENT("+l", "l", of_l);
    l2 = (struct ArrowSchema)PARENT("+l", "l", of_l2);
    struct ArrowSchema *columns[] = {&a, &l, &d}, *columns2[] = {&a2, &l2, &d2};
    const struct ArrowSchema from = PARENT("+s", "", columns), to = PARENT("+s", "", columns2);
    struct hd_misfits misfits = {0};
    struct ArrowArray out,
        array = test_array(op, &from,
                           "[(\"1\", [1], \"1\"), (\"x\", [2, 2147483648], \"1\"), "
                           "(null, [], \"1.5\"), (\"2\", null, null), "
                           "(\"3\", [3, -2147483649, 4], \"1\"), (\"4\", [5], \"100\")]");

    array = test_shifted(op, &from, &array);
    OK(hd_cast_rows(op, &from, &array, &to, HD_CAST_INPUT, &misfits, &out));
    ASSERT_ARRAY(&to, &out,
                 "[(1, [1], 100), (0, [2, 0], 100), (null, [], 150), (2, null, null), "
                 "(3, [3, 0, 4], 100), (4, [5], 0)]");
    assert_int_equal(misfits.n, 5);
    OK(hd_misfits_sort(op, &misfits));
    static const struct hd_misfit WANTED[] = {
        {1, "column \"a\": \"x\" does not fit int32"},
        {3, "column \"d\": null where a value must be"},
        {4, "column \"l.item\": -2147483649 does not fit int32"},
        {5, "column \"d\": \"100\" does not fit decimal(4, 2)"},
    };
    assert_int_equal(misfits.n, HD_ARRAY_LENGTH(WANTED));
    for (size_t i = 0; i < misfits.n; i++) {
        assert_int_equal(misfits.list[i].row, WANTED[i].row);
        assert_string_equal(misfits.list[i].reason, WANTED[i].reason);
    }
    hd_misfits_clear(op, &misfits);
    hd_array_clear(&out);
}

static void refuses_arrays_that_contradict_themselves(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema text = FIELD("u", "a");
    const int32_t fall[] = {0, 3, 1, 4};
    const void *buffers[] = {NULL, fall, "abcd"};
    struct ArrowArray array = test_array(op, &text, "[\"ab\", \"c\", \"d\"]"), out;
    const void **own = array.buffers;

    array.buffers = buffers;
    struct ArrowArray broken = array;
    broken.release = NULL; /* a loan: nothing is released */
    assert_int_equal(hd_cast(op, &text, &broken, &text, HD_CAST_WIDEN, &out), HUDI_INVALID);
    assert_string_equal(hudi_error_message(op->error),
                        "array of field \"a\" has offsets that fall");
    array.buffers = own;
    hd_array_clear(&array);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema item = FIELD("i", "item"), text = FIELD("u", "t"), value = FIELD("g", "g");
    struct ArrowSchema item2 = FIELD("u", "item"), text2 = FIELD("d:9,2", "t"),
                       more = FIELD("u", "m");
    struct ArrowSchema *of_list[] = {&item}, *of_list2[] = {&item2};
    struct ArrowSchema list = PARENT("+l", "l", of_list), list2 = PARENT("+l", "l", of_list2);
    struct ArrowSchema *of_from[] = {&list, &text, &value},
                       *of_to[] = {&list2, &text2, &value, &more};
    const struct ArrowSchema from = PARENT("+s", "", of_from), to = PARENT("+s", "", of_to);
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_disarm(op);
        struct ArrowArray array = test_array(op, &from, "[([1, null], \"1.5\", 2), null]"), out;

        array = test_shifted(op, &from, &array);
        test_fault_arm(op, nth);
        status = hd_cast(op, &from, &array, &to, HD_CAST_READ, &out);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_int_equal(status == HUDI_OK, out.release != NULL);
        assert_null(array.release);
        hd_array_clear(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(converts_each_pair_of_types_from_its_rule_on),
        TEST(floats_become_doubles_by_the_rule),
        TEST(refuses_values_that_do_not_fit),
        TEST(takes_what_loses_no_digit),
        TEST(refuses_changes_that_no_rule_allows),
        TEST(matches_struct_fields_by_name),
        TEST(converts_below_lists_maps_and_structs),
        TEST(keeps_the_buffers_of_columns_that_stay),
        TEST(refuses_nulls_in_required_columns),
        TEST(tells_rows_that_do_not_fit_and_casts_the_others),
        TEST(refuses_arrays_that_contradict_themselves),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
