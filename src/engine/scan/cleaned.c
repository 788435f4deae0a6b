/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "engine/scan/scan_internal.h"
#include "format/timeline/archived_timeline.h"
#include "format/timeline/clean_plan.h"

/*
 * Was a file slice that a query of the past needs cleaned? Commits say what each new version of a
 * file group replaced (prevCommit): going back from the oldest version after `as_of` that is still
 * there, the first one at or before `as_of` must be the one that the view has. Groups that are gone
 * altogether are known from the replacecommits after `as_of`; of groups that one of these replaced,
 * savepoints may have kept older slices alone: what the writes up to `as_of` wrote to tells.
 *
 * Source: what Hudi asks instead is whether `as_of` is before the earliest commit that the last
 * clean retained (TimelineUtils.validateTimestampAsOf, Hudi 0.15.0), which savepointed slices pass
 * for no reason and cleaning by file versions evades.
 */

/* A write after first_time(), of the active or the archived timeline. */
struct later_write {
    const char *time;
    const struct hd_instant *active;         /* NULL: archived */
    const struct hd_commit_metadata *commit; /* NULL: not read yet */
    struct hd_commit_metadata own;
    struct hd_map files; /* file id -> number of its stat; filled when first asked */
    bool is_indexed;
};

struct history {
    const struct hd_table_snapshot *table;
    const struct hd_timeline *timeline;
    const struct hd_file_system_view *view;
    const struct hd_scan_pruner *pruner; /* what it rules out is not asked for */
    const char *after; /* a range's begin: older rows are not asked for; NULL: all are */
    const char *as_of;
    struct hd_archived_timeline archive;
    struct later_write *writes; /* ascending */
    size_t n_writes;
    struct hd_map going; /* names of files that a clean that was begun is about to delete */
};

/* ---- the commits -------------------------------------------------------------------------- */

/* Writes of a range count too: they say whether a group that vanished had rows in it. */
static const char *first_time(const struct history *h)
{
    return h->after != NULL ? h->after : h->as_of;
}

static bool is_later(const struct history *h, const char *time)
{
    return strcmp(time, first_time(h)) > 0;
}

static int by_time(const void *a, const void *b)
{
    const struct later_write *const x = a, *const y = b;
    const int order = strcmp(x->time, y->time);

    return order != 0 ? order : (x->active == NULL) - (y->active == NULL);
}

/* In order, whatever savepoints held back when others were archived. One that a crash left in both
 * timelines counts as active. */
static void sort_writes(struct history *h)
{
    size_t n = 0;

    if (h->n_writes > 0)
        qsort(h->writes, h->n_writes, sizeof *h->writes, by_time);
    for (size_t i = 0; i < h->n_writes; i++) {
        if (n == 0 || strcmp(h->writes[n - 1].time, h->writes[i].time) != 0)
            h->writes[n++] = h->writes[i];
    }
    h->n_writes = n;
}

static hudi_status list_writes(struct hd_op *op, struct history *h)
{
    const struct hd_timeline *timeline = h->timeline;

    if (timeline->start == NULL || strcmp(first_time(h), timeline->start) < 0)
        HD_TRY(hd_archived_timeline_load(op, timeline->fs, timeline->table_path, &h->table->config,
                                         first_time(h), NULL, &h->archive));
    HD_TRY(hd_alloc_array(op, h->archive.n_instants + timeline->n_instants, sizeof *h->writes,
                          &h->writes));
    for (size_t i = 0; i < h->archive.n_instants; i++) {
        const struct hd_archived_instant *instant = &h->archive.instants[i];

        if (instant->has_commit && instant->state == HD_COMPLETED && is_later(h, instant->time))
            h->writes[h->n_writes++] =
                (struct later_write){.time = instant->time, .commit = &instant->commit};
    }
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *instant = &timeline->instants[i];

        if (!hd_instant_is_completed_write(instant) || !is_later(h, instant->time))
            continue;
        h->writes[h->n_writes++] = (struct later_write){.time = instant->time, .active = instant};
    }
    sort_writes(h);
    return HUDI_OK;
}

static hudi_status read_write(struct hd_op *op, const struct history *h, struct later_write *write)
{
    if (write->commit != NULL)
        return HUDI_OK;
    HD_TRY(hd_timeline_read_commit(op, h->timeline, write->active, &write->own));
    write->commit = &write->own;
    return HUDI_OK;
}

/* The stat of a file group in a write, NULL when it has none. */
static hudi_status find_stat(struct hd_op *op, const struct history *h, struct later_write *write,
                             const char *file_id, const struct hd_write_stat **out)
{
    HD_TRY(read_write(op, h, write));
    for (size_t i = 0; !write->is_indexed && i < write->commit->n_stats; i++) {
        if (write->commit->stats[i].file_id != NULL)
            HD_TRY(hd_map_put(op, &write->files, hd_slice_text(write->commit->stats[i].file_id), i,
                              NULL, NULL));
    }
    write->is_indexed = true;
    const struct hd_map_entry *entry = hd_map_find(&write->files, hd_slice_text(file_id));
    *out = entry == NULL ? NULL : &write->commit->stats[entry->value];
    return HUDI_OK;
}

static struct later_write *find_write(const struct history *h, const char *time)
{
    for (size_t low = 0, high = h->n_writes; low < high;) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(h->writes[middle].time, time);

        if (order == 0)
            return &h->writes[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void clear_history(struct hd_op *op, struct history *h)
{
    for (size_t i = 0; i < h->n_writes; i++) {
        hd_commit_metadata_clear(&h->writes[i].own);
        hd_map_clear(&h->writes[i].files);
    }
    hd_free(op, h->writes);
    hd_map_clear(&h->going);
    hd_archived_timeline_clear(&h->archive);
}

/* ---- the questions ------------------------------------------------------------------------ */

static hudi_status is_gone(struct hd_op *op, const struct history *h, const char *partition_path,
                           const char *file_id)
{
    return hd_fail(
        op, HUDI_NOT_FOUND,
        "file group %s of partition \"%s\" was cleaned since: its files as of %s are gone", file_id,
        partition_path, h->as_of);
}

static bool is_none(const char *prev_commit)
{
    return prev_commit == NULL || prev_commit[0] == '\0' || strcmp(prev_commit, "null") == 0;
}

/* A clean that was begun and did not end may have taken a part of the slice. */
static hudi_status check_going(struct hd_op *op, const struct history *h,
                               const struct hd_file_slice *slice)
{
    bool going =
        slice->base != NULL && hd_map_find(&h->going, hd_slice_text(slice->base->name)) != NULL;

    for (size_t i = 0; i < slice->n_logs; i++)
        going = going || hd_map_find(&h->going, hd_slice_text(slice->logs[i].name)) != NULL;
    return going ? is_gone(op, h, slice->partition_path, slice->file_id) : HUDI_OK;
}

static hudi_status list_going_of(struct hd_op *op, struct history *h,
                                 const struct hd_instant *clean)
{
    struct hd_clean_plan plan;
    uint8_t *bytes;
    size_t n;

    HD_TRY(hd_timeline_read(op, h->timeline, clean, HD_REQUESTED, &bytes, &n));
    hudi_status status = hd_clean_plan_decode(op, hd_slice_of(bytes, n), &plan);
    hd_free(op, bytes);
    HD_TRY(status);
    for (size_t p = 0; p < plan.n_partitions && status == HUDI_OK; p++)
        for (size_t f = 0; f < plan.partitions[p].n_files && status == HUDI_OK; f++)
            status = hd_map_put(op, &h->going, hd_slice_text(plan.partitions[p].files[f]), 0, NULL,
                                NULL);
    hd_clean_plan_clear(&plan);
    return status;
}

static hudi_status list_going(struct hd_op *op, struct history *h)
{
    for (size_t i = 0; i < h->timeline->n_instants; i++) {
        const struct hd_instant *const instant = &h->timeline->instants[i];

        if (instant->action == HD_ACTION_CLEAN && instant->state == HD_INFLIGHT &&
            instant->has_requested)
            HD_TRY(list_going_of(op, h, instant));
    }
    return HUDI_OK;
}

/* Go back from the version that came after the one the view has. */
static hudi_status check_group(struct hd_op *op, const struct history *h,
                               const struct hd_file_group *group)
{
    const struct hd_file_slice *chosen = hd_file_group_slice_as_of(group, h->as_of);
    const size_t n_newer = chosen == NULL ? group->n_slices : (size_t)(chosen - group->slices);
    const char *time;

    if (chosen != NULL && h->going.n_entries > 0)
        HD_TRY(check_going(op, h, chosen));
    if (n_newer == 0 || (group->replaced_by != NULL && strcmp(group->replaced_by, h->as_of) <= 0))
        return HUDI_OK;
    time = group->slices[n_newer - 1].base_instant;
    for (;;) {
        struct later_write *write = find_write(h, time);
        const struct hd_write_stat *stat = NULL;

        if (write != NULL)
            HD_TRY(find_stat(op, h, write, group->file_id, &stat));
        if (stat == NULL) /* no record of where it came from */
            return chosen != NULL ? HUDI_OK : is_gone(op, h, group->partition_path, group->file_id);
        if (is_none(stat->prev_commit) || strcmp(stat->prev_commit, time) >= 0)
            return HUDI_OK;
        time = stat->prev_commit;
        if (strcmp(time, h->as_of) <= 0)
            break;
    }
    if (h->after != NULL && strcmp(time, h->after) <= 0)
        return HUDI_OK; /* no row of the range in it */
    if (chosen != NULL && strcmp(chosen->base_instant, time) >= 0)
        return HUDI_OK;
    return is_gone(op, h, group->partition_path, group->file_id);
}

/* The view has the newest slice that is left of a group, and a later replacecommit took it out. */
static bool is_last_of_replaced(const struct history *h, const struct hd_file_group *group)
{
    return group->n_slices > 0 && group->replaced_by != NULL &&
           strcmp(group->replaced_by, h->as_of) > 0 &&
           strcmp(group->slices[0].base_instant, h->as_of) <= 0;
}

/* Was there a newer one by then? `h` has the writes after that slice. */
static hudi_status check_newest(struct hd_op *op, const struct history *h,
                                const struct hd_file_group *group, const char *range_begin)
{
    const char *const newest = group->slices[0].base_instant;
    const char *const planned = group->slices[0].compaction_instant; /* log files on it as well */

    for (size_t i = h->n_writes; i > 0 && strcmp(h->writes[i - 1].time, newest) > 0; i--) {
        const struct hd_write_stat *stat;
        const char *const time = h->writes[i - 1].time;

        if (strcmp(time, h->as_of) > 0)
            continue;
        HD_TRY(find_stat(op, h, &h->writes[i - 1], group->file_id, &stat));
        if (stat == NULL || stat->path == NULL)
            continue;
        const char *const slash = strrchr(stat->path, '/');
        struct hd_file_name name;
        if (!hd_file_name_parse(slash == NULL ? stat->path : slash + 1, &name))
            return HUDI_OK;
        if (hd_slice_compare(name.instant, hd_slice_text(newest)) <= 0 ||
            (planned != NULL && hd_slice_equal(name.instant, hd_slice_text(planned))) ||
            (range_begin != NULL && strcmp(time, range_begin) <= 0))
            return HUDI_OK;
        return is_gone(op, h, group->partition_path, group->file_id);
    }
    return HUDI_OK;
}

/* With the writes after the oldest of those slices. */
static hudi_status check_last_slices(struct hd_op *op, const struct history *of)
{
    hudi_status status = HUDI_OK;
    struct history h = *of;

    h.after = NULL;
    h.archive = (struct hd_archived_timeline){0};
    h.writes = NULL;
    h.n_writes = 0;
    h.going = (struct hd_map){0};
    for (size_t i = 0; i < h.view->n_groups; i++) {
        const struct hd_file_group *const group = &h.view->groups[i];

        if (is_last_of_replaced(&h, group) &&
            (h.after == NULL || strcmp(group->slices[0].base_instant, h.after) < 0))
            h.after = group->slices[0].base_instant;
    }
    if (h.after == NULL)
        return HUDI_OK;
    HD_TRY_OUT(list_writes(op, &h));
    for (size_t i = 0; i < h.view->n_groups; i++) {
        const struct hd_file_group *const group = &h.view->groups[i];
        bool wanted;

        if (!is_last_of_replaced(&h, group))
            continue;
        HD_TRY_OUT(hd_scan_partition_may_match(op, h.pruner, group->partition_path, &wanted));
        if (wanted)
            HD_TRY_OUT(check_newest(op, &h, group, of->after));
    }
out:
    clear_history(op, &h);
    return status;
}

/* A group without any file left that a later replacecommit replaced: did it have rows by then? */
static hudi_status check_vanished(struct hd_op *op, const struct history *h, size_t replaced_by,
                                  const char *partition_path, const char *file_id)
{
    for (size_t i = 0; i < replaced_by; i++) {
        const struct hd_write_stat *stat;

        HD_TRY(find_stat(op, h, &h->writes[i], file_id, &stat));
        if (stat == NULL)
            continue;
        if (strcmp(h->writes[i].time, h->as_of) <= 0)
            return is_gone(op, h, partition_path, file_id);
        if (is_none(stat->prev_commit) || strcmp(stat->prev_commit, h->writes[i].time) >= 0)
            return HUDI_OK; /* made later */
    }
    /* Older than all these: in an incremental range it has nothing. */
    return h->after != NULL ? HUDI_OK : is_gone(op, h, partition_path, file_id);
}

static hudi_status check_replaced(struct hd_op *op, const struct history *h, size_t number)
{
    struct later_write *write = &h->writes[number];

    if (strcmp(write->time, h->as_of) <= 0)
        return HUDI_OK;
    if (write->active != NULL && write->active->action != HD_ACTION_REPLACECOMMIT)
        return HUDI_OK;
    HD_TRY(read_write(op, h, write));
    for (size_t p = 0; p < write->commit->n_replaced; p++) {
        const struct hd_replaced *replaced = &write->commit->replaced[p];
        bool wanted;

        HD_TRY(hd_scan_partition_may_match(op, h->pruner, replaced->partition_path, &wanted));
        for (size_t f = 0; wanted && f < replaced->n_file_ids; f++) {
            if (hd_file_system_view_find(h->view, replaced->partition_path,
                                         replaced->file_ids[f]) == NULL)
                HD_TRY(
                    check_vanished(op, h, number, replaced->partition_path, replaced->file_ids[f]));
        }
    }
    return HUDI_OK;
}

/* Write stats of log files say what they were appended to below version 8 only. */
static bool is_told(const struct hd_table_config *config)
{
    return config->type == HD_COPY_ON_WRITE || config->version->number < 8;
}

static bool may_have_cleaned(const struct hd_timeline *timeline, const char *as_of)
{
    if (timeline->start == NULL || strcmp(as_of, timeline->start) < 0)
        return true; /* the archive may hold cleans */
    for (size_t i = 0; i < timeline->n_instants; i++) {
        if (timeline->instants[i].action == HD_ACTION_CLEAN)
            return true;
    }
    return false;
}

hudi_status hd_scan_check_cleaned(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const struct hd_timeline *timeline,
                                  const struct hd_file_system_view *view,
                                  const struct hd_scan_pruner *pruner, const char *after,
                                  const char *as_of)
{
    hudi_status status = HUDI_OK;
    struct history h = {.table = table,
                        .timeline = timeline,
                        .view = view,
                        .pruner = pruner,
                        .after = after,
                        .as_of = as_of};

    if (!is_told(&table->config) || !may_have_cleaned(timeline, as_of))
        return HUDI_OK;
    HD_TRY_OUT(list_writes(op, &h));
    HD_TRY_OUT(list_going(op, &h));
    for (size_t i = 0; i < view->n_partitions; i++) {
        bool wanted;

        HD_TRY_OUT(hd_scan_partition_may_match(op, pruner, view->partitions[i], &wanted));
        for (size_t g = view->first_group[i]; wanted && g < view->first_group[i + 1]; g++)
            HD_TRY_OUT(check_group(op, &h, &view->groups[g]));
    }
    for (size_t i = 0; i < h.n_writes; i++)
        HD_TRY_OUT(check_replaced(op, &h, i));
    HD_TRY_OUT(check_last_slices(op, &h));
out:
    clear_history(op, &h);
    return status;
}
