/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "service/clean_planner.h"

/* Partitions whose files are held at a time. */
#define WAVE_PARTITIONS 512

/* What the listing of a partition's folder tells besides its slices. */
struct folder_notes {
    struct hd_arena arena;
    const char **cdc_files; /* names, sorted */
    size_t n_cdc_files;
    size_t n_data_files; /* of any instant */
    bool has_folders;
};

struct wave {
    const struct hd_table_snapshot *table;
    const char *const *partitions; /* sorted */
    size_t n_partitions;
    struct folder_notes notes[WAVE_PARTITIONS];
};

/* ---- listing ------------------------------------------------------------------------------ */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static hudi_status take_notes(struct hd_op *op, const struct hd_file_info *infos, size_t n_infos,
                              struct folder_notes *out)
{
    for (int pass = 0; pass < 2; pass++) {
        size_t n_cdc = 0;

        for (size_t i = 0; i < n_infos; i++) {
            struct hd_file_name name;
            char *copy;

            if (infos[i].is_dir || !hd_file_name_parse(infos[i].name, &name)) {
                out->has_folders = out->has_folders || infos[i].is_dir;
                continue;
            }
            out->n_data_files += pass == 0;
            if (name.kind != HD_FILE_CDC_LOG)
                continue;
            if (pass == 1) {
                HD_TRY(hd_arena_strdup(op, &out->arena, infos[i].name, &copy));
                out->cdc_files[n_cdc] = copy;
            }
            n_cdc++;
        }
        out->n_cdc_files = n_cdc;
        if (n_cdc == 0)
            break;
        if (pass == 0)
            HD_TRY(hd_arena_array(op, &out->arena, n_cdc, sizeof *out->cdc_files, &out->cdc_files));
    }
    return HUDI_OK;
}

static hudi_status list_folder(struct hd_op *op, void *self, const char *partition_path,
                               struct hd_arena *arena, struct hd_file_info **out, size_t *n)
{
    struct wave *const wave = self;
    char *folder;

    HD_TRY(hd_path_join(op, wave->table->path, partition_path, &folder));
    hudi_status status = hd_fs_list(op, wave->table->fs, folder, arena, out, n);
    hd_free(op, folder);
    HD_TRY(status);
    const char *const *const found = bsearch(&partition_path, wave->partitions, wave->n_partitions,
                                             sizeof *wave->partitions, compare_texts);
    return found == NULL ? HUDI_OK
                         : take_notes(op, *out, *n, &wave->notes[found - wave->partitions]);
}

/* ---- files -------------------------------------------------------------------------------- */

static hudi_status add_name(struct hd_op *op, struct hd_clean_planner *planner, const char *name)
{
    char *copy;

    HD_TRY(hd_grow(op, &planner->names, &planner->name_capacity, planner->n_names + 1,
                   sizeof *planner->names));
    HD_TRY(hd_arena_strdup(op, &planner->plan->arena, name, &copy));
    planner->names[planner->n_names++] = copy;
    return HUDI_OK;
}

static hudi_status add_file(struct hd_op *op, struct hd_clean_planner *planner,
                            const struct hd_data_file *file)
{
    planner->n_bytes += file->size_bytes;
    return add_name(op, planner, file->name);
}

/* Files of changes that were written with the slice: ".{file id}_{instant}.log. ... .cdc". */
static hudi_status add_cdc_files(struct hd_op *op, struct hd_clean_planner *planner,
                                 const struct folder_notes *notes,
                                 const struct hd_file_slice *slice)
{
    for (size_t i = 0; i < notes->n_cdc_files; i++) {
        struct hd_file_name name;

        if (hd_file_name_parse(notes->cdc_files[i], &name) &&
            hd_slice_equal(name.file_id, hd_slice_text(slice->file_id)) &&
            hd_slice_equal(name.instant, hd_slice_text(slice->base_instant)))
            HD_TRY(add_name(op, planner, notes->cdc_files[i]));
    }
    return HUDI_OK;
}

static bool is_needed(const struct hd_clean_planner *planner, const char *name)
{
    return hd_map_find(&planner->needed, hd_slice_text(name)) != NULL;
}

/* Invariant 3. */
static bool is_held(const struct hd_clean_planner *planner, const struct hd_file_slice *slice)
{
    if (slice->compaction_instant != NULL)
        return true;
    if (planner->needed.n_entries == 0)
        return false;
    if (slice->base != NULL && is_needed(planner, slice->base->name))
        return true;
    for (size_t i = 0; i < slice->n_logs; i++)
        if (is_needed(planner, slice->logs[i].name))
            return true;
    return false;
}

static hudi_status add_slice(struct hd_op *op, struct hd_clean_planner *planner,
                             const struct folder_notes *notes, const struct hd_file_slice *slice)
{
    if (is_held(planner, slice))
        return HUDI_OK;
    if (slice->base != NULL)
        HD_TRY(add_file(op, planner, slice->base));
    for (size_t i = 0; i < slice->n_logs; i++)
        HD_TRY(add_file(op, planner, &slice->logs[i]));
    return add_cdc_files(op, planner, notes, slice);
}

/* Base instant of the slice that a pending compaction rewrites, or NULL: that slice and later ones
 * are part of its work. */
static hudi_status compacted_instant(struct hd_op *op, struct hd_clean_planner *planner,
                                     const struct hd_file_group *group, const char **out)
{
    *out = NULL;
    if (planner->compactions.n_entries == 0)
        return HUDI_OK;
    planner->key.size = 0;
    HD_TRY(hd_str_printf(op, &planner->key, "%s/%s", group->partition_path, group->file_id));
    const struct hd_map_entry *const entry =
        hd_map_find(&planner->compactions, hd_str_slice(&planner->key));
    if (entry != NULL)
        *out = (const char *)(uintptr_t)entry->value;
    return HUDI_OK;
}

/* Slices come newest first: the first one stays, and the newest before the earliest instant. */
static hudi_status plan_by_time(struct hd_op *op, struct hd_clean_planner *planner,
                                const struct folder_notes *notes, const struct hd_file_group *group,
                                const char *compacted)
{
    const char *const earliest = planner->plan->earliest_time;
    bool kept_one_before = false;

    for (size_t i = 0; i < group->n_slices; i++) {
        const struct hd_file_slice *const slice = &group->slices[i];

        if (strcmp(slice->base_instant, earliest) >= 0)
            continue;
        const bool stays = i == 0 || !kept_one_before ||
                           (compacted != NULL && strcmp(slice->base_instant, compacted) >= 0);
        kept_one_before = true;
        if (!stays)
            HD_TRY(add_slice(op, planner, notes, slice));
    }
    return HUDI_OK;
}

static hudi_status plan_by_versions(struct hd_op *op, struct hd_clean_planner *planner,
                                    const struct folder_notes *notes,
                                    const struct hd_file_group *group, const char *compacted)
{
    int64_t n_left = planner->n_retained - (compacted != NULL);

    for (size_t i = 0; i < group->n_slices; i++) {
        const struct hd_file_slice *const slice = &group->slices[i];

        if (compacted != NULL && strcmp(slice->base_instant, compacted) >= 0)
            continue;
        if (n_left-- > 0 || i == 0)
            continue;
        HD_TRY(add_slice(op, planner, notes, slice));
    }
    return HUDI_OK;
}

static hudi_status plan_group(struct hd_op *op, struct hd_clean_planner *planner,
                              const struct folder_notes *notes, const struct hd_file_group *group)
{
    const char *compacted;

    if (group->replaced_by != NULL) {
        if (planner->policy != HD_CLEAN_VERSIONS &&
            strcmp(group->replaced_by, planner->plan->earliest_time) >= 0)
            return HUDI_OK;
        for (size_t i = 0; i < group->n_slices; i++)
            HD_TRY(add_slice(op, planner, notes, &group->slices[i]));
        return HUDI_OK;
    }
    HD_TRY(compacted_instant(op, planner, group, &compacted));
    return planner->policy == HD_CLEAN_VERSIONS
               ? plan_by_versions(op, planner, notes, group, compacted)
               : plan_by_time(op, planner, notes, group, compacted);
}

/* ---- partitions ----------------------------------------------------------------------------- */

static hudi_status keep_partition(struct hd_op *op, struct hd_clean_planner *planner,
                                  const char *path)
{
    struct hd_clean_partition *partition;

    HD_TRY(hd_grow(op, &planner->partitions, &planner->partition_capacity,
                   planner->n_partitions + 1, sizeof *planner->partitions));
    partition = &planner->partitions[planner->n_partitions];
    *partition = (struct hd_clean_partition){.n_files = planner->n_names};
    HD_TRY(hd_arena_strdup(op, &planner->plan->arena, path, (char **)&partition->partition_path));
    HD_TRY(hd_arena_array(op, &planner->plan->arena, planner->n_names, sizeof *partition->files,
                          &partition->files));
    memcpy(partition->files, planner->names, planner->n_names * sizeof *planner->names);
    planner->n_partitions++;
    return HUDI_OK;
}

/* Nothing is left in the partition then, and nobody is about to write: a write that has begun may
 * have made the folder and no file yet. */
static hudi_status consider_deletion(struct hd_op *op, struct hd_clean_planner *planner,
                                     const struct folder_notes *notes, const char *path,
                                     size_t n_live)
{
    char *copy;

    if (n_live > 0 || planner->has_pending_write || notes->has_folders || path[0] == '\0' ||
        planner->n_names != notes->n_data_files ||
        !planner->table->config.version->clean_deletes_partitions)
        return HUDI_OK;
    HD_TRY(hd_grow(op, &planner->deleted, &planner->deleted_capacity, planner->n_deleted + 1,
                   sizeof *planner->deleted));
    HD_TRY(hd_arena_strdup(op, &planner->plan->arena, path, &copy));
    planner->deleted[planner->n_deleted++] = copy;
    return HUDI_OK;
}

static hudi_status plan_partition(struct hd_op *op, struct hd_clean_planner *planner,
                                  const struct folder_notes *notes,
                                  const struct hd_file_system_view *view, size_t i)
{
    size_t n_live = 0;

    planner->n_names = 0;
    for (size_t g = view->first_group[i]; g < view->first_group[i + 1]; g++) {
        HD_TRY(plan_group(op, planner, notes, &view->groups[g]));
        n_live += view->groups[g].replaced_by == NULL;
    }
    if (planner->n_names > 0)
        HD_TRY(keep_partition(op, planner, view->partitions[i]));
    return consider_deletion(op, planner, notes, view->partitions[i], n_live);
}

static hudi_status plan_wave(struct hd_op *op, struct hd_clean_planner *planner, struct wave *wave)
{
    const struct hd_partition_lister lister = {list_folder, wave};
    struct hd_file_system_view view = {0};

    hudi_status status =
        hd_file_system_view_of_lister(op, planner->pool, &lister, &planner->table->timeline,
                                      wave->partitions, wave->n_partitions, &view);
    /* The view's partitions are the wave's: both are sorted, each once. */
    for (size_t i = 0; i < view.n_partitions && status == HUDI_OK; i++)
        status = plan_partition(op, planner, &wave->notes[i], &view, i);
    hd_file_system_view_clear(&view);
    return status;
}

hudi_status hd_clean_plan_partitions(struct hd_op *op, struct hd_clean_planner *planner,
                                     const char *const *partitions, size_t n)
{
    hudi_status status = HUDI_OK;
    struct wave *wave;

    HD_TRY(hd_alloc(op, sizeof *wave, &wave));
    wave->table = planner->table;
    for (size_t start = 0; start < n && status == HUDI_OK; start += wave->n_partitions) {
        wave->partitions = &partitions[start];
        wave->n_partitions = n - start < WAVE_PARTITIONS ? n - start : WAVE_PARTITIONS;
        status = plan_wave(op, planner, wave);
        for (size_t i = 0; i < wave->n_partitions; i++) {
            hd_arena_clear(&wave->notes[i].arena);
            wave->notes[i] = (struct folder_notes){0};
        }
    }
    hd_free(op, wave);
    return status;
}
