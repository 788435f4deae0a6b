/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/java_text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "arrow/text.h"

/*
 * Double.toString and Float.toString as the JDK wrote them before 19: digits are generated until
 * the text is nearer to the value than half a unit in the last place, by slightly different tests
 * for small and for large numbers, and a number in E notation has at least two digits generated.
 * Most texts are the shortest; 2.0E23 is not ("1.9999999999999998E23"), and keys written by Hudi on
 * JDK 8, 11 and 17 hold those.
 *
 * A value is B / S with B = f * 2^b2 * 5^b5, S = 2^s2 * 5^s5, and M = 2^m2 * 5^m5 is half a unit in
 * the last place on the same scale. The loop takes the next digit B / S and goes on with ten times
 * the rest, while the rest is neither below M (low) nor within M of the next digit (high).
 */

#define MAX_DIGITS 20

struct digits {
    char at[MAX_DIGITS + 1];
    int n;
    int exponent; /* the value is 0.DIGITS times 10 to this */
};

/* How B, S and M are made up. */
struct scale {
    int b2, b5, s2, s5, m2, m5;
    uint64_t fraction;
    int fraction_bits;
};

/* Where the digit loop stopped. */
struct stop {
    bool low, high;
    int difference; /* of twice the rest to a whole digit: below, at, above the middle */
};

/* ---- integers of any size that occurs here: 5^345 * 2^130 and less ------------------------ */

#define BIG_WORDS 48

struct big {
    uint32_t words[BIG_WORDS];
    int n;
};

static void big_multiply(struct big *x, uint32_t factor)
{
    uint64_t carry = 0;

    for (int i = 0; i < x->n; i++) {
        carry += (uint64_t)x->words[i] * factor;
        x->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0)
        x->words[x->n++] = (uint32_t)carry;
}

static void big_shift(struct big *x, int bits)
{
    const int words = bits / 32;

    for (int i = x->n - 1; i >= 0; i--)
        x->words[i + words] = x->words[i];
    for (int i = 0; i < words; i++)
        x->words[i] = 0;
    x->n += words;
    if (bits % 32 != 0)
        big_multiply(x, (uint32_t)1 << (bits % 32));
}

/* value * 5^fives * 2^twos */
static void big_set(struct big *x, uint64_t value, int fives, int twos)
{
    memset(x, 0, sizeof(*x));
    x->words[0] = (uint32_t)value;
    x->words[1] = (uint32_t)(value >> 32);
    x->n = x->words[1] != 0 ? 2 : 1;
    for (; fives >= 13; fives -= 13)
        big_multiply(x, 1220703125);
    for (; fives > 0; fives--)
        big_multiply(x, 5);
    big_shift(x, twos);
}

static int big_compare(const struct big *a, const struct big *b)
{
    int n = a->n > b->n ? a->n : b->n;

    for (int i = n - 1; i >= 0; i--) {
        const uint32_t x = i < a->n ? a->words[i] : 0;
        const uint32_t y = i < b->n ? b->words[i] : 0;

        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static void big_subtract(struct big *a, const struct big *b)
{
    uint64_t borrow = 0;

    for (int i = 0; i < a->n; i++) {
        const uint64_t y = (i < b->n ? b->words[i] : 0) + borrow;

        borrow = a->words[i] < y;
        a->words[i] = (uint32_t)(a->words[i] - y);
    }
    while (a->n > 1 && a->words[a->n - 1] == 0)
        a->n--;
}

static void big_add(struct big *a, const struct big *b)
{
    const int n = a->n > b->n ? a->n : b->n;
    uint64_t carry = 0;

    for (int i = 0; i < n; i++) {
        carry += (uint64_t)(i < a->n ? a->words[i] : 0) + (i < b->n ? b->words[i] : 0);
        a->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    a->n = n;
    if (carry != 0)
        a->words[a->n++] = (uint32_t)carry;
}

/* The digit value / divisor; value becomes ten times the rest. */
static int big_next_digit(struct big *value, const struct big *divisor)
{
    int digit = 0;

    while (big_compare(value, divisor) >= 0) {
        big_subtract(value, divisor);
        digit++;
    }
    big_multiply(value, 10);
    return digit;
}

/* ---- digits ------------------------------------------------------------------------------- */

/* Bits of 5^n. */
static int bits_of_five(int n)
{
    static const uint8_t bits[] = {0,  3,  5,  7,  10, 12, 14, 17, 19, 21, 24, 26, 28, 31,
                                   33, 35, 38, 40, 42, 45, 47, 49, 52, 54, 56, 59, 61};

    return n < (int)sizeof(bits) ? bits[n] : n * 3;
}

static uint64_t power_of_five(int n)
{
    uint64_t x = 1;

    while (n-- > 0)
        x *= 5;
    return x;
}

/* In E notation the first digit never ends the loop. */
static bool is_exponent_form(int decimal_exponent)
{
    return decimal_exponent < -3 || decimal_exponent >= 8;
}

static void big_digits(const struct scale *k, int *decimal_exponent, struct digits *out,
                       struct stop *stop)
{
    struct big b, s, m, tens, sum;

    big_set(&s, 1, k->s5, k->s2);
    big_set(&b, k->fraction, k->b5, k->b2);
    big_set(&m, 1, k->m5 + 1, k->m2 + 1);
    big_set(&tens, 1, k->s5 + 1, k->s2 + 1);
    for (bool first = true; first || (!stop->low && !stop->high); first = false) {
        if (!first)
            big_multiply(&m, 10);
        const int digit = big_next_digit(&b, &s);

        stop->low = big_compare(&b, &m) < 0;
        sum = b;
        big_add(&sum, &m);
        stop->high = big_compare(&sum, &tens) >= 0;
        if (first && digit == 0 && !stop->high)
            --*decimal_exponent;
        else
            out->at[out->n++] = (char)('0' + digit);
        if (first && is_exponent_form(*decimal_exponent))
            stop->low = stop->high = false;
    }
    big_multiply(&b, 2);
    stop->difference = big_compare(&b, &tens);
}

/* The JDK does this in int where it fits, else in long, and both may wrap around. */
static int64_t wrap(uint64_t x, bool narrow)
{
    return narrow ? (int64_t)(int32_t)(uint32_t)x : (int64_t)x;
}

static void small_digits(const struct scale *k, bool narrow, int *decimal_exponent,
                         struct digits *out, struct stop *stop)
{
    uint64_t b = (k->fraction * power_of_five(k->b5)) << k->b2;
    const uint64_t s = power_of_five(k->s5) << k->s2;
    uint64_t m = power_of_five(k->m5) << k->m2;
    const int64_t tens = (int64_t)(s * 10);

    for (bool first = true; first || (!stop->low && !stop->high); first = false) {
        const uint64_t digit = b / s;

        b = 10 * (b % s);
        m = (uint64_t)wrap(m * 10, narrow);
        stop->low = (int64_t)b < (int64_t)m;
        stop->high = wrap(b + m, narrow) > tens;
        if (!first && (int64_t)m <= 0)
            stop->low = stop->high = true;
        if (first && digit == 0 && !stop->high)
            --*decimal_exponent;
        else
            out->at[out->n++] = (char)('0' + digit);
        if (first && is_exponent_form(*decimal_exponent))
            stop->low = stop->high = false;
    }
    const int64_t difference = wrap(b * 2 - (uint64_t)tens, narrow);
    stop->difference = (difference > 0) - (difference < 0);
}

static void round_up(struct digits *out)
{
    int i = out->n - 1;

    while (i > 0 && out->at[i] == '9')
        out->at[i--] = '0';
    if (out->at[i] == '9') { /* all were nines */
        out->at[0] = '1';
        out->exponent++;
        return;
    }
    out->at[i]++;
}

/* A whole number below 2^63; the last `insignificant` digits say nothing. */
static void whole_digits(uint64_t value, int insignificant, struct digits *out)
{
    char text[24];
    int n = 0;
    int exponent = insignificant;

    if (insignificant > 0) {
        uint64_t power = 1;

        for (int i = 0; i < insignificant; i++)
            power *= 10;
        const uint64_t rest = value % power;

        value = value / power + (rest >= power / 2);
    }
    for (; value % 10 == 0; value /= 10)
        exponent++;
    for (; value != 0; value /= 10)
        text[n++] = (char)('0' + value % 10);
    for (int i = 0; i < n; i++)
        out->at[i] = text[n - 1 - i];
    out->n = n;
    out->exponent = exponent + n;
}

static int estimate_exponent(uint64_t fraction, int binary_exponent)
{
    const uint64_t bits = (fraction & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
    double mantissa;

    memcpy(&mantissa, &bits, sizeof(mantissa));
    return (int)floor((mantissa - 1.5) * 0.289529654 + 0.176091259 +
                      (double)binary_exponent * 0.301029995663981);
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

/* `fraction` has bit 52 set and is the value times 2^(52 - binary_exponent). */
static void make_digits(int binary_exponent, uint64_t fraction, int significant_bits,
                        struct digits *out)
{
    const int tail_zeros = __builtin_ctzll(fraction);
    const int fraction_bits = 53 - tail_zeros;
    const int tiny_bits = max_int(0, fraction_bits - binary_exponent - 1);

    if (tiny_bits == 0 && binary_exponent <= 62) {
        const int excess = binary_exponent - significant_bits - 1;

        whole_digits(binary_exponent >= 52 ? fraction << (binary_exponent - 52)
                                           : fraction >> (52 - binary_exponent),
                     excess > 1 ? excess * 30103 / 100000 : 0, out);
        return;
    }
    int exponent = estimate_exponent(fraction, binary_exponent);
    struct scale k = {.b5 = max_int(0, -exponent), .s5 = max_int(0, exponent)};

    k.b2 = k.b5 + tiny_bits + binary_exponent;
    k.s2 = k.s5 + tiny_bits;
    k.m5 = k.b5;
    k.m2 = k.b2 - significant_bits;
    k.fraction = fraction >> tail_zeros;
    k.b2 -= fraction_bits - 1;
    const int common = k.b2 < k.s2 ? k.b2 : k.s2;
    k.b2 -= common;
    k.s2 -= common;
    k.m2 -= common + (fraction_bits == 1);
    if (k.m2 < 0) {
        k.b2 -= k.m2;
        k.s2 -= k.m2;
        k.m2 = 0;
    }
    const int b_bits = fraction_bits + k.b2 + bits_of_five(k.b5);
    const int tens_bits = k.s2 + 1 + bits_of_five(k.s5 + 1);
    struct stop stop = {0};

    if (b_bits < 64 && tens_bits < 64)
        small_digits(&k, b_bits < 32 && tens_bits < 32, &exponent, out, &stop);
    else
        big_digits(&k, &exponent, out, &stop);
    out->exponent = exponent + 1;
    if (stop.high && (!stop.low || stop.difference > 0 ||
                      (stop.difference == 0 && (out->at[out->n - 1] & 1) != 0)))
        round_up(out);
}

static size_t put(char *out, const char *text, size_t n)
{
    memcpy(out, text, n);
    return n;
}

static size_t write_digits(const struct digits *d, bool negative, char *out)
{
    const int e = d->exponent;
    size_t n = 0;

    if (negative)
        out[n++] = '-';
    if (e > 0 && e < 8) {
        for (int i = 0; i < max_int(e, d->n); i++) {
            if (i == e)
                out[n++] = '.';
            out[n++] = i < d->n ? d->at[i] : '0';
        }
        return d->n > e ? n : n + put(out + n, ".0", 2);
    }
    if (e <= 0 && e > -3) {
        n += put(out + n, "0.", 2);
        for (int i = 0; i < -e; i++)
            out[n++] = '0';
        return n + put(out + n, d->at, (size_t)d->n);
    }
    out[n++] = d->at[0];
    out[n++] = '.';
    n += d->n > 1 ? put(out + n, d->at + 1, (size_t)d->n - 1) : put(out + n, "0", 1);
    out[n++] = 'E';
    return n + hd_java_long_format(e - 1, out + n);
}

static size_t format_special(bool negative, bool is_nan, bool is_zero, char *out)
{
    if (is_nan)
        return put(out, "NaN", 3);
    if (is_zero)
        return negative ? put(out, "-0.0", 4) : put(out, "0.0", 3);
    return negative ? put(out, "-Infinity", 9) : put(out, "Infinity", 8);
}

size_t hd_java_double_format(double value, char out[HD_JAVA_TEXT_BYTES])
{
    struct digits digits = {0};
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    const bool negative = bits >> 63 != 0;
    uint64_t fraction = bits & 0xfffffffffffffULL;
    int exponent = (int)(bits >> 52 & 0x7ff);
    int significant_bits = 53;

    if (exponent == 0x7ff || (exponent == 0 && fraction == 0))
        return format_special(negative, fraction != 0, exponent == 0, out);
    if (exponent == 0) {
        const int leading_zeros = __builtin_clzll(fraction);

        fraction <<= leading_zeros - 11;
        exponent = 12 - leading_zeros;
        significant_bits = 64 - leading_zeros;
    } else {
        fraction |= 1ULL << 52;
    }
    make_digits(exponent - 1023, fraction, significant_bits, &digits);
    return write_digits(&digits, negative, out);
}

size_t hd_java_float_format(float value, char out[HD_JAVA_TEXT_BYTES])
{
    struct digits digits = {0};
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    const bool negative = bits >> 31 != 0;
    uint32_t fraction = bits & 0x7fffff;
    int exponent = (int)(bits >> 23 & 0xff);
    int significant_bits = 24;

    if (exponent == 0xff || (exponent == 0 && fraction == 0))
        return format_special(negative, fraction != 0, exponent == 0, out);
    if (exponent == 0) {
        const int leading_zeros = __builtin_clz(fraction);

        fraction <<= leading_zeros - 8;
        exponent = 9 - leading_zeros;
        significant_bits = 32 - leading_zeros;
    } else {
        fraction |= 1U << 23;
    }
    make_digits(exponent - 127, (uint64_t)fraction << 29, significant_bits, &digits);
    return write_digits(&digits, negative, out);
}

double hd_java_float_to_double(float value)
{
    char text[HD_JAVA_TEXT_BYTES];
    double wide = value;

    if (!isfinite(value) || (fabsf(value) < 0x1p24F && truncf(value) == value))
        return wide; /* its text has all its digits */
    const bool is_number =
        hd_parse_double(hd_slice_of(text, hd_java_float_format(value, text)), &wide);
    assert(is_number);
    (void)is_number;
    return wide;
}
