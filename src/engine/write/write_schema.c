/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/schema.h"
#include "engine/write/write_config.h"
#include "format/table/table_schema.h"

/* The input's columns as the table would hold them: without meta columns, nanoseconds as micros (a
 * table has none; each value is checked when it is cast). */
static hudi_status plain_columns(struct hd_op *op, const struct ArrowSchema *incoming,
                                 struct ArrowSchema *out)
{
    hudi_status status = HUDI_OK;
    int32_t *columns = NULL, n = 0;
    struct hd_type type;

    HD_TRY_OUT(hd_alloc_array(op, (size_t)incoming->n_children, sizeof *columns, &columns));
    for (int32_t i = 0; i < incoming->n_children; i++)
        if (!hd_is_meta_column(incoming->children[i]->name))
            columns[n++] = i;
    HD_TRY_OUT(hd_schema_select(op, incoming, columns, n, out));
    for (int32_t i = 0; i < n; i++) {
        struct ArrowSchema *field = out->children[i], micros;

        HD_TRY_OUT(hd_type_of(op, field, &type));
        if (type.id != HD_TYPE_TIMESTAMP || type.unit != HD_UNIT_NANO)
            continue;
        type.unit = HD_UNIT_MICRO;
        HD_TRY_OUT(
            hd_schema_init_field(op, &micros, field->name, &type, hd_schema_nullable(field)));
        hd_schema_clear(field);
        *field = micros;
    }
out:
    hd_free(op, columns);
    if (status != HUDI_OK)
        hd_schema_clear(out);
    return status;
}

/* A column of nulls alone has no type of its own (dataframes write such): it has the table's, and
 * so have elements and members. What the table does not have either stays as it is. */
static hudi_status type_nulls(struct hd_op *op, const struct ArrowSchema *table,
                              struct ArrowSchema *field)
{
    struct ArrowSchema typed;

    if (strcmp(field->format, "n") == 0) {
        if (strcmp(table->format, "n") == 0)
            return HUDI_OK;
        HD_TRY(hd_schema_copy(op, table, &typed));
        hd_schema_clear(field);
        *field = typed;
        return HUDI_OK;
    }
    if (strcmp(field->format, table->format) != 0)
        return HUDI_OK;
    for (int64_t i = 0; i < field->n_children; i++) {
        const int32_t found =
            field->format[1] == 's' ? hd_schema_find(table, field->children[i]->name) : (int32_t)i;
        if (found >= 0 && found < table->n_children)
            HD_TRY(type_nulls(op, table->children[found], field->children[i]));
    }
    return HUDI_OK;
}

static hudi_status type_nulls_by(struct hd_op *op, const char *table_avro,
                                 struct ArrowSchema *columns)
{
    struct ArrowSchema table;

    HD_TRY(hd_table_schema_from_avro(op, table_avro, &table));
    const hudi_status status = type_nulls(op, &table, columns);
    hd_schema_clear(&table);
    return status;
}

/* Avro JSON of the table after this write; `*evolved` says whether it differs from before. */
static hudi_status target_avro(struct hd_op *op, const struct hd_write_config *config,
                               const struct ArrowSchema *incoming, char **out, bool *evolved)
{
    hudi_status status = HUDI_OK;
    struct ArrowSchema columns = {0};
    struct hd_str avro = {0};
    char *table = NULL, *latest = NULL, *after = NULL;

    *out = NULL;
    *evolved = false;
    const hudi_status found = hd_timeline_table_schema(
        op, &config->table->timeline, &config->table->config, NULL, &table, &latest);
    if (found != HUDI_OK && found != HUDI_NOT_FOUND)
        return found;
    if (found == HUDI_NOT_FOUND && incoming == NULL) {
        status = hd_fail(op, HUDI_SCHEMA, "the table has no schema yet and the write brings none");
        goto out;
    }
    const bool keys_only = config->operation == HD_OPERATION_DELETE ||
                           config->operation == HD_OPERATION_DELETE_PARTITION;
    if (found == HUDI_OK && (incoming == NULL || keys_only)) {
        *out = table;
        table = NULL;
        goto out;
    }
    HD_TRY_OUT(plain_columns(op, incoming, &columns));
    if (found == HUDI_OK)
        HD_TRY_OUT(type_nulls_by(op, table, &columns));
    HD_TRY_OUT(hd_table_schema_check_names(op, &columns));
    HD_TRY_OUT(hd_table_schema_to_avro(op, &columns, config->table->config.name, &avro));
    if (found == HUDI_NOT_FOUND) {
        HD_TRY_OUT(hd_str_take(op, &avro, out));
        *evolved = true;
        goto out;
    }
    HD_TRY_OUT(hd_table_schema_evolve(op, table, hd_str_text(&avro), &after));
    *evolved = after != NULL;
    *out = after != NULL ? after : table;
    if (after == NULL)
        table = NULL;
out:
    hd_schema_clear(&columns);
    hd_str_clear(&avro);
    hd_free(op, table);
    hd_free(op, latest);
    return status;
}

static bool is_dropped(const struct hd_table_config *config, const char *name)
{
    if (!config->drop_partition_columns)
        return false;
    for (size_t i = 0; i < config->n_partition_fields; i++)
        if (strcmp(config->partition_fields[i], name) == 0)
            return true;
    return false;
}

static hudi_status file_schema(struct hd_op *op, const struct hd_table_config *config,
                               struct hd_write_schema *schema)
{
    const int64_t n_columns = schema->record.n_children;
    const struct hd_type text = {.id = HD_TYPE_STRING};

    HD_TRY(hd_alloc_array(op, (size_t)n_columns, sizeof *schema->stored, &schema->stored));
    for (int32_t i = 0; i < n_columns; i++)
        if (!is_dropped(config, schema->record.children[i]->name))
            schema->stored[schema->n_stored++] = i;
    schema->n_meta = config->populate_meta_fields ? HD_N_META_COLUMNS : 0;
    HD_TRY(hd_schema_init_struct(op, &schema->file, "", false, schema->n_meta + schema->n_stored));
    for (int32_t i = 0; i < schema->n_meta; i++)
        HD_TRY(hd_schema_init_field(op, schema->file.children[i], hd_meta_columns[i], &text, true));
    for (int32_t i = 0; i < schema->n_stored; i++)
        HD_TRY(hd_schema_copy(op, schema->record.children[schema->stored[i]],
                              schema->file.children[schema->n_meta + i]));
    return HUDI_OK;
}

hudi_status hd_write_schema_new(struct hd_op *op, const struct hd_write_config *config,
                                const struct ArrowSchema *incoming, struct hd_write_schema *out)
{
    hudi_status status = HUDI_OK;
    struct hd_str file_avro = {0};

    *out = (struct hd_write_schema){0};
    HD_TRY_OUT(target_avro(op, config, incoming, &out->avro, &out->evolved));
    HD_TRY_OUT(hd_table_schema_from_avro(op, out->avro, &out->record));
    HD_TRY_OUT(file_schema(op, &config->table->config, out));
    if (out->n_meta > 0)
        HD_TRY_OUT(hd_table_schema_add_meta(op, out->avro, false, &file_avro));
    else
        HD_TRY_OUT(hd_str_append_text(op, &file_avro, out->avro));
    HD_TRY_OUT(hd_str_take(op, &file_avro, &out->file_avro));
out:
    hd_str_clear(&file_avro);
    if (status != HUDI_OK)
        hd_write_schema_clear(op, out);
    return status;
}

void hd_write_schema_clear(struct hd_op *op, struct hd_write_schema *schema)
{
    hd_free(op, schema->avro);
    hd_free(op, schema->file_avro);
    hd_free(op, schema->stored);
    hd_schema_clear(&schema->record);
    hd_schema_clear(&schema->file);
    *schema = (struct hd_write_schema){0};
}
