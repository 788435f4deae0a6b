/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "format/table/properties.h"
#include "support/fault.h"

static void parse(struct hd_op *op, const char *text, struct hd_properties *out)
{
    assert_int_equal(hd_properties_parse(op, hd_slice_text(text), out), HUDI_OK);
}

static void expect(struct hd_op *op, const char *text, const char *key, const char *value)
{
    struct hd_properties p;

    parse(op, text, &p);
    assert_int_equal(p.n_entries, 1);
    assert_string_equal(p.entries[0].key, key);
    assert_string_equal(p.entries[0].value, value);
    hd_properties_clear(&p);
}

/* The cases of java.util.Properties.load's documentation. */
static void reads_what_java_reads(void **state)
{
    struct hd_op *op = *state;

    expect(op, "Truth = Beauty", "Truth", "Beauty");
    expect(op, " Truth:Beauty", "Truth", "Beauty");
    expect(op, "Truth                    :Beauty", "Truth", "Beauty");
    expect(op, "fruits   apple, banana, \\\n   pear, \\\r\n\t  mango", "fruits",
           "apple, banana, pear, mango");
    expect(op, "cheeses", "cheeses", "");
    expect(op, "a\\:b\\=c\\ d=e", "a:b=c d", "e");
    expect(op, "k= = v ", "k", "= v ");
    expect(op, "k\\\n  ey=v", "key", "v");
    expect(op, "# not this\n! nor\\\nk=#v\r", "k", "#v");
    expect(op, "k=a\\\\\n", "k", "a\\");
    expect(op, "k=a\\", "k", "a");
    expect(op, "k=\\t\\n\\r\\f\\z", "k", "\t\n\r\fz");
    expect(op, "k=\\u00e9\\u65E5 \xe9", "k", "é日 é");
    expect(op, "k=\\uD83D\\uDE00", "k", "\U0001F600");
    expect(op, "k=\\uD83Dx\\uDE00", "k", "\uFFFDx\uFFFD");
    expect(op, "=v", "", "v");
}

static void an_empty_line_ends_a_joined_one(void **state)
{
    struct hd_op *op = *state;
    struct hd_properties p;

    parse(op, "k=v\\\n\nx=y\n\n", &p);
    assert_int_equal(p.n_entries, 2);
    assert_string_equal(hd_properties_get(&p, "k"), "v");
    assert_string_equal(hd_properties_get(&p, "x"), "y");
    hd_properties_clear(&p);
}

static void the_last_of_equal_keys_wins_in_the_place_of_the_first(void **state)
{
    struct hd_op *op = *state;
    struct hd_properties p;

    parse(op, "a=1\nb=2\na=3\n", &p);
    assert_int_equal(p.n_entries, 2);
    assert_string_equal(p.entries[0].key, "a");
    assert_string_equal(p.entries[0].value, "3");
    hd_properties_clear(&p);
}

static void refuses_bad_escapes_and_nul_with_the_line(void **state)
{
    struct hd_op *op = *state;
    struct hd_properties p;
    static const char *const bad[] = {"a=b\nc=\\u12", "a=b\nc=\\u12g4", "a=b\nc=\\u0000"};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(bad); i++) {
        assert_int_equal(hd_properties_parse(op, hd_slice_text(bad[i]), &p), HUDI_CORRUPT);
        assert_non_null(strstr(hudi_error_message(op->error), "line 2"));
        assert_null(p.entries);
        hd_op_clear_error(op);
    }
    assert_int_equal(hd_properties_parse(op, hd_slice_of("a=\0b", 4), &p), HUDI_CORRUPT);
    hd_op_clear_error(op);
}

static void set_adds_replaces_and_removes(void **state)
{
    struct hd_op *op = *state;
    struct hd_properties p;

    parse(op, "a=1\nb=2\nc=3\n", &p);
    assert_int_equal(hd_properties_set(op, &p, "a", NULL), HUDI_OK);
    assert_int_equal(hd_properties_set(op, &p, "none", NULL), HUDI_OK);
    assert_null(hd_properties_get(&p, "a"));
    assert_string_equal(hd_properties_get(&p, "b"), "2");
    assert_string_equal(hd_properties_get(&p, "c"), "3");
    assert_int_equal(hd_properties_set(op, &p, "c", "4"), HUDI_OK);
    assert_int_equal(hd_properties_set(op, &p, "a", "5"), HUDI_OK);
    assert_int_equal(p.n_entries, 3);
    assert_string_equal(p.entries[1].value, "4");
    assert_string_equal(p.entries[2].key, "a");
    hd_properties_clear(&p);
}

/* As java.util.Properties.store writes them. */
static void writes_javas_escapes_and_date(void **state)
{
    struct hd_op *op = *state;
    struct hd_properties p = {0};
    struct hd_str text = {0};

    assert_int_equal(hd_properties_set(op, &p, "a b", "  x y"), HUDI_OK);
    assert_int_equal(hd_properties_set(op, &p, "s", "{\"t\":1}=#!\\\t\n"), HUDI_OK);
    assert_int_equal(hd_properties_set(op, &p, "u", "é\U0001F600~\x7f"), HUDI_OK);
    assert_int_equal(
        hd_properties_format(op, &p, "Updated at 2026-11-30T13:56:06.623Z", 1796046966623, &text),
        HUDI_OK);
    assert_string_equal(text.data, "#Updated at 2026-11-30T13:56:06.623Z\n"
                                   "#Mon Nov 30 13:56:06 UTC 2026\n"
                                   "a\\ b=\\  x y\n"
                                   "s={\"t\"\\:1}\\=\\#\\!\\\\\\t\\n\n"
                                   "u=\\u00E9\\uD83D\\uDE00~\\u007F\n");
    struct hd_properties again;

    parse(op, text.data, &again);
    for (size_t i = 0; i < p.n_entries; i++)
        assert_string_equal(hd_properties_get(&again, p.entries[i].key), p.entries[i].value);
    assert_int_equal(again.n_entries, p.n_entries);
    hd_properties_clear(&again);
    hd_properties_clear(&p);
    hd_str_clear(&text);
}

static void refuses_to_write_what_is_not_utf8(void **state)
{
    struct hd_op *op = *state;
    static const char *const bad[] = {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xe6\x97",
                                      "\xf5\x80\x80\x80"};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(bad); i++) {
        struct hd_properties p = {0};
        struct hd_str text = {0};

        assert_int_equal(hd_properties_set(op, &p, "k", bad[i]), HUDI_OK);
        assert_int_equal(hd_properties_format(op, &p, "", 0, &text), HUDI_INVALID);
        hd_op_clear_error(op);
        hd_properties_clear(&p);
        hd_str_clear(&text);
    }
}

static const char SAMPLE[] = "#c\nhoodie.table.name=t\\u00e9\nlong\\\n  key : v\\=w\n";

static void every_prefix_parses_or_is_corrupt(void **state)
{
    struct hd_op *op = *state;

    for (size_t n = 0; n < sizeof SAMPLE; n++) {
        struct hd_properties p;
        char *copy; /* so that the sanitizer sees a read past the end */

        assert_int_equal(hd_alloc_raw(op, n, 1, &copy), HUDI_OK);
        memcpy(copy, SAMPLE, n);
        const hudi_status status = hd_properties_parse(op, hd_slice_of(copy, n), &p);

        assert_true(status == HUDI_OK || status == HUDI_CORRUPT);
        hd_op_clear_error(op);
        hd_properties_clear(&p);
        hd_free(op, copy);
    }
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_properties p;

        test_fault_arm(op, nth);
        status = hd_properties_parse(op, hd_slice_of(SAMPLE, sizeof SAMPLE - 1), &p);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        hd_properties_clear(&p);
    }
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        TEST(reads_what_java_reads),
        TEST(an_empty_line_ends_a_joined_one),
        TEST(the_last_of_equal_keys_wins_in_the_place_of_the_first),
        TEST(refuses_bad_escapes_and_nul_with_the_line),
        TEST(set_adds_replaces_and_removes),
        TEST(writes_javas_escapes_and_date),
        TEST(refuses_to_write_what_is_not_utf8),
        TEST(every_prefix_parses_or_is_corrupt),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
