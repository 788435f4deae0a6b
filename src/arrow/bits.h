/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_BITS_H
#define HD_ARROW_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Arrow bitmaps: bit i is bit i % 8 of byte i / 8. Words are loaded and stored as they lie in
 * memory, which is right on little-endian machines only, as are Arrow's own buffers here.
 */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bitmaps need a little-endian machine");

/** Appends bits to a buffer of hd_buffer_new() or _raw() with room for them; the buffer's padding
 * makes whole-word stores safe. Finish with hd_bits_flush(). */
struct hd_bit_writer {
    uint8_t *next;
    uint64_t word; /* bits not stored yet */
    unsigned n;    /* how many, below 64 */
};

/** The low `n` bits of `bits`, 1 <= n <= 64; those above must be 0. */
static inline void hd_bits_put(struct hd_bit_writer *w, uint64_t bits, unsigned n)
{
    w->word |= bits << w->n;
    if (w->n + n < 64) {
        w->n += n;
        return;
    }
    memcpy(w->next, &w->word, sizeof w->word);
    w->next += sizeof w->word;
    const unsigned used = 64 - w->n;
    w->word = used < 64 ? bits >> used : 0;
    w->n = n - used;
}

static inline void hd_bits_flush(struct hd_bit_writer *w)
{
    if (w->n > 0)
        memcpy(w->next, &w->word, sizeof w->word);
}

static inline uint64_t hd_bits_mask(unsigned n)
{
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static inline void hd_bits_fill(struct hd_bit_writer *w, bool set, uint64_t n)
{
    for (; n > 64; n -= 64)
        hd_bits_put(w, set ? UINT64_MAX : 0, 64);
    if (n > 0)
        hd_bits_put(w, set ? hd_bits_mask((unsigned)n) : 0, (unsigned)n);
}

/** Up to 57 bits from bit `at` on; reads no byte past those that hold bits below `end`. */
static inline uint64_t hd_bits_load(const uint8_t *bits, uint64_t at, unsigned n, uint64_t end)
{
    const uint64_t byte = at >> 3, n_bytes = (end + 7) >> 3;
    uint64_t word = 0;

    if (byte + sizeof word <= n_bytes) {
        memcpy(&word, bits + byte, sizeof word);
    } else {
        for (uint64_t i = byte; i < n_bytes; i++)
            word |= (uint64_t)bits[i] << (8 * (i - byte));
    }
    return word >> (at & 7) & hd_bits_mask(n);
}

/** `n` bits of `bits` from bit `at` on; `end` as above. */
static inline void hd_bits_copy(struct hd_bit_writer *w, const uint8_t *bits, uint64_t at,
                                uint64_t n, uint64_t end)
{
    for (; n > 56; n -= 56, at += 56)
        hd_bits_put(w, hd_bits_load(bits, at, 56, end), 56);
    if (n > 0)
        hd_bits_put(w, hd_bits_load(bits, at, (unsigned)n, end), (unsigned)n);
}

/** Bits set among the `n` from `at` on. */
int64_t hd_bits_count(const uint8_t *bits, int64_t at, int64_t n);

#endif
