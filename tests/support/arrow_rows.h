/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_ARROW_ROWS_H
#define TEST_SUPPORT_ARROW_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hudi/arrow_c.h"
#include "hudi/context.h"

/*
 * Rows as text, in and out of Arrow streams, with nothing of the library's own code for arrays:
 * what the tests of whole writes expect must not come from what they test. Failures end the test.
 */

struct test_column {
    const char *name;
    char type;     /* 's' string, 'i' int, 'l' long, 'd' double, 'b' boolean */
    bool required; /* not nullable */
};

/** Rows as text: cells[row * n_columns + column], NULL is null. */
struct test_rows {
    const struct test_column *columns;
    size_t n_columns;
    const char *const *cells;
    size_t n_rows;
};

/** What a stream does besides giving rows. */
struct test_stream_plan {
    size_t batch_rows; /* 0: all rows in one batch */
    int fail_at;       /* the batch (from 0) instead of which there is an error; -1: none */
    int cancel_at;     /* the batch before which `cancel` is requested; -1: never */
    hudi_cancel *cancel;
};

/** A stream of copies of the rows; `plan` may be NULL. */
void test_stream_open(const struct test_rows *rows, const struct test_stream_plan *plan,
                      struct ArrowArrayStream *out);

/** One batch and its schema, to be released by whoever gets them. */
void test_batch_make(const struct test_rows *rows, struct ArrowSchema *schema,
                     struct ArrowArray *array);

/** A schema of the columns, to be released. */
void test_schema_make(const struct test_column *columns, size_t n_columns, struct ArrowSchema *out);

/** What was read: cells as above; doubles as "%.17g", booleans as "true" and "false". */
struct test_table_rows {
    char **names;
    size_t n_columns;
    char **cells;
    size_t n_rows;
    size_t capacity;
};

/** Read a stream to its end and release it. Ends the test with the stream's error. */
void test_rows_read(struct ArrowArrayStream *in, struct test_table_rows *out);
/** The same, but false when the stream fails; what came before is in `out`. Does not release the
 * stream. */
bool test_rows_try_read(struct ArrowArrayStream *in, struct test_table_rows *out);
/** -1 when there is no such column. */
int test_rows_column(const struct test_table_rows *rows, const char *name);
/** The cell of a named column; null also when there is no such column. */
const char *test_rows_cell(const struct test_table_rows *rows, size_t row, const char *name);
void test_rows_clear(struct test_table_rows *rows);

#endif
