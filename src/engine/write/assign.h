/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_ASSIGN_H
#define HD_ENGINE_ASSIGN_H

#include "engine/write/write_config.h"
#include "format/layout/file_system_view.h"

/**
 * Where inserts go: small files of their partition (not those of a pending clustering) first, by
 * the record size that past commits show, then new file groups. Source: UpsertPartitioner (Hudi
 * 0.15.0); docs/format/write-path.md 8.3
 */
struct hd_small_file {
    const struct hd_file_slice *slice;
    size_t index; /* of the slice among those looked at */
    int64_t room; /* records it takes before it is full */
};

/** Bytes of a record in base files, from the newest commit large enough to tell, else
 * hoodie.copyonwrite.record.size.estimate. Reads commits from the newest backwards. */
hudi_status hd_average_record_bytes(struct hd_op *op, const struct hd_write_config *config,
                                    int64_t *out);

/**
 * Small files among the latest slices of one or more partitions (each one's side by side), only
 * those this task owns (hd_file_owner). Merge-on-read: files without logs, which no pending
 * compaction has in its plan, the smallest
 * hoodie.merge.small.file.group.candidates.limit of each partition. By partition in the order of
 * slices. `out` has room for n_slices. */
void hd_small_files(const struct hd_write_config *config, int64_t record_bytes,
                    const struct hd_file_slice *const *slices, size_t n_slices,
                    struct hd_small_file *out, size_t *n);

/** The task out of n_tasks that owns a file group, or the inserts of a key. Computed from bytes
 * alone. */
uint32_t hd_file_owner(const char *partition_path, const char *file_id, uint32_t n_tasks);
uint32_t hd_insert_owner(struct hd_slice partition_path, struct hd_slice record_key,
                         uint32_t n_tasks);

#endif
