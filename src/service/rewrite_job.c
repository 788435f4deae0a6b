/* SPDX-License-Identifier: Apache-2.0 */
#include "service/rewrite_job.h"

#include <string.h>

#include "arrow/schema.h"
#include "engine/write/rewrite_handle.h"
#include "format/layout/file_name.h"
#include "format/layout/partition.h"

static hudi_status find_log_instants(struct hd_op *op, const struct hd_timeline *timeline,
                                     struct hd_rewrite_job *job)
{
    struct hd_log_instant *instants;

    HD_TRY(hd_arena_array(op, &job->arena, timeline->n_instants, sizeof *instants, &instants));
    job->log_instants = (struct hd_log_instants){.instants = instants, .start = timeline->start};
    for (size_t i = 0; i < timeline->n_instants; i++)
        if (hd_instant_is_write(&timeline->instants[i]))
            instants[job->log_instants.n_instants++] = (struct hd_log_instant){
                .time = timeline->instants[i].time,
                .is_committed = hd_instant_is_completed_write(&timeline->instants[i])};
    return HUDI_OK;
}

hudi_status hd_rewrite_job_init(struct hd_op *op, hd_pool *pool, struct hd_table_snapshot *table,
                                const struct hd_options *options, const char *time,
                                struct hd_rewrite_job *job)
{
    const size_t n_workers = pool == NULL ? 1 : hd_pool_threads(pool);
    int32_t *columns;

    job->config.table = table;
    job->config.pool = pool;
    HD_TRY(hd_write_config_init(op, options, &job->config));
    memcpy(job->config.instant_time, time, strlen(time) + 1);
    HD_TRY(hd_write_schema_new(op, &job->config, NULL, &job->schema));
    HD_TRY(find_log_instants(op, &table->timeline, job));
    const int32_t n = (int32_t)job->schema.file.n_children;
    HD_TRY(hd_arena_array(op, &job->arena, (size_t)n, sizeof *columns, &columns));
    for (int32_t i = 0; i < n; i++)
        columns[i] = i;
    job->query = (struct hd_slice_query){
        .fs = table->fs,
        .table_path = table->path,
        .config = &table->config,
        .schema = &job->schema.file,
        .columns = columns,
        .n_columns = n,
        .options = &job->config.options,
        .log_instants = &job->log_instants,
        .replaces_logs = true,
        .recover = hd_options_bool(&job->config.options, NULL, "libhudi.read.recover"),
        .digests_keys = true,
        .merge_bytes = op->budget->limit_bytes / 2 / n_workers};
    return hd_schema_copy(op, &job->schema.file, &job->rows);
}

static bool is_among(const int32_t *numbers, size_t n, int32_t number)
{
    for (size_t i = 0; i < n; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

hudi_status hd_rewrite_job_narrow(struct hd_op *op, struct hd_rewrite_job *job,
                                  const int32_t *needed, size_t n_needed)
{
    const int32_t n_columns = (int32_t)job->schema.file.n_children;
    int32_t *columns, n = 0;

    HD_TRY(hd_arena_array(op, &job->arena, (size_t)n_columns, sizeof *columns, &columns));
    for (int32_t i = 0; i < n_columns; i++)
        if (!hd_rewrite_handle_makes(&job->schema, i) || is_among(needed, n_needed, i))
            columns[n++] = i;
    job->query.columns = columns;
    job->query.n_columns = n;
    hd_schema_clear(&job->rows);
    return hd_schema_select(op, &job->schema.file, columns, n, &job->rows);
}

void hd_rewrite_job_clear(struct hd_op *op, struct hd_rewrite_job *job)
{
    hd_schema_clear(&job->rows);
    hd_write_schema_clear(op, &job->schema);
    hd_write_config_clear(&job->config);
    hd_arena_clear(&job->arena);
    *job = (struct hd_rewrite_job){0};
}

hudi_status hd_rewrite_job_view(struct hd_op *op, const struct hd_rewrite_job *job,
                                const char *const *partitions, size_t n,
                                struct hd_file_system_view *out)
{
    struct hd_table_snapshot *const table = job->config.table;

    *out = (struct hd_file_system_view){0};
    for (size_t i = 0; i < n; i++)
        if (!hd_partition_path_is_inside(partitions[i]))
            return hd_fail(op, HUDI_CORRUPT, "a plan names partition \"%.200s\"", partitions[i]);
    return hd_file_system_view_load(op, job->config.pool, table->fs, table->path, &table->config,
                                    &table->timeline, partitions, n, out);
}

/* ---- finding slices ------------------------------------------------------------------------- */

static hudi_status fail_missing(struct hd_op *op, const struct hd_rewrite_job *job,
                                const struct hd_planned_slice *planned, const char *what)
{
    return hd_fail(op, HUDI_CONFLICT,
                   "plan %s: %s is not among the files of file group %s any more",
                   job->config.instant_time, what, planned->file_id);
}

/* The instant in the name of the slice's base file, or of its first log file. */
static bool is_instant(const struct hd_planned_slice *planned, const char *instant)
{
    const char *const name = planned->data_file != NULL   ? planned->data_file
                             : planned->n_delta_files > 0 ? planned->delta_files[0]
                                                          : "";
    struct hd_file_name parts;

    if (planned->base_instant != NULL)
        return strcmp(planned->base_instant, instant) == 0;
    return hd_file_name_parse(name, &parts) &&
           hd_slice_equal(parts.instant, hd_slice_text(instant));
}

static const struct hd_file_slice *find_slice(const struct hd_file_system_view *view,
                                              const struct hd_planned_slice *planned)
{
    const struct hd_file_group *const group =
        hd_file_system_view_find(view, planned->partition_path, planned->file_id);

    for (size_t i = 0; group != NULL && i < group->n_slices; i++)
        if (is_instant(planned, group->slices[i].base_instant))
            return &group->slices[i];
    return NULL;
}

/* The slice's log files but for those that wait for what a pending compaction makes. */
static hudi_status find_logs(struct hd_op *op, struct hd_rewrite_job *job,
                             const struct hd_planned_slice *planned,
                             const struct hd_file_slice *slice, struct hd_slice_source *out,
                             uint64_t *log_bytes)
{
    const char **paths;
    size_t n_planned = 0;

    HD_TRY(hd_arena_array(op, &job->arena, slice->n_logs, sizeof *paths, &paths));
    for (size_t i = 0; i < slice->n_logs; i++) {
        const struct hd_data_file *const log = &slice->logs[i];
        bool is_planned = false;

        if (strcmp(log->instant, slice->base_instant) != 0)
            continue;
        for (size_t k = 0; k < planned->n_delta_files && !is_planned; k++)
            is_planned = strcmp(planned->delta_files[k], log->name) == 0;
        n_planned += is_planned;
        HD_TRY(hd_arena_strdup(op, &job->arena, log->path, (char **)&paths[out->n_logs]));
        out->n_logs++;
        *log_bytes += log->size_bytes;
    }
    out->log_paths = paths;
    return n_planned == planned->n_delta_files
               ? HUDI_OK
               : fail_missing(op, job, planned, "a log file of the plan");
}

static hudi_status find_base(struct hd_op *op, struct hd_rewrite_job *job,
                             const struct hd_planned_slice *planned,
                             const struct hd_file_slice *slice, struct hd_slice_source *out)
{
    struct hd_file_name base;

    if ((slice->base == NULL) != (planned->data_file == NULL))
        return fail_missing(op, job, planned,
                            planned->data_file == NULL ? "no base file" : planned->data_file);
    if (planned->data_file == NULL)
        return HUDI_OK;
    if (!hd_file_name_parse(planned->data_file, &base) || base.kind != HD_FILE_BASE ||
        !hd_slice_equal(base.file_id, hd_slice_text(planned->file_id)))
        return fail_missing(op, job, planned, planned->data_file);
    out->base_bytes = slice->base->size_bytes;
    return hd_arena_printf(op, &job->arena, (char **)&out->base_path, "%s%s%s",
                           planned->partition_path, planned->partition_path[0] == '\0' ? "" : "/",
                           planned->data_file);
}

hudi_status hd_rewrite_job_find(struct hd_op *op, struct hd_rewrite_job *job,
                                const struct hd_file_system_view *view,
                                const struct hd_planned_slice *planned, struct hd_slice_source *out,
                                uint64_t *log_bytes)
{
    const struct hd_file_slice *const slice = find_slice(view, planned);

    *out = (struct hd_slice_source){.partition_path = planned->partition_path,
                                    .file_id = planned->file_id};
    *log_bytes = 0;
    if (slice == NULL)
        return fail_missing(op, job, planned, "the file slice");
    HD_TRY(hd_arena_strdup(op, &job->arena, slice->base_instant, (char **)&out->instant));
    HD_TRY(find_base(op, job, planned, slice, out));
    return find_logs(op, job, planned, slice, out, log_bytes);
}
