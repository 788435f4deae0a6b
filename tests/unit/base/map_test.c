/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "support/fault.h"

static struct hd_slice key_of(char text[32], unsigned i)
{
    snprintf(text, 32, "2024/%02u/file-%u.parquet", i % 12, i);
    return hd_slice_text(text);
}

static void entries_are_found_and_keep_their_order(void **state)
{
    enum { N = 20000 };
    struct hd_op *op = *state;
    struct hd_map map = {0};
    struct hd_map_entry *entry;
    char text[32];
    bool added;

    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(hd_map_put(op, &map, key_of(text, i), i * 3, &entry, &added), HUDI_OK);
        assert_true(added);
        assert_int_equal(entry->value, i * 3);
    }
    assert_int_equal(map.n_entries, N);
    for (unsigned i = 0; i < N; i++) {
        const struct hd_slice key = key_of(text, i);

        entry = hd_map_find(&map, key);
        assert_ptr_equal(entry, &map.entries[i]);
        assert_int_equal(entry->value, i * 3);
        assert_true(hd_slice_equal(entry->key, key));
        assert_int_equal(entry->key.data[entry->key.size], '\0');
        assert_null(hd_map_find(&map, key_of(text, N + i)));
    }
    hd_map_clear(&map);
    assert_null(hd_map_find(&map, key_of(text, 1)));
}

static void a_second_put_finds_the_first(void **state)
{
    struct hd_op *op = *state;
    struct hd_map map = {0};
    struct hd_map_entry *entry;
    bool added = false;

    assert_int_equal(hd_map_put(op, &map, hd_slice_text("a"), 1, NULL, NULL), HUDI_OK);
    assert_int_equal(hd_map_put(op, &map, hd_slice_text("a"), 2, &entry, &added), HUDI_OK);
    assert_false(added);
    assert_int_equal(entry->value, 1);
    entry->value = 9;
    assert_int_equal(hd_map_find(&map, hd_slice_text("a"))->value, 9);
    assert_int_equal(map.n_entries, 1);
    hd_map_clear(&map);
}

static void keys_are_bytes(void **state)
{
    struct hd_op *op = *state;
    struct hd_map map = {0};

    assert_null(hd_map_find(&map, hd_slice_of(NULL, 0)));
    assert_int_equal(hd_map_put(op, &map, hd_slice_of(NULL, 0), 1, NULL, NULL), HUDI_OK);
    assert_int_equal(hd_map_put(op, &map, hd_slice_of("\0", 1), 2, NULL, NULL), HUDI_OK);
    assert_int_equal(hd_map_put(op, &map, hd_slice_of("\0\0", 2), 3, NULL, NULL), HUDI_OK);
    assert_int_equal(hd_map_find(&map, hd_slice_text(""))->value, 1);
    assert_int_equal(hd_map_find(&map, hd_slice_of("\0", 1))->value, 2);
    assert_int_equal(hd_map_find(&map, hd_slice_of("\0\0", 2))->value, 3);
    assert_null(hd_map_find(&map, hd_slice_of("\0\0\0", 3)));
    hd_map_clear(&map);
}

static void keys_are_copies(void **state)
{
    struct hd_op *op = *state;
    struct hd_map map = {0};
    char text[] = "before";

    assert_int_equal(hd_map_put(op, &map, hd_slice_text(text), 1, NULL, NULL), HUDI_OK);
    memcpy(text, "after!", 6);
    assert_non_null(hd_map_find(&map, hd_slice_text("before")));
    assert_null(hd_map_find(&map, hd_slice_text(text)));
    hd_map_clear(&map);
}

static hudi_status fill(struct hd_op *op, struct hd_map *map)
{
    char text[32];

    for (unsigned i = 0; i < 100; i++)
        HD_TRY(hd_map_put(op, map, key_of(text, i), i, NULL, NULL));
    return HUDI_OK;
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;
    char text[32];
    int nth = 1;

    for (; status != HUDI_OK; nth++) {
        struct hd_map map = {0};

        test_fault_arm(op, nth);
        status = fill(op, &map);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        for (unsigned i = 0; i < map.n_entries; i++)
            assert_ptr_equal(hd_map_find(&map, key_of(text, i)), &map.entries[i]);
        assert_int_equal(fill(op, &map), HUDI_OK); /* goes on where it stopped */
        assert_int_equal(map.n_entries, 100);
        for (unsigned i = 0; i < map.n_entries; i++)
            assert_int_equal(hd_map_find(&map, key_of(text, i))->value, i);
        hd_map_clear(&map);
    }
    assert_in_range(nth, 8, 100);
}

/* The copies end where their block ends, so that the sanitizer sees a read beyond the key. */
static void the_hash_depends_on_all_bytes_and_nothing_else(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 100; size++) {
        uint8_t *const bytes = malloc(size + 1);

        assert_non_null(bytes);
        for (size_t i = 0; i < size; i++)
            bytes[1 + i] = (uint8_t)(i * 37 + size);
        const uint64_t hash = hd_hash_bytes(bytes + 1, size);
        memmove(bytes, bytes + 1, size);
        assert_true(hd_hash_bytes(bytes, size) == hash); /* whatever the alignment */
        for (size_t bit = 0; bit < size * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            const uint64_t other = hd_hash_bytes(bytes, size);
            assert_in_range(__builtin_popcountll(hash ^ other), 8, 56);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        free(bytes);
    }
    assert_false(hd_hash_bytes("\0", 1) == hd_hash_bytes("\0\0", 2));
    assert_false(hd_hash_bytes(NULL, 0) == hd_hash_bytes("\0", 1));
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* 100,000 names that differ in few bytes: no collision in 64 bits, few in the low 16. */
static void similar_names_spread(void **state)
{
    enum { N = 100000 };
    static uint64_t hashes[N];
    static uint32_t buckets[1 << 16];
    char text[32];

    (void)state;
    for (unsigned i = 0; i < N; i++) {
        const struct hd_slice key = key_of(text, i);

        hashes[i] = hd_hash_bytes(key.data, key.size);
        buckets[hashes[i] & 0xFFFF]++;
    }
    qsort(hashes, N, sizeof *hashes, compare_u64);
    for (unsigned i = 1; i < N; i++)
        assert_false(hashes[i] == hashes[i - 1]);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(buckets); i++)
        assert_in_range(buckets[i], 0, 15); /* the mean is 1.5 */
}

int main(void)
{
#define WITH_OP(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        WITH_OP(entries_are_found_and_keep_their_order),
        WITH_OP(a_second_put_finds_the_first),
        WITH_OP(keys_are_bytes),
        WITH_OP(keys_are_copies),
        WITH_OP(survives_every_fault),
        cmocka_unit_test(the_hash_depends_on_all_bytes_and_nothing_else),
        cmocka_unit_test(similar_names_spread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
