/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_MISSING_LOGS_H
#define HD_FORMAT_MISSING_LOGS_H

#include "format/layout/file_system_view.h"

/** A log file that is not there, or not all of it, though a completed write says so. Strings belong
 * to the arena that was given. */
struct hd_missing_log {
    const char *path;    /* relative to the table */
    const char *instant; /* of the write */
    int64_t n_bytes;     /* that it says the file has */
    int64_t n_found;     /* -1: the file is not there */
};

/**
 * Hold the log files of slices against the write stats of the deltacommits on the active timeline.
 * A listing alone does not show what is gone. Not told of: files of archived, rolled back and
 * restored instants, which nothing names any more; what was cut behind what the stats say (of
 * several writes to one file each gives what it wrote); the only log file of a slice without base
 * file, where no slice is left to look at; commits that cannot be read.
 *
 * For tables below version 8, whose log files carry the slice's base instant. All deltacommits from
 * the oldest base instant on are looked at (commit_glance.h), those that miss something are parsed.
 *
 * @param slices  of one view, at most one of a file group
 * @param as_of   writes after it are left out; NULL: none
 */
hudi_status hd_missing_logs_find(struct hd_op *op, const struct hd_timeline *timeline,
                                 const struct hd_file_slice *const *slices, size_t n_slices,
                                 const char *as_of, struct hd_arena *arena,
                                 struct hd_missing_log **out, size_t *n_out);

/** "log file PATH is not there, which deltacommit INSTANT wrote with N bytes", or has too few. */
hudi_status hd_missing_log_describe(struct hd_op *op, const struct hd_missing_log *log,
                                    struct hd_str *out);

#endif
