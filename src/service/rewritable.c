/* SPDX-License-Identifier: Apache-2.0 */
#include "service/rewritable.h"

#include "engine/commit/writable.h"
#include "service/serviceable.h"

hudi_status hd_check_rewritable(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_options *options)
{
    HD_TRY(hd_check_serviceable(op, table));
    if (table->config.base_file_format == HD_BASE_FILE_ORC)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "rewriting files of tables of ORC files is not supported yet");
    return hd_check_columns(op, table, options);
}

bool hd_has_live_write(struct hd_op *op, const struct hd_table_snapshot *table)
{
    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *const instant = &table->timeline.instants[i];

        if (instant->state == HD_COMPLETED || (instant->pending_action != HD_ACTION_DELTACOMMIT &&
                                               instant->pending_action != HD_ACTION_COMMIT))
            continue;
        hd_log(op, HD_LOG_INFO, "nothing is planned while write %s is at work", instant->time);
        return true;
    }
    return false;
}
