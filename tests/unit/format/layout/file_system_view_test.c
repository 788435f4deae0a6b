/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/schema.h"
#include "format/layout/file_system_view.h"
#include "format/timeline/commit_metadata.h"
#include "store/base_file.h"
#include "support/fault.h"
#include "support/table.h"

struct loaded {
    struct hd_timeline timeline;
    struct hd_file_system_view view;
};

static hudi_status try_load(struct test_table *table, hd_pool *pool, struct loaded *t)
{
    memset(t, 0, sizeof *t);
    HD_TRY(hd_timeline_load(table->op, table->fs, table->path, &table->config, &t->timeline));
    return hd_file_system_view_load(table->op, pool, table->fs, table->path, &table->config,
                                    &t->timeline, NULL, 0, &t->view);
}

static void load(struct test_table *table, struct loaded *t)
{
    test_must(table->op, try_load(table, NULL, t));
}

static void unload(struct loaded *t)
{
    hd_file_system_view_clear(&t->view);
    hd_timeline_clear(&t->timeline);
}

static const struct hd_file_slice *latest(const struct loaded *t, const char *partition,
                                          const char *file_id)
{
    const struct hd_file_group *group = hd_file_system_view_find(&t->view, partition, file_id);

    return group == NULL ? NULL : hd_file_group_slice_as_of(group, NULL);
}

static void put_partition(struct test_table *table, const char *partition)
{
    char path[64];

    snprintf(path, sizeof path, "%s/.hoodie_partition_metadata", partition);
    test_table_put(table, path, "");
}

/* Invariants 1 and 3. */
static void files_of_completed_instants_make_up_the_groups(void **state)
{
    struct test_table table;
    struct loaded t;

    test_table_open(*state, &table, "view1", 6, "p");
    put_partition(&table, "b");
    put_partition(&table, "a");
    put_partition(&table, "empty");
    test_table_put(&table, ".hoodie/003.commit", "{}");
    test_table_put(&table, ".hoodie/004.commit", "{}");
    test_table_put(&table, ".hoodie/005.inflight", "");
    test_table_put(&table, "a/g2_0-0-0_003.parquet", "1");
    test_table_put(&table, "a/g2_0-0-0_004.parquet", "12");
    test_table_put(&table, "a/g2_0-0-0_005.parquet", "");   /* pending, 0 bytes */
    test_table_put(&table, "a/g3_0-0-0_0035.parquet", "x"); /* rolled back */
    test_table_put(&table, "a/g1_0-0-0_001.parquet", "x");  /* archived */
    test_table_put(&table, "b/g1_0-0-0_004.parquet", "x");
    test_table_put(&table, "b/notes.txt", "x");
    test_table_put(&table, "b/.g1_0-0-0_004.parquet.crc", "x");
    test_table_put(&table, "b/.g1_004.log.1_0-0-0.cdc", "x");
    load(&table, &t);

    assert_int_equal(t.view.n_partitions, 3);
    assert_string_equal(t.view.partitions[0], "a");
    assert_string_equal(t.view.partitions[2], "empty");
    assert_int_equal(t.view.n_groups, 3);
    assert_string_equal(t.view.groups[0].file_id, "g1");
    assert_string_equal(t.view.groups[0].partition_path, "a");
    assert_string_equal(t.view.groups[2].partition_path, "b");
    const struct hd_file_group *g2 = hd_file_system_view_find(&t.view, "a", "g2");
    assert_int_equal(g2->n_slices, 2);
    assert_string_equal(g2->slices[0].base->path, "a/g2_0-0-0_004.parquet");
    assert_string_equal(g2->slices[0].base->name, "g2_0-0-0_004.parquet");
    assert_int_equal(g2->slices[0].base->size_bytes, 2);
    assert_string_equal(g2->slices[1].base_instant, "003");
    assert_ptr_equal(hd_file_group_slice_as_of(g2, NULL), &g2->slices[0]);
    assert_ptr_equal(hd_file_group_slice_as_of(g2, "0039"), &g2->slices[1]);
    assert_null(hd_file_group_slice_as_of(g2, "0029"));
    assert_int_equal(latest(&t, "b", "g1")->n_logs, 0);
    assert_null(hd_file_system_view_find(&t.view, "a", "g3"));
    assert_null(hd_file_system_view_find(&t.view, "c", "g1"));
    assert_null(hd_file_system_view_find(&t.view, "empty", "g1"));
    unload(&t);
    test_table_close(&table);
}

/* Invariant 4: versions are numbers, tokens are text. */
static void log_files_are_in_log_order(void **state)
{
    static const char *const WANTED[] = {
        ".g_001.log.1_0-0-0", ".g_001.log.2",       ".g_001.log.2_10-0-0",
        ".g_001.log.2_9-0-0", ".g_001.log.9_0-0-0", ".g_001.log.10_0-0-0",
    };
    struct test_table table;
    struct loaded t;

    test_table_open(*state, &table, "view2", 6, NULL);
    test_table_put(&table, ".hoodie/001.deltacommit", "{}");
    test_table_put(&table, "g_0-0-0_001.parquet", "x");
    for (size_t i = HD_ARRAY_LENGTH(WANTED); i > 0; i--)
        test_table_put(&table, WANTED[i - 1], "");
    load(&table, &t);

    const struct hd_file_slice *slice = latest(&t, "", "g");
    assert_non_null(slice->base);
    assert_int_equal(slice->n_logs, HD_ARRAY_LENGTH(WANTED));
    for (size_t i = 0; i < slice->n_logs; i++)
        assert_string_equal(slice->logs[i].path, WANTED[i]);
    assert_int_equal(slice->logs[5].log_version, 10);
    assert_string_equal(slice->logs[1].write_token, "");
    unload(&t);
    test_table_close(&table);
}

static void a_slice_may_have_log_files_alone(void **state)
{
    struct test_table table;
    struct loaded t;

    test_table_open(*state, &table, "view3", 6, NULL);
    test_table_put(&table, ".hoodie/001.deltacommit", "{}");
    test_table_put(&table, ".hoodie/003.commit", "{}"); /* a compaction */
    test_table_put(&table, ".g_001.log.1_0-0-0", "");
    test_table_put(&table, "g_0-0-0_003.parquet", "x");
    test_table_put(&table, ".g_003.log.1_0-0-0", "");
    test_table_put(&table, ".h_004.log.1_0-0-0", ""); /* its instant never completed */
    load(&table, &t);

    const struct hd_file_group *group = hd_file_system_view_find(&t.view, "", "g");
    assert_int_equal(t.view.n_groups, 1);
    assert_int_equal(group->n_slices, 2);
    assert_non_null(group->slices[0].base);
    assert_int_equal(group->slices[0].n_logs, 1);
    assert_null(group->slices[1].base);
    assert_int_equal(group->slices[1].n_logs, 1);
    assert_null(group->slices[0].compaction_instant);
    unload(&t);
    test_table_close(&table);
}

/* Invariant 2. */
static void the_commit_chooses_among_attempts_of_a_task(void **state)
{
    struct test_table table;
    struct loaded t;

    test_table_open(*state, &table, "view4", 6, "p");
    put_partition(&table, "a");
    test_table_put(&table, ".hoodie/002.commit",
                   "{\"partitionToWriteStats\":{\"a\":[{\"fileId\":\"g\",\"path\":"
                   "\"a/g_0-1-1_002.parquet\"},{\"fileId\":\"h\",\"path\":\"a/h_0-1-2_002.parquet\""
                   "}]}}");
    test_table_put(&table, "a/g_0-1-0_002.parquet", "x");
    test_table_put(&table, "a/g_0-1-1_002.parquet", "x");
    test_table_put(&table, "a/g_0-1-2_002.parquet", "x");
    test_table_put(&table, "a/.g_002.log.1_0-1-2", "x");
    test_table_put(&table, "a/h_0-1-2_002.parquet", "x");
    test_table_put(&table, "a/h_0-1-3_002.parquet", "x");
    test_table_put(&table, "a/i_0-1-0_001.parquet", "x"); /* archived: the last one counts */
    test_table_put(&table, "a/i_0-1-1_001.parquet", "x");
    load(&table, &t);

    assert_string_equal(latest(&t, "a", "g")->base->name, "g_0-1-1_002.parquet");
    assert_int_equal(latest(&t, "a", "g")->n_logs, 1);
    assert_int_equal(hd_file_system_view_find(&t.view, "a", "g")->n_slices, 1);
    assert_string_equal(latest(&t, "a", "h")->base->name, "h_0-1-2_002.parquet");
    assert_string_equal(latest(&t, "a", "i")->base->name, "i_0-1-1_001.parquet");
    unload(&t);
    test_table_close(&table);
}

static void commits_are_not_opened_without_need(void **state)
{
    struct test_table table;
    struct loaded t;

    test_table_open(*state, &table, "view5", 6, NULL);
    test_table_put(&table, ".hoodie/001.commit", "this is no commit");
    test_table_put(&table, "g_0-0-0_001.parquet", "x");
    load(&table, &t);
    assert_int_equal(t.view.n_groups, 1);
    unload(&t);
    test_table_close(&table);
}

static void replaced_groups_are_gone_from_their_replacement_on(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct loaded t;
    struct hd_arena arena = {0};
    const struct hd_file_slice **slices;
    size_t n;

    test_table_open(op, &table, "view6", 6, "p");
    put_partition(&table, "a");
    test_table_put(&table, ".hoodie/001.commit", "{}");
    test_table_put(&table, ".hoodie/002.replacecommit",
                   "{\"partitionToReplaceFileIds\":{\"a\":[\"g\",\"unknown\"],\"z\":[\"g\"]}}");
    test_table_put(&table, ".hoodie/003.replacecommit.requested", "");
    test_table_put(&table, "a/g_0-0-0_001.parquet", "x");
    test_table_put(&table, "a/h_0-0-0_001.parquet", "x");
    test_table_put(&table, "a/i_0-0-0_002.parquet", "x");
    load(&table, &t);

    assert_string_equal(hd_file_system_view_find(&t.view, "a", "g")->replaced_by, "002");
    assert_null(latest(&t, "a", "g"));
    test_must(op, hd_file_system_view_slices(op, &t.view, NULL, &arena, &slices, &n));
    assert_int_equal(n, 2);
    assert_string_equal(slices[0]->file_id, "h");
    assert_string_equal(slices[1]->file_id, "i");
    test_must(op, hd_file_system_view_slices(op, &t.view, "001", &arena, &slices, &n));
    assert_int_equal(n, 2);
    assert_string_equal(slices[0]->file_id, "g");
    assert_string_equal(slices[1]->file_id, "h");
    hd_arena_clear(&arena);
    unload(&t);
    test_table_close(&table);
}

/* A timeline that was listed before others archived some of it is as good as a new one; one that
 * was listed before a rollback is not. */
static void a_replacement_that_is_gone_was_archived_unless_it_is_pending(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;
    struct hd_file_system_view view;

    test_table_open(op, &table, "view6b", 6, "p");
    put_partition(&table, "a");
    test_table_put(&table, ".hoodie/001.commit", "{}");
    test_table_put(&table, ".hoodie/002.replacecommit.requested", "");
    test_table_put(&table, ".hoodie/002.replacecommit.inflight", "");
    test_table_put(&table, ".hoodie/002.replacecommit",
                   "{\"partitionToReplaceFileIds\":{\"a\":[\"g\"]}}");
    test_table_put(&table, "a/h_0-0-0_001.parquet", "x");
    test_table_put(&table, "a/i_0-0-0_002.parquet", "x");
    test_must(op, hd_timeline_load(op, table.fs, table.path, &table.config, &timeline));
    test_table_remove(&table, ".hoodie/002.replacecommit");
    assert_int_equal(hd_file_system_view_load(op, NULL, table.fs, table.path, &table.config,
                                              &timeline, NULL, 0, &view),
                     HUDI_CONFLICT);
    hd_op_clear_error(op);
    test_table_remove(&table, ".hoodie/002.replacecommit.inflight");
    test_table_remove(&table, ".hoodie/002.replacecommit.requested");
    test_must(op, hd_file_system_view_load(op, NULL, table.fs, table.path, &table.config, &timeline,
                                           NULL, 0, &view));
    assert_int_equal(view.n_groups, 2);
    hd_file_system_view_clear(&view);
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void named_partitions_are_the_only_ones_listed(void **state)
{
    static const char *const NAMES[] = {"c", "a", "nowhere", "a"};
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_timeline timeline;
    struct hd_file_system_view view;

    test_table_open(op, &table, "view7", 6, "p");
    for (const char *p = "abc"; *p != '\0'; p++) {
        char path[64];

        snprintf(path, sizeof path, "%c/g_0-0-0_001.parquet", *p);
        test_table_put(&table, path, "x");
    }
    test_table_put(&table, ".hoodie/001.commit", "{}");
    test_must(op, hd_timeline_load(op, table.fs, table.path, &table.config, &timeline));
    test_must(op, hd_file_system_view_load(op, NULL, table.fs, table.path, &table.config, &timeline,
                                           NAMES, HD_ARRAY_LENGTH(NAMES), &view));
    assert_int_equal(view.n_partitions, 3);
    assert_int_equal(view.n_groups, 2);
    assert_string_equal(view.groups[0].partition_path, "a");
    assert_string_equal(view.groups[1].partition_path, "c");
    assert_null(hd_file_system_view_find(&view, "nowhere", "g"));
    hd_file_system_view_clear(&view);
    test_must(op, hd_file_system_view_load(op, NULL, table.fs, table.path, &table.config, &timeline,
                                           NAMES, 0, &view));
    assert_int_equal(view.n_groups, 0);
    hd_file_system_view_clear(&view);
    hd_timeline_clear(&timeline);
    test_table_close(&table);
}

static void any_number_of_threads_sees_the_same(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct loaded one, many;
    hd_pool *pool;

    test_table_open(op, &table, "view8", 6, "p");
    test_table_put(&table, ".hoodie/001.deltacommit", "{}");
    for (int p = 0; p < 20; p++) {
        char path[64];

        snprintf(path, sizeof path, "p%d/q%d", p % 7, p);
        put_partition(&table, path);
        for (int f = 0; f < 5; f++) {
            snprintf(path, sizeof path, "p%d/q%d/g%d_0-0-0_001.parquet", p % 7, p, f * 7 % 5);
            test_table_put(&table, path, "x");
        }
    }
    test_must(op, hd_pool_new(op, 4, &pool));
    load(&table, &one);
    test_must(op, try_load(&table, pool, &many));
    assert_int_equal(one.view.n_groups, 100);
    assert_int_equal(many.view.n_groups, 100);
    for (size_t i = 0; i < 100; i++) {
        assert_string_equal(one.view.groups[i].partition_path, many.view.groups[i].partition_path);
        assert_string_equal(one.view.groups[i].file_id, many.view.groups[i].file_id);
        assert_ptr_equal(hd_file_system_view_find(&many.view, one.view.groups[i].partition_path,
                                                  one.view.groups[i].file_id),
                         &many.view.groups[i]);
    }
    unload(&one);
    unload(&many);
    hd_pool_free(pool);
    test_table_close(&table);
}

/* Log files of a slice as "instant.version ", after its base instant. */
static void expect_slice(const struct hd_file_slice *slice, const char *expected)
{
    char text[256];
    int n =
        snprintf(text, sizeof text, "%s%s:", slice->base_instant, slice->base == NULL ? "-" : "");

    for (size_t i = 0; i < slice->n_logs; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %s.%u", slice->logs[i].instant,
                      slice->logs[i].log_version);
    assert_string_equal(text, expected);
}

/* The name of a log file has the delta commit that wrote it. */
static void from_version_8_on_completion_tells_the_slice_of_a_log_file(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct loaded t;
    const struct hd_file_group *group;

    test_table_open(op, &table, "view9", 8, NULL);
    test_table_put(&table, ".hoodie/timeline/002_003.deltacommit", "{}");
    test_table_put(&table, ".hoodie/timeline/004_009.deltacommit", "{}"); /* over the compaction */
    test_table_put(&table, ".hoodie/timeline/005_006.deltacommit", "{}");
    test_table_put(&table, ".hoodie/timeline/007_010.commit", "{}"); /* the compaction */
    test_table_put(&table, ".hoodie/timeline/008_011.deltacommit", "{}");
    test_table_put(&table, ".hoodie/timeline/012.deltacommit.inflight", "");
    test_table_put(&table, "g_0-0-0_002.parquet", "x");
    test_table_put(&table, "g_0-0-0_007.parquet", "x");
    test_table_put(&table, ".g_005.log.1_0-0-0", "x");
    test_table_put(&table, ".g_004.log.1_0-0-0", "x");
    test_table_put(&table, ".g_008.log.2_0-0-0", "x");
    test_table_put(&table, ".g_008.log.1_0-0-0", "x");
    test_table_put(&table, ".g_012.log.1_0-0-0", "x"); /* not committed */
    test_table_put(&table, ".g_006.log.1_0-0-0", "x"); /* rolled back */
    test_table_put(&table, ".h_005.log.1_0-0-0", "x"); /* without any base file */
    test_table_put(&table, ".h_004.log.1_0-0-0", "x");
    test_table_put(&table, "i_0-0-0_007.parquet", "x"); /* before its first base file */
    test_table_put(&table, ".i_005.log.1_0-0-0", "x");
    test_table_put(&table, ".i_008.log.1_0-0-0", "x");
    test_table_put(&table, ".i_001.log.1_0-0-0", "x"); /* archived */
    load(&table, &t);
    group = hd_file_system_view_find(&t.view, "", "g");
    assert_int_equal(group->n_slices, 2);
    expect_slice(&group->slices[0], "007: 004.1 008.1 008.2");
    expect_slice(&group->slices[1], "002: 005.1");
    group = hd_file_system_view_find(&t.view, "", "h");
    assert_int_equal(group->n_slices, 1);
    expect_slice(&group->slices[0], "004-: 004.1 005.1");
    group = hd_file_system_view_find(&t.view, "", "i");
    assert_int_equal(group->n_slices, 2);
    expect_slice(&group->slices[0], "007: 008.1");
    expect_slice(&group->slices[1], "001-: 001.1 005.1");
    assert_int_equal(t.view.n_groups, 3);
    unload(&t);
    test_table_close(&table);
}

/* An archive of version 8 with these delta commits: requested, completed. */
static void put_archive(struct test_table *table, const char *const (*commits)[2], size_t n)
{
    static const char *const NAMES[] = {"instantTime", "completionTime", "action"};
    static const struct hd_type TEXT = {.id = HD_TYPE_STRING}, BYTES = {.id = HD_TYPE_BINARY};
    struct hd_op *op = table->op;
    const struct hd_base_write_options options = {.format = HD_BASE_FILE_PARQUET,
                                                  .codec_level = INT32_MIN};
    struct ArrowSchema schema;
    struct ArrowArray batch;
    hd_builder *builder;
    hd_output_file *file;
    hd_base_writer *writer;
    uint64_t n_bytes;
    char *path;

    test_table_put(table, ".hoodie/timeline/history/manifest_1",
                   "{\"files\":[{\"fileName\":\"000_999_0.parquet\"}]}");
    test_must(op, hd_schema_init_struct(op, &schema, "", false, 4));
    for (int i = 0; i < 3; i++)
        test_must(op, hd_schema_init_field(op, schema.children[i], NAMES[i], &TEXT, true));
    test_must(op, hd_schema_init_field(op, schema.children[3], "metadata", &BYTES, true));
    test_must(op, hd_builder_new(op, &schema, &builder));
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++)
            test_must(
                op, hd_builder_append_bytes(op, hd_builder_child(builder, c),
                                            hd_slice_text(c == 2 ? "deltacommit" : commits[i][c])));
        test_must(op, hd_builder_append_null(op, hd_builder_child(builder, 3)));
        test_must(op, hd_builder_append_valid(op, builder));
    }
    test_must(op, hd_builder_finish(op, builder, &batch));
    hd_builder_free(builder);
    test_must(op,
              hd_path_join(op, table->path, ".hoodie/timeline/history/000_999_0.parquet", &path));
    test_must(op, hd_fs_open_output(op, table->fs, path, true, &file));
    test_must(op, hd_base_writer_open(op, file, &schema, &options, &writer));
    test_must(op, hd_base_writer_write(op, writer, &batch));
    test_must(op, hd_base_writer_close(op, writer, &n_bytes));
    hd_array_clear(&batch);
    hd_schema_clear(&schema);
    hd_free(op, path);
}

/* A delta commit that began before a compaction and completed after it, both long ago. */
static void the_archive_tells_when_a_commit_completed(void **state)
{
    static const char *const COMMITS[][2] = {
        {"001", "002"}, {"003", "007"}, {"004", "0045"}, {"005", "0065"}};
    struct hd_op *op = *state;
    struct test_table table;
    const struct hd_file_group *group;
    hudi_status status = HUDI_INTERNAL;

    test_table_open(op, &table, "view11", 8, "p");
    put_partition(&table, "p");
    put_partition(&table, "q");
    test_table_put(&table, ".hoodie/timeline/020_021.deltacommit", "{}");
    test_table_put(&table, "p/g_0-0-0_001.parquet", "x");
    test_table_put(&table, "p/g_0-0-0_006.parquet", "x"); /* the compaction */
    test_table_put(&table, "p/.g_003.log.1_0-0-0", "x");
    test_table_put(&table, "p/.g_004.log.1_0-0-0", "x");
    test_table_put(&table, "p/.g_005.log.1_0-0-0", "x");
    test_table_put(&table, "p/.g_0055.log.1_0-0-0", "x"); /* not in the archive */
    test_table_put(&table, "q/h_0-0-0_001.parquet", "x");
    test_table_put(&table, "q/.h_003.log.1_0-0-0", "x");
    put_archive(&table, COMMITS, HD_ARRAY_LENGTH(COMMITS));
    for (int nth = 1; status != HUDI_OK; nth++) {
        struct loaded t;

        test_fault_arm(op, nth);
        status = try_load(&table, NULL, &t);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        if (status == HUDI_OK) {
            group = hd_file_system_view_find(&t.view, "p", "g");
            assert_int_equal(group->n_slices, 2);
            expect_slice(&group->slices[0], "006: 003.1 005.1");
            expect_slice(&group->slices[1], "001: 004.1 0055.1");
            group = hd_file_system_view_find(&t.view, "q", "h");
            expect_slice(&group->slices[0], "001: 003.1");
        }
        unload(&t);
    }
    test_table_close(&table);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    hudi_status status = HUDI_INTERNAL;

    test_table_open(op, &table, "view10", 6, "p");
    put_partition(&table, "a");
    put_partition(&table, "b");
    test_table_put(&table, ".hoodie/001.commit",
                   "{\"partitionToWriteStats\":{\"a\":[{\"path\":\"a/g_0-0-0_001.parquet\"}]}}");
    test_table_put(&table, ".hoodie/002.replacecommit",
                   "{\"partitionToReplaceFileIds\":{\"b\":[\"h\"]}}");
    test_table_put(&table, "a/g_0-0-0_001.parquet", "x");
    test_table_put(&table, "a/g_0-0-1_001.parquet", "x");
    test_table_put(&table, "b/h_0-0-0_001.parquet", "x");
    for (int nth = 1; status != HUDI_OK; nth++) {
        struct loaded t;

        test_fault_arm(op, nth);
        status = try_load(&table, NULL, &t);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        unload(&t);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
    test_table_close(&table);
}

/* Labels: threads */
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_completed_instants_make_up_the_groups),
        cmocka_unit_test(log_files_are_in_log_order),
        cmocka_unit_test(a_slice_may_have_log_files_alone),
        cmocka_unit_test(the_commit_chooses_among_attempts_of_a_task),
        cmocka_unit_test(commits_are_not_opened_without_need),
        cmocka_unit_test(replaced_groups_are_gone_from_their_replacement_on),
        cmocka_unit_test(a_replacement_that_is_gone_was_archived_unless_it_is_pending),
        cmocka_unit_test(named_partitions_are_the_only_ones_listed),
        cmocka_unit_test(any_number_of_threads_sees_the_same),
        cmocka_unit_test(from_version_8_on_completion_tells_the_slice_of_a_log_file),
        cmocka_unit_test(the_archive_tells_when_a_commit_completed),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
