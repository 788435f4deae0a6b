/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_BASE_POOL_H
#define HD_BASE_POOL_H

#include <stddef.h>

#include "base/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Worker threads for independent pieces of work (file groups, columns, files). A pool may be shared
 * by several operations; a task must not wait for another task of the same pool.
 */
typedef struct hd_pool hd_pool;

/** `n_threads` at least 1; with 1 everything runs in the calling thread. */
hudi_status hd_pool_new(struct hd_op *op, size_t n_threads, hd_pool **out);
void hd_pool_free(hd_pool *pool);
size_t hd_pool_threads(const hd_pool *pool);

/**
 * Run `work(op, argument, i)` for i in 0..n-1, in any order and on any thread, the caller's among
 * them, and wait for all. Each call gets an op of its own. After a failure or a cancel no further
 * index is started; the failure with the smallest index that was seen is the one returned, so the
 * error does not depend on timing more than it must.
 */
hudi_status hd_pool_each(struct hd_op *op, hd_pool *pool, size_t n,
                         hudi_status (*work)(struct hd_op *op, void *argument, size_t i),
                         void *argument);

/** One background task, for pipelines: start, then join exactly once. */
struct hd_task;
hudi_status hd_task_start(struct hd_op *op, hudi_status (*work)(struct hd_op *op, void *argument),
                          void *argument, struct hd_task **out);
/** Wait, move the task's error into `op`, return its status, free it. Takes NULL (HUDI_OK). */
hudi_status hd_task_join(struct hd_op *op, struct hd_task *task);

#ifdef __cplusplus
}
#endif

#endif
