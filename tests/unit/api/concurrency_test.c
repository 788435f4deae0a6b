/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes of one table that are open at the same time, under optimistic concurrency control.
 *
 * Labels: threads
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/written_table.h"

#define PROVIDERS "org.apache.hudi.client.transaction.lock."

static const char *const BY_FILE[] = {
    "hoodie.write.concurrency.mode=optimistic_concurrency_control",
    "hoodie.write.lock.provider=" PROVIDERS "FileSystemBasedLockProvider",
    "hoodie.clean.automatic=false", "hoodie.archive.automatic=false", NULL};
static const char *const IN_PROCESS[] = {
    "hoodie.write.concurrency.mode=optimistic_concurrency_control",
    "hoodie.write.lock.provider=" PROVIDERS "InProcessLockProvider", NULL};

static const char *const MERGE_ON_READ[] = {
    "hoodie.write.concurrency.mode=optimistic_concurrency_control",
    "hoodie.write.lock.provider=" PROVIDERS "InProcessLockProvider",
    "hoodie.table.type=MERGE_ON_READ", NULL};

/* Partitions a and b of ten rows each. */
static struct written_table *open_table(const char *const *options)
{
    static struct written_table table;

    written_table_open_partitioned(&table, options);
    written_table_write(&table, "upsert", "a", 0, 10, "old");
    written_table_write(&table, "upsert", "b", 0, 10, "old");
    return &table;
}

static void must(hudi_status status, hudi_error **error)
{
    if (status != HUDI_OK)
        fail_msg("%s", hudi_error_message(*error));
}

static void commit(hudi_write *write)
{
    hudi_error *error = NULL;

    must(hudi_write_commit(write, NULL, &error), &error);
}

/* Fails as a conflict that may go away, and says `what`. */
static void assert_conflict(hudi_write *write, const char *what)
{
    hudi_error *error = NULL;

    assert_int_equal(hudi_write_commit(write, NULL, &error), HUDI_CONFLICT);
    assert_true(hudi_error_retriable(error));
    if (strstr(hudi_error_message(error), what) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", hudi_error_message(error), what);
    hudi_error_free(error);
}

/* Rows of a partition whose v begins with `value` ("": all). */
static int count_rows(const struct written_table *table, const char *partition, const char *value)
{
    hudi_table *open = NULL;
    hudi_options *query = NULL;
    hudi_error *error = NULL;
    struct ArrowArrayStream rows;
    struct ArrowArray batch;
    char where[128];
    int n = 0;

    snprintf(where, sizeof where, "p = '%s' AND v >= '%s' AND v < '%s~'", partition, value, value);
    must(hudi_options_new(&query, &error), &error);
    must(hudi_options_set(query, "libhudi.read.filter", where, &error), &error);
    must(hudi_table_open(table->context, table->path, NULL, &open, &error), &error);
    must(hudi_scan_open(open, query, NULL, &rows, &error), &error);
    for (;;) {
        assert_int_equal(rows.get_next(&rows, &batch), 0);
        if (batch.release == NULL)
            break;
        n += (int)batch.length;
        batch.release(&batch);
    }
    rows.release(&rows);
    hudi_options_free(query);
    hudi_table_free(open);
    return n;
}

/* Nothing is wrong, and nothing is left of anybody. */
static void assert_clean(const struct written_table *table)
{
    hudi_verification *found = NULL;
    hudi_table *open = NULL;
    hudi_error *error = NULL;
    const hudi_finding *finding;

    must(hudi_table_open(table->context, table->path, NULL, &open, &error), &error);
    must(hudi_verify(open, NULL, &found, &error), &error);
    finding = hudi_verification_finding(found, 0);
    for (size_t i = 0; finding == NULL; i++) {
        finding = hudi_verification_note(found, i);
        if (finding == NULL)
            break;
        if (strcmp(hudi_finding_kind(finding), "not-checked") == 0)
            finding = NULL;
    }
    if (finding != NULL)
        fail_msg("%s %s: %s", hudi_finding_kind(finding), hudi_finding_where(finding),
                 hudi_finding_message(finding));
    hudi_verification_free(found);
    hudi_table_free(open);
    assert_null(written_table_find(table, ".hoodie", "lock", 1)); /* .libhudi.lock alone */
}

static void writers_of_different_file_groups_both_complete(void **state)
{
    struct written_table *const table = open_table(BY_FILE);
    (void)state;

    hudi_write *const first = written_table_begin(table, "upsert", "a", 0, 5, "first");
    hudi_write *const second = written_table_begin(table, "upsert", "b", 0, 5, "second");
    assert_string_not_equal(hudi_write_instant(first), hudi_write_instant(second));
    commit(second);
    commit(first);
    assert_int_equal(count_rows(table, "a", "first"), 5);
    assert_int_equal(count_rows(table, "b", "second"), 5);
    assert_int_equal(count_rows(table, "a", ""), 10);
    assert_int_equal(count_rows(table, "b", ""), 10);
    assert_clean(table);
    written_table_close(table);
}

static void of_two_writers_of_one_file_group_the_second_fails_and_leaves_nothing(void **state)
{
    struct written_table *const table = open_table(BY_FILE);
    char instant[32];
    (void)state;

    hudi_write *const first = written_table_begin(table, "upsert", "a", 0, 5, "first");
    hudi_write *const second = written_table_begin(table, "upsert", "a", 5, 5, "second");
    snprintf(instant, sizeof instant, "%s", hudi_write_instant(second));
    commit(second);
    assert_conflict(first, instant);
    assert_int_equal(count_rows(table, "a", "first"), 0);
    assert_int_equal(count_rows(table, "a", "second"), 5);
    assert_int_equal(count_rows(table, "a", ""), 10);
    assert_clean(table);
    commit(written_table_begin(table, "upsert", "a", 0, 5, "again"));
    assert_int_equal(count_rows(table, "a", "again"), 5);
    written_table_close(table);
}

static void writers_that_fill_the_same_small_file_conflict(void **state)
{
    struct written_table *const table = open_table(IN_PROCESS);
    (void)state;

    hudi_write *const first = written_table_begin(table, "upsert", "a", 100, 5, "first");
    hudi_write *const second = written_table_begin(table, "upsert", "a", 200, 5, "second");
    commit(first);
    assert_conflict(second, "a/");
    assert_int_equal(count_rows(table, "a", ""), 15);
    assert_clean(table);
    written_table_close(table);
}

static void new_file_groups_never_conflict(void **state)
{
    struct written_table *const table = open_table(IN_PROCESS);
    (void)state;

    hudi_write *const first = written_table_begin(table, "bulk_insert", "a", 100, 5, "first");
    hudi_write *const second = written_table_begin(table, "bulk_insert", "a", 200, 5, "second");
    commit(second);
    commit(first);
    assert_int_equal(count_rows(table, "a", ""), 20);
    assert_clean(table);
    written_table_close(table);
}

static void a_partition_is_not_overwritten_under_an_update(void **state)
{
    struct written_table *const table = open_table(IN_PROCESS);
    (void)state;

    hudi_write *const update = written_table_begin(table, "upsert", "a", 0, 5, "update");
    hudi_write *const other = written_table_begin(table, "upsert", "b", 0, 5, "other");
    hudi_write *const overwrite = written_table_begin(table, "insert_overwrite", "a", 0, 1, "new");
    commit(overwrite);
    assert_conflict(update, "replacecommit");
    commit(other);
    assert_int_equal(count_rows(table, "a", ""), 1);
    assert_int_equal(count_rows(table, "b", "other"), 5);
    assert_clean(table);
    written_table_close(table);
}

static void an_overwrite_does_not_drop_an_update_it_did_not_see(void **state)
{
    struct written_table *const table = open_table(IN_PROCESS);
    (void)state;

    hudi_write *const overwrite = written_table_begin(table, "insert_overwrite", "a", 0, 1, "new");
    commit(written_table_begin(table, "upsert", "a", 0, 5, "update"));
    assert_conflict(overwrite, "commit");
    assert_int_equal(count_rows(table, "a", "update"), 5);
    assert_clean(table);
    written_table_close(table);
}

static void a_live_writer_is_not_rolled_back_by_another(void **state)
{
    struct written_table *const table = open_table(IN_PROCESS);
    hudi_table *open = NULL;
    hudi_error *error = NULL;
    char instant[32];
    (void)state;

    hudi_write *const first = written_table_begin(table, "upsert", "a", 0, 5, "first");
    snprintf(instant, sizeof instant, "%s", hudi_write_instant(first));
    must(hudi_table_open(table->context, table->path, NULL, &open, &error), &error);
    assert_int_equal(hudi_rollback(open, instant, &error), HUDI_CONFLICT);
    hudi_error_free(error);
    hudi_table_free(open);
    commit(written_table_begin(table, "upsert", "b", 0, 5, "second"));
    commit(first);
    assert_int_equal(count_rows(table, "a", "first"), 5);
    written_table_close(table);
}

/* Halted for so long that others took it for dead, it goes on: what it writes then goes, too. */
static void what_a_writer_writes_after_it_was_rolled_back_goes(void **state)
{
    const char *const *const options = *state;
    struct written_table *const table = open_table(options);
    char beat[64];

    hudi_write *const halted = written_table_begin(table, "upsert", "a", 0, 5, "halted");
    snprintf(beat, sizeof beat, ".hoodie/.heartbeat/%s", hudi_write_instant(halted));
    written_table_remove(table, beat);
    commit(written_table_begin(table, "upsert", "b", 0, 5, "other"));
    assert_int_not_equal(hudi_write_commit(halted, NULL, NULL), HUDI_OK);
    assert_int_equal(count_rows(table, "a", "halted"), 0);
    assert_int_equal(count_rows(table, "a", ""), 10);
    assert_clean(table);
    commit(written_table_begin(table, "upsert", "a", 0, 5, "again"));
    assert_int_equal(count_rows(table, "a", "again"), 5);
    written_table_close(table);
}

static void what_a_write_at_work_may_stand_on_is_not_rolled_back(void **state)
{
    struct written_table *const table = open_table(IN_PROCESS);
    hudi_table *open = NULL;
    hudi_error *error = NULL;
    char instant[32];
    (void)state;

    hudi_write *const base = written_table_begin(table, "upsert", "b", 0, 5, "base");
    snprintf(instant, sizeof instant, "%s", hudi_write_instant(base));
    commit(base);
    hudi_write *const write = written_table_begin(table, "upsert", "b", 5, 5, "next");
    must(hudi_table_open(table->context, table->path, NULL, &open, &error), &error);
    assert_int_equal(hudi_rollback(open, instant, &error), HUDI_INVALID);
    hudi_error_free(error);
    hudi_table_free(open);
    commit(write);
    assert_int_equal(count_rows(table, "b", "base"), 5);
    assert_int_equal(count_rows(table, "b", "next"), 5);
    assert_clean(table);
    written_table_close(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_of_different_file_groups_both_complete),
        cmocka_unit_test(of_two_writers_of_one_file_group_the_second_fails_and_leaves_nothing),
        cmocka_unit_test(writers_that_fill_the_same_small_file_conflict),
        cmocka_unit_test(new_file_groups_never_conflict),
        cmocka_unit_test(a_partition_is_not_overwritten_under_an_update),
        cmocka_unit_test(an_overwrite_does_not_drop_an_update_it_did_not_see),
        cmocka_unit_test(a_live_writer_is_not_rolled_back_by_another),
        cmocka_unit_test_prestate(what_a_writer_writes_after_it_was_rolled_back_goes,
                                  (void *)IN_PROCESS),
        cmocka_unit_test_prestate(what_a_writer_writes_after_it_was_rolled_back_goes,
                                  (void *)MERGE_ON_READ),
        cmocka_unit_test(what_a_write_at_work_may_stand_on_is_not_rolled_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
