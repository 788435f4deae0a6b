/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_CAST_INTERNAL_H
#define HD_ARROW_CAST_INTERNAL_H

#include "arrow/array.h"
#include "arrow/cast.h"
#include "arrow/decimal.h"
#include "arrow/view.h"

/* Between the files of the cast. */

/** Where in the tree a field is, for messages: "a.b.item". */
struct hd_cast_path {
    const struct hd_cast_path *up; /* NULL above the columns */
    const char *name;
};

/** hd_fail() with `column "PATH"` before the message. */
hudi_status hd_cast_fail(struct hd_op *op, const struct hd_cast_path *path, hudi_status status,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/** From rows of a list's or map's items to the list's rows, and on up to the array's. */
struct hd_cast_rows {
    const struct hd_cast_rows *up; /* NULL: the array's own rows are above */
    const int32_t *offsets;        /* n_rows + 1, rising */
    int64_t n_rows;
};

/** What becomes of a row that does not fit. */
struct hd_cast_sink {
    struct hd_misfits *misfits;      /* NULL: it is an error of the whole */
    const struct hd_cast_rows *rows; /* NULL: rows are the array's own */
};

/** The value in `row` does not fit: HUDI_OK when it went to the misfits, else HUDI_INVALID saying
 * `column "PATH" row N: MESSAGE`. */
hudi_status hd_cast_row_fails(struct hd_op *op, const struct hd_cast_path *path,
                              const struct hd_cast_sink *sink, int64_t row, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** One column without children on its way from a canonical type to another. */
struct hd_cast_leaf {
    struct hd_op *op;
    const struct hd_cast_path *path;
    const struct hd_view *from;
    struct hd_type to;
    const struct ArrowSchema *to_field;
    enum hd_cast_rule rule;
    struct hd_cast_sink sink;
};

/** A value that is not null, for a message: short, on one line. */
#define HD_CAST_TEXT_BYTES 168
void hd_cast_value_text(const struct hd_view *view, int64_t row, char out[HD_CAST_TEXT_BYTES]);

/** hd_cast_row_fails() with `"abc" does not fit int32`. */
hudi_status hd_cast_misfit(const struct hd_cast_leaf *leaf, int64_t row);
/** The same of a value that is row `named_row` elsewhere. */
hudi_status hd_cast_misfit_at(const struct hd_cast_leaf *leaf, int64_t row, int64_t named_row);

/** An array of the leaf's length with its validity and `n_buffers` buffers. */
hudi_status hd_cast_begin(const struct hd_cast_leaf *leaf, int64_t n_buffers,
                          struct ArrowArray *out);

/** The new array's values: `n_bytes` that will all be written (also behind nulls). */
hudi_status hd_cast_values(const struct hd_cast_leaf *leaf, uint64_t n_bytes,
                           struct ArrowArray *out, void *values);

/* Conversions to a new array. Nulls hold zeros. The pair of types is one that hd_cast_check() lets
 * through. `out` may hold a part on failure: clear it. */
hudi_status hd_cast_to_text(const struct hd_cast_leaf *leaf, struct ArrowArray *out);
hudi_status hd_cast_to_integer(const struct hd_cast_leaf *leaf, struct ArrowArray *out);
hudi_status hd_cast_to_floating(const struct hd_cast_leaf *leaf, struct ArrowArray *out);
hudi_status hd_cast_to_decimal(const struct hd_cast_leaf *leaf, struct ArrowArray *out);
hudi_status hd_cast_to_bool(const struct hd_cast_leaf *leaf, struct ArrowArray *out);
hudi_status hd_cast_bytes_to_fixed(const struct hd_cast_leaf *leaf, struct ArrowArray *out);
hudi_status hd_cast_fixed_to_bytes(const struct hd_cast_leaf *leaf, struct ArrowArray *out);

/* One value that is not null, as the functions above convert it; false when it does not fit. */
bool hd_cast_value_to_integer(const struct hd_cast_leaf *leaf, int64_t row, int64_t *out);
bool hd_cast_value_to_double(const struct hd_view *from, int64_t row, double *out);
bool hd_cast_value_to_float(const struct hd_view *from, int64_t row, float *out);
bool hd_cast_value_to_decimal(const struct hd_cast_leaf *leaf, int64_t row, hd_int128 *out);

/** The least rule under which a value of type `from` becomes one of type `to`; beyond
 * HD_CAST_INPUT when there is none. Of nested types only the outermost counts. */
enum hd_cast_rule hd_cast_rule_of(const struct hd_type *from, const struct hd_type *to);

/** hd_cast_misfit() for every row that is not UTF-8. */
hudi_status hd_cast_check_text(const struct hd_cast_leaf *leaf);

/** A column without children and of a type that is not canonical (dictionaries not among them), to
 * its canonical form. */
hudi_status hd_cast_leaf_layout(struct hd_op *op, const struct hd_cast_path *path,
                                const struct ArrowSchema *from, const struct ArrowArray *array,
                                const struct hd_cast_sink *sink, struct ArrowArray *out);

/** Bits `offset`... of an array's validity as a new buffer, NULL when it has no nulls. */
hudi_status hd_cast_validity(struct hd_op *op, const uint8_t *validity, int64_t offset,
                             int64_t length, struct ArrowArray *out);

#endif
