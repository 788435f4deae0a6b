/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/str.h"
#include "support/fault.h"

static void slices_order_by_unsigned_bytes_with_prefixes_first(void **state)
{
    const struct hd_slice sorted[] = {
        hd_slice_of(NULL, 0),   hd_slice_of("\0", 1), hd_slice_of("\0a", 2),
        hd_slice_text("a"),     hd_slice_text("ab"),  hd_slice_text("a\x7f"),
        hd_slice_text("a\x80"), hd_slice_text("b"),   hd_slice_text("\xff"),
    };

    (void)state;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(sorted); i++)
        for (size_t j = 0; j < HD_ARRAY_LENGTH(sorted); j++) {
            assert_int_equal(hd_slice_compare(sorted[i], sorted[j]), (i > j) - (i < j));
            assert_int_equal(hd_slice_equal(sorted[i], sorted[j]), i == j);
        }
}

static void prefixes_and_suffixes_match_whole_ones_only(void **state)
{
    const struct hd_slice s = hd_slice_of("abc", 3), empty = hd_slice_of(NULL, 0);

    (void)state;
    assert_true(hd_slice_starts_with(s, ""));
    assert_true(hd_slice_starts_with(s, "ab"));
    assert_true(hd_slice_starts_with(s, "abc"));
    assert_false(hd_slice_starts_with(s, "abcd"));
    assert_false(hd_slice_starts_with(s, "b"));
    assert_true(hd_slice_ends_with(s, ""));
    assert_true(hd_slice_ends_with(s, "bc"));
    assert_true(hd_slice_ends_with(s, "abc"));
    assert_false(hd_slice_ends_with(s, "xabc"));
    assert_false(hd_slice_ends_with(s, "b"));
    assert_true(hd_slice_starts_with(empty, ""));
    assert_true(hd_slice_ends_with(empty, ""));
    assert_false(hd_slice_starts_with(empty, "a"));
}

static void an_empty_string_has_text(void **state)
{
    struct hd_op *op = *state;
    struct hd_str str = {0};
    char *taken;

    assert_string_equal(hd_str_text(&str), "");
    assert_int_equal(hd_str_slice(&str).size, 0);
    assert_int_equal(hd_str_append(op, &str, NULL, 0), HUDI_OK);
    assert_string_equal(str.data, "");
    hd_str_clear(&str);
    assert_int_equal(hd_str_take(op, &str, &taken), HUDI_OK);
    assert_string_equal(taken, "");
    hd_free(op, taken);
    hd_str_clear(&str);
}

static void appending_keeps_a_nul_behind_the_text(void **state)
{
    struct hd_op *op = *state;
    struct hd_str str = {0};
    char *taken;

    for (int i = 0; i < 1000; i++) {
        assert_int_equal(hd_str_append_char(op, &str, 'a'), HUDI_OK);
        assert_int_equal(hd_str_append_text(op, &str, "bc"), HUDI_OK);
        assert_int_equal(hd_str_append(op, &str, "\0d", 2), HUDI_OK);
        assert_int_equal(hd_str_printf(op, &str, "%04d", i), HUDI_OK);
        assert_int_equal(str.size, (size_t)(i + 1) * 9);
        assert_int_equal(str.data[str.size], '\0');
        assert_true(str.capacity > str.size);
    }
    for (int i = 0; i < 1000; i++)
        assert_memory_equal(str.data + i * 9, "abc\0d", 5);
    assert_memory_equal(str.data + 9 * 123 + 5, "0123", 4);
    assert_int_equal(hd_str_take(op, &str, &taken), HUDI_OK);
    assert_null(str.data);
    assert_int_equal(str.size, 0);
    assert_string_equal(taken, "abc");
    hd_free(op, taken);
}

static void what_was_reserved_cannot_fail(void **state)
{
    struct hd_op *op = *state;
    struct hd_str str = {0};

    assert_int_equal(hd_str_append_text(op, &str, "head"), HUDI_OK);
    assert_int_equal(hd_str_reserve(op, &str, 5000), HUDI_OK);
    test_fault_arm(op, 1);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(hd_str_printf(op, &str, "%05d", i), HUDI_OK);
    assert_false(test_fault_fired(op));
    hd_str_clear(&str);
}

static void a_failed_append_keeps_the_text(void **state)
{
    struct hd_op *op = *state;
    struct hd_str str = {0};
    char *taken;

    test_fault_arm(op, 1);
    assert_int_equal(hd_str_take(op, &str, &taken), HUDI_NO_MEMORY);
    assert_null(taken);
    assert_int_equal(hd_str_append_text(op, &str, "text"), HUDI_OK);
    test_fault_arm(op, 1);
    assert_int_equal(hd_str_printf(op, &str, "%*d", 1000, 1), HUDI_NO_MEMORY);
    assert_string_equal(hd_str_text(&str), "text");
    assert_int_equal(hd_str_reserve(op, &str, SIZE_MAX - 2), HUDI_NO_MEMORY);
    assert_int_equal(hd_str_reserve(op, &str, SIZE_MAX - 5), HUDI_NO_MEMORY);
    assert_string_equal(hd_str_text(&str), "text");
    assert_int_equal(str.size, 4);
    hd_str_clear(&str);
}

int main(void)
{
#define WITH_OP(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_order_by_unsigned_bytes_with_prefixes_first),
        cmocka_unit_test(prefixes_and_suffixes_match_whole_ones_only),
        WITH_OP(an_empty_string_has_text),
        WITH_OP(appending_keeps_a_nul_behind_the_text),
        WITH_OP(what_was_reserved_cannot_fail),
        WITH_OP(a_failed_append_keeps_the_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
