/* SPDX-License-Identifier: Apache-2.0 */

#include "format/log/log_rows.h"

#include <string.h>

#include "arrow/avro_decoder.h"
#include "arrow/avro_type.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "codec/avro.h"
#include "codec/hfile.h"
#include "format/log/log_deletes.h"
#include "format/log/log_records.h"
#include "format/log/log_rows_internal.h"
#include "store/base_file.h"
#include "store/hfile_source.h"

#define BATCH_ROWS 65536
#define BATCH_BYTES (16u << 20)
#define RECORD_KEY_COLUMN "_hoodie_record_key"
#define METADATA_KEY_COLUMN "key"

/* One of the four ways: records of Avro or cells of an HFile go through the decoder. */
struct log_rows {
    hd_log_reader *reader;
    struct hd_log_block *block;
    struct hd_budget *budget;
    struct hd_arena arena; /* of the schema */
    struct hd_avro_schema *writer;
    struct ArrowSchema schema;
    hd_avro_decoder *decoder;
    struct hd_log_records records;
    hd_hfile *hfile;
    hd_hfile_cursor *cells;
    struct hd_str record;   /* of a cell, its key put back */
    size_t key_field;       /* that the key goes into; n_fields: none */
    struct ArrowArray once; /* of a delete block: all rows */
    hd_base_reader *parquet;
    hd_base_batches *batches;
};

/* ---- HFiles ------------------------------------------------------------------------------- */

static hudi_status open_hfile(struct hd_op *op, hd_log_reader *reader,
                              const struct hd_log_block *block, hd_hfile **out)
{
    const struct hd_hfile_source source = hd_hfile_source_of_file(
        hd_log_reader_file(reader), block->content_offset, block->content_bytes);

    return hd_hfile_open(op, &source, out);
}

static size_t find_field(const struct hd_avro_schema *record, const char *name)
{
    size_t i = 0;

    while (i < record->n_fields && strcmp(record->fields[i].name, name) != 0)
        i++;
    return i;
}

/* Pass over the fields before `field`, and over the branch of its union. */
static hudi_status pass_to(struct hd_op *op, const struct hd_avro_schema *record, size_t field,
                           struct hd_cursor *in, bool *is_string)
{
    const struct hd_avro_schema *type = record->fields[field].schema;
    uint32_t branch;

    for (size_t i = 0; i < field; i++)
        HD_TRY(hd_avro_skip(op, record->fields[i].schema, in));
    if (type->type == HD_AVRO_UNION) {
        HD_TRY(hd_avro_read_index(op, in, type->n_branches, &branch));
        type = type->branches[branch];
    }
    *is_string = type->type == HD_AVRO_STRING;
    return HUDI_OK;
}

/* HFile values have their key field emptied (all but 0.10's): put the cell's key there. */
static hudi_status put_key_back(struct hd_op *op, struct log_rows *self, struct hd_slice key,
                                struct hd_slice value, struct hd_slice *out)
{
    struct hd_cursor in = hd_cursor_over(value.data, value.size, self->block->content_offset);
    const struct hd_cursor start = in;
    struct hd_slice old;
    bool is_string;

    *out = value;
    if (self->key_field == self->writer->n_fields)
        return HUDI_OK;
    HD_TRY(pass_to(op, self->writer, self->key_field, &in, &is_string));
    if (!is_string)
        return HUDI_OK;
    const struct hd_slice before = hd_cursor_since(&in, start);
    HD_TRY(hd_avro_read_bytes(op, &in, &old));
    if (old.size > 0)
        return HUDI_OK;
    self->record.size = 0;
    HD_TRY(hd_str_append(op, &self->record, before.data, before.size));
    HD_TRY(hd_avro_write_bytes(op, &self->record, key));
    HD_TRY(hd_str_append(op, &self->record, in.at, hd_cursor_left(&in)));
    *out = hd_str_slice(&self->record);
    return HUDI_OK;
}

/* ---- the stream --------------------------------------------------------------------------- */

static hudi_status next_record(struct hd_op *op, struct log_rows *self)
{
    struct hd_slice key, value;

    if (self->hfile == NULL) {
        HD_TRY(hd_log_records_next(op, &self->records, &value));
    } else {
        HD_TRY(hd_hfile_next(op, self->cells, &key, &value));
        HD_TRY(put_key_back(op, self, key, value, &value));
    }
    return hd_avro_decoder_add(op, self->decoder, value);
}

static hudi_status rows_next(struct hd_op *op, void *argument, struct ArrowArray *out)
{
    struct log_rows *const self = argument;

    HD_TRY(hd_op_check_cancel(op));
    if (self->batches != NULL)
        return hd_base_batches_next(op, self->batches, out);
    if (self->decoder == NULL) {
        if (self->once.release == NULL)
            return HUDI_END;
        *out = self->once;
        self->once = (struct ArrowArray){0};
        return HUDI_OK;
    }
    while (hd_avro_decoder_n_rows(self->decoder) < BATCH_ROWS &&
           hd_avro_decoder_bytes(self->decoder) < BATCH_BYTES) {
        const hudi_status status = next_record(op, self);

        if (status == HUDI_END)
            break;
        HD_TRY(status);
    }
    if (hd_avro_decoder_n_rows(self->decoder) == 0)
        return HUDI_END;
    return hd_avro_decoder_finish(op, self->decoder, out);
}

static hudi_status rows_schema(struct hd_op *op, void *argument, struct ArrowSchema *out)
{
    return hd_schema_copy(op, &((struct log_rows *)argument)->schema, out);
}

static void free_rows(struct hd_op *op, struct log_rows *self)
{
    hd_base_batches_close(self->batches);
    hd_base_reader_close(self->parquet);
    if (self->once.release != NULL)
        self->once.release(&self->once);
    hd_avro_decoder_free(op, self->decoder);
    hd_hfile_cursor_close(op, self->cells);
    hd_hfile_close(op, self->hfile);
    hd_str_clear(&self->record);
    hd_log_records_close(op, &self->records);
    hd_schema_clear(&self->schema);
    hd_arena_clear(&self->arena);
    hd_free(op, self);
}

/* A stream is closed without an op; what was taken from the budget goes back all the same. */
static void rows_close(void *argument)
{
    struct log_rows *const self = argument;
    struct hd_op op = {.budget = self->budget};

    free_rows(&op, self);
}

/* ---- opening ------------------------------------------------------------------------------ */

/* The schema of the records: the block's, or the HFile's own. */
static hudi_status open_decoder(struct hd_op *op, struct log_rows *self)
{
    struct hd_avro_schema *shown;
    struct hd_slice json;

    hudi_status status = hd_log_header_find(op, self->block, HD_LOG_SCHEMA, &json);
    if (status == HUDI_NOT_FOUND && self->hfile != NULL)
        status = hd_hfile_info(op, self->hfile, "schema", &json);
    if (status == HUDI_NOT_FOUND)
        return hd_fail(op, HUDI_CORRUPT, "the block has no schema");
    HD_TRY(status);
    HD_TRY(hd_avro_schema_parse(op, &self->arena, json, &self->writer));
    if (self->writer->type != HD_AVRO_RECORD)
        return hd_fail(op, HUDI_CORRUPT, "the block's schema is no record");
    status = hd_avro_to_arrow(op, self->writer, &self->schema);
    if (status == HUDI_NOT_IMPLEMENTED) {
        hd_op_clear_error(op);
        HD_TRY(log_rows_columns(op, &self->arena, self->writer, &shown));
        status = hd_avro_to_arrow(op, shown, &self->schema);
    }
    HD_TRY(status);
    HD_TRY(hd_avro_decoder_new(op, self->writer, &self->schema, &self->decoder));
    self->key_field = find_field(self->writer, RECORD_KEY_COLUMN);
    const size_t key = find_field(self->writer, METADATA_KEY_COLUMN);
    /* In metadata tables the meta columns are null and the field "key" is the emptied one. */
    if (key < self->writer->n_fields && find_field(self->writer, "type") < self->writer->n_fields &&
        find_field(self->writer, "filesystemMetadata") < self->writer->n_fields)
        self->key_field = key;
    return HUDI_OK;
}

static hudi_status open_parquet(struct hd_op *op, struct log_rows *self)
{
    const struct hd_base_read_options options = {0};

    HD_TRY(log_rows_open_parquet(op, self->reader, self->block, &self->parquet));
    HD_TRY(hd_schema_copy(op, hd_base_reader_schema(self->parquet), &self->schema));
    return hd_base_reader_read(op, self->parquet, &options, &self->batches);
}

static hudi_status open_rows(struct hd_op *op, struct log_rows *self)
{
    switch (self->block->type) {
    case HD_LOG_AVRO_DATA:
    case HD_LOG_CDC_DATA:
        HD_TRY(open_decoder(op, self));
        return hd_log_records_open(op, hd_log_reader_file(self->reader), self->block,
                                   &self->records);
    case HD_LOG_HFILE_DATA:
        HD_TRY(open_hfile(op, self->reader, self->block, &self->hfile));
        HD_TRY(hd_hfile_cursor_open(op, self->hfile, &self->cells));
        return open_decoder(op, self);
    case HD_LOG_PARQUET_DATA:
        return open_parquet(op, self);
    case HD_LOG_DELETE:
        return log_rows_of_deletes(op, self->reader, self->block, &self->schema, &self->once);
    case HD_LOG_COMMAND:
    case HD_LOG_CORRUPT:
        break;
    }
    return hd_fail(op, HUDI_INVALID, "a %s block has no rows",
                   hd_log_block_type_name(self->block->type));
}

hudi_status hd_log_rows_open(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                             struct ArrowArrayStream *out)
{
    static const struct hd_stream_ops OPS = {
        .schema = rows_schema, .next = rows_next, .close = rows_close};
    struct log_rows *self;
    hudi_status status;

    *out = (struct ArrowArrayStream){0};
    HD_TRY(hd_alloc(op, sizeof *self, &self));
    self->reader = reader;
    self->block = block;
    self->budget = op->budget;
    status = open_rows(op, self);
    if (status == HUDI_OK)
        status = hd_stream_export(op, &OPS, self, out);
    if (status != HUDI_OK)
        free_rows(op, self);
    return status;
}

/* ---- counting ----------------------------------------------------------------------------- */

static hudi_status count_records(struct hd_op *op, hd_log_reader *reader,
                                 const struct hd_log_block *block, int64_t *n_rows,
                                 uint32_t *version)
{
    struct hd_log_records records;

    HD_TRY(hd_log_records_open(op, hd_log_reader_file(reader), block, &records));
    *n_rows = records.n_records;
    *version = records.version;
    hd_log_records_close(op, &records);
    return HUDI_OK;
}

static hudi_status count_deletes(struct hd_op *op, hd_log_reader *reader,
                                 struct hd_log_block *block, int64_t *n_rows, uint32_t *version)
{
    struct hd_log_deletes deletes;

    HD_TRY(hd_log_reader_content(op, reader, block));
    HD_TRY(hd_log_deletes_decode(op, block->content, block->content_offset, &deletes));
    *n_rows = (int64_t)deletes.n;
    *version = deletes.version;
    hd_log_deletes_clear(op, &deletes);
    return HUDI_OK;
}

hudi_status hd_log_rows_count(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                              int64_t *n_rows, uint32_t *version)
{
    hd_base_reader *parquet;
    hd_hfile *hfile;

    *n_rows = -1;
    *version = 0;
    switch (block->type) {
    case HD_LOG_AVRO_DATA:
    case HD_LOG_CDC_DATA:
        return count_records(op, reader, block, n_rows, version);
    case HD_LOG_DELETE:
        return count_deletes(op, reader, block, n_rows, version);
    case HD_LOG_HFILE_DATA:
        HD_TRY(open_hfile(op, reader, block, &hfile));
        *n_rows = (int64_t)hd_hfile_n_cells(hfile);
        hd_hfile_close(op, hfile);
        return HUDI_OK;
    case HD_LOG_PARQUET_DATA:
        HD_TRY(log_rows_open_parquet(op, reader, block, &parquet));
        *n_rows = hd_base_reader_n_rows(parquet);
        hd_base_reader_close(parquet);
        return HUDI_OK;
    case HD_LOG_COMMAND:
    case HD_LOG_CORRUPT:
        break;
    }
    return HUDI_OK;
}
