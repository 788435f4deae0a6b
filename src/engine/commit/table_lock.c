/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/table_lock.h"

#include <string.h>

#include "store/file_system_ops.h"

#define MODE "hoodie.write.concurrency.mode"
#define PROVIDER "hoodie.write.lock.provider"
#define FILE_PROVIDER "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"

/* Between looks at a lock file that is there. */
#define LOOK_MS 100
#define MINUTE_MS INT64_C(60000)

/* The kernel's lock, and the provider's file, which exists as long as somebody holds it. */
struct file_lock {
    struct hd_fs_lock base;
    struct hd_fs_lock *kernel; /* NULL on stores without */
    hd_file_system *fs;        /* borrowed of the table */
    char *path;
};

bool hd_has_several_writers(const struct hd_options *options)
{
    return options != NULL &&
           strcmp(hd_options_text(options, NULL, MODE), "OPTIMISTIC_CONCURRENCY_CONTROL") == 0;
}

static hudi_status lock_kernel(struct hd_op *op, const struct hd_table_snapshot *table,
                               uint64_t wait_ms, struct hd_fs_lock **out)
{
    char *path = NULL;

    HD_TRY(hd_asprintf(op, &path, "%s/.hoodie/%s", table->path, HD_TABLE_LOCK_FILE));
    hudi_status status = hd_fs_lock(op, table->fs, path, wait_ms, out);
    hd_free(op, path);
    if (status == HUDI_NOT_IMPLEMENTED) {
        hd_op_clear_error(op);
        hd_log(op, HD_LOG_WARN, "no write lock on this store: there must be one writer at a time");
        return HUDI_OK;
    }
    if (status == HUDI_CONFLICT) {
        hd_op_clear_error(op);
        return hd_fail_retriable(op,
                                 hd_fail(op, HUDI_CONFLICT,
                                         "another process is writing to the table (waited %llu ms)",
                                         (unsigned long long)wait_ms));
    }
    return status;
}

/* ---- the lock file of Hudi's FileSystemBasedLockProvider --------------------------------------
 */

static hudi_status lock_file_path(struct hd_op *op, const struct hd_table_snapshot *table,
                                  const struct hd_options *options, char **out)
{
    const char *folder = hd_options_text(options, NULL, "hoodie.write.lock.filesystem.path");

    if (folder == NULL || folder[0] == '\0')
        return hd_asprintf(op, out, "%s/.hoodie/lock", table->path);
    if (strncmp(folder, "file:", 5) == 0)
        folder += 5;
    while (folder[0] == '/' && folder[1] == '/')
        folder++;
    return hd_asprintf(op, out, "%s/lock", folder);
}

/* A holder that died leaves its file; it may be told by the file's age, when that was agreed on. */
static hudi_status drop_expired(struct hd_op *op, const struct file_lock *lock,
                                const struct hd_options *options, bool *dropped)
{
    const int64_t minutes = hd_options_int(options, NULL, "hoodie.write.lock.filesystem.expire");
    struct hd_file_info info;

    *dropped = false;
    if (minutes == 0)
        return HUDI_OK;
    hudi_status status = hd_fs_stat(op, lock->fs, lock->path, &info);
    if (status == HUDI_OK && ((int64_t)hd_now_ms(op) - info.modified_ms) / MINUTE_MS >= minutes) {
        hd_log(op, HD_LOG_WARN, "the lock file %s is %lld minutes old and taken for left behind",
               lock->path, (long long)minutes);
        status = hd_fs_delete_file(op, lock->fs, lock->path);
        *dropped = true;
    }
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

static hudi_status make_lock_file(struct hd_op *op, const struct file_lock *lock,
                                  const struct hd_options *options, uint64_t wait_ms)
{
    const uint64_t started_ms = hd_now_ms(op);

    for (;;) {
        hd_output_file *file;
        bool dropped;
        hudi_status status = hd_fs_open_output(op, lock->fs, lock->path, true, &file);

        if (status == HUDI_OK)
            return hd_output_file_close(op, file, true); /* empty, as Hudi leaves it */
        if (status != HUDI_EXISTS)
            return status;
        hd_op_clear_error(op);
        HD_TRY(drop_expired(op, lock, options, &dropped));
        HD_TRY(hd_op_check_cancel(op));
        if (dropped)
            continue;
        if (hd_now_ms(op) - started_ms >= wait_ms)
            return hd_fail_retriable(
                op,
                hd_fail(op, HUDI_CONFLICT, "another writer holds the lock file %s (waited %llu ms)",
                        lock->path, (unsigned long long)wait_ms));
        hd_sleep_ms(op, LOOK_MS);
    }
}

/* Nobody is told when the file cannot be deleted: the next one finds it, and says so. */
static void unlock_file(struct hd_fs_lock *base)
{
    struct file_lock *const lock = (struct file_lock *)base;
    struct hd_op op;

    hd_op_init(&op);
    (void)hd_fs_delete_file(&op, lock->fs, lock->path);
    hd_op_clear(&op);
    hd_fs_unlock(lock->kernel);
    hd_free(NULL, lock->path);
    hd_free(NULL, lock);
}

static hudi_status lock_by_file(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_options *options, uint64_t wait_ms,
                                struct hd_fs_lock **kernel, struct hd_fs_lock **out)
{
    static const struct hd_fs_lock_ops OPS = {unlock_file};
    hudi_status status = HUDI_OK;
    struct file_lock *lock;

    HD_TRY(hd_alloc(op, sizeof *lock, &lock));
    lock->base.ops = &OPS;
    lock->fs = table->fs;
    HD_TRY_OUT(lock_file_path(op, table, options, &lock->path));
    HD_TRY_OUT(make_lock_file(op, lock, options, wait_ms));
    lock->kernel = *kernel;
    *kernel = NULL;
    *out = &lock->base;
    return HUDI_OK;
out:
    hd_free(op, lock->path);
    hd_free(op, lock);
    return status;
}

hudi_status hd_table_lock(struct hd_op *op, const struct hd_table_snapshot *table,
                          const struct hd_options *options, uint64_t wait_ms,
                          struct hd_fs_lock **out)
{
    const char *provider = NULL;
    struct hd_fs_lock *kernel = NULL;

    *out = NULL;
    if (hd_has_several_writers(options)) {
        provider = hd_options_text(options, NULL, PROVIDER);
        if (provider == NULL || provider[0] == '\0')
            return hd_fail(op, HUDI_INVALID,
                           MODE " OPTIMISTIC_CONCURRENCY_CONTROL needs " PROVIDER);
    }
    HD_TRY(lock_kernel(op, table, wait_ms, &kernel));
    if (provider == NULL || strcmp(provider, FILE_PROVIDER) != 0) {
        *out = kernel;
        return HUDI_OK;
    }
    const hudi_status status = lock_by_file(op, table, options, wait_ms, &kernel, out);
    hd_fs_unlock(kernel);
    return status;
}
