/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/base64.h"
#include "codec/bloom.h"
#include "codec/bloom_hash.h"
#include "codec/hash.h"
#include "support/fault.h"
#include "unit/codec/corpus.h"

/* Made by the real SimpleBloomFilter and HoodieDynamicBoundedBloomFilter of Hudi 1.1.1. */
static const char SIMPLE[] = "/////wAAAAoBAAAAkFJAAAFggAAACAEAAEICAgoAUA==";
static const char DYNAMIC[] =
    "/////wAAAAQBAAAACgAAAAIAAAAEAAAAAv////8AAAAEAQAAAAr/Af////8AAAAEAQAAAApoAw==";

static void encodes_to(struct hd_op *op, const hd_bloom *bloom, const char *expected)
{
    struct hd_str text = {0};

    assert_int_equal(hd_bloom_encode(op, bloom, &text), HUDI_OK);
    assert_string_equal(text.data, expected);
    hd_str_clear(&text);
}

static void simple_filter_is_that_of_hudi(void **state)
{
    struct hd_op *op = *state;
    hd_bloom *bloom;

    assert_int_equal(hd_bloom_new(op, HD_BLOOM_SIMPLE, 10, 0.001, 0, &bloom), HUDI_OK);
    assert_int_equal(hd_bloom_bits(bloom), 144);
    assert_int_equal(hd_bloom_hashes(bloom), 10);
    assert_int_equal(hd_bloom_add(op, bloom, hd_slice_text("k1")), HUDI_OK);
    assert_int_equal(hd_bloom_add(op, bloom, hd_slice_text("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e")),
                     HUDI_OK);
    encodes_to(op, bloom, SIMPLE);
    hd_bloom_free(op, bloom);
}

static const struct hd_slice SIX[] = {
    {(const uint8_t *)"k0", 2}, {(const uint8_t *)"k1", 2}, {(const uint8_t *)"k2", 2},
    {(const uint8_t *)"k3", 2}, {(const uint8_t *)"k4", 2}, {(const uint8_t *)"k5", 2},
};

static void dynamic_filter_grows_and_then_reuses_rows_as_that_of_hudi(void **state)
{
    struct hd_op *op = *state;
    hd_bloom *bloom;

    assert_int_equal(hd_bloom_new(op, HD_BLOOM_DYNAMIC_V0, 2, 0.1, 4, &bloom), HUDI_OK);
    assert_int_equal(hd_bloom_bits(bloom), 10);
    assert_int_equal(hd_bloom_hashes(bloom), 4);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(hd_bloom_add(op, bloom, SIX[i]), HUDI_OK);
    assert_int_equal(hd_bloom_rows(bloom), 2);
    encodes_to(op, bloom, DYNAMIC);
    hd_bloom_free(op, bloom);

    assert_int_equal(hd_bloom_new(op, HD_BLOOM_DYNAMIC_V0, 2, 0.1, 4, &bloom), HUDI_OK);
    assert_int_equal(hd_bloom_add_batch(op, bloom, SIX, 6), HUDI_OK);
    encodes_to(op, bloom, DYNAMIC);
    hd_bloom_free(op, bloom);
}

static void default_filter_has_the_size_that_hudi_writes(void **state)
{
    struct hd_op *op = *state;
    struct hd_str text = {0};
    hd_bloom *bloom;

    assert_int_equal(hd_bloom_new(op, HD_BLOOM_DYNAMIC_V0, 60000, 1e-9, 100000, &bloom), HUDI_OK);
    assert_int_equal(hd_bloom_bits(bloom), 2587966);
    assert_int_equal(hd_bloom_hashes(bloom), 30);
    assert_int_equal(hd_bloom_encode(op, bloom, &text), HUDI_OK);
    assert_int_equal(text.size, 431380);
    hd_str_clear(&text);
    hd_bloom_free(op, bloom);
}

static void decodes_what_hudi_wrote(void **state)
{
    struct hd_op *op = *state;
    hd_bloom *bloom;

    assert_int_equal(hd_bloom_decode(op, HD_BLOOM_SIMPLE, hd_slice_text(SIMPLE), &bloom), HUDI_OK);
    assert_int_equal(hd_bloom_type_of(bloom), HD_BLOOM_SIMPLE);
    assert_true(hd_bloom_may_contain(bloom, hd_slice_text("k1")));
    assert_true(hd_bloom_may_contain(bloom, hd_slice_text("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e")));
    assert_false(hd_bloom_may_contain(bloom, hd_slice_text("k2")));
    assert_false(hd_bloom_may_contain(bloom, hd_slice_text("another key")));
    encodes_to(op, bloom, SIMPLE);
    hd_bloom_free(op, bloom);

    assert_int_equal(hd_bloom_decode(op, HD_BLOOM_DYNAMIC_V0, hd_slice_text(DYNAMIC), &bloom),
                     HUDI_OK);
    assert_int_equal(hd_bloom_rows(bloom), 2);
    for (size_t i = 0; i < 6; i++)
        assert_true(hd_bloom_may_contain(bloom, SIX[i]));
    encodes_to(op, bloom, DYNAMIC);
    hd_bloom_free(op, bloom);
}

/* fuzz/corpus/bloom/hudi-0.15-base-file: the filter of a base file that Spark wrote with Hudi 0.15
 * for the keys k0000, k0002, ... k0038 and hoodie.index.bloom.num_entries = 500; a type byte before
 * it. */
static void finds_all_keys_of_a_base_file_and_makes_its_filter_again(void **state)
{
    enum { N_KEYS = 20 };
    char text_of_keys[N_KEYS][8];
    struct hd_op *op = *state;
    struct hd_slice file = test_corpus("bloom/hudi-0.15-base-file");
    struct hd_slice text = hd_slice_of(file.data + 1, file.size - 1), keys[N_KEYS];
    struct hd_str again = {0};
    uint8_t maybe[N_KEYS];
    hd_bloom *bloom;

    for (size_t i = 0; i < N_KEYS; i++)
        keys[i] =
            hd_slice_of(text_of_keys[i], (size_t)snprintf(text_of_keys[i], 8, "k%04zu", 2 * i));
    assert_int_equal(hd_bloom_decode(op, HD_BLOOM_DYNAMIC_V0, text, &bloom), HUDI_OK);
    hd_bloom_probe_batch(bloom, keys, N_KEYS, maybe);
    for (size_t i = 0; i < N_KEYS; i++)
        assert_int_equal(maybe[i], 1);
    assert_false(hd_bloom_may_contain(bloom, hd_slice_text("no such key")));
    hd_bloom_free(op, bloom);

    assert_int_equal(hd_bloom_new(op, HD_BLOOM_DYNAMIC_V0, 500, 1e-9, 100000, &bloom), HUDI_OK);
    assert_int_equal(hd_bloom_add_batch(op, bloom, keys, N_KEYS), HUDI_OK);
    assert_int_equal(hd_bloom_encode(op, bloom, &again), HUDI_OK);
    assert_true(hd_slice_equal(hd_str_slice(&again), text));
    hd_str_clear(&again);
    hd_bloom_free(op, bloom);
    test_slice_free(file);
}

#define N_MANY 20000

/* Keys of many lengths in a mixed order: 0 to 5 of each length up to 200, and many of 20 bytes. */
static struct hd_slice *many_keys(char **bytes)
{
    struct hd_slice *keys = malloc(N_MANY * sizeof *keys);
    uint32_t random = 1;

    *bytes = malloc(N_MANY * 200u);
    assert_non_null(keys);
    assert_non_null(*bytes);
    for (size_t i = 0; i < N_MANY; i++) {
        char *key = *bytes + i * 200;
        random = random * 1664525u + 1013904223u;
        size_t size = i % 20 == 0 ? 1 + random % 200 : 20;
        for (size_t b = 0; b < size; b++) {
            random = random * 1664525u + 1013904223u;
            key[b] = (char)(random >> 24);
        }
        keys[i] = hd_slice_of(key, size);
    }
    return keys;
}

static void batches_give_the_same_bytes_and_answers_as_single_keys(void **state)
{
    struct hd_op *op = *state;
    char *bytes;
    struct hd_slice *keys = many_keys(&bytes);
    uint8_t *maybe = malloc(N_MANY);
    struct hd_str text = {0};
    hd_bloom *one, *batch;

    assert_non_null(maybe);
    for (enum hd_bloom_type type = HD_BLOOM_SIMPLE; type <= HD_BLOOM_DYNAMIC_V0; type++) {
        assert_int_equal(hd_bloom_new(op, type, 3000, 0.01, 8000, &one), HUDI_OK);
        assert_int_equal(hd_bloom_new(op, type, 3000, 0.01, 8000, &batch), HUDI_OK);
        for (size_t i = 0; i < N_MANY / 2; i++)
            assert_int_equal(hd_bloom_add(op, one, keys[i]), HUDI_OK);
        for (size_t i = 0, n; i < N_MANY / 2; i += n) { /* in batches of 0, 1, 2, 4 ... keys */
            n = i < N_MANY / 4 ? i : N_MANY / 2 - i;
            assert_int_equal(hd_bloom_add_batch(op, batch, keys + i, n), HUDI_OK);
            if (n == 0)
                assert_int_equal(hd_bloom_add_batch(op, batch, keys, n = 1), HUDI_OK);
        }
        text.size = 0;
        assert_int_equal(hd_bloom_encode(op, one, &text), HUDI_OK);
        encodes_to(op, batch, text.data);

        hd_bloom_probe_batch(one, keys, N_MANY, maybe);
        size_t n_false = 0;
        for (size_t i = 0; i < N_MANY; i++) {
            assert_int_equal(maybe[i], hd_bloom_may_contain(one, keys[i]));
            assert_true(maybe[i] == 1 || i >= N_MANY / 2);
            n_false += maybe[i] == 0;
        }
        assert_true(n_false > 0);
        hd_bloom_free(op, one);
        hd_bloom_free(op, batch);
    }
    hd_str_clear(&text);
    free(maybe);
    free(keys);
    free(bytes);
}

/* The portable round is what runs where there is no AVX2. */
static void both_hash_rounds_give_murmur(void **state)
{
    hd_bloom_round *const ROUNDS[] = {hd_bloom_pick_round(), hd_bloom_round_portable};
    char bytes[HD_BLOOM_LANES][HD_BLOOM_LANE_MAX_BYTES];
    struct hd_slice keys[HD_BLOOM_LANES];
    uint16_t order[HD_BLOOM_LANES];

    (void)state;
    for (size_t i = 0; i < HD_BLOOM_LANES; i++) {
        for (size_t b = 0; b < HD_BLOOM_LANE_MAX_BYTES; b++)
            bytes[i][b] = (char)(i * 37 + b * 101);
        order[i] = (uint16_t)(HD_BLOOM_LANES - 1 - i);
    }
    for (size_t size = 1; size <= HD_BLOOM_LANE_MAX_BYTES; size++) {
        for (size_t i = 0; i < HD_BLOOM_LANES; i++)
            keys[i] = hd_slice_of(bytes[i], size);
        for (size_t r = 0; r < 2; r++) {
            struct hd_bloom_lanes lanes;
            int32_t hash[HD_BLOOM_LANES] = {0};

            hd_bloom_lanes_load(&lanes, keys, order, HD_BLOOM_LANES);
            for (size_t n = 0; n < 3; n++) {
                ROUNDS[r](&lanes);
                for (size_t i = 0; i < HD_BLOOM_LANES; i++) {
                    hash[i] = hd_murmur2_hudi(keys[order[i]].data, size, hash[i]);
                    assert_int_equal(lanes.absolute[i], (uint32_t)labs((long)hash[i]));
                }
            }
        }
    }
}

static void filter_that_was_decoded_takes_more_keys_but_no_more_rows(void **state)
{
    struct hd_op *op = *state;
    hd_bloom *bloom;

    assert_int_equal(hd_bloom_decode(op, HD_BLOOM_DYNAMIC_V0, hd_slice_text(DYNAMIC), &bloom),
                     HUDI_OK);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(hd_bloom_add(op, bloom, hd_slice_text("one more")), HUDI_OK);
    assert_int_equal(hd_bloom_rows(bloom), 2);
    assert_true(hd_bloom_may_contain(bloom, hd_slice_text("one more")));
    hd_bloom_free(op, bloom);
}

/* The oldest format: k in the place of the version, no hash type. k 3, 32 bits, key "old": bits
 * |h| mod 32 of its chain of Jenkins hashes. */
static void reads_the_format_without_version(void **state)
{
    struct hd_op *op = *state;
    uint8_t bytes[12] = {0, 0, 0, 3, 0, 0, 0, 32};
    struct hd_str text = {0};
    int32_t hash = 0;
    hd_bloom *bloom;

    for (int i = 0; i < 3; i++) {
        hash = hd_jenkins_hash("old", 3, hash);
        unsigned bit = (unsigned)(labs((long)hash) % 32);
        bytes[8 + bit / 8] |= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(hd_base64_encode(op, hd_slice_of(bytes, sizeof bytes), &text), HUDI_OK);
    assert_int_equal(hd_bloom_decode(op, HD_BLOOM_SIMPLE, hd_str_slice(&text), &bloom), HUDI_OK);
    assert_int_equal(hd_bloom_hashes(bloom), 3);
    assert_int_equal(hd_bloom_bits(bloom), 32);
    assert_true(hd_bloom_may_contain(bloom, hd_slice_text("old")));
    assert_false(hd_bloom_may_contain(bloom, hd_slice_text("new")));
    hd_bloom_free(op, bloom);
    hd_str_clear(&text);
}

static void refuses_every_truncation(void **state)
{
    struct hd_op *op = *state;

    for (enum hd_bloom_type type = HD_BLOOM_SIMPLE; type <= HD_BLOOM_DYNAMIC_V0; type++) {
        struct hd_slice text = hd_slice_text(type == HD_BLOOM_SIMPLE ? SIMPLE : DYNAMIC);
        struct hd_str whole = {0};

        assert_int_equal(hd_base64_decode(op, text, &whole), HUDI_OK);
        for (size_t n = 0; n < whole.size; n++) { /* of the bytes */
            struct hd_str cut = {0};
            hd_bloom *bloom;

            assert_int_equal(hd_base64_encode(op, hd_slice_of(whole.data, n), &cut), HUDI_OK);
            assert_int_equal(hd_bloom_decode(op, type, hd_str_slice(&cut), &bloom), HUDI_CORRUPT);
            assert_null(bloom);
            hd_op_clear_error(op);
            hd_str_clear(&cut);
        }
        for (size_t n = 0; n < text.size; n++) { /* of the text */
            struct hd_slice cut = test_cut(text, n);
            hd_bloom *bloom;

            assert_int_equal(hd_bloom_decode(op, type, cut, &bloom), HUDI_CORRUPT);
            assert_null(bloom);
            hd_op_clear_error(op);
            test_slice_free(cut);
        }
        hd_str_clear(&whole);
    }
}

static void refuses_fields_that_contradict_each_other(void **state)
{
    static const struct {
        enum hd_bloom_type type;
        size_t at;
        uint8_t value[4];
    } CHANGES[] = {
        {HD_BLOOM_SIMPLE, 0, {0xff, 0xff, 0xff, 0xfe}}, /* version -2 */
        {HD_BLOOM_SIMPLE, 4, {0, 0, 0, 0}},             /* no hashes */
        {HD_BLOOM_SIMPLE, 4, {0x7f, 0xff, 0xff, 0xff}}, /* too many */
        {HD_BLOOM_SIMPLE, 8, {2, 0, 0, 0}},             /* hash type 2 */
        {HD_BLOOM_SIMPLE, 9, {0, 0, 0, 0}},             /* no bits */
        {HD_BLOOM_SIMPLE, 9, {0xff, 0xff, 0xff, 0xff}}, /* -1 bits */
        {HD_BLOOM_SIMPLE, 9, {0x7f, 0xff, 0xff, 0xff}}, /* more than there are */
        {HD_BLOOM_SIMPLE, 9, {0, 0, 0, 0x80}},          /* fewer: bytes are left */
        {HD_BLOOM_DYNAMIC_V0, 13, {0, 0, 0, 0}},        /* no keys in a row */
        {HD_BLOOM_DYNAMIC_V0, 13, {0x80, 0, 0, 0}},     /* INT_MIN keys in a row */
        {HD_BLOOM_DYNAMIC_V0, 21, {0, 0, 0, 0}},        /* no rows */
        {HD_BLOOM_DYNAMIC_V0, 21, {0, 0, 0, 1}},        /* fewer than there are */
        {HD_BLOOM_DYNAMIC_V0, 21, {0xff, 0xff, 0xff, 0xff}},
        {HD_BLOOM_DYNAMIC_V0, 29, {0, 0, 0, 5}}, /* k of the first row */
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++) {
        struct hd_str bytes = {0}, text = {0};
        hd_bloom *bloom;

        assert_int_equal(
            hd_base64_decode(
                op, hd_slice_text(CHANGES[i].type == HD_BLOOM_SIMPLE ? SIMPLE : DYNAMIC), &bytes),
            HUDI_OK);
        memcpy(bytes.data + CHANGES[i].at, CHANGES[i].value, CHANGES[i].at == 8 ? 1 : 4);
        assert_int_equal(hd_base64_encode(op, hd_str_slice(&bytes), &text), HUDI_OK);
        assert_int_equal(hd_bloom_decode(op, CHANGES[i].type, hd_str_slice(&text), &bloom),
                         HUDI_CORRUPT);
        assert_null(bloom);
        hd_op_clear_error(op);
        hd_str_clear(&bytes);
        hd_str_clear(&text);
    }
}

static void refuses_sizes_and_keys_that_make_no_filter(void **state)
{
    static const struct {
        uint32_t n_entries;
        double fpp;
    } BAD[] = {{0, 0.1}, {10, 0}, {10, 1}, {10, -1}, {10, 2}, {UINT32_MAX, 0.1}, {INT32_MAX, 1e-9}};
    struct hd_op *op = *state;
    hd_bloom *bloom;

    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(hd_bloom_new(op, HD_BLOOM_SIMPLE, BAD[i].n_entries, BAD[i].fpp, 0, &bloom),
                         HUDI_INVALID);
        assert_null(bloom);
        hd_op_clear_error(op);
    }
    assert_int_equal(hd_bloom_new(op, HD_BLOOM_SIMPLE, 10, 0.1, 0, &bloom), HUDI_OK);
    assert_int_equal(hd_bloom_add(op, bloom, hd_slice_of(NULL, 0)), HUDI_INVALID);
    hd_op_clear_error(op);
    const struct hd_slice keys[2] = {hd_slice_text("a"), hd_slice_of(NULL, 0)};
    assert_int_equal(hd_bloom_add_batch(op, bloom, keys, 2), HUDI_INVALID);
    assert_true(hd_bloom_may_contain(bloom, hd_slice_of(NULL, 0)));
    hd_op_clear_error(op);
    hd_bloom_free(op, bloom);
}

static void names_its_types_as_hudi_does(void **state)
{
    struct hd_op *op = *state;
    enum hd_bloom_type type;

    assert_int_equal(hd_bloom_type_parse(op, hd_slice_of(NULL, 0), &type), HUDI_OK);
    assert_int_equal(type, HD_BLOOM_SIMPLE);
    assert_int_equal(hd_bloom_type_parse(op, hd_slice_text("dynamic_v0"), &type), HUDI_OK);
    assert_int_equal(type, HD_BLOOM_DYNAMIC_V0);
    assert_string_equal(hd_bloom_type_name(type), "DYNAMIC_V0");
    assert_int_equal(hd_bloom_type_parse(op, hd_slice_text("DYNAMIC_V1"), &type),
                     HUDI_NOT_IMPLEMENTED);
    hd_op_clear_error(op);
}

static hudi_status make_one(struct hd_op *op)
{
    struct hd_str text = {0};
    hd_bloom *bloom = NULL, *again = NULL;
    hudi_status status = HUDI_OK;

    HD_TRY_OUT(hd_bloom_new(op, HD_BLOOM_DYNAMIC_V0, 2, 0.1, 4, &bloom));
    HD_TRY_OUT(hd_bloom_add_batch(op, bloom, SIX, 6));
    HD_TRY_OUT(hd_bloom_encode(op, bloom, &text));
    HD_TRY_OUT(hd_bloom_decode(op, HD_BLOOM_DYNAMIC_V0, hd_str_slice(&text), &again));
out:
    hd_bloom_free(op, bloom);
    hd_bloom_free(op, again);
    hd_str_clear(&text);
    return status;
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        status = make_one(op);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(simple_filter_is_that_of_hudi),
        TEST(dynamic_filter_grows_and_then_reuses_rows_as_that_of_hudi),
        TEST(default_filter_has_the_size_that_hudi_writes),
        TEST(decodes_what_hudi_wrote),
        TEST(finds_all_keys_of_a_base_file_and_makes_its_filter_again),
        TEST(batches_give_the_same_bytes_and_answers_as_single_keys),
        TEST(both_hash_rounds_give_murmur),
        TEST(filter_that_was_decoded_takes_more_keys_but_no_more_rows),
        TEST(reads_the_format_without_version),
        TEST(refuses_every_truncation),
        TEST(refuses_fields_that_contradict_each_other),
        TEST(refuses_sizes_and_keys_that_make_no_filter),
        TEST(names_its_types_as_hudi_does),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
