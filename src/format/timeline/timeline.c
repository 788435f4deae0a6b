/* SPDX-License-Identifier: Apache-2.0 */

#include "format/timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

/* A file of the timeline folder that is an instant's. */
struct state_file {
    struct hd_instant_name name;
    const struct hd_file_info *info;
};

/* By (time, comparable action, state): the files of one instant side by side, the furthest last. */
static int compare_state_files(const void *a, const void *b)
{
    const struct state_file *const x = a, *const y = b;
    int order = hd_slice_compare(x->name.time, y->name.time);

    if (order == 0)
        order = strcmp(hd_action_name(hd_action_completed_as(x->name.action)),
                       hd_action_name(hd_action_completed_as(y->name.action)));
    if (order == 0)
        order = (int)x->name.state - (int)y->name.state;
    if (order == 0)
        order = hd_slice_compare(x->name.completion_time, y->name.completion_time);
    return order;
}

static bool same_instant(const struct state_file *a, const struct state_file *b)
{
    return hd_slice_equal(a->name.time, b->name.time) &&
           hd_action_completed_as(a->name.action) == hd_action_completed_as(b->name.action);
}

/* One instant from its files, the furthest of which is the last. */
static hudi_status make_instant(struct hd_op *op, struct hd_arena *arena,
                                const struct state_file *files, size_t n, struct hd_instant *out)
{
    const struct state_file *const furthest = &files[n - 1];
    struct hd_instant instant = {
        .action = furthest->name.action,
        .pending_action = furthest->name.action,
        .state = furthest->name.state,
        .size_bytes = furthest->info->size_bytes,
        .modified_ms = furthest->info->modified_ms,
    };
    char *text;

    for (size_t i = 0; i < n; i++) {
        if (files[i].name.state == HD_COMPLETED)
            continue;
        instant.pending_action = files[i].name.action;
        if (files[i].name.state == HD_REQUESTED)
            instant.has_requested = true;
        else
            instant.has_inflight = true;
    }
    HD_TRY(hd_arena_strndup(op, arena, furthest->name.time.data, furthest->name.time.size, &text));
    instant.time = text;
    if (furthest->name.completion_time.size > 0) {
        HD_TRY(hd_arena_strndup(op, arena, furthest->name.completion_time.data,
                                furthest->name.completion_time.size, &text));
        instant.completion_time = text;
    }
    *out = instant;
    return HUDI_OK;
}

bool hd_instant_is_write(const struct hd_instant *instant)
{
    switch (hd_action_completed_as(instant->action)) {
    case HD_ACTION_COMMIT:
    case HD_ACTION_DELTACOMMIT:
    case HD_ACTION_REPLACECOMMIT:
        return true;
    default:
        return false;
    }
}

bool hd_instant_is_completed_write(const struct hd_instant *instant)
{
    return instant->state == HD_COMPLETED && hd_instant_is_write(instant);
}

size_t hd_timeline_lower_bound(const struct hd_timeline *timeline, const char *time)
{
    size_t low = 0, high = timeline->n_instants;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(timeline->instants[middle].time, time) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * Archival moves out the oldest writes but leaves savepointed ones behind, as islands that do not
 * say where the timeline begins. Pending compactions count: archival never passes them. Source:
 * HoodieDefaultTimeline.getFirstNonSavepointCommit (Hudi 0.15.0)
 */
static const char *find_start(const struct hd_timeline *timeline)
{
    const char *island = NULL;

    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (!hd_instant_is_completed_write(instant) &&
            !(instant->state != HD_COMPLETED && instant->pending_action == HD_ACTION_COMPACTION))
            continue;
        if (hd_timeline_find(timeline, instant->time, HD_ACTION_SAVEPOINT) == NULL)
            return instant->time;
        if (island == NULL)
            island = instant->time;
    }
    return island;
}

static hudi_status collect(struct hd_op *op, const struct hd_file_info *infos, size_t n_infos,
                           struct hd_timeline *timeline)
{
    hudi_status status = HUDI_OK;
    struct state_file *files;
    size_t n_files = 0, n;

    HD_TRY(hd_alloc_raw(op, n_infos, sizeof *files, &files));
    for (size_t i = 0; i < n_infos; i++) {
        if (infos[i].is_dir ||
            !hd_instant_name_parse(timeline->version, infos[i].name, &files[n_files].name))
            continue;
        files[n_files++].info = &infos[i];
    }
    if (n_files > 0)
        qsort(files, n_files, sizeof *files, compare_state_files);
    HD_TRY_OUT(hd_arena_array(op, &timeline->arena, n_files, sizeof *timeline->instants,
                              &timeline->instants));
    for (size_t i = 0; i < n_files; i += n) {
        for (n = 1; i + n < n_files && same_instant(&files[i], &files[i + n]); n++) {
        }
        HD_TRY_OUT(make_instant(op, &timeline->arena, &files[i], n,
                                &timeline->instants[timeline->n_instants]));
        timeline->n_instants++;
    }
out:
    hd_free(op, files);
    return status;
}

hudi_status hd_timeline_load(struct hd_op *op, hd_file_system *fs, const char *table_path,
                             const struct hd_table_config *config, struct hd_timeline *out)
{
    hudi_status status = HUDI_OK;
    struct hd_timeline timeline = {
        .fs = fs,
        .table_path = table_path,
        .version = config->version,
        .utc = config->timeline_utc,
    };
    struct hd_arena listing = {0};
    struct hd_file_info *infos;
    size_t n_infos;
    char *folder = NULL;

    *out = (struct hd_timeline){0};
    if (config->archive_folder != NULL)
        HD_TRY_OUT(hd_arena_strdup(op, &timeline.arena, config->archive_folder,
                                   (char **)&timeline.archive_folder));
    HD_TRY_OUT(hd_path_join(op, table_path, config->version->timeline_folder, &folder));
    status = hd_fs_list(op, fs, folder, &listing, &infos, &n_infos);
    if (status == HUDI_NOT_FOUND)
        status = hd_fail_path(
            op, hd_fail(op, HUDI_CORRUPT, "the folder of the active timeline is missing"), folder);
    HD_TRY_OUT(status);
    HD_TRY_OUT(collect(op, infos, n_infos, &timeline));
    timeline.start = find_start(&timeline);
    *out = timeline;
    timeline.arena = (struct hd_arena){0}; /* now the caller's */
out:
    hd_arena_clear(&timeline.arena);
    hd_arena_clear(&listing);
    hd_free(op, folder);
    return status;
}

void hd_timeline_clear(struct hd_timeline *timeline)
{
    hd_arena_clear(&timeline->arena);
    *timeline = (struct hd_timeline){0};
}

const struct hd_instant *hd_timeline_find(const struct hd_timeline *timeline, const char *time,
                                          enum hd_action completed_as)
{
    for (size_t i = hd_timeline_lower_bound(timeline, time);
         i < timeline->n_instants && strcmp(timeline->instants[i].time, time) == 0; i++) {
        if (hd_action_completed_as(timeline->instants[i].action) == completed_as)
            return &timeline->instants[i];
    }
    return NULL;
}

const struct hd_instant *hd_timeline_last_completed_write(const struct hd_timeline *timeline)
{
    for (size_t i = timeline->n_instants; i > 0; i--) {
        if (hd_instant_is_completed_write(&timeline->instants[i - 1]))
            return &timeline->instants[i - 1];
    }
    return NULL;
}

bool hd_timeline_is_committed(const struct hd_timeline *timeline, const char *time)
{
    bool pending = false;

    for (size_t i = hd_timeline_lower_bound(timeline, time);
         i < timeline->n_instants && strcmp(timeline->instants[i].time, time) == 0; i++) {
        if (hd_instant_is_completed_write(&timeline->instants[i]))
            return true;
        pending = pending || hd_instant_is_write(&timeline->instants[i]);
    }
    return !pending && timeline->start != NULL && strcmp(time, timeline->start) < 0;
}

bool hd_timeline_is_pending_compaction(const struct hd_timeline *timeline, const char *time)
{
    const struct hd_instant *const instant = hd_timeline_find(timeline, time, HD_ACTION_COMMIT);

    return instant != NULL && instant->state != HD_COMPLETED &&
           instant->pending_action == HD_ACTION_COMPACTION;
}
