/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/compress.h"
#include "support/fault.h"
#include "unit/codec/corpus.h"

static const enum hd_codec ALL[] = {HD_CODEC_NONE, HD_CODEC_DEFLATE, HD_CODEC_ZLIB, HD_CODEC_GZIP,
                                    HD_CODEC_ZSTD, HD_CODEC_SNAPPY,  HD_CODEC_LZ4};

#define N_ALL (sizeof ALL / sizeof *ALL)

/* Text of `n` bytes, compressible but not only a run. */
static struct hd_slice make_text(size_t n)
{
    uint8_t *data = malloc(n > 0 ? n : 1);
    uint32_t random = 7;

    assert_non_null(data);
    for (size_t i = 0; i < n; i++) {
        random = random * 1664525u + 1013904223u;
        data[i] = (uint8_t)("hoodie_key"[i % 10] + (random >> 30));
    }
    return hd_slice_of(data, n);
}

/* "hudi hudi hudi hudi", as zlib, gzip, zstd, snappy and lz4 themselves compress it. */
static const struct {
    enum hd_codec codec;
    const char *bytes;
    size_t size;
} FOREIGN[] = {
    {HD_CODEC_DEFLATE, "\xcb\x28\x4d\xc9\x54\xc8\x40\x21\x00", 9},
    {HD_CODEC_ZLIB, "\x78\x9c\xcb\x28\x4d\xc9\x54\xc8\x40\x21\x00\x46\x7f\x07\x09", 15},
    {HD_CODEC_GZIP,
     "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x28\x4d\xc9\x54\xc8\x40\x21\x00\xcd\x73\xf5\xa5"
     "\x13\x00\x00\x00",
     27},
    {HD_CODEC_ZSTD,
     "\x28\xb5\x2f\xfd\x20\x13\x5d\x00\x00\x28\x68\x75\x64\x69\x20\x01\x00\x90\x8b\x16", 20},
    {HD_CODEC_SNAPPY,
     "\x13\x48\x68\x75\x64\x69\x20\x68\x75\x64\x69\x20\x68\x75\x64\x69\x20\x68\x75\x64\x69", 21},
    {HD_CODEC_LZ4, "\x55\x68\x75\x64\x69\x20\x05\x00\x50\x20\x68\x75\x64\x69", 14},
};

static void reads_what_the_libraries_own_tools_write(void **state)
{
    static const char TEXT[] = "hudi hudi hudi hudi";
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof FOREIGN / sizeof *FOREIGN; i++) {
        struct hd_slice in = hd_slice_of(FOREIGN[i].bytes, FOREIGN[i].size);
        struct hd_str out = {0};
        char exact[sizeof TEXT - 1];

        assert_int_equal(hd_decompress(op, FOREIGN[i].codec, in, sizeof exact, &out), HUDI_OK);
        assert_string_equal(out.data, TEXT);
        assert_int_equal(hd_decompress_exact(op, FOREIGN[i].codec, in, exact, sizeof exact),
                         HUDI_OK);
        assert_memory_equal(exact, TEXT, sizeof exact);
        hd_str_clear(&out);
    }
}

static void gives_back_what_it_was_given(void **state)
{
    static const size_t SIZES[] = {0, 1, 2, 100, 4096, 4097, 300000};
    struct hd_op *op = *state;

    for (size_t c = 0; c < N_ALL; c++) {
        for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
            struct hd_slice in = make_text(SIZES[s]);
            struct hd_str packed = {0}, out = {0};
            uint8_t *exact = malloc(in.size + 1);

            assert_non_null(exact);
            assert_int_equal(hd_compress(op, ALL[c], HD_CODEC_LEVEL_DEFAULT, in, &packed), HUDI_OK);
            assert_true(ALL[c] == HD_CODEC_NONE || in.size < 4096 || packed.size < in.size);
            assert_int_equal(hd_str_append_text(op, &out, "before"), HUDI_OK);
            assert_int_equal(hd_decompress(op, ALL[c], hd_str_slice(&packed), in.size, &out),
                             HUDI_OK);
            assert_int_equal(out.size, 6 + in.size);
            assert_memory_equal(out.data + 6, in.data, in.size);
            assert_int_equal(out.data[out.size], 0);
            assert_int_equal(hd_decompress_exact(op, ALL[c], hd_str_slice(&packed), exact, in.size),
                             HUDI_OK);
            assert_memory_equal(exact, in.data, in.size);
            free(exact);
            hd_str_clear(&packed);
            hd_str_clear(&out);
            test_slice_free(in);
        }
    }
}

static void refuses_to_give_more_than_allowed(void **state)
{
    struct hd_op *op = *state;
    struct hd_slice in = make_text(20000);

    for (size_t c = 0; c < N_ALL; c++) {
        struct hd_str packed = {0}, out = {0};
        uint8_t *exact = malloc(in.size + 1);

        assert_non_null(exact);
        assert_int_equal(hd_compress(op, ALL[c], HD_CODEC_LEVEL_DEFAULT, in, &packed), HUDI_OK);
        assert_int_equal(hd_decompress(op, ALL[c], hd_str_slice(&packed), in.size - 1, &out),
                         HUDI_CORRUPT);
        assert_int_equal(out.size, 0);
        assert_true(out.capacity < 2 * in.size);
        hd_op_clear_error(op);
        for (size_t n = in.size - 1; n <= in.size + 1; n += 2) {
            assert_int_equal(hd_decompress_exact(op, ALL[c], hd_str_slice(&packed), exact, n),
                             HUDI_CORRUPT);
            hd_op_clear_error(op);
        }
        free(exact);
        hd_str_clear(&packed);
        hd_str_clear(&out);
    }
    test_slice_free(in);
}

static void refuses_every_truncation_and_bytes_left_over(void **state)
{
    struct hd_op *op = *state;
    struct hd_slice in = make_text(300);

    for (size_t c = 1; c < N_ALL; c++) {
        struct hd_str packed = {0}, out = {0};
        uint8_t exact[300];

        assert_int_equal(hd_compress(op, ALL[c], HD_CODEC_LEVEL_DEFAULT, in, &packed), HUDI_OK);
        assert_int_equal(hd_str_append_char(op, &packed, '!'), HUDI_OK);
        for (size_t n = 0; n <= packed.size; n++) {
            struct hd_slice cut = test_cut(hd_str_slice(&packed), n);
            hudi_status status = hd_decompress(op, ALL[c], cut, 1000, &out);

            bool whole = n == packed.size - 1 || (n == packed.size && ALL[c] == HD_CODEC_DEFLATE);

            if (whole) {
                assert_int_equal(status, HUDI_OK);
            } else if (ALL[c] != HD_CODEC_LZ4) { /* a shorter lz4 block may be one as well */
                assert_int_equal(status, HUDI_CORRUPT);
                assert_int_equal(out.size, 0);
            }
            out.size = 0;
            hd_op_clear_error(op);
            status = hd_decompress_exact(op, ALL[c], cut, exact, sizeof exact);
            assert_int_equal(status, whole ? HUDI_OK : HUDI_CORRUPT);
            hd_op_clear_error(op);
            test_slice_free(cut);
        }
        hd_str_clear(&packed);
        hd_str_clear(&out);
    }
    test_slice_free(in);
}

static void reads_gzip_members_one_after_the_other(void **state)
{
    struct hd_op *op = *state;
    struct hd_str packed = {0}, out = {0};
    char exact[6];

    assert_int_equal(hd_compress(op, HD_CODEC_GZIP, 1, hd_slice_text("one"), &packed), HUDI_OK);
    assert_int_equal(hd_compress(op, HD_CODEC_GZIP, 9, hd_slice_text("two"), &packed), HUDI_OK);
    assert_int_equal(hd_decompress(op, HD_CODEC_GZIP, hd_str_slice(&packed), 6, &out), HUDI_OK);
    assert_string_equal(out.data, "onetwo");
    assert_int_equal(hd_decompress_exact(op, HD_CODEC_GZIP, hd_str_slice(&packed), exact, 6),
                     HUDI_OK);
    assert_memory_equal(exact, "onetwo", 6);
    hd_str_clear(&packed);
    hd_str_clear(&out);
}

/* A snappy block says how long it is: five bytes that say 2 GiB must not get 2 GiB. */
static void does_not_believe_the_length_of_a_snappy_block(void **state)
{
    static const uint8_t LIE[] = {0xff, 0xff, 0xff, 0xff, 0x07, 0x00};
    struct hd_op *op = *state;
    struct hd_str out = {0};

    assert_int_equal(
        hd_decompress(op, HD_CODEC_SNAPPY, hd_slice_of(LIE, sizeof LIE), UINT64_MAX, &out),
        HUDI_CORRUPT);
    assert_true(out.capacity < 4096);
    hd_op_clear_error(op);
    hd_str_clear(&out);
}

static void nothing_has_one_form_in_lz4(void **state)
{
    struct hd_op *op = *state;
    struct hd_str out = {0};

    assert_int_equal(hd_decompress(op, HD_CODEC_LZ4, hd_slice_of("\0", 1), 9, &out), HUDI_OK);
    assert_int_equal(out.size, 0);
    assert_int_equal(hd_decompress(op, HD_CODEC_LZ4, hd_slice_of("\x06", 1), 9, &out),
                     HUDI_CORRUPT);
    hd_op_clear_error(op);
    hd_str_clear(&out);
}

static void refuses_a_level_that_there_is_not(void **state)
{
    struct hd_op *op = *state;
    struct hd_str out = {0};

    assert_int_equal(hd_compress(op, HD_CODEC_GZIP, 13, hd_slice_text("x"), &out), HUDI_INVALID);
    hd_op_clear_error(op);
    assert_int_equal(hd_compress(op, HD_CODEC_ZSTD, 23, hd_slice_text("x"), &out), HUDI_INVALID);
    hd_op_clear_error(op);
    hd_str_clear(&out);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    struct hd_slice in = make_text(9000);

    for (size_t c = 0; c < N_ALL; c++) {
        hudi_status status = HUDI_INTERNAL;
        uint8_t *exact = malloc(in.size);

        assert_non_null(exact);
        for (int nth = 1; status != HUDI_OK; nth++) {
            struct hd_str packed = {0}, out = {0};

            test_fault_arm(op, nth);
            status = hd_compress(op, ALL[c], HD_CODEC_LEVEL_DEFAULT, in, &packed);
            if (status == HUDI_OK)
                status = hd_decompress(op, ALL[c], hd_str_slice(&packed), in.size, &out);
            if (status == HUDI_OK)
                status = hd_decompress_exact(op, ALL[c], hd_str_slice(&packed), exact, in.size);
            assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
            hd_str_clear(&packed);
            hd_str_clear(&out);
        }
        free(exact);
    }
    test_slice_free(in);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_what_the_libraries_own_tools_write),
        TEST(gives_back_what_it_was_given),
        TEST(refuses_to_give_more_than_allowed),
        TEST(refuses_every_truncation_and_bytes_left_over),
        TEST(reads_gzip_members_one_after_the_other),
        TEST(does_not_believe_the_length_of_a_snappy_block),
        TEST(nothing_has_one_form_in_lz4),
        TEST(refuses_a_level_that_there_is_not),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
