/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/avro_encoder_internal.h"
#include "arrow/avro_type.h"
#include "arrow/cast_internal.h"
#include "arrow/column_path.h"
#include "arrow/schema.h"
#include "codec/avro.h"
#include "codec/avro_value.h"

#define MAX_STEPS 1000000

/* Invariant: steps are found by number, since the array moves while it grows. */
struct compiler {
    struct hd_op *op;
    struct hd_avro_encoder *e;
    struct hd_column_path path;
};

static hudi_status add_put(struct compiler *c, struct hd_avro_put step, uint32_t *at)
{
    struct hd_avro_encoder *const e = c->e;
    char *text;

    if (e->n_steps == MAX_STEPS)
        return hd_fail(c->op, HUDI_NOT_IMPLEMENTED,
                       "Avro schema unfolds to more than %d steps of encoding", MAX_STEPS);
    HD_TRY(hd_arena_strdup(c->op, &e->arena, c->path.text, &text));
    HD_TRY(hd_grow(c->op, &e->steps, &e->steps_capacity, e->n_steps + 1, sizeof step));
    step.path = text;
    *at = (uint32_t)e->n_steps++;
    step.end = *at + 1;
    e->steps[*at] = step;
    return HUDI_OK;
}

static void close_put(struct compiler *c, uint32_t at)
{
    c->e->steps[at].end = (uint32_t)c->e->n_steps;
}

static hudi_status add_slot(struct compiler *c, uint32_t parent, int32_t child, uint32_t *slot)
{
    struct hd_avro_encoder *const e = c->e;

    HD_TRY(hd_grow(c->op, &e->slots, &e->slots_capacity, e->n_slots + 1, sizeof *e->slots));
    *slot = (uint32_t)e->n_slots;
    e->slots[e->n_slots++] = (struct hd_avro_slot){parent, child};
    return HUDI_OK;
}

/* ---- values without parts -------------------------------------------------------------------- */

static bool same_leaf(const struct hd_type *a, const struct hd_type *b)
{
    return a->id == b->id && a->unit == b->unit && a->utc == b->utc &&
           a->byte_width == b->byte_width && a->precision == b->precision && a->scale == b->scale;
}

static enum hd_avro_put_code direct_code(const struct hd_avro_schema *avro)
{
    switch (avro->type) {
    case HD_AVRO_BOOLEAN:
        return PUT_BOOL;
    case HD_AVRO_INT:
        return PUT_INT32;
    case HD_AVRO_LONG:
        return PUT_INT64;
    case HD_AVRO_FLOAT:
        return PUT_FLOAT;
    case HD_AVRO_DOUBLE:
        return PUT_DOUBLE;
    case HD_AVRO_ENUM:
        return PUT_ENUM;
    case HD_AVRO_BYTES:
        return avro->logical == HD_AVRO_DECIMAL ? PUT_DECIMAL : PUT_TEXT;
    case HD_AVRO_FIXED:
        return avro->logical == HD_AVRO_DECIMAL ? PUT_DECIMAL_FIXED : PUT_FIXED;
    default:
        return PUT_TEXT;
    }
}

static bool is_integer(const struct hd_type *type)
{
    return type->id == HD_TYPE_INT32 || type->id == HD_TYPE_INT64;
}

static bool is_time(const struct hd_type *type)
{
    return type->id == HD_TYPE_DATE || type->id == HD_TYPE_TIME || type->id == HD_TYPE_TIMESTAMP;
}

static bool is_narrow(const struct hd_type *type)
{
    return type->id == HD_TYPE_INT32 || type->id == HD_TYPE_DATE ||
           (type->id == HD_TYPE_TIME && type->unit <= HD_UNIT_MILLI);
}

/* Whether each value of `from` that has a place in `to` may go there; `from` is then what it is
 * taken for. */
static bool conversion(struct hd_type *from, struct hd_type *to)
{
    if (from->id == to->id && is_time(from))
        return from->utc == to->utc;
    if (from->id == HD_TYPE_DECIMAL && to->id == HD_TYPE_DECIMAL)
        return true;
    if ((is_integer(from) && is_time(to)) || (is_time(from) && is_integer(to))) {
        if (!is_narrow(from) && is_narrow(to))
            return false;
        *from = (struct hd_type){.id = is_narrow(from) ? HD_TYPE_INT32 : HD_TYPE_INT64};
        *to = (struct hd_type){.id = is_narrow(to) ? HD_TYPE_INT32 : HD_TYPE_INT64};
        return true;
    }
    return hd_cast_rule_of(from, to) <= HD_CAST_WIDEN;
}

/* The code of a leaf step; `step->to` and `from` are set. false: the types do not go together. */
static bool leaf_code(const struct hd_avro_schema *avro, const struct ArrowSchema *column,
                      struct hd_avro_put *step)
{
    if (!hd_type_parse(column, &step->from) || !hd_avro_leaf_type(avro, &step->to))
        return false;
    if (step->from.id == HD_TYPE_DICTIONARY)
        step->from = (struct hd_type){.id = HD_TYPE_STRING};
    if (step->from.id == HD_TYPE_NULL || avro->type == HD_AVRO_NULL) {
        step->code = PUT_NULL;
        return step->from.id == HD_TYPE_NULL;
    }
    if (same_leaf(&step->from, &step->to)) {
        step->code = direct_code(avro);
        return true;
    }
    if (avro->type == HD_AVRO_FIXED && avro->logical == HD_AVRO_UUID &&
        step->from.id == HD_TYPE_STRING) {
        step->code = PUT_UUID;
        return true;
    }
    if (avro->type == HD_AVRO_ENUM || !conversion(&step->from, &step->to))
        return false;
    step->code = PUT_CONVERT;
    if (avro->type == HD_AVRO_LONG && is_narrow(&step->from) && !is_time(&step->from))
        step->code = PUT_INT32;
    else if ((avro->type == HD_AVRO_BYTES || avro->type == HD_AVRO_STRING) &&
             avro->logical != HD_AVRO_DECIMAL)
        step->code = PUT_TEXT;
    return true;
}

/* How well a column goes into a branch of a union. */
enum fit { FIT_NOT, FIT_CONVERTED, FIT_OWN };

static enum fit fit_of(const struct hd_avro_schema *avro, const struct ArrowSchema *column)
{
    struct hd_avro_put step = {0};
    struct hd_type type;

    if (!hd_type_parse(column, &type))
        return FIT_NOT;
    switch (avro->type) {
    case HD_AVRO_RECORD:
        return type.id == HD_TYPE_STRUCT ? FIT_OWN : FIT_NOT;
    case HD_AVRO_ARRAY:
        return type.id == HD_TYPE_LIST ? FIT_OWN : FIT_NOT;
    case HD_AVRO_MAP:
        return type.id == HD_TYPE_MAP ? FIT_OWN : FIT_NOT;
    case HD_AVRO_UNION:
        return FIT_NOT;
    default:
        if (!leaf_code(avro, column, &step))
            return FIT_NOT;
        return same_leaf(&step.from, &step.to) ? FIT_OWN : FIT_CONVERTED;
    }
}

static hudi_status refuse(struct compiler *c, const struct hd_avro_schema *avro,
                          const struct ArrowSchema *column)
{
    const char *logical = hd_avro_logical_name(avro->logical);
    struct hd_str type = {0};
    hudi_status status = hd_type_describe(c->op, column, &type);

    if (status == HUDI_OK)
        status = hd_fail(c->op, HUDI_SCHEMA, "column %s: %s does not go into Avro %s%s%s",
                         c->path.text, hd_str_text(&type), hd_avro_type_name(avro->type),
                         logical == NULL ? "" : " ", logical == NULL ? "" : logical);
    hd_str_clear(&type);
    return status;
}

static hudi_status add_leaf(struct compiler *c, const struct hd_avro_schema *avro,
                            const struct ArrowSchema *column, struct hd_avro_put step)
{
    uint32_t at;

    if (!leaf_code(avro, column, &step))
        return refuse(c, avro, column);
    return add_put(c, step, &at);
}

/* ---- values with parts ----------------------------------------------------------------------- */

static hudi_status add_value(struct compiler *c, const struct hd_avro_schema *avro,
                             const struct ArrowSchema *column, uint32_t slot);

/* A field without column. */
static hudi_status add_missing(struct compiler *c, const struct hd_avro_field *field)
{
    struct hd_avro_put step = {
        .code = PUT_CONSTANT, .branch = -1, .null_branch = HD_AVRO_REFUSED, .avro = field->schema};
    struct hd_avro_value value = hd_avro_null_value();
    struct hd_str bytes = {0};
    hudi_status status = HUDI_OK;
    bool nullable;
    uint32_t at;

    hd_avro_schema_unwrap(field->schema, &nullable);
    if (field->default_json == NULL && !nullable)
        return hd_fail(c->op, HUDI_SCHEMA,
                       "field %s has neither a column nor a default and takes no null",
                       c->path.text);
    if (field->default_json != NULL)
        HD_TRY(hd_avro_value_of_json(c->op, &c->e->arena, field->schema,
                                     hd_slice_text(field->default_json), &value));
    HD_TRY_OUT(hd_avro_write_value(c->op, field->schema, &value, &bytes));
    char *constant;
    HD_TRY_OUT(hd_arena_strndup(c->op, &c->e->arena, hd_str_text(&bytes), bytes.size, &constant));
    step.constant = hd_slice_of(constant, bytes.size);
    HD_TRY_OUT(add_put(c, step, &at));
out:
    hd_str_clear(&bytes);
    return status;
}

static hudi_status add_fields(struct compiler *c, const struct hd_avro_schema *record,
                              const struct ArrowSchema *columns, uint32_t slot)
{
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct hd_avro_field *field = &record->fields[i];
        const int32_t column = hd_schema_find(columns, field->name);
        const size_t mark = hd_column_path_enter(&c->path, field->name);
        uint32_t child;

        if (column < 0) {
            HD_TRY(add_missing(c, field));
        } else {
            HD_TRY(add_slot(c, slot, column, &child));
            HD_TRY(add_value(c, field->schema, columns->children[column], child));
        }
        hd_column_path_leave(&c->path, mark);
    }
    return HUDI_OK;
}

static hudi_status add_items(struct compiler *c, const struct hd_avro_schema *avro,
                             const struct ArrowSchema *column, uint32_t slot)
{
    static const struct hd_avro_schema KEY = {.type = HD_AVRO_STRING};
    const bool is_map = avro->type == HD_AVRO_MAP;
    uint32_t items, key;

    HD_TRY(add_slot(c, slot, 0, &items));
    if (is_map) {
        const size_t mark = hd_column_path_enter(&c->path, "key");
        HD_TRY(add_slot(c, items, 0, &key));
        HD_TRY(add_value(c, &KEY, column->children[0]->children[0], key));
        hd_column_path_leave(&c->path, mark);
        HD_TRY(add_slot(c, items, 1, &items));
    }
    const size_t mark = hd_column_path_enter(&c->path, is_map ? "value" : "element");
    HD_TRY(add_value(c, avro->items,
                     is_map ? column->children[0]->children[1] : column->children[0], items));
    hd_column_path_leave(&c->path, mark);
    return HUDI_OK;
}

static hudi_status add_one(struct compiler *c, const struct hd_avro_schema *avro,
                           const struct ArrowSchema *column, struct hd_avro_put step)
{
    uint32_t at;

    if (fit_of(avro, column) == FIT_NOT)
        return refuse(c, avro, column);
    step.avro = avro;
    switch (avro->type) {
    case HD_AVRO_RECORD:
        step.code = PUT_RECORD;
        HD_TRY(add_put(c, step, &at));
        HD_TRY(add_fields(c, avro, column, step.view));
        break;
    case HD_AVRO_ARRAY:
    case HD_AVRO_MAP:
        step.code = avro->type == HD_AVRO_MAP ? PUT_MAP : PUT_LIST;
        HD_TRY(add_put(c, step, &at));
        HD_TRY(add_items(c, avro, column, step.view));
        break;
    default:
        return add_leaf(c, avro, column, step);
    }
    close_put(c, at);
    return HUDI_OK;
}

static hudi_status add_value(struct compiler *c, const struct hd_avro_schema *avro,
                             const struct ArrowSchema *column, uint32_t slot)
{
    struct hd_avro_put step = {.branch = -1, .null_branch = HD_AVRO_REFUSED, .view = slot};
    enum fit best = FIT_NOT;

    if (avro->type != HD_AVRO_UNION) {
        if (avro->type == HD_AVRO_NULL)
            step.null_branch = HD_AVRO_NO_BYTES;
        return add_one(c, avro, column, step);
    }
    for (size_t i = 0; i < avro->n_branches; i++) {
        const struct hd_avro_schema *branch = avro->branches[i];
        const enum fit fit = fit_of(branch, column);

        if (branch->type == HD_AVRO_NULL) {
            step.null_branch = (int32_t)i;
        } else if (fit > best) {
            best = fit;
            step.branch = (int32_t)i;
        }
    }
    if (best == FIT_NOT && step.null_branch >= 0 && strcmp(column->format, "n") == 0)
        step.branch = step.null_branch;
    else if (best == FIT_NOT)
        return refuse(c, avro, column);
    return add_one(c, avro->branches[step.branch], column, step);
}

hudi_status hd_avro_encoder_compile(struct hd_op *op, const struct hd_avro_schema *writer,
                                    struct hd_avro_encoder *encoder)
{
    struct compiler c = {.op = op, .e = encoder};
    struct hd_type type;
    uint32_t root;

    HD_TRY(hd_type_of(op, &encoder->rows, &type));
    if (writer->type != HD_AVRO_RECORD || type.id != HD_TYPE_STRUCT)
        return hd_fail(op, HUDI_SCHEMA, "rows are a struct that becomes Avro records, not %s",
                       hd_avro_type_name(writer->type));
    HD_TRY(add_slot(&c, 0, 0, &root));
    return add_fields(&c, writer, &encoder->rows, root);
}
