/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_CLEAN_PLAN_H
#define HD_FORMAT_CLEAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"
#include "format/table/table_version.h"

/** What a clean takes out of one partition. */
struct hd_clean_partition {
    const char *partition_path;
    const char **files; /* names of data files */
    size_t n_files;
};

/** HoodieCleanerPlan: the content of {c}.clean.requested. Strings are in `arena`. */
struct hd_clean_plan {
    struct hd_arena arena;
    const char *earliest_time;   /* of the earliest instant to retain; NULL: none */
    const char *earliest_action; /* "commit"; set when the time is */
    const char *last_completed;  /* newest completed write when it was planned, or "" */
    const char *policy;          /* "KEEP_LATEST_COMMITS" */
    struct hd_clean_partition *partitions;
    size_t n_partitions;
    const char **deleted_partitions; /* that have no file any more then */
    size_t n_deleted_partitions;
    const char *savepoints; /* times of the savepoints there were, comma-separated, or NULL */
};

/**
 * Append the plan as the release of the table's version writes it; `table_uri` is put before the
 * paths ("file:/a/b", docs/format/timeline.md 4). Made without a tree of values: plans may name
 * hundreds of thousands of files. Source: HoodieCleanerPlan, CleanPlanV2MigrationHandler
 */
hudi_status hd_clean_plan_encode(struct hd_op *op, const struct hd_clean_plan *plan,
                                 const struct hd_table_version *version, const char *table_uri,
                                 struct hd_str *out);

/**
 * Version 1 plans (names or paths by partition) and version 2; paths are cut to names, whatever
 * place they are of. Whoever deletes checks partition paths and names.
 * @return HUDI_CORRUPT; HUDI_NOT_IMPLEMENTED for a plan with files of a bootstrap source
 */
hudi_status hd_clean_plan_decode(struct hd_op *op, struct hd_slice bytes,
                                 struct hd_clean_plan *out);
void hd_clean_plan_clear(struct hd_clean_plan *plan);

/** What a clean did in one partition. */
struct hd_cleaned_partition {
    const char *partition_path;
    const char **files; /* as planned */
    bool *deleted;      /* for each: false when it was gone already or could not be deleted */
    size_t n_files;
    bool partition_deleted;
};

/** HoodieCleanMetadata: the content of {c}.clean. Strings are in `arena`. */
struct hd_clean_metadata {
    struct hd_arena arena;
    const char *start_time;
    int64_t taken_ms;
    int64_t n_deleted;
    const char *earliest_time;  /* "" when none */
    const char *last_completed; /* or "" */
    const char *policy;
    struct hd_cleaned_partition *partitions;
    size_t n_partitions;
    const char *savepoints; /* as in the plan */
};

/** `n_deleted` is counted from the partitions. */
hudi_status hd_clean_metadata_encode(struct hd_op *op, const struct hd_clean_metadata *metadata,
                                     const struct hd_table_version *version, struct hd_str *out);
/** @return HUDI_CORRUPT */
hudi_status hd_clean_metadata_decode(struct hd_op *op, struct hd_slice bytes,
                                     struct hd_clean_metadata *out);
void hd_clean_metadata_clear(struct hd_clean_metadata *metadata);

#endif
