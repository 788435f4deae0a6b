/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SCAN_INTERNAL_H
#define HD_ENGINE_SCAN_INTERNAL_H

#include "engine/scan/scan.h"
#include "engine/slice/slice_reader.h"
#include "format/layout/file_system_view.h"

/* Between the files of the scan. */

enum hd_query_type {
    HD_QUERY_SNAPSHOT,
    HD_QUERY_READ_OPTIMIZED,
    HD_QUERY_INCREMENTAL,
    HD_QUERY_CHANGES,
};

struct hd_scan_plan {
    struct hd_arena arena; /* of all strings and the splits */

    /* Where the table is: borrowed from a snapshot, or `own_*` of a decoded split. */
    const char *uri;
    hd_file_system *own_fs;
    char *own_path;
    struct hd_table_config own_config;

    /* What is asked. */
    enum hd_query_type type;
    const char *as_of; /* NULL: now */
    const char *begin; /* incremental, changes: exclusive */
    const char *end;   /* inclusive, NULL: now */
    const char *filter;
    const char *columns; /* comma list, NULL: all */
    int64_t limit;       /* rows; -1: all */

    /* Changes: they have no splits, the stream finds what it reads as it goes. */
    const struct hd_table_snapshot *table; /* borrowed */
    bool recover;
    const char *spill_folder; /* NULL: the system's */

    /* What that means for this table. */
    const char *since; /* incremental: instants up to it are not asked for */
    const char *until; /* nor those after it, which have not happened; NULL: none. Also as_of */
    const char *range; /* condition on _hoodie_commit_time; NULL: begin and end are instants */
    const char *avro;  /* its schema; NULL: it has none, and no rows */
    const char *internal_schema; /* newest internal schema; NULL: columns by name */
    struct ArrowSchema schema;   /* as hd_slice_query has it */
    int32_t *column_numbers;
    hd_predicate *predicate;
    hd_internal_schema *internal;
    struct hd_slice_query query;
    struct hd_options merge_options;     /* of those given: the ones that reading log files asks */
    struct hd_log_instants log_instants; /* in the arena, or the table's */

    struct hd_slice_source *splits;
    size_t n_splits;
};

/** Options to type, times, filter, columns, limit. Times are instants of the table's clock. */
hudi_status hd_scan_read_options(struct hd_op *op, const struct hd_options *options,
                                 const struct hd_table_config *config, hd_scan_plan *plan);

/** From `avro` and the rest to schema, columns, predicate and query; `config` is the table's. */
hudi_status hd_scan_resolve(struct hd_op *op, hd_file_system *fs, const char *table_path,
                            const struct hd_table_config *config, hd_scan_plan *plan);

/**
 * The timeline as a query sees it: a shallow copy of the table's, its instants in the arena. With
 * `recover` completed writes that cannot be read count as pending, so that none of their files
 * shows; without it a completed write of 0 bytes is HUDI_CORRUPT, naming its file.
 */
hudi_status hd_scan_visible_timeline(struct hd_op *op, const struct hd_table_snapshot *table,
                                     bool recover, struct hd_arena *arena, struct hd_timeline *out);

/** Which partitions may hold rows that pass the plan's predicate. Only what the path says for
 * certain counts: fields whose text it is, not what the timestamp generator made of them. Borrows
 * the plan and the config, lives in the arena; may be asked by several threads. */
struct hd_scan_pruner {
    const hd_scan_plan *plan;
    const struct hd_table_config *config;
    int32_t *columns;    /* by partition field: the column it is filtered by, or -1 */
    bool *is_plain;      /* by partition field: its part of the path is the text of its value */
    bool *is_text;       /* by partition field: of type STRING */
    int32_t path_column; /* _hoodie_partition_path when it is filtered by, or -1 */
    bool can_prune;
};
hudi_status hd_scan_pruner_init(struct hd_op *op, struct hd_arena *arena, const hd_scan_plan *plan,
                                const struct hd_table_config *config, struct hd_scan_pruner *out);
hudi_status hd_scan_partition_may_match(struct hd_op *op, const struct hd_scan_pruner *pruner,
                                        const char *partition_path, bool *out);
/** The same for a folder that may be a partition or hold some: for hd_partition_walk_wanted(). */
hudi_status hd_scan_folder_may_match(struct hd_op *op, void *pruner, const char *path, bool *out);

/** HUDI_NOT_FOUND, naming the first one, when a file slice as of `as_of` that may hold rows written
 * after `after` (NULL: any rows), of a partition that is not pruned, was cleaned. */
hudi_status hd_scan_check_cleaned(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const struct hd_timeline *timeline,
                                  const struct hd_file_system_view *view,
                                  const struct hd_scan_pruner *pruner, const char *after,
                                  const char *as_of);

/** Warn of log files that a snapshot would read, by what commits say, and that are not there or too
 * short: `slices` are what it reads. */
hudi_status hd_scan_warn_missing_logs(struct hd_op *op, const struct hd_table_config *config,
                                      const struct hd_timeline *timeline, const char *as_of,
                                      const struct hd_file_slice *const *slices, size_t n_slices);

/** When a completed write completed: its time where nothing else is known, below version 8. */
const char *hd_scan_completion(const struct hd_instant *instant);

/** Is a completed write in the plan's range of commits: below version 8 by its time, from 8 on by
 * when it completed? `completion` may be NULL. */
bool hd_scan_is_in_range(const hd_scan_plan *plan, const char *time, const char *completion);

/** since, until and range of the plan. Commits that completed after an incremental query's end
 * become pending in `timeline`. @return HUDI_NOT_IMPLEMENTED for a merge-on-read table of version 8
 * or later as of a time in its archive */
hudi_status hd_scan_find_range(struct hd_op *op, const struct hd_table_snapshot *table,
                               struct hd_timeline *timeline, hd_scan_plan *plan);

/** Only rows of the range: its files hold older ones too, clustered ones nothing else. */
hudi_status hd_scan_filter_range(struct hd_op *op, hd_scan_plan *plan);

/** What log blocks are held against: the writes of the timeline. */
hudi_status hd_scan_find_log_instants(struct hd_op *op, const struct hd_timeline *timeline,
                                      hd_scan_plan *plan);

/** Paths of a slice's log files, in the arena. */
hudi_status hd_scan_copy_log_paths(struct hd_op *op, struct hd_arena *arena,
                                   const struct hd_file_slice *slice, const char *const **out);

/** Is the option one that reading log files asks? */
bool hd_scan_is_merge_option(const char *key);

/** Set file_schema of every split, and those of the log blocks, for a plan with an internal schema.
 */
hudi_status hd_scan_find_file_schemas(struct hd_op *op, const struct hd_table_snapshot *table,
                                      const struct hd_timeline *timeline, hd_scan_plan *plan);

#endif
