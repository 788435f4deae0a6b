/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/write/write_status.h"

static void fail_rows(struct hd_op *op, struct hd_write_status *status, int n, double fraction)
{
    for (int i = 1; i <= n; i++) {
        char where[32];
        snprintf(where, sizeof where, "row %d", i);
        assert_int_equal(hd_write_status_fail(op, status, fraction, i, where, "why"), HUDI_OK);
    }
}

/* Which ones: new java.util.Random(9038412832L), nextDouble() <= 0.1 for all but the first,
 * and the first ten whatever is drawn. */
static void keeps_the_failures_that_hudi_keeps(void **state)
{
    static const char *const KEPT[] = {"row 1",  "row 2",  "row 3",  "row 4",  "row 5",  "row 6",
                                       "row 7",  "row 8",  "row 9",  "row 10", "row 12", "row 15",
                                       "row 18", "row 20", "row 22", "row 60"};
    struct hd_op op;
    struct hd_write_status status = {0}, copy = {0}, all = {0};
    struct hd_str text = {0};

    (void)state;
    hd_op_init(&op);
    fail_rows(&op, &status, 61, 0.1);
    assert_int_equal(status.n_failed, 61);
    assert_int_equal(status.n_failures, HD_ARRAY_LENGTH(KEPT));
    for (size_t i = 0; i < status.n_failures; i++)
        assert_string_equal(status.failures[i].key, KEPT[i]);

    /* on their way they stay what they are */
    status.instant_time = "20240101000000000";
    assert_int_equal(hd_write_status_encode(&op, &status, &text), HUDI_OK);
    assert_int_equal(hd_write_status_decode(&op, hd_str_slice(&text), &copy), HUDI_OK);
    assert_int_equal(hd_write_status_absorb(&op, &all, &copy), HUDI_OK);
    assert_int_equal(all.n_failed, 61);
    assert_int_equal(all.n_failures, HD_ARRAY_LENGTH(KEPT));
    assert_string_equal(all.failures[15].key, "row 60");
    assert_string_equal(all.failures[15].reason, "why");
    hd_str_clear(&text);
    hd_write_status_clear(&op, &status);
    hd_write_status_clear(&op, &copy);
    hd_write_status_clear(&op, &all);
    hd_op_clear(&op);
}

static void keeps_the_first_failure_and_no_more_than_are_wanted(void **state)
{
    struct hd_op op;
    struct hd_write_status one = {0}, many = {0};

    (void)state;
    hd_op_init(&op);
    fail_rows(&op, &one, 1000, 0.0);
    assert_int_equal(one.n_failed, 1000);
    assert_int_equal(one.n_failures, HD_FIRST_FAILURES);
    assert_string_equal(one.failures[0].key, "row 1");
    /* one that is told late and stood first */
    assert_int_equal(hd_write_status_fail(&op, &one, 0.0, 0, "row 0", "why"), HUDI_OK);
    assert_string_equal(one.failures[0].key, "row 0");
    assert_string_equal(one.failures[1].key, "row 1");
    fail_rows(&op, &many, 1000, 1.0);
    assert_int_equal(many.n_failed, 1000);
    assert_int_equal(many.n_failures, HD_MAX_FAILURES);
    assert_int_equal(hd_write_status_fail(&op, &many, 1.0, 0, "row 0", "why"), HUDI_OK);
    assert_int_equal(many.n_failures, HD_MAX_FAILURES);
    assert_string_equal(many.failures[0].key, "row 0");
    assert_string_equal(many.failures[99].key, "row 99");
    hd_write_status_clear(&op, &one);
    hd_write_status_clear(&op, &many);
    hd_op_clear(&op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_failures_that_hudi_keeps),
        cmocka_unit_test(keeps_the_first_failure_and_no_more_than_are_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
