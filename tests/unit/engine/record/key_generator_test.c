/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/key_generator.h"
#include "record_testing.h"

/* ---- a table, its columns, a batch -------------------------------------------------------- */

/* "id" string, "n" int, "l" long, "dbl" double, "f" float, "flag", "day" date, "ms" timestamp,
 * "us" timestamp, "local" timestamp without zone, "dec" decimal(10,2), "bin", "part" string,
 * "nested" struct<a: string, b: struct<c: int>> */
struct table {
    struct test_config c;
    struct test_schema schema;
    struct ArrowSchema fields[14];
    struct ArrowSchema a, b, bc;
    struct ArrowSchema *of_nested[2], *of_b[1];
    hd_key_generator *generator;
    struct hd_partition_set partitions;
    struct hd_arena arena;
    struct hd_keys keys;
    struct ArrowArray batch;
};

static const struct ArrowSchema FIELDS[14] = {
    FIELD("u", "id"),       FIELD("i", "n"),        FIELD("l", "l"),        FIELD("g", "dbl"),
    FIELD("f", "f"),        FIELD("b", "flag"),     FIELD("tdD", "day"),    FIELD("tsm:UTC", "ms"),
    FIELD("tsu:UTC", "us"), FIELD("tsu:", "local"), FIELD("d:10,2", "dec"), FIELD("z", "bin"),
    FIELD("u", "part"),     FIELD("+s", "nested")};

static void table_init(struct table *t, enum hd_key_generator_type type, const char *keys,
                       const char *partitions)
{
    static char key_names[100], partition_names[100];

    *t = (struct table){0};
    test_config_init(&t->c, 6);
    memcpy(t->fields, FIELDS, sizeof(FIELDS));
    t->a = (struct ArrowSchema)FIELD("u", "a");
    t->bc = (struct ArrowSchema)FIELD("i", "c");
    t->of_b[0] = &t->bc;
    t->b = (struct ArrowSchema)PARENT("+s", "b", t->of_b);
    t->of_nested[0] = &t->a;
    t->of_nested[1] = &t->b;
    t->fields[13].n_children = 2;
    t->fields[13].children = t->of_nested;
    test_schema_init(&t->schema, t->fields, 14);
    strcpy(key_names, keys);
    strcpy(partition_names, partitions);
    t->c.config.key_generator = type;
    t->c.config.n_record_key_fields = test_names(key_names, t->c.keys);
    t->c.config.n_partition_fields = test_names(partition_names, t->c.partitions);
}

static void table_clear(struct hd_op *op, struct table *t)
{
    hd_keys_clear(op, &t->keys);
    hd_array_clear(&t->batch);
    hd_map_clear(&t->partitions.paths);
    hd_arena_clear(&t->arena);
    hd_key_generator_free(t->generator);
    test_config_clear(&t->c);
}

static hudi_status make(struct hd_op *op, struct table *t, enum hd_complex_encoding encoding)
{
    return hd_key_generator_new(op, &t->c.config, &t->c.options, &t->schema.root, encoding,
                                &t->generator);
}

/* One row of the columns above, all null but those that `sets` names: "n=5;id=\"a\"". */
static void row_text(struct table *t, const char *sets, char *out)
{
    strcat(out, "(");
    for (int i = 0; i < 14; i++) {
        char wanted[40];
        const char *at;

        snprintf(wanted, sizeof(wanted), ";%s=", t->fields[i].name);
        char all[400] = ";";
        strcat(all, sets);
        at = strstr(all, wanted);
        if (i > 0)
            strcat(out, ", ");
        if (at == NULL) {
            strcat(out, "null");
            continue;
        }
        at += strlen(wanted);
        strncat(out, at, strcspn(at, ";"));
    }
    strcat(out, ")");
}

static void apply(struct hd_op *op, struct table *t, const char *const *rows, int n)
{
    char *text = test_malloc(400 * (size_t)(n + 1));

    strcpy(text, "[");
    for (int i = 0; i < n; i++) {
        row_text(t, rows[i], text);
        strcat(text, i + 1 < n ? ", " : "");
    }
    strcat(text, "]");
    hd_keys_clear(op, &t->keys);
    hd_array_clear(&t->batch);
    t->batch = test_array(op, &t->schema.root, text);
    test_free(text);
    OK(hd_key_generator_apply(op, t->generator, &t->batch, &t->arena, &t->partitions, &t->keys));
    assert_int_equal(t->keys.n_rows, n);
}

static void assert_keys(struct hd_op *op, struct table *t, const char *expected)
{
    const struct ArrowSchema field = {.format = "u", .name = "key"};

    ASSERT_ARRAY(&field, &t->keys.record_keys, expected);
}

/* The paths of all rows, blanks between; "!" for a row without. */
static void assert_paths(struct hd_op *op, struct table *t, const char *expected)
{
    struct hd_str out = {0};

    for (int64_t i = 0; i < t->keys.n_rows; i++) {
        const uint32_t number = t->keys.partitions[i];
        const struct hd_slice path = number == HD_NO_PARTITION
                                         ? hd_slice_text("!")
                                         : hd_partition_set_path(&t->partitions, number);

        OK(hd_str_printf(op, &out, "%s%.*s", i == 0 ? "" : " ", (int)path.size,
                         (const char *)path.data));
    }
    assert_string_equal(hd_str_text(&out), expected);
    hd_str_clear(&out);
}

#define APPLY(...)                                                                                 \
    do {                                                                                           \
        const char *const rows_[] = {__VA_ARGS__};                                                 \
        apply(op, &t, rows_, (int)HD_ARRAY_LENGTH(rows_));                                         \
    } while (0)

static void assert_failure(struct table *t, size_t i, int64_t row, const char *reason)
{
    assert_true(i < t->keys.n_failures);
    assert_int_equal(t->keys.failures[i].row, row);
    assert_string_equal(t->keys.failures[i].reason, reason);
}

static void assert_refused(struct hd_op *op, hudi_status status, hudi_status expected,
                           const char *message)
{
    assert_int_equal(status, expected);
    assert_non_null(op->error);
    if (strstr(hudi_error_message(op->error), message) == NULL)
        fail_msg("%s", hudi_error_message(op->error));
    hd_op_clear_error(op);
}

/* ---- record keys -------------------------------------------------------------------------- */

static void a_key_of_one_text_column_shares_its_buffers(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    table_init(&t, HD_KEYGEN_SIMPLE, "id", "part");
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("id=\"a\";part=\"x\"", "id=\"bb\";part=\"y\"", "id=\"c\";part=\"x\"");
    assert_keys(op, &t, "[\"a\", \"bb\", \"c\"]");
    assert_paths(op, &t, "x y x");
    assert_int_equal(t.keys.n_failures, 0);
    assert_ptr_equal(t.keys.record_keys.buffers[2], t.batch.children[0]->buffers[2]);

    struct ArrowArray shifted = t.batch;
    hd_keys_clear(op, &t.keys);
    t.batch = (struct ArrowArray){0};
    t.batch = test_shifted(op, &t.schema.root, &shifted);
    OK(hd_key_generator_apply(op, t.generator, &t.batch, &t.arena, &t.partitions, &t.keys));
    assert_keys(op, &t, "[\"a\", \"bb\", \"c\"]");
    assert_paths(op, &t, "x y x");
    table_clear(op, &t);
}

static void a_simple_key_that_is_null_or_empty_fails_its_row(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    table_init(&t, HD_KEYGEN_SIMPLE, "id", "part");
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("id=\"a\";part=\"x\"", "part=\"x\"", "id=\"\";part=\"y\"", "id=\"d\"");
    assert_keys(op, &t, "[\"a\", \"\", \"\", \"d\"]");
    assert_paths(op, &t, "x x y __HIVE_DEFAULT_PARTITION__");
    assert_int_equal(t.keys.n_failures, 2);
    assert_failure(&t, 0, 1, "record key field \"id\" is null");
    assert_failure(&t, 1, 2, "record key field \"id\" is empty");

    APPLY("id=\"a\"", "id=\"\"");
    assert_int_equal(t.keys.n_failures, 1);
    assert_failure(&t, 0, 1, "record key field \"id\" is empty");
    table_clear(op, &t);
}

static void keys_of_other_types_are_the_texts_java_has(void **state)
{
    struct hd_op *op = *state;
    static const struct {
        const char *field, *row, *key;
    } cases[] = {
        {"n", "n=-5", "[\"-5\"]"},
        {"l", "l=-9223372036854775808", "[\"-9223372036854775808\"]"},
        {"dbl", "dbl=1", "[\"1.0\"]"},
        {"dbl", "dbl=1e10", "[\"1.0E10\"]"},
        {"dbl", "dbl=2e23", "[\"1.9999999999999998E23\"]"},
        {"f", "f=0.1", "[\"0.1\"]"},
        {"flag", "flag=true", "[\"true\"]"},
        {"day", "day=19724", "[\"2024-01-02\"]"},
        {"day", "day=-1", "[\"1969-12-31\"]"},
        {"ms", "ms=1704067200000", "[\"1704067200000\"]"},
        {"us", "us=1704067200000000", "[\"1704067200000000\"]"},
        {"dec", "dec=1250", "[\"12.50\"]"},
        {"dec", "dec=-5", "[\"-0.05\"]"},
        {"nested.a", "nested=(\"in\", null)", "[\"in\"]"},
        {"nested.b.c", "nested=(null, (7))", "[\"7\"]"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct table t;

        table_init(&t, HD_KEYGEN_NON_PARTITION, cases[i].field, "");
        OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
        APPLY(cases[i].row);
        assert_keys(op, &t, cases[i].key);
        assert_paths(op, &t, "");
        table_clear(op, &t);
    }
}

static void consistent_timestamps_become_texts_of_sql_timestamps(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    table_init(&t, HD_KEYGEN_COMPLEX, "ms,us,local", "us");
    test_set(op, &t.c.options.set,
             "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled=true");
    t.c.config.url_encode_partitioning = true;
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("ms=1704067200500;us=1704070923000000;local=5");
    assert_keys(op, &t, "[\"ms:2024-01-01 00:00:00.5,us:2024-01-01 01:02:03.0,local:5\"]");
    assert_paths(op, &t, "2024-01-01 01%3A02%3A03.0");
    table_clear(op, &t);
}

static void complex_keys_name_their_fields_and_mark_null_and_empty(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    table_init(&t, HD_KEYGEN_COMPLEX, "id,n", "part");
    OK(make(op, &t, HD_COMPLEX_BARE));
    APPLY("id=\"a\";n=1", "id=\"\";n=2", "n=3", "id=\"1,b:2\"", "id=\"\"", "");
    assert_keys(op, &t,
                "[\"id:a,n:1\", \"id:__empty__,n:2\", \"id:__null__,n:3\", "
                "\"id:1,b:2,n:__null__\", \"\", \"\"]");
    assert_int_equal(t.keys.n_failures, 2);
    assert_failure(&t, 0, 4, "record key fields \"id\", \"n\" are all null or empty");
    assert_failure(&t, 1, 5, "record key fields \"id\", \"n\" are all null or empty");
    table_clear(op, &t);
}

static void the_table_decides_how_a_complex_key_of_one_field_looks(void **state)
{
    struct hd_op *op = *state;
    static const struct {
        enum hd_key_generator_type type;
        enum hd_complex_encoding encoding;
        const char *key;
    } cases[] = {
        {HD_KEYGEN_COMPLEX, HD_COMPLEX_WITH_FIELD, "[\"id:7\"]"},
        {HD_KEYGEN_COMPLEX, HD_COMPLEX_BARE, "[\"7\"]"},
        {HD_KEYGEN_SIMPLE, HD_COMPLEX_WITH_FIELD, "[\"7\"]"},
        {HD_KEYGEN_NON_PARTITION, HD_COMPLEX_WITH_FIELD, "[\"7\"]"},
        {HD_KEYGEN_GLOBAL_DELETE, HD_COMPLEX_BARE, "[\"id:7\"]"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct table t;

        table_init(&t, cases[i].type, "id", "part");
        OK(make(op, &t, cases[i].encoding));
        APPLY("id=\"7\";part=\"x\"");
        assert_keys(op, &t, cases[i].key);
        table_clear(op, &t);
    }
}

static void tables_without_key_fields_number_their_rows(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    table_init(&t, HD_KEYGEN_AUTO_RECORD, "", "part");
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    t.batch =
        test_array(op, &t.schema.root,
                   "[(null, null, null, null, null, null, null, null, null, null, null, null, "
                   "\"x\", null)]");
    assert_refused(
        op, hd_key_generator_apply(op, t.generator, &t.batch, &t.arena, &t.partitions, &t.keys),
        HUDI_INVALID, "no record key fields");
    OK(hd_key_generator_set_task(op, t.generator, "20240101000000000", 3));
    APPLY("part=\"x\"", "part=\"y\"");
    assert_keys(op, &t, "[\"20240101000000000_3_0\", \"20240101000000000_3_1\"]");
    APPLY("part=\"x\"");
    assert_keys(op, &t, "[\"20240101000000000_3_2\"]");
    assert_paths(op, &t, "x");
    table_clear(op, &t);
}

static void fields_that_cannot_be_keys_are_refused(void **state)
{
    struct hd_op *op = *state;
    static const struct {
        const char *keys, *partitions, *message;
    } cases[] = {
        {"nope", "part", "record key field \"nope\" is not in the schema"},
        {"id.x", "part", "record key field \"id.x\" is not in the schema"},
        {"id", "nested.z", "partition field \"nested.z\" is not in the schema"},
        {"bin", "part", "record key field \"bin\" is of type binary"},
        {"nested", "part", "record key field \"nested\" is of type struct"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct table t;

        table_init(&t, HD_KEYGEN_SIMPLE, cases[i].keys, cases[i].partitions);
        assert_refused(op, make(op, &t, HD_COMPLEX_WITH_FIELD), HUDI_INVALID, cases[i].message);
        assert_null(t.generator);
        table_clear(op, &t);
    }
    struct table t;

    table_init(&t, HD_KEYGEN_USER, "id", "part");
    t.c.config.key_generator_class = "com.example.Mine";
    assert_refused(op, make(op, &t, HD_COMPLEX_WITH_FIELD), HUDI_NOT_IMPLEMENTED,
                   "com.example.Mine");
    table_clear(op, &t);
}

static void stored_keys_are_made_again_without_partition_columns(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema text = {.format = "u", .name = "key"};
    struct ArrowSchema fields[] = {FIELD("u", "id"), FIELD("i", "n")};
    struct test_schema schema;
    struct ArrowArray keys = {0};
    struct table t;

    table_init(&t, HD_KEYGEN_COMPLEX, "id,n", "part");
    test_schema_init(&schema, fields, 2);
    OK(hd_record_key_generator_new(op, &t.c.config, NULL, &schema.root, HD_COMPLEX_WITH_FIELD,
                                   &t.generator));
    t.batch = test_array(op, &schema.root, "[(\"a\", 1), (null, 2)]");
    OK(hd_key_generator_record_keys(op, t.generator, &t.batch, &keys));
    ASSERT_ARRAY(&text, &keys, "[\"id:a,n:1\", \"id:__null__,n:2\"]");
    hd_array_clear(&keys);
    hd_array_clear(&t.batch);
    t.batch = test_array(op, &schema.root, "[(\"a\", 1), (null, null)]");
    assert_refused(op, hd_key_generator_record_keys(op, t.generator, &t.batch, &keys), HUDI_CORRUPT,
                   "row 1 of a batch: record key fields");
    assert_null(keys.release);
    table_clear(op, &t);
}

/* ---- partitions --------------------------------------------------------------------------- */

static void partition_values_are_encoded_as_hudi_does(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    /* what spark-0.15.0-cow-part-urlencode holds */
    table_init(&t, HD_KEYGEN_SIMPLE, "id", "part");
    t.c.config.hive_style_partitioning = true;
    t.c.config.url_encode_partitioning = true;
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("id=\"0\";part=\"a b\"", "id=\"1\";part=\"x/y\"", "id=\"2\";part=\"c=d\"",
          "id=\"3\";part=\"50%\"", "id=\"4\";part=\"\xc3\xbc-\xc3\xb6\"", "id=\"5\";part=\"q:r\"",
          "id=\"6\";part=\"s#t\"", "id=\"7\";part=\"\"", "id=\"8\"");
    assert_paths(op, &t,
                 "part=a b part=x%2Fy part=c%3Dd part=50%25 part=\xc3\xbc-\xc3\xb6 part=q%3Ar "
                 "part=s%23t part=__HIVE_DEFAULT_PARTITION__ part=__HIVE_DEFAULT_PARTITION__");
    assert_int_equal(t.keys.n_failures, 0);
    assert_int_equal(t.keys.partitions[7], t.keys.partitions[8]);
    table_clear(op, &t);
}

static void several_partition_fields_make_levels(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    table_init(&t, HD_KEYGEN_COMPLEX, "id", "part,day");
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("id=\"a\";part=\"x\";day=0", "id=\"b\";part=\"x\";day=0", "id=\"c\";part=\"x\"",
          "id=\"d\";day=1");
    assert_paths(op, &t,
                 "x/1970-01-01 x/1970-01-01 x/__HIVE_DEFAULT_PARTITION__ "
                 "__HIVE_DEFAULT_PARTITION__/1970-01-02");
    assert_int_equal(t.partitions.paths.n_entries, 3);
    table_clear(op, &t);
}

static void old_tables_call_the_null_partition_default(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    table_init(&t, HD_KEYGEN_SIMPLE, "id", "day");
    t.c.config.default_partition = "default";
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("id=\"a\";day=10957", "id=\"b\"", "id=\"c\"");
    assert_paths(op, &t, "2000-01-01 default default");
    table_clear(op, &t);
}

static void values_that_do_not_survive_as_a_path_fail_their_rows(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    table_init(&t, HD_KEYGEN_SIMPLE, "id", "part");
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("id=\"0\";part=\"with space\"", "id=\"1\";part=\"with-dash\"", "id=\"2\";part=\"eq=\"",
          "id=\"3\";part=\"pct%\"", "id=\"4\";part=\"plain\"", "id=\"5\";part=\"tail/\"",
          "id=\"6\";part=\"a/b\"", "id=\"7\";part=\"2007-09-26 13:14:35.981\"",
          "id=\"8\";part=\"..\"", "id=\"9\";part=\"a/../b\"", "id=\"10\";part=\"/etc\"",
          "id=\"11\";part=\"a//b\"", "id=\"12\";part=\".hoodie\"");
    assert_paths(op, &t, "with space with-dash eq= pct% plain ! a/b ! ! ! ! ! !");
    assert_int_equal(t.keys.n_failures, 7);
    assert_failure(
        &t, 0, 5,
        "partition field \"part\" value \"tail/\" begins or ends with '/' or holds \"//\"");
    assert_int_equal(t.keys.failures[1].row, 7);
    assert_non_null(strstr(t.keys.failures[1].reason, "holds ':'"));
    assert_failure(&t, 2, 8,
                   "partition field \"part\" value \"..\" begins with '.' and would be a hidden "
                   "folder");
    /* a row without key and partition fails once, for its key */
    APPLY("part=\"tail/\"", "id=\"1\";part=\"tail/\"");
    assert_int_equal(t.keys.n_failures, 2);
    assert_failure(&t, 0, 0, "record key field \"id\" is null");
    assert_int_equal(t.keys.failures[1].row, 1);
    table_clear(op, &t);

    table_init(&t, HD_KEYGEN_COMPLEX, "id", "part,n");
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("id=\"0\";part=\"a/b\";n=1");
    assert_int_equal(t.keys.n_failures, 1);
    assert_non_null(strstr(t.keys.failures[0].reason, "holds '/'"));
    table_clear(op, &t);
}

static void many_partitions_in_any_order_keep_their_numbers(void **state)
{
    struct hd_op *op = *state;
    enum { N = 3000 };
    struct hd_str text = {0};
    struct table t;

    table_init(&t, HD_KEYGEN_SIMPLE, "id", "n");
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    OK(hd_str_append_text(op, &text, "["));
    for (int i = 0; i < N; i++)
        OK(hd_str_printf(op, &text,
                         "(\"k\", %d, null, null, null, null, null, null, null, null, null, null, "
                         "null, null)",
                         i * 7919 % 1000));
    OK(hd_str_append_text(op, &text, "]"));
    t.batch = test_array(op, &t.schema.root, hd_str_text(&text));
    OK(hd_key_generator_apply(op, t.generator, &t.batch, &t.arena, &t.partitions, &t.keys));
    assert_int_equal(t.partitions.paths.n_entries, 1000);
    for (int i = 0; i < N; i++) {
        const struct hd_slice path = hd_partition_set_path(&t.partitions, t.keys.partitions[i]);
        char expected[20];

        snprintf(expected, sizeof(expected), "%d", i * 7919 % 1000);
        assert_true(hd_slice_equal(path, hd_slice_text(expected)));
    }
    hd_str_clear(&text);
    table_clear(op, &t);
}

static void times_are_formatted_into_folders(void **state)
{
    struct hd_op *op = *state;
    static const struct {
        const char *type, *zone, *output, *field, *row, *path;
    } cases[] = {
        /* the folders of spark-0.15.0-cow-ts-keygen */
        {"EPOCHMILLISECONDS", "UTC", "yyyy/MM/dd", "l", "l=1704110400000", "2024/01/01"},
        {"EPOCHMILLISECONDS", "GMT", "yyyy/MM/dd", "l", "l=1640995199000", "2021/12/31"},
        {"EPOCHMILLISECONDS", "GMT+8:00", "yyyy/MM/dd", "l", "l=1640995199000", "2022/01/01"},
        {"EPOCHMILLISECONDS", "GMT+8:00", "yyyy/MM/dd", "l", "", "1970/01/01"},
        {"UNIX_TIMESTAMP", "UTC", "yyyyMMdd-HH", "n", "n=1704067200", "20240101-00"},
        {"EPOCHMICROSECONDS", "UTC", "yyyy-MM-dd", "l", "l=1704067200000000", "2024-01-01"},
        {"UNIX_TIMESTAMP", "UTC", "yyyy", "dbl", "dbl=1704067199.9", "2023"},
        {"UNIX_TIMESTAMP", "Europe/Berlin", "MM-dd HH'h'", "l", "l=1711846799", "03-31 01h"},
        {"UNIX_TIMESTAMP", "Europe/Berlin", "MM-dd HH'h'", "l", "l=1711846800", "03-31 03h"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct table t;
        char pair[200];
        char row[200];

        table_init(&t, HD_KEYGEN_TIMESTAMP, "id", cases[i].field);
        snprintf(pair, sizeof(pair), "hoodie.keygen.timebased.timestamp.type=%s", cases[i].type);
        test_set(op, &t.c.config.properties, pair);
        snprintf(pair, sizeof(pair), "hoodie.keygen.timebased.timezone=%s", cases[i].zone);
        test_set(op, &t.c.config.properties, pair);
        snprintf(pair, sizeof(pair), "hoodie.keygen.timebased.output.dateformat=%s",
                 cases[i].output);
        test_set(op, &t.c.options.set, pair);
        OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
        snprintf(row, sizeof(row), "id=\"a\";%s", cases[i].row);
        APPLY(row);
        assert_paths(op, &t, cases[i].path);
        assert_int_equal(t.keys.n_failures, 0);
        table_clear(op, &t);
    }
}

static void scalars_have_a_unit(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    table_init(&t, HD_KEYGEN_TIMESTAMP, "id", "n");
    test_set(op, &t.c.options.set, "hoodie.keygen.timebased.timestamp.type=SCALAR");
    test_set(op, &t.c.options.set, "hoodie.keygen.timebased.timestamp.scalar.time.unit=DAYS");
    test_set(op, &t.c.options.set, "hoodie.keygen.timebased.output.dateformat=yyyy-MM-dd");
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("id=\"a\";n=20000", "id=\"b\";n=-1", "id=\"c\"");
    assert_paths(op, &t, "2024-10-04 1969-12-31 1970-01-02");
    table_clear(op, &t);
}

static void texts_of_dates_are_read_by_the_first_pattern_that_fits(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    table_init(&t, HD_KEYGEN_TIMESTAMP, "id", "part");
    test_set(op, &t.c.options.set, "hoodie.keygen.timebased.timestamp.type=DATE_STRING");
    test_set(op, &t.c.options.set,
             "hoodie.keygen.timebased.input.dateformat=yyyy-MM-dd'T'HH:mm:ssZ,"
             "yyyy-MM-dd'T'HH:mm:ss.SSSZ, yyyyMMdd");
    test_set(op, &t.c.options.set, "hoodie.keygen.timebased.output.dateformat=yyyyMMddHH");
    test_set(op, &t.c.options.set, "hoodie.keygen.timebased.output.timezone=UTC");
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("id=\"a\";part=\"2020-04-01T13:01:33Z\"", "id=\"b\";part=\"2020-04-01T13:01:33.428Z\"",
          "id=\"c\";part=\"2020-04-01T13:01:33-05:00\"", "id=\"d\";part=\"20200401\"",
          "id=\"e\";part=\"yesterday\"", "id=\"f\"");
    assert_paths(op, &t, "2020040113 2020040113 2020040118 2020040100 ! 1970010100");
    assert_int_equal(t.keys.n_failures, 1);
    assert_failure(&t, 0, 4,
                   "partition field \"part\" value \"yesterday\" is no time of the input format");
    table_clear(op, &t);
}

static void the_custom_generator_mixes_kinds(void **state)
{
    struct hd_op *op = *state;
    struct table t;

    /* spark-0.15.0-cow-custom-keygen: kinds in the option; spark-1.1.1: in the table */
    table_init(&t, HD_KEYGEN_CUSTOM, "id", "part,l");
    test_set(op, &t.c.config.properties,
             "hoodie.keygen.timebased.timestamp.type=EPOCHMILLISECONDS");
    test_set(op, &t.c.config.properties, "hoodie.keygen.timebased.output.dateformat=yyyyMMdd");
    assert_refused(op, make(op, &t, HD_COMPLEX_WITH_FIELD), HUDI_INVALID,
                   "hoodie.datasource.write.partitionpath.field says which");
    test_set(op, &t.c.options.set,
             "hoodie.datasource.write.partitionpath.field=part:SIMPLE,l:TIMESTAMP");
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("id=\"k0000\";part=\"north\";l=1704067200000");
    assert_keys(op, &t, "[\"k0000\"]");
    assert_paths(op, &t, "north/20240101");
    hd_key_generator_free(t.generator);
    hd_properties_clear(&t.c.options.set);
    t.c.options.set = (struct hd_properties){0};
    t.c.kinds[0] = "simple";
    t.c.kinds[1] = "timestamp";
    t.c.config.partition_kinds = t.c.kinds;
    OK(make(op, &t, HD_COMPLEX_WITH_FIELD));
    APPLY("id=\"k0001\";part=\"south\";l=1704088800000");
    assert_paths(op, &t, "south/20240101");
    table_clear(op, &t);
}

static void options_of_times_that_do_not_fit_are_refused(void **state)
{
    struct hd_op *op = *state;
    static const struct {
        const char *type, *output, *zone, *field;
        hudi_status status;
        const char *message;
    } cases[] = {
        {"SOMETIMES", "yyyy", "UTC", "l", HUDI_INVALID, "timestamp.type is \"SOMETIMES\""},
        {"UNIX_TIMESTAMP", "yyyy", "Mars/Olympus", "l", HUDI_INVALID, "Mars/Olympus"},
        {"UNIX_TIMESTAMP", "yyyy", "../../etc/passwd", "l", HUDI_INVALID, "is not known"},
        {"UNIX_TIMESTAMP", "yyyy", "UTC", "part", HUDI_INVALID, "partition field \"part\""},
        {"DATE_STRING", "yyyy", "UTC", "l", HUDI_INVALID, "input.dateformat is not set"},
        {"UNIX_TIMESTAMP", "yyyy-QQ", "UTC", "l", HUDI_NOT_IMPLEMENTED, "letter 'Q'"},
        {"UNIX_TIMESTAMP", "yyyy'x", "UTC", "l", HUDI_INVALID, "a quote without end"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct table t;
        char pair[200];

        table_init(&t, HD_KEYGEN_TIMESTAMP, "id", cases[i].field);
        snprintf(pair, sizeof(pair), "hoodie.keygen.timebased.timestamp.type=%s", cases[i].type);
        test_set(op, &t.c.options.set, pair);
        snprintf(pair, sizeof(pair), "hoodie.keygen.timebased.timezone=%s", cases[i].zone);
        test_set(op, &t.c.options.set, pair);
        snprintf(pair, sizeof(pair), "hoodie.keygen.timebased.output.dateformat=%s",
                 cases[i].output);
        test_set(op, &t.c.options.set, pair);
        assert_refused(op, make(op, &t, HD_COMPLEX_WITH_FIELD), cases[i].status, cases[i].message);
        table_clear(op, &t);
    }
}

/* ---- what a table has --------------------------------------------------------------------- */

static void stored_keys_say_how_a_complex_key_looks(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema field = FIELD("u", "key");
    static const struct {
        const char *keys;
        hudi_status status;
        int64_t n_seen;
        enum hd_complex_encoding encoding;
    } cases[] = {
        {"[\"id:7\", null, \"id:a:b,c\"]", HUDI_OK, 2, HD_COMPLEX_WITH_FIELD},
        {"[\"7\", \"idx:8\", \"id\"]", HUDI_OK, 3, HD_COMPLEX_BARE},
        {"[]", HUDI_OK, 0, HD_COMPLEX_WITH_FIELD},
        {"[\"id:7\", \"8\"]", HUDI_CONFLICT, 2, HD_COMPLEX_BARE},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct ArrowArray array = test_array(op, &field, cases[i].keys);
        struct hd_arena arena = {0};
        enum hd_complex_encoding encoding;
        struct hd_view view;
        int64_t n_seen = -1;

        OK(hd_view_open(op, &arena, &field, &array, &view));
        assert_int_equal(hd_complex_encoding_detect(op, "id", &view, &n_seen, &encoding),
                         cases[i].status);
        assert_int_equal(n_seen, cases[i].n_seen);
        if (cases[i].status == HUDI_OK)
            assert_int_equal(encoding, cases[i].encoding);
        else
            assert_non_null(strstr(hudi_error_message(op->error), "mixed"));
        hd_op_clear_error(op);
        hd_arena_clear(&arena);
        hd_array_clear(&array);
    }
}

static void running_out_of_memory_anywhere_is_reported(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;
    struct table t;

    table_init(&t, HD_KEYGEN_CUSTOM, "id,n", "part,l");
    t.c.config.url_encode_partitioning = true;
    test_set(op, &t.c.options.set,
             "hoodie.datasource.write.partitionpath.field=part:SIMPLE,l:TIMESTAMP");
    test_set(op, &t.c.options.set, "hoodie.keygen.timebased.timestamp.type=EPOCHMILLISECONDS");
    test_set(op, &t.c.options.set, "hoodie.keygen.timebased.output.dateformat=yyyy/MM/dd");
    test_set(op, &t.c.options.set, "hoodie.keygen.timebased.timezone=Europe/Berlin");
    t.batch =
        test_array(op, &t.schema.root,
                   "[(\"a\", 1, 5, null, null, null, null, null, null, null, null, null, "
                   "\"x:y\", null), (null, null, 6, null, null, null, null, null, null, null, "
                   "null, null, null, null)]");
    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        status = make(op, &t, HD_COMPLEX_WITH_FIELD);
        if (status == HUDI_OK)
            status =
                hd_key_generator_apply(op, t.generator, &t.batch, &t.arena, &t.partitions, &t.keys);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        if (status != HUDI_OK) {
            assert_null(t.keys.record_keys.release);
            hd_key_generator_free(t.generator);
            t.generator = NULL;
        }
    }
    test_fault_disarm(op);
    assert_keys(op, &t, "[\"id:a,n:1\", \"\"]");
    assert_paths(op, &t, "x%3Ay/1970%2F01%2F01 __HIVE_DEFAULT_PARTITION__/1970%2F01%2F01");
    table_clear(op, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_key_of_one_text_column_shares_its_buffers),
        TEST(a_simple_key_that_is_null_or_empty_fails_its_row),
        TEST(keys_of_other_types_are_the_texts_java_has),
        TEST(consistent_timestamps_become_texts_of_sql_timestamps),
        TEST(complex_keys_name_their_fields_and_mark_null_and_empty),
        TEST(the_table_decides_how_a_complex_key_of_one_field_looks),
        TEST(tables_without_key_fields_number_their_rows),
        TEST(fields_that_cannot_be_keys_are_refused),
        TEST(stored_keys_are_made_again_without_partition_columns),
        TEST(partition_values_are_encoded_as_hudi_does),
        TEST(several_partition_fields_make_levels),
        TEST(old_tables_call_the_null_partition_default),
        TEST(values_that_do_not_survive_as_a_path_fail_their_rows),
        TEST(many_partitions_in_any_order_keep_their_numbers),
        TEST(times_are_formatted_into_folders),
        TEST(scalars_have_a_unit),
        TEST(texts_of_dates_are_read_by_the_first_pattern_that_fits),
        TEST(the_custom_generator_mixes_kinds),
        TEST(options_of_times_that_do_not_fit_are_refused),
        TEST(stored_keys_say_how_a_complex_key_looks),
        TEST(running_out_of_memory_anywhere_is_reported),
    };

    return cmocka_run_group_tests_name("key_generator", tests, NULL, NULL);
}
