/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "service/clustering.h"

struct hudi_clustering {
    struct hd_cluster_report report;
};

hudi_status hudi_cluster(hudi_table *table, hudi_cluster_step step, const char *instant_time,
                         hudi_cancel *cancel, hudi_clustering **out, hudi_error **err)
{
    static const enum hd_cluster_step STEPS[] = {
        [HUDI_CLUSTER_PLAN_AND_RUN] = HD_CLUSTER_PLAN_AND_RUN,
        [HUDI_CLUSTER_SCHEDULE] = HD_CLUSTER_SCHEDULE,
        [HUDI_CLUSTER_RUN] = HD_CLUSTER_RUN,
        [HUDI_CLUSTER_DRY_RUN] = HD_CLUSTER_DRY_RUN,
        [HUDI_CLUSTER_PENDING] = HD_CLUSTER_PENDING,
    };
    hudi_status status = HUDI_OK;
    struct hd_op op;
    hudi_clustering *clustering = NULL;

    if (out != NULL)
        *out = NULL;
    hd_call_begin(&op, table->context, cancel);
    if ((unsigned)step >= HD_ARRAY_LENGTH(STEPS))
        HD_TRY_OUT(hd_fail(&op, HUDI_INVALID, "there is no step %d of a clustering", (int)step));
    if (instant_time != NULL && step != HUDI_CLUSTER_RUN)
        HD_TRY_OUT(hd_fail(&op, HUDI_INVALID, "only running takes the instant of a clustering"));
    HD_TRY_OUT(hd_alloc(&op, sizeof *clustering, &clustering));
    HD_TRY_OUT(hd_cluster(&op, table->context->pool, table->snapshot.uri, &table->options,
                          STEPS[step], instant_time, &clustering->report));
    if (out != NULL) {
        *out = clustering;
        clustering = NULL;
    }
out:
    hudi_clustering_free(clustering);
    return hd_call_end(&op, status, err);
}

size_t hudi_clustering_length(const hudi_clustering *clustering)
{
    return clustering->report.n_clusterings;
}

const char *hudi_clustering_instant(const hudi_clustering *clustering, size_t i)
{
    return clustering->report.clusterings[i].time;
}

const char *hudi_clustering_state(const hudi_clustering *clustering, size_t i)
{
    return hd_instant_state_name(clustering->report.clusterings[i].state);
}

size_t hudi_clustering_slices(const hudi_clustering *clustering, size_t i)
{
    return clustering->report.clusterings[i].plan.n_slices;
}

int64_t hudi_clustering_bytes(const hudi_clustering *clustering, size_t i)
{
    return (int64_t)clustering->report.clusterings[i].n_bytes;
}

size_t hudi_clustering_files(const hudi_clustering *clustering, size_t i)
{
    return clustering->report.clusterings[i].n_files;
}

int64_t hudi_clustering_rows(const hudi_clustering *clustering, size_t i)
{
    return clustering->report.clusterings[i].n_rows;
}

int64_t hudi_clustering_bytes_written(const hudi_clustering *clustering, size_t i)
{
    return (int64_t)clustering->report.clusterings[i].n_bytes_written;
}

static const struct hd_clustering_slice *slice_of(const hudi_clustering *clustering, size_t i,
                                                  size_t s)
{
    return &clustering->report.clusterings[i].plan.slices[s];
}

const char *hudi_clustering_partition(const hudi_clustering *clustering, size_t i, size_t s)
{
    return slice_of(clustering, i, s)->partition_path;
}

size_t hudi_clustering_group(const hudi_clustering *clustering, size_t i, size_t s)
{
    return slice_of(clustering, i, s)->group;
}

const char *hudi_clustering_file_id(const hudi_clustering *clustering, size_t i, size_t s)
{
    return slice_of(clustering, i, s)->file_id;
}

const char *hudi_clustering_base_file(const hudi_clustering *clustering, size_t i, size_t s)
{
    return slice_of(clustering, i, s)->data_file;
}

const char *hudi_clustering_log_file(const hudi_clustering *clustering, size_t i, size_t s,
                                     size_t f)
{
    const struct hd_clustering_slice *const slice = slice_of(clustering, i, s);

    return f < slice->n_delta_files ? slice->delta_files[f] : NULL;
}

void hudi_clustering_free(hudi_clustering *clustering)
{
    if (clustering == NULL)
        return;
    hd_cluster_report_clear(NULL, &clustering->report);
    hd_free(NULL, clustering);
}
