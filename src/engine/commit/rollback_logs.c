/* SPDX-License-Identifier: Apache-2.0 */
/* Rollback blocks: what an instant appended to log files that others wrote to does not count. */
#include "engine/commit/rollback_request.h"
#include "engine/commit/rollback_steps.h"
#include "format/layout/file_name.h"
#include "format/log/log_reader.h"
#include "format/log/log_writer.h"

/* Of who appends rollback blocks, in all releases. */
#define ROLLBACK_TOKEN "1-0-1"

/* The log files of one slice, listed. */
struct slice_logs {
    char *dir;
    struct hd_arena arena;
    uint32_t last_version; /* 0: there are none */
    const char *last;      /* name of that one */
    const char *done;      /* name of the one with this rollback's block; NULL: none has it */
};

/* Has the file a rollback block of `target_time`? */
static hudi_status is_rollback_of(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const char *path, const char *target_time, bool *out)
{
    hd_log_reader *reader;
    hudi_status status = HUDI_OK;

    *out = false;
    HD_TRY(hd_log_reader_open(op, table->fs, path, &reader));
    while (status == HUDI_OK && !*out) {
        struct hd_log_block block;
        struct hd_slice target;

        status = hd_log_reader_next(op, reader, &block);
        if (status != HUDI_OK)
            break;
        if (block.type == HD_LOG_COMMAND) {
            status = hd_log_header_find(op, &block, HD_LOG_TARGET_INSTANT_TIME, &target);
            *out = status == HUDI_OK && hd_slice_equal(target, hd_slice_text(target_time));
            status = status == HUDI_NOT_FOUND ? HUDI_OK : status;
        }
        hd_log_block_clear(op, &block);
    }
    hd_log_reader_close(op, reader);
    return status == HUDI_END ? HUDI_OK : status;
}

static hudi_status look_at(struct hd_op *op, const struct hd_table_snapshot *table,
                           const struct hd_rollback_plan *plan,
                           const struct hd_rollback_request *request, const char *name,
                           struct slice_logs *logs)
{
    struct hd_file_name parts;
    char *path = NULL;
    bool done;

    if (!hd_file_name_parse(name, &parts) || parts.kind != HD_FILE_LOG ||
        !hd_slice_equal(parts.file_id, hd_slice_text(request->file_id)) ||
        !hd_slice_equal(parts.instant, hd_slice_text(request->latest_base_instant)))
        return HUDI_OK;
    if (parts.log_version > logs->last_version) {
        logs->last_version = parts.log_version;
        logs->last = name;
    }
    if (!hd_slice_equal(parts.write_token, hd_slice_text(ROLLBACK_TOKEN)))
        return HUDI_OK;
    HD_TRY(hd_path_join(op, logs->dir, name, &path));
    const hudi_status status = is_rollback_of(op, table, path, plan->target_time, &done);
    hd_free(op, path);
    if (status == HUDI_OK && done)
        logs->done = name;
    return status;
}

static hudi_status list_slice(struct hd_op *op, const struct hd_table_snapshot *table,
                              const struct hd_rollback_plan *plan,
                              const struct hd_rollback_request *request, struct slice_logs *logs)
{
    struct hd_file_info *files;
    size_t n = 0;

    HD_TRY(hd_path_join(op, table->path, request->partition_path, &logs->dir));
    const hudi_status status = hd_fs_list(op, table->fs, logs->dir, &logs->arena, &files, &n);
    if (status != HUDI_OK)
        return status == HUDI_NOT_FOUND ? HUDI_OK : status;
    for (size_t i = 0; i < n; i++)
        if (!files[i].is_dir)
            HD_TRY(look_at(op, table, plan, request, files[i].name, logs));
    return HUDI_OK;
}

/* A log file of the one block, which shows whole or not at all. `*name` is in the plan's arena. */
static hudi_status write_block(struct hd_op *op, const struct hd_table_snapshot *table,
                               struct hd_rollback_plan *plan,
                               const struct hd_rollback_request *request, const char *time,
                               const struct slice_logs *logs, const char **name)
{
    const struct hd_log_target target = {.fs = table->fs,
                                         .table_path = table->path,
                                         .partition_path = request->partition_path,
                                         .file_id = request->file_id,
                                         .instant = request->latest_base_instant,
                                         .writer = plan->target_time,
                                         .write_token = ROLLBACK_TOKEN,
                                         .first_version = logs->last_version + 1,
                                         .max_bytes = UINT64_MAX};
    hudi_status status = HUDI_OK;
    struct hd_str block = {0};
    hd_log_writer *writer = NULL;
    struct hd_log_append append;

    HD_TRY_OUT(hd_log_rollback_block_encode(op, time, plan->target_time, &block));
    const struct hd_slice part = hd_str_slice(&block);
    HD_TRY_OUT(hd_log_writer_open(op, &target, &writer));
    HD_TRY_OUT(hd_log_writer_append(op, writer, &part, 1, &append));
    HD_TRY_OUT(hd_arena_strdup(op, &plan->arena, append.file_name, (char **)name));
    status = hd_log_writer_close(op, writer);
    writer = NULL;
    HD_TRY_OUT(status);
    status = hd_fs_sync_dir(op, table->fs, logs->dir);
out:
    hd_log_writer_abort(op, writer);
    hd_str_clear(&block);
    return status;
}

/* Note where the block is: a URI and the file's size. */
static hudi_status note_block(struct hd_op *op, const struct hd_table_snapshot *table,
                              struct hd_rollback_plan *plan, struct hd_rollback_request *request,
                              const struct slice_logs *logs, const char *name)
{
    hudi_status status = HUDI_OK;
    struct hd_file_info info;
    char *path = NULL, *uri = NULL;

    HD_TRY_OUT(hd_path_join(op, logs->dir, name, &path));
    HD_TRY_OUT(hd_fs_stat(op, table->fs, path, &info));
    HD_TRY_OUT(hd_fs_uri(op, table->fs, path, &uri));
    HD_TRY_OUT(hd_arena_array(op, &plan->arena, 1, sizeof *request->rollback_log_paths,
                              &request->rollback_log_paths));
    HD_TRY_OUT(hd_arena_array(op, &plan->arena, 1, sizeof *request->rollback_log_sizes,
                              &request->rollback_log_sizes));
    HD_TRY_OUT(hd_arena_strdup(op, &plan->arena, uri, (char **)&request->rollback_log_paths[0]));
    request->rollback_log_sizes[0] = (int64_t)info.size_bytes;
    request->n_rollback_logs = 1;
out:
    hd_free(op, path);
    hd_free(op, uri);
    return status;
}

hudi_status hd_rollback_append_blocks(struct hd_op *op, const struct hd_table_snapshot *table,
                                      struct hd_rollback_plan *plan, const char *time)
{
    for (size_t i = 0; i < plan->n_requests; i++) {
        struct hd_rollback_request *request = &plan->requests[i];
        struct slice_logs logs = {0};
        const char *name = NULL;

        if (request->n_logs == 0)
            continue;
        hudi_status status = list_slice(op, table, plan, request, &logs);
        if (status == HUDI_OK && logs.last_version > 0) { /* else the files are gone: no rows are */
            name = logs.done;
            if (name == NULL)
                status = write_block(op, table, plan, request, time, &logs, &name);
            if (status == HUDI_OK)
                status = note_block(op, table, plan, request, &logs, name);
        }
        hd_arena_clear(&logs.arena);
        hd_free(op, logs.dir);
        HD_TRY(status);
    }
    return HUDI_OK;
}

hudi_status hd_rollback_block_due(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const struct hd_rollback_plan *plan,
                                  const struct hd_rollback_request *request, struct hd_arena *arena,
                                  const char **out)
{
    struct slice_logs logs = {0};

    *out = NULL;
    if (request->n_logs == 0)
        return HUDI_OK;
    hudi_status status = list_slice(op, table, plan, request, &logs);
    if (status == HUDI_OK && logs.last != NULL && logs.done == NULL)
        status = hd_arena_strdup(op, arena, logs.last, (char **)out);
    hd_arena_clear(&logs.arena);
    hd_free(op, logs.dir);
    return status;
}
