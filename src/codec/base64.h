/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_CODEC_BASE64_H
#define HD_CODEC_BASE64_H

#include "base/op.h"
#include "base/str.h"

/** Append the standard base64 text (RFC 4648 section 4, with padding) of `bytes` to `out`. */
hudi_status hd_base64_encode(struct hd_op *op, struct hd_slice bytes, struct hd_str *out);

/**
 * Append the bytes that `text` stands for to `out`. Strict: a multiple of 4 characters, padding at
 * the end only, no white space, no bits set behind the last byte.
 * @return HUDI_CORRUPT, `out` as before; HUDI_NO_MEMORY
 */
hudi_status hd_base64_decode(struct hd_op *op, struct hd_slice text, struct hd_str *out);

#endif
