/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

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

/* What to do about findings: each line once, in this order. */
static const struct advice {
    const char *kinds; /* with a blank around each */
    const char *text;
} ADVICE[] = {
    {" missing-file unreadable-file wrong-size damaged-log-block wrong-row-count bad-key "
     "missing-column missing-plan-file ",
     "rows of these files are lost, or older versions of them show. Put back a copy of each file "
     "before anything else is written; without one, hudi restore TABLE INSTANT goes back to a "
     "write before the damage (--dry-run lists what goes), or the rows are written again"},
    {" damaged-instant ",
     "put back a copy of the instant's file in .hoodie; without one, if it is the newest write "
     "and no clean came after it (hudi timeline TABLE), remove its file without .requested and "
     ".inflight in the name, and hudi verify TABLE --repair undoes it"},
    {" missing-metafile ", "hudi verify TABLE --repair makes it"},
    {" key-not-in-bloom key-out-of-range damaged-bloom ",
     "updates and deletes may miss rows of these files: write with -o hoodie.index.type=SIMPLE "
     "(GLOBAL_SIMPLE for GLOBAL_BLOOM) until each has been written anew"},
    {" stray-file ", "readers of this table pass over it; remove it by hand if nobody needs it"},
};

static bool is_for(const struct advice *advice, const hudi_finding *finding)
{
    char kind[64];

    snprintf(kind, sizeof kind, " %s ", hudi_finding_kind(finding));
    return strstr(advice->kinds, kind) != NULL;
}

static void print_advice(const hudi_verification *found)
{
    for (size_t a = 0; a < sizeof ADVICE / sizeof ADVICE[0]; a++) {
        bool is_due = false;
        for (size_t i = 0; hudi_verification_finding(found, i) != NULL && !is_due; i++)
            if (is_for(&ADVICE[a], hudi_verification_finding(found, i))) {
                printf("what to do: %s: %s\n",
                       hudi_finding_kind(hudi_verification_finding(found, i)), ADVICE[a].text);
                is_due = true;
            }
    }
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
    if (!json)
        print_advice(found);
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
        "Behind them stands what to do about the findings. Reads every base file. Writers may be\n"
        "at work meanwhile.",
    .options = OPTIONS,
    .run = run,
};
