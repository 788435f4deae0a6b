/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_ENGINE_TABLE_LOCK_H
#define HD_ENGINE_TABLE_LOCK_H

#include "format/layout/table_snapshot.h"

/**
 * One writing process at a time: a kernel lock on TABLE/.hoodie/.libhudi.lock that ends with its
 * process however that ends, so a live writer is never taken for a dead one. Stores without such
 * locks (object stores) go without: then the caller sees to it that there is one writer.
 */
#define HD_TABLE_LOCK_FILE ".libhudi.lock"

/** @return HUDI_CONFLICT (retriable) after `wait_ms` */
hudi_status hd_table_lock(struct hd_op *op, const struct hd_table_snapshot *table, uint64_t wait_ms,
                          struct hd_fs_lock **out);

#endif
