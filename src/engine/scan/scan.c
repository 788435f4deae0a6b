/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scan/scan.h"

#include <string.h>

#include "arrow/schema.h"
#include "engine/scan/scan_internal.h"
#include "format/layout/partition_walk.h"

/*
 * A query from top to bottom: timeline -> file system view -> pruning -> slices; the stream of rows
 * is in scan_stream.c, what happens in one slice in engine/slice.
 */

bool hd_scan_plan_has_splits(const hd_scan_plan *plan)
{
    return plan->type != HD_QUERY_CHANGES;
}

size_t hd_scan_plan_n_splits(const hd_scan_plan *plan)
{
    return plan->n_splits;
}

void hd_scan_plan_free(hd_scan_plan *plan)
{
    if (plan == NULL)
        return;
    hd_predicate_free(plan->predicate);
    hd_internal_schema_free(plan->internal);
    hd_schema_clear(&plan->schema);
    hd_table_config_clear(&plan->own_config);
    hd_options_clear(&plan->merge_options);
    hd_fs_free(plan->own_fs);
    hd_free(NULL, plan->own_path);
    hd_arena_clear(&plan->arena);
    hd_free(NULL, plan);
}

/* ---- schema ------------------------------------------------------------------------------- */

static hudi_status keep_text(struct hd_op *op, struct hd_arena *arena, char *text, const char **out)
{
    char *copy = NULL;
    const hudi_status status = text == NULL ? HUDI_OK : hd_arena_strdup(op, arena, text, &copy);

    *out = copy;
    hd_free(op, text);
    return status;
}

/* The table's schema, at the time asked about. */
static hudi_status find_schema(struct hd_op *op, const struct hd_table_config *config,
                               const struct hd_options *options, const struct hd_timeline *timeline,
                               hd_scan_plan *plan)
{
    static const char BY_ID[] = "hoodie.schema.on.read.enable";
    char *avro = NULL, *latest = NULL;

    hudi_status found = hd_timeline_table_schema(op, timeline, config, plan->as_of, &avro, &latest);
    if (found == HUDI_NOT_FOUND && plan->as_of != NULL)
        found = hd_timeline_table_schema(op, timeline, config, NULL, &avro, &latest);
    if (found == HUDI_NOT_FOUND)
        return HUDI_OK;
    HD_TRY(found);
    hudi_status status = keep_text(op, &plan->arena, avro, &plan->avro);
    HD_KEEP(keep_text(op, &plan->arena, latest, &plan->internal_schema));
    if (options != NULL && hd_options_has(options, BY_ID) && !hd_options_bool(options, NULL, BY_ID))
        plan->internal_schema = NULL;
    return status;
}

/* ---- slices ------------------------------------------------------------------------------- */

/* Of the newest slices by then the newest with a base file. */
static const struct hd_file_slice *base_slice_as_of(const struct hd_file_group *group,
                                                    const char *as_of)
{
    const struct hd_file_slice *slice = hd_file_group_slice_as_of(group, as_of);

    while (slice != NULL && slice->base == NULL)
        slice = slice + 1 < group->slices + group->n_slices ? slice + 1 : NULL;
    return slice;
}

static const struct hd_file_slice *choose_slice(const hd_scan_plan *plan,
                                                const struct hd_file_group *group)
{
    if (plan->type == HD_QUERY_READ_OPTIMIZED)
        return base_slice_as_of(group, plan->as_of);
    if (plan->type == HD_QUERY_SNAPSHOT)
        return hd_file_group_slice_as_of(group, plan->as_of);
    const struct hd_file_slice *slice = hd_file_group_slice_as_of(group, plan->until);
    /* A base file from before the range has no row of it; of log files only the content tells. */
    if (slice != NULL && slice->n_logs == 0 && strcmp(slice->base_instant, plan->since) <= 0)
        return NULL;
    return slice;
}

hudi_status hd_scan_copy_log_paths(struct hd_op *op, struct hd_arena *arena,
                                   const struct hd_file_slice *slice, const char *const **out)
{
    const char **paths;
    char *copy;

    HD_TRY(hd_arena_array(op, arena, slice->n_logs, sizeof *paths, &paths));
    for (size_t i = 0; i < slice->n_logs; i++) {
        HD_TRY(hd_arena_strdup(op, arena, slice->logs[i].path, &copy));
        paths[i] = copy;
    }
    *out = paths;
    return HUDI_OK;
}

static hudi_status add_split(struct hd_op *op, hd_scan_plan *plan,
                             const struct hd_file_slice *slice)
{
    struct hd_slice_source *split = &plan->splits[plan->n_splits++];
    char *partition, *file_id, *instant, *path = NULL;

    HD_TRY(hd_arena_strdup(op, &plan->arena, slice->partition_path, &partition));
    HD_TRY(hd_arena_strdup(op, &plan->arena, slice->file_id, &file_id));
    HD_TRY(hd_arena_strdup(op, &plan->arena, slice->base_instant, &instant));
    if (slice->base != NULL)
        HD_TRY(hd_arena_strdup(op, &plan->arena, slice->base->path, &path));
    *split = (struct hd_slice_source){
        .partition_path = partition,
        .file_id = file_id,
        .instant = instant,
        .base_path = path,
        .base_bytes = slice->base == NULL ? 0 : slice->base->size_bytes,
    };
    if (plan->type == HD_QUERY_READ_OPTIMIZED || slice->n_logs == 0)
        return HUDI_OK;
    split->n_logs = slice->n_logs;
    return hd_scan_copy_log_paths(op, &plan->arena, slice, &split->log_paths);
}

static hudi_status choose_slices(struct hd_op *op, const struct hd_scan_pruner *pruner,
                                 const struct hd_file_system_view *view, hd_scan_plan *plan,
                                 const struct hd_file_slice **slices)
{
    HD_TRY(hd_arena_array(op, &plan->arena, view->n_groups, sizeof *plan->splits, &plan->splits));
    for (size_t i = 0; i < view->n_partitions; i++) {
        bool wanted;

        HD_TRY(hd_scan_partition_may_match(op, pruner, view->partitions[i], &wanted));
        for (size_t g = view->first_group[i]; wanted && g < view->first_group[i + 1]; g++) {
            const struct hd_file_slice *slice = choose_slice(plan, &view->groups[g]);

            if (slice == NULL)
                continue;
            slices[plan->n_splits] = slice;
            HD_TRY(add_split(op, plan, slice));
        }
    }
    return HUDI_OK;
}

/* ---- partitions --------------------------------------------------------------------------- */

/* Partitions that the commits of an incremental range wrote to. `*out` stays NULL when they are not
 * all on the active timeline: then every partition is looked at. */
static hudi_status partitions_of_range(struct hd_op *op, const struct hd_timeline *timeline,
                                       const hd_scan_plan *plan, struct hd_arena *arena,
                                       const char ***out, size_t *n)
{
    hudi_status status = HUDI_OK;
    struct hd_map seen = {0};

    *out = NULL;
    *n = 0;
    if (plan->type != HD_QUERY_INCREMENTAL || timeline->start == NULL ||
        strcmp(plan->since, timeline->start) < 0)
        return HUDI_OK;
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *instant = &timeline->instants[i];
        struct hd_commit_metadata commit;

        if (!hd_instant_is_completed_write(instant) || strcmp(instant->time, plan->since) <= 0 ||
            (plan->until != NULL && strcmp(instant->time, plan->until) > 0))
            continue;
        HD_TRY_OUT(hd_timeline_read_commit(op, timeline, instant, &commit));
        for (size_t s = 0; status == HUDI_OK && s < commit.n_stats; s++)
            status =
                hd_map_put(op, &seen, hd_slice_text(commit.stats[s].partition_path), 0, NULL, NULL);
        hd_commit_metadata_clear(&commit);
        HD_TRY_OUT(status);
    }
    HD_TRY_OUT(hd_arena_array(op, arena, seen.n_entries + 1, sizeof **out, out));
    for (; *n < seen.n_entries; (*n)++) {
        char *copy;

        HD_TRY_OUT(hd_arena_strdup(op, arena, (const char *)seen.entries[*n].key.data, &copy));
        (*out)[*n] = copy;
    }
out:
    hd_map_clear(&seen);
    return status;
}

/* Partitions that a filter leaves, found without listing the others' files; NULL: all. */
static hudi_status partitions_of_filter(struct hd_op *op, hd_pool *pool,
                                        const struct hd_table_snapshot *table,
                                        struct hd_scan_pruner *pruner, struct hd_arena *arena,
                                        const char ***out, size_t *n)
{
    struct hd_walked_partition *found;
    size_t n_found;

    if (!pruner->can_prune || table->config.n_partition_fields == 0)
        return HUDI_OK;
    hudi_status status =
        hd_partition_walk_wanted(op, pool, table->fs, table->path, hd_scan_folder_may_match, pruner,
                                 arena, &found, &n_found);
    if (status == HUDI_OK)
        status = hd_arena_array(op, arena, n_found + 1, sizeof **out, out);
    for (size_t i = 0; status == HUDI_OK && i < n_found; i++)
        (*out)[(*n)++] = found[i].path;
    hd_free(op, found);
    return status;
}

static hudi_status find_splits(struct hd_op *op, hd_pool *pool,
                               const struct hd_table_snapshot *table,
                               const struct hd_timeline *timeline, hd_scan_plan *plan)
{
    hudi_status status = HUDI_OK;
    struct hd_file_system_view view = {0};
    struct hd_arena scratch = {0};
    const struct hd_file_slice **slices;
    const char **partitions = NULL;
    size_t n_partitions = 0;
    struct hd_scan_pruner pruner;

    HD_TRY_OUT(hd_scan_pruner_init(op, &scratch, plan, &table->config, &pruner));
    HD_TRY_OUT(partitions_of_range(op, timeline, plan, &scratch, &partitions, &n_partitions));
    if (partitions == NULL)
        HD_TRY_OUT(
            partitions_of_filter(op, pool, table, &pruner, &scratch, &partitions, &n_partitions));
    HD_TRY_OUT(hd_file_system_view_load(op, pool, table->fs, table->path, &table->config, timeline,
                                        partitions, n_partitions, &view));
    if (plan->until != NULL)
        HD_TRY_OUT(
            hd_scan_check_cleaned(op, table, timeline, &view, &pruner, plan->since, plan->until));
    HD_TRY_OUT(hd_arena_array(op, &scratch, view.n_groups, sizeof *slices, &slices));
    HD_TRY_OUT(choose_slices(op, &pruner, &view, plan, slices));
    if (plan->type == HD_QUERY_SNAPSHOT)
        HD_TRY_OUT(hd_scan_warn_missing_logs(op, &table->config, timeline, plan->as_of, slices,
                                             plan->n_splits));
    if (plan->internal != NULL)
        HD_TRY_OUT(hd_scan_find_file_schemas(op, table, timeline, plan));
out:
    hd_file_system_view_clear(&view);
    hd_arena_clear(&scratch);
    return status;
}

/* ---- log files ---------------------------------------------------------------------------- */

hudi_status hd_scan_find_log_instants(struct hd_op *op, const struct hd_timeline *timeline,
                                      hd_scan_plan *plan)
{
    struct hd_log_instants *out = &plan->log_instants;
    struct hd_log_instant *instants;

    *out = (struct hd_log_instants){.start = timeline->start, .as_of = plan->until};
    HD_TRY(hd_arena_array(op, &plan->arena, timeline->n_instants, sizeof *instants, &instants));
    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *instant = &timeline->instants[i];

        if (hd_instant_is_write(instant))
            instants[out->n_instants++] = (struct hd_log_instant){
                .time = instant->time, .is_committed = hd_instant_is_completed_write(instant)};
    }
    out->instants = instants;
    return HUDI_OK;
}

bool hd_scan_is_merge_option(const char *key)
{
    static const char *const KEYS[] = {
        "libhudi.merge.rules",
        "hoodie.merge.use.record.positions",
        "hoodie.payload.delete.field",
        "hoodie.payload.delete.marker",
        "hoodie.common.spillable.diskmap.type",
        "hoodie.common.diskmap.compression.enabled",
        "hoodie.memory.spillable.map.path",
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(KEYS); i++) {
        if (strcmp(KEYS[i], key) == 0)
            return true;
    }
    return false;
}

static hudi_status keep_merge_options(struct hd_op *op, const struct hd_options *options,
                                      hd_scan_plan *plan)
{
    for (size_t i = 0; options != NULL && i < options->set.n_entries; i++) {
        const struct hd_property *entry = &options->set.entries[i];

        if (hd_scan_is_merge_option(entry->key))
            HD_TRY(hd_options_set(op, &plan->merge_options, entry->key, entry->value));
    }
    return HUDI_OK;
}

/* ---- the plan ----------------------------------------------------------------------------- */

static hudi_status make_plan(struct hd_op *op, hd_pool *pool, const struct hd_table_snapshot *table,
                             const struct hd_options *options, hd_scan_plan *plan)
{
    struct hd_timeline timeline;
    char *uri = NULL;

    HD_TRY(hd_fs_uri(op, table->fs, table->path, &uri));
    HD_TRY(keep_text(op, &plan->arena, uri, &plan->uri));
    HD_TRY(hd_scan_read_options(op, options, &table->config, plan));
    HD_TRY(keep_merge_options(op, options, plan));
    HD_TRY(hd_scan_visible_timeline(op, table, plan->recover, &plan->arena, &timeline));
    HD_TRY(hd_scan_find_range(op, table, &timeline, plan));
    HD_TRY(find_schema(op, &table->config, options, &timeline, plan));
    HD_TRY(hd_scan_find_log_instants(op, &timeline, plan));
    HD_TRY(hd_scan_resolve(op, table->fs, table->path, &table->config, plan));
    plan->table = table;
    return plan->type == HD_QUERY_CHANGES ? HUDI_OK : find_splits(op, pool, table, &timeline, plan);
}

hudi_status hd_scan_plan_new(struct hd_op *op, hd_pool *pool, const struct hd_table_snapshot *table,
                             const struct hd_options *options, hd_scan_plan **out)
{
    hd_scan_plan *plan;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *plan, &plan));
    const hudi_status status = make_plan(op, pool, table, options, plan);
    if (status != HUDI_OK) {
        hd_scan_plan_free(plan);
        return hd_fail_path(op, status, table->uri);
    }
    *out = plan;
    return HUDI_OK;
}
