/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#include "format/layout/file_name.h"
#include "support/fault.h"
#include "support/table.h"

static void expect_slice(struct hd_slice slice, const char *text)
{
    if (!hd_slice_equal(slice, hd_slice_text(text)))
        fail_msg("%.*s is not %s", (int)slice.size, (const char *)slice.data, text);
}

static void expect_base(const char *name, const char *file_id, const char *token,
                        const char *instant, const char *extension)
{
    struct hd_file_name parsed;

    assert_true(hd_file_name_parse(name, &parsed));
    assert_int_equal(parsed.kind, HD_FILE_BASE);
    expect_slice(parsed.file_id, file_id);
    expect_slice(parsed.write_token, token);
    expect_slice(parsed.instant, instant);
    expect_slice(parsed.extension, extension);
}

static void expect_log(const char *name, enum hd_file_kind kind, const char *file_id,
                       const char *instant, uint32_t version, const char *token)
{
    struct hd_file_name parsed;

    assert_true(hd_file_name_parse(name, &parsed));
    assert_int_equal(parsed.kind, kind);
    expect_slice(parsed.file_id, file_id);
    expect_slice(parsed.instant, instant);
    assert_int_equal(parsed.log_version, version);
    expect_slice(parsed.write_token, token);
}

static void base_files_of_all_writers_are_taken_apart(void **state)
{
    (void)state;
    expect_base("a0794c1b-1007-4a5b-8c11-0e1f1a2b3c4d-0_0-182-253_20240418173550988.parquet",
                "a0794c1b-1007-4a5b-8c11-0e1f1a2b3c4d-0", "0-182-253", "20240418173550988",
                ".parquet");
    expect_base("d4f50d5f-d602-4c87-aec0-1194f1f3fb60_0-1-0_20261130141315785.parquet",
                "d4f50d5f-d602-4c87-aec0-1194f1f3fb60", "0-1-0", "20261130141315785", ".parquet");
    expect_base("f_0-1-0_20240418173550.orc", "f", "0-1-0", "20240418173550", ".orc");
    expect_base("files-0000-0_1-0-1_00000000000000010.hfile", "files-0000-0", "1-0-1",
                "00000000000000010", ".hfile");
}

static void log_files_are_taken_apart(void **state)
{
    (void)state;
    expect_log(".cf5d9c7d-0_20261130135312013.log.12_0-149-146", HD_FILE_LOG, "cf5d9c7d-0",
               "20261130135312013", 12, "0-149-146");
    expect_log(".cf5d9c7d-0_20261130135312013.log.1", HD_FILE_LOG, "cf5d9c7d-0",
               "20261130135312013", 1, "");
    expect_log(".306f-0_20261130135654777.log.1_0-542-466.cdc", HD_FILE_CDC_LOG, "306f-0",
               "20261130135654777", 1, "0-542-466");
    expect_log(".a_b_001.log.4294967295_1-0-1", HD_FILE_LOG, "a_b", "001", UINT32_MAX, "1-0-1");
    expect_log(".x.log.y_001.log.2_1-0-1", HD_FILE_LOG, "x.log.y", "001", 2, "1-0-1");
}

static void other_names_are_no_data_files(void **state)
{
    static const char *const NAMES[] = {
        "",
        ".",
        "_",
        "__.parquet",
        "a_b_.parquet",
        "_b_001.parquet",
        "a__001.parquet",
        "a_b_001",
        "a_b_001.",
        "a_b_001.parquet.crc",
        "a_b_001.parquet.tmp",
        "a_b_00x.parquet",
        "a_b_c_001.parquet",
        "a_b_123456789012345678901234.parquet",
        "a_001.parquet",
        "part-00000.parquet",
        ".a_b_001.parquet.crc",
        "._a_b_001.parquet",
        ".hoodie_partition_metadata",
        ".hoodie_partition_metadata.parquet",
        ".log.",
        "._001.log.1_1-0-1",
        ".a_.log.1_1-0-1",
        ".a_001.log._1-0-1",
        ".a_001.log.x_1-0-1",
        ".a_001.log.4294967296_1-0-1",
        ".a_001.log.1_1-0",
        ".a_001.log.1_1-0-1-1",
        ".a_001.log.1_1-0-x",
        ".a_001.log.1_1-0-1.crc",
        ".a_001.log.1_",
        "..a_001.log.1_1-0-1.crc",
        ".commits_.archive.1_1-0-1",
        "a_001.log.1_1-0-1",
    };
    struct hd_file_name parsed;

    (void)state;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        if (hd_file_name_parse(NAMES[i], &parsed))
            fail_msg("%s is no data file", NAMES[i]);
        assert_int_equal(parsed.kind, HD_FILE_OTHER);
    }
}

static void names_are_put_together(void **state)
{
    struct hd_op *op = *state;
    char token[HD_WRITE_TOKEN_BYTES];
    char *name;

    hd_write_token_format(3, 45, 678, token);
    assert_string_equal(token, "3-45-678");
    test_must(op,
              hd_base_file_name_format(op, "id-0", token, "20240418173550988", ".parquet", &name));
    assert_string_equal(name, "id-0_3-45-678_20240418173550988.parquet");
    expect_base(name, "id-0", "3-45-678", "20240418173550988", ".parquet");
    hd_free(op, name);
    hd_write_token_format(UINT32_MAX, UINT32_MAX, UINT64_MAX, token);
    assert_string_equal(token, "4294967295-4294967295-18446744073709551615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_files_of_all_writers_are_taken_apart),
        cmocka_unit_test(log_files_are_taken_apart),
        cmocka_unit_test(other_names_are_no_data_files),
        cmocka_unit_test(names_are_put_together),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
