/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "service/clustering.h"
#include "service/compaction.h"

struct hudi_rewriting {
    struct hd_rewrite_report report;
};

/* Both public enums have the order of hd_rewrite_step. */
_Static_assert((int)HUDI_COMPACT_PLAN_AND_RUN == HD_REWRITE_PLAN_AND_RUN, "");
_Static_assert((int)HUDI_COMPACT_SCHEDULE == HD_REWRITE_SCHEDULE, "");
_Static_assert((int)HUDI_COMPACT_RUN == HD_REWRITE_RUN, "");
_Static_assert((int)HUDI_COMPACT_DRY_RUN == HD_REWRITE_DRY_RUN, "");
_Static_assert((int)HUDI_COMPACT_PENDING == HD_REWRITE_PENDING, "");
_Static_assert((int)HUDI_CLUSTER_PLAN_AND_RUN == HD_REWRITE_PLAN_AND_RUN, "");
_Static_assert((int)HUDI_CLUSTER_SCHEDULE == HD_REWRITE_SCHEDULE, "");
_Static_assert((int)HUDI_CLUSTER_RUN == HD_REWRITE_RUN, "");
_Static_assert((int)HUDI_CLUSTER_DRY_RUN == HD_REWRITE_DRY_RUN, "");
_Static_assert((int)HUDI_CLUSTER_PENDING == HD_REWRITE_PENDING, "");

static hudi_status rewrite(hudi_table *table, const hd_rewrite_service *service, const char *name,
                           unsigned step, const char *instant_time, hudi_cancel *cancel,
                           struct hudi_rewriting **out, hudi_error **err)
{
    hudi_status status = HUDI_OK;
    struct hd_op op;
    struct hudi_rewriting *rewriting = NULL;

    if (out != NULL)
        *out = NULL;
    hd_call_begin(&op, table->context, cancel);
    if (step > HD_REWRITE_PENDING)
        HD_TRY_OUT(hd_fail(&op, HUDI_INVALID, "there is no step %d of a %s", (int)step, name));
    if (instant_time != NULL && step != HD_REWRITE_RUN)
        HD_TRY_OUT(hd_fail(&op, HUDI_INVALID, "only running takes the instant of a %s", name));
    HD_TRY_OUT(hd_alloc(&op, sizeof *rewriting, &rewriting));
    HD_TRY_OUT(hd_rewrite(&op, table->context->pool, table->snapshot.uri, &table->options, service,
                          (enum hd_rewrite_step)step, instant_time, &rewriting->report));
    if (out != NULL) {
        *out = rewriting;
        rewriting = NULL;
    }
out:
    hudi_compaction_free(rewriting);
    return hd_call_end(&op, status, err);
}

hudi_status hudi_compact(hudi_table *table, hudi_compact_step step, const char *instant_time,
                         hudi_cancel *cancel, hudi_compaction **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT_IF_GIVEN(out)));
    return rewrite(table, &hd_compaction, "compaction", (unsigned)step, instant_time, cancel, out,
                   err);
}

hudi_status hudi_compact_logs(hudi_table *table, hudi_compact_step step, const char *instant_time,
                              hudi_cancel *cancel, hudi_compaction **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT_IF_GIVEN(out)));
    return rewrite(table, &hd_log_compaction, "log compaction", (unsigned)step, instant_time,
                   cancel, out, err);
}

hudi_status hudi_cluster(hudi_table *table, hudi_cluster_step step, const char *instant_time,
                         hudi_cancel *cancel, hudi_clustering **out, hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(table), HD_OUT_IF_GIVEN(out)));
    return rewrite(table, &hd_clustering, "clustering", (unsigned)step, instant_time, cancel, out,
                   err);
}

/* ---- what they did -------------------------------------------------------------------------- */

static const struct hd_rewrite_outcome *outcome_of(const struct hudi_rewriting *rewriting, size_t i)
{
    return &rewriting->report.outcomes[i];
}

size_t hudi_compaction_length(const hudi_compaction *compaction)
{
    return compaction->report.n_outcomes;
}

const char *hudi_compaction_instant(const hudi_compaction *compaction, size_t i)
{
    return outcome_of(compaction, i)->time;
}

const char *hudi_compaction_state(const hudi_compaction *compaction, size_t i)
{
    return hd_instant_state_name(outcome_of(compaction, i)->state);
}

size_t hudi_compaction_slices(const hudi_compaction *compaction, size_t i)
{
    return outcome_of(compaction, i)->n_slices;
}

int64_t hudi_compaction_bytes(const hudi_compaction *compaction, size_t i)
{
    return (int64_t)outcome_of(compaction, i)->n_bytes;
}

size_t hudi_compaction_files(const hudi_compaction *compaction, size_t i)
{
    return outcome_of(compaction, i)->n_files;
}

int64_t hudi_compaction_rows(const hudi_compaction *compaction, size_t i)
{
    return outcome_of(compaction, i)->n_rows;
}

int64_t hudi_compaction_bytes_written(const hudi_compaction *compaction, size_t i)
{
    return (int64_t)outcome_of(compaction, i)->n_bytes_written;
}

const char *hudi_compaction_partition(const hudi_compaction *compaction, size_t i, size_t s)
{
    return outcome_of(compaction, i)->slices[s].partition_path;
}

const char *hudi_compaction_file_id(const hudi_compaction *compaction, size_t i, size_t s)
{
    return outcome_of(compaction, i)->slices[s].file_id;
}

const char *hudi_compaction_base_file(const hudi_compaction *compaction, size_t i, size_t s)
{
    return outcome_of(compaction, i)->slices[s].data_file;
}

const char *hudi_compaction_log_file(const hudi_compaction *compaction, size_t i, size_t s,
                                     size_t f)
{
    const struct hd_planned_slice *const slice = &outcome_of(compaction, i)->slices[s];

    return f < slice->n_delta_files ? slice->delta_files[f] : NULL;
}

size_t hudi_clustering_group(const hudi_clustering *clustering, size_t i, size_t s)
{
    return outcome_of(clustering, i)->slices[s].group;
}

void hudi_compaction_free(hudi_compaction *compaction)
{
    if (compaction == NULL)
        return;
    hd_rewrite_report_clear(NULL, &compaction->report);
    hd_free(NULL, compaction);
}

/* The same under the other name. */
#define SAME_AS(name) __attribute__((alias(#name)))
SAME_AS(hudi_compaction_length) size_t hudi_clustering_length(const hudi_clustering *);
SAME_AS(hudi_compaction_instant)
const char *hudi_clustering_instant(const hudi_clustering *, size_t);
SAME_AS(hudi_compaction_state) const char *hudi_clustering_state(const hudi_clustering *, size_t);
SAME_AS(hudi_compaction_slices) size_t hudi_clustering_slices(const hudi_clustering *, size_t);
SAME_AS(hudi_compaction_bytes) int64_t hudi_clustering_bytes(const hudi_clustering *, size_t);
SAME_AS(hudi_compaction_files) size_t hudi_clustering_files(const hudi_clustering *, size_t);
SAME_AS(hudi_compaction_rows) int64_t hudi_clustering_rows(const hudi_clustering *, size_t);
SAME_AS(hudi_compaction_bytes_written)
int64_t hudi_clustering_bytes_written(const hudi_clustering *, size_t);
SAME_AS(hudi_compaction_partition)
const char *hudi_clustering_partition(const hudi_clustering *, size_t, size_t);
SAME_AS(hudi_compaction_file_id)
const char *hudi_clustering_file_id(const hudi_clustering *, size_t, size_t);
SAME_AS(hudi_compaction_base_file)
const char *hudi_clustering_base_file(const hudi_clustering *, size_t, size_t);
SAME_AS(hudi_compaction_log_file)
const char *hudi_clustering_log_file(const hudi_clustering *, size_t, size_t, size_t);
SAME_AS(hudi_compaction_free) void hudi_clustering_free(hudi_clustering *);
