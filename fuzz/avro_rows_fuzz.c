/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Avro records of any bytes. A file that begins like a container is read as one; else the bytes are
 * the writer's schema, NUL, the schema of the wanted columns (empty: the writer's), NUL, records
 * back to back. What was decoded with one schema is encoded and decoded again to the same rows.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/avro_decoder.h"
#include "arrow/avro_encoder.h"
#include "arrow/avro_type.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "arrow/view.h"
#include "rows/avro_rows.h"

#define MAX_BATCHES 16
#define MAX_ROWS 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_container(struct hd_op *op, struct hd_slice bytes)
{
    struct ArrowArrayStream stream;
    struct ArrowArray rows;
    hd_input_file *file;

    if (hd_input_file_of_bytes(op, bytes.data, bytes.size, &file) != HUDI_OK ||
        hd_avro_rows_open(op, file, &stream) != HUDI_OK)
        return;
    for (int i = 0; i < MAX_BATCHES && hd_stream_next(op, &stream, &rows) == HUDI_OK; i++)
        hd_array_clear(&rows);
    hd_stream_clear(&stream);
}

/* The bytes before the next NUL, which is taken too. */
static struct hd_slice take_text(struct hd_slice *in)
{
    const uint8_t *end = in->size == 0 ? NULL : memchr(in->data, '\0', in->size);
    const size_t n = end == NULL ? in->size : (size_t)(end - in->data);
    const struct hd_slice text = hd_slice_of(in->data, n);

    in->data += n + (end != NULL);
    in->size -= n + (end != NULL);
    return text;
}

static void must(bool right)
{
    if (!right)
        abort();
}

static void decode_rows(struct hd_op *op, hd_avro_decoder *decoder, struct hd_cursor *in,
                        struct ArrowArray *out)
{
    while (hd_cursor_left(in) > 0 && hd_avro_decoder_n_rows(decoder) < MAX_ROWS) {
        const uint8_t *at = in->at;
        if (hd_avro_decoder_take(op, decoder, in) != HUDI_OK || in->at == at)
            break;
    }
    hd_op_clear_error(op);
    must(hd_avro_decoder_finish(op, decoder, out) == HUDI_OK);
}

/* Rows of a writer's own columns become records that become the same rows. */
static void round_trip(struct hd_op *op, const struct hd_avro_schema *writer,
                       const struct ArrowSchema *columns, hd_avro_decoder *decoder,
                       const struct ArrowArray *rows)
{
    struct hd_arena arena = {0};
    struct hd_str records = {0};
    hd_avro_encoder *encoder;
    struct ArrowArray again;
    struct hd_view a, b;

    if (hd_avro_encoder_new(op, columns, writer, &encoder) != HUDI_OK)
        return; /* bare nulls */
    if (hd_avro_encoder_add(op, encoder, rows, NULL, rows->length, false, &records) == HUDI_OK) {
        struct hd_cursor in = hd_cursor_over(records.data, records.size, 0);
        for (int64_t i = 0; i < rows->length; i++)
            must(hd_avro_decoder_take(op, decoder, &in) == HUDI_OK);
        must(hd_cursor_left(&in) == 0);
        must(hd_avro_decoder_finish(op, decoder, &again) == HUDI_OK);
        must(hd_view_open(op, &arena, columns, rows, &a) == HUDI_OK);
        must(hd_view_open(op, &arena, columns, &again, &b) == HUDI_OK);
        for (int64_t i = 0; i < rows->length; i++)
            must(hd_view_compare(&a, i, &b, i) == 0);
        hd_array_clear(&again);
    }
    hd_str_clear(&records);
    hd_arena_clear(&arena);
    hd_avro_encoder_free(op, encoder);
}

static void decode(struct hd_op *op, struct hd_arena *arena, struct hd_slice bytes)
{
    const struct hd_slice writer_json = take_text(&bytes), reader_json = take_text(&bytes);
    struct hd_avro_schema *writer, *reader;
    struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 0);
    struct ArrowSchema columns;
    struct ArrowArray rows;
    hd_avro_decoder *decoder;

    if (hd_avro_schema_parse(op, arena, writer_json, &writer) != HUDI_OK)
        return;
    reader = writer;
    if (reader_json.size > 0 && hd_avro_schema_parse(op, arena, reader_json, &reader) != HUDI_OK)
        return;
    if (hd_avro_to_arrow(op, reader, &columns) != HUDI_OK)
        return;
    const struct hd_avro_decoder_options options = {.reader = reader};
    if (hd_avro_decoder_new_with(op, writer, &columns, &options, &decoder) == HUDI_OK) {
        decode_rows(op, decoder, &in, &rows);
        if (reader == writer)
            round_trip(op, writer, &columns, decoder, &rows);
        hd_array_clear(&rows);
        hd_avro_decoder_free(op, decoder);
    }
    hd_schema_clear(&columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hd_slice bytes = hd_slice_of(data, size);
    struct hd_arena arena = {0};
    struct hd_op op;

    hd_op_init(&op);
    if (hd_slice_starts_with(bytes, "Obj\x01"))
        read_container(&op, bytes);
    else
        decode(&op, &arena, bytes);
    hd_arena_clear(&arena);
    hd_op_clear(&op);
    return 0;
}
