/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#include "format/marker/marker.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

static void read_markers(struct test_table *table, const char *instant, struct hd_arena *arena,
                         struct hd_marker **markers, size_t *n)
{
    test_must(table->op,
              hd_markers_read(table->op, table->fs, table->path, instant, arena, markers, n));
}

static void direct_markers_are_written_read_and_deleted(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_arena arena = {0};
    struct hd_marker *markers;
    size_t n;

    test_table_open(op, &table, "marker1", 6, "p");
    test_must(op, hd_marker_create(op, table.fs, table.path, "001", "b/c", "f_0-0-0_001.parquet",
                                   HD_IO_MERGE));
    test_must(op, hd_marker_create(op, table.fs, table.path, "001", "", "g_0-0-0_001.parquet",
                                   HD_IO_CREATE));
    test_must(op, hd_marker_create(op, table.fs, table.path, "001", "a", ".g_001.log.1_0-0-0",
                                   HD_IO_APPEND));
    test_must(op, hd_marker_create(op, table.fs, table.path, "001", "a", ".g_001.log.1_0-0-0",
                                   HD_IO_APPEND)); /* a retry */
    test_must(op, hd_marker_create(op, table.fs, table.path, "002", "a", "h_0-0-0_002.parquet",
                                   HD_IO_CREATE));
    assert_true(test_table_has(&table, ".hoodie/.temp/001/b/c/f_0-0-0_001.parquet.marker.MERGE"));
    test_table_put(&table, ".hoodie/.temp/001/a/.x.marker.CREATE.crc", "");
    test_table_put(&table, ".hoodie/.temp/001/a/notes.txt", "");

    read_markers(&table, "001", &arena, &markers, &n);
    assert_int_equal(n, 3);
    assert_string_equal(markers[0].data_path, "a/.g_001.log.1_0-0-0");
    assert_int_equal(markers[0].type, HD_IO_APPEND);
    assert_string_equal(markers[1].data_path, "b/c/f_0-0-0_001.parquet");
    assert_int_equal(markers[1].type, HD_IO_MERGE);
    assert_string_equal(markers[2].data_path, "g_0-0-0_001.parquet");
    assert_int_equal(markers[2].type, HD_IO_CREATE);

    test_must(op, hd_markers_delete(op, table.fs, table.path, "001"));
    test_must(op, hd_markers_delete(op, table.fs, table.path, "001"));
    assert_int_equal(hd_markers_read(op, table.fs, table.path, "001", &arena, &markers, &n),
                     HUDI_NOT_FOUND);
    assert_null(op->error);
    read_markers(&table, "002", &arena, &markers, &n);
    assert_int_equal(n, 1);
    hd_arena_clear(&arena);
    test_table_close(&table);
}

/* Lines, lines joined by commas after a restart, a partition with a comma, a torn end, a repeat. */
static void markers_of_a_timeline_server_are_read(void **state)
{
    static const char *const WANTED[] = {"a,b/f5_0-0-0_001.parquet", "p/f1_0-0-0_001.parquet",
                                         "p/f2_0-0-0_001.parquet", "p/f3_0-0-0_001.parquet",
                                         "p/f4_0-0-0_001.parquet"};
    struct hd_op *op = *state;
    struct test_table table;
    struct hd_arena arena = {0};
    struct hd_marker *markers;
    size_t n;

    test_table_open(op, &table, "marker2", 6, "p");
    test_table_put(&table, ".hoodie/.temp/001/MARKERS.type", "TIMELINE_SERVER_BASED");
    test_table_put(&table, ".hoodie/.temp/001/MARKERS0",
                   "p/f1_0-0-0_001.parquet.marker.CREATE\np/f2_0-0-0_001.parquet.marker.MERGE\n");
    test_table_put(&table, ".hoodie/.temp/001/MARKERS11",
                   "p/f3_0-0-0_001.parquet.marker.CREATE,p/f4_0-0-0_001.parquet.marker.CREATE,"
                   "a,b/f5_0-0-0_001.parquet.marker.MERGE\n"
                   "p/f1_0-0-0_001.parquet.marker.CREATE\n"
                   "p/f6_0-0-0_001.parquet.mark");
    read_markers(&table, "001", &arena, &markers, &n);
    assert_int_equal(n, HD_ARRAY_LENGTH(WANTED));
    for (size_t i = 0; i < n; i++)
        assert_string_equal(markers[i].data_path, WANTED[i]);
    assert_int_equal(markers[0].type, HD_IO_MERGE);
    hd_arena_clear(&arena);
    test_table_close(&table);
}

static void markers_cannot_name_files_outside_of_the_table(void **state)
{
    static const char *const LINES[] = {
        "../x.parquet.marker.CREATE", "/etc/passwd.marker.CREATE", "a/../../x.marker.MERGE",
        "a//x.parquet.marker.CREATE", "./x.parquet.marker.CREATE", "a/.marker.CREATE",
    };
    struct hd_op *op = *state;
    struct test_table table;

    test_table_open(op, &table, "marker3", 6, "p");
    for (size_t i = 0; i < HD_ARRAY_LENGTH(LINES); i++) {
        struct hd_arena arena = {0};
        struct hd_marker *markers;
        size_t n;

        test_table_put(&table, ".hoodie/.temp/001/MARKERS0", LINES[i]);
        if (hd_markers_read(op, table.fs, table.path, "001", &arena, &markers, &n) != HUDI_CORRUPT)
            fail_msg("%s was taken", LINES[i]);
        assert_non_null(strstr(hudi_error_path(op->error), "MARKERS0"));
        hd_op_clear_error(op);
        hd_arena_clear(&arena);
    }
    test_table_close(&table);
}

/* The failed writes of both engines left markers of the files that they had begun. */
static void markers_of_real_writers_are_read(void **state)
{
    static const char *const NAMES[] = {"flink010-mor-compacted", "flink010-mor-failed-inflight",
                                        "spark-0.15.0-failed-cow", "spark-0.15.0-failed-mor"};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        struct hd_arena arena = {0};
        struct hd_file_info *instants;
        size_t n_instants, n_markers = 0;
        hd_file_system *fs;
        char *path = test_golden_unpack(NAMES[i]), *fs_path, *temp;

        test_must(op, hd_fs_open(op, path, &fs, &fs_path));
        test_must(op, hd_path_join(op, fs_path, ".hoodie/.temp", &temp));
        test_must(op, hd_fs_list(op, fs, temp, &arena, &instants, &n_instants));
        for (size_t j = 0; j < n_instants; j++) {
            struct hd_marker *markers;
            size_t n;

            test_must(op, hd_markers_read(op, fs, fs_path, instants[j].name, &arena, &markers, &n));
            for (size_t k = 0; k < n; k++)
                assert_non_null(strstr(markers[k].data_path, "_"));
            n_markers += n;
        }
        if (n_markers == 0)
            fail_msg("%s has no markers", NAMES[i]);
        hd_arena_clear(&arena);
        hd_free(op, temp);
        hd_free(op, fs_path);
        hd_fs_free(fs);
        test_golden_remove(path);
    }
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    hudi_status status = HUDI_INTERNAL;

    test_table_open(op, &table, "marker4", 6, "p");
    test_table_put(&table, ".hoodie/.temp/001/MARKERS0", "p/f1.marker.CREATE\n");
    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_arena arena = {0};
        struct hd_marker *markers;
        size_t n;

        test_fault_arm(op, nth);
        status = hd_marker_create(op, table.fs, table.path, "001", "q", "f2", HD_IO_MERGE);
        if (status == HUDI_OK)
            status = hd_markers_read(op, table.fs, table.path, "001", &arena, &markers, &n);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        if (status == HUDI_OK)
            assert_int_equal(n, 2);
        hd_arena_clear(&arena);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
    test_table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(direct_markers_are_written_read_and_deleted),
        cmocka_unit_test(markers_of_a_timeline_server_are_read),
        cmocka_unit_test(markers_cannot_name_files_outside_of_the_table),
        cmocka_unit_test(markers_of_real_writers_are_read),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
