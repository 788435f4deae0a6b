/* SPDX-License-Identifier: Apache-2.0 */
#include "service/serviceable.h"

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
