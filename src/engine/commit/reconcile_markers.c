/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/reconcile_markers.h"

#include "base/map.h"
#include "format/marker/marker.h"

hudi_status hd_reconcile_markers(struct hd_op *op, const struct hd_table_snapshot *table,
                                 const char *instant_time,
                                 const struct hd_commit_metadata *metadata)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct hd_map named = {0};
    struct hd_marker *markers;
    size_t n_markers;

    status =
        hd_markers_read(op, table->fs, table->path, instant_time, &arena, &markers, &n_markers);
    if (status == HUDI_NOT_FOUND) {
        status = HUDI_OK;
        goto out;
    }
    HD_TRY_OUT(status);
    for (size_t i = 0; i < metadata->n_stats; i++)
        HD_TRY_OUT(hd_map_put(op, &named, hd_slice_text(metadata->stats[i].path), 0, NULL, NULL));
    for (size_t i = 0; i < n_markers; i++) {
        char *path = NULL;

        if (markers[i].type == HD_IO_APPEND ||
            hd_map_find(&named, hd_slice_text(markers[i].data_path)) != NULL)
            continue;
        HD_TRY_OUT(hd_path_join(op, table->path, markers[i].data_path, &path));
        status = hd_fs_delete_file(op, table->fs, path);
        if (status == HUDI_OK)
            hd_log(op, HD_LOG_INFO, "deleted %s, left by an attempt that does not count",
                   markers[i].data_path);
        if (status == HUDI_NOT_FOUND)
            status = HUDI_OK;
        hd_free(op, path);
        HD_TRY_OUT(status);
    }
out:
    hd_map_clear(&named);
    hd_arena_clear(&arena);
    return status;
}
