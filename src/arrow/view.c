/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/view.h"

/* Stands in for buffers that an array without rows or bytes may leave out. */
static const int32_t ZEROS[2];

static hudi_status contradicts(struct hd_op *op, const struct ArrowSchema *field, const char *what)
{
    return hd_fail(op, HUDI_INVALID, "array of field \"%s\" %s",
                   field->name == NULL ? "" : field->name, what);
}

/* `base` rows of `array` lie before the view's first: the offset that a struct around it has. */
static hudi_status open_view(struct hd_op *op, struct hd_arena *arena,
                             const struct ArrowSchema *field, const struct ArrowArray *array,
                             int64_t base, int64_t length, int depth, struct hd_view *out);

static hudi_status open_offsets(struct hd_op *op, const struct ArrowSchema *field,
                                const struct ArrowArray *array, struct hd_view *out)
{
    const int32_t *offsets = (const int32_t *)out->values + out->offset;
    const int32_t first = out->length == 0 ? 0 : offsets[0];
    const int32_t last = out->length == 0 ? 0 : offsets[out->length];
    if (first < 0 || last < first)
        return contradicts(op, field, "has offsets that fall");
    if (out->type.id == HD_TYPE_LIST || out->type.id == HD_TYPE_MAP) {
        if (last > array->children[0]->length)
            return contradicts(op, field, "has offsets past the end of its child");
        return HUDI_OK;
    }
    out->data = array->buffers[2];
    if (out->data == NULL && last > 0)
        return contradicts(op, field, "has no data buffer");
    if (out->data == NULL)
        out->data = (const uint8_t *)ZEROS;
    return HUDI_OK;
}

static hudi_status open_dictionary(struct hd_op *op, struct hd_arena *arena,
                                   const struct ArrowSchema *field, const struct ArrowArray *array,
                                   int depth, struct hd_view *out)
{
    if (array->dictionary == NULL)
        return contradicts(op, field, "has no dictionary");
    HD_TRY(hd_arena_alloc(op, arena, sizeof *out->dictionary, &out->dictionary));
    HD_TRY(open_view(op, arena, field->dictionary, array->dictionary, 0, array->dictionary->length,
                     depth + 1, out->dictionary));
    for (int64_t i = 0; i < out->length; i++) {
        const int32_t index = hd_view_i32(out, i);
        if ((index < 0 || index >= out->dictionary->length) && !hd_view_is_null(out, i))
            return contradicts(op, field, "has an index outside its dictionary");
    }
    return HUDI_OK;
}

static hudi_status open_children(struct hd_op *op, struct hd_arena *arena,
                                 const struct ArrowSchema *field, const struct ArrowArray *array,
                                 int depth, struct hd_view *out)
{
    const bool rows = out->type.id == HD_TYPE_STRUCT;

    if (array->n_children != field->n_children)
        return contradicts(op, field, "has another number of children than its type");
    out->n_children = field->n_children;
    HD_TRY(hd_arena_array(op, arena, (size_t)field->n_children, sizeof *out->children,
                          &out->children));
    for (int64_t i = 0; i < field->n_children; i++) {
        const struct ArrowArray *child = array->children[i];
        if (child == NULL || child->release == NULL)
            return contradicts(op, field, "has a child that was released");
        HD_TRY(open_view(op, arena, field->children[i], child, rows ? out->offset : 0,
                         rows ? out->length : child->length, depth + 1, &out->children[i]));
    }
    return HUDI_OK;
}

static hudi_status open_view(struct hd_op *op, struct hd_arena *arena,
                             const struct ArrowSchema *field, const struct ArrowArray *array,
                             int64_t base, int64_t length, int depth, struct hd_view *out)
{
    *out = (struct hd_view){.name = field->name == NULL ? "" : field->name, .array = array};
    if (depth > HD_TYPE_MAX_DEPTH)
        return hd_fail(op, HUDI_INVALID, "types nest more than %d deep", HD_TYPE_MAX_DEPTH);
    HD_TRY(hd_type_of(op, field, &out->type));
    const enum hd_type_id id = out->type.id;
    if (id == HD_TYPE_OTHER)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "field \"%s\" has a type that is not canonical",
                       out->name);
    if (array->length < 0 || array->offset < 0 || array->offset > INT64_MAX / 64 ||
        array->length > INT64_MAX / 64 || base > array->length || length > array->length - base)
        return contradicts(op, field, "is shorter than what holds it");
    out->length = length;
    out->offset = array->offset + base;
    if (id == HD_TYPE_NULL) {
        out->null_count = length;
        return HUDI_OK;
    }
    const int64_t n_buffers = hd_type_n_buffers(&out->type);
    if (array->n_buffers != n_buffers || array->buffers == NULL)
        return contradicts(op, field, "has another number of buffers than its type");
    out->validity = array->null_count == 0 ? NULL : array->buffers[0];
    const bool whole = length == array->length;
    out->null_count = out->validity == NULL ? 0 : whole ? array->null_count : -1;
    if (out->null_count < -1 || out->null_count > length)
        out->null_count = -1;
    if (n_buffers > 1) {
        const bool empty = id == HD_TYPE_FIXED_BINARY && out->type.byte_width == 0;
        out->values = array->buffers[1];
        if (out->values == NULL && length > 0 && !empty)
            return contradicts(op, field, "has no values buffer");
        if (out->values == NULL) {
            out->values = ZEROS;
            out->offset = empty ? out->offset : 0;
        }
    }
    if (field->n_children > 0 || id == HD_TYPE_STRUCT)
        HD_TRY(open_children(op, arena, field, array, depth, out));
    if (id == HD_TYPE_STRING || id == HD_TYPE_BINARY || id == HD_TYPE_LIST || id == HD_TYPE_MAP)
        HD_TRY(open_offsets(op, field, array, out));
    if (id == HD_TYPE_DICTIONARY)
        HD_TRY(open_dictionary(op, arena, field, array, depth, out));
    return HUDI_OK;
}

hudi_status hd_view_open(struct hd_op *op, struct hd_arena *arena, const struct ArrowSchema *field,
                         const struct ArrowArray *array, struct hd_view *out)
{
    return open_view(op, arena, field, array, 0, array->length, 0, out);
}

hudi_status hd_view_validate(struct hd_op *op, const struct hd_view *view)
{
    const enum hd_type_id id = view->type.id;

    if (id == HD_TYPE_STRING || id == HD_TYPE_BINARY || id == HD_TYPE_LIST || id == HD_TYPE_MAP) {
        const int32_t *offsets = (const int32_t *)view->values + view->offset;
        bool fall = false;
        for (int64_t i = 0; i < view->length; i++)
            fall |= offsets[i + 1] < offsets[i];
        if (fall)
            return hd_fail(op, HUDI_INVALID, "array of field \"%s\" has offsets that fall",
                           view->name);
    }
    for (int64_t i = 0; i < view->n_children; i++)
        HD_TRY(hd_view_validate(op, &view->children[i]));
    return HUDI_OK;
}
