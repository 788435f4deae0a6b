/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/avro_decoder_internal.h"
#include "arrow/avro_type.h"
#include "arrow/cast_internal.h"
#include "arrow/column_path.h"
#include "arrow/schema.h"
#include "base/map.h"
#include "codec/avro.h"
#include "codec/avro_value.h"

/* What two schemas can unfold to: a named type may stand in many branches of many unions. */
#define MAX_STEPS 1000000

/* Invariant: steps are found by number, since the array moves while it grows. */
struct compiler {
    struct hd_op *op;
    struct hd_avro_decoder *d;
    bool floats_by_text;
    struct hd_column_path path;
    const char *path_text; /* the path in the arena, NULL until asked for */
};

static size_t enter(struct compiler *c, const char *name)
{
    c->path_text = NULL;
    return hd_column_path_enter(&c->path, name);
}

static void leave(struct compiler *c, size_t mark)
{
    c->path_text = NULL;
    hd_column_path_leave(&c->path, mark);
}

static hudi_status add_step(struct compiler *c, struct hd_avro_step step, uint32_t *at)
{
    if (c->d->n_steps == MAX_STEPS)
        return hd_fail(c->op, HUDI_NOT_IMPLEMENTED,
                       "Avro schema unfolds to more than %d steps of decoding", MAX_STEPS);
    if (c->path_text == NULL) {
        char *text;
        HD_TRY(hd_arena_strdup(c->op, &c->d->arena, c->path.text, &text));
        c->path_text = text;
    }
    HD_TRY(hd_grow(c->op, &c->d->steps, &c->d->capacity, c->d->n_steps + 1, sizeof step));
    step.path = c->path_text;
    *at = (uint32_t)c->d->n_steps++;
    step.end = *at + 1;
    c->d->steps[*at] = step;
    return HUDI_OK;
}

static void close_step(struct compiler *c, uint32_t at)
{
    c->d->steps[at].end = (uint32_t)c->d->n_steps;
}

/* ---- values that are not wanted -------------------------------------------------------------- */

/* The step that passes over a value without parts; false for others. */
static bool plain_skip(const struct hd_avro_schema *avro, struct hd_avro_step *step)
{
    switch (avro->type) {
    case HD_AVRO_INT:
    case HD_AVRO_LONG:
    case HD_AVRO_ENUM:
        step->code = DO_SKIP_LONG;
        return true;
    case HD_AVRO_BYTES:
    case HD_AVRO_STRING:
        step->code = DO_SKIP_BYTES;
        return true;
    case HD_AVRO_NULL:
    case HD_AVRO_BOOLEAN:
    case HD_AVRO_FLOAT:
    case HD_AVRO_DOUBLE:
    case HD_AVRO_FIXED:
        step->code = DO_SKIP_N;
        step->u.n_bytes = avro->min_bytes;
        return true;
    default:
        return false;
    }
}

static bool is_null_pair(const struct hd_avro_schema *avro, uint8_t *null_branch)
{
    if (avro->type != HD_AVRO_UNION || avro->n_branches != 2)
        return false;
    const bool first = avro->branches[0]->type == HD_AVRO_NULL;
    const bool second = avro->branches[1]->type == HD_AVRO_NULL;

    *null_branch = first ? 0 : 1;
    return first != second;
}

/* `last` is the step before when that is a DO_SKIP_N of the same record, else UINT32_MAX. */
static hudi_status add_skip(struct compiler *c, const struct hd_avro_schema *avro, uint32_t *last)
{
    struct hd_avro_step step = {.null_branch = HD_AVRO_NOT_NULLABLE, .avro = avro};
    uint8_t null_branch;
    uint32_t at;

    if (is_null_pair(avro, &null_branch) && plain_skip(avro->branches[1 - null_branch], &step)) {
        step.null_branch = null_branch;
    } else if (!plain_skip(avro, &step)) {
        step.code = DO_SKIP;
    } else if (step.code == DO_SKIP_N) {
        if (step.u.n_bytes == 0)
            return HUDI_OK;
        if (*last != UINT32_MAX && step.u.n_bytes <= UINT32_MAX) {
            c->d->steps[*last].u.n_bytes += step.u.n_bytes; /* 2^56 at most */
            return HUDI_OK;
        }
        HD_TRY(add_step(c, step, &at));
        *last = at;
        return HUDI_OK;
    }
    *last = UINT32_MAX;
    return add_step(c, step, &at);
}

/* ---- values without parts -------------------------------------------------------------------- */

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

/* What a value of `from` is taken for so that it becomes a `to`; false when it cannot. */
static bool conversion(const struct hd_avro_schema *avro, struct hd_type *from,
                       const struct hd_type *to)
{
    if (hd_cast_rule_of(from, to) <= HD_CAST_READ)
        return true;
    if (is_time(from) && to->id == HD_TYPE_STRING) {
        *from = (struct hd_type){.id = is_narrow(from) ? HD_TYPE_INT32 : HD_TYPE_INT64};
        return true;
    }
    if ((is_integer(from) && is_time(to)) || (is_time(from) && is_integer(to))) {
        if (!is_narrow(from) && is_narrow(to))
            return false;
        *from = (struct hd_type){.id = is_narrow(from) ? HD_TYPE_INT32 : HD_TYPE_INT64};
        return true;
    }
    if (avro->type != HD_AVRO_BYTES && avro->type != HD_AVRO_FIXED)
        return false;
    if (to->id == HD_TYPE_DECIMAL && from->id != HD_TYPE_DECIMAL) {
        *from = *to;
        return true;
    }
    if (avro->logical == HD_AVRO_UUID && to->id == HD_TYPE_STRING)
        return true; /* from stays FIXED_BINARY(16) */
    if (to->id == HD_TYPE_BINARY ||
        (to->id == HD_TYPE_FIXED_BINARY && avro->type == HD_AVRO_FIXED &&
         (uint32_t)to->byte_width == avro->fixed_bytes)) {
        *from = (struct hd_type){.id = avro->type == HD_AVRO_FIXED ? HD_TYPE_FIXED_BINARY
                                                                   : HD_TYPE_BINARY,
                                 .byte_width = (int32_t)avro->fixed_bytes};
        return true;
    }
    return false;
}

static bool same_leaf(const struct hd_type *a, const struct hd_type *b)
{
    return a->id == b->id && a->unit == b->unit && a->utc == b->utc &&
           a->byte_width == b->byte_width && a->precision == b->precision && a->scale == b->scale;
}

/* The step for a value that is in its column as it is in the record. */
static void direct_step(const struct hd_avro_schema *avro, struct hd_avro_step *step)
{
    switch (avro->type) {
    case HD_AVRO_BOOLEAN:
        step->code = DO_BOOL;
        break;
    case HD_AVRO_INT:
        step->code = DO_INT;
        break;
    case HD_AVRO_LONG:
        step->code = DO_LONG;
        break;
    case HD_AVRO_FLOAT:
        step->code = DO_FLOAT;
        break;
    case HD_AVRO_DOUBLE:
        step->code = DO_DOUBLE;
        break;
    case HD_AVRO_STRING:
        step->code = DO_STRING;
        break;
    case HD_AVRO_BYTES:
        step->code = avro->logical == HD_AVRO_DECIMAL ? DO_DECIMAL : DO_BYTES;
        break;
    case HD_AVRO_FIXED:
        step->code = avro->logical == HD_AVRO_DECIMAL ? DO_DECIMAL_FIXED : DO_FIXED;
        step->u.n_bytes = avro->fixed_bytes;
        break;
    case HD_AVRO_ENUM:
        step->code = DO_ENUM;
        break;
    default:
        step->code = DO_NULL;
        break;
    }
}

static hudi_status set_symbols(struct compiler *c, const struct hd_avro_schema *avro,
                               struct hd_avro_step *step)
{
    struct hd_slice *symbols;

    HD_TRY(hd_arena_array(c->op, &c->d->arena, avro->n_symbols, sizeof *symbols, &symbols));
    for (size_t i = 0; i < avro->n_symbols; i++)
        symbols[i] = hd_slice_text(avro->symbols[i]);
    step->u.symbols = symbols;
    return HUDI_OK;
}

/* @return HUDI_NOT_FOUND when the types do not go together */
static hudi_status add_leaf(struct compiler *c, const struct hd_avro_schema *avro,
                            struct hd_avro_step step)
{
    const struct hd_type *to = hd_builder_type(step.to);
    struct hd_type from;
    uint32_t at;

    if (!hd_avro_leaf_type(avro, &from))
        return HUDI_NOT_FOUND;
    if (avro->type == HD_AVRO_NULL) {
        step.code = DO_NULL;
    } else if (same_leaf(&from, to)) {
        direct_step(avro, &step);
        if (step.code == DO_ENUM)
            HD_TRY(set_symbols(c, avro, &step));
    } else if (avro->type == HD_AVRO_INT && to->id == HD_TYPE_INT64 && !is_time(&from)) {
        step.code = DO_INT_TO_LONG;
    } else {
        if (!conversion(avro, &from, to))
            return HUDI_NOT_FOUND;
        step.code = DO_CONVERT;
        step.by_text = c->floats_by_text && from.id == HD_TYPE_FLOAT && to->id == HD_TYPE_DOUBLE;
        step.u.from = from;
    }
    return add_step(c, step, &at);
}

/* ---- values with parts ----------------------------------------------------------------------- */

static hudi_status add_value(struct compiler *c, const struct hd_avro_schema *avro,
                             const struct hd_avro_schema *reader, struct hd_avro_step step);

/* A column or part of one as the target of a step. */
static struct hd_avro_step target(const struct ArrowSchema *wanted, hd_builder *to)
{
    return (struct hd_avro_step){.null_branch = HD_AVRO_NOT_NULLABLE,
                                 .nullable = hd_schema_nullable(wanted),
                                 .to = to,
                                 .wanted = wanted};
}

/* The branch of a reader's union that has the parts; NULL for none. */
static const struct hd_avro_schema *reader_of(const struct hd_avro_schema *reader,
                                              enum hd_avro_type type)
{
    if (reader != NULL && reader->type == HD_AVRO_UNION) {
        for (size_t i = 0; i < reader->n_branches; i++) {
            if (reader->branches[i]->type == type)
                return reader->branches[i];
        }
        return NULL;
    }
    return reader != NULL && reader->type == type ? reader : NULL;
}

static hudi_status add_missing(struct compiler *c, const struct hd_avro_schema *reader,
                               struct hd_avro_step step)
{
    const struct hd_avro_field *field =
        reader == NULL ? NULL : hd_avro_schema_field(reader, step.wanted->name);
    struct hd_avro_value value;
    struct hd_str bytes = {0};
    hudi_status status = HUDI_OK;
    char *constant;
    uint32_t at;

    if (field == NULL || field->default_json == NULL || strcmp(field->default_json, "null") == 0) {
        if (!step.nullable)
            return hd_fail(c->op, HUDI_SCHEMA,
                           "column %s is not in the records, takes no null and has no default",
                           c->path.text);
        step.code = DO_NULL;
        return add_step(c, step, &at);
    }
    HD_TRY(hd_avro_value_of_json(c->op, &c->d->arena, field->schema,
                                 hd_slice_text(field->default_json), &value));
    HD_TRY_OUT(hd_avro_write_value(c->op, field->schema, &value, &bytes));
    HD_TRY_OUT(hd_arena_strndup(c->op, &c->d->arena, bytes.data, bytes.size, &constant));
    struct hd_avro_step open = step;
    open.code = DO_CONSTANT;
    open.u.constant = hd_slice_of(constant, bytes.size);
    HD_TRY_OUT(add_step(c, open, &at));
    HD_TRY_OUT(add_value(c, field->schema, NULL, step));
    close_step(c, at);
out:
    hd_str_clear(&bytes);
    return status;
}

/* The columns of `wanted` by name, each once. */
static hudi_status index_columns(struct compiler *c, const struct ArrowSchema *wanted,
                                 struct hd_map *names)
{
    struct hd_map_entry *entry;
    bool added;

    for (int64_t i = 0; i < wanted->n_children; i++) {
        const char *name = wanted->children[i]->name == NULL ? "" : wanted->children[i]->name;
        HD_TRY(hd_map_put(c->op, names, hd_slice_text(name), (uint64_t)i, &entry, &added));
        if (!added)
            return hd_fail(c->op, HUDI_SCHEMA, "column %s%s%s is wanted twice", c->path.text,
                           c->path.text[0] == '\0' ? "" : ".", name);
    }
    return HUDI_OK;
}

/* The steps of the writer's fields, then those of columns it lacks. `found[i]`: column i is there.
 */
static hudi_status add_fields(struct compiler *c, const struct hd_avro_schema *record,
                              const struct hd_avro_schema *reader, const struct ArrowSchema *wanted,
                              hd_builder *to, struct hd_map *names, bool *found)
{
    uint32_t last_skip = UINT32_MAX;

    HD_TRY(index_columns(c, wanted, names));
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct hd_avro_field *field = &record->fields[i];
        const struct hd_map_entry *entry = hd_map_find(names, hd_slice_text(field->name));
        const size_t mark = enter(c, field->name);

        if (entry == NULL || found[entry->value]) {
            HD_TRY(add_skip(c, field->schema, &last_skip));
        } else {
            const int64_t column = (int64_t)entry->value;
            const struct hd_avro_field *read =
                reader == NULL ? NULL : hd_avro_schema_field(reader, field->name);
            found[column] = true;
            last_skip = UINT32_MAX;
            HD_TRY(add_value(c, field->schema, read == NULL ? NULL : read->schema,
                             target(wanted->children[column], hd_builder_child(to, column))));
        }
        leave(c, mark);
    }
    for (int64_t i = 0; i < wanted->n_children; i++) {
        if (found[i])
            continue;
        const char *name = wanted->children[i]->name;
        const size_t mark = enter(c, name == NULL ? "" : name);
        HD_TRY(add_missing(c, reader, target(wanted->children[i], hd_builder_child(to, i))));
        leave(c, mark);
    }
    return HUDI_OK;
}

static hudi_status add_record_fields(struct compiler *c, const struct hd_avro_schema *record,
                                     const struct hd_avro_schema *reader,
                                     const struct ArrowSchema *wanted, hd_builder *to)
{
    struct hd_map names = {0};
    bool *found = NULL;
    hudi_status status;

    HD_TRY_OUT(hd_alloc_array(c->op, (size_t)wanted->n_children + 1, sizeof *found, &found));
    HD_TRY_OUT(add_fields(c, record, reader, wanted, to, &names, found));
out:
    hd_free(c->op, found);
    hd_map_clear(&names);
    return status;
}

static hudi_status add_record(struct compiler *c, const struct hd_avro_schema *record,
                              const struct hd_avro_schema *reader, struct hd_avro_step step)
{
    uint32_t open = UINT32_MAX, at;

    if (step.null_branch != HD_AVRO_NOT_NULLABLE) {
        step.code = DO_OPEN;
        HD_TRY(add_step(c, step, &open));
        step.null_branch = HD_AVRO_NOT_NULLABLE;
    }
    HD_TRY(add_record_fields(c, record, reader_of(reader, HD_AVRO_RECORD), step.wanted, step.to));
    step.code = DO_CLOSE;
    HD_TRY(add_step(c, step, &at));
    if (open != UINT32_MAX)
        close_step(c, open);
    return HUDI_OK;
}

static bool is_text(const struct hd_type *type)
{
    return type->id == HD_TYPE_STRING || type->id == HD_TYPE_BINARY;
}

static hudi_status add_list(struct compiler *c, const struct hd_avro_schema *avro,
                            const struct hd_avro_schema *reader, struct hd_avro_step step)
{
    const bool is_map = avro->type == HD_AVRO_MAP;
    const struct ArrowSchema *item =
        is_map ? step.wanted->children[0]->children[1] : step.wanted->children[0];
    hd_builder *const to = hd_builder_child(step.to, is_map);
    uint32_t at, key;

    if (is_map && !is_text(hd_builder_type(hd_builder_child(step.to, 0))))
        return HUDI_NOT_FOUND;
    step.code = is_map ? DO_MAP : DO_LIST;
    step.u.item_min_bytes = avro->items->min_bytes + is_map;
    HD_TRY(add_step(c, step, &at));
    if (is_map) {
        const struct ArrowSchema *wanted_key = step.wanted->children[0]->children[0];
        struct hd_avro_step key_step = target(wanted_key, hd_builder_child(step.to, 0));
        const size_t mark = enter(c, "key");

        key_step.code = hd_builder_type(key_step.to)->id == HD_TYPE_STRING ? DO_STRING : DO_BYTES;
        HD_TRY(add_step(c, key_step, &key));
        leave(c, mark);
    }
    const size_t mark = enter(c, is_map ? "value" : "element");
    reader = reader_of(reader, avro->type);
    HD_TRY(add_value(c, avro->items, reader == NULL ? NULL : reader->items, target(item, to)));
    leave(c, mark);
    close_step(c, at);
    return HUDI_OK;
}

/* Steps of a value that is no union. @return HUDI_NOT_FOUND when the types do not go together */
static hudi_status add_one(struct compiler *c, const struct hd_avro_schema *avro,
                           const struct hd_avro_schema *reader, struct hd_avro_step step)
{
    const enum hd_type_id to = hd_builder_type(step.to)->id;

    step.avro = avro;
    switch (avro->type) {
    case HD_AVRO_RECORD:
        return to == HD_TYPE_STRUCT ? add_record(c, avro, reader, step) : HUDI_NOT_FOUND;
    case HD_AVRO_ARRAY:
        return to == HD_TYPE_LIST ? add_list(c, avro, reader, step) : HUDI_NOT_FOUND;
    case HD_AVRO_MAP:
        return to == HD_TYPE_MAP ? add_list(c, avro, reader, step) : HUDI_NOT_FOUND;
    default:
        return add_leaf(c, avro, step);
    }
}

static hudi_status refuse(struct compiler *c, const struct hd_avro_schema *avro,
                          const struct hd_avro_step *step)
{
    const char *logical = hd_avro_logical_name(avro->logical);
    struct hd_str wanted = {0};
    hudi_status status = hd_type_describe(c->op, step->wanted, &wanted);

    if (status == HUDI_OK)
        status = hd_fail(c->op, HUDI_SCHEMA, "column %s: Avro %s%s%s cannot become %s",
                         c->path.text, hd_avro_type_name(avro->type), logical == NULL ? "" : " ",
                         logical == NULL ? "" : logical, hd_str_text(&wanted));
    hd_str_clear(&wanted);
    return status;
}

/* A union of any branches: those that fit the column, and refusals for the others. */
static hudi_status add_union(struct compiler *c, const struct hd_avro_schema *avro,
                             const struct hd_avro_schema *reader, struct hd_avro_step step)
{
    uint32_t *branches, at, jump;
    size_t n_fit = 0;

    HD_TRY(hd_arena_array(c->op, &c->d->arena, avro->n_branches + 1, sizeof *branches, &branches));
    step.avro = avro;
    step.code = DO_UNION;
    step.u.branches = branches;
    HD_TRY(add_step(c, step, &at));
    for (size_t i = 0; i < avro->n_branches; i++) {
        const struct hd_avro_schema *branch = avro->branches[i];
        struct hd_avro_step part = target(step.wanted, step.to);

        const struct hd_column_path path = c->path;
        branches[i] = (uint32_t)c->d->n_steps;
        hudi_status status = add_one(c, branch, reader, part);
        if (status == HUDI_SCHEMA) { /* something inside the branch does not fit */
            hd_op_clear_error(c->op);
            c->path = path;
            c->path_text = NULL;
            status = HUDI_NOT_FOUND;
        }
        if (status == HUDI_NOT_FOUND) {
            c->d->n_steps = branches[i];
            part.code = DO_REFUSE;
            part.avro = branch;
            status = add_step(c, part, &jump);
        } else {
            n_fit += branch->type != HD_AVRO_NULL;
        }
        HD_TRY(status);
        if (i + 1 < avro->n_branches) {
            part.code = DO_JUMP;
            HD_TRY(add_step(c, part, &jump));
        }
    }
    for (size_t i = 0; i + 1 < avro->n_branches; i++)
        c->d->steps[branches[i + 1] - 1].end = (uint32_t)c->d->n_steps;
    close_step(c, at);
    if (n_fit == 0 && !(avro->n_branches == 1 && avro->branches[0]->type == HD_AVRO_NULL))
        return refuse(c, avro, &step);
    return HUDI_OK;
}

static hudi_status add_value(struct compiler *c, const struct hd_avro_schema *avro,
                             const struct hd_avro_schema *reader, struct hd_avro_step step)
{
    hudi_status status;
    uint8_t null_branch;

    if (is_null_pair(avro, &null_branch)) {
        step.null_branch = null_branch;
        avro = avro->branches[1 - null_branch];
    } else if (avro->type == HD_AVRO_UNION) {
        return add_union(c, avro, reader, step);
    }
    status = add_one(c, avro, reader, step);
    return status == HUDI_NOT_FOUND ? refuse(c, avro, &step) : status;
}

hudi_status hd_avro_decoder_compile(struct hd_op *op, const struct hd_avro_schema *writer,
                                    const struct hd_avro_decoder_options *options,
                                    struct hd_avro_decoder *decoder)
{
    struct compiler c = {.op = op, .d = decoder, .floats_by_text = options->floats_by_text};

    if (writer->type != HD_AVRO_RECORD)
        return hd_fail(op, HUDI_SCHEMA, "rows are Avro records, not %s",
                       hd_avro_type_name(writer->type));
    return add_record_fields(&c, writer, reader_of(options->reader, HD_AVRO_RECORD),
                             &decoder->wanted, decoder->root);
}
