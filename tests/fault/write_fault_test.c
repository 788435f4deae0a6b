/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation and every file operation of a write fails once: alone, with all that follow, and
 * as a loss of power that drops what was not synced. Each time the table reads as before or as
 * after, the next write works without help, and nothing is left behind.
 *
 *   HUDI_TEST_SEED     where the walk over the points begins
 *   HUDI_TEST_SECONDS  walk over all points, each operation for that long at most; else over some
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

#define STORE "faults"
#define URI "memory:" STORE "/t"
#define SAMPLED_POINTS 9     /* of one operation and mode, without HUDI_TEST_SECONDS */
#define WRITES_OF_A_TABLE 12 /* a fresh one then: its timeline would slow the walk down */
#define N_ROWS 60

enum mode { FAILS_ONCE, FAILS_ON, LOSES_POWER };
static const char *const MODES[] = {"fails", "fails with all that follow", "is a loss of power"};

/* The table, what it holds, and the faults of its context. */
struct scene {
    struct hd_faults faults;
    hudi_context *context;
    bool logged;
    struct model_rows now;
    int64_t next_value; /* makes each write's rows its own */
    int n_writes;
    bool logs_changes;
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

/* ---- operations --------------------------------------------------------------------------- */

/* One write: its rows by number, and what it does to the model. */
struct operation {
    const char *name;
    const char *write;      /* Hudi's name; NULL: roll the newest commit back */
    bool after_dead_writer; /* what it begins with is rolling back a write that broke off */
    bool logged;            /* the table is merge-on-read */
    bool logs_changes;      /* to a table with CDC: files of changes beside the base files */
    bool appends;           /* to log files that are there */
};

static const struct operation OPERATIONS[] = {
    {"upsert", "upsert", false, false, false, false},
    {"delete", "delete", false, false, false, false},
    {"insert_overwrite", "insert_overwrite", false, false, false, false},
    {"rollback", NULL, false, false, false, false},
    {"upsert after a dead writer", "upsert", true, false, false, false},
    {"upsert to logs", "upsert", false, true, false, false},
    {"delete to logs", "delete", false, true, false, false},
    {"insert_overwrite of logs", "insert_overwrite", false, true, false, false},
    {"rollback of logs", NULL, false, true, false, false},
    {"upsert to logs after a dead writer", "upsert", true, true, false, false},
    {"upsert behind logs", "upsert", false, true, false, true},
    {"delete behind logs", "delete", false, true, false, true},
    {"rollback behind logs", NULL, false, true, false, true},
    {"upsert behind logs after a dead writer", "upsert", true, true, false, true},
    {"upsert with changes", "upsert", false, false, true, false},
    {"rollback with changes", NULL, false, false, true, false},
    {"upsert with changes after a dead writer", "upsert", true, false, true, false},
};
#define N_OPERATIONS (sizeof OPERATIONS / sizeof *OPERATIONS)

static void make_rows(struct scene *scene, const char *write, struct model_rows *out)
{
    const bool overwrites = strcmp(write, "insert_overwrite") == 0;

    *out = (struct model_rows){0};
    scene->next_value++;
    for (int64_t i = 0; i < N_ROWS; i += 3) {
        const int64_t id = overwrites ? scene->next_value * 1000 + i : i * 2;
        const struct model_row row =
            model_table_row(id, overwrites ? 1 : id % 3, scene->next_value, scene->next_value);
        model_rows_add(out, &row);
    }
}

static void apply(const char *write, struct model_rows *state, const struct model_rows *rows)
{
    if (strcmp(write, "upsert") == 0)
        model_upsert(&model_table_rules, state, rows, 0);
    else if (strcmp(write, "delete") == 0)
        model_delete(&model_table_rules, state, rows);
    else
        model_overwrite(&model_table_rules, state, rows, false, 0);
}

static void must_write(struct scene *scene, const char *write)
{
    struct model_rows rows;
    hudi_error *error = NULL;

    make_rows(scene, write, &rows);
    const hudi_status status = model_table_write(scene->context, URI, write, &rows, &error);
    if (status != HUDI_OK)
        fail_msg("an undisturbed %s: %s", write, hudi_error_message(error));
    apply(write, &scene->now, &rows);
    model_rows_clear(&rows);
    scene->n_writes++;
}

static void begin_table(struct scene *scene)
{
    struct model_rows rows = {0};
    hudi_error *error = NULL;

    hd_memory_drop(STORE);
    model_rows_clear(&scene->now);
    scene->n_writes = 0;
    hudi_status status = scene->logged ? model_table_create_logged(scene->context, URI, &error)
                         : scene->logs_changes
                             ? model_table_create_with(scene->context, URI,
                                                       "hoodie.table.cdc.enabled", "true", &error)
                             : model_table_create(scene->context, URI, &error);
    if (status != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    for (int64_t i = 0; i < N_ROWS; i++) {
        const struct model_row row = model_table_row(i, i % 3, 0, 0);
        model_rows_add(&rows, &row);
    }
    if (model_table_write(scene->context, URI, "upsert", &rows, &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    apply("upsert", &scene->now, &rows);
    model_rows_clear(&rows);
    must_write(scene, "upsert");
}

static void open_scene(struct scene *scene, const struct operation *operation)
{
    *scene = (struct scene){.logged = operation->logged, .logs_changes = operation->logs_changes};
    open_context(scene);
    model_table_append_logs(operation->appends);
    begin_table(scene);
}

static void close_scene(struct scene *scene)
{
    model_table_append_logs(false);
    model_rows_clear(&scene->now);
    hudi_context_free(scene->context);
    hd_memory_drop(STORE);
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

/* A writer that dies between its last file and its commit. */
static void leave_dead_writer(struct scene *scene)
{
    struct model_rows rows;
    struct ArrowArrayStream stream;
    hudi_options *const options = model_table_options("upsert");
    hudi_table *table = NULL;
    hudi_write *write = NULL;

    make_rows(scene, "upsert", &rows);
    assert_int_equal(hudi_table_open(scene->context, URI, NULL, &table, NULL), HUDI_OK);
    assert_int_equal(hudi_write_begin(table, options, &write, NULL), HUDI_OK);
    model_table_input(&rows, &stream);
    assert_int_equal(hudi_write_stream(write, &stream, NULL, NULL), HUDI_OK);
    /* All but the completed file, which the first file operation of the commit is before. */
    scene->faults.files_only = true;
    arm(scene, scene->logged ? 40 : 60, true);
    assert_int_not_equal(hudi_write_commit(write, NULL, NULL), HUDI_OK);
    disarm(scene);
    scene->faults.files_only = false;
    hudi_table_free(table);
    hudi_options_free(options);
    model_rows_clear(&rows);
}

static hudi_status roll_back_newest(struct scene *scene, hudi_error **error)
{
    hudi_table *table = NULL;
    hudi_status status = hudi_table_open(scene->context, URI, NULL, &table, error);
    const char *newest = NULL;

    if (status == HUDI_OK) {
        const hudi_timeline *const timeline = hudi_table_timeline(table);

        for (size_t i = 0; i < hudi_timeline_length(timeline); i++) {
            const hudi_instant *const instant = hudi_timeline_at(timeline, i);

            if (strcmp(hudi_instant_action(instant), "rollback") != 0 &&
                strcmp(hudi_instant_action(instant), "clean") != 0)
                newest = hudi_instant_time(instant);
        }
        status = hudi_rollback(table, newest, error);
    }
    hudi_table_free(table);
    return status;
}

/* The latest changes can be told; older ones were cleaned. */
static void expect_changes(struct scene *scene, const char *what)
{
    hudi_options *options = NULL;
    hudi_table *table = NULL;
    hudi_error *error = NULL;
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch;
    int64_t n_rows = 0;

    assert_int_equal(hudi_options_new(&options, NULL), HUDI_OK);
    assert_int_equal(hudi_options_set(options, "hoodie.datasource.query.type", "incremental", NULL),
                     HUDI_OK);
    assert_int_equal(
        hudi_options_set(options, "hoodie.datasource.query.incremental.format", "cdc", NULL),
        HUDI_OK);
    if (hudi_table_open(scene->context, URI, NULL, &table, &error) != HUDI_OK)
        fail_msg("%s: no table: %s", what, hudi_error_message(error));
    const hudi_timeline *const timeline = hudi_table_timeline(table);
    const size_t n = hudi_timeline_length(timeline);
    const char *const begin = hudi_instant_time(hudi_timeline_at(timeline, n < 5 ? 0 : n - 5));
    if (hudi_options_set(options, "hoodie.datasource.read.begin.instanttime", begin, &error) !=
            HUDI_OK ||
        hudi_scan_open(table, options, NULL, &stream, &error) != HUDI_OK)
        fail_msg("%s: no changes: %s", what, hudi_error_message(error));
    for (;;) {
        if (stream.get_next(&stream, &batch) != 0)
            fail_msg("%s: changes: %s", what, stream.get_last_error(&stream));
        if (batch.release == NULL)
            break;
        n_rows += batch.length;
        batch.release(&batch);
    }
    assert_true(n_rows > 0); /* of the write that just came */
    stream.release(&stream);
    hudi_table_free(table);
    hudi_options_free(options);
}

/* ---- one point ---------------------------------------------------------------------------- */

/* Run `operation` with the fault at `nth`. @return whether the fault was reached */
static bool run_point(struct scene *scene, const struct operation *operation, int64_t nth,
                      enum mode mode)
{
    struct model_rows rows = {0}, after, found;
    hudi_error *error = NULL;
    hudi_status status;
    char what[160];

    if (operation->after_dead_writer)
        leave_dead_writer(scene);
    if (operation->write == NULL) { /* a commit to undo: `after` is what was before it */
        model_rows_copy(&scene->now, &after);
        must_write(scene, "upsert");
    } else {
        make_rows(scene, operation->write, &rows);
        model_rows_copy(&scene->now, &after);
        apply(operation->write, &after, &rows);
    }
    arm(scene, nth, mode != FAILS_ONCE);
    status = operation->write == NULL
                 ? roll_back_newest(scene, &error)
                 : model_table_write(scene->context, URI, operation->write, &rows, &error);
    const bool fired = atomic_load(&scene->faults.fired);
    disarm(scene);
    snprintf(what, sizeof what, "%s, point %" PRId64 " %s (%s)", operation->name, nth, MODES[mode],
             error == NULL ? hudi_status_name(status) : hudi_error_message(error));
    if (status == HUDI_OK && error != NULL)
        fail_msg("%s: an error without failure", what);
    if (status != HUDI_OK && !fired)
        fail_msg("%s: failed of itself", what);
    hudi_error_free(error);
    error = NULL;
    if (mode == LOSES_POWER)
        lose_power(scene);

    if (model_table_read(scene->context, URI, &found, &error) != HUDI_OK)
        fail_msg("%s: the table cannot be read: %s", what,
                 error == NULL ? "" : hudi_error_message(error));
    const bool is_after = model_table_same(&found, &after);
    if (!is_after && !model_table_same(&found, &scene->now))
        fail_msg("%s: the table is neither as before (%zu rows) nor as after (%zu), it has %zu",
                 what, scene->now.n, after.n, found.n);
    if (status == HUDI_OK && !is_after)
        fail_msg("%s: a write that succeeded is not there", what);
    model_rows_clear(&found);
    if (is_after) {
        model_rows_clear(&scene->now);
        scene->now = after;
    } else {
        model_rows_clear(&after);
    }
    model_rows_clear(&rows);

    must_write(scene, "upsert");
    model_table_expect(scene->context, URI, &scene->now, what);
    model_table_verify(scene->context, URI, what);
    if (scene->logs_changes)
        expect_changes(scene, what);
    return fired;
}

/* ---- all points --------------------------------------------------------------------------- */

/* How many points an operation has. */
static int64_t count_points(struct scene *scene, const struct operation *operation)
{
    const int64_t many = INT64_C(1) << 40;

    begin_table(scene);
    (void)run_point(scene, operation, many, FAILS_ONCE);
    /* Disarmed by then: count on an op of its own. */
    if (operation->after_dead_writer)
        leave_dead_writer(scene);
    if (operation->write == NULL)
        must_write(scene, "upsert");
    struct model_rows rows = {0};
    if (operation->write != NULL)
        make_rows(scene, operation->write, &rows);
    arm(scene, many, false);
    if (operation->write == NULL)
        assert_int_equal(roll_back_newest(scene, NULL), HUDI_OK);
    else
        assert_int_equal(model_table_write(scene->context, URI, operation->write, &rows, NULL),
                         HUDI_OK);
    const int64_t n = many - 1 - atomic_load(&scene->faults.left);
    disarm(scene);
    model_rows_clear(&rows);
    return n;
}

static void walk(const struct operation *operation, enum mode mode)
{
    const int64_t seconds = setting("HUDI_TEST_SECONDS", 0);
    const uint64_t seed = (uint64_t)setting("HUDI_TEST_SEED", 1);
    const time_t end = time(NULL) + seconds;
    struct scene scene;
    int64_t n_run = 0, nth;

    open_scene(&scene, operation);
    const int64_t n_points = count_points(&scene, operation);
    /* Steps that share no factor with anything likely visit all points in a mixed order, so that a
     * walk that is cut short has seen all parts of the operation. */
    int64_t step = n_points / SAMPLED_POINTS + 1;
    while (step > 1 && n_points % step == 0)
        step++;
    begin_table(&scene);
    nth = (int64_t)(seed * 7919 % (uint64_t)step);
    for (; seconds > 0 ? n_run < n_points && time(NULL) < end : nth < n_points; nth += step) {
        if (scene.n_writes >= WRITES_OF_A_TABLE)
            begin_table(&scene);
        (void)run_point(&scene, operation, nth % n_points + 1, mode);
        n_run++;
    }
    print_message("%s: %" PRId64 " of %" PRId64 " points, each %s\n", operation->name, n_run,
                  n_points, MODES[mode]);
    close_scene(&scene);
}

static void a_write_survives_any_single_fault(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OPERATIONS; i++)
        walk(&OPERATIONS[i], FAILS_ONCE);
}

static void a_write_survives_a_fault_after_which_nothing_works(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OPERATIONS; i++)
        walk(&OPERATIONS[i], FAILS_ON);
}

static void a_write_survives_a_loss_of_power(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OPERATIONS; i++)
        walk(&OPERATIONS[i], LOSES_POWER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_survives_any_single_fault),
        cmocka_unit_test(a_write_survives_a_fault_after_which_nothing_works),
        cmocka_unit_test(a_write_survives_a_loss_of_power),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
