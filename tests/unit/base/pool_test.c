/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "support/fault.h"

/* Labels: threads */

#define N_WORK 1000

static hd_pool *new_pool(struct hd_op *op, size_t n_threads)
{
    hd_pool *pool;

    assert_int_equal(hd_pool_new(op, n_threads, &pool), HUDI_OK);
    assert_int_equal(hd_pool_threads(pool), n_threads);
    return pool;
}

/* cmocka's asserts belong to the main thread: tasks only write down what they see. */
static hudi_status count(struct hd_op *op, void *argument, size_t i)
{
    int *counts = argument;

    (void)op;
    counts[i]++;
    return HUDI_OK;
}

static void every_index_runs_exactly_once(void **state)
{
    struct hd_op *op = *state;
    const size_t sizes[] = {0, 1, 2, 3, 8, 100, N_WORK};

    for (size_t n_threads = 1; n_threads <= 8; n_threads++) {
        hd_pool *const pool = new_pool(op, n_threads);

        for (size_t s = 0; s < HD_ARRAY_LENGTH(sizes); s++) {
            int counts[N_WORK] = {0};

            assert_int_equal(hd_pool_each(op, pool, sizes[s], count, counts), HUDI_OK);
            for (size_t i = 0; i < N_WORK; i++)
                assert_int_equal(counts[i], i < sizes[s]);
        }
        hd_pool_free(pool);
    }
    assert_null(op->error);
}

static hudi_status note_thread(struct hd_op *op, void *argument, size_t i)
{
    pthread_t *threads = argument;

    (void)op;
    threads[i] = pthread_self();
    return HUDI_OK;
}

static void one_thread_means_the_callers_in_order(void **state)
{
    struct hd_op *op = *state;
    hd_pool *const pool = new_pool(op, 1);
    pthread_t threads[20];

    assert_int_equal(hd_pool_each(op, pool, 20, note_thread, threads), HUDI_OK);
    for (int i = 0; i < 20; i++)
        assert_true(pthread_equal(threads[i], pthread_self()));
    hd_pool_free(pool);
    assert_int_equal(hd_pool_new(op, 0, &(hd_pool *){NULL}), HUDI_INVALID);
    hd_pool_free(NULL);
}

struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    size_t n_here, n_wanted;
};

/* Ends only when as many tasks as wanted are inside at the same time. */
static hudi_status meet(struct hd_op *op, void *argument, size_t i)
{
    struct meeting *meeting = argument;

    (void)op;
    (void)i;
    pthread_mutex_lock(&meeting->lock);
    if (++meeting->n_here == meeting->n_wanted)
        pthread_cond_broadcast(&meeting->all_here);
    while (meeting->n_here < meeting->n_wanted)
        pthread_cond_wait(&meeting->all_here, &meeting->lock);
    pthread_mutex_unlock(&meeting->lock);
    return HUDI_OK;
}

static void all_threads_work_at_the_same_time(void **state)
{
    struct hd_op *op = *state;
    hd_pool *const pool = new_pool(op, 4);
    struct meeting meeting = {.n_wanted = 4};

    pthread_mutex_init(&meeting.lock, NULL);
    pthread_cond_init(&meeting.all_here, NULL);
    assert_int_equal(hd_pool_each(op, pool, 4, meet, &meeting), HUDI_OK);
    assert_int_equal(meeting.n_here, 4);
    pthread_cond_destroy(&meeting.all_here);
    pthread_mutex_destroy(&meeting.lock);
    hd_pool_free(pool);
}

struct failing {
    size_t first; /* this index and every third behind it fail */
    _Atomic(size_t) n_run;
};

static hudi_status fail_some(struct hd_op *op, void *argument, size_t i)
{
    struct failing *failing = argument;

    atomic_fetch_add(&failing->n_run, 1);
    if (i == failing->first)
        sched_yield(); /* let a later one fail first */
    if (i >= failing->first && (i - failing->first) % 3 == 0)
        return hd_fail(op, i % 2 == 0 ? HUDI_CORRUPT : HUDI_IO, "index %zu", i);
    return HUDI_OK;
}

static void the_failure_with_the_smallest_index_is_returned(void **state)
{
    struct hd_op *op = *state;

    for (size_t n_threads = 1; n_threads <= 8; n_threads *= 2) {
        hd_pool *const pool = new_pool(op, n_threads);

        for (size_t first = 0; first < 100; first++) {
            struct failing failing = {.first = first};
            char message[32];

            snprintf(message, sizeof message, "index %zu", first);
            assert_int_equal(hd_pool_each(op, pool, N_WORK, fail_some, &failing),
                             first % 2 == 0 ? HUDI_CORRUPT : HUDI_IO);
            assert_string_equal(hudi_error_message(op->error), message);
            assert_true(atomic_load(&failing.n_run) > first);
            if (n_threads == 1)
                assert_int_equal(atomic_load(&failing.n_run), first + 1);
            hd_op_clear_error(op);
        }
        hd_pool_free(pool);
    }
}

static void an_error_that_the_op_has_already_stays(void **state)
{
    struct hd_op *op = *state;
    hd_pool *const pool = new_pool(op, 2);
    struct failing failing = {.first = 0};

    hd_fail(op, HUDI_SCHEMA, "before");
    assert_int_equal(hd_pool_each(op, pool, 10, fail_some, &failing), HUDI_CORRUPT);
    assert_string_equal(hudi_error_message(op->error), "before");
    hd_pool_free(pool);
}

static hudi_status end_at_five(struct hd_op *op, void *argument, size_t i)
{
    (void)op;
    (void)argument;
    return i >= 5 ? HUDI_NOT_FOUND : HUDI_OK;
}

static void a_status_without_an_error_is_passed_on(void **state)
{
    struct hd_op *op = *state;
    hd_pool *const pool = new_pool(op, 3);

    assert_int_equal(hd_pool_each(op, pool, 50, end_at_five, NULL), HUDI_NOT_FOUND);
    assert_null(op->error);
    hd_pool_free(pool);
}

struct cancelling {
    hd_atomic_bool flag;
    size_t at;
    _Atomic(size_t) n_run;
};

static hudi_status cancel_at(struct hd_op *op, void *argument, size_t i)
{
    struct cancelling *cancelling = argument;

    (void)op;
    atomic_fetch_add(&cancelling->n_run, 1);
    if (i == cancelling->at)
        atomic_store(&cancelling->flag, true);
    return HUDI_OK;
}

static void a_cancel_stops_before_the_next_index(void **state)
{
    struct hd_op *op = *state;

    for (size_t n_threads = 1; n_threads <= 4; n_threads++) {
        hd_pool *const pool = new_pool(op, n_threads);
        struct cancelling cancelling = {.at = 10};

        op->cancelled = &cancelling.flag;
        assert_int_equal(hd_pool_each(op, pool, 1000000, cancel_at, &cancelling), HUDI_CANCELLED);
        assert_int_equal(hudi_error_status(op->error), HUDI_CANCELLED);
        assert_in_range(atomic_load(&cancelling.n_run), 11, 999999);
        hd_op_clear_error(op);
        hd_pool_free(pool);
    }
    /* a cancel that comes with the last index comes too late */
    hd_pool *const pool = new_pool(op, 1);
    struct cancelling late = {.at = 9};
    op->cancelled = &late.flag;
    assert_int_equal(hd_pool_each(op, pool, 10, cancel_at, &late), HUDI_OK);
    assert_null(op->error);
    hd_pool_free(pool);
}

static hudi_status draw(struct hd_op *op, void *argument, size_t i)
{
    uint64_t *drawn = argument;

    drawn[i] = hd_random_u64(op);
    return HUDI_OK;
}

static void random_numbers_do_not_depend_on_the_threads(void **state)
{
    struct hd_op *op = *state;
    uint64_t first[200], drawn[200];

    for (size_t n_threads = 1; n_threads <= 5; n_threads++) {
        hd_pool *const pool = new_pool(op, n_threads);

        op->random_state[0] = 77;
        op->random_state[1] = 88;
        assert_int_equal(hd_pool_each(op, pool, 200, draw, n_threads == 1 ? first : drawn),
                         HUDI_OK);
        if (n_threads > 1)
            assert_memory_equal(first, drawn, sizeof first);
        assert_int_equal(hd_pool_each(op, pool, 200, draw, drawn), HUDI_OK);
        assert_memory_not_equal(first, drawn, sizeof first); /* the parent has moved on */
        hd_pool_free(pool);
    }
    for (int i = 1; i < 200; i++)
        assert_false(first[i] == first[i - 1]);
}

struct nested {
    hd_pool *pool;
    int counts[20][20];
};

static hudi_status count_nested(struct hd_op *op, void *argument, size_t i)
{
    struct nested *nested = argument;

    return hd_pool_each(op, nested->pool, 20, count, nested->counts[i]);
}

static void a_task_may_use_the_pool_itself(void **state)
{
    struct hd_op *op = *state;
    struct nested nested = {.pool = new_pool(op, 3)};

    assert_int_equal(hd_pool_each(op, nested.pool, 20, count_nested, &nested), HUDI_OK);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 20; j++)
            assert_int_equal(nested.counts[i][j], 1);
    hd_pool_free(nested.pool);
}

struct shared_use {
    hd_pool *pool;
    struct hd_op op;
    int counts[N_WORK];
    size_t first_failure;
    hudi_status status;
};

static void *use_shared_pool(void *argument)
{
    struct shared_use *use = argument;

    for (int round = 0; round < 50; round++) {
        struct failing failing = {.first = use->first_failure};

        if (hd_pool_each(&use->op, use->pool, N_WORK, count, use->counts) != HUDI_OK)
            use->status = HUDI_INTERNAL;
        const hudi_status expected = use->first_failure % 2 == 0 ? HUDI_CORRUPT : HUDI_IO;
        if (hd_pool_each(&use->op, use->pool, 50, fail_some, &failing) != expected)
            use->status = HUDI_INTERNAL;
        hd_op_clear_error(&use->op);
    }
    return NULL;
}

static void operations_share_a_pool(void **state)
{
    enum { N_USERS = 4 };
    struct hd_op *op = *state;
    hd_pool *const pool = new_pool(op, 3);
    static struct shared_use uses[N_USERS];
    pthread_t threads[N_USERS];

    memset(uses, 0, sizeof uses);
    for (size_t i = 0; i < N_USERS; i++) {
        uses[i].pool = pool;
        uses[i].first_failure = i * 7;
        hd_op_init_child(&uses[i].op, op);
        assert_int_equal(pthread_create(&threads[i], NULL, use_shared_pool, &uses[i]), 0);
    }
    for (size_t i = 0; i < N_USERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(uses[i].status, HUDI_OK);
        for (int j = 0; j < N_WORK; j++)
            assert_int_equal(uses[i].counts[j], 50);
        hd_op_clear(&uses[i].op);
    }
    hd_pool_free(pool);
}

static hudi_status allocate(struct hd_op *op, void *argument, size_t i)
{
    char **texts = argument;

    return hd_asprintf(op, &texts[i], "%zu", i);
}

static void one_armed_fault_fails_one_task(void **state)
{
    struct hd_op *op = *state;
    hd_pool *const pool = new_pool(op, 4);
    hudi_status status = HUDI_INTERNAL;
    int64_t nth = 1;

    for (; status != HUDI_OK; nth++) {
        char *texts[30] = {0};
        int n_missing = 0;

        test_fault_arm(op, nth);
        status = hd_pool_each(op, pool, 30, allocate, texts);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_int_equal(hudi_error_status(op->error), status);
        for (int i = 0; i < 30; i++) {
            n_missing += texts[i] == NULL;
            hd_free(op, texts[i]);
        }
        assert_int_equal(n_missing > 0, status != HUDI_OK);
    }
    assert_int_equal(nth, 32); /* 30 faults, the success, and one more by the loop */
    hd_pool_free(pool);
}

static void a_pool_without_memory_is_no_pool(void **state)
{
    struct hd_op *op = *state;
    hd_pool *pool;

    test_fault_arm(op, 1);
    assert_int_equal(hd_pool_new(op, 4, &pool), HUDI_NO_MEMORY);
    assert_null(pool);
    hd_op_clear_error(op);
    assert_int_equal(hd_pool_new(op, SIZE_MAX, &pool), HUDI_INVALID);
    assert_null(pool);
}

struct background {
    pthread_t thread;
    uint64_t random;
    hudi_status status;
};

static hudi_status run_background(struct hd_op *op, void *argument)
{
    struct background *background = argument;

    background->thread = pthread_self();
    background->random = hd_random_u64(op);
    if (background->status != HUDI_OK)
        return hd_fail(op, background->status, "in the background");
    return HUDI_OK;
}

static void a_background_task_runs_on_its_own_thread(void **state)
{
    struct hd_op *op = *state;
    struct background a = {0}, b = {0};
    struct hd_task *task_a, *task_b;

    assert_int_equal(hd_task_start(op, run_background, &a, &task_a), HUDI_OK);
    assert_int_equal(hd_task_start(op, run_background, &b, &task_b), HUDI_OK);
    assert_int_equal(hd_task_join(op, task_a), HUDI_OK);
    assert_int_equal(hd_task_join(op, task_b), HUDI_OK);
    assert_false(pthread_equal(a.thread, pthread_self()));
    assert_false(a.random == b.random);
    assert_int_equal(hd_task_join(op, NULL), HUDI_OK);
}

static void joining_a_failed_task_brings_its_error(void **state)
{
    struct hd_op *op = *state;
    struct background failing = {.status = HUDI_CONFLICT};
    struct hd_task *task;

    assert_int_equal(hd_task_start(op, run_background, &failing, &task), HUDI_OK);
    assert_int_equal(hd_task_join(op, task), HUDI_CONFLICT);
    assert_string_equal(hudi_error_message(op->error), "in the background");
    hd_op_clear_error(op);
    test_fault_arm(op, 1);
    assert_int_equal(hd_task_start(op, run_background, &failing, &task), HUDI_NO_MEMORY);
    assert_null(task);
}

int main(void)
{
#define WITH_OP(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        WITH_OP(every_index_runs_exactly_once),
        WITH_OP(one_thread_means_the_callers_in_order),
        WITH_OP(all_threads_work_at_the_same_time),
        WITH_OP(the_failure_with_the_smallest_index_is_returned),
        WITH_OP(an_error_that_the_op_has_already_stays),
        WITH_OP(a_status_without_an_error_is_passed_on),
        WITH_OP(a_cancel_stops_before_the_next_index),
        WITH_OP(random_numbers_do_not_depend_on_the_threads),
        WITH_OP(a_task_may_use_the_pool_itself),
        WITH_OP(operations_share_a_pool),
        WITH_OP(one_armed_fault_fails_one_task),
        WITH_OP(a_pool_without_memory_is_no_pool),
        WITH_OP(a_background_task_runs_on_its_own_thread),
        WITH_OP(joining_a_failed_task_brings_its_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
