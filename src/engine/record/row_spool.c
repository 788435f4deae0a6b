/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/row_spool.h"

#include <errno.h>
#include <unistd.h>

#include "codec/compress.h"
#include "store/temporary_file.h"

/* A bucket's buffer is written out at this size, compressed as one chunk. */
#define CHUNK_BYTES (32u << 10)

struct chunk {
    uint64_t offset;
    uint32_t size;
    uint32_t plain_size;
};

struct bucket {
    struct hd_str buffer;
    struct chunk *chunks;
    size_t n_chunks;
    size_t capacity;
};

struct hd_row_spool {
    int file;
    uint64_t size;
    struct bucket *buckets;
    uint32_t n_buckets;
    size_t bucket_capacity;
    struct hd_str packed;
    struct hd_row_spool_reader reader;
};

hudi_status hd_row_spool_new(struct hd_op *op, const char *folder, uint32_t n_buckets,
                             hd_row_spool **out)
{
    hudi_status status = HUDI_OK;
    hd_row_spool *spool;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *spool, &spool));
    spool->file = -1;
    for (uint32_t i = 0; i < n_buckets; i++)
        HD_TRY_OUT(hd_row_spool_add_bucket(op, spool));
    HD_TRY_OUT(hd_temporary_file(op, folder, &spool->file));
    *out = spool;
    return HUDI_OK;
out:
    hd_row_spool_free(op, spool);
    return status;
}

hudi_status hd_row_spool_add_bucket(struct hd_op *op, hd_row_spool *spool)
{
    HD_TRY(hd_grow(op, &spool->buckets, &spool->bucket_capacity, spool->n_buckets + (size_t)1,
                   sizeof *spool->buckets));
    spool->buckets[spool->n_buckets++] = (struct bucket){0};
    return HUDI_OK;
}

uint32_t hd_row_spool_n_buckets(const hd_row_spool *spool)
{
    return spool->n_buckets;
}

void hd_row_spool_free(struct hd_op *op, hd_row_spool *spool)
{
    if (spool == NULL)
        return;
    for (uint32_t i = 0; i < spool->n_buckets; i++) {
        hd_str_clear(&spool->buckets[i].buffer);
        hd_free(op, spool->buckets[i].chunks);
    }
    hd_free(op, spool->buckets);
    hd_str_clear(&spool->packed);
    hd_row_spool_reader_clear(&spool->reader);
    if (spool->file >= 0)
        (void)close(spool->file);
    hd_free(op, spool);
}

static hudi_status write_all(struct hd_op *op, hd_row_spool *spool, const char *bytes, size_t n)
{
    HD_TRY(hd_op_fault_point(op, "spool write"));
    while (n > 0) {
        const ssize_t written = pwrite(spool->file, bytes, n, (off_t)spool->size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return hd_fail_errno(op, errno, "records that do not fit into memory");
        bytes += written;
        n -= (size_t)written;
        spool->size += (uint64_t)written;
    }
    return HUDI_OK;
}

static hudi_status flush(struct hd_op *op, hd_row_spool *spool, struct bucket *bucket)
{
    struct chunk chunk = {.offset = spool->size, .plain_size = (uint32_t)bucket->buffer.size};

    if (bucket->buffer.size == 0)
        return HUDI_OK;
    HD_TRY(hd_grow(op, &bucket->chunks, &bucket->capacity, bucket->n_chunks + 1,
                   sizeof *bucket->chunks));
    spool->packed.size = 0;
    HD_TRY(hd_compress(op, HD_CODEC_LZ4, HD_CODEC_LEVEL_DEFAULT, hd_str_slice(&bucket->buffer),
                       &spool->packed));
    chunk.size = (uint32_t)spool->packed.size;
    HD_TRY(write_all(op, spool, spool->packed.data, spool->packed.size));
    bucket->chunks[bucket->n_chunks++] = chunk;
    bucket->buffer.size = 0;
    return HUDI_OK;
}

hudi_status hd_row_spool_append(struct hd_op *op, hd_row_spool *spool, uint32_t number,
                                struct hd_slice record)
{
    struct bucket *bucket = &spool->buckets[number];
    const uint32_t size = (uint32_t)record.size;

    if (record.size > INT32_MAX)
        return hd_fail(op, HUDI_INVALID, "a record of %zu bytes", record.size);
    HD_TRY(hd_str_append(op, &bucket->buffer, &size, sizeof size));
    HD_TRY(hd_str_append(op, &bucket->buffer, record.data, record.size));
    return bucket->buffer.size < CHUNK_BYTES ? HUDI_OK : flush(op, spool, bucket);
}

hudi_status hd_row_spool_seal_bucket(struct hd_op *op, hd_row_spool *spool, uint32_t bucket)
{
    HD_TRY(flush(op, spool, &spool->buckets[bucket]));
    hd_str_clear(&spool->buckets[bucket].buffer);
    return HUDI_OK;
}

hudi_status hd_row_spool_seal(struct hd_op *op, hd_row_spool *spool)
{
    for (uint32_t i = 0; i < spool->n_buckets; i++)
        HD_TRY(hd_row_spool_seal_bucket(op, spool, i));
    return HUDI_OK;
}

/* ---- reading ------------------------------------------------------------------------------- */

void hd_row_spool_reader_start(struct hd_row_spool_reader *reader, uint32_t bucket)
{
    reader->bucket = bucket;
    reader->next_chunk = 0;
    reader->cursor = hd_cursor_over(NULL, 0, 0);
}

void hd_row_spool_reader_clear(struct hd_row_spool_reader *reader)
{
    hd_str_clear(&reader->packed);
    hd_str_clear(&reader->plain);
    *reader = (struct hd_row_spool_reader){0};
}

static hudi_status read_chunk(struct hd_op *op, const hd_row_spool *spool,
                              struct hd_row_spool_reader *reader, const struct chunk *chunk)
{
    size_t done = 0;

    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(hd_op_fault_point(op, "spool read"));
    reader->packed.size = 0;
    HD_TRY(hd_str_reserve(op, &reader->packed, chunk->size));
    while (done < chunk->size) {
        const ssize_t n = pread(spool->file, reader->packed.data + done, chunk->size - done,
                                (off_t)(chunk->offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hd_fail_errno(op, errno, "records that do not fit into memory");
        if (n == 0)
            return hd_fail(op, HUDI_CORRUPT, "the spool file ends early");
        done += (size_t)n;
    }
    reader->plain.size = 0;
    HD_TRY(hd_decompress(op, HD_CODEC_LZ4, hd_slice_of(reader->packed.data, chunk->size),
                         chunk->plain_size, &reader->plain));
    reader->cursor = hd_cursor_over(reader->plain.data, reader->plain.size, chunk->offset);
    return HUDI_OK;
}

hudi_status hd_row_spool_reader_next(struct hd_op *op, const hd_row_spool *spool,
                                     struct hd_row_spool_reader *reader, struct hd_slice *out)
{
    const struct bucket *bucket = &spool->buckets[reader->bucket];
    uint32_t size;

    if (hd_cursor_left(&reader->cursor) == 0) {
        if (reader->next_chunk == bucket->n_chunks)
            return HUDI_END;
        HD_TRY(read_chunk(op, spool, reader, &bucket->chunks[reader->next_chunk++]));
    }
    HD_TRY(hd_cursor_u32le(op, &reader->cursor, &size));
    return hd_cursor_take(op, &reader->cursor, size, out);
}

void hd_row_spool_rewind(hd_row_spool *spool, uint32_t bucket)
{
    hd_row_spool_reader_start(&spool->reader, bucket);
}

hudi_status hd_row_spool_next(struct hd_op *op, hd_row_spool *spool, struct hd_slice *out)
{
    return hd_row_spool_reader_next(op, spool, &spool->reader, out);
}

uint64_t hd_row_spool_bytes(const hd_row_spool *spool)
{
    return spool->size;
}
