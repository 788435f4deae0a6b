/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/log_floats.h"

#include "arrow/schema.h"
#include "arrow/type.h"

/* ---- rewriting ------------------------------------------------------------------------------ */

/* Avro's int, long, float, double or bytes. */
static bool is_number_or_bytes(enum hd_type_id id)
{
    switch (id) {
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
    case HD_TYPE_BINARY:
    case HD_TYPE_DECIMAL:
    case HD_TYPE_DATE:
    case HD_TYPE_TIME:
    case HD_TYPE_TIMESTAMP:
        return true;
    default:
        return false;
    }
}

/* The child of `from` that becomes child `i` of `to`. */
static const struct ArrowSchema *child_for(const struct ArrowSchema *from,
                                           const struct ArrowSchema *to, int64_t i)
{
    struct hd_type type;

    if (!hd_type_parse(from, &type) || type.id != HD_TYPE_STRUCT)
        return i < from->n_children ? from->children[i] : NULL;
    const int32_t at = hd_schema_find(from, to->children[i]->name);
    return at < 0 ? NULL : from->children[at];
}

bool hd_log_is_rewritten(const struct ArrowSchema *file, const struct ArrowSchema *table)
{
    struct hd_type from, to;

    if (!hd_type_parse(file, &from) || !hd_type_parse(table, &to))
        return false;
    if (to.id == HD_TYPE_STRING)
        return is_number_or_bytes(from.id);
    for (int64_t i = 0; from.id == to.id && i < table->n_children; i++) {
        const struct ArrowSchema *child = child_for(file, table, i);

        if (child != NULL && hd_log_is_rewritten(child, table->children[i]))
            return true;
    }
    return false;
}

/* ---- doubles -------------------------------------------------------------------------------- */

hudi_status hd_log_widen_floats(struct hd_op *op, struct ArrowSchema *column,
                                const struct ArrowSchema *understood,
                                const struct ArrowSchema *wanted, bool *changed)
{
    const struct hd_type wide = {.id = HD_TYPE_DOUBLE};
    struct ArrowSchema field;
    struct hd_type from, to;

    if (!hd_type_parse(column, &from) || !hd_type_parse(wanted, &to))
        return HUDI_OK;
    if (from.id == HD_TYPE_FLOAT && to.id == HD_TYPE_DOUBLE) {
        HD_TRY(hd_schema_init_field(op, &field, column->name, &wide, hd_schema_nullable(column)));
        hd_schema_clear(column);
        *column = field;
        *changed = true;
        return HUDI_OK;
    }
    for (int64_t i = 0; from.id == to.id && i < wanted->n_children; i++) {
        const struct ArrowSchema *child = child_for(understood, wanted, i);

        for (int64_t at = 0; child != NULL && at < column->n_children; at++) {
            if (understood->children[at] == child)
                HD_TRY(hd_log_widen_floats(op, column->children[at], child, wanted->children[i],
                                           changed));
        }
    }
    return HUDI_OK;
}
