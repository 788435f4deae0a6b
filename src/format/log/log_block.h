/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_BLOCK_H
#define HD_FORMAT_LOG_BLOCK_H

#include <stdint.h>

#include "base/op.h"
#include "base/str.h"
#include "store/input_file.h"

/* Types by their number on disk. */
enum hd_log_block_type {
    HD_LOG_COMMAND = 0,
    HD_LOG_DELETE = 1,
    HD_LOG_CORRUPT = 2,
    HD_LOG_AVRO_DATA = 3,
    HD_LOG_HFILE_DATA = 4,
    HD_LOG_PARQUET_DATA = 5,
    HD_LOG_CDC_DATA = 6,
};

/** One block of a log file. `header` and `content` point into `body`, which the block owns. */
struct hd_log_block {
    uint64_t offset; /* of the magic, in bytes from the start of the file */
    uint64_t size;   /* in bytes, magic to trailer: the next block starts at offset + size */
    enum hd_log_block_type type;
    struct hd_slice header; /* metadata map, not yet decoded */
    struct hd_slice content;
    uint8_t *body;
};

/**
 * Read the log block that starts at `offset` (docs/format/log-format.md draws the bytes).
 * @param out  set on success, release with hd_log_block_clear(); all zero on failure
 * @return HUDI_END at the end of the file; HUDI_CORRUPT when lengths contradict each other or the
 *         file (the scanner may then look for the next magic); HUDI_NOT_IMPLEMENTED for another
 *         version; HUDI_IO, HUDI_NO_MEMORY. Reads and allocates no more than the file holds.
 *
 * Source: HoodieLogFormatWriter.appendBlocks, HoodieLogFileReader.readBlock (Hudi 0.10.0).
 */
hudi_status hd_log_block_read(struct hd_op *op, hd_input_file *file, uint64_t offset,
                              struct hd_log_block *out);
void hd_log_block_clear(struct hd_op *op, struct hd_log_block *block);

/* Header keys by their number on disk. */
enum hd_log_header_key {
    HD_LOG_INSTANT_TIME = 0,
    HD_LOG_TARGET_INSTANT_TIME = 1,
    HD_LOG_SCHEMA = 2,
    HD_LOG_COMMAND_BLOCK_TYPE = 3,
    HD_LOG_COMPACTED_BLOCK_TIMES = 4,
    HD_LOG_RECORD_POSITIONS = 5,
    HD_LOG_BLOCK_IDENTIFIER = 6,
    HD_LOG_IS_PARTIAL = 7,
    HD_LOG_BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS = 8,
};

/** A header's value, in place; HUDI_NOT_FOUND (no error) without. */
hudi_status hd_log_header_find(struct hd_op *op, const struct hd_log_block *block,
                               enum hd_log_header_key key, struct hd_slice *out);

#endif
