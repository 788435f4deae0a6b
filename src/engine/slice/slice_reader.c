/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/slice_reader.h"

#include <inttypes.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/gather.h"
#include "arrow/schema.h"
#include "arrow/view.h"
#include "engine/slice/slice_columns.h"
#include "store/base_file.h"

/*
 * Invariants
 *  1. Only columns that are given out or filtered by are decoded.
 *  2. A column that is neither cast nor thinned out is the file's own array, shared.
 *  3. Rows keep the order of the file.
 */
struct hd_slice_reader {
    const struct hd_slice_query *query;
    const char *partition_path;
    char *path; /* of the base file, for messages */
    hd_base_reader *base;
    hd_base_batches *batches; /* NULL: no rows */
    struct hd_slice_columns columns;
    bool passes_through; /* batches of the projection are what is given out */
    int32_t n_row_groups, n_read_row_groups;
    uint8_t *passes; /* of each row of a batch: scratch */
    size_t pass_capacity;
    struct hd_run_list runs;
    struct hd_arena arena; /* views of one batch */
    const struct hd_view **views;
};

/* ---- opening ------------------------------------------------------------------------------ */

hudi_status hd_slice_query_schema(struct hd_op *op, const struct hd_slice_query *query,
                                  struct ArrowSchema *out)
{
    return hd_schema_select(op, query->schema, query->columns, query->n_columns, out);
}

static hudi_status format_of(struct hd_op *op, const char *path, enum hd_base_file_format *out)
{
    const struct hd_slice name = hd_slice_text(path);

    if (hd_slice_ends_with(name, ".parquet"))
        *out = HD_BASE_FILE_PARQUET;
    else if (hd_slice_ends_with(name, ".orc"))
        *out = HD_BASE_FILE_ORC;
    else
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "base files like \"%s\" are not read", path);
    return HUDI_OK;
}

static hudi_status open_base(struct hd_op *op, const struct hd_slice_query *query,
                             const struct hd_slice_source *slice, hd_slice_reader *reader)
{
    enum hd_base_file_format format;
    hd_input_file *file;

    HD_TRY(format_of(op, slice->base_path, &format));
    HD_TRY(hd_path_join(op, query->table_path, slice->base_path, &reader->path));
    HD_TRY(hd_fs_open_input(op, query->fs, reader->path, &file));
    return hd_base_reader_open(op, file, format, &reader->base);
}

/* No filter, no column from the path, no hidden column, and the order of the query's schema. */
static bool passes_through(const struct hd_slice_query *query,
                           const struct hd_slice_columns *columns)
{
    int32_t n_filtered = 0;

    if (query->predicate != NULL)
        hd_predicate_columns(query->predicate, &n_filtered);
    if (n_filtered > 0 || columns->operation >= 0 || columns->read.n_children != query->n_columns)
        return false;
    for (int32_t i = 0; i < query->n_columns; i++) {
        if (columns->read_of[query->columns[i]] != i)
            return false;
    }
    return true;
}

static hudi_status start_reading(struct hd_op *op, hd_slice_reader *reader)
{
    hudi_status status = HUDI_OK;
    int32_t *row_groups = NULL;
    struct hd_base_read_options options = {.batch_rows = reader->query->batch_rows};

    options.columns = hd_projection_file_columns(reader->columns.projection, &options.n_columns);
    HD_TRY_OUT(hd_slice_row_groups(op, reader->query, &reader->columns, reader->base, &row_groups,
                                   &options.n_row_groups));
    reader->n_row_groups = hd_base_reader_n_row_groups(reader->base);
    reader->n_read_row_groups = options.n_row_groups;
    options.row_groups = row_groups;
    if (options.n_row_groups > 0)
        HD_TRY_OUT(hd_base_reader_read(op, reader->base, &options, &reader->batches));
out:
    hd_free(op, row_groups);
    return status;
}

hudi_status hd_slice_reader_open(struct hd_op *op, const struct hd_slice_query *query,
                                 const struct hd_slice_source *slice, hd_slice_reader **out)
{
    hudi_status status = HUDI_OK;
    hd_slice_reader *reader = NULL;

    *out = NULL;
    if (slice->n_logs > 0 && !query->read_optimized)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "file slice %s of instant %s in partition \"%s\" has %zu log files, which "
                       "are not merged yet; a read-optimized query reads base files alone",
                       slice->file_id, slice->instant, slice->partition_path, slice->n_logs);
    HD_TRY(hd_alloc(op, sizeof *reader, &reader));
    reader->query = query;
    reader->partition_path = slice->partition_path;
    if (slice->base_path != NULL) {
        HD_TRY_OUT(open_base(op, query, slice, reader));
        HD_TRY_OUT(hd_slice_columns_init(op, query, slice, hd_base_reader_schema(reader->base),
                                         &reader->columns));
        HD_TRY_OUT(
            hd_alloc_array(op, (size_t)query->schema->n_children, sizeof(void *), &reader->views));
        reader->passes_through = passes_through(query, &reader->columns);
        HD_TRY_OUT(start_reading(op, reader));
    }
    *out = reader;
    return HUDI_OK;
out:
    if (reader->path != NULL)
        status = hd_fail_path(op, status, reader->path);
    hd_slice_reader_close(reader);
    return status;
}

void hd_slice_reader_close(hd_slice_reader *reader)
{
    if (reader == NULL)
        return;
    hd_base_batches_close(reader->batches);
    hd_slice_columns_clear(NULL, &reader->columns);
    hd_base_reader_close(reader->base);
    hd_free(NULL, reader->path);
    hd_free(NULL, reader->passes);
    hd_free(NULL, reader->runs.runs);
    hd_free(NULL, reader->views);
    hd_arena_clear(&reader->arena);
    hd_free(NULL, reader);
}

void hd_slice_reader_row_groups(const hd_slice_reader *reader, int32_t *n_all, int32_t *n_read)
{
    *n_all = reader->n_row_groups;
    *n_read = reader->n_read_row_groups;
}

/* ---- which rows --------------------------------------------------------------------------- */

/* D: deleted; -U: what an update replaced. Source: HoodieOperation (Hudi 0.10.0) */
static void leave_out_deletes(const struct hd_view *operation, uint8_t *passes)
{
    for (int64_t i = 0; i < operation->length; i++) {
        if (hd_view_is_null(operation, i))
            continue;
        const struct hd_slice text = hd_view_bytes(operation, i);
        const bool deleted = (text.size == 1 && text.data[0] == 'D') ||
                             (text.size == 2 && memcmp(text.data, "-U", 2) == 0);

        passes[i] &= !deleted;
    }
}

/* Values of columns that the partition path gives, once for each row. */
static hudi_status repeat(struct hd_op *op, const struct ArrowSchema *field,
                          const struct ArrowArray *one, int64_t n_rows, struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    struct hd_run *runs;

    HD_TRY(hd_alloc_raw(op, (size_t)n_rows, sizeof *runs, &runs));
    for (int64_t i = 0; i < n_rows; i++)
        runs[i] = (struct hd_run){.source = 0, .start = 0, .length = 1};
    status = hd_gather(op, field, &one, 1, runs, (size_t)n_rows, out);
    hd_free(op, runs);
    return status;
}

/* Views of the columns the predicate looks at; a column of the path is filled in first. */
static hudi_status open_views(struct hd_op *op, hd_slice_reader *reader, const struct hd_view *read,
                              int64_t n_rows, struct ArrowArray *filled)
{
    const struct ArrowSchema *schema = reader->query->schema;
    int32_t n;
    const int32_t *filtered = hd_predicate_columns(reader->query->predicate, &n);

    for (int32_t i = 0; i < n; i++) {
        const int32_t column = filtered[i], at = reader->columns.read_of[column];
        struct hd_view *view;

        if (at >= 0) {
            reader->views[column] = &read->children[at];
            continue;
        }
        HD_TRY(hd_arena_alloc(op, &reader->arena, sizeof *view, &view));
        HD_TRY(repeat(op, schema->children[column], &reader->columns.fixed[column], n_rows,
                      &filled[column]));
        HD_TRY(hd_view_open(op, &reader->arena, schema->children[column], &filled[column], view));
        reader->views[column] = view;
    }
    return HUDI_OK;
}

static hudi_status add_runs(struct hd_op *op, const uint8_t *passes, int64_t n_rows,
                            struct hd_run_list *runs)
{
    hd_run_list_reset(runs);
    for (int64_t i = 0; i < n_rows;) {
        const uint8_t *next = memchr(passes + i, 1, (size_t)(n_rows - i));
        if (next == NULL)
            break;
        const int64_t start = next - passes;
        const uint8_t *after = memchr(next, 0, (size_t)(n_rows - start));

        i = after == NULL ? n_rows : after - passes;
        HD_TRY(hd_run_list_add(op, runs, 0, (uint32_t)start, (uint32_t)(i - start)));
    }
    return HUDI_OK;
}

/* Rows of `batch` (of the projection) that are given out, as reader->runs. */
static hudi_status select_rows(struct hd_op *op, hd_slice_reader *reader,
                               const struct ArrowArray *batch)
{
    hudi_status status = HUDI_OK;
    const int64_t n_rows = batch->length, n_columns = reader->query->schema->n_children;
    struct hd_view read;
    struct ArrowArray *filled = NULL;

    hd_arena_reset(&reader->arena);
    if ((uint64_t)n_rows > UINT32_MAX)
        return hd_fail(op, HUDI_CORRUPT, "a batch of %" PRId64 " rows", n_rows);
    HD_TRY(hd_grow(op, &reader->passes, &reader->pass_capacity, (size_t)n_rows, 1));
    HD_TRY(hd_view_open(op, &reader->arena, &reader->columns.read, batch, &read));
    HD_TRY(hd_alloc_array(op, (size_t)n_columns, sizeof *filled, &filled));
    if (reader->query->predicate != NULL) {
        HD_TRY_OUT(open_views(op, reader, &read, n_rows, filled));
        HD_TRY_OUT(hd_predicate_select(op, reader->query->predicate, reader->views, n_rows,
                                       reader->passes));
    } else {
        memset(reader->passes, 1, (size_t)n_rows);
    }
    if (reader->columns.operation >= 0)
        leave_out_deletes(&read.children[reader->columns.operation], reader->passes);
    HD_TRY_OUT(add_runs(op, reader->passes, n_rows, &reader->runs));
out:
    for (int64_t i = 0; i < n_columns; i++)
        hd_array_clear(&filled[i]);
    hd_free(op, filled);
    return status;
}

/* ---- batches ------------------------------------------------------------------------------ */

static hudi_status give_column(struct hd_op *op, const hd_slice_reader *reader, int32_t column,
                               struct hd_shared_array *batch, bool all_rows, struct ArrowArray *out)
{
    const struct ArrowSchema *field = reader->query->schema->children[column];
    const int32_t at = reader->columns.read_of[column];
    struct ArrowArray whole;

    if (at < 0)
        return repeat(op, field, &reader->columns.fixed[column], (int64_t)reader->runs.n_rows, out);
    if (all_rows)
        return hd_array_share(op, batch, at, out);
    HD_TRY(hd_array_share(op, batch, at, &whole));
    const struct ArrowArray *source = &whole;
    const hudi_status status =
        hd_gather(op, field, &source, 1, reader->runs.runs, reader->runs.n_runs, out);
    hd_array_clear(&whole);
    return status;
}

/* The selected rows of `batch` (taken over) as columns of the query. */
static hudi_status give_rows(struct hd_op *op, const hd_slice_reader *reader,
                             struct ArrowArray *batch, struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    const struct hd_slice_query *query = reader->query;
    const int64_t n_rows = (int64_t)reader->runs.n_rows;
    const bool all_rows = n_rows == batch->length;
    struct hd_shared_array *shared = NULL;
    struct ArrowArray *columns = NULL;

    HD_TRY_OUT(hd_shared_array_new(op, batch, &shared));
    HD_TRY_OUT(hd_alloc_array(op, (size_t)query->n_columns, sizeof *columns, &columns));
    for (int32_t i = 0; i < query->n_columns; i++)
        HD_TRY_OUT(give_column(op, reader, query->columns[i], shared, all_rows, &columns[i]));
    HD_TRY_OUT(hd_array_struct(op, columns, query->n_columns, n_rows, out));
out:
    for (int32_t i = 0; columns != NULL && i < query->n_columns; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    hd_shared_array_free(shared);
    hd_array_clear(batch);
    return status;
}

static hudi_status next_batch(struct hd_op *op, hd_slice_reader *reader, struct ArrowArray *out)
{
    for (;;) {
        struct ArrowArray stored, batch;

        HD_TRY(hd_op_check_cancel(op));
        HD_TRY(hd_base_batches_next(op, reader->batches, &stored));
        HD_TRY(hd_projection_apply(op, reader->columns.projection, &stored, &batch));
        if (batch.length == 0) {
            hd_array_clear(&batch);
            continue;
        }
        if (reader->passes_through) {
            hd_array_move(&batch, out);
            return HUDI_OK;
        }
        const hudi_status status = select_rows(op, reader, &batch);
        if (status == HUDI_OK && reader->runs.n_rows > 0)
            return give_rows(op, reader, &batch, out);
        hd_array_clear(&batch);
        HD_TRY(status);
    }
}

hudi_status hd_slice_reader_next(struct hd_op *op, hd_slice_reader *reader, struct ArrowArray *out)
{
    *out = (struct ArrowArray){0};
    if (reader->batches == NULL)
        return HUDI_END;
    const hudi_status status = next_batch(op, reader, out);

    if (status != HUDI_OK && status != HUDI_END)
        hd_error_set_path(op, reader->path);
    return status;
}
