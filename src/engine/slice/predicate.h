/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_PREDICATE_H
#define HD_ENGINE_PREDICATE_H

#include <stdbool.h>
#include <stdint.h>

#include "arrow/view.h"
#include "base/op.h"
#include "base/str.h"
#include "hudi/arrow_c.h"

/**
 * A filter on rows, parsed from text and typed against the columns it may name:
 *
 *     filter     := and ( OR and )*
 *     and        := not ( AND not )*
 *     not        := NOT not | "(" filter ")" | condition
 *     condition  := column op literal | literal op column | column IS [NOT] NULL
 *                 | column [NOT] IN "(" literal ( "," literal )* ")" | column (of type boolean)
 *     op         := = | == | != | <> | < | <= | > | >=
 *     literal    := 'text' ('' is a quote) | [DATE | TIMESTAMP | TIME] 'text' | number | TRUE |
 * FALSE | NULL column     := name | "name" | `name` (a doubled quote stands for itself)
 *
 * Key words in any case. A bare name is looked for as it is, then in any case. Numbers are compared
 * as numbers, text by UTF-8 bytes; a literal against a 32-bit float is the nearest such float;
 * dates, times and timestamps are ISO texts in the column's unit (a text without zone is UTC). NaN
 * is greater than every number and equal to itself. Null is unknown: three-valued logic, and a row
 * passes when the whole is true. Columns of lists, maps, structs and bytes know IS NULL alone.
 */
typedef struct hd_predicate hd_predicate;

/** The predicate that every row passes. `schema` (a struct of canonical columns) must outlive it.
 */
hudi_status hd_predicate_new(struct hd_op *op, const struct ArrowSchema *schema,
                             hd_predicate **out);

/**
 * Narrow it: rows must pass `text` as well.
 * @return HUDI_INVALID for text that is no filter, an unknown column, a literal that does not fit
 *         its column; the message names the character (from 1)
 */
hudi_status hd_predicate_and(struct hd_op *op, hd_predicate *predicate, struct hd_slice text);

void hd_predicate_free(hd_predicate *predicate);

/** Numbers of the columns it looks at, ascending, each once; none when every row passes. */
const int32_t *hd_predicate_columns(const hd_predicate *predicate, int32_t *n);

/**
 * Which of `n_rows` rows pass: `passes[i]` becomes 1 or 0.
 * @param columns  by column number; only those of hd_predicate_columns() are looked at
 */
hudi_status hd_predicate_select(struct hd_op *op, const hd_predicate *predicate,
                                const struct hd_view *const *columns, int64_t n_rows,
                                uint8_t *passes);

/** What is known of a column in a set of rows. All zero but null_count -1: nothing. */
struct hd_column_bounds {
    const struct hd_view *min; /* one row each, of the column's type; NULL: unknown */
    const struct hd_view *max;
    int64_t null_count; /* -1: unknown */
    bool is_exact;      /* all values that are not null equal `min`; else floats may be NaN too,
                           which statistics leave out */
};

/** False only when certainly none of `n_rows` rows (-1: unknown how many) passes. `bounds` by
 * column number, NULL entries: nothing is known. */
bool hd_predicate_may_match(const hd_predicate *predicate,
                            const struct hd_column_bounds *const *bounds, int64_t n_rows);

#endif
