/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_ROCKS_MAP_H
#define HD_ENGINE_ROCKS_MAP_H

#include "engine/record/disk_map.h"

/**
 * The RocksDB store: group number (8 bytes, big-endian) to group, in a folder of its own that is
 * deleted with it. Beside the folder lies a file NAME.lock, which its process holds locked: where
 * the lock is free the process is gone, and the next store that is opened in the same place deletes
 * what it left. In a build without RocksDB `open` gives HUDI_NOT_IMPLEMENTED.
 *
 * Source: RocksDbDiskMap, RocksDBDAO (Hudi 0.15.0), but that a value here is a group of rows.
 */
extern const struct hd_disk_store_ops hd_rocks_map_ops;

/** Whether this build has it. */
bool hd_rocks_map_available(void);

#endif
