/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "service/savepoint.h"
#include "store/memory.h"
#include "support/model_table.h"

#define STORE "timeline-test"
#define URI "memory:" STORE "/t"

static void must(hudi_status status, hudi_error *error)
{
    if (status != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
}

/* A table with one write, which gets a savepoint. */
static void make_table(hudi_context *context, const char *user, const char *comments)
{
    const struct model_row row = model_table_row(1, 0, 1, 1);
    struct model_rows rows = {0};
    hudi_table *table = NULL;
    hudi_error *error = NULL;
    struct hd_op op;

    must(model_table_create(context, URI, &error), error);
    model_rows_add(&rows, &row);
    must(model_table_write(context, URI, "upsert", &rows, &error), error);
    model_rows_clear(&rows);
    must(hudi_table_open(context, URI, NULL, &table, &error), error);
    const hudi_instant *const written = hudi_timeline_at(hudi_table_timeline(table), 0);
    hd_op_init(&op);
    must(hd_savepoint(&op, context->pool, URI, NULL, hudi_instant_time(written), user, comments),
         op.error);
    hd_op_clear(&op);
    hudi_table_free(table);
}

static void expect_savepoint(const char *user, const char *comments, const char *by,
                             const char *about)
{
    hudi_context *const context = model_table_context("1");
    hudi_table *table = NULL;
    hudi_error *error = NULL;
    hudi_instant_details details;
    size_t n_found = 0;

    make_table(context, user, comments);
    must(hudi_table_open(context, URI, NULL, &table, &error), error);
    const hudi_timeline *const timeline = hudi_table_timeline(table);
    for (size_t i = 0; i < hudi_timeline_length(timeline); i++) {
        const hudi_instant *const instant = hudi_timeline_at(timeline, i);

        must(hudi_instant_explain(table, instant, &details, &error), error);
        if (strcmp(hudi_instant_action(instant), "savepoint") != 0) {
            assert_null(details.by);
            continue;
        }
        n_found++;
        assert_int_equal(details.n_files, 1);
        assert_true(by == NULL ? details.by == NULL : strcmp(details.by, by) == 0);
        assert_true(about == NULL ? details.about == NULL : strcmp(details.about, about) == 0);
    }
    assert_int_equal(n_found, 1);
    hudi_table_free(table);
    hudi_context_free(context);
    hd_memory_drop(STORE);
}

static void a_savepoint_tells_who_made_it_and_why(void **state)
{
    (void)state;
    expect_savepoint("ann", "before it all", "ann", "before it all");
    expect_savepoint("ann", "", "ann", NULL);
    expect_savepoint("", "before it all", NULL, "before it all");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_savepoint_tells_who_made_it_and_why)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
