/* SPDX-License-Identifier: Apache-2.0 */
#include "support/service_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/fault_walk.h"

#define N_ROWS 12

/* ---- the table ---------------------------------------------------------------------------- */

static void set(hudi_options *options, const char *key, const char *value)
{
    assert_int_equal(hudi_options_set(options, key, value, NULL), HUDI_OK);
}

static hudi_table *open_table(struct service_scene *scene, const char *const *pairs,
                              hudi_error **error)
{
    hudi_options *options = NULL;
    hudi_table *table = NULL;

    assert_int_equal(hudi_options_new(&options, NULL), HUDI_OK);
    for (; pairs != NULL && *pairs != NULL; pairs += 2)
        set(options, pairs[0], pairs[1]);
    if (hudi_table_open(scene->context, scene->uri, options, &table, error) != HUDI_OK)
        table = NULL;
    hudi_options_free(options);
    return table;
}

static hudi_table *must_open(struct service_scene *scene, const char *what)
{
    hudi_error *error = NULL;
    hudi_table *const table = open_table(scene, NULL, &error);

    fault_must(table == NULL ? HUDI_IO : HUDI_OK, error, what);
    return table;
}

/* A write of rows of the partitions below `n_partitions`; of none, partition p2 is deleted. */
static hudi_status write_rows(struct service_scene *scene, int64_t n_partitions,
                              const char *const *pairs, hudi_error **error)
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

static const char *const KEEPS[] = {"hoodie.clean.automatic", "false", NULL};

static void must_write(struct service_scene *scene, int64_t n_partitions)
{
    hudi_error *error = NULL;

    fault_must(write_rows(scene, n_partitions, KEEPS, &error), error, "write");
}

static void read_rows(struct service_scene *scene, struct model_rows *out, const char *what)
{
    hudi_error *error = NULL;

    fault_must(model_table_read(scene->context, scene->uri, out, &error), error, what);
}

/* What the table holds now is what is there when the service is done. */
static void note_after(struct service_scene *scene)
{
    model_rows_clear(&scene->after);
    read_rows(scene, &scene->after, "the new table");
}

/* Old versions in two partitions, and one whose files are all of the past. */
void service_scene_begin(struct service_scene *scene, const struct test_service *service)
{
    hudi_error *error = NULL;

    fault_must((service->logged ? model_table_create_logged
                                : model_table_create)(scene->context, scene->uri, &error),
               error, "create");
    for (int i = 0; i < 3; i++)
        fault_must(write_rows(scene, 3, NULL, &error), error, "write");
    fault_must(write_rows(scene, 0, NULL, &error), error, "delete_partition");
    for (int i = 0; i < 2; i++)
        fault_must(write_rows(scene, 2, NULL, &error), error, "write");
    note_after(scene);
    if (service->prepare != NULL)
        service->prepare(scene);
    model_rows_clear(&scene->before);
    read_rows(scene, &scene->before, "the table before the service");
}

void service_scene_clear(struct service_scene *scene)
{
    model_rows_clear(&scene->before);
    model_rows_clear(&scene->after);
}

void service_scene_expect_rows(struct service_scene *scene, const struct test_service *service,
                               bool done, const char *what)
{
    struct model_rows found;

    if (service->writes || (service->by_steps && !done))
        return;
    read_rows(scene, &found, what);
    if (!model_table_same(&found, &scene->after) &&
        (done || !model_table_same(&found, &scene->before)))
        fail_msg("%s: the table has %zu rows, before %zu, after %zu", what, found.n,
                 scene->before.n, scene->after.n);
    model_rows_clear(&found);
}

/* ---- cleaning ----------------------------------------------------------------------------- */

static const char *const CLEANS[] = {"hoodie.cleaner.commits.retained", "1", NULL};
static const char *const CLEANS_ALL[] = {"hoodie.cleaner.commits.retained", "1",
                                         "hoodie.cleaner.incremental.mode", "false", NULL};

static hudi_status run_clean(struct service_scene *scene, hudi_error **error)
{
    hudi_table *const table = open_table(scene, CLEANS, error);
    const hudi_status status =
        table == NULL ? HUDI_IO : hudi_clean(table, HUDI_CLEAN_PLAN_AND_RUN, NULL, NULL, error);

    hudi_table_free(table);
    return status;
}

static size_t count_cleans(struct service_scene *scene, hudi_clean_step step, const char *what)
{
    hudi_error *error = NULL;
    hudi_table *const table = open_table(scene, CLEANS_ALL, &error);
    hudi_cleaning *cleaning = NULL;

    assert_non_null(table);
    fault_must(hudi_clean(table, step, NULL, &cleaning, &error), error, what);
    const size_t n = hudi_cleaning_length(cleaning);
    hudi_cleaning_free(cleaning);
    hudi_table_free(table);
    return n;
}

static bool has_partition(struct service_scene *scene, const char *partition)
{
    struct hd_op op;
    hd_file_system *fs = NULL;
    struct hd_file_info info;
    char *root = NULL, *path = NULL;

    hd_op_init(&op);
    assert_int_equal(hd_fs_open(&op, scene->uri, &fs, &root), HUDI_OK);
    assert_int_equal(hd_path_join(&op, root, partition, &path), HUDI_OK);
    const bool found = hd_fs_stat(&op, fs, path, &info) == HUDI_OK;
    hd_free(&op, path);
    hd_free(&op, root);
    hd_fs_free(fs);
    hd_op_clear(&op);
    return found;
}

static void expect_clean(struct service_scene *scene, const char *what)
{
    if (count_cleans(scene, HUDI_CLEAN_PENDING, what) != 0)
        fail_msg("%s: a clean is still pending", what);
    if (count_cleans(scene, HUDI_CLEAN_DRY_RUN, what) != 0)
        fail_msg("%s: there are files left to clean", what);
    if (has_partition(scene, "p2"))
        fail_msg("%s: the empty partition is still there", what);
}

/* A write after which a clean follows: that one's failure is not the write's. */
static hudi_status run_write(struct service_scene *scene, hudi_error **error)
{
    return write_rows(scene, 2, CLEANS, error);
}

/* ---- archiving ---------------------------------------------------------------------------- */

static const char *const ARCHIVES[] = {"hoodie.keep.min.commits", "3", "hoodie.keep.max.commits",
                                       "4", NULL};

static hudi_status archive(struct service_scene *scene, int dry_run, size_t *n_instants,
                           hudi_error **error)
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
static hudi_status run_archive(struct service_scene *scene, hudi_error **error)
{
    const hudi_status status = run_clean(scene, error);

    return status == HUDI_OK ? archive(scene, 0, NULL, error) : status;
}

/* Every instant is in the archive or on the timeline, whichever and both. */
static void expect_archived(struct service_scene *scene, const char *what)
{
    hudi_error *error = NULL;
    hudi_table *const table = must_open(scene, what);
    hudi_timeline *archived = NULL;
    size_t n_left = 1, n_writes = 0;

    fault_must(archive(scene, 1, &n_left, &error), error, what);
    if (n_left != 0)
        fail_msg("%s: there is something left to archive", what);
    fault_must(hudi_table_archived_timeline(table, &archived, &error), error, what);
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

static bool is_write(const hudi_instant *instant)
{
    const char *const action = hudi_instant_action(instant);

    return strcmp(action, "commit") == 0 || strcmp(action, "deltacommit") == 0 ||
           strcmp(action, "replacecommit") == 0;
}

/* The newest write, compaction or clustering of the timeline, of whichever state. */
static void newest_write_of(const hudi_table *table, char out[24])
{
    const hudi_timeline *const timeline = hudi_table_timeline(table);

    out[0] = '\0';
    for (size_t i = 0; i < hudi_timeline_length(timeline); i++)
        if (is_write(hudi_timeline_at(timeline, i)))
            snprintf(out, 24, "%s", hudi_instant_time(hudi_timeline_at(timeline, i)));
}

static void newest_write(struct service_scene *scene, char out[24])
{
    hudi_table *const table = must_open(scene, "the newest write");

    newest_write_of(table, out);
    hudi_table_free(table);
}

static void make_savepoint(struct service_scene *scene)
{
    hudi_error *error = NULL;
    hudi_table *const table = must_open(scene, "savepoint");

    newest_write(scene, scene->target);
    fault_must(hudi_savepoint(table, scene->target, NULL, NULL, &error), error, "savepoint");
    hudi_table_free(table);
}

/* Three more writes, which a restore is to undo. */
static void prepare_restore(struct service_scene *scene)
{
    make_savepoint(scene);
    must_write(scene, 2);
    must_write(scene, 0);
    must_write(scene, 3);
}

static void compact(struct service_scene *scene, hudi_compact_step step)
{
    hudi_error *error = NULL;
    hudi_table *const table = must_open(scene, "compact");

    fault_must(hudi_compact(table, step, NULL, NULL, NULL, &error), error, "compact");
    hudi_table_free(table);
}

static void compact_logs(struct service_scene *scene, hudi_compact_step step)
{
    static const char *const ALWAYS[] = {"hoodie.log.compaction.blocks.threshold", "1", NULL};
    hudi_error *error = NULL;
    hudi_table *const table = open_table(scene, ALWAYS, &error);
    hudi_compaction *done = NULL;

    assert_non_null(table);
    fault_must(hudi_compact_logs(table, step, NULL, NULL, &done, &error), error,
               "compact log files");
    assert_int_equal(hudi_compaction_length(done), 1);
    hudi_compaction_free(done);
    hudi_table_free(table);
}

static void cluster(struct service_scene *scene, hudi_cluster_step step)
{
    static const char *const SORTS[] = {"hoodie.clustering.plan.strategy.sort.columns", "a", NULL};
    hudi_error *error = NULL;
    hudi_table *const table = open_table(scene, SORTS, &error);

    assert_non_null(table);
    fault_must(hudi_cluster(table, step, NULL, NULL, NULL, &error), error, "cluster");
    hudi_table_free(table);
}

/* Log files that were merged with those of the savepoint; a compaction that ran and one that is
 * planned, with log files on the slices of both; and a clustering that is planned, of the partition
 * that came last. */
static void prepare_restore_of_compactions(struct service_scene *scene)
{
    make_savepoint(scene);
    must_write(scene, 2);
    compact_logs(scene, HUDI_COMPACT_PLAN_AND_RUN);
    must_write(scene, 2);
    compact(scene, HUDI_COMPACT_PLAN_AND_RUN);
    must_write(scene, 2);
    compact(scene, HUDI_COMPACT_SCHEDULE);
    must_write(scene, 3);
    cluster(scene, HUDI_CLUSTER_SCHEDULE);
}

static void prepare_restore_of_clustering(struct service_scene *scene)
{
    make_savepoint(scene);
    must_write(scene, 2);
    cluster(scene, HUDI_CLUSTER_PLAN_AND_RUN);
    must_write(scene, 3);
}

static hudi_status run_restore(struct service_scene *scene, hudi_error **error)
{
    hudi_table *const table = open_table(scene, NULL, error);
    const hudi_status status =
        table == NULL ? HUDI_IO : hudi_restore(table, scene->target, NULL, NULL, error);

    hudi_table_free(table);
    return status;
}

/* Nothing is undone: the table after is the one before. */
static void prepare_previews(struct service_scene *scene)
{
    prepare_restore(scene);
    note_after(scene);
}

/* What a restore and a rollback of the newest write would do, and then the savepoint's. */
static hudi_status run_previews(struct service_scene *scene, hudi_error **error)
{
    hudi_table *const table = open_table(scene, NULL, error);
    hudi_preview *previews[3] = {NULL};
    const char *partition;
    char newest[24];
    if (table == NULL)
        return HUDI_IO;
    newest_write_of(table, newest);
    hudi_status status = hudi_restore_preview(table, scene->target, NULL, &previews[0], error);
    if (status == HUDI_OK)
        status = hudi_rollback_preview(table, newest, &previews[1], error);
    if (status == HUDI_OK)
        status = hudi_savepoint_delete_preview(table, scene->target, &previews[2], error);
    if (status == HUDI_OK) {
        assert_int_equal(hudi_preview_length(previews[0]), 3);
        assert_int_equal(hudi_preview_length(previews[1]), 1);
        assert_string_equal(hudi_preview_instant(previews[1], 0), newest);
        assert_true(hudi_preview_files(previews[1], 0) > 0 ||
                    hudi_preview_log_file(previews[1], 0, 0, &partition) != NULL);
        assert_true(hudi_preview_files(previews[2], 0) > 0);
    }
    for (size_t i = 0; i < 3; i++)
        hudi_preview_free(previews[i]);
    hudi_table_free(table);
    return status;
}

/* As prepare_restore() left it. */
static void expect_unchanged(struct service_scene *scene, const char *what)
{
    hudi_error *error = NULL;
    hudi_preview *preview = NULL;
    hudi_table *const table = must_open(scene, what);

    fault_must(hudi_restore_preview(table, scene->target, NULL, &preview, &error), error, what);
    assert_int_equal(hudi_preview_length(preview), 3);
    hudi_preview_free(preview);
    hudi_table_free(table);
}

static void expect_nothing_pending(struct service_scene *scene, const char *what)
{
    hudi_table *const table = must_open(scene, what);
    const hudi_timeline *const timeline = hudi_table_timeline(table);

    for (size_t i = 0; i < hudi_timeline_length(timeline); i++)
        if (strcmp(hudi_instant_state(hudi_timeline_at(timeline, i)), "COMPLETED") != 0)
            fail_msg("%s: %s %s is not completed", what,
                     hudi_instant_action(hudi_timeline_at(timeline, i)),
                     hudi_instant_time(hudi_timeline_at(timeline, i)));
    hudi_table_free(table);
}

static void expect_restored(struct service_scene *scene, const char *what)
{
    hudi_error *error = NULL;
    char newest[24];

    newest_write(scene, newest);
    if (strcmp(newest, scene->target) != 0)
        fail_msg("%s: the newest write is %s, not %s", what, newest, scene->target);
    expect_nothing_pending(scene, what);
    fault_must(write_rows(scene, 2, NULL, &error), error, what);
}

static hudi_status run_savepoint(struct service_scene *scene, hudi_error **error)
{
    hudi_table *const table = open_table(scene, NULL, error);
    hudi_status status =
        table == NULL ? HUDI_IO : hudi_savepoint(table, scene->target, NULL, NULL, error);

    if (status == HUDI_EXISTS) { /* the first try had made it before it failed */
        hudi_error_free(*error);
        *error = NULL;
        status = HUDI_OK;
    }
    hudi_table_free(table);
    return status;
}

static void prepare_savepoint(struct service_scene *scene)
{
    newest_write(scene, scene->target);
}

static void expect_savepoint(struct service_scene *scene, const char *what)
{
    hudi_error *error = NULL;
    hudi_table *const table = must_open(scene, what);

    fault_must(hudi_savepoint_delete(table, scene->target, &error), error, what);
    hudi_table_free(table);
}

static hudi_status run_drop(struct service_scene *scene, hudi_error **error)
{
    hudi_table *const table = open_table(scene, NULL, error);
    hudi_status status =
        table == NULL ? HUDI_IO : hudi_savepoint_delete(table, scene->target, error);

    if (status == HUDI_INVALID) { /* the first try had dropped it */
        hudi_error_free(*error);
        *error = NULL;
        status = HUDI_OK;
    }
    hudi_table_free(table);
    return status;
}

static void expect_dropped(struct service_scene *scene, const char *what)
{
    hudi_table *const table = must_open(scene, what);

    assert_int_equal(hudi_savepoint_delete(table, scene->target, NULL), HUDI_INVALID);
    hudi_table_free(table);
    expect_nothing_pending(scene, what);
}

/* ---- rollback ------------------------------------------------------------------------------- */

static void prepare_rollback(struct service_scene *scene)
{
    must_write(scene, 3);
    newest_write(scene, scene->target);
}

static void prepare_rollback_of_compaction(struct service_scene *scene)
{
    must_write(scene, 2);
    note_after(scene);
    compact(scene, HUDI_COMPACT_PLAN_AND_RUN);
    newest_write(scene, scene->target);
}

static void prepare_rollback_of_log_compaction(struct service_scene *scene)
{
    must_write(scene, 2);
    note_after(scene);
    compact_logs(scene, HUDI_COMPACT_PLAN_AND_RUN);
    newest_write(scene, scene->target);
}

static void prepare_rollback_of_clustering(struct service_scene *scene)
{
    cluster(scene, HUDI_CLUSTER_PLAN_AND_RUN);
    newest_write(scene, scene->target);
}

static bool has_target(struct service_scene *scene)
{
    hudi_table *const table = must_open(scene, "the target");
    const hudi_timeline *const timeline = hudi_table_timeline(table);
    bool found = false;

    for (size_t i = 0; i < hudi_timeline_length(timeline); i++)
        found =
            found || strcmp(hudi_instant_time(hudi_timeline_at(timeline, i)), scene->target) == 0;
    hudi_table_free(table);
    return found;
}

static hudi_status run_rollback(struct service_scene *scene, hudi_error **error)
{
    hudi_table *const table = open_table(scene, NULL, error);
    hudi_status status = table == NULL ? HUDI_IO : hudi_rollback(table, scene->target, error);

    hudi_table_free(table);
    if (status == HUDI_INVALID && !has_target(scene)) { /* the first try had come that far */
        hudi_error_free(*error);
        *error = NULL;
        status = HUDI_OK;
    }
    return status;
}

static void expect_rolled_back(struct service_scene *scene, const char *what)
{
    hudi_error *error = NULL;

    if (has_target(scene))
        fail_msg("%s: %s is still there", what, scene->target);
    expect_nothing_pending(scene, what);
    fault_must(write_rows(scene, 2, NULL, &error), error, what);
}

/* ---- repair --------------------------------------------------------------------------------- */

/* A write that is begun and goes no further, nor is it undone. */
static void prepare_repair(struct service_scene *scene)
{
    struct hd_faults faults = {.left = 40, .sticky = true, .files_only = true};
    struct hd_faults *const own = scene->context->faults;
    hudi_error *error = NULL;

    scene->context->faults = &faults;
    assert_int_not_equal(write_rows(scene, 3, KEEPS, &error), HUDI_OK);
    hudi_error_free(error);
    scene->context->faults = own;
}

static hudi_status repair(struct service_scene *scene, int dry_run, size_t *n, hudi_error **error)
{
    hudi_table *const table = open_table(scene, NULL, error);
    hudi_verification *done = NULL;
    const hudi_status status =
        table == NULL ? HUDI_IO
                      : hudi_repair(table, dry_run, NULL, n == NULL ? NULL : &done, error);

    if (status == HUDI_OK && n != NULL)
        *n = hudi_verification_n_findings(done);
    hudi_verification_free(done);
    hudi_table_free(table);
    return status;
}

static hudi_status run_repair(struct service_scene *scene, hudi_error **error)
{
    return repair(scene, 0, NULL, error);
}

static void expect_repaired(struct service_scene *scene, const char *what)
{
    hudi_error *error = NULL;
    size_t n = 1;

    fault_must(repair(scene, 1, &n, &error), error, what);
    if (n != 0)
        fail_msg("%s: there are %zu things left to repair", what, n);
    expect_nothing_pending(scene, what);
}

/* ---- all ------------------------------------------------------------------------------------ */

const struct test_service test_services[] = {
    {.name = "clean", .run = run_clean, .expect = expect_clean},
    {.name = "write and clean", .writes = true, .run = run_write, .expect = expect_clean},
    {.name = "clean and archive", .run = run_archive, .expect = expect_archived},
    {.name = "savepoint",
     .prepare = prepare_savepoint,
     .run = run_savepoint,
     .expect = expect_savepoint},
    {.name = "dropping a savepoint",
     .prepare = make_savepoint,
     .run = run_drop,
     .expect = expect_dropped},
    {.name = "restore",
     .by_steps = true,
     .prepare = prepare_restore,
     .run = run_restore,
     .expect = expect_restored},
    {.name = "restore over compactions",
     .logged = true,
     .by_steps = true,
     .prepare = prepare_restore_of_compactions,
     .run = run_restore,
     .expect = expect_restored},
    {.name = "restore over a clustering",
     .by_steps = true,
     .prepare = prepare_restore_of_clustering,
     .run = run_restore,
     .expect = expect_restored},
    {.name = "previews",
     .prepare = prepare_previews,
     .run = run_previews,
     .expect = expect_unchanged},
    {.name = "previews of log files",
     .logged = true,
     .prepare = prepare_previews,
     .run = run_previews,
     .expect = expect_unchanged},
    {.name = "rollback",
     .prepare = prepare_rollback,
     .run = run_rollback,
     .expect = expect_rolled_back},
    {.name = "rollback of a compaction",
     .logged = true,
     .prepare = prepare_rollback_of_compaction,
     .run = run_rollback,
     .expect = expect_rolled_back},
    {.name = "rollback of a log compaction",
     .logged = true,
     .prepare = prepare_rollback_of_log_compaction,
     .run = run_rollback,
     .expect = expect_rolled_back},
    {.name = "rollback of a clustering",
     .prepare = prepare_rollback_of_clustering,
     .run = run_rollback,
     .expect = expect_rolled_back},
    {.name = "repair", .prepare = prepare_repair, .run = run_repair, .expect = expect_repaired},
};
const size_t n_test_services = sizeof test_services / sizeof *test_services;
