/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/*
 * Timelines of tables that Hudi wrote, against the descriptions that were made with them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "codec/json.h"
#include "format/timeline/archived_timeline.h"
#include "format/timeline/commit_glance.h"
#include "format/timeline/compaction_plan.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

struct loaded {
    char *path;
    hd_file_system *fs;
    char *fs_path;
    struct hd_table_config config;
    struct hd_timeline timeline;
    struct hd_archived_timeline archive;
    hd_json *description;
};

static void load(struct hd_op *op, const char *name, struct loaded *t)
{
    size_t n;
    char *text = test_golden_file(name, ".json", &n);

    memset(t, 0, sizeof *t);
    t->path = test_golden_unpack(name);
    test_must(op, hd_json_parse(op, hd_slice_of(text, n), &t->description));
    test_must(op, hd_fs_open(op, t->path, &t->fs, &t->fs_path));
    test_must(op, hd_table_config_load(op, t->fs, t->fs_path, &t->config));
    test_must(op, hd_timeline_load(op, t->fs, t->fs_path, &t->config, &t->timeline));
    if (t->config.version->timeline_layout == 1)
        test_must(op, hd_archived_timeline_load(op, t->fs, t->fs_path, &t->config, NULL, NULL,
                                                &t->archive));
    free(text);
}

static void unload(struct hd_op *op, struct loaded *t)
{
    hd_archived_timeline_clear(&t->archive);
    hd_timeline_clear(&t->timeline);
    hd_table_config_clear(&t->config);
    hd_json_free(t->description);
    hd_fs_free(t->fs);
    hd_free(op, t->fs_path);
    test_golden_remove(t->path);
}

/* A state's file name is one of those that the description lists. */
static void expect_listed(struct hd_op *op, const struct loaded *t,
                          const struct hd_instant *instant, enum hd_instant_state state)
{
    const hd_json *names = hd_json_member(t->description, "timeline");
    bool found = false;
    char *name;

    test_must(op, hd_instant_name_format(op, t->timeline.version, instant->time,
                                         state == HD_COMPLETED ? instant->action
                                                               : instant->pending_action,
                                         state, instant->completion_time, &name));
    for (size_t i = 0; i < hd_json_length(names) && !found; i++) {
        struct hd_slice listed;

        test_must(op, hd_json_as_string(op, hd_json_at(names, i), "timeline", &listed));
        found = hd_slice_equal(listed, hd_slice_text(name));
    }
    if (!found)
        fail_msg("%s is not on the timeline", name);
    hd_free(op, name);
}

static void flink_timelines_are_those_listed(void **state)
{
    struct hd_op *op = *state;
    char **names = test_golden_names("flink010-");

    assert_non_null(names[0]);
    for (size_t i = 0; names[i] != NULL; i++) {
        struct loaded t;
        size_t n_files = 0;

        load(op, names[i], &t);
        for (size_t j = 0; j < t.timeline.n_instants; j++) {
            const struct hd_instant *instant = &t.timeline.instants[j];

            if (instant->has_requested)
                expect_listed(op, &t, instant, HD_REQUESTED);
            if (instant->has_inflight)
                expect_listed(op, &t, instant, HD_INFLIGHT);
            if (instant->state == HD_COMPLETED)
                expect_listed(op, &t, instant, HD_COMPLETED);
            n_files += (size_t)instant->has_requested + instant->has_inflight +
                       (instant->state == HD_COMPLETED);
        }
        assert_int_equal(n_files, hd_json_length(hd_json_member(t.description, "timeline")));
        unload(op, &t);
    }
    test_golden_free_names(names);
}

static bool was_archived(const struct hd_archived_timeline *archive, const char *time)
{
    for (size_t i = 0; i < archive->n_instants; i++) {
        if (strcmp(archive->instants[i].time, time) == 0 &&
            archive->instants[i].state == HD_COMPLETED)
            return true;
    }
    return false;
}

/* Each operation's instant is completed on the active or the archived timeline. */
static void spark_operations_are_on_the_timeline(void **state)
{
    struct hd_op *op = *state;
    char **names = test_golden_names("spark-");
    size_t n_archived = 0;

    for (size_t i = 0; names[i] != NULL; i++) {
        struct loaded t;

        load(op, names[i], &t);
        const hd_json *operations = hd_json_member(t.description, "operations");
        for (size_t j = 0; j < hd_json_length(operations); j++) {
            const hd_json *operation = hd_json_at(operations, j);
            struct hd_instant_name parsed;
            struct hd_slice file;

            test_must(op, hd_json_find_string(op, operation, "timeline_file", &file));
            if (file.data == NULL ||
                !hd_instant_name_parse(t.timeline.version, (const char *)file.data, &parsed) ||
                parsed.state != HD_COMPLETED)
                continue;
            char time[HD_INSTANT_TIME_BYTES] = "";
            memcpy(time, parsed.time.data, parsed.time.size);
            const struct hd_instant *instant =
                hd_timeline_find(&t.timeline, time, hd_action_completed_as(parsed.action));
            if (instant != NULL) {
                assert_int_equal(instant->state, HD_COMPLETED);
            } else if (t.timeline.version->timeline_layout == 1) {
                if (!was_archived(&t.archive, time) && strstr(names[i], "restore") == NULL &&
                    strstr(names[i], "rollback") == NULL)
                    fail_msg("%s: %s is nowhere", names[i], time);
                n_archived++;
            }
        }
        unload(op, &t);
    }
    assert_true(n_archived > 0);
    test_golden_free_names(names);
}

/* What Hudi 0.15 writes and we leave out: column statistics of log files, mostly empty. */
static void remove_record_stats(char *text)
{
    static const char BEGIN[] = ",\n      \"recordsStats\" : {", END[] = "\n      }";

    for (char *at; (at = strstr(text, BEGIN)) != NULL;) {
        const char *end = strstr(at + strlen(BEGIN), END) + strlen(END);

        memmove(at, end, strlen(end) + 1);
    }
}

struct seen {
    const struct hd_commit_metadata *metadata;
    size_t n;
};

static bool is_a_stat(void *self, struct hd_slice path, int64_t n_bytes)
{
    struct seen *const seen = self;
    bool found = false;

    for (size_t i = 0; i < seen->metadata->n_stats && !found; i++)
        found = hd_slice_equal(hd_slice_text(seen->metadata->stats[i].path), path) &&
                seen->metadata->stats[i].file_size_in_bytes == n_bytes;
    seen->n += found;
    return found;
}

static size_t check_commit(struct hd_op *op, const char *name, const struct loaded *t,
                           const struct hd_instant *instant, bool same_bytes)
{
    struct hd_commit_metadata metadata, again;
    struct hd_str text = {0}, text_again = {0};
    uint8_t *bytes;
    size_t n;

    test_must(op, hd_timeline_read(op, &t->timeline, instant, HD_COMPLETED, &bytes, &n));
    test_must(op, hd_timeline_read_commit(op, &t->timeline, instant, &metadata));
    test_must(op, hd_commit_metadata_format(op, &metadata, &text));
    struct seen seen = {.metadata = &metadata};
    assert_true(hd_commit_glance(hd_slice_of(bytes, n), is_a_stat, &seen));
    assert_int_equal(seen.n, metadata.n_stats);
    seen.n = 0;
    assert_true(hd_commit_glance(hd_str_slice(&text), is_a_stat, &seen));
    assert_int_equal(seen.n, metadata.n_stats);
    if (same_bytes) {
        remove_record_stats((char *)bytes);
        if (strcmp((char *)bytes, hd_str_text(&text)) != 0)
            fail_msg("%s: %s is printed in another way", name, instant->time);
    }
    test_must(op, hd_commit_metadata_parse(op, hd_str_slice(&text), &again));
    test_must(op, hd_commit_metadata_format(op, &again, &text_again));
    assert_string_equal(hd_str_text(&text_again), hd_str_text(&text));
    const size_t n_stats = metadata.n_stats;
    hd_commit_metadata_clear(&metadata);
    hd_commit_metadata_clear(&again);
    hd_str_clear(&text);
    hd_str_clear(&text_again);
    hd_free(op, bytes);
    return n_stats;
}

static void check_commits(struct hd_op *op, const char *prefix, bool same_bytes)
{
    char **names = test_golden_names(prefix);
    size_t n_stats = 0;

    for (size_t i = 0; names[i] != NULL; i++) {
        struct loaded t;

        load(op, names[i], &t);
        for (size_t j = 0; j < t.timeline.n_instants; j++) {
            if (hd_instant_is_completed_write(&t.timeline.instants[j]))
                n_stats += check_commit(op, names[i], &t, &t.timeline.instants[j], same_bytes);
        }
        unload(op, &t);
    }
    assert_true(n_stats > 100);
    test_golden_free_names(names);
}

static void commits_of_hudi_0_15_are_printed_byte_for_byte(void **state)
{
    check_commits(*state, "spark-0.15.0-", true);
}

static void commits_of_hudi_0_10_are_read_and_printed(void **state)
{
    check_commits(*state, "flink010-", false);
}

/* Twelve commits were made; archival moved some of them out. */
static void a_flink_archive_holds_the_commits_that_are_gone(void **state)
{
    struct hd_op *op = *state;
    struct loaded t;
    size_t n_commits = 0, n_archived = 0;

    load(op, "flink010-cow-clean-archive", &t);
    for (size_t i = 0; i < t.timeline.n_instants; i++)
        n_commits += hd_instant_is_completed_write(&t.timeline.instants[i]);
    for (size_t i = 0; i < t.archive.n_instants; i++) {
        const struct hd_archived_instant *instant = &t.archive.instants[i];

        if (i > 0)
            assert_true(strcmp(t.archive.instants[i - 1].time, instant->time) <= 0);
        if (strcmp(instant->action, "commit") != 0 || instant->state != HD_COMPLETED)
            continue;
        n_archived++;
        assert_true(strcmp(instant->time, t.timeline.start) < 0);
        assert_true(instant->has_commit);
        assert_true(instant->commit.n_stats > 0);
        for (size_t j = 0; j < instant->commit.n_stats; j++) {
            const struct hd_write_stat *stat = &instant->commit.stats[j];

            assert_non_null(strstr(stat->path, stat->file_id));
            assert_non_null(strstr(stat->path, instant->time));
            assert_true(stat->num_writes > 0 && stat->file_size_in_bytes > 0);
        }
        assert_non_null(hd_commit_metadata_extra(&instant->commit, "schema"));
    }
    assert_true(n_archived > 0);
    assert_int_equal(n_commits + n_archived, 12);
    unload(op, &t);
}

static void content_is_read_for_the_times_that_are_wanted(void **state)
{
    struct hd_op *op = *state;
    struct hd_archived_timeline bounded;
    struct loaded t;

    load(op, "spark-0.15.0-archived-cow", &t);
    assert_true(t.archive.n_instants > 6);
    const char *from = t.archive.instants[0].time;
    const char *to = t.archive.instants[t.archive.n_instants / 2].time;
    test_must(op, hd_archived_timeline_load(op, t.fs, t.fs_path, &t.config, from, to, &bounded));
    assert_int_equal(bounded.n_instants, t.archive.n_instants);
    for (size_t i = 0; i < bounded.n_instants; i++) {
        const struct hd_archived_instant *all = &t.archive.instants[i];
        const bool wanted = strcmp(all->time, from) > 0 && strcmp(all->time, to) <= 0;

        assert_int_equal(bounded.instants[i].has_commit, all->has_commit && wanted);
    }
    hd_archived_timeline_clear(&bounded);
    unload(op, &t);
}

/* The plan covers the files of its operations' groups. */
static void compaction_plans_are_read(void **state)
{
    struct hd_op *op = *state;
    static const char *const NAMES[] = {"flink010-mor-pending-compaction",
                                        "spark-0.15.0-mor-pending-compaction"};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        struct loaded t;
        size_t n_operations = 0;

        load(op, NAMES[i], &t);
        for (size_t j = 0; j < t.timeline.n_instants; j++) {
            const struct hd_instant *instant = &t.timeline.instants[j];
            struct hd_compaction_plan plan;

            if (!hd_timeline_is_pending_compaction(&t.timeline, instant->time))
                continue;
            test_must(op, hd_compaction_plan_read(op, &t.timeline, instant, &plan));
            for (size_t k = 0; k < plan.n_operations; k++) {
                const struct hd_compaction_operation *operation = &plan.operations[k];

                assert_true(hd_timeline_is_committed(&t.timeline, operation->base_instant));
                assert_true(operation->n_delta_files > 0);
                assert_non_null(strstr(operation->delta_files[0], operation->file_id));
                assert_null(strchr(operation->delta_files[0], '/'));
            }
            n_operations += plan.n_operations;
            hd_compaction_plan_clear(&plan);
        }
        assert_true(n_operations > 0);
        unload(op, &t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flink_timelines_are_those_listed),
        cmocka_unit_test(spark_operations_are_on_the_timeline),
        cmocka_unit_test(commits_of_hudi_0_15_are_printed_byte_for_byte),
        cmocka_unit_test(commits_of_hudi_0_10_are_read_and_printed),
        cmocka_unit_test(a_flink_archive_holds_the_commits_that_are_gone),
        cmocka_unit_test(content_is_read_for_the_times_that_are_wanted),
        cmocka_unit_test(compaction_plans_are_read),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
