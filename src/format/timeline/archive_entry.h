/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_ARCHIVE_ENTRY_H
#define HD_FORMAT_ARCHIVE_ENTRY_H

#include "base/op.h"
#include "base/str.h"
#include "format/timeline/timeline.h"

/**
 * Append one log block with an entry for each state file of these instants, in their order:
 * requested, inflight, completed (docs/format/timeline.md 8.1). State files are read; one that is
 * gone, as after an archiving that was killed, has no entry.
 * @return HUDI_CORRUPT naming the file whose content cannot be archived
 * Source: MetadataConversionUtils.createMetaWrapper, HoodieTimelineArchiver (Hudi 0.15.0)
 */
hudi_status hd_archive_block_encode(struct hd_op *op, const struct hd_timeline *timeline,
                                    const struct hd_instant *const *instants, size_t n,
                                    struct hd_str *out);

#endif
