/* SPDX-License-Identifier: Apache-2.0 */

#include "format/layout/partition_walk.h"

#include <stdlib.h>
#include <string.h>

#include "format/layout/partition.h"

#define META_FOLDER ".hoodie"

/* Levels of folders below the table; a link that leads back into the table ends here. */
#define MAX_DEPTH 64

/* A folder to look at, and what was found in it. */
struct folder {
    const char
        *path; /* relative to the table; of the walk's arena, or the arena of the one above */
    bool is_partition;
    void *data;
    struct hd_arena arena;
    const char **below; /* paths of the folders in it */
    size_t n_below;
};

struct walk {
    hd_file_system *fs;
    const char *table_path;
    hd_partition_visit *visit;   /* NULL: names are all that is asked for */
    hd_partition_wanted *wanted; /* NULL: all */
    void *self;
    struct folder *folders; /* of the level being looked at */
    size_t n_folders;
};

hudi_status hd_each(struct hd_op *op, hd_pool *pool, size_t n,
                    hudi_status (*work)(struct hd_op *op, void *argument, size_t i), void *argument)
{
    if (pool != NULL && n > 1)
        return hd_pool_each(op, pool, n, work, argument);
    for (size_t i = 0; i < n; i++) {
        HD_TRY(hd_op_check_cancel(op));
        HD_TRY(work(op, argument, i));
    }
    return HUDI_OK;
}

static bool is_metafile(const struct hd_file_info *info)
{
    static const char *const NAMES[] = {HD_PARTITION_METAFILE, HD_PARTITION_METAFILE ".parquet",
                                        HD_PARTITION_METAFILE ".orc"};

    for (size_t i = 0; !info->is_dir && i < HD_ARRAY_LENGTH(NAMES); i++) {
        if (strcmp(info->name, NAMES[i]) == 0)
            return true;
    }
    return false;
}

static hudi_status collect_below(struct hd_op *op, const struct walk *walk, struct folder *folder,
                                 const struct hd_file_info *infos, size_t n_infos)
{
    const bool is_table = folder->path[0] == '\0';
    size_t n_dirs = 0;

    for (size_t i = 0; i < n_infos; i++) {
        n_dirs += infos[i].is_dir;
        folder->is_partition = folder->is_partition || is_metafile(&infos[i]);
    }
    HD_TRY(hd_arena_array(op, &folder->arena, n_dirs, sizeof *folder->below, &folder->below));
    for (size_t i = 0; i < n_infos; i++) {
        char *path;
        bool wanted = true;

        if (!infos[i].is_dir || (is_table && strcmp(infos[i].name, META_FOLDER) == 0))
            continue;
        HD_TRY(hd_arena_printf(op, &folder->arena, &path, "%s%s%s", folder->path,
                               is_table ? "" : "/", infos[i].name));
        if (walk->wanted != NULL)
            HD_TRY(walk->wanted(op, walk->self, path, &wanted));
        if (wanted)
            folder->below[folder->n_below++] = path;
    }
    return HUDI_OK;
}

static hudi_status look_into(struct hd_op *op, void *argument, size_t i)
{
    const struct walk *const walk = argument;
    struct folder *const folder = &walk->folders[i];
    hudi_status status = HUDI_OK;
    struct hd_arena listing = {0};
    struct hd_file_info *infos;
    size_t n_infos;
    char *path = NULL;

    HD_TRY_OUT(hd_path_join(op, walk->table_path, folder->path, &path));
    status = walk->visit != NULL ? hd_fs_list(op, walk->fs, path, &listing, &infos, &n_infos)
                                 : hd_fs_list_names(op, walk->fs, path, &listing, &infos, &n_infos);
    if (status == HUDI_NOT_FOUND) { /* deleted since its parent was listed */
        status = HUDI_OK;
        goto out;
    }
    HD_TRY_OUT(status);
    HD_TRY_OUT(collect_below(op, walk, folder, infos, n_infos));
    if (folder->is_partition && walk->visit != NULL)
        HD_TRY_OUT(walk->visit(op, walk->self, folder->path, infos, n_infos, &folder->data));
out:
    hd_arena_clear(&listing);
    hd_free(op, path);
    return status;
}

/* The partitions among the folders of this level, added to `found`, which has room for them. */
static void keep_partitions(const struct walk *walk, struct hd_walked_partition *found,
                            size_t *n_found)
{
    for (size_t i = 0; i < walk->n_folders; i++) {
        const struct folder *const folder = &walk->folders[i];

        if (folder->is_partition)
            found[(*n_found)++] = (struct hd_walked_partition){folder->path, folder->data};
    }
}

/* Replace the level by the one below it. */
static hudi_status descend(struct hd_op *op, struct walk *walk, struct hd_arena *arena)
{
    struct folder *below;
    size_t n_below = 0, at = 0;

    for (size_t i = 0; i < walk->n_folders; i++)
        n_below += walk->folders[i].n_below;
    HD_TRY(hd_alloc_array(op, n_below, sizeof *below, &below));
    for (size_t i = 0; i < walk->n_folders; i++) {
        for (size_t j = 0; j < walk->folders[i].n_below; j++) {
            char *path;
            const hudi_status status = hd_arena_strdup(op, arena, walk->folders[i].below[j], &path);

            if (status != HUDI_OK) {
                hd_free(op, below);
                return status;
            }
            below[at++].path = path;
        }
        hd_arena_clear(&walk->folders[i].arena);
    }
    hd_free(op, walk->folders);
    walk->folders = below;
    walk->n_folders = n_below;
    return HUDI_OK;
}

static int compare_walked(const void *a, const void *b)
{
    return strcmp(((const struct hd_walked_partition *)a)->path,
                  ((const struct hd_walked_partition *)b)->path);
}

static hudi_status walk_levels(struct hd_op *op, hd_pool *pool, struct walk *walk,
                               struct hd_arena *arena, struct hd_walked_partition **found,
                               size_t *n_found)
{
    size_t capacity = 0;

    HD_TRY(hd_alloc_array(op, 1, sizeof *walk->folders, &walk->folders));
    walk->folders[0].path = "";
    walk->n_folders = 1;
    for (unsigned depth = 0; walk->n_folders > 0; depth++) {
        if (depth > MAX_DEPTH)
            return hd_fail(op, HUDI_CORRUPT, "folders are more than %d levels deep at \"%s\"",
                           MAX_DEPTH, walk->folders[0].path);
        HD_TRY(hd_grow(op, found, &capacity, *n_found + walk->n_folders, sizeof **found));
        const hudi_status status = hd_each(op, pool, walk->n_folders, look_into, walk);
        keep_partitions(walk, *found, n_found); /* also on failure: it holds the visitors' data */
        HD_TRY(status);
        HD_TRY(descend(op, walk, arena));
    }
    return HUDI_OK;
}

static hudi_status run_walk(struct hd_op *op, hd_pool *pool, struct walk *walk,
                            struct hd_arena *arena, struct hd_walked_partition **out, size_t *n)
{
    struct hd_walked_partition *found = NULL;
    size_t n_found = 0;

    *out = NULL;
    *n = 0;
    hudi_status status = walk_levels(op, pool, walk, arena, &found, &n_found);
    for (size_t i = 0; i < walk->n_folders; i++)
        hd_arena_clear(&walk->folders[i].arena);
    hd_free(op, walk->folders);
    if (n_found > 0)
        qsort(found, n_found, sizeof *found, compare_walked);
    *out = found;
    *n = n_found;
    return status;
}

hudi_status hd_partition_walk(struct hd_op *op, hd_pool *pool, hd_file_system *fs,
                              const char *table_path, hd_partition_visit *visit, void *self,
                              struct hd_arena *arena, struct hd_walked_partition **out, size_t *n)
{
    struct walk walk = {.fs = fs, .table_path = table_path, .visit = visit, .self = self};

    return run_walk(op, pool, &walk, arena, out, n);
}

hudi_status hd_partition_walk_wanted(struct hd_op *op, hd_pool *pool, hd_file_system *fs,
                                     const char *table_path, hd_partition_wanted *wanted,
                                     void *self, struct hd_arena *arena,
                                     struct hd_walked_partition **out, size_t *n)
{
    struct walk walk = {.fs = fs, .table_path = table_path, .wanted = wanted, .self = self};

    return run_walk(op, pool, &walk, arena, out, n);
}

hudi_status hd_partitions_list(struct hd_op *op, hd_file_system *fs, const char *table_path,
                               const struct hd_table_config *config, struct hd_arena *arena,
                               const char ***out, size_t *n)
{
    struct hd_walked_partition *found = NULL;
    size_t n_found = 0;

    *out = NULL;
    *n = 0;
    if (config->n_partition_fields == 0) {
        HD_TRY(hd_arena_array(op, arena, 1, sizeof **out, out));
        (*out)[0] = "";
        *n = 1;
        return HUDI_OK;
    }
    hudi_status status =
        hd_partition_walk(op, NULL, fs, table_path, NULL, NULL, arena, &found, &n_found);
    if (status == HUDI_OK)
        status = hd_arena_array(op, arena, n_found, sizeof **out, out);
    for (size_t i = 0; status == HUDI_OK && i < n_found; i++)
        (*out)[i] = found[i].path;
    if (status == HUDI_OK)
        *n = n_found;
    hd_free(op, found);
    return status;
}
