/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers on local disk that are killed: at each file operation of a write, and at any time. The
 * table reads as before or as after, and the next writer puts it right without help.
 *
 *   HUDI_TEST_SEED     when processes are killed, and where the walk over operations begins
 *   HUDI_TEST_SECONDS  each test goes on for that long, or until it has met all file operations;
 *                      else some
 *
 * Labels: fault forks
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/api.h"
#include "support/folder.h"
#include "support/model_table.h"
#include "support/setting.h"

#define N_ROWS 60
#define STRIDE 37 /* of the file operations that a walk meets, before it comes back for others */
#define SAMPLED_KILLS 5
#define WRITES_OF_A_TABLE 30
#define WALKS_OF_A_TEST 3
#define WORKED 0
#define FAILED 3

/* A table in a folder of its own, and what it holds. */
struct scene {
    char folder[TEST_FOLDER_BYTES];
    char uri[TEST_FOLDER_BYTES + 4];
    hudi_context *context; /* of one thread: the process forks */
    struct model_rows now;
    int64_t n_done; /* writes of the series */
    bool logged;    /* the table is merge-on-read */
};

/* ---- a series of writes, each by its number ------------------------------------------------- */

static const char *operation_of(int64_t number)
{
    static const char *const OPERATIONS[] = {"upsert", "delete", "upsert", "insert_overwrite",
                                             "insert"};

    return OPERATIONS[number % 5];
}

static void rows_of(int64_t number, struct model_rows *out)
{
    const char *const operation = operation_of(number);
    const bool fresh = operation[0] == 'i';

    *out = (struct model_rows){0};
    for (int64_t i = 0; i < N_ROWS; i += 2) {
        const int64_t id = fresh ? 1000 + number * N_ROWS + i : (i + number) % N_ROWS;
        const struct model_row row = model_table_row(id, id % 3, number, number);
        model_rows_add(out, &row);
    }
}

static void apply(int64_t number, struct model_rows *state)
{
    const char *const operation = operation_of(number);
    struct model_rows rows;

    rows_of(number, &rows);
    if (strcmp(operation, "upsert") == 0)
        model_upsert(&model_table_rules, state, &rows, 0);
    else if (strcmp(operation, "delete") == 0)
        model_delete(&model_table_rules, state, &rows);
    else if (strcmp(operation, "insert") == 0)
        model_insert(&model_table_rules, state, &rows, 0);
    else
        model_overwrite(&model_table_rules, state, &rows, false, 0);
    model_rows_clear(&rows);
}

static hudi_status do_write(hudi_context *context, const char *uri, int64_t number,
                            hudi_error **error)
{
    struct model_rows rows;

    rows_of(number, &rows);
    const hudi_status status = model_table_write(context, uri, operation_of(number), &rows, error);
    model_rows_clear(&rows);
    return status;
}

static void must_write(struct scene *scene)
{
    hudi_error *error = NULL;

    if (do_write(scene->context, scene->uri, scene->n_done, &error) != HUDI_OK)
        fail_msg("write %" PRId64 ": %s", scene->n_done, hudi_error_message(error));
    apply(scene->n_done++, &scene->now);
}

/* As if the time had passed for which others wait. */
static void let_hearts_stop(const struct scene *scene)
{
    char command[TEST_FOLDER_BYTES + 48];

    snprintf(command, sizeof command, "rm -f '%s'/.hoodie/.heartbeat/*", scene->uri);
    assert_int_equal(system(command), 0);
}

static void open_scene(struct scene *scene, bool logged)
{
    hudi_error *error = NULL;

    *scene = (struct scene){.logged = logged};
    test_folder_make(scene->folder);
    snprintf(scene->uri, sizeof scene->uri, "%s/t", scene->folder);
    scene->context = model_table_context("1");
    if ((logged ? model_table_create_logged : model_table_create)(scene->context, scene->uri,
                                                                  &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    must_write(scene);
    must_write(scene);
    must_write(scene);
}

static void close_scene(struct scene *scene)
{
    model_rows_clear(&scene->now);
    hudi_context_free(scene->context);
    test_folder_remove(scene->folder);
}

/* ---- killed at a file operation ----------------------------------------------------------- */

/* In a child: the write, or with `rolls_back` the undoing of the newest one. */
static hudi_status child_work(const struct scene *scene, bool rolls_back, hudi_context *context)
{
    hudi_table *table = NULL;

    if (!rolls_back)
        return do_write(context, scene->uri, scene->n_done, NULL);
    hudi_status status = hudi_table_open(context, scene->uri, NULL, &table, NULL);
    if (status != HUDI_OK)
        return status;
    const hudi_timeline *const timeline = hudi_table_timeline(table);
    for (size_t i = hudi_timeline_length(timeline); i-- > 0;) {
        const hudi_instant *const instant = hudi_timeline_at(timeline, i);
        if (strcmp(hudi_instant_action(instant), "rollback") != 0 &&
            strcmp(hudi_instant_action(instant), "clean") != 0)
            return hudi_rollback(table, hudi_instant_time(instant), NULL);
    }
    return HUDI_NOT_FOUND;
}

/* Killed before file operation `nth`. @return whether it came that far */
static bool run_and_kill(const struct scene *scene, bool rolls_back, int64_t nth)
{
    int how;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        struct hd_faults faults = {.left = nth - 1, .files_only = true, .kills = true};
        hudi_context *const context = model_table_context("1");

        context->faults = &faults;
        _exit(child_work(scene, rolls_back, context) == HUDI_OK ? WORKED : FAILED);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)
        return true;
    if (!WIFEXITED(how) || WEXITSTATUS(how) != WORKED)
        fail_msg("an undisturbed write failed (wait status %d)", how);
    return false;
}

static void take_whichever_is_there(struct scene *scene, struct model_rows *after, bool must,
                                    const char *what)
{
    struct model_rows found;
    hudi_error *error = NULL;

    if (model_table_read(scene->context, scene->uri, &found, &error) != HUDI_OK)
        fail_msg("%s: the table cannot be read: %s", what,
                 error == NULL ? "" : hudi_error_message(error));
    const bool is_after = model_table_same(&found, after);
    if (!is_after && (must || !model_table_same(&found, &scene->now)))
        fail_msg("%s: the table is neither as before (%zu rows) nor as after (%zu), it has %zu",
                 what, scene->now.n, after->n, found.n);
    model_rows_clear(&found);
    if (is_after) {
        model_rows_clear(&scene->now);
        scene->now = *after;
    } else {
        model_rows_clear(after);
    }
}

static bool kill_at_point(struct scene *scene, bool rolls_back, int64_t nth)
{
    struct model_rows after;
    char what[80];

    model_rows_copy(&scene->now, &after);
    if (rolls_back)
        must_write(scene);
    else
        apply(scene->n_done, &after);
    const bool killed = run_and_kill(scene, rolls_back, nth);
    snprintf(what, sizeof what, "%s killed at file operation %" PRId64,
             rolls_back ? "a rollback" : operation_of(scene->n_done), nth);
    take_whichever_is_there(scene, &after, !killed, what);
    scene->n_done++;
    let_hearts_stop(scene);
    must_write(scene);
    model_table_expect(scene->context, scene->uri, &scene->now, what);
    model_table_verify(scene->context, scene->uri, what);
    return killed;
}

/* All points of one kind of write, or, without time for them, one in STRIDE. */
static void walk(int64_t first_number, bool rolls_back, bool logged)
{
    const int64_t seconds = test_seconds(WALKS_OF_A_TEST);
    const time_t end = time(NULL) + seconds;
    const int64_t seed = test_setting("HUDI_TEST_SEED", 1);
    int64_t n_points = 0, n_all = 0, n_rounds = 0, nth = 1 + (seed + first_number) % STRIDE;
    struct scene scene;
    int n_writes = 0;

    open_scene(&scene, logged);
    while (seconds == 0 || time(NULL) < end) {
        if (++n_writes % WRITES_OF_A_TABLE == 0) {
            close_scene(&scene);
            open_scene(&scene, logged);
        }
        while (scene.n_done % 5 != first_number) /* to where the series has that operation */
            must_write(&scene);
        if (kill_at_point(&scene, rolls_back, nth)) {
            n_points++;
            nth += STRIDE;
        } else {
            n_all = nth > n_all ? nth : n_all;
            if (seconds == 0 || ++n_rounds == STRIDE)
                break;
            nth = 1 + (seed + first_number + n_rounds) % STRIDE;
        }
    }
    assert_true(n_points > 0);
    print_message("%s%s: killed at %" PRId64 " of about %" PRId64 " file operations\n",
                  rolls_back ? "rollback" : operation_of(first_number), logged ? ", logs" : "",
                  n_points, n_all > nth ? n_all : nth);
    close_scene(&scene);
}

static void an_upsert_may_be_killed_at_any_file_operation(void **state)
{
    (void)state;
    walk(0, false, false);
    walk(0, false, true);
}

static void a_delete_may_be_killed_at_any_file_operation(void **state)
{
    (void)state;
    walk(1, false, false);
    walk(1, false, true);
}

static void an_overwrite_may_be_killed_at_any_file_operation(void **state)
{
    (void)state;
    walk(3, false, false);
    walk(3, false, true);
}

static void a_rollback_may_be_killed_at_any_file_operation(void **state)
{
    (void)state;
    walk(0, true, false);
    walk(0, true, true);
}

/* Log files that are there get blocks, and are followed by the next version when they are full. */
static void a_write_to_log_files_of_others_may_be_killed_at_any_file_operation(void **state)
{
    (void)state;
    model_table_append_logs(true);
    walk(0, false, true);
    walk(1, false, true);
    walk(0, true, true);
    model_table_append_logs(false);
}

static void a_writer_that_shares_the_table_may_be_killed_at_any_file_operation(void **state)
{
    (void)state;
    model_table_share(true);
    walk(0, false, false);
    walk(3, false, false);
    walk(0, false, true);
    walk(0, true, true);
    model_table_share(false);
}

static void a_table_being_created_may_be_killed_at_any_file_operation(void **state)
{
    char folder[TEST_FOLDER_BYTES], uri[TEST_FOLDER_BYTES + 24];
    bool killed = true;

    (void)state;
    test_folder_make(folder);
    for (int64_t nth = 1; killed; nth++) {
        struct model_rows rows = {0};
        hudi_error *error = NULL;
        int how;

        snprintf(uri, sizeof uri, "%s/t%" PRId64, folder, nth);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct hd_faults faults = {.left = nth - 1, .files_only = true, .kills = true};
            hudi_context *const context = model_table_context("1");

            context->faults = &faults;
            _exit(model_table_create(context, uri, NULL) == HUDI_OK ? WORKED : FAILED);
        }
        assert_int_equal(waitpid(child, &how, 0), child);
        killed = WIFSIGNALED(how);
        hudi_context *const context = model_table_context("1");
        const hudi_status status = model_table_create(context, uri, &error);
        if (status != HUDI_OK && status != HUDI_EXISTS)
            fail_msg("killed at operation %" PRId64 ", the next create: %s", nth,
                     hudi_error_message(error));
        hudi_error_free(error);
        const struct model_row row = model_table_row(1, 1, 1, 1);
        model_rows_add(&rows, &row);
        assert_int_equal(model_table_write(context, uri, "upsert", &rows, NULL), HUDI_OK);
        model_table_expect(context, uri, &rows, "a table created twice");
        model_table_verify(context, uri, "a table created twice");
        model_rows_clear(&rows);
        hudi_context_free(context);
    }
    test_folder_remove(folder);
}

/* ---- killed at any time ------------------------------------------------------------------- */

/* A process that goes on with the series until it is killed. */
static pid_t start_writer(const struct scene *scene)
{
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child > 0)
        return child;
    hudi_context *const context = model_table_context("3");
    for (int64_t number = scene->n_done;; number++) {
        hudi_error *error = NULL;

        if (do_write(context, scene->uri, number, &error) != HUDI_OK) {
            fprintf(stderr, "write %" PRId64 ": %s\n", number, hudi_error_message(error));
            _exit(FAILED);
        }
    }
}

/* How far the series has come. */
static void find_state(struct scene *scene)
{
    struct model_rows found;
    hudi_error *error = NULL;
    const int64_t before = scene->n_done;

    if (model_table_read(scene->context, scene->uri, &found, &error) != HUDI_OK)
        fail_msg("after write %" PRId64 " and a kill: %s", before,
                 error == NULL ? "" : hudi_error_message(error));
    while (!model_table_same(&found, &scene->now)) {
        if (scene->n_done > before + 5000)
            fail_msg("after write %" PRId64 " and a kill the table is as after no write", before);
        apply(scene->n_done++, &scene->now);
    }
    model_rows_clear(&found);
}

static void kill_writers(bool logged)
{
    const int64_t seconds = test_seconds(WALKS_OF_A_TEST);
    const time_t end = time(NULL) + seconds;
    struct scene scene;
    int64_t n_kills = 0;

    srandom((unsigned)test_setting("HUDI_TEST_SEED", 1));
    open_scene(&scene, logged);
    for (; seconds > 0 ? time(NULL) < end : n_kills < SAMPLED_KILLS; n_kills++) {
        const long us = 1000 + random() % 300000;
        const struct timespec pause = {.tv_nsec = us * 1000};
        const pid_t child = start_writer(&scene);
        int how;

        nanosleep(&pause, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &how, 0), child);
        if (!WIFSIGNALED(how))
            fail_msg("the writer ended before it was killed");
        find_state(&scene);
        must_write(&scene);
        model_table_expect(scene.context, scene.uri, &scene.now, "after a kill");
        model_table_verify(scene.context, scene.uri, "after a kill");
        if (scene.n_done > 300) {
            close_scene(&scene);
            open_scene(&scene, logged);
        }
    }
    print_message("%" PRId64 " kills\n", n_kills);
    close_scene(&scene);
}

static void a_writer_may_be_killed_at_any_time(void **state)
{
    (void)state;
    kill_writers(false);
    kill_writers(true);
    model_table_append_logs(true);
    kill_writers(true);
    model_table_append_logs(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_upsert_may_be_killed_at_any_file_operation),
        cmocka_unit_test(a_delete_may_be_killed_at_any_file_operation),
        cmocka_unit_test(an_overwrite_may_be_killed_at_any_file_operation),
        cmocka_unit_test(a_rollback_may_be_killed_at_any_file_operation),
        cmocka_unit_test(a_write_to_log_files_of_others_may_be_killed_at_any_file_operation),
        cmocka_unit_test(a_writer_that_shares_the_table_may_be_killed_at_any_file_operation),
        cmocka_unit_test(a_table_being_created_may_be_killed_at_any_file_operation),
        cmocka_unit_test(a_writer_may_be_killed_at_any_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
