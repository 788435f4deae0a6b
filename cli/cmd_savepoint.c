/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"delete", NULL, "drop the savepoint of that instant", NULL},
    {"user", "NAME", "who makes it (default: nobody, as Hudi's procedure has it)", NULL},
    {"comment", "TEXT", "a word on why", NULL},
    {"dry-run", NULL,
     "list the files that would be kept (with --delete: no longer), and change nothing", NULL},
    {"json", NULL, "one JSON object", NULL},
    {NULL, NULL, NULL, NULL}};

static hudi_status preview_of(hudi_table *table, const char *instant, bool drops,
                              hudi_preview **out, hudi_error **error)
{
    return drops ? hudi_savepoint_delete_preview(table, instant, out, error)
                 : hudi_savepoint_preview(table, instant, out, error);
}

static hudi_status make_or_drop(hudi_table *table, const char *instant, bool drops,
                                const struct cli_args *args, hudi_error **error)
{
    return drops ? hudi_savepoint_delete(table, instant, error)
                 : hudi_savepoint(table, instant, cli_value(&cli_savepoint, args, "user"),
                                  cli_value(&cli_savepoint, args, "comment"), error);
}

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_preview *preview = NULL;
    hudi_error *error = NULL;
    const char *const instant = args->words[1];
    const bool drops = cli_value(&cli_savepoint, args, "delete") != NULL;
    const char *const command = drops ? "savepoint --delete" : "savepoint";
    const bool dry_run = cli_value(&cli_savepoint, args, "dry-run") != NULL;
    const bool json = cli_value(&cli_savepoint, args, "json") != NULL;
    int exit_code = CLI_EXIT_OK;

    hudi_status status = hudi_table_open(context, args->words[0], args->options, &table, &error);
    if (status == HUDI_OK)
        status = dry_run ? preview_of(table, instant, drops, &preview, &error)
                         : make_or_drop(table, instant, drops, args, &error);
    if (status != HUDI_OK) {
        exit_code = cli_fail(error);
    } else if (dry_run) {
        cli_print_preview(preview, command, instant,
                          drops ? "would be kept by it no longer" : "would be kept", json);
    } else if (json) {
        cli_print_json_head(command, instant, false);
        printf("}\n");
    } else {
        printf("%s: savepoint %s\n", instant, drops ? "dropped" : "made");
    }
    hudi_preview_free(preview);
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
