/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_testing.h"

/* Rows of `rows` are in order: each compares below the next, and equal to itself. */
static void assert_ordered(struct hd_op *op, const struct ArrowSchema *field, const char *rows)
{
    struct hd_arena arena = {0};
    struct hd_view view;

    for (int shifted = 0; shifted < 2; shifted++) {
        struct ArrowArray array = test_array(op, field, rows);
        if (shifted)
            array = test_shifted(op, field, &array);
        OK(hd_view_open(op, &arena, field, &array, &view));
        for (int64_t i = 0; i < view.length; i++) {
            for (int64_t k = 0; k < view.length; k++)
                assert_int_equal(hd_view_compare(&view, i, &view, k), (i > k) - (i < k));
        }
        hd_array_clear(&array);
        hd_arena_clear(&arena);
    }
}

static void orders_values_of_each_type(void **state)
{
    static const struct {
        const char *format, *rows;
    } CASES[] = {
        {"b", "[null, false, true]"},
        {"i", "[null, -2147483648, -1, 0, 2147483647]"},
        {"l", "[null, -9223372036854775808, 0, 9223372036854775807]"},
        {"f", "[null, -inf, -1.5, 0, 1e30, inf, nan]"},
        {"g", "[null, -inf, -1.5, 0, 1e300, inf, nan]"},
        {"u", "[null, \"\", \"A\", \"a\", \"aa\", \"b\", \"\xc3\xbc\"]"},
        {"z", "[null, \"\", \"a\", \"\xff\"]"},
        {"w:2", "[null, \"aa\", \"ab\", \"ba\"]"},
        {"d:38,2", "[null, -99999999999999999999999999999999999999, -1, 0, 5]"},
        {"tdD", "[null, -719162, 0, 1]"},
        {"ttm", "[null, 0, 1]"},
        {"tsn:", "[null, -1, 0, 1]"},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        const struct ArrowSchema field = FIELD(CASES[i].format, "a");
        assert_ordered(op, &field, CASES[i].rows);
    }
    struct ArrowSchema x = FIELD("i", "x"), y = FIELD("u", "y");
    struct ArrowSchema *of_list[] = {&x}, *of_struct[] = {&x, &y};
    const struct ArrowSchema list = PARENT("+l", "l", of_list);
    const struct ArrowSchema both = PARENT("+s", "s", of_struct);
    assert_ordered(op, &list, "[null, [], [null], [1], [1, 2], [2]]");
    assert_ordered(op, &both, "[null, (null, \"b\"), (1, null), (1, \"a\"), (2, \"a\")]");
}

static int compare(struct hd_op *op, const char *format_a, const char *a, const char *format_b,
                   const char *b)
{
    const struct ArrowSchema field_a = FIELD(format_a, "a"), field_b = FIELD(format_b, "b");
    struct ArrowArray array_a = test_array(op, &field_a, a), array_b = test_array(op, &field_b, b);
    struct hd_arena arena = {0};
    struct hd_view view_a, view_b;

    OK(hd_view_open(op, &arena, &field_a, &array_a, &view_a));
    OK(hd_view_open(op, &arena, &field_b, &array_b, &view_b));
    assert_true(hd_type_comparable(&view_a.type, &view_b.type));
    const int order = hd_view_compare(&view_a, 0, &view_b, 0);
    assert_int_equal(hd_view_compare(&view_b, 0, &view_a, 0), -order);
    hd_arena_clear(&arena);
    hd_array_clear(&array_a);
    hd_array_clear(&array_b);
    return order;
}

static void orders_numbers_and_timestamps_across_types(void **state)
{
    struct hd_op *op = *state;

    assert_int_equal(compare(op, "i", "[5]", "l", "[5]"), 0);
    assert_int_equal(compare(op, "i", "[5]", "g", "[5.5]"), -1);
    assert_int_equal(compare(op, "i", "[-5]", "g", "[-5.5]"), 1);
    /* 2^53 + 1 is no double: compared exactly */
    assert_int_equal(compare(op, "l", "[9007199254740993]", "g", "[9007199254740992]"), 1);
    assert_int_equal(compare(op, "l", "[9223372036854775807]", "g", "[9223372036854775808]"), -1);
    assert_int_equal(compare(op, "l", "[-9223372036854775808]", "g", "[-9223372036854775808]"), 0);
    assert_int_equal(compare(op, "l", "[1]", "g", "[nan]"), -1);
    assert_int_equal(compare(op, "f", "[0.5]", "g", "[0.5]"), 0);
    assert_int_equal(compare(op, "f", "[nan]", "g", "[nan]"), 0);
    assert_int_equal(compare(op, "d:5,2", "[150]", "d:9,4", "[15000]"), 0);
    assert_int_equal(compare(op, "d:5,2", "[150]", "i", "[2]"), -1);
    assert_int_equal(compare(op, "d:5,2", "[150]", "g", "[1.25]"), 1);
    assert_int_equal(compare(op, "tsm:UTC", "[1]", "tsu:UTC", "[1000]"), 0);
    assert_int_equal(compare(op, "tsm:UTC", "[9223372036854775807]", "tsn:", "[1]"), 1);
    assert_int_equal(compare(op, "tsm:", "[-1]", "tsn:", "[-1]"), -1);
    assert_int_equal(compare(op, "ttm", "[1]", "ttn", "[1000001]"), -1);
}

static void says_which_types_compare(void **state)
{
    const struct hd_type i = {.id = HD_TYPE_INT32}, g = {.id = HD_TYPE_DOUBLE};
    const struct hd_type u = {.id = HD_TYPE_STRING}, d = {.id = HD_TYPE_DICTIONARY};
    const struct hd_type date = {.id = HD_TYPE_DATE}, other = {.id = HD_TYPE_OTHER};

    (void)state;
    assert_true(hd_type_comparable(&i, &g));
    assert_true(hd_type_comparable(&u, &d));
    assert_false(hd_type_comparable(&i, &u));
    assert_false(hd_type_comparable(&i, &date));
    assert_false(hd_type_comparable(&other, &other));
}

/* One thing about a sound array is broken at a time. */
static void refuses_layouts_that_contradict_themselves(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema item = FIELD("u", "item");
    struct ArrowSchema *of_list[] = {&item};
    struct ArrowSchema list = PARENT("+l", "l", of_list);
    struct ArrowSchema *columns[] = {&list};
    const struct ArrowSchema root = PARENT("+s", "", columns);
    struct ArrowArray array = test_array(op, &root, "[([\"a\"]), ([\"b\", \"c\"])]");
    struct ArrowArray *lists = array.children[0], *items = lists->children[0];
    int32_t *offsets = (int32_t *)(uintptr_t)lists->buffers[1];
    struct hd_arena arena = {0};
    struct hd_view view;

#define BROKEN(lvalue, value)                                                                      \
    do {                                                                                           \
        const __typeof__(lvalue) sound = (lvalue);                                                 \
        (lvalue) = (value);                                                                        \
        assert_int_equal(hd_view_open(op, &arena, &root, &array, &view), HUDI_INVALID);            \
        hd_op_clear_error(op);                                                                     \
        (lvalue) = sound;                                                                          \
        OK(hd_view_open(op, &arena, &root, &array, &view));                                        \
    } while (0)
    BROKEN(array.length, 3);
    BROKEN(array.length, -1);
    BROKEN(array.offset, 1);
    BROKEN(array.offset, -1);
    BROKEN(array.offset, INT64_MAX);
    BROKEN(array.n_children, 0);
    BROKEN(array.n_buffers, 2);
    BROKEN(array.buffers, NULL);
    BROKEN(lists->release, NULL);
    BROKEN(lists->buffers[1], NULL);
    BROKEN(items->length, 2);
    BROKEN(items->buffers[2], NULL);
    BROKEN(items->n_buffers, 2);
    BROKEN(offsets[0], -1);
    BROKEN(offsets[2], 0 - 1);
    BROKEN(offsets[2], 4);
#undef BROKEN
    offsets[1] = 3; /* between: only seen by the full check */
    offsets[2] = 2;
    OK(hd_view_open(op, &arena, &root, &array, &view));
    assert_int_equal(hd_view_validate(op, &view), HUDI_INVALID);
    hd_arena_clear(&arena);
    hd_array_clear(&array);
}

static void checks_the_indices_of_a_dictionary(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema field;
    struct ArrowArray array;
    struct hd_arena arena = {0};
    struct hd_view view;

    OK(hd_schema_init_dictionary(op, &field, "d", true));
    OK(hd_array_constant_dictionary(op, hd_slice_text("x"), 3, &array));
    OK(hd_view_open(op, &arena, &field, &array, &view));
    ((int32_t *)(uintptr_t)array.buffers[1])[2] = 1;
    assert_int_equal(hd_view_open(op, &arena, &field, &array, &view), HUDI_INVALID);
    ((int32_t *)(uintptr_t)array.buffers[1])[2] = -1;
    assert_int_equal(hd_view_open(op, &arena, &field, &array, &view), HUDI_INVALID);
    hd_arena_clear(&arena);
    hd_array_clear(&array);
    hd_schema_clear(&field);
}

static void takes_empty_arrays_without_buffers(void **state)
{
    static const char *const FORMATS[] = {"b", "i", "l", "u", "z", "w:3", "d:10,2"};
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct hd_view view;
    const void *buffers[3] = {0};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(FORMATS); i++) {
        const struct ArrowSchema field = FIELD(FORMATS[i], "a");
        const struct ArrowArray array = {
            .n_buffers = FORMATS[i][0] == 'u' || FORMATS[i][0] == 'z' ? 3 : 2, .buffers = buffers};
        const struct ArrowArray *sources[] = {&array};
        const struct hd_run run = {0, 0, 0};
        struct ArrowArray out;

        OK(hd_view_open(op, &arena, &field, &array, &view));
        assert_int_equal(view.length, 0);
        OK(hd_view_validate(op, &view));
        OK(hd_gather(op, &field, sources, 1, &run, 1, &out));
        ASSERT_ARRAY(&field, &out, "[]");
        hd_array_clear(&out);
    }
    hd_arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(orders_values_of_each_type),         TEST(orders_numbers_and_timestamps_across_types),
        TEST(says_which_types_compare),           TEST(refuses_layouts_that_contradict_themselves),
        TEST(checks_the_indices_of_a_dictionary), TEST(takes_empty_arrays_without_buffers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
