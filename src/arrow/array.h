/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_ARRAY_H
#define HD_ARROW_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "arrow/type.h"
#include "base/op.h"
#include "base/str.h"
#include "hudi/arrow_c.h"

/*
 * Owning and making ArrowArrays. Every array made here is released with hd_array_clear(); buffers
 * are aligned to 64 bytes and padded to a multiple of 64.
 */

/** Release if not released; all zero after. */
void hd_array_clear(struct ArrowArray *array);

/** Move: `*to = *from`, `*from` all zero. */
static inline void hd_array_move(struct ArrowArray *from, struct ArrowArray *to)
{
    *to = *from;
    *from = (struct ArrowArray){0};
}

/**
 * Turn `*array` (taken, all zero after) into an owner that can be shared: hd_array_share() gives
 * further handles on the same buffers, each released by itself, from any thread.
 */
struct hd_shared_array;
hudi_status hd_shared_array_new(struct hd_op *op, struct ArrowArray *array,
                                struct hd_shared_array **out);
/** A handle on the whole array (`column` -1), or on its child `column` with the parent's offset,
 * length and nothing else applied (a struct array must have no nulls of its own). */
hudi_status hd_array_share(struct hd_op *op, struct hd_shared_array *shared, int32_t column,
                           struct ArrowArray *out);
const struct ArrowArray *hd_shared_array_get(const struct hd_shared_array *shared);
/** Drop this owner; the buffers live until the last handle is released. Takes NULL. */
void hd_shared_array_free(struct hd_shared_array *shared);

/** A struct array of `n` columns (each moved in and zeroed), all `length` rows long. On failure the
 * columns are released. */
hudi_status hd_array_struct(struct hd_op *op, struct ArrowArray *columns, int32_t n, int64_t length,
                            struct ArrowArray *out);

/** A handle on somebody else's array: releasing it leaves the array, which must outlive it, alone.
 */
hudi_status hd_array_borrow(struct hd_op *op, const struct ArrowArray *array,
                            struct ArrowArray *out);

/** The rows [start, start + length) as a shallow handle; takes `*array` over (also on failure).
 * @return HUDI_INVALID when the rows are not all there. */
hudi_status hd_array_slice(struct hd_op *op, struct ArrowArray *array, int64_t start,
                           int64_t length, struct ArrowArray *out);

/** `length` rows of the same string, dictionary-encoded (int32 indices). Schema: see
 * hd_schema_init_dictionary(). */
hudi_status hd_array_constant_dictionary(struct hd_op *op, struct hd_slice value, int64_t length,
                                         struct ArrowArray *out);
hudi_status hd_schema_init_dictionary(struct hd_op *op, struct ArrowSchema *out, const char *name,
                                      bool nullable);

/** `length` rows of the same string as a plain STRING array.
 * @return HUDI_INVALID past 2 GiB. */
hudi_status hd_array_constant_string(struct hd_op *op, struct hd_slice value, int64_t length,
                                     struct ArrowArray *out);

/** `length` nulls of a type (any canonical type, nested ones too). */
hudi_status hd_array_nulls(struct hd_op *op, const struct ArrowSchema *field, int64_t length,
                           struct ArrowArray *out);

/** Bytes of all buffers below, from the lengths (a slice counts what lies before it, not behind).
 */
uint64_t hd_array_bytes(const struct ArrowSchema *field, const struct ArrowArray *array);

/** A new STRING array from `length + 1` int32 offsets and bytes; both buffers were made by
 * hd_buffer_new() and are taken over. `validity` may be NULL. */
hudi_status hd_array_string(struct hd_op *op, int64_t length, int64_t null_count, void *validity,
                            void *offsets, void *data, struct ArrowArray *out);

/** A fixed-width array from a buffer made by hd_buffer_new() (taken over). */
hudi_status hd_array_fixed(struct hd_op *op, int64_t length, int64_t null_count, void *validity,
                           void *values, struct ArrowArray *out);

/** A zeroed buffer, 64-byte aligned and padded; hd_buffer_free() if not given to an array. */
hudi_status hd_buffer_new(struct hd_op *op, uint64_t n_bytes, void *out);
/** As hd_buffer_new(), but only the padding is zeroed: for who fills all `n_bytes`. Zero bytes give
 * a buffer of 64 zeros. */
hudi_status hd_buffer_new_raw(struct hd_op *op, uint64_t n_bytes, void *out);
/** Make `*(T **)buffer` (NULL: none yet) at least `n_bytes` large; its first `used_bytes` are kept,
 * the rest is zero. Does nothing when it is large enough; unchanged on failure. */
hudi_status hd_buffer_grow(struct hd_op *op, void *buffer, uint64_t used_bytes, uint64_t n_bytes);
/** Bytes that fit, padding included; 0 for NULL. */
uint64_t hd_buffer_capacity(const void *buffer);
void hd_buffer_free(void *buffer);

#define HD_ARRAY_MAX_BUFFERS 3

/**
 * An owner to be filled: `out->buffers[0..n_buffers)` are NULL and take what hd_buffer_new() made,
 * `out->children` point to `n_children` arrays that are all zero and take what was moved there, and
 * so does `out->dictionary` if asked for. Length, null count and offset are 0.
 */
hudi_status hd_array_new(struct hd_op *op, int64_t n_buffers, int64_t n_children, bool dictionary,
                         struct ArrowArray *out);

/** Give `buffer` (made by hd_buffer_new(), may be NULL) to slot `i` of an array of hd_array_new().
 */
static inline void hd_array_set_buffer(struct ArrowArray *array, int64_t i, void *buffer)
{
    array->buffers[i] = buffer;
}

#endif
