/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/row_cursor.h"

#include <inttypes.h>

#include "arrow/array.h"

static uint64_t n_rows_between(const hd_base_reader *base, int32_t from, int32_t to)
{
    uint64_t n = 0;

    for (int32_t i = from; i < to; i++)
        n += (uint64_t)hd_base_reader_row_group_rows(base, i);
    return n;
}

void hd_row_cursor_start(const hd_base_reader *base, const int32_t *row_groups, int32_t n,
                         struct hd_row_cursor *out)
{
    *out = (struct hd_row_cursor){.base = base, .row_groups = row_groups, .n_row_groups = n};
    if (n > 0)
        out->first_row = n_rows_between(base, 0, row_groups[0]);
}

/* Past row groups of which all rows are passed; false at the end. */
static bool go_on(struct hd_row_cursor *cursor)
{
    while (cursor->at < cursor->n_row_groups &&
           cursor->n_passed ==
               hd_base_reader_row_group_rows(cursor->base, cursor->row_groups[cursor->at])) {
        const int32_t row_group = cursor->row_groups[cursor->at++];

        cursor->n_passed = 0;
        if (cursor->at < cursor->n_row_groups)
            cursor->first_row +=
                n_rows_between(cursor->base, row_group, cursor->row_groups[cursor->at]);
    }
    return cursor->at < cursor->n_row_groups;
}

static hudi_status take(struct hd_op *op, struct hd_row_cursor *cursor, int64_t n_rows,
                        uint64_t *first)
{
    if (n_rows == 0)
        return HUDI_OK;
    if (!go_on(cursor))
        return hd_fail(op, HUDI_CORRUPT, "%" PRId64 " rows more than the row groups have", n_rows);
    const int32_t row_group = cursor->row_groups[cursor->at];
    const int64_t n_all = hd_base_reader_row_group_rows(cursor->base, row_group);
    if (n_rows > n_all - cursor->n_passed)
        return hd_fail(op, HUDI_CORRUPT, "row group %" PRId32 " has more than its %" PRId64 " rows",
                       row_group, n_all);
    *first = cursor->first_row + (uint64_t)cursor->n_passed;
    cursor->n_passed += n_rows;
    return HUDI_OK;
}

hudi_status hd_row_cursor_follow(struct hd_op *op, struct hd_row_cursor *cursor, hudi_status read,
                                 struct ArrowArray *batch, uint64_t *first)
{
    *first = 0;
    if (read == HUDI_END && go_on(cursor))
        return hd_fail(op, HUDI_CORRUPT,
                       "row group %" PRId32 " has fewer rows than the footer says",
                       cursor->row_groups[cursor->at]);
    if (read != HUDI_OK)
        return read;
    const hudi_status status = take(op, cursor, batch->length, first);
    if (status != HUDI_OK)
        hd_array_clear(batch);
    return status;
}
