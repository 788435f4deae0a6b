/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/internal.h"
#include "base/op.h"
#include "support/fault.h"

static void a_new_op_has_no_error_and_is_not_cancelled(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    assert_null(op.error);
    assert_non_null(op.budget);
    assert_int_equal(hd_op_check_cancel(&op), HUDI_OK);
    assert_int_equal(hd_op_fault_point(&op, "anything"), HUDI_OK);
    hd_log(&op, HD_LOG_WARN, "dropped: %d", 1);
    assert_null(op.error);
    hd_op_clear(&op);
}

static void the_cancel_flag_becomes_an_error(void **state)
{
    struct hd_op *op = *state;
    hd_atomic_bool flag = false;

    op->cancelled = &flag;
    assert_int_equal(hd_op_check_cancel(op), HUDI_OK);
    atomic_store(&flag, true);
    assert_int_equal(hd_op_check_cancel(op), HUDI_CANCELLED);
    assert_int_equal(hudi_error_status(op->error), HUDI_CANCELLED);
}

static void a_child_shares_all_but_error_and_random(void **state)
{
    struct hd_op *op = *state, child;
    hd_atomic_bool flag = true;

    op->cancelled = &flag;
    hd_fail(op, HUDI_IO, "of the parent");
    hd_op_init_child(&child, op);
    assert_null(child.error);
    assert_ptr_equal(child.budget, op->budget);
    assert_ptr_equal(child.cancelled, &flag);
    assert_ptr_equal(child.faults, op->faults);
    assert_true(child.clock.now_ms == op->clock.now_ms);
    assert_memory_not_equal(child.random_state, op->random_state, sizeof child.random_state);
    hd_op_clear(&child);
}

static void equal_parents_have_equal_children_and_siblings_differ(void **state)
{
    struct hd_op *op = *state, twin = {.random_state = {1, 2}}, a, b, c;

    hd_op_init_child(&a, op);
    hd_op_init_child(&b, op);
    hd_op_init_child(&c, &twin);
    assert_true(hd_random_u64(&a) == hd_random_u64(&c));
    assert_false(hd_random_u64(&a) == hd_random_u64(&b));
}

static void joining_keeps_the_first_error(void **state)
{
    struct hd_op *op = *state, first, second, none;

    hd_op_init_child(&first, op);
    hd_op_init_child(&second, op);
    hd_op_init_child(&none, op);
    hd_fail(&first, HUDI_CORRUPT, "first");
    hd_fail(&second, HUDI_IO, "second");
    hd_op_join(op, &none);
    assert_null(op->error);
    hd_op_join(op, &first);
    hd_op_join(op, &second);
    assert_string_equal(hudi_error_message(op->error), "first");
    assert_null(first.error);
    assert_null(second.error);
}

static void a_taken_error_outlives_the_op(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    hd_fail(&op, HUDI_SCHEMA, "column %d", 7);
    hudi_error *error = hd_op_take_error(&op);
    assert_null(op.error);
    hd_op_clear(&op);
    assert_string_equal(hudi_error_message(error), "column 7");
    hudi_error_free(error);
    assert_null(hd_op_take_error(&op));
}

static void an_armed_fault_fires_once_at_its_turn(void **state)
{
    struct hd_op *op = *state;

    test_fault_arm(op, 3);
    assert_int_equal(hd_op_fault_point(op, "one"), HUDI_OK);
    assert_int_equal(hd_op_fault_point(op, "two"), HUDI_OK);
    assert_false(test_fault_fired(op));
    assert_int_equal(hd_op_fault_point(op, "three"), HUDI_IO);
    assert_true(test_fault_fired(op));
    assert_string_equal(hudi_error_message(op->error), "injected fault: three");
    for (int i = 0; i < 10; i++)
        assert_int_equal(hd_op_fault_point(op, "later"), HUDI_OK);
}

static void a_sticky_fault_stays_until_disarmed(void **state)
{
    struct hd_op *op = *state;
    char *text;

    test_fault_arm_sticky(op, 2);
    assert_int_equal(hd_op_fault_point(op, "one"), HUDI_OK);
    assert_int_equal(hd_op_fault_point(op, "two"), HUDI_IO);
    assert_int_equal(hd_op_fault_point(op, "three"), HUDI_IO);
    assert_int_equal(hd_strdup(op, "x", &text), HUDI_NO_MEMORY);
    assert_null(text);
    test_fault_disarm(op);
    assert_true(test_fault_fired(op));
    assert_int_equal(hd_op_fault_point(op, "four"), HUDI_OK);
}

static hudi_status try_twice(struct hd_op *op, int *steps)
{
    (*steps)++;
    HD_TRY(hd_op_fault_point(op, "first step"));
    (*steps)++;
    HD_TRY(hd_op_fault_point(op, "second step"));
    (*steps)++;
    return HUDI_OK;
}

static hudi_status close_both(struct hd_op *op, int *steps)
{
    hudi_status status = HUDI_OK;

    HD_TRY_OUT(hd_op_fault_point(op, "work"));
    (*steps)++;
out:
    HD_KEEP(hd_op_fault_point(op, "close one"));
    (*steps)++;
    HD_KEEP(hd_fail(op, HUDI_CONFLICT, "close two"));
    (*steps)++;
    return status;
}

static void the_try_macros_leave_at_the_failure_and_keep_runs_on(void **state)
{
    struct hd_op *op = *state;
    int steps = 0;

    test_fault_arm(op, 2);
    assert_int_equal(try_twice(op, &steps), HUDI_IO);
    assert_int_equal(steps, 2);
    steps = 0;
    test_fault_arm(op, 1);
    assert_int_equal(close_both(op, &steps), HUDI_IO);
    assert_int_equal(steps, 2);
    assert_string_equal(hudi_error_message(op->error), "injected fault: work");
    steps = 0;
    test_fault_arm(op, 100);
    assert_int_equal(close_both(op, &steps), HUDI_CONFLICT);
    assert_int_equal(steps, 3);
}

struct seen_line {
    enum hd_log_level level;
    char text[2048];
};

static void keep_line(void *self, enum hd_log_level level, const char *message)
{
    struct seen_line *seen = self;

    seen->level = level;
    strcpy(seen->text, message);
}

static void log_lines_reach_the_sink_and_long_ones_are_cut(void **state)
{
    struct hd_op *op = *state;
    struct seen_line seen = {0};

    op->log = (struct hd_log_sink){keep_line, &seen};
    hd_log(op, HD_LOG_INFO, "%d files in %s", 3, "p=1");
    assert_int_equal(seen.level, HD_LOG_INFO);
    assert_string_equal(seen.text, "3 files in p=1");
    hd_log(op, HD_LOG_WARN, "%5000d", 1);
    assert_int_equal(seen.level, HD_LOG_WARN);
    assert_int_equal(strlen(seen.text), 1023);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_op_has_no_error_and_is_not_cancelled),
#define WITH_OP(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
        WITH_OP(the_cancel_flag_becomes_an_error),
        WITH_OP(a_child_shares_all_but_error_and_random),
        WITH_OP(equal_parents_have_equal_children_and_siblings_differ),
        WITH_OP(joining_keeps_the_first_error),
        cmocka_unit_test(a_taken_error_outlives_the_op),
        WITH_OP(an_armed_fault_fires_once_at_its_turn),
        WITH_OP(a_sticky_fault_stays_until_disarmed),
        WITH_OP(the_try_macros_leave_at_the_failure_and_keep_runs_on),
        WITH_OP(log_lines_reach_the_sink_and_long_ones_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
