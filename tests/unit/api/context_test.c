/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "api/api.h"
#include "base/pool.h"
#include "hudi/hudi.h"

static size_t threads_of(int n_threads, int budget_mib)
{
    char text[32];
    hudi_options *options = NULL;
    hudi_context *context = NULL;
    hudi_error *error = NULL;

    assert_int_equal(hudi_options_new(&options, &error), HUDI_OK);
    snprintf(text, sizeof text, "%d", n_threads);
    assert_int_equal(hudi_options_set(options, "libhudi.threads", text, &error), HUDI_OK);
    snprintf(text, sizeof text, "%lld", (long long)budget_mib << 20);
    assert_int_equal(hudi_options_set(options, "libhudi.memory.budget.bytes", text, &error),
                     HUDI_OK);
    assert_int_equal(hudi_context_new(options, &context, &error), HUDI_OK);
    const size_t n = hd_pool_threads(context->pool);
    hudi_context_free(context);
    hudi_options_free(options);
    return n;
}

/* What each thread takes beside the budget grows with their number. */
static void the_budget_bounds_the_threads(void **state)
{
    (void)state;
    assert_int_equal(threads_of(8, 64), 1);
    assert_int_equal(threads_of(8, 1), 1);
    assert_int_equal(threads_of(8, 300), 4);
    assert_int_equal(threads_of(8, 1024), 8);
    assert_int_equal(threads_of(1, 1024), 1);
    assert_int_equal(threads_of(0, 64), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_budget_bounds_the_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
