/* SPDX-License-Identifier: Apache-2.0 */
#include "service/compaction_run.h"

#include <string.h>

#include "engine/commit/reconcile_markers.h"
#include "engine/commit/rollback.h"
#include "format/layout/file_name.h"
#include "format/layout/file_system_view.h"
#include "format/layout/partition.h"
#include "format/marker/marker.h"
#include "format/timeline/transition.h"
#include "service/compact_slice.h"

/* One operation of the plan, as it is found. */
struct work {
    struct hd_slice_source source;
    uint64_t log_bytes;
    struct hd_arena arena; /* of the stat */
    struct hd_write_stat stat;
};

struct run {
    hd_pool *pool;
    struct hd_table_snapshot *table;
    const struct hd_compact_outcome *outcome;
    struct hd_arena arena;
    struct hd_file_system_view view;
    struct hd_write_config config;
    struct hd_write_schema schema;
    struct hd_log_instants log_instants;
    struct hd_slice_query query;
    struct hd_compact_job job;
    struct work *works;
    size_t n_works;
};

/* ---- what is merged ------------------------------------------------------------------------- */

static hudi_status load_view(struct hd_op *op, struct run *run)
{
    const struct hd_compaction_plan *const plan = &run->outcome->plan;
    const char **partitions;

    HD_TRY(hd_arena_array(op, &run->arena, plan->n_operations, sizeof *partitions, &partitions));
    for (size_t i = 0; i < plan->n_operations; i++) {
        partitions[i] = plan->operations[i].partition_path;
        if (!hd_partition_path_is_inside(partitions[i]))
            return hd_fail(op, HUDI_CORRUPT, "a compaction plan names partition \"%.200s\"",
                           partitions[i]);
    }
    return hd_file_system_view_load(op, run->pool, run->table->fs, run->table->path,
                                    &run->table->config, &run->table->timeline, partitions,
                                    plan->n_operations, &run->view);
}

static hudi_status join(struct hd_op *op, struct run *run, const char *partition, const char *name,
                        const char **out)
{
    if (partition[0] == '\0')
        return hd_arena_strdup(op, &run->arena, name, (char **)out);
    return hd_arena_printf(op, &run->arena, (char **)out, "%s/%s", partition, name);
}

static const struct hd_file_slice *find_slice(const struct run *run,
                                              const struct hd_compaction_operation *operation)
{
    const struct hd_file_group *const group =
        hd_file_system_view_find(&run->view, operation->partition_path, operation->file_id);

    for (size_t i = 0; group != NULL && i < group->n_slices; i++)
        if (strcmp(group->slices[i].base_instant, operation->base_instant) == 0)
            return &group->slices[i];
    return NULL;
}

static hudi_status fail_missing(struct hd_op *op, const struct run *run,
                                const struct hd_compaction_operation *operation, const char *name)
{
    return hd_fail(op, HUDI_CONFLICT,
                   "compaction %s: %s is not in slice %s of file group %s any more",
                   run->outcome->time, name, operation->base_instant, operation->file_id);
}

/* The slice's log files but for those that wait for what this compaction makes. */
static hudi_status find_logs(struct hd_op *op, struct run *run,
                             const struct hd_compaction_operation *operation,
                             const struct hd_file_slice *slice, struct work *work)
{
    const char **paths;
    size_t n_planned = 0;

    HD_TRY(hd_arena_array(op, &run->arena, slice->n_logs, sizeof *paths, &paths));
    for (size_t i = 0; i < slice->n_logs; i++) {
        const struct hd_data_file *const log = &slice->logs[i];
        bool planned = false;

        if (strcmp(log->instant, operation->base_instant) != 0)
            continue;
        for (size_t k = 0; k < operation->n_delta_files && !planned; k++)
            planned = strcmp(operation->delta_files[k], log->name) == 0;
        n_planned += planned;
        HD_TRY(hd_arena_strdup(op, &run->arena, log->path, (char **)&paths[work->source.n_logs]));
        work->source.n_logs++;
        work->log_bytes += log->size_bytes;
    }
    work->source.log_paths = paths;
    return n_planned == operation->n_delta_files
               ? HUDI_OK
               : fail_missing(op, run, operation, "a log file of the plan");
}

static hudi_status find_work(struct hd_op *op, struct run *run,
                             const struct hd_compaction_operation *operation, struct work *work)
{
    const struct hd_file_slice *const slice = find_slice(run, operation);
    struct hd_file_name base;

    work->source = (struct hd_slice_source){.partition_path = operation->partition_path,
                                            .file_id = operation->file_id,
                                            .instant = operation->base_instant};
    if (slice == NULL)
        return fail_missing(op, run, operation, "the file slice");
    if ((slice->base == NULL) != (operation->data_file == NULL))
        return fail_missing(op, run, operation,
                            operation->data_file == NULL ? "no base file" : operation->data_file);
    if (operation->data_file != NULL) {
        if (!hd_file_name_parse(operation->data_file, &base) || base.kind != HD_FILE_BASE ||
            !hd_slice_equal(base.file_id, hd_slice_text(operation->file_id)))
            return fail_missing(op, run, operation, operation->data_file);
        HD_TRY(join(op, run, operation->partition_path, operation->data_file,
                    &work->source.base_path));
        work->source.base_bytes = slice->base->size_bytes;
    }
    return find_logs(op, run, operation, slice, work);
}

/* ---- how ------------------------------------------------------------------------------------ */

static hudi_status find_log_instants(struct hd_op *op, struct run *run)
{
    const struct hd_timeline *const timeline = &run->table->timeline;
    struct hd_log_instant *instants;

    HD_TRY(hd_arena_array(op, &run->arena, timeline->n_instants, sizeof *instants, &instants));
    run->log_instants = (struct hd_log_instants){.instants = instants, .start = timeline->start};
    for (size_t i = 0; i < timeline->n_instants; i++)
        if (hd_instant_is_write(&timeline->instants[i]))
            instants[run->log_instants.n_instants++] = (struct hd_log_instant){
                .time = timeline->instants[i].time,
                .is_committed = hd_instant_is_completed_write(&timeline->instants[i])};
    return HUDI_OK;
}

static hudi_status prepare(struct hd_op *op, struct run *run, const struct hd_options *options)
{
    const size_t n_workers = run->pool == NULL ? 1 : hd_pool_threads(run->pool);
    int32_t *columns;

    run->config.table = run->table;
    run->config.pool = run->pool;
    HD_TRY(hd_write_config_init(op, options, &run->config));
    memcpy(run->config.instant_time, run->outcome->time, sizeof run->config.instant_time);
    HD_TRY(hd_write_schema_new(op, &run->config, NULL, &run->schema));
    HD_TRY(find_log_instants(op, run));
    const int32_t n = (int32_t)run->schema.file.n_children;
    HD_TRY(hd_arena_array(op, &run->arena, (size_t)n, sizeof *columns, &columns));
    for (int32_t i = 0; i < n; i++)
        columns[i] = i;
    run->query = (struct hd_slice_query){.fs = run->table->fs,
                                         .table_path = run->table->path,
                                         .config = &run->table->config,
                                         .schema = &run->schema.file,
                                         .columns = columns,
                                         .n_columns = n,
                                         .options = &run->config.options,
                                         .log_instants = &run->log_instants,
                                         .merge_bytes = op->budget->limit_bytes / 2 / n_workers};
    run->job = (struct hd_compact_job){
        .config = &run->config, .schema = &run->schema, .query = &run->query};
    HD_TRY(load_view(op, run));
    const size_t n_works = run->outcome->plan.n_operations;
    HD_TRY(hd_alloc_array(op, n_works, sizeof *run->works, &run->works));
    run->n_works = n_works;
    for (size_t i = 0; i < n_works; i++)
        HD_TRY(find_work(op, run, &run->outcome->plan.operations[i], &run->works[i]));
    return HUDI_OK;
}

static hudi_status compact_one(struct hd_op *op, void *argument, size_t i)
{
    struct run *const run = argument;
    struct work *const work = &run->works[i];

    return hd_compact_slice(op, &run->job, &work->source, work->log_bytes, (uint32_t)i,
                            &work->arena, &work->stat);
}

/* ---- the end -------------------------------------------------------------------------------- */

static hudi_status make_metadata(struct hd_op *op, const struct run *run,
                                 struct hd_commit_metadata *metadata)
{
    metadata->compacted = true;
    metadata->operation_type = run->table->config.version->compaction_named ? "COMPACT" : NULL;
    for (size_t i = 0; i < run->n_works; i++)
        if (run->works[i].stat.path != NULL)
            HD_TRY(hd_commit_metadata_add_stat(op, metadata, &run->works[i].stat));
    return hd_commit_metadata_set_extra(op, metadata, "schema", run->schema.avro);
}

/* Steps 5 and 6. */
static hudi_status complete(struct hd_op *op, struct run *run)
{
    hudi_status status = HUDI_OK;
    struct hd_commit_metadata metadata = {0};
    struct hd_str text = {0};

    HD_TRY_OUT(make_metadata(op, run, &metadata));
    HD_TRY_OUT(hd_commit_metadata_format(op, &metadata, &text));
    HD_TRY_OUT(hd_reconcile_markers(op, run->pool, run->table, run->outcome->time, &metadata));
    HD_TRY_OUT(hd_op_check_cancel(op));
    status = hd_transition_complete(op, &run->table->timeline, run->outcome->time,
                                    HD_ACTION_COMPACTION, text.data, text.size);
    if (status == HUDI_EXISTS)
        status = hd_fail(op, HUDI_CONFLICT, "compaction %s was completed by somebody else",
                         run->outcome->time);
out:
    hd_commit_metadata_clear(&metadata);
    hd_str_clear(&text);
    return status;
}

static void count(const struct run *run, struct hd_compact_outcome *outcome)
{
    outcome->state = HD_COMPLETED;
    for (size_t i = 0; i < run->n_works; i++) {
        const struct hd_write_stat *const stat = &run->works[i].stat;

        outcome->n_files += stat->path != NULL;
        outcome->n_rows += stat->num_writes;
        outcome->n_bytes_written += (uint64_t)stat->total_write_bytes;
    }
}

/* With an op of its own: the first error stays the one that is told. */
static void undo(struct hd_op *op, struct run *run)
{
    struct hd_op own;
    hudi_status status;

    hd_op_init_child(&own, op);
    own.cancelled = NULL;
    status = hd_table_snapshot_reload(&own, run->table);
    if (status == HUDI_OK) {
        const struct hd_instant *const instant =
            hd_timeline_find(&run->table->timeline, run->outcome->time, HD_ACTION_COMMIT);
        if (instant != NULL && instant->state == HD_INFLIGHT)
            status = hd_rollback_instant(&own, run->pool, run->table, instant);
    }
    if (status != HUDI_OK)
        hd_log(op, HD_LOG_WARN,
               "compaction %s failed and could not be rolled back; the next one will do it",
               run->outcome->time);
    hd_op_clear(&own);
}

static void release(struct hd_op *op, struct run *run)
{
    for (size_t i = 0; i < run->n_works; i++)
        hd_arena_clear(&run->works[i].arena);
    hd_free(op, run->works);
    hd_file_system_view_clear(&run->view);
    hd_write_schema_clear(op, &run->schema);
    hd_write_config_clear(&run->config);
    hd_arena_clear(&run->arena);
}

hudi_status hd_compaction_run(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                              const struct hd_options *options, struct hd_compact_outcome *outcome)
{
    hudi_status status = HUDI_OK;
    struct run run = {.pool = pool, .table = table, .outcome = outcome};
    bool begun = false;

    HD_TRY_OUT(prepare(op, &run, options));
    begun = true;
    HD_TRY_OUT(
        hd_transition_start(op, &table->timeline, outcome->time, HD_ACTION_COMPACTION, NULL, 0));
    outcome->state = HD_INFLIGHT;
    HD_TRY_OUT(hd_pool_each(op, pool, run.n_works, compact_one, &run));
    HD_TRY_OUT(complete(op, &run));
    begun = false;
    count(&run, outcome);
    if (hd_markers_delete(op, table->fs, table->path, outcome->time) != HUDI_OK) {
        hd_log(op, HD_LOG_WARN, "the marker folder of %s could not be deleted", outcome->time);
        hd_op_clear_error(op);
    }
out:
    if (begun)
        undo(op, &run);
    release(op, &run);
    return status;
}
