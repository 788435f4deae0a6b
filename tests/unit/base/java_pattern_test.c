/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/java_pattern.h"

/* As java.util.regex.Pattern.matches() of Java 17 says. */
static const struct {
    const char *pattern, *text;
    bool matches;
} CASES[] = {
    {"2024.*", "2024-01-01", true},
    {"2024", "2024-01-01", false},
    {"a|b", "b", true},
    {"a|bc", "ac", false},
    {"", "", true},
    {"", "x", false},
    {"\\d{4}-\\d{2}", "2024-12", true},
    {"\\d{4}-\\d{2}", "2024-1x", false},
    {"day=\\d+/hour=(?:0\\d|1[0-2])", "day=20240101/hour=12", true},
    {"day=\\d+/hour=(?:0\\d|1[0-2])", "day=20240101/hour=13", false},
    {"\\w+?/\\S*", "p_0/x y", false},
    {"\\w+?/\\S*", "p_0/xy", true},
    {"a\\.b", "axb", false},
    {"a.b", "axb", true},
    {"a\\/b\\-c", "a/b-c", true},
    {"[\\d\\-/]+", "2024-01/02", true},
    {"[^\\d]+", "north", true},
    {"[^\\d]+", "n0rth", false},
    {"[a\\]b]*", "a]b", true},
    {"[\\^a]", "^", true},
    {"[\\^]", "^", true},
    {"[-a]", "-", true},
    {"[.]", "x", false},
    {"[\\\\]", "\\", true},
    {"(ab){2,3}", "ababab", true},
    {"^a$", "a", true},
    {"a+?", "aaa", true},
};

static void whole_texts_match_as_in_java(void **state)
{
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct hd_java_pattern pattern;

        if (hd_java_pattern_parse(&op, CASES[i].pattern, &pattern) != HUDI_OK)
            fail_msg("%s: %s", CASES[i].pattern, hudi_error_message(op.error));
        if (hd_java_pattern_matches(&pattern, CASES[i].text) != CASES[i].matches)
            fail_msg("%s and %s", CASES[i].pattern, CASES[i].text);
        hd_java_pattern_clear(&pattern);
    }
    hd_op_clear(&op);
}

static void what_posix_has_not_is_refused(void **state)
{
    static const char *const UNKNOWN[] = {"(?=a)b", "(?i)a", "a*+",     "(a)\\1", "\\bx",
                                          "\\p{L}", "\\Qa",  "[a[bc]]", "[a&&b]", "[\\D]"};
    static const char *const WRONG[] = {"[a", "(a", "a{2", "a\\", "a{3,2}"};
    struct hd_java_pattern pattern;
    struct hd_op op;

    (void)state;
    hd_op_init(&op);
    for (size_t i = 0; i < sizeof UNKNOWN / sizeof *UNKNOWN; i++) {
        if (hd_java_pattern_parse(&op, UNKNOWN[i], &pattern) != HUDI_NOT_IMPLEMENTED)
            fail_msg("%s", UNKNOWN[i]);
        hd_java_pattern_clear(&pattern);
        hd_op_clear_error(&op);
    }
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        if (hd_java_pattern_parse(&op, WRONG[i], &pattern) != HUDI_INVALID)
            fail_msg("%s", WRONG[i]);
        hd_java_pattern_clear(&pattern);
        hd_op_clear_error(&op);
    }
    hd_op_clear(&op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_texts_match_as_in_java),
        cmocka_unit_test(what_posix_has_not_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
