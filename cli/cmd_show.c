/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli.h"

static const struct cli_option OPTIONS[] = {
    {"as-of", "T", "files and partitions as they were at an instant or time", NULL},
    {"json", NULL, "one JSON object a line", NULL},
    {NULL, NULL, NULL, NULL}};

static int show_config(const hudi_table *table, bool json)
{
    const char *key, *value;

    for (size_t i = 0; hudi_table_property_at(table, i, &key, &value); i++) {
        if (json) {
            printf("{\"key\":");
            cli_print_json_text(key);
            printf(",\"value\":");
            cli_print_json_text(value);
            printf("}\n");
        } else {
            printf("%s=%s\n", key, value);
        }
    }
    return CLI_EXIT_OK;
}

static int show_schema(const hudi_table *table)
{
    char *avro = NULL;
    hudi_error *error = NULL;

    if (hudi_table_avro_schema(table, &avro, &error) != HUDI_OK)
        return cli_fail(error);
    printf("%s\n", avro);
    hudi_string_free(avro);
    return CLI_EXIT_OK;
}

static int show_files(hudi_file_list *files, bool json)
{
    hudi_error *error = NULL;
    char bytes[32];

    for (size_t i = 0; i < hudi_file_list_length(files); i++) {
        const char *base = hudi_file_list_base_file(files, i);
        int64_t n_rows = -1;

        if (hudi_file_list_rows(files, i, &n_rows, &error) != HUDI_OK)
            return cli_fail(error);
        if (json) {
            printf("{\"partition\":");
            cli_print_json_text(hudi_file_list_partition(files, i));
            printf(",\"file_id\":");
            cli_print_json_text(hudi_file_list_file_id(files, i));
            printf(",\"instant\":");
            cli_print_json_text(hudi_file_list_instant(files, i));
            printf(",\"base_file\":");
            if (base == NULL)
                printf("null");
            else
                cli_print_json_text(base);
            printf(",\"rows\":%lld,\"bytes\":%llu,\"log_files\":%zu,\"log_bytes\":%llu}\n",
                   (long long)n_rows, (unsigned long long)hudi_file_list_base_bytes(files, i),
                   hudi_file_list_n_logs(files, i),
                   (unsigned long long)hudi_file_list_log_bytes(files, i));
            continue;
        }
        cli_format_bytes((double)hudi_file_list_base_bytes(files, i), bytes);
        printf("%-24s  %9lld rows  %10s  %s\n", hudi_file_list_partition(files, i),
               (long long)n_rows, bytes, base == NULL ? hudi_file_list_file_id(files, i) : base);
        if (hudi_file_list_n_logs(files, i) > 0)
            printf("%-24s  and %zu log files, %llu bytes\n", "", hudi_file_list_n_logs(files, i),
                   (unsigned long long)hudi_file_list_log_bytes(files, i));
    }
    return CLI_EXIT_OK;
}

/* The list is sorted by partition: one line for each run of equal ones. */
static int show_partitions(hudi_file_list *files, bool json)
{
    const size_t n = hudi_file_list_length(files);

    for (size_t i = 0; i < n;) {
        const char *partition = hudi_file_list_partition(files, i);
        unsigned long long n_bytes = 0;
        size_t n_files = 0;
        char bytes[32];

        for (; i < n && strcmp(hudi_file_list_partition(files, i), partition) == 0; i++) {
            n_bytes += hudi_file_list_base_bytes(files, i) + hudi_file_list_log_bytes(files, i);
            n_files++;
        }
        if (json) {
            printf("{\"partition\":");
            cli_print_json_text(partition);
            printf(",\"file_groups\":%zu,\"bytes\":%llu}\n", n_files, n_bytes);
        } else {
            cli_format_bytes((double)n_bytes, bytes);
            printf("%-24s  %zu file groups  %10s\n", partition, n_files, bytes);
        }
    }
    return CLI_EXIT_OK;
}

static int show_stats(const hudi_table *table, hudi_file_list *files, bool json)
{
    long long n_rows = 0;
    unsigned long long n_bytes = 0;
    size_t n_logs = 0, n_partitions = 0;
    const size_t n = hudi_file_list_length(files);
    hudi_error *error = NULL;
    char bytes[32];

    for (size_t i = 0; i < n; i++) {
        int64_t rows = 0;
        if (hudi_file_list_rows(files, i, &rows, &error) != HUDI_OK)
            return cli_fail(error);
        n_rows += rows < 0 ? 0 : rows;
        n_bytes += hudi_file_list_base_bytes(files, i) + hudi_file_list_log_bytes(files, i);
        n_logs += hudi_file_list_n_logs(files, i);
        n_partitions += i == 0 || strcmp(hudi_file_list_partition(files, i),
                                         hudi_file_list_partition(files, i - 1)) != 0;
    }
    const size_t n_instants = hudi_timeline_length(hudi_table_timeline(table));
    if (json) {
        printf("{\"name\":");
        cli_print_json_text(hudi_table_name(table));
        printf(",\"type\":\"%s\",\"version\":%d,\"partitions\":%zu,\"file_groups\":%zu,"
               "\"log_files\":%zu,\"base_file_rows\":%lld,\"bytes\":%llu,\"instants\":%zu}\n",
               hudi_table_type(table), hudi_table_version(table), n_partitions, n, n_logs, n_rows,
               n_bytes, n_instants);
        return CLI_EXIT_OK;
    }
    cli_format_bytes((double)n_bytes, bytes);
    printf("table       %s\ntype        %s\nversion     %d\npartitions  %zu\nfile groups %zu\n"
           "log files   %zu\nrows        %lld%s\nsize        %s\ninstants    %zu\n",
           hudi_table_name(table), hudi_table_type(table), hudi_table_version(table), n_partitions,
           n, n_logs, n_rows, n_logs > 0 ? " in base files" : "", bytes, n_instants);
    return CLI_EXIT_OK;
}

static int run(hudi_context *context, const struct cli_args *args)
{
    hudi_table *table = NULL;
    hudi_file_list *files = NULL;
    hudi_error *error = NULL;
    const char *what = args->n_words > 1 ? args->words[1] : "stats";
    const bool json = cli_value(&cli_show, args, "json") != NULL;
    int exit_code;

    if (hudi_table_open(context, args->words[0], args->options, &table, &error) != HUDI_OK)
        return cli_fail(error);
    if (strcmp(what, "config") == 0)
        exit_code = show_config(table, json);
    else if (strcmp(what, "schema") == 0)
        exit_code = show_schema(table);
    else if (strcmp(what, "files") != 0 && strcmp(what, "partitions") != 0 &&
             strcmp(what, "stats") != 0)
        exit_code =
            cli_fail_text(CLI_EXIT_USAGE,
                          "show: \"%s\" is none of config, schema, partitions, files, stats", what);
    else if (hudi_table_files(table, cli_value(&cli_show, args, "as-of"), &files, &error) !=
             HUDI_OK)
        exit_code = cli_fail(error);
    else if (strcmp(what, "files") == 0)
        exit_code = show_files(files, json);
    else if (strcmp(what, "partitions") == 0)
        exit_code = show_partitions(files, json);
    else
        exit_code = show_stats(table, files, json);
    hudi_file_list_free(files);
    hudi_table_free(table);
    return exit_code;
}

const struct cli_command cli_show = {
    .name = "show",
    .arguments = "TABLE [config|schema|partitions|files|stats]",
    .min_words = 1,
    .max_words = 2,
    .summary = "what a table is made of (default: stats)",
    .options = OPTIONS,
    .run = run,
};
