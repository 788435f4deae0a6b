/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/field_path.h"

#include <string.h>

static int32_t find_child(const struct ArrowSchema *schema, const char *name, size_t n)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *child = schema->children[i]->name;

        if (child != NULL && strlen(child) == n && memcmp(child, name, n) == 0)
            return (int32_t)i;
    }
    return -1;
}

hudi_status hd_field_path_find(struct hd_op *op, const struct ArrowSchema *schema, const char *name,
                               struct hd_field_path *out)
{
    const struct ArrowSchema *at = schema;
    const char *rest = name;

    *out = (struct hd_field_path){0};
    for (;;) {
        const char *dot = strchr(rest, '.');
        const size_t n = dot == NULL ? strlen(rest) : (size_t)(dot - rest);

        if (at->format == NULL || strcmp(at->format, "+s") != 0)
            return HUDI_NOT_FOUND;
        const int32_t child = find_child(at, rest, n);

        if (child < 0)
            return HUDI_NOT_FOUND;
        if (out->n_steps == HD_FIELD_PATH_MAX)
            return hd_fail(op, HUDI_NOT_IMPLEMENTED, "field \"%s\" is nested deeper than %d levels",
                           name, HD_FIELD_PATH_MAX);
        out->steps[out->n_steps++] = child;
        at = at->children[child];
        if (dot == NULL)
            return hd_type_of(op, at, &out->type);
        rest = dot + 1;
    }
}

const struct hd_view *hd_field_path_view(const struct hd_field_path *path,
                                         const struct hd_view *columns)
{
    const struct hd_view *view = &columns[path->steps[0]];

    for (int32_t i = 1; i < path->n_steps; i++)
        view = &view->children[path->steps[i]];
    return view;
}

bool hd_field_path_is_null(const struct hd_field_path *path, const struct hd_view *columns,
                           int64_t row)
{
    const struct hd_view *view = &columns[path->steps[0]];

    for (int32_t i = 1; i < path->n_steps; i++) {
        if (hd_view_is_null(view, row))
            return true;
        view = &view->children[path->steps[i]];
    }
    return hd_view_is_null(view, row);
}
