/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_CHANGES_H
#define HD_ENGINE_CHANGES_H

#include "engine/scan/scan_internal.h"

/**
 * Every change of a range of commits (change data capture), of a table that logs them
 * (hoodie.table.cdc.enabled): rows of the columns
 *
 *     op      "i", "u", "d"
 *     ts_ms   time of the instant
 *     before  the row before it as a JSON object; null for an insert
 *     after   the row after it; null for a delete
 *
 * instant by instant, in one of them by partition path and file id; deletes of replaced file groups
 * before the rows that took their place. Where a change was logged (.cdc files) the images are as
 * logged, without meta columns; what was not logged comes from the base files, with them:
 *
 *     logged, with both images          as it is                   (AS_IS)
 *     logged, images left out           looked up by record key in the base files before and after
 *     a new base file, inserts alone    each row is an insert      (BASE_FILE_INSERT)
 *     a base file without rows          each row before is deleted (BASE_FILE_DELETE)
 *     a file group replaced             each row of it is deleted  (REPLACE_COMMIT)
 *     log files, or nothing logged      the slices before and after are compared (LOG_FILE)
 *
 * Memory is that of one file group's changes at a time; what passes a part of the budget spills.
 *
 * @param plan   a plan of type HD_QUERY_CHANGES, taken over, also on failure
 * @return HUDI_NOT_FOUND for changes that were archived; batches: the same where files were
 *         cleaned, naming them
 * Source: HoodieCDCExtractor, HoodieCDCInferenceCase, CDCFileGroupIterator (Hudi 0.15.0)
 */
hudi_status hd_changes_stream(struct hd_op *op, hd_scan_plan *plan, struct ArrowArrayStream *out);

#endif
