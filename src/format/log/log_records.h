/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_FORMAT_LOG_RECORDS_H
#define HD_FORMAT_LOG_RECORDS_H

#include "format/log/log_block.h"
#include "store/input_file.h"

/**
 * The records of a block of type AVRO_DATA or CDC_DATA, each the Avro binary of one (log-format.md
 * 4.1). Of a block whose content is loaded they are in place; otherwise the file is read piece by
 * piece, and memory stays at 1 MiB or the largest record, whatever the size of the block.
 */
struct hd_log_records {
    struct hd_cursor in;
    uint64_t block_offset;
    uint32_t version; /* of the block's content, 1 to 3 */
    uint32_t n_records;
    uint32_t n_left;
    hd_input_file *file;              /* NULL: all of it is in memory */
    uint64_t next_offset, end_offset; /* of what is not read yet */
    uint8_t *buffer;
    size_t capacity;
    uint64_t budgeted_bytes;
};

/**
 * @param file  of the block, must outlive the records; may be NULL when the content is loaded
 * @param out   release with hd_log_records_close(); nothing to release on failure
 * @return HUDI_CORRUPT; HUDI_NOT_IMPLEMENTED for another content version
 */
hudi_status hd_log_records_open(struct hd_op *op, hd_input_file *file,
                                const struct hd_log_block *block, struct hd_log_records *out);

/** HUDI_END after the last one; HUDI_CORRUPT. `*out` is valid until the next call. */
hudi_status hd_log_records_next(struct hd_op *op, struct hd_log_records *records,
                                struct hd_slice *out);
void hd_log_records_close(struct hd_op *op, struct hd_log_records *records);

#endif
