/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_SERVICE_CLUSTERING_H
#define HD_SERVICE_CLUSTERING_H

#include "service/rewrite.h"

/**
 * Clustering: rows of small files go to new file groups, sorted if asked for. Of the steps of
 * rewrite.h: from 2 ({t}.replacecommit.requested) on, its file groups take no updates; with 6
 * ({t}.replacecommit) readers take the new groups, and the old ones are replaced.
 */
extern const hd_rewrite_service hd_clustering;

#endif
