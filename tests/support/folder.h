/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_FOLDER_H
#define TEST_SUPPORT_FOLDER_H

#define TEST_FOLDER_BYTES 256

/** A new, empty folder below TMPDIR or /tmp; ends the test on failure. */
void test_folder_make(char out[TEST_FOLDER_BYTES]);

/** Removes it with all that is in it. */
void test_folder_remove(const char *folder);

#endif
