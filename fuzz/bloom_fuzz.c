/* SPDX-License-Identifier: Apache-2.0 */
/* A type byte (even: SIMPLE, odd: DYNAMIC_V0), then the text of a bloom filter. */
#include <stdlib.h>

#include "codec/bloom.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char KEYS[] = "a key, and another one";
    struct hd_slice keys[8];
    uint8_t maybe[8];
    struct hd_op op;
    hd_bloom *bloom;
    struct hd_str text = {0};

    if (size == 0)
        return 0;
    for (size_t i = 0; i < 8; i++)
        keys[i] = hd_slice_of(KEYS, i < 6 ? 20 : i);
    hd_op_init(&op);
    if (hd_bloom_decode(&op, data[0] & 1 ? HD_BLOOM_DYNAMIC_V0 : HD_BLOOM_SIMPLE,
                        hd_slice_of(data + 1, size - 1), &bloom) == HUDI_OK) {
        hd_bloom_probe_batch(bloom, keys, 8, maybe);
        for (size_t i = 0; i < 8; i++)
            if (maybe[i] != hd_bloom_may_contain(bloom, keys[i]))
                abort();
        for (size_t i = 0; i < 3; i++) { /* row by row once the filter is full */
            if (hd_bloom_add(&op, bloom, keys[6]) != HUDI_OK ||
                !hd_bloom_may_contain(bloom, keys[6]))
                abort();
        }
        if (hd_bloom_encode(&op, bloom, &text) != HUDI_OK)
            abort();
        hd_bloom_free(&op, bloom);
    }
    hd_str_clear(&text);
    hd_op_clear(&op);
    return 0;
}
