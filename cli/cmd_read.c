/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"columns", "C[,C]", "columns, in this order (default: all)", "libhudi.read.columns"},
    {"where", "EXPR", "only rows for which it is true, e.g. \"qty > 3 AND name IN ('a','b')\"",
     "libhudi.read.filter"},
    {"as-of", "T", "the table as it was at an instant or time", "as.of.instant"},
    {"since", "T", "rows changed after an instant or time", NULL},
    {"until", "T", "with --since or --changes: and not later than this", NULL},
    {"changes", NULL, "every change (of the range), of a table that logs them", NULL},
    {"read-optimized", NULL, "base files only", NULL},
    {"limit", "N", "at most that many rows", "libhudi.read.limit"},
    {"format", "FORMAT",
     "table (default on a terminal), jsonl (default), csv, parquet, avro, arrow", NULL},
    {"output", "FILE", "write there instead of standard output", NULL},
    {NULL, NULL, NULL, NULL}};

static bool set(const struct cli_args *args, const char *key, const char *value)
{
    hudi_error *error = NULL;

    if (hudi_options_set(args->options, key, value, &error) == HUDI_OK)
        return true;
    cli_fail(error);
    return false;
}

/* Which query the switches ask for. */
static bool take_query(const struct cli_args *args)
{
    const char *since = cli_value(&cli_read, args, "since");
    const char *until = cli_value(&cli_read, args, "until");
    const bool read_optimized = cli_value(&cli_read, args, "read-optimized") != NULL;
    const bool changes = cli_value(&cli_read, args, "changes") != NULL;

    if (until != NULL && since == NULL && !changes) {
        cli_fail_text(CLI_EXIT_USAGE, "--until goes with --since or --changes");
        return false;
    }
    if ((since != NULL || changes) &&
        (read_optimized || cli_value(&cli_read, args, "as-of") != NULL)) {
        cli_fail_text(CLI_EXIT_USAGE, "--%s goes with neither --as-of nor --read-optimized",
                      changes ? "changes" : "since");
        return false;
    }
    if (changes && cli_value(&cli_read, args, "where") != NULL) {
        cli_fail_text(CLI_EXIT_USAGE, "--where does not go with --changes");
        return false;
    }
    if (since != NULL || changes)
        return set(args, "hoodie.datasource.query.type", "incremental") &&
               (!changes || set(args, "hoodie.datasource.query.incremental.format", "cdc")) &&
               (since == NULL || set(args, "hoodie.datasource.read.begin.instanttime", since)) &&
               (until == NULL || set(args, "hoodie.datasource.read.end.instanttime", until));
    return !read_optimized || set(args, "hoodie.datasource.query.type", "read_optimized");
}

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    struct ArrowArrayStream stream = {0};
    hudi_error *error = NULL;
    const char *output = cli_value(&cli_read, args, "output");
    const char *format = cli_value(&cli_read, args, "format");
    int exit_code = CLI_EXIT_OK;

    if (!take_query(args))
        return CLI_EXIT_USAGE;
    if (hudi_table_open(context, args->words[0], args->options, &table, &error) != HUDI_OK ||
        hudi_scan_open(table, args->options, cli_cancel(), &stream, &error) != HUDI_OK ||
        hudi_rows_write(context, &stream, output == NULL ? "-" : output, format, NULL, &error) !=
            HUDI_OK)
        exit_code = cli_fail(error);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_read = {
    .name = "read",
    .arguments = "TABLE",
    .min_words = 1,
    .max_words = 1,
    .summary = "print rows: now, as of a time, changed since, or every change",
    .help =
        "T is an instant (digits), a date or time (2024-01-31, 2024-01-31T12:00:00Z), or a time\n"
        "before now (-2h). --changes gives a row for each change: op (i, u, d), ts_ms (its\n"
        "instant), and the row before and after it as JSON, oldest first; --columns then says\n"
        "which columns of the row.",
    .options = OPTIONS,
    .run = run,
};
