/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_SAVEPOINT_METADATA_H
#define HD_FORMAT_SAVEPOINT_METADATA_H

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"
#include "format/timeline/timeline.h"

/** Files of one partition that a savepoint keeps. */
struct hd_savepoint_partition {
    const char *partition_path;
    const char **files; /* names */
    size_t n_files;
};

/** HoodieSavepointMetadata: the content of {t}.savepoint. Strings are in `arena`. */
struct hd_savepoint_metadata {
    struct hd_arena arena;
    const char *user;
    const char *comments;
    int64_t made_ms; /* wall clock, since the epoch */
    struct hd_savepoint_partition *partitions;
    size_t n_partitions;
};

hudi_status hd_savepoint_metadata_encode(struct hd_op *op,
                                         const struct hd_savepoint_metadata *metadata,
                                         struct hd_str *out);
/** @return HUDI_CORRUPT */
hudi_status hd_savepoint_metadata_decode(struct hd_op *op, struct hd_slice bytes,
                                         struct hd_savepoint_metadata *out);
void hd_savepoint_metadata_clear(struct hd_savepoint_metadata *metadata);

/** Of a completed savepoint; errors name its file. */
hudi_status hd_savepoint_metadata_read(struct hd_op *op, const struct hd_timeline *timeline,
                                       const struct hd_instant *instant,
                                       struct hd_savepoint_metadata *out);

#endif
