/* SPDX-License-Identifier: Apache-2.0 */
#include "service/preview.h"

#include <stdlib.h>
#include <string.h>

hudi_status hd_preview_add(struct hd_op *op, struct hd_preview *preview, const char *time,
                           const char *action, const char *state, size_t max_files, size_t max_logs,
                           struct hd_preview_instant **out)
{
    struct hd_arena *const arena = &preview->arena;
    struct hd_preview_instant instant = {.file_capacity = max_files};

    HD_TRY(hd_arena_strdup(op, arena, time, (char **)&instant.time));
    HD_TRY(hd_arena_strdup(op, arena, action, (char **)&instant.action));
    HD_TRY(hd_arena_strdup(op, arena, state, (char **)&instant.state));
    HD_TRY(hd_arena_array(op, arena, max_files, sizeof *instant.files, &instant.files));
    HD_TRY(hd_arena_array(op, arena, max_logs, sizeof *instant.logs, &instant.logs));
    HD_TRY(hd_grow(op, &preview->instants, &preview->capacity, preview->n_instants + 1,
                   sizeof *preview->instants));
    *out = &preview->instants[preview->n_instants++];
    **out = instant;
    return HUDI_OK;
}

hudi_status hd_preview_add_file(struct hd_op *op, struct hd_preview *preview,
                                const struct hd_table_snapshot *table, const char *partition_path,
                                const char *name, struct hd_preview_instant *instant)
{
    hudi_status status = HUDI_OK;
    struct hd_preview_file file;
    struct hd_file_info info;
    char *dir = NULL, *path = NULL;

    HD_TRY_OUT(hd_op_check_cancel(op));
    HD_TRY_OUT(hd_path_join(op, table->path, partition_path, &dir));
    HD_TRY_OUT(hd_path_join(op, dir, name, &path));
    status = hd_fs_stat(op, table->fs, path, &info);
    if (status == HUDI_NOT_FOUND) {
        status = HUDI_OK;
        goto out;
    }
    HD_TRY_OUT(status);
    HD_TRY_OUT(hd_arena_strdup(op, &preview->arena, partition_path, (char **)&file.partition_path));
    HD_TRY_OUT(hd_arena_strdup(op, &preview->arena, name, (char **)&file.name));
    instant->files[instant->n_files++] = file;
    instant->n_bytes += info.size_bytes;
out:
    hd_free(op, dir);
    hd_free(op, path);
    return status;
}

static int compare(const void *left, const void *right)
{
    const struct hd_preview_file *const a = left, *const b = right;
    const int order = strcmp(a->partition_path, b->partition_path);

    return order != 0 ? order : strcmp(a->name, b->name);
}

void hd_preview_sort(struct hd_preview *preview)
{
    for (size_t i = 0; i < preview->n_instants; i++) {
        struct hd_preview_instant *const instant = &preview->instants[i];

        if (instant->n_files > 0)
            qsort(instant->files, instant->n_files, sizeof *instant->files, compare);
        if (instant->n_logs > 0)
            qsort(instant->logs, instant->n_logs, sizeof *instant->logs, compare);
    }
}

void hd_preview_clear(struct hd_preview *preview)
{
    hd_arena_clear(&preview->arena);
    hd_free(NULL, preview->instants);
    *preview = (struct hd_preview){0};
}
