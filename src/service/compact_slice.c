/* SPDX-License-Identifier: Apache-2.0 */
#include "service/compact_slice.h"

#include <inttypes.h>
#include <string.h>

#include "arrow/schema.h"
#include "engine/write/rewrite_handle.h"
#include "format/table/table_schema.h"
#include "store/base_file.h"

hudi_status hd_count_base_rows(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_slice_source *source, int64_t *n_rows)
{
    hudi_status status = HUDI_OK;
    hd_input_file *file = NULL;
    hd_base_reader *reader = NULL;
    char *path = NULL;

    *n_rows = 0;
    if (source->base_path == NULL)
        return HUDI_OK;
    HD_TRY_OUT(hd_path_join(op, table->path, source->base_path, &path));
    HD_TRY_OUT(hd_fs_open_input(op, table->fs, path, &file));
    HD_TRY_OUT(hd_base_reader_open(op, file, table->config.base_file_format, &reader));
    *n_rows = hd_base_reader_n_rows(reader);
    if (hd_schema_find(hd_base_reader_schema(reader), HD_META_OPERATION) >= 0)
        status = hd_fail(op, HUDI_NOT_IMPLEMENTED,
                         "the file keeps changelog operations (%s); compacting such tables is not "
                         "supported",
                         HD_META_OPERATION);
out:
    hd_base_reader_close(reader);
    hd_free(op, path);
    return hd_fail_path(op, status, source->base_path);
}

static bool wants_row_group(void *self, const hd_base_reader *base, int32_t row_group)
{
    return hd_rewrite_handle_wants_copy(self, base, row_group);
}

static hudi_status take_row_group(struct hd_op *op, void *self, hd_base_reader *base,
                                  int32_t row_group)
{
    return hd_rewrite_handle_copy(op, self, base, row_group);
}

/* Row groups that no log record touches go over as bytes, where the file is one that we write. */
static hudi_status copy_row_groups(struct hd_op *op, hd_slice_reader *reader,
                                   hd_rewrite_handle *handle)
{
    const struct hd_row_group_taker taker = {
        .self = handle, .wants = wants_row_group, .take = take_row_group};
    hd_base_reader *const base = hd_slice_reader_base(reader);
    bool can = false;

    if (base != NULL)
        HD_TRY(hd_rewrite_handle_can_copy(op, handle, base, &can));
    return can ? hd_slice_reader_give_row_groups(op, reader, &taker) : HUDI_OK;
}

static hudi_status copy_rows(struct hd_op *op, hd_slice_reader *reader, hd_rewrite_handle *handle)
{
    struct ArrowArray batch;

    for (;;) {
        const hudi_status status = hd_slice_reader_next(op, reader, &batch);

        if (status == HUDI_END)
            return HUDI_OK;
        HD_TRY(status);
        HD_TRY(hd_rewrite_handle_add(op, handle, &batch));
    }
}

hudi_status hd_check_slice_rows(struct hd_op *op, const struct hd_slice_source *source,
                                const struct hd_slice_merge_stats *stats, int64_t n_base,
                                int64_t n_rows)
{
    if (n_rows != n_base - stats->n_deleted + stats->n_added)
        return hd_fail(op, HUDI_INTERNAL,
                       "file group %s gave %" PRId64 " rows, of %" PRId64
                       " in the base file, %" PRId64 " deleted and %" PRId64 " added",
                       source->file_id, n_rows, n_base, stats->n_deleted, stats->n_added);
    if (stats->n_entries != stats->n_met + stats->n_added + stats->n_void)
        return hd_fail(op, HUDI_INTERNAL,
                       "file group %s: of %" PRId64 " keys in log files %" PRId64
                       " met a row, %" PRId64 " became one and %" PRId64 " were deletes",
                       source->file_id, stats->n_entries, stats->n_met, stats->n_added,
                       stats->n_void);
    return HUDI_OK;
}

hudi_status hd_check_slice_keys(struct hd_op *op, const struct hd_slice_source *source,
                                const struct hd_slice_merge_stats *stats,
                                const struct hd_key_digest *keys)
{
    if (!stats->has_keys || hd_key_digest_equals(&stats->keys, keys))
        return HUDI_OK;
    return hd_fail(op, HUDI_INTERNAL,
                   "file group %s: the keys of %" PRId64
                   " merged rows are not those of the %" PRId64 " rows that it has",
                   source->file_id, keys->n, stats->keys.n);
}

static hudi_status fill_stat(struct hd_op *op, const struct hd_slice_source *source,
                             const struct hd_slice_merge_stats *stats, uint64_t log_bytes,
                             struct hd_arena *arena, struct hd_write_stat *stat)
{
    const bool merges = source->base_path != NULL;
    const char *const prev = merges ? source->instant : "null";

    HD_TRY(hd_arena_strdup(op, arena, prev, (char **)&stat->prev_commit));
    stat->num_update_writes = stats->n_updated;
    stat->num_deletes = stats->n_deleted + stats->n_void;
    stat->num_inserts = stats->n_added;
    stat->total_log_records = stats->n_records;
    stat->total_log_files_compacted = stats->n_log_files;
    stat->total_log_size_compacted = (int64_t)log_bytes;
    stat->total_updated_records_compacted = stats->n_entries;
    stat->total_log_blocks = stats->n_blocks;
    stat->total_corrupt_log_blocks = stats->n_corrupt_blocks;
    stat->total_rollback_blocks = stats->n_rollback_blocks;
    return HUDI_OK;
}

hudi_status hd_compact_slice(struct hd_op *op, const struct hd_rewrite_job *job,
                             const struct hd_slice_source *source, uint64_t log_bytes,
                             uint32_t ordinal, struct hd_arena *arena, struct hd_write_stat *stat)
{
    const struct hd_rewrite_request request = {.config = &job->config,
                                               .schema = &job->schema,
                                               .rows = &job->rows,
                                               .partition_path = source->partition_path,
                                               .file_id = source->file_id,
                                               .ordinal = ordinal,
                                               .io_type = source->base_path == NULL ? HD_IO_CREATE
                                                                                    : HD_IO_MERGE};
    hudi_status status = HUDI_OK;
    hd_slice_reader *reader = NULL;
    hd_rewrite_handle *handle = NULL;
    struct hd_slice_merge_stats stats;
    int64_t n_base;

    *stat = (struct hd_write_stat){0};
    HD_TRY_OUT(hd_count_base_rows(op, job->config.table, source, &n_base));
    HD_TRY_OUT(hd_slice_reader_open(op, &job->query, source, &reader));
    stats = hd_slice_reader_merge_stats(reader);
    if (source->base_path == NULL && stats.n_entries == 0)
        goto out;
    HD_TRY_OUT(hd_rewrite_handle_open(op, &request, &handle));
    HD_TRY_OUT(copy_row_groups(op, reader, handle));
    HD_TRY_OUT(copy_rows(op, reader, handle));
    stats = hd_slice_reader_merge_stats(reader);
    HD_TRY_OUT(hd_check_slice_rows(op, source, &stats, n_base, hd_rewrite_handle_rows(handle)));
    const struct hd_key_digest keys = hd_rewrite_handle_keys(handle);
    HD_TRY_OUT(hd_check_slice_keys(op, source, &stats, &keys));
    status = hd_rewrite_handle_close(op, handle, arena, stat);
    handle = NULL;
    HD_TRY_OUT(status);
    HD_TRY_OUT(fill_stat(op, source, &stats, log_bytes, arena, stat));
out:
    hd_rewrite_handle_abort(op, handle);
    hd_slice_reader_close(reader);
    return status;
}
