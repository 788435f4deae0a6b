/* SPDX-License-Identifier: Apache-2.0 */
#include "service/revertible.h"

#include <string.h>

#include "base/map.h"
#include "format/layout/file_name.h"
#include "format/timeline/archived_timeline.h"
#include "format/timeline/clean_plan.h"
#include "format/timeline/replace_plan.h"

/* ---- what came after ------------------------------------------------------------------------ */

static hudi_status check_newest(struct hd_op *op, const struct hd_timeline *timeline,
                                const struct hd_instant *target)
{
    const struct hd_instant *const last = hd_timeline_last_completed_write(timeline);

    if (hd_timeline_find(timeline, target->time, HD_ACTION_SAVEPOINT) != NULL)
        return hd_fail(op, HUDI_INVALID, "%s is savepointed: drop the savepoint first",
                       target->time);
    if (target != last)
        return hd_fail(op, HUDI_INVALID,
                       "%s is not the newest completed write (%s is): what came after builds on it",
                       target->time, last->time);
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (strcmp(instant->time, target->time) > 0 && instant->state != HD_COMPLETED &&
            (instant->pending_action == HD_ACTION_COMMIT ||
             instant->pending_action == HD_ACTION_DELTACOMMIT))
            return hd_fail(op, HUDI_INVALID, "%s came after %s and is pending: roll it back first",
                           instant->time, target->time);
    }
    return HUDI_OK;
}

/* A plan whose files are gone could never be run. */
static hudi_status check_plans(struct hd_op *op, const struct hd_timeline *timeline,
                               const struct hd_instant *target)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_pending_file_group *groups[2];
    size_t n[2] = {0, 0};

    HD_TRY_OUT(hd_pending_compaction_file_ids(op, timeline, &arena, &groups[0], &n[0]));
    HD_TRY_OUT(hd_pending_clustering_file_ids(op, timeline, &arena, &groups[1], &n[1]));
    for (size_t list = 0; list < 2; list++)
        for (size_t i = 0; i < n[list]; i++)
            if (strcmp(groups[list][i].instant, target->time) > 0)
                HD_TRY_OUT(hd_fail(op, HUDI_INVALID,
                                   "%s is planned on what %s wrote: run the plan first",
                                   groups[list][i].instant, target->time));
out:
    hd_arena_clear(&arena);
    return status;
}

/* ---- what it replaced ----------------------------------------------------------------------- */

/* "partition/file id" of replaced file groups, "partition/file id_instant" of replaced slices. */
struct replaced {
    struct hd_map keys;
    struct hd_str key; /* the one being asked for */
};

static hudi_status add(struct hd_op *op, struct replaced *replaced, const char *partition,
                       const char *file_id, const char *instant)
{
    replaced->key.size = 0;
    HD_TRY(hd_str_printf(op, &replaced->key, "%s/%s%s%s", partition, file_id,
                         instant == NULL ? "" : "_", instant == NULL ? "" : instant));
    return hd_map_put(op, &replaced->keys, hd_str_slice(&replaced->key), 0, NULL, NULL);
}

static hudi_status find_replaced(struct hd_op *op, const struct hd_timeline *timeline,
                                 const struct hd_instant *target, struct replaced *replaced)
{
    struct hd_commit_metadata commit = {0};
    hudi_status status = HUDI_OK;

    HD_TRY(hd_timeline_read_commit(op, timeline, target, &commit));
    for (size_t i = 0; i < commit.n_stats && status == HUDI_OK; i++) {
        const struct hd_write_stat *const stat = &commit.stats[i];

        if (stat->partition_path != NULL && stat->file_id != NULL && stat->prev_commit != NULL &&
            strcmp(stat->prev_commit, "null") != 0)
            status = add(op, replaced, stat->partition_path, stat->file_id, stat->prev_commit);
    }
    for (size_t i = 0; i < commit.n_replaced; i++)
        for (size_t f = 0; f < commit.replaced[i].n_file_ids && status == HUDI_OK; f++)
            status = add(op, replaced, commit.replaced[i].partition_path,
                         commit.replaced[i].file_ids[f], NULL);
    hd_commit_metadata_clear(&commit);
    return status;
}

static hudi_status has(struct hd_op *op, struct replaced *replaced, const char *partition,
                       const char *file, bool *out)
{
    struct hd_file_name name;

    *out = false;
    if (!hd_file_name_parse(file, &name))
        return HUDI_OK;
    replaced->key.size = 0;
    HD_TRY(hd_str_printf(op, &replaced->key, "%s/%.*s", partition, (int)name.file_id.size,
                         (const char *)name.file_id.data));
    *out = hd_map_find(&replaced->keys, hd_str_slice(&replaced->key)) != NULL;
    if (*out)
        return HUDI_OK;
    HD_TRY(hd_str_printf(op, &replaced->key, "_%.*s", (int)name.instant.size,
                         (const char *)name.instant.data));
    *out = hd_map_find(&replaced->keys, hd_str_slice(&replaced->key)) != NULL;
    return HUDI_OK;
}

static hudi_status check_files(struct hd_op *op, struct replaced *replaced, const char *clean,
                               const char *partition, const char *const *files, size_t n_files)
{
    for (size_t i = 0; i < n_files; i++) {
        bool needed;

        HD_TRY(has(op, replaced, partition, files[i], &needed));
        if (needed)
            return hd_fail(op, HUDI_INVALID,
                           "%s, which the table needs without it, is taken by clean %s", files[i],
                           clean);
    }
    return HUDI_OK;
}

static hudi_status check_done(struct hd_op *op, struct hd_slice bytes, const char *time,
                              struct replaced *replaced)
{
    struct hd_clean_metadata clean;

    HD_TRY(hd_clean_metadata_decode(op, bytes, &clean));
    hudi_status status = HUDI_OK;
    for (size_t p = 0; p < clean.n_partitions && status == HUDI_OK; p++)
        status = check_files(op, replaced, time, clean.partitions[p].partition_path,
                             clean.partitions[p].files, clean.partitions[p].n_files);
    hd_clean_metadata_clear(&clean);
    return status;
}

static hudi_status check_planned(struct hd_op *op, struct hd_slice bytes, const char *time,
                                 struct replaced *replaced)
{
    struct hd_clean_plan plan;

    HD_TRY(hd_clean_plan_decode(op, bytes, &plan));
    hudi_status status = HUDI_OK;
    for (size_t p = 0; p < plan.n_partitions && status == HUDI_OK; p++)
        status = check_files(op, replaced, time, plan.partitions[p].partition_path,
                             plan.partitions[p].files, plan.partitions[p].n_files);
    hd_clean_plan_clear(&plan);
    return status;
}

static hudi_status check_cleans(struct hd_op *op, const struct hd_timeline *timeline,
                                const struct hd_instant *target)
{
    struct replaced replaced = {0};
    hudi_status status = find_replaced(op, timeline, target, &replaced);

    for (size_t i = 0; i < timeline->n_instants && status == HUDI_OK; i++) {
        const struct hd_instant *const clean = &timeline->instants[i];
        const bool done = clean->state == HD_COMPLETED;
        uint8_t *bytes;
        size_t n;

        if (clean->action != HD_ACTION_CLEAN || strcmp(clean->time, target->time) <= 0 ||
            (!done && !clean->has_requested))
            continue;
        status =
            hd_timeline_read(op, timeline, clean, done ? HD_COMPLETED : HD_REQUESTED, &bytes, &n);
        if (status != HUDI_OK)
            break;
        status = done ? check_done(op, hd_slice_of(bytes, n), clean->time, &replaced)
                      : check_planned(op, hd_slice_of(bytes, n), clean->time, &replaced);
        hd_free(op, bytes);
    }
    hd_map_clear(&replaced.keys);
    hd_str_clear(&replaced.key);
    return status;
}

/* ---- what is before it ---------------------------------------------------------------------- */

static hudi_status check_last(struct hd_op *op, const struct hd_table_snapshot *table,
                              const struct hd_instant *target)
{
    struct hd_archived_timeline archive;
    bool archived = false;

    for (size_t i = 0; i < table->timeline.n_instants; i++)
        if (&table->timeline.instants[i] != target &&
            hd_instant_is_completed_write(&table->timeline.instants[i]))
            return HUDI_OK;
    HD_TRY(hd_archived_timeline_load(op, table->fs, table->path, &table->config, target->time, NULL,
                                     &archive));
    for (size_t i = 0; i < archive.n_instants; i++)
        archived = archived || strcmp(archive.instants[i].time, target->time) < 0;
    hd_archived_timeline_clear(&archive);
    return archived ? hd_fail(op, HUDI_INVALID,
                              "%s is the last write that is not archived: the table would read as "
                              "empty without it",
                              target->time)
                    : HUDI_OK;
}

hudi_status hd_check_revertible(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_instant *target)
{
    if (target->state != HD_COMPLETED)
        return HUDI_OK;
    HD_TRY(check_newest(op, &table->timeline, target));
    HD_TRY(check_plans(op, &table->timeline, target));
    HD_TRY(check_last(op, table, target));
    return check_cleans(op, &table->timeline, target);
}
