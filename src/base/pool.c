/* SPDX-License-Identifier: Apache-2.0 */

#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>

#include "base/internal.h"

/*
 * A job is one hd_pool_each(). Its caller works on it, and every idle worker helps; indices are
 * handed out by an atomic counter. A worker moves the job it takes to the end of the list, so that
 * the jobs of several operations share the workers.
 *
 * Invariants
 *  1. Indices are handed out in order, and an index that was handed out is run. So all indices
 *     below one that failed are run too, and the smallest index that fails is always found.
 *  2. A job lives on its caller's stack: the caller leaves only when it is out of the list and
 *     `n_helpers` is 0. Both change under the pool's lock.
 *  3. The random sequence of index i depends on the parent's and on i alone, not on the thread.
 *  4. Locks: pool->lock and job->lock are never held together, nor while work runs.
 */

struct job {
    const struct hd_op *op; /* the parent; only read while helpers work */
    hudi_status (*work)(struct hd_op *op, void *argument, size_t i);
    void *argument;
    size_t n;
    uint64_t random_base[2];
    _Atomic(size_t) next;
    _Atomic(bool) stopped;

    pthread_mutex_t lock; /* guards the three below */
    size_t failed_index;
    hudi_status failed_status; /* HUDI_OK: nothing failed */
    hudi_error *failed_error;

    /* Guarded by the pool's lock. */
    struct job *newer, *older;
    bool is_listed;
    size_t n_helpers;
    pthread_cond_t helpers_gone;
};

struct hd_pool {
    pthread_mutex_t lock;
    pthread_cond_t work_or_end;
    struct job *oldest, *newest; /* jobs that may have indices left */
    bool is_ending;
    size_t n_workers; /* threads that were started; the caller is one more */
    pthread_t workers[];
};

static void list_job(struct hd_pool *pool, struct job *job)
{
    job->older = pool->newest;
    job->newer = NULL;
    if (pool->newest != NULL)
        pool->newest->newer = job;
    else
        pool->oldest = job;
    pool->newest = job;
    job->is_listed = true;
}

static void unlist_job(struct hd_pool *pool, struct job *job)
{
    if (!job->is_listed)
        return;
    if (job->older != NULL)
        job->older->newer = job->newer;
    else
        pool->oldest = job->newer;
    if (job->newer != NULL)
        job->newer->older = job->older;
    else
        pool->newest = job->older;
    job->is_listed = false;
}

/* Keep the failure if it is the one with the smallest index so far; takes the child's error. */
static void record_failure(struct job *job, size_t i, hudi_status status, struct hd_op *child)
{
    hudi_error *dropped = hd_op_take_error(child);

    atomic_store(&job->stopped, true);
    pthread_mutex_lock(&job->lock);
    if (job->failed_status == HUDI_OK || i < job->failed_index) {
        hudi_error *const before = job->failed_error;

        job->failed_index = i;
        job->failed_status = status;
        job->failed_error = dropped;
        dropped = before;
    }
    pthread_mutex_unlock(&job->lock);
    hudi_error_free(dropped);
}

static bool is_cancelled(const struct hd_op *op)
{
    return op->cancelled != NULL && atomic_load_explicit(op->cancelled, memory_order_acquire);
}

/* Run indices until none is left to start. */
static void run_job(struct job *job)
{
    while (!atomic_load(&job->stopped) && !is_cancelled(job->op)) {
        struct hd_op child;

        if (atomic_load(&job->next) >= job->n)
            return;
        const size_t i = atomic_fetch_add(&job->next, 1);
        if (i >= job->n)
            return;
        hd_op_init_child_seeded(&child, job->op, job->random_base, i);
        const hudi_status status = job->work(&child, job->argument, i);
        if (status != HUDI_OK)
            record_failure(job, i, status, &child);
        hd_op_clear(&child);
    }
}

static void *worker_main(void *argument)
{
    struct hd_pool *const pool = argument;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->oldest == NULL && !pool->is_ending)
            pthread_cond_wait(&pool->work_or_end, &pool->lock);
        struct job *const job = pool->oldest;
        if (job == NULL)
            break;
        unlist_job(pool, job);
        list_job(pool, job);
        job->n_helpers++;
        pthread_mutex_unlock(&pool->lock);

        run_job(job);

        pthread_mutex_lock(&pool->lock);
        unlist_job(pool, job);
        if (--job->n_helpers == 0)
            pthread_cond_signal(&job->helpers_gone);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* The host's signals are for the host's threads. */
static int start_thread(pthread_t *thread, void *(*main)(void *), void *argument)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(thread, NULL, main, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

hudi_status hd_pool_new(struct hd_op *op, size_t n_threads, hd_pool **out)
{
    const size_t n_workers = n_threads - 1;
    struct hd_pool *pool;
    size_t n_bytes;

    *out = NULL;
    if (n_threads == 0)
        return hd_fail(op, HUDI_INVALID, "a pool needs at least one thread");
    if (__builtin_mul_overflow(n_workers, sizeof(pthread_t), &n_bytes) ||
        __builtin_add_overflow(n_bytes, sizeof *pool, &n_bytes))
        return hd_fail(op, HUDI_INVALID, "%zu threads are too many", n_threads);
    HD_TRY(hd_alloc(op, n_bytes, &pool));
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work_or_end, NULL);
    while (pool->n_workers < n_workers) {
        const int code = start_thread(&pool->workers[pool->n_workers], worker_main, pool);

        if (code != 0) {
            const hudi_status status = hd_fail_errno(op, code, "thread %zu of %zu was not started",
                                                     pool->n_workers + 1, n_workers);
            hd_pool_free(pool);
            return status;
        }
        pool->n_workers++;
    }
    *out = pool;
    return HUDI_OK;
}

void hd_pool_free(hd_pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    assert(pool->oldest == NULL);
    pool->is_ending = true;
    pthread_cond_broadcast(&pool->work_or_end);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->n_workers; i++)
        pthread_join(pool->workers[i], NULL);
    pthread_cond_destroy(&pool->work_or_end);
    pthread_mutex_destroy(&pool->lock);
    hd_free(NULL, pool);
}

size_t hd_pool_threads(const hd_pool *pool)
{
    return pool->n_workers + 1;
}

static void run_with_workers(struct hd_pool *pool, struct job *job)
{
    pthread_cond_init(&job->helpers_gone, NULL);
    pthread_mutex_lock(&pool->lock);
    list_job(pool, job);
    pthread_cond_broadcast(&pool->work_or_end);
    pthread_mutex_unlock(&pool->lock);

    run_job(job);

    pthread_mutex_lock(&pool->lock);
    unlist_job(pool, job);
    while (job->n_helpers > 0)
        pthread_cond_wait(&job->helpers_gone, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_destroy(&job->helpers_gone);
}

hudi_status hd_pool_each(struct hd_op *op, hd_pool *pool, size_t n,
                         hudi_status (*work)(struct hd_op *op, void *argument, size_t i),
                         void *argument)
{
    struct job job = {.op = op, .work = work, .argument = argument, .n = n};

    job.random_base[0] = hd_random_u64(op);
    job.random_base[1] = hd_random_u64(op);
    pthread_mutex_init(&job.lock, NULL);
    if (pool->n_workers == 0 || n < 2)
        run_job(&job);
    else
        run_with_workers(pool, &job);
    pthread_mutex_destroy(&job.lock);

    if (job.failed_status != HUDI_OK) {
        if (op->error == NULL)
            op->error = job.failed_error;
        else
            hudi_error_free(job.failed_error);
        return job.failed_status;
    }
    return atomic_load(&job.next) < n ? hd_op_check_cancel(op) : HUDI_OK;
}

struct hd_task {
    pthread_t thread;
    struct hd_op op;
    hudi_status (*work)(struct hd_op *op, void *argument);
    void *argument;
    hudi_status status; /* read after the thread has ended */
};

static void *task_main(void *argument)
{
    struct hd_task *const task = argument;

    task->status = task->work(&task->op, task->argument);
    return NULL;
}

hudi_status hd_task_start(struct hd_op *op, hudi_status (*work)(struct hd_op *op, void *argument),
                          void *argument, struct hd_task **out)
{
    struct hd_task *task;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *task, &task));
    task->work = work;
    task->argument = argument;
    hd_op_init_child(&task->op, op);
    const int code = start_thread(&task->thread, task_main, task);
    if (code != 0) {
        hd_op_clear(&task->op);
        hd_free(op, task);
        return hd_fail_errno(op, code, "a thread was not started");
    }
    *out = task;
    return HUDI_OK;
}

hudi_status hd_task_join(struct hd_op *op, struct hd_task *task)
{
    if (task == NULL)
        return HUDI_OK;
    pthread_join(task->thread, NULL);
    const hudi_status status = task->status;
    hd_op_join(op, &task->op);
    hd_free(op, task);
    return status;
}
