/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_SCHEMA_H
#define HD_ARROW_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "arrow/type.h"
#include "base/op.h"
#include "hudi/arrow_c.h"

/*
 * Building and picking apart ArrowSchema trees. Every schema made here owns all it points to and is
 * released with hd_schema_clear(). On failure `out` is all zero.
 */

/** A struct field called `name` ("" for the root of a batch) with `n_children` children still to be
 * set by hd_schema_init_* on out->children[i]. */
hudi_status hd_schema_init_struct(struct hd_op *op, struct ArrowSchema *out, const char *name,
                                  bool nullable, int64_t n_children);

/** A field without children. */
hudi_status hd_schema_init_field(struct hd_op *op, struct ArrowSchema *out, const char *name,
                                 const struct hd_type *type, bool nullable);

/**
 * Bytes that a decimal takes where it is stored, when its Avro type is a fixed of its own size: as
 * metadata of the field, since Arrow's types do not have it. 0: as its digits need. It says nothing
 * of the values: types are equal without regard to it.
 */
#define HD_DECIMAL_BYTES_KEY "hudi.decimal.bytes"
int32_t hd_schema_decimal_bytes(const struct ArrowSchema *field);
/** Set it, in the place of other metadata. `field` is of hd_schema_init_field(). */
hudi_status hd_schema_set_decimal_bytes(struct hd_op *op, struct ArrowSchema *field,
                                        int32_t n_bytes);

/** A list with the child still to be set at out->children[0]. */
hudi_status hd_schema_init_list(struct hd_op *op, struct ArrowSchema *out, const char *name,
                                bool nullable);

/** A map with string keys; the value is still to be set at out->children[0]->children[1]. */
hudi_status hd_schema_init_map(struct hd_op *op, struct ArrowSchema *out, const char *name,
                               bool nullable);

hudi_status hd_schema_copy(struct hd_op *op, const struct ArrowSchema *from,
                           struct ArrowSchema *out);

/** A deep copy of a field under another name. */
hudi_status hd_schema_copy_as(struct hd_op *op, const struct ArrowSchema *from, const char *name,
                              bool nullable, struct ArrowSchema *out);

/** The root with only the children `columns[0..n)`, in that order (copied). */
hudi_status hd_schema_select(struct hd_op *op, const struct ArrowSchema *root,
                             const int32_t *columns, int32_t n, struct ArrowSchema *out);

/** Position of the child called `name`, or -1. */
int32_t hd_schema_find(const struct ArrowSchema *root, const char *name);

static inline bool hd_schema_nullable(const struct ArrowSchema *field)
{
    return (field->flags & ARROW_FLAG_NULLABLE) != 0;
}

/** Release if not released; all zero after. */
void hd_schema_clear(struct ArrowSchema *schema);

#endif
