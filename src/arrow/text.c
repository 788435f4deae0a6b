/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/text.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "arrow/java_text.h"

#define DAY_SECONDS 86400
#define MAX_NUMBER_BYTES 1000 /* a longer text is no number anybody meant */
#define MAX_EXPONENT 100000

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct hd_slice trimmed(struct hd_slice text)
{
    while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = hd_slice_of(text.data + 1, text.size - 1);
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
        text.size--;
    return text;
}

static bool is_word(struct hd_slice text, const char *word)
{
    return text.size == strlen(word) && strncasecmp((const char *)text.data, word, text.size) == 0;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A text taken apart: digits * 10^exponent, without leading zeros or a point. */
struct number {
    bool negative;
    int64_t exponent;
    size_t n_digits;
    char digits[MAX_NUMBER_BYTES];
};

static bool scan_exponent(const char **at, const char *end, int64_t *out)
{
    const char *c = *at;
    int64_t value = 0;

    if (c == end || (*c != 'e' && *c != 'E'))
        return true;
    c++;
    const bool negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+'))
        c++;
    if (c == end)
        return false;
    for (; c < end && is_digit(*c); c++)
        value = value < MAX_EXPONENT ? value * 10 + (*c - '0') : value;
    *out += negative ? -value : value;
    *at = c;
    return true;
}

static bool scan_number(struct hd_slice text, struct number *out)
{
    text = trimmed(text);
    if (text.size == 0 || text.size > MAX_NUMBER_BYTES)
        return false;
    const char *at = (const char *)text.data, *end = at + text.size;
    bool point = false, any = false;

    out->negative = *at == '-';
    out->exponent = 0;
    out->n_digits = 0;
    if (*at == '-' || *at == '+')
        at++;
    for (; at < end; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*at))
            break;
        any = true;
        out->exponent -= point;
        if (out->n_digits > 0 || *at != '0')
            out->digits[out->n_digits++] = *at;
    }
    return any && scan_exponent(&at, end, &out->exponent) && at == end;
}

bool hd_parse_decimal(struct hd_slice text, int32_t precision, int32_t scale,
                      enum hd_rounding rounding, hd_int128 *out)
{
    struct number n;
    hd_int128 value = 0;

    if (!scan_number(text, &n))
        return false;
    while (n.n_digits > 0 && n.digits[n.n_digits - 1] == '0') {
        n.n_digits--;
        n.exponent++;
    }
    const size_t kept = n.n_digits < HD_DECIMAL_MAX_DIGITS ? n.n_digits : HD_DECIMAL_MAX_DIGITS;
    const int64_t dropped = (int64_t)(n.n_digits - kept);
    for (size_t i = 0; i < kept; i++)
        value = value * 10 + (n.digits[i] - '0');
    /* Digits behind the 38th count only when the result ends just before them. */
    const int64_t from = -(n.exponent + dropped);
    if (dropped > 0) {
        if (rounding == HD_ROUND_EXACT || from < scale)
            return false;
        if (from == scale && n.digits[kept] >= '5')
            value++;
    }
    if (n.negative)
        value = -value;
    if (value == 0) {
        *out = 0;
        return true;
    }
    return from > INT32_MIN && from < INT32_MAX &&
           hd_decimal_rescale(value, (int32_t)from, scale, precision, rounding, out);
}

bool hd_parse_integer(struct hd_slice text, int64_t *out)
{
    hd_int128 value;

    if (!hd_parse_decimal(text, 19, 0, HD_ROUND_EXACT, &value) || value > INT64_MAX ||
        value < INT64_MIN)
        return false;
    *out = (int64_t)value;
    return true;
}

/* The C library reads digits and exponent alike in every locale; only the point differs. */
static bool number_text(struct hd_slice text, char out[MAX_NUMBER_BYTES + 32])
{
    struct number n;

    if (!scan_number(text, &n))
        return false;
    if (n.n_digits == 0)
        n.digits[n.n_digits++] = '0';
    size_t size = 0;
    if (n.negative)
        out[size++] = '-';
    memcpy(out + size, n.digits, n.n_digits);
    size += n.n_digits;
    out[size++] = 'e';
    size += hd_java_long_format(n.exponent, out + size);
    out[size] = '\0';
    return true;
}

static bool special_number(struct hd_slice text, double *out)
{
    text = trimmed(text);
    const bool negative = text.size > 0 && text.data[0] == '-';
    if (text.size > 0 && (text.data[0] == '-' || text.data[0] == '+'))
        text = hd_slice_of(text.data + 1, text.size - 1);
    if (is_word(text, "nan"))
        *out = NAN;
    else if (is_word(text, "inf") || is_word(text, "infinity"))
        *out = negative ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

bool hd_parse_double(struct hd_slice text, double *out)
{
    char plain[MAX_NUMBER_BYTES + 32];

    if (!number_text(text, plain))
        return special_number(text, out);
    *out = strtod(plain, NULL);
    return isfinite(*out);
}

bool hd_parse_float(struct hd_slice text, float *out)
{
    char plain[MAX_NUMBER_BYTES + 32];
    double special;

    if (!number_text(text, plain)) {
        if (!special_number(text, &special))
            return false;
        *out = (float)special;
        return true;
    }
    *out = strtof(plain, NULL);
    return isfinite(*out);
}

bool hd_parse_bool(struct hd_slice text, bool *out)
{
    text = trimmed(text);
    *out = is_word(text, "true") || is_word(text, "1");
    return *out || is_word(text, "false") || is_word(text, "0");
}

/* ---- dates and times ------------------------------------------------------------------------- */

/* What is left of a text; the takers move it. */
struct scan {
    const char *at;
    const char *end;
};

static struct scan scan_of(struct hd_slice text)
{
    text = trimmed(text);
    return (struct scan){(const char *)text.data, (const char *)text.data + text.size};
}

static bool take_char(struct scan *s, char c)
{
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool take_digits(struct scan *s, int min, int max, int64_t *out)
{
    int n = 0;

    for (*out = 0; n < max && s->at < s->end && is_digit(*s->at); n++)
        *out = *out * 10 + (*s->at++ - '0');
    return n >= min;
}

static int64_t days_of_month(int64_t year, int64_t month)
{
    static const int8_t DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return DAYS[month - 1] + (month == 2 && leap);
}

static bool take_date(struct scan *s, int64_t *days)
{
    const bool negative = take_char(s, '-');
    const bool sign = negative || take_char(s, '+');
    int64_t year, month, day;

    if (!take_digits(s, 4, sign ? 9 : 4, &year) || !take_char(s, '-') ||
        !take_digits(s, 1, 2, &month) || !take_char(s, '-') || !take_digits(s, 1, 2, &day))
        return false;
    year = negative ? -year : year;
    if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
        return false;
    *days = hd_days_of_date(year, (int32_t)month, (int32_t)day);
    return true;
}

bool hd_parse_date(struct hd_slice text, int32_t *out)
{
    struct scan s = scan_of(text);
    int64_t days;

    if (!take_date(&s, &days) || s.at != s.end || days < INT32_MIN || days > INT32_MAX)
        return false;
    *out = (int32_t)days;
    return true;
}

/* Fraction digits as units; those behind the unit must be 0. */
static bool take_fraction(struct scan *s, int64_t per_second, int64_t *out)
{
    int64_t unit = per_second / 10;

    *out = 0;
    if (!take_char(s, '.'))
        return true;
    if (s->at == s->end || !is_digit(*s->at))
        return false;
    for (; s->at < s->end && is_digit(*s->at); s->at++, unit /= 10) {
        if (unit == 0 && *s->at != '0')
            return false;
        *out += (*s->at - '0') * unit;
    }
    return true;
}

/* Units since midnight. */
static bool take_time(struct scan *s, int64_t per_second, int64_t *out)
{
    int64_t hour, minute, second = 0, fraction = 0;

    if (!take_digits(s, 1, 2, &hour) || !take_char(s, ':') || !take_digits(s, 2, 2, &minute))
        return false;
    if (take_char(s, ':') &&
        (!take_digits(s, 2, 2, &second) || !take_fraction(s, per_second, &fraction)))
        return false;
    *out = (hour * 3600 + minute * 60 + second) * per_second + fraction;
    return hour < 24 && minute < 60 && second < 60;
}

bool hd_parse_time(struct hd_slice text, enum hd_time_unit unit, int64_t *out)
{
    struct scan s = scan_of(text);

    return take_time(&s, hd_units_per_second(unit), out) && s.at == s.end;
}

/* Seconds east of UTC; nothing there: `*any` is false. */
static bool take_zone(struct scan *s, bool *any, int64_t *seconds)
{
    int64_t hours, minutes = 0;

    *seconds = 0;
    *any = s->at < s->end;
    if (!*any || take_char(s, 'Z') || take_char(s, 'z'))
        return true;
    const bool west = take_char(s, '-');
    if (!west && !take_char(s, '+'))
        return false;
    if (!take_digits(s, 2, 2, &hours))
        return false;
    if (s->at < s->end) {
        take_char(s, ':');
        if (!take_digits(s, 2, 2, &minutes))
            return false;
    }
    *seconds = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return hours <= 18 && minutes < 60;
}

bool hd_parse_timestamp(struct hd_slice text, enum hd_time_unit unit, bool utc, int64_t *out)
{
    const int64_t per_second = hd_units_per_second(unit);
    struct scan s = scan_of(text);
    int64_t days, of_day = 0, zone_seconds = 0;
    bool zone = false;

    if (!take_date(&s, &days))
        return false;
    if (s.at < s.end) {
        if (!take_char(&s, 'T') && !take_char(&s, ' ') && !take_char(&s, 't'))
            return false;
        if (!take_time(&s, per_second, &of_day))
            return false;
        take_char(&s, ' ');
        if (!take_zone(&s, &zone, &zone_seconds))
            return false;
    }
    if (s.at != s.end || (zone && !utc))
        return false;
    const hd_int128 value = ((hd_int128)days * DAY_SECONDS - zone_seconds) * per_second + of_day;
    *out = (int64_t)value;
    return value >= INT64_MIN && value <= INT64_MAX;
}
