/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/bits.h"

int64_t hd_bits_count(const uint8_t *bits, int64_t at, int64_t n)
{
    const uint64_t end = (uint64_t)(at + n);
    int64_t sum = 0;

    for (uint64_t i = (uint64_t)at; i < end; i += 56) {
        const unsigned step = end - i < 56 ? (unsigned)(end - i) : 56;
        sum += __builtin_popcountll(hd_bits_load(bits, i, step, end));
    }
    return sum;
}
