/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "arrow/decimal.h"
#include "arrow/view.h"

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

enum compare_class {
    CLASS_NUMBER,
    CLASS_BOOL,
    CLASS_TEXT,
    CLASS_BYTES,
    CLASS_FIXED,
    CLASS_DATE,
    CLASS_TIME,
    CLASS_TIMESTAMP,
    CLASS_LIST,
    CLASS_MAP,
    CLASS_STRUCT,
    CLASS_NULL,
    CLASS_NONE,
};

static enum compare_class class_of(enum hd_type_id id)
{
    switch (id) {
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_DECIMAL:
        return CLASS_NUMBER;
    case HD_TYPE_BOOL:
        return CLASS_BOOL;
    case HD_TYPE_STRING:
    case HD_TYPE_DICTIONARY:
        return CLASS_TEXT;
    case HD_TYPE_BINARY:
        return CLASS_BYTES;
    case HD_TYPE_FIXED_BINARY:
        return CLASS_FIXED;
    case HD_TYPE_DATE:
        return CLASS_DATE;
    case HD_TYPE_TIME:
        return CLASS_TIME;
    case HD_TYPE_TIMESTAMP:
        return CLASS_TIMESTAMP;
    case HD_TYPE_LIST:
        return CLASS_LIST;
    case HD_TYPE_MAP:
        return CLASS_MAP;
    case HD_TYPE_STRUCT:
        return CLASS_STRUCT;
    case HD_TYPE_NULL:
        return CLASS_NULL;
    default:
        return CLASS_NONE;
    }
}

bool hd_type_comparable(const struct hd_type *a, const struct hd_type *b)
{
    const enum compare_class class = class_of(a->id);

    return class != CLASS_NONE && class == class_of(b->id);
}

static int compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0);
    return ORDER(a, b);
}

/* Exact: not every int64 is a double. */
static int compare_int_double(int64_t a, double b)
{
    if (isnan(b) || b >= 0x1p63)
        return -1;
    if (b < -0x1p63)
        return 1;
    const int64_t whole = (int64_t)b; /* toward zero */
    if (a != whole)
        return ORDER(a, whole);
    return ORDER(0.0, b - (double)whole);
}

static bool is_floating(const struct hd_view *v)
{
    return v->type.id == HD_TYPE_FLOAT || v->type.id == HD_TYPE_DOUBLE;
}

static double floating(const struct hd_view *v, int64_t row)
{
    return v->type.id == HD_TYPE_FLOAT ? (double)hd_view_float(v, row) : hd_view_double(v, row);
}

static hd_int128 exact_number(const struct hd_view *v, int64_t row)
{
    if (v->type.id == HD_TYPE_DECIMAL)
        return hd_decimal_load(hd_view_bytes(v, row).data);
    return hd_view_integer(v, row);
}

static int compare_to_floating(const struct hd_view *a, int64_t row_a, double b)
{
    if (a->type.id != HD_TYPE_DECIMAL)
        return compare_int_double(hd_view_integer(a, row_a), b);
    return compare_doubles(hd_decimal_to_double(exact_number(a, row_a), a->type.scale), b);
}

static int compare_numbers(const struct hd_view *a, int64_t row_a, const struct hd_view *b,
                           int64_t row_b)
{
    if (is_floating(a) && is_floating(b))
        return compare_doubles(floating(a, row_a), floating(b, row_b));
    if (is_floating(b))
        return compare_to_floating(a, row_a, floating(b, row_b));
    if (is_floating(a))
        return -compare_to_floating(b, row_b, floating(a, row_a));
    if (a->type.id != HD_TYPE_DECIMAL && b->type.id != HD_TYPE_DECIMAL) {
        const int64_t x = hd_view_integer(a, row_a), y = hd_view_integer(b, row_b);
        return ORDER(x, y);
    }
    return hd_decimal_compare(exact_number(a, row_a), a->type.scale, exact_number(b, row_b),
                              b->type.scale);
}

static int compare_times(const struct hd_view *a, int64_t row_a, const struct hd_view *b,
                         int64_t row_b)
{
    static const int64_t NANOS[] = {1000000000, 1000000, 1000, 1};
    const int64_t x = hd_view_integer(a, row_a), y = hd_view_integer(b, row_b);

    if (a->type.unit == b->type.unit)
        return ORDER(x, y);
    const hd_int128 nanos_x = (hd_int128)x * NANOS[a->type.unit];
    const hd_int128 nanos_y = (hd_int128)y * NANOS[b->type.unit];
    return ORDER(nanos_x, nanos_y);
}

static int compare_lists(const struct hd_view *a, int64_t row_a, const struct hd_view *b,
                         int64_t row_b)
{
    int64_t n_a, n_b;
    const int64_t first_a = hd_view_list(a, row_a, &n_a), first_b = hd_view_list(b, row_b, &n_b);

    for (int64_t i = 0; i < n_a && i < n_b; i++) {
        const int order =
            hd_view_compare(&a->children[0], first_a + i, &b->children[0], first_b + i);
        if (order != 0)
            return order;
    }
    return ORDER(n_a, n_b);
}

static int compare_structs(const struct hd_view *a, int64_t row_a, const struct hd_view *b,
                           int64_t row_b)
{
    for (int64_t i = 0; i < a->n_children && i < b->n_children; i++) {
        const int order = hd_view_compare(&a->children[i], row_a, &b->children[i], row_b);
        if (order != 0)
            return order;
    }
    return ORDER(a->n_children, b->n_children);
}

int hd_view_compare(const struct hd_view *a, int64_t row_a, const struct hd_view *b, int64_t row_b)
{
    const bool null_a = hd_view_is_null(a, row_a), null_b = hd_view_is_null(b, row_b);

    if (null_a || null_b)
        return null_b - null_a;
    const enum compare_class class = class_of(a->type.id);
    if (class != class_of(b->type.id))
        return ORDER(a->type.id, b->type.id);
    switch (class) {
    case CLASS_NUMBER:
        return compare_numbers(a, row_a, b, row_b);
    case CLASS_TIME:
    case CLASS_TIMESTAMP:
        return compare_times(a, row_a, b, row_b);
    case CLASS_TEXT:
    case CLASS_BYTES:
    case CLASS_FIXED:
        return hd_slice_compare(hd_view_bytes(a, row_a), hd_view_bytes(b, row_b));
    case CLASS_LIST:
    case CLASS_MAP:
        return compare_lists(a, row_a, b, row_b);
    case CLASS_STRUCT:
        return compare_structs(a, row_a, b, row_b);
    default: {
        const int64_t x = hd_view_integer(a, row_a), y = hd_view_integer(b, row_b);
        return ORDER(x, y);
    }
    }
}
