/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_SETTING_H
#define TEST_SUPPORT_SETTING_H

#include <stdint.h>

/** The whole number that the environment has under `name`, such as HUDI_TEST_SECONDS (how long a
 * test that has no end of its own may go on; 0: a sample) and HUDI_TEST_SEED. */
int64_t test_setting(const char *name, int64_t otherwise);

/** HUDI_TEST_SECONDS for one of `n` parts of a test, rounded up. */
int64_t test_seconds(int64_t n);

#endif
