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

/* What Hudi 0.15.0 (Spark) and 0.10.1 (Flink) wrote into commits. */
static const char SPARK_TYPES[] =
    "{\"type\":\"record\",\"name\":\"types_mor_record\",\"namespace\":\"hoodie.types_m"
    "or\",\"fields\":[{\"name\":\"id\",\"type\":[\"null\",\"string\"],\"default\":null},{\""
    "name\":\"b\",\"type\":[\"null\",\"boolean\"],\"default\":null},{\"name\":\"i\",\"type\""
    ":[\"null\",\"int\"],\"default\":null},{\"name\":\"l\",\"type\":[\"null\",\"long\"],\"de"
    "fault\":null},{\"name\":\"f\",\"type\":[\"null\",\"float\"],\"default\":null},{\"nam"
    "e\":\"d\",\"type\":[\"null\",\"double\"],\"default\":null},{\"name\":\"dec10\",\"type\""
    ":[\"null\",{\"type\":\"fixed\",\"name\":\"fixed\",\"namespace\":\"hoodie.types_mor."
    "types_mor_record.dec10\",\"size\":5,\"logicalType\":\"decimal\",\"precision\":1"
    "0,\"scale\":2}],\"default\":null},{\"name\":\"dec38\",\"type\":[\"null\",{\"type\":\""
    "fixed\",\"name\":\"fixed\",\"namespace\":\"hoodie.types_mor.types_mor_record.d"
    "ec38\",\"size\":16,\"logicalType\":\"decimal\",\"precision\":38,\"scale\":10}],\"d"
    "efault\":null},{\"name\":\"s\",\"type\":[\"null\",\"string\"],\"default\":null},{\"n"
    "ame\":\"bin\",\"type\":[\"null\",\"bytes\"],\"default\":null},{\"name\":\"dt\",\"type\""
    ":[\"null\",{\"type\":\"int\",\"logicalType\":\"date\"}],\"default\":null},{\"name\":"
    "\"t\",\"type\":[\"null\",{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}],\""
    "default\":null},{\"name\":\"arr\",\"type\":[\"null\",{\"type\":\"array\",\"items\":[\""
    "null\",\"int\"]}],\"default\":null},{\"name\":\"arrs\",\"type\":[\"null\",{\"type\":\""
    "array\",\"items\":[\"null\",\"string\"]}],\"default\":null},{\"name\":\"m\",\"type\":"
    "[\"null\",{\"type\":\"map\",\"values\":[\"null\",\"long\"]}],\"default\":null},{\"nam"
    "e\":\"st\",\"type\":[\"null\",{\"type\":\"record\",\"name\":\"st\",\"namespace\":\"hoodi"
    "e.types_mor.types_mor_record\",\"fields\":[{\"name\":\"a\",\"type\":[\"null\",\"in"
    "t\"],\"default\":null},{\"name\":\"b\",\"type\":[\"null\",\"string\"],\"default\":nul"
    "l},{\"name\":\"c\",\"type\":[\"null\",{\"type\":\"record\",\"name\":\"c\",\"namespace\":"
    "\"hoodie.types_mor.types_mor_record.st\",\"fields\":[{\"name\":\"x\",\"type\":[\""
    "null\",\"double\"],\"default\":null},{\"name\":\"y\",\"type\":[\"null\",{\"type\":\"ar"
    "ray\",\"items\":[\"null\",{\"type\":\"int\",\"logicalType\":\"date\"}]}],\"default\":"
    "null}]}],\"default\":null}]}],\"default\":null},{\"name\":\"ast\",\"type\":[\"nul"
    "l\",{\"type\":\"array\",\"items\":[\"null\",{\"type\":\"record\",\"name\":\"ast\",\"name"
    "space\":\"hoodie.types_mor.types_mor_record\",\"fields\":[{\"name\":\"k\",\"type"
    "\":[\"null\",\"string\"],\"default\":null},{\"name\":\"v\",\"type\":[\"null\",{\"type\""
    ":\"fixed\",\"name\":\"fixed\",\"namespace\":\"hoodie.types_mor.types_mor_record"
    ".ast.v\",\"size\":5,\"logicalType\":\"decimal\",\"precision\":10,\"scale\":2}],\"d"
    "efault\":null}]}]}],\"default\":null},{\"name\":\"mst\",\"type\":[\"null\",{\"type"
    "\":\"map\",\"values\":[\"null\",{\"type\":\"record\",\"name\":\"mst\",\"namespace\":\"ho"
    "odie.types_mor.types_mor_record\",\"fields\":[{\"name\":\"p\",\"type\":[\"null\","
    "\"int\"],\"default\":null},{\"name\":\"q\",\"type\":[\"null\",{\"type\":\"long\",\"logi"
    "calType\":\"timestamp-micros\"}],\"default\":null}]}]}],\"default\":null},{\"n"
    "ame\":\"ts\",\"type\":[\"null\",\"long\"],\"default\":null}]}";
static const char FLINK_TYPES[] =
    "{\"type\":\"record\",\"name\":\"record\",\"fields\":[{\"name\":\"id\",\"type\":\"int\"},"
    "{\"name\":\"c_bool\",\"type\":[\"null\",\"boolean\"],\"default\":null},{\"name\":\"c_"
    "i8\",\"type\":[\"null\",\"int\"],\"default\":null},{\"name\":\"c_i16\",\"type\":[\"nul"
    "l\",\"int\"],\"default\":null},{\"name\":\"c_i32\",\"type\":[\"null\",\"int\"],\"defau"
    "lt\":null},{\"name\":\"c_i64\",\"type\":[\"null\",\"long\"],\"default\":null},{\"nam"
    "e\":\"c_f32\",\"type\":[\"null\",\"float\"],\"default\":null},{\"name\":\"c_f64\",\"ty"
    "pe\":[\"null\",\"double\"],\"default\":null},{\"name\":\"c_d1\",\"type\":[\"null\",{\""
    "type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":10,\"scale\":2}],\"defa"
    "ult\":null},{\"name\":\"c_d2\",\"type\":[\"null\",{\"type\":\"bytes\",\"logicalType\""
    ":\"decimal\",\"precision\":38,\"scale\":18}],\"default\":null},{\"name\":\"c_d3\","
    "\"type\":[\"null\",{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":5,\""
    "scale\":0}],\"default\":null},{\"name\":\"c_str\",\"type\":[\"null\",\"string\"],\"d"
    "efault\":null},{\"name\":\"c_vc\",\"type\":[\"null\",\"string\"],\"default\":null},"
    "{\"name\":\"c_ch\",\"type\":[\"null\",\"string\"],\"default\":null},{\"name\":\"c_byt"
    "es\",\"type\":[\"null\",\"bytes\"],\"default\":null},{\"name\":\"c_date\",\"type\":[\""
    "null\",{\"type\":\"int\",\"logicalType\":\"date\"}],\"default\":null},{\"name\":\"c_"
    "ts\",\"type\":[\"null\",{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}],\""
    "default\":null},{\"name\":\"c_ts0\",\"type\":[\"null\",{\"type\":\"long\",\"logicalT"
    "ype\":\"timestamp-millis\"}],\"default\":null},{\"name\":\"c_time\",\"type\":[\"nu"
    "ll\",{\"type\":\"int\",\"logicalType\":\"time-millis\"}],\"default\":null},{\"name"
    "\":\"part\",\"type\":[\"null\",\"string\"],\"default\":null},{\"name\":\"ts\",\"type\":"
    "[\"null\",\"long\"],\"default\":null}]}";

static void fail_op(struct hd_op *op)
{
    fail_msg("%s", op->error == NULL ? "no error set" : hudi_error_message(op->error));
}

static void from_avro(struct hd_op *op, const char *json, struct ArrowSchema *out)
{
    if (hd_table_schema_from_avro(op, json, out) != HUDI_OK)
        fail_op(op);
}

static void expect_described(struct hd_op *op, const struct ArrowSchema *schema,
                             const char *expected)
{
    struct hd_str text = {0};

    assert_int_equal(hd_type_describe(op, schema, &text), HUDI_OK);
    assert_string_equal(hd_str_text(&text), expected);
    hd_str_clear(&text);
}

static void reads_every_type_of_a_spark_schema(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema schema;

    from_avro(op, SPARK_TYPES, &schema);
    expect_described(op, &schema,
                     "struct<id: string, b: bool, i: int32, l: int64, f: float, d: double, "
                     "dec10: decimal(10, 2), dec38: decimal(38, 10), s: string, bin: binary, "
                     "dt: date32[day], t: timestamp[us, UTC], arr: list<element: int32>, "
                     "arrs: list<element: string>, m: map<string, int64>, "
                     "st: struct<a: int32, b: string, c: struct<x: double, "
                     "y: list<element: date32[day]>>>, ast: list<element: struct<k: string, "
                     "v: decimal(10, 2)>>, mst: map<string, struct<p: int32, "
                     "q: timestamp[us, UTC]>>, ts: int64>");
    for (int64_t i = 0; i < schema.n_children; i++)
        assert_true(hd_schema_nullable(schema.children[i]));
    assert_true(hd_type_is_canonical(&schema));
    hd_schema_clear(&schema);
}

static void reads_every_type_of_a_flink_schema(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema schema;

    from_avro(op, FLINK_TYPES, &schema);
    expect_described(op, &schema,
                     "struct<id: int32, c_bool: bool, c_i8: int32, c_i16: int32, c_i32: int32, "
                     "c_i64: int64, c_f32: float, c_f64: double, c_d1: decimal(10, 2), "
                     "c_d2: decimal(38, 18), c_d3: decimal(5, 0), c_str: string, "
                     "c_vc: string, c_ch: string, c_bytes: binary, c_date: date32[day], "
                     "c_ts: timestamp[ms, UTC], c_ts0: timestamp[ms, UTC], c_time: time32[ms], "
                     "part: string, ts: int64>");
    assert_false(hd_schema_nullable(schema.children[0]));
    hd_schema_clear(&schema);
}

static void writes_the_schema_that_spark_writes(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema schema;
    struct hd_str json = {0};

    from_avro(op, SPARK_TYPES, &schema);
    if (hd_table_schema_to_avro(op, &schema, "types_mor", &json) != HUDI_OK)
        fail_op(op);
    assert_string_equal(json.data, SPARK_TYPES);
    hd_str_clear(&json);
    hd_schema_clear(&schema);
}

static void expect_avro(struct hd_op *op, const char *ddl, const char *table, const char *json)
{
    struct ArrowSchema schema;
    struct hd_str text = {0};

    if (hd_table_schema_parse(op, hd_slice_text(ddl), &schema) != HUDI_OK ||
        hd_table_schema_to_avro(op, &schema, table, &text) != HUDI_OK)
        fail_op(op);
    assert_string_equal(text.data, json);
    hd_str_clear(&text);
    hd_schema_clear(&schema);
}

static void a_table_name_becomes_an_avro_name(void **state)
{
    struct hd_op *op = *state;

    expect_avro(op, "a int not null", "my-table 1",
                "{\"type\":\"record\",\"name\":\"my__table__1_record\",\"namespace\":"
                "\"hoodie.my__table__1\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}");
    expect_avro(op, "a int not null", "1é",
                "{\"type\":\"record\",\"name\":\"_____record\",\"namespace\":"
                "\"hoodie.____\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}");
}

static void writes_times_without_zone_and_fixed(void **state)
{
    struct hd_op *op = *state;

    expect_avro(
        op,
        "a timestamp_ntz not null\nb timestamp_millis not null\nc fixed(3) not null\n"
        "d time not null\ne local_timestamp_millis not null\nf time_millis",
        "t",
        "{\"type\":\"record\",\"name\":\"t_record\",\"namespace\":\"hoodie.t\",\"fields\":["
        "{\"name\":\"a\",\"type\":{\"type\":\"long\",\"logicalType\":"
        "\"local-timestamp-micros\"}},"
        "{\"name\":\"b\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}},"
        "{\"name\":\"c\",\"type\":{\"type\":\"fixed\",\"name\":\"fixed\",\"namespace\":"
        "\"hoodie.t.t_record.c\",\"size\":3}},"
        "{\"name\":\"d\",\"type\":{\"type\":\"long\",\"logicalType\":\"time-micros\"}},"
        "{\"name\":\"e\",\"type\":{\"type\":\"long\",\"logicalType\":"
        "\"local-timestamp-millis\"}},"
        "{\"name\":\"f\",\"type\":[\"null\",{\"type\":\"int\",\"logicalType\":"
        "\"time-millis\"}],\"default\":null}]}");
}

static void expect_failure(struct hd_op *op, hudi_status status, hudi_status expected,
                           const char *part)
{
    assert_int_equal(status, expected);
    assert_non_null(op->error);
    if (strstr(hudi_error_message(op->error), part) == NULL)
        fail_msg("\"%s\" in \"%s\"", part, hudi_error_message(op->error));
    hd_op_clear_error(op);
}

static void expect_no_arrow(struct hd_op *op, const char *json, hudi_status status,
                            const char *part)
{
    struct ArrowSchema schema;

    expect_failure(op, hd_table_schema_from_avro(op, json, &schema), status, part);
    assert_null(schema.release);
}

#define RECORD(fields) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type "}"

static void refuses_what_no_column_can_be(void **state)
{
    struct hd_op *op = *state;

    expect_no_arrow(op, "\"int\"", HUDI_CORRUPT, "not a record");
    expect_no_arrow(op, "{", HUDI_CORRUPT, "");
    expect_no_arrow(op, RECORD(FIELD("a", "[\"int\",\"string\"]")), HUDI_NOT_IMPLEMENTED,
                    "column a is a union of several types");
    expect_no_arrow(op, RECORD(FIELD("a", RECORD(FIELD("b", "[\"null\",\"int\",\"long\"]")))),
                    HUDI_CORRUPT, ""); /* two records named r */
    expect_no_arrow(op, RECORD(FIELD("a", "[\"null\",\"r\"]")), HUDI_NOT_IMPLEMENTED,
                    "contains itself");
    expect_no_arrow(op, RECORD(FIELD("a", "{\"type\":\"array\",\"items\":\"r\"}")),
                    HUDI_NOT_IMPLEMENTED, "column a.element: record r contains itself");
    expect_no_arrow(op,
                    RECORD(FIELD("a", "{\"type\":\"bytes\",\"logicalType\":\"decimal\","
                                      "\"precision\":39,\"scale\":1}")),
                    HUDI_NOT_IMPLEMENTED, "39 digits");
}

/* Each level uses the one below twice: 2^40 columns in a few hundred bytes. */
static void bounds_what_a_small_text_unfolds_to(void **state)
{
    struct hd_op *op = *state;
    struct hd_str text = {0};

    for (int i = 0; i < 25; i++)
        assert_int_equal(hd_str_printf(op, &text,
                                       "{\"type\":\"record\",\"name\":\"r%d\",\"fields\":["
                                       "{\"name\":\"a\",\"type\":",
                                       i),
                         HUDI_OK);
    assert_int_equal(hd_str_append_text(op, &text, "\"int\""), HUDI_OK);
    for (int i = 24; i >= 0; i--)
        assert_int_equal(hd_str_printf(op, &text, "},{\"name\":\"b\",\"type\":\"%s%.0d\"}]}",
                                       i == 24 ? "int" : "r", i == 24 ? 0 : i + 1),
                         HUDI_OK);
    expect_no_arrow(op, text.data, HUDI_CORRUPT, "more than 100000 columns");
    hd_str_clear(&text);
}

#define META(name)                                                                                 \
    "{\"name\":\"" name "\",\"type\":[\"null\",\"string\"],\"doc\":\"\",\"default\":null}"
#define FIVE                                                                                       \
    META("_hoodie_commit_time")                                                                    \
    "," META("_hoodie_commit_seqno") "," META("_hoodie_record_key") "," META(                      \
        "_hoodie_partition_path") "," META("_hoodie_file_name")
#define USER "{\"name\":\"a\",\"type\":\"int\",\"doc\":\"the a\",\"default\":7,\"my\":{\"x\":[1]}}"

static void adds_and_strips_meta_columns(void **state)
{
    struct hd_op *op = *state;
    struct hd_str text = {0};

    assert_int_equal(hd_table_schema_add_meta(op, RECORD(USER), false, &text), HUDI_OK);
    assert_string_equal(text.data, RECORD(FIVE "," USER));
    text.size = 0;
    assert_int_equal(hd_table_schema_add_meta(op, RECORD(FIVE "," USER), true, &text), HUDI_OK);
    assert_string_equal(text.data, RECORD(FIVE "," META("_hoodie_operation") "," USER));
    text.size = 0;
    assert_int_equal(
        hd_table_schema_strip_meta(op, RECORD(FIVE "," META("_hoodie_operation") "," USER), &text),
        HUDI_OK);
    assert_string_equal(text.data, RECORD(USER));
    text.size = 0;
    assert_int_equal(hd_table_schema_strip_meta(op, " " RECORD(USER), &text), HUDI_OK);
    assert_string_equal(text.data, " " RECORD(USER));
    hd_str_clear(&text);
}

static void parses_lines_of_names_and_types(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema schema;
    static const char ddl[] = "# a table\n"
                              "id string not null -- the key\n"
                              "\n"
                              "d DECIMAL(10, 2),\n"
                              "  tags array<string>\r\n"
                              "s struct<a:int not null,\n"
                              "         b: map<string,double> comment 'not null', `c d` date>\n"
                              "e decimal, v varchar(12) comment \"x\", at: timestamp\n"
                              "m timestamp_millis, n timestamp_ntz, t time, b binary";

    if (hd_table_schema_parse(op, hd_slice_text(ddl), &schema) != HUDI_OK)
        fail_op(op);
    expect_described(op, &schema,
                     "struct<id: string, d: decimal(10, 2), tags: list<element: string>, "
                     "s: struct<a: int32, b: map<string, double>, c d: date32[day]>, "
                     "e: decimal(10, 0), v: string, at: timestamp[us, UTC], "
                     "m: timestamp[ms, UTC], n: timestamp[us], t: time64[us], b: binary>");
    assert_false(hd_schema_nullable(schema.children[0]));
    assert_true(hd_schema_nullable(schema.children[1]));
    assert_false(hd_schema_nullable(schema.children[3]->children[0]));
    assert_true(hd_schema_nullable(schema.children[3]->children[1]));
    hd_schema_clear(&schema);

    if (hd_table_schema_parse(op,
                              hd_slice_text("\n {\"type\":\"record\",\"name\":\"r\",\"fields\":["
                                            "{\"name\":\"id\",\"type\":\"string\"}]}"),
                              &schema) != HUDI_OK)
        fail_op(op);
    expect_described(op, &schema, "struct<id: string>");
    hd_schema_clear(&schema);
}

static void says_where_a_schema_text_is_wrong(void **state)
{
    struct hd_op *op = *state;
    static const struct {
        const char *ddl;
        const char *message;
    } cases[] = {
        {"", "line 1 column 1: a table has at least one column"},
        {"id", "line 1 column 3: a type is missing"},
        {"id string\nx strin", "line 2 column 3: \"strin\" is no type"},
        {"id string y", "line 1 column 11: the end of the line is missing"},
        {"id string not", "\"null\" is missing"},
        {"d decimal(39)", "line 1 column 11: a number up to 38"},
        {"d decimal(5,6)", "line 1 column 13: a number up to 5"},
        {"d decimal(0)", "at least one digit"},
        {"a array<int", "'>' is missing"},
        {"a map<int,int>", "keys of a map are strings"},
        {"a struct<>", "a column name is missing"},
        {"`a int", "without a closing `"},
        {"a int comment 'x", "without a closing quote"},
        {"f fixed(0)", "at least one byte"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct ArrowSchema schema;

        expect_failure(op, hd_table_schema_parse(op, hd_slice_text(cases[i].ddl), &schema),
                       HUDI_INVALID, cases[i].message);
        assert_null(schema.release);
    }
    struct ArrowSchema schema;
    struct hd_str deep = {0};

    for (int i = 0; i < 1000; i++)
        assert_int_equal(hd_str_append_text(op, &deep, i == 0 ? "a array<" : "array<"), HUDI_OK);
    expect_failure(op, hd_table_schema_parse(op, hd_str_slice(&deep), &schema), HUDI_INVALID,
                   "deep");
    hd_str_clear(&deep);
}

static void lists_every_name_that_a_table_cannot_have(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema schema;

    if (hd_table_schema_parse(op,
                              hd_slice_text("id string, 1Min int, $c int, order int, Name int, "
                                            "name int, _hoodie_commit_time string, "
                                            "s struct<ok:int, `bad one`:int>, größe int"),
                              &schema) != HUDI_OK)
        fail_op(op);
    assert_int_equal(hd_table_schema_check_names(op, &schema), HUDI_INVALID);
    const char *message = hudi_error_message(op->error);

    assert_non_null(strstr(message, "\"1Min\" (Avro names"));
    assert_non_null(strstr(message, "\"$c\" (Avro names"));
    assert_non_null(strstr(message, "\"name\" (equal to \"Name\" but for case)"));
    assert_non_null(strstr(message, "\"_hoodie_commit_time\" (a meta column of Hudi)"));
    assert_non_null(strstr(message, "\"s.bad one\" (Avro names"));
    assert_non_null(strstr(message, "\"größe\" (Avro names"));
    assert_null(strstr(message, "order"));
    assert_null(strstr(message, "\"id\""));
    hd_op_clear_error(op);
    hd_schema_clear(&schema);
}

/* Avro has nothing against names that differ in case alone, but against equal ones. */
static void refuses_to_write_equal_names(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema schema;
    struct hd_str json = {0};

    assert_int_equal(hd_table_schema_parse(op, hd_slice_text("a int, A int, A int"), &schema),
                     HUDI_OK);
    expect_failure(op, hd_table_schema_to_avro(op, &schema, "t", &json), HUDI_INVALID,
                   "\"A\" (equal to \"A\")");
    hd_schema_clear(&schema);
    hd_str_clear(&json);
}

static void every_prefix_of_a_schema_text_is_refused_or_read(void **state)
{
    struct hd_op *op = *state;
    static const char ddl[] = "id string not null, s struct<`a b`:array<int>,c:decimal(3,1)>\n";

    for (size_t n = 0; n < sizeof ddl; n++) {
        struct ArrowSchema schema;
        char *copy;

        assert_int_equal(hd_alloc_raw(op, n, 1, &copy), HUDI_OK);
        memcpy(copy, ddl, n);
        const hudi_status status = hd_table_schema_parse(op, hd_slice_of(copy, n), &schema);

        assert_true(status == HUDI_OK || status == HUDI_INVALID);
        assert_int_equal(status == HUDI_OK, schema.release != NULL);
        hd_schema_clear(&schema);
        hd_op_clear_error(op);
        hd_free(op, copy);
    }
    for (size_t n = 1; n < sizeof SPARK_TYPES - 1; n++) {
        struct ArrowSchema schema;

        assert_int_equal(hd_table_schema_parse(op, hd_slice_of(SPARK_TYPES, n), &schema),
                         HUDI_CORRUPT);
        hd_op_clear_error(op);
    }
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct ArrowSchema schema = {0};
        struct hd_str json = {0}, meta = {0};

        test_fault_arm(op, nth);
        status = hd_table_schema_parse(op,
                                       hd_slice_text("id string\ns struct<a:array<decimal(3,1)>>\n"
                                                     "m map<string,int>"),
                                       &schema);
        if (status == HUDI_OK)
            status = hd_table_schema_to_avro(op, &schema, "t", &json);
        if (status == HUDI_OK)
            status = hd_table_schema_add_meta(op, json.data, false, &meta);
        hd_schema_clear(&schema);
        if (status == HUDI_OK)
            status = hd_table_schema_from_avro(op, meta.data, &schema);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_schema_clear(&schema);
        hd_str_clear(&json);
        hd_str_clear(&meta);
    }
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        TEST(reads_every_type_of_a_spark_schema),
        TEST(reads_every_type_of_a_flink_schema),
        TEST(writes_the_schema_that_spark_writes),
        TEST(a_table_name_becomes_an_avro_name),
        TEST(writes_times_without_zone_and_fixed),
        TEST(refuses_what_no_column_can_be),
        TEST(bounds_what_a_small_text_unfolds_to),
        TEST(adds_and_strips_meta_columns),
        TEST(parses_lines_of_names_and_types),
        TEST(says_where_a_schema_text_is_wrong),
        TEST(lists_every_name_that_a_table_cannot_have),
        TEST(refuses_to_write_equal_names),
        TEST(every_prefix_of_a_schema_text_is_refused_or_read),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
