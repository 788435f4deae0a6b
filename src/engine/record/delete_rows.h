/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_DELETE_ROWS_H
#define HD_ENGINE_DELETE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/op.h"
#include "format/log/log_deletes.h"
#include "format/table/table_config.h"
#include "hudi/arrow_c.h"

/**
 * Deletes of a delete block as rows that hd_merger_precombine() and hd_merger_combine() take: of
 * all columns only those of the ordering fields are set, to the deletes' ordering values.
 *
 * A delete counts by its arrival when it has no ordering value (int 0 is none) or one that is not
 * of the class that the field's values have in Hudi: an int is not compared with a long, and below
 * version 8 no dates, decimals and, in version 6, strings are. Timestamps
 * are longs in the column's unit, as releases before 1.0 have them, or microseconds.
 *
 * @param schema      the columns, a struct; all nullable in what is made
 * @param ordering    `n` values; NULL: none has any
 * @param by_arrival  set for each delete
 * Source: HoodieMergedLogRecordScanner.processNextDeletedRecord (Hudi 0.15.0),
 *         EventTimeRecordMerger (1.1.0)
 */
hudi_status hd_delete_rows(struct hd_op *op, const struct hd_table_config *config,
                           const struct ArrowSchema *schema,
                           const struct hd_ordering_value *ordering, size_t n, bool *by_arrival,
                           struct ArrowArray *out);

#endif
