/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_VIEW_H
#define HD_ARROW_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "arrow/type.h"
#include "base/arena.h"
#include "base/str.h"

/**
 * Read access to one array: buffers found, offset applied. Row numbers are 0..length-1. A view
 * borrows the array and lives in the arena it was opened in. Accessors are for the type that
 * `type.id` says and check nothing: they are the inner loops.
 */
struct hd_view {
    struct hd_type type;
    const char *name;
    int64_t length;
    int64_t offset;          /* of row 0 in the buffers */
    int64_t null_count;      /* 0: none; -1: unknown */
    const uint8_t *validity; /* bits, NULL: no nulls */
    const void *values;      /* fixed-width values, bits of BOOL, or int32 offsets */
    const uint8_t *data;     /* bytes of STRING and BINARY */
    int64_t n_children;
    struct hd_view *children;   /* STRUCT, LIST (1), MAP (1: the entries) */
    struct hd_view *dictionary; /* DICTIONARY */
    const struct ArrowArray *array;
};

/**
 * Open a view of a canonical array (or of a dictionary-encoded string column). Checks that buffers
 * are there and children long enough; the children of a struct get the struct's offset added.
 * @return HUDI_INVALID for a layout that contradicts itself, HUDI_NOT_IMPLEMENTED for a type that
 * is not canonical.
 */
hudi_status hd_view_open(struct hd_op *op, struct hd_arena *arena, const struct ArrowSchema *field,
                         const struct ArrowArray *array, struct hd_view *out);

/** What hd_view_open() leaves to who made the array, all the way down: offsets that never fall. For
 * arrays of callers. @return HUDI_INVALID */
hudi_status hd_view_validate(struct hd_op *op, const struct hd_view *view);

static inline bool hd_bit(const uint8_t *bits, int64_t i)
{
    return (bits[i >> 3] >> (i & 7)) & 1;
}

static inline bool hd_view_is_null(const struct hd_view *v, int64_t row)
{
    return v->type.id == HD_TYPE_NULL ||
           (v->validity != NULL && !hd_bit(v->validity, v->offset + row));
}

static inline bool hd_view_bool(const struct hd_view *v, int64_t row)
{
    return hd_bit(v->values, v->offset + row);
}

static inline int32_t hd_view_i32(const struct hd_view *v, int64_t row)
{
    return ((const int32_t *)v->values)[v->offset + row];
}

static inline int64_t hd_view_i64(const struct hd_view *v, int64_t row)
{
    return ((const int64_t *)v->values)[v->offset + row];
}

static inline float hd_view_float(const struct hd_view *v, int64_t row)
{
    return ((const float *)v->values)[v->offset + row];
}

static inline double hd_view_double(const struct hd_view *v, int64_t row)
{
    return ((const double *)v->values)[v->offset + row];
}

/** Bytes of a STRING, BINARY, FIXED_BINARY or DECIMAL (16, little-endian) or DICTIONARY row. */
static inline struct hd_slice hd_view_bytes(const struct hd_view *v, int64_t row)
{
    if (v->type.id == HD_TYPE_DICTIONARY) {
        row = ((const int32_t *)v->values)[v->offset + row];
        v = v->dictionary;
    }
    if (v->type.id == HD_TYPE_STRING || v->type.id == HD_TYPE_BINARY) {
        const int32_t *offsets = (const int32_t *)v->values + v->offset + row;
        return hd_slice_of(v->data + offsets[0], (size_t)(offsets[1] - offsets[0]));
    }
    const size_t width = v->type.id == HD_TYPE_DECIMAL ? 16 : (size_t)v->type.byte_width;
    return hd_slice_of((const uint8_t *)v->values + (size_t)(v->offset + row) * width, width);
}

/** First child row and number of child rows of a LIST or MAP row; child rows count from the child
 * view's own row 0. */
static inline int64_t hd_view_list(const struct hd_view *v, int64_t row, int64_t *n)
{
    const int32_t *offsets = (const int32_t *)v->values + v->offset + row;
    *n = offsets[1] - offsets[0];
    return offsets[0];
}

/** Any integer-backed value (INT32, INT64, DATE, TIME, TIMESTAMP, BOOL) as int64. */
static inline int64_t hd_view_integer(const struct hd_view *v, int64_t row)
{
    switch (v->type.id) {
    case HD_TYPE_BOOL:
        return hd_view_bool(v, row);
    case HD_TYPE_INT32:
    case HD_TYPE_DATE:
        return hd_view_i32(v, row);
    case HD_TYPE_TIME:
        return v->type.unit <= HD_UNIT_MILLI ? hd_view_i32(v, row) : hd_view_i64(v, row);
    default:
        return hd_view_i64(v, row);
    }
}

/**
 * Order of two values of comparable types (numbers among each other, also int against long or
 * double; timestamps across units; otherwise the same type): -1, 0, 1. Null is smallest; NaN is
 * largest and equal to itself; strings by UTF-8 bytes; BOOL false before true. Lists and structs
 * compare child by child.
 */
int hd_view_compare(const struct hd_view *a, int64_t row_a, const struct hd_view *b, int64_t row_b);

/** True when hd_view_compare() is defined for the two types. */
bool hd_type_comparable(const struct hd_type *a, const struct hd_type *b);

#endif
