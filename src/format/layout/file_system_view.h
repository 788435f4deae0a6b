/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_FILE_SYSTEM_VIEW_H
#define HD_FORMAT_FILE_SYSTEM_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/op.h"
#include "base/pool.h"
#include "format/layout/file_name.h"
#include "format/table/table_config.h"
#include "format/timeline/timeline.h"
#include "store/file_system.h"

/** A base or log file of a slice. Strings belong to the view. */
struct hd_data_file {
    const char *name;
    const char *path;        /* relative to the table: "partition/name" */
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
 *  1. A file belongs to the view iff the instant in its name is committed (hd_timeline_is_committed):
 *     files of pending and rolled back instants are not seen.
 *  2. Of two base files with the same file id and instant (a retried task) the one that the commit
 *     metadata names counts.
 *  3. Groups are sorted by (partition path, file id), partitions by name.
 *  4. Log files are ordered by (base instant, log version, write token).
 */
struct hd_file_system_view {
    struct hd_arena arena;
    struct hd_file_group *groups;
    size_t n_groups;
    const char **partitions;
    size_t n_partitions;
    struct hd_map group_index; /* "partition\0file id" -> group number */
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
