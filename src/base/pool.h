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
 * by several operations, and a task may call hd_pool_each() on its own pool; a task must not wait
 * for another task of the same pool in any other way. Workers block all signals.
 */
typedef struct hd_pool hd_pool;

/**
 * `n_threads` at least 1; with 1 everything runs in the calling thread.
 * @return HUDI_INVALID for 0 threads or too many, HUDI_NO_MEMORY, HUDI_IO when the system refuses a
 *         thread (retriable)
 */
hudi_status hd_pool_new(struct hd_op *op, size_t n_threads, hd_pool **out);
void hd_pool_free(hd_pool *pool);
size_t hd_pool_threads(const hd_pool *pool);

/**
 * Run `work(op, argument, i)` for i in 0..n-1, in any order and on any thread, the caller's among
 * them, and wait for all. Each call gets an op of its own, whose random sequence depends on the
 * parent's and on i only. Indices are started in order, and after a failure or a cancel no further
 * one is; the failure with the smallest index is the one returned, so that errors do not depend on
 * timing. Clock and log sink of the op are called from all threads.
 *
 * @return the status of that failure, its error moved into `op`; HUDI_CANCELLED when nothing failed
 *         and a cancel left some index out
 */
hudi_status hd_pool_each(struct hd_op *op, hd_pool *pool, size_t n,
                         hudi_status (*work)(struct hd_op *op, void *argument, size_t i),
                         void *argument);

/**
 * One background task on a thread of its own, for pipelines: start, then join exactly once.
 * @return HUDI_NO_MEMORY; HUDI_IO when the system refuses a thread (retriable)
 */
struct hd_task;
hudi_status hd_task_start(struct hd_op *op, hudi_status (*work)(struct hd_op *op, void *argument),
                          void *argument, struct hd_task **out);
/** Wait, move the task's error into `op`, return its status, free it. Takes NULL (HUDI_OK). */
hudi_status hd_task_join(struct hd_op *op, struct hd_task *task);

#ifdef __cplusplus
}
#endif

#endif
