/* SPDX-License-Identifier: Apache-2.0 */

#include "base/op.h"

#include <signal.h>
#include <stdio.h>

#include "base/internal.h"

#define LOG_LINE_BYTES 1024

void hd_op_init(struct hd_op *op)
{
    *op = (struct hd_op){.budget = hd_budget_unlimited(), .clock = hd_clock_system()};
    hd_random_seed_system(op);
}

void hd_op_init_child_seeded(struct hd_op *op, const struct hd_op *parent, const uint64_t base[2],
                             uint64_t index)
{
    *op = (struct hd_op){
        .budget = parent->budget,
        .cancelled = parent->cancelled,
        .clock = parent->clock,
        .log = parent->log,
        .progress_sink = parent->progress_sink,
        .progress = parent->progress,
        .faults = parent->faults,
    };
    hd_random_seed(op, base, index);
}

void hd_op_init_child(struct hd_op *op, struct hd_op *parent)
{
    const uint64_t first = hd_random_u64(parent);
    const uint64_t base[2] = {first, hd_random_u64(parent)};

    hd_op_init_child_seeded(op, parent, base, 0);
}

void hd_op_join(struct hd_op *parent, struct hd_op *child)
{
    if (parent->error == NULL)
        parent->error = hd_op_take_error(child);
    hd_op_clear(child);
}

void hd_op_clear(struct hd_op *op)
{
    hd_op_clear_error(op);
}

void hd_op_clear_error(struct hd_op *op)
{
    hudi_error_free(hd_op_take_error(op));
}

hudi_error *hd_op_take_error(struct hd_op *op)
{
    hudi_error *const error = op->error;

    op->error = NULL;
    return error;
}

hudi_status hd_op_check_cancel(struct hd_op *op)
{
    if (op->cancelled == NULL || !atomic_load_explicit(op->cancelled, memory_order_acquire))
        return HUDI_OK;
    return hd_fail(op, HUDI_CANCELLED, "the operation was cancelled");
}

/* Two threads may both see 0, but only one takes it; the count stops falling below 0. */
bool hd_fault_hit(struct hd_op *op)
{
    struct hd_faults *const faults = op->faults;

    if (faults == NULL)
        return false;
    if (faults->sticky && atomic_load(&faults->fired))
        return true;
    if (atomic_load(&faults->left) < 0 || atomic_fetch_sub(&faults->left, 1) != 0)
        return false;
    if (faults->kills)
        raise(SIGKILL);
    atomic_store(&faults->fired, true);
    return true;
}

hudi_status hd_op_fault_point(struct hd_op *op, const char *what)
{
    if (!hd_fault_hit(op))
        return HUDI_OK;
    return hd_fail(op, HUDI_IO, "injected fault: %s", what);
}

void hd_log(struct hd_op *op, enum hd_log_level level, const char *format, ...)
{
    char line[LOG_LINE_BYTES];
    va_list arguments;

    if (op->log.line == NULL)
        return;
    va_start(arguments, format);
    const int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (n >= 0)
        op->log.line(op->log.self, level, line);
}
