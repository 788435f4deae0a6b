/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "service/compaction.h"

struct hudi_compaction {
    struct hd_compact_report report;
};

hudi_status hudi_compact(hudi_table *table, hudi_compact_step step, const char *instant_time,
                         hudi_cancel *cancel, hudi_compaction **out, hudi_error **err)
{
    static const enum hd_compact_step STEPS[] = {
        [HUDI_COMPACT_PLAN_AND_RUN] = HD_COMPACT_PLAN_AND_RUN,
        [HUDI_COMPACT_SCHEDULE] = HD_COMPACT_SCHEDULE,
        [HUDI_COMPACT_RUN] = HD_COMPACT_RUN,
        [HUDI_COMPACT_DRY_RUN] = HD_COMPACT_DRY_RUN,
        [HUDI_COMPACT_PENDING] = HD_COMPACT_PENDING,
    };
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_compaction *compaction = NULL;

    if (out != NULL)
        *out = NULL;
    hd_call_begin(&op, table->context, cancel);
    if ((unsigned)step >= HD_ARRAY_LENGTH(STEPS))
        HD_TRY_OUT(hd_fail(&op, HUDI_INVALID, "there is no step %d of a compaction", (int)step));
    if (instant_time != NULL && step != HUDI_COMPACT_RUN)
        HD_TRY_OUT(hd_fail(&op, HUDI_INVALID, "only running takes the instant of a compaction"));
    HD_TRY_OUT(hd_alloc(&op, sizeof *compaction, &compaction));
    HD_TRY_OUT(hd_compact(&op, table->context->pool, table->snapshot.uri, &table->options,
                          STEPS[step], instant_time, &compaction->report));
    if (out != NULL) {
        *out = compaction;
        compaction = NULL;
    }
out:
    hudi_compaction_free(compaction);
    return hd_call_end(&op, status, err);
}

size_t hudi_compaction_length(const hudi_compaction *compaction)
{
    return compaction->report.n_compactions;
}

const char *hudi_compaction_instant(const hudi_compaction *compaction, size_t i)
{
    return compaction->report.compactions[i].time;
}

const char *hudi_compaction_state(const hudi_compaction *compaction, size_t i)
{
    return hd_instant_state_name(compaction->report.compactions[i].state);
}

size_t hudi_compaction_slices(const hudi_compaction *compaction, size_t i)
{
    return compaction->report.compactions[i].plan.n_operations;
}

int64_t hudi_compaction_bytes(const hudi_compaction *compaction, size_t i)
{
    return (int64_t)compaction->report.compactions[i].n_bytes;
}

size_t hudi_compaction_files(const hudi_compaction *compaction, size_t i)
{
    return compaction->report.compactions[i].n_files;
}

int64_t hudi_compaction_rows(const hudi_compaction *compaction, size_t i)
{
    return compaction->report.compactions[i].n_rows;
}

int64_t hudi_compaction_bytes_written(const hudi_compaction *compaction, size_t i)
{
    return (int64_t)compaction->report.compactions[i].n_bytes_written;
}

static const struct hd_compaction_operation *slice_of(const hudi_compaction *compaction, size_t i,
                                                      size_t s)
{
    return &compaction->report.compactions[i].plan.operations[s];
}

const char *hudi_compaction_partition(const hudi_compaction *compaction, size_t i, size_t s)
{
    return slice_of(compaction, i, s)->partition_path;
}

const char *hudi_compaction_file_id(const hudi_compaction *compaction, size_t i, size_t s)
{
    return slice_of(compaction, i, s)->file_id;
}

const char *hudi_compaction_base_file(const hudi_compaction *compaction, size_t i, size_t s)
{
    return slice_of(compaction, i, s)->data_file;
}

const char *hudi_compaction_log_file(const hudi_compaction *compaction, size_t i, size_t s,
                                     size_t f)
{
    const struct hd_compaction_operation *const slice = slice_of(compaction, i, s);

    return f < slice->n_delta_files ? slice->delta_files[f] : NULL;
}

void hudi_compaction_free(hudi_compaction *compaction)
{
    if (compaction == NULL)
        return;
    hd_compact_report_clear(NULL, &compaction->report);
    hd_free(NULL, compaction);
}
