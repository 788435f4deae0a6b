/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arrow/array.h"
#include "arrow/cast.h"
#include "arrow/schema.h"
#include "engine/scan/scan_internal.h"
#include "format/layout/partition.h"
#include "format/table/table_schema.h"

/*
 * Pruning of partitions. A path says what a column holds only where its text is that of the value:
 * simple and complex key generators. What the timestamp generator formats says nothing certain, nor
 * does the name of the null partition (null, empty, or that very text).
 */

static bool has_named_generator(const struct hd_table_config *config)
{
    return config->key_generator_class != NULL ||
           hd_properties_get(&config->properties, "hoodie.table.keygenerator.type") != NULL;
}

/* Is the path's text of field `i` that of its value? */
static bool field_is_plain(const struct hd_table_config *config, size_t i,
                           const struct hd_type *type)
{
    const bool simple =
        config->key_generator == HD_KEYGEN_SIMPLE || config->key_generator == HD_KEYGEN_COMPLEX ||
        (config->key_generator == HD_KEYGEN_CUSTOM && config->partition_kinds != NULL &&
         config->partition_kinds[i] != NULL && strcmp(config->partition_kinds[i], "simple") == 0);

    if (!simple)
        return false;
    switch (type->id) {
    case HD_TYPE_STRING:
    case HD_TYPE_BOOL:
    case HD_TYPE_INT32:
    case HD_TYPE_INT64:
        return true;
    case HD_TYPE_DATE: /* Flink formats dates and names no generator for it */
        return has_named_generator(config);
    default:
        return false;
    }
}

static bool is_null_partition(struct hd_slice text)
{
    return text.data == NULL || text.size == 0 || hd_slice_equal(text, hd_slice_text("default")) ||
           hd_slice_equal(text, hd_slice_text("__HIVE_DEFAULT_PARTITION__"));
}

/* What the path says of one column. */
struct path_value {
    struct hd_column_bounds bounds;
    struct ArrowArray array;
    struct hd_view view;
};

/* `text` as the one value of the column; it stays unknown when it is none. */
static hudi_status set_value(struct hd_op *op, const struct ArrowSchema *field,
                             struct hd_slice text, struct hd_arena *arena, struct path_value *out)
{
    const struct hd_type string = {.id = HD_TYPE_STRING};
    struct ArrowSchema from;
    struct ArrowArray array;

    HD_TRY(hd_schema_init_field(op, &from, field->name, &string, true));
    hudi_status status = hd_array_constant_string(op, text, 1, &array);
    if (status == HUDI_OK)
        status = hd_cast(op, &from, &array, field, HD_CAST_INPUT, &out->array);
    if (status == HUDI_OK)
        status = hd_view_open(op, arena, field, &out->array, &out->view);
    hd_schema_clear(&from);
    if (status == HUDI_INVALID || status == HUDI_SCHEMA) {
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    if (status == HUDI_OK)
        out->bounds = (struct hd_column_bounds){&out->view, &out->view, 0, true};
    return status;
}

struct pruner {
    const hd_scan_plan *plan;
    const struct hd_table_config *config;
    struct hd_arena arena;                  /* of one partition */
    struct path_value *values;              /* by partition field; the last one is the path's own */
    const struct hd_column_bounds **bounds; /* by column number */
    int32_t *columns;                       /* by partition field: number of its column, or -1 */
    int32_t path_column;                    /* _hoodie_partition_path, or -1 */
};

static hudi_status find_columns(struct hd_op *op, struct pruner *p, bool *any)
{
    const struct ArrowSchema *schema = &p->plan->schema;
    int32_t n;
    const int32_t *filtered = hd_predicate_columns(p->plan->predicate, &n);

    *any = false;
    p->path_column = -1;
    for (size_t f = 0; f < p->config->n_partition_fields; f++)
        p->columns[f] = -1;
    for (int32_t i = 0; i < n; i++) {
        const char *name = schema->children[filtered[i]]->name;
        struct hd_type type;

        HD_TRY(hd_type_of(op, schema->children[filtered[i]], &type));
        if (strcmp(name, HD_META_PARTITION_PATH) == 0)
            p->path_column = filtered[i];
        for (size_t f = 0; f < p->config->n_partition_fields; f++) {
            if (strcmp(name, p->config->partition_fields[f]) == 0 &&
                field_is_plain(p->config, f, &type))
                p->columns[f] = filtered[i];
            *any |= p->columns[f] >= 0;
        }
    }
    *any |= p->path_column >= 0;
    return HUDI_OK;
}

static hudi_status know_partition(struct hd_op *op, struct pruner *p, const char *path)
{
    const size_t n_fields = p->config->n_partition_fields;
    struct hd_slice *texts;

    HD_TRY(hd_arena_array(op, &p->arena, n_fields, sizeof *texts, &texts));
    const hudi_status split = hd_partition_path_values(op, p->config, path, &p->arena, texts);
    if (split == HUDI_CORRUPT)
        hd_op_clear_error(op);
    else
        HD_TRY(split);
    for (size_t f = 0; split == HUDI_OK && f < n_fields; f++) {
        const int32_t column = p->columns[f];

        if (column < 0 || is_null_partition(texts[f]))
            continue;
        HD_TRY(set_value(op, p->plan->schema.children[column], texts[f], &p->arena, &p->values[f]));
        if (p->values[f].bounds.min != NULL)
            p->bounds[column] = &p->values[f].bounds;
    }
    if (p->path_column < 0)
        return HUDI_OK;
    HD_TRY(set_value(op, p->plan->schema.children[p->path_column], hd_slice_text(path), &p->arena,
                     &p->values[n_fields]));
    if (p->values[n_fields].bounds.min != NULL)
        p->bounds[p->path_column] = &p->values[n_fields].bounds;
    return HUDI_OK;
}

static hudi_status prune(struct hd_op *op, struct pruner *p, const char *path, bool *keep)
{
    const size_t n_fields = p->config->n_partition_fields;
    const hudi_status status = know_partition(op, p, path);

    *keep = status != HUDI_OK || hd_predicate_may_match(p->plan->predicate, p->bounds, -1);
    for (size_t f = 0; f <= n_fields; f++) {
        const int32_t column = f < n_fields ? p->columns[f] : p->path_column;

        hd_array_clear(&p->values[f].array);
        p->values[f] = (struct path_value){0};
        if (column >= 0)
            p->bounds[column] = NULL;
    }
    hd_arena_reset(&p->arena);
    return status;
}

hudi_status hd_scan_prune_partitions(struct hd_op *op, const hd_scan_plan *plan,
                                     const struct hd_table_config *config,
                                     const char *const *partitions, size_t n, bool *keep)
{
    hudi_status status = HUDI_OK;
    const size_t n_fields = config->n_partition_fields;
    struct pruner p = {.plan = plan, .config = config};
    bool any;

    HD_TRY_OUT(hd_alloc_array(op, n_fields + 1, sizeof *p.columns, &p.columns));
    HD_TRY_OUT(hd_alloc_array(op, n_fields + 1, sizeof *p.values, &p.values));
    HD_TRY_OUT(hd_alloc_array(op, (size_t)plan->schema.n_children, sizeof *p.bounds, &p.bounds));
    HD_TRY_OUT(find_columns(op, &p, &any));
    for (size_t i = 0; i < n; i++) {
        keep[i] = true;
        if (any)
            HD_TRY_OUT(prune(op, &p, partitions[i], &keep[i]));
    }
out:
    hd_arena_clear(&p.arena);
    hd_free(op, p.columns);
    hd_free(op, p.values);
    hd_free(op, p.bounds);
    return status;
}
