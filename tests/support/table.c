/* SPDX-License-Identifier: Apache-2.0 */

#include "support/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/memory.h"

void test_must(struct hd_op *op, hudi_status status)
{
    if (status != HUDI_OK && op->error != NULL)
        fail_msg("%s: %s (%s)", hudi_status_name(status), hudi_error_message(op->error),
                 hudi_error_path(op->error) != NULL ? hudi_error_path(op->error) : "");
    assert_int_equal(status, HUDI_OK);
}

void test_table_open(struct hd_op *op, struct test_table *table, const char *name, int version,
                     const char *partition_field)
{
    char uri[128];

    snprintf(uri, sizeof uri, "memory:%s/t", name);
    *table = (struct test_table){.op = op, .name = name};
    test_must(op, hd_fs_open(op, uri, &table->fs, &table->path));
    test_must(op, hd_table_version_of(op, version, &table->config.version));
    table->config.default_partition = table->config.version->default_partition;
    table->config.timeline_utc = true;
    if (partition_field != NULL) {
        test_must(op, hd_alloc_array(op, 1, sizeof *table->config.partition_fields,
                                     &table->config.partition_fields));
        table->config.partition_fields[0] = partition_field;
        table->config.n_partition_fields = 1;
    }
    char *folder;
    test_must(op, hd_path_join(op, table->path, table->config.version->timeline_folder, &folder));
    test_must(op, hd_fs_make_dirs(op, table->fs, folder));
    hd_free(op, folder);
}

void test_table_close(struct test_table *table)
{
    hd_free(table->op, table->config.partition_fields);
    hd_free(table->op, table->path);
    hd_fs_free(table->fs);
    hd_memory_drop(table->name);
}

static char *full_path(struct test_table *table, const char *file)
{
    char *path;

    test_must(table->op, hd_path_join(table->op, table->path, file, &path));
    return path;
}

void test_table_put(struct test_table *table, const char *file, const char *text)
{
    char *path = full_path(table, file);
    char *slash = strrchr(path, '/');

    *slash = '\0';
    test_must(table->op, hd_fs_make_dirs(table->op, table->fs, path));
    *slash = '/';
    test_must(table->op, hd_fs_replace(table->op, table->fs, path, text, strlen(text)));
    hd_free(table->op, path);
}

void test_table_remove(struct test_table *table, const char *file)
{
    char *path = full_path(table, file);

    test_must(table->op, hd_fs_delete_file(table->op, table->fs, path));
    hd_free(table->op, path);
}

bool test_table_has(struct test_table *table, const char *file)
{
    char *path = full_path(table, file);
    struct hd_file_info info;
    const hudi_status status = hd_fs_stat(table->op, table->fs, path, &info);

    hd_free(table->op, path);
    return status == HUDI_OK;
}
