/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_RESTORE_PLAN_H
#define HD_FORMAT_RESTORE_PLAN_H

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"

/** An instant that a restore takes back. */
struct hd_restore_step {
    const char *time;
    const char *action; /* "commit" */
};

/** HoodieRestorePlan: the content of {r}.restore.requested. Strings are in `arena`. */
struct hd_restore_plan {
    struct hd_arena arena;
    const char *target; /* the table is to be as of this time; NULL in plans before 0.13 */
    struct hd_restore_step *steps; /* newest first */
    size_t n_steps;
};

hudi_status hd_restore_plan_encode(struct hd_op *op, const struct hd_restore_plan *plan,
                                   struct hd_str *out);
/** @return HUDI_CORRUPT */
hudi_status hd_restore_plan_decode(struct hd_op *op, struct hd_slice bytes,
                                   struct hd_restore_plan *out);
void hd_restore_plan_clear(struct hd_restore_plan *plan);

/** HoodieRestoreMetadata of a plan that was carried out: the content of {r}.restore. `rollbacks`
 * has, for each step, the completed rollback's file (HoodieRollbackMetadata); an empty one where
 * there was nothing left to roll back. */
hudi_status hd_restore_metadata_encode(struct hd_op *op, const struct hd_restore_plan *plan,
                                       const struct hd_slice *rollbacks, const char *restore_time,
                                       int64_t taken_ms, struct hd_str *out);

#endif
