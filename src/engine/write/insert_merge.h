/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_INSERT_MERGE_H
#define HD_ENGINE_INSERT_MERGE_H

#include "engine/write/merge_handle.h"
#include "engine/write/write_status.h"

/**
 * Inserts that fill up one small file and may bring keys that it holds
 * (hoodie.merge.allow.duplicate.on.inserts=false): they are collected by key, of rows with one key
 * the last stays, and at close those whose key is in the file are merged with its row; the others
 * are appended. Only this file is looked at: a key that lives in another one is inserted.
 *
 * Source: HoodieMergeHandleFactory.create, HoodieMergeHandle.init (Hudi 0.15.0)
 */
typedef struct hd_insert_merge hd_insert_merge;

/** @param request  without map, hits and feed; copied, what it points to must live on
 *  @param n_open   how many may be open at a time: they share the memory of a merge */
hudi_status hd_insert_merge_open(struct hd_op *op, const struct hd_merge_request *request,
                                 uint32_t n_open, hd_insert_merge **out);

/** `records` is shared, `keys` taken. */
hudi_status hd_insert_merge_append(struct hd_op *op, hd_insert_merge *merge,
                                   struct hd_shared_array *records, struct ArrowArray *keys);
/** False when its share of memory is used up, keys included. */
bool hd_insert_merge_can_write(const hd_insert_merge *merge);

/** Write the file and add its stat. Frees in any case.
 * @param next_seqno  NULL, or where a handle of the same ordinal goes on */
hudi_status hd_insert_merge_close(struct hd_op *op, hd_insert_merge *merge,
                                  struct hd_write_status *status, uint64_t *next_seqno);
void hd_insert_merge_abort(struct hd_op *op, hd_insert_merge *merge);

/** Append records of a map to an open file, but those that are deletes; `*n_dropped` grows by
 * these. */
hudi_status hd_append_entries(struct hd_op *op, const struct hd_merge_request *request,
                              const hd_spillable_map *map, const int64_t *entries, int64_t n,
                              hd_merge_handle *handle, int64_t *n_dropped);

#endif
