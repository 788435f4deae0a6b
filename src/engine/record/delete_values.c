/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/delete_values.h"

#define DECIMAL_BYTES 16

/* Big-endian, as short as it can be. */
static hudi_status decimal_bytes(struct hd_op *op, struct hd_slice little_endian,
                                 struct hd_arena *arena, struct hd_slice *out)
{
    uint8_t bytes[DECIMAL_BYTES];
    char *copy;
    size_t first = 0;

    for (size_t i = 0; i < DECIMAL_BYTES; i++)
        bytes[i] = little_endian.data[DECIMAL_BYTES - 1 - i];
    while (first + 1 < DECIMAL_BYTES && ((bytes[first] == 0 && bytes[first + 1] < 0x80) ||
                                         (bytes[first] == 0xff && bytes[first + 1] >= 0x80)))
        first++;
    HD_TRY(hd_arena_strndup(op, arena, bytes + first, DECIMAL_BYTES - first, &copy));
    *out = hd_slice_of(copy, DECIMAL_BYTES - first);
    return HUDI_OK;
}

static hudi_status copy_bytes(struct hd_op *op, struct hd_slice bytes, struct hd_arena *arena,
                              struct hd_slice *out)
{
    char *copy;

    HD_TRY(hd_arena_strndup(op, arena, bytes.data, bytes.size, &copy));
    *out = hd_slice_of(copy, bytes.size);
    return HUDI_OK;
}

hudi_status hd_ordering_value_of(struct hd_op *op, const struct hd_view *view, int64_t row,
                                 struct hd_arena *arena, struct hd_ordering_value *out)
{
    const struct hd_type *type = &view->type;

    *out = (struct hd_ordering_value){.type = HD_ORDERING_NONE};
    if (hd_view_is_null(view, row))
        return HUDI_OK;
    switch (type->id) {
    case HD_TYPE_FLOAT:
        *out = (struct hd_ordering_value){.type = HD_ORDERING_FLOAT,
                                          .real = (double)hd_view_float(view, row)};
        return HUDI_OK;
    case HD_TYPE_DOUBLE:
        *out = (struct hd_ordering_value){.type = HD_ORDERING_DOUBLE,
                                          .real = hd_view_double(view, row)};
        return HUDI_OK;
    case HD_TYPE_STRING:
        out->type = HD_ORDERING_STRING;
        return copy_bytes(op, hd_view_bytes(view, row), arena, &out->bytes);
    case HD_TYPE_BINARY:
    case HD_TYPE_FIXED_BINARY:
        out->type = HD_ORDERING_BYTES;
        return copy_bytes(op, hd_view_bytes(view, row), arena, &out->bytes);
    case HD_TYPE_DECIMAL:
        out->type = HD_ORDERING_DECIMAL;
        out->scale = type->scale;
        return decimal_bytes(op, hd_view_bytes(view, row), arena, &out->bytes);
    case HD_TYPE_BOOL:
        out->type = HD_ORDERING_BOOLEAN;
        break;
    case HD_TYPE_INT32:
        out->type = HD_ORDERING_INT;
        break;
    case HD_TYPE_DATE:
        out->type = HD_ORDERING_DATE;
        break;
    case HD_TYPE_TIME:
        out->type = type->unit <= HD_UNIT_MILLI ? HD_ORDERING_INT : HD_ORDERING_LONG;
        break;
    case HD_TYPE_INT64:
    case HD_TYPE_TIMESTAMP:
        out->type = HD_ORDERING_LONG;
        break;
    default: /* no type of an ordering field */
        return HUDI_OK;
    }
    out->integer = hd_view_integer(view, row);
    return HUDI_OK;
}
