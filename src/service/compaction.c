/* SPDX-License-Identifier: Apache-2.0 */
#include "service/compaction.h"

#include <string.h>

#include "format/timeline/transition.h"
#include "service/compact_slice.h"
#include "service/compaction_planner.h"
#include "service/log_compact_slice.h"
#include "service/rewrite_service.h"

#define AUX_FOLDER ".hoodie/.aux"
#define LOG_COMPACTION_VERSION 6

static bool is_for(const struct hd_table_config *config)
{
    return config->type == HD_MERGE_ON_READ;
}

static hudi_status check(struct hd_op *op, const struct hd_table_snapshot *table,
                         const struct hd_options *options)
{
    (void)options;
    return is_for(&table->config)
               ? HUDI_OK
               : hd_fail(op, HUDI_INVALID, "a copy-on-write table has no log files to compact");
}

/* ---- plans ---------------------------------------------------------------------------------- */

static hudi_status list_slices(struct hd_op *op, struct hd_rewrite_outcome *outcome)
{
    const struct hd_compaction_plan *const plan = &outcome->plan.compaction;

    HD_TRY(hd_alloc_array(op, plan->n_operations, sizeof *outcome->slices, &outcome->slices));
    for (size_t i = 0; i < plan->n_operations; i++) {
        const struct hd_compaction_operation *const operation = &plan->operations[i];

        outcome->slices[i] = (struct hd_planned_slice){.partition_path = operation->partition_path,
                                                       .file_id = operation->file_id,
                                                       .base_instant = operation->base_instant,
                                                       .data_file = operation->data_file,
                                                       .delta_files = operation->delta_files,
                                                       .n_delta_files = operation->n_delta_files,
                                                       .group = i};
    }
    outcome->n_slices = plan->n_operations;
    return HUDI_OK;
}

static hudi_status plan_make(struct hd_op *op, hd_pool *pool, const struct hd_table_snapshot *table,
                             const struct hd_options *options, struct hd_rewrite_outcome *outcome)
{
    HD_TRY(hd_compaction_plan_make(op, pool, table, options, &outcome->plan.compaction,
                                   &outcome->n_bytes));
    return list_slices(op, outcome);
}

static hudi_status plan_read(struct hd_op *op, const struct hd_timeline *timeline,
                             const struct hd_instant *instant, struct hd_rewrite_outcome *outcome)
{
    HD_TRY(hd_compaction_plan_read(op, timeline, instant, &outcome->plan.compaction));
    return list_slices(op, outcome);
}

static void plan_clear(struct hd_rewrite_outcome *outcome)
{
    hd_compaction_plan_clear(&outcome->plan.compaction);
}

/* Releases before 0.14 look for the plan there first. */
static hudi_status publish_aux(struct hd_op *op, const struct hd_table_snapshot *table,
                               const char *time, const struct hd_str *bytes)
{
    hudi_status status = HUDI_OK;
    char *folder = NULL, *path = NULL;

    if (!table->config.version->compaction_in_aux)
        return HUDI_OK;
    HD_TRY_OUT(hd_path_join(op, table->path, AUX_FOLDER, &folder));
    HD_TRY_OUT(hd_asprintf(op, &path, "%s/%s.compaction.requested", folder, time));
    HD_TRY_OUT(hd_fs_make_dirs(op, table->fs, folder));
    status = hd_fs_publish(op, table->fs, path, bytes->data, bytes->size);
out:
    hd_free(op, folder);
    hd_free(op, path);
    return status;
}

static hudi_status request(struct hd_op *op, const struct hd_table_snapshot *table,
                           const struct hd_rewrite_outcome *outcome)
{
    struct hd_str bytes = {0};
    hudi_status status = HUDI_OK;

    HD_TRY_OUT(
        hd_compaction_plan_encode(op, &outcome->plan.compaction, table->config.version, &bytes));
    HD_TRY_OUT(publish_aux(op, table, outcome->time, &bytes));
    status = hd_transition_request(op, &table->timeline, outcome->time, HD_ACTION_COMPACTION,
                                   bytes.data, bytes.size);
out:
    hd_str_clear(&bytes);
    return status;
}

/* ---- running -------------------------------------------------------------------------------- */

static hudi_status prepare(struct hd_op *op, struct hd_rewrite_run *run)
{
    return hd_rewrite_job_narrow(op, &run->job, NULL, 0);
}

static hudi_status rewrite(struct hd_op *op, const struct hd_rewrite_run *run,
                           struct hd_rewrite_work *work)
{
    struct hd_write_stat stat;

    HD_TRY(hd_compact_slice(op, &run->job, &work->sources[0], work->log_bytes[0], work->ordinal,
                            &work->status.arena, &stat));
    return stat.path == NULL ? HUDI_OK : hd_write_status_add(op, &work->status, &stat);
}

static hudi_status describe(struct hd_op *op, const struct hd_rewrite_run *run,
                            struct hd_commit_metadata *metadata)
{
    (void)op;
    metadata->compacted = true;
    metadata->operation_type = run->table->config.version->compaction_named ? "COMPACT" : "UNKNOWN";
    return HUDI_OK;
}

/* ---- log compaction ------------------------------------------------------------------------- */

static hudi_status check_log(struct hd_op *op, const struct hd_table_snapshot *table,
                             const struct hd_options *options)
{
    HD_TRY(check(op, table, options));
    return table->config.version->number == LOG_COMPACTION_VERSION
               ? HUDI_OK
               : hd_fail(op, HUDI_NOT_IMPLEMENTED,
                         "log compaction is for tables of version %d, and this is of version %u",
                         LOG_COMPACTION_VERSION, (unsigned)table->config.version->number);
}

static bool is_for_log(const struct hd_table_config *config)
{
    return is_for(config) && config->version->number == LOG_COMPACTION_VERSION;
}

static hudi_status log_plan_make(struct hd_op *op, hd_pool *pool,
                                 const struct hd_table_snapshot *table,
                                 const struct hd_options *options,
                                 struct hd_rewrite_outcome *outcome)
{
    HD_TRY(hd_log_compaction_plan_make(op, pool, table, options, &outcome->plan.compaction,
                                       &outcome->n_bytes));
    return list_slices(op, outcome);
}

static hudi_status log_request(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_rewrite_outcome *outcome)
{
    struct hd_str bytes = {0};
    hudi_status status = HUDI_OK;

    HD_TRY_OUT(
        hd_compaction_plan_encode(op, &outcome->plan.compaction, table->config.version, &bytes));
    status = hd_transition_request(op, &table->timeline, outcome->time, HD_ACTION_LOGCOMPACTION,
                                   bytes.data, bytes.size);
out:
    hd_str_clear(&bytes);
    return status;
}

static hudi_status log_rewrite(struct hd_op *op, const struct hd_rewrite_run *run,
                               struct hd_rewrite_work *work)
{
    const struct hd_planned_slice *const planned = &work->slices[0];
    const struct hd_slice_source *const source = &work->sources[0];
    const struct hd_file_group *const group =
        hd_file_system_view_find(&run->view, planned->partition_path, planned->file_id);
    const struct hd_file_slice *const slice = &group->slices[0];

    if (group->replaced_by != NULL || slice->compaction_instant != NULL ||
        strcmp(slice->base_instant, source->instant) != 0 ||
        source->n_logs != planned->n_delta_files) {
        hd_log(op, HD_LOG_INFO, "log compaction %s leaves file group %s: written to since",
               run->outcome->time, planned->file_id);
        return HUDI_OK;
    }
    return hd_log_compact_slice(op, &run->job, source, slice, work->log_bytes[0], work->ordinal,
                                &work->status);
}

static hudi_status log_describe(struct hd_op *op, const struct hd_rewrite_run *run,
                                struct hd_commit_metadata *metadata)
{
    (void)op;
    (void)run;
    metadata->compacted = true;
    metadata->operation_type = "LOG_COMPACT";
    return HUDI_OK;
}

const hd_rewrite_service hd_log_compaction = {
    .name = "log compaction",
    .action = HD_ACTION_LOGCOMPACTION,
    .completed_action = HD_ACTION_DELTACOMMIT,
    .role = HD_CONFLICT_WRITE, /* what was written meanwhile to the same file groups wins */
    .drops_plan = true,
    .inline_key = "hoodie.log.compaction.inline",
    .is_for = is_for_log,
    .check = check_log,
    .is_due = hd_log_compaction_is_due,
    .plan_make = log_plan_make,
    .plan_read = plan_read,
    .plan_clear = plan_clear,
    .request = log_request,
    .rewrite = log_rewrite,
    .describe = log_describe,
};

const hd_rewrite_service hd_compaction = {
    .name = "compaction",
    .action = HD_ACTION_COMPACTION,
    .completed_action = HD_ACTION_COMMIT,
    .role = HD_CONFLICT_COMPACTION,
    .inline_key = "hoodie.compact.inline",
    .schedule_key = "hoodie.compact.schedule.inline",
    .is_for = is_for,
    .check = check,
    .is_due = hd_compaction_is_due,
    .plan_make = plan_make,
    .plan_read = plan_read,
    .plan_clear = plan_clear,
    .request = request,
    .prepare = prepare,
    .rewrite = rewrite,
    .describe = describe,
};
