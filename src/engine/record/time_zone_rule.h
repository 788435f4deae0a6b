/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_TIME_ZONE_RULE_H
#define HD_ENGINE_TIME_ZONE_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Private to engine/record: the rule for times after a TZif file's last transition, in the form of
 * POSIX's TZ variable: "CET-1CEST,M3.5.0,M10.5.0/3", "<+03>-3", "EST5". */

enum hd_rule_day_kind {
    HD_RULE_JULIAN,     /* Jn: 1..365, February 29 not counted */
    HD_RULE_DAY,        /* n: 0..365 */
    HD_RULE_MONTH_WEEK, /* Mm.w.d */
};

struct hd_rule_change {
    enum hd_rule_day_kind kind;
    int32_t month, week, day;
    int32_t time_s; /* on the local clock before the change; may be negative or past a day */
};

struct hd_time_zone_rule {
    int32_t standard_s; /* seconds east */
    int32_t daylight_s;
    bool has_daylight;
    struct hd_rule_change start, end; /* of daylight time */
};

/** False when the text is no such rule. */
bool hd_time_zone_rule_parse(struct hd_slice text, struct hd_time_zone_rule *out);

int32_t hd_time_zone_rule_offset(const struct hd_time_zone_rule *rule, int64_t utc_s);

#endif
