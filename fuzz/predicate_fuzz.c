/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a filter: one that parses can be asked of rows and of bounds, and where bounds rule
 * out all rows no row passes. */
#include <stdlib.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/schema.h"
#include "engine/slice/predicate.h"
#include "format/table/table_schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N_ROWS 4

static const char COLUMNS[] = "i int\nl bigint\nf float\nd double\ns string\nb boolean\n"
                              "dec decimal(10,2)\nday date\nts timestamp\ntags array<string>\n";

static void must(hudi_status status)
{
    if (status != HUDI_OK)
        abort();
}

/* Rows 0 and 1 ascend, row 2 is null, row 3 is row 0 again. */
static void append(struct hd_op *op, hd_builder *column, int row)
{
    const struct hd_type *type = hd_builder_type(column);
    const int value = row == 3 ? 0 : row;

    if (row == 2 || type->id == HD_TYPE_LIST)
        must(hd_builder_append_null(op, column));
    else if (type->id == HD_TYPE_FLOAT || type->id == HD_TYPE_DOUBLE)
        must(hd_builder_append_double(op, column, value));
    else if (type->id == HD_TYPE_STRING)
        must(hd_builder_append_bytes(op, column, hd_slice_text(value == 0 ? "a" : "b")));
    else if (type->id == HD_TYPE_DECIMAL)
        must(hd_builder_append_decimal(op, column, value));
    else
        must(hd_builder_append_integer(op, column, value));
}

static void ask(struct hd_op *op, const hd_predicate *predicate, const struct hd_view *view)
{
    const struct hd_view *columns[16];
    struct hd_view ends[16][2];
    struct hd_column_bounds known[16];
    const struct hd_column_bounds *bounds[16];
    uint8_t passes[N_ROWS];
    int n_passing = 0;

    for (int64_t i = 0; i < view->n_children; i++) {
        columns[i] = &view->children[i];
        ends[i][0] = ends[i][1] = view->children[i];
        ends[i][0].length = ends[i][1].length = 1;
        ends[i][1].offset += 1;
        known[i] = (struct hd_column_bounds){&ends[i][0], &ends[i][1], 1, false};
        if (columns[i]->type.id == HD_TYPE_LIST)
            known[i] = (struct hd_column_bounds){NULL, NULL, N_ROWS, false};
        bounds[i] = &known[i];
    }
    must(hd_predicate_select(op, predicate, columns, N_ROWS, passes));
    for (int i = 0; i < N_ROWS; i++)
        n_passing += passes[i];
    if (n_passing > 0 && !hd_predicate_may_match(predicate, bounds, N_ROWS))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_op op;
    struct hd_arena arena = {0};
    struct ArrowSchema schema;
    struct ArrowArray batch;
    struct hd_view view;
    hd_builder *rows;
    hd_predicate *predicate;

    hd_op_init(&op);
    must(hd_table_schema_parse(&op, hd_slice_text(COLUMNS), &schema));
    must(hd_builder_new(&op, &schema, &rows));
    for (int row = 0; row < N_ROWS; row++) {
        for (int64_t i = 0; i < schema.n_children; i++)
            append(&op, hd_builder_child(rows, i), row);
        must(hd_builder_append_valid(&op, rows));
    }
    must(hd_builder_finish(&op, rows, &batch));
    must(hd_view_open(&op, &arena, &schema, &batch, &view));
    must(hd_predicate_new(&op, &schema, &predicate));
    if (hd_predicate_and(&op, predicate, hd_slice_of(data, size)) == HUDI_OK)
        ask(&op, predicate, &view);
    hd_predicate_free(predicate);
    hd_builder_free(rows);
    hd_array_clear(&batch);
    hd_schema_clear(&schema);
    hd_arena_clear(&arena);
    hd_op_clear(&op);
    return 0;
}
