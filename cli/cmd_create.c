/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "create_options.h"

static const struct cli_option OPTIONS[] = {CLI_CREATE_OPTIONS, {NULL, NULL, NULL, NULL}};

bool cli_take_type(const struct cli_command *command, const struct cli_args *args)
{
    const char *type = cli_value(command, args, "type");
    hudi_error *error = NULL;

    if (type == NULL)
        return true;
    if (strcmp(type, "cow") == 0)
        type = "COPY_ON_WRITE";
    else if (strcmp(type, "mor") == 0)
        type = "MERGE_ON_READ";
    const char *given = hudi_options_get(args->options, "hoodie.table.type");
    if (given != NULL && strcmp(given, type) != 0) {
        cli_fail_text(CLI_EXIT_USAGE, "--type and -o hoodie.table.type=%s contradict each other",
                      given);
        return false;
    }
    if (hudi_options_set(args->options, "hoodie.table.type", type, &error) == HUDI_OK)
        return true;
    cli_fail(error);
    return false;
}

static int schema_of_file(hudi_context *context, const char *path, struct ArrowSchema *out)
{
    struct ArrowArrayStream stream = {0};
    hudi_error *error = NULL;

    if (hudi_rows_open(context, path, NULL, NULL, &stream, &error) != HUDI_OK) {
        cli_fail(error);
        return -1;
    }
    const int failed = stream.get_schema(&stream, out);
    if (failed != 0)
        cli_fail_text(CLI_EXIT_FAILURE, "%s: %s", path, stream.get_last_error(&stream));
    stream.release(&stream);
    return failed == 0 ? 0 : -1;
}

int cli_take_schema(hudi_context *context, const struct cli_command *command,
                    const struct cli_args *args, struct ArrowSchema *out)
{
    const char *path = cli_value(command, args, "schema");
    const char *like = cli_value(command, args, "like");
    hudi_error *error = NULL;
    size_t n_bytes;

    if (path == NULL)
        return like == NULL ? 1 : schema_of_file(context, like, out);
    char *text = cli_read_file(path, &n_bytes);
    if (text == NULL)
        return -1;
    const hudi_status status = hudi_schema_parse(text, n_bytes, out, &error);
    free(text);
    if (status == HUDI_OK)
        return 0;
    fprintf(stderr, "hudi: %s: %s\n", path, hudi_error_message(error));
    hudi_error_free(error);
    return -1;
}

static int run(hudi_context *context, const struct cli_args *args)
{
    struct ArrowSchema schema = {0};
    hudi_error *error = NULL;

    if (!cli_take_type(&cli_create, args))
        return CLI_EXIT_USAGE;
    const int given = cli_take_schema(context, &cli_create, args, &schema);
    if (given > 0)
        return cli_fail_text(CLI_EXIT_USAGE, "create needs --schema FILE or --like FILE");
    if (given < 0)
        return CLI_EXIT_FAILURE;
    if (hudi_table_create(context, args->words[0], &schema, args->options, &error) != HUDI_OK)
        return cli_fail(error);
    return CLI_EXIT_OK;
}

const struct cli_command cli_create = {
    .name = "create",
    .arguments = "TABLE --schema FILE|--like FILE --key F[,F] [...]",
    .min_words = 1,
    .max_words = 1,
    .summary = "make an empty table",
    .help = "A schema file has a line \"name type\" for each column (string, int, long, float,\n"
            "double, boolean, date, timestamp, decimal(p,s), binary, array<..>, map<string,..>,\n"
            "struct<a:..,b:..>; \"not null\" behind it), or is an Avro schema in JSON.",
    .options = OPTIONS,
    .run = run,
};
