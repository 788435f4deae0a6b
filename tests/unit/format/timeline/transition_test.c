/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#include "format/timeline/transition.h"
#include "support/fault.h"
#include "support/table.h"

static void load(struct test_table *table, struct hd_timeline *timeline)
{
    test_must(table->op,
              hd_timeline_load(table->op, table->fs, table->path, &table->config, timeline));
}

static void expect_files(struct test_table *table, bool requested, bool inflight, bool completed)
{
    assert_int_equal(test_table_has(table, ".hoodie/001.commit.requested"), requested);
    assert_int_equal(test_table_has(table, ".hoodie/001.inflight"), inflight);
    assert_int_equal(test_table_has(table, ".hoodie/001.commit"), completed);
}

static void an_instant_goes_through_its_states_and_keeps_their_files(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;

    test_table_open(op, &table, "transition1", 6, NULL);
    load(&table, &timeline);
    test_must(op, hd_transition_request(op, &timeline, "001", HD_ACTION_COMMIT, "", 0));
    expect_files(&table, true, false, false);
    assert_int_equal(hd_transition_request(op, &timeline, "001", HD_ACTION_COMMIT, "", 0),
                     HUDI_EXISTS);
    assert_non_null(op->error);
    hd_op_clear_error(op);
    test_must(op, hd_transition_start(op, &timeline, "001", HD_ACTION_COMMIT, "{}", 2));
    expect_files(&table, true, true, false);
    test_must(op, hd_transition_complete(op, &timeline, "001", HD_ACTION_COMMIT, "{ }", 3));
    expect_files(&table, true, true, true);
    assert_int_equal(hd_transition_complete(op, &timeline, "001", HD_ACTION_COMMIT, "{}", 2),
                     HUDI_EXISTS);
    assert_null(op->error);
    hd_timeline_clear(&timeline);

    load(&table, &timeline);
    assert_int_equal(timeline.n_instants, 1);
    assert_int_equal(timeline.instants[0].state, HD_COMPLETED);
    assert_int_equal(timeline.instants[0].size_bytes, 3); /* the first content stays */
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void a_compaction_is_published_as_a_commit(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;

    test_table_open(op, &table, "transition2", 6, NULL);
    load(&table, &timeline);
    test_must(op, hd_transition_request(op, &timeline, "001", HD_ACTION_COMPACTION, "p", 1));
    test_must(op, hd_transition_start(op, &timeline, "001", HD_ACTION_COMPACTION, "", 0));
    test_must(op, hd_transition_complete(op, &timeline, "001", HD_ACTION_COMPACTION, "{}", 2));
    assert_true(test_table_has(&table, ".hoodie/001.compaction.requested"));
    assert_true(test_table_has(&table, ".hoodie/001.compaction.inflight"));
    assert_true(test_table_has(&table, ".hoodie/001.commit"));
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void a_step_needs_the_one_before_it(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;

    test_table_open(op, &table, "transition3", 6, NULL);
    load(&table, &timeline);
    assert_int_equal(hd_transition_start(op, &timeline, "001", HD_ACTION_COMMIT, "", 0),
                     HUDI_CONFLICT);
    hd_op_clear_error(op);
    test_must(op, hd_transition_request(op, &timeline, "001", HD_ACTION_COMMIT, "", 0));
    assert_int_equal(hd_transition_complete(op, &timeline, "001", HD_ACTION_COMMIT, "{}", 2),
                     HUDI_CONFLICT);
    hd_op_clear_error(op);
    expect_files(&table, true, false, false);
    test_must(op, hd_transition_start(op, &timeline, "002", HD_ACTION_SAVEPOINT, "", 0));
    assert_true(test_table_has(&table, ".hoodie/002.savepoint.inflight"));
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void rolling_back_leaves_nothing(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;

    test_table_open(op, &table, "transition4", 6, NULL);
    test_table_put(&table, ".hoodie/001.commit", "{}"); /* requested and inflight were archived */
    load(&table, &timeline);
    test_must(op, hd_transition_revert_completed(op, &timeline, &timeline.instants[0]));
    expect_files(&table, true, true, false);
    test_must(op, hd_transition_revert_completed(op, &timeline, &timeline.instants[0]));
    hd_timeline_clear(&timeline);

    load(&table, &timeline);
    assert_int_equal(timeline.instants[0].state, HD_INFLIGHT);
    test_must(op, hd_transition_remove_pending(op, &timeline, &timeline.instants[0]));
    expect_files(&table, false, false, false);
    test_must(op, hd_transition_remove_pending(op, &timeline, &timeline.instants[0]));
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void a_plan_can_be_run_again(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;

    test_table_open(op, &table, "transition5", 6, NULL);
    test_table_put(&table, ".hoodie/001.compaction.requested", "plan");
    test_table_put(&table, ".hoodie/001.compaction.inflight", "");
    load(&table, &timeline);
    test_must(op, hd_transition_revert_inflight(op, &timeline, &timeline.instants[0]));
    assert_true(test_table_has(&table, ".hoodie/001.compaction.requested"));
    assert_false(test_table_has(&table, ".hoodie/001.compaction.inflight"));
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void new_times_grow(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;
    char times[20][HD_INSTANT_TIME_BYTES];

    test_table_open(op, &table, "transition6", 6, NULL);
    load(&table, &timeline);
    test_clock_set(op, UINT64_C(1704164645678));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(times); i++) {
        test_must(op, hd_transition_new_time(op, &timeline, times[i]));
        assert_int_equal(strlen(times[i]), 17);
        if (i > 0)
            assert_true(strcmp(times[i], times[i - 1]) > 0);
    }
    assert_string_equal(times[0], "20240102030405678");
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void new_times_follow_a_timeline_that_is_ahead(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;
    char time[HD_INSTANT_TIME_BYTES];

    test_table_open(op, &table, "transition7", 6, NULL);
    test_table_put(&table, ".hoodie/20991231235959999.commit.requested", "");
    load(&table, &timeline);
    test_must(op, hd_transition_new_time(op, &timeline, time));
    assert_string_equal(time, "21000101000000000");
    hd_timeline_clear(&timeline);
    test_table_put(&table, ".hoodie/99999999999999999.commit.requested", "");
    load(&table, &timeline);
    assert_int_equal(hd_transition_new_time(op, &timeline, time), HUDI_INVALID);
    hd_op_clear_error(op);
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

/* Whatever fails, a state's file is there in full or not at all, and the same call works then. */
static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;

    for (int nth = 1, fired = 1; fired; nth++) {
        struct test_table table;
        struct hd_timeline timeline;

        test_table_open(op, &table, "transition8", 6, NULL);
        load(&table, &timeline);
        test_must(op, hd_transition_request(op, &timeline, "001", HD_ACTION_COMMIT, "", 0));
        test_must(op, hd_transition_start(op, &timeline, "001", HD_ACTION_COMMIT, "", 0));
        test_fault_arm(op, nth);
        hudi_status status =
            hd_transition_complete(op, &timeline, "001", HD_ACTION_COMMIT, "{}", 2);
        fired = test_fault_fired(op);
        assert_true(fired ? status != HUDI_OK : status == HUDI_OK);
        test_fault_disarm(op);
        hd_op_clear_error(op);
        hd_timeline_clear(&timeline);
        load(&table, &timeline);
        if (timeline.instants[0].state == HD_COMPLETED)
            assert_int_equal(timeline.instants[0].size_bytes, 2);
        status = hd_transition_complete(op, &timeline, "001", HD_ACTION_COMMIT, "{}", 2);
        assert_true(status == HUDI_OK || status == HUDI_EXISTS);
        hd_timeline_clear(&timeline);
        test_table_close(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instant_goes_through_its_states_and_keeps_their_files),
        cmocka_unit_test(a_compaction_is_published_as_a_commit),
        cmocka_unit_test(a_step_needs_the_one_before_it),
        cmocka_unit_test(rolling_back_leaves_nothing),
        cmocka_unit_test(a_plan_can_be_run_again),
        cmocka_unit_test(new_times_grow),
        cmocka_unit_test(new_times_follow_a_timeline_that_is_ahead),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
