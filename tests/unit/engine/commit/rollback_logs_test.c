/* SPDX-License-Identifier: Apache-2.0 */
/* Delta commits that Hudi left behind unfinished are rolled back: what is planned, what is written,
 * and that it may stop anywhere and go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/commit/rollback.h"
#include "format/layout/file_name.h"
#include "format/log/log_reader.h"
#include "format/marker/marker.h"
#include "format/timeline/rollback_plan.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

/* Slices that the failed instant wrote to, with the log files that a plan names. */
struct expected_slice {
    const char *partition, *file_id, *base_instant;
    const char *logs[2];
    const char *rollback_log;
};

struct expected {
    const char *table;
    const char *target;
    struct expected_slice slices[2];
};

#define SPARK_LOG(id, version, token) "." id "_20261130141451363.log." version "_" token
#define NORTH "446b06a9-55da-4a50-a7ec-9cde3e789c2c-0"
#define SOUTH "3ff58197-8b9f-489f-a4e3-74c034e4c1e9-0"
#define FLINK_LOG(id, version, token) "." id "_20261130142936781.log." version "_" token
#define PAR2 "5742070c-5075-4d27-a654-c506897a1666"
#define PAR3 "ec6be8aa-c551-4c54-a7c6-cea28e6c675e"

static const struct expected CASES[] = {
    {"spark-0.15.0-failed-mor",
     "20261130141520738",
     {{"north",
       NORTH,
       "20261130141451363",
       {SPARK_LOG(NORTH, "2", "1-2216-3187")},
       SPARK_LOG(NORTH, "3", "1-0-1")},
      {"south",
       SOUTH,
       "20261130141451363",
       {SPARK_LOG(SOUTH, "2", "0-2216-3186")},
       SPARK_LOG(SOUTH, "3", "1-0-1")}}},
    /* Markers of 0.10 name the slice: all its log files are in the plan. */
    {"flink010-mor-failed-inflight",
     "20261130142942968",
     {{"par2",
       PAR2,
       "20261130142936781",
       {FLINK_LOG(PAR2, "1", "0-1-0"), FLINK_LOG(PAR2, "2", "0-1-0")},
       FLINK_LOG(PAR2, "3", "1-0-1")},
      {"par3",
       PAR3,
       "20261130142936781",
       {FLINK_LOG(PAR3, "1", "0-1-0"), FLINK_LOG(PAR3, "2", "0-1-0")},
       FLINK_LOG(PAR3, "3", "1-0-1")}}},
};

/* Rollback blocks of the target in the slice's log files. */
static size_t count_rollback_blocks(struct hd_op *op, const struct hd_table_snapshot *table,
                                    const struct expected *wanted,
                                    const struct expected_slice *slice)
{
    struct hd_arena arena = {0};
    struct hd_file_info *files;
    size_t n, n_found = 0;
    char *dir;

    test_must(op, hd_path_join(op, table->path, slice->partition, &dir));
    test_must(op, hd_fs_list(op, table->fs, dir, &arena, &files, &n));
    for (size_t i = 0; i < n; i++) {
        struct hd_file_name name;
        struct hd_log_block block;
        struct hd_slice value;
        hd_log_reader *reader;
        char *path;

        assert_false(hd_slice_starts_with(hd_slice_text(files[i].name), HD_TEMPORARY_PREFIX));
        if (!hd_file_name_parse(files[i].name, &name) || name.kind != HD_FILE_LOG)
            continue;
        test_must(op, hd_path_join(op, dir, files[i].name, &path));
        test_must(op, hd_log_reader_open(op, table->fs, path, &reader));
        while (hd_log_reader_next(op, reader, &block) == HUDI_OK) {
            assert_int_not_equal(block.type, HD_LOG_CORRUPT);
            if (block.type == HD_LOG_COMMAND) {
                test_must(op, hd_log_header_find(op, &block, HD_LOG_TARGET_INSTANT_TIME, &value));
                assert_true(hd_slice_equal(value, hd_slice_text(wanted->target)));
                assert_string_equal(files[i].name, slice->rollback_log);
                n_found++;
            }
            hd_log_block_clear(op, &block);
        }
        hd_log_reader_close(op, reader);
        hd_free(op, path);
    }
    hd_free(op, dir);
    hd_arena_clear(&arena);
    return n_found;
}

static const struct expected_slice *slice_of(const struct expected *wanted, const char *partition)
{
    return &wanted->slices[strcmp(wanted->slices[0].partition, partition) == 0 ? 0 : 1];
}

static void check_request(const struct expected_slice *slice,
                          const struct hd_rollback_request *request)
{
    const size_t n_logs = slice->logs[1] == NULL ? 1 : 2;

    assert_string_equal(request->partition_path, slice->partition);
    assert_string_equal(request->file_id, slice->file_id);
    assert_string_equal(request->latest_base_instant, slice->base_instant);
    assert_int_equal(request->n_files, 0);
    assert_int_equal(request->n_logs, n_logs);
    for (size_t i = 0; i < n_logs; i++) {
        assert_string_equal(request->log_paths[i], slice->logs[i]);
        assert_true(request->log_sizes[i] > 100);
    }
}

/* The plan and the metadata of the one rollback that is on the timeline. */
static void check_rollback(struct hd_op *op, const struct hd_table_snapshot *table,
                           const struct expected *wanted)
{
    const struct hd_instant *rollback = NULL;
    struct hd_rollback_plan plan;
    uint8_t *bytes;
    size_t n;

    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        assert_int_equal(table->timeline.instants[i].state, HD_COMPLETED);
        if (table->timeline.instants[i].action == HD_ACTION_ROLLBACK)
            rollback = &table->timeline.instants[i];
    }
    assert_non_null(rollback);
    test_must(op, hd_timeline_read(op, &table->timeline, rollback, HD_REQUESTED, &bytes, &n));
    test_must(op, hd_rollback_plan_decode(op, hd_slice_of(bytes, n), &plan));
    assert_string_equal(plan.target_time, wanted->target);
    assert_string_equal(plan.target_action, "deltacommit");
    assert_int_equal(plan.n_requests, 2);
    for (size_t i = 0; i < 2; i++)
        check_request(slice_of(wanted, plan.requests[i].partition_path), &plan.requests[i]);
    hd_rollback_plan_clear(&plan);
    hd_free(op, bytes);

    test_must(op, hd_timeline_read(op, &table->timeline, rollback, HD_COMPLETED, &bytes, &n));
    test_must(op, hd_rollback_metadata_decode(op, hd_slice_of(bytes, n), &plan));
    assert_int_equal(plan.n_requests, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct expected_slice *slice = slice_of(wanted, plan.requests[i].partition_path);
        char uri[512];

        snprintf(uri, sizeof uri, "file:%s/%s/%s", table->path, slice->partition,
                 slice->rollback_log);
        assert_int_equal(plan.requests[i].n_rollback_logs, 1);
        assert_string_equal(plan.requests[i].rollback_log_paths[0], uri);
        assert_int_equal(plan.requests[i].rollback_log_sizes[0], 105);
    }
    hd_rollback_plan_clear(&plan);
    hd_free(op, bytes);
}

/* After a stop between the rollback's completion and its end the markers are left, for nobody. */
static void check_table(struct hd_op *op, const char *path, const struct expected *wanted,
                        bool stopped)
{
    struct hd_table_snapshot table;
    struct hd_arena arena = {0};
    struct hd_marker *markers;
    size_t n;

    test_must(op, hd_table_snapshot_load(op, path, &table));
    check_rollback(op, &table, wanted);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(count_rollback_blocks(op, &table, wanted, &wanted->slices[i]), 1);
    if (!stopped)
        assert_int_equal(
            hd_markers_read(op, table.fs, table.path, wanted->target, &arena, &markers, &n),
            HUDI_NOT_FOUND);
    hd_arena_clear(&arena);
    hd_table_snapshot_clear(op, &table);
}

static hudi_status roll_back(struct hd_op *op, const char *path)
{
    struct hd_table_snapshot table = {0};
    hudi_status status = hd_table_snapshot_load(op, path, &table);

    if (status == HUDI_OK)
        status = hd_rollback_failed_writes(op, NULL, &table, NULL);
    hd_table_snapshot_clear(op, &table);
    return status;
}

static void failed_delta_commits_get_rollback_blocks(void **state)
{
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        char *path = test_golden_unpack(CASES[i].table);

        test_must(op, roll_back(op, path));
        check_table(op, path, &CASES[i], false);
        test_must(op, roll_back(op, path)); /* nothing is left to do */
        check_table(op, path, &CASES[i], false);
        test_golden_remove(path);
    }
}

/* Without markers what Spark notes in its inflight file tells the slices; Flink notes nothing. */
static void without_markers_the_inflight_file_tells_the_slices(void **state)
{
    struct expected wanted = CASES[0];
    struct hd_op *op = *state;
    struct hd_table_snapshot table;
    char *path = test_golden_unpack(wanted.table);

    test_must(op, hd_table_snapshot_load(op, path, &table));
    test_must(op, hd_markers_delete(op, table.fs, table.path, wanted.target));
    hd_table_snapshot_clear(op, &table);
    test_must(op, roll_back(op, path));
    for (size_t i = 0; i < 2; i++) { /* the first log file is of the slice, too */
        wanted.slices[i].logs[1] = wanted.slices[i].logs[0];
        wanted.slices[i].logs[0] =
            i == 0 ? SPARK_LOG(NORTH, "1", "1-2187-3152") : SPARK_LOG(SOUTH, "1", "0-2187-3151");
    }
    check_table(op, path, &wanted, false);
    test_golden_remove(path);
}

static void a_rollback_that_stops_anywhere_goes_on(void **state)
{
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        hudi_status status = HUDI_INTERNAL;

        for (int nth = 1; status != HUDI_OK; nth += 7) {
            char *path = test_golden_unpack(CASES[i].table);

            test_fault_arm_sticky(op, nth);
            status = roll_back(op, path);
            test_fault_disarm(op);
            hd_op_clear_error(op);
            test_must(op, roll_back(op, path));
            check_table(op, path, &CASES[i], true);
            test_golden_remove(path);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(failed_delta_commits_get_rollback_blocks, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(without_markers_the_inflight_file_tells_the_slices,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(a_rollback_that_stops_anywhere_goes_on, test_op_setup,
                                        test_op_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
