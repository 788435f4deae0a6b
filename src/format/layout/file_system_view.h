/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_FILE_SYSTEM_VIEW_H
#define HD_FORMAT_FILE_SYSTEM_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/op.h"
#include "base/pool.h"
#include "format/layout/file_name.h"
#include "format/table/table_config.h"
#include "format/timeline/timeline.h"
#include "store/file_system.h"

/** A base or log file of a slice. Strings belong to the view. */
struct hd_data_file {
    const char *name;
    const char *path; /* relative to the table: "partition/name" */
    const char *write_token;
    const char *instant;
    uint64_t size_bytes;
    uint32_t log_version;
};

/** One version of a file group: a base file, or none, and the log files on top in log order. */
struct hd_file_slice {
    const char *partition_path;
    const char *file_id;
    const char *base_instant;
    const struct hd_data_file *base; /* NULL: log files only */
    const struct hd_data_file *logs;
    size_t n_logs;
    /* Time of the pending compaction that has this slice in its plan, or NULL: new log files carry
     * it as their base instant, and `logs` goes on with those that do. */
    const char *compaction_instant;
};

struct hd_file_group {
    const char *partition_path;
    const char *file_id;
    struct hd_file_slice *slices; /* newest first; only committed ones */
    size_t n_slices;
    const char *replaced_by; /* time of the completed replacecommit that took it out, or NULL */
};

/**
 * Which files make up the table, from one listing of its partitions and one timeline.
 *
 * Invariants
 *  1. A file belongs to the view iff the instant in its name is committed
 * (hd_timeline_is_committed): files of pending and rolled back instants are not seen.
 *  2. Of two base files with the same file id and instant (a retried task) the one that the commit
 *     metadata names counts.
 *  3. Groups are sorted by (partition path, file id), partitions by name.
 *  4. Log files are ordered by (instant in the name, log version, write token). Below version 8
 *     that is the base instant. From 8 on it is the delta commit that wrote the file, which is in
 *     the slice of the newest base file with an instant up to that commit's completion time; where
 *     no base file is, in a slice with the instant of the first. When a
 *     commit that was archived completed is asked of the archive where it makes a difference; one
 *     that is not there either counts as completed at its instant.
 *  5. Log files on a pending compaction lie on the newest slice before it (on a slice of their own
 *     when there is none).
 *
 * A group counts as replaced by the completed replacecommits of the active timeline. Those that
 * were archived are not asked: archival holds a replacecommit back until the files that it replaced
 * have been cleaned (Hudi 0.12 and later; 0.10 may bring such files back, to itself as well).
 */
struct hd_file_system_view {
    struct hd_arena arena;
    struct hd_file_group *groups;
    size_t n_groups;
    const char **partitions;
    size_t n_partitions;
    size_t *first_group;         /* n_partitions + 1: groups of partition i are [i], [i + 1) */
    struct hd_view_part **parts; /* what the strings and slices live in */
    size_t n_parts;
};

/**
 * @param partitions  NULL: all of the table; else only these (those without a folder are empty)
 * Lists folders in parallel on `pool` (NULL: serially).
 */
hudi_status hd_file_system_view_load(struct hd_op *op, hd_pool *pool, hd_file_system *fs,
                                     const char *table_path, const struct hd_table_config *config,
                                     const struct hd_timeline *timeline,
                                     const char *const *partitions, size_t n_partitions,
                                     struct hd_file_system_view *out);
/** Where a view gets the files of a partition from, if not from its folder: the metadata table.
 * Called from several threads. HUDI_NOT_FOUND (no error) for a partition without any. */
struct hd_partition_lister {
    hudi_status (*list)(struct hd_op *op, void *self, const char *partition_path,
                        struct hd_arena *arena, struct hd_file_info **out, size_t *n);
    void *self;
};

/** As hd_file_system_view_load(), of these partitions, their files from `lister`. */
hudi_status hd_file_system_view_of_lister(struct hd_op *op, hd_pool *pool,
                                          const struct hd_partition_lister *lister,
                                          const struct hd_timeline *timeline,
                                          const char *const *partitions, size_t n_partitions,
                                          struct hd_file_system_view *out);
void hd_file_system_view_clear(struct hd_file_system_view *view);

/** The group's latest slice at or before `as_of` (NULL: now), NULL when it has none or was replaced
 * by then. */
const struct hd_file_slice *hd_file_group_slice_as_of(const struct hd_file_group *group,
                                                      const char *as_of);

/** All slices hd_file_group_slice_as_of() gives, in group order, in the arena. */
hudi_status hd_file_system_view_slices(struct hd_op *op, const struct hd_file_system_view *view,
                                       const char *as_of, struct hd_arena *arena,
                                       const struct hd_file_slice ***out, size_t *n);

const struct hd_file_group *hd_file_system_view_find(const struct hd_file_system_view *view,
                                                     const char *partition_path,
                                                     const char *file_id);

#endif
