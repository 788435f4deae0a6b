/* SPDX-License-Identifier: Apache-2.0 */
#include "service/log_compact_slice.h"

#include "base/progress.h"
#include <inttypes.h>
#include <string.h>

#include "arrow/array.h"
#include "engine/slice/log_entries.h"
#include "engine/write/append_handle.h"

static hudi_status append_all(struct hd_op *op, hd_log_entries *entries, hd_append_handle *handle)
{
    struct hd_log_entry_batch batch;
    hudi_status status;

    while ((status = hd_log_entries_next(op, entries, &batch)) == HUDI_OK) {
        const uint64_t n_rows = (uint64_t)batch.rows.length;

        status = hd_append_handle_append_merged(op, handle, &batch.rows, &batch.keys,
                                                batch.is_delete, batch.by_arrival);
        hd_array_clear(&batch.rows);
        hd_array_clear(&batch.keys);
        HD_TRY(status);
        hd_progress_add(op, 0, n_rows);
    }
    return status == HUDI_END ? HUDI_OK : status;
}

/* No key is lost or doubled; what was read is told with the first file. */
static hudi_status end_stats(struct hd_op *op, const struct hd_slice_source *source,
                             const struct hd_slice_merge_stats *merged, uint64_t log_bytes,
                             struct hd_write_stat *stats, size_t n)
{
    int64_t n_written = 0;

    for (size_t i = 0; i < n; i++)
        n_written += stats[i].num_writes + stats[i].num_deletes;
    if (n_written != merged->n_entries)
        return hd_fail(op, HUDI_INTERNAL,
                       "file group %s: of %" PRId64 " keys in log files %" PRId64 " were written",
                       source->file_id, merged->n_entries, n_written);
    stats[0].total_log_records = merged->n_records;
    stats[0].total_log_files_compacted = merged->n_log_files;
    stats[0].total_log_size_compacted = (int64_t)log_bytes;
    stats[0].total_updated_records_compacted = merged->n_entries;
    stats[0].total_log_blocks = merged->n_blocks;
    stats[0].total_corrupt_log_blocks = merged->n_corrupt_blocks;
    stats[0].total_rollback_blocks = merged->n_rollback_blocks;
    return HUDI_OK;
}

static hudi_status write_entries(struct hd_op *op, const struct hd_append_request *request,
                                 hd_log_entries *entries, struct hd_write_status *status)
{
    hd_append_handle *handle;

    HD_TRY(hd_append_handle_open(op, request, status, &handle));
    const hudi_status appended = append_all(op, entries, handle);
    if (appended == HUDI_OK)
        return hd_append_handle_close(op, handle);
    hd_append_handle_abort(op, handle);
    return appended;
}

hudi_status hd_log_compact_slice(struct hd_op *op, const struct hd_rewrite_job *job,
                                 const struct hd_slice_source *source,
                                 const struct hd_file_slice *slice, uint64_t log_bytes,
                                 uint32_t ordinal, struct hd_write_status *write_status)
{
    const size_t n_before = write_status->n_stats;
    hudi_status status = HUDI_OK;
    hd_log_entries *entries = NULL;

    HD_TRY_OUT(hd_log_entries_open(op, &job->query, source, &entries));
    const struct hd_append_request request = {.config = &job->config,
                                              .schema = &job->schema,
                                              .merger = hd_log_entries_merger(entries),
                                              .slice = slice,
                                              .ordinal = ordinal,
                                              .compacted = hd_log_entries_instants(entries)};
    if (hd_log_entries_stats(entries).n_entries == 0)
        goto out;
    if (strcmp(hd_log_entries_newest(entries), job->config.instant_time) > 0) {
        hd_log(op, HD_LOG_INFO, "log files of file group %s are newer than log compaction %s",
               source->file_id, job->config.instant_time);
        goto out;
    }
    HD_TRY_OUT(write_entries(op, &request, entries, write_status));
    const struct hd_slice_merge_stats merged = hd_log_entries_stats(entries);
    status = end_stats(op, source, &merged, log_bytes, write_status->stats + n_before,
                       write_status->n_stats - n_before);
out:
    hd_log_entries_close(op, entries);
    return status;
}
