/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_KEY_DIGEST_H
#define HD_ENGINE_KEY_DIGEST_H

#include "arrow/view.h"
#include "base/map.h"

/**
 * Which keys a set of rows has, in whatever order: their number, and the sum and the exclusive or
 * of their 64-bit hashes. One key that is lost where another is doubled leaves the number as it is,
 * and changes the others. Null keys count as empty ones. In memory only: the hashes are no format.
 */
struct hd_key_digest {
    uint64_t sum, bits;
    int64_t n;
};

static inline struct hd_slice hd_key_digest_key(const struct hd_view *keys, int64_t row)
{
    return hd_view_is_null(keys, row) ? (struct hd_slice){0} : hd_view_bytes(keys, row);
}

static inline void hd_key_digest_add(struct hd_key_digest *digest, struct hd_slice key)
{
    const uint64_t hash = hd_hash_bytes(key.data, key.size);

    digest->sum += hash;
    digest->bits ^= hash;
    digest->n++;
}

/** Of a key that was added before. */
static inline void hd_key_digest_remove(struct hd_key_digest *digest, struct hd_slice key)
{
    const uint64_t hash = hd_hash_bytes(key.data, key.size);

    digest->sum -= hash;
    digest->bits ^= hash;
    digest->n--;
}

static inline void hd_key_digest_add_rows(struct hd_key_digest *digest, const struct hd_view *keys)
{
    for (int64_t i = 0; i < keys->length; i++)
        hd_key_digest_add(digest, hd_key_digest_key(keys, i));
}

static inline void hd_key_digest_add_all(struct hd_key_digest *digest,
                                         const struct hd_key_digest *other)
{
    digest->sum += other->sum;
    digest->bits ^= other->bits;
    digest->n += other->n;
}

static inline bool hd_key_digest_equals(const struct hd_key_digest *a,
                                        const struct hd_key_digest *b)
{
    return a->sum == b->sum && a->bits == b->bits && a->n == b->n;
}

#endif
