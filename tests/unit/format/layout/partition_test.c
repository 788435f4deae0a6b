/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdlib.h>
#include <string.h>

#include "format/layout/partition.h"
#include "support/fault.h"
#include "support/table.h"

static void list(struct test_table *table, struct hd_arena *arena, const char ***paths, size_t *n)
{
    test_must(table->op, hd_partitions_list(table->op, table->fs, table->path, &table->config,
                                            arena, paths, n));
}

static void partitions_are_the_folders_with_a_metafile(void **state)
{
    static const char *const WANTED[] = {"a", "a/b", "c/d/e", "o", "p q"};
    struct test_table table;
    struct hd_arena arena = {0};
    const char **paths;
    size_t n;

    test_table_open(*state, &table, "partition1", 6, "x");
    test_table_put(&table, "p q/.hoodie_partition_metadata", "");
    test_table_put(&table, "a/b/.hoodie_partition_metadata", ""); /* inside of another */
    test_table_put(&table, "a/.hoodie_partition_metadata", "");
    test_table_put(&table, "c/d/e/.hoodie_partition_metadata.parquet", "");
    test_table_put(&table, "o/.hoodie_partition_metadata.orc", "");
    test_table_put(&table, "none/data_0-0-0_001.parquet", "");
    test_table_put(&table, ".hoodie/metadata/files/.hoodie_partition_metadata", "");
    list(&table, &arena, &paths, &n);
    assert_int_equal(n, HD_ARRAY_LENGTH(WANTED));
    for (size_t i = 0; i < n; i++)
        assert_string_equal(paths[i], WANTED[i]);
    hd_arena_clear(&arena);
    test_table_close(&table);
}

static void a_table_without_partition_fields_has_one_empty_path(void **state)
{
    struct test_table table;
    struct hd_arena arena = {0};
    const char **paths;
    size_t n;

    test_table_open(*state, &table, "partition2", 6, NULL);
    list(&table, &arena, &paths, &n);
    assert_int_equal(n, 1);
    assert_string_equal(paths[0], "");
    hd_arena_clear(&arena);
    test_table_close(&table);
}

static char *read_text(struct test_table *table, const char *file)
{
    char *path;
    uint8_t *bytes;
    size_t n;

    test_must(table->op, hd_path_join(table->op, table->path, file, &path));
    test_must(table->op, hd_fs_read_file(table->op, table->fs, path, 4096, &bytes, &n));
    hd_free(table->op, path);
    return (char *)bytes;
}

static void a_metafile_says_the_instant_and_the_depth(void **state)
{
    static const struct {
        const char *path;
        const char *file;
        const char *depth;
    } CASES[] = {
        {"2024/01/02", "2024/01/02/.hoodie_partition_metadata", "partitionDepth=3\n"},
        {"region=a", "region=a/.hoodie_partition_metadata", "partitionDepth=1\n"},
        {"", ".hoodie_partition_metadata", "partitionDepth=0\n"},
    };
    struct hd_op *op = *state;
    struct test_table table;

    test_table_open(op, &table, "partition3", 6, "x");
    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        test_must(op, hd_partition_ensure(op, table.fs, table.path, &table.config, CASES[i].path,
                                          "20240102030405678"));
        char *text = read_text(&table, CASES[i].file);
        assert_ptr_equal(strstr(text, "#partition metadata\n#"), text);
        assert_non_null(strstr(text, "\ncommitTime=20240102030405678\n"));
        assert_non_null(strstr(text, CASES[i].depth));
        hd_free(op, text);
    }
    test_table_close(&table);
}

static void a_metafile_that_is_there_is_never_touched(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;

    test_table_open(op, &table, "partition4", 6, "x");
    test_table_put(&table, "a/.hoodie_partition_metadata", "old");
    test_table_put(&table, "b/.hoodie_partition_metadata.orc", "old");
    test_must(op, hd_partition_ensure(op, table.fs, table.path, &table.config, "a", "001"));
    test_must(op, hd_partition_ensure(op, table.fs, table.path, &table.config, "b", "001"));
    char *text = read_text(&table, "a/.hoodie_partition_metadata");
    assert_string_equal(text, "old");
    hd_free(op, text);
    assert_false(test_table_has(&table, "b/.hoodie_partition_metadata"));
    test_table_close(&table);
}

static void expect_encoded(struct hd_op *op, const char *value, const char *encoded)
{
    struct hd_str text = {0}, back = {0};

    test_must(op, hd_partition_value_encode(op, hd_slice_text(value), &text));
    assert_string_equal(hd_str_text(&text), encoded);
    test_must(op, hd_partition_value_decode(op, hd_str_slice(&text), &back));
    assert_string_equal(hd_str_text(&back), value);
    hd_str_clear(&text);
    hd_str_clear(&back);
}

static void values_are_escaped_as_hudi_escapes_them(void **state)
{
    struct hd_op *op = *state;

    expect_encoded(op, "", "");
    expect_encoded(op, "plain", "plain");
    expect_encoded(op, "with space", "with space");
    expect_encoded(op, "eq=", "eq%3D");
    expect_encoded(op, "pct%", "pct%25");
    expect_encoded(op, "tail/", "tail%2F");
    expect_encoded(op, "2007-09-26 13:14:35.981", "2007-09-26 13%3A14%3A35.981");
    expect_encoded(op, "\"#%'*/:=?\\{[]^", "%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%5B%5D%5E");
    expect_encoded(op, "}<>|&;,", "}<>|&;,");
    expect_encoded(op, "\x01\x1f\x7f", "%01%1F%7F");
    expect_encoded(op, "é日", "é日");
}

static void decoding_leaves_alone_what_is_no_escape(void **state)
{
    static const char *const CASES[][2] = {
        {"%", "%"},   {"%4", "%4"}, {"%4G", "%4G"}, {"%%41", "%A"}, {"%41", "A"},
        {"%2f", "/"}, {"a%", "a%"}, {"%e9", "é"},   {"%-1", "%-1"}, {"%zz%3A", "%zz:"},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct hd_str text = {0};

        test_must(op, hd_partition_value_decode(op, hd_slice_text(CASES[i][0]), &text));
        assert_string_equal(hd_str_text(&text), CASES[i][1]);
        hd_str_clear(&text);
    }
}

static void expect_values(struct hd_op *op, const struct hd_table_config *config, const char *path,
                          const char *const *wanted)
{
    struct hd_slice values[4];
    struct hd_arena arena = {0};

    test_must(op, hd_partition_path_values(op, config, path, &arena, values));
    for (size_t i = 0; i < config->n_partition_fields; i++) {
        if (wanted[i] == NULL)
            assert_null(values[i].data);
        else if (!hd_slice_equal(values[i], hd_slice_text(wanted[i])))
            fail_msg("%s: %.*s is not %s", path, (int)values[i].size, (const char *)values[i].data,
                     wanted[i]);
    }
    hd_arena_clear(&arena);
}

#define VALUES(...) ((const char *const[]){__VA_ARGS__})

static void paths_are_taken_apart_into_values(void **state)
{
    const char *fields[] = {"region", "day", "hour"};
    const char *kinds[] = {"simple", "timestamp", "simple"};
    struct hd_table_config config = {
        .partition_fields = fields,
        .n_partition_fields = 1,
        .default_partition = "__HIVE_DEFAULT_PARTITION__",
    };
    struct hd_op *op = *state;

    expect_values(op, &config, "2024/01/02", VALUES("2024/01/02")); /* a field takes it all */
    expect_values(op, &config, "__HIVE_DEFAULT_PARTITION__", VALUES(NULL));
    expect_values(op, &config, "default", VALUES("default"));
    expect_values(op, &config, "a%2Fb", VALUES("a%2Fb"));
    config.url_encode_partitioning = true;
    expect_values(op, &config, "a%2Fb", VALUES("a/b"));
    config.hive_style_partitioning = true;
    expect_values(op, &config, "region=a%2Fb", VALUES("a/b"));
    expect_values(op, &config, "region=__HIVE_DEFAULT_PARTITION__", VALUES(NULL));
    expect_values(op, &config, "region=", VALUES(""));
    expect_values(op, &config, "other=x", VALUES("other=x"));

    config.n_partition_fields = 3;
    expect_values(op, &config, "region=a/day=b/hour=c", VALUES("a", "b", "c"));
    expect_values(op, &config, "region=a/day=__HIVE_DEFAULT_PARTITION__/hour=c",
                  VALUES("a", NULL, "c"));
    config.partition_kinds = kinds;
    expect_values(op, &config, "region=a/day=2024/01/02/hour=c", VALUES("a", "2024/01/02", "c"));
    config.n_partition_fields = 0;
    expect_values(op, &config, "", NULL);
}

static void levels_must_fit_the_fields(void **state)
{
    const char *fields[] = {"region", "day"};
    struct hd_table_config config = {
        .partition_fields = fields, .n_partition_fields = 2, .default_partition = "default"};
    static const char *const PATHS[] = {"", "a", "a/b/c"};
    struct hd_op *op = *state;
    struct hd_slice values[2];
    struct hd_arena arena = {0};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(PATHS); i++) {
        assert_int_equal(hd_partition_path_values(op, &config, PATHS[i], &arena, values),
                         HUDI_CORRUPT);
        hd_op_clear_error(op);
    }
    hd_arena_clear(&arena);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct test_table table;
    hudi_status status = HUDI_INTERNAL;

    test_table_open(op, &table, "partition5", 6, "x");
    test_table_put(&table, "a/b/.hoodie_partition_metadata", "");
    test_table_put(&table, "c/.hoodie_partition_metadata", "");
    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_arena arena = {0};
        const char **paths;
        size_t n;

        test_fault_arm(op, nth);
        status = hd_partitions_list(op, table.fs, table.path, &table.config, &arena, &paths, &n);
        if (status == HUDI_OK)
            status = hd_partition_ensure(op, table.fs, table.path, &table.config, "d", "001");
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_arena_clear(&arena);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
    assert_true(test_table_has(&table, "d/.hoodie_partition_metadata"));
    test_table_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_are_the_folders_with_a_metafile),
        cmocka_unit_test(a_table_without_partition_fields_has_one_empty_path),
        cmocka_unit_test(a_metafile_says_the_instant_and_the_depth),
        cmocka_unit_test(a_metafile_that_is_there_is_never_touched),
        cmocka_unit_test(values_are_escaped_as_hudi_escapes_them),
        cmocka_unit_test(decoding_leaves_alone_what_is_no_escape),
        cmocka_unit_test(paths_are_taken_apart_into_values),
        cmocka_unit_test(levels_must_fit_the_fields),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
