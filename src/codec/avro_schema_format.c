/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "codec/avro_internal.h"
#include "codec/avro_schema.h"
#include "codec/json.h"

struct printer {
    struct hd_op *op;
    struct hd_json_writer json;
    struct hd_map written; /* full names */
    bool structure;        /* only what hd_avro_schema_equal() looks at */
    bool java_strings;
};

#define JAVA_STRING "avro.java.string"

static hudi_status print_schema(struct printer *p, const struct hd_avro_schema *schema,
                                const char *space);

static hudi_status print_texts(struct printer *p, const char *key, const char *const *texts,
                               size_t n)
{
    HD_TRY(hd_json_key(p->op, &p->json, key));
    HD_TRY(hd_json_begin_array(p->op, &p->json));
    for (size_t i = 0; i < n; i++)
        HD_TRY(hd_json_text(p->op, &p->json, texts[i]));
    return hd_json_end_array(p->op, &p->json);
}

static hudi_status print_aliases(struct printer *p, const char *const *aliases, size_t n)
{
    return n == 0 || p->structure ? HUDI_OK : print_texts(p, "aliases", aliases, n);
}

static hudi_status print_doc(struct printer *p, const char *doc)
{
    return doc == NULL || p->structure ? HUDI_OK : hd_json_put_text(p->op, &p->json, "doc", doc);
}

static hudi_status print_json(struct printer *p, const char *key, const char *json)
{
    HD_TRY(hd_json_key(p->op, &p->json, key));
    return hd_json_raw(p->op, &p->json, hd_slice_text(json));
}

static hudi_status print_properties(struct printer *p, const struct hd_avro_properties *properties)
{
    if (p->structure)
        return HUDI_OK;
    for (size_t i = 0; i < properties->n_entries; i++)
        HD_TRY(print_json(p, properties->entries[i].key, properties->entries[i].json));
    return HUDI_OK;
}

/* Strings and keys of maps are Java's own. */
static hudi_status print_java_string(struct printer *p, const struct hd_avro_schema *schema)
{
    if (!p->java_strings || (schema->type != HD_AVRO_STRING && schema->type != HD_AVRO_MAP))
        return HUDI_OK;
    for (size_t i = 0; i < schema->properties.n_entries; i++) {
        if (strcmp(schema->properties.entries[i].key, JAVA_STRING) == 0)
            return HUDI_OK;
    }
    return hd_json_put_text(p->op, &p->json, JAVA_STRING, "String");
}

static hudi_status print_meaning(struct printer *p, const struct hd_avro_schema *schema)
{
    if (schema->logical == HD_AVRO_PLAIN)
        return HUDI_OK;
    HD_TRY(hd_json_put_text(p->op, &p->json, "logicalType", hd_avro_logical_name(schema->logical)));
    if (schema->logical != HD_AVRO_DECIMAL)
        return HUDI_OK;
    HD_TRY(hd_json_put_int64(p->op, &p->json, "precision", schema->precision));
    return hd_json_put_int64(p->op, &p->json, "scale", schema->scale);
}

static hudi_status print_field(struct printer *p, const struct hd_avro_field *field,
                               const char *space)
{
    HD_TRY(hd_json_begin_object(p->op, &p->json));
    HD_TRY(hd_json_put_text(p->op, &p->json, "name", field->name));
    HD_TRY(hd_json_key(p->op, &p->json, "type"));
    HD_TRY(print_schema(p, field->schema, space));
    HD_TRY(print_doc(p, field->doc));
    if (field->default_json != NULL)
        HD_TRY(print_json(p, "default", field->default_json));
    if (field->order != NULL && !p->structure)
        HD_TRY(hd_json_put_text(p->op, &p->json, "order", field->order));
    HD_TRY(print_aliases(p, field->aliases, field->n_aliases));
    HD_TRY(print_properties(p, &field->properties));
    return hd_json_end_object(p->op, &p->json);
}

/* What only this type has. */
static hudi_status print_parts(struct printer *p, const struct hd_avro_schema *schema,
                               const char *space)
{
    switch (schema->type) {
    case HD_AVRO_RECORD:
        HD_TRY(hd_json_key(p->op, &p->json, "fields"));
        HD_TRY(hd_json_begin_array(p->op, &p->json));
        for (size_t i = 0; i < schema->n_fields; i++)
            HD_TRY(print_field(p, &schema->fields[i], schema->name_space));
        return hd_json_end_array(p->op, &p->json);
    case HD_AVRO_ENUM:
        HD_TRY(print_texts(p, "symbols", schema->symbols, schema->n_symbols));
        if (schema->default_symbol == NULL)
            return HUDI_OK;
        return hd_json_put_text(p->op, &p->json, "default", schema->default_symbol);
    case HD_AVRO_FIXED:
        return hd_json_put_int64(p->op, &p->json, "size", schema->fixed_bytes);
    case HD_AVRO_ARRAY:
    case HD_AVRO_MAP:
        HD_TRY(hd_json_key(p->op, &p->json, schema->type == HD_AVRO_ARRAY ? "items" : "values"));
        return print_schema(p, schema->items, space);
    default:
        return HUDI_OK;
    }
}

static hudi_status print_name(struct printer *p, const struct hd_avro_schema *schema,
                              const char *space)
{
    HD_TRY(hd_json_put_text(p->op, &p->json, "name", schema->name));
    if (strcmp(schema->name_space, space) == 0)
        return HUDI_OK;
    return hd_json_put_text(p->op, &p->json, "namespace", schema->name_space);
}

static hudi_status print_object(struct printer *p, const struct hd_avro_schema *schema,
                                const char *space)
{
    HD_TRY(hd_json_begin_object(p->op, &p->json));
    HD_TRY(hd_json_put_text(p->op, &p->json, "type",
                            schema->is_error ? "error" : hd_avro_type_name(schema->type)));
    if (schema->name != NULL)
        HD_TRY(print_name(p, schema, space));
    HD_TRY(print_doc(p, schema->doc));
    HD_TRY(print_parts(p, schema, space));
    HD_TRY(print_meaning(p, schema));
    HD_TRY(print_properties(p, &schema->properties));
    HD_TRY(print_java_string(p, schema));
    HD_TRY(print_aliases(p, schema->aliases, schema->n_aliases));
    return hd_json_end_object(p->op, &p->json);
}

/* A name as it is written where `space` is the name space around. */
static hudi_status print_reference(struct printer *p, const struct hd_avro_schema *schema,
                                   const char *space)
{
    bool same = strcmp(schema->name_space, space) == 0 &&
                hd_avro_primitive_type(hd_slice_text(schema->name)) == HD_AVRO_UNION;

    return hd_json_text(p->op, &p->json, same ? schema->name : schema->full_name);
}

static hudi_status print_schema(struct printer *p, const struct hd_avro_schema *schema,
                                const char *space)
{
    if (schema->type == HD_AVRO_UNION) {
        HD_TRY(hd_json_begin_array(p->op, &p->json));
        for (size_t i = 0; i < schema->n_branches; i++)
            HD_TRY(print_schema(p, schema->branches[i], space));
        return hd_json_end_array(p->op, &p->json);
    }
    if (schema->name != NULL) {
        struct hd_map_entry *entry;
        bool added;

        HD_TRY(hd_map_put(p->op, &p->written, hd_slice_text(schema->full_name), 0, &entry, &added));
        return added ? print_object(p, schema, space) : print_reference(p, schema, space);
    }
    bool plain = schema->logical == HD_AVRO_PLAIN &&
                 !(p->java_strings && schema->type == HD_AVRO_STRING) &&
                 (p->structure || (schema->properties.n_entries == 0 && schema->doc == NULL));
    if (plain && schema->type <= HD_AVRO_STRING)
        return hd_json_text(p->op, &p->json, hd_avro_type_name(schema->type));
    return print_object(p, schema, space);
}

static hudi_status print(struct printer *p, const struct hd_avro_schema *schema, struct hd_str *out)
{
    size_t size_before = out->size;

    hd_json_writer_init(&p->json, out, HD_JSON_COMPACT);
    hudi_status status = print_schema(p, schema, "");
    hd_map_clear(&p->written);
    if (status != HUDI_OK && out->data != NULL) {
        out->size = size_before;
        out->data[out->size] = '\0';
    }
    return status;
}

hudi_status hd_avro_schema_format(struct hd_op *op, const struct hd_avro_schema *schema,
                                  struct hd_str *out)
{
    struct printer p = {.op = op};

    return print(&p, schema, out);
}

hudi_status hd_avro_schema_format_java(struct hd_op *op, const struct hd_avro_schema *schema,
                                       struct hd_str *out)
{
    struct printer p = {.op = op, .java_strings = true};

    return print(&p, schema, out);
}

static hudi_status print_structure(struct hd_op *op, const struct hd_avro_schema *schema,
                                   struct hd_str *out)
{
    struct printer p = {.op = op, .structure = true};

    return print(&p, schema, out);
}

hudi_status hd_avro_schema_equal(struct hd_op *op, const struct hd_avro_schema *a,
                                 const struct hd_avro_schema *b, bool *equal)
{
    struct hd_str text_a = {0}, text_b = {0};

    *equal = false;
    hudi_status status = print_structure(op, a, &text_a);
    if (status == HUDI_OK)
        status = print_structure(op, b, &text_b);
    if (status == HUDI_OK)
        *equal = hd_slice_equal(hd_str_slice(&text_a), hd_str_slice(&text_b));
    hd_str_clear(&text_a);
    hd_str_clear(&text_b);
    return status;
}
