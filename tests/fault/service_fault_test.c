/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation and every file operation of a table service fails once: alone, with all that
 * follow, and as a loss of power that drops what was not synced. Each time the table reads as it
 * did before, and the next run of the service ends where an undisturbed one would.
 *
 *   HUDI_TEST_SEED     where the walk over the points begins
 *   HUDI_TEST_SECONDS  walk over all points: of files first, then of memory as well, each service
 *                      and mode for a third of that at most
 *
 * Labels: fault
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "api/api.h"
#include "store/memory.h"
#include "support/service_scene.h"

#define STORE "service-faults"
#define URI "memory:" STORE "/t"
#define SAMPLED_POINTS 4 /* of one service and mode, without HUDI_TEST_SECONDS */

enum mode { FAILS_ONCE, FAILS_ON, LOSES_POWER };
static const char *const MODES[] = {"fails", "fails with all that follow", "is a loss of power"};

struct walker {
    const struct test_service *service;
    enum mode mode;
    bool files_only;
    struct service_scene scene;
    struct hd_faults faults;
};

static int64_t setting(const char *name, int64_t otherwise)
{
    const char *const text = getenv(name);

    return text == NULL || *text == '\0' ? otherwise : strtoll(text, NULL, 10);
}

static void open_context(struct walker *walker)
{
    walker->scene.context = model_table_context("1");
    walker->faults = (struct hd_faults){.left = -1, .files_only = walker->files_only};
    walker->scene.context->faults = &walker->faults;
}

static void arm(struct walker *walker, int64_t nth)
{
    walker->faults.sticky = walker->mode != FAILS_ONCE;
    atomic_store(&walker->faults.fired, false);
    atomic_store(&walker->faults.left, nth - 1);
}

static void disarm(struct walker *walker)
{
    walker->faults.sticky = false;
    atomic_store(&walker->faults.left, -1);
}

static void begin(struct walker *walker)
{
    hd_memory_drop(STORE);
    service_scene_begin(&walker->scene, walker->service);
}

static void must_run(struct walker *walker, const char *what)
{
    hudi_error *error = NULL;

    if (walker->service->run(&walker->scene, &error) != HUDI_OK)
        fail_msg("%s: %s", what, error == NULL ? "" : hudi_error_message(error));
}

/* The machine stops: the process is gone, and what was not synced. */
static void lose_power(struct walker *walker)
{
    struct hd_op op;
    hd_file_system *fs;

    hudi_context_free(walker->scene.context);
    hd_op_init(&op);
    assert_int_equal(hd_memory_file_system_open(&op, STORE, &fs), HUDI_OK);
    assert_int_equal(hd_memory_crash(&op, fs), HUDI_OK);
    hd_fs_free(fs);
    hd_op_clear(&op);
    open_context(walker);
}

static void run_point(struct walker *walker, int64_t nth)
{
    hudi_error *error = NULL;
    char what[240];

    begin(walker);
    arm(walker, nth);
    const hudi_status status = walker->service->run(&walker->scene, &error);
    const bool fired = atomic_load(&walker->faults.fired);
    disarm(walker);
    snprintf(what, sizeof what, "%s, point %" PRId64 " %s (%s)", walker->service->name, nth,
             MODES[walker->mode],
             error == NULL ? hudi_status_name(status) : hudi_error_message(error));
    if (status == HUDI_OK && error != NULL)
        fail_msg("%s: an error without failure", what);
    if (status != HUDI_OK && !fired)
        fail_msg("%s: failed of itself", what);
    hudi_error_free(error);
    if (walker->mode == LOSES_POWER)
        lose_power(walker);
    service_scene_expect_rows(&walker->scene, walker->service, false, what);
    must_run(walker, what);
    service_scene_expect_rows(&walker->scene, walker->service, true, what);
    walker->service->expect(&walker->scene, what);
    model_table_verify(walker->scene.context, URI, what);
}

static int64_t count_points(struct walker *walker)
{
    const int64_t many = INT64_C(1) << 40;

    begin(walker);
    arm(walker, many);
    must_run(walker, walker->service->name);
    const int64_t n = many - 1 - atomic_load(&walker->faults.left);
    disarm(walker);
    service_scene_expect_rows(&walker->scene, walker->service, true, walker->service->name);
    walker->service->expect(&walker->scene, walker->service->name);
    return n;
}

/* All points while there is time, or some; a step that is prime to their number meets each once. */
static void walk(const struct test_service *service, enum mode mode, bool files_only)
{
    const int64_t seconds = setting("HUDI_TEST_SECONDS", 0);
    const uint64_t seed = (uint64_t)setting("HUDI_TEST_SEED", 1);
    const time_t end = time(NULL) + (seconds + 2) / 3;
    struct walker walker = {.service = service, .mode = mode, .files_only = files_only};
    int64_t n_run = 0, nth;

    walker.scene.uri = URI;
    open_context(&walker);
    const int64_t n_points = count_points(&walker);
    int64_t step = seconds > 0 && files_only ? 1 : n_points / SAMPLED_POINTS + 1;
    while (step > 1 && n_points % step == 0)
        step++;
    nth = (int64_t)(seed * 7919 % (uint64_t)(seconds > 0 ? n_points : step));
    for (; seconds > 0 ? n_run < n_points && time(NULL) < end : nth < n_points; nth += step) {
        run_point(&walker, nth % n_points + 1);
        n_run++;
    }
    print_message("%s: %" PRId64 " of %" PRId64 " points%s, each %s\n", service->name, n_run,
                  n_points, files_only ? " of files" : "", MODES[mode]);
    service_scene_clear(&walker.scene);
    hudi_context_free(walker.scene.context);
    hd_memory_drop(STORE);
}

static void walk_all(enum mode mode)
{
    for (size_t i = 0; i < n_test_services; i++) {
        if (setting("HUDI_TEST_SECONDS", 0) > 0)
            walk(&test_services[i], mode, true);
        walk(&test_services[i], mode, false);
    }
}

static void a_service_survives_any_single_fault(void **state)
{
    (void)state;
    walk_all(FAILS_ONCE);
}

static void a_service_survives_a_fault_after_which_nothing_works(void **state)
{
    (void)state;
    walk_all(FAILS_ON);
}

static void a_service_survives_a_loss_of_power(void **state)
{
    (void)state;
    walk_all(LOSES_POWER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_survives_any_single_fault),
        cmocka_unit_test(a_service_survives_a_fault_after_which_nothing_works),
        cmocka_unit_test(a_service_survives_a_loss_of_power),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
