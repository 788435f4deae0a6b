/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/avro_type.h"

#include <inttypes.h>

#include "arrow/column_path.h"
#include "arrow/decimal.h"
#include "arrow/schema.h"

/* A named type may be used many times, and each use is a column: what one text can unfold to is
 * bounded. */
#define MAX_COLUMNS 100000

struct conversion {
    struct hd_op *op;
    struct hd_column_path path;
    const struct hd_avro_schema *open[HD_TYPE_MAX_DEPTH]; /* records around this one */
    size_t n_open;
    size_t n_columns;
};

static hudi_status convert(struct conversion *c, const struct hd_avro_schema *avro,
                           const char *name, struct ArrowSchema *out);

static enum hd_type_id plain_id(enum hd_avro_type type)
{
    static const enum hd_type_id IDS[] = {
        [HD_AVRO_NULL] = HD_TYPE_NULL,     [HD_AVRO_BOOLEAN] = HD_TYPE_BOOL,
        [HD_AVRO_INT] = HD_TYPE_INT32,     [HD_AVRO_LONG] = HD_TYPE_INT64,
        [HD_AVRO_FLOAT] = HD_TYPE_FLOAT,   [HD_AVRO_DOUBLE] = HD_TYPE_DOUBLE,
        [HD_AVRO_BYTES] = HD_TYPE_BINARY,  [HD_AVRO_STRING] = HD_TYPE_STRING,
        [HD_AVRO_ENUM] = HD_TYPE_STRING,   [HD_AVRO_FIXED] = HD_TYPE_FIXED_BINARY,
        [HD_AVRO_RECORD] = HD_TYPE_STRUCT, [HD_AVRO_ARRAY] = HD_TYPE_LIST,
        [HD_AVRO_MAP] = HD_TYPE_MAP,       [HD_AVRO_UNION] = HD_TYPE_OTHER,
    };
    return IDS[type];
}

static bool has_parts(const struct hd_avro_schema *avro)
{
    return avro->type == HD_AVRO_RECORD || avro->type == HD_AVRO_ARRAY ||
           avro->type == HD_AVRO_MAP || avro->type == HD_AVRO_UNION;
}

bool hd_avro_leaf_type(const struct hd_avro_schema *avro, struct hd_type *out)
{
    static const struct hd_type LOGICAL[] = {
        [HD_AVRO_DATE] = {.id = HD_TYPE_DATE},
        [HD_AVRO_TIME_MILLIS] = {.id = HD_TYPE_TIME, .unit = HD_UNIT_MILLI},
        [HD_AVRO_TIME_MICROS] = {.id = HD_TYPE_TIME, .unit = HD_UNIT_MICRO},
        [HD_AVRO_TIMESTAMP_MILLIS] = {HD_TYPE_TIMESTAMP, HD_UNIT_MILLI, true, 0, 0, 0},
        [HD_AVRO_TIMESTAMP_MICROS] = {HD_TYPE_TIMESTAMP, HD_UNIT_MICRO, true, 0, 0, 0},
        [HD_AVRO_TIMESTAMP_NANOS] = {HD_TYPE_TIMESTAMP, HD_UNIT_NANO, true, 0, 0, 0},
        [HD_AVRO_LOCAL_TIMESTAMP_MILLIS] = {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MILLI},
        [HD_AVRO_LOCAL_TIMESTAMP_MICROS] = {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MICRO},
        [HD_AVRO_LOCAL_TIMESTAMP_NANOS] = {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_NANO},
    };

    *out = (struct hd_type){.id = plain_id(avro->type)};
    if (has_parts(avro))
        return false;
    if (avro->logical == HD_AVRO_DECIMAL) {
        *out = (struct hd_type){
            .id = HD_TYPE_DECIMAL, .precision = avro->precision, .scale = avro->scale};
        if (avro->precision > HD_DECIMAL_MAX_DIGITS)
            return false;
    } else if (avro->logical != HD_AVRO_PLAIN && avro->logical != HD_AVRO_UUID) {
        *out = LOGICAL[avro->logical];
    }
    if (avro->type != HD_AVRO_FIXED)
        return true;
    if (out->id == HD_TYPE_FIXED_BINARY)
        out->byte_width = (int32_t)avro->fixed_bytes;
    return avro->fixed_bytes <= INT32_MAX;
}

static hudi_status leaf_type(struct conversion *c, const struct hd_avro_schema *avro,
                             struct hd_type *type)
{
    if (hd_avro_leaf_type(avro, type))
        return HUDI_OK;
    if (type->id == HD_TYPE_DECIMAL && type->precision > HD_DECIMAL_MAX_DIGITS)
        return hd_fail(c->op, HUDI_NOT_IMPLEMENTED,
                       "column %s is a decimal of %d digits, more than %d", c->path.text,
                       avro->precision, HD_DECIMAL_MAX_DIGITS);
    return hd_fail(c->op, HUDI_NOT_IMPLEMENTED, "column %s has %" PRIu32 " bytes a value",
                   c->path.text, avro->fixed_bytes);
}

/* The children of a record, below `out`, whose name and flags are set. */
static hudi_status convert_fields(struct conversion *c, const struct hd_avro_schema *record,
                                  struct ArrowSchema *out)
{
    for (size_t i = 0; i < c->n_open; i++)
        if (c->open[i] == record)
            return hd_fail(c->op, HUDI_NOT_IMPLEMENTED, "column %s: record %s contains itself",
                           c->path.text, record->full_name);
    if (c->n_open == HD_ARRAY_LENGTH(c->open))
        return hd_fail(c->op, HUDI_NOT_IMPLEMENTED, "column %s nests more than %d records",
                       c->path.text, HD_TYPE_MAX_DEPTH);
    c->open[c->n_open++] = record;
    for (size_t i = 0; i < record->n_fields; i++) {
        const size_t mark = hd_column_path_enter(&c->path, record->fields[i].name);

        HD_TRY(convert(c, record->fields[i].schema, record->fields[i].name, out->children[i]));
        hd_column_path_leave(&c->path, mark);
    }
    c->n_open--;
    return HUDI_OK;
}

static hudi_status convert_nested(struct conversion *c, const struct hd_avro_schema *avro,
                                  const char *name, bool nullable, struct ArrowSchema *out)
{
    if (avro->type == HD_AVRO_RECORD) {
        HD_TRY(hd_schema_init_struct(c->op, out, name, nullable, (int64_t)avro->n_fields));
        return convert_fields(c, avro, out);
    }
    const size_t mark =
        hd_column_path_enter(&c->path, avro->type == HD_AVRO_ARRAY ? "element" : "value");

    if (avro->type == HD_AVRO_ARRAY) {
        HD_TRY(hd_schema_init_list(c->op, out, name, nullable));
        HD_TRY(convert(c, avro->items, "element", out->children[0]));
    } else {
        HD_TRY(hd_schema_init_map(c->op, out, name, nullable));
        HD_TRY(convert(c, avro->items, "value", out->children[0]->children[1]));
    }
    hd_column_path_leave(&c->path, mark);
    return HUDI_OK;
}

static hudi_status convert(struct conversion *c, const struct hd_avro_schema *avro,
                           const char *name, struct ArrowSchema *out)
{
    bool nullable;
    struct hd_type type;
    const struct hd_avro_schema *value = hd_avro_schema_unwrap(avro, &nullable);

    if (value == NULL)
        return hd_fail(c->op, HUDI_NOT_IMPLEMENTED, "column %s is a union of several types",
                       c->path.text);
    if (++c->n_columns > MAX_COLUMNS)
        return hd_fail(c->op, HUDI_CORRUPT, "schema has more than %d columns", MAX_COLUMNS);
    if (c->path.depth > HD_TYPE_MAX_DEPTH / 2)
        return hd_fail(c->op, HUDI_NOT_IMPLEMENTED, "column %s nests more than %d deep",
                       c->path.text, HD_TYPE_MAX_DEPTH / 2);
    if (value->type == HD_AVRO_UNION) { /* of one type and nothing else */
        if (value->n_branches != 1 || value->branches[0]->type == HD_AVRO_UNION)
            return hd_fail(c->op, HUDI_CORRUPT, "column %s is an empty union", c->path.text);
        value = value->branches[0];
    }
    if (has_parts(value))
        return convert_nested(c, value, name, nullable, out);
    HD_TRY(leaf_type(c, value, &type));
    HD_TRY(hd_schema_init_field(c->op, out, name, &type, nullable));
    if (type.id != HD_TYPE_DECIMAL || value->type != HD_AVRO_FIXED ||
        value->fixed_bytes == hd_decimal_bytes(type.precision))
        return HUDI_OK;
    const hudi_status status = hd_schema_set_decimal_bytes(c->op, out, (int32_t)value->fixed_bytes);
    if (status != HUDI_OK)
        hd_schema_clear(out);
    return status;
}

hudi_status hd_avro_to_arrow(struct hd_op *op, const struct hd_avro_schema *record,
                             struct ArrowSchema *out)
{
    struct conversion c = {.op = op};

    *out = (struct ArrowSchema){0};
    if (record->type != HD_AVRO_RECORD)
        return hd_fail(op, HUDI_CORRUPT, "schema is an Avro %s, not a record",
                       hd_avro_type_name(record->type));
    HD_TRY(hd_schema_init_struct(op, out, "", false, (int64_t)record->n_fields));
    const hudi_status status = convert_fields(&c, record, out);

    if (status != HUDI_OK)
        hd_schema_clear(out);
    return status;
}
