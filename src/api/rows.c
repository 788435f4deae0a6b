/* SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>
#include <unistd.h>

#include "api/api.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "format/table/table_schema.h"
#include "rows/avro_rows.h"
#include "rows/json_rows.h"
#include "rows/table_rows.h"
#include "store/table_file.h"

enum row_format { ROWS_PARQUET, ROWS_ORC, ROWS_CSV, ROWS_JSON, ROWS_ARROW, ROWS_AVRO, ROWS_TABLE };

static const struct {
    const char *name; /* of the format, or an ending of file names */
    enum row_format format;
} FORMATS[] = {{"parquet", ROWS_PARQUET}, {"orc", ROWS_ORC},      {"csv", ROWS_CSV},
               {"jsonl", ROWS_JSON},      {"json", ROWS_JSON},    {"ndjson", ROWS_JSON},
               {"arrow", ROWS_ARROW},     {"arrows", ROWS_ARROW}, {"avro", ROWS_AVRO},
               {"table", ROWS_TABLE}};

#define READ_FORMATS "parquet, orc, csv, jsonl, avro, arrow"
#define WRITTEN_FORMATS "table, jsonl, csv, parquet, avro, arrow"

/* By name or, when `format` is NULL, by the path's ending; `possible` is for messages. */
static hudi_status find_format(struct hd_op *op, const char *path, const char *format,
                               const char *possible, enum row_format *out)
{
    const char *dot = strrchr(path, '.');
    const char *name = format != NULL ? format : dot == NULL ? "" : dot + 1;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(FORMATS); i++) {
        if (strcasecmp(name, FORMATS[i].name) == 0) {
            *out = FORMATS[i].format;
            return HUDI_OK;
        }
    }
    if (format != NULL)
        return hd_fail(op, HUDI_INVALID, "format \"%s\" is none of %s", format, possible);
    return hd_fail(op, HUDI_INVALID, "%s: the name's ending tells no format (%s)", path, possible);
}

/* Standard input is read to its end once: the context keeps it for those that open it again. */
static hudi_status open_standard_input(struct hd_op *op, hudi_context *context, hd_input_file **out)
{
    const struct hd_options *options = context == NULL ? NULL : &context->options;
    const char *folder = hd_options_text(options, NULL, "hoodie.memory.spillable.map.path");

    if (context == NULL)
        return hd_input_file_standard(op, folder, out);
    if (context->standard_input == NULL)
        HD_TRY(hd_input_file_standard(op, folder, &context->standard_input));
    return hd_input_file_window(op, context->standard_input, 0,
                                hd_input_file_size(context->standard_input), out);
}

static hudi_status open_input(struct hd_op *op, hudi_context *context, const char *path,
                              hd_input_file **out)
{
    hd_file_system *fs = NULL;
    char *inner = NULL;

    if (strcmp(path, "-") == 0)
        return open_standard_input(op, context, out);
    HD_TRY(hd_fs_open(op, path, &fs, &inner));
    const hudi_status status = hd_fs_open_input(op, fs, inner, out);
    hd_free(op, inner);
    hd_fs_free(fs);
    return hd_fail_path(op, status, path);
}

/* What messages call the input. */
static const char *shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static hudi_status open_avro(struct hd_op *op, hudi_context *context, const char *path,
                             struct ArrowArrayStream *out)
{
    hd_input_file *file = NULL;

    HD_TRY(open_input(op, context, path, &file));
    return hd_fail_path(op, hd_avro_rows_open(op, file, out), shown(path));
}

static hudi_status open_table_file(struct hd_op *op, hudi_context *context, const char *path,
                                   enum row_format format, const struct ArrowSchema *types,
                                   const struct hd_left_out *left_out, struct ArrowArrayStream *out)
{
    static const enum hd_table_file_format OF[] = {
        [ROWS_PARQUET] = HD_TABLE_FILE_PARQUET,
        [ROWS_ORC] = HD_TABLE_FILE_ORC,
        [ROWS_CSV] = HD_TABLE_FILE_CSV,
        [ROWS_ARROW] = HD_TABLE_FILE_ARROW,
    };
    hd_input_file *file = NULL;

    HD_TRY(open_input(op, context, path, &file));
    return hd_fail_path(op, hd_table_file_open(op, file, OF[format], types, left_out, out),
                        shown(path));
}

/* Where nothing is to be guessed, standard input is taken line by line as it comes. */
static hudi_status open_json(struct hd_op *op, hudi_context *context, const char *path,
                             const struct ArrowSchema *types, const struct hd_left_out *left_out,
                             struct ArrowArrayStream *out)
{
    hd_input_file *file = NULL;
    hd_line_reader *reader;

    if (strcmp(path, "-") != 0 || types == NULL ||
        (context != NULL && context->standard_input != NULL))
        HD_TRY(open_input(op, context, path, &file));
    HD_TRY(hd_line_reader_open(op, file, &reader));
    return hd_fail_path(op, hd_json_rows_open(op, reader, types, hd_is_meta_column, left_out, out),
                        shown(path));
}

hudi_status hd_rows_open(struct hd_op *op, hudi_context *context, const char *path,
                         const char *format, const struct ArrowSchema *types,
                         const struct hd_left_out *left_out, struct ArrowArrayStream *out)
{
    enum row_format found = ROWS_JSON;

    *out = (struct ArrowArrayStream){0};
    if (format != NULL || strcmp(path, "-") != 0)
        HD_TRY(find_format(op, path, format, READ_FORMATS, &found));
    if (found == ROWS_JSON)
        return open_json(op, context, path, types, left_out, out);
    if (found == ROWS_AVRO)
        return open_avro(op, context, path, out);
    if (found == ROWS_TABLE)
        return hd_fail(op, HUDI_INVALID, "format table is for printing only");
    return open_table_file(op, context, path, found, types, left_out, out);
}

hudi_status hudi_rows_open(hudi_context *context, const char *path, const char *format,
                           const struct ArrowSchema *types, struct ArrowArrayStream *out,
                           hudi_error **err)
{
    HD_TRY(HD_CHECK_GIVEN(err, HD_ARG(path), HD_OUT(out)));
    struct hd_op op;

    hd_call_begin(&op, context, NULL);
    const hudi_status status = hd_rows_open(&op, context, path, format, types, NULL, out);
    return hd_call_end(&op, status, err);
}

static hudi_status open_output(struct hd_op *op, const char *path, hd_output_file **out)
{
    hd_file_system *fs = NULL;
    char *inner = NULL;

    if (strcmp(path, "-") == 0)
        return hd_output_file_standard(op, out);
    HD_TRY(hd_fs_open(op, path, &fs, &inner));
    const hudi_status status = hd_fs_open_output(op, fs, inner, false, out);
    hd_free(op, inner);
    hd_fs_free(fs);
    return hd_fail_path(op, status, path);
}

static hudi_status write_avro(struct hd_op *op, struct ArrowArrayStream *in, hd_output_file *file,
                              int64_t *n_rows)
{
    hudi_status status;
    struct ArrowSchema schema = {0};
    struct hd_str json = {0};

    HD_TRY_OUT(hd_stream_schema(op, in, &schema));
    HD_TRY_OUT(hd_table_schema_to_avro(op, &schema, "rows", &json));
    HD_TRY_OUT(hd_avro_rows_write(op, in, hd_str_text(&json), file, n_rows));
out:
    hd_schema_clear(&schema);
    hd_str_clear(&json);
    return status;
}

static hudi_status write_rows(struct hd_op *op, struct ArrowArrayStream *in, const char *path,
                              enum row_format format, int64_t *n_rows)
{
    static const enum hd_table_file_format OF[] = {[ROWS_PARQUET] = HD_TABLE_FILE_PARQUET,
                                                   [ROWS_CSV] = HD_TABLE_FILE_CSV,
                                                   [ROWS_ARROW] = HD_TABLE_FILE_ARROW};
    hd_output_file *file = NULL;

    if (format == ROWS_ORC)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "rows are not written as orc, but as one of %s",
                       WRITTEN_FORMATS);
    HD_TRY(open_output(op, path, &file));
    if (format != ROWS_JSON && format != ROWS_TABLE && format != ROWS_AVRO)
        return hd_table_file_write(op, OF[format], in, file);
    const hudi_status status = format == ROWS_JSON   ? hd_json_rows_write(op, in, file, n_rows)
                               : format == ROWS_AVRO ? write_avro(op, in, file, n_rows)
                                                     : hd_table_rows_write(op, in, file, n_rows);
    if (status == HUDI_OK)
        return hd_output_file_close(op, file, false);
    hd_output_file_abort(file);
    return status;
}

hudi_status hudi_rows_write(hudi_context *context, struct ArrowArrayStream *in, const char *path,
                            const char *format, int64_t *n_rows, hudi_error **err)
{
    if (HD_CHECK_GIVEN(err, HD_ARG(in), HD_ARG(path), HD_OUT_IF_GIVEN(n_rows)) != HUDI_OK) {
        if (in != NULL)
            hd_stream_clear(in);
        return HUDI_INVALID;
    }
    hudi_status status = HUDI_OK;
    struct hd_op op;
    enum row_format found = isatty(STDOUT_FILENO) ? ROWS_TABLE : ROWS_JSON;

    if (n_rows != NULL)
        *n_rows = 0;
    hd_call_begin(&op, context, NULL);
    if (format != NULL || strcmp(path, "-") != 0)
        HD_TRY_OUT(find_format(&op, path, format, WRITTEN_FORMATS, &found));
    HD_TRY_OUT(write_rows(&op, in, path, found, n_rows));
out:
    hd_stream_clear(in);
    return hd_call_end(&op, status, err);
}
