/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_ROLLBACK_STEPS_H
#define HD_ENGINE_ROLLBACK_STEPS_H

#include "format/layout/table_snapshot.h"
#include "format/timeline/rollback_plan.h"

/*
 * What a rollback decides before it does it. Nothing here writes: rollback.c acts on the answers,
 * and who only wants to know what a rollback would do asks the same questions.
 */

/**
 * The plan of a rollback that was begun. `*readable` is false, and `out` empty, for one that cannot
 * be read and is only requested: it was never acted on. @return HUDI_CORRUPT when it was
 */
hudi_status hd_rollback_read_plan(struct hd_op *op, const struct hd_timeline *timeline,
                                  const struct hd_instant *rollback, struct hd_rollback_plan *out,
                                  bool *readable);

/**
 * The instant that the plan of rollback `time` undoes, NULL when it is gone. `*for_good` is set
 * (and left otherwise) where the plan is of a compaction that was completed when it was made.
 * @return HUDI_CORRUPT, HUDI_CONFLICT for a plan that must not be run
 */
hudi_status hd_rollback_find_target(struct hd_op *op, const struct hd_timeline *timeline,
                                    const struct hd_rollback_plan *plan, const char *time,
                                    bool *for_good, const struct hd_instant **out);

/**
 * Name, in the request's partition, of a file that a plan names: a plan's paths are full, and of
 * where the table stood when it was made. Part of `planned`; NULL for a log file of others, which
 * stays. @return HUDI_CORRUPT for a file that does not carry the target's time: only those are ever
 * deleted
 */
hudi_status hd_rollback_file_name(struct hd_op *op, const struct hd_rollback_plan *plan,
                                  bool for_good, const char *planned, const char **out);

/** Name of the newest log file of the request's slice, in `arena`, behind which a rollback block is
 * still to be written; NULL when there is no need to. */
hudi_status hd_rollback_block_due(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const struct hd_rollback_plan *plan,
                                  const struct hd_rollback_request *request, struct hd_arena *arena,
                                  const char **out);

/** Does a pending instant, rolled back but not for good, go back to its plan? */
hudi_status hd_rollback_keeps_plan(struct hd_op *op, const struct hd_timeline *timeline,
                                   const struct hd_instant *instant, bool *out);

/** Is it what hd_rollback_failed_writes() undoes, unless its writer beats? */
hudi_status hd_rollback_is_failed_write(struct hd_op *op, const struct hd_timeline *timeline,
                                        const struct hd_instant *instant, bool *out);

#endif
