/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arrow/cast_internal.h"
#include "arrow/java_text.h"
#include "arrow/schema.h"

#define MESSAGE_BYTES 400
#define VALUE_BYTES 40 /* of a text, in messages: 4 each and quotes are HD_CAST_TEXT_BYTES */

/* ---- messages -------------------------------------------------------------------------------- */

static hudi_status append_path(struct hd_op *op, const struct hd_cast_path *path,
                               struct hd_str *out)
{
    if (path == NULL)
        return HUDI_OK;
    HD_TRY(append_path(op, path->up, out));
    if (out->size > 0)
        HD_TRY(hd_str_append_char(op, out, '.'));
    return hd_str_append_text(op, out, path->name == NULL ? "" : path->name);
}

hudi_status hd_cast_fail(struct hd_op *op, const struct hd_cast_path *path, hudi_status status,
                         const char *format, ...)
{
    char message[MESSAGE_BYTES];
    struct hd_str name = {0};
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const hudi_status named = append_path(op, path, &name);
    if (named == HUDI_OK)
        status = hd_fail(op, status, "column \"%s\" %s", hd_str_text(&name), message);
    else
        status = named;
    hd_str_clear(&name);
    return status;
}

/* The array's row that holds item `row`. */
static int64_t outer_row(const struct hd_cast_rows *rows, int64_t row)
{
    for (; rows != NULL; rows = rows->up) {
        int64_t low = 0, high = rows->n_rows; /* offsets[low] <= row < offsets[high] */

        while (high - low > 1) {
            const int64_t middle = low + (high - low) / 2;
            if (rows->offsets[middle] <= row)
                low = middle;
            else
                high = middle;
        }
        row = low;
    }
    return row;
}

hudi_status hd_cast_row_fails(struct hd_op *op, const struct hd_cast_path *path,
                              const struct hd_cast_sink *sink, int64_t row, const char *format, ...)
{
    char message[MESSAGE_BYTES];
    struct hd_str name = {0};
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    row = outer_row(sink->rows, row);
    if (sink->misfits == NULL)
        return hd_cast_fail(op, path, HUDI_INVALID, "row %lld: %s", (long long)row, message);
    hudi_status status = append_path(op, path, &name);
    if (status == HUDI_OK)
        status = hd_misfits_add(op, sink->misfits, row, "column \"%s\": %s", hd_str_text(&name),
                                message);
    hd_str_clear(&name);
    return status;
}

void hd_cast_value_text(const struct hd_view *view, int64_t row, char out[HD_CAST_TEXT_BYTES])
{
    const enum hd_type_id id = view->type.id;
    char scratch[HD_JAVA_TEXT_BYTES];
    const bool text = id == HD_TYPE_STRING || id == HD_TYPE_BINARY || id == HD_TYPE_FIXED_BINARY;
    const struct hd_slice bytes =
        text ? hd_view_bytes(view, row) : hd_java_text(view, row, false, scratch);
    size_t n = 0;

    if (text)
        out[n++] = '"';
    for (size_t i = 0; i < bytes.size && i < VALUE_BYTES; i++) {
        const uint8_t c = bytes.data[i];
        if (c >= 0x20 && c < 0x7f)
            out[n++] = (char)c;
        else
            n += (size_t)sprintf(out + n, "\\x%02x", c);
    }
    if (text)
        out[n++] = '"';
    if (bytes.size > VALUE_BYTES)
        n += (size_t)sprintf(out + n, "...");
    out[n] = '\0';
}

hudi_status hd_cast_misfit_at(const struct hd_cast_leaf *leaf, int64_t row, int64_t named_row)
{
    char value[HD_CAST_TEXT_BYTES];
    struct hd_str type = {0};
    hudi_status status = hd_type_describe(leaf->op, leaf->to_field, &type);

    hd_cast_value_text(leaf->from, row, value);
    if (status == HUDI_OK)
        status = hd_cast_row_fails(leaf->op, leaf->path, &leaf->sink, named_row,
                                   "%s does not fit %s", value, hd_str_text(&type));
    hd_str_clear(&type);
    return status;
}

hudi_status hd_cast_misfit(const struct hd_cast_leaf *leaf, int64_t row)
{
    return hd_cast_misfit_at(leaf, row, row);
}

/* ---- rules ----------------------------------------------------------------------------------- */

#define REFUSED ((enum hd_cast_rule)(HD_CAST_INPUT + 1))

static enum hd_cast_rule rule_of_numbers(enum hd_type_id from, enum hd_type_id to)
{
    switch (to) {
    case HD_TYPE_INT64:
        return from == HD_TYPE_INT32 ? HD_CAST_WIDEN : HD_CAST_INPUT;
    case HD_TYPE_FLOAT:
        return from == HD_TYPE_INT32 || from == HD_TYPE_INT64 ? HD_CAST_WIDEN : HD_CAST_INPUT;
    case HD_TYPE_DOUBLE:
        return from == HD_TYPE_DECIMAL ? HD_CAST_INPUT : HD_CAST_WIDEN;
    case HD_TYPE_STRING:
    case HD_TYPE_DECIMAL:
        return HD_CAST_READ;
    case HD_TYPE_INT32:
        return HD_CAST_INPUT;
    case HD_TYPE_DATE:
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
        return from == HD_TYPE_INT32 || from == HD_TYPE_INT64 ? HD_CAST_INPUT : REFUSED;
    default:
        return REFUSED;
    }
}

static enum hd_cast_rule rule_of_text(enum hd_type_id to)
{
    switch (to) {
    case HD_TYPE_BINARY:
        return HD_CAST_WIDEN;
    case HD_TYPE_DATE:
    case HD_TYPE_DECIMAL:
        return HD_CAST_READ;
    case HD_TYPE_BOOL:
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
    case HD_TYPE_FIXED_BINARY:
        return HD_CAST_INPUT;
    default:
        return REFUSED;
    }
}

static enum hd_cast_rule rule_of_same(const struct hd_type *from, const struct hd_type *to)
{
    switch (to->id) {
    case HD_TYPE_DECIMAL:
        if (from->precision == to->precision && from->scale == to->scale)
            return HD_CAST_CANONICAL;
        return to->scale >= from->scale &&
                       to->precision - to->scale >= from->precision - from->scale
                   ? HD_CAST_WIDEN
                   : HD_CAST_INPUT;
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
        if (from->utc != to->utc)
            return HD_CAST_READ;
        return from->unit == to->unit  ? HD_CAST_CANONICAL
               : from->unit < to->unit ? HD_CAST_WIDEN
                                       : HD_CAST_READ;
    case HD_TYPE_FIXED_BINARY:
        return from->byte_width == to->byte_width ? HD_CAST_CANONICAL : REFUSED;
    default:
        return HD_CAST_CANONICAL;
    }
}

enum hd_cast_rule hd_cast_rule_of(const struct hd_type *from, const struct hd_type *to)
{
    if (from->id == to->id)
        return rule_of_same(from, to);
    switch (from->id) {
    case HD_TYPE_NULL:
        return HD_CAST_WIDEN;
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_DECIMAL:
        return rule_of_numbers(from->id, to->id);
    case HD_TYPE_STRING:
        return rule_of_text(to->id);
    case HD_TYPE_BINARY:
        return to->id == HD_TYPE_STRING         ? HD_CAST_WIDEN
               : to->id == HD_TYPE_FIXED_BINARY ? HD_CAST_INPUT
                                                : REFUSED;
    case HD_TYPE_FIXED_BINARY:
        return to->id == HD_TYPE_BINARY ? HD_CAST_WIDEN : REFUSED;
    case HD_TYPE_BOOL:
        return to->id == HD_TYPE_STRING ? HD_CAST_INPUT : REFUSED;
    case HD_TYPE_DATE:
        return to->id == HD_TYPE_STRING      ? HD_CAST_READ
               : to->id == HD_TYPE_TIMESTAMP ? HD_CAST_INPUT
                                             : REFUSED;
    case HD_TYPE_TIMESTAMP:
        return to->id == HD_TYPE_DATE ? HD_CAST_INPUT : REFUSED;
    default:
        return REFUSED;
    }
}

/* ---- trees ----------------------------------------------------------------------------------- */

static hudi_status refuse_change(struct hd_op *op, const struct hd_cast_path *path,
                                 const struct ArrowSchema *from, const struct ArrowSchema *to)
{
    struct hd_str old = {0}, wanted = {0};
    hudi_status status;

    HD_TRY_OUT(hd_type_describe(op, from, &old));
    HD_TRY_OUT(hd_type_describe(op, to, &wanted));
    status = hd_cast_fail(op, path, HUDI_SCHEMA, "of type %s cannot become %s", hd_str_text(&old),
                          hd_str_text(&wanted));
out:
    hd_str_clear(&old);
    hd_str_clear(&wanted);
    return status;
}

static hudi_status check(struct hd_op *op, const struct hd_cast_path *path,
                         const struct ArrowSchema *from, const struct ArrowSchema *to,
                         enum hd_cast_rule rule, int depth);

static hudi_status check_struct(struct hd_op *op, const struct hd_cast_path *path,
                                const struct ArrowSchema *from, const struct ArrowSchema *to,
                                enum hd_cast_rule rule, int depth)
{
    for (int64_t i = 0; i < to->n_children; i++) {
        const struct ArrowSchema *wanted = to->children[i];
        const struct hd_cast_path child = {path, wanted->name};
        const int32_t at = hd_schema_find(from, wanted->name == NULL ? "" : wanted->name);
        if (at >= 0)
            HD_TRY(check(op, &child, from->children[at], wanted, rule, depth + 1));
        else if (!hd_schema_nullable(wanted))
            return hd_cast_fail(op, &child, HUDI_SCHEMA, "is required and missing");
    }
    for (int64_t i = 0; i < from->n_children && rule != HD_CAST_READ; i++) {
        const char *name = from->children[i]->name;
        const struct hd_cast_path child = {path, name};
        if (hd_schema_find(to, name == NULL ? "" : name) < 0)
            return hd_cast_fail(op, &child, HUDI_SCHEMA, "is not in the schema");
    }
    return HUDI_OK;
}

static hudi_status check(struct hd_op *op, const struct hd_cast_path *path,
                         const struct ArrowSchema *from, const struct ArrowSchema *to,
                         enum hd_cast_rule rule, int depth)
{
    struct hd_type a, b;

    if (depth > HD_TYPE_MAX_DEPTH)
        return hd_fail(op, HUDI_INVALID, "types nest more than %d deep", HD_TYPE_MAX_DEPTH);
    HD_TRY(hd_type_of(op, from, &a));
    HD_TRY(hd_type_of(op, to, &b));
    if (b.id == HD_TYPE_OTHER || b.id == HD_TYPE_DICTIONARY)
        return hd_cast_fail(op, path, HUDI_NOT_IMPLEMENTED, "is wanted in a layout not canonical");
    if (hd_cast_rule_of(&a, &b) > rule)
        return refuse_change(op, path, from, to);
    if (a.id != b.id)
        return HUDI_OK;
    switch (b.id) {
    case HD_TYPE_STRUCT:
        return check_struct(op, path, from, to, rule, depth);
    case HD_TYPE_LIST: {
        const struct hd_cast_path child = {path, to->children[0]->name};
        return check(op, &child, from->children[0], to->children[0], rule, depth + 1);
    }
    case HD_TYPE_MAP:
        for (int64_t i = 0; i < 2; i++) {
            const struct ArrowSchema *wanted = to->children[0]->children[i];
            const struct hd_cast_path child = {path, i == 0 ? "key" : "value"};
            HD_TRY(check(op, &child, from->children[0]->children[i], wanted, rule, depth + 2));
        }
        return HUDI_OK;
    default:
        return HUDI_OK;
    }
}

hudi_status hd_cast_check(struct hd_op *op, const struct ArrowSchema *from,
                          const struct ArrowSchema *to, enum hd_cast_rule rule)
{
    const struct hd_cast_path leaf = {NULL, to->name};
    struct ArrowSchema plain;
    struct hd_type type;

    HD_TRY(hd_canonical_schema(op, from, &plain));
    hudi_status status = hd_type_of(op, to, &type);
    if (status == HUDI_OK) /* a batch is a struct without a name of interest */
        status = check(op, type.id == HD_TYPE_STRUCT ? NULL : &leaf, &plain, to, rule, 0);
    hd_schema_clear(&plain);
    return status;
}
