/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/json_guess.h"

#include "arrow/schema.h"
#include "base/arena.h"
#include "base/map.h"

enum kind { NOTHING, FLAG, INTEGER, REAL, TEXT, ARRAY, OBJECT };

/* One column, or an element of an array. */
struct node {
    enum kind kind;
    struct hd_map members; /* OBJECT: name -> struct node * */
    struct node *element;  /* ARRAY */
};

struct hd_json_guess {
    struct hd_arena arena;
    struct node root;
};

hudi_status hd_json_guess_new(struct hd_op *op, struct hd_json_guess **out)
{
    HD_TRY(hd_alloc(op, sizeof **out, out));
    (*out)->root.kind = OBJECT;
    return HUDI_OK;
}

static enum kind kind_of(const hd_json *value)
{
    if (hd_json_is_bool(value))
        return FLAG;
    if (hd_json_is_integer(value))
        return INTEGER;
    if (hd_json_is_number(value))
        return REAL;
    if (hd_json_is_string(value))
        return TEXT;
    return hd_json_is_array(value) ? ARRAY : hd_json_is_object(value) ? OBJECT : NOTHING;
}

static hudi_status add(struct hd_op *op, struct hd_json_guess *guess, struct node *node,
                       const hd_json *value)
{
    const enum kind kind = kind_of(value);

    /* `{}` alone says no more than null: no column has a record without fields. */
    if (kind == NOTHING || (kind == OBJECT && node->kind == NOTHING && hd_json_length(value) == 0))
        return HUDI_OK;
    if (node->kind == NOTHING || (node->kind == INTEGER && kind == REAL))
        node->kind = kind;
    if (node->kind != kind)
        return HUDI_OK; /* the first kind stays: the parser tells which line does not fit */
    if (kind == ARRAY) {
        if (node->element == NULL)
            HD_TRY(hd_arena_alloc(op, &guess->arena, sizeof *node->element, &node->element));
        for (size_t i = 0; i < hd_json_length(value); i++)
            HD_TRY(add(op, guess, node->element, hd_json_at(value, i)));
    }
    if (kind == OBJECT) {
        struct hd_json_iter iter = {0};
        struct hd_slice key;
        const hd_json *member;

        while (hd_json_next(value, &iter, &key, &member)) {
            struct hd_map_entry *entry;
            bool added;

            HD_TRY(hd_map_put(op, &node->members, key, 0, &entry, &added));
            if (added) {
                struct node *fresh;
                HD_TRY(hd_arena_alloc(op, &guess->arena, sizeof *fresh, &fresh));
                entry->value = (uint64_t)(uintptr_t)fresh;
            }
            HD_TRY(add(op, guess, (struct node *)(uintptr_t)entry->value, member));
        }
    }
    return HUDI_OK;
}

hudi_status hd_json_guess_add(struct hd_op *op, struct hd_json_guess *guess, const hd_json *object)
{
    return add(op, guess, &guess->root, object);
}

static hudi_status field_of(struct hd_op *op, const struct node *node, const char *name,
                            struct ArrowSchema *out)
{
    static const enum hd_type_id IDS[] = {
        [NOTHING] = HD_TYPE_STRING, [FLAG] = HD_TYPE_BOOL,   [INTEGER] = HD_TYPE_INT64,
        [REAL] = HD_TYPE_DOUBLE,    [TEXT] = HD_TYPE_STRING,
    };

    if (node->kind == ARRAY) {
        HD_TRY(hd_schema_init_list(op, out, name, true));
        const hudi_status status = field_of(op, node->element, "element", out->children[0]);
        if (status != HUDI_OK)
            hd_schema_clear(out);
        return status;
    }
    if (node->kind != OBJECT) {
        const struct hd_type type = {.id = IDS[node->kind]};
        return hd_schema_init_field(op, out, name, &type, true);
    }
    HD_TRY(hd_schema_init_struct(op, out, name, true, (int64_t)node->members.n_entries));
    for (size_t i = 0; i < node->members.n_entries; i++) {
        const struct hd_map_entry *entry = &node->members.entries[i];
        const hudi_status status = field_of(op, (const struct node *)(uintptr_t)entry->value,
                                            (const char *)entry->key.data, out->children[i]);
        if (status != HUDI_OK) {
            hd_schema_clear(out);
            return status;
        }
    }
    return HUDI_OK;
}

hudi_status hd_json_guess_schema(struct hd_op *op, const struct hd_json_guess *guess,
                                 struct ArrowSchema *out)
{
    return field_of(op, &guess->root, "", out);
}

static void clear(struct node *node)
{
    for (size_t i = 0; i < node->members.n_entries; i++)
        clear((struct node *)(uintptr_t)node->members.entries[i].value);
    if (node->element != NULL)
        clear(node->element);
    hd_map_clear(&node->members);
}

void hd_json_guess_free(struct hd_op *op, struct hd_json_guess *guess)
{
    if (guess == NULL)
        return;
    clear(&guess->root);
    hd_arena_clear(&guess->arena);
    hd_free(op, guess);
}
