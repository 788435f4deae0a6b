/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/*
 * Every HFile that Hudi wrote, base files of metadata tables and blocks of log files: all cells
 * come in order, each value is one whole Avro record of the schema, and each key is found again.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/avro_value.h"
#include "codec/hfile.h"
#include "format/log/log_reader.h"
#include "store/hfile_source.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

struct counts {
    size_t n_files, n_blocks;
    uint64_t n_cells;
};

static void expect_order(struct hd_str *last, struct hd_op *op, struct hd_slice key)
{
    if (last->data != NULL)
        assert_true(hd_slice_compare(hd_str_slice(last), key) < 0);
    last->size = 0;
    test_must(op, hd_str_append(op, last, key.data, key.size));
}

/* With `schema` when it is not in the file info. */
static void read_cells(struct hd_op *op, const hd_hfile *hfile, struct hd_slice schema_json)
{
    struct hd_arena arena = {0}, record_arena = {0};
    struct hd_avro_schema *schema;
    hd_hfile_cursor *cursor, *finder;
    struct hd_slice key, value, found;
    struct hd_str last = {0};
    uint64_t n = 0;
    hudi_status status;

    if (hd_hfile_info(op, hfile, "schema", &found) == HUDI_OK)
        schema_json = found;
    test_must(op, hd_avro_schema_parse(op, &arena, schema_json, &schema));
    test_must(op, hd_hfile_cursor_open(op, hfile, &cursor));
    test_must(op, hd_hfile_cursor_open(op, hfile, &finder));
    while ((status = hd_hfile_next(op, cursor, &key, &value)) == HUDI_OK) {
        struct hd_cursor in = hd_cursor_over(value.data, value.size, 0);
        struct hd_avro_value record;

        expect_order(&last, op, key);
        hd_arena_reset(&record_arena);
        test_must(op, hd_avro_read_value(op, &record_arena, schema, &in, &record));
        assert_int_equal(hd_cursor_left(&in), 0);
        test_must(op, hd_hfile_find(op, finder, key, &found));
        assert_true(hd_slice_equal(found, value));
        n++;
    }
    assert_int_equal(status, HUDI_END);
    assert_int_equal(n, hd_hfile_n_cells(hfile));
    hd_hfile_cursor_close(op, cursor);
    hd_hfile_cursor_close(op, finder);
    hd_arena_clear(&arena);
    hd_arena_clear(&record_arena);
    hd_str_clear(&last);
}

static void read_hfile(struct hd_op *op, hd_input_file *file, uint64_t base, uint64_t size,
                       struct hd_slice schema, struct counts *counts)
{
    const struct hd_hfile_source source = hd_hfile_source_of_file(file, base, size);
    hd_hfile *hfile;

    test_must(op, hd_hfile_open(op, &source, &hfile));
    read_cells(op, hfile, schema);
    counts->n_cells += hd_hfile_n_cells(hfile);
    hd_hfile_close(op, hfile);
}

static void read_log(struct hd_op *op, hd_file_system *fs, const char *path, struct counts *counts)
{
    hd_log_reader *reader;
    struct hd_log_block block;

    test_must(op, hd_log_reader_open(op, fs, path, &reader));
    while (hd_log_reader_next(op, reader, &block) == HUDI_OK) {
        struct hd_slice schema;

        if (block.type == HD_LOG_HFILE_DATA) {
            (void)hd_log_header_find(op, &block, HD_LOG_SCHEMA, &schema);
            read_hfile(op, hd_log_reader_file(reader), block.content_offset, block.content_bytes,
                       schema, counts);
            counts->n_blocks++;
        }
        hd_log_block_clear(op, &block);
    }
    assert_null(op->error);
    hd_log_reader_close(op, reader);
}

static void read_base(struct hd_op *op, hd_file_system *fs, const char *path, struct counts *counts)
{
    hd_input_file *file;

    test_must(op, hd_fs_open_input(op, fs, path, &file));
    read_hfile(op, file, 0, hd_input_file_size(file), hd_slice_text(""), counts);
    counts->n_files++;
    hd_input_file_close(file);
}

static void walk(struct hd_op *op, hd_file_system *fs, const char *folder, struct counts *counts)
{
    struct hd_arena arena = {0};
    struct hd_file_info *infos;
    size_t n;

    test_must(op, hd_fs_list(op, fs, folder, &arena, &infos, &n));
    for (size_t i = 0; i < n; i++) {
        const char *const name = infos[i].name;
        char *path;

        test_must(op, hd_path_join(op, folder, name, &path));
        if (infos[i].is_dir)
            walk(op, fs, path, counts);
        else if (strstr(name, ".log.") != NULL && strstr(name, ".crc") == NULL)
            read_log(op, fs, path, counts);
        else if (hd_slice_ends_with(hd_slice_text(name), ".hfile"))
            read_base(op, fs, path, counts);
        hd_free(op, path);
    }
    hd_arena_clear(&arena);
}

static void every_hfile_of_hudi_is_read(void **state)
{
    char **names = test_golden_names("");
    struct counts counts = {0};

    for (size_t i = 0; names[i] != NULL; i++) {
        char *path = test_golden_unpack(names[i]), *fs_path;
        hd_file_system *fs;

        test_must(*state, hd_fs_open(*state, path, &fs, &fs_path));
        walk(*state, fs, fs_path, &counts);
        hd_free(*state, fs_path);
        hd_fs_free(fs);
        test_golden_remove(path);
    }
    /* As docs/format/tools/logdump.py counts them; tables may be added. */
    assert_true(counts.n_files >= 93);
    assert_true(counts.n_blocks >= 482);
    assert_true(counts.n_cells > counts.n_blocks + counts.n_files);
    test_golden_free_names(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_hfile_of_hudi_is_read)};

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
