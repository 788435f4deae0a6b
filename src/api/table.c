/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "arrow/cast.h"
#include "arrow/schema.h"
#include "format/table/table_schema.h"

static hudi_status list_instants(struct hd_op *op, hudi_table *table)
{
    const struct hd_timeline *timeline = &table->snapshot.timeline;

    HD_TRY(hd_alloc_array(op, timeline->n_instants, sizeof *table->timeline.instants,
                          &table->timeline.instants));
    table->timeline.n_instants = timeline->n_instants;
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *instant = &timeline->instants[i];
        table->timeline.instants[i] =
            (struct hudi_instant){.time = instant->time,
                                  .action = hd_action_name(instant->action),
                                  .state = hd_instant_state_name(instant->state),
                                  .active = instant};
    }
    return HUDI_OK;
}

hudi_status hudi_table_open(hudi_context *context, const char *base_uri,
                            const hudi_options *options, hudi_table **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(context), HD_ARG(base_uri), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_table *table = NULL;

    *out = NULL;
    hd_call_begin(&op, context, NULL);
    HD_TRY_OUT(hd_alloc(&op, sizeof *table, &table));
    table->context = context;
    HD_TRY_OUT(hd_options_merge(&op, &table->options, &context->options));
    if (options != NULL)
        HD_TRY_OUT(hd_options_merge(&op, &table->options, &options->options));
    HD_TRY_OUT(hd_table_snapshot_load(&op, base_uri, &table->snapshot));
    HD_TRY_OUT(list_instants(&op, table));
    *out = table;
    table = NULL;
out:
    hudi_table_free(table);
    return hd_call_end(&op, status, err);
}

void hudi_table_free(hudi_table *table)
{
    if (table == NULL)
        return;
    hd_free(NULL, table->timeline.instants);
    hd_arena_clear(&table->timeline.summaries);
    hd_table_snapshot_clear(NULL, &table->snapshot);
    hd_options_clear(&table->options);
    hd_free(NULL, table);
}

/* Nanoseconds have no place in a table's schema: such columns become micros. */
static hudi_status micros_for_nanos(struct hd_op *op, struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        struct ArrowSchema *field = schema->children[i], micros;
        struct hd_type type;

        HD_TRY(hd_type_of(op, field, &type));
        if (type.id != HD_TYPE_TIMESTAMP || type.unit != HD_UNIT_NANO)
            continue;
        type.unit = HD_UNIT_MICRO;
        HD_TRY(hd_schema_init_field(op, &micros, field->name, &type, hd_schema_nullable(field)));
        hd_schema_clear(field);
        *field = micros;
    }
    return HUDI_OK;
}

static hudi_status create(struct hd_op *op, const char *base_uri, const struct ArrowSchema *schema,
                          const struct hd_options *options)
{
    hudi_status status = HUDI_OK;
    struct ArrowSchema canonical = {0};
    struct hd_str avro = {0};
    struct hd_table_config config = {0};
    hd_file_system *fs = NULL;
    char *path = NULL;
    const char *name = hd_options_text(options, NULL, "hoodie.table.name");

    HD_TRY_OUT(hd_canonical_schema(op, schema, &canonical));
    HD_TRY_OUT(micros_for_nanos(op, &canonical));
    HD_TRY_OUT(hd_table_schema_check_names(op, &canonical));
    HD_TRY_OUT(hd_table_schema_to_avro(op, &canonical, name, &avro));
    HD_TRY_OUT(hd_table_config_for_create(op, options, hd_str_text(&avro), &config));
    HD_TRY_OUT(hd_fs_open(op, base_uri, &fs, &path));
    HD_TRY_OUT(hd_table_create(op, fs, path, &config));
out:
    hd_schema_clear(&canonical);
    hd_str_clear(&avro);
    hd_table_config_clear(&config);
    hd_fs_free(fs);
    hd_free(op, path);
    return hd_fail_path(op, status, base_uri);
}

/* The last part of the table's path, for a table that was given no name. */
static hudi_status default_name(struct hd_op *op, const char *uri, struct hd_options *options)
{
    hudi_status status = HUDI_OK;
    size_t end = strlen(uri), start;
    char *name = NULL;

    if (hd_options_has(options, "hoodie.table.name"))
        return HUDI_OK;
    while (end > 0 && uri[end - 1] == '/')
        end--;
    for (start = end; start > 0 && uri[start - 1] != '/' && uri[start - 1] != ':';)
        start--;
    if (start == end)
        return hd_fail(op, HUDI_INVALID, "the table needs a name (hoodie.table.name)");
    HD_TRY(hd_strndup(op, uri + start, end - start, &name));
    for (char *c = name; *c != '\0'; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
            *c = '_';
    status = hd_options_set(op, options, "hoodie.table.name", name);
    hd_free(op, name);
    return status;
}

hudi_status hudi_table_create(hudi_context *context, const char *base_uri,
                              struct ArrowSchema *schema, const hudi_options *options,
                              hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(context), HD_ARG(base_uri), HD_ARG(schema)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    struct hd_options all = {0};

    hd_call_begin(&op, context, NULL);
    HD_TRY_OUT(hd_options_merge(&op, &all, &context->options));
    if (options != NULL)
        HD_TRY_OUT(hd_options_merge(&op, &all, &options->options));
    HD_TRY_OUT(default_name(&op, base_uri, &all));
    HD_TRY_OUT(create(&op, base_uri, schema, &all));
out:
    hd_options_clear(&all);
    hd_schema_clear(schema);
    return hd_call_end(&op, status, err);
}

const char *hudi_table_uri(const hudi_table *table)
{
    return table->snapshot.uri;
}

const char *hudi_table_name(const hudi_table *table)
{
    return table->snapshot.config.name;
}

const char *hudi_table_type(const hudi_table *table)
{
    return table->snapshot.config.type == HD_MERGE_ON_READ ? "MERGE_ON_READ" : "COPY_ON_WRITE";
}

int hudi_table_version(const hudi_table *table)
{
    return table->snapshot.config.version->number;
}

bool hudi_table_property_at(const hudi_table *table, size_t i, const char **key, const char **value)
{
    const struct hd_properties *properties = &table->snapshot.config.properties;

    if (i >= properties->n_entries)
        return false;
    *key = properties->entries[i].key;
    *value = properties->entries[i].value;
    return true;
}

const hudi_timeline *hudi_table_timeline(const hudi_table *table)
{
    return &table->timeline;
}

static hudi_status table_avro(struct hd_op *op, const hudi_table *table, char **out)
{
    char *latest = NULL;
    hudi_status status = hd_timeline_table_schema(op, &table->snapshot.timeline,
                                                  &table->snapshot.config, NULL, out, &latest);

    hd_free(op, latest);
    if (status == HUDI_NOT_FOUND)
        status = hd_fail(op, HUDI_NOT_FOUND, "the table has no schema yet");
    return hd_fail_path(op, status, table->snapshot.uri);
}

hudi_status hudi_table_avro_schema(const hudi_table *table, char **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT(out)));
    struct hd_op op;

    *out = NULL;
    hd_call_begin(&op, table->context, NULL);
    return hd_call_end(&op, table_avro(&op, table, out), err);
}

hudi_status hudi_table_schema(const hudi_table *table, struct ArrowSchema *out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    char *avro = NULL;

    *out = (struct ArrowSchema){0};
    hd_call_begin(&op, table->context, NULL);
    HD_TRY_OUT(table_avro(&op, table, &avro));
    HD_TRY_OUT(hd_table_schema_from_avro(&op, avro, out));
out:
    hd_free(&op, avro);
    return hd_call_end(&op, status, err);
}

hudi_status hudi_schema_parse(const char *text, size_t n_bytes, struct ArrowSchema *out,
                              hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(text), HD_OUT(out)));
    struct hd_op op;

    *out = (struct ArrowSchema){0};
    hd_call_begin(&op, NULL, NULL);
    return hd_call_end(&op, hd_table_schema_parse(&op, hd_slice_of(text, n_bytes), out), err);
}
