/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_COMMIT_METADATA_H
#define HD_FORMAT_COMMIT_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/op.h"
#include "base/str.h"

/** HoodieWriteStat: what one file got. Strings belong to the metadata's arena; NULL is JSON null.
 * docs/format/timeline.md 5.1 */
struct hd_write_stat {
    const char *file_id;
    const char *path;           /* relative to the table */
    const char *partition_path; /* "" for the table folder itself */
    const char *prev_commit;    /* "null" (text) for a new file group */
    const char *prev_base_file;
    const char *temp_path; /* NULL in all that is written today */
    int64_t num_writes;
    int64_t num_deletes;
    int64_t num_update_writes;
    int64_t num_inserts;
    int64_t total_write_bytes;
    int64_t total_write_errors;
    int64_t file_size_in_bytes;
    int64_t total_log_records;
    int64_t total_log_files_compacted;
    int64_t total_log_size_compacted;
    int64_t total_updated_records_compacted;
    int64_t total_log_blocks;
    int64_t total_corrupt_log_blocks;
    int64_t total_rollback_blocks;
    int64_t total_log_read_time_ms;
    bool has_event_times;
    int64_t min_event_time;
    int64_t max_event_time;
    /* log files only */
    bool is_log;
    int32_t log_version;
    int64_t log_offset;
    const char *base_file;
    const char **log_files;
    size_t n_log_files;
    /* runtimeStats, in milliseconds */
    bool has_runtime_stats;
    int64_t total_scan_time_ms;
    int64_t total_upsert_time_ms;
    int64_t total_create_time_ms;
    /* CDC files: path -> size */
    const char **cdc_paths;
    int64_t *cdc_sizes;
    size_t n_cdc;
};

struct hd_replaced {
    const char *partition_path;
    const char **file_ids;
    size_t n_file_ids;
    size_t file_id_capacity;
};

/** HoodieCommitMetadata and HoodieReplaceCommitMetadata. All zero is empty and ready. */
struct hd_commit_metadata {
    struct hd_arena arena;
    struct hd_write_stat *stats; /* as parsed or added */
    size_t n_stats;
    size_t stat_capacity;
    const char **extra_keys; /* extraMetadata, with `schema` */
    const char **extra_values;
    size_t n_extra;
    size_t extra_capacity;
    struct hd_replaced *replaced; /* replacecommit: partitionToReplaceFileIds */
    size_t n_replaced;
    size_t replaced_capacity;
    struct hd_map replaced_index; /* partition -> entry, for add_replaced() alone */
    bool is_replace;
    bool compacted;
    const char *operation_type; /* "UPSERT", upper case; NULL: UNKNOWN */
};

/** Parse the JSON of versions below 8, or the Avro container of later ones, told by its magic.
 * Unknown keys are ignored, missing numbers are 0. @return HUDI_CORRUPT with the place */
hudi_status hd_commit_metadata_parse(struct hd_op *op, struct hd_slice bytes,
                                     struct hd_commit_metadata *out);

/** Pretty JSON as the real writers of those versions print it: members in the order of Hudi 0.15,
 * the stats grouped by partition in the order in which the partitions first come. Numbers that
 * those writers do not know (prevBaseFile) are left out when unset. HUDI_INVALID for text that is
 * no UTF-8. */
hudi_status hd_commit_metadata_format(struct hd_op *op, const struct hd_commit_metadata *metadata,
                                      struct hd_str *out);

/** From a HoodieCommitMetadata or HoodieReplaceCommitMetadata record, as archives hold them. `out`
 * is all zero but for its arena, which takes everything; on failure it is to be cleared. */
struct hd_avro_value;
hudi_status hd_commit_metadata_of_avro(struct hd_op *op, const struct hd_avro_value *record,
                                       struct hd_commit_metadata *out);

/** Append an empty stat to be filled in; its strings are the caller's affair (the arena). Valid
 * until the next one is added. */
hudi_status hd_commit_metadata_new_stat(struct hd_op *op, struct hd_commit_metadata *metadata,
                                        struct hd_write_stat **out);
/** Append a deep copy. */
hudi_status hd_commit_metadata_add_stat(struct hd_op *op, struct hd_commit_metadata *metadata,
                                        const struct hd_write_stat *stat);
hudi_status hd_commit_metadata_set_extra(struct hd_op *op, struct hd_commit_metadata *metadata,
                                         const char *key, const char *value);
const char *hd_commit_metadata_extra(const struct hd_commit_metadata *metadata, const char *key);
hudi_status hd_commit_metadata_add_replaced(struct hd_op *op, struct hd_commit_metadata *metadata,
                                            const char *partition_path, const char *file_id);
void hd_commit_metadata_clear(struct hd_commit_metadata *metadata);

/** A deep copy in the arena. */
hudi_status hd_write_stat_copy(struct hd_op *op, struct hd_arena *arena,
                               const struct hd_write_stat *stat, struct hd_write_stat *out);

/** One write stat as the JSON object it is in the commit (compact), and back: write statuses travel
 * so. */
hudi_status hd_write_stat_format(struct hd_op *op, const struct hd_write_stat *stat,
                                 struct hd_str *out);
hudi_status hd_write_stat_parse(struct hd_op *op, struct hd_arena *arena, struct hd_slice json,
                                struct hd_write_stat *out);

#endif
