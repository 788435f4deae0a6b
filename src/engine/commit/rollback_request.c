/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/rollback_request.h"

#include "base/map.h"
#include "format/layout/file_name.h"
#include "format/layout/partition.h"
#include "format/marker/marker.h"

/* What is to be undone, grouped as it is found: files to delete by partition, log files by slice.
 */
struct plan_builder {
    const struct hd_table_snapshot *table;
    struct hd_rollback_plan *plan;
    struct hd_map requests; /* "partition" or "partition/file id_base instant" -> number */
    size_t request_capacity;
    struct capacity {
        size_t files, logs, sizes;
    } * capacities; /* one a request */
    size_t capacity_capacity;
    bool base_files_only; /* log files with the target's time are other writes' */
};

/* A data file's path taken apart. */
struct data_path {
    struct hd_slice partition;
    const char *name;
    struct hd_file_name parts;
};

static bool take_apart(const char *data_path, struct data_path *out)
{
    const char *slash = strrchr(data_path, '/');

    out->partition = hd_slice_of(data_path, slash == NULL ? 0 : (size_t)(slash - data_path));
    out->name = slash == NULL ? data_path : slash + 1;
    return hd_file_name_parse(out->name, &out->parts);
}

/* The request called `key`; `file_id` and `instant` are empty for the one that deletes files. */
static hudi_status request_of(struct hd_op *op, struct plan_builder *builder, struct hd_slice key,
                              struct hd_slice partition, struct hd_slice file_id,
                              struct hd_slice instant, size_t *number)
{
    struct hd_rollback_plan *plan = builder->plan;
    struct hd_map_entry *entry;
    bool added;

    HD_TRY(hd_map_put(op, &builder->requests, key, plan->n_requests, &entry, &added));
    *number = (size_t)entry->value;
    if (!added)
        return HUDI_OK;
    HD_TRY(hd_grow(op, &plan->requests, &builder->request_capacity, plan->n_requests + 1,
                   sizeof *plan->requests));
    HD_TRY(hd_grow(op, &builder->capacities, &builder->capacity_capacity, plan->n_requests + 1,
                   sizeof *builder->capacities));
    struct hd_rollback_request *request = &plan->requests[plan->n_requests];
    *request = (struct hd_rollback_request){0};
    builder->capacities[plan->n_requests] = (struct capacity){0};
    plan->n_requests++;
    HD_TRY(hd_arena_strndup(op, &plan->arena, partition.data, partition.size,
                            (char **)&request->partition_path));
    HD_TRY(
        hd_arena_strndup(op, &plan->arena, file_id.data, file_id.size, (char **)&request->file_id));
    return hd_arena_strndup(op, &plan->arena, instant.data, instant.size,
                            (char **)&request->latest_base_instant);
}

/* `data_path` is relative to the table. */
static hudi_status add_file(struct hd_op *op, struct plan_builder *builder, const char *data_path)
{
    const struct hd_slice none = hd_slice_text("");
    struct data_path at;
    size_t number;

    (void)take_apart(data_path, &at);
    HD_TRY(request_of(op, builder, at.partition, at.partition, none, none, &number));
    struct hd_rollback_request *request = &builder->plan->requests[number];
    HD_TRY(hd_grow(op, &request->files, &builder->capacities[number].files, request->n_files + 1,
                   sizeof *request->files));
    HD_TRY(hd_arena_printf(op, &builder->plan->arena, (char **)&request->files[request->n_files],
                           "%s/%s", builder->table->path, data_path));
    request->n_files++;
    return HUDI_OK;
}

/* A log file of a slice that is older than the target. */
static hudi_status add_log(struct hd_op *op, struct plan_builder *builder,
                           const struct data_path *at, int64_t n_bytes)
{
    hudi_status status = HUDI_OK;
    struct hd_str key = {0};
    size_t number;

    HD_TRY_OUT(hd_str_printf(op, &key, "%.*s/%.*s_%.*s", (int)at->partition.size,
                             (const char *)at->partition.data, (int)at->parts.file_id.size,
                             (const char *)at->parts.file_id.data, (int)at->parts.instant.size,
                             (const char *)at->parts.instant.data));
    HD_TRY_OUT(request_of(op, builder, hd_str_slice(&key), at->partition, at->parts.file_id,
                          at->parts.instant, &number));
    struct hd_rollback_request *request = &builder->plan->requests[number];
    for (size_t i = 0; i < request->n_logs; i++)
        if (strcmp(request->log_paths[i], at->name) == 0)
            goto out;
    HD_TRY_OUT(hd_grow(op, &request->log_paths, &builder->capacities[number].logs,
                       request->n_logs + 1, sizeof *request->log_paths));
    HD_TRY_OUT(hd_grow(op, &request->log_sizes, &builder->capacities[number].sizes,
                       request->n_logs + 1, sizeof *request->log_sizes));
    HD_TRY_OUT(hd_arena_strdup(op, &builder->plan->arena, at->name,
                               (char **)&request->log_paths[request->n_logs]));
    request->log_sizes[request->n_logs++] = n_bytes;
out:
    hd_str_clear(&key);
    return status;
}

/* ---- by markers -------------------------------------------------------------------------------
 */

/* What an APPEND marker stands for: the log file it names, or, named like a base file, all log
 * files of that slice. Those that carry the target's time go; the marker of a file that was never
 * made stands for nothing. */
static hudi_status add_appended(struct hd_op *op, struct plan_builder *builder,
                                const struct hd_marker *marker)
{
    hudi_status status = HUDI_OK;
    const struct hd_table_snapshot *table = builder->table;
    const struct hd_slice target = hd_slice_text(builder->plan->target_time);
    struct data_path named;
    struct hd_arena arena = {0};
    struct hd_file_info *files;
    char *partition = NULL, *dir = NULL, *data_path = NULL;
    size_t n = 0;

    if (!take_apart(marker->data_path, &named))
        return hd_fail(op, HUDI_CORRUPT, "an append marker names %s, which is no data file",
                       marker->data_path);
    HD_TRY_OUT(hd_strndup(op, named.partition.data, named.partition.size, &partition));
    HD_TRY_OUT(hd_path_join(op, table->path, partition, &dir));
    status = hd_fs_list(op, table->fs, dir, &arena, &files, &n);
    HD_TRY_OUT(status == HUDI_NOT_FOUND ? HUDI_OK : status);
    for (size_t i = 0; i < n; i++) {
        const bool by_name = named.parts.kind != HD_FILE_BASE;
        struct data_path at = {.partition = named.partition, .name = files[i].name};

        if (!hd_file_name_parse(files[i].name, &at.parts) || at.parts.kind == HD_FILE_BASE ||
            (by_name ? strcmp(files[i].name, named.name) != 0
                     : !hd_slice_equal(at.parts.file_id, named.parts.file_id) ||
                           !hd_slice_equal(at.parts.instant, named.parts.instant)))
            continue;
        if (!hd_slice_equal(at.parts.instant, target)) {
            HD_TRY_OUT(add_log(op, builder, &at, (int64_t)files[i].size_bytes));
            continue;
        }
        hd_free(op, data_path);
        data_path = NULL;
        HD_TRY_OUT(hd_path_join(op, partition, files[i].name, &data_path));
        HD_TRY_OUT(add_file(op, builder, data_path));
    }
out:
    hd_free(op, data_path);
    hd_free(op, partition);
    hd_free(op, dir);
    hd_arena_clear(&arena);
    return status;
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
        status = markers[i].type == HD_IO_APPEND ? add_appended(op, builder, &markers[i])
                                                 : add_file(op, builder, markers[i].data_path);
    hd_arena_clear(&arena);
    return status;
}

/* ---- by listing -------------------------------------------------------------------------------
 */

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
            !hd_slice_equal(name.instant, hd_slice_text(time)) ||
            (builder->base_files_only && name.kind != HD_FILE_BASE))
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

/* The log files of a slice that an inflight file says will be written to: which of them got blocks
 * of the target it does not say, so all are in the plan. */
static hudi_status add_slice(struct hd_op *op, struct plan_builder *builder, const char *partition,
                             const char *file_id, const char *base_instant)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_file_info *files;
    char *dir = NULL;
    size_t n = 0;

    HD_TRY_OUT(hd_path_join(op, builder->table->path, partition, &dir));
    status = hd_fs_list(op, builder->table->fs, dir, &arena, &files, &n);
    HD_TRY_OUT(status == HUDI_NOT_FOUND ? HUDI_OK : status);
    status = HUDI_OK;
    for (size_t i = 0; i < n; i++) {
        struct data_path at = {.partition = hd_slice_text(partition), .name = files[i].name};

        if (hd_file_name_parse(files[i].name, &at.parts) && at.parts.kind == HD_FILE_LOG &&
            hd_slice_equal(at.parts.file_id, hd_slice_text(file_id)) &&
            hd_slice_equal(at.parts.instant, hd_slice_text(base_instant)))
            HD_TRY_OUT(add_log(op, builder, &at, (int64_t)files[i].size_bytes));
    }
out:
    hd_free(op, dir);
    hd_arena_clear(&arena);
    return status;
}

/* The workload profile that some releases write into the inflight file: a stat for each slice to be
 * updated, with its base instant, or nothing at all. */
static hudi_status plan_profile(struct hd_op *op, struct plan_builder *builder,
                                const struct hd_instant *target)
{
    struct hd_commit_metadata profile = {0};
    uint8_t *bytes = NULL;
    size_t n = 0;

    if (target->state != HD_INFLIGHT)
        return HUDI_OK;
    HD_TRY(hd_timeline_read(op, &builder->table->timeline, target, HD_INFLIGHT, &bytes, &n));
    hudi_status status =
        n == 0 ? HUDI_OK : hd_commit_metadata_parse(op, hd_slice_of(bytes, n), &profile);
    hd_free(op, bytes);
    for (size_t i = 0; i < profile.n_stats && status == HUDI_OK; i++) {
        const struct hd_write_stat *stat = &profile.stats[i];

        if (stat->file_id != NULL && stat->file_id[0] != '\0' && stat->partition_path != NULL &&
            stat->prev_commit != NULL && strcmp(stat->prev_commit, "null") != 0)
            status = add_slice(op, builder, stat->partition_path, stat->file_id, stat->prev_commit);
    }
    hd_commit_metadata_clear(&profile);
    return status;
}

/* The log files that the write stats of a completed commit name. */
static hudi_status plan_logs(struct hd_op *op, struct plan_builder *builder,
                             const struct hd_instant *target)
{
    struct hd_commit_metadata metadata = {0};

    if (builder->table->config.type != HD_MERGE_ON_READ)
        return HUDI_OK;
    if (target->state != HD_COMPLETED)
        return plan_profile(op, builder, target);
    HD_TRY(hd_timeline_read_commit(op, &builder->table->timeline, target, &metadata));
    hudi_status status = HUDI_OK;
    for (size_t i = 0; i < metadata.n_stats && status == HUDI_OK; i++) {
        const struct hd_write_stat *stat = &metadata.stats[i];
        struct data_path at;

        if (stat->path != NULL && take_apart(stat->path, &at) && at.parts.kind == HD_FILE_LOG &&
            !hd_slice_equal(at.parts.instant, hd_slice_text(target->time)))
            status = add_log(op, builder, &at, stat->total_write_bytes);
    }
    hd_commit_metadata_clear(&metadata);
    return status;
}

static hudi_status plan_by_listing(struct hd_op *op, struct plan_builder *builder,
                                   const struct hd_instant *target)
{
    const struct hd_table_snapshot *table = builder->table;
    struct hd_arena arena = {0};
    const char **partitions;
    size_t n = 0;

    hudi_status status =
        hd_partitions_list(op, table->fs, table->path, &table->config, &arena, &partitions, &n);
    for (size_t i = 0; i < n && status == HUDI_OK; i++)
        status = plan_partition(op, builder, partitions[i], target->time);
    if (status == HUDI_OK)
        status = plan_logs(op, builder, target);
    hd_arena_clear(&arena);
    return status;
}

/* Requests of an instant that is only requested are none: it has not begun to write. But other
 * writes may have, to log files on a compaction's slices, and leave no markers of them. */
hudi_status hd_rollback_request_make(struct hd_op *op, const struct hd_table_snapshot *table,
                                     const struct hd_instant *target, bool for_good,
                                     struct hd_rollback_plan *plan)
{
    const bool compaction = target->pending_action == HD_ACTION_COMPACTION;
    struct plan_builder builder = {.table = table, .plan = plan};
    hudi_status status = HUDI_NOT_FOUND;

    builder.base_files_only = compaction && !for_good;
    plan->target_time = target->time;
    plan->target_action = hd_action_name(target->action);
    if (target->state == HD_REQUESTED && !(compaction && for_good))
        return HUDI_OK;
    if (target->state != HD_COMPLETED && !(compaction && for_good))
        status = plan_by_markers(op, &builder, target->time);
    if (status == HUDI_NOT_FOUND)
        status = plan_by_listing(op, &builder, target);
    hd_map_clear(&builder.requests);
    hd_free(op, builder.capacities);
    return status;
}

void hd_rollback_request_free(struct hd_op *op, struct hd_rollback_plan *plan)
{
    for (size_t i = 0; i < plan->n_requests; i++) {
        hd_free(op, plan->requests[i].files);
        hd_free(op, plan->requests[i].log_paths);
        hd_free(op, plan->requests[i].log_sizes);
    }
    hd_free(op, plan->requests);
    hd_arena_clear(&plan->arena);
}
