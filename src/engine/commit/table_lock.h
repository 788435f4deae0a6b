/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_TABLE_LOCK_H
#define HD_ENGINE_TABLE_LOCK_H

#include "format/layout/table_snapshot.h"

/**
 * One writing process at a time: a kernel lock on TABLE/.hoodie/.libhudi.lock that ends with its
 * process however that ends, so a live writer is never taken for a dead one. Stores without such
 * locks (object stores) go without: then the caller sees to it that there is one writer.
 *
 * With hoodie.write.concurrency.mode OPTIMISTIC_CONCURRENCY_CONTROL and the lock provider
 * FileSystemBasedLockProvider, Hudi's own writers share the table: then the provider's lock file
 * (.hoodie/lock, or in hoodie.write.lock.filesystem.path) is held too, from begin to commit. No
 * other writer completes meanwhile, so there is nothing to conflict with on this side; those that
 * had begun compare with what was committed here when they get the lock, as among themselves.
 * Another provider would be another case in hd_table_lock(): take after the kernel lock, give back
 * in the lock's `unlock`.
 */
#define HD_TABLE_LOCK_FILE ".libhudi.lock"

/** Do several writers, of Hudi as well, share the table? */
bool hd_has_several_writers(const struct hd_options *options);

/** @param options  may be NULL: one writer
 * @return HUDI_CONFLICT (retriable) after `wait_ms`; HUDI_INVALID for several writers without a
 * lock provider */
hudi_status hd_table_lock(struct hd_op *op, const struct hd_table_snapshot *table,
                          const struct hd_options *options, uint64_t wait_ms,
                          struct hd_fs_lock **out);

#endif
