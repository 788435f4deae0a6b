/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/reconcile_markers.h"

#include "base/map.h"
#include "format/marker/marker.h"

/* Folders of partitions whose files came or went. */
struct changed {
    const struct hd_table_snapshot *table;
    struct hd_map partitions;
};

static hudi_status sync_partition(struct hd_op *op, void *argument, size_t i)
{
    const struct changed *changed = argument;
    char *path = NULL;

    HD_TRY(hd_path_join(op, changed->table->path,
                        (const char *)changed->partitions.entries[i].key.data, &path));
    const hudi_status status = hd_fs_sync_dir(op, changed->table->fs, path);
    hd_free(op, path);
    return status;
}

static hudi_status note_folder(struct hd_op *op, struct changed *changed, const char *file_path)
{
    const char *slash = strrchr(file_path, '/');
    const size_t n = slash == NULL ? 0 : (size_t)(slash - file_path);

    return hd_map_put(op, &changed->partitions, hd_slice_of(file_path, n), 0, NULL, NULL);
}

static hudi_status delete_stray(struct hd_op *op, struct changed *changed, const char *file_path)
{
    char *path = NULL;

    HD_TRY(hd_path_join(op, changed->table->path, file_path, &path));
    const hudi_status status = hd_fs_delete_file(op, changed->table->fs, path);
    hd_free(op, path);
    if (status == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(status);
    hd_log(op, HD_LOG_INFO, "deleted %s, left by an attempt that does not count", file_path);
    return note_folder(op, changed, file_path);
}

hudi_status hd_reconcile_markers(struct hd_op *op, hd_pool *pool,
                                 const struct hd_table_snapshot *table, const char *instant_time,
                                 const struct hd_commit_metadata *metadata)
{
    hudi_status status = HUDI_OK;
    struct changed changed = {.table = table};
    struct hd_arena arena = {0};
    struct hd_map named = {0};
    struct hd_marker *markers;
    size_t n_markers = 0;

    status =
        hd_markers_read(op, table->fs, table->path, instant_time, &arena, &markers, &n_markers);
    if (status != HUDI_OK && status != HUDI_NOT_FOUND)
        goto out;
    for (size_t i = 0; i < metadata->n_stats; i++) {
        HD_TRY_OUT(hd_map_put(op, &named, hd_slice_text(metadata->stats[i].path), 0, NULL, NULL));
        HD_TRY_OUT(note_folder(op, &changed, metadata->stats[i].path));
    }
    for (size_t i = 0; i < n_markers; i++)
        if (markers[i].type != HD_IO_APPEND &&
            hd_map_find(&named, hd_slice_text(markers[i].data_path)) == NULL)
            HD_TRY_OUT(delete_stray(op, &changed, markers[i].data_path));
    status = hd_pool_each(op, pool, changed.partitions.n_entries, sync_partition, &changed);
out:
    hd_map_clear(&changed.partitions);
    hd_map_clear(&named);
    hd_arena_clear(&arena);
    return status;
}
