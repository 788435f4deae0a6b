/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/schema.h"
#include "engine/record/internal_schema_internal.h"

/* The schema that a file was written by, and the newest one, joined by column ids. */

const struct hd_internal_field *hd_internal_field_by_id(const struct hd_internal_field *parent,
                                                        int64_t id)
{
    for (size_t i = 0; i < parent->n_children; i++) {
        if (parent->children[i].id == id)
            return &parent->children[i];
    }
    return NULL;
}

const struct hd_internal_field *hd_internal_field_by_name(const struct hd_internal_field *parent,
                                                          const char *name)
{
    for (size_t i = 0; i < parent->n_children; i++) {
        if (strcmp(parent->children[i].name, name) == 0)
            return &parent->children[i];
    }
    return NULL;
}

hudi_status hd_internal_schema_file_names(struct hd_op *op, const hd_internal_schema *newest,
                                          const hd_internal_schema *file_schema,
                                          const struct ArrowSchema *target, const char ***out)
{
    const char **names = NULL;

    *out = NULL;
    HD_TRY(hd_alloc_array(op, (size_t)target->n_children, sizeof(*names), &names));
    for (int64_t i = 0; i < target->n_children; i++) {
        const char *wanted = target->children[i]->name;
        const struct hd_internal_field *column = hd_internal_field_by_name(&newest->root, wanted);

        if (column == NULL) { /* not one of the table's: a column the reader adds */
            names[i] = wanted;
            continue;
        }
        const struct hd_internal_field *in_file =
            hd_internal_field_by_id(&file_schema->root, column->id);

        names[i] = in_file == NULL ? NULL : in_file->name;
    }
    *out = names;
    return HUDI_OK;
}

/* ---- renaming a file's columns ------------------------------------------------------------ */

/* No column that anybody asks for has this name: Avro does not allow it. */
#define GONE "-"

static hudi_status rename_field(struct hd_op *op, const struct hd_internal_field *newest,
                                const struct hd_internal_field *in_file,
                                const struct ArrowSchema *file, const char *name,
                                struct ArrowSchema *out);

/* The fields of a record, of the root too. */
static hudi_status rename_record(struct hd_op *op, const struct hd_internal_field *newest,
                                 const struct hd_internal_field *in_file,
                                 const struct ArrowSchema *file, const char *name,
                                 struct ArrowSchema *out)
{
    HD_TRY(hd_schema_init_struct(op, out, name, hd_schema_nullable(file), file->n_children));
    for (int64_t i = 0; i < file->n_children; i++) {
        const struct ArrowSchema *child = file->children[i];
        const struct hd_internal_field *old = hd_internal_field_by_name(in_file, child->name);
        const struct hd_internal_field *now =
            old == NULL ? NULL : hd_internal_field_by_id(newest, old->id);
        const char *new_name = now == NULL ? GONE : now->name;

        if (old == NULL) /* the file has what its schema does not name, as _hoodie_operation */
            new_name = hd_internal_field_by_name(newest, child->name) == NULL ? child->name : GONE;
        HD_TRY(rename_field(op, now, old, child, new_name, out->children[i]));
    }
    return HUDI_OK;
}

static hudi_status rename_field(struct hd_op *op, const struct hd_internal_field *newest,
                                const struct hd_internal_field *in_file,
                                const struct ArrowSchema *file, const char *name,
                                struct ArrowSchema *out)
{
    const bool nullable = hd_schema_nullable(file);
    struct hd_type type = {0};

    HD_TRY(hd_type_of(op, file, &type));
    if (newest == NULL || in_file == NULL || newest->kind != in_file->kind)
        return hd_schema_copy_as(op, file, name, nullable, out);
    if (type.id == HD_TYPE_STRUCT && newest->kind == HD_INTERNAL_RECORD)
        return rename_record(op, newest, in_file, file, name, out);
    if (type.id == HD_TYPE_LIST && newest->kind == HD_INTERNAL_ARRAY) {
        HD_TRY(hd_schema_init_list(op, out, name, nullable));
        return rename_field(op, &newest->children[0], &in_file->children[0], file->children[0],
                            file->children[0]->name, out->children[0]);
    }
    if (type.id == HD_TYPE_MAP && newest->kind == HD_INTERNAL_MAP) {
        HD_TRY(hd_schema_init_map(op, out, name, nullable));
        return rename_field(op, &newest->children[1], &in_file->children[1],
                            file->children[0]->children[1], "value", out->children[0]->children[1]);
    }
    return hd_schema_copy_as(op, file, name, nullable, out);
}

hudi_status hd_internal_schema_rename(struct hd_op *op, const hd_internal_schema *newest,
                                      const hd_internal_schema *file_schema,
                                      const struct ArrowSchema *file, struct ArrowSchema *out)
{
    *out = (struct ArrowSchema){0};
    const hudi_status status = rename_record(op, &newest->root, &file_schema->root, file, "", out);

    if (status != HUDI_OK)
        hd_schema_clear(out);
    return status;
}

static hudi_status rename_below(struct hd_op *op, const hd_internal_schema *newest,
                                const hd_internal_schema *file_schema,
                                const struct ArrowSchema *file, struct ArrowSchema *out)
{
    HD_TRY(hd_schema_init_struct(op, out, "", false, file->n_children));
    for (int64_t i = 0; i < file->n_children; i++) {
        const struct ArrowSchema *column = file->children[i];
        const struct hd_internal_field *old =
            hd_internal_field_by_name(&file_schema->root, column->name);
        const struct hd_internal_field *now =
            old == NULL ? NULL : hd_internal_field_by_id(&newest->root, old->id);

        HD_TRY(rename_field(op, now, old, column, column->name, out->children[i]));
    }
    return HUDI_OK;
}

hudi_status hd_internal_schema_rename_below(struct hd_op *op, const hd_internal_schema *newest,
                                            const hd_internal_schema *file_schema,
                                            const struct ArrowSchema *file, struct ArrowSchema *out)
{
    *out = (struct ArrowSchema){0};
    const hudi_status status = rename_below(op, newest, file_schema, file, out);

    if (status != HUDI_OK)
        hd_schema_clear(out);
    return status;
}

/* ---- from Arrow --------------------------------------------------------------------------- */

static hudi_status from_arrow(struct hd_op *op, const struct ArrowSchema *field,
                              struct hd_arena *arena, int64_t *next_id,
                              struct hd_internal_field *out);

/* A record takes a block of ids for its fields before any of them is looked into. */
static hudi_status record_from_arrow(struct hd_op *op, const struct ArrowSchema *field,
                                     struct hd_arena *arena, int64_t *next_id,
                                     struct hd_internal_field *out)
{
    int64_t id = *next_id;

    out->kind = HD_INTERNAL_RECORD;
    out->n_children = (size_t)field->n_children;
    *next_id += field->n_children;
    HD_TRY(hd_arena_array(op, arena, out->n_children, sizeof(*out->children), &out->children));
    for (size_t i = 0; i < out->n_children; i++) {
        struct hd_internal_field *child = &out->children[i];
        char *name = NULL;

        HD_TRY(hd_arena_strdup(op, arena, field->children[i]->name, &name));
        child->name = name;
        child->id = id++;
        child->optional = hd_schema_nullable(field->children[i]);
        HD_TRY(from_arrow(op, field->children[i], arena, next_id, child));
    }
    return HUDI_OK;
}

static hudi_status from_arrow(struct hd_op *op, const struct ArrowSchema *field,
                              struct hd_arena *arena, int64_t *next_id,
                              struct hd_internal_field *out)
{
    struct hd_type type = {0};

    HD_TRY(hd_type_of(op, field, &type));
    if (type.id == HD_TYPE_STRUCT)
        return record_from_arrow(op, field, arena, next_id, out);
    if (type.id == HD_TYPE_LIST) {
        out->kind = HD_INTERNAL_ARRAY;
        out->n_children = 1;
        HD_TRY(hd_arena_array(op, arena, 1, sizeof(*out->children), &out->children));
        out->children[0].name = "element";
        out->children[0].id = (*next_id)++;
        out->children[0].optional = hd_schema_nullable(field->children[0]);
        return from_arrow(op, field->children[0], arena, next_id, &out->children[0]);
    }
    if (type.id == HD_TYPE_MAP) {
        const struct ArrowSchema *value = field->children[0]->children[1];

        out->kind = HD_INTERNAL_MAP;
        out->n_children = 2;
        HD_TRY(hd_arena_array(op, arena, 2, sizeof(*out->children), &out->children));
        out->children[0].name = "key";
        out->children[0].id = (*next_id)++;
        out->children[0].type.id = HD_TYPE_STRING;
        out->children[1].name = "value";
        out->children[1].id = (*next_id)++;
        out->children[1].optional = hd_schema_nullable(value);
        return from_arrow(op, value, arena, next_id, &out->children[1]);
    }
    out->kind = HD_INTERNAL_PRIMITIVE;
    out->type = type;
    return HUDI_OK;
}

hudi_status hd_internal_schema_of_arrow(struct hd_op *op, const struct ArrowSchema *schema,
                                        hd_internal_schema **out)
{
    struct hd_internal_schema *made = NULL;
    int64_t next_id = 0;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof(*made), &made));
    made->root.name = "";
    const hudi_status status = record_from_arrow(op, schema, &made->arena, &next_id, &made->root);

    if (status != HUDI_OK) {
        hd_internal_schema_free(made);
        return status;
    }
    made->max_column_id = next_id - 1;
    *out = made;
    return HUDI_OK;
}
