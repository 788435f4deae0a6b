/* SPDX-License-Identifier: Apache-2.0 */
/* Log files that one handle makes: names, markers, blocks, and the write stats that tell of them.
 */
#include "unit/engine/rows_testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/write/append_handle.h"
#include "format/log/log_deletes.h"
#include "format/log/log_reader.h"
#include "format/log/log_records.h"
#include "format/marker/marker.h"

#define STORE "append"
#define INSTANT "20240101000000000"
#define BASE_INSTANT "20230101000000000"
#define COMPACTION "20230601000000000"
#define FILE_ID "f00d0000-0000-0000-0000-000000000000-0"
#define BASE_NAME FILE_ID "_0-0-0_" BASE_INSTANT ".parquet"
#define LOG(instant, version, token) "." FILE_ID "_" instant ".log." version "_" token

#define FIELD(name, type)                                                                          \
    "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":[\\\"null\\\",\\\"" type "\\\"]}"

static const char COMMIT[] =
    "{\"partitionToWriteStats\":{},\"operationType\":\"UPSERT\",\"extraMetadata\":{\"schema\":\""
    "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"r\\\",\\\"fields\\\":[" FIELD(
        "k", "string") "," FIELD("v", "int") "," FIELD("_hoodie_is_deleted", "boolean") "]}\"}}";

static const struct hd_data_file BASE = {
    .name = BASE_NAME, .path = "p/" BASE_NAME, .instant = BASE_INSTANT};
static const struct hd_data_file LOGS[] = {
    {.name = LOG(BASE_INSTANT, "1", "1-1-1"), .instant = BASE_INSTANT, .log_version = 1},
    {.name = LOG(BASE_INSTANT, "2", "1-1-1"), .instant = BASE_INSTANT, .log_version = 2},
    {.name = LOG(COMPACTION, "1", "1-1-1"), .instant = COMPACTION, .log_version = 1},
};
static const struct hd_file_slice SLICE = {.partition_path = "p",
                                           .file_id = FILE_ID,
                                           .base_instant = BASE_INSTANT,
                                           .base = &BASE,
                                           .logs = LOGS,
                                           .n_logs = 2};

struct append_test {
    struct hd_op *op;
    struct test_table table;
    struct hd_table_snapshot snapshot;
    struct hd_options options;
    struct hd_write_config config;
    struct hd_write_schema schema;
    hd_merger *merger;
    struct hd_write_status status;
    hd_append_handle *handle;
    bool deletes;      /* the operation */
    bool others_about; /* other writers */
};

static void open_table_of(struct hd_op *op, struct append_test *t, int version, bool ordered)
{
    char text[512];

    *t = (struct append_test){.op = op};
    test_table_open(op, &t->table, STORE, version, "k");
    snprintf(text, sizeof text,
             "hoodie.table.name=t\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=%d\n"
             "hoodie.timeline.layout.version=1\nhoodie.table.recordkey.fields=k\n"
             "hoodie.table.timeline.timezone=UTC\n%s",
             version, ordered ? "hoodie.table.precombine.field=v\n" : "");
    test_table_put(&t->table, ".hoodie/hoodie.properties", text);
    test_table_put(&t->table, ".hoodie/" BASE_INSTANT ".deltacommit", COMMIT);
    test_must(op, hd_table_snapshot_load(op, "memory:" STORE "/t", &t->snapshot));
}

static void open_table(struct hd_op *op, struct append_test *t, int version)
{
    open_table_of(op, t, version, false);
}

/* With the options that were set. */
static void open_handle(struct append_test *t, const struct hd_file_slice *slice)
{
    struct hd_op *op = t->op;

    t->config.table = &t->snapshot;
    test_must(op, hd_write_config_init(op, &t->options, &t->config));
    snprintf(t->config.instant_time, sizeof t->config.instant_time, "%s", INSTANT);
    t->config.task = 4;
    t->config.attempt = 5;
    t->config.may_append = !t->others_about;
    test_must(op, hd_write_schema_new(op, &t->config, NULL, &t->schema));
    test_must(op, hd_merger_new(op, &t->snapshot.config, &t->config.options, &t->schema.record,
                                &t->merger));
    const struct hd_append_request request = {.config = &t->config,
                                              .schema = &t->schema,
                                              .merger = t->merger,
                                              .slice = slice,
                                              .ordinal = 3,
                                              .deletes = t->deletes};
    test_must(op, hd_append_handle_open(op, &request, &t->status, &t->handle));
}

/* Rows "key|v|_hoodie_is_deleted". */
static void append_some(struct append_test *t, const char *rows, const bool *drop)
{
    struct hd_op *op = t->op;
    struct hd_shared_array *shared;
    struct ArrowArray batch, keys;
    struct ArrowSchema key;

    test_rows(op, &t->schema.record, rows, &batch);
    test_must(op, hd_schema_copy(op, t->schema.record.children[0], &key));
    test_column(op, &key, 0, rows, &keys);
    test_must(op, hd_shared_array_new(op, &batch, &shared));
    test_must(op, hd_append_handle_append(op, t->handle, shared, &keys, drop));
    assert_null(keys.release);
    hd_shared_array_free(shared);
    hd_schema_clear(&key);
}

static void append(struct append_test *t, const char *rows)
{
    append_some(t, rows, NULL);
}

static void close_handle(struct append_test *t)
{
    test_must(t->op, hd_append_handle_close(t->op, t->handle));
    t->handle = NULL;
}

static void close_table(struct append_test *t)
{
    hd_append_handle_abort(t->op, t->handle);
    hd_write_status_clear(t->op, &t->status);
    hd_merger_free(t->merger);
    hd_write_schema_clear(t->op, &t->schema);
    hd_write_config_clear(&t->config);
    hd_options_clear(&t->options);
    hd_table_snapshot_clear(t->op, &t->snapshot);
    test_table_close(&t->table);
}

/* ---- what came of it ---------------------------------------------------------------------- */

static void describe_deletes(struct hd_op *op, const struct hd_log_block *block, char *out)
{
    struct hd_log_deletes deletes;

    test_must(op, hd_log_deletes_decode(op, block->content, block->content_offset, &deletes));
    sprintf(out + strlen(out), "deletes of version %u:", deletes.version);
    for (size_t i = 0; i < deletes.n; i++) {
        const struct hd_slice key = deletes.record_keys[i], path = deletes.partition_paths[i];

        sprintf(out + strlen(out), " %.*s/%.*s", (int)path.size, (const char *)path.data,
                (int)key.size, (const char *)key.data);
        if (deletes.ordering != NULL)
            sprintf(out + strlen(out), "=%s %d", hd_ordering_type_name(deletes.ordering[i].type),
                    (int)deletes.ordering[i].integer);
    }
    strcat(out, "\n");
    hd_log_deletes_clear(op, &deletes);
}

static void describe_parquet(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                             char *out)
{
    hd_base_reader *rows;
    hd_input_file *file;
    struct hd_slice schema;

    test_must(op, hd_log_reader_content(op, reader, block));
    test_must(op, hd_input_file_of_bytes(op, block->content.data, block->content.size, &file));
    test_must(op, hd_base_reader_open(op, file, HD_BASE_FILE_PARQUET, &rows));
    test_must(op, hd_base_reader_key_value(op, rows, "parquet.avro.schema", &schema));
    sprintf(out + strlen(out), "parquet, %d records\n", (int)hd_base_reader_n_rows(rows));
    hd_base_reader_close(rows);
}

/* A line for each block: offset, type, version and number of records of its content. */
static void describe(struct append_test *t, const char *path, char *out)
{
    struct hd_op *op = t->op;
    hd_log_reader *reader;
    char *full;

    *out = '\0';
    test_must(op, hd_path_join(op, t->snapshot.path, path, &full));
    test_must(op, hd_log_reader_open(op, t->snapshot.fs, full, &reader));
    for (;;) {
        struct hd_log_block block;
        struct hd_log_records records;
        struct hd_slice value;
        const hudi_status status = hd_log_reader_next(op, reader, &block);

        if (status == HUDI_END)
            break;
        test_must(op, status);
        test_must(op, hd_log_header_find(op, &block, HD_LOG_INSTANT_TIME, &value));
        assert_true(hd_slice_equal(value, hd_slice_text(INSTANT)));
        test_must(op, hd_log_header_find(op, &block, HD_LOG_SCHEMA, &value));
        assert_true(hd_slice_equal(value, hd_slice_text(t->schema.file_avro)));
        if (block.type == HD_LOG_AVRO_DATA) {
            test_must(op, hd_log_records_open(op, hd_log_reader_file(reader), &block, &records));
            sprintf(out + strlen(out), "data of version %u, %u records\n", records.version,
                    records.n_left);
            hd_log_records_close(op, &records);
        } else if (block.type == HD_LOG_PARQUET_DATA) {
            describe_parquet(op, reader, &block, out);
        } else {
            assert_int_equal(block.type, HD_LOG_DELETE);
            test_must(op, hd_log_reader_content(op, reader, &block));
            describe_deletes(op, &block, out);
        }
        hd_log_block_clear(op, &block);
    }
    hd_log_reader_close(op, reader);
    hd_free(op, full);
}

static void expect_blocks(struct append_test *t, const char *path, const char *wanted)
{
    char found[1000];

    describe(t, path, found);
    assert_string_equal(found, wanted);
}

static void expect_markers(struct append_test *t, const char *wanted)
{
    struct hd_arena arena = {0};
    struct hd_marker *markers;
    char found[1000] = "";
    size_t n;

    test_must(t->op, hd_markers_read(t->op, t->snapshot.fs, t->snapshot.path, INSTANT, &arena,
                                     &markers, &n));
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(markers[i].type, HD_IO_APPEND);
        strcat(strcat(found, markers[i].data_path), "\n");
    }
    assert_string_equal(found, wanted);
    hd_arena_clear(&arena);
}

static uint64_t size_of(struct append_test *t, const char *path)
{
    struct hd_file_info info;
    char *full;

    test_must(t->op, hd_path_join(t->op, t->snapshot.path, path, &full));
    test_must(t->op, hd_fs_stat(t->op, t->snapshot.fs, full, &info));
    hd_free(t->op, full);
    return info.size_bytes;
}

/* ---- tests -------------------------------------------------------------------------------- */

static void updates_become_a_block_in_the_next_log_file(void **state)
{
    static const char PATH[] = "p/" LOG(BASE_INSTANT, "3", "3-4-5");
    struct hd_op *op = *state;
    struct append_test t;

    open_table(op, &t, 6);
    open_handle(&t, &SLICE);
    append(&t, "k1|1|~\nk2|2|false\n");
    append(&t, "k3|~|~\n");
    close_handle(&t);
    expect_blocks(&t, PATH, "data of version 3, 3 records\n");
    expect_markers(&t, "p/" LOG(BASE_INSTANT, "3", "3-4-5") "\n");
    assert_int_equal(t.status.n_stats, 1);
    const struct hd_write_stat *stat = &t.status.stats[0];
    assert_true(stat->is_log);
    assert_string_equal(stat->file_id, FILE_ID);
    assert_string_equal(stat->partition_path, "p");
    assert_string_equal(stat->path, PATH);
    assert_string_equal(stat->prev_commit, BASE_INSTANT);
    assert_string_equal(stat->base_file, BASE_NAME);
    assert_int_equal(stat->log_version, 3);
    assert_int_equal(stat->log_offset, 0);
    assert_int_equal(stat->n_log_files, 3);
    assert_string_equal(stat->log_files[0], LOGS[0].name);
    assert_string_equal(stat->log_files[1], LOGS[1].name);
    assert_string_equal(stat->log_files[2], LOG(BASE_INSTANT, "3", "3-4-5"));
    assert_int_equal(stat->num_writes, 3);
    assert_int_equal(stat->num_update_writes, 3);
    assert_int_equal(stat->num_inserts, 0);
    assert_int_equal(stat->num_deletes, 0);
    assert_int_equal(stat->total_write_bytes, size_of(&t, PATH));
    assert_int_equal(stat->file_size_in_bytes, size_of(&t, PATH));
    close_table(&t);
}

static void old_versions_get_their_content_version_and_markers_of_the_slice(void **state)
{
    static const struct {
        int version;
        const char *blocks;
    } CASES[] = {
        {2, "data of version 1, 1 records\n"},
        {3, "data of version 1, 1 records\n"},
        {4, "data of version 2, 1 records\n"},
        {5, "data of version 2, 1 records\n"},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct append_test t;

        open_table(op, &t, CASES[i].version);
        open_handle(&t, &SLICE);
        append(&t, "k1|1|~\n");
        close_handle(&t);
        expect_blocks(&t, "p/" LOG(BASE_INSTANT, "3", "3-4-5"), CASES[i].blocks);
        expect_markers(&t, "p/" FILE_ID "_3-4-5_" BASE_INSTANT ".parquet\n");
        close_table(&t);
    }
}

/* A log file of the slice that is there, with one block. */
static uint64_t put_log(struct append_test *t, const char *path)
{
    struct hd_str block = {0};
    char *full;

    test_must(t->op, hd_log_rollback_block_encode(t->op, INSTANT, "001", &block));
    test_must(t->op, hd_path_join(t->op, t->snapshot.path, path, &full));
    test_must(t->op, hd_fs_replace(t->op, t->snapshot.fs, full, block.data, block.size));
    const uint64_t n = block.size;
    hd_free(t->op, full);
    hd_str_clear(&block);
    return n;
}

static void the_newest_log_file_is_written_on_when_asked_for(void **state)
{
    static const char PATH[] = "p/" LOG(BASE_INSTANT, "2", "1-1-1");
    static const int VERSIONS[] = {2, 3, 4, 5, 6};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(VERSIONS); i++) {
        struct append_test t;

        open_table(op, &t, VERSIONS[i]);
        test_table_put(&t.table, "p/.hoodie_partition_metadata", "");
        const uint64_t n = put_log(&t, PATH);
        test_must(op, hd_options_set(op, &t.options, "libhudi.log.append.enable", "true"));
        open_handle(&t, &SLICE);
        append(&t, "k1|1|~\nk2|2|false\n");
        close_handle(&t);
        assert_int_equal(t.status.n_stats, 1);
        const struct hd_write_stat *stat = &t.status.stats[0];
        assert_string_equal(stat->path, PATH);
        assert_int_equal(stat->log_version, 2);
        assert_int_equal(stat->log_offset, n);
        assert_int_equal(stat->n_log_files, 2);
        assert_string_equal(stat->log_files[0], LOGS[0].name);
        assert_string_equal(stat->log_files[1], LOGS[1].name);
        assert_int_equal(stat->total_write_bytes, size_of(&t, PATH) - n);
        assert_int_equal(stat->file_size_in_bytes, size_of(&t, PATH));
        expect_markers(&t, VERSIONS[i] < 6 ? "p/" FILE_ID "_3-4-5_" BASE_INSTANT ".parquet\n"
                                           : "p/" LOG(BASE_INSTANT, "2", "1-1-1") "\n");
        assert_false(test_table_has(&t.table, "p/" LOG(BASE_INSTANT, "3", "3-4-5")));
        close_table(&t);
    }
}

static void the_newest_log_file_is_left_alone_when_others_are_about(void **state)
{
    static const char PATH[] = "p/" LOG(BASE_INSTANT, "2", "1-1-1");
    struct hd_op *op = *state;
    struct append_test t;

    open_table(op, &t, 6);
    test_table_put(&t.table, "p/.hoodie_partition_metadata", "");
    const uint64_t n = put_log(&t, PATH);
    test_must(op, hd_options_set(op, &t.options, "libhudi.log.append.enable", "true"));
    t.others_about = true;
    open_handle(&t, &SLICE);
    append(&t, "k1|1|~\n");
    close_handle(&t);
    assert_string_equal(t.status.stats[0].path, "p/" LOG(BASE_INSTANT, "3", "3-4-5"));
    assert_int_equal(size_of(&t, PATH), n);
    close_table(&t);
}

static void a_pending_compaction_takes_the_place_of_the_base_file(void **state)
{
    struct hd_op *op = *state;
    struct append_test t;
    struct hd_file_slice slice = SLICE;

    slice.compaction_instant = COMPACTION;
    open_table(op, &t, 6);
    open_handle(&t, &slice);
    append(&t, "k1|1|~\n");
    close_handle(&t);
    assert_string_equal(t.status.stats[0].path, "p/" LOG(COMPACTION, "1", "3-4-5"));
    assert_string_equal(t.status.stats[0].prev_commit, COMPACTION);
    assert_string_equal(t.status.stats[0].base_file, "");
    assert_int_equal(t.status.stats[0].log_version, 1);
    assert_int_equal(t.status.stats[0].n_log_files, 1);
    close_table(&t);

    slice.n_logs = 3; /* one lies on it already */
    open_table(op, &t, 6);
    open_handle(&t, &slice);
    append(&t, "k1|1|~\n");
    close_handle(&t);
    assert_string_equal(t.status.stats[0].path, "p/" LOG(COMPACTION, "2", "3-4-5"));
    assert_int_equal(t.status.stats[0].n_log_files, 2);
    assert_string_equal(t.status.stats[0].log_files[0], LOGS[2].name);
    close_table(&t);
}

static void a_full_block_is_followed_by_another_and_a_full_file_too(void **state)
{
    static const char FIRST[] = "p/" LOG(BASE_INSTANT, "3", "3-4-5");
    static const char SECOND[] = "p/" LOG(BASE_INSTANT, "4", "3-4-5");
    struct hd_op *op = *state;
    struct append_test t;
    char rows[4000] = "";

    for (int i = 0; i < 100; i++)
        sprintf(rows + strlen(rows), "key%03d|%d|~\n", i, i);
    open_table(op, &t, 6);
    /* About 130 bytes a record. */
    test_must(op, hd_options_set(op, &t.options, "hoodie.logfile.data.block.max.size", "4000"));
    test_must(op, hd_options_set(op, &t.options, "hoodie.logfile.max.size", "7000"));
    open_handle(&t, &SLICE);
    append(&t, rows);
    close_handle(&t);
    assert_true(t.status.n_stats >= 2);
    const struct hd_write_stat *first = &t.status.stats[0], *second = &t.status.stats[1];
    assert_string_equal(first->path, FIRST);
    assert_string_equal(second->path, SECOND);
    assert_int_equal(first->n_log_files, 3);
    assert_int_equal(second->n_log_files, 4);
    assert_string_equal(second->log_files[2], LOG(BASE_INSTANT, "3", "3-4-5"));
    assert_string_equal(second->prev_commit, BASE_INSTANT);
    assert_string_equal(second->base_file, BASE_NAME);
    int64_t n_rows = 0;
    for (size_t i = 0; i < t.status.n_stats; i++) {
        const struct hd_write_stat *stat = &t.status.stats[i];
        char blocks[1000];

        describe(&t, stat->path, blocks);
        assert_int_equal(stat->file_size_in_bytes, size_of(&t, stat->path));
        assert_int_equal(stat->total_write_bytes, size_of(&t, stat->path));
        n_rows += stat->num_writes;
    }
    assert_int_equal(n_rows, 100);
    char blocks[1000];
    describe(&t, FIRST, blocks); /* the second block passed the limit */
    assert_non_null(strchr(strchr(blocks, '\n') + 1, '\n'));
    close_table(&t);
}

static void blocks_of_parquet_are_whole_files(void **state)
{
    static const char FIRST[] = "p/" LOG(BASE_INSTANT, "3", "3-4-5");
    struct hd_op *op = *state;
    struct append_test t;
    char rows[4000] = "", blocks[1000];

    open_table(op, &t, 6);
    test_must(op, hd_options_set(op, &t.options, "hoodie.logfile.data.block.format", "parquet"));
    open_handle(&t, &SLICE);
    append(&t, "k1|1|~\nk2|2|true\nk3|3|false\n");
    append(&t, "k4|4|~\n");
    close_handle(&t);
    expect_blocks(&t, FIRST, "parquet, 3 records\ndeletes of version 3: p/k2=int 0\n");
    assert_int_equal(t.status.stats[0].num_writes, 3);
    assert_int_equal(t.status.stats[0].num_deletes, 1);
    close_table(&t);

    for (int i = 0; i < 100; i++)
        sprintf(rows + strlen(rows), "key%03d|%d|~\n", i, i);
    open_table(op, &t, 4);
    test_must(op, hd_options_set(op, &t.options, "hoodie.logfile.data.block.format", "parquet"));
    test_must(op, hd_options_set(op, &t.options, "hoodie.logfile.data.block.max.size", "4000"));
    open_handle(&t, &SLICE);
    append(&t, rows);
    append(&t, rows);
    close_handle(&t);
    assert_int_equal(t.status.stats[0].num_writes, 200);
    describe(&t, FIRST, blocks);
    assert_non_null(strchr(strchr(blocks, '\n') + 1, '\n')); /* more than two */
    close_table(&t);
}

static void tables_below_version_4_get_no_blocks_of_parquet(void **state)
{
    struct hd_op *op = *state;

    for (int version = 2; version <= 6; version++) {
        struct append_test t;

        open_table(op, &t, version);
        test_must(op,
                  hd_options_set(op, &t.options, "hoodie.logfile.data.block.format", "parquet"));
        t.config.table = &t.snapshot;
        assert_int_equal(hd_write_config_init(op, &t.options, &t.config),
                         version < 4 ? HUDI_INVALID : HUDI_OK);
        hd_op_clear_error(op);
        close_table(&t);
    }
}

static hudi_status write_some(struct append_test *t, struct hd_shared_array *records,
                              const struct ArrowArray *keys)
{
    struct hd_op *op = t->op;
    const struct hd_append_request request = {
        .config = &t->config, .schema = &t->schema, .merger = t->merger, .slice = &SLICE};
    struct ArrowArray borrowed;
    hd_append_handle *handle;

    HD_TRY(hd_append_handle_open(op, &request, &t->status, &handle));
    hudi_status status = hd_array_borrow(op, keys, &borrowed);
    if (status == HUDI_OK)
        status = hd_append_handle_append(op, handle, records, &borrowed, NULL);
    if (status != HUDI_OK) {
        hd_append_handle_abort(op, handle);
        return status;
    }
    return hd_append_handle_close(op, handle);
}

static void blocks_of_parquet_survive_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct append_test t;
    struct hd_shared_array *shared;
    struct ArrowArray batch, keys;
    struct ArrowSchema key;
    hudi_status status = HUDI_INTERNAL;

    open_table(op, &t, 6);
    test_must(op, hd_options_set(op, &t.options, "hoodie.logfile.data.block.format", "parquet"));
    open_handle(&t, &SLICE);
    test_rows(op, &t.schema.record, "k1|1|~\nk2|2|true\n", &batch);
    test_must(op, hd_schema_copy(op, t.schema.record.children[0], &key));
    test_column(op, &key, 0, "k1|1|~\nk2|2|true\n", &keys);
    test_must(op, hd_shared_array_new(op, &batch, &shared));
    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        status = write_some(&t, shared, &keys);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        if (test_table_has(&t.table, "p/" LOG(BASE_INSTANT, "3", "0-4-5")))
            test_table_remove(&t.table, "p/" LOG(BASE_INSTANT, "3", "0-4-5"));
        else
            assert_int_not_equal(status, HUDI_OK);
    }
    hd_array_clear(&keys);
    hd_schema_clear(&key);
    hd_shared_array_free(shared);
    close_table(&t);
}

static void deletes_stand_behind_the_data_with_their_ordering_values(void **state)
{
    static const char PATH[] = "p/" LOG(BASE_INSTANT, "3", "3-4-5");
    static const struct {
        int version;
        bool ordered;
        const char *deletes;
    } CASES[] = {
        {6, true, "deletes of version 3: p/k2=int 7 p/k4=int 0 p/k5=int 0\n"},
        {6, false, "deletes of version 3: p/k2=int 0 p/k4=int 0 p/k5=int 0\n"},
        {5, true, "deletes of version 2: p/k2=int 7 p/k4=int 0 p/k5=int 0\n"},
        {4, true, "deletes of version 2: p/k2=int 7 p/k4=int 0 p/k5=int 0\n"},
        {4, false, "deletes of version 2: p/k2=int 0 p/k4=int 0 p/k5=int 0\n"},
        {3, true, "deletes of version 1: p/k2 p/k4 p/k5\n"},
        {2, true, "deletes of version 1: p/k2 p/k4 p/k5\n"},
    };
    static const bool DROP[] = {false, false, false, false, true};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct append_test t;
        char wanted[300];

        open_table_of(op, &t, CASES[i].version, CASES[i].ordered);
        open_handle(&t, &SLICE);
        /* The last row moves to another partition: it goes whatever is stored. */
        append_some(&t, "k1|1|~\nk2|7|true\nk3|3|false\nk4|~|true\nk5|9|false\n", DROP);
        close_handle(&t);
        sprintf(wanted, "data of version %d, 2 records\n%s",
                CASES[i].version == 6   ? 3
                : CASES[i].version >= 4 ? 2
                                        : 1,
                CASES[i].deletes);
        expect_blocks(&t, PATH, wanted);
        assert_int_equal(t.status.n_stats, 1);
        assert_int_equal(t.status.stats[0].num_writes, 2);
        assert_int_equal(t.status.stats[0].num_update_writes, 2);
        assert_int_equal(t.status.stats[0].num_deletes, 3);
        assert_int_equal(t.status.stats[0].file_size_in_bytes, size_of(&t, PATH));
        close_table(&t);
    }
}

static void the_delete_operation_deletes_by_arrival(void **state)
{
    struct hd_op *op = *state;
    struct append_test t;

    open_table_of(op, &t, 6, true);
    t.deletes = true;
    open_handle(&t, &SLICE);
    append(&t, "k1|5|~\nk2|~|~\n");
    close_handle(&t);
    expect_blocks(&t, "p/" LOG(BASE_INSTANT, "3", "3-4-5"),
                  "deletes of version 3: p/k1=int 0 p/k2=int 0\n");
    assert_int_equal(t.status.stats[0].num_writes, 0);
    assert_int_equal(t.status.stats[0].num_deletes, 2);
    close_table(&t);
}

static void nothing_appended_makes_no_file(void **state)
{
    struct hd_op *op = *state;
    struct append_test t;

    open_table(op, &t, 6);
    open_handle(&t, &SLICE);
    close_handle(&t);
    assert_int_equal(t.status.n_stats, 0);
    assert_false(test_table_has(&t.table, "p/" LOG(BASE_INSTANT, "3", "3-4-5")));
    close_table(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(updates_become_a_block_in_the_next_log_file, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(
            old_versions_get_their_content_version_and_markers_of_the_slice, test_op_setup,
            test_op_teardown),
        cmocka_unit_test_setup_teardown(the_newest_log_file_is_written_on_when_asked_for,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(the_newest_log_file_is_left_alone_when_others_are_about,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(a_pending_compaction_takes_the_place_of_the_base_file,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(a_full_block_is_followed_by_another_and_a_full_file_too,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(blocks_of_parquet_are_whole_files, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(tables_below_version_4_get_no_blocks_of_parquet,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(blocks_of_parquet_survive_every_fault, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(deletes_stand_behind_the_data_with_their_ordering_values,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(the_delete_operation_deletes_by_arrival, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(nothing_appended_makes_no_file, test_op_setup,
                                        test_op_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
