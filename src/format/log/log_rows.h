/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_ROWS_H
#define HD_FORMAT_LOG_ROWS_H

#include "format/log/log_reader.h"
#include "hudi/arrow_c.h"

/*
 * What is in a block as rows, of the block's own schema: for whoever looks at a file. Merging reads
 * blocks in its own way.
 */

/**
 * How many rows a block has and the version of its content. Data blocks, CDC blocks: records;
 * delete blocks: keys; HFile blocks: cells, without a version; Parquet blocks: rows, without a
 * version.
 * @param n_rows   -1 for blocks that have none (command, corrupt)
 * @param version  0 without
 * @return HUDI_CORRUPT, HUDI_NOT_IMPLEMENTED when the content is not what it should be
 */
hudi_status hd_log_rows_count(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                              int64_t *n_rows, uint32_t *version);

/**
 * A stream over the rows, in the order of the block. Of delete blocks a row is record_key,
 * partition_path, ordering_type ("long"; "none") and ordering_value as text. The key that HFile
 * blocks have beside the record is put back into it. Fields of several types, which columns cannot
 * hold (bounds in column statistics), are left out with a log line.
 *
 * `reader` and `block` must outlive the stream.
 * @return HUDI_CORRUPT, HUDI_NOT_IMPLEMENTED; HUDI_INVALID for a block that has no rows
 */
hudi_status hd_log_rows_open(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                             struct ArrowArrayStream *out);

#endif
