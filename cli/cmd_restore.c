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
    const bool dry_run = cli_value(&cli_restore, args, "dry-run") != NULL;
    const bool json = cli_value(&cli_restore, args, "json") != NULL;
    size_t n = 0;
    int exit_code = CLI_EXIT_OK;

    hudi_status status = hudi_table_open(context, args->words[0], args->options, &table, &error);
    if (status == HUDI_OK)
        status = dry_run ? hudi_restore_preview(table, instant, cli_cancel(), &preview, &error)
                         : hudi_restore(table, instant, cli_cancel(), &n, &error);
    if (status != HUDI_OK) {
        exit_code = cli_fail(error);
    } else if (dry_run) {
        cli_print_preview(preview, "restore", instant, "would be removed", json);
    } else if (json) {
        cli_print_json_head("restore", instant, false);
        printf(",\"undone\":%zu}\n", n);
    } else {
        printf("%s: restored, %zu later writes undone\n", instant, n);
    }
    hudi_preview_free(preview);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_restore = {
    .name = "restore",
    .arguments = "TABLE INSTANT",
    .min_words = 2,
    .max_words = 2,
    .summary = "take the table back to what it was after a write, for good",
    .help = "Every write later than INSTANT is undone and its rows are lost. INSTANT is "
            "savepointed, or\n"
            "a completed write that no clean has reached. A restore that was killed is finished by "
            "the\n"
            "next one; until then nothing else writes to the table. --dry-run lists, newest write\n"
            "first, the files that would be removed, and log files that stay but get a rollback "
            "block,\n"
            "behind which rows of the writes undone do not count.",
    .options = OPTIONS,
    .run = run,
};
