/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_BASE_CURSOR_H
#define HD_BASE_CURSOR_H

#include <stdint.h>

#include "base/op.h"
#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The one way to read untrusted bytes: a position in a buffer that knows its end and the offset of
 * the buffer in its file, for messages. Every taker checks what is left first, fails with
 * HUDI_CORRUPT naming the file offset, and leaves the cursor where it was on failure.
 */
struct hd_cursor {
    const uint8_t *at;
    const uint8_t *end;
    const uint8_t *start;
    uint64_t file_offset; /* of `start` */
};

struct hd_cursor hd_cursor_over(const void *data, size_t size, uint64_t file_offset);

static inline size_t hd_cursor_left(const struct hd_cursor *c)
{
    return (size_t)(c->end - c->at);
}

/** Offset of the next byte in the file. */
static inline uint64_t hd_cursor_offset(const struct hd_cursor *c)
{
    return c->file_offset + (uint64_t)(c->at - c->start);
}

hudi_status hd_cursor_u8(struct hd_op *op, struct hd_cursor *c, uint8_t *out);
hudi_status hd_cursor_u16be(struct hd_op *op, struct hd_cursor *c, uint16_t *out);
hudi_status hd_cursor_u32be(struct hd_op *op, struct hd_cursor *c, uint32_t *out);
hudi_status hd_cursor_u64be(struct hd_op *op, struct hd_cursor *c, uint64_t *out);
hudi_status hd_cursor_u32le(struct hd_op *op, struct hd_cursor *c, uint32_t *out);
hudi_status hd_cursor_u64le(struct hd_op *op, struct hd_cursor *c, uint64_t *out);

/** Unsigned LEB128 (at most 10 bytes) and its zig-zag form, as in Avro and Thrift. */
hudi_status hd_cursor_varint(struct hd_op *op, struct hd_cursor *c, uint64_t *out);
hudi_status hd_cursor_zigzag(struct hd_op *op, struct hd_cursor *c, int64_t *out);

/** The next `n` bytes, in place. */
hudi_status hd_cursor_take(struct hd_op *op, struct hd_cursor *c, uint64_t n, struct hd_slice *out);

/** A cursor of its own over the next `n` bytes. */
hudi_status hd_cursor_sub(struct hd_op *op, struct hd_cursor *c, uint64_t n, struct hd_cursor *out);

hudi_status hd_cursor_skip(struct hd_op *op, struct hd_cursor *c, uint64_t n);

/** Fails unless the next bytes are these. */
hudi_status hd_cursor_expect(struct hd_op *op, struct hd_cursor *c, const void *bytes, size_t n);

/** What was read since `start`, a copy of this cursor taken earlier. */
struct hd_slice hd_cursor_since(const struct hd_cursor *c, struct hd_cursor start);

#ifdef __cplusplus
}
#endif

#endif
