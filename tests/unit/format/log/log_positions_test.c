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

#include <roaring/roaring.h>

#include "codec/base64.h"
#include "format/log/log_positions.h"
#include "support/fault.h"
#include "support/table.h"

/* Of a table that Hudi 1.1.1 wrote. */
#define ONE "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAAAEAAAAAEA"

static void expect(struct hd_op *op, const char *text, const uint64_t *wanted, size_t n_wanted)
{
    uint64_t *positions;
    size_t n;

    test_must(op, hd_log_positions_decode(op, hd_slice_text(text), n_wanted, &positions, &n));
    assert_int_equal(n, n_wanted);
    for (size_t i = 0; i < n; i++)
        assert_true(positions[i] == wanted[i]);
    hd_free(op, positions);
    if (n_wanted > 0) {
        assert_int_equal(
            hd_log_positions_decode(op, hd_slice_text(text), n_wanted - 1, &positions, &n),
            HUDI_CORRUPT);
        hd_op_clear_error(op);
    }
}

static void a_position_of_hudi_is_read_and_written(void **state)
{
    const uint64_t one = 1;
    struct hd_str text = {0};

    expect(*state, ONE, &one, 1);
    test_must(*state, hd_log_positions_encode(*state, &one, 1, &text));
    assert_string_equal(text.data, ONE);
    hd_str_clear(&text);
}

/* ---- against CRoaring, which makes the 32-bit part ------------------------------------------- */

static void append_bucket(struct hd_op *op, const roaring_bitmap_t *bitmap, uint8_t high,
                          struct hd_str *out)
{
    const char word[4] = {(char)high, 0, 0, 0};
    const size_t n = roaring_bitmap_portable_size_in_bytes(bitmap);

    test_must(op, hd_str_append(op, out, word, sizeof word));
    test_must(op, hd_str_reserve(op, out, n));
    assert_int_equal(roaring_bitmap_portable_serialize(bitmap, out->data + out->size), n);
    out->size += n;
}

/* Some values of all kinds of containers: few, many, runs, and far apart ones. */
static roaring_bitmap_t *make_bitmap(unsigned seed, bool with_runs)
{
    roaring_bitmap_t *const bitmap = roaring_bitmap_create();

    for (uint32_t i = 0; i < 100; i++)
        roaring_bitmap_add(bitmap, i * i * (7 + seed));
    for (uint32_t i = 0; i < 20000; i++)
        roaring_bitmap_add(bitmap, 5 * 65536 + i * 3);
    roaring_bitmap_add_range(bitmap, 9 * 65536 + 100, 9 * 65536 + 60000);
    roaring_bitmap_add_range(bitmap, 12 * 65536, 13 * 65536);
    roaring_bitmap_add(bitmap, UINT32_MAX);
    if (with_runs)
        roaring_bitmap_run_optimize(bitmap);
    else
        roaring_bitmap_remove_run_compression(bitmap);
    return bitmap;
}

static void whatever_croaring_writes_is_read(void **state)
{
    struct hd_op *op = *state;

    for (int with_runs = 0; with_runs < 2; with_runs++) {
        roaring_bitmap_t *low = make_bitmap(1, with_runs), *high = make_bitmap(2, with_runs);
        const size_t n_low = roaring_bitmap_get_cardinality(low);
        const size_t n = n_low + roaring_bitmap_get_cardinality(high);
        uint32_t *values = malloc(n * sizeof *values);
        uint64_t *wanted = malloc(n * sizeof *wanted);
        struct hd_str bytes = {0}, text = {0}, again = {0};

        roaring_bitmap_to_uint32_array(low, values);
        roaring_bitmap_to_uint32_array(high, values + n_low);
        for (size_t i = 0; i < n; i++)
            wanted[i] = values[i] + (i < n_low ? 0 : 3ull << 32);
        test_must(op, hd_str_append(op, &bytes, "\2\0\0\0\0\0\0\0", 8));
        append_bucket(op, low, 0, &bytes);
        append_bucket(op, high, 3, &bytes);
        test_must(op, hd_base64_encode(op, hd_str_slice(&bytes), &text));
        expect(op, text.data, wanted, n);
        test_must(op, hd_log_positions_encode(op, wanted, n, &again));
        if (with_runs)
            expect(op, again.data, wanted, n);
        else
            assert_string_equal(again.data, text.data);
        hd_str_clear(&bytes);
        hd_str_clear(&text);
        hd_str_clear(&again);
        free(values);
        free(wanted);
        roaring_bitmap_free(low);
        roaring_bitmap_free(high);
    }
}

static void no_positions_are_read_and_written(void **state)
{
    struct hd_str text = {0};

    test_must(*state, hd_log_positions_encode(*state, NULL, 0, &text));
    expect(*state, text.data, NULL, 0);
    hd_str_clear(&text);
}

static void positions_out_of_order_are_refused(void **state)
{
    static const uint64_t POSITIONS[] = {1, 5, 5};
    struct hd_str text = {0};

    assert_int_equal(hd_log_positions_encode(*state, POSITIONS, 3, &text), HUDI_INVALID);
    assert_int_equal(text.size, 0);
}

/* ---- hostile bytes ------------------------------------------------------------------------- */

static hudi_status decode_bytes(struct hd_op *op, const void *bytes, size_t n)
{
    struct hd_str text = {0};
    uint64_t *positions;
    size_t n_positions;

    test_must(op, hd_base64_encode(op, hd_slice_of(bytes, n), &text));
    const hudi_status status =
        hd_log_positions_decode(op, hd_str_slice(&text), 200000, &positions, &n_positions);
    hd_op_clear_error(op);
    hd_free(op, positions);
    hd_str_clear(&text);
    return status;
}

static void every_cut_is_noticed(void **state)
{
    struct hd_op *op = *state;

    for (int with_runs = 0; with_runs < 2; with_runs++) {
        roaring_bitmap_t *bitmap = make_bitmap(1, with_runs);
        struct hd_str bytes = {0};

        test_must(op, hd_str_append(op, &bytes, "\1\0\0\0\0\0\0\0", 8));
        append_bucket(op, bitmap, 0, &bytes);
        for (size_t n = 0; n < bytes.size; n += n < 2000 ? 1 : n % 331 + 1)
            assert_int_equal(decode_bytes(op, bytes.data, n), HUDI_CORRUPT);
        assert_int_equal(decode_bytes(op, bytes.data, bytes.size), HUDI_OK);
        test_must(op, hd_str_append(op, &bytes, "", 1));
        assert_int_equal(decode_bytes(op, bytes.data, bytes.size), HUDI_CORRUPT);
        for (size_t i = 0; i < 8 * 600; i++) {
            bytes.data[i / 8] ^= (char)(1 << i % 8);
            (void)decode_bytes(op, bytes.data, bytes.size - 1);
            bytes.data[i / 8] ^= (char)(1 << i % 8);
        }
        roaring_bitmap_free(bitmap);
        hd_str_clear(&bytes);
    }
}

static void contradictions_are_refused(void **state)
{
#define BUCKET "\1\0\0\0\0\0\0\0\0\0\0\0"
    static const struct {
        const char *bytes;
        size_t n;
        hudi_status wanted;
    } CASES[] = {
        {BUCKET "\x3a\x30\0\0\1\0\0\0\0\0\1\0\x10\0\0\0\1\0\2\0", 32, HUDI_OK},
        {BUCKET "\x3a\x30\0\0\1\0\0\0\0\0\1\0\x10\0\0\0\2\0\1\0", 32, HUDI_CORRUPT}, /* order */
        {BUCKET "\x3a\x30\0\0\1\0\0\0\0\0\1\0\x10\0\0\0\1\0\1\0", 32, HUDI_CORRUPT}, /* twice */
        {BUCKET "\x3a\x30\0\0\xff\xff\xff\xff", 20, HUDI_CORRUPT},               /* containers */
        {BUCKET "\x39\x30\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\1\0", 30, HUDI_CORRUPT}, /* cookie */
        {BUCKET "\x3b\x30\0\0\1\0\0\4\0\1\0\0\0\4\0", 27, HUDI_OK}, /* a run of 0 to 4 */
        {BUCKET "\x3b\x30\0\0\1\0\0\5\0\1\0\0\0\4\0", 27, HUDI_CORRUPT},
        {BUCKET "\x3b\x30\0\0\1\0\0\4\0\1\0\xfe\xff\4\0", 27, HUDI_CORRUPT},
        {"\xff\xff\xff\xff\xff\xff\xff\xff", 8, HUDI_CORRUPT},
        {"", 0, HUDI_CORRUPT},
    };
#undef BUCKET

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++)
        if (decode_bytes(*state, CASES[i].bytes, CASES[i].n) != CASES[i].wanted)
            fail_msg("case %zu", i);
}

static void survives_every_fault(void **state)
{
    static const uint64_t POSITIONS[] = {1, 70000, 1ull << 40};
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_str text = {0};
        uint64_t *positions = NULL;
        size_t n;

        test_fault_arm(op, nth);
        status = hd_log_positions_encode(op, POSITIONS, 3, &text);
        if (status == HUDI_OK)
            status = hd_log_positions_decode(op, hd_str_slice(&text), 3, &positions, &n);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_free(op, positions);
        hd_str_clear(&text);
    }
    test_fault_disarm(op);
    hd_op_clear_error(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_position_of_hudi_is_read_and_written),
        cmocka_unit_test(whatever_croaring_writes_is_read),
        cmocka_unit_test(no_positions_are_read_and_written),
        cmocka_unit_test(positions_out_of_order_are_refused),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
