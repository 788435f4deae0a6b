/* SPDX-License-Identifier: Apache-2.0 */
/* A bitmap of record positions, without its base64: what can be read comes back the same when it
 * is written. */
#include <stdlib.h>

#include "codec/base64.h"
#include "format/log/log_positions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_and_read(struct hd_op *op, const uint64_t *positions, size_t n)
{
    struct hd_str text = {0};
    uint64_t *again;
    size_t n_again;

    if (hd_log_positions_encode(op, positions, n, &text) != HUDI_OK ||
        hd_log_positions_decode(op, hd_str_slice(&text), n, &again, &n_again) != HUDI_OK ||
        n_again != n)
        abort();
    for (size_t i = 0; i < n; i++)
        if (again[i] != positions[i])
            abort();
    hd_free(op, again);
    hd_str_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    struct hd_str text = {0};
    uint64_t *positions;
    size_t n;

    hd_op_init(&op);
    if (hd_base64_encode(&op, hd_slice_of(data, size), &text) != HUDI_OK)
        abort();
    if (hd_log_positions_decode(&op, hd_str_slice(&text), 100000, &positions, &n) == HUDI_OK) {
        write_and_read(&op, positions, n);
        hd_free(&op, positions);
    }
    hd_str_clear(&text);
    hd_op_clear(&op);
    return 0;
}
