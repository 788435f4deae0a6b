/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_PREVIEW_H
#define HD_SERVICE_PREVIEW_H

#include "format/layout/table_snapshot.h"

/** A data file: the path of its partition, relative to the table, and its name. */
struct hd_preview_file {
    const char *partition_path;
    const char *name;
};

/** What would happen to the files of one instant. */
struct hd_preview_instant {
    const char *time;
    const char *action;            /* "commit" */
    const char *state;             /* "COMPLETED"; "" when its files are all that is left of it */
    struct hd_preview_file *files; /* removed or kept; sorted, room for file_capacity */
    size_t n_files, file_capacity;
    uint64_t n_bytes;             /* of them */
    struct hd_preview_file *logs; /* that a rollback block is written behind; sorted */
    size_t n_logs;
    bool takes_logs; /* log files that carry its time go, whoever wrote them */
};

/** What a rollback, a restore or a savepoint would do: instants in the order they are undone.
 * Strings and files are in `arena`. */
struct hd_preview {
    struct hd_arena arena;
    struct hd_preview_instant *instants;
    size_t n_instants, capacity;
};

/** A new last instant with room for so many files. Strings are copied. */
hudi_status hd_preview_add(struct hd_op *op, struct hd_preview *preview, const char *time,
                           const char *action, const char *state, size_t max_files, size_t max_logs,
                           struct hd_preview_instant **out);

/** A file of the instant, with its size; one that is not there is left out. */
hudi_status hd_preview_add_file(struct hd_op *op, struct hd_preview *preview,
                                const struct hd_table_snapshot *table, const char *partition_path,
                                const char *name, struct hd_preview_instant *instant);

/** Put the files of all instants in order. */
void hd_preview_sort(struct hd_preview *preview);

/** All zero after. */
void hd_preview_clear(struct hd_preview *preview);

#endif
