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

#include "format/log/log_records.h"
#include "log_testing.h"
#include "support/fault.h"

static void append_u32(struct hd_op *op, struct hd_str *out, uint32_t value)
{
    const char bytes[4] = {(char)(value >> 24), (char)(value >> 16), (char)(value >> 8),
                           (char)value};

    test_must(op, hd_str_append(op, out, bytes, sizeof bytes));
}

/* The i-th record of a block of `n`: small ones, now and then one larger than a piece. */
static size_t record_bytes(size_t i)
{
    return i % 100 == 50 ? 1500000 : i * 37 % 5000;
}

static void make_content(struct hd_op *op, size_t n, struct hd_str *out)
{
    append_u32(op, out, 3);
    append_u32(op, out, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        append_u32(op, out, (uint32_t)record_bytes(i));
        test_must(op, hd_str_reserve(op, out, record_bytes(i)));
        memset(out->data + out->size, (int)(i & 0xff), record_bytes(i));
        out->size += record_bytes(i);
    }
}

static hd_log_reader *reader_of_content(struct hd_op *op, const struct hd_str *content,
                                        struct hd_log_block *block)
{
    const struct hd_slice part = hd_str_slice(content);
    struct hd_str bytes = {0};

    test_must(op, hd_log_block_encode(op, HD_LOG_AVRO_DATA, NULL, 0, &part, 1, &bytes));
    hd_log_reader *reader = reader_of(op, bytes.data, bytes.size);
    test_must(op, hd_log_reader_next(op, reader, block));
    hd_str_clear(&bytes);
    return reader;
}

static void expect_records(struct hd_op *op, struct hd_log_records *records, size_t n)
{
    struct hd_slice record;

    assert_int_equal(records->n_records, n);
    for (size_t i = 0; i < n; i++) {
        test_must(op, hd_log_records_next(op, records, &record));
        assert_int_equal(record.size, record_bytes(i));
        for (size_t j = 0; j < record.size; j += record.size / 7 + 1)
            assert_int_equal(record.data[j], i & 0xff);
    }
    assert_int_equal(hd_log_records_next(op, records, &record), HUDI_END);
    assert_int_equal(hd_log_records_next(op, records, &record), HUDI_END);
}

static void records_come_from_the_file_in_pieces_or_from_memory(void **state)
{
    enum { N = 1200 };
    struct hd_op *op = *state;
    struct hd_str content = {0};
    struct hd_log_block block;
    struct hd_log_records records;

    make_content(op, N, &content);
    assert_true(content.size > 8 << 20);
    hd_log_reader *reader = reader_of_content(op, &content, &block);
    test_must(op, hd_log_records_open(op, hd_log_reader_file(reader), &block, &records));
    assert_int_equal(records.version, 3);
    expect_records(op, &records, N);
    assert_true(records.capacity < 4 << 20);
    assert_true(op->budget->used_bytes >= 1 << 20);
    hd_log_records_close(op, &records);
    assert_int_equal(op->budget->used_bytes, 0);

    test_must(op, hd_log_reader_content(op, reader, &block));
    test_must(op, hd_log_records_open(op, NULL, &block, &records));
    expect_records(op, &records, N);
    hd_log_records_close(op, &records);
    hd_log_block_clear(op, &block);
    hd_log_reader_close(op, reader);
    hd_str_clear(&content);
}

static void hostile_contents_are_refused(void **state)
{
    static const struct {
        const char *content;
        size_t n;
        hudi_status wanted; /* of open, or of the first record */
    } CASES[] = {
        {"\0\0\0\1\xff\xff\xff\xff", 8, HUDI_CORRUPT},
        {"\0\0\0\1\0\0\0\1", 8, HUDI_CORRUPT},
        {"\0\0\0\4\0\0\0\0", 8, HUDI_NOT_IMPLEMENTED},
        {"\0\0\0\0\0\0\0\0", 8, HUDI_NOT_IMPLEMENTED},
        {"\0\0\0\1\0\0", 6, HUDI_CORRUPT},
        {"", 0, HUDI_CORRUPT},
        {"\0\0\0\1\0\0\0\1\0\0\0\2x", 13, HUDI_CORRUPT},
        {"\0\0\0\1\0\0\0\1\xff\xff\xff\xffx", 13, HUDI_CORRUPT},
        {"\0\0\0\1\0\0\0\0", 8, HUDI_END},
        {"\0\0\0\1\0\0\0\1\0\0\0\1x", 13, HUDI_OK},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < 2 * HD_ARRAY_LENGTH(CASES); i++) {
        struct hd_str content = {0};
        struct hd_log_block block;
        struct hd_log_records records;
        struct hd_slice record;

        test_must(op, hd_str_append(op, &content, CASES[i / 2].content, CASES[i / 2].n));
        hd_log_reader *reader = reader_of_content(op, &content, &block);
        if (i % 2 == 1)
            test_must(op, hd_log_reader_content(op, reader, &block));
        hudi_status status = hd_log_records_open(op, hd_log_reader_file(reader), &block, &records);
        if (status == HUDI_OK)
            status = hd_log_records_next(op, &records, &record);
        if (status != CASES[i / 2].wanted)
            fail_msg("case %zu gives %d", i / 2, status);
        hd_op_clear_error(op);
        hd_log_records_close(op, &records);
        hd_log_block_clear(op, &block);
        hd_log_reader_close(op, reader);
        hd_str_clear(&content);
    }
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct hd_str content = {0};
    struct hd_log_block block;
    hudi_status status = HUDI_INTERNAL;

    make_content(op, 52, &content);
    hd_log_reader *reader = reader_of_content(op, &content, &block);
    for (int nth = 1; status != HUDI_END; nth++) {
        struct hd_log_records records;
        struct hd_slice record;

        test_fault_arm(op, nth);
        status = hd_log_records_open(op, hd_log_reader_file(reader), &block, &records);
        while (status == HUDI_OK)
            status = hd_log_records_next(op, &records, &record);
        assert_int_equal(status == HUDI_END, !test_fault_fired(op));
        hd_log_records_close(op, &records);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
    hd_log_block_clear(op, &block);
    hd_log_reader_close(op, reader);
    hd_str_clear(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_from_the_file_in_pieces_or_from_memory),
        cmocka_unit_test(hostile_contents_are_refused),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
