/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_TURN_H
#define HD_ENGINE_TURN_H

#include "engine/commit/conflict.h"
#include "engine/commit/heartbeat.h"
#include "engine/commit/transaction.h"

/**
 * The last step before an instant completes. With several writers: take the lock, load the table
 * again, and see whether what others did since this instant began allows it to complete. With one
 * writer, who has held the lock all the time, there is nothing to do.
 *
 * The table's columns: those that others added meanwhile go into `metadata`. When this instant
 * changes the columns, too, or one with a later time has completed, whose columns readers take, it
 * is a conflict.
 *
 * A metadata table that somebody made meanwhile is switched off again.
 * @param transaction  its table is as it was loaded when the instant began; on return it is as of
 *                     now, and the lock is held unless that was what failed
 * @param heartbeat  may be NULL
 * @return HUDI_CONFLICT, retriable, but for a heart that has stopped
 */
hudi_status hd_take_turn(struct hd_op *op, struct hd_transaction *transaction,
                         const hd_heartbeat *heartbeat, enum hd_conflict_role role,
                         const char *time, struct hd_commit_metadata *metadata);

#endif
