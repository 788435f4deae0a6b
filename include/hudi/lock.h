/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HUDI_LOCK_H
#define HUDI_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hudi/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A lock provider of the program's own, for writers that share a table
 * (hoodie.write.concurrency.mode=OPTIMISTIC_CONCURRENCY_CONTROL) through a service that this
 * library does not know, such as ZooKeeper or DynamoDB. It is chosen by hoodie.write.lock.provider
 * = `class_name`; Hudi's own writers of the table must be configured to take the same lock.
 *
 * The lock is held for moments: when an instant begins, when a service is planned, and when an
 * instant completes. `table_uri` is the table as the program named it. The functions are called
 * from whatever thread calls the library, from several at once for several tables or writes; `self`
 * is passed on and must outlive the context. Add providers before the context is shared.
 *
 * @param lock  take the table's lock, waiting up to `wait_ms` (what Hudi's options
 *              hoodie.write.lock.* come to), and set `*out` to what unlock() is to get.
 *              @return HUDI_OK; HUDI_CONFLICT when another kept it; HUDI_IO and the like, with a
 *              line of why in `message` (`n_message_bytes` of room, NUL and all; "" before)
 * @param is_held  is it still ours? Asked once more before an instant completes, since locks of
 *                 services may expire. NULL: always
 * @param unlock  give it back; whatever goes wrong is nobody's to know
 * @return HUDI_EXISTS for a name that is taken, HUDI_INVALID, HUDI_NO_MEMORY
 */
HUDI_EXPORT hudi_status hudi_context_add_lock_provider(
    hudi_context *context, const char *class_name,
    hudi_status (*lock)(void *self, const char *table_uri, uint64_t wait_ms, void **out,
                        char *message, size_t n_message_bytes),
    bool (*is_held)(void *self, void *lock), void (*unlock)(void *self, void *lock), void *self,
    hudi_error **err);

#ifdef __cplusplus
}
#endif
#endif
