/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "arrow/text.h"
#include "arrow_testing.h"
#include "base/utf8.h"

static struct hd_slice text(const char *c)
{
    return hd_slice_text(c);
}

static void reads_integers(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } GOOD[] = {{"0", 0},
                {"-0", 0},
                {"+7", 7},
                {" 12\t", 12},
                {"007", 7},
                {"12.000", 12},
                {"1.2e1", 12},
                {"1200E-2", 12},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const BAD[] = {"",
                                      " ",
                                      "-",
                                      "+",
                                      ".",
                                      "1.5",
                                      "1e",
                                      "1e+",
                                      "e1",
                                      "1 2",
                                      "0x10",
                                      "9223372036854775808",
                                      "1e19",
                                      "--1",
                                      "1.2.",
                                      "NaN",
                                      "1e99999999999"};
    int64_t value;

    (void)state;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(GOOD); i++) {
        assert_true(hd_parse_integer(text(GOOD[i].text), &value));
        assert_int_equal(value, GOOD[i].value);
    }
    for (size_t i = 0; i < HD_ARRAY_LENGTH(BAD); i++)
        assert_false(hd_parse_integer(text(BAD[i]), &value));
}

static void reads_floating_point(void **state)
{
    double d;
    float f;

    (void)state;
    assert_true(hd_parse_double(text("0.1"), &d) && d == 0.1);
    assert_true(hd_parse_double(text("-12.5e-3"), &d) && d == -0.0125);
    assert_true(hd_parse_double(text(".5"), &d) && d == 0.5);
    assert_true(hd_parse_double(text("5."), &d) && d == 5);
    assert_true(hd_parse_double(text("-0.0"), &d) && d == 0 && signbit(d));
    assert_true(hd_parse_double(text("1.7976931348623157E308"), &d) && d == 0x1.fffffffffffffp1023);
    assert_true(hd_parse_double(text("4.9E-324"), &d) && d == 0x1p-1074);
    assert_true(hd_parse_double(text("1e-400"), &d) && d == 0);
    assert_true(hd_parse_double(text("NaN"), &d) && isnan(d));
    assert_true(hd_parse_double(text("-Infinity"), &d) && d == -INFINITY);
    assert_true(hd_parse_double(text("+inf"), &d) && d == INFINITY);
    assert_false(hd_parse_double(text("1.8e308"), &d));
    assert_false(hd_parse_double(text("1,5"), &d));
    assert_false(hd_parse_double(text("0x1p3"), &d));
    assert_false(hd_parse_double(text("infinit"), &d));
    assert_true(hd_parse_float(text("0.1"), &f) && f == 0.1f);
    assert_false(hd_parse_float(text("1e39"), &f));
    /* a double between would round twice: halfway, then to even */
    assert_true(hd_parse_float(text("1.000000059604644776"), &f) && f == 0x1.000002p0f);
}

static void reads_decimals(void **state)
{
    static const struct {
        const char *text;
        int32_t precision, scale;
        bool exact, half_up;
        int64_t value; /* of those that are right */
    } CASES[] = {
        {"12.5", 10, 2, true, true, 1250},
        {"-12.50", 10, 2, true, true, -1250},
        {"12.500", 10, 2, true, true, 1250},
        {"1.005", 10, 2, false, true, 101},
        {"-1.005", 10, 2, false, true, -101},
        {"1.0049999", 10, 2, false, true, 100},
        {"1E3", 10, 2, true, true, 100000},
        {"1E-3", 10, 2, false, true, 0},
        {"123.45", 4, 2, false, false, 0},
        {"99.995", 4, 2, false, false, 0}, /* rounds to 100.00 */
        {"0e99999", 4, 2, true, true, 0},
        {"1e99999", 38, 0, false, false, 0},
        {"1e-99999", 38, 0, false, true, 0},
        {"0.00000000000000000000000000000000000000000000000005", 38, 2, false, true, 0},
        {"1.00000000000000000000000000000000000000000000000005", 38, 2, false, true, 100},
    };

    (void)state;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        hd_int128 value;
        const bool exact = hd_parse_decimal(text(CASES[i].text), CASES[i].precision, CASES[i].scale,
                                            HD_ROUND_EXACT, &value);
        assert_int_equal(exact, CASES[i].exact);
        assert_true(!exact || value == CASES[i].value);
        const bool rounded = hd_parse_decimal(text(CASES[i].text), CASES[i].precision,
                                              CASES[i].scale, HD_ROUND_HALF_UP, &value);
        assert_int_equal(rounded, CASES[i].half_up);
        assert_true(!rounded || value == CASES[i].value);
    }
    hd_int128 largest;
    assert_true(hd_parse_decimal(text("99999999999999999999999999999999999999"), 38, 0,
                                 HD_ROUND_EXACT, &largest));
    assert_true(largest == hd_decimal_power(38) - 1);
    assert_true(hd_parse_decimal(text("1234567890123456789012345678901234567.85"), 38, 1,
                                 HD_ROUND_HALF_UP, &largest));
    assert_true(largest % 100 == 79);
}

static void reads_dates_of_the_proleptic_calendar(void **state)
{
    static const struct {
        const char *text;
        int32_t days;
    } GOOD[] = {{"1970-01-01", 0},        {"1969-12-31", -1},       {"2024-02-29", 19782},
                {"2024-2-9", 19762},      {"0001-01-01", -719162},  {"1582-10-04", -141438},
                {"1582-10-15", -141427},  {"9999-12-31", 2932896},  {"0000-03-01", -719468},
                {"-0001-12-31", -719529}, {"+10000-01-01", 2932897}};
    static const char *const BAD[] = {"",
                                      "2023-02-29",
                                      "1900-02-29",
                                      "2024-13-01",
                                      "2024-00-01",
                                      "2024-01-00",
                                      "2024-04-31",
                                      "24-01-01",
                                      "2024-01",
                                      "2024/01/01",
                                      "10000-01-01",
                                      "2024-01-01x",
                                      "2024-001-01",
                                      "+9999999999-01-01"};
    int32_t days;

    (void)state;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(GOOD); i++) {
        assert_true(hd_parse_date(text(GOOD[i].text), &days));
        assert_int_equal(days, GOOD[i].days);
    }
    for (size_t i = 0; i < HD_ARRAY_LENGTH(BAD); i++)
        assert_false(hd_parse_date(text(BAD[i]), &days));
}

static void reads_times_of_day(void **state)
{
    int64_t value;

    (void)state;
    assert_true(hd_parse_time(text("12:34"), HD_UNIT_MILLI, &value) && value == 45240000);
    assert_true(hd_parse_time(text("23:59:59.999"), HD_UNIT_MILLI, &value) && value == 86399999);
    assert_true(hd_parse_time(text("00:00:00.1234500"), HD_UNIT_MICRO, &value) && value == 123450);
    assert_true(hd_parse_time(text("1:02:03.000000004"), HD_UNIT_NANO, &value) &&
                value == INT64_C(3723000000004));
    assert_false(hd_parse_time(text("12:34:56.7891"), HD_UNIT_MILLI, &value));
    assert_false(hd_parse_time(text("24:00:00"), HD_UNIT_MILLI, &value));
    assert_false(hd_parse_time(text("12:60"), HD_UNIT_MILLI, &value));
    assert_false(hd_parse_time(text("12:34:56."), HD_UNIT_MILLI, &value));
    assert_false(hd_parse_time(text("12"), HD_UNIT_MILLI, &value));
    assert_false(hd_parse_time(text("12:34Z"), HD_UNIT_MILLI, &value));
}

static void reads_timestamps_with_and_without_zone(void **state)
{
    static const struct {
        const char *text;
        int64_t micros;
        bool utc, local; /* is it one? */
    } CASES[] = {
        {"1970-01-01T00:00:00Z", 0, true, false},
        {"1970-01-01 00:00:00", 0, true, true},
        {"2024-07-10T17:07:04.939Z", INT64_C(1720631224939000), true, false},
        {"2024-07-10T19:07:04.939+02:00", INT64_C(1720631224939000), true, false},
        {"2024-07-10T11:37:04.939-0530", INT64_C(1720631224939000), true, false},
        {"2024-07-10 18:07:04.939 +01", INT64_C(1720631224939000), true, false},
        {"1969-12-31T23:59:59.999999", -1, true, true},
        {"2024-07-10", INT64_C(1720569600000000), true, true},
        {"2024-07-10T17:07", INT64_C(1720631220000000), true, true},
        {"2024-07-10T17:07:04.9390001Z", 0, false, false},
        {"2024-07-10T17:07:04+", 0, false, false},
        {"2024-07-10T17:07:04+1", 0, false, false},
        {"2024-07-10T17:07:04+01:", 0, false, false},
        {"2024-07-10T17:07:04 UTC", 0, false, false},
        {"2024-07-10T", 0, false, false},
        {"2024-07-10_17:07", 0, false, false},
        {"+999999-01-01", 0, false, false}, /* past 64 bits */
    };
    int64_t value;

    (void)state;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        assert_int_equal(hd_parse_timestamp(text(CASES[i].text), HD_UNIT_MICRO, true, &value),
                         CASES[i].utc);
        assert_true(!CASES[i].utc || value == CASES[i].micros);
        assert_int_equal(hd_parse_timestamp(text(CASES[i].text), HD_UNIT_MICRO, false, &value),
                         CASES[i].local);
    }
}

static void tells_utf8_from_other_bytes(void **state)
{
    static const char *const GOOD[] = {"",
                                       "abc",
                                       "gr\xc3\xbc\xc3\x9f",
                                       "\xe2\x82\xac",
                                       "\xf0\x9f\x98\x80",
                                       "\xf4\x8f\xbf\xbf",
                                       "\xed\x9f\xbf",
                                       "eight by\xc3\xa4tes and more"};
    static const char *const BAD[] = {"\x80",
                                      "\xc3",
                                      "\xc0\x80",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "long enough for words \xc3("};

    (void)state;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(GOOD); i++)
        assert_true(hd_utf8_valid(text(GOOD[i])));
    for (size_t i = 0; i < HD_ARRAY_LENGTH(BAD); i++)
        assert_false(hd_utf8_valid(text(BAD[i])));
}

static void rescales_and_compares_decimals(void **state)
{
    hd_int128 out;

    (void)state;
    assert_true(hd_decimal_rescale(-15, 1, 0, 38, HD_ROUND_HALF_UP, &out) && out == -2);
    assert_true(hd_decimal_rescale(14, 1, 0, 38, HD_ROUND_HALF_UP, &out) && out == 1);
    assert_false(hd_decimal_rescale(14, 1, 0, 38, HD_ROUND_EXACT, &out));
    assert_false(hd_decimal_rescale(hd_decimal_power(37), 0, 2, 38, HD_ROUND_EXACT, &out));
    assert_true(hd_decimal_rescale(hd_decimal_power(38) - 1, 40, 0, 38, HD_ROUND_HALF_UP, &out) &&
                out == 0);
    assert_true(hd_decimal_rescale(hd_decimal_power(38) - 1, 38, 0, 38, HD_ROUND_HALF_UP, &out) &&
                out == 1);
    assert_int_equal(hd_decimal_compare(125, 2, 13, 1), -1);
    assert_int_equal(hd_decimal_compare(130, 2, 13, 1), 0);
    assert_int_equal(hd_decimal_compare(hd_decimal_power(37), 0, 1, 38), 1);
    assert_int_equal(hd_decimal_compare(-hd_decimal_power(37), 0, -1, 38), -1);
    assert_int_equal(hd_decimal_compare(-1, 5, 0, 0), -1);
    for (int32_t i = 1; i <= 38; i++)
        assert_true(hd_decimal_power(i) == hd_decimal_power(i - 1) * 10);
    assert_true(hd_decimal_fits(999, 3) && !hd_decimal_fits(1000, 3) && !hd_decimal_fits(-1000, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_integers),
        cmocka_unit_test(reads_floating_point),
        cmocka_unit_test(reads_decimals),
        cmocka_unit_test(reads_dates_of_the_proleptic_calendar),
        cmocka_unit_test(reads_times_of_day),
        cmocka_unit_test(reads_timestamps_with_and_without_zone),
        cmocka_unit_test(tells_utf8_from_other_bytes),
        cmocka_unit_test(rescales_and_compares_decimals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
