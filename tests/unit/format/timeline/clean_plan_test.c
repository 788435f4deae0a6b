/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/*
 * Plans and results of cleans, and savepoints, that Hudi wrote: read, and written again to the same
 * record bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/avro.h"
#include "format/timeline/clean_plan.h"
#include "format/timeline/savepoint_metadata.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"
#include "unit/format/timeline/plan_testing.h"

struct loaded {
    char *path;
    hd_file_system *fs;
    char *fs_path;
    struct hd_table_config config;
    struct hd_timeline timeline;
};

static void load(struct hd_op *op, const char *name, struct loaded *t)
{
    memset(t, 0, sizeof *t);
    t->path = test_golden_unpack(name);
    test_must(op, hd_fs_open(op, t->path, &t->fs, &t->fs_path));
    test_must(op, hd_table_config_load(op, t->fs, t->fs_path, &t->config));
    test_must(op, hd_timeline_load(op, t->fs, t->fs_path, &t->config, &t->timeline));
}

static void unload(struct hd_op *op, struct loaded *t)
{
    hd_timeline_clear(&t->timeline);
    hd_table_config_clear(&t->config);
    hd_fs_free(t->fs);
    hd_free(op, t->fs_path);
    test_golden_remove(t->path);
}

static void expect_same_plan(struct hd_op *op, const struct loaded *t,
                             const struct hd_instant *instant, enum hd_instant_state state,
                             const char *uri)
{
    struct hd_clean_plan plan;
    struct hd_str made = {0};
    uint8_t *bytes;
    size_t n;

    test_must(op, hd_timeline_read(op, &t->timeline, instant, state, &bytes, &n));
    test_must(op, hd_clean_plan_decode(op, hd_slice_of(bytes, n), &plan));
    assert_true(plan.n_partitions > 0);
    test_must(op, hd_clean_plan_encode(op, &plan, t->config.version, uri, &made));
    plan_expect_same_record(op, hd_slice_of(bytes, n), &made);
    hd_clean_plan_clear(&plan);
    hd_free(op, bytes);
}

static void expect_same_metadata(struct hd_op *op, const struct loaded *t,
                                 const struct hd_instant *instant)
{
    struct hd_clean_metadata metadata;
    struct hd_str made = {0};
    uint8_t *bytes;
    size_t n;

    test_must(op, hd_timeline_read(op, &t->timeline, instant, HD_COMPLETED, &bytes, &n));
    test_must(op, hd_clean_metadata_decode(op, hd_slice_of(bytes, n), &metadata));
    assert_string_equal(metadata.start_time, instant->time);
    assert_true(metadata.n_deleted > 0);
    test_must(op, hd_clean_metadata_encode(op, &metadata, t->config.version, &made));
    plan_expect_same_record(op, hd_slice_of(bytes, n), &made);
    hd_clean_metadata_clear(&metadata);
    hd_free(op, bytes);
}

static void cleans_are_written_as_each_release_writes_them(void **state)
{
    static const struct {
        const char *name, *uri;
    } TABLES[] = {
        {"spark-0.15.0-clean-versions", "file:/tmp/rig/t/spark-0.15.0-clean-versions"},
        {"spark-0.15.0-archived-cow", "file:/tmp/rig/t/spark-0.15.0-archived-cow"},
        {"flink010-cow-clean-archive", "file:/tmp/rigflink/t/cow-clean-archive"},
        {"flink010-mor-clean-archive", "file:/tmp/rigflink/t/mor-clean-archive"},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(TABLES); i++) {
        struct loaded t;
        size_t n_cleans = 0;

        load(op, TABLES[i].name, &t);
        for (size_t j = 0; j < t.timeline.n_instants; j++) {
            const struct hd_instant *const instant = &t.timeline.instants[j];

            if (instant->action != HD_ACTION_CLEAN)
                continue;
            assert_int_equal(instant->state, HD_COMPLETED);
            expect_same_plan(op, &t, instant, HD_REQUESTED, TABLES[i].uri);
            expect_same_plan(op, &t, instant, HD_INFLIGHT, TABLES[i].uri);
            expect_same_metadata(op, &t, instant);
            n_cleans++;
        }
        assert_true(n_cleans > 2);
        unload(op, &t);
    }
}

static void a_savepoint_is_written_as_hudi_writes_it(void **state)
{
    struct hd_op *op = *state;
    struct hd_savepoint_metadata metadata;
    struct hd_str made = {0};
    struct loaded t;
    uint8_t *bytes;
    size_t n;

    load(op, "spark-0.15.0-savepoint-mor", &t);
    const struct hd_instant *const instant =
        hd_timeline_find(&t.timeline, "20261130141842057", HD_ACTION_SAVEPOINT);
    assert_non_null(instant);
    test_must(op, hd_savepoint_metadata_read(op, &t.timeline, instant, &metadata));
    assert_int_equal(metadata.n_partitions, 2);
    assert_string_equal(metadata.partitions[0].partition_path, "south");
    assert_int_equal(metadata.partitions[0].n_files, 2);
    assert_string_equal(metadata.partitions[0].files[0],
                        "a85de385-d04f-4345-894e-d8bbedd7a29b-0_0-2786-3924_20261130141837930"
                        ".parquet");
    assert_int_equal(metadata.made_ms, 1796048333586);
    test_must(op, hd_savepoint_metadata_encode(op, &metadata, &made));
    test_must(op, hd_timeline_read(op, &t.timeline, instant, HD_COMPLETED, &bytes, &n));
    plan_expect_same_record(op, hd_slice_of(bytes, n), &made);
    hd_free(op, bytes);
    hd_savepoint_metadata_clear(&metadata);
    unload(op, &t);
}

/* A plan and a result of every part there is. */
static void make_both(struct hd_op *op, struct hd_str *plan_bytes, struct hd_str *result_bytes)
{
    const struct hd_table_version *version;
    const char *files[] = {"f1_0-1-0_001.parquet", ".f1_001.log.1_0-1-0"}, *empty[] = {"b=2"};
    bool deleted[] = {true, false};
    struct hd_clean_partition partition = {"a=1", files, 2};
    struct hd_cleaned_partition cleaned = {"a=1", files, deleted, 2, true};
    const struct hd_clean_plan plan = {.earliest_time = "003",
                                       .earliest_action = "replacecommit",
                                       .last_completed = "005",
                                       .policy = "KEEP_LATEST_COMMITS",
                                       .partitions = &partition,
                                       .n_partitions = 1,
                                       .deleted_partitions = empty,
                                       .n_deleted_partitions = 1,
                                       .savepoints = "001,002"};
    const struct hd_clean_metadata result = {.start_time = "006",
                                             .taken_ms = 7,
                                             .earliest_time = "003",
                                             .last_completed = "005",
                                             .policy = "KEEP_LATEST_COMMITS",
                                             .partitions = &cleaned,
                                             .n_partitions = 1,
                                             .savepoints = "001,002"};

    test_must(op, hd_table_version_of(op, 6, &version));
    test_must(op, hd_clean_plan_encode(op, &plan, version, "s3://b/t", plan_bytes));
    test_must(op, hd_clean_metadata_encode(op, &result, version, result_bytes));
}

static void everything_in_a_plan_and_a_result_comes_back(void **state)
{
    struct hd_op *op = *state;
    struct hd_str plan_bytes = {0}, result_bytes = {0};
    struct hd_clean_plan plan;
    struct hd_clean_metadata result;

    make_both(op, &plan_bytes, &result_bytes);
    test_must(op, hd_clean_plan_decode(op, hd_str_slice(&plan_bytes), &plan));
    assert_string_equal(plan.earliest_time, "003");
    assert_string_equal(plan.earliest_action, "replacecommit");
    assert_string_equal(plan.last_completed, "005");
    assert_string_equal(plan.partitions[0].files[1], ".f1_001.log.1_0-1-0");
    assert_string_equal(plan.deleted_partitions[0], "b=2");
    assert_string_equal(plan.savepoints, "001,002");
    hd_clean_plan_clear(&plan);
    test_must(op, hd_clean_metadata_decode(op, hd_str_slice(&result_bytes), &result));
    assert_string_equal(result.earliest_time, "003");
    assert_int_equal(result.taken_ms, 7);
    assert_int_equal(result.n_deleted, 1);
    assert_true(result.partitions[0].partition_deleted);
    assert_true(result.partitions[0].deleted[0]);
    assert_false(result.partitions[0].deleted[1]);
    assert_string_equal(result.partitions[0].files[1], ".f1_001.log.1_0-1-0");
    assert_string_equal(result.savepoints, "001,002");
    hd_clean_metadata_clear(&result);
    hd_str_clear(&plan_bytes);
    hd_str_clear(&result_bytes);
}

static void what_is_cut_at_any_byte_is_refused(void **state)
{
    struct hd_op *op = *state;
    struct hd_str plan_bytes = {0}, result_bytes = {0};
    struct hd_clean_plan plan;
    struct hd_clean_metadata result;

    make_both(op, &plan_bytes, &result_bytes);
    for (size_t n = 0; n < plan_bytes.size; n++) {
        assert_int_equal(hd_clean_plan_decode(op, hd_slice_of(plan_bytes.data, n), &plan),
                         HUDI_CORRUPT);
        hd_op_clear_error(op);
    }
    for (size_t n = 0; n < result_bytes.size; n++) {
        assert_int_equal(hd_clean_metadata_decode(op, hd_slice_of(result_bytes.data, n), &result),
                         HUDI_CORRUPT);
        hd_op_clear_error(op);
    }
    hd_str_clear(&plan_bytes);
    hd_str_clear(&result_bytes);
}

static void reading_and_writing_survive_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct hd_str plan_bytes = {0}, result_bytes = {0}, out = {0};
    const struct hd_table_version *version;
    hudi_status status = HUDI_INTERNAL;

    make_both(op, &plan_bytes, &result_bytes);
    test_must(op, hd_table_version_of(op, 6, &version));
    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_clean_plan plan;
        struct hd_clean_metadata result = {0};

        test_fault_arm(op, nth);
        status = hd_clean_plan_decode(op, hd_str_slice(&plan_bytes), &plan);
        if (status == HUDI_OK)
            status = hd_clean_plan_encode(op, &plan, version, "file:/t", &out);
        if (status == HUDI_OK)
            status = hd_clean_metadata_decode(op, hd_str_slice(&result_bytes), &result);
        if (status == HUDI_OK)
            status = hd_clean_metadata_encode(op, &result, version, &out);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_clean_plan_clear(&plan);
        hd_clean_metadata_clear(&result);
        hd_str_clear(&out);
    }
    test_fault_disarm(op);
    hd_str_clear(&plan_bytes);
    hd_str_clear(&result_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cleans_are_written_as_each_release_writes_them,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(a_savepoint_is_written_as_hudi_writes_it, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(everything_in_a_plan_and_a_result_comes_back, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(what_is_cut_at_any_byte_is_refused, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(reading_and_writing_survive_every_fault, test_op_setup,
                                        test_op_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
