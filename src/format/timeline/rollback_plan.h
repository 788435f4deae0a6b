/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_ROLLBACK_PLAN_H
#define HD_FORMAT_ROLLBACK_PLAN_H

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"

/** Files to delete in one partition: HoodieRollbackRequest of copy-on-write (file id and base
 * instant are "" there). Paths as the plan has them: full, with or without scheme. */
struct hd_rollback_request {
    const char *partition_path;
    const char *file_id;             /* "" in requests that delete files */
    const char *latest_base_instant; /* likewise */
    const char **files;
    size_t n_files;
    const char **log_paths; /* merge-on-read: log files that need a rollback block */
    int64_t *log_sizes;
    size_t n_logs;
    /* Not in the plan, set by who carries it out: log files that a rollback block was written to,
     * as URIs, with their size then. */
    const char **rollback_log_paths;
    int64_t *rollback_log_sizes;
    size_t n_rollback_logs;
};

/** HoodieRollbackPlan: the content of {r}.rollback.requested. Strings are in `arena`. */
struct hd_rollback_plan {
    struct hd_arena arena;
    const char *target_time;
    const char *target_action; /* "commit" */
    struct hd_rollback_request *requests;
    size_t n_requests;
};

hudi_status hd_rollback_plan_encode(struct hd_op *op, const struct hd_rollback_plan *plan,
                                    struct hd_str *out);
/** @return HUDI_CORRUPT */
hudi_status hd_rollback_plan_decode(struct hd_op *op, struct hd_slice bytes,
                                    struct hd_rollback_plan *out);
void hd_rollback_plan_clear(struct hd_rollback_plan *plan);

/** HoodieRollbackMetadata of a rollback that did everything in its plan: the content of
 * {r}.rollback. One entry for each partition, whatever number of requests it has. */
hudi_status hd_rollback_metadata_encode(struct hd_op *op, const struct hd_rollback_plan *plan,
                                        const char *rollback_time, int64_t taken_ms,
                                        struct hd_str *out);

/** Back from a completed rollback: one request for each partition, with the files that were deleted
 * (those that could not be are left out). @return HUDI_CORRUPT */
hudi_status hd_rollback_metadata_decode(struct hd_op *op, struct hd_slice bytes,
                                        struct hd_rollback_plan *out);

#endif
