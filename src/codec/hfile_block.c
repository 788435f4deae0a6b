/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of an HFile: header, checksums, compression. */
#include <inttypes.h>
#include <string.h>

#include "codec/hash.h"
#include "codec/hfile_internal.h"

/* What a block may give when it is decompressed: a little, or that many times its size. */
#define SMALL_BLOCK_BYTES (16u << 20)
#define MAX_RATIO 64
#define CHECKSUM_BYTES 4

enum checksum_type { CHECKSUM_NONE, CHECKSUM_CRC32, CHECKSUM_CRC32C };

struct header {
    uint32_t on_disk; /* behind the header: payload and checksums */
    uint32_t n_bytes; /* of the payload when it is decompressed */
    uint32_t per_checksum;
    uint32_t data_bytes; /* header and payload */
    uint8_t checksum_type;
};

hudi_status hfile_vint(struct hd_op *op, struct hd_cursor *in, int64_t *out)
{
    uint8_t byte;
    uint64_t value = 0;

    HD_TRY(hd_cursor_u8(op, in, &byte));
    const int first = (int8_t)byte;
    if (first >= -112) {
        *out = first;
        return HUDI_OK;
    }
    const int n_bytes = first >= -120 ? -112 - first : -120 - first;
    for (int i = 0; i < n_bytes; i++) {
        HD_TRY(hd_cursor_u8(op, in, &byte));
        value = value << 8 | byte;
    }
    *out = first >= -120 ? (int64_t)value : (int64_t)~value;
    return HUDI_OK;
}

hudi_status hfile_read_at(struct hd_op *op, const struct hd_hfile *hfile, uint64_t offset,
                          void *into, uint64_t n)
{
    const struct hd_hfile_source *const source = &hfile->source;

    if (offset > source->size || n > source->size - offset)
        return hd_fail(op, HUDI_CORRUPT,
                       "%" PRIu64 " bytes are wanted at byte %" PRIu64 " of an HFile of %" PRIu64,
                       n, offset, source->size);
    if (n == 0)
        return HUDI_OK;
    if (source->read_at != NULL)
        return source->read_at(op, source->self, source->base + offset, into, n);
    memcpy(into, source->bytes.data + offset, (size_t)n);
    return HUDI_OK;
}

static hudi_status read_header(struct hd_op *op, struct hd_cursor *in, const char *magic,
                               struct header *out)
{
    uint64_t previous;

    HD_TRY(hd_cursor_expect(op, in, magic, HFILE_MAGIC_BYTES));
    HD_TRY(hd_cursor_u32be(op, in, &out->on_disk));
    HD_TRY(hd_cursor_u32be(op, in, &out->n_bytes));
    HD_TRY(hd_cursor_u64be(op, in, &previous));
    HD_TRY(hd_cursor_u8(op, in, &out->checksum_type));
    HD_TRY(hd_cursor_u32be(op, in, &out->per_checksum));
    return hd_cursor_u32be(op, in, &out->data_bytes);
}

static hudi_status check_checksums(struct hd_op *op, const struct header *header,
                                   struct hd_slice data, struct hd_cursor sums, uint64_t offset)
{
    if (header->checksum_type == CHECKSUM_NONE)
        return HUDI_OK;
    if (header->checksum_type > CHECKSUM_CRC32C)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "HFile block at byte %" PRIu64 " has checksums of type %d", offset,
                       header->checksum_type);
    for (size_t at = 0; at < data.size; at += header->per_checksum) {
        const size_t left = data.size - at;
        const size_t n = left < header->per_checksum ? left : header->per_checksum;
        const uint32_t sum = header->checksum_type == CHECKSUM_CRC32
                                 ? hd_crc32(0, data.data + at, n)
                                 : hd_crc32c(0, data.data + at, n);
        uint32_t wanted;

        HD_TRY(hd_cursor_u32be(op, &sums, &wanted));
        if (sum != wanted)
            return hd_fail(op, HUDI_CORRUPT,
                           "HFile block at byte %" PRIu64 " has checksum %08" PRIx32
                           " and not %08" PRIx32,
                           offset, sum, wanted);
    }
    return HUDI_OK;
}

static hudi_status decompress(struct hd_op *op, const struct hd_hfile *hfile,
                              const struct header *header, struct hd_slice payload, uint64_t offset,
                              struct hd_str *out)
{
    const size_t before = out->size;

    if (header->n_bytes > SMALL_BLOCK_BYTES && header->n_bytes / MAX_RATIO > payload.size)
        return hd_fail(op, HUDI_CORRUPT,
                       "HFile block at byte %" PRIu64 " says that %zu bytes become %" PRIu32,
                       offset, payload.size, header->n_bytes);
    if (hfile->codec == HD_CODEC_NONE)
        HD_TRY(hd_str_append(op, out, payload.data, payload.size));
    else
        HD_TRY(hd_decompress(op, hfile->codec, payload, header->n_bytes, out));
    if (out->size - before != header->n_bytes)
        return hd_fail(op, HUDI_CORRUPT,
                       "HFile block at byte %" PRIu64 " has %zu bytes and not %" PRIu32, offset,
                       out->size - before, header->n_bytes);
    return HUDI_OK;
}

hudi_status hfile_block_take(struct hd_op *op, const struct hd_hfile *hfile, struct hd_cursor *in,
                             const char *magic, struct hd_str *out)
{
    const struct hd_cursor start = *in;
    const uint64_t offset = hd_cursor_offset(in);
    struct header header;
    struct hd_slice payload;
    struct hd_cursor sums;

    HD_TRY(read_header(op, in, magic, &header));
    if (header.data_bytes < HFILE_HEADER_BYTES ||
        header.data_bytes - HFILE_HEADER_BYTES > header.on_disk || header.per_checksum == 0)
        return hd_fail(op, HUDI_CORRUPT, "HFile block at byte %" PRIu64 " contradicts itself",
                       offset);
    const uint32_t payload_bytes = header.data_bytes - HFILE_HEADER_BYTES;
    HD_TRY(hd_cursor_take(op, in, payload_bytes, &payload));
    const struct hd_slice data = hd_cursor_since(in, start);
    HD_TRY(hd_cursor_sub(op, in, header.on_disk - payload_bytes, &sums));
    HD_TRY(check_checksums(op, &header, data, sums, offset));
    return decompress(op, hfile, &header, payload, offset, out);
}

hudi_status hfile_block_read(struct hd_op *op, const struct hd_hfile *hfile,
                             const struct hfile_entry *entry, const char *magic, struct hd_str *out)
{
    const struct hd_hfile_source *const source = &hfile->source;
    hudi_status status = HUDI_OK;
    uint8_t *bytes = NULL;
    struct hd_cursor in;

    if (entry->offset > source->size || entry->size > source->size - entry->offset)
        return hd_fail(op, HUDI_CORRUPT,
                       "HFile block of %" PRIu32 " bytes at byte %" PRIu64 " runs past the end",
                       entry->size, entry->offset);
    if (source->read_at == NULL) {
        in = hd_cursor_over(source->bytes.data + entry->offset, entry->size, entry->offset);
        return hfile_block_take(op, hfile, &in, magic, out);
    }
    HD_TRY(hd_alloc_raw(op, entry->size, 1, &bytes));
    HD_TRY_OUT(hfile_read_at(op, hfile, entry->offset, bytes, entry->size));
    in = hd_cursor_over(bytes, entry->size, entry->offset);
    HD_TRY_OUT(hfile_block_take(op, hfile, &in, magic, out));
out:
    hd_free(op, bytes);
    return status;
}
