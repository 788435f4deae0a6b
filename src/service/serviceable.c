/* SPDX-License-Identifier: Apache-2.0 */
#include "service/serviceable.h"

#include "engine/commit/heartbeat.h"
#include "engine/commit/writable.h"

hudi_status hd_check_service_table(struct hd_op *op, const struct hd_table_snapshot *table)
{
    const struct hd_table_config *const config = &table->config;

    if (!config->version->writes_supported || config->version->timeline_layout >= 2)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "services of tables of version %d are not supported yet",
                       config->version->number);
    if (config->is_bootstrap)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "services of bootstrap tables (hoodie.bootstrap.base.path) are not "
                       "supported");
    if (config->hfile_base_files)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "services of metadata tables are not supported");
    return HUDI_OK;
}

hudi_status hd_check_serviceable(struct hd_op *op, const struct hd_table_snapshot *table)
{
    HD_TRY(hd_check_service_table(op, table));
    return hd_check_no_restore(op, &table->timeline);
}

hudi_status hd_check_at_work(struct hd_op *op, const struct hd_transaction *transaction,
                             const struct hd_instant *instant, bool by_hand, bool *out)
{
    int64_t age_ms;

    HD_TRY(hd_heartbeat_age_ms(op, transaction->table, instant->time, &age_ms));
    *out = age_ms < 0 ? transaction->shared && !by_hand
                      : age_ms <= hd_heartbeat_patience_ms(transaction->options);
    if (*out)
        hd_log(op, HD_LOG_INFO, "%s %s is left alone: %s", hd_action_name(instant->pending_action),
               instant->time,
               age_ms < 0 ? "it has no heartbeat, and may be Hudi's" : "its writer beats");
    return HUDI_OK;
}
