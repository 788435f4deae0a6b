/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes that write to one table on local disk: the second is told, or waits, and never
 * touches what the first has not finished; when the first is killed it goes on.
 *
 * Labels: fault forks
 */
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

#include "support/folder.h"
#include "support/model_table.h"

struct scene {
    char folder[TEST_FOLDER_BYTES];
    char uri[TEST_FOLDER_BYTES + 4];
    hudi_context *context;
    struct model_rows now;
    bool shared; /* the first writer shares the table, and pauses before it completes */
};

static void rows_from(int64_t first, int64_t n, struct model_rows *out)
{
    *out = (struct model_rows){0};
    for (int64_t id = first; id < first + n; id++) {
        const struct model_row row = model_table_row(id, id % 3, first, first);
        model_rows_add(out, &row);
    }
}

static int set_up(void **state)
{
    struct scene *const scene = calloc(1, sizeof *scene);
    hudi_error *error = NULL;

    assert_non_null(scene);
    test_folder_make(scene->folder);
    snprintf(scene->uri, sizeof scene->uri, "%s/t", scene->folder);
    scene->context = model_table_context("1");
    rows_from(0, 40, &scene->now);
    hudi_status status = model_table_create(scene->context, scene->uri, &error);
    if (status == HUDI_OK)
        status = model_table_write(scene->context, scene->uri, "upsert", &scene->now, &error);
    if (status != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *const scene = *state;

    model_rows_clear(&scene->now);
    hudi_context_free(scene->context);
    test_folder_remove(scene->folder);
    free(scene);
    return 0;
}

/* ---- the first writer, a process of its own ----------------------------------------------- */

struct first_writer {
    pid_t pid;
    int to;   /* a byte: commit */
    int from; /* a byte: the write is open and its files are written */
};

/* A lock that shows where its holder is about to complete. It does not exclude anybody: the
 * kernel's, which goes with it, does. */
#define PROVIDER "test.PausingProvider"

struct pause {
    bool armed;
    int orders, reports;
};

static hudi_status take(void *self, const char *uri, uint64_t wait_ms, void **out, char *message,
                        size_t n_message_bytes)
{
    (void)self, (void)uri, (void)wait_ms, (void)message, (void)n_message_bytes;
    *out = NULL;
    return HUDI_OK;
}

static bool pause_before_completing(void *self, void *lock)
{
    const struct pause *const pause = self;
    char byte = 'p';

    (void)lock;
    return !pause->armed ||
           (write(pause->reports, &byte, 1) == 1 && read(pause->orders, &byte, 1) == 1);
}

static void give_back(void *self, void *lock)
{
    (void)self, (void)lock;
}

static void share(hudi_options *options)
{
    static const char *const OPTIONS[][2] = {
        {"hoodie.write.concurrency.mode", "OPTIMISTIC_CONCURRENCY_CONTROL"},
        {"hoodie.write.lock.provider", PROVIDER},
        {"libhudi.write.lock.wait.ms", "60000"}};

    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
        assert_int_equal(hudi_options_set(options, OPTIONS[i][0], OPTIONS[i][1], NULL), HUDI_OK);
}

static hudi_context *context_of(const char *n_threads, struct pause *pause)
{
    hudi_context *const context = model_table_context(n_threads);

    if (hudi_context_add_lock_provider(context, PROVIDER, take, pause_before_completing, give_back,
                                       pause, NULL) != HUDI_OK)
        fail_msg("no lock provider");
    return context;
}

/* Rows [100, 130), all of it but the commit, which a byte orders; and its completion another, when
 * it shares the table. */
static void be_first_writer(const struct scene *scene, int orders, int reports)
{
    struct pause pause = {.orders = orders, .reports = reports};
    hudi_context *const context = context_of("2", &pause);
    hudi_options *const options = model_table_options("bulk_insert");
    struct model_rows rows;
    struct ArrowArrayStream stream;
    hudi_table *table = NULL;
    hudi_write *pending = NULL;
    char byte = 'b';

    if (scene->shared)
        share(options);
    rows_from(100, 30, &rows);
    model_table_input(&rows, &stream);
    if (hudi_table_open(context, scene->uri, NULL, &table, NULL) != HUDI_OK ||
        hudi_write_begin(table, options, &pending, NULL) != HUDI_OK ||
        hudi_write_stream(pending, &stream, NULL, NULL) != HUDI_OK)
        _exit(1);
    if (write(reports, &byte, 1) != 1 || read(orders, &byte, 1) != 1)
        _exit(2);
    pause.armed = scene->shared;
    _exit(hudi_write_commit(pending, NULL, NULL) == HUDI_OK ? 0 : 3);
}

static void start(const struct scene *scene, struct first_writer *out)
{
    int orders[2], reports[2];
    char byte;

    assert_int_equal(pipe(orders), 0);
    assert_int_equal(pipe(reports), 0);
    out->pid = fork();
    assert_true(out->pid >= 0);
    if (out->pid == 0) {
        close(orders[1]);
        be_first_writer(scene, orders[0], reports[1]);
    }
    close(orders[0]);
    close(reports[1]);
    out->to = orders[1];
    out->from = reports[0];
    assert_int_equal(read(out->from, &byte, 1), 1);
}

static int wait_for(struct first_writer *first)
{
    int how;

    assert_int_equal(waitpid(first->pid, &how, 0), first->pid);
    close(first->to);
    close(first->from);
    return how;
}

static void let_commit(struct first_writer *first)
{
    assert_int_equal(write(first->to, "c", 1), 1);
}

/* Orders it when this process waits for the lock already; the pid of who does. */
static pid_t let_commit_later(struct first_writer *first)
{
    const struct timespec pause = {.tv_nsec = 200000000};
    const pid_t order = fork();

    assert_true(order >= 0);
    if (order == 0) {
        nanosleep(&pause, NULL);
        _exit(write(first->to, "c", 1) == 1 ? 0 : 1);
    }
    return order;
}

static void add_rows_of_first(struct scene *scene)
{
    struct model_rows rows;

    rows_from(100, 30, &rows);
    model_insert(&model_table_rules, &scene->now, &rows, 0);
    model_rows_clear(&rows);
}

static hudi_status write_second(struct scene *scene, hudi_error **error)
{
    struct model_rows rows;

    rows_from(20, 10, &rows);
    for (size_t i = 0; i < rows.n; i++)
        rows.rows[i].value[MODEL_TS] = 500;
    const hudi_status status =
        model_table_write(scene->context, scene->uri, "upsert", &rows, error);
    if (status == HUDI_OK)
        model_upsert(&model_table_rules, &scene->now, &rows, 0);
    model_rows_clear(&rows);
    return status;
}

static void expect_conflict(hudi_status status, hudi_error *error)
{
    assert_int_equal(status, HUDI_CONFLICT);
    assert_non_null(error);
    assert_non_null(strstr(hudi_error_message(error), "another process is writing to the table"));
    assert_true(hudi_error_retriable(error));
    hudi_error_free(error);
}

/* ---- tests -------------------------------------------------------------------------------- */

static void a_second_writer_is_told_and_leaves_the_first_alone(void **state)
{
    struct scene *const scene = *state;
    struct first_writer first;
    hudi_error *error = NULL;

    start(scene, &first);
    const hudi_status status = write_second(scene, &error);
    expect_conflict(status, error);
    model_table_expect(scene->context, scene->uri, &scene->now, "while the first is open");
    let_commit(&first);
    assert_int_equal(wait_for(&first), 0);
    add_rows_of_first(scene);
    model_table_expect(scene->context, scene->uri, &scene->now, "after the first");
    assert_int_equal(write_second(scene, NULL), HUDI_OK);
    model_table_expect(scene->context, scene->uri, &scene->now, "after both");
    model_table_verify(scene->context, scene->uri, "after both");
}

static void a_second_writer_that_may_wait_builds_on_the_first(void **state)
{
    struct scene *const scene = *state;
    struct first_writer first;
    hudi_options *const options = model_table_options("delete");
    hudi_error *error = NULL;
    hudi_table *table = NULL;
    hudi_write *second = NULL;
    struct model_rows rows;
    struct ArrowArrayStream stream;

    start(scene, &first);
    assert_int_equal(hudi_options_set(options, "libhudi.write.lock.wait.ms", "60000", NULL),
                     HUDI_OK);
    assert_int_equal(hudi_table_open(scene->context, scene->uri, NULL, &table, NULL), HUDI_OK);
    const pid_t order = let_commit_later(&first);
    if (hudi_write_begin(table, options, &second, &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    assert_int_equal(waitpid(order, NULL, 0), order);
    assert_int_equal(wait_for(&first), 0);
    add_rows_of_first(scene);
    rows_from(100, 10, &rows); /* of the first's: only who has seen its commit finds them */
    model_table_input(&rows, &stream);
    assert_int_equal(hudi_write_stream(second, &stream, NULL, NULL), HUDI_OK);
    assert_int_equal(hudi_write_commit(second, NULL, NULL), HUDI_OK);
    model_delete(&model_table_rules, &scene->now, &rows);
    model_rows_clear(&rows);
    hudi_table_free(table);
    hudi_options_free(options);
    model_table_expect(scene->context, scene->uri, &scene->now, "after both");
    model_table_verify(scene->context, scene->uri, "after both");
}

static void a_second_writer_rolls_back_a_first_that_was_killed(void **state)
{
    struct scene *const scene = *state;
    struct first_writer first;
    hudi_error *error = NULL;

    start(scene, &first);
    assert_int_equal(kill(first.pid, SIGKILL), 0);
    assert_true(WIFSIGNALED(wait_for(&first)));
    model_table_expect(scene->context, scene->uri, &scene->now, "after the kill");
    if (write_second(scene, &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    model_table_expect(scene->context, scene->uri, &scene->now, "after the second");
    model_table_verify(scene->context, scene->uri, "after the second");
}

static void a_live_write_cannot_be_rolled_back_by_hand(void **state)
{
    struct scene *const scene = *state;
    struct first_writer first;
    hudi_options *const options = model_table_options("upsert");
    hudi_error *error = NULL;
    hudi_table *table = NULL;
    const char *pending = NULL;

    start(scene, &first);
    assert_int_equal(hudi_table_open(scene->context, scene->uri, options, &table, NULL), HUDI_OK);
    const hudi_timeline *const timeline = hudi_table_timeline(table);
    for (size_t i = 0; i < hudi_timeline_length(timeline); i++)
        if (strcmp(hudi_instant_state(hudi_timeline_at(timeline, i)), "COMPLETED") != 0)
            pending = hudi_instant_time(hudi_timeline_at(timeline, i));
    assert_non_null(pending);
    const hudi_status status = hudi_rollback(table, pending, &error);
    expect_conflict(status, error);
    let_commit(&first);
    assert_int_equal(wait_for(&first), 0);
    add_rows_of_first(scene);
    model_table_expect(scene->context, scene->uri, &scene->now, "after the first");
    hudi_table_free(table);
    hudi_options_free(options);
}

static void two_writes_of_one_process_exclude_each_other_too(void **state)
{
    struct scene *const scene = *state;
    hudi_context *const other = model_table_context("1");
    hudi_options *const options = model_table_options("upsert");
    hudi_error *error = NULL;
    hudi_table *table = NULL;
    hudi_write *first = NULL, *second = NULL;

    assert_int_equal(hudi_table_open(scene->context, scene->uri, NULL, &table, NULL), HUDI_OK);
    assert_int_equal(hudi_write_begin(table, options, &first, NULL), HUDI_OK);
    hudi_status status = hudi_write_begin(table, options, &second, &error);
    expect_conflict(status, error);
    assert_null(second);
    error = NULL;
    status = model_table_write(other, scene->uri, "upsert", &scene->now, &error);
    expect_conflict(status, error);
    hudi_write_abort(first);
    assert_int_equal(write_second(scene, NULL), HUDI_OK);
    model_table_expect(scene->context, scene->uri, &scene->now, "after the second");
    model_table_verify(scene->context, scene->uri, "after the second");
    hudi_table_free(table);
    hudi_options_free(options);
    hudi_context_free(other);
}

/* ---- a second that saw the first pending -------------------------------------------------- */

typedef hudi_status act_fn(struct scene *scene, hudi_table *table, hudi_options *options,
                           hudi_error **error);

static hudi_status repairs(struct scene *scene, hudi_table *table, hudi_options *options,
                           hudi_error **error)
{
    hudi_verification *done = NULL;

    (void)scene, (void)options;
    const hudi_status status = hudi_repair(table, 0, NULL, &done, error);
    hudi_verification_free(done);
    return status;
}

static hudi_status clusters(struct scene *scene, hudi_table *table, hudi_options *options,
                            hudi_error **error)
{
    (void)scene, (void)options;
    return hudi_cluster(table, HUDI_CLUSTER_PLAN_AND_RUN, NULL, NULL, NULL, error);
}

static hudi_status cleans(struct scene *scene, hudi_table *table, hudi_options *options,
                          hudi_error **error)
{
    (void)scene, (void)options;
    return hudi_clean(table, HUDI_CLEAN_PLAN_AND_RUN, NULL, NULL, error);
}

/* Of the first's rows: only who has seen its commit finds them. */
static hudi_status deletes(struct scene *scene, hudi_table *table, hudi_options *options,
                           hudi_error **error)
{
    struct model_rows rows;
    struct ArrowArrayStream stream;
    hudi_write *write = NULL;

    rows_from(110, 5, &rows);
    model_table_input(&rows, &stream);
    hudi_status status = hudi_write_begin(table, options, &write, error);
    if (status != HUDI_OK)
        stream.release(&stream);
    if (status == HUDI_OK)
        status = hudi_write_stream(write, &stream, NULL, error);
    if (status == HUDI_OK)
        status = hudi_write_commit(write, NULL, error);
    model_delete(&model_table_rules, &scene->now, &rows);
    model_rows_clear(&rows);
    return status;
}

/* It lists the timeline while the first is about to complete, and looks for its heartbeat when it
 * has completed and beats no more. */
static void see_first_pending_and(struct scene *scene, act_fn *act)
{
    struct pause none = {0};
    hudi_context *const context = context_of("1", &none);
    hudi_options *const options = model_table_options("delete");
    struct first_writer first;
    hudi_error *error = NULL;
    hudi_table *table = NULL;
    char byte;

    scene->shared = true;
    share(options);
    start(scene, &first);
    let_commit(&first);
    assert_int_equal(read(first.from, &byte, 1), 1);
    assert_int_equal(hudi_table_open(context, scene->uri, options, &table, NULL), HUDI_OK);
    const pid_t order = let_commit_later(&first);
    add_rows_of_first(scene);
    if (act(scene, table, options, &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    assert_int_equal(waitpid(order, NULL, 0), order);
    assert_int_equal(wait_for(&first), 0);
    model_table_expect(scene->context, scene->uri, &scene->now, "after both");
    model_table_verify(scene->context, scene->uri, "after both");
    hudi_table_free(table);
    hudi_options_free(options);
    hudi_context_free(context);
}

static void a_write_that_saw_the_first_pending_leaves_what_it_completed(void **state)
{
    see_first_pending_and(*state, deletes);
}

static void a_repair_that_saw_the_first_pending_leaves_what_it_completed(void **state)
{
    see_first_pending_and(*state, repairs);
}

static void a_clustering_that_saw_the_first_pending_leaves_what_it_completed(void **state)
{
    see_first_pending_and(*state, clusters);
}

static void a_clean_that_saw_the_first_pending_leaves_what_it_completed(void **state)
{
    see_first_pending_and(*state, cleans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_second_writer_is_told_and_leaves_the_first_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_second_writer_that_may_wait_builds_on_the_first, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_second_writer_rolls_back_a_first_that_was_killed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_live_write_cannot_be_rolled_back_by_hand, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(two_writes_of_one_process_exclude_each_other_too, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_write_that_saw_the_first_pending_leaves_what_it_completed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_repair_that_saw_the_first_pending_leaves_what_it_completed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_clustering_that_saw_the_first_pending_leaves_what_it_completed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_clean_that_saw_the_first_pending_leaves_what_it_completed,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
