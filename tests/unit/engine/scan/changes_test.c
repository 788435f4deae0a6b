/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "unit/engine/scan/scan_testing.h"

#include "format/log/log_block.h"

/* Every change of a range: which files tell it, with which images, in which order. */

#define T1 "20240101000001000"
#define T2 "20240101000002000"
#define T3 "20240101000003000"

#define CDC "hoodie.table.cdc.enabled=true\nhoodie.table.cdc.supplemental.logging.mode="

/* ---- files of changes --------------------------------------------------------------------- */

#define ROW_SCHEMA                                                                                 \
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"id\",\"type\":\"string\"},"       \
    "{\"name\":\"v\",\"type\":[\"null\",\"int\"]},{\"name\":\"p\",\"type\":[\"null\","             \
    "\"string\"]}]}"
#define FIELD(name) "{\"name\":\"" name "\",\"type\":[\"null\",\"string\"],\"default\":null}"
#define BEFORE "{\"name\":\"before\",\"type\":[\"null\"," ROW_SCHEMA "],\"default\":null}"
#define RECORD(fields) "{\"type\":\"record\",\"name\":\"CDC\",\"fields\":[" fields "]}"

static const char BOTH[] = RECORD(
    FIELD("op") "," FIELD("ts_ms") "," BEFORE ",{\"name\":\"after\",\"type\":[\"null\",\"r\"]}");
static const char BEFORE_ONLY[] = RECORD(FIELD("op") "," FIELD("record_key") "," BEFORE);
/* The order of branches is that of real files of this mode. */
static const char KEYS[] = RECORD("{\"name\":\"op\",\"type\":[\"string\",\"null\"]},"
                                  "{\"name\":\"record_key\",\"type\":[\"string\",\"null\"]}");

static void put_text(struct hd_op *op, struct hd_str *out, int branch, const char *text, size_t n)
{
    test_must(op, hd_str_append_char(op, out, (char)(branch * 2)));
    test_must(op, hd_str_append_char(op, out, (char)(n * 2)));
    test_must(op, hd_str_append(op, out, text, n));
}

/* A row "id,v" of partition "x", or nothing for null. */
static void put_image(struct hd_op *op, struct hd_str *out, const char *text, size_t n)
{
    const size_t id = strcspn(text, ",");

    test_must(op, hd_str_append_char(op, out, n == 0 ? 0 : 2));
    if (n == 0)
        return;
    test_must(op, hd_str_append_char(op, out, (char)(id * 2)));
    test_must(op, hd_str_append(op, out, text, id));
    test_must(op, hd_str_append_char(op, out, 2));
    test_must(op, hd_str_append_char(op, out, (char)(atoi(text + id + 1) * 2)));
    put_text(op, out, 1, "x", 1);
}

/* The content of a block: records from lines "op|key|before|after". */
static void put_records(struct hd_op *op, const char *schema, const char *lines,
                        struct hd_str *content)
{
    const char version_and_count[] = {0, 0, 0, 3, 0, 0, 0, 0};

    test_must(op, hd_str_append(op, content, version_and_count, sizeof version_and_count));
    for (const char *line = lines; *line != '\0'; line += strcspn(line, "\n") + 1) {
        struct hd_str record = {0};
        const char *cells[4], *at = line;
        size_t sizes[4];

        for (int i = 0; i < 4; i++) {
            cells[i] = at;
            sizes[i] = strcspn(at, "|\n");
            at += sizes[i] + (at[sizes[i]] == '|');
        }
        put_text(op, &record, schema == KEYS ? 0 : 1, cells[0], sizes[0]);
        if (schema == BOTH)
            put_text(op, &record, 1, "20240101000002000", 17);
        else
            put_text(op, &record, schema == KEYS ? 0 : 1, cells[1], sizes[1]);
        if (schema != KEYS)
            put_image(op, &record, cells[2], sizes[2]);
        if (schema == BOTH)
            put_image(op, &record, cells[3], sizes[3]);
        const char length[] = {0, 0, 0, (char)record.size};
        test_must(op, hd_str_append(op, content, length, sizeof length));
        test_must(op, hd_str_append(op, content, record.data, record.size));
        content->data[7]++;
        hd_str_clear(&record);
    }
}

#define CDC_FILE(file_id, instant) "x/." file_id "_" instant ".log.1_0-0-0.cdc"

/* A file of changes of partition "x", cut to `n` bytes; gives its whole size. */
static size_t put_changes(struct scan_table *t, const char *path, const char *instant,
                          const char *schema, const char *lines, size_t n)
{
    struct hd_op *op = t->table.op;
    struct hd_str content = {0}, block = {0};
    const struct hd_log_header_entry header[] = {{HD_LOG_INSTANT_TIME, hd_slice_text(instant)},
                                                 {HD_LOG_SCHEMA, hd_slice_text(schema)}};
    hd_output_file *file;
    char full[256];

    put_records(op, schema, lines, &content);
    const struct hd_slice part = hd_str_slice(&content);
    test_must(op, hd_log_block_encode(op, HD_LOG_CDC_DATA, header, 2, &part, 1, &block));
    snprintf(full, sizeof full, "%s/%s", t->table.path, path);
    test_must(op, hd_fs_open_output(op, t->table.fs, full, false, &file));
    test_must(op, hd_output_file_write(op, file, block.data, n < block.size ? n : block.size));
    test_must(op, hd_output_file_close(op, file, true));
    const size_t size = block.size;
    hd_str_clear(&content);
    hd_str_clear(&block);
    return size;
}

/* ---- stats -------------------------------------------------------------------------------- */

#define STAT_OF(file_id, instant, prev, counts, cdc)                                               \
    "{\"fileId\":\"" file_id "\",\"path\":\"x/" file_id "_0-0-0_" instant                          \
    ".parquet\",\"prevCommit\":\"" prev "\",\"partitionPath\":\"x\"," counts ",\"cdcStats\":" cdc  \
    "}"
#define X(stats) "\"x\":[" stats "]"
#define INSERTS(n) "\"numWrites\":" #n ",\"numInserts\":" #n
#define MIXED "\"numWrites\":3,\"numInserts\":1,\"numUpdateWrites\":1,\"numDeletes\":1"
#define LOGGED(file_id, instant) "{\"" CDC_FILE(file_id, instant) "\":10}"

/* t1 inserts a, b, c; t2 updates a, deletes b, inserts d. */
static void make_changes(struct hd_op *op, struct scan_table *t, const char *name,
                         const char *properties)
{
    scan_table_open(op, t, name, "string", properties);
    scan_file(t, "x", "f1", T1, "x", T1 "|a|1\n" T1 "|b|1\n" T1 "|c|1\n");
    scan_commit(t, T1, "commit", X(STAT_OF("f1", T1, "null", INSERTS(3), "null")), NULL);
    scan_file(t, "x", "f1", T2, "x", T2 "|a|2\n" T1 "|c|1\n" T2 "|d|2\n");
}

#define INSERTED_1 "i|" T1 "|~|a 1\ni|" T1 "|~|b 1\ni|" T1 "|~|c 1\n"
#define CHANGED_2 "u|" T2 "|a 1|a 2\nd|" T2 "|b 1|~\ni|" T2 "|~|d 2\n"

/* {"id":"a","v":1} -> a 1: what the images of the queries here look like. */
static void shorten(struct hd_str *text)
{
    static const char *const NOISE[] = {"{\"id\":\"", "\",\"v\":", "}"};
    static const char *const SHORT[] = {"", " ", ""};

    for (size_t i = 0; i < 3; i++) {
        const size_t n = strlen(NOISE[i]);
        char *at = text->data;

        while (at != NULL && (at = strstr(at, NOISE[i])) != NULL) {
            const size_t k = strlen(SHORT[i]);
            memcpy(at, SHORT[i], k);
            memmove(at + k, at + n, strlen(at + n) + 1);
        }
    }
}

static hudi_status read_changes(struct scan_table *t, const char *begin, const char *end,
                                struct hd_str *out)
{
    scan_option(t, "hoodie.datasource.query.type", "incremental");
    scan_option(t, "hoodie.datasource.query.incremental.format", "cdc");
    scan_option(t, "libhudi.read.columns", "id,v");
    if (begin != NULL)
        scan_option(t, "hoodie.datasource.read.begin.instanttime", begin);
    if (end != NULL)
        scan_option(t, "hoodie.datasource.read.end.instanttime", end);
    return scan_rows(t, 1, false, out);
}

static void expect_changes(struct scan_table *t, const char *begin, const char *end,
                           const char *rows)
{
    struct hd_str got = {0};

    test_must(t->table.op, read_changes(t, begin, end, &got));
    shorten(&got);
    assert_string_equal(hd_str_text(&got), rows);
    hd_str_clear(&got);
}

static void expect_failure(struct scan_table *t, hudi_status status, const char *message)
{
    struct hd_op *op = t->table.op;
    struct hd_str got = {0};

    assert_int_equal(read_changes(t, NULL, NULL, &got), status);
    assert_non_null(op->error);
    if (strstr(hudi_error_message(op->error), message) == NULL)
        fail_msg("%s", hudi_error_message(op->error));
    hd_op_clear_error(op);
    hd_str_clear(&got);
}

/* The whole stream, without looking at it. */
static hudi_status drain(struct scan_table *t, int64_t *n_rows)
{
    struct hd_op *op = t->table.op;
    struct hd_table_snapshot snapshot = {0};
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch;
    hd_scan_plan *plan;
    char uri[64];

    *n_rows = 0;
    snprintf(uri, sizeof uri, "memory:%s/t", t->table.name);
    hudi_status status = hd_table_snapshot_load(op, uri, &snapshot);
    if (status == HUDI_OK)
        status = hd_scan_plan_new(op, NULL, &snapshot, &t->options, &plan);
    if (status == HUDI_OK)
        status = hd_scan_stream(op, NULL, plan, &stream);
    while (status == HUDI_OK && (status = hd_stream_next(op, &stream, &batch)) == HUDI_OK) {
        *n_rows += batch.length;
        hd_array_clear(&batch);
    }
    hd_stream_clear(&stream);
    hd_table_snapshot_clear(op, &snapshot);
    return status == HUDI_END ? HUDI_OK : status;
}

/* ---- tests -------------------------------------------------------------------------------- */

static void logged_images_come_as_they_are(void **state)
{
    struct scan_table t;

    make_changes(*state, &t, "changes1", CDC "DATA_BEFORE_AFTER\n");
    put_changes(&t, CDC_FILE("f1", T2), T2, BOTH, "u|a|a,1|a,2\nd|b|b,1|\ni|d||d,2\n", SIZE_MAX);
    scan_commit(&t, T2, "commit", X(STAT_OF("f1", T2, T1, MIXED, LOGGED("f1", T2))), NULL);
    expect_changes(&t, NULL, NULL, INSERTED_1 CHANGED_2);
    expect_changes(&t, T1, NULL, CHANGED_2);
    expect_changes(&t, "earliest", T1, INSERTED_1);
    expect_changes(&t, T2, NULL, "");
    hd_options_clear(&t.options);
    /* The images before and after need not be there any more. */
    test_table_remove(&t.table, "x/f1_0-0-0_" T1 ".parquet");
    expect_changes(&t, T1, NULL, CHANGED_2);
    scan_table_close(&t);
}

static void the_image_after_is_looked_up_when_it_was_not_logged(void **state)
{
    struct scan_table t;

    make_changes(*state, &t, "changes2", CDC "DATA_BEFORE\n");
    put_changes(&t, CDC_FILE("f1", T2), T2, BEFORE_ONLY, "u|a|a,1\nd|b|b,1\ni|d|\n", SIZE_MAX);
    scan_commit(&t, T2, "commit", X(STAT_OF("f1", T2, T1, MIXED, LOGGED("f1", T2))), NULL);
    expect_changes(&t, T1, NULL, CHANGED_2);
    test_table_remove(&t.table, "x/f1_0-0-0_" T1 ".parquet");
    expect_changes(&t, T1, NULL, CHANGED_2);
    scan_table_close(&t);
}

static void both_images_are_looked_up_when_keys_were_logged(void **state)
{
    struct scan_table t;

    make_changes(*state, &t, "changes3", CDC "OP_KEY_ONLY\n");
    put_changes(&t, CDC_FILE("f1", T2), T2, KEYS, "u|a\nd|b\ni|d\n", SIZE_MAX);
    scan_commit(&t, T2, "commit", X(STAT_OF("f1", T2, T1, MIXED, LOGGED("f1", T2))), NULL);
    expect_changes(&t, NULL, NULL, INSERTED_1 CHANGED_2);
    test_table_remove(&t.table, "x/f1_0-0-0_" T1 ".parquet");
    hd_options_clear(&t.options);
    scan_option(&t, "hoodie.datasource.read.begin.instanttime", T1);
    expect_failure(&t, HUDI_NOT_FOUND, "were cleaned: the base file before is gone");
    scan_table_close(&t);
}

static void a_logged_key_without_row_is_an_error(void **state)
{
    struct scan_table t;

    make_changes(*state, &t, "changes4", CDC "OP_KEY_ONLY\n");
    put_changes(&t, CDC_FILE("f1", T2), T2, KEYS, "u|a\nd|z\n", SIZE_MAX);
    scan_commit(&t, T2, "commit", X(STAT_OF("f1", T2, T1, MIXED, LOGGED("f1", T2))), NULL);
    expect_failure(&t, HUDI_CORRUPT, "log \"d\" of key \"z\", which has no row before it");
    scan_table_close(&t);
}

/* Also what a delete of rows that were never there left in a new file group's counts. */
static void new_file_groups_are_inserts_whatever_deletes_came_with_them(void **state)
{
    struct scan_table t;

    make_changes(*state, &t, "changes5", CDC "DATA_BEFORE_AFTER\n");
    scan_commit(
        &t, T1, "commit",
        X(STAT_OF("f1", T1, "null", "\"numWrites\":3,\"numInserts\":3,\"numDeletes\":2", "null")),
        NULL);
    expect_changes(&t, NULL, NULL, INSERTED_1);
    scan_table_close(&t);
}

static void a_base_file_that_lost_all_rows_is_deletes(void **state)
{
    struct scan_table t;

    make_changes(*state, &t, "changes6", CDC "OP_KEY_ONLY\n");
    scan_commit(&t, T2, "commit",
                X(STAT_OF("f1", T2, T1, "\"numWrites\":0,\"numDeletes\":3", "null")), NULL);
    expect_changes(&t, T1, NULL, "d|" T2 "|a 1|~\nd|" T2 "|b 1|~\nd|" T2 "|c 1|~\n");
    scan_table_close(&t);
}

/* What was replaced is deleted before its place is taken; the newest version before counts. */
static void replaced_file_groups_are_deletes(void **state)
{
    struct scan_table t;

    make_changes(*state, &t, "changes7", CDC "DATA_BEFORE_AFTER\n");
    put_changes(&t, CDC_FILE("f1", T2), T2, BOTH, "u|a|a,1|a,2\nd|b|b,1|\ni|d||d,2\n", SIZE_MAX);
    scan_commit(&t, T2, "commit", X(STAT_OF("f1", T2, T1, MIXED, LOGGED("f1", T2))), NULL);
    scan_file(&t, "x", "f0", T3, "x", T3 "|a|3\n");
    scan_commit(&t, T3, "replacecommit", X(STAT_OF("f0", T3, "null", INSERTS(1), "null")),
                "\"x\":[\"f1\"]");
    expect_changes(&t, T2, NULL,
                   "d|" T3 "|a 2|~\nd|" T3 "|c 1|~\nd|" T3 "|d 2|~\ni|" T3 "|~|a 3\n");
    test_table_remove(&t.table, "x/f1_0-0-0_" T1 ".parquet");
    test_table_remove(&t.table, "x/f1_0-0-0_" T2 ".parquet");
    expect_failure(&t, HUDI_NOT_FOUND, "what was replaced is gone");
    scan_table_close(&t);
}

/* As after inserts into a file by a writer that did not log them. */
static void files_are_compared_when_nothing_was_logged(void **state)
{
    struct scan_table t;

    make_changes(*state, &t, "changes8", CDC "DATA_BEFORE_AFTER\n");
    scan_commit(&t, T2, "commit", X(STAT_OF("f1", T2, T1, MIXED, "null")), NULL);
    expect_changes(&t, T1, NULL, "u|" T2 "|a 1|a 2\ni|" T2 "|~|d 2\nd|" T2 "|b 1|~\n");
    scan_table_close(&t);
}

static void clustering_changes_nothing(void **state)
{
    struct scan_table t;

    make_changes(*state, &t, "changes9", CDC "DATA_BEFORE_AFTER\n");
    test_table_put(&t.table, ".hoodie/" T2 ".replacecommit",
                   "{\"partitionToWriteStats\":{" X(
                       STAT_OF("f2", T2, "null", INSERTS(3),
                               "null")) "},\"partitionToReplaceFileIds\":{\"x\":[\"f1\"]},"
                                        "\"operationType\":\"CLUSTER\"}");
    expect_changes(&t, NULL, NULL, INSERTED_1);
    scan_table_close(&t);
}

static void a_limit_ends_the_stream(void **state)
{
    struct scan_table t;

    make_changes(*state, &t, "changes10", CDC "OP_KEY_ONLY\n");
    scan_option(&t, "libhudi.read.limit", "2");
    expect_changes(&t, NULL, NULL, "i|" T1 "|~|a 1\ni|" T1 "|~|b 1\n");
    scan_table_close(&t);
}

static void a_table_without_commits_has_no_changes(void **state)
{
    struct scan_table t;

    scan_table_open(*state, &t, "changes16", "string", CDC "OP_KEY_ONLY\n");
    int64_t n_rows;
    scan_option(&t, "hoodie.datasource.query.type", "incremental");
    scan_option(&t, "hoodie.datasource.query.incremental.format", "cdc");
    test_must(t.table.op, drain(&t, &n_rows));
    assert_int_equal(n_rows, 0);
    scan_table_close(&t);
}

static void what_cannot_be_told_is_an_error(void **state)
{
    struct scan_table t;

    make_changes(*state, &t, "changes11", "");
    expect_failure(&t, HUDI_INVALID, "the table does not log changes");
    scan_table_close(&t);

    make_changes(*state, &t, "changes12", CDC "DATA_BEFORE_AFTER\n");
    scan_option(&t, "libhudi.read.filter", "v = 1");
    expect_failure(&t, HUDI_INVALID, "a filter does not go with");
    hd_options_clear(&t.options);
    scan_commit(&t, T2, "commit", X(STAT_OF("f1", T2, T1, MIXED, LOGGED("f1", T2))), NULL);
    scan_option(&t, "hoodie.datasource.read.begin.instanttime", T1);
    expect_failure(&t, HUDI_NOT_FOUND, "changes of " T2 " in file group f1 of partition \"x\"");
    put_changes(&t, CDC_FILE("f1", T2), T2, BOTH, "x|a|a,1|a,2\n", SIZE_MAX);
    expect_failure(&t, HUDI_CORRUPT, "a logged change has the operation \"x\"");
    scan_commit(&t, T2, "commit", X(STAT_OF("f1", T2, T1, MIXED, "{\"x/../../y.cdc\":1}")), NULL);
    expect_failure(&t, HUDI_CORRUPT, "the commit names the file \"x/../../y.cdc\"");
    scan_table_close(&t);
}

static void a_cut_file_of_changes_is_never_read_as_fewer_changes(void **state)
{
    static const char LINES[] = "u|a|a,1|a,2\nd|b|b,1|\ni|d||d,2\n";
    struct hd_op *op = *state;
    struct scan_table t;
    char stat[1024];

    make_changes(op, &t, "changes13", CDC "DATA_BEFORE_AFTER\n");
    const size_t size = put_changes(&t, CDC_FILE("f1", T2), T2, BOTH, LINES, SIZE_MAX);
    snprintf(stat, sizeof stat, X(STAT_OF("f1", T2, T1, MIXED, "{\"%s\":%zu}")), CDC_FILE("f1", T2),
             size);
    scan_commit(&t, T2, "commit", stat, NULL);
    expect_changes(&t, T1, NULL, CHANGED_2);
    for (size_t n = 0; n < size; n++) {
        struct hd_str got = {0};

        put_changes(&t, CDC_FILE("f1", T2), T2, BOTH, LINES, n);
        assert_int_equal(read_changes(&t, NULL, NULL, &got), HUDI_CORRUPT);
        hd_op_clear_error(op);
        hd_str_clear(&got);
    }
    scan_table_close(&t);
}

static void every_failure_leaves_nothing_behind(void **state)
{
    struct hd_op *op = *state;
    struct scan_table t;
    hudi_status status = HUDI_INTERNAL;
    int64_t n_rows;

    make_changes(op, &t, "changes14", CDC "OP_KEY_ONLY\n");
    put_changes(&t, CDC_FILE("f1", T2), T2, KEYS, "u|a\nd|b\ni|d\n", SIZE_MAX);
    scan_commit(&t, T2, "commit", X(STAT_OF("f1", T2, T1, MIXED, LOGGED("f1", T2))), NULL);
    scan_file(&t, "x", "f1", T3, "x", T2 "|a|2\n" T3 "|c|3\n" T2 "|d|2\n");
    scan_commit(&t, T3, "commit", X(STAT_OF("f1", T3, T2, MIXED, "null")), NULL);
    expect_changes(&t, NULL, NULL, INSERTED_1 CHANGED_2 "u|" T3 "|c 1|c 3\n");
    for (int64_t nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        status = drain(&t, &n_rows);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_true(nth < 100000);
    }
    assert_int_equal(n_rows, 7);
    test_fault_disarm(op);
    hd_op_clear_error(op);
    scan_table_close(&t);
}

/* Images of a file group that is larger than its part of the budget. */
static void images_that_do_not_fit_into_memory_spill(void **state)
{
    enum { N = 4000 };
    struct hd_op *op = *state;
    struct scan_table t;
    struct hd_str before = {0}, after = {0};
    int64_t n_rows;

    scan_table_open(op, &t, "changes15", "string", CDC "DATA_BEFORE_AFTER\n");
    for (int i = 0; i < N; i++) {
        test_must(op, hd_str_printf(op, &before, T1 "|key%06d|%d\n", i, i));
        if (i % 2 == 0)
            test_must(op, hd_str_printf(op, &after, T2 "|key%06d|%d\n", i, i + 1));
    }
    scan_file(&t, "x", "f1", T1, "x", hd_str_text(&before));
    scan_commit(&t, T1, "commit", X(STAT_OF("f1", T1, "null", INSERTS(4000), "null")), NULL);
    scan_file(&t, "x", "f1", T2, "x", hd_str_text(&after));
    scan_commit(&t, T2, "commit", X(STAT_OF("f1", T2, T1, MIXED, "null")), NULL);
    test_budget_limit(op, UINT64_C(2) << 20);
    scan_option(&t, "hoodie.datasource.query.type", "incremental");
    scan_option(&t, "hoodie.datasource.query.incremental.format", "cdc");
    test_must(op, drain(&t, &n_rows));
    assert_int_equal(n_rows, 2 * N);
    hd_str_clear(&before);
    hd_str_clear(&after);
    scan_table_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(logged_images_come_as_they_are, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(the_image_after_is_looked_up_when_it_was_not_logged,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(both_images_are_looked_up_when_keys_were_logged,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(a_logged_key_without_row_is_an_error, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(new_file_groups_are_inserts_whatever_deletes_came_with_them,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(a_base_file_that_lost_all_rows_is_deletes, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(replaced_file_groups_are_deletes, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(files_are_compared_when_nothing_was_logged, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(clustering_changes_nothing, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(a_limit_ends_the_stream, test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(a_table_without_commits_has_no_changes, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_told_is_an_error, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(a_cut_file_of_changes_is_never_read_as_fewer_changes,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(every_failure_leaves_nothing_behind, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(images_that_do_not_fit_into_memory_spill, test_op_setup,
                                        test_op_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
