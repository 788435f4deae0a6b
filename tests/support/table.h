/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_TABLE_H
#define TEST_SUPPORT_TABLE_H

#include "base/op.h"
#include "format/table/table_config.h"
#include "store/file_system.h"

/* Tables in memory made of single files. Failures end the test. */

struct test_table {
    struct hd_op *op;
    hd_file_system *fs;
    char *path;
    struct hd_table_config config;
    const char *name;
};

/** An empty table of a version at "memory:NAME/t"; partitioned by `partition_field` unless NULL.
 * The config holds what folders and file names need, and no properties. */
void test_table_open(struct hd_op *op, struct test_table *table, const char *name, int version,
                     const char *partition_field);
void test_table_close(struct test_table *table);

/** Make or replace a file; folders of its path are made. `file` is relative to the table. */
void test_table_put(struct test_table *table, const char *file, const char *text);
void test_table_remove(struct test_table *table, const char *file);
bool test_table_has(struct test_table *table, const char *file);

/** Ends the test with the op's error unless `status` is HUDI_OK. */
void test_must(struct hd_op *op, hudi_status status);

#endif
