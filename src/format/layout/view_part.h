/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_VIEW_PART_H
#define HD_FORMAT_VIEW_PART_H

#include <stdatomic.h>

#include "format/layout/file_system_view.h"
#include "format/timeline/archived_timeline.h"

/* Base files of one file id and instant: attempts of one task, of which one counts. */
struct hd_base_file_choice {
    struct hd_base_file_choice *next;
    struct hd_file_slice *slice; /* its `base` is the last candidate until chosen */
    const struct hd_data_file *candidates;
    size_t n;
};

/* What the timeline says about an instant in a file name. */
enum hd_visibility { HD_HIDDEN, HD_COMMITTED, HD_PENDING_COMPACTION };

/** The times of a timeline with what they mean for files, in the view's arena: made once, then
 * shared by the tasks. */
struct hd_view_times {
    const struct hd_timeline *timeline;
    const char **times; /* by number of the instant; instants of one time share the first's */
    uint8_t *visibility;
    const char **completions; /* when the write of that time completed; NULL: not known (not yet, or
                                 below version 8) */
    const struct hd_archived_timeline *archive; /* NULL: was not needed so far */
    atomic_bool *needs_archive; /* set where a file's place depends on when its commit completed */
};
hudi_status hd_view_times_init(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_timeline *timeline, struct hd_view_times *out);

/** The file groups of one partition, made from its listing alone: by one task of a pool. */
struct hd_view_part {
    struct hd_arena arena;
    const char *partition_path;
    struct hd_map instants;       /* instant -> visibility, for the names seen */
    struct hd_file_group *groups; /* sorted by file id */
    size_t n_groups;
    struct hd_base_file_choice *choices;
};

hudi_status hd_view_part_new(struct hd_op *op, const struct hd_view_times *times,
                             const char *partition_path, const struct hd_file_info *infos,
                             size_t n_infos, struct hd_view_part **out);
/** Takes NULL. */
void hd_view_part_free(struct hd_view_part *part);

#endif
