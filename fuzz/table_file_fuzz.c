/* SPDX-License-Identifier: Apache-2.0 */
/* Files of rows of any content: Arrow IPC when they begin like one, else CSV. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "store/table_file.h"

#define MAX_BATCHES 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool begins_with(const uint8_t *data, size_t size, const char *magic)
{
    return size >= strlen(magic) && memcmp(data, magic, strlen(magic)) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool ipc =
        begins_with(data, size, "ARROW1") || begins_with(data, size, "\xff\xff\xff\xff");
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray rows;
    hd_input_file *file;
    struct hd_op op;

    hd_op_init(&op);
    if (hd_input_file_of_bytes(&op, data, size, &file) == HUDI_OK &&
        hd_table_file_open(&op, file, ipc ? HD_TABLE_FILE_ARROW : HD_TABLE_FILE_CSV, NULL, NULL,
                           &stream) == HUDI_OK) {
        if (hd_stream_schema(&op, &stream, &schema) == HUDI_OK)
            hd_schema_clear(&schema);
        for (int i = 0; i < MAX_BATCHES && hd_stream_next(&op, &stream, &rows) == HUDI_OK; i++)
            hd_array_clear(&rows);
        hd_stream_clear(&stream);
    }
    hd_op_clear(&op);
    return 0;
}
