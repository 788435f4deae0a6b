/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "arrow/java_text.h"
#include "arrow_testing.h"

/* Expected texts were printed by JDK 17. */

static void assert_text(const char *text, size_t n, const char *expected)
{
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(text, expected, n);
}

static void doubles_are_written_as_java_does(void **state)
{
    (void)state;
    static const struct {
        uint64_t bits;
        const char *text;
    } cases[] = {
        {0x0, "0.0"},
        {0x8000000000000000, "-0.0"},
        {0x3ff0000000000000, "1.0"},
        {0xbff8000000000000, "-1.5"},
        {0x3f50624dd2f1a9fc, "0.001"},
        {0x3f50385c67dfe32a, "9.9E-4"},
        {0x416312d000000000, "1.0E7"},
        {0x416312cfe0000000, "9999999.0"},
        {0x41678c29dccccccd, "1.23456789E7"},
        {0x4202a05f20000000, "1.0E10"},
        {0x44c52d02c7e14af6, "1.9999999999999998E23"},
        {0x44b52d02c7e14af6, "9.999999999999999E22"},
        {0x447c7e83209e90b2, "8.409999999999999E21"},
        {0x10000000000000, "2.2250738585072014E-308"},
        {0x1, "4.9E-324"},
        {0x7fefffffffffffff, "1.7976931348623157E308"},
        {0x3fb999999999999a, "0.1"},
        {0x3fd5555555555555, "0.3333333333333333"},
        {0x4059000000000000, "100.0"},
        {0x437b69b4ba630f35, "1.2345678901234568E17"},
        {0x4340000000000000, "9.007199254740992E15"},
        {0x3f0a36e2eb1c432d, "5.0E-5"},
        {0x3f60624dd2f1a9fc, "0.002"},
        {0x3ee711947cfa26a2, "1.1E-5"},
        {0x3d30000000000000, "5.6843418860808015E-14"},
        {0x43e0000000000000, "9.223372036854776E18"},
        {0x7ff8000000000000, "NaN"},
        {0x7ff0000000000000, "Infinity"},
        {0xfff0000000000000, "-Infinity"},
        {0x3f1a36e2eb1c432d, "1.0E-4"},
        {0x36e568a19263f40e, "3.0E-44"},
        {0x3eb0000000000000, "9.5367431640625E-7"},
        {0x4011666666666666, "4.35"},
        {0x4132d68720000000, "1234567.125"},
    };
    char text[HD_JAVA_TEXT_BYTES];

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        double value;

        memcpy(&value, &cases[i].bits, sizeof value);
        assert_text(text, hd_java_double_format(value, text), cases[i].text);
    }
}

static void floats_are_written_as_java_does(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits;
        const char *text;
    } cases[] = {
        {0x3dcccccd, "0.1"},          {0x3f800000, "1.0"},    {0x4b800000, "1.6777216E7"},
        {0x7f7fffff, "3.4028235E38"}, {0x1, "1.4E-45"},       {0x4b189680, "1.0E7"},
        {0x3a83126f, "0.001"},        {0x380a697b, "3.3E-5"}, {0x50000000, "8.5899346E9"},
        {0x501502f9, "1.0E10"},       {0xc0200000, "-2.5"},   {0x800000, "1.17549435E-38"},
    };
    char text[HD_JAVA_TEXT_BYTES];

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        float value;

        memcpy(&value, &cases[i].bits, sizeof value);
        assert_text(text, hd_java_float_format(value, text), cases[i].text);
    }
}

/* By the text, in the order of the floats, and back to the same float. */
static void floats_become_doubles_by_their_text(void **state)
{
    (void)state;
    double last = -INFINITY;

    assert_true(hd_java_float_to_double(0.1F) == 0.1);
    assert_true(hd_java_float_to_double(-3.3333F) == -3.3333);
    assert_true(hd_java_float_to_double(1e30F) == 1e30);
    assert_true(hd_java_float_to_double(16777217.0F) == 16777216.0);
    assert_true(hd_java_float_to_double(INFINITY) == INFINITY);
    assert_true(isnan(hd_java_float_to_double(NAN)));
    assert_true(signbit(hd_java_float_to_double(-0.0F)));
    for (int64_t i = -0x7f7fffff; i <= 0x7f7fffff; i += 65521) {
        const uint32_t bits = i < 0 ? 0x80000000U | (uint32_t)-i : (uint32_t)i;
        float value;

        memcpy(&value, &bits, sizeof value);
        const double wide = hd_java_float_to_double(value);
        assert_true(wide > last && (float)wide == value);
        last = wide;
    }
}

static void every_double_of_a_walk_reads_back(void **state)
{
    (void)state;
    uint64_t bits = 1;
    char text[HD_JAVA_TEXT_BYTES + 1];

    for (int i = 0; i < 200000; i++) {
        double value;

        bits = bits * 6364136223846793005ULL + 1442695040888963407ULL;
        memcpy(&value, &bits, sizeof value);
        if (value != value || value - value != 0)
            continue;
        text[hd_java_double_format(value, text)] = '\0';
        const double back = strtod(text, NULL);
        assert_memory_equal(&back, &value, sizeof value);
    }
}

static void decimals_are_written_as_java_does(void **state)
{
    (void)state;
    static const struct {
        const char *unscaled;
        int32_t scale;
        const char *text;
    } cases[] = {
        {"1250", 2, "12.50"},
        {"-5", 2, "-0.05"},
        {"0", 2, "0.00"},
        {"0", 0, "0"},
        {"1", 7, "1E-7"},
        {"123", 10, "1.23E-8"},
        {"1", 6, "0.000001"},
        {"12345678901234567890123456789012345678", 0, "12345678901234567890123456789012345678"},
        {"-12345678901234567890123456789012345678", 38,
         "-0.12345678901234567890123456789012345678"},
        {"5", -3, "5E+3"},
        {"123", -3, "1.23E+5"},
        {"0", -3, "0E+3"},
        {"0", 8, "0E-8"},
        {"100", 38, "1.00E-36"},
    };
    char text[HD_JAVA_TEXT_BYTES];

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        const char *at = cases[i].unscaled;
        const bool negative = *at == '-';
        hd_int128 value = 0;

        for (at += negative; *at != '\0'; at++)
            value = value * 10 + (*at - '0');
        assert_text(text, hd_java_decimal_format(negative ? -value : value, cases[i].scale, text),
                    cases[i].text);
    }
}

static void dates_are_written_as_java_does(void **state)
{
    (void)state;
    static const struct {
        int64_t days;
        const char *text;
    } cases[] = {
        {0, "1970-01-01"},       {-1, "1969-12-31"},        {19724, "2024-01-02"},
        {2932896, "9999-12-31"}, {2932897, "+10000-01-01"}, {-719529, "-0001-12-31"},
        {-719528, "0000-01-01"}, {-800000, "-0221-09-04"},  {11016, "2000-02-29"},
    };
    char text[HD_JAVA_TEXT_BYTES];

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        int64_t year;
        int32_t month, day;

        assert_text(text, hd_java_date_format(cases[i].days, text), cases[i].text);
        hd_date_of_days(cases[i].days, &year, &month, &day);
        assert_int_equal(hd_days_of_date(year, month, day), cases[i].days);
    }
}

static void timestamps_are_written_as_java_does(void **state)
{
    (void)state;
    static const struct {
        int64_t millis;
        const char *text;
    } cases[] = {
        {0, "1970-01-01 00:00:00.0"},
        {1704067200500, "2024-01-01 00:00:00.5"},
        {1704067200050, "2024-01-01 00:00:00.05"},
        {-1, "1969-12-31 23:59:59.999"},
        {1704070923000, "2024-01-01 01:02:03.0"},
        {1704070923120, "2024-01-01 01:02:03.12"},
    };
    char text[HD_JAVA_TEXT_BYTES];

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++)
        assert_text(text, hd_java_timestamp_format(cases[i].millis, text), cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(doubles_are_written_as_java_does),    TEST(floats_are_written_as_java_does),
        TEST(floats_become_doubles_by_their_text), TEST(every_double_of_a_walk_reads_back),
        TEST(decimals_are_written_as_java_does),   TEST(dates_are_written_as_java_does),
        TEST(timestamps_are_written_as_java_does),
    };

    return cmocka_run_group_tests_name("java_text", tests, NULL, NULL);
}
