/* SPDX-License-Identifier: Apache-2.0 */
#include "store/table_file.h"

#include <stdio.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/cast.h"
#include "arrow/gather.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "store/arrow_cpp/bridge.h"
#include "store/base_file.h"

/* ---- reading ------------------------------------------------------------------------------ */

struct table_source {
    hd_input_file *file; /* CSV, IPC */
    const struct hd_cpp_table_ops *ops;
    void *self;
    struct ArrowSchema raw;
    hd_base_reader *reader; /* Parquet, ORC */
    hd_base_batches *batches;
    struct ArrowSchema schema;
    struct hd_left_out left_out; /* of CSV */
    int64_t n_given, n_left_out; /* rows of CSV */
    enum hd_cast_rule rule;      /* from raw to schema */
    bool differs;
};

static hudi_status source_schema(struct hd_op *op, void *self, struct ArrowSchema *out)
{
    return hd_schema_copy(op, &((const struct table_source *)self)->schema, out);
}

/* ---- rows of CSV that do not fit ----------------------------------------------------------- */

static hudi_status tell_row(struct hd_op *op, const struct table_source *source, int64_t row,
                            int64_t n_before, const char *reason)
{
    char where[32];

    snprintf(where, sizeof where, "row %lld", (long long)row + 1);
    if (source->left_out.tell != NULL)
        return source->left_out.tell(op, source->left_out.self, n_before, where, reason);
    return hd_fail(op, HUDI_INVALID, "%s: %s", where, reason);
}

/* Misfits of the batch that come before it are not known yet: then those are told as the first. */
static hudi_status tell_skipped(struct hd_op *op, struct table_source *source)
{
    int64_t row;
    const char *reason;

    while (hd_csv_next_skipped(source->self, &row, &reason))
        HD_TRY(tell_row(op, source, row, row - source->n_left_out++, reason));
    return HUDI_OK;
}

/* The rows of `batch` (taken) without the misfits, which are told. */
static hudi_status leave_out(struct hd_op *op, struct table_source *source,
                             struct hd_misfits *misfits, struct ArrowArray *batch,
                             struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    const struct ArrowArray *sources[] = {batch};
    struct hd_run_list runs = {0};
    int64_t next = 0;

    HD_TRY_OUT(hd_misfits_sort(op, misfits));
    for (size_t i = 0; i <= misfits->n; i++) {
        const int64_t end = i < misfits->n ? misfits->list[i].row : batch->length;
        HD_TRY_OUT(hd_run_list_add(op, &runs, 0, (uint32_t)next, (uint32_t)(end - next)));
        next = end + 1;
        if (i < misfits->n)
            HD_TRY_OUT(tell_row(op, source, hd_csv_row(source->self, end),
                                source->n_given + end - (int64_t)i, misfits->list[i].reason));
    }
    source->n_left_out += (int64_t)misfits->n;
    status = hd_gather(op, &source->schema, sources, 1, runs.runs, runs.n_runs, out);
out:
    hd_free(op, runs.runs);
    hd_array_clear(batch);
    return status;
}

static hudi_status cast_texts(struct hd_op *op, struct table_source *source,
                              const struct ArrowSchema *texts, struct ArrowArray *raw,
                              struct ArrowArray *out)
{
    struct hd_misfits misfits = {0};
    struct ArrowArray batch = {0};
    hudi_status status =
        hd_cast_rows(op, texts, raw, &source->schema, HD_CAST_INPUT, &misfits, &batch);

    if (status == HUDI_OK && misfits.n > 0)
        status = leave_out(op, source, &misfits, &batch, out);
    else
        hd_array_move(&batch, out);
    hd_misfits_clear(op, &misfits);
    return status;
}

static hudi_status cast_batch(struct hd_op *op, struct table_source *source, struct ArrowArray *raw,
                              struct ArrowArray *out)
{
    struct ArrowSchema texts = {0};
    hudi_status status = HUDI_OK;

    if (source->ops == &hd_csv_ops)
        HD_TRY_OUT(hd_csv_batch_schema(op, source->self, &texts));
    if (texts.release != NULL)
        status = cast_texts(op, source, &texts, raw, out);
    else if (source->differs && source->ops == &hd_csv_ops && source->rule == HD_CAST_INPUT)
        status = cast_texts(op, source, &source->raw, raw, out); /* dates and times are cast here */
    else if (source->differs)
        status = hd_cast(op, &source->raw, raw, &source->schema, source->rule, out);
    else
        hd_array_move(raw, out);
out:
    hd_schema_clear(&texts);
    return status;
}

static hudi_status source_next(struct hd_op *op, void *self, struct ArrowArray *out)
{
    struct table_source *source = self;
    struct ArrowArray raw = {0};

    *out = (struct ArrowArray){0};
    if (source->batches != NULL)
        return hd_base_batches_next(op, source->batches, out);
    HD_TRY(hd_op_check_cancel(op));
    for (;;) {
        hudi_status status = source->ops->next(op, source->self, &raw);
        if (source->ops == &hd_csv_ops && (status == HUDI_OK || status == HUDI_END)) {
            const hudi_status told = tell_skipped(op, source);
            status = told == HUDI_OK ? status : told;
        }
        if (status == HUDI_OK)
            status = cast_batch(op, source, &raw, out);
        hd_array_clear(&raw);
        if (status != HUDI_OK)
            return status == HUDI_END ? status
                                      : hd_fail_path(op, status, hd_input_file_path(source->file));
        source->n_given += out->length;
        if (out->length > 0 || source->ops != &hd_csv_ops)
            return HUDI_OK;
        hd_array_clear(out); /* all its rows were left out */
    }
}

static void source_close(void *self)
{
    struct table_source *source = self;

    if (source == NULL)
        return;
    hd_base_batches_close(source->batches);
    hd_base_reader_close(source->reader);
    if (source->self != NULL)
        source->ops->close(source->self);
    hd_schema_clear(&source->raw);
    hd_schema_clear(&source->schema);
    hd_input_file_close(source->file);
    hd_free(NULL, source);
}

static const struct hd_stream_ops SOURCE_OPS = {source_schema, source_next, source_close};

/* The type wanted of a column: that of `types`, or the canonical form of what the file has. */
static hudi_status choose_field(struct hd_op *op, const struct ArrowSchema *raw,
                                const struct ArrowSchema *types, struct ArrowSchema *out)
{
    const int32_t at = types == NULL ? -1 : hd_schema_find(types, raw->name);

    if (at >= 0)
        return hd_schema_copy_as(op, types->children[at], raw->name, true, out);
    return hd_canonical_schema(op, raw, out);
}

static hudi_status choose_schema(struct hd_op *op, struct table_source *source,
                                 const struct ArrowSchema *types)
{
    const int64_t n = source->raw.n_children;

    HD_TRY(hd_schema_init_struct(op, &source->schema, "", false, n));
    for (int64_t i = 0; i < n; i++)
        HD_TRY(choose_field(op, source->raw.children[i], types, source->schema.children[i]));
    source->rule = types == NULL ? HD_CAST_CANONICAL : HD_CAST_INPUT;
    source->differs = !hd_type_equal(&source->raw, &source->schema);
    return source->differs ? hd_cast_check(op, &source->raw, &source->schema, source->rule)
                           : HUDI_OK;
}

static hudi_status open_base_file(struct hd_op *op, struct table_source *source,
                                  enum hd_base_file_format format)
{
    hd_input_file *file = source->file;

    source->file = NULL; /* the reader's now */
    HD_TRY(hd_base_reader_open(op, file, format, &source->reader));
    HD_TRY(hd_schema_copy(op, hd_base_reader_schema(source->reader), &source->schema));
    return hd_base_reader_read(op, source->reader, NULL, &source->batches);
}

static hudi_status open_source(struct hd_op *op, struct table_source *source,
                               enum hd_table_file_format format, const struct ArrowSchema *types)
{
    switch (format) {
    case HD_TABLE_FILE_CSV:
        source->ops = &hd_csv_ops;
        HD_TRY(hd_csv_open(op, source->file, types, source->left_out.tell != NULL, &source->self,
                           &source->raw));
        return choose_schema(op, source, types);
    case HD_TABLE_FILE_ARROW:
        source->ops = &hd_ipc_ops;
        HD_TRY(hd_ipc_open(op, source->file, &source->self, &source->raw));
        return choose_schema(op, source, NULL);
    case HD_TABLE_FILE_PARQUET:
        return open_base_file(op, source, HD_BASE_FILE_PARQUET);
    case HD_TABLE_FILE_ORC:
        return open_base_file(op, source, HD_BASE_FILE_ORC);
    }
    return hd_fail(op, HUDI_INVALID, "table file of format %d", (int)format);
}

hudi_status hd_table_file_open(struct hd_op *op, hd_input_file *file,
                               enum hd_table_file_format format, const struct ArrowSchema *types,
                               const struct hd_left_out *left_out, struct ArrowArrayStream *out)
{
    struct table_source *source;
    hudi_status status = hd_alloc(op, sizeof *source, &source);

    *out = (struct ArrowArrayStream){0};
    if (status != HUDI_OK) {
        hd_input_file_close(file);
        return status;
    }
    source->file = file;
    if (left_out != NULL)
        source->left_out = *left_out;
    status = open_source(op, source, format, types);
    if (status != HUDI_OK && source->file != NULL)
        status = hd_fail_path(op, status, hd_input_file_path(source->file));
    if (status == HUDI_OK)
        status = hd_stream_export(op, &SOURCE_OPS, source, out);
    if (status != HUDI_OK)
        source_close(source);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

static hudi_status write_parquet(struct hd_op *op, const struct ArrowSchema *schema,
                                 struct ArrowArrayStream *stream, hd_output_file *file)
{
    const struct hd_base_write_options options = {.format = HD_BASE_FILE_PARQUET,
                                                  .codec = HD_BASE_CODEC_ZSTD,
                                                  .codec_level = INT32_MIN,
                                                  .dictionary = true};
    hd_base_writer *writer;
    struct ArrowArray batch = {0};
    hudi_status status;
    uint64_t n_bytes;

    HD_TRY(hd_base_writer_open(op, file, schema, &options, &writer));
    while ((status = hd_stream_next(op, stream, &batch)) == HUDI_OK) {
        status = hd_base_writer_write(op, writer, &batch);
        hd_array_clear(&batch);
        if (status != HUDI_OK)
            break;
    }
    if (status == HUDI_END)
        return hd_base_writer_close(op, writer, &n_bytes);
    hd_base_writer_abort(writer);
    return status;
}

static hudi_status write_rows(struct hd_op *op, bool csv, const struct ArrowSchema *schema,
                              struct ArrowArrayStream *stream, hd_output_file *file)
{
    struct ArrowArray batch = {0};
    hudi_status status = HUDI_OK;
    void *writer = NULL;

    HD_TRY_OUT(hd_table_writer_open(op, file, csv, schema, &writer));
    while ((status = hd_stream_next(op, stream, &batch)) == HUDI_OK) {
        status = hd_table_writer_write(op, writer, &batch);
        hd_array_clear(&batch);
        HD_TRY_OUT(status);
    }
    if (status == HUDI_END)
        status = hd_table_writer_finish(op, writer);
out:
    hd_table_writer_free(writer);
    if (status == HUDI_OK)
        return hd_output_file_close(op, file, true);
    hd_output_file_abort(file);
    return status;
}

hudi_status hd_table_file_write(struct hd_op *op, enum hd_table_file_format format,
                                struct ArrowArrayStream *stream, hd_output_file *file)
{
    struct ArrowSchema schema = {0};
    hudi_status status = hd_stream_schema(op, stream, &schema);

    if (status == HUDI_OK && format == HD_TABLE_FILE_ORC)
        status = hd_fail(op, HUDI_NOT_IMPLEMENTED, "writing files of format orc");
    if (status != HUDI_OK)
        hd_output_file_abort(file);
    else if (format == HD_TABLE_FILE_PARQUET)
        status = write_parquet(op, &schema, stream, file);
    else
        status = write_rows(op, format == HD_TABLE_FILE_CSV, &schema, stream, file);
    hd_schema_clear(&schema);
    hd_stream_clear(stream);
    return status;
}
