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

#endif
