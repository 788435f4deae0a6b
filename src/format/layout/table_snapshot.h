/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_TABLE_SNAPSHOT_H
#define HD_FORMAT_TABLE_SNAPSHOT_H

#include "base/op.h"
#include "format/table/table_config.h"
#include "format/timeline/timeline.h"
#include "store/file_system.h"

/**
 * A table at one moment: its place, its properties and one listing of its timeline. What scans and
 * writes start from. Must not be moved once loaded (the timeline points into it); may be shared
 * between threads for reading.
 */
struct hd_table_snapshot {
    hd_file_system *fs; /* owned */
    char *path;         /* within fs */
    char *uri;          /* as the caller named it */
    struct hd_table_config config;
    struct hd_timeline timeline;
};

/** @return as hd_table_config_load(), hd_timeline_load(); errors name the table */
hudi_status hd_table_snapshot_load(struct hd_op *op, const char *uri,
                                   struct hd_table_snapshot *out);

/** List the timeline (and read the properties) again: a later moment of the same table. */
hudi_status hd_table_snapshot_reload(struct hd_op *op, struct hd_table_snapshot *snapshot);

/** All zero after; an all-zero snapshot may be cleared. */
void hd_table_snapshot_clear(struct hd_op *op, struct hd_table_snapshot *snapshot);

#endif
