/* SPDX-License-Identifier: Apache-2.0 */
#include "support/model_table.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/arrow_rows.h"

const struct model_rules model_table_rules = {
    .payload = MODEL_EVENT_TIME, .ordered = true, .partitioned = true};

static const struct test_column COLUMNS[] = {
    {"id", 's', true}, {"p", 's', false}, {"ts", 'l', false}, {"a", 's', false}};
#define N_COLUMNS 4

struct model_row model_table_row(int64_t id, int64_t p, int64_t ts, int64_t a)
{
    struct model_row row;

    memset(&row, 0, sizeof row);
    for (int i = 0; i < MODEL_N_COLUMNS; i++)
        row.null[i] = true;
    row.null[MODEL_ID] = row.null[MODEL_P] = row.null[MODEL_TS] = row.null[MODEL_A] = false;
    row.value[MODEL_ID] = id;
    row.value[MODEL_P] = p;
    row.value[MODEL_TS] = ts;
    row.value[MODEL_A] = a;
    return row;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void set(hudi_options *options, const char *key, const char *value)
{
    hudi_error *error = NULL;

    if (hudi_options_set(options, key, value, &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
}

static hudi_options *new_options(void)
{
    hudi_options *options = NULL;

    assert_int_equal(hudi_options_new(&options, NULL), HUDI_OK);
    return options;
}

static bool appends_logs;

void model_table_append_logs(bool on)
{
    appends_logs = on;
}

hudi_options *model_table_options(const char *operation)
{
    hudi_options *const options = new_options();

    set(options, "hoodie.datasource.write.operation", operation);
    set(options, "hoodie.index.bloom.num_entries", "50");
    set(options, "hoodie.bloom.index.filter.dynamic.max.entries", "200");
    set(options, "hoodie.parquet.compression.codec", "UNCOMPRESSED");
    set(options, "libhudi.write.lock.wait.ms", "0");
    if (appends_logs) {
        set(options, "libhudi.log.append.enable", "true");
        set(options, "hoodie.logfile.max.size", "3000");
    }
    return options;
}

static bool shared;

void model_table_share(bool on)
{
    shared = on;
}

static void set_shared(hudi_options *options)
{
    set(options, "hoodie.write.concurrency.mode", "OPTIMISTIC_CONCURRENCY_CONTROL");
    set(options, "hoodie.write.lock.provider",
        "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider");
    set(options, "libhudi.write.lock.wait.ms", "10000");
}

hudi_context *model_table_context(const char *n_threads)
{
    hudi_options *const options = new_options();
    hudi_context *context = NULL;
    hudi_error *error = NULL;

    set(options, "libhudi.threads", n_threads);
    if (shared)
        set_shared(options);
    if (hudi_context_new(options, &context, &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    hudi_options_free(options);
    return context;
}

static hudi_status create(hudi_context *context, const char *uri, const char *type, const char *key,
                          const char *value, hudi_error **error)
{
    hudi_options *const options = new_options();
    struct ArrowSchema schema;

    test_schema_make(COLUMNS, N_COLUMNS, &schema);
    set(options, "hoodie.table.name", "t");
    set(options, "hoodie.table.type", type);
    set(options, "hoodie.table.recordkey.fields", "id");
    set(options, "hoodie.table.partition.fields", "p");
    set(options, "hoodie.datasource.write.precombine.field", "ts");
    if (key != NULL)
        set(options, key, value);
    const hudi_status status = hudi_table_create(context, uri, &schema, options, error);
    if (schema.release != NULL)
        schema.release(&schema);
    hudi_options_free(options);
    return status;
}

hudi_status model_table_create(hudi_context *context, const char *uri, hudi_error **error)
{
    return create(context, uri, "COPY_ON_WRITE", NULL, NULL, error);
}

hudi_status model_table_create_logged(hudi_context *context, const char *uri, hudi_error **error)
{
    return create(context, uri, "MERGE_ON_READ", NULL, NULL, error);
}

hudi_status model_table_create_with(hudi_context *context, const char *uri, const char *key,
                                    const char *value, hudi_error **error)
{
    return create(context, uri, "COPY_ON_WRITE", key, value, error);
}

/* Cells as texts, in one block: row i's begin at texts + i * ROW_TEXT. */
#define CELL_TEXT 24
#define ROW_TEXT (CELL_TEXT * N_COLUMNS)

struct cells {
    char *texts;
    const char **cells;
};

static struct cells make_cells(const struct model_rows *rows)
{
    static const enum model_column NUMBERS[N_COLUMNS] = {MODEL_ID, MODEL_P, MODEL_TS, MODEL_A};
    static const char *const FORMATS[N_COLUMNS] = {"k%04" PRId64, "p%" PRId64, "%" PRId64,
                                                   "a%" PRId64};
    struct cells out = {calloc(rows->n + 1, ROW_TEXT),
                        calloc(rows->n * N_COLUMNS + 1, sizeof(char *))};

    assert_non_null(out.texts);
    assert_non_null(out.cells);
    for (size_t i = 0; i < rows->n; i++) {
        for (int c = 0; c < N_COLUMNS; c++) {
            char *const text = out.texts + i * ROW_TEXT + (size_t)c * CELL_TEXT;

            if (rows->rows[i].null[NUMBERS[c]])
                continue;
            snprintf(text, CELL_TEXT, FORMATS[c], rows->rows[i].value[NUMBERS[c]]);
            out.cells[i * N_COLUMNS + (size_t)c] = text;
        }
    }
    return out;
}

static void free_cells(struct cells *cells)
{
    free(cells->texts);
    free(cells->cells);
}

void model_table_input(const struct model_rows *rows, struct ArrowArrayStream *out)
{
    struct cells cells = make_cells(rows);
    const struct test_rows input = {COLUMNS, N_COLUMNS, cells.cells, rows->n};
    const struct test_stream_plan plan = {.batch_rows = 50, .fail_at = -1, .cancel_at = -1};

    test_stream_open(&input, &plan, out);
    free_cells(&cells);
}

void model_table_batch(const struct model_rows *rows, struct ArrowSchema *schema,
                       struct ArrowArray *array)
{
    struct cells cells = make_cells(rows);
    const struct test_rows input = {COLUMNS, N_COLUMNS, cells.cells, rows->n};

    test_batch_make(&input, schema, array);
    free_cells(&cells);
}

hudi_status model_table_write(hudi_context *context, const char *uri, const char *operation,
                              const struct model_rows *rows, hudi_error **error)
{
    hudi_options *const options = model_table_options(operation);
    struct ArrowArrayStream stream;
    hudi_table *table = NULL;
    hudi_write *write = NULL;
    hudi_status status = hudi_table_open(context, uri, NULL, &table, error);

    if (status == HUDI_OK)
        status = hudi_write_begin(table, options, &write, error);
    if (status == HUDI_OK) {
        model_table_input(rows, &stream);
        status = hudi_write_stream(write, &stream, NULL, error);
        if (status == HUDI_OK)
            status = hudi_write_commit(write, NULL, error);
        else
            hudi_write_abort(write);
    }
    hudi_table_free(table);
    hudi_options_free(options);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static int64_t number_in(const char *text, bool *null)
{
    *null = text == NULL;
    return text == NULL ? 0 : strtoll(text + strspn(text, "kpa"), NULL, 10);
}

static void take_rows(const struct test_table_rows *read, struct model_rows *out)
{
    for (size_t i = 0; i < read->n_rows; i++) {
        struct model_row row = model_table_row(0, 0, 0, 0);

        row.value[MODEL_ID] = number_in(test_rows_cell(read, i, "id"), &row.null[MODEL_ID]);
        row.value[MODEL_P] = number_in(test_rows_cell(read, i, "p"), &row.null[MODEL_P]);
        row.value[MODEL_TS] = number_in(test_rows_cell(read, i, "ts"), &row.null[MODEL_TS]);
        row.value[MODEL_A] = number_in(test_rows_cell(read, i, "a"), &row.null[MODEL_A]);
        model_rows_add(out, &row);
    }
}

hudi_status model_table_read(hudi_context *context, const char *uri, struct model_rows *out,
                             hudi_error **error)
{
    struct ArrowArrayStream stream = {0};
    struct test_table_rows read;
    hudi_table *table = NULL;
    hudi_status status = hudi_table_open(context, uri, NULL, &table, error);

    *out = (struct model_rows){0};
    if (status == HUDI_OK)
        status = hudi_scan_open(table, NULL, NULL, &stream, error);
    if (status == HUDI_OK) {
        if (test_rows_try_read(&stream, &read))
            take_rows(&read, out);
        else
            status = HUDI_IO;
        test_rows_clear(&read);
        stream.release(&stream);
    }
    hudi_table_free(table);
    return status;
}

static int compare_rows(const void *a, const void *b)
{
    static const enum model_column ORDER[] = {MODEL_ID, MODEL_P, MODEL_TS, MODEL_A};
    const struct model_row *const x = a, *const y = b;

    for (int i = 0; i < N_COLUMNS; i++) {
        const enum model_column c = ORDER[i];

        if (x->null[c] != y->null[c])
            return x->null[c] ? -1 : 1;
        if (x->value[c] != y->value[c])
            return x->value[c] < y->value[c] ? -1 : 1;
    }
    return 0;
}

static void sort_rows(struct model_rows *rows)
{
    if (rows->n > 1)
        qsort(rows->rows, rows->n, sizeof *rows->rows, compare_rows);
}

bool model_table_same(const struct model_rows *a, const struct model_rows *b)
{
    struct model_rows x, y;
    bool same = a->n == b->n;

    model_rows_copy(a, &x);
    model_rows_copy(b, &y);
    sort_rows(&x);
    sort_rows(&y);
    for (size_t i = 0; i < x.n && same; i++)
        same = compare_rows(&x.rows[i], &y.rows[i]) == 0;
    model_rows_clear(&x);
    model_rows_clear(&y);
    return same;
}

void model_table_expect(hudi_context *context, const char *uri, const struct model_rows *expected,
                        const char *what)
{
    struct model_rows rows;
    hudi_error *error = NULL;

    if (model_table_read(context, uri, &rows, &error) != HUDI_OK)
        fail_msg("%s: the table cannot be read: %s", what,
                 error == NULL ? "" : hudi_error_message(error));
    if (!model_table_same(&rows, expected))
        fail_msg("%s: %zu other rows where %zu should be", what, rows.n, expected->n);
    model_rows_clear(&rows);
}

void model_table_verify(hudi_context *context, const char *uri, const char *what)
{
    hudi_table *table = NULL;
    hudi_verification *verification = NULL;
    hudi_error *error = NULL;
    hudi_status status = hudi_table_open(context, uri, NULL, &table, &error);

    if (status == HUDI_OK)
        status = hudi_verify(table, NULL, &verification, &error);
    if (status != HUDI_OK)
        fail_msg("%s: %s", what, hudi_error_message(error));
    for (size_t i = 0; i < hudi_verification_n_findings(verification); i++) {
        const hudi_finding *const finding = hudi_verification_finding(verification, i);
        print_error("%s: %s: %s\n", hudi_finding_kind(finding), hudi_finding_where(finding),
                    hudi_finding_message(finding));
    }
    if (hudi_verification_n_findings(verification) > 0)
        fail_msg("%s: the table is damaged", what);
    hudi_verification_free(verification);
    hudi_table_free(table);
}
