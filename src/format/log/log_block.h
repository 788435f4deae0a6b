/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_BLOCK_H
#define HD_FORMAT_LOG_BLOCK_H

#include <stdint.h>

#include "base/cursor.h"
#include "base/op.h"
#include "base/str.h"

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
 *  2. A block start that is no magic begins a corrupt block, which ends at the next magic. So does
 *     a magic with a size that the last field does not confirm.
 *  3. Fewer than six bytes left are the end of the file.
 *  4. Where only the high half of the size is damaged, the low half counts, as for real readers.
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

/**
 * One block of a log file, made by hd_log_reader_next(). Whole and corrupt ones alike cover the
 * bytes `offset` to `offset + size` of the file. A corrupt one has no header and no content.
 */
struct hd_log_block {
    uint64_t offset; /* of the magic, in bytes from the start of the file */
    uint64_t size;   /* in bytes, magic to trailer: the next block starts at offset + size */
    enum hd_log_block_type type;
    const char *damage;     /* of HD_LOG_CORRUPT: what is wrong, static; else NULL */
    struct hd_slice header; /* metadata map, checked but not decoded; the block's own bytes */
    uint64_t content_offset;
    uint64_t content_bytes;
    struct hd_slice content; /* empty until hd_log_reader_content() */
    uint8_t *header_bytes;   /* what `header` points into */
    uint8_t *body;           /* what `content` points into; NULL until it is loaded */
    uint64_t budgeted_bytes; /* taken from the op's budget for it */
};

/** Free what the block holds and make it all zero. */
void hd_log_block_clear(struct hd_op *op, struct hd_log_block *block);

/** "DELETE", "AVRO_DATA", ...: Hudi's name of a type. Static. */
const char *hd_log_block_type_name(enum hd_log_block_type type);

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

/** "INSTANT_TIME", ...: Hudi's name of a header key, NULL for a number that is none. Static. */
const char *hd_log_header_key_name(uint32_t key);

/** A header's value, in place; HUDI_NOT_FOUND (no error) without. */
hudi_status hd_log_header_find(struct hd_op *op, const struct hd_log_block *block,
                               enum hd_log_header_key key, struct hd_slice *out);

/** All entries of a block's header in the order of the file, unknown keys too. */
struct hd_log_header_entries {
    struct hd_cursor in;
    uint32_t n_left;
};

hudi_status hd_log_header_open(struct hd_op *op, const struct hd_log_block *block,
                               struct hd_log_header_entries *out);
/** HUDI_END after the last one. `*value` points into the block. */
hudi_status hd_log_header_next(struct hd_op *op, struct hd_log_header_entries *entries,
                               uint32_t *key, struct hd_slice *value);

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

#endif
