/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "engine/scan/scan_internal.h"

/* A completed write whose metadata cannot be read: fails, or with `recover` says so in `*damaged`.
 */
static hudi_status check_commit(struct hd_op *op, const struct hd_timeline *timeline,
                                const struct hd_instant *instant, bool recover, bool *damaged)
{
    struct hd_commit_metadata commit = {0};
    const hudi_status status = hd_timeline_read_commit(op, timeline, instant, &commit);

    hd_commit_metadata_clear(&commit);
    *damaged = status == HUDI_CORRUPT && recover;
    if (!*damaged)
        return status;
    hd_op_clear_error(op);
    hd_log(op, HD_LOG_WARN, "completed %s %s cannot be read: its files are left out",
           hd_action_name(instant->action), instant->time);
    return HUDI_OK;
}

hudi_status hd_scan_visible_timeline(struct hd_op *op, const struct hd_table_snapshot *table,
                                     bool recover, struct hd_arena *arena, struct hd_timeline *out)
{
    const struct hd_timeline *timeline = &table->timeline;
    struct hd_instant *instants;

    *out = *timeline;
    HD_TRY(hd_arena_array(op, arena, timeline->n_instants, sizeof *instants, &instants));
    if (timeline->n_instants > 0)
        memcpy(instants, timeline->instants, timeline->n_instants * sizeof *instants);
    out->arena = (struct hd_arena){0};
    out->instants = instants;
    for (size_t i = 0; i < timeline->n_instants; i++) {
        bool damaged;

        if (!hd_instant_is_completed_write(&instants[i]) ||
            (instants[i].size_bytes > 0 && !recover))
            continue;
        HD_TRY(hd_op_check_cancel(op));
        HD_TRY(check_commit(op, timeline, &timeline->instants[i], recover, &damaged));
        if (damaged)
            instants[i].state = HD_INFLIGHT;
    }
    return HUDI_OK;
}
