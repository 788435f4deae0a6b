/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_FLOATS_H
#define HD_ENGINE_LOG_FLOATS_H

#include "base/op.h"
#include "hudi/arrow_c.h"

/*
 * Private to engine/slice: floats of log records that the table has as doubles since. Avro widens
 * them exactly (0.1 becomes 0.10000000149011612), a record that Hudi rewrites gets the double of
 * the same decimal text (0.1).
 */

/**
 * Does Hudi up to 1.0 rewrite records of these columns as the table has them: a number, bytes or a
 * date became a string? Columns are matched by name.
 * Source: HoodieAvroUtils.recordNeedsRewriteForExtendedAvroTypePromotion (Hudi 0.15.0, 1.0.2)
 */
bool hd_log_is_rewritten(const struct ArrowSchema *file, const struct ArrowSchema *table);

/**
 * Make doubles of the floats in a column that `wanted` has as doubles, at any depth.
 * @param column      the file's, changed in place
 * @param understood  the same with the names that `wanted` has for its fields
 */
hudi_status hd_log_widen_floats(struct hd_op *op, struct ArrowSchema *column,
                                const struct ArrowSchema *understood,
                                const struct ArrowSchema *wanted, bool *changed);

#endif
