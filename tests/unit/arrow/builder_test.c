/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_testing.h"

static void builds_every_kind_of_value(void **state)
{
    static const struct {
        const char *format, *rows;
    } CASES[] = {
        {"n", "[null, null]"},
        {"b", "[true, null, false, true, true, true, true, true, true, null]"},
        {"i", "[1, null, -2147483648, 2147483647]"},
        {"l", "[1, null, -9223372036854775808]"},
        {"f", "[1.5, null]"},
        {"g", "[1.5, null, -2.25]"},
        {"u", "[\"a\", null, \"\", \"ccc\"]"},
        {"z", "[null, \"a\"]"},
        {"w:3", "[\"abc\", null, \"def\"]"},
        {"w:0", "[\"\", null]"},
        {"d:38,2", "[-99999999999999999999999999999999999999, null, 0]"},
        {"tdD", "[-1, null]"},
        {"ttm", "[1, null]"},
        {"ttn", "[1, null, 86399999999999]"},
        {"tsu:UTC", "[-1, null]"},
        {"+s", "[(), null]"},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        const struct ArrowSchema field = FIELD(CASES[i].format, "a");
        struct ArrowArray array = test_array(op, &field, CASES[i].rows);

        ASSERT_ARRAY(&field, &array, CASES[i].rows);
        hd_array_clear(&array);
        array = test_array(op, &field, "[]");
        ASSERT_ARRAY(&field, &array, "[]");
        hd_array_clear(&array);
    }
}

static void grows_over_many_rows_and_starts_again_after_finish(void **state)
{
    enum { N = 5000 };
    struct hd_op *op = *state;
    const struct ArrowSchema field = FIELD("u", "a");
    struct hd_arena arena = {0};
    hd_builder *b;

    OK(hd_builder_new(op, &field, &b));
    for (int round = 0; round < 2; round++) {
        struct ArrowArray array;
        struct hd_view view;

        for (int i = 0; i < N; i++) {
            const char text[] = {(char)('a' + i % 26), (char)('0' + i % 10), (char)('a' + round)};
            OK(i % 11 == 10 ? hd_builder_append_null(op, b)
                            : hd_builder_append_bytes(op, b, hd_slice_of(text, sizeof text)));
        }
        assert_int_equal(hd_builder_length(b), N);
        assert_true(hd_builder_bytes(b) > N * 4);
        OK(hd_builder_finish(op, b, &array));
        assert_int_equal(hd_builder_length(b), 0);
        assert_int_equal((uintptr_t)array.buffers[1] % 64, 0);
        OK(hd_view_open(op, &arena, &field, &array, &view));
        assert_int_equal(view.null_count, N / 11);
        for (int i = 0; i < N; i++) {
            const char text[] = {(char)('a' + i % 26), (char)('0' + i % 10), (char)('a' + round)};
            assert_int_equal(hd_view_is_null(&view, i), i % 11 == 10);
            if (i % 11 != 10)
                assert_true(
                    hd_slice_equal(hd_view_bytes(&view, i), hd_slice_of(text, sizeof text)));
        }
        hd_arena_clear(&arena);
        hd_array_clear(&array);
    }
    hd_builder_free(b);
}

static void refuses_values_out_of_range_and_stays_as_it_was(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema i = FIELD("i", "a"), b = FIELD("b", "a"), w = FIELD("w:2", "a");
    const struct ArrowSchema large = FIELD("U", "a");
    hd_builder *builder;
    struct ArrowArray array;

    OK(hd_builder_new(op, &i, &builder));
    OK(hd_builder_append_integer(op, builder, 5));
    assert_int_equal(hd_builder_append_integer(op, builder, INT64_C(1) << 31), HUDI_INVALID);
    OK(hd_builder_append_integer(op, builder, 6));
    OK(hd_builder_finish(op, builder, &array));
    ASSERT_ARRAY(&i, &array, "[5, 6]");
    hd_array_clear(&array);
    hd_builder_free(builder);
    OK(hd_builder_new(op, &b, &builder));
    assert_int_equal(hd_builder_append_integer(op, builder, 2), HUDI_INVALID);
    hd_builder_free(builder);
    OK(hd_builder_new(op, &w, &builder));
    assert_int_equal(hd_builder_append_bytes(op, builder, hd_slice_text("abc")), HUDI_INVALID);
    assert_int_equal(hd_builder_length(builder), 0);
    hd_builder_free(builder);
    assert_int_equal(hd_builder_new(op, &large, &builder), HUDI_NOT_IMPLEMENTED);
    assert_null(builder);
}

/* struct<a: int32, l: list<text>, m: map<text, bool>> */
struct nested {
    struct ArrowSchema a, item, l, key, value, entries, m, root;
    struct ArrowSchema *of_l[1], *of_entries[2], *of_m[1], *columns[3];
};

static void init_nested(struct nested *n)
{
    *n = (struct nested){.a = FIELD("i", "a"),
                         .item = FIELD("u", "item"),
                         .l = FIELD("+l", "l"),
                         .key = FIELD("u", "key"),
                         .value = FIELD("b", "v"),
                         .entries = FIELD("+s", "entries"),
                         .m = FIELD("+m", "m"),
                         .root = FIELD("+s", "")};
    n->of_l[0] = &n->item;
    n->of_entries[0] = &n->key;
    n->of_entries[1] = &n->value;
    n->of_m[0] = &n->entries;
    n->columns[0] = &n->a;
    n->columns[1] = &n->l;
    n->columns[2] = &n->m;
    n->l.n_children = n->m.n_children = 1;
    n->entries.n_children = 2;
    n->root.n_children = 3;
    n->l.children = n->of_l;
    n->entries.children = n->of_entries;
    n->m.children = n->of_m;
    n->root.children = n->columns;
}

#define NESTED_ROWS                                                                                \
    "[(1, [\"x\", null], [(\"k\", true)]), null, (null, null, []), (4, [], null), "                \
    "(5, [\"y\"], [(\"l\", null), (\"m\", false)])]"

static void builds_nested_rows(void **state)
{
    struct hd_op *op = *state;
    struct nested n;

    init_nested(&n);
    struct ArrowArray array = test_array(op, &n.root, NESTED_ROWS);
    ASSERT_ARRAY(&n.root, &array, NESTED_ROWS);
    array = test_shifted(op, &n.root, &array);
    ASSERT_ARRAY(&n.root, &array, NESTED_ROWS);
    hd_array_clear(&array);
}

/* A record that turns out bad half-way: some children have the row, a list has open items. */
/* A writer takes a null in a column without nulls for a fault, also behind a null of the struct. */
static void a_null_struct_has_no_nulls_where_its_fields_take_none(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema deep = {.format = "l", .name = "deep"};
    struct ArrowSchema *deep_children[] = {&deep};
    struct ArrowSchema number = {.format = "i", .name = "number"};
    struct ArrowSchema text = {.format = "u", .name = "text"};
    struct ArrowSchema inner = {
        .format = "+s", .name = "inner", .n_children = 1, .children = deep_children};
    struct ArrowSchema list = FIELD("u", "list");
    struct ArrowSchema *children[] = {&number, &text, &inner, &list};
    const struct ArrowSchema field = PARENT("+s", "a", children);
    const char *const rows = "[(1, \"x\", (2), null), null, null, (3, \"y\", (4), \"z\")]";
    struct ArrowArray array = test_array(op, &field, rows);

    ASSERT_ARRAY(&field, &array, rows);
    for (int i = 0; i < 3; i++)
        assert_int_equal(array.children[i]->null_count, 0);
    ASSERT_ARRAY(&number, array.children[0], "[1, 0, 0, 3]");
    ASSERT_ARRAY(&text, array.children[1], "[\"x\", \"\", \"\", \"y\"]");
    ASSERT_ARRAY(&inner, array.children[2], "[(2), (0), (0), (4)]");
    ASSERT_ARRAY(&list, array.children[3], "[null, null, null, \"z\"]");
    hd_array_clear(&array);
}

static void truncates_to_whole_rows(void **state)
{
    struct hd_op *op = *state;
    struct nested n;
    hd_builder *b;
    struct ArrowArray array;

    init_nested(&n);
    OK(hd_builder_new(op, &n.root, &b));
    const char *at = "(1, [\"x\"], [(\"k\", true)]), null, (3, [\"y\", \"z\"], null)";
    for (int i = 0; i < 3; i++)
        at = test_append(op, b, test_skip(at));
    OK(hd_builder_append_integer(op, hd_builder_child(b, 0), 4));
    OK(hd_builder_append_bytes(op, hd_builder_child(hd_builder_child(b, 1), 0),
                               hd_slice_text("?")));
    OK(hd_builder_append_bytes(op, hd_builder_child(hd_builder_child(b, 2), 0),
                               hd_slice_text("?")));
    hd_builder_truncate(b, 3);
    test_append(op, b, "(7, [\"w\"], [(\"n\", null)])");
    hd_builder_truncate(b, 4);
    hd_builder_truncate(b, 2);
    test_append(op, b, "(8, null, [(\"o\", false)])");
    OK(hd_builder_finish(op, b, &array));
    ASSERT_ARRAY(&n.root, &array,
                 "[(1, [\"x\"], [(\"k\", true)]), null, (8, null, [(\"o\", false)])]");
    hd_array_clear(&array);
    hd_builder_free(b);
}

static void truncating_keeps_nulls_and_bits_right(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema field = FIELD("b", "a");
    hd_builder *b;
    struct ArrowArray array;

    OK(hd_builder_new(op, &field, &b));
    for (int i = 0; i < 40; i++)
        OK(i % 2 ? hd_builder_append_null(op, b) : hd_builder_append_integer(op, b, 1));
    hd_builder_truncate(b, 3);
    for (int i = 0; i < 9; i++)
        OK(i == 4 ? hd_builder_append_null(op, b) : hd_builder_append_integer(op, b, 0));
    OK(hd_builder_finish(op, b, &array));
    assert_int_equal(array.null_count, 2);
    ASSERT_ARRAY(
        &field, &array,
        "[true, null, true, false, false, false, false, null, false, false, false, false]");
    hd_array_clear(&array);
    hd_builder_free(b);
}

static hudi_status fill(struct hd_op *op, hd_builder *b)
{
    hd_builder *list = hd_builder_child(b, 1);

    for (int i = 0; i < 100; i++) {
        if (i % 9 == 8) {
            HD_TRY(hd_builder_append_null(op, b));
            continue;
        }
        HD_TRY(hd_builder_append_integer(op, hd_builder_child(b, 0), i));
        HD_TRY(hd_builder_append_bytes(op, hd_builder_child(list, 0), hd_slice_text("item")));
        HD_TRY(hd_builder_append_valid(op, list));
        HD_TRY(hd_builder_append_null(op, hd_builder_child(b, 2)));
        HD_TRY(hd_builder_append_valid(op, b));
    }
    return HUDI_OK;
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct nested n;
    hudi_status status = HUDI_INTERNAL;

    init_nested(&n);
    for (int nth = 1; status != HUDI_OK; nth++) {
        hd_builder *b = NULL;
        struct ArrowArray array = {0};

        test_fault_arm(op, nth);
        status = hd_builder_new(op, &n.root, &b);
        if (status == HUDI_OK)
            status = fill(op, b);
        if (status == HUDI_OK)
            status = hd_builder_finish(op, b, &array);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_int_equal(status == HUDI_OK, array.release != NULL);
        hd_array_clear(&array);
        hd_builder_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(builds_every_kind_of_value),
        TEST(grows_over_many_rows_and_starts_again_after_finish),
        TEST(refuses_values_out_of_range_and_stays_as_it_was),
        TEST(builds_nested_rows),
        TEST(a_null_struct_has_no_nulls_where_its_fields_take_none),
        TEST(truncates_to_whole_rows),
        TEST(truncating_keeps_nulls_and_bits_right),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
