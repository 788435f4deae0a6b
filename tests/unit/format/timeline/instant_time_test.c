/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/timeline/instant.h"
#include "support/fault.h"
#include "support/table.h"

static void expect(struct hd_op *op, const char *text, const char *wanted)
{
    char time[HD_INSTANT_TIME_BYTES];

    test_must(op, hd_instant_time_parse(op, text, true, time));
    if (strcmp(time, wanted) != 0)
        fail_msg("%s is %s, not %s", text, time, wanted);
}

static void instants_are_kept_as_they_are(void **state)
{
    expect(*state, "20240102030405678", "20240102030405678");
    expect(*state, "20240102030405", "20240102030405");
    expect(*state, "20240102030405678001", "20240102030405678001"); /* of a metadata table */
    expect(*state, "000", "000");
    expect(*state, "0", "0");
    expect(*state, "00000000000000", "00000000000000");
}

static void fewer_digits_are_the_beginning_of_what_they_name(void **state)
{
    expect(*state, "2024", "20240000000000000");
    expect(*state, "00000000000002", "00000000000002"); /* of a bootstrap */
    expect(*state, "20240102", "20240102000000000");
    expect(*state, "202401020304", "20240102030400000");
    expect(*state, "2024010203040567", "20240102030405670");
}

static void iso_dates_and_times_are_taken(void **state)
{
    expect(*state, "2024-01-02", "20240102000000000");
    expect(*state, "2024-02-29", "20240229000000000");
    expect(*state, "2024-01-02T03:04", "20240102030400000");
    expect(*state, "2024-01-02 03:04:05", "20240102030405000");
    expect(*state, "2024-01-02T03:04:05.6", "20240102030405600");
    expect(*state, "2024-01-02T03:04:05.678999", "20240102030405678");
    expect(*state, "2024-01-02T03:04:05Z", "20240102030405000");
    expect(*state, "2024-01-02T03:04:05.678+02:00", "20240102010405678");
    expect(*state, "2024-01-01T23:04:05-0530", "20240102043405000");
    expect(*state, "2024-03-01T00:30:00+01", "20240229233000000");
}

static void a_zone_is_turned_into_that_of_the_timeline(void **state)
{
    char time[HD_INSTANT_TIME_BYTES];

    setenv("TZ", "XYZ-03:00", 1); /* three hours east of UTC, no daylight saving */
    tzset();
    test_must(*state, hd_instant_time_parse(*state, "2024-01-02T03:04:05Z", false, time));
    assert_string_equal(time, "20240102060405000");
    test_must(*state, hd_instant_time_parse(*state, "2024-01-02T03:04:05", false, time));
    assert_string_equal(time, "20240102030405000");
    hd_instant_time_format(0, false, time);
    assert_string_equal(time, "19700101030000000");
    unsetenv("TZ");
    tzset();
}

static void ages_count_back_from_now(void **state)
{
    test_clock_set(*state, UINT64_C(1704164645678)); /* 2024-01-02T03:04:05.678Z */
    expect(*state, "-5s", "20240102030400678");
    expect(*state, "-90m", "20240102013405678");
    expect(*state, "-2h", "20240102010405678");
    expect(*state, "-1d", "20240101030405678");
    expect(*state, "-1w", "20231226030405678");
    expect(*state, "-0s", "20240102030405678");
}

static void other_texts_are_refused_by_name(void **state)
{
    static const char *const TEXTS[] = {
        "",
        "now",
        "yesterday",
        "1",
        "123",
        "12a4",
        "-",
        "-h",
        "-2",
        "-2y",
        "-2hh",
        "- 2h",
        "2024-1-2",
        "2024-13-01",
        "2024-00-01",
        "2023-02-29",
        "2024-01-32",
        "2024-01-02T",
        "-99999999999999999999s",
        "-9999999w",
        "2024-01-02T24:00",
        "2024-01-02T03:60",
        "2024-01-02T03:04:05.",
        "2024-01-02T03:04:05+",
        "2024-01-02T03:04:05+25:00",
        "2024-01-02T03:04:05Zx",
        "2024-01-02T03:04:60",
        "1969-12-31T00:00:00Z",
        "202401020304056780012345",
        "2024/01/02",
        "20261301",
        "202600",
        "20230229",
        "20260132",
        "2026010124",
        "202601010060",
        "20260101000060",
        "20261301000000000",
        "20261301000000000001",
    };
    struct hd_op *op = *state;

    test_clock_set(op, UINT64_C(1704164645678));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(TEXTS); i++) {
        char time[HD_INSTANT_TIME_BYTES];

        if (hd_instant_time_parse(op, TEXTS[i], true, time) != HUDI_INVALID)
            fail_msg("\"%s\" became %s", TEXTS[i], time);
        assert_string_equal(time, "");
        assert_non_null(strstr(hudi_error_message(op->error), TEXTS[i]));
        hd_op_clear_error(op);
    }
}

static void the_next_time_is_a_date_and_greater(void **state)
{
    char next[HD_INSTANT_TIME_BYTES];

    (void)state;
    assert_true(hd_instant_time_next("20240102030405678", next));
    assert_string_equal(next, "20240102030405679");
    assert_true(hd_instant_time_next("20240228235959999", next));
    assert_string_equal(next, "20240229000000000");
    assert_true(hd_instant_time_next("20231231235959999", next));
    assert_string_equal(next, "20240101000000000");
    assert_true(hd_instant_time_next("20240102030405", next)); /* 14 digits, then 999 */
    assert_string_equal(next, "20240102030406000");
    assert_true(hd_instant_time_next("20240102030405678001", next));
    assert_string_equal(next, "20240102030405679");
    assert_false(hd_instant_time_next("99991231235959999", next));
    assert_false(hd_instant_time_next("20241332030405678", next));
    assert_false(hd_instant_time_next("", next));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instants_are_kept_as_they_are),
        cmocka_unit_test(fewer_digits_are_the_beginning_of_what_they_name),
        cmocka_unit_test(iso_dates_and_times_are_taken),
        cmocka_unit_test(a_zone_is_turned_into_that_of_the_timeline),
        cmocka_unit_test(ages_count_back_from_now),
        cmocka_unit_test(other_texts_are_refused_by_name),
        cmocka_unit_test(the_next_time_is_a_date_and_greater),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
