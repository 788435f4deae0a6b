/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/engine/rows_testing.h"

#include "engine/slice/predicate.h"

/* Parsing, typing and evaluating filters; expected truths are worked out by hand from SQL's rules.
 */

static const char COLUMNS[] =
    "i int\nl bigint\nf float\nd double\ns string\nb boolean\ndec decimal(10,2)\nday date\n"
    "ts timestamp\nms timestamp_millis\ntags array<string>\nSize int\n";

static const char ROWS[] =
    "1|10|0.1|0.5|a|true|1.00|2024-01-01|2024-01-01T00:00:00Z|2024-01-01T00:00:00.001Z|~|1\n"
    "2|~|0.2|NaN|b|false|1.25|2024-01-02|2024-01-01T00:00:00.000001Z|~|~|2\n"
    "~|30|~|~|~|~|~|~|~|~|~|3\n"
    "-4|9223372036854775807|-0.0|-Infinity||true|-3.10|1969-12-31|1969-12-31T23:59:59.999999Z|"
    "1969-12-31T23:59:59.999Z|~|4\n"
    "2147483647|-9223372036854775808|3e38|1e308|\xc3\xa4|false|99999999.99|9999-12-31|"
    "9999-12-31T23:59:59Z|2024-01-01T00:00:00Z|~|5\n";

struct rows {
    struct ArrowSchema schema;
    struct ArrowArray batch;
    struct hd_arena arena;
    struct hd_view view;
    const struct hd_view *columns[32];
};

static void open_rows(struct hd_op *op, struct rows *rows)
{
    *rows = (struct rows){0};
    test_schema(op, COLUMNS, &rows->schema);
    test_rows(op, &rows->schema, ROWS, &rows->batch);
    test_must(op, hd_view_open(op, &rows->arena, &rows->schema, &rows->batch, &rows->view));
    for (int64_t i = 0; i < rows->schema.n_children; i++)
        rows->columns[i] = &rows->view.children[i];
}

static void close_rows(struct rows *rows)
{
    hd_array_clear(&rows->batch);
    hd_schema_clear(&rows->schema);
    hd_arena_clear(&rows->arena);
}

/* `expected` has one sign a row: 1 passes. */
static void expect(struct hd_op *op, struct rows *rows, const char *filter, const char *expected)
{
    hd_predicate *predicate;
    uint8_t passes[5];
    char got[6] = "";

    test_must(op, hd_predicate_new(op, &rows->schema, &predicate));
    test_must(op, hd_predicate_and(op, predicate, hd_slice_text(filter)));
    test_must(op, hd_predicate_select(op, predicate, rows->columns, 5, passes));
    for (int i = 0; i < 5; i++)
        got[i] = passes[i] ? '1' : '0';
    if (strcmp(got, expected) != 0)
        fail_msg("%s: %s, not %s", filter, got, expected);
    hd_predicate_free(predicate);
}

static void numbers_are_compared_as_numbers(void **state)
{
    struct rows rows;

    open_rows(*state, &rows);
    expect(*state, &rows, "i = 1", "10000");
    expect(*state, &rows, "i == +1.0", "10000");
    expect(*state, &rows, "i != 1", "01011");
    expect(*state, &rows, "i <> 1", "01011");
    expect(*state, &rows, "i < 2", "10010");
    expect(*state, &rows, "i <= 2", "11010");
    expect(*state, &rows, "2 > i", "10010");
    expect(*state, &rows, "2 <= i", "01001");
    expect(*state, &rows, "i >= -4", "11011");
    expect(*state, &rows, "i < 3000000000", "11011"); /* past 32 bits */
    expect(*state, &rows, "i > 3000000000", "00000");
    expect(*state, &rows, "i = -4 AND l = 9223372036854775807", "00010");
    expect(*state, &rows, "l <= -9223372036854775808", "00001");
    expect(*state, &rows, "l < -9223372036854775808", "00000");
    expect(*state, &rows, "l > 9223372036854775806", "00010");
    expect(*state, &rows, "i = '2'", "01000");
    close_rows(&rows);
}

static void floats_have_nan_last_and_one_zero(void **state)
{
    struct rows rows;

    open_rows(*state, &rows);
    expect(*state, &rows, "f = 0.1", "10000"); /* the nearest float */
    expect(*state, &rows, "f > 0.1", "01001");
    expect(*state, &rows, "f = 0", "00010"); /* -0 */
    expect(*state, &rows, "f < 0", "00000");
    expect(*state, &rows, "d > 1e307", "01001");
    expect(*state, &rows, "d = 'NaN'", "01000");
    expect(*state, &rows, "d >= 'NaN'", "01000");
    expect(*state, &rows, "d < 'NaN'", "10011");
    expect(*state, &rows, "d != 0.5", "01011");
    expect(*state, &rows, "d <= '-Infinity'", "00010");
    expect(*state, &rows, "d > 'Infinity'", "01000");
    expect(*state, &rows, "d IN (0.5, 'NaN')", "11000");
    close_rows(&rows);
}

static void decimals_are_compared_exactly(void **state)
{
    struct rows rows;

    open_rows(*state, &rows);
    expect(*state, &rows, "dec = 1.25", "01000");
    expect(*state, &rows, "dec = 1.250", "01000");
    expect(*state, &rows, "dec = 1.251", "00000");
    expect(*state, &rows, "dec != 1.251", "11011");
    expect(*state, &rows, "dec < 1.251", "11010");
    expect(*state, &rows, "dec > 1.249", "01001");
    expect(*state, &rows, "dec <= 1.249", "10010");
    expect(*state, &rows, "dec >= -3.101", "11011");
    expect(*state, &rows, "dec <= -3.101", "00000");
    expect(*state, &rows, "dec > -3.101", "11011");
    expect(*state, &rows, "dec >= -3.099", "11001");
    expect(*state, &rows, "dec < 1000000000000", "11011");
    expect(*state, &rows, "dec IN (1, 1.251, 99999999.99)", "10001");
    close_rows(&rows);
}

static void texts_are_compared_by_bytes(void **state)
{
    struct rows rows;

    open_rows(*state, &rows);
    expect(*state, &rows, "s = 'a'", "10000");
    expect(*state, &rows, "s = ''", "00010");
    expect(*state, &rows, "s > 'a'", "01001");
    expect(*state, &rows, "s >= 'a'", "11001");
    expect(*state, &rows, "s < 'b'", "10010");
    expect(*state, &rows, "s <= ''", "00010");
    expect(*state, &rows, "s = '\xc3\xa4'", "00001");
    expect(*state, &rows, "s = 'it''s'", "00000");
    expect(*state, &rows, "s IN ('b', '', 'x', 'b')", "01010");
    expect(*state, &rows, "s NOT IN ('b', 'x')", "10011");
    close_rows(&rows);
}

static void times_are_iso_texts(void **state)
{
    struct rows rows;

    open_rows(*state, &rows);
    expect(*state, &rows, "day = '2024-01-01'", "10000");
    expect(*state, &rows, "day < DATE '2024-01-01'", "00010");
    expect(*state, &rows, "ts = '2024-01-01'", "10000");
    expect(*state, &rows, "ts > '2024-01-01T00:00:00Z'", "01001");
    expect(*state, &rows, "ts <= TIMESTAMP '2024-01-01 01:00:00+01:00'", "10010");
    expect(*state, &rows, "ts < '1970-01-01'", "00010");
    expect(*state, &rows, "ms = '2024-01-01T00:00:00.001'", "10000");
    expect(*state, &rows, "ms >= '1970-01-01T00:00:00Z'", "10001");
    close_rows(&rows);
}

static void nulls_are_unknown(void **state)
{
    struct rows rows;

    open_rows(*state, &rows);
    expect(*state, &rows, "i IS NULL", "00100");
    expect(*state, &rows, "i is not null", "11011");
    expect(*state, &rows, "NOT i IS NULL", "11011");
    expect(*state, &rows, "NOT (i = 1)", "01011"); /* null stays out */
    expect(*state, &rows, "i = NULL", "00000");
    expect(*state, &rows, "NOT (i = NULL)", "00000");
    expect(*state, &rows, "i = NULL OR i = 1", "10000");
    expect(*state, &rows, "i = 1 OR l = 30", "10100");        /* unknown OR true */
    expect(*state, &rows, "NOT (i = 1 AND l = 31)", "11111"); /* unknown AND false is false */
    expect(*state, &rows, "i IN (1, NULL)", "10000");
    expect(*state, &rows, "NOT i IN (1, NULL)", "00000");
    expect(*state, &rows, "i NOT IN (1)", "01011");
    expect(*state, &rows, "tags IS NULL", "11111");
    close_rows(&rows);
}

static void and_or_not_and_parentheses_nest(void **state)
{
    struct rows rows;

    open_rows(*state, &rows);
    expect(*state, &rows, "i = 1 OR i = 2 AND b", "10000");
    expect(*state, &rows, "(i = 1 OR i = 2) AND b", "10000");
    expect(*state, &rows, "(i = 1 OR i = 2) AND NOT b", "01000");
    expect(*state, &rows, "b", "10010");
    expect(*state, &rows, "(b)", "10010");
    expect(*state, &rows, "NOT b", "01001");
    expect(*state, &rows, "b = FALSE", "01001");
    expect(*state, &rows, "b = 'true' OR s = 'b'", "11010");
    expect(*state, &rows, "NOT NOT i = 1", "10000");
    expect(*state, &rows, "(i = 1 OR (l = 30 AND (s IS NULL OR (b AND d > 0))))", "10100");
    close_rows(&rows);
}

static void long_lists_are_searched(void **state)
{
    struct rows rows;
    struct hd_str text = {0};

    open_rows(*state, &rows);
    for (int i = 100; i >= 2; i--)
        test_must(*state, hd_str_printf(*state, &text, "%s%d", i == 100 ? "i IN (" : ",", i));
    test_must(*state, hd_str_append_text(*state, &text, ", -4)"));
    expect(*state, &rows, hd_str_text(&text), "01010");
    hd_str_clear(&text);
    for (int i = 100; i >= 1; i--)
        test_must(*state, hd_str_printf(*state, &text, "%s%d", i == 100 ? "d IN (" : ",", i));
    test_must(*state, hd_str_append_text(*state, &text, ", 0.5)"));
    expect(*state, &rows, hd_str_text(&text), "10000");
    hd_str_clear(&text);
    close_rows(&rows);
}

static void columns_are_found_by_name_then_in_any_case(void **state)
{
    struct rows rows;

    open_rows(*state, &rows);
    expect(*state, &rows, "\"i\" = 1", "10000");
    expect(*state, &rows, "`i` = 1", "10000");
    expect(*state, &rows, "I = 1", "10000");
    expect(*state, &rows, "size = 2", "01000");
    expect(*state, &rows, "\"Size\" = 2", "01000");
    close_rows(&rows);
}

static void only_columns_that_are_named_are_looked_at(void **state)
{
    struct rows rows;
    hd_predicate *predicate;
    int32_t n;

    open_rows(*state, &rows);
    test_must(*state, hd_predicate_new(*state, &rows.schema, &predicate));
    hd_predicate_columns(predicate, &n);
    assert_int_equal(n, 0);
    test_must(*state,
              hd_predicate_and(*state, predicate, hd_slice_text("s = 'a' OR i = 1 OR s = 'b'")));
    test_must(*state, hd_predicate_and(*state, predicate, hd_slice_text("d > 0")));
    const int32_t *columns = hd_predicate_columns(predicate, &n);
    assert_int_equal(n, 3);
    assert_int_equal(columns[0], 0);
    assert_int_equal(columns[1], 3);
    assert_int_equal(columns[2], 4);
    hd_predicate_free(predicate);
    close_rows(&rows);
}

static void bad_filters_name_the_character(void **state)
{
    static const struct {
        const char *filter, *message;
    } CASES[] = {
        {"", "character 1: it ends where a column is expected"},
        {"i =", "character 4: it ends where a value is expected"},
        {"i", "character 2: it ends where a comparison"},
        {"i = 1 2", "character 7: AND, OR or the end is expected, not 2"},
        {"x = 1", "character 1: there is no column \"x\""},
        {"\"I\" = 1", "character 1: there is no column \"I\""},
        {"i = 'a'", "character 5: 'a' is no value for column \"i\""},
        {"i = 1.5", "character 5: 1.5 is no value for column \"i\""},
        {"l = 9223372036854775808", "is no value for column \"l\""},
        {"s = 5", "character 5: 5 is no value for column \"s\" of type"},
        {"b = 1", "character 5: 1 is no value for column \"b\""},
        {"day = '2024-02-30'", "character 7: '2024-02-30' is no value"},
        {"ts = 5", "character 6: 5 is no value for column \"ts\""},
        {"dec = 1e40", "is no value for column \"dec\""},
        {"tags = 'a'", "character 1: column \"tags\" of type list<"},
        {"i IN ()", "character 7: a value is expected, not )"},
        {"i IN (1", "character 8: it ends where ) is expected"},
        {"i NOT 1", "character 7: IN is expected, not 1"},
        {"(i = 1", "character 7: it ends where ) is expected"},
        {"s = 'a", "character 5: ' without an end"},
        {"i ~ 1", "character 3: not part of any filter"},
        {"i = 1x", "character 5: not part of any filter"},
        {"i IS 1", "character 6: NULL is expected, not 1"},
        {"s = '\xff'", "character 5: text that is not UTF-8"},
        {"i = d", "character 5: a value is expected, not d"},
    };
    struct hd_op *op = *state;
    struct rows rows;

    open_rows(op, &rows);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        hd_predicate *predicate;

        test_must(op, hd_predicate_new(op, &rows.schema, &predicate));
        const hudi_status status = hd_predicate_and(op, predicate, hd_slice_text(CASES[i].filter));
        if (status != HUDI_INVALID || op->error == NULL ||
            strstr(hudi_error_message(op->error), CASES[i].message) == NULL)
            fail_msg("%s: %s %s", CASES[i].filter, hudi_status_name(status),
                     op->error == NULL ? "" : hudi_error_message(op->error));
        hd_op_clear_error(op);
        hd_predicate_free(predicate);
    }
    close_rows(&rows);
}

static void deep_and_long_filters_are_refused_not_followed(void **state)
{
    struct hd_op *op = *state;
    struct rows rows;
    struct hd_str text = {0};
    hd_predicate *predicate;

    open_rows(op, &rows);
    test_must(op, hd_predicate_new(op, &rows.schema, &predicate));
    for (int i = 0; i < 200; i++)
        test_must(op, hd_str_append_text(op, &text, i % 2 ? "(" : "NOT "));
    assert_int_equal(hd_predicate_and(op, predicate, hd_str_slice(&text)), HUDI_INVALID);
    assert_non_null(strstr(hudi_error_message(op->error), "nested more than 100 deep"));
    hd_op_clear_error(op);
    hd_str_clear(&text);
    for (int i = 0; i < 2001; i++)
        test_must(op, hd_str_append_text(op, &text, i == 0 ? "i=1" : " OR i=1"));
    assert_int_equal(hd_predicate_and(op, predicate, hd_str_slice(&text)), HUDI_INVALID);
    assert_non_null(strstr(hudi_error_message(op->error), "more than 2000 conditions"));
    hd_op_clear_error(op);
    hd_str_clear(&text);
    hd_predicate_free(predicate);
    close_rows(&rows);
}

static void every_cut_of_a_filter_parses_or_says_why(void **state)
{
    static const char FILTER[] =
        "(i = 1 OR NOT \"l\" >= 2e1) AND s IN ('a''b', NULL) AND day < DATE "
        "'2024-01-01' AND `b` AND tags IS NOT NULL";
    struct hd_op *op = *state;
    struct rows rows;

    open_rows(op, &rows);
    for (size_t n = 0; n < sizeof FILTER; n++) {
        hd_predicate *predicate;
        char *cut;

        test_must(op, hd_alloc_raw(op, n, 1, &cut));
        memcpy(cut, FILTER, n);
        test_must(op, hd_predicate_new(op, &rows.schema, &predicate));
        const hudi_status status = hd_predicate_and(op, predicate, hd_slice_of(cut, n));
        assert_true(status == HUDI_OK || status == HUDI_INVALID);
        assert_int_equal(status == HUDI_OK, op->error == NULL);
        hd_op_clear_error(op);
        hd_predicate_free(predicate);
        hd_free(op, cut);
    }
    close_rows(&rows);
}

/* ---- statistics --------------------------------------------------------------------------- */

static void known(struct rows *rows, const char *column, int64_t min, int64_t max,
                  int64_t null_count, struct hd_view views[2], struct hd_column_bounds *out)
{
    const struct hd_view *all = rows->columns[hd_schema_find(&rows->schema, column)];

    views[0] = views[1] = *all;
    views[0].offset += min;
    views[1].offset += max;
    views[0].length = views[1].length = 1;
    *out = (struct hd_column_bounds){&views[0], &views[1], null_count, false};
}

/* `min` and `max` are rows of ROWS; -1: no bounds. Of 10 rows. */
static bool may_match(struct hd_op *op, struct rows *rows, const char *filter, const char *column,
                      int64_t min, int64_t max, int64_t null_count)
{
    const struct hd_column_bounds *bounds[32] = {0};
    struct hd_column_bounds one = {.null_count = null_count};
    struct hd_view views[2];
    hd_predicate *predicate;

    if (min >= 0)
        known(rows, column, min, max, null_count, views, &one);
    bounds[hd_schema_find(&rows->schema, column)] = &one;
    test_must(op, hd_predicate_new(op, &rows->schema, &predicate));
    test_must(op, hd_predicate_and(op, predicate, hd_slice_text(filter)));
    const bool may = hd_predicate_may_match(predicate, bounds, 10);
    hd_predicate_free(predicate);
    return may;
}

static void statistics_rule_out_only_what_is_certain(void **state)
{
    struct hd_op *op = *state;
    struct rows rows;

    open_rows(op, &rows);
    /* i in [1, 2] */
    assert_true(may_match(op, &rows, "i = 1", "i", 0, 1, 0));
    assert_false(may_match(op, &rows, "i = 3", "i", 0, 1, 0));
    assert_false(may_match(op, &rows, "i < 1", "i", 0, 1, 0));
    assert_true(may_match(op, &rows, "i <= 1", "i", 0, 1, 0));
    assert_false(may_match(op, &rows, "i > 2", "i", 0, 1, -1));
    assert_true(may_match(op, &rows, "i != 1", "i", 0, 1, 0));
    assert_false(may_match(op, &rows, "i != 1", "i", 0, 0, 0)); /* all are 1 */
    assert_false(may_match(op, &rows, "NOT i >= 1", "i", 0, 1, 3));
    assert_true(may_match(op, &rows, "NOT i >= 2", "i", 0, 1, 3));
    assert_false(may_match(op, &rows, "i IN (0, 3)", "i", 0, 1, 0));
    assert_true(may_match(op, &rows, "i IN (0, 2)", "i", 0, 1, 0));
    assert_false(may_match(op, &rows, "i NOT IN (0, 1, NULL)", "i", 0, 1, 0));
    assert_true(may_match(op, &rows, "i NOT IN (0, 1)", "i", 0, 1, 0));
    assert_false(may_match(op, &rows, "i = 3 AND s = 'x'", "i", 0, 1, 0)); /* s: unknown */
    assert_true(may_match(op, &rows, "i = 3 OR s = 'x'", "i", 0, 1, 0));
    assert_false(may_match(op, &rows, "i = NULL", "i", 0, 1, 0));
    /* bounds that contradict each other */
    assert_true(may_match(op, &rows, "i = 7", "i", 1, 0, 0));
    close_rows(&rows);
}

/* The null count of a column without statistics is unknown, not the number of rows. */
static void absent_statistics_are_unknown(void **state)
{
    struct hd_op *op = *state;
    struct rows rows;

    open_rows(op, &rows);
    assert_true(may_match(op, &rows, "s = 'a'", "s", -1, -1, -1));
    assert_true(may_match(op, &rows, "s IS NOT NULL", "s", -1, -1, -1));
    assert_true(may_match(op, &rows, "s IS NULL", "s", -1, -1, -1));
    assert_true(may_match(op, &rows, "s = 'a'", "s", -1, -1, 3));
    assert_true(may_match(op, &rows, "s IS NULL", "s", -1, -1, 3));
    assert_false(may_match(op, &rows, "s IS NULL", "s", -1, -1, 0));
    assert_false(may_match(op, &rows, "s IS NULL", "s", 0, 1, 0));
    assert_false(may_match(op, &rows, "s IS NOT NULL", "s", -1, -1, 10));
    assert_false(may_match(op, &rows, "s = 'a'", "s", -1, -1, 10));
    assert_false(may_match(op, &rows, "NOT s = 'a'", "s", -1, -1, 10));
    close_rows(&rows);
}

static void statistics_of_texts_are_outer_bounds(void **state)
{
    struct hd_op *op = *state;
    struct rows rows;

    open_rows(op, &rows);
    /* s in [a, b] */
    assert_false(may_match(op, &rows, "s = 'c'", "s", 0, 1, 0));
    assert_true(may_match(op, &rows, "s = 'ab'", "s", 0, 1, 0));
    assert_false(may_match(op, &rows, "s > 'b'", "s", 0, 1, 0));
    assert_true(may_match(op, &rows, "s >= 'b'", "s", 0, 1, 0));
    assert_false(may_match(op, &rows, "s < 'a'", "s", 0, 1, 0));
    assert_true(may_match(op, &rows, "s != 'a'", "s", 0, 1, 0));
    assert_false(may_match(op, &rows, "s IN ('A', 'c')", "s", 0, 1, 0));
    close_rows(&rows);
}

/* Parquet leaves NaN out of its bounds. */
static void statistics_of_floats_leave_room_for_nan(void **state)
{
    struct hd_op *op = *state;
    struct rows rows;

    open_rows(op, &rows);
    /* d in [-inf, 0.5], maybe NaN */
    assert_true(may_match(op, &rows, "d > 0.5", "d", 3, 0, 0));
    assert_true(may_match(op, &rows, "d = 'NaN'", "d", 3, 0, 0));
    assert_true(may_match(op, &rows, "d != 0.5", "d", 0, 0, 0));
    /* d in [0.5, 0.5], maybe NaN */
    assert_false(may_match(op, &rows, "d < 0.5", "d", 0, 0, 0));
    assert_false(may_match(op, &rows, "d = 0.25", "d", 0, 0, 0));
    close_rows(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_compared_as_numbers),
        cmocka_unit_test(floats_have_nan_last_and_one_zero),
        cmocka_unit_test(decimals_are_compared_exactly),
        cmocka_unit_test(texts_are_compared_by_bytes),
        cmocka_unit_test(times_are_iso_texts),
        cmocka_unit_test(nulls_are_unknown),
        cmocka_unit_test(and_or_not_and_parentheses_nest),
        cmocka_unit_test(long_lists_are_searched),
        cmocka_unit_test(columns_are_found_by_name_then_in_any_case),
        cmocka_unit_test(only_columns_that_are_named_are_looked_at),
        cmocka_unit_test(bad_filters_name_the_character),
        cmocka_unit_test(deep_and_long_filters_are_refused_not_followed),
        cmocka_unit_test(every_cut_of_a_filter_parses_or_says_why),
        cmocka_unit_test(statistics_rule_out_only_what_is_certain),
        cmocka_unit_test(absent_statistics_are_unknown),
        cmocka_unit_test(statistics_of_texts_are_outer_bounds),
        cmocka_unit_test(statistics_of_floats_leave_room_for_nan),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
