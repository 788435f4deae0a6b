/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/decimal.h"
#include "arrow/schema.h"
#include "codec/avro_schema.h"
#include "format/table/internal.h"
#include "format/table/table_schema.h"

/*
 * Arrow to Avro. Names of nested types are Spark's: a struct is called like its column, in a name
 * space made of the names around it; the fixed type of a decimal is "fixed" in that of its column.
 *
 * Source: org.apache.spark.sql.avro.SchemaConverters.toAvroType,
 * AvroConversionUtils.getAvroRecordNameAndNamespace (Hudi 0.15.0)
 */

struct writer {
    struct hd_op *op;
    struct hd_arena *arena;
    struct hd_column_path path;
};

static hudi_status convert(struct writer *w, const struct ArrowSchema *field, const char *name,
                           const char *space, struct hd_avro_schema **out);

static hudi_status set_name(struct writer *w, const char *name, const char *space,
                            struct hd_avro_schema *node)
{
    char *full;

    node->name = name;
    node->name_space = space;
    HD_TRY(hd_arena_printf(w->op, w->arena, &full, "%s%s%s", space, space[0] == '\0' ? "" : ".",
                           name));
    node->full_name = full;
    return HUDI_OK;
}

static hudi_status fixed(struct writer *w, uint32_t n_bytes, const char *name, const char *space,
                         struct hd_avro_schema **out)
{
    char *inner;

    HD_TRY(hd_avro_schema_new(w->op, w->arena, HD_AVRO_FIXED, HD_AVRO_PLAIN, out));
    (*out)->fixed_bytes = n_bytes;
    HD_TRY(hd_arena_printf(w->op, w->arena, &inner, "%s%s%s", space, space[0] == '\0' ? "" : ".",
                           name));
    return set_name(w, "fixed", inner, *out);
}

static uint32_t decimal_bytes(const struct ArrowSchema *field, const struct hd_type *type)
{
    const uint32_t least = hd_decimal_bytes(type->precision);
    const uint32_t declared = (uint32_t)hd_schema_decimal_bytes(field);

    return declared > least ? declared : least;
}

static hudi_status fail_type(struct writer *w, const struct ArrowSchema *field)
{
    struct hd_str type = {0};

    if (strcmp(field->format, "n") == 0)
        return hd_fail(w->op, HUDI_SCHEMA,
                       "column %s: nothing but nulls says no type: leave it out, or give it one",
                       w->path.text);
    hudi_status status = hd_type_describe(w->op, field, &type);
    if (status == HUDI_OK)
        status = hd_fail(w->op, HUDI_SCHEMA, "column %s: a table has no type for %s", w->path.text,
                         hd_str_text(&type));
    hd_str_clear(&type);
    return status;
}

static hudi_status timestamp(struct writer *w, const struct ArrowSchema *field,
                             const struct hd_type *type, struct hd_avro_schema **out)
{
    enum hd_avro_logical logical;

    if (type->unit == HD_UNIT_MILLI)
        logical = type->utc ? HD_AVRO_TIMESTAMP_MILLIS : HD_AVRO_LOCAL_TIMESTAMP_MILLIS;
    else if (type->unit == HD_UNIT_MICRO)
        logical = type->utc ? HD_AVRO_TIMESTAMP_MICROS : HD_AVRO_LOCAL_TIMESTAMP_MICROS;
    else
        return fail_type(w, field);
    return hd_avro_schema_new(w->op, w->arena, HD_AVRO_LONG, logical, out);
}

static hudi_status leaf(struct writer *w, const struct ArrowSchema *field,
                        const struct hd_type *type, const char *name, const char *space,
                        struct hd_avro_schema **out)
{
    static const enum hd_avro_type plain[] = {
        [HD_TYPE_BOOL] = HD_AVRO_BOOLEAN,  [HD_TYPE_INT32] = HD_AVRO_INT,
        [HD_TYPE_INT64] = HD_AVRO_LONG,    [HD_TYPE_FLOAT] = HD_AVRO_FLOAT,
        [HD_TYPE_DOUBLE] = HD_AVRO_DOUBLE, [HD_TYPE_STRING] = HD_AVRO_STRING,
        [HD_TYPE_BINARY] = HD_AVRO_BYTES,
    };

    switch (type->id) {
    case HD_TYPE_BOOL:
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_STRING:
    case HD_TYPE_BINARY:
        return hd_avro_schema_new(w->op, w->arena, plain[type->id], HD_AVRO_PLAIN, out);
    case HD_TYPE_DICTIONARY: /* of strings */
        return hd_avro_schema_new(w->op, w->arena, HD_AVRO_STRING, HD_AVRO_PLAIN, out);
    case HD_TYPE_DATE:
        return hd_avro_schema_new(w->op, w->arena, HD_AVRO_INT, HD_AVRO_DATE, out);
    case HD_TYPE_TIME:
        if (type->unit == HD_UNIT_MILLI)
            return hd_avro_schema_new(w->op, w->arena, HD_AVRO_INT, HD_AVRO_TIME_MILLIS, out);
        if (type->unit == HD_UNIT_MICRO)
            return hd_avro_schema_new(w->op, w->arena, HD_AVRO_LONG, HD_AVRO_TIME_MICROS, out);
        return fail_type(w, field);
    case HD_TYPE_TIMESTAMP:
        return timestamp(w, field, type, out);
    case HD_TYPE_FIXED_BINARY:
        return fixed(w, (uint32_t)type->byte_width, name, space, out);
    case HD_TYPE_DECIMAL:
        if (type->scale < 0 || type->scale > type->precision)
            return fail_type(w, field);
        HD_TRY(fixed(w, decimal_bytes(field, type), name, space, out));
        (*out)->logical = HD_AVRO_DECIMAL;
        (*out)->precision = type->precision;
        (*out)->scale = type->scale;
        return HUDI_OK;
    default:
        return fail_type(w, field);
    }
}

static hudi_status record(struct writer *w, const struct ArrowSchema *schema, const char *name,
                          const char *space, struct hd_avro_schema **out)
{
    HD_TRY(hd_avro_schema_new(w->op, w->arena, HD_AVRO_RECORD, HD_AVRO_PLAIN, out));
    struct hd_avro_schema *node = *out;

    HD_TRY(set_name(w, name, space, node));
    node->n_fields = (size_t)schema->n_children;
    HD_TRY(hd_arena_array(w->op, w->arena, node->n_fields, sizeof *node->fields, &node->fields));
    for (size_t i = 0; i < node->n_fields; i++) {
        const struct ArrowSchema *child = schema->children[i];
        struct hd_avro_field *field = &node->fields[i];
        const size_t mark = hd_column_path_enter(&w->path, child->name);
        char *copy;

        HD_TRY(hd_arena_strdup(w->op, w->arena, child->name, &copy));
        field->name = copy;
        HD_TRY(convert(w, child, copy, node->full_name, &field->schema));
        if (hd_schema_nullable(child))
            field->default_json = "null";
        hd_column_path_leave(&w->path, mark);
    }
    return HUDI_OK;
}

static hudi_status convert(struct writer *w, const struct ArrowSchema *field, const char *name,
                           const char *space, struct hd_avro_schema **out)
{
    struct hd_type type;

    HD_TRY(hd_type_of(w->op, field, &type));
    if (w->path.depth > HD_AVRO_MAX_DEPTH / 2)
        return hd_fail(w->op, HUDI_SCHEMA, "column %s nests more than %d deep", w->path.text,
                       HD_AVRO_MAX_DEPTH / 2);
    if (type.id == HD_TYPE_STRUCT && field->n_children == 0 && w->path.depth > 0)
        return hd_fail(w->op, HUDI_SCHEMA, "column %s: a record without fields", w->path.text);
    if (type.id == HD_TYPE_STRUCT) {
        HD_TRY(record(w, field, name, space, out));
    } else if (type.id == HD_TYPE_LIST || type.id == HD_TYPE_MAP) {
        const bool is_map = type.id == HD_TYPE_MAP;
        const struct ArrowSchema *items =
            is_map ? field->children[0]->children[1] : field->children[0];

        HD_TRY(hd_avro_schema_new(w->op, w->arena, is_map ? HD_AVRO_MAP : HD_AVRO_ARRAY,
                                  HD_AVRO_PLAIN, out));
        if (is_map) {
            struct hd_type key;

            HD_TRY(hd_type_of(w->op, field->children[0]->children[0], &key));
            if (key.id != HD_TYPE_STRING)
                return hd_fail(w->op, HUDI_SCHEMA, "column %s: keys of a map are strings",
                               w->path.text);
        }
        const size_t mark = hd_column_path_enter(&w->path, is_map ? "value" : "element");

        HD_TRY(convert(w, items, name, space, &(*out)->items));
        hd_column_path_leave(&w->path, mark);
    } else {
        HD_TRY(leaf(w, field, &type, name, space, out));
    }
    if (w->path.depth == 0 || !hd_schema_nullable(field))
        return HUDI_OK;
    return hd_avro_schema_nullable(w->op, w->arena, *out, out);
}

/* What Avro does not allow in a name becomes "__". */
static hudi_status sanitize(struct writer *w, const char *table_name, char **out)
{
    struct hd_str text = {0};
    hudi_status status = HUDI_OK;

    for (const char *c = table_name; *c != '\0'; c++) {
        const bool fits =
            hd_avro_name_valid(hd_slice_of(c, 1)) || (*c >= '0' && *c <= '9' && c > table_name);

        if (((unsigned char)*c & 0xc0) == 0x80)
            continue; /* one "__" for a whole character */
        HD_TRY_OUT(fits ? hd_str_append_char(w->op, &text, *c)
                        : hd_str_append_text(w->op, &text, "__"));
    }
    status = hd_arena_strdup(w->op, w->arena, hd_str_text(&text), out);
out:
    hd_str_clear(&text);
    return status;
}

static hudi_status to_avro(struct writer *w, const struct ArrowSchema *schema,
                           const char *table_name, struct hd_str *out)
{
    char *base, *name, *space;
    struct hd_avro_schema *root;

    HD_TRY(hd_table_schema_check_avro_names(w->op, schema));
    HD_TRY(sanitize(w, table_name, &base));
    HD_TRY(hd_arena_printf(w->op, w->arena, &name, "%s_record", base));
    HD_TRY(hd_arena_printf(w->op, w->arena, &space, "hoodie.%s", base));
    HD_TRY(record(w, schema, name, space, &root));
    HD_TRY(hd_avro_schema_finish(w->op, root));
    return hd_avro_schema_format(w->op, root, out);
}

hudi_status hd_table_schema_to_avro(struct hd_op *op, const struct ArrowSchema *schema,
                                    const char *table_name, struct hd_str *out)
{
    struct hd_arena arena = {0};
    struct writer w = {.op = op, .arena = &arena};
    const hudi_status status = to_avro(&w, schema, table_name, out);

    hd_arena_clear(&arena);
    return status;
}
