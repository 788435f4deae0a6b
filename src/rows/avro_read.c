/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "arrow/avro_decoder.h"
#include "arrow/avro_type.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "base/checked_int.h"
#include "codec/avro.h"
#include "rows/avro_rows.h"

#define BATCH_ROWS 65536
#define BATCH_BYTES (64u << 20)

#define READ_BYTES (256u << 10)
#define HEAD_BYTES (64u << 10)     /* of the file, in which its header mostly ends */
#define MAX_HEAD_BYTES (32u << 20) /* a schema has at most half of that */
#define BLOCK_HEAD_BYTES 20        /* two longs */

/* What a block may unpack to: zeros compress a thousandfold, rows do not. */
#define BASE_BLOCK_BYTES (UINT64_C(16) << 20)
#define BLOCK_RATIO 1024u

/*
 * Invariants
 *  1. `head` has the file's header, which the container points into; blocks are read into `buffer`
 *     one at a time, and the container sees just that block.
 *  2. `records` are those of the current block not yet read, `n_left` of them; they point into
 *     `buffer` or into what the container unpacked, both of which stay until they are used up.
 */
struct avro_stream {
    hd_input_file *file;
    uint8_t *head;
    struct hd_avro_container container;
    struct hd_arena arena; /* of the schema */
    struct ArrowSchema schema;
    hd_avro_decoder *decoder;
    uint8_t *buffer; /* bytes of the file from `buffer_offset` on */
    size_t capacity;
    size_t buffer_bytes;
    uint64_t buffer_offset;
    uint64_t offset; /* of the next block */
    struct hd_cursor records;
    uint64_t n_left;
};

/* ---- blocks ---------------------------------------------------------------------------------- */

/* A cursor over `n` bytes of the file from `self->offset` on, fewer at its end. */
static hudi_status see(struct hd_op *op, struct avro_stream *self, uint64_t n,
                       struct hd_cursor *out)
{
    const uint64_t left = hd_input_file_size(self->file) - self->offset;
    const uint64_t skipped = self->offset - self->buffer_offset;

    n = hd_min_u64(n, left);
    if (skipped + n > self->buffer_bytes) {
        const uint64_t wanted = hd_min_u64(left, n > READ_BYTES ? n : READ_BYTES);
        self->buffer_bytes = 0;
        HD_TRY(hd_grow(op, &self->buffer, &self->capacity, (size_t)wanted, 1));
        HD_TRY(hd_input_file_read_at(op, self->file, self->offset, self->buffer, wanted));
        self->buffer_offset = self->offset;
        self->buffer_bytes = (size_t)wanted;
    }
    *out = hd_cursor_over(self->buffer + (self->offset - self->buffer_offset), (size_t)n,
                          self->offset);
    return HUDI_OK;
}

/* Bytes of the next block with its head and sync marker. */
static hudi_status block_size(struct hd_op *op, struct avro_stream *self, uint64_t *out)
{
    const uint64_t left = hd_input_file_size(self->file) - self->offset;
    struct hd_cursor in;
    int64_t n, size;

    HD_TRY(see(op, self, BLOCK_HEAD_BYTES, &in));
    HD_TRY(hd_avro_read_long(op, &in, &n));
    HD_TRY(hd_avro_read_long(op, &in, &size));
    const uint64_t head = hd_cursor_offset(&in) - self->offset;
    if (size < 0 || (uint64_t)size > left - head)
        return hd_fail(op, HUDI_CORRUPT,
                       "Avro block at byte %" PRIu64 " of %" PRId64 " records, %" PRId64 " bytes",
                       self->offset, n, size);
    self->container.max_block_bytes = BASE_BLOCK_BYTES + BLOCK_RATIO * (uint64_t)size;
    *out = hd_min_u64(head + (uint64_t)size + HD_AVRO_SYNC_BYTES, left);
    return HUDI_OK;
}

static hudi_status next_block(struct hd_op *op, struct avro_stream *self)
{
    uint64_t n_bytes;

    if (self->offset == hd_input_file_size(self->file))
        return HUDI_END;
    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(block_size(op, self, &n_bytes));
    HD_TRY(see(op, self, n_bytes, &self->container.in));
    HD_TRY(hd_avro_container_next(op, &self->container, &self->records, &self->n_left));
    self->offset += n_bytes;
    return HUDI_OK;
}

static hudi_status next_record(struct hd_op *op, struct avro_stream *self)
{
    while (self->n_left == 0) {
        if (hd_cursor_left(&self->records) > 0)
            return hd_fail(op, HUDI_CORRUPT,
                           "Avro block before byte %" PRIu64 " holds %zu bytes behind its records",
                           self->offset, hd_cursor_left(&self->records));
        HD_TRY(next_block(op, self));
    }
    HD_TRY(hd_avro_decoder_take(op, self->decoder, &self->records));
    self->n_left--;
    return HUDI_OK;
}

/* ---- the stream ------------------------------------------------------------------------------ */

static hudi_status avro_next(struct hd_op *op, void *argument, struct ArrowArray *out)
{
    struct avro_stream *self = argument;

    while (hd_avro_decoder_n_rows(self->decoder) < BATCH_ROWS &&
           hd_avro_decoder_bytes(self->decoder) < BATCH_BYTES) {
        const hudi_status status = next_record(op, self);

        if (status == HUDI_END)
            break;
        HD_TRY(hd_fail_path(op, status, hd_input_file_path(self->file)));
    }
    if (hd_avro_decoder_n_rows(self->decoder) == 0)
        return HUDI_END;
    return hd_avro_decoder_finish(op, self->decoder, out);
}

static hudi_status avro_schema(struct hd_op *op, void *argument, struct ArrowSchema *out)
{
    return hd_schema_copy(op, &((struct avro_stream *)argument)->schema, out);
}

static void avro_close(void *argument)
{
    struct avro_stream *self = argument;

    hd_avro_decoder_free(NULL, self->decoder);
    hd_schema_clear(&self->schema);
    hd_arena_clear(&self->arena);
    hd_avro_container_clear(&self->container);
    hd_free(NULL, self->head);
    hd_free(NULL, self->buffer);
    hd_input_file_close(self->file);
    hd_free(NULL, self);
}

/* Read the header: more of the file, until it is whole. */
static hudi_status open_head(struct hd_op *op, struct avro_stream *self)
{
    const uint64_t size = hd_input_file_size(self->file);

    for (uint64_t n = HEAD_BYTES;; n *= 8) {
        const uint64_t n_bytes = hd_min_u64(n, size);

        HD_TRY(hd_alloc_raw(op, (size_t)n_bytes, 1, &self->head));
        HD_TRY(hd_input_file_read_at(op, self->file, 0, self->head, n_bytes));
        const hudi_status status =
            hd_avro_container_open(op, hd_slice_of(self->head, (size_t)n_bytes), &self->container);
        if (status == HUDI_OK)
            return HUDI_OK;
        if (status != HUDI_CORRUPT || n_bytes == size || n >= MAX_HEAD_BYTES ||
            memcmp(self->head, "Obj\x01", 4) != 0)
            return status;
        hd_op_clear_error(op);
        hd_free(op, self->head);
        self->head = NULL;
    }
}

static hudi_status open_stream(struct hd_op *op, struct avro_stream *self)
{
    struct hd_avro_schema *schema;

    HD_TRY(open_head(op, self));
    self->offset = self->buffer_offset = hd_cursor_offset(&self->container.in);
    self->records = hd_cursor_over(NULL, 0, self->offset);
    HD_TRY(hd_avro_schema_parse(op, &self->arena, self->container.schema_json, &schema));
    HD_TRY(hd_avro_to_arrow(op, schema, &self->schema));
    return hd_avro_decoder_new(op, schema, &self->schema, &self->decoder);
}

hudi_status hd_avro_rows_open(struct hd_op *op, hd_input_file *file, struct ArrowArrayStream *out)
{
    static const struct hd_stream_ops OPS = {
        .schema = avro_schema, .next = avro_next, .close = avro_close};
    struct avro_stream *self;

    *out = (struct ArrowArrayStream){0};
    hudi_status status = hd_alloc(op, sizeof *self, &self);
    if (status != HUDI_OK) {
        hd_input_file_close(file);
        return status;
    }
    self->file = file;
    HD_TRY_OUT(open_stream(op, self));
    HD_TRY_OUT(hd_stream_export(op, &OPS, self, out));
    return HUDI_OK;
out:
    avro_close(self);
    return status;
}
