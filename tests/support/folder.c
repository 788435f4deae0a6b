/* SPDX-License-Identifier: Apache-2.0 */
#include "support/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

void test_folder_make(char out[TEST_FOLDER_BYTES])
{
    const char *const tmp = getenv("TMPDIR");
    const int n = snprintf(out, TEST_FOLDER_BYTES, "%s/hudi-test-XXXXXX",
                           tmp == NULL || *tmp == '\0' ? "/tmp" : tmp);

    assert_true(n > 0 && n < TEST_FOLDER_BYTES);
    assert_non_null(mkdtemp(out));
}

void test_folder_remove(const char *folder)
{
    char command[TEST_FOLDER_BYTES + 16];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}
