/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"archived", NULL, "the instants that were archived, instead of the active ones", NULL},
    {"json", NULL, "one JSON object a line", NULL},
    {NULL, NULL, NULL, NULL}};

static void print_json_service(const hudi_instant *instant, const hudi_instant_details *details)
{
    const char *const action = hudi_instant_action(instant);
    const char *name = NULL;

    if (details->duration_ms >= 0)
        printf(",\"duration_ms\":%lld", (long long)details->duration_ms);
    if (details->n_file_groups > 0)
        printf(",\"file_groups\":%lld", (long long)details->n_file_groups);
    if (strcmp(action, "clean") == 0)
        printf(",\"failed\":%lld", (long long)details->n_failed), name = "earliest_retained";
    else if (strcmp(action, "rollback") == 0)
        name = "rolled_back";
    else if (strcmp(action, "restore") == 0)
        printf(",\"undone\":%lld", (long long)details->n_instants), name = "restored";
    else if (strcmp(action, "savepoint") == 0)
        name = "comment";
    if (name == NULL)
        return;
    if (strcmp(action, "restore") != 0)
        printf(",\"files\":%lld", (long long)details->n_files);
    if (details->by != NULL) {
        printf(",\"by\":");
        cli_print_json_text(details->by);
    }
    if (details->about != NULL) {
        printf(",\"%s\":", name);
        cli_print_json_text(details->about);
    }
}

static void print_json(const hudi_instant *instant, const hudi_commit_summary *summary,
                       const hudi_instant_details *details)
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
    if (details != NULL)
        print_json_service(instant, details);
    printf("}\n");
}

static void print_service(const hudi_instant *instant, const hudi_instant_details *details)
{
    const char *const action = hudi_instant_action(instant);
    const char *const about = details->about == NULL ? "?" : details->about;
    const bool done = strcmp(hudi_instant_state(instant), "COMPLETED") == 0;

    if (strcmp(action, "clean") == 0)
        printf("  %lld files %s", (long long)details->n_files, done ? "deleted" : "to delete");
    else if (strcmp(action, "rollback") == 0)
        printf("  %s %s, %lld files", done ? "undid" : "is to undo", about,
               (long long)details->n_files);
    else if (strcmp(action, "restore") == 0)
        printf("  %s %s, %lld instants undone", done ? "back to" : "on its way back to", about,
               (long long)details->n_instants);
    else if (strcmp(action, "savepoint") == 0 && done)
        printf("  keeps %lld files%s%s%s%s", (long long)details->n_files,
               details->by == NULL ? "" : ", made by ", details->by == NULL ? "" : details->by,
               details->about == NULL ? "" : ": ", details->about == NULL ? "" : about);
    else if (details->n_file_groups > 0)
        printf("  %lld file groups planned", (long long)details->n_file_groups);
    if (strcmp(action, "clean") == 0 && details->n_failed > 0)
        printf(", %lld gone before", (long long)details->n_failed);
    if (strcmp(action, "clean") == 0 && details->about != NULL)
        printf(", readable from %s on", about);
}

static void print_line(const hudi_instant *instant, const hudi_commit_summary *summary,
                       const hudi_instant_details *details)
{
    char bytes[32];

    printf("%-17s  %-13s  %-9s", hudi_instant_time(instant), hudi_instant_action(instant),
           hudi_instant_state(instant));
    if (summary->operation != NULL) {
        cli_format_bytes((double)summary->n_written_bytes, bytes);
        printf("  %-15s  +%lld ~%lld -%lld  %lld files, %s", summary->operation,
               (long long)summary->n_inserts, (long long)summary->n_updates,
               (long long)summary->n_deletes, (long long)summary->n_files, bytes);
        if (summary->n_replaced_groups > 0)
            printf(", %lld file groups replaced", (long long)summary->n_replaced_groups);
    }
    if (details != NULL)
        print_service(instant, details);
    if (details != NULL && details->duration_ms >= 0)
        printf("  in %.1f s", (double)details->duration_ms / 1000);
    printf("\n");
}

/* `explains`: says what services did, which of archived ones is not read. */
static int print_timeline(const hudi_table *table, const hudi_timeline *timeline, bool explains,
                          bool json)
{
    hudi_error *error = NULL;
    int exit_code = CLI_EXIT_OK;

    for (size_t i = 0; i < hudi_timeline_length(timeline); i++) {
        const hudi_instant *instant = hudi_timeline_at(timeline, i);
        hudi_commit_summary summary;
        hudi_instant_details details;

        /* A damaged instant is told and does not hide the others. */
        if (hudi_instant_summary(table, instant, &summary, &error) != HUDI_OK)
            exit_code = cli_fail(error);
        error = NULL;
        if (explains && hudi_instant_explain(table, instant, &details, &error) != HUDI_OK)
            exit_code = cli_fail(error);
        error = NULL;
        if (json)
            print_json(instant, &summary, explains ? &details : NULL);
        else
            print_line(instant, &summary, explains ? &details : NULL);
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
        exit_code = print_timeline(table, hudi_table_timeline(table), true, json);
    else if (hudi_table_archived_timeline(table, &archived, &error) != HUDI_OK)
        exit_code = cli_fail(error);
    else
        exit_code = print_timeline(table, archived, false, json);
    hudi_timeline_free(archived);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_timeline = {
    .name = "timeline",
    .arguments = "TABLE",
    .min_words = 1,
    .max_words = 1,
    .summary = "list the instants, oldest first, with what each did",
    .help =
        "For completed writes: operation, +inserted ~updated -deleted rows, files, bytes; for the\n"
        "services what they did, or plan to do; and how long each took, by the times of its files.",
    .options = OPTIONS,
    .run = run,
};
