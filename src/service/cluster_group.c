/* SPDX-License-Identifier: Apache-2.0 */
#include "service/cluster_group.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arrow/schema.h"
#include "engine/write/rewrite_handle.h"
#include "format/table/table_schema.h"
#include "service/compact_slice.h"
#include "service/row_sorter.h"

/* New file groups that rows go to, one after the other. */
struct output {
    const struct hd_cluster_job *job;
    const char *partition_path;
    uint32_t ordinal;
    struct hd_write_status *status;
    hd_rewrite_handle *handle; /* NULL: no file is open */
    hd_row_sorter *sorter;     /* NULL: rows stay in order */
    int64_t n_read, n_written;
    struct hd_key_digest read, written; /* but for row groups */
};

static hudi_status open_file(struct hd_op *op, struct output *output)
{
    char uuid[HD_UUID_BYTES], file_id[HD_UUID_BYTES + 2];

    do
        hd_random_uuid(op, uuid);
    while (strspn(uuid, "0123456789") >= 8); /* would look like a bucket index's file group */
    snprintf(file_id, sizeof file_id, "%s-0", uuid);
    const struct hd_rewrite_request request = {.config = output->job->config,
                                               .schema = output->job->schema,
                                               .rows = output->job->rows,
                                               .partition_path = output->partition_path,
                                               .file_id = file_id,
                                               .ordinal = output->ordinal,
                                               .io_type = HD_IO_CREATE};
    return hd_rewrite_handle_open(op, &request, &output->handle);
}

static hudi_status close_file(struct hd_op *op, struct output *output)
{
    struct hd_write_stat stat = {.prev_commit = "null"};

    if (output->handle == NULL)
        return HUDI_OK;
    if (hd_rewrite_handle_rows(output->handle) == 0) { /* all deleted by log files */
        hd_rewrite_handle_abort(op, output->handle);
        output->handle = NULL;
        return HUDI_OK;
    }
    const struct hd_key_digest keys = hd_rewrite_handle_keys(output->handle);
    hd_key_digest_add_all(&output->written, &keys);
    const hudi_status status =
        hd_rewrite_handle_close(op, output->handle, &output->status->arena, &stat);
    output->handle = NULL;
    HD_TRY(status);
    stat.num_inserts = stat.num_writes;
    output->n_written += stat.num_writes;
    return hd_write_status_add(op, output->status, &stat);
}

/* `rows` is taken. */
static hudi_status write_rows(struct hd_op *op, struct output *output, struct ArrowArray *rows)
{
    hudi_status status = HUDI_OK;

    if (output->handle == NULL)
        status = open_file(op, output);
    if (status != HUDI_OK) {
        hd_array_clear(rows);
        return status;
    }
    HD_TRY(hd_rewrite_handle_add(op, output->handle, rows));
    return hd_rewrite_handle_can_write(output->handle) ? HUDI_OK : close_file(op, output);
}

/* ---- row groups ----------------------------------------------------------------------------- */

static bool wants_row_group(void *self, const hd_base_reader *base, int32_t row_group)
{
    return hd_rewrite_handle_wants_copy(((struct output *)self)->handle, base, row_group);
}

static hudi_status take_row_group(struct hd_op *op, void *self, hd_base_reader *base,
                                  int32_t row_group)
{
    struct output *const output = self;

    if (output->handle == NULL)
        HD_TRY(open_file(op, output));
    output->n_read += hd_base_reader_row_group_rows(base, row_group);
    HD_TRY(hd_rewrite_handle_copy(op, output->handle, base, row_group));
    return hd_rewrite_handle_can_write(output->handle) ? HUDI_OK : close_file(op, output);
}

/* What no log record touches goes over as bytes, where rows stay in order. */
static hudi_status copy_row_groups(struct hd_op *op, struct output *output, hd_slice_reader *reader)
{
    const struct hd_row_group_taker taker = {
        .self = output, .wants = wants_row_group, .take = take_row_group};
    hd_base_reader *const base = hd_slice_reader_base(reader);
    bool can;

    if (output->sorter != NULL || base == NULL || hd_base_reader_n_rows(base) == 0)
        return HUDI_OK;
    if (output->handle == NULL)
        HD_TRY(open_file(op, output));
    HD_TRY(hd_rewrite_handle_can_copy(op, output->handle, base, &can));
    return can ? hd_slice_reader_give_row_groups(op, reader, &taker) : HUDI_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static hudi_status digest_rows(struct hd_op *op, const struct hd_cluster_job *job,
                               const struct ArrowArray *rows, struct hd_key_digest *digest)
{
    const int32_t key = hd_schema_find(job->rows, HD_META_RECORD_KEY);
    struct hd_arena arena = {0};
    struct hd_view rows_view;

    if (job->schema->n_meta == 0)
        return HUDI_OK;
    const hudi_status status = hd_view_open(op, &arena, job->rows, rows, &rows_view);
    if (status == HUDI_OK)
        hd_key_digest_add_rows(digest, &rows_view.children[key]);
    hd_arena_clear(&arena);
    return status;
}

/* `rows` is taken. */
static hudi_status take_rows(struct hd_op *op, struct output *output, struct ArrowArray *rows,
                             struct hd_key_digest *digest)
{
    const hudi_status status = digest_rows(op, output->job, rows, digest);

    if (status != HUDI_OK) {
        hd_array_clear(rows);
        return status;
    }
    output->n_read += rows->length;
    return output->sorter != NULL ? hd_row_sorter_add(op, output->sorter, rows)
                                  : write_rows(op, output, rows);
}

static hudi_status read_slice(struct hd_op *op, struct output *output,
                              const struct hd_slice_source *source)
{
    const struct hd_cluster_job *const job = output->job;
    const int64_t before = output->n_read;
    struct hd_key_digest keys = {0};
    hudi_status status = HUDI_OK;
    hd_slice_reader *reader = NULL;
    struct ArrowArray batch;
    int64_t n_base;

    HD_TRY_OUT(hd_count_base_rows(op, job->config->table, source, &n_base));
    HD_TRY_OUT(hd_slice_reader_open(op, job->query, source, &reader));
    HD_TRY_OUT(copy_row_groups(op, output, reader));
    while ((status = hd_slice_reader_next(op, reader, &batch)) == HUDI_OK)
        HD_TRY_OUT(take_rows(op, output, &batch, &keys));
    if (status != HUDI_END)
        goto out;
    const struct hd_slice_merge_stats stats = hd_slice_reader_merge_stats(reader);
    HD_TRY_OUT(hd_check_slice_rows(op, source, &stats, n_base, output->n_read - before));
    HD_TRY_OUT(hd_check_slice_keys(op, source, &stats, &keys));
    hd_key_digest_add_all(&output->read, &keys);
out:
    hd_slice_reader_close(reader);
    return status;
}

static hudi_status write_sorted(struct hd_op *op, struct output *output)
{
    struct ArrowArray rows;

    if (output->sorter == NULL)
        return HUDI_OK;
    HD_TRY(hd_row_sorter_finish(op, output->sorter));
    for (;;) {
        HD_TRY(hd_op_check_cancel(op));
        const hudi_status status = hd_row_sorter_next(op, output->sorter, &rows);

        if (status == HUDI_END)
            return HUDI_OK;
        HD_TRY(status);
        HD_TRY(write_rows(op, output, &rows));
    }
}

hudi_status hd_cluster_group(struct hd_op *op, const struct hd_cluster_job *job,
                             const struct hd_slice_source *sources, size_t n_sources,
                             uint32_t ordinal, struct hd_write_status *out)
{
    struct output output = {
        .job = job, .partition_path = sources[0].partition_path, .ordinal = ordinal, .status = out};
    hudi_status status = HUDI_OK;

    if (job->n_sort_columns > 0)
        HD_TRY_OUT(hd_row_sorter_new(op, job, &output.sorter));
    for (size_t i = 0; i < n_sources; i++)
        HD_TRY_OUT(read_slice(op, &output, &sources[i]));
    HD_TRY_OUT(write_sorted(op, &output));
    HD_TRY_OUT(close_file(op, &output));
    if (output.n_written != output.n_read)
        status = hd_fail(op, HUDI_INTERNAL,
                         "clustering read %" PRId64 " rows of partition \"%s\" and wrote %" PRId64,
                         output.n_read, output.partition_path, output.n_written);
    else if (!hd_key_digest_equals(&output.read, &output.written))
        status = hd_fail(op, HUDI_INTERNAL,
                         "clustering wrote other keys than those of the %" PRId64
                         " rows that it read of partition \"%s\"",
                         output.read.n, output.partition_path);
out:
    hd_rewrite_handle_abort(op, output.handle);
    hd_row_sorter_free(op, output.sorter);
    return status;
}
