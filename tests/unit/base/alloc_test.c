/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "base/op.h"
#include "support/fault.h"

/* Labels: threads */

static void memory_is_zeroed_and_never_null(void **state)
{
    struct hd_op *op = *state;
    uint32_t *numbers;
    char *nothing;

    assert_int_equal(hd_alloc(op, 0, &nothing), HUDI_OK);
    assert_non_null(nothing);
    assert_int_equal(hd_alloc_array(op, 100, sizeof *numbers, &numbers), HUDI_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(numbers[i], 0);
    hd_free(op, numbers);
    hd_free(NULL, nothing);
    hd_free(op, NULL);
    assert_int_equal(hd_alloc_raw(op, 0, 4, &numbers), HUDI_OK);
    assert_non_null(numbers);
    hd_free(op, numbers);
}

static void sizes_that_do_not_fit_are_no_memory(void **state)
{
    struct hd_op *op = *state;
    char *pointer = (char *)state;
    size_t capacity = 0;

    assert_int_equal(hd_alloc(op, SIZE_MAX, &pointer), HUDI_NO_MEMORY);
    assert_null(pointer);
    assert_string_equal(hudi_error_message(op->error), "no memory for 18446744073709551615 bytes");
    pointer = (char *)state;
    assert_int_equal(hd_alloc_array(op, SIZE_MAX / 2, 3, &pointer), HUDI_NO_MEMORY);
    assert_null(pointer);
    assert_int_equal(hd_alloc_raw(op, 2, SIZE_MAX, &pointer), HUDI_NO_MEMORY);
    assert_int_equal(hd_grow(op, &pointer, &capacity, SIZE_MAX / 4, 8), HUDI_NO_MEMORY);
    assert_null(pointer);
    assert_int_equal(capacity, 0);
    assert_int_equal(hd_strndup(op, "", SIZE_MAX, &pointer), HUDI_NO_MEMORY);
    assert_null(pointer);
}

static void growing_keeps_content_and_takes_few_steps(void **state)
{
    struct hd_op *op = *state;
    uint64_t *numbers = NULL;
    size_t capacity = 0, n_steps = 0;

    for (size_t n = 0; n < 100000; n++) {
        const size_t before = capacity;

        assert_int_equal(hd_grow(op, &numbers, &capacity, n + 1, sizeof *numbers), HUDI_OK);
        n_steps += capacity != before;
        numbers[n] = n * 7;
    }
    assert_in_range(n_steps, 1, 40);
    for (size_t n = 0; n < 100000; n++)
        assert_true(numbers[n] == n * 7);
    const size_t before = capacity;
    assert_int_equal(hd_grow(op, &numbers, &capacity, before * 10, sizeof *numbers), HUDI_OK);
    assert_int_equal(capacity, before * 10);
    hd_free(op, numbers);
}

static void a_failed_growth_changes_nothing(void **state)
{
    struct hd_op *op = *state;
    char *text = NULL;
    size_t capacity = 0;

    assert_int_equal(hd_grow(op, &text, &capacity, 100, 1), HUDI_OK);
    memcpy(text, "abc", 4);
    char *const before = text;
    test_fault_arm(op, 1);
    assert_int_equal(hd_grow(op, &text, &capacity, 100, 1), HUDI_OK); /* has the room */
    assert_int_equal(hd_grow(op, &text, &capacity, 101, 1), HUDI_NO_MEMORY);
    assert_ptr_equal(text, before);
    assert_int_equal(capacity, 100);
    assert_string_equal(text, "abc");
    hd_free(op, text);
}

static void copies_have_a_nul_behind_them(void **state)
{
    struct hd_op *op = *state;
    char *a, *b, *c, *d;

    assert_int_equal(hd_strdup(op, "text", &a), HUDI_OK);
    assert_int_equal(hd_strndup(op, "te\0xt!", 5, &b), HUDI_OK);
    assert_int_equal(hd_strndup(op, NULL, 0, &c), HUDI_OK);
    assert_int_equal(hd_strdup(op, NULL, &d), HUDI_OK);
    assert_string_equal(a, "text");
    assert_memory_equal(b, "te\0xt", 6);
    assert_string_equal(c, "");
    assert_null(d);
    hd_free(op, a);
    hd_free(op, b);
    hd_free(op, c);
}

static void printing_takes_any_length(void **state)
{
    struct hd_op *op = *state;
    char *text;

    assert_int_equal(hd_asprintf(op, &text, "%s-%d", "a", 5), HUDI_OK);
    assert_string_equal(text, "a-5");
    hd_free(op, text);
    assert_int_equal(hd_asprintf(op, &text, "%*d", 10000, 5), HUDI_OK);
    assert_int_equal(strlen(text), 10000);
    hd_free(op, text);
}

static void each_allocation_is_one_fault_point(void **state)
{
    struct hd_op *op = *state;
    char *out = (char *)state;

    for (int which = 0; which < 6; which++) {
        hudi_status status = HUDI_INTERNAL;
        size_t capacity = 0;

        out = NULL;
        test_fault_arm(op, 1);
        switch (which) {
        case 0:
            status = hd_alloc(op, 8, &out);
            break;
        case 1:
            status = hd_alloc_array(op, 8, 8, &out);
            break;
        case 2:
            status = hd_alloc_raw(op, 8, 8, &out);
            break;
        case 3:
            status = hd_grow(op, &out, &capacity, 1, 1);
            break;
        case 4:
            status = hd_strdup(op, "x", &out);
            break;
        case 5:
            status = hd_asprintf(op, &out, "x");
            break;
        }
        assert_int_equal(status, HUDI_NO_MEMORY);
        assert_true(test_fault_fired(op));
        assert_null(out);
        assert_int_equal(hudi_error_status(op->error), HUDI_NO_MEMORY);
    }
}

static void a_budget_refuses_what_passes_the_limit(void **state)
{
    struct hd_op *op = *state;

    test_budget_limit(op, 100);
    assert_true(hd_budget_try_reserve(op, 60));
    assert_false(hd_budget_try_reserve(op, 41));
    assert_false(hd_budget_try_reserve(op, UINT64_MAX));
    assert_null(op->error);
    assert_true(hd_budget_try_reserve(op, 40));
    assert_false(hd_budget_try_reserve(op, 1));
    hd_budget_release(op, 60);
    assert_true(hd_budget_try_reserve(op, 1));
    hd_budget_release(op, 41);
    assert_int_equal(op->budget->used_bytes, 0);
}

static void the_default_budget_never_refuses(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    assert_true(hd_budget_try_reserve(&op, UINT64_MAX));
    assert_true(hd_budget_try_reserve(&op, UINT64_MAX));
    hd_budget_release(&op, 5);
    hd_op_clear(&op);
}

static void *reserve_many(void *argument)
{
    struct hd_op *op = argument;
    intptr_t n = 0;

    for (int i = 0; i < 10000; i++)
        n += hd_budget_try_reserve(op, 3);
    return (void *)n;
}

static void threads_together_never_pass_the_limit(void **state)
{
    struct hd_op *op = *state, children[4];
    pthread_t threads[4];
    intptr_t n_reserved = 0;

    test_budget_limit(op, 50000);
    for (int i = 0; i < 4; i++) {
        hd_op_init_child(&children[i], op);
        assert_int_equal(pthread_create(&threads[i], NULL, reserve_many, &children[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *n;

        pthread_join(threads[i], &n);
        n_reserved += (intptr_t)n;
    }
    assert_int_equal(n_reserved, 50000 / 3);
    hd_budget_release(op, (uint64_t)n_reserved * 3);
}

int main(void)
{
#define WITH_OP(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        WITH_OP(memory_is_zeroed_and_never_null),
        WITH_OP(sizes_that_do_not_fit_are_no_memory),
        WITH_OP(growing_keeps_content_and_takes_few_steps),
        WITH_OP(a_failed_growth_changes_nothing),
        WITH_OP(copies_have_a_nul_behind_them),
        WITH_OP(printing_takes_any_length),
        WITH_OP(each_allocation_is_one_fault_point),
        WITH_OP(a_budget_refuses_what_passes_the_limit),
        cmocka_unit_test(the_default_budget_never_refuses),
        WITH_OP(threads_together_never_pass_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
