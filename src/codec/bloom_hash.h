/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_BLOOM_HASH_H
#define HD_CODEC_BLOOM_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * The k Murmur hashes of a bloom filter's key are a chain: each is the seed of the next, so one key
 * alone is bound by the latency of its multiplications. Here 32 keys of the same length go through
 * the chain side by side in vectors of eight. What a round does with a key's words before the seed
 * comes in is the same in each round and is done once.
 */

#define HD_BLOOM_LANES 32
#define HD_BLOOM_LANE_MAX_BYTES 128 /* longest key */

typedef uint32_t hd_bloom_u32x8 __attribute__((vector_size(32)));

struct hd_bloom_lanes {
    hd_bloom_u32x8 words[HD_BLOOM_LANE_MAX_BYTES / 4][HD_BLOOM_LANES / 8]; /* mixed */
    hd_bloom_u32x8 tail[HD_BLOOM_LANES / 8]; /* the last 1 to 3 bytes, sign-extended */
    hd_bloom_u32x8 hash[HD_BLOOM_LANES / 8]; /* of the last round; its start is 0 */
    uint32_t absolute[HD_BLOOM_LANES];       /* |hash| */
    uint32_t key_bytes;
    uint32_t n_words;
    bool has_tail;
};

/** Set the lanes to these keys, all of the same length of 1 to HD_BLOOM_LANE_MAX_BYTES bytes; lanes
 * beyond n_keys get the last one. keys[order[i]] is the key of lane i. */
void hd_bloom_lanes_load(struct hd_bloom_lanes *lanes, const struct hd_slice *keys,
                         const uint16_t *order, size_t n_keys);

/** One more hash of every lane: `hash` and `absolute`. */
typedef void hd_bloom_round(struct hd_bloom_lanes *lanes);

/** The fastest implementation that this processor runs. */
hd_bloom_round *hd_bloom_pick_round(void);

/** The one in portable C, for tests. */
void hd_bloom_round_portable(struct hd_bloom_lanes *lanes);

#endif
