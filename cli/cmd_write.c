/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "create_options.h"

static const struct cli_option OPTIONS[] = {
    {"op", "OPERATION",
     "upsert (default), insert, bulk_insert, delete, insert_overwrite, insert_overwrite_table, "
     "delete_partition",
     "hoodie.datasource.write.operation"},
    {"format", "FORMAT", "parquet, orc, csv, jsonl, avro or arrow (default: by the name's ending)",
     NULL},
    {"partitions", "P[,P]", "with delete_partition: the partitions",
     "hoodie.datasource.write.partitions.to.delete"},
    {"ignore-failed", NULL, "leave out records that cannot be written, and list them",
     "libhudi.write.ignore.failed"},
    {"json", NULL, "print what was done as JSON", NULL},
    CLI_CREATE_OPTIONS,
    {NULL, NULL, NULL, NULL}};

/* Rows that were read from a table bring its meta columns: the new one makes its own. */
static bool is_meta_column(const char *name)
{
    static const char *const META[] = {"_hoodie_commit_time", "_hoodie_commit_seqno",
                                       "_hoodie_record_key", "_hoodie_partition_path",
                                       "_hoodie_file_name"};

    for (size_t i = 0; i < sizeof META / sizeof META[0]; i++)
        if (strcmp(name, META[i]) == 0)
            return true;
    return false;
}

/* An input without columns: its first row may tell why. */
static int fail_no_columns(const char *path, struct ArrowArrayStream *stream)
{
    struct ArrowArray rows = {0};
    const char *why = stream->get_next(stream, &rows) == 0 ? NULL : stream->get_last_error(stream);

    if (rows.release != NULL)
        rows.release(&rows);
    return cli_fail_text(CLI_EXIT_FAILURE,
                         "%s: no columns to make a table of (--format says what it is, "
                         "--schema gives columns)%s%s",
                         path, why == NULL ? "" : "; ", why == NULL ? "" : why);
}

/* Make the table with the columns of the input's schema, which is released. */
static int create_from_input(hudi_context *context, const struct cli_args *args, const char *path,
                             struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    struct ArrowSchema **columns = calloc((size_t)schema->n_children + 1, sizeof *columns);
    struct ArrowSchema wanted = *schema; /* without a callback: the children stay `schema`'s */
    hudi_error *error = NULL;
    int exit_code = CLI_EXIT_OK;

    wanted.release = NULL;
    wanted.n_children = 0;
    wanted.children = columns;
    if (columns == NULL)
        exit_code = cli_fail_text(CLI_EXIT_FAILURE, "out of memory");
    for (int64_t i = 0; columns != NULL && i < schema->n_children; i++)
        if (!is_meta_column(schema->children[i]->name))
            columns[wanted.n_children++] = schema->children[i];
    if (exit_code == CLI_EXIT_OK && wanted.n_children == 0)
        exit_code = fail_no_columns(path, stream);
    else if (exit_code == CLI_EXIT_OK &&
             hudi_table_create(context, args->words[0], &wanted, args->options, &error) != HUDI_OK)
        exit_code = cli_fail(error);
    free(columns);
    schema->release(schema);
    return exit_code;
}

/* With a path it is the rows that are wrong, not the words. */
static int fail_rows(hudi_error *error)
{
    const bool in_rows = hudi_error_path(error) != NULL;
    const int exit_code = cli_fail(error);

    return in_rows ? CLI_EXIT_FAILURE : exit_code;
}

/* A table with the columns of the first input. */
static int table_of_input(hudi_context *context, const struct cli_args *args)
{
    struct ArrowArrayStream stream = {0};
    struct ArrowSchema schema = {0};
    hudi_error *error = NULL;
    const char *path = args->n_words < 2 ? NULL : args->words[1];

    if (path == NULL)
        return cli_fail_text(CLI_EXIT_USAGE, "no table at %s, and no --schema to make it",
                             args->words[0]);
    if (hudi_rows_open(context, path, cli_value(&cli_write, args, "format"), NULL, &stream,
                       &error) != HUDI_OK)
        return fail_rows(error);
    const char *shown = strcmp(path, "-") == 0 ? "standard input" : path;
    const int exit_code =
        stream.get_schema(&stream, &schema) == 0
            ? create_from_input(context, args, shown, &stream, &schema)
            : cli_fail_text(CLI_EXIT_FAILURE, "%s: %s", shown, stream.get_last_error(&stream));
    stream.release(&stream);
    return exit_code;
}

static int new_table(hudi_context *context, const struct cli_args *args)
{
    struct ArrowSchema schema = {0};
    hudi_error *error = NULL;

    if (hudi_write_check_new_table(context, args->options, &error) != HUDI_OK)
        return cli_fail(error);
    const int given = cli_take_schema(context, &cli_write, args, &schema);
    if (given != 0)
        return given < 0 ? CLI_EXIT_FAILURE : table_of_input(context, args);
    if (hudi_table_create(context, args->words[0], &schema, args->options, &error) != HUDI_OK)
        return cli_fail(error);
    return CLI_EXIT_OK;
}

/* Open the table, making it first when it is not there. */
static int open_table(hudi_context *context, const struct cli_args *args, hudi_table **out)
{
    hudi_error *error = NULL;
    hudi_status status = hudi_table_open(context, args->words[0], args->options, out, &error);

    if (status == HUDI_NOT_FOUND) {
        if (cli_value(&cli_write, args, "key") == NULL &&
            hudi_options_get(args->options, "hoodie.table.recordkey.fields") == NULL) {
            /* not where only its properties are gone */
            const bool is_there = strstr(hudi_error_message(error), "hoodie.properties") != NULL;
            const int exit_code =
                cli_fail_text(CLI_EXIT_FAILURE, "%s%s", hudi_error_message(error),
                              is_there ? ": put back a copy of it" : " (--key F makes one)");
            hudi_error_free(error);
            return exit_code;
        }
        hudi_error_free(error);
        const int made = new_table(context, args);
        if (made != CLI_EXIT_OK)
            return made;
        status = hudi_table_open(context, args->words[0], args->options, out, &error);
    }
    return status == HUDI_OK ? CLI_EXIT_OK : cli_fail(error);
}

static int write_file(const struct cli_args *args, hudi_write *write, const char *path,
                      const struct ArrowSchema *types)
{
    struct ArrowArrayStream stream = {0}, shown;
    hudi_error *error = NULL;

    if (hudi_write_open_rows(write, path, cli_value(&cli_write, args, "format"), types, &stream,
                             &error) != HUDI_OK)
        return fail_rows(error);
    cli_progress(&stream, path, &shown);
    if (hudi_write_stream(write, &shown, cli_cancel(), &error) != HUDI_OK) {
        const char *message = hudi_error_message(error);
        if (strcmp(path, "-") == 0)
            path = "standard input";
        if (strstr(message, path) != NULL || hudi_error_path(error) != NULL) {
            cli_fail(error);
            return CLI_EXIT_FAILURE; /* whatever is wrong, it is in the rows */
        }
        cli_progress_end();
        fprintf(stderr, "hudi: %s: %s\n", path, message);
        hudi_error_free(error);
        return CLI_EXIT_FAILURE;
    }
    return CLI_EXIT_OK;
}

static void print_commit(const struct cli_args *args, const hudi_commit *commit)
{
    char bytes[32];
    const char *instant = hudi_commit_instant(commit);
    const char *quote = instant == NULL ? "" : "\"";

    if (cli_value(&cli_write, args, "json") != NULL) {
        printf("{\"instant\":%s%s%s,\"inserts\":%lld,\"updates\":%lld,\"deletes\":%lld,"
               "\"files\":%lld,\"bytes\":%lld,\"failed\":%lld}\n",
               quote, instant == NULL ? "null" : instant, quote,
               (long long)hudi_commit_inserts(commit), (long long)hudi_commit_updates(commit),
               (long long)hudi_commit_deletes(commit), (long long)hudi_commit_files(commit),
               (long long)hudi_commit_bytes(commit), (long long)hudi_commit_failed_rows(commit));
    } else if (instant == NULL) {
        printf("nothing was written\n");
    } else {
        cli_format_bytes((double)hudi_commit_bytes(commit), bytes);
        printf("%s: %lld inserted, %lld updated, %lld deleted in %lld files (%s)\n", instant,
               (long long)hudi_commit_inserts(commit), (long long)hudi_commit_updates(commit),
               (long long)hudi_commit_deletes(commit), (long long)hudi_commit_files(commit), bytes);
    }
    if (hudi_commit_failed_rows(commit) == 0)
        return;
    const long long n_failed = (long long)hudi_commit_failed_rows(commit);
    fprintf(stderr, "hudi: note: %lld record%s left out, among them\n", n_failed,
            n_failed == 1 ? " was" : "s were");
    for (size_t i = 0; hudi_commit_failure(commit, i) != NULL; i++)
        fprintf(stderr, "  %s\n", hudi_commit_failure(commit, i));
}

/* Another write was first to change a file group; with input that can be read again that is no
 * reason to fail while attempts are left. */
static bool is_lost_race(hudi_status status, const hudi_error *error)
{
    return status == HUDI_CONFLICT && hudi_error_retriable(error);
}

/* One write of all files. `*again` is set, and nothing printed, when it lost a race and `may_retry`
 * says so. */
static int write_once(hudi_table *table, const struct cli_args *args,
                      const struct ArrowSchema *types, bool may_retry, bool *again)
{
    hudi_write *write = NULL;
    hudi_commit *commit = NULL;
    hudi_error *error = NULL;
    int exit_code = CLI_EXIT_OK;

    *again = false;
    if (hudi_write_begin(table, args->options, &write, &error) != HUDI_OK)
        return cli_fail(error);
    for (int i = 1; i < args->n_words && exit_code == CLI_EXIT_OK; i++)
        exit_code = write_file(args, write, args->words[i], types);
    if (exit_code != CLI_EXIT_OK) {
        hudi_write_abort(write);
        return exit_code;
    }
    const hudi_status status = hudi_write_commit(write, &commit, &error);
    cli_progress_end();
    if (may_retry && is_lost_race(status, error)) {
        fprintf(stderr, "hudi: note: %s; written again\n", hudi_error_message(error));
        hudi_error_free(error);
        *again = true;
    } else if (status != HUDI_OK) {
        exit_code = cli_fail(error);
    }
    if (commit != NULL) /* also when a service behind it failed */
        print_commit(args, commit);
    hudi_commit_free(commit);
    return exit_code;
}

/* hoodie.write.num.retries.on.conflict.failures, which has been checked. */
static long long count_retries(const struct cli_args *args)
{
    const char *const text =
        hudi_options_get(args->options, "hoodie.write.num.retries.on.conflict.failures");

    return text == NULL ? 0 : strtoll(text, NULL, 10);
}

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    struct ArrowSchema types = {0};
    const char *operation = cli_value(&cli_write, args, "op");

    if (args->n_words < 2 && (operation == NULL || strcmp(operation, "delete_partition") != 0))
        return cli_fail_text(CLI_EXIT_USAGE,
                             "write: no file to read rows from (- is standard input)");
    int n_standard = 0;
    for (int i = 1; i < args->n_words; i++)
        n_standard += strcmp(args->words[i], "-") == 0;
    if (n_standard > 1)
        return cli_fail_text(CLI_EXIT_USAGE, "write: standard input (-) is named %d times",
                             n_standard);
    if (!cli_take_type(&cli_write, args))
        return CLI_EXIT_USAGE;
    int exit_code = open_table(context, args, &table);
    if (exit_code != CLI_EXIT_OK)
        return exit_code;
    /* Types of columns where the input has none; a table without schema leaves it to the input. */
    if (hudi_table_schema(table, &types, NULL) != HUDI_OK)
        types = (struct ArrowSchema){0};
    /* A delete needs no more than the keys. */
    for (int64_t i = 0;
         operation != NULL && strcmp(operation, "delete") == 0 && i < types.n_children; i++)
        types.children[i]->flags |= ARROW_FLAG_NULLABLE;
    long long left = n_standard > 0 ? 0 : count_retries(args);
    for (bool again = true; again; left--)
        exit_code =
            write_once(table, args, types.release == NULL ? NULL : &types, left > 0, &again);
    if (types.release != NULL)
        types.release(&types);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_write = {
    .name = "write",
    .arguments = "TABLE [FILE...|-]",
    .min_words = 1,
    .max_words = -1,
    .summary = "write rows of files into a table, as one commit",
    .help =
        "Columns are matched by name. A table that does not exist is made when --key says how;\n"
        "its columns are those of the first input unless --schema or --like gives them.\n"
        "- is standard input, of any format (jsonl unless --format says another).\n"
        "A record fails alone when its key or partition is missing, when a value does not fit\n"
        "its column, or when its line is no JSON or its CSV row has other columns. Then nothing\n"
        "is committed, unless --ignore-failed says to go on without such records.",
    .options = OPTIONS,
    .run = run,
};
