/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/avro_schema.h"

#include <inttypes.h>

#include "base/map.h"
#include "codec/avro_internal.h"
#include "codec/json.h"

/*
 * Invariants
 *  1. finish_state: FINISH_SEEN once hd_avro_schema_finish() passed the node; FINISH_SIZING while
 *     its sizes are being computed, FINISH_SIZED after.
 *  2. Sizes follow record fields only: a union, an array and a map take a byte of their own, so
 * what is behind them cannot make a value endless, nor a value of no bytes.
 */

#define FINISH_SEEN 1u
#define FINISH_SIZING 2u
#define FINISH_SIZED 4u

/* A value of no bytes costs time and no input: more of them in one record are refused. */
#define MAX_ZERO_VALUES 1000

static const char *const TYPE_NAMES[] = {
    [HD_AVRO_NULL] = "null",   [HD_AVRO_BOOLEAN] = "boolean", [HD_AVRO_INT] = "int",
    [HD_AVRO_LONG] = "long",   [HD_AVRO_FLOAT] = "float",     [HD_AVRO_DOUBLE] = "double",
    [HD_AVRO_BYTES] = "bytes", [HD_AVRO_STRING] = "string",   [HD_AVRO_RECORD] = "record",
    [HD_AVRO_ENUM] = "enum",   [HD_AVRO_ARRAY] = "array",     [HD_AVRO_MAP] = "map",
    [HD_AVRO_UNION] = "union", [HD_AVRO_FIXED] = "fixed",
};

static const char *const LOGICAL_NAMES[] = {
    [HD_AVRO_PLAIN] = NULL,
    [HD_AVRO_DATE] = "date",
    [HD_AVRO_TIME_MILLIS] = "time-millis",
    [HD_AVRO_TIME_MICROS] = "time-micros",
    [HD_AVRO_TIMESTAMP_MILLIS] = "timestamp-millis",
    [HD_AVRO_TIMESTAMP_MICROS] = "timestamp-micros",
    [HD_AVRO_TIMESTAMP_NANOS] = "timestamp-nanos",
    [HD_AVRO_LOCAL_TIMESTAMP_MILLIS] = "local-timestamp-millis",
    [HD_AVRO_LOCAL_TIMESTAMP_MICROS] = "local-timestamp-micros",
    [HD_AVRO_LOCAL_TIMESTAMP_NANOS] = "local-timestamp-nanos",
    [HD_AVRO_DECIMAL] = "decimal",
    [HD_AVRO_UUID] = "uuid",
};

const char *hd_avro_type_name(enum hd_avro_type type)
{
    return TYPE_NAMES[type];
}

const char *hd_avro_logical_name(enum hd_avro_logical logical)
{
    return LOGICAL_NAMES[logical];
}

enum hd_avro_type hd_avro_primitive_type(struct hd_slice name)
{
    for (enum hd_avro_type type = HD_AVRO_NULL; type <= HD_AVRO_STRING; type++)
        if (hd_slice_equal(name, hd_slice_text(TYPE_NAMES[type])))
            return type;
    return HD_AVRO_UNION;
}

bool hd_avro_name_valid(struct hd_slice name)
{
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return name.size > 0;
}

static bool fits_logical(const struct hd_avro_schema *schema, enum hd_avro_logical logical)
{
    switch (logical) {
    case HD_AVRO_PLAIN:
        return true;
    case HD_AVRO_DATE:
    case HD_AVRO_TIME_MILLIS:
        return schema->type == HD_AVRO_INT;
    case HD_AVRO_DECIMAL:
        return schema->type == HD_AVRO_BYTES || schema->type == HD_AVRO_FIXED;
    case HD_AVRO_UUID:
        return schema->type == HD_AVRO_STRING ||
               (schema->type == HD_AVRO_FIXED && schema->fixed_bytes == 16);
    default:
        return schema->type == HD_AVRO_LONG;
    }
}

/* Digits that two's complement numbers of so many bytes hold: floor(log10(2^(8n-1) - 1)). */
static int64_t max_precision(uint32_t n_bytes)
{
    return n_bytes == 0 ? 0 : (int64_t)((8.0 * n_bytes - 1) * 0.30102999566398120);
}

bool hd_avro_set_logical(struct hd_avro_schema *schema, struct hd_slice name, int64_t precision,
                         int64_t scale)
{
    enum hd_avro_logical logical = HD_AVRO_UUID;

    while (logical != HD_AVRO_PLAIN && !hd_slice_equal(name, hd_slice_text(LOGICAL_NAMES[logical])))
        logical--;
    if (logical == HD_AVRO_PLAIN || !fits_logical(schema, logical))
        return false;
    if (logical == HD_AVRO_DECIMAL) {
        if (precision < 1 || precision > INT32_MAX || scale < 0 || scale > precision)
            return false;
        if (schema->type == HD_AVRO_FIXED && precision > max_precision(schema->fixed_bytes))
            return false;
        schema->precision = (int32_t)precision;
        schema->scale = (int32_t)scale;
    }
    schema->logical = logical;
    return true;
}

hudi_status hd_avro_schema_new(struct hd_op *op, struct hd_arena *arena, enum hd_avro_type type,
                               enum hd_avro_logical logical, struct hd_avro_schema **out)
{
    HD_TRY(hd_arena_alloc(op, arena, sizeof **out, out));
    (*out)->type = type;
    (*out)->logical = logical;
    return HUDI_OK;
}

hudi_status hd_avro_schema_nullable(struct hd_op *op, struct hd_arena *arena,
                                    struct hd_avro_schema *schema, struct hd_avro_schema **out)
{
    HD_TRY(hd_avro_schema_new(op, arena, HD_AVRO_UNION, HD_AVRO_PLAIN, out));
    HD_TRY(hd_arena_array(op, arena, 2, sizeof *(*out)->branches, &(*out)->branches));
    HD_TRY(hd_avro_schema_new(op, arena, HD_AVRO_NULL, HD_AVRO_PLAIN, &(*out)->branches[0]));
    (*out)->branches[1] = schema;
    (*out)->n_branches = 2;
    return HUDI_OK;
}

const struct hd_avro_schema *hd_avro_schema_unwrap(const struct hd_avro_schema *schema,
                                                   bool *nullable)
{
    bool has_null = schema->type == HD_AVRO_NULL;
    const struct hd_avro_schema *other = schema;

    if (schema->type == HD_AVRO_UNION) {
        size_t n_others = 0;
        for (size_t i = 0; i < schema->n_branches; i++) {
            if (schema->branches[i]->type == HD_AVRO_NULL) {
                has_null = true;
            } else {
                other = schema->branches[i];
                n_others++;
            }
        }
        if (n_others != 1)
            other = NULL;
    }
    if (nullable != NULL)
        *nullable = has_null;
    return other;
}

int64_t hd_avro_schema_field_index(const struct hd_avro_schema *record, struct hd_slice name)
{
    for (size_t i = 0; i < record->n_fields; i++) {
        const char *field = record->fields[i].name;
        if (strncmp(field, (const char *)name.data, name.size) == 0 && field[name.size] == '\0')
            return (int64_t)i;
    }
    return -1;
}

const struct hd_avro_field *hd_avro_schema_field(const struct hd_avro_schema *record,
                                                 const char *name)
{
    int64_t i = hd_avro_schema_field_index(record, hd_slice_text(name));

    return i < 0 ? NULL : &record->fields[i];
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static hudi_status set_sizes(struct hd_op *op, struct hd_avro_schema *schema, unsigned depth);

static hudi_status set_record_sizes(struct hd_op *op, struct hd_avro_schema *schema, unsigned depth)
{
    uint64_t min_bytes = 0, n_zero_values = 0;

    schema->finish_state |= FINISH_SIZING;
    for (size_t i = 0; i < schema->n_fields; i++) {
        struct hd_avro_schema *field = schema->fields[i].schema;
        HD_TRY(set_sizes(op, field, depth + 1));
        if (__builtin_add_overflow(min_bytes, field->min_bytes, &min_bytes))
            min_bytes = UINT64_MAX / 2;
        n_zero_values += field->n_zero_values;
        if (n_zero_values > MAX_ZERO_VALUES)
            return hd_fail(op, HUDI_CORRUPT,
                           "Avro record %s holds more than %d values that take no bytes",
                           schema->full_name, MAX_ZERO_VALUES);
    }
    schema->min_bytes = hd_min_u64(min_bytes, UINT64_MAX / 2);
    schema->n_zero_values = n_zero_values + (min_bytes == 0);
    return HUDI_OK;
}

static hudi_status set_sizes(struct hd_op *op, struct hd_avro_schema *schema, unsigned depth)
{
    if (schema->finish_state & FINISH_SIZED)
        return HUDI_OK;
    if (schema->finish_state & FINISH_SIZING)
        return hd_fail(op, HUDI_CORRUPT, "Avro record %s contains itself", schema->full_name);
    if (depth > HD_AVRO_MAX_VALUE_DEPTH)
        return hd_fail(op, HUDI_CORRUPT, "Avro schema nests deeper than %d",
                       HD_AVRO_MAX_VALUE_DEPTH);
    switch (schema->type) {
    case HD_AVRO_NULL:
        schema->min_bytes = 0;
        break;
    case HD_AVRO_FLOAT:
        schema->min_bytes = 4;
        break;
    case HD_AVRO_DOUBLE:
        schema->min_bytes = 8;
        break;
    case HD_AVRO_FIXED:
        schema->min_bytes = schema->fixed_bytes;
        break;
    case HD_AVRO_RECORD:
        HD_TRY(set_record_sizes(op, schema, depth));
        break;
    default:
        schema->min_bytes = 1;
        break;
    }
    if (schema->type != HD_AVRO_RECORD)
        schema->n_zero_values = schema->min_bytes == 0;
    schema->finish_state |= FINISH_SIZED;
    return HUDI_OK;
}

static hudi_status finish(struct hd_op *op, struct hd_avro_schema *schema, unsigned depth)
{
    if (schema->finish_state & FINISH_SEEN)
        return HUDI_OK;
    if (depth > HD_AVRO_MAX_DEPTH)
        return hd_fail(op, HUDI_CORRUPT, "Avro schema nests deeper than %d", HD_AVRO_MAX_DEPTH);
    schema->finish_state |= FINISH_SEEN;
    for (size_t i = 0; i < schema->n_fields; i++)
        HD_TRY(finish(op, schema->fields[i].schema, depth + 1));
    for (size_t i = 0; i < schema->n_branches; i++)
        HD_TRY(finish(op, schema->branches[i], depth + 1));
    if (schema->items != NULL)
        HD_TRY(finish(op, schema->items, depth + 1));
    return set_sizes(op, schema, 0);
}

hudi_status hd_avro_schema_finish(struct hd_op *op, struct hd_avro_schema *root)
{
    return finish(op, root, 0);
}
