/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation and every file operation of a clustering fails once: alone, with all that
 * follow, and as a loss of power that drops what was not synced. Each time the table reads as it
 * did before, writes go on, and the next clustering ends where an undisturbed one would.
 *
 *   HUDI_TEST_SEED     where the walk over the points begins
 *   HUDI_TEST_SECONDS  walk over all points, each mode for that long at most
 *
 * Labels: fault
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "store/memory.h"
#include "support/fault_walk.h"
#include "support/model_table.h"
#include "support/setting.h"

#define STORE "clustering-faults"
#define URI "memory:" STORE "/t"
#define SAMPLED_POINTS 14 /* of one mode, without HUDI_TEST_SECONDS */
#define N_ROWS 12

struct scene {
    struct fault_store store;
    struct model_rows now;
    int64_t next_value;
};

/* Three new rows, in a file of their own. */
static void write_rows(struct scene *scene)
{
    struct model_rows rows = {0};
    hudi_error *error = NULL;

    for (int i = 0; i < 3; i++, scene->next_value++) {
        const struct model_row row =
            model_table_row(scene->next_value, 0, scene->next_value, scene->next_value);

        model_rows_add(&rows, &row);
    }
    const hudi_status status =
        model_table_write(scene->store.context, URI, "bulk_insert", &rows, &error);
    fault_must(status, error, "bulk_insert");
    model_rows_clear(&rows);
}

static void read_now(struct scene *scene, struct model_rows *out, const char *what)
{
    hudi_error *error = NULL;

    fault_must(model_table_read(scene->store.context, URI, out, &error), error, what);
}

static size_t cluster(struct scene *scene, hudi_cluster_step step, const char *what)
{
    hudi_table *table = NULL;
    hudi_clustering *done = NULL;
    hudi_error *error = NULL;

    fault_must(hudi_table_open(scene->store.context, URI, NULL, &table, &error), error, what);
    fault_must(hudi_cluster(table, step, NULL, NULL, &done, &error), error, what);
    const size_t n = hudi_clustering_length(done);
    hudi_clustering_free(done);
    hudi_table_free(table);
    return n;
}

/* Two files that a pending plan names, and two that came since. */
static void begin_table(struct scene *scene)
{
    hudi_error *error = NULL;

    hd_memory_drop(STORE);
    model_rows_clear(&scene->now);
    scene->next_value = 0;
    fault_must(model_table_create(scene->store.context, URI, &error), error, "create");
    write_rows(scene);
    write_rows(scene);
    assert_int_equal(cluster(scene, HUDI_CLUSTER_SCHEDULE, "schedule"), 1);
    write_rows(scene);
    write_rows(scene);
    read_now(scene, &scene->now, "the new table");
    assert_int_equal(scene->now.n, N_ROWS);
}

/* The pending plan, whose row groups (not small ones of so small files) are copied as bytes, then
 * one of what has come since, sorted. */
static hudi_status run_clustering(struct scene *scene, hudi_error **error)
{
    hudi_options *options = NULL;
    hudi_table *table = NULL;

    assert_int_equal(hudi_options_new(&options, NULL), HUDI_OK);
    assert_int_equal(
        hudi_options_set(options, "hoodie.clustering.plan.strategy.sort.columns", "a", NULL),
        HUDI_OK);
    assert_int_equal(hudi_options_set(options, "hoodie.parquet.block.size", "100", NULL), HUDI_OK);
    hudi_status status = hudi_table_open(scene->store.context, URI, options, &table, error);
    hudi_options_free(options);
    if (status == HUDI_OK)
        status = hudi_cluster(table, HUDI_CLUSTER_PLAN_AND_RUN, NULL, NULL, NULL, error);
    hudi_table_free(table);
    return status;
}

static void expect_rows(struct scene *scene, const char *what)
{
    struct model_rows found;

    read_now(scene, &found, what);
    if (!model_table_same(&found, &scene->now))
        fail_msg("%s: the rows have changed", what);
    model_rows_clear(&found);
}

static void expect_clustered(struct scene *scene, const char *what)
{
    expect_rows(scene, what);
    if (cluster(scene, HUDI_CLUSTER_PENDING, what) != 0)
        fail_msg("%s: a clustering is still pending", what);
    if (cluster(scene, HUDI_CLUSTER_DRY_RUN, what) != 0)
        fail_msg("%s: there are small files left", what);
    model_table_verify(scene->store.context, URI, what);
}

/* What a write makes of the table in between stays as well. */
static void write_between(struct scene *scene, const char *what)
{
    write_rows(scene);
    read_now(scene, &scene->now, what);
    if (scene->now.n != N_ROWS + 3)
        fail_msg("%s: %zu rows after the next write", what, scene->now.n);
}

static void begin(void *self)
{
    begin_table(self);
}

static hudi_status run(void *self, hudi_error **error)
{
    return run_clustering(self, error);
}

static void expect(void *self, int64_t nth, hudi_status status, const char *what)
{
    struct scene *const scene = self;
    hudi_error *error = NULL;

    (void)status;
    if (nth > 0) {
        expect_rows(scene, what);
        if (nth % 2 == 0) {
            model_rows_clear(&scene->now);
            write_between(scene, what);
        }
        fault_must(run_clustering(scene, &error), error, what);
    }
    expect_clustered(scene, what);
}

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){0};
    fault_store_open(&scene->store, STORE);
}

static void close_scene(struct scene *scene)
{
    model_rows_clear(&scene->now);
    fault_store_close(&scene->store);
}

static void walk(enum fault_mode mode)
{
    struct scene scene;
    const struct fault_walk walk = {.name = "clustering",
                                    .mode = mode,
                                    .n_sampled = SAMPLED_POINTS,
                                    .seconds = test_seconds(1),
                                    .store = &scene.store,
                                    .scene = &scene,
                                    .begin = begin,
                                    .run = run,
                                    .expect = expect};

    open_scene(&scene);
    fault_walk(&walk);
    close_scene(&scene);
}

static void a_clustering_survives_any_single_fault(void **state)
{
    (void)state;
    walk(FAILS_ONCE);
}

static void a_clustering_survives_a_fault_after_which_nothing_works(void **state)
{
    (void)state;
    walk(FAILS_ON);
}

static void a_clustering_survives_a_loss_of_power(void **state)
{
    (void)state;
    walk(LOSES_POWER);
}

/* One key is lost and another one doubled: the number of rows is right. */
static void a_row_that_is_doubled_is_found(void **state)
{
    struct scene scene;
    hudi_error *error = NULL;

    (void)state;
    open_scene(&scene);
    begin_table(&scene);
    scene.store.faults.doubles_rows = true;
    assert_int_equal(run_clustering(&scene, &error), HUDI_INTERNAL);
    assert_non_null(strstr(hudi_error_message(error), "wrote other keys"));
    hudi_error_free(error);
    error = NULL;
    scene.store.faults.doubles_rows = false;
    expect_rows(&scene, "a clustering that doubles a row");
    fault_must(run_clustering(&scene, &error), error, "clustering");
    expect_clustered(&scene, "clustering");
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_that_is_doubled_is_found),
        cmocka_unit_test(a_clustering_survives_any_single_fault),
        cmocka_unit_test(a_clustering_survives_a_fault_after_which_nothing_works),
        cmocka_unit_test(a_clustering_survives_a_loss_of_power),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
