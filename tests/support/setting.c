/* SPDX-License-Identifier: Apache-2.0 */
#include "support/setting.h"

#include <stdlib.h>

int64_t test_setting(const char *name, int64_t otherwise)
{
    const char *const text = getenv(name);

    return text == NULL || *text == '\0' ? otherwise : strtoll(text, NULL, 10);
}
