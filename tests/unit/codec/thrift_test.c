/* SPDX-License-Identifier: Apache-2.0 */
/* Thrift's compact protocol; bytes by hand from its description. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "codec/thrift.h"
#include "support/fault.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

/* 1: i32 150 · 2: true · 3: false · 19: binary "abc" · 300: list of i64 {1, -1} · 301: struct {1:
 * i8 9} · 302: map {i32 2: "x"} · 303: double · 304: list of 16 bools · 305: empty map */
static const uint8_t VALUE[] = {
    0x15, 0xac, 0x02, 0x11, 0x12, 0x08, 0x26, 3,    'a',  'b',  'c',  0x09, 0xd8, 0x04, 0x26,
    0x02, 0x01, 0x1c, 0x13, 9,    0,    0x1b, 1,    0x58, 0x04, 1,    'x',  0x17, 0,    0,
    0,    0,    0,    0,    0xf0, 0x3f, 0x19, 0xf1, 16,   1,    2,    1,    2,    1,    2,
    1,    2,    1,    2,    1,    2,    1,    2,    1,    2,    0x1b, 0,    0};

static void takes_a_struct_apart_and_gives_it_back(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_cursor in = hd_cursor_over(VALUE, sizeof VALUE, 0);
    struct hd_thrift_struct value;
    struct hd_str out = {0};
    struct hd_slice text, list;
    int64_t n;
    size_t count;

    assert_int_equal(hd_thrift_struct_take(op, &arena, &in, &value), HUDI_OK);
    assert_int_equal(hd_cursor_left(&in), 0);
    assert_int_equal(value.n_fields, 10);
    assert_int_equal(hd_thrift_get_integer(op, &value, 1, HD_THRIFT_I32, &n), HUDI_OK);
    assert_int_equal(n, 150);
    assert_int_equal(hd_thrift_find(&value, 2)->type, HD_THRIFT_TRUE);
    assert_int_equal(hd_thrift_find(&value, 3)->type, HD_THRIFT_FALSE);
    assert_int_equal(hd_thrift_get_binary(op, &value, 19, &text), HUDI_OK);
    assert_true(hd_slice_equal(text, hd_slice_text("abc")));
    assert_int_equal(hd_thrift_get(op, &value, 300, HD_THRIFT_LIST, &list), HUDI_OK);
    in = hd_cursor_over(list.data, list.size, 0);
    assert_int_equal(hd_thrift_list_take(op, &in, HD_THRIFT_I64, 1, &count), HUDI_OK);
    assert_int_equal(count, 2);
    assert_int_equal(hd_thrift_get_integer(op, &value, 4, HD_THRIFT_I32, &n), HUDI_NOT_FOUND);
    assert_null(op->error);
    assert_int_equal(hd_thrift_get_integer(op, &value, 1, HD_THRIFT_I64, &n), HUDI_CORRUPT);
    assert_false(hd_thrift_find_integer(&value, 1, HD_THRIFT_I64, &n));
    assert_int_equal(hd_thrift_append_struct(op, &out, &value), HUDI_OK);
    assert_true(hd_slice_equal(hd_str_slice(&out), hd_slice_of(VALUE, sizeof VALUE)));
    hd_str_clear(&out);
    hd_arena_clear(&arena);
}

static void changes_one_field_alone(void **state)
{
    static const int64_t NUMBERS[] = {0, -1, 63, -64, 64, INT32_MAX, INT64_MAX, INT64_MIN};
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_cursor in = hd_cursor_over(VALUE, sizeof VALUE, 0);
    struct hd_thrift_struct value, again, copy;
    struct hd_str out = {0};
    int64_t n;

    assert_int_equal(hd_thrift_struct_take(op, &arena, &in, &value), HUDI_OK);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(NUMBERS); i++) {
        assert_int_equal(hd_thrift_struct_copy(op, &arena, &value, &copy), HUDI_OK);
        assert_int_equal(hd_thrift_set_integer(op, &arena, &copy, 5, HD_THRIFT_I64, NUMBERS[i]),
                         HUDI_OK);
        hd_thrift_remove(&copy, 1);
        out.size = 0;
        assert_int_equal(hd_thrift_append_struct(op, &out, &copy), HUDI_OK);
        in = hd_cursor_over(out.data, out.size, 0);
        assert_int_equal(hd_thrift_struct_take(op, &arena, &in, &again), HUDI_OK);
        assert_int_equal(again.n_fields, 10);
        assert_int_equal(hd_thrift_get_integer(op, &again, 5, HD_THRIFT_I64, &n), HUDI_OK);
        assert_int_equal(n, NUMBERS[i]);
        for (int16_t id = 1; id < 400; id++)
            assert_int_equal(hd_thrift_same(&value, &again, id), id != 1 && id != 5);
    }
    hd_str_clear(&out);
    hd_arena_clear(&arena);
}

static void is_corrupt_when_cut_at_any_byte(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};

    for (size_t cut = 0; cut < sizeof VALUE; cut++) {
        uint8_t *bytes = malloc(cut == 0 ? 1 : cut);
        struct hd_thrift_struct value;

        assert_non_null(bytes);
        memcpy(bytes, VALUE, cut);
        struct hd_cursor in = hd_cursor_over(bytes, cut, 0);
        assert_int_equal(hd_thrift_struct_take(op, &arena, &in, &value), HUDI_CORRUPT);
        assert_int_equal(value.n_fields, 0);
        assert_int_equal(hd_cursor_left(&in), cut);
        hd_op_clear_error(op);
        free(bytes);
    }
    hd_arena_clear(&arena);
}

static void refuses_what_cannot_be(void **state)
{
    /* type 0 with a delta; type 14; a field twice; more items than bytes; id beyond 16 bits */
    static const struct {
        uint8_t bytes[8];
        size_t n;
    } WRONG[] = {{{0x10, 0}, 2},
                 {{0x1e, 0}, 2},
                 {{0x11, 0x01, 0x02, 0}, 4},
                 {{0x19, 0xf5, 0xff, 0xff, 0x03, 0}, 6},
                 {{0x01, 0x80, 0x80, 0x04, 0}, 5}};
    struct hd_op *op = *state;
    struct hd_arena arena = {0};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(WRONG); i++) {
        struct hd_cursor in = hd_cursor_over(WRONG[i].bytes, WRONG[i].n, 0);
        struct hd_thrift_struct value;

        assert_int_equal(hd_thrift_struct_take(op, &arena, &in, &value), HUDI_CORRUPT);
        hd_op_clear_error(op);
    }
    hd_arena_clear(&arena);
}

static void refuses_structs_in_structs_without_end(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    uint8_t deep[1000];
    struct hd_thrift_struct value;

    memset(deep, 0x1c, sizeof deep);
    struct hd_cursor in = hd_cursor_over(deep, sizeof deep, 0);
    assert_int_equal(hd_thrift_struct_take(op, &arena, &in, &value), HUDI_NOT_IMPLEMENTED);
    hd_op_clear_error(op);
    hd_arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(takes_a_struct_apart_and_gives_it_back), TEST(changes_one_field_alone),
        TEST(is_corrupt_when_cut_at_any_byte),        TEST(refuses_what_cannot_be),
        TEST(refuses_structs_in_structs_without_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
