/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/record/key_range.h"
#include "engine/record/key_sort.h"
#include "support/fault.h"

static struct hd_slice key_of(const void *keys, int64_t number)
{
    return ((const struct hd_slice *)keys)[number];
}

static void check_sorted(struct hd_op *op, const struct hd_slice *keys, int64_t n, bool same_order)
{
    const struct hd_keyed keyed = {keys, key_of};
    int64_t *numbers = calloc((size_t)n, sizeof *numbers);
    bool *seen = calloc((size_t)n, sizeof *seen), same;

    for (int64_t i = 0; i < n; i++)
        numbers[i] = i;
    assert_int_equal(hd_sort_by_key(op, &keyed, numbers, n, &same), HUDI_OK);
    assert_int_equal(same, same_order);
    for (int64_t i = 0; i < n; i++) {
        assert_false(seen[numbers[i]]);
        seen[numbers[i]] = true;
        if (i == 0)
            continue;
        const int order = hd_key_compare(keys[numbers[i - 1]], keys[numbers[i]]);
        assert_true(order < 0 || (order == 0 && numbers[i - 1] < numbers[i]));
    }
    free(numbers);
    free(seen);
}

static void check_texts(struct hd_op *op, const char *const *texts, size_t n, bool same_order)
{
    struct hd_slice *keys = calloc(n, sizeof *keys);

    for (size_t i = 0; i < n; i++)
        keys[i] = hd_slice_text(texts[i]);
    check_sorted(op, keys, (int64_t)n, same_order);
    free(keys);
}

static void sorts_few_keys(void **state)
{
    static const char *const KEYS[] = {"b", "a", "ab", "", "abc", "aa"};

    check_texts(*state, KEYS, HD_ARRAY_LENGTH(KEYS), true);
}

/* U+FF5E stands before U+1F600 by bytes and behind it by UTF-16 units. */
static void sorts_as_java_does_where_bytes_differ(void **state)
{
    static const char *const KEYS[] = {"k\xef\xbd\x9e", "k\xf0\x9f\x98\x80", "kz"};

    check_texts(*state, KEYS, HD_ARRAY_LENGTH(KEYS), false);
}

/* Longer than the prefix of eight bytes, with ties in it, and enough for the radix sort. */
static void sorts_many_keys_with_a_common_prefix(void **state)
{
    enum { N = 5000 };
    static char texts[N][40];
    const char *keys[N];

    for (int i = 0; i < N; i++) {
        snprintf(texts[i], sizeof texts[i], "table/key-%04d-%s%05d", i % 7, i % 3 ? "tail" : "t",
                 (i * 7919) % N);
        keys[i] = texts[i];
    }
    check_texts(*state, keys, N, true);
}

/* Runs of keys that agree for longer than one look goes, that end early, or that are the same. */
static void sorts_keys_that_agree_for_long(void **state)
{
    enum { N = 6000, LENGTH = 400 };
    static char texts[N][LENGTH];
    static struct hd_slice keys[N];

    for (int i = 0; i < N; i++) {
        memset(texts[i], 'a' + i % 2, LENGTH);
        if (i % 5 == 1)
            texts[i][LENGTH - 1] = (char)('a' + i * 31 % 26);
        keys[i] = hd_slice_of(texts[i], i % 5 == 2 ? (size_t)(i * 17 % LENGTH) : LENGTH);
    }
    check_sorted(*state, keys, N, true);
}

/* A key that ends is before one that goes on, with zeros too. */
static void sorts_keys_that_end_before_zeros(void **state)
{
    enum { N = 3000, LENGTH = 12 };
    static char texts[N][LENGTH];
    static struct hd_slice keys[N];

    for (int i = 0; i < N; i++)
        keys[i] = hd_slice_of(texts[i], (size_t)(i * 7 % (LENGTH + 1)));
    check_sorted(*state, keys, N, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sorts_few_keys, test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(sorts_as_java_does_where_bytes_differ, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(sorts_many_keys_with_a_common_prefix, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(sorts_keys_that_agree_for_long, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(sorts_keys_that_end_before_zeros, test_op_setup,
                                        test_op_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
