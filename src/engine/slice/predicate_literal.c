/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "arrow/text.h"
#include "engine/slice/predicate_internal.h"

/* Literals typed by their column, and the ranges that comparisons with them are. */

#define SHOWN_BYTES 60 /* of a literal, in messages */
#define HIGHEST ((hd_int128)(~(hd_uint128)0 >> 1))
#define LOWEST (-HIGHEST - 1)

/* A literal as a number of the column: the value itself, or the one just below it when it lies
 * between two values. */
struct point {
    hd_int128 floor;
    bool is_exact;
};

static hudi_status misfit(struct hd_op *op, const hd_predicate *predicate, int32_t column,
                          const struct hd_literal *literal)
{
    const bool text = literal->kind == HD_LITERAL_TEXT;
    const size_t shown = literal->text.size < SHOWN_BYTES ? literal->text.size : SHOWN_BYTES;
    struct hd_str type = {0};
    hudi_status status = hd_type_describe(op, predicate->schema->children[column], &type);

    if (status == HUDI_OK)
        status = hd_fail(op, HUDI_INVALID,
                         "filter, character %zu: %s%.*s%s%s is no value for column "
                         "\"%s\" of type %s%s",
                         literal->at, text ? "'" : "", (int)shown, (const char *)literal->text.data,
                         shown < literal->text.size ? "..." : "", text ? "'" : "",
                         predicate->schema->children[column]->name, hd_str_text(&type),
                         text || literal->kind == HD_LITERAL_BOOL ? "" : " (text needs '...')");
    hd_str_clear(&type);
    return status;
}

static bool integer_point(const struct hd_literal *literal, struct point *out)
{
    int64_t value;

    if (literal->kind == HD_LITERAL_BOOL || !hd_parse_integer(literal->text, &value))
        return false;
    out->floor = value;
    return true;
}

static bool bool_point(const struct hd_literal *literal, struct point *out)
{
    bool value;

    if (literal->kind == HD_LITERAL_NUMBER || !hd_parse_bool(literal->text, &value))
        return false;
    out->floor = value;
    return true;
}

static bool float_point(const struct hd_literal *literal, bool single, struct point *out)
{
    double value;
    float narrow;

    if (literal->kind == HD_LITERAL_BOOL)
        return false;
    if (single) {
        if (!hd_parse_float(literal->text, &narrow))
            return false;
        value = (double)narrow;
    } else if (!hd_parse_double(literal->text, &value)) {
        return false;
    }
    out->floor = hd_float_key(value);
    return true;
}

/* Digits behind the point, as far as they can count. */
static int32_t fraction_digits(struct hd_slice text)
{
    const uint8_t *point = memchr(text.data, '.', text.size);
    int32_t n = 0;

    if (point == NULL)
        return 0;
    for (const uint8_t *c = point + 1; c < text.data + text.size && *c >= '0' && *c <= '9'; c++)
        n++;
    return n;
}

/* In units of the column's scale. */
static bool decimal_point(const struct hd_literal *literal, const struct hd_type *type,
                          struct point *out)
{
    const int32_t digits = fraction_digits(literal->text);
    const int32_t scale = digits > type->scale ? digits : type->scale;
    hd_int128 value;

    if (literal->kind == HD_LITERAL_BOOL || scale - type->scale > HD_DECIMAL_MAX_DIGITS ||
        !hd_parse_decimal(literal->text, HD_DECIMAL_MAX_DIGITS, scale, HD_ROUND_EXACT, &value))
        return false;
    const hd_int128 unit = hd_decimal_power(scale - type->scale);
    out->floor = value / unit - (value % unit < 0);
    out->is_exact = value % unit == 0;
    return true;
}

static bool time_point(const struct hd_literal *literal, const struct hd_type *type,
                       struct point *out)
{
    int64_t value;
    int32_t days;

    if (literal->kind != HD_LITERAL_TEXT)
        return false;
    if (type->id == HD_TYPE_DATE) {
        if (!hd_parse_date(literal->text, &days))
            return false;
        value = days;
    } else if (type->id == HD_TYPE_TIME) {
        if (!hd_parse_time(literal->text, type->unit, &value))
            return false;
    } else if (!hd_parse_timestamp(literal->text, type->unit, type->utc, &value)) {
        return false;
    }
    out->floor = value;
    return true;
}

static bool parse_point(const struct hd_literal *literal, const struct hd_type *type,
                        struct point *out)
{
    *out = (struct point){.is_exact = true};
    switch (type->id) {
    case HD_TYPE_BOOL:
        return bool_point(literal, out);
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
        return integer_point(literal, out);
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
        return float_point(literal, type->id == HD_TYPE_FLOAT, out);
    case HD_TYPE_DECIMAL:
        return decimal_point(literal, type, out);
    default:
        return time_point(literal, type, out);
    }
}

/* ---- ranges ------------------------------------------------------------------------------- */

static struct hd_number_range number_range(enum hd_comparison comparison, const struct point *point)
{
    struct hd_number_range range = {LOWEST, HIGHEST};

    /* Floors are far from the ends: 38 digits at most. */
    switch (comparison) {
    case HD_LESS:
        range.high = point->is_exact ? point->floor - 1 : point->floor;
        break;
    case HD_LESS_EQUAL:
        range.high = point->floor;
        break;
    case HD_GREATER:
        range.low = point->floor + 1;
        break;
    case HD_GREATER_EQUAL:
        range.low = point->is_exact ? point->floor : point->floor + 1;
        break;
    default:
        range.low = point->floor;
        range.high = point->is_exact ? point->floor : point->floor - 1;
        break;
    }
    return range;
}

static struct hd_text_range text_range(enum hd_comparison comparison, struct hd_slice text)
{
    const bool low = comparison != HD_LESS && comparison != HD_LESS_EQUAL;
    const bool high = comparison != HD_GREATER && comparison != HD_GREATER_EQUAL;

    return (struct hd_text_range){
        .low = low ? text : (struct hd_slice){0},
        .high = high ? text : (struct hd_slice){0},
        .low_inclusive = comparison != HD_GREATER,
        .high_inclusive = comparison != HD_LESS,
    };
}

static hudi_status new_node(struct hd_op *op, hd_predicate *predicate, int32_t column,
                            struct hd_node **out)
{
    HD_TRY(hd_arena_alloc(op, &predicate->arena, sizeof **out, out));
    (*out)->column = column;
    HD_TRY(hd_type_of(op, predicate->schema->children[column], &(*out)->type));
    (*out)->kind = (*out)->type.id == HD_TYPE_STRING ? HD_NODE_TEXTS : HD_NODE_NUMBERS;
    return HUDI_OK;
}

/* Range number `i` of a node with room for it. */
static hudi_status add_range(struct hd_op *op, hd_predicate *predicate, struct hd_node *node,
                             enum hd_comparison comparison, const struct hd_literal *literal)
{
    struct point point;

    if (node->kind == HD_NODE_TEXTS) {
        if (literal->kind != HD_LITERAL_TEXT)
            return misfit(op, predicate, node->column, literal);
        node->texts[node->n_ranges++] = text_range(comparison, literal->text);
        return HUDI_OK;
    }
    if (!parse_point(literal, &node->type, &point))
        return misfit(op, predicate, node->column, literal);
    node->ranges[node->n_ranges++] = number_range(comparison, &point);
    return HUDI_OK;
}

static hudi_status make_room(struct hd_op *op, hd_predicate *predicate, struct hd_node *node,
                             size_t n)
{
    if (node->kind == HD_NODE_TEXTS)
        return hd_arena_array(op, &predicate->arena, n, sizeof *node->texts, &node->texts);
    return hd_arena_array(op, &predicate->arena, n, sizeof *node->ranges, &node->ranges);
}

hudi_status hd_predicate_compare(struct hd_op *op, hd_predicate *predicate, int32_t column,
                                 enum hd_comparison comparison, const struct hd_literal *literal,
                                 struct hd_node **out)
{
    struct hd_node *node, *opposite;

    HD_TRY(new_node(op, predicate, column, &node));
    *out = node;
    if (literal->kind == HD_LITERAL_NULL) {
        node->kind = HD_NODE_UNKNOWN;
        return HUDI_OK;
    }
    HD_TRY(make_room(op, predicate, node, 1));
    HD_TRY(add_range(op, predicate, node, comparison == HD_NOT_EQUAL ? HD_EQUAL : comparison,
                     literal));
    if (comparison != HD_NOT_EQUAL)
        return HUDI_OK;
    HD_TRY(hd_arena_alloc(op, &predicate->arena, sizeof *opposite, &opposite));
    opposite->kind = HD_NODE_NOT;
    opposite->left = node;
    *out = opposite;
    return HUDI_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct hd_number_range *x = a, *y = b;

    return (x->low > y->low) - (x->low < y->low);
}

static int compare_texts(const void *a, const void *b)
{
    const struct hd_text_range *x = a, *y = b;

    return hd_slice_compare(x->low, y->low);
}

hudi_status hd_predicate_in(struct hd_op *op, hd_predicate *predicate, int32_t column,
                            const struct hd_literal *literals, size_t n, struct hd_node **out)
{
    struct hd_node *node;

    HD_TRY(new_node(op, predicate, column, &node));
    HD_TRY(make_room(op, predicate, node, n));
    for (size_t i = 0; i < n; i++) {
        if (literals[i].kind == HD_LITERAL_NULL)
            node->or_unknown = true;
        else
            HD_TRY(add_range(op, predicate, node, HD_EQUAL, &literals[i]));
        /* A decimal between two values of the column equals none of them. */
        if (node->n_ranges > 0 && node->kind == HD_NODE_NUMBERS &&
            node->ranges[node->n_ranges - 1].low > node->ranges[node->n_ranges - 1].high)
            node->n_ranges--;
    }
    if (node->kind == HD_NODE_TEXTS && node->n_ranges > 1)
        qsort(node->texts, node->n_ranges, sizeof *node->texts, compare_texts);
    if (node->kind == HD_NODE_NUMBERS && node->n_ranges > 1)
        qsort(node->ranges, node->n_ranges, sizeof *node->ranges, compare_numbers);
    *out = node;
    return HUDI_OK;
}
