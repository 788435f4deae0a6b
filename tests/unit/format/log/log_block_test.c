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

#include "format/log/log_block.h"
#include "support/fault.h"
#include "support/table.h"

/* A rollback block that Hudi wrote into a table of version 6. */
static const char ROLLBACK[] = "#HUDI#"
                               "\0\0\0\0\0\0\0\x5b"
                               "\0\0\0\1"
                               "\0\0\0\0"
                               "\0\0\0\3"
                               "\0\0\0\0\0\0\0\x11"
                               "20250126040936578"
                               "\0\0\0\3\0\0\0\1"
                               "0"
                               "\0\0\0\1\0\0\0\x11"
                               "20250126040826878"
                               "\0\0\0\0\0\0\0\0"
                               "\0\0\0\0"
                               "\0\0\0\0\0\0\0\x61";
#define ROLLBACK_BYTES 105

static hd_input_file *file_of(struct hd_op *op, const void *bytes, size_t n)
{
    hd_input_file *file;

    test_must(op, hd_input_file_of_bytes(op, bytes, n, &file));
    return file;
}

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
    hd_input_file *file = file_of(op, ROLLBACK, ROLLBACK_BYTES);

    assert_int_equal(sizeof ROLLBACK - 1, ROLLBACK_BYTES);
    test_must(op, hd_log_block_read(op, file, 0, &block));
    assert_int_equal(block.offset, 0);
    assert_int_equal(block.size, ROLLBACK_BYTES);
    assert_int_equal(block.type, HD_LOG_COMMAND);
    assert_int_equal(block.content.size, 0);
    expect_header(op, &block, HD_LOG_INSTANT_TIME, "20250126040936578");
    expect_header(op, &block, HD_LOG_TARGET_INSTANT_TIME, "20250126040826878");
    expect_header(op, &block, HD_LOG_COMMAND_BLOCK_TYPE, "0");
    assert_int_equal(hd_log_header_find(op, &block, HD_LOG_SCHEMA, &value), HUDI_NOT_FOUND);
    assert_null(op->error);
    hd_log_block_clear(op, &block);
    assert_int_equal(hd_log_block_read(op, file, ROLLBACK_BYTES, &block), HUDI_END);
    hd_input_file_close(file);
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

/* A writer that dies leaves a prefix: with a whole magic it is corrupt, shorter it is the end. */
static void reports_every_truncation(void **state)
{
    struct hd_op *op = *state;

    for (size_t n = 0; n < ROLLBACK_BYTES; n++) {
        hd_input_file *file = file_of(op, ROLLBACK, n);
        struct hd_log_block block;

        assert_int_equal(hd_log_block_read(op, file, 0, &block), n < 6 ? HUDI_END : HUDI_CORRUPT);
        assert_null(block.body);
        assert_int_equal(op->error != NULL, n >= 6);
        hd_op_clear_error(op);
        hd_input_file_close(file);
    }
}

static void every_flipped_length_is_noticed(void **state)
{
    static const size_t SIZES[] = {6, 7, 8, 9, 10, 11, 12, 13, 97, 98, 99, 100, 101, 102, 103, 104,
                                   /* counts and lengths inside */
                                   22, 25, 33, 58, 67, 85, 92, 96};
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(SIZES); i++) {
        char bytes[ROLLBACK_BYTES];
        struct hd_log_block block;

        memcpy(bytes, ROLLBACK, sizeof bytes);
        bytes[SIZES[i]] ^= 1;
        hd_input_file *file = file_of(op, bytes, sizeof bytes);
        if (hd_log_block_read(op, file, 0, &block) != HUDI_CORRUPT)
            fail_msg("byte %zu", SIZES[i]);
        hd_op_clear_error(op);
        hd_input_file_close(file);
    }
}

static void other_versions_and_types_are_refused_as_such(void **state)
{
    static const struct {
        size_t at;
        char value;
        hudi_status wanted;
    } CASES[] = {
        {17, 0, HUDI_NOT_IMPLEMENTED},
        {17, 2, HUDI_NOT_IMPLEMENTED},
        {21, 7, HUDI_NOT_IMPLEMENTED},
        {21, 2, HUDI_CORRUPT},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        char bytes[ROLLBACK_BYTES];
        struct hd_log_block block;

        memcpy(bytes, ROLLBACK, sizeof bytes);
        bytes[CASES[i].at] = CASES[i].value;
        hd_input_file *file = file_of(op, bytes, sizeof bytes);
        assert_int_equal(hd_log_block_read(op, file, 0, &block), CASES[i].wanted);
        hd_op_clear_error(op);
        hd_input_file_close(file);
    }
}

/* Invariant 1. */
static void a_whole_block_counts_whatever_stands_behind_it(void **state)
{
    struct hd_op *op = *state;
    char bytes[ROLLBACK_BYTES + 20];
    struct hd_log_block block;

    memcpy(bytes, ROLLBACK, ROLLBACK_BYTES);
    memset(bytes + ROLLBACK_BYTES, 'x', 20);
    hd_input_file *file = file_of(op, bytes, sizeof bytes);
    test_must(op, hd_log_block_read(op, file, 0, &block));
    hd_log_block_clear(op, &block);
    assert_int_equal(hd_log_block_read(op, file, ROLLBACK_BYTES, &block), HUDI_CORRUPT);
    hd_op_clear_error(op);
    hd_input_file_close(file);
}

static void the_next_magic_is_found_wherever_it_is(void **state)
{
    static const size_t PLACES[] = {0, 1, 5, 65530, 65531, 65535, 65536, 65537, 131000, 200000};
    enum { N = 200006 };
    struct hd_op *op = *state;
    char *bytes = malloc(N);

    for (size_t i = 0; i < HD_ARRAY_LENGTH(PLACES); i++) {
        uint64_t found;

        memset(bytes, '#', N);
        memcpy(bytes + PLACES[i], "#HUDI#", 6);
        hd_input_file *file = file_of(op, bytes, N);
        test_must(op, hd_log_next_magic(op, file, 0, &found));
        assert_int_equal(found, PLACES[i]);
        test_must(op, hd_log_next_magic(op, file, PLACES[i], &found));
        assert_int_equal(found, PLACES[i]);
        assert_int_equal(hd_log_next_magic(op, file, PLACES[i] + 1, &found), HUDI_END);
        assert_int_equal(hd_log_next_magic(op, file, N + 100, &found), HUDI_END);
        hd_input_file_close(file);
    }
    free(bytes);
}

static void records_come_one_by_one(void **state)
{
    static const char CONTENT[] = "\0\0\0\1\0\0\0\3\0\0\0\2ab\0\0\0\0\0\0\0\1c";
    struct hd_op *op = *state;
    const struct hd_slice content[] = {hd_slice_of(CONTENT, 10),
                                       hd_slice_of(CONTENT + 10, sizeof CONTENT - 1 - 10)};
    const struct hd_log_header_entry header = {HD_LOG_SCHEMA, hd_slice_text("\"int\"")};
    static const char *const WANTED[] = {"ab", "", "c"};
    struct hd_str text = {0};
    struct hd_log_block block;
    struct hd_log_records records;
    struct hd_slice record;

    test_must(op, hd_str_append_text(op, &text, "front"));
    test_must(op, hd_log_block_encode(op, HD_LOG_AVRO_DATA, &header, 1, content, 2, &text));
    hd_input_file *file = file_of(op, text.data, text.size);
    test_must(op, hd_log_block_read(op, file, 5, &block));
    assert_int_equal(block.type, HD_LOG_AVRO_DATA);
    expect_header(op, &block, HD_LOG_SCHEMA, "\"int\"");
    test_must(op, hd_log_records_open(op, &block, &records));
    assert_int_equal(records.version, 1);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(WANTED); i++) {
        test_must(op, hd_log_records_next(op, &records, &record));
        assert_true(hd_slice_equal(record, hd_slice_text(WANTED[i])));
    }
    assert_int_equal(hd_log_records_next(op, &records, &record), HUDI_END);
    hd_log_block_clear(op, &block);
    hd_input_file_close(file);
    hd_str_clear(&text);
}

static void hostile_record_counts_are_refused(void **state)
{
    static const struct {
        const char *content;
        size_t n;
        hudi_status wanted;
    } CASES[] = {
        {"\0\0\0\1\xff\xff\xff\xff", 8, HUDI_CORRUPT},
        {"\0\0\0\1\0\0\0\1", 8, HUDI_CORRUPT},
        {"\0\0\0\4\0\0\0\0", 8, HUDI_NOT_IMPLEMENTED},
        {"\0\0\0\0\0\0\0\0", 8, HUDI_NOT_IMPLEMENTED},
        {"\0\0\0\1\0\0", 6, HUDI_CORRUPT},
        {"", 0, HUDI_CORRUPT},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        uint8_t body[16] = "";
        const struct hd_log_block block = {.body = body,
                                           .content = hd_slice_of(CASES[i].content, CASES[i].n)};
        struct hd_log_block placed = block;
        struct hd_log_records records;

        if (CASES[i].n > 0)
            memcpy(body, CASES[i].content, CASES[i].n);
        placed.content = hd_slice_of(body, CASES[i].n);
        assert_int_equal(hd_log_records_open(op, &placed, &records), CASES[i].wanted);
        hd_op_clear_error(op);
    }
}

/* Fail the 1st, 2nd, ... allocation or read until none is left to fail. */
static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct hd_log_block block;
    hudi_status status = HUDI_INTERNAL;
    hd_input_file *file = file_of(op, ROLLBACK, ROLLBACK_BYTES);

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_str text = {0};
        uint64_t found;

        test_fault_arm(op, nth);
        status = hd_log_block_read(op, file, 0, &block);
        if (status == HUDI_OK)
            status = hd_log_next_magic(op, file, 0, &found);
        if (status == HUDI_OK)
            status = hd_log_rollback_block_encode(op, "1", "2", &text);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_str_clear(&text);
        hd_log_block_clear(op, &block);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
    hd_input_file_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_block_is_read),
        cmocka_unit_test(a_rollback_block_is_written_as_hudi_writes_it),
        cmocka_unit_test(reports_every_truncation),
        cmocka_unit_test(every_flipped_length_is_noticed),
        cmocka_unit_test(other_versions_and_types_are_refused_as_such),
        cmocka_unit_test(a_whole_block_counts_whatever_stands_behind_it),
        cmocka_unit_test(the_next_magic_is_found_wherever_it_is),
        cmocka_unit_test(records_come_one_by_one),
        cmocka_unit_test(hostile_record_counts_are_refused),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
