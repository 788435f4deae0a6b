/* SPDX-License-Identifier: Apache-2.0 */
/* A bitmap of record positions, without its base64: what can be read comes back the same when it
 * is written, and as rows of a base file that have entries. */
#include <stdlib.h>

#include "codec/base64.h"
#include "engine/slice/row_entries.h"
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

#define N_ROWS 70000
#define MAX_POSITIONS 100000

/* The rows that have an entry are the positions, each with the number of its own, unless one is
 * beyond the file. */
static void find_rows(struct hd_op *op, const uint64_t *positions, size_t n)
{
    static uint32_t rows[N_ROWS];
    static int64_t numbers[MAX_POSITIONS];
    struct hd_row_entries entries;
    const bool fits = n == 0 || positions[n - 1] < N_ROWS;

    for (size_t i = 0; i < n; i++)
        numbers[i] = (int64_t)i;
    if (hd_row_entries_init(op, N_ROWS, &entries) != HUDI_OK ||
        hd_row_entries_add(op, &entries, numbers, positions, (int64_t)n) != HUDI_OK ||
        hd_row_entries_seal(op, &entries) != HUDI_OK || (entries.flaw == NULL) != fits)
        abort();
    if (fits && hd_row_entries_find(&entries, 0, N_ROWS, rows, numbers) != (int64_t)n)
        abort();
    for (size_t i = 0; fits && i < n; i++)
        if (rows[i] != positions[i] || numbers[i] != (int64_t)i ||
            !hd_row_entries_any(&entries, rows[i], 1))
            abort();
    hd_row_entries_clear(op, &entries);
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
    if (hd_log_positions_decode(&op, hd_str_slice(&text), MAX_POSITIONS, &positions, &n) ==
        HUDI_OK) {
        write_and_read(&op, positions, n);
        find_rows(&op, positions, n);
        hd_free(&op, positions);
    }
    hd_str_clear(&text);
    hd_op_clear(&op);
    return 0;
}
