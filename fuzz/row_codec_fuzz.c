/* SPDX-License-Identifier: Apache-2.0 */
/* Spilled rows, alone (first byte even) or in a record whose checksum is made right (odd): a row
 * that is read is written and read again to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "arrow/array.h"
#include "base/arena.h"
#include "codec/hash.h"
#include "engine/record/disk_record.h"
#include "engine/record/row_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELD(format_, name_)                                                                      \
    {                                                                                              \
        .format = (format_), .name = (name_), .flags = ARROW_FLAG_NULLABLE                         \
    }
#define PARENT(format_, name_, children_)                                                          \
    {                                                                                              \
        .format = (format_), .name = (name_), .flags = ARROW_FLAG_NULLABLE,                        \
        .n_children = (int64_t)HD_ARRAY_LENGTH(children_), .children = (children_)                 \
    }

static struct ArrowSchema item = FIELD("u", "item");
static struct ArrowSchema *items[] = {&item};
static struct ArrowSchema inner = PARENT("+l", "item", items);
static struct ArrowSchema *inners[] = {&inner};
static struct ArrowSchema pair[] = {FIELD("u", "key"), FIELD("n", "value")};
static struct ArrowSchema *pairs[] = {&pair[0], &pair[1]};
static struct ArrowSchema entries = PARENT("+s", "entries", pairs);
static struct ArrowSchema *maps[] = {&entries};
static struct ArrowSchema fields[] = {
    FIELD("b", "bool"),        FIELD("i", "int"),          FIELD("tsu:UTC", "timestamp"),
    FIELD("f", "float"),       FIELD("u", "string"),       FIELD("w:5", "fixed"),
    FIELD("d:20,2", "money"),  FIELD("ttm", "time"),       PARENT("+l", "lists", inners),
    PARENT("+m", "map", maps), PARENT("+s", "pair", pairs)};
#define N_FIELDS 11
static struct ArrowSchema *columns[N_FIELDS];
static struct ArrowSchema schema = {
    .format = "+s", .name = "", .n_children = N_FIELDS, .children = columns};

/* Read rows until one is bad; the rows as bytes. */
static void rewrite(struct hd_op *op, struct hd_slice bytes, struct hd_str *out)
{
    struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 0);
    struct hd_arena arena = {0};
    struct ArrowArray array;
    struct hd_view view;
    hd_builder *b;

    if (hd_builder_new(op, &schema, &b) != HUDI_OK)
        abort();
    while (hd_cursor_left(&in) > 0 && hd_row_decode(op, &schema, &in, b) == HUDI_OK)
        ;
    hd_op_clear_error(op);
    if (hd_builder_finish(op, b, &array) != HUDI_OK ||
        hd_view_open(op, &arena, &schema, &array, &view) != HUDI_OK ||
        hd_view_validate(op, &view) != HUDI_OK)
        abort();
    for (int64_t i = 0; i < view.length; i++) {
        if (hd_row_encode(op, view.children, N_FIELDS, i, out) != HUDI_OK)
            abort();
    }
    hd_array_clear(&array);
    hd_arena_clear(&arena);
    hd_builder_free(b);
}

static void try_rows(struct hd_op *op, struct hd_slice bytes)
{
    struct hd_str first = {0}, second = {0};

    rewrite(op, bytes, &first);
    rewrite(op, hd_str_slice(&first), &second);
    if (!hd_slice_equal(hd_str_slice(&first), hd_str_slice(&second)))
        abort();
    hd_str_clear(&first);
    hd_str_clear(&second);
}

static void try_record(struct hd_op *op, struct hd_slice bytes)
{
    struct hd_disk_record_reader reader = {0};
    struct hd_str record = {0};
    struct hd_disk_group group;
    const uint32_t crc = hd_crc32(0, bytes.data, bytes.size);
    const uint8_t head[8] = {
        0, 0, 0, 0, (uint8_t)(crc >> 24), (uint8_t)(crc >> 16), (uint8_t)(crc >> 8), (uint8_t)crc};

    if (hd_str_append(op, &record, head, sizeof head) != HUDI_OK ||
        hd_str_append(op, &record, bytes.data, bytes.size) != HUDI_OK)
        abort();
    if (hd_disk_record_decode(op, &reader, hd_cursor_over(record.data, record.size, 0), &group) ==
        HUDI_OK) {
        uint32_t start = 0;
        for (uint32_t i = 0; i < group.n_rows; i++) {
            try_rows(op, hd_slice_of(group.bytes + start, group.ends[i] - start));
            start = group.ends[i];
        }
    }
    hd_op_clear_error(op);
    hd_str_clear(&record);
    hd_disk_record_reader_clear(op, &reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;

    for (int i = 0; i < N_FIELDS; i++)
        columns[i] = &fields[i];
    if (size == 0)
        return 0;
    hd_op_init(&op);
    if (data[0] % 2 == 0)
        try_rows(&op, hd_slice_of(data + 1, size - 1));
    else
        try_record(&op, hd_slice_of(data + 1, size - 1));
    hd_op_clear(&op);
    return 0;
}
