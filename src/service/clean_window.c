/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "format/layout/partition.h"
#include "service/clean_planner.h"

#define HOUR_MS UINT64_C(3600000)

/* A savepoint that is being made holds cleaning back for so long; then its maker is dead. */
#define SAVEPOINT_MS HOUR_MS

/* Commits that a clean after a write reads at most. */
#define MAX_WRITES 256

/* ---- the earliest instant to retain -------------------------------------------------------- */

static bool is_savepoint_at_work(struct hd_op *op, const struct hd_instant *instant)
{
    const uint64_t now_ms = hd_now_ms(op);
    const uint64_t made_ms = instant->modified_ms < 0 ? 0 : (uint64_t)instant->modified_ms;

    return instant->action == HD_ACTION_SAVEPOINT && instant->state != HD_COMPLETED &&
           now_ms < made_ms + SAVEPOINT_MS;
}

static const struct hd_instant *first_at_work(struct hd_op *op, const struct hd_timeline *timeline)
{
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if ((hd_instant_is_write(instant) && instant->state != HD_COMPLETED) ||
            is_savepoint_at_work(op, instant))
            return instant;
    }
    return NULL;
}

/* The `n`-th newest completed write, 1 the newest; NULL when there are no more than n. */
static const struct hd_instant *nth_newest(const struct hd_timeline *timeline, int64_t n)
{
    const struct hd_instant *found = NULL;

    for (size_t i = timeline->n_instants; i > 0; i--) {
        const struct hd_instant *const instant = &timeline->instants[i - 1];

        if (!hd_instant_is_completed_write(instant))
            continue;
        if (n == 0)
            return found; /* there is one more */
        if (--n == 0)
            found = instant;
    }
    return NULL;
}

static const struct hd_instant *first_since(const struct hd_timeline *timeline, const char *time)
{
    for (size_t i = hd_timeline_lower_bound(timeline, time); i < timeline->n_instants; i++)
        if (hd_instant_is_completed_write(&timeline->instants[i]))
            return &timeline->instants[i];
    return NULL;
}

static const struct hd_instant *last_before(const struct hd_timeline *timeline, const char *time)
{
    for (size_t i = hd_timeline_lower_bound(timeline, time); i > 0; i--)
        if (hd_instant_is_completed_write(&timeline->instants[i - 1]))
            return &timeline->instants[i - 1];
    return NULL;
}

hudi_status hd_clean_find_earliest(struct hd_op *op, struct hd_clean_planner *planner)
{
    const struct hd_timeline *const timeline = &planner->table->timeline;
    const struct hd_instant *const last = hd_timeline_last_completed_write(timeline);
    const struct hd_instant *const at_work = first_at_work(op, timeline);
    struct hd_clean_plan *const plan = planner->plan;
    const struct hd_instant *earliest = NULL;
    char since[HD_INSTANT_TIME_BYTES];

    planner->has_pending_write = at_work != NULL;
    HD_TRY(hd_arena_strdup(op, &plan->arena, last == NULL ? "" : last->time,
                           (char **)&plan->last_completed));
    if (planner->policy == HD_CLEAN_COMMITS) {
        earliest = nth_newest(timeline, planner->n_retained);
    } else if (planner->policy == HD_CLEAN_HOURS) {
        const uint64_t now_ms = hd_now_ms(op);
        const uint64_t hours_ms = (uint64_t)planner->n_retained > now_ms / HOUR_MS
                                      ? now_ms
                                      : (uint64_t)planner->n_retained * HOUR_MS;

        hd_instant_time_format(now_ms - hours_ms, timeline->utc, since);
        earliest = first_since(timeline, since);
    }
    if (earliest != NULL && at_work != NULL && strcmp(earliest->time, at_work->time) > 0)
        earliest = last_before(timeline, at_work->time);
    if (earliest == NULL)
        return HUDI_OK;
    HD_TRY(hd_arena_strdup(op, &plan->arena, earliest->time, (char **)&plan->earliest_time));
    plan->earliest_action = hd_action_name(earliest->action);
    return HUDI_OK;
}

/* ---- partitions ----------------------------------------------------------------------------- */

hudi_status hd_clean_last(struct hd_op *op, const struct hd_timeline *timeline,
                          struct hd_clean_metadata *out)
{
    *out = (struct hd_clean_metadata){0};
    for (size_t i = timeline->n_instants; i > 0; i--) {
        const struct hd_instant *const instant = &timeline->instants[i - 1];
        uint8_t *bytes;
        size_t n;

        if (instant->action != HD_ACTION_CLEAN || instant->state != HD_COMPLETED)
            continue;
        HD_TRY(hd_timeline_read(op, timeline, instant, HD_COMPLETED, &bytes, &n));
        const hudi_status status = hd_clean_metadata_decode(op, hd_slice_of(bytes, n), out);
        hd_free(op, bytes);
        return status == HUDI_OK
                   ? HUDI_OK
                   : hd_timeline_fail_path(op, status, timeline, instant, HD_COMPLETED);
    }
    return HUDI_NOT_FOUND;
}

/*
 * What one write left to clean: partitions where it made new versions of file groups, or took
 * groups out. Where log files are written a first base file follows on log files without saying so.
 */
static hudi_status add_write(struct hd_op *op, const struct hd_clean_planner *planner,
                             const struct hd_instant *instant, struct hd_map *out)
{
    const bool all = planner->table->config.type == HD_MERGE_ON_READ;
    struct hd_commit_metadata metadata;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_timeline_read_commit(op, &planner->table->timeline, instant, &metadata));
    for (size_t i = 0; i < metadata.n_stats && status == HUDI_OK; i++) {
        const struct hd_write_stat *const stat = &metadata.stats[i];

        if (all || stat->prev_commit == NULL || strcmp(stat->prev_commit, "null") != 0)
            status = hd_map_put(op, out, hd_slice_text(stat->partition_path), 0, NULL, NULL);
    }
    for (size_t i = 0; i < metadata.n_replaced && status == HUDI_OK; i++)
        status =
            hd_map_put(op, out, hd_slice_text(metadata.replaced[i].partition_path), 0, NULL, NULL);
    hd_commit_metadata_clear(&metadata);
    return status;
}

/* Where the window begins: after a write no further back than MAX_WRITES, since those before were
 * looked at after writes before. */
static size_t window_start(const struct hd_clean_planner *planner, const char *from)
{
    const struct hd_timeline *const timeline = &planner->table->timeline;
    size_t i = hd_timeline_lower_bound(timeline, planner->plan->earliest_time);
    const size_t first = from == NULL ? 0 : hd_timeline_lower_bound(timeline, from);

    if (!planner->automatic)
        return first;
    for (size_t n = 0; i > first && n < MAX_WRITES; i--)
        n += hd_instant_is_completed_write(&timeline->instants[i - 1]);
    return i > first ? i : first;
}

/* Writes from `from` on (NULL: all of the timeline), before the earliest instant to retain. */
static hudi_status add_window(struct hd_op *op, const struct hd_clean_planner *planner,
                              const char *from, struct hd_map *out)
{
    const struct hd_timeline *const timeline = &planner->table->timeline;

    for (size_t i = window_start(planner, from); i < timeline->n_instants; i++) {
        if (strcmp(timeline->instants[i].time, planner->plan->earliest_time) >= 0)
            break;
        if (hd_instant_is_completed_write(&timeline->instants[i]))
            HD_TRY(add_write(op, planner, &timeline->instants[i], out));
    }
    return HUDI_OK;
}

static bool is_savepointed(const struct hd_timeline *timeline, const char *time)
{
    const struct hd_instant *const savepoint =
        hd_timeline_find(timeline, time, HD_ACTION_SAVEPOINT);

    return savepoint != NULL && savepoint->state == HD_COMPLETED;
}

/* Savepoints that were there then and are gone now held files back. `*all` is set when one's write
 * is archived: nothing says any more which partitions it is about. */
static hudi_status add_dropped_savepoints(struct hd_op *op, const struct hd_clean_planner *planner,
                                          const struct hd_clean_metadata *last, struct hd_map *out,
                                          bool *all)
{
    const struct hd_timeline *const timeline = &planner->table->timeline;
    const char *list = last->savepoints == NULL ? "" : last->savepoints;

    while (*list != '\0') {
        const size_t n = strcspn(list, ",");
        char time[HD_INSTANT_TIME_BYTES] = "";

        if (n > 0 && n < sizeof time) {
            memcpy(time, list, n);
            const struct hd_instant *const write = first_since(timeline, time);

            if (is_savepointed(timeline, time))
                ;
            else if (write == NULL || strcmp(write->time, time) != 0)
                *all = true;
            else
                HD_TRY(add_write(op, planner, write, out));
        }
        list += n + (list[n] == ',');
    }
    return HUDI_OK;
}

/* Files that could not be deleted then. */
static hudi_status add_failures(struct hd_op *op, const struct hd_clean_metadata *last,
                                struct hd_map *out)
{
    for (size_t i = 0; i < last->n_partitions; i++) {
        const struct hd_cleaned_partition *const partition = &last->partitions[i];
        bool failed = false;

        for (size_t j = 0; j < partition->n_files; j++)
            failed = failed || !partition->deleted[j];
        if (failed)
            HD_TRY(hd_map_put(op, out, hd_slice_text(partition->partition_path), 0, NULL, NULL));
    }
    return HUDI_OK;
}

/* Only what has changed since the last clean; `*all` is set when that cannot be told. */
static hudi_status changed_partitions(struct hd_op *op, const struct hd_clean_planner *planner,
                                      struct hd_map *out, bool *all)
{
    const struct hd_timeline *const timeline = &planner->table->timeline;
    struct hd_clean_metadata last;
    hudi_status status = hd_clean_last(op, timeline, &last);

    *all = false;
    if (status == HUDI_NOT_FOUND) {
        *all = !planner->automatic;
        return *all ? HUDI_OK : add_window(op, planner, NULL, out);
    }
    HD_TRY(status);
    const bool has_window =
        last.earliest_time[0] != '\0' &&
        (timeline->start == NULL || strcmp(last.earliest_time, timeline->start) >= 0);
    if (has_window || planner->automatic)
        status = add_window(op, planner, has_window ? last.earliest_time : NULL, out);
    else
        *all = true;
    if (status == HUDI_OK && !*all)
        status = add_dropped_savepoints(op, planner, &last, out, all);
    *all = *all && !planner->automatic;
    if (status == HUDI_OK && !*all)
        status = add_failures(op, &last, out);
    hd_clean_metadata_clear(&last);
    return status;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static hudi_status list_all(struct hd_op *op, struct hd_clean_planner *planner, const char ***out,
                            size_t *n)
{
    const struct hd_table_snapshot *const table = planner->table;

    return hd_partitions_list(op, table->fs, table->path, &table->config, &planner->arena, out, n);
}

hudi_status hd_clean_find_partitions(struct hd_op *op, struct hd_clean_planner *planner,
                                     const char ***out, size_t *n)
{
    struct hd_map changed = {0};
    bool all = true;

    *out = NULL;
    *n = 0;
    if (planner->policy == HD_CLEAN_VERSIONS)
        return list_all(op, planner, out, n);
    if (planner->plan->earliest_time == NULL)
        return HUDI_OK;
    hudi_status status = HUDI_OK;
    if (planner->incremental)
        status = changed_partitions(op, planner, &changed, &all);
    if (status == HUDI_OK && all)
        status = list_all(op, planner, out, n);
    else if (status == HUDI_OK)
        status = hd_arena_array(op, &planner->arena, changed.n_entries, sizeof **out, out);
    for (size_t i = 0; i < changed.n_entries && status == HUDI_OK && !all; i++) {
        status = hd_arena_strdup(op, &planner->arena, (const char *)changed.entries[i].key.data,
                                 (char **)&(*out)[i]);
        *n = i + 1;
    }
    hd_map_clear(&changed);
    if (status == HUDI_OK && !all && *n > 0)
        qsort(*out, *n, sizeof **out, compare_texts);
    return status;
}
