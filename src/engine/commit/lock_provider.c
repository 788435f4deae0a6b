/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit/lock_provider.h"

#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "store/file_system_ops.h"

#define PROVIDER "hoodie.write.lock.provider"
#define MESSAGE_BYTES 512
#define LOOK_MS 10

/* ---- those that are known ---------------------------------------------------------------------
 */

static const char *const BUILT_IN[] = {HD_FILE_LOCK_PROVIDER, HD_PROCESS_LOCK_PROVIDER};

static bool is_built_in(const char *name)
{
    for (size_t i = 0; i < HD_ARRAY_LENGTH(BUILT_IN); i++)
        if (strcmp(name, BUILT_IN[i]) == 0)
            return true;
    return false;
}

static const struct hd_lock_provider *find(const struct hd_lock_providers *providers,
                                           const char *name)
{
    for (size_t i = 0; providers != NULL && i < providers->n_providers; i++)
        if (strcmp(providers->providers[i].class_name, name) == 0)
            return &providers->providers[i];
    return NULL;
}

hudi_status hd_lock_providers_add(struct hd_op *op, struct hd_lock_providers *providers,
                                  const struct hd_lock_provider *provider)
{
    if (provider->class_name == NULL || provider->class_name[0] == '\0' || provider->lock == NULL ||
        provider->unlock == NULL)
        return hd_fail(op, HUDI_INVALID, "a lock provider needs a name, lock() and unlock()");
    if (is_built_in(provider->class_name) || find(providers, provider->class_name) != NULL)
        return hd_fail(op, HUDI_EXISTS, "lock provider %s is there already", provider->class_name);
    HD_TRY(hd_grow(op, &providers->providers, &providers->capacity, providers->n_providers + 1,
                   sizeof *providers->providers));
    struct hd_lock_provider *const added = &providers->providers[providers->n_providers];
    *added = *provider;
    HD_TRY(hd_strdup(op, provider->class_name, &added->class_name));
    providers->n_providers++;
    return HUDI_OK;
}

void hd_lock_providers_clear(struct hd_lock_providers *providers)
{
    for (size_t i = 0; i < providers->n_providers; i++)
        hd_free(NULL, providers->providers[i].class_name);
    hd_free(NULL, providers->providers);
    *providers = (struct hd_lock_providers){0};
}

static hudi_status fail_unknown(struct hd_op *op, const struct hd_lock_providers *providers,
                                const char *name)
{
    struct hd_str known = {0};
    hudi_status status = HUDI_OK;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(BUILT_IN); i++)
        HD_TRY_OUT(hd_str_printf(op, &known, "%s%s", i == 0 ? "" : ", ", BUILT_IN[i]));
    for (size_t i = 0; providers != NULL && i < providers->n_providers; i++)
        HD_TRY_OUT(hd_str_printf(op, &known, ", %s", providers->providers[i].class_name));
    status = hd_fail(op, HUDI_INVALID, PROVIDER " %s is not known; these are: %s", name,
                     hd_str_text(&known));
out:
    hd_str_clear(&known);
    return status;
}

hudi_status hd_lock_provider_find(struct hd_op *op, const struct hd_options *options,
                                  const struct hd_lock_provider **out)
{
    const char *const name = options == NULL ? NULL : hd_options_text(options, NULL, PROVIDER);

    *out = NULL;
    if (name == NULL || name[0] == '\0' || is_built_in(name))
        return HUDI_OK;
    *out = find(options->lock_providers, name);
    return *out == NULL ? fail_unknown(op, options->lock_providers, name) : HUDI_OK;
}

/* ---- a provider's lock ------------------------------------------------------------------------
 */

struct provider_lock {
    struct hd_fs_lock base;
    const struct hd_lock_provider *provider;
    void *held;
};

static void unlock_provider(struct hd_fs_lock *base)
{
    struct provider_lock *const lock = (struct provider_lock *)base;

    lock->provider->unlock(lock->provider->self, lock->held);
    hd_free(NULL, lock);
}

static const struct hd_fs_lock_ops PROVIDER_LOCK_OPS = {unlock_provider};

hudi_status hd_lock_provider_take(struct hd_op *op, const struct hd_lock_provider *provider,
                                  const char *table_uri, uint64_t wait_ms, struct hd_fs_lock **out)
{
    struct provider_lock *lock;
    char message[MESSAGE_BYTES] = "";

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *lock, &lock));
    *lock = (struct provider_lock){.base.ops = &PROVIDER_LOCK_OPS, .provider = provider};
    const hudi_status status =
        provider->lock(provider->self, table_uri, wait_ms, &lock->held, message, sizeof message);
    message[MESSAGE_BYTES - 1] = '\0';
    if (status == HUDI_OK) {
        *out = &lock->base;
        return HUDI_OK;
    }
    hd_free(op, lock);
    (void)hd_fail(op, status, "%s: %s", provider->class_name,
                  message[0] != '\0' ? message : "another writer holds the lock");
    return status == HUDI_CONFLICT ? hd_fail_retriable(op, status) : status;
}

bool hd_lock_provider_has_lost(const struct hd_fs_lock *lock)
{
    const struct provider_lock *const own = (const struct provider_lock *)lock;

    return lock != NULL && lock->ops == &PROVIDER_LOCK_OPS && own->provider->is_held != NULL &&
           !own->provider->is_held(own->provider->self, own->held);
}

/* ---- within this process ----------------------------------------------------------------------
 */

struct process_lock {
    struct hd_fs_lock base;
    char *key;
    struct process_lock *next; /* of those that are held */
};

/* The locks that are held are the process's, as the name of Hudi's provider says. */
static pthread_mutex_t held_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct process_lock *held_locks;

static void unlock_process(struct hd_fs_lock *base)
{
    struct process_lock *const lock = (struct process_lock *)base;

    pthread_mutex_lock(&held_mutex);
    for (struct process_lock **at = &held_locks; *at != NULL; at = &(*at)->next) {
        if (*at == lock) {
            *at = lock->next;
            break;
        }
    }
    pthread_mutex_unlock(&held_mutex);
    hd_free(NULL, lock->key);
    hd_free(NULL, lock);
}

static bool try_hold(struct process_lock *lock)
{
    bool taken = false;

    pthread_mutex_lock(&held_mutex);
    for (const struct process_lock *at = held_locks; at != NULL && !taken; at = at->next)
        taken = strcmp(at->key, lock->key) == 0;
    if (!taken) {
        lock->next = held_locks;
        held_locks = lock;
    }
    pthread_mutex_unlock(&held_mutex);
    return !taken;
}

hudi_status hd_process_lock(struct hd_op *op, const char *key, uint64_t wait_ms,
                            struct hd_fs_lock **out)
{
    static const struct hd_fs_lock_ops OPS = {unlock_process};
    const uint64_t started_ms = hd_now_ms(op);
    hudi_status status = HUDI_OK;
    struct process_lock *lock;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *lock, &lock));
    lock->base.ops = &OPS;
    HD_TRY_OUT(hd_strdup(op, key, &lock->key));
    while (!try_hold(lock)) {
        HD_TRY_OUT(hd_op_check_cancel(op));
        if (hd_now_ms(op) - started_ms >= wait_ms)
            HD_TRY_OUT(hd_fail_retriable(
                op, hd_fail(op, HUDI_CONFLICT,
                            "another write of this process holds the lock (waited %llu ms)",
                            (unsigned long long)wait_ms)));
        hd_sleep_ms(op, LOOK_MS);
    }
    *out = &lock->base;
    return HUDI_OK;
out:
    hd_free(op, lock->key);
    hd_free(op, lock);
    return status;
}
