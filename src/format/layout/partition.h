/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_PARTITION_H
#define HD_FORMAT_PARTITION_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/op.h"
#include "format/table/table_config.h"
#include "store/file_system.h"

#define HD_PARTITION_METAFILE ".hoodie_partition_metadata"

/** All partition paths of a table, sorted: the folders that hold a partition metafile (text,
 * Parquet or ORC), found by walking. A non-partitioned table gives one empty path. In the arena. */
hudi_status hd_partitions_list(struct hd_op *op, hd_file_system *fs, const char *table_path,
                               const struct hd_table_config *config, struct hd_arena *arena,
                               const char ***out, size_t *n);

/** Whether a partition path from a file stays below the table: "" (the table itself), or parts that
 * are neither empty nor "." or "..". */
bool hd_partition_path_is_inside(const char *partition_path);

/** Make the folder and its metafile unless there (an existing one is never touched). */
hudi_status hd_partition_ensure(struct hd_op *op, hd_file_system *fs, const char *table_path,
                                const struct hd_table_config *config, const char *partition_path,
                                const char *instant_time);

/** Hudi's percent encoding of one value of a partition path, and back. UTF-8 in and out.
 * docs/format/table-layout.md 6.3 */
hudi_status hd_partition_value_encode(struct hd_op *op, struct hd_slice value, struct hd_str *out);
hudi_status hd_partition_value_decode(struct hd_op *op, struct hd_slice value, struct hd_str *out);

/** Split a partition path into the texts of its fields (decoded and without "name=" as the config
 * says). `values[i].data` NULL means null (the default partition name). HUDI_CORRUPT when the
 * number of levels does not fit. In the arena. A single field takes the whole path. */
hudi_status hd_partition_path_values(struct hd_op *op, const struct hd_table_config *config,
                                     const char *partition_path, struct hd_arena *arena,
                                     struct hd_slice *values);

#endif
