/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_BLOCK_H
#define HD_FORMAT_LOG_BLOCK_H

#include <stdint.h>

#include "base/cursor.h"
#include "base/op.h"
#include "base/str.h"
#include "store/input_file.h"

/*
 * A log file is a plain row of blocks, integers big-endian and signed (docs/format/log-format.md
 * 1):
 *
 *     0   6  magic "#HUDI#"
 *     6   8  size: bytes that follow this field, to the end of the block
 *     14  4  log format version, 1
 *     18  4  type
 *     22  .  header map: count u32, then per entry key u32, length u32, bytes
 *      .  8  content length
 *      .  .  content
 *      .  .  footer map, as the header, always empty
 *      .  8  size + 6, by which a file can be read backwards and a torn block is told
 *
 * Invariants
 *  1. A block whose size and last field agree is whole, whatever stands behind it.
 *  2. A block start that is no magic begins a corrupt block, which ends at the next magic.
 *  3. Fewer than six bytes left are the end of the file.
 */

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
 * Read the log block that starts at `offset`.
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

/** Offset of the next magic at or after `from`: where reading goes on after a corrupt block that
 * started at p, from = p + 1. @return HUDI_END when there is none */
hudi_status hd_log_next_magic(struct hd_op *op, hd_input_file *file, uint64_t from, uint64_t *out);

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

/** A header entry to be written. */
struct hd_log_header_entry {
    enum hd_log_header_key key;
    struct hd_slice value;
};

/** Append one whole block. `content` is in parts that are written one after the other, so that they
 * need not be copied together first. HUDI_INVALID for a block of 2 GiB or more, which other readers
 * cannot take. Source: HoodieLogFormatWriter.appendBlocks (Hudi 0.10.0). */
hudi_status hd_log_block_encode(struct hd_op *op, enum hd_log_block_type type,
                                const struct hd_log_header_entry *header, size_t n_header,
                                const struct hd_slice *content, size_t n_content,
                                struct hd_str *out);

/**
 * What stands before and behind the content of a block that has `content_bytes` of it: `head` and
 * `tail` are appended to. For contents too large to be copied; write head, content, tail.
 * HUDI_INVALID as above.
 */
hudi_status hd_log_block_frame(struct hd_op *op, enum hd_log_block_type type,
                               const struct hd_log_header_entry *header, size_t n_header,
                               uint64_t content_bytes, struct hd_str *head, struct hd_str *tail);

/** Append a rollback block: blocks of `target_instant` that stand before it do not count. */
hudi_status hd_log_rollback_block_encode(struct hd_op *op, const char *instant,
                                         const char *target_instant, struct hd_str *out);

/** The records of a block of type AVRO_DATA or CDC_DATA, each the Avro binary of one. */
struct hd_log_records {
    struct hd_cursor in;
    uint32_t version; /* of the block's content, 1 to 3 */
    uint32_t n_left;
};

/** @return HUDI_CORRUPT; HUDI_NOT_IMPLEMENTED for another content version */
hudi_status hd_log_records_open(struct hd_op *op, const struct hd_log_block *block,
                                struct hd_log_records *out);
/** HUDI_END after the last one; HUDI_CORRUPT. Points into the block. */
hudi_status hd_log_records_next(struct hd_op *op, struct hd_log_records *records,
                                struct hd_slice *out);

#endif
