/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/array.h"

#include <string.h>

#include "arrow/schema.h"

void hd_array_clear(struct ArrowArray *array)
{
    if (array->release != NULL)
        array->release(array);
    *array = (struct ArrowArray){0};
}

/* private_data is one block: buffer pointers | child pointers | children | dictionary. */
static void owner_release(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    }
    if (array->dictionary != NULL && array->dictionary->release != NULL)
        array->dictionary->release(array->dictionary);
    for (int64_t i = 0; i < array->n_buffers; i++)
        hd_buffer_free((void *)(uintptr_t)array->buffers[i]);
    hd_free(NULL, array->private_data);
    array->release = NULL;
}

hudi_status hd_array_new(struct hd_op *op, int64_t n_buffers, int64_t n_children, bool dictionary,
                         struct ArrowArray *out)
{
    const size_t n_nodes = (size_t)n_children + (dictionary ? 1 : 0);
    const void **block;

    *out = (struct ArrowArray){0};
    HD_TRY(hd_alloc(op,
                    HD_ARRAY_MAX_BUFFERS * sizeof(void *) +
                        (size_t)n_children * sizeof(struct ArrowArray *) +
                        n_nodes * sizeof(struct ArrowArray),
                    &block));
    out->private_data = block;
    out->buffers = block;
    out->n_buffers = n_buffers;
    out->children = (struct ArrowArray **)(block + HD_ARRAY_MAX_BUFFERS);
    out->n_children = n_children;
    struct ArrowArray *nodes = (struct ArrowArray *)(out->children + n_children);
    for (int64_t i = 0; i < n_children; i++)
        out->children[i] = &nodes[i];
    out->dictionary = dictionary ? &nodes[n_children] : NULL;
    out->release = owner_release;
    return HUDI_OK;
}

/* An array without children from buffers that are taken over, also on failure. */
static hudi_status array_of_buffers(struct hd_op *op, int64_t n_buffers, void *const *buffers,
                                    int64_t length, int64_t null_count, struct ArrowArray *out)
{
    const hudi_status status = hd_array_new(op, n_buffers, 0, false, out);

    for (int64_t i = 0; i < n_buffers; i++) {
        if (status == HUDI_OK)
            out->buffers[i] = buffers[i];
        else
            hd_buffer_free(buffers[i]);
    }
    if (status == HUDI_OK) {
        out->length = length;
        out->null_count = null_count;
    }
    return status;
}

hudi_status hd_array_string(struct hd_op *op, int64_t length, int64_t null_count, void *validity,
                            void *offsets, void *data, struct ArrowArray *out)
{
    void *const buffers[] = {validity, offsets, data};

    return array_of_buffers(op, 3, buffers, length, null_count, out);
}

hudi_status hd_array_fixed(struct hd_op *op, int64_t length, int64_t null_count, void *validity,
                           void *values, struct ArrowArray *out)
{
    void *const buffers[] = {validity, values};

    return array_of_buffers(op, 2, buffers, length, null_count, out);
}

hudi_status hd_array_struct(struct hd_op *op, struct ArrowArray *columns, int32_t n, int64_t length,
                            struct ArrowArray *out)
{
    const hudi_status status = hd_array_new(op, 1, n, false, out);

    for (int32_t i = 0; i < n; i++) {
        if (status == HUDI_OK)
            hd_array_move(&columns[i], out->children[i]);
        else
            hd_array_clear(&columns[i]);
    }
    if (status == HUDI_OK)
        out->length = length;
    return status;
}

hudi_status hd_array_slice(struct hd_op *op, struct ArrowArray *array, int64_t start,
                           int64_t length, struct ArrowArray *out)
{
    struct ArrowArray taken;

    hd_array_move(array, &taken);
    *out = (struct ArrowArray){0};
    if (start < 0 || length < 0 || start > taken.length || length > taken.length - start) {
        const int64_t n_rows = taken.length;
        hd_array_clear(&taken);
        return hd_fail(op, HUDI_INVALID, "rows %lld to %lld of %lld are wanted", (long long)start,
                       (long long)start + length, (long long)n_rows);
    }
    if (length != taken.length && taken.null_count != 0)
        taken.null_count = taken.null_count == taken.length ? length : -1;
    taken.offset += start;
    taken.length = length;
    *out = taken;
    return HUDI_OK;
}

/* ---- constant columns ------------------------------------------------------------------------ */

hudi_status hd_array_constant_string(struct hd_op *op, struct hd_slice value, int64_t length,
                                     struct ArrowArray *out)
{
    int32_t *offsets = NULL;
    uint8_t *data = NULL;
    hudi_status status = HUDI_OK;

    *out = (struct ArrowArray){0};
    if (length > 0 && value.size > (uint64_t)INT32_MAX / (uint64_t)length)
        return hd_fail(op, HUDI_INVALID, "%lld strings of %zu bytes pass 2 GiB", (long long)length,
                       value.size);
    HD_TRY_OUT(hd_buffer_new_raw(op, ((uint64_t)length + 1) * sizeof *offsets, &offsets));
    HD_TRY_OUT(hd_buffer_new_raw(op, (uint64_t)length * value.size, &data));
    offsets[0] = 0;
    for (int64_t i = 0; i < length; i++) {
        offsets[i + 1] = offsets[i] + (int32_t)value.size;
        if (value.size > 0)
            memcpy(data + offsets[i], value.data, value.size);
    }
    return hd_array_string(op, length, 0, NULL, offsets, data, out);
out:
    hd_buffer_free(offsets);
    hd_buffer_free(data);
    return status;
}

hudi_status hd_array_constant_dictionary(struct hd_op *op, struct hd_slice value, int64_t length,
                                         struct ArrowArray *out)
{
    hudi_status status;
    void *indices = NULL;

    HD_TRY(hd_array_new(op, 2, 0, true, out));
    HD_TRY_OUT(hd_buffer_new(op, (uint64_t)length * sizeof(int32_t), &indices));
    hd_array_set_buffer(out, 1, indices);
    HD_TRY_OUT(hd_array_constant_string(op, value, 1, out->dictionary));
    out->length = length;
    return HUDI_OK;
out:
    hd_array_clear(out);
    return status;
}

static uint64_t bit_bytes(int64_t n)
{
    return ((uint64_t)n + 7) / 8;
}

/* Bytes of the values buffer for n rows; the offsets for types that have them. */
static uint64_t value_bytes(const struct hd_type *type, int64_t n)
{
    switch (type->id) {
    case HD_TYPE_BOOL:
        return bit_bytes(n);
    case HD_TYPE_INT64:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_TIMESTAMP:
        return (uint64_t)n * 8;
    case HD_TYPE_TIME:
        return (uint64_t)n * (type->unit <= HD_UNIT_MILLI ? 4 : 8);
    case HD_TYPE_DECIMAL:
        return (uint64_t)n * 16;
    case HD_TYPE_FIXED_BINARY:
        return (uint64_t)n * (uint64_t)type->byte_width;
    case HD_TYPE_STRING:
    case HD_TYPE_BINARY:
    case HD_TYPE_LIST:
    case HD_TYPE_MAP:
        return ((uint64_t)n + 1) * sizeof(int32_t);
    case HD_TYPE_NULL:
    case HD_TYPE_STRUCT:
        return 0;
    default:
        return (uint64_t)n * 4;
    }
}

/* `hollow`: below a struct that is null, so that a field which takes no null needs none. */
static hudi_status nulls(struct hd_op *op, const struct ArrowSchema *field, int64_t length,
                         bool hollow, int depth, struct ArrowArray *out)
{
    struct hd_type type;
    hudi_status status = HUDI_OK;

    *out = (struct ArrowArray){0};
    if (depth > HD_TYPE_MAX_DEPTH)
        return hd_fail(op, HUDI_INVALID, "types nest more than %d deep", HD_TYPE_MAX_DEPTH);
    HD_TRY(hd_type_of(op, field, &type));
    if (type.id == HD_TYPE_OTHER)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "nulls of a type that is not canonical");
    const int64_t n_buffers = hd_type_n_buffers(&type);
    HD_TRY(hd_array_new(op, n_buffers, field->n_children, field->dictionary != NULL, out));
    const uint64_t sizes[HD_ARRAY_MAX_BUFFERS] = {bit_bytes(length), value_bytes(&type, length), 0};
    const bool valid = hollow && type.id != HD_TYPE_NULL && !hd_schema_nullable(field);
    for (int64_t i = valid; i < n_buffers && i < HD_ARRAY_MAX_BUFFERS; i++) {
        void *buffer;
        HD_TRY_OUT(hd_buffer_new(op, sizes[i], &buffer));
        hd_array_set_buffer(out, i, buffer);
    }
    out->length = length;
    out->null_count = valid ? 0 : length;
    for (int64_t i = 0; i < field->n_children; i++)
        HD_TRY_OUT(nulls(op, field->children[i], type.id == HD_TYPE_STRUCT ? length : 0,
                         type.id == HD_TYPE_STRUCT, depth + 1, out->children[i]));
    if (field->dictionary != NULL)
        HD_TRY_OUT(nulls(op, field->dictionary, 0, false, depth + 1, out->dictionary));
out:
    if (status != HUDI_OK)
        hd_array_clear(out);
    return status;
}

hudi_status hd_array_nulls(struct hd_op *op, const struct ArrowSchema *field, int64_t length,
                           struct ArrowArray *out)
{
    return nulls(op, field, length, false, 0, out);
}

static uint64_t array_bytes(const struct ArrowSchema *field, const struct ArrowArray *array,
                            int depth)
{
    struct hd_type type;
    const int64_t n = array->offset + array->length;

    if (depth > HD_TYPE_MAX_DEPTH || !hd_type_parse(field, &type))
        return 0;
    const bool nullable = type.id != HD_TYPE_NULL && array->buffers[0] != NULL;
    uint64_t sum = value_bytes(&type, n) + (nullable ? bit_bytes(n) : 0);
    if ((type.id == HD_TYPE_STRING || type.id == HD_TYPE_BINARY) && array->buffers[1] != NULL)
        sum += (uint64_t)((const int32_t *)array->buffers[1])[n];
    for (int64_t i = 0; i < field->n_children && i < array->n_children; i++)
        sum += array_bytes(field->children[i], array->children[i], depth + 1);
    if (field->dictionary != NULL && array->dictionary != NULL)
        sum += array_bytes(field->dictionary, array->dictionary, depth + 1);
    return sum;
}

uint64_t hd_array_bytes(const struct ArrowSchema *field, const struct ArrowArray *array)
{
    return array_bytes(field, array, 0);
}
