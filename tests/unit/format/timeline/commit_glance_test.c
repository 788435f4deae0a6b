/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/timeline/commit_glance.h"

/* What timeline_golden_test.c does not have: commits of other writers, and damage. */

struct seen {
    char text[200]; /* "path=size;" */
    const char *stop;
};

static bool note(void *self, struct hd_slice path, int64_t n_bytes)
{
    struct seen *const seen = self;
    const size_t n = strlen(seen->text);

    snprintf(seen->text + n, sizeof seen->text - n, "%.*s=%lld;", (int)path.size,
             (const char *)path.data, (long long)n_bytes);
    return seen->stop == NULL || !hd_slice_equal(path, hd_slice_text(seen->stop));
}

static void assert_glance(const char *json, bool whole, const char *text)
{
    struct seen seen = {.text = ""};

    assert_int_equal(hd_commit_glance(hd_slice_text(json), note, &seen), whole);
    assert_string_equal(seen.text, text);
}

#define STATS(inside) "{\"partitionToWriteStats\":{\"a\":[" inside "]}}"

static void stats_are_given_in_their_order(void **state)
{
    (void)state;
    assert_glance("{}", true, "");
    assert_glance(STATS("{\"path\":\"a/x\",\"fileSizeInBytes\":5}"), true, "a/x=5;");
    assert_glance(STATS("{\"path\" : \"a/x\", \"n\": 1,\n\"fileSizeInBytes\" : 0 },"
                        "{\"path\":\"b\",\"fileSizeInBytes\":17}"),
                  true, "a/x=0;b=17;");
}

/* The schema in a commit, and notes of users, may say anything. */
static void texts_are_no_members(void **state)
{
    (void)state;
    assert_glance("{\"note\":\"{\\\"path\\\":\\\"x\\\"}\",\"path\":\"a\",\"fileSizeInBytes\":5,"
                  "\"other\":\"path\",\"third\":[\"path\",\"fileSizeInBytes\"]}",
                  true, "a=5;");
}

static void any_other_layout_is_not_known(void **state)
{
    (void)state;
    assert_glance("", false, "");
    assert_glance("[]", false, "");
    assert_glance("Obj\001", false, "");
    assert_glance(STATS("{\"fileSizeInBytes\":5,\"path\":\"a\"}"), false, "");
    assert_glance(STATS("{\"path\":\"a\"},{\"path\":\"b\",\"fileSizeInBytes\":5}"), false, "");
    assert_glance(STATS("{\"path\":\"a\",\"fileSizeInBytes\":5,\"fileSizeInBytes\":6}"), false,
                  "a=5;");
    assert_glance(STATS("{\"path\":\"a\\/b\",\"fileSizeInBytes\":5}"), false, "");
    assert_glance(STATS("{\"path\":null,\"fileSizeInBytes\":5}"), false, "");
    assert_glance(STATS("{\"path\":\"a\",\"fileSizeInBytes\":-1}"), false, "");
    assert_glance(STATS("{\"path\":\"a\",\"fileSizeInBytes\":1e3}"), false, "");
    assert_glance(STATS("{\"path\":\"a\",\"fileSizeInBytes\":1234567890123456789}"), false, "");
}

static void looking_ends_where_it_is_told_to(void **state)
{
    (void)state;
    struct seen seen = {.stop = "a"};

    assert_false(hd_commit_glance(hd_slice_text(STATS("{\"path\":\"a\",\"fileSizeInBytes\":5},"
                                                      "{\"path\":\"b\",\"fileSizeInBytes\":5}")),
                                  note, &seen));
    assert_string_equal(seen.text, "a=5;");
}

static void a_text_that_is_cut_anywhere_is_read_within_its_end(void **state)
{
    (void)state;
    static const char JSON[] = STATS("{\"path\":\"a\",\"fileSizeInBytes\":5},"
                                     "{\"path\":\"b\",\"fileSizeInBytes\":16}");

    for (size_t n = 0; n < sizeof JSON - 1; n++) {
        char *const cut = malloc(n == 0 ? 1 : n); /* just so much: the sanitizer looks behind it */
        struct seen seen = {.text = ""};

        memcpy(cut, JSON, n);
        (void)hd_commit_glance(hd_slice_of(cut, n), note, &seen);
        assert_int_equal(strncmp("a=5;b=16;", seen.text, strlen(seen.text)), 0);
        free(cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stats_are_given_in_their_order),
        cmocka_unit_test(texts_are_no_members),
        cmocka_unit_test(any_other_layout_is_not_known),
        cmocka_unit_test(looking_ends_where_it_is_told_to),
        cmocka_unit_test(a_text_that_is_cut_anywhere_is_read_within_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
