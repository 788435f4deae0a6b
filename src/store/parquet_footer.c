/* SPDX-License-Identifier: Apache-2.0 */
#include "store/parquet_footer.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC "PAR1"
#define ENCRYPTED_MAGIC "PARE"
#define MAGIC_BYTES 4
#define TRAILER_BYTES (4 + MAGIC_BYTES) /* of the length and the magic */

/* The least that the required fields of a struct take: what memory a hostile count can ask for. */
#define MIN_ELEMENT_BYTES 3
#define MIN_ROW_GROUP_BYTES 7
#define MIN_CHUNK_BYTES 3

enum { ELEMENT_REPETITION = 3, ELEMENT_CHILDREN = 5, REPEATED = 2 };

/* ---- parsing ------------------------------------------------------------------------------ */

static struct hd_cursor over_value(struct hd_slice value)
{
    return hd_cursor_over(value.data, value.size, 0);
}

static hudi_status required(struct hd_op *op, hudi_status status, const char *what)
{
    return status == HUDI_NOT_FOUND ? hd_fail(op, HUDI_CORRUPT, "parquet footer without %s", what)
                                    : status;
}

static hudi_status parse_schema(struct hd_op *op, struct hd_parquet_footer *footer)
{
    struct hd_slice list;

    HD_TRY(required(
        op, hd_thrift_get(op, &footer->fields, HD_PARQUET_FILE_SCHEMA, HD_THRIFT_LIST, &list),
        "schema"));
    struct hd_cursor in = over_value(list);
    HD_TRY(hd_thrift_list_take(op, &in, HD_THRIFT_STRUCT, MIN_ELEMENT_BYTES, &footer->n_schema));
    HD_TRY(hd_arena_array(op, &footer->arena, footer->n_schema, sizeof *footer->schema,
                          &footer->schema));
    for (size_t i = 0; i < footer->n_schema; i++)
        HD_TRY(hd_thrift_struct_take(op, &footer->arena, &in, &footer->schema[i]));
    return HUDI_OK;
}

static hudi_status parse_chunk(struct hd_op *op, struct hd_arena *arena, struct hd_cursor *in,
                               struct hd_parquet_chunk *out)
{
    struct hd_slice meta;

    HD_TRY(hd_thrift_struct_take(op, arena, in, &out->fields));
    const hudi_status found =
        hd_thrift_get(op, &out->fields, HD_PARQUET_CHUNK_META, HD_THRIFT_STRUCT, &meta);
    if (found == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(found);
    struct hd_cursor at = over_value(meta);
    return hd_thrift_struct_take(op, arena, &at, &out->meta);
}

static hudi_status parse_row_group(struct hd_op *op, struct hd_arena *arena, struct hd_cursor *in,
                                   struct hd_parquet_row_group *out)
{
    struct hd_slice list;

    HD_TRY(hd_thrift_struct_take(op, arena, in, &out->fields));
    HD_TRY(required(
        op,
        hd_thrift_get_integer(op, &out->fields, HD_PARQUET_GROUP_ROWS, HD_THRIFT_I64, &out->n_rows),
        "the rows of a row group"));
    HD_TRY(required(
        op, hd_thrift_get(op, &out->fields, HD_PARQUET_GROUP_COLUMNS, HD_THRIFT_LIST, &list),
        "the columns of a row group"));
    struct hd_cursor chunks = over_value(list);
    HD_TRY(hd_thrift_list_take(op, &chunks, HD_THRIFT_STRUCT, MIN_CHUNK_BYTES, &out->n_chunks));
    HD_TRY(hd_arena_array(op, arena, out->n_chunks, sizeof *out->chunks, &out->chunks));
    for (size_t i = 0; i < out->n_chunks; i++)
        HD_TRY(parse_chunk(op, arena, &chunks, &out->chunks[i]));
    return HUDI_OK;
}

static hudi_status parse_row_groups(struct hd_op *op, struct hd_parquet_footer *footer)
{
    struct hd_slice list;

    HD_TRY(required(
        op, hd_thrift_get(op, &footer->fields, HD_PARQUET_FILE_ROW_GROUPS, HD_THRIFT_LIST, &list),
        "row groups"));
    struct hd_cursor in = over_value(list);
    HD_TRY(
        hd_thrift_list_take(op, &in, HD_THRIFT_STRUCT, MIN_ROW_GROUP_BYTES, &footer->n_row_groups));
    HD_TRY(hd_arena_array(op, &footer->arena, footer->n_row_groups, sizeof *footer->row_groups,
                          &footer->row_groups));
    for (size_t i = 0; i < footer->n_row_groups; i++)
        HD_TRY(parse_row_group(op, &footer->arena, &in, &footer->row_groups[i]));
    return HUDI_OK;
}

/* Length of the FileMetaData from the file's last bytes, of which there are `n_bytes` in the file.
 */
static hudi_status parse_trailer(struct hd_op *op, const uint8_t trailer[TRAILER_BYTES],
                                 uint64_t n_bytes, uint32_t *n_footer)
{
    struct hd_cursor in = hd_cursor_over(trailer, TRAILER_BYTES, n_bytes - TRAILER_BYTES);

    HD_TRY(hd_cursor_u32le(op, &in, n_footer));
    if (memcmp(in.at, ENCRYPTED_MAGIC, MAGIC_BYTES) == 0)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "encrypted parquet footer");
    HD_TRY(hd_cursor_expect(op, &in, MAGIC, MAGIC_BYTES));
    if (*n_footer > n_bytes - TRAILER_BYTES)
        return hd_fail(op, HUDI_CORRUPT, "parquet footer of %" PRIu32 " bytes in %" PRIu64 " bytes",
                       *n_footer, n_bytes);
    return HUDI_OK;
}

/* The arena of `footer` may hold the bytes already. */
static hudi_status parse(struct hd_op *op, struct hd_slice bytes, uint64_t offset,
                         struct hd_parquet_footer *footer)
{
    struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, offset);

    footer->data_end = offset;
    HD_TRY(hd_thrift_struct_take(op, &footer->arena, &in, &footer->fields));
    HD_TRY(parse_schema(op, footer));
    return parse_row_groups(op, footer);
}

hudi_status hd_parquet_footer_of_tail(struct hd_op *op, struct hd_slice tail, uint64_t offset,
                                      struct hd_parquet_footer *out)
{
    hudi_status status = HUDI_OK;
    uint32_t n_footer;

    *out = (struct hd_parquet_footer){0};
    if (tail.size < TRAILER_BYTES)
        return hd_fail(op, HUDI_CORRUPT, "%zu bytes are no parquet file", tail.size);
    HD_TRY(parse_trailer(op, tail.data + (tail.size - TRAILER_BYTES), tail.size, &n_footer));
    const size_t start = tail.size - TRAILER_BYTES - n_footer;
    status = parse(op, hd_slice_of(tail.data + start, n_footer), offset + start, out);
    if (status != HUDI_OK)
        hd_parquet_footer_clear(out);
    return status;
}

hudi_status hd_parquet_footer_read(struct hd_op *op, hd_input_file *file,
                                   struct hd_parquet_footer *out)
{
    hudi_status status = HUDI_OK;
    const uint64_t n_file = hd_input_file_size(file);
    uint8_t trailer[TRAILER_BYTES], *bytes;
    uint32_t n_footer;

    *out = (struct hd_parquet_footer){0};
    if (n_file < MAGIC_BYTES + TRAILER_BYTES)
        return hd_fail(op, HUDI_CORRUPT, "%" PRIu64 " bytes are no parquet file", n_file);
    HD_TRY(hd_input_file_read_at(op, file, n_file - TRAILER_BYTES, trailer, TRAILER_BYTES));
    HD_TRY(parse_trailer(op, trailer, n_file, &n_footer));
    const uint64_t offset = n_file - TRAILER_BYTES - n_footer;
    HD_TRY_OUT(hd_arena_alloc(op, &out->arena, n_footer, &bytes));
    HD_TRY_OUT(hd_input_file_read_at(op, file, offset, bytes, n_footer));
    HD_TRY_OUT(parse(op, hd_slice_of(bytes, n_footer), offset, out));
out:
    if (status != HUDI_OK)
        hd_parquet_footer_clear(out);
    return status;
}

void hd_parquet_footer_clear(struct hd_parquet_footer *footer)
{
    hd_arena_clear(&footer->arena);
    *footer = (struct hd_parquet_footer){0};
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Append `fields` with the value of field `id` taken from `value`. */
static hudi_status append_with(struct hd_op *op, struct hd_str *out,
                               const struct hd_thrift_struct *fields, int16_t id,
                               struct hd_slice value)
{
    struct hd_thrift_field changed[HD_THRIFT_MAX_FIELDS];
    const struct hd_thrift_struct in = {changed, fields->n_fields};

    memcpy(changed, fields->fields, fields->n_fields * sizeof *changed);
    for (size_t i = 0; i < fields->n_fields; i++)
        if (changed[i].id == id)
            changed[i].value = value;
    return hd_thrift_append_struct(op, out, &in);
}

static hudi_status append_chunk(struct hd_op *op, const struct hd_parquet_chunk *chunk,
                                struct hd_str *scratch, struct hd_str *out)
{
    scratch->size = 0;
    HD_TRY(hd_thrift_append_struct(op, scratch, &chunk->meta));
    return append_with(op, out, &chunk->fields, HD_PARQUET_CHUNK_META, hd_str_slice(scratch));
}

hudi_status hd_parquet_row_group_format(struct hd_op *op, const struct hd_parquet_row_group *group,
                                        struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_str chunks = {0}, scratch = {0};

    HD_TRY_OUT(hd_thrift_append_list(op, &chunks, HD_THRIFT_STRUCT, group->n_chunks));
    for (size_t i = 0; i < group->n_chunks; i++)
        HD_TRY_OUT(append_chunk(op, &group->chunks[i], &scratch, &chunks));
    HD_TRY_OUT(
        append_with(op, out, &group->fields, HD_PARQUET_GROUP_COLUMNS, hd_str_slice(&chunks)));
out:
    hd_str_clear(&chunks);
    hd_str_clear(&scratch);
    return status;
}

static hudi_status format_with(struct hd_op *op, struct hd_parquet_footer *footer,
                               struct hd_slice row_groups, size_t n_row_groups, struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_str list = {0};

    HD_TRY_OUT(hd_thrift_append_list(op, &list, HD_THRIFT_STRUCT, n_row_groups));
    HD_TRY_OUT(hd_str_append(op, &list, row_groups.data, row_groups.size));
    HD_TRY_OUT(
        append_with(op, out, &footer->fields, HD_PARQUET_FILE_ROW_GROUPS, hd_str_slice(&list)));
out:
    hd_str_clear(&list);
    return status;
}

hudi_status hd_parquet_footer_format(struct hd_op *op, struct hd_parquet_footer *footer,
                                     struct hd_str *out)
{
    hudi_status status = HUDI_OK;
    struct hd_str row_groups = {0};

    for (size_t i = 0; i < footer->n_row_groups; i++)
        HD_TRY_OUT(hd_parquet_row_group_format(op, &footer->row_groups[i], &row_groups));
    HD_TRY_OUT(format_with(op, footer, hd_str_slice(&row_groups), footer->n_row_groups, out));
out:
    hd_str_clear(&row_groups);
    return status;
}

hudi_status hd_parquet_footer_tail(struct hd_op *op, struct hd_parquet_footer *footer,
                                   struct hd_slice row_groups, size_t n_row_groups, int64_t n_rows,
                                   struct hd_str *out)
{
    const size_t before = out->size;

    HD_TRY(hd_thrift_set_integer(op, &footer->arena, &footer->fields, HD_PARQUET_FILE_ROWS,
                                 HD_THRIFT_I64, n_rows));
    HD_TRY(format_with(op, footer, row_groups, n_row_groups, out));
    const size_t n = out->size - before;
    if (n > INT32_MAX)
        return hd_fail(op, HUDI_INVALID, "a parquet footer of %zu bytes, more than fits", n);
    const uint8_t length[] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16),
                              (uint8_t)(n >> 24)};
    HD_TRY(hd_str_append(op, out, length, sizeof length));
    return hd_str_append(op, out, MAGIC, MAGIC_BYTES);
}

/* ---- what it says ------------------------------------------------------------------------- */

static bool is_within(const struct hd_parquet_footer *footer, int64_t offset, int64_t n_bytes)
{
    return offset >= MAGIC_BYTES && n_bytes > 0 && (uint64_t)offset < footer->data_end &&
           (uint64_t)n_bytes <= footer->data_end - (uint64_t)offset;
}

hudi_status hd_parquet_chunk_pages(struct hd_op *op, const struct hd_parquet_footer *footer,
                                   const struct hd_parquet_chunk *chunk,
                                   struct hd_parquet_extent *out)
{
    int64_t data, dictionary, n_bytes;

    *out = (struct hd_parquet_extent){0};
    HD_TRY(required(
        op,
        hd_thrift_get_integer(op, &chunk->meta, HD_PARQUET_META_DATA_PAGE, HD_THRIFT_I64, &data),
        "the offset of a column chunk"));
    HD_TRY(required(op,
                    hd_thrift_get_integer(op, &chunk->meta, HD_PARQUET_META_COMPRESSED_BYTES,
                                          HD_THRIFT_I64, &n_bytes),
                    "the size of a column chunk"));
    const hudi_status found = hd_thrift_get_integer(
        op, &chunk->meta, HD_PARQUET_META_DICTIONARY_PAGE, HD_THRIFT_I64, &dictionary);
    if (found != HUDI_OK && found != HUDI_NOT_FOUND)
        return found;
    if (found != HUDI_OK || dictionary <= 0) /* some writers put a 0 */
        dictionary = data;
    const int64_t start = dictionary < data ? dictionary : data;
    const int64_t last = dictionary < data ? data : dictionary;
    if (!is_within(footer, start, n_bytes) || last - start >= n_bytes)
        return hd_fail(op, HUDI_CORRUPT,
                       "column chunk of %" PRId64 " bytes with pages at bytes %" PRId64
                       " and %" PRId64 " is not between bytes %d and %" PRIu64,
                       n_bytes, start, last, MAGIC_BYTES, footer->data_end);
    *out = (struct hd_parquet_extent){(uint64_t)start, (uint64_t)n_bytes};
    return HUDI_OK;
}

struct hd_parquet_extent hd_parquet_extent_get(const struct hd_parquet_footer *footer,
                                               const struct hd_thrift_struct *fields,
                                               int16_t offset_id)
{
    int64_t offset, n_bytes;

    if (!hd_thrift_find_integer(fields, offset_id, HD_THRIFT_I64, &offset) ||
        !hd_thrift_find_integer(fields, (int16_t)(offset_id + 1), HD_THRIFT_I32, &n_bytes) ||
        !is_within(footer, offset, n_bytes))
        return (struct hd_parquet_extent){0};
    return (struct hd_parquet_extent){(uint64_t)offset, (uint64_t)n_bytes};
}

/* Children of a schema element, 0 of a leaf. */
static hudi_status children_of(struct hd_op *op, const struct hd_parquet_footer *footer, size_t i,
                               int64_t *n)
{
    const hudi_status found =
        hd_thrift_get_integer(op, &footer->schema[i], ELEMENT_CHILDREN, HD_THRIFT_I32, n);

    if (found == HUDI_OK && *n < 0)
        return hd_fail(op, HUDI_CORRUPT, "%" PRId64 " children of a parquet schema element", *n);
    return found == HUDI_NOT_FOUND ? HUDI_OK : found;
}

hudi_status hd_parquet_flat_column(struct hd_op *op, const struct hd_parquet_footer *footer,
                                   int32_t column, size_t *chunk)
{
    size_t at = 1, n_leaves = 0;
    int64_t n_children, repetition;

    *chunk = 0;
    for (int32_t i = 0; i < column; i++) {
        for (int64_t left = 1; left > 0; left--, at++) { /* the subtree */
            if (at >= footer->n_schema)
                return HUDI_NOT_FOUND;
            HD_TRY(children_of(op, footer, at, &n_children));
            n_leaves += n_children == 0;
            left += n_children;
        }
    }
    if (at >= footer->n_schema)
        return HUDI_NOT_FOUND;
    HD_TRY(children_of(op, footer, at, &n_children));
    HD_TRY(hd_thrift_get_integer(op, &footer->schema[at], ELEMENT_REPETITION, HD_THRIFT_I32,
                                 &repetition));
    if (n_children > 0 || repetition == REPEATED)
        return HUDI_NOT_FOUND;
    *chunk = n_leaves;
    return HUDI_OK;
}
