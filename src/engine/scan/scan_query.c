/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <strings.h>

#include "arrow/schema.h"
#include "engine/scan/scan_internal.h"
#include "engine/slice/slice_columns.h"
#include "format/table/table_schema.h"
#include "format/timeline/instant.h"

/* ---- options ------------------------------------------------------------------------------ */

/* Times before every commit: what users write for "from the beginning". */
static bool is_beginning(const char *text)
{
    return text[0] != '\0' &&
           (strcasecmp(text, "earliest") == 0 || text[strspn(text, "0")] == '\0');
}

static hudi_status take_time(struct hd_op *op, const char *text,
                             const struct hd_table_config *config, hd_scan_plan *plan,
                             const char **out)
{
    char time[HD_INSTANT_TIME_BYTES];
    char *copy;

    if (is_beginning(text)) {
        *out = "0";
        return HUDI_OK;
    }
    HD_TRY(hd_instant_time_parse(op, text, config->timeline_utc, time));
    HD_TRY(hd_arena_strdup(op, &plan->arena, time, &copy));
    *out = copy;
    return HUDI_OK;
}

static hudi_status check_changes(struct hd_op *op, const struct hd_options *options,
                                 const struct hd_table_config *config)
{
    if (!config->cdc_enabled)
        return hd_fail(op, HUDI_INVALID,
                       "the table does not log changes (hoodie.table.cdc.enabled is not true)");
    if (hd_options_has(options, "libhudi.read.filter"))
        return hd_fail(op, HUDI_INVALID, "a filter does not go with a query of changes");
    return HUDI_OK;
}

static hudi_status read_range(struct hd_op *op, const struct hd_options *options,
                              const struct hd_table_config *config, hd_scan_plan *plan)
{
    static const char BEGIN[] = "hoodie.datasource.read.begin.instanttime";
    const char *begin = hd_options_text(options, NULL, BEGIN);
    const char *end = hd_options_text(options, NULL, "hoodie.datasource.read.end.instanttime");

    if (strcasecmp(hd_options_text(options, NULL, "hoodie.datasource.query.incremental.format"),
                   "cdc") == 0) {
        plan->type = HD_QUERY_CHANGES;
        HD_TRY(check_changes(op, options, config));
        begin = begin == NULL ? "0" : begin;
    }
    if (begin == NULL)
        return hd_fail(op, HUDI_INVALID, "an incremental query needs %s", BEGIN);
    if (hd_options_bool(options, NULL, "read.streaming.skip_insertoverwrite"))
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "incremental queries do not leave out overwritten partitions yet");
    if (!config->populate_meta_fields && plan->type == HD_QUERY_INCREMENTAL)
        return hd_fail(op, HUDI_INVALID,
                       "an incremental query goes by _hoodie_commit_time, which this table does "
                       "not store (hoodie.populate.meta.fields=false)");
    HD_TRY(take_time(op, begin, config, plan, &plan->begin));
    return end == NULL ? HUDI_OK : take_time(op, end, config, plan, &plan->end);
}

static hudi_status keep(struct hd_op *op, const char *text, hd_scan_plan *plan, const char **out)
{
    char *copy = NULL;

    if (text != NULL && text[strspn(text, " \t\r\n")] != '\0')
        HD_TRY(hd_arena_strdup(op, &plan->arena, text, &copy));
    *out = copy;
    return HUDI_OK;
}

hudi_status hd_scan_read_options(struct hd_op *op, const struct hd_options *options,
                                 const struct hd_table_config *config, hd_scan_plan *plan)
{
    const char *type = hd_options_text(options, NULL, "hoodie.datasource.query.type");
    const char *as_of = hd_options_text(options, NULL, "as.of.instant");
    static const char LIMIT[] = "libhudi.read.limit", ROWS[] = "libhudi.read.batch.rows";

    plan->type = strcasecmp(type, "incremental") == 0      ? HD_QUERY_INCREMENTAL
                 : strcasecmp(type, "read_optimized") == 0 ? HD_QUERY_READ_OPTIMIZED
                                                           : HD_QUERY_SNAPSHOT;
    if (config->type == HD_MERGE_ON_READ && plan->type != HD_QUERY_READ_OPTIMIZED &&
        strcasecmp(hd_options_text(options, NULL, "hoodie.datasource.merge.type"), "skip_merge") ==
            0)
        return hd_fail(
            op, HUDI_NOT_IMPLEMENTED,
            "rows are not read without merging (hoodie.datasource.merge.type=skip_merge)");
    if (as_of != NULL && plan->type == HD_QUERY_INCREMENTAL)
        return hd_fail(op, HUDI_INVALID, "as.of.instant does not go with an incremental query");
    if (as_of != NULL)
        HD_TRY(take_time(op, as_of, config, plan, &plan->as_of));
    if (plan->type == HD_QUERY_INCREMENTAL)
        HD_TRY(read_range(op, options, config, plan));
    HD_TRY(keep(op, hd_options_text(options, NULL, "libhudi.read.filter"), plan, &plan->filter));
    HD_TRY(keep(op, hd_options_text(options, NULL, "libhudi.read.columns"), plan, &plan->columns));
    plan->limit = options != NULL && hd_options_has(options, LIMIT)
                      ? hd_options_int(options, NULL, LIMIT)
                      : -1;
    HD_TRY(keep(op, hd_options_text(options, NULL, "hoodie.memory.spillable.map.path"), plan,
                &plan->spill_folder));
    plan->recover = hd_options_bool(options, NULL, "libhudi.read.recover");
    plan->query.recover = plan->recover;
    plan->query.use_statistics = hd_options_bool(options, NULL, "hoodie.enable.data.skipping");
    if (options != NULL && hd_options_has(options, ROWS))
        plan->query.batch_rows = hd_options_int(options, NULL, ROWS);
    return HUDI_OK;
}

/* ---- columns ------------------------------------------------------------------------------ */

/* Type of a partition column that neither files nor commits have: what the table was created with,
 * else text. */
static hudi_status dropped_column(struct hd_op *op, const struct hd_table_config *config,
                                  const char *name, struct ArrowSchema *out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    struct ArrowSchema created = {0};
    hudi_status status = HUDI_OK;
    int32_t column = -1;

    if (config->create_schema != NULL && config->create_schema[0] != '\0') {
        HD_TRY(hd_table_schema_from_avro(op, config->create_schema, &created));
        column = hd_schema_find(&created, name);
    }
    status = column < 0 ? hd_schema_init_field(op, out, name, &text, true)
                        : hd_schema_copy_as(op, created.children[column], name, true, out);
    hd_schema_clear(&created);
    return status;
}

/* Stored meta columns, the table's own, and partition columns that only paths have. */
static hudi_status make_schema(struct hd_op *op, const struct hd_table_config *config,
                               const struct ArrowSchema *own, struct ArrowSchema *out)
{
    const struct hd_type text = {.id = HD_TYPE_STRING};
    const int64_t n_meta = config->populate_meta_fields ? HD_N_META_COLUMNS : 0;
    int64_t n_dropped = 0, next = 0;

    for (size_t i = 0; i < config->n_partition_fields; i++)
        n_dropped += hd_slice_column_is_dropped(config, config->partition_fields[i]) &&
                     hd_schema_find(own, config->partition_fields[i]) < 0;
    HD_TRY(hd_schema_init_struct(op, out, "", false, n_meta + own->n_children + n_dropped));
    for (; next < n_meta; next++)
        HD_TRY(hd_schema_init_field(op, out->children[next], hd_meta_columns[next], &text, true));
    for (int64_t i = 0; i < own->n_children; i++)
        HD_TRY(hd_schema_copy(op, own->children[i], out->children[next++]));
    for (size_t i = 0; n_dropped > 0 && i < config->n_partition_fields; i++) {
        const char *name = config->partition_fields[i];

        if (hd_schema_find(own, name) < 0)
            HD_TRY(dropped_column(op, config, name, out->children[next++]));
    }
    return HUDI_OK;
}

static hudi_status find_column(struct hd_op *op, const struct ArrowSchema *schema, const char *name,
                               int32_t *out)
{
    size_t n_alike = 0;

    *out = hd_schema_find(schema, name);
    for (int32_t i = 0; *out < 0 && i < schema->n_children; i++)
        n_alike += strcasecmp(schema->children[i]->name, name) == 0;
    if (*out >= 0)
        return HUDI_OK;
    for (int32_t i = 0; n_alike == 1 && i < schema->n_children; i++) {
        if (strcasecmp(schema->children[i]->name, name) == 0)
            *out = i;
    }
    if (*out >= 0)
        return HUDI_OK;
    if (hd_is_meta_column(name))
        return hd_fail(op, HUDI_INVALID, "the table does not store the meta column \"%s\"", name);
    return hd_fail(op, HUDI_INVALID, "%s \"%s\"",
                   n_alike > 1 ? "several columns are called" : "there is no column", name);
}

/* The columns of a comma list. */
static hudi_status named_columns(struct hd_op *op, hd_scan_plan *plan)
{
    static const char BLANKS[] = " \t\r\n";
    const char *at = plan->columns;
    size_t n = 1;

    for (const char *c = at; *c != '\0'; c++)
        n += *c == ',';
    HD_TRY(
        hd_arena_array(op, &plan->arena, n, sizeof *plan->column_numbers, &plan->column_numbers));
    for (size_t i = 0; i < n; i++) {
        const char *end = at + strcspn(at, ",");
        const char *start = at + strspn(at, BLANKS);
        char *name;

        at = end + 1;
        while (end > start && strchr(BLANKS, end[-1]) != NULL)
            end--;
        if (start >= end)
            return hd_fail(op, HUDI_INVALID, "column %zu of the list \"%s\" has no name", i + 1,
                           plan->columns);
        HD_TRY(hd_arena_strndup(op, &plan->arena, start, (size_t)(end - start), &name));
        HD_TRY(find_column(op, &plan->schema, name, &plan->column_numbers[i]));
    }
    plan->query.n_columns = (int32_t)n;
    return HUDI_OK;
}

static hudi_status choose_columns(struct hd_op *op, hd_scan_plan *plan)
{
    const size_t n = (size_t)plan->schema.n_children;

    if (plan->columns != NULL) {
        HD_TRY(named_columns(op, plan));
    } else {
        HD_TRY(hd_arena_array(op, &plan->arena, n, sizeof *plan->column_numbers,
                              &plan->column_numbers));
        for (size_t i = 0; i < n; i++)
            plan->column_numbers[i] = (int32_t)i;
        plan->query.n_columns = (int32_t)n;
    }
    plan->query.columns = plan->column_numbers;
    return HUDI_OK;
}

/* ---- rows --------------------------------------------------------------------------------- */

hudi_status hd_scan_resolve(struct hd_op *op, hd_file_system *fs, const char *table_path,
                            const struct hd_table_config *config, hd_scan_plan *plan)
{
    struct ArrowSchema own = {0};
    const bool has_schema = plan->avro != NULL;

    if (has_schema) {
        HD_TRY(hd_table_schema_from_avro(op, plan->avro, &own));
        const hudi_status status = make_schema(op, config, &own, &plan->schema);
        hd_schema_clear(&own);
        HD_TRY(status);
    } else {
        HD_TRY(hd_schema_init_struct(op, &plan->schema, "", false, 0));
    }
    HD_TRY(hd_predicate_new(op, &plan->schema, &plan->predicate));
    HD_TRY(choose_columns(op, plan));
    if (plan->filter != NULL)
        HD_TRY(hd_predicate_and(op, plan->predicate, hd_slice_text(plan->filter)));
    if (plan->type == HD_QUERY_INCREMENTAL && has_schema)
        HD_TRY(hd_scan_filter_range(op, plan));
    if (plan->internal_schema != NULL)
        HD_TRY(hd_internal_schema_parse(op, hd_slice_text(plan->internal_schema), &plan->internal));
    plan->query.fs = fs;
    plan->query.table_path = table_path;
    plan->query.config = config;
    plan->query.schema = &plan->schema;
    plan->query.predicate = plan->predicate;
    plan->query.internal = plan->internal;
    plan->query.options = &plan->merge_options;
    plan->query.use_positions =
        hd_options_bool(&plan->merge_options, NULL, "hoodie.merge.use.record.positions");
    plan->query.log_instants = &plan->log_instants;
    plan->query.read_optimized = plan->type == HD_QUERY_READ_OPTIMIZED;
    return HUDI_OK;
}
