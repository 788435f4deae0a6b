/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/rollback.h"

#include "base/map.h"
#include "format/layout/file_name.h"
#include "format/layout/partition.h"
#include "format/marker/marker.h"
#include "format/timeline/replace_plan.h"
#include "format/timeline/rollback_plan.h"
#include "format/timeline/transition.h"

/* ---- the plan: which files --------------------------------------------------------------------
 */

/* Files to delete, grouped by partition as they are found. */
struct plan_builder {
    const struct hd_table_snapshot *table;
    struct hd_rollback_plan *plan;
    struct hd_map partitions; /* path -> request number */
    size_t request_capacity;
    size_t *file_capacities;
    size_t capacity_capacity;
};

static hudi_status request_of(struct hd_op *op, struct plan_builder *builder,
                              struct hd_slice partition, size_t *number)
{
    struct hd_rollback_plan *plan = builder->plan;
    struct hd_map_entry *entry;
    bool added;

    HD_TRY(hd_map_put(op, &builder->partitions, partition, plan->n_requests, &entry, &added));
    *number = (size_t)entry->value;
    if (!added)
        return HUDI_OK;
    HD_TRY(hd_grow(op, &plan->requests, &builder->request_capacity, plan->n_requests + 1,
                   sizeof *plan->requests));
    HD_TRY(hd_grow(op, &builder->file_capacities, &builder->capacity_capacity, plan->n_requests + 1,
                   sizeof *builder->file_capacities));
    struct hd_rollback_request *request = &plan->requests[plan->n_requests];
    *request = (struct hd_rollback_request){.file_id = "", .latest_base_instant = ""};
    builder->file_capacities[plan->n_requests] = 0;
    plan->n_requests++;
    return hd_arena_strndup(op, &plan->arena, partition.data, partition.size,
                            (char **)&request->partition_path);
}

static hudi_status add_file(struct hd_op *op, struct plan_builder *builder, const char *data_path)
{
    const char *slash = strrchr(data_path, '/');
    const struct hd_slice partition =
        hd_slice_of(data_path, slash == NULL ? 0 : (size_t)(slash - data_path));
    size_t number;

    HD_TRY(request_of(op, builder, partition, &number));
    struct hd_rollback_request *request = &builder->plan->requests[number];
    HD_TRY(hd_grow(op, &request->files, &builder->file_capacities[number], request->n_files + 1,
                   sizeof *request->files));
    HD_TRY(hd_arena_printf(op, &builder->plan->arena, (char **)&request->files[request->n_files],
                           "%s/%s", builder->table->path, data_path));
    request->n_files++;
    return HUDI_OK;
}

/* HUDI_NOT_FOUND (no error) when the instant has no marker folder. */
static hudi_status plan_by_markers(struct hd_op *op, struct plan_builder *builder, const char *time)
{
    const struct hd_table_snapshot *table = builder->table;
    struct hd_arena arena = {0};
    struct hd_marker *markers;
    size_t n;

    hudi_status status = hd_markers_read(op, table->fs, table->path, time, &arena, &markers, &n);
    for (size_t i = 0; i < n && status == HUDI_OK; i++)
        if (markers[i].type != HD_IO_APPEND)
            status = add_file(op, builder, markers[i].data_path);
    hd_arena_clear(&arena);
    return status;
}

static hudi_status plan_partition(struct hd_op *op, struct plan_builder *builder,
                                  const char *partition, const char *time)
{
    hudi_status status = HUDI_OK;
    const struct hd_table_snapshot *table = builder->table;
    struct hd_arena arena = {0};
    struct hd_file_info *files;
    size_t n = 0;
    char *dir = NULL;

    HD_TRY_OUT(hd_path_join(op, table->path, partition, &dir));
    status = hd_fs_list(op, table->fs, dir, &arena, &files, &n);
    if (status == HUDI_NOT_FOUND)
        status = HUDI_OK;
    for (size_t i = 0; i < n && status == HUDI_OK; i++) {
        struct hd_file_name name;
        char *data_path = NULL;

        if (files[i].is_dir || !hd_file_name_parse(files[i].name, &name) ||
            name.kind != HD_FILE_BASE || !hd_slice_equal(name.instant, hd_slice_text(time)))
            continue;
        status = hd_path_join(op, partition, files[i].name, &data_path);
        if (status == HUDI_OK)
            status = add_file(op, builder, data_path);
        hd_free(op, data_path);
    }
out:
    hd_free(op, dir);
    hd_arena_clear(&arena);
    return status;
}

static hudi_status plan_by_listing(struct hd_op *op, struct plan_builder *builder, const char *time)
{
    const struct hd_table_snapshot *table = builder->table;
    struct hd_arena arena = {0};
    const char **partitions;
    size_t n = 0;

    hudi_status status =
        hd_partitions_list(op, table->fs, table->path, &table->config, &arena, &partitions, &n);
    for (size_t i = 0; i < n && status == HUDI_OK; i++)
        status = plan_partition(op, builder, partitions[i], time);
    hd_arena_clear(&arena);
    return status;
}

/* Deletes of an instant that is only requested are none: it has not begun to write. */
static hudi_status make_plan(struct hd_op *op, const struct hd_table_snapshot *table,
                             const struct hd_instant *target, struct hd_rollback_plan *plan)
{
    struct plan_builder builder = {.table = table, .plan = plan};
    hudi_status status = HUDI_NOT_FOUND;

    plan->target_time = target->time;
    plan->target_action = hd_action_name(target->action);
    if (target->state == HD_REQUESTED)
        return HUDI_OK;
    if (target->state != HD_COMPLETED)
        status = plan_by_markers(op, &builder, target->time);
    if (status == HUDI_NOT_FOUND)
        status = plan_by_listing(op, &builder, target->time);
    hd_map_clear(&builder.partitions);
    hd_free(op, builder.file_capacities);
    return status;
}

static void free_plan(struct hd_op *op, struct hd_rollback_plan *plan)
{
    for (size_t i = 0; i < plan->n_requests; i++)
        hd_free(op, plan->requests[i].files);
    hd_free(op, plan->requests);
    hd_arena_clear(&plan->arena);
}

/* ---- carrying it out --------------------------------------------------------------------------
 */

/* A plan's paths are full, and of where the table stood when it was made: the file is the last
 * part, in the request's partition. Only a file that carries the target's time is ever deleted. */
static hudi_status delete_file(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_rollback_plan *plan,
                               const struct hd_rollback_request *request, const char *planned)
{
    const char *slash = strrchr(planned, '/');
    const char *name = slash == NULL ? planned : slash + 1;
    struct hd_file_name parsed;
    char *path = NULL;

    if (!hd_file_name_parse(name, &parsed) ||
        !hd_slice_equal(parsed.instant, hd_slice_text(plan->target_time)))
        return hd_fail(op, HUDI_CORRUPT, "rollback plan of %s names %s, a file of another instant",
                       plan->target_time, planned);
    HD_TRY(hd_asprintf(op, &path, "%s%s%s/%s", table->path,
                       request->partition_path[0] == '\0' ? "" : "/", request->partition_path,
                       name));
    const hudi_status status = hd_fs_delete_file(op, table->fs, path);
    hd_free(op, path);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

/* A file that came back after a loss of power would be of an instant that nobody knows. */
static hudi_status sync_partition(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const char *partition_path)
{
    struct hd_file_info info;
    char *path = NULL;

    HD_TRY(hd_path_join(op, table->path, partition_path, &path));
    hudi_status status = hd_fs_stat(op, table->fs, path, &info);
    if (status == HUDI_OK)
        status = hd_fs_sync_dir(op, table->fs, path);
    hd_free(op, path);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

static hudi_status delete_files(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_rollback_plan *plan)
{
    for (size_t i = 0; i < plan->n_requests; i++) {
        if (plan->requests[i].n_logs > 0)
            return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                           "rollback plan of %s wants blocks in log files", plan->target_time);
        for (size_t f = 0; f < plan->requests[i].n_files; f++)
            HD_TRY(delete_file(op, table, plan, &plan->requests[i], plan->requests[i].files[f]));
        HD_TRY(sync_partition(op, table, plan->requests[i].partition_path));
    }
    return HUDI_OK;
}

/* Steps 2 to 7 of rollback.h; any of them may have been done before. */
static hudi_status run_plan(struct hd_op *op, const struct hd_table_snapshot *table,
                            const struct hd_rollback_plan *plan, const char *time, bool inflight)
{
    const struct hd_timeline *timeline = &table->timeline;
    const uint64_t started = hd_now_ms(op);
    struct hd_str metadata = {0};
    enum hd_action action;

    if (!inflight)
        HD_TRY(hd_transition_start(op, timeline, time, HD_ACTION_ROLLBACK, NULL, 0));
    if (!hd_action_parse(hd_slice_text(plan->target_action), &action))
        return hd_fail(op, HUDI_CORRUPT, "rollback plan %s of an unknown action %s", time,
                       plan->target_action);
    const struct hd_instant *target =
        hd_timeline_find(timeline, plan->target_time, hd_action_completed_as(action));
    if (target != NULL && target->state == HD_COMPLETED)
        HD_TRY(hd_transition_revert_completed(op, timeline, target));
    HD_TRY(delete_files(op, table, plan));
    if (target != NULL)
        HD_TRY(hd_transition_remove_pending(op, timeline, target));
    hudi_status status =
        hd_rollback_metadata_encode(op, plan, time, (int64_t)(hd_now_ms(op) - started), &metadata);
    if (status == HUDI_OK)
        status = hd_transition_complete(op, timeline, time, HD_ACTION_ROLLBACK, metadata.data,
                                        metadata.size);
    hd_str_clear(&metadata);
    if (status != HUDI_OK && status != HUDI_EXISTS)
        return status;
    return hd_markers_delete(op, table->fs, table->path, plan->target_time);
}

hudi_status hd_rollback_instant(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                const struct hd_instant *target)
{
    hudi_status status = HUDI_OK;
    struct hd_rollback_plan plan = {0};
    struct hd_str bytes = {0};
    char time[HD_INSTANT_TIME_BYTES];

    (void)pool;
    HD_TRY_OUT(make_plan(op, table, target, &plan));
    HD_TRY_OUT(hd_rollback_plan_encode(op, &plan, &bytes));
    HD_TRY_OUT(hd_transition_new_time(op, &table->timeline, time));
    HD_TRY_OUT(hd_transition_request(op, &table->timeline, time, HD_ACTION_ROLLBACK, bytes.data,
                                     bytes.size));
    HD_TRY_OUT(run_plan(op, table, &plan, time, false));
    hd_log(op, HD_LOG_INFO, "rolled back %s", target->time);
out:
    free_plan(op, &plan);
    hd_str_clear(&bytes);
    return status;
}

/* A rollback that was begun: its plan again. A plan that cannot be read was never acted on while it
 * is only requested, and is removed. */
static hudi_status resume(struct hd_op *op, struct hd_table_snapshot *table,
                          const struct hd_instant *rollback)
{
    uint8_t *bytes = NULL;
    size_t n;
    struct hd_rollback_plan plan = {0};

    HD_TRY(hd_timeline_read(op, &table->timeline, rollback, HD_REQUESTED, &bytes, &n));
    hudi_status status = hd_rollback_plan_decode(op, hd_slice_of(bytes, n), &plan);
    hd_free(op, bytes);
    if (status == HUDI_CORRUPT && rollback->state == HD_REQUESTED) {
        hd_op_clear_error(op);
        hd_log(op, HD_LOG_WARN, "the plan of rollback %s cannot be read; it is planned again",
               rollback->time);
        return hd_transition_remove_pending(op, &table->timeline, rollback);
    }
    HD_TRY(status);
    status = run_plan(op, table, &plan, rollback->time, rollback->state == HD_INFLIGHT);
    hd_rollback_plan_clear(&plan);
    return status;
}

/* Below version 8 a pending clustering is a replacecommit with a plan: it is run again, not undone.
 */
static hudi_status is_failed_write(struct hd_op *op, const struct hd_timeline *timeline,
                                   const struct hd_instant *instant, bool *out)
{
    struct hd_replace_plan plan;

    *out = instant->state != HD_COMPLETED && (instant->pending_action == HD_ACTION_COMMIT ||
                                              instant->pending_action == HD_ACTION_DELTACOMMIT ||
                                              instant->pending_action == HD_ACTION_REPLACECOMMIT);
    if (!*out || instant->pending_action != HD_ACTION_REPLACECOMMIT || !instant->has_requested)
        return HUDI_OK;
    HD_TRY(hd_replace_plan_read(op, timeline, instant, &plan));
    *out = !plan.is_clustering;
    hd_replace_plan_clear(&plan);
    return HUDI_OK;
}

hudi_status hd_rollback_failed_writes(struct hd_op *op, hd_pool *pool,
                                      struct hd_table_snapshot *table)
{
    bool changed = false;

    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *instant = &table->timeline.instants[i];
        if (instant->action == HD_ACTION_ROLLBACK && instant->state != HD_COMPLETED) {
            HD_TRY(resume(op, table, instant));
            changed = true;
        }
    }
    if (changed)
        HD_TRY(hd_table_snapshot_reload(op, table));
    changed = false;
    for (size_t i = 0; i < table->timeline.n_instants; i++) {
        const struct hd_instant *instant = &table->timeline.instants[i];
        bool failed;

        HD_TRY(is_failed_write(op, &table->timeline, instant, &failed));
        if (!failed)
            continue;
        hd_log(op, HD_LOG_WARN, "%s was left by a writer that did not finish; rolling it back",
               instant->time);
        HD_TRY(hd_rollback_instant(op, pool, table, instant));
        changed = true;
    }
    return changed ? hd_table_snapshot_reload(op, table) : HUDI_OK;
}
