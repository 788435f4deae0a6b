/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "hudi/hudi.h"
#include "support/golden.h"

/* What a check says of tables that Hudi wrote: nothing, but for those that were damaged by hand. */

static const struct {
    const char *name;
    const char *kind; /* of every finding */
    size_t n;
} DAMAGED[] = {
    {"flink010-mor-damaged-committed", "wrong-size", 1},
    {"spark-0.15.0-damage-corrupt-middle", "missing-file", 2},
    {"spark-0.15.0-damage-truncated-log", "wrong-size", 1},
    {"spark-0.15.0-mor-appended-log", "missing-file", 3},
    {"spark-1.1.1-damage-truncated-magic", "wrong-size", 1},
};

static void check(hudi_context *context, const char *name, const char *kind, size_t n)
{
    char *const path = test_golden_unpack(name);
    hudi_table *table = NULL;
    hudi_verification *found = NULL;
    const hudi_finding *finding;
    hudi_error *error = NULL;

    if (hudi_table_open(context, path, NULL, &table, &error) != HUDI_OK ||
        hudi_verify(table, NULL, &found, &error) != HUDI_OK)
        fail_msg("%s: %s", name, hudi_error_message(error));
    for (size_t i = 0; (finding = hudi_verification_finding(found, i)) != NULL; i++)
        if (i >= n || strcmp(hudi_finding_kind(finding), kind) != 0)
            fail_msg("%s: %s: %s: %s", name, hudi_finding_kind(finding),
                     hudi_finding_where(finding), hudi_finding_message(finding));
    assert_int_equal(hudi_verification_n_findings(found), n);
    hudi_verification_free(found);
    hudi_table_free(table);
    test_golden_remove(path);
}

static void finds_only_the_damage_that_was_done_by_hand(void **state)
{
    char **const names = test_golden_names("");
    hudi_context *context;
    size_t n_damaged = 0;

    (void)state;
    assert_int_equal(hudi_context_new(NULL, &context, NULL), HUDI_OK);
    for (char **name = names; *name != NULL; name++) {
        size_t i = 0;

        while (i < sizeof DAMAGED / sizeof DAMAGED[0] && strcmp(*name, DAMAGED[i].name) != 0)
            i++;
        if (i < sizeof DAMAGED / sizeof DAMAGED[0]) {
            check(context, *name, DAMAGED[i].kind, DAMAGED[i].n);
            n_damaged++;
        } else {
            check(context, *name, "", 0);
        }
    }
    assert_int_equal(n_damaged, sizeof DAMAGED / sizeof DAMAGED[0]);
    hudi_context_free(context);
    test_golden_free_names(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_only_the_damage_that_was_done_by_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
