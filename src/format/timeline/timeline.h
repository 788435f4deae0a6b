/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_TIMELINE_H
#define HD_FORMAT_TIMELINE_H

#include "base/arena.h"
#include "base/op.h"
#include "format/table/table_config.h"
#include "format/timeline/commit_metadata.h"
#include "format/timeline/instant.h"
#include "store/file_system.h"

/**
 * The active timeline as one listing of its folder saw it: a snapshot. Instants sorted by (time,
 * comparable action, state). Read only after load; may be shared between threads.
 *
 * Invariants
 *  1. An instant counts as completed iff its completed file was in the listing.
 *  2. Of several files of one (time, comparable action) the furthest state counts.
 */
struct hd_timeline {
    struct hd_arena arena;
    struct hd_instant *instants;
    size_t n_instants;
    hd_file_system *fs;     /* borrowed */
    const char *table_path; /* borrowed */
    const struct hd_table_version *version;
    const char *archive_folder; /* below the table; NULL: the version's */
    bool utc;
    const char *start; /* smallest time that is no savepointed island; NULL: empty */
};

hudi_status hd_timeline_load(struct hd_op *op, hd_file_system *fs, const char *table_path,
                             const struct hd_table_config *config, struct hd_timeline *out);
void hd_timeline_clear(struct hd_timeline *timeline);

/** commit, deltacommit, replacecommit (with compaction, logcompaction, clustering while pending).
 */
bool hd_instant_is_write(const struct hd_instant *instant);
bool hd_instant_is_completed_write(const struct hd_instant *instant);

/** Number of the first instant whose time is not below `time`. */
size_t hd_timeline_lower_bound(const struct hd_timeline *timeline, const char *time);

/** NULL when there is none. */
const struct hd_instant *hd_timeline_find(const struct hd_timeline *timeline, const char *time,
                                          enum hd_action completed_as);
/** The newest completed write, or NULL for an empty table. */
const struct hd_instant *hd_timeline_last_completed_write(const struct hd_timeline *timeline);

/** A file whose name carries `time` is visible: a completed write of the timeline, or before the
 * timeline's start (archived) and not pending. */
bool hd_timeline_is_committed(const struct hd_timeline *timeline, const char *time);

/** A compaction planned or running: log files that carry its time lie on the slice before it. */
bool hd_timeline_is_pending_compaction(const struct hd_timeline *timeline, const char *time);

/** Path of one state's file, which need not exist. Fresh string. */
hudi_status hd_timeline_path(struct hd_op *op, const struct hd_timeline *timeline,
                             const struct hd_instant *instant, enum hd_instant_state state,
                             char **out);

/** Name the state's file in the current error; returns `status`. */
hudi_status hd_timeline_fail_path(struct hd_op *op, hudi_status status,
                                  const struct hd_timeline *timeline,
                                  const struct hd_instant *instant, enum hd_instant_state state);

/** Content of one state's file. HUDI_NOT_FOUND sets an error. Empty files give size 0. */
hudi_status hd_timeline_read(struct hd_op *op, const struct hd_timeline *timeline,
                             const struct hd_instant *instant, enum hd_instant_state state,
                             uint8_t **out, size_t *n);

/** Whether what is completed can be told at all: a completed write whose file is empty (a disk that
 * was full, a copy that broke off) may have made any files. @return HUDI_CORRUPT naming the file */
hudi_status hd_timeline_check_writes(struct hd_op *op, const struct hd_timeline *timeline);

/**
 * Commit metadata of a completed write. A zero-byte or unparsable file is HUDI_CORRUPT naming it
 * (the newest instant's is read again for a moment first: older writers wrote it in place).
 */
hudi_status hd_timeline_read_commit(struct hd_op *op, const struct hd_timeline *timeline,
                                    const struct hd_instant *instant,
                                    struct hd_commit_metadata *out);

/** The table's Avro schema without meta columns: from the newest completed write (at or before
 * `as_of` unless NULL) whose operation can change it, else from hoodie.table.create.schema.
 * HUDI_NOT_FOUND (no error) when there is none. Fresh string. `latest_schema` (may be NULL) gets
 * the internal schema (schema on read) of that commit, or NULL. docs/format/timeline.md 5.1 */
hudi_status hd_timeline_table_schema(struct hd_op *op, const struct hd_timeline *timeline,
                                     const struct hd_table_config *config, const char *as_of,
                                     char **avro_json, char **latest_schema);

#endif
