/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/date_pattern.h"

#include <string.h>

#include "arrow/java_text.h"
#include "engine/record/date_pattern_internal.h"

const char *const hd_month_names[12] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
const char *const hd_day_names[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                     "Friday", "Saturday", "Sunday"};

/* ---- the pattern -------------------------------------------------------------------------- */

static bool is_letter(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_numeric(const struct hd_date_token *token)
{
    if (token->letter == 'M')
        return token->n <= 2;
    return token->letter != 0 && strchr("cCxyYdhHmsSeDFwWkK", token->letter) != NULL;
}

/* Quoted and plain text up to the next pattern letter, copied without its quotes. */
static hudi_status take_literal(struct hd_op *op, struct hd_slice text, size_t *at,
                                struct hd_arena *arena, struct hd_slice *out)
{
    char *copy = NULL;
    size_t n = 0;
    bool quoted = false;

    HD_TRY(hd_arena_alloc(op, arena, text.size - *at + 1, &copy));
    for (; *at < text.size && (quoted || !is_letter(text.data[*at])); ++*at) {
        const uint8_t c = text.data[*at];

        if (c != '\'') {
            copy[n++] = (char)c;
        } else if (*at + 1 < text.size && text.data[*at + 1] == '\'') {
            copy[n++] = '\'';
            ++*at;
        } else {
            quoted = !quoted;
        }
    }
    if (quoted)
        return hd_fail(op, HUDI_INVALID, "date pattern \"%.*s\" has a quote without end",
                       (int)text.size, (const char *)text.data);
    *out = hd_slice_of(copy, n);
    return HUDI_OK;
}

/* Digits that a field is read by. A year runs up to nine digits unless digits follow it. */
static int32_t max_digits_of(const struct hd_date_token *token, const struct hd_date_token *next)
{
    if (strchr("yYx", token->letter) != NULL)
        return next != NULL && is_numeric(next) ? token->n : 9;
    if (token->letter == 'D')
        return 3;
    return token->letter == 'S' ? token->n : 2;
}

hudi_status hd_date_pattern_parse(struct hd_op *op, struct hd_slice text, bool for_reading,
                                  struct hd_arena *arena, const struct hd_date_pattern **out)
{
    const char *known = for_reading ? "yYMdDHkKhamsSEGZ" : "yYMdDHkKhamsSEGZxweC";
    struct hd_date_pattern *pattern = NULL;

    *out = NULL;
    HD_TRY(hd_arena_alloc(op, arena, sizeof(*pattern), &pattern));
    HD_TRY(hd_arena_array(op, arena, text.size, sizeof(*pattern->tokens), &pattern->tokens));
    for (size_t at = 0; at < text.size;) {
        struct hd_date_token *token = &pattern->tokens[pattern->n_tokens++];
        const uint8_t c = text.data[at];

        if (!is_letter(c)) {
            HD_TRY(take_literal(op, text, &at, arena, &token->literal));
            continue;
        }
        for (; at < text.size && text.data[at] == c; at++)
            token->n++;
        token->letter = (char)c;
        if (strchr(known, (char)c) == NULL || (c == 'Z' && token->n > 2 && for_reading))
            return hd_fail(op, HUDI_NOT_IMPLEMENTED, "letter '%c' of date pattern \"%.*s\"", c,
                           (int)text.size, (const char *)text.data);
        if (token->n > 20)
            return hd_fail(op, HUDI_INVALID, "%d times '%c' in a date pattern", token->n, c);
    }
    for (size_t i = 0; i < pattern->n_tokens; i++) {
        struct hd_date_token *token = &pattern->tokens[i];

        if (token->letter != 0)
            token->max_digits = max_digits_of(token, i + 1 < pattern->n_tokens ? token + 1 : NULL);
    }
    *out = pattern;
    return HUDI_OK;
}

/* ---- writing ------------------------------------------------------------------------------ */

struct clock {
    int64_t year;
    int32_t month, day;
    int64_t days;   /* since the epoch */
    int64_t of_day; /* milliseconds */
    int32_t offset_s;
};

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t floor_modulo(int64_t a, int64_t b)
{
    return a - floor_divide(a, b) * b;
}

/* 0 for Monday */
static int32_t day_of_week(int64_t days)
{
    return (int32_t)floor_modulo(days + 3, 7);
}

/* The Thursday of a week decides its year. */
static void week_of(const struct clock *clock, int64_t *year, int64_t *week)
{
    const int64_t thursday = clock->days - day_of_week(clock->days) + 3;
    int32_t month, day;

    hd_date_of_days(thursday, year, &month, &day);
    *week = (thursday - hd_days_of_date(*year, 1, 1)) / 7 + 1;
}

static hudi_status put_number(struct hd_op *op, int64_t value, int32_t width, struct hd_str *out)
{
    char digits[HD_JAVA_TEXT_BYTES];
    const size_t n = hd_java_long_format(value < 0 ? -value : value, digits);

    if (value < 0)
        HD_TRY(hd_str_append_char(op, out, '-'));
    for (int32_t i = (int32_t)n; i < width; i++)
        HD_TRY(hd_str_append_char(op, out, '0'));
    return hd_str_append(op, out, digits, n);
}

static hudi_status put_year(struct hd_op *op, int64_t year, int32_t n, struct hd_str *out)
{
    if (n == 2)
        return put_number(op, (year < 0 ? -year : year) % 100, 2, out);
    return put_number(op, year, n, out);
}

static hudi_status put_fraction(struct hd_op *op, int64_t millis, int32_t n, struct hd_str *out)
{
    const char digits[3] = {(char)('0' + millis / 100), (char)('0' + millis / 10 % 10),
                            (char)('0' + millis % 10)};

    for (int32_t i = 0; i < n; i++)
        HD_TRY(hd_str_append_char(op, out, i < 3 ? digits[i] : '0'));
    return HUDI_OK;
}

static hudi_status put_offset(struct hd_op *op, int32_t offset_s, bool colon, struct hd_str *out)
{
    const int32_t seconds = offset_s < 0 ? -offset_s : offset_s;

    HD_TRY(hd_str_append_char(op, out, offset_s < 0 ? '-' : '+'));
    HD_TRY(put_number(op, seconds / 3600, 2, out));
    if (colon)
        HD_TRY(hd_str_append_char(op, out, ':'));
    return put_number(op, seconds / 60 % 60, 2, out);
}

/* A name, or its first three letters. */
static hudi_status put_name(struct hd_op *op, const char *name, bool whole, struct hd_str *out)
{
    return hd_str_append(op, out, name, whole ? strlen(name) : 3);
}

static hudi_status put_clock_field(struct hd_op *op, const struct hd_date_token *token,
                                   const struct clock *clock, struct hd_str *out)
{
    const int64_t hour = clock->of_day / 3600000;
    const int32_t n = token->n;

    switch (token->letter) {
    case 'H':
        return put_number(op, hour, n, out);
    case 'k':
        return put_number(op, hour == 0 ? 24 : hour, n, out);
    case 'K':
        return put_number(op, hour % 12, n, out);
    case 'h':
        return put_number(op, hour % 12 == 0 ? 12 : hour % 12, n, out);
    case 'a':
        return hd_str_append_text(op, out, hour < 12 ? "AM" : "PM");
    case 'm':
        return put_number(op, clock->of_day / 60000 % 60, n, out);
    case 's':
        return put_number(op, clock->of_day / 1000 % 60, n, out);
    default: /* S */
        return put_fraction(op, clock->of_day % 1000, n, out);
    }
}

static hudi_status put_field(struct hd_op *op, const struct hd_date_token *token,
                             const struct clock *clock, const struct hd_time_zone *zone,
                             struct hd_str *out)
{
    const int32_t n = token->n;
    const int64_t of_era = clock->year > 0 ? clock->year : 1 - clock->year;
    int64_t week_year, week;

    switch (token->letter) {
    case 'G':
        return hd_str_append_text(op, out, clock->year > 0 ? "AD" : "BC");
    case 'C':
        return put_number(op, of_era / 100, n, out);
    case 'y':
        return put_year(op, clock->year, n, out);
    case 'Y':
        return put_year(op, n == 2 ? clock->year : of_era, n, out);
    case 'x':
    case 'w':
        week_of(clock, &week_year, &week);
        return token->letter == 'x' ? put_year(op, week_year, n, out)
                                    : put_number(op, week, n, out);
    case 'M':
        if (n >= 3)
            return put_name(op, hd_month_names[clock->month - 1], n >= 4, out);
        return put_number(op, clock->month, n, out);
    case 'd':
        return put_number(op, clock->day, n, out);
    case 'D':
        return put_number(op, clock->days - hd_days_of_date(clock->year, 1, 1) + 1, n, out);
    case 'e':
        return put_number(op, day_of_week(clock->days) + 1, n, out);
    case 'E':
        return put_name(op, hd_day_names[day_of_week(clock->days)], n >= 4, out);
    case 'Z':
        if (n >= 3)
            return hd_str_append_text(op, out, hd_time_zone_id(zone));
        return put_offset(op, clock->offset_s, n == 2, out);
    default:
        return put_clock_field(op, token, clock, out);
    }
}

hudi_status hd_date_pattern_format(struct hd_op *op, const struct hd_date_pattern *pattern,
                                   int64_t millis, const struct hd_time_zone *zone,
                                   struct hd_str *out)
{
    const int64_t utc_s = floor_divide(millis, 1000);
    struct clock clock = {.offset_s = hd_time_zone_offset(zone, utc_s)};
    const int64_t local_s = utc_s + clock.offset_s;

    clock.days = floor_divide(local_s, 86400);
    clock.of_day = floor_modulo(local_s, 86400) * 1000 + floor_modulo(millis, 1000);
    hd_date_of_days(clock.days, &clock.year, &clock.month, &clock.day);
    for (size_t i = 0; i < pattern->n_tokens; i++) {
        const struct hd_date_token *token = &pattern->tokens[i];

        if (token->letter == 0)
            HD_TRY(hd_str_append(op, out, token->literal.data, token->literal.size));
        else
            HD_TRY(put_field(op, token, &clock, zone, out));
    }
    return HUDI_OK;
}
