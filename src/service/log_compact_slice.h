/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_LOG_COMPACT_SLICE_H
#define HD_SERVICE_LOG_COMPACT_SLICE_H

#include "engine/write/write_status.h"
#include "service/rewrite_job.h"

/**
 * Merge the blocks of a slice's log files into a new log file of blocks that stand for them, and
 * check that no key is lost: records and deletes written are the keys of the log files. Nothing is
 * written when no block counts, or one is newer than the log compaction: in its place what came
 * later would be hidden from readers that go by the order of blocks alone.
 * @param slice   as the view has it, with all its log files
 * @param status  gets the stats
 * @return HUDI_INTERNAL when the numbers do not agree
 *
 * Source: LogCompactionExecutionHelper, HoodieAppendHandle (Hudi 0.15.0)
 */
hudi_status hd_log_compact_slice(struct hd_op *op, const struct hd_rewrite_job *job,
                                 const struct hd_slice_source *source,
                                 const struct hd_file_slice *slice, uint64_t log_bytes,
                                 uint32_t ordinal, struct hd_write_status *status);

#endif
