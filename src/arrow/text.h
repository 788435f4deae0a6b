/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_TEXT_H
#define HD_ARROW_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "arrow/decimal.h"
#include "arrow/type.h"
#include "base/str.h"

/*
 * Values from text. Every function takes the whole text (blanks around it are left out), knows no
 * locale, and gives false for what is no such value or does not fit; `*out` is then undefined.
 */

/** "-12", also "12.0" and "1.2e1": any number that is whole and fits 64 bits. */
bool hd_parse_integer(struct hd_slice text, int64_t *out);

/** Decimal digits with an optional point and exponent, "NaN", "Infinity", "inf", in any case. False
 * for a finite text beyond the largest double. */
bool hd_parse_double(struct hd_slice text, double *out);
bool hd_parse_float(struct hd_slice text, float *out);

/** A number as unscaled value of `scale`; `rounding` says what may happen to further digits. */
bool hd_parse_decimal(struct hd_slice text, int32_t precision, int32_t scale,
                      enum hd_rounding rounding, hd_int128 *out);

/** "true" or "false" in any case, 1 or 0. */
bool hd_parse_bool(struct hd_slice text, bool *out);

/** "2024-02-29", also "2024-2-9"; years of four digits, more with a sign: "-0044-03-15",
 * "+10000-01-01". Days since 1970-01-01 in the proleptic Gregorian calendar. */
bool hd_parse_date(struct hd_slice text, int32_t *out);

/** "12:34", "12:34:56.789": units since midnight. Digits behind the unit must be 0. */
bool hd_parse_time(struct hd_slice text, enum hd_time_unit unit, int64_t *out);

/** A date, or date and time with "T" or a blank between: units since the epoch. "Z", "+01:00",
 * "+0100" and "+01" are taken off when `utc` and refused when not; a text without zone is UTC. */
bool hd_parse_timestamp(struct hd_slice text, enum hd_time_unit unit, bool utc, int64_t *out);

/** Quotient rounded down; `b` > 0. */
static inline int64_t hd_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/** Units in a second. */
static inline int64_t hd_units_per_second(enum hd_time_unit unit)
{
    static const int64_t UNITS[] = {1, 1000, 1000000, 1000000000};

    return UNITS[unit];
}

#endif
