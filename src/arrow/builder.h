/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_BUILDER_H
#define HD_ARROW_BUILDER_H

#include <stdint.h>

#include "arrow/decimal.h"
#include "arrow/type.h"
#include "base/op.h"
#include "base/str.h"
#include "hudi/arrow_c.h"

/**
 * Builds one array of a canonical type value by value; for parsers (JSON, Avro) and tests. Buffers
 * grow by half, nothing is allocated per value. A struct's children are appended by the caller, one
 * value each, then the struct itself by hd_builder_append_valid(); a list's or map's elements are
 * appended to the child first, then hd_builder_append_valid() closes the row over what came since
 * the last row. hd_builder_append_null() on a struct appends to every child too: a null, or an
 * empty value where the child's field takes no null.
 */
typedef struct hd_builder hd_builder;

/** For any canonical type; `field` is not kept. @return HUDI_NOT_IMPLEMENTED for other types. */
hudi_status hd_builder_new(struct hd_op *op, const struct ArrowSchema *field, hd_builder **out);
void hd_builder_free(hd_builder *builder);

const struct hd_type *hd_builder_type(const hd_builder *builder);
/** Child `i`: a struct's field, a list's element, a map's key (0) and value (1). */
hd_builder *hd_builder_child(hd_builder *builder, int64_t i);
int64_t hd_builder_length(const hd_builder *builder);

/* A failed append leaves the builder as it was (a null of a struct may have reached some children:
 * hd_builder_truncate() puts that right). */
hudi_status hd_builder_append_null(struct hd_op *op, hd_builder *builder);
hudi_status hd_builder_append_valid(struct hd_op *op, hd_builder *builder);
/** BOOL (0 or 1), INT32, INT64, DATE, TIME, TIMESTAMP; HUDI_INVALID when out of the type's range.
 */
hudi_status hd_builder_append_integer(struct hd_op *op, hd_builder *builder, int64_t value);
/** FLOAT, DOUBLE. */
hudi_status hd_builder_append_double(struct hd_op *op, hd_builder *builder, double value);
/** STRING, BINARY, FIXED_BINARY (exact width); HUDI_INVALID past 2 GiB of data in one array. */
hudi_status hd_builder_append_bytes(struct hd_op *op, hd_builder *builder, struct hd_slice bytes);
/** DECIMAL as a 128-bit two's complement, unscaled. */
hudi_status hd_builder_append_decimal(struct hd_op *op, hd_builder *builder, hd_int128 unscaled);

/** Drop everything after row `length`, in the children too, also what was appended to children
 * without closing a row (a record that turned out bad half-way). */
void hd_builder_truncate(hd_builder *builder, int64_t length);

/** Approximate bytes held. */
uint64_t hd_builder_bytes(const hd_builder *builder);

/** Give up what was built; the builder is empty and ready again, also on failure (the rows are then
 * lost). */
hudi_status hd_builder_finish(struct hd_op *op, hd_builder *builder, struct ArrowArray *out);

#endif
