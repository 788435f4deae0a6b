/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/timeline/savepoint_metadata.h"
#include "service/clean_planner.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

/* ---- tables made of names ------------------------------------------------------------------- */

struct scene {
    struct hd_op *op;
    struct test_table made;
    struct hd_table_snapshot table;
    struct hd_options options;
    struct hd_clean_plan plan;
    uint64_t n_bytes;
    bool automatic;
};

static int set_up(void **state)
{
    struct scene *const scene = calloc(1, sizeof *scene);
    void *op;

    assert_non_null(scene);
    assert_int_equal(test_op_setup(&op), 0);
    scene->op = op;
    test_table_open(scene->op, &scene->made, "cleaning", 6, "p");
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *const scene = *state;
    void *op = scene->op;

    hd_clean_plan_clear(&scene->plan);
    hd_options_clear(&scene->options);
    hd_timeline_clear(&scene->table.timeline);
    test_table_close(&scene->made);
    free(scene);
    return test_op_teardown(&op);
}

static void set(struct scene *scene, const char *key, const char *value)
{
    test_must(scene->op, hd_options_set(scene->op, &scene->options, key, value));
}

/* A completed write of `action` with files "p/f_0-1-0_TIME.parquet" for each of "p/f" or, of a
 * group that there was, "p/f<PREV"; "p/f>" takes a group out. Files hold their name. */
static void complete(struct scene *scene, const char *time, const char *action, const char *files)
{
    char stats[2048] = "", replaced[1024] = "", path[256], text[4096], word[128];

    for (int n; sscanf(files, " %127s%n", word, &n) == 1; files += n) {
        char *const slash = strrchr(word, '/'), *prev = strchr(word, '<'), *out = strchr(word, '>');
        char folder[160];

        *slash = '\0';
        snprintf(folder, sizeof folder, "%s/.hoodie_partition_metadata", word);
        test_table_put(&scene->made, folder, "#x\n");
        if (out != NULL) {
            *out = '\0';
            snprintf(replaced + strlen(replaced), sizeof replaced - strlen(replaced),
                     "%s\"%s\":[\"%s\"]", replaced[0] ? "," : "", word, slash + 1);
            continue;
        }
        if (prev != NULL)
            *prev++ = '\0';
        snprintf(path, sizeof path, "%s/%s_0-1-0_%s.parquet", word, slash + 1, time);
        test_table_put(&scene->made, path, path);
        snprintf(stats + strlen(stats), sizeof stats - strlen(stats),
                 "%s\"%s\":[{\"fileId\":\"%s\",\"path\":\"%s\",\"prevCommit\":\"%s\","
                 "\"partitionPath\":\"%s\"}]",
                 stats[0] ? "," : "", word, slash + 1, path, prev == NULL ? "null" : prev, word);
    }
    snprintf(text, sizeof text,
             "{\"partitionToWriteStats\":{%s},\"extraMetadata\":{},\"operationType\":\"UPSERT\","
             "\"partitionToReplaceFileIds\":{%s}}",
             stats, replaced);
    snprintf(path, sizeof path, ".hoodie/%s.%s", time, action);
    test_table_put(&scene->made, path, text);
}

static void commit(struct scene *scene, const char *time, const char *files)
{
    complete(scene, time, "commit", files);
}

static void make_savepoint(struct scene *scene, const char *time, const char *partition,
                           const char *file)
{
    struct hd_savepoint_partition of_partition = {partition, &file, 1};
    const struct hd_savepoint_metadata metadata = {
        .user = "", .comments = "", .partitions = &of_partition, .n_partitions = 1};
    struct hd_str bytes = {0};
    char *path;

    test_must(scene->op, hd_savepoint_metadata_encode(scene->op, &metadata, &bytes));
    test_must(scene->op,
              hd_asprintf(scene->op, &path, "%s/.hoodie/%s.savepoint", scene->made.path, time));
    test_must(scene->op, hd_fs_replace(scene->op, scene->made.fs, path, bytes.data, bytes.size));
    hd_free(scene->op, path);
    hd_str_clear(&bytes);
}

/* A completed clean that retained `earliest`. */
static void cleaned(struct scene *scene, const char *time, const char *earliest,
                    const char *savepoints)
{
    const struct hd_clean_metadata metadata = {.start_time = time,
                                               .earliest_time = earliest,
                                               .last_completed = "",
                                               .policy = "KEEP_LATEST_COMMITS",
                                               .savepoints = savepoints};
    struct hd_str bytes = {0};
    char *path;

    test_must(scene->op,
              hd_clean_metadata_encode(scene->op, &metadata, scene->made.config.version, &bytes));
    test_must(scene->op,
              hd_asprintf(scene->op, &path, "%s/.hoodie/%s.clean", scene->made.path, time));
    test_must(scene->op, hd_fs_replace(scene->op, scene->made.fs, path, bytes.data, bytes.size));
    hd_free(scene->op, path);
    hd_str_clear(&bytes);
}

static void plan(struct scene *scene)
{
    hd_clean_plan_clear(&scene->plan);
    hd_timeline_clear(&scene->table.timeline);
    scene->table.fs = scene->made.fs;
    scene->table.path = scene->made.path;
    scene->table.config = scene->made.config;
    test_must(scene->op, hd_timeline_load(scene->op, scene->table.fs, scene->table.path,
                                          &scene->table.config, &scene->table.timeline));
    test_must(scene->op, hd_clean_plan_make(scene->op, NULL, &scene->table, &scene->options,
                                            scene->automatic, &scene->plan, &scene->n_bytes));
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The plan is exactly these files, "p/name" sorted, and these empty partitions "-p". */
static void expect(struct scene *scene, const char *wanted)
{
    char found[2048] = "";

    plan(scene);
    for (size_t i = 0; i < scene->plan.n_partitions; i++)
        qsort(scene->plan.partitions[i].files, scene->plan.partitions[i].n_files,
              sizeof *scene->plan.partitions[i].files, compare_texts);
    for (size_t i = 0; i < scene->plan.n_partitions; i++)
        for (size_t j = 0; j < scene->plan.partitions[i].n_files; j++)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s/%s",
                     found[0] ? " " : "", scene->plan.partitions[i].partition_path,
                     scene->plan.partitions[i].files[j]);
    for (size_t i = 0; i < scene->plan.n_deleted_partitions; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s-%s", found[0] ? " " : "",
                 scene->plan.deleted_partitions[i]);
    assert_string_equal(found, wanted);
}

/* ---- commits retained ----------------------------------------------------------------------- */

static void keeps_what_the_retained_commits_read(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "2");
    commit(scene, "001", "a/f1 a/f2");
    commit(scene, "002", "a/f1<001");
    expect(scene, "");
    assert_null(scene->plan.earliest_time);
    commit(scene, "003", "a/f1<002");
    expect(scene, ""); /* as of 002 reads 002 of f1 */
    assert_string_equal(scene->plan.earliest_time, "002");
    commit(scene, "004", "a/f1<003");
    expect(scene, "a/f1_0-1-0_001.parquet");
    assert_string_equal(scene->plan.earliest_time, "003");
    assert_string_equal(scene->plan.earliest_action, "commit");
    assert_string_equal(scene->plan.last_completed, "004");
    assert_string_equal(scene->plan.policy, "KEEP_LATEST_COMMITS");
    assert_int_equal(scene->n_bytes, strlen("a/f1_0-1-0_001.parquet"));
    commit(scene, "005", "a/f1<004");
    expect(scene, "a/f1_0-1-0_001.parquet a/f1_0-1-0_002.parquet");
}

static void log_files_and_files_of_changes_go_with_their_slice(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "001", "a/f1 a/f2");
    test_table_put(&scene->made, "a/.f1_001.log.1_0-1-0", "x");
    test_table_put(&scene->made, "a/.f1_001.log.2_0-1-0", "x");
    test_table_put(&scene->made, "a/.f1_001.log.1_0-1-0.cdc", "x");
    test_table_put(&scene->made, "a/.f2_001.log.1_0-1-0.cdc", "x");
    commit(scene, "002", "a/f1<001");
    test_table_put(&scene->made, "a/.f1_002.log.1_0-1-0.cdc", "x");
    commit(scene, "003", "a/f1<002");
    expect(scene, "a/.f1_001.log.1_0-1-0 a/.f1_001.log.1_0-1-0.cdc a/.f1_001.log.2_0-1-0 "
                  "a/f1_0-1-0_001.parquet");
}

static void a_write_at_work_holds_the_earliest_instant_back(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "001", "a/f1");
    commit(scene, "002", "a/f1<001");
    commit(scene, "003", "a/f1<002");
    commit(scene, "005", "a/f1<003");
    test_table_put(&scene->made, ".hoodie/004.commit.requested", "");
    test_table_put(&scene->made, ".hoodie/004.inflight", "");
    expect(scene, "a/f1_0-1-0_001.parquet");
    assert_string_equal(scene->plan.earliest_time, "003");
    test_table_remove(&scene->made, ".hoodie/004.inflight");
    test_table_remove(&scene->made, ".hoodie/004.commit.requested");
    expect(scene, "a/f1_0-1-0_001.parquet a/f1_0-1-0_002.parquet");
    /* Before all completed ones: nothing may go. */
    test_table_put(&scene->made, ".hoodie/000.commit.requested", "");
    expect(scene, "");
}

static void files_of_writes_that_are_not_completed_are_left_alone(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "001", "a/f1");
    commit(scene, "003", "a/f1<001");
    commit(scene, "004", "a/f1<003");
    test_table_put(&scene->made, "a/f1_0-1-0_002.parquet", "rolled back");
    test_table_put(&scene->made, "a/notes.txt", "not ours");
    expect(scene, "a/f1_0-1-0_001.parquet");
}

static void replaced_groups_go_once_their_replacement_is_before_the_window(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "001", "a/f1 b/f2");
    complete(scene, "002", "replacecommit", "a/f1> a/f3");
    expect(scene, ""); /* as of 002 it is gone, but 002 is the earliest that stays */
    commit(scene, "003", "a/f3<002");
    expect(scene, "a/f1_0-1-0_001.parquet");
}

static void a_partition_without_files_goes_with_the_last_of_them(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "001", "a/f1 b/f2");
    complete(scene, "002", "replacecommit", "a/f1>");
    commit(scene, "003", "b/f2<001");
    expect(scene, "a/f1_0-1-0_001.parquet -a");
    test_table_put(&scene->made, "a/f9_0-1-0_009.parquet", "of a writer that nobody knows");
    expect(scene, "a/f1_0-1-0_001.parquet");
    test_table_remove(&scene->made, "a/f9_0-1-0_009.parquet");
    test_table_put(&scene->made, ".hoodie/004.commit.requested", "");
    expect(scene, "a/f1_0-1-0_001.parquet"); /* it may be about to write there */
}

/* ---- savepoints ------------------------------------------------------------------------------*/

static void savepointed_files_stay(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "001", "a/f1");
    commit(scene, "002", "a/f1<001");
    commit(scene, "003", "a/f1<002");
    commit(scene, "004", "a/f1<003");
    make_savepoint(scene, "001", "a", "f1_0-1-0_001.parquet");
    expect(scene, "a/f1_0-1-0_002.parquet");
    assert_string_equal(scene->plan.savepoints, "001");
    set(scene, "hoodie.cleaner.policy", "KEEP_LATEST_FILE_VERSIONS");
    set(scene, "hoodie.cleaner.fileversions.retained", "1");
    expect(scene, "a/f1_0-1-0_002.parquet a/f1_0-1-0_003.parquet");
}

static void a_dropped_savepoint_brings_its_partitions_back_in(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "001", "a/f1 b/f2");
    commit(scene, "002", "a/f1<001 b/f2<001");
    commit(scene, "004", "b/f2<002");
    cleaned(scene, "005", "004", "002");
    commit(scene, "006", "b/f2<004");
    expect(scene, "a/f1_0-1-0_001.parquet b/f2_0-1-0_001.parquet b/f2_0-1-0_002.parquet");
    make_savepoint(scene, "002", "a", "f1_0-1-0_002.parquet");
    expect(scene, "b/f2_0-1-0_001.parquet b/f2_0-1-0_002.parquet");
}

static void a_savepoint_being_made_holds_cleaning_back(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "001", "a/f1");
    commit(scene, "002", "a/f1<001");
    commit(scene, "003", "a/f1<002");
    test_table_put(&scene->made, ".hoodie/001.savepoint.inflight", "");
    expect(scene, "");
}

/* ---- incremental ---------------------------------------------------------------------------- */

static void only_partitions_of_the_window_are_looked_at(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "001", "a/f1 b/f2");
    commit(scene, "002", "a/f1<001 b/f2<001");
    commit(scene, "003", "a/f1<002 b/f2<002");
    commit(scene, "004", "a/f1<003");
    cleaned(scene, "005", "004", NULL); /* which left b uncleaned, for this test */
    commit(scene, "006", "a/f1<004");
    expect(scene, "a/f1_0-1-0_001.parquet a/f1_0-1-0_002.parquet a/f1_0-1-0_003.parquet");
    set(scene, "hoodie.cleaner.incremental.mode", "false");
    expect(scene, "a/f1_0-1-0_001.parquet a/f1_0-1-0_002.parquet a/f1_0-1-0_003.parquet "
                  "b/f2_0-1-0_001.parquet b/f2_0-1-0_002.parquet");
}

static void an_automatic_clean_looks_at_what_writes_of_the_timeline_changed(void **state)
{
    struct scene *scene = *state;

    scene->automatic = true;
    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "002", "a/f1 b/f2");
    commit(scene, "003", "a/f1<002");
    commit(scene, "004", "a/f1<003 b/f7");
    commit(scene, "005", "b/f8");
    /* Versions from before the timeline: b is named, but for new groups alone. */
    test_table_put(&scene->made, "b/f2_0-1-0_001.parquet", "x");
    expect(scene, "a/f1_0-1-0_002.parquet a/f1_0-1-0_003.parquet");
    scene->automatic = false;
    expect(scene, "a/f1_0-1-0_002.parquet a/f1_0-1-0_003.parquet b/f2_0-1-0_001.parquet");
}

static void an_automatic_clean_never_lists_the_whole_table(void **state)
{
    struct scene *scene = *state;

    /* The last clean retained what has been archived since, and a savepoint of then is dropped. */
    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "004", "a/f1 b/f2");
    commit(scene, "005", "a/f1<004");
    commit(scene, "006", "a/f1<005");
    cleaned(scene, "0035", "002", "001");
    test_table_put(&scene->made, "b/f2_0-1-0_001.parquet", "x");
    expect(scene, "a/f1_0-1-0_004.parquet b/f2_0-1-0_001.parquet");
    scene->automatic = true;
    expect(scene, "a/f1_0-1-0_004.parquet");
}

/* ---- other policies -------------------------------------------------------------------------- */

static void keeps_so_many_versions_of_each_group(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.policy", "KEEP_LATEST_FILE_VERSIONS");
    set(scene, "hoodie.cleaner.fileversions.retained", "2");
    commit(scene, "001", "a/f1 a/f2");
    commit(scene, "002", "a/f1<001");
    expect(scene, "");
    commit(scene, "003", "a/f1<002");
    expect(scene, "a/f1_0-1-0_001.parquet");
    assert_null(scene->plan.earliest_time);
    set(scene, "hoodie.cleaner.fileversions.retained", "1");
    expect(scene, "a/f1_0-1-0_001.parquet a/f1_0-1-0_002.parquet");
    complete(scene, "004", "replacecommit", "a/f2> a/f3");
    expect(scene, "a/f1_0-1-0_001.parquet a/f1_0-1-0_002.parquet a/f2_0-1-0_001.parquet");
}

static void keeps_what_was_read_in_the_last_hours(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.policy", "KEEP_LATEST_BY_HOURS");
    set(scene, "hoodie.cleaner.hours.retained", "3");
    test_clock_set(scene->op, UINT64_C(1769947200000)); /* 2026-02-01 12:00 UTC */
    commit(scene, "20260201070000000", "a/f1");
    commit(scene, "20260201080000000", "a/f1<20260201070000000");
    expect(scene, ""); /* all is older: there is no instant to retain */
    commit(scene, "20260201090000001", "a/f1<20260201080000000");
    expect(scene, "a/f1_0-1-0_20260201070000000.parquet");
    assert_string_equal(scene->plan.earliest_time, "20260201090000001");
}

/* ---- plans of earlier ----------------------------------------------------------------------- */

static void a_plan_of_earlier_spares_what_is_needed_by_now(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "001", "a/f1");
    commit(scene, "002", "a/f1<001");
    commit(scene, "003", "a/f1<002");
    commit(scene, "004", "a/f1<003");
    expect(scene, "a/f1_0-1-0_001.parquet a/f1_0-1-0_002.parquet");
    /* The table is restored to 002, and 001 savepointed. */
    test_table_remove(&scene->made, ".hoodie/004.commit");
    test_table_remove(&scene->made, ".hoodie/003.commit");
    make_savepoint(scene, "001", "a", "f1_0-1-0_001.parquet");
    hd_timeline_clear(&scene->table.timeline);
    test_must(scene->op, hd_timeline_load(scene->op, scene->table.fs, scene->table.path,
                                          &scene->table.config, &scene->table.timeline));
    test_must(scene->op, hd_clean_plan_spare(scene->op, NULL, &scene->table, &scene->plan));
    assert_int_equal(scene->plan.partitions[0].n_files, 0);
}

static void planning_survives_every_fault(void **state)
{
    struct scene *scene = *state;
    hudi_status status = HUDI_INTERNAL;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    commit(scene, "001", "a/f1 b/f2");
    commit(scene, "002", "a/f1<001");
    cleaned(scene, "003", "001", "001");
    complete(scene, "004", "replacecommit", "a/f1<002 b/f2>");
    commit(scene, "005", "a/f1<004");
    make_savepoint(scene, "002", "a", "f1_0-1-0_002.parquet");
    plan(scene);
    assert_int_equal(scene->plan.n_partitions, 2);
    for (int nth = 1; status != HUDI_OK; nth++) {
        hd_clean_plan_clear(&scene->plan);
        test_fault_arm(scene->op, nth);
        status = hd_clean_plan_make(scene->op, NULL, &scene->table, &scene->options, false,
                                    &scene->plan, &scene->n_bytes);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(scene->op));
    }
    test_fault_disarm(scene->op);
}

/* ---- tables that Hudi wrote ----------------------------------------------------------------- */

static bool is_planned(const struct hd_clean_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_partitions; i++)
        for (size_t j = 0; j < plan->partitions[i].n_files; j++)
            if (strcmp(plan->partitions[i].files[j], name) == 0)
                return true;
    return false;
}

static void expect_slice_stays(const struct hd_clean_plan *plan, const struct hd_file_slice *slice,
                               const char *table, const char *why)
{
    if (slice->base != NULL && is_planned(plan, slice->base->name))
        fail_msg("%s: %s is planned (%s)", table, slice->base->name, why);
    for (size_t i = 0; i < slice->n_logs; i++)
        if (is_planned(plan, slice->logs[i].name))
            fail_msg("%s: %s is planned (%s)", table, slice->logs[i].name, why);
}

/* Whatever the policy: the newest slices stay. With an earliest instant, so does all that is read
 * as of any instant from it on. */
static void expect_readable(struct hd_op *op, const struct hd_table_snapshot *table,
                            const struct hd_clean_plan *plan, const char *name)
{
    struct hd_file_system_view view;

    test_must(op, hd_file_system_view_load(op, NULL, table->fs, table->path, &table->config,
                                           &table->timeline, NULL, 0, &view));
    for (size_t g = 0; g < view.n_groups; g++) {
        const struct hd_file_slice *slice = hd_file_group_slice_as_of(&view.groups[g], NULL);

        if (slice != NULL)
            expect_slice_stays(plan, slice, name, "newest");
        for (size_t i = 0; i < view.groups[g].n_slices; i++)
            if (view.groups[g].slices[i].compaction_instant != NULL)
                expect_slice_stays(plan, &view.groups[g].slices[i], name, "in compaction");
        for (size_t i = 0; i < table->timeline.n_instants && plan->earliest_time != NULL; i++) {
            const char *const time = table->timeline.instants[i].time;

            if (strcmp(time, plan->earliest_time) < 0)
                continue;
            slice = hd_file_group_slice_as_of(&view.groups[g], time);
            if (slice != NULL)
                expect_slice_stays(plan, slice, name, time);
        }
    }
    hd_file_system_view_clear(&view);
}

static void no_golden_table_loses_what_is_read(void **state)
{
    struct scene *scene = *state;
    struct hd_op *const op = scene->op;
    char **const names = test_golden_names("");
    size_t n_tables = 0, n_files = 0;

    set(scene, "hoodie.cleaner.commits.retained", "1");
    set(scene, "hoodie.cleaner.incremental.mode", "false");
    for (size_t i = 0; names[i] != NULL; i++) {
        char *path;
        struct hd_table_snapshot table;

        if (strncmp(names[i], "spark-1", 7) == 0)
            continue;
        path = test_golden_unpack(names[i]);
        test_must(op, hd_table_snapshot_load(op, path, &table));
        for (int policy = 0; policy < 2; policy++) {
            struct hd_options options = {0};
            struct hd_clean_plan plan;

            test_must(op, hd_options_merge(op, &options, &scene->options));
            test_must(op, hd_options_set(op, &options, "hoodie.cleaner.policy",
                                         policy == 0 ? "KEEP_LATEST_COMMITS"
                                                     : "KEEP_LATEST_FILE_VERSIONS"));
            test_must(op,
                      hd_options_set(op, &options, "hoodie.cleaner.fileversions.retained", "1"));
            test_must(
                op, hd_clean_plan_make(op, NULL, &table, &options, false, &plan, &scene->n_bytes));
            expect_readable(op, &table, &plan, names[i]);
            for (size_t p = 0; p < plan.n_partitions; p++)
                n_files += plan.partitions[p].n_files;
            hd_clean_plan_clear(&plan);
            hd_options_clear(&options);
        }
        hd_table_snapshot_clear(op, &table);
        test_golden_remove(path);
        n_tables++;
    }
    test_golden_free_names(names);
    print_message("%zu tables, %zu files planned\n", n_tables, n_files);
    assert_true(n_tables > 50);
    assert_true(n_files > 100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keeps_what_the_retained_commits_read),
        TEST(log_files_and_files_of_changes_go_with_their_slice),
        TEST(a_write_at_work_holds_the_earliest_instant_back),
        TEST(files_of_writes_that_are_not_completed_are_left_alone),
        TEST(replaced_groups_go_once_their_replacement_is_before_the_window),
        TEST(a_partition_without_files_goes_with_the_last_of_them),
        TEST(savepointed_files_stay),
        TEST(a_dropped_savepoint_brings_its_partitions_back_in),
        TEST(a_savepoint_being_made_holds_cleaning_back),
        TEST(only_partitions_of_the_window_are_looked_at),
        TEST(an_automatic_clean_looks_at_what_writes_of_the_timeline_changed),
        TEST(an_automatic_clean_never_lists_the_whole_table),
        TEST(keeps_so_many_versions_of_each_group),
        TEST(keeps_what_was_read_in_the_last_hours),
        TEST(a_plan_of_earlier_spares_what_is_needed_by_now),
        TEST(planning_survives_every_fault),
        TEST(no_golden_table_loses_what_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
