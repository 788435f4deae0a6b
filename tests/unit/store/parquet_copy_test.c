/* SPDX-License-Identifier: Apache-2.0 */
/* Files put together from row groups of others and from rows of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/store/store_testing.h"

#include "store/parquet_footer.h"

#define OLD "/t/old.parquet"
#define NEW "/t/new.parquet"
#define GROUP_ROWS 1000

enum { NAME, ID, TEXT, LIST, N_COLUMNS };

static const struct hd_base_write_options OPTIONS = {.format = HD_BASE_FILE_PARQUET,
                                                     .codec = HD_BASE_CODEC_ZSTD,
                                                     .codec_level = INT32_MIN,
                                                     .row_group_rows = GROUP_ROWS,
                                                     .page_bytes = 2000,
                                                     .dictionary = true};

/* name: string, one constant a file; id long not null; text string; list list<int> */
static void make_schema(struct hd_op *op, struct ArrowSchema *out)
{
    const struct hd_type integer = {.id = HD_TYPE_INT64}, element = {.id = HD_TYPE_INT32},
                         text = {.id = HD_TYPE_STRING};

    ASSERT_OK(op, hd_schema_init_struct(op, out, "", false, N_COLUMNS));
    ASSERT_OK(op, hd_schema_init_dictionary(op, out->children[NAME], "name", true));
    ASSERT_OK(op, hd_schema_init_field(op, out->children[ID], "id", &integer, false));
    ASSERT_OK(op, hd_schema_init_field(op, out->children[TEXT], "text", &text, true));
    ASSERT_OK(op, hd_schema_init_list(op, out->children[LIST], "list", true));
    ASSERT_OK(op,
              hd_schema_init_field(op, out->children[LIST]->children[0], "item", &element, true));
}

static void row_text(int64_t id, char out[24])
{
    snprintf(out, 24, "%d-%d", (int)(id * 7919 % 1000), (int)(id % 10));
}

/* Text is null where id % 5 == 4; the list has id % 3 elements, all of them id. */
static void append_row(struct hd_op *op, hd_builder *rows, int64_t id)
{
    hd_builder *text = hd_builder_child(rows, TEXT), *list = hd_builder_child(rows, LIST);
    char value[24];

    row_text(id, value);
    ASSERT_OK(op, hd_builder_append_null(op, hd_builder_child(rows, NAME)));
    ASSERT_OK(op, hd_builder_append_integer(op, hd_builder_child(rows, ID), id));
    ASSERT_OK(op, id % 5 == 4 ? hd_builder_append_null(op, text)
                              : hd_builder_append_bytes(op, text, hd_slice_text(value)));
    for (int64_t i = 0; i < id % 3; i++)
        ASSERT_OK(op, hd_builder_append_integer(op, hd_builder_child(list, 0), id));
    ASSERT_OK(op, hd_builder_append_valid(op, list));
    ASSERT_OK(op, hd_builder_append_valid(op, rows));
}

static void make_rows(struct hd_op *op, const char *name, int64_t from, int64_t n,
                      struct ArrowArray *out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema schema;
    hd_builder *rows;

    make_schema(op, &schema);
    hd_schema_clear(schema.children[NAME]);
    ASSERT_OK(op, hd_schema_init_field(op, schema.children[NAME], "name", &text, true));
    ASSERT_OK(op, hd_builder_new(op, &schema, &rows));
    for (int64_t id = from; id < from + n; id++)
        append_row(op, rows, id);
    ASSERT_OK(op, hd_builder_finish(op, rows, out));
    hd_builder_free(rows);
    hd_array_clear(out->children[NAME]);
    ASSERT_OK(op, hd_array_constant_dictionary(op, hd_slice_text(name), n, out->children[NAME]));
    hd_schema_clear(&schema);
}

static hudi_status write_rows(struct hd_op *op, hd_base_writer *writer, const char *name,
                              int64_t from, int64_t n)
{
    struct ArrowArray rows;

    make_rows(op, name, from, n, &rows);
    const hudi_status status = hd_base_writer_write(op, writer, &rows);
    hd_array_clear(&rows);
    return status;
}

static hudi_status open_writer_of(struct hd_op *op, hd_file_system *fs, const char *path,
                                  const struct ArrowSchema *schema,
                                  const struct hd_base_write_options *options, hd_base_writer **out)
{
    hd_output_file *file;

    *out = NULL;
    HD_TRY(hd_fs_open_output(op, fs, path, false, &file));
    return hd_base_writer_open(op, file, schema, options, out);
}

static hudi_status open_writer(struct hd_op *op, hd_file_system *fs, const char *path,
                               const struct hd_base_write_options *options, hd_base_writer **out)
{
    struct ArrowSchema schema;

    make_schema(op, &schema);
    const hudi_status status = open_writer_of(op, fs, path, &schema, options, out);
    hd_schema_clear(&schema);
    return status;
}

/* Ids 0 to n - 1 under the name "old". */
static void write_old(struct hd_op *op, hd_file_system *fs,
                      const struct hd_base_write_options *options, int64_t n)
{
    hd_base_writer *writer;
    uint64_t n_bytes;

    ASSERT_OK(op, open_writer(op, fs, OLD, options, &writer));
    ASSERT_OK(op, write_rows(op, writer, "old", 0, n));
    ASSERT_OK(op, hd_base_writer_close(op, writer, &n_bytes));
}

static hudi_status open_reader(struct hd_op *op, hd_file_system *fs, const char *path,
                               hd_base_reader **out)
{
    hd_input_file *file;

    *out = NULL;
    HD_TRY(hd_fs_open_input(op, fs, path, &file));
    return hd_base_reader_open(op, file, HD_BASE_FILE_PARQUET, out);
}

/* A row group of `reader`, its name made "new". */
static hudi_status copy_group(struct hd_op *op, hd_base_writer *writer, hd_base_reader *reader,
                              int32_t group)
{
    struct hd_base_replaced_column name = {.column = NAME};
    bool can;

    HD_TRY(hd_base_writer_can_copy(op, writer, reader, &can));
    assert_true(can);
    HD_TRY(hd_array_constant_dictionary(
        op, hd_slice_text("new"), hd_base_reader_row_group_rows(reader, group), &name.values));
    const hudi_status status = hd_base_writer_copy_row_group(op, writer, reader, group, &name, 1);
    hd_array_clear(&name.values);
    return status;
}

static void check_row(const struct hd_view *rows, int64_t row, int64_t id, const char *name)
{
    char text[24];
    int64_t n;

    assert_text(&rows->children[NAME], row, name);
    assert_int_equal(hd_view_i64(&rows->children[ID], row), id);
    row_text(id, text);
    if (id % 5 == 4)
        assert_true(hd_view_is_null(&rows->children[TEXT], row));
    else
        assert_text(&rows->children[TEXT], row, text);
    const int64_t first = hd_view_list(&rows->children[LIST], row, &n);
    assert_int_equal(n, id % 3);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(hd_view_i32(&rows->children[LIST].children[0], first + i), id);
}

/* The file's rows are those of `ids`, pairs of first and count, ended by a count of 0. */
static void check_file(struct hd_op *op, hd_file_system *fs, const char *path, const char *name,
                       const int64_t ids[][2])
{
    hd_base_reader *reader;
    hd_base_batches *batches;
    struct ArrowArray rows;
    int64_t done = 0;

    ASSERT_OK(op, open_reader(op, fs, path, &reader));
    ASSERT_OK(op, hd_base_reader_read(op, reader, NULL, &batches));
    while (hd_base_batches_next(op, batches, &rows) == HUDI_OK) {
        struct hd_arena arena = {0};
        struct hd_view view;
        ASSERT_OK(op, hd_view_open(op, &arena, hd_base_reader_schema(reader), &rows, &view));
        for (int64_t row = 0; row < rows.length; row++) {
            check_row(&view, row, (*ids)[0] + done, name);
            if (++done == (*ids)[1]) {
                ids++;
                done = 0;
            }
        }
        hd_arena_clear(&arena);
        hd_array_clear(&rows);
    }
    assert_null(op->error);
    assert_int_equal((*ids)[1], 0);
    hd_base_batches_close(batches);
    hd_base_reader_close(reader);
}

/* ---- bytes -------------------------------------------------------------------------------- */

/* The pages of a chunk; free(). */
static uint8_t *chunk_bytes(struct hd_op *op, hd_base_reader *reader, size_t group, size_t chunk,
                            uint64_t *n)
{
    struct hd_parquet_footer footer;
    struct hd_parquet_extent pages;
    uint8_t *bytes;

    ASSERT_OK(op, hd_parquet_footer_read(op, hd_base_reader_file(reader), &footer));
    assert_true(group < footer.n_row_groups && chunk < footer.row_groups[group].n_chunks);
    ASSERT_OK(op,
              hd_parquet_chunk_pages(op, &footer, &footer.row_groups[group].chunks[chunk], &pages));
    bytes = malloc(pages.n_bytes);
    assert_non_null(bytes);
    ASSERT_OK(op, hd_input_file_read_at(op, hd_base_reader_file(reader), pages.offset, bytes,
                                        pages.n_bytes));
    *n = pages.n_bytes;
    hd_parquet_footer_clear(&footer);
    return bytes;
}

static bool same_chunk(struct hd_op *op, hd_base_reader *a, size_t group_a, hd_base_reader *b,
                       size_t group_b, size_t chunk)
{
    uint64_t n_a, n_b;
    uint8_t *bytes_a = chunk_bytes(op, a, group_a, chunk, &n_a);
    uint8_t *bytes_b = chunk_bytes(op, b, group_b, chunk, &n_b);
    const bool same = n_a == n_b && memcmp(bytes_a, bytes_b, n_a) == 0;

    free(bytes_a);
    free(bytes_b);
    return same;
}

static void chunks_are_the_same_bytes_but_for_replaced_columns(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    const int64_t ids[][2] = {{2000, 1000}, {0, 1000}, {0, 0}};
    hd_base_writer *writer;
    hd_base_reader *old, *new;
    struct hd_column_stats stats;
    struct hd_slice value;
    uint64_t n_bytes;

    write_old(op, fs, &OPTIONS, 3000);
    ASSERT_OK(op, open_reader(op, fs, OLD, &old));
    ASSERT_OK(op, open_writer(op, fs, NEW, &OPTIONS, &writer));
    ASSERT_OK(op, hd_base_writer_key_value(op, writer, "who", hd_slice_text("me")));
    ASSERT_OK(op, copy_group(op, writer, old, 2));
    ASSERT_OK(op, copy_group(op, writer, old, 0));
    assert_int_equal(hd_base_writer_rows(writer), 2000);
    ASSERT_OK(op, hd_base_writer_close(op, writer, &n_bytes));

    check_file(op, fs, NEW, "new", ids);
    ASSERT_OK(op, open_reader(op, fs, NEW, &new));
    assert_int_equal(hd_input_file_size(hd_base_reader_file(new)), n_bytes);
    for (size_t chunk = ID; chunk < N_COLUMNS; chunk++) {
        assert_true(same_chunk(op, old, 2, new, 0, chunk));
        assert_true(same_chunk(op, old, 0, new, 1, chunk));
    }
    assert_false(same_chunk(op, old, 2, new, 0, NAME));
    ASSERT_OK(op, hd_base_reader_key_value(op, new, "who", &value));
    assert_true(hd_slice_equal(value, hd_slice_text("me")));

    ASSERT_OK(op, hd_base_reader_column_stats(op, new, 0, ID, &stats));
    assert_true(stats.has_bounds);
    assert_int_equal(((const int64_t *)stats.min.buffers[1])[stats.min.offset], 2000);
    hd_column_stats_clear(&stats);
    ASSERT_OK(op, hd_base_reader_column_stats(op, new, 0, NAME, &stats));
    assert_true(stats.has_bounds);
    assert_memory_equal(stats.min.buffers[2], "new", 3);
    assert_memory_equal(stats.max.buffers[2], "new", 3);
    hd_column_stats_clear(&stats);
    hd_base_reader_close(new);
    hd_base_reader_close(old);
    test_memory_close(fs);
}

/* Offset of the first page that an offset index names. */
static int64_t first_page(struct hd_op *op, hd_base_reader *reader, struct hd_parquet_extent extent)
{
    uint8_t bytes[4096];
    struct hd_arena arena = {0};
    struct hd_thrift_struct index, page;
    struct hd_slice list;
    int64_t offset;
    size_t n;

    assert_in_range(extent.n_bytes, 1, sizeof bytes);
    ASSERT_OK(op, hd_input_file_read_at(op, hd_base_reader_file(reader), extent.offset, bytes,
                                        extent.n_bytes));
    struct hd_cursor in = hd_cursor_over(bytes, extent.n_bytes, 0);
    ASSERT_OK(op, hd_thrift_struct_take(op, &arena, &in, &index));
    ASSERT_OK(op, hd_thrift_get(op, &index, 1, HD_THRIFT_LIST, &list));
    in = hd_cursor_over(list.data, list.size, 0);
    ASSERT_OK(op, hd_thrift_list_take(op, &in, HD_THRIFT_STRUCT, 1, &n));
    assert_true(n > 0);
    ASSERT_OK(op, hd_thrift_struct_take(op, &arena, &in, &page));
    ASSERT_OK(op, hd_thrift_get_integer(op, &page, 1, HD_THRIFT_I64, &offset));
    hd_arena_clear(&arena);
    return offset;
}

static void page_indexes_come_along_with_the_new_offsets(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    struct hd_parquet_footer footer;
    hd_base_writer *writer;
    hd_base_reader *old, *new;
    uint64_t n_bytes;

    write_old(op, fs, &OPTIONS, 2000);
    ASSERT_OK(op, open_reader(op, fs, OLD, &old));
    ASSERT_OK(op, open_writer(op, fs, NEW, &OPTIONS, &writer));
    ASSERT_OK(op, copy_group(op, writer, old, 1));
    ASSERT_OK(op, write_rows(op, writer, "new", 50, 10));
    ASSERT_OK(op, hd_base_writer_close(op, writer, &n_bytes));
    ASSERT_OK(op, open_reader(op, fs, NEW, &new));
    ASSERT_OK(op, hd_parquet_footer_read(op, hd_base_reader_file(new), &footer));
    assert_int_equal(footer.n_row_groups, 2);
    for (size_t i = 0; i < 2 * N_COLUMNS; i++) {
        const struct hd_parquet_chunk *chunk =
            &footer.row_groups[i / N_COLUMNS].chunks[i % N_COLUMNS];
        int64_t data_page;

        ASSERT_OK(op, hd_thrift_get_integer(op, &chunk->meta, HD_PARQUET_META_DATA_PAGE,
                                            HD_THRIFT_I64, &data_page));
        assert_int_equal(first_page(op, new,
                                    hd_parquet_extent_get(&footer, &chunk->fields,
                                                          HD_PARQUET_CHUNK_OFFSET_INDEX)),
                         data_page);
        assert_true(
            hd_parquet_extent_get(&footer, &chunk->fields, HD_PARQUET_CHUNK_COLUMN_INDEX).n_bytes >
            0);
    }
    hd_parquet_footer_clear(&footer);
    hd_base_reader_close(new);
    hd_base_reader_close(old);
    test_memory_close(fs);
}

static void rows_and_row_groups_alternate(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    const int64_t ids[][2] = {{50000, 30}, {1000, 1000}, {2000, 1000}, {60000, 2500},
                              {0, 1000},   {70000, 20},  {0, 0}};
    struct hd_base_write_options options = OPTIONS;
    hd_base_writer *writer;
    hd_base_reader *reader;
    uint64_t n_bytes;

    options.codec = HD_BASE_CODEC_GZIP; /* copies stay ZSTD */
    write_old(op, fs, &OPTIONS, 3000);
    ASSERT_OK(op, open_reader(op, fs, OLD, &reader));
    ASSERT_OK(op, open_writer(op, fs, NEW, &options, &writer));
    ASSERT_OK(op, write_rows(op, writer, "new", 50000, 10));
    ASSERT_OK(op, write_rows(op, writer, "new", 50010, 20));
    ASSERT_OK(op, copy_group(op, writer, reader, 1));
    ASSERT_OK(op, copy_group(op, writer, reader, 2));
    ASSERT_OK(op, write_rows(op, writer, "new", 60000, 2500));
    assert_true(hd_base_writer_bytes(writer) > 10000);
    ASSERT_OK(op, copy_group(op, writer, reader, 0));
    ASSERT_OK(op, write_rows(op, writer, "new", 70000, 20));
    assert_int_equal(hd_base_writer_rows(writer), 5550);
    ASSERT_OK(op, hd_base_writer_close(op, writer, &n_bytes));
    hd_base_reader_close(reader);

    check_file(op, fs, NEW, "new", ids);
    ASSERT_OK(op, open_reader(op, fs, NEW, &reader));
    const int64_t rows[] = {30, 1000, 1000, 1000, 1000, 500, 1000, 20};
    assert_int_equal(hd_base_reader_n_row_groups(reader), HD_ARRAY_LENGTH(rows));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(rows); i++)
        assert_int_equal(hd_base_reader_row_group_rows(reader, (int32_t)i), rows[i]);
    hd_base_reader_close(reader);
    test_memory_close(fs);
}

static void copies_can_be_copied_again_with_nothing_replaced(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    const int64_t ids[][2] = {{5000, 7}, {0, 1000}, {0, 0}};
    hd_base_writer *writer;
    hd_base_reader *first, *second;
    uint64_t n_bytes;
    bool can;

    write_old(op, fs, &OPTIONS, 1000);
    ASSERT_OK(op, open_reader(op, fs, OLD, &first));
    ASSERT_OK(op, open_writer(op, fs, "/t/between.parquet", &OPTIONS, &writer));
    ASSERT_OK(op, write_rows(op, writer, "new", 5000, 7));
    ASSERT_OK(op, copy_group(op, writer, first, 0));
    ASSERT_OK(op, hd_base_writer_close(op, writer, &n_bytes));
    hd_base_reader_close(first);

    ASSERT_OK(op, open_reader(op, fs, "/t/between.parquet", &second));
    ASSERT_OK(op, open_writer(op, fs, NEW, &OPTIONS, &writer));
    ASSERT_OK(op, hd_base_writer_can_copy(op, writer, second, &can));
    assert_true(can);
    ASSERT_OK(op, hd_base_writer_copy_row_group(op, writer, second, 0, NULL, 0));
    ASSERT_OK(op, hd_base_writer_copy_row_group(op, writer, second, 1, NULL, 0));
    ASSERT_OK(op, hd_base_writer_close(op, writer, &n_bytes));
    hd_base_reader_close(second);
    check_file(op, fs, NEW, "new", ids);
    test_memory_close(fs);
}

/* ---- whether ------------------------------------------------------------------------------ */

static void small_row_groups_are_not_worth_a_copy(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    struct hd_base_write_options options = OPTIONS;
    hd_base_writer *writer;
    hd_base_reader *reader;

    write_old(op, fs, &OPTIONS, 1240); /* 1000 and 240 rows */
    ASSERT_OK(op, open_reader(op, fs, OLD, &reader));
    ASSERT_OK(op, open_writer(op, fs, NEW, &options, &writer));
    assert_true(hd_base_writer_wants_copy(writer, reader, 0));
    assert_false(hd_base_writer_wants_copy(writer, reader, 1));
    hd_base_writer_abort(writer);
    options.row_group_bytes = 4000; /* full by bytes, if not by rows */
    ASSERT_OK(op, open_writer(op, fs, NEW, &options, &writer));
    assert_true(hd_base_writer_wants_copy(writer, reader, 1));
    hd_base_writer_abort(writer);
    hd_base_reader_close(reader);
    test_memory_close(fs);
}

static void other_columns_are_not_copied(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    const struct hd_type types[] = {{.id = HD_TYPE_INT64}, {.id = HD_TYPE_INT32}};
    struct ArrowSchema schema;
    hd_base_writer *writer;
    hd_base_reader *reader;
    bool can = true;

    write_old(op, fs, &OPTIONS, 10);
    ASSERT_OK(op, open_reader(op, fs, OLD, &reader));
    for (int other = 0; other < 3; other++) { /* nullable, narrower, of another name */
        make_schema(op, &schema);
        hd_schema_clear(schema.children[ID]);
        ASSERT_OK(op, hd_schema_init_field(op, schema.children[ID], other == 2 ? "ID" : "id",
                                           &types[other == 1], other == 0));
        ASSERT_OK(op, open_writer_of(op, fs, NEW, &schema, &OPTIONS, &writer));
        ASSERT_OK(op, hd_base_writer_can_copy(op, writer, reader, &can));
        assert_false(can);
        hd_base_writer_abort(writer);
        hd_schema_clear(&schema);
    }
    hd_base_reader_close(reader);
    test_memory_close(fs);
}

/* Files that Hudi wrote are copied or not, by their schema, but never an error. */
static void files_of_hudi_are_looked_at_without_error(void **state)
{
    static const char *const TABLES[] = {"spark-0.15.0-types-cow", "flink010-cow-types",
                                         "spark-0.15.0-orc-cow"};
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);

    for (size_t i = 0; i < HD_ARRAY_LENGTH(TABLES); i++) {
        const bool orc = strstr(TABLES[i], "orc") != NULL;
        char *table = test_golden_unpack(TABLES[i]);
        char *path = test_golden_find(table, ".", orc ? ".orc" : ".parquet");
        hd_base_reader *reader =
            test_reader(op, path, orc ? HD_BASE_FILE_ORC : HD_BASE_FILE_PARQUET);
        hd_base_writer *writer;
        bool can = true;

        ASSERT_OK(op, open_writer(op, fs, NEW, &OPTIONS, &writer));
        ASSERT_OK(op, hd_base_writer_can_copy(op, writer, reader, &can));
        assert_false(can);
        hd_base_writer_abort(writer);
        hd_base_reader_close(reader);
        free(path);
        test_golden_remove(table);
    }
    test_memory_close(fs);
}

/* ---- faults ------------------------------------------------------------------------------- */

static hudi_status copy_all(struct hd_op *op, hd_file_system *fs, const struct ArrowSchema *schema)
{
    hudi_status status = HUDI_OK;
    hd_base_reader *reader = NULL;
    hd_base_writer *writer = NULL;
    struct hd_base_replaced_column name = {.column = NAME};
    uint64_t n_bytes;
    bool can;

    HD_TRY_OUT(open_reader(op, fs, OLD, &reader));
    HD_TRY_OUT(open_writer_of(op, fs, NEW, schema, &OPTIONS, &writer));
    HD_TRY_OUT(hd_base_writer_can_copy(op, writer, reader, &can));
    assert_true(can);
    HD_TRY_OUT(hd_array_constant_dictionary(op, hd_slice_text("new"), 1000, &name.values));
    HD_TRY_OUT(hd_base_writer_copy_row_group(op, writer, reader, 0, &name, 1));
    status = hd_base_writer_close(op, writer, &n_bytes);
    writer = NULL;
out:
    hd_array_clear(&name.values);
    hd_base_writer_abort(writer);
    hd_base_reader_close(reader);
    return status;
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = test_memory_open(op);
    const int64_t ids[][2] = {{0, 1000}, {0, 0}};
    hudi_status status = HUDI_INTERNAL;
    struct ArrowSchema schema;

    make_schema(op, &schema);
    write_old(op, fs, &OPTIONS, 1000);
    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        status = copy_all(op, fs, &schema);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
    }
    test_fault_disarm(op);
    check_file(op, fs, NEW, "new", ids);
    hd_schema_clear(&schema);
    test_memory_close(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(chunks_are_the_same_bytes_but_for_replaced_columns),
        TEST(page_indexes_come_along_with_the_new_offsets),
        TEST(rows_and_row_groups_alternate),
        TEST(copies_can_be_copied_again_with_nothing_replaced),
        TEST(small_row_groups_are_not_worth_a_copy),
        TEST(other_columns_are_not_copied),
        TEST(files_of_hudi_are_looked_at_without_error),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
