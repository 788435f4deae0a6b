/* SPDX-License-Identifier: Apache-2.0 */
/* A log file, forwards and backwards: blocks cover it without a gap, both ways are the same, and
 * records come out the same whether the content is loaded or read piece by piece. */
#include <stdlib.h>
#include <string.h>

#include "format/log/log_reader.h"
#include "format/log/log_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_header(struct hd_op *op, const struct hd_log_block *block)
{
    struct hd_log_header_entries entries;
    struct hd_slice slice;
    uint32_t key;

    if (hd_log_header_open(op, block, &entries) != HUDI_OK)
        abort();
    while (hd_log_header_next(op, &entries, &key, &slice) == HUDI_OK)
        (void)hd_log_header_key_name(key);
    (void)hd_log_header_find(op, block, HD_LOG_SCHEMA, &slice);
    if (op->error != NULL) /* a header that was read can be searched */
        abort();
}

/* Number of bytes of all records and how it ended. */
static hudi_status read_records(struct hd_op *op, hd_log_reader *reader,
                                const struct hd_log_block *block, uint64_t *n_bytes)
{
    struct hd_log_records records;
    struct hd_slice slice;
    hudi_status status = hd_log_records_open(op, hd_log_reader_file(reader), block, &records);

    *n_bytes = 0;
    if (status == HUDI_OK) {
        while ((status = hd_log_records_next(op, &records, &slice)) == HUDI_OK)
            *n_bytes += slice.size + 1;
        hd_log_records_close(op, &records);
    }
    hd_op_clear_error(op);
    return status;
}

static void read_block(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block)
{
    uint64_t streamed, loaded;

    read_header(op, block);
    if (block->type == HD_LOG_CORRUPT)
        return;
    const hudi_status status = read_records(op, reader, block, &streamed);
    if (hd_log_reader_content(op, reader, block) != HUDI_OK)
        abort();
    if (read_records(op, reader, block, &loaded) != status || streamed != loaded)
        abort();
}

static void walk(struct hd_op *op, hd_log_reader *reader, size_t size)
{
    hudi_status status;
    uint64_t at = 0, place;

    do {
        struct hd_log_block block, again;

        place = hd_log_reader_offset(reader);
        if (place != at)
            abort();
        status = hd_log_reader_next(op, reader, &block);
        hd_op_clear_error(op);
        at = hd_log_reader_offset(reader);
        if (status == HUDI_END)
            break;
        if (at <= place || at > size)
            abort();
        if (hd_log_reader_previous(op, reader, &again) != status ||
            hd_log_reader_offset(reader) != place || again.size != block.size ||
            again.type != block.type)
            abort();
        hd_op_clear_error(op);
        hd_log_block_clear(op, &again);
        hd_log_reader_seek(reader, at);
        if (status == HUDI_OK)
            read_block(op, reader, &block);
        hd_log_block_clear(op, &block);
    } while (status == HUDI_OK || status == HUDI_NOT_IMPLEMENTED);
    if (size - at >= 6)
        abort();
}

/* All the way back from the end. */
static void walk_back(struct hd_op *op, hd_log_reader *reader)
{
    hudi_status status;

    hd_log_reader_seek(reader, UINT64_MAX);
    do {
        struct hd_log_block block;
        const uint64_t place = hd_log_reader_offset(reader);

        status = hd_log_reader_previous(op, reader, &block);
        hd_op_clear_error(op);
        if (status == HUDI_OK && block.offset + block.size != place &&
            place - block.offset - block.size >= 6)
            abort();
        hd_log_block_clear(op, &block);
    } while (status == HUDI_OK || status == HUDI_NOT_IMPLEMENTED);
    if (status != HUDI_END || hd_log_reader_offset(reader) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    hd_input_file *file;
    hd_log_reader *reader;

    hd_op_init(&op);
    if (hd_input_file_of_bytes(&op, data, size, &file) != HUDI_OK ||
        hd_log_reader_of_file(&op, file, &reader) != HUDI_OK)
        abort();
    walk(&op, reader, size);
    walk_back(&op, reader);
    hd_log_reader_close(&op, reader);
    hd_op_clear(&op);
    return 0;
}
