/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_UNDO_PREVIEW_H
#define HD_SERVICE_UNDO_PREVIEW_H

#include "base/map.h"
#include "service/preview.h"

/**
 * Rollbacks that are only thought through: each is planned as it would be (rollback_request.h) and
 * told, and its instant then taken off `after`, on which the next is planned and checked. Files are
 * told once, by the first that removes them.
 */
struct hd_undoing {
    struct hd_table_snapshot after; /* the table once they were done; borrows from the one loaded */
    const struct hd_table_snapshot *table;
    struct hd_preview *preview; /* borrowed */
    struct hd_map told;         /* "partition/name" */
    bool rollbacks_finished;
};

hudi_status hd_undoing_begin(struct hd_op *op, const struct hd_table_snapshot *table,
                             struct hd_preview *preview, struct hd_undoing *out);

/** As hd_finish_rollbacks(). */
hudi_status hd_undoing_finish_rollbacks(struct hd_op *op, struct hd_undoing *undoing,
                                        const char *wanted, bool *found);
/** As hd_rollback_failed_writes() without options. */
hudi_status hd_undoing_failed_writes(struct hd_op *op, struct hd_undoing *undoing);
/** As hd_rollback_for_good() or hd_rollback_instant(), of an instant of `after`. */
hudi_status hd_undoing_roll_back(struct hd_op *op, struct hd_undoing *undoing,
                                 const struct hd_instant *target, bool for_good);

/** Put the preview in order, and leave out rollback blocks on slices that go altogether. */
void hd_undoing_end(struct hd_undoing *undoing);
void hd_undoing_clear(struct hd_undoing *undoing);

#endif
