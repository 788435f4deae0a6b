/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/text_check.h"

#include "arrow/cast_internal.h"
#include "arrow/view.h"
#include "base/utf8.h"

static bool holds_texts(const struct hd_view *view)
{
    if (view->type.id == HD_TYPE_STRING)
        return true;
    for (int64_t i = 0; i < view->n_children; i++)
        if (holds_texts(&view->children[i]))
            return true;
    return false;
}

/* Bytes of all rows: where they are ASCII, each row is. */
static bool is_ascii(const struct hd_view *view)
{
    const int32_t *const offsets = (const int32_t *)view->values + view->offset;
    const uint8_t *at = view->data + offsets[0];
    size_t n = (size_t)(offsets[view->length] - offsets[0]);
    uint64_t all = 0, word;

    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        all |= word;
    }
    for (; n > 0; n--)
        all |= *at++;
    return (all & UINT64_C(0x8080808080808080)) == 0;
}

/* The first text of a value that is no UTF-8. */
static bool find_bad(const struct hd_view *view, int64_t row, const struct hd_view **bad,
                     int64_t *bad_row)
{
    int64_t first = row, n = 1;

    if (hd_view_is_null(view, row))
        return false;
    if (view->type.id == HD_TYPE_STRING) {
        *bad = view;
        *bad_row = row;
        return !hd_utf8_valid(hd_view_bytes(view, row));
    }
    if (view->type.id == HD_TYPE_LIST || view->type.id == HD_TYPE_MAP)
        first = hd_view_list(view, row, &n);
    for (int64_t c = 0; c < view->n_children; c++)
        for (int64_t i = first; holds_texts(&view->children[c]) && i < first + n; i++)
            if (find_bad(&view->children[c], i, bad, bad_row))
                return true;
    return false;
}

static hudi_status check_column(struct hd_op *op, const struct hd_view *column,
                                struct hd_misfits *misfits)
{
    char value[HD_CAST_TEXT_BYTES];
    const struct hd_view *bad;
    int64_t bad_row;

    if (column->length == 0 || !holds_texts(column) ||
        (column->type.id == HD_TYPE_STRING && is_ascii(column)))
        return HUDI_OK;
    for (int64_t row = 0; row < column->length; row++) {
        if (!find_bad(column, row, &bad, &bad_row))
            continue;
        hd_cast_value_text(bad, bad_row, value);
        HD_TRY(
            hd_misfits_add(op, misfits, row, "column \"%s\": %s is no UTF-8", column->name, value));
    }
    return HUDI_OK;
}

hudi_status hd_check_texts(struct hd_op *op, struct hd_arena *arena,
                           const struct ArrowSchema *schema, const struct ArrowArray *array,
                           struct hd_misfits *misfits)
{
    struct hd_view view;

    HD_TRY(hd_view_open(op, arena, schema, array, &view));
    for (int64_t i = 0; i < view.n_children; i++)
        HD_TRY(check_column(op, &view.children[i], misfits));
    return HUDI_OK;
}
