/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/transaction.h"

void hd_transaction_init(struct hd_transaction *transaction, struct hd_table_snapshot *table,
                         const struct hd_options *options)
{
    *transaction = (struct hd_transaction){.table = table,
                                           .options = options,
                                           .shared = hd_has_several_writers(options),
                                           .wait_ms = hd_table_lock_wait_ms(options)};
}

hudi_status hd_transaction_lock(struct hd_op *op, struct hd_transaction *transaction)
{
    if (transaction->lock != NULL)
        return HUDI_OK;
    return hd_table_lock(op, transaction->table, transaction->options, transaction->wait_ms,
                         &transaction->lock);
}

hudi_status hd_transaction_begin(struct hd_op *op, struct hd_transaction *transaction)
{
    HD_TRY(hd_transaction_lock(op, transaction));
    return hd_table_snapshot_reload(op, transaction->table);
}

void hd_transaction_end(struct hd_transaction *transaction)
{
    if (transaction->shared)
        hd_transaction_close(transaction);
}

void hd_transaction_close(struct hd_transaction *transaction)
{
    hd_fs_unlock(transaction->lock);
    transaction->lock = NULL;
}
