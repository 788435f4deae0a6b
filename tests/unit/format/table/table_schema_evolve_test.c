/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "arrow/schema.h"
#include "format/table/table_schema.h"
#include "support/fault.h"

static void to_avro(struct hd_op *op, const char *ddl, const char *name, struct hd_str *out)
{
    struct ArrowSchema schema;

    if (hd_table_schema_parse(op, hd_slice_text(ddl), &schema) != HUDI_OK ||
        hd_table_schema_to_avro(op, &schema, name, out) != HUDI_OK)
        fail_msg("%s: %s", ddl, hudi_error_message(op->error));
    hd_schema_clear(&schema);
}

static hudi_status evolve(struct hd_op *op, const char *table, const char *incoming, char **out)
{
    struct hd_str table_json = {0}, incoming_json = {0};

    to_avro(op, table, "t", &table_json);
    to_avro(op, incoming, "rows", &incoming_json);
    const hudi_status status = hd_table_schema_evolve(op, table_json.data, incoming_json.data, out);

    hd_str_clear(&table_json);
    hd_str_clear(&incoming_json);
    return status;
}

/* `expected` NULL: the table's schema stays. */
static void expect_evolved(struct hd_op *op, const char *table, const char *incoming,
                           const char *expected)
{
    struct hd_str expected_json = {0};
    char *evolved;

    if (evolve(op, table, incoming, &evolved) != HUDI_OK)
        fail_msg("%s + %s: %s", table, incoming, hudi_error_message(op->error));
    if (expected == NULL) {
        if (evolved != NULL)
            fail_msg("%s + %s became %s", table, incoming, evolved);
        return;
    }
    to_avro(op, expected, "t", &expected_json);
    if (evolved == NULL)
        fail_msg("%s + %s stayed", table, incoming);
    assert_string_equal(evolved, expected_json.data);
    hd_str_clear(&expected_json);
    hd_free(op, evolved);
}

static void expect_refused(struct hd_op *op, const char *table, const char *incoming,
                           hudi_status expected, const char *message)
{
    char *evolved;

    assert_int_equal(evolve(op, table, incoming, &evolved), expected);
    if (strstr(hudi_error_message(op->error), message) == NULL)
        fail_msg("\"%s\" in \"%s\"", message, hudi_error_message(op->error));
    assert_null(evolved);
    hd_op_clear_error(op);
}

static void stays_when_the_rows_fit(void **state)
{
    struct hd_op *op = *state;

    expect_evolved(op, "a int, b string", "a int, b string", NULL);
    expect_evolved(op, "a int, b string", "b string, a int", NULL);
    expect_evolved(op, "a int, b string", "b string", NULL);
    expect_evolved(op, "a int not null", "a int", NULL);
    expect_evolved(op, "a int", "a int not null", NULL);
    expect_evolved(op, "a long, b double, c double", "a int, b float, c int", NULL);
    expect_evolved(op, "a decimal(10,2)", "a decimal(9,2)", NULL);
    expect_evolved(op, "a decimal(10,2)", "a decimal(8,0)", NULL);
    expect_evolved(op, "a timestamp, b timestamp_ntz", "a timestamp_millis", NULL);
    expect_evolved(op, "s struct<a:long,b:int>, l array<double>, m map<string,long>",
                   "s struct<a:int>, l array<int>, m map<string,int>", NULL);
}

static void new_columns_come_last_and_are_nullable(void **state)
{
    struct hd_op *op = *state;

    expect_evolved(op, "a int, b string", "x int not null, a int, b string, y date",
                   "a int, b string, x int, y date");
    expect_evolved(op, "s struct<a:int>, z int", "s struct<n:string not null,a:int>",
                   "s struct<a:int,n:string>, z int");
    expect_evolved(op, "l array<struct<a:int>>, m map<string,struct<a:int>>",
                   "l array<struct<a:int,b:int>>, m map<string,struct<a:int,c:int>>",
                   "l array<struct<a:int,b:int>>, m map<string,struct<a:int,c:int>>");
    /* types with names get those of the table, as if they had been there from the start */
    expect_evolved(op, "a int",
                   "a int, d decimal(10,2), s struct<d:decimal(4,1),l:array<struct<x:int>>>",
                   "a int, d decimal(10,2), s struct<d:decimal(4,1),l:array<struct<x:int>>>");
}

static void types_widen_where_no_digit_is_lost(void **state)
{
    struct hd_op *op = *state;

    expect_evolved(op, "a int, b int, c float", "a long, b double, c double",
                   "a long, b double, c double");
    expect_evolved(op, "s struct<l:array<int>>", "s struct<l:array<long>>",
                   "s struct<l:array<long>>");
    expect_evolved(op, "a decimal(10,2), b decimal(4,1)", "a decimal(20,2), b decimal(6,3)",
                   "a decimal(20,2), b decimal(6,3)");
}

static void refuses_what_would_lose_something(void **state)
{
    struct hd_op *op = *state;
    static const struct {
        const char *table, *incoming, *message;
    } cases[] = {
        {"a int", "a string", "column a is int in the table and string in the rows"},
        {"a string", "a int", "column a is string in the table and int in the rows"},
        {"a int", "a float", "int in the table and float"},
        {"a long", "a double", "long in the table and double"},
        {"a double", "a long", "double in the table and long"},
        {"a float", "a int", "float in the table and int"},
        {"a string", "a binary", "string in the table and bytes"},
        {"a timestamp_millis", "a timestamp", "timestamp-millis in the table and timestamp-micros"},
        {"a timestamp", "a timestamp_ntz", "local-timestamp-micros in the rows"},
        {"a date", "a int", "date in the table and int"},
        {"a long", "a timestamp", "long in the table and timestamp-micros"},
        {"a decimal(10,2)", "a decimal(10,3)", "decimal(10,2) in the table and decimal(10,3)"},
        {"a fixed(3)", "a fixed(4)", "fixed(3) in the table and fixed(4)"},
        {"s struct<x:int>", "s struct<x:string>", "column s.x is int"},
        {"l array<struct<x:int>>", "l array<struct<x:date>>", "column l.element.x is int"},
        {"l array<int>", "l int", "array in the table and int"},
        {"a int not null, b int", "b int", "column a is not in the rows"},
        {"name int", "Name int", "column Name of the rows is name in the table"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++)
        expect_refused(op, cases[i].table, cases[i].incoming, HUDI_SCHEMA, cases[i].message);
    expect_refused(op, "a int", "a int, _hoodie_commit_time string", HUDI_SCHEMA, "meta column");
}

#define T(fields) "{\"type\":\"record\",\"name\":\"r\",\"namespace\":\"n\",\"fields\":[" fields "]}"

/* What the table's schema says beside types is kept; 0.10.1 (Flink) writes unions null first,
 * Spark's DDL last. */
static void keeps_everything_else_of_the_tables_schema(void **state)
{
    struct hd_op *op = *state;
    char *out;

    assert_int_equal(
        hd_table_schema_evolve(
            op,
            T("{\"name\":\"a\",\"type\":[\"int\",\"null\"],\"doc\":\"the "
              "a\",\"default\":0,\"k\":1},"
              "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"X\"]}},"
              "{\"name\":\"d\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":10,"
              "\"logicalType\":\"decimal\",\"precision\":20,\"scale\":2}}"),
            T("{\"name\":\"a\",\"type\":\"long\"},{\"name\":\"e\",\"type\":\"string\"},"
              "{\"name\":\"d\",\"type\":{\"type\":\"bytes\",\"logicalType\":\"decimal\","
              "\"precision\":20,\"scale\":2}}"),
            &out),
        HUDI_OK);
    assert_string_equal(
        out,
        T("{\"name\":\"a\",\"type\":[\"long\",\"null\"],\"doc\":\"the a\",\"default\":0,\"k\":1},"
          "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"X\"]}},"
          "{\"name\":\"d\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":10,"
          "\"logicalType\":\"decimal\",\"precision\":20,\"scale\":2}}"));
    hd_free(op, out);
}

#define POINT(fields)                                                                              \
    "{\"type\":\"record\",\"name\":\"P\",\"fields\":[{\"name\":\"x\",\"type\":\"int\"}" fields "]" \
    "}"

static void a_type_used_by_two_columns_changes_in_both_or_not(void **state)
{
    struct hd_op *op = *state;
    char *out;

    assert_int_equal(
        hd_table_schema_evolve(
            op, T("{\"name\":\"a\",\"type\":" POINT("") "},{\"name\":\"b\",\"type\":\"P\"}"),
            T("{\"name\":\"a\",\"type\":" POINT(
                ",{\"name\":\"y\",\"type\":\"int\"}") "},"
                                                      "{\"name\":\"b\",\"type\":{\"type\":"
                                                      "\"record\",\"name\":\"Q\",\"fields\":[{"
                                                      "\"name\":\"x\",\"type\":\"int\"}]}}"),
            &out),
        HUDI_NOT_IMPLEMENTED);
    assert_non_null(strstr(hudi_error_message(op->error), "type n.P would differ"));
    hd_op_clear_error(op);
    assert_null(out);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct hd_str table = {0}, incoming = {0};
    hudi_status status = HUDI_INTERNAL;

    to_avro(op, "a int, s struct<l:array<int>>", "t", &table);
    to_avro(op, "a long, s struct<l:array<long>,n:decimal(3,1)>, x date", "r", &incoming);
    for (int nth = 1; status != HUDI_OK; nth++) {
        char *out;

        test_fault_arm(op, nth);
        status = hd_table_schema_evolve(op, table.data, incoming.data, &out);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_int_equal(status == HUDI_OK, out != NULL);
        hd_free(op, out);
    }
    hd_str_clear(&table);
    hd_str_clear(&incoming);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        TEST(stays_when_the_rows_fit),
        TEST(new_columns_come_last_and_are_nullable),
        TEST(types_widen_where_no_digit_is_lost),
        TEST(refuses_what_would_lose_something),
        TEST(keeps_everything_else_of_the_tables_schema),
        TEST(a_type_used_by_two_columns_changes_in_both_or_not),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
