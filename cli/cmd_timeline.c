/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"archived", NULL, "the instants that were archived, instead of the active ones", NULL},
    {"json", NULL, "one JSON object a line", NULL},
    {NULL, NULL, NULL, NULL}};

static void print_json(const hudi_instant *instant, const hudi_commit_summary *summary)
{
    printf("{\"time\":");
    cli_print_json_text(hudi_instant_time(instant));
    printf(",\"action\":");
    cli_print_json_text(hudi_instant_action(instant));
    printf(",\"state\":\"%s\"", hudi_instant_state(instant));
    if (summary->operation != NULL) {
        printf(",\"operation\":");
        cli_print_json_text(summary->operation);
        printf(",\"inserts\":%lld,\"updates\":%lld,\"deletes\":%lld,"
               "\"files\":%lld,\"bytes\":%lld,\"replaced_file_groups\":%lld",
               (long long)summary->n_inserts, (long long)summary->n_updates,
               (long long)summary->n_deletes, (long long)summary->n_files,
               (long long)summary->n_written_bytes, (long long)summary->n_replaced_groups);
    }
    printf("}\n");
}

static void print_line(const hudi_instant *instant, const hudi_commit_summary *summary)
{
    char bytes[32];

    printf("%-17s  %-13s  %-9s", hudi_instant_time(instant), hudi_instant_action(instant),
           hudi_instant_state(instant));
    if (summary->operation != NULL) {
        cli_format_bytes((double)summary->n_written_bytes, bytes);
        printf("  %-15s  +%lld ~%lld -%lld  %lld files, %s", summary->operation,
               (long long)summary->n_inserts, (long long)summary->n_updates,
               (long long)summary->n_deletes, (long long)summary->n_files, bytes);
    }
    printf("\n");
}

static int print_timeline(const hudi_table *table, const hudi_timeline *timeline, bool json)
{
    hudi_error *error = NULL;
    int exit_code = CLI_EXIT_OK;

    for (size_t i = 0; i < hudi_timeline_length(timeline); i++) {
        const hudi_instant *instant = hudi_timeline_at(timeline, i);
        hudi_commit_summary summary;

        /* A damaged commit is told and does not hide the others. */
        if (hudi_instant_summary(table, instant, &summary, &error) != HUDI_OK)
            exit_code = cli_fail(error);
        if (json)
            print_json(instant, &summary);
        else
            print_line(instant, &summary);
    }
    return exit_code;
}

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_timeline *archived = NULL;
    hudi_error *error = NULL;
    const bool json = cli_value(&cli_timeline, args, "json") != NULL;
    int exit_code;

    if (hudi_table_open(context, args->words[0], args->options, &table, &error) != HUDI_OK)
        return cli_fail(error);
    if (cli_value(&cli_timeline, args, "archived") == NULL)
        exit_code = print_timeline(table, hudi_table_timeline(table), json);
    else if (hudi_table_archived_timeline(table, &archived, &error) != HUDI_OK)
        exit_code = cli_fail(error);
    else
        exit_code = print_timeline(table, archived, json);
    hudi_timeline_free(archived);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_timeline = {
    .name = "timeline",
    .arguments = "TABLE",
    .min_words = 1,
    .max_words = 1,
    .summary = "list the instants, oldest first, with what each commit did",
    .help = "For completed writes: operation, +inserted ~updated -deleted rows, files, bytes.",
    .options = OPTIONS,
    .run = run,
};
