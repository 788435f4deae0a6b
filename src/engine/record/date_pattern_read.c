/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <strings.h>

#include "arrow/java_text.h"
#include "engine/record/date_pattern_internal.h"

/* Reading a text by a pattern of dates. */

struct input {
    const char *at;
    const char *end;
};

/* What was read; -1: not in the pattern. */
struct fields {
    int64_t year;
    bool has_year;
    int32_t month, day, day_of_year, day_of_week;
    int32_t hour, half, hour_of_half, minute, second, milli;
    bool has_offset;
    int32_t offset_s;
};

static bool is_digit(const struct input *in)
{
    return in->at < in->end && *in->at >= '0' && *in->at <= '9';
}

/* Up to `max` digits (at most 9 count), at least one. */
static bool read_digits(struct input *in, int32_t max, int32_t *n_digits, int32_t *out)
{
    int32_t n = 0;

    *out = 0;
    for (; n < max && n < 9 && is_digit(in); n++)
        *out = *out * 10 + (*in->at++ - '0');
    if (n_digits != NULL)
        *n_digits = n;
    return n > 0;
}

static bool read_number(struct input *in, int32_t max_digits, int32_t min, int32_t max,
                        int32_t *out)
{
    return read_digits(in, max_digits, NULL, out) && *out >= min && *out <= max;
}

/* A year of two digits is the one within 50 years before to 49 after 30 years ago. */
static int64_t place_year(int32_t two_digits, int32_t now_year)
{
    const int32_t low = now_year - 30 - 50;
    const int32_t of_century = low % 100;

    return (int64_t)two_digits + low + (two_digits < of_century ? 100 : 0) - of_century;
}

static bool read_year(struct input *in, const struct hd_date_token *token, int32_t now_year,
                      struct fields *out)
{
    const bool of_era = token->letter == 'Y' && token->n != 2;
    const bool negative = in->at < in->end && *in->at == '-' && !of_era;
    const bool sign = negative || (in->at < in->end && *in->at == '+' && !of_era);
    int32_t n = 0;
    int32_t year = 0;

    in->at += sign;
    if (!read_digits(in, token->max_digits, &n, &year))
        return false;
    out->year = negative ? -(int64_t)year : year;
    if (token->n == 2 && n == 2 && !sign)
        out->year = place_year(year, now_year);
    out->has_year = true;
    return !of_era || out->year > 0;
}

/* One of `n` names, whole or its first three letters, in any case. */
static bool read_name(struct input *in, const char *const *names, int32_t n, int32_t *out)
{
    const size_t left = (size_t)(in->end - in->at);

    for (int32_t i = 0; i < n; i++) {
        const size_t size = strlen(names[i]);

        if (left >= size && strncasecmp(in->at, names[i], size) == 0) {
            in->at += size;
            *out = i + 1;
            return true;
        }
    }
    for (int32_t i = 0; i < n && left >= 3; i++) {
        if (strncasecmp(in->at, names[i], 3) == 0) {
            in->at += 3;
            *out = i + 1;
            return true;
        }
    }
    return false;
}

static bool read_text(struct input *in, struct hd_slice text)
{
    if ((size_t)(in->end - in->at) < text.size ||
        (text.size > 0 && strncasecmp(in->at, (const char *)text.data, text.size) != 0))
        return false;
    in->at += text.size;
    return true;
}

/* At most `max` digits of a fraction; those behind the third do not count. */
static bool read_fraction(struct input *in, int32_t max, int32_t *out)
{
    int32_t weight = 100;

    *out = 0;
    if (!is_digit(in))
        return false;
    for (int32_t i = 0; i < max && is_digit(in); i++, weight /= 10)
        *out += (*in->at++ - '0') * weight;
    return true;
}

/* "Z", "+01", "+0130", "+01:30". */
static bool read_offset(struct input *in, struct fields *out)
{
    int32_t n = 0;
    int32_t hours, minutes = 0;

    out->has_offset = true;
    if (in->at < in->end && (*in->at == 'Z' || *in->at == 'z')) {
        in->at++;
        return true;
    }
    if (in->at == in->end || (*in->at != '+' && *in->at != '-'))
        return false;
    const bool negative = *in->at++ == '-';

    if (!read_digits(in, 2, &n, &hours) || n != 2 || hours > 23)
        return false;
    const struct input before = *in;
    const bool colon = in->at < in->end && *in->at == ':';

    in->at += colon;
    if (!read_digits(in, 2, &n, &minutes)) {
        *in = before;
        minutes = 0;
    } else if (n != 2 || minutes > 59) {
        return false;
    }
    out->offset_s = (hours * 60 + minutes) * 60 * (negative ? -1 : 1);
    return true;
}

static bool read_field(struct input *in, const struct hd_date_token *token, int32_t now_year,
                       struct fields *out)
{
    static const char *const halves[] = {"AM", "PM"};
    static const char *const eras[] = {"AD"};
    int32_t era;

    switch (token->letter) {
    case 'y':
    case 'Y':
        return read_year(in, token, now_year, out);
    case 'M':
        if (token->n >= 3)
            return read_name(in, hd_month_names, 12, &out->month);
        return read_number(in, 2, 1, 12, &out->month);
    case 'd':
        return read_number(in, 2, 1, 31, &out->day);
    case 'D':
        return read_number(in, 3, 1, 366, &out->day_of_year);
    case 'E':
        return read_name(in, hd_day_names, 7, &out->day_of_week);
    case 'H':
        return read_number(in, 2, 0, 23, &out->hour);
    case 'k':
        if (!read_number(in, 2, 1, 24, &out->hour))
            return false;
        out->hour %= 24;
        return true;
    case 'K':
        return read_number(in, 2, 0, 11, &out->hour_of_half);
    case 'h':
        if (!read_number(in, 2, 1, 12, &out->hour_of_half))
            return false;
        out->hour_of_half %= 12;
        return true;
    case 'a':
        return read_name(in, halves, 2, &out->half);
    case 'm':
        return read_number(in, 2, 0, 59, &out->minute);
    case 's':
        return read_number(in, 2, 0, 59, &out->second);
    case 'S':
        return read_fraction(in, token->n, &out->milli);
    case 'G':
        return read_name(in, eras, 1, &era);
    case 'Z':
        return read_offset(in, out);
    default:
        return read_text(in, token->literal);
    }
}

static int32_t or_else(int32_t value, int32_t otherwise)
{
    return value < 0 ? otherwise : value;
}

/* The day that the fields name; false for February 30. A day of the week that contradicts the date
 * moves it within its week, Monday to Sunday. */
static bool find_day(const struct fields *f, int64_t *days)
{
    const bool in_year = f->month >= 0 || f->day >= 0 || f->day_of_year >= 0;
    const int64_t year = f->has_year ? f->year : in_year ? 2000 : 1970;
    int64_t real_year;
    int32_t real_month, real_day;

    if (f->day_of_year >= 0 && f->month < 0 && f->day < 0) {
        *days = hd_days_of_date(year, 1, 1) + f->day_of_year - 1;
        hd_date_of_days(*days, &real_year, &real_month, &real_day);
        if (real_year != year)
            return false;
    } else {
        const int32_t month = or_else(f->month, 1);
        const int32_t day = or_else(f->day, 1);

        *days = hd_days_of_date(year, month, day);
        hd_date_of_days(*days, &real_year, &real_month, &real_day);
        if (real_month != month || real_day != day)
            return false;
    }
    if (f->day_of_week >= 0)
        *days += f->day_of_week - 1 - ((*days + 3) % 7 + 7) % 7;
    return true;
}

/* Milliseconds of 64 bits, as Java's dates are, whatever the time zone: years up to 292,278,993. */
#define MAX_DAYS (INT64_MAX / 86400000 - 2)

bool hd_date_pattern_read(const struct hd_date_pattern *pattern, struct hd_slice text,
                          int32_t now_year, struct hd_parsed_time *out)
{
    const char *start = text.size == 0 ? "" : (const char *)text.data;
    struct input in = {start, start + text.size};
    struct fields f = {.month = -1,
                       .day = -1,
                       .day_of_year = -1,
                       .day_of_week = -1,
                       .hour = -1,
                       .half = -1,
                       .hour_of_half = -1};
    int64_t days;

    for (size_t i = 0; i < pattern->n_tokens; i++) {
        if (!read_field(&in, &pattern->tokens[i], now_year, &f))
            return false;
    }
    if (in.at != in.end || !find_day(&f, &days) || days < -MAX_DAYS || days > MAX_DAYS)
        return false;
    const int64_t hour = or_else(f.hour, or_else(f.hour_of_half, 0) + (f.half == 2 ? 12 : 0));

    out->local_ms =
        days * 86400000 + ((hour * 60 + f.minute) * 60 + f.second) * (int64_t)1000 + f.milli;
    out->has_offset = f.has_offset;
    out->offset_s = f.offset_s;
    return true;
}
