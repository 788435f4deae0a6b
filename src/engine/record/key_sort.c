/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/key_sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/record/key_range.h"

#define DIGIT_BITS 8
#define N_DIGITS 256
/* Below this a comparison sort is as fast. */
#define RADIX_MIN 1024
#define MAX_LEVELS 32 /* of keys that agree in eight bytes; then they are compared */

struct item {
    uint64_t
        prefix; /* eight bytes behind the common ones, big-endian, zeros behind a shorter key */
    int64_t number;
};

static struct hd_slice key_of(const struct hd_keyed *keyed, const struct item *item)
{
    return keyed->key_of(keyed->self, item->number);
}

static int by_key(const void *a, const void *b, void *keyed)
{
    const struct item *x = a, *y = b;

    if (x->prefix != y->prefix)
        return x->prefix < y->prefix ? -1 : 1;
    const int order = hd_key_compare(key_of(keyed, x), key_of(keyed, y));
    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
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

/* How many bytes all keys begin with; `skip` are known. */
static size_t common_prefix(const struct hd_keyed *keyed, const struct item *items, int64_t n,
                            size_t skip)
{
    const struct hd_slice first = key_of(keyed, &items[0]);
    size_t common = first.size;

    for (int64_t i = 1; i < n && common > skip; i++) {
        const struct hd_slice key = key_of(keyed, &items[i]);
        size_t k = skip;

        while (k < common && k < key.size && key.data[k] == first.data[k])
            k++;
        common = k;
    }
    return common;
}

/* Least significant digit first; a digit in which all items agree costs one pass of counting. True
 * when the items end up in `spare`. */
static bool radix_sort(struct item *items, struct item *spare, int64_t n)
{
    struct item *from = items, *to = spare;

    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
        int64_t starts[N_DIGITS] = {0}, at = 0;

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
        struct item *const swap = from;
        from = to;
        to = swap;
    }
    return from == spare;
}

/* Items with one prefix stand in the order of their numbers, as they came; so are they in the order
 * of their keys where all of these end within the prefix, by the same byte. */
static bool are_equal(const struct hd_keyed *keyed, const struct item *items, int64_t n, size_t end)
{
    const size_t size = key_of(keyed, &items[0]).size;

    if (size > end)
        return false;
    for (int64_t i = 1; i < n; i++)
        if (key_of(keyed, &items[i]).size != size)
            return false;
    return true;
}

/* `n` items whose keys agree in `skip` bytes, in the order of their numbers. */
static void sort_items(const struct hd_keyed *keyed, struct item *items, struct item *spare,
                       int64_t n, size_t skip, int level)
{
    const bool by_digits = level < MAX_LEVELS && n >= RADIX_MIN;

    if (by_digits)
        skip = common_prefix(keyed, items, n, skip);
    for (int64_t i = 0; i < n; i++)
        items[i].prefix = prefix_of(key_of(keyed, &items[i]), skip);
    if (!by_digits) {
        qsort_r(items, (size_t)n, sizeof *items, by_key, (void *)keyed);
        return;
    }
    if (radix_sort(items, spare, n))
        memcpy(items, spare, (size_t)n * sizeof *items);
    for (int64_t i = 0, end; i < n; i = end) {
        end = i + 1;
        while (end < n && items[end].prefix == items[i].prefix)
            end++;
        if (end - i > 1 && !are_equal(keyed, items + i, end - i, skip + sizeof items->prefix))
            sort_items(keyed, items + i, spare, end - i, skip, level + 1);
    }
}

static void fill_items(const struct hd_keyed *keyed, const int64_t *numbers, int64_t n,
                       struct item *items, bool *same_order)
{
    for (int64_t i = 0; i < n; i++) {
        assert(i == 0 || numbers[i - 1] < numbers[i]);
        items[i] = (struct item){.number = numbers[i]};
        *same_order = *same_order && !has_high_bytes(key_of(keyed, &items[i]));
    }
}

hudi_status hd_sort_by_key(struct hd_op *op, const struct hd_keyed *keyed, int64_t *numbers,
                           int64_t n, bool *same_order)
{
    hudi_status status = HUDI_OK;
    struct item *items = NULL, *spare = NULL;

    *same_order = true;
    if (n == 0)
        return HUDI_OK;
    HD_TRY_OUT(hd_alloc_raw(op, (size_t)n, sizeof *items, &items));
    HD_TRY_OUT(hd_alloc_raw(op, (size_t)n, sizeof *spare, &spare));
    fill_items(keyed, numbers, n, items, same_order);
    if (*same_order)
        sort_items(keyed, items, spare, n, 0, 0);
    else
        qsort_r(items, (size_t)n, sizeof *items, by_key, (void *)keyed);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = items[i].number;
out:
    hd_free(op, items);
    hd_free(op, spare);
    return status;
}
