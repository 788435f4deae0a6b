/* SPDX-License-Identifier: Apache-2.0 */
#include "support/setting.h"

#include <stdlib.h>

int64_t test_setting(const char *name, int64_t otherwise)
{
    const char *const text = getenv(name);

    return text == NULL || *text == '\0' ? otherwise : strtoll(text, NULL, 10);
}

int64_t test_seconds(int64_t n)
{
    return (test_setting("HUDI_TEST_SECONDS", 0) + n - 1) / n;
}
