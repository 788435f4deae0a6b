/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/time_zone.h"
#include "engine/record/time_zone_rule.h"
#include "support/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

static const struct hd_time_zone *load(struct hd_op *op, struct hd_arena *arena, const char *id)
{
    const struct hd_time_zone *zone = NULL;

    assert_int_equal(hd_time_zone_load(op, id, arena, &zone), HUDI_OK);
    return zone;
}

static void offsets_from_greenwich_need_no_file(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    static const struct {
        const char *id;
        int32_t offset_s;
        const char *name;
    } cases[] = {
        {"UTC", 0, "UTC"},
        {"GMT", 0, "UTC"},
        {"GMT+8", 28800, "+08:00"},
        {"GMT+8:00", 28800, "+08:00"},
        {"GMT+08:00", 28800, "+08:00"},
        {"GMT-03:30", -12600, "-03:30"},
        {"GMT+0545", 20700, "+05:45"},
        {"GMT-930", -34200, "-09:30"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        const struct hd_time_zone *zone = load(op, &arena, cases[i].id);

        assert_int_equal(hd_time_zone_offset(zone, 1700000000), cases[i].offset_s);
        assert_string_equal(hd_time_zone_id(zone), cases[i].name);
    }
    hd_arena_clear(&arena);
}

static void zones_of_the_system_change_with_the_seasons(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    static const struct {
        const char *id;
        int64_t utc_s;
        int32_t offset_s;
    } cases[] = {
        {"Europe/Berlin", 1711846799, 3600}, /* 2024-03-31T00:59:59Z */
        {"Europe/Berlin", 1711846800, 7200}, /* one second later */
        {"Europe/Berlin", 1729990799, 7200}, /* 2024-10-27T00:59:59Z */
        {"Europe/Berlin", 1729990800, 3600},
        {"Europe/Berlin", 2540160000, 7200}, /* 2050-06-30: by the rule at the end of the file */
        {"Europe/Berlin", 2524608000, 3600}, /* 2050-01-01 */
        {"Asia/Kolkata", 1700000000, 19800},
        {"America/New_York", 1710054000, -14400}, /* 2024-03-10T07:00:00Z */
        {"America/New_York", 1710053999, -18000},
        {"Australia/Sydney", 1704067200, 39600},
        {"Australia/Sydney", 1719792000, 36000},
        {"Asia/Shanghai", 520000000, 32400}, /* summer time of 1986 */
        {"PST", 1704067200, -28800},
        {"IST", 1704067200, 19800},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        const struct hd_time_zone *zone = load(op, &arena, cases[i].id);

        assert_int_equal(hd_time_zone_offset(zone, cases[i].utc_s), cases[i].offset_s);
    }
    hd_arena_clear(&arena);
}

static void local_times_that_never_were_have_no_instant(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    const struct hd_time_zone *berlin = load(op, &arena, "Europe/Berlin");
    int64_t utc_s;

    /* 2024-03-31: 01:59:59, then 03:00:00 */
    assert_true(hd_time_zone_to_utc(berlin, 1711850399, &utc_s));
    assert_int_equal(utc_s, 1711846799);
    assert_false(hd_time_zone_to_utc(berlin, 1711850400, &utc_s));
    assert_false(hd_time_zone_to_utc(berlin, 1711853999, &utc_s));
    assert_true(hd_time_zone_to_utc(berlin, 1711854000, &utc_s));
    assert_int_equal(utc_s, 1711846800);
    /* 2024-10-27 02:30 came twice: the earlier */
    assert_true(hd_time_zone_to_utc(berlin, 1729996200, &utc_s));
    assert_int_equal(utc_s, 1729989000);
    hd_arena_clear(&arena);
}

static void names_that_are_no_zones_are_refused(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    static const char *const ids[] = {"",           "Mars/Olympus", "../passwd", "/etc/passwd",
                                      "Europe/..",  "GMT+24:00",    "GMT+1:60",  "GMT+x",
                                      "GMT+123456", "Europe\n"};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(ids); i++) {
        const struct hd_time_zone *zone = NULL;

        assert_int_equal(hd_time_zone_load(op, ids[i], &arena, &zone), HUDI_INVALID);
        assert_null(zone);
        assert_non_null(op->error);
        hd_op_clear_error(op);
    }
    hd_arena_clear(&arena);
}

static void rules_of_later_times_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t utc_s;
        int32_t offset_s;
    } cases[] = {
        {"EST5", 0, -18000},
        {"<+0330>-3:30", 0, 12600},
        {"CET-1CEST,M3.5.0,M10.5.0/3", 1711846800, 7200},
        {"CET-1CEST,M3.5.0,M10.5.0/3", 1729990800, 3600},
        {"AEST-10AEDT,M10.1.0,M4.1.0/3", 1704067200, 39600},
        {"AEST-10AEDT,M10.1.0,M4.1.0/3", 1719792000, 36000},
        {"A0B,J60/0,J61/0", 1709251200, 3600}, /* 2024-03-01: day 60 whatever the leap day */
        {"A0B,J60/0,J61/0", 1709164800, 0},
        {"A0B,59/0,60/0", 1709164800, 3600}, /* 2024-02-29 is day 59 from 0 */
        {"A0B-2,0/0,J365/23", 1704067200, 7200},
    };
    static const char *const bad[] = {"",
                                      "5",
                                      "EST",
                                      "EST5EDT",
                                      "EST5EDT,M3.2.0",
                                      "EST5EDT,M13.2.0,M1.1.0",
                                      "EST5EDT,M3.6.0,M1.1.0",
                                      "EST5EDT,J0,J1",
                                      "EST5EDT,366,1",
                                      "EST5EDT,M3.2.0,M11.1.0x",
                                      "<EST5",
                                      "EST168"};
    struct hd_time_zone_rule rule;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        assert_true(hd_time_zone_rule_parse(hd_slice_text(cases[i].text), &rule));
        assert_int_equal(hd_time_zone_rule_offset(&rule, cases[i].utc_s), cases[i].offset_s);
    }
    for (size_t i = 0; i < HD_ARRAY_LENGTH(bad); i++)
        assert_false(hd_time_zone_rule_parse(hd_slice_text(bad[i]), &rule));
}

/* Version 2: an empty first block, two transitions (at 0 to +1h, at 1000 to 0), a rule. */
#define HEADER(times, types, chars)                                                                \
    "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" times "\0\0\0" types             \
    "\0\0\0" chars
static const char FILE_BYTES[] = HEADER("\0\0\0\0", "\1", "\1") "\0\0\0\0\0\0\0" HEADER(
    "\0\0\0\2", "\2",
    "\4") "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3\xe8\1\0\0\0\0\0\0\0\0\0\x0e\x10\1\0UTC\0\nUTC0\n";

static void a_file_cut_anywhere_is_refused(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    const struct hd_time_zone *zone = NULL;
    const size_t size = sizeof(FILE_BYTES) - 1;

    assert_int_equal(hd_time_zone_parse(op, "X", hd_slice_of(FILE_BYTES, size), &arena, &zone),
                     HUDI_OK);
    assert_int_equal(hd_time_zone_offset(zone, -1), 0);
    assert_int_equal(hd_time_zone_offset(zone, 0), 3600);
    assert_int_equal(hd_time_zone_offset(zone, 999), 3600);
    assert_int_equal(hd_time_zone_offset(zone, 1000), 0);
    for (size_t n = 0; n < size; n++) {
        assert_int_equal(hd_time_zone_parse(op, "X", hd_slice_of(FILE_BYTES, n), &arena, &zone),
                         HUDI_CORRUPT);
        assert_null(zone);
        hd_op_clear_error(op);
    }
    hd_arena_clear(&arena);
}

static void running_out_of_memory_anywhere_is_reported(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_arena arena = {0};
        const struct hd_time_zone *zone = NULL;

        test_fault_arm(op, nth);
        status = hd_time_zone_load(op, "Europe/Berlin", &arena, &zone);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_int_equal(status == HUDI_OK, zone != NULL);
        hd_arena_clear(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(offsets_from_greenwich_need_no_file),
        TEST(zones_of_the_system_change_with_the_seasons),
        TEST(local_times_that_never_were_have_no_instant),
        TEST(names_that_are_no_zones_are_refused),
        TEST(rules_of_later_times_are_understood),
        TEST(a_file_cut_anywhere_is_refused),
        TEST(running_out_of_memory_anywhere_is_reported),
    };

    return cmocka_run_group_tests_name("time_zone", tests, NULL, NULL);
}
