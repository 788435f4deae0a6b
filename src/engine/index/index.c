/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/index/index.h"

#include <strings.h>

#include "engine/index/key_lookup.h"
#include "engine/index/key_sort.h"
#include "engine/index/log_keys.h"

hudi_status hd_index_type_of(struct hd_op *op, const char *name, enum hd_index_type *out)
{
    static const char *const NAMES[] = {"BLOOM", "SIMPLE", "GLOBAL_BLOOM", "GLOBAL_SIMPLE"};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(NAMES); i++) {
        if (strcasecmp(name, NAMES[i]) == 0) {
            *out = (enum hd_index_type)i;
            return HUDI_OK;
        }
    }
    return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                   "index type %s: there are bloom, simple, global_bloom and global_simple", name);
}

bool hd_index_is_global(enum hd_index_type type)
{
    return type == HD_INDEX_GLOBAL_BLOOM || type == HD_INDEX_GLOBAL_SIMPLE;
}

/* Entries of each space side by side, each sorted by key. */
static hudi_status group_entries(struct hd_op *op, const struct hd_index_request *request,
                                 struct hd_key_group **out_groups, size_t *out_n,
                                 int64_t **out_entries)
{
    hudi_status status = HUDI_OK;
    const struct hd_spillable_map *map = request->map;
    const int64_t n = hd_spillable_map_length(map);
    const size_t n_spaces =
        hd_index_is_global(request->type) ? 1 : request->partitions->paths.n_entries;
    struct hd_key_group *groups = NULL;
    int64_t *entries = NULL;

    HD_TRY_OUT(hd_alloc_array(op, n_spaces, sizeof *groups, &groups));
    HD_TRY_OUT(hd_alloc_raw(op, (size_t)n, sizeof *entries, &entries));
    for (int64_t i = 0; i < n; i++)
        groups[hd_spillable_map_space(map, i)].n++;
    int64_t *next = entries;
    for (size_t s = 0; s < n_spaces; s++) {
        groups[s].space = (uint32_t)s;
        groups[s].entries = next;
        next += groups[s].n;
        groups[s].n = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        struct hd_key_group *group = &groups[hd_spillable_map_space(map, i)];
        group->entries[group->n++] = i;
    }
    for (size_t s = 0; s < n_spaces; s++)
        HD_TRY_OUT(
            hd_sort_entries_by_key(op, map, groups[s].entries, groups[s].n, &groups[s].same_order));
    *out_groups = groups;
    *out_n = n_spaces;
    *out_entries = entries;
    return HUDI_OK;
out:
    hd_free(op, groups);
    hd_free(op, entries);
    return status;
}

struct tag_job {
    const struct hd_index_request *request;
    struct hd_key_group *groups;
    size_t n_groups;
    struct hd_file_hits *hits; /* one a slice */
    bool *found;               /* by entry: a base file holds it */
    struct hd_log_keys log_keys;
};

/* The incoming keys that a slice may hold; NULL: none. */
static struct hd_key_group *group_of(const struct tag_job *job, const struct hd_file_slice *slice)
{
    struct hd_key_group *group = &job->groups[0];

    if (!hd_index_is_global(job->request->type)) {
        const struct hd_map_entry *partition =
            hd_map_find(&job->request->partitions->paths, hd_slice_text(slice->partition_path));
        if (partition == NULL)
            return NULL;
        group = &job->groups[partition->value];
    }
    return group->n == 0 ? NULL : group;
}

static hudi_status tag_slice(struct hd_op *op, void *argument, size_t i)
{
    struct tag_job *job = argument;
    const struct hd_file_slice *slice = job->request->slices[i];
    const struct hd_key_group *group = group_of(job, slice);

    job->hits[i].slice = slice;
    if (slice->base == NULL || group == NULL)
        return HUDI_OK;
    return hd_fail_path(op, hd_key_lookup(op, job->request, group, slice, &job->hits[i]),
                        slice->base->path);
}

/* ---- log files --------------------------------------------------------------------------------
 */

static hudi_status tag_logs_of_slice(struct hd_op *op, void *argument, size_t i)
{
    struct tag_job *job = argument;
    const struct hd_file_slice *slice = job->request->slices[i];
    const struct hd_key_group *group = group_of(job, slice);
    bool wanted = false;

    if (slice->n_logs == 0 || group == NULL)
        return HUDI_OK;
    for (int64_t k = 0; k < group->n && !wanted; k++)
        wanted = !job->found[group->entries[k]];
    if (!wanted)
        return HUDI_OK;
    return hd_log_key_lookup(op, job->request, &job->log_keys, group, slice, job->found,
                             &job->hits[i]);
}

/* The keys that no base file holds, in the log files. `found` is not written to: a key of two file
 * groups hits both. */
static hudi_status tag_logs(struct hd_op *op, struct tag_job *job)
{
    const struct hd_index_request *request = job->request;
    bool any = false;

    for (size_t i = 0; i < request->n_slices; i++)
        any |= request->slices[i]->n_logs > 0;
    if (!any)
        return HUDI_OK;
    HD_TRY(hd_alloc_array(op, (size_t)hd_spillable_map_length(request->map), sizeof *job->found,
                          &job->found));
    for (size_t i = 0; i < request->n_slices; i++)
        for (size_t h = 0; h < job->hits[i].n_hits; h++)
            job->found[job->hits[i].hits[h].entry] = true;
    HD_TRY(hd_log_keys_open(op, request, &job->log_keys));
    return hd_pool_each(op, request->pool, request->n_slices, tag_logs_of_slice, job);
}

hudi_status hd_index_tag(struct hd_op *op, const struct hd_index_request *request,
                         struct hd_index_result *out)
{
    hudi_status status = HUDI_OK;
    struct tag_job job = {.request = request};
    int64_t *entries = NULL;

    *out = (struct hd_index_result){0};
    if (hd_spillable_map_length(request->map) == 0 || request->n_slices == 0)
        return HUDI_OK;
    HD_TRY_OUT(group_entries(op, request, &job.groups, &job.n_groups, &entries));
    HD_TRY_OUT(hd_alloc_array(op, request->n_slices, sizeof *job.hits, &job.hits));
    HD_TRY_OUT(hd_pool_each(op, request->pool, request->n_slices, tag_slice, &job));
    HD_TRY_OUT(tag_logs(op, &job));
    out->files = job.hits;
    for (size_t i = 0; i < request->n_slices; i++) {
        if (job.hits[i].n_hits > 0)
            out->files[out->n_files++] = job.hits[i];
        else
            hd_free(op, job.hits[i].hits);
    }
    job.hits = NULL;
out:
    if (job.hits != NULL)
        for (size_t i = 0; i < request->n_slices; i++)
            hd_free(op, job.hits[i].hits);
    hd_free(op, job.hits);
    hd_log_keys_close(op, &job.log_keys);
    hd_free(op, job.found);
    hd_free(op, job.groups);
    hd_free(op, entries);
    return status;
}

void hd_index_result_clear(struct hd_op *op, struct hd_index_result *result)
{
    for (size_t i = 0; i < result->n_files; i++)
        hd_free(op, result->files[i].hits);
    hd_free(op, result->files);
    *result = (struct hd_index_result){0};
}
