/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_REPLACE_PLAN_H
#define HD_FORMAT_REPLACE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"
#include "format/timeline/timeline.h"

/** A file slice that a clustering rewrites. */
struct hd_clustering_slice {
    const char *partition_path;
    const char *file_id;
    const char *data_file;    /* name of the base file; NULL: log files only */
    const char **delta_files; /* names of the log files */
    size_t n_delta_files;
    size_t group;           /* number of its input group */
    int64_t n_output_files; /* file groups that its input group becomes */
    uint64_t base_bytes;    /* of who plans; not in the plan by itself, so 0 when it is read */
    uint64_t log_bytes;
};

/** HoodieRequestedReplaceMetadata: the content of a replacecommit's (version 8: clustering's)
 * requested file. docs/format/timeline.md 4 */
struct hd_replace_plan {
    struct hd_arena arena;
    const char *operation_type; /* "CLUSTER"; NULL for an insert overwrite and the like */
    bool is_clustering;         /* with a plan */
    const char *strategy_class; /* may be NULL */
    const char **param_keys;    /* the strategy's parameters */
    const char **param_values;
    size_t n_params;
    struct hd_clustering_slice *slices; /* by input group */
    size_t n_slices;
    size_t n_groups;
};

/** An empty file is a plan without anything. Full paths are cut to names. @return HUDI_CORRUPT */
hudi_status hd_replace_plan_parse(struct hd_op *op, struct hd_slice bytes,
                                  struct hd_replace_plan *out);
/** The plan of a pending or completed replacecommit or clustering. */
hudi_status hd_replace_plan_read(struct hd_op *op, const struct hd_timeline *timeline,
                                 const struct hd_instant *instant, struct hd_replace_plan *out);
void hd_replace_plan_clear(struct hd_replace_plan *plan);

/** Append what the requested file of an insert overwrite or a deletion of partitions holds: the
 * record with all four fields null. */
hudi_status hd_replace_plan_encode_empty(struct hd_op *op, struct hd_str *out);

/** Append the content of a clustering's requested file. Groups are numbered from 0 and not empty.
 * @param table_uri  in the paths of files */
hudi_status hd_replace_plan_encode(struct hd_op *op, const struct hd_replace_plan *plan,
                                   const char *table_uri, struct hd_str *out);
/** The Avro schema of these files. */
struct hd_slice hd_replace_plan_schema(void);

/** A file group that a pending table service will rewrite. */
struct hd_pending_file_group {
    const char *partition_path;
    const char *file_id;
    const char *instant; /* of the service */
};

/**
 * File groups of all pending clusterings: writers must not update them. Below version 8 a
 * clustering is told from another replacecommit by its plan, so the requested file of each pending
 * replacecommit is read. Sorted by (partition path, file id), in the arena.
 */
hudi_status hd_pending_clustering_file_ids(struct hd_op *op, const struct hd_timeline *timeline,
                                           struct hd_arena *arena,
                                           struct hd_pending_file_group **out, size_t *n);

/** File groups of all pending compactions and log compactions, likewise. */
hudi_status hd_pending_compaction_file_ids(struct hd_op *op, const struct hd_timeline *timeline,
                                           struct hd_arena *arena,
                                           struct hd_pending_file_group **out, size_t *n);

/** The entry of a file group in one of these lists, or NULL. */
const struct hd_pending_file_group *
hd_pending_file_group_find(const struct hd_pending_file_group *groups, size_t n,
                           const char *partition_path, const char *file_id);

#endif
