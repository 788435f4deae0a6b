/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "engine/scan/scan_internal.h"
#include "format/table/table_schema.h"
#include "format/timeline/archived_timeline.h"

/*
 * Which commits an incremental query asks for. Below version 8 those with an instant in
 * (begin, end], which is what rows carry. From version 8 on those that completed in it: their
 * instants, in runs without another commit between, become the condition on _hoodie_commit_time.
 */

const char *hd_scan_completion(const struct hd_instant *instant)
{
    return instant->completion_time != NULL ? instant->completion_time : instant->time;
}

bool hd_scan_is_in_range(const hd_scan_plan *plan, const char *time, const char *completion)
{
    if (completion != NULL)
        time = completion;
    return strcmp(time, plan->begin) > 0 && (plan->end == NULL || strcmp(time, plan->end) <= 0);
}

/* ---- completed writes ----------------------------------------------------------------------- */

/* A completed write of the active or the archived timeline. */
struct write {
    const char *time, *completion;
    bool is_archived;
};

struct writes {
    struct hd_archived_timeline archive;
    struct write *all; /* ascending by time; texts of the timeline, or the archive's */
    size_t n;
};

static bool is_archived_write(const struct hd_archived_instant *instant)
{
    enum hd_action action;

    return instant->state == HD_COMPLETED &&
           hd_action_parse(hd_slice_text(instant->action), &action) &&
           (action == HD_ACTION_COMMIT || action == HD_ACTION_DELTACOMMIT ||
            action == HD_ACTION_REPLACECOMMIT);
}

static void add_write(struct writes *writes, const char *time, const char *completion,
                      bool is_archived)
{
    writes->all[writes->n++] =
        (struct write){time, completion == NULL ? time : completion, is_archived};
}

static int by_time(const void *a, const void *b)
{
    const struct write *const x = a, *const y = b;
    const int order = strcmp(x->time, y->time);

    return order != 0 ? order : (int)x->is_archived - (int)y->is_archived;
}

/* In order, whatever savepoints held back when others were archived; one that a crash left in both
 * timelines comes once. */
static void sort_writes(struct writes *writes)
{
    size_t n = 0;

    if (writes->n > 0)
        qsort(writes->all, writes->n, sizeof *writes->all, by_time);
    for (size_t i = 0; i < writes->n; i++) {
        if (n == 0 || strcmp(writes->all[n - 1].time, writes->all[i].time) != 0)
            writes->all[n++] = writes->all[i];
    }
    writes->n = n;
}

/* `with_archive`: those that were archived, too. */
static hudi_status list_writes(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_timeline *timeline, bool with_archive,
                               struct writes *out)
{
    if (with_archive) /* nothing of what they did */
        HD_TRY(hd_archived_timeline_load(op, table->fs, table->path, &table->config, NULL, "",
                                         &out->archive));
    HD_TRY(hd_alloc_array(op, out->archive.n_instants + timeline->n_instants, sizeof *out->all,
                          &out->all));
    for (size_t i = 0; i < out->archive.n_instants; i++) {
        const struct hd_archived_instant *const instant = &out->archive.instants[i];

        if (is_archived_write(instant))
            add_write(out, instant->time, instant->completion_time, true);
    }
    for (size_t i = 0; i < timeline->n_instants; i++) {
        if (hd_instant_is_completed_write(&timeline->instants[i]))
            add_write(out, timeline->instants[i].time, hd_scan_completion(&timeline->instants[i]),
                      false);
    }
    sort_writes(out);
    return HUDI_OK;
}

static void clear_writes(struct hd_op *op, struct writes *writes)
{
    hd_free(op, writes->all);
    hd_archived_timeline_clear(&writes->archive);
}

/* ---- the end of a range --------------------------------------------------------------------- */

/* What completed later has not happened. */
static void forget_later(struct hd_timeline *timeline, const char *end)
{
    for (size_t i = 0; i < timeline->n_instants; i++) {
        struct hd_instant *const instant = &timeline->instants[i];

        if (hd_instant_is_completed_write(instant) && strcmp(hd_scan_completion(instant), end) > 0)
            instant->state = HD_INFLIGHT;
    }
}

/* The newest write that had completed by the end. One that was archived cannot be taken back from
 * what is seen, so it must not have begun before that one. */
static hudi_status find_until(struct hd_op *op, const struct writes *writes, hd_scan_plan *plan)
{
    const struct hd_archived_timeline *const archive = &writes->archive;
    const char *until = "0";

    for (size_t i = 0; i < writes->n; i++) {
        if (strcmp(writes->all[i].completion, plan->end) <= 0)
            until = writes->all[i].time;
    }
    for (size_t i = 0; i < archive->n_instants; i++) {
        const struct hd_archived_instant *const instant = &archive->instants[i];

        if (is_archived_write(instant) && instant->completion_time != NULL &&
            strcmp(instant->time, until) < 0 && strcmp(instant->completion_time, plan->end) > 0)
            return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                           "commit %s, which was archived, completed at %s: a range cannot end "
                           "between these two",
                           instant->time, instant->completion_time);
    }
    return hd_arena_strdup(op, &plan->arena, until, (char **)&plan->until);
}

/* ---- the condition -------------------------------------------------------------------------- */

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

/* `is_open`: the archived commits are in the range, and not in the list. */
static hudi_status make_condition(struct hd_op *op, const struct hd_timeline *timeline,
                                  const struct writes *writes, bool is_open, hd_scan_plan *plan,
                                  struct hd_str *text)
{
    const char *first = NULL, *last = NULL, *since = "0";
    bool in_run = is_open && timeline->start != NULL, any = in_run;

    if (in_run)
        last = timeline->start; /* nothing that is archived is later */
    for (size_t i = 0; i < writes->n; i++) {
        const struct write *const write = &writes->all[i];

        if (hd_scan_is_in_range(plan, write->time, write->completion)) {
            if (!in_run)
                first = write->time;
            if (!any && i > 0)
                since = writes->all[i - 1].time;
            last = write->time;
            in_run = any = true;
        } else {
            if (in_run)
                HD_TRY(add_run(op, text, first, last));
            in_run = false;
        }
    }
    if (in_run)
        HD_TRY(add_run(op, text, first, last));
    HD_TRY(hd_arena_strdup(op, &plan->arena, since, (char **)&plan->since));
    return any ? HUDI_OK : hd_str_printf(op, text, "\"%s\" < ''", HD_META_COMMIT_TIME);
}

/* Before the active timeline nothing tells which log files there were, and which of them the
 * cleaner took: write stats from version 8 on do not say what they were put behind. */
static hudi_status check_as_of(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_timeline *timeline, const char *as_of)
{
    hudi_status status = HUDI_OK;
    struct hd_archived_timeline archive = {0};

    if (as_of == NULL || table->config.version->timeline_layout < 2 || timeline->start == NULL ||
        strcmp(as_of, timeline->start) >= 0 || table->config.type == HD_COPY_ON_WRITE)
        return HUDI_OK;
    HD_TRY_OUT(
        hd_archived_timeline_load(op, table->fs, table->path, &table->config, NULL, "", &archive));
    if (archive.n_instants > 0)
        status = hd_fail(op, HUDI_NOT_IMPLEMENTED,
                         "%s is before the active timeline, which begins at %s: what was cleaned "
                         "of a merge-on-read table of version %d since then is not known",
                         as_of, timeline->start, table->config.version->number);
out:
    hd_archived_timeline_clear(&archive);
    return status;
}

static hudi_status range_of_completions(struct hd_op *op, const struct hd_table_snapshot *table,
                                        struct hd_timeline *timeline, hd_scan_plan *plan)
{
    hudi_status status = HUDI_OK;
    const bool is_open = strcmp(plan->begin, "0") == 0 && plan->end == NULL;
    struct writes writes = {0};
    struct hd_str text = {0};
    char *copy = NULL;

    /* What was archived may have completed later than what was not. */
    HD_TRY_OUT(list_writes(op, table, timeline, timeline->start != NULL && !is_open, &writes));
    if (plan->end != NULL) {
        HD_TRY_OUT(find_until(op, &writes, plan));
        if (strcmp(plan->until, "0") != 0)
            HD_TRY_OUT(check_as_of(op, table, timeline, plan->until));
    }
    HD_TRY_OUT(make_condition(op, timeline, &writes, is_open, plan, &text));
    HD_TRY_OUT(hd_arena_strndup(op, &plan->arena, text.data, text.size, &copy));
    plan->range = copy;
    if (plan->end != NULL && strcmp(plan->until, "0") != 0) /* else there would be no schema */
        forget_later(timeline, plan->end);
out:
    clear_writes(op, &writes);
    hd_str_clear(&text);
    return status;
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
