/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/row_entries.h"

#include <assert.h>
#include <string.h>

#include "engine/record/spillable_map_index.h"

#define WORD_BITS 64u

static const char NO_MEMORY[] = "there is no memory for them";

static uint64_t n_words(const struct hd_row_entries *entries)
{
    return ((uint64_t)entries->n_rows + WORD_BITS - 1) / WORD_BITS;
}

static void free_arrays(struct hd_op *op, struct hd_row_entries *entries)
{
    hd_free(op, entries->taken);
    hd_free(op, entries->row_of);
    hd_free(op, entries->before);
    hd_free(op, entries->entry_of);
    hd_budget_release(op, entries->reserved_bytes);
}

void hd_row_entries_clear(struct hd_op *op, struct hd_row_entries *entries)
{
    free_arrays(op, entries);
    *entries = (struct hd_row_entries){0};
}

void hd_row_entries_drop(struct hd_op *op, struct hd_row_entries *entries, const char *flaw,
                         bool is_wrong)
{
    if (entries->flaw != NULL)
        return;
    free_arrays(op, entries);
    *entries =
        (struct hd_row_entries){.n_rows = entries->n_rows, .flaw = flaw, .is_wrong = is_wrong};
}

void hd_row_entries_restart(struct hd_row_entries *entries)
{
    if (entries->flaw == NULL && n_words(entries) > 0)
        memset(entries->taken, 0, n_words(entries) * sizeof *entries->taken);
    entries->n_entries = 0;
}

/* An array, zeroed; the budget may say no, which is a flaw. */
static hudi_status new_array(struct hd_op *op, struct hd_row_entries *entries, uint64_t n,
                             size_t element_bytes, void *out)
{
    if (!hd_budget_try_reserve(op, n * element_bytes)) {
        hd_row_entries_drop(op, entries, NO_MEMORY, false);
        return HUDI_OK;
    }
    entries->reserved_bytes += n * element_bytes;
    return hd_alloc_array(op, (size_t)n, element_bytes, out);
}

hudi_status hd_row_entries_init(struct hd_op *op, int64_t n_rows, struct hd_row_entries *out)
{
    *out = (struct hd_row_entries){0};
    if (n_rows < 0 || n_rows >= UINT32_MAX) {
        out->flaw = "the base file has too many rows";
        return HUDI_OK;
    }
    out->n_rows = (uint32_t)n_rows;
    const hudi_status status = new_array(op, out, n_words(out), sizeof *out->taken, &out->taken);
    if (status != HUDI_OK)
        hd_row_entries_clear(op, out);
    return status;
}

static bool is_taken(const struct hd_row_entries *entries, uint64_t row)
{
    return (entries->taken[row / WORD_BITS] >> row % WORD_BITS & 1) != 0;
}

/* What is wrong with it, or NULL. */
static const char *add_one(struct hd_row_entries *entries, int64_t number, uint64_t row)
{
    if (row >= entries->n_rows)
        return "one is beyond the last row of the base file";
    if (number < entries->n_entries)
        return entries->row_of[number] == row ? NULL : "a record key has two of them";
    assert(number == entries->n_entries);
    if (is_taken(entries, row))
        return "two record keys have the same one";
    entries->taken[row / WORD_BITS] |= UINT64_C(1) << row % WORD_BITS;
    entries->row_of[entries->n_entries++] = (uint32_t)row;
    return NULL;
}

hudi_status hd_row_entries_add(struct hd_op *op, struct hd_row_entries *entries,
                               const int64_t *numbers, const uint64_t *rows, int64_t n)
{
    const char *flaw = NULL;

    if (entries->flaw != NULL)
        return HUDI_OK;
    const hudi_status status = hd_grow_reserved(
        op, &entries->row_of, &entries->row_capacity, (uint64_t)entries->n_entries + (uint64_t)n,
        sizeof *entries->row_of, "record positions", &entries->reserved_bytes);
    if (status == HUDI_NO_MEMORY) {
        hd_op_clear_error(op);
        hd_row_entries_drop(op, entries, NO_MEMORY, false);
        return HUDI_OK;
    }
    HD_TRY(status);
    for (int64_t i = 0; i < n && flaw == NULL; i++)
        flaw = add_one(entries, numbers[i], rows[i]);
    if (flaw != NULL)
        hd_row_entries_drop(op, entries, flaw, true);
    return HUDI_OK;
}

static uint32_t rank_of(const struct hd_row_entries *entries, uint32_t row)
{
    const uint64_t below = (UINT64_C(1) << row % WORD_BITS) - 1;

    return entries->before[row / WORD_BITS] +
           (uint32_t)__builtin_popcountll(entries->taken[row / WORD_BITS] & below);
}

hudi_status hd_row_entries_seal(struct hd_op *op, struct hd_row_entries *entries)
{
    uint32_t n = 0;

    if (entries->flaw != NULL)
        return HUDI_OK;
    HD_TRY(new_array(op, entries, n_words(entries), sizeof *entries->before, &entries->before));
    if (entries->flaw == NULL)
        HD_TRY(new_array(op, entries, entries->n_entries, sizeof *entries->entry_of,
                         &entries->entry_of));
    if (entries->flaw != NULL)
        return HUDI_OK;
    for (uint64_t i = 0; i < n_words(entries); i++) {
        entries->before[i] = n;
        n += (uint32_t)__builtin_popcountll(entries->taken[i]);
    }
    for (uint32_t i = 0; i < entries->n_entries; i++)
        entries->entry_of[rank_of(entries, entries->row_of[i])] = i;
    hd_free(op, entries->row_of);
    entries->row_of = NULL;
    const uint64_t n_bytes = (uint64_t)entries->row_capacity * sizeof *entries->row_of;
    hd_budget_release(op, n_bytes);
    entries->reserved_bytes -= n_bytes;
    entries->row_capacity = 0;
    return HUDI_OK;
}

/* The bits of word `i` that are of rows in [first, end). */
static uint64_t bits_of(const struct hd_row_entries *entries, uint64_t i, uint64_t first,
                        uint64_t end)
{
    uint64_t bits = entries->taken[i];

    if (first > i * WORD_BITS)
        bits &= UINT64_MAX << (first - i * WORD_BITS);
    if (end < (i + 1) * WORD_BITS)
        bits &= (UINT64_C(1) << (end - i * WORD_BITS)) - 1;
    return bits;
}

static uint64_t end_of(const struct hd_row_entries *entries, uint64_t first, uint64_t n)
{
    if (first >= entries->n_rows)
        return first;
    return n > entries->n_rows - first ? entries->n_rows : first + n;
}

bool hd_row_entries_any(const struct hd_row_entries *entries, uint64_t first, uint64_t n)
{
    const uint64_t end = end_of(entries, first, n);

    for (uint64_t i = first / WORD_BITS; i * WORD_BITS < end; i++)
        if (bits_of(entries, i, first, end) != 0)
            return true;
    return false;
}

int64_t hd_row_entries_find(const struct hd_row_entries *entries, uint64_t first, uint64_t n,
                            uint32_t *rows, int64_t *numbers)
{
    const uint64_t end = end_of(entries, first, n);
    int64_t n_found = 0;
    uint32_t rank;

    if (first >= end)
        return 0;
    rank = rank_of(entries, (uint32_t)first);
    for (uint64_t i = first / WORD_BITS; i * WORD_BITS < end; i++) {
        for (uint64_t bits = bits_of(entries, i, first, end); bits != 0; bits &= bits - 1) {
            const uint64_t row = i * WORD_BITS + (uint64_t)__builtin_ctzll(bits);

            rows[n_found] = (uint32_t)(row - first);
            numbers[n_found++] = entries->entry_of[rank++];
        }
    }
    return n_found;
}
