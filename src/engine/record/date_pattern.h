/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_DATE_PATTERN_H
#define HD_ENGINE_DATE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"
#include "engine/record/time_zone.h"

/* Private to engine/record: patterns of dates and times as Joda-Time has them, English texts.
 *
 *     y Y x  year (of era, of the week)    M  month, text from three letters on    D  day of year
 *     d  day of month    E e  day of week as text, as 1 (Monday) to 7    w  week    G  era
 *     H k K h  hour 0-23, 1-24, 0-11, 1-12    a  AM or PM    m s  minute, second
 *     S  fraction of a second    Z ZZ ZZZ  +0100, +01:00, name of the zone    C  century
 *     'text'  as it is, '' is a quote; other signs are as they are
 *
 * Read are y Y M d D H k K h a m s S E G (AD) Z ZZ; the others are for writing only.
 */
struct hd_date_pattern;

/** @param for_reading  refuse what can only be written
 * @return HUDI_NOT_IMPLEMENTED naming a letter that is not known; HUDI_INVALID for a quote without
 *         end */
hudi_status hd_date_pattern_parse(struct hd_op *op, struct hd_slice text, bool for_reading,
                                  struct hd_arena *arena, const struct hd_date_pattern **out);

/** Append the time in the zone. */
hudi_status hd_date_pattern_format(struct hd_op *op, const struct hd_date_pattern *pattern,
                                   int64_t millis, const struct hd_time_zone *zone,
                                   struct hd_str *out);

/** A time as it was read: a local clock's, and the offset where the text has one. */
struct hd_parsed_time {
    int64_t local_ms; /* since 1970-01-01T00:00 on that clock */
    bool has_offset;
    int32_t offset_s;
};

/** Read all of `text`. Fields that the pattern has not are those of 1970-01-01T00:00 (of the year
 * 2000 for a month or day alone). `now_year` places years of two digits. False when the text does
 * not match or is no date. */
bool hd_date_pattern_read(const struct hd_date_pattern *pattern, struct hd_slice text,
                          int32_t now_year, struct hd_parsed_time *out);

#endif
