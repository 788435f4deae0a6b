/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* Labels: threads */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/commit/lock_provider.h"
#include "engine/commit/table_lock.h"
#include "support/fault.h"
#include "support/table.h"

#define LOCK ".hoodie/lock"

struct scene {
    struct hd_op *op;
    struct test_table made;
    struct hd_table_snapshot table;
    struct hd_options options;
    struct hd_lock_providers providers;
};

static void set(struct scene *scene, const char *key, const char *value)
{
    test_must(scene->op, hd_options_set(scene->op, &scene->options, key, value));
}

static int set_up(void **state)
{
    struct scene *const scene = calloc(1, sizeof *scene);
    void *op;

    assert_non_null(scene);
    assert_int_equal(test_op_setup(&op), 0);
    scene->op = op;
    test_table_open(scene->op, &scene->made, "locked", 6, NULL);
    scene->table.fs = scene->made.fs;
    scene->table.path = scene->made.path;
    scene->table.uri = "memory:locked/t";
    set(scene, "hoodie.write.concurrency.mode", "OPTIMISTIC_CONCURRENCY_CONTROL");
    set(scene, "hoodie.write.lock.provider", HD_FILE_LOCK_PROVIDER);
    scene->options.lock_providers = &scene->providers;
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *const scene = *state;
    void *op = scene->op;

    hd_options_clear(&scene->options);
    hd_lock_providers_clear(&scene->providers);
    test_table_close(&scene->made);
    free(scene);
    return test_op_teardown(&op);
}

static hudi_status lock(struct scene *scene, struct hd_fs_lock **out)
{
    return hd_table_lock(scene->op, &scene->table, &scene->options, 0, out);
}

static char *read_lock_file(struct scene *scene)
{
    uint8_t *content;
    char *path;
    size_t n;

    test_must(scene->op, hd_path_join(scene->op, scene->made.path, LOCK, &path));
    test_must(scene->op, hd_fs_read_file(scene->op, scene->made.fs, path, 10000, &content, &n));
    hd_free(scene->op, path);
    return (char *)content;
}

/* What says whose a file is; the process died, and its kernel's lock with it. */
static void a_lock_file_that_a_dead_one_of_ours_left_is_taken_over(void **state)
{
    struct scene *const scene = *state;
    struct hd_fs_lock *first, *second;

    test_must(scene->op, lock(scene, &first));
    char *const content = read_lock_file(scene);
    hd_fs_unlock(first);
    test_table_put(&scene->made, LOCK, content);
    test_must(scene->op, lock(scene, &second));
    hd_fs_unlock(second);
    assert_false(test_table_has(&scene->made, LOCK));
    hd_free(scene->op, content);
}

static void lock_files_of_others_and_of_other_tables_are_not(void **state)
{
    static const char *const OTHERS[] = {"", "LockInfo", "libhudi elsewhere /t\n1 x\n"};
    struct scene *const scene = *state;
    struct hd_fs_lock *held;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(OTHERS); i++) {
        test_table_put(&scene->made, LOCK, OTHERS[i]);
        assert_int_equal(lock(scene, &held), HUDI_CONFLICT);
        assert_true(hudi_error_retriable(scene->op->error));
        hd_op_clear_error(scene->op);
        assert_true(test_table_has(&scene->made, LOCK));
    }
}

/* Nothing may complete then, and the other's file stays. */
static void a_lock_that_was_taken_away_is_told_and_left_to_the_other(void **state)
{
    struct scene *const scene = *state;
    struct hd_fs_lock *held;

    test_must(scene->op, lock(scene, &held));
    test_must(scene->op, hd_table_lock_check(scene->op, held));
    test_table_put(&scene->made, LOCK, "");
    assert_int_equal(hd_table_lock_check(scene->op, held), HUDI_CONFLICT);
    hd_op_clear_error(scene->op);
    hd_fs_unlock(held);
    assert_true(test_table_has(&scene->made, LOCK));
    test_table_remove(&scene->made, LOCK);
    test_must(scene->op, lock(scene, &held));
    test_table_remove(&scene->made, LOCK);
    assert_int_equal(hd_table_lock_check(scene->op, held), HUDI_CONFLICT);
    hd_op_clear_error(scene->op);
    hd_fs_unlock(held);
}

static void how_long_is_waited_is_what_the_attempts_come_to(void **state)
{
    struct scene *const scene = *state;
    struct hd_options none = {0};

    assert_int_equal(hd_table_lock_wait_ms(&none), 60000);
    assert_int_equal(hd_table_lock_wait_ms(NULL), 60000);
    assert_int_equal(hd_table_lock_wait_ms(&scene->options), 50 * 5000);
    set(scene, "hoodie.write.lock.client.num_retries", "3");
    set(scene, "hoodie.write.lock.client.wait_time_ms_between_retry", "200");
    assert_int_equal(hd_table_lock_wait_ms(&scene->options), 600);
    set(scene, "hoodie.write.lock.provider", HD_PROCESS_LOCK_PROVIDER);
    set(scene, "hoodie.write.lock.wait_time_ms", "1000");
    assert_int_equal(hd_table_lock_wait_ms(&scene->options), 600 + 4 * 1000);
    set(scene, "hoodie.write.lock.client.num_retries", "9223372036854775807");
    set(scene, "hoodie.write.lock.wait_time_ms", "9223372036854775807");
    assert_true(hd_table_lock_wait_ms(&scene->options) > UINT64_MAX / 8);
    set(scene, "libhudi.write.lock.wait.ms", "7");
    assert_int_equal(hd_table_lock_wait_ms(&scene->options), 7);
}

/* ---- providers of the program ---------------------------------------------------------------- */

struct service {
    int held;
    bool lost;
    hudi_status status;
    uint64_t wait_ms;
};

static hudi_status take(void *self, const char *table_uri, uint64_t wait_ms, void **out,
                        char *message, size_t n_message_bytes)
{
    struct service *const service = self;

    assert_string_equal(table_uri, "memory:locked/t");
    service->wait_ms = wait_ms;
    if (service->status == HUDI_IO)
        strncpy(message, "the service is away", n_message_bytes);
    if (service->status != HUDI_OK)
        return service->status;
    service->held++;
    *out = &service->held;
    return HUDI_OK;
}

static bool is_held(void *self, void *held)
{
    const struct service *const service = self;

    assert_ptr_equal(held, &service->held);
    return !service->lost;
}

static void give_back(void *self, void *held)
{
    struct service *const service = self;

    assert_ptr_equal(held, &service->held);
    service->held--;
}

static void add(struct scene *scene, struct service *service)
{
    const struct hd_lock_provider provider = {.class_name = "my.Provider",
                                              .lock = take,
                                              .is_held = is_held,
                                              .unlock = give_back,
                                              .self = service};

    test_must(scene->op, hd_lock_providers_add(scene->op, &scene->providers, &provider));
    assert_int_equal(hd_lock_providers_add(scene->op, &scene->providers, &provider), HUDI_EXISTS);
    hd_op_clear_error(scene->op);
    set(scene, "hoodie.write.lock.provider", "my.Provider");
}

static void a_provider_of_the_program_is_asked(void **state)
{
    struct scene *const scene = *state;
    struct service service = {0};
    struct hd_fs_lock *held, *second;

    add(scene, &service);
    test_must(scene->op, hd_table_lock(scene->op, &scene->table, &scene->options, 11, &held));
    assert_int_equal(service.held, 1);
    assert_int_equal(service.wait_ms, 11);
    assert_false(test_table_has(&scene->made, LOCK));
    assert_int_equal(lock(scene, &second), HUDI_CONFLICT); /* the kernel's lock comes first */
    hd_op_clear_error(scene->op);
    test_must(scene->op, hd_table_lock_check(scene->op, held));
    service.lost = true;
    assert_int_equal(hd_table_lock_check(scene->op, held), HUDI_CONFLICT);
    hd_op_clear_error(scene->op);
    hd_fs_unlock(held);
    assert_int_equal(service.held, 0);
    test_must(scene->op, lock(scene, &held));
    hd_fs_unlock(held);
}

static void what_a_provider_says_is_told(void **state)
{
    struct scene *const scene = *state;
    struct service service = {.status = HUDI_IO};
    struct hd_fs_lock *held;

    add(scene, &service);
    assert_int_equal(lock(scene, &held), HUDI_IO);
    assert_string_equal(hudi_error_message(scene->op->error), "my.Provider: the service is away");
    hd_op_clear_error(scene->op);
    service.status = HUDI_CONFLICT;
    assert_int_equal(lock(scene, &held), HUDI_CONFLICT);
    assert_true(hudi_error_retriable(scene->op->error));
    hd_op_clear_error(scene->op);
    service.status = HUDI_OK;
    test_must(scene->op, lock(scene, &held)); /* the kernel's lock was given back */
    hd_fs_unlock(held);
}

static void a_provider_that_is_not_known_is_told_with_those_that_are(void **state)
{
    struct scene *const scene = *state;
    struct service service = {0};
    struct hd_fs_lock *held;

    add(scene, &service);
    set(scene, "hoodie.write.lock.provider", "org.example.Nobody");
    assert_int_equal(lock(scene, &held), HUDI_INVALID);
    const char *const message = hudi_error_message(scene->op->error);
    assert_non_null(strstr(message, "org.example.Nobody"));
    assert_non_null(strstr(message, HD_FILE_LOCK_PROVIDER));
    assert_non_null(strstr(message, HD_PROCESS_LOCK_PROVIDER));
    assert_non_null(strstr(message, "my.Provider"));
    hd_op_clear_error(scene->op);
}

/* ---- within the process -----------------------------------------------------------------------
 */

static void *wait_and_count(void *argument)
{
    int *const counter = argument;
    struct hd_op op;

    hd_op_init(&op);
    for (int i = 0; i < 20; i++) {
        struct hd_fs_lock *held;

        if (hd_process_lock(&op, "counted", 60000, &held) != HUDI_OK)
            break;
        *counter += 1; /* not atomic: the lock guards it */
        hd_fs_unlock(held);
    }
    hd_op_clear(&op);
    return NULL;
}

static void one_write_of_the_process_holds_a_table(void **state)
{
    struct scene *const scene = *state;
    struct hd_fs_lock *held, *second, *other;
    pthread_t threads[4];
    int counter = 0;

    test_must(scene->op, hd_process_lock(scene->op, "a", 0, &held));
    assert_int_equal(hd_process_lock(scene->op, "a", 0, &second), HUDI_CONFLICT);
    assert_true(hudi_error_retriable(scene->op->error));
    hd_op_clear_error(scene->op);
    test_must(scene->op, hd_process_lock(scene->op, "b", 0, &other));
    hd_fs_unlock(held);
    test_must(scene->op, hd_process_lock(scene->op, "a", 0, &second));
    hd_fs_unlock(second);
    hd_fs_unlock(other);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_and_count, &counter), 0);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(threads); i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(counter, 80);
}

static void every_fault_is_survived(void **state)
{
    struct scene *const scene = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_fs_lock *held = NULL;

        test_fault_arm(scene->op, nth);
        status = lock(scene, &held);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(scene->op));
        hd_op_clear_error(scene->op);
        hd_fs_unlock(held);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_lock_file_that_a_dead_one_of_ours_left_is_taken_over),
        CASE(lock_files_of_others_and_of_other_tables_are_not),
        CASE(a_lock_that_was_taken_away_is_told_and_left_to_the_other),
        CASE(how_long_is_waited_is_what_the_attempts_come_to),
        CASE(a_provider_of_the_program_is_asked),
        CASE(what_a_provider_says_is_told),
        CASE(a_provider_that_is_not_known_is_told_with_those_that_are),
        CASE(one_write_of_the_process_holds_a_table),
        CASE(every_fault_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
