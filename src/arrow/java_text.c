/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/java_text.h"

#include <string.h>

/* Digits of a number that is not 0. */
static size_t count_digits(uint64_t value)
{
    size_t n = 1;

    for (; value >= 10000; value /= 10000)
        n += 4;
    return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

size_t hd_java_long_format(int64_t value, char *out)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    const size_t size = count_digits(left) + (value < 0);
    char *at = out + size;

    if (value < 0)
        *out = '-';
    for (; left >= 100; left /= 100)
        memcpy(at -= 2, pairs + left % 100 * 2, 2);
    if (left >= 10)
        memcpy(at - 2, pairs + left * 2, 2);
    else
        at[-1] = (char)('0' + left);
    return size;
}

/* ---- dates -------------------------------------------------------------------------------- */

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Years begin in March here, so that the leap day ends them; an era has 400 of them. */
int64_t hd_days_of_date(int64_t year, int32_t month, int32_t day)
{
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t era = floor_divide(y, 400);
    const int64_t of_era = y - era * 400;
    const int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void hd_date_of_days(int64_t days, int64_t *year, int32_t *month, int32_t *day)
{
    const int64_t shifted = days + 719468;
    const int64_t era = floor_divide(shifted, 146097);
    const int64_t of_era = shifted - era * 146097;
    const int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
    const int64_t m = (5 * of_year + 2) / 153;

    *day = (int32_t)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int32_t)(m < 10 ? m + 3 : m - 9);
    *year = y + era * 400 + (*month <= 2);
}

/* `value` with at least `width` digits. */
static size_t put_padded(char *out, uint64_t value, int width)
{
    char text[HD_JAVA_TEXT_BYTES];
    const size_t n = hd_java_long_format((int64_t)value, text);
    size_t size = 0;

    for (; (int)(size + n) < width; size++)
        out[size] = '0';
    memcpy(out + size, text, n);
    return size + n;
}

static size_t put_date(char *out, int64_t days, bool sign_of_large_years)
{
    int64_t year;
    int32_t month, day;
    size_t n = 0;

    hd_date_of_days(days, &year, &month, &day);
    if (year < 0)
        out[n++] = '-';
    else if (year > 9999 && sign_of_large_years)
        out[n++] = '+';
    n += put_padded(out + n, (uint64_t)(year < 0 ? -year : year), 4);
    out[n++] = '-';
    n += put_padded(out + n, (uint64_t)month, 2);
    out[n++] = '-';
    return n + put_padded(out + n, (uint64_t)day, 2);
}

size_t hd_java_date_format(int64_t days, char out[HD_JAVA_TEXT_BYTES])
{
    return put_date(out, days, true);
}

size_t hd_java_timestamp_format(int64_t millis, char out[HD_JAVA_TEXT_BYTES])
{
    const int64_t days = floor_divide(millis, 86400000);
    const int64_t of_day = millis - days * 86400000;
    size_t n = put_date(out, days, false);

    out[n++] = ' ';
    n += put_padded(out + n, (uint64_t)(of_day / 3600000), 2);
    out[n++] = ':';
    n += put_padded(out + n, (uint64_t)(of_day / 60000 % 60), 2);
    out[n++] = ':';
    n += put_padded(out + n, (uint64_t)(of_day / 1000 % 60), 2);
    out[n++] = '.';
    n += put_padded(out + n, (uint64_t)(of_day % 1000), 3);
    while (out[n - 1] == '0' && out[n - 2] != '.')
        n--;
    return n;
}

/* ---- decimals ----------------------------------------------------------------------------- */

size_t hd_java_decimal_format(__int128 unscaled, int32_t scale, char out[HD_JAVA_TEXT_BYTES])
{
    char digits[48];
    size_t n_digits = 0;
    size_t n = 0;
    unsigned __int128 left =
        unscaled < 0 ? 0 - (unsigned __int128)unscaled : (unsigned __int128)unscaled;

    do {
        digits[sizeof(digits) - ++n_digits] = (char)('0' + (int)(left % 10));
        left /= 10;
    } while (left != 0);
    const char *first = digits + sizeof(digits) - n_digits;
    const int64_t exponent = (int64_t)n_digits - 1 - scale;

    if (unscaled < 0)
        out[n++] = '-';
    if (scale >= 0 && exponent >= -6) { /* plain, within 38 digits and 6 zeros */
        const int64_t whole = (int64_t)n_digits - scale;

        if (whole <= 0) {
            out[n++] = '0';
            out[n++] = '.';
            for (int64_t i = whole; i < 0; i++)
                out[n++] = '0';
        }
        for (int64_t i = 0; i < (int64_t)n_digits; i++) {
            if (i == whole && i > 0)
                out[n++] = '.';
            out[n++] = first[i];
        }
        return n;
    }
    out[n++] = *first;
    if (n_digits > 1) {
        out[n++] = '.';
        memcpy(out + n, first + 1, n_digits - 1);
        n += n_digits - 1;
    }
    if (exponent == 0)
        return n;
    out[n++] = 'E';
    if (exponent > 0)
        out[n++] = '+';
    return n + hd_java_long_format(exponent, out + n);
}

/* ---- any value ---------------------------------------------------------------------------- */

bool hd_java_type_has_text(const struct hd_type *type)
{
    switch (type->id) {
    case HD_TYPE_BOOL:
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_STRING:
    case HD_TYPE_DECIMAL:
    case HD_TYPE_DATE:
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
    case HD_TYPE_DICTIONARY:
        return true;
    default:
        return false;
    }
}

static size_t timestamp_text(const struct hd_view *view, int64_t row, bool as_text, char *scratch)
{
    const int64_t value = hd_view_i64(view, row);

    if (!as_text || !view->type.utc ||
        (view->type.unit != HD_UNIT_MILLI && view->type.unit != HD_UNIT_MICRO))
        return hd_java_long_format(value, scratch);
    /* towards zero, as Hudi divides */
    return hd_java_timestamp_format(view->type.unit == HD_UNIT_MILLI ? value : value / 1000,
                                    scratch);
}

struct hd_slice hd_java_text(const struct hd_view *view, int64_t row, bool timestamps_as_text,
                             char scratch[HD_JAVA_TEXT_BYTES])
{
    __int128 unscaled;
    size_t n = 0;

    switch (view->type.id) {
    case HD_TYPE_STRING:
    case HD_TYPE_DICTIONARY:
        return hd_view_bytes(view, row);
    case HD_TYPE_BOOL:
        return hd_slice_text(hd_view_bool(view, row) ? "true" : "false");
    case HD_TYPE_FLOAT:
        n = hd_java_float_format(hd_view_float(view, row), scratch);
        break;
    case HD_TYPE_DOUBLE:
        n = hd_java_double_format(hd_view_double(view, row), scratch);
        break;
    case HD_TYPE_DATE:
        n = hd_java_date_format(hd_view_i32(view, row), scratch);
        break;
    case HD_TYPE_DECIMAL:
        memcpy(&unscaled, hd_view_bytes(view, row).data, sizeof(unscaled));
        n = hd_java_decimal_format(unscaled, view->type.scale, scratch);
        break;
    case HD_TYPE_TIMESTAMP:
        n = timestamp_text(view, row, timestamps_as_text, scratch);
        break;
    default:
        n = hd_java_long_format(hd_view_integer(view, row), scratch);
    }
    return hd_slice_of(scratch, n);
}
