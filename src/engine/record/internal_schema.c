/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <strings.h>

#include "arrow/schema.h"
#include "codec/json.h"
#include "engine/record/internal_schema_internal.h"

/*
 * {"max_column_id":14,"version_id":0,"type":"record","fields":[FIELD,...]}
 * FIELD  {"id":0,"name":"a","optional":true,"type":TYPE}
 * TYPE   "int" and the like | {"type":"record","fields":[FIELD,...]}
 *        | {"type":"array","element_id":1,"element":TYPE,"element_optional":true}
 *        | {"type":"map","key_id":1,"key":TYPE,"value_id":2,"value":TYPE,"value_optional":true}
 */

static hudi_status take_type(struct hd_op *op, const hd_json *json, struct hd_arena *arena,
                             int depth, struct hd_internal_field *out);

/* ---- names of primitive types ------------------------------------------------------------- */

static const struct primitive {
    const char *name;
    struct hd_type type;
} primitives[] = {
    {"boolean", {.id = HD_TYPE_BOOL}},
    {"int", {.id = HD_TYPE_INT32}},
    {"long", {.id = HD_TYPE_INT64}},
    {"float", {.id = HD_TYPE_FLOAT}},
    {"double", {.id = HD_TYPE_DOUBLE}},
    {"string", {.id = HD_TYPE_STRING}},
    {"uuid", {.id = HD_TYPE_STRING}},
    {"binary", {.id = HD_TYPE_BINARY}},
    {"date", {.id = HD_TYPE_DATE}},
    {"time", {.id = HD_TYPE_TIME, .unit = HD_UNIT_MICRO}},
    {"timestamp", {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MICRO, .utc = true}},
};

/* Digits at *at; false when there are none or they pass a million. */
static bool take_count(const char **at, int32_t *out)
{
    const char *start = *at;

    *out = 0;
    while (**at >= '0' && **at <= '9' && *out < 1000000)
        *out = *out * 10 + (*(*at)++ - '0');
    return *at > start && *out < 1000000;
}

/* "fixed[16]" */
static bool parse_fixed(const char *text, struct hd_type *out)
{
    int32_t width;

    if (strncasecmp(text, "fixed[", 6) != 0)
        return false;
    text += 6;
    if (!take_count(&text, &width) || strcmp(text, "]") != 0 || width == 0)
        return false;
    *out = (struct hd_type){.id = HD_TYPE_FIXED_BINARY, .byte_width = width};
    return true;
}

/* "decimal(10, 2)"; since 1.1 also how it is stored, "decimal_fixed(10, 2)[5]" and
 * "decimal_bytes(10, 2)". Real readers need the blank, we do not. */
static bool parse_decimal(const char *text, struct hd_type *out)
{
    static const char *const NAMES[] = {"decimal(", "decimal_bytes(", "decimal_fixed("};
    int32_t precision, scale, width;
    size_t i = 0;

    while (i < HD_ARRAY_LENGTH(NAMES) && strncasecmp(text, NAMES[i], strlen(NAMES[i])) != 0)
        i++;
    if (i == HD_ARRAY_LENGTH(NAMES))
        return false;
    text += strlen(NAMES[i]);
    if (!take_count(&text, &precision) || *text++ != ',')
        return false;
    text += strspn(text, " ");
    if (!take_count(&text, &scale) || *text++ != ')')
        return false;
    if (i == 2 && (*text++ != '[' || !take_count(&text, &width) || *text++ != ']'))
        return false;
    if (*text != '\0')
        return false;
    if (precision < 1 || precision > 38 || scale > precision)
        return false;
    *out = (struct hd_type){.id = HD_TYPE_DECIMAL, .precision = precision, .scale = scale};
    return true;
}

static hudi_status take_primitive(struct hd_op *op, const hd_json *json,
                                  struct hd_internal_field *out)
{
    struct hd_slice text = {0};

    HD_TRY(hd_json_as_string(op, json, "type", &text));
    const char *name = (const char *)text.data;

    out->kind = HD_INTERNAL_PRIMITIVE;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(primitives); i++) {
        if (strcasecmp(primitives[i].name, name) == 0) {
            out->type = primitives[i].type;
            return HUDI_OK;
        }
    }
    if (parse_fixed(name, &out->type) || parse_decimal(name, &out->type))
        return HUDI_OK;
    return hd_fail(op, HUDI_CORRUPT, "\"%.100s\" is no type of an internal schema", name);
}

/* ---- parsing ------------------------------------------------------------------------------ */

static hudi_status take_field(struct hd_op *op, const hd_json *json, struct hd_arena *arena,
                              int depth, struct hd_internal_field *out)
{
    struct hd_slice name = {0};
    char *copy = NULL;

    HD_TRY(hd_json_get_int64(op, json, "id", &out->id));
    HD_TRY(hd_json_get_string(op, json, "name", &name));
    HD_TRY(hd_json_get_bool(op, json, "optional", &out->optional));
    HD_TRY(hd_arena_strndup(op, arena, name.data, name.size, &copy));
    out->name = copy;
    return take_type(op, hd_json_member(json, "type"), arena, depth, out);
}

static hudi_status take_record(struct hd_op *op, const hd_json *json, struct hd_arena *arena,
                               int depth, struct hd_internal_field *out)
{
    const hd_json *fields = NULL;

    HD_TRY(hd_json_get_array(op, json, "fields", &fields));
    out->kind = HD_INTERNAL_RECORD;
    out->n_children = hd_json_length(fields);
    HD_TRY(hd_arena_array(op, arena, out->n_children, sizeof(*out->children), &out->children));
    for (size_t i = 0; i < out->n_children; i++)
        HD_TRY(take_field(op, hd_json_at(fields, i), arena, depth, &out->children[i]));
    return HUDI_OK;
}

static hudi_status take_array(struct hd_op *op, const hd_json *json, struct hd_arena *arena,
                              int depth, struct hd_internal_field *out)
{
    out->kind = HD_INTERNAL_ARRAY;
    out->n_children = 1;
    HD_TRY(hd_arena_array(op, arena, 1, sizeof(*out->children), &out->children));
    struct hd_internal_field *element = &out->children[0];

    element->name = "element";
    HD_TRY(hd_json_get_int64(op, json, "element_id", &element->id));
    HD_TRY(hd_json_get_bool(op, json, "element_optional", &element->optional));
    return take_type(op, hd_json_member(json, "element"), arena, depth, element);
}

static hudi_status take_map(struct hd_op *op, const hd_json *json, struct hd_arena *arena,
                            int depth, struct hd_internal_field *out)
{
    out->kind = HD_INTERNAL_MAP;
    out->n_children = 2;
    HD_TRY(hd_arena_array(op, arena, 2, sizeof(*out->children), &out->children));
    struct hd_internal_field *key = &out->children[0];
    struct hd_internal_field *value = &out->children[1];

    key->name = "key";
    value->name = "value";
    HD_TRY(hd_json_get_int64(op, json, "key_id", &key->id));
    HD_TRY(hd_json_get_int64(op, json, "value_id", &value->id));
    HD_TRY(hd_json_get_bool(op, json, "value_optional", &value->optional));
    HD_TRY(take_type(op, hd_json_member(json, "key"), arena, depth, key));
    if (key->kind != HD_INTERNAL_PRIMITIVE || key->type.id != HD_TYPE_STRING)
        return hd_fail(op, HUDI_CORRUPT,
                       "a map of an internal schema has keys that are no strings");
    return take_type(op, hd_json_member(json, "value"), arena, depth, value);
}

static hudi_status take_type(struct hd_op *op, const hd_json *json, struct hd_arena *arena,
                             int depth, struct hd_internal_field *out)
{
    struct hd_slice kind = {0};

    if (depth >= HD_TYPE_MAX_DEPTH)
        return hd_fail(op, HUDI_CORRUPT, "an internal schema nests more than %d deep",
                       HD_TYPE_MAX_DEPTH);
    if (!hd_json_is_object(json))
        return take_primitive(op, json, out);
    HD_TRY(hd_json_get_string(op, json, "type", &kind));
    if (hd_slice_equal(kind, hd_slice_text("record")))
        return take_record(op, json, arena, depth + 1, out);
    if (hd_slice_equal(kind, hd_slice_text("array")))
        return take_array(op, json, arena, depth + 1, out);
    if (hd_slice_equal(kind, hd_slice_text("map")))
        return take_map(op, json, arena, depth + 1, out);
    return hd_fail(op, HUDI_CORRUPT, "\"%.100s\" is no type of an internal schema",
                   (const char *)kind.data);
}

static hudi_status version_of(struct hd_op *op, const hd_json *json, uint64_t *out)
{
    int64_t version = 0;

    HD_TRY(hd_json_find_int64(op, json, "version_id", 0, &version));
    if (version < 0)
        return hd_fail(op, HUDI_CORRUPT, "version %lld of an internal schema", (long long)version);
    *out = (uint64_t)version;
    return HUDI_OK;
}

static hudi_status parse_schema(struct hd_op *op, const hd_json *json, hd_internal_schema **out)
{
    struct hd_internal_schema *schema = NULL;
    hudi_status status;

    *out = NULL;
    if (!hd_json_is_object(json))
        return hd_fail(op, HUDI_CORRUPT, "an internal schema is no JSON object");
    HD_TRY(hd_alloc(op, sizeof(*schema), &schema));
    schema->root.name = "";
    HD_TRY_OUT(version_of(op, json, &schema->version));
    HD_TRY_OUT(hd_json_find_int64(op, json, "max_column_id", -1, &schema->max_column_id));
    HD_TRY_OUT(take_type(op, json, &schema->arena, 0, &schema->root));
    if (schema->root.kind != HD_INTERNAL_RECORD)
        status = hd_fail(op, HUDI_CORRUPT, "an internal schema is no record");
    HD_TRY_OUT(status);
    *out = schema;
    return HUDI_OK;
out:
    hd_internal_schema_free(schema);
    return status;
}

hudi_status hd_internal_schema_parse(struct hd_op *op, struct hd_slice json,
                                     hd_internal_schema **out)
{
    hd_json *document = NULL;

    *out = NULL;
    HD_TRY(hd_json_parse(op, json, &document));
    const hudi_status status = parse_schema(op, document, out);

    hd_json_free(document);
    return status;
}

static hudi_status find_version(struct hd_op *op, const hd_json *document, uint64_t version,
                                const hd_json **out)
{
    const hd_json *schemas = NULL;
    uint64_t best = 0;

    *out = NULL;
    HD_TRY(hd_json_get_array(op, document, "schemas", &schemas));
    for (size_t i = 0; i < hd_json_length(schemas); i++) {
        const hd_json *schema = hd_json_at(schemas, i);
        uint64_t this_version = 0;

        HD_TRY(version_of(op, schema, &this_version));
        if (this_version <= version && (*out == NULL || this_version > best)) {
            *out = schema;
            best = this_version;
        }
    }
    return *out == NULL ? HUDI_NOT_FOUND : HUDI_OK;
}

hudi_status hd_internal_schema_of_history(struct hd_op *op, struct hd_slice json, uint64_t version,
                                          hd_internal_schema **out)
{
    hd_json *document = NULL;
    const hd_json *schema = NULL;

    *out = NULL;
    HD_TRY(hd_json_parse(op, json, &document));
    hudi_status status = find_version(op, document, version, &schema);

    if (status == HUDI_OK)
        status = parse_schema(op, schema, out);
    hd_json_free(document);
    return status;
}

void hd_internal_schema_free(hd_internal_schema *schema)
{
    if (schema == NULL)
        return;
    hd_arena_clear(&schema->arena);
    hd_free(NULL, schema);
}

uint64_t hd_internal_schema_version(const hd_internal_schema *schema)
{
    return schema->version;
}

/* ---- to Arrow ----------------------------------------------------------------------------- */

static hudi_status to_arrow(struct hd_op *op, const struct hd_internal_field *field,
                            struct ArrowSchema *out)
{
    switch (field->kind) {
    case HD_INTERNAL_PRIMITIVE:
        return hd_schema_init_field(op, out, field->name, &field->type, field->optional);
    case HD_INTERNAL_ARRAY:
        HD_TRY(hd_schema_init_list(op, out, field->name, field->optional));
        return to_arrow(op, &field->children[0], out->children[0]);
    case HD_INTERNAL_MAP:
        HD_TRY(hd_schema_init_map(op, out, field->name, field->optional));
        return to_arrow(op, &field->children[1], out->children[0]->children[1]);
    case HD_INTERNAL_RECORD:
        break;
    }
    HD_TRY(
        hd_schema_init_struct(op, out, field->name, field->optional, (int64_t)field->n_children));
    for (size_t i = 0; i < field->n_children; i++)
        HD_TRY(to_arrow(op, &field->children[i], out->children[i]));
    return HUDI_OK;
}

hudi_status hd_internal_schema_to_arrow(struct hd_op *op, const hd_internal_schema *schema,
                                        struct ArrowSchema *out)
{
    *out = (struct ArrowSchema){0};
    const hudi_status status = to_arrow(op, &schema->root, out);

    if (status != HUDI_OK)
        hd_schema_clear(out);
    return status;
}
