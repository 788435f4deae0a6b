/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/time_zone_rule.h"

#include "arrow/java_text.h"

struct text {
    const uint8_t *at;
    const uint8_t *end;
};

static bool at_char(const struct text *in, char c)
{
    return in->at < in->end && *in->at == (uint8_t)c;
}

static bool take_char(struct text *in, char c)
{
    if (!at_char(in, c))
        return false;
    in->at++;
    return true;
}

static bool take_int(struct text *in, int32_t max, int32_t *out)
{
    const uint8_t *start = in->at;

    *out = 0;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9' && *out <= max)
        *out = *out * 10 + (*in->at++ - '0');
    return in->at > start && *out <= max;
}

/* "CET" or "<+03>". */
static bool take_name(struct text *in)
{
    const uint8_t *start = in->at;

    if (take_char(in, '<')) {
        while (in->at < in->end && *in->at != '>')
            in->at++;
        return take_char(in, '>');
    }
    while (in->at < in->end &&
           ((*in->at >= 'A' && *in->at <= 'Z') || (*in->at >= 'a' && *in->at <= 'z')))
        in->at++;
    return in->at > start;
}

/* "[+-]hh[:mm[:ss]]", hours up to 167 */
static bool take_clock(struct text *in, int32_t *out_s)
{
    const bool negative = at_char(in, '-');
    int32_t hours, minutes = 0, seconds = 0;

    if (negative || at_char(in, '+'))
        in->at++;
    if (!take_int(in, 167, &hours))
        return false;
    if (take_char(in, ':')) {
        if (!take_int(in, 59, &minutes))
            return false;
        if (take_char(in, ':') && !take_int(in, 59, &seconds))
            return false;
    }
    *out_s = ((hours * 60 + minutes) * 60 + seconds) * (negative ? -1 : 1);
    return true;
}

static bool take_change(struct text *in, struct hd_rule_change *out)
{
    *out = (struct hd_rule_change){.time_s = 7200};
    if (!take_char(in, ','))
        return false;
    if (take_char(in, 'M')) {
        out->kind = HD_RULE_MONTH_WEEK;
        if (!take_int(in, 12, &out->month) || out->month == 0 || !take_char(in, '.') ||
            !take_int(in, 5, &out->week) || out->week == 0 || !take_char(in, '.') ||
            !take_int(in, 6, &out->day))
            return false;
    } else {
        out->kind = take_char(in, 'J') ? HD_RULE_JULIAN : HD_RULE_DAY;
        if (!take_int(in, 365, &out->day) || (out->kind == HD_RULE_JULIAN && out->day == 0))
            return false;
    }
    return !take_char(in, '/') || take_clock(in, &out->time_s);
}

bool hd_time_zone_rule_parse(struct hd_slice text, struct hd_time_zone_rule *out)
{
    struct text in = {text.data, text.data + text.size};

    *out = (struct hd_time_zone_rule){0};
    if (!take_name(&in) || !take_clock(&in, &out->standard_s))
        return false;
    out->standard_s = -out->standard_s; /* POSIX counts west */
    if (in.at == in.end)
        return true;
    out->has_daylight = true;
    if (!take_name(&in))
        return false;
    out->daylight_s = out->standard_s + 3600;
    if (in.at < in.end && *in.at != ',') {
        if (!take_clock(&in, &out->daylight_s))
            return false;
        out->daylight_s = -out->daylight_s;
    }
    return take_change(&in, &out->start) && take_change(&in, &out->end) && in.at == in.end;
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days since the epoch of the change in a year. */
static int64_t day_of_change(const struct hd_rule_change *change, int64_t year)
{
    if (change->kind == HD_RULE_DAY)
        return hd_days_of_date(year, 1, 1) + change->day;
    if (change->kind == HD_RULE_JULIAN)
        return hd_days_of_date(year, 1, 1) + change->day - 1 + (change->day >= 60 && is_leap(year));
    const int64_t first = hd_days_of_date(year, change->month, 1);
    const int64_t next = change->month == 12 ? hd_days_of_date(year + 1, 1, 1)
                                             : hd_days_of_date(year, change->month + 1, 1);
    const int64_t weekday = ((first + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday, 4 */
    int64_t day = first + (change->day - weekday + 7) % 7 + (int64_t)(change->week - 1) * 7;

    if (day >= next)
        day -= 7;
    return day;
}

int32_t hd_time_zone_rule_offset(const struct hd_time_zone_rule *rule, int64_t utc_s)
{
    int64_t year;
    int32_t month, day;

    if (!rule->has_daylight)
        return rule->standard_s;
    const int64_t local = utc_s + rule->standard_s;

    hd_date_of_days(local / 86400 - (local % 86400 < 0), &year, &month, &day);
    const int64_t start =
        day_of_change(&rule->start, year) * 86400 + rule->start.time_s - rule->standard_s;
    const int64_t end =
        day_of_change(&rule->end, year) * 86400 + rule->end.time_s - rule->daylight_s;
    const bool daylight =
        start < end ? utc_s >= start && utc_s < end : utc_s >= start || utc_s < end;

    return daylight ? rule->daylight_s : rule->standard_s;
}
