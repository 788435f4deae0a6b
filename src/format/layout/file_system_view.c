/* SPDX-License-Identifier: Apache-2.0 */

#include "format/layout/file_system_view.h"

#include <stdlib.h>
#include <string.h>

#include "format/layout/partition_walk.h"
#include "format/layout/view_part.h"
#include "format/layout/view_timeline.h"

/* ---- loading ------------------------------------------------------------------------------ */

/* Lists named partitions, each task one; results by partition number. */
struct part_loader {
    const struct hd_partition_lister *lister;
    const struct hd_view_times *times;
    const char *const *partitions;
    struct hd_view_part **parts;
};

static hudi_status load_part(struct hd_op *op, void *argument, size_t i)
{
    struct part_loader *const self = argument;
    struct hd_arena listing = {0};
    struct hd_file_info *infos = NULL;
    size_t n_infos = 0;

    hudi_status status =
        self->lister->list(op, self->lister->self, self->partitions[i], &listing, &infos, &n_infos);
    if (status == HUDI_NOT_FOUND) {
        n_infos = 0;
        status = HUDI_OK;
    }
    if (status == HUDI_OK)
        status =
            hd_view_part_new(op, self->times, self->partitions[i], infos, n_infos, &self->parts[i]);
    hd_arena_clear(&listing);
    return status;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted and each once, copied (the strings are not). */
static hudi_status sort_partitions(struct hd_op *op, const char *const *partitions, size_t n,
                                   const char ***out, size_t *n_out)
{
    const char **sorted;
    size_t n_kept = 0;

    HD_TRY(hd_alloc_raw(op, n, sizeof *sorted, &sorted));
    if (n > 0) {
        memcpy(sorted, partitions, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, compare_texts);
    }
    for (size_t i = 0; i < n; i++) {
        if (n_kept == 0 || strcmp(sorted[n_kept - 1], sorted[i]) != 0)
            sorted[n_kept++] = sorted[i];
    }
    *out = sorted;
    *n_out = n_kept;
    return HUDI_OK;
}

/* Where parts come from: named partitions, or with `lister` NULL all that are found. */
struct source {
    hd_pool *pool;
    const struct hd_partition_lister *lister;
    const char *const *partitions;
    size_t n_partitions;
    hd_file_system *fs;
    const char *table_path;
};

static hudi_status load_named(struct hd_op *op, const struct source *source,
                              struct hd_view_times *times, struct hd_file_system_view *view)
{
    struct part_loader loader = {.lister = source->lister, .times = times};
    const char **sorted;
    size_t n;

    HD_TRY(sort_partitions(op, source->partitions, source->n_partitions, &sorted, &n));
    hudi_status status = hd_alloc_array(op, n, sizeof(void *), &view->parts);
    if (status == HUDI_OK) {
        view->n_parts = n;
        loader.partitions = sorted;
        loader.parts = view->parts;
        status = hd_each(op, source->pool, n, load_part, &loader);
    }
    hd_free(op, sorted);
    return status;
}

static hudi_status visit_partition(struct hd_op *op, void *self, const char *path,
                                   const struct hd_file_info *infos, size_t n_infos, void **data)
{
    struct hd_view_part *part;

    HD_TRY(hd_view_part_new(op, self, path, infos, n_infos, &part));
    *data = part;
    return HUDI_OK;
}

static hudi_status load_all(struct hd_op *op, const struct source *source,
                            struct hd_view_times *times, struct hd_file_system_view *view)
{
    struct hd_arena arena = {0};
    struct hd_walked_partition *found;
    size_t n_found;

    hudi_status status = hd_partition_walk(op, source->pool, source->fs, source->table_path,
                                           visit_partition, times, &arena, &found, &n_found);
    HD_KEEP(hd_alloc_array(op, n_found, sizeof(void *), &view->parts));
    for (size_t i = 0; i < n_found; i++) {
        if (view->parts == NULL)
            hd_view_part_free(found[i].data);
        else
            view->parts[view->n_parts++] = found[i].data;
    }
    hd_free(op, found);
    hd_arena_clear(&arena);
    return status;
}

static void free_parts(struct hd_file_system_view *view)
{
    for (size_t i = 0; i < view->n_parts; i++)
        hd_view_part_free(view->parts[i]);
    hd_free(NULL, view->parts);
    view->parts = NULL;
    view->n_parts = 0;
}

/* Load the parts, and once more with the archive where a file's place depends on it. */
static hudi_status load_parts(struct hd_op *op, const struct source *source,
                              const struct hd_timeline *timeline, struct hd_file_system_view *view)
{
    hudi_status (*const load)(struct hd_op *, const struct source *, struct hd_view_times *,
                              struct hd_file_system_view *) =
        source->lister == NULL ? load_all : load_named;
    hudi_status status = HUDI_OK;
    struct hd_archived_timeline archive = {0};
    atomic_bool needs_archive = false;
    struct hd_view_times times;

    HD_TRY(hd_view_times_init(op, &view->arena, timeline, &times));
    times.needs_archive = &needs_archive;
    HD_TRY_OUT(load(op, source, &times, view));
    if (!atomic_load(&needs_archive))
        goto out;
    HD_TRY_OUT(hd_archived_times_load(op, timeline, &archive));
    free_parts(view);
    times.archive = &archive;
    status = load(op, source, &times, view);
out:
    hd_archived_timeline_clear(&archive);
    return status;
}

/* Line up what the parts hold. */
static hudi_status join_parts(struct hd_op *op, struct hd_file_system_view *view)
{
    size_t n_groups = 0;

    for (size_t i = 0; i < view->n_parts; i++)
        n_groups += view->parts[i]->n_groups;
    HD_TRY(hd_arena_array(op, &view->arena, n_groups, sizeof *view->groups, &view->groups));
    HD_TRY(hd_arena_array(op, &view->arena, view->n_parts, sizeof *view->partitions,
                          &view->partitions));
    HD_TRY(hd_arena_array(op, &view->arena, view->n_parts + 1, sizeof *view->first_group,
                          &view->first_group));
    for (size_t i = 0; i < view->n_parts; i++) {
        struct hd_view_part *const part = view->parts[i];

        view->partitions[i] = part->partition_path;
        view->first_group[i] = view->n_groups;
        if (part->n_groups > 0)
            memcpy(&view->groups[view->n_groups], part->groups,
                   part->n_groups * sizeof *part->groups);
        view->n_groups += part->n_groups;
        hd_free(op, part->groups);
        part->groups = NULL;
    }
    view->n_partitions = view->n_parts;
    view->first_group[view->n_partitions] = view->n_groups;
    return HUDI_OK;
}

static hudi_status finish(struct hd_op *op, const struct hd_timeline *timeline, hudi_status status,
                          struct hd_file_system_view *view, struct hd_file_system_view *out)
{
    if (status == HUDI_OK)
        status = join_parts(op, view);
    if (status == HUDI_OK)
        status = hd_view_choose_base_files(op, timeline, view);
    if (status == HUDI_OK)
        status = hd_view_mark_replaced(op, timeline, view);
    if (status == HUDI_OK)
        status = hd_view_mark_compactions(op, timeline, view);
    if (status == HUDI_OK)
        *out = *view;
    else
        hd_file_system_view_clear(view);
    return status;
}

hudi_status hd_file_system_view_of_lister(struct hd_op *op, hd_pool *pool,
                                          const struct hd_partition_lister *lister,
                                          const struct hd_timeline *timeline,
                                          const char *const *partitions, size_t n_partitions,
                                          struct hd_file_system_view *out)
{
    const struct source source = {
        .pool = pool, .lister = lister, .partitions = partitions, .n_partitions = n_partitions};
    struct hd_file_system_view view = {0};

    *out = (struct hd_file_system_view){0};
    return finish(op, timeline, load_parts(op, &source, timeline, &view), &view, out);
}

/* A partition's folder. */
struct folder_lister {
    hd_file_system *fs;
    const char *table_path;
};

static hudi_status list_folder(struct hd_op *op, void *self, const char *partition_path,
                               struct hd_arena *arena, struct hd_file_info **out, size_t *n)
{
    const struct folder_lister *const lister = self;
    char *folder;

    HD_TRY(hd_path_join(op, lister->table_path, partition_path, &folder));
    hudi_status status = hd_fs_list(op, lister->fs, folder, arena, out, n);
    hd_free(op, folder);
    return status;
}

hudi_status hd_file_system_view_load(struct hd_op *op, hd_pool *pool, hd_file_system *fs,
                                     const char *table_path, const struct hd_table_config *config,
                                     const struct hd_timeline *timeline,
                                     const char *const *partitions, size_t n_partitions,
                                     struct hd_file_system_view *out)
{
    static const char *const TABLE_FOLDER[] = {""};
    struct folder_lister folders = {fs, table_path};
    const struct hd_partition_lister lister = {list_folder, &folders};
    struct hd_file_system_view view = {0};

    if (partitions == NULL && config->n_partition_fields > 0) {
        const struct source all = {.pool = pool, .fs = fs, .table_path = table_path};

        *out = (struct hd_file_system_view){0};
        return finish(op, timeline, load_parts(op, &all, timeline, &view), &view, out);
    }
    if (partitions == NULL) {
        partitions = TABLE_FOLDER;
        n_partitions = 1;
    }
    return hd_file_system_view_of_lister(op, pool, &lister, timeline, partitions, n_partitions,
                                         out);
}

void hd_file_system_view_clear(struct hd_file_system_view *view)
{
    free_parts(view);
    hd_arena_clear(&view->arena);
    *view = (struct hd_file_system_view){0};
}

/* ---- questions ---------------------------------------------------------------------------- */

const struct hd_file_slice *hd_file_group_slice_as_of(const struct hd_file_group *group,
                                                      const char *as_of)
{
    if (group->replaced_by != NULL && (as_of == NULL || strcmp(group->replaced_by, as_of) <= 0))
        return NULL;
    for (size_t i = 0; i < group->n_slices; i++) {
        if (as_of == NULL || strcmp(group->slices[i].base_instant, as_of) <= 0)
            return &group->slices[i];
    }
    return NULL;
}

hudi_status hd_file_system_view_slices(struct hd_op *op, const struct hd_file_system_view *view,
                                       const char *as_of, struct hd_arena *arena,
                                       const struct hd_file_slice ***out, size_t *n)
{
    *n = 0;
    HD_TRY(hd_arena_array(op, arena, view->n_groups, sizeof(void *), out));
    for (size_t i = 0; i < view->n_groups; i++) {
        const struct hd_file_slice *const slice =
            hd_file_group_slice_as_of(&view->groups[i], as_of);

        if (slice != NULL)
            (*out)[(*n)++] = slice;
    }
    return HUDI_OK;
}

const struct hd_file_group *hd_file_system_view_find(const struct hd_file_system_view *view,
                                                     const char *partition_path,
                                                     const char *file_id)
{
    size_t low = 0, high = view->n_partitions;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(view->partitions[middle], partition_path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == view->n_partitions || strcmp(view->partitions[low], partition_path) != 0)
        return NULL;
    high = view->first_group[low + 1];
    low = view->first_group[low];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(view->groups[middle].file_id, file_id);

        if (order == 0)
            return &view->groups[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
