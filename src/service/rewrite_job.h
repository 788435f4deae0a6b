/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_REWRITE_JOB_H
#define HD_SERVICE_REWRITE_JOB_H

#include "engine/slice/slice_reader.h"
#include "engine/write/write_config.h"
#include "format/layout/file_system_view.h"
#include "service/rewrite.h"

/** What services that rewrite file slices work by: how slices are read whole, and files written. */
struct hd_rewrite_job {
    struct hd_arena arena;
    struct hd_write_config config;
    struct hd_write_schema schema;
    struct hd_log_instants log_instants;
    struct hd_slice_query query;
    struct ArrowSchema rows; /* what the query gives: all columns of schema.file, at first */
};

/** `job` is all zero; its query is shared by as many readers as the pool has threads. Borrows table
 * and pool. */
hudi_status hd_rewrite_job_init(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                const struct hd_options *options, const char *time,
                                struct hd_rewrite_job *job);
/** Of slices that become base files, leave out of query and rows what writing makes
 * (hd_rewrite_handle_makes()), but for the columns of schema.file that are needed all the same. */
hudi_status hd_rewrite_job_narrow(struct hd_op *op, struct hd_rewrite_job *job,
                                  const int32_t *needed, size_t n_needed);
void hd_rewrite_job_clear(struct hd_op *op, struct hd_rewrite_job *job);

/** The view of these partitions, which a plan names. @return HUDI_CORRUPT for a path that leaves
 * the table */
hudi_status hd_rewrite_job_view(struct hd_op *op, const struct hd_rewrite_job *job,
                                const char *const *partitions, size_t n,
                                struct hd_file_system_view *out);

/**
 * Find a slice of a plan among what is there: all log files that carry its base instant, also those
 * that came after the plan, since what is not merged now would show no more. Strings are in the
 * job's arena or the plan's.
 * @return HUDI_CONFLICT when a file of the plan is gone or of another group
 */
hudi_status hd_rewrite_job_find(struct hd_op *op, struct hd_rewrite_job *job,
                                const struct hd_file_system_view *view,
                                const struct hd_planned_slice *planned, struct hd_slice_source *out,
                                uint64_t *log_bytes);

#endif
