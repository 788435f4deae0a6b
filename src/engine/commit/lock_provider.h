/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_LOCK_PROVIDER_H
#define HD_ENGINE_LOCK_PROVIDER_H

#include "format/table/config_keys.h"
#include "store/file_system.h"

/** A provider that the program brings along: include/hudi/lock.h. */
struct hd_lock_provider {
    char *class_name;
    hudi_status (*lock)(void *self, const char *table_uri, uint64_t wait_ms, void **out,
                        char *message, size_t n_message_bytes);
    bool (*is_held)(void *self, void *lock);
    void (*unlock)(void *self, void *lock);
    void *self;
};

/** Those of a context. All zero is none. */
struct hd_lock_providers {
    struct hd_lock_provider *providers;
    size_t n_providers;
    size_t capacity;
};

/** @param provider  copied; its name as well
 * @return HUDI_EXISTS, HUDI_INVALID (with errors) */
hudi_status hd_lock_providers_add(struct hd_op *op, struct hd_lock_providers *providers,
                                  const struct hd_lock_provider *provider);
void hd_lock_providers_clear(struct hd_lock_providers *providers);

#define HD_LOCK_PACKAGE "org.apache.hudi.client.transaction.lock."
#define HD_FILE_LOCK_PROVIDER HD_LOCK_PACKAGE "FileSystemBasedLockProvider"
#define HD_PROCESS_LOCK_PROVIDER HD_LOCK_PACKAGE "InProcessLockProvider"

/** The provider that hoodie.write.lock.provider names: NULL for one of the above, and when none is
 * named. @return HUDI_INVALID for one that is not known, naming those that are */
hudi_status hd_lock_provider_find(struct hd_op *op, const struct hd_options *options,
                                  const struct hd_lock_provider **out);

/** Take the provider's lock. @return HUDI_CONFLICT (retriable), what the provider gave */
hudi_status hd_lock_provider_take(struct hd_op *op, const struct hd_lock_provider *provider,
                                  const char *table_uri, uint64_t wait_ms, struct hd_fs_lock **out);

/** Whether `lock`, of whatever kind, is one of a provider that says it is no longer held. */
bool hd_lock_provider_has_lost(const struct hd_fs_lock *lock);

/** One holder of `key` at a time in this process, for stores that have no locks of their own.
 * @return HUDI_CONFLICT (retriable) after `wait_ms` */
hudi_status hd_process_lock(struct hd_op *op, const char *key, uint64_t wait_ms,
                            struct hd_fs_lock **out);

#endif
