/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation and every file operation of a table service fails once: alone, with all that
 * follow, and as a loss of power that drops what was not synced. Each time the table reads as it
 * did before, and the next run of the service ends where an undisturbed one would.
 *
 *   HUDI_TEST_SEED     where the walk over the points begins
 *   HUDI_TEST_SECONDS  walk over all points, each service and mode for that long at most
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

#define STORE "service-faults"
#define URI "memory:" STORE "/t"
#define SAMPLED_POINTS 6 /* of one service and mode, without HUDI_TEST_SECONDS */
#define N_ROWS 12

enum mode { FAILS_ONCE, FAILS_ON, LOSES_POWER };
static const char *const MODES[] = {"fails", "fails with all that follow", "is a loss of power"};

struct scene {
    struct hd_faults faults;
    hudi_context *context;
    struct model_rows now;
    int64_t next_value;
    char target[24]; /* of savepoint and restore */
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

static void set(hudi_options *options, const char *key, const char *value)
{
    assert_int_equal(hudi_options_set(options, key, value, NULL), HUDI_OK);
}

static hudi_table *open_table(struct scene *scene, const char *const *pairs, hudi_error **error)
{
    hudi_options *options = NULL;
    hudi_table *table = NULL;

    assert_int_equal(hudi_options_new(&options, NULL), HUDI_OK);
    for (; pairs != NULL && *pairs != NULL; pairs += 2)
        set(options, pairs[0], pairs[1]);
    if (hudi_table_open(scene->context, URI, options, &table, error) != HUDI_OK)
        table = NULL;
    hudi_options_free(options);
    return table;
}

/* A write of rows of the partitions below `n_partitions`; of none, partition p2 is deleted. */
static hudi_status write_rows(struct scene *scene, int64_t n_partitions, const char *const *pairs,
                              hudi_error **error)
{
    hudi_options *const options =
        model_table_options(n_partitions == 0 ? "delete_partition" : "upsert");
    hudi_table *const table = open_table(scene, pairs, error);
    hudi_write *write = NULL;
    struct model_rows rows = {0};
    struct ArrowArrayStream stream;
    hudi_status status = HUDI_IO;

    scene->next_value++;
    for (int64_t i = 0; i < N_ROWS; i++) {
        const struct model_row row =
            model_table_row(i, i % 3, scene->next_value, scene->next_value);
        if (i % 3 < n_partitions)
            model_rows_add(&rows, &row);
    }
    if (n_partitions == 0)
        set(options, "hoodie.datasource.write.partitions.to.delete", "p2");
    if (table != NULL)
        status = hudi_write_begin(table, options, &write, error);
    if (status == HUDI_OK && n_partitions > 0) {
        model_table_input(&rows, &stream);
        status = hudi_write_stream(write, &stream, NULL, error);
    }
    if (status == HUDI_OK) {
        status = hudi_write_commit(write, NULL, error);
        write = NULL;
    }
    hudi_write_abort(write);
    hudi_table_free(table);
    hudi_options_free(options);
    model_rows_clear(&rows);
    return status;
}

static void read_now(struct scene *scene, struct model_rows *out, const char *what)
{
    hudi_error *error = NULL;

    must(model_table_read(scene->context, URI, out, &error), error, what);
}

/* Old versions in two partitions, and one whose files are all of the past. */
static void begin_table(struct scene *scene)
{
    hudi_error *error = NULL;

    hd_memory_drop(STORE);
    model_rows_clear(&scene->now);
    must(model_table_create(scene->context, URI, &error), error, "create");
    for (int i = 0; i < 3; i++)
        must(write_rows(scene, 3, NULL, &error), error, "write");
    must(write_rows(scene, 0, NULL, &error), error, "delete_partition");
    for (int i = 0; i < 2; i++)
        must(write_rows(scene, 2, NULL, &error), error, "write");
    read_now(scene, &scene->now, "the new table");
}

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){0};
    open_context(scene);
}

static void close_scene(struct scene *scene)
{
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

/* ---- cleaning ----------------------------------------------------------------------------- */

static const char *const CLEANS[] = {"hoodie.cleaner.commits.retained", "1", NULL};
static const char *const CLEANS_ALL[] = {"hoodie.cleaner.commits.retained", "1",
                                         "hoodie.cleaner.incremental.mode", "false", NULL};

static hudi_status run_clean(struct scene *scene, hudi_error **error)
{
    hudi_table *const table = open_table(scene, CLEANS, error);
    const hudi_status status =
        table == NULL ? HUDI_IO : hudi_clean(table, HUDI_CLEAN_PLAN_AND_RUN, NULL, NULL, error);

    hudi_table_free(table);
    return status;
}

static size_t count_cleans(struct scene *scene, hudi_clean_step step, const char *what)
{
    hudi_error *error = NULL;
    hudi_table *const table = open_table(scene, CLEANS_ALL, &error);
    hudi_cleaning *cleaning = NULL;

    assert_non_null(table);
    must(hudi_clean(table, step, NULL, &cleaning, &error), error, what);
    const size_t n = hudi_cleaning_length(cleaning);
    hudi_cleaning_free(cleaning);
    hudi_table_free(table);
    return n;
}

static bool has_folder(const char *path)
{
    struct hd_op op;
    hd_file_system *fs;
    struct hd_file_info info;

    hd_op_init(&op);
    assert_int_equal(hd_memory_file_system_open(&op, STORE, &fs), HUDI_OK);
    const bool found = hd_fs_stat(&op, fs, path, &info) == HUDI_OK;
    hd_fs_free(fs);
    hd_op_clear(&op);
    return found;
}

static void expect_clean(struct scene *scene, const char *what)
{
    if (count_cleans(scene, HUDI_CLEAN_PENDING, what) != 0)
        fail_msg("%s: a clean is still pending", what);
    if (count_cleans(scene, HUDI_CLEAN_DRY_RUN, what) != 0)
        fail_msg("%s: there are files left to clean", what);
    if (has_folder("/t/p2"))
        fail_msg("%s: the empty partition is still there", what);
}

/* A write after which a clean follows: that one's failure is not the write's. */
static hudi_status run_write(struct scene *scene, hudi_error **error)
{
    return write_rows(scene, 2, CLEANS, error);
}

/* ---- archiving ---------------------------------------------------------------------------- */

static const char *const ARCHIVES[] = {"hoodie.keep.min.commits", "3", "hoodie.keep.max.commits",
                                       "4", NULL};

static hudi_status archive(struct scene *scene, int dry_run, size_t *n_instants, hudi_error **error)
{
    hudi_table *const table = open_table(scene, ARCHIVES, error);
    hudi_archiving *archiving = NULL;
    const hudi_status status =
        table == NULL ? HUDI_IO : hudi_archive(table, dry_run, NULL, &archiving, error);

    if (status == HUDI_OK && n_instants != NULL)
        *n_instants = hudi_archiving_instants(archiving);
    hudi_archiving_free(archiving);
    hudi_table_free(table);
    return status;
}

/* The replaced files of partition p2 must be gone first. */
static hudi_status run_archive(struct scene *scene, hudi_error **error)
{
    const hudi_status status = run_clean(scene, error);

    return status == HUDI_OK ? archive(scene, 0, NULL, error) : status;
}

/* Every instant is in the archive or on the timeline, whichever and both. */
static void expect_archived(struct scene *scene, const char *what)
{
    hudi_error *error = NULL;
    hudi_table *const table = open_table(scene, NULL, &error);
    hudi_timeline *archived = NULL;
    size_t n_left = 1, n_writes = 0;

    assert_non_null(table);
    must(archive(scene, 1, &n_left, &error), error, what);
    if (n_left != 0)
        fail_msg("%s: there is something left to archive", what);
    must(hudi_table_archived_timeline(table, &archived, &error), error, what);
    for (size_t i = 0; i < hudi_timeline_length(archived); i++) {
        const hudi_instant *const instant = hudi_timeline_at(archived, i);

        n_writes += strcmp(hudi_instant_state(instant), "COMPLETED") == 0 &&
                    strcmp(hudi_instant_action(instant), "clean") != 0;
    }
    if (n_writes != 3) /* of six */
        fail_msg("%s: %zu writes are in the archive", what, n_writes);
    hudi_timeline_free(archived);
    hudi_table_free(table);
}

/* ---- savepoint and restore ------------------------------------------------------------------ */

static const char *const KEEPS[] = {"hoodie.clean.automatic", "false", NULL};

/* The newest write of the timeline. */
static void newest_write(hudi_table *table, char out[24])
{
    const hudi_timeline *const timeline = hudi_table_timeline(table);

    for (size_t i = 0; i < hudi_timeline_length(timeline); i++) {
        const char *const action = hudi_instant_action(hudi_timeline_at(timeline, i));

        if (strcmp(action, "commit") == 0 || strcmp(action, "replacecommit") == 0)
            snprintf(out, 24, "%s", hudi_instant_time(hudi_timeline_at(timeline, i)));
    }
}

/* Before the faults: three more writes, which a restore is to undo. */
static void prepare_restore(struct scene *scene)
{
    hudi_error *error = NULL;
    hudi_table *const table = open_table(scene, NULL, &error);

    assert_non_null(table);
    newest_write(table, scene->target);
    must(hudi_savepoint(table, scene->target, NULL, &error), error, "savepoint");
    hudi_table_free(table);
    must(write_rows(scene, 2, KEEPS, &error), error, "write");
    must(write_rows(scene, 0, KEEPS, &error), error, "delete_partition");
    must(write_rows(scene, 3, KEEPS, &error), error, "write");
}

static hudi_status run_restore(struct scene *scene, hudi_error **error)
{
    hudi_table *const table = open_table(scene, NULL, error);
    const hudi_status status =
        table == NULL ? HUDI_IO : hudi_restore(table, scene->target, NULL, NULL, error);

    hudi_table_free(table);
    return status;
}

static void expect_restored(struct scene *scene, const char *what)
{
    hudi_error *error = NULL;
    hudi_table *const table = open_table(scene, NULL, &error);
    char newest[24] = "";

    assert_non_null(table);
    newest_write(table, newest);
    if (strcmp(newest, scene->target) != 0)
        fail_msg("%s: the newest write is %s, not %s", what, newest, scene->target);
    const hudi_timeline *const timeline = hudi_table_timeline(table);
    for (size_t i = 0; i < hudi_timeline_length(timeline); i++)
        if (strcmp(hudi_instant_state(hudi_timeline_at(timeline, i)), "COMPLETED") != 0)
            fail_msg("%s: %s %s is not completed", what,
                     hudi_instant_action(hudi_timeline_at(timeline, i)),
                     hudi_instant_time(hudi_timeline_at(timeline, i)));
    hudi_table_free(table);
    must(write_rows(scene, 2, NULL, &error), error, what);
}

static hudi_status run_savepoint(struct scene *scene, hudi_error **error)
{
    hudi_table *const table = open_table(scene, NULL, error);
    hudi_status status = HUDI_IO;

    if (table != NULL) {
        newest_write(table, scene->target);
        status = hudi_savepoint(table, scene->target, NULL, error);
    }
    if (status == HUDI_EXISTS) { /* the first try had made it before it failed */
        hudi_error_free(*error);
        *error = NULL;
        status = HUDI_OK;
    }
    hudi_table_free(table);
    return status;
}

static void expect_savepoint(struct scene *scene, const char *what)
{
    hudi_error *error = NULL;
    hudi_table *const table = open_table(scene, NULL, &error);

    assert_non_null(table);
    must(hudi_savepoint_delete(table, scene->target, &error), error, what);
    hudi_table_free(table);
}

/* ---- services ----------------------------------------------------------------------------- */

struct service {
    const char *name;
    hudi_status (*run)(struct scene *scene, hudi_error **error);
    void (*expect)(struct scene *scene, const char *what);
    bool writes;                          /* the rows change */
    void (*prepare)(struct scene *scene); /* after the table was made; may be NULL */
};

static const struct service SERVICES[] = {
    {"clean", run_clean, expect_clean, false, NULL},
    {"write and clean", run_write, expect_clean, true, NULL},
    {"clean and archive", run_archive, expect_archived, false, NULL},
    {"savepoint", run_savepoint, expect_savepoint, false, NULL},
    {"restore", run_restore, expect_restored, true, prepare_restore},
};
#define N_SERVICES (sizeof SERVICES / sizeof *SERVICES)

static void expect_rows(struct scene *scene, const struct service *service, const char *what)
{
    struct model_rows found;

    if (service->writes)
        return; /* before or after: write_fault_test.c */
    read_now(scene, &found, what);
    if (!model_table_same(&found, &scene->now))
        fail_msg("%s: the rows have changed", what);
    model_rows_clear(&found);
}

/* A restore's rows are those of before the preparation. */
static void expect_before(struct scene *scene, const char *what)
{
    struct model_rows found;

    read_now(scene, &found, what);
    if (!model_table_same(&found, &scene->now))
        fail_msg("%s: the rows are not those of the savepoint", what);
    model_rows_clear(&found);
}

static void run_point(struct scene *scene, const struct service *service, int64_t nth,
                      enum mode mode)
{
    hudi_error *error = NULL;
    char what[200];

    begin_table(scene);
    if (service->prepare != NULL)
        service->prepare(scene);
    arm(scene, nth, mode != FAILS_ONCE);
    const hudi_status status = service->run(scene, &error);
    const bool fired = atomic_load(&scene->faults.fired);
    disarm(scene);
    snprintf(what, sizeof what, "%s, point %" PRId64 " %s (%s)", service->name, nth, MODES[mode],
             error == NULL ? hudi_status_name(status) : hudi_error_message(error));
    if (status == HUDI_OK && error != NULL)
        fail_msg("%s: an error without failure", what);
    if (status != HUDI_OK && !fired)
        fail_msg("%s: failed of itself", what);
    hudi_error_free(error);
    error = NULL;
    if (mode == LOSES_POWER)
        lose_power(scene);
    expect_rows(scene, service, what);
    must(service->run(scene, &error), error, what);
    expect_rows(scene, service, what);
    if (service->prepare != NULL)
        expect_before(scene, what);
    service->expect(scene, what);
    model_table_verify(scene->context, URI, what);
}

static int64_t count_points(struct scene *scene, const struct service *service)
{
    const int64_t many = INT64_C(1) << 40;
    hudi_error *error = NULL;

    begin_table(scene);
    if (service->prepare != NULL)
        service->prepare(scene);
    arm(scene, many, false);
    must(service->run(scene, &error), error, service->name);
    const int64_t n = many - 1 - atomic_load(&scene->faults.left);
    disarm(scene);
    service->expect(scene, service->name);
    return n;
}

static void walk(const struct service *service, enum mode mode)
{
    const int64_t seconds = setting("HUDI_TEST_SECONDS", 0);
    const uint64_t seed = (uint64_t)setting("HUDI_TEST_SEED", 1);
    const time_t end = time(NULL) + seconds;
    struct scene scene;
    int64_t n_run = 0, nth;

    open_scene(&scene);
    const int64_t n_points = count_points(&scene, service);
    int64_t step = n_points / SAMPLED_POINTS + 1;
    while (step > 1 && n_points % step == 0)
        step++;
    nth = (int64_t)(seed * 7919 % (uint64_t)step);
    for (; seconds > 0 ? n_run < n_points && time(NULL) < end : nth < n_points; nth += step) {
        run_point(&scene, service, nth % n_points + 1, mode);
        n_run++;
    }
    print_message("%s: %" PRId64 " of %" PRId64 " points, each %s\n", service->name, n_run,
                  n_points, MODES[mode]);
    close_scene(&scene);
}

static void a_service_survives_any_single_fault(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SERVICES; i++)
        walk(&SERVICES[i], FAILS_ONCE);
}

static void a_service_survives_a_fault_after_which_nothing_works(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SERVICES; i++)
        walk(&SERVICES[i], FAILS_ON);
}

static void a_service_survives_a_loss_of_power(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SERVICES; i++)
        walk(&SERVICES[i], LOSES_POWER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_survives_any_single_fault),
        cmocka_unit_test(a_service_survives_a_fault_after_which_nothing_works),
        cmocka_unit_test(a_service_survives_a_loss_of_power),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
