/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_BASE_CHECKED_INT_H
#define HD_BASE_CHECKED_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums and products of sizes that come from files or callers. HUDI_CORRUPT on overflow. */

static inline hudi_status hd_add_size(struct hd_op *op, uint64_t a, uint64_t b, uint64_t *out)
{
    if (__builtin_add_overflow(a, b, out))
        return hd_fail(op, HUDI_CORRUPT, "a sum of sizes does not fit 64 bits");
    return HUDI_OK;
}

static inline hudi_status hd_mul_size(struct hd_op *op, uint64_t a, uint64_t b, uint64_t *out)
{
    if (__builtin_mul_overflow(a, b, out))
        return hd_fail(op, HUDI_CORRUPT, "a product of sizes does not fit 64 bits");
    return HUDI_OK;
}

static inline uint64_t hd_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t hd_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/** Is it this very number? Beyond 2^53 doubles are further apart than whole numbers. */
static inline bool hd_double_is(double real, int64_t integer)
{
    return real >= -0x1p63 && real < 0x1p63 && (int64_t)real == integer;
}

#ifdef __cplusplus
}
#endif

#endif
