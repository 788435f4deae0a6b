/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_UNDO_H
#define HD_SERVICE_UNDO_H

#include "base/pool.h"
#include "service/preview.h"

/**
 * Roll one write back by hand, under the write lock: a pending one, or the newest completed one.
 * Rollbacks that were begun are finished first. Steps and crash points: engine/commit/rollback.h.
 * @return HUDI_INVALID when there is no such write or something is in its way (revertible.h),
 * HUDI_CONFLICT while its writer beats or a restore is not finished
 */
hudi_status hd_undo(struct hd_op *op, hd_pool *pool, const char *uri,
                    const struct hd_options *options, const char *time);

/** What it would do, as the table stands now; refuses what it refuses, but takes no lock.
 * @param out  all zero */
hudi_status hd_undo_preview(struct hd_op *op, const char *uri, const struct hd_options *options,
                            const char *time, struct hd_preview *out);

#endif
