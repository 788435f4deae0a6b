/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "support/fault.h"

/* u8 u16be u32be u64be u32le u64le varint(300) zigzag(-2^63) 3 bytes, sub(2: u8 u8), "MAGIC" */
static const uint8_t ALL[] = {
    0x01,                                                       /* at 0 */
    0x12, 0x34,                                                 /* at 1 */
    0x89, 0xAB, 0xCD, 0xEF,                                     /* at 3 */
    0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10,             /* at 7 */
    0x89, 0xAB, 0xCD, 0xEF,                                     /* at 15 */
    0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10,             /* at 19 */
    0xAC, 0x02,                                                 /* at 27 */
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, /* at 29 */
    'a',  'b',  'c',                                            /* at 39 */
    0x07, 0x08,                                                 /* at 42 */
    'M',  'A',  'G',  'I',  'C',                                /* at 44 */
};

struct all {
    uint8_t u8;
    uint16_t u16be;
    uint32_t u32be, u32le;
    uint64_t u64be, u64le, varint;
    int64_t zigzag;
    struct hd_slice three;
    struct hd_cursor sub;
};

static hudi_status read_all(struct hd_op *op, struct hd_cursor *c, struct all *out)
{
    HD_TRY(hd_cursor_u8(op, c, &out->u8));
    HD_TRY(hd_cursor_u16be(op, c, &out->u16be));
    HD_TRY(hd_cursor_u32be(op, c, &out->u32be));
    HD_TRY(hd_cursor_u64be(op, c, &out->u64be));
    HD_TRY(hd_cursor_u32le(op, c, &out->u32le));
    HD_TRY(hd_cursor_u64le(op, c, &out->u64le));
    HD_TRY(hd_cursor_varint(op, c, &out->varint));
    HD_TRY(hd_cursor_zigzag(op, c, &out->zigzag));
    HD_TRY(hd_cursor_take(op, c, 3, &out->three));
    HD_TRY(hd_cursor_sub(op, c, 2, &out->sub));
    return hd_cursor_expect(op, c, "MAGIC", 5);
}

static void reads_every_kind_in_its_byte_order(void **state)
{
    struct hd_op *op = *state;
    struct hd_cursor c = hd_cursor_over(ALL, sizeof ALL, 1000);
    struct all all;

    assert_int_equal(read_all(op, &c, &all), HUDI_OK);
    assert_int_equal(all.u8, 1);
    assert_int_equal(all.u16be, 0x1234);
    assert_int_equal(all.u32be, 0x89ABCDEF);
    assert_true(all.u64be == UINT64_C(0xFEDCBA9876543210));
    assert_int_equal(all.u32le, 0xEFCDAB89);
    assert_true(all.u64le == UINT64_C(0x1032547698BADCFE));
    assert_int_equal(all.varint, 300);
    assert_true(all.zigzag == INT64_MIN);
    assert_int_equal(all.three.size, 3);
    assert_memory_equal(all.three.data, "abc", 3);
    assert_int_equal(hd_cursor_left(&c), 0);
    assert_int_equal(hd_cursor_offset(&c), 1000 + sizeof ALL);
}

static void a_sub_cursor_knows_its_offset_and_end(void **state)
{
    struct hd_op *op = *state;
    struct hd_cursor c = hd_cursor_over(ALL, sizeof ALL, 1000);
    struct all all;
    uint8_t byte;

    assert_int_equal(read_all(op, &c, &all), HUDI_OK);
    assert_int_equal(hd_cursor_offset(&all.sub), 1042);
    assert_int_equal(hd_cursor_u8(op, &all.sub, &byte), HUDI_OK);
    assert_int_equal(hd_cursor_u8(op, &all.sub, &byte), HUDI_OK);
    assert_int_equal(byte, 8);
    assert_int_equal(hd_cursor_u8(op, &all.sub, &byte), HUDI_CORRUPT);
    assert_string_equal(hudi_error_message(op->error),
                        "1 bytes are needed at byte 1044, 0 are left");
}

/* The buffer is exactly as long as the cut, so that the sanitizer sees a read beyond it. The
 * cursor stays at the field that is cut. */
static void reports_every_truncation(void **state)
{
    static const size_t FIELDS[] = {0, 1, 3, 7, 15, 19, 27, 29, 39, 42, 44, sizeof ALL};
    struct hd_op *op = *state;
    size_t field = 0;

    for (size_t n = 0; n < sizeof ALL; n++) {
        uint8_t *const bytes = malloc(n == 0 ? 1 : n);
        struct all all;

        assert_non_null(bytes);
        memcpy(bytes, ALL, n);
        struct hd_cursor c = hd_cursor_over(bytes, n, 0);
        assert_int_equal(read_all(op, &c, &all), HUDI_CORRUPT);
        assert_int_equal(hudi_error_status(op->error), HUDI_CORRUPT);
        while (FIELDS[field + 1] <= n)
            field++;
        assert_int_equal(hd_cursor_offset(&c), FIELDS[field]);
        hd_op_clear_error(op);
        free(bytes);
    }
}

static void put_varint(uint8_t bytes[10], size_t *n, uint64_t value)
{
    for (*n = 0; value >= 0x80; value >>= 7)
        bytes[(*n)++] = (uint8_t)(value | 0x80);
    bytes[(*n)++] = (uint8_t)value;
}

static void varints_of_every_length_are_read(void **state)
{
    struct hd_op *op = *state;

    for (unsigned shift = 0; shift < 64; shift++) {
        for (int less = 0; less < 2; less++) {
            const uint64_t value = (UINT64_C(1) << shift) - (uint64_t)less;
            const int64_t number = (int64_t)(value / 2) ^ -(int64_t)(value % 2);
            uint8_t bytes[10];
            size_t n;
            uint64_t out;
            int64_t signed_out;

            put_varint(bytes, &n, value);
            struct hd_cursor c = hd_cursor_over(bytes, n, 0), again = c;
            assert_int_equal(hd_cursor_varint(op, &c, &out), HUDI_OK);
            assert_true(out == value);
            assert_int_equal(hd_cursor_left(&c), 0);
            assert_int_equal(hd_cursor_zigzag(op, &again, &signed_out), HUDI_OK);
            assert_true(signed_out == number);
        }
    }
}

static void zigzag_alternates_around_zero(void **state)
{
    struct hd_op *op = *state;
    const uint8_t bytes[] = {0, 1, 2, 3, 4};
    const int64_t expected[] = {0, -1, 1, -2, 2};
    struct hd_cursor c = hd_cursor_over(bytes, sizeof bytes, 0);

    for (size_t i = 0; i < HD_ARRAY_LENGTH(expected); i++) {
        int64_t out;

        assert_int_equal(hd_cursor_zigzag(op, &c, &out), HUDI_OK);
        assert_true(out == expected[i]);
    }
}

static void numbers_beyond_64_bits_are_corrupt(void **state)
{
    struct hd_op *op = *state;
    uint8_t bytes[12];
    uint64_t out;

    memset(bytes, 0xFF, sizeof bytes);
    bytes[9] = 0x02; /* the 65th bit */
    struct hd_cursor c = hd_cursor_over(bytes, sizeof bytes, 50);
    assert_int_equal(hd_cursor_varint(op, &c, &out), HUDI_CORRUPT);
    assert_string_equal(hudi_error_message(op->error),
                        "the number at byte 50 does not fit 64 bits");
    assert_int_equal(hd_cursor_offset(&c), 50);
    hd_op_clear_error(op);
    bytes[9] = 0x80; /* an eleventh byte */
    bytes[10] = 0;
    assert_int_equal(hd_cursor_varint(op, &c, &out), HUDI_CORRUPT);
    hd_op_clear_error(op);
    memset(bytes, 0x80, 9); /* zero in ten bytes is long, but a number */
    bytes[9] = 0;
    assert_int_equal(hd_cursor_varint(op, &c, &out), HUDI_OK);
    assert_true(out == 0);
}

static void lengths_beyond_the_end_are_refused_without_overflow(void **state)
{
    struct hd_op *op = *state;
    struct hd_cursor c = hd_cursor_over("abc", 3, UINT64_MAX - 10), sub;
    struct hd_slice slice;
    const uint64_t hostile[] = {4, UINT32_MAX, INT64_MAX, UINT64_MAX - 2, UINT64_MAX};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(hostile); i++) {
        assert_int_equal(hd_cursor_take(op, &c, hostile[i], &slice), HUDI_CORRUPT);
        assert_int_equal(hd_cursor_sub(op, &c, hostile[i], &sub), HUDI_CORRUPT);
        assert_int_equal(hd_cursor_skip(op, &c, hostile[i]), HUDI_CORRUPT);
    }
    assert_int_equal(hd_cursor_expect(op, &c, "abcd", 4), HUDI_CORRUPT);
    assert_int_equal(hd_cursor_left(&c), 3);
    assert_int_equal(hd_cursor_skip(op, &c, 3), HUDI_OK);
    assert_int_equal(hd_cursor_take(op, &c, 0, &slice), HUDI_OK);
    assert_int_equal(slice.size, 0);
}

static void unexpected_bytes_are_corrupt_and_stay(void **state)
{
    struct hd_op *op = *state;
    struct hd_cursor c = hd_cursor_over("#HUDI#", 6, 7);

    assert_int_equal(hd_cursor_expect(op, &c, "#HUDA", 5), HUDI_CORRUPT);
    assert_string_equal(hudi_error_message(op->error),
                        "the 5 bytes at byte 7 are not those of this format");
    assert_int_equal(hd_cursor_left(&c), 6);
    assert_int_equal(hd_cursor_expect(op, &c, "", 0), HUDI_OK);
    assert_int_equal(hd_cursor_expect(op, &c, "#HUDI#", 6), HUDI_OK);
    assert_int_equal(hd_cursor_left(&c), 0);
}

static void nothing_is_a_valid_buffer(void **state)
{
    struct hd_op *op = *state;
    struct hd_cursor c = hd_cursor_over(NULL, 0, 9);
    uint64_t out;

    assert_int_equal(hd_cursor_left(&c), 0);
    assert_int_equal(hd_cursor_varint(op, &c, &out), HUDI_CORRUPT);
    assert_string_equal(hudi_error_message(op->error),
                        "the number at byte 9 is cut short after 0 bytes");
    assert_int_equal(hd_cursor_skip(op, &c, 0), HUDI_OK);
}

static void what_was_read_can_be_had_as_a_slice(void **state)
{
    struct hd_op *op = *state;
    struct hd_cursor c = hd_cursor_over("0123456789", 10, 0);

    assert_int_equal(hd_cursor_skip(op, &c, 2), HUDI_OK);
    const struct hd_cursor start = c;
    assert_int_equal(hd_cursor_skip(op, &c, 5), HUDI_OK);
    const struct hd_slice since = hd_cursor_since(&c, start);
    assert_int_equal(since.size, 5);
    assert_memory_equal(since.data, "23456", 5);
    assert_int_equal(hd_cursor_since(&c, c).size, 0);
}

int main(void)
{
#define WITH_OP(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        WITH_OP(reads_every_kind_in_its_byte_order),
        WITH_OP(a_sub_cursor_knows_its_offset_and_end),
        WITH_OP(reports_every_truncation),
        WITH_OP(varints_of_every_length_are_read),
        WITH_OP(zigzag_alternates_around_zero),
        WITH_OP(numbers_beyond_64_bits_are_corrupt),
        WITH_OP(lengths_beyond_the_end_are_refused_without_overflow),
        WITH_OP(unexpected_bytes_are_corrupt_and_stay),
        WITH_OP(nothing_is_a_valid_buffer),
        WITH_OP(what_was_read_can_be_had_as_a_slice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
