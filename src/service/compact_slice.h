/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_COMPACT_SLICE_H
#define HD_SERVICE_COMPACT_SLICE_H

#include "format/timeline/commit_metadata.h"
#include "service/rewrite_job.h"

/** Rows of the slice's base file as its footer has them; 0 without one.
 * @return HUDI_NOT_IMPLEMENTED for rows of a changelog, which cannot be rewritten */
hudi_status hd_count_base_rows(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_slice_source *source, int64_t *n_rows);

/** After the last batch of a slice: no row is lost or doubled among `n_rows` that came out. */
hudi_status hd_check_slice_rows(struct hd_op *op, const struct hd_slice_source *source,
                                const struct hd_slice_merge_stats *stats, int64_t n_base,
                                int64_t n_rows);

/** And the keys of those that were merged are those that the slice has. */
hudi_status hd_check_slice_keys(struct hd_op *op, const struct hd_slice_source *source,
                                const struct hd_slice_merge_stats *stats,
                                const struct hd_key_digest *keys);

/**
 * Merge one file slice into a new base file of its group, rows as they come, and check that none is
 * lost: rows written are those of the base file less the deleted ones and with the added ones, and
 * every key of the log files met a row, became one, or was deleted. A slice without base file and
 * without a record that counts gives no file.
 * @param stat  strings in `arena`; path NULL: no file
 * @return HUDI_INTERNAL when the numbers do not agree
 *
 * Source: HoodieCompactor.compact (Hudi 0.15.0)
 */
hudi_status hd_compact_slice(struct hd_op *op, const struct hd_rewrite_job *job,
                             const struct hd_slice_source *source, uint64_t log_bytes,
                             uint32_t ordinal, struct hd_arena *arena, struct hd_write_stat *stat);

#endif
