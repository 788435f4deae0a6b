/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SPILLABLE_MAP_H
#define HD_ENGINE_SPILLABLE_MAP_H

#include "arrow/array.h"
#include "arrow/view.h"
#include "base/op.h"
#include "hudi/arrow_c.h"

/**
 * The external spillable map: record key to record, for as many records as there are, within a byte
 * budget. Records come in as batches and stay columns while they fit; what does not fit goes row by
 * row into a disk store (BitCask: one append-only file with the index in memory; or RocksDB, whose
 * index is on disk too). Keys that fit in memory are found by one hash probe; nothing is allocated
 * per record. One thread at a time.
 *
 * Entries are numbered from 0 in the order in which their keys first came.
 *
 * Source: ExternalSpillableMap, BitCaskDiskMap, RocksDbDiskMap (Hudi 0.15.0); the bytes on disk are
 * ours (docs/format/write-path.md 4: process-private).
 */
typedef struct hd_spillable_map hd_spillable_map;

enum hd_disk_map_type { HD_DISK_MAP_BITCASK, HD_DISK_MAP_ROCKS_DB };

struct hd_spillable_map_options {
    const struct ArrowSchema *schema; /* struct: the record's columns; copied */
    uint64_t memory_bytes;            /* for the records held in memory (0.8 of hoodie.memory.merge.max.size)
                                       */
    enum hd_disk_map_type disk_map;
    bool compress;      /* hoodie.common.diskmap.compression.enabled */
    const char *folder; /* hoodie.memory.spillable.map.path; NULL: the system's temporary folder */
};

/** HUDI_NOT_IMPLEMENTED for ROCKS_DB in a build without it. No file is made before the first spill;
 * files are unlinked as soon as they are open, so a killed process leaves none behind (RocksDB's
 * folder is deleted at free, and by the next map that finds it stale). */
hudi_status hd_spillable_map_new(struct hd_op *op, const struct hd_spillable_map_options *options,
                                 hd_spillable_map **out);
void hd_spillable_map_free(struct hd_op *op, hd_spillable_map *map);

/**
 * Add rows `rows[0..n)` of a batch under keys (STRING array, by row number of the batch). For a key
 * that is there already `resolve` decides: it gets both rows as views over the map's columns and
 * returns true to let the new row replace the old one. `resolve` NULL: the new row replaces.
 * `batch` is shared (a handle is kept while rows of it are in memory).
 * @param entries  NULL, or set to each row's entry number
 */
struct hd_spillable_map_resolve {
    bool (*replace)(void *self, const struct hd_view *old_columns, int64_t old_row,
                    const struct hd_view *new_columns, int64_t new_row);
    void *self;
};
hudi_status hd_spillable_map_put(struct hd_op *op, hd_spillable_map *map,
                                 const struct hd_view *keys, struct hd_shared_array *batch,
                                 const int64_t *rows, int64_t n,
                                 const struct hd_spillable_map_resolve *resolve, int64_t *entries);

int64_t hd_spillable_map_length(const hd_spillable_map *map);

/** Entry numbers of `n` keys starting at row `start` of a STRING view, -1 where absent. */
hudi_status hd_spillable_map_find(struct hd_op *op, hd_spillable_map *map,
                                  const struct hd_view *keys, int64_t start, int64_t n,
                                  int64_t *entries);

/** Records of entries in the order given, as a fresh struct array of the schema. Rows on disk are read
 * in file order. */
hudi_status hd_spillable_map_get(struct hd_op *op, hd_spillable_map *map, const int64_t *entries,
                                 int64_t n, struct ArrowArray *out);

/** Keys of entries as a STRING array. */
hudi_status hd_spillable_map_keys(struct hd_op *op, hd_spillable_map *map, const int64_t *entries,
                                  int64_t n, struct ArrowArray *out);

/** Bytes in memory (records, keys, index) and on disk. */
uint64_t hd_spillable_map_memory_bytes(const hd_spillable_map *map);
uint64_t hd_spillable_map_disk_bytes(const hd_spillable_map *map);
int64_t hd_spillable_map_spilled_rows(const hd_spillable_map *map);

#endif
