/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and results on the timeline, each as every kind: those that are read can be written. */
#include <stdlib.h>

#include "format/timeline/clean_plan.h"
#include "format/timeline/compaction_plan.h"
#include "format/timeline/replace_plan.h"
#include "format/timeline/restore_plan.h"
#include "format/timeline/rollback_plan.h"
#include "format/timeline/savepoint_metadata.h"

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

static void check_clean(struct hd_op *op, struct hd_slice bytes)
{
    const struct hd_table_version *version;
    struct hd_clean_plan plan;
    struct hd_clean_metadata metadata;
    struct hd_savepoint_metadata savepoint;
    struct hd_restore_plan restore;
    struct hd_str out = {0};

    if (hd_table_version_of(op, 6, &version) != HUDI_OK)
        abort();
    if (hd_clean_plan_decode(op, bytes, &plan) == HUDI_OK) {
        if (hd_clean_plan_encode(op, &plan, version, "file:/t", &out) != HUDI_OK)
            abort();
        hd_clean_plan_clear(&plan);
    }
    hd_op_clear_error(op);
    if (hd_clean_metadata_decode(op, bytes, &metadata) == HUDI_OK) {
        if (hd_clean_metadata_encode(op, &metadata, version, &out) != HUDI_OK)
            abort();
        hd_clean_metadata_clear(&metadata);
    }
    hd_op_clear_error(op);
    if (hd_savepoint_metadata_decode(op, bytes, &savepoint) == HUDI_OK) {
        if (hd_savepoint_metadata_encode(op, &savepoint, &out) != HUDI_OK)
            abort();
        hd_savepoint_metadata_clear(&savepoint);
    }
    hd_op_clear_error(op);
    if (hd_restore_plan_decode(op, bytes, &restore) == HUDI_OK) {
        if (hd_restore_plan_encode(op, &restore, &out) != HUDI_OK)
            abort();
        hd_restore_plan_clear(&restore);
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
    check_clean(&op, bytes);
    if (hd_replace_plan_parse(&op, bytes, &replace) == HUDI_OK)
        hd_replace_plan_clear(&replace);
    hd_op_clear_error(&op);
    if (hd_compaction_plan_parse(&op, bytes, &compaction) == HUDI_OK)
        hd_compaction_plan_clear(&compaction);
    hd_op_clear(&op);
    return 0;
}
