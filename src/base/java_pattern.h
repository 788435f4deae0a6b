/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_BASE_JAVA_PATTERN_H
#define HD_BASE_JAVA_PATTERN_H

#include <regex.h>
#include <stdbool.h>

#include "base/op.h"

/**
 * A regular expression of java.util.regex.Pattern, for matches of whole texts (Pattern.matches).
 * Understood: literals, . [] \d \w \s and their opposites, also within [], groups with and without
 * capture, alternatives, greedy and lazy quantifiers, ^ and $. `.` and [] take one byte.
 */
struct hd_java_pattern {
    regex_t regex;
    bool is_set;
};

/** @return HUDI_INVALID for what is no pattern, HUDI_NOT_IMPLEMENTED naming what is not understood
 * (look-around, back references, possessive quantifiers, \p, \b, flags, nested classes) */
hudi_status hd_java_pattern_parse(struct hd_op *op, const char *text, struct hd_java_pattern *out);
bool hd_java_pattern_matches(const struct hd_java_pattern *pattern, const char *text);
void hd_java_pattern_clear(struct hd_java_pattern *pattern);

#endif
