/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/decimal.h"

#include <math.h>

uint32_t hd_decimal_bytes(int32_t precision)
{
    return (uint32_t)ceil((precision * log2(10) + 1) / 8);
}

hd_int128 hd_decimal_power(int32_t n)
{
    static const int64_t SMALL[] = {INT64_C(1),
                                    INT64_C(10),
                                    INT64_C(100),
                                    INT64_C(1000),
                                    INT64_C(10000),
                                    INT64_C(100000),
                                    INT64_C(1000000),
                                    INT64_C(10000000),
                                    INT64_C(100000000),
                                    INT64_C(1000000000),
                                    INT64_C(10000000000),
                                    INT64_C(100000000000),
                                    INT64_C(1000000000000),
                                    INT64_C(10000000000000),
                                    INT64_C(100000000000000),
                                    INT64_C(1000000000000000),
                                    INT64_C(10000000000000000),
                                    INT64_C(100000000000000000),
                                    INT64_C(1000000000000000000)};

    if (n <= 18)
        return SMALL[n];
    if (n <= 36)
        return (hd_int128)SMALL[18] * SMALL[n - 18];
    return (hd_int128)SMALL[18] * SMALL[18] * SMALL[n - 36];
}

bool hd_decimal_fits(hd_int128 value, int32_t precision)
{
    const hd_int128 limit = hd_decimal_power(precision);

    return value < limit && value > -limit;
}

/* value / 10^n; false when that is not exact and must be. */
static bool divide(hd_int128 value, int64_t n, enum hd_rounding rounding, hd_int128 *out)
{
    if (n > HD_DECIMAL_MAX_DIGITS) { /* less than half a unit, as |value| < 2^127 < 2 * 10^38 */
        *out = 0;
        return value == 0 || rounding == HD_ROUND_HALF_UP;
    }
    const hd_int128 power = hd_decimal_power((int32_t)n);
    hd_int128 quotient = value / power;
    const hd_int128 rest = value % power;
    if (rest != 0 && rounding == HD_ROUND_EXACT)
        return false;
    const hd_int128 size = rest < 0 ? -rest : rest;
    if (size >= power - size)
        quotient += value < 0 ? -1 : 1;
    *out = quotient;
    return true;
}

bool hd_decimal_rescale(hd_int128 value, int32_t from, int32_t to, int32_t precision,
                        enum hd_rounding rounding, hd_int128 *out)
{
    const int64_t up = (int64_t)to - from;

    *out = 0;
    if (value == 0)
        return true;
    if (up < 0) {
        if (!divide(value, -up, rounding, out))
            return false;
    } else if (up > HD_DECIMAL_MAX_DIGITS ||
               __builtin_mul_overflow(value, hd_decimal_power((int32_t)up), out)) {
        return false;
    }
    return hd_decimal_fits(*out, precision);
}

static int sign_of(hd_int128 value)
{
    return (value > 0) - (value < 0);
}

int hd_decimal_compare(hd_int128 a, int32_t scale_a, hd_int128 b, int32_t scale_b)
{
    if (scale_a > scale_b)
        return -hd_decimal_compare(b, scale_b, a, scale_a);
    if (sign_of(a) != sign_of(b) || a == 0)
        return (sign_of(a) > sign_of(b)) - (sign_of(a) < sign_of(b));
    const int64_t up = (int64_t)scale_b - scale_a;
    hd_int128 scaled;
    if (up > HD_DECIMAL_MAX_DIGITS ||
        __builtin_mul_overflow(a, hd_decimal_power((int32_t)up), &scaled))
        return sign_of(a); /* larger in size than any b */
    return (scaled > b) - (scaled < b);
}

double hd_decimal_to_double(hd_int128 value, int32_t scale)
{
    return (double)((long double)value / powl(10.0L, (long double)scale));
}
