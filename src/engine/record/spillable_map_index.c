/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/spillable_map_index.h"

#include <assert.h>
#include <inttypes.h>

#include "base/map.h"

#define FIRST_SLOT_BITS 8u
#define SPACE_FACTOR 0x9E3779B97F4A7C15u /* 2^64 by the golden ratio: spreads small numbers */
#define HASH_FACTOR 0xD6E8FEB86659FD93u  /* odd, its bits mixed */

/* Multiplied, so that it has something of all bits of the key's hash: whoever puts only the keys of
 * a part of all hashes (the upper or lower bits alike) must not fill only a part of the slots, as
 * that makes one long run of them. */
static uint32_t key_hash(uint32_t space, struct hd_slice key)
{
    const uint64_t hash = hd_hash_bytes(key.data, key.size) ^ space * SPACE_FACTOR;

    return (uint32_t)(hash * HASH_FACTOR >> 32);
}

static inline size_t n_slots_of(const struct hd_key_index *index)
{
    return index->slots == NULL ? 0 : (size_t)1 << index->n_slot_bits;
}

static inline size_t home_of(const struct hd_key_index *index, uint32_t hash)
{
    return hash >> (32 - index->n_slot_bits);
}

void hd_key_index_clear(struct hd_op *op, struct hd_key_index *index)
{
    hd_budget_release(op, index->reserved_bytes);
    hd_free(op, index->slots);
    hd_free(op, index->keys);
    hd_free(op, index->offsets);
    hd_free(op, index->spaces);
    hd_free(op, index->older);
    *index = (struct hd_key_index){.keep_all = index->keep_all};
}

/* ---- growing ------------------------------------------------------------------------------ */

static hudi_status reserve_bytes(struct hd_op *op, uint64_t n_bytes, const char *what,
                                 uint64_t *reserved_bytes)
{
    if (!hd_budget_try_reserve(op, n_bytes))
        return hd_fail(op, HUDI_NO_MEMORY,
                       "%s of a spillable map need %" PRIu64 " bytes beyond the %" PRIu64
                       " they have, and the memory budget is used up",
                       what, n_bytes, *reserved_bytes);
    *reserved_bytes += n_bytes;
    return HUDI_OK;
}

hudi_status hd_grow_reserved(struct hd_op *op, void *pointer, size_t *capacity, uint64_t wanted,
                             size_t element_bytes, const char *what, uint64_t *reserved_bytes)
{
    const size_t before = *capacity;

    if (wanted <= before)
        return HUDI_OK;
    if (wanted > SIZE_MAX / 2 / element_bytes)
        return hd_fail(op, HUDI_NO_MEMORY, "%" PRIu64 " %s do not fit the address space", wanted,
                       what);
    size_t target = before + before / 2 < 64 ? 64 : before + before / 2;
    if (target < wanted)
        target = (size_t)wanted;
    const uint64_t n_bytes = (uint64_t)(target - before) * element_bytes;
    HD_TRY(reserve_bytes(op, n_bytes, what, reserved_bytes));
    const hudi_status status = hd_grow(op, pointer, capacity, target, element_bytes);
    if (status != HUDI_OK) {
        hd_budget_release(op, n_bytes);
        *reserved_bytes -= n_bytes;
    }
    return status;
}

/* Old slots in order fill the new ones nearly in order: both are walked once. */
static void rehash(const struct hd_key_slot *from, size_t n_from, struct hd_key_index *index)
{
    const size_t mask = n_slots_of(index) - 1;

    for (size_t i = 0; i < n_from; i++) {
        if (from[i].entry_plus_1 == 0)
            continue;
        size_t at = home_of(index, from[i].hash);
        while (index->slots[at].entry_plus_1 != 0)
            at = (at + 1) & mask;
        index->slots[at] = from[i];
    }
}

static hudi_status reserve_slots(struct hd_op *op, struct hd_key_index *index, uint64_t n_entries)
{
    uint32_t bits = index->slots == NULL ? FIRST_SLOT_BITS : index->n_slot_bits;
    struct hd_key_slot *slots;

    while (((uint64_t)1 << bits) / 3 * 2 < n_entries)
        bits++;
    if (index->slots != NULL && bits == index->n_slot_bits)
        return HUDI_OK;
    const size_t before = n_slots_of(index), after = (size_t)1 << bits;
    const uint64_t n_bytes = (after - before) * sizeof *slots;
    HD_TRY(reserve_bytes(op, n_bytes, "keys", &index->reserved_bytes));
    const hudi_status status = hd_alloc_array(op, after, sizeof *slots, &slots);
    if (status != HUDI_OK) {
        hd_budget_release(op, n_bytes);
        index->reserved_bytes -= n_bytes;
        return status;
    }
    struct hd_key_slot *const old = index->slots;
    index->slots = slots;
    index->n_slot_bits = bits;
    rehash(old, before, index);
    hd_free(op, old);
    return HUDI_OK;
}

static hudi_status reserve_spaces(struct hd_op *op, struct hd_key_index *index, uint64_t n_entries)
{
    const size_t before = index->spaces_capacity;

    HD_TRY(hd_grow_reserved(op, &index->spaces, &index->spaces_capacity, n_entries,
                            sizeof *index->spaces, "keys", &index->reserved_bytes));
    if (before == 0 && index->n_entries > 0) /* all of space 0 */
        memset(index->spaces, 0, index->n_entries * sizeof *index->spaces);
    return HUDI_OK;
}

hudi_status hd_key_index_reserve(struct hd_op *op, struct hd_key_index *index, uint64_t n,
                                 uint64_t key_bytes, bool spaces)
{
    const uint64_t n_entries = index->n_entries + n;

    if (n > HD_KEY_INDEX_MAX_ENTRIES || n_entries > HD_KEY_INDEX_MAX_ENTRIES)
        return hd_fail(op, HUDI_INVALID, "more than %u keys in one spillable map",
                       HD_KEY_INDEX_MAX_ENTRIES);
    HD_TRY(hd_grow_reserved(op, &index->offsets, &index->offsets_capacity, n_entries + 1,
                            sizeof *index->offsets, "keys", &index->reserved_bytes));
    if (index->n_entries == 0)
        index->offsets[0] = 0;
    HD_TRY(hd_grow_reserved(op, &index->keys, &index->keys_capacity,
                            index->offsets[index->n_entries] + key_bytes + 1, 1, "keys",
                            &index->reserved_bytes)); /* + 1: never NULL */
    if (spaces || index->spaces != NULL)
        HD_TRY(reserve_spaces(op, index, n_entries));
    if (index->keep_all)
        HD_TRY(hd_grow_reserved(op, &index->older, &index->older_capacity, n_entries,
                                sizeof *index->older, "keys", &index->reserved_bytes));
    return reserve_slots(op, index, n_entries);
}

/* ---- looking up --------------------------------------------------------------------------- */

void hd_key_index_prepare(const struct hd_key_index *index, const struct hd_view *keys,
                          const int64_t *rows, int64_t start, int64_t n, const uint32_t *spaces,
                          uint32_t space, uint32_t hashes[HD_KEY_CHUNK])
{
    assert(n <= HD_KEY_CHUNK);
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = rows == NULL ? start + i : rows[i];

        hashes[i] = 0;
        if (hd_view_is_null(keys, row))
            continue;
        hashes[i] = key_hash(spaces == NULL ? space : spaces[row], hd_view_bytes(keys, row));
        if (index->slots != NULL)
            __builtin_prefetch(&index->slots[home_of(index, hashes[i])]);
    }
}

void hd_key_index_prefetch_key(const struct hd_key_index *index, uint32_t hash)
{
    if (index->slots == NULL)
        return;
    const struct hd_key_slot slot = index->slots[home_of(index, hash)];
    if (slot.entry_plus_1 != 0)
        __builtin_prefetch(index->keys + index->offsets[slot.entry_plus_1 - 1]);
}

/* The slot of a key: taken by it, or free. There are slots. */
static size_t slot_of(const struct hd_key_index *index, uint32_t hash, uint32_t space,
                      struct hd_slice key)
{
    const size_t mask = n_slots_of(index) - 1;

    for (size_t at = home_of(index, hash);; at = (at + 1) & mask) {
        const struct hd_key_slot slot = index->slots[at];
        const int64_t entry = (int64_t)slot.entry_plus_1 - 1;

        if (entry < 0 ||
            (slot.hash == hash && hd_slice_equal(hd_key_index_key(index, entry), key) &&
             hd_key_index_space(index, entry) == space))
            return at;
    }
}

int64_t hd_key_index_find(const struct hd_key_index *index, uint32_t hash, uint32_t space,
                          struct hd_slice key)
{
    return index->slots == NULL
               ? -1
               : (int64_t)index->slots[slot_of(index, hash, space, key)].entry_plus_1 - 1;
}

static size_t free_slot_of(const struct hd_key_index *index, uint32_t hash)
{
    const size_t mask = n_slots_of(index) - 1;
    size_t at = home_of(index, hash);

    while (index->slots[at].entry_plus_1 != 0)
        at = (at + 1) & mask;
    return at;
}

uint32_t hd_key_index_add(struct hd_key_index *index, uint32_t hash, uint32_t space,
                          struct hd_slice key)
{
    const size_t at =
        index->keep_all ? slot_of(index, hash, space, key) : free_slot_of(index, hash);
    const uint32_t older = index->slots[at].entry_plus_1;
    const uint32_t entry = index->n_entries++;
    const uint64_t start = index->offsets[entry];

    assert(entry + 2 <= index->offsets_capacity && start + key.size <= index->keys_capacity);
    if (index->keep_all)
        index->older[entry] = older;
    if (older != 0)
        index->older[older - 1] |= HD_KEY_SUPERSEDED;
    index->slots[at] = (struct hd_key_slot){hash, entry + 1};
    if (key.size > 0)
        memcpy(index->keys + start, key.data, key.size);
    index->offsets[entry + 1] = start + key.size;
    if (index->spaces != NULL)
        index->spaces[entry] = space;
    return entry;
}

/* Free a slot and close the gap: whatever behind it has its home at or before the gap moves up. */
static void free_slot(struct hd_key_index *index, size_t gap)
{
    const size_t mask = n_slots_of(index) - 1;

    for (size_t at = (gap + 1) & mask; index->slots[at].entry_plus_1 != 0; at = (at + 1) & mask) {
        const size_t home = home_of(index, index->slots[at].hash);

        if (((at - home) & mask) >= ((at - gap) & mask)) {
            index->slots[gap] = index->slots[at];
            gap = at;
        }
    }
    index->slots[gap] = (struct hd_key_slot){0};
}

void hd_key_index_truncate(struct hd_key_index *index, uint32_t n_entries)
{
    while (index->n_entries > n_entries) {
        const uint32_t entry = --index->n_entries;
        const uint32_t hash =
            key_hash(hd_key_index_space(index, entry), hd_key_index_key(index, entry));
        const size_t mask = n_slots_of(index) - 1;
        size_t at = home_of(index, hash);

        while (index->slots[at].entry_plus_1 != entry + 1)
            at = (at + 1) & mask;
        const int64_t older = hd_key_index_older(index, entry);
        index->slots[at].entry_plus_1 = (uint32_t)(older + 1);
        if (older >= 0)
            index->older[older] &= ~HD_KEY_SUPERSEDED;
        else
            free_slot(index, at);
    }
}
