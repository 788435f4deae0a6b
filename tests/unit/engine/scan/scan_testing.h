/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in memory for scans: columns id, v, p; commits and files one by one. */
#ifndef TEST_ENGINE_SCAN_TESTING_H
#define TEST_ENGINE_SCAN_TESTING_H

#include "unit/engine/rows_testing.h"

#include <stdio.h>

#include "arrow/stream.h"
#include "engine/scan/scan.h"
#include "store/memory.h"

#define FILE_COLUMNS                                                                               \
    "_hoodie_commit_time string\n_hoodie_commit_seqno string\n_hoodie_record_key string\n"         \
    "_hoodie_partition_path string\n_hoodie_file_name string\nid string\nv int\np "

struct scan_table {
    struct test_table table;
    struct hd_options options;
    const char *p_type; /* of column p: "string" */
};

#define AVRO                                                                                       \
    "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"r\\\",\\\"fields\\\":[{\\\"name\\\":"           \
    "\\\"id\\\","                                                                                  \
    "\\\"type\\\":\\\"string\\\"},{\\\"name\\\":\\\"v\\\",\\\"type\\\":[\\\"null\\\",\\\"int\\\"]" \
    "},"                                                                                           \
    "{\\\"name\\\":\\\"p\\\",\\\"type\\\":[\\\"null\\\",\\\"%s\\\"]}]}"

/* A copy-on-write table of version 6 partitioned by p; `properties` are added to the usual ones. */
static inline void scan_table_open(struct hd_op *op, struct scan_table *t, const char *name,
                                   const char *p_type, const char *properties)
{
    char text[2048];

    *t = (struct scan_table){.p_type = p_type};
    test_table_open(op, &t->table, name, 6, "p");
    snprintf(text, sizeof text,
             "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\n"
             "hoodie.timeline.layout.version=1\nhoodie.table.recordkey.fields=id\n"
             "hoodie.table.partition.fields=p\nhoodie.table.timeline.timezone=UTC\n%s",
             properties);
    test_table_put(&t->table, ".hoodie/hoodie.properties", text);
}

static inline void scan_table_close(struct scan_table *t)
{
    hd_options_clear(&t->options);
    test_table_close(&t->table);
}

static inline void scan_option(struct scan_table *t, const char *key, const char *value)
{
    test_must(t->table.op, hd_options_set(t->table.op, &t->options, key, value));
}

/* A base file; rows are lines "commit time|id|v", p is the same in all ("~": null). */
static inline void scan_file(struct scan_table *t, const char *partition, const char *file_id,
                             const char *instant, const char *p, const char *rows)
{
    struct hd_op *op = t->table.op;
    struct hd_str lines = {0};
    char path[256], columns[512];

    snprintf(path, sizeof path, "%s/.hoodie_partition_metadata", partition);
    if (!test_table_has(&t->table, path))
        test_table_put(&t->table, path, "");
    for (const char *line = rows; *line != '\0';) {
        const int n = (int)strcspn(line, "\n"), time = (int)strcspn(line, "|\n");
        const char *id = line + time + 1;

        test_must(op, hd_str_printf(op, &lines, "%.*s|s|%.*s|%s|f|%.*s|%s\n", time, line,
                                    (int)strcspn(id, "|"), id, partition, n - time - 1, id, p));
        line += n + (line[n] == '\n');
    }
    snprintf(path, sizeof path, "%s/%s/%s_0-0-0_%s.parquet", t->table.path, partition, file_id,
             instant);
    snprintf(columns, sizeof columns, "%s%s\n", FILE_COLUMNS, t->p_type);
    test_base_file(op, t->table.fs, path, columns, hd_str_text(&lines), 0);
    hd_str_clear(&lines);
}

/* A completed instant; `stats` and `replaced` are JSON, or NULL. */
static inline void scan_commit(struct scan_table *t, const char *instant, const char *action,
                               const char *stats, const char *replaced)
{
    char text[4096], avro[512], path[128];

    snprintf(avro, sizeof avro, AVRO, t->p_type);
    snprintf(text, sizeof text,
             "{\"partitionToWriteStats\":{%s},%s%s%s\"extraMetadata\":{\"schema\":\"%s\"},"
             "\"operationType\":\"UPSERT\"}",
             stats == NULL ? "" : stats, replaced == NULL ? "" : "\"partitionToReplaceFileIds\":{",
             replaced == NULL ? "" : replaced, replaced == NULL ? "" : "},", avro);
    snprintf(path, sizeof path, ".hoodie/%s.%s", instant, action);
    test_table_put(&t->table, path, text);
}

/* Rows of the query as lines "id|v", in order, by way of `n_threads` and of encoded splits. */
static inline hudi_status scan_rows(struct scan_table *t, size_t n_threads, bool encode,
                                    struct hd_str *out)
{
    struct hd_op *op = t->table.op;
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot snapshot = {0};
    hd_scan_plan *plan = NULL;
    hd_pool *pool = NULL;
    char uri[64];

    snprintf(uri, sizeof uri, "memory:%s/t", t->table.name);
    HD_TRY_OUT(hd_pool_new(op, n_threads, &pool));
    HD_TRY_OUT(hd_table_snapshot_load(op, uri, &snapshot));
    if (!hd_options_has(&t->options, "libhudi.read.columns"))
        HD_TRY_OUT(hd_options_set(op, &t->options, "libhudi.read.columns", "id,v"));
    HD_TRY_OUT(hd_scan_plan_new(op, pool, &snapshot, &t->options, &plan));
    const size_t n = encode ? hd_scan_plan_n_splits(plan) : 1;
    for (size_t i = 0; i < n; i++) {
        struct ArrowArrayStream stream;
        struct ArrowSchema schema = {0};
        struct ArrowArray batch;
        hd_scan_plan *one = plan;

        if (encode) {
            struct hd_str bytes = {0};
            status = hd_scan_split_encode(op, plan, i, &bytes);
            if (status == HUDI_OK)
                status = hd_scan_split_decode(op, hd_str_slice(&bytes), &one);
            hd_str_clear(&bytes);
            HD_TRY_OUT(status);
        } else {
            plan = NULL;
        }
        HD_TRY_OUT(hd_scan_stream(op, pool, one, &stream));
        status = hd_stream_schema(op, &stream, &schema);
        while (status == HUDI_OK && (status = hd_stream_next(op, &stream, &batch)) == HUDI_OK) {
            test_append_rows(op, &schema, &batch, out);
            hd_array_clear(&batch);
        }
        hd_schema_clear(&schema);
        hd_stream_clear(&stream);
        if (status == HUDI_END)
            status = HUDI_OK;
        HD_TRY_OUT(status);
    }
out:
    hd_scan_plan_free(plan);
    hd_table_snapshot_clear(op, &snapshot);
    hd_pool_free(pool);
    return status;
}

/* The query gives these rows, with one thread and with several, whole and in splits. */
static inline void scan_expect(struct scan_table *t, const char *rows)
{
    for (int way = 0; way < 3; way++) {
        struct hd_str got = {0};

        test_must(t->table.op, scan_rows(t, way == 1 ? 4 : 1, way == 2, &got));
        if (strcmp(hd_str_text(&got), rows) != 0)
            fail_msg("way %d gives\n%sinstead of\n%s", way, hd_str_text(&got), rows);
        hd_str_clear(&got);
    }
}

static inline void scan_expect_error(struct scan_table *t, hudi_status status, const char *message)
{
    struct hd_op *op = t->table.op;

    for (int way = 0; way < 2; way++) {
        struct hd_str got = {0};
        const hudi_status failed = scan_rows(t, way == 0 ? 1 : 3, false, &got);

        hd_str_clear(&got);
        if (failed != status || op->error == NULL ||
            (strstr(hudi_error_message(op->error), message) == NULL &&
             (hudi_error_path(op->error) == NULL ||
              strstr(hudi_error_path(op->error), message) == NULL)))
            fail_msg("%s: %s (%s)", hudi_status_name(failed),
                     op->error == NULL ? "no error" : hudi_error_message(op->error),
                     op->error == NULL || hudi_error_path(op->error) == NULL
                         ? ""
                         : hudi_error_path(op->error));
        hd_op_clear_error(op);
    }
}

#endif
