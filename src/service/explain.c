/* SPDX-License-Identifier: Apache-2.0 */
#include "service/explain.h"

#include "format/timeline/clean_plan.h"
#include "format/timeline/compaction_plan.h"
#include "format/timeline/replace_plan.h"
#include "format/timeline/restore_plan.h"
#include "format/timeline/rollback_plan.h"
#include "format/timeline/savepoint_metadata.h"

static hudi_status keep_text(struct hd_op *op, struct hd_arena *arena, const char *text,
                             const char **out)
{
    if (text == NULL || text[0] == '\0')
        return HUDI_OK;
    return hd_arena_strdup(op, arena, text, (char **)out);
}

static hudi_status keep(struct hd_op *op, struct hd_arena *arena, const char *text,
                        struct hd_instant_report *out)
{
    return keep_text(op, arena, text, &out->about);
}

static hudi_status explain_clean(struct hd_op *op, struct hd_slice bytes, bool completed,
                                 struct hd_arena *arena, struct hd_instant_report *out)
{
    struct hd_clean_metadata done;
    struct hd_clean_plan plan;
    hudi_status status;

    if (!completed) {
        HD_TRY(hd_clean_plan_decode(op, bytes, &plan));
        for (size_t i = 0; i < plan.n_partitions; i++)
            out->n_files += (int64_t)plan.partitions[i].n_files;
        status = keep(op, arena, plan.earliest_time, out);
        hd_clean_plan_clear(&plan);
        return status;
    }
    HD_TRY(hd_clean_metadata_decode(op, bytes, &done));
    out->n_files = done.n_deleted;
    for (size_t i = 0; i < done.n_partitions; i++)
        for (size_t j = 0; j < done.partitions[i].n_files; j++)
            out->n_failed += !done.partitions[i].deleted[j];
    status = keep(op, arena, done.earliest_time, out);
    hd_clean_metadata_clear(&done);
    return status;
}

static hudi_status explain_rollback(struct hd_op *op, struct hd_slice bytes, bool completed,
                                    struct hd_arena *arena, struct hd_instant_report *out)
{
    struct hd_rollback_plan plan;

    HD_TRY(completed ? hd_rollback_metadata_decode(op, bytes, &plan)
                     : hd_rollback_plan_decode(op, bytes, &plan));
    for (size_t i = 0; i < plan.n_requests; i++)
        out->n_files += (int64_t)plan.requests[i].n_files;
    const hudi_status status = keep(op, arena, plan.target_time, out);
    hd_rollback_plan_clear(&plan);
    return status;
}

static hudi_status explain_restore(struct hd_op *op, struct hd_slice bytes, struct hd_arena *arena,
                                   struct hd_instant_report *out)
{
    struct hd_restore_plan plan;

    HD_TRY(hd_restore_plan_decode(op, bytes, &plan));
    out->n_instants = (int64_t)plan.n_steps;
    const hudi_status status = keep(op, arena, plan.target, out);
    hd_restore_plan_clear(&plan);
    return status;
}

static hudi_status explain_savepoint(struct hd_op *op, struct hd_slice bytes,
                                     struct hd_arena *arena, struct hd_instant_report *out)
{
    struct hd_savepoint_metadata metadata;

    HD_TRY(hd_savepoint_metadata_decode(op, bytes, &metadata));
    for (size_t i = 0; i < metadata.n_partitions; i++)
        out->n_files += (int64_t)metadata.partitions[i].n_files;
    hudi_status status = keep(op, arena, metadata.comments, out);
    if (status == HUDI_OK)
        status = keep_text(op, arena, metadata.user, &out->by);
    hd_savepoint_metadata_clear(&metadata);
    return status;
}

static hudi_status explain_pending(struct hd_op *op, enum hd_action action, struct hd_slice bytes,
                                   struct hd_instant_report *out)
{
    struct hd_compaction_plan compaction;
    struct hd_replace_plan replace;

    if (action == HD_ACTION_COMPACTION || action == HD_ACTION_LOGCOMPACTION) {
        HD_TRY(hd_compaction_plan_parse(op, bytes, &compaction));
        out->n_file_groups = (int64_t)compaction.n_operations;
        hd_compaction_plan_clear(&compaction);
    } else {
        HD_TRY(hd_replace_plan_parse(op, bytes, &replace));
        out->n_file_groups = (int64_t)replace.n_slices;
        hd_replace_plan_clear(&replace);
    }
    return HUDI_OK;
}

/* Which state's file tells it; HD_COMPLETED + 1 for those that say nothing. */
static int telling_state(const struct hd_instant *instant)
{
    const bool completed = instant->state == HD_COMPLETED;

    switch (instant->pending_action) {
    case HD_ACTION_RESTORE: /* the plan says what the result does not: where to */
        return instant->has_requested ? HD_REQUESTED : HD_COMPLETED + 1;
    case HD_ACTION_CLEAN:
    case HD_ACTION_ROLLBACK:
        return completed ? HD_COMPLETED
                         : (instant->has_requested ? HD_REQUESTED : HD_COMPLETED + 1);
    case HD_ACTION_SAVEPOINT:
        return completed ? HD_COMPLETED : HD_COMPLETED + 1;
    case HD_ACTION_COMPACTION:
    case HD_ACTION_LOGCOMPACTION:
    case HD_ACTION_CLUSTERING:
    case HD_ACTION_REPLACECOMMIT:
        return !completed && instant->has_requested ? HD_REQUESTED : HD_COMPLETED + 1;
    default:
        return HD_COMPLETED + 1;
    }
}

static hudi_status explain_content(struct hd_op *op, const struct hd_instant *instant,
                                   struct hd_slice bytes, struct hd_arena *arena,
                                   struct hd_instant_report *out)
{
    const bool completed = instant->state == HD_COMPLETED;

    switch (instant->pending_action) {
    case HD_ACTION_CLEAN:
        return explain_clean(op, bytes, completed, arena, out);
    case HD_ACTION_ROLLBACK:
        return explain_rollback(op, bytes, completed, arena, out);
    case HD_ACTION_RESTORE:
        return explain_restore(op, bytes, arena, out);
    case HD_ACTION_SAVEPOINT:
        return explain_savepoint(op, bytes, arena, out);
    default:
        return explain_pending(op, instant->pending_action, bytes, out);
    }
}

/* Savepoints have no requested file and carry another instant's time. */
static hudi_status find_duration(struct hd_op *op, const struct hd_timeline *timeline,
                                 const struct hd_instant *instant, struct hd_instant_report *out)
{
    struct hd_file_info info;
    char *path;

    out->duration_ms = -1;
    if (instant->state != HD_COMPLETED || !instant->has_requested)
        return HUDI_OK;
    HD_TRY(hd_timeline_path(op, timeline, instant, HD_REQUESTED, &path));
    const hudi_status status = hd_fs_stat(op, timeline->fs, path, &info);
    hd_free(op, path);
    if (status == HUDI_OK && info.modified_ms <= instant->modified_ms)
        out->duration_ms = instant->modified_ms - info.modified_ms;
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

hudi_status hd_instant_explain(struct hd_op *op, const struct hd_timeline *timeline,
                               const struct hd_instant *instant, struct hd_arena *arena,
                               struct hd_instant_report *out)
{
    const int state = telling_state(instant);
    uint8_t *bytes;
    size_t n;

    *out = (struct hd_instant_report){0};
    HD_TRY(find_duration(op, timeline, instant, out));
    if (state > HD_COMPLETED)
        return HUDI_OK;
    hudi_status status =
        hd_timeline_read(op, timeline, instant, (enum hd_instant_state)state, &bytes, &n);
    if (status == HUDI_NOT_FOUND) { /* archived or rolled back by now */
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    HD_TRY(status);
    status = explain_content(op, instant, hd_slice_of(bytes, n), arena, out);
    hd_free(op, bytes);
    return status == HUDI_OK
               ? HUDI_OK
               : hd_timeline_fail_path(op, status, timeline, instant, (enum hd_instant_state)state);
}
