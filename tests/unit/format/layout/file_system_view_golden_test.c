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
#include "format/table/table_config.h"
#include "support/fault.h"
#include "support/golden.h"

struct loaded {
    char *path;
    hd_file_system *fs;
    char *fs_path;
    struct hd_table_config config;
    struct hd_timeline timeline;
    struct hd_file_system_view view;
};

static void must(struct hd_op *op, hudi_status status)
{
    if (status != HUDI_OK && op->error != NULL)
        print_error("%s (%s)\n", hudi_error_message(op->error),
                    hudi_error_path(op->error) != NULL ? hudi_error_path(op->error) : "");
    assert_int_equal(status, HUDI_OK);
}

static void load(struct hd_op *op, const char *name, hd_pool *pool, struct loaded *t)
{
    memset(t, 0, sizeof *t);
    t->path = test_golden_unpack(name);
    must(op, hd_fs_open(op, t->path, &t->fs, &t->fs_path));
    must(op, hd_table_config_load(op, t->fs, t->fs_path, &t->config));
    must(op, hd_timeline_load(op, t->fs, t->fs_path, &t->config, &t->timeline));
    must(op, hd_file_system_view_load(op, pool, t->fs, t->fs_path, &t->config, &t->timeline, NULL,
                                      0, &t->view));
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
            must(op, hd_map_put(op, bases, hd_slice_text(slice->base->name), 0, &entry, NULL));
        if (slice->n_logs > 0)
            must(op, hd_map_put(op, with_logs, hd_slice_text(slice->file_id), 0, &entry, NULL));
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

        must(op, hd_json_parse(op, hd_slice_text(line), &row));
        must(op, hd_json_find_string(op, row, "_hoodie_file_name", &file_name));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(spark_rows_come_from_the_latest_slices, test_op_setup,
                                        test_op_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
