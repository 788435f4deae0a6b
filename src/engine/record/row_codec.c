/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/row_codec.h"

#include <inttypes.h>
#include <string.h>

#include "arrow/decimal.h"

/* Types nest HD_TYPE_MAX_DEPTH deep at most, which bounds the recursion on both ways: neither a
 * view nor a builder can be made for a deeper schema. */

#define MAX_VARINT_BYTES 10

/* ---- encode ------------------------------------------------------------------------------- */

static inline hudi_status make_room(struct hd_op *op, struct hd_str *out, size_t n)
{
    return out->capacity - out->size > n ? HUDI_OK : hd_str_reserve(op, out, n);
}

/* After make_room(). */
static inline void add_varint(struct hd_str *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        out->data[out->size++] = (char)(value | 0x80);
    out->data[out->size++] = (char)value;
}

static inline void store_le(char *to, uint64_t value, unsigned n_bytes)
{
    for (unsigned i = 0; i < n_bytes; i++)
        to[i] = (char)(value >> 8 * i);
}

static hudi_status encode_value(struct hd_op *op, const struct hd_view *v, int64_t row,
                                struct hd_str *out);

static hudi_status encode_bytes(struct hd_op *op, struct hd_slice bytes, bool with_length,
                                struct hd_str *out)
{
    HD_TRY(make_room(op, out, bytes.size + MAX_VARINT_BYTES));
    if (with_length)
        add_varint(out, bytes.size);
    if (bytes.size > 0)
        memcpy(out->data + out->size, bytes.data, bytes.size);
    out->size += bytes.size;
    return HUDI_OK;
}

static hudi_status encode_bits(struct hd_op *op, uint64_t bits, unsigned n_bytes,
                               struct hd_str *out)
{
    HD_TRY(make_room(op, out, 8));
    store_le(out->data + out->size, bits, n_bytes);
    out->size += n_bytes;
    return HUDI_OK;
}

static hudi_status encode_float(struct hd_op *op, const struct hd_view *v, int64_t row,
                                struct hd_str *out)
{
    uint64_t bits = 0;

    if (v->type.id == HD_TYPE_FLOAT) {
        const float value = hd_view_float(v, row);
        uint32_t half;
        memcpy(&half, &value, sizeof half);
        return encode_bits(op, half, 4, out);
    }
    const double value = hd_view_double(v, row);
    memcpy(&bits, &value, sizeof bits);
    return encode_bits(op, bits, 8, out);
}

/* A zeroed bitmap of `n` bits; `*at` is where in `out` it starts. */
static hudi_status add_bitmap(struct hd_op *op, uint64_t n, struct hd_str *out, size_t *at)
{
    const size_t n_bytes = (size_t)(n + 7) / 8;

    HD_TRY(make_room(op, out, n_bytes));
    *at = out->size;
    memset(out->data + out->size, 0, n_bytes);
    out->size += n_bytes;
    return HUDI_OK;
}

static inline void set_bit(struct hd_str *out, size_t bitmap, int64_t i)
{
    out->data[bitmap + (size_t)i / 8] |= (char)(1 << (i & 7));
}

static hudi_status encode_columns(struct hd_op *op, const struct hd_view *columns, int64_t n,
                                  int64_t row, struct hd_str *out)
{
    size_t bitmap;

    HD_TRY(add_bitmap(op, (uint64_t)n, out, &bitmap));
    for (int64_t i = 0; i < n; i++) {
        if (hd_view_is_null(&columns[i], row))
            continue;
        set_bit(out, bitmap, i);
        HD_TRY(encode_value(op, &columns[i], row, out));
    }
    return HUDI_OK;
}

static hudi_status encode_list(struct hd_op *op, const struct hd_view *v, int64_t row,
                               struct hd_str *out)
{
    const bool is_map = v->type.id == HD_TYPE_MAP;
    const struct hd_view *const keys = is_map ? &v->children[0].children[0] : NULL;
    const struct hd_view *const items = is_map ? &v->children[0].children[1] : &v->children[0];
    int64_t n;
    const int64_t first = hd_view_list(v, row, &n);
    size_t bitmap;

    HD_TRY(make_room(op, out, MAX_VARINT_BYTES));
    add_varint(out, (uint64_t)n);
    HD_TRY(add_bitmap(op, (uint64_t)n, out, &bitmap));
    for (int64_t i = 0; i < n; i++) {
        if (is_map && hd_view_is_null(keys, first + i))
            return hd_fail(op, HUDI_INVALID, "a key of map \"%s\" is null",
                           v->name == NULL ? "" : v->name);
        if (is_map)
            HD_TRY(encode_value(op, keys, first + i, out));
        if (hd_view_is_null(items, first + i))
            continue;
        set_bit(out, bitmap, i);
        HD_TRY(encode_value(op, items, first + i, out));
    }
    return HUDI_OK;
}

/* A value that is not null. */
static hudi_status encode_value(struct hd_op *op, const struct hd_view *v, int64_t row,
                                struct hd_str *out)
{
    switch (v->type.id) {
    case HD_TYPE_NULL:
    case HD_TYPE_OTHER:
        break;
    case HD_TYPE_BOOL:
        return encode_bits(op, hd_view_bool(v, row), 1, out);
    case HD_TYPE_INT32:
    case HD_TYPE_DATE:
        return encode_bits(op, (uint32_t)hd_view_i32(v, row), 4, out);
    case HD_TYPE_TIME:
        return encode_bits(op, (uint64_t)hd_view_integer(v, row),
                           v->type.unit <= HD_UNIT_MILLI ? 4 : 8, out);
    case HD_TYPE_INT64:
    case HD_TYPE_TIMESTAMP:
        return encode_bits(op, (uint64_t)hd_view_i64(v, row), 8, out);
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
        return encode_float(op, v, row, out);
    case HD_TYPE_STRING:
    case HD_TYPE_BINARY:
    case HD_TYPE_DICTIONARY:
        return encode_bytes(op, hd_view_bytes(v, row), true, out);
    case HD_TYPE_FIXED_BINARY:
    case HD_TYPE_DECIMAL:
        return encode_bytes(op, hd_view_bytes(v, row), false, out);
    case HD_TYPE_LIST:
    case HD_TYPE_MAP:
        return encode_list(op, v, row, out);
    case HD_TYPE_STRUCT:
        return encode_columns(op, v->children, v->n_children, row, out);
    }
    return HUDI_OK;
}

hudi_status hd_row_encode(struct hd_op *op, const struct hd_view *columns, int64_t n, int64_t row,
                          struct hd_str *out)
{
    const size_t before = out->size;
    const hudi_status status = encode_columns(op, columns, n, row, out);

    if (status != HUDI_OK)
        out->size = before;
    if (out->data != NULL)
        out->data[out->size] = '\0';
    return status;
}

/* ---- decode ------------------------------------------------------------------------------- */

static hudi_status decode_value(struct hd_op *op, const struct ArrowSchema *field,
                                struct hd_cursor *in, hd_builder *b);

static hudi_status decode_integer(struct hd_op *op, struct hd_cursor *in, unsigned n_bytes,
                                  hd_builder *b)
{
    uint64_t wide;
    uint32_t narrow;

    if (n_bytes == 8) {
        HD_TRY(hd_cursor_u64le(op, in, &wide));
        return hd_builder_append_integer(op, b, (int64_t)wide);
    }
    HD_TRY(hd_cursor_u32le(op, in, &narrow));
    return hd_builder_append_integer(op, b, (int32_t)narrow);
}

static hudi_status decode_bool(struct hd_op *op, struct hd_cursor *in, hd_builder *b)
{
    const uint64_t offset = hd_cursor_offset(in);
    uint8_t value;

    HD_TRY(hd_cursor_u8(op, in, &value));
    if (value > 1)
        return hd_fail(op, HUDI_CORRUPT, "a bool of %u at byte %" PRIu64, value, offset);
    return hd_builder_append_integer(op, b, value);
}

static hudi_status decode_float(struct hd_op *op, struct hd_cursor *in, hd_builder *b)
{
    uint32_t narrow;
    uint64_t wide;
    float f;
    double d;

    if (hd_builder_type(b)->id == HD_TYPE_FLOAT) {
        HD_TRY(hd_cursor_u32le(op, in, &narrow));
        memcpy(&f, &narrow, sizeof f);
        return hd_builder_append_double(op, b, f);
    }
    HD_TRY(hd_cursor_u64le(op, in, &wide));
    memcpy(&d, &wide, sizeof d);
    return hd_builder_append_double(op, b, d);
}

static hudi_status decode_string(struct hd_op *op, struct hd_cursor *in, hd_builder *b)
{
    uint64_t n;
    struct hd_slice bytes;

    HD_TRY(hd_cursor_varint(op, in, &n));
    HD_TRY(hd_cursor_take(op, in, n, &bytes));
    return hd_builder_append_bytes(op, b, bytes);
}

static hudi_status decode_decimal(struct hd_op *op, struct hd_cursor *in, hd_builder *b)
{
    struct hd_slice bytes;

    HD_TRY(hd_cursor_take(op, in, 16, &bytes));
    return hd_builder_append_decimal(op, b, hd_decimal_load(bytes.data));
}

static hudi_status take_bitmap(struct hd_op *op, struct hd_cursor *in, uint64_t n,
                               struct hd_slice *out)
{
    if (n / 8 > hd_cursor_left(in))
        return hd_fail(op, HUDI_CORRUPT,
                       "%" PRIu64 " values at byte %" PRIu64 ", where %zu bytes are left", n,
                       hd_cursor_offset(in), hd_cursor_left(in));
    HD_TRY(hd_cursor_take(op, in, (n + 7) / 8, out));
    if (n % 8 != 0 && out->data[n / 8] >> n % 8 != 0)
        return hd_fail(op, HUDI_CORRUPT, "a bitmap of %" PRIu64 " before byte %" PRIu64 " has more",
                       n, hd_cursor_offset(in));
    return HUDI_OK;
}

static hudi_status decode_columns(struct hd_op *op, const struct ArrowSchema *parent,
                                  struct hd_cursor *in, hd_builder *b)
{
    struct hd_slice bitmap;

    HD_TRY(take_bitmap(op, in, (uint64_t)parent->n_children, &bitmap));
    for (int64_t i = 0; i < parent->n_children; i++) {
        hd_builder *const child = hd_builder_child(b, i);

        if (hd_bit(bitmap.data, i))
            HD_TRY(decode_value(op, parent->children[i], in, child));
        else
            HD_TRY(hd_builder_append_null(op, child));
    }
    return hd_builder_append_valid(op, b);
}

static hudi_status decode_list(struct hd_op *op, const struct ArrowSchema *field,
                               struct hd_cursor *in, hd_builder *b)
{
    const bool is_map = hd_builder_type(b)->id == HD_TYPE_MAP;
    const struct ArrowSchema *const parent = is_map ? field->children[0] : field;
    const int64_t at = is_map ? 1 : 0; /* of the items among the children */
    hd_builder *const items = hd_builder_child(b, at);
    uint64_t n;
    struct hd_slice bitmap;

    HD_TRY(hd_cursor_varint(op, in, &n));
    HD_TRY(take_bitmap(op, in, n, &bitmap));
    for (uint64_t i = 0; i < n; i++) {
        if (is_map)
            HD_TRY(decode_value(op, parent->children[0], in, hd_builder_child(b, 0)));
        if (hd_bit(bitmap.data, (int64_t)i))
            HD_TRY(decode_value(op, parent->children[at], in, items));
        else
            HD_TRY(hd_builder_append_null(op, items));
    }
    return hd_builder_append_valid(op, b);
}

static hudi_status decode_value(struct hd_op *op, const struct ArrowSchema *field,
                                struct hd_cursor *in, hd_builder *b)
{
    const struct hd_type *const type = hd_builder_type(b);
    struct hd_slice bytes;

    switch (type->id) {
    case HD_TYPE_BOOL:
        return decode_bool(op, in, b);
    case HD_TYPE_INT32:
    case HD_TYPE_DATE:
        return decode_integer(op, in, 4, b);
    case HD_TYPE_TIME:
        return decode_integer(op, in, type->unit <= HD_UNIT_MILLI ? 4 : 8, b);
    case HD_TYPE_INT64:
    case HD_TYPE_TIMESTAMP:
        return decode_integer(op, in, 8, b);
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
        return decode_float(op, in, b);
    case HD_TYPE_STRING:
    case HD_TYPE_BINARY:
        return decode_string(op, in, b);
    case HD_TYPE_FIXED_BINARY:
        HD_TRY(hd_cursor_take(op, in, (uint64_t)type->byte_width, &bytes));
        return hd_builder_append_bytes(op, b, bytes);
    case HD_TYPE_DECIMAL:
        return decode_decimal(op, in, b);
    case HD_TYPE_LIST:
    case HD_TYPE_MAP:
        return decode_list(op, field, in, b);
    case HD_TYPE_STRUCT:
        return decode_columns(op, field, in, b);
    case HD_TYPE_NULL:
    case HD_TYPE_DICTIONARY:
    case HD_TYPE_OTHER:
        break;
    }
    return hd_fail(op, HUDI_CORRUPT, "a value of a type that has none, before byte %" PRIu64,
                   hd_cursor_offset(in));
}

hudi_status hd_row_decode(struct hd_op *op, const struct ArrowSchema *schema, struct hd_cursor *in,
                          hd_builder *builder)
{
    const int64_t before = hd_builder_length(builder);
    const hudi_status status = decode_columns(op, schema, in, builder);

    if (status != HUDI_OK)
        hd_builder_truncate(builder, before);
    return status;
}
