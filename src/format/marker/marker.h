/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_MARKER_H
#define HD_FORMAT_MARKER_H

#include "base/arena.h"
#include "base/op.h"
#include "store/file_system.h"

enum hd_io_type { HD_IO_CREATE, HD_IO_MERGE, HD_IO_APPEND };

/** A file that a writer task announced before making it. */
struct hd_marker {
    const char *data_path; /* relative to the table: "partition/name" */
    enum hd_io_type type;
};

/**
 * Announce `partition_path/file_name` for `instant_time`: a direct marker, an empty file under
 * .hoodie/.temp/INSTANT. Durable before it returns. HUDI_OK when it is there already.
 * docs/format/timeline.md 10
 */
hudi_status hd_marker_create(struct hd_op *op, hd_file_system *fs, const char *table_path,
                             const char *instant_time, const char *partition_path,
                             const char *file_name, enum hd_io_type type);

/** All markers of an instant, direct ones and those of a timeline server (MARKERS files), in the
 * arena, sorted. HUDI_NOT_FOUND (no error) when the folder is missing: list the files instead. */
hudi_status hd_markers_read(struct hd_op *op, hd_file_system *fs, const char *table_path,
                            const char *instant_time, struct hd_arena *arena,
                            struct hd_marker **out, size_t *n);

/** Delete the instant's marker folder. */
hudi_status hd_markers_delete(struct hd_op *op, hd_file_system *fs, const char *table_path,
                              const char *instant_time);

#endif
