/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "engine/scan/scan_internal.h"
#include "format/table/table_schema.h"
#include "format/timeline/archived_timeline.h"

/*
 * Which commits an incremental query asks for. Below version 8 those with an instant in
 * (begin, end], which is what rows carry. From version 8 on those that completed in it: their
 * instants, in runs without another commit between, become the condition on _hoodie_commit_time.
 */

#define MANIFEST "manifest_"

static const char *completion_of(const struct hd_instant *instant)
{
    return instant->completion_time != NULL ? instant->completion_time : instant->time;
}

/* Is there an archive? Completion times of what is in it are not read yet. */
static hudi_status has_archive(struct hd_op *op, const struct hd_table_snapshot *table, bool *out)
{
    struct hd_arena arena = {0};
    struct hd_file_info *infos;
    char *folder;
    size_t n = 0;

    *out = false;
    HD_TRY(hd_archive_folder(op, table->path, &table->config, &folder));
    hudi_status status = hd_fs_list(op, table->fs, folder, &arena, &infos, &n);
    if (status == HUDI_NOT_FOUND) {
        status = HUDI_OK;
        n = 0;
    }
    for (size_t i = 0; status == HUDI_OK && i < n; i++)
        *out = *out || strncmp(infos[i].name, MANIFEST, strlen(MANIFEST)) == 0;
    hd_arena_clear(&arena);
    hd_free(op, folder);
    return status;
}

static hudi_status check_archive(struct hd_op *op, const struct hd_table_snapshot *table,
                                 const char *time)
{
    bool archived;

    HD_TRY(has_archive(op, table, &archived));
    if (!archived)
        return HUDI_OK;
    return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                   "the range of the query reaches to %s, into the archived timeline of a table of "
                   "version %d, whose completion times are not read yet",
                   time, table->config.version->number);
}

/* What completed later has not happened. */
static void forget_later(struct hd_timeline *timeline, const char *end)
{
    for (size_t i = 0; i < timeline->n_instants; i++) {
        struct hd_instant *const instant = &timeline->instants[i];

        if (hd_instant_is_completed_write(instant) && strcmp(completion_of(instant), end) > 0)
            instant->state = HD_INFLIGHT;
    }
}

/* A run of instants: [first, last], `first` NULL: whatever is before `last`. */
static hudi_status add_run(struct hd_op *op, struct hd_str *text, const char *first,
                           const char *last)
{
    if (text->size > 0)
        HD_TRY(hd_str_append_text(op, text, " OR "));
    if (first == NULL)
        return hd_str_printf(op, text, "\"%s\" <= '%s'", HD_META_COMMIT_TIME, last);
    return hd_str_printf(op, text, "(\"%s\" >= '%s' AND \"%s\" <= '%s')", HD_META_COMMIT_TIME,
                         first, HD_META_COMMIT_TIME, last);
}

/* `is_open`: the archived commits are in the range. */
static hudi_status make_condition(struct hd_op *op, const struct hd_timeline *timeline,
                                  bool is_open, hd_scan_plan *plan, struct hd_str *text)
{
    const char *first = NULL, *last = NULL, *before = NULL;
    bool in_run = is_open && timeline->start != NULL, any = in_run;

    if (in_run)
        last = timeline->start; /* nothing that is archived is later */
    plan->since = "0";
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (!hd_instant_is_completed_write(instant))
            continue;
        if (strcmp(completion_of(instant), plan->begin) > 0) {
            if (!in_run)
                first = instant->time;
            if (!any && before != NULL)
                plan->since = before;
            last = instant->time;
            in_run = any = true;
        } else {
            if (in_run)
                HD_TRY(add_run(op, text, first, last));
            in_run = false;
            before = instant->time;
        }
    }
    if (in_run)
        HD_TRY(add_run(op, text, first, last));
    return any ? HUDI_OK : hd_str_printf(op, text, "\"%s\" < ''", HD_META_COMMIT_TIME);
}

static hudi_status range_of_completions(struct hd_op *op, const struct hd_table_snapshot *table,
                                        struct hd_timeline *timeline, hd_scan_plan *plan)
{
    const bool from_start = strcmp(plan->begin, "0") == 0;
    struct hd_str text = {0};
    char *copy = NULL;

    if (timeline->start != NULL && !from_start && strcmp(plan->begin, timeline->start) < 0)
        HD_TRY(check_archive(op, table, plan->begin));
    if (plan->end != NULL) {
        forget_later(timeline, plan->end);
        const struct hd_instant *const newest = hd_timeline_last_completed_write(timeline);

        if (newest == NULL)
            HD_TRY(check_archive(op, table, plan->end));
        plan->until = newest == NULL ? "0" : newest->time;
    }
    hudi_status status = make_condition(op, timeline, from_start, plan, &text);
    if (status == HUDI_OK)
        status = hd_arena_strndup(op, &plan->arena, text.data, text.size, &copy);
    plan->range = copy;
    hd_str_clear(&text);
    return status;
}

/* Before the active timeline nothing tells which files there were, and which of them the cleaner
 * took. */
static hudi_status check_as_of(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_timeline *timeline, const char *as_of)
{
    bool archived;

    if (as_of == NULL || table->config.version->timeline_layout < 2 || timeline->start == NULL ||
        strcmp(as_of, timeline->start) >= 0)
        return HUDI_OK;
    HD_TRY(has_archive(op, table, &archived));
    if (!archived)
        return HUDI_OK;
    return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                   "%s is before the active timeline, which begins at %s; the archived one of a "
                   "table of version %d is not read yet",
                   as_of, timeline->start, table->config.version->number);
}

hudi_status hd_scan_find_range(struct hd_op *op, const struct hd_table_snapshot *table,
                               struct hd_timeline *timeline, hd_scan_plan *plan)
{
    if (plan->type != HD_QUERY_INCREMENTAL) {
        plan->until = plan->as_of;
        return check_as_of(op, table, timeline, plan->as_of);
    }
    if (table->config.version->timeline_layout >= 2)
        return range_of_completions(op, table, timeline, plan);
    plan->since = plan->begin;
    plan->until = plan->end;
    return HUDI_OK;
}

hudi_status hd_scan_filter_range(struct hd_op *op, hd_scan_plan *plan)
{
    hudi_status status = HUDI_OK;
    struct hd_str text = {0};

    if (plan->range != NULL)
        return hd_predicate_and(op, plan->predicate, hd_slice_text(plan->range));
    HD_TRY_OUT(hd_str_printf(op, &text, "\"%s\" > '%s'", HD_META_COMMIT_TIME, plan->begin));
    if (plan->end != NULL)
        HD_TRY_OUT(hd_str_printf(op, &text, " AND \"%s\" <= '%s'", HD_META_COMMIT_TIME, plan->end));
    HD_TRY_OUT(hd_predicate_and(op, plan->predicate, hd_str_slice(&text)));
out:
    hd_str_clear(&text);
    return status;
}
