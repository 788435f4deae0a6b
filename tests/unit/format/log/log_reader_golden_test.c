/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/*
 * Log blocks of tables that Hudi wrote: every block of every log file is read, and those of the two
 * tables that were damaged by hand are found again behind the damage.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/layout/file_name.h"
#include "format/log/log_deletes.h"
#include "format/log/log_reader.h"
#include "format/log/log_records.h"
#include "store/file_system.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

struct counts {
    size_t n_files, n_blocks, n_corrupt, n_records, n_deletes;
    size_t of_type[HD_LOG_CDC_DATA + 1];
};

static size_t count_records(struct hd_op *op, hd_log_reader *reader,
                            const struct hd_log_block *block)
{
    struct hd_log_records records;
    struct hd_slice record;
    hudi_status status;
    size_t n = 0;

    test_must(op, hd_log_records_open(op, hd_log_reader_file(reader), block, &records));
    while ((status = hd_log_records_next(op, &records, &record)) == HUDI_OK)
        n++;
    assert_int_equal(status, HUDI_END);
    assert_int_equal(n, records.n_records);
    assert_int_equal(hd_cursor_left(&records.in), 0);
    assert_int_equal(records.next_offset, records.end_offset);
    hd_log_records_close(op, &records);
    return n;
}

static size_t count_deletes(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block)
{
    struct hd_log_deletes deletes;

    test_must(op, hd_log_reader_content(op, reader, block));
    test_must(op, hd_log_deletes_decode(op, block->content, block->content_offset, &deletes));
    const size_t n = deletes.n;
    for (size_t i = 0; i < n; i++)
        assert_true(deletes.record_keys[i].size > 0);
    hd_log_deletes_clear(op, &deletes);
    return n;
}

static void count_block(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                        struct counts *counts)
{
    if (block->type == HD_LOG_CORRUPT) {
        counts->n_corrupt++;
        return;
    }
    counts->n_blocks++;
    counts->of_type[block->type]++;
    if (block->type == HD_LOG_DELETE)
        counts->n_deletes += count_deletes(op, reader, block);
    if (block->type != HD_LOG_AVRO_DATA && block->type != HD_LOG_CDC_DATA)
        return;
    const size_t n = count_records(op, reader, block);
    test_must(op, hd_log_reader_content(op, reader, block));
    assert_int_equal(count_records(op, reader, block), n);
    counts->n_records += n;
}

/* Forwards, then backwards: the same blocks. */
static void count_blocks(struct hd_op *op, hd_file_system *fs, const char *path,
                         struct counts *counts)
{
    uint64_t starts[64], at = 0;
    size_t n = 0;
    hd_log_reader *reader;
    struct hd_log_block block;
    hudi_status status;

    test_must(op, hd_log_reader_open(op, fs, path, &reader));
    counts->n_files++;
    while ((status = hd_log_reader_next(op, reader, &block)) == HUDI_OK) {
        assert_int_equal(block.offset, at);
        at += block.size;
        assert_true(n < HD_ARRAY_LENGTH(starts));
        starts[n++] = block.offset;
        count_block(op, reader, &block, counts);
        hd_log_block_clear(op, &block);
    }
    assert_int_equal(status, HUDI_END);
    assert_int_equal(at, hd_input_file_size(hd_log_reader_file(reader)));
    hd_log_reader_seek(reader, UINT64_MAX);
    while ((status = hd_log_reader_previous(op, reader, &block)) == HUDI_OK) {
        assert_true(n > 0);
        assert_int_equal(block.offset, starts[--n]);
        hd_log_block_clear(op, &block);
    }
    assert_int_equal(status, HUDI_END);
    assert_int_equal(n, 0);
    hd_log_reader_close(op, reader);
}

static void walk(struct hd_op *op, hd_file_system *fs, const char *folder, struct counts *counts)
{
    struct hd_arena arena = {0};
    struct hd_file_info *infos;
    size_t n;

    test_must(op, hd_fs_list(op, fs, folder, &arena, &infos, &n));
    for (size_t i = 0; i < n; i++) {
        struct hd_file_name name;
        char *path;

        test_must(op, hd_path_join(op, folder, infos[i].name, &path));
        if (infos[i].is_dir)
            walk(op, fs, path, counts);
        else if (hd_file_name_parse(infos[i].name, &name) && name.kind != HD_FILE_BASE)
            count_blocks(op, fs, path, counts);
        hd_free(op, path);
    }
    hd_arena_clear(&arena);
}

static struct counts count(struct hd_op *op, const char *name)
{
    struct counts counts = {0};
    hd_file_system *fs;
    char *path = test_golden_unpack(name), *fs_path;

    test_must(op, hd_fs_open(op, path, &fs, &fs_path));
    walk(op, fs, fs_path, &counts);
    hd_free(op, fs_path);
    hd_fs_free(fs);
    test_golden_remove(path);
    return counts;
}

static void every_block_of_a_good_table_is_read(void **state)
{
    char **names = test_golden_names("");
    struct counts all = {0};

    for (size_t i = 0; names[i] != NULL; i++) {
        if (strstr(names[i], "damage") != NULL)
            continue;
        const struct counts counts = count(*state, names[i]);

        if (counts.n_corrupt != 0)
            fail_msg("%s has %zu corrupt blocks", names[i], counts.n_corrupt);
        all.n_files += counts.n_files;
        all.n_records += counts.n_records;
        all.n_deletes += counts.n_deletes;
        for (size_t j = 0; j < HD_ARRAY_LENGTH(all.of_type); j++)
            all.of_type[j] += counts.of_type[j];
    }
    /* As docs/format/tools/logdump.py counts them; tables may be added. */
    assert_true(all.n_files >= 1134);
    assert_true(all.n_records >= 1607);
    assert_true(all.n_deletes >= 413);
    for (size_t j = 0; j < HD_ARRAY_LENGTH(all.of_type); j++)
        assert_int_equal(all.of_type[j] > 0, j != HD_LOG_CORRUPT);
    test_golden_free_names(names);
}

/* Five blocks and a small second file group, as its description says. */
static void a_file_of_several_blocks_is_read(void **state)
{
    const struct counts counts = count(*state, "flink010-mor-multi-block");

    assert_int_equal(counts.n_corrupt, 0);
    assert_true(counts.of_type[HD_LOG_AVRO_DATA] >= 3);
    assert_true(counts.of_type[HD_LOG_DELETE] >= 2);
}

static void damage_is_one_corrupt_block(void **state)
{
    static const char *const NAMES[] = {
        "flink010-mor-damaged-tail", "flink010-mor-damaged-committed",
        "spark-0.15.0-damage-corrupt-middle", "spark-0.15.0-damage-truncated-log"};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        const struct counts counts = count(*state, NAMES[i]);

        if (counts.n_corrupt != 1 || counts.n_blocks == 0)
            fail_msg("%s: %zu corrupt blocks, %zu whole ones", NAMES[i], counts.n_corrupt,
                     counts.n_blocks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_of_a_good_table_is_read),
        cmocka_unit_test(a_file_of_several_blocks_is_read),
        cmocka_unit_test(damage_is_one_corrupt_block),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
