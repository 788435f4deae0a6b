/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/avro.h"
#include "support/fault.h"
#include "unit/codec/corpus.h"

static struct hd_avro_schema *parse(struct hd_op *op, struct hd_arena *arena, const char *json)
{
    struct hd_avro_schema *schema;

    assert_int_equal(hd_avro_schema_parse(op, arena, hd_slice_text(json), &schema), HUDI_OK);
    return schema;
}

/* Examples of the Avro specification, and the ends of the range. */
static void longs_are_zigzag_varints(void **state)
{
    static const struct {
        int64_t value;
        const char *bytes;
        size_t size;
    } VECTORS[] = {
        {0, "\x00", 1},
        {-1, "\x01", 1},
        {1, "\x02", 1},
        {-2, "\x03", 1},
        {2, "\x04", 1},
        {-64, "\x7f", 1},
        {64, "\x80\x01", 2},
        {8192, "\x80\x80\x01", 3},
        {INT64_MAX, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
        {INT64_MIN, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        struct hd_str out = {0};
        struct hd_cursor in = hd_cursor_over(VECTORS[i].bytes, VECTORS[i].size, 0);
        int64_t value;

        assert_int_equal(hd_avro_write_long(op, &out, VECTORS[i].value), HUDI_OK);
        assert_int_equal(out.size, VECTORS[i].size);
        assert_memory_equal(out.data, VECTORS[i].bytes, out.size);
        assert_int_equal(hd_avro_read_long(op, &in, &value), HUDI_OK);
        assert_true(value == VECTORS[i].value);
        assert_int_equal(hd_cursor_left(&in), 0);
        hd_str_clear(&out);
    }
}

static void ints_must_fit_32_bits(void **state)
{
    struct hd_op *op = *state;

    for (int64_t past = 0; past <= 1; past++) {
        const int64_t ends[] = {INT32_MAX + past, INT32_MIN - past};
        for (size_t i = 0; i < 2; i++) {
            struct hd_str out = {0};
            int32_t value;

            assert_int_equal(hd_avro_write_long(op, &out, ends[i]), HUDI_OK);
            struct hd_cursor in = hd_cursor_over(out.data, out.size, 0);
            assert_int_equal(hd_avro_read_int(op, &in, &value), past ? HUDI_CORRUPT : HUDI_OK);
            assert_int_equal(hd_cursor_left(&in), past ? out.size : 0);
            assert_true(past || value == ends[i]);
            hd_op_clear_error(op);
            hd_str_clear(&out);
        }
    }
}

static void other_primitives_are_as_specified(void **state)
{
    static const uint8_t BYTES[] = {1, 0,   0,   0x80, 0x3f,                /* true, 1.0f */
                                    0, 0,   0,   0,    0,    0, 0xf0, 0xbf, /* -1.0 */
                                    6, 'f', 'o', 'o',  0,                   /* "foo", "" */
                                    2};                                     /* branch 1 */
    struct hd_op *op = *state;
    struct hd_cursor in = hd_cursor_over(BYTES, sizeof BYTES, 0);
    struct hd_str out = {0};
    bool flag;
    float f;
    double d;
    struct hd_slice text, empty;
    uint32_t index;

    assert_int_equal(hd_avro_read_boolean(op, &in, &flag), HUDI_OK);
    assert_int_equal(hd_avro_read_float(op, &in, &f), HUDI_OK);
    assert_int_equal(hd_avro_read_double(op, &in, &d), HUDI_OK);
    assert_int_equal(hd_avro_read_bytes(op, &in, &text), HUDI_OK);
    assert_int_equal(hd_avro_read_bytes(op, &in, &empty), HUDI_OK);
    assert_int_equal(hd_avro_read_index(op, &in, 2, &index), HUDI_OK);
    assert_true(flag && f == 1.0f && d == -1.0 && index == 1);
    assert_true(hd_slice_equal(text, hd_slice_text("foo")));
    assert_int_equal(empty.size, 0);
    assert_int_equal(hd_cursor_left(&in), 0);

    assert_int_equal(hd_avro_write_boolean(op, &out, flag), HUDI_OK);
    assert_int_equal(hd_avro_write_float(op, &out, f), HUDI_OK);
    assert_int_equal(hd_avro_write_double(op, &out, d), HUDI_OK);
    assert_int_equal(hd_avro_write_bytes(op, &out, text), HUDI_OK);
    assert_int_equal(hd_avro_write_bytes(op, &out, empty), HUDI_OK);
    assert_int_equal(hd_avro_write_long(op, &out, index), HUDI_OK);
    assert_int_equal(out.size, sizeof BYTES);
    assert_memory_equal(out.data, BYTES, sizeof BYTES);
    hd_str_clear(&out);
}

static void refuses_primitives_out_of_range(void **state)
{
    struct hd_op *op = *state;
    struct hd_cursor in = hd_cursor_over("\x02\x01\x08\x66", 4, 0);
    struct hd_slice text;
    uint32_t index;
    bool flag;

    assert_int_equal(hd_avro_read_boolean(op, &in, &flag), HUDI_CORRUPT);
    hd_op_clear_error(op);
    assert_int_equal(hd_avro_read_index(op, &in, 1, &index), HUDI_CORRUPT);
    hd_op_clear_error(op);
    assert_int_equal(hd_cursor_skip(op, &in, 1), HUDI_OK);
    assert_int_equal(hd_avro_read_index(op, &in, 9, &index), HUDI_CORRUPT); /* -1 */
    hd_op_clear_error(op);
    assert_int_equal(hd_avro_read_bytes(op, &in, &text), HUDI_CORRUPT); /* length -1 */
    hd_op_clear_error(op);
    assert_int_equal(hd_cursor_skip(op, &in, 1), HUDI_OK);
    assert_int_equal(hd_avro_read_bytes(op, &in, &text), HUDI_CORRUPT); /* 4 of 1 */
    hd_op_clear_error(op);
    assert_int_equal(hd_cursor_left(&in), 2);
}

static void array_blocks_are_bounded_by_the_bytes_there_are(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        uint64_t item_min_bytes, n_items, n_bytes;
        hudi_status status;
    } VECTORS[] = {
        {"\x00", 1, 1, 0, 0, HUDI_OK},
        {"\x04__", 3, 1, 2, 0, HUDI_OK},
        {"\x06__", 3, 1, 0, 0, HUDI_CORRUPT},
        {"\x02__", 3, 2, 1, 0, HUDI_OK},
        {"\x04__", 3, 2, 0, 0, HUDI_CORRUPT},
        {"\x03\x04__", 4, 1, 2, 2, HUDI_OK},
        {"\x03\x02__", 4, 1, 0, 0, HUDI_CORRUPT}, /* two items in one byte */
        {"\x03\x06__", 4, 1, 0, 0, HUDI_CORRUPT}, /* three bytes of two */
        {"\x03\x01__", 4, 1, 0, 0, HUDI_CORRUPT}, /* -1 bytes */
        {"\x80\x10", 2, 0, 1024, 0, HUDI_OK},
        {"\x82\x10", 2, 0, 0, 0, HUDI_CORRUPT}, /* 1025 items without bytes */
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 11, 0, 0, 0, HUDI_CORRUPT}, /* -2^63 */
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 11, 1, 0, 0, HUDI_CORRUPT},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        struct hd_cursor in = hd_cursor_over(VECTORS[i].bytes, VECTORS[i].size, 0);
        uint64_t n_items, n_bytes;

        assert_int_equal(hd_avro_read_block(op, &in, VECTORS[i].item_min_bytes, &n_items, &n_bytes),
                         VECTORS[i].status);
        if (VECTORS[i].status == HUDI_OK) {
            assert_int_equal(n_items, VECTORS[i].n_items);
            assert_int_equal(n_bytes, VECTORS[i].n_bytes);
        } else {
            assert_int_equal(hd_cursor_left(&in), VECTORS[i].size);
        }
        hd_op_clear_error(op);
    }
}

static const char SCHEMA[] =
    "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"n\",\"type\":\"null\"},"
    "{\"name\":\"b\",\"type\":\"boolean\"},{\"name\":\"i\",\"type\":\"int\"},"
    "{\"name\":\"f\",\"type\":\"float\"},{\"name\":\"d\",\"type\":\"double\"},"
    "{\"name\":\"s\",\"type\":[\"null\",\"string\"]},"
    "{\"name\":\"x\",\"type\":{\"type\":\"fixed\",\"name\":\"X\",\"size\":3}},"
    "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}},"
    "{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":\"long\"}},"
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"bytes\"}}]}";

static const uint8_t RECORD[] = {
    1,                                                    /* b */
    2,                                                    /* i */
    0,   0,   0,   0,                                     /* f */
    0,   0,   0,   0,   0,   0,    0, 0,                  /* d */
    2,   4,   'h', 'i',                                   /* s: branch 1 */
    'x', 'y', 'z',                                        /* x */
    2,                                                    /* e */
    4,   2,   4,   1,   4,   0x80, 1, 0,                  /* a: 2 items; 1 item of 2 bytes */
    2,   2,   'k', 2,   'v', 1,    8, 2, 'l', 2, 'w', 0}; /* m */

static void skips_one_value_of_any_type(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema = parse(op, &arena, SCHEMA);
    uint8_t two[2 * sizeof RECORD];

    memcpy(two, RECORD, sizeof RECORD);
    memcpy(two + sizeof RECORD, RECORD, sizeof RECORD);
    struct hd_cursor in = hd_cursor_over(two, sizeof two, 0);
    assert_int_equal(schema->min_bytes, 21);
    assert_int_equal(hd_avro_skip(op, schema, &in), HUDI_OK);
    assert_int_equal(hd_cursor_left(&in), sizeof RECORD);
    assert_int_equal(hd_avro_skip(op, schema, &in), HUDI_OK);
    assert_int_equal(hd_cursor_left(&in), 0);
    hd_arena_clear(&arena);
}

static void skipping_a_cut_value_fails_and_stays(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema = parse(op, &arena, SCHEMA);

    for (size_t n = 0; n < sizeof RECORD; n++) {
        struct hd_slice cut = test_cut(hd_slice_of(RECORD, sizeof RECORD), n);
        struct hd_cursor in = hd_cursor_over(cut.data, cut.size, 0);

        assert_int_equal(hd_avro_skip(op, schema, &in), HUDI_CORRUPT);
        assert_int_equal(hd_cursor_left(&in), n);
        hd_op_clear_error(op);
        test_slice_free(cut);
    }
    hd_arena_clear(&arena);
}

static void bounds_the_depth_of_a_value(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema =
        parse(op, &arena,
              "{\"type\":\"record\",\"name\":\"L\",\"fields\":[{\"name\":\"next\",\"type\":"
              "[\"null\",\"L\"]}]}");
    uint8_t chain[100001];

    memset(chain, 2, sizeof chain - 1);
    chain[sizeof chain - 1] = 0;
    struct hd_cursor in = hd_cursor_over(chain, sizeof chain, 0);
    assert_int_equal(hd_avro_skip(op, schema, &in), HUDI_CORRUPT);
    hd_op_clear_error(op);
    in = hd_cursor_over(chain + sizeof chain - 100, 100, 0);
    assert_int_equal(hd_avro_skip(op, schema, &in), HUDI_OK);
    hd_arena_clear(&arena);
}

static void skips_many_nulls_without_time(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_avro_schema *schema = parse(op, &arena, "{\"type\":\"array\",\"items\":\"null\"}");
    struct hd_cursor in = hd_cursor_over("\x80\x10\x80\x10\x00", 5, 0);

    assert_int_equal(hd_avro_skip(op, schema, &in), HUDI_OK);
    assert_int_equal(hd_cursor_left(&in), 0);
    hd_arena_clear(&arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(longs_are_zigzag_varints),
        TEST(ints_must_fit_32_bits),
        TEST(other_primitives_are_as_specified),
        TEST(refuses_primitives_out_of_range),
        TEST(array_blocks_are_bounded_by_the_bytes_there_are),
        TEST(skips_one_value_of_any_type),
        TEST(skipping_a_cut_value_fails_and_stays),
        TEST(bounds_the_depth_of_a_value),
        TEST(skips_many_nulls_without_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
