/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/index/index.h"

#include <string.h>
#include <strings.h>

#include "engine/index/key_lookup.h"
#include "engine/index/log_keys.h"
#include "engine/record/key_sort.h"
#include "engine/record/merge.h"

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

enum hd_index_type hd_index_global_form(enum hd_index_type type)
{
    switch (type) {
    case HD_INDEX_BLOOM:
        return HD_INDEX_GLOBAL_BLOOM;
    case HD_INDEX_SIMPLE:
        return HD_INDEX_GLOBAL_SIMPLE;
    case HD_INDEX_GLOBAL_BLOOM:
    case HD_INDEX_GLOBAL_SIMPLE:
        break;
    }
    return type;
}

static struct hd_slice key_of_entry(const void *map, int64_t entry)
{
    return hd_spillable_map_key(map, entry);
}

/* Entries of each space side by side, each sorted by key; one a key. */
static hudi_status group_entries(struct hd_op *op, const struct hd_index_request *request,
                                 struct hd_key_group **out_groups, size_t *out_n,
                                 int64_t **out_entries)
{
    hudi_status status = HUDI_OK;
    const hd_spillable_map *map = request->map;
    const struct hd_keyed keyed = {map, key_of_entry};
    const int64_t n = hd_spillable_map_length(map);
    const size_t n_spaces =
        hd_index_is_global(request->type) ? 1 : request->partitions->paths.n_entries;
    struct hd_key_group *groups = NULL;
    int64_t *entries = NULL;

    HD_TRY_OUT(hd_alloc_array(op, n_spaces, sizeof *groups, &groups));
    HD_TRY_OUT(hd_alloc_raw(op, (size_t)n, sizeof *entries, &entries));
    for (int64_t i = 0; i < n; i++)
        groups[hd_spillable_map_space(map, i)].n += hd_spillable_map_is_newest(map, i);
    int64_t *next = entries;
    for (size_t s = 0; s < n_spaces; s++) {
        groups[s].space = (uint32_t)s;
        groups[s].entries = next;
        next += groups[s].n;
        groups[s].n = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        struct hd_key_group *group = &groups[hd_spillable_map_space(map, i)];

        if (hd_spillable_map_is_newest(map, i))
            group->entries[group->n++] = i;
    }
    for (size_t s = 0; s < n_spaces; s++)
        HD_TRY_OUT(
            hd_sort_by_key(op, &keyed, groups[s].entries, groups[s].n, &groups[s].same_order));
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
    uint8_t *n_slices_of;      /* by entry: how many base files hold it, where any has logs */
    size_t *last_slice_of;     /* scratch: number + 1 */
    size_t *n_logged;          /* by group: its slices with logs */
    struct hd_file_hits *read; /* one a slice whose logs have been read: what only they hold */
    struct hd_log_keys log_keys;
    bool forgets_dead; /* no place of a dead key is told */
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

static hudi_status add_hits(struct hd_op *op, const struct tag_job *job,
                            const struct hd_file_hits *more, struct hd_file_hits *hits)
{
    size_t capacity = hits->n_hits;

    for (size_t h = 0; h < more->n_hits; h++) {
        if (job->found[more->hits[h].entry])
            continue;
        HD_TRY(hd_grow(op, &hits->hits, &capacity, hits->n_hits + 1, sizeof *hits->hits));
        hits->hits[hits->n_hits++] = more->hits[h];
    }
    return HUDI_OK;
}

static hudi_status tag_logs_of_slice(struct hd_op *op, void *argument, size_t i)
{
    struct tag_job *job = argument;
    const struct hd_file_slice *slice = job->request->slices[i];
    const struct hd_key_group *group = group_of(job, slice);
    bool wanted = false;

    if (slice->n_logs == 0 || group == NULL)
        return HUDI_OK;
    if (job->read[i].slice != NULL)
        return add_hits(op, job, &job->read[i], &job->hits[i]);
    for (int64_t k = 0; k < group->n && !wanted; k++)
        wanted = !job->found[group->entries[k]];
    if (!wanted)
        return HUDI_OK;
    return hd_log_key_lookup(op, job->request, &job->log_keys, group, slice, job->found,
                             &job->hits[i]);
}

/* Is any of the hits of a slice's base file worth a look into its log files? One that these delete
 * matters where the key may live elsewhere too, in another base file or in log files: a record for
 * both places would be there twice. */
static bool is_doubtful(const struct tag_job *job, size_t i)
{
    const struct hd_file_hits *hits = &job->hits[i];

    if (hits->slice->n_logs == 0 || hits->n_hits == 0)
        return false;
    if (job->forgets_dead)
        return true;
    if (job->n_logged[group_of(job, hits->slice) - job->groups] > 1)
        return true;
    for (size_t h = 0; h < hits->n_hits; h++)
        if (job->n_slices_of[hits->hits[h].entry] > 1)
            return true;
    return false;
}

/* Mark the hits of a base file whose rows its log files delete, and note what else lives there. */
static hudi_status find_dead_of_slice(struct hd_op *op, void *argument, size_t i)
{
    struct tag_job *job = argument;
    struct hd_file_hits *hits = &job->hits[i];
    const size_t n = (size_t)hd_spillable_map_length(job->request->map);
    struct hd_file_hits living = {0};
    bool *none = NULL, *lives = NULL;
    hudi_status status;

    if (!is_doubtful(job, i))
        return HUDI_OK;
    HD_TRY_OUT(hd_alloc_array(op, n, sizeof *none, &none));
    HD_TRY_OUT(hd_alloc_array(op, n, sizeof *lives, &lives));
    HD_TRY_OUT(hd_log_key_lookup(op, job->request, &job->log_keys, group_of(job, hits->slice),
                                 hits->slice, none, &living));
    for (size_t h = 0; h < living.n_hits; h++)
        lives[living.hits[h].entry] = true;
    for (size_t h = 0; h < hits->n_hits; h++) {
        hits->hits[h].drop = !lives[hits->hits[h].entry];
        none[hits->hits[h].entry] = true;
    }
    size_t n_kept = 0;
    for (size_t h = 0; h < living.n_hits; h++)
        if (!none[living.hits[h].entry])
            living.hits[n_kept++] = living.hits[h];
    job->read[i] =
        (struct hd_file_hits){.slice = hits->slice, .hits = living.hits, .n_hits = n_kept};
    living.hits = NULL;
out:
    hd_free(op, living.hits);
    hd_free(op, none);
    hd_free(op, lives);
    return status;
}

static void count_logged(struct tag_job *job)
{
    for (size_t i = 0; i < job->request->n_slices; i++) {
        const struct hd_file_slice *slice = job->request->slices[i];
        const struct hd_key_group *group = group_of(job, slice);

        if (group != NULL)
            job->n_logged[group - job->groups] += slice->n_logs > 0;
    }
}

/* In how many slices each key is. */
static void count_slices(struct tag_job *job)
{
    for (size_t i = 0; i < job->request->n_slices; i++) {
        const struct hd_file_hits *hits = &job->hits[i];

        for (size_t h = 0; h < hits->n_hits; h++) {
            const int64_t entry = hits->hits[h].entry;

            if (job->last_slice_of[entry] == i + 1)
                continue;
            job->last_slice_of[entry] = i + 1;
            if (job->n_slices_of[entry] < UINT8_MAX)
                job->n_slices_of[entry]++;
        }
    }
}

/* Leave the dead hits out: but of a key that is dead everywhere one place stays, so that what
 * deleted it is known where it is written again. Not where rows are filled from stored ones: what
 * comes after the delete in its log files would be filled from the deleted row. */
static void drop_dead(struct tag_job *job)
{
    const int64_t n = hd_spillable_map_length(job->request->map);

    memset(job->found, 0, (size_t)n * sizeof *job->found);
    for (size_t i = 0; i < job->request->n_slices; i++)
        for (size_t h = 0; h < job->hits[i].n_hits; h++)
            if (!job->hits[i].hits[h].drop)
                job->found[job->hits[i].hits[h].entry] = true;
    for (size_t i = 0; i < job->request->n_slices; i++) {
        struct hd_file_hits *hits = &job->hits[i];
        size_t n_kept = 0;

        for (size_t h = 0; h < hits->n_hits; h++) {
            struct hd_index_hit hit = hits->hits[h];

            if (hit.drop && (job->forgets_dead || job->found[hit.entry]))
                continue;
            job->found[hit.entry] = true;
            hit.drop = false;
            hits->hits[n_kept++] = hit;
        }
        hits->n_hits = n_kept;
    }
}

/* Hudi's global indexes look at merged rows, its others at base files alone. */
static hudi_status choose_dead(struct hd_op *op, struct tag_job *job)
{
    enum hd_merge_rule rule;

    if (!hd_index_is_global(job->request->type))
        return HUDI_OK;
    HD_TRY(hd_merge_rule_find(op, &job->request->table->config, job->request->options, &rule));
    job->forgets_dead = rule == HD_MERGE_PARTIAL_UPDATE || rule == HD_MERGE_OVERWRITE_NON_DEFAULTS;
    return HUDI_OK;
}

/* The keys that no base file holds, or only as a deleted row, in the log files. `found` is not
 * written to: a key of two file groups hits both. */
static hudi_status tag_logs(struct hd_op *op, struct tag_job *job)
{
    const struct hd_index_request *request = job->request;
    bool any = false;

    for (size_t i = 0; i < request->n_slices; i++)
        any |= request->slices[i]->n_logs > 0;
    if (!any)
        return HUDI_OK;
    HD_TRY(choose_dead(op, job));
    const size_t n = (size_t)hd_spillable_map_length(request->map);
    HD_TRY(hd_alloc_array(op, n, sizeof *job->found, &job->found));
    HD_TRY(hd_alloc_array(op, n, sizeof *job->n_slices_of, &job->n_slices_of));
    HD_TRY(hd_alloc_array(op, n, sizeof *job->last_slice_of, &job->last_slice_of));
    HD_TRY(hd_alloc_array(op, job->n_groups, sizeof *job->n_logged, &job->n_logged));
    HD_TRY(hd_alloc_array(op, request->n_slices, sizeof *job->read, &job->read));
    count_slices(job);
    count_logged(job);
    HD_TRY(hd_log_keys_open(op, request, &job->log_keys));
    HD_TRY(hd_pool_each(op, request->pool, request->n_slices, find_dead_of_slice, job));
    for (size_t i = 0; i < request->n_slices; i++)
        for (size_t h = 0; h < job->hits[i].n_hits; h++)
            if (!job->hits[i].hits[h].drop)
                job->found[job->hits[i].hits[h].entry] = true;
    HD_TRY(hd_pool_each(op, request->pool, request->n_slices, tag_logs_of_slice, job));
    drop_dead(job);
    return HUDI_OK;
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
    for (size_t i = 0; job.read != NULL && i < request->n_slices; i++)
        hd_free(op, job.read[i].hits);
    hd_free(op, job.read);
    hd_free(op, job.n_logged);
    hd_free(op, job.hits);
    hd_log_keys_close(op, &job.log_keys);
    hd_free(op, job.found);
    hd_free(op, job.n_slices_of);
    hd_free(op, job.last_slice_of);
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
