/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SPILLABLE_MAP_H
#define HD_ENGINE_SPILLABLE_MAP_H

#include "arrow/array.h"
#include "arrow/view.h"
#include "base/op.h"
#include "hudi/arrow_c.h"

/**
 * The external spillable map: record key to record, the records within a byte budget. Records come
 * in as batches and stay columns while they fit; what does not fit goes row by row into a disk
 * store (BitCask: one append-only file; or RocksDB). Keys and the index stay in memory, counted
 * against the operation's budget: whoever has more keys than that holds splits its input by key
 * hash first. Nothing is allocated per record.
 *
 * Keys live in numbered spaces (the writer's partition numbers; 0 where keys are global): equal
 * keys of different spaces are different records. Entries are numbered from 0 in the order in which
 * their keys first came; with `keep_all`, in which the records came: a key is found as its newest
 * entry, from which the older ones are reached.
 *
 * Threads: put by one thread at a time; everything else may run in several threads once all puts
 * are done.
 *
 * Source: ExternalSpillableMap, BitCaskDiskMap, RocksDbDiskMap (Hudi 0.15.0); the bytes on disk are
 * ours (docs/format/write-path.md 4: process-private).
 */
typedef struct hd_spillable_map hd_spillable_map;

enum hd_disk_map_type { HD_DISK_MAP_BITCASK, HD_DISK_MAP_ROCKS_DB };

struct hd_spillable_map_options {
    const struct ArrowSchema *schema; /* struct: the record's columns; copied */
    uint64_t memory_bytes;            /* for the records held in memory */
    enum hd_disk_map_type disk_map;
    bool compress;      /* hoodie.common.diskmap.compression.enabled */
    const char *folder; /* hoodie.memory.spillable.map.path; NULL: the system's temporary folder */
    bool
        keep_all; /* a record whose key is there gets an entry of its own, and nothing is decided */
};

/** HUDI_NOT_IMPLEMENTED for ROCKS_DB in a build without it. No file is made before the first spill;
 * BitCask's file is unlinked as soon as it is open, so a killed process leaves none behind
 * (RocksDB's folder is deleted at free, and by the next map that finds its process gone). */
hudi_status hd_spillable_map_new(struct hd_op *op, const struct hd_spillable_map_options *options,
                                 hd_spillable_map **out);
void hd_spillable_map_free(struct hd_op *op, hd_spillable_map *map);

/** Decides between two records of one key: true lets the new row replace the old one. It may
 * instead ask for a row of both (`*columns` set, then take_new(column) for each column). */
struct hd_spillable_map_resolve {
    bool (*replace)(void *self, const struct hd_view *old_columns, int64_t old_row,
                    const struct hd_view *new_columns, int64_t new_row, bool *columns);
    bool (*take_new)(void *self, int32_t column, const struct hd_view *old_columns, int64_t old_row,
                     const struct hd_view *new_columns, int64_t new_row);
    void *self;
};

/**
 * Add rows `rows[0..n)` of `batch` (NULL rows: the first n). `keys` is a STRING view by row number
 * of the batch, `spaces` the space of each row of the batch (NULL: all 0). `resolve` NULL: the new
 * row replaces. `batch` is shared (a handle is kept while rows of it are in memory).
 * @param entries  NULL, or set to each row's entry number (n of them)
 */
hudi_status hd_spillable_map_put(struct hd_op *op, hd_spillable_map *map,
                                 const struct hd_view *keys, const uint32_t *spaces,
                                 struct hd_shared_array *batch, const int64_t *rows, int64_t n,
                                 const struct hd_spillable_map_resolve *resolve, int64_t *entries);

int64_t hd_spillable_map_length(const hd_spillable_map *map);

/** Key and space of an entry; the slice belongs to the map until the next put. */
struct hd_slice hd_spillable_map_key(const hd_spillable_map *map, int64_t entry);
uint32_t hd_spillable_map_space(const hd_spillable_map *map, int64_t entry);

/** The entry of the same key that came before this one, -1: none. */
int64_t hd_spillable_map_older(const hd_spillable_map *map, int64_t entry);
/** Whether no newer entry of its key is there. */
bool hd_spillable_map_is_newest(const hd_spillable_map *map, int64_t entry);

/** Entry numbers of the keys in rows [start, start + n) of a STRING view, all of one space; -1
 * where absent. A null row is absent. */
void hd_spillable_map_find(const hd_spillable_map *map, uint32_t space, const struct hd_view *keys,
                           int64_t start, int64_t n, int64_t *entries);

/** Records of entries in the order given (an entry may occur more than once), as a fresh struct
 * array of the schema. Rows on disk are read in file order. */
hudi_status hd_spillable_map_get(struct hd_op *op, const hd_spillable_map *map,
                                 const int64_t *entries, int64_t n, struct ArrowArray *out);

/** Keys of entries as a STRING array. */
hudi_status hd_spillable_map_keys(struct hd_op *op, const hd_spillable_map *map,
                                  const int64_t *entries, int64_t n, struct ArrowArray *out);

/** Both of them. */
hudi_status hd_spillable_map_batch(struct hd_op *op, const hd_spillable_map *map,
                                   const int64_t *entries, int64_t n,
                                   struct hd_shared_array **records, struct ArrowArray *keys);

/** Bytes in memory (records, keys, index) and on disk. */
uint64_t hd_spillable_map_memory_bytes(const hd_spillable_map *map);
uint64_t hd_spillable_map_disk_bytes(const hd_spillable_map *map);
int64_t hd_spillable_map_spilled_rows(const hd_spillable_map *map);

#endif
