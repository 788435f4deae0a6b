/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/*
 * One log file with a block of every type that Hudi wrote, cut at every byte, with every byte
 * changed in turn, and torn up at random: never a crash, never much more memory than the file has,
 * and the blocks that are whole are there with all their rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "arrow/schema.h"
#include "arrow/stream.h"
#include "format/log/log_rows.h"
#include "support/fault.h"
#include "support/golden.h"
#include "unit/format/log/log_testing.h"

#define MAX_BLOCKS 16
/* Sanitizers are slow: they see every third byte. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif
#define STEP (IS_SANITIZED ? 3 : 1)
#define MEMORY_BYTES (INT64_C(96) << 20) /* the readers of Parquet included */

/* The blocks, in this order: what matters is that the types differ. */
static const struct source {
    const char *table, *folder, *part; /* of the file's name */
} SOURCES[] = {
    {"spark-1.1.1-mor-avro", "north", "1484"},
    {"spark-0.15.0-rollback-mor", "north", ".log.3_"},
    {"spark-1.1.1-mor-parquet-logs", "north", "2371"},
    {"flink010-mor-deletes", "p1", ".log.2_"},
    {"flink010-cow-metadata", ".hoodie/metadata/files", ".log.1_0-1-0"},
    {"spark-0.15.0-cdc-cow", "south", ".log.1_1-52-77.cdc"},
    {"spark-1.1.1-mor-avro", "north", "1504"},
    {"spark-1.1.1-mor-avro", "north", "1527"},
};

struct whole {
    struct hd_str bytes;
    uint64_t offset[MAX_BLOCKS + 1]; /* of each block, and of the end */
    enum hd_log_block_type type[MAX_BLOCKS];
    int64_t n_rows[MAX_BLOCKS];
    size_t n_blocks;
};

/* The most memory that the process ever held, in bytes. */
static int64_t peak_bytes(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (int64_t)usage.ru_maxrss * 1024;
}

/* A damaged size that is taken for a number of bytes shows as a leap. */
static void expect_little_memory(int64_t peak_before)
{
    if (!IS_SANITIZED) /* what was freed is kept for a while there */
        assert_true(peak_bytes() - peak_before < MEMORY_BYTES);
}

static void add_file(struct hd_op *op, const struct source *source, struct hd_str *out)
{
    char *table = test_golden_unpack(source->table), *folder, *fs_path;
    struct hd_arena arena = {0};
    struct hd_file_info *infos;
    hd_file_system *fs;
    size_t n, n_bytes, n_found = 0;

    test_must(op, hd_fs_open(op, table, &fs, &fs_path));
    test_must(op, hd_path_join(op, fs_path, source->folder, &folder));
    test_must(op, hd_fs_list(op, fs, folder, &arena, &infos, &n));
    for (size_t i = 0; i < n && n_found == 0; i++) {
        uint8_t *bytes;
        char *path;

        if (strstr(infos[i].name, ".log.") == NULL || strstr(infos[i].name, source->part) == NULL ||
            strstr(infos[i].name, ".crc") != NULL)
            continue;
        test_must(op, hd_path_join(op, folder, infos[i].name, &path));
        test_must(op, hd_fs_read_file(op, fs, path, 1 << 20, &bytes, &n_bytes));
        test_must(op, hd_str_append(op, out, bytes, n_bytes));
        hd_free(op, bytes);
        hd_free(op, path);
        n_found++;
    }
    assert_int_equal(n_found, 1);
    hd_arena_clear(&arena);
    hd_free(op, folder);
    hd_free(op, fs_path);
    hd_fs_free(fs);
    test_golden_remove(table);
}

/* Rows of a block, or the status of reading them; -1 for a block that has none. */
static hudi_status count_rows(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                              int64_t *n)
{
    struct ArrowArrayStream rows;
    struct ArrowArray batch;

    *n = -1;
    if (block->type == HD_LOG_COMMAND || block->type == HD_LOG_CORRUPT)
        return HUDI_OK;
    *n = 0;
    HD_TRY(hd_log_rows_open(op, reader, block, &rows));
    hudi_status status;
    while ((status = hd_stream_next(op, &rows, &batch)) == HUDI_OK) {
        *n += batch.length;
        batch.release(&batch);
    }
    hd_stream_clear(&rows);
    return status == HUDI_END ? HUDI_OK : status;
}

static void load(struct hd_op *op, struct whole *whole)
{
    struct hd_log_block block;

    *whole = (struct whole){0};
    for (size_t i = 0; i < sizeof SOURCES / sizeof *SOURCES; i++)
        add_file(op, &SOURCES[i], &whole->bytes);
    hd_log_reader *reader = reader_of(op, whole->bytes.data, whole->bytes.size);
    while (hd_log_reader_next(op, reader, &block) == HUDI_OK) {
        const size_t i = whole->n_blocks++;

        assert_true(i < MAX_BLOCKS);
        whole->offset[i] = block.offset;
        whole->type[i] = block.type;
        test_must(op, count_rows(op, reader, &block, &whole->n_rows[i]));
        whole->offset[i + 1] = block.offset + block.size;
        hd_log_block_clear(op, &block);
    }
    hd_log_reader_close(op, reader);
    assert_int_equal(whole->offset[whole->n_blocks], whole->bytes.size);
    unsigned types = 0;
    for (size_t i = 0; i < whole->n_blocks; i++)
        types |= 1u << whole->type[i];
    assert_int_equal(types, 1u << HD_LOG_COMMAND | 1u << HD_LOG_DELETE | 1u << HD_LOG_AVRO_DATA |
                                1u << HD_LOG_HFILE_DATA | 1u << HD_LOG_PARQUET_DATA |
                                1u << HD_LOG_CDC_DATA);
}

/* Read a damaged file: blocks that `intact` says are untouched are there, with their rows (looked
 * at every few calls); with `all` the others are read too, whatever comes of it. */
static void read_damaged(struct hd_op *op, const struct whole *whole, const uint8_t *bytes,
                         size_t n_bytes, const bool *intact, bool all, size_t what)
{
    bool found[MAX_BLOCKS] = {false};
    struct hd_log_block block;
    hudi_status status;

    hd_log_reader *reader = reader_of(op, bytes, n_bytes);
    while ((status = hd_log_reader_next(op, reader, &block)) == HUDI_OK ||
           status == HUDI_NOT_IMPLEMENTED) {
        size_t i = 0;
        int64_t n_rows;

        hd_op_clear_error(op);
        if (status == HUDI_NOT_IMPLEMENTED)
            continue;
        while (i < whole->n_blocks && whole->offset[i] != block.offset)
            i++;
        const bool is_intact = i < whole->n_blocks && intact[i] && block.type == whole->type[i];
        found[i < whole->n_blocks ? i : 0] |= is_intact;
        if ((is_intact && what % 8 == 0) || all) {
            const hudi_status read = count_rows(op, reader, &block, &n_rows);

            if (read == HUDI_NO_MEMORY || read == HUDI_INTERNAL)
                fail_msg("damage at %zu: block at %d: %s", what, (int)block.offset,
                         hudi_error_message(op->error));
            if (is_intact && (read != HUDI_OK || n_rows != whole->n_rows[i]))
                fail_msg("damage at %zu: block %zu is whole and has other rows", what, i);
            hd_op_clear_error(op);
        }
        hd_log_block_clear(op, &block);
    }
    assert_int_equal(status, HUDI_END);
    for (size_t i = 0; i < whole->n_blocks; i++) {
        if (intact[i] && !found[i])
            fail_msg("damage at %zu: block %zu is whole and was not found", what, i);
    }
    hd_log_reader_close(op, reader);
}

/* ---- tests -------------------------------------------------------------------------------- */

static void a_cut_at_any_byte_costs_the_block_it_is_in(void **state)
{
    struct hd_op *op = *state;
    struct whole whole;

    load(op, &whole);
    const int64_t peak = peak_bytes();
    for (size_t n = 0; n < whole.bytes.size; n += STEP) {
        bool intact[MAX_BLOCKS] = {false};

        /* Only the last whole block is read again for each cut: it is the one that might change. */
        for (size_t i = 0; i < whole.n_blocks && whole.offset[i + 1] <= n; i++)
            intact[i] = i + 1 == whole.n_blocks || whole.offset[i + 2] > n;
        read_damaged(op, &whole, (const uint8_t *)whole.bytes.data, n, intact, false, n);
    }
    expect_little_memory(peak);
    hd_str_clear(&whole.bytes);
}

static void a_change_of_any_byte_costs_its_block_and_the_next_at_most(void **state)
{
    struct hd_op *op = *state;
    struct whole whole;
    size_t hit = 0;

    load(op, &whole);
    const int64_t peak = peak_bytes();
    for (size_t at = 0; at < whole.bytes.size; at += STEP) {
        bool intact[MAX_BLOCKS] = {false};
        const char flip = (char)(1 << (at * 7 % 8));

        while (whole.offset[hit + 1] <= at)
            hit++;
        /* The neighbours: what is further away is read by the same steps as without damage. */
        if (hit > 0)
            intact[hit - 1] = true;
        if (hit + 2 < whole.n_blocks)
            intact[hit + 2] = true;
        whole.bytes.data[at] ^= flip;
        read_damaged(op, &whole, (const uint8_t *)whole.bytes.data, whole.bytes.size, intact, false,
                     at);
        /* The block itself, alone. */
        const bool none[MAX_BLOCKS] = {false};
        read_damaged(op, &whole, (const uint8_t *)whole.bytes.data + whole.offset[hit],
                     whole.offset[hit + 1] - whole.offset[hit], none, true, at);
        whole.bytes.data[at] ^= flip;
    }
    expect_little_memory(peak);
    hd_str_clear(&whole.bytes);
}

static void random_damage_leaves_the_blocks_behind_it(void **state)
{
    struct hd_op *op = *state;
    struct whole whole;
    uint32_t x = 12345;

    load(op, &whole);
    const int64_t peak = peak_bytes();
    for (int round = 0; round < 400; round++) {
        struct hd_str bytes = {0};
        bool intact[MAX_BLOCKS];
        const size_t n_spots = 1 + (size_t)round % 4;

        memset(intact, true, sizeof intact);
        test_must(op, hd_str_append(op, &bytes, whole.bytes.data, whole.bytes.size));
        for (size_t s = 0; s < n_spots; s++) {
            x = x * 1664525u + 1013904223u;
            const size_t at = (x >> 8) % bytes.size;
            size_t n = 1 + (x >> 3) % 300;

            if (n > bytes.size - at)
                n = bytes.size - at;
            for (size_t i = at; i < at + n; i++) {
                x = x * 1664525u + 1013904223u;
                bytes.data[i] = (char)(x >> 16);
            }
            for (size_t i = 0; i < whole.n_blocks; i++) {
                if (whole.offset[i] < at + n && whole.offset[i + 1] > at) {
                    intact[i] = false;
                    if (i + 1 < whole.n_blocks)
                        intact[i + 1] = false; /* a damaged size may lead into it */
                }
            }
        }
        read_damaged(op, &whole, (const uint8_t *)bytes.data, bytes.size, intact, true,
                     (size_t)round);
        hd_str_clear(&bytes);
    }
    expect_little_memory(peak);
    hd_str_clear(&whole.bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_cut_at_any_byte_costs_the_block_it_is_in),
        TEST(a_change_of_any_byte_costs_its_block_and_the_next_at_most),
        TEST(random_damage_leaves_the_blocks_behind_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
