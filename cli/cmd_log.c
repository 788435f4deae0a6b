/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"records", NULL, "behind each block its rows, as JSON lines", NULL},
    {"json", NULL, "one JSON object a block", NULL},
    {NULL, NULL, NULL, NULL}};

/* A schema is too long for a line among others. */
static void print_header(const hudi_log_file *log)
{
    const char *key, *value;

    for (size_t i = 0; hudi_log_block_header_at(log, i, &key, &value); i++) {
        if (strcmp(key, "SCHEMA") == 0)
            printf("  %s (%zu bytes)", key, strlen(value));
        else
            printf("  %s=%s", key, value);
    }
}

static void print_line(const hudi_log_file *log, int64_t n_rows, int version)
{
    char bytes[32];

    cli_format_bytes((double)hudi_log_block_bytes(log), bytes);
    printf("%-10llu  %-12s  %10s", (unsigned long long)hudi_log_block_offset(log),
           hudi_log_block_type(log), bytes);
    if (hudi_log_block_damage(log) != NULL) {
        printf("  to byte %llu: %s\n",
               (unsigned long long)hudi_log_block_offset(log) +
                   (unsigned long long)hudi_log_block_bytes(log),
               hudi_log_block_damage(log));
        return;
    }
    if (n_rows >= 0)
        printf("  %lld %s", (long long)n_rows,
               strcmp(hudi_log_block_type(log), "DELETE") == 0 ? "deletes" : "records");
    if (version > 0)
        printf(" (version %d)", version);
    print_header(log);
    printf("\n");
}

static void print_json(const hudi_log_file *log, int64_t n_rows, int version)
{
    const char *key, *value;

    printf("{\"offset\":%llu,\"type\":\"%s\",\"bytes\":%llu",
           (unsigned long long)hudi_log_block_offset(log), hudi_log_block_type(log),
           (unsigned long long)hudi_log_block_bytes(log));
    if (hudi_log_block_damage(log) != NULL) {
        printf(",\"damage\":\"%s\"}\n", hudi_log_block_damage(log));
        return;
    }
    printf(",\"content_bytes\":%llu", (unsigned long long)hudi_log_block_content_bytes(log));
    if (version > 0)
        printf(",\"version\":%d", version);
    if (n_rows >= 0)
        printf(",\"records\":%lld", (long long)n_rows);
    printf(",\"header\":{");
    for (size_t i = 0; hudi_log_block_header_at(log, i, &key, &value); i++) {
        printf("%s", i > 0 ? "," : "");
        cli_print_json_text(key);
        printf(":");
        cli_print_json_text(value);
    }
    printf("}}\n");
}

static int print_rows(hudi_context *context, hudi_log_file *log)
{
    struct ArrowArrayStream rows = {0};
    hudi_error *error = NULL;

    fflush(stdout); /* the rows take another way there */
    if (hudi_log_block_rows(log, cli_cancel(), &rows, &error) != HUDI_OK ||
        hudi_rows_write(context, &rows, "-", "jsonl", NULL, &error) != HUDI_OK)
        return cli_fail(error);
    return CLI_EXIT_OK;
}

static int print_block(hudi_context *context, hudi_log_file *log, const struct cli_args *args)
{
    hudi_error *error = NULL;
    int64_t n_rows = -1;
    int version = 0, exit_code = CLI_EXIT_OK;

    if (hudi_log_block_count(log, &n_rows, &version, &error) != HUDI_OK)
        exit_code = cli_fail(error);
    if (cli_value(&cli_log, args, "json") != NULL)
        print_json(log, n_rows, version);
    else
        print_line(log, n_rows, version);
    if (cli_value(&cli_log, args, "records") != NULL && n_rows >= 0 && exit_code == CLI_EXIT_OK)
        exit_code = print_rows(context, log);
    return exit_code;
}

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_log_file *log = NULL;
    hudi_error *error = NULL;
    int exit_code = CLI_EXIT_OK;

    if (hudi_log_file_open(context, args->words[0], &log, &error) != HUDI_OK)
        return cli_fail(error);
    for (;;) {
        const hudi_status status = hudi_log_file_next(log, &error);

        if (status == HUDI_END)
            break;
        if (status != HUDI_OK)
            exit_code = cli_fail(error);
        else if (print_block(context, log, args) != CLI_EXIT_OK)
            exit_code = CLI_EXIT_FAILURE;
        if (status != HUDI_OK && status != HUDI_NOT_IMPLEMENTED)
            break;
    }
    hudi_log_file_free(log);
    return exit_code;
}

const struct cli_command cli_log = {
    .name = "log",
    .arguments = "FILE",
    .min_words = 1,
    .max_words = 1,
    .summary = "list the blocks of a log file, and what is in them",
    .help =
        "FILE is a log file of a table or of its metadata table, of changes (.cdc) or of the\n"
        "archived timeline (.archive); a path or a URI. For each block: where it starts, type,\n"
        "size, records or deletes, header. With --records the rows follow, of the block's own\n"
        "schema; of a delete block record_key, partition_path, ordering_type, ordering_value.\n"
        "A part that is no block is shown as CORRUPT with a warning, which is no failure:\n"
        "writers that die leave such parts, and readers pass over them.",
    .options = OPTIONS,
    .run = run,
};
