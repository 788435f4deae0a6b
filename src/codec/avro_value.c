/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/avro_value.h"

#include <inttypes.h>

#include "codec/avro.h"
#include "codec/avro_internal.h"

/* ---- reading -------------------------------------------------------------------------------- */

/*
 * A value costs some forty bytes, and values of no bytes cost no input: their number is bounded by
 * the bytes that are left when reading begins.
 */
struct reader {
    struct hd_op *op;
    struct hd_arena *arena;
    struct hd_cursor *in;
    uint64_t n_values_left;
};

#define FREE_VALUES 4096

static hudi_status read_value(struct reader *r, const struct hd_avro_schema *schema, unsigned depth,
                              struct hd_avro_value *out);

static hudi_status copy_bytes(struct reader *r, struct hd_slice bytes, struct hd_slice *out)
{
    char *copy;

    HD_TRY(hd_arena_strndup(r->op, r->arena, bytes.data, bytes.size, &copy));
    *out = hd_slice_of(copy, bytes.size);
    return HUDI_OK;
}

/* Room for `n` more items (and keys) behind those there are. */
static hudi_status grow_items(struct reader *r, struct hd_avro_value *value, size_t *capacity,
                              uint64_t n, bool with_keys)
{
    struct hd_avro_value *items;
    struct hd_slice *keys;
    size_t wanted = value->n_items + n;

    if (wanted <= *capacity)
        return HUDI_OK;
    if (wanted < *capacity * 2)
        wanted = *capacity * 2;
    HD_TRY(hd_arena_array(r->op, r->arena, wanted, sizeof *items, &items));
    if (value->n_items > 0)
        memcpy(items, value->items, value->n_items * sizeof *items);
    value->items = items;
    if (with_keys) {
        HD_TRY(hd_arena_array(r->op, r->arena, wanted, sizeof *keys, &keys));
        if (value->n_items > 0)
            memcpy(keys, value->keys, value->n_items * sizeof *keys);
        value->keys = keys;
    }
    *capacity = wanted;
    return HUDI_OK;
}

static hudi_status read_items(struct reader *r, const struct hd_avro_schema *schema, unsigned depth,
                              struct hd_avro_value *out)
{
    bool is_map = schema->type == HD_AVRO_MAP;
    uint64_t n_items, n_bytes;
    size_t capacity = 0;
    struct hd_slice key;

    out->items = NULL;
    out->keys = NULL;
    out->n_items = 0;
    for (;;) {
        HD_TRY(hd_avro_read_block(r->op, r->in, schema->items->min_bytes + is_map, &n_items,
                                  &n_bytes));
        if (n_items == 0)
            return HUDI_OK;
        if (n_items > r->n_values_left)
            return hd_fail(r->op, HUDI_CORRUPT, "Avro array at byte %" PRIu64 " of too many values",
                           hd_cursor_offset(r->in));
        HD_TRY(grow_items(r, out, &capacity, n_items, is_map));
        uint64_t begin = hd_cursor_offset(r->in);
        for (uint64_t i = 0; i < n_items; i++) {
            if (is_map) {
                HD_TRY(hd_avro_read_bytes(r->op, r->in, &key));
                HD_TRY(copy_bytes(r, key, &out->keys[out->n_items]));
            }
            HD_TRY(read_value(r, schema->items, depth + 1, &out->items[out->n_items]));
            out->n_items++;
        }
        if (n_bytes > 0 && hd_cursor_offset(r->in) - begin != n_bytes)
            return hd_fail(r->op, HUDI_CORRUPT,
                           "Avro array block at byte %" PRIu64 " is not of the %" PRIu64
                           " bytes that it says",
                           begin, n_bytes);
    }
}

static hudi_status read_record(struct reader *r, const struct hd_avro_schema *schema,
                               unsigned depth, struct hd_avro_value *out)
{
    if (schema->n_fields > r->n_values_left)
        return hd_fail(r->op, HUDI_CORRUPT, "Avro record at byte %" PRIu64 " of too many values",
                       hd_cursor_offset(r->in));
    out->keys = NULL;
    out->n_items = schema->n_fields;
    HD_TRY(hd_arena_array(r->op, r->arena, schema->n_fields, sizeof *out->items, &out->items));
    for (size_t i = 0; i < schema->n_fields; i++)
        HD_TRY(read_value(r, schema->fields[i].schema, depth + 1, &out->items[i]));
    return HUDI_OK;
}

static hudi_status read_number(struct reader *r, struct hd_avro_value *out)
{
    int32_t integer;
    float real;

    switch (out->type) {
    case HD_AVRO_BOOLEAN:
        return hd_avro_read_boolean(r->op, r->in, &out->boolean);
    case HD_AVRO_INT:
        HD_TRY(hd_avro_read_int(r->op, r->in, &integer));
        out->integer = integer;
        return HUDI_OK;
    case HD_AVRO_LONG:
        return hd_avro_read_long(r->op, r->in, &out->integer);
    case HD_AVRO_FLOAT:
        HD_TRY(hd_avro_read_float(r->op, r->in, &real));
        out->real = real;
        return HUDI_OK;
    default:
        return hd_avro_read_double(r->op, r->in, &out->real);
    }
}

static hudi_status read_value(struct reader *r, const struct hd_avro_schema *schema, unsigned depth,
                              struct hd_avro_value *out)
{
    struct hd_slice bytes;
    uint32_t index = 0;

    if (depth > HD_AVRO_MAX_VALUE_DEPTH || r->n_values_left == 0)
        return hd_fail(r->op, HUDI_CORRUPT,
                       "Avro value at byte %" PRIu64 " nests too deep or holds too many values",
                       hd_cursor_offset(r->in));
    out->type = schema->type;
    out->schema = schema;
    if (schema->type == HD_AVRO_UNION) {
        HD_TRY(hd_avro_read_index(r->op, r->in, schema->n_branches, &index));
        return read_value(r, schema->branches[index], depth + 1, out);
    }
    r->n_values_left--;
    switch (schema->type) {
    case HD_AVRO_NULL:
        return HUDI_OK;
    case HD_AVRO_BYTES:
    case HD_AVRO_STRING:
        HD_TRY(hd_avro_read_bytes(r->op, r->in, &bytes));
        return copy_bytes(r, bytes, &out->bytes);
    case HD_AVRO_FIXED:
        HD_TRY(hd_cursor_take(r->op, r->in, schema->fixed_bytes, &bytes));
        return copy_bytes(r, bytes, &out->bytes);
    case HD_AVRO_ENUM:
        HD_TRY(hd_avro_read_index(r->op, r->in, schema->n_symbols, &index));
        out->integer = index;
        return HUDI_OK;
    case HD_AVRO_ARRAY:
    case HD_AVRO_MAP:
        return read_items(r, schema, depth, out);
    case HD_AVRO_RECORD:
        return read_record(r, schema, depth, out);
    default:
        return read_number(r, out);
    }
}

hudi_status hd_avro_read_value(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_avro_schema *schema, struct hd_cursor *in,
                               struct hd_avro_value *out)
{
    const struct hd_cursor start = *in;
    struct reader r = {.op = op,
                       .arena = arena,
                       .in = in,
                       .n_values_left = 2 * (uint64_t)hd_cursor_left(in) + FREE_VALUES};
    hudi_status status = read_value(&r, schema, 0, out);

    if (status != HUDI_OK) {
        *in = start;
        *out = hd_avro_null_value();
    }
    return status;
}

static hudi_status read_only_record(struct hd_op *op, struct hd_arena *arena,
                                    struct hd_avro_container *container, struct hd_avro_value *out)
{
    struct hd_avro_schema *schema;
    struct hd_cursor records;
    uint64_t n_in_block, n_records = 0;

    HD_TRY(hd_avro_schema_parse(op, arena, container->schema_json, &schema));
    for (;;) {
        hudi_status status = hd_avro_container_next(op, container, &records, &n_in_block);
        if (status == HUDI_END)
            break;
        HD_TRY(status);
        n_records += n_in_block;
        if (n_records > 1)
            return hd_fail(op, HUDI_CORRUPT, "Avro file of more than one record");
        if (n_in_block == 1)
            HD_TRY(hd_avro_read_value(op, arena, schema, &records, out));
        if (hd_cursor_left(&records) != 0)
            return hd_fail(op, HUDI_CORRUPT, "%zu bytes behind the record of an Avro file",
                           hd_cursor_left(&records));
    }
    if (n_records == 0)
        return hd_fail(op, HUDI_CORRUPT, "Avro file without a record");
    return HUDI_OK;
}

hudi_status hd_avro_read_single(struct hd_op *op, struct hd_arena *arena, struct hd_slice file,
                                struct hd_avro_value *out)
{
    struct hd_avro_container container;

    *out = hd_avro_null_value();
    HD_TRY(hd_avro_container_open(op, file, &container));
    hudi_status status = read_only_record(op, arena, &container, out);
    hd_avro_container_clear(&container);
    if (status != HUDI_OK)
        *out = hd_avro_null_value();
    return status;
}

/* ---- looking at values ---------------------------------------------------------------------- */

const struct hd_avro_value *hd_avro_value_field(const struct hd_avro_value *record,
                                                const char *name)
{
    if (record == NULL || record->type != HD_AVRO_RECORD)
        return NULL;
    int64_t i = hd_avro_schema_field_index(record->schema, hd_slice_text(name));
    return i < 0 ? NULL : &record->items[i];
}

const struct hd_avro_value *hd_avro_value_lookup(const struct hd_avro_value *map, const char *key)
{
    if (map == NULL || map->type != HD_AVRO_MAP)
        return NULL;
    for (size_t i = map->n_items; i > 0; i--)
        if (hd_slice_equal(map->keys[i - 1], hd_slice_text(key)))
            return &map->items[i - 1];
    return NULL;
}

static hudi_status fail_type(struct hd_op *op, const struct hd_avro_value *value, const char *what,
                             const char *wanted)
{
    return hd_fail(op, HUDI_CORRUPT, "Avro \"%s\" is %s where %s is expected", what,
                   value == NULL ? "missing" : hd_avro_type_name(value->type), wanted);
}

hudi_status hd_avro_as_string(struct hd_op *op, const struct hd_avro_value *value, const char *what,
                              struct hd_slice *out)
{
    *out = hd_slice_of(NULL, 0);
    if (value != NULL && value->type == HD_AVRO_ENUM && value->schema != NULL) {
        *out = hd_slice_text(value->schema->symbols[value->integer]);
        return HUDI_OK;
    }
    if (value == NULL || (value->type != HD_AVRO_STRING && value->type != HD_AVRO_BYTES))
        return fail_type(op, value, what, "text");
    *out = value->bytes;
    return HUDI_OK;
}

hudi_status hd_avro_as_long(struct hd_op *op, const struct hd_avro_value *value, const char *what,
                            int64_t *out)
{
    *out = 0;
    if (value == NULL || (value->type != HD_AVRO_INT && value->type != HD_AVRO_LONG))
        return fail_type(op, value, what, "an integer");
    *out = value->integer;
    return HUDI_OK;
}

hudi_status hd_avro_get_string(struct hd_op *op, const struct hd_avro_value *record,
                               const char *name, struct hd_slice *out)
{
    return hd_avro_as_string(op, hd_avro_value_field(record, name), name, out);
}

hudi_status hd_avro_get_long(struct hd_op *op, const struct hd_avro_value *record, const char *name,
                             int64_t *out)
{
    return hd_avro_as_long(op, hd_avro_value_field(record, name), name, out);
}

hudi_status hd_avro_find_string(struct hd_op *op, const struct hd_avro_value *record,
                                const char *name, struct hd_slice *out)
{
    const struct hd_avro_value *value = hd_avro_value_field(record, name);

    *out = hd_slice_of(NULL, 0);
    return hd_avro_value_is_null(value) ? HUDI_OK : hd_avro_as_string(op, value, name, out);
}

hudi_status hd_avro_find_long(struct hd_op *op, const struct hd_avro_value *record,
                              const char *name, int64_t fallback, int64_t *out)
{
    const struct hd_avro_value *value = hd_avro_value_field(record, name);

    *out = fallback;
    return hd_avro_value_is_null(value) ? HUDI_OK : hd_avro_as_long(op, value, name, out);
}

hudi_status hd_avro_find_double(struct hd_op *op, const struct hd_avro_value *record,
                                const char *name, double fallback, double *out)
{
    const struct hd_avro_value *value = hd_avro_value_field(record, name);

    *out = fallback;
    if (hd_avro_value_is_null(value))
        return HUDI_OK;
    if (value->type == HD_AVRO_INT || value->type == HD_AVRO_LONG)
        *out = (double)value->integer;
    else if (value->type == HD_AVRO_FLOAT || value->type == HD_AVRO_DOUBLE)
        *out = value->real;
    else
        return fail_type(op, value, name, "a number");
    return HUDI_OK;
}

hudi_status hd_avro_find_boolean(struct hd_op *op, const struct hd_avro_value *record,
                                 const char *name, bool fallback, bool *out)
{
    const struct hd_avro_value *value = hd_avro_value_field(record, name);

    *out = fallback;
    if (hd_avro_value_is_null(value))
        return HUDI_OK;
    if (value->type != HD_AVRO_BOOLEAN)
        return fail_type(op, value, name, "true or false");
    *out = value->boolean;
    return HUDI_OK;
}

hudi_status hd_avro_find_container(struct hd_op *op, const struct hd_avro_value *record,
                                   const char *name, enum hd_avro_type type,
                                   const struct hd_avro_value **out)
{
    const struct hd_avro_value *value = hd_avro_value_field(record, name);

    *out = NULL;
    if (hd_avro_value_is_null(value))
        return HUDI_OK;
    if (value->type != type)
        return fail_type(op, value, name, hd_avro_type_name(type));
    *out = value;
    return HUDI_OK;
}
