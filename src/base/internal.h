/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_BASE_INTERNAL_H
#define HD_BASE_INTERNAL_H

/* What the files of base/ share with each other and nobody else may include (but their tests). */

#include "base/op.h"

/**
 * `message` and `path` belong to the error. The object, its message behind it, is one block of the
 * heap; `path` is another. With `is_static` it is one of the read-only errors that stand in when
 * memory is used up: nothing of it is written or freed.
 */
struct hudi_error {
    hudi_status status;
    bool retriable;
    bool is_static;
    const char *message;
    char *path;
};

/** The read-only error of `status` for when there is no memory for a real one. Never NULL. */
hudi_error *hd_error_static(hudi_status status);

/** Count one operation that can fail; true when the test armed this one to fail. Sets no error. */
bool hd_fault_hit(struct hd_op *op);

/** The system's clock. */
struct hd_clock hd_clock_system(void);

/** The budget without a limit that hd_op_init() gives out. It is read-only: nothing is counted. */
struct hd_budget *hd_budget_unlimited(void);

/** Seed the op's random sequence from the system. */
void hd_random_seed_system(struct hd_op *op);

/** Seed the op's random sequence from two numbers and an index; equal input, equal sequence. */
void hd_random_seed(struct hd_op *op, const uint64_t base[2], uint64_t index);

/** As hd_op_init_child(), the random sequence set by hd_random_seed(base, index). Reads the parent
 * only, so that several threads may do it at once. */
void hd_op_init_child_seeded(struct hd_op *op, const struct hd_op *parent, const uint64_t base[2],
                             uint64_t index);

#endif
