/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/cast.h"

#include <stdlib.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/cast_internal.h"
#include "arrow/gather.h"
#include "arrow/schema.h"
#include "base/arena.h"

/*
 * The tree is rebuilt from the root down. A node takes its array apart: children are moved out of
 * it and cut to the rows that count, so that new parents have offset 0; validity and offsets are
 * copied; whole subtrees whose type stays are moved as they are.
 */

struct cast {
    struct hd_op *op;
    enum hd_cast_rule rule;
    struct hd_cast_sink sink;
};

/* How the children of a struct are found: the entries of a map have names that do not count. */
enum match { BY_NAME, BY_PLACE };

/* Take `*array` over, also on failure. */
static hudi_status convert(const struct cast *c, const struct hd_cast_path *path,
                           const struct ArrowSchema *from, struct ArrowArray *array,
                           const struct ArrowSchema *to, enum match match, struct ArrowArray *out);

/* ---- shape of foreign arrays ----------------------------------------------------------------- */

static hudi_status check_node(const struct cast *c, const struct hd_cast_path *path,
                              const struct ArrowSchema *from, const struct ArrowArray *array,
                              int64_t min_buffers)
{
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX / 64 ||
        array->offset > INT64_MAX / 64)
        return hd_cast_fail(c->op, path, HUDI_INVALID, "has %lld rows from %lld on",
                            (long long)array->length, (long long)array->offset);
    if (array->n_buffers < min_buffers || (min_buffers > 0 && array->buffers == NULL))
        return hd_cast_fail(c->op, path, HUDI_INVALID, "has %lld buffers",
                            (long long)array->n_buffers);
    bool whole = array->n_children == from->n_children;
    for (int64_t i = 0; whole && i < array->n_children; i++)
        whole = array->children[i] != NULL && array->children[i]->release != NULL;
    return whole ? HUDI_OK
                 : hd_cast_fail(c->op, path, HUDI_INVALID, "has %lld children, not %lld",
                                (long long)array->n_children, (long long)from->n_children);
}

static const uint8_t *validity_of(const struct ArrowArray *array)
{
    return array->null_count == 0 ? NULL : array->buffers[0];
}

/* The child's rows [start, start + n) as an array of its own. */
static hudi_status take_child(const struct cast *c, const struct hd_cast_path *path,
                              struct ArrowArray *array, int64_t i, int64_t start, int64_t n,
                              struct ArrowArray *out)
{
    struct ArrowArray child;

    *out = (struct ArrowArray){0};
    if (start < 0 || n < 0 || start > array->children[i]->length ||
        n > array->children[i]->length - start)
        return hd_cast_fail(c->op, path, HUDI_INVALID, "has a child of %lld rows, too few",
                            (long long)array->children[i]->length);
    hd_array_move(array->children[i], &child);
    return hd_array_slice(c->op, &child, start, n, out);
}

/* ---- structs --------------------------------------------------------------------------------- */

static int32_t find_child(const struct ArrowSchema *from, const struct ArrowSchema *to, int64_t i,
                          enum match match)
{
    const char *name = to->children[i]->name;

    if (match == BY_PLACE)
        return i < from->n_children ? (int32_t)i : -1;
    return hd_schema_find(from, name == NULL ? "" : name);
}

static hudi_status convert_struct(const struct cast *c, const struct hd_cast_path *path,
                                  const struct ArrowSchema *from, struct ArrowArray *array,
                                  const struct ArrowSchema *to, enum match match,
                                  struct ArrowArray *out)
{
    const int64_t offset = array->offset, length = array->length;

    HD_TRY(check_node(c, path, from, array, 1));
    HD_TRY(hd_array_new(c->op, 1, to->n_children, false, out));
    HD_TRY(hd_cast_validity(c->op, validity_of(array), offset, length, out));
    for (int64_t i = 0; i < to->n_children; i++) {
        const struct ArrowSchema *wanted = to->children[i];
        const struct hd_cast_path child_path = {path, wanted->name};
        const int32_t at = find_child(from, to, i, match);
        struct ArrowArray child;

        if (at < 0) {
            HD_TRY(hd_array_nulls(c->op, wanted, length, out->children[i]));
            continue;
        }
        if (array->children[at]->release == NULL)
            return hd_cast_fail(c->op, &child_path, HUDI_SCHEMA, "is wanted twice");
        HD_TRY(take_child(c, &child_path, array, at, offset, length, &child));
        HD_TRY(
            convert(c, &child_path, from->children[at], &child, wanted, BY_NAME, out->children[i]));
    }
    return HUDI_OK;
}

/* ---- lists and maps -------------------------------------------------------------------------- */

/* Child rows of a list's row `i` (offset applied), whatever its layout. */
static bool list_item(const struct ArrowArray *array, const char *format, int64_t width, int64_t i,
                      int64_t *start, int64_t *n)
{
    const bool large = format[1] == 'L' || (format[1] == 'v' && format[2] == 'L');

    i += array->offset;
    if (format[1] == 'w') {
        *n = width;
        return !__builtin_mul_overflow(i, width, start);
    }
    const void *offsets = array->buffers[1];
    if (format[1] == 'v') {
        const void *sizes = array->buffers[2];
        *start = large ? ((const int64_t *)offsets)[i] : ((const int32_t *)offsets)[i];
        *n = large ? ((const int64_t *)sizes)[i] : ((const int32_t *)sizes)[i];
        return true;
    }
    *start = large ? ((const int64_t *)offsets)[i] : ((const int32_t *)offsets)[i];
    const int64_t end =
        large ? ((const int64_t *)offsets)[i + 1] : ((const int32_t *)offsets)[i + 1];
    *n = end - *start;
    return *start >= 0 && end >= *start;
}

static bool is_null_row(const struct ArrowArray *array, int64_t i)
{
    const uint8_t *validity = validity_of(array);

    return validity != NULL && !hd_bit(validity, array->offset + i);
}

/* Offsets from 0 on and the runs of child rows below; null rows become empty. */
static hudi_status list_rows(const struct cast *c, const struct hd_cast_path *path,
                             const struct ArrowSchema *from, const struct ArrowArray *array,
                             int32_t *offsets, struct hd_run_list *runs)
{
    const int64_t width = from->format[1] == 'w' ? strtoll(from->format + 3, NULL, 10) : 0;
    const int64_t n_items = array->children[0]->length;
    int64_t sum = 0;

    for (int64_t i = 0; i < array->length; i++) {
        int64_t start = 0, n = 0;
        if (!is_null_row(array, i) &&
            (!list_item(array, from->format, width, i, &start, &n) || start < 0 || n < 0 ||
             start > n_items || n > n_items - start || start > UINT32_MAX))
            return hd_cast_fail(c->op, path, HUDI_INVALID, "row %lld is outside its child",
                                (long long)i);
        sum += n;
        if (sum > INT32_MAX)
            return hd_cast_fail(c->op, path, HUDI_INVALID, "%lld rows hold more than 2^31 items",
                                (long long)array->length);
        offsets[i + 1] = (int32_t)sum;
        HD_TRY(hd_run_list_add(c->op, runs, 0, (uint32_t)start, (uint32_t)n));
    }
    return HUDI_OK;
}

/* The rows that `runs` pick from `*array` (taken over), as `to`. They are picked before values are
 * converted: one that no run picks may be anything. */
static hudi_status convert_picked(const struct cast *c, const struct hd_cast_path *path,
                                  const struct ArrowSchema *from, struct ArrowArray *array,
                                  const struct hd_run_list *runs, const struct ArrowSchema *to,
                                  enum match match, struct ArrowArray *out)
{
    struct ArrowSchema plain = {0};
    struct ArrowArray values = {0}, picked;
    struct cast strict = *c; /* what is not picked yet has no row */
    hudi_status status;

    strict.sink = (struct hd_cast_sink){0};
    HD_TRY_OUT(hd_canonical_schema(c->op, from, &plain));
    HD_TRY_OUT(convert(&strict, path, from, array, &plain, match, &values));
    const struct ArrowArray *sources[] = {&values};
    HD_TRY_OUT(hd_gather(c->op, &plain, sources, 1, runs->runs, runs->n_runs, &picked));
    status = convert(c, path, &plain, &picked, to, match, out);
out:
    hd_array_clear(array);
    hd_array_clear(&values);
    hd_schema_clear(&plain);
    return status;
}

/* The child of a list or map, with the rows that the list holds, in its order. */
static hudi_status convert_items(const struct cast *c, const struct hd_cast_path *path,
                                 const struct ArrowSchema *from, struct ArrowArray *array,
                                 const struct ArrowSchema *to, const struct hd_run_list *runs,
                                 struct ArrowArray *out)
{
    const struct ArrowSchema *from_child = from->children[0], *to_child = to->children[0];
    const enum match match = strcmp(to->format, "+m") == 0 ? BY_PLACE : BY_NAME;
    const struct hd_cast_path item = {path, to_child->name};
    const struct hd_cast_path *below = match == BY_PLACE ? path : &item;
    struct ArrowArray child;

    if (runs->n_runs <= 1) {
        const int64_t start = runs->n_runs == 0 ? 0 : runs->runs[0].start;
        HD_TRY(take_child(c, path, array, 0, start, (int64_t)runs->n_rows, &child));
        return convert(c, below, from_child, &child, to_child, match, out);
    }
    HD_TRY(take_child(c, path, array, 0, 0, array->children[0]->length, &child));
    return convert_picked(c, below, from_child, &child, runs, to_child, match, out);
}

static hudi_status convert_list(const struct cast *c, const struct hd_cast_path *path,
                                const struct ArrowSchema *from, struct ArrowArray *array,
                                const struct ArrowSchema *to, struct ArrowArray *out)
{
    const char *format = from->format;
    const int64_t n_buffers = format[1] == 'w' ? 1 : format[1] == 'v' ? 3 : 2;
    struct hd_run_list runs = {0};
    int32_t *offsets;
    hudi_status status;

    HD_TRY(check_node(c, path, from, array, n_buffers));
    for (int64_t i = 1; i < n_buffers; i++) {
        if (array->length > 0 && array->buffers[i] == NULL)
            return hd_cast_fail(c->op, path, HUDI_INVALID, "has no offsets");
    }
    HD_TRY(hd_array_new(c->op, 2, 1, false, out));
    HD_TRY(hd_cast_validity(c->op, validity_of(array), array->offset, array->length, out));
    HD_TRY(hd_buffer_new(c->op, ((uint64_t)array->length + 1) * sizeof *offsets, &offsets));
    hd_array_set_buffer(out, 1, offsets);
    HD_TRY_OUT(list_rows(c, path, from, array, offsets, &runs));
    const struct hd_cast_rows rows = {c->sink.rows, offsets, array->length};
    struct cast below = *c;
    below.sink.rows = &rows;
    status = convert_items(&below, path, from, array, to, &runs, out->children[0]);
out:
    hd_free(c->op, runs.runs);
    return status;
}

/* ---- dictionaries ---------------------------------------------------------------------------- */

static int64_t index_at(const struct ArrowArray *array, const char *format, int64_t i)
{
    const void *values = array->buffers[1];

    i += array->offset;
    switch (format[0]) {
    case 'c':
        return ((const int8_t *)values)[i];
    case 'C':
        return ((const uint8_t *)values)[i];
    case 's':
        return ((const int16_t *)values)[i];
    case 'S':
        return ((const uint16_t *)values)[i];
    case 'i':
        return ((const int32_t *)values)[i];
    case 'I':
        return ((const uint32_t *)values)[i];
    default:
        return ((const int64_t *)values)[i]; /* uint64 past 2^63 is negative: outside */
    }
}

static hudi_status dictionary_rows(const struct cast *c, const struct hd_cast_path *path,
                                   const struct ArrowSchema *from, const struct ArrowArray *array,
                                   struct hd_run_list *runs)
{
    const int64_t n_values = array->dictionary->length;

    for (int64_t i = 0; i < array->length; i++) {
        if (is_null_row(array, i)) {
            HD_TRY(hd_run_list_add(c->op, runs, HD_RUN_NULLS, 0, 1));
            continue;
        }
        const int64_t index = index_at(array, from->format, i);
        if (index < 0 || index >= n_values || index > UINT32_MAX)
            return hd_cast_fail(c->op, path, HUDI_INVALID,
                                "row %lld has the index %lld of %lld values", (long long)i,
                                (long long)index, (long long)n_values);
        HD_TRY(hd_run_list_add(c->op, runs, 0, (uint32_t)index, 1));
    }
    return HUDI_OK;
}

static hudi_status convert_dictionary(const struct cast *c, const struct hd_cast_path *path,
                                      const struct ArrowSchema *from, struct ArrowArray *array,
                                      const struct ArrowSchema *to, struct ArrowArray *out)
{
    struct hd_run_list runs = {0};
    struct ArrowArray words;

    HD_TRY(check_node(c, path, from, array, 2));
    if (array->dictionary == NULL || array->dictionary->release == NULL ||
        (array->length > 0 && array->buffers[1] == NULL) ||
        strchr("cCsSiIlL", from->format[0]) == NULL)
        return hd_cast_fail(c->op, path, HUDI_INVALID, "has no dictionary");
    hudi_status status = dictionary_rows(c, path, from, array, &runs);
    if (status == HUDI_OK) {
        hd_array_move(array->dictionary, &words);
        status = convert_picked(c, path, from->dictionary, &words, &runs, to, BY_NAME, out);
    }
    hd_free(c->op, runs.runs);
    return status;
}

/* ---- columns without children ---------------------------------------------------------------- */

static bool same_layout(const struct hd_type *from, const struct hd_type *to)
{
    if (from->id != to->id)
        return (from->id == HD_TYPE_STRING && to->id == HD_TYPE_BINARY) ||
               (from->id == HD_TYPE_BINARY && to->id == HD_TYPE_STRING);
    return from->unit == to->unit && from->scale == to->scale && from->precision <= to->precision;
}

static hudi_status convert_values(const struct hd_cast_leaf *leaf, struct ArrowArray *array,
                                  struct ArrowArray *out)
{
    const enum hd_type_id from = leaf->from->type.id, to = leaf->to.id;

    if (from == HD_TYPE_NULL)
        return hd_array_nulls(leaf->op, leaf->to_field, leaf->from->length, out);
    if (same_layout(&leaf->from->type, &leaf->to)) {
        if (from == HD_TYPE_BINARY && to == HD_TYPE_STRING)
            HD_TRY(hd_cast_check_text(leaf));
        hd_array_move(array, out);
        return HUDI_OK;
    }
    switch (to) {
    case HD_TYPE_STRING:
        return hd_cast_to_text(leaf, out);
    case HD_TYPE_BINARY:
        return hd_cast_fixed_to_bytes(leaf, out);
    case HD_TYPE_FIXED_BINARY:
        return hd_cast_bytes_to_fixed(leaf, out);
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
        return hd_cast_to_floating(leaf, out);
    case HD_TYPE_DECIMAL:
        return hd_cast_to_decimal(leaf, out);
    case HD_TYPE_BOOL:
        return hd_cast_to_bool(leaf, out);
    default:
        return hd_cast_to_integer(leaf, out);
    }
}

/* From a canonical column; `*array` stays the caller's unless its buffers are kept. */
static hudi_status convert_canonical(const struct cast *c, const struct hd_cast_path *path,
                                     const struct ArrowSchema *from, struct ArrowArray *array,
                                     const struct ArrowSchema *to, struct ArrowArray *out)
{
    struct hd_arena arena = {0};
    struct hd_view view;
    hudi_status status;

    HD_TRY_OUT(hd_view_open(c->op, &arena, from, array, &view));
    HD_TRY_OUT(hd_view_validate(c->op, &view));
    struct hd_cast_leaf leaf = {
        .op = c->op, .path = path, .from = &view, .to_field = to, .rule = c->rule, .sink = c->sink};
    HD_TRY_OUT(hd_type_of(c->op, to, &leaf.to));
    status = convert_values(&leaf, array, out);
out:
    hd_arena_clear(&arena);
    return status;
}

static hudi_status convert_leaf(const struct cast *c, const struct hd_cast_path *path,
                                const struct ArrowSchema *from, struct ArrowArray *array,
                                const struct ArrowSchema *to, struct ArrowArray *out)
{
    struct hd_type type;
    struct ArrowSchema plain;
    struct ArrowArray values;

    HD_TRY(hd_type_of(c->op, from, &type));
    if (type.id != HD_TYPE_OTHER)
        return convert_canonical(c, path, from, array, to, out);
    HD_TRY(hd_canonical_schema(c->op, from, &plain));
    hudi_status status = hd_cast_leaf_layout(c->op, path, from, array, &c->sink, &values);
    if (status == HUDI_OK)
        status = convert_canonical(c, path, &plain, &values, to, out);
    hd_array_clear(&values);
    hd_schema_clear(&plain);
    return status;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Nothing changes: keep the array, once its layout is checked. */
static hudi_status keep(const struct cast *c, const struct ArrowSchema *from,
                        struct ArrowArray *array, struct ArrowArray *out)
{
    struct hd_arena arena = {0};
    struct hd_view view;
    hudi_status status;

    HD_TRY_OUT(hd_view_open(c->op, &arena, from, array, &view));
    HD_TRY_OUT(hd_view_validate(c->op, &view));
    hd_array_move(array, out);
out:
    hd_arena_clear(&arena);
    return status;
}

static hudi_status convert_node(const struct cast *c, const struct hd_cast_path *path,
                                const struct ArrowSchema *from, struct ArrowArray *array,
                                const struct ArrowSchema *to, enum match match,
                                struct ArrowArray *out)
{
    struct hd_type type;

    if (hd_type_is_canonical(from) && hd_type_equal(from, to))
        return keep(c, from, array, out);
    HD_TRY(hd_type_of(c->op, to, &type));
    if (from->dictionary != NULL)
        return convert_dictionary(c, path, from, array, to, out);
    if (strcmp(from->format, "n") == 0 || from->format[0] != '+')
        return convert_leaf(c, path, from, array, to, out);
    if (type.id == HD_TYPE_STRUCT)
        return convert_struct(c, path, from, array, to, match, out);
    return convert_list(c, path, from, array, to, out);
}

static hudi_status convert(const struct cast *c, const struct hd_cast_path *path,
                           const struct ArrowSchema *from, struct ArrowArray *array,
                           const struct ArrowSchema *to, enum match match, struct ArrowArray *out)
{
    struct ArrowArray taken;

    hd_array_move(array, &taken);
    *out = (struct ArrowArray){0};
    const hudi_status status = convert_node(c, path, from, &taken, to, match, out);
    hd_array_clear(&taken);
    if (status != HUDI_OK)
        hd_array_clear(out);
    return status;
}

/* ---- required columns ------------------------------------------------------------------------ */

/* Structs around a column: where one of them is null, so may be the column. */
struct around {
    const struct around *up;
    const struct hd_view *view;
};

static bool is_hidden(const struct around *around, int64_t row)
{
    for (; around != NULL; around = around->up) {
        if (hd_view_is_null(around->view, row))
            return true;
    }
    return false;
}

static hudi_status check_required(const struct cast *c, const struct hd_cast_path *path,
                                  const struct around *around, const struct ArrowSchema *field,
                                  const struct hd_view *view)
{
    const bool maybe = view->type.id == HD_TYPE_NULL || view->validity != NULL;

    for (int64_t i = 0; maybe && !hd_schema_nullable(field) && i < view->length; i++) {
        if (hd_view_is_null(view, i) && !is_hidden(around, i))
            HD_TRY(hd_cast_row_fails(c->op, path, &c->sink, i, "null where a value must be"));
    }
    const bool same_rows = view->type.id == HD_TYPE_STRUCT;
    const struct around below = {around, view};
    const int32_t *offsets =
        same_rows || view->values == NULL ? NULL : (const int32_t *)view->values + view->offset;
    const struct hd_cast_rows rows = {c->sink.rows, offsets, view->length};
    struct cast inner = *c;
    if (!same_rows)
        inner.sink.rows = &rows;
    for (int64_t i = 0; i < view->n_children; i++) {
        const struct hd_cast_path child = {path, field->children[i]->name};
        HD_TRY(check_required(&inner, &child, same_rows ? &below : NULL, field->children[i],
                              &view->children[i]));
    }
    return HUDI_OK;
}

static hudi_status check_result(const struct cast *c, const struct hd_cast_path *path,
                                const struct ArrowSchema *to, const struct ArrowArray *array)
{
    struct hd_arena arena = {0};
    struct hd_view view;
    hudi_status status = hd_view_open(c->op, &arena, to, array, &view);

    if (status == HUDI_OK)
        status = check_required(c, path, NULL, to, &view);
    hd_arena_clear(&arena);
    return status;
}

hudi_status hd_cast(struct hd_op *op, const struct ArrowSchema *from, struct ArrowArray *array,
                    const struct ArrowSchema *to, enum hd_cast_rule rule, struct ArrowArray *out)
{
    return hd_cast_rows(op, from, array, to, rule, NULL, out);
}

hudi_status hd_cast_rows(struct hd_op *op, const struct ArrowSchema *from, struct ArrowArray *array,
                         const struct ArrowSchema *to, enum hd_cast_rule rule,
                         struct hd_misfits *misfits, struct ArrowArray *out)
{
    const struct cast c = {op, rule, {misfits, NULL}};
    const struct hd_cast_path leaf = {NULL, to->name};
    const struct hd_cast_path *path = to->n_children > 0 && to->format[1] == 's' ? NULL : &leaf;
    hudi_status status = hd_cast_check(op, from, to, rule);

    *out = (struct ArrowArray){0};
    if (status == HUDI_OK)
        status = convert(&c, path, from, array, to, BY_NAME, out);
    if (status == HUDI_OK)
        status = check_result(&c, path, to, out);
    hd_array_clear(array);
    if (status != HUDI_OK)
        hd_array_clear(out);
    return status;
}
