/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_ARCHIVAL_H
#define HD_SERVICE_ARCHIVAL_H

#include "base/pool.h"
#include "format/layout/table_snapshot.h"

/*
 * Archiving: the oldest instants leave the active timeline for files of the archive. Steps, each
 * safe to be killed after; instants that are in both places count once for every reader:
 *
 *   1 a new file of the archive, whole
 *   2 requested and inflight files of the instants deleted
 *   3 their completed files deleted, oldest first, each for good before the next
 *   4 marker folders and copies of plans (.aux) that were left of them deleted
 *
 * What stays on the active timeline (docs/format/table-services.md 5): the newest writes; all from
 * the first savepoint on; the last completed write before one that is at work and all later ones;
 * on merge-on-read tables what tells when to compact; what a clean may still ask for; replacements
 * whose replaced files still lie in their folders, since nothing else hides them; what a metadata
 * table has not compacted yet.
 */

struct hd_archive_report {
    size_t n_instants; /* archived, or that would be */
    size_t n_writes;   /* of them */
    char first[HD_INSTANT_TIME_BYTES];
    char last[HD_INSTANT_TIME_BYTES];
};

/**
 * Archive by hoodie.keep.min.commits and hoodie.keep.max.commits, under the write lock (a dry run
 * without). @return as hd_clean()
 */
hudi_status hd_archive(struct hd_op *op, hd_pool *pool, const char *uri,
                       const struct hd_options *options, bool dry_run,
                       struct hd_archive_report *out);

/** The same of a table that is loaded and locked; its timeline is loaded again when anything was
 * archived. */
hudi_status hd_archive_locked(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                              const struct hd_options *options, bool dry_run,
                              struct hd_archive_report *out);

#endif
