/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON lines. The bytes before the first NUL are the Avro schema of the columns (empty: all are
 * guessed), the others are lines. Lines that are no records are told; with what was guessed as
 * types the same rows are read.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/avro_type.h"
#include "arrow/schema.h"
#include "arrow/stream.h"
#include "rows/json_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

static hudi_status count(struct hd_op *op, void *self, int64_t n_rows, const char *where,
                         const char *reason)
{
    (void)op;
    must(n_rows >= 0 && *where != '\0' && *reason != '\0');
    ++*(int64_t *)self;
    return HUDI_OK;
}

static bool is_ignored(const char *name)
{
    return strcmp(name, "_hoodie_commit_time") == 0;
}

/* Rows that were read; their columns go to `schema` when it is not NULL. -1: the lines cannot be
 * read. */
static int64_t read_lines(struct hd_op *op, struct hd_slice lines, const struct ArrowSchema *types,
                          int64_t *n_told, struct ArrowSchema *schema)
{
    const struct hd_left_out left_out = {count, n_told};
    struct ArrowArrayStream stream;
    struct ArrowArray rows;
    hd_input_file *file;
    hd_line_reader *reader;
    hudi_status status;
    int64_t n = 0;

    if (hd_input_file_of_bytes(op, lines.data, lines.size, &file) != HUDI_OK ||
        hd_line_reader_open(op, file, &reader) != HUDI_OK ||
        hd_json_rows_open(op, reader, types, is_ignored, &left_out, &stream) != HUDI_OK)
        return -1;
    if (schema != NULL)
        must(hd_stream_schema(op, &stream, schema) == HUDI_OK);
    while ((status = hd_stream_next(op, &stream, &rows)) == HUDI_OK) {
        n += rows.length;
        hd_array_clear(&rows);
    }
    hd_stream_clear(&stream);
    return status == HUDI_END ? n : -1;
}

static void read_twice(struct hd_op *op, struct hd_slice lines, const struct ArrowSchema *types)
{
    struct ArrowSchema schema = {0};
    int64_t n_told = 0, n_told_again = 0;
    const int64_t n = read_lines(op, lines, types, &n_told, &schema);

    if (n >= 0) {
        must(read_lines(op, lines, &schema, &n_told_again, NULL) == n);
        must(n_told == n_told_again);
    }
    hd_schema_clear(&schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size == 0 ? NULL : memchr(data, '\0', size);
    const size_t n = nul == NULL ? 0 : (size_t)(nul - data);
    const struct hd_slice lines =
        nul == NULL ? hd_slice_of(data, size) : hd_slice_of(nul + 1, size - n - 1);
    struct hd_arena arena = {0};
    struct hd_avro_schema *avro;
    struct ArrowSchema types;
    struct hd_op op;

    hd_op_init(&op);
    if (n == 0) {
        read_twice(&op, lines, NULL);
    } else if (hd_avro_schema_parse(&op, &arena, hd_slice_of(data, n), &avro) == HUDI_OK &&
               hd_avro_to_arrow(&op, avro, &types) == HUDI_OK) {
        if (strcmp(types.format, "+s") == 0)
            read_twice(&op, lines, &types);
        hd_schema_clear(&types);
    }
    hd_arena_clear(&arena);
    hd_op_clear(&op);
    return 0;
}
