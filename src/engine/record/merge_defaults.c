/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/merge_defaults.h"

#include "arrow/schema.h"
#include "codec/json.h"

static hudi_status take_default(struct hd_op *op, const hd_json *value, struct hd_arena *arena,
                                struct hd_merge_default *out)
{
    struct hd_slice text = {0};
    char *copy = NULL;
    bool flag = false;

    if (hd_json_is_bool(value)) {
        HD_TRY(hd_json_as_bool(op, value, "default", &flag));
        *out = (struct hd_merge_default){.kind = HD_DEFAULT_INTEGER, .integer = flag};
    } else if (hd_json_is_integer(value)) {
        HD_TRY(hd_json_as_int64(op, value, "default", &out->integer));
        out->number = (double)out->integer;
        out->kind = HD_DEFAULT_INTEGER;
    } else if (hd_json_is_number(value)) {
        HD_TRY(hd_json_as_double(op, value, "default", &out->number));
        out->kind = HD_DEFAULT_DOUBLE;
    } else if (hd_json_is_string(value)) {
        HD_TRY(hd_json_as_string(op, value, "default", &text));
        HD_TRY(hd_arena_strndup(op, arena, text.data, text.size, &copy));
        out->text = hd_slice_of(copy, text.size);
        out->kind = HD_DEFAULT_TEXT;
    }
    return HUDI_OK;
}

static hudi_status take_fields(struct hd_op *op, const hd_json *document,
                               const struct ArrowSchema *schema, struct hd_arena *arena,
                               struct hd_merge_defaults *out)
{
    const hd_json *fields = NULL;

    HD_TRY(hd_json_get_array(op, document, "fields", &fields));
    for (size_t i = 0; i < hd_json_length(fields); i++) {
        const hd_json *field = hd_json_at(fields, i);
        struct hd_slice name = {0};

        HD_TRY(hd_json_get_string(op, field, "name", &name));
        const int32_t column = hd_schema_find(schema, (const char *)name.data);

        if (column >= 0)
            HD_TRY(
                take_default(op, hd_json_member(field, "default"), arena, &out->columns[column]));
    }
    return HUDI_OK;
}

hudi_status hd_merge_defaults_parse(struct hd_op *op, const char *avro_json,
                                    const struct ArrowSchema *schema, struct hd_arena *arena,
                                    struct hd_merge_defaults *out)
{
    hd_json *document = NULL;

    HD_TRY(hd_arena_array(op, arena, (size_t)schema->n_children, sizeof(*out->columns),
                          &out->columns));
    if (avro_json == NULL || *avro_json == '\0')
        return HUDI_OK;
    HD_TRY(hd_json_parse(op, hd_slice_text(avro_json), &document));
    const hudi_status status = take_fields(op, document, schema, arena, out);

    hd_json_free(document);
    return status;
}

bool hd_merge_default_equals(const struct hd_merge_defaults *defaults, int32_t column,
                             const struct hd_view *view, int64_t row)
{
    const struct hd_merge_default *expected = &defaults->columns[column];

    if (hd_view_is_null(view, row) || expected->kind == HD_DEFAULT_NULL)
        return hd_view_is_null(view, row) && expected->kind == HD_DEFAULT_NULL;
    switch (view->type.id) {
    case HD_TYPE_BOOL:
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
    case HD_TYPE_DATE:
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
        return expected->kind == HD_DEFAULT_INTEGER &&
               hd_view_integer(view, row) == expected->integer;
    case HD_TYPE_FLOAT:
        return expected->kind != HD_DEFAULT_TEXT &&
               hd_view_float(view, row) == (float)expected->number;
    case HD_TYPE_DOUBLE:
        return expected->kind != HD_DEFAULT_TEXT && hd_view_double(view, row) == expected->number;
    case HD_TYPE_STRING:
        return expected->kind == HD_DEFAULT_TEXT &&
               hd_slice_equal(hd_view_bytes(view, row), expected->text);
    default:
        return false;
    }
}
