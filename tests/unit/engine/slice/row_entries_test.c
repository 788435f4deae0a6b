/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "engine/slice/row_entries.h"
#include "support/fault.h"
#include "support/table.h"

#define N_ROWS 1000

/* Every `step`-th row from `first` on has an entry; they come from the last to the first. */
static void fill(struct hd_op *op, uint64_t first, uint64_t step, struct hd_row_entries *out)
{
    int64_t number = 0;

    test_must(op, hd_row_entries_init(op, N_ROWS, out));
    for (uint64_t row = first + (N_ROWS - 1 - first) / step * step;; row -= step, number++) {
        test_must(op, hd_row_entries_add(op, out, &number, &row, 1));
        if (row == first)
            break;
    }
    test_must(op, hd_row_entries_seal(op, out));
    assert_null(out->flaw);
}

static void check_range(const struct hd_row_entries *entries, uint64_t first, uint64_t n,
                        uint64_t start, uint64_t step)
{
    const uint64_t last = start + (N_ROWS - 1 - start) / step * step;
    static uint32_t rows[N_ROWS + 1];
    static int64_t numbers[N_ROWS + 1];
    int64_t expected = 0;

    const int64_t n_found = hd_row_entries_find(entries, first, n, rows, numbers);
    for (uint64_t row = first; row < first + n && row < N_ROWS; row++) {
        if (row < start || (row - start) % step != 0)
            continue;
        assert_true(expected < n_found);
        assert_int_equal(rows[expected], row - first);
        assert_int_equal(numbers[expected], (last - row) / step);
        expected++;
    }
    assert_int_equal(n_found, expected);
    assert_int_equal(hd_row_entries_any(entries, first, n), expected > 0);
}

static void any_range_of_rows_gives_its_entries(void **state)
{
    static const uint64_t STEPS[] = {1, 2, 63, 64, 65, 300};
    static const uint64_t LENGTHS[] = {0, 1, 2, 63, 64, 65, 128, 999, 1000};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(STEPS); i++)
        for (uint64_t start = 0; start < 130; start += 43) {
            struct hd_row_entries entries;

            fill(*state, start, STEPS[i], &entries);
            for (uint64_t first = 0; first <= N_ROWS; first++)
                for (size_t k = 0; k < HD_ARRAY_LENGTH(LENGTHS); k++)
                    check_range(&entries, first, LENGTHS[k], start, STEPS[i]);
            hd_row_entries_clear(*state, &entries);
        }
}

static void check_flaw(struct hd_op *op, const int64_t *numbers, const uint64_t *rows, int64_t n,
                       const char *flaw)
{
    struct hd_row_entries entries;

    test_must(op, hd_row_entries_init(op, 5, &entries));
    test_must(op, hd_row_entries_add(op, &entries, numbers, rows, n));
    if (flaw == NULL) {
        assert_null(entries.flaw);
    } else {
        assert_string_equal(entries.flaw, flaw);
        assert_true(entries.is_wrong);
        assert_int_equal(entries.reserved_bytes, 0);
        test_must(op, hd_row_entries_add(op, &entries, numbers, rows, n));
        test_must(op, hd_row_entries_seal(op, &entries));
        hd_row_entries_drop(op, &entries, "another", false);
        assert_string_equal(entries.flaw, flaw);
    }
    hd_row_entries_clear(op, &entries);
}

static void rows_and_entries_are_one_to_one_within_the_file(void **state)
{
    static const int64_t NUMBERS[] = {0, 1, 1, 2}, TWICE[] = {0, 1, 0};
    static const uint64_t RIGHT[] = {4, 0, 0, 2}, TWO_KEYS[] = {4, 0, 0, 4}, TWO_ROWS[] = {4, 0, 3},
                          BEYOND[] = {5};

    check_flaw(*state, NUMBERS, RIGHT, 4, NULL);
    check_flaw(*state, NUMBERS, TWO_KEYS, 4, "two record keys have the same one");
    check_flaw(*state, TWICE, TWO_ROWS, 3, "a record key has two of them");
    check_flaw(*state, NUMBERS, BEYOND, 1, "one is beyond the last row of the base file");
}

static void files_without_rows_and_with_too_many(void **state)
{
    struct hd_row_entries entries;
    const int64_t number = 0;
    const uint64_t row = 0;

    test_must(*state, hd_row_entries_init(*state, 0, &entries));
    test_must(*state, hd_row_entries_seal(*state, &entries));
    assert_null(entries.flaw);
    assert_false(hd_row_entries_any(&entries, 0, 10));
    hd_row_entries_clear(*state, &entries);
    test_must(*state, hd_row_entries_init(*state, 0, &entries));
    test_must(*state, hd_row_entries_add(*state, &entries, &number, &row, 1));
    assert_non_null(entries.flaw);
    hd_row_entries_clear(*state, &entries);
    test_must(*state, hd_row_entries_init(*state, INT64_C(1) << 32, &entries));
    assert_non_null(entries.flaw);
    assert_false(entries.is_wrong);
    hd_row_entries_clear(*state, &entries);
    test_must(*state, hd_row_entries_init(*state, -1, &entries));
    assert_non_null(entries.flaw);
    hd_row_entries_clear(*state, &entries);
}

static void what_is_added_after_a_restart_counts_alone(void **state)
{
    static const int64_t NUMBERS[] = {0, 1};
    static const uint64_t BEFORE[] = {1, 2}, AFTER[] = {2, 3};
    struct hd_row_entries entries;
    uint32_t rows[5];
    int64_t numbers[5];

    test_must(*state, hd_row_entries_init(*state, 5, &entries));
    test_must(*state, hd_row_entries_add(*state, &entries, NUMBERS, BEFORE, 2));
    hd_row_entries_restart(&entries);
    test_must(*state, hd_row_entries_add(*state, &entries, NUMBERS, AFTER, 2));
    test_must(*state, hd_row_entries_seal(*state, &entries));
    assert_int_equal(hd_row_entries_find(&entries, 0, 5, rows, numbers), 2);
    assert_int_equal(rows[0], 2);
    assert_int_equal(numbers[1], 1);
    hd_row_entries_clear(*state, &entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_range_of_rows_gives_its_entries),
        cmocka_unit_test(rows_and_entries_are_one_to_one_within_the_file),
        cmocka_unit_test(files_without_rows_and_with_too_many),
        cmocka_unit_test(what_is_added_after_a_restart_counts_alone),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
