/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_SEQUENCE_NUMBERS_H
#define HD_ENGINE_SEQUENCE_NUMBERS_H

#include "base/op.h"
#include "base/str.h"
#include "hudi/arrow_c.h"

/** `n` values of _hoodie_commit_seqno as a STRING array: `prefix` ("{instant}_{ordinal}_") and a
 * number that counts on in `*next`. */
hudi_status hd_sequence_numbers(struct hd_op *op, struct hd_slice prefix, uint64_t *next, int64_t n,
                                struct ArrowArray *out);

#endif
