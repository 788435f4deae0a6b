/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/date_pattern.h"
#include "support/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

/* Expected texts and times are what Joda-Time 2.12.7 gives in the English locale. */

static const struct hd_date_pattern *parse(struct hd_op *op, struct hd_arena *arena,
                                           const char *text, bool for_reading)
{
    const struct hd_date_pattern *pattern = NULL;

    assert_int_equal(hd_date_pattern_parse(op, hd_slice_text(text), for_reading, arena, &pattern),
                     HUDI_OK);
    return pattern;
}

static void times_are_written(void **state)
{
    struct hd_op *op = *state;
    static const struct {
        const char *pattern, *zone;
        int64_t millis;
        const char *text;
    } cases[] = {
        {"yyyy/MM/dd", "UTC", 1640995199000, "2021/12/31"},
        {"yyyy/MM/dd/HH", "GMT+8:00", 1640995199000, "2022/01/01/07"},
        {"yyyyMMddHHmmssSSS", "UTC", -1, "19691231235959999"},
        {"yy-M-d", "UTC", 1704067200000, "24-1-1"},
        {"EEE, dd MMM yyyy HH:mm:ss Z", "Europe/Berlin", 1711846800000,
         "Sun, 31 Mar 2024 03:00:00 +0200"},
        {"EEEE MMMM d, yyyy h:mm a", "UTC", 1704067200000, "Monday January 1, 2024 12:00 AM"},
        {"xxxx-'W'ww-e", "UTC", 1104537600000, "2004-W53-6"}, /* 2005-01-01 */
        {"yyyy-DDD", "UTC", 1709164800000, "2024-060"},
        {"K k hh HH", "UTC", 0, "0 24 12 00"},
        {"HH:mm:ss.SSSSSS ZZ", "Asia/Kolkata", 1704067200123, "05:30:00.123000 +05:30"},
        {"''yyyy'' 'o''clock'", "UTC", 0, "'1970' o'clock"},
        {"yyyy'year'MM", "UTC", 0, "1970year01"},
        {"yyyy", "UTC", -70000000000000, "-0249"},
        {"ZZZ", "Europe/Berlin", 0, "Europe/Berlin"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct hd_arena arena = {0};
        struct hd_str out = {0};
        const struct hd_time_zone *zone;

        assert_int_equal(hd_time_zone_load(op, cases[i].zone, &arena, &zone), HUDI_OK);
        assert_int_equal(hd_date_pattern_format(op, parse(op, &arena, cases[i].pattern, false),
                                                cases[i].millis, zone, &out),
                         HUDI_OK);
        assert_string_equal(hd_str_text(&out), cases[i].text);
        hd_str_clear(&out);
        hd_arena_clear(&arena);
    }
}

static void texts_are_read(void **state)
{
    struct hd_op *op = *state;
    static const struct {
        const char *pattern, *text;
        int64_t local_ms;
        int32_t offset_s; /* -1: none */
    } cases[] = {
        {"yyyy-MM-dd'T'HH:mm:ssZ", "2020-04-01T13:01:33Z", 1585746093000, 0},
        {"yyyy-MM-dd'T'HH:mm:ss.SSSZ", "2020-04-01T13:01:33.428-05:00", 1585746093428, -18000},
        {"yyyy-MM-dd'T'HH:mm:ss.SSSZ", "2020-04-01T13:01:33.4+0130", 1585746093400, 5400},
        {"yyyyMMdd", "20200401", 1585699200000, -1},
        {"yyyy-M-d", "2020-4-1", 1585699200000, -1},
        {"yy-MM", "24-02", 1706745600000, -1},
        {"yy-MM", "77-02", 223603200000, -1},
        {"MM/dd", "02/29", 951782400000, -1}, /* of the year 2000 */
        {"HH", "05", 18000000, -1},
        {"yyyy-DDD", "2024-060", 1709164800000, -1},
        {"d MMM yyyy h:mm a", "1 jan 2024 12:30 PM", 1704112200000, -1},
        {"d MMMM yyyy", "1 January 2024", 1704067200000, -1},
        {"EEE yyyy-MM-dd", "Fri 2024-01-01", 1704412800000, -1}, /* that week's Friday */
        {"k", "24", 0, -1},
        {"yyyy", "-5", -62324985600000, -1},
    };
    static const struct {
        const char *pattern, *text;
    } bad[] = {
        {"yyyy-MM-dd", "2024-02-30"},
        {"yyyy-MM-dd", "2024-13-01"},
        {"yyyy-MM-dd", "2024-01-01 "},
        {"yyyy-MM-dd", "2024-01"},
        {"yyyy-MM-dd", ""},
        {"HH:mm", "24:00"},
        {"HH:mm", "aa:bb"},
        {"Z", "+1"},
        {"Z", "+25:00"},
        {"SSS", ""},
        {"yyyy-DDD", "2023-366"},
        {"MMM", "Foo"},
    };
    struct hd_arena arena = {0};
    struct hd_parsed_time time;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        const struct hd_date_pattern *pattern = parse(op, &arena, cases[i].pattern, true);

        if (!hd_date_pattern_read(pattern, hd_slice_text(cases[i].text), 2026, &time))
            fail_msg("%s", cases[i].text);
        assert_int_equal(time.local_ms, cases[i].local_ms);
        assert_int_equal(time.has_offset, cases[i].offset_s != -1);
        if (time.has_offset)
            assert_int_equal(time.offset_s, cases[i].offset_s);
    }
    for (size_t i = 0; i < HD_ARRAY_LENGTH(bad); i++) {
        if (hd_date_pattern_read(parse(op, &arena, bad[i].pattern, true),
                                 hd_slice_text(bad[i].text), 2026, &time))
            fail_msg("%s", bad[i].text);
    }
    hd_arena_clear(&arena);
}

static void patterns_that_are_not_known_are_refused(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    static const struct {
        const char *text;
        bool for_reading;
        hudi_status status;
    } cases[] = {
        {"yyyy'", false, HUDI_INVALID},
        {"yyyyyyyyyyyyyyyyyyyyyyyyy", false, HUDI_INVALID},
        {"yyyy-qq", false, HUDI_NOT_IMPLEMENTED},
        {"z", false, HUDI_NOT_IMPLEMENTED},
        {"xxxx-ww", true, HUDI_NOT_IMPLEMENTED},
        {"ZZZ", true, HUDI_NOT_IMPLEMENTED},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        const struct hd_date_pattern *pattern = NULL;

        assert_int_equal(hd_date_pattern_parse(op, hd_slice_text(cases[i].text),
                                               cases[i].for_reading, &arena, &pattern),
                         cases[i].status);
        assert_null(pattern);
        hd_op_clear_error(op);
    }
    hd_arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(times_are_written),
        TEST(texts_are_read),
        TEST(patterns_that_are_not_known_are_refused),
    };

    return cmocka_run_group_tests_name("date_pattern", tests, NULL, NULL);
}
