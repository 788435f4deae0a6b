/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_SCAN_H
#define HUDI_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "hudi/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Query options (hudi_options keys):
 *
 *   hoodie.datasource.query.type          snapshot (default), read_optimized, incremental
 *   as.of.instant                         time travel: the table as of this instant
 *   hoodie.datasource.read.begin.instanttime  incremental: exclusive
 *   hoodie.datasource.read.end.instanttime    incremental: inclusive; default: now
 *   libhudi.read.columns                  comma list of columns, in output order; default: all, the
 *                                         meta columns that are stored first
 *   libhudi.read.filter                   a predicate: column comparisons with = != < <= > >=, IN
 *                                         (..), IS [NOT] NULL, AND, OR, NOT, parentheses
 *   libhudi.read.limit                    at most that many rows
 *   hoodie.datasource.query.incremental.format  latest_state (default): rows as of the end; cdc:
 *                                         every change, of a table with hoodie.table.cdc.enabled,
 *                                         from the beginning when no begin is given. Columns are
 *                                         then op ("i", "u", "d"), ts_ms (the instant), before and
 *                                         after (the row as a JSON object, or null), in the order
 *                                         of instants; libhudi.read.columns says which columns the
 *                                         rows in them have. No filter, no splits
 */

/** Rows of the table as an Arrow stream, batch by batch, in the order of partition path and file
 * id. The table must outlive the stream; the stream is used by one thread at a time. */
HUDI_EXPORT hudi_status hudi_scan_open(const hudi_table *table, const hudi_options *query,
                                       hudi_cancel *cancel, struct ArrowArrayStream *out,
                                       hudi_error **err);

/**
 * The same in two steps, for engines that read on many machines: a plan is a list of splits, each
 * one file slice as versioned bytes; any process that can open the files reads a split on its own.
 */
typedef struct hudi_scan_plan hudi_scan_plan;
HUDI_EXPORT hudi_status hudi_scan_plan_new(const hudi_table *table, const hudi_options *query,
                                           hudi_scan_plan **out, hudi_error **err);
HUDI_EXPORT size_t hudi_scan_plan_n_splits(const hudi_scan_plan *plan);
/** Belongs to the plan. */
HUDI_EXPORT const void *hudi_scan_plan_split(const hudi_scan_plan *plan, size_t i, size_t *n_bytes);
HUDI_EXPORT void hudi_scan_plan_free(hudi_scan_plan *plan);
HUDI_EXPORT hudi_status hudi_split_open(hudi_context *context, const void *split, size_t n_bytes,
                                        hudi_cancel *cancel, struct ArrowArrayStream *out,
                                        hudi_error **err);

#ifdef __cplusplus
}
#endif
#endif
