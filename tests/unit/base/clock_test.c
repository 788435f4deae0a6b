/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

#include "base/op.h"
#include "support/fault.h"

static void now_is_the_wall_clock_in_milliseconds(void **state)
{
    struct hd_op *op = *state;
    const uint64_t before_s = (uint64_t)time(NULL);
    const uint64_t now_ms = hd_now_ms(op);

    /* time() may lag the clock by one tick */
    assert_in_range(now_ms / 1000, before_s, (uint64_t)time(NULL) + 1);
}

static void sleeping_takes_the_time(void **state)
{
    struct hd_op *op = *state;
    struct timespec before, after;

    clock_gettime(CLOCK_MONOTONIC, &before);
    hd_sleep_ms(op, 20);
    hd_sleep_ms(op, 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(
        (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >= 19);
}

static void a_stopped_clock_moves_by_sleeping_only(void **state)
{
    struct hd_op *op = *state, child;

    test_clock_set(op, 1000);
    hd_op_init_child(&child, op);
    assert_int_equal(hd_now_ms(op), 1000);
    hd_sleep_ms(&child, 3600000);
    assert_int_equal(hd_now_ms(op), 3601000);
}

int main(void)
{
#define WITH_OP(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        WITH_OP(now_is_the_wall_clock_in_milliseconds),
        WITH_OP(sleeping_takes_the_time),
        WITH_OP(a_stopped_clock_moves_by_sleeping_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
