/* SPDX-License-Identifier: Apache-2.0 */

#include "format/layout/view_timeline.h"

#include <string.h>

#include "base/map.h"
#include "format/layout/view_part.h"
#include "format/timeline/compaction_plan.h"

/* A view's own group, to be changed while the view is made. */
static struct hd_file_group *find_group(struct hd_file_system_view *view,
                                        const char *partition_path, const char *file_id)
{
    const struct hd_file_group *const found =
        hd_file_system_view_find(view, partition_path, file_id);

    return found == NULL ? NULL : &view->groups[found - view->groups];
}

/* ---- base files of retried tasks ------------------------------------------------------------ */

/* Paths that the commits read so far name, and the instants of these commits. */
struct named_files {
    struct hd_map instants;
    struct hd_map paths;
};

static const struct hd_instant *find_completed_write(const struct hd_timeline *timeline,
                                                     const char *time)
{
    static const enum hd_action ACTIONS[] = {HD_ACTION_COMMIT, HD_ACTION_DELTACOMMIT,
                                             HD_ACTION_REPLACECOMMIT};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(ACTIONS); i++) {
        const struct hd_instant *const instant = hd_timeline_find(timeline, time, ACTIONS[i]);

        if (instant != NULL && instant->state == HD_COMPLETED)
            return instant;
    }
    return NULL;
}

/* Commit metadata; HUDI_NOT_FOUND (no error) when the instant was archived since the timeline was
 * listed: then the files are all there is, since a replacement goes to the archive only when what
 * it replaced is gone. One that is being rolled back is an error: its inflight file is there until
 * its files are gone. */
static hudi_status read_commit(struct hd_op *op, const struct hd_timeline *timeline,
                               const struct hd_instant *instant, struct hd_commit_metadata *out)
{
    const hudi_status status = hd_timeline_read_commit(op, timeline, instant, out);
    struct hd_file_info info;
    char *path;

    if (status != HUDI_NOT_FOUND)
        return status;
    HD_TRY(hd_timeline_path(op, timeline, instant, HD_INFLIGHT, &path));
    const hudi_status pending = hd_fs_stat(op, timeline->fs, path, &info);
    hd_free(op, path);
    if (pending == HUDI_NOT_FOUND)
        hd_op_clear_error(op);
    else if (pending == HUDI_OK) /* no outcome of ours: the error stays */
        return HUDI_CONFLICT;
    return pending;
}

static hudi_status add_paths(struct hd_op *op, const struct hd_commit_metadata *metadata,
                             struct hd_map *paths)
{
    for (size_t i = 0; i < metadata->n_stats; i++) {
        const char *path = metadata->stats[i].path;
        struct hd_map_entry *entry;

        if (path == NULL)
            continue;
        path += path[0] == '/';
        HD_TRY(hd_map_put(op, paths, hd_slice_text(path), 0, &entry, NULL));
    }
    return HUDI_OK;
}

static hudi_status read_names(struct hd_op *op, const struct hd_timeline *timeline,
                              const char *time, struct named_files *named)
{
    const struct hd_instant *const instant = find_completed_write(timeline, time);
    struct hd_map_entry *entry;
    struct hd_commit_metadata metadata;
    bool added;

    HD_TRY(hd_map_put(op, &named->instants, hd_slice_text(time), 0, &entry, &added));
    if (!added || instant == NULL) /* archived: the files are all there is */
        return HUDI_OK;
    hudi_status status = read_commit(op, timeline, instant, &metadata);
    if (status == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(status);
    status = add_paths(op, &metadata, &named->paths);
    hd_commit_metadata_clear(&metadata);
    return status;
}

hudi_status hd_view_choose_base_files(struct hd_op *op, const struct hd_timeline *timeline,
                                      struct hd_file_system_view *view)
{
    hudi_status status = HUDI_OK;
    struct named_files named = {0};

    for (size_t i = 0; i < view->n_parts; i++) {
        for (const struct hd_base_file_choice *choice = view->parts[i]->choices; choice != NULL;
             choice = choice->next) {
            HD_TRY_OUT(read_names(op, timeline, choice->slice->base_instant, &named));
            for (size_t j = 0; j < choice->n; j++) {
                const struct hd_data_file *const candidate = &choice->candidates[j];

                if (hd_map_find(&named.paths, hd_slice_text(candidate->path)) != NULL)
                    choice->slice->base = candidate;
            }
        }
    }
out:
    hd_map_clear(&named.instants);
    hd_map_clear(&named.paths);
    return status;
}

/* ---- replaced groups ------------------------------------------------------------------------ */

static hudi_status mark_replaced_by(struct hd_op *op, const struct hd_timeline *timeline,
                                    const struct hd_instant *instant,
                                    struct hd_file_system_view *view)
{
    struct hd_commit_metadata metadata;
    char *time;

    HD_TRY(hd_arena_strdup(op, &view->arena, instant->time, &time));
    const hudi_status status = read_commit(op, timeline, instant, &metadata);
    if (status == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(status);
    for (size_t i = 0; i < metadata.n_replaced; i++) {
        const struct hd_replaced *const replaced = &metadata.replaced[i];

        for (size_t j = 0; j < replaced->n_file_ids; j++) {
            struct hd_file_group *const group =
                find_group(view, replaced->partition_path, replaced->file_ids[j]);

            if (group != NULL && group->replaced_by == NULL)
                group->replaced_by = time; /* instants come oldest first */
        }
    }
    hd_commit_metadata_clear(&metadata);
    return HUDI_OK;
}

hudi_status hd_view_mark_replaced(struct hd_op *op, const struct hd_timeline *timeline,
                                  struct hd_file_system_view *view)
{
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (instant->action == HD_ACTION_REPLACECOMMIT && instant->state == HD_COMPLETED)
            HD_TRY(mark_replaced_by(op, timeline, instant, view));
    }
    return HUDI_OK;
}

/* ---- pending compactions -------------------------------------------------------------------- */

static void mark_compaction(struct hd_file_group *group, const char *time)
{
    for (size_t i = 0; i < group->n_slices; i++) { /* newest first */
        if (strcmp(group->slices[i].base_instant, time) < 0) {
            group->slices[i].compaction_instant = time;
            return;
        }
    }
}

static hudi_status mark_plan(struct hd_op *op, const struct hd_timeline *timeline,
                             const struct hd_instant *instant, struct hd_file_system_view *view)
{
    struct hd_compaction_plan plan;
    char *time;

    HD_TRY(hd_arena_strdup(op, &view->arena, instant->time, &time));
    HD_TRY(hd_compaction_plan_read(op, timeline, instant, &plan));
    for (size_t i = 0; i < plan.n_operations; i++) {
        struct hd_file_group *const group =
            find_group(view, plan.operations[i].partition_path, plan.operations[i].file_id);

        if (group != NULL)
            mark_compaction(group, time);
    }
    hd_compaction_plan_clear(&plan);
    return HUDI_OK;
}

hudi_status hd_view_mark_compactions(struct hd_op *op, const struct hd_timeline *timeline,
                                     struct hd_file_system_view *view)
{
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (instant->pending_action == HD_ACTION_COMPACTION && instant->state != HD_COMPLETED)
            HD_TRY(mark_plan(op, timeline, instant, view));
    }
    return HUDI_OK;
}
