/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#include "service/clustering_planner.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

/* A golden table as it was before it was clustered. */
struct scene {
    char *path;
    struct hd_table_snapshot table;
    const struct hd_instant *clustering;
    size_t n_instants; /* all of them */
    struct hd_options options;
};

static void open_scene(struct hd_op *op, struct scene *scene)
{
    *scene = (struct scene){.path = test_golden_unpack("spark-0.15.0-cluster-cow")};
    test_must(op, hd_table_snapshot_load(op, scene->path, &scene->table));
    scene->n_instants = scene->table.timeline.n_instants;
    for (size_t i = 0; i < scene->n_instants && scene->clustering == NULL; i++) {
        if (scene->table.timeline.instants[i].pending_action != HD_ACTION_REPLACECOMMIT)
            continue;
        scene->clustering = &scene->table.timeline.instants[i];
        scene->table.timeline.n_instants = i;
    }
    assert_non_null(scene->clustering);
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

static void make(struct hd_op *op, struct scene *scene, struct hd_replace_plan *plan)
{
    uint64_t n_bytes;

    test_must(op,
              hd_clustering_plan_make(op, NULL, &scene->table, &scene->options, plan, &n_bytes));
}

static void the_plan_is_the_one_that_hudi_made(void **state)
{
    struct hd_op *const op = *state;
    struct hd_replace_plan ours, real;
    struct scene scene;

    open_scene(op, &scene);
    set(op, &scene, HD_SORT_COLUMNS_KEY, "city,qty");
    make(op, &scene, &ours);
    test_must(op, hd_replace_plan_read(op, &scene.table.timeline, scene.clustering, &real));
    assert_int_equal(ours.n_groups, real.n_groups);
    assert_int_equal(ours.n_slices, real.n_slices);
    for (size_t i = 0; i < real.n_slices; i++) {
        assert_string_equal(ours.slices[i].partition_path, real.slices[i].partition_path);
        assert_string_equal(ours.slices[i].file_id, real.slices[i].file_id);
        assert_string_equal(ours.slices[i].data_file, real.slices[i].data_file);
        assert_int_equal(ours.slices[i].n_delta_files, 0);
        assert_int_equal(ours.slices[i].group, real.slices[i].group);
        assert_int_equal(ours.slices[i].n_output_files, real.slices[i].n_output_files);
    }
    assert_string_equal(ours.strategy_class, real.strategy_class);
    assert_int_equal(ours.n_params, real.n_params);
    assert_string_equal(ours.param_keys[0], real.param_keys[0]);
    assert_string_equal(ours.param_values[0], real.param_values[0]);
    hd_replace_plan_clear(&ours);
    hd_replace_plan_clear(&real);
    close_scene(op, &scene);
}

/* Two partitions of three files of 9 KB each. */
static void options_choose_what_is_clustered(void **state)
{
    static const struct {
        const char *pairs[6];
        size_t n_groups, n_slices;
    } CASES[] = {
        {{NULL}, 2, 6},
        {{"hoodie.clustering.plan.strategy.small.file.limit", "1000"}, 0, 0},
        {{"hoodie.clustering.plan.strategy.max.num.groups", "1"}, 1, 3},
        {{"hoodie.clustering.plan.strategy.max.bytes.per.group", "20000"}, 2, 4},
        {{"hoodie.clustering.plan.strategy.max.bytes.per.group", "20000", HD_SORT_COLUMNS_KEY,
          "qty"},
         4,
         6},
        {{"hoodie.clustering.plan.strategy.max.bytes.per.group", "1"}, 0, 0},
        {{"hoodie.clustering.plan.strategy.partition.selected", "east,south"}, 1, 3},
        {{"hoodie.clustering.plan.partition.filter.mode", "RECENT_DAYS",
          "hoodie.clustering.plan.strategy.daybased.lookback.partitions", "1"},
         1,
         3},
        {{"hoodie.clustering.plan.partition.filter.mode", "RECENT_DAYS",
          "hoodie.clustering.plan.strategy.daybased.skipfromlatest.partitions", "2"},
         0,
         0},
        {{"hoodie.clustering.plan.partition.filter.mode", "SELECTED_PARTITIONS",
          "hoodie.clustering.plan.strategy.cluster.begin.partition", "o",
          "hoodie.clustering.plan.strategy.cluster.end.partition", "south"},
         1,
         3},
    };
    struct hd_op *const op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct hd_replace_plan plan;
        struct scene scene;

        open_scene(op, &scene);
        for (size_t k = 0; k < 6 && CASES[i].pairs[k] != NULL; k += 2)
            set(op, &scene, CASES[i].pairs[k], CASES[i].pairs[k + 1]);
        make(op, &scene, &plan);
        assert_int_equal(plan.n_groups, CASES[i].n_groups);
        assert_int_equal(plan.n_slices, CASES[i].n_slices);
        hd_replace_plan_clear(&plan);
        close_scene(op, &scene);
    }
}

static void it_is_time_by_writes_since_the_last_one(void **state)
{
    struct hd_op *const op = *state;
    struct scene scene;
    bool due;

    open_scene(op, &scene);
    test_must(op, hd_clustering_is_due(op, &scene.table, &scene.options, &due));
    assert_false(due);
    set(op, &scene, "hoodie.clustering.inline.max.commits", "3");
    test_must(op, hd_clustering_is_due(op, &scene.table, &scene.options, &due));
    assert_true(due);
    scene.table.timeline.n_instants = scene.n_instants; /* one write since */
    test_must(op, hd_clustering_is_due(op, &scene.table, &scene.options, &due));
    assert_false(due);
    close_scene(op, &scene);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_plan_is_the_one_that_hudi_made),
        TEST(options_choose_what_is_clustered),
        TEST(it_is_time_by_writes_since_the_last_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
