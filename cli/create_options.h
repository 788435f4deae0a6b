/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_CLI_CREATE_OPTIONS_H
#define HUDI_CLI_CREATE_OPTIONS_H

/* What says how a new table is made: options of `create`, and of `write` for a table that does not
 * exist yet. */
#define CLI_CREATE_OPTIONS                                                                         \
    {"type", "cow|mor", "kind of a new table (default: cow)", NULL},                               \
        {"key", "F[,F]", "record key fields of a new table", "hoodie.table.recordkey.fields"},     \
        {"order-by", "F",                                                                          \
         "ordering field: of records with one key the larger value wins "                          \
         "(default: a column ts, as in Hudi; no_precombine: none, the last one wins)",             \
         "hoodie.table.precombine.field"},                                                         \
        {"partition-by", "F[,F]", "partition fields of a new table",                               \
         "hoodie.table.partition.fields"},                                                         \
        {"name", "NAME", "name of a new table (default: its folder's)", "hoodie.table.name"},      \
        {"schema", "FILE",                                                                         \
         "columns of a new table: lines \"name type\", or an Avro schema in JSON", NULL},          \
    {                                                                                              \
        "like", "FILE", "columns of a new table: those of a data file", NULL                       \
    }

struct ArrowSchema;
struct cli_command;
struct cli_args;

/** Put --type into args->options. False (told) for another kind. */
bool cli_take_type(const struct cli_command *command, const struct cli_args *args);

/** The schema that --schema or --like names; 0, 1 (none of them given) or -1 (told). */
int cli_take_schema(hudi_context *context, const struct cli_command *command,
                    const struct cli_args *args, struct ArrowSchema *out);

#endif
