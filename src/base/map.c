/* SPDX-License-Identifier: Apache-2.0 */

#include "base/map.h"

#include <assert.h>

/*
 * Open addressing with linear probing over entry numbers; the entries are an array in the order of
 * arrival.
 *
 * Invariant: at least a quarter of the slots is free, so that a probe ends.
 */

#define FIRST_SLOTS 16
#define MAX_ENTRIES (UINT32_MAX / 2)

__extension__ typedef unsigned __int128 uint128;

/* Odd constants without structure: the fractions of the square roots of 2, 3, 5 and 7. */
#define SALT_0 0x6A09E667F3BCC909u
#define SALT_1 0xBB67AE8584CAA73Bu
#define SALT_2 0x3C6EF372FE94F82Bu
#define SALT_3 0xA54FF53A5F1D36F1u

/* Fold a 128-bit product. The factors stay in, so that a factor of 0 does not wipe out the other.
 */
static uint64_t mix(uint64_t a, uint64_t b)
{
    const uint128 product = (uint128)a * b;

    return a ^ b ^ (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t read_u64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t read_u32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

uint64_t hd_hash_bytes(const void *data, size_t size)
{
    const uint8_t *at = data;
    size_t left = size;
    uint64_t hash = SALT_0 ^ mix(SALT_1, size ^ SALT_2);
    uint64_t a = 0, b = 0;

    for (; left > 16; at += 16, left -= 16)
        hash = mix(read_u64(at) ^ SALT_1, read_u64(at + 8) ^ hash);
    if (left >= 8) {
        a = read_u64(at);
        b = read_u64(at + left - 8);
    } else if (left >= 4) {
        a = read_u32(at);
        b = read_u32(at + left - 4);
    } else if (left > 0) {
        a = (uint64_t)at[0] << 16 | (uint64_t)at[left / 2] << 8 | at[left - 1];
    }
    return mix(SALT_3 ^ size, mix(a ^ SALT_2, b ^ hash));
}

/* The slot of `key`, or the free one where it belongs. There is a free slot. */
static uint32_t *find_slot(const struct hd_map *map, struct hd_slice key, uint64_t hash)
{
    const size_t mask = map->n_slots - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t *const slot = &map->slots[i];

        if (*slot == 0)
            return slot;
        const struct hd_map_entry *const entry = &map->entries[*slot - 1];
        if (entry->hash == hash && hd_slice_equal(entry->key, key))
            return slot;
    }
}

struct hd_map_entry *hd_map_find(const struct hd_map *map, struct hd_slice key)
{
    if (map->n_entries == 0)
        return NULL;
    const uint32_t *const slot = find_slot(map, key, hd_hash_bytes(key.data, key.size));
    return *slot == 0 ? NULL : &map->entries[*slot - 1];
}

static hudi_status grow_slots(struct hd_op *op, struct hd_map *map)
{
    const size_t n_slots = map->n_slots == 0 ? FIRST_SLOTS : map->n_slots * 2;
    const size_t mask = n_slots - 1;
    uint32_t *slots;

    HD_TRY(hd_alloc_array(op, n_slots, sizeof *slots, &slots));
    for (size_t n = 0; n < map->n_entries; n++) {
        size_t i = map->entries[n].hash & mask;

        while (slots[i] != 0)
            i = (i + 1) & mask;
        slots[i] = (uint32_t)(n + 1);
    }
    hd_free(op, map->slots);
    map->slots = slots;
    map->n_slots = n_slots;
    return HUDI_OK;
}

hudi_status hd_map_put(struct hd_op *op, struct hd_map *map, struct hd_slice key, uint64_t value,
                       struct hd_map_entry **out, bool *added)
{
    const uint64_t hash = hd_hash_bytes(key.data, key.size);
    char *copy;

    if (out != NULL)
        *out = NULL;
    if (added != NULL)
        *added = false;
    if (map->n_entries > 0) {
        const uint32_t *const slot = find_slot(map, key, hash);

        if (*slot != 0) {
            if (out != NULL)
                *out = &map->entries[*slot - 1];
            return HUDI_OK;
        }
    }
    if (map->n_entries >= MAX_ENTRIES)
        return hd_fail(op, HUDI_NO_MEMORY, "a map cannot hold more than %zu entries",
                       map->n_entries);
    if (map->n_entries + 1 > map->n_slots / 4 * 3)
        HD_TRY(grow_slots(op, map));
    HD_TRY(
        hd_grow(op, &map->entries, &map->entry_capacity, map->n_entries + 1, sizeof *map->entries));
    HD_TRY(hd_arena_strndup(op, &map->arena, key.data, key.size, &copy));

    *find_slot(map, key, hash) = (uint32_t)(map->n_entries + 1);
    struct hd_map_entry *const entry = &map->entries[map->n_entries++];
    *entry = (struct hd_map_entry){hd_slice_of(copy, key.size), value, hash};
    if (out != NULL)
        *out = entry;
    if (added != NULL)
        *added = true;
    return HUDI_OK;
}

void hd_map_clear(struct hd_map *map)
{
    hd_arena_clear(&map->arena);
    hd_free(NULL, map->entries);
    hd_free(NULL, map->slots);
    *map = (struct hd_map){0};
}
