/* SPDX-License-Identifier: Apache-2.0 */
#include "service/after_write.h"

#include "service/archival.h"
#include "service/cleaning.h"
#include "service/clustering.h"
#include "service/compaction.h"
#include "service/rewrite_service.h"
#include "service/serviceable.h"

#define FAILS_WRITES "hoodie.fail.writes.on.inline.table.service.exception"

/* The write stands: what goes wrong after it is told, no more. */
static void log_failure(struct hd_op *op, const char *service, hudi_status status)
{
    if (status != HUDI_OK)
        hd_log(op, HD_LOG_WARN, "the write is done, but the %s after it is not: %s", service,
               op->error == NULL ? hudi_status_name(status) : hudi_error_message(op->error));
    hd_op_clear_error(op);
}

/* Of a service that was asked for. */
static hudi_status end_inline(struct hd_op *op, const struct hd_options *options,
                              const struct hd_properties *properties, const char *service,
                              hudi_status status)
{
    if (status == HUDI_OK || !hd_options_bool(options, properties, FAILS_WRITES)) {
        log_failure(op, service, status);
        return HUDI_OK;
    }
    hudi_error *const cause = hd_op_take_error(op);

    status =
        hd_fail(op, HUDI_SERVICE_FAILED, "the write is committed, but the %s after it is not: %s",
                service, cause == NULL ? hudi_status_name(status) : hudi_error_message(cause));
    hd_fail_path(op, status, hudi_error_path(cause));
    hudi_error_free(cause);
    return status;
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

/* Those that nobody has to ask for. */
static void keep_in_order(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction)
{
    const hudi_status status = hd_clean_due(op, pool, transaction);

    log_failure(op, "clean", status);
    if (status == HUDI_OK)
        log_failure(op, "archiving", archive(op, pool, transaction->table, transaction->options));
}

static const hd_rewrite_service *const INLINE[] = {&hd_compaction, &hd_log_compaction,
                                                   &hd_clustering};
#define N_INLINE (sizeof INLINE / sizeof INLINE[0])

static hudi_status rewrite_due(struct hd_op *op, hd_pool *pool, struct hd_transaction *transaction)
{
    for (size_t i = 0; i < N_INLINE; i++) {
        const hudi_status status = hd_rewrite_due(op, pool, transaction, INLINE[i]);

        HD_TRY(end_inline(op, transaction->options, &transaction->table->config.properties,
                          INLINE[i]->name, status));
    }
    return HUDI_OK;
}

/* The table cannot be opened: that concerns the write when a service was asked for. */
static hudi_status end_unopened(struct hd_op *op, const struct hd_options *options,
                                hudi_status status)
{
    bool asked = false;

    for (size_t i = 0; i < N_INLINE; i++)
        asked |= hd_options_bool(options, NULL, INLINE[i]->inline_key);
    if (asked)
        return end_inline(op, options, NULL, "table service", status);
    log_failure(op, "table service", status);
    return HUDI_OK;
}

hudi_status hd_services_after_write(struct hd_op *op, hd_pool *pool, const char *uri,
                                    const struct hd_options *options)
{
    struct hd_table_snapshot table = {0};
    struct hd_transaction transaction = {0};

    if (!hd_options_bool(options, NULL, "hoodie.table.services.enabled"))
        return HUDI_OK;
    hudi_status status = open_table(op, uri, options, &table, &transaction);
    if (status == HUDI_OK) {
        keep_in_order(op, pool, &transaction);
        status = rewrite_due(op, pool, &transaction);
    } else {
        status = status == HUDI_NOT_FOUND ? HUDI_OK : end_unopened(op, options, status);
    }
    hd_transaction_close(&transaction);
    hd_table_snapshot_clear(op, &table);
    return status;
}
