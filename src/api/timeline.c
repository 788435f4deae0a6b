/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "service/explain.h"

size_t hudi_timeline_length(const hudi_timeline *timeline)
{
    return timeline->n_instants;
}

const hudi_instant *hudi_timeline_at(const hudi_timeline *timeline, size_t i)
{
    return i < timeline->n_instants ? &timeline->instants[i] : NULL;
}

const char *hudi_instant_time(const hudi_instant *instant)
{
    return instant->time;
}

const char *hudi_instant_action(const hudi_instant *instant)
{
    return instant->action;
}

const char *hudi_instant_state(const hudi_instant *instant)
{
    return instant->state;
}

hudi_status hudi_table_archived_timeline(const hudi_table *table, hudi_timeline **out,
                                         hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_timeline *timeline = NULL;
    const struct hd_table_snapshot *snapshot = &table->snapshot;

    *out = NULL;
    hd_call_begin(&op, table->context, NULL);
    HD_TRY_OUT(hd_alloc(&op, sizeof *timeline, &timeline));
    HD_TRY_OUT(hd_archived_timeline_load(&op, snapshot->fs, snapshot->path, &snapshot->config, NULL,
                                         NULL, &timeline->archive));
    HD_TRY_OUT(hd_alloc_array(&op, timeline->archive.n_instants, sizeof *timeline->instants,
                              &timeline->instants));
    timeline->n_instants = timeline->archive.n_instants;
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_archived_instant *instant = &timeline->archive.instants[i];
        timeline->instants[i] =
            (struct hudi_instant){.time = instant->time,
                                  .action = instant->action,
                                  .state = hd_instant_state_name(instant->state),
                                  .archived = instant};
    }
    *out = timeline;
    timeline = NULL;
out:
    hudi_timeline_free(timeline);
    return hd_call_end(&op, status, err);
}

void hudi_timeline_free(hudi_timeline *timeline)
{
    if (timeline == NULL)
        return;
    hd_free(NULL, timeline->instants);
    hd_archived_timeline_clear(&timeline->archive);
    hd_arena_clear(&timeline->summaries);
    hd_free(NULL, timeline);
}

static hudi_status summarize(struct hd_op *op, struct hd_arena *strings,
                             const struct hd_commit_metadata *metadata, hudi_commit_summary *out)
{
    if (metadata->operation_type != NULL)
        HD_TRY(hd_arena_strdup(op, strings, metadata->operation_type, (char **)&out->operation));
    out->n_files = (int64_t)metadata->n_stats;
    for (size_t i = 0; i < metadata->n_stats; i++) {
        const struct hd_write_stat *stat = &metadata->stats[i];
        out->n_inserts += stat->num_inserts;
        out->n_updates += stat->num_update_writes;
        out->n_deletes += stat->num_deletes;
        out->n_written_rows += stat->num_writes;
        out->n_written_bytes += stat->total_write_bytes;
    }
    for (size_t i = 0; i < metadata->n_replaced; i++)
        out->n_replaced_groups += (int64_t)metadata->replaced[i].n_file_ids;
    return HUDI_OK;
}

hudi_status hudi_instant_summary(const hudi_table *table, const hudi_instant *instant,
                                 hudi_commit_summary *out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_ARG(instant), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    struct hd_commit_metadata metadata = {0};
    /* The strings live as long as the table; it is not changed otherwise. */
    struct hd_arena *strings = (struct hd_arena *)&table->timeline.summaries;

    *out = (hudi_commit_summary){0};
    hd_call_begin(&op, table->context, NULL);
    if (instant->archived != NULL) {
        if (instant->archived->has_commit)
            HD_TRY_OUT(summarize(&op, strings, &instant->archived->commit, out));
    } else if (hd_instant_is_completed_write(instant->active)) {
        HD_TRY_OUT(
            hd_timeline_read_commit(&op, &table->snapshot.timeline, instant->active, &metadata));
        HD_TRY_OUT(summarize(&op, strings, &metadata, out));
    }
out:
    hd_commit_metadata_clear(&metadata);
    return hd_call_end(&op, status, err);
}

hudi_status hudi_instant_explain(const hudi_table *table, const hudi_instant *instant,
                                 hudi_instant_details *out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_ARG(instant), HD_OUT(out)));
    hudi_status status = HUDI_OK;
    struct hd_op op;
    struct hd_instant_report report = {.duration_ms = -1};
    /* The strings live as long as the table; it is not changed otherwise. */
    struct hd_arena *strings = (struct hd_arena *)&table->timeline.summaries;

    hd_call_begin(&op, table->context, NULL);
    if (instant->active != NULL)
        status =
            hd_instant_explain(&op, &table->snapshot.timeline, instant->active, strings, &report);
    *out = (hudi_instant_details){.duration_ms = report.duration_ms,
                                  .about = report.about,
                                  .n_files = report.n_files,
                                  .n_failed = report.n_failed,
                                  .n_instants = report.n_instants,
                                  .n_file_groups = report.n_file_groups,
                                  .by = report.by};
    return hd_call_end(&op, status, err);
}
