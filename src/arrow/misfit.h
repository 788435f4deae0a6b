/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ARROW_MISFIT_H
#define HD_ARROW_MISFIT_H

#include "base/arena.h"
#include "base/op.h"

/** A row that holds a value which does not fit its column, and why: `column "a": "x" does not fit
 * int`. */
struct hd_misfit {
    int64_t row;
    const char *reason; /* in the arena */
};

/**
 * The misfits of one batch, in the order in which they were met: column by column, and a row as
 * often as it has values that do not fit. All zero: none yet. Nothing is allocated before the first
 * one.
 */
struct hd_misfits {
    struct hd_arena arena;
    struct hd_misfit *list;
    size_t n, capacity;
};

hudi_status hd_misfits_add(struct hd_op *op, struct hd_misfits *misfits, int64_t row,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Rows ascending, each once, with the first reason that was met. */
hudi_status hd_misfits_sort(struct hd_op *op, struct hd_misfits *misfits);

/** Forget them, keeping the memory. */
void hd_misfits_reset(struct hd_misfits *misfits);
void hd_misfits_clear(struct hd_op *op, struct hd_misfits *misfits);

/** Whom a reader of rows tells about records that it leaves out, in place of failing. */
struct hd_left_out {
    /** `n_rows`: that came before it and were given; `where`: "line 3"; both texts are copied. */
    hudi_status (*tell)(struct hd_op *op, void *self, int64_t n_rows, const char *where,
                        const char *reason);
    void *self;
};

#endif
