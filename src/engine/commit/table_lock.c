/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/table_lock.h"

hudi_status hd_table_lock(struct hd_op *op, const struct hd_table_snapshot *table, uint64_t wait_ms,
                          struct hd_fs_lock **out)
{
    char *path = NULL;

    *out = NULL;
    HD_TRY(hd_asprintf(op, &path, "%s/.hoodie/%s", table->path, HD_TABLE_LOCK_FILE));
    hudi_status status = hd_fs_lock(op, table->fs, path, wait_ms, out);
    hd_free(op, path);
    if (status == HUDI_NOT_IMPLEMENTED) {
        hd_op_clear_error(op);
        hd_log(op, HD_LOG_WARN, "no write lock on this store: there must be one writer at a time");
        return HUDI_OK;
    }
    if (status == HUDI_CONFLICT) {
        hd_op_clear_error(op);
        return hd_fail_retriable(op,
                                 hd_fail(op, HUDI_CONFLICT,
                                         "another process is writing to the table (waited %llu ms)",
                                         (unsigned long long)wait_ms));
    }
    return status;
}
