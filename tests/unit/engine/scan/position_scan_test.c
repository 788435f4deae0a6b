/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of Hudi 1.x whose log files have record positions: merged by these they read as merged by
 * key. */
#include "unit/engine/scan/scan_testing.h"

#include "engine/scan/scan_internal.h"
#include "support/golden.h"

struct reading {
    struct hd_str rows;
    size_t n_by_row; /* splits */
};

static void read_split(struct hd_op *op, const hd_scan_plan *plan, size_t split,
                       struct reading *out)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    hd_slice_reader *reader;
    hudi_status status;

    test_must(op, hd_slice_query_schema(op, &plan->query, &schema));
    test_must(op, hd_slice_reader_open(op, &plan->query, &plan->splits[split], &reader));
    while ((status = hd_slice_reader_next(op, reader, &batch)) == HUDI_OK) {
        test_append_rows(op, &schema, &batch, &out->rows);
        hd_array_clear(&batch);
    }
    assert_int_equal(status, HUDI_END);
    out->n_by_row += hd_slice_reader_merge_stats(reader).is_by_row;
    hd_slice_reader_close(reader);
    hd_schema_clear(&schema);
}

/* All columns but the record key and what those of a text row cannot show. */
static void choose_columns(hd_scan_plan *plan)
{
    int32_t n = 0;

    for (int32_t i = 0; i < plan->query.n_columns; i++) {
        const struct ArrowSchema *field = plan->schema.children[plan->column_numbers[i]];

        if (strcmp(field->name, HD_META_RECORD_KEY) != 0 && field->n_children == 0)
            plan->column_numbers[n++] = plan->column_numbers[i];
    }
    plan->query.n_columns = n;
}

struct option {
    const char *key, *value;
};

static size_t check_query(struct hd_op *op, const char *path, const struct option *option,
                          size_t n_options)
{
    struct hd_table_snapshot snapshot;
    struct hd_options options = {0};
    struct reading by_row = {{0}, 0}, by_key = {{0}, 0};
    hd_scan_plan *plan;
    hd_pool *pool;

    for (size_t i = 0; i < n_options; i++)
        test_must(op, hd_options_set(op, &options, option[i].key, option[i].value));
    test_must(op, hd_pool_new(op, 1, &pool));
    test_must(op, hd_table_snapshot_load(op, path, &snapshot));
    test_must(op, hd_scan_plan_new(op, pool, &snapshot, &options, &plan));
    choose_columns(plan);
    assert_true(plan->query.use_positions);
    for (size_t i = 0; i < plan->n_splits; i++)
        read_split(op, plan, i, &by_row);
    plan->query.use_positions = false;
    for (size_t i = 0; i < plan->n_splits; i++)
        read_split(op, plan, i, &by_key);
    assert_string_equal(hd_str_text(&by_row.rows), hd_str_text(&by_key.rows));
    assert_int_equal(by_key.n_by_row, 0);
    hd_str_clear(&by_row.rows);
    hd_str_clear(&by_key.rows);
    hd_scan_plan_free(plan);
    hd_table_snapshot_clear(op, &snapshot);
    hd_options_clear(&options);
    hd_pool_free(pool);
    return by_row.n_by_row;
}

/* By key: blocks of the bucket index, of inserts, of version 6, base files that replaced the one
 * the positions are of, and tables without meta columns. */
static void positions_of_hudi_give_what_keys_give(void **state)
{
    static const struct {
        const char *name;
        size_t n_by_row;
    } CASES[] = {
        {"spark-1.0.2-mor-bulk-insert", 4},
        {"spark-1.0.2-rollback-mor", 2},
        {"spark-1.0.2-savepoint-mor", 2},
        {"spark-1.1.1-cluster-mor-pending", 3},
        {"spark-1.1.1-damage-truncated-magic", 1},
        {"spark-1.1.1-evolve-mor", 2},
        {"spark-1.1.1-failed-mor", 2},
        {"spark-1.1.1-insert-overwrite-table", 2},
        {"spark-1.1.1-mdt-off-mor", 2},
        {"spark-1.1.1-merge-event-time-mor", 2},
        {"spark-1.1.1-mor-avro", 2},
        {"spark-1.1.1-mor-bucket-compacted", 0},
        {"spark-1.1.1-mor-bulk-insert", 4},
        {"spark-1.1.1-mor-compacted", 2},
        {"spark-1.1.1-mor-inline-compact", 0},
        {"spark-1.1.1-mor-parquet-logs", 2},
        {"spark-1.1.1-mor-partial-update-logs", 2},
        {"spark-1.1.1-mor-pending-compaction", 2},
        {"spark-1.1.1-no-meta-fields-mor", 0},
        {"spark-1.1.1-no-ordering-mor", 2},
        {"spark-1.1.1-payload-default-mor", 2},
        {"spark-1.1.1-payload-latest-mor", 2},
        {"spark-1.1.1-payload-partial-mor", 2},
        {"spark-1.1.1-rollback-completed", 2},
        {"spark-1.1.1-soft-delete", 1},
        {"spark-1.1.1-table-version-6", 0},
        {"spark-1.1.1-table-version-8", 2},
        {"spark-1.1.1-upgraded-6-to-now", 2},
        {"spark-1.2.0-merge-event-time-mor", 2},
        {"spark-1.2.0-mor-avro", 2},
        {"spark-1.2.0-mor-compacted", 2},
    };
    static const struct option INCREMENTAL[] = {
        {"hoodie.datasource.query.type", "incremental"},
        {"hoodie.datasource.read.begin.instanttime", "earliest"}};
    static const struct option FILTERED[] = {{"libhudi.read.filter", "_hoodie_commit_seqno > '2'"}};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        char *path = test_golden_unpack(CASES[i].name);
        const size_t n = check_query(op, path, NULL, 0);

        if (n != CASES[i].n_by_row)
            fail_msg("%s: %zu file slices are merged by row", CASES[i].name, n);
        if (n > 0) {
            check_query(op, path, INCREMENTAL, HD_ARRAY_LENGTH(INCREMENTAL));
            check_query(op, path, FILTERED, HD_ARRAY_LENGTH(FILTERED));
        }
        test_golden_remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_of_hudi_give_what_keys_give),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
