/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_BLOCK_ROWS_H
#define HD_ENGINE_BLOCK_ROWS_H

#include "engine/write/write_config.h"
#include "format/log/log_block.h"

/**
 * Rows that become the content of a data block: Avro records, or with
 * hoodie.logfile.data.block.format=parquet a whole Parquet file in memory.
 */
typedef struct hd_block_rows hd_block_rows;

/** What a data block has between its header and its end, in parts. */
struct hd_block_content {
    enum hd_log_block_type type;
    struct hd_slice parts[2];
    size_t n_parts;
    uint64_t n_bytes;
};

/** @param columns  schema->file, where constant columns may be dictionaries; must outlive it */
hudi_status hd_block_rows_new(struct hd_op *op, const struct hd_write_config *config,
                              const struct hd_write_schema *schema,
                              const struct ArrowSchema *columns, hd_block_rows **out);
/** Takes NULL. */
void hd_block_rows_free(struct hd_op *op, hd_block_rows *rows);

/** Add rows `numbers[0..n)`, ascending, of a struct array of `columns`. */
hudi_status hd_block_rows_add(struct hd_op *op, hd_block_rows *rows, const struct ArrowArray *batch,
                              const int64_t *numbers, int64_t n);

/** Rows since the last reset, and the bytes that they take here: of Avro those of the block, of
 * Parquet those of the columns. */
int64_t hd_block_rows_length(const hd_block_rows *rows);
uint64_t hd_block_rows_bytes(const hd_block_rows *rows);

/** The content of a block of all rows; valid until the reset that must follow. */
hudi_status hd_block_rows_finish(struct hd_op *op, hd_block_rows *rows,
                                 struct hd_block_content *out);
void hd_block_rows_reset(hd_block_rows *rows);

#endif
