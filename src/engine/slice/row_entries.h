/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_ROW_ENTRIES_H
#define HD_ENGINE_ROW_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"

/*
 * Private to engine/slice: which entry of the log files (by its number in the map of keys) belongs
 * to which row of the base file (counted from 0), as the blocks say in RECORD_POSITIONS.
 *
 *     taken     a bit for each row: it has an entry
 *     before    how many rows before a word of `taken` have one
 *     entry_of  the entries, in the order of their rows
 *
 * Invariants
 *  1. Each row has one entry at most and each entry one row: a row that two keys claim, a key that
 *     claims two rows, and a row that the file does not have, are flaws.
 *  2. With a flaw there are no rows to be found: `flaw` says why, and keys serve.
 *  3. All memory is counted against the budget; none left is a flaw, not an error.
 */
struct hd_row_entries {
    uint32_t n_rows;  /* of the base file */
    const char *flaw; /* static; NULL: none */
    bool is_wrong;    /* the flaw is what the blocks say */
    uint64_t *taken;
    uint32_t *row_of; /* by entry; until it is sealed */
    uint32_t n_entries;
    size_t row_capacity;
    uint32_t *before; /* sealed: */
    uint32_t *entry_of;
    uint64_t reserved_bytes;
};

/** For a base file of `n_rows` rows. */
hudi_status hd_row_entries_init(struct hd_op *op, int64_t n_rows, struct hd_row_entries *out);
void hd_row_entries_clear(struct hd_op *op, struct hd_row_entries *entries);

/** Forget what was added; a flaw stays. */
void hd_row_entries_restart(struct hd_row_entries *entries);

/** Give up, for the reason `flaw` (static); the first one stays. */
void hd_row_entries_drop(struct hd_op *op, struct hd_row_entries *entries, const char *flaw,
                         bool is_wrong);

/** Row `rows[i]` is that of `numbers[i]`. Numbers that are new follow those that are there. */
hudi_status hd_row_entries_add(struct hd_op *op, struct hd_row_entries *entries,
                               const int64_t *numbers, const uint64_t *rows, int64_t n);

/** All are added: from now on rows can be found. */
hudi_status hd_row_entries_seal(struct hd_op *op, struct hd_row_entries *entries);

/** Has any of the `n` rows from `first` on an entry? */
bool hd_row_entries_any(const struct hd_row_entries *entries, uint64_t first, uint64_t n);

/** Those of the `n` rows from `first` on that have an entry, ascending and counted from `first`,
 * and their entries; there must be room for `n`. @return how many */
int64_t hd_row_entries_find(const struct hd_row_entries *entries, uint64_t first, uint64_t n,
                            uint32_t *rows, int64_t *numbers);

#endif
