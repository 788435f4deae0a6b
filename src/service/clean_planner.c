/* SPDX-License-Identifier: Apache-2.0 */
#include "service/clean_planner.h"

#include <string.h>

#include "format/table/config_keys.h"
#include "format/timeline/compaction_plan.h"
#include "format/timeline/replace_plan.h"
#include "format/timeline/savepoint_metadata.h"

/* ---- what must stay ------------------------------------------------------------------------- */

static hudi_status need(struct hd_op *op, struct hd_clean_planner *planner, const char *name)
{
    return name == NULL ? HUDI_OK
                        : hd_map_put(op, &planner->needed, hd_slice_text(name), 0, NULL, NULL);
}

static hudi_status need_savepoint(struct hd_op *op, struct hd_clean_planner *planner,
                                  const struct hd_instant *instant)
{
    struct hd_savepoint_metadata metadata;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_savepoint_metadata_read(op, &planner->table->timeline, instant, &metadata));
    for (size_t i = 0; i < metadata.n_partitions && status == HUDI_OK; i++)
        for (size_t j = 0; j < metadata.partitions[i].n_files && status == HUDI_OK; j++)
            status = need(op, planner, metadata.partitions[i].files[j]);
    hd_savepoint_metadata_clear(&metadata);
    return status;
}

static hudi_status need_compaction(struct hd_op *op, struct hd_clean_planner *planner,
                                   const struct hd_instant *instant)
{
    struct hd_compaction_plan plan;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_compaction_plan_read(op, &planner->table->timeline, instant, &plan));
    for (size_t i = 0; i < plan.n_operations && status == HUDI_OK; i++) {
        const struct hd_compaction_operation *const operation = &plan.operations[i];
        char *base_instant;

        planner->key.size = 0;
        HD_TRY_OUT(hd_str_printf(op, &planner->key, "%s/%s", operation->partition_path,
                                 operation->file_id));
        HD_TRY_OUT(hd_arena_strdup(op, &planner->arena, operation->base_instant, &base_instant));
        HD_TRY_OUT(hd_map_put(op, &planner->compactions, hd_str_slice(&planner->key),
                              (uint64_t)(uintptr_t)base_instant, NULL, NULL));
        HD_TRY_OUT(need(op, planner, operation->data_file));
        for (size_t j = 0; j < operation->n_delta_files; j++)
            HD_TRY_OUT(need(op, planner, operation->delta_files[j]));
    }
out:
    hd_compaction_plan_clear(&plan);
    return status;
}

/* Also plans of overwrites: they name nothing. */
static hudi_status need_clustering(struct hd_op *op, struct hd_clean_planner *planner,
                                   const struct hd_instant *instant)
{
    struct hd_replace_plan plan;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_replace_plan_read(op, &planner->table->timeline, instant, &plan));
    for (size_t i = 0; i < plan.n_slices && status == HUDI_OK; i++) {
        status = need(op, planner, plan.slices[i].data_file);
        for (size_t j = 0; j < plan.slices[i].n_delta_files && status == HUDI_OK; j++)
            status = need(op, planner, plan.slices[i].delta_files[j]);
    }
    hd_replace_plan_clear(&plan);
    return status;
}

static hudi_status gather_needed(struct hd_op *op, struct hd_clean_planner *planner)
{
    const struct hd_timeline *const timeline = &planner->table->timeline;

    for (size_t i = 0; i < timeline->n_instants; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];
        const bool pending = instant->state != HD_COMPLETED;

        if (instant->action == HD_ACTION_SAVEPOINT && !pending)
            HD_TRY(need_savepoint(op, planner, instant));
        if (!pending || !instant->has_requested)
            continue;
        if (instant->pending_action == HD_ACTION_COMPACTION ||
            instant->pending_action == HD_ACTION_LOGCOMPACTION)
            HD_TRY(need_compaction(op, planner, instant));
        else if (instant->pending_action == HD_ACTION_REPLACECOMMIT ||
                 instant->pending_action == HD_ACTION_CLUSTERING)
            HD_TRY(need_clustering(op, planner, instant));
    }
    return HUDI_OK;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static hudi_status take_options(struct hd_op *op, const struct hd_options *options,
                                struct hd_clean_planner *planner)
{
    static const struct {
        const char *name, *key;
    } POLICIES[] = {
        [HD_CLEAN_COMMITS] = {"KEEP_LATEST_COMMITS", "hoodie.cleaner.commits.retained"},
        [HD_CLEAN_VERSIONS] = {"KEEP_LATEST_FILE_VERSIONS", "hoodie.cleaner.fileversions.retained"},
        [HD_CLEAN_HOURS] = {"KEEP_LATEST_BY_HOURS", "hoodie.cleaner.hours.retained"},
    };
    const struct hd_properties *const properties = &planner->table->config.properties;
    const char *const name = hd_options_text(options, properties, "hoodie.cleaner.policy");

    planner->incremental = hd_options_bool(options, properties, "hoodie.cleaner.incremental.mode");
    for (size_t i = 0; i < HD_ARRAY_LENGTH(POLICIES); i++) {
        if (strcmp(name, POLICIES[i].name) != 0)
            continue;
        planner->policy = (enum hd_clean_policy)i;
        planner->plan->policy = POLICIES[i].name;
        planner->n_retained = hd_options_int(options, properties, POLICIES[i].key);
        return HUDI_OK;
    }
    return hd_fail(op, HUDI_INVALID, "hoodie.cleaner.policy is %s", name);
}

/* Which savepoints there were: when one is dropped, the next clean looks at its partitions. */
static hudi_status list_savepoints(struct hd_op *op, struct hd_clean_planner *planner)
{
    const struct hd_timeline *const timeline = &planner->table->timeline;
    struct hd_str list = {0};
    hudi_status status = HUDI_OK;

    if (planner->table->config.n_partition_fields == 0)
        return HUDI_OK;
    for (size_t i = 0; i < timeline->n_instants && status == HUDI_OK; i++) {
        const struct hd_instant *const instant = &timeline->instants[i];

        if (instant->action == HD_ACTION_SAVEPOINT && instant->state == HD_COMPLETED)
            status = hd_str_printf(op, &list, "%s%s", list.size > 0 ? "," : "", instant->time);
    }
    if (status == HUDI_OK && list.size > 0)
        status = hd_arena_strdup(op, &planner->plan->arena, hd_str_text(&list),
                                 (char **)&planner->plan->savepoints);
    hd_str_clear(&list);
    return status;
}

/* What was gathered becomes the plan's. */
static hudi_status fill_plan(struct hd_op *op, const struct hd_clean_planner *planner)
{
    struct hd_clean_plan *const plan = planner->plan;

    HD_TRY(hd_arena_array(op, &plan->arena, planner->n_partitions, sizeof *plan->partitions,
                          &plan->partitions));
    HD_TRY(hd_arena_array(op, &plan->arena, planner->n_deleted, sizeof *plan->deleted_partitions,
                          &plan->deleted_partitions));
    if (planner->n_partitions > 0)
        memcpy(plan->partitions, planner->partitions,
               planner->n_partitions * sizeof *plan->partitions);
    if (planner->n_deleted > 0)
        memcpy(plan->deleted_partitions, planner->deleted,
               planner->n_deleted * sizeof *plan->deleted_partitions);
    plan->n_partitions = planner->n_partitions;
    plan->n_deleted_partitions = planner->n_deleted;
    return HUDI_OK;
}

static hudi_status make(struct hd_op *op, const struct hd_options *options,
                        struct hd_clean_planner *planner)
{
    const char **partitions;
    size_t n;

    HD_TRY(take_options(op, options, planner));
    HD_TRY(hd_clean_find_earliest(op, planner));
    HD_TRY(list_savepoints(op, planner));
    HD_TRY(hd_clean_find_partitions(op, planner, &partitions, &n));
    if (n == 0)
        return HUDI_OK;
    HD_TRY(gather_needed(op, planner));
    HD_TRY(hd_clean_plan_partitions(op, planner, partitions, n));
    return fill_plan(op, planner);
}

hudi_status hd_clean_plan_make(struct hd_op *op, hd_pool *pool,
                               const struct hd_table_snapshot *table,
                               const struct hd_options *options, bool automatic,
                               struct hd_clean_plan *plan, uint64_t *n_bytes)
{
    struct hd_clean_planner planner = {
        .pool = pool, .table = table, .automatic = automatic, .plan = plan};

    *plan = (struct hd_clean_plan){0};
    const hudi_status status = make(op, options, &planner);
    *n_bytes = planner.n_bytes;
    hd_free(op, planner.partitions);
    hd_free(op, planner.deleted);
    hd_free(op, planner.names);
    hd_map_clear(&planner.needed);
    hd_map_clear(&planner.compactions);
    hd_str_clear(&planner.key);
    hd_arena_clear(&planner.arena);
    if (status != HUDI_OK)
        hd_clean_plan_clear(plan);
    return status;
}

hudi_status hd_clean_earliest(struct hd_op *op, const struct hd_table_snapshot *table,
                              const struct hd_options *options, char out[HD_INSTANT_TIME_BYTES])
{
    struct hd_clean_plan plan = {0};
    struct hd_clean_planner planner = {.table = table, .plan = &plan};

    out[0] = '\0';
    hudi_status status = take_options(op, options, &planner);
    if (status == HUDI_OK)
        status = hd_clean_find_earliest(op, &planner);
    if (status == HUDI_OK && plan.earliest_time != NULL)
        memcpy(out, plan.earliest_time, strlen(plan.earliest_time) + 1);
    hd_clean_plan_clear(&plan);
    return status;
}

/* ---- a plan of earlier ---------------------------------------------------------------------- */

static hudi_status need_slice(struct hd_op *op, struct hd_clean_planner *planner,
                              const struct hd_file_slice *slice)
{
    if (slice->base != NULL)
        HD_TRY(need(op, planner, slice->base->name));
    for (size_t i = 0; i < slice->n_logs; i++)
        HD_TRY(need(op, planner, slice->logs[i].name));
    return HUDI_OK;
}

/* The newest slices of live groups in the plan's partitions. */
static hudi_status need_newest(struct hd_op *op, struct hd_clean_planner *planner,
                               const struct hd_clean_plan *plan)
{
    const struct hd_table_snapshot *const table = planner->table;
    struct hd_file_system_view view = {0};
    hudi_status status = HUDI_OK;
    const char **paths = NULL;

    HD_TRY(hd_alloc_array(op, plan->n_partitions, sizeof *paths, &paths));
    for (size_t i = 0; i < plan->n_partitions; i++)
        paths[i] = plan->partitions[i].partition_path;
    HD_TRY_OUT(hd_file_system_view_load(op, planner->pool, table->fs, table->path, &table->config,
                                        &table->timeline, paths, plan->n_partitions, &view));
    for (size_t i = 0; i < view.n_groups; i++)
        if (view.groups[i].replaced_by == NULL && view.groups[i].n_slices > 0)
            HD_TRY_OUT(need_slice(op, planner, &view.groups[i].slices[0]));
out:
    hd_free(op, paths);
    hd_file_system_view_clear(&view);
    return status;
}

static void drop_needed(struct hd_op *op, const struct hd_clean_planner *planner,
                        struct hd_clean_plan *plan)
{
    size_t n_spared = 0;

    for (size_t i = 0; i < plan->n_partitions; i++) {
        struct hd_clean_partition *const partition = &plan->partitions[i];
        size_t n_kept = 0;

        for (size_t j = 0; j < partition->n_files; j++)
            if (hd_map_find(&planner->needed, hd_slice_text(partition->files[j])) == NULL)
                partition->files[n_kept++] = partition->files[j];
        n_spared += partition->n_files - n_kept;
        partition->n_files = n_kept;
    }
    if (n_spared > 0)
        hd_log(op, HD_LOG_WARN, "%zu files of a clean's plan are needed again and stay", n_spared);
}

hudi_status hd_clean_plan_spare(struct hd_op *op, hd_pool *pool,
                                const struct hd_table_snapshot *table, struct hd_clean_plan *plan)
{
    struct hd_clean_planner planner = {.pool = pool, .table = table};

    hudi_status status = gather_needed(op, &planner);
    if (status == HUDI_OK && plan->n_partitions > 0)
        status = need_newest(op, &planner, plan);
    if (status == HUDI_OK)
        drop_needed(op, &planner, plan);
    hd_map_clear(&planner.needed);
    hd_map_clear(&planner.compactions);
    hd_str_clear(&planner.key);
    hd_arena_clear(&planner.arena);
    return status;
}
