/* SPDX-License-Identifier: Apache-2.0 */
#include "store/parquet_copy.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked_int.h"

#define MAGIC "PAR1"
#define PIECE_BYTES ((size_t)1 << 20)

enum {
    OFFSET_INDEX_PAGES = 1, /* of OffsetIndex: list of PageLocation */
    PAGE_OFFSET = 1         /* of PageLocation */
};

/* Where a chunk of the row group being put together comes from. */
struct origin {
    hd_input_file *file;
    const struct hd_parquet_footer *footer;
    const struct hd_parquet_chunk *chunk;
    struct hd_parquet_extent pages;
    struct hd_parquet_extent column_index; /* no bytes: none */
    struct hd_slice offset_index;          /* relocated, no bytes: none */
    struct hd_parquet_extent bloom_filter;
};

/* ---- whether ------------------------------------------------------------------------------ */

enum {
    ELEMENT_TYPE = 1,
    ELEMENT_TYPE_LENGTH = 2,
    ELEMENT_REPETITION = 3,
    ELEMENT_NAME = 4,
    ELEMENT_CHILDREN = 5,
    ELEMENT_CONVERTED_TYPE = 6,
    ELEMENT_SCALE = 7,
    ELEMENT_PRECISION = 8,
    ELEMENT_LOGICAL_TYPE = 10
};

/* Older writers give the converted type alone, which then must be ours as well. */
static bool same_annotation(const struct hd_thrift_struct *ours,
                            const struct hd_thrift_struct *theirs)
{
    if (!hd_thrift_same(ours, theirs, ELEMENT_SCALE) ||
        !hd_thrift_same(ours, theirs, ELEMENT_PRECISION))
        return false;
    if (hd_thrift_same(ours, theirs, ELEMENT_LOGICAL_TYPE))
        return hd_thrift_find(ours, ELEMENT_LOGICAL_TYPE) != NULL ||
               hd_thrift_same(ours, theirs, ELEMENT_CONVERTED_TYPE);
    return hd_thrift_find(theirs, ELEMENT_LOGICAL_TYPE) == NULL &&
           hd_thrift_find(theirs, ELEMENT_CONVERTED_TYPE) != NULL &&
           hd_thrift_same(ours, theirs, ELEMENT_CONVERTED_TYPE);
}

static bool same_schema(const struct hd_parquet_footer *ours,
                        const struct hd_parquet_footer *theirs)
{
    static const int16_t EXACT[] = {ELEMENT_TYPE, ELEMENT_TYPE_LENGTH, ELEMENT_REPETITION,
                                    ELEMENT_NAME, ELEMENT_CHILDREN};

    if (ours->n_schema != theirs->n_schema || ours->n_schema == 0 ||
        !hd_thrift_same(&ours->schema[0], &theirs->schema[0], ELEMENT_CHILDREN))
        return false;
    for (size_t i = 1; i < ours->n_schema; i++) {
        for (size_t j = 0; j < HD_ARRAY_LENGTH(EXACT); j++)
            if (!hd_thrift_same(&ours->schema[i], &theirs->schema[i], EXACT[j]))
                return false;
        if (!same_annotation(&ours->schema[i], &theirs->schema[i]))
            return false;
    }
    return true;
}

/*
 * Readers know writers whose statistics, sizes or encodings are wrong by the name in the footer,
 * which would be ours after a copy. These have none of that: Arrow C++ under its present name,
 * parquet-mr since 1.10.
 */
static hudi_status is_sound_writer(struct hd_op *op, const struct hd_parquet_footer *footer,
                                   bool *out)
{
    static const char ARROW[] = "parquet-cpp-arrow version ", JAVA[] = "parquet-mr version 1.";
    struct hd_slice name;

    *out = false;
    const hudi_status found =
        hd_thrift_get_binary(op, &footer->fields, HD_PARQUET_FILE_CREATED_BY, &name);
    if (found == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(found);
    if (hd_slice_starts_with(name, ARROW)) {
        *out = true;
    } else if (hd_slice_starts_with(name, JAVA)) {
        unsigned minor = 0;
        for (size_t i = sizeof JAVA - 1; i < name.size && i < sizeof JAVA + 2; i++) {
            if (name.data[i] < '0' || name.data[i] > '9')
                break;
            minor = minor * 10 + (unsigned)(name.data[i] - '0');
        }
        *out = minor >= 10;
    }
    return HUDI_OK;
}

/* Adds what a copy of the chunk would take, at most, to `*n_bytes`. */
static hudi_status check_chunk(struct hd_op *op, const struct hd_parquet_footer *footer,
                               const struct hd_parquet_chunk *chunk,
                               const struct hd_thrift_struct *leaf, int64_t n_rows,
                               uint64_t *n_bytes, bool *out)
{
    static const int16_t NONE[] = {HD_PARQUET_CHUNK_PATH, HD_PARQUET_CHUNK_CRYPTO,
                                   HD_PARQUET_CHUNK_ENCRYPTED_META};
    struct hd_parquet_extent pages;
    int64_t n_values;

    *out = false;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(NONE); i++)
        if (hd_thrift_find(&chunk->fields, NONE[i]) != NULL)
            return HUDI_OK;
    if (hd_thrift_find(&chunk->meta, HD_PARQUET_META_INDEX_PAGE) != NULL ||
        !hd_thrift_same(leaf, &chunk->meta, HD_PARQUET_META_TYPE) || /* the same number in both */
        !hd_thrift_find_integer(&chunk->meta, HD_PARQUET_META_VALUES, HD_THRIFT_I64, &n_values) ||
        n_values < n_rows)
        return HUDI_OK;
    HD_TRY(hd_parquet_chunk_pages(op, footer, chunk, &pages));
    const struct hd_parquet_extent parts[] = {
        pages, hd_parquet_extent_get(footer, &chunk->fields, HD_PARQUET_CHUNK_COLUMN_INDEX),
        hd_parquet_extent_get(footer, &chunk->fields, HD_PARQUET_CHUNK_OFFSET_INDEX),
        hd_parquet_extent_get(footer, &chunk->meta, HD_PARQUET_META_BLOOM_FILTER)};
    for (size_t i = 0; i < HD_ARRAY_LENGTH(parts); i++)
        HD_TRY(hd_add_size(op, *n_bytes, parts[i].n_bytes, n_bytes));
    *out = true;
    return HUDI_OK;
}

static hudi_status check_row_groups(struct hd_op *op, const struct hd_parquet_footer *footer,
                                    bool *out)
{
    uint64_t n_bytes = 0;

    *out = true;
    for (size_t i = 0; i < footer->n_row_groups && *out; i++) {
        const struct hd_parquet_row_group *group = &footer->row_groups[i];
        size_t chunk = 0;
        for (size_t j = 1; j < footer->n_schema && *out; j++) {
            if (hd_thrift_find(&footer->schema[j], ELEMENT_CHILDREN) != NULL)
                continue;
            *out = chunk < group->n_chunks && group->n_rows >= 0;
            if (*out)
                HD_TRY(check_chunk(op, footer, &group->chunks[chunk++], &footer->schema[j],
                                   group->n_rows, &n_bytes, out));
        }
        *out = *out && chunk == group->n_chunks;
    }
    *out = *out && n_bytes <= footer->data_end;
    return HUDI_OK;
}

hudi_status hd_parquet_can_copy(struct hd_op *op, const struct hd_parquet_footer *ours,
                                const struct hd_parquet_footer *theirs, bool *out)
{
    *out = false;
    if (!same_schema(ours, theirs) ||
        !hd_thrift_same(&ours->fields, &theirs->fields, HD_PARQUET_FILE_COLUMN_ORDERS) ||
        hd_thrift_find(&theirs->fields, HD_PARQUET_FILE_ENCRYPTION) != NULL ||
        hd_thrift_find(&theirs->fields, HD_PARQUET_FILE_SIGNING_KEY) != NULL)
        return HUDI_OK;
    HD_TRY(is_sound_writer(op, theirs, out));
    return *out ? check_row_groups(op, theirs, out) : HUDI_OK;
}

/* ---- bytes -------------------------------------------------------------------------------- */

static hudi_status copy_bytes(struct hd_op *op, struct hd_parquet_assembly *assembly,
                              hd_input_file *file, struct hd_parquet_extent extent)
{
    if (assembly->piece == NULL)
        HD_TRY(hd_alloc_raw(op, PIECE_BYTES, 1, &assembly->piece));
    while (extent.n_bytes > 0) {
        const uint64_t n = hd_min_u64(extent.n_bytes, PIECE_BYTES);

        HD_TRY(hd_op_check_cancel(op));
        HD_TRY(hd_input_file_read_at(op, file, extent.offset, assembly->piece, n));
        HD_TRY(hd_output_file_write(op, assembly->file, assembly->piece, n));
        extent.offset += n;
        extent.n_bytes -= n;
    }
    return HUDI_OK;
}

static hudi_status begin_file(struct hd_op *op, struct hd_parquet_assembly *assembly)
{
    if (hd_output_file_position(assembly->file) > 0)
        return HUDI_OK;
    return hd_output_file_write(op, assembly->file, MAGIC, strlen(MAGIC));
}

/* ---- page indexes ------------------------------------------------------------------------- */

/* HUDI_NOT_FOUND (no error) for an index that speaks of other bytes than the chunk's. */
static hudi_status relocate_page(struct hd_op *op, struct hd_arena *arena, struct hd_cursor *in,
                                 struct hd_parquet_extent pages, uint64_t new_start,
                                 struct hd_str *out)
{
    struct hd_thrift_struct page;
    int64_t offset;

    HD_TRY(hd_thrift_struct_take(op, arena, in, &page));
    HD_TRY(hd_thrift_get_integer(op, &page, PAGE_OFFSET, HD_THRIFT_I64, &offset));
    if (offset < 0 || (uint64_t)offset < pages.offset ||
        (uint64_t)offset - pages.offset >= pages.n_bytes)
        return HUDI_NOT_FOUND;
    HD_TRY(hd_thrift_set_integer(op, arena, &page, PAGE_OFFSET, HD_THRIFT_I64,
                                 (int64_t)(new_start + ((uint64_t)offset - pages.offset))));
    return hd_thrift_append_struct(op, out, &page);
}

static hudi_status relocate_index(struct hd_op *op, struct hd_arena *arena, struct hd_slice bytes,
                                  struct hd_parquet_extent pages, uint64_t new_start,
                                  struct hd_str *list, struct hd_str *out)
{
    struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 0);
    struct hd_thrift_struct index;
    struct hd_slice locations;
    size_t n;

    HD_TRY(hd_thrift_struct_take(op, arena, &in, &index));
    HD_TRY(hd_thrift_get(op, &index, OFFSET_INDEX_PAGES, HD_THRIFT_LIST, &locations));
    in = hd_cursor_over(locations.data, locations.size, 0);
    HD_TRY(hd_thrift_list_take(op, &in, HD_THRIFT_STRUCT, 1, &n));
    HD_TRY(hd_thrift_append_list(op, list, HD_THRIFT_STRUCT, n));
    for (size_t i = 0; i < n; i++)
        HD_TRY(relocate_page(op, arena, &in, pages, new_start, list));
    HD_TRY(
        hd_thrift_set(op, arena, &index, OFFSET_INDEX_PAGES, HD_THRIFT_LIST, hd_str_slice(list)));
    return hd_thrift_append_struct(op, out, &index);
}

/* The chunk's offset index with the page offsets of the copy; none where it makes no sense. */
static hudi_status take_offset_index(struct hd_op *op, struct hd_arena *arena,
                                     struct origin *origin, uint64_t new_start)
{
    hudi_status status = HUDI_OK;
    const struct hd_parquet_extent extent = hd_parquet_extent_get(
        origin->footer, &origin->chunk->fields, HD_PARQUET_CHUNK_OFFSET_INDEX);
    struct hd_str list = {0}, text = {0};
    uint8_t *bytes;
    char *kept;

    if (extent.n_bytes == 0)
        return HUDI_OK;
    HD_TRY_OUT(hd_arena_alloc(op, arena, extent.n_bytes, &bytes));
    HD_TRY_OUT(hd_input_file_read_at(op, origin->file, extent.offset, bytes, extent.n_bytes));
    HD_TRY_OUT(relocate_index(op, arena, hd_slice_of(bytes, extent.n_bytes), origin->pages,
                              new_start, &list, &text));
    HD_TRY_OUT(hd_arena_strndup(op, arena, text.data, text.size, &kept));
    origin->offset_index = hd_slice_of(kept, text.size);
out:
    hd_str_clear(&list);
    hd_str_clear(&text);
    if (status == HUDI_NOT_FOUND)
        return HUDI_OK;
    if (status == HUDI_CORRUPT || status == HUDI_NOT_IMPLEMENTED) {
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    return status;
}

/* Append `extent` (or `bytes`) and note it in `fields`, or note that there is none. */
static hudi_status put_part(struct hd_op *op, struct hd_parquet_assembly *assembly,
                            hd_input_file *file, struct hd_parquet_extent extent,
                            struct hd_slice bytes, struct hd_thrift_struct *fields, int16_t id)
{
    const uint64_t offset = hd_output_file_position(assembly->file);
    const uint64_t n_bytes = file == NULL ? bytes.size : extent.n_bytes;
    struct hd_arena *arena = &assembly->arena;

    if (n_bytes == 0) {
        hd_thrift_remove(fields, id);
        hd_thrift_remove(fields, (int16_t)(id + 1));
        return HUDI_OK;
    }
    if (file != NULL)
        HD_TRY(copy_bytes(op, assembly, file, extent));
    else
        HD_TRY(hd_output_file_write(op, assembly->file, bytes.data, bytes.size));
    HD_TRY(hd_thrift_set_integer(op, arena, fields, id, HD_THRIFT_I64, (int64_t)offset));
    return hd_thrift_set_integer(op, arena, fields, (int16_t)(id + 1), HD_THRIFT_I32,
                                 (int64_t)n_bytes);
}

/* ---- row groups --------------------------------------------------------------------------- */

static hudi_status shift(struct hd_op *op, struct hd_arena *arena, struct hd_thrift_struct *fields,
                         int16_t id, uint64_t old_start, uint64_t new_start)
{
    int64_t offset;

    if (!hd_thrift_find_integer(fields, id, HD_THRIFT_I64, &offset) || offset <= 0)
        return HUDI_OK;
    return hd_thrift_set_integer(op, arena, fields, id, HD_THRIFT_I64,
                                 (int64_t)((uint64_t)offset - old_start + new_start));
}

/* The pages of a chunk into the file; `out` is the chunk as the new footer has it. */
static hudi_status copy_pages(struct hd_op *op, struct hd_parquet_assembly *assembly,
                              struct origin *origin, struct hd_parquet_chunk *out)
{
    struct hd_arena *arena = &assembly->arena;
    const uint64_t start = hd_output_file_position(assembly->file);
    int64_t offset;

    HD_TRY(hd_parquet_chunk_pages(op, origin->footer, origin->chunk, &origin->pages));
    HD_TRY(copy_bytes(op, assembly, origin->file, origin->pages));
    HD_TRY(hd_thrift_struct_copy(op, arena, &origin->chunk->fields, &out->fields));
    HD_TRY(hd_thrift_struct_copy(op, arena, &origin->chunk->meta, &out->meta));
    HD_TRY(shift(op, arena, &out->meta, HD_PARQUET_META_DATA_PAGE, origin->pages.offset, start));
    HD_TRY(
        shift(op, arena, &out->meta, HD_PARQUET_META_DICTIONARY_PAGE, origin->pages.offset, start));
    /* Deprecated; writers put the chunk's start, or the end of its pages, or 0. */
    if (hd_thrift_find_integer(&out->fields, HD_PARQUET_CHUNK_OFFSET, HD_THRIFT_I64, &offset) &&
        offset != 0)
        HD_TRY(hd_thrift_set_integer(op, arena, &out->fields, HD_PARQUET_CHUNK_OFFSET,
                                     HD_THRIFT_I64, (int64_t)start));
    HD_TRY(take_offset_index(op, arena, origin, start));
    if (origin->offset_index.size > 0)
        origin->column_index = hd_parquet_extent_get(origin->footer, &origin->chunk->fields,
                                                     HD_PARQUET_CHUNK_COLUMN_INDEX);
    origin->bloom_filter =
        hd_parquet_extent_get(origin->footer, &origin->chunk->meta, HD_PARQUET_META_BLOOM_FILTER);
    return HUDI_OK;
}

static hudi_status copy_parts(struct hd_op *op, struct hd_parquet_assembly *assembly,
                              const struct origin *origins, const struct hd_parquet_row_group *to)
{
    const struct hd_slice none = {0};
    const struct hd_parquet_extent nowhere = {0};

    for (size_t i = 0; i < to->n_chunks; i++)
        HD_TRY(put_part(op, assembly, origins[i].file, origins[i].column_index, none,
                        &to->chunks[i].fields, HD_PARQUET_CHUNK_COLUMN_INDEX));
    for (size_t i = 0; i < to->n_chunks; i++)
        HD_TRY(put_part(op, assembly, NULL, nowhere, origins[i].offset_index, &to->chunks[i].fields,
                        HD_PARQUET_CHUNK_OFFSET_INDEX));
    for (size_t i = 0; i < to->n_chunks; i++)
        HD_TRY(put_part(op, assembly, origins[i].file, origins[i].bloom_filter, none,
                        &to->chunks[i].meta, HD_PARQUET_META_BLOOM_FILTER));
    return HUDI_OK;
}

/* Set a total of the row group, if it has one, to the sum over its chunks. */
static hudi_status sum_chunks(struct hd_op *op, struct hd_arena *arena,
                              struct hd_parquet_row_group *group, int16_t group_id, int16_t meta_id)
{
    int64_t total = 0;

    if (hd_thrift_find(&group->fields, group_id) == NULL)
        return HUDI_OK;
    for (size_t i = 0; i < group->n_chunks; i++) {
        int64_t n;
        if (!hd_thrift_find_integer(&group->chunks[i].meta, meta_id, HD_THRIFT_I64, &n) || n < 0 ||
            __builtin_add_overflow(total, n, &total))
            return hd_fail(op, HUDI_CORRUPT, "the size of a column chunk is missing or wrong");
    }
    return hd_thrift_set_integer(op, arena, &group->fields, group_id, HD_THRIFT_I64, total);
}

/* Append a row group to the footer to be. */
static hudi_status add_row_group(struct hd_op *op, struct hd_parquet_assembly *assembly,
                                 struct hd_parquet_row_group *group)
{
    struct hd_thrift_struct *fields = &group->fields;

    if (assembly->n_row_groups > INT16_MAX)
        hd_thrift_remove(fields, HD_PARQUET_GROUP_ORDINAL);
    else if (hd_thrift_find(fields, HD_PARQUET_GROUP_ORDINAL) != NULL)
        HD_TRY(hd_thrift_set_integer(op, &assembly->arena, fields, HD_PARQUET_GROUP_ORDINAL,
                                     HD_THRIFT_I16, (int64_t)assembly->n_row_groups));
    HD_TRY(hd_parquet_row_group_format(op, group, &assembly->row_groups));
    assembly->n_row_groups++;
    if (__builtin_add_overflow(assembly->n_rows, group->n_rows, &assembly->n_rows))
        return hd_fail(op, HUDI_CORRUPT, "more rows than fit 64 bits");
    return HUDI_OK;
}

static hudi_status copy_group(struct hd_op *op, struct hd_parquet_assembly *assembly,
                              const struct hd_parquet_row_group *from, struct origin *origins,
                              bool any_replaced)
{
    struct hd_arena *arena = &assembly->arena;
    struct hd_parquet_row_group to = {.n_chunks = from->n_chunks, .n_rows = from->n_rows};
    const uint64_t start = hd_output_file_position(assembly->file);

    HD_TRY(hd_thrift_struct_copy(op, arena, &from->fields, &to.fields));
    HD_TRY(hd_arena_array(op, arena, to.n_chunks, sizeof *to.chunks, &to.chunks));
    for (size_t i = 0; i < to.n_chunks; i++)
        HD_TRY(copy_pages(op, assembly, &origins[i], &to.chunks[i]));
    HD_TRY(copy_parts(op, assembly, origins, &to));
    if (hd_thrift_find(&to.fields, HD_PARQUET_GROUP_OFFSET) != NULL)
        HD_TRY(hd_thrift_set_integer(op, arena, &to.fields, HD_PARQUET_GROUP_OFFSET, HD_THRIFT_I64,
                                     (int64_t)start));
    if (any_replaced) {
        HD_TRY(sum_chunks(op, arena, &to, HD_PARQUET_GROUP_BYTES, HD_PARQUET_META_BYTES));
        HD_TRY(sum_chunks(op, arena, &to, HD_PARQUET_GROUP_COMPRESSED_BYTES,
                          HD_PARQUET_META_COMPRESSED_BYTES));
    }
    return add_row_group(op, assembly, &to);
}

/* A replaced column's file. */
struct small_file {
    hd_input_file *file;
    struct hd_parquet_footer footer;
};

static hudi_status open_small_file(struct hd_op *op, struct hd_slice bytes, int64_t n_rows,
                                   struct small_file *out)
{
    HD_TRY(hd_input_file_of_bytes(op, bytes.data, bytes.size, &out->file));
    HD_TRY(hd_parquet_footer_read(op, out->file, &out->footer));
    const struct hd_parquet_row_group *group = out->footer.row_groups;
    if (out->footer.n_row_groups != 1 || group->n_chunks != 1 || group->n_rows != n_rows)
        return hd_fail(op, HUDI_INTERNAL,
                       "a column to be replaced came as %zu row groups of %" PRId64
                       " rows instead of one of %" PRId64,
                       out->footer.n_row_groups, group == NULL ? 0 : group->n_rows, n_rows);
    return HUDI_OK;
}

hudi_status hd_parquet_assembly_copy(struct hd_op *op, struct hd_parquet_assembly *assembly,
                                     hd_input_file *file, const struct hd_parquet_footer *source,
                                     size_t row_group,
                                     const struct hd_parquet_replacement *replaced,
                                     size_t n_replaced)
{
    hudi_status status = HUDI_OK;
    const struct hd_parquet_row_group *group = &source->row_groups[row_group];
    struct small_file *small = NULL;
    struct origin *origins;

    hd_arena_reset(&assembly->arena);
    HD_TRY_OUT(begin_file(op, assembly));
    HD_TRY_OUT(hd_alloc_array(op, n_replaced, sizeof *small, &small));
    HD_TRY_OUT(hd_arena_array(op, &assembly->arena, group->n_chunks, sizeof *origins, &origins));
    for (size_t i = 0; i < group->n_chunks; i++)
        origins[i] = (struct origin){.file = file, .footer = source, .chunk = &group->chunks[i]};
    for (size_t i = 0; i < n_replaced; i++) {
        HD_TRY_OUT(open_small_file(op, replaced[i].file, group->n_rows, &small[i]));
        origins[replaced[i].chunk] = (struct origin){.file = small[i].file,
                                                     .footer = &small[i].footer,
                                                     .chunk = small[i].footer.row_groups->chunks};
    }
    HD_TRY_OUT(copy_group(op, assembly, group, origins, n_replaced > 0));
out:
    for (size_t i = 0; small != NULL && i < n_replaced; i++) {
        hd_input_file_close(small[i].file);
        hd_parquet_footer_clear(&small[i].footer);
    }
    hd_free(op, small);
    return status;
}

hudi_status hd_parquet_assembly_section(struct hd_op *op, struct hd_parquet_assembly *assembly,
                                        struct hd_slice tail)
{
    hudi_status status = HUDI_OK;
    const uint64_t offset = hd_output_file_position(assembly->file);
    struct hd_parquet_footer footer;

    hd_arena_reset(&assembly->arena);
    HD_TRY(hd_parquet_footer_of_tail(op, tail, offset, &footer));
    HD_TRY_OUT(hd_output_file_write(op, assembly->file, tail.data, footer.data_end - offset));
    for (size_t i = 0; i < footer.n_row_groups; i++)
        HD_TRY_OUT(add_row_group(op, assembly, &footer.row_groups[i]));
out:
    hd_parquet_footer_clear(&footer);
    return status;
}

hudi_status hd_parquet_assembly_finish(struct hd_op *op, struct hd_parquet_assembly *assembly,
                                       struct hd_slice empty_file)
{
    hudi_status status = HUDI_OK;
    struct hd_parquet_footer footer;
    struct hd_str tail = {0};

    HD_TRY(begin_file(op, assembly));
    HD_TRY(hd_parquet_footer_of_tail(op, empty_file, 0, &footer));
    HD_TRY_OUT(hd_parquet_footer_tail(op, &footer, hd_str_slice(&assembly->row_groups),
                                      assembly->n_row_groups, assembly->n_rows, &tail));
    HD_TRY_OUT(hd_output_file_write(op, assembly->file, tail.data, tail.size));
out:
    hd_parquet_footer_clear(&footer);
    hd_str_clear(&tail);
    return status;
}

void hd_parquet_assembly_clear(struct hd_op *op, struct hd_parquet_assembly *assembly)
{
    hd_str_clear(&assembly->row_groups);
    hd_arena_clear(&assembly->arena);
    hd_free(op, assembly->piece);
    *assembly = (struct hd_parquet_assembly){0};
}
