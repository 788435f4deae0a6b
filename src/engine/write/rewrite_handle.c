/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/rewrite_handle.h"

#include <assert.h>

#include "arrow/array.h"
#include "arrow/gather.h"
#include "arrow/schema.h"
#include "base/progress.h"
#include "engine/record/projection.h"

enum { COMMIT_TIME, SEQNO, RECORD_KEY, PARTITION_PATH, FILE_NAME };

struct hd_rewrite_handle {
    struct hd_rewrite_request request;
    hd_base_sink *sink;
    int32_t *given; /* by column of the file: its number in request.rows, -1 where it is made */
    struct hd_key_digest keys;
    struct hd_arena arena; /* of one batch */
};

bool hd_rewrite_handle_makes(const struct hd_write_schema *schema, int32_t column)
{
    return schema->n_meta > 0 && (column == PARTITION_PATH || column == FILE_NAME);
}

static hudi_status find_given(struct hd_op *op, hd_rewrite_handle *handle)
{
    const struct hd_write_schema *const schema = handle->request.schema;

    HD_TRY(
        hd_alloc_array(op, (size_t)schema->file.n_children, sizeof *handle->given, &handle->given));
    for (int32_t i = 0; i < schema->file.n_children; i++) {
        const bool made = hd_rewrite_handle_makes(schema, i);

        handle->given[i] =
            made ? -1 : hd_schema_find(handle->request.rows, schema->file.children[i]->name);
        assert(made || handle->given[i] >= 0);
    }
    return HUDI_OK;
}

hudi_status hd_rewrite_handle_open(struct hd_op *op, const struct hd_rewrite_request *request,
                                   hd_rewrite_handle **out)
{
    const struct hd_base_sink_target target = {.partition_path = request->partition_path,
                                               .file_id = request->file_id,
                                               .ordinal = request->ordinal,
                                               .io_type = request->io_type,
                                               .copied_rows = true};
    hd_rewrite_handle *handle;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *handle, &handle));
    handle->request = *request;
    hudi_status status = find_given(op, handle);
    if (status == HUDI_OK)
        status = hd_base_sink_open(op, request->config, request->schema, &target, &handle->sink);
    if (status != HUDI_OK) {
        hd_rewrite_handle_abort(op, handle);
        return status;
    }
    *out = handle;
    return HUDI_OK;
}

/* One value in every row, in the type that the file's schema gives the column. */
static hudi_status constant(struct hd_op *op, const hd_rewrite_handle *handle, int32_t column,
                            const char *value, int64_t n, struct ArrowArray *out)
{
    const struct ArrowSchema *field = hd_base_sink_schema(handle->sink)->children[column];

    return field->dictionary != NULL
               ? hd_array_constant_dictionary(op, hd_slice_text(value), n, out)
               : hd_array_constant_string(op, hd_slice_text(value), n, out);
}

static hudi_status make_columns(struct hd_op *op, hd_rewrite_handle *handle,
                                struct hd_shared_array *rows, struct ArrowArray *columns)
{
    const struct hd_write_schema *schema = handle->request.schema;
    const int64_t n = hd_shared_array_get(rows)->length;

    for (int32_t i = 0; i < schema->file.n_children; i++) {
        if (handle->given[i] >= 0)
            HD_TRY(hd_array_share(op, rows, handle->given[i], &columns[i]));
        else if (i == PARTITION_PATH)
            HD_TRY(constant(op, handle, i, handle->request.partition_path, n, &columns[i]));
        else
            HD_TRY(constant(op, handle, i, hd_base_sink_file_name(handle->sink), n, &columns[i]));
    }
    return HUDI_OK;
}

static hudi_status add_keys(struct hd_op *op, hd_rewrite_handle *handle,
                            const struct ArrowArray *keys, struct hd_key_digest *digest)
{
    struct hd_view view;

    hd_arena_reset(&handle->arena);
    HD_TRY(hd_view_open(op, &handle->arena, handle->request.schema->file.children[RECORD_KEY], keys,
                        &view));
    if (digest != NULL)
        hd_key_digest_add_rows(digest, &view);
    return hd_base_sink_add_keys(op, handle->sink, &view);
}

/* For tests: the first row in place of the second. */
static hudi_status double_a_row(struct hd_op *op, const hd_rewrite_handle *handle,
                                struct ArrowArray *rows)
{
    const int64_t n = rows->length;
    const struct hd_run runs[] = {{0, 0, 1}, {0, 0, 1}, {0, 2, (uint32_t)n - 2}};
    const struct ArrowArray *source = rows;
    struct ArrowArray doubled;

    HD_TRY(hd_gather(op, handle->request.rows, &source, 1, runs, n > 2 ? 3 : 2, &doubled));
    hd_array_clear(rows);
    hd_array_move(&doubled, rows);
    return HUDI_OK;
}

hudi_status hd_rewrite_handle_add(struct hd_op *op, hd_rewrite_handle *handle,
                                  struct ArrowArray *rows)
{
    const int32_t n_columns = (int32_t)handle->request.schema->file.n_children;
    const int64_t n_rows = rows->length;
    struct hd_shared_array *shared = NULL;
    struct ArrowArray *columns = NULL;
    hudi_status status;

    if (op->faults != NULL && op->faults->doubles_rows && n_rows > 1)
        HD_TRY_OUT(double_a_row(op, handle, rows));
    HD_TRY_OUT(hd_shared_array_new(op, rows, &shared));
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n_columns, sizeof *columns, &columns));
    HD_TRY_OUT(make_columns(op, handle, shared, columns));
    if (handle->request.schema->n_meta > 0)
        HD_TRY_OUT(add_keys(op, handle, &columns[RECORD_KEY], &handle->keys));
    HD_TRY_OUT(hd_base_sink_file_rows(op, handle->sink, columns, n_rows));
    hd_progress_add(op, 0, (uint64_t)n_rows);
out:
    for (int32_t i = 0; columns != NULL && i < n_columns; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    hd_shared_array_free(shared);
    hd_array_clear(rows);
    return status;
}

/* ---- row groups ----------------------------------------------------------------------------- */

hudi_status hd_rewrite_handle_can_copy(struct hd_op *op, hd_rewrite_handle *handle,
                                       hd_base_reader *base, bool *out)
{
    HD_TRY(hd_base_sink_can_copy(op, handle->sink, base, out));
    return *out ? hd_reads_as_stored(op, hd_base_reader_schema(base), &handle->request.schema->file,
                                     out)
                : HUDI_OK;
}

bool hd_rewrite_handle_wants_copy(const hd_rewrite_handle *handle, const hd_base_reader *base,
                                  int32_t row_group)
{
    return hd_base_sink_wants_copy(handle->sink, base, row_group);
}

/* The filter and the range are those of the rows that are in the file, no more. */
static hudi_status add_stored_keys(struct hd_op *op, hd_rewrite_handle *handle,
                                   hd_base_reader *base, int32_t row_group)
{
    const int32_t column = RECORD_KEY;
    const struct hd_base_read_options options = {
        .columns = &column, .n_columns = 1, .row_groups = &row_group, .n_row_groups = 1};
    hudi_status status = HUDI_OK;
    hd_base_batches *batches = NULL;
    struct ArrowArray keys = {0};

    HD_TRY(hd_base_reader_read(op, base, &options, &batches));
    for (;;) {
        HD_TRY_OUT(hd_op_check_cancel(op));
        HD_TRY_OUT(hd_base_batches_next(op, batches, &keys));
        HD_TRY_OUT(add_keys(op, handle, keys.children[0], NULL));
        hd_array_clear(&keys);
    }
out:
    hd_array_clear(&keys);
    hd_base_batches_close(batches);
    return status == HUDI_END ? HUDI_OK : status;
}

hudi_status hd_rewrite_handle_copy(struct hd_op *op, hd_rewrite_handle *handle,
                                   hd_base_reader *base, int32_t row_group)
{
    if (handle->request.schema->n_meta > 0)
        HD_TRY(add_stored_keys(op, handle, base, row_group));
    const int64_t n_before = hd_base_sink_rows(handle->sink);
    HD_TRY(hd_base_sink_copy_row_group(op, handle->sink, base, row_group));
    hd_progress_add(op, 0, (uint64_t)(hd_base_sink_rows(handle->sink) - n_before));
    return HUDI_OK;
}

/* --------------------------------------------------------------------------------------------- */

bool hd_rewrite_handle_can_write(const hd_rewrite_handle *handle)
{
    return hd_base_sink_can_write(handle->sink);
}

struct hd_key_digest hd_rewrite_handle_keys(const hd_rewrite_handle *handle)
{
    return handle->keys;
}

int64_t hd_rewrite_handle_rows(const hd_rewrite_handle *handle)
{
    return hd_base_sink_rows(handle->sink);
}

hudi_status hd_rewrite_handle_close(struct hd_op *op, hd_rewrite_handle *handle,
                                    struct hd_arena *arena, struct hd_write_stat *stat)
{
    const hudi_status status = hd_base_sink_close(op, handle->sink, arena, stat);

    handle->sink = NULL;
    hd_rewrite_handle_abort(op, handle);
    return status;
}

void hd_rewrite_handle_abort(struct hd_op *op, hd_rewrite_handle *handle)
{
    if (handle == NULL)
        return;
    hd_base_sink_abort(op, handle->sink);
    hd_arena_clear(&handle->arena);
    hd_free(op, handle->given);
    hd_free(op, handle);
}
