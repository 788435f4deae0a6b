/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_GOLDEN_H
#define TEST_SUPPORT_GOLDEN_H

#include <stddef.h>

/*
 * Tables that Hudi wrote, of tests/golden: CASE.tar.gz with CASE.json and CASE.expected.jsonl
 * beside it. Failures end the test.
 */

/** Unpack a case into a folder of its own; the path of the table in it. Release with
 * test_golden_remove(). */
char *test_golden_unpack(const char *name);

/** Delete the unpacked table and free its path. Takes NULL. */
void test_golden_remove(char *table_path);

/** A file beside the archive (".json", ".expected.jsonl"), with a NUL behind it; free() it. */
char *test_golden_file(const char *name, const char *suffix, size_t *n_bytes);

/** Names of all cases that begin with `prefix`, sorted, ended by NULL; test_golden_free_names(). */
char **test_golden_names(const char *prefix);
void test_golden_free_names(char **names);

#endif
