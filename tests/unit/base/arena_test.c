/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdalign.h>
#include <string.h>

#include "base/arena.h"
#include "support/fault.h"

static bool is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* Sizes from 0 to beyond the largest chunk: all zeroed, aligned, and apart from each other. */
static void allocations_are_zeroed_aligned_and_apart(void **state)
{
    enum { N = 3000 };
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    uint8_t *pointers[N];
    size_t sizes[N];

    for (size_t i = 0; i < N; i++) {
        sizes[i] = i % 100 == 99 ? i * 900 : i % 71;
        assert_int_equal(hd_arena_alloc(op, &arena, sizes[i], &pointers[i]), HUDI_OK);
        assert_non_null(pointers[i]);
        assert_int_equal((uintptr_t)pointers[i] % alignof(max_align_t), 0);
        assert_true(is_zero(pointers[i], sizes[i]));
        memset(pointers[i], (int)(i % 255 + 1), sizes[i]);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < sizes[i]; j += 1 + sizes[i] / 50)
            assert_int_equal(pointers[i][j], i % 255 + 1);
    hd_arena_clear(&arena);
    assert_null(arena.chunks);
    assert_int_equal(arena.total_bytes, 0);
}

static void strings_between_numbers_keep_alignment(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    char *text, *none;
    uint64_t *number;

    for (int i = 0; i < 500; i++) {
        assert_int_equal(hd_arena_printf(op, &arena, &text, "key-%d", i), HUDI_OK);
        assert_int_equal(hd_arena_array(op, &arena, 3, sizeof *number, &number), HUDI_OK);
        assert_int_equal((uintptr_t)number % alignof(max_align_t), 0);
        number[2] = UINT64_MAX;
        assert_int_equal(text[4] - '0', i < 10 ? i : i < 100 ? i / 10 : i / 100);
    }
    assert_int_equal(hd_arena_strndup(op, &arena, "ab\0cd", 4, &text), HUDI_OK);
    assert_memory_equal(text, "ab\0c", 5);
    assert_int_equal(hd_arena_strndup(op, &arena, NULL, 0, &text), HUDI_OK);
    assert_string_equal(text, "");
    assert_int_equal(hd_arena_strdup(op, &arena, "x", &text), HUDI_OK);
    assert_string_equal(text, "x");
    assert_int_equal(hd_arena_strdup(op, &arena, NULL, &none), HUDI_OK);
    assert_null(none);
    hd_arena_clear(&arena);
}

static void a_large_allocation_does_not_end_the_current_chunk(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    uint8_t *small, *large, *next;

    assert_int_equal(hd_arena_alloc(op, &arena, 16, &small), HUDI_OK);
    const size_t left = arena.left_bytes;
    assert_int_equal(hd_arena_alloc(op, &arena, 1 << 22, &large), HUDI_OK);
    assert_int_equal(arena.left_bytes, left);
    assert_int_equal(hd_arena_alloc(op, &arena, 16, &next), HUDI_OK);
    assert_in_range(next - small, 16, 64);
    hd_arena_clear(&arena);
}

static void many_small_allocations_take_few_chunks(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    uint8_t *bytes;
    int64_t nth = 1;

    test_fault_arm(op, 1000000); /* to count */
    for (int i = 0; i < 100000; i++)
        assert_int_equal(hd_arena_alloc(op, &arena, 16, &bytes), HUDI_OK);
    nth = 999999 - op->faults->left;
    assert_in_range(nth, 1, 20);
    assert_in_range(arena.total_bytes, 1600000, 8000000);
    hd_arena_clear(&arena);
}

static void a_reset_arena_is_zeroed_again_and_reuses_its_chunk(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    uint8_t *bytes;

    hd_arena_reset(&arena); /* of an empty one */
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 100; i++) {
            assert_int_equal(hd_arena_alloc(op, &arena, 100, &bytes), HUDI_OK);
            assert_true(is_zero(bytes, 100));
            memset(bytes, 0xFF, 100);
        }
        const uint64_t total = arena.total_bytes;
        hd_arena_reset(&arena);
        assert_true(arena.total_bytes <= total);
        assert_int_equal(arena.left_bytes, arena.total_bytes);
    }
    test_fault_arm(op, 1);
    for (int i = 0; i < 50; i++)
        assert_int_equal(hd_arena_alloc(op, &arena, 100, &bytes), HUDI_OK);
    assert_false(test_fault_fired(op));
    hd_arena_clear(&arena);
}

static void sizes_that_do_not_fit_are_no_memory(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    uint8_t *bytes = (uint8_t *)state;
    char *text;

    for (size_t less = 0; less < 64; less++) {
        assert_int_equal(hd_arena_alloc(op, &arena, SIZE_MAX - less, &bytes), HUDI_NO_MEMORY);
        assert_null(bytes);
    }
    assert_int_equal(hd_arena_array(op, &arena, SIZE_MAX / 2, 3, &bytes), HUDI_NO_MEMORY);
    assert_null(bytes);
    assert_int_equal(hd_arena_strndup(op, &arena, "", SIZE_MAX, &text), HUDI_NO_MEMORY);
    assert_null(text);
    hd_arena_clear(&arena);
}

static hudi_status fill(struct hd_op *op, struct hd_arena *arena)
{
    uint8_t *bytes;
    char *text;

    for (int i = 0; i < 100; i++) {
        HD_TRY(hd_arena_alloc(op, arena, 100, &bytes));
        HD_TRY(hd_arena_array(op, arena, 50, 100, &bytes));
        HD_TRY(hd_arena_printf(op, arena, &text, "%d", i));
    }
    return HUDI_OK;
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;
    int nth = 1;

    for (; status != HUDI_OK; nth++) {
        struct hd_arena arena = {0};

        test_fault_arm(op, nth);
        status = fill(op, &arena);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        if (status != HUDI_OK)
            assert_int_equal(fill(op, &arena), HUDI_OK); /* usable after a failure */
        hd_arena_clear(&arena);
    }
    assert_in_range(nth, 4, 1000);
}

int main(void)
{
#define WITH_OP(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        WITH_OP(allocations_are_zeroed_aligned_and_apart),
        WITH_OP(strings_between_numbers_keep_alignment),
        WITH_OP(a_large_allocation_does_not_end_the_current_chunk),
        WITH_OP(many_small_allocations_take_few_chunks),
        WITH_OP(a_reset_arena_is_zeroed_again_and_reuses_its_chunk),
        WITH_OP(sizes_that_do_not_fit_are_no_memory),
        WITH_OP(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
