/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation and every file operation of a table service fails once: alone, with all that
 * follow, and as a loss of power that drops what was not synced. Each time the table reads as it
 * did before, and the next run of the service ends where an undisturbed one would.
 *
 *   HUDI_TEST_SEED     where the walk over the points begins
 *   HUDI_TEST_SECONDS  walk over all points: of files first, then of memory as well, each mode for
 *                      that long at most
 *
 * Labels: fault
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "store/memory.h"
#include "support/fault_walk.h"
#include "support/service_scene.h"
#include "support/setting.h"

#define STORE "service-faults"
#define URI "memory:" STORE "/t"
#define SAMPLED_POINTS 4 /* of one service and mode, without HUDI_TEST_SECONDS */

struct scene {
    struct fault_store store;
    const struct test_service *service;
    struct service_scene table;
};

static void begin(void *self)
{
    struct scene *const scene = self;

    hd_memory_drop(STORE);
    scene->table.context = scene->store.context;
    service_scene_begin(&scene->table, scene->service);
}

static hudi_status run(void *self, hudi_error **error)
{
    struct scene *const scene = self;

    return scene->service->run(&scene->table, error);
}

static void expect(void *self, int64_t nth, hudi_status status, const char *what)
{
    struct scene *const scene = self;
    hudi_error *error = NULL;

    (void)status;
    scene->table.context = scene->store.context;
    if (nth > 0) {
        service_scene_expect_rows(&scene->table, scene->service, false, what);
        fault_must(run(scene, &error), error, what);
    }
    service_scene_expect_rows(&scene->table, scene->service, true, what);
    scene->service->expect(&scene->table, what);
    model_table_verify(scene->store.context, URI, what);
}

static void walk(const struct test_service *service, enum fault_mode mode, bool files_only)
{
    struct scene scene = {.service = service, .store.files_only = files_only, .table.uri = URI};
    const struct fault_walk walk = {.name = service->name,
                                    .mode = mode,
                                    .n_sampled = SAMPLED_POINTS,
                                    .seconds = test_seconds(2 * (int64_t)n_test_services),
                                    .in_order = files_only,
                                    .store = &scene.store,
                                    .scene = &scene,
                                    .begin = begin,
                                    .run = run,
                                    .expect = expect};

    fault_store_open(&scene.store, STORE);
    fault_walk(&walk);
    service_scene_clear(&scene.table);
    fault_store_close(&scene.store);
}

static void walk_all(enum fault_mode mode)
{
    for (size_t i = 0; i < n_test_services; i++) {
        if (test_setting("HUDI_TEST_SECONDS", 0) > 0)
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
