/* SPDX-License-Identifier: Apache-2.0 */
#include "service/undo_preview.h"

#include <string.h>

#include "engine/commit/heartbeat.h"
#include "engine/commit/rollback_request.h"
#include "engine/commit/rollback_steps.h"
#include "format/layout/file_name.h"

hudi_status hd_undoing_begin(struct hd_op *op, const struct hd_table_snapshot *table,
                             struct hd_preview *preview, struct hd_undoing *out)
{
    struct hd_timeline *const timeline = &out->after.timeline;

    *out = (struct hd_undoing){.after = *table, .table = table, .preview = preview};
    HD_TRY(hd_arena_array(op, &preview->arena, timeline->n_instants, sizeof *timeline->instants,
                          &timeline->instants));
    if (timeline->n_instants > 0)
        memcpy(timeline->instants, table->timeline.instants,
               timeline->n_instants * sizeof *timeline->instants);
    return HUDI_OK;
}

/* ---- what a plan does ----------------------------------------------------------------------- */

static hudi_status tell_file(struct hd_op *op, struct hd_undoing *undoing,
                             const char *partition_path, const char *name,
                             struct hd_preview_instant *instant)
{
    hudi_status status = HUDI_OK;
    struct hd_str key = {0};
    bool added = false;

    HD_TRY_OUT(hd_str_printf(op, &key, "%s/%s", partition_path, name));
    HD_TRY_OUT(hd_map_put(op, &undoing->told, hd_str_slice(&key), 0, NULL, &added));
    if (added)
        status = hd_preview_add_file(op, undoing->preview, undoing->table, partition_path, name,
                                     instant);
out:
    hd_str_clear(&key);
    return status;
}

static hudi_status tell_request(struct hd_op *op, struct hd_undoing *undoing,
                                const struct hd_rollback_plan *plan,
                                const struct hd_rollback_request *request, bool for_good,
                                struct hd_preview_instant *instant)
{
    struct hd_arena *const arena = &undoing->preview->arena;
    struct hd_preview_file log = {0};
    const char *name;

    for (size_t i = 0; i < request->n_files; i++) {
        HD_TRY(hd_rollback_file_name(op, plan, for_good, request->files[i], &name));
        if (name != NULL)
            HD_TRY(tell_file(op, undoing, request->partition_path, name, instant));
    }
    HD_TRY(hd_rollback_block_due(op, undoing->table, plan, request, arena, &log.name));
    if (log.name == NULL)
        return HUDI_OK;
    HD_TRY(hd_arena_strdup(op, arena, request->partition_path, (char **)&log.partition_path));
    instant->logs[instant->n_logs++] = log;
    return HUDI_OK;
}

/* `target` is NULL when it is gone. */
static hudi_status tell_plan(struct hd_op *op, struct hd_undoing *undoing,
                             const struct hd_rollback_plan *plan, const struct hd_instant *target,
                             bool for_good)
{
    struct hd_preview_instant *instant;
    size_t n_files = 0;

    for (size_t i = 0; i < plan->n_requests; i++)
        n_files += plan->requests[i].n_files;
    HD_TRY(hd_preview_add(op, undoing->preview, plan->target_time, plan->target_action,
                          target == NULL ? "" : hd_instant_state_name(target->state), n_files,
                          plan->n_requests, &instant));
    instant->takes_logs =
        for_good || strcmp(plan->target_action, hd_action_name(HD_ACTION_COMPACTION)) != 0;
    for (size_t i = 0; i < plan->n_requests; i++)
        HD_TRY(tell_request(op, undoing, plan, &plan->requests[i], for_good, instant));
    return HUDI_OK;
}

/* ---- what the timeline is then -------------------------------------------------------------- */

/* `target` is of the timeline after. */
static hudi_status take_off(struct hd_op *op, struct hd_undoing *undoing,
                            const struct hd_instant *target, bool for_good)
{
    struct hd_timeline *const timeline = &undoing->after.timeline;
    struct hd_instant *const own = &timeline->instants[target - timeline->instants];
    bool keeps = false;

    undoing->after.config.metadata_table = false; /* switched off before the first */
    if (!for_good)
        HD_TRY(hd_rollback_keeps_plan(op, timeline, target, &keeps));
    if (keeps && target->state != HD_COMPLETED) {
        own->state = HD_REQUESTED;
        own->has_inflight = false;
        return HUDI_OK;
    }
    memmove(own, own + 1,
            (size_t)(timeline->instants + timeline->n_instants - (own + 1)) * sizeof *own);
    timeline->n_instants--;
    return HUDI_OK;
}

/* ---- rollbacks ------------------------------------------------------------------------------ */

hudi_status hd_undoing_roll_back(struct hd_op *op, struct hd_undoing *undoing,
                                 const struct hd_instant *target, bool for_good)
{
    struct hd_rollback_plan plan = {0};
    const struct hd_instant *found;
    bool takes_all = for_good;

    undoing->after.config.metadata_table = false;
    hudi_status status = hd_rollback_request_make(op, &undoing->after, target, for_good, &plan);
    if (status == HUDI_OK)
        status = hd_rollback_find_target(op, &undoing->after.timeline, &plan, target->time,
                                         &takes_all, &found);
    if (status == HUDI_OK)
        status = tell_plan(op, undoing, &plan, target, takes_all);
    hd_rollback_request_free(op, &plan);
    return status == HUDI_OK ? take_off(op, undoing, target, takes_all) : status;
}

static hudi_status finish(struct hd_op *op, struct hd_undoing *undoing,
                          const struct hd_instant *rollback, const char *wanted, bool *found)
{
    struct hd_rollback_plan plan;
    const struct hd_instant *target = NULL;
    bool for_good = false, readable;

    HD_TRY(hd_rollback_read_plan(op, &undoing->table->timeline, rollback, &plan, &readable));
    if (!readable)
        return HUDI_OK;
    hudi_status status = hd_rollback_find_target(op, &undoing->after.timeline, &plan,
                                                 rollback->time, &for_good, &target);
    if (status == HUDI_OK)
        status = tell_plan(op, undoing, &plan, target, for_good);
    if (status == HUDI_OK && target != NULL)
        status = take_off(op, undoing, target, for_good);
    *found = *found || (wanted != NULL && strcmp(plan.target_time, wanted) == 0);
    hd_rollback_plan_clear(&plan);
    return status;
}

hudi_status hd_undoing_finish_rollbacks(struct hd_op *op, struct hd_undoing *undoing,
                                        const char *wanted, bool *found)
{
    const struct hd_timeline *const timeline = &undoing->table->timeline;
    bool unused = false;

    if (undoing->rollbacks_finished)
        return HUDI_OK;
    for (size_t i = 0; i < timeline->n_instants; i++)
        if (timeline->instants[i].action == HD_ACTION_ROLLBACK &&
            timeline->instants[i].state != HD_COMPLETED)
            HD_TRY(finish(op, undoing, &timeline->instants[i], wanted,
                          found == NULL ? &unused : found));
    undoing->rollbacks_finished = true;
    return HUDI_OK;
}

hudi_status hd_undoing_failed_writes(struct hd_op *op, struct hd_undoing *undoing)
{
    const struct hd_timeline *const timeline = &undoing->after.timeline;

    HD_TRY(hd_undoing_finish_rollbacks(op, undoing, NULL, NULL));
    for (size_t i = 0; i < timeline->n_instants;) {
        bool failed, alive = false;

        HD_TRY(hd_rollback_is_failed_write(op, timeline, &timeline->instants[i], &failed));
        if (failed)
            HD_TRY(hd_heartbeat_is_alive(op, undoing->table, NULL, timeline->instants[i].time,
                                         &alive));
        if (failed && !alive) /* the next takes its place */
            HD_TRY(hd_undoing_roll_back(op, undoing, &timeline->instants[i], false));
        else
            i++;
    }
    return HUDI_OK;
}

/* ---- the end -------------------------------------------------------------------------------- */

static bool goes(const struct hd_preview *preview, const char *log_file)
{
    struct hd_file_name name;

    if (!hd_file_name_parse(log_file, &name))
        return false;
    for (size_t i = 0; i < preview->n_instants; i++)
        if (preview->instants[i].takes_logs &&
            hd_slice_equal(name.instant, hd_slice_text(preview->instants[i].time)))
            return true;
    return false;
}

void hd_undoing_end(struct hd_undoing *undoing)
{
    struct hd_preview *const preview = undoing->preview;

    for (size_t i = 0; i < preview->n_instants; i++) {
        struct hd_preview_instant *const instant = &preview->instants[i];
        size_t n = 0;

        for (size_t l = 0; l < instant->n_logs; l++)
            if (!goes(preview, instant->logs[l].name))
                instant->logs[n++] = instant->logs[l];
        instant->n_logs = n;
    }
    hd_preview_sort(preview);
}

void hd_undoing_clear(struct hd_undoing *undoing)
{
    hd_map_clear(&undoing->told);
}
