/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/heartbeat.h"

#include "base/pool.h"

/* How soon the thread sees that it is to stop. */
#define LOOK_MS 20

struct hd_heartbeat {
    hd_file_system *fs; /* borrowed */
    char *path;
    int64_t interval_ms;
    int64_t patience_ms;
    hd_atomic_bool stopped;
    hd_atomic_bool lost;        /* once it has not beaten for too long, it does so no more */
    HD_ATOMIC(int64_t) last_ms; /* of the last beat */
    struct hd_task *task;
    struct hd_op op; /* the thread's */
};

int64_t hd_heartbeat_patience_ms(const struct hd_options *options)
{
    const int64_t interval =
        hd_options_int(options, NULL, "hoodie.client.heartbeat.interval_in_ms");
    const int64_t misses =
        hd_options_int(options, NULL, "hoodie.client.heartbeat.tolerable.misses");

    return misses > INT64_MAX / interval - 1 ? INT64_MAX : interval * misses;
}

static hudi_status beat(struct hd_op *op, hd_heartbeat *heartbeat)
{
    hd_output_file *file;

    HD_TRY(hd_fs_open_output(op, heartbeat->fs, heartbeat->path, false, &file));
    HD_TRY(hd_output_file_close(op, file, false));
    atomic_store(&heartbeat->last_ms, (int64_t)hd_now_ms(op));
    return HUDI_OK;
}

/* A process that was halted, or a store that did not answer: others may have taken it for dead, and
 * another beat does not undo that. */
static bool is_lost(struct hd_op *op, const hd_heartbeat *heartbeat)
{
    return atomic_load(&heartbeat->lost) ||
           (int64_t)hd_now_ms(op) - atomic_load(&heartbeat->last_ms) > heartbeat->patience_ms;
}

/* A beat that fails is tried again at once: the writer is told when it completes. */
static hudi_status go_on(struct hd_op *op, void *argument)
{
    hd_heartbeat *const heartbeat = argument;

    while (!atomic_load(&heartbeat->stopped)) {
        const int64_t since_ms = (int64_t)hd_now_ms(op) - atomic_load(&heartbeat->last_ms);

        if (is_lost(op, heartbeat))
            atomic_store(&heartbeat->lost, true);
        else if (since_ms >= heartbeat->interval_ms && beat(op, heartbeat) != HUDI_OK)
            hd_op_clear_error(op);
        hd_sleep_ms(op, LOOK_MS);
    }
    return HUDI_OK;
}

static void release(struct hd_op *op, hd_heartbeat *heartbeat)
{
    hd_op_clear(&heartbeat->op);
    hd_free(op, heartbeat->path);
    hd_free(op, heartbeat);
}

hudi_status hd_heartbeat_start(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_options *options, const char *time,
                               hd_heartbeat **out)
{
    hudi_status status = HUDI_OK;
    hd_heartbeat *heartbeat;
    char *folder = NULL;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *heartbeat, &heartbeat));
    hd_op_init_child(&heartbeat->op, op);
    heartbeat->op.cancelled = NULL;
    heartbeat->fs = table->fs;
    heartbeat->interval_ms =
        hd_options_int(options, NULL, "hoodie.client.heartbeat.interval_in_ms");
    heartbeat->patience_ms = hd_heartbeat_patience_ms(options);
    HD_TRY_OUT(hd_path_join(op, table->path, HD_HEARTBEAT_FOLDER, &folder));
    HD_TRY_OUT(hd_fs_make_dirs(op, table->fs, folder));
    HD_TRY_OUT(hd_path_join(op, folder, time, &heartbeat->path));
    HD_TRY_OUT(beat(op, heartbeat));
    HD_TRY_OUT(hd_task_start(&heartbeat->op, go_on, heartbeat, &heartbeat->task));
    *out = heartbeat;
out:
    hd_free(op, folder);
    if (status != HUDI_OK) {
        hd_op_join(op, &heartbeat->op);
        release(op, heartbeat);
    }
    return status;
}

hudi_status hd_heartbeat_check(struct hd_op *op, const hd_heartbeat *heartbeat)
{
    if (heartbeat == NULL || !is_lost(op, heartbeat))
        return HUDI_OK;
    return hd_fail(op, HUDI_CONFLICT,
                   "the heart of this write did not beat for %lld ms: others may have rolled it "
                   "back",
                   (long long)heartbeat->patience_ms);
}

void hd_heartbeat_stop(struct hd_op *op, hd_heartbeat *heartbeat)
{
    if (heartbeat == NULL)
        return;
    atomic_store(&heartbeat->stopped, true);
    (void)hd_task_join(&heartbeat->op, heartbeat->task);
    hd_op_clear_error(&heartbeat->op);
    if (hd_fs_delete_file(&heartbeat->op, heartbeat->fs, heartbeat->path) != HUDI_OK)
        hd_op_clear_error(&heartbeat->op); /* left over: it does not beat any more */
    release(op, heartbeat);
}

bool hd_heartbeat_is_lost(struct hd_op *op, const hd_heartbeat *heartbeat)
{
    return heartbeat != NULL && is_lost(op, heartbeat);
}

hudi_status hd_heartbeat_remove(struct hd_op *op, const struct hd_table_snapshot *table,
                                const char *time)
{
    char *path;

    HD_TRY(hd_asprintf(op, &path, "%s/%s/%s", table->path, HD_HEARTBEAT_FOLDER, time));
    const hudi_status status = hd_fs_delete_file(op, table->fs, path);
    hd_free(op, path);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

hudi_status hd_heartbeat_age_ms(struct hd_op *op, const struct hd_table_snapshot *table,
                                const char *time, int64_t *out)
{
    struct hd_file_info info;
    char *path;

    *out = -1;
    HD_TRY(hd_asprintf(op, &path, "%s/%s/%s", table->path, HD_HEARTBEAT_FOLDER, time));
    const hudi_status status = hd_fs_stat(op, table->fs, path, &info);
    hd_free(op, path);
    if (status == HUDI_OK) {
        const int64_t now_ms = (int64_t)hd_now_ms(op);
        *out = now_ms > info.modified_ms ? now_ms - info.modified_ms : 0;
    }
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

hudi_status hd_heartbeat_is_alive(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const struct hd_options *options, const char *time, bool *out)
{
    int64_t age_ms;

    *out = false;
    HD_TRY(hd_heartbeat_age_ms(op, table, time, &age_ms));
    *out = age_ms >= 0 && age_ms <= hd_heartbeat_patience_ms(options);
    return HUDI_OK;
}
