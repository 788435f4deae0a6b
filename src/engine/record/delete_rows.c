/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/delete_rows.h"

#include <string.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/decimal.h"
#include "engine/record/field_path.h"

/* ---- values -------------------------------------------------------------------------------- */

/* Is the value of the class that the field's values have? Up to Hudi 0.15 those of log records are
 * as Avro has them: a date is an int, and no LocalDate as a delete's is, a decimal is bytes, and a
 * string no java.lang.String, as delete blocks of version 6 give it.
 * Source: SpillableMapUtils.getPreCombineVal, HoodieAvroUtils.unwrapAvroValueWrapper (0.15.0) */
static bool is_comparable(int version, const struct hd_type *field,
                          const struct hd_ordering_value *value)
{
    if (version < 8 && (field->id == HD_TYPE_DATE || field->id == HD_TYPE_DECIMAL))
        return false;
    if (version == 6 && field->id == HD_TYPE_STRING)
        return false;
    switch (field->id) {
    case HD_TYPE_BOOL:
        return value->type == HD_ORDERING_BOOLEAN;
    case HD_TYPE_INT32:
        return value->type == HD_ORDERING_INT;
    case HD_TYPE_INT64:
        return value->type == HD_ORDERING_LONG;
    case HD_TYPE_FLOAT:
        return value->type == HD_ORDERING_FLOAT;
    case HD_TYPE_DOUBLE:
        return value->type == HD_ORDERING_DOUBLE;
    case HD_TYPE_STRING:
        return value->type == HD_ORDERING_STRING;
    case HD_TYPE_BINARY:
    case HD_TYPE_FIXED_BINARY:
        return value->type == HD_ORDERING_BYTES;
    case HD_TYPE_DATE:
        return value->type == HD_ORDERING_DATE;
    case HD_TYPE_DECIMAL:
        return value->type == HD_ORDERING_DECIMAL && value->bytes.size <= sizeof(hd_int128);
    case HD_TYPE_TIME:
        return value->type == HD_ORDERING_TIME_MICROS ||
               value->type == (field->unit <= HD_UNIT_MILLI ? HD_ORDERING_INT : HD_ORDERING_LONG);
    case HD_TYPE_TIMESTAMP:
        return value->type == HD_ORDERING_LONG || value->type == HD_ORDERING_TIMESTAMP_MICROS;
    default:
        return false;
    }
}

/* Microseconds in a unit, rounded down. False when that does not fit. */
static bool from_micros(enum hd_time_unit unit, int64_t value, int64_t *out)
{
    if (unit == HD_UNIT_NANO)
        return !__builtin_mul_overflow(value, 1000, out);
    const int64_t divisor = unit == HD_UNIT_MICRO ? 1 : unit == HD_UNIT_MILLI ? 1000 : 1000000;

    *out = value / divisor - (value % divisor < 0);
    return true;
}

static hd_int128 big_endian(struct hd_slice bytes)
{
    hd_int128 value = bytes.size > 0 && bytes.data[0] >= 0x80 ? -1 : 0;

    for (size_t i = 0; i < bytes.size; i++)
        value = (hd_int128)(((hd_uint128)value << 8) | bytes.data[i]);
    return value;
}

static hudi_status append_decimal(struct hd_op *op, hd_builder *builder,
                                  const struct hd_ordering_value *value, bool *fits)
{
    const struct hd_type *type = hd_builder_type(builder);
    hd_int128 rescaled;

    *fits = hd_decimal_rescale(big_endian(value->bytes), value->scale, type->scale, type->precision,
                               HD_ROUND_HALF_UP, &rescaled);
    return *fits ? hd_builder_append_decimal(op, builder, rescaled)
                 : hd_builder_append_null(op, builder);
}

/* Append a value that is comparable. `*fits` is false, and a null is appended, for one that the
 * column cannot hold. */
static hudi_status append_value(struct hd_op *op, hd_builder *builder,
                                const struct hd_ordering_value *value, bool *fits)
{
    const struct hd_type *type = hd_builder_type(builder);
    int64_t integer = value->type == HD_ORDERING_BOOLEAN ? value->integer != 0 : 0;

    *fits = true;
    switch (value->type) {
    case HD_ORDERING_FLOAT:
    case HD_ORDERING_DOUBLE:
        return hd_builder_append_double(op, builder, value->real);
    case HD_ORDERING_STRING:
        return hd_builder_append_bytes(op, builder, value->bytes);
    case HD_ORDERING_BYTES:
        if (type->id == HD_TYPE_BINARY || value->bytes.size == (size_t)type->byte_width)
            return hd_builder_append_bytes(op, builder, value->bytes);
        *fits = false;
        return hd_builder_append_null(op, builder);
    case HD_ORDERING_DECIMAL:
        return append_decimal(op, builder, value, fits);
    case HD_ORDERING_TIME_MICROS:
    case HD_ORDERING_TIMESTAMP_MICROS:
        *fits = from_micros(type->unit, value->integer, &integer);
        break;
    case HD_ORDERING_BOOLEAN:
        break;
    default:
        integer = value->integer;
        break;
    }
    if (type->id != HD_TYPE_INT64 && type->id != HD_TYPE_TIMESTAMP &&
        (type->id != HD_TYPE_TIME || type->unit <= HD_UNIT_MILLI))
        *fits = *fits && integer >= INT32_MIN && integer <= INT32_MAX;
    return *fits ? hd_builder_append_integer(op, builder, integer)
                 : hd_builder_append_null(op, builder);
}

/* ---- rows ---------------------------------------------------------------------------------- */

struct ordering {
    struct hd_field_path *paths;
    size_t n;
    int version;           /* of the table */
    hd_builder **builders; /* by column; NULL: no ordering field is in it */
};

/* Of one delete. */
struct row {
    const struct ordering *ordering;
    const struct hd_ordering_value *values; /* one a field; NULL: none */
    bool fits;
};

static bool is_below(const struct hd_field_path *path, const int32_t *steps, int32_t n)
{
    return path->n_steps >= n && memcmp(path->steps, steps, (size_t)n * sizeof *steps) == 0;
}

/* Append to the field at `steps[0..n)`: the value of the ordering field that it is, else null, of a
 * record that holds one all of its fields. */
static hudi_status append_field(struct hd_op *op, const struct ArrowSchema *field,
                                hd_builder *builder, int32_t *steps, int32_t n, struct row *row)
{
    const struct ordering *ordering = row->ordering;
    bool holds = false;

    for (size_t i = 0; row->values != NULL && i < ordering->n; i++) {
        bool fits;

        if (!is_below(&ordering->paths[i], steps, n))
            continue;
        if (ordering->paths[i].n_steps > n) {
            holds = true;
            continue;
        }
        if (row->values[i].type == HD_ORDERING_NONE)
            return hd_builder_append_null(op, builder);
        HD_TRY(append_value(op, builder, &row->values[i], &fits));
        row->fits = row->fits && fits;
        return HUDI_OK;
    }
    if (!holds || n == HD_FIELD_PATH_MAX)
        return hd_builder_append_null(op, builder);
    for (int32_t i = 0; i < field->n_children; i++) {
        steps[n] = i;
        HD_TRY(
            append_field(op, field->children[i], hd_builder_child(builder, i), steps, n + 1, row));
    }
    return hd_builder_append_valid(op, builder);
}

/* The values of one delete, one a field; NULL: it counts by its arrival. */
static const struct hd_ordering_value *values_of(const struct ordering *ordering,
                                                 const struct hd_ordering_value *value)
{
    const struct hd_ordering_value *values = value;
    size_t n = 1;

    if (value == NULL || hd_ordering_is_by_arrival(value))
        return NULL;
    if (value->type == HD_ORDERING_ARRAY) {
        values = value->items;
        n = value->n_items;
    }
    if (n != ordering->n || n == 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (values[i].type != HD_ORDERING_NONE &&
            !is_comparable(ordering->version, &ordering->paths[i].type, &values[i]))
            return NULL;
    }
    return values;
}

static hudi_status append_row(struct hd_op *op, const struct ordering *ordering,
                              const struct ArrowSchema *schema,
                              const struct hd_ordering_value *value, bool *by_arrival)
{
    struct row row = {.ordering = ordering, .values = values_of(ordering, value), .fits = true};

    for (int64_t i = 0; i < schema->n_children; i++) {
        int32_t steps[HD_FIELD_PATH_MAX] = {(int32_t)i};

        if (ordering->builders[i] != NULL)
            HD_TRY(append_field(op, schema->children[i], ordering->builders[i], steps, 1, &row));
    }
    *by_arrival = row.values == NULL || !row.fits;
    return HUDI_OK;
}

static hudi_status open_ordering(struct hd_op *op, const struct hd_table_config *config,
                                 const struct ArrowSchema *schema, struct ordering *out)
{
    HD_TRY(hd_alloc_array(op, config->n_ordering_fields, sizeof *out->paths, &out->paths));
    HD_TRY(hd_alloc_array(op, (size_t)schema->n_children, sizeof(hd_builder *), &out->builders));
    for (size_t i = 0; i < config->n_ordering_fields; i++) {
        struct hd_field_path *path = &out->paths[i];
        const hudi_status status = hd_field_path_find(op, schema, config->ordering_fields[i], path);

        if (status == HUDI_NOT_FOUND)
            return hd_fail(op, HUDI_INVALID, "ordering field \"%s\" is not a column of the table",
                           config->ordering_fields[i]);
        HD_TRY(status);
        if (out->builders[path->steps[0]] == NULL)
            HD_TRY(hd_builder_new(op, schema->children[path->steps[0]],
                                  &out->builders[path->steps[0]]));
        out->n++;
    }
    return HUDI_OK;
}

static hudi_status finish(struct hd_op *op, const struct ordering *ordering,
                          const struct ArrowSchema *schema, size_t n, struct ArrowArray *out)
{
    const int32_t n_columns = (int32_t)schema->n_children;
    struct ArrowArray *columns;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_alloc_array(op, (size_t)n_columns, sizeof *columns, &columns));
    for (int32_t i = 0; i < n_columns; i++) {
        if (ordering->builders[i] != NULL)
            HD_TRY_OUT(hd_builder_finish(op, ordering->builders[i], &columns[i]));
        else
            HD_TRY_OUT(hd_array_nulls(op, schema->children[i], (int64_t)n, &columns[i]));
    }
    HD_TRY_OUT(hd_array_struct(op, columns, n_columns, (int64_t)n, out));
out:
    for (int32_t i = 0; i < n_columns; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    return status;
}

hudi_status hd_delete_rows(struct hd_op *op, const struct hd_table_config *config,
                           const struct ArrowSchema *schema,
                           const struct hd_ordering_value *ordering, size_t n, bool *by_arrival,
                           struct ArrowArray *out)
{
    struct ordering fields = {.version = config->version->number};
    hudi_status status;

    *out = (struct ArrowArray){0};
    HD_TRY_OUT(open_ordering(op, config, schema, &fields));
    for (size_t i = 0; i < n; i++)
        HD_TRY_OUT(append_row(op, &fields, schema, ordering == NULL ? NULL : &ordering[i],
                              &by_arrival[i]));
    HD_TRY_OUT(finish(op, &fields, schema, n, out));
out:
    for (int64_t i = 0; fields.builders != NULL && i < schema->n_children; i++)
        hd_builder_free(fields.builders[i]);
    hd_free(op, fields.builders);
    hd_free(op, fields.paths);
    return status;
}
