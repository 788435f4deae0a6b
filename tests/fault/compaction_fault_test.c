/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation and every file operation of a compaction fails once: alone, with all that
 * follow, and as a loss of power that drops what was not synced. Each time the table reads as it
 * did before, writes go on, and the next compaction ends where an undisturbed one would. Likewise
 * for log compactions.
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

#define STORE "compaction-faults"
#define URI "memory:" STORE "/t"
#define SAMPLED_POINTS 14 /* of one mode, without HUDI_TEST_SECONDS */
#define N_ROWS 12
#define N_ALL 16 /* with 13, and 12, 14, 16 that come last */

struct scene {
    struct fault_store store;
    bool logs; /* log compactions */
    struct model_rows now;
    int64_t next_value;
};

/* Every second row from `first` on, at least three. */
static void write_rows(struct scene *scene, const char *operation, int64_t first)
{
    struct model_rows rows = {0};
    hudi_error *error = NULL;

    scene->next_value++;
    for (int64_t i = first; i < N_ROWS || i < first + 6; i += 2) {
        const struct model_row row =
            model_table_row(i, i % 3, scene->next_value, scene->next_value);

        model_rows_add(&rows, &row);
    }
    const hudi_status status =
        model_table_write(scene->store.context, URI, operation, &rows, &error);
    fault_must(status, error, operation);
    model_rows_clear(&rows);
}

static void read_now(struct scene *scene, struct model_rows *out, const char *what)
{
    hudi_error *error = NULL;

    fault_must(model_table_read(scene->store.context, URI, out, &error), error, what);
}

static hudi_status start(struct scene *scene, hudi_compact_step step, hudi_compaction **done,
                         hudi_error **error)
{
    hudi_options *options = NULL;
    hudi_table *table = NULL;

    assert_int_equal(hudi_options_new(&options, NULL), HUDI_OK);
    assert_int_equal(hudi_options_set(options, "hoodie.log.compaction.blocks.threshold", "2", NULL),
                     HUDI_OK);
    hudi_status status = hudi_table_open(scene->store.context, URI, options, &table, error);
    hudi_options_free(options);
    if (status == HUDI_OK && scene->logs)
        status = hudi_compact_logs(table, step, NULL, NULL, done, error);
    else if (status == HUDI_OK)
        status = hudi_compact(table, step, NULL, NULL, done, error);
    hudi_table_free(table);
    return status;
}

static size_t compact(struct scene *scene, hudi_compact_step step, const char *what)
{
    hudi_compaction *done = NULL;
    hudi_error *error = NULL;

    fault_must(start(scene, step, &done, &error), error, what);
    const size_t n = hudi_compaction_length(done);
    hudi_compaction_free(done);
    return n;
}

/* Base files and updates in log files; a plan that is pending, log files on it, and new rows. */
static void begin_table(struct scene *scene)
{
    hudi_error *error = NULL;

    hd_memory_drop(STORE);
    model_rows_clear(&scene->now);
    fault_must(model_table_create_logged(scene->store.context, URI, &error), error, "create");
    write_rows(scene, "upsert", 0);
    write_rows(scene, "upsert", 1);
    write_rows(scene, "upsert", 4);
    write_rows(scene, "upsert", 9);
    assert_int_equal(compact(scene, HUDI_COMPACT_SCHEDULE, "schedule"), 1);
    write_rows(scene, "upsert", 6);
    write_rows(scene, "insert", N_ROWS);
    read_now(scene, &scene->now, "the new table");
    assert_int_equal(scene->now.n, N_ALL);
}

/* The pending plan, then one of what has come since. */
static hudi_status run_compaction(struct scene *scene, hudi_error **error)
{
    return start(scene, HUDI_COMPACT_PLAN_AND_RUN, NULL, error);
}

static void expect_rows(struct scene *scene, const char *what)
{
    struct model_rows found;

    read_now(scene, &found, what);
    if (!model_table_same(&found, &scene->now))
        fail_msg("%s: the rows have changed", what);
    model_rows_clear(&found);
}

static void expect_compacted(struct scene *scene, const char *what)
{
    expect_rows(scene, what);
    if (compact(scene, HUDI_COMPACT_PENDING, what) != 0)
        fail_msg("%s: a compaction is still pending", what);
    if (!scene->logs && compact(scene, HUDI_COMPACT_DRY_RUN, what) != 0)
        fail_msg("%s: there are log files left", what);
    model_table_verify(scene->store.context, URI, what);
}

/* What a write makes of the table in between stays as well. */
static void write_between(struct scene *scene, const char *what)
{
    write_rows(scene, "upsert", 3);
    read_now(scene, &scene->now, what);
    if (scene->now.n != N_ALL)
        fail_msg("%s: %zu rows after the next write", what, scene->now.n);
}

static void begin(void *self)
{
    begin_table(self);
}

static hudi_status run(void *self, hudi_error **error)
{
    return run_compaction(self, error);
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
        fault_must(run_compaction(scene, &error), error, what);
    }
    expect_compacted(scene, what);
    if (!scene->logs || nth == 0)
        return;
    scene->logs = false; /* and into base files */
    fault_must(run_compaction(scene, &error), error, what);
    expect_compacted(scene, what);
    scene->logs = true;
}

static void open_scene(struct scene *scene, bool logs)
{
    *scene = (struct scene){.logs = logs};
    fault_store_open(&scene->store, STORE);
}

static void close_scene(struct scene *scene)
{
    model_rows_clear(&scene->now);
    fault_store_close(&scene->store);
}

static void walk(enum fault_mode mode, bool logs)
{
    struct scene scene;
    const struct fault_walk walk = {.name = logs ? "log compaction" : "compaction",
                                    .mode = mode,
                                    .n_sampled = SAMPLED_POINTS,
                                    .seconds = test_seconds(1),
                                    .store = &scene.store,
                                    .scene = &scene,
                                    .begin = begin,
                                    .run = run,
                                    .expect = expect};

    open_scene(&scene, logs);
    fault_walk(&walk);
    close_scene(&scene);
}

static void a_compaction_survives_any_single_fault(void **state)
{
    (void)state;
    walk(FAILS_ONCE, false);
}

static void a_compaction_survives_a_fault_after_which_nothing_works(void **state)
{
    (void)state;
    walk(FAILS_ON, false);
}

static void a_compaction_survives_a_loss_of_power(void **state)
{
    (void)state;
    walk(LOSES_POWER, false);
}

static void a_log_compaction_survives_any_single_fault(void **state)
{
    (void)state;
    walk(FAILS_ONCE, true);
}

static void a_log_compaction_survives_a_fault_after_which_nothing_works(void **state)
{
    (void)state;
    walk(FAILS_ON, true);
}

static void a_log_compaction_survives_a_loss_of_power(void **state)
{
    (void)state;
    walk(LOSES_POWER, true);
}

/* One key is lost and another one doubled: the number of rows is right. */
static void a_row_that_is_doubled_is_found(void **state)
{
    struct scene scene;
    hudi_error *error = NULL;

    (void)state;
    open_scene(&scene, false);
    begin_table(&scene);
    scene.store.faults.doubles_rows = true;
    assert_int_equal(run_compaction(&scene, &error), HUDI_INTERNAL);
    assert_non_null(strstr(hudi_error_message(error), "merged rows are not those"));
    hudi_error_free(error);
    error = NULL;
    scene.store.faults.doubles_rows = false;
    expect_rows(&scene, "a compaction that doubles a row");
    fault_must(run_compaction(&scene, &error), error, "compaction");
    expect_compacted(&scene, "compaction");
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_that_is_doubled_is_found),
        cmocka_unit_test(a_compaction_survives_any_single_fault),
        cmocka_unit_test(a_compaction_survives_a_fault_after_which_nothing_works),
        cmocka_unit_test(a_compaction_survives_a_loss_of_power),
        cmocka_unit_test(a_log_compaction_survives_any_single_fault),
        cmocka_unit_test(a_log_compaction_survives_a_fault_after_which_nothing_works),
        cmocka_unit_test(a_log_compaction_survives_a_loss_of_power),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
