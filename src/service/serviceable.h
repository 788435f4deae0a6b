/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_SERVICEABLE_H
#define HD_SERVICE_SERVICEABLE_H

#include "engine/commit/transaction.h"

/** Refuse, before a byte is written, a table whose services this library cannot run: those that
 * move no rows ask for less than a write does. @return HUDI_NOT_IMPLEMENTED */
hudi_status hd_check_service_table(struct hd_op *op, const struct hd_table_snapshot *table);

/** The same, and HUDI_CONFLICT while a restore is not finished: nothing but hd_restore() may go on
 * then. */
hudi_status hd_check_serviceable(struct hd_op *op, const struct hd_table_snapshot *table);

/**
 * May somebody be at work on an inflight compaction or clustering? Ours beat; Hudi's do not, so
 * where several writers share the table one without a heartbeat may be at work as well, unless it
 * is run `by_hand`.
 */
hudi_status hd_check_at_work(struct hd_op *op, const struct hd_transaction *transaction,
                             const struct hd_instant *instant, bool by_hand, bool *out);

#endif
