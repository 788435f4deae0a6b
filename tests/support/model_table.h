/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_MODEL_TABLE_H
#define TEST_SUPPORT_MODEL_TABLE_H

#include "hudi/hudi.h"
#include "support/table_model.h"

/*
 * Real tables of one shape beside the lists of rows of table_model.h, for tests that stop, kill or
 * split writes: columns id (key), p (partition), ts (ordering field), a; the event-time payload.
 */
extern const struct model_rules model_table_rules;

struct model_row model_table_row(int64_t id, int64_t p, int64_t ts, int64_t a);

/** Options of a write that makes small files. To be freed. Ends the test on failure. */
hudi_options *model_table_options(const char *operation);

/** From now on writes go on in log files that are there, until these have two or three writes'
 * blocks (true), or make new ones as by default. */
void model_table_append_logs(bool on);

/** Contexts made from now on share tables with other writers, by the lock file. */
void model_table_share(bool on);

hudi_status model_table_create(hudi_context *context, const char *uri, hudi_error **error);
/** The same, of type MERGE_ON_READ. */
hudi_status model_table_create_logged(hudi_context *context, const char *uri, hudi_error **error);
/** The same with one more option of the table. */
hudi_status model_table_create_with(hudi_context *context, const char *uri, const char *key,
                                    const char *value, hudi_error **error);

/** The rows as an input; and as one batch. Released by whoever takes them. */
void model_table_input(const struct model_rows *rows, struct ArrowArrayStream *out);
void model_table_batch(const struct model_rows *rows, struct ArrowSchema *schema,
                       struct ArrowArray *array);

/** Open, begin, all rows, commit; undone on failure. */
hudi_status model_table_write(hudi_context *context, const char *uri, const char *operation,
                              const struct model_rows *rows, hudi_error **error);

/** The table's rows now. `*error` as of the call that failed, when there is one. */
hudi_status model_table_read(hudi_context *context, const char *uri, struct model_rows *out,
                             hudi_error **error);

/** The same rows, in any order? */
bool model_table_same(const struct model_rows *a, const struct model_rows *b);

/** End the test, naming `what`, unless the table reads as `expected`; unless hudi_verify() finds
 * nothing. */
void model_table_expect(hudi_context *context, const char *uri, const struct model_rows *expected,
                        const char *what);
void model_table_verify(hudi_context *context, const char *uri, const char *what);

/** A context with that many threads. */
hudi_context *model_table_context(const char *n_threads);

#endif
