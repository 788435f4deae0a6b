/* SPDX-License-Identifier: Apache-2.0 */
#include "service/savepoint.h"

#include <string.h>

#include "engine/commit/table_lock.h"
#include "format/layout/file_system_view.h"
#include "format/timeline/clean_plan.h"
#include "format/timeline/savepoint_metadata.h"
#include "format/timeline/transition.h"
#include "service/preview.h"
#include "service/serviceable.h"

/* ---- what can still be read ----------------------------------------------------------------- */

static const struct hd_instant *find_write(const struct hd_timeline *timeline, const char *time)
{
    for (size_t i = hd_timeline_lower_bound(timeline, time);
         i < timeline->n_instants && strcmp(timeline->instants[i].time, time) == 0; i++)
        if (hd_instant_is_completed_write(&timeline->instants[i]))
            return &timeline->instants[i];
    return NULL;
}

/* A clean that kept versions: did it take a file that the table as of `time` consists of? A group
 * that is gone altogether may have been replaced before, or not: then nothing is promised. */
static hudi_status check_versions(struct hd_op *op, const struct hd_file_system_view *view,
                                  const struct hd_clean_metadata *clean, const char *time)
{
    for (size_t p = 0; p < clean->n_partitions; p++) {
        const struct hd_cleaned_partition *const partition = &clean->partitions[p];

        for (size_t f = 0; f < partition->n_files; f++) {
            struct hd_file_name name;
            char file_id[256], instant[HD_INSTANT_TIME_BYTES];

            if (!hd_file_name_parse(partition->files[f], &name) ||
                name.file_id.size >= sizeof file_id || name.instant.size >= sizeof instant)
                continue;
            memcpy(file_id, name.file_id.data, name.file_id.size);
            file_id[name.file_id.size] = '\0';
            memcpy(instant, name.instant.data, name.instant.size);
            instant[name.instant.size] = '\0';
            if (strcmp(instant, time) > 0)
                continue;
            const struct hd_file_group *const group =
                hd_file_system_view_find(view, partition->partition_path, file_id);
            const struct hd_file_slice *const slice =
                group == NULL ? NULL : hd_file_group_slice_as_of(group, time);
            if (slice == NULL || strcmp(slice->base_instant, instant) < 0)
                return hd_fail(op, HUDI_INVALID, "%s, which the table as of %s needs, was cleaned",
                               partition->files[f], time);
        }
    }
    return HUDI_OK;
}

static hudi_status check_clean(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_file_system_view *view,
                               const struct hd_instant *instant, const char *time)
{
    struct hd_clean_metadata metadata;
    uint8_t *bytes;
    size_t n;

    HD_TRY(hd_timeline_read(op, &table->timeline, instant, HD_COMPLETED, &bytes, &n));
    hudi_status status = hd_clean_metadata_decode(op, hd_slice_of(bytes, n), &metadata);
    hd_free(op, bytes);
    HD_TRY(status);
    if (metadata.earliest_time[0] != '\0') {
        if (strcmp(time, metadata.earliest_time) < 0)
            status = hd_fail(op, HUDI_INVALID,
                             "clean %s kept what is read from %s on, and %s is before that",
                             instant->time, metadata.earliest_time, time);
    } else if (strcmp(instant->time, time) > 0) {
        status = check_versions(op, view, &metadata, time);
    }
    hd_clean_metadata_clear(&metadata);
    return status;
}

/* A plan that is pending may be run any time, and may have been run in part. */
static hudi_status check_pending_clean(struct hd_op *op, const struct hd_table_snapshot *table,
                                       const struct hd_instant *instant, const char *time)
{
    struct hd_clean_plan plan;
    uint8_t *bytes;
    size_t n;

    HD_TRY(hd_timeline_read(op, &table->timeline, instant, HD_REQUESTED, &bytes, &n));
    hudi_status status = hd_clean_plan_decode(op, hd_slice_of(bytes, n), &plan);
    hd_free(op, bytes);
    HD_TRY(status);
    if (plan.earliest_time == NULL || strcmp(time, plan.earliest_time) < 0)
        status = hd_fail(op, HUDI_INVALID,
                         "clean %s is pending and may delete what the table as of %s needs",
                         instant->time, time);
    hd_clean_plan_clear(&plan);
    return status;
}

hudi_status hd_check_readable(struct hd_op *op, hd_pool *pool,
                              const struct hd_table_snapshot *table, const char *time)
{
    const struct hd_timeline *const timeline = &table->timeline;
    struct hd_file_system_view view = {0};
    hudi_status status = HUDI_OK;

    if (find_write(timeline, time) == NULL)
        return hd_fail(op, HUDI_INVALID, "there is no completed write %s on the active timeline",
                       time);
    HD_TRY_OUT(hd_file_system_view_load(op, pool, table->fs, table->path, &table->config, timeline,
                                        NULL, 0, &view));
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (instant->action != HD_ACTION_CLEAN)
            continue;
        if (instant->state == HD_COMPLETED)
            HD_TRY_OUT(check_clean(op, table, &view, instant, time));
        else if (instant->has_requested)
            HD_TRY_OUT(check_pending_clean(op, table, instant, time));
    }
out:
    hd_file_system_view_clear(&view);
    return status;
}

/* ---- making --------------------------------------------------------------------------------- */

static hudi_status add_slice(struct hd_op *op, struct hd_savepoint_metadata *metadata,
                             const struct hd_file_slice *slice,
                             struct hd_savepoint_partition *partition)
{
    char *name;

    if (slice->base != NULL) {
        HD_TRY(hd_arena_strdup(op, &metadata->arena, slice->base->name, &name));
        partition->files[partition->n_files++] = name;
    }
    for (size_t i = 0; i < slice->n_logs; i++) {
        HD_TRY(hd_arena_strdup(op, &metadata->arena, slice->logs[i].name, &name));
        partition->files[partition->n_files++] = name;
    }
    return HUDI_OK;
}

/* Partition `i` of the view; one without files as of then is left out. */
static hudi_status add_partition(struct hd_op *op, struct hd_savepoint_metadata *metadata,
                                 const struct hd_file_system_view *view, size_t i, const char *time)
{
    struct hd_savepoint_partition *const partition = &metadata->partitions[metadata->n_partitions];
    size_t n_files = 0;

    for (size_t g = view->first_group[i]; g < view->first_group[i + 1]; g++) {
        const struct hd_file_slice *const slice = hd_file_group_slice_as_of(&view->groups[g], time);

        n_files += slice == NULL ? 0 : (slice->base != NULL) + slice->n_logs;
    }
    if (n_files == 0)
        return HUDI_OK;
    HD_TRY(hd_arena_strdup(op, &metadata->arena, view->partitions[i],
                           (char **)&partition->partition_path));
    HD_TRY(
        hd_arena_array(op, &metadata->arena, n_files, sizeof *partition->files, &partition->files));
    for (size_t g = view->first_group[i]; g < view->first_group[i + 1]; g++) {
        const struct hd_file_slice *const slice = hd_file_group_slice_as_of(&view->groups[g], time);

        if (slice != NULL)
            HD_TRY(add_slice(op, metadata, slice, partition));
    }
    metadata->n_partitions++;
    return HUDI_OK;
}

static hudi_status make_metadata(struct hd_op *op, hd_pool *pool,
                                 const struct hd_table_snapshot *table, const char *time,
                                 struct hd_savepoint_metadata *metadata)
{
    struct hd_file_system_view view = {0};
    hudi_status status = HUDI_OK;

    HD_TRY_OUT(hd_file_system_view_load(op, pool, table->fs, table->path, &table->config,
                                        &table->timeline, NULL, 0, &view));
    HD_TRY_OUT(hd_arena_array(op, &metadata->arena, view.n_partitions, sizeof *metadata->partitions,
                              &metadata->partitions));
    for (size_t i = 0; i < view.n_partitions; i++)
        HD_TRY_OUT(add_partition(op, metadata, &view, i, time));
    metadata->made_ms = (int64_t)hd_now_ms(op);
out:
    hd_file_system_view_clear(&view);
    return status;
}

static hudi_status publish(struct hd_op *op, const struct hd_table_snapshot *table,
                           const char *time, const struct hd_savepoint_metadata *metadata,
                           const struct hd_instant *started)
{
    struct hd_str bytes = {0};
    hudi_status status = hd_savepoint_metadata_encode(op, metadata, &bytes);

    if (status == HUDI_OK && started == NULL)
        status = hd_transition_start(op, &table->timeline, time, HD_ACTION_SAVEPOINT, NULL, 0);
    if (status == HUDI_OK)
        status = hd_transition_complete(op, &table->timeline, time, HD_ACTION_SAVEPOINT, bytes.data,
                                        bytes.size);
    hd_str_clear(&bytes);
    return status;
}

/* `*out` is one that was begun and not finished, or NULL. */
static hudi_status check_new(struct hd_op *op, hd_pool *pool, const struct hd_table_snapshot *table,
                             const char *time, const struct hd_instant **out)
{
    const struct hd_instant *const existing =
        hd_timeline_find(&table->timeline, time, HD_ACTION_SAVEPOINT);

    if (existing != NULL && existing->state == HD_COMPLETED)
        return hd_fail(op, HUDI_EXISTS, "%s is savepointed already", time);
    if (table->config.type == HD_MERGE_ON_READ && !table->config.version->savepoint_has_logs)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "savepoints of merge-on-read tables of version %d: Hudi of that time does "
                       "not keep log files",
                       table->config.version->number);
    *out = existing;
    return hd_check_readable(op, pool, table, time);
}

static hudi_status make(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                        const char *time, const char *user, const char *comments)
{
    struct hd_savepoint_metadata metadata = {.user = user, .comments = comments};
    const struct hd_instant *existing;

    HD_TRY(check_new(op, pool, table, time, &existing));
    hudi_status status = make_metadata(op, pool, table, time, &metadata);
    if (status == HUDI_OK)
        status = publish(op, table, time, &metadata, existing);
    hd_arena_clear(&metadata.arena);
    return status;
}

/* ---- under the lock ------------------------------------------------------------------------- */

static hudi_status open_locked(struct hd_op *op, const char *uri, const struct hd_options *options,
                               struct hd_table_snapshot *table, struct hd_fs_lock **lock)
{
    const uint64_t wait_ms = hd_table_lock_wait_ms(options);

    HD_TRY(hd_table_snapshot_load(op, uri, table));
    HD_TRY(hd_check_serviceable(op, table));
    HD_TRY(hd_table_lock(op, table, options, wait_ms, lock));
    HD_TRY(hd_table_snapshot_reload(op, table));
    return hd_check_serviceable(op, table);
}

hudi_status hd_savepoint(struct hd_op *op, hd_pool *pool, const char *uri,
                         const struct hd_options *options, const char *time, const char *user,
                         const char *comments)
{
    struct hd_table_snapshot table = {0};
    struct hd_fs_lock *lock = NULL;

    hudi_status status = open_locked(op, uri, options, &table, &lock);
    if (status == HUDI_OK)
        status = make(op, pool, &table, time, user, comments);
    hd_fs_unlock(lock);
    hd_table_snapshot_clear(op, &table);
    return hd_fail_path(op, status, uri);
}

static hudi_status find_savepoint(struct hd_op *op, const struct hd_timeline *timeline,
                                  const char *time, const struct hd_instant **out)
{
    *out = hd_timeline_find(timeline, time, HD_ACTION_SAVEPOINT);
    return *out == NULL ? hd_fail(op, HUDI_INVALID, "%s is not savepointed", time) : HUDI_OK;
}

hudi_status hd_savepoint_delete(struct hd_op *op, const char *uri, const struct hd_options *options,
                                const char *time)
{
    struct hd_table_snapshot table = {0};
    struct hd_fs_lock *lock = NULL;

    const struct hd_instant *savepoint = NULL;
    hudi_status status = open_locked(op, uri, options, &table, &lock);
    if (status == HUDI_OK)
        status = find_savepoint(op, &table.timeline, time, &savepoint);
    if (status == HUDI_OK)
        status = hd_transition_remove_savepoint(op, &table.timeline, savepoint);
    hd_fs_unlock(lock);
    hd_table_snapshot_clear(op, &table);
    return hd_fail_path(op, status, uri);
}

/* ---- what they would do --------------------------------------------------------------------- */

static hudi_status open_unlocked(struct hd_op *op, const char *uri,
                                 const struct hd_options *options, struct hd_table_snapshot *table)
{
    HD_TRY(hd_table_snapshot_load(op, uri, table));
    HD_TRY(hd_check_serviceable(op, table));
    return hd_table_lock_check_options(op, options);
}

static hudi_status tell(struct hd_op *op, struct hd_preview *preview,
                        const struct hd_table_snapshot *table, const char *time, const char *state,
                        const struct hd_savepoint_metadata *metadata)
{
    struct hd_preview_instant *instant;
    size_t n_files = 0;

    for (size_t p = 0; p < metadata->n_partitions; p++)
        n_files += metadata->partitions[p].n_files;
    HD_TRY(hd_preview_add(op, preview, time, hd_action_name(HD_ACTION_SAVEPOINT), state, n_files, 0,
                          &instant));
    for (size_t p = 0; p < metadata->n_partitions; p++)
        for (size_t f = 0; f < metadata->partitions[p].n_files; f++)
            HD_TRY(hd_preview_add_file(op, preview, table, metadata->partitions[p].partition_path,
                                       metadata->partitions[p].files[f], instant));
    hd_preview_sort(preview);
    return HUDI_OK;
}

hudi_status hd_savepoint_preview(struct hd_op *op, hd_pool *pool, const char *uri,
                                 const struct hd_options *options, const char *time,
                                 struct hd_preview *out)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_savepoint_metadata metadata = {0};
    const struct hd_instant *existing;

    HD_TRY_OUT(open_unlocked(op, uri, options, &table));
    HD_TRY_OUT(check_new(op, pool, &table, time, &existing));
    HD_TRY_OUT(make_metadata(op, pool, &table, time, &metadata));
    status = tell(op, out, &table, time,
                  existing == NULL ? "" : hd_instant_state_name(existing->state), &metadata);
out:
    hd_arena_clear(&metadata.arena);
    hd_table_snapshot_clear(op, &table);
    return hd_fail_path(op, status, uri);
}

hudi_status hd_savepoint_delete_preview(struct hd_op *op, const char *uri,
                                        const struct hd_options *options, const char *time,
                                        struct hd_preview *out)
{
    hudi_status status = HUDI_OK;
    struct hd_table_snapshot table = {0};
    struct hd_savepoint_metadata metadata = {0};
    const struct hd_instant *savepoint;

    HD_TRY_OUT(open_unlocked(op, uri, options, &table));
    HD_TRY_OUT(find_savepoint(op, &table.timeline, time, &savepoint));
    if (savepoint->state == HD_COMPLETED)
        status = hd_savepoint_metadata_read(op, &table.timeline, savepoint, &metadata);
    if (status == HUDI_CORRUPT) { /* which does not keep it from being dropped */
        hd_log(op, HD_LOG_WARN, "savepoint %s cannot be read: what it keeps is not known", time);
        hd_op_clear_error(op);
        hd_savepoint_metadata_clear(&metadata);
        metadata = (struct hd_savepoint_metadata){0};
        status = HUDI_OK;
    }
    HD_TRY_OUT(status);
    status = tell(op, out, &table, time, hd_instant_state_name(savepoint->state), &metadata);
out:
    hd_savepoint_metadata_clear(&metadata);
    hd_table_snapshot_clear(op, &table);
    return hd_fail_path(op, status, uri);
}
