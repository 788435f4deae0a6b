/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and results on the timeline, each as every kind: those that are read can be written. */
#include <stdlib.h>

#include "format/timeline/compaction_plan.h"
#include "format/timeline/replace_plan.h"
#include "format/timeline/rollback_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rollback(struct hd_op *op, struct hd_slice bytes)
{
    struct hd_rollback_plan plan;
    struct hd_str out = {0};

    if (hd_rollback_plan_decode(op, bytes, &plan) == HUDI_OK) {
        if (hd_rollback_plan_encode(op, &plan, &out) != HUDI_OK)
            abort();
        hd_rollback_plan_clear(&plan);
    }
    hd_op_clear_error(op);
    if (hd_rollback_metadata_decode(op, bytes, &plan) == HUDI_OK) {
        if (hd_rollback_metadata_encode(op, &plan, "1", 1, &out) != HUDI_OK)
            abort();
        hd_rollback_plan_clear(&plan);
    }
    hd_op_clear_error(op);
    hd_str_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hd_slice bytes = hd_slice_of(data, size);
    struct hd_op op;
    struct hd_replace_plan replace;
    struct hd_compaction_plan compaction;

    hd_op_init(&op);
    check_rollback(&op, bytes);
    if (hd_replace_plan_parse(&op, bytes, &replace) == HUDI_OK)
        hd_replace_plan_clear(&replace);
    hd_op_clear_error(&op);
    if (hd_compaction_plan_parse(&op, bytes, &compaction) == HUDI_OK)
        hd_compaction_plan_clear(&compaction);
    hd_op_clear(&op);
    return 0;
}
