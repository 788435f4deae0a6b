/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#include "log_testing.h"
#include "support/fault.h"

static void expect_header(struct hd_op *op, const struct hd_log_block *block,
                          enum hd_log_header_key key, const char *wanted)
{
    struct hd_slice value;

    test_must(op, hd_log_header_find(op, block, key, &value));
    assert_true(hd_slice_equal(value, hd_slice_text(wanted)));
}

static void a_real_block_is_read(void **state)
{
    struct hd_op *op = *state;
    struct hd_log_block block;
    struct hd_slice value;
    hd_log_reader *reader = reader_of(op, ROLLBACK, ROLLBACK_BYTES);

    assert_int_equal(sizeof ROLLBACK - 1, ROLLBACK_BYTES);
    test_must(op, hd_log_reader_next(op, reader, &block));
    assert_int_equal(block.offset, 0);
    assert_int_equal(block.size, ROLLBACK_BYTES);
    assert_int_equal(block.type, HD_LOG_COMMAND);
    assert_int_equal(block.content_bytes, 0);
    assert_int_equal(block.content_offset, 93);
    assert_null(block.damage);
    expect_header(op, &block, HD_LOG_INSTANT_TIME, "20250126040936578");
    expect_header(op, &block, HD_LOG_TARGET_INSTANT_TIME, "20250126040826878");
    expect_header(op, &block, HD_LOG_COMMAND_BLOCK_TYPE, "0");
    assert_int_equal(hd_log_header_find(op, &block, HD_LOG_SCHEMA, &value), HUDI_NOT_FOUND);
    assert_null(op->error);
    hd_log_block_clear(op, &block);
    assert_int_equal(hd_log_reader_next(op, reader, &block), HUDI_END);
    hd_log_reader_close(op, reader);
}

static void headers_are_listed_with_unknown_keys(void **state)
{
    struct hd_op *op = *state;
    const struct hd_log_header_entry header[] = {
        {(enum hd_log_header_key)77, hd_slice_text("new")},
        {HD_LOG_IS_PARTIAL, hd_slice_text("true")},
    };
    struct hd_str text = {0};
    struct hd_log_block block;
    struct hd_log_header_entries entries;
    struct hd_slice value;
    uint32_t key;

    test_must(op, hd_log_block_encode(op, HD_LOG_DELETE, header, 2, NULL, 0, &text));
    hd_log_reader *reader = reader_of(op, text.data, text.size);
    test_must(op, hd_log_reader_next(op, reader, &block));
    test_must(op, hd_log_header_open(op, &block, &entries));
    test_must(op, hd_log_header_next(op, &entries, &key, &value));
    assert_int_equal(key, 77);
    assert_null(hd_log_header_key_name(key));
    assert_true(hd_slice_equal(value, hd_slice_text("new")));
    test_must(op, hd_log_header_next(op, &entries, &key, &value));
    assert_string_equal(hd_log_header_key_name(key), "IS_PARTIAL");
    assert_int_equal(hd_log_header_next(op, &entries, &key, &value), HUDI_END);
    expect_header(op, &block, HD_LOG_IS_PARTIAL, "true");
    hd_log_block_clear(op, &block);
    hd_log_reader_close(op, reader);
    hd_str_clear(&text);
}

static void a_rollback_block_is_written_as_hudi_writes_it(void **state)
{
    struct hd_op *op = *state;
    struct hd_str text = {0};

    test_must(op,
              hd_log_rollback_block_encode(op, "20250126040936578", "20250126040826878", &text));
    assert_int_equal(text.size, ROLLBACK_BYTES);
    assert_memory_equal(text.data, ROLLBACK, ROLLBACK_BYTES);
    hd_str_clear(&text);
}

static void types_and_keys_have_the_names_of_hudi(void **state)
{
    (void)state;
    assert_string_equal(hd_log_block_type_name(HD_LOG_COMMAND), "COMMAND");
    assert_string_equal(hd_log_block_type_name(HD_LOG_CDC_DATA), "CDC_DATA");
    assert_string_equal(hd_log_header_key_name(0), "INSTANT_TIME");
    assert_string_equal(hd_log_header_key_name(8), "BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS");
    assert_null(hd_log_header_key_name(9));
    assert_null(hd_log_header_key_name(UINT32_MAX));
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_str text = {0};

        test_fault_arm(op, nth);
        status = hd_log_rollback_block_encode(op, "1", "2", &text);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_str_clear(&text);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_block_is_read),
        cmocka_unit_test(headers_are_listed_with_unknown_keys),
        cmocka_unit_test(a_rollback_block_is_written_as_hudi_writes_it),
        cmocka_unit_test(types_and_keys_have_the_names_of_hudi),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
