/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of tables that Hudi wrote, against what Hudi itself read from them: the _hoodie_file_name
 * column of the expected rows names the files that rows came from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "codec/json.h"
#include "format/layout/file_system_view.h"
#include "format/layout/missing_logs.h"
#include "format/table/table_config.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

struct loaded {
    char *path;
    hd_file_system *fs;
    char *fs_path;
    struct hd_table_config config;
    struct hd_timeline timeline;
    struct hd_file_system_view view;
};

static void load(struct hd_op *op, const char *name, hd_pool *pool, struct loaded *t)
{
    memset(t, 0, sizeof *t);
    t->path = test_golden_unpack(name);
    test_must(op, hd_fs_open(op, t->path, &t->fs, &t->fs_path));
    test_must(op, hd_table_config_load(op, t->fs, t->fs_path, &t->config));
    test_must(op, hd_timeline_load(op, t->fs, t->fs_path, &t->config, &t->timeline));
    test_must(op, hd_file_system_view_load(op, pool, t->fs, t->fs_path, &t->config, &t->timeline,
                                           NULL, 0, &t->view));
}

static void unload(struct hd_op *op, struct loaded *t)
{
    hd_file_system_view_clear(&t->view);
    hd_timeline_clear(&t->timeline);
    hd_table_config_clear(&t->config);
    hd_fs_free(t->fs);
    hd_free(op, t->fs_path);
    test_golden_remove(t->path);
}

/* The latest slices' base file names and file ids with log files. */
static void name_sources(struct hd_op *op, const struct hd_file_system_view *view,
                         struct hd_map *bases, struct hd_map *with_logs)
{
    for (size_t i = 0; i < view->n_groups; i++) {
        const struct hd_file_slice *slice = hd_file_group_slice_as_of(&view->groups[i], NULL);
        struct hd_map_entry *entry;

        if (slice == NULL)
            continue;
        if (slice->base != NULL)
            test_must(op, hd_map_put(op, bases, hd_slice_text(slice->base->name), 0, &entry, NULL));
        if (slice->n_logs > 0)
            test_must(op,
                      hd_map_put(op, with_logs, hd_slice_text(slice->file_id), 0, &entry, NULL));
    }
}

/* Every expected row comes from a latest slice, and (when `both_ways`) every base file without log
 * files on it gives a row. */
static void check_rows(struct hd_op *op, const char *name, const struct hd_file_system_view *view,
                       bool both_ways)
{
    struct hd_map bases = {0}, with_logs = {0};
    size_t n_rows = 0, n_seen = 0;
    char *text = test_golden_file(name, ".expected.jsonl", NULL);

    name_sources(op, view, &bases, &with_logs);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        struct hd_slice file_name;
        hd_json *row;

        test_must(op, hd_json_parse(op, hd_slice_text(line), &row));
        test_must(op, hd_json_find_string(op, row, "_hoodie_file_name", &file_name));
        if (file_name.data != NULL) {
            struct hd_map_entry *base = hd_map_find(&bases, file_name);

            if (base != NULL)
                base->value++;
            else if (hd_map_find(&with_logs, file_name) == NULL)
                fail_msg("%s: no latest slice is or has %.*s", name, (int)file_name.size,
                         (const char *)file_name.data);
            n_seen++;
        }
        n_rows++;
        hd_json_free(row);
    }
    if (n_rows > 0)
        assert_true(n_seen == n_rows || n_seen == 0);
    for (size_t i = 0; both_ways && n_seen > 0 && i < view->n_groups; i++) {
        const struct hd_file_slice *slice = hd_file_group_slice_as_of(&view->groups[i], NULL);

        if (slice != NULL && slice->base != NULL && slice->n_logs == 0 &&
            hd_map_find(&bases, hd_slice_text(slice->base->name))->value == 0)
            fail_msg("%s: no row comes from %s", name, slice->base->name);
    }
    hd_map_clear(&bases);
    hd_map_clear(&with_logs);
    free(text);
}

static void spark_rows_come_from_the_latest_slices(void **state)
{
    struct hd_op *op = *state;
    char **names = test_golden_names("spark-0.15.0-");

    assert_non_null(names[0]);
    for (size_t i = 0; names[i] != NULL; i++) {
        struct loaded t;

        load(op, names[i], NULL, &t);
        check_rows(op, names[i], &t.view, true);
        unload(op, &t);
    }
    test_golden_free_names(names);
}

/* Whether the description's timeline has a completed write of this instant, or begins after it. */
static bool is_committed(struct hd_op *op, const hd_json *timeline, struct hd_slice instant)
{
    static const char *const ENDINGS[] = {".commit", ".deltacommit", ".replacecommit"};
    bool before_all = true;

    for (size_t i = 0; i < hd_json_length(timeline); i++) {
        struct hd_slice name;

        test_must(op, hd_json_as_string(op, hd_json_at(timeline, i), "timeline", &name));
        for (size_t j = 0; j < HD_ARRAY_LENGTH(ENDINGS); j++) {
            if (!hd_slice_ends_with(name, ENDINGS[j]))
                continue;
            const struct hd_slice time = hd_slice_of(name.data, name.size - strlen(ENDINGS[j]));
            if (hd_slice_equal(time, instant))
                return true;
            before_all = before_all && hd_slice_compare(instant, time) < 0;
        }
    }
    return before_all;
}

static void add_file(struct hd_op *op, struct hd_map *files, const struct hd_data_file *file)
{
    struct hd_map_entry *entry;
    bool added;

    test_must(op, hd_map_put(op, files, hd_slice_text(file->path), 0, &entry, &added));
    assert_true(added);
}

static void add_files(struct hd_op *op, const struct hd_file_system_view *view,
                      struct hd_map *files)
{
    for (size_t i = 0; i < view->n_groups; i++) {
        for (size_t j = 0; j < view->groups[i].n_slices; j++) {
            const struct hd_file_slice *slice = &view->groups[i].slices[j];

            if (slice->base != NULL)
                add_file(op, files, slice->base);
            for (size_t k = 0; k < slice->n_logs; k++)
                add_file(op, files, &slice->logs[k]);
        }
    }
}

/* Of the files in the description, those of completed instants and no others are in the view; log
 * files on a pending compaction too. */
static void check_files(struct hd_op *op, const char *name, const struct loaded *t)
{
    struct hd_map files = {0};
    size_t n_wanted = 0, n;
    hd_json *description;
    char *text = test_golden_file(name, ".json", &n);

    test_must(op, hd_json_parse(op, hd_slice_of(text, n), &description));
    const hd_json *listed = hd_json_member(description, "files");
    const hd_json *timeline = hd_json_member(description, "timeline");
    add_files(op, &t->view, &files);
    for (size_t i = 0; i < hd_json_length(listed); i++) {
        struct hd_file_name parsed;
        struct hd_slice path;

        test_must(op, hd_json_as_string(op, hd_json_at(listed, i), "files", &path));
        const char *slash = strrchr((const char *)path.data, '/');
        if (!hd_file_name_parse(slash != NULL ? slash + 1 : (const char *)path.data, &parsed))
            continue;
        char instant[HD_INSTANT_TIME_BYTES] = "";
        memcpy(instant, parsed.instant.data, parsed.instant.size);
        const bool wanted = is_committed(op, timeline, parsed.instant) ||
                            (parsed.kind == HD_FILE_LOG &&
                             hd_timeline_is_pending_compaction(&t->timeline, instant));
        if (wanted != (hd_map_find(&files, path) != NULL))
            fail_msg("%s: %s is %sin the view", name, (const char *)path.data,
                     wanted ? "not " : "");
        n_wanted += wanted;
    }
    assert_int_equal(n_wanted, files.n_entries);
    hd_map_clear(&files);
    hd_json_free(description);
    free(text);
}

static void flink_views_hold_the_files_of_completed_instants(void **state)
{
    struct hd_op *op = *state;
    char **names = test_golden_names("flink010-");
    size_t n_files = 0;

    for (size_t i = 0; names[i] != NULL; i++) {
        struct loaded t;

        load(op, names[i], NULL, &t);
        check_files(op, names[i], &t);
        n_files += t.view.n_groups;
        unload(op, &t);
    }
    assert_true(n_files > 100);
    test_golden_free_names(names);
}

/* Log files written after the plan carry its instant and lie on the slice that is to be compacted.
 */
static void log_files_go_on_during_a_pending_compaction(void **state)
{
    static const char *const NAMES[] = {"flink010-mor-pending-compaction",
                                        "spark-0.15.0-mor-pending-compaction"};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        struct loaded t;
        size_t n_planned = 0, n_later = 0;

        load(op, NAMES[i], NULL, &t);
        for (size_t j = 0; j < t.view.n_groups; j++) {
            const struct hd_file_slice *slice = hd_file_group_slice_as_of(&t.view.groups[j], NULL);

            if (slice->compaction_instant == NULL)
                continue;
            n_planned++;
            assert_true(hd_timeline_is_pending_compaction(&t.timeline, slice->compaction_instant));
            assert_true(strcmp(slice->base_instant, slice->compaction_instant) < 0);
            for (size_t k = 0; k < slice->n_logs; k++) {
                const bool later = strcmp(slice->logs[k].instant, slice->compaction_instant) == 0;

                assert_true(later || strcmp(slice->logs[k].instant, slice->base_instant) == 0);
                n_later += later;
            }
        }
        assert_true(n_planned > 0 && n_later > 0);
        unload(op, &t);
    }
}

/* Tables whose log files were taken away or cut by hand, and how many of them. */
static size_t n_damaged(const char *name)
{
    static const struct {
        const char *name;
        size_t n;
    } DAMAGED[] = {{"flink010-mor-damaged-committed", 1},
                   {"spark-0.15.0-damage-corrupt-middle", 2},
                   {"spark-0.15.0-damage-truncated-log", 1},
                   {"spark-0.15.0-mor-appended-log", 3}};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(DAMAGED); i++)
        if (strcmp(DAMAGED[i].name, name) == 0)
            return DAMAGED[i].n;
    return 0;
}

static size_t n_missing(struct hd_op *op, const struct loaded *t)
{
    struct hd_arena arena = {0};
    const struct hd_file_slice **slices;
    struct hd_missing_log *logs;
    size_t n = 0, n_logs;

    test_must(op, hd_arena_array(op, &arena, t->view.n_groups, sizeof *slices, &slices));
    for (size_t i = 0; i < t->view.n_groups; i++) {
        slices[n] = hd_file_group_slice_as_of(&t->view.groups[i], NULL);
        n += slices[n] != NULL;
    }
    test_must(op, hd_missing_logs_find(op, &t->timeline, slices, n, NULL, &arena, &logs, &n_logs));
    for (size_t i = 0; i < n_logs; i++)
        assert_true(logs[i].n_found < logs[i].n_bytes);
    hd_arena_clear(&arena);
    return n_logs;
}

/* Rollbacks, restores, compactions, cleans and the archive take log files off, and writers append
 * to them: none of that is a loss. */
static void only_log_files_that_were_damaged_by_hand_are_missing(void **state)
{
    struct hd_op *op = *state;
    char **const names = test_golden_names("");
    size_t n_tables = 0;

    for (char **name = names; *name != NULL; name++) {
        struct loaded t;

        load(op, *name, NULL, &t);
        if (t.config.type == HD_MERGE_ON_READ && t.config.version->log_is_of_slice) {
            const size_t n = n_missing(op, &t);

            if (n != n_damaged(*name))
                fail_msg("%s: %zu log files are missing", *name, n);
            n_tables++;
        }
        unload(op, &t);
    }
    assert_true(n_tables > 40);
    test_golden_free_names(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(flink_views_hold_the_files_of_completed_instants,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(log_files_go_on_during_a_pending_compaction, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(spark_rows_come_from_the_latest_slices, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(only_log_files_that_were_damaged_by_hand_are_missing,
                                        test_op_setup, test_op_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
