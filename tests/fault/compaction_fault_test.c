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
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "api/api.h"
#include "store/memory.h"
#include "support/model_table.h"

#define STORE "compaction-faults"
#define URI "memory:" STORE "/t"
#define SAMPLED_POINTS 14 /* of one mode, without HUDI_TEST_SECONDS */
#define N_ROWS 12
#define N_ALL 16 /* with 13, and 12, 14, 16 that come last */

enum mode { FAILS_ONCE, FAILS_ON, LOSES_POWER };
static const char *const MODES[] = {"fails", "fails with all that follow", "is a loss of power"};

struct scene {
    struct hd_faults faults;
    hudi_context *context;
    bool logs; /* log compactions */
    struct model_rows now;
    int64_t next_value;
};

static int64_t setting(const char *name, int64_t otherwise)
{
    const char *const text = getenv(name);

    return text == NULL || *text == '\0' ? otherwise : strtoll(text, NULL, 10);
}

static void open_context(struct scene *scene)
{
    scene->context = model_table_context("1");
    scene->faults = (struct hd_faults){.left = -1};
    scene->context->faults = &scene->faults;
}

static void arm(struct scene *scene, int64_t nth, bool sticky)
{
    scene->faults.sticky = sticky;
    atomic_store(&scene->faults.fired, false);
    atomic_store(&scene->faults.left, nth - 1);
}

static void disarm(struct scene *scene)
{
    scene->faults.sticky = false;
    atomic_store(&scene->faults.left, -1);
}

static void must(hudi_status status, hudi_error *error, const char *what)
{
    if (status != HUDI_OK)
        fail_msg("%s: %s", what, error == NULL ? "" : hudi_error_message(error));
}

/* ---- the table ---------------------------------------------------------------------------- */

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
    const hudi_status status = model_table_write(scene->context, URI, operation, &rows, &error);
    must(status, error, operation);
    model_rows_clear(&rows);
}

static void read_now(struct scene *scene, struct model_rows *out, const char *what)
{
    hudi_error *error = NULL;

    must(model_table_read(scene->context, URI, out, &error), error, what);
}

static hudi_status start(struct scene *scene, hudi_compact_step step, hudi_compaction **done,
                         hudi_error **error)
{
    hudi_options *options = NULL;
    hudi_table *table = NULL;

    assert_int_equal(hudi_options_new(&options, NULL), HUDI_OK);
    assert_int_equal(hudi_options_set(options, "hoodie.log.compaction.blocks.threshold", "2", NULL),
                     HUDI_OK);
    hudi_status status = hudi_table_open(scene->context, URI, options, &table, error);
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

    must(start(scene, step, &done, &error), error, what);
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
    must(model_table_create_logged(scene->context, URI, &error), error, "create");
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

/* The machine stops: the process is gone, and what was not synced. */
static void lose_power(struct scene *scene)
{
    struct hd_op op;
    hd_file_system *fs;

    hudi_context_free(scene->context);
    hd_op_init(&op);
    assert_int_equal(hd_memory_file_system_open(&op, STORE, &fs), HUDI_OK);
    assert_int_equal(hd_memory_crash(&op, fs), HUDI_OK);
    hd_fs_free(fs);
    hd_op_clear(&op);
    open_context(scene);
}

/* ---- compaction --------------------------------------------------------------------------- */

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
    model_table_verify(scene->context, URI, what);
}

/* What a write makes of the table in between stays as well. */
static void write_between(struct scene *scene, const char *what)
{
    write_rows(scene, "upsert", 3);
    read_now(scene, &scene->now, what);
    if (scene->now.n != N_ALL)
        fail_msg("%s: %zu rows after the next write", what, scene->now.n);
}

static void run_point(struct scene *scene, int64_t nth, enum mode mode)
{
    hudi_error *error = NULL;
    char what[200];

    begin_table(scene);
    arm(scene, nth, mode != FAILS_ONCE);
    const hudi_status status = run_compaction(scene, &error);
    const bool fired = atomic_load(&scene->faults.fired);
    disarm(scene);
    snprintf(what, sizeof what, "compaction, point %" PRId64 " %s (%s)", nth, MODES[mode],
             error == NULL ? hudi_status_name(status) : hudi_error_message(error));
    if (status == HUDI_OK && error != NULL)
        fail_msg("%s: an error without failure", what);
    if (status != HUDI_OK && !fired)
        fail_msg("%s: failed of itself", what);
    hudi_error_free(error);
    error = NULL;
    if (mode == LOSES_POWER)
        lose_power(scene);
    expect_rows(scene, what);
    if (nth % 2 == 0) {
        model_rows_clear(&scene->now);
        write_between(scene, what);
    }
    must(run_compaction(scene, &error), error, what);
    expect_compacted(scene, what);
    if (!scene->logs)
        return;
    scene->logs = false; /* and into base files */
    must(run_compaction(scene, &error), error, what);
    expect_compacted(scene, what);
    scene->logs = true;
}

static int64_t count_points(struct scene *scene)
{
    const int64_t many = INT64_C(1) << 40;
    hudi_error *error = NULL;

    begin_table(scene);
    arm(scene, many, false);
    must(run_compaction(scene, &error), error, "compaction");
    const int64_t n = many - 1 - atomic_load(&scene->faults.left);
    disarm(scene);
    expect_compacted(scene, "compaction");
    return n;
}

static void walk(enum mode mode, bool logs)
{
    const int64_t seconds = setting("HUDI_TEST_SECONDS", 0);
    const uint64_t seed = (uint64_t)setting("HUDI_TEST_SEED", 1);
    const time_t end = time(NULL) + seconds;
    struct scene scene = {.logs = logs};
    int64_t n_run = 0, nth;

    open_context(&scene);
    const int64_t n_points = count_points(&scene);
    int64_t step = n_points / SAMPLED_POINTS + 1;
    while (step > 1 && n_points % step == 0)
        step++;
    nth = (int64_t)(seed * 7919 % (uint64_t)step);
    for (; seconds > 0 ? n_run < n_points && time(NULL) < end : nth < n_points; nth += step) {
        run_point(&scene, nth % n_points + 1, mode);
        n_run++;
    }
    print_message("%" PRId64 " of %" PRId64 " points, each %s\n", n_run, n_points, MODES[mode]);
    model_rows_clear(&scene.now);
    hudi_context_free(scene.context);
    hd_memory_drop(STORE);
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
    struct scene scene = {0};
    hudi_error *error = NULL;

    (void)state;
    open_context(&scene);
    begin_table(&scene);
    scene.faults.doubles_rows = true;
    assert_int_equal(run_compaction(&scene, &error), HUDI_INTERNAL);
    assert_non_null(strstr(hudi_error_message(error), "merged rows are not those"));
    hudi_error_free(error);
    error = NULL;
    scene.faults.doubles_rows = false;
    expect_rows(&scene, "a compaction that doubles a row");
    must(run_compaction(&scene, &error), error, "compaction");
    expect_compacted(&scene, "compaction");
    model_rows_clear(&scene.now);
    hudi_context_free(scene.context);
    hd_memory_drop(STORE);
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
