/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_REWRITABLE_H
#define HD_SERVICE_REWRITABLE_H

#include "format/layout/table_snapshot.h"
#include "format/table/config_keys.h"

/** Refuse, before a byte is written, a table whose rows this library cannot rewrite.
 * @return HUDI_NOT_IMPLEMENTED, HUDI_CORRUPT, HUDI_INVALID */
hudi_status hd_check_rewritable(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_options *options);

/** A write of another process that began before a plan that is made now: what it writes to a file
 * slice of the plan would show no more, so nothing is planned. Logged. After
 * hd_rollback_failed_writes(), which leaves only live ones. */
bool hd_has_live_write(struct hd_op *op, const struct hd_table_snapshot *table);

#endif
