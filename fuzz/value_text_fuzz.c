/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "arrow/java_text.h"
#include "arrow/text.h"
#include "base/utf8.h"

/* Whatever a text is read as, the value's own text is read as the same value again. */

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void read_numbers(struct hd_slice text)
{
    char out[HD_JAVA_TEXT_BYTES];
    double d, d2;
    float f, f2;
    int64_t n, n2;

    if (hd_parse_double(text, &d)) {
        require(hd_parse_double(hd_slice_of(out, hd_java_double_format(d, out)), &d2));
        require(d == d2 || (isnan(d) && isnan(d2)));
    }
    if (hd_parse_float(text, &f)) {
        require(hd_parse_float(hd_slice_of(out, hd_java_float_format(f, out)), &f2));
        require(f == f2 || (isnan(f) && isnan(f2)));
    }
    if (hd_parse_integer(text, &n)) {
        require(hd_parse_integer(hd_slice_of(out, hd_java_long_format(n, out)), &n2));
        require(n == n2);
    }
}

static void read_decimals(struct hd_slice text)
{
    char out[HD_JAVA_TEXT_BYTES];
    hd_int128 value, again;

    for (int32_t scale = 0; scale <= HD_DECIMAL_MAX_DIGITS; scale += 19) {
        if (hd_parse_decimal(text, HD_DECIMAL_MAX_DIGITS, scale, HD_ROUND_EXACT, &value)) {
            require(hd_parse_decimal(text, HD_DECIMAL_MAX_DIGITS, scale, HD_ROUND_HALF_UP, &again));
            require(value == again);
            const size_t n = hd_java_decimal_format(value, scale, out);
            require(hd_parse_decimal(hd_slice_of(out, n), HD_DECIMAL_MAX_DIGITS, scale,
                                     HD_ROUND_EXACT, &again));
            require(value == again);
        } else if (hd_parse_decimal(text, 20, scale, HD_ROUND_HALF_UP, &value)) {
            require(hd_decimal_fits(value, 20));
        }
    }
}

static void read_times(struct hd_slice text)
{
    char out[HD_JAVA_TEXT_BYTES];
    int32_t days, again;
    int64_t value, coarse;
    bool flag;

    if (hd_parse_date(text, &days)) {
        require(hd_parse_date(hd_slice_of(out, hd_java_date_format(days, out)), &again));
        require(days == again);
    }
    if (hd_parse_time(text, HD_UNIT_NANO, &value))
        require(value >= 0 && value < INT64_C(86400000000000));
    if (hd_parse_timestamp(text, HD_UNIT_MILLI, true, &coarse) &&
        hd_parse_timestamp(text, HD_UNIT_MICRO, true, &value))
        require(value == coarse * 1000);
    hd_parse_timestamp(text, HD_UNIT_NANO, false, &value);
    hd_parse_bool(text, &flag);
    hd_utf8_valid(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hd_slice text = hd_slice_of(data, size);

    read_numbers(text);
    read_decimals(text);
    read_times(text);
    return 0;
}
