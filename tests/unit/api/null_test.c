/* SPDX-License-Identifier: Apache-2.0 */
/* Calls refuse a NULL that they cannot do without, whatever else they are given. */
#include "hudi/hudi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Stands for every other argument; nothing of it is looked at. As a stream it has been released. */
static unsigned char some[4096];
#define SOME ((void *)some)

static hudi_error *error;

static void refused(const char *function, const char *argument, hudi_status status)
{
    char wanted[128];

    snprintf(wanted, sizeof wanted, "%s: %s is NULL", function, argument);
    assert_int_equal(status, HUDI_INVALID);
    assert_string_equal(hudi_error_message(error), wanted);
    hudi_error_free(error);
    error = NULL;
}

static void a_null_that_is_needed_is_refused_by_name(void **state)
{
    (void)state;
    refused("hudi_archive", "table", hudi_archive(NULL, 0, NULL, NULL, &error));
    refused("hudi_clean", "table", hudi_clean(NULL, 0, NULL, NULL, &error));
    refused("hudi_context_new", "out", hudi_context_new(NULL, NULL, &error));
    refused("hudi_cancel_new", "out", hudi_cancel_new(NULL, &error));
    refused("hudi_context_add_lock_provider", "context",
            hudi_context_add_lock_provider(NULL, SOME, NULL, NULL, NULL, NULL, &error));
    refused("hudi_context_add_lock_provider", "class_name",
            hudi_context_add_lock_provider(SOME, NULL, NULL, NULL, NULL, NULL, &error));
    refused("hudi_table_files", "table", hudi_table_files(NULL, NULL, SOME, &error));
    refused("hudi_table_files", "out", hudi_table_files(SOME, NULL, NULL, &error));
    refused("hudi_file_list_rows", "list", hudi_file_list_rows(NULL, 0, SOME, &error));
    refused("hudi_file_list_rows", "n_rows", hudi_file_list_rows(SOME, 0, NULL, &error));
    refused("hudi_log_file_open", "context", hudi_log_file_open(NULL, SOME, SOME, &error));
    refused("hudi_log_file_open", "uri", hudi_log_file_open(SOME, NULL, SOME, &error));
    refused("hudi_log_file_open", "out", hudi_log_file_open(SOME, SOME, NULL, &error));
    refused("hudi_log_file_next", "log", hudi_log_file_next(NULL, &error));
    refused("hudi_log_block_count", "log", hudi_log_block_count(NULL, SOME, SOME, &error));
    refused("hudi_log_block_count", "n_rows", hudi_log_block_count(SOME, NULL, SOME, &error));
    refused("hudi_log_block_count", "version", hudi_log_block_count(SOME, SOME, NULL, &error));
    refused("hudi_log_block_rows", "log", hudi_log_block_rows(NULL, NULL, SOME, &error));
    refused("hudi_log_block_rows", "out", hudi_log_block_rows(SOME, NULL, NULL, &error));
    refused("hudi_options_new", "out", hudi_options_new(NULL, &error));
    refused("hudi_options_set", "options", hudi_options_set(NULL, SOME, SOME, &error));
    refused("hudi_options_set", "key", hudi_options_set(SOME, NULL, SOME, &error));
    refused("hudi_options_set", "value", hudi_options_set(SOME, SOME, NULL, &error));
    refused("hudi_rollback_preview", "table", hudi_rollback_preview(NULL, SOME, SOME, &error));
    refused("hudi_rollback_preview", "instant_time",
            hudi_rollback_preview(SOME, NULL, SOME, &error));
    refused("hudi_rollback_preview", "out", hudi_rollback_preview(SOME, SOME, NULL, &error));
    refused("hudi_restore_preview", "table", hudi_restore_preview(NULL, SOME, NULL, SOME, &error));
    refused("hudi_restore_preview", "instant_time",
            hudi_restore_preview(SOME, NULL, NULL, SOME, &error));
    refused("hudi_restore_preview", "out", hudi_restore_preview(SOME, SOME, NULL, NULL, &error));
    refused("hudi_savepoint_preview", "table", hudi_savepoint_preview(NULL, SOME, SOME, &error));
    refused("hudi_savepoint_preview", "instant_time",
            hudi_savepoint_preview(SOME, NULL, SOME, &error));
    refused("hudi_savepoint_preview", "out", hudi_savepoint_preview(SOME, SOME, NULL, &error));
    refused("hudi_savepoint_delete_preview", "table",
            hudi_savepoint_delete_preview(NULL, SOME, SOME, &error));
    refused("hudi_savepoint_delete_preview", "instant_time",
            hudi_savepoint_delete_preview(SOME, NULL, SOME, &error));
    refused("hudi_savepoint_delete_preview", "out",
            hudi_savepoint_delete_preview(SOME, SOME, NULL, &error));
    refused("hudi_compact", "table", hudi_compact(NULL, 0, NULL, NULL, NULL, &error));
    refused("hudi_compact_logs", "table", hudi_compact_logs(NULL, 0, NULL, NULL, NULL, &error));
    refused("hudi_cluster", "table", hudi_cluster(NULL, 0, NULL, NULL, NULL, &error));
    refused("hudi_rows_open", "path", hudi_rows_open(NULL, NULL, NULL, NULL, SOME, &error));
    refused("hudi_rows_open", "out", hudi_rows_open(NULL, SOME, NULL, NULL, NULL, &error));
    refused("hudi_rows_write", "in", hudi_rows_write(NULL, NULL, SOME, NULL, NULL, &error));
    refused("hudi_rows_write", "path", hudi_rows_write(NULL, SOME, NULL, NULL, NULL, &error));
    refused("hudi_savepoint", "table", hudi_savepoint(NULL, SOME, NULL, NULL, &error));
    refused("hudi_savepoint", "instant_time", hudi_savepoint(SOME, NULL, NULL, NULL, &error));
    refused("hudi_savepoint_delete", "table", hudi_savepoint_delete(NULL, SOME, &error));
    refused("hudi_savepoint_delete", "instant_time", hudi_savepoint_delete(SOME, NULL, &error));
    refused("hudi_restore", "table", hudi_restore(NULL, SOME, NULL, NULL, &error));
    refused("hudi_restore", "instant_time", hudi_restore(SOME, NULL, NULL, NULL, &error));
    refused("hudi_scan_open", "table", hudi_scan_open(NULL, NULL, NULL, SOME, &error));
    refused("hudi_scan_open", "out", hudi_scan_open(SOME, NULL, NULL, NULL, &error));
    refused("hudi_scan_plan_new", "table", hudi_scan_plan_new(NULL, NULL, SOME, &error));
    refused("hudi_scan_plan_new", "out", hudi_scan_plan_new(SOME, NULL, NULL, &error));
    refused("hudi_split_open", "context", hudi_split_open(NULL, SOME, 0, NULL, SOME, &error));
    refused("hudi_split_open", "split", hudi_split_open(SOME, NULL, 0, NULL, SOME, &error));
    refused("hudi_split_open", "out", hudi_split_open(SOME, SOME, 0, NULL, NULL, &error));
    refused("hudi_rollback", "table", hudi_rollback(NULL, SOME, &error));
    refused("hudi_rollback", "instant_time", hudi_rollback(SOME, NULL, &error));
    refused("hudi_table_open", "context", hudi_table_open(NULL, SOME, NULL, SOME, &error));
    refused("hudi_table_open", "base_uri", hudi_table_open(SOME, NULL, NULL, SOME, &error));
    refused("hudi_table_open", "out", hudi_table_open(SOME, SOME, NULL, NULL, &error));
    refused("hudi_table_create", "context", hudi_table_create(NULL, SOME, SOME, NULL, &error));
    refused("hudi_table_create", "base_uri", hudi_table_create(SOME, NULL, SOME, NULL, &error));
    refused("hudi_table_create", "schema", hudi_table_create(SOME, SOME, NULL, NULL, &error));
    refused("hudi_table_schema", "table", hudi_table_schema(NULL, SOME, &error));
    refused("hudi_table_schema", "out", hudi_table_schema(SOME, NULL, &error));
    refused("hudi_table_avro_schema", "table", hudi_table_avro_schema(NULL, SOME, &error));
    refused("hudi_table_avro_schema", "out", hudi_table_avro_schema(SOME, NULL, &error));
    refused("hudi_schema_parse", "text", hudi_schema_parse(NULL, 0, SOME, &error));
    refused("hudi_schema_parse", "out", hudi_schema_parse(SOME, 0, NULL, &error));
    refused("hudi_table_archived_timeline", "table",
            hudi_table_archived_timeline(NULL, SOME, &error));
    refused("hudi_table_archived_timeline", "out",
            hudi_table_archived_timeline(SOME, NULL, &error));
    refused("hudi_instant_summary", "table", hudi_instant_summary(NULL, SOME, SOME, &error));
    refused("hudi_instant_summary", "instant", hudi_instant_summary(SOME, NULL, SOME, &error));
    refused("hudi_instant_summary", "out", hudi_instant_summary(SOME, SOME, NULL, &error));
    refused("hudi_instant_explain", "table", hudi_instant_explain(NULL, SOME, SOME, &error));
    refused("hudi_instant_explain", "instant", hudi_instant_explain(SOME, NULL, SOME, &error));
    refused("hudi_instant_explain", "out", hudi_instant_explain(SOME, SOME, NULL, &error));
    refused("hudi_verify", "table", hudi_verify(NULL, NULL, SOME, &error));
    refused("hudi_verify", "out", hudi_verify(SOME, NULL, NULL, &error));
    refused("hudi_repair", "table", hudi_repair(NULL, 0, NULL, NULL, &error));
    refused("hudi_write_check_new_table", "context",
            hudi_write_check_new_table(NULL, NULL, &error));
    refused("hudi_write_begin", "table", hudi_write_begin(NULL, NULL, SOME, &error));
    refused("hudi_write_begin", "out", hudi_write_begin(SOME, NULL, NULL, &error));
    refused("hudi_write_stream", "write", hudi_write_stream(NULL, SOME, NULL, &error));
    refused("hudi_write_stream", "in", hudi_write_stream(SOME, NULL, NULL, &error));
    refused("hudi_write_open_rows", "write",
            hudi_write_open_rows(NULL, SOME, NULL, NULL, SOME, &error));
    refused("hudi_write_open_rows", "path",
            hudi_write_open_rows(SOME, NULL, NULL, NULL, SOME, &error));
    refused("hudi_write_open_rows", "out",
            hudi_write_open_rows(SOME, SOME, NULL, NULL, NULL, &error));
    refused("hudi_write_commit", "write", hudi_write_commit(NULL, NULL, &error));
    refused("hudi_write_task_description", "write",
            hudi_write_task_description(NULL, SOME, SOME, &error));
    refused("hudi_write_task_description", "out",
            hudi_write_task_description(SOME, NULL, SOME, &error));
    refused("hudi_write_task_description", "n_bytes",
            hudi_write_task_description(SOME, SOME, NULL, &error));
    refused("hudi_tagger_new", "context", hudi_tagger_new(NULL, SOME, 0, 0, SOME, &error));
    refused("hudi_tagger_new", "description", hudi_tagger_new(SOME, NULL, 0, 0, SOME, &error));
    refused("hudi_tagger_new", "out", hudi_tagger_new(SOME, SOME, 0, 0, NULL, &error));
    refused("hudi_tagger_tag", "tagger", hudi_tagger_tag(NULL, SOME, SOME, SOME, &error));
    refused("hudi_tagger_tag", "schema", hudi_tagger_tag(SOME, NULL, SOME, SOME, &error));
    refused("hudi_tagger_tag", "batch", hudi_tagger_tag(SOME, SOME, NULL, SOME, &error));
    refused("hudi_tagger_tag", "tasks", hudi_tagger_tag(SOME, SOME, SOME, NULL, &error));
    refused("hudi_write_task_open", "context",
            hudi_write_task_open(NULL, SOME, 0, 0, 0, 0, SOME, &error));
    refused("hudi_write_task_open", "description",
            hudi_write_task_open(SOME, NULL, 0, 0, 0, 0, SOME, &error));
    refused("hudi_write_task_open", "out",
            hudi_write_task_open(SOME, SOME, 0, 0, 0, 0, NULL, &error));
    refused("hudi_write_task_stream", "task", hudi_write_task_stream(NULL, SOME, NULL, &error));
    refused("hudi_write_task_stream", "in", hudi_write_task_stream(SOME, NULL, NULL, &error));
    refused("hudi_write_task_close", "task", hudi_write_task_close(NULL, SOME, SOME, &error));
    refused("hudi_write_task_close", "out", hudi_write_task_close(SOME, NULL, SOME, &error));
    refused("hudi_write_task_close", "n_bytes", hudi_write_task_close(SOME, SOME, NULL, &error));
    refused("hudi_write_add_status", "write", hudi_write_add_status(NULL, SOME, 0, &error));
    refused("hudi_write_add_status", "bytes", hudi_write_add_status(SOME, NULL, 0, &error));
}

static void outputs_are_empty_and_an_error_need_not_be_wanted(void **state)
{
    hudi_verification *out = SOME;
    struct ArrowArrayStream stream;

    (void)state;
    memset(&stream, 0xff, sizeof stream);
    assert_int_equal(hudi_verify(NULL, NULL, &out, NULL), HUDI_INVALID);
    assert_null(out);
    assert_int_equal(hudi_scan_open(NULL, NULL, NULL, &stream, NULL), HUDI_INVALID);
    assert_null(stream.release);
}

static int n_released;

static void release(struct ArrowArrayStream *stream)
{
    n_released++;
    stream->release = NULL;
}

static void a_stream_is_taken_all_the_same(void **state)
{
    struct ArrowArrayStream stream = {.release = release};

    (void)state;
    assert_int_equal(hudi_write_stream(NULL, &stream, NULL, NULL), HUDI_INVALID);
    stream.release = release;
    assert_int_equal(hudi_write_task_stream(NULL, &stream, NULL, NULL), HUDI_INVALID);
    stream.release = release;
    assert_int_equal(hudi_rows_write(NULL, &stream, NULL, NULL, NULL, NULL), HUDI_INVALID);
    assert_int_equal(n_released, 3);
}

static void what_frees_takes_null(void **state)
{
    (void)state;
    hudi_archiving_free(NULL);
    hudi_cancel_free(NULL);
    hudi_cleaning_free(NULL);
    hudi_clustering_free(NULL);
    hudi_commit_free(NULL);
    hudi_compaction_free(NULL);
    hudi_context_free(NULL);
    hudi_error_free(NULL);
    hudi_file_list_free(NULL);
    hudi_log_file_free(NULL);
    hudi_options_free(NULL);
    hudi_preview_free(NULL);
    hudi_scan_plan_free(NULL);
    hudi_table_free(NULL);
    hudi_tagger_free(NULL);
    hudi_timeline_free(NULL);
    hudi_verification_free(NULL);
    hudi_write_abort(NULL);
    hudi_write_task_free(NULL);
    hudi_bytes_free(NULL);
    hudi_string_free(NULL);
}

#define REFUSED_EMPTIES(type, call)                                                                \
    do {                                                                                           \
        type *out = SOME;                                                                          \
        assert_int_equal(call, HUDI_INVALID);                                                      \
        assert_null(out);                                                                          \
    } while (0)

static void an_output_that_need_not_be_asked_for_is_emptied_too(void **state)
{
    size_t n_undone = 1;
    int64_t n_rows = 1;

    (void)state;
    REFUSED_EMPTIES(hudi_archiving, hudi_archive(NULL, 0, NULL, &out, NULL));
    REFUSED_EMPTIES(hudi_cleaning, hudi_clean(NULL, 0, NULL, &out, NULL));
    REFUSED_EMPTIES(hudi_compaction, hudi_compact(NULL, 0, NULL, NULL, &out, NULL));
    REFUSED_EMPTIES(hudi_compaction, hudi_compact_logs(NULL, 0, NULL, NULL, &out, NULL));
    REFUSED_EMPTIES(hudi_clustering, hudi_cluster(NULL, 0, NULL, NULL, &out, NULL));
    REFUSED_EMPTIES(hudi_verification, hudi_repair(NULL, 0, NULL, &out, NULL));
    REFUSED_EMPTIES(hudi_commit, hudi_write_commit(NULL, &out, NULL));
    assert_int_equal(hudi_restore(NULL, SOME, NULL, &n_undone, NULL), HUDI_INVALID);
    assert_int_equal(n_undone, 0);
    assert_int_equal(hudi_rows_write(NULL, NULL, SOME, NULL, &n_rows, NULL), HUDI_INVALID);
    assert_int_equal(n_rows, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_null_that_is_needed_is_refused_by_name),
        cmocka_unit_test(an_output_that_need_not_be_asked_for_is_emptied_too),
        cmocka_unit_test(outputs_are_empty_and_an_error_need_not_be_wanted),
        cmocka_unit_test(a_stream_is_taken_all_the_same),
        cmocka_unit_test(what_frees_takes_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
