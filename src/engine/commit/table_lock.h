/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_TABLE_LOCK_H
#define HD_ENGINE_TABLE_LOCK_H

#include "format/layout/table_snapshot.h"

/**
 * The table's lock. With one writer it is the kernel's, on TABLE/.hoodie/.libhudi.lock, held from
 * begin to commit; it ends with its process however that ends, so a live writer is never taken for
 * a dead one. Stores without such locks (object stores) go without: then the caller sees to it that
 * there is one writer.
 *
 * With hoodie.write.concurrency.mode OPTIMISTIC_CONCURRENCY_CONTROL several writers, Hudi's as
 * well, share the table. The lock is held for moments only (transaction.h): it is the kernel's and
 * then that of the lock provider, which other machines and Hudi honour.
 *
 *   FileSystemBasedLockProvider  a file (.hoodie/lock, or in hoodie.write.lock.filesystem.path)
 *                                that exists as long as somebody holds the lock. Ours says whose
 *                                it is: found by the next holder of the kernel's lock on the same
 *                                machine, its owner is dead, and the file is taken over.
 *   InProcessLockProvider        the kernel's lock alone; on stores without, one of this process
 *   another                      what the program brings along (lock_provider.h), and the kernel's
 */
#define HD_TABLE_LOCK_FILE ".libhudi.lock"

/** Do several writers, of Hudi as well, share the table? */
bool hd_has_several_writers(const struct hd_options *options);

/** How long to wait for the lock: libhudi.write.lock.wait.ms; with several writers, unless that is
 * given, what Hudi's options of retries and waits come to. */
uint64_t hd_table_lock_wait_ms(const struct hd_options *options);

/** Refuse options that hd_table_lock() refuses whatever the table. @return HUDI_INVALID */
hudi_status hd_table_lock_check_options(struct hd_op *op, const struct hd_options *options);

/** @param options  may be NULL: one writer
 * @return HUDI_CONFLICT (retriable) after `wait_ms`; HUDI_INVALID for several writers without a
 * lock provider, and for a provider that is not known */
hudi_status hd_table_lock(struct hd_op *op, const struct hd_table_snapshot *table,
                          const struct hd_options *options, uint64_t wait_ms,
                          struct hd_fs_lock **out);

/** Before something is made visible: is the lock still ours? A lock file is not when it was taken
 * for expired, or when a writer looked for it just before it was made (Hadoop's local file system
 * looks, then creates). @return HUDI_CONFLICT (retriable) */
hudi_status hd_table_lock_check(struct hd_op *op, const struct hd_fs_lock *lock);

#endif
