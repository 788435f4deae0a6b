/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#include "service/compaction_planner.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

/* A golden table as it was before the first instant of its timeline that is a compaction. */
struct scene {
    char *path;
    struct hd_table_snapshot table;
    const struct hd_instant *compaction;
    size_t n_instants; /* all of them */
    struct hd_options options;
};

static void open_scene(struct hd_op *op, const char *name, struct scene *scene)
{
    *scene = (struct scene){.path = test_golden_unpack(name)};
    test_must(op, hd_table_snapshot_load(op, scene->path, &scene->table));
    scene->n_instants = scene->table.timeline.n_instants;
    for (size_t i = 0; i < scene->n_instants; i++) {
        const struct hd_instant *const instant = &scene->table.timeline.instants[i];

        if (instant->pending_action != HD_ACTION_COMPACTION)
            continue;
        scene->compaction = instant;
        scene->table.timeline.n_instants = i;
        return;
    }
}

static void close_scene(struct hd_op *op, struct scene *scene)
{
    hd_options_clear(&scene->options);
    hd_table_snapshot_clear(op, &scene->table);
    test_golden_remove(scene->path);
}

static void set(struct hd_op *op, struct scene *scene, const char *key, const char *value)
{
    test_must(op, hd_options_set(op, &scene->options, key, value));
}

static void expect_same(const struct hd_compaction_plan *ours,
                        const struct hd_compaction_plan *real)
{
    assert_int_equal(ours->n_operations, real->n_operations);
    for (size_t i = 0; i < real->n_operations; i++) {
        const struct hd_compaction_operation *const a = &ours->operations[i];
        const struct hd_compaction_operation *const b = &real->operations[i];

        assert_string_equal(a->partition_path, b->partition_path);
        assert_string_equal(a->file_id, b->file_id);
        assert_string_equal(a->base_instant, b->base_instant);
        if (b->data_file == NULL)
            assert_null(a->data_file);
        else
            assert_string_equal(a->data_file, b->data_file);
        assert_int_equal(a->n_delta_files, b->n_delta_files);
        for (size_t k = 0; k < b->n_delta_files; k++)
            assert_string_equal(a->delta_files[k], b->delta_files[k]);
        assert_int_equal(a->metrics.log_bytes, b->metrics.log_bytes);
        assert_int_equal(a->metrics.read_mb, b->metrics.read_mb);
        assert_int_equal(a->metrics.write_mb, b->metrics.write_mb);
    }
}

static void plans_are_those_that_hudi_made(void **state)
{
    static const char *const NAMES[] = {"flink010-mor-pending-compaction", "flink010-mor-compacted",
                                        "spark-0.15.0-mor-pending-compaction",
                                        "spark-0.15.0-mor-compacted"};
    struct hd_op *const op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        struct hd_compaction_plan ours, real;
        struct scene scene;
        uint64_t n_bytes;

        open_scene(op, NAMES[i], &scene);
        assert_non_null(scene.compaction);
        test_must(op, hd_compaction_plan_read(op, &scene.table.timeline, scene.compaction, &real));
        test_must(op,
                  hd_compaction_plan_make(op, NULL, &scene.table, &scene.options, &ours, &n_bytes));
        expect_same(&ours, &real);
        assert_true(n_bytes > (uint64_t)ours.operations[0].metrics.log_bytes);
        hd_compaction_plan_clear(&ours);
        hd_compaction_plan_clear(&real);
        close_scene(op, &scene);
    }
}

static size_t count_planned(struct hd_op *op, struct scene *scene)
{
    struct hd_compaction_plan plan;
    uint64_t n_bytes;

    test_must(op,
              hd_compaction_plan_make(op, NULL, &scene->table, &scene->options, &plan, &n_bytes));
    const size_t n = plan.n_operations;
    hd_compaction_plan_clear(&plan);
    return n;
}

static void groups_of_pending_plans_are_left_out(void **state)
{
    static const char *const NAMES[] = {"flink010-mor-pending-compaction",
                                        "spark-0.15.0-mor-pending-compaction"};
    struct hd_op *const op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        struct scene scene;

        open_scene(op, NAMES[i], &scene);
        scene.table.timeline.n_instants = scene.n_instants;
        assert_int_equal(count_planned(op, &scene), 0);
        close_scene(op, &scene);
    }
}

/* Log files of 2258, 2255 and 1186 bytes, two, two and one; 120 MB to write for each. */
static void strategies_choose_slices(void **state)
{
    static const struct {
        const char *strategy, *key, *value;
        size_t n;
    } CASES[] = {
        {"LogFileSizeBased", "hoodie.compaction.logfile.size.threshold", "2000", 2},
        {"LogFileSizeBased", "hoodie.compaction.logfile.size.threshold", "2258", 1},
        {"LogFileSizeBased", "hoodie.compaction.target.io", "120", 1},
        {"LogFileSizeBased", "hoodie.compaction.target.io", "121", 2},
        {"org.apache.hudi.table.action.compact.strategy.LogFileNumBasedCompactionStrategy",
         "hoodie.compaction.logfile.num.threshold", "2", 2},
        {"BoundedIO", "hoodie.compaction.target.io", "0", 1},
        {"UnBounded", "hoodie.compaction.target.io", "0", 3},
    };
    struct hd_op *const op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct scene scene;

        open_scene(op, "flink010-mor-pending-compaction", &scene);
        set(op, &scene, "hoodie.compaction.strategy", CASES[i].strategy);
        set(op, &scene, CASES[i].key, CASES[i].value);
        assert_int_equal(count_planned(op, &scene), CASES[i].n);
        close_scene(op, &scene);
    }
}

static void strategies_that_cannot_be_followed_are_refused(void **state)
{
    static const char *const NAMES[] = {"Sideways", "org.example.UnBoundedFoo", "DayBased"};
    struct hd_op *const op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        struct hd_compaction_plan plan;
        struct scene scene;
        uint64_t n_bytes;

        open_scene(op, "flink010-mor-pending-compaction", &scene);
        set(op, &scene, "hoodie.compaction.strategy", NAMES[i]);
        assert_int_equal(
            hd_compaction_plan_make(op, NULL, &scene.table, &scene.options, &plan, &n_bytes),
            HUDI_INVALID);
        hd_op_clear_error(op);
        close_scene(op, &scene);
    }
}

static bool is_due(struct hd_op *op, const struct scene *scene, bool by_hand)
{
    bool due;

    test_must(op, hd_compaction_is_due(op, &scene->table, &scene->options, by_hand, &due));
    return due;
}

/* Four delta commits, long ago, then the plan of a compaction, then two. */
static void it_is_time_by_commits_and_seconds(void **state)
{
    struct hd_op *const op = *state;
    struct scene scene;

    open_scene(op, "spark-0.15.0-mor-pending-compaction", &scene);
    assert_false(is_due(op, &scene, false));
    assert_true(is_due(op, &scene, true));
    set(op, &scene, "hoodie.compact.inline.max.delta.commits", "4");
    assert_true(is_due(op, &scene, false));
    scene.table.timeline.n_instants = scene.n_instants;
    set(op, &scene, "hoodie.compact.inline.max.delta.commits", "6");
    assert_true(is_due(op, &scene, false));
    assert_true(is_due(op, &scene, true));
    set(op, &scene, "hoodie.compact.inline.trigger.strategy", "NUM_COMMITS_AFTER_LAST_REQUEST");
    assert_false(is_due(op, &scene, false));
    assert_false(is_due(op, &scene, true));
    set(op, &scene, "hoodie.compact.inline.max.delta.commits", "2");
    assert_true(is_due(op, &scene, false));
    set(op, &scene, "hoodie.compact.inline.max.delta.commits", "7");
    set(op, &scene, "hoodie.compact.inline.max.delta.seconds", "4000000000");
    set(op, &scene, "hoodie.compact.inline.trigger.strategy", "TIME_ELAPSED");
    assert_false(is_due(op, &scene, false));
    set(op, &scene, "hoodie.compact.inline.max.delta.seconds", "0");
    assert_true(is_due(op, &scene, false));
    set(op, &scene, "hoodie.compact.inline.trigger.strategy", "NUM_AND_TIME");
    assert_false(is_due(op, &scene, false));
    set(op, &scene, "hoodie.compact.inline.trigger.strategy", "NUM_OR_TIME");
    assert_true(is_due(op, &scene, false));
    close_scene(op, &scene);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(plans_are_those_that_hudi_made),
        TEST(groups_of_pending_plans_are_left_out),
        TEST(strategies_choose_slices),
        TEST(strategies_that_cannot_be_followed_are_refused),
        TEST(it_is_time_by_commits_and_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
