/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_DECIMAL_H
#define HD_ARROW_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HD_DECIMAL_MAX_DIGITS 38

__extension__ typedef __int128 hd_int128;
__extension__ typedef unsigned __int128 hd_uint128;

/** The 16 little-endian bytes of a DECIMAL value; no alignment needed. */
static inline hd_int128 hd_decimal_load(const void *bytes)
{
    hd_int128 value;

    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline void hd_decimal_store(void *bytes, hd_int128 value)
{
    memcpy(bytes, &value, sizeof value);
}

/** 10 to the power of `n`, 0 <= n <= 38. */
hd_int128 hd_decimal_power(int32_t n);

/** Least bytes of two's complement for `precision` digits. */
uint32_t hd_decimal_bytes(int32_t precision);

/** At most `precision` decimal digits. */
bool hd_decimal_fits(hd_int128 value, int32_t precision);

enum hd_rounding {
    HD_ROUND_EXACT,   /* false when digits other than 0 would go */
    HD_ROUND_HALF_UP, /* away from zero at a half, as Java's RoundingMode.HALF_UP */
};

/** `value * 10^-from` as `*out * 10^-to`; scales may be any, also negative. False when digits are
 * lost against `rounding` or the result has more than `precision` digits. */
bool hd_decimal_rescale(hd_int128 value, int32_t from, int32_t to, int32_t precision,
                        enum hd_rounding rounding, hd_int128 *out);

/** Order of two decimals of any scales: -1, 0, 1. */
int hd_decimal_compare(hd_int128 a, int32_t scale_a, hd_int128 b, int32_t scale_b);

/** The nearest double, within a few units in the last place. */
double hd_decimal_to_double(hd_int128 value, int32_t scale);

#endif
