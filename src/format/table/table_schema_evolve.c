/* SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>

#include "arrow/decimal.h"
#include "base/map.h"
#include "codec/avro_schema.h"
#include "format/table/internal.h"
#include "format/table/table_schema.h"

/*
 * The schema of a table after rows of another schema came in. Trees of Avro, so that what the
 * table's schema says besides types stays: docs, defaults, names, sizes of fixed types.
 *
 *  1. What does not change is the table's own node; what changes is a copy.
 *  2. A column of the table never gets narrower, never moves, and is never dropped. It keeps its
 *     nullability: a null in a column that has none is a fault of the row, not of the schema.
 *  3. Only changes that keep every value of the table and of the incoming rows exactly are taken.
 *
 * Source: AvroSchemaEvolutionUtils.reconcileSchema (Hudi 0.15.0), narrower where that loses digits
 */

#define MAX_NODES 200000

struct evolution {
    struct hd_op *op;
    struct hd_arena *arena;
    struct hd_column_path path;
    size_t n_nodes;
};

static hudi_status merge(struct evolution *e, struct hd_avro_schema *table,
                         const struct hd_avro_schema *incoming, struct hd_avro_schema **out);

static hudi_status count_node(struct evolution *e)
{
    if (++e->n_nodes > MAX_NODES)
        return hd_fail(e->op, HUDI_SCHEMA, "schema has more than %d types", MAX_NODES);
    if (e->path.depth > HD_AVRO_MAX_DEPTH)
        return hd_fail(e->op, HUDI_NOT_IMPLEMENTED, "column %s nests more than %d deep",
                       e->path.text, HD_AVRO_MAX_DEPTH);
    return HUDI_OK;
}

/* ---- messages ----------------------------------------------------------------------------- */

static hudi_status describe(struct evolution *e, const struct hd_avro_schema *schema,
                            struct hd_str *out)
{
    switch (schema->type) {
    case HD_AVRO_FIXED:
        if (schema->logical == HD_AVRO_PLAIN)
            return hd_str_printf(e->op, out, "fixed(%u)", schema->fixed_bytes);
        break;
    case HD_AVRO_UNION:
        return hd_str_append_text(e->op, out, "a union of several types");
    default:
        break;
    }
    if (schema->logical == HD_AVRO_DECIMAL)
        return hd_str_printf(e->op, out, "decimal(%d,%d)", schema->precision, schema->scale);
    return hd_str_append_text(e->op, out,
                              schema->logical == HD_AVRO_PLAIN
                                  ? hd_avro_type_name(schema->type)
                                  : hd_avro_logical_name(schema->logical));
}

static hudi_status refuse(struct evolution *e, const struct hd_avro_schema *table,
                          const struct hd_avro_schema *incoming)
{
    struct hd_str is = {0}, comes = {0};
    hudi_status status = describe(e, table, &is);

    if (status == HUDI_OK)
        status = describe(e, incoming, &comes);
    if (status == HUDI_OK)
        status = hd_fail(e->op, HUDI_SCHEMA, "column %s is %s in the table and %s in the rows",
                         e->path.text, hd_str_text(&is), hd_str_text(&comes));
    hd_str_clear(&is);
    hd_str_clear(&comes);
    return status;
}

/* ---- types without parts ------------------------------------------------------------------ */

enum verdict { KEEP, WIDEN, REFUSE };

static enum verdict compare_decimals(const struct hd_avro_schema *t, const struct hd_avro_schema *i)
{
    const int32_t t_digits = t->precision - t->scale, i_digits = i->precision - i->scale;

    if (i->scale <= t->scale && i_digits <= t_digits)
        return KEEP;
    return i->scale >= t->scale && i_digits >= t_digits ? WIDEN : REFUSE;
}

/* Where a plain number goes without losing a digit. */
static bool widens_to(enum hd_avro_type from, enum hd_avro_type to)
{
    switch (from) {
    case HD_AVRO_INT:
        return to == HD_AVRO_LONG || to == HD_AVRO_DOUBLE;
    case HD_AVRO_FLOAT:
        return to == HD_AVRO_DOUBLE;
    default:
        return false;
    }
}

static bool symbols_within(const struct hd_avro_schema *t, const struct hd_avro_schema *i)
{
    for (size_t k = 0; k < i->n_symbols; k++) {
        bool found = false;

        for (size_t j = 0; j < t->n_symbols && !found; j++)
            found = strcmp(t->symbols[j], i->symbols[k]) == 0;
        if (!found)
            return false;
    }
    return true;
}

static bool is_text(const struct hd_avro_schema *s)
{
    return s->type == HD_AVRO_STRING || s->type == HD_AVRO_ENUM;
}

/* Milliseconds fit where the table has microseconds of the same kind. */
static bool is_finer(enum hd_avro_logical t, enum hd_avro_logical i)
{
    return (t == HD_AVRO_TIME_MICROS && i == HD_AVRO_TIME_MILLIS) ||
           (t == HD_AVRO_TIMESTAMP_MICROS && i == HD_AVRO_TIMESTAMP_MILLIS) ||
           (t == HD_AVRO_LOCAL_TIMESTAMP_MICROS && i == HD_AVRO_LOCAL_TIMESTAMP_MILLIS);
}

static enum verdict compare(const struct hd_avro_schema *t, const struct hd_avro_schema *i)
{
    if (t->logical == HD_AVRO_DECIMAL && i->logical == HD_AVRO_DECIMAL)
        return compare_decimals(t, i);
    if (is_text(t) && is_text(i)) /* UUIDs are text too; an enum's rows are checked one by one */
        return t->type == HD_AVRO_ENUM && i->type == HD_AVRO_ENUM && !symbols_within(t, i) ? REFUSE
                                                                                           : KEEP;
    if (t->type == HD_AVRO_FIXED && i->type == HD_AVRO_FIXED && t->logical != HD_AVRO_DECIMAL &&
        i->logical != HD_AVRO_DECIMAL)
        return t->fixed_bytes == i->fixed_bytes ? KEEP : REFUSE;
    if (t->logical != i->logical)
        return is_finer(t->logical, i->logical) ? KEEP : REFUSE;
    if (t->type == i->type)
        return KEEP;
    if (t->logical != HD_AVRO_PLAIN)
        return REFUSE;
    if (widens_to(i->type, t->type))
        return KEEP;
    return widens_to(t->type, i->type) ? WIDEN : REFUSE;
}

static hudi_status widen(struct evolution *e, const struct hd_avro_schema *table,
                         const struct hd_avro_schema *incoming, struct hd_avro_schema **out)
{
    HD_TRY(hd_arena_alloc(e->op, e->arena, sizeof **out, out));
    **out = *table;
    (*out)->finish_state = 0;
    if (table->logical != HD_AVRO_DECIMAL) {
        (*out)->type = incoming->type;
        return HUDI_OK;
    }
    (*out)->precision = incoming->precision;
    (*out)->scale = incoming->scale;
    if (table->type == HD_AVRO_FIXED) {
        const uint32_t n_bytes = hd_decimal_bytes(incoming->precision);

        (*out)->fixed_bytes = n_bytes > table->fixed_bytes ? n_bytes : table->fixed_bytes;
    }
    return HUDI_OK;
}

/* ---- added columns ------------------------------------------------------------------------ */

static hudi_status copy_added(struct evolution *e, const struct hd_avro_schema *from,
                              const char *name, const char *space, struct hd_avro_schema **out);

/* Named types get the name of their column, in the name space of the names around it: the names
 * of incoming rows may be taken in the table. */
static hudi_status rename_type(struct evolution *e, const char *name, const char *space,
                               struct hd_avro_schema *node)
{
    char *full, *inner;

    if (node->name == NULL)
        return HUDI_OK;
    if (node->type == HD_AVRO_FIXED) {
        HD_TRY(hd_arena_printf(e->op, e->arena, &inner, "%s.%s", space, name));
        space = inner;
        name = "fixed";
    }
    HD_TRY(hd_arena_printf(e->op, e->arena, &full, "%s.%s", space, name));
    node->name = name;
    node->name_space = space;
    node->full_name = full;
    node->aliases = NULL;
    node->n_aliases = 0;
    return HUDI_OK;
}

static hudi_status copy_branches(struct evolution *e, const struct hd_avro_schema *from,
                                 const char *name, const char *space, struct hd_avro_schema *node)
{
    if (hd_avro_schema_unwrap(from, NULL) == NULL)
        return hd_fail(e->op, HUDI_NOT_IMPLEMENTED, "column %s is a union of several types",
                       e->path.text);
    HD_TRY(
        hd_arena_array(e->op, e->arena, from->n_branches, sizeof *node->branches, &node->branches));
    for (size_t i = 0; i < from->n_branches; i++)
        HD_TRY(copy_added(e, from->branches[i], name, space, &node->branches[i]));
    return HUDI_OK;
}

static hudi_status copy_added(struct evolution *e, const struct hd_avro_schema *from,
                              const char *name, const char *space, struct hd_avro_schema **out)
{
    struct hd_avro_schema *node;

    HD_TRY(count_node(e));
    HD_TRY(hd_arena_alloc(e->op, e->arena, sizeof *node, &node));
    *node = *from;
    node->finish_state = 0;
    *out = node;
    HD_TRY(rename_type(e, name, space, node));
    const size_t mark = hd_column_path_enter(&e->path, "element");

    if (from->items != NULL)
        HD_TRY(copy_added(e, from->items, name, space, &node->items));
    if (from->n_branches > 0)
        HD_TRY(copy_branches(e, from, name, space, node));
    hd_column_path_leave(&e->path, mark);
    if (from->n_fields == 0)
        return HUDI_OK;
    HD_TRY(hd_arena_array(e->op, e->arena, from->n_fields, sizeof *node->fields, &node->fields));
    for (size_t i = 0; i < from->n_fields; i++) {
        const size_t at = hd_column_path_enter(&e->path, from->fields[i].name);

        node->fields[i] = from->fields[i];
        HD_TRY(copy_added(e, from->fields[i].schema, from->fields[i].name, node->full_name,
                          &node->fields[i].schema));
        hd_column_path_leave(&e->path, at);
    }
    return HUDI_OK;
}

/* A column that older rows do not have is null in them. */
static hudi_status add_field(struct evolution *e, const struct hd_avro_field *from,
                             const char *space, struct hd_avro_field *out)
{
    bool nullable;
    struct hd_avro_schema *schema;

    if (hd_avro_schema_unwrap(from->schema, &nullable) == NULL)
        return hd_fail(e->op, HUDI_NOT_IMPLEMENTED, "column %s is a union of several types",
                       e->path.text);
    const struct hd_avro_schema *value = hd_avro_schema_unwrap(from->schema, NULL);

    *out = *from;
    HD_TRY(copy_added(e, value, from->name, space, &schema));
    out->default_json = "null";
    return hd_avro_schema_nullable(e->op, e->arena, schema, &out->schema);
}

/* ---- records ------------------------------------------------------------------------------ */

static const struct hd_avro_field *find_other_case(const struct hd_avro_schema *record,
                                                   const char *name)
{
    for (size_t i = 0; i < record->n_fields; i++)
        if (strcasecmp(record->fields[i].name, name) == 0)
            return &record->fields[i];
    return NULL;
}

static hudi_status check_missing(struct evolution *e, const struct hd_avro_field *field)
{
    bool nullable;

    hd_avro_schema_unwrap(field->schema, &nullable);
    if (nullable || field->default_json != NULL)
        return HUDI_OK;
    return hd_fail(e->op, HUDI_SCHEMA,
                   "column %s is not in the rows, and is neither nullable nor has a default",
                   e->path.text);
}

static hudi_status merge_field(struct evolution *e, const struct hd_avro_schema *incoming,
                               struct hd_avro_field *field, bool *changed)
{
    const struct hd_avro_field *match = hd_avro_schema_field(incoming, field->name);
    const size_t mark = hd_column_path_enter(&e->path, field->name);
    struct hd_avro_schema *merged;

    if (match == NULL) {
        HD_TRY(check_missing(e, field));
    } else {
        HD_TRY(merge(e, field->schema, match->schema, &merged));
        *changed = *changed || merged != field->schema;
        field->schema = merged;
    }
    hd_column_path_leave(&e->path, mark);
    return HUDI_OK;
}

static hudi_status add_fields(struct evolution *e, const struct hd_avro_schema *table,
                              const struct hd_avro_schema *incoming, struct hd_avro_schema *node)
{
    for (size_t i = 0; i < incoming->n_fields; i++) {
        const struct hd_avro_field *field = &incoming->fields[i];
        const struct hd_avro_field *other = find_other_case(table, field->name);
        const size_t mark = hd_column_path_enter(&e->path, field->name);

        if (other != NULL && hd_avro_schema_field(table, field->name) == NULL)
            return hd_fail(e->op, HUDI_SCHEMA, "column %s of the rows is %s in the table",
                           e->path.text, other->name);
        if (other == NULL && e->path.depth == 1 && hd_is_meta_column(field->name))
            return hd_fail(e->op, HUDI_SCHEMA, "column %s is a meta column of Hudi", e->path.text);
        if (other == NULL && !hd_avro_name_valid(hd_slice_text(field->name)))
            return hd_fail(e->op, HUDI_INVALID, "column %s: no name that a table can have",
                           e->path.text);
        if (other == NULL)
            HD_TRY(add_field(e, field, table->full_name, &node->fields[node->n_fields++]));
        hd_column_path_leave(&e->path, mark);
    }
    return HUDI_OK;
}

static hudi_status merge_record(struct evolution *e, struct hd_avro_schema *table,
                                const struct hd_avro_schema *incoming, struct hd_avro_schema **out)
{
    struct hd_avro_schema *node;
    bool changed = false;

    HD_TRY(hd_arena_alloc(e->op, e->arena, sizeof *node, &node));
    *node = *table;
    node->finish_state = 0;
    HD_TRY(hd_arena_array(e->op, e->arena, table->n_fields + incoming->n_fields,
                          sizeof *node->fields, &node->fields));
    for (size_t i = 0; i < table->n_fields; i++) {
        node->fields[i] = table->fields[i];
        HD_TRY(merge_field(e, incoming, &node->fields[i], &changed));
    }
    HD_TRY(add_fields(e, table, incoming, node));
    *out = changed || node->n_fields > table->n_fields ? node : table;
    return HUDI_OK;
}

static hudi_status merge_items(struct evolution *e, struct hd_avro_schema *table,
                               const struct hd_avro_schema *incoming, struct hd_avro_schema **out)
{
    struct hd_avro_schema *items, *node;
    const size_t mark =
        hd_column_path_enter(&e->path, table->type == HD_AVRO_ARRAY ? "element" : "value");

    HD_TRY(merge(e, table->items, incoming->items, &items));
    hd_column_path_leave(&e->path, mark);
    *out = table;
    if (items == table->items)
        return HUDI_OK;
    HD_TRY(hd_arena_alloc(e->op, e->arena, sizeof *node, &node));
    *node = *table;
    node->finish_state = 0;
    node->items = items;
    *out = node;
    return HUDI_OK;
}

/* The value inside the union, both being no union of several types. */
static hudi_status merge_value(struct evolution *e, struct hd_avro_schema *table,
                               const struct hd_avro_schema *incoming, struct hd_avro_schema **out)
{
    *out = table;
    if (incoming->type == HD_AVRO_NULL && table->type != HD_AVRO_NULL)
        return HUDI_OK; /* a column of nulls alone: the row is refused where that cannot be */
    if (table->type == HD_AVRO_RECORD && incoming->type == HD_AVRO_RECORD)
        return merge_record(e, table, incoming, out);
    if ((table->type == HD_AVRO_ARRAY || table->type == HD_AVRO_MAP) &&
        table->type == incoming->type)
        return merge_items(e, table, incoming, out);
    switch (compare(table, incoming)) {
    case KEEP:
        return HUDI_OK;
    case WIDEN:
        return widen(e, table, incoming, out);
    case REFUSE:
        break;
    }
    return refuse(e, table, incoming);
}

static hudi_status merge(struct evolution *e, struct hd_avro_schema *table,
                         const struct hd_avro_schema *incoming, struct hd_avro_schema **out)
{
    const struct hd_avro_schema *rows = hd_avro_schema_unwrap(incoming, NULL);
    struct hd_avro_schema *merged;

    HD_TRY(count_node(e));
    *out = table;
    if (table->type != HD_AVRO_UNION) {
        if (rows == NULL)
            return refuse(e, table, incoming);
        return merge_value(e, table, rows, out);
    }
    if (rows == NULL || hd_avro_schema_unwrap(table, NULL) == NULL)
        return refuse(e, table, incoming);
    for (size_t i = 0; i < table->n_branches; i++) {
        if (table->branches[i]->type == HD_AVRO_NULL)
            continue;
        HD_TRY(merge_value(e, table->branches[i], rows, &merged));
        if (merged == table->branches[i])
            return HUDI_OK;
        HD_TRY(hd_arena_alloc(e->op, e->arena, sizeof **out, out));
        **out = *table;
        (*out)->finish_state = 0;
        HD_TRY(hd_arena_array(e->op, e->arena, table->n_branches, sizeof *table->branches,
                              &(*out)->branches));
        memcpy((*out)->branches, table->branches, table->n_branches * sizeof *table->branches);
        (*out)->branches[i] = merged;
        return HUDI_OK;
    }
    return HUDI_OK;
}

/* A named type that is written out at its first use must be the same at every other. */
static hudi_status check_shared(struct evolution *e, struct hd_map *names,
                                const struct hd_avro_schema *schema)
{
    HD_TRY(count_node(e));
    if (schema->name != NULL) {
        struct hd_map_entry *entry;
        bool added;

        HD_TRY(hd_map_put(e->op, names, hd_slice_text(schema->full_name),
                          (uint64_t)(uintptr_t)schema, &entry, &added));
        if (!added && entry->value != (uint64_t)(uintptr_t)schema)
            return hd_fail(e->op, HUDI_NOT_IMPLEMENTED,
                           "type %s would differ between the columns that use it",
                           schema->full_name);
        if (!added)
            return HUDI_OK;
    }
    if (schema->items != NULL)
        HD_TRY(check_shared(e, names, schema->items));
    for (size_t i = 0; i < schema->n_branches; i++)
        HD_TRY(check_shared(e, names, schema->branches[i]));
    for (size_t i = 0; i < schema->n_fields; i++)
        HD_TRY(check_shared(e, names, schema->fields[i].schema));
    return HUDI_OK;
}

static hudi_status format_evolved(struct evolution *e, const struct hd_avro_schema *schema,
                                  char **out)
{
    struct hd_map names = {0};
    struct hd_str text = {0};
    hudi_status status = HUDI_OK;

    e->n_nodes = 0;
    HD_TRY_OUT(check_shared(e, &names, schema));
    HD_TRY_OUT(hd_avro_schema_format(e->op, schema, &text));
    HD_TRY_OUT(hd_str_take(e->op, &text, out));
out:
    hd_map_clear(&names);
    hd_str_clear(&text);
    return status;
}

hudi_status hd_table_schema_evolve(struct hd_op *op, const char *table, const char *incoming,
                                   char **out)
{
    struct hd_arena arena = {0};
    struct evolution e = {.op = op, .arena = &arena};
    struct hd_avro_schema *is, *comes, *evolved;
    hudi_status status = HUDI_OK;

    *out = NULL;
    HD_TRY_OUT(hd_avro_schema_parse(op, &arena, hd_slice_text(table), &is));
    HD_TRY_OUT(hd_avro_schema_parse(op, &arena, hd_slice_text(incoming), &comes));
    if (is->type != HD_AVRO_RECORD || comes->type != HD_AVRO_RECORD) {
        status = hd_fail(op, HUDI_CORRUPT, "table schema is an Avro %s, not a record",
                         hd_avro_type_name(is->type == HD_AVRO_RECORD ? comes->type : is->type));
        goto out;
    }
    HD_TRY_OUT(merge_record(&e, is, comes, &evolved));
    if (evolved != is)
        HD_TRY_OUT(format_evolved(&e, evolved, out));
out:
    hd_arena_clear(&arena);
    return status;
}
