/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/cast.h"
#include "arrow/schema.h"
#include "engine/slice/slice_columns.h"

/* Which row groups of a base file may hold rows that pass, by the footer's statistics. */

/* Bounds stay bounds when the file's type becomes the table's: the same type, or a conversion that
 * keeps the order of values. Numbers that become text do not. */
static bool keeps_order(const struct hd_type *file, const struct hd_type *table)
{
    const bool integer = file->id == HD_TYPE_INT32 || file->id == HD_TYPE_INT64;

    if (file->id == table->id)
        return true;
    return (integer && (table->id == HD_TYPE_INT64 || table->id == HD_TYPE_DOUBLE)) ||
           (file->id == HD_TYPE_FLOAT && table->id == HD_TYPE_DOUBLE);
}

/* A column's bounds in the table's type. */
struct column_bounds {
    struct hd_column_bounds bounds;
    struct ArrowArray min, max;
    struct hd_view views[2];
};

static hudi_status open_bound(struct hd_op *op, struct hd_arena *arena,
                              const struct ArrowSchema *file, const struct ArrowSchema *table,
                              struct ArrowArray *stored, struct ArrowArray *out,
                              struct hd_view *view)
{
    HD_TRY(hd_cast(op, file, stored, table, HD_CAST_READ, out));
    return hd_view_open(op, arena, table, out, view);
}

static hudi_status read_bounds(struct hd_op *op, const struct hd_slice_columns *columns,
                               hd_base_reader *reader, int32_t row_group, int32_t at,
                               struct hd_arena *arena, struct column_bounds *out)
{
    const struct ArrowSchema *table = columns->read.children[at];
    const int32_t file_column = columns->file.column_of[at];
    const struct ArrowSchema *file = columns->file.schema.children[file_column];
    struct hd_column_stats stats;
    struct hd_type file_type, table_type;
    hudi_status status = HUDI_OK;

    out->bounds.null_count = -1;
    HD_TRY(hd_type_of(op, file, &file_type));
    HD_TRY(hd_type_of(op, table, &table_type));
    HD_TRY(hd_base_reader_column_stats(op, reader, row_group, file_column, &stats));
    if (stats.has_null_count)
        out->bounds.null_count = stats.null_count;
    if (!stats.has_bounds || !keeps_order(&file_type, &table_type))
        goto out;
    status = open_bound(op, arena, file, table, &stats.min, &out->min, &out->views[0]);
    if (status == HUDI_OK)
        status = open_bound(op, arena, file, table, &stats.max, &out->max, &out->views[1]);
    if (status == HUDI_OK) {
        out->bounds.min = &out->views[0];
        out->bounds.max = &out->views[1];
    } else if (status != HUDI_NO_MEMORY) {
        hd_op_clear_error(op); /* bounds that are no values of the table: nothing is known */
        status = HUDI_OK;
    }
out:
    hd_column_stats_clear(&stats);
    return status;
}

static hudi_status may_match(struct hd_op *op, const struct hd_slice_query *query,
                             const struct hd_slice_columns *columns, hd_base_reader *reader,
                             int32_t row_group, bool *out)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    struct column_bounds *known = NULL;
    const struct hd_column_bounds **bounds;
    const int64_t n_rows = hd_base_reader_row_group_rows(reader, row_group);
    int32_t n;
    const int32_t *filtered = hd_predicate_columns(query->predicate, &n);

    HD_TRY_OUT(
        hd_arena_array(op, &arena, (size_t)query->schema->n_children, sizeof *bounds, &bounds));
    HD_TRY_OUT(hd_arena_array(op, &arena, (size_t)n, sizeof *known, &known));
    for (int32_t i = 0; i < n; i++) {
        const int32_t at = columns->read_of[filtered[i]];

        if (at < 0)
            continue; /* of the partition path: pruned before */
        if (columns->file.column_of[at] < 0)
            known[i].bounds.null_count = n_rows;
        else
            HD_TRY_OUT(read_bounds(op, columns, reader, row_group, at, &arena, &known[i]));
        bounds[filtered[i]] = &known[i].bounds;
    }
    *out = hd_predicate_may_match(query->predicate, bounds, n_rows);
out:
    for (int32_t i = 0; known != NULL && i < n; i++) {
        hd_array_clear(&known[i].min);
        hd_array_clear(&known[i].max);
    }
    hd_arena_clear(&arena);
    return status;
}

hudi_status hd_slice_row_groups(struct hd_op *op, const struct hd_slice_query *query,
                                const struct hd_slice_columns *columns, hd_base_reader *reader,
                                int32_t **out, int32_t *n)
{
    const int32_t n_all = hd_base_reader_n_row_groups(reader);
    int32_t n_filtered = 0;

    *n = 0;
    HD_TRY(hd_alloc_array(op, (size_t)n_all, sizeof **out, out));
    if (query->predicate != NULL && query->use_statistics)
        hd_predicate_columns(query->predicate, &n_filtered);
    for (int32_t i = 0; i < n_all; i++) {
        bool wanted = true;

        if (n_filtered > 0)
            HD_TRY(may_match(op, query, columns, reader, i, &wanted));
        if (wanted)
            (*out)[(*n)++] = i;
    }
    return HUDI_OK;
}
