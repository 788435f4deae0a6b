/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/turn.h"

#include <string.h>

#include "engine/commit/writable.h"

/* NULL for a table without any, or where the commit that has it was archived meanwhile. */
static hudi_status schema_of(struct hd_op *op, const struct hd_table_snapshot *table,
                             const struct hd_timeline *timeline, char **out)
{
    const hudi_status status =
        hd_timeline_table_schema(op, timeline, &table->config, NULL, out, NULL);

    if (status == HUDI_NOT_FOUND)
        hd_op_clear_error(op);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

static hudi_status fail_schema(struct hd_op *op, const char *time)
{
    return hd_fail_retriable(
        op, hd_fail(op, HUDI_CONFLICT,
                    "%s changes the table's columns, and another write that completed since it "
                    "began does not know of it or changes them, too",
                    time));
}

static hudi_status reconcile_schema(struct hd_op *op, const struct hd_table_snapshot *table,
                                    const struct hd_timeline *then, const char *time,
                                    struct hd_commit_metadata *metadata)
{
    const char *const ours = hd_commit_metadata_extra(metadata, "schema");
    const struct hd_instant *const last = hd_timeline_last_completed_write(&table->timeline);
    hudi_status status = HUDI_OK;
    char *before = NULL, *after = NULL;

    if (ours == NULL || last == NULL)
        return HUDI_OK;
    HD_TRY_OUT(schema_of(op, table, then, &before));
    HD_TRY_OUT(schema_of(op, table, &table->timeline, &after));
    const bool we_change = before == NULL || strcmp(ours, before) != 0;
    const bool they_change =
        after != NULL && (before == NULL || strcmp(after, before) != 0) && strcmp(after, ours) != 0;

    if (we_change && (they_change ||
                      (after != NULL && strcmp(after, ours) != 0 && strcmp(last->time, time) > 0)))
        status = fail_schema(op, time);
    else if (they_change)
        status = hd_commit_metadata_set_extra(op, metadata, "schema", after);
out:
    hd_free(op, before);
    hd_free(op, after);
    return status;
}

hudi_status hd_take_turn(struct hd_op *op, struct hd_transaction *transaction,
                         const hd_heartbeat *heartbeat, enum hd_conflict_role role,
                         const char *time, struct hd_commit_metadata *metadata)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot *const table = transaction->table;
    struct hd_timeline then;

    if (!transaction->shared)
        return HUDI_OK;
    then = table->timeline;
    table->timeline = (struct hd_timeline){0};
    const struct hd_conflict_own own = {
        .role = role, .time = time, .metadata = metadata, .then = &then};

    HD_TRY_OUT(hd_transaction_begin(op, transaction));
    HD_TRY_OUT(hd_heartbeat_check(op, heartbeat));
    HD_TRY_OUT(hd_check_conflicts(op, &own, &table->config, &table->timeline));
    HD_TRY_OUT(reconcile_schema(op, table, &then, time, metadata));
    HD_TRY_OUT(hd_switch_metadata_table_off(op, table));
    HD_TRY_OUT(hd_table_lock_check(op, transaction->lock));
out:
    hd_timeline_clear(&then);
    return status;
}
