/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/utf8.h"
#include "codec/avro.h"
#include "codec/avro_internal.h"
#include "codec/avro_value.h"
#include "codec/json.h"

/* ---- making: values of JSON ------------------------------------------------------------------ */

/* Defaults may hold records whose fields have defaults: the number of values in one is bounded. */
struct maker {
    struct hd_op *op;
    struct hd_arena *arena;
    uint64_t n_values_left;
};

#define MAX_DEFAULT_VALUES 10000
#define VALUES_PER_BYTE 8

static hudi_status make_value(struct maker *m, const struct hd_avro_schema *schema,
                              const hd_json *json, unsigned depth, struct hd_avro_value *out);

static hudi_status make_default(struct maker *m, const struct hd_avro_field *field, unsigned depth,
                                struct hd_avro_value *out)
{
    hd_json *json;

    *out = hd_avro_null_value();
    if (field->default_json == NULL || strcmp(field->default_json, "null") == 0)
        return HUDI_OK;
    HD_TRY(hd_json_parse(m->op, hd_slice_text(field->default_json), &json));
    hudi_status status = make_value(m, field->schema, json, depth, out);
    hd_json_free(json);
    return status;
}

/* A record of the members of `json`, which may be NULL, and of defaults for the others. */
static hudi_status make_record(struct maker *m, const struct hd_avro_schema *schema,
                               const hd_json *json, unsigned depth, struct hd_avro_value *out)
{
    *out = (struct hd_avro_value){.type = HD_AVRO_RECORD, .schema = schema};
    out->n_items = schema->n_fields;
    HD_TRY(hd_arena_array(m->op, m->arena, schema->n_fields, sizeof *out->items, &out->items));
    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct hd_avro_field *field = &schema->fields[i];
        const hd_json *member = hd_json_member(json, field->name);
        HD_TRY(member != NULL ? make_value(m, field->schema, member, depth + 1, &out->items[i])
                              : make_default(m, field, depth + 1, &out->items[i]));
    }
    return HUDI_OK;
}

/* Bytes are text in JSON: each character up to U+00FF is a byte. */
static hudi_status make_bytes(struct maker *m, const hd_json *json, struct hd_avro_value *out)
{
    struct hd_slice text;
    uint8_t *bytes;
    size_t n = 0;

    HD_TRY(hd_json_as_string(m->op, json, "default", &text));
    HD_TRY(hd_arena_alloc(m->op, m->arena, text.size + 1, &bytes));
    while (text.size > 0) {
        uint32_t v = 0;
        size_t taken = hd_utf8_take(text, &v);
        if (taken == 0 || v > 0xff)
            return hd_fail(m->op, HUDI_CORRUPT, "Avro default of bytes that are none");
        bytes[n++] = (uint8_t)v;
        text = hd_slice_of(text.data + taken, text.size - taken);
    }
    out->bytes = hd_slice_of(bytes, n);
    return HUDI_OK;
}

static hudi_status make_text(struct maker *m, const struct hd_avro_schema *schema,
                             const hd_json *json, struct hd_avro_value *out)
{
    struct hd_slice text;
    char *copy;

    HD_TRY(hd_json_as_string(m->op, json, "default", &text));
    if (schema->type == HD_AVRO_ENUM) {
        for (size_t i = 0; i < schema->n_symbols; i++) {
            if (hd_slice_equal(text, hd_slice_text(schema->symbols[i]))) {
                out->integer = (int64_t)i;
                return HUDI_OK;
            }
        }
        return hd_fail(m->op, HUDI_CORRUPT, "Avro enum %s has no symbol of its default",
                       schema->full_name);
    }
    HD_TRY(hd_arena_strndup(m->op, m->arena, text.data, text.size, &copy));
    out->bytes = hd_slice_of(copy, text.size);
    return HUDI_OK;
}

static hudi_status make_real(struct maker *m, const hd_json *json, struct hd_avro_value *out)
{
    struct hd_slice text;

    if (!hd_json_is_string(json))
        return hd_json_as_double(m->op, json, "default", &out->real);
    HD_TRY(hd_json_as_string(m->op, json, "default", &text));
    if (hd_slice_equal(text, hd_slice_text("NaN")))
        out->real = __builtin_nan("");
    else if (hd_slice_equal(text, hd_slice_text("Infinity")))
        out->real = __builtin_inf();
    else if (hd_slice_equal(text, hd_slice_text("-Infinity")))
        out->real = -__builtin_inf();
    else
        return hd_fail(m->op, HUDI_CORRUPT, "Avro default of a number that is none");
    return HUDI_OK;
}

static hudi_status make_items(struct maker *m, const struct hd_avro_schema *schema,
                              const hd_json *json, unsigned depth, struct hd_avro_value *out)
{
    bool is_map = schema->type == HD_AVRO_MAP;
    size_t n = hd_json_length(json);
    struct hd_json_iter iter = {0};
    const hd_json *item = NULL;
    struct hd_slice key;
    char *copy;

    if (is_map ? !hd_json_is_object(json) : !hd_json_is_array(json))
        return hd_fail(m->op, HUDI_CORRUPT, "Avro default of an array or a map that is none");
    HD_TRY(is_map ? hd_avro_map_new(m->op, m->arena, n, out)
                  : hd_avro_array_new(m->op, m->arena, n, out));
    out->schema = schema;
    for (size_t i = 0; i < n; i++) {
        if (is_map && hd_json_next(json, &iter, &key, &item)) {
            HD_TRY(hd_arena_strndup(m->op, m->arena, key.data, key.size, &copy));
            out->keys[i] = hd_slice_of(copy, key.size);
        } else {
            item = hd_json_at(json, i);
        }
        HD_TRY(make_value(m, schema->items, item, depth + 1, &out->items[i]));
    }
    return HUDI_OK;
}

static bool json_fits(const struct hd_avro_schema *schema, const hd_json *json)
{
    switch (schema->type) {
    case HD_AVRO_NULL:
        return hd_json_is_null(json);
    case HD_AVRO_BOOLEAN:
        return hd_json_is_bool(json);
    case HD_AVRO_INT:
    case HD_AVRO_LONG:
        return hd_json_is_integer(json);
    case HD_AVRO_FLOAT:
    case HD_AVRO_DOUBLE:
        return hd_json_is_number(json);
    case HD_AVRO_ARRAY:
        return hd_json_is_array(json);
    case HD_AVRO_MAP:
    case HD_AVRO_RECORD:
        return hd_json_is_object(json);
    case HD_AVRO_UNION:
        return false;
    default:
        return hd_json_is_string(json);
    }
}

/* A union's default is of its first branch; of another one where that cannot be. */
static hudi_status make_union(struct maker *m, const struct hd_avro_schema *schema,
                              const hd_json *json, unsigned depth, struct hd_avro_value *out)
{
    for (size_t i = 0; i < schema->n_branches; i++)
        if (json_fits(schema->branches[i], json))
            return make_value(m, schema->branches[i], json, depth + 1, out);
    return hd_fail(m->op, HUDI_CORRUPT, "Avro default that fits no branch of its union");
}

static hudi_status make_value(struct maker *m, const struct hd_avro_schema *schema,
                              const hd_json *json, unsigned depth, struct hd_avro_value *out)
{
    if (depth > HD_AVRO_MAX_VALUE_DEPTH || m->n_values_left == 0)
        return hd_fail(m->op, HUDI_CORRUPT, "Avro default that holds too many values");
    m->n_values_left--;
    *out = (struct hd_avro_value){.type = schema->type, .schema = schema};
    switch (schema->type) {
    case HD_AVRO_NULL:
        if (!hd_json_is_null(json))
            return hd_fail(m->op, HUDI_CORRUPT, "Avro default of null that is not null");
        return HUDI_OK;
    case HD_AVRO_BOOLEAN:
        return hd_json_as_bool(m->op, json, "default", &out->boolean);
    case HD_AVRO_INT:
    case HD_AVRO_LONG:
        return hd_json_as_int64(m->op, json, "default", &out->integer);
    case HD_AVRO_FLOAT:
    case HD_AVRO_DOUBLE:
        return make_real(m, json, out);
    case HD_AVRO_BYTES:
    case HD_AVRO_FIXED:
        return make_bytes(m, json, out);
    case HD_AVRO_STRING:
    case HD_AVRO_ENUM:
        return make_text(m, schema, json, out);
    case HD_AVRO_ARRAY:
    case HD_AVRO_MAP:
        return make_items(m, schema, json, depth, out);
    case HD_AVRO_UNION:
        return make_union(m, schema, json, depth, out);
    case HD_AVRO_RECORD:
        if (!hd_json_is_object(json))
            return hd_fail(m->op, HUDI_CORRUPT, "Avro default of a record that is no object");
        return make_record(m, schema, json, depth, out);
    }
    return hd_fail(m->op, HUDI_INTERNAL, "Avro type %d", (int)schema->type);
}

hudi_status hd_avro_value_of_json(struct hd_op *op, struct hd_arena *arena,
                                  const struct hd_avro_schema *schema, struct hd_slice json,
                                  struct hd_avro_value *out)
{
    /* Documents have many values: a record's fields that it lacks count with those it has. */
    struct maker m = {.op = op,
                      .arena = arena,
                      .n_values_left = MAX_DEFAULT_VALUES + VALUES_PER_BYTE * (uint64_t)json.size};
    hd_json *document;

    *out = hd_avro_null_value();
    HD_TRY(hd_json_parse(op, json, &document));
    hudi_status status = make_value(&m, schema, document, 0, out);
    hd_json_free(document);
    if (status != HUDI_OK)
        *out = hd_avro_null_value();
    return status;
}

/* ---- making: by hand ------------------------------------------------------------------------- */

hudi_status hd_avro_record_new(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_avro_schema *schema, struct hd_avro_value *out)
{
    struct maker m = {.op = op, .arena = arena, .n_values_left = MAX_DEFAULT_VALUES};

    *out = hd_avro_null_value();
    if (schema != NULL && schema->type == HD_AVRO_UNION)
        schema = hd_avro_schema_unwrap(schema, NULL);
    if (schema == NULL || schema->type != HD_AVRO_RECORD)
        return hd_fail(op, HUDI_INTERNAL, "an Avro record is made of a schema that is none");
    return make_record(&m, schema, NULL, 0, out);
}

hudi_status hd_avro_array_new(struct hd_op *op, struct hd_arena *arena, size_t n,
                              struct hd_avro_value *out)
{
    *out = (struct hd_avro_value){.type = HD_AVRO_ARRAY};
    HD_TRY(hd_arena_array(op, arena, n, sizeof *out->items, &out->items));
    out->n_items = n;
    return HUDI_OK;
}

hudi_status hd_avro_map_new(struct hd_op *op, struct hd_arena *arena, size_t n,
                            struct hd_avro_value *out)
{
    HD_TRY(hd_avro_array_new(op, arena, n, out));
    out->type = HD_AVRO_MAP;
    return hd_arena_array(op, arena, n, sizeof *out->keys, &out->keys);
}

hudi_status hd_avro_set(struct hd_op *op, struct hd_avro_value *record, const char *name,
                        struct hd_avro_value value)
{
    int64_t i = record->type != HD_AVRO_RECORD
                    ? -1
                    : hd_avro_schema_field_index(record->schema, hd_slice_text(name));

    if (i < 0)
        return hd_fail(op, HUDI_INTERNAL, "an Avro record has no field %s", name);
    record->items[i] = value;
    return HUDI_OK;
}

const struct hd_avro_schema *hd_avro_schema_of_field(const struct hd_avro_schema *schema,
                                                     const char *name)
{
    const struct hd_avro_field *field = NULL;

    if (schema != NULL)
        schema = hd_avro_schema_unwrap(schema, NULL);
    if (schema != NULL && schema->type == HD_AVRO_RECORD)
        field = hd_avro_schema_field(schema, name);
    return field == NULL ? NULL : hd_avro_schema_unwrap(field->schema, NULL);
}

const struct hd_avro_schema *hd_avro_schema_of_items(const struct hd_avro_schema *schema)
{
    if (schema != NULL)
        schema = hd_avro_schema_unwrap(schema, NULL);
    return schema == NULL || schema->items == NULL ? NULL
                                                   : hd_avro_schema_unwrap(schema->items, NULL);
}

/* ---- writing --------------------------------------------------------------------------------- */

struct writer {
    struct hd_op *op;
    struct hd_str *out;
    const char *field; /* the innermost one, for messages */
};

static hudi_status write_value(struct writer *w, const struct hd_avro_schema *schema,
                               const struct hd_avro_value *value, unsigned depth);

static bool same_name(const struct hd_avro_schema *schema, const struct hd_avro_value *value)
{
    return value->schema == NULL || value->schema == schema || value->schema->full_name == NULL ||
           strcmp(value->schema->full_name, schema->full_name) == 0;
}

static int64_t symbol_of(const struct hd_avro_schema *schema, const struct hd_avro_value *value)
{
    struct hd_slice text = value->bytes;

    if (value->type == HD_AVRO_ENUM) {
        if (value->schema == NULL || value->schema == schema)
            return (uint64_t)value->integer < schema->n_symbols ? value->integer : -1;
        text = hd_slice_text(value->schema->symbols[value->integer]);
    } else if (value->type != HD_AVRO_STRING) {
        return -1;
    }
    for (size_t i = 0; i < schema->n_symbols; i++)
        if (hd_slice_equal(text, hd_slice_text(schema->symbols[i])))
            return (int64_t)i;
    return -1;
}

/* Whether the value can be written as `schema`, no union; `exact`: without another type. */
static bool fits(const struct hd_avro_schema *schema, const struct hd_avro_value *value, bool exact)
{
    bool is_integer = value->type == HD_AVRO_INT || value->type == HD_AVRO_LONG;
    bool is_real = value->type == HD_AVRO_FLOAT || value->type == HD_AVRO_DOUBLE;

    switch (schema->type) {
    case HD_AVRO_RECORD:
        return value->type == HD_AVRO_RECORD && (!exact || same_name(schema, value));
    case HD_AVRO_ENUM:
        return (value->type == HD_AVRO_ENUM ? !exact || same_name(schema, value) : !exact) &&
               symbol_of(schema, value) >= 0;
    case HD_AVRO_FIXED:
        return (value->type == HD_AVRO_FIXED ? !exact || same_name(schema, value)
                                             : !exact && value->type == HD_AVRO_BYTES) &&
               value->bytes.size == schema->fixed_bytes;
    case HD_AVRO_INT:
        return value->type == HD_AVRO_INT ||
               (!exact && is_integer && value->integer >= INT32_MIN && value->integer <= INT32_MAX);
    case HD_AVRO_LONG:
        return value->type == HD_AVRO_LONG || (!exact && is_integer);
    case HD_AVRO_FLOAT:
    case HD_AVRO_DOUBLE:
        return value->type == schema->type || (!exact && (is_integer || is_real));
    case HD_AVRO_STRING:
    case HD_AVRO_BYTES:
        return value->type == schema->type ||
               (!exact && (value->type == HD_AVRO_STRING || value->type == HD_AVRO_BYTES));
    default:
        return value->type == schema->type;
    }
}

static hudi_status fail_fit(struct writer *w, const struct hd_avro_schema *schema,
                            const struct hd_avro_value *value)
{
    return hd_fail(w->op, HUDI_SCHEMA, "Avro field %s: a value of type %s does not fit %s%s%s",
                   w->field == NULL ? "(none)" : w->field, hd_avro_type_name(value->type),
                   hd_avro_type_name(schema->type), schema->name == NULL ? "" : " ",
                   schema->name == NULL ? "" : schema->name);
}

static hudi_status write_union(struct writer *w, const struct hd_avro_schema *schema,
                               const struct hd_avro_value *value, unsigned depth)
{
    for (int exact = 1; exact >= 0; exact--) {
        for (size_t i = 0; i < schema->n_branches; i++) {
            if (fits(schema->branches[i], value, exact)) {
                HD_TRY(hd_avro_write_long(w->op, w->out, (int64_t)i));
                return write_value(w, schema->branches[i], value, depth + 1);
            }
        }
    }
    return fail_fit(w, schema, value);
}

static hudi_status write_default(struct writer *w, const struct hd_avro_field *field,
                                 unsigned depth)
{
    struct hd_arena arena = {0};
    struct maker m = {.op = w->op, .arena = &arena, .n_values_left = MAX_DEFAULT_VALUES};
    struct hd_avro_value value;
    hudi_status status;

    if (field->default_json == NULL)
        return hd_fail(w->op, HUDI_SCHEMA, "Avro field %s has neither a value nor a default",
                       field->name);
    status = make_default(&m, field, depth, &value);
    if (status == HUDI_OK)
        status = write_value(w, field->schema, &value, depth + 1);
    hd_arena_clear(&arena);
    return status;
}

static hudi_status write_record(struct writer *w, const struct hd_avro_schema *schema,
                                const struct hd_avro_value *value, unsigned depth)
{
    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct hd_avro_field *field = &schema->fields[i];
        int64_t at = value->schema == schema
                         ? (int64_t)i
                         : hd_avro_schema_field_index(value->schema, hd_slice_text(field->name));
        w->field = field->name;
        HD_TRY(at < 0 ? write_default(w, field, depth)
                      : write_value(w, field->schema, &value->items[at], depth + 1));
    }
    return HUDI_OK;
}

static hudi_status write_items(struct writer *w, const struct hd_avro_schema *schema,
                               const struct hd_avro_value *value, unsigned depth)
{
    if (value->n_items > 0)
        HD_TRY(hd_avro_write_long(w->op, w->out, (int64_t)value->n_items));
    for (size_t i = 0; i < value->n_items; i++) {
        if (schema->type == HD_AVRO_MAP)
            HD_TRY(hd_avro_write_bytes(w->op, w->out, value->keys[i]));
        HD_TRY(write_value(w, schema->items, &value->items[i], depth + 1));
    }
    return hd_avro_write_long(w->op, w->out, 0);
}

static double number_of(const struct hd_avro_value *value)
{
    return value->type == HD_AVRO_INT || value->type == HD_AVRO_LONG ? (double)value->integer
                                                                     : value->real;
}

static hudi_status write_value(struct writer *w, const struct hd_avro_schema *schema,
                               const struct hd_avro_value *value, unsigned depth)
{
    if (depth > HD_AVRO_MAX_VALUE_DEPTH)
        return hd_fail(w->op, HUDI_SCHEMA, "Avro value nests deeper than %d",
                       HD_AVRO_MAX_VALUE_DEPTH);
    if (schema->type == HD_AVRO_UNION)
        return write_union(w, schema, value, depth);
    if (!fits(schema, value, false))
        return fail_fit(w, schema, value);
    switch (schema->type) {
    case HD_AVRO_BOOLEAN:
        return hd_avro_write_boolean(w->op, w->out, value->boolean);
    case HD_AVRO_INT:
    case HD_AVRO_LONG:
        return hd_avro_write_long(w->op, w->out, value->integer);
    case HD_AVRO_FLOAT:
        return hd_avro_write_float(w->op, w->out, (float)number_of(value));
    case HD_AVRO_DOUBLE:
        return hd_avro_write_double(w->op, w->out, number_of(value));
    case HD_AVRO_BYTES:
    case HD_AVRO_STRING:
        return hd_avro_write_bytes(w->op, w->out, value->bytes);
    case HD_AVRO_FIXED:
        return hd_str_append(w->op, w->out, value->bytes.data, value->bytes.size);
    case HD_AVRO_ENUM:
        return hd_avro_write_long(w->op, w->out, symbol_of(schema, value));
    case HD_AVRO_ARRAY:
    case HD_AVRO_MAP:
        return write_items(w, schema, value, depth);
    case HD_AVRO_RECORD:
        return write_record(w, schema, value, depth);
    default:
        return HUDI_OK; /* null */
    }
}

hudi_status hd_avro_write_value(struct hd_op *op, const struct hd_avro_schema *schema,
                                const struct hd_avro_value *value, struct hd_str *out)
{
    size_t size_before = out->size;
    struct writer w = {.op = op, .out = out};
    hudi_status status = write_value(&w, schema, value, 0);

    if (status != HUDI_OK && out->data != NULL) {
        out->size = size_before;
        out->data[out->size] = '\0';
    }
    return status;
}

hudi_status hd_avro_write_single(struct hd_op *op, const struct hd_avro_schema *schema,
                                 const struct hd_avro_value *record, struct hd_str *out)
{
    struct hd_str bytes = {0}, json = {0};
    hudi_status status = hd_avro_write_value(op, schema, record, &bytes);

    if (status == HUDI_OK)
        status = hd_avro_schema_format_java(op, schema, &json);
    if (status == HUDI_OK)
        status =
            hd_avro_container_write(op, hd_str_slice(&json), hd_str_slice(&bytes), 1, NULL, out);
    hd_str_clear(&json);
    hd_str_clear(&bytes);
    return status;
}
