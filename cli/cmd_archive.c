/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"dry-run", NULL, "tell what would be archived, and change nothing", NULL},
    {"min", "N", "writes that stay on the active timeline", "hoodie.keep.min.commits"},
    {"max", "N", "writes on the active timeline beyond which there is something to do",
     "hoodie.keep.max.commits"},
    {"json", NULL, "one JSON object", NULL},
    {NULL, NULL, NULL, NULL}};

static void print_json(const hudi_archiving *done)
{
    printf("{\"instants\":%zu,\"writes\":%zu,\"first\":", hudi_archiving_instants(done),
           hudi_archiving_writes(done));
    cli_print_json_text(hudi_archiving_first(done));
    printf(",\"last\":");
    cli_print_json_text(hudi_archiving_last(done));
    printf("}\n");
}

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_archiving *done = NULL;
    hudi_error *error = NULL;
    const int dry_run = cli_value(&cli_archive, args, "dry-run") != NULL;
    int exit_code = CLI_EXIT_OK;

    if (hudi_table_open(context, args->words[0], args->options, &table, &error) != HUDI_OK ||
        hudi_archive(table, dry_run, cli_cancel(), &done, &error) != HUDI_OK) {
        exit_code = cli_fail(error);
        goto out;
    }
    if (cli_value(&cli_archive, args, "json") != NULL)
        print_json(done);
    else if (hudi_archiving_instants(done) == 0)
        fprintf(stderr, "nothing to archive\n");
    else
        printf("%zu instants %s, %zu writes among them, %s to %s\n", hudi_archiving_instants(done),
               dry_run ? "would be archived" : "archived", hudi_archiving_writes(done),
               hudi_archiving_first(done), hudi_archiving_last(done));
out:
    hudi_archiving_free(done);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_archive = {
    .name = "archive",
    .arguments = "TABLE",
    .min_words = 1,
    .max_words = 1,
    .summary = "move old instants from the active timeline to the archive",
    .help = "A short active timeline is fast to open. Nothing changes for readers; hudi timeline\n"
            "--archived lists what was moved. Writes archive by themselves unless\n"
            "hoodie.archive.automatic=false.",
    .options = OPTIONS,
    .run = run,
};
