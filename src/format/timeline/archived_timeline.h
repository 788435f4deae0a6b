/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_ARCHIVED_TIMELINE_H
#define HD_FORMAT_ARCHIVED_TIMELINE_H

#include "format/timeline/timeline.h"

/**
 * Instants that archival moved out of the active timeline, oldest first, duplicates (a crash
 * between archiving and deleting) removed. Versions below 8: log files of HoodieArchivedMetaEntry
 * records, one for each state; from 8 on Parquet files of completed instants (lsm_timeline.h).
 * docs/format/timeline.md 8
 */
struct hd_archived_instant {
    const char *time;
    const char *action; /* "commit", as stored */
    enum hd_instant_state state;
    const char *completion_time; /* versions 8 and later; else NULL */
    /* completed commit, deltacommit, replacecommit: */
    bool has_commit;
    struct hd_commit_metadata commit; /* the archive's; do not clear */
};

struct hd_archived_timeline {
    struct hd_arena arena;
    struct hd_archived_instant *instants;
    size_t n_instants;
};

/** `from` (exclusive) and `to` (inclusive) bound the times whose content is wanted (NULL: open;
 * `to`
 * "": none is). Below version 8 a damaged block loses its own entries and is logged, from 8 on a
 * damaged file is HUDI_CORRUPT. A missing folder is an empty archive. */
hudi_status hd_archived_timeline_load(struct hd_op *op, hd_file_system *fs, const char *table_path,
                                      const struct hd_table_config *config, const char *from,
                                      const char *to, struct hd_archived_timeline *out);
/** The same of a timeline of version 8 or later without any content: times, completion times and
 * actions. Empty below version 8. */
hudi_status hd_archived_times_load(struct hd_op *op, const struct hd_timeline *timeline,
                                   struct hd_archived_timeline *out);

/** Path of the folder of archive files, which need not exist. Fresh string. */
hudi_status hd_archive_folder(struct hd_op *op, const char *table_path,
                              const struct hd_table_config *config, char **out);

/** Whether a file of that folder is one of the archive's (docs/format/timeline.md 8.1), and its
 * number. */
bool hd_archive_file_number(const char *name, uint64_t *number);

void hd_archived_timeline_clear(struct hd_archived_timeline *archive);

#endif
