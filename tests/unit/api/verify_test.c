/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "codec/avro.h"
#include "service/verify.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/written_table.h"

/* Each kind of damage that is seen from outside of the base files: for one damaged table each. */

static int setup(void **state)
{
    static struct written_table table;

    written_table_open_partitioned(&table, NULL);
    *state = &table;
    return 0;
}

static int teardown(void **state)
{
    written_table_close(*state);
    return 0;
}

static hudi_verification *verify_at(hudi_context *context, const char *path)
{
    hudi_verification *found = NULL;
    hudi_table *open = NULL;
    hudi_error *error = NULL;

    if (hudi_table_open(context, path, NULL, &open, &error) != HUDI_OK ||
        hudi_verify(open, NULL, &found, &error) != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
    hudi_table_free(open);
    return found;
}

static hudi_verification *verify(const struct written_table *table)
{
    return verify_at(table->context, table->path);
}

static void print_all(const hudi_verification *found)
{
    const hudi_finding *finding;

    for (size_t i = 0; (finding = hudi_verification_finding(found, i)) != NULL; i++)
        print_message("finding: %s: %s: %s\n", hudi_finding_kind(finding),
                      hudi_finding_where(finding), hudi_finding_message(finding));
    for (size_t i = 0; (finding = hudi_verification_note(found, i)) != NULL; i++)
        print_message("note: %s: %s: %s\n", hudi_finding_kind(finding), hudi_finding_where(finding),
                      hudi_finding_message(finding));
}

/* A list of "kind where" (findings, or notes), each ended by ";", is exactly what was found. */
static void assert_list(const hudi_verification *found, bool notes, const char *expected)
{
    const hudi_finding *finding;
    char text[4096] = "";
    size_t at = 0;

    for (size_t i = 0; (finding = notes ? hudi_verification_note(found, i)
                                        : hudi_verification_finding(found, i)) != NULL;
         i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s %s;", hudi_finding_kind(finding),
                               hudi_finding_where(finding));
    if (strcmp(text, expected) != 0)
        print_all(found);
    assert_string_equal(text, expected);
}

static void assert_found(const struct written_table *table, const char *findings, const char *notes)
{
    hudi_verification *const found = verify(table);

    assert_list(found, false, findings);
    assert_list(found, true, notes);
    hudi_verification_free(found);
}

/* "kind where;" */
static const char *list_of(const char *kind, const char *where)
{
    static char text[512];

    snprintf(text, sizeof text, "%s %s;", kind, where);
    return text;
}

static void time_of(const char *timeline_file, char out[24])
{
    const char *const name = strrchr(timeline_file, '/') + 1;

    snprintf(out, 24, "%.*s", (int)strcspn(name, "."), name);
}

/* ---- nothing wrong -------------------------------------------------------------------------- */

static void finds_nothing_in_a_healthy_table(void **state)
{
    struct written_table *const table = *state;

    written_table_write(table, "upsert", "a", 0, 100, "one");
    written_table_write(table, "upsert", "b", 100, 50, "two");
    written_table_write(table, "upsert", "a", 90, 20, "three");
    written_table_write(table, "delete", "a", 0, 10, "");
    hudi_verification *const found = verify(table);
    assert_list(found, false, "");
    assert_list(found, true, "");
    assert_int_equal(hudi_verification_n_files(found), 4);
    assert_int_equal(hudi_verification_n_rows(found), 100 + 50 + 10 - 10);
    hudi_verification_free(found);
}

static void finds_nothing_in_an_empty_table(void **state)
{
    assert_found(*state, "", "");
}

static void finds_nothing_in_a_table_without_meta_columns(void **state)
{
    static const char *const OPTIONS[] = {"hoodie.populate.meta.fields=false", NULL};
    struct written_table table;

    (void)state;
    written_table_open(&table, OPTIONS);
    written_table_write(&table, "upsert", "a", 0, 100, "one");
    written_table_write(&table, "upsert", "a", 50, 100, "two");
    hudi_verification *const found = verify(&table);
    assert_list(found, false, "");
    assert_int_equal(hudi_verification_n_rows(found), 150);
    hudi_verification_free(found);
    written_table_close(&table);
}

static void stops_when_it_is_cancelled(void **state)
{
    struct written_table *const table = *state;
    hudi_cancel *cancel;
    hudi_table *open;
    hudi_verification *found;
    hudi_error *error = NULL;

    written_table_write(table, "upsert", "a", 0, 10, "one");
    assert_int_equal(hudi_cancel_new(&cancel, NULL), HUDI_OK);
    hudi_cancel_request(cancel);
    assert_int_equal(hudi_table_open(table->context, table->path, NULL, &open, NULL), HUDI_OK);
    assert_int_equal(hudi_verify(open, cancel, &found, &error), HUDI_CANCELLED);
    assert_null(found);
    hudi_error_free(error);
    hudi_table_free(open);
    hudi_cancel_free(cancel);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void finds_a_missing_file(void **state)
{
    struct written_table *const table = *state;
    char path[256];

    written_table_write(table, "upsert", "a", 0, 10, "one");
    strcpy(path, written_table_find(table, "a", ".parquet", 0));
    written_table_remove(table, path);
    assert_found(table, list_of("missing-file", path), "");
}

/* The files of the first commit, which the second one rewrote. */
static void write_two_slices(struct written_table *table, char old_path[256])
{
    written_table_write(table, "upsert", "a", 0, 10, "one");
    strcpy(old_path, written_table_find(table, "a", ".parquet", 0));
    written_table_write(table, "upsert", "a", 0, 10, "two");
}

static void notes_that_a_file_of_an_older_slice_is_gone(void **state)
{
    struct written_table *const table = *state;
    char path[256];

    write_two_slices(table, path);
    written_table_remove(table, path);
    assert_found(table, "", list_of("missing-file", path));
}

/* A completed clean: any Avro file with a record. */
static void put_clean(const struct written_table *table, const char *time, const char *ending)
{
    struct hd_op op;
    struct hd_str bytes = {0};
    char name[128];

    hd_op_init(&op);
    assert_int_equal(hd_avro_container_write(&op, hd_slice_text("\"string\""),
                                             hd_slice_of("\x02x", 2), 1, NULL, &bytes),
                     HUDI_OK);
    snprintf(name, sizeof name, ".hoodie/%s%s", time, ending);
    written_table_put(table, name, bytes.data, bytes.size);
    hd_str_clear(&bytes);
    hd_op_clear(&op);
}

static void expects_a_file_to_be_gone_that_a_clean_took(void **state)
{
    struct written_table *const table = *state;
    char path[256];

    write_two_slices(table, path);
    written_table_remove(table, path);
    put_clean(table, "29990101000000000", ".clean");
    assert_found(table, "", "");
}

static void finds_a_file_that_was_cut(void **state)
{
    struct written_table *const table = *state;
    char path[256], expected[1024];
    size_t n;

    written_table_write(table, "upsert", "a", 0, 10, "one");
    strcpy(path, written_table_find(table, "a", ".parquet", 0));
    free(written_table_read(table, path, &n));
    assert_int_equal(truncate(written_table_file(table, path), (off_t)n - 1), 0);
    snprintf(expected, sizeof expected, "unreadable-file %s;wrong-size %s;", path, path);
    assert_found(table, expected, "");
}

static void finds_a_size_that_is_not_the_commits(void **state)
{
    struct written_table *const table = *state;

    written_table_write(table, "upsert", "a", 0, 10, "one");
    written_table_set_number(table, written_table_find(table, ".hoodie", ".commit", 0),
                             "fileSizeInBytes", 17);
    assert_found(table, list_of("wrong-size", written_table_find(table, "a", ".parquet", 0)), "");
}

static void finds_a_row_count_that_is_not_the_commits(void **state)
{
    struct written_table *const table = *state;

    written_table_write(table, "upsert", "a", 0, 10, "one");
    written_table_set_number(table, written_table_find(table, ".hoodie", ".commit", 0), "numWrites",
                             11);
    assert_found(table, list_of("wrong-row-count", written_table_find(table, "a", ".parquet", 0)),
                 "");
}

static void finds_files_of_no_instant(void **state)
{
    struct written_table *const table = *state;
    static const char STRAY[] = "a/5f0d1d47-0000-4000-8000-000000000000-0_0-1-0_20200101000000000"
                                ".parquet";

    written_table_write(table, "upsert", "a", 0, 10, "one");
    /* a later one: what is older than the first instant could have been archived */
    char path[256], stray[256];
    strcpy(path, written_table_find(table, "a", ".parquet", 0));
    strcpy(stray, STRAY);
    memcpy(strrchr(stray, '_') + 1, "2999", 4);
    written_table_copy(table, path, stray);
    assert_found(table, list_of("stray-file", stray), "");
}

static void finds_files_that_their_commit_does_not_name(void **state)
{
    struct written_table *const table = *state;
    char path[256], stray[256];

    written_table_write(table, "upsert", "a", 0, 10, "one");
    strcpy(path, written_table_find(table, "a", ".parquet", 0));
    strcpy(stray, path);
    memcpy(stray + 2, "00000000", 8); /* of the file id */
    written_table_copy(table, path, stray);
    assert_found(table, list_of("stray-file", stray), "");
}

static void finds_data_files_with_other_names_and_notes_other_files(void **state)
{
    struct written_table *const table = *state;

    written_table_write(table, "upsert", "a", 0, 10, "one");
    written_table_put(table, "a/part-0.parquet", "x", 1);
    written_table_put(table, "a/notes.txt", "x", 1);
    written_table_put(table, "a/_SUCCESS", "", 0);
    written_table_put(table, "a/.tmp-1234", "", 0);
    assert_found(table, "stray-file a/part-0.parquet;",
                 "leftover-file a/.tmp-1234;unknown-file a/notes.txt;");
}

static void finds_a_partition_without_metafile(void **state)
{
    struct written_table *const table = *state;

    written_table_write(table, "upsert", "a/b", 0, 10, "one");
    written_table_remove(table, "a/b/.hoodie_partition_metadata");
    assert_found(table, "missing-metafile a/b;", "");
}

/* ---- timeline ------------------------------------------------------------------------------- */

static void finds_damaged_properties(void **state)
{
    struct written_table *const table = *state;
    hudi_table *open;
    hudi_verification *found;

    assert_int_equal(hudi_table_open(table->context, table->path, NULL, &open, NULL), HUDI_OK);
    written_table_replace(table, ".hoodie/hoodie.properties", "hoodie.table.name", "t", "other");
    assert_int_equal(hudi_verify(open, NULL, &found, NULL), HUDI_OK);
    assert_list(found, false, "damaged-properties .hoodie/hoodie.properties;");
    hudi_verification_free(found);
    hudi_table_free(open);
}

static void finds_an_empty_commit_and_still_checks_the_others(void **state)
{
    struct written_table *const table = *state;
    char commit[128], time[24], expected[1024], path[256];

    written_table_write(table, "upsert", "a", 0, 10, "one");
    strcpy(path, written_table_find(table, "a", ".parquet", 0));
    written_table_write(table, "upsert", "b", 10, 10, "one");
    strcpy(commit, written_table_find(table, ".hoodie", ".commit", 1));
    time_of(commit, time);
    written_table_put(table, commit, "", 0);
    written_table_remove(table, path);
    snprintf(expected, sizeof expected, "damaged-instant %s;missing-file %s;", time, path);
    assert_found(table, expected, "");
}

static void finds_a_commit_that_is_no_json(void **state)
{
    struct written_table *const table = *state;
    char time[24];

    written_table_write(table, "upsert", "a", 0, 10, "one");
    const char *const commit = written_table_find(table, ".hoodie", ".commit", 0);
    time_of(commit, time);
    written_table_put(table, commit, "{\"partitionToWriteStats\" : {", 28);
    assert_found(table, list_of("damaged-instant", time), "");
}

static void finds_cleans_and_rollbacks_that_cannot_be_read(void **state)
{
    struct written_table *const table = *state;

    written_table_put(table, ".hoodie/20200101000000000.clean", "", 0);
    written_table_put(table, ".hoodie/20200101000000001.rollback", "Obj\x01", 4);
    put_clean(table, "20200101000000002", ".savepoint");
    assert_found(table, "damaged-instant 20200101000000000;damaged-instant 20200101000000001;", "");
}

static void notes_pending_instants_and_leaves_their_files_alone(void **state)
{
    struct written_table *const table = *state;
    char stray[256];

    written_table_write(table, "upsert", "a", 0, 10, "one");
    strcpy(stray, "a/5f0d1d47-0000-4000-8000-000000000000-0_0-1-0_29990101000000000.parquet");
    written_table_copy(table, written_table_find(table, "a", ".parquet", 0), stray);
    written_table_put(table, ".hoodie/29990101000000000.commit.requested", "", 0);
    written_table_put(table, ".hoodie/29990101000000000.inflight", "", 0);
    put_clean(table, "29990101000000001", ".rollback.requested");
    assert_found(table, "", "pending-instant 29990101000000000;hung-rollback 29990101000000001;");
}

static void finds_a_running_rollback_whose_plan_cannot_be_read(void **state)
{
    struct written_table *const table = *state;

    written_table_put(table, ".hoodie/29990101000000001.rollback.requested", "Obj", 3);
    written_table_put(table, ".hoodie/29990101000000001.rollback.inflight", "", 0);
    assert_found(table, "damaged-instant 29990101000000001;", "hung-rollback 29990101000000001;");
}

static void notes_markers_that_were_left(void **state)
{
    struct written_table *const table = *state;
    char time[24], folder[64];

    written_table_write(table, "upsert", "a", 0, 10, "one");
    time_of(written_table_find(table, ".hoodie", ".commit", 0), time);
    if (access(written_table_file(table, ".hoodie/.temp"), F_OK) != 0)
        written_table_make_folder(table, ".hoodie/.temp");
    snprintf(folder, sizeof folder, ".hoodie/.temp/%s", time);
    written_table_make_folder(table, folder);
    assert_found(table, "", list_of("leftover-markers", folder));
}

/* Readers take every file that is older than the active timeline for one of an archived commit. */
static void finds_files_of_instants_that_were_never_archived(void **state)
{
    struct written_table *const table = *state;
    char *const path = test_golden_unpack("flink010-cow-clean-archive");
    struct written_table golden = {.context = table->context};
    char file[256], stray[256];

    assert_true(strlen(path) < sizeof golden.path);
    strcpy(golden.path, path);
    assert_found(&golden, "", "");
    strcpy(file, written_table_find(&golden, "par1", ".parquet", 0));
    strcpy(stray, file);
    strcpy(strrchr(stray, '_'), "_20261130140019996.parquet"); /* the first instant: ...997 */
    memcpy(stray + strlen("par1/"), "00000000", 8);
    written_table_copy(&golden, file, stray);
    assert_found(&golden, list_of("stray-file", stray), "");
    test_golden_remove(path);
}

/* A fault is passed up, or it is a finding: nothing is silently left out. */
static void survives_faults(void **state)
{
    struct written_table *const table = *state;
    void *op_state = NULL;
    int64_t n_faults = 0;

    written_table_write(table, "upsert", "a", 0, 10, "one");
    written_table_write(table, "upsert", "b", 5, 10, "two");
    assert_int_equal(test_op_setup(&op_state), 0);
    struct hd_op *const op = op_state;
    for (int64_t nth = 1;; nth += 1 + nth / 50) {
        struct hd_verification found;

        test_fault_arm(op, nth);
        const hudi_status status = hd_verify(op, NULL, table->path, NULL, &found);
        const bool fired = test_fault_fired(op);
        test_fault_disarm(op);
        if (status == HUDI_OK)
            assert_int_equal(found.n_findings > 0, fired);
        else
            assert_null(found.findings);
        hd_verification_clear(&found);
        if (!fired)
            break;
        n_faults++;
    }
    assert_true(n_faults > 100);
    hd_op_clear_error(op);
    assert_int_equal(test_op_teardown(&op_state), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(finds_nothing_in_a_healthy_table),
        TEST(finds_nothing_in_an_empty_table),
        TEST(finds_nothing_in_a_table_without_meta_columns),
        TEST(stops_when_it_is_cancelled),
        TEST(finds_a_missing_file),
        TEST(notes_that_a_file_of_an_older_slice_is_gone),
        TEST(expects_a_file_to_be_gone_that_a_clean_took),
        TEST(finds_a_file_that_was_cut),
        TEST(finds_a_size_that_is_not_the_commits),
        TEST(finds_a_row_count_that_is_not_the_commits),
        TEST(finds_files_of_no_instant),
        TEST(finds_files_that_their_commit_does_not_name),
        TEST(finds_data_files_with_other_names_and_notes_other_files),
        TEST(finds_a_partition_without_metafile),
        TEST(finds_damaged_properties),
        TEST(finds_an_empty_commit_and_still_checks_the_others),
        TEST(finds_a_commit_that_is_no_json),
        TEST(finds_cleans_and_rollbacks_that_cannot_be_read),
        TEST(notes_pending_instants_and_leaves_their_files_alone),
        TEST(finds_a_running_rollback_whose_plan_cannot_be_read),
        TEST(notes_markers_that_were_left),
        TEST(finds_files_of_instants_that_were_never_archived),
        TEST(survives_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
