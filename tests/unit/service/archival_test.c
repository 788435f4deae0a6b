/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* Which instants may leave the timeline, and what the archive holds of them then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/timeline/archive_entry.h"
#include "format/timeline/archived_timeline.h"
#include "service/archival.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"
#include "unit/format/timeline/plan_testing.h"

struct scene {
    struct hd_op *op;
    struct test_table made;
    struct hd_table_snapshot table;
    struct hd_options options;
};

static void set(struct scene *scene, const char *key, const char *value)
{
    test_must(scene->op, hd_options_set(scene->op, &scene->options, key, value));
}

static int set_up(void **state)
{
    struct scene *const scene = calloc(1, sizeof *scene);
    void *op;

    assert_non_null(scene);
    assert_int_equal(test_op_setup(&op), 0);
    scene->op = op;
    test_table_open(scene->op, &scene->made, "archiving", 6, "p");
    set(scene, "hoodie.keep.min.commits", "2");
    set(scene, "hoodie.keep.max.commits", "3");
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *const scene = *state;
    void *op = scene->op;

    hd_options_clear(&scene->options);
    hd_timeline_clear(&scene->table.timeline);
    test_table_close(&scene->made);
    free(scene);
    return test_op_teardown(&op);
}

static void put(struct scene *scene, const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof path, ".hoodie/%s", name);
    test_table_put(&scene->made, path, text);
}

/* Completed writes "001.commit", ... */
static void writes(struct scene *scene, const char *names)
{
    char name[64];

    for (int n; sscanf(names, " %63s%n", name, &n) == 1; names += n)
        put(scene, name,
            "{\"partitionToWriteStats\":{},\"extraMetadata\":{},\"operationType\":\"UPSERT\"}");
}

static void load(struct scene *scene)
{
    hd_timeline_clear(&scene->table.timeline);
    scene->table.fs = scene->made.fs;
    scene->table.path = scene->made.path;
    scene->table.config = scene->made.config;
    test_must(scene->op, hd_timeline_load(scene->op, scene->table.fs, scene->table.path,
                                          &scene->table.config, &scene->table.timeline));
}

/* What would be archived: "N FIRST LAST", or "". */
static void expect(struct scene *scene, const char *wanted)
{
    struct hd_archive_report report;
    char found[80] = "";

    load(scene);
    test_must(scene->op,
              hd_archive_locked(scene->op, NULL, &scene->table, &scene->options, true, &report));
    if (report.n_instants > 0)
        snprintf(found, sizeof found, "%zu %s %s", report.n_instants, report.first, report.last);
    assert_string_equal(found, wanted);
}

static void down_to_the_least_once_there_are_more_than_the_most(void **state)
{
    struct scene *scene = *state;

    writes(scene, "001.commit 002.commit 003.commit");
    expect(scene, "");
    writes(scene, "004.commit");
    expect(scene, "2 001 002");
    writes(scene, "005.commit 006.commit");
    expect(scene, "4 001 004");
}

static void cleans_and_rollbacks_go_with_the_writes_behind_them(void **state)
{
    struct scene *scene = *state;

    writes(scene, "001.commit 003.commit 005.commit 007.commit");
    put(scene, "002.clean", "x");
    put(scene, "004.rollback", "x");
    put(scene, "0025.clean.requested", "x"); /* pending: stays */
    expect(scene, "3 001 003");
}

static void a_write_at_work_keeps_the_one_before_it(void **state)
{
    struct scene *scene = *state;

    writes(scene, "001.commit 002.commit 004.commit 005.commit 006.commit");
    put(scene, "003.commit.requested", "");
    put(scene, "003.inflight", "");
    expect(scene, "1 001 001");
    put(scene, "000.commit.requested", "");
    expect(scene, "");
}

static void nothing_from_the_first_savepoint_on_goes(void **state)
{
    struct scene *scene = *state;

    writes(scene, "001.commit 002.commit 003.commit 004.commit 005.commit");
    put(scene, "002.savepoint", "x");
    expect(scene, "1 001 001");
    set(scene, "hoodie.archive.beyond.savepoint", "true");
    expect(scene, "3 001 004"); /* 002 is left as an island */
}

static void a_replacement_stays_while_replaced_files_are_there(void **state)
{
    struct scene *scene = *state;

    writes(scene, "001.commit 003.commit 004.commit 005.commit 006.commit");
    put(scene, "002.replacecommit",
        "{\"partitionToWriteStats\":{},\"extraMetadata\":{},\"operationType\":"
        "\"INSERT_OVERWRITE\",\"partitionToReplaceFileIds\":{\"a\":[\"f1\"],\"b\":[\"f2\"]}}");
    test_table_put(&scene->made, "a/f3_0-1-0_002.parquet", "x");
    test_table_put(&scene->made, "a/f1_0-1-0_001.parquet", "x");
    expect(scene, "1 001 001");
    test_table_remove(&scene->made, "a/f1_0-1-0_001.parquet");
    expect(scene, "4 001 004");
    test_table_put(&scene->made, "b/.f2_001.log.1_0-1-0", "x");
    expect(scene, "1 001 001");
}

static void merge_on_read_tables_keep_what_tells_when_to_compact(void **state)
{
    struct scene *scene = *state;

    scene->made.config.type = HD_MERGE_ON_READ;
    set(scene, "hoodie.compact.inline.max.delta.commits", "4");
    writes(scene, "001.deltacommit 002.deltacommit 003.deltacommit 004.deltacommit "
                  "005.deltacommit");
    expect(scene, "1 001 001"); /* the last four count */
    put(scene, "0015.compaction.requested", "x");
    put(scene, "0015.compaction.inflight", "");
    writes(scene, "0015.commit");
    expect(scene, "2 001 0015");
    set(scene, "hoodie.compact.inline.max.delta.commits", "9");
    expect(scene, "1 001 001"); /* the compaction itself stays */
}

static void commits_that_cleans_ask_for_stay(void **state)
{
    struct scene *scene = *state;

    set(scene, "hoodie.cleaner.commits.retained", "4");
    writes(scene, "001.commit 002.commit 003.commit 004.commit 005.commit 006.commit");
    /* The clean retains 003 to 006: three after the earliest, and two more. The most rises too. */
    expect(scene, "");
    writes(scene, "007.commit");
    expect(scene, "2 001 002");
}

static void the_most_must_be_more_than_the_least(void **state)
{
    struct scene *scene = *state;
    struct hd_archive_report report;

    set(scene, "hoodie.keep.max.commits", "2");
    load(scene);
    assert_int_equal(
        hd_archive_locked(scene->op, NULL, &scene->table, &scene->options, true, &report),
        HUDI_INVALID);
    hd_op_clear_error(scene->op);
}

/* ---- entries -------------------------------------------------------------------------------- */

/* The value of the block's one header entry, which stands at byte 34. */
static struct hd_slice schema_of_block(const struct hd_str *block)
{
    struct hd_cursor in = hd_cursor_over((const uint8_t *)block->data + 30, block->size - 30, 0);
    struct hd_slice schema;
    struct hd_op op;
    uint32_t n;

    hd_op_init(&op);
    test_must(&op, hd_cursor_u32be(&op, &in, &n));
    test_must(&op, hd_cursor_take(&op, &in, n, &schema));
    hd_op_clear(&op);
    return schema;
}

/* All completed instants of a golden table in one block: read back as they were. */
static void expect_archive(struct hd_op *op, const char *name)
{
    char *const path = test_golden_unpack(name);
    struct hd_table_snapshot table;
    const struct hd_instant **instants;
    struct hd_arena arena = {0};
    struct hd_archived_timeline archive;
    struct hd_str block = {0};
    char *folder, *file;
    size_t n = 0, n_found = 0;

    test_must(op, hd_table_snapshot_load(op, path, &table));
    test_must(op, hd_archive_folder(op, table.path, &table.config, &folder));
    test_must(op, hd_fs_delete_tree(op, table.fs, folder));
    test_must(op, hd_fs_make_dirs(op, table.fs, folder));
    test_must(op,
              hd_arena_array(op, &arena, table.timeline.n_instants, sizeof *instants, &instants));
    for (size_t i = 0; i < table.timeline.n_instants; i++)
        if (table.timeline.instants[i].state == HD_COMPLETED)
            instants[n++] = &table.timeline.instants[i];
    test_must(op, hd_archive_block_encode(op, &table.timeline, instants, n, &block));
    plan_expect_java_strings(schema_of_block(&block));
    test_must(op, hd_asprintf(op, &file, "%s/.commits_.archive.1_1-0-1", folder));
    test_must(op, hd_fs_publish(op, table.fs, file, block.data, block.size));
    test_must(op, hd_archived_timeline_load(op, table.fs, table.path, &table.config, NULL, NULL,
                                            &archive));
    for (size_t i = 0; i < archive.n_instants; i++) {
        const struct hd_archived_instant *const found = &archive.instants[i];
        struct hd_commit_metadata wanted;

        if (found->state != HD_COMPLETED)
            continue;
        const struct hd_instant *const instant = instants[n_found++];
        assert_string_equal(found->time, instant->time);
        assert_string_equal(found->action, hd_action_name(instant->action));
        assert_int_equal(found->has_commit, hd_instant_is_write(instant));
        if (!found->has_commit)
            continue;
        test_must(op, hd_timeline_read_commit(op, &table.timeline, instant, &wanted));
        assert_int_equal(found->commit.n_stats, wanted.n_stats);
        assert_int_equal(found->commit.n_extra, wanted.n_extra + 1);
        assert_int_equal(found->commit.n_replaced, wanted.n_replaced);
        for (size_t s = 0; s < wanted.n_stats; s++) {
            assert_string_equal(found->commit.stats[s].path, wanted.stats[s].path);
            assert_int_equal(found->commit.stats[s].num_writes, wanted.stats[s].num_writes);
            assert_int_equal(found->commit.stats[s].file_size_in_bytes,
                             wanted.stats[s].file_size_in_bytes);
        }
        hd_commit_metadata_clear(&wanted);
    }
    assert_int_equal(n_found, n);
    hd_archived_timeline_clear(&archive);
    hd_arena_clear(&arena);
    hd_str_clear(&block);
    hd_free(op, file);
    hd_free(op, folder);
    hd_table_snapshot_clear(op, &table);
    test_golden_remove(path);
}

static void every_golden_timeline_can_be_archived(void **state)
{
    struct scene *scene = *state;
    char **const names = test_golden_names("");
    size_t n = 0;

    for (size_t i = 0; names[i] != NULL; i++) {
        if (strncmp(names[i], "spark-1", 7) == 0)
            continue;
        expect_archive(scene->op, names[i]);
        n++;
    }
    test_golden_free_names(names);
    assert_true(n > 50);
}

static void archiving_survives_every_fault(void **state)
{
    struct scene *scene = *state;
    hudi_status status = HUDI_INTERNAL;
    struct hd_archive_report report;

    writes(scene, "001.commit 003.commit 004.commit 005.commit");
    load(scene);
    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_str block = {0};
        const struct hd_instant *const first = &scene->table.timeline.instants[0];

        test_fault_arm(scene->op, nth);
        status = hd_archive_locked(scene->op, NULL, &scene->table, &scene->options, true, &report);
        if (status == HUDI_OK)
            status = hd_archive_block_encode(scene->op, &scene->table.timeline, &first, 1, &block);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(scene->op));
        hd_str_clear(&block);
    }
    test_fault_disarm(scene->op);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(down_to_the_least_once_there_are_more_than_the_most),
        TEST(cleans_and_rollbacks_go_with_the_writes_behind_them),
        TEST(a_write_at_work_keeps_the_one_before_it),
        TEST(nothing_from_the_first_savepoint_on_goes),
        TEST(a_replacement_stays_while_replaced_files_are_there),
        TEST(merge_on_read_tables_keep_what_tells_when_to_compact),
        TEST(commits_that_cleans_ask_for_stay),
        TEST(the_most_must_be_more_than_the_least),
        TEST(every_golden_timeline_can_be_archived),
        TEST(archiving_survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
