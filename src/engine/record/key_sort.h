/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_KEY_SORT_H
#define HD_ENGINE_KEY_SORT_H

#include "engine/record/spillable_map.h"

/**
 * Sort entries of a map by their keys, as Java sorts strings; equal keys (of different spaces) by
 * entry number. Sets `*same_order` when that is the order of bytes too. Keys that share a prefix,
 * as numbered ones do, are told apart by the eight bytes behind it, sorted as integers.
 */
hudi_status hd_sort_entries_by_key(struct hd_op *op, const hd_spillable_map *map, int64_t *entries,
                                   int64_t n, bool *same_order);

#endif
