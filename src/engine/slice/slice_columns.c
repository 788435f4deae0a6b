/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/slice_columns.h"

#include <string.h>

#include "arrow/cast.h"
#include "arrow/schema.h"
#include "format/layout/partition.h"
#include "format/table/table_schema.h"

bool hd_slice_column_is_dropped(const struct hd_table_config *config, const char *name)
{
    if (!config->drop_partition_columns)
        return false;
    for (size_t i = 0; i < config->n_partition_fields; i++) {
        if (strcmp(config->partition_fields[i], name) == 0)
            return true;
    }
    return false;
}

/* ---- columns of the partition path -------------------------------------------------------- */

static hudi_status fix_column(struct hd_op *op, const struct ArrowSchema *field,
                              struct hd_slice text, const char *partition_path,
                              struct ArrowArray *out)
{
    const struct hd_type string = {.id = HD_TYPE_STRING};
    struct ArrowSchema from;
    struct ArrowArray array;

    if (text.data == NULL)
        return hd_array_nulls(op, field, 1, out);
    HD_TRY(hd_schema_init_field(op, &from, field->name, &string, true));
    hudi_status status = hd_array_constant_string(op, text, 1, &array);
    if (status == HUDI_OK)
        status = hd_cast(op, &from, &array, field, HD_CAST_INPUT, out);
    hd_schema_clear(&from);
    return hd_fail_path(op, status, partition_path);
}

/* Values of the columns in `wanted` that the file does not have and the path does. */
static hudi_status fix_columns(struct hd_op *op, const struct hd_slice_query *query,
                               const char *partition_path, bool *wanted,
                               const struct ArrowSchema *file, struct hd_slice_columns *out)
{
    const struct hd_table_config *config = query->config;
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_slice *values = NULL;

    if (!config->drop_partition_columns)
        return HUDI_OK;
    for (size_t i = 0; i < config->n_partition_fields; i++) {
        const int32_t column = hd_schema_find(query->schema, config->partition_fields[i]);

        if (column < 0 || !wanted[column] ||
            (file != NULL && hd_schema_find(file, config->partition_fields[i]) >= 0))
            continue;
        if (config->key_generator == HD_KEYGEN_TIMESTAMP) {
            status = hd_fail(op, HUDI_NOT_IMPLEMENTED,
                             "column \"%s\" is not stored, and the partition path has it as "
                             "formatted by the timestamp key generator",
                             config->partition_fields[i]);
            goto out;
        }
        if (values == NULL) {
            HD_TRY_OUT(
                hd_arena_array(op, &arena, config->n_partition_fields, sizeof *values, &values));
            HD_TRY_OUT(hd_partition_path_values(op, config, partition_path, &arena, values));
        }
        HD_TRY_OUT(fix_column(op, query->schema->children[column], values[i], partition_path,
                              &out->fixed[column]));
        wanted[column] = false;
    }
out:
    hd_arena_clear(&arena);
    return status;
}

/* ---- columns of the file ------------------------------------------------------------------ */

/* What is read: the wanted columns in the order of the query's schema, and the operation. */
static hudi_status choose_read(struct hd_op *op, const struct ArrowSchema *schema,
                               const bool *wanted, bool operation, struct hd_slice_columns *out)
{
    const struct hd_type string = {.id = HD_TYPE_STRING};
    int64_t n = operation;

    for (int64_t i = 0; i < schema->n_children; i++)
        n += wanted[i];
    HD_TRY(hd_schema_init_struct(op, &out->read, "", false, n));
    int32_t next = 0;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (!wanted[i])
            continue;
        HD_TRY(hd_schema_copy(op, schema->children[i], out->read.children[next]));
        out->read_of[i] = next++;
    }
    if (!operation)
        return HUDI_OK;
    out->operation = next;
    return hd_schema_init_field(op, out->read.children[next], HD_META_OPERATION, &string, true);
}

/* Names that the columns of `read` have in the file. NULL: their own. */
static hudi_status file_names(struct hd_op *op, const struct hd_slice_query *query,
                              const char *file_schema, const struct ArrowSchema *read,
                              hd_internal_schema **internal, const char ***out)
{
    *out = NULL;
    *internal = NULL;
    if (query->internal == NULL || file_schema == NULL)
        return HUDI_OK;
    HD_TRY(hd_internal_schema_parse(op, hd_slice_text(file_schema), internal));
    HD_TRY(hd_internal_schema_file_names(op, query->internal, *internal, read, out));
    for (int64_t i = 0; i < read->n_children; i++) {
        if (hd_is_meta_column(read->children[i]->name))
            (*out)[i] = read->children[i]->name;
    }
    return HUDI_OK;
}

static hudi_status understand_file(struct hd_op *op, const struct ArrowSchema *file,
                                   const hd_internal_schema *newest,
                                   const hd_internal_schema *internal, const char *const *names,
                                   const struct ArrowSchema *read, struct hd_slice_file *out)
{
    if (internal != NULL) /* fields below the columns are found by their ids as well */
        HD_TRY(hd_internal_schema_rename_below(op, newest, internal, file, &out->schema));
    else
        HD_TRY(hd_schema_copy(op, file, &out->schema));
    HD_TRY(hd_alloc_array(op, (size_t)read->n_children, sizeof *out->column_of, &out->column_of));
    for (int64_t i = 0; i < read->n_children; i++) {
        const struct ArrowSchema *wanted = read->children[i];
        const char *name = names == NULL ? wanted->name : names[i];
        const int32_t column = name == NULL ? -1 : hd_schema_find(file, name);
        struct hd_type stored, table;
        struct ArrowSchema field;

        out->column_of[i] = column;
        if (column < 0)
            continue;
        HD_TRY(hd_type_of(op, file->children[column], &stored));
        HD_TRY(hd_type_of(op, wanted, &table));
        if (!hd_is_bare_time(&stored, &table))
            continue;
        HD_TRY(hd_schema_init_field(op, &field, name, &table,
                                    hd_schema_nullable(file->children[column])));
        hd_schema_clear(out->schema.children[column]);
        *out->schema.children[column] = field;
    }
    return HUDI_OK;
}

hudi_status hd_slice_file_init(struct hd_op *op, const struct hd_slice_query *query,
                               const char *file_schema, const struct ArrowSchema *read,
                               const struct ArrowSchema *file, struct hd_slice_file *out)
{
    hudi_status status = HUDI_OK;
    hd_internal_schema *internal = NULL;
    const char **names = NULL;

    *out = (struct hd_slice_file){0};
    HD_TRY_OUT(file_names(op, query, file_schema, read, &internal, &names));
    HD_TRY_OUT(understand_file(op, file, query->internal, internal, names, read, out));
    HD_TRY_OUT(hd_projection_new(op, read, &out->schema, names, HD_CAST_READ, &out->projection));
out:
    hd_free(op, names);
    hd_internal_schema_free(internal);
    if (status != HUDI_OK)
        hd_slice_file_clear(op, out);
    return status;
}

void hd_slice_file_clear(struct hd_op *op, struct hd_slice_file *file)
{
    hd_projection_free(file->projection);
    hd_schema_clear(&file->schema);
    hd_free(op, file->column_of);
    *file = (struct hd_slice_file){0};
}

/* ---- both --------------------------------------------------------------------------------- */

hudi_status hd_slice_columns_choose(struct hd_op *op, const struct hd_slice_query *query,
                                    const struct hd_slice_source *slice,
                                    const struct ArrowSchema *file, bool operation,
                                    struct hd_slice_columns *out)
{
    hudi_status status = HUDI_OK;
    const size_t n = (size_t)query->schema->n_children;
    bool *wanted = NULL;
    int32_t n_filtered = 0;

    *out = (struct hd_slice_columns){.operation = -1, .schema = query->schema};
    HD_TRY_OUT(hd_alloc_array(op, n, sizeof *wanted, &wanted));
    HD_TRY_OUT(hd_alloc_array(op, n, sizeof *out->read_of, &out->read_of));
    HD_TRY_OUT(hd_alloc_array(op, n, sizeof *out->fixed, &out->fixed));
    for (size_t i = 0; i < n; i++)
        out->read_of[i] = -1;
    for (int32_t i = 0; i < query->n_columns; i++)
        wanted[query->columns[i]] = true;
    const int32_t *filtered =
        query->predicate == NULL ? NULL : hd_predicate_columns(query->predicate, &n_filtered);
    for (int32_t i = 0; i < n_filtered; i++)
        wanted[filtered[i]] = true;
    HD_TRY_OUT(fix_columns(op, query, slice->partition_path, wanted, file, out));
    HD_TRY_OUT(choose_read(op, query->schema, wanted, operation, out));
out:
    hd_free(op, wanted);
    if (status != HUDI_OK)
        hd_slice_columns_clear(op, out);
    return status;
}

hudi_status hd_slice_columns_init(struct hd_op *op, const struct hd_slice_query *query,
                                  const struct hd_slice_source *slice,
                                  const struct ArrowSchema *file, struct hd_slice_columns *out)
{
    HD_TRY(hd_slice_columns_choose(op, query, slice, file,
                                   hd_schema_find(file, HD_META_OPERATION) >= 0, out));
    const hudi_status status =
        hd_slice_file_init(op, query, slice->file_schema, &out->read, file, &out->file);

    if (status != HUDI_OK)
        hd_slice_columns_clear(op, out);
    return status;
}

void hd_slice_columns_clear(struct hd_op *op, struct hd_slice_columns *columns)
{
    for (int64_t i = 0; columns->fixed != NULL && i < columns->schema->n_children; i++)
        hd_array_clear(&columns->fixed[i]);
    hd_slice_file_clear(op, &columns->file);
    hd_schema_clear(&columns->read);
    hd_free(op, columns->read_of);
    hd_free(op, columns->fixed);
    *columns = (struct hd_slice_columns){0};
}
