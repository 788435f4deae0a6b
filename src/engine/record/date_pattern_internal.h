/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_DATE_PATTERN_INTERNAL_H
#define HD_ENGINE_DATE_PATTERN_INTERNAL_H

#include "engine/record/date_pattern.h"

struct hd_date_token {
    char letter; /* 0: literal text */
    int32_t n;   /* letters */
    int32_t max_digits;
    struct hd_slice literal;
};

struct hd_date_pattern {
    struct hd_date_token *tokens;
    size_t n_tokens;
};

extern const char *const hd_month_names[12];
extern const char *const hd_day_names[7]; /* Monday first */

#endif
