/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/line_reader.h"

#include "base/checked_int.h"

#define READ_BYTES (256u << 10)
#define MAX_LINE_BYTES (64u << 20)
#define MARK "\xef\xbb\xbf" /* U+FEFF, which programs on Windows put first */

struct hd_line_reader {
    hd_input_file *file; /* NULL: standard input */
    uint64_t offset;
    uint8_t *buffer;
    size_t capacity;
    size_t start, end; /* bytes not given out yet */
    size_t searched;   /* of them, how many hold no line end */
    bool at_end;
    int64_t line;
};

hudi_status hd_line_reader_open(struct hd_op *op, hd_input_file *file, hd_line_reader **out)
{
    const hudi_status status = hd_alloc(op, sizeof **out, out);

    if (status != HUDI_OK)
        hd_input_file_close(file);
    else
        (*out)->file = file;
    return status;
}

void hd_line_reader_close(struct hd_op *op, hd_line_reader *reader)
{
    if (reader == NULL)
        return;
    hd_input_file_close(reader->file);
    hd_free(op, reader->buffer);
    hd_free(op, reader);
}

static hudi_status read_some(struct hd_op *op, hd_line_reader *reader, uint8_t *into, size_t n,
                             size_t *got)
{
    if (reader->file != NULL) {
        const uint64_t left = hd_input_file_size(reader->file) - reader->offset;
        *got = (size_t)hd_min_u64(n, left);
        HD_TRY(hd_input_file_read_at(op, reader->file, reader->offset, into, *got));
        reader->offset += *got;
        return HUDI_OK;
    }
    return hd_standard_input_read(op, into, n, got);
}

static hudi_status fill(struct hd_op *op, hd_line_reader *reader)
{
    size_t got;

    if (reader->start > 0) {
        memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
        reader->end -= reader->start;
        reader->start = 0;
    }
    if (reader->end > MAX_LINE_BYTES)
        return hd_fail(op, HUDI_INVALID, "line %lld is longer than %u bytes",
                       (long long)reader->line + 1, MAX_LINE_BYTES);
    HD_TRY(hd_grow(op, &reader->buffer, &reader->capacity, reader->end + READ_BYTES, 1));
    HD_TRY(read_some(op, reader, reader->buffer + reader->end, READ_BYTES, &got));
    reader->end += got;
    reader->at_end = got == 0;
    return HUDI_OK;
}

hudi_status hd_line_reader_next(struct hd_op *op, hd_line_reader *reader, struct hd_slice *out)
{
    for (;;) {
        const size_t left = reader->end - reader->start;

        if (left == 0 && reader->at_end)
            return HUDI_END;
        if (left == reader->searched && !reader->at_end) {
            HD_TRY(fill(op, reader));
            continue;
        }
        const uint8_t *line = reader->buffer + reader->start;
        const uint8_t *found = memchr(line + reader->searched, '\n', left - reader->searched);

        if (found == NULL && !reader->at_end) {
            reader->searched = left;
            continue;
        }
        size_t n = found == NULL ? left : (size_t)(found - line);
        reader->start += n + (found != NULL);
        reader->searched = 0;
        reader->line++;
        if (n > 0 && line[n - 1] == '\r')
            n--;
        if (reader->line == 1 && n >= sizeof MARK - 1 && memcmp(line, MARK, sizeof MARK - 1) == 0) {
            line += sizeof MARK - 1;
            n -= sizeof MARK - 1;
        }
        *out = hd_slice_of(line, n);
        return HUDI_OK;
    }
}

int64_t hd_line_reader_line(const hd_line_reader *reader)
{
    return reader->line;
}
