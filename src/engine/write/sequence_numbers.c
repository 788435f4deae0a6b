/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/sequence_numbers.h"

#include "arrow/array.h"

#define MAX_DECIMAL_DIGITS 20

/* Digits of `value` to the end of `buffer`; returns where they begin. */
static char *decimal_digits(uint64_t value, char *end)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

hudi_status hd_sequence_numbers(struct hd_op *op, struct hd_slice prefix, uint64_t *next, int64_t n,
                                struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    int32_t *offsets = NULL;
    char *data = NULL, digits[MAX_DECIMAL_DIGITS];
    size_t at = 0;

    HD_TRY_OUT(hd_buffer_new(op, ((uint64_t)n + 1) * sizeof *offsets, &offsets));
    HD_TRY_OUT(hd_buffer_new(op, (uint64_t)n * (prefix.size + MAX_DECIMAL_DIGITS), &data));
    for (int64_t i = 0; i < n; i++) {
        char *end = digits + sizeof digits, *first = decimal_digits((*next)++, end);

        memcpy(data + at, prefix.data, prefix.size);
        memcpy(data + at + prefix.size, first, (size_t)(end - first));
        at += prefix.size + (size_t)(end - first);
        offsets[i + 1] = (int32_t)at;
    }
    status = hd_array_string(op, n, 0, NULL, offsets, data, out);
    return status;
out:
    hd_buffer_free(offsets);
    hd_buffer_free(data);
    return status;
}
