/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_DELETE_VALUES_H
#define HD_ENGINE_DELETE_VALUES_H

#include "arrow/view.h"
#include "base/op.h"
#include "format/log/log_deletes.h"

/**
 * A row's ordering value as a delete block has it: of the Java class that the field's values have
 * in Hudi. Dates are days, times and timestamps the numbers that are stored, in the column's unit.
 * @param arena  takes bytes
 * @param out    HD_ORDERING_NONE for a null
 * Source: HoodieAvroUtils.getNestedFieldVal, DeleteRecord (Hudi 0.15.0)
 */
hudi_status hd_ordering_value_of(struct hd_op *op, const struct hd_view *view, int64_t row,
                                 struct hd_arena *arena, struct hd_ordering_value *out);

#endif
