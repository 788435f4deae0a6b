/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"quick", NULL, "read the meta columns of the files alone, not all columns",
     "libhudi.verify.quick"},
    {"repair", NULL, "put right what can be put right without losing a row, then check", NULL},
    {"dry-run", NULL, "with --repair: tell what would be put right, and change nothing", NULL},
    {"json", NULL, "one JSON object a line: findings, notes, and their sums at the end", NULL},
    {NULL, NULL, NULL, NULL}};

static void print_json(const hudi_finding *finding, const char *level)
{
    printf("{\"level\":\"%s\",\"kind\":", level);
    cli_print_json_text(hudi_finding_kind(finding));
    printf(",\"where\":");
    cli_print_json_text(hudi_finding_where(finding));
    printf(",\"message\":");
    cli_print_json_text(hudi_finding_message(finding));
    printf("}\n");
}

static void print_finding(const hudi_finding *finding, const char *level, bool json)
{
    if (json)
        print_json(finding, level);
    else
        printf("%s: %s: %s: %s\n", level, hudi_finding_kind(finding), hudi_finding_where(finding),
               hudi_finding_message(finding));
}

static void print_sums(const hudi_verification *found, bool json)
{
    printf(json ? "{\"level\":\"sum\",\"files\":%zu,\"rows\":%lld,\"findings\":%zu}\n"
                : "%zu files, %lld rows, %zu findings\n",
           hudi_verification_n_files(found), (long long)hudi_verification_n_rows(found),
           hudi_verification_n_findings(found));
}

/* What is done is told before the check. */
static int repair(hudi_table *table, bool dry_run, bool json)
{
    hudi_verification *done = NULL;
    hudi_error *error = NULL;

    if (hudi_repair(table, dry_run, cli_cancel(), &done, &error) != HUDI_OK)
        return cli_fail(error);
    for (size_t i = 0; hudi_verification_finding(done, i) != NULL; i++)
        print_finding(hudi_verification_finding(done, i), dry_run ? "to repair" : "repaired", json);
    hudi_verification_free(done);
    return CLI_EXIT_OK;
}

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_verification *found = NULL;
    hudi_error *error = NULL;
    const bool json = cli_value(&cli_verify, args, "json") != NULL;
    const bool repairs = cli_value(&cli_verify, args, "repair") != NULL;
    const bool dry_run = cli_value(&cli_verify, args, "dry-run") != NULL;
    int exit_code = CLI_EXIT_OK;

    if (dry_run && !repairs)
        return cli_fail_text(CLI_EXIT_USAGE, "--dry-run goes with --repair");
    if (hudi_table_open(context, args->words[0], args->options, &table, &error) != HUDI_OK) {
        exit_code = cli_fail(error);
        goto out;
    }
    if (repairs)
        exit_code = repair(table, dry_run, json);
    if (exit_code != CLI_EXIT_OK)
        goto out;
    if (hudi_verify(table, cli_cancel(), &found, &error) != HUDI_OK) {
        exit_code = cli_fail(error);
        goto out;
    }
    for (size_t i = 0; hudi_verification_finding(found, i) != NULL; i++)
        print_finding(hudi_verification_finding(found, i), "finding", json);
    for (size_t i = 0; hudi_verification_note(found, i) != NULL; i++)
        print_finding(hudi_verification_note(found, i), "note", json);
    print_sums(found, json);
    if (hudi_verification_n_findings(found) > 0)
        exit_code = CLI_EXIT_FAILURE;
out:
    hudi_verification_free(found);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_verify = {
    .name = "verify",
    .arguments = "TABLE",
    .min_words = 1,
    .max_words = 1,
    .summary = "check that every file is there, whole, and says the truth",
    .help =
        "Exits with 1 when something is wrong (a finding); notes are worth knowing and no fault.\n"
        "Reads every base file. Writers may be at work meanwhile.",
    .options = OPTIONS,
    .run = run,
};
