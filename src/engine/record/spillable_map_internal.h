/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SPILLABLE_MAP_INTERNAL_H
#define HD_ENGINE_SPILLABLE_MAP_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "arrow/view.h"
#include "base/arena.h"
#include "base/op.h"
#include "engine/record/disk_map.h"
#include "engine/record/spillable_map.h"
#include "engine/record/spillable_map_index.h"
#include "hudi/arrow_c.h"

/*
 * What the files of the spillable map share.
 *
 *     spillable_map.c          the map, get
 *     spillable_map_put.c      put: look up, decide, place, commit
 *     spillable_map_index.c    keys to entry numbers
 *     spillable_map_sources.c  the batches whose rows are in memory
 *     disk_map.c               the rows on disk
 *
 * An entry's location is one word:
 *
 *     1 | 63 bits: locator in the disk map
 *     0 | 31 bits: source | 32 bits: row of the source's array
 *
 * Sources from FIRST_PUT_SOURCE on are those of a put that is under way.
 *
 * Invariants
 *  1. Outside a put every entry has a location in a source or on disk; a source's row is live when
 *     its entry's location is that row.
 *  2. `record_bytes` is the sum over the sources of n_live * row_bytes.
 *  3. At most half of the rows that sources hold are dead, but for MIN_DEAD_ROWS, when a put begins
 *     to add rows; so the sources take at most about twice `record_bytes`.
 *  4. A put that fails leaves every entry where it was.
 */
#define HD_MAP_ON_DISK ((uint64_t)1 << 63)
#define HD_MAP_NOWHERE (HD_MAP_ON_DISK - 1)
#define HD_MAP_FIRST_PUT_SOURCE 0x40000000u
#define HD_MAP_NO_ENTRY UINT32_MAX
#define HD_MAP_N_TIERS 3

static inline uint64_t hd_map_location(uint32_t source, uint32_t row)
{
    return (uint64_t)source << 32 | row;
}

static inline uint32_t hd_map_source_of(uint64_t location)
{
    return (uint32_t)(location >> 32);
}

static inline uint32_t hd_map_row_of(uint64_t location)
{
    return (uint32_t)location;
}

static inline bool hd_map_on_disk(uint64_t location)
{
    return (location & HD_MAP_ON_DISK) != 0;
}

/* A batch, of which some rows are records of the map. */
struct hd_map_source {
    struct ArrowArray array;
    uint32_t *entries; /* of each row; HD_MAP_NO_ENTRY for those never used */
    size_t entries_capacity;
    uint32_t n_rows;
    uint32_t n_live;
    uint64_t row_bytes;    /* of the array's bytes, rounded up */
    struct hd_arena arena; /* of the views */
    struct hd_view *views; /* the columns; NULL until asked for */
};

struct hd_spillable_map {
    struct ArrowSchema schema;
    uint64_t memory_bytes; /* allowed for records */
    struct hd_key_index index;
    uint64_t *locations; /* by entry */
    size_t locations_capacity;
    struct hd_map_source *sources; /* with free ones between, whose n_rows is 0 */
    uint32_t n_sources;
    size_t sources_capacity;
    uint32_t n_free_sources;
    uint32_t first_free_source;         /* none before it is free */
    uint32_t n_in_tier[HD_MAP_N_TIERS]; /* small sources, by size */
    uint64_t held_rows;                 /* of all sources */
    uint64_t live_rows;
    uint64_t record_bytes;
    uint64_t array_bytes;    /* of all sources, roughly: what they really take */
    uint64_t reserved_bytes; /* of the budget, beside the index's */
    int64_t n_on_disk;       /* entries */
    hd_disk_map *disk;
};

/** Column views of any source; opened at the first call. */
hudi_status hd_map_source_views(struct hd_op *op, const hd_spillable_map *map,
                                struct hd_map_source *source, const struct hd_view **out);

/** A source over `*array` (taken, also on failure), its entries all HD_MAP_NO_ENTRY, not yet one of
 * the map's. */
hudi_status hd_map_source_init(struct hd_op *op, hd_spillable_map *map, struct ArrowArray *array,
                               struct hd_map_source *out);
void hd_map_source_clear(struct hd_op *op, hd_spillable_map *map, struct hd_map_source *source);

/** Room for `n` more sources, so that hd_map_add_source() cannot fail. */
hudi_status hd_map_reserve_sources(struct hd_op *op, hd_spillable_map *map, uint32_t n);

/** Move a source into the map: the entries that it names live there from now on. */
void hd_map_add_source(hd_spillable_map *map, struct hd_map_source *source);

/** A row of a source of the map is no longer a record; the source goes with its last one. */
void hd_map_forget_row(struct hd_op *op, hd_spillable_map *map, uint64_t location);

/** Copy the live rows of sources that are mostly dead, and of small ones of which there are many,
 * into fewer. On failure some may have been, and all is well. */
hudi_status hd_map_tidy(struct hd_op *op, hd_spillable_map *map);

#endif
