/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SCAN_H
#define HD_ENGINE_SCAN_H

#include "base/op.h"
#include "base/pool.h"
#include "base/str.h"
#include "format/layout/table_snapshot.h"
#include "format/table/config_keys.h"
#include "hudi/arrow_c.h"

/**
 * A query, resolved: which file slices, which columns, which rows. A slice of it is a split: it can
 * be read alone, also by another process, from bytes.
 */
typedef struct hd_scan_plan hd_scan_plan;

/**
 * Plan a query with the options of include/hudi/scan.h.
 *
 *     snapshot        the newest slice of every file group
 *     as.of.instant   the slices as of that time: an error when one of them was cleaned since; no
 *                     rows before the first commit
 *     read_optimized  base files alone
 *     incremental     rows of the commits in (begin, end], by instant time (from table version 8
 *                     on by completion time, like Hudi 1.x): those whose
 *                     _hoodie_commit_time lies in it in the slices as of `end`. Rows that were
 *                     written in the range and again after it show as of `end`; groups that were
 *                     replaced by then do not show. Commits that were archived count as any other.
 *     incremental in the format cdc
 *                     every change of the range, as changes.h has it
 *
 * @param table    borrowed, must outlive the plan
 * @param options  may be NULL
 * @return HUDI_INVALID for options that do not fit the table or each other; HUDI_NOT_FOUND for
 * files that were cleaned; HUDI_CORRUPT for a completed commit without content, naming it, unless
 *         libhudi.read.recover; HUDI_NOT_IMPLEMENTED
 * Source: HoodieBaseRelation, IncrementalRelation, HoodieFileIndex (Hudi 0.15.0)
 */
hudi_status hd_scan_plan_new(struct hd_op *op, hd_pool *pool, const struct hd_table_snapshot *table,
                             const struct hd_options *options, hd_scan_plan **out);

/** A split as JSON with a version; and back, to a plan of that split alone, which owns all it
 * needs.
 * @return HUDI_CORRUPT for bytes that are no split; HUDI_NOT_IMPLEMENTED for another version */
hudi_status hd_scan_split_encode(struct hd_op *op, const hd_scan_plan *plan, size_t i,
                                 struct hd_str *out);
hudi_status hd_scan_split_decode(struct hd_op *op, struct hd_slice bytes, hd_scan_plan **out);

/** False for changes: they come as one stream, which finds what it reads as it goes. */
bool hd_scan_plan_has_splits(const hd_scan_plan *plan);
size_t hd_scan_plan_n_splits(const hd_scan_plan *plan);

/** Takes NULL. */
void hd_scan_plan_free(hd_scan_plan *plan);

/**
 * The rows, in the order of partition path and file id. With more than one thread in `pool` (NULL:
 * one) slices are read ahead by threads of the stream's own, a bounded number of bytes; the order
 * stays. `plan` is taken over, also on failure.
 */
hudi_status hd_scan_stream(struct hd_op *op, hd_pool *pool, hd_scan_plan *plan,
                           struct ArrowArrayStream *out);

#endif
