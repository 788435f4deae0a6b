/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/projection.h"

#include <string.h>

#include "arrow/array.h"
#include "arrow/schema.h"

struct hd_projection {
    struct ArrowSchema target;
    struct ArrowSchema file; /* only the columns that are read, in that order */
    int32_t n_columns;       /* of the target */
    int32_t *source;         /* of each target column: number in `file`, -1: null */
    bool *same;              /* of each target column: nothing to convert */
    int32_t *file_columns;   /* of each column of `file`: its number in the file's schema */
    int32_t n_file_columns;
    enum hd_cast_rule rule;
    bool is_identity;
};

/* ---- construction ------------------------------------------------------------------------- */

static int32_t find_source(const struct ArrowSchema *target, const struct ArrowSchema *file,
                           const char *const *names, int32_t column)
{
    const char *name = names == NULL ? target->children[column]->name : names[column];

    return name == NULL ? -1 : hd_schema_find(file, name);
}

/* Whether `to` may be null wherever `from` may. What an input promises is taken at its word, what
 * it does not is looked at. */
static bool keeps_nulls(const struct ArrowSchema *from, const struct ArrowSchema *to)
{
    if (hd_schema_nullable(from) && !hd_schema_nullable(to))
        return false;
    for (int64_t i = 0; i < to->n_children; i++)
        if (!keeps_nulls(from->children[i], to->children[i]))
            return false;
    return true;
}

/* Resolve every target column; columns of the file are numbered as they are first wanted. */
static hudi_status choose_columns(struct hd_op *op, const struct ArrowSchema *file,
                                  const char *const *names, struct hd_projection *projection)
{
    const struct ArrowSchema *target = &projection->target;

    for (int32_t i = 0; i < projection->n_columns; i++) {
        const struct ArrowSchema *wanted = target->children[i];
        const int32_t column = find_source(target, file, names, i);

        projection->source[i] = -1;
        if (column < 0) {
            if (!hd_schema_nullable(wanted))
                return hd_fail(op, HUDI_SCHEMA, "column \"%s\" is required and not there",
                               wanted->name);
            continue;
        }
        HD_TRY(hd_cast_check(op, file->children[column], wanted, projection->rule));
        projection->same[i] =
            hd_type_equal(file->children[column], wanted) &&
            (projection->rule != HD_CAST_INPUT || keeps_nulls(file->children[column], wanted));
        for (int32_t k = 0; k < projection->n_file_columns; k++) {
            if (projection->file_columns[k] == column)
                projection->source[i] = k;
        }
        if (projection->source[i] < 0) {
            projection->source[i] = projection->n_file_columns;
            projection->file_columns[projection->n_file_columns++] = column;
        }
    }
    return HUDI_OK;
}

static bool changes_nothing(const struct hd_projection *projection, const struct ArrowSchema *file)
{
    if (projection->n_columns != file->n_children)
        return false;
    for (int32_t i = 0; i < projection->n_columns; i++) {
        if (projection->source[i] != i || projection->file_columns[i] != i || !projection->same[i])
            return false;
        if (strcmp(projection->target.children[i]->name, file->children[i]->name) != 0)
            return false;
    }
    return true;
}

static hudi_status fill_projection(struct hd_op *op, const struct ArrowSchema *target,
                                   const struct ArrowSchema *file, const char *const *names,
                                   struct hd_projection *projection)
{
    const size_t n = (size_t)target->n_children;

    HD_TRY(hd_schema_copy(op, target, &projection->target));
    HD_TRY(hd_alloc_array(op, n, sizeof(*projection->source), &projection->source));
    HD_TRY(hd_alloc_array(op, n, sizeof(*projection->same), &projection->same));
    HD_TRY(hd_alloc_array(op, n, sizeof(*projection->file_columns), &projection->file_columns));
    projection->n_columns = (int32_t)n;
    HD_TRY(choose_columns(op, file, names, projection));
    projection->is_identity = changes_nothing(projection, file);
    return hd_schema_select(op, file, projection->file_columns, projection->n_file_columns,
                            &projection->file);
}

hudi_status hd_projection_new(struct hd_op *op, const struct ArrowSchema *target,
                              const struct ArrowSchema *file, const char *const *names,
                              enum hd_cast_rule rule, hd_projection **out)
{
    struct hd_projection *projection = NULL;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof(*projection), &projection));
    projection->rule = rule;
    const hudi_status status = fill_projection(op, target, file, names, projection);

    if (status != HUDI_OK) {
        hd_projection_free(projection);
        return status;
    }
    *out = projection;
    return HUDI_OK;
}

void hd_projection_free(hd_projection *projection)
{
    if (projection == NULL)
        return;
    hd_schema_clear(&projection->target);
    hd_schema_clear(&projection->file);
    hd_free(NULL, projection->source);
    hd_free(NULL, projection->same);
    hd_free(NULL, projection->file_columns);
    hd_free(NULL, projection);
}

const int32_t *hd_projection_file_columns(const hd_projection *projection, int32_t *n)
{
    *n = projection->n_file_columns;
    return projection->file_columns;
}

bool hd_projection_is_identity(const hd_projection *projection)
{
    return projection->is_identity;
}

/* ---- batches ------------------------------------------------------------------------------ */

static hudi_status make_column(struct hd_op *op, const struct hd_projection *projection,
                               struct hd_shared_array *batch, int32_t column, int64_t n_rows,
                               struct hd_misfits *misfits, struct ArrowArray *out)
{
    const struct ArrowSchema *target = projection->target.children[column];
    const int32_t source = projection->source[column];
    struct ArrowArray shared = {0};

    if (source < 0)
        return hd_array_nulls(op, target, n_rows, out);
    if (projection->same[column])
        return hd_array_share(op, batch, source, out);
    HD_TRY(hd_array_share(op, batch, source, &shared));
    return hd_cast_rows(op, projection->file.children[source], &shared, target, projection->rule,
                        misfits, out);
}

hudi_status hd_projection_apply(struct hd_op *op, hd_projection *projection,
                                struct ArrowArray *batch, struct ArrowArray *out)
{
    return hd_projection_apply_rows(op, projection, batch, NULL, out);
}

hudi_status hd_projection_apply_rows(struct hd_op *op, hd_projection *projection,
                                     struct ArrowArray *batch, struct hd_misfits *misfits,
                                     struct ArrowArray *out)
{
    const int32_t n = projection->n_columns;
    const int64_t n_rows = batch->length;
    struct hd_shared_array *shared = NULL;
    struct ArrowArray *columns = NULL;
    hudi_status status;

    *out = (struct ArrowArray){0};
    if (projection->is_identity) {
        hd_array_move(batch, out);
        return HUDI_OK;
    }
    if (batch->n_children != projection->n_file_columns) {
        status = hd_fail(op, HUDI_INTERNAL, "a batch of %lld columns, expected %d",
                         (long long)batch->n_children, projection->n_file_columns);
        goto out;
    }
    HD_TRY_OUT(hd_shared_array_new(op, batch, &shared));
    HD_TRY_OUT(hd_alloc_array(op, (size_t)n, sizeof(*columns), &columns));
    for (int32_t i = 0; i < n; i++)
        HD_TRY_OUT(make_column(op, projection, shared, i, n_rows, misfits, &columns[i]));
    status = hd_array_struct(op, columns, n, n_rows, out);
out:
    for (int32_t i = 0; columns != NULL && i < n; i++)
        hd_array_clear(&columns[i]);
    hd_free(op, columns);
    hd_shared_array_free(shared);
    hd_array_clear(batch);
    return status;
}

bool hd_is_bare_time(const struct hd_type *file, const struct hd_type *table)
{
    const bool wide = table->id == HD_TYPE_TIMESTAMP ||
                      (table->id == HD_TYPE_TIME && table->unit > HD_UNIT_MILLI);
    const bool narrow =
        table->id == HD_TYPE_DATE || (table->id == HD_TYPE_TIME && table->unit <= HD_UNIT_MILLI);

    return (wide && file->id == HD_TYPE_INT64) || (narrow && file->id == HD_TYPE_INT32);
}

static hudi_status understand_column(struct hd_op *op, const struct ArrowSchema *table,
                                     struct ArrowSchema *column)
{
    struct hd_type stored, meant;
    struct ArrowSchema field;

    HD_TRY(hd_type_of(op, column, &stored));
    HD_TRY(hd_type_of(op, table, &meant));
    if (!hd_is_bare_time(&stored, &meant))
        return HUDI_OK;
    HD_TRY(hd_schema_init_field(op, &field, column->name, &meant, hd_schema_nullable(column)));
    hd_schema_clear(column);
    *column = field;
    return HUDI_OK;
}

hudi_status hd_stored_schema(struct hd_op *op, const struct ArrowSchema *file,
                             const struct ArrowSchema *table, struct ArrowSchema *out)
{
    hudi_status status = HUDI_OK;

    HD_TRY(hd_schema_copy(op, file, out));
    for (int64_t i = 0; i < out->n_children && status == HUDI_OK; i++) {
        const int32_t column = hd_schema_find(table, out->children[i]->name);

        if (column >= 0)
            status = understand_column(op, table->children[column], out->children[i]);
    }
    if (status != HUDI_OK)
        hd_schema_clear(out);
    return status;
}

hudi_status hd_reads_as_stored(struct hd_op *op, const struct ArrowSchema *file,
                               const struct ArrowSchema *table, bool *out)
{
    hudi_status status = HUDI_OK;
    struct ArrowSchema stored = {0};
    hd_projection *projection = NULL;

    HD_TRY_OUT(hd_stored_schema(op, file, table, &stored));
    HD_TRY_OUT(hd_projection_new(op, table, &stored, NULL, HD_CAST_READ, &projection));
    *out = hd_projection_is_identity(projection);
out:
    hd_projection_free(projection);
    hd_schema_clear(&stored);
    return status;
}
