/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/text_value.h"

#include <inttypes.h>

#include "arrow/decimal.h"
#include "arrow/text.h"

#define DAY_SECONDS 86400

/* Year, month and day of days since 1970-01-01, proleptic Gregorian: counted in eras of 400 years
 * that begin on March 1st, so that the leap day is the last of its year. */
static void civil_of_days(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    const int64_t shifted = days + 719468;
    const int64_t era = hd_floor_div(shifted, 146097);
    const unsigned of_era = (unsigned)(shifted - era * 146097);
    const unsigned years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const unsigned of_year = of_era - (365 * years + years / 4 - years / 100);
    const unsigned shifted_month = (5 * of_year + 2) / 153;

    *day = of_year - (153 * shifted_month + 2) / 5 + 1;
    *month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    *year = (int64_t)years + era * 400 + (*month <= 2);
}

static hudi_status append_date(struct hd_op *op, int64_t days, struct hd_str *out)
{
    int64_t year;
    unsigned month, day;

    civil_of_days(days, &year, &month, &day);
    if (year < 0)
        return hd_str_printf(op, out, "-%04" PRId64 "-%02u-%02u", -year, month, day);
    return hd_str_printf(op, out, "%s%04" PRId64 "-%02u-%02u", year > 9999 ? "+" : "", year, month,
                         day);
}

hudi_status hd_text_date(struct hd_op *op, int32_t days, struct hd_str *out)
{
    return append_date(op, days, out);
}

hudi_status hd_text_time(struct hd_op *op, int64_t value, enum hd_time_unit unit,
                         struct hd_str *out)
{
    const int64_t per_second = hd_units_per_second(unit);
    const int64_t seconds = hd_floor_div(value, per_second);
    const int64_t fraction = value - seconds * per_second;
    const int digits = unit == HD_UNIT_SECOND  ? 0
                       : unit == HD_UNIT_MILLI ? 3
                       : unit == HD_UNIT_MICRO ? 6
                                               : 9;

    HD_TRY(hd_str_printf(op, out, "%02d:%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60 % 60),
                         (int)(seconds % 60)));
    if (digits == 0)
        return HUDI_OK;
    return hd_str_printf(op, out, ".%0*" PRId64, digits, fraction);
}

hudi_status hd_text_timestamp(struct hd_op *op, int64_t value, enum hd_time_unit unit, bool utc,
                              struct hd_str *out)
{
    const int64_t per_day = hd_units_per_second(unit) * DAY_SECONDS;
    const int64_t days = hd_floor_div(value, per_day);

    HD_TRY(append_date(op, days, out));
    HD_TRY(hd_str_append_char(op, out, 'T'));
    HD_TRY(hd_text_time(op, value - days * per_day, unit, out));
    return utc ? hd_str_append_char(op, out, 'Z') : HUDI_OK;
}

hudi_status hd_text_decimal(struct hd_op *op, const uint8_t *bytes, int32_t scale,
                            struct hd_str *out)
{
    const hd_int128 value = hd_decimal_load(bytes);
    hd_uint128 magnitude = value < 0 ? -(hd_uint128)value : (hd_uint128)value;
    char text[HD_DECIMAL_MAX_DIGITS * 2 + 4], *end = text + sizeof text, *at = end;
    int32_t n_digits = 0;

    do {
        if (n_digits == scale && scale > 0)
            *--at = '.';
        *--at = (char)('0' + (int)(magnitude % 10));
        magnitude /= 10;
        n_digits++;
    } while (magnitude > 0 || n_digits <= scale);
    if (value < 0)
        *--at = '-';
    HD_TRY(hd_str_append(op, out, at, (size_t)(end - at)));
    for (int32_t i = scale; i < 0 && value != 0; i++)
        HD_TRY(hd_str_append_char(op, out, '0'));
    return HUDI_OK;
}
