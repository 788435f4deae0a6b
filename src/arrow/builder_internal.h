/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_BUILDER_INTERNAL_H
#define HD_ARROW_BUILDER_INTERNAL_H

#include "arrow/builder.h"

/* The inside of a builder, for parsers whose inner loop writes values in place. */

/*
 * Invariants
 *  1. `validity` is NULL until the first null; then it has a bit for each row, and bits behind the
 *     last row are 0.
 *  2. Types with offsets have length + 1 of them once `values` is there; before, the first is 0.
 *  3. A map has two children, key and value, without the entries struct between.
 *  4. Values and validity (also one that begins later) have room for `reserved_rows` rows.
 */
struct hd_builder {
    struct hd_type type;
    bool nullable;
    int64_t length;
    int64_t null_count;
    uint8_t *validity;
    uint8_t *values; /* fixed-width values, bits, or int32 offsets */
    uint8_t *data;
    uint64_t data_bytes;
    uint64_t data_capacity;       /* 2^31 - 1 at most */
    uint64_t expected_data_bytes; /* what the last batch had, or a little more */
    int64_t reserved_rows;
    uint64_t width; /* bytes of a value; 0 for BOOL and STRUCT, 4 (an offset) for lists */
    int64_t n_children;
    hd_builder **children;
};

/** Room for `n` rows more, in the children of structs too, but not below lists and maps. */
hudi_status hd_builder_reserve(struct hd_op *op, hd_builder *builder, int64_t n);

/** Room for `n_bytes` more of data. @return HUDI_INVALID past 2 GiB */
hudi_status hd_builder_grow_data(struct hd_op *op, hd_builder *builder, uint64_t n_bytes);
static inline hudi_status hd_builder_room_for_data(struct hd_op *op, hd_builder *builder,
                                                   uint64_t n_bytes)
{
    return n_bytes <= builder->data_capacity - builder->data_bytes
               ? HUDI_OK
               : hd_builder_grow_data(op, builder, n_bytes);
}

/** Count the row in; its value is there and there is room for its validity. */
static inline void hd_builder_close_valid(hd_builder *b)
{
    if (b->validity != NULL)
        b->validity[b->length >> 3] =
            (uint8_t)(b->validity[b->length >> 3] | 1u << (b->length & 7));
    b->length++;
}

#endif
