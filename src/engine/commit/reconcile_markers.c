/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/reconcile_markers.h"

#include "base/map.h"
#include "format/layout/file_name.h"
#include "format/log/log_reader.h"
#include "format/log/log_writer.h"
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

/* ---- log files --------------------------------------------------------------------------------
 */

/* Does a log file hold blocks of the instant, and of no other? A marker's name alone does not say
 * so: it may have been taken by an older file. */
static hudi_status is_of_instant_alone(struct hd_op *op, const struct changed *changed,
                                       const char *file_path, const char *instant_time, bool *out)
{
    hudi_status status = HUDI_OK;
    hd_log_reader *reader = NULL;
    char *path = NULL;
    bool others = false;
    size_t n = 0;

    *out = false;
    HD_TRY_OUT(hd_path_join(op, changed->table->path, file_path, &path));
    HD_TRY_OUT(hd_log_reader_open(op, changed->table->fs, path, &reader));
    while (status == HUDI_OK && !others) {
        struct hd_log_block block;
        struct hd_slice time;

        status = hd_log_reader_next(op, reader, &block);
        if (status != HUDI_OK)
            break;
        others = block.type == HD_LOG_CORRUPT ||
                 hd_log_header_find(op, &block, HD_LOG_INSTANT_TIME, &time) != HUDI_OK ||
                 !hd_slice_equal(time, hd_slice_text(instant_time));
        hd_log_block_clear(op, &block);
        n++;
    }
    *out = n > 0 && !others;
    status = status == HUDI_END ? HUDI_OK : status;
out:
    hd_log_reader_close(op, reader);
    hd_free(op, path);
    return status;
}

/* Is `file` what the marker announced: that very log file, or, where the marker is named like a
 * base file, a log file of that slice by that writer? */
static bool is_announced(const char *file, const char *marker_name)
{
    struct hd_file_name parts, marker;

    if (!hd_file_name_parse(file, &parts) ||
        (parts.kind != HD_FILE_LOG && parts.kind != HD_FILE_CDC_LOG))
        return false;
    if (strcmp(file, marker_name) == 0)
        return true;
    return hd_file_name_parse(marker_name, &marker) && marker.kind == HD_FILE_BASE &&
           hd_slice_equal(parts.file_id, marker.file_id) &&
           hd_slice_equal(parts.instant, marker.instant) &&
           hd_slice_equal(parts.write_token, marker.write_token);
}

/* Log files of an attempt that does not count: no stat names them. The blocks of a file that was
 * begun for this instant would show with it. The attempt may have left temporary files, too: all
 * attempts that count are done. */
static hudi_status delete_stray_logs(struct hd_op *op, struct changed *changed,
                                     const struct hd_map *named, const char *marker_path,
                                     const char *instant_time)
{
    hudi_status status = HUDI_OK;
    const char *slash = strrchr(marker_path, '/');
    const char *marker_name = slash == NULL ? marker_path : slash + 1;
    struct hd_arena arena = {0};
    struct hd_file_info *files;
    char *partition = NULL, *dir = NULL, *path = NULL;
    size_t n = 0;
    bool alone;

    HD_TRY_OUT(hd_strndup(op, marker_path, (size_t)(marker_name - marker_path), &partition));
    if (slash != NULL)
        partition[slash - marker_path] = '\0';
    HD_TRY_OUT(hd_path_join(op, changed->table->path, partition, &dir));
    status = hd_fs_list_names(op, changed->table->fs, dir, &arena, &files, &n);
    HD_TRY_OUT(status == HUDI_NOT_FOUND ? HUDI_OK : status);
    for (size_t i = 0; i < n; i++) {
        const bool temporary = hd_log_temporary_is_of(files[i].name, instant_time);

        if (files[i].is_dir || (!temporary && !is_announced(files[i].name, marker_name)))
            continue;
        hd_free(op, path);
        path = NULL;
        HD_TRY_OUT(hd_path_join(op, partition, files[i].name, &path));
        if (hd_map_find(named, hd_slice_text(path)) != NULL)
            continue;
        alone = temporary;
        if (!temporary)
            HD_TRY_OUT(is_of_instant_alone(op, changed, path, instant_time, &alone));
        if (alone)
            HD_TRY_OUT(delete_stray(op, changed, path));
    }
out:
    hd_free(op, partition);
    hd_free(op, dir);
    hd_free(op, path);
    hd_arena_clear(&arena);
    return status;
}

/* The files of a stat, and for a log file the marker that is named like a base file: whoever it is
 * from is who wrote all of the slice's log files that count. */
static hudi_status note_stat(struct hd_op *op, const struct hd_table_snapshot *table,
                             const struct hd_write_stat *stat, struct hd_map *named)
{
    const char *name = strrchr(stat->path, '/');
    struct hd_file_name parts;
    struct hd_str marker = {0};

    HD_TRY(hd_map_put(op, named, hd_slice_text(stat->path), 0, NULL, NULL));
    for (size_t i = 0; i < stat->n_cdc; i++)
        HD_TRY(hd_map_put(op, named, hd_slice_text(stat->cdc_paths[i]), 0, NULL, NULL));
    name = name == NULL ? stat->path : name + 1;
    if (!stat->is_log || !table->config.version->append_marker_of_slice ||
        !hd_file_name_parse(name, &parts))
        return HUDI_OK;
    hudi_status status =
        hd_str_printf(op, &marker, "%.*s%.*s_%.*s_%.*s%s", (int)(name - stat->path), stat->path,
                      (int)parts.file_id.size, (const char *)parts.file_id.data,
                      (int)parts.write_token.size, (const char *)parts.write_token.data,
                      (int)parts.instant.size, (const char *)parts.instant.data,
                      table->config.base_file_format == HD_BASE_FILE_ORC ? ".orc" : ".parquet");
    if (status == HUDI_OK)
        status = hd_map_put(op, named, hd_str_slice(&marker), 0, NULL, NULL);
    hd_str_clear(&marker);
    return status;
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
        HD_TRY_OUT(note_stat(op, table, &metadata->stats[i], &named));
        HD_TRY_OUT(note_folder(op, &changed, metadata->stats[i].path));
    }
    for (size_t i = 0; i < n_markers; i++) {
        if (hd_map_find(&named, hd_slice_text(markers[i].data_path)) != NULL)
            continue;
        if (markers[i].type == HD_IO_APPEND)
            HD_TRY_OUT(delete_stray_logs(op, &changed, &named, markers[i].data_path, instant_time));
        else
            HD_TRY_OUT(delete_stray(op, &changed, markers[i].data_path));
    }
    status = hd_pool_each(op, pool, changed.partitions.n_entries, sync_partition, &changed);
out:
    hd_map_clear(&changed.partitions);
    hd_map_clear(&named);
    hd_arena_clear(&arena);
    return status;
}
