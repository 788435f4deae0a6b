/* SPDX-License-Identifier: Apache-2.0 */
/* Base files of any content: footer, statistics, and rows, as ORC when they begin like one. One
 * that is read to its end gives as many rows as it says. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/array.h"
#include "store/base_file.h"

#define MAX_BATCHES 16 /* a few bytes may claim billions of rows */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_footer(struct hd_op *op, hd_base_reader *reader)
{
    const int64_t n_columns = hd_base_reader_schema(reader)->n_children;
    struct hd_column_stats stats;
    struct hd_slice value;

    (void)hd_base_reader_key_value(op, reader, "hoodie_min_record_key", &value);
    for (int32_t i = 0; i < hd_base_reader_n_row_groups(reader) && i < MAX_BATCHES; i++) {
        (void)hd_base_reader_row_group_rows(reader, i);
        (void)hd_base_reader_row_group_bytes(reader, i);
        for (int32_t column = 0; column < n_columns; column++) {
            if (hd_base_reader_column_stats(op, reader, i, column, &stats) == HUDI_OK)
                hd_column_stats_clear(&stats);
            hd_op_clear_error(op);
        }
    }
}

static void read_rows(struct hd_op *op, hd_base_reader *reader)
{
    hd_base_batches *batches;
    struct ArrowArray rows;
    hudi_status status = HUDI_OK;
    int64_t n_rows = 0;

    if (hd_base_reader_read(op, reader, NULL, &batches) != HUDI_OK)
        return;
    for (int i = 0; i < MAX_BATCHES && status == HUDI_OK; i++) {
        status = hd_base_batches_next(op, batches, &rows);
        if (status == HUDI_OK) {
            n_rows += rows.length;
            hd_array_clear(&rows);
        }
    }
    if (status == HUDI_END && n_rows != hd_base_reader_n_rows(reader))
        abort();
    hd_base_batches_close(batches);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool orc = size >= 3 && memcmp(data, "ORC", 3) == 0;
    hd_base_reader *reader;
    hd_input_file *file;
    struct hd_op op;

    hd_op_init(&op);
    if (hd_input_file_of_bytes(&op, data, size, &file) == HUDI_OK &&
        hd_base_reader_open(&op, file, orc ? HD_BASE_FILE_ORC : HD_BASE_FILE_PARQUET, &reader) ==
            HUDI_OK) {
        read_footer(&op, reader);
        read_rows(&op, reader);
        hd_base_reader_close(reader);
    }
    hd_op_clear(&op);
    return 0;
}
