/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/table_lock.h"

#include <string.h>
#include <unistd.h>

#include "engine/commit/lock_provider.h"
#include "store/file_system_ops.h"

#define MODE "hoodie.write.concurrency.mode"
#define PROVIDER "hoodie.write.lock.provider"

/* Between looks at a lock file that is there: what Hudi waits is meant for locks held long. */
#define LOOK_MS 20
#define MINUTE_MS INT64_C(60000)
/* Of a lock file that is read: ours are shorter, others' say what they like. */
#define MAX_OWNER_BYTES 65536
#define MAX_HOST_BYTES 256

/* The kernel's lock, and the provider's file, which exists as long as somebody holds it. */
struct file_lock {
    struct hd_fs_lock base;
    struct hd_fs_lock *kernel; /* NULL on stores without */
    hd_file_system *fs;        /* borrowed of the table */
    char *path;
    char *owner;       /* content of the file: machine and table, then who */
    size_t same_bytes; /* of it, that all our writers of the machine and table write alike */
};

static void unlock_file(struct hd_fs_lock *base);
static const struct hd_fs_lock_ops FILE_LOCK_OPS = {unlock_file};

bool hd_has_several_writers(const struct hd_options *options)
{
    return options != NULL &&
           strcmp(hd_options_text(options, NULL, MODE), "OPTIMISTIC_CONCURRENCY_CONTROL") == 0;
}

static uint64_t product(int64_t a, int64_t b)
{
    uint64_t out;

    return __builtin_mul_overflow((uint64_t)a, (uint64_t)b, &out) ? UINT64_MAX / 4 : out;
}

uint64_t hd_table_lock_wait_ms(const struct hd_options *options)
{
    if (!hd_has_several_writers(options) || hd_options_has(options, "libhudi.write.lock.wait.ms"))
        return (uint64_t)hd_options_int(options, NULL, "libhudi.write.lock.wait.ms");
    const int64_t n_retries = hd_options_int(options, NULL, "hoodie.write.lock.client.num_retries");
    const uint64_t pauses_ms =
        product(n_retries, hd_options_int(options, NULL,
                                          "hoodie.write.lock.client.wait_time_ms_between_retry"));
    const char *const provider = hd_options_text(options, NULL, PROVIDER);

    /* An attempt at a lock file does not wait. */
    if (provider != NULL && strcmp(provider, HD_FILE_LOCK_PROVIDER) == 0)
        return pauses_ms;
    const uint64_t waits_ms =
        product(n_retries < INT64_MAX ? n_retries + 1 : n_retries,
                hd_options_int(options, NULL, "hoodie.write.lock.wait_time_ms"));
    return pauses_ms > UINT64_MAX / 4 || waits_ms > UINT64_MAX / 4 ? UINT64_MAX / 2
                                                                   : pauses_ms + waits_ms;
}

/* `*out` is NULL on stores without such locks. */
static hudi_status lock_kernel(struct hd_op *op, const struct hd_table_snapshot *table,
                               uint64_t wait_ms, struct hd_fs_lock **out)
{
    char *path = NULL;

    HD_TRY(hd_asprintf(op, &path, "%s/.hoodie/%s", table->path, HD_TABLE_LOCK_FILE));
    hudi_status status = hd_fs_lock(op, table->fs, path, wait_ms, out);
    hd_free(op, path);
    if (status == HUDI_NOT_IMPLEMENTED) {
        hd_op_clear_error(op);
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

/* "libhudi MACHINE TABLE" and a line of who it is. */
static hudi_status name_owner(struct hd_op *op, struct file_lock *lock, const char *table_path)
{
    char host[MAX_HOST_BYTES] = "", uuid[HD_UUID_BYTES];

    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    hd_random_uuid(op, uuid);
    HD_TRY(hd_asprintf(op, &lock->owner, "libhudi %s %s\n%ld %s\n", host, table_path,
                       (long)getpid(), uuid));
    lock->same_bytes = strcspn(lock->owner, "\n") + 1;
    return HUDI_OK;
}

/* Does the file begin with the first `n` bytes of our owner's line? */
static hudi_status is_owner(struct hd_op *op, const struct file_lock *lock, size_t n, bool *out)
{
    uint8_t *content = NULL;
    size_t n_content = 0;

    hudi_status status =
        hd_fs_read_file(op, lock->fs, lock->path, MAX_OWNER_BYTES, &content, &n_content);
    *out = status == HUDI_OK && n_content >= n && memcmp(content, lock->owner, n) == 0;
    hd_free(op, content);
    if (status == HUDI_CORRUPT) /* larger than ours are */
        hd_op_clear_error(op);
    return status == HUDI_NOT_FOUND || status == HUDI_CORRUPT ? HUDI_OK : status;
}

/* The file is there: is it left of a process that died? Whoever of us makes one holds the kernel's
 * lock, which now is ours. */
static hudi_status drop_left_behind(struct hd_op *op, const struct file_lock *lock, bool *dropped)
{
    *dropped = false;
    if (lock->kernel == NULL)
        return HUDI_OK;
    HD_TRY(is_owner(op, lock, lock->same_bytes, dropped));
    if (!*dropped)
        return HUDI_OK;
    hd_log(op, HD_LOG_WARN, "the lock file %s was left behind by a writer that died", lock->path);
    const hudi_status status = hd_fs_delete_file(op, lock->fs, lock->path);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

static hudi_status make_lock_file(struct hd_op *op, const struct file_lock *lock,
                                  const struct hd_options *options, uint64_t wait_ms)
{
    const uint64_t started_ms = hd_now_ms(op);

    for (;;) {
        bool dropped;
        const hudi_status status =
            hd_fs_publish(op, lock->fs, lock->path, lock->owner, strlen(lock->owner));

        if (status != HUDI_EXISTS)
            return status;
        HD_TRY(drop_left_behind(op, lock, &dropped));
        if (!dropped)
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

static void release(struct hd_op *op, struct file_lock *lock)
{
    hd_fs_unlock(lock->kernel);
    hd_free(op, lock->path);
    hd_free(op, lock->owner);
    hd_free(op, lock);
}

/* Nobody is told when the file cannot be deleted: the next one finds it, and says so. Another's is
 * left alone. */
static void unlock_file(struct hd_fs_lock *base)
{
    struct file_lock *const lock = (struct file_lock *)base;
    struct hd_op op;
    bool ours;

    hd_op_init(&op);
    if (is_owner(&op, lock, strlen(lock->owner), &ours) == HUDI_OK && ours)
        (void)hd_fs_delete_file(&op, lock->fs, lock->path);
    hd_op_clear(&op);
    release(NULL, lock);
}

static hudi_status check_file(struct hd_op *op, const struct file_lock *lock)
{
    bool ours;

    HD_TRY(is_owner(op, lock, strlen(lock->owner), &ours));
    return ours ? HUDI_OK
                : hd_fail_retriable(op, hd_fail(op, HUDI_CONFLICT,
                                                "the lock file %s was taken by another writer",
                                                lock->path));
}

/* `*kernel` moves into the lock. */
static hudi_status lock_by_file(struct hd_op *op, const struct hd_table_snapshot *table,
                                const struct hd_options *options, uint64_t wait_ms,
                                struct hd_fs_lock **kernel, struct hd_fs_lock **out)
{
    hudi_status status = HUDI_OK;
    struct file_lock *lock;

    HD_TRY(hd_alloc(op, sizeof *lock, &lock));
    lock->base.ops = &FILE_LOCK_OPS;
    lock->fs = table->fs;
    lock->kernel = *kernel;
    *kernel = NULL;
    HD_TRY_OUT(lock_file_path(op, table, options, &lock->path));
    HD_TRY_OUT(name_owner(op, lock, table->path));
    HD_TRY_OUT(make_lock_file(op, lock, options, wait_ms));
    *out = &lock->base;
    return HUDI_OK;
out:
    release(op, lock);
    return status;
}

/* ---- the kernel's lock and the provider's ------------------------------------------------------
 */

struct both_locks {
    struct hd_fs_lock base;
    struct hd_fs_lock *kernel; /* may be NULL */
    struct hd_fs_lock *provider;
};

static void unlock_both(struct hd_fs_lock *base)
{
    struct both_locks *const locks = (struct both_locks *)base;

    hd_fs_unlock(locks->provider);
    hd_fs_unlock(locks->kernel);
    hd_free(NULL, locks);
}

static const struct hd_fs_lock_ops BOTH_OPS = {unlock_both};

/* `*kernel` moves into the lock. */
static hudi_status lock_by_provider(struct hd_op *op, const struct hd_table_snapshot *table,
                                    const struct hd_lock_provider *provider, uint64_t wait_ms,
                                    struct hd_fs_lock **kernel, struct hd_fs_lock **out)
{
    struct both_locks *locks;

    HD_TRY(hd_alloc(op, sizeof *locks, &locks));
    locks->base.ops = &BOTH_OPS;
    const hudi_status status =
        provider != NULL
            ? hd_lock_provider_take(op, provider, table->uri, wait_ms, &locks->provider)
            : hd_process_lock(op, table->path, wait_ms, &locks->provider);
    if (status != HUDI_OK) {
        hd_free(op, locks);
        return status;
    }
    locks->kernel = *kernel;
    *kernel = NULL;
    *out = &locks->base;
    return HUDI_OK;
}

hudi_status hd_table_lock_check(struct hd_op *op, const struct hd_fs_lock *lock)
{
    if (lock != NULL && lock->ops == &FILE_LOCK_OPS)
        return check_file(op, (const struct file_lock *)lock);
    if (lock != NULL && lock->ops == &BOTH_OPS &&
        hd_lock_provider_has_lost(((const struct both_locks *)lock)->provider))
        return hd_fail_retriable(
            op, hd_fail(op, HUDI_CONFLICT, "the table's lock was lost to another writer"));
    return HUDI_OK;
}

static hudi_status lock_shared(struct hd_op *op, const struct hd_table_snapshot *table,
                               const struct hd_options *options,
                               const struct hd_lock_provider *provider, uint64_t wait_ms,
                               struct hd_fs_lock **kernel, struct hd_fs_lock **out)
{
    const char *const name = hd_options_text(options, NULL, PROVIDER);

    if (strcmp(name, HD_FILE_LOCK_PROVIDER) == 0 && *kernel == NULL)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED,
                       "lock files need a store on which only one of two can create a file");
    if (strcmp(name, HD_FILE_LOCK_PROVIDER) == 0)
        return lock_by_file(op, table, options, wait_ms, kernel, out);
    if (provider != NULL || *kernel == NULL)
        return lock_by_provider(op, table, provider, wait_ms, kernel, out);
    *out = *kernel; /* it holds between threads, too */
    *kernel = NULL;
    return HUDI_OK;
}

static hudi_status find_provider(struct hd_op *op, const struct hd_options *options,
                                 const struct hd_lock_provider **out)
{
    const char *const name = hd_options_text(options, NULL, PROVIDER);

    HD_TRY(hd_lock_provider_find(op, options, out));
    if (hd_has_several_writers(options) && (name == NULL || name[0] == '\0'))
        return hd_fail(op, HUDI_INVALID, MODE " OPTIMISTIC_CONCURRENCY_CONTROL needs " PROVIDER);
    return HUDI_OK;
}

hudi_status hd_table_lock_check_options(struct hd_op *op, const struct hd_options *options)
{
    const struct hd_lock_provider *provider;

    return find_provider(op, options, &provider);
}

hudi_status hd_table_lock(struct hd_op *op, const struct hd_table_snapshot *table,
                          const struct hd_options *options, uint64_t wait_ms,
                          struct hd_fs_lock **out)
{
    const struct hd_lock_provider *provider;
    struct hd_fs_lock *kernel = NULL;

    *out = NULL;
    HD_TRY(find_provider(op, options, &provider));
    HD_TRY(lock_kernel(op, table, wait_ms, &kernel));
    if (!hd_has_several_writers(options)) {
        if (kernel == NULL)
            hd_log(op, HD_LOG_WARN,
                   "no write lock on this store: there must be one writer at a time");
        *out = kernel;
        return HUDI_OK;
    }
    const hudi_status status = lock_shared(op, table, options, provider, wait_ms, &kernel, out);
    hd_fs_unlock(kernel);
    return status;
}
