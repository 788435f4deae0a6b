/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/conflict.h"

#include <string.h>

#include "base/map.h"
#include "engine/commit/rollback_steps.h"
#include "format/layout/file_name.h"
#include "format/timeline/archived_timeline.h"
#include "format/timeline/replace_plan.h"

#define NAMED_GROUPS 3 /* in the message */

/* The file groups that ours changes, and those of them that another changes as well. */
struct check {
    const struct hd_conflict_own *own;
    const struct hd_timeline *now;
    struct hd_map ours;
    struct hd_str key; /* scratch */
    struct hd_str named;
    size_t n_same;
};

/* ---- file groups -------------------------------------------------------------------------------
 */

static hudi_status make_key(struct hd_op *op, struct hd_str *key, const char *partition_path,
                            const char *file_id)
{
    key->size = 0;
    return hd_str_printf(op, key, "%s%s%s", partition_path, partition_path[0] == '\0' ? "" : "/",
                         file_id);
}

static hudi_status add_own(struct hd_op *op, struct check *check, const char *partition_path,
                           const char *file_id)
{
    HD_TRY(make_key(op, &check->key, partition_path, file_id));
    return hd_map_put(op, &check->ours, hd_str_slice(&check->key), 0, NULL, NULL);
}

static hudi_status gather_own(struct hd_op *op, struct check *check)
{
    const struct hd_commit_metadata *const metadata = check->own->metadata;

    for (size_t i = 0; i < metadata->n_stats; i++)
        HD_TRY(add_own(op, check, metadata->stats[i].partition_path, metadata->stats[i].file_id));
    for (size_t i = 0; i < metadata->n_replaced; i++)
        for (size_t f = 0; f < metadata->replaced[i].n_file_ids; f++)
            HD_TRY(add_own(op, check, metadata->replaced[i].partition_path,
                           metadata->replaced[i].file_ids[f]));
    return HUDI_OK;
}

/* A group of another's: is it one of ours? A value tells those that were counted. */
static hudi_status compare(struct hd_op *op, struct check *check, const char *partition_path,
                           const char *file_id)
{
    if (partition_path == NULL || file_id == NULL)
        return HUDI_OK;
    HD_TRY(make_key(op, &check->key, partition_path, file_id));
    struct hd_map_entry *const entry = hd_map_find(&check->ours, hd_str_slice(&check->key));
    if (entry == NULL || entry->value != 0)
        return HUDI_OK;
    entry->value = 1;
    if (check->n_same++ < NAMED_GROUPS)
        HD_TRY(hd_str_printf(op, &check->named, "%s%s", check->n_same == 1 ? "" : ", ",
                             hd_str_text(&check->key)));
    return HUDI_OK;
}

static hudi_status conclude(struct hd_op *op, const struct check *check, const char *what,
                            const char *time, const char *state)
{
    if (check->n_same == 0)
        return HUDI_OK;
    return hd_fail_retriable(op,
                             hd_fail(op, HUDI_CONFLICT,
                                     "%s %s, %s since %s began, changes the same file group%s %s%s",
                                     what, time, state, check->own->time,
                                     check->n_same == 1 ? "" : "s:", hd_str_text(&check->named),
                                     check->n_same > NAMED_GROUPS ? " ..." : ""));
}

/* ---- writes that completed ---------------------------------------------------------------------
 */

static const struct hd_instant *find_then(const struct check *check, const struct hd_instant *of)
{
    return hd_timeline_find(check->own->then, of->time, hd_action_completed_as(of->action));
}

/* Was it a compaction that ours knew of? Its log files, if any, lie on what that makes. */
static bool was_planned(const struct hd_instant *before)
{
    return before != NULL && before->state != HD_COMPLETED &&
           before->pending_action == HD_ACTION_COMPACTION;
}

/* A log file that carries the compaction's own time is merged later, with what it makes. */
static bool is_on_plan(const struct check *check, const struct hd_write_stat *stat)
{
    const char *const slash = stat->path == NULL ? NULL : strrchr(stat->path, '/');
    struct hd_file_name name;

    return stat->path != NULL &&
           hd_file_name_parse(slash == NULL ? stat->path : slash + 1, &name) &&
           name.kind == HD_FILE_LOG &&
           hd_slice_equal(name.instant, hd_slice_text(check->own->time));
}

static hudi_status compare_commit(struct hd_op *op, struct check *check,
                                  const struct hd_commit_metadata *metadata)
{
    const bool compacting = check->own->role == HD_CONFLICT_COMPACTION;

    for (size_t i = 0; i < metadata->n_stats; i++)
        if (!compacting || !is_on_plan(check, &metadata->stats[i]))
            HD_TRY(
                compare(op, check, metadata->stats[i].partition_path, metadata->stats[i].file_id));
    for (size_t i = 0; i < metadata->n_replaced && !compacting; i++)
        for (size_t f = 0; f < metadata->replaced[i].n_file_ids; f++)
            HD_TRY(compare(op, check, metadata->replaced[i].partition_path,
                           metadata->replaced[i].file_ids[f]));
    return HUDI_OK;
}

static hudi_status check_completed(struct hd_op *op, struct check *check,
                                   const struct hd_instant *other)
{
    struct hd_commit_metadata metadata;
    const struct hd_instant *const before = find_then(check, other);

    if ((before != NULL && before->state == HD_COMPLETED) ||
        (was_planned(before) && check->own->role != HD_CONFLICT_CLUSTERING))
        return HUDI_OK;
    HD_TRY(hd_timeline_read_commit(op, check->now, other, &metadata));
    const char *const what = metadata.compacted ? "compaction" : hd_action_name(other->action);
    const hudi_status status = compare_commit(op, check, &metadata);
    hd_commit_metadata_clear(&metadata);
    HD_TRY(status);
    return conclude(op, check, what, other->time, "completed");
}

/* ---- plans -------------------------------------------------------------------------------------
 */

static bool is_new(const struct check *check, const char *time, enum hd_action completed_as)
{
    return strcmp(time, check->own->time) != 0 &&
           hd_timeline_find(check->own->then, time, completed_as) == NULL;
}

/* A log compaction leaves what was written to after its plan, and stands in nobody's way. */
static bool is_log_compaction(const struct check *check, const char *time)
{
    const struct hd_instant *const instant =
        hd_timeline_find(check->now, time, HD_ACTION_DELTACOMMIT);

    return instant != NULL && instant->pending_action == HD_ACTION_LOGCOMPACTION;
}

static hudi_status check_plans(struct hd_op *op, struct check *check,
                               const struct hd_pending_file_group *groups, size_t n,
                               const char *what, enum hd_action completed_as)
{
    const char *time = "";

    for (size_t i = 0; i < n; i++) {
        if (!is_new(check, groups[i].instant, completed_as) ||
            is_log_compaction(check, groups[i].instant))
            continue;
        const size_t n_before = check->n_same;
        HD_TRY(compare(op, check, groups[i].partition_path, groups[i].file_id));
        if (n_before == 0 && check->n_same > 0)
            time = groups[i].instant;
    }
    return conclude(op, check, what, time, "planned");
}

static hudi_status check_pending(struct hd_op *op, struct check *check)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_pending_file_group *groups;
    size_t n;

    HD_TRY_OUT(hd_pending_compaction_file_ids(op, check->now, &arena, &groups, &n));
    HD_TRY_OUT(check_plans(op, check, groups, n, "compaction", HD_ACTION_COMMIT));
    HD_TRY_OUT(hd_pending_clustering_file_ids(op, check->now, &arena, &groups, &n));
    HD_TRY_OUT(check_plans(op, check, groups, n, "clustering", HD_ACTION_REPLACECOMMIT));
out:
    hd_arena_clear(&arena);
    return status;
}

/* ---- what ours builds on -----------------------------------------------------------------------
 */

static bool was_completed(const struct check *check, const char *time)
{
    for (size_t i = hd_timeline_lower_bound(check->own->then, time);
         i < check->own->then->n_instants && strcmp(check->own->then->instants[i].time, time) == 0;
         i++)
        if (hd_instant_is_completed_write(&check->own->then->instants[i]))
            return true;
    return false;
}

/* A rollback of a write that was completed when ours began, or of ours. */
static hudi_status check_rollback(struct hd_op *op, const struct check *check,
                                  const struct hd_instant *rollback)
{
    hudi_status status = HUDI_OK;
    struct hd_rollback_plan plan;
    bool readable;

    const struct hd_instant *const before = find_then(check, rollback);
    if ((before != NULL && before->state == HD_COMPLETED) || !rollback->has_requested)
        return HUDI_OK;
    HD_TRY(hd_rollback_read_plan(op, check->now, rollback, &plan, &readable));
    if (!readable)
        return HUDI_OK;
    if (was_completed(check, plan.target_time) || strcmp(plan.target_time, check->own->time) == 0)
        status = hd_fail_retriable(op, hd_fail(op, HUDI_CONFLICT,
                                               "%s was rolled back (%s) since %s began",
                                               plan.target_time, rollback->time, check->own->time));
    hd_rollback_plan_clear(&plan);
    return status;
}

static hudi_status check_restore(struct hd_op *op, const struct check *check,
                                 const struct hd_instant *restore)
{
    const struct hd_instant *const before = find_then(check, restore);

    if (before != NULL && before->state == HD_COMPLETED)
        return HUDI_OK;
    return hd_fail_retriable(op, hd_fail(op, HUDI_CONFLICT,
                                         "the table was restored (%s) since %s began",
                                         restore->time, check->own->time));
}

/* A write that was pending when ours began and is no longer on the timeline was rolled back, or has
 * completed and was archived: then what it did is in the archive. */
static hudi_status check_archived(struct hd_op *op, struct check *check,
                                  const struct hd_table_config *config, const char *first_gone)
{
    struct hd_archived_timeline archive;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_archived_timeline_load(op, check->now->fs, check->now->table_path, config, NULL, NULL,
                                     &archive));
    for (size_t i = 0; i < archive.n_instants && status == HUDI_OK; i++) {
        const struct hd_archived_instant *const other = &archive.instants[i];
        const struct hd_instant *before = NULL;
        enum hd_action action;

        if (strcmp(other->time, first_gone) < 0 || !other->has_commit ||
            other->state != HD_COMPLETED || !hd_action_parse(hd_slice_text(other->action), &action))
            continue;
        before = hd_timeline_find(check->own->then, other->time, action);
        if (before != NULL && (before->state == HD_COMPLETED ||
                               (was_planned(before) && check->own->role != HD_CONFLICT_CLUSTERING)))
            continue;
        status = compare_commit(op, check, &other->commit);
        if (status == HUDI_OK)
            status = conclude(op, check, other->action, other->time, "completed and archived");
    }
    hd_archived_timeline_clear(&archive);
    return status;
}

/* The first write that was pending then and is not on the timeline any more; NULL: none. */
static const char *first_gone(const struct check *check)
{
    const struct hd_timeline *const then = check->own->then;

    for (size_t i = 0; i < then->n_instants; i++) {
        const struct hd_instant *const instant = &then->instants[i];

        if (hd_instant_is_write(instant) && instant->state != HD_COMPLETED &&
            hd_timeline_find(check->now, instant->time, hd_action_completed_as(instant->action)) ==
                NULL)
            return instant->time;
    }
    return NULL;
}

hudi_status hd_check_conflicts(struct hd_op *op, const struct hd_conflict_own *own,
                               const struct hd_table_config *config, const struct hd_timeline *now)
{
    hudi_status status = HUDI_OK;
    struct check check = {.own = own, .now = now};

    HD_TRY_OUT(gather_own(op, &check));
    for (size_t i = 0; i < now->n_instants; i++) {
        const struct hd_instant *const other = &now->instants[i];

        if (other->action == HD_ACTION_ROLLBACK)
            HD_TRY_OUT(check_rollback(op, &check, other));
        else if (other->action == HD_ACTION_RESTORE)
            HD_TRY_OUT(check_restore(op, &check, other));
        else if (hd_instant_is_completed_write(other) && strcmp(other->time, own->time) != 0)
            HD_TRY_OUT(check_completed(op, &check, other));
    }
    HD_TRY_OUT(check_pending(op, &check));
    const char *const gone = first_gone(&check);
    if (gone != NULL)
        HD_TRY_OUT(check_archived(op, &check, config, gone));
out:
    hd_map_clear(&check.ours);
    hd_str_clear(&check.key);
    hd_str_clear(&check.named);
    return status;
}
