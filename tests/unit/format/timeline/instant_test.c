/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#include "format/timeline/instant.h"
#include "support/fault.h"
#include "support/table.h"

static const struct hd_table_version *version_of(struct hd_op *op, int number)
{
    const struct hd_table_version *version;

    test_must(op, hd_table_version_of(op, number, &version));
    return version;
}

struct name_case {
    const char *name;
    const char *completion_time; /* NULL: none */
    enum hd_action action;
    enum hd_instant_state state;
};

#define TIME "20240102030405678"
#define LATER "20240102030409999"

/* The table of file names below version 8. */
static const struct name_case NAMES_V6[] = {
    {TIME ".commit.requested", NULL, HD_ACTION_COMMIT, HD_REQUESTED},
    {TIME ".inflight", NULL, HD_ACTION_COMMIT, HD_INFLIGHT},
    {TIME ".commit", NULL, HD_ACTION_COMMIT, HD_COMPLETED},
    {TIME ".deltacommit.requested", NULL, HD_ACTION_DELTACOMMIT, HD_REQUESTED},
    {TIME ".deltacommit.inflight", NULL, HD_ACTION_DELTACOMMIT, HD_INFLIGHT},
    {TIME ".deltacommit", NULL, HD_ACTION_DELTACOMMIT, HD_COMPLETED},
    {TIME ".compaction.requested", NULL, HD_ACTION_COMPACTION, HD_REQUESTED},
    {TIME ".compaction.inflight", NULL, HD_ACTION_COMPACTION, HD_INFLIGHT},
    {TIME ".logcompaction.requested", NULL, HD_ACTION_LOGCOMPACTION, HD_REQUESTED},
    {TIME ".logcompaction.inflight", NULL, HD_ACTION_LOGCOMPACTION, HD_INFLIGHT},
    {TIME ".replacecommit.requested", NULL, HD_ACTION_REPLACECOMMIT, HD_REQUESTED},
    {TIME ".replacecommit.inflight", NULL, HD_ACTION_REPLACECOMMIT, HD_INFLIGHT},
    {TIME ".replacecommit", NULL, HD_ACTION_REPLACECOMMIT, HD_COMPLETED},
    {TIME ".clean.requested", NULL, HD_ACTION_CLEAN, HD_REQUESTED},
    {TIME ".clean.inflight", NULL, HD_ACTION_CLEAN, HD_INFLIGHT},
    {TIME ".clean", NULL, HD_ACTION_CLEAN, HD_COMPLETED},
    {TIME ".rollback.requested", NULL, HD_ACTION_ROLLBACK, HD_REQUESTED},
    {TIME ".rollback.inflight", NULL, HD_ACTION_ROLLBACK, HD_INFLIGHT},
    {TIME ".rollback", NULL, HD_ACTION_ROLLBACK, HD_COMPLETED},
    {TIME ".restore.inflight", NULL, HD_ACTION_RESTORE, HD_INFLIGHT},
    {TIME ".restore", NULL, HD_ACTION_RESTORE, HD_COMPLETED},
    {TIME ".savepoint.inflight", NULL, HD_ACTION_SAVEPOINT, HD_INFLIGHT},
    {TIME ".savepoint", NULL, HD_ACTION_SAVEPOINT, HD_COMPLETED},
    {TIME ".indexing.requested", NULL, HD_ACTION_INDEXING, HD_REQUESTED},
    {TIME ".indexing", NULL, HD_ACTION_INDEXING, HD_COMPLETED},
    {TIME ".schemacommit.inflight", NULL, HD_ACTION_SCHEMACOMMIT, HD_INFLIGHT},
    {TIME ".schemacommit", NULL, HD_ACTION_SCHEMACOMMIT, HD_COMPLETED},
};

static const struct name_case NAMES_V8[] = {
    {TIME ".commit.requested", NULL, HD_ACTION_COMMIT, HD_REQUESTED},
    {TIME ".inflight", NULL, HD_ACTION_COMMIT, HD_INFLIGHT},
    {TIME "_" LATER ".commit", LATER, HD_ACTION_COMMIT, HD_COMPLETED},
    {TIME ".commit", NULL, HD_ACTION_COMMIT, HD_COMPLETED}, /* from before the upgrade */
    {TIME "_" LATER ".deltacommit", LATER, HD_ACTION_DELTACOMMIT, HD_COMPLETED},
    {TIME ".compaction.requested", NULL, HD_ACTION_COMPACTION, HD_REQUESTED},
    {TIME ".clustering.requested", NULL, HD_ACTION_CLUSTERING, HD_REQUESTED},
    {TIME ".clustering.inflight", NULL, HD_ACTION_CLUSTERING, HD_INFLIGHT},
    {TIME "_" LATER ".replacecommit", LATER, HD_ACTION_REPLACECOMMIT, HD_COMPLETED},
    {TIME "_" LATER ".savepoint", LATER, HD_ACTION_SAVEPOINT, HD_COMPLETED},
};

static void check_names(struct hd_op *op, int number, const struct name_case *cases, size_t n)
{
    const struct hd_table_version *const version = version_of(op, number);

    for (size_t i = 0; i < n; i++) {
        struct hd_instant_name parsed;
        char *formatted;

        assert_true(hd_instant_name_parse(version, cases[i].name, &parsed));
        assert_true(hd_slice_equal(parsed.time, hd_slice_text(TIME)));
        assert_int_equal(parsed.action, cases[i].action);
        assert_int_equal(parsed.state, cases[i].state);
        if (cases[i].completion_time == NULL)
            assert_int_equal(parsed.completion_time.size, 0);
        else
            assert_true(
                hd_slice_equal(parsed.completion_time, hd_slice_text(cases[i].completion_time)));
        test_must(op, hd_instant_name_format(op, version, TIME, parsed.action, parsed.state,
                                             cases[i].completion_time, &formatted));
        assert_string_equal(formatted, cases[i].name);
        hd_free(op, formatted);
    }
}

static void every_name_of_the_timeline_is_read_and_written(void **state)
{
    check_names(*state, 6, NAMES_V6, HD_ARRAY_LENGTH(NAMES_V6));
    check_names(*state, 3, NAMES_V6, HD_ARRAY_LENGTH(NAMES_V6));
    check_names(*state, 8, NAMES_V8, HD_ARRAY_LENGTH(NAMES_V8));
}

static void a_compaction_completes_as_a_commit(void **state)
{
    struct hd_op *op = *state;
    const enum hd_action actions[] = {HD_ACTION_COMPACTION, HD_ACTION_LOGCOMPACTION,
                                      HD_ACTION_CLUSTERING};
    const char *const names[] = {TIME ".commit", TIME ".deltacommit", TIME ".replacecommit"};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(names); i++) {
        char *name;

        test_must(op, hd_instant_name_format(op, version_of(op, 6), TIME, actions[i], HD_COMPLETED,
                                             LATER, &name));
        assert_string_equal(name, names[i]);
        hd_free(op, name);
    }
}

static void a_clustering_is_a_replacecommit_below_version_8(void **state)
{
    struct hd_op *op = *state;
    char *name;

    test_must(op, hd_instant_name_format(op, version_of(op, 6), TIME, HD_ACTION_CLUSTERING,
                                         HD_REQUESTED, NULL, &name));
    assert_string_equal(name, TIME ".replacecommit.requested");
    hd_free(op, name);
}

static void other_names_are_no_instants(void **state)
{
    static const char *const NAMES[] = {
        "",
        "hoodie.properties",
        "." TIME ".commit.crc",
        TIME,
        TIME ".",
        TIME ".commit.crc",
        TIME ".commit.",
        TIME ".commit.5f0c2bd1-8f0c-4bb5-a7a5-8f7f5e2f1c11",
        TIME ".commit.requested.tmp",
        TIME ".commit.inflight", /* is .inflight */
        TIME ".requested",
        TIME ".compaction", /* completes as a commit */
        TIME ".logcompaction",
        TIME ".clustering.requested",
        TIME ".savepoint.requested",
        TIME ".Commit",
        TIME "_" LATER ".commit",
        "x" TIME ".commit",
        "123456789012345678901234.commit", /* longer than any time */
        ".commit",
    };
    struct hd_op *op = *state;
    struct hd_instant_name parsed;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        if (hd_instant_name_parse(version_of(op, 6), NAMES[i], &parsed))
            fail_msg("%s is no instant", NAMES[i]);
    }
    assert_false(
        hd_instant_name_parse(version_of(op, 8), TIME "_" LATER ".commit.requested", &parsed));
    assert_false(hd_instant_name_parse(version_of(op, 8), TIME "_.commit", &parsed));
}

static void names_of_actions_and_states_are_hudis(void **state)
{
    enum hd_action action;

    (void)state;
    assert_true(hd_action_parse(hd_slice_text("logcompaction"), &action));
    assert_int_equal(action, HD_ACTION_LOGCOMPACTION);
    assert_string_equal(hd_action_name(HD_ACTION_SCHEMACOMMIT), "schemacommit");
    assert_false(hd_action_parse(hd_slice_text("COMMIT"), &action));
    assert_string_equal(hd_instant_state_name(HD_REQUESTED), "REQUESTED");
    assert_string_equal(hd_instant_state_name(HD_INFLIGHT), "INFLIGHT");
    assert_string_equal(hd_instant_state_name(HD_COMPLETED), "COMPLETED");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_of_the_timeline_is_read_and_written),
        cmocka_unit_test(a_compaction_completes_as_a_commit),
        cmocka_unit_test(a_clustering_is_a_replacecommit_below_version_8),
        cmocka_unit_test(other_names_are_no_instants),
        cmocka_unit_test(names_of_actions_and_states_are_hudis),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
