/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/avro_schema.h"
#include "support/fault.h"
#include "unit/codec/corpus.h"

/* Everything that is kept, as Avro Java prints it. */
static const char FULL[] =
    "{\"type\":\"record\",\"name\":\"R\",\"namespace\":\"a.b\",\"doc\":\"the \\\"record\\\"\","
    "\"fields\":["
    "{\"name\":\"s\",\"type\":{\"type\":\"string\",\"avro.java.string\":\"String\"},\"doc\":\"d\","
    "\"default\":\"x\",\"order\":\"ignore\",\"aliases\":[\"t\"],\"custom\":{\"k\":[1,2.5,null]}},"
    "{\"name\":\"u\",\"type\":[\"null\",\"long\"],\"default\":null},"
    "{\"name\":\"day\",\"type\":{\"type\":\"int\",\"logicalType\":\"date\"}},"
    "{\"name\":\"at\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}},"
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"double\"}},"
    "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"Item\","
    "\"fields\":[{\"name\":\"self\",\"type\":[\"null\",\"Item\"],\"default\":null}]}}},"
    "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"E\",\"namespace\":\"c\","
    "\"symbols\":[\"A\",\"B\"],\"default\":\"A\",\"aliases\":[\"F\"]}},"
    "{\"name\":\"d\",\"type\":{\"type\":\"fixed\",\"name\":\"D\",\"size\":5,"
    "\"logicalType\":\"decimal\",\"precision\":10,\"scale\":2}},"
    "{\"name\":\"again\",\"type\":[\"c.E\",\"D\",\"null\"],\"default\":\"A\"},"
    "{\"name\":\"odd\",\"type\":{\"type\":\"bytes\",\"logicalType\":\"duration\"}}"
    "],\"prop\":true}";

static struct hd_avro_schema *parse(struct hd_op *op, struct hd_arena *arena, const char *json)
{
    struct hd_avro_schema *schema;

    assert_int_equal(hd_avro_schema_parse(op, arena, hd_slice_text(json), &schema), HUDI_OK);
    return schema;
}

static void formats_to(struct hd_op *op, const struct hd_avro_schema *schema, const char *json)
{
    struct hd_str text = {0};

    assert_int_equal(hd_avro_schema_format(op, schema, &text), HUDI_OK);
    assert_string_equal(text.data, json);
    hd_str_clear(&text);
}

static void keeps_everything_from_text_to_text(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};

    formats_to(op, parse(op, &arena, FULL), FULL);
    formats_to(op, parse(op, &arena, "\"int\""), "\"int\"");
    formats_to(op, parse(op, &arena, "{\"type\":\"int\"}"), "\"int\"");
    formats_to(op, parse(op, &arena, "{\"type\":{\"type\":\"int\"}}"), "\"int\"");
    formats_to(op, parse(op, &arena, "[]"), "[]");
    formats_to(op, parse(op, &arena, "{\"type\":\"fixed\",\"name\":\"x.y.F\",\"size\":0}"),
               "{\"type\":\"fixed\",\"name\":\"F\",\"namespace\":\"x.y\",\"size\":0}");
    hd_arena_clear(&arena);
}

static void strings_and_maps_are_said_to_be_those_of_java(void **state)
{
#define JAVA "\"avro.java.string\":\"String\""
    static const struct {
        const char *json, *java;
    } CELLS[] = {
        {"\"string\"", "{\"type\":\"string\"," JAVA "}"},
        {"{\"type\":\"string\"," JAVA "}", "{\"type\":\"string\"," JAVA "}"},
        {"{\"type\":\"map\",\"values\":\"long\"}",
         "{\"type\":\"map\",\"values\":\"long\"," JAVA "}"},
        {"[\"null\",{\"type\":\"array\",\"items\":\"string\"}]",
         "[\"null\",{\"type\":\"array\",\"items\":{\"type\":\"string\"," JAVA "}}]"},
        {"{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"s\",\"type\":\"string\","
         "\"default\":\"x\"},{\"name\":\"b\",\"type\":\"bytes\"}]}",
         "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"s\",\"type\":{\"type\":"
         "\"string\"," JAVA "},\"default\":\"x\"},{\"name\":\"b\",\"type\":\"bytes\"}]}"},
    };
    struct hd_op *op = *state;
    struct hd_arena arena = {0};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CELLS); i++) {
        struct hd_str text = {0};

        assert_int_equal(hd_avro_schema_format_java(op, parse(op, &arena, CELLS[i].json), &text),
                         HUDI_OK);
        assert_string_equal(hd_str_text(&text), CELLS[i].java);
        hd_str_clear(&text);
    }
    hd_arena_clear(&arena);
#undef JAVA
}

static void sees_types_names_and_meanings(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *r = parse(op, &arena, FULL);

    assert_int_equal(r->type, HD_AVRO_RECORD);
    assert_string_equal(r->full_name, "a.b.R");
    assert_int_equal(r->n_fields, 10);
    assert_string_equal(r->fields[0].default_json, "\"x\"");
    assert_string_equal(r->fields[0].schema->properties.entries[0].key, "avro.java.string");
    assert_string_equal(r->fields[0].properties.entries[0].json, "{\"k\":[1,2.5,null]}");
    assert_string_equal(r->fields[0].aliases[0], "t");
    assert_int_equal(hd_avro_schema_field(r, "day")->schema->logical, HD_AVRO_DATE);
    assert_int_equal(hd_avro_schema_field(r, "at")->schema->logical, HD_AVRO_TIMESTAMP_MICROS);

    const struct hd_avro_schema *item = hd_avro_schema_field(r, "l")->schema->items;
    assert_string_equal(item->full_name, "a.b.Item");
    assert_ptr_equal(item->fields[0].schema->branches[1], item);

    const struct hd_avro_schema *decimal = hd_avro_schema_field(r, "d")->schema;
    assert_int_equal(decimal->logical, HD_AVRO_DECIMAL);
    assert_int_equal(decimal->precision, 10);
    assert_int_equal(decimal->scale, 2);
    assert_int_equal(decimal->fixed_bytes, 5);
    assert_ptr_equal(hd_avro_schema_field(r, "again")->schema->branches[1], decimal);
    assert_string_equal(hd_avro_schema_field(r, "e")->schema->full_name, "c.E");
    assert_int_equal(hd_avro_schema_field(r, "odd")->schema->logical, HD_AVRO_PLAIN);
    assert_int_equal(hd_avro_schema_field_index(r, hd_slice_text("u")), 1);
    assert_int_equal(hd_avro_schema_field_index(r, hd_slice_text("se")), -1);
    assert_null(hd_avro_schema_field(r, "missing"));
    hd_arena_clear(&arena);
}

static void knows_all_logical_types_and_leaves_those_that_do_not_fit(void **state)
{
    static const struct {
        const char *json;
        enum hd_avro_logical logical;
    } VECTORS[] = {
        {"{\"type\":\"int\",\"logicalType\":\"time-millis\"}", HD_AVRO_TIME_MILLIS},
        {"{\"type\":\"long\",\"logicalType\":\"time-micros\"}", HD_AVRO_TIME_MICROS},
        {"{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}", HD_AVRO_TIMESTAMP_MILLIS},
        {"{\"type\":\"long\",\"logicalType\":\"timestamp-nanos\"}", HD_AVRO_TIMESTAMP_NANOS},
        {"{\"type\":\"long\",\"logicalType\":\"local-timestamp-millis\"}",
         HD_AVRO_LOCAL_TIMESTAMP_MILLIS},
        {"{\"type\":\"long\",\"logicalType\":\"local-timestamp-micros\"}",
         HD_AVRO_LOCAL_TIMESTAMP_MICROS},
        {"{\"type\":\"long\",\"logicalType\":\"local-timestamp-nanos\"}",
         HD_AVRO_LOCAL_TIMESTAMP_NANOS},
        {"{\"type\":\"string\",\"logicalType\":\"uuid\"}", HD_AVRO_UUID},
        {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":38,\"scale\":18}",
         HD_AVRO_DECIMAL},
        {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":16,\"logicalType\":\"decimal\","
         "\"precision\":38,\"scale\":0}",
         HD_AVRO_DECIMAL},
        {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":16,\"logicalType\":\"decimal\","
         "\"precision\":39,\"scale\":0}",
         HD_AVRO_PLAIN}, /* 2^127 has 39 digits, not all of 39 */
        {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":2,\"scale\":3}",
         HD_AVRO_PLAIN},
        {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":0}", HD_AVRO_PLAIN},
        {"{\"type\":\"bytes\",\"logicalType\":\"decimal\"}", HD_AVRO_PLAIN},
        {"{\"type\":\"int\",\"logicalType\":\"timestamp-millis\"}", HD_AVRO_PLAIN},
        {"{\"type\":\"string\",\"logicalType\":\"date\"}", HD_AVRO_PLAIN},
        {"{\"type\":\"long\",\"logicalType\":7}", HD_AVRO_PLAIN},
    };
    struct hd_op *op = *state;
    struct hd_arena arena = {0};

    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        struct hd_avro_schema *schema = parse(op, &arena, VECTORS[i].json);

        assert_int_equal(schema->logical, VECTORS[i].logical);
        formats_to(op, schema, VECTORS[i].json);
    }
    struct hd_avro_schema *decimal =
        parse(op, &arena, "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4}");
    assert_int_equal(decimal->logical, HD_AVRO_DECIMAL);
    assert_int_equal(decimal->scale, 0);
    hd_arena_clear(&arena);
}

/* A name without dots is looked for in the name space around it, then as it is. */
static void finds_names_in_the_space_around_them(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *r =
        parse(op, &arena,
              "{\"type\":\"record\",\"name\":\"x.R\",\"fields\":["
              "{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":1}},"
              "{\"name\":\"b\",\"type\":{\"type\":\"fixed\",\"name\":\"G\",\"namespace\":\"\","
              "\"size\":2}},"
              "{\"name\":\"c\",\"type\":\"F\"},{\"name\":\"d\",\"type\":\"x.F\"},"
              "{\"name\":\"e\",\"type\":\"G\"},{\"name\":\"f\",\"type\":{\"type\":\"F\"}}]}");

    assert_string_equal(r->fields[0].schema->full_name, "x.F");
    assert_string_equal(r->fields[1].schema->full_name, "G");
    assert_ptr_equal(r->fields[2].schema, r->fields[0].schema);
    assert_ptr_equal(r->fields[3].schema, r->fields[0].schema);
    assert_ptr_equal(r->fields[4].schema, r->fields[1].schema);
    assert_ptr_equal(r->fields[5].schema, r->fields[0].schema);
    hd_arena_clear(&arena);
}

static void refuses_what_is_no_schema(void **state)
{
    static const char *const BAD[] = {
        "",
        "7",
        "null",
        "\"text\"",
        "{}",
        "{\"type\":\"thing\"}",
        "{\"type\":7}",
        "{\"type\":\"array\"}",
        "{\"type\":\"map\"}",
        "{\"type\":\"record\",\"name\":\"R\"}",
        "{\"type\":\"record\",\"fields\":[]}",
        "{\"type\":\"record\",\"name\":\"\",\"fields\":[]}",
        "{\"type\":\"record\",\"name\":\"a.\",\"fields\":[]}",
        "{\"type\":\"record\",\"name\":\"int\",\"fields\":[]}",
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[7]}",
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"type\":\"int\"}]}",
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\"}]}",
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"},"
        "{\"name\":\"a\",\"type\":\"int\"}]}",
        "{\"type\":\"record\",\"name\":\"R\\u0000\",\"fields\":[]}",
        "{\"type\":\"enum\",\"name\":\"E\"}",
        "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[1]}",
        "{\"type\":\"fixed\",\"name\":\"F\"}",
        "{\"type\":\"fixed\",\"name\":\"F\",\"size\":-1}",
        "{\"type\":\"fixed\",\"name\":\"F\",\"size\":2147483648}",
        "[[\"int\"]]",
        "[{\"type\":\"fixed\",\"name\":\"F\",\"size\":1},{\"type\":\"fixed\",\"name\":\"F\","
        "\"size\":1}]",
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct hd_arena arena = {0};
        struct hd_avro_schema *schema;

        assert_int_equal(hd_avro_schema_parse(op, &arena, hd_slice_text(BAD[i]), &schema),
                         HUDI_CORRUPT);
        assert_null(schema);
        hd_op_clear_error(op);
        hd_arena_clear(&arena);
    }
}

static void refuses_records_without_end(void **state)
{
    static const char *const BAD[] = {
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"r\",\"type\":\"R\"}]}",
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"s\",\"type\":{\"type\":"
        "\"record\",\"name\":\"S\",\"fields\":[{\"name\":\"r\",\"type\":\"R\"}]}}]}",
    };
    static const char *const GOOD[] = {
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"r\",\"type\":{\"type\":"
        "\"array\",\"items\":\"R\"}}]}",
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"s\",\"type\":[\"null\",{"
        "\"type\":\"record\",\"name\":\"S\",\"fields\":[{\"name\":\"r\",\"type\":\"R\"}]}]}]}",
    };
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema;

    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(hd_avro_schema_parse(op, &arena, hd_slice_text(BAD[i]), &schema),
                         HUDI_CORRUPT);
        hd_op_clear_error(op);
        assert_int_equal(parse(op, &arena, GOOD[i])->min_bytes, 1);
    }
    hd_arena_clear(&arena);
}

/* Records of two records each, thirty levels: a text of some KB, a value of 2^30 nulls. */
static void refuses_values_of_many_parts_without_bytes(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_str text = {0};
    struct hd_avro_schema *schema;

    assert_int_equal(hd_str_append_text(op, &text,
                                        "{\"type\":\"record\",\"name\":\"Top\",\"fields\":["
                                        "{\"name\":\"f\",\"type\":{\"type\":\"record\",\"name\":"
                                        "\"R0\",\"fields\":[{\"name\":\"n\",\"type\":\"null\"}]}}"),
                     HUDI_OK);
    for (int i = 1; i <= 30; i++)
        assert_int_equal(hd_str_printf(op, &text,
                                       ",{\"name\":\"f%d\",\"type\":{\"type\":\"record\",\"name\":"
                                       "\"R%d\",\"fields\":[{\"name\":\"a\",\"type\":\"R%d\"},"
                                       "{\"name\":\"b\",\"type\":\"R%d\"}]}}",
                                       i, i, i - 1, i - 1),
                         HUDI_OK);
    assert_int_equal(hd_str_append_text(op, &text, "]}"), HUDI_OK);
    assert_int_equal(hd_avro_schema_parse(op, &arena, hd_str_slice(&text), &schema), HUDI_CORRUPT);
    hd_op_clear_error(op);
    hd_str_clear(&text);
    hd_arena_clear(&arena);
}

static void bounds_the_nesting(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};

    for (int levels = HD_AVRO_MAX_DEPTH; levels <= HD_AVRO_MAX_DEPTH + 1; levels++) {
        struct hd_str text = {0};
        struct hd_avro_schema *schema;

        for (int i = 0; i < levels; i++)
            assert_int_equal(hd_str_append_text(op, &text, "{\"type\":\"array\",\"items\":"),
                             HUDI_OK);
        assert_int_equal(hd_str_append_text(op, &text, "\"int\""), HUDI_OK);
        for (int i = 0; i < levels; i++)
            assert_int_equal(hd_str_append_text(op, &text, "}"), HUDI_OK);
        assert_int_equal(hd_avro_schema_parse(op, &arena, hd_str_slice(&text), &schema),
                         levels == HD_AVRO_MAX_DEPTH ? HUDI_OK : HUDI_CORRUPT);
        if (schema != NULL)
            formats_to(op, schema, text.data);
        hd_op_clear_error(op);
        hd_str_clear(&text);
    }
    hd_arena_clear(&arena);
}

static bool equal(struct hd_op *op, const char *a, const char *b)
{
    struct hd_arena arena = {0};
    bool result;

    assert_int_equal(hd_avro_schema_equal(op, parse(op, &arena, a), parse(op, &arena, b), &result),
                     HUDI_OK);
    hd_arena_clear(&arena);
    return result;
}

static void equality_looks_at_bytes_and_meaning_alone(void **state)
{
    struct hd_op *op = *state;

    assert_true(equal(op, FULL, FULL));
    assert_true(equal(op, "\"string\"",
                      "{\"type\":\"string\",\"avro.java.string\":\"String\",\"doc\":\"x\"}"));
    assert_true(equal(op, "{\"type\":\"fixed\",\"name\":\"a.F\",\"size\":1,\"doc\":\"x\"}",
                      "{\"type\":\"fixed\",\"name\":\"F\",\"namespace\":\"a\",\"size\":1}"));
    assert_false(equal(op, "\"string\"", "\"bytes\""));
    assert_false(equal(op, "\"long\"", "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}"));
    assert_false(equal(op, "[\"null\",\"int\"]", "[\"int\",\"null\"]"));
    assert_false(equal(op, "{\"type\":\"fixed\",\"name\":\"F\",\"size\":1}",
                       "{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}"));
    assert_false(equal(op, "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]}",
                       "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"B\"]}"));
    assert_false(equal(
        op, "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}",
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"b\",\"type\":\"int\"}]}"));
    assert_false(equal(
        op, "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}",
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"int\","
        "\"default\":1}]}"));
}

static void trees_may_be_built_by_hand(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *at, *nullable;
    bool can_be_null;

    assert_int_equal(hd_avro_schema_new(op, &arena, HD_AVRO_LONG, HD_AVRO_TIMESTAMP_MICROS, &at),
                     HUDI_OK);
    assert_int_equal(hd_avro_schema_nullable(op, &arena, at, &nullable), HUDI_OK);
    struct hd_avro_field fields[] = {{.name = "at", .default_json = "null", .schema = nullable}};
    struct hd_avro_schema record = {.type = HD_AVRO_RECORD,
                                    .name = "R",
                                    .name_space = "n",
                                    .full_name = "n.R",
                                    .fields = fields,
                                    .n_fields = 1};
    assert_int_equal(hd_avro_schema_finish(op, &record), HUDI_OK);
    assert_int_equal(record.min_bytes, 1);
    formats_to(op, &record,
               "{\"type\":\"record\",\"name\":\"R\",\"namespace\":\"n\",\"fields\":[{\"name\":"
               "\"at\",\"type\":[\"null\",{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}]"
               ",\"default\":null}]}");
    assert_ptr_equal(hd_avro_schema_unwrap(nullable, &can_be_null), at);
    assert_true(can_be_null);
    assert_ptr_equal(hd_avro_schema_unwrap(at, &can_be_null), at);
    assert_false(can_be_null);
    hd_arena_clear(&arena);
}

static void names_are_checked_by_the_rule_of_avro(void **state)
{
    (void)state;
    assert_true(hd_avro_name_valid(hd_slice_text("_a1B")));
    assert_false(hd_avro_name_valid(hd_slice_text("")));
    assert_false(hd_avro_name_valid(hd_slice_text("1a")));
    assert_false(hd_avro_name_valid(hd_slice_text("$c")));
    assert_false(hd_avro_name_valid(hd_slice_text("a-b")));
    assert_false(hd_avro_name_valid(hd_slice_text("a.b")));
    assert_false(hd_avro_name_valid(hd_slice_text("\xc3\xa9")));
}

static void refuses_every_truncation(void **state)
{
    struct hd_op *op = *state;

    for (size_t n = 0; n < sizeof FULL - 1; n++) {
        struct hd_slice cut = test_cut(hd_slice_text(FULL), n);
        struct hd_arena arena = {0};
        struct hd_avro_schema *schema;

        assert_int_equal(hd_avro_schema_parse(op, &arena, cut, &schema), HUDI_CORRUPT);
        assert_null(schema);
        hd_op_clear_error(op);
        hd_arena_clear(&arena);
        test_slice_free(cut);
    }
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_arena arena = {0};
        struct hd_avro_schema *schema;
        struct hd_str text = {0};
        bool same;

        test_fault_arm(op, nth);
        status = hd_avro_schema_parse(op, &arena, hd_slice_text(FULL), &schema);
        if (status == HUDI_OK)
            status = hd_avro_schema_format(op, schema, &text);
        if (status == HUDI_OK)
            status = hd_avro_schema_equal(op, schema, schema, &same);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_str_clear(&text);
        hd_arena_clear(&arena);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keeps_everything_from_text_to_text),
        TEST(strings_and_maps_are_said_to_be_those_of_java),
        TEST(sees_types_names_and_meanings),
        TEST(knows_all_logical_types_and_leaves_those_that_do_not_fit),
        TEST(finds_names_in_the_space_around_them),
        TEST(refuses_what_is_no_schema),
        TEST(refuses_records_without_end),
        TEST(refuses_values_of_many_parts_without_bytes),
        TEST(bounds_the_nesting),
        TEST(equality_looks_at_bytes_and_meaning_alone),
        TEST(trees_may_be_built_by_hand),
        TEST(names_are_checked_by_the_rule_of_avro),
        TEST(refuses_every_truncation),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
