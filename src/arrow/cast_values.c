/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "arrow/bits.h"
#include "arrow/cast_internal.h"
#include "arrow/decimal.h"
#include "arrow/java_text.h"
#include "arrow/text.h"
#include "base/checked_int.h"

#define DAY_SECONDS 86400

hudi_status hd_cast_begin(const struct hd_cast_leaf *leaf, int64_t n_buffers,
                          struct ArrowArray *out)
{
    HD_TRY(hd_array_new(leaf->op, n_buffers, 0, false, out));
    return hd_cast_validity(leaf->op, leaf->from->validity, leaf->from->offset, leaf->from->length,
                            out);
}

hudi_status hd_cast_values(const struct hd_cast_leaf *leaf, uint64_t n_bytes,
                           struct ArrowArray *out, void *values)
{
    void *buffer;

    HD_TRY(hd_buffer_new_raw(leaf->op, n_bytes, &buffer));
    hd_array_set_buffer(out, 1, buffer);
    memcpy(values, &buffer, sizeof buffer);
    return HUDI_OK;
}

/* ---- integers and what they stand for ------------------------------------------------------- */

static bool is_temporal(enum hd_type_id id)
{
    return id == HD_TYPE_DATE || id == HD_TYPE_TIME || id == HD_TYPE_TIMESTAMP;
}

/* Of a DATE, TIME or TIMESTAMP; a date's unit is a day. */
static bool rescale_time(const struct hd_cast_leaf *leaf, int64_t row, int64_t *out)
{
    const struct hd_view *v = leaf->from;
    const struct hd_type *to = &leaf->to;
    const int64_t value = hd_view_integer(v, row);

    if (v->type.id == HD_TYPE_DATE) /* to TIMESTAMP */
        return !__builtin_mul_overflow(value, DAY_SECONDS * hd_units_per_second(to->unit), out);
    const int64_t per_second = hd_units_per_second(v->type.unit);
    if (to->id == HD_TYPE_DATE) {
        *out = hd_floor_div(value, DAY_SECONDS * per_second);
        return value % (DAY_SECONDS * per_second) == 0;
    }
    const int64_t wanted = hd_units_per_second(to->unit);
    if (wanted >= per_second)
        return !__builtin_mul_overflow(value, wanted / per_second, out);
    *out = hd_floor_div(value, per_second / wanted);
    return leaf->rule != HD_CAST_INPUT || value % (per_second / wanted) == 0;
}

static bool whole_double(double value, int64_t *out)
{
    if (!(value >= -0x1p63 && value < 0x1p63))
        return false;
    *out = (int64_t)value;
    return (double)*out == value;
}

static bool text_to_integer(struct hd_slice text, const struct hd_type *to, int64_t *out)
{
    int32_t days;

    switch (to->id) {
    case HD_TYPE_DATE:
        if (!hd_parse_date(text, &days))
            return false;
        *out = days;
        return true;
    case HD_TYPE_TIME:
        return hd_parse_time(text, to->unit, out);
    case HD_TYPE_TIMESTAMP:
        return hd_parse_timestamp(text, to->unit, to->utc, out);
    default:
        return hd_parse_integer(text, out);
    }
}

bool hd_cast_value_to_integer(const struct hd_cast_leaf *leaf, int64_t row, int64_t *out)
{
    const struct hd_view *v = leaf->from;
    hd_int128 whole;

    switch (v->type.id) {
    case HD_TYPE_STRING:
        return text_to_integer(hd_view_bytes(v, row), &leaf->to, out);
    case HD_TYPE_FLOAT:
        return whole_double((double)hd_view_float(v, row), out);
    case HD_TYPE_DOUBLE:
        return whole_double(hd_view_double(v, row), out);
    case HD_TYPE_DECIMAL:
        if (!hd_decimal_rescale(hd_decimal_load(hd_view_bytes(v, row).data), v->type.scale, 0,
                                HD_DECIMAL_MAX_DIGITS, HD_ROUND_EXACT, &whole))
            return false;
        *out = (int64_t)whole;
        return *out == whole;
    default:
        if (is_temporal(v->type.id))
            return rescale_time(leaf, row, out);
        *out = hd_view_integer(v, row);
        return true;
    }
}

static bool is_narrow(const struct hd_type *type)
{
    return type->id == HD_TYPE_INT32 || type->id == HD_TYPE_DATE ||
           (type->id == HD_TYPE_TIME && type->unit <= HD_UNIT_MILLI);
}

static bool in_range(const struct hd_type *type, int64_t value)
{
    if (type->id == HD_TYPE_TIME)
        return value >= 0 && value < DAY_SECONDS * hd_units_per_second(type->unit);
    return !is_narrow(type) || (value >= INT32_MIN && value <= INT32_MAX);
}

static void widen_integers(const struct hd_view *from, int64_t *to)
{
    const int32_t *values = (const int32_t *)from->values + from->offset;

    for (int64_t i = 0; i < from->length; i++)
        to[i] = values[i];
}

hudi_status hd_cast_to_integer(const struct hd_cast_leaf *leaf, struct ArrowArray *out)
{
    const struct hd_view *from = leaf->from;
    const bool narrow = is_narrow(&leaf->to);
    uint8_t *to;

    HD_TRY(hd_cast_begin(leaf, 2, out));
    HD_TRY(hd_cast_values(leaf, (uint64_t)from->length * (narrow ? 4 : 8), out, &to));
    if (from->type.id == HD_TYPE_INT32 && leaf->to.id == HD_TYPE_INT64) {
        widen_integers(from, (int64_t *)(uintptr_t)to);
        return HUDI_OK;
    }
    for (int64_t i = 0; i < from->length; i++) {
        int64_t value = 0;
        if (!hd_view_is_null(from, i) &&
            (!hd_cast_value_to_integer(leaf, i, &value) || !in_range(&leaf->to, value))) {
            HD_TRY(hd_cast_misfit(leaf, i));
            value = 0;
        }
        if (narrow)
            ((int32_t *)(uintptr_t)to)[i] = (int32_t)value;
        else
            ((int64_t *)(uintptr_t)to)[i] = value;
    }
    return HUDI_OK;
}

hudi_status hd_cast_to_bool(const struct hd_cast_leaf *leaf, struct ArrowArray *out)
{
    const struct hd_view *from = leaf->from;
    uint8_t *to;

    HD_TRY(hd_cast_begin(leaf, 2, out));
    HD_TRY(hd_buffer_new(leaf->op, ((uint64_t)from->length + 7) / 8, &to));
    hd_array_set_buffer(out, 1, to);
    for (int64_t i = 0; i < from->length; i++) {
        bool value = false;
        if (!hd_view_is_null(from, i) && !hd_parse_bool(hd_view_bytes(from, i), &value))
            HD_TRY(hd_cast_misfit(leaf, i));
        to[i >> 3] = (uint8_t)(to[i >> 3] | (unsigned)value << (i & 7));
    }
    return HUDI_OK;
}

/* ---- floating point -------------------------------------------------------------------------- */

bool hd_cast_value_to_double(const struct hd_view *v, int64_t row, double *out)
{
    switch (v->type.id) {
    case HD_TYPE_STRING:
        return hd_parse_double(hd_view_bytes(v, row), out);
    case HD_TYPE_DECIMAL:
        *out = hd_decimal_to_double(hd_decimal_load(hd_view_bytes(v, row).data), v->type.scale);
        return true;
    case HD_TYPE_FLOAT:
        *out = (double)hd_view_float(v, row);
        return true;
    case HD_TYPE_DOUBLE:
        *out = hd_view_double(v, row);
        return true;
    default:
        *out = (double)hd_view_integer(v, row);
        return true;
    }
}

bool hd_cast_value_to_float(const struct hd_view *v, int64_t row, float *out)
{
    double wide;

    if (v->type.id == HD_TYPE_STRING)
        return hd_parse_float(hd_view_bytes(v, row), out);
    if (v->type.id == HD_TYPE_INT32 || v->type.id == HD_TYPE_INT64) {
        *out = (float)hd_view_integer(v, row); /* one rounding, not two */
        return true;
    }
    if (!hd_cast_value_to_double(v, row, &wide))
        return false;
    *out = (float)wide;
    return isfinite(*out) || !isfinite(wide);
}

/* A caller's own whole number stays what it is; of stored ones that are read as a wider type Avro
 * takes the nearest. */
static bool keeps_integer(const struct hd_cast_leaf *leaf, int64_t row, double real)
{
    const enum hd_type_id from = leaf->from->type.id;

    return leaf->rule != HD_CAST_INPUT || (from != HD_TYPE_INT32 && from != HD_TYPE_INT64) ||
           hd_double_is(real, hd_view_integer(leaf->from, row));
}

/* Source: HoodieAvroUtils.rewritePrimaryType; Spark's reader casts through a string (Hudi 0.15.0).
 */
static void widen_floats(const struct hd_view *from, double *to)
{
    for (int64_t i = 0; i < from->length; i++)
        to[i] = hd_view_is_null(from, i) ? 0 : hd_java_float_to_double(hd_view_float(from, i));
}

hudi_status hd_cast_to_floating(const struct hd_cast_leaf *leaf, struct ArrowArray *out)
{
    const struct hd_view *from = leaf->from;
    const bool narrow = leaf->to.id == HD_TYPE_FLOAT;
    uint8_t *to;

    HD_TRY(hd_cast_begin(leaf, 2, out));
    HD_TRY(hd_cast_values(leaf, (uint64_t)from->length * (narrow ? 4 : 8), out, &to));
    if (from->type.id == HD_TYPE_FLOAT && !narrow && leaf->rule >= HD_CAST_READ) {
        widen_floats(from, (double *)(uintptr_t)to);
        return HUDI_OK;
    }
    for (int64_t i = 0; i < from->length; i++) {
        const bool null = hd_view_is_null(from, i);
        float small = 0;
        double value = 0;
        if (!null && !((narrow ? hd_cast_value_to_float(from, i, &small)
                               : hd_cast_value_to_double(from, i, &value)) &&
                       keeps_integer(leaf, i, narrow ? small : value)))
            HD_TRY(hd_cast_misfit(leaf, i));
        if (narrow)
            ((float *)(uintptr_t)to)[i] = small;
        else
            ((double *)(uintptr_t)to)[i] = value;
    }
    return HUDI_OK;
}

/* ---- decimals -------------------------------------------------------------------------------- */

/* Source: HoodieAvroUtils rewrites numbers to decimals by way of their text, HALF_UP (0.15.0). A
 * caller's own text or decimal has to fit as it is. */
bool hd_cast_value_to_decimal(const struct hd_cast_leaf *leaf, int64_t row, hd_int128 *out)
{
    const struct hd_view *v = leaf->from;
    const enum hd_rounding rounding =
        leaf->rule == HD_CAST_INPUT ? HD_ROUND_EXACT : HD_ROUND_HALF_UP;
    char scratch[HD_JAVA_TEXT_BYTES];

    switch (v->type.id) {
    case HD_TYPE_STRING:
        return hd_parse_decimal(hd_view_bytes(v, row), leaf->to.precision, leaf->to.scale, rounding,
                                out);
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
        return hd_parse_decimal(hd_java_text(v, row, false, scratch), leaf->to.precision,
                                leaf->to.scale, HD_ROUND_HALF_UP, out);
    case HD_TYPE_DECIMAL:
        return hd_decimal_rescale(hd_decimal_load(hd_view_bytes(v, row).data), v->type.scale,
                                  leaf->to.scale, leaf->to.precision, rounding, out);
    default:
        return hd_decimal_rescale(hd_view_integer(v, row), 0, leaf->to.scale, leaf->to.precision,
                                  rounding, out);
    }
}

hudi_status hd_cast_to_decimal(const struct hd_cast_leaf *leaf, struct ArrowArray *out)
{
    const struct hd_view *from = leaf->from;
    uint8_t *to;

    HD_TRY(hd_cast_begin(leaf, 2, out));
    HD_TRY(hd_cast_values(leaf, (uint64_t)from->length * 16, out, &to));
    for (int64_t i = 0; i < from->length; i++) {
        hd_int128 value = 0;
        if (!hd_view_is_null(from, i) && !hd_cast_value_to_decimal(leaf, i, &value)) {
            HD_TRY(hd_cast_misfit(leaf, i));
            value = 0;
        }
        hd_decimal_store(to + i * 16, value);
    }
    return HUDI_OK;
}
