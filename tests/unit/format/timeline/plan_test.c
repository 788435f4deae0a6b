/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/*
 * Plans and results of table services and rollbacks that Hudi wrote: read, and written again to the
 * same record bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/avro.h"
#include "format/timeline/compaction_plan.h"
#include "format/timeline/replace_plan.h"
#include "format/timeline/rollback_plan.h"
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

static const struct hd_instant *first_of(const struct loaded *t, enum hd_action action)
{
    for (size_t i = 0; i < t->timeline.n_instants; i++) {
        if (t->timeline.instants[i].pending_action == action)
            return &t->timeline.instants[i];
    }
    fail_msg("no such instant");
    return NULL;
}

static void rollback_plans_are_written_as_hudi_writes_them(void **state)
{
    static const char *const NAMES[] = {"flink010-cow-rollback", "flink010-mor-rollback",
                                        "spark-0.15.0-rollback-cow", "spark-0.15.0-rollback-mor"};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        struct hd_rollback_plan plan;
        struct hd_str again = {0};
        struct loaded t;
        uint8_t *bytes;
        size_t n, n_files = 0, n_logs = 0;

        load(op, NAMES[i], &t);
        const struct hd_instant *rollback = first_of(&t, HD_ACTION_ROLLBACK);
        test_must(op, hd_timeline_read(op, &t.timeline, rollback, HD_REQUESTED, &bytes, &n));
        test_must(op, hd_rollback_plan_decode(op, hd_slice_of(bytes, n), &plan));
        assert_int_equal(strlen(plan.target_time), 17);
        for (size_t j = 0; j < plan.n_requests; j++) {
            n_files += plan.requests[j].n_files;
            n_logs += plan.requests[j].n_logs;
        }
        if (strstr(NAMES[i], "cow") != NULL)
            assert_true(n_files > 0 && n_logs == 0);
        else
            assert_true(n_files == 0 && n_logs > 0);
        test_must(op, hd_rollback_plan_encode(op, &plan, &again));
        plan_expect_same_record(op, hd_slice_of(bytes, n), &again);
        hd_rollback_plan_clear(&plan);
        hd_free(op, bytes);
        unload(op, &t);
    }
}

/* Of 0.15 to the same bytes; those of 0.10 have a field by another name. */
static void results_of_rollbacks_are_written_as_hudi_writes_them(void **state)
{
    static const struct {
        const char *name;
        int64_t taken_ms; /* is not kept: its value in the file */
    } CASES[] = {{"spark-0.15.0-rollback-cow", 627}, {"spark-0.15.0-rollback-mor", 926}};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct hd_rollback_plan result;
        struct hd_str again = {0};
        struct loaded t;
        uint8_t *bytes;
        size_t n;

        load(op, CASES[i].name, &t);
        const struct hd_instant *rollback = first_of(&t, HD_ACTION_ROLLBACK);
        test_must(op, hd_timeline_read(op, &t.timeline, rollback, HD_COMPLETED, &bytes, &n));
        test_must(op, hd_rollback_metadata_decode(op, hd_slice_of(bytes, n), &result));
        test_must(op, hd_rollback_metadata_encode(op, &result, rollback->time, CASES[i].taken_ms,
                                                  &again));
        plan_expect_same_record(op, hd_slice_of(bytes, n), &again);
        hd_rollback_plan_clear(&result);
        hd_free(op, bytes);
        unload(op, &t);
    }
}

static void compaction_plans_are_written_as_hudi_writes_them(void **state)
{
    static const char *const NAMES[] = {"flink010-mor-pending-compaction", "flink010-mor-compacted",
                                        "spark-0.15.0-mor-pending-compaction",
                                        "spark-0.15.0-mor-compacted"};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        struct hd_compaction_plan plan;
        struct hd_str again = {0};
        struct loaded t;
        uint8_t *bytes;
        size_t n;

        load(op, NAMES[i], &t);
        const struct hd_instant *compaction = first_of(&t, HD_ACTION_COMPACTION);
        test_must(op, hd_timeline_read(op, &t.timeline, compaction, HD_REQUESTED, &bytes, &n));
        test_must(op, hd_compaction_plan_parse(op, hd_slice_of(bytes, n), &plan));
        assert_true(plan.n_operations > 1);
        assert_true(plan.operations[0].metrics.log_bytes > 0);
        test_must(op, hd_compaction_plan_encode(op, &plan, t.config.version, &again));
        plan_expect_same_record(op, hd_slice_of(bytes, n), &again);
        hd_compaction_plan_clear(&plan);
        hd_free(op, bytes);
        unload(op, &t);
    }
}

static void clustering_plans_are_written_as_hudi_writes_them(void **state)
{
    struct hd_op *op = *state;
    struct hd_replace_plan plan;
    struct hd_str again = {0};
    struct loaded t;
    uint8_t *bytes;
    size_t n;

    load(op, "spark-0.15.0-cluster-cow", &t);
    const struct hd_instant *clustering = first_of(&t, HD_ACTION_REPLACECOMMIT);
    test_must(op, hd_timeline_read(op, &t.timeline, clustering, HD_REQUESTED, &bytes, &n));
    test_must(op, hd_replace_plan_parse(op, hd_slice_of(bytes, n), &plan));
    assert_int_equal(plan.n_groups, 2);
    test_must(
        op, hd_replace_plan_encode(op, &plan, "file:/tmp/rig/t/spark-0.15.0-cluster-cow", &again));
    plan_expect_same_record(op, hd_slice_of(bytes, n), &again);
    hd_replace_plan_clear(&plan);
    hd_free(op, bytes);
    unload(op, &t);
}

static void results_of_0_10_are_read(void **state)
{
    struct hd_op *op = *state;
    struct hd_rollback_plan result;
    struct loaded t;
    uint8_t *bytes;
    size_t n;

    load(op, "flink010-mor-rollback", &t);
    test_must(op, hd_timeline_read(op, &t.timeline, first_of(&t, HD_ACTION_ROLLBACK), HD_COMPLETED,
                                   &bytes, &n));
    test_must(op, hd_rollback_metadata_decode(op, hd_slice_of(bytes, n), &result));
    assert_string_equal(result.target_time, "20261130143756715");
    assert_string_equal(result.target_action, "deltacommit");
    assert_int_equal(result.n_requests, 3);
    for (size_t i = 0; i < result.n_requests; i++) {
        assert_int_equal(result.requests[i].n_files, 0);
        assert_int_equal(result.requests[i].n_rollback_logs, 1);
        assert_int_equal(result.requests[i].rollback_log_sizes[0], 105);
        assert_true(result.requests[i].n_logs > 0);
    }
    hd_rollback_plan_clear(&result);
    hd_free(op, bytes);
    unload(op, &t);
}

static void requests_of_one_partition_make_one_entry(void **state)
{
    struct hd_op *op = *state;
    const char *a[] = {"/t/p/a"}, *b[] = {"/t/p/b", "/t/p/c"}, *c[] = {"/t/q/d"};
    struct hd_rollback_request requests[] = {
        {.partition_path = "p", .file_id = "", .latest_base_instant = "", .files = a, .n_files = 1},
        {.partition_path = "q", .file_id = "", .latest_base_instant = "", .files = c, .n_files = 1},
        {.partition_path = "p", .file_id = "", .latest_base_instant = "", .files = b, .n_files = 2},
    };
    const struct hd_rollback_plan plan = {
        .target_time = "001", .target_action = "commit", .requests = requests, .n_requests = 3};
    struct hd_rollback_plan result;
    struct hd_str bytes = {0};

    test_must(op, hd_rollback_metadata_encode(op, &plan, "002", 5, &bytes));
    test_must(op, hd_rollback_metadata_decode(op, hd_str_slice(&bytes), &result));
    assert_int_equal(result.n_requests, 2);
    assert_string_equal(result.requests[0].partition_path, "p");
    assert_int_equal(result.requests[0].n_files, 3);
    assert_string_equal(result.requests[0].files[2], "/t/p/c");
    assert_int_equal(result.requests[1].n_files, 1);
    hd_rollback_plan_clear(&result);
    hd_str_clear(&bytes);
}

static void an_insert_overwrite_requests_nothing(void **state)
{
    struct hd_op *op = *state;
    struct hd_replace_plan plan;
    struct hd_str ours = {0};
    struct loaded t;
    uint8_t *bytes;
    size_t n;

    load(op, "spark-0.15.0-insert-overwrite", &t);
    const struct hd_instant *instant = first_of(&t, HD_ACTION_REPLACECOMMIT);
    test_must(op, hd_timeline_read(op, &t.timeline, instant, HD_REQUESTED, &bytes, &n));
    test_must(op, hd_replace_plan_encode_empty(op, &ours));
    plan_expect_same_record(op, hd_slice_of(bytes, n), &ours);
    test_must(op, hd_replace_plan_parse(op, hd_str_slice(&ours), &plan));
    assert_false(plan.is_clustering);
    assert_null(plan.operation_type);
    hd_replace_plan_clear(&plan);
    test_must(op, hd_replace_plan_read(op, &t.timeline, instant, &plan));
    assert_false(plan.is_clustering);
    hd_replace_plan_clear(&plan);
    hd_str_clear(&ours);
    hd_free(op, bytes);
    unload(op, &t);
}

/* What a clustering was to rewrite is what its commit says it has replaced. */
static void clustering_plans_are_read(void **state)
{
    struct hd_op *op = *state;
    struct hd_replace_plan plan;
    struct hd_commit_metadata metadata;
    struct loaded t;
    size_t n_replaced = 0;

    load(op, "spark-0.15.0-cluster-cow", &t);
    const struct hd_instant *instant = first_of(&t, HD_ACTION_REPLACECOMMIT);
    test_must(op, hd_replace_plan_read(op, &t.timeline, instant, &plan));
    test_must(op, hd_timeline_read_commit(op, &t.timeline, instant, &metadata));
    assert_true(plan.is_clustering);
    assert_non_null(strstr(plan.strategy_class, "org.apache.hudi."));
    assert_true(plan.n_params > 0);
    for (size_t i = 0; i < metadata.n_replaced; i++) {
        for (size_t j = 0; j < metadata.replaced[i].n_file_ids; j++, n_replaced++) {
            bool planned = false;

            for (size_t k = 0; k < plan.n_slices; k++)
                planned = planned ||
                          (strcmp(plan.slices[k].file_id, metadata.replaced[i].file_ids[j]) == 0 &&
                           strcmp(plan.slices[k].partition_path,
                                  metadata.replaced[i].partition_path) == 0);
            assert_true(planned);
        }
    }
    assert_int_equal(n_replaced, plan.n_slices);
    for (size_t k = 0; k < plan.n_slices; k++) {
        assert_null(strchr(plan.slices[k].data_file, '/'));
        assert_non_null(strstr(plan.slices[k].data_file, plan.slices[k].file_id));
    }
    hd_commit_metadata_clear(&metadata);
    hd_replace_plan_clear(&plan);
    unload(op, &t);
}

static void put_bytes(struct test_table *table, const char *file, const uint8_t *bytes, size_t n)
{
    char *path;

    test_must(table->op, hd_path_join(table->op, table->path, file, &path));
    test_must(table->op, hd_fs_replace(table->op, table->fs, path, bytes, n));
    hd_free(table->op, path);
}

static void groups_of_pending_services_are_found(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;
    struct hd_pending_file_group *groups;
    struct hd_replace_plan plan;
    struct hd_arena arena = {0};
    struct loaded real;
    uint8_t *bytes;
    size_t n, n_groups;

    /* A real clustering that has completed becomes a pending one in a table of its own. */
    load(op, "spark-0.15.0-cluster-cow", &real);
    const struct hd_instant *instant = first_of(&real, HD_ACTION_REPLACECOMMIT);
    test_must(op, hd_timeline_read(op, &real.timeline, instant, HD_REQUESTED, &bytes, &n));
    test_must(op, hd_replace_plan_parse(op, hd_slice_of(bytes, n), &plan));
    test_table_open(op, &table, "plans", 6, "p");
    put_bytes(&table, ".hoodie/005.replacecommit.requested", bytes, n);
    test_table_put(&table, ".hoodie/006.replacecommit.requested", "");
    test_table_put(&table, ".hoodie/006.replacecommit.inflight", "");
    test_table_put(&table, ".hoodie/007.replacecommit", "{}");
    test_must(op, hd_timeline_load(op, table.fs, table.path, &table.config, &timeline));

    test_must(op, hd_pending_clustering_file_ids(op, &timeline, &arena, &groups, &n_groups));
    assert_int_equal(n_groups, plan.n_slices);
    for (size_t i = 0; i < plan.n_slices; i++) {
        const struct hd_pending_file_group *found = hd_pending_file_group_find(
            groups, n_groups, plan.slices[i].partition_path, plan.slices[i].file_id);

        assert_non_null(found);
        assert_string_equal(found->instant, "005");
    }
    assert_null(hd_pending_file_group_find(groups, n_groups, "nowhere", plan.slices[0].file_id));
    test_must(op, hd_pending_compaction_file_ids(op, &timeline, &arena, &groups, &n_groups));
    assert_int_equal(n_groups, 0);
    hd_timeline_clear(&timeline);
    test_table_close(&table);
    hd_replace_plan_clear(&plan);
    hd_free(op, bytes);
    unload(op, &real);

    load(op, "spark-0.15.0-mor-pending-compaction", &real);
    test_must(op, hd_pending_compaction_file_ids(op, &real.timeline, &arena, &groups, &n_groups));
    assert_true(n_groups > 0);
    test_must(op, hd_pending_clustering_file_ids(op, &real.timeline, &arena, &groups, &n_groups));
    assert_int_equal(n_groups, 0);
    unload(op, &real);
    load(op, "spark-1.1.1-cluster-mor-pending", &real); /* with an action of its own */
    test_must(op, hd_pending_clustering_file_ids(op, &real.timeline, &arena, &groups, &n_groups));
    assert_true(n_groups > 0);
    unload(op, &real);
    hd_arena_clear(&arena);
}

/* Each real plan cut at every byte is refused without a trace. */
static void every_cut_is_refused(void **state)
{
    static const struct {
        const char *name;
        enum hd_action action;
        enum hd_instant_state state;
    } CASES[] = {
        {"flink010-cow-rollback", HD_ACTION_ROLLBACK, HD_REQUESTED},
        {"flink010-mor-rollback", HD_ACTION_ROLLBACK, HD_COMPLETED},
        {"spark-0.15.0-cluster-cow", HD_ACTION_REPLACECOMMIT, HD_REQUESTED},
        {"flink010-mor-pending-compaction", HD_ACTION_COMPACTION, HD_REQUESTED},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct loaded t;
        uint8_t *bytes;
        size_t n;

        load(op, CASES[i].name, &t);
        test_must(op, hd_timeline_read(op, &t.timeline, first_of(&t, CASES[i].action),
                                       CASES[i].state, &bytes, &n));
        for (size_t cut = 1; cut < n; cut++) {
            uint8_t *exact = malloc(cut);
            struct hd_rollback_plan rollback;
            struct hd_replace_plan replace;
            struct hd_compaction_plan compaction;
            hudi_status status;

            memcpy(exact, bytes, cut);
            const struct hd_slice slice = hd_slice_of(exact, cut);
            if (CASES[i].action == HD_ACTION_REPLACECOMMIT)
                status = hd_replace_plan_parse(op, slice, &replace);
            else if (CASES[i].action == HD_ACTION_COMPACTION)
                status = hd_compaction_plan_parse(op, slice, &compaction);
            else if (CASES[i].state == HD_REQUESTED)
                status = hd_rollback_plan_decode(op, slice, &rollback);
            else
                status = hd_rollback_metadata_decode(op, slice, &rollback);
            assert_int_equal(status, HUDI_CORRUPT);
            hd_op_clear_error(op);
            free(exact);
        }
        hd_free(op, bytes);
        unload(op, &t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rollback_plans_are_written_as_hudi_writes_them),
        cmocka_unit_test(results_of_rollbacks_are_written_as_hudi_writes_them),
        cmocka_unit_test(compaction_plans_are_written_as_hudi_writes_them),
        cmocka_unit_test(clustering_plans_are_written_as_hudi_writes_them),
        cmocka_unit_test(results_of_0_10_are_read),
        cmocka_unit_test(requests_of_one_partition_make_one_entry),
        cmocka_unit_test(an_insert_overwrite_requests_nothing),
        cmocka_unit_test(clustering_plans_are_read),
        cmocka_unit_test(groups_of_pending_services_are_found),
        cmocka_unit_test(every_cut_is_refused),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
