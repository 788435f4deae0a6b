/* SPDX-License-Identifier: Apache-2.0 */

#include "format/timeline/instant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MILLIS_DIGITS 17
#define SECONDS_DIGITS 14

void hd_instant_time_format(uint64_t now_ms, bool utc, char out[HD_INSTANT_TIME_BYTES])
{
    const time_t seconds = (time_t)(now_ms / 1000);
    struct tm parts = {0};

    if (utc)
        gmtime_r(&seconds, &parts);
    else
        localtime_r(&seconds, &parts);
    snprintf(out, HD_INSTANT_TIME_BYTES, "%04u%02u%02u%02u%02u%02u%03u",
             ((unsigned)parts.tm_year + 1900) % 10000, ((unsigned)parts.tm_mon + 1) % 100,
             (unsigned)parts.tm_mday % 100, (unsigned)parts.tm_hour % 100,
             (unsigned)parts.tm_min % 100, (unsigned)parts.tm_sec % 100, (unsigned)(now_ms % 1000));
}

/* A date and time as typed, before a zone is applied. */
struct typed_time {
    unsigned year, month, day, hour, minute, second, millisecond;
    bool has_zone;
    int zone_minutes; /* east of UTC */
};

/* Exactly `n_digits` digits with a value in [min, max]. */
static bool take_number(const char **text, int n_digits, unsigned min, unsigned max, unsigned *out)
{
    unsigned value = 0;

    for (int i = 0; i < n_digits; i++) {
        const char c = (*text)[i];

        if (c < '0' || c > '9')
            return false;
        value = value * 10 + (unsigned)(c - '0');
    }
    *text += n_digits;
    *out = value;
    return value >= min && value <= max;
}

static bool take_char(const char **text, char wanted)
{
    if (**text != wanted)
        return false;
    (*text)++;
    return true;
}

static unsigned days_in_month(unsigned year, unsigned month)
{
    static const unsigned char DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && leap ? 29 : DAYS[month - 1];
}

static bool take_date(const char **text, struct typed_time *out)
{
    return take_number(text, 4, 1, 9999, &out->year) && take_char(text, '-') &&
           take_number(text, 2, 1, 12, &out->month) && take_char(text, '-') &&
           take_number(text, 2, 1, days_in_month(out->year, out->month), &out->day);
}

/* ".5", ".123", ".123456789": what is finer than a millisecond is cut off. */
static bool take_fraction(const char **text, unsigned *millisecond)
{
    unsigned n_digits = 0, value = 0;

    for (; **text >= '0' && **text <= '9'; (*text)++, n_digits++) {
        if (n_digits < 3)
            value = value * 10 + (unsigned)(**text - '0');
    }
    for (unsigned i = n_digits; i < 3; i++)
        value *= 10;
    *millisecond = value;
    return n_digits >= 1 && n_digits <= 9;
}

static bool take_clock(const char **text, struct typed_time *out)
{
    if (!take_number(text, 2, 0, 23, &out->hour) || !take_char(text, ':') ||
        !take_number(text, 2, 0, 59, &out->minute))
        return false;
    if (!take_char(text, ':'))
        return true;
    if (!take_number(text, 2, 0, 59, &out->second))
        return false;
    if (take_char(text, '.') || take_char(text, ','))
        return take_fraction(text, &out->millisecond);
    return true;
}

/* "Z", "+02", "+0200", "-02:00". */
static bool take_zone(const char **text, struct typed_time *out)
{
    unsigned hours, minutes = 0;

    out->has_zone = true;
    if (take_char(text, 'Z') || take_char(text, 'z'))
        return true;
    const bool west = **text == '-';
    if (!take_char(text, '+') && !take_char(text, '-'))
        return false;
    if (!take_number(text, 2, 0, 18, &hours))
        return false;
    if (**text != '\0') {
        (void)take_char(text, ':');
        if (!take_number(text, 2, 0, 59, &minutes))
            return false;
    }
    out->zone_minutes = (int)(hours * 60 + minutes) * (west ? -1 : 1);
    return true;
}

static bool parse_iso(const char *text, struct typed_time *out)
{
    *out = (struct typed_time){0};
    if (!take_date(&text, out))
        return false;
    if (*text == '\0')
        return true;
    if (!take_char(&text, 'T') && !take_char(&text, ' '))
        return false;
    if (!take_clock(&text, out))
        return false;
    if (*text != '\0' && !take_zone(&text, out))
        return false;
    return *text == '\0';
}

/* Days since 1970-01-01 in the proleptic Gregorian calendar. */
static int64_t days_since_epoch(unsigned year, unsigned month, unsigned day)
{
    const int64_t y = (int64_t)year - (month <= 2);
    const int64_t era = (y >= 0 ? y : y - 399) / 400;
    const int64_t of_era = y - era * 400;
    const int64_t of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool format_iso(const char *text, bool utc, char out[HD_INSTANT_TIME_BYTES])
{
    struct typed_time t;

    if (!parse_iso(text, &t))
        return false;
    if (!t.has_zone) { /* in the timeline's zone already */
        snprintf(out, HD_INSTANT_TIME_BYTES, "%04u%02u%02u%02u%02u%02u%03u", t.year % 10000,
                 t.month % 100, t.day % 100, t.hour % 100, t.minute % 100, t.second % 100,
                 t.millisecond % 1000);
        return true;
    }
    const int64_t seconds = days_since_epoch(t.year, t.month, t.day) * 86400 +
                            (int64_t)t.hour * 3600 + (int64_t)t.minute * 60 + t.second -
                            (int64_t)t.zone_minutes * 60;
    if (seconds < 0) /* no Hudi table is that old */
        return false;
    hd_instant_time_format((uint64_t)seconds * 1000 + t.millisecond, utc, out);
    return true;
}

/* "-90s", "-15m", "-2h", "-7d", "-1w". */
static bool format_relative(struct hd_op *op, const char *text, bool utc,
                            char out[HD_INSTANT_TIME_BYTES])
{
    uint64_t amount = 0, unit_ms;

    if (!take_char(&text, '-') || *text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (__builtin_mul_overflow(amount, 10, &amount) ||
            __builtin_add_overflow(amount, (uint64_t)(*text - '0'), &amount))
            return false;
    }
    switch (*text) {
    case 's':
        unit_ms = 1000;
        break;
    case 'm':
        unit_ms = 60 * 1000;
        break;
    case 'h':
        unit_ms = 3600 * 1000;
        break;
    case 'd':
        unit_ms = 24 * 3600 * 1000;
        break;
    case 'w':
        unit_ms = 7 * 24 * 3600 * 1000;
        break;
    default:
        return false;
    }
    const uint64_t now_ms = hd_now_ms(op);
    if (text[1] != '\0' || __builtin_mul_overflow(amount, unit_ms, &amount) || amount > now_ms)
        return false;
    hd_instant_time_format(now_ms - amount, utc, out);
    return true;
}

/* Are the fields that `n` digits have in full those of a date? Those of the year 0 are: Hudi's own
 * instants of bootstrapped and metadata tables are no times. */
static bool is_date(const char *digits, size_t n)
{
    static const struct {
        int n_digits;
        unsigned least, most;
    } FIELDS[] = {{2, 1, 12}, {2, 1, 31}, {2, 0, 23}, {2, 0, 59}, {2, 0, 59}};
    unsigned year, field[HD_ARRAY_LENGTH(FIELDS)] = {0};
    const char *text = digits;

    if (!take_number(&text, 4, 0, 9999, &year))
        return false;
    if (year == 0)
        return true;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(FIELDS); i++) {
        if (n < (size_t)(text - digits) + (size_t)FIELDS[i].n_digits)
            return true;
        if (!take_number(&text, FIELDS[i].n_digits, FIELDS[i].least, FIELDS[i].most, &field[i]))
            return false;
        if (i == 1 && field[1] > days_in_month(year, field[0]))
            return false;
    }
    return true;
}

/*
 * Times compare as strings. Digits that name a day, an hour, ... become its beginning. 14 digits
 * stay as they are: a table older than millisecond instants holds such times. So do all-zero texts
 * ("0", "000": from the beginning) and the longer times of metadata tables.
 */
static bool format_digits(const char *text, char out[HD_INSTANT_TIME_BYTES])
{
    const size_t n = strlen(text);

    if (n == 0 || n >= HD_INSTANT_TIME_BYTES || strspn(text, "0123456789") != n)
        return false;
    if (n < 4 ? strspn(text, "0") != n : !is_date(text, n))
        return false;
    memcpy(out, text, n + 1);
    if (n < 4 || n == SECONDS_DIGITS || n >= MILLIS_DIGITS)
        return true;
    memset(out + n, '0', MILLIS_DIGITS - n);
    out[MILLIS_DIGITS] = '\0';
    return true;
}

bool hd_instant_time_next(const char *time, char out[HD_INSTANT_TIME_BYTES])
{
    char digits[MILLIS_DIGITS + 1] = "00000000000000999"; /* 14 digits: as Hudi extends them */
    const size_t n = strlen(time);
    const char *text = digits;
    struct typed_time t;

    memcpy(digits, time, n < MILLIS_DIGITS ? n : MILLIS_DIGITS);
    if (!take_number(&text, 4, 1970, 9999, &t.year) || !take_number(&text, 2, 1, 12, &t.month) ||
        !take_number(&text, 2, 1, days_in_month(t.year, t.month), &t.day) ||
        !take_number(&text, 2, 0, 23, &t.hour) || !take_number(&text, 2, 0, 59, &t.minute) ||
        !take_number(&text, 2, 0, 59, &t.second) || !take_number(&text, 3, 0, 999, &t.millisecond))
        return false;
    /* Arithmetic on the wall clock: as if in UTC, whatever the zone. */
    const int64_t seconds = days_since_epoch(t.year, t.month, t.day) * 86400 +
                            (int64_t)t.hour * 3600 + (int64_t)t.minute * 60 + t.second;
    hd_instant_time_format((uint64_t)seconds * 1000 + t.millisecond + 1, true, out);
    return strcmp(out, time) > 0; /* not past the year 9999 */
}

hudi_status hd_instant_time_parse(struct hd_op *op, const char *text, bool utc,
                                  char out[HD_INSTANT_TIME_BYTES])
{
    out[0] = '\0';
    if (format_digits(text, out) || format_relative(op, text, utc, out) ||
        format_iso(text, utc, out))
        return HUDI_OK;
    out[0] = '\0';
    return hd_fail(op, HUDI_INVALID,
                   "\"%.64s\" is no time: want an instant or its first digits "
                   "(yyyyMMddHHmmssSSS), a date and time such as 2024-05-01 or "
                   "2024-05-01T10:00:00Z, or an age such as -2h",
                   text);
}
