/* SPDX-License-Identifier: Apache-2.0 */
/* A log file: every block, its header and records, and the way on after corrupt blocks. */
#include <stdlib.h>

#include "format/log/log_block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_block(struct hd_op *op, const struct hd_log_block *block)
{
    struct hd_log_records records;
    struct hd_slice slice;

    for (int key = HD_LOG_INSTANT_TIME; key <= HD_LOG_BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS;
         key++)
        (void)hd_log_header_find(op, block, (enum hd_log_header_key)key, &slice);
    if (op->error != NULL) /* a header that was read can be searched */
        abort();
    if (hd_log_records_open(op, block, &records) == HUDI_OK)
        while (hd_log_records_next(op, &records, &slice) == HUDI_OK) {
        }
    hd_op_clear_error(op);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    hd_input_file *file;
    uint64_t offset = 0;

    hd_op_init(&op);
    if (hd_input_file_of_bytes(&op, data, size, &file) != HUDI_OK)
        abort();
    for (;;) {
        const uint64_t before = offset;
        struct hd_log_block block;
        const hudi_status status = hd_log_block_read(&op, file, offset, &block);

        hd_op_clear_error(&op);
        if (status == HUDI_END)
            break;
        if (status == HUDI_OK) {
            read_block(&op, &block);
            offset += block.size;
            hd_log_block_clear(&op, &block);
        } else if (hd_log_next_magic(&op, file, offset + 1, &offset) != HUDI_OK) {
            break;
        }
        if (offset <= before || offset > size)
            abort();
    }
    hd_input_file_close(file);
    hd_op_clear(&op);
    return 0;
}
