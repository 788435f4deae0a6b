/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

static const struct cli_option OPTIONS[] = {{NULL, NULL, NULL, NULL}};

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_error *error = NULL;
    int exit_code = CLI_EXIT_OK;

    if (hudi_table_open(context, args->words[0], args->options, &table, &error) != HUDI_OK)
        return cli_fail(error);
    if (hudi_rollback(table, args->words[1], &error) != HUDI_OK)
        exit_code = cli_fail(error);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_rollback = {
    .name = "rollback",
    .arguments = "TABLE INSTANT",
    .min_words = 2,
    .max_words = 2,
    .summary = "undo a write: one that did not finish, or the newest completed one",
    .options = OPTIONS,
    .run = run,
};
