/* SPDX-License-Identifier: Apache-2.0 */

#include "format/log/log_positions.h"

#include <inttypes.h>
#include <string.h>

#include "base/cursor.h"
#include "codec/base64.h"

#define COOKIE 12346u
#define COOKIE_WITH_RUNS 12347u
#define MAX_CONTAINERS 65536u
#define MAX_ARRAY 4096u /* values of a container that is no bitset */
#define BITSET_BYTES 8192u
#define NO_OFFSETS_BELOW 4u /* containers, where there are runs */

/* ---- reading ------------------------------------------------------------------------------ */

struct positions {
    uint64_t *values;
    size_t n;
    size_t capacity;
    uint64_t most;
};

/* What stands in front of the containers of one 32-bit bitmap. */
struct head {
    uint32_t n;
    struct hd_cursor runs; /* a bit for each container; empty without runs */
    struct hd_cursor keys; /* key and cardinality - 1 of each */
    bool has_runs;
};

static hudi_status fail(struct hd_op *op, const char *what)
{
    return hd_fail(op, HUDI_CORRUPT, "record positions: %s", what);
}

static hudi_status u16le(struct hd_op *op, struct hd_cursor *in, uint32_t *out)
{
    uint8_t low, high;

    HD_TRY(hd_cursor_u8(op, in, &low));
    HD_TRY(hd_cursor_u8(op, in, &high));
    *out = (uint32_t)low | (uint32_t)high << 8;
    return HUDI_OK;
}

static hudi_status add(struct hd_op *op, struct positions *p, uint64_t value)
{
    if (p->n > 0 && value <= p->values[p->n - 1])
        return fail(op, "not in order");
    if (p->n == p->most)
        return hd_fail(op, HUDI_CORRUPT, "more than %" PRIu64 " record positions", p->most);
    HD_TRY(hd_grow(op, &p->values, &p->capacity, p->n + 1, sizeof *p->values));
    p->values[p->n++] = value;
    return HUDI_OK;
}

static hudi_status read_array(struct hd_op *op, struct hd_cursor *in, uint64_t base,
                              uint32_t cardinality, struct positions *p)
{
    uint32_t value;

    for (uint32_t i = 0; i < cardinality; i++) {
        HD_TRY(u16le(op, in, &value));
        HD_TRY(add(op, p, base | value));
    }
    return HUDI_OK;
}

static hudi_status read_bitset(struct hd_op *op, struct hd_cursor *in, uint64_t base,
                               struct positions *p)
{
    struct hd_slice bits;

    HD_TRY(hd_cursor_take(op, in, BITSET_BYTES, &bits));
    for (uint32_t i = 0; i < BITSET_BYTES; i++)
        for (uint32_t byte = bits.data[i]; byte != 0; byte &= byte - 1)
            HD_TRY(add(op, p, base | (i * 8 + (uint32_t)__builtin_ctz(byte))));
    return HUDI_OK;
}

static hudi_status read_runs(struct hd_op *op, struct hd_cursor *in, uint64_t base,
                             struct positions *p)
{
    uint32_t n_runs, start, more;

    HD_TRY(u16le(op, in, &n_runs));
    for (uint32_t i = 0; i < n_runs; i++) {
        HD_TRY(u16le(op, in, &start));
        HD_TRY(u16le(op, in, &more));
        if (start + more > UINT16_MAX)
            return fail(op, "a run ends beyond its container");
        for (uint32_t j = 0; j <= more; j++)
            HD_TRY(add(op, p, base | (start + j)));
    }
    return HUDI_OK;
}

static hudi_status read_head(struct hd_op *op, struct hd_cursor *in, struct head *out)
{
    uint32_t cookie, n;

    HD_TRY(hd_cursor_u32le(op, in, &cookie));
    out->has_runs = (cookie & UINT16_MAX) == COOKIE_WITH_RUNS;
    if (out->has_runs)
        n = (cookie >> 16) + 1;
    else if (cookie == COOKIE)
        HD_TRY(hd_cursor_u32le(op, in, &n));
    else
        return hd_fail(op, HUDI_CORRUPT, "record positions: cookie %" PRIu32, cookie);
    if (n > MAX_CONTAINERS)
        return fail(op, "too many containers");
    HD_TRY(hd_cursor_sub(op, in, out->has_runs ? (n + 7) / 8 : 0, &out->runs));
    HD_TRY(hd_cursor_sub(op, in, 4 * (uint64_t)n, &out->keys));
    if (!out->has_runs || n >= NO_OFFSETS_BELOW)
        HD_TRY(hd_cursor_skip(op, in, 4 * (uint64_t)n)); /* containers lie back to back */
    out->n = n;
    return HUDI_OK;
}

static hudi_status read_bitmap(struct hd_op *op, struct hd_cursor *in, uint32_t high,
                               struct positions *p)
{
    struct head head;

    HD_TRY(read_head(op, in, &head));
    for (uint32_t i = 0; i < head.n; i++) {
        uint32_t key, cardinality;

        HD_TRY(u16le(op, &head.keys, &key));
        HD_TRY(u16le(op, &head.keys, &cardinality));
        cardinality++;
        if (cardinality > p->most - p->n)
            return hd_fail(op, HUDI_CORRUPT, "more than %" PRIu64 " record positions", p->most);
        const uint64_t base = (uint64_t)high << 32 | (uint64_t)key << 16;
        const size_t before = p->n;
        if (head.has_runs && (head.runs.start[i / 8] >> i % 8 & 1) != 0)
            HD_TRY(read_runs(op, in, base, p));
        else if (cardinality <= MAX_ARRAY)
            HD_TRY(read_array(op, in, base, cardinality, p));
        else
            HD_TRY(read_bitset(op, in, base, p));
        if (p->n - before != cardinality)
            return fail(op, "a container has another cardinality than it says");
    }
    return HUDI_OK;
}

static hudi_status read_buckets(struct hd_op *op, struct hd_cursor *in, struct positions *p)
{
    uint64_t n_buckets;
    uint32_t high;

    HD_TRY(hd_cursor_u64le(op, in, &n_buckets));
    for (uint64_t i = 0; i < n_buckets; i++) { /* each takes 12 bytes at least */
        HD_TRY(hd_cursor_u32le(op, in, &high));
        HD_TRY(read_bitmap(op, in, high, p));
    }
    return hd_cursor_left(in) == 0 ? HUDI_OK : fail(op, "bytes are left over");
}

hudi_status hd_log_positions_decode(struct hd_op *op, struct hd_slice text, uint64_t max_positions,
                                    uint64_t **out, size_t *n)
{
    struct positions positions = {.most = max_positions};
    struct hd_str bytes = {0};
    hudi_status status = HUDI_OK;

    *out = NULL;
    *n = 0;
    HD_TRY(hd_base64_decode(op, text, &bytes));
    struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 0);
    HD_TRY_OUT(read_buckets(op, &in, &positions));
    if (positions.values == NULL)
        HD_TRY_OUT(hd_alloc(op, 1, &positions.values));
    *out = positions.values;
    *n = positions.n;
    positions.values = NULL;
out:
    hd_free(op, positions.values);
    hd_str_clear(&bytes);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

static hudi_status append_le(struct hd_op *op, struct hd_str *out, uint64_t value, int n_bytes)
{
    char bytes[8];

    for (int i = 0; i < n_bytes; i++)
        bytes[i] = (char)(uint8_t)(value >> 8 * i);
    return hd_str_append(op, out, bytes, (size_t)n_bytes);
}

/* How many of the positions have what the first has above its lowest `bits`. */
static size_t count_same(const uint64_t *positions, size_t n, int bits)
{
    size_t same = 1;

    while (same < n && positions[same] >> bits == positions[0] >> bits)
        same++;
    return same;
}

static hudi_status append_container(struct hd_op *op, const uint64_t *positions, size_t n,
                                    struct hd_str *out)
{
    if (n <= MAX_ARRAY) {
        for (size_t i = 0; i < n; i++)
            HD_TRY(append_le(op, out, positions[i] & UINT16_MAX, 2));
        return HUDI_OK;
    }
    HD_TRY(hd_str_reserve(op, out, BITSET_BYTES));
    uint8_t *const bits = (uint8_t *)out->data + out->size;
    memset(bits, 0, BITSET_BYTES);
    for (size_t i = 0; i < n; i++)
        bits[(positions[i] & UINT16_MAX) / 8] |= (uint8_t)(1u << positions[i] % 8);
    out->size += BITSET_BYTES;
    return HUDI_OK;
}

static hudi_status append_bitmap(struct hd_op *op, const uint64_t *positions, size_t n,
                                 struct hd_str *out)
{
    uint32_t n_containers = 0;
    size_t same;

    for (size_t i = 0; i < n; i += count_same(positions + i, n - i, 16))
        n_containers++;
    HD_TRY(append_le(op, out, COOKIE, 4));
    HD_TRY(append_le(op, out, n_containers, 4));
    for (size_t i = 0; i < n; i += same) {
        same = count_same(positions + i, n - i, 16);
        HD_TRY(append_le(op, out, positions[i] >> 16 & UINT16_MAX, 2));
        HD_TRY(append_le(op, out, same - 1, 2));
    }
    uint64_t offset = 8 + 8 * (uint64_t)n_containers;
    for (size_t i = 0; i < n; i += same) {
        same = count_same(positions + i, n - i, 16);
        HD_TRY(append_le(op, out, offset, 4));
        offset += same <= MAX_ARRAY ? 2 * same : BITSET_BYTES;
    }
    for (size_t i = 0; i < n; i += same) {
        same = count_same(positions + i, n - i, 16);
        HD_TRY(append_container(op, positions + i, same, out));
    }
    return HUDI_OK;
}

hudi_status hd_log_positions_encode(struct hd_op *op, const uint64_t *positions, size_t n,
                                    struct hd_str *out)
{
    struct hd_str bytes = {0};
    hudi_status status = HUDI_OK;
    uint64_t n_buckets = 0;
    size_t same;

    for (size_t i = 1; i < n; i++)
        if (positions[i] <= positions[i - 1])
            return hd_fail(op, HUDI_INVALID, "record positions are not in order at number %zu", i);
    for (size_t i = 0; i < n; i += count_same(positions + i, n - i, 32))
        n_buckets++;
    HD_TRY_OUT(append_le(op, &bytes, n_buckets, 8));
    for (size_t i = 0; i < n; i += same) {
        same = count_same(positions + i, n - i, 32);
        HD_TRY_OUT(append_le(op, &bytes, positions[i] >> 32, 4));
        HD_TRY_OUT(append_bitmap(op, positions + i, same, &bytes));
    }
    HD_TRY_OUT(hd_base64_encode(op, hd_str_slice(&bytes), out));
out:
    hd_str_clear(&bytes);
    return status;
}
