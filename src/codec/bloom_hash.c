/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/bloom_hash.h"

#include "base/op.h"

#define MURMUR_M 0x5bd1e995u
#define N_VECTORS (HD_BLOOM_LANES / 8)

static uint32_t signed_byte(uint8_t b)
{
    return (uint32_t)(int32_t)(int8_t)b;
}

static uint32_t tail_of(const uint8_t *end, size_t n)
{
    uint32_t v = signed_byte(end[-1]);

    if (n >= 2)
        v ^= signed_byte(end[-2]) << 8;
    if (n == 3)
        v ^= signed_byte(end[-3]) << 16;
    return v;
}

void hd_bloom_lanes_load(struct hd_bloom_lanes *lanes, const struct hd_slice *keys,
                         const uint16_t *order, size_t n_keys)
{
    size_t size = keys[order[0]].size;

    lanes->key_bytes = (uint32_t)size;
    lanes->n_words = (uint32_t)size / 4;
    lanes->has_tail = size % 4 != 0;
    for (size_t i = 0; i < HD_BLOOM_LANES; i++) {
        const uint8_t *p = keys[order[i < n_keys ? i : n_keys - 1]].data;

        for (size_t w = 0; w < lanes->n_words; w++, p += 4) {
            uint32_t k =
                (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
            k *= MURMUR_M;
            k ^= k >> 24;
            lanes->words[w][i / 8][i % 8] = k * MURMUR_M;
        }
        if (lanes->has_tail)
            lanes->tail[i / 8][i % 8] = tail_of(p + size % 4, size % 4);
    }
    memset(lanes->hash, 0, sizeof lanes->hash);
}

/* Four vectors abreast: the multiplications of one hide the latency of the others'. */
static inline __attribute__((always_inline)) void one_round(struct hd_bloom_lanes *lanes)
{
    hd_bloom_u32x8 h0 = lanes->hash[0] ^ lanes->key_bytes, h1 = lanes->hash[1] ^ lanes->key_bytes;
    hd_bloom_u32x8 h2 = lanes->hash[2] ^ lanes->key_bytes, h3 = lanes->hash[3] ^ lanes->key_bytes;

    for (uint32_t w = 0; w < lanes->n_words; w++) {
        h0 = (h0 * MURMUR_M) ^ lanes->words[w][0];
        h1 = (h1 * MURMUR_M) ^ lanes->words[w][1];
        h2 = (h2 * MURMUR_M) ^ lanes->words[w][2];
        h3 = (h3 * MURMUR_M) ^ lanes->words[w][3];
    }
    if (lanes->has_tail) {
        h0 = (h0 ^ lanes->tail[0]) * MURMUR_M;
        h1 = (h1 ^ lanes->tail[1]) * MURMUR_M;
        h2 = (h2 ^ lanes->tail[2]) * MURMUR_M;
        h3 = (h3 ^ lanes->tail[3]) * MURMUR_M;
    }
    h0 = (h0 ^ (h0 >> 13)) * MURMUR_M;
    h1 = (h1 ^ (h1 >> 13)) * MURMUR_M;
    h2 = (h2 ^ (h2 >> 13)) * MURMUR_M;
    h3 = (h3 ^ (h3 >> 13)) * MURMUR_M;
    lanes->hash[0] = h0 ^ (h0 >> 15);
    lanes->hash[1] = h1 ^ (h1 >> 15);
    lanes->hash[2] = h2 ^ (h2 >> 15);
    lanes->hash[3] = h3 ^ (h3 >> 15);
    for (size_t v = 0; v < N_VECTORS; v++) {
        hd_bloom_u32x8 sign = -(lanes->hash[v] >> 31);
        hd_bloom_u32x8 absolute = (lanes->hash[v] ^ sign) - sign;
        memcpy(lanes->absolute + 8 * v, &absolute, sizeof absolute);
    }
}

void hd_bloom_round_portable(struct hd_bloom_lanes *lanes)
{
    one_round(lanes);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void round_avx2(struct hd_bloom_lanes *lanes)
{
    one_round(lanes);
}
#endif

hd_bloom_round *hd_bloom_pick_round(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return round_avx2;
#endif
    return hd_bloom_round_portable;
}
