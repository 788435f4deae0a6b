/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_BASE_PROGRESS_H
#define HD_BASE_PROGRESS_H

#include "base/op.h"

#define HD_PROGRESS_NAME_BYTES 64

/** How far a long piece of work is: counted by all of its threads, told to the op's sink. */
struct hd_progress {
    char what[HD_PROGRESS_NAME_BYTES]; /* "compaction 20261130201014609" */
    const char *unit;                  /* "file slices"; static */
    uint64_t n_total;                  /* units; set before the work begins */
    HD_ATOMIC(uint64_t) n_done;
    HD_ATOMIC(uint64_t) n_rows; /* written */
};

/** From here on counts of `op`, and of its children that are made from now on, go to `progress`,
 * which stays where it is until hd_progress_end(). Told at once. One piece of work at a time. */
void hd_progress_begin(struct hd_op *op, struct hd_progress *progress, const char *name,
                       const char *time, const char *unit, uint64_t n_total);

/** Count, and tell whoever listens; nothing where no work has begun. From any thread. */
void hd_progress_add(struct hd_op *op, uint64_t n_units, uint64_t n_rows);

void hd_progress_end(struct hd_op *op);

#endif
