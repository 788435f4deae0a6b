/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "arrow_testing.h"

/* Labels: threads */

static void buffers_are_aligned_padded_and_zeroed(void **state)
{
    struct hd_op *op = *state;
    uint8_t *buffer;

    OK(hd_buffer_new(op, 65, &buffer));
    assert_int_equal((uintptr_t)buffer % 64, 0);
    assert_int_equal(hd_buffer_capacity(buffer), 128);
    for (int i = 0; i < 128; i++)
        assert_int_equal(buffer[i], 0);
    memset(buffer, 7, 128);
    OK(hd_buffer_grow(op, &buffer, 65, 128));
    assert_int_equal(buffer[127], 7);
    OK(hd_buffer_grow(op, &buffer, 65, 1000));
    assert_int_equal(buffer[64], 7);
    for (int i = 65; i < 1000; i++)
        assert_int_equal(buffer[i], 0);
    hd_buffer_free(buffer);
    buffer = NULL;
    OK(hd_buffer_grow(op, &buffer, 0, 10));
    assert_int_equal(buffer[9], 0);
    hd_buffer_free(buffer);
    OK(hd_buffer_new_raw(op, 70, &buffer));
    for (int i = 70; i < 128; i++)
        assert_int_equal(buffer[i], 0);
    hd_buffer_free(buffer);
    assert_int_equal(hd_buffer_new(op, UINT64_MAX, &buffer), HUDI_NO_MEMORY);
    assert_null(buffer);
    hd_buffer_free(NULL);
}

static void makes_constant_columns(void **state)
{
    struct hd_op *op = *state;
    const struct ArrowSchema text = FIELD("u", "a");
    struct ArrowSchema dictionary;
    struct ArrowArray array;

    OK(hd_array_constant_string(op, hd_slice_text("ab"), 3, &array));
    ASSERT_ARRAY(&text, &array, "[\"ab\", \"ab\", \"ab\"]");
    hd_array_clear(&array);
    OK(hd_array_constant_string(op, hd_slice_text(""), 0, &array));
    ASSERT_ARRAY(&text, &array, "[]");
    hd_array_clear(&array);
    assert_int_equal(
        hd_array_constant_string(op, hd_slice_text("0123456789"), INT64_C(1) << 30, &array),
        HUDI_INVALID);
    assert_null(array.release);
    OK(hd_schema_init_dictionary(op, &dictionary, "d", true));
    OK(hd_array_constant_dictionary(op, hd_slice_text("ab"), 2, &array));
    ASSERT_ARRAY(&dictionary, &array, "[\"ab\", \"ab\"]");
    assert_int_equal(array.dictionary->length, 1);
    hd_array_clear(&array);
    hd_schema_clear(&dictionary);
}

static void makes_nulls_of_any_type(void **state)
{
    static const char *const FORMATS[] = {"n", "b",   "i",   "l",   "f",   "g",      "u",
                                          "z", "w:3", "tdD", "ttm", "ttn", "d:10,2", "tsu:"};
    struct hd_op *op = *state;
    struct ArrowArray array;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(FORMATS); i++) {
        const struct ArrowSchema field = FIELD(FORMATS[i], "a");
        OK(hd_array_nulls(op, &field, 2, &array));
        ASSERT_ARRAY(&field, &array, "[null, null]");
        hd_array_clear(&array);
    }
    struct ArrowSchema item = FIELD("i", "item");
    struct ArrowSchema *of_list[] = {&item};
    struct ArrowSchema list = PARENT("+l", "l", of_list);
    struct ArrowSchema *of_struct[] = {&list, &item};
    const struct ArrowSchema both = PARENT("+s", "s", of_struct);
    OK(hd_array_nulls(op, &both, 2, &array));
    ASSERT_ARRAY(&both, &array, "[null, null]");
    assert_int_equal(array.children[0]->length, 2);
    hd_array_clear(&array);
}

static void slices_rows_and_refuses_those_that_are_not_there(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema a = FIELD("i", "a"), b = FIELD("u", "b");
    struct ArrowSchema *columns[] = {&a, &b};
    const struct ArrowSchema root = PARENT("+s", "", columns);
    struct ArrowArray array = test_array(op, &root, "[(1, \"x\"), (2, null), null, (4, \"z\")]");
    struct ArrowArray part, rest;

    OK(hd_array_slice(op, &array, 1, 3, &part));
    assert_null(array.release);
    ASSERT_ARRAY(&root, &part, "[(2, null), null, (4, \"z\")]");
    OK(hd_array_slice(op, &part, 2, 1, &rest));
    ASSERT_ARRAY(&root, &rest, "[(4, \"z\")]");
    assert_int_equal(hd_array_slice(op, &rest, 1, 1, &part), HUDI_INVALID);
    assert_null(rest.release);
    assert_null(part.release);
}

static void puts_columns_into_a_struct(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema a = FIELD("i", "a"), b = FIELD("u", "b");
    struct ArrowSchema *fields[] = {&a, &b};
    const struct ArrowSchema root = PARENT("+s", "", fields);
    struct ArrowArray columns[] = {test_array(op, &a, "[1, 2]"),
                                   test_array(op, &b, "[null, \"x\"]")};
    struct ArrowArray out;

    OK(hd_array_struct(op, columns, 2, 2, &out));
    assert_null(columns[0].release);
    ASSERT_ARRAY(&root, &out, "[(1, null), (2, \"x\")]");
    /* i32: 8; validity 1, offsets 12, data 1 */
    assert_int_equal(hd_array_bytes(&root, &out), 22);
    hd_array_clear(&out);
}

static void handles_outlive_the_shared_owner(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema item = FIELD("u", "item");
    struct ArrowSchema *of_list[] = {&item};
    struct ArrowSchema a = FIELD("i", "a"), list = PARENT("+l", "l", of_list);
    struct ArrowSchema *columns[] = {&a, &list};
    const struct ArrowSchema root = PARENT("+s", "", columns);
    struct ArrowArray array =
        test_array(op, &root, "[(0, null), (1, [\"x\"]), (2, [\"y\", null]), (3, [])]");
    struct ArrowArray sliced, whole, column;
    struct hd_shared_array *shared;

    OK(hd_array_slice(op, &array, 1, 2, &sliced));
    OK(hd_shared_array_new(op, &sliced, &shared));
    assert_null(sliced.release);
    assert_int_equal(hd_shared_array_get(shared)->length, 2);
    OK(hd_array_share(op, shared, -1, &whole));
    OK(hd_array_share(op, shared, 1, &column));
    assert_int_equal(hd_array_share(op, shared, 2, &array), HUDI_INVALID);
    assert_null(array.release);
    hd_shared_array_free(shared);
    ASSERT_ARRAY(&root, &whole, "[(1, [\"x\"]), (2, [\"y\", null])]");
    struct ArrowArray moved = *whole.children[0];
    whole.children[0]->release = NULL;
    hd_array_clear(&whole);
    ASSERT_ARRAY(&list, &column, "[[\"x\"], [\"y\", null]]");
    hd_array_clear(&column);
    ASSERT_ARRAY(&a, &moved, "[0, 1, 2, 3]");
    hd_array_clear(&moved);
    hd_shared_array_free(NULL);
}

static void *share_and_release(void *argument)
{
    struct hd_op op;

    hd_op_init(&op);
    for (int i = 0; i < 1000; i++) {
        struct ArrowArray out;
        if (hd_array_share(&op, argument, i % 2 - 1, &out) == HUDI_OK)
            hd_array_clear(&out);
    }
    hd_op_clear(&op);
    return NULL;
}

static void handles_come_and_go_on_any_thread(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema a = FIELD("i", "a");
    struct ArrowSchema *columns[] = {&a};
    const struct ArrowSchema root = PARENT("+s", "", columns);
    struct ArrowArray array = test_array(op, &root, "[(1), (2)]");
    struct hd_shared_array *shared;
    pthread_t threads[3];

    OK(hd_shared_array_new(op, &array, &shared));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, share_and_release, shared), 0);
    share_and_release(shared);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    hd_shared_array_free(shared);
}

static hudi_status make_all(struct hd_op *op, const struct ArrowSchema *root)
{
    struct ArrowArray columns[2] = {0}, out = {0}, handle = {0};
    struct hd_shared_array *shared = NULL;
    hudi_status status;

    HD_TRY_OUT(hd_array_constant_string(op, hd_slice_text("x"), 3, &columns[0]));
    HD_TRY_OUT(hd_array_nulls(op, root->children[1], 3, &columns[1]));
    HD_TRY_OUT(hd_array_struct(op, columns, 2, 3, &out));
    HD_TRY_OUT(hd_shared_array_new(op, &out, &shared));
    HD_TRY_OUT(hd_array_share(op, shared, -1, &handle));
    hd_array_clear(&handle);
    HD_TRY_OUT(hd_array_constant_dictionary(op, hd_slice_text("x"), 3, &handle));
out:
    hd_array_clear(&columns[0]);
    hd_array_clear(&columns[1]);
    hd_array_clear(&out);
    hd_array_clear(&handle);
    hd_shared_array_free(shared);
    return status;
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema item = FIELD("u", "item"), text = FIELD("u", "t");
    struct ArrowSchema *of_list[] = {&item};
    struct ArrowSchema list = PARENT("+l", "l", of_list);
    struct ArrowSchema *columns[] = {&text, &list};
    const struct ArrowSchema root = PARENT("+s", "", columns);
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        status = make_all(op, &root);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(buffers_are_aligned_padded_and_zeroed),
        TEST(makes_constant_columns),
        TEST(makes_nulls_of_any_type),
        TEST(slices_rows_and_refuses_those_that_are_not_there),
        TEST(puts_columns_into_a_struct),
        TEST(handles_outlive_the_shared_owner),
        TEST(handles_come_and_go_on_any_thread),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
