/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/disk_record.h"

#include <inttypes.h>

#include "codec/compress.h"
#include "codec/hash.h"

#define HEADER_BYTES 24u
/* LZ4: it makes Hudi's rows less than half as long, and costs little more than not to. */
#define CODEC HD_CODEC_LZ4
#define CODEC_MAX_RATIO 255u
#define MAX_COMPRESSED_BYTES ((size_t)1 << 30) /* what one block takes, nearly */

static void store_be(char *to, uint64_t value, unsigned n_bytes)
{
    for (unsigned i = 0; i < n_bytes; i++)
        to[i] = (char)(value >> 8 * (n_bytes - 1 - i));
}

static hudi_status append_value(struct hd_op *op, struct hd_slice plain, bool compress,
                                struct hd_str *out)
{
    const size_t before = out->size;

    if (compress && plain.size <= MAX_COMPRESSED_BYTES) {
        HD_TRY(hd_compress(op, CODEC, HD_CODEC_LEVEL_DEFAULT, plain, out));
        if (out->size - before < plain.size)
            return HUDI_OK;
        out->size = before;
    }
    return hd_str_append(op, out, plain.data, plain.size);
}

hudi_status hd_disk_record_append(struct hd_op *op, const struct hd_disk_group *group,
                                  bool compress, struct hd_str *out)
{
    const size_t start = out->size, key_bytes = (size_t)group->n_rows * 4;
    const size_t value = start + HEADER_BYTES + key_bytes;
    const struct hd_slice rows = hd_slice_of(group->bytes, group->ends[group->n_rows - 1]);

    HD_TRY(hd_str_reserve(op, out, HEADER_BYTES + key_bytes));
    out->size = value;
    const hudi_status status = append_value(op, rows, compress, out);
    if (status != HUDI_OK) {
        out->size = start;
        return status;
    }
    char *const at = out->data + start;
    store_be(at + 8, hd_now_ms(op), 8);
    store_be(at + 16, key_bytes, 4);
    store_be(at + 20, out->size - value, 4);
    for (uint32_t i = 0; i < group->n_rows; i++)
        store_be(at + HEADER_BYTES + (size_t)i * 4, group->ends[i], 4);
    store_be(at, hd_crc32(0, at + 8, out->size - start - 8), 8);
    return HUDI_OK;
}

void hd_disk_record_reader_clear(struct hd_op *op, struct hd_disk_record_reader *reader)
{
    hd_str_clear(&reader->plain);
    hd_free(op, reader->ends);
    *reader = (struct hd_disk_record_reader){0};
}

static hudi_status fail_record(struct hd_op *op, uint64_t offset, const char *what)
{
    return hd_fail(op, HUDI_CORRUPT, "spilled record at byte %" PRIu64 " %s", offset, what);
}

/* The key: ends that do not fall. */
static hudi_status take_ends(struct hd_op *op, struct hd_disk_record_reader *reader,
                             struct hd_cursor *in, uint32_t key_bytes, struct hd_disk_group *out)
{
    const uint64_t offset = hd_cursor_offset(in);
    struct hd_cursor key;
    uint32_t end = 0;

    if (key_bytes == 0 || key_bytes % 4 != 0)
        return fail_record(op, offset, "has a key of another length");
    HD_TRY(hd_cursor_sub(op, in, key_bytes, &key));
    out->n_rows = key_bytes / 4;
    HD_TRY(hd_grow(op, &reader->ends, &reader->ends_capacity, out->n_rows, sizeof *reader->ends));
    for (uint32_t i = 0; i < out->n_rows; i++) {
        HD_TRY(hd_cursor_u32be(op, &key, &reader->ends[i]));
        if (reader->ends[i] < end)
            return fail_record(op, offset, "has rows that overlap");
        end = reader->ends[i];
    }
    out->ends = reader->ends;
    return HUDI_OK;
}

hudi_status hd_disk_record_decode(struct hd_op *op, struct hd_disk_record_reader *reader,
                                  struct hd_cursor in, struct hd_disk_group *out)
{
    const uint64_t offset = hd_cursor_offset(&in);
    uint64_t crc, time;
    uint32_t key_bytes, value_bytes;
    struct hd_slice value;

    *out = (struct hd_disk_group){0};
    HD_TRY(hd_cursor_u64be(op, &in, &crc));
    if (crc != hd_crc32(0, in.at, hd_cursor_left(&in)))
        return fail_record(op, offset, "has another checksum than its bytes");
    HD_TRY(hd_cursor_u64be(op, &in, &time));
    HD_TRY(hd_cursor_u32be(op, &in, &key_bytes));
    HD_TRY(hd_cursor_u32be(op, &in, &value_bytes));
    HD_TRY(take_ends(op, reader, &in, key_bytes, out));
    HD_TRY(hd_cursor_take(op, &in, value_bytes, &value));
    const uint32_t plain_bytes = out->ends[out->n_rows - 1];
    if (hd_cursor_left(&in) != 0 || value_bytes > plain_bytes ||
        plain_bytes / CODEC_MAX_RATIO > value_bytes)
        return fail_record(op, offset, "has a value of another length");
    out->bytes = value.data;
    if (value_bytes < plain_bytes) {
        reader->plain.size = 0;
        HD_TRY(hd_str_reserve(op, &reader->plain, plain_bytes));
        HD_TRY(hd_decompress_exact(op, CODEC, value, reader->plain.data, plain_bytes));
        out->bytes = (const uint8_t *)reader->plain.data;
    }
    return HUDI_OK;
}
