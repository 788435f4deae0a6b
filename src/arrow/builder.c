/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/builder.h"

#include <assert.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/bits.h"
#include "arrow/builder_internal.h"

#define FIRST_BYTES 256 /* of a buffer, when its first value comes */
/* A batch is mostly as large as the one before: so much is asked for at once. */
#define MAX_EXPECTED_BYTES (16u << 20)

static bool has_offsets(const hd_builder *b)
{
    return b->type.id == HD_TYPE_STRING || b->type.id == HD_TYPE_BINARY ||
           b->type.id == HD_TYPE_LIST || b->type.id == HD_TYPE_MAP;
}

static bool has_data(const hd_builder *b)
{
    return b->type.id == HD_TYPE_STRING || b->type.id == HD_TYPE_BINARY;
}

static hudi_status new_builder(struct hd_op *op, const struct ArrowSchema *field, int depth,
                               hd_builder **out)
{
    hd_builder *b;
    struct hd_type type;
    hudi_status status = HUDI_OK;

    *out = NULL;
    if (depth > HD_TYPE_MAX_DEPTH)
        return hd_fail(op, HUDI_INVALID, "types nest more than %d deep", HD_TYPE_MAX_DEPTH);
    HD_TRY(hd_type_of(op, field, &type));
    if (type.id == HD_TYPE_OTHER || type.id == HD_TYPE_DICTIONARY)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "field \"%s\" has a type that is not canonical",
                       field->name == NULL ? "" : field->name);
    HD_TRY(hd_alloc(op, sizeof *b, &b));
    b->type = type;
    b->width = hd_type_width(&type);
    b->nullable = (field->flags & ARROW_FLAG_NULLABLE) != 0;
    const struct ArrowSchema *parent = type.id == HD_TYPE_MAP ? field->children[0] : field;
    HD_TRY_OUT(hd_alloc_array(op, (size_t)parent->n_children, sizeof(void *), &b->children));
    b->n_children = parent->n_children;
    for (int64_t i = 0; i < b->n_children; i++)
        HD_TRY_OUT(new_builder(op, parent->children[i], depth + 1, &b->children[i]));
    *out = b;
    return HUDI_OK;
out:
    hd_builder_free(b);
    return status;
}

hudi_status hd_builder_new(struct hd_op *op, const struct ArrowSchema *field, hd_builder **out)
{
    return new_builder(op, field, 0, out);
}

void hd_builder_free(hd_builder *builder)
{
    if (builder == NULL)
        return;
    for (int64_t i = 0; i < builder->n_children; i++)
        hd_builder_free(builder->children[i]);
    hd_buffer_free(builder->validity);
    hd_buffer_free(builder->values);
    hd_buffer_free(builder->data);
    hd_free(NULL, builder->children);
    hd_free(NULL, builder);
}

const struct hd_type *hd_builder_type(const hd_builder *builder)
{
    return &builder->type;
}

hd_builder *hd_builder_child(hd_builder *builder, int64_t i)
{
    return builder->children[i];
}

int64_t hd_builder_length(const hd_builder *builder)
{
    return builder->length;
}

/* ---- room ------------------------------------------------------------------------------------ */

/* Room for `wanted` bytes of which `used` hold something; grows by half. */
static inline hudi_status make_room(struct hd_op *op, uint8_t **buffer, uint64_t used,
                                    uint64_t wanted)
{
    const uint64_t capacity = hd_buffer_capacity(*buffer);

    if (wanted <= capacity)
        return HUDI_OK;
    uint64_t grown = capacity + capacity / 2;
    grown = grown < FIRST_BYTES ? FIRST_BYTES : grown;
    return hd_buffer_grow(op, buffer, used, wanted > grown ? wanted : grown);
}

static uint64_t bit_bytes(int64_t n)
{
    return ((uint64_t)n + 7) / 8;
}

/* Room in the values for one row more. */
static inline hudi_status room_for_value(struct hd_op *op, hd_builder *b)
{
    const uint64_t n = (uint64_t)b->length;

    if (b->type.id == HD_TYPE_BOOL)
        return make_room(op, &b->values, bit_bytes(b->length), n / 8 + 1);
    if (has_offsets(b))
        return make_room(op, &b->values, b->values == NULL ? 0 : (n + 1) * 4, (n + 2) * 4);
    return make_room(op, &b->values, n * b->width, (n + 1) * b->width);
}

static inline hudi_status room_for_validity(struct hd_op *op, hd_builder *b)
{
    return b->validity == NULL
               ? HUDI_OK
               : make_room(op, &b->validity, bit_bytes(b->length), (uint64_t)b->length / 8 + 1);
}

/* The first null: all rows so far are valid. */
static hudi_status begin_validity(struct hd_op *op, hd_builder *b)
{
    if (b->validity != NULL)
        return room_for_validity(op, b);
    const int64_t n_rows = b->length > b->reserved_rows ? b->length : b->reserved_rows;
    HD_TRY(make_room(op, &b->validity, 0, (uint64_t)n_rows / 8 + 1));
    assert(b->validity != NULL);
    struct hd_bit_writer w = {.next = b->validity};
    hd_bits_fill(&w, true, (uint64_t)b->length);
    hd_bits_flush(&w);
    return HUDI_OK;
}

hudi_status hd_builder_grow_data(struct hd_op *op, hd_builder *builder, uint64_t n_bytes)
{
    if (n_bytes > INT32_MAX - builder->data_bytes)
        return hd_fail(op, HUDI_INVALID, "%llu bytes and %llu more do not fit one array",
                       (unsigned long long)builder->data_bytes, (unsigned long long)n_bytes);
    uint64_t wanted = builder->data_bytes + n_bytes;
    if (builder->data == NULL && wanted < builder->expected_data_bytes)
        wanted = builder->expected_data_bytes;
    HD_TRY(make_room(op, &builder->data, builder->data_bytes, wanted));
    builder->data_capacity = hd_buffer_capacity(builder->data);
    if (builder->data_capacity > INT32_MAX)
        builder->data_capacity = INT32_MAX;
    return HUDI_OK;
}

hudi_status hd_builder_reserve(struct hd_op *op, hd_builder *builder, int64_t n)
{
    const uint64_t length = (uint64_t)builder->length, rows = length + (uint64_t)n;

    if (builder->type.id == HD_TYPE_BOOL)
        HD_TRY(make_room(op, &builder->values, bit_bytes(builder->length), rows / 8 + 1));
    else if (has_offsets(builder))
        HD_TRY(make_room(op, &builder->values, builder->values == NULL ? 0 : (length + 1) * 4,
                         (rows + 1) * 4));
    else if (builder->width > 0)
        HD_TRY(make_room(op, &builder->values, length * builder->width, rows * builder->width));
    if (builder->validity != NULL)
        HD_TRY(make_room(op, &builder->validity, bit_bytes(builder->length), rows / 8 + 1));
    if (builder->type.id == HD_TYPE_STRUCT) {
        for (int64_t i = 0; i < builder->n_children; i++)
            HD_TRY(hd_builder_reserve(op, builder->children[i], n));
    }
    builder->reserved_rows = (int64_t)rows;
    return HUDI_OK;
}

/* ---- append ---------------------------------------------------------------------------------- */

static int32_t *offsets_of(const hd_builder *b)
{
    return (int32_t *)(uintptr_t)b->values;
}

static int64_t last_offset(const hd_builder *b)
{
    return b->values == NULL ? 0 : offsets_of(b)[b->length];
}

/* What stands behind a null of the struct around it: a null, or where the type has none a value
 * that means nothing, since writers take a null there for a fault. */
static hudi_status append_behind_null(struct hd_op *op, hd_builder *b)
{
    if (b->nullable || b->type.id == HD_TYPE_NULL)
        return hd_builder_append_null(op, b);
    HD_TRY(room_for_validity(op, b));
    if (b->type.id == HD_TYPE_STRUCT) {
        for (int64_t i = 0; i < b->n_children; i++)
            HD_TRY(append_behind_null(op, b->children[i]));
    } else {
        HD_TRY(room_for_value(op, b));
        if (has_offsets(b))
            offsets_of(b)[b->length + 1] = (int32_t)last_offset(b);
        else if (b->width > 0)
            memset(b->values + (uint64_t)b->length * b->width, 0, b->width);
    }
    hd_builder_close_valid(b);
    return HUDI_OK;
}

hudi_status hd_builder_append_null(struct hd_op *op, hd_builder *builder)
{
    if (builder->type.id == HD_TYPE_NULL) {
        builder->length++;
        builder->null_count++;
        return HUDI_OK;
    }
    HD_TRY(begin_validity(op, builder));
    if (builder->type.id == HD_TYPE_STRUCT) {
        for (int64_t i = 0; i < builder->n_children; i++)
            HD_TRY(append_behind_null(op, builder->children[i]));
    } else {
        HD_TRY(room_for_value(op, builder));
        if (has_offsets(builder)) {
            const int64_t end = last_offset(builder);
            for (int64_t i = 0; i < builder->n_children; i++)
                hd_builder_truncate(builder->children[i], end);
            offsets_of(builder)[builder->length + 1] = (int32_t)end;
        } else if (builder->width > 0) {
            memset(builder->values + (uint64_t)builder->length * builder->width, 0, builder->width);
        }
    }
    builder->null_count++;
    builder->length++;
    return HUDI_OK;
}

hudi_status hd_builder_append_valid(struct hd_op *op, hd_builder *builder)
{
    HD_TRY(room_for_validity(op, builder));
    if (builder->type.id == HD_TYPE_STRUCT) {
        for (int64_t i = 0; i < builder->n_children; i++)
            assert(builder->children[i]->length == builder->length + 1);
    } else {
        assert(builder->type.id == HD_TYPE_LIST || builder->type.id == HD_TYPE_MAP);
        const int64_t end = builder->children[0]->length;
        assert(builder->type.id == HD_TYPE_LIST || builder->children[1]->length == end);
        if (end > INT32_MAX)
            return hd_fail(op, HUDI_INVALID, "lists of more than 2^31 items in one array");
        HD_TRY(room_for_value(op, builder));
        offsets_of(builder)[builder->length + 1] = (int32_t)end;
    }
    hd_builder_close_valid(builder);
    return HUDI_OK;
}

static hudi_status out_of_range(struct hd_op *op, int64_t value)
{
    return hd_fail(op, HUDI_INVALID, "%lld is out of the type's range", (long long)value);
}

hudi_status hd_builder_append_integer(struct hd_op *op, hd_builder *builder, int64_t value)
{
    HD_TRY(room_for_validity(op, builder));
    HD_TRY(room_for_value(op, builder));
    if (builder->type.id == HD_TYPE_BOOL) {
        if (value != 0 && value != 1)
            return out_of_range(op, value);
        uint8_t *byte = &builder->values[builder->length >> 3];
        const unsigned bit = 1u << (builder->length & 7);
        *byte = (uint8_t)(value != 0 ? *byte | bit : *byte & ~bit);
    } else if (builder->width == 4) {
        if (value < INT32_MIN || value > INT32_MAX)
            return out_of_range(op, value);
        ((int32_t *)(uintptr_t)builder->values)[builder->length] = (int32_t)value;
    } else {
        assert(builder->width == 8);
        ((int64_t *)(uintptr_t)builder->values)[builder->length] = value;
    }
    hd_builder_close_valid(builder);
    return HUDI_OK;
}

hudi_status hd_builder_append_double(struct hd_op *op, hd_builder *builder, double value)
{
    HD_TRY(room_for_validity(op, builder));
    HD_TRY(room_for_value(op, builder));
    if (builder->type.id == HD_TYPE_FLOAT) {
        ((float *)(uintptr_t)builder->values)[builder->length] = (float)value;
    } else {
        assert(builder->type.id == HD_TYPE_DOUBLE);
        ((double *)(uintptr_t)builder->values)[builder->length] = value;
    }
    hd_builder_close_valid(builder);
    return HUDI_OK;
}

static hudi_status append_fixed(struct hd_op *op, hd_builder *b, struct hd_slice bytes)
{
    if (bytes.size != b->width)
        return hd_fail(op, HUDI_INVALID, "%zu bytes for a type of %llu", bytes.size,
                       (unsigned long long)b->width);
    HD_TRY(room_for_value(op, b));
    if (bytes.size > 0)
        memcpy(b->values + (uint64_t)b->length * b->width, bytes.data, bytes.size);
    hd_builder_close_valid(b);
    return HUDI_OK;
}

hudi_status hd_builder_append_bytes(struct hd_op *op, hd_builder *builder, struct hd_slice bytes)
{
    HD_TRY(room_for_validity(op, builder));
    if (builder->type.id == HD_TYPE_FIXED_BINARY)
        return append_fixed(op, builder, bytes);
    assert(has_data(builder));
    HD_TRY(room_for_value(op, builder));
    HD_TRY(hd_builder_room_for_data(op, builder, bytes.size));
    if (bytes.size > 0)
        memcpy(builder->data + builder->data_bytes, bytes.data, bytes.size);
    builder->data_bytes += bytes.size;
    offsets_of(builder)[builder->length + 1] = (int32_t)builder->data_bytes;
    hd_builder_close_valid(builder);
    return HUDI_OK;
}

hudi_status hd_builder_append_decimal(struct hd_op *op, hd_builder *builder, hd_int128 unscaled)
{
    uint8_t bytes[16];

    assert(builder->type.id == HD_TYPE_DECIMAL);
    HD_TRY(room_for_validity(op, builder));
    hd_decimal_store(bytes, unscaled);
    return append_fixed(op, builder, hd_slice_of(bytes, sizeof bytes));
}

/* ---- truncate, finish ------------------------------------------------------------------------ */

static void clear_bits(uint8_t *bits, int64_t from, int64_t to)
{
    for (; from < to && (from & 7) != 0; from++)
        bits[from >> 3] = (uint8_t)(bits[from >> 3] & ~(1u << (from & 7)));
    if (from < to)
        memset(bits + (from >> 3), 0, bit_bytes(to) - (uint64_t)from / 8);
}

void hd_builder_truncate(hd_builder *builder, int64_t length)
{
    if (length < builder->length) {
        const int64_t n = builder->length - length;
        if (builder->type.id == HD_TYPE_NULL) {
            builder->null_count = length;
        } else if (builder->validity != NULL) {
            builder->null_count -= n - hd_bits_count(builder->validity, length, n);
            clear_bits(builder->validity, length, builder->length);
        }
        builder->length = length;
    }
    if (has_data(builder))
        builder->data_bytes = (uint64_t)last_offset(builder);
    if (builder->n_children == 0)
        return;
    const int64_t below =
        builder->type.id == HD_TYPE_STRUCT ? builder->length : last_offset(builder);
    for (int64_t i = 0; i < builder->n_children; i++)
        hd_builder_truncate(builder->children[i], below);
}

uint64_t hd_builder_bytes(const hd_builder *builder)
{
    uint64_t sum = sizeof *builder + hd_buffer_capacity(builder->validity) +
                   hd_buffer_capacity(builder->values) + hd_buffer_capacity(builder->data);

    for (int64_t i = 0; i < builder->n_children; i++)
        sum += hd_builder_bytes(builder->children[i]);
    return sum;
}

static void reset(hd_builder *b)
{
    for (int64_t i = 0; i < b->n_children; i++)
        reset(b->children[i]);
    hd_buffer_free(b->validity);
    hd_buffer_free(b->values);
    hd_buffer_free(b->data);
    b->validity = b->values = b->data = NULL;
    if (b->data_bytes <= MAX_EXPECTED_BYTES)
        b->expected_data_bytes = b->data_bytes + b->data_bytes / 8;
    b->length = b->null_count = 0;
    b->data_bytes = b->data_capacity = 0;
    b->reserved_rows = 0;
}

static hudi_status finish(struct hd_op *op, hd_builder *b, struct ArrowArray *out);

static hudi_status finish_children(struct hd_op *op, hd_builder *b, struct ArrowArray *out)
{
    struct ArrowArray *parent = out;

    if (b->type.id == HD_TYPE_MAP) {
        parent = out->children[0];
        HD_TRY(hd_array_new(op, 1, 2, false, parent));
        parent->length = b->children[0]->length;
    }
    for (int64_t i = 0; i < b->n_children; i++)
        HD_TRY(finish(op, b->children[i], parent->children[i]));
    return HUDI_OK;
}

static hudi_status finish(struct hd_op *op, hd_builder *b, struct ArrowArray *out)
{
    const int64_t n_buffers = hd_type_n_buffers(&b->type);
    const int64_t n_children = b->type.id == HD_TYPE_MAP ? 1 : b->n_children;

    if (n_buffers > 1 && b->values == NULL)
        HD_TRY(hd_buffer_new(op, 0, &b->values));
    if (n_buffers > 2 && b->data == NULL)
        HD_TRY(hd_buffer_new(op, 0, &b->data));
    HD_TRY(hd_array_new(op, n_buffers, n_children, false, out));
    out->length = b->length;
    out->null_count = b->null_count;
    if (n_buffers > 0 && b->null_count > 0) {
        hd_array_set_buffer(out, 0, b->validity);
        b->validity = NULL;
    }
    if (n_buffers > 1) {
        hd_array_set_buffer(out, 1, b->values);
        b->values = NULL;
    }
    if (n_buffers > 2) {
        hd_array_set_buffer(out, 2, b->data);
        b->data = NULL;
        b->data_capacity = 0;
    }
    return finish_children(op, b, out);
}

hudi_status hd_builder_finish(struct hd_op *op, hd_builder *builder, struct ArrowArray *out)
{
    *out = (struct ArrowArray){0};
    const hudi_status status = finish(op, builder, out);
    if (status != HUDI_OK)
        hd_array_clear(out);
    reset(builder);
    return status;
}
