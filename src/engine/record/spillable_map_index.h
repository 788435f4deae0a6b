/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SPILLABLE_MAP_INDEX_H
#define HD_ENGINE_SPILLABLE_MAP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow/view.h"
#include "base/op.h"

/*
 * The keys of a spillable map: (space, key) to entry number, numbers in order of arrival.
 *
 *     slots   hash (32 bits) | entry + 1, open addressing; the home of a hash is its top bits, so
 *             that growing walks the old and the new slots in step and looks at no key
 *     keys    all bytes one behind the other, offsets[entry] .. offsets[entry + 1]
 *     spaces  of each entry; absent while all are 0
 *     older   where a key may have several entries: the number + 1 of the one before, 0: none; and
 *             whether a newer one has come. The slot has the newest.
 *
 * Invariants
 *  1. At most two thirds of the slots are taken, so that every probe ends.
 *  2. hd_key_index_add() cannot fail: hd_key_index_reserve() made room for it.
 *  3. All memory is counted against the budget of the op that grows it.
 */
struct hd_key_slot {
    uint32_t hash;
    uint32_t entry_plus_1; /* 0: free */
};

struct hd_key_index {
    struct hd_key_slot *slots;
    uint32_t n_slot_bits; /* there are 1 << n_slot_bits */
    uint32_t n_entries;
    uint8_t *keys;
    size_t keys_capacity;
    uint64_t *offsets;
    size_t offsets_capacity;
    uint32_t *spaces;
    size_t spaces_capacity;
    bool keep_all;   /* set before the first key: a key that comes again gets another entry */
    uint32_t *older; /* of each entry, with keep_all; see HD_KEY_SUPERSEDED */
    size_t older_capacity;
    uint64_t reserved_bytes; /* of the budget */
};

#define HD_KEY_INDEX_MAX_ENTRIES (UINT32_MAX / 2)
#define HD_KEY_SUPERSEDED 0x80000000u /* of `older`: a newer entry of the key is there */

void hd_key_index_clear(struct hd_op *op, struct hd_key_index *index);

/** Room for `n` more keys of `key_bytes` bytes in all; `spaces`: some are not of space 0.
 * @return HUDI_NO_MEMORY when the budget has no room; HUDI_INVALID with too many keys */
hudi_status hd_key_index_reserve(struct hd_op *op, struct hd_key_index *index, uint64_t n,
                                 uint64_t key_bytes, bool spaces);

/** As hd_grow(), the new bytes counted against the budget in `*reserved_bytes`.
 * @return HUDI_NO_MEMORY, with a message that says what `what` needs */
hudi_status hd_grow_reserved(struct hd_op *op, void *pointer, size_t *capacity, uint64_t wanted,
                             size_t element_bytes, const char *what, uint64_t *reserved_bytes);

#define HD_KEY_CHUNK 64

/** Hashes of at most HD_KEY_CHUNK keys (those of rows `rows[0..n)`, or `start` + 0..n), and their
 * slots on the way into the cache. A null row's hash is 0; it is no key. */
void hd_key_index_prepare(const struct hd_key_index *index, const struct hd_view *keys,
                          const int64_t *rows, int64_t start, int64_t n, const uint32_t *spaces,
                          uint32_t space, uint32_t hashes[HD_KEY_CHUNK]);

/** The entry of a key whose hash is `hash`, or -1. */
int64_t hd_key_index_find(const struct hd_key_index *index, uint32_t hash, uint32_t space,
                          struct hd_slice key);

/** Add a key that is not there, or with `keep_all` an entry of any key; returns its entry. */
uint32_t hd_key_index_add(struct hd_key_index *index, uint32_t hash, uint32_t space,
                          struct hd_slice key);

/** Take back the entries from number `n_entries` on. */
void hd_key_index_truncate(struct hd_key_index *index, uint32_t n_entries);

static inline struct hd_slice hd_key_index_key(const struct hd_key_index *index, int64_t entry)
{
    const uint64_t *const offsets = &index->offsets[entry];
    return hd_slice_of(index->keys + offsets[0], (size_t)(offsets[1] - offsets[0]));
}

static inline uint32_t hd_key_index_space(const struct hd_key_index *index, int64_t entry)
{
    return index->spaces == NULL ? 0 : index->spaces[entry];
}

static inline int64_t hd_key_index_older(const struct hd_key_index *index, int64_t entry)
{
    return index->older == NULL ? -1 : (int64_t)(index->older[entry] & ~HD_KEY_SUPERSEDED) - 1;
}

static inline bool hd_key_index_is_newest(const struct hd_key_index *index, int64_t entry)
{
    return index->older == NULL || (index->older[entry] & HD_KEY_SUPERSEDED) == 0;
}

/** Let the key of the likely entry of `hash` come into the cache. */
void hd_key_index_prefetch_key(const struct hd_key_index *index, uint32_t hash);

#endif
