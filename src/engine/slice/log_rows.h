/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOG_ROWS_H
#define HD_ENGINE_LOG_ROWS_H

#include "engine/slice/log_scan.h"
#include "engine/slice/merge_columns.h"

/* Private to engine/slice: the rows of data and delete blocks as entries. */

/** Entries of one block: a batch of at most some thousand. */
struct hd_log_batch {
    struct ArrowArray entries; /* of hd_merge_columns.entry */
    struct hd_view keys;       /* STRING, by row of `entries`; valid until the next batch */
    const uint64_t *positions; /* by row: of the base file's row; as `keys`. NULL: not known */
};

typedef struct hd_log_rows hd_log_rows;

/** @param batch_bytes  memory of a batch, about
 *  @param positions    give the positions of blocks that have them */
hudi_status hd_log_rows_new(struct hd_op *op, const struct hd_merge_columns *columns,
                            uint64_t batch_bytes, bool positions, hd_log_rows **out);
/** Takes NULL. */
void hd_log_rows_free(struct hd_op *op, hd_log_rows *rows);

/**
 * Go to a block of `file`, which must stay open until its last batch; `block` is its header.
 * @param file_schema  internal schema of the block's instant; NULL: columns by name
 * @return HUDI_CORRUPT; HUDI_SCHEMA; HUDI_NOT_IMPLEMENTED
 */
hudi_status hd_log_rows_begin(struct hd_op *op, hd_log_rows *rows, hd_log_reader *file,
                              const struct hd_log_scan_block *info, const char *file_schema);

/** The next entries of the block (`out->entries` is the caller's). @return HUDI_END */
hudi_status hd_log_rows_next(struct hd_op *op, hd_log_rows *rows, struct hd_log_batch *out);

#endif
