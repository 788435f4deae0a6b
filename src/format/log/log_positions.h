/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_POSITIONS_H
#define HD_FORMAT_LOG_POSITIONS_H

#include <stdint.h>

#include "base/op.h"
#include "base/str.h"

/*
 * Header RECORD_POSITIONS: base64 of a portable 64-bit roaring bitmap, integers little-endian
 * (docs/format/log-format.md 3.1). The i-th record of the block has the i-th smallest position.
 *
 *     u64 buckets, each: u32 high word | 32-bit bitmap
 *     bitmap: u32 12346 | u32 n           or  u16 12347 | u16 n - 1 | a bit for each: is it of runs
 *             n times u16 key, u16 cardinality - 1
 *             n times u32 offset              (with runs: only when n >= 4)
 *             n containers: up to 4096 values sorted u16, else 8192 bytes of bits;
 *                           of runs u16 n_runs, each u16 start, u16 length - 1
 */

/**
 * Decode to ascending positions, without duplicates. Hostile bitmaps of runs stand for much more
 * than their size: they may have `max_positions` (the number of the block's records) at most.
 * @param out  `*n` positions; free with hd_free(), NULL on failure
 * @return HUDI_CORRUPT
 *
 * Source: LogReaderUtils.decodeRecordPositionsHeader (Hudi 1.0.2)
 */
hudi_status hd_log_positions_decode(struct hd_op *op, struct hd_slice text, uint64_t max_positions,
                                    uint64_t **out, size_t *n);

/** Append the header's value for `n` strictly ascending positions (HUDI_INVALID otherwise).
 * Source: LogReaderUtils.encodePositions (Hudi 1.0.2) */
hudi_status hd_log_positions_encode(struct hd_op *op, const uint64_t *positions, size_t n,
                                    struct hd_str *out);

#endif
