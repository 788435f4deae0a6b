/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/index/key_sort.h"

#include <stdlib.h>

#include "engine/record/key_range.h"

#define DIGIT_BITS 8
#define N_DIGITS 256
/* Below this a comparison sort is as fast and needs no second array. */
#define RADIX_MIN 1024

struct item {
    uint64_t
        prefix; /* eight bytes behind the common ones, big-endian, zeros behind a shorter key */
    int64_t entry;
};

static int by_key(const void *a, const void *b, void *map)
{
    const struct item *x = a, *y = b;

    if (x->prefix != y->prefix)
        return x->prefix < y->prefix ? -1 : 1;
    const int order =
        hd_key_compare(hd_spillable_map_key(map, x->entry), hd_spillable_map_key(map, y->entry));
    return order != 0 ? order : (x->entry > y->entry) - (x->entry < y->entry);
}

/* Bytes from 0xEE up are where UTF-16 and byte order of keys part. */
static bool has_high_bytes(struct hd_slice key)
{
    for (size_t i = 0; i < key.size; i++)
        if (key.data[i] >= 0xee)
            return true;
    return false;
}

static uint64_t prefix_of(struct hd_slice key, size_t skip)
{
    uint64_t prefix = 0;

    for (size_t i = 0; i < sizeof prefix; i++)
        prefix = prefix << 8 | (skip + i < key.size ? key.data[skip + i] : 0);
    return prefix;
}

/* How many bytes all keys begin with, and whether bytes give Java's order. */
static size_t common_prefix(const hd_spillable_map *map, const int64_t *entries, int64_t n,
                            bool *same_order)
{
    const struct hd_slice first = hd_spillable_map_key(map, entries[0]);
    size_t common = first.size;

    *same_order = true;
    for (int64_t i = 0; i < n; i++) {
        const struct hd_slice key = hd_spillable_map_key(map, entries[i]);
        size_t k = 0;

        while (k < common && k < key.size && key.data[k] == first.data[k])
            k++;
        common = k;
        *same_order &= !has_high_bytes(key);
    }
    return common;
}

/* Least significant digit first; a digit in which all items agree costs one pass of counting. */
static void radix_sort(struct item **items, struct item **spare, int64_t n)
{
    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
        int64_t starts[N_DIGITS] = {0}, at = 0;
        struct item *from = *items, *to = *spare;

        for (int64_t i = 0; i < n; i++)
            starts[from[i].prefix >> shift & (N_DIGITS - 1)]++;
        if (starts[from[0].prefix >> shift & (N_DIGITS - 1)] == n)
            continue;
        for (int d = 0; d < N_DIGITS; d++) {
            const int64_t count = starts[d];
            starts[d] = at;
            at += count;
        }
        for (int64_t i = 0; i < n; i++)
            to[starts[from[i].prefix >> shift & (N_DIGITS - 1)]++] = from[i];
        *items = to;
        *spare = from;
    }
}

static void sort_ties(struct item *items, int64_t n, const hd_spillable_map *map)
{
    for (int64_t i = 0; i < n;) {
        int64_t end = i + 1;

        while (end < n && items[end].prefix == items[i].prefix)
            end++;
        if (end - i > 1)
            qsort_r(items + i, (size_t)(end - i), sizeof *items, by_key, (void *)map);
        i = end;
    }
}

hudi_status hd_sort_entries_by_key(struct hd_op *op, const hd_spillable_map *map, int64_t *entries,
                                   int64_t n, bool *same_order)
{
    hudi_status status = HUDI_OK;
    struct item *items = NULL, *spare = NULL;

    *same_order = true;
    if (n == 0)
        return HUDI_OK;
    const size_t common = common_prefix(map, entries, n, same_order);
    HD_TRY_OUT(hd_alloc_raw(op, (size_t)n, sizeof *items, &items));
    for (int64_t i = 0; i < n; i++)
        items[i] = (struct item){
            .prefix = *same_order ? prefix_of(hd_spillable_map_key(map, entries[i]), common) : 0,
            .entry = entries[i]};
    if (n < RADIX_MIN || !*same_order) {
        qsort_r(items, (size_t)n, sizeof *items, by_key, (void *)map);
    } else {
        HD_TRY_OUT(hd_alloc_raw(op, (size_t)n, sizeof *spare, &spare));
        radix_sort(&items, &spare, n);
        sort_ties(items, n, map);
    }
    for (int64_t i = 0; i < n; i++)
        entries[i] = items[i].entry;
out:
    hd_free(op, items);
    hd_free(op, spare);
    return status;
}
