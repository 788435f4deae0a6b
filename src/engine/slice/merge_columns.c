/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/merge_columns.h"

#include <string.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "format/table/table_schema.h"

/* ---- which columns are needed -------------------------------------------------------------- */

/* The column `name`, or the one that the field "a.b" is in; -1: none. */
static int32_t column_of_field(const struct ArrowSchema *schema, const char *name)
{
    const int32_t column = hd_schema_find(schema, name);
    const size_t n = strcspn(name, ".");

    if (column >= 0 || name[n] == '\0')
        return column;
    for (int32_t i = 0; i < schema->n_children; i++) {
        const char *other = schema->children[i]->name;

        if (strlen(other) == n && memcmp(other, name, n) == 0)
            return i;
    }
    return -1;
}

static void need(const struct ArrowSchema *schema, const char *name, bool *needed)
{
    const int32_t column = name == NULL ? -1 : column_of_field(schema, name);

    if (column >= 0)
        needed[column] = true;
}

static const char *delete_field(const struct hd_slice_query *query)
{
    static const char FIELD[] = "hoodie.payload.delete.field";
    static const char TABLE_FIELD[] = "hoodie.record.merge.property.hoodie.payload.delete.field";
    const char *name =
        query->options == NULL ? NULL : hd_properties_get(&query->options->set, FIELD);

    if (name == NULL)
        name = hd_properties_get(&query->config->properties, FIELD);
    return name != NULL ? name : hd_properties_get(&query->config->properties, TABLE_FIELD);
}

/* Columns that decide between two records, or what a record is, but for _hoodie_record_key. */
static void need_for_merging(const struct hd_slice_query *query, bool *needed)
{
    const struct hd_table_config *config = query->config;

    for (size_t i = 0; i < config->n_ordering_fields; i++)
        need(query->schema, config->ordering_fields[i], needed);
    need(query->schema, "_hoodie_is_deleted", needed);
    need(query->schema, delete_field(query), needed);
    need(query->schema, "Op", needed); /* AWSDmsAvroPayload */
    if (config->populate_meta_fields)
        return;
    for (size_t i = 0; i < config->n_record_key_fields; i++)
        need(query->schema, config->record_key_fields[i], needed);
}

static bool filters_by(const struct hd_slice_query *query, int32_t column)
{
    int32_t n = 0;
    const int32_t *filtered =
        query->predicate == NULL ? NULL : hd_predicate_columns(query->predicate, &n);

    for (int32_t i = 0; i < n; i++)
        if (filtered[i] == column)
            return true;
    return false;
}

static hudi_status choose_columns(struct hd_op *op, struct hd_merge_columns *columns)
{
    struct hd_slice_query *query = &columns->query;
    const size_t n = (size_t)query->schema->n_children;
    bool *needed = NULL;
    int32_t n_needed = 0;

    HD_TRY(hd_alloc_array(op, n, sizeof *columns->numbers, &columns->numbers));
    HD_TRY(hd_alloc_array(op, n, sizeof *needed, &needed));
    for (int32_t i = 0; i < query->n_columns; i++)
        needed[query->columns[i]] = true;
    need_for_merging(query, needed);
    const int32_t key = hd_schema_find(query->schema, HD_META_RECORD_KEY);
    columns->wants_key = key >= 0 && (needed[key] || filters_by(query, key));
    need(query->schema, HD_META_RECORD_KEY, needed);
    for (size_t i = 0; i < n; i++) {
        if (needed[i])
            columns->numbers[n_needed++] = (int32_t)i;
    }
    hd_free(op, needed);
    query->columns = columns->numbers;
    query->n_columns = n_needed;
    return HUDI_OK;
}

/* ---- schemas ------------------------------------------------------------------------------- */

static hudi_status make_nullable(struct hd_op *op, const struct ArrowSchema *schema,
                                 struct ArrowSchema *out)
{
    HD_TRY(hd_schema_copy(op, schema, out));
    for (int64_t i = 0; i < out->n_children; i++)
        out->children[i]->flags |= ARROW_FLAG_NULLABLE;
    return HUDI_OK;
}

/* The table's own columns, between the meta columns and the operation. */
static hudi_status split_columns(struct hd_op *op, struct hd_merge_columns *columns)
{
    const struct ArrowSchema *read = &columns->base.read;
    int32_t *numbers = NULL;

    columns->n_read = (int32_t)read->n_children;
    columns->operation = columns->base.operation;
    while (columns->n_meta < columns->operation &&
           hd_is_meta_column(read->children[columns->n_meta]->name))
        columns->n_meta++;
    columns->n_data = columns->operation - columns->n_meta;
    columns->key = hd_schema_find(read, HD_META_RECORD_KEY);
    HD_TRY(hd_alloc_array(op, (size_t)columns->n_data, sizeof *numbers, &numbers));
    for (int32_t i = 0; i < columns->n_data; i++)
        numbers[i] = columns->n_meta + i;
    hudi_status status = hd_schema_select(op, read, numbers, columns->n_data, &columns->data);
    HD_KEEP(make_nullable(op, read, &columns->nullable));
    hd_free(op, numbers);
    return status;
}

hudi_status hd_merge_columns_entry(struct hd_op *op, bool is_partial,
                                   struct hd_merge_columns *columns)
{
    const struct hd_type number = {.id = HD_TYPE_INT32}, flag = {.id = HD_TYPE_BOOL};
    const int32_t n = columns->n_read;

    columns->is_partial = is_partial;
    HD_TRY(hd_schema_init_struct(op, &columns->entry, "", false, n + 1 + (is_partial ? n : 0)));
    for (int32_t i = 0; i < n; i++)
        HD_TRY(hd_schema_copy(op, columns->nullable.children[i], columns->entry.children[i]));
    HD_TRY(hd_schema_init_field(op, columns->entry.children[hd_merge_columns_mark(columns)], "mark",
                                &number, false));
    for (int32_t i = 0; is_partial && i < n; i++)
        HD_TRY(hd_schema_init_field(op,
                                    columns->entry.children[hd_merge_columns_presence(columns, i)],
                                    columns->nullable.children[i]->name, &flag, false));
    return HUDI_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static hudi_status make_rules(struct hd_op *op, struct hd_merge_columns *columns)
{
    const struct hd_slice_query *query = &columns->query;
    struct hd_table_config config = *query->config; /* shallow: only its version is another */
    const bool as_of_1x =
        strcmp(hd_options_text(query->options, NULL, "libhudi.merge.rules"), "1.x") == 0;

    HD_TRY(hd_log_rules_of(op, config.version, as_of_1x, &columns->rules));
    config.version = columns->rules.merging;
    HD_TRY(hd_merger_new(op, &config, query->options, &columns->data, &columns->merger));
    if (columns->key >= 0)
        return HUDI_OK;
    return hd_record_key_generator_new(op, query->config, NULL, &columns->base.read,
                                       HD_COMPLEX_WITH_FIELD, &columns->keys);
}

static hudi_status fill(struct hd_op *op, const struct hd_slice_source *slice,
                        const struct ArrowSchema *base, struct hd_merge_columns *columns)
{
    HD_TRY(choose_columns(op, columns));
    HD_TRY(hd_slice_columns_choose(op, &columns->query, slice, base, true, &columns->base));
    if (base != NULL)
        HD_TRY(hd_slice_file_init(op, &columns->query, slice->file_schema, &columns->base.read,
                                  base, &columns->base.file));
    HD_TRY(split_columns(op, columns));
    return make_rules(op, columns);
}

hudi_status hd_merge_columns_init(struct hd_op *op, const struct hd_slice_query *query,
                                  const struct hd_slice_source *slice,
                                  const struct ArrowSchema *base, struct hd_merge_columns *out)
{
    *out = (struct hd_merge_columns){.query = *query};
    const hudi_status status = fill(op, slice, base, out);

    if (status != HUDI_OK)
        hd_merge_columns_clear(op, out);
    return status;
}

hudi_status hd_merge_columns_leave_out_key(struct hd_op *op, const struct hd_slice_source *slice,
                                           const struct ArrowSchema *base,
                                           struct hd_merge_columns *columns)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    const int32_t at = hd_schema_find(base, HD_META_RECORD_KEY);
    struct ArrowSchema without;

    if (at < 0 || columns->key < 0 ||
        !hd_schema_nullable(columns->base.read.children[columns->key]))
        return HUDI_OK;
    HD_TRY(hd_schema_copy(op, base, &without));
    hd_schema_clear(without.children[at]);
    /* A name that no column is asked for by: the others keep their numbers. */
    hudi_status status = hd_schema_init_field(op, without.children[at], "", &text, true);
    if (status == HUDI_OK) {
        hd_slice_file_clear(op, &columns->base.file);
        status = hd_slice_file_init(op, &columns->query, slice->file_schema, &columns->base.read,
                                    &without, &columns->base.file);
    }
    hd_schema_clear(&without);
    return status;
}

void hd_merge_columns_clear(struct hd_op *op, struct hd_merge_columns *columns)
{
    hd_merger_free(columns->merger);
    hd_key_generator_free(columns->keys);
    hd_slice_columns_clear(op, &columns->base);
    hd_schema_clear(&columns->data);
    hd_schema_clear(&columns->nullable);
    hd_schema_clear(&columns->entry);
    hd_free(op, columns->numbers);
    *columns = (struct hd_merge_columns){0};
}

/* ---- rows ---------------------------------------------------------------------------------- */

hudi_status hd_merge_columns_keys(struct hd_op *op, const struct hd_merge_columns *columns,
                                  const struct ArrowArray *batch, struct hd_arena *arena,
                                  struct ArrowArray *made, struct hd_view *out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema field;
    struct hd_view views;

    if (columns->key >= 0) {
        HD_TRY(hd_view_open(op, arena, &columns->nullable, batch, &views));
        *out = views.children[columns->key];
        return HUDI_OK;
    }
    HD_TRY(hd_key_generator_record_keys(op, columns->keys, batch, made));
    HD_TRY(hd_schema_init_field(op, &field, HD_META_RECORD_KEY, &text, false));
    const hudi_status status = hd_view_open(op, arena, &field, made, out);
    hd_schema_clear(&field);
    return status;
}

static bool operation_deletes(const struct hd_view *operation, int64_t row)
{
    if (hd_view_is_null(operation, row))
        return false;
    const struct hd_slice text = hd_view_bytes(operation, row);

    return (text.size == 1 && text.data[0] == 'D') ||
           (text.size == 2 && memcmp(text.data, "-U", 2) == 0);
}

struct hd_merge_side hd_merge_side_of_row(const struct hd_merge_columns *columns,
                                          const struct hd_view *views, int64_t row)
{
    return (struct hd_merge_side){
        .columns = views + columns->n_meta,
        .row = row,
        .is_delete = operation_deletes(&views[columns->operation], row),
        .is_row = true,
    };
}

struct hd_merge_side hd_merge_side_of_entry(const struct hd_merge_columns *columns,
                                            const struct hd_view *views, int64_t row)
{
    const int32_t mark = hd_view_i32(&views[hd_merge_columns_mark(columns)], row);
    struct hd_merge_side side = hd_merge_side_of_row(columns, views, row);

    side.is_row = mark == HD_MARK_ROW;
    side.is_delete = side.is_delete || mark != HD_MARK_ROW;
    side.by_arrival = mark == HD_MARK_DELETE_BY_ARRIVAL;
    return side;
}
