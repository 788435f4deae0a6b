/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/projection.h"
#include "record_testing.h"

/* What .hoodie/.schema of spark-0.15.0-evolve-ddl-cow holds, without the columns that stay as they
 * are: qty was widened, score renamed to points, amount dropped, extra added in the middle. */
#define FIELD_ID "{\"id\":5,\"name\":\"id\",\"optional\":true,\"type\":\"string\"}"
#define FIELD_EXTRA "{\"id\":14,\"name\":\"extra\",\"optional\":true,\"type\":\"string\"}"
#define FIELD_AMOUNT "{\"id\":10,\"name\":\"amount\",\"optional\":true,\"type\":\"decimal(10, 2)\"}"

static const char NEWEST[] =
    "{\"max_column_id\":14,\"version_id\":20261130140916726,\"type\":\"record\",\"fields\":["
    "{\"id\":0,\"name\":\"_hoodie_commit_time\",\"optional\":true,\"type\":\"string\",\"doc\":\"\"}"
    "," FIELD_ID "," FIELD_EXTRA ","
    "{\"id\":9,\"name\":\"qty\",\"optional\":true,\"type\":\"long\"},"
    "{\"id\":11,\"name\":\"points\",\"optional\":true,\"type\":\"double\"},"
    "{\"id\":12,\"name\":\"day\",\"optional\":true,\"type\":\"date\"}]}";

static const char FIRST[] =
    "{\"max_column_id\":13,\"version_id\":0,\"type\":\"record\",\"fields\":["
    "{\"id\":0,\"name\":\"_hoodie_commit_time\",\"optional\":true,\"type\":\"string\",\"doc\":\"\"}"
    "," FIELD_ID ","
    "{\"id\":9,\"name\":\"qty\",\"optional\":true,\"type\":\"int\"}," FIELD_AMOUNT ","
    "{\"id\":11,\"name\":\"score\",\"optional\":true,\"type\":\"double\"},"
    "{\"id\":12,\"name\":\"day\",\"optional\":true,\"type\":\"date\"}]}";

static const char NESTED[] =
    "{\"max_column_id\":9,\"version_id\":3,\"type\":\"record\",\"fields\":["
    "{\"id\":0,\"name\":\"r\",\"optional\":true,\"type\":{\"type\":\"record\",\"fields\":["
    "{\"id\":2,\"name\":\"x\",\"optional\":false,\"type\":\"fixed[16]\"},"
    "{\"id\":3,\"name\":\"now\",\"optional\":true,\"type\":\"timestamp\"}]}},"
    "{\"id\":1,\"name\":\"l\",\"optional\":false,\"type\":{\"type\":\"array\",\"element_id\":4,"
    "\"element\":{\"type\":\"record\",\"fields\":[{\"id\":7,\"name\":\"in_list\",\"optional\":true,"
    "\"type\":\"int\"}]},\"element_optional\":true}},"
    "{\"id\":8,\"name\":\"m\",\"optional\":true,\"type\":{\"type\":\"map\",\"key_id\":5,\"key\":"
    "\"string\",\"value_id\":6,\"value\":\"binary\",\"value_optional\":false}}]}";

static hd_internal_schema *parse(struct hd_op *op, const char *json)
{
    hd_internal_schema *schema = NULL;

    OK(hd_internal_schema_parse(op, hd_slice_text(json), &schema));
    return schema;
}

static void assert_described(struct hd_op *op, const struct ArrowSchema *schema,
                             const char *expected)
{
    struct hd_str text = {0};

    OK(hd_type_describe(op, schema, &text));
    assert_string_equal(hd_str_text(&text), expected);
    hd_str_clear(&text);
}

/* As 1.1 writes them. */
static void decimals_may_say_how_they_are_stored(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema arrow;
    hd_internal_schema *schema = parse(
        op, "{\"type\":\"record\",\"fields\":[{\"id\":1,\"name\":\"a\",\"optional\":true,\"type\":"
            "\"decimal_fixed(10, 2)[5]\"},{\"id\":2,\"name\":\"b\",\"optional\":true,\"type\":"
            "\"decimal_bytes(10, 2)\"}]}");

    OK(hd_internal_schema_to_arrow(op, schema, &arrow));
    assert_described(op, &arrow, "struct<a: decimal(10, 2), b: decimal(10, 2)>");
    hd_schema_clear(&arrow);
    hd_internal_schema_free(schema);
}

static void a_schema_becomes_columns(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema arrow;
    hd_internal_schema *schema = parse(op, FIRST);

    assert_int_equal(hd_internal_schema_version(schema), 0);
    OK(hd_internal_schema_to_arrow(op, schema, &arrow));
    assert_described(op, &arrow,
                     "struct<_hoodie_commit_time: string, id: string, qty: int32, amount: "
                     "decimal(10, 2), score: double, day: date32[day]>");
    hd_schema_clear(&arrow);
    hd_internal_schema_free(schema);

    schema = parse(op, NESTED);
    OK(hd_internal_schema_to_arrow(op, schema, &arrow));
    assert_described(
        op, &arrow,
        "struct<r: struct<x: fixed_size_binary[16], now: timestamp[us, UTC]>, l: list<element: "
        "struct<in_list: int32>>, m: map<string, binary>>");
    assert_false(hd_schema_nullable(arrow.children[1]));
    assert_false(hd_schema_nullable(arrow.children[0]->children[0]));
    hd_schema_clear(&arrow);
    hd_internal_schema_free(schema);
}

static void a_history_gives_the_schema_of_a_time(void **state)
{
    struct hd_op *op = *state;
    struct hd_str history = {0};
    static const struct {
        uint64_t time, version;
    } cases[] = {
        {20261130140916726, 20261130140916726},
        {20261130140916725, 0},
        {20301130140916725, 20261130140916726},
        {0, 0},
    };

    OK(hd_str_printf(op, &history, "{\"schemas\":[%s,%s]}", NEWEST, FIRST));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        hd_internal_schema *schema = NULL;

        OK(hd_internal_schema_of_history(op, hd_str_slice(&history), cases[i].time, &schema));
        assert_int_equal(hd_internal_schema_version(schema), cases[i].version);
        hd_internal_schema_free(schema);
    }
    hd_str_clear(&history);
    hd_internal_schema *schema = NULL;
    OK(hd_str_printf(op, &history, "{\"schemas\":[%s]}", NEWEST));
    assert_int_equal(hd_internal_schema_of_history(op, hd_str_slice(&history), 5, &schema),
                     HUDI_NOT_FOUND);
    assert_null(op->error);
    assert_null(schema);
    hd_str_clear(&history);
}

static void columns_are_joined_by_their_ids(void **state)
{
    struct hd_op *op = *state;
    hd_internal_schema *newest = parse(op, NEWEST);
    hd_internal_schema *first = parse(op, FIRST);
    struct ArrowSchema target;
    const char **names;

    OK(hd_internal_schema_to_arrow(op, newest, &target));
    OK(hd_internal_schema_file_names(op, newest, first, &target, &names));
    assert_string_equal(names[0], "_hoodie_commit_time");
    assert_string_equal(names[1], "id");
    assert_null(names[2]); /* extra came later */
    assert_string_equal(names[3], "qty");
    assert_string_equal(names[4], "score");
    assert_string_equal(names[5], "day");
    hd_free(op, names);
    hd_schema_clear(&target);
    hd_internal_schema_free(newest);
    hd_internal_schema_free(first);
}

/* A column dropped and added again, and a rename within a record in a list. */
static const char OLD_NESTED[] =
    "{\"version_id\":1,\"type\":\"record\",\"fields\":["
    "{\"id\":0,\"name\":\"c\",\"optional\":true,\"type\":\"int\"},"
    "{\"id\":1,\"name\":\"l\",\"optional\":true,\"type\":{\"type\":\"array\",\"element_id\":2,"
    "\"element_optional\":true,\"element\":{\"type\":\"record\",\"fields\":["
    "{\"id\":3,\"name\":\"was\",\"optional\":true,\"type\":\"int\"},"
    "{\"id\":4,\"name\":\"b\",\"optional\":true,\"type\":\"int\"}]}}}]}";
static const char NEW_NESTED[] =
    "{\"version_id\":2,\"type\":\"record\",\"fields\":["
    "{\"id\":5,\"name\":\"c\",\"optional\":true,\"type\":\"int\"},"
    "{\"id\":1,\"name\":\"l\",\"optional\":true,\"type\":{\"type\":\"array\",\"element_id\":2,"
    "\"element_optional\":true,\"element\":{\"type\":\"record\",\"fields\":["
    "{\"id\":3,\"name\":\"is\",\"optional\":true,\"type\":\"long\"},"
    "{\"id\":6,\"name\":\"b\",\"optional\":true,\"type\":\"int\"}]}}}]}";

static void renamed_files_read_by_id_at_every_level(void **state)
{
    struct hd_op *op = *state;
    hd_internal_schema *newest = parse(op, NEW_NESTED);
    hd_internal_schema *old = parse(op, OLD_NESTED);
    struct ArrowSchema file, renamed, target;
    struct ArrowArray batch, out;
    struct ArrowSchema wanted = {0};
    hd_projection *projection;
    int32_t n;

    OK(hd_internal_schema_to_arrow(op, old, &file));
    OK(hd_internal_schema_to_arrow(op, newest, &target));
    OK(hd_internal_schema_rename(op, newest, old, &file, &renamed));
    assert_described(op, &renamed,
                     "struct<-: int32, l: list<element: struct<is: int32, -: int32>>>");
    hd_schema_clear(&wanted);
    OK(hd_internal_schema_rename_below(op, newest, old, &file, &wanted));
    assert_described(op, &wanted,
                     "struct<c: int32, l: list<element: struct<is: int32, -: int32>>>");
    hd_schema_clear(&wanted);
    OK(hd_projection_new(op, &target, &renamed, NULL, HD_CAST_READ, &projection));
    hd_projection_file_columns(projection, &n);
    assert_int_equal(n, 1);

    const int32_t list[] = {1};

    OK(hd_schema_select(op, &file, list, 1, &wanted));
    batch = test_array(op, &wanted, "[([(7, 8), null]), (null)]");
    hd_schema_clear(&wanted);
    OK(hd_projection_apply(op, projection, &batch, &out));
    ASSERT_ARRAY(&target, &out, "[(null, [(7, null), null]), (null, null)]");
    hd_array_clear(&out);
    hd_projection_free(projection);
    hd_schema_clear(&file);
    hd_schema_clear(&renamed);
    hd_schema_clear(&target);
    hd_internal_schema_free(newest);
    hd_internal_schema_free(old);
}

static void columns_without_a_schema_get_the_ids_of_a_conversion(void **state)
{
    struct hd_op *op = *state;
    hd_internal_schema *nested = parse(op, NESTED);
    hd_internal_schema *made;
    struct ArrowSchema arrow, names_of;
    const char **names;

    /* ids 0 r, 1 l, 2 m; then 3 r.x, 4 r.now; 5 l.element, 6 l.element.in_list; 7 key, 8 value */
    static const char EXPECTED[] =
        "{\"type\":\"record\",\"fields\":["
        "{\"id\":0,\"name\":\"r2\",\"optional\":true,\"type\":{\"type\":\"record\",\"fields\":["
        "{\"id\":3,\"name\":\"x2\",\"optional\":false,\"type\":\"fixed[16]\"},"
        "{\"id\":4,\"name\":\"now2\",\"optional\":true,\"type\":\"timestamp\"}]}},"
        "{\"id\":1,\"name\":\"l2\",\"optional\":false,\"type\":{\"type\":\"array\",\"element_id\":"
        "5,"
        "\"element\":{\"type\":\"record\",\"fields\":[{\"id\":6,\"name\":\"in_list2\",\"optional\":"
        "true,\"type\":\"int\"}]},\"element_optional\":true}},"
        "{\"id\":2,\"name\":\"m2\",\"optional\":true,\"type\":{\"type\":\"map\",\"key_id\":7,"
        "\"key\":"
        "\"string\",\"value_id\":8,\"value\":\"binary\",\"value_optional\":false}}]}";
    hd_internal_schema *renamed = parse(op, EXPECTED);

    OK(hd_internal_schema_to_arrow(op, nested, &arrow));
    OK(hd_internal_schema_of_arrow(op, &arrow, &made));
    OK(hd_internal_schema_rename(op, renamed, made, &arrow, &names_of));
    assert_described(op, &names_of,
                     "struct<r2: struct<x2: fixed_size_binary[16], now2: timestamp[us, UTC]>, l2: "
                     "list<element: struct<in_list2: int32>>, m2: map<string, binary>>");
    OK(hd_internal_schema_file_names(op, renamed, made, &names_of, &names));
    assert_string_equal(names[2], "m");
    hd_free(op, names);
    hd_schema_clear(&arrow);
    hd_schema_clear(&names_of);
    hd_internal_schema_free(nested);
    hd_internal_schema_free(made);
    hd_internal_schema_free(renamed);
}

static void texts_that_are_no_schemas_are_refused(void **state)
{
    struct hd_op *op = *state;
    static const char *const texts[] = {
        "",
        "[]",
        "\"int\"",
        "{\"type\":\"record\"}",
        "{\"type\":\"array\",\"element_id\":1,\"element\":\"int\",\"element_optional\":true}",
        "{\"type\":\"record\",\"version_id\":-1,\"fields\":[]}",
        "{\"type\":\"record\",\"fields\":[{\"id\":1,\"name\":\"a\",\"optional\":true}]}",
        "{\"type\":\"record\",\"fields\":[{\"id\":1,\"name\":\"a\",\"optional\":true,\"type\":"
        "\"i\"}]"
        "}",
        "{\"type\":\"record\",\"fields\":[{\"id\":1,\"name\":\"a\",\"optional\":true,\"type\":"
        "\"decimal(39, 2)\"}]}",
        "{\"type\":\"record\",\"fields\":[{\"id\":1,\"name\":\"a\",\"optional\":true,\"type\":"
        "\"decimal_fixed(10, 2)\"}]}",
        "{\"type\":\"record\",\"fields\":[{\"id\":1,\"name\":\"a\",\"optional\":true,\"type\":"
        "\"decimal_bytes(10, 2)[5]\"}]}",
        "{\"type\":\"record\",\"fields\":[{\"id\":1,\"name\":\"a\",\"optional\":true,\"type\":"
        "\"fixed[9999999999]\"}]}",
        "{\"type\":\"record\",\"fields\":[{\"id\":1,\"name\":\"a\",\"optional\":true,\"type\":{"
        "\"type\":\"map\",\"key_id\":1,\"key\":\"int\",\"value_id\":2,\"value\":\"int\","
        "\"value_optional\":true}}]}",
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(texts); i++) {
        hd_internal_schema *schema = NULL;

        assert_int_equal(hd_internal_schema_parse(op, hd_slice_text(texts[i]), &schema),
                         HUDI_CORRUPT);
        assert_non_null(op->error);
        assert_null(schema);
        hd_op_clear_error(op);
    }
}

static void deep_nesting_is_refused(void **state)
{
    struct hd_op *op = *state;
    struct hd_str text = {0};
    hd_internal_schema *schema = NULL;

    OK(hd_str_append_text(op, &text,
                          "{\"type\":\"record\",\"fields\":[{\"id\":1,\"name\":\"a\",\"optional\":"
                          "true,\"type\":"));
    for (int i = 0; i < 100; i++)
        OK(hd_str_append_text(
            op, &text,
            "{\"type\":\"array\",\"element_id\":1,\"element_optional\":true,\"element\":"));
    OK(hd_str_append_text(op, &text, "\"int\""));
    for (int i = 0; i < 100; i++)
        OK(hd_str_append_char(op, &text, '}'));
    OK(hd_str_append_text(op, &text, "}]}"));
    assert_int_equal(hd_internal_schema_parse(op, hd_str_slice(&text), &schema), HUDI_CORRUPT);
    assert_non_null(strstr(hudi_error_message(op->error), "nests more than"));
    hd_str_clear(&text);
}

static void a_schema_cut_anywhere_is_refused(void **state)
{
    struct hd_op *op = *state;

    for (size_t n = 0; n < sizeof(NESTED) - 1; n++) {
        hd_internal_schema *schema = NULL;

        assert_int_equal(hd_internal_schema_parse(op, hd_slice_of(NESTED, n), &schema),
                         HUDI_CORRUPT);
        assert_null(schema);
        hd_op_clear_error(op);
    }
}

static void running_out_of_memory_anywhere_is_reported(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        hd_internal_schema *schema = NULL, *made = NULL;
        struct ArrowSchema arrow = {0}, renamed = {0};

        test_fault_arm(op, nth);
        status = hd_internal_schema_parse(op, hd_slice_text(NESTED), &schema);
        if (status == HUDI_OK)
            status = hd_internal_schema_to_arrow(op, schema, &arrow);
        if (status == HUDI_OK)
            status = hd_internal_schema_of_arrow(op, &arrow, &made);
        if (status == HUDI_OK)
            status = hd_internal_schema_rename(op, schema, made, &arrow, &renamed);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_schema_clear(&arrow);
        hd_schema_clear(&renamed);
        hd_internal_schema_free(schema);
        hd_internal_schema_free(made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_schema_becomes_columns),
        TEST(decimals_may_say_how_they_are_stored),
        TEST(a_history_gives_the_schema_of_a_time),
        TEST(columns_are_joined_by_their_ids),
        TEST(renamed_files_read_by_id_at_every_level),
        TEST(columns_without_a_schema_get_the_ids_of_a_conversion),
        TEST(texts_that_are_no_schemas_are_refused),
        TEST(deep_nesting_is_refused),
        TEST(a_schema_cut_anywhere_is_refused),
        TEST(running_out_of_memory_anywhere_is_reported),
    };

    return cmocka_run_group_tests_name("internal_schema", tests, NULL, NULL);
}
