/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "hudi/hudi.h"
#include "support/golden.h"

/* What a check says of tables that Hudi wrote: nothing, but for those that were damaged by hand. */

static const struct damage {
    const char *name;
    const char *kind; /* of every finding but for the damaged blocks */
    size_t n;
    size_t n_blocks;
} DAMAGED[] = {
    {"flink010-mor-damaged-committed", "wrong-size", 1, 1},
    {"spark-0.15.0-damage-corrupt-middle", "missing-file", 2, 0},
    {"spark-0.15.0-damage-truncated-log", "wrong-size", 1, 1},
    {"spark-0.15.0-mor-appended-log", "missing-file", 3, 0},
    {"spark-1.1.1-damage-truncated-magic", "wrong-size", 1, 0},
};

static void check(hudi_context *context, const char *name, const struct damage *damage)
{
    size_t n = 0, n_blocks = 0;
    char *const path = test_golden_unpack(name);
    hudi_table *table = NULL;
    hudi_verification *found = NULL;
    const hudi_finding *finding;
    hudi_error *error = NULL;

    if (hudi_table_open(context, path, NULL, &table, &error) != HUDI_OK ||
        hudi_verify(table, NULL, &found, &error) != HUDI_OK)
        fail_msg("%s: %s", name, hudi_error_message(error));
    for (size_t i = 0; (finding = hudi_verification_finding(found, i)) != NULL; i++) {
        if (strcmp(hudi_finding_kind(finding), "damaged-log-block") == 0)
            n_blocks++;
        else if (strcmp(hudi_finding_kind(finding), damage->kind) == 0)
            n++;
        if (n > damage->n || n_blocks > damage->n_blocks ||
            hudi_verification_n_findings(found) != damage->n + damage->n_blocks)
            print_error("%s: %s: %s: %s\n", name, hudi_finding_kind(finding),
                        hudi_finding_where(finding), hudi_finding_message(finding));
    }
    if (n != damage->n || n_blocks != damage->n_blocks ||
        hudi_verification_n_findings(found) != n + n_blocks)
        fail_msg("%s: %zu findings, %zu damaged blocks", name, n, n_blocks);
    hudi_verification_free(found);
    hudi_table_free(table);
    test_golden_remove(path);
}

static void finds_only_the_damage_that_was_done_by_hand(void **state)
{
    static const struct damage NONE = {.kind = ""};
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
            check(context, *name, &DAMAGED[i]);
            n_damaged++;
        } else {
            check(context, *name, &NONE);
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
