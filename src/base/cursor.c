/* SPDX-License-Identifier: Apache-2.0 */

#include "base/cursor.h"

#include <assert.h>
#include <inttypes.h>

#define VARINT_MAX_BYTES 10

struct hd_cursor hd_cursor_over(const void *data, size_t size, uint64_t file_offset)
{
    static const uint8_t nothing[1]; /* no arithmetic on NULL */
    const uint8_t *const start = data == NULL ? nothing : data;

    assert(data != NULL || size == 0);
    return (struct hd_cursor){
        .at = start, .end = start + size, .start = start, .file_offset = file_offset};
}

static hudi_status fail_short(struct hd_op *op, const struct hd_cursor *c, uint64_t n)
{
    return hd_fail(op, HUDI_CORRUPT,
                   "%" PRIu64 " bytes are needed at byte %" PRIu64 ", %zu are left", n,
                   hd_cursor_offset(c), hd_cursor_left(c));
}

/* Big-endian bytes to a number; the compiler makes one load of it. */
static uint64_t from_be(const uint8_t *at, unsigned n_bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < n_bytes; i++)
        value = value << 8 | at[i];
    return value;
}

static uint64_t from_le(const uint8_t *at, unsigned n_bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < n_bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

hudi_status hd_cursor_u8(struct hd_op *op, struct hd_cursor *c, uint8_t *out)
{
    if (hd_cursor_left(c) < 1)
        return fail_short(op, c, 1);
    *out = *c->at++;
    return HUDI_OK;
}

hudi_status hd_cursor_u16be(struct hd_op *op, struct hd_cursor *c, uint16_t *out)
{
    if (hd_cursor_left(c) < 2)
        return fail_short(op, c, 2);
    *out = (uint16_t)from_be(c->at, 2);
    c->at += 2;
    return HUDI_OK;
}

hudi_status hd_cursor_u32be(struct hd_op *op, struct hd_cursor *c, uint32_t *out)
{
    if (hd_cursor_left(c) < 4)
        return fail_short(op, c, 4);
    *out = (uint32_t)from_be(c->at, 4);
    c->at += 4;
    return HUDI_OK;
}

hudi_status hd_cursor_u64be(struct hd_op *op, struct hd_cursor *c, uint64_t *out)
{
    if (hd_cursor_left(c) < 8)
        return fail_short(op, c, 8);
    *out = from_be(c->at, 8);
    c->at += 8;
    return HUDI_OK;
}

hudi_status hd_cursor_u32le(struct hd_op *op, struct hd_cursor *c, uint32_t *out)
{
    if (hd_cursor_left(c) < 4)
        return fail_short(op, c, 4);
    *out = (uint32_t)from_le(c->at, 4);
    c->at += 4;
    return HUDI_OK;
}

hudi_status hd_cursor_u64le(struct hd_op *op, struct hd_cursor *c, uint64_t *out)
{
    if (hd_cursor_left(c) < 8)
        return fail_short(op, c, 8);
    *out = from_le(c->at, 8);
    c->at += 8;
    return HUDI_OK;
}

/* The tenth byte holds one bit of the 64. */
static hudi_status varint_long(struct hd_op *op, struct hd_cursor *c, uint64_t *out)
{
    const size_t left = hd_cursor_left(c);
    uint64_t value = 0;

    for (unsigned i = 0; i < VARINT_MAX_BYTES; i++) {
        if (i == left)
            return hd_fail(op, HUDI_CORRUPT,
                           "the number at byte %" PRIu64 " is cut short after %u bytes",
                           hd_cursor_offset(c), i);
        const uint8_t byte = c->at[i];
        if (i == VARINT_MAX_BYTES - 1 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7F) << 7 * i;
        if (byte < 0x80) {
            c->at += i + 1;
            *out = value;
            return HUDI_OK;
        }
    }
    return hd_fail(op, HUDI_CORRUPT, "the number at byte %" PRIu64 " does not fit 64 bits",
                   hd_cursor_offset(c));
}

hudi_status hd_cursor_varint(struct hd_op *op, struct hd_cursor *c, uint64_t *out)
{
    if (c->at < c->end && *c->at < 0x80) {
        *out = *c->at++;
        return HUDI_OK;
    }
    return varint_long(op, c, out);
}

hudi_status hd_cursor_zigzag(struct hd_op *op, struct hd_cursor *c, int64_t *out)
{
    uint64_t value;

    HD_TRY(hd_cursor_varint(op, c, &value));
    *out = (int64_t)(value >> 1 ^ (0 - (value & 1)));
    return HUDI_OK;
}

hudi_status hd_cursor_take(struct hd_op *op, struct hd_cursor *c, uint64_t n, struct hd_slice *out)
{
    if (n > hd_cursor_left(c))
        return fail_short(op, c, n);
    *out = hd_slice_of(c->at, (size_t)n);
    c->at += n;
    return HUDI_OK;
}

hudi_status hd_cursor_sub(struct hd_op *op, struct hd_cursor *c, uint64_t n, struct hd_cursor *out)
{
    if (n > hd_cursor_left(c))
        return fail_short(op, c, n);
    *out = hd_cursor_over(c->at, (size_t)n, hd_cursor_offset(c));
    c->at += n;
    return HUDI_OK;
}

hudi_status hd_cursor_skip(struct hd_op *op, struct hd_cursor *c, uint64_t n)
{
    struct hd_slice skipped;

    return hd_cursor_take(op, c, n, &skipped);
}

hudi_status hd_cursor_expect(struct hd_op *op, struct hd_cursor *c, const void *bytes, size_t n)
{
    if (n > hd_cursor_left(c))
        return fail_short(op, c, n);
    if (n > 0 && memcmp(c->at, bytes, n) != 0)
        return hd_fail(op, HUDI_CORRUPT,
                       "the %zu bytes at byte %" PRIu64 " are not those of this format", n,
                       hd_cursor_offset(c));
    c->at += n;
    return HUDI_OK;
}

struct hd_slice hd_cursor_since(const struct hd_cursor *c, struct hd_cursor start)
{
    assert(start.start == c->start && start.at <= c->at);
    return hd_slice_of(start.at, (size_t)(c->at - start.at));
}
