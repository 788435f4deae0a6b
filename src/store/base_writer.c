/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of base_file.h. A file into which no row group is copied is Arrow's from the first
 * byte to the last; once one is, what Arrow writes between copies are sections of an assembly.
 */
#include <assert.h>

#include "store/arrow_cpp/bridge.h"
#include "store/base_file.h"
#include "store/parquet_copy.h"

#define DEFAULT_ROW_GROUP_ROWS 100000
#define MIN_COPIED_SHARE 4 /* a quarter of a full row group is worth copying */

struct hd_base_writer {
    hd_output_file *file;
    void *self;
    int64_t row_group_rows;
    uint64_t row_group_bytes;
    int64_t n_rows;
    hudi_status failed; /* first failure of a call: nothing works after it */
    bool in_section;    /* rows were written since the file began or a row group was copied */
    struct hd_parquet_assembly assembly; /* without row groups until one is copied */
    const hd_base_reader *source;        /* whose footer is the next */
    struct hd_parquet_footer source_footer;
};

hudi_status hd_base_writer_open(struct hd_op *op, hd_output_file *file,
                                const struct ArrowSchema *schema,
                                const struct hd_base_write_options *options, hd_base_writer **out)
{
    hudi_status status = HUDI_OK;
    hd_base_writer *writer = NULL;
    const struct hd_cpp_write_options cpp = {
        .codec = (int32_t)options->codec,
        .codec_level = options->codec_level,
        .row_group_rows = options->row_group_rows,
        .row_group_bytes = options->row_group_bytes,
        .page_bytes = options->page_bytes,
        .dictionary = options->dictionary,
        .root_name = options->root_name,
        .no_dictionary = options->no_dictionary,
        .n_no_dictionary = options->n_no_dictionary,
    };

    *out = NULL;
    if (options->format != HD_BASE_FILE_PARQUET) {
        status = hd_fail(op, HUDI_NOT_IMPLEMENTED, "writing base files of format orc");
        goto out;
    }
    HD_TRY_OUT(hd_alloc(op, sizeof *writer, &writer));
    HD_TRY_OUT(hd_parquet_writer_open(op, file, schema, &cpp, &writer->self));
    writer->file = file;
    writer->assembly.file = file;
    writer->row_group_rows =
        options->row_group_rows == 0 ? DEFAULT_ROW_GROUP_ROWS : options->row_group_rows;
    writer->row_group_bytes = options->row_group_bytes;
    *out = writer;
    return HUDI_OK;
out:
    hd_free(op, writer);
    status = hd_fail_path(op, status, hd_output_file_path(file));
    hd_output_file_abort(file);
    return status;
}

static hudi_status check_usable(struct hd_op *op, const hd_base_writer *writer)
{
    if (writer->failed != HUDI_OK)
        return hd_fail(op, writer->failed, "an earlier write to this file failed");
    return HUDI_OK;
}

hudi_status hd_base_writer_write(struct hd_op *op, hd_base_writer *writer,
                                 const struct ArrowArray *batch)
{
    HD_TRY(check_usable(op, writer));
    if (batch->length == 0)
        return HUDI_OK;
    HD_TRY(hd_op_check_cancel(op));
    writer->failed = hd_parquet_writer_write(op, writer->self, batch);
    if (writer->failed == HUDI_OK) {
        writer->n_rows += batch->length;
        writer->in_section = true;
    }
    return writer->failed;
}

uint64_t hd_base_writer_bytes(const hd_base_writer *writer)
{
    return writer->failed == HUDI_OK ? hd_parquet_writer_bytes(writer->self) : 0;
}

int64_t hd_base_writer_rows(const hd_base_writer *writer)
{
    return writer->n_rows;
}

hudi_status hd_base_writer_key_value(struct hd_op *op, hd_base_writer *writer, const char *key,
                                     struct hd_slice value)
{
    HD_TRY(check_usable(op, writer));
    return hd_parquet_writer_key_value(op, writer->self, key, value.data, value.size);
}

/* ---- copying ------------------------------------------------------------------------------ */

static void forget_source(hd_base_writer *writer)
{
    writer->source = NULL;
    hd_parquet_footer_clear(&writer->source_footer);
}

static hudi_status use_source(struct hd_op *op, hd_base_writer *writer, hd_base_reader *reader)
{
    if (writer->source == reader)
        return HUDI_OK;
    forget_source(writer);
    HD_TRY(hd_parquet_footer_read(op, hd_base_reader_file(reader), &writer->source_footer));
    writer->source = reader;
    return HUDI_OK;
}

static hudi_status compare_files(struct hd_op *op, hd_base_writer *writer, hd_base_reader *reader,
                                 bool *out)
{
    struct hd_parquet_footer ours;
    const void *bytes;
    size_t n;

    forget_source(writer); /* another reader may have come to be at the same address */
    HD_TRY(use_source(op, writer, reader));
    HD_TRY(hd_parquet_writer_empty_file(op, writer->self, &bytes, &n));
    HD_TRY(hd_parquet_footer_of_tail(op, hd_slice_of(bytes, n), 0, &ours));
    const hudi_status status = hd_parquet_can_copy(op, &ours, &writer->source_footer, out);
    hd_parquet_footer_clear(&ours);
    return status;
}

hudi_status hd_base_writer_can_copy(struct hd_op *op, hd_base_writer *writer,
                                    hd_base_reader *reader, bool *out)
{
    *out = false;
    HD_TRY(check_usable(op, writer));
    const hudi_status status = compare_files(op, writer, reader, out);
    if (status != HUDI_CORRUPT && status != HUDI_NOT_IMPLEMENTED)
        return status;
    hd_op_clear_error(op); /* ORC, or a footer that Arrow reads and we do not */
    *out = false;
    return HUDI_OK;
}

bool hd_base_writer_wants_copy(const hd_base_writer *writer, const hd_base_reader *reader,
                               int32_t row_group)
{
    const int64_t n_rows = hd_base_reader_row_group_rows(reader, row_group);
    const uint64_t n_bytes = hd_base_reader_row_group_bytes(reader, row_group);

    return n_rows >= writer->row_group_rows / MIN_COPIED_SHARE ||
           (writer->row_group_bytes > 0 && n_bytes >= writer->row_group_bytes / MIN_COPIED_SHARE);
}

static hudi_status end_section(struct hd_op *op, hd_base_writer *writer)
{
    const void *tail;
    size_t n;

    if (!writer->in_section)
        return HUDI_OK;
    HD_TRY(hd_parquet_writer_end_section(op, writer->self, &tail, &n));
    HD_TRY(hd_parquet_assembly_section(op, &writer->assembly, hd_slice_of(tail, n)));
    writer->in_section = false;
    return HUDI_OK;
}

/* Encode the columns, each a small file of its own (in `out`, of `n`, to be freed one by one). */
static hudi_status encode_columns(struct hd_op *op, hd_base_writer *writer,
                                  const struct hd_base_replaced_column *columns, int32_t n,
                                  struct hd_parquet_replacement *out)
{
    for (int32_t i = 0; i < n; i++) {
        const void *bytes;
        char *copy;
        size_t n_bytes;

        const hudi_status found =
            hd_parquet_flat_column(op, &writer->source_footer, columns[i].column, &out[i].chunk);
        if (found == HUDI_NOT_FOUND)
            return hd_fail(op, HUDI_INTERNAL, "column %d is not a flat one", columns[i].column);
        HD_TRY(found);
        HD_TRY(hd_parquet_writer_column_file(op, writer->self, columns[i].column,
                                             &columns[i].values, &bytes, &n_bytes));
        HD_TRY(hd_strndup(op, bytes, n_bytes, &copy));
        out[i].file = hd_slice_of(copy, n_bytes);
    }
    return HUDI_OK;
}

static hudi_status copy_row_group(struct hd_op *op, hd_base_writer *writer, hd_base_reader *reader,
                                  int32_t row_group, const struct hd_base_replaced_column *replaced,
                                  int32_t n_replaced)
{
    hudi_status status = HUDI_OK;
    struct hd_parquet_replacement *encoded = NULL;

    HD_TRY(use_source(op, writer, reader));
    assert(row_group >= 0 && (size_t)row_group < writer->source_footer.n_row_groups);
    HD_TRY(end_section(op, writer));
    HD_TRY(hd_alloc_array(op, (size_t)n_replaced, sizeof *encoded, &encoded));
    HD_TRY_OUT(encode_columns(op, writer, replaced, n_replaced, encoded));
    HD_TRY_OUT(hd_parquet_assembly_copy(op, &writer->assembly, hd_base_reader_file(reader),
                                        &writer->source_footer, (size_t)row_group, encoded,
                                        (size_t)n_replaced));
    writer->n_rows += writer->source_footer.row_groups[row_group].n_rows;
out:
    for (int32_t i = 0; i < n_replaced; i++)
        hd_free(op, (void *)(uintptr_t)encoded[i].file.data);
    hd_free(op, encoded);
    return status;
}

hudi_status hd_base_writer_copy_row_group(struct hd_op *op, hd_base_writer *writer,
                                          hd_base_reader *reader, int32_t row_group,
                                          const struct hd_base_replaced_column *replaced,
                                          int32_t n_replaced)
{
    HD_TRY(check_usable(op, writer));
    writer->failed = copy_row_group(op, writer, reader, row_group, replaced, n_replaced);
    return writer->failed;
}

/* ---- closing ------------------------------------------------------------------------------ */

static hudi_status finish(struct hd_op *op, hd_base_writer *writer)
{
    const void *bytes;
    size_t n;

    if (writer->assembly.n_row_groups == 0)
        return hd_parquet_writer_finish(op, writer->self);
    HD_TRY(end_section(op, writer));
    HD_TRY(hd_parquet_writer_empty_file(op, writer->self, &bytes, &n));
    return hd_parquet_assembly_finish(op, &writer->assembly, hd_slice_of(bytes, n));
}

/* All but the file. */
static void free_writer(hd_base_writer *writer)
{
    hd_parquet_writer_free(writer->self);
    hd_parquet_assembly_clear(NULL, &writer->assembly);
    forget_source(writer);
    hd_free(NULL, writer);
}

hudi_status hd_base_writer_close(struct hd_op *op, hd_base_writer *writer, uint64_t *n_bytes)
{
    hudi_status status = check_usable(op, writer);

    *n_bytes = 0;
    if (status == HUDI_OK)
        status = finish(op, writer);
    if (status != HUDI_OK) {
        hd_base_writer_abort(writer);
        return status;
    }
    hd_output_file *file = writer->file;
    free_writer(writer);
    *n_bytes = hd_output_file_position(file);
    return hd_output_file_close(op, file, true);
}

void hd_base_writer_abort(hd_base_writer *writer)
{
    if (writer == NULL)
        return;
    hd_output_file *file = writer->file;
    free_writer(writer);
    hd_output_file_abort(file);
}
