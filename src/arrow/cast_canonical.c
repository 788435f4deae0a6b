/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/bits.h"
#include "arrow/cast_internal.h"
#include "arrow/decimal.h"
#include "arrow/schema.h"
#include "arrow/text.h"

/* ---- schema ---------------------------------------------------------------------------------- */

static hudi_status refuse(struct hd_op *op, const struct hd_cast_path *path,
                          const struct ArrowSchema *field)
{
    struct hd_str text = {0};
    hudi_status status = hd_type_describe(op, field, &text);

    if (status == HUDI_OK)
        status =
            hd_cast_fail(op, path, HUDI_NOT_IMPLEMENTED, "is of the type %s", hd_str_text(&text));
    hd_str_clear(&text);
    return status;
}

/* The canonical type of a field without children; false: there is none. */
static bool canonical_leaf(const char *format, struct hd_type *type)
{
    static const struct {
        const char *format;
        struct hd_type type;
    } MAP[] = {
        {"c", {.id = HD_TYPE_INT32}},  {"C", {.id = HD_TYPE_INT32}},
        {"s", {.id = HD_TYPE_INT32}},  {"S", {.id = HD_TYPE_INT32}},
        {"I", {.id = HD_TYPE_INT64}},  {"e", {.id = HD_TYPE_FLOAT}},
        {"U", {.id = HD_TYPE_STRING}}, {"vu", {.id = HD_TYPE_STRING}},
        {"Z", {.id = HD_TYPE_BINARY}}, {"vz", {.id = HD_TYPE_BINARY}},
        {"tdm", {.id = HD_TYPE_DATE}}, {"tts", {.id = HD_TYPE_TIME, .unit = HD_UNIT_MILLI}},
    };

    if (type->id != HD_TYPE_OTHER)
        return true;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(MAP); i++) {
        if (strcmp(MAP[i].format, format) == 0) {
            *type = MAP[i].type;
            return true;
        }
    }
    if (strncmp(format, "tss:", 4) == 0) {
        type->id = HD_TYPE_TIMESTAMP;
        type->unit = HD_UNIT_MILLI;
        return true;
    }
    if (format[0] == 'd' && type->precision <= HD_DECIMAL_MAX_DIGITS && type->scale >= 0 &&
        type->scale <= type->precision) {
        type->id = HD_TYPE_DECIMAL;
        return true;
    }
    return false;
}

static bool is_list_format(const char *format)
{
    return strcmp(format, "+l") == 0 || strcmp(format, "+L") == 0 || strcmp(format, "+vl") == 0 ||
           strcmp(format, "+vL") == 0 || strncmp(format, "+w:", 3) == 0;
}

static hudi_status canonical(struct hd_op *op, const struct hd_cast_path *up,
                             const struct ArrowSchema *field, const char *name, int64_t flags,
                             int depth, struct ArrowSchema *out);

static hudi_status canonical_nested(struct hd_op *op, const struct hd_cast_path *path,
                                    const struct ArrowSchema *field, const char *name,
                                    bool nullable, int depth, struct ArrowSchema *out)
{
    hudi_status status = HUDI_OK;

    if (is_list_format(field->format)) {
        HD_TRY(hd_schema_init_list(op, out, name, nullable));
    } else if (strcmp(field->format, "+m") == 0) {
        HD_TRY(hd_schema_init_map(op, out, name, nullable));
        const struct ArrowSchema *entries = field->children[0];
        for (int64_t i = 0; i < 2; i++) {
            const struct ArrowSchema *child = entries->children[i];
            hd_schema_clear(out->children[0]->children[i]);
            HD_TRY_OUT(canonical(op, path, child, child->name, child->flags, depth + 2,
                                 out->children[0]->children[i]));
        }
        return HUDI_OK;
    } else if (strcmp(field->format, "+s") == 0) {
        HD_TRY(hd_schema_init_struct(op, out, name, nullable, field->n_children));
    } else {
        return refuse(op, path, field);
    }
    for (int64_t i = 0; i < field->n_children; i++) {
        const struct ArrowSchema *child = field->children[i];
        HD_TRY_OUT(
            canonical(op, path, child, child->name, child->flags, depth + 1, out->children[i]));
    }
    return HUDI_OK;
out:
    hd_schema_clear(out);
    return status;
}

/* `name` and `flags` are the field's, or those of the dictionary-encoded field around its values.
 */
static hudi_status canonical(struct hd_op *op, const struct hd_cast_path *up,
                             const struct ArrowSchema *field, const char *name, int64_t flags,
                             int depth, struct ArrowSchema *out)
{
    const bool nullable = (flags & ARROW_FLAG_NULLABLE) != 0;
    const struct hd_cast_path path = {up, name};
    struct hd_type type;

    *out = (struct ArrowSchema){0};
    if (depth > HD_TYPE_MAX_DEPTH)
        return hd_fail(op, HUDI_INVALID, "types nest more than %d deep", HD_TYPE_MAX_DEPTH);
    HD_TRY(hd_type_of(op, field, &type));
    if (field->dictionary != NULL)
        return canonical(op, up, field->dictionary, name, flags, depth + 1, out);
    if (field->format[0] == '+')
        return canonical_nested(op, &path, field, name, nullable, depth, out);
    if (!canonical_leaf(field->format, &type))
        return refuse(op, &path, field);
    struct ArrowSchema plain;
    HD_TRY(hd_schema_init_field(op, &plain, name, &type, nullable));
    plain.metadata = field->metadata;
    const hudi_status status = hd_schema_copy(op, &plain, out);
    plain.metadata = NULL;
    hd_schema_clear(&plain);
    return status;
}

hudi_status hd_canonical_schema(struct hd_op *op, const struct ArrowSchema *field,
                                struct ArrowSchema *out)
{
    return canonical(op, NULL, field, field->name, field->flags, 0, out);
}

/* ---- arrays without children ----------------------------------------------------------------- */

/* A raw column: the buffers that its layout asks for, checked to be there. */
struct raw {
    struct hd_op *op;
    const struct hd_cast_path *path;
    const struct ArrowArray *array;
    const uint8_t *values;
    int64_t n, offset;
    const struct hd_cast_sink *sink;
};

hudi_status hd_cast_validity(struct hd_op *op, const uint8_t *validity, int64_t offset,
                             int64_t length, struct ArrowArray *out)
{
    struct hd_bit_writer w = {0};

    out->length = length;
    out->null_count = 0;
    if (validity == NULL)
        return HUDI_OK;
    const int64_t n_valid = hd_bits_count(validity, offset, length);
    if (n_valid == length)
        return HUDI_OK;
    HD_TRY(hd_buffer_new(op, ((uint64_t)length + 7) / 8, &w.next));
    hd_array_set_buffer(out, 0, w.next);
    hd_bits_copy(&w, validity, (uint64_t)offset, (uint64_t)length, (uint64_t)(offset + length));
    hd_bits_flush(&w);
    out->null_count = length - n_valid;
    return HUDI_OK;
}

static bool raw_is_null(const struct raw *r, int64_t row)
{
    const uint8_t *validity = r->array->buffers[0];

    return validity != NULL && !hd_bit(validity, r->offset + row);
}

/* Small integers, halves, seconds, milliseconds of days: read as int64. */
static int64_t raw_integer(const struct raw *r, const char *format, int64_t row)
{
    const int64_t i = r->offset + row;

    switch (format[0]) {
    case 'c':
        return ((const int8_t *)r->values)[i];
    case 'C':
        return r->values[i];
    case 's':
        return ((const int16_t *)r->values)[i];
    case 'S':
        return ((const uint16_t *)r->values)[i];
    case 'I':
        return ((const uint32_t *)r->values)[i];
    default: /* dates and timestamps */
        return format[1] == 't' ? ((const int32_t *)r->values)[i] : ((const int64_t *)r->values)[i];
    }
}

static float half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 0x1f;
    uint32_t fraction = half & 0x3ff, bits;
    float out;

    if (exponent == 0x1f) {
        bits = sign | 0x7f800000 | fraction << 13;
    } else if (exponent != 0) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else {
        out = (float)fraction * 0x1p-24f;
        return sign != 0 ? -out : out;
    }
    memcpy(&out, &bits, sizeof out);
    return out;
}

static hudi_status halves(const struct raw *r, struct ArrowArray *out)
{
    float *to;

    HD_TRY(hd_buffer_new_raw(r->op, (uint64_t)r->n * sizeof *to, &to));
    hd_array_set_buffer(out, 1, to);
    const uint16_t *from = (const uint16_t *)r->values + r->offset;
    for (int64_t i = 0; i < r->n; i++)
        to[i] = half_to_float(from[i]);
    return HUDI_OK;
}

/* Seconds to milliseconds, milliseconds to days, or the number itself; false: does not fit. */
static bool raw_scaled(const struct raw *r, const char *format, int64_t row, int64_t *out)
{
    const int64_t value = raw_integer(r, format, row);

    *out = value;
    if (format[0] != 't')
        return true;
    if (format[1] == 'd') {
        *out = hd_floor_div(value, 86400000);
        return *out >= INT32_MIN && *out <= INT32_MAX;
    }
    return !__builtin_mul_overflow(value, 1000, out) &&
           (format[1] == 's' || (*out >= INT32_MIN && *out <= INT32_MAX));
}

static hudi_status integers(const struct raw *r, const char *format, bool wide,
                            struct ArrowArray *out)
{
    uint8_t *to;

    HD_TRY(hd_buffer_new(r->op, (uint64_t)r->n * (wide ? 8 : 4), &to));
    hd_array_set_buffer(out, 1, to);
    for (int64_t i = 0; i < r->n; i++) {
        int64_t value;
        if (!raw_scaled(r, format, i, &value)) {
            if (raw_is_null(r, i))
                continue;
            HD_TRY(hd_cast_row_fails(r->op, r->path, r->sink, i, "%lld is out of range",
                                     (long long)raw_integer(r, format, i)));
            continue;
        }
        if (wide)
            ((int64_t *)(uintptr_t)to)[i] = value;
        else
            ((int32_t *)(uintptr_t)to)[i] = (int32_t)value;
    }
    return HUDI_OK;
}

/* 32, 64, 128 (not canonical only by its scale, which was refused) or 256 bits. */
static hudi_status decimals(const struct raw *r, int32_t bits, int32_t precision,
                            struct ArrowArray *out)
{
    uint8_t *to;

    HD_TRY(hd_buffer_new(r->op, (uint64_t)r->n * 16, &to));
    hd_array_set_buffer(out, 1, to);
    for (int64_t i = 0; i < r->n; i++) {
        const uint8_t *from = r->values + (r->offset + i) * (bits / 8);
        hd_int128 value = 0, high = 0;
        if (raw_is_null(r, i))
            continue;
        if (bits == 32) {
            int32_t small;
            memcpy(&small, from, sizeof small);
            value = small;
        } else if (bits == 64) {
            int64_t small;
            memcpy(&small, from, sizeof small);
            value = small;
        } else {
            value = hd_decimal_load(from);
            high = bits == 256 ? hd_decimal_load(from + 16) : value < 0 ? -1 : 0;
        }
        if ((bits > 64 && high != (value < 0 ? -1 : 0)) || !hd_decimal_fits(value, precision)) {
            HD_TRY(hd_cast_row_fails(r->op, r->path, r->sink, i, "has more than %d digits",
                                     (int)precision));
            continue;
        }
        hd_decimal_store(to + i * 16, value);
    }
    return HUDI_OK;
}

static hudi_status too_long(const struct raw *r)
{
    return hd_cast_fail(r->op, r->path, HUDI_INVALID, "%lld rows hold more than 2 GiB",
                        (long long)r->n);
}

static hudi_status large_strings(const struct raw *r, struct ArrowArray *out)
{
    static const int64_t NONE[2];
    const int64_t *from = r->n == 0 ? NONE : (const int64_t *)r->values + r->offset;
    const int64_t first = from[0], n_bytes = from[r->n] - first;
    int32_t *offsets;
    uint8_t *data;

    if (first < 0 || n_bytes < 0 || (n_bytes > 0 && r->array->buffers[2] == NULL))
        return hd_cast_fail(r->op, r->path, HUDI_INVALID, "has offsets that fall");
    if (n_bytes > INT32_MAX)
        return too_long(r);
    HD_TRY(hd_buffer_new_raw(r->op, ((uint64_t)r->n + 1) * sizeof *offsets, &offsets));
    hd_array_set_buffer(out, 1, offsets);
    HD_TRY(hd_buffer_new_raw(r->op, (uint64_t)n_bytes, &data));
    hd_array_set_buffer(out, 2, data);
    for (int64_t i = 0; i <= r->n; i++) {
        if (i > 0 && from[i] < from[i - 1])
            return hd_cast_fail(r->op, r->path, HUDI_INVALID, "has offsets that fall");
        offsets[i] = (int32_t)(from[i] - first);
    }
    if (n_bytes > 0)
        memcpy(data, (const uint8_t *)r->array->buffers[2] + first, (size_t)n_bytes);
    return HUDI_OK;
}

/* A 16-byte view: i32 size | up to 12 bytes in place, or 4 bytes prefix | i32 buffer | i32 offset.
 * Buffers: validity | views | data... | i64 sizes of the data buffers. */
static bool view_bytes(const struct raw *r, int64_t row, struct hd_slice *out)
{
    const int64_t n_data = r->array->n_buffers - 3;
    const int64_t *sizes = r->array->buffers[r->array->n_buffers - 1];
    const uint8_t *view = r->values + (r->offset + row) * 16;
    int32_t size, buffer, offset;

    memcpy(&size, view, sizeof size);
    if (size < 0 || raw_is_null(r, row)) {
        *out = (struct hd_slice){0};
        return raw_is_null(r, row);
    }
    *out = hd_slice_of(view + 4, (size_t)size);
    if (size <= 12)
        return true;
    memcpy(&buffer, view + 8, sizeof buffer);
    memcpy(&offset, view + 12, sizeof offset);
    if (buffer < 0 || buffer >= n_data || offset < 0 || sizes == NULL ||
        (int64_t)offset + size > sizes[buffer] || r->array->buffers[2 + buffer] == NULL)
        return false;
    out->data = (const uint8_t *)r->array->buffers[2 + buffer] + offset;
    return true;
}

static hudi_status view_strings(const struct raw *r, struct ArrowArray *out)
{
    int32_t *offsets;
    uint8_t *data;
    struct hd_slice bytes;
    int64_t n_bytes = 0;

    HD_TRY(hd_buffer_new(r->op, ((uint64_t)r->n + 1) * sizeof *offsets, &offsets));
    hd_array_set_buffer(out, 1, offsets);
    for (int64_t i = 0; i < r->n; i++) {
        if (!view_bytes(r, i, &bytes))
            return hd_cast_fail(r->op, r->path, HUDI_INVALID, "row %lld is outside its buffers",
                                (long long)i);
        n_bytes += (int64_t)bytes.size;
        if (n_bytes > INT32_MAX)
            return too_long(r);
        offsets[i + 1] = (int32_t)n_bytes;
    }
    HD_TRY(hd_buffer_new_raw(r->op, (uint64_t)n_bytes, &data));
    hd_array_set_buffer(out, 2, data);
    for (int64_t i = 0; i < r->n; i++) {
        if (view_bytes(r, i, &bytes) && bytes.size > 0)
            memcpy(data + offsets[i], bytes.data, bytes.size);
    }
    return HUDI_OK;
}

static int32_t decimal_bits(const char *format)
{
    const char *comma = strrchr(format, ',');

    if (strchr(format, ',') == comma)
        return 128;
    return strcmp(comma, ",32") == 0 ? 32 : strcmp(comma, ",64") == 0 ? 64 : 256;
}

static hudi_status check_raw(const struct raw *r, const char *format)
{
    const struct ArrowArray *a = r->array;
    const bool views = format[0] == 'v', large = format[0] == 'U' || format[0] == 'Z';

    if (a->length < 0 || a->offset < 0 || a->length > INT64_MAX / 64 || a->offset > INT64_MAX / 64)
        return hd_cast_fail(r->op, r->path, HUDI_INVALID, "has %lld rows from %lld on",
                            (long long)a->length, (long long)a->offset);
    if ((views ? a->n_buffers < 3 : a->n_buffers != (large ? 3 : 2)) || a->buffers == NULL)
        return hd_cast_fail(r->op, r->path, HUDI_INVALID, "has %lld buffers",
                            (long long)a->n_buffers);
    if (a->length > 0 && a->buffers[1] == NULL)
        return hd_cast_fail(r->op, r->path, HUDI_INVALID, "has no values buffer");
    return HUDI_OK;
}

static hudi_status fill_layout(const struct raw *r, const char *format, const struct hd_type *type,
                               struct ArrowArray *out)
{
    HD_TRY(hd_array_new(r->op, hd_type_n_buffers(type), 0, false, out));
    HD_TRY(hd_cast_validity(r->op, r->array->null_count == 0 ? NULL : r->array->buffers[0],
                            r->offset, r->n, out));
    switch (format[0]) {
    case 'e':
        return halves(r, out);
    case 'U':
    case 'Z':
        return large_strings(r, out);
    case 'v':
        return view_strings(r, out);
    case 'd':
        return decimals(r, decimal_bits(format), type->precision, out);
    default:
        return integers(r, format, type->id == HD_TYPE_INT64 || type->id == HD_TYPE_TIMESTAMP, out);
    }
}

hudi_status hd_cast_leaf_layout(struct hd_op *op, const struct hd_cast_path *path,
                                const struct ArrowSchema *from, const struct ArrowArray *array,
                                const struct hd_cast_sink *sink, struct ArrowArray *out)
{
    const struct raw r = {op, path, array, NULL, array->length, array->offset, sink};
    struct hd_type type;

    *out = (struct ArrowArray){0};
    HD_TRY(hd_type_of(op, from, &type));
    if (!canonical_leaf(from->format, &type))
        return refuse(op, path, from);
    HD_TRY(check_raw(&r, from->format));
    struct raw open = r;
    open.values = array->buffers[1];
    const hudi_status status = fill_layout(&open, from->format, &type, out);
    if (status != HUDI_OK)
        hd_array_clear(out);
    return status;
}
