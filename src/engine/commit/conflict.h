/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_CONFLICT_H
#define HD_ENGINE_CONFLICT_H

#include "format/timeline/timeline.h"

/*
 * Whether an instant may complete, decided under the table's lock on a timeline that was loaded
 * under it. What others did since ours began is what that timeline has and the one of our begin has
 * not. Two instants conflict when they change the same file group (partition path and file id: of
 * write stats, and of groups that are replaced). The first to complete wins.
 *
 *   other \ ours                    write           compaction             clustering
 *   completed commit, deltacommit   same group      same group, but not    same group
 *                                                   log files on the plan
 *   completed replacement           same group      never: it hides what   same group
 *                                                   the compaction makes
 *   completed compaction            same group      same group             same group
 *     that was planned before ours  never           never                  same group
 *   pending compaction, clustering  same group      same group             same group
 *     that was planned before ours  never           never                  never
 *   pending write                   never: it compares itself with ours when it completes
 *   rollback of a write that ours
 *     saw completed; restore        always          always                 always
 *
 * Log compactions count as writes. A compaction that was planned before ours is no conflict, since
 * our log files lie on what it will make. Hudi goes by instant times, here it is by what was there
 * when ours began: an instant with an earlier time whose file came late counts as a conflict.
 *
 * Source: SimpleConcurrentFileWritesConflictResolutionStrategy, ConcurrentOperation,
 * TransactionUtils.resolveWriteConflictIfAny (Hudi 0.15.0), which does not look at compactions and
 * clusterings when these complete
 */
enum hd_conflict_role { HD_CONFLICT_WRITE, HD_CONFLICT_COMPACTION, HD_CONFLICT_CLUSTERING };

/** What is about to complete. Everything is borrowed. */
struct hd_conflict_own {
    enum hd_conflict_role role;
    const char *time;
    const struct hd_commit_metadata *metadata;
    const struct hd_timeline *then; /* as of the begin */
};

/** @param config  where the archive is
 * @param now  loaded under the lock
 * @return HUDI_CONFLICT (retriable) naming the other instant and file groups; HUDI_CORRUPT for
 *         another's commit or plan that cannot be read */
hudi_status hd_check_conflicts(struct hd_op *op, const struct hd_conflict_own *own,
                               const struct hd_table_config *config, const struct hd_timeline *now);

#endif
