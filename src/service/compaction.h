/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_COMPACTION_H
#define HD_SERVICE_COMPACTION_H

#include "service/rewrite.h"

/**
 * Compaction: the log files of file slices are merged into new base files of their groups. Of the
 * steps of rewrite.h: from 2 ({t}.compaction.requested) on, new log files of its groups carry {t},
 * and lie on what it will make; 6 is {t}.commit. Only for merge-on-read tables.
 */
extern const hd_rewrite_service hd_compaction;

/**
 * Log compaction: the blocks of many small log files become blocks of one, with the same records
 * merged by key; base files stay. Of the steps of rewrite.h: 2 is {t}.logcompaction.requested, 6 is
 * {t}.deltacommit. One that did not end is rolled back with its plan, since blocks of a time that
 * was rolled back do not count. A slice that was written to after the plan is left as it is. Of
 * merge-on-read tables of version 6.
 */
extern const hd_rewrite_service hd_log_compaction;

#endif
