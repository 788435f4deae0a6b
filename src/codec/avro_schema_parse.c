/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/map.h"
#include "codec/avro_internal.h"
#include "codec/avro_schema.h"
#include "codec/json.h"

struct parser {
    struct hd_op *op;
    struct hd_arena *arena;
    struct hd_map names; /* full name -> struct hd_avro_schema * */
};

static hudi_status parse_schema(struct parser *p, const hd_json *json, const char *space,
                                unsigned depth, struct hd_avro_schema **out);

/* ---- attributes ------------------------------------------------------------------------------ */

/* A string attribute as C text; NULL when it is not there. */
static hudi_status take_text(struct parser *p, const hd_json *object, const char *key,
                             const char **out)
{
    struct hd_slice text;
    char *copy;

    *out = NULL;
    HD_TRY(hd_json_find_string(p->op, object, key, &text));
    if (text.data == NULL)
        return HUDI_OK;
    if (memchr(text.data, '\0', text.size) != NULL)
        return hd_fail(p->op, HUDI_CORRUPT, "Avro schema with a NUL in its \"%s\"", key);
    HD_TRY(hd_arena_strndup(p->op, p->arena, text.data, text.size, &copy));
    *out = copy;
    return HUDI_OK;
}

/* As above, for one that must be there and must not be empty. */
static hudi_status take_name(struct parser *p, const hd_json *object, const char *key,
                             const char **out)
{
    HD_TRY(take_text(p, object, key, out));
    if (*out == NULL || **out == '\0')
        return hd_fail(p->op, HUDI_CORRUPT, "Avro schema without \"%s\"", key);
    return HUDI_OK;
}

/* An array of strings. */
static hudi_status take_texts(struct parser *p, const hd_json *object, const char *key,
                              const char ***out, size_t *n_out)
{
    const hd_json *array;
    struct hd_slice text;
    char *copy;

    HD_TRY(hd_json_find_array(p->op, object, key, &array));
    size_t n = hd_json_length(array);
    if (n == 0)
        return HUDI_OK;
    HD_TRY(hd_arena_array(p->op, p->arena, n, sizeof **out, out));
    for (size_t i = 0; i < n; i++) {
        HD_TRY(hd_json_as_string(p->op, hd_json_at(array, i), key, &text));
        if (memchr(text.data, '\0', text.size) != NULL)
            return hd_fail(p->op, HUDI_CORRUPT, "Avro schema with a NUL in its \"%s\"", key);
        HD_TRY(hd_arena_strndup(p->op, p->arena, text.data, text.size, &copy));
        (*out)[i] = copy;
    }
    *n_out = n;
    return HUDI_OK;
}

static hudi_status take_json(struct parser *p, const hd_json *value, const char **out)
{
    struct hd_str text = {0};
    struct hd_json_writer json;
    char *copy = NULL;

    hd_json_writer_init(&json, &text, HD_JSON_COMPACT);
    hudi_status status = hd_json_value(p->op, &json, value);
    if (status == HUDI_OK)
        status = hd_arena_strndup(p->op, p->arena, text.data, text.size, &copy);
    hd_str_clear(&text);
    *out = copy;
    return status;
}

static bool is_one_of(struct hd_slice key, const char *const *names)
{
    for (; *names != NULL; names++)
        if (hd_slice_equal(key, hd_slice_text(*names)))
            return true;
    return false;
}

/* All members but those named. */
static hudi_status take_properties(struct parser *p, const hd_json *object,
                                   const char *const *others, struct hd_avro_properties *out)
{
    struct hd_json_iter iter = {0};
    struct hd_slice key;
    const hd_json *value;
    char *copy;
    size_t n = 0;

    while (hd_json_next(object, &iter, &key, &value))
        n += !is_one_of(key, others);
    if (n == 0)
        return HUDI_OK;
    HD_TRY(hd_arena_array(p->op, p->arena, n, sizeof *out->entries, &out->entries));
    iter = (struct hd_json_iter){0};
    while (hd_json_next(object, &iter, &key, &value)) {
        if (is_one_of(key, others))
            continue;
        struct hd_avro_property *entry = &out->entries[out->n_entries++];
        HD_TRY(hd_arena_strndup(p->op, p->arena, key.data, key.size, &copy));
        entry->key = copy;
        HD_TRY(take_json(p, value, &entry->json));
    }
    return HUDI_OK;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* name, name_space and full_name of a type that is defined, and its entry in the names. */
static hudi_status take_type_name(struct parser *p, const hd_json *object, const char *space,
                                  struct hd_avro_schema *schema)
{
    const char *name, *given_space;
    struct hd_map_entry *entry;
    bool added;
    char *copy;

    HD_TRY(take_name(p, object, "name", &name));
    HD_TRY(take_text(p, object, "namespace", &given_space));
    const char *dot = strrchr(name, '.');
    if (dot != NULL) {
        HD_TRY(hd_arena_strndup(p->op, p->arena, name, (size_t)(dot - name), &copy));
        schema->name_space = copy;
        schema->name = dot + 1;
    } else {
        schema->name_space = given_space != NULL ? given_space : space;
        schema->name = name;
    }
    if (*schema->name == '\0')
        return hd_fail(p->op, HUDI_CORRUPT, "Avro type without a name");
    if (*schema->name_space == '\0' &&
        hd_avro_primitive_type(hd_slice_text(schema->name)) != HD_AVRO_UNION)
        return hd_fail(p->op, HUDI_CORRUPT, "Avro type with the name of a primitive: %s",
                       schema->name);
    HD_TRY(hd_arena_printf(p->op, p->arena, &copy, "%s%s%s", schema->name_space,
                           *schema->name_space == '\0' ? "" : ".", schema->name));
    schema->full_name = copy;
    HD_TRY(hd_map_put(p->op, &p->names, hd_slice_text(copy), (uintptr_t)schema, &entry, &added));
    if (!added)
        return hd_fail(p->op, HUDI_CORRUPT, "Avro type %s is defined twice", copy);
    return HUDI_OK;
}

/* A type by its name: a primitive, or one that was defined before. */
static hudi_status find_type(struct parser *p, struct hd_slice name, const char *space,
                             struct hd_avro_schema **out)
{
    struct hd_map_entry *entry = NULL;

    enum hd_avro_type type = hd_avro_primitive_type(name);
    if (type != HD_AVRO_UNION)
        return hd_avro_schema_new(p->op, p->arena, type, HD_AVRO_PLAIN, out);
    if (memchr(name.data, '.', name.size) == NULL && *space != '\0') {
        struct hd_str full = {0};
        hudi_status status = hd_str_append_text(p->op, &full, space);
        if (status == HUDI_OK)
            status = hd_str_append_char(p->op, &full, '.');
        if (status == HUDI_OK)
            status = hd_str_append(p->op, &full, name.data, name.size);
        if (status == HUDI_OK)
            entry = hd_map_find(&p->names, hd_str_slice(&full));
        hd_str_clear(&full);
        HD_TRY(status);
    }
    if (entry == NULL)
        entry = hd_map_find(&p->names, name);
    if (entry == NULL)
        return hd_fail(p->op, HUDI_CORRUPT, "Avro type \"%.*s\" is not defined",
                       name.size > 200 ? 200 : (int)name.size, (const char *)name.data);
    *out = (struct hd_avro_schema *)(uintptr_t)entry->value;
    return HUDI_OK;
}

/* ---- types ----------------------------------------------------------------------------------- */

static hudi_status parse_field(struct parser *p, const hd_json *json, const char *space,
                               unsigned depth, struct hd_avro_field *out)
{
    static const char *const OTHERS[] = {"name",  "type",    "doc", "default",
                                         "order", "aliases", NULL};

    if (!hd_json_is_object(json))
        return hd_fail(p->op, HUDI_CORRUPT, "Avro field that is no object");
    HD_TRY(take_name(p, json, "name", &out->name));
    HD_TRY(take_text(p, json, "doc", &out->doc));
    HD_TRY(take_text(p, json, "order", &out->order));
    HD_TRY(take_texts(p, json, "aliases", &out->aliases, &out->n_aliases));
    const hd_json *value = hd_json_member(json, "default");
    if (value != NULL)
        HD_TRY(take_json(p, value, &out->default_json));
    HD_TRY(take_properties(p, json, OTHERS, &out->properties));
    return parse_schema(p, hd_json_member(json, "type"), space, depth + 1, &out->schema);
}

static hudi_status check_field_names(struct parser *p, const struct hd_avro_schema *record)
{
    hudi_status status = HUDI_OK;
    struct hd_map names = {0};

    for (size_t i = 0; status == HUDI_OK && i < record->n_fields; i++) {
        struct hd_map_entry *entry;
        bool added;

        status =
            hd_map_put(p->op, &names, hd_slice_text(record->fields[i].name), i, &entry, &added);
        if (status == HUDI_OK && !added)
            status = hd_fail(p->op, HUDI_CORRUPT, "Avro record %s has two fields %s",
                             record->full_name, record->fields[i].name);
    }
    hd_map_clear(&names);
    return status;
}

static hudi_status parse_record(struct parser *p, const hd_json *json, unsigned depth,
                                struct hd_avro_schema *schema)
{
    const hd_json *fields;

    HD_TRY(hd_json_get_array(p->op, json, "fields", &fields));
    size_t n = hd_json_length(fields);
    HD_TRY(hd_arena_array(p->op, p->arena, n, sizeof *schema->fields, &schema->fields));
    for (size_t i = 0; i < n; i++)
        HD_TRY(
            parse_field(p, hd_json_at(fields, i), schema->name_space, depth, &schema->fields[i]));
    schema->n_fields = n;
    return check_field_names(p, schema);
}

static hudi_status parse_enum(struct parser *p, const hd_json *json, struct hd_avro_schema *schema)
{
    const hd_json *symbols;

    HD_TRY(hd_json_get_array(p->op, json, "symbols", &symbols));
    HD_TRY(take_texts(p, json, "symbols", &schema->symbols, &schema->n_symbols));
    return take_text(p, json, "default", &schema->default_symbol);
}

static hudi_status parse_fixed(struct parser *p, const hd_json *json, struct hd_avro_schema *schema)
{
    int64_t size;

    HD_TRY(hd_json_get_int64(p->op, json, "size", &size));
    if (size < 0 || size > INT32_MAX)
        return hd_fail(p->op, HUDI_CORRUPT, "Avro fixed %s of %" PRId64 " bytes", schema->full_name,
                       size);
    schema->fixed_bytes = (uint32_t)size;
    return HUDI_OK;
}

static hudi_status parse_union(struct parser *p, const hd_json *json, const char *space,
                               unsigned depth, struct hd_avro_schema **out)
{
    size_t n = hd_json_length(json);

    HD_TRY(hd_avro_schema_new(p->op, p->arena, HD_AVRO_UNION, HD_AVRO_PLAIN, out));
    HD_TRY(hd_arena_array(p->op, p->arena, n, sizeof *(*out)->branches, &(*out)->branches));
    for (size_t i = 0; i < n; i++) {
        struct hd_avro_schema **branch = &(*out)->branches[i];
        HD_TRY(parse_schema(p, hd_json_at(json, i), space, depth + 1, branch));
        if ((*branch)->type == HD_AVRO_UNION)
            return hd_fail(p->op, HUDI_CORRUPT, "Avro union that holds a union");
    }
    (*out)->n_branches = n;
    return HUDI_OK;
}

/* The complex type that `type` names, or HD_AVRO_NULL. */
static enum hd_avro_type complex_type(struct hd_slice type)
{
    static const enum hd_avro_type TYPES[] = {HD_AVRO_RECORD, HD_AVRO_ENUM, HD_AVRO_ARRAY,
                                              HD_AVRO_MAP, HD_AVRO_FIXED};

    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (hd_slice_equal(type, hd_slice_text(hd_avro_type_name(TYPES[i]))))
            return TYPES[i];
    return hd_slice_equal(type, hd_slice_text("error")) ? HD_AVRO_RECORD : HD_AVRO_NULL;
}

static hudi_status parse_complex(struct parser *p, const hd_json *json, const char *space,
                                 unsigned depth, struct hd_avro_schema *schema)
{
    if (schema->type == HD_AVRO_ARRAY)
        return parse_schema(p, hd_json_member(json, "items"), space, depth + 1, &schema->items);
    if (schema->type == HD_AVRO_MAP)
        return parse_schema(p, hd_json_member(json, "values"), space, depth + 1, &schema->items);
    HD_TRY(take_type_name(p, json, space, schema));
    HD_TRY(take_texts(p, json, "aliases", &schema->aliases, &schema->n_aliases));
    if (schema->type == HD_AVRO_ENUM)
        return parse_enum(p, json, schema);
    if (schema->type == HD_AVRO_FIXED)
        return parse_fixed(p, json, schema);
    return parse_record(p, json, depth, schema);
}

/* The logical type, and as properties all that is no attribute of this type. */
static hudi_status take_meaning(struct parser *p, const hd_json *json,
                                struct hd_avro_schema *schema)
{
    static const char *const PLAIN[] = {"type", "doc", "items", "values", NULL};
    static const char *const NAMED[] = {"type",   "doc",  "name",    "namespace", "aliases",
                                        "fields", "size", "symbols", "default",   NULL};
    const char *others[16];
    size_t n = 0;
    const hd_json *logical = hd_json_member(json, "logicalType");
    struct hd_slice name = hd_slice_of(NULL, 0);
    int64_t precision = 0, scale = 0;

    for (const char *const *o = schema->name != NULL ? NAMED : PLAIN; *o != NULL; o++)
        others[n++] = *o;
    if (hd_json_is_string(logical)) {
        HD_TRY(hd_json_as_string(p->op, logical, "logicalType", &name));
        const hd_json *number = hd_json_member(json, "precision");
        if (hd_json_is_integer(number))
            HD_TRY(hd_json_as_int64(p->op, number, "precision", &precision));
        number = hd_json_member(json, "scale");
        if (hd_json_is_integer(number))
            HD_TRY(hd_json_as_int64(p->op, number, "scale", &scale));
        else if (!hd_json_is_null(number))
            precision = 0; /* no decimal */
        if (hd_avro_set_logical(schema, name, precision, scale)) {
            others[n++] = "logicalType";
            if (schema->logical == HD_AVRO_DECIMAL) {
                others[n++] = "precision";
                others[n++] = "scale";
            }
        }
    }
    others[n] = NULL;
    return take_properties(p, json, others, &schema->properties);
}

static hudi_status parse_object(struct parser *p, const hd_json *json, const char *space,
                                unsigned depth, struct hd_avro_schema **out)
{
    const hd_json *type = hd_json_member(json, "type");
    struct hd_slice name;

    if (!hd_json_is_string(type)) /* {"type": {...}} stands for what is inside */
        return parse_schema(p, type, space, depth + 1, out);
    HD_TRY(hd_json_as_string(p->op, type, "type", &name));
    enum hd_avro_type complex = complex_type(name);
    if (complex == HD_AVRO_NULL) {
        HD_TRY(find_type(p, name, space, out));
        if ((*out)->name != NULL)
            return HUDI_OK; /* a reference: attributes belong to the definition */
    } else {
        HD_TRY(hd_avro_schema_new(p->op, p->arena, complex, HD_AVRO_PLAIN, out));
        (*out)->is_error = hd_slice_equal(name, hd_slice_text("error"));
    }
    struct hd_avro_schema *schema = *out;
    HD_TRY(take_text(p, json, "doc", &schema->doc));
    if (complex != HD_AVRO_NULL)
        HD_TRY(parse_complex(p, json, space, depth, schema));
    return take_meaning(p, json, schema);
}

static hudi_status parse_schema(struct parser *p, const hd_json *json, const char *space,
                                unsigned depth, struct hd_avro_schema **out)
{
    struct hd_slice name;

    if (depth > HD_AVRO_MAX_DEPTH)
        return hd_fail(p->op, HUDI_CORRUPT, "Avro schema nests deeper than %d", HD_AVRO_MAX_DEPTH);
    if (hd_json_is_string(json)) {
        HD_TRY(hd_json_as_string(p->op, json, "type", &name));
        return find_type(p, name, space, out);
    }
    if (hd_json_is_array(json))
        return parse_union(p, json, space, depth, out);
    if (hd_json_is_object(json))
        return parse_object(p, json, space, depth, out);
    return hd_fail(p->op, HUDI_CORRUPT, "Avro schema that is no string, array or object");
}

hudi_status hd_avro_schema_parse(struct hd_op *op, struct hd_arena *arena, struct hd_slice json,
                                 struct hd_avro_schema **out)
{
    hudi_status status = HUDI_OK;
    struct parser p = {.op = op, .arena = arena};
    struct hd_avro_schema *schema = NULL;
    hd_json *document = NULL;

    *out = NULL;
    if (json.size > HD_AVRO_SCHEMA_MAX_BYTES)
        return hd_fail(op, HUDI_CORRUPT, "Avro schema of %zu bytes", json.size);
    HD_TRY_OUT(hd_json_parse(op, json, &document));
    HD_TRY_OUT(parse_schema(&p, document, "", 0, &schema));
    HD_TRY_OUT(hd_avro_schema_finish(op, schema));
    *out = schema;
out:
    hd_json_free(document);
    hd_map_clear(&p.names);
    return status;
}
