/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation and every file operation of a write fails once: alone, with all that follow, and
 * as a loss of power that drops what was not synced. Each time the table reads as before or as
 * after, the next write works without help, and nothing is left behind.
 *
 *   HUDI_TEST_SEED     where the walk over the points begins
 *   HUDI_TEST_SECONDS  walk over all points, each mode for that long at most; else over some
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

#define STORE "faults"
#define URI "memory:" STORE "/t"
#define SAMPLED_POINTS 9     /* of one operation and mode, without HUDI_TEST_SECONDS */
#define WRITES_OF_A_TABLE 12 /* a fresh one then: its timeline would slow the walk down */
#define N_ROWS 60

/* The table, what it holds, and what a write makes of it. */
struct scene {
    struct fault_store store;
    const struct operation *operation;
    struct model_rows now;
    struct model_rows rows;  /* of the operation */
    struct model_rows after; /* what the table holds when it is done */
    int64_t next_value;      /* makes each write's rows its own */
    int n_writes;
};

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
    const hudi_status status = model_table_write(scene->store.context, URI, write, &rows, &error);
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
    hudi_status status = scene->operation->logged
                             ? model_table_create_logged(scene->store.context, URI, &error)
                         : scene->operation->logs_changes
                             ? model_table_create_with(scene->store.context, URI,
                                                       "hoodie.table.cdc.enabled", "true", &error)
                             : model_table_create(scene->store.context, URI, &error);
    if (status != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    for (int64_t i = 0; i < N_ROWS; i++) {
        const struct model_row row = model_table_row(i, i % 3, 0, 0);
        model_rows_add(&rows, &row);
    }
    if (model_table_write(scene->store.context, URI, "upsert", &rows, &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    apply("upsert", &scene->now, &rows);
    model_rows_clear(&rows);
    must_write(scene, "upsert");
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
    assert_int_equal(hudi_table_open(scene->store.context, URI, NULL, &table, NULL), HUDI_OK);
    assert_int_equal(hudi_write_begin(table, options, &write, NULL), HUDI_OK);
    model_table_input(&rows, &stream);
    assert_int_equal(hudi_write_stream(write, &stream, NULL, NULL), HUDI_OK);
    /* All but the completed file, which the first file operation of the commit is before. */
    scene->store.faults.files_only = true;
    fault_store_arm(&scene->store, scene->operation->logged ? 40 : 60, FAILS_ON);
    assert_int_not_equal(hudi_write_commit(write, NULL, NULL), HUDI_OK);
    fault_store_disarm(&scene->store);
    scene->store.faults.files_only = false;
    hudi_table_free(table);
    hudi_options_free(options);
    model_rows_clear(&rows);
}

static hudi_status roll_back_newest(struct scene *scene, hudi_error **error)
{
    hudi_table *table = NULL;
    hudi_status status = hudi_table_open(scene->store.context, URI, NULL, &table, error);
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
    if (hudi_table_open(scene->store.context, URI, NULL, &table, &error) != HUDI_OK)
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

/* ---- the walk ----------------------------------------------------------------------------- */

static void begin(void *self)
{
    struct scene *const scene = self;
    const struct operation *const operation = scene->operation;

    if (scene->n_writes == 0 || scene->n_writes >= WRITES_OF_A_TABLE)
        begin_table(scene);
    if (operation->after_dead_writer)
        leave_dead_writer(scene);
    model_rows_copy(&scene->now, &scene->after);
    if (operation->write == NULL) { /* a commit to undo: what comes after is what was before it */
        must_write(scene, "upsert");
    } else {
        make_rows(scene, operation->write, &scene->rows);
        apply(operation->write, &scene->after, &scene->rows);
    }
}

static hudi_status run(void *self, hudi_error **error)
{
    struct scene *const scene = self;
    const char *const write = scene->operation->write;

    return write == NULL ? roll_back_newest(scene, error)
                         : model_table_write(scene->store.context, URI, write, &scene->rows, error);
}

static void expect(void *self, int64_t nth, hudi_status status, const char *what)
{
    struct scene *const scene = self;
    struct model_rows found;
    hudi_error *error = NULL;

    (void)nth;
    if (model_table_read(scene->store.context, URI, &found, &error) != HUDI_OK)
        fail_msg("%s: the table cannot be read: %s", what,
                 error == NULL ? "" : hudi_error_message(error));
    const bool is_after = model_table_same(&found, &scene->after);
    if (!is_after && !model_table_same(&found, &scene->now))
        fail_msg("%s: the table is neither as before (%zu rows) nor as after (%zu), it has %zu",
                 what, scene->now.n, scene->after.n, found.n);
    if (status == HUDI_OK && !is_after)
        fail_msg("%s: a write that succeeded is not there", what);
    model_rows_clear(&found);
    if (is_after) {
        model_rows_clear(&scene->now);
        scene->now = scene->after;
    } else {
        model_rows_clear(&scene->after);
    }
    model_rows_clear(&scene->rows);

    must_write(scene, "upsert");
    model_table_expect(scene->store.context, URI, &scene->now, what);
    model_table_verify(scene->store.context, URI, what);
    if (scene->operation->logs_changes)
        expect_changes(scene, what);
}

static void walk_all(enum fault_mode mode)
{
    for (size_t i = 0; i < N_OPERATIONS; i++) {
        struct scene scene = {.operation = &OPERATIONS[i]};
        const struct fault_walk walk = {.name = OPERATIONS[i].name,
                                        .mode = mode,
                                        .n_sampled = SAMPLED_POINTS,
                                        .seconds = test_seconds(N_OPERATIONS),
                                        .store = &scene.store,
                                        .scene = &scene,
                                        .begin = begin,
                                        .run = run,
                                        .expect = expect};

        fault_store_open(&scene.store, STORE);
        model_table_append_logs(OPERATIONS[i].appends);
        fault_walk(&walk);
        model_table_append_logs(false);
        model_rows_clear(&scene.now);
        fault_store_close(&scene.store);
    }
}

static void a_write_survives_any_single_fault(void **state)
{
    (void)state;
    walk_all(FAILS_ONCE);
}

static void a_write_survives_a_fault_after_which_nothing_works(void **state)
{
    (void)state;
    walk_all(FAILS_ON);
}

static void a_write_survives_a_loss_of_power(void **state)
{
    (void)state;
    walk_all(LOSES_POWER);
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
