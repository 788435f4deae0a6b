/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "codec/avro.h"
#include "codec/avro_internal.h"
#include "codec/hash.h"

static const uint8_t MAGIC[4] = {'O', 'b', 'j', 1};

#define BASE_BLOCK_BYTES (16u << 20)
#define BLOCK_RATIO 64u

/* ---- reading -------------------------------------------------------------------------------- */

/* Walk the header's map: the value of `key`, the last one if it comes twice; or, with `key` NULL,
 * to its end. */
static hudi_status walk_header(struct hd_op *op, struct hd_cursor *in, const char *key,
                               struct hd_slice *out, bool *found)
{
    struct hd_slice name, value;
    uint64_t n_items;

    *found = false;
    for (;;) {
        HD_TRY(hd_avro_read_block(op, in, 2, &n_items, NULL));
        if (n_items == 0)
            return HUDI_OK;
        for (uint64_t i = 0; i < n_items; i++) {
            HD_TRY(hd_avro_read_bytes(op, in, &name));
            HD_TRY(hd_avro_read_bytes(op, in, &value));
            if (key != NULL && hd_slice_equal(name, hd_slice_text(key))) {
                *out = value;
                *found = true;
            }
        }
    }
}

hudi_status hd_avro_container_meta(struct hd_op *op, const struct hd_avro_container *container,
                                   const char *key, struct hd_slice *out)
{
    struct hd_cursor in = container->header;
    bool found;

    *out = hd_slice_of(NULL, 0);
    HD_TRY(walk_header(op, &in, key, out, &found));
    return found ? HUDI_OK : HUDI_NOT_FOUND;
}

static hudi_status take_codec(struct hd_op *op, struct hd_avro_container *container)
{
    static const struct {
        const char *name;
        enum hd_codec codec;
    } CODECS[] = {{"null", HD_CODEC_NONE},
                  {"deflate", HD_CODEC_DEFLATE},
                  {"snappy", HD_CODEC_SNAPPY},
                  {"zstandard", HD_CODEC_ZSTD}};
    struct hd_slice name;
    hudi_status status = hd_avro_container_meta(op, container, "avro.codec", &name);

    if (status == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(status);
    for (size_t i = 0; i < sizeof CODECS / sizeof *CODECS; i++) {
        if (hd_slice_equal(name, hd_slice_text(CODECS[i].name))) {
            container->codec = CODECS[i].codec;
            container->has_checksum = container->codec == HD_CODEC_SNAPPY;
            return HUDI_OK;
        }
    }
    return hd_fail(op, HUDI_NOT_IMPLEMENTED, "Avro file of codec \"%.*s\"",
                   name.size > 40 ? 40 : (int)name.size, (const char *)name.data);
}

static hudi_status take_header(struct hd_op *op, struct hd_slice file,
                               struct hd_avro_container *out)
{
    struct hd_cursor in = hd_cursor_over(file.data, file.size, 0);
    struct hd_slice sync, none;
    bool found;

    HD_TRY(hd_cursor_expect(op, &in, MAGIC, sizeof MAGIC));
    const struct hd_cursor start = in;
    HD_TRY(walk_header(op, &in, NULL, &none, &found));
    struct hd_slice header = hd_cursor_since(&in, start);
    out->header = hd_cursor_over(header.data, header.size, sizeof MAGIC);
    HD_TRY(hd_cursor_take(op, &in, HD_AVRO_SYNC_BYTES, &sync));
    memcpy(out->sync, sync.data, sync.size);
    out->in = in;
    hudi_status status = hd_avro_container_meta(op, out, "avro.schema", &out->schema_json);
    if (status == HUDI_NOT_FOUND)
        return hd_fail(op, HUDI_CORRUPT, "Avro file without a schema in its header");
    HD_TRY(status);
    return take_codec(op, out);
}

hudi_status hd_avro_container_open(struct hd_op *op, struct hd_slice file,
                                   struct hd_avro_container *out)
{
    *out = (struct hd_avro_container){0};
    hudi_status status = take_header(op, file, out);
    if (status != HUDI_OK)
        *out = (struct hd_avro_container){0};
    else if (__builtin_mul_overflow(file.size, BLOCK_RATIO, &out->max_block_bytes) ||
             __builtin_add_overflow(out->max_block_bytes, BASE_BLOCK_BYTES, &out->max_block_bytes))
        out->max_block_bytes = UINT64_MAX;
    return status;
}

void hd_avro_container_clear(struct hd_avro_container *container)
{
    hd_str_clear(&container->block);
    *container = (struct hd_avro_container){0};
}

static hudi_status decompress_block(struct hd_op *op, struct hd_avro_container *container,
                                    struct hd_slice data, uint64_t offset)
{
    uint32_t checksum = 0;

    container->block.size = 0;
    if (container->has_checksum) {
        if (data.size < 4)
            return hd_fail(op, HUDI_CORRUPT, "Avro block at byte %" PRIu64 " of %zu bytes", offset,
                           data.size);
        struct hd_cursor tail = hd_cursor_over(data.data + data.size - 4, 4, 0);
        HD_TRY(hd_cursor_u32be(op, &tail, &checksum));
        data.size -= 4;
    }
    HD_TRY(
        hd_decompress(op, container->codec, data, container->max_block_bytes, &container->block));
    if (container->has_checksum &&
        hd_crc32(0, container->block.data, container->block.size) != checksum)
        return hd_fail(op, HUDI_CORRUPT, "Avro block at byte %" PRIu64 " has a wrong checksum",
                       offset);
    return HUDI_OK;
}

hudi_status hd_avro_container_next(struct hd_op *op, struct hd_avro_container *container,
                                   struct hd_cursor *records, uint64_t *n_records)
{
    struct hd_cursor in = container->in;
    uint64_t offset = hd_cursor_offset(&in);
    int64_t n, size;
    struct hd_slice data;

    *records = hd_cursor_over(NULL, 0, offset);
    *n_records = 0;
    if (hd_cursor_left(&in) == 0)
        return HUDI_END;
    HD_TRY(hd_avro_read_long(op, &in, &n));
    HD_TRY(hd_avro_read_long(op, &in, &size));
    uint64_t left = hd_cursor_left(&in);
    if (n < 0 || size < 0 || left < HD_AVRO_SYNC_BYTES ||
        (uint64_t)size > left - HD_AVRO_SYNC_BYTES)
        return hd_fail(op, HUDI_CORRUPT,
                       "Avro block at byte %" PRIu64 " of %" PRId64 " records, %" PRId64 " bytes",
                       offset, n, size);
    uint64_t data_offset = hd_cursor_offset(&in);
    HD_TRY(hd_cursor_take(op, &in, (uint64_t)size, &data));
    HD_TRY(hd_cursor_expect(op, &in, container->sync, HD_AVRO_SYNC_BYTES));
    if (container->codec != HD_CODEC_NONE) {
        HD_TRY(decompress_block(op, container, data, offset));
        data = hd_str_slice(&container->block);
    }
    if ((uint64_t)n > (uint64_t)data.size + HD_AVRO_MAX_ZERO_ITEMS)
        return hd_fail(op, HUDI_CORRUPT,
                       "Avro block at byte %" PRIu64 " of %" PRId64 " records in %zu bytes", offset,
                       n, data.size);
    *records = hd_cursor_over(data.data, data.size, data_offset);
    *n_records = (uint64_t)n;
    container->in = in;
    return HUDI_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

static hudi_status write_file(struct hd_op *op, struct hd_slice schema_json,
                              struct hd_slice records, uint64_t n_records, const uint8_t *sync,
                              struct hd_str *out)
{
    HD_TRY(hd_str_append(op, out, MAGIC, sizeof MAGIC));
    HD_TRY(hd_avro_write_long(op, out, 1));
    HD_TRY(hd_avro_write_bytes(op, out, hd_slice_text("avro.schema")));
    HD_TRY(hd_avro_write_bytes(op, out, schema_json));
    HD_TRY(hd_avro_write_long(op, out, 0));
    HD_TRY(hd_str_append(op, out, sync, HD_AVRO_SYNC_BYTES));
    if (n_records == 0)
        return HUDI_OK;
    HD_TRY(hd_avro_write_long(op, out, (int64_t)n_records));
    HD_TRY(hd_avro_write_bytes(op, out, records));
    return hd_str_append(op, out, sync, HD_AVRO_SYNC_BYTES);
}

hudi_status hd_avro_container_write(struct hd_op *op, struct hd_slice schema_json,
                                    struct hd_slice records, uint64_t n_records,
                                    const uint8_t *sync, struct hd_str *out)
{
    uint8_t random[HD_AVRO_SYNC_BYTES];
    size_t size_before = out->size;

    if (sync == NULL) {
        const uint64_t words[2] = {hd_random_u64(op), hd_random_u64(op)};
        memcpy(random, words, sizeof random);
        sync = random;
    }
    hudi_status status = write_file(op, schema_json, records, n_records, sync, out);
    if (status != HUDI_OK && out->data != NULL) {
        out->size = size_before;
        out->data[out->size] = '\0';
    }
    return status;
}
