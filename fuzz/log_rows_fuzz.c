/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of every block of a log file, by its own schema: a block that gives rows gives as many
 * as it counts, and an error is one of the file's. */
#include <stdlib.h>

#include "arrow/schema.h"
#include "arrow/stream.h"
#include "format/log/log_reader.h"
#include "format/log/log_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static hudi_status read_rows(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                             int64_t *n)
{
    struct ArrowArrayStream rows;
    struct ArrowSchema schema;
    struct ArrowArray batch;

    *n = 0;
    HD_TRY(hd_log_rows_open(op, reader, block, &rows));
    hudi_status status = hd_stream_schema(op, &rows, &schema);
    if (status == HUDI_OK)
        hd_schema_clear(&schema);
    while (status == HUDI_OK && (status = hd_stream_next(op, &rows, &batch)) == HUDI_OK) {
        *n += batch.length;
        batch.release(&batch);
    }
    hd_stream_clear(&rows);
    return status == HUDI_END ? HUDI_OK : status;
}

static void read_block(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block)
{
    int64_t n_counted = -1, n_read = 0;
    uint32_t version;
    const hudi_status counted = hd_log_rows_count(op, reader, block, &n_counted, &version);

    hd_op_clear_error(op);
    const hudi_status read = read_rows(op, reader, block, &n_read);
    if (read == HUDI_INTERNAL || counted == HUDI_INTERNAL)
        abort();
    if (read == HUDI_OK && counted == HUDI_OK && n_read != n_counted)
        abort();
    hd_op_clear_error(op);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    hd_input_file *file;
    hd_log_reader *reader;
    struct hd_log_block block;
    hudi_status status;

    hd_op_init(&op);
    if (hd_input_file_of_bytes(&op, data, size, &file) != HUDI_OK ||
        hd_log_reader_of_file(&op, file, &reader) != HUDI_OK)
        abort();
    while ((status = hd_log_reader_next(&op, reader, &block)) == HUDI_OK ||
           status == HUDI_NOT_IMPLEMENTED) {
        hd_op_clear_error(&op);
        if (status == HUDI_OK)
            read_block(&op, reader, &block);
        hd_log_block_clear(&op, &block);
    }
    if (status != HUDI_END)
        abort();
    hd_log_reader_close(&op, reader);
    hd_op_clear(&op);
    return 0;
}
