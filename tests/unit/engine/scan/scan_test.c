/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: threads */
#include "unit/engine/scan/scan_testing.h"

/* Which slices a query reads, which rows of them it gives, and in which order. */

#define T1 "20240101000001000"
#define T2 "20240101000002000"
#define T3 "20240101000003000"
#define T4 "20240101000004000"

#define STAT(partition, file_id, prev_commit)                                                      \
    "\"" partition "\":[{\"fileId\":\"" file_id "\",\"path\":\"" partition "/" file_id             \
    "\",\"prevCommit\":\"" prev_commit "\",\"partitionPath\":\"" partition "\"}]"

/* t1 writes a and c, t2 writes b, t3 changes a: what the three commits leave. */
static void make_three_commits(struct hd_op *op, struct scan_table *t, const char *name)
{
    scan_table_open(op, t, name, "string", "");
    scan_file(t, "x", "f1", T1, "x", T1 "|a|1\n" T1 "|c|1\n");
    scan_commit(t, T1, "commit", STAT("x", "f1", "null"), NULL);
    scan_file(t, "y", "f2", T2, "y", T2 "|b|2\n");
    scan_commit(t, T2, "commit", STAT("y", "f2", "null"), NULL);
    scan_file(t, "x", "f1", T3, "x", T3 "|a|3\n" T1 "|c|1\n");
    scan_commit(t, T3, "commit", STAT("x", "f1", T1), NULL);
}

static void snapshots_give_the_newest_slices_in_order(void **state)
{
    struct scan_table t;

    make_three_commits(*state, &t, "scan1");
    scan_expect(&t, "a|3\nc|1\nb|2\n");
    scan_option(&t, "libhudi.read.filter", "v >= 2");
    scan_expect(&t, "a|3\nb|2\n");
    scan_table_close(&t);
}

static void files_of_pending_instants_do_not_show(void **state)
{
    struct scan_table t;

    make_three_commits(*state, &t, "scan2");
    scan_file(&t, "x", "f1", T4, "x", T4 "|a|4\n");
    test_table_put(&t.table, ".hoodie/" T4 ".inflight", "");
    scan_expect(&t, "a|3\nc|1\nb|2\n");
    scan_table_close(&t);
}

static void time_travel_goes_to_any_commit_and_before_the_first(void **state)
{
    struct scan_table t;

    make_three_commits(*state, &t, "scan3");
    scan_option(&t, "as.of.instant", T3);
    scan_expect(&t, "a|3\nc|1\nb|2\n");
    scan_option(&t, "as.of.instant", T2);
    scan_expect(&t, "a|1\nc|1\nb|2\n");
    scan_option(&t, "as.of.instant", "2024-01-01T00:00:02.500Z");
    scan_expect(&t, "a|1\nc|1\nb|2\n");
    scan_option(&t, "as.of.instant", T1);
    scan_expect(&t, "a|1\nc|1\n");
    scan_option(&t, "as.of.instant", "20231231000000000");
    scan_expect(&t, "");
    scan_table_close(&t);
}

static void time_travel_to_cleaned_files_is_an_error(void **state)
{
    struct scan_table t;

    make_three_commits(*state, &t, "scan4");
    test_table_remove(&t.table, "x/f1_0-0-0_" T1 ".parquet");
    test_table_put(&t.table, ".hoodie/" T4 ".clean", "cleaned");
    scan_expect(&t, "a|3\nc|1\nb|2\n");
    scan_option(&t, "as.of.instant", T2);
    scan_expect_error(&t, HUDI_NOT_FOUND, "file group f1 of partition \"x\" was cleaned");
    scan_option(&t, "as.of.instant", "20231231000000000");
    scan_expect(&t, ""); /* there was nothing to clean */
    scan_table_close(&t);
}

static void time_travel_knows_groups_that_were_replaced_and_cleaned(void **state)
{
    struct scan_table t;

    make_three_commits(*state, &t, "scan5");
    scan_file(&t, "x", "f3", T4, "x", T4 "|a|4\n");
    scan_commit(&t, T4, "replacecommit", STAT("x", "f3", "null"), "\"x\":[\"f1\"]");
    scan_expect(&t, "a|4\nb|2\n");
    scan_option(&t, "as.of.instant", T3);
    scan_expect(&t, "a|3\nc|1\nb|2\n");
    test_table_remove(&t.table, "x/f1_0-0-0_" T1 ".parquet");
    test_table_remove(&t.table, "x/f1_0-0-0_" T3 ".parquet");
    test_table_put(&t.table, ".hoodie/20240101000005000.clean", "cleaned");
    scan_expect_error(&t, HUDI_NOT_FOUND, "file group f1 of partition \"x\" was cleaned");
    scan_option(&t, "libhudi.read.filter", "p = 'y'"); /* of no concern here */
    scan_expect(&t, "b|2\n");
    scan_table_close(&t);
}

static void range(struct scan_table *t, const char *begin, const char *end, const char *rows)
{
    hd_options_clear(&t->options);
    scan_option(t, "hoodie.datasource.query.type", "incremental");
    scan_option(t, "hoodie.datasource.read.begin.instanttime", begin);
    if (end != NULL)
        scan_option(t, "hoodie.datasource.read.end.instanttime", end);
    scan_expect(t, rows);
}

/* Begin exclusive, end inclusive. */
static void incremental_queries_give_the_rows_of_a_range(void **state)
{
    struct scan_table t;

    make_three_commits(*state, &t, "scan6");
    range(&t, T1, T3, "a|3\nb|2\n");
    range(&t, T1, T2, "b|2\n");
    range(&t, "0", NULL, "a|3\nc|1\nb|2\n");
    range(&t, "earliest", NULL, "a|3\nc|1\nb|2\n");
    range(&t, T3, NULL, "");
    range(&t, T3, T1, "");
    range(&t, "0", T1, "a|1\nc|1\n");
    range(&t, "20240101000001", T2, "a|1\nc|1\nb|2\n"); /* 14 digits: before its milliseconds */
    scan_table_close(&t);
}

/* Clustered rows keep the time of the commit that wrote them. */
static void incremental_queries_see_through_clustering(void **state)
{
    struct scan_table t;

    make_three_commits(*state, &t, "scan7");
    scan_file(&t, "x", "f9", T4, "x", T3 "|a|3\n" T1 "|c|1\n");
    scan_commit(&t, T4, "replacecommit", STAT("x", "f9", "null"), "\"x\":[\"f1\"]");
    range(&t, T2, NULL, "a|3\n");
    range(&t, T3, NULL, "");
    range(&t, T1, T3, "a|3\nb|2\n"); /* the replaced group as of then */
    scan_table_close(&t);
}

/* Commits that left the active timeline: the rows come from the files, which are there. */
static void incremental_queries_reach_into_the_archive(void **state)
{
    struct scan_table t;

    make_three_commits(*state, &t, "scan8");
    test_table_remove(&t.table, ".hoodie/" T1 ".commit");
    test_table_remove(&t.table, ".hoodie/" T2 ".commit");
    range(&t, "0", NULL, "a|3\nc|1\nb|2\n");
    range(&t, T1, NULL, "a|3\nb|2\n");
    range(&t, T1, T2, "b|2\n");
    scan_table_close(&t);
}

static void incremental_queries_of_cleaned_files_are_an_error(void **state)
{
    struct scan_table t;

    make_three_commits(*state, &t, "scan9");
    test_table_remove(&t.table, "x/f1_0-0-0_" T1 ".parquet");
    test_table_put(&t.table, ".hoodie/" T4 ".clean", "cleaned");
    range(&t, T1, NULL, "a|3\nb|2\n");
    range(&t, T1, T2, "b|2\n"); /* f1 as of t2 has no row of the range */
    hd_options_clear(&t.options);
    scan_option(&t, "hoodie.datasource.query.type", "incremental");
    scan_option(&t, "hoodie.datasource.read.begin.instanttime", "0");
    scan_option(&t, "hoodie.datasource.read.end.instanttime", T2);
    scan_expect_error(&t, HUDI_NOT_FOUND, "file group f1 of partition \"x\" was cleaned");
    scan_table_close(&t);
}

/* A completed commit of 0 bytes: an error that names it, or, asked for, none of its files. */
static void damaged_commits_are_named_or_left_out(void **state)
{
    struct scan_table t;

    make_three_commits(*state, &t, "scan10");
    test_table_put(&t.table, ".hoodie/" T2 ".commit", "");
    scan_expect_error(&t, HUDI_CORRUPT, T2 ".commit");
    scan_option(&t, "libhudi.read.recover", "true");
    scan_expect(&t, "a|3\nc|1\n");
    test_table_put(&t.table, ".hoodie/" T2 ".commit", "{\"partitionToWriteStats\":");
    scan_expect(&t, "a|3\nc|1\n");
    hd_options_clear(&t.options);
    scan_option(&t, "hoodie.datasource.query.type", "incremental");
    scan_option(&t, "hoodie.datasource.read.begin.instanttime", T1);
    scan_expect_error(&t, HUDI_CORRUPT, T2 ".commit");
    scan_option(&t, "libhudi.read.recover", "true");
    scan_expect(&t, "a|3\n");
    scan_table_close(&t);
}

static void partitions_are_pruned_by_what_their_path_says(void **state)
{
    struct scan_table t;

    scan_table_open(*state, &t, "scan11", "int", "");
    scan_file(&t, "7", "f1", T1, "7", T1 "|a|1\n");
    scan_file(&t, "8", "f2", T1, "8", T1 "|b|1\n");
    scan_file(&t, "__HIVE_DEFAULT_PARTITION__", "f3", T1, "~", T1 "|n|1\n");
    scan_commit(&t, T1, "commit", NULL, NULL);
    /* A file that must not be opened: it is none. */
    test_table_put(&t.table, "8/f2_0-0-0_" T1 ".parquet", "no Parquet");
    scan_option(&t, "libhudi.read.filter", "p = 7");
    scan_expect(&t, "a|1\n");
    scan_option(&t, "libhudi.read.filter", "p < 8 OR p IS NULL");
    scan_expect(&t, "a|1\nn|1\n");
    scan_option(&t, "libhudi.read.filter", "_hoodie_partition_path = '7'");
    scan_expect(&t, "a|1\n");
    scan_option(&t, "libhudi.read.filter", "p >= 8");
    scan_expect_error(&t, HUDI_CORRUPT, "8/f2_0-0-0_" T1 ".parquet");
    scan_table_close(&t);
}

/* What partitions are called, and which filters find them; nothing else is listed or opened. */
static void expect_pruned(struct hd_op *op, const char *name, const char *p_type,
                          const char *properties, const char *const *partitions,
                          const char *const *values, const char *filter, const char *rows)
{
    struct scan_table t;
    char file_id[24], row[64], path[128];

    scan_table_open(op, &t, name, p_type, properties);
    for (size_t i = 0; partitions[i] != NULL; i++) {
        snprintf(file_id, sizeof file_id, "f%zu", i);
        snprintf(row, sizeof row, T1 "|k%zu|1\n", i);
        snprintf(path, sizeof path, "k%zu|1\n", i);
        scan_file(&t, partitions[i], file_id, T1, values[i], row);
        if (strstr(rows, path) != NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s_0-0-0_" T1 ".parquet", partitions[i], file_id);
        test_table_put(&t.table, path, "no Parquet");
    }
    scan_commit(&t, T1, "commit", NULL, NULL);
    scan_option(&t, "libhudi.read.filter", filter);
    scan_expect(&t, rows);
    scan_table_close(&t);
}

static void pruning_knows_how_paths_are_written(void **state)
{
    static const char *const PLAIN[] = {"a", "a/b", "a0", "b", NULL};
    static const char *const HIVE[] = {"p=a", "p=a/b", "p=a0", "p=b", NULL};
    static const char *const VALUES[] = {"a", "a/b", "a0", "b"};
    static const char *const CODED[] = {"a", "a%2Fb", "a0", "b", NULL};
    static const char HIVE_STYLE[] = "hoodie.datasource.write.hive_style_partitioning=true\n";
    static const char ENCODED[] = "hoodie.datasource.write.partitionpath.urlencode=true\n";

    expect_pruned(*state, "prune1", "string", "", PLAIN, VALUES, "p = 'a'", "k0|1\n");
    expect_pruned(*state, "prune2", "string", "", PLAIN, VALUES, "p = 'a/b'", "k1|1\n");
    expect_pruned(*state, "prune3", "string", "", PLAIN, VALUES, "p > 'a/b'", "k2|1\nk3|1\n");
    expect_pruned(*state, "prune4", "string", "", PLAIN, VALUES, "NOT p <= 'a0'", "k3|1\n");
    expect_pruned(*state, "prune5", "string", HIVE_STYLE, HIVE, VALUES, "p IN ('a/b', 'b')",
                  "k1|1\nk3|1\n");
    expect_pruned(*state, "prune6", "string", ENCODED, CODED, VALUES, "p = 'a/b'", "k1|1\n");
    expect_pruned(*state, "prune7", "string", HIVE_STYLE, HIVE, VALUES,
                  "_hoodie_partition_path = 'p=a/b'", "k1|1\n");
}

/* The folder is 2021/12/31 or, by another clock, 2022/01/01; the column is milliseconds. */
static void what_the_timestamp_generator_formats_prunes_nothing(void **state)
{
    struct scan_table t;

    scan_table_open(*state, &t, "scan12", "long",
                    "hoodie.table.keygenerator.class=org.apache.hudi.keygen."
                    "TimestampBasedKeyGenerator\n");
    t.p_type = "bigint";
    scan_file(&t, "2021/12/31", "f1", T1, "1640995199000", T1 "|a|1\n");
    scan_file(&t, "2022/01/01", "f2", T1, "1640995199000", T1 "|b|1\n");
    t.p_type = "long";
    scan_commit(&t, T1, "commit", NULL, NULL);
    scan_option(&t, "libhudi.read.filter", "p = 1640995199000");
    scan_expect(&t, "a|1\nb|1\n");
    scan_option(&t, "libhudi.read.filter", "p = 1640995199001");
    scan_expect(&t, "");
    scan_table_close(&t);
}

static void a_limit_ends_the_rows(void **state)
{
    struct scan_table t;
    struct hd_str got = {0};

    make_three_commits(*state, &t, "scan13");
    scan_option(&t, "libhudi.read.limit", "2");
    for (size_t n = 1; n < 3; n++) {
        test_must(t.table.op, scan_rows(&t, n, false, &got));
        assert_string_equal(hd_str_text(&got), "a|3\nc|1\n");
        hd_str_clear(&got);
    }
    scan_option(&t, "libhudi.read.filter", "v > 1"); /* read ahead */
    scan_option(&t, "libhudi.read.limit", "1");
    test_must(t.table.op, scan_rows(&t, 4, false, &got));
    assert_string_equal(hd_str_text(&got), "a|3\n");
    hd_str_clear(&got);
    scan_option(&t, "libhudi.read.limit", "0");
    scan_expect(&t, "");
    scan_table_close(&t);
}

static void options_that_do_not_fit_are_refused(void **state)
{
    struct scan_table t;

    make_three_commits(*state, &t, "scan14");
    scan_option(&t, "libhudi.read.columns", "id,nothing");
    scan_expect_error(&t, HUDI_INVALID, "there is no column \"nothing\"");
    scan_option(&t, "libhudi.read.columns", "id,,v");
    scan_expect_error(&t, HUDI_INVALID, "column 2 of the list");
    scan_option(&t, "libhudi.read.columns", " ID , v");
    scan_expect(&t, "a|3\nc|1\nb|2\n");
    scan_option(&t, "libhudi.read.filter", "v = 'x'");
    scan_expect_error(&t, HUDI_INVALID, "character 5");
    hd_options_clear(&t.options);
    scan_option(&t, "hoodie.datasource.query.type", "incremental");
    scan_expect_error(&t, HUDI_INVALID, "needs hoodie.datasource.read.begin.instanttime");
    scan_option(&t, "hoodie.datasource.read.begin.instanttime", "0");
    scan_option(&t, "as.of.instant", T1);
    scan_expect_error(&t, HUDI_INVALID, "does not go with an incremental query");
    scan_table_close(&t);
}

static void a_table_without_commits_has_no_rows(void **state)
{
    struct scan_table t;

    scan_table_open(*state, &t, "scan15", "string",
                    "hoodie.table.create.schema={\"type\":\"record\",\"name\":\"r\",\"fields\":[{"
                    "\"name\":\"id\",\"type\":\"string\"},{\"name\":\"v\",\"type\":\"int\"}]}\n");
    scan_expect(&t, "");
    scan_table_close(&t);
}

/* Many files through few places and threads: the order stays. */
static void reading_ahead_keeps_the_order(void **state)
{
    struct scan_table t;
    struct hd_str expected = {0}, got = {0};
    char file_id[16], row[64];

    scan_table_open(*state, &t, "scan16", "string", "");
    for (int i = 0; i < 200; i++) {
        snprintf(file_id, sizeof file_id, "f%03d", i);
        snprintf(row, sizeof row, T1 "|k%03d|%d\n", i, i);
        scan_file(&t, "x", file_id, T1, "x", row);
        test_must(t.table.op, hd_str_printf(t.table.op, &expected, "k%03d|%d\n", i, i));
    }
    scan_commit(&t, T1, "commit", NULL, NULL);
    test_must(t.table.op, scan_rows(&t, 4, false, &got));
    assert_string_equal(hd_str_text(&got), hd_str_text(&expected));
    hd_str_clear(&got);
    /* A failure in the middle comes after the rows before it, whatever was read ahead. */
    test_table_put(&t.table, "x/f150_0-0-0_" T1 ".parquet", "no Parquet");
    for (size_t n = 1; n < 5; n += 3) {
        assert_int_equal(scan_rows(&t, n, false, &got), HUDI_CORRUPT);
        assert_int_equal(got.size, strlen("kNNN|N\n") * 10 + strlen("kNNN|NN\n") * 90 +
                                       strlen("kNNN|NNN\n") * 50);
        hd_op_clear_error(t.table.op);
        hd_str_clear(&got);
    }
    hd_str_clear(&expected);
    scan_table_close(&t);
}

static void every_cut_of_a_split_is_refused(void **state)
{
    struct scan_table t;
    struct hd_op *op = *state;
    struct hd_table_snapshot snapshot;
    struct hd_str bytes = {0};
    hd_scan_plan *plan, *split;

    make_three_commits(op, &t, "scan17");
    scan_option(&t, "libhudi.read.filter", "v = 2");
    test_must(op, hd_table_snapshot_load(op, "memory:scan17/t", &snapshot));
    test_must(op, hd_scan_plan_new(op, NULL, &snapshot, &t.options, &plan));
    assert_int_equal(hd_scan_plan_n_splits(plan), 2);
    test_must(op, hd_scan_split_encode(op, plan, 0, &bytes));
    test_must(op, hd_scan_split_decode(op, hd_str_slice(&bytes), &split));
    hd_scan_plan_free(split);
    for (size_t n = 0; n < bytes.size; n++) {
        char *cut;

        test_must(op, hd_alloc_raw(op, n, 1, &cut));
        memcpy(cut, bytes.data, n);
        assert_int_equal(hd_scan_split_decode(op, hd_slice_of(cut, n), &split), HUDI_CORRUPT);
        assert_null(split);
        hd_op_clear_error(op);
        hd_free(op, cut);
    }
    char *version = strstr(bytes.data, "\"version\":1");
    assert_non_null(version);
    version[strlen("\"version\":")] = '2';
    assert_int_equal(hd_scan_split_decode(op, hd_str_slice(&bytes), &split), HUDI_NOT_IMPLEMENTED);
    hd_op_clear_error(op);
    hd_str_clear(&bytes);
    hd_scan_plan_free(plan);
    hd_table_snapshot_clear(op, &snapshot);
    scan_table_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_give_the_newest_slices_in_order),
        cmocka_unit_test(files_of_pending_instants_do_not_show),
        cmocka_unit_test(time_travel_goes_to_any_commit_and_before_the_first),
        cmocka_unit_test(time_travel_to_cleaned_files_is_an_error),
        cmocka_unit_test(time_travel_knows_groups_that_were_replaced_and_cleaned),
        cmocka_unit_test(incremental_queries_give_the_rows_of_a_range),
        cmocka_unit_test(incremental_queries_see_through_clustering),
        cmocka_unit_test(incremental_queries_reach_into_the_archive),
        cmocka_unit_test(incremental_queries_of_cleaned_files_are_an_error),
        cmocka_unit_test(damaged_commits_are_named_or_left_out),
        cmocka_unit_test(partitions_are_pruned_by_what_their_path_says),
        cmocka_unit_test(pruning_knows_how_paths_are_written),
        cmocka_unit_test(what_the_timestamp_generator_formats_prunes_nothing),
        cmocka_unit_test(a_limit_ends_the_rows),
        cmocka_unit_test(options_that_do_not_fit_are_refused),
        cmocka_unit_test(a_table_without_commits_has_no_rows),
        cmocka_unit_test(reading_ahead_keeps_the_order),
        cmocka_unit_test(every_cut_of_a_split_is_refused),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
