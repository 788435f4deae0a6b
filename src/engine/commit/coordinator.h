/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_COORDINATOR_H
#define HD_ENGINE_COORDINATOR_H

#include "base/pool.h"
#include "engine/write/write_config.h"
#include "engine/write/write_status.h"
#include "format/layout/table_snapshot.h"
#include "format/timeline/commit_metadata.h"

/**
 * The coordinator of one write: begins the instant, collects the tasks' write statuses, commits or
 * rolls back. With several writers the lock is given back after step 5 and taken again after step
 * 7: then the timeline is loaded anew, and what others completed or planned meanwhile must not
 * touch the file groups of this write (conflict.h). Crash points, and what the next writer or
 * reader finds after each:
 *
 *   begin    1 lock                          nothing
 *            2 metadata table switched off   the same table, listed from its folders
 *            3 failed writes rolled back,    rollback.h
 *              if the policy is EAGER
 *              with several writers the  a file that does not beat: verify --repair deletes it
 *              heartbeat begins
 *            4 requested file                a pending instant: rolled back by the next writer
 *                                            or, LAZY, by a clean when it has stopped beating
 *            5 inflight file                 the same
 *   tasks    6 markers, files                the same; the markers name the files to remove
 *   commit   7 stray files deleted, the      the same
 *              folders of files synced
 *            8 completed file                the write: it shows from here on
 *            9 markers deleted, lock freed   a folder that the next begin removes
 */
typedef struct hd_coordinator hd_coordinator;

/**
 * Begin a write. The table is loaded anew from `uri`; options are checked first.
 * @return HUDI_CONFLICT, HUDI_NOT_IMPLEMENTED (hd_check_writable), HUDI_INVALID
 */
hudi_status hd_coordinator_begin(struct hd_op *op, hd_pool *pool, const char *uri,
                                 const struct hd_options *options, hd_coordinator **out);

/** What the tasks work by; belongs to the coordinator. */
const struct hd_write_config *hd_coordinator_config(const hd_coordinator *coordinator);

/** Hand in a status (moved in and zeroed): of one task's attempts the latest counts; the same
 * attempt twice counts once. @return HUDI_INVALID when it is another instant's */
hudi_status hd_coordinator_add_status(struct hd_op *op, hd_coordinator *coordinator,
                                      struct hd_write_status *status);

/** What a commit did. */
struct hd_commit_result {
    struct hd_arena arena;
    char instant_time[HD_INSTANT_TIME_BYTES];
    bool committed; /* false: nothing to do and hoodie.allow.empty.commit is off */
    int64_t n_inserts, n_updates, n_deletes, n_files, n_bytes, n_failed;
    const char **failures;
    size_t n_failures;
};
void hd_commit_result_clear(struct hd_commit_result *result);

/**
 * Complete the instant; the coordinator is freed in any case. On failure the write is rolled back,
 * as far as that can be done now.
 * @return HUDI_CONFLICT (retriable) when another writer was first, HUDI_ROWS_FAILED, HUDI_SCHEMA
 * (tasks disagree about columns), what the files gave
 */
hudi_status hd_coordinator_commit(struct hd_op *op, hd_coordinator *coordinator,
                                  struct hd_commit_result *out);

/** Roll back and free. Takes NULL. */
void hd_coordinator_abort(struct hd_op *op, hd_coordinator *coordinator);

#endif
