/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_DISK_MAP_H
#define HD_ENGINE_DISK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow/view.h"
#include "base/op.h"
#include "base/str.h"
#include "engine/record/spillable_map.h"
#include "hudi/arrow_c.h"

/*
 * The disk side of a spillable map: rows in, a locator each; locators in, a struct array out.
 *
 * Rows are encoded (row_codec.h) and collected into groups of some KiB, and a store keeps groups,
 * numbered from 0 in the order they come: compressing a row of 200 bytes by itself gains little,
 * and a store pays per write. The last group stays in memory until it is full. A row that is
 * replaced stays where it is; only its locator is forgotten.
 *
 * Threads: put by one at a time, get by several once all puts are done.
 */

/** Rows of one group: row i is `bytes[ends[i - 1] .. ends[i])`, the first from 0. */
struct hd_disk_group {
    const uint32_t *ends;
    uint32_t n_rows;
    const uint8_t *bytes; /* ends[n_rows - 1] of them */
};

/** Where a store hands over a group that was asked for; `i` counts the ones asked for. What `group`
 * points to lives until the call returns; the store has checked that it holds together. */
typedef hudi_status (*hd_disk_group_visit)(struct hd_op *op, void *self, size_t i,
                                           const struct hd_disk_group *group);

/** A store of groups. `open` makes its file or folder in `folder`, which is there. */
struct hd_disk_store_ops {
    hudi_status (*open)(struct hd_op *op, const char *folder, bool compress, void **out);
    void (*close)(struct hd_op *op, void *store); /* what it kept on disk is gone after */
    hudi_status (*append)(struct hd_op *op, void *store, const struct hd_disk_group *group);
    /** `groups` ascend, each once. @return HUDI_CORRUPT when a group is not what was written */
    hudi_status (*read)(struct hd_op *op, const void *store, const uint64_t *groups, size_t n,
                        hd_disk_group_visit visit, void *self);
    uint64_t (*disk_bytes)(const void *store);
    uint64_t (*memory_bytes)(const void *store);
    uint32_t group_bytes; /* a group is full from here on */
};

typedef struct hd_disk_map hd_disk_map;

/** Nothing is opened before the first put. @return HUDI_NOT_IMPLEMENTED for a store that this build
 * does not carry, HUDI_INVALID for a schema that is not canonical */
hudi_status hd_disk_map_new(struct hd_op *op, const struct hd_spillable_map_options *options,
                            hd_disk_map **out);
void hd_disk_map_free(struct hd_op *op, hd_disk_map *map);

/** A row of column views of the schema. A locator is below 2^56. On failure the map is as before,
 * but for bytes on disk that nothing refers to. @return HUDI_IO, among others when the disk is
 * full */
hudi_status hd_disk_map_put(struct hd_op *op, hd_disk_map *map, const struct hd_view *columns,
                            int64_t row, uint64_t *locator);

/** Rows in the order given, read in the order of the disk. @return HUDI_CORRUPT, HUDI_IO */
hudi_status hd_disk_map_get(struct hd_op *op, const hd_disk_map *map, const uint64_t *locators,
                            size_t n, struct ArrowArray *out);

uint64_t hd_disk_map_disk_bytes(const hd_disk_map *map);
uint64_t hd_disk_map_memory_bytes(const hd_disk_map *map);

#endif
