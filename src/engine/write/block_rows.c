/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/block_rows.h"

#include <strings.h>

#include "arrow/array.h"
#include "arrow/avro_encoder.h"
#include "arrow/gather.h"
#include "engine/write/base_sink.h"

struct hd_block_rows {
    const struct hd_write_config *config;
    const struct hd_write_schema *schema;
    const struct ArrowSchema *columns;
    bool is_parquet;
    struct hd_arena arena; /* of the encoder's schema */
    hd_avro_encoder *encoder;
    hd_base_writer *writer; /* over `content`; NULL: no row yet */
    struct hd_run_list runs;
    struct hd_str content;
    uint8_t counts[8]; /* of Avro: version and number of the records */
    int64_t n_rows;
    uint64_t n_column_bytes;
};

static hudi_status open_encoder(struct hd_op *op, hd_block_rows *rows)
{
    struct hd_avro_schema *avro;

    HD_TRY(hd_avro_schema_parse(op, &rows->arena, hd_slice_text(rows->schema->file_avro), &avro));
    return hd_avro_encoder_new(op, rows->columns, avro, &rows->encoder);
}

hudi_status hd_block_rows_new(struct hd_op *op, const struct hd_write_config *config,
                              const struct hd_write_schema *schema,
                              const struct ArrowSchema *columns, hd_block_rows **out)
{
    hd_block_rows *rows;
    hudi_status status = HUDI_OK;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *rows, &rows));
    *rows = (hd_block_rows){.config = config, .schema = schema, .columns = columns};
    rows->is_parquet =
        strcasecmp(hd_write_text(config, "hoodie.logfile.data.block.format"), "parquet") == 0;
    if (!rows->is_parquet)
        status = open_encoder(op, rows);
    if (status != HUDI_OK) {
        hd_block_rows_free(op, rows);
        return status;
    }
    *out = rows;
    return HUDI_OK;
}

void hd_block_rows_free(struct hd_op *op, hd_block_rows *rows)
{
    if (rows == NULL)
        return;
    hd_base_writer_abort(rows->writer);
    hd_avro_encoder_free(op, rows->encoder);
    hd_free(op, rows->runs.runs);
    hd_str_clear(&rows->content);
    hd_arena_clear(&rows->arena);
    hd_free(op, rows);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static hudi_status open_writer(struct hd_op *op, hd_block_rows *rows)
{
    hd_output_file *file;

    if (rows->writer != NULL)
        return HUDI_OK;
    HD_TRY(hd_output_file_of_str(op, &rows->content, &file));
    return hd_rows_writer_open(op, rows->config, rows->schema, rows->columns, file, &rows->writer);
}

static hudi_status add_parquet(struct hd_op *op, hd_block_rows *rows,
                               const struct ArrowArray *batch, const int64_t *numbers, int64_t n)
{
    struct ArrowArray chosen = {0};
    hudi_status status;

    HD_TRY(open_writer(op, rows));
    hd_run_list_reset(&rows->runs);
    for (int64_t i = 0; i < n; i++)
        HD_TRY(hd_run_list_add(op, &rows->runs, 0, (uint32_t)numbers[i], 1));
    HD_TRY(hd_gather(op, rows->columns, &batch, 1, rows->runs.runs, rows->runs.n_runs, &chosen));
    rows->n_column_bytes += hd_array_bytes(rows->columns, &chosen);
    status = hd_base_writer_write(op, rows->writer, &chosen);
    hd_array_clear(&chosen);
    return status;
}

hudi_status hd_block_rows_add(struct hd_op *op, hd_block_rows *rows, const struct ArrowArray *batch,
                              const int64_t *numbers, int64_t n)
{
    HD_TRY(rows->is_parquet
               ? add_parquet(op, rows, batch, numbers, n)
               : hd_avro_encoder_add(op, rows->encoder, batch, numbers, n, true, &rows->content));
    rows->n_rows += n;
    return HUDI_OK;
}

int64_t hd_block_rows_length(const hd_block_rows *rows)
{
    return rows->n_rows;
}

uint64_t hd_block_rows_bytes(const hd_block_rows *rows)
{
    return rows->is_parquet ? rows->n_column_bytes : rows->content.size;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static void put_be32(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
}

hudi_status hd_block_rows_finish(struct hd_op *op, hd_block_rows *rows,
                                 struct hd_block_content *out)
{
    *out = (struct hd_block_content){.type = HD_LOG_AVRO_DATA};
    if (rows->is_parquet) {
        hd_base_writer *writer = rows->writer;
        uint64_t n_bytes;

        rows->writer = NULL;
        HD_TRY(hd_base_writer_close(op, writer, &n_bytes));
        out->type = HD_LOG_PARQUET_DATA;
    } else {
        put_be32(rows->counts, rows->config->table->config.version->log_content_version);
        put_be32(rows->counts + 4, (uint32_t)rows->n_rows);
        out->parts[out->n_parts++] = hd_slice_of(rows->counts, sizeof rows->counts);
    }
    out->parts[out->n_parts++] = hd_str_slice(&rows->content);
    for (size_t i = 0; i < out->n_parts; i++)
        out->n_bytes += out->parts[i].size;
    return HUDI_OK;
}

void hd_block_rows_reset(hd_block_rows *rows)
{
    rows->content.size = 0;
    rows->n_rows = 0;
    rows->n_column_bytes = 0;
}
