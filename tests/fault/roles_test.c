/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three roles of a write as processes that share nothing but files of bytes: a coordinator (the
 * test), a tagger, and writer tasks. Tasks are killed and tried again, a status is lost and another
 * delivered twice; what is committed equals the list of rows, with no file and no row too many.
 *
 * The program runs itself: `roles_test tag FOLDER`, `roles_test task FOLDER NUMBER ATTEMPT [NTH]`.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/api.h"
#include "support/folder.h"
#include "support/model_table.h"
#include "support/setting.h"

#define N_TASKS 3
#define PATH_BYTES 128

static char program[4096];

/* ---- files of bytes ----------------------------------------------------------------------- */

static void path_of(char out[PATH_BYTES], const char *folder, const char *name, int number)
{
    if (number < 0)
        snprintf(out, PATH_BYTES, "%s/%s", folder, name);
    else
        snprintf(out, PATH_BYTES, "%s/%s-%d", folder, name, number);
}

static void put_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *const file = fopen(path, "wb");

    if (file == NULL || fwrite(bytes, 1, n, file) != n || fclose(file) != 0)
        abort();
}

static void *get_bytes(const char *path, size_t *n)
{
    FILE *const file = fopen(path, "rb");
    struct stat info;

    if (file == NULL || fstat(fileno(file), &info) != 0)
        abort();
    char *const bytes = calloc(1, (size_t)info.st_size + 1);
    *n = fread(bytes, 1, (size_t)info.st_size, file);
    fclose(file);
    return bytes;
}

/* Rows as lines "id p ts a", which is what the processes of this test agree on. */
static void put_rows(const char *path, const struct model_rows *rows)
{
    FILE *const file = fopen(path, "w");

    if (file == NULL)
        abort();
    for (size_t i = 0; i < rows->n; i++) {
        const int64_t *const v = rows->rows[i].value;
        fprintf(file, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", v[MODEL_ID], v[MODEL_P],
                v[MODEL_TS], v[MODEL_A]);
    }
    if (fclose(file) != 0)
        abort();
}

static void get_rows(const char *path, struct model_rows *out)
{
    FILE *const file = fopen(path, "r");
    int64_t id, p, ts, a;

    *out = (struct model_rows){0};
    if (file == NULL)
        abort();
    while (fscanf(file, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &id, &p, &ts, &a) == 4) {
        const struct model_row row = model_table_row(id, p, ts, a);
        model_rows_add(out, &row);
    }
    fclose(file);
}

/* ---- the other processes ------------------------------------------------------------------ */

/* No clearing up: that a process ends here is what some tests want. */
static _Noreturn void die(const char *what, hudi_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error == NULL ? "" : hudi_error_message(error));
    _exit(1);
}

/* Rows of "input" to "input-0", "input-1", ... */
static int be_tagger(const char *folder)
{
    hudi_context *const context = model_table_context("1");
    hudi_tagger *tagger = NULL;
    hudi_error *error = NULL;
    struct model_rows rows, parts[N_TASKS] = {{0}};
    struct ArrowSchema schema;
    struct ArrowArray batch;
    char path[PATH_BYTES];
    size_t n;

    path_of(path, folder, "description", -1);
    void *const description = get_bytes(path, &n);
    if (hudi_tagger_new(context, description, n, N_TASKS, &tagger, &error) != HUDI_OK)
        die("tagger", error);
    path_of(path, folder, "input", -1);
    get_rows(path, &rows);
    uint32_t *const tasks = calloc(rows.n + 1, sizeof *tasks);
    model_table_batch(&rows, &schema, &batch);
    if (hudi_tagger_tag(tagger, &schema, &batch, tasks, &error) != HUDI_OK)
        die("tag", error);
    for (size_t i = 0; i < rows.n; i++) {
        if (tasks[i] >= N_TASKS)
            die("a task that does not exist", NULL);
        model_rows_add(&parts[tasks[i]], &rows.rows[i]);
    }
    for (int task = 0; task < N_TASKS; task++) {
        path_of(path, folder, "input", task);
        put_rows(path, &parts[task]);
        model_rows_clear(&parts[task]);
    }
    batch.release(&batch);
    schema.release(&schema);
    free(tasks);
    free(description);
    model_rows_clear(&rows);
    hudi_tagger_free(tagger);
    hudi_context_free(context);
    return 0;
}

/* "input-N" to "status-N"; killed at file operation `nth` unless that is 0. */
static int be_task(const char *folder, int number, uint64_t attempt, int64_t nth)
{
    hudi_context *const context = model_table_context("2");
    struct hd_faults faults = {.left = nth - 1, .files_only = true, .kills = true};
    hudi_write_task *task = NULL;
    hudi_error *error = NULL;
    struct model_rows rows;
    struct ArrowArrayStream stream;
    char path[PATH_BYTES];
    void *status = NULL;
    size_t n;

    context->faults = nth > 0 ? &faults : NULL;
    path_of(path, folder, "description", -1);
    void *const description = get_bytes(path, &n);
    if (hudi_write_task_open(context, description, n, (uint32_t)number, N_TASKS, attempt, &task,
                             &error) != HUDI_OK)
        die("task", error);
    path_of(path, folder, "input", number);
    get_rows(path, &rows);
    model_table_input(&rows, &stream);
    if (hudi_write_task_stream(task, &stream, NULL, &error) != HUDI_OK)
        die("rows of a task", error);
    if (hudi_write_task_close(task, &status, &n, &error) != HUDI_OK)
        die("close of a task", error);
    path_of(path, folder, "status", number);
    put_bytes(path, status, n);
    hudi_bytes_free(status);
    free(description);
    model_rows_clear(&rows);
    hudi_context_free(context);
    return 0;
}

/* Run this program with arguments. @return the wait status */
static int run(const char *role, const char *folder, int number, uint64_t attempt, int64_t nth)
{
    char numbers[3][24];
    int how;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        snprintf(numbers[0], 24, "%d", number);
        snprintf(numbers[1], 24, "%" PRIu64, attempt);
        snprintf(numbers[2], 24, "%" PRId64, nth);
        execl(program, program, role, folder, numbers[0], numbers[1], numbers[2], (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    return how;
}

static void must_run(const char *role, const char *folder, int number, uint64_t attempt)
{
    if (run(role, folder, number, attempt, 0) != 0)
        fail_msg("%s %d, attempt %" PRIu64 " failed", role, number, attempt);
}

/* ---- the coordinator ---------------------------------------------------------------------- */

struct scene {
    char folder[TEST_FOLDER_BYTES];
    char uri[TEST_FOLDER_BYTES + 4];
    struct model_rules rules;
    const char *index;
    hudi_context *context;
    struct model_rows now;
    int64_t next_id, next_value;
};

static void open_scene_of(struct scene *scene, bool global, const char *key, const char *value)
{
    hudi_error *error = NULL;

    *scene = (struct scene){.rules = model_table_rules};
    scene->rules.global = global;
    scene->index = global ? "GLOBAL_SIMPLE" : "BLOOM";
    test_folder_make(scene->folder);
    snprintf(scene->uri, sizeof scene->uri, "%s/t", scene->folder);
    scene->context = model_table_context("1");
    if (model_table_create_with(scene->context, scene->uri, key, value, &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
}

static void open_scene(struct scene *scene, bool global)
{
    open_scene_of(scene, global, NULL, NULL);
}

static void close_scene(struct scene *scene)
{
    model_rows_clear(&scene->now);
    hudi_context_free(scene->context);
    test_folder_remove(scene->folder);
}

static hudi_options *options_of(const struct scene *scene, const char *operation)
{
    hudi_options *const options = model_table_options(operation);

    assert_int_equal(hudi_options_set(options, "hoodie.index.type", scene->index, NULL), HUDI_OK);
    /* Many small file groups: every task has some of its own. */
    assert_int_equal(hudi_options_set(options, "hoodie.parquet.max.file.size", "9000", NULL),
                     HUDI_OK);
    assert_int_equal(hudi_options_set(options, "hoodie.parquet.small.file.limit", "8000", NULL),
                     HUDI_OK);
    assert_int_equal(
        hudi_options_set(options, "hoodie.copyonwrite.record.size.estimate", "60", NULL), HUDI_OK);
    return options;
}

static void deliver(hudi_write *write, const struct scene *scene, int task)
{
    hudi_error *error = NULL;
    char path[PATH_BYTES];
    size_t n;

    path_of(path, scene->folder, "status", task);
    void *const status = get_bytes(path, &n);
    if (hudi_write_add_status(write, status, n, &error) != HUDI_OK)
        fail_msg("a status: %s", hudi_error_message(error));
    free(status);
}

/* Task 0 is killed at operation `nth` and tried again with a higher attempt; task 1 is done, its
 * status is lost, and it is done again; task 2's status is delivered twice. Any order. */
static void run_tasks(const struct scene *scene, hudi_write *write, int64_t nth)
{
    const int how = run("task", scene->folder, 0, 0, nth);

    if (how != 0 && !(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL))
        fail_msg("the task to be killed ended with wait status %d", how);
    must_run("task", scene->folder, 2, 0);
    deliver(write, scene, 2);
    must_run("task", scene->folder, 1, 0);
    must_run("task", scene->folder, 0, 1);
    deliver(write, scene, 2);
    must_run("task", scene->folder, 1, 1);
    if (nth % 2 == 0) {
        deliver(write, scene, 1);
        deliver(write, scene, 0);
    } else {
        deliver(write, scene, 0);
        deliver(write, scene, 1);
    }
}

static void apply(struct scene *scene, const char *operation, const struct model_rows *rows)
{
    if (strcmp(operation, "upsert") == 0)
        model_upsert(&scene->rules, &scene->now, rows, 0);
    else if (strcmp(operation, "delete") == 0)
        model_delete(&scene->rules, &scene->now, rows);
    else if (strncmp(operation, "insert_overwrite", 16) == 0)
        model_overwrite(&scene->rules, &scene->now, rows,
                        strcmp(operation, "insert_overwrite_table") == 0, 0);
    else
        model_insert(&scene->rules, &scene->now, rows, 0);
}

/* Begin, tag, tasks; then commit, or let the write go. */
static void write_in_roles(struct scene *scene, const char *operation,
                           const struct model_rows *rows, int64_t nth)
{
    hudi_options *const options = options_of(scene, operation);
    hudi_error *error = NULL;
    hudi_table *table = NULL;
    hudi_write *write = NULL;
    void *description = NULL;
    char path[PATH_BYTES], what[64];
    size_t n = 0;

    assert_int_equal(hudi_table_open(scene->context, scene->uri, NULL, &table, NULL), HUDI_OK);
    if (hudi_write_begin(table, options, &write, &error) != HUDI_OK ||
        hudi_write_task_description(write, &description, &n, &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    path_of(path, scene->folder, "description", -1);
    put_bytes(path, description, n);
    hudi_bytes_free(description);
    path_of(path, scene->folder, "input", -1);
    put_rows(path, rows);
    must_run("tag", scene->folder, 0, 0);
    run_tasks(scene, write, nth);
    if (hudi_write_commit(write, NULL, &error) != HUDI_OK)
        fail_msg("%s: %s", operation, hudi_error_message(error));
    hudi_table_free(table);
    hudi_options_free(options);
    apply(scene, operation, rows);
    snprintf(what, sizeof what, "%s, first task killed at %" PRId64, operation, nth);
    model_table_expect(scene->context, scene->uri, &scene->now, what);
    model_table_verify(scene->context, scene->uri, what);
}

/* Rows for an operation: known keys (twice, some of them) and new ones. */
static void rows_for(struct scene *scene, const char *operation, size_t n, struct model_rows *out)
{
    const bool fresh = operation[0] == 'i' || operation[0] == 'b';

    *out = (struct model_rows){0};
    scene->next_value++;
    for (size_t i = 0; i < n; i++) {
        const bool is_new = fresh || scene->now.n == 0 || i % 4 == 3;
        const int64_t known =
            scene->now.n == 0 ? 0 : scene->now.rows[(i * 7) % scene->now.n].value[MODEL_ID];
        const int64_t id = is_new ? scene->next_id++ : known;
        /* With a global index some records move. */
        const int64_t p = scene->rules.global && i % 5 == 0 ? (id + 1) % 3 : id % 3;
        const struct model_row row =
            model_table_row(id, p, scene->next_value, scene->next_value * 1000 + (int64_t)i);
        model_rows_add(out, &row);
    }
}

static void run_operations(bool global, bool logged)
{
    static const char *const OPERATIONS[] = {
        "upsert", "upsert", "insert",           "delete", "bulk_insert",
        "upsert", "delete", "insert_overwrite", "upsert", "insert_overwrite_table"};
    struct scene scene;
    struct model_rows rows;

    open_scene_of(&scene, global, logged ? "hoodie.table.type" : NULL, "MERGE_ON_READ");
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof *OPERATIONS; i++) {
        rows_for(&scene, OPERATIONS[i], 180, &rows);
        write_in_roles(&scene, OPERATIONS[i], &rows, 3 + (int64_t)i * 9);
        model_rows_clear(&rows);
    }
    close_scene(&scene);
}

static void operations_in_three_roles_write_what_one_process_would(void **state)
{
    (void)state;
    run_operations(false, false);
    run_operations(false, true);
}

static void records_move_between_partitions_in_three_roles_too(void **state)
{
    (void)state;
    run_operations(true, false);
    run_operations(true, true);
}

static void a_task_may_be_killed_at_any_of_its_file_operations(void **state)
{
    const int64_t seconds = test_seconds(1);
    const time_t end = time(NULL) + seconds;
    struct scene scene;
    struct model_rows rows;

    (void)state;
    open_scene(&scene, false);
    for (int64_t i = 0; seconds == 0 ? i < 120 / 17 : i < 120 && time(NULL) < end; i++) {
        const int64_t nth = 1 + i * 17 % 120;

        rows_for(&scene, "upsert", 60, &rows);
        write_in_roles(&scene, "upsert", &rows, nth);
        model_rows_clear(&rows);
    }
    close_scene(&scene);
}

/* Each file of changes is one that a commit names: those of the attempts that did not count went.
 */
static void files_of_changes_of_lost_attempts_go(void **state)
{
    struct scene scene;
    struct model_rows rows;
    char command[512];

    (void)state;
    open_scene_of(&scene, false, "hoodie.table.cdc.enabled", "true");
    for (int64_t nth = 1; nth < 120; nth += 23) {
        rows_for(&scene, "upsert", 60, &rows);
        write_in_roles(&scene, "upsert", &rows, nth);
        model_rows_clear(&rows);
    }
    snprintf(command, sizeof command,
             "cd %s/t && test $(find . -name '*.cdc' | wc -l) -gt 3 && "
             "for f in $(find . -name '*.cdc' -printf '%%f\\n'); do "
             "grep -q -- \"$f\" .hoodie/*.commit || { echo $f; exit 1; }; done",
             scene.folder);
    assert_int_equal(system(command), 0);
    close_scene(&scene);
}

/* Each log file is one that a commit names, and nothing temporary is left. */
static void log_files_of_lost_attempts_go(void **state)
{
    struct scene scene;
    struct model_rows rows;
    char command[512];

    (void)state;
    open_scene_of(&scene, false, "hoodie.table.type", "MERGE_ON_READ");
    for (int64_t nth = 1; nth < 120; nth += 11) {
        rows_for(&scene, "upsert", 60, &rows);
        write_in_roles(&scene, "upsert", &rows, nth);
        model_rows_clear(&rows);
    }
    snprintf(command, sizeof command,
             "cd %s/t && test $(find . -name '.*.log.*' | wc -l) -gt 3 && "
             "test -z \"$(find p* -name '.tmp-*')\" && "
             "for f in $(find p* -name '.*.log.*' -printf '%%f\\n'); do "
             "grep -q -- \"$f\" .hoodie/*.deltacommit || { echo $f; exit 1; }; done",
             scene.folder);
    assert_int_equal(system(command), 0);
    close_scene(&scene);
}

static void an_old_attempt_that_reports_late_does_not_count(void **state)
{
    struct scene scene;
    struct model_rows rows;
    hudi_table *table = NULL;
    hudi_write *write = NULL;
    void *description = NULL, *old_status, *again;
    char path[PATH_BYTES];
    size_t n, n_old;

    (void)state;
    open_scene(&scene, false);
    hudi_options *const options = options_of(&scene, "insert");
    rows_for(&scene, "insert", 100, &rows);
    assert_int_equal(hudi_table_open(scene.context, scene.uri, NULL, &table, NULL), HUDI_OK);
    assert_int_equal(hudi_write_begin(table, options, &write, NULL), HUDI_OK);
    assert_int_equal(hudi_write_task_description(write, &description, &n, NULL), HUDI_OK);
    path_of(path, scene.folder, "description", -1);
    put_bytes(path, description, n);
    hudi_bytes_free(description);
    path_of(path, scene.folder, "input", -1);
    put_rows(path, &rows);
    must_run("tag", scene.folder, 0, 0);
    for (int task = 0; task < N_TASKS; task++)
        must_run("task", scene.folder, task, 4);
    path_of(path, scene.folder, "status", 1);
    old_status = get_bytes(path, &n_old);
    must_run("task", scene.folder, 1, 7);
    for (int task = 0; task < N_TASKS; task++)
        deliver(write, &scene, task);
    assert_int_equal(hudi_write_add_status(write, old_status, n_old, NULL), HUDI_OK);
    again = get_bytes(path, &n);
    assert_int_equal(hudi_write_add_status(write, again, n, NULL), HUDI_OK);
    assert_int_equal(hudi_write_commit(write, NULL, NULL), HUDI_OK);
    apply(&scene, "insert", &rows);
    model_table_expect(scene.context, scene.uri, &scene.now, "late status");
    model_table_verify(scene.context, scene.uri, "late status");

    /* A status of that instant is nothing to the next one. */
    hudi_error *error = NULL;
    assert_int_equal(hudi_write_begin(table, options, &write, NULL), HUDI_OK);
    assert_int_equal(hudi_write_add_status(write, old_status, n_old, &error), HUDI_INVALID);
    assert_non_null(strstr(hudi_error_message(error), "instant"));
    hudi_error_free(error);
    hudi_write_abort(write);
    model_table_expect(scene.context, scene.uri, &scene.now, "foreign status");
    free(old_status);
    free(again);
    model_rows_clear(&rows);
    hudi_options_free(options);
    hudi_table_free(table);
    close_scene(&scene);
}

static void rows_given_to_another_task_are_refused(void **state)
{
    struct scene scene;
    struct model_rows rows;
    hudi_table *table = NULL;
    hudi_write *write = NULL;
    void *description = NULL;
    char path[PATH_BYTES];
    size_t n;
    int n_failed = 0;

    (void)state;
    open_scene(&scene, false);
    rows_for(&scene, "upsert", 100, &rows);
    assert_int_equal(model_table_write(scene.context, scene.uri, "upsert", &rows, NULL), HUDI_OK);
    hudi_options *const options = options_of(&scene, "upsert");
    assert_int_equal(hudi_table_open(scene.context, scene.uri, NULL, &table, NULL), HUDI_OK);
    assert_int_equal(hudi_write_begin(table, options, &write, NULL), HUDI_OK);
    assert_int_equal(hudi_write_task_description(write, &description, &n, NULL), HUDI_OK);
    path_of(path, scene.folder, "description", -1);
    put_bytes(path, description, n);
    hudi_bytes_free(description);
    for (int task = 0; task < N_TASKS; task++) { /* each of them gets all rows */
        path_of(path, scene.folder, "input", task);
        put_rows(path, &rows);
        n_failed += run("task", scene.folder, task, 0, 0) != 0;
    }
    assert_true(n_failed >= N_TASKS - 1);
    hudi_write_abort(write);
    apply(&scene, "upsert", &rows);
    model_table_expect(scene.context, scene.uri, &scene.now, "after wrong tasks");
    model_table_verify(scene.context, scene.uri, "after wrong tasks");
    model_rows_clear(&rows);
    hudi_options_free(options);
    hudi_table_free(table);
    close_scene(&scene);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_in_three_roles_write_what_one_process_would),
        cmocka_unit_test(records_move_between_partitions_in_three_roles_too),
        cmocka_unit_test(a_task_may_be_killed_at_any_of_its_file_operations),
        cmocka_unit_test(files_of_changes_of_lost_attempts_go),
        cmocka_unit_test(log_files_of_lost_attempts_go),
        cmocka_unit_test(an_old_attempt_that_reports_late_does_not_count),
        cmocka_unit_test(rows_given_to_another_task_are_refused),
    };

    if (argc > 2 && strcmp(argv[1], "tag") == 0)
        return be_tagger(argv[2]);
    if (argc > 5 && strcmp(argv[1], "task") == 0)
        return be_task(argv[2], atoi(argv[3]), strtoull(argv[4], NULL, 10),
                       strtoll(argv[5], NULL, 10));
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
