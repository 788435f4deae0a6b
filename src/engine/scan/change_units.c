/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "engine/scan/changes_internal.h"

/*
 * What an instant did to each file group, from its commit metadata.
 * Source: HoodieCDCExtractor.parseWriteStat, extractCDCFileSplits (Hudi 0.15.0), which gives up
 * where nothing was logged and rows were not only inserted; here files are compared then.
 */

static bool is_none(const char *time)
{
    return time == NULL || time[0] == '\0' || strcmp(time, "null") == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* A path below the table. */
static hudi_status check_path(struct hd_op *op, const char *path)
{
    const char *at = path == NULL ? "" : path;

    while (*at != '\0') {
        const size_t n = strcspn(at, "/");

        if (n == 0 || (n == 2 && at[0] == '.' && at[1] == '.'))
            break;
        at += n + (at[n] == '/');
    }
    if (*at != '\0' || path == NULL || path[0] == '\0')
        return hd_fail(op, HUDI_CORRUPT, "the commit names the file \"%s\"",
                       path == NULL ? "" : path);
    return HUDI_OK;
}

static enum hd_change_kind kind_of(const struct hd_write_stat *stat, bool is_log)
{
    if (stat->n_cdc > 0)
        return HD_CHANGE_LOGGED;
    if (is_log)
        return HD_CHANGE_COMPARED;
    /* A new file group's deletes found nothing. */
    if (is_none(stat->prev_commit))
        return HD_CHANGE_INSERTED;
    if (stat->num_writes == 0)
        return HD_CHANGE_DELETED;
    if (stat->num_update_writes == 0 && stat->num_deletes == 0 &&
        stat->num_writes == stat->num_inserts)
        return HD_CHANGE_INSERTED;
    return HD_CHANGE_COMPARED;
}

static hudi_status add_stat(struct hd_op *op, struct hd_changes *changes,
                            const struct hd_write_stat *stat)
{
    struct hd_file_name name;

    HD_TRY(check_path(op, stat->path));
    if (stat->file_id == NULL || stat->partition_path == NULL ||
        !hd_file_name_parse(base_name(stat->path), &name))
        return hd_fail(op, HUDI_CORRUPT, "the commit's file \"%s\" is of no file group",
                       stat->path);
    for (size_t i = 0; i < stat->n_cdc; i++)
        HD_TRY(check_path(op, stat->cdc_paths[i]));
    changes->units[changes->n_units++] = (struct hd_change_unit){
        .kind = kind_of(stat, name.kind == HD_FILE_LOG),
        .is_log = name.kind == HD_FILE_LOG,
        .partition_path = stat->partition_path,
        .file_id = stat->file_id,
        .path = stat->path,
        .size_bytes = stat->file_size_in_bytes < 0 ? 0 : (uint64_t)stat->file_size_in_bytes,
        .prev_commit = is_none(stat->prev_commit) ? NULL : stat->prev_commit,
        .base_file = stat->base_file == NULL || stat->base_file[0] == '\0' ? NULL : stat->base_file,
        .cdc_paths = stat->cdc_paths,
        .cdc_sizes = stat->cdc_sizes,
        .n_cdc = stat->n_cdc,
    };
    return HUDI_OK;
}

/* By partition, file groups that went before those that came, file id. */
static int by_place(const void *a, const void *b)
{
    const struct hd_change_unit *x = a, *y = b;
    const int partition = strcmp(x->partition_path, y->partition_path);
    const int gone = (y->kind == HD_CHANGE_REPLACED) - (x->kind == HD_CHANGE_REPLACED);

    if (partition != 0 || gone != 0)
        return partition != 0 ? partition : gone;
    const int file_id = strcmp(x->file_id, y->file_id);
    return file_id != 0 ? file_id : (int)x->kind - (int)y->kind;
}

/* Several log files of one group are one unit: their slices are compared once. */
static void join_log_files(struct hd_changes *changes)
{
    size_t n = 0;

    for (size_t i = 0; i < changes->n_units; i++) {
        const struct hd_change_unit *unit = &changes->units[i],
                                    *last = &changes->units[n - (n > 0)];

        if (n > 0 && unit->kind == HD_CHANGE_COMPARED && last->kind == HD_CHANGE_COMPARED &&
            strcmp(unit->file_id, last->file_id) == 0 &&
            strcmp(unit->partition_path, last->partition_path) == 0)
            continue;
        changes->units[n++] = *unit;
    }
    changes->n_units = n;
}

hudi_status hd_change_units(struct hd_op *op, struct hd_changes *changes)
{
    const struct hd_commit_metadata *commit = &changes->commit;
    size_t n = commit->n_stats;

    for (size_t p = 0; p < commit->n_replaced; p++)
        n += commit->replaced[p].n_file_ids;
    HD_TRY(hd_alloc_array(op, n, sizeof *changes->units, &changes->units));
    changes->n_units = changes->next_unit = 0;
    for (size_t i = 0; i < commit->n_stats; i++)
        HD_TRY(add_stat(op, changes, &commit->stats[i]));
    for (size_t p = 0; p < commit->n_replaced; p++) {
        const struct hd_replaced *replaced = &commit->replaced[p];

        for (size_t f = 0; f < replaced->n_file_ids; f++)
            changes->units[changes->n_units++] =
                (struct hd_change_unit){.kind = HD_CHANGE_REPLACED,
                                        .partition_path = replaced->partition_path,
                                        .file_id = replaced->file_ids[f]};
    }
    qsort(changes->units, changes->n_units, sizeof *changes->units, by_place);
    join_log_files(changes);
    return HUDI_OK;
}

/* ---- slices ------------------------------------------------------------------------------- */

hudi_status hd_change_is_gone(struct hd_op *op, hudi_status status,
                              const struct hd_changes *changes, const struct hd_change_unit *unit,
                              const char *path)
{
    if (status != HUDI_NOT_FOUND)
        return status;
    hd_op_clear_error(op);
    return hd_fail(op, HUDI_NOT_FOUND,
                   "changes of %s in file group %s of partition \"%s\" were cleaned: %s is gone",
                   changes->instant->time, unit->file_id, unit->partition_path, path);
}

static hudi_status note_partition(struct hd_op *op, struct hd_map *map, const char *partition_path)
{
    return partition_path == NULL
               ? HUDI_OK
               : hd_map_put(op, map, hd_slice_text(partition_path), 0, NULL, NULL);
}

/* The partitions that the instant at hand and those after it touch. */
static hudi_status find_partitions(struct hd_op *op, const struct hd_changes *changes,
                                   struct hd_map *out)
{
    hudi_status status = HUDI_OK;
    const struct hd_timeline *timeline = &changes->timeline;

    for (size_t i = changes->next_instant - 1; i < timeline->n_instants; i++) {
        const struct hd_instant *instant = &timeline->instants[i];
        struct hd_commit_metadata commit;

        if (!hd_instant_is_completed_write(instant) ||
            !hd_scan_is_in_range(changes->plan, instant->time, instant->completion_time))
            continue;
        HD_TRY(hd_timeline_read_commit(op, timeline, instant, &commit));
        for (size_t s = 0; status == HUDI_OK && s < commit.n_stats; s++)
            status = note_partition(op, out, commit.stats[s].partition_path);
        for (size_t p = 0; status == HUDI_OK && p < commit.n_replaced; p++)
            status = note_partition(op, out, commit.replaced[p].partition_path);
        hd_commit_metadata_clear(&commit);
        HD_TRY(status);
    }
    return HUDI_OK;
}

static hudi_status load_view(struct hd_op *op, struct hd_changes *changes)
{
    hudi_status status = HUDI_OK;
    const struct hd_table_snapshot *table = changes->table;
    struct hd_map partitions = {0};
    const char **paths = NULL;

    HD_TRY_OUT(find_partitions(op, changes, &partitions));
    HD_TRY_OUT(hd_alloc_array(op, partitions.n_entries + 1, sizeof *paths, &paths));
    for (size_t i = 0; i < partitions.n_entries; i++)
        paths[i] = (const char *)partitions.entries[i].key.data;
    HD_TRY_OUT(hd_file_system_view_load(op, NULL, table->fs, table->path, &table->config,
                                        &changes->timeline, paths, partitions.n_entries,
                                        &changes->view));
    changes->has_view = true;
out:
    hd_free(op, paths);
    hd_map_clear(&partitions);
    return status;
}

static hudi_status find_group(struct hd_op *op, struct hd_changes *changes,
                              const struct hd_change_unit *unit, const struct hd_file_group **out)
{
    if (!changes->has_view)
        HD_TRY(load_view(op, changes));
    *out = hd_file_system_view_find(&changes->view, unit->partition_path, unit->file_id);
    return HUDI_OK;
}

/* The version of `time`, or with `time` NULL the newest before the instant. */
static const struct hd_file_slice *find_slice(const struct hd_changes *changes,
                                              const struct hd_file_group *group, const char *time)
{
    for (size_t i = 0; i < group->n_slices; i++) {
        const struct hd_file_slice *slice = &group->slices[i];

        if (time != NULL ? strcmp(slice->base_instant, time) == 0
                         : strcmp(slice->base_instant, changes->instant->time) < 0)
            return slice;
    }
    return NULL;
}

/* The internal schema of the file, for tables whose columns have ids. */
static hudi_status find_file_schema(struct hd_op *op, struct hd_changes *changes,
                                    struct hd_slice_source *source)
{
    hd_scan_plan *plan = changes->plan;

    if (plan->internal == NULL)
        return HUDI_OK;
    plan->splits = source;
    plan->n_splits = 1;
    const hudi_status status =
        hd_scan_find_file_schemas(op, changes->table, &changes->timeline, plan);
    plan->splits = NULL;
    plan->n_splits = 0;
    return status;
}

/* The slice that has a log file which the unit's instant wrote to. */
static const struct hd_file_slice *slice_of_log(const struct hd_file_group *group, const char *path)
{
    for (size_t i = 0; i < group->n_slices; i++) {
        const struct hd_file_slice *slice = &group->slices[i];

        for (size_t k = 0; k < slice->n_logs; k++) {
            if (strcmp(slice->logs[k].path, path) == 0)
                return slice;
        }
    }
    return NULL;
}

/* Only blocks up to the instant, or up to before it. `source` is of a table whose log files are
 * told apart by the instants of their blocks; else by those in their names. */
static hudi_status cut_logs(struct hd_op *op, struct hd_changes *changes,
                            const struct hd_file_slice *slice, bool before, struct hd_arena *arena,
                            struct hd_slice_source *out)
{
    const char *time = changes->instant->time;
    const char **paths;

    HD_TRY(hd_scan_copy_log_paths(op, arena, slice, &out->log_paths));
    out->n_logs = slice->n_logs;
    if (changes->table->config.version->timeline_layout > 1) {
        HD_TRY(hd_arena_array(op, arena, slice->n_logs, sizeof *paths, &paths));
        out->n_logs = 0;
        for (size_t i = 0; i < slice->n_logs; i++) {
            if (strcmp(slice->logs[i].instant, time) < (before ? 0 : 1))
                paths[out->n_logs++] = out->log_paths[i];
        }
        out->log_paths = paths;
    }
    HD_TRY(find_file_schema(op, changes, out));
    changes->blocks = changes->plan->log_instants;
    if (before)
        changes->blocks.before = time;
    else
        changes->blocks.as_of = time;
    changes->images.log_instants = &changes->blocks;
    return HUDI_OK;
}

static hudi_status source_of(struct hd_op *op, struct hd_changes *changes,
                             const struct hd_change_unit *unit, const struct hd_file_slice *slice,
                             bool before, struct hd_arena *arena, struct hd_slice_source *out)
{
    char *path = NULL, *instant;

    HD_TRY(hd_arena_strdup(op, arena, slice->base_instant, &instant));
    if (slice->base != NULL)
        HD_TRY(hd_arena_strdup(op, arena, slice->base->path, &path));
    *out =
        (struct hd_slice_source){.partition_path = unit->partition_path,
                                 .file_id = unit->file_id,
                                 .instant = instant,
                                 .base_path = path,
                                 .base_bytes = slice->base == NULL ? 0 : slice->base->size_bytes};
    return cut_logs(op, changes, slice, before, arena, out);
}

/* The slice around a unit of log files. */
static hudi_status logged_slice(struct hd_op *op, struct hd_changes *changes,
                                const struct hd_change_unit *unit, bool before,
                                struct hd_arena *arena, struct hd_slice_source *out)
{
    const struct hd_file_group *group;
    const struct hd_file_slice *slice = NULL;

    HD_TRY(find_group(op, changes, unit, &group));
    if (group != NULL)
        slice = slice_of_log(group, unit->path);
    if (slice == NULL)
        return hd_change_is_gone(op, HUDI_NOT_FOUND, changes, unit, unit->path);
    if (slice->base == NULL && unit->base_file != NULL) /* a clean that is at work, or died */
        return hd_change_is_gone(op, HUDI_NOT_FOUND, changes, unit, unit->base_file);
    return source_of(op, changes, unit, slice, before, arena, out);
}

hudi_status hd_change_slice_before(struct hd_op *op, struct hd_changes *changes,
                                   const struct hd_change_unit *unit, struct hd_arena *arena,
                                   struct hd_slice_source *out)
{
    const struct hd_file_group *group;
    const struct hd_file_slice *slice = NULL;

    if (unit->is_log)
        return logged_slice(op, changes, unit, true, arena, out);
    HD_TRY(find_group(op, changes, unit, &group));
    if (group != NULL)
        slice = find_slice(changes, group, unit->prev_commit);
    if (slice == NULL)
        return hd_change_is_gone(op, HUDI_NOT_FOUND, changes, unit,
                                 unit->prev_commit == NULL ? "what was replaced"
                                                           : "the base file before");
    return source_of(op, changes, unit, slice, true, arena, out);
}

hudi_status hd_change_slice_after(struct hd_op *op, struct hd_changes *changes,
                                  const struct hd_change_unit *unit, struct hd_arena *arena,
                                  struct hd_slice_source *out)
{
    if (unit->is_log)
        return logged_slice(op, changes, unit, false, arena, out);
    *out = (struct hd_slice_source){.partition_path = unit->partition_path,
                                    .file_id = unit->file_id,
                                    .instant = changes->instant->time,
                                    .base_path = unit->path,
                                    .base_bytes = unit->size_bytes};
    return find_file_schema(op, changes, out);
}
