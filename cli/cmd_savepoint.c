/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"delete", NULL, "drop the savepoint of that instant", NULL},
    {"comment", "TEXT", "a word on why", NULL},
    {NULL, NULL, NULL, NULL}};

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_error *error = NULL;
    const char *const instant = args->words[1];
    const bool drops = cli_value(&cli_savepoint, args, "delete") != NULL;
    int exit_code = CLI_EXIT_OK;

    hudi_status status = hudi_table_open(context, args->words[0], args->options, &table, &error);
    if (status == HUDI_OK)
        status = drops ? hudi_savepoint_delete(table, instant, &error)
                       : hudi_savepoint(table, instant, cli_value(&cli_savepoint, args, "comment"),
                                        &error);
    if (status != HUDI_OK)
        exit_code = cli_fail(error);
    else
        printf("%s: savepoint %s\n", instant, drops ? "dropped" : "made");
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_savepoint = {
    .name = "savepoint",
    .arguments = "TABLE INSTANT",
    .min_words = 2,
    .max_words = 2,
    .summary = "keep what the table is as of a write, to restore it some day",
    .help =
        "No clean takes the files that the table consists of as of INSTANT, a completed write of\n"
        "the active timeline, until the savepoint is dropped.",
    .options = OPTIONS,
    .run = run,
};
