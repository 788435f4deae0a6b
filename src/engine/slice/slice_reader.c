/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/slice_reader.h"

#include <assert.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "engine/slice/log_merge.h"
#include "engine/slice/skipped_rows.h"
#include "engine/slice/slice_rows.h"
#include "format/table/table_schema.h"

/*
 * Invariants
 *  1. Only columns that are given out or filtered by are decoded.
 *  2. A column that is neither cast nor thinned out is the file's own array, shared.
 *  3. Rows keep the order of the file; what log files add comes behind them.
 *
 * With a filter on few of many columns a row group is probed first: those columns alone are read,
 * and the others only if a row passes. That pays while most row groups have none, and ends
 * otherwise.
 */
struct hd_slice_reader {
    const struct hd_slice_query *query;
    char *path; /* of the base file, for messages */
    hd_base_reader *base;
    hd_base_batches *batches; /* NULL: none of the row groups before next_row_group is left */
    int32_t *row_groups;      /* those that statistics left */
    int32_t n_row_groups;
    int32_t next_row_group; /* number in row_groups */
    struct hd_slice_columns columns;
    struct hd_slice_rows rows;
    struct hd_row_group_taker taker;
    bool *given;         /* by row group: the taker gets it; NULL: none */
    bool passes_through; /* batches of the projection are what is given out */

    struct hd_merge_columns merging; /* with log files; then `columns` is unused */
    hd_log_merge *merge;             /* NULL: nothing to merge */
    struct hd_budget *budget;        /* that `merge` counts against */
    struct hd_skipped_rows skipped;  /* row groups whose rows `merge` replaces unseen */
    struct hd_row_cursor cursor;     /* of `batches` */
    uint64_t first_row;              /* number in the file of the first row of the last batch */
    bool at_rest;                    /* the base file is through */
    struct hd_slice_merge_stats merge_stats;

    bool is_probing;
    int32_t n_probed, n_hits;          /* row groups: looked at, and those with rows that pass */
    struct hd_slice_query probe_query; /* of the filter's columns alone */
    struct hd_slice_columns probe_columns;
    struct hd_slice_rows probe_rows;
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

/* A file that bootstrapping left: the meta columns here, the table's columns in the file that was
 * bootstrapped. */
static hudi_status check_skeleton(struct hd_op *op, const struct hd_slice_query *query,
                                  const hd_base_reader *base)
{
    const struct ArrowSchema *file = hd_base_reader_schema(base);

    if (!query->config->is_bootstrap)
        return HUDI_OK;
    for (int64_t i = 0; i < file->n_children; i++) {
        if (!hd_is_meta_column(file->children[i]->name))
            return HUDI_OK;
    }
    return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                   "a bootstrapped file: its columns are in the file that it was made from");
}

static hudi_status open_base(struct hd_op *op, const struct hd_slice_query *query,
                             const struct hd_slice_source *slice, hd_slice_reader *reader)
{
    enum hd_base_file_format format;
    hd_input_file *file;

    HD_TRY(format_of(op, slice->base_path, &format));
    HD_TRY(hd_path_join(op, query->table_path, slice->base_path, &reader->path));
    HD_TRY(hd_fs_open_input(op, query->fs, reader->path, &file));
    HD_TRY(hd_base_reader_open(op, file, format, &reader->base));
    return check_skeleton(op, query, reader->base);
}

static int32_t n_filtered(const struct hd_slice_query *query)
{
    int32_t n = 0;

    if (query->predicate != NULL)
        hd_predicate_columns(query->predicate, &n);
    return n;
}

/* No filter, no column from the path, no hidden column, and the order of the query's schema. */
static bool passes_through(const struct hd_slice_query *query,
                           const struct hd_slice_columns *columns)
{
    if (n_filtered(query) > 0 || columns->operation >= 0 ||
        columns->read.n_children != query->n_columns)
        return false;
    for (int32_t i = 0; i < query->n_columns; i++) {
        if (columns->read_of[query->columns[i]] != i)
            return false;
    }
    return true;
}

#define PROBED_SHARE 3 /* probe when the filter needs this part of the columns at most */

static hudi_status prepare_probing(struct hd_op *op, const struct hd_slice_source *slice,
                                   hd_slice_reader *reader)
{
    int32_t n_read, n_probed;

    if (n_filtered(reader->query) == 0 ||
        n_filtered(reader->query) * PROBED_SHARE > reader->columns.read.n_children)
        return HUDI_OK;
    reader->probe_query = *reader->query;
    reader->probe_query.columns =
        hd_predicate_columns(reader->query->predicate, &reader->probe_query.n_columns);
    HD_TRY(hd_slice_columns_init(op, &reader->probe_query, slice,
                                 hd_base_reader_schema(reader->base), &reader->probe_columns));
    HD_TRY(
        hd_slice_rows_init(op, &reader->probe_query, &reader->probe_columns, &reader->probe_rows));
    hd_projection_file_columns(reader->columns.file.projection, &n_read);
    hd_projection_file_columns(reader->probe_columns.file.projection, &n_probed);
    reader->is_probing = n_probed > 0 && n_probed * PROBED_SHARE <= n_read;
    return HUDI_OK;
}

/* The base file alone. */
static hudi_status prepare_base(struct hd_op *op, const struct hd_slice_query *query,
                                const struct hd_slice_source *slice, hd_slice_reader *reader)
{
    if (reader->base == NULL)
        return HUDI_OK;
    HD_TRY(hd_slice_columns_init(op, query, slice, hd_base_reader_schema(reader->base),
                                 &reader->columns));
    HD_TRY(hd_slice_rows_init(op, query, &reader->columns, &reader->rows));
    reader->passes_through = passes_through(query, &reader->columns);
    HD_TRY(prepare_probing(op, slice, reader));
    return hd_slice_row_groups(op, query, &reader->columns, reader->base, &reader->row_groups,
                               &reader->n_row_groups);
}

/* The log files, and how the base file is read with them. Without a record in them it is read as
 * if they were not there. */
static hudi_status prepare_merging(struct hd_op *op, const struct hd_slice_query *query,
                                   const struct hd_slice_source *slice, hd_slice_reader *reader)
{
    struct hd_slice_query whole = *query;

    HD_TRY(hd_merge_columns_init(op, query, slice,
                                 reader->base == NULL ? NULL : hd_base_reader_schema(reader->base),
                                 &reader->merging));
    HD_TRY(hd_log_merge_load(op, slice, &reader->merging, reader->base, &reader->merge));
    reader->merge_stats = hd_log_merge_stats(reader->merge);
    if (hd_log_merge_is_empty(reader->merge)) {
        hd_log_merge_free(op, reader->merge);
        reader->merge = NULL;
        reader->merge_stats.has_keys = false;
        return prepare_base(op, query, slice, reader);
    }
    HD_TRY(hd_slice_rows_init(op, query, &reader->merging.base, &reader->rows));
    if (reader->base == NULL)
        return HUDI_OK;
    if (hd_log_merge_is_by_row(reader->merge))
        HD_TRY(hd_merge_columns_leave_out_key(op, slice, hd_base_reader_schema(reader->base),
                                              &reader->merging));
    whole.use_statistics = query->use_statistics && hd_log_merge_replaces(reader->merge);
    HD_TRY(hd_slice_row_groups(op, &whole, &reader->merging.base, reader->base, &reader->row_groups,
                               &reader->n_row_groups));
    return hd_skipped_rows_init(op, query, slice, reader->base, reader->merge, reader->row_groups,
                                reader->n_row_groups, &reader->skipped);
}

hudi_status hd_slice_reader_open(struct hd_op *op, const struct hd_slice_query *query,
                                 const struct hd_slice_source *slice, hd_slice_reader **out)
{
    hudi_status status = HUDI_OK;
    hd_slice_reader *reader = NULL;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *reader, &reader));
    reader->query = query;
    reader->budget = op->budget;
    if (slice->base_path != NULL)
        HD_TRY_OUT(open_base(op, query, slice, reader));
    if (slice->n_logs > 0 && !query->read_optimized)
        HD_TRY_OUT(prepare_merging(op, query, slice, reader));
    else
        HD_TRY_OUT(prepare_base(op, query, slice, reader));
    *out = reader;
    return HUDI_OK;
out:
    if (reader->path != NULL)
        status = hd_fail_path(op, status, reader->path);
    hd_slice_reader_close(reader);
    return status;
}

static void close_merging(hd_slice_reader *reader)
{
    struct hd_op op;

    if (reader->merge != NULL) {
        hd_op_init(&op);
        op.budget = reader->budget;
        hd_log_merge_free(&op, reader->merge);
        hd_op_clear(&op);
    }
    hd_skipped_rows_clear(NULL, &reader->skipped);
    hd_merge_columns_clear(NULL, &reader->merging);
}

void hd_slice_reader_close(hd_slice_reader *reader)
{
    if (reader == NULL)
        return;
    hd_base_batches_close(reader->batches);
    hd_slice_rows_clear(NULL, &reader->rows);
    hd_slice_rows_clear(NULL, &reader->probe_rows);
    hd_slice_columns_clear(NULL, &reader->columns);
    hd_slice_columns_clear(NULL, &reader->probe_columns);
    close_merging(reader);
    hd_base_reader_close(reader->base);
    hd_free(NULL, reader->row_groups);
    hd_free(NULL, reader->given);
    hd_free(NULL, reader->path);
    hd_free(NULL, reader);
}

void hd_slice_reader_row_groups(const hd_slice_reader *reader, int32_t *n_all, int32_t *n_read)
{
    *n_all = reader->base == NULL ? 0 : hd_base_reader_n_row_groups(reader->base);
    *n_read = reader->n_row_groups;
}

/* ---- row groups --------------------------------------------------------------------------- */

hd_base_reader *hd_slice_reader_base(const hd_slice_reader *reader)
{
    return reader->base;
}

hudi_status hd_slice_reader_give_row_groups(struct hd_op *op, hd_slice_reader *reader,
                                            const struct hd_row_group_taker *taker)
{
    const int32_t n = reader->base == NULL ? 0 : hd_base_reader_n_row_groups(reader->base);

    assert(n_filtered(reader->query) == 0 && reader->given == NULL && reader->batches == NULL);
    if (n == 0)
        return HUDI_OK;
    HD_TRY(hd_alloc_array(op, (size_t)n, sizeof *reader->given, &reader->given));
    reader->taker = *taker;
    for (int32_t i = 0; i < n; i++)
        reader->given[i] = taker->wants(taker->self, reader->base, i);
    return reader->merge == NULL
               ? HUDI_OK
               : hd_log_merge_untouched(op, reader->merge, reader->base, reader->given);
}

static hudi_status open_row_groups(struct hd_op *op, hd_slice_reader *reader,
                                   const struct hd_slice_columns *columns, int32_t first, int32_t n,
                                   hd_base_batches **out)
{
    struct hd_base_read_options options = {.batch_rows = reader->query->batch_rows,
                                           .row_groups = reader->row_groups + first,
                                           .n_row_groups = n};

    options.columns = hd_projection_file_columns(columns->file.projection, &options.n_columns);
    return hd_base_reader_read(op, reader->base, &options, out);
}

/* Does any row of a row group pass? Reads up to the first batch that has one. */
static hudi_status probe(struct hd_op *op, hd_slice_reader *reader, int32_t row_group, bool *hit)
{
    hudi_status status = HUDI_OK;
    hd_base_batches *batches;
    struct ArrowArray stored, batch;

    *hit = false;
    HD_TRY(open_row_groups(op, reader, &reader->probe_columns, row_group, 1, &batches));
    while (status == HUDI_OK && !*hit) {
        HD_TRY_OUT(hd_op_check_cancel(op));
        HD_TRY_OUT(hd_base_batches_next(op, batches, &stored));
        HD_TRY_OUT(hd_projection_apply(op, reader->probe_columns.file.projection, &stored, &batch));
        status = hd_slice_rows_select(op, &reader->probe_rows, &batch);
        *hit = reader->probe_rows.runs.n_rows > 0;
        hd_array_clear(&batch);
    }
out:
    hd_base_batches_close(batches);
    return status == HUDI_END ? HUDI_OK : status;
}

/* Row groups from number `first` on that are read in one go. */
static int32_t n_together(const hd_slice_reader *reader, int32_t first)
{
    int32_t end = first + 1;

    while (!reader->is_probing && end < reader->n_row_groups &&
           (reader->given == NULL || !reader->given[reader->row_groups[end]]))
        end++;
    return end - first;
}

/* Open what comes next: while probing a row group with rows that pass, else all that are left, up
 * to one that is given away. HUDI_END when there is none. */
static hudi_status advance(struct hd_op *op, hd_slice_reader *reader,
                           const struct hd_slice_columns *columns)
{
    hd_base_batches_close(reader->batches);
    reader->batches = NULL;
    while (reader->next_row_group < reader->n_row_groups) {
        const int32_t first = reader->next_row_group;
        const int32_t row_group = reader->row_groups[first];
        bool hit = true;

        if (reader->given != NULL && reader->given[row_group]) {
            HD_TRY(reader->taker.take(op, reader->taker.self, reader->base, row_group));
            reader->next_row_group++;
            continue;
        }
        const int32_t n = n_together(reader, first);
        if (reader->is_probing) {
            HD_TRY(probe(op, reader, first, &hit));
            reader->n_probed++;
            reader->n_hits += hit;
            reader->is_probing = reader->n_hits < 2 || reader->n_hits * 2 <= reader->n_probed;
        }
        reader->next_row_group += n;
        hd_row_cursor_start(reader->base, reader->row_groups + first, n, &reader->cursor);
        if (hit)
            return open_row_groups(op, reader, columns, first, n, &reader->batches);
    }
    return HUDI_END;
}

/* ---- batches ------------------------------------------------------------------------------ */

/* The next rows of the base file, as columns that are read; may be empty. HUDI_END */
static hudi_status next_stored(struct hd_op *op, hd_slice_reader *reader,
                               const struct hd_slice_columns *columns, struct ArrowArray *out)
{
    struct ArrowArray stored;

    for (;;) {
        if (reader->batches == NULL)
            HD_TRY(advance(op, reader, columns));
        hudi_status read = hd_base_batches_next(op, reader->batches, &stored);
        if (reader->merge != NULL && hd_log_merge_is_by_row(reader->merge))
            read = hd_row_cursor_follow(op, &reader->cursor, read, &stored, &reader->first_row);
        if (read == HUDI_OK)
            return hd_projection_apply(op, columns->file.projection, &stored, out);
        if (read != HUDI_END)
            return read;
        HD_TRY(advance(op, reader, columns));
    }
}

/* The next rows of a part of the keys: those of the base file, those in the place of what is not
 * read of it, then the rest. HUDI_END */
static hudi_status next_merged(struct hd_op *op, hd_slice_reader *reader, struct ArrowArray *out)
{
    if (!reader->at_rest) {
        const hudi_status status =
            reader->base == NULL ? HUDI_END : next_stored(op, reader, &reader->merging.base, out);
        if (status == HUDI_OK)
            return hd_log_merge_apply(op, reader->merge, out, reader->first_row);
        if (status != HUDI_END)
            return status;
        reader->at_rest = true;
    }
    const hudi_status status = hd_skipped_rows_next(op, &reader->skipped, reader->merge, out);
    if (status != HUDI_END)
        return status;
    return hd_log_merge_rest(op, reader->merge, out);
}

/* The next rows of the slice before they are filtered. */
static hudi_status next_rows(struct hd_op *op, hd_slice_reader *reader, struct ArrowArray *out)
{
    hudi_status status;

    if (reader->merge == NULL)
        return next_stored(op, reader, &reader->columns, out);
    while ((status = next_merged(op, reader, out)) == HUDI_END) {
        reader->merge_stats = hd_log_merge_stats(reader->merge);
        HD_TRY(hd_log_merge_next_part(op, reader->merge));
        hd_skipped_rows_restart(&reader->skipped);
        reader->next_row_group = 0;
        reader->at_rest = false;
    }
    return status;
}

static hudi_status next_batch(struct hd_op *op, hd_slice_reader *reader, struct ArrowArray *out)
{
    for (;;) {
        struct ArrowArray batch;

        HD_TRY(hd_op_check_cancel(op));
        HD_TRY(next_rows(op, reader, &batch));
        if (batch.length > 0 && reader->passes_through) {
            hd_array_move(&batch, out);
            return HUDI_OK;
        }
        const hudi_status status = hd_slice_rows_select(op, &reader->rows, &batch);
        if (status == HUDI_OK && reader->rows.runs.n_rows > 0)
            return hd_slice_rows_give(op, &reader->rows, &batch, out);
        hd_array_clear(&batch);
        HD_TRY(status);
    }
}

hudi_status hd_slice_reader_next(struct hd_op *op, hd_slice_reader *reader, struct ArrowArray *out)
{
    *out = (struct ArrowArray){0};
    if (reader->base == NULL && reader->merge == NULL)
        return HUDI_END;
    const hudi_status status = next_batch(op, reader, out);

    if (status != HUDI_OK && status != HUDI_END && reader->path != NULL)
        hd_error_set_path(op, reader->path);
    return status;
}

struct hd_slice_merge_stats hd_slice_reader_merge_stats(const hd_slice_reader *reader)
{
    return reader->merge_stats;
}
