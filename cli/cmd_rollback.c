/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"dry-run", NULL, "list what would be undone and the files that would go, and change nothing",
     NULL},
    {"json", NULL, "one JSON object", NULL},
    {NULL, NULL, NULL, NULL}};

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_preview *preview = NULL;
    hudi_error *error = NULL;
    const char *const instant = args->words[1];
    const bool dry_run = cli_value(&cli_rollback, args, "dry-run") != NULL;
    const bool json = cli_value(&cli_rollback, args, "json") != NULL;
    int exit_code = CLI_EXIT_OK;

    hudi_status status = hudi_table_open(context, args->words[0], args->options, &table, &error);
    if (status == HUDI_OK)
        status = dry_run ? hudi_rollback_preview(table, instant, &preview, &error)
                         : hudi_rollback(table, instant, &error);
    if (status != HUDI_OK) {
        exit_code = cli_fail(error);
    } else if (dry_run) {
        cli_print_preview(preview, "rollback", instant, "would be removed", json);
    } else if (json) {
        cli_print_json_head("rollback", instant, false);
        printf("}\n");
    }
    hudi_preview_free(preview);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_rollback = {
    .name = "rollback",
    .arguments = "TABLE INSTANT",
    .min_words = 2,
    .max_words = 2,
    .summary = "undo a write: one that did not finish, or the newest completed one",
    .help =
        "Its rows and files are gone for good. With --dry-run, files that would be removed are\n"
        "listed, and log files that stay but get a rollback block, behind which its rows do\n"
        "not count; what would refuse the rollback refuses the dry run.",
    .options = OPTIONS,
    .run = run,
};
