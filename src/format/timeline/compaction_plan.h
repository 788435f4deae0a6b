/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_COMPACTION_PLAN_H
#define HD_FORMAT_COMPACTION_PLAN_H

#include <stddef.h>

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"
#include "format/timeline/timeline.h"

/** What compacting a slice costs; MB are whole ones of 1048576 bytes. */
struct hd_compaction_metrics {
    int64_t log_bytes;
    int64_t read_mb;
    int64_t write_mb;
};

/** One file slice to be compacted. Strings belong to the plan. */
struct hd_compaction_operation {
    const char *partition_path; /* "" for the table folder itself */
    const char *file_id;
    const char *base_instant;
    const char *data_file;    /* name of the base file; NULL: log files only */
    const char **delta_files; /* names of the log files */
    size_t n_delta_files;
    struct hd_compaction_metrics metrics; /* zeros where the plan has none */
};

/** HoodieCompactionPlan, of compactions and log compactions. docs/format/timeline.md 4 */
struct hd_compaction_plan {
    struct hd_arena arena;
    struct hd_compaction_operation *operations;
    size_t n_operations;
    const char *compactor; /* Java class that merges, of log compactions; NULL. Not read from files;
                              written where the table's version has it */
};

/** From the bytes of a requested file. Full paths (plan version 1, moved tables) are cut to names.
 * @return HUDI_CORRUPT */
hudi_status hd_compaction_plan_parse(struct hd_op *op, struct hd_slice bytes,
                                     struct hd_compaction_plan *out);

/** The plan of a pending (log) compaction; errors name the file's instant. */
hudi_status hd_compaction_plan_read(struct hd_op *op, const struct hd_timeline *timeline,
                                    const struct hd_instant *instant,
                                    struct hd_compaction_plan *out);

/** Append the content of a requested file, as the releases of the table's version write it. */
hudi_status hd_compaction_plan_encode(struct hd_op *op, const struct hd_compaction_plan *plan,
                                      const struct hd_table_version *version, struct hd_str *out);
void hd_compaction_plan_clear(struct hd_compaction_plan *plan);

#endif
