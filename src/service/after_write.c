/* SPDX-License-Identifier: Apache-2.0 */
#include "service/after_write.h"

#include "service/archival.h"
#include "service/cleaning.h"
#include "service/clustering.h"
#include "service/compaction.h"
#include "service/serviceable.h"

/* The write stands: what goes wrong after it is told, no more. */
static void log_failure(struct hd_op *op, const char *service, hudi_status status)
{
    if (status != HUDI_OK)
        hd_log(op, HD_LOG_WARN, "the write is done, but the %s after it is not: %s", service,
               op->error == NULL ? hudi_status_name(status) : hudi_error_message(op->error));
    hd_op_clear_error(op);
}

static hudi_status archive(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                           const struct hd_options *options)
{
    struct hd_archive_report report;

    if (!hd_options_bool(options, &table->config.properties, "hoodie.archive.automatic"))
        return HUDI_OK;
    return hd_archive_locked(op, pool, table, options, false, &report);
}

/* HUDI_NOT_FOUND (no error) when another writer is at work: it runs them in the end. Where several
 * share the table they hold the lock for moments, which are waited for. */
static hudi_status open_table(struct hd_op *op, const char *uri, const struct hd_options *options,
                              struct hd_table_snapshot *table, struct hd_transaction *transaction)
{
    HD_TRY(hd_table_snapshot_load(op, uri, table));
    HD_TRY(hd_check_serviceable(op, table));
    hd_transaction_init(transaction, table, options);
    if (!transaction->shared)
        transaction->wait_ms = 0;
    const hudi_status status = hd_transaction_lock(op, transaction);
    if (status == HUDI_CONFLICT) {
        hd_op_clear_error(op);
        return HUDI_NOT_FOUND;
    }
    HD_TRY(status);
    return hd_table_snapshot_reload(op, table);
}

void hd_services_after_write(struct hd_op *op, hd_pool *pool, const char *uri,
                             const struct hd_options *options)
{
    struct hd_table_snapshot table = {0};
    struct hd_transaction transaction = {0};

    hudi_status status = open_table(op, uri, options, &table, &transaction);
    if (status != HUDI_OK) {
        log_failure(op, "services", status == HUDI_NOT_FOUND ? HUDI_OK : status);
    } else {
        status = hd_clean_due(op, pool, &transaction);
        log_failure(op, "clean", status);
        if (status == HUDI_OK)
            log_failure(op, "archiving", archive(op, pool, &table, options));
        log_failure(op, "compaction", hd_rewrite_due(op, pool, &transaction, &hd_compaction));
        log_failure(op, "log compaction",
                    hd_rewrite_due(op, pool, &transaction, &hd_log_compaction));
        log_failure(op, "clustering", hd_rewrite_due(op, pool, &transaction, &hd_clustering));
    }
    hd_transaction_close(&transaction);
    hd_table_snapshot_clear(op, &table);
}
