/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that run a table service on local disk: one that is killed before each file operation,
 * and then two at once that run it again. The table reads as before or as after, and the service
 * ends where an undisturbed run would.
 *
 *   HUDI_TEST_SEED     where the walk over operations begins
 *   HUDI_TEST_SECONDS  all file operations of all services, in at most that long; else some
 *
 * Labels: fault forks
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/api.h"
#include "support/folder.h"
#include "support/service_scene.h"
#include "support/setting.h"

#define SAMPLED_POINTS 2 /* of one service, without HUDI_TEST_SECONDS */
#define WORKED 0
#define REFUSED 3 /* by the other one's lock, or by what it had done */

/* A process that runs the service, and is killed before file operation `nth`; 0: it is not. */
static pid_t start(const struct service_scene *scene, const struct test_service *service,
                   int64_t nth)
{
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child > 0)
        return child;
    struct hd_faults faults = {.left = nth - 1, .files_only = true, .kills = true};
    struct service_scene own = *scene;
    own.context = model_table_context("1");
    own.context->faults = &faults;
    hudi_error *error = NULL;
    _exit(service->run(&own, &error) == HUDI_OK ? WORKED : REFUSED);
}

/* @return whether it was killed */
static bool wait_for(pid_t child, bool may_be_refused, const char *what)
{
    int how;

    assert_int_equal(waitpid(child, &how, 0), child);
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)
        return true;
    if (!WIFEXITED(how) ||
        (WEXITSTATUS(how) != WORKED && !(may_be_refused && WEXITSTATUS(how) == REFUSED)))
        fail_msg("%s: a process ended with wait status %d", what, how);
    return false;
}

/* @return whether the process came as far as that operation */
static bool run_point(struct service_scene *scene, const struct test_service *service, int64_t nth)
{
    char folder[TEST_FOLDER_BYTES], uri[TEST_FOLDER_BYTES + 4], what[120];

    test_folder_make(folder);
    snprintf(uri, sizeof uri, "%s/t", folder);
    snprintf(what, sizeof what, "%s killed at file operation %" PRId64, service->name, nth);
    scene->uri = uri;
    service_scene_begin(scene, service);
    const bool killed = wait_for(start(scene, service, nth), false, what);
    service_scene_expect_rows(scene, service, !killed, what);
    const pid_t first = start(scene, service, 0), second = start(scene, service, 0);
    (void)wait_for(first, true, what);
    (void)wait_for(second, true, what);
    hudi_error *error = NULL;
    if (service->run(scene, &error) != HUDI_OK)
        fail_msg("%s, the next run: %s", what, error == NULL ? "" : hudi_error_message(error));
    service_scene_expect_rows(scene, service, true, what);
    service->expect(scene, what);
    model_table_verify(scene->context, uri, what);
    test_folder_remove(folder);
    return killed;
}

/* How many file operations an undisturbed run has. */
static int64_t count_points(struct service_scene *scene, const struct test_service *service)
{
    const int64_t many = INT64_C(1) << 40;
    struct hd_faults faults = {.left = many, .files_only = true};
    char folder[TEST_FOLDER_BYTES], uri[TEST_FOLDER_BYTES + 4];
    hudi_error *error = NULL;

    test_folder_make(folder);
    snprintf(uri, sizeof uri, "%s/t", folder);
    scene->uri = uri;
    service_scene_begin(scene, service);
    scene->context->faults = &faults;
    if (service->run(scene, &error) != HUDI_OK)
        fail_msg("%s: %s", service->name, error == NULL ? "" : hudi_error_message(error));
    scene->context->faults = NULL;
    test_folder_remove(folder);
    return many - atomic_load(&faults.left);
}

static void walk(const struct test_service *service)
{
    const int64_t seconds = test_seconds((int64_t)n_test_services);
    const time_t end = time(NULL) + seconds;
    struct service_scene scene = {.context = model_table_context("1")};
    int64_t n_run = 0;

    const int64_t n_points = count_points(&scene, service);
    const int64_t step = seconds > 0 ? 1 : n_points / SAMPLED_POINTS + 1;
    const int64_t first =
        test_setting("HUDI_TEST_SEED", 1) * 7919 % (seconds > 0 ? n_points : step);
    for (int64_t i = first; i < first + n_points && (seconds == 0 || time(NULL) < end); i += step) {
        if (seconds == 0 && i >= n_points)
            break;
        n_run += run_point(&scene, service, i % n_points + 1);
    }
    print_message("%s: killed at %" PRId64 " of %" PRId64 " file operations\n", service->name,
                  n_run, n_points);
    service_scene_clear(&scene);
    hudi_context_free(scene.context);
}

static void a_service_may_be_killed_at_any_file_operation(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_test_services; i++)
        walk(&test_services[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_may_be_killed_at_any_file_operation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
