/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_JAVA_TEXT_H
#define HD_ARROW_JAVA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow/view.h"
#include "base/str.h"

/* Values as Java's toString() writes them, without allocation: for keys and for columns that became
 * strings. */

/** Room for the text of any value but strings: 128-bit decimals with their exponent, dates of any
 * year, timestamps. */
#define HD_JAVA_TEXT_BYTES 96

/** Double.toString and Float.toString of JDK 8 to 18 (which is not always the shortest text: 2.0E23
 * is "1.9999999999999998E23"). @return bytes written, no NUL */
size_t hd_java_double_format(double value, char out[HD_JAVA_TEXT_BYTES]);
size_t hd_java_float_format(float value, char out[HD_JAVA_TEXT_BYTES]);

/** The double that has the text of the float, 0.1 and not 0.10000000149011612: Double.parseDouble
 * of Float.toString. Keeps the order of values. */
double hd_java_float_to_double(float value);

/** LocalDate.toString: yyyy-MM-dd; years past 9999 have a sign. */
size_t hd_java_date_format(int64_t days, char out[HD_JAVA_TEXT_BYTES]);

/** java.sql.Timestamp.toString in UTC of milliseconds since the epoch. */
size_t hd_java_timestamp_format(int64_t millis, char out[HD_JAVA_TEXT_BYTES]);

/** BigDecimal.toString. `scale` within -1000000000..1000000000. */
size_t hd_java_decimal_format(__int128 unscaled, int32_t scale, char out[HD_JAVA_TEXT_BYTES]);

/** At most 20 bytes. */
size_t hd_java_long_format(int64_t value, char *out);

/** Has the type a text that can be part of a key? */
bool hd_java_type_has_text(const struct hd_type *type);

/** Text of a value that is not null, of a type hd_java_type_has_text() allows: in place for
 * strings, else in `scratch`. `timestamps_as_text`: timestamps that are instants become
 * java.sql.Timestamp texts instead of their number. */
struct hd_slice hd_java_text(const struct hd_view *view, int64_t row, bool timestamps_as_text,
                             char scratch[HD_JAVA_TEXT_BYTES]);

/** Proleptic Gregorian calendar: days since 1970-01-01 from and to year, month 1..12, day 1..31. */
int64_t hd_days_of_date(int64_t year, int32_t month, int32_t day);
void hd_date_of_days(int64_t days, int64_t *year, int32_t *month, int32_t *day);

#endif
