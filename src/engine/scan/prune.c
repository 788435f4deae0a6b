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

/* ---- one path ----------------------------------------------------------------------------- */

/* What a path says of one column. */
struct path_value {
    struct hd_column_bounds bounds;
    struct ArrowArray arrays[2];
    struct hd_view views[2];
};

/* All that a path says; made anew for each, since several threads ask. */
struct path_facts {
    const struct hd_scan_pruner *pruner;
    struct hd_arena arena;
    struct path_value *values;              /* by partition field; the last one is the path's own */
    const struct hd_column_bounds **bounds; /* by column number */
};

static hudi_status cast_text(struct hd_op *op, const struct ArrowSchema *field,
                             struct hd_slice text, struct hd_arena *arena, struct ArrowArray *array,
                             struct hd_view *view)
{
    const struct hd_type string = {.id = HD_TYPE_STRING};
    struct ArrowSchema from;
    struct ArrowArray plain;

    HD_TRY(hd_schema_init_field(op, &from, field->name, &string, true));
    hudi_status status = hd_array_constant_string(op, text, 1, &plain);
    if (status == HUDI_OK)
        status = hd_cast(op, &from, &plain, field, HD_CAST_INPUT, array);
    if (status == HUDI_OK)
        status = hd_view_open(op, arena, field, array, view);
    hd_schema_clear(&from);
    return status;
}

/* The column is `text`, or with `open_ended` that or what continues it by a slash. It stays unknown
 * when the text is no value of it. */
static hudi_status know_column(struct hd_op *op, struct path_facts *facts, int32_t column,
                               struct hd_slice text, bool open_ended, struct path_value *out)
{
    const struct ArrowSchema *field = facts->pruner->plan->schema.children[column];
    char *end;

    hudi_status status = cast_text(op, field, text, &facts->arena, &out->arrays[0], &out->views[0]);
    if (status == HUDI_INVALID || status == HUDI_SCHEMA) {
        hd_op_clear_error(op);
        return HUDI_OK;
    }
    HD_TRY(status);
    out->bounds = (struct hd_column_bounds){&out->views[0], &out->views[0], 0, !open_ended};
    if (open_ended) {
        /* '0' comes after '/' */
        HD_TRY(hd_arena_printf(op, &facts->arena, &end, "%.*s0", (int)text.size,
                               (const char *)text.data));
        HD_TRY(cast_text(op, field, hd_slice_text(end), &facts->arena, &out->arrays[1],
                         &out->views[1]));
        out->bounds.max = &out->views[1];
    }
    facts->bounds[column] = &out->bounds;
    return HUDI_OK;
}

static hudi_status know_whole_path(struct hd_op *op, struct path_facts *facts, const char *path)
{
    const struct hd_scan_pruner *p = facts->pruner;
    const size_t n_fields = p->config->n_partition_fields;
    struct hd_slice *texts;

    HD_TRY(hd_arena_array(op, &facts->arena, n_fields, sizeof *texts, &texts));
    const hudi_status split = hd_partition_path_values(op, p->config, path, &facts->arena, texts);
    if (split == HUDI_CORRUPT) {
        hd_op_clear_error(op); /* levels that fit no field: nothing is known */
        return HUDI_OK;
    }
    HD_TRY(split);
    for (size_t f = 0; f < n_fields; f++) {
        if (p->columns[f] >= 0 && !is_null_partition(texts[f]))
            HD_TRY(know_column(op, facts, p->columns[f], texts[f], false, &facts->values[f]));
    }
    return HUDI_OK;
}

/* The first levels of a path: of a folder that may hold partitions. A text that was not encoded may
 * go on in the next level; what comes after such a one is not known. */
static hudi_status know_folder(struct hd_op *op, struct path_facts *facts, const char *path)
{
    const struct hd_scan_pruner *p = facts->pruner;
    struct hd_table_config one = *p->config;
    const char *level = path;

    one.n_partition_fields = 1;
    one.partition_kinds = NULL;
    for (size_t f = 0; f < p->config->n_partition_fields && level != NULL; f++) {
        const size_t n = strcspn(level, "/"), n_name = strlen(p->config->partition_fields[f]);
        const bool is_named = p->config->hive_style_partitioning && n > n_name &&
                              level[n_name] == '=' &&
                              memcmp(level, p->config->partition_fields[f], n_name) == 0;
        const bool ends_here = p->config->url_encode_partitioning || !p->is_text[f] ||
                               (is_named && p->config->n_partition_fields > 1);
        struct hd_slice text;
        char *part;

        if (!p->is_plain[f])
            break;
        HD_TRY(hd_arena_strndup(op, &facts->arena, level, n, &part));
        one.partition_fields = &p->config->partition_fields[f];
        HD_TRY(hd_partition_path_values(op, &one, part, &facts->arena, &text));
        if (p->columns[f] >= 0 && !is_null_partition(text))
            HD_TRY(know_column(op, facts, p->columns[f], text, !ends_here, &facts->values[f]));
        if (!ends_here)
            break;
        level = level[n] == '/' ? level + n + 1 : NULL;
    }
    return HUDI_OK;
}

static hudi_status may_hold(struct hd_op *op, const struct hd_scan_pruner *p, const char *path,
                            bool is_whole, bool *out)
{
    hudi_status status = HUDI_OK;
    const size_t n_fields = p->config->n_partition_fields;
    struct path_facts facts = {.pruner = p};

    *out = true;
    if (!p->can_prune)
        return HUDI_OK;
    HD_TRY_OUT(hd_arena_array(op, &facts.arena, n_fields + 1, sizeof *facts.values, &facts.values));
    HD_TRY_OUT(hd_arena_array(op, &facts.arena, (size_t)p->plan->schema.n_children,
                              sizeof *facts.bounds, &facts.bounds));
    HD_TRY_OUT(is_whole ? know_whole_path(op, &facts, path) : know_folder(op, &facts, path));
    if (p->path_column >= 0)
        HD_TRY_OUT(know_column(op, &facts, p->path_column, hd_slice_text(path), !is_whole,
                               &facts.values[n_fields]));
    *out = hd_predicate_may_match(p->plan->predicate, facts.bounds, -1);
out:
    for (size_t f = 0; facts.values != NULL && f <= n_fields; f++) {
        hd_array_clear(&facts.values[f].arrays[0]);
        hd_array_clear(&facts.values[f].arrays[1]);
    }
    hd_arena_clear(&facts.arena);
    return status;
}

hudi_status hd_scan_partition_may_match(struct hd_op *op, const struct hd_scan_pruner *pruner,
                                        const char *partition_path, bool *out)
{
    return may_hold(op, pruner, partition_path, true, out);
}

hudi_status hd_scan_folder_may_match(struct hd_op *op, void *pruner, const char *path, bool *out)
{
    return may_hold(op, pruner, path, false, out);
}

/* ---- the pruner --------------------------------------------------------------------------- */

static hudi_status look_at_field(struct hd_op *op, struct hd_scan_pruner *p, size_t f)
{
    const struct ArrowSchema *schema = &p->plan->schema;
    const int32_t column = hd_schema_find(schema, p->config->partition_fields[f]);
    struct hd_type type;
    int32_t n;
    const int32_t *filtered = hd_predicate_columns(p->plan->predicate, &n);

    p->columns[f] = -1;
    if (column < 0)
        return HUDI_OK;
    HD_TRY(hd_type_of(op, schema->children[column], &type));
    p->is_plain[f] = field_is_plain(p->config, f, &type);
    p->is_text[f] = type.id == HD_TYPE_STRING;
    for (int32_t i = 0; i < n && p->is_plain[f]; i++) {
        if (filtered[i] == column)
            p->columns[f] = column;
    }
    p->can_prune |= p->columns[f] >= 0;
    return HUDI_OK;
}

hudi_status hd_scan_pruner_init(struct hd_op *op, struct hd_arena *arena, const hd_scan_plan *plan,
                                const struct hd_table_config *config, struct hd_scan_pruner *out)
{
    const size_t n_fields = config->n_partition_fields;
    int32_t n;
    const int32_t *filtered = hd_predicate_columns(plan->predicate, &n);

    *out = (struct hd_scan_pruner){.plan = plan, .config = config, .path_column = -1};
    HD_TRY(hd_arena_array(op, arena, n_fields, sizeof *out->columns, &out->columns));
    HD_TRY(hd_arena_array(op, arena, n_fields, sizeof *out->is_plain, &out->is_plain));
    HD_TRY(hd_arena_array(op, arena, n_fields, sizeof *out->is_text, &out->is_text));
    for (size_t f = 0; f < n_fields; f++)
        HD_TRY(look_at_field(op, out, f));
    for (int32_t i = 0; i < n; i++) {
        if (strcmp(plan->schema.children[filtered[i]]->name, HD_META_PARTITION_PATH) == 0)
            out->path_column = filtered[i];
    }
    out->can_prune |= out->path_column >= 0;
    return HUDI_OK;
}
