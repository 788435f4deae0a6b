/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_READER_H
#define HD_FORMAT_LOG_READER_H

#include "format/log/log_block.h"
#include "store/file_system.h"
#include "store/input_file.h"

/**
 * The blocks of one log file, in the order of the file or backwards. Damage never ends the walk: it
 * comes as blocks of type HD_LOG_CORRUPT, so that every byte of the file is in one block (but for
 * up to five at the end). Contents are not read before somebody asks for them. One thread at a
 * time; holds a buffer of at most 64 KiB.
 *
 * Source: HoodieLogFileReader (Hudi 0.15.0), other than in log-format.md 5.
 */
typedef struct hd_log_reader hd_log_reader;

/** @return HUDI_NOT_FOUND with an error; HUDI_IO, HUDI_NO_MEMORY */
hudi_status hd_log_reader_open(struct hd_op *op, hd_file_system *fs, const char *path,
                               hd_log_reader **out);

/** The same over an open file, which is taken, also on failure. */
hudi_status hd_log_reader_of_file(struct hd_op *op, hd_input_file *file, hd_log_reader **out);

/** Takes NULL. Blocks that it gave stay valid. */
void hd_log_reader_close(struct hd_op *op, hd_log_reader *reader);

/** The file itself; the reader's. */
hd_input_file *hd_log_reader_file(hd_log_reader *reader);

/** Where the next block starts and the previous one ends. */
uint64_t hd_log_reader_offset(const hd_log_reader *reader);

/**
 * The next block, without its content. Each corrupt block is also a warning in the op's log.
 * @param out  release with hd_log_block_clear(); all zero unless HUDI_OK
 * @return HUDI_END at the end; HUDI_NOT_IMPLEMENTED for a whole block of an unknown type or log
 *         format version (the next call goes on behind it); HUDI_IO, HUDI_NO_MEMORY. Damage is
 *         HUDI_OK.
 */
hudi_status hd_log_reader_next(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *out);

/**
 * The block that ends where the reader stands: the one before the last that was given, by either
 * call; HUDI_END at the start of the file. Found by the size at its end; where that does not lead
 * to a block, the file is walked from the start once. Blocks are the same as those of
 * hd_log_reader_next(), in the opposite order.
 */
hudi_status hd_log_reader_previous(struct hd_op *op, hd_log_reader *reader,
                                   struct hd_log_block *out);

/**
 * Does the file end with a whole block, or is it empty? Then another block may be written behind
 * it: behind a torn one, readers before 0.11 would not find it.
 * @param n_bytes  the file's size
 */
hudi_status hd_log_file_is_whole(struct hd_op *op, hd_file_system *fs, const char *path,
                                 uint64_t *n_bytes, bool *out);

/** Stand at the start (0), at the end of the file (UINT64_MAX) or where a block starts or ends. */
void hd_log_reader_seek(hd_log_reader *reader, uint64_t offset);

/**
 * Load a block's content; HUDI_OK at once when that was done before. The bytes count against the
 * op's budget where there is room in it (whoever can spill does so before), until the block is
 * cleared.
 */
hudi_status hd_log_reader_content(struct hd_op *op, hd_log_reader *reader,
                                  struct hd_log_block *block);

#endif
