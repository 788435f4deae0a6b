/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/hash.h"

#include <string.h>

#include <libdeflate.h>

#include "base/utf8.h"

static uint32_t load_u32le(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t load_u64le(const uint8_t *p)
{
    return (uint64_t)load_u32le(p) | (uint64_t)load_u32le(p + 4) << 32;
}

static uint32_t rotl32(uint32_t v, int n)
{
    return v << n | v >> (32 - n);
}

static uint64_t rotl64(uint64_t v, int n)
{
    return v << n | v >> (64 - n);
}

uint32_t hd_crc32(uint32_t crc, const void *data, size_t size)
{
    return size == 0 ? crc : libdeflate_crc32(crc, data, size);
}

/* ---- CRC-32C: four bits at a time in general, by instruction where there is one ------------- */

static uint32_t crc32c_portable(uint32_t crc, const uint8_t *p, size_t size)
{
    static const uint32_t TABLE[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };

    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ TABLE[crc & 15];
        crc = crc >> 4 ^ TABLE[crc & 15];
    }
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const uint8_t *p,
                                                               size_t size)
{
    uint64_t c = crc;

    for (; size >= 8; size -= 8, p += 8)
        c = __builtin_ia32_crc32di(c, load_u64le(p));
    crc = (uint32_t)c;
    for (; size > 0; size--, p++)
        crc = __builtin_ia32_crc32qi(crc, *p);
    return crc;
}
#endif

uint32_t hd_crc32c(uint32_t crc, const void *data, size_t size)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~crc32c_sse42(~crc, data, size);
#endif
    return ~crc32c_portable(~crc, data, size);
}

/* ---- Murmur2 of the bloom filters, Jenkins of the oldest ones ------------------------------- */

int32_t hd_murmur2_hudi(const void *data, size_t size, int32_t seed)
{
    const uint32_t m = 0x5bd1e995;
    const uint8_t *p = data;
    uint32_t h = (uint32_t)seed ^ (uint32_t)size;
    size_t left = size;

    for (; left >= 4; left -= 4, p += 4) {
        uint32_t k = load_u32le(p) * m;
        k ^= k >> 24;
        h = h * m ^ k * m;
    }
    if (left > 0) {
        if (left == 3)
            h ^= (uint32_t)(int32_t)(int8_t)p[left - 3] << 16;
        if (left >= 2)
            h ^= (uint32_t)(int32_t)(int8_t)p[left - 2] << 8;
        h ^= (uint32_t)(int32_t)(int8_t)p[left - 1];
        h *= m;
    }
    h ^= h >> 13;
    h *= m;
    h ^= h >> 15;
    return (int32_t)h;
}

int32_t hd_jenkins_hash(const void *data, size_t size, int32_t seed)
{
    const uint8_t *p = data;
    uint32_t a = 0xdeadbeefu + (uint32_t)size + (uint32_t)seed, b = a, c = a;
    uint8_t tail[12] = {0};

    for (; size > 12; size -= 12, p += 12) {
        a += load_u32le(p);
        b += load_u32le(p + 4);
        c += load_u32le(p + 8);
        a -= c, a ^= rotl32(c, 4), c += b;
        b -= a, b ^= rotl32(a, 6), a += c;
        c -= b, c ^= rotl32(b, 8), b += a;
        a -= c, a ^= rotl32(c, 16), c += b;
        b -= a, b ^= rotl32(a, 19), a += c;
        c -= b, c ^= rotl32(b, 4), b += a;
    }
    if (size == 0)
        return (int32_t)c;
    memcpy(tail, p, size);
    a += load_u32le(tail);
    b += load_u32le(tail + 4);
    c += load_u32le(tail + 8);
    c ^= b, c -= rotl32(b, 14);
    a ^= c, a -= rotl32(c, 11);
    b ^= a, b -= rotl32(a, 25);
    c ^= b, c -= rotl32(b, 16);
    a ^= c, a -= rotl32(c, 4);
    b ^= a, b -= rotl32(a, 14);
    c ^= b, c -= rotl32(b, 24);
    return (int32_t)c;
}

/* ---- java.lang.String.hashCode -------------------------------------------------------------- */

int32_t hd_java_string_hash(struct hd_slice utf8)
{
    uint32_t h = 0;

    for (size_t i = 0; i < utf8.size;) {
        if (utf8.data[i] < 0x80) {
            h = 31 * h + utf8.data[i++];
            continue;
        }
        uint32_t v;
        size_t n = hd_utf8_take(hd_slice_of(utf8.data + i, utf8.size - i), &v);
        if (n == 0) {
            n = 1;
            v = 0xfffd;
        }
        i += n;
        if (v >= 0x10000) {
            h = 31 * h + (0xd800 + ((v - 0x10000) >> 10));
            v = 0xdc00 + ((v - 0x10000) & 0x3ff);
        }
        h = 31 * h + v;
    }
    return (int32_t)h;
}

/* ---- MD5 ------------------------------------------------------------------------------------ */

static void md5_block(uint32_t state[4], const uint8_t *block)
{
    /* floor(2^32 * abs(sin(i + 1))) */
    static const uint32_t SINES[64] = {
        0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
        0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193,
        0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d,
        0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed,
        0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122,
        0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
        0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244,
        0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
        0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb,
        0xeb86d391,
    };
    static const uint8_t SHIFTS[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];

    for (uint32_t i = 0; i < 64; i++) {
        uint32_t f, word;
        switch (i / 16) {
        case 0:
            f = (b & c) | (~b & d), word = i;
            break;
        case 1:
            f = (d & b) | (~d & c), word = (5 * i + 1) & 15;
            break;
        case 2:
            f = b ^ c ^ d, word = (3 * i + 5) & 15;
            break;
        default:
            f = c ^ (b | ~d), word = (7 * i) & 15;
            break;
        }
        f += a + SINES[i] + load_u32le(block + 4 * word);
        a = d;
        d = c;
        c = b;
        b += rotl32(f, SHIFTS[i / 16][i & 3]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void hd_md5(const void *data, size_t size, uint8_t out[HD_MD5_BYTES])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const uint8_t *p = data;
    uint8_t tail[128] = {0};
    size_t left = size;

    for (; left >= 64; left -= 64, p += 64)
        md5_block(state, p);
    if (left > 0)
        memcpy(tail, p, left);
    tail[left] = 0x80;
    size_t n_tail = left < 56 ? 64 : 128;
    for (size_t i = 0; i < 8; i++)
        tail[n_tail - 8 + i] = (uint8_t)((uint64_t)size << 3 >> (8 * i));
    md5_block(state, tail);
    if (n_tail == 128)
        md5_block(state, tail + 64);
    for (size_t i = 0; i < 16; i++)
        out[i] = (uint8_t)(state[i / 4] >> (8 * (i & 3)));
}

/* ---- xxHash --------------------------------------------------------------------------------- */

#define P32_1 0x9e3779b1u
#define P32_2 0x85ebca77u
#define P32_3 0xc2b2ae3du
#define P32_4 0x27d4eb2fu
#define P32_5 0x165667b1u

uint32_t hd_xxh32(const void *data, size_t size, uint32_t seed)
{
    const uint8_t *p = data;
    size_t left = size;
    uint32_t h = seed + P32_5;

    if (left >= 16) {
        uint32_t v[4] = {seed + P32_1 + P32_2, seed + P32_2, seed, seed - P32_1};
        for (; left >= 16; left -= 16)
            for (size_t i = 0; i < 4; i++, p += 4)
                v[i] = rotl32(v[i] + load_u32le(p) * P32_2, 13) * P32_1;
        h = rotl32(v[0], 1) + rotl32(v[1], 7) + rotl32(v[2], 12) + rotl32(v[3], 18);
    }
    h += (uint32_t)size;
    for (; left >= 4; left -= 4, p += 4)
        h = rotl32(h + load_u32le(p) * P32_3, 17) * P32_4;
    for (; left > 0; left--, p++)
        h = rotl32(h + *p * P32_5, 11) * P32_1;
    h = (h ^ h >> 15) * P32_2;
    h = (h ^ h >> 13) * P32_3;
    return h ^ h >> 16;
}

#define P64_1 0x9e3779b185ebca87u
#define P64_2 0xc2b2ae3d27d4eb4fu
#define P64_3 0x165667b19e3779f9u
#define P64_4 0x85ebca77c2b2ae63u
#define P64_5 0x27d4eb2f165667c5u

static uint64_t xxh64_round(uint64_t v, uint64_t word)
{
    return rotl64(v + word * P64_2, 31) * P64_1;
}

uint64_t hd_xxh64(const void *data, size_t size, uint64_t seed)
{
    const uint8_t *p = data;
    size_t left = size;
    uint64_t h = seed + P64_5;

    if (left >= 32) {
        uint64_t v[4] = {seed + P64_1 + P64_2, seed + P64_2, seed, seed - P64_1};
        for (; left >= 32; left -= 32)
            for (size_t i = 0; i < 4; i++, p += 8)
                v[i] = xxh64_round(v[i], load_u64le(p));
        h = rotl64(v[0], 1) + rotl64(v[1], 7) + rotl64(v[2], 12) + rotl64(v[3], 18);
        for (size_t i = 0; i < 4; i++)
            h = (h ^ xxh64_round(0, v[i])) * P64_1 + P64_4;
    }
    h += (uint64_t)size;
    for (; left >= 8; left -= 8, p += 8)
        h = rotl64(h ^ xxh64_round(0, load_u64le(p)), 27) * P64_1 + P64_4;
    if (left >= 4) {
        h = rotl64(h ^ (uint64_t)load_u32le(p) * P64_1, 23) * P64_2 + P64_3;
        left -= 4;
        p += 4;
    }
    for (; left > 0; left--, p++)
        h = rotl64(h ^ *p * P64_5, 11) * P64_1;
    h = (h ^ h >> 33) * P64_2;
    h = (h ^ h >> 29) * P64_3;
    return h ^ h >> 32;
}
