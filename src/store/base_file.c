/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of base_file.h over the formats of arrow_cpp/: what is the same for all of them. The
 * file's types are made canonical here, column by column and only where they are not.
 */
#include "store/base_file.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/cast.h"
#include "arrow/schema.h"
#include "store/arrow_cpp/bridge.h"
#include "store/orc_footer.h"

#define COUNT_BATCH_ROWS 65536 /* of batches without columns */

struct hd_base_reader {
    const struct hd_cpp_reader_ops *ops;
    void *self;
    hd_input_file *file;
    struct ArrowSchema raw;
    struct ArrowSchema schema;
    bool *differs; /* per column: needs a cast */
};

struct hd_base_batches {
    hd_base_reader *reader;
    int32_t *columns;
    int32_t n_columns;
    int32_t *row_groups;
    int32_t n_row_groups;
    int64_t batch_rows;
    void *self; /* NULL when no column is wanted */
    int32_t next_row_group;
    int64_t rows_left; /* of the row group before next_row_group, without columns */
};

/* ---- reader ------------------------------------------------------------------------------- */

static hudi_status make_canonical(struct hd_op *op, hd_base_reader *reader)
{
    HD_TRY(hd_canonical_schema(op, &reader->raw, &reader->schema));
    HD_TRY(hd_alloc_array(op, (size_t)reader->raw.n_children, sizeof *reader->differs,
                          &reader->differs));
    for (int64_t i = 0; i < reader->raw.n_children; i++)
        reader->differs[i] = !hd_type_equal(reader->raw.children[i], reader->schema.children[i]);
    return HUDI_OK;
}

hudi_status hd_base_reader_open(struct hd_op *op, hd_input_file *file,
                                enum hd_base_file_format format, hd_base_reader **out)
{
    hudi_status status = HUDI_OK;
    hd_base_reader *reader = NULL;

    *out = NULL;
    status = hd_alloc(op, sizeof *reader, &reader);
    if (status != HUDI_OK) {
        hd_input_file_close(file);
        return status;
    }
    reader->file = file;
    reader->ops = format == HD_BASE_FILE_PARQUET ? &hd_parquet_reader_ops : &hd_orc_reader_ops;
    if (format == HD_BASE_FILE_ORC)
        HD_TRY_OUT(hd_orc_footer_check(op, file));
    HD_TRY_OUT(reader->ops->open(op, file, &reader->self, &reader->raw));
    HD_TRY_OUT(make_canonical(op, reader));
    *out = reader;
    reader = NULL;
out:
    if (status != HUDI_OK)
        status = hd_fail_path(op, status, hd_input_file_path(file));
    hd_base_reader_close(reader);
    return status;
}

void hd_base_reader_close(hd_base_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->self != NULL)
        reader->ops->close(reader->self);
    hd_schema_clear(&reader->raw);
    hd_schema_clear(&reader->schema);
    hd_free(NULL, reader->differs);
    hd_input_file_close(reader->file);
    hd_free(NULL, reader);
}

hd_input_file *hd_base_reader_file(hd_base_reader *reader)
{
    return reader->file;
}

const struct ArrowSchema *hd_base_reader_schema(const hd_base_reader *reader)
{
    return &reader->schema;
}

int64_t hd_base_reader_n_rows(const hd_base_reader *reader)
{
    return reader->ops->n_rows(reader->self);
}

int32_t hd_base_reader_n_row_groups(const hd_base_reader *reader)
{
    return reader->ops->n_row_groups(reader->self);
}

int64_t hd_base_reader_row_group_rows(const hd_base_reader *reader, int32_t row_group)
{
    return reader->ops->row_group_rows(reader->self, row_group);
}

uint64_t hd_base_reader_row_group_bytes(const hd_base_reader *reader, int32_t row_group)
{
    return reader->ops->row_group_bytes(reader->self, row_group);
}

hudi_status hd_base_reader_key_value(struct hd_op *op, hd_base_reader *reader, const char *key,
                                     struct hd_slice *out)
{
    (void)op;
    *out = (struct hd_slice){0};
    return reader->ops->key_value(reader->self, key, &out->data, &out->size) ? HUDI_OK
                                                                             : HUDI_NOT_FOUND;
}

/* One column's array from the file's type to the canonical one. Takes over `*array`. */
static hudi_status cast_column(struct hd_op *op, const hd_base_reader *reader, int32_t column,
                               struct ArrowArray *array, struct ArrowArray *out)
{
    if (reader->differs[column])
        return hd_cast(op, reader->raw.children[column], array, reader->schema.children[column],
                       HD_CAST_CANONICAL, out);
    hd_array_move(array, out);
    return HUDI_OK;
}

hudi_status hd_base_reader_column_stats(struct hd_op *op, hd_base_reader *reader, int32_t row_group,
                                        int32_t column, struct hd_column_stats *out)
{
    hudi_status status = HUDI_OK;
    struct hd_cpp_stats raw;

    *out = (struct hd_column_stats){0};
    assert(column >= 0 && column < reader->raw.n_children);
    HD_TRY_OUT(reader->ops->stats(op, reader->self, row_group, column, &raw));
    out->has_null_count = raw.has_null_count;
    out->null_count = raw.null_count;
    if (raw.has_bounds) {
        status = cast_column(op, reader, column, &raw.min, &out->min);
        if (status == HUDI_OK)
            status = cast_column(op, reader, column, &raw.max, &out->max);
        hd_array_clear(&raw.min);
        hd_array_clear(&raw.max);
        HD_TRY_OUT(status);
        out->has_bounds = true;
    }
out:
    if (status != HUDI_OK)
        hd_column_stats_clear(out);
    return status;
}

void hd_column_stats_clear(struct hd_column_stats *stats)
{
    hd_array_clear(&stats->min);
    hd_array_clear(&stats->max);
    *stats = (struct hd_column_stats){0};
}

/* ---- batches ------------------------------------------------------------------------------ */

/* A copy of `given`, or 0..n-1 without one. */
static hudi_status take_numbers(struct hd_op *op, const int32_t *given, int32_t n_given, int32_t n,
                                int32_t **out, int32_t *n_out)
{
    *n_out = given == NULL ? n : n_given;
    HD_TRY(hd_alloc_array(op, (size_t)*n_out, sizeof **out, out));
    for (int32_t i = 0; i < *n_out; i++) {
        (*out)[i] = given == NULL ? i : given[i];
        assert((*out)[i] >= 0 && (*out)[i] < n);
    }
    return HUDI_OK;
}

hudi_status hd_base_reader_read(struct hd_op *op, hd_base_reader *reader,
                                const struct hd_base_read_options *options, hd_base_batches **out)
{
    static const struct hd_base_read_options ALL = {0};
    hudi_status status = HUDI_OK;
    hd_base_batches *batches = NULL;

    *out = NULL;
    if (options == NULL)
        options = &ALL;
    HD_TRY(hd_alloc(op, sizeof *batches, &batches));
    batches->reader = reader;
    batches->batch_rows = options->batch_rows;
    HD_TRY_OUT(take_numbers(op, options->columns, options->n_columns,
                            (int32_t)reader->raw.n_children, &batches->columns,
                            &batches->n_columns));
    HD_TRY_OUT(take_numbers(op, options->row_groups, options->n_row_groups,
                            hd_base_reader_n_row_groups(reader), &batches->row_groups,
                            &batches->n_row_groups));
    if (batches->n_columns > 0)
        HD_TRY_OUT(reader->ops->read(op, reader->self, batches->columns, batches->n_columns,
                                     batches->row_groups, batches->n_row_groups,
                                     batches->batch_rows, &batches->self));
    *out = batches;
    batches = NULL;
out:
    hd_base_batches_close(batches);
    return status;
}

/* Without columns only the number of rows is of interest. */
static hudi_status next_count(struct hd_op *op, hd_base_batches *batches, struct ArrowArray *out)
{
    const int64_t most = batches->batch_rows > 0 ? batches->batch_rows : COUNT_BATCH_ROWS;

    while (batches->rows_left == 0) {
        if (batches->next_row_group == batches->n_row_groups)
            return HUDI_END;
        batches->rows_left = hd_base_reader_row_group_rows(
            batches->reader, batches->row_groups[batches->next_row_group++]);
    }
    const int64_t n_rows = batches->rows_left < most ? batches->rows_left : most;
    HD_TRY(hd_array_struct(op, NULL, 0, n_rows, out));
    batches->rows_left -= n_rows;
    return HUDI_OK;
}

/* Cast the columns that need it; `out` is the batch itself when none does. */
static hudi_status cast_batch(struct hd_op *op, const hd_base_batches *batches,
                              struct ArrowArray *raw, struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    struct ArrowArray *columns;
    bool differs = false;

    for (int32_t i = 0; i < batches->n_columns; i++)
        differs |= batches->reader->differs[batches->columns[i]];
    if (!differs) {
        hd_array_move(raw, out);
        return HUDI_OK;
    }
    HD_TRY(hd_alloc_array(op, (size_t)batches->n_columns, sizeof *columns, &columns));
    for (int32_t i = 0; i < batches->n_columns && status == HUDI_OK; i++) {
        struct ArrowArray column = *raw->children[i]; /* moved out of its parent */
        raw->children[i]->release = NULL;
        status = cast_column(op, batches->reader, batches->columns[i], &column, &columns[i]);
        hd_array_clear(&column);
    }
    if (status == HUDI_OK)
        status = hd_array_struct(op, columns, batches->n_columns, raw->length, out);
    for (int32_t i = 0; i < batches->n_columns; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    return status;
}

hudi_status hd_base_batches_next(struct hd_op *op, hd_base_batches *batches, struct ArrowArray *out)
{
    struct ArrowArray raw = {0};

    *out = (struct ArrowArray){0};
    HD_TRY(hd_op_check_cancel(op));
    if (batches->self == NULL)
        return next_count(op, batches, out);
    HD_TRY(batches->reader->ops->next(op, batches->self, &raw));
    const hudi_status status = cast_batch(op, batches, &raw, out);
    hd_array_clear(&raw);
    return status == HUDI_OK ? status
                             : hd_fail_path(op, status, hd_input_file_path(batches->reader->file));
}

void hd_base_batches_close(hd_base_batches *batches)
{
    if (batches == NULL)
        return;
    if (batches->self != NULL)
        batches->reader->ops->close_batches(batches->self);
    hd_free(NULL, batches->columns);
    hd_free(NULL, batches->row_groups);
    hd_free(NULL, batches);
}
