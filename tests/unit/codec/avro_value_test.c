/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/avro.h"
#include "codec/avro_value.h"
#include "support/fault.h"
#include "unit/codec/corpus.h"

static struct hd_avro_schema *parse(struct hd_op *op, struct hd_arena *arena, const char *json)
{
    struct hd_avro_schema *schema;

    assert_int_equal(hd_avro_schema_parse(op, arena, hd_slice_text(json), &schema), HUDI_OK);
    return schema;
}

/* Timeline files that Spark wrote with Hudi 1.1.1. */
static const char *const FILES[] = {"avro_container/hudi-1.1.1-restore-requested",
                                    "avro_container/hudi-1.1.1-savepoint",
                                    "avro_container/hudi-1.1.1-indexing-requested"};

static void reads_a_restore_plan_of_hudi(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_slice file = test_corpus(FILES[0]), text;
    struct hd_avro_value plan;
    const struct hd_avro_value *instants;
    int64_t version;

    assert_int_equal(hd_avro_read_single(op, &arena, file, &plan), HUDI_OK);
    test_slice_free(file); /* everything was copied */
    assert_string_equal(plan.schema->full_name, "org.apache.hudi.avro.model.HoodieRestorePlan");
    assert_int_equal(hd_avro_get_long(op, &plan, "version", &version), HUDI_OK);
    assert_int_equal(version, 2);
    assert_int_equal(hd_avro_find_string(op, &plan, "savepointToRestoreTimestamp", &text), HUDI_OK);
    assert_string_equal((const char *)text.data, "20261130142025868");
    assert_int_equal(
        hd_avro_find_container(op, &plan, "instantsToRollback", HD_AVRO_ARRAY, &instants), HUDI_OK);
    assert_int_equal(instants->n_items, 2);
    assert_int_equal(hd_avro_get_string(op, &instants->items[0], "commitTime", &text), HUDI_OK);
    assert_string_equal((const char *)text.data, "20261130142049243");
    assert_int_equal(hd_avro_get_string(op, &instants->items[1], "action", &text), HUDI_OK);
    assert_string_equal((const char *)text.data, "commit");
    hd_arena_clear(&arena);
}

static void reads_a_savepoint_of_hudi(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_slice file = test_corpus(FILES[1]), text;
    struct hd_avro_value savepoint;
    const struct hd_avro_value *partitions, *files;

    assert_int_equal(hd_avro_read_single(op, &arena, file, &savepoint), HUDI_OK);
    assert_int_equal(
        hd_avro_find_container(op, &savepoint, "partitionMetadata", HD_AVRO_MAP, &partitions),
        HUDI_OK);
    assert_int_equal(partitions->n_items, 2);
    const struct hd_avro_value *north = hd_avro_value_lookup(partitions, "north");
    assert_int_equal(hd_avro_get_string(op, north, "partitionPath", &text), HUDI_OK);
    assert_string_equal((const char *)text.data, "north");
    assert_int_equal(hd_avro_find_container(op, north, "savepointDataFile", HD_AVRO_ARRAY, &files),
                     HUDI_OK);
    assert_int_equal(files->n_items, 1);
    assert_int_equal(hd_avro_as_string(op, &files->items[0], "file", &text), HUDI_OK);
    assert_string_equal((const char *)text.data, "57c9fe48-2765-4dc3-bf40-2e7c0134f29b-0_1-2967-"
                                                 "5180_20261130142025868.parquet");
    assert_null(hd_avro_value_lookup(partitions, "west"));
    test_slice_free(file);
    hd_arena_clear(&arena);
}

/* Hudi's writer and ours put the same bytes for the same record. */
static void writes_the_records_of_hudi_byte_for_byte(void **state)
{
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        struct hd_arena arena = {0};
        struct hd_slice file = test_corpus(FILES[i]);
        struct hd_str schema_json = {0}, record = {0}, again = {0};
        struct hd_avro_container container;
        struct hd_avro_value value;

        assert_int_equal(hd_avro_read_single(op, &arena, file, &value), HUDI_OK);
        assert_int_equal(hd_avro_container_open(op, file, &container), HUDI_OK);
        assert_int_equal(hd_avro_schema_format(op, value.schema, &schema_json), HUDI_OK);
        assert_true(hd_slice_equal(hd_str_slice(&schema_json), container.schema_json));
        assert_int_equal(hd_avro_write_value(op, value.schema, &value, &record), HUDI_OK);
        assert_int_equal(hd_avro_container_write(op, hd_str_slice(&schema_json),
                                                 hd_str_slice(&record), 1, container.sync, &again),
                         HUDI_OK);
        assert_true(hd_slice_equal(hd_str_slice(&again), file));
        hd_avro_container_clear(&container);
        hd_str_clear(&schema_json);
        hd_str_clear(&record);
        hd_str_clear(&again);
        test_slice_free(file);
        hd_arena_clear(&arena);
    }
}

static const char PLAN[] =
    "{\"type\":\"record\",\"name\":\"Plan\",\"fields\":["
    "{\"name\":\"groups\",\"type\":[\"null\",{\"type\":\"array\",\"items\":{\"type\":\"record\","
    "\"name\":\"Group\",\"fields\":[{\"name\":\"id\",\"type\":[\"null\",\"string\"]},"
    "{\"name\":\"metrics\",\"type\":[\"null\",{\"type\":\"map\",\"values\":\"double\"}],"
    "\"default\":null}]}}],\"default\":null},"
    "{\"name\":\"policy\",\"type\":\"string\"},"
    "{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1},"
    "{\"name\":\"tags\",\"type\":{\"type\":\"array\",\"items\":\"string\"},"
    "\"default\":[\"a\",\"b\"]}]}";

static hudi_status make_plan(struct hd_op *op, struct hd_arena *arena,
                             const struct hd_avro_schema *schema, struct hd_avro_value *plan)
{
    struct hd_avro_value groups, metrics, *group;

    HD_TRY(hd_avro_record_new(op, arena, schema, plan));
    HD_TRY(hd_avro_set(op, plan, "policy", hd_avro_string_value(hd_slice_text("P"))));
    HD_TRY(hd_avro_array_new(op, arena, 1, &groups));
    group = &groups.items[0];
    HD_TRY(hd_avro_record_new(
        op, arena, hd_avro_schema_of_items(hd_avro_schema_of_field(schema, "groups")), group));
    HD_TRY(hd_avro_set(op, group, "id", hd_avro_string_value(hd_slice_text("g"))));
    HD_TRY(hd_avro_map_new(op, arena, 1, &metrics));
    metrics.keys[0] = hd_slice_text("IO");
    metrics.items[0] = hd_avro_long_value(2); /* as double */
    HD_TRY(hd_avro_set(op, group, "metrics", metrics));
    return hd_avro_set(op, plan, "groups", groups);
}

static void makes_records_from_defaults_and_fields_by_name(void **state)
{
    static const char EXPECTED[] = "\x02\x02"           /* groups: branch 1, one item */
                                   "\x02\x02g"          /* id */
                                   "\x02\x02\x04IO"     /* metrics: branch 1, one entry */
                                   "\0\0\0\0\0\0\0\x40" /* 2.0 */
                                   "\x00\x00"           /* end of map, end of array */
                                   "\x02P"              /* policy */
                                   "\x00\x02"           /* version: branch 0, 1 */
                                   "\x04\x02"
                                   "a\x02"
                                   "b\x00"; /* tags */
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema = parse(op, &arena, PLAN);
    struct hd_avro_value plan, back;
    struct hd_str out = {0};
    struct hd_slice text;

    assert_int_equal(make_plan(op, &arena, schema, &plan), HUDI_OK);
    assert_int_equal(hd_avro_write_value(op, schema, &plan, &out), HUDI_OK);
    assert_int_equal(out.size, sizeof EXPECTED - 1);
    assert_memory_equal(out.data, EXPECTED, out.size);

    out.size = 0;
    assert_int_equal(hd_avro_write_single(op, schema, &plan, &out), HUDI_OK);
    assert_int_equal(hd_avro_read_single(op, &arena, hd_str_slice(&out), &back), HUDI_OK);
    assert_int_equal(hd_avro_get_string(op, &back, "policy", &text), HUDI_OK);
    assert_string_equal((const char *)text.data, "P");
    hd_str_clear(&out);
    hd_arena_clear(&arena);
}

/* Newer and older writers: fields in other places, gone, or new. */
static void looks_up_and_writes_by_name_across_schemas(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *old = parse(
        op, &arena,
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"gone\",\"type\":\"int\"},"
        "{\"name\":\"kept\",\"type\":\"string\"}]}");
    struct hd_avro_schema *new = parse(
        op, &arena,
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"kept\",\"type\":[\"null\","
        "\"string\"]},{\"name\":\"added\",\"type\":\"long\",\"default\":-5}]}");
    struct hd_cursor in = hd_cursor_over("\x02\x02k", 3, 0);
    struct hd_avro_value value;
    struct hd_str out = {0};
    int64_t added;

    assert_int_equal(hd_avro_read_value(op, &arena, old, &in, &value), HUDI_OK);
    assert_null(hd_avro_value_field(&value, "added"));
    assert_int_equal(hd_avro_find_long(op, &value, "added", 9, &added), HUDI_OK);
    assert_int_equal(added, 9);
    assert_int_equal(hd_avro_write_value(op, new, &value, &out), HUDI_OK);
    assert_int_equal(out.size, 4);
    assert_memory_equal(out.data, "\x02\x02k\x09", 4);
    hd_str_clear(&out);
    hd_arena_clear(&arena);
}

static void takes_the_branch_that_fits_best(void **state)
{
    static const struct {
        const char *schema;
        struct hd_avro_value value;
        const char *bytes;
        size_t size;
    } VECTORS[] = {
        {"[\"null\",\"int\",\"long\"]", {.type = HD_AVRO_LONG, .integer = 1}, "\x04\x02", 2},
        {"[\"null\",\"int\"]", {.type = HD_AVRO_LONG, .integer = 1}, "\x02\x02", 2},
        {"[\"int\",\"null\"]", {.type = HD_AVRO_NULL}, "\x02", 1},
        {"[\"bytes\",\"string\"]",
         {.type = HD_AVRO_STRING, .bytes = {(const uint8_t *)"x", 1}},
         "\x02\x02x",
         3},
        {"[\"null\",\"bytes\"]",
         {.type = HD_AVRO_STRING, .bytes = {(const uint8_t *)"x", 1}},
         "\x02\x02x",
         3},
        {"[{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}]",
         {.type = HD_AVRO_STRING, .bytes = {(const uint8_t *)"B", 1}},
         "\x00\x02",
         2},
        {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}",
         {.type = HD_AVRO_BYTES, .bytes = {(const uint8_t *)"xy", 2}},
         "xy",
         2},
    };
    struct hd_op *op = *state;
    struct hd_arena arena = {0};

    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        struct hd_str out = {0};

        assert_int_equal(
            hd_avro_write_value(op, parse(op, &arena, VECTORS[i].schema), &VECTORS[i].value, &out),
            HUDI_OK);
        assert_int_equal(out.size, VECTORS[i].size);
        assert_memory_equal(out.data, VECTORS[i].bytes, out.size);
        hd_str_clear(&out);
    }
    hd_arena_clear(&arena);
}

static void refuses_values_that_do_not_fit(void **state)
{
    static const struct {
        const char *schema;
        struct hd_avro_value value;
    } BAD[] = {
        {"\"int\"", {.type = HD_AVRO_LONG, .integer = INT64_MAX}},
        {"\"int\"", {.type = HD_AVRO_NULL}},
        {"[\"null\",\"int\"]", {.type = HD_AVRO_BOOLEAN}},
        {"[]", {.type = HD_AVRO_NULL}},
        {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}",
         {.type = HD_AVRO_BYTES, .bytes = {(const uint8_t *)"x", 1}}},
        {"{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]}",
         {.type = HD_AVRO_STRING, .bytes = {(const uint8_t *)"B", 1}}},
    };
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_str out = {0};
    struct hd_avro_value plan;

    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(
            hd_avro_write_value(op, parse(op, &arena, BAD[i].schema), &BAD[i].value, &out),
            HUDI_SCHEMA);
        assert_int_equal(out.size, 0);
        hd_op_clear_error(op);
    }
    struct hd_avro_schema *schema = parse(op, &arena, PLAN);
    assert_int_equal(hd_avro_record_new(op, &arena, schema, &plan), HUDI_OK);
    assert_int_equal(hd_avro_write_value(op, schema, &plan, &out), HUDI_SCHEMA);
    assert_string_equal(hudi_error_message(op->error),
                        "Avro field policy: a value of type null does not fit string");
    hd_op_clear_error(op);
    assert_int_equal(hd_avro_set(op, &plan, "no such", hd_avro_null_value()), HUDI_INTERNAL);
    hd_op_clear_error(op);
    hd_str_clear(&out);
    hd_arena_clear(&arena);
}

static void defaults_become_values_of_every_type(void **state)
{
    static const struct {
        const char *schema, *json, *bytes;
        size_t size;
    } VECTORS[] = {
        {"\"null\"", "null", "", 0},
        {"\"boolean\"", "true", "\x01", 1},
        {"\"long\"", "-1", "\x01", 1},
        {"\"float\"", "1", "\0\0\x80\x3f", 4},
        {"\"double\"", "\"Infinity\"", "\0\0\0\0\0\0\xf0\x7f", 8},
        {"\"bytes\"", "\"\\u00ffA\"", "\x04\xff\x41", 3},
        {"{\"type\":\"fixed\",\"name\":\"F\",\"size\":1}", "\"\\u0000\"", "\0", 1},
        {"\"string\"", "\"\\u00ff\"", "\x04\xc3\xbf", 3},
        {"{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}", "\"B\"", "\x02", 1},
        {"{\"type\":\"array\",\"items\":\"int\"}", "[1,2]", "\x04\x02\x04\x00", 4},
        {"{\"type\":\"map\",\"values\":\"int\"}", "{\"k\":1}", "\x02\x02k\x02\x00", 5},
        {"[\"string\",\"null\"]", "\"\"", "\x00\x00", 2},
        {"[\"int\",\"null\"]", "null", "\x02", 1},
        {"{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"int\","
         "\"default\":3},{\"name\":\"b\",\"type\":\"int\"}]}",
         "{\"b\":4}", "\x06\x08", 2},
    };
    struct hd_op *op = *state;
    struct hd_arena arena = {0};

    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        struct hd_avro_schema *schema = parse(op, &arena, VECTORS[i].schema);
        struct hd_avro_value value;
        struct hd_str out = {0};

        assert_int_equal(
            hd_avro_value_of_json(op, &arena, schema, hd_slice_text(VECTORS[i].json), &value),
            HUDI_OK);
        assert_int_equal(hd_avro_write_value(op, schema, &value, &out), HUDI_OK);
        assert_int_equal(out.size, VECTORS[i].size);
        if (out.size > 0)
            assert_memory_equal(out.data, VECTORS[i].bytes, out.size);
        hd_str_clear(&out);
    }
    hd_arena_clear(&arena);
}

/* A default that is a record whose fields have themselves as default: no end, twice over. */
static void refuses_defaults_without_end(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema =
        parse(op, &arena,
              "{\"type\":\"record\",\"name\":\"R\",\"fields\":["
              "{\"name\":\"a\",\"type\":[\"R\",\"null\"],\"default\":{}},"
              "{\"name\":\"b\",\"type\":[\"R\",\"null\"],\"default\":{}}]}");
    struct hd_avro_value value;

    assert_int_equal(hd_avro_record_new(op, &arena, schema, &value), HUDI_CORRUPT);
    hd_op_clear_error(op);
    hd_arena_clear(&arena);
}

/* One item of one byte in a block that says three: skipping and reading would part ways. */
static void refuses_blocks_that_lie_about_their_bytes(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema = parse(op, &arena, "{\"type\":\"array\",\"items\":\"int\"}");
    struct hd_avro_value value;
    struct hd_cursor in = hd_cursor_over("\x01\x02\x08\x00", 4, 0);

    assert_int_equal(hd_avro_read_value(op, &arena, schema, &in, &value), HUDI_OK);
    assert_int_equal(value.items[0].integer, 4);
    in = hd_cursor_over("\x01\x06\x08\x00\x00\x00", 6, 0);
    assert_int_equal(hd_avro_read_value(op, &arena, schema, &in, &value), HUDI_CORRUPT);
    hd_op_clear_error(op);
    hd_arena_clear(&arena);
}

/* Three bytes for 1024 values, again and again. */
static void refuses_more_values_than_bytes(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema =
        parse(op, &arena, "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":\"null\"}}");
    struct hd_str bytes = {0};
    struct hd_avro_value value;

    assert_int_equal(hd_avro_write_long(op, &bytes, 10000), HUDI_OK);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(hd_str_append(op, &bytes, "\x80\x10\x00", 3), HUDI_OK);
    assert_int_equal(hd_str_append(op, &bytes, "\x00", 1), HUDI_OK);
    struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 0);
    assert_int_equal(hd_avro_skip(op, schema, &in), HUDI_OK);
    in = hd_cursor_over(bytes.data, bytes.size, 0);
    assert_int_equal(hd_avro_read_value(op, &arena, schema, &in, &value), HUDI_CORRUPT);
    assert_true(arena.total_bytes < 300 * bytes.size);
    assert_int_equal(value.type, HD_AVRO_NULL);
    hd_op_clear_error(op);
    hd_str_clear(&bytes);
    hd_arena_clear(&arena);
}

static void timeline_files_hold_exactly_one_record(void **state)
{
    struct hd_op *op = *state;

    for (uint64_t n = 0; n <= 2; n++) {
        struct hd_arena arena = {0};
        struct hd_str file = {0};
        struct hd_avro_value value;

        assert_int_equal(hd_avro_container_write(op, hd_slice_text("\"int\""),
                                                 hd_slice_of("\x02\x02", (size_t)n), n, NULL,
                                                 &file),
                         HUDI_OK);
        assert_int_equal(hd_avro_read_single(op, &arena, hd_str_slice(&file), &value),
                         n == 1 ? HUDI_OK : HUDI_CORRUPT);
        hd_op_clear_error(op);
        file.size = 0;
        assert_int_equal(hd_avro_container_write(op, hd_slice_text("\"int\""),
                                                 hd_slice_of("\x02\x02", 2), 1, NULL, &file),
                         HUDI_OK);
        assert_int_equal(hd_avro_read_single(op, &arena, hd_str_slice(&file), &value),
                         HUDI_CORRUPT); /* a byte left over */
        hd_op_clear_error(op);
        hd_str_clear(&file);
        hd_arena_clear(&arena);
    }
}

static void refuses_every_truncation(void **state)
{
    struct hd_op *op = *state;

    for (size_t f = 0; f < sizeof FILES / sizeof *FILES; f++) {
        struct hd_slice file = test_corpus(FILES[f]);

        for (size_t n = 0; n < file.size; n++) {
            struct hd_slice cut = test_cut(file, n);
            struct hd_arena arena = {0};
            struct hd_avro_value value;

            assert_int_equal(hd_avro_read_single(op, &arena, cut, &value), HUDI_CORRUPT);
            hd_op_clear_error(op);
            hd_arena_clear(&arena);
            test_slice_free(cut);
        }
        test_slice_free(file);
    }
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct hd_slice file = test_corpus(FILES[1]);
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_arena arena = {0};
        struct hd_str out = {0};
        struct hd_avro_schema *schema;
        struct hd_avro_value value;

        test_fault_arm(op, nth);
        status = hd_avro_read_single(op, &arena, file, &value);
        if (status == HUDI_OK)
            status = hd_avro_schema_parse(op, &arena, hd_slice_text(PLAN), &schema);
        if (status == HUDI_OK)
            status = make_plan(op, &arena, schema, &value);
        if (status == HUDI_OK)
            status = hd_avro_write_single(op, schema, &value, &out);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_str_clear(&out);
        hd_arena_clear(&arena);
    }
    test_slice_free(file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_a_restore_plan_of_hudi),
        TEST(reads_a_savepoint_of_hudi),
        TEST(writes_the_records_of_hudi_byte_for_byte),
        TEST(makes_records_from_defaults_and_fields_by_name),
        TEST(looks_up_and_writes_by_name_across_schemas),
        TEST(takes_the_branch_that_fits_best),
        TEST(refuses_values_that_do_not_fit),
        TEST(defaults_become_values_of_every_type),
        TEST(refuses_defaults_without_end),
        TEST(refuses_blocks_that_lie_about_their_bytes),
        TEST(refuses_more_values_than_bytes),
        TEST(timeline_files_hold_exactly_one_record),
        TEST(refuses_every_truncation),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
