/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/compress.h"

#include <inttypes.h>
#include <limits.h>

#include <libdeflate.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include "base/checked_int.h"

/*
 * libdeflate where the size of the output is known or bounded, zlib's stream where it is not. The
 * libraries allocate their own working memory; each such place is a fault point for tests.
 */

#define FIRST_OUT_BYTES 4096u

const char *hd_codec_name(enum hd_codec codec)
{
    static const char *const NAMES[] = {"none", "deflate", "zlib", "gzip", "zstd", "snappy", "lz4"};

    return NAMES[codec];
}

/* ---- compression ---------------------------------------------------------------------------- */

static hudi_status compress_deflate(struct hd_op *op, enum hd_codec codec, int level,
                                    struct hd_slice in, struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct libdeflate_compressor *c;
    size_t n = 0;

    HD_TRY(hd_op_fault_point(op, "deflate state"));
    c = libdeflate_alloc_compressor(level == HD_CODEC_LEVEL_DEFAULT ? 6 : level);
    if (c == NULL)
        return hd_fail(op, HUDI_NO_MEMORY, "no deflate compressor of level %d", level);
    size_t bound = codec == HD_CODEC_DEFLATE ? libdeflate_deflate_compress_bound(c, in.size)
                   : codec == HD_CODEC_ZLIB  ? libdeflate_zlib_compress_bound(c, in.size)
                                             : libdeflate_gzip_compress_bound(c, in.size);
    HD_TRY_OUT(hd_str_reserve(op, out, bound));
    char *to = out->data + out->size;
    n = codec == HD_CODEC_DEFLATE ? libdeflate_deflate_compress(c, in.data, in.size, to, bound)
        : codec == HD_CODEC_ZLIB  ? libdeflate_zlib_compress(c, in.data, in.size, to, bound)
                                  : libdeflate_gzip_compress(c, in.data, in.size, to, bound);
    if (n == 0)
        status = hd_fail(op, HUDI_INTERNAL, "%zu bytes do not fit their deflate bound", in.size);
out:
    libdeflate_free_compressor(c);
    if (status == HUDI_OK) {
        out->size += n;
        out->data[out->size] = '\0';
    }
    return status;
}

static hudi_status compress_zstd(struct hd_op *op, int level, struct hd_slice in,
                                 struct hd_str *out)
{
    size_t bound = ZSTD_compressBound(in.size);

    HD_TRY(hd_op_fault_point(op, "zstd state"));
    HD_TRY(hd_str_reserve(op, out, bound));
    size_t n = ZSTD_compress(out->data + out->size, bound, in.data, in.size,
                             level == HD_CODEC_LEVEL_DEFAULT ? 3 : level);
    if (ZSTD_isError(n))
        return hd_fail(op, HUDI_NO_MEMORY, "zstd: %s", ZSTD_getErrorName(n));
    out->size += n;
    return HUDI_OK;
}

static hudi_status compress_snappy(struct hd_op *op, struct hd_slice in, struct hd_str *out)
{
    size_t n = snappy_max_compressed_length(in.size);

    HD_TRY(hd_op_fault_point(op, "snappy state"));
    HD_TRY(hd_str_reserve(op, out, n));
    if (snappy_compress((const char *)in.data, in.size, out->data + out->size, &n) != SNAPPY_OK)
        return hd_fail(op, HUDI_INTERNAL, "snappy refuses %zu bytes", in.size);
    out->size += n;
    return HUDI_OK;
}

static hudi_status compress_lz4(struct hd_op *op, struct hd_slice in, struct hd_str *out)
{
    if (in.size > LZ4_MAX_INPUT_SIZE)
        return hd_fail(op, HUDI_INVALID, "%zu bytes are too many for one lz4 block", in.size);
    int bound = LZ4_compressBound((int)in.size);
    HD_TRY(hd_op_fault_point(op, "lz4 state"));
    HD_TRY(hd_str_reserve(op, out, (size_t)bound));
    int n = LZ4_compress_default((const char *)in.data, out->data + out->size, (int)in.size, bound);
    if (n <= 0)
        return hd_fail(op, HUDI_INTERNAL, "lz4 refuses %zu bytes", in.size);
    out->size += (size_t)n;
    return HUDI_OK;
}

hudi_status hd_compress(struct hd_op *op, enum hd_codec codec, int level, struct hd_slice in,
                        struct hd_str *out)
{
    hudi_status status = HUDI_OK;

    if (in.data == NULL)
        in = hd_slice_of("", 0);
    if (level < 0 || level > (codec == HD_CODEC_ZSTD ? 22 : 12))
        return hd_fail(op, HUDI_INVALID, "compression level %d of %s", level, hd_codec_name(codec));
    switch (codec) {
    case HD_CODEC_NONE:
        return hd_str_append(op, out, in.data, in.size);
    case HD_CODEC_DEFLATE:
    case HD_CODEC_ZLIB:
    case HD_CODEC_GZIP:
        status = compress_deflate(op, codec, level, in, out);
        break;
    case HD_CODEC_ZSTD:
        status = compress_zstd(op, level, in, out);
        break;
    case HD_CODEC_SNAPPY:
        status = compress_snappy(op, in, out);
        break;
    case HD_CODEC_LZ4:
        status = compress_lz4(op, in, out);
        break;
    }
    if (out->data != NULL)
        out->data[out->size] = '\0'; /* also over what a failure left behind the end */
    return status;
}

/* ---- decompression to a size that is not known ---------------------------------------------- */

static hudi_status fail_damaged(struct hd_op *op, enum hd_codec codec, struct hd_slice in)
{
    return hd_fail(op, HUDI_CORRUPT, "%zu bytes are not one %s block", in.size,
                   hd_codec_name(codec));
}

static hudi_status fail_too_big(struct hd_op *op, enum hd_codec codec, struct hd_slice in,
                                uint64_t max_out_bytes)
{
    return hd_fail(op, HUDI_CORRUPT, "%zu bytes of %s give more than the %" PRIu64 " allowed",
                   in.size, hd_codec_name(codec), max_out_bytes);
}

/* Room for more output, of which there are `n_out` bytes: doubling, and one byte beyond the limit,
 * so that a stream which would go on is seen. */
static hudi_status more_room(struct hd_op *op, struct hd_str *out, size_t n_out, size_t hint,
                             uint64_t max_out_bytes, size_t *room)
{
    uint64_t wanted = hd_max_u64(hd_max_u64(n_out, hint), FIRST_OUT_BYTES);

    wanted = hd_min_u64(wanted, max_out_bytes - n_out + 1);
    HD_TRY(hd_str_reserve(op, out, wanted));
    *room = wanted;
    return HUDI_OK;
}

static hudi_status run_inflate(struct hd_op *op, enum hd_codec codec, z_stream *z,
                               struct hd_slice in, uint64_t max_out_bytes, struct hd_str *out)
{
    size_t n_out = 0, room = 0, left = in.size, hint = in.size > SIZE_MAX / 4 ? 0 : in.size * 3;

    z->next_in = (Bytef *)in.data;
    for (;;) {
        if (z->avail_in == 0 && left > 0) {
            z->avail_in = (uInt)hd_min_u64(left, UINT_MAX);
            left -= z->avail_in;
        }
        if (room == 0)
            HD_TRY(more_room(op, out, n_out, hint, max_out_bytes, &room));
        uInt avail = (uInt)hd_min_u64(room, UINT_MAX);
        z->avail_out = avail;
        z->next_out = (Bytef *)out->data + out->size;
        int rc = inflate(z, Z_NO_FLUSH);
        n_out += avail - z->avail_out;
        room -= avail - z->avail_out;
        out->size += avail - z->avail_out;
        if (n_out > max_out_bytes)
            return fail_too_big(op, codec, in, max_out_bytes);
        if (rc == Z_MEM_ERROR)
            return hd_fail(op, HUDI_NO_MEMORY, "no memory to inflate %zu bytes", in.size);
        if (rc == Z_STREAM_END) {
            if ((z->avail_in == 0 && left == 0) || codec == HD_CODEC_DEFLATE)
                break;
            if (codec != HD_CODEC_GZIP || inflateReset(z) != Z_OK)
                return fail_damaged(op, codec, in);
            continue;
        }
        if (rc != Z_OK && !(rc == Z_BUF_ERROR && z->avail_out == 0))
            return fail_damaged(op, codec, in);
        if (z->avail_in == 0 && left == 0 && z->avail_out != 0)
            return fail_damaged(op, codec, in); /* wants more than there is */
    }
    return HUDI_OK;
}

static hudi_status decompress_deflate(struct hd_op *op, enum hd_codec codec, struct hd_slice in,
                                      uint64_t max_out_bytes, struct hd_str *out)
{
    z_stream z = {0};
    int window = codec == HD_CODEC_DEFLATE ? -15 : codec == HD_CODEC_ZLIB ? 15 : 15 + 16;

    HD_TRY(hd_op_fault_point(op, "inflate state"));
    if (inflateInit2(&z, window) != Z_OK)
        return hd_fail(op, HUDI_NO_MEMORY, "no memory to inflate %zu bytes", in.size);
    hudi_status status = run_inflate(op, codec, &z, in, max_out_bytes, out);
    inflateEnd(&z);
    return status;
}

static hudi_status run_zstd(struct hd_op *op, ZSTD_DCtx *dctx, struct hd_slice in,
                            uint64_t max_out_bytes, struct hd_str *out)
{
    size_t n_out = 0, room = 0, rc = 0;
    ZSTD_inBuffer from = {in.data, in.size, 0};

    do {
        if (room == 0)
            HD_TRY(more_room(op, out, n_out, in.size, max_out_bytes, &room));
        ZSTD_outBuffer to = {out->data + out->size, room, 0};
        rc = ZSTD_decompressStream(dctx, &to, &from);
        out->size += to.pos;
        n_out += to.pos;
        room -= to.pos;
        if (ZSTD_isError(rc))
            return fail_damaged(op, HD_CODEC_ZSTD, in);
        if (n_out > max_out_bytes)
            return fail_too_big(op, HD_CODEC_ZSTD, in, max_out_bytes);
        if (rc != 0 && from.pos == from.size && room != 0)
            return fail_damaged(op, HD_CODEC_ZSTD, in); /* wants more than there is */
    } while (from.pos < from.size || rc != 0);
    return HUDI_OK;
}

static hudi_status decompress_zstd(struct hd_op *op, struct hd_slice in, uint64_t max_out_bytes,
                                   struct hd_str *out)
{
    if (in.size == 0)
        return fail_damaged(op, HD_CODEC_ZSTD, in);
    HD_TRY(hd_op_fault_point(op, "zstd state"));
    ZSTD_DCtx *dctx = ZSTD_createDCtx();
    if (dctx == NULL)
        return hd_fail(op, HUDI_NO_MEMORY, "no memory for a zstd decompressor");
    /* a frame may ask for a window of 2 GiB: no more than 128 MiB, zstd's own default limit */
    hudi_status status = run_zstd(op, dctx, in, max_out_bytes, out);
    ZSTD_freeDCtx(dctx);
    return status;
}

static hudi_status decompress_snappy(struct hd_op *op, struct hd_slice in, uint64_t max_out_bytes,
                                     struct hd_str *out)
{
    size_t n;

    if (snappy_uncompressed_length((const char *)in.data, in.size, &n) != SNAPPY_OK)
        return fail_damaged(op, HD_CODEC_SNAPPY, in);
    if (n > max_out_bytes)
        return fail_too_big(op, HD_CODEC_SNAPPY, in, max_out_bytes);
    if (n / 22 > in.size) /* 3 bytes copy 64 at most */
        return fail_damaged(op, HD_CODEC_SNAPPY, in);
    HD_TRY(hd_str_reserve(op, out, n));
    HD_TRY(hd_decompress_exact(op, HD_CODEC_SNAPPY, in, out->data + out->size, n));
    out->size += n;
    return HUDI_OK;
}

/* The size is not in the block: try larger and larger room. One byte stands for 255 at most. */
static hudi_status decompress_lz4(struct hd_op *op, struct hd_slice in, uint64_t max_out_bytes,
                                  struct hd_str *out)
{
    if (in.size > INT_MAX)
        return fail_damaged(op, HD_CODEC_LZ4, in);
    uint64_t most = hd_min_u64(hd_min_u64(max_out_bytes, INT_MAX), (uint64_t)in.size * 255 + 64);
    for (uint64_t room = hd_min_u64(most, (uint64_t)in.size * 4 + 64);;) {
        HD_TRY(hd_str_reserve(op, out, room));
        int n = LZ4_decompress_safe((const char *)in.data, out->data + out->size, (int)in.size,
                                    (int)room);
        if (n == 0 && (in.size != 1 || in.data[0] != 0))
            return fail_damaged(op, HD_CODEC_LZ4, in); /* what no output is has one form */
        if (n >= 0) {
            out->size += (size_t)n;
            return HUDI_OK;
        }
        if (room == most)
            return fail_damaged(op, HD_CODEC_LZ4, in); /* or more than is allowed */
        room = hd_min_u64(most, room * 4);
    }
}

hudi_status hd_decompress(struct hd_op *op, enum hd_codec codec, struct hd_slice in,
                          uint64_t max_out_bytes, struct hd_str *out)
{
    hudi_status status = HUDI_INTERNAL;
    size_t size_before = out->size;

    if (in.data == NULL)
        in = hd_slice_of("", 0);
    max_out_bytes = hd_min_u64(max_out_bytes, SIZE_MAX / 4);
    switch (codec) {
    case HD_CODEC_NONE:
        if (in.size > max_out_bytes)
            return fail_too_big(op, codec, in, max_out_bytes);
        return hd_str_append(op, out, in.data, in.size);
    case HD_CODEC_DEFLATE:
    case HD_CODEC_ZLIB:
    case HD_CODEC_GZIP:
        status = decompress_deflate(op, codec, in, max_out_bytes, out);
        break;
    case HD_CODEC_ZSTD:
        status = decompress_zstd(op, in, max_out_bytes, out);
        break;
    case HD_CODEC_SNAPPY:
        status = decompress_snappy(op, in, max_out_bytes, out);
        break;
    case HD_CODEC_LZ4:
        status = decompress_lz4(op, in, max_out_bytes, out);
        break;
    }
    if (status != HUDI_OK)
        out->size = size_before;
    if (out->data != NULL)
        out->data[out->size] = '\0'; /* also over what a failure left behind the end */
    return status;
}

/* ---- decompression to a known size ----------------------------------------------------------- */

static hudi_status deflate_exact(struct hd_op *op, enum hd_codec codec, struct hd_slice in,
                                 void *out, size_t n_out_bytes)
{
    size_t n_in = 0, n_out = 0;
    enum libdeflate_result rc;

    HD_TRY(hd_op_fault_point(op, "inflate state"));
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (d == NULL)
        return hd_fail(op, HUDI_NO_MEMORY, "no memory to inflate %zu bytes", in.size);
    rc = codec == HD_CODEC_DEFLATE ? libdeflate_deflate_decompress_ex(d, in.data, in.size, out,
                                                                      n_out_bytes, &n_in, &n_out)
         : codec == HD_CODEC_ZLIB
             ? libdeflate_zlib_decompress_ex(d, in.data, in.size, out, n_out_bytes, &n_in, &n_out)
             : libdeflate_gzip_decompress_ex(d, in.data, in.size, out, n_out_bytes, &n_in, &n_out);
    while (rc == LIBDEFLATE_SUCCESS && codec == HD_CODEC_GZIP && n_in < in.size) {
        size_t more_in = 0, more_out = 0; /* the next member */
        rc = libdeflate_gzip_decompress_ex(d, in.data + n_in, in.size - n_in, (char *)out + n_out,
                                           n_out_bytes - n_out, &more_in, &more_out);
        n_in += more_in;
        n_out += more_out;
    }
    libdeflate_free_decompressor(d);
    if (rc != LIBDEFLATE_SUCCESS || (n_in != in.size && codec != HD_CODEC_DEFLATE) ||
        n_out != n_out_bytes)
        return hd_fail(op, HUDI_CORRUPT, "%zu bytes of %s do not give the %zu they should", in.size,
                       hd_codec_name(codec), n_out_bytes);
    return HUDI_OK;
}

static bool snappy_exact(struct hd_slice in, void *out, size_t n_out_bytes)
{
    size_t n;

    if (snappy_uncompressed_length((const char *)in.data, in.size, &n) != SNAPPY_OK ||
        n != n_out_bytes)
        return false;
    return snappy_uncompress((const char *)in.data, in.size, out, &n) == SNAPPY_OK &&
           n == n_out_bytes;
}

hudi_status hd_decompress_exact(struct hd_op *op, enum hd_codec codec, struct hd_slice in,
                                void *out, size_t n_out_bytes)
{
    bool good = false;

    if (in.data == NULL)
        in = hd_slice_of("", 0);
    switch (codec) {
    case HD_CODEC_NONE:
        good = in.size == n_out_bytes;
        if (good)
            memcpy(out, in.data, in.size);
        break;
    case HD_CODEC_DEFLATE:
    case HD_CODEC_ZLIB:
    case HD_CODEC_GZIP:
        return deflate_exact(op, codec, in, out, n_out_bytes);
    case HD_CODEC_ZSTD:
        HD_TRY(hd_op_fault_point(op, "zstd state"));
        good = ZSTD_decompress(out, n_out_bytes, in.data, in.size) == n_out_bytes;
        break;
    case HD_CODEC_SNAPPY:
        HD_TRY(hd_op_fault_point(op, "snappy state"));
        good = snappy_exact(in, out, n_out_bytes);
        break;
    case HD_CODEC_LZ4:
        good = in.size <= INT_MAX && n_out_bytes <= INT_MAX &&
               LZ4_decompress_safe((const char *)in.data, out, (int)in.size, (int)n_out_bytes) ==
                   (int)n_out_bytes;
        break;
    }
    if (!good)
        return hd_fail(op, HUDI_CORRUPT, "%zu bytes of %s do not give the %zu they should", in.size,
                       hd_codec_name(codec), n_out_bytes);
    return HUDI_OK;
}
