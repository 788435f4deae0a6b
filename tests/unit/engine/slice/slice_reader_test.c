/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/engine/rows_testing.h"

#include "store/memory.h"

/* One base file in memory, read as the columns of a table. */

#define STORE "slice"

struct slice {
    struct hd_op *op;
    hd_file_system *fs;
    char *folder;
    struct hd_table_config config;
    struct ArrowSchema schema;
    int32_t columns[32];
    hd_predicate *predicate;
    struct hd_slice_query query;
    struct hd_slice_source source;
};

/* A file of `file_columns` and `rows` in the partition p=7, read as `columns`. */
static void open_slice(struct hd_op *op, struct slice *s, const char *file_columns,
                       const char *rows, int64_t row_group_rows, const char *columns)
{
    char *path;

    *s = (struct slice){.op = op};
    test_must(op, hd_fs_open(op, "memory:" STORE "/t", &s->fs, &s->folder));
    test_must(op, hd_path_join(op, s->folder, "p=7", &path));
    test_must(op, hd_fs_make_dirs(op, s->fs, path));
    hd_free(op, path);
    test_must(op, hd_path_join(op, s->folder, "p=7/f_0-0-0_001.parquet", &path));
    test_base_file(op, s->fs, path, file_columns, rows, row_group_rows);
    hd_free(op, path);
    test_schema(op, columns, &s->schema);
    for (int32_t i = 0; i < s->schema.n_children; i++)
        s->columns[i] = i;
    s->query = (struct hd_slice_query){
        .fs = s->fs,
        .table_path = s->folder,
        .config = &s->config,
        .schema = &s->schema,
        .columns = s->columns,
        .n_columns = (int32_t)s->schema.n_children,
        .use_statistics = true,
    };
    s->source = (struct hd_slice_source){.partition_path = "p=7",
                                         .file_id = "f",
                                         .instant = "001",
                                         .base_path = "p=7/f_0-0-0_001.parquet"};
}

static void filter(struct slice *s, const char *text)
{
    hd_predicate_free(s->predicate);
    test_must(s->op, hd_predicate_new(s->op, &s->schema, &s->predicate));
    test_must(s->op, hd_predicate_and(s->op, s->predicate, hd_slice_text(text)));
    s->query.predicate = s->predicate;
}

static void close_slice(struct slice *s)
{
    hd_predicate_free(s->predicate);
    hd_schema_clear(&s->schema);
    hd_free(s->op, s->folder);
    hd_fs_free(s->fs);
    hd_memory_drop(STORE);
}

/* All rows as lines; `*n_read` row groups (may be NULL). */
static hudi_status read_slice(struct slice *s, struct hd_str *out, int32_t *n_read)
{
    hudi_status status = HUDI_OK;
    hd_slice_reader *reader = NULL;
    struct ArrowSchema schema = {0};
    struct ArrowArray batch;
    int32_t n_all;

    HD_TRY_OUT(hd_slice_query_schema(s->op, &s->query, &schema));
    HD_TRY_OUT(hd_slice_reader_open(s->op, &s->query, &s->source, &reader));
    if (n_read != NULL)
        hd_slice_reader_row_groups(reader, &n_all, n_read);
    while ((status = hd_slice_reader_next(s->op, reader, &batch)) == HUDI_OK) {
        assert_true(batch.length > 0);
        test_append_rows(s->op, &schema, &batch, out);
        hd_array_clear(&batch);
    }
    if (status == HUDI_END)
        status = HUDI_OK;
out:
    hd_slice_reader_close(reader);
    hd_schema_clear(&schema);
    return status;
}

static void expect(struct slice *s, const char *rows)
{
    struct hd_str got = {0};

    test_must(s->op, read_slice(s, &got, NULL));
    assert_string_equal(hd_str_text(&got), rows);
    hd_str_clear(&got);
}

static void expect_error(struct slice *s, hudi_status status, const char *message)
{
    struct hd_str got = {0};

    assert_int_equal(read_slice(s, &got, NULL), status);
    assert_non_null(s->op->error);
    if (strstr(hudi_error_message(s->op->error), message) == NULL)
        fail_msg("%s", hudi_error_message(s->op->error));
    hd_op_clear_error(s->op);
    hd_str_clear(&got);
}

static void columns_come_by_name_in_the_order_asked_for(void **state)
{
    struct slice s;

    open_slice(*state, &s, "a int\nb string\nc bigint\n", "1|x|10\n2|~|20\n", 0,
               "a int\nb string\nc bigint\n");
    expect(&s, "1|x|10\n2|~|20\n");
    s.columns[0] = 2;
    s.columns[1] = 0;
    s.query.n_columns = 2;
    expect(&s, "10|1\n20|2\n");
    s.columns[1] = 2;
    expect(&s, "10|10\n20|20\n");
    close_slice(&s);
}

static void missing_columns_are_null_and_types_are_the_tables(void **state)
{
    struct slice s;

    open_slice(*state, &s, "a int\nf float\nd decimal(5,1)\n", "1|0.5|1.5\n~|~|~\n", 0,
               "extra string\na bigint\nf double\nd decimal(10,2)\ntags array<int>\n");
    s.query.n_columns = 4;
    expect(&s, "~|1|0.5|1.50\n~|~|~|~\n");
    close_slice(&s);
}

/* As Flink's row writer leaves them: bare integers that only the table's schema makes times. */
static void bare_integers_become_the_times_of_the_table(void **state)
{
    struct slice s;

    open_slice(*state, &s, "ms bigint\nus bigint\nday int\n",
               "1704067200001|1704067200000001|19723\n~|~|~\n", 1,
               "ms timestamp_millis\nus timestamp\nday date\n");
    expect(&s, "1704067200001|1704067200000001|2024-01-01\n~|~|~\n");
    filter(&s, "ms = '2024-01-01T00:00:00.001Z'");
    expect(&s, "1704067200001|1704067200000001|2024-01-01\n");
    filter(&s, "day > '2024-01-01'");
    expect(&s, "");
    close_slice(&s);
}

static void types_that_do_not_become_the_tables_are_an_error(void **state)
{
    struct slice s;

    open_slice(*state, &s, "a string\n", "x\n", 0, "a boolean\n");
    expect_error(&s, HUDI_SCHEMA, "column \"a\"");
    close_slice(&s);
}

static void rows_are_filtered_also_by_columns_not_asked_for(void **state)
{
    struct slice s;

    open_slice(*state, &s, "a int\nb string\n", "1|x\n2|y\n3|~\n4|y\n", 0,
               "a int\nb string\nc string\n");
    s.query.n_columns = 1;
    filter(&s, "b = 'y'");
    expect(&s, "2\n4\n");
    filter(&s, "b IS NULL");
    expect(&s, "3\n");
    filter(&s, "c IS NULL AND a < 3"); /* not in the file */
    expect(&s, "1\n2\n");
    filter(&s, "c = 'x'");
    expect(&s, "");
    s.query.n_columns = 0;
    filter(&s, "a > 1");
    s.columns[0] = 1;
    s.query.n_columns = 1;
    expect(&s, "y\n~\ny\n");
    close_slice(&s);
}

static void row_groups_are_skipped_by_their_statistics(void **state)
{
    struct slice s;
    struct hd_str got = {0};
    int32_t n_read;

    open_slice(*state, &s, "a int\nb string\n", "1|x\n2|y\n3|z\n4|~\n5|x\n6|y\n", 2,
               "a bigint\nb string\nc string\n");
    s.query.n_columns = 1;
    filter(&s, "a >= 5");
    test_must(s.op, read_slice(&s, &got, &n_read));
    assert_int_equal(n_read, 1);
    assert_string_equal(hd_str_text(&got), "5\n6\n");
    hd_str_clear(&got);

    filter(&s, "b IS NULL");
    test_must(s.op, read_slice(&s, &got, &n_read));
    assert_int_equal(n_read, 1);
    assert_string_equal(hd_str_text(&got), "4\n");
    hd_str_clear(&got);

    filter(&s, "c IS NOT NULL"); /* the file has no such column */
    test_must(s.op, read_slice(&s, &got, &n_read));
    assert_int_equal(n_read, 0);
    assert_string_equal(hd_str_text(&got), "");
    hd_str_clear(&got);

    s.query.use_statistics = false;
    filter(&s, "a >= 5");
    test_must(s.op, read_slice(&s, &got, &n_read));
    assert_int_equal(n_read, 3);
    assert_string_equal(hd_str_text(&got), "5\n6\n");
    hd_str_clear(&got);
    close_slice(&s);
}

/* Row groups whose statistics allow for rows that none of theirs is. */
static void few_rows_of_many_row_groups_are_found(void **state)
{
    struct slice s;
    struct hd_str rows = {0}, expected = {0};

    /* a: 0 and 9 in every row group, 5 in one of ten */
    for (int i = 0; i < 100; i++) {
        test_must(*state, hd_str_printf(*state, &rows, "0|x%d|%d|z\n%d|x%d|%d|z\n9|x%d|%d|z\n", i,
                                        i, i % 10 == 3 ? 5 : 1, i, i, i, i));
        if (i % 10 == 3)
            test_must(*state, hd_str_printf(*state, &expected, "5|x%d|%d|z\n", i, i));
    }
    open_slice(*state, &s, "a int\nb string\nc bigint\nd string\n", hd_str_text(&rows), 3,
               "a int\nb string\nc bigint\nd string\n");
    filter(&s, "a = 5");
    expect(&s, hd_str_text(&expected));
    filter(&s, "a IN (4, 6)");
    expect(&s, "");
    filter(&s, "a >= 0"); /* all row groups have some */
    expect(&s, hd_str_text(&rows));
    hd_str_clear(&rows);
    hd_str_clear(&expected);
    close_slice(&s);
}

/* Text does not sort as numbers do: "10" < "9". */
static void statistics_of_a_type_that_sorts_otherwise_do_not_count(void **state)
{
    struct slice s;

    open_slice(*state, &s, "a int\n", "9\n10\n", 0, "a string\n");
    filter(&s, "a = '9'");
    expect(&s, "9\n");
    filter(&s, "a < '2'");
    expect(&s, "10\n");
    close_slice(&s);
}

static void deletes_of_a_change_log_do_not_show(void **state)
{
    struct slice s;

    open_slice(*state, &s, "_hoodie_operation string\na int\n", "I|1\n-U|2\nU|3\nD|4\n~|5\n", 0,
               "a int\nb string\n");
    s.query.n_columns = 1;
    expect(&s, "1\n3\n5\n");
    filter(&s, "a > 2");
    expect(&s, "3\n5\n");
    close_slice(&s);
}

static void columns_that_are_not_stored_come_from_the_partition_path(void **state)
{
    const char *fields[] = {"p"};
    struct slice s;

    open_slice(*state, &s, "a int\n", "1\n2\n3\n", 0, "a int\np int\n");
    s.config.partition_fields = fields;
    s.config.n_partition_fields = 1;
    s.config.hive_style_partitioning = true;
    s.config.drop_partition_columns = true;
    s.config.default_partition = "__HIVE_DEFAULT_PARTITION__";
    expect(&s, "1|7\n2|7\n3|7\n");
    filter(&s, "p = 7 AND a <> 2");
    expect(&s, "1|7\n3|7\n");
    filter(&s, "p = 8");
    expect(&s, "");
    s.columns[0] = 1; /* nothing is left to read from the file */
    s.query.n_columns = 1;
    s.query.predicate = NULL;
    expect(&s, "7\n7\n7\n");
    close_slice(&s);

    open_slice(*state, &s, "a int\np int\n", "1|5\n", 0, "a int\np int\n");
    s.config.partition_fields = fields;
    s.config.n_partition_fields = 1;
    s.config.drop_partition_columns = true;
    expect(&s, "1|5\n"); /* stored after all */
    close_slice(&s);
}

static void read_optimized_queries_leave_log_files_out(void **state)
{
    static const char *const GONE[] = {"p=7/.f_001.log.1_0-0-0"};
    struct slice s;

    open_slice(*state, &s, "a int\n", "1\n", 0, "a int\n");
    s.source.n_logs = 1;
    s.source.log_paths = GONE;
    s.query.read_optimized = true;
    expect(&s, "1\n");
    s.source.base_path = NULL;
    expect(&s, "");
    close_slice(&s);
}

static void files_that_are_gone_or_of_another_kind_are_named(void **state)
{
    struct slice s;

    open_slice(*state, &s, "a int\n", "1\n", 0, "a int\n");
    s.source.base_path = "p=7/gone.parquet";
    expect_error(&s, HUDI_NOT_FOUND, "");
    s.source.base_path = "p=7/f_0-0-0_001.lance";
    expect_error(&s, HUDI_NOT_IMPLEMENTED, "f_0-0-0_001.lance");
    close_slice(&s);
}

static void batches_have_the_rows_asked_for_at_most(void **state)
{
    struct slice s;
    hd_slice_reader *reader;
    struct ArrowArray batch;
    int n = 0;

    open_slice(*state, &s, "a int\n", "1\n2\n3\n4\n5\n", 0, "a int\n");
    s.query.batch_rows = 2;
    test_must(s.op, hd_slice_reader_open(s.op, &s.query, &s.source, &reader));
    while (hd_slice_reader_next(s.op, reader, &batch) == HUDI_OK) {
        assert_true(batch.length <= 2);
        hd_array_clear(&batch);
        n++;
    }
    assert_int_equal(n, 3);
    hd_slice_reader_close(reader);
    close_slice(&s);
}

static void every_fault_is_passed_up_and_leaks_nothing(void **state)
{
    hudi_status status = HUDI_INTERNAL;
    struct slice s;

    open_slice(*state, &s, "a int\nb string\n", "1|x\n2|y\n3|~\n4|y\n", 2,
               "a bigint\nb string\nc string\n");
    filter(&s, "b = 'y' OR a < 2");
    for (int nth = 1; status != HUDI_OK; nth++) {
        hd_slice_reader *reader = NULL;
        struct ArrowArray batch;

        assert_true(nth < 10000);
        test_fault_arm(s.op, nth);
        status = hd_slice_reader_open(s.op, &s.query, &s.source, &reader);
        while (status == HUDI_OK) {
            status = hd_slice_reader_next(s.op, reader, &batch);
            if (status == HUDI_OK)
                hd_array_clear(&batch);
        }
        if (status == HUDI_END)
            status = HUDI_OK;
        hd_slice_reader_close(reader);
        assert_true(status != HUDI_OK || !test_fault_fired(s.op) || s.op->error == NULL);
    }
    test_fault_disarm(s.op);
    hd_op_clear_error(s.op);
    close_slice(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_come_by_name_in_the_order_asked_for),
        cmocka_unit_test(missing_columns_are_null_and_types_are_the_tables),
        cmocka_unit_test(bare_integers_become_the_times_of_the_table),
        cmocka_unit_test(types_that_do_not_become_the_tables_are_an_error),
        cmocka_unit_test(rows_are_filtered_also_by_columns_not_asked_for),
        cmocka_unit_test(row_groups_are_skipped_by_their_statistics),
        cmocka_unit_test(few_rows_of_many_row_groups_are_found),
        cmocka_unit_test(statistics_of_a_type_that_sorts_otherwise_do_not_count),
        cmocka_unit_test(deletes_of_a_change_log_do_not_show),
        cmocka_unit_test(columns_that_are_not_stored_come_from_the_partition_path),
        cmocka_unit_test(read_optimized_queries_leave_log_files_out),
        cmocka_unit_test(files_that_are_gone_or_of_another_kind_are_named),
        cmocka_unit_test(batches_have_the_rows_asked_for_at_most),
        cmocka_unit_test(every_fault_is_passed_up_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
