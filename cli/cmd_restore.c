/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

static const struct cli_option OPTIONS[] = {{NULL, NULL, NULL, NULL}};

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_error *error = NULL;
    size_t n = 0;
    int exit_code = CLI_EXIT_OK;

    if (hudi_table_open(context, args->words[0], args->options, &table, &error) != HUDI_OK ||
        hudi_restore(table, args->words[1], cli_cancel(), &n, &error) != HUDI_OK)
        exit_code = cli_fail(error);
    else
        printf("%s: restored, %zu later writes undone\n", args->words[1], n);
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
            "next one; until then nothing else writes to the table.",
    .options = OPTIONS,
    .run = run,
};
