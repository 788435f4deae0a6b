/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/predicate_internal.h"

/*
 * The predicate on what is known of many rows: for each node the set of truths that a row may have.
 * The set may be too large (then rows are read in vain), never too small.
 */
enum {
    MAY_BE_FALSE = 1,
    MAY_BE_UNKNOWN = 2,
    MAY_BE_TRUE = 4,
    ANY_TRUTH = MAY_BE_FALSE | MAY_BE_UNKNOWN | MAY_BE_TRUE,
};

/* ---- conditions on values that are not null ------------------------------------------------ */

static unsigned truths_of_numbers(const struct hd_node *node, const struct hd_column_bounds *bounds)
{
    const bool floating = node->type.id == HD_TYPE_FLOAT || node->type.id == HD_TYPE_DOUBLE;
    const hd_int128 min = hd_number_of(bounds->min, 0);
    /* Statistics leave NaN out, which is greater than all. */
    const hd_int128 max = floating && !bounds->is_exact ? INT64_MAX : hd_number_of(bounds->max, 0);
    unsigned truths = MAY_BE_FALSE;

    if (min > max)
        return MAY_BE_FALSE | MAY_BE_TRUE; /* bounds that contradict each other say nothing */
    for (size_t i = 0; i < node->n_ranges; i++) {
        if (min >= node->ranges[i].low && max <= node->ranges[i].high)
            return MAY_BE_TRUE;
        if (max >= node->ranges[i].low && min <= node->ranges[i].high)
            truths |= MAY_BE_TRUE;
    }
    return truths;
}

/* Some text between `min` and `max` is in the range. */
static bool texts_meet(struct hd_slice min, struct hd_slice max, const struct hd_text_range *range)
{
    if (range->low.data != NULL) {
        const int order = hd_slice_compare(max, range->low);
        if (order < 0 || (order == 0 && !range->low_inclusive))
            return false;
    }
    if (range->high.data != NULL) {
        const int order = hd_slice_compare(min, range->high);
        if (order > 0 || (order == 0 && !range->high_inclusive))
            return false;
    }
    return true;
}

static unsigned truths_of_texts(const struct hd_node *node, const struct hd_column_bounds *bounds)
{
    const struct hd_slice min = hd_view_bytes(bounds->min, 0), max = hd_view_bytes(bounds->max, 0);
    unsigned truths = MAY_BE_FALSE;

    if (hd_slice_compare(min, max) > 0)
        return MAY_BE_FALSE | MAY_BE_TRUE;
    for (size_t i = 0; i < node->n_ranges; i++) {
        if (hd_text_in_range(min, &node->texts[i]) && hd_text_in_range(max, &node->texts[i]))
            return MAY_BE_TRUE;
        if (texts_meet(min, max, &node->texts[i]))
            truths |= MAY_BE_TRUE;
    }
    return truths;
}

static bool has_bounds(const struct hd_column_bounds *bounds)
{
    return bounds->min != NULL && bounds->max != NULL && !hd_view_is_null(bounds->min, 0) &&
           !hd_view_is_null(bounds->max, 0);
}

static unsigned truths_of_condition(const struct hd_node *node,
                                    const struct hd_column_bounds *bounds, int64_t n_rows)
{
    if (bounds == NULL)
        return ANY_TRUTH;
    const bool may_be_null = bounds->null_count != 0;
    const bool may_be_value = n_rows < 0 || bounds->null_count < n_rows;
    unsigned truths = may_be_null ? MAY_BE_UNKNOWN : 0;

    if (node->kind == HD_NODE_IS_NULL)
        return (may_be_null ? MAY_BE_TRUE : 0) | (may_be_value ? MAY_BE_FALSE : 0);
    if (!may_be_value)
        return truths;
    if (!has_bounds(bounds))
        truths |= MAY_BE_FALSE | MAY_BE_TRUE;
    else if (node->kind == HD_NODE_TEXTS)
        truths |= truths_of_texts(node, bounds);
    else
        truths |= truths_of_numbers(node, bounds);
    if (node->or_unknown && (truths & MAY_BE_FALSE))
        truths = (truths & ~(unsigned)MAY_BE_FALSE) | MAY_BE_UNKNOWN;
    return truths;
}

/* ---- the tree ----------------------------------------------------------------------------- */

static unsigned opposite(unsigned truths)
{
    return (truths & MAY_BE_UNKNOWN) | (truths & MAY_BE_TRUE ? MAY_BE_FALSE : 0) |
           (truths & MAY_BE_FALSE ? MAY_BE_TRUE : 0);
}

static unsigned both(unsigned left, unsigned right)
{
    unsigned truths = (left | right) & MAY_BE_FALSE;

    if ((left & MAY_BE_TRUE) && (right & MAY_BE_TRUE))
        truths |= MAY_BE_TRUE;
    if ((left & MAY_BE_UNKNOWN && right & (MAY_BE_UNKNOWN | MAY_BE_TRUE)) ||
        (right & MAY_BE_UNKNOWN && left & (MAY_BE_UNKNOWN | MAY_BE_TRUE)))
        truths |= MAY_BE_UNKNOWN;
    return truths;
}

static unsigned truths_of(const struct hd_node *node, const struct hd_column_bounds *const *bounds,
                          int64_t n_rows)
{
    switch (node->kind) {
    case HD_NODE_NOT:
        return opposite(truths_of(node->left, bounds, n_rows));
    case HD_NODE_AND:
        return both(truths_of(node->left, bounds, n_rows), truths_of(node->right, bounds, n_rows));
    case HD_NODE_OR:
        return opposite(both(opposite(truths_of(node->left, bounds, n_rows)),
                             opposite(truths_of(node->right, bounds, n_rows))));
    case HD_NODE_UNKNOWN:
        return MAY_BE_UNKNOWN;
    default:
        return truths_of_condition(node, bounds[node->column], n_rows);
    }
}

bool hd_predicate_may_match(const hd_predicate *predicate,
                            const struct hd_column_bounds *const *bounds, int64_t n_rows)
{
    if (n_rows == 0)
        return false;
    return predicate->root == NULL || (truths_of(predicate->root, bounds, n_rows) & MAY_BE_TRUE);
}
