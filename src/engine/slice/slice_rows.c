/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slice/slice_rows.h"

#include <inttypes.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/schema.h"

hudi_status hd_slice_rows_init(struct hd_op *op, const struct hd_slice_query *query,
                               const struct hd_slice_columns *columns, struct hd_slice_rows *out)
{
    *out = (struct hd_slice_rows){.query = query, .columns = columns};
    return hd_alloc_array(op, (size_t)query->schema->n_children, sizeof(void *), &out->views);
}

void hd_slice_rows_clear(struct hd_op *op, struct hd_slice_rows *rows)
{
    hd_free(op, rows->passes);
    hd_free(op, rows->runs.runs);
    hd_free(op, rows->views);
    hd_arena_clear(&rows->arena);
    *rows = (struct hd_slice_rows){0};
}

/* ---- which rows --------------------------------------------------------------------------- */

/* D: deleted; -U: what an update replaced. Source: HoodieOperation (Hudi 0.10.0) */
static void leave_out_deletes(const struct hd_view *operation, uint8_t *passes)
{
    for (int64_t i = 0; i < operation->length; i++) {
        if (hd_view_is_null(operation, i))
            continue;
        const struct hd_slice text = hd_view_bytes(operation, i);
        const bool deleted = (text.size == 1 && text.data[0] == 'D') ||
                             (text.size == 2 && memcmp(text.data, "-U", 2) == 0);

        passes[i] &= !deleted;
    }
}

/* Values of columns that the partition path gives, once for each row. */
static hudi_status repeat(struct hd_op *op, const struct ArrowSchema *field,
                          const struct ArrowArray *one, int64_t n_rows, struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    struct hd_run *runs;

    HD_TRY(hd_alloc_raw(op, (size_t)n_rows, sizeof *runs, &runs));
    for (int64_t i = 0; i < n_rows; i++)
        runs[i] = (struct hd_run){.source = 0, .start = 0, .length = 1};
    status = hd_gather(op, field, &one, 1, runs, (size_t)n_rows, out);
    hd_free(op, runs);
    return status;
}

/* Views of the columns the predicate looks at; a column of the path is filled in first. */
static hudi_status open_views(struct hd_op *op, struct hd_slice_rows *rows,
                              const struct hd_view *read, int64_t n_rows, struct ArrowArray *filled)
{
    const struct ArrowSchema *schema = rows->query->schema;
    int32_t n;
    const int32_t *filtered = hd_predicate_columns(rows->query->predicate, &n);

    for (int32_t i = 0; i < n; i++) {
        const int32_t column = filtered[i], at = rows->columns->read_of[column];
        struct hd_view *view;

        if (at >= 0) {
            rows->views[column] = &read->children[at];
            continue;
        }
        HD_TRY(hd_arena_alloc(op, &rows->arena, sizeof *view, &view));
        HD_TRY(repeat(op, schema->children[column], &rows->columns->fixed[column], n_rows,
                      &filled[column]));
        HD_TRY(hd_view_open(op, &rows->arena, schema->children[column], &filled[column], view));
        rows->views[column] = view;
    }
    return HUDI_OK;
}

static hudi_status add_runs(struct hd_op *op, const uint8_t *passes, int64_t n_rows,
                            struct hd_run_list *runs)
{
    hd_run_list_reset(runs);
    for (int64_t i = 0; i < n_rows;) {
        const uint8_t *next = memchr(passes + i, 1, (size_t)(n_rows - i));
        if (next == NULL)
            break;
        const int64_t start = next - passes;
        const uint8_t *after = memchr(next, 0, (size_t)(n_rows - start));

        i = after == NULL ? n_rows : after - passes;
        HD_TRY(hd_run_list_add(op, runs, 0, (uint32_t)start, (uint32_t)(i - start)));
    }
    return HUDI_OK;
}

hudi_status hd_slice_rows_select(struct hd_op *op, struct hd_slice_rows *rows,
                                 const struct ArrowArray *batch)
{
    hudi_status status = HUDI_OK;
    const int64_t n_rows = batch->length, n_columns = rows->query->schema->n_children;
    struct hd_view read;
    struct ArrowArray *filled = NULL;

    hd_arena_reset(&rows->arena);
    hd_run_list_reset(&rows->runs);
    if (n_rows == 0)
        return HUDI_OK;
    if ((uint64_t)n_rows > UINT32_MAX)
        return hd_fail(op, HUDI_CORRUPT, "a batch of %" PRId64 " rows", n_rows);
    HD_TRY(hd_grow(op, &rows->passes, &rows->pass_capacity, (size_t)n_rows, 1));
    HD_TRY(hd_view_open(op, &rows->arena, &rows->columns->read, batch, &read));
    HD_TRY(hd_alloc_array(op, (size_t)n_columns, sizeof *filled, &filled));
    if (rows->query->predicate != NULL) {
        HD_TRY_OUT(open_views(op, rows, &read, n_rows, filled));
        HD_TRY_OUT(
            hd_predicate_select(op, rows->query->predicate, rows->views, n_rows, rows->passes));
    } else {
        memset(rows->passes, 1, (size_t)n_rows);
    }
    if (rows->columns->operation >= 0)
        leave_out_deletes(&read.children[rows->columns->operation], rows->passes);
    HD_TRY_OUT(add_runs(op, rows->passes, n_rows, &rows->runs));
out:
    for (int64_t i = 0; i < n_columns; i++)
        hd_array_clear(&filled[i]);
    hd_free(op, filled);
    return status;
}

static hudi_status give_column(struct hd_op *op, const struct hd_slice_rows *rows, int32_t column,
                               struct hd_shared_array *batch, bool all_rows, struct ArrowArray *out)
{
    const struct ArrowSchema *field = rows->query->schema->children[column];
    const int32_t at = rows->columns->read_of[column];
    struct ArrowArray whole;

    if (at < 0)
        return repeat(op, field, &rows->columns->fixed[column], (int64_t)rows->runs.n_rows, out);
    if (all_rows)
        return hd_array_share(op, batch, at, out);
    HD_TRY(hd_array_share(op, batch, at, &whole));
    const struct ArrowArray *source = &whole;
    const hudi_status status =
        hd_gather(op, field, &source, 1, rows->runs.runs, rows->runs.n_runs, out);
    hd_array_clear(&whole);
    return status;
}

hudi_status hd_slice_rows_give(struct hd_op *op, const struct hd_slice_rows *rows,
                               struct ArrowArray *batch, struct ArrowArray *out)
{
    hudi_status status = HUDI_OK;
    const struct hd_slice_query *query = rows->query;
    const int64_t n_rows = (int64_t)rows->runs.n_rows;
    const bool all_rows = n_rows == batch->length;
    struct hd_shared_array *shared = NULL;
    struct ArrowArray *columns = NULL;

    HD_TRY_OUT(hd_shared_array_new(op, batch, &shared));
    HD_TRY_OUT(hd_alloc_array(op, (size_t)query->n_columns, sizeof *columns, &columns));
    for (int32_t i = 0; i < query->n_columns; i++)
        HD_TRY_OUT(give_column(op, rows, query->columns[i], shared, all_rows, &columns[i]));
    HD_TRY_OUT(hd_array_struct(op, columns, query->n_columns, n_rows, out));
out:
    for (int32_t i = 0; columns != NULL && i < query->n_columns; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    hd_shared_array_free(shared);
    hd_array_clear(batch);
    return status;
}
