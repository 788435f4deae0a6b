/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_TRANSACTION_H
#define HD_ENGINE_TRANSACTION_H

#include "engine/commit/table_lock.h"

/**
 * The table's lock as the steps of one write or service take it. With one writer it is taken once
 * and kept to the end. With several it is held for moments: to begin an instant, to plan, to roll
 * back, to complete. Whatever is decided under it is decided on a timeline that was loaded under
 * it.
 *
 * Source: TransactionManager (Hudi 0.15.0)
 */
struct hd_transaction {
    struct hd_table_snapshot *table; /* borrowed */
    const struct hd_options *options;
    bool shared; /* several writers */
    uint64_t wait_ms;
    struct hd_fs_lock *lock; /* NULL: not held */
};

/** `options` may be NULL: one writer. Takes nothing yet. */
void hd_transaction_init(struct hd_transaction *transaction, struct hd_table_snapshot *table,
                         const struct hd_options *options);

/** Take the lock unless it is held, and load the table again.
 * @return HUDI_CONFLICT (retriable), as hd_table_lock() */
hudi_status hd_transaction_begin(struct hd_op *op, struct hd_transaction *transaction);

/** Take the lock unless it is held; the table stays as it was loaded. */
hudi_status hd_transaction_lock(struct hd_op *op, struct hd_transaction *transaction);

/** With several writers give the lock back, with one keep it. */
void hd_transaction_end(struct hd_transaction *transaction);

/** Give the lock back. An all-zero transaction may be closed. */
void hd_transaction_close(struct hd_transaction *transaction);

#endif
