/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"

#include <stdio.h>

static void tell(struct hd_op *op)
{
    if (op->progress_sink.report != NULL)
        op->progress_sink.report(op->progress_sink.self, op->progress);
}

void hd_progress_begin(struct hd_op *op, struct hd_progress *progress, const char *name,
                       const char *time, const char *unit, uint64_t n_total)
{
    snprintf(progress->what, sizeof progress->what, "%s %s", name, time);
    progress->unit = unit;
    progress->n_total = n_total;
    atomic_store(&progress->n_done, 0);
    atomic_store(&progress->n_rows, 0);
    op->progress = progress;
    tell(op);
}

void hd_progress_add(struct hd_op *op, uint64_t n_units, uint64_t n_rows)
{
    if (op->progress == NULL)
        return;
    atomic_fetch_add(&op->progress->n_done, n_units);
    atomic_fetch_add(&op->progress->n_rows, n_rows);
    tell(op);
}

void hd_progress_end(struct hd_op *op)
{
    op->progress = NULL;
}
