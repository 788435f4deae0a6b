/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/checked_int.h"
#include "support/fault.h"

static void sums_and_products_that_fit_are_exact(void **state)
{
    struct hd_op *op = *state;
    uint64_t out;

    assert_int_equal(hd_add_size(op, UINT64_MAX - 5, 5, &out), HUDI_OK);
    assert_true(out == UINT64_MAX);
    assert_int_equal(hd_mul_size(op, UINT64_C(1) << 32, UINT32_MAX, &out), HUDI_OK);
    assert_true(out == (uint64_t)UINT32_MAX << 32);
    assert_int_equal(hd_mul_size(op, UINT64_MAX, 0, &out), HUDI_OK);
    assert_true(out == 0);
    assert_null(op->error);
}

static void overflow_is_corrupt(void **state)
{
    struct hd_op *op = *state;
    uint64_t out;

    assert_int_equal(hd_add_size(op, UINT64_MAX - 5, 6, &out), HUDI_CORRUPT);
    assert_int_equal(hudi_error_status(op->error), HUDI_CORRUPT);
    hd_op_clear_error(op);
    assert_int_equal(hd_mul_size(op, UINT64_C(1) << 32, UINT64_C(1) << 32, &out), HUDI_CORRUPT);
    assert_int_equal(hudi_error_status(op->error), HUDI_CORRUPT);
}

static void minimum_and_maximum_compare_unsigned(void **state)
{
    (void)state;
    assert_true(hd_min_u64(1, UINT64_MAX) == 1);
    assert_true(hd_min_u64(UINT64_MAX, 1) == 1);
    assert_true(hd_max_u64(1, UINT64_MAX) == UINT64_MAX);
    assert_true(hd_max_u64(UINT64_MAX, 1) == UINT64_MAX);
}

int main(void)
{
#define WITH_OP(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        WITH_OP(sums_and_products_that_fit_are_exact),
        WITH_OP(overflow_is_corrupt),
        cmocka_unit_test(minimum_and_maximum_compare_unsigned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
