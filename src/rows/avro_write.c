/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/array.h"
#include "arrow/avro_encoder.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "codec/avro.h"
#include "rows/avro_rows.h"

#define BLOCK_BYTES (64u << 10)
#define STEP_ROWS 256 /* between looks at the size of the block */

struct writer {
    struct hd_arena arena; /* of the schema */
    hd_avro_encoder *encoder;
    hd_output_file *file;
    uint8_t sync[HD_AVRO_SYNC_BYTES];
    struct hd_str block;
    struct hd_str head; /* the bytes around a block */
    int64_t n_in_block;
};

static hudi_status begin_file(struct hd_op *op, struct writer *w, const char *avro_json)
{
    const uint64_t words[2] = {hd_random_u64(op), hd_random_u64(op)};

    memcpy(w->sync, words, sizeof w->sync);
    HD_TRY(hd_avro_container_write(op, hd_slice_text(avro_json), hd_slice_of(NULL, 0), 0, w->sync,
                                   &w->head));
    return hd_output_file_write(op, w->file, w->head.data, w->head.size);
}

static hudi_status flush_block(struct hd_op *op, struct writer *w)
{
    if (w->n_in_block == 0)
        return HUDI_OK;
    w->head.size = 0;
    HD_TRY(hd_avro_write_long(op, &w->head, w->n_in_block));
    HD_TRY(hd_avro_write_long(op, &w->head, (int64_t)w->block.size));
    HD_TRY(hd_output_file_write(op, w->file, w->head.data, w->head.size));
    HD_TRY(hd_output_file_write(op, w->file, w->block.data, w->block.size));
    w->n_in_block = 0;
    w->block.size = 0;
    return hd_output_file_write(op, w->file, w->sync, sizeof w->sync);
}

static hudi_status write_batch(struct hd_op *op, struct writer *w, const struct ArrowArray *batch)
{
    int64_t rows[STEP_ROWS];

    for (int64_t done = 0; done < batch->length;) {
        int64_t n = 0;

        while (n < STEP_ROWS && done + n < batch->length) {
            rows[n] = done + n;
            n++;
        }
        HD_TRY(hd_avro_encoder_add(op, w->encoder, batch, rows, n, false, &w->block));
        w->n_in_block += n;
        done += n;
        if (w->block.size >= BLOCK_BYTES)
            HD_TRY(flush_block(op, w));
    }
    return HUDI_OK;
}

static hudi_status write_rows(struct hd_op *op, struct writer *w, struct ArrowArrayStream *stream,
                              int64_t *n_rows)
{
    struct ArrowArray batch = {0};
    hudi_status status = HUDI_OK;

    while (status == HUDI_OK) {
        status = hd_stream_next(op, stream, &batch);
        if (status == HUDI_OK)
            status = write_batch(op, w, &batch);
        if (status == HUDI_OK)
            *n_rows += batch.length;
        hd_array_clear(&batch);
    }
    return status == HUDI_END ? flush_block(op, w) : status;
}

hudi_status hd_avro_rows_write(struct hd_op *op, struct ArrowArrayStream *stream,
                               const char *avro_json, hd_output_file *file, int64_t *n_rows)
{
    struct writer w = {.file = file};
    struct ArrowSchema schema = {0};
    struct hd_avro_schema *record;
    hudi_status status;
    int64_t written = 0;

    HD_TRY_OUT(hd_stream_schema(op, stream, &schema));
    HD_TRY_OUT(hd_avro_schema_parse(op, &w.arena, hd_slice_text(avro_json), &record));
    HD_TRY_OUT(hd_avro_encoder_new(op, &schema, record, &w.encoder));
    HD_TRY_OUT(begin_file(op, &w, avro_json));
    HD_TRY_OUT(write_rows(op, &w, stream, &written));
    if (n_rows != NULL)
        *n_rows = written;
out:
    hd_avro_encoder_free(op, w.encoder);
    hd_arena_clear(&w.arena);
    hd_str_clear(&w.block);
    hd_str_clear(&w.head);
    hd_schema_clear(&schema);
    return status;
}
