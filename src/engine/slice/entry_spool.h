/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_ENTRY_SPOOL_H
#define HD_ENGINE_ENTRY_SPOOL_H

#include "engine/slice/log_rows.h"

/*
 * Private to engine/slice: entries of log files on disk, in buckets by the upper bits of the upper
 * half of their key's hash, so that a part of the keys (struct hd_key_part) is read without the
 * log files. Within a bucket they keep the order in which they came. A record as it lies on disk,
 * integers little-endian:
 *
 *   u32 key bytes | key | the entry (record/row_codec.h)
 */
#define HD_ENTRY_SPOOL_BITS 6                                            /* buckets: 1 << this */
#define HD_ENTRY_SPOOL_WIDTH (UINT64_C(1) << (32 - HD_ENTRY_SPOOL_BITS)) /* hashes of a bucket */

typedef struct hd_entry_spool hd_entry_spool;

/** @param entry  schema of the entries, borrowed
 *  @param folder  of the file, which has no name; NULL: the system's temporary folder */
hudi_status hd_entry_spool_new(struct hd_op *op, const struct ArrowSchema *entry,
                               const char *folder, hd_entry_spool **out);
/** Takes NULL. */
void hd_entry_spool_free(struct hd_op *op, hd_entry_spool *spool);

/** Add the entries of a batch, whose keys are not null. */
hudi_status hd_entry_spool_add(struct hd_op *op, hd_entry_spool *spool,
                               const struct hd_log_batch *batch);
/** All are added. */
hudi_status hd_entry_spool_seal(struct hd_op *op, hd_entry_spool *spool);

/** To the start of the bucket that has the keys of `hash` (upper half of hd_hash_bytes()). */
hudi_status hd_entry_spool_start(struct hd_op *op, hd_entry_spool *spool, uint64_t hash);

/** The next entries of the bucket, `out->entries` the caller's, `out->keys` valid until the next
 * call; about `batch_bytes` at most. @return HUDI_END; HUDI_CORRUPT, HUDI_IO */
hudi_status hd_entry_spool_next(struct hd_op *op, hd_entry_spool *spool, uint64_t batch_bytes,
                                struct hd_log_batch *out);

#endif
