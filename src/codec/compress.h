/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_COMPRESS_H
#define HD_CODEC_COMPRESS_H

#include "base/op.h"
#include "base/str.h"

/* One-shot compression of a block that is in memory. */

enum hd_codec {
    HD_CODEC_NONE,
    HD_CODEC_DEFLATE, /* raw, RFC 1951 */
    HD_CODEC_ZLIB,    /* RFC 1950 */
    HD_CODEC_GZIP,    /* RFC 1952 */
    HD_CODEC_ZSTD,
    HD_CODEC_SNAPPY, /* a raw snappy block, without framing and without checksum */
    HD_CODEC_LZ4,    /* a raw LZ4 block: its size is known from elsewhere */
};

/** A short lower-case name, static. */
const char *hd_codec_name(enum hd_codec codec);

#define HD_CODEC_LEVEL_DEFAULT 0

/** Append `in`, compressed, to `out`. Levels: DEFLATE, ZLIB, GZIP 1 to 12, ZSTD 1 to 22; default 6
 * and 3; the others have none. The same input gives the same bytes. @return HUDI_INVALID for
 * another level */
hudi_status hd_compress(struct hd_op *op, enum hd_codec codec, int level, struct hd_slice in,
                        struct hd_str *out);

/**
 * Append what `in` stands for to `out`: the whole input must be one block (GZIP: members, ZSTD:
 * frames, one after the other). Behind DEFLATE, bytes that are left over are ignored: some writers
 * of Avro files leave a part of the zlib checksum there.
 * @return HUDI_CORRUPT when it is damaged, has bytes left over, or would give more than
 *         `max_out_bytes` (never allocates much more than that); `out` is as before then
 */
hudi_status hd_decompress(struct hd_op *op, enum hd_codec codec, struct hd_slice in,
                          uint64_t max_out_bytes, struct hd_str *out);

/** As hd_decompress(), when the size is known: fills exactly `n_out_bytes` at `out`, in the fastest
 * way. @return HUDI_CORRUPT also when it gives fewer or more */
hudi_status hd_decompress_exact(struct hd_op *op, enum hd_codec codec, struct hd_slice in,
                                void *out, size_t n_out_bytes);

#endif
