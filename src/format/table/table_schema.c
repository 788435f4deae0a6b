/* SPDX-License-Identifier: Apache-2.0 */
#include "format/table/table_schema.h"

#include <inttypes.h>
#include <stdio.h>

#include "arrow/avro_type.h"
#include "arrow/schema.h"
#include "base/map.h"
#include "codec/avro_schema.h"
#include "format/table/internal.h"

const char *const hd_meta_columns[HD_N_META_COLUMNS] = {
    HD_META_COMMIT_TIME,    HD_META_COMMIT_SEQNO, HD_META_RECORD_KEY,
    HD_META_PARTITION_PATH, HD_META_FILE_NAME,
};

bool hd_is_meta_column(const char *name)
{
    for (size_t i = 0; i < HD_N_META_COLUMNS; i++)
        if (strcmp(hd_meta_columns[i], name) == 0)
            return true;
    return strcmp(name, HD_META_OPERATION) == 0;
}

/* ---- Avro to Arrow ------------------------------------------------------------------------ */

hudi_status hd_table_schema_from_avro(struct hd_op *op, const char *avro_json,
                                      struct ArrowSchema *out)
{
    struct hd_arena arena = {0};
    struct hd_avro_schema *record;

    *out = (struct ArrowSchema){0};
    hudi_status status = hd_avro_schema_parse(op, &arena, hd_slice_text(avro_json), &record);

    if (status == HUDI_OK)
        status = hd_avro_to_arrow(op, record, out);
    hd_arena_clear(&arena);
    return status;
}

/* ---- meta columns ------------------------------------------------------------------------- */

static hudi_status parse_record(struct hd_op *op, struct hd_arena *arena, const char *avro_json,
                                struct hd_avro_schema **out)
{
    HD_TRY(hd_avro_schema_parse(op, arena, hd_slice_text(avro_json), out));
    if ((*out)->type != HD_AVRO_RECORD)
        return hd_fail(op, HUDI_CORRUPT, "table schema is an Avro %s, not a record",
                       hd_avro_type_name((*out)->type));
    return HUDI_OK;
}

static hudi_status add_meta_field(struct hd_op *op, struct hd_arena *arena, const char *name,
                                  struct hd_avro_schema *record)
{
    struct hd_avro_field *field = &record->fields[record->n_fields++];
    struct hd_avro_schema *text;

    HD_TRY(hd_avro_schema_new(op, arena, HD_AVRO_STRING, HD_AVRO_PLAIN, &text));
    *field = (struct hd_avro_field){.name = name, .doc = "", .default_json = "null"};
    return hd_avro_schema_nullable(op, arena, text, &field->schema);
}

static hudi_status replace_meta(struct hd_op *op, struct hd_arena *arena, const char *avro_json,
                                bool add, bool operation_column, struct hd_str *out)
{
    struct hd_avro_schema *record;

    HD_TRY(parse_record(op, arena, avro_json, &record));
    const struct hd_avro_field *old = record->fields;
    const size_t n_old = record->n_fields;

    operation_column = operation_column || hd_avro_schema_field(record, HD_META_OPERATION) != NULL;
    HD_TRY(hd_arena_array(op, arena, n_old + HD_N_META_COLUMNS + 1, sizeof *record->fields,
                          &record->fields));
    record->n_fields = 0;
    for (size_t i = 0; add && i < HD_N_META_COLUMNS; i++)
        HD_TRY(add_meta_field(op, arena, hd_meta_columns[i], record));
    if (add && operation_column)
        HD_TRY(add_meta_field(op, arena, HD_META_OPERATION, record));
    for (size_t i = 0; i < n_old; i++)
        if (!hd_is_meta_column(old[i].name))
            record->fields[record->n_fields++] = old[i];
    if (!add && record->n_fields == n_old) /* not a byte of it changes */
        return hd_str_append_text(op, out, avro_json);
    return hd_avro_schema_format(op, record, out);
}

hudi_status hd_table_schema_add_meta(struct hd_op *op, const char *avro_json, bool operation_column,
                                     struct hd_str *out)
{
    struct hd_arena arena = {0};
    const hudi_status status = replace_meta(op, &arena, avro_json, true, operation_column, out);

    hd_arena_clear(&arena);
    return status;
}

hudi_status hd_table_schema_strip_meta(struct hd_op *op, const char *avro_json, struct hd_str *out)
{
    struct hd_arena arena = {0};
    const hudi_status status = replace_meta(op, &arena, avro_json, false, false, out);

    hd_arena_clear(&arena);
    return status;
}

/* ---- names -------------------------------------------------------------------------------- */

struct name_check {
    struct hd_op *op;
    bool of_table; /* also what Avro has nothing against */
    struct hd_column_path path;
    struct hd_str bad;
    size_t n_bad;
};

#define MAX_LISTED 20

static hudi_status add_bad(struct name_check *check, const char *name, const char *why)
{
    if (check->n_bad++ >= MAX_LISTED)
        return HUDI_OK;
    return hd_str_printf(check->op, &check->bad, "%s\"%.100s\" (%s)", check->n_bad == 1 ? "" : ", ",
                         name, why);
}

static const char *name_of(const struct ArrowSchema *field)
{
    return field->name == NULL ? "" : field->name;
}

/* Equal names; in a table also those that differ in case alone. */
static hudi_status check_equal(struct name_check *check, const struct ArrowSchema *parent)
{
    struct hd_map names = {0};
    struct hd_str key = {0};
    hudi_status status = HUDI_OK;

    for (int64_t i = 0; i < parent->n_children; i++) {
        const char *name = name_of(parent->children[i]);
        struct hd_map_entry *entry;
        bool added;

        key.size = 0;
        HD_TRY_OUT(hd_str_append_text(check->op, &key, name));
        for (size_t j = 0; check->of_table && j < key.size; j++)
            if (key.data[j] >= 'A' && key.data[j] <= 'Z')
                key.data[j] = (char)(key.data[j] + ('a' - 'A'));
        HD_TRY_OUT(hd_map_put(check->op, &names, hd_str_slice(&key), (uint64_t)i, &entry, &added));
        if (!added) {
            const char *other = name_of(parent->children[entry->value]);
            char why[160];

            snprintf(why, sizeof why, "equal to \"%.100s\"%s", other,
                     strcmp(other, name) == 0 ? "" : " but for case");
            HD_TRY_OUT(add_bad(check, name, why));
        }
    }
out:
    hd_map_clear(&names);
    hd_str_clear(&key);
    return status;
}

static hudi_status check_names(struct name_check *check, const struct ArrowSchema *field,
                               bool is_root)
{
    const bool is_struct = strcmp(field->format, "+s") == 0;

    if (check->path.depth > HD_TYPE_MAX_DEPTH)
        return HUDI_OK; /* refused elsewhere */
    if (is_struct)
        HD_TRY(check_equal(check, field));
    for (int64_t i = 0; i < field->n_children; i++) {
        const struct ArrowSchema *child = field->children[i];
        const char *name = name_of(child);
        const size_t mark = hd_column_path_enter(&check->path, name);

        if (is_struct) {
            if (name[0] == '\0')
                HD_TRY(add_bad(check, check->path.text, "empty"));
            else if (!hd_avro_name_valid(hd_slice_text(name)))
                HD_TRY(add_bad(check, check->path.text,
                               "Avro names are letters, digits and _, no digit first"));
            else if (is_root && check->of_table && hd_is_meta_column(name))
                HD_TRY(add_bad(check, check->path.text, "a meta column of Hudi"));
        }
        HD_TRY(check_names(check, child, is_root && !is_struct));
        hd_column_path_leave(&check->path, mark);
    }
    return HUDI_OK;
}

static hudi_status check_all(struct hd_op *op, const struct ArrowSchema *schema, bool of_table)
{
    struct name_check check = {.op = op, .of_table = of_table};
    hudi_status status = check_names(&check, schema, true);

    if (status == HUDI_OK && check.n_bad > MAX_LISTED)
        status = hd_str_printf(op, &check.bad, ", and %zu more", check.n_bad - MAX_LISTED);
    if (status == HUDI_OK && check.n_bad > 0)
        status = hd_fail(op, HUDI_INVALID, "column names that a table cannot have: %s",
                         hd_str_text(&check.bad));
    hd_str_clear(&check.bad);
    return status;
}

hudi_status hd_table_schema_check_names(struct hd_op *op, const struct ArrowSchema *schema)
{
    return check_all(op, schema, true);
}

hudi_status hd_table_schema_check_avro_names(struct hd_op *op, const struct ArrowSchema *schema)
{
    return check_all(op, schema, false);
}
