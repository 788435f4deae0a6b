/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_BITCASK_H
#define HD_ENGINE_BITCASK_H

#include "engine/record/disk_map.h"

/**
 * The BitCask store: one file that only grows, without a name on the disk, and the offsets of its
 * groups in memory, counted against the budget of the op that appends.
 *
 * Source: BitCaskDiskMap (Hudi 0.15.0), but that a record here is a group of rows.
 */
extern const struct hd_disk_store_ops hd_bitcask_ops;

/** Tests only: the store's open file. */
int hd_bitcask_file(const void *store);

#endif
