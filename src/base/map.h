/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_BASE_MAP_H
#define HD_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Byte strings to 64-bit values (an index or a pointer). Keys are copied into the map's arena.
 * Entries keep the order in which they were added, so walking a map is deterministic. No removal.
 * All zero is empty and ready. For rows there is engine/record; this is for names and paths.
 */
struct hd_map_entry {
    struct hd_slice key; /* has a NUL behind it */
    uint64_t value;
    uint64_t hash;
};

struct hd_map {
    struct hd_arena arena;
    struct hd_map_entry *entries;
    size_t n_entries;
    size_t entry_capacity;
    uint32_t *slots; /* entry number + 1; 0 is free */
    size_t n_slots;  /* a power of two */
};

/** The entry of `key`, or NULL. Valid until the next put. */
struct hd_map_entry *hd_map_find(const struct hd_map *map, struct hd_slice key);

/** Find `key` or add it with `value`; `*added` (may be NULL) says which. An entry that was there
 * keeps its value. */
hudi_status hd_map_put(struct hd_op *op, struct hd_map *map, struct hd_slice key, uint64_t value,
                       struct hd_map_entry **out, bool *added);

void hd_map_clear(struct hd_map *map);

/** The hash used for keys in memory (wyhash-like, seedless: stable within a process run and across
 * runs, not a format). */
uint64_t hd_hash_bytes(const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
