/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault_walk.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "store/memory.h"
#include "support/model_table.h"
#include "support/setting.h"

static const char *const MODES[] = {"fails", "fails with all that follow", "is a loss of power"};

static void open_context(struct fault_store *store)
{
    store->context = model_table_context("1");
    store->faults = (struct hd_faults){.left = -1, .files_only = store->files_only};
    store->context->faults = &store->faults;
}

void fault_store_open(struct fault_store *store, const char *name)
{
    store->name = name;
    open_context(store);
}

void fault_store_close(struct fault_store *store)
{
    hudi_context_free(store->context);
    hd_memory_drop(store->name);
}

void fault_store_arm(struct fault_store *store, int64_t nth, enum fault_mode mode)
{
    store->faults.sticky = mode != FAILS_ONCE;
    atomic_store(&store->faults.fired, false);
    atomic_store(&store->faults.left, nth - 1);
}

void fault_store_disarm(struct fault_store *store)
{
    store->faults.sticky = false;
    atomic_store(&store->faults.left, -1);
}

/* The machine stops: the process is gone, and what was not synced. */
static void lose_power(struct fault_store *store)
{
    struct hd_op op;
    hd_file_system *fs;

    hudi_context_free(store->context);
    hd_op_init(&op);
    assert_int_equal(hd_memory_file_system_open(&op, store->name, &fs), HUDI_OK);
    assert_int_equal(hd_memory_crash(&op, fs), HUDI_OK);
    hd_fs_free(fs);
    hd_op_clear(&op);
    open_context(store);
}

void fault_must(hudi_status status, hudi_error *error, const char *what)
{
    if (status != HUDI_OK)
        fail_msg("%s: %s", what, error == NULL ? "" : hudi_error_message(error));
}

static int64_t count_points(const struct fault_walk *walk)
{
    const int64_t many = INT64_C(1) << 40;
    hudi_error *error = NULL;

    walk->begin(walk->scene);
    fault_store_arm(walk->store, many, FAILS_ONCE);
    fault_must(walk->run(walk->scene, &error), error, walk->name);
    const int64_t n = many - 1 - atomic_load(&walk->store->faults.left);
    fault_store_disarm(walk->store);
    assert_true(n > 0);
    walk->expect(walk->scene, 0, HUDI_OK, walk->name);
    return n;
}

static void run_point(const struct fault_walk *walk, int64_t nth)
{
    struct fault_store *const store = walk->store;
    hudi_error *error = NULL;
    char what[240];

    walk->begin(walk->scene);
    fault_store_arm(store, nth, walk->mode);
    const hudi_status status = walk->run(walk->scene, &error);
    const bool fired = atomic_load(&store->faults.fired);
    fault_store_disarm(store);
    snprintf(what, sizeof what, "%s, point %" PRId64 " %s (%s)", walk->name, nth, MODES[walk->mode],
             error == NULL ? hudi_status_name(status) : hudi_error_message(error));
    if (status == HUDI_OK && error != NULL)
        fail_msg("%s: an error without failure", what);
    if (status != HUDI_OK && !fired)
        fail_msg("%s: failed of itself", what);
    hudi_error_free(error);
    if (walk->mode == LOSES_POWER)
        lose_power(store);
    walk->expect(walk->scene, nth, status, what);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

void fault_walk(const struct fault_walk *walk)
{
    const uint64_t seed = (uint64_t)test_setting("HUDI_TEST_SEED", 1);
    const int64_t n_points = count_points(walk);
    const bool all = walk->seconds > 0;
    const time_t end = time(NULL) + walk->seconds;
    int64_t step = all && walk->in_order ? 1 : n_points / walk->n_sampled + 1;
    int64_t n_run = 0;

    /* A step that is prime to their number meets each point once, in a mixed order, so that a walk
     * that is cut short has seen all parts of the action. */
    while (common_divisor(step, n_points) != 1)
        step++;
    int64_t nth = (int64_t)(seed * 7919 % (uint64_t)(all ? n_points : step));
    for (; all ? n_run < n_points && time(NULL) < end : nth < n_points; nth += step) {
        run_point(walk, nth % n_points + 1);
        n_run++;
    }
    print_message("%s: %" PRId64 " of %" PRId64 " points%s, each %s\n", walk->name, n_run, n_points,
                  walk->store->files_only ? " of files" : "", MODES[walk->mode]);
}
