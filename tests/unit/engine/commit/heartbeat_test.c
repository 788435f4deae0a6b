/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* Labels: threads */
#include <stdlib.h>
#include <string.h>

#include "engine/commit/heartbeat.h"
#include "engine/commit/rollback.h"
#include "engine/commit/table_lock.h"
#include "support/fault.h"
#include "support/table.h"

struct scene {
    struct hd_op *op;
    struct test_table made;
    struct hd_table_snapshot table;
    struct hd_options options;
};

static void set(struct scene *scene, const char *key, const char *value)
{
    test_must(scene->op, hd_options_set(scene->op, &scene->options, key, value));
}

static void load(struct scene *scene)
{
    hd_timeline_clear(&scene->table.timeline);
    scene->table.fs = scene->made.fs;
    scene->table.path = scene->made.path;
    scene->table.config = scene->made.config;
    test_must(scene->op, hd_timeline_load(scene->op, scene->table.fs, scene->table.path,
                                          &scene->table.config, &scene->table.timeline));
}

static int set_up(void **state)
{
    struct scene *const scene = calloc(1, sizeof *scene);
    void *op;

    assert_non_null(scene);
    assert_int_equal(test_op_setup(&op), 0);
    scene->op = op;
    test_table_open(scene->op, &scene->made, "beating", 6, NULL);
    load(scene);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *const scene = *state;
    void *op = scene->op;

    hd_options_clear(&scene->options);
    hd_timeline_clear(&scene->table.timeline);
    test_table_close(&scene->made);
    free(scene);
    return test_op_teardown(&op);
}

static bool is_alive(struct scene *scene, const char *time)
{
    bool alive;

    test_must(scene->op,
              hd_heartbeat_is_alive(scene->op, &scene->table, &scene->options, time, &alive));
    return alive;
}

static int64_t modified_ms(struct scene *scene)
{
    struct hd_file_info info;
    char *path;

    test_must(scene->op,
              hd_path_join(scene->op, scene->made.path, ".hoodie/.heartbeat/001", &path));
    test_must(scene->op, hd_fs_stat(scene->op, scene->made.fs, path, &info));
    hd_free(scene->op, path);
    return info.modified_ms;
}

static void beats_until_it_is_stopped(void **state)
{
    struct scene *scene = *state;
    hd_heartbeat *heartbeat;

    set(scene, "hoodie.client.heartbeat.interval_in_ms", "100");
    set(scene, "hoodie.client.heartbeat.tolerable.misses", "100");
    assert_false(is_alive(scene, "001"));
    test_must(scene->op,
              hd_heartbeat_start(scene->op, &scene->table, &scene->options, "001", &heartbeat));
    const int64_t first = modified_ms(scene);
    for (int i = 0; i < 100 && modified_ms(scene) == first; i++) {
        hd_sleep_ms(scene->op, 50);
        assert_true(is_alive(scene, "001"));
    }
    assert_true(modified_ms(scene) > first);
    test_must(scene->op, hd_heartbeat_check(scene->op, heartbeat));
    hd_heartbeat_stop(scene->op, heartbeat);
    assert_false(test_table_has(&scene->made, ".hoodie/.heartbeat/001"));
    assert_false(is_alive(scene, "001"));
}

static void a_heartbeat_dies_after_the_misses_that_are_tolerated(void **state)
{
    struct scene *scene = *state;

    test_clock_set(scene->op, 1000000);
    test_table_put(&scene->made, ".hoodie/.heartbeat/001", "");
    assert_true(is_alive(scene, "001"));
    test_clock_set(scene->op, 1000000 + 2 * 60000);
    assert_true(is_alive(scene, "001"));
    test_clock_set(scene->op, 1000000 + 2 * 60000 + 1);
    assert_false(is_alive(scene, "001"));
}

static void starting_survives_every_fault(void **state)
{
    struct scene *scene = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        hd_heartbeat *heartbeat;

        test_fault_arm(scene->op, nth);
        status = hd_heartbeat_start(scene->op, &scene->table, &scene->options, "001", &heartbeat);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(scene->op));
        hd_heartbeat_stop(scene->op, heartbeat);
    }
    test_fault_disarm(scene->op);
}

static void a_write_that_beats_is_not_rolled_back(void **state)
{
    struct scene *scene = *state;

    test_table_put(&scene->made, ".hoodie/001.commit.requested", "");
    test_table_put(&scene->made, ".hoodie/001.inflight", "");
    test_table_put(&scene->made, ".hoodie/.heartbeat/001", "");
    load(scene);
    test_must(scene->op,
              hd_rollback_failed_writes(scene->op, NULL, &scene->table, &scene->options));
    assert_true(test_table_has(&scene->made, ".hoodie/001.inflight"));
}

/* ---- the lock file -------------------------------------------------------------------------- */

static void share(struct scene *scene)
{
    set(scene, "hoodie.write.concurrency.mode", "OPTIMISTIC_CONCURRENCY_CONTROL");
    set(scene, "hoodie.write.lock.provider",
        "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider");
}

static void the_lock_file_is_there_while_the_lock_is_held(void **state)
{
    struct scene *scene = *state;
    struct hd_fs_lock *lock, *second;

    share(scene);
    test_must(scene->op, hd_table_lock(scene->op, &scene->table, &scene->options, 0, &lock));
    assert_true(test_table_has(&scene->made, ".hoodie/lock"));
    assert_int_equal(hd_table_lock(scene->op, &scene->table, &scene->options, 0, &second),
                     HUDI_CONFLICT);
    hd_op_clear_error(scene->op);
    hd_fs_unlock(lock);
    assert_false(test_table_has(&scene->made, ".hoodie/lock"));
    test_must(scene->op, hd_table_lock(scene->op, &scene->table, NULL, 0, &lock));
    assert_false(test_table_has(&scene->made, ".hoodie/lock")); /* one writer: none */
    hd_fs_unlock(lock);
}

static void the_lock_file_of_another_is_waited_for(void **state)
{
    struct scene *scene = *state;
    struct hd_fs_lock *lock;

    share(scene);
    test_clock_set(scene->op, 1000000);
    test_table_put(&scene->made, ".hoodie/lock", "");
    assert_int_equal(hd_table_lock(scene->op, &scene->table, &scene->options, 5000, &lock),
                     HUDI_CONFLICT);
    hd_op_clear_error(scene->op);
    assert_true(test_table_has(&scene->made, ".hoodie/lock")); /* and not taken away */
    set(scene, "hoodie.write.lock.filesystem.expire", "2");
    test_clock_set(scene->op, 1000000 + 119999);
    assert_int_equal(hd_table_lock(scene->op, &scene->table, &scene->options, 0, &lock),
                     HUDI_CONFLICT);
    hd_op_clear_error(scene->op);
    test_clock_set(scene->op, 1000000 + 120000);
    test_must(scene->op, hd_table_lock(scene->op, &scene->table, &scene->options, 5000, &lock));
    hd_fs_unlock(lock);
}

static void several_writers_need_a_provider(void **state)
{
    struct scene *scene = *state;
    struct hd_fs_lock *lock;

    set(scene, "hoodie.write.concurrency.mode", "OPTIMISTIC_CONCURRENCY_CONTROL");
    assert_int_equal(hd_table_lock(scene->op, &scene->table, &scene->options, 0, &lock),
                     HUDI_INVALID);
    hd_op_clear_error(scene->op);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(beats_until_it_is_stopped),
        TEST(a_heartbeat_dies_after_the_misses_that_are_tolerated),
        TEST(starting_survives_every_fault),
        TEST(a_write_that_beats_is_not_rolled_back),
        TEST(the_lock_file_is_there_while_the_lock_is_held),
        TEST(the_lock_file_of_another_is_waited_for),
        TEST(several_writers_need_a_provider),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
