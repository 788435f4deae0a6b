/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: threads */
/* Scans through the public headers, on a table that Hudi wrote. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hudi/hudi.h"
#include "support/golden.h"

#define CASE "spark-0.15.0-cow-part"
#define N_ROWS 63 /* expected_rows of its .json */

struct opened {
    char *path;
    hudi_options *options;
    hudi_context *context;
    hudi_table *table;
};

static void must(hudi_status status, hudi_error *error)
{
    if (status != HUDI_OK)
        fail_msg("%s: %s", hudi_status_name(status),
                 error == NULL ? "" : hudi_error_message(error));
}

static int open_case(void **state)
{
    static struct opened opened;
    hudi_error *error = NULL;

    opened.path = test_golden_unpack(CASE);
    must(hudi_options_new(&opened.options, &error), error);
    must(hudi_options_set(opened.options, "libhudi.threads", "3", &error), error);
    must(hudi_context_new(opened.options, &opened.context, &error), error);
    must(hudi_table_open(opened.context, opened.path, NULL, &opened.table, &error), error);
    *state = &opened;
    return 0;
}

static int close_case(void **state)
{
    struct opened *opened = *state;

    hudi_table_free(opened->table);
    hudi_context_free(opened->context);
    hudi_options_free(opened->options);
    test_golden_remove(opened->path);
    return 0;
}

static hudi_options *query(const char *key, const char *value)
{
    hudi_options *options;
    hudi_error *error = NULL;

    must(hudi_options_new(&options, &error), error);
    must(hudi_options_set(options, key, value, &error), error);
    return options;
}

/* All rows of a stream (released); the number of columns in `*n_columns`. */
static int64_t drain(struct ArrowArrayStream *stream, int64_t *n_columns)
{
    struct ArrowSchema schema;
    int64_t n_rows = 0;

    assert_int_equal(stream->get_schema(stream, &schema), 0);
    *n_columns = schema.n_children;
    schema.release(&schema);
    for (;;) {
        struct ArrowArray batch;

        assert_int_equal(stream->get_next(stream, &batch), 0);
        if (batch.release == NULL)
            break;
        assert_int_equal(batch.n_children, *n_columns);
        n_rows += batch.length;
        batch.release(&batch);
    }
    stream->release(stream);
    return n_rows;
}

static void a_scan_gives_all_rows_and_stored_columns(void **state)
{
    struct opened *opened = *state;
    struct ArrowArrayStream stream;
    hudi_error *error = NULL;
    int64_t n_columns;

    must(hudi_scan_open(opened->table, NULL, NULL, &stream, &error), error);
    assert_int_equal(drain(&stream, &n_columns), N_ROWS);
    assert_true(n_columns > 5);
}

static void splits_are_read_by_whoever_has_their_bytes(void **state)
{
    struct opened *opened = *state;
    hudi_options *options = query("libhudi.read.columns", "id,_hoodie_partition_path");
    hudi_scan_plan *plan;
    hudi_context *other;
    hudi_error *error = NULL;
    int64_t n_rows = 0, n_columns;

    must(hudi_scan_plan_new(opened->table, options, &plan, &error), error);
    must(hudi_context_new(NULL, &other, &error), error);
    assert_true(hudi_scan_plan_n_splits(plan) > 1);
    for (size_t i = 0; i < hudi_scan_plan_n_splits(plan); i++) {
        struct ArrowArrayStream stream;
        size_t n_bytes;
        const void *bytes = hudi_scan_plan_split(plan, i, &n_bytes);

        must(hudi_split_open(other, bytes, n_bytes, NULL, &stream, &error), error);
        n_rows += drain(&stream, &n_columns);
        assert_int_equal(n_columns, 2);
    }
    assert_int_equal(n_rows, N_ROWS);
    hudi_scan_plan_free(plan);
    hudi_scan_plan_free(NULL);
    hudi_context_free(other);
    hudi_options_free(options);
}

static void a_stream_may_be_let_go_at_any_time(void **state)
{
    struct opened *opened = *state;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    hudi_error *error = NULL;

    for (int n = 0; n < 3; n++) {
        must(hudi_scan_open(opened->table, NULL, NULL, &stream, &error), error);
        for (int i = 0; i < n; i++) {
            assert_int_equal(stream.get_next(&stream, &batch), 0);
            batch.release(&batch);
        }
        stream.release(&stream);
    }
}

static void a_cancelled_scan_ends_with_its_error(void **state)
{
    struct opened *opened = *state;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    hudi_cancel *cancel;
    hudi_error *error = NULL;

    must(hudi_cancel_new(&cancel, &error), error);
    must(hudi_scan_open(opened->table, NULL, cancel, &stream, &error), error);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    batch.release(&batch);
    hudi_cancel_request(cancel);
    assert_int_equal(stream.get_next(&stream, &batch), ECANCELED);
    assert_non_null(stream.get_last_error(&stream));
    stream.release(&stream);
    assert_int_equal(hudi_scan_open(opened->table, NULL, cancel, &stream, &error), HUDI_CANCELLED);
    assert_null(stream.release);
    hudi_error_free(error);
    hudi_cancel_free(cancel);
}

static void a_query_that_cannot_be_is_an_error_at_once(void **state)
{
    struct opened *opened = *state;
    hudi_options *options = query("libhudi.read.filter", "qty = 'many'");
    struct ArrowArrayStream stream;
    hudi_scan_plan *plan;
    hudi_error *error = NULL;

    assert_int_equal(hudi_scan_open(opened->table, options, NULL, &stream, &error), HUDI_INVALID);
    assert_null(stream.release);
    assert_non_null(strstr(hudi_error_message(error), "character 7"));
    hudi_error_free(error);
    assert_int_equal(hudi_scan_plan_new(opened->table, options, &plan, NULL), HUDI_INVALID);
    assert_null(plan);
    hudi_options_free(options);
    assert_int_equal(hudi_split_open(opened->context, "{}", 2, NULL, &stream, NULL), HUDI_CORRUPT);
    assert_null(stream.release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scan_gives_all_rows_and_stored_columns),
        cmocka_unit_test(splits_are_read_by_whoever_has_their_bytes),
        cmocka_unit_test(a_stream_may_be_let_go_at_any_time),
        cmocka_unit_test(a_cancelled_scan_ends_with_its_error),
        cmocka_unit_test(a_query_that_cannot_be_is_an_error_at_once),
    };

    return cmocka_run_group_tests(tests, open_case, close_case);
}
