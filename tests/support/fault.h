/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_FAULT_H
#define TEST_SUPPORT_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/*
 * An op for tests and the faults of it. A test that walks through all faults of a call:
 *
 *     hudi_status status = HUDI_INTERNAL;
 *
 *     for (int nth = 1; status != HUDI_OK; nth++) {
 *         test_fault_arm(op, nth);
 *         status = hd_thing_read(op, ...);
 *         assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
 *     }
 */

/** cmocka setup: `*state` is a `struct hd_op *` with a fixed random sequence, the system's clock
 * and faults that are not armed. Memory is not limited. */
int test_op_setup(void **state);

/** cmocka teardown of the above; fails the test when its budget is not given back. */
int test_op_teardown(void **state);

/** Let the `nth` allocation or file operation from now fail, 1 the next one; later ones work
 * again. Clears the op's error, so that each attempt has its own. `op` is of test_op_setup(). */
void test_fault_arm(struct hd_op *op, int64_t nth);

/** As test_fault_arm(), but all that follow fail too, as after a crash or with a full disk. */
void test_fault_arm_sticky(struct hd_op *op, int64_t nth);

/** Let hd_fail() find no memory for its errors, until the next arm or disarm. */
void test_fault_deny_error_memory(struct hd_op *op);

/** Let everything work again; the answer of test_fault_fired() stays. */
void test_fault_disarm(struct hd_op *op);

/** True when the armed fault was reached. */
bool test_fault_fired(struct hd_op *op);

/** Stop the op's clock at `now_ms`; only hd_sleep_ms() (at once) and further calls move it. */
void test_clock_set(struct hd_op *op, uint64_t now_ms);

/** Limit the op's memory budget. */
void test_budget_limit(struct hd_op *op, uint64_t limit_bytes);

#endif
