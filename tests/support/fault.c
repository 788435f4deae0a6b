/* SPDX-License-Identifier: Apache-2.0 */

#include "support/fault.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct test_op {
    struct hd_op op; /* first: tests know only this */
    struct hd_faults faults;
    struct hd_budget budget;
    _Atomic(uint64_t) now_ms;
};

static struct test_op *owner_of(struct hd_op *op)
{
    struct test_op *const test = (struct test_op *)op;

    assert(op->faults == &test->faults); /* else not of test_op_setup() */
    return test;
}

int test_op_setup(void **state)
{
    struct test_op *const test = calloc(1, sizeof *test);

    if (test == NULL)
        return -1;
    hd_op_init(&test->op);
    test->op.random_state[0] = 1;
    test->op.random_state[1] = 2;
    test->faults.left = -1;
    test->op.faults = &test->faults;
    test->budget.limit_bytes = UINT64_MAX;
    test->op.budget = &test->budget;
    *state = &test->op;
    return 0;
}

int test_op_teardown(void **state)
{
    struct test_op *const test = owner_of(*state);
    const uint64_t used_bytes = atomic_load(&test->budget.used_bytes);

    hd_op_clear(&test->op);
    free(test);
    if (used_bytes != 0)
        fprintf(stderr, "%" PRIu64 " bytes of the budget were not given back\n", used_bytes);
    return used_bytes == 0 ? 0 : -1;
}

static void arm(struct hd_op *op, int64_t nth, bool sticky)
{
    struct hd_faults *const faults = &owner_of(op)->faults;

    assert(nth >= 1);
    hd_op_clear_error(op);
    faults->sticky = sticky;
    faults->no_error_memory = false;
    atomic_store(&faults->fired, false);
    atomic_store(&faults->left, nth - 1);
}

void test_fault_arm(struct hd_op *op, int64_t nth)
{
    arm(op, nth, false);
}

void test_fault_arm_sticky(struct hd_op *op, int64_t nth)
{
    arm(op, nth, true);
}

void test_fault_deny_error_memory(struct hd_op *op)
{
    owner_of(op)->faults.no_error_memory = true;
}

void test_fault_disarm(struct hd_op *op)
{
    struct hd_faults *const faults = &owner_of(op)->faults;

    atomic_store(&faults->left, -1);
    faults->sticky = false;
    faults->no_error_memory = false;
}

bool test_fault_fired(struct hd_op *op)
{
    return atomic_load(&owner_of(op)->faults.fired);
}

static uint64_t stopped_now_ms(void *self)
{
    return atomic_load(&((struct test_op *)self)->now_ms);
}

static void stopped_sleep_ms(void *self, uint64_t ms)
{
    atomic_fetch_add(&((struct test_op *)self)->now_ms, ms);
}

void test_clock_set(struct hd_op *op, uint64_t now_ms)
{
    struct test_op *const test = owner_of(op);

    atomic_store(&test->now_ms, now_ms);
    op->clock = (struct hd_clock){stopped_now_ms, stopped_sleep_ms, test};
}

void test_budget_limit(struct hd_op *op, uint64_t limit_bytes)
{
    owner_of(op)->budget.limit_bytes = limit_bytes;
}
