/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/bloom.h"

#include <inttypes.h>
#include <math.h>
#include <strings.h>

#include "base/cursor.h"
#include "codec/base64.h"
#include "codec/bloom_hash.h"
#include "codec/hash.h"

/*
 * Bytes of a filter, big-endian:
 *
 *     row      i32 -1 | i32 hashes k | u8 hash type | i32 bits m | (m+7)/8 bytes, low bit first
 *     SIMPLE   row
 *     DYNAMIC  i32 -1 | i32 k | u8 hash type | i32 m | i32 keys per row | i32 keys in the current
 *              row | i32 rows | row...
 *
 * In the place of -1 the oldest format has k itself, then m: no hash type, Jenkins hashes.
 *
 * Invariants
 *  1. All rows have the same k, m and hash type; a text where they differ is refused.
 *  2. A filter that was decoded takes no new rows: its maximum is not in the text, and Hudi then
 *     goes on with the rows there are.
 */

#define HASH_JENKINS 0
#define HASH_MURMUR 1
#define ROW_HEADER_BYTES 13
#define MAX_HASHES 1024 /* 30 at a rate of 1e-9; double's smallest number needs 1074 */
#define CHUNK_KEYS 4096 /* keys that are sorted by length together */
#define FEW_KEYS 4      /* fewer of one length are hashed one by one */

struct hd_bloom {
    enum hd_bloom_type type;
    uint8_t hash_type;
    uint32_t n_bits;
    uint32_t n_hashes;
    uint64_t reciprocal; /* ceil(2^64 / n_bits), for bit_of() */
    size_t row_bytes;
    uint8_t **rows;
    size_t n_rows;
    size_t row_capacity;
    /* dynamic */
    int32_t keys_per_row;
    int32_t keys_in_row; /* of the newest row; goes on past the maximum, wraps as Java's */
    uint32_t max_entries;
    bool reached_max;
    uint32_t next_row; /* once the maximum is reached */
};

const char *hd_bloom_type_name(enum hd_bloom_type type)
{
    return type == HD_BLOOM_SIMPLE ? "SIMPLE" : "DYNAMIC_V0";
}

hudi_status hd_bloom_type_parse(struct hd_op *op, struct hd_slice code, enum hd_bloom_type *out)
{
    for (enum hd_bloom_type type = HD_BLOOM_SIMPLE; type <= HD_BLOOM_DYNAMIC_V0; type++) {
        const char *name = hd_bloom_type_name(type);
        if (code.size == strlen(name) &&
            strncasecmp((const char *)code.data, name, code.size) == 0) {
            *out = type;
            return HUDI_OK;
        }
    }
    *out = HD_BLOOM_SIMPLE;
    if (code.size == 0)
        return HUDI_OK;
    return hd_fail(op, HUDI_NOT_IMPLEMENTED, "bloom filter type \"%.*s\"",
                   code.size > 40 ? 40 : (int)code.size, (const char *)code.data);
}

/* |hash| mod n_bits, which is what a signed remainder's absolute value is, without a division
 * (exact for all 32-bit numbers). */
static inline uint32_t bit_of(const hd_bloom *bloom, uint32_t absolute)
{
    uint64_t fraction = bloom->reciprocal * absolute;

    return (uint32_t)(((unsigned __int128)fraction * bloom->n_bits) >> 64);
}

static inline uint32_t absolute_of(int32_t hash)
{
    return hash < 0 ? 0u - (uint32_t)hash : (uint32_t)hash;
}

static int32_t hash_of(const hd_bloom *bloom, struct hd_slice key, int32_t seed)
{
    return bloom->hash_type == HASH_MURMUR ? hd_murmur2_hudi(key.data, key.size, seed)
                                           : hd_jenkins_hash(key.data, key.size, seed);
}

/* ---- making --------------------------------------------------------------------------------- */

static hudi_status add_row(struct hd_op *op, hd_bloom *bloom)
{
    HD_TRY(hd_grow(op, &bloom->rows, &bloom->row_capacity, bloom->n_rows + 1, sizeof *bloom->rows));
    HD_TRY(hd_alloc(op, bloom->row_bytes, &bloom->rows[bloom->n_rows]));
    bloom->n_rows++;
    return HUDI_OK;
}

static void set_geometry(hd_bloom *bloom, uint32_t n_bits, uint32_t n_hashes, uint8_t hash_type)
{
    bloom->n_bits = n_bits;
    bloom->n_hashes = n_hashes;
    bloom->hash_type = hash_type;
    bloom->reciprocal = UINT64_MAX / n_bits + 1;
    bloom->row_bytes = ((size_t)n_bits + 7) / 8;
}

hudi_status hd_bloom_new(struct hd_op *op, enum hd_bloom_type type, uint32_t n_entries, double fpp,
                         uint32_t max_entries, hd_bloom **out)
{
    const double ln2 = log(2);
    hudi_status status = HUDI_OK;
    hd_bloom *bloom = NULL;

    *out = NULL;
    if (!(fpp > 0 && fpp < 1) || n_entries == 0 || n_entries > INT32_MAX)
        return hd_fail(op, HUDI_INVALID, "no bloom filter for %" PRIu32 " keys at a rate of %g",
                       n_entries, fpp);
    double n_bits = ceil(n_entries * (-log(fpp) / (ln2 * ln2)));
    if (n_bits > INT32_MAX)
        return hd_fail(op, HUDI_INVALID,
                       "a bloom filter for %" PRIu32 " keys at a rate of %g takes %.0f bits",
                       n_entries, fpp, n_bits);
    HD_TRY(hd_alloc(op, sizeof *bloom, &bloom));
    bloom->type = type;
    set_geometry(bloom, (uint32_t)n_bits, (uint32_t)ceil(ln2 * n_bits / n_entries), HASH_MURMUR);
    bloom->keys_per_row = (int32_t)n_entries;
    bloom->max_entries = max_entries;
    HD_TRY_OUT(add_row(op, bloom));
    *out = bloom;
    bloom = NULL;
out:
    hd_bloom_free(op, bloom);
    return status;
}

void hd_bloom_free(struct hd_op *op, hd_bloom *bloom)
{
    if (bloom == NULL)
        return;
    for (size_t i = 0; i < bloom->n_rows; i++)
        hd_free(op, bloom->rows[i]);
    hd_free(op, bloom->rows);
    hd_free(op, bloom);
}

enum hd_bloom_type hd_bloom_type_of(const hd_bloom *bloom)
{
    return bloom->type;
}

uint32_t hd_bloom_bits(const hd_bloom *bloom)
{
    return bloom->n_bits;
}

uint32_t hd_bloom_hashes(const hd_bloom *bloom)
{
    return bloom->n_hashes;
}

uint32_t hd_bloom_rows(const hd_bloom *bloom)
{
    return (uint32_t)bloom->n_rows;
}

/* ---- adding --------------------------------------------------------------------------------- */

/* The row of the next key. Source: InternalDynamicBloomFilter.getActiveStandardBF. */
static hudi_status take_row(struct hd_op *op, hd_bloom *bloom, uint32_t *row)
{
    *row = 0;
    if (bloom->type == HD_BLOOM_SIMPLE)
        return HUDI_OK;
    if (bloom->reached_max) {
        *row = bloom->next_row;
        bloom->next_row = bloom->next_row + 1 < bloom->n_rows ? bloom->next_row + 1 : 0;
    } else if (bloom->keys_in_row < bloom->keys_per_row) {
        *row = (uint32_t)bloom->n_rows - 1;
    } else if (bloom->n_rows * (uint64_t)bloom->keys_per_row < bloom->max_entries) {
        HD_TRY(add_row(op, bloom));
        bloom->keys_in_row = 0;
        *row = (uint32_t)bloom->n_rows - 1;
    } else {
        bloom->reached_max = true; /* this key goes to row 0, the next one too, then in turn */
    }
    bloom->keys_in_row = (int32_t)((uint32_t)bloom->keys_in_row + 1);
    return HUDI_OK;
}

static void set_bits(hd_bloom *bloom, uint8_t *row, struct hd_slice key)
{
    int32_t hash = 0;

    for (uint32_t i = 0; i < bloom->n_hashes; i++) {
        hash = hash_of(bloom, key, hash);
        uint32_t bit = bit_of(bloom, absolute_of(hash));
        row[bit >> 3] |= (uint8_t)(1u << (bit & 7));
    }
}

static hudi_status fail_empty_key(struct hd_op *op)
{
    return hd_fail(op, HUDI_INVALID, "an empty record key cannot be in a bloom filter");
}

hudi_status hd_bloom_add(struct hd_op *op, hd_bloom *bloom, struct hd_slice key)
{
    uint32_t row;

    if (key.size == 0)
        return fail_empty_key(op);
    HD_TRY(take_row(op, bloom, &row));
    set_bits(bloom, bloom->rows[row], key);
    return HUDI_OK;
}

/* Keys of up to CHUNK_KEYS by length, for the lanes. */
struct chunk {
    uint16_t starts[HD_BLOOM_LANE_MAX_BYTES + 3]; /* in `order`, by length; [0]: too long or empty,
                                                     the last entry is the end */
    uint16_t order[CHUNK_KEYS];
};

static size_t length_class(struct hd_slice key)
{
    return key.size > HD_BLOOM_LANE_MAX_BYTES ? 0 : key.size;
}

/* A counting sort. */
static void sort_by_length(struct chunk *chunk, const struct hd_slice *keys, size_t n_keys)
{
    memset(chunk->starts, 0, sizeof chunk->starts);
    for (size_t i = 0; i < n_keys; i++)
        chunk->starts[length_class(keys[i]) + 2]++;
    for (size_t l = 2; l < HD_BLOOM_LANE_MAX_BYTES + 3; l++)
        chunk->starts[l] = (uint16_t)(chunk->starts[l] + chunk->starts[l - 1]);
    for (size_t i = 0; i < n_keys; i++)
        chunk->order[chunk->starts[length_class(keys[i]) + 1]++] = (uint16_t)i;
}

static void set_lane_bits(const hd_bloom *bloom, struct hd_bloom_lanes *lanes,
                          hd_bloom_round *round, uint8_t **rows, size_t n_keys)
{
    const hd_bloom geometry = *bloom; /* a copy that the stores below cannot change */

    for (uint32_t i = 0; i < geometry.n_hashes; i++) {
        round(lanes);
        for (size_t lane = 0; lane < n_keys; lane++) {
            uint32_t bit = bit_of(&geometry, lanes->absolute[lane]);
            rows[lane][bit >> 3] |= (uint8_t)(1u << (bit & 7));
        }
    }
}

static hudi_status add_chunk(struct hd_op *op, hd_bloom *bloom, const struct hd_slice *keys,
                             size_t n_keys)
{
    struct chunk chunk;
    struct hd_bloom_lanes lanes;
    hd_bloom_round *round = hd_bloom_pick_round();
    uint32_t rows[CHUNK_KEYS];

    for (size_t i = 0; i < n_keys; i++) {
        if (keys[i].size == 0)
            return fail_empty_key(op);
        HD_TRY(take_row(op, bloom, &rows[i]));
    }
    sort_by_length(&chunk, keys, n_keys);
    for (size_t l = 0; l <= HD_BLOOM_LANE_MAX_BYTES; l++) {
        size_t end = chunk.starts[l + 1];
        for (size_t i = chunk.starts[l], n; i < end; i += n) {
            n = end - i < HD_BLOOM_LANES ? end - i : HD_BLOOM_LANES;
            if (l == 0 || n < FEW_KEYS || bloom->hash_type != HASH_MURMUR) {
                n = 1;
                set_bits(bloom, bloom->rows[rows[chunk.order[i]]], keys[chunk.order[i]]);
                continue;
            }
            uint8_t *lane_rows[HD_BLOOM_LANES];
            for (size_t lane = 0; lane < n; lane++)
                lane_rows[lane] = bloom->rows[rows[chunk.order[i + lane]]];
            hd_bloom_lanes_load(&lanes, keys, chunk.order + i, n);
            set_lane_bits(bloom, &lanes, round, lane_rows, n);
        }
    }
    return HUDI_OK;
}

hudi_status hd_bloom_add_batch(struct hd_op *op, hd_bloom *bloom, const struct hd_slice *keys,
                               size_t n_keys)
{
    for (size_t i = 0, n; i < n_keys; i += n) {
        n = n_keys - i < CHUNK_KEYS ? n_keys - i : CHUNK_KEYS;
        HD_TRY(add_chunk(op, bloom, keys + i, n));
    }
    return HUDI_OK;
}

/* ---- probing -------------------------------------------------------------------------------- */

static inline bool has_bit(const uint8_t *row, uint32_t bit)
{
    return row[bit >> 3] >> (bit & 7) & 1;
}

static bool row_may_contain(const hd_bloom *bloom, const uint8_t *row, struct hd_slice key)
{
    int32_t hash = 0;

    for (uint32_t i = 0; i < bloom->n_hashes; i++) {
        hash = hash_of(bloom, key, hash);
        if (!has_bit(row, bit_of(bloom, absolute_of(hash))))
            return false;
    }
    return true;
}

bool hd_bloom_may_contain(const hd_bloom *bloom, struct hd_slice key)
{
    if (key.size == 0)
        return true;
    for (size_t i = 0; i < bloom->n_rows; i++)
        if (row_may_contain(bloom, bloom->rows[i], key))
            return true;
    return false;
}

/* Which lanes may be in one row: a bit each. Stops hashing when none is left. */
static uint32_t probe_row(const hd_bloom *bloom, const uint8_t *row, struct hd_bloom_lanes *lanes,
                          hd_bloom_round *round, uint32_t alive)
{
    memset(lanes->hash, 0, sizeof lanes->hash);
    for (uint32_t i = 0; i < bloom->n_hashes && alive != 0; i++) {
        round(lanes);
        for (uint32_t left = alive; left != 0; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(left);
            if (!has_bit(row, bit_of(bloom, lanes->absolute[lane])))
                alive &= ~(1u << lane);
        }
    }
    return alive;
}

static void probe_chunk(const hd_bloom *bloom, const struct hd_slice *keys, size_t n_keys,
                        uint8_t *maybe)
{
    struct chunk chunk;
    struct hd_bloom_lanes lanes;
    hd_bloom_round *round = hd_bloom_pick_round();

    sort_by_length(&chunk, keys, n_keys);
    for (size_t l = 0; l <= HD_BLOOM_LANE_MAX_BYTES; l++) {
        size_t end = chunk.starts[l + 1];
        for (size_t i = chunk.starts[l], n; i < end; i += n) {
            n = end - i < HD_BLOOM_LANES ? end - i : HD_BLOOM_LANES;
            if (l == 0 || n < FEW_KEYS || bloom->hash_type != HASH_MURMUR) {
                n = 1;
                maybe[chunk.order[i]] = hd_bloom_may_contain(bloom, keys[chunk.order[i]]);
                continue;
            }
            hd_bloom_lanes_load(&lanes, keys, chunk.order + i, n);
            uint32_t open = n == 32 ? UINT32_MAX : (1u << n) - 1, found = 0;
            for (size_t r = 0; r < bloom->n_rows && open != found; r++)
                found |= probe_row(bloom, bloom->rows[r], &lanes, round, open & ~found);
            for (size_t lane = 0; lane < n; lane++)
                maybe[chunk.order[i + lane]] = found >> lane & 1;
        }
    }
}

void hd_bloom_probe_batch(const hd_bloom *bloom, const struct hd_slice *keys, size_t n_keys,
                          uint8_t *maybe)
{
    for (size_t i = 0, n; i < n_keys; i += n) {
        n = n_keys - i < CHUNK_KEYS ? n_keys - i : CHUNK_KEYS;
        probe_chunk(bloom, keys + i, n, maybe + i);
    }
}

/* ---- text ----------------------------------------------------------------------------------- */

static hudi_status append_i32(struct hd_op *op, struct hd_str *out, uint32_t v)
{
    const uint8_t bytes[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
                              (uint8_t)v};

    return hd_str_append(op, out, bytes, sizeof bytes);
}

static hudi_status append_header(struct hd_op *op, const hd_bloom *bloom, struct hd_str *out)
{
    HD_TRY(append_i32(op, out, UINT32_MAX));
    HD_TRY(append_i32(op, out, bloom->n_hashes));
    HD_TRY(hd_str_append(op, out, &bloom->hash_type, 1));
    return append_i32(op, out, bloom->n_bits);
}

static hudi_status append_bytes(struct hd_op *op, const hd_bloom *bloom, struct hd_str *out)
{
    HD_TRY(hd_str_reserve(
        op, out, 2 * ROW_HEADER_BYTES + bloom->n_rows * (bloom->row_bytes + ROW_HEADER_BYTES)));
    if (bloom->type == HD_BLOOM_DYNAMIC_V0) {
        HD_TRY(append_header(op, bloom, out));
        HD_TRY(append_i32(op, out, (uint32_t)bloom->keys_per_row));
        HD_TRY(append_i32(op, out, (uint32_t)bloom->keys_in_row));
        HD_TRY(append_i32(op, out, (uint32_t)bloom->n_rows));
    }
    for (size_t i = 0; i < bloom->n_rows; i++) {
        HD_TRY(append_header(op, bloom, out));
        HD_TRY(hd_str_append(op, out, bloom->rows[i], bloom->row_bytes));
    }
    return HUDI_OK;
}

hudi_status hd_bloom_encode(struct hd_op *op, const hd_bloom *bloom, struct hd_str *out)
{
    struct hd_str bytes = {0};
    hudi_status status = append_bytes(op, bloom, &bytes);

    if (status == HUDI_OK)
        status = hd_base64_encode(op, hd_str_slice(&bytes), out);
    hd_str_clear(&bytes);
    return status;
}

struct header {
    uint32_t n_hashes;
    uint32_t n_bits;
    uint8_t hash_type;
};

static hudi_status take_header(struct hd_op *op, struct hd_cursor *in, struct header *out)
{
    uint32_t version;

    HD_TRY(hd_cursor_u32be(op, in, &version));
    if (version > INT32_MAX && version != UINT32_MAX)
        return hd_fail(op, HUDI_CORRUPT, "bloom filter of version %" PRId32, (int32_t)version);
    if (version == UINT32_MAX) {
        HD_TRY(hd_cursor_u32be(op, in, &out->n_hashes));
        HD_TRY(hd_cursor_u8(op, in, &out->hash_type));
    } else {
        out->n_hashes = version;
        out->hash_type = HASH_JENKINS;
    }
    HD_TRY(hd_cursor_u32be(op, in, &out->n_bits));
    if (out->n_hashes == 0 || out->n_hashes > MAX_HASHES)
        return hd_fail(op, HUDI_CORRUPT, "bloom filter of %" PRIu32 " hashes", out->n_hashes);
    if (out->hash_type != HASH_JENKINS && out->hash_type != HASH_MURMUR)
        return hd_fail(op, HUDI_CORRUPT, "bloom filter of hash type %u", out->hash_type);
    if (out->n_bits == 0 || out->n_bits > INT32_MAX)
        return hd_fail(op, HUDI_CORRUPT, "bloom filter of %" PRIu32 " bits", out->n_bits);
    return HUDI_OK;
}

static hudi_status take_row_bytes(struct hd_op *op, struct hd_cursor *in, hd_bloom *bloom)
{
    struct header header;
    struct hd_slice bits;

    HD_TRY(take_header(op, in, &header));
    if (bloom->n_bits == 0)
        set_geometry(bloom, header.n_bits, header.n_hashes, header.hash_type);
    if (header.n_bits != bloom->n_bits || header.n_hashes != bloom->n_hashes ||
        header.hash_type != bloom->hash_type)
        return hd_fail(op, HUDI_CORRUPT, "bloom filter rows of %" PRIu32 " and %" PRIu32 " bits",
                       bloom->n_bits, header.n_bits);
    HD_TRY(hd_cursor_take(op, in, bloom->row_bytes, &bits));
    HD_TRY(add_row(op, bloom));
    memcpy(bloom->rows[bloom->n_rows - 1], bits.data, bits.size);
    return HUDI_OK;
}

static hudi_status take_filter(struct hd_op *op, struct hd_cursor *in, hd_bloom *bloom)
{
    uint32_t n_rows = 1, keys_per_row = 0, keys_in_row = 0;
    struct header header;

    if (bloom->type == HD_BLOOM_DYNAMIC_V0) {
        HD_TRY(take_header(op, in, &header));
        set_geometry(bloom, header.n_bits, header.n_hashes, header.hash_type);
        HD_TRY(hd_cursor_u32be(op, in, &keys_per_row));
        HD_TRY(hd_cursor_u32be(op, in, &keys_in_row));
        HD_TRY(hd_cursor_u32be(op, in, &n_rows));
        if (keys_per_row == 0 || keys_per_row > INT32_MAX || n_rows == 0)
            return hd_fail(op, HUDI_CORRUPT,
                           "dynamic bloom filter of %" PRIu32 " rows for %" PRIu32 " keys each",
                           n_rows, keys_per_row);
    }
    bloom->keys_per_row = (int32_t)keys_per_row;
    bloom->keys_in_row = (int32_t)keys_in_row;
    for (uint32_t i = 0; i < n_rows; i++) /* each takes bytes, so the text's end ends the loop */
        HD_TRY(take_row_bytes(op, in, bloom));
    if (hd_cursor_left(in) != 0)
        return hd_fail(op, HUDI_CORRUPT, "%zu bytes behind a bloom filter of %" PRIu32 " rows",
                       hd_cursor_left(in), n_rows);
    return HUDI_OK;
}

hudi_status hd_bloom_decode(struct hd_op *op, enum hd_bloom_type type, struct hd_slice text,
                            hd_bloom **out)
{
    hudi_status status = HUDI_OK;
    struct hd_str bytes = {0};
    hd_bloom *bloom = NULL;

    *out = NULL;
    HD_TRY_OUT(hd_base64_decode(op, text, &bytes));
    struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 0);
    HD_TRY_OUT(hd_alloc(op, sizeof *bloom, &bloom));
    bloom->type = type;
    HD_TRY_OUT(take_filter(op, &in, bloom));
    *out = bloom;
    bloom = NULL;
out:
    hd_bloom_free(op, bloom);
    hd_str_clear(&bytes);
    return status;
}
