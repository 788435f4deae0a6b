/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/*
 * Archives of real tables, damaged: whatever is whole is read. (Whole ones: timeline_golden_test.c)
 */
#include <stdlib.h>
#include <string.h>

#include "format/timeline/archived_timeline.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

#define TABLE "flink010-cow-clean-archive"
#define FIRST ".hoodie/archived/.commits_.archive.1_1-0-1"
/* Has two blocks. */
#define SECOND ".hoodie/archived/.commits_.archive.2_1-0-1"

/* The archive of TABLE in a table in memory. */
struct damaged {
    struct hd_op *op;
    struct test_table table;
    char *file; /* path of SECOND */
    uint8_t *bytes;
    size_t n;
    size_t n_warnings;
};

static void count_warning(void *self, enum hd_log_level level, const char *message)
{
    struct damaged *t = self;

    assert_int_equal(level, HD_LOG_WARN);
    assert_non_null(strstr(message, "archive"));
    t->n_warnings++;
}

static void open_table(struct hd_op *op, struct damaged *t)
{
    static const char *const FILES[] = {FIRST, SECOND};
    hd_file_system *disk;
    char *unpacked = test_golden_unpack(TABLE), *disk_path;

    memset(t, 0, sizeof *t);
    t->op = op;
    test_table_open(op, &t->table, "damaged", 3, "p");
    test_must(op, hd_fs_open(op, unpacked, &disk, &disk_path));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(FILES); i++) {
        char *path;

        hd_free(op, t->bytes);
        hd_free(op, t->file);
        test_must(op, hd_path_join(op, disk_path, FILES[i], &path));
        test_must(op, hd_fs_read_file(op, disk, path, 1 << 20, &t->bytes, &t->n));
        hd_free(op, path);
        test_table_put(&t->table, FILES[i], "");
        test_must(op, hd_path_join(op, t->table.path, FILES[i], &t->file));
        test_must(op, hd_fs_replace(op, t->table.fs, t->file, t->bytes, t->n));
    }
    hd_free(op, disk_path);
    hd_fs_free(disk);
    test_golden_remove(unpacked);
    op->log = (struct hd_log_sink){count_warning, t};
}

static void close_table(struct damaged *t)
{
    t->op->log = (struct hd_log_sink){0};
    hd_free(t->op, t->bytes);
    hd_free(t->op, t->file);
    test_table_close(&t->table);
}

/* How many entries are read of an archive whose second file has these bytes. */
static size_t n_entries(struct damaged *t, const uint8_t *bytes, size_t n)
{
    struct hd_archived_timeline archive;

    t->n_warnings = 0;
    test_must(t->op, hd_fs_replace(t->op, t->table.fs, t->file, bytes, n));
    test_must(t->op, hd_archived_timeline_load(t->op, t->table.fs, t->table.path, &t->table.config,
                                               NULL, NULL, &archive));
    assert_null(t->op->error);
    const size_t count = archive.n_instants;
    hd_archived_timeline_clear(&archive);
    return count;
}

static size_t second_block(const struct damaged *t)
{
    const uint8_t *at = memmem(t->bytes + 1, t->n - 1, "#HUDI#", 6);

    assert_non_null(at);
    return (size_t)(at - t->bytes);
}

static void a_damaged_block_loses_its_own_entries(void **state)
{
    struct damaged t;

    open_table(*state, &t);
    const size_t second = second_block(&t);
    const size_t all = n_entries(&t, t.bytes, t.n);
    assert_int_equal(t.n_warnings, 0);
    const size_t without_first = n_entries(&t, t.bytes + second, t.n - second);
    const size_t without_second = n_entries(&t, t.bytes, second);
    const size_t without_both = n_entries(&t, t.bytes, 0);
    assert_true(all > without_first && all > without_second);
    assert_int_equal(all - without_first, without_second - without_both);
    assert_int_equal(t.n_warnings, 0);

    t.bytes[0] ^= 1; /* the first magic */
    assert_int_equal(n_entries(&t, t.bytes, t.n), without_first);
    assert_int_equal(t.n_warnings, 1);
    t.bytes[0] ^= 1;
    t.bytes[12] ^= 1; /* the first size */
    assert_int_equal(n_entries(&t, t.bytes, t.n), without_first);
    t.bytes[12] ^= 1;
    t.bytes[second + 20] = 99; /* the second type */
    assert_int_equal(n_entries(&t, t.bytes, t.n), without_second);
    assert_int_equal(t.n_warnings, 1);
    close_table(&t);
}

/* A cut takes entries away and never gives an error or other entries. */
static void every_cut_leaves_the_blocks_before_it(void **state)
{
    struct damaged t;

    open_table(*state, &t);
    const size_t second = second_block(&t);
    const size_t without_second = n_entries(&t, t.bytes, second);
    const size_t without_both = n_entries(&t, t.bytes, 0);
    for (size_t n = 0; n < t.n; n += n % 397 + 1)
        assert_int_equal(n_entries(&t, t.bytes, n), n < second ? without_both : without_second);
    close_table(&t);
}

/* As after a crash between archiving and deleting, or in the middle of merging archive files. */
static void what_is_archived_twice_counts_once(void **state)
{
    struct damaged t;

    open_table(*state, &t);
    const size_t all = n_entries(&t, t.bytes, t.n);
    uint8_t *twice = malloc(2 * t.n);
    memcpy(twice, t.bytes, t.n);
    memcpy(twice + t.n, t.bytes, t.n);
    assert_int_equal(n_entries(&t, twice, 2 * t.n), all);
    assert_int_equal(n_entries(&t, twice, t.n + t.n / 3), all);
    assert_int_equal(t.n_warnings, 1); /* the cut copy */
    free(twice);
    close_table(&t);
}

static void flipped_bytes_end_in_warnings(void **state)
{
    struct damaged t;

    open_table(*state, &t);
    const size_t all = n_entries(&t, t.bytes, t.n);
    for (size_t at = 0; at < t.n; at += 331) {
        t.bytes[at] ^= 0x55;
        assert_true(n_entries(&t, t.bytes, t.n) <= all + 1); /* a flipped time is another instant */
        t.bytes[at] ^= 0x55;
    }
    close_table(&t);
}

static void a_missing_archive_is_empty(void **state)
{
    struct test_table table;
    struct hd_archived_timeline archive;

    test_table_open(*state, &table, "archive1", 6, NULL);
    test_must(*state, hd_archived_timeline_load(*state, table.fs, table.path, &table.config, NULL,
                                                NULL, &archive));
    assert_int_equal(archive.n_instants, 0);
    hd_archived_timeline_clear(&archive);
    test_table_close(&table);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct damaged t;
    hudi_status status = HUDI_INTERNAL;

    open_table(op, &t);
    op->log = (struct hd_log_sink){0};
    for (int nth = 1; status != HUDI_OK; nth += nth / 20 + 1) {
        struct hd_archived_timeline archive;

        test_fault_arm(op, nth);
        status = hd_archived_timeline_load(op, t.table.fs, t.table.path, &t.table.config, NULL,
                                           NULL, &archive);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_archived_timeline_clear(&archive);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
    close_table(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_block_loses_its_own_entries),
        cmocka_unit_test(every_cut_leaves_the_blocks_before_it),
        cmocka_unit_test(what_is_archived_twice_counts_once),
        cmocka_unit_test(flipped_bytes_end_in_warnings),
        cmocka_unit_test(a_missing_archive_is_empty),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
