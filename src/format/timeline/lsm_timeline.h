/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LSM_TIMELINE_H
#define HD_FORMAT_LSM_TIMELINE_H

#include "format/timeline/archived_timeline.h"

/**
 * The archive of table versions 8 and later, for archived_timeline.c alone. In its folder:
 *
 *     _version_                    number of the snapshot that counts, decimal
 *     manifest_N                   JSON: {"files":[{"fileName":...,"fileLen":...},...]}
 *     {min}_{max}_{layer}.parquet  instants min to max by requested time, one a row: instantTime,
 *                                  completionTime, action, metadata (bytes of the completed file),
 *                                  plan, version
 *
 * Ranges of files may overlap. Files of a snapshot that is not the newest may be gone: one that is
 * gone while it is read makes the whole begin again. `out` is neither sorted nor without
 * duplicates.
 * @return HUDI_CORRUPT, HUDI_NOT_FOUND naming the file; HUDI_OK without an archive
 * Source: LSMTimeline, ArchivedTimelineV2 (Hudi 1.0.2); docs/format/timeline.md 8.2
 */
hudi_status hd_lsm_timeline_load(struct hd_op *op, hd_file_system *fs, const char *folder,
                                 const char *from, const char *to,
                                 struct hd_archived_timeline *out);

#endif
