/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_PREDICATE_INTERNAL_H
#define HD_ENGINE_PREDICATE_INTERNAL_H

#include "arrow/decimal.h"
#include "base/arena.h"
#include "engine/slice/predicate.h"

/* Between the files of the predicate.
 *
 * A comparison is kept as ranges of a column's values, so that rows and statistics go by the same
 * numbers. All values but text are whole numbers: integers, dates and times as they are, decimals
 * unscaled, floats by hd_float_key(), which keeps their order.
 */

/** Three-valued truth; AND is the smaller, OR the larger, NOT 2 - x. */
enum hd_truth { HD_FALSE = 0, HD_UNKNOWN = 1, HD_TRUE = 2 };

enum hd_node_kind {
    HD_NODE_AND,
    HD_NODE_OR,
    HD_NODE_NOT,
    HD_NODE_UNKNOWN, /* compared with NULL */
    HD_NODE_IS_NULL,
    HD_NODE_NUMBERS, /* a value is in one of `ranges` */
    HD_NODE_TEXTS,   /* in one of `texts` */
};

/** Both ends belong to it; low > high: nothing does. */
struct hd_number_range {
    hd_int128 low, high;
};

struct hd_text_range {
    struct hd_slice low, high; /* data NULL: open */
    bool low_inclusive, high_inclusive;
};

/** Nodes live in the predicate's arena. */
struct hd_node {
    enum hd_node_kind kind;
    int32_t column; /* of the last three kinds */
    struct hd_type type;
    bool or_unknown; /* IN with a NULL among its literals: no match is unknown, not false */
    struct hd_number_range *ranges; /* ascending, apart */
    struct hd_text_range *texts;    /* several: each a single text, ascending */
    size_t n_ranges;
    struct hd_node *left, *right; /* NOT: left */
};

struct hd_predicate {
    struct hd_arena arena;
    const struct ArrowSchema *schema;
    struct hd_node *root; /* NULL: every row */
    int32_t *columns;
    int32_t n_columns;
};

enum hd_comparison { HD_EQUAL, HD_NOT_EQUAL, HD_LESS, HD_LESS_EQUAL, HD_GREATER, HD_GREATER_EQUAL };

enum hd_literal_kind { HD_LITERAL_NULL, HD_LITERAL_BOOL, HD_LITERAL_NUMBER, HD_LITERAL_TEXT };

struct hd_literal {
    enum hd_literal_kind kind;
    struct hd_slice text; /* digits of a number, unquoted text, "true" */
    size_t at;            /* place in the filter, from 1 */
};

/** Make the node for `column op literal`. `column` is of a type that compares. */
hudi_status hd_predicate_compare(struct hd_op *op, hd_predicate *predicate, int32_t column,
                                 enum hd_comparison comparison, const struct hd_literal *literal,
                                 struct hd_node **out);

/** `column IN (literals)`. */
hudi_status hd_predicate_in(struct hd_op *op, hd_predicate *predicate, int32_t column,
                            const struct hd_literal *literals, size_t n, struct hd_node **out);

/** Order of doubles as integers: NaN (all of them one) last, 0 and -0 one. */
static inline int64_t hd_float_key(double value)
{
    int64_t bits;

    if (value != value)
        return INT64_MAX;
    value += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits ^ (int64_t)((uint64_t)(bits >> 63) >> 1);
}

/** The value of a row as such a number. Not for text. */
static inline hd_int128 hd_number_of(const struct hd_view *view, int64_t row)
{
    switch (view->type.id) {
    case HD_TYPE_FLOAT:
        return hd_float_key((double)hd_view_float(view, row));
    case HD_TYPE_DOUBLE:
        return hd_float_key(hd_view_double(view, row));
    case HD_TYPE_DECIMAL:
        return hd_decimal_load(hd_view_bytes(view, row).data);
    default:
        return hd_view_integer(view, row);
    }
}

static inline bool hd_text_in_range(struct hd_slice text, const struct hd_text_range *range)
{
    if (range->low.data != NULL) {
        const int order = hd_slice_compare(text, range->low);
        if (order < 0 || (order == 0 && !range->low_inclusive))
            return false;
    }
    if (range->high.data != NULL) {
        const int order = hd_slice_compare(text, range->high);
        if (order > 0 || (order == 0 && !range->high_inclusive))
            return false;
    }
    return true;
}

#endif
