/* SPDX-License-Identifier: Apache-2.0 */
/* What log_rows.c makes rows of: columns of a schema, deletes, Parquet. */
#include <inttypes.h>

#include "arrow/builder.h"
#include "arrow/java_text.h"
#include "arrow/schema.h"
#include "format/log/log_deletes.h"
#include "format/log/log_rows_internal.h"

/* ---- columns ------------------------------------------------------------------------------ */

/* A record that is used again is walked again, so a short schema may stand for many fields. */
#define MAX_TYPES 20000

struct shower {
    struct hd_arena *arena;
    size_t n_types; /* looked at */
};

static hudi_status shown_type(struct hd_op *op, struct shower *shower, struct hd_avro_schema *type,
                              int depth, struct hd_avro_schema **out);

/* Null beside one type, or one type alone. */
static bool is_nullable_type(const struct hd_avro_schema *type)
{
    return type->n_branches == 1 ||
           (type->n_branches == 2 &&
            (type->branches[0]->type == HD_AVRO_NULL || type->branches[1]->type == HD_AVRO_NULL));
}

static hudi_status shown_union(struct hd_op *op, struct shower *shower, struct hd_avro_schema *type,
                               int depth, struct hd_avro_schema **out)
{
    struct hd_avro_schema *copy;

    *out = NULL;
    if (!is_nullable_type(type))
        return HUDI_OK;
    HD_TRY(hd_arena_alloc(op, shower->arena, sizeof *copy, &copy));
    *copy = *type;
    HD_TRY(hd_arena_array(op, shower->arena, type->n_branches, sizeof *copy->branches,
                          &copy->branches));
    for (size_t i = 0; i < type->n_branches; i++) {
        HD_TRY(shown_type(op, shower, type->branches[i], depth + 1, &copy->branches[i]));
        if (copy->branches[i] == NULL)
            return HUDI_OK;
    }
    *out = copy;
    return HUDI_OK;
}

static hudi_status shown_record(struct hd_op *op, struct shower *shower,
                                struct hd_avro_schema *type, int depth, struct hd_avro_schema **out)
{
    struct hd_avro_schema *copy;

    HD_TRY(hd_arena_alloc(op, shower->arena, sizeof *copy, &copy));
    *copy = *type;
    copy->n_fields = 0;
    HD_TRY(hd_arena_array(op, shower->arena, type->n_fields, sizeof *copy->fields, &copy->fields));
    for (size_t i = 0; i < type->n_fields; i++) {
        struct hd_avro_schema *shown;

        HD_TRY(shown_type(op, shower, type->fields[i].schema, depth + 1, &shown));
        if (shown == NULL) {
            hd_log(op, HD_LOG_WARN, "field %s.%s has values of several types: it is not shown",
                   type->name, type->fields[i].name);
            continue;
        }
        copy->fields[copy->n_fields] = type->fields[i];
        copy->fields[copy->n_fields++].schema = shown;
    }
    *out = copy;
    return HUDI_OK;
}

/* NULL for what no column can hold. A record in itself is deeper than any column goes. */
static hudi_status shown_type(struct hd_op *op, struct shower *shower, struct hd_avro_schema *type,
                              int depth, struct hd_avro_schema **out)
{
    struct hd_avro_schema *copy;

    *out = NULL;
    if (++shower->n_types > MAX_TYPES)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "the schema has more than %d types", MAX_TYPES);
    if (depth > HD_TYPE_MAX_DEPTH)
        return HUDI_OK;
    if (type->type == HD_AVRO_UNION)
        return shown_union(op, shower, type, depth, out);
    if (type->type == HD_AVRO_RECORD)
        return shown_record(op, shower, type, depth, out);
    *out = type;
    if (type->items == NULL)
        return HUDI_OK;
    HD_TRY(hd_arena_alloc(op, shower->arena, sizeof *copy, &copy));
    *copy = *type;
    HD_TRY(shown_type(op, shower, type->items, depth + 1, &copy->items));
    *out = copy->items == NULL ? NULL : copy;
    return HUDI_OK;
}

hudi_status log_rows_columns(struct hd_op *op, struct hd_arena *arena,
                             struct hd_avro_schema *record, struct hd_avro_schema **out)
{
    struct shower shower = {.arena = arena};

    return shown_record(op, &shower, record, 0, out);
}

/* ---- Parquet ------------------------------------------------------------------------------ */

hudi_status log_rows_open_parquet(struct hd_op *op, hd_log_reader *reader,
                                  struct hd_log_block *block, hd_base_reader **out)
{
    hd_input_file *file;

    HD_TRY(hd_log_reader_content(op, reader, block));
    HD_TRY(hd_input_file_of_bytes(op, block->content.data, block->content.size, &file));
    return hd_base_reader_open(op, file, HD_BASE_FILE_PARQUET, out);
}

/* ---- deletes ------------------------------------------------------------------------------ */

enum delete_column { COLUMN_KEY, COLUMN_PATH, COLUMN_TYPE, COLUMN_VALUE, N_COLUMNS };

static hudi_status delete_schema(struct hd_op *op, struct ArrowSchema *out)
{
    static const char *const NAMES[N_COLUMNS] = {"record_key", "partition_path", "ordering_type",
                                                 "ordering_value"};
    static const struct hd_type TEXT = {.id = HD_TYPE_STRING};

    HD_TRY(hd_schema_init_struct(op, out, "", false, N_COLUMNS));
    for (int i = 0; i < N_COLUMNS; i++)
        HD_TRY(hd_schema_init_field(op, out->children[i], NAMES[i], &TEXT, true));
    return HUDI_OK;
}

static hudi_status decimal_text(struct hd_op *op, const struct hd_ordering_value *value,
                                struct hd_str *out)
{
    const struct hd_slice bytes = value->bytes;
    hd_int128 number = bytes.size > 0 && bytes.data[0] >= 0x80 ? -1 : 0;
    char text[HD_JAVA_TEXT_BYTES];

    if (bytes.size > sizeof number || value->scale < -1000 || value->scale > 1000)
        return hd_fail(op, HUDI_CORRUPT,
                       "an ordering value is a decimal of %zu bytes, scale %" PRId32, bytes.size,
                       value->scale);
    for (size_t i = 0; i < bytes.size; i++)
        number = (hd_int128)((hd_uint128)number << 8 | bytes.data[i]);
    return hd_str_append(op, out, text, hd_java_decimal_format(number, value->scale, text));
}

static hudi_status hex_text(struct hd_op *op, struct hd_slice bytes, struct hd_str *out)
{
    for (size_t i = 0; i < bytes.size; i++)
        HD_TRY(hd_str_printf(op, out, "%02x", bytes.data[i]));
    return HUDI_OK;
}

static hudi_status ordering_text(struct hd_op *op, const struct hd_ordering_value *value, int depth,
                                 struct hd_str *out)
{
    char text[HD_JAVA_TEXT_BYTES];

    switch (value->type) {
    case HD_ORDERING_NONE:
        return HUDI_OK;
    case HD_ORDERING_BOOLEAN:
        return hd_str_append_text(op, out, value->integer != 0 ? "true" : "false");
    case HD_ORDERING_INT:
    case HD_ORDERING_LONG:
    case HD_ORDERING_TIME_MICROS:
    case HD_ORDERING_TIMESTAMP_MICROS:
        return hd_str_printf(op, out, "%" PRId64, value->integer);
    case HD_ORDERING_FLOAT:
        return hd_str_append(op, out, text, hd_java_float_format((float)value->real, text));
    case HD_ORDERING_DOUBLE:
        return hd_str_append(op, out, text, hd_java_double_format(value->real, text));
    case HD_ORDERING_STRING:
        return hd_str_append(op, out, value->bytes.data, value->bytes.size);
    case HD_ORDERING_BYTES:
        return hex_text(op, value->bytes, out);
    case HD_ORDERING_DATE:
        return hd_str_append(op, out, text, hd_java_date_format(value->integer, text));
    case HD_ORDERING_DECIMAL:
        return decimal_text(op, value, out);
    case HD_ORDERING_ARRAY:
        break;
    }
    for (size_t i = 0; i < value->n_items && depth == 0; i++) {
        if (i > 0)
            HD_TRY(hd_str_append_text(op, out, ", "));
        HD_TRY(ordering_text(op, &value->items[i], 1, out));
    }
    return HUDI_OK;
}

static hudi_status append_text(struct hd_op *op, hd_builder *rows, enum delete_column column,
                               struct hd_slice text)
{
    hd_builder *const child = hd_builder_child(rows, column);

    return text.data == NULL ? hd_builder_append_null(op, child)
                             : hd_builder_append_bytes(op, child, text);
}

static hudi_status append_deletes(struct hd_op *op, const struct hd_log_deletes *deletes,
                                  hd_builder *rows)
{
    static const struct hd_ordering_value NONE;
    struct hd_str text = {0};
    hudi_status status = HUDI_OK;

    for (size_t i = 0; i < deletes->n; i++) {
        const struct hd_ordering_value *const value =
            deletes->ordering != NULL ? &deletes->ordering[i] : &NONE;
        const bool is_none = value->type == HD_ORDERING_NONE;

        text.size = 0;
        HD_TRY_OUT(hd_str_reserve(op, &text, 1));
        HD_TRY_OUT(ordering_text(op, value, 0, &text));
        HD_TRY_OUT(append_text(op, rows, COLUMN_KEY, deletes->record_keys[i]));
        HD_TRY_OUT(append_text(op, rows, COLUMN_PATH, deletes->partition_paths[i]));
        HD_TRY_OUT(
            append_text(op, rows, COLUMN_TYPE, hd_slice_text(hd_ordering_type_name(value->type))));
        HD_TRY_OUT(append_text(op, rows, COLUMN_VALUE,
                               is_none ? (struct hd_slice){0} : hd_str_slice(&text)));
        HD_TRY_OUT(hd_builder_append_valid(op, rows));
    }
out:
    hd_str_clear(&text);
    return status;
}

hudi_status log_rows_of_deletes(struct hd_op *op, hd_log_reader *reader, struct hd_log_block *block,
                                struct ArrowSchema *schema, struct ArrowArray *out)
{
    struct hd_log_deletes deletes = {0};
    hd_builder *rows = NULL;
    hudi_status status = HUDI_OK;

    HD_TRY(delete_schema(op, schema));
    HD_TRY(hd_log_reader_content(op, reader, block));
    HD_TRY_OUT(hd_log_deletes_decode(op, block->content, block->content_offset, &deletes));
    HD_TRY_OUT(hd_builder_new(op, schema, &rows));
    HD_TRY_OUT(append_deletes(op, &deletes, rows));
    HD_TRY_OUT(hd_builder_finish(op, rows, out));
out:
    hd_builder_free(rows);
    hd_log_deletes_clear(op, &deletes);
    return status;
}
