/* SPDX-License-Identifier: Apache-2.0 */
#include "store/orc_footer.h"

#include <inttypes.h>

#include "base/checked_int.h"
#include "base/cursor.h"
#include "base/str.h"
#include "codec/compress.h"

#define MAX_POSTSCRIPT_BYTES 255u
#define MIN_FILE_BYTES 16u
#define MAX_BLOCK_BYTES (UINT64_C(1) << 23)   /* a chunk's length has 23 bits */
#define MAX_FOOTER_BYTES (UINT64_C(64) << 20) /* decompressed */
#define MAX_DEPTH 64
#define MAX_PRECISION 38
#define CHUNK_HEADER_BYTES 3
#define KIND_DECIMAL 14
#define MAGIC_FIELD 8000

enum compression { NONE = 0, ZLIB = 1, SNAPPY = 2, LZO = 3, LZ4 = 4, ZSTD = 5 };

struct postscript {
    uint64_t footer_bytes;
    uint64_t metadata_bytes;
    uint64_t compression;
    uint64_t block_bytes;
    uint64_t version[2];
    size_t n_version;
    bool has_magic;
};

/* ---- Protocol Buffers --------------------------------------------------------------------- */

/* One field: `value` of a varint, or the bytes of anything longer in `bytes`. */
struct field {
    uint64_t number;
    bool is_bytes;
    uint64_t value;
    struct hd_cursor bytes;
};

static hudi_status next_field(struct hd_op *op, struct hd_cursor *in, struct field *out)
{
    const uint64_t at = hd_cursor_offset(in);
    uint64_t tag, n;

    HD_TRY(hd_cursor_varint(op, in, &tag));
    *out = (struct field){.number = tag >> 3};
    switch (tag & 7) {
    case 0:
        return hd_cursor_varint(op, in, &out->value);
    case 1:
        return hd_cursor_skip(op, in, 8);
    case 2:
        out->is_bytes = true;
        HD_TRY(hd_cursor_varint(op, in, &n));
        return hd_cursor_sub(op, in, n, &out->bytes);
    case 5:
        return hd_cursor_skip(op, in, 4);
    default:
        return hd_fail(op, HUDI_CORRUPT, "ORC field at byte %" PRIu64 " is of wire type %d", at,
                       (int)(tag & 7));
    }
}

/* ---- postscript --------------------------------------------------------------------------- */

static hudi_status add_versions(struct hd_op *op, struct field *field, struct postscript *ps)
{
    do {
        uint64_t value = field->value;
        if (field->is_bytes && hd_cursor_left(&field->bytes) == 0)
            break;
        if (field->is_bytes)
            HD_TRY(hd_cursor_varint(op, &field->bytes, &value));
        if (ps->n_version < HD_ARRAY_LENGTH(ps->version))
            ps->version[ps->n_version] = value;
        ps->n_version++;
    } while (field->is_bytes);
    return HUDI_OK;
}

static hudi_status decode_postscript(struct hd_op *op, struct hd_cursor in, struct postscript *ps)
{
    struct field field;

    *ps = (struct postscript){0};
    while (hd_cursor_left(&in) > 0) {
        HD_TRY(next_field(op, &in, &field));
        switch (field.number) {
        case 1:
            ps->footer_bytes = field.value;
            break;
        case 2:
            ps->compression = field.value;
            break;
        case 3:
            ps->block_bytes = field.value;
            break;
        case 4:
            HD_TRY(add_versions(op, &field, ps));
            break;
        case 5:
            ps->metadata_bytes = field.value;
            break;
        case MAGIC_FIELD:
            ps->has_magic =
                field.is_bytes &&
                hd_slice_equal(hd_slice_of(field.bytes.at, hd_cursor_left(&field.bytes)),
                               hd_slice_text("ORC"));
            break;
        default:
            break;
        }
    }
    if (!ps->has_magic)
        return hd_fail(op, HUDI_CORRUPT, "file does not end in an ORC postscript");
    if (ps->block_bytes > MAX_BLOCK_BYTES)
        return hd_fail(op, HUDI_CORRUPT, "ORC compression blocks of %" PRIu64 " bytes",
                       ps->block_bytes);
    if (ps->n_version != 0 &&
        (ps->n_version != 2 || ps->version[0] != 0 || ps->version[1] < 11 || ps->version[1] > 12))
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "ORC format version other than 0.11 and 0.12");
    if (ps->compression == LZO || ps->compression > ZSTD)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "ORC compression of kind %" PRIu64,
                       ps->compression);
    return HUDI_OK;
}

/* The postscript, and where it begins. */
static hudi_status read_postscript(struct hd_op *op, hd_input_file *file, struct postscript *ps,
                                   uint64_t *at)
{
    const uint64_t size = hd_input_file_size(file);
    uint8_t bytes[MAX_POSTSCRIPT_BYTES], n;

    if (size < MIN_FILE_BYTES)
        return hd_fail(op, HUDI_CORRUPT, "file of %" PRIu64 " bytes is no ORC file", size);
    HD_TRY(hd_input_file_read_at(op, file, size - 1, &n, 1));
    if (n == 0 || n > size - 1)
        return hd_fail(op, HUDI_CORRUPT, "ORC postscript of %d bytes in a file of %" PRIu64, n,
                       size);
    *at = size - 1 - n;
    HD_TRY(hd_input_file_read_at(op, file, *at, bytes, n));
    HD_TRY(decode_postscript(op, hd_cursor_over(bytes, n, *at), ps));
    if (ps->footer_bytes > *at || ps->metadata_bytes > *at - ps->footer_bytes)
        return hd_fail(op, HUDI_CORRUPT,
                       "ORC footer of %" PRIu64 " and metadata of %" PRIu64
                       " bytes do not lie before byte %" PRIu64,
                       ps->footer_bytes, ps->metadata_bytes, *at);
    return HUDI_OK;
}

/* ---- compressed chunks -------------------------------------------------------------------- */

static hudi_status decompress(struct hd_op *op, const struct postscript *ps, struct hd_slice chunk,
                              struct hd_str *out)
{
    const uint64_t left = MAX_FOOTER_BYTES - out->size;
    const uint64_t most = hd_min_u64(left, ps->block_bytes);

    switch (ps->compression) {
    case ZLIB:
        return hd_decompress(op, HD_CODEC_DEFLATE, chunk, most, out);
    case SNAPPY:
        return hd_decompress(op, HD_CODEC_SNAPPY, chunk, most, out);
    case LZ4:
        return hd_decompress(op, HD_CODEC_LZ4, chunk, most, out);
    default:
        return hd_decompress(op, HD_CODEC_ZSTD, chunk, most, out);
    }
}

static hudi_status decompress_all(struct hd_op *op, const struct postscript *ps,
                                  struct hd_cursor in, struct hd_str *out)
{
    if (ps->compression == NONE)
        return hd_str_append(op, out, in.at, hd_cursor_left(&in));
    while (hd_cursor_left(&in) > 0) {
        struct hd_slice header, chunk;
        HD_TRY(hd_cursor_take(op, &in, CHUNK_HEADER_BYTES, &header));
        const uint32_t word = (uint32_t)header.data[0] | (uint32_t)header.data[1] << 8 |
                              (uint32_t)header.data[2] << 16;
        HD_TRY(hd_cursor_take(op, &in, word >> 1, &chunk));
        if ((word & 1) == 0)
            HD_TRY(decompress(op, ps, chunk, out));
        else
            HD_TRY(hd_str_append(op, out, chunk.data, chunk.size));
        if (out->size >= MAX_FOOTER_BYTES)
            return hd_fail(op, HUDI_CORRUPT, "ORC footer of more than %" PRIu64 " bytes",
                           MAX_FOOTER_BYTES);
    }
    return HUDI_OK;
}

/* ---- footer ------------------------------------------------------------------------------- */

static hudi_status check_stripe(struct hd_op *op, struct hd_cursor in, uint64_t end)
{
    uint64_t offset = 0, sizes = 0;
    struct field field;

    while (hd_cursor_left(&in) > 0) {
        HD_TRY(next_field(op, &in, &field));
        if (field.number == 1)
            offset = field.value;
        else if (field.number >= 2 && field.number <= 4)
            HD_TRY(hd_add_size(op, sizes, field.value, &sizes));
    }
    if (offset > end || sizes > end - offset)
        return hd_fail(op, HUDI_CORRUPT,
                       "ORC stripe of %" PRIu64 " bytes at byte %" PRIu64 " leaves the file", sizes,
                       offset);
    return HUDI_OK;
}

struct types {
    uint8_t *depths; /* of each type below the root */
    size_t n;
};

static hudi_status set_child(struct hd_op *op, struct types *types, size_t parent, uint64_t child)
{
    if (child <= parent || child >= types->n)
        return hd_fail(op, HUDI_CORRUPT, "ORC type %zu of %zu has type %" PRIu64 " below it",
                       parent, types->n, child);
    if (types->depths[parent] == MAX_DEPTH)
        return hd_fail(op, HUDI_CORRUPT, "ORC types nested more than %d deep", MAX_DEPTH);
    types->depths[child] = types->depths[parent] + 1;
    return HUDI_OK;
}

static hudi_status check_type(struct hd_op *op, struct hd_cursor in, struct types *types, size_t i)
{
    uint64_t kind = 0, precision = 0, scale = 0, child;
    struct field field;

    while (hd_cursor_left(&in) > 0) {
        HD_TRY(next_field(op, &in, &field));
        if (field.number == 1)
            kind = field.value;
        else if (field.number == 5)
            precision = field.value;
        else if (field.number == 6)
            scale = field.value;
        else if (field.number == 2 && !field.is_bytes)
            HD_TRY(set_child(op, types, i, field.value));
        while (field.number == 2 && field.is_bytes && hd_cursor_left(&field.bytes) > 0) {
            HD_TRY(hd_cursor_varint(op, &field.bytes, &child));
            HD_TRY(set_child(op, types, i, child));
        }
    }
    if (kind == KIND_DECIMAL &&
        (precision > MAX_PRECISION || scale > (precision == 0 ? MAX_PRECISION : precision)))
        return hd_fail(op, HUDI_CORRUPT, "ORC decimal of precision %" PRIu64 " and scale %" PRIu64,
                       precision, scale);
    return HUDI_OK;
}

static hudi_status check_footer(struct hd_op *op, const struct hd_str *footer, uint64_t end)
{
    const struct hd_cursor start = hd_cursor_over(footer->data, footer->size, 0);
    struct types types = {0};
    hudi_status status = HUDI_OK;
    struct hd_cursor in = start;
    struct field field;
    size_t i = 0;

    while (hd_cursor_left(&in) > 0) {
        HD_TRY(next_field(op, &in, &field));
        types.n += field.number == 4 && field.is_bytes;
    }
    if (types.n == 0)
        return hd_fail(op, HUDI_CORRUPT, "ORC footer without types");
    HD_TRY(hd_alloc_array(op, types.n, sizeof *types.depths, &types.depths));
    for (in = start; hd_cursor_left(&in) > 0;) {
        HD_TRY_OUT(next_field(op, &in, &field));
        if (field.number == 3 && field.is_bytes)
            HD_TRY_OUT(check_stripe(op, field.bytes, end));
        else if (field.number == 4 && field.is_bytes)
            HD_TRY_OUT(check_type(op, field.bytes, &types, i++));
    }
out:
    hd_free(op, types.depths);
    return status;
}

hudi_status hd_orc_footer_check(struct hd_op *op, hd_input_file *file)
{
    hudi_status status = HUDI_OK;
    struct postscript ps;
    struct hd_str footer = {0};
    uint8_t *bytes = NULL;
    uint64_t end;

    HD_TRY(read_postscript(op, file, &ps, &end));
    if (ps.footer_bytes > MAX_FOOTER_BYTES)
        return hd_fail(op, HUDI_CORRUPT, "ORC footer of %" PRIu64 " bytes", ps.footer_bytes);
    const uint64_t at = end - ps.footer_bytes;
    HD_TRY_OUT(hd_alloc_raw(op, (size_t)ps.footer_bytes, 1, &bytes));
    HD_TRY_OUT(hd_input_file_read_at(op, file, at, bytes, ps.footer_bytes));
    HD_TRY_OUT(
        decompress_all(op, &ps, hd_cursor_over(bytes, (size_t)ps.footer_bytes, at), &footer));
    HD_TRY_OUT(check_footer(op, &footer, at - ps.metadata_bytes));
out:
    hd_free(op, bytes);
    hd_str_clear(&footer);
    return status;
}
