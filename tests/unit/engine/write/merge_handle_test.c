/* SPDX-License-Identifier: Apache-2.0 */
/* Which row groups of an old base file come into the new one as bytes, and what the rows are. */
#include "unit/engine/rows_testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/bloom.h"
#include "engine/record/key_range.h"
#include "engine/record/spillable_map.h"
#include "engine/write/merge_handle.h"
#include "store/memory.h"
#include "store/parquet_footer.h"

#define STORE "merge"
#define INSTANT "20240101000000000"
#define OLD_INSTANT "20230101000000000"
#define FILE_ID "f00d0000-0000-0000-0000-000000000000-0"
#define OLD_NAME FILE_ID "_0-0-0_" OLD_INSTANT ".parquet"
#define GROUP_ROWS 500
#define N_GROUPS 4

enum { FILE_NAME = 4, N_COLUMNS = 7 };

static const char COLUMNS[] =
    "_hoodie_commit_time string\n_hoodie_commit_seqno string\n_hoodie_record_key string\n"
    "_hoodie_partition_path string\n_hoodie_file_name string\nk string\nv int\n";

#define FIELD(name, type)                                                                          \
    "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":[\\\"null\\\",\\\"" type "\\\"]}"

static const char COMMIT[] =
    "{\"partitionToWriteStats\":{},\"operationType\":\"UPSERT\",\"extraMetadata\":{\"schema\":\""
    "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"r\\\",\\\"fields\\\":[" FIELD(
        "k", "string") "," FIELD("v", "int") "]}\"}}";

struct merge_test {
    struct hd_op *op;
    struct test_table table;
    struct hd_table_snapshot snapshot;
    struct hd_options options;
    struct hd_write_config config;
    struct hd_write_schema schema;
    hd_merger *merger;
    hd_spillable_map *map;
    struct hd_arena arena;
};

/* ---- the old file ------------------------------------------------------------------------- */

static void put_footer(struct hd_op *op, hd_base_writer *writer)
{
    struct hd_str text = {0};
    hd_bloom *bloom;

    test_must(op, hd_bloom_new(op, HD_BLOOM_SIMPLE, 1000, 0.01, 1000, &bloom));
    test_must(op, hd_bloom_encode(op, bloom, &text));
    test_must(op, hd_base_writer_key_value(op, writer, HD_BLOOM_KEY, hd_str_slice(&text)));
    test_must(op, hd_base_writer_key_value(op, writer, HD_MIN_RECORD_KEY, hd_slice_text("k0")));
    test_must(op, hd_base_writer_key_value(op, writer, HD_MAX_RECORD_KEY, hd_slice_text("k9")));
    hd_bloom_free(op, bloom);
    hd_str_clear(&text);
}

/* Rows k00000 to k01999, v the number, in four row groups. */
static void write_old(struct merge_test *t, const char *columns, bool with_keys)
{
    const struct hd_base_write_options options = {.format = HD_BASE_FILE_PARQUET,
                                                  .codec = HD_BASE_CODEC_SNAPPY,
                                                  .codec_level = INT32_MIN,
                                                  .row_group_rows = GROUP_ROWS,
                                                  .dictionary = true};
    struct hd_op *op = t->op;
    struct hd_str rows = {0};
    struct ArrowSchema schema;
    struct ArrowArray batch;
    hd_output_file *file;
    hd_base_writer *writer;
    uint64_t n_bytes;
    char *path;

    for (int i = 0; i < N_GROUPS * GROUP_ROWS; i++)
        test_must(op, hd_str_printf(op, &rows, "%s|s%d|k%05d||%s|k%05d|%d\n", OLD_INSTANT, i, i,
                                    OLD_NAME, i, i));
    test_schema(op, columns, &schema);
    test_rows(op, &schema, hd_str_text(&rows), &batch);
    test_must(op, hd_path_join(op, t->snapshot.path, OLD_NAME, &path));
    test_must(op, hd_fs_open_output(op, t->snapshot.fs, path, false, &file));
    test_must(op, hd_base_writer_open(op, file, &schema, &options, &writer));
    test_must(op, hd_base_writer_write(op, writer, &batch));
    if (with_keys)
        put_footer(op, writer);
    test_must(op, hd_base_writer_close(op, writer, &n_bytes));
    hd_free(op, path);
    hd_array_clear(&batch);
    hd_schema_clear(&schema);
    hd_str_clear(&rows);
}

/* ---- the table ---------------------------------------------------------------------------- */

static void open_table(struct hd_op *op, struct merge_test *t, int version)
{
    char text[512];

    *t = (struct merge_test){.op = op};
    test_table_open(op, &t->table, STORE, version, NULL);
    snprintf(text, sizeof text,
             "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=%d\n"
             "hoodie.timeline.layout.version=1\nhoodie.table.recordkey.fields=k\n"
             "hoodie.table.timeline.timezone=UTC\n",
             version);
    test_table_put(&t->table, ".hoodie/hoodie.properties", text);
    test_table_put(&t->table, ".hoodie/" OLD_INSTANT ".commit", COMMIT);
    test_must(op, hd_table_snapshot_load(op, "memory:" STORE "/t", &t->snapshot));
    /* Full by bytes, so that row groups this small are worth copying. */
    test_must(op, hd_options_set(op, &t->options, "hoodie.parquet.block.size", "2000"));
    t->config.table = &t->snapshot;
    test_must(op, hd_write_config_init(op, &t->options, &t->config));
    snprintf(t->config.instant_time, sizeof t->config.instant_time, "%s", INSTANT);
    test_must(op, hd_write_schema_new(op, &t->config, NULL, &t->schema));
    test_must(op, hd_merger_new(op, &t->snapshot.config, &t->config.options, &t->schema.record,
                                &t->merger));
    const struct hd_spillable_map_options options = {.schema = &t->schema.record,
                                                     .memory_bytes = 1 << 20};
    test_must(op, hd_spillable_map_new(op, &options, &t->map));
}

static void close_table(struct merge_test *t)
{
    hd_spillable_map_free(t->op, t->map);
    hd_merger_free(t->merger);
    hd_write_schema_clear(t->op, &t->schema);
    hd_write_config_clear(&t->config);
    hd_options_clear(&t->options);
    hd_table_snapshot_clear(t->op, &t->snapshot);
    hd_arena_clear(&t->arena);
    test_table_close(&t->table);
}

/* The record of row `row` gets v = -1. */
static void add_hit(struct merge_test *t, int row, struct hd_index_hit *out)
{
    struct hd_op *op = t->op;
    struct hd_arena arena = {0};
    struct hd_shared_array *shared;
    struct ArrowArray batch;
    struct hd_view view;
    char text[32];

    snprintf(text, sizeof text, "k%05d|-1\n", row);
    test_rows(op, &t->schema.record, text, &batch);
    test_must(op, hd_view_open(op, &arena, &t->schema.record, &batch, &view));
    test_must(op, hd_shared_array_new(op, &batch, &shared));
    out->row = row;
    test_must(op, hd_spillable_map_put(op, t->map, &view.children[0], NULL, shared, NULL, 1, NULL,
                                       &out->entry));
    hd_shared_array_free(shared);
    hd_arena_clear(&arena);
}

static hudi_status merge(struct merge_test *t, const struct hd_index_hit *hits, size_t n_hits,
                         struct hd_write_stat *stat)
{
    static const struct hd_data_file base = {
        .name = OLD_NAME, .path = OLD_NAME, .instant = OLD_INSTANT};
    static const struct hd_file_slice slice = {
        .partition_path = "", .file_id = FILE_ID, .base_instant = OLD_INSTANT, .base = &base};
    const struct hd_merge_request request = {.config = &t->config,
                                             .schema = &t->schema,
                                             .merger = t->merger,
                                             .slice = &slice,
                                             .map = t->map,
                                             .hits = hits,
                                             .n_hits = n_hits};
    hd_merge_handle *handle;

    HD_TRY(hd_merge_handle_open(t->op, &request, &handle));
    return hd_merge_handle_close(t->op, handle, &t->arena, stat);
}

/* ---- what came of it ---------------------------------------------------------------------- */

static hd_base_reader *open_file(struct merge_test *t, const char *name)
{
    hd_base_reader *reader;
    hd_input_file *file;
    char *path;

    test_must(t->op, hd_path_join(t->op, t->snapshot.path, name, &path));
    test_must(t->op, hd_fs_open_input(t->op, t->snapshot.fs, path, &file));
    test_must(t->op, hd_base_reader_open(t->op, file, HD_BASE_FILE_PARQUET, &reader));
    hd_free(t->op, path);
    return reader;
}

/* All rows as lines; the rows of the old file as they should be now. */
static void check_rows(struct merge_test *t, const struct hd_write_stat *stat,
                       const struct hd_index_hit *hits, size_t n_hits)
{
    const bool name_rewritten = t->snapshot.config.version->file_name_rewritten;
    const char *name = strrchr(stat->path, '/') == NULL ? stat->path : strrchr(stat->path, '/') + 1;
    struct hd_op *op = t->op;
    struct hd_str got = {0}, expected = {0};
    hd_base_reader *reader = open_file(t, stat->path);
    hd_base_batches *batches;
    struct ArrowArray rows;
    size_t hit = 0;

    for (int i = 0; i < N_GROUPS * GROUP_ROWS; i++) {
        if (hit < n_hits && hits[hit].row == i)
            test_must(op, hd_str_printf(op, &expected, "%s|%s_0_%zu|k%05d||%s|k%05d|-1\n", INSTANT,
                                        INSTANT, hit++, i, name, i));
        else
            test_must(op, hd_str_printf(op, &expected, "%s|s%d|k%05d||%s|k%05d|%d\n", OLD_INSTANT,
                                        i, i, name_rewritten ? name : OLD_NAME, i, i));
    }
    test_must(op, hd_base_reader_read(op, reader, NULL, &batches));
    while (hd_base_batches_next(op, batches, &rows) == HUDI_OK) {
        test_append_rows(op, hd_base_reader_schema(reader), &rows, &got);
        hd_array_clear(&rows);
    }
    assert_string_equal(hd_str_text(&got), hd_str_text(&expected));
    hd_base_batches_close(batches);
    hd_base_reader_close(reader);
    hd_str_clear(&got);
    hd_str_clear(&expected);
}

/* The pages of a chunk; free(). */
static uint8_t *chunk_bytes(struct hd_op *op, hd_base_reader *reader, size_t group, size_t chunk,
                            uint64_t *n)
{
    struct hd_parquet_footer footer;
    struct hd_parquet_extent pages;

    test_must(op, hd_parquet_footer_read(op, hd_base_reader_file(reader), &footer));
    assert_true(group < footer.n_row_groups);
    test_must(op,
              hd_parquet_chunk_pages(op, &footer, &footer.row_groups[group].chunks[chunk], &pages));
    uint8_t *bytes = malloc(pages.n_bytes);
    assert_non_null(bytes);
    test_must(op, hd_input_file_read_at(op, hd_base_reader_file(reader), pages.offset, bytes,
                                        pages.n_bytes));
    hd_parquet_footer_clear(&footer);
    *n = pages.n_bytes;
    return bytes;
}

/* Bit i: column i of the row group is the same bytes in the old and the new file. */
static unsigned same_columns(struct merge_test *t, const struct hd_write_stat *stat, size_t group)
{
    hd_base_reader *old = open_file(t, OLD_NAME), *new = open_file(t, stat->path);
    unsigned same = 0;

    assert_int_equal(hd_base_reader_n_row_groups(new), N_GROUPS);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        uint64_t n_old, n_new;
        uint8_t *a = chunk_bytes(t->op, old, group, i, &n_old);
        uint8_t *b = chunk_bytes(t->op, new, group, i, &n_new);
        if (n_old == n_new && memcmp(a, b, n_old) == 0)
            same |= 1U << i;
        free(a);
        free(b);
    }
    hd_base_reader_close(old);
    hd_base_reader_close(new);
    return same;
}

#define ALL_COLUMNS ((1U << N_COLUMNS) - 1)

static void copies_row_groups_without_hits(void **state)
{
    static const int VERSIONS[] = {6, 5}; /* before 6 copied rows keep their file name */

    for (size_t i = 0; i < HD_ARRAY_LENGTH(VERSIONS); i++) {
        const unsigned copied = VERSIONS[i] == 6 ? ALL_COLUMNS & ~(1U << FILE_NAME) : ALL_COLUMNS;
        struct merge_test t;
        struct hd_index_hit hits[2] = {0};
        struct hd_write_stat stat;

        open_table(*state, &t, VERSIONS[i]);
        write_old(&t, COLUMNS, true);
        add_hit(&t, 700, &hits[0]);
        add_hit(&t, 999, &hits[1]);
        test_must(t.op, merge(&t, hits, 2, &stat));
        assert_int_equal(stat.num_writes, N_GROUPS * GROUP_ROWS);
        assert_int_equal(stat.num_update_writes, 2);
        check_rows(&t, &stat, hits, 2);
        assert_int_equal(same_columns(&t, &stat, 0), copied);
        assert_int_equal(same_columns(&t, &stat, 1), 0);
        assert_int_equal(same_columns(&t, &stat, 2), copied);
        assert_int_equal(same_columns(&t, &stat, 3), copied);
        close_table(&t);
    }
}

static void hits_at_the_ends_of_row_groups_are_theirs(void **state)
{
    const unsigned copied = ALL_COLUMNS & ~(1U << FILE_NAME);
    struct merge_test t;
    struct hd_index_hit hits[2] = {0};
    struct hd_write_stat stat;

    open_table(*state, &t, 6);
    write_old(&t, COLUMNS, true);
    add_hit(&t, 499, &hits[0]);
    add_hit(&t, 1500, &hits[1]);
    test_must(t.op, merge(&t, hits, 2, &stat));
    check_rows(&t, &stat, hits, 2);
    assert_int_equal(same_columns(&t, &stat, 0), 0);
    assert_int_equal(same_columns(&t, &stat, 1), copied);
    assert_int_equal(same_columns(&t, &stat, 2), copied);
    assert_int_equal(same_columns(&t, &stat, 3), 0);
    close_table(&t);
}

static void no_hits_at_all_copy_the_whole_file(void **state)
{
    struct merge_test t;
    struct hd_write_stat stat;

    open_table(*state, &t, 6);
    write_old(&t, COLUMNS, true);
    test_must(t.op, merge(&t, NULL, 0, &stat));
    check_rows(&t, &stat, NULL, 0);
    for (size_t i = 0; i < N_GROUPS; i++)
        assert_int_equal(same_columns(&t, &stat, i), ALL_COLUMNS & ~(1U << FILE_NAME));
    close_table(&t);
}

/* Without a filter in the old footer all keys must be seen. */
static void decodes_all_where_keys_are_to_be_collected(void **state)
{
    struct merge_test t;
    struct hd_write_stat stat;

    open_table(*state, &t, 6);
    write_old(&t, COLUMNS, false);
    test_must(t.op, merge(&t, NULL, 0, &stat));
    check_rows(&t, &stat, NULL, 0);
    hd_base_reader *reader = open_file(&t, stat.path);
    struct hd_slice min;
    test_must(t.op, hd_base_reader_key_value(t.op, reader, HD_MIN_RECORD_KEY, &min));
    assert_true(hd_slice_equal(min, hd_slice_text("k00000")));
    hd_base_reader_close(reader);
    close_table(&t);
}

/* A file from before a column was widened: no row group of it is of the type that is written. */
static void decodes_all_where_a_type_is_another(void **state)
{
    struct merge_test t;
    struct hd_write_stat stat;
    struct ArrowSchema wider;

    open_table(*state, &t, 6);
    write_old(&t, COLUMNS, true);
    test_schema(t.op, "k string\nv long\n", &wider);
    hd_write_schema_clear(t.op, &t.schema);
    test_must(t.op, hd_write_schema_new(t.op, &t.config, &wider, &t.schema));
    test_must(t.op, merge(&t, NULL, 0, &stat));
    check_rows(&t, &stat, NULL, 0);
    hd_schema_clear(&wider);
    close_table(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(copies_row_groups_without_hits, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(hits_at_the_ends_of_row_groups_are_theirs, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(no_hits_at_all_copy_the_whole_file, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(decodes_all_where_keys_are_to_be_collected, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(decodes_all_where_a_type_is_another, test_op_setup,
                                        test_op_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
