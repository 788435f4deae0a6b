/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "engine/slice/predicate_internal.h"

/* The predicate on batches: each condition fills one byte a row with its truth, AND, OR and NOT
 * are arithmetic on those bytes. */

#define FEW_RANGES 8 /* of IN: tried one after another, more are searched */

/* ---- one range ---------------------------------------------------------------------------- */

static void in_range_32(const int32_t *values, int64_t n, int32_t low, int32_t high, uint8_t *truth)
{
    const uint32_t width = (uint32_t)high - (uint32_t)low;

    for (int64_t i = 0; i < n; i++)
        truth[i] |= (uint8_t)((((uint32_t)values[i] - (uint32_t)low) <= width) << 1);
}

static void in_range_64(const int64_t *values, int64_t n, int64_t low, int64_t high, uint8_t *truth)
{
    const uint64_t width = (uint64_t)high - (uint64_t)low;

    for (int64_t i = 0; i < n; i++)
        truth[i] |= (uint8_t)((((uint64_t)values[i] - (uint64_t)low) <= width) << 1);
}

static void in_range_double(const double *values, int64_t n, int64_t low, int64_t high,
                            uint8_t *truth)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t key = hd_float_key(values[i]);
        truth[i] |= (uint8_t)(((key >= low) & (key <= high)) << 1);
    }
}

static void in_range_float(const float *values, int64_t n, int64_t low, int64_t high,
                           uint8_t *truth)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t key = hd_float_key((double)values[i]);
        truth[i] |= (uint8_t)(((key >= low) & (key <= high)) << 1);
    }
}

static void in_range_any(const struct hd_view *view, const struct hd_number_range *range,
                         uint8_t *truth)
{
    for (int64_t i = 0; i < view->length; i++) {
        const hd_int128 value = hd_number_of(view, i);
        truth[i] |= (uint8_t)(((value >= range->low) & (value <= range->high)) << 1);
    }
}

/* Cut the range to [low, high]; false when nothing is left. */
static bool clamp(struct hd_number_range *range, hd_int128 low, hd_int128 high)
{
    if (range->low < low)
        range->low = low;
    if (range->high > high)
        range->high = high;
    return range->low <= range->high;
}

static void in_range(const struct hd_view *view, struct hd_number_range range, uint8_t *truth)
{
    const int64_t n = view->length, offset = view->offset;
    const enum hd_type_id id = view->type.id;
    const bool narrow = id == HD_TYPE_INT32 || id == HD_TYPE_DATE ||
                        (id == HD_TYPE_TIME && view->type.unit <= HD_UNIT_MILLI);

    if (id == HD_TYPE_DECIMAL || id == HD_TYPE_BOOL) {
        in_range_any(view, &range, truth);
        return;
    }
    if (!clamp(&range, narrow ? INT32_MIN : INT64_MIN, narrow ? INT32_MAX : INT64_MAX))
        return;
    const int64_t low = (int64_t)range.low, high = (int64_t)range.high;
    if (id == HD_TYPE_FLOAT)
        in_range_float((const float *)view->values + offset, n, low, high, truth);
    else if (id == HD_TYPE_DOUBLE)
        in_range_double((const double *)view->values + offset, n, low, high, truth);
    else if (narrow)
        in_range_32((const int32_t *)view->values + offset, n, (int32_t)low, (int32_t)high, truth);
    else
        in_range_64((const int64_t *)view->values + offset, n, low, high, truth);
}

/* ---- conditions --------------------------------------------------------------------------- */

static bool search_numbers(const struct hd_node *node, hd_int128 value)
{
    size_t low = 0, high = node->n_ranges;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (value < node->ranges[middle].low)
            high = middle;
        else if (value > node->ranges[middle].high)
            low = middle + 1;
        else
            return true;
    }
    return false;
}

static void match_numbers(const struct hd_node *node, const struct hd_view *view, uint8_t *truth)
{
    memset(truth, HD_FALSE, (size_t)view->length);
    if (node->n_ranges <= FEW_RANGES) {
        for (size_t i = 0; i < node->n_ranges; i++)
            in_range(view, node->ranges[i], truth);
        return;
    }
    for (int64_t i = 0; i < view->length; i++)
        truth[i] = search_numbers(node, hd_number_of(view, i)) ? HD_TRUE : HD_FALSE;
}

static bool is_one_text(const struct hd_text_range *range)
{
    return range->low.data != NULL && range->low.data == range->high.data;
}

static bool search_texts(const struct hd_node *node, struct hd_slice text)
{
    size_t low = 0, high = node->n_ranges;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = hd_slice_compare(text, node->texts[middle].low);

        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

static void match_texts(const struct hd_node *node, const struct hd_view *view, uint8_t *truth)
{
    if (node->n_ranges > 1) {
        for (int64_t i = 0; i < view->length; i++)
            truth[i] = search_texts(node, hd_view_bytes(view, i)) ? HD_TRUE : HD_FALSE;
    } else if (node->n_ranges == 0) {
        memset(truth, HD_FALSE, (size_t)view->length);
    } else if (is_one_text(node->texts)) {
        const struct hd_slice wanted = node->texts->low;
        for (int64_t i = 0; i < view->length; i++)
            truth[i] = hd_slice_equal(hd_view_bytes(view, i), wanted) ? HD_TRUE : HD_FALSE;
    } else {
        for (int64_t i = 0; i < view->length; i++)
            truth[i] = hd_text_in_range(hd_view_bytes(view, i), node->texts) ? HD_TRUE : HD_FALSE;
    }
}

static void mark_unknown(const struct hd_node *node, const struct hd_view *view, uint8_t *truth)
{
    if (node->or_unknown) {
        for (int64_t i = 0; i < view->length; i++)
            truth[i] |= HD_UNKNOWN & ~(truth[i] >> 1);
    }
    if (view->validity == NULL)
        return;
    for (int64_t i = 0; i < view->length; i++) {
        if (hd_view_is_null(view, i))
            truth[i] = HD_UNKNOWN;
    }
}

static void condition(const struct hd_node *node, const struct hd_view *view, int64_t n_rows,
                      uint8_t *truth)
{
    if (node->kind == HD_NODE_UNKNOWN) {
        memset(truth, HD_UNKNOWN, (size_t)n_rows);
        return;
    }
    if (node->kind == HD_NODE_IS_NULL) {
        for (int64_t i = 0; i < n_rows; i++)
            truth[i] = hd_view_is_null(view, i) ? HD_TRUE : HD_FALSE;
        return;
    }
    if (node->kind == HD_NODE_TEXTS)
        match_texts(node, view, truth);
    else
        match_numbers(node, view, truth);
    mark_unknown(node, view, truth);
}

/* ---- the tree ----------------------------------------------------------------------------- */

/* Buffers of one byte a row that a node needs beside the one for its result. */
static size_t n_buffers(const struct hd_node *node)
{
    if (node->kind == HD_NODE_NOT)
        return n_buffers(node->left);
    if (node->kind != HD_NODE_AND && node->kind != HD_NODE_OR)
        return 0;
    const size_t left = n_buffers(node->left), right = 1 + n_buffers(node->right);
    return left > right ? left : right;
}

static void evaluate(const struct hd_node *node, const struct hd_view *const *columns,
                     int64_t n_rows, uint8_t *truth, uint8_t *buffers)
{
    if (node->kind == HD_NODE_NOT) {
        evaluate(node->left, columns, n_rows, truth, buffers);
        for (int64_t i = 0; i < n_rows; i++)
            truth[i] = (uint8_t)(HD_TRUE - truth[i]);
        return;
    }
    if (node->kind != HD_NODE_AND && node->kind != HD_NODE_OR) {
        condition(node, columns[node->column], n_rows, truth);
        return;
    }
    uint8_t *const right = buffers;
    evaluate(node->left, columns, n_rows, truth, buffers);
    evaluate(node->right, columns, n_rows, right, buffers + n_rows);
    if (node->kind == HD_NODE_AND) {
        for (int64_t i = 0; i < n_rows; i++)
            truth[i] = truth[i] < right[i] ? truth[i] : right[i];
    } else {
        for (int64_t i = 0; i < n_rows; i++)
            truth[i] = truth[i] > right[i] ? truth[i] : right[i];
    }
}

hudi_status hd_predicate_select(struct hd_op *op, const hd_predicate *predicate,
                                const struct hd_view *const *columns, int64_t n_rows,
                                uint8_t *passes)
{
    uint8_t *buffers;

    if (predicate->root == NULL) {
        memset(passes, 1, (size_t)n_rows);
        return HUDI_OK;
    }
    HD_TRY(hd_alloc_raw(op, n_buffers(predicate->root) + 1, (size_t)n_rows, &buffers));
    evaluate(predicate->root, columns, n_rows, passes, buffers);
    for (int64_t i = 0; i < n_rows; i++)
        passes[i] = passes[i] == HD_TRUE;
    hd_free(op, buffers);
    return HUDI_OK;
}
