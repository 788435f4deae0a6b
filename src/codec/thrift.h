/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_THRIFT_H
#define HD_CODEC_THRIFT_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/op.h"
#include "base/str.h"

/*
 * Thrift's compact protocol, without an interface file: a struct is its fields, each with the bytes
 * of its value as they are in the input. So a field that nobody here knows is written again as it
 * came, and one that is changed is changed alone.
 *
 *     struct  field* 0x00
 *     field   delta << 4 | type, value         id = that of the field before + delta, 1 to 15
 *             type, zig-zag id, value          otherwise
 *     value   i8: a byte · i16, i32, i64: zig-zag varint · double: 8 bytes · bool: none, it is the
 *             field's type (a byte in a list or map) · binary: varint length, bytes
 *     list    count << 4 | type, values (also sets) or 0xf0 | type, varint count, values
 *     map     varint count, then, unless it is 0: key type << 4 | value type, keys and values
 *
 * Parsing checks the whole value: what was parsed can be skipped again without a look at bounds.
 */

enum hd_thrift_type {
    HD_THRIFT_TRUE = 1,
    HD_THRIFT_FALSE = 2,
    HD_THRIFT_I8 = 3,
    HD_THRIFT_I16 = 4,
    HD_THRIFT_I32 = 5,
    HD_THRIFT_I64 = 6,
    HD_THRIFT_DOUBLE = 7,
    HD_THRIFT_BINARY = 8,
    HD_THRIFT_LIST = 9,
    HD_THRIFT_SET = 10,
    HD_THRIFT_MAP = 11,
    HD_THRIFT_STRUCT = 12,
    HD_THRIFT_UUID = 13
};

#define HD_THRIFT_MAX_DEPTH 32
#define HD_THRIFT_MAX_FIELDS 64 /* of one struct */

struct hd_thrift_field {
    int16_t id;
    uint8_t type;
    struct hd_slice value; /* encoded; in the input or in the arena */
};

/** Fields in the order of the input, no id twice. */
struct hd_thrift_struct {
    struct hd_thrift_field *fields; /* in the arena */
    size_t n_fields;
};

/** Take a struct from the input. Values stay where they are, the array of fields is in `arena`.
 * @return HUDI_CORRUPT; HUDI_NOT_IMPLEMENTED beyond the limits above */
hudi_status hd_thrift_struct_take(struct hd_op *op, struct hd_arena *arena, struct hd_cursor *in,
                                  struct hd_thrift_struct *out);

/** Take the head of a list of that type. `min_bytes` is the least that an element takes; the count
 * is no more than fits what is left. @return HUDI_CORRUPT */
hudi_status hd_thrift_list_take(struct hd_op *op, struct hd_cursor *in, enum hd_thrift_type type,
                                size_t min_bytes, size_t *n);

/** NULL when there is none. */
const struct hd_thrift_field *hd_thrift_find(const struct hd_thrift_struct *in, int16_t id);

/** A field of this id and type as it is encoded. HUDI_NOT_FOUND (no error) without one.
 * @return HUDI_CORRUPT when it has another type */
hudi_status hd_thrift_get(struct hd_op *op, const struct hd_thrift_struct *in, int16_t id,
                          enum hd_thrift_type type, struct hd_slice *out);

/** As above: an integer of i16, i32 or i64; the bytes of a binary. */
hudi_status hd_thrift_get_integer(struct hd_op *op, const struct hd_thrift_struct *in, int16_t id,
                                  enum hd_thrift_type type, int64_t *out);
hudi_status hd_thrift_get_binary(struct hd_op *op, const struct hd_thrift_struct *in, int16_t id,
                                 struct hd_slice *out);

/** An integer as above; false when it is absent, of another type, or does not fit it. */
bool hd_thrift_find_integer(const struct hd_thrift_struct *in, int16_t id, enum hd_thrift_type type,
                            int64_t *out);

/** Both have the field with the same bytes, or both have none. */
bool hd_thrift_same(const struct hd_thrift_struct *a, const struct hd_thrift_struct *b, int16_t id);

/** Give the struct a fields array of its own, so that changes do not show in copies of it. */
hudi_status hd_thrift_struct_copy(struct hd_op *op, struct hd_arena *arena,
                                  const struct hd_thrift_struct *in, struct hd_thrift_struct *out);

/** Replace a field, or put it where its id belongs. `value` is encoded and stays the caller's. */
hudi_status hd_thrift_set(struct hd_op *op, struct hd_arena *arena, struct hd_thrift_struct *in,
                          int16_t id, enum hd_thrift_type type, struct hd_slice value);
hudi_status hd_thrift_set_integer(struct hd_op *op, struct hd_arena *arena,
                                  struct hd_thrift_struct *in, int16_t id, enum hd_thrift_type type,
                                  int64_t value);
void hd_thrift_remove(struct hd_thrift_struct *in, int16_t id);

/** Append the encoded struct; the head of a list, to be followed by its `n` encoded elements. */
hudi_status hd_thrift_append_struct(struct hd_op *op, struct hd_str *out,
                                    const struct hd_thrift_struct *in);
hudi_status hd_thrift_append_list(struct hd_op *op, struct hd_str *out, enum hd_thrift_type type,
                                  size_t n);

#endif
