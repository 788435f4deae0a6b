/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_PARTITION_WALK_H
#define HD_FORMAT_PARTITION_WALK_H

#include <stddef.h>

#include "base/arena.h"
#include "base/op.h"
#include "base/pool.h"
#include "store/file_system.h"

/** A partition that the walk found, and what the visitor made of its listing. */
struct hd_walked_partition {
    const char *path; /* relative to the table, in the arena */
    void *data;       /* the visitor's, may be NULL */
};

/**
 * Find all partitions of a table: folders that hold a partition metafile (text, Parquet or ORC), at
 * any depth, also inside other partitions (values with a slash that were not encoded). Each folder
 * is listed once; `visit` gets the listing of each partition, from any thread of `pool` (NULL: in
 * this one), and may put something into `*data`, which it keeps even when the walk fails: `*out`
 * and `*n` are set in any case. Sorted by path. Source: FSUtils.getAllPartitionPaths (Hudi 0.10.0),
 * which also descends into partitions; later releases stop at the first metafile.
 */
typedef hudi_status hd_partition_visit(struct hd_op *op, void *self, const char *path,
                                       const struct hd_file_info *infos, size_t n_infos,
                                       void **data);
hudi_status hd_partition_walk(struct hd_op *op, hd_pool *pool, hd_file_system *fs,
                              const char *table_path, hd_partition_visit *visit, void *self,
                              struct hd_arena *arena, struct hd_walked_partition **out, size_t *n);

/** May a folder be a partition that is wanted, or hold one? Called from any thread of the pool. */
typedef hudi_status hd_partition_wanted(struct hd_op *op, void *self, const char *path, bool *out);

/** As hd_partition_walk() without a visitor; what lies below a folder that `wanted` refuses is not
 * looked at. */
hudi_status hd_partition_walk_wanted(struct hd_op *op, hd_pool *pool, hd_file_system *fs,
                                     const char *table_path, hd_partition_wanted *wanted,
                                     void *self, struct hd_arena *arena,
                                     struct hd_walked_partition **out, size_t *n);

/** hd_pool_each(), in this thread without a pool. */
hudi_status hd_each(struct hd_op *op, hd_pool *pool, size_t n,
                    hudi_status (*work)(struct hd_op *op, void *argument, size_t i),
                    void *argument);

#endif
