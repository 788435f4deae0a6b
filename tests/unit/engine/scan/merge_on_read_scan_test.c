/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of merge-on-read tables that Hudi wrote: what they give is in tests/golden, here it is
 * that the ways to read them agree. */
#include "unit/engine/scan/scan_testing.h"

#include <stdlib.h>

#include "support/golden.h"

struct query {
    const char *keys[4], *values[4];
};

static hudi_status read_stream(struct hd_op *op, hd_pool *pool, hd_scan_plan *plan,
                               struct hd_str *out)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema = {0};
    struct ArrowArray batch;

    HD_TRY(hd_scan_stream(op, pool, plan, &stream));
    hudi_status status = hd_stream_schema(op, &stream, &schema);
    while (status == HUDI_OK && (status = hd_stream_next(op, &stream, &batch)) == HUDI_OK) {
        test_append_rows(op, &schema, &batch, out);
        hd_array_clear(&batch);
    }
    hd_schema_clear(&schema);
    hd_stream_clear(&stream);
    return status == HUDI_END ? HUDI_OK : status;
}

/* Commit time and record key of all rows. */
static void read_table(struct hd_op *op, const char *path, const struct query *query,
                       size_t n_threads, bool encode, struct hd_str *out)
{
    struct hd_table_snapshot snapshot;
    struct hd_options options = {0};
    hd_scan_plan *plan, *split;
    hd_pool *pool;

    test_must(op, hd_options_set(op, &options, "libhudi.read.columns",
                                 "_hoodie_commit_time,_hoodie_record_key"));
    for (size_t i = 0; i < 4 && query->keys[i] != NULL; i++)
        test_must(op, hd_options_set(op, &options, query->keys[i], query->values[i]));
    test_must(op, hd_pool_new(op, n_threads, &pool));
    test_must(op, hd_table_snapshot_load(op, path, &snapshot));
    test_must(op, hd_scan_plan_new(op, pool, &snapshot, &options, &plan));
    if (encode) {
        for (size_t i = 0; i < hd_scan_plan_n_splits(plan); i++) {
            struct hd_str bytes = {0};

            test_must(op, hd_scan_split_encode(op, plan, i, &bytes));
            test_must(op, hd_scan_split_decode(op, hd_str_slice(&bytes), &split));
            hd_str_clear(&bytes);
            test_must(op, read_stream(op, pool, split, out));
        }
        hd_scan_plan_free(plan);
    } else {
        test_must(op, read_stream(op, pool, plan, out));
    }
    hd_table_snapshot_clear(op, &snapshot);
    hd_options_clear(&options);
    hd_pool_free(pool);
}

static void check_query(struct hd_op *op, const char *name, const struct query *query,
                        size_t n_rows)
{
    char *path = test_golden_unpack(name);
    struct hd_str one = {0};
    size_t n = 0;

    read_table(op, path, query, 1, false, &one);
    for (size_t i = 0; i < one.size; i++)
        n += one.data[i] == '\n';
    assert_int_equal(n, n_rows);
    for (int i = 0; i < 2; i++) {
        struct hd_str other = {0};

        read_table(op, path, query, i == 0 ? 4 : 1, i == 1, &other);
        assert_string_equal(hd_str_text(&other), hd_str_text(&one));
        hd_str_clear(&other);
    }
    hd_str_clear(&one);
    test_golden_remove(path);
}

#define TYPE "hoodie.datasource.query.type"
#define BEGIN "hoodie.datasource.read.begin.instanttime"
#define END "hoodie.datasource.read.end.instanttime"

static void threads_and_splits_give_the_same_rows_in_the_same_order(void **state)
{
    static const struct {
        const char *name;
        struct query query;
        size_t n_rows;
    } CASES[] = {
        /* blocks of a rolled back instant, of a later rollback, of pending instants, of 0.10 */
        {"flink010-mor-rollback", {{NULL}, {NULL}}, 10},
        {"spark-0.15.0-failed-mor", {{NULL}, {NULL}}, 40},
        {"spark-0.15.0-failed-mor", {{TYPE, BEGIN}, {"incremental", "20261130141451363"}}, 3},
        {"spark-0.15.0-failed-mor", {{"as.of.instant"}, {"20261130141451363"}}, 40},
        {"spark-0.15.0-rollback-mor", {{TYPE, BEGIN}, {"incremental", "20261130141604836"}}, 4},
        {"spark-0.15.0-rollback-mor",
         {{TYPE, BEGIN, END}, {"incremental", "20261130141604836", "20261130141612546"}},
         3},
        {"spark-0.15.0-payload-default-mor",
         {{TYPE, BEGIN}, {"incremental", "20261130143113809"}},
         12},
        {"spark-0.15.0-payload-default-mor", {{"libhudi.merge.rules"}, {"1.x"}}, 18},
        {"spark-0.15.0-mor-logs-only", {{TYPE}, {"read_optimized"}}, 0},
        /* from version 8 on ranges are of completion times, rows have the instants */
        {"spark-1.1.1-payload-default-mor",
         {{TYPE, BEGIN, END}, {"incremental", "20261130143436069", "20261130143438587"}},
         5},
        {"spark-1.1.1-payload-default-mor",
         {{TYPE, BEGIN, END}, {"incremental", "20261130143436069", "20261130143441844"}},
         8},
        {"spark-1.1.1-payload-default-mor",
         {{TYPE, BEGIN, END}, {"incremental", "20261130143436069", "20261130143441843"}},
         5},
        {"spark-1.1.1-payload-default-mor",
         {{TYPE, BEGIN, END}, {"incremental", "000", "20261130143438587"}},
         20},
        {"spark-1.1.1-payload-default-mor",
         {{TYPE, BEGIN}, {"incremental", "20261130143453533"}},
         0},
        {"spark-1.1.1-archived-mor", {{TYPE, BEGIN}, {"incremental", "earliest"}}, 39},
        {"spark-1.1.1-archived-mor", {{TYPE, BEGIN}, {"incremental", "20261130142318841"}}, 39},
        {"spark-1.1.1-archived-mor", {{TYPE, BEGIN}, {"incremental", "20261130142318842"}}, 36},
        {"spark-1.1.1-archived-mor", {{TYPE, BEGIN}, {"incremental", "20261130142325963"}}, 33},
        {"spark-1.1.1-archived-mor",
         {{TYPE, BEGIN, END}, {"incremental", "20261130142325963", "20261130142603416"}},
         30},
        {"spark-1.1.1-archived-mor",
         {{TYPE, BEGIN, END}, {"incremental", "earliest", "20261130142318841"}},
         0},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++)
        check_query(*state, CASES[i].name, &CASES[i].query, CASES[i].n_rows);
}

/* What was cleaned of them since is not known: no row may be missed for that. */
static void ends_in_the_archive_of_a_merge_on_read_table_of_version_9_are_refused(void **state)
{
    struct hd_op *op = *state;
    char *path = test_golden_unpack("spark-1.1.1-archived-mor");
    struct hd_table_snapshot snapshot;
    struct hd_options options = {0};
    hd_scan_plan *plan;

    test_must(op, hd_options_set(op, &options, TYPE, "incremental"));
    test_must(op, hd_options_set(op, &options, BEGIN, "20261130142318842"));
    test_must(op, hd_options_set(op, &options, END, "20261130142325963"));
    test_must(op, hd_table_snapshot_load(op, path, &snapshot));
    assert_int_equal(hd_scan_plan_new(op, NULL, &snapshot, &options, &plan), HUDI_NOT_IMPLEMENTED);
    assert_non_null(strstr(hudi_error_message(op->error), "before the active timeline"));
    hd_op_clear_error(op);
    hd_table_snapshot_clear(op, &snapshot);
    hd_options_clear(&options);
    test_golden_remove(path);
}

static void versions_that_were_overwritten_are_not_given(void **state)
{
    struct hd_op *op = *state;
    char *path = test_golden_unpack("spark-0.15.0-mor-nonpart");
    struct hd_table_snapshot snapshot;
    struct hd_options options = {0};
    hd_scan_plan *plan;

    test_must(op, hd_options_set(op, &options, "hoodie.datasource.merge.type", "skip_merge"));
    test_must(op, hd_table_snapshot_load(op, path, &snapshot));
    assert_int_equal(hd_scan_plan_new(op, NULL, &snapshot, &options, &plan), HUDI_NOT_IMPLEMENTED);
    hd_op_clear_error(op);
    test_must(op, hd_options_set(op, &options, TYPE, "read_optimized"));
    test_must(op, hd_scan_plan_new(op, NULL, &snapshot, &options, &plan));
    hd_scan_plan_free(plan);
    hd_table_snapshot_clear(op, &snapshot);
    hd_options_clear(&options);
    test_golden_remove(path);
}

static void every_cut_of_a_split_with_log_files_is_refused(void **state)
{
    struct hd_op *op = *state;
    char *path = test_golden_unpack("spark-0.15.0-rollback-mor");
    struct hd_table_snapshot snapshot;
    struct hd_str bytes = {0};
    hd_scan_plan *plan, *split;

    test_must(op, hd_table_snapshot_load(op, path, &snapshot));
    test_must(op, hd_scan_plan_new(op, NULL, &snapshot, NULL, &plan));
    test_must(op, hd_scan_split_encode(op, plan, 0, &bytes));
    assert_non_null(strstr(hd_str_text(&bytes), ".log.4_"));
    for (size_t n = 0; n < bytes.size; n += 1 + n / 256) {
        char *cut;

        test_must(op, hd_alloc_raw(op, n, 1, &cut));
        memcpy(cut, bytes.data, n);
        assert_int_equal(hd_scan_split_decode(op, hd_slice_of(cut, n), &split), HUDI_CORRUPT);
        hd_op_clear_error(op);
        hd_free(op, cut);
    }
    /* Log files that are not of the table. */
    char *log = strstr(bytes.data, "\"logs\":[\"");
    assert_non_null(log);
    memcpy(log + strlen("\"logs\":[\""), "../", 3);
    assert_int_equal(hd_scan_split_decode(op, hd_str_slice(&bytes), &split), HUDI_CORRUPT);
    hd_op_clear_error(op);
    hd_str_clear(&bytes);
    hd_scan_plan_free(plan);
    hd_table_snapshot_clear(op, &snapshot);
    test_golden_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_splits_give_the_same_rows_in_the_same_order),
        cmocka_unit_test(ends_in_the_archive_of_a_merge_on_read_table_of_version_9_are_refused),
        cmocka_unit_test(versions_that_were_overwritten_are_not_given),
        cmocka_unit_test(every_cut_of_a_split_with_log_files_is_refused),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
