/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_UNIT_STORE_STORE_TESTING_H
#define TEST_UNIT_STORE_STORE_TESTING_H

/* What the tests of src/store share. Include after cmocka.h. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/schema.h"
#include "arrow/view.h"
#include "base/arena.h"
#include "store/base_file.h"
#include "store/file_system.h"
#include "store/memory.h"
#include "support/fault.h"
#include "support/golden.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

#define ASSERT_OK(op, expression)                                                                  \
    do {                                                                                           \
        const hudi_status assert_status_ = (expression);                                           \
        if (assert_status_ != HUDI_OK)                                                             \
            fail_msg("%s: %s", hudi_status_name(assert_status_),                                   \
                     (op)->error == NULL ? "" : hudi_error_message((op)->error));                  \
    } while (0)

/* A file system in memory, empty, with folder /t; test_memory_close() drops it. */
static inline hd_file_system *test_memory_open(struct hd_op *op)
{
    hd_file_system *fs;

    ASSERT_OK(op, hd_memory_file_system_open(op, "store", &fs));
    ASSERT_OK(op, hd_fs_make_dirs(op, fs, "/t"));
    return fs;
}

static inline void test_memory_close(hd_file_system *fs)
{
    hd_fs_free(fs);
    hd_memory_drop("store");
}

static inline hd_input_file *test_open(struct hd_op *op, hd_file_system *fs, const char *path)
{
    hd_input_file *file;

    ASSERT_OK(op, hd_fs_open_input(op, fs, path, &file));
    return file;
}

/* The whole content of a file of the local disk; free(). */
static inline uint8_t *test_bytes(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *n = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*n + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *n, file), *n);
    fclose(file);
    return bytes;
}

/* The file of a golden table below `dir` whose name holds `part`; free(). */
static inline char *test_golden_find(const char *table, const char *dir, const char *part)
{
    char command[1024], path[1024] = "";

    snprintf(command, sizeof command, "find '%s/%s' -name '*%s*' -not -path '*/.hoodie/*' | sort",
             table, dir, part);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(path, sizeof path, pipe));
    while (fgetc(pipe) != EOF)
        continue;
    assert_int_equal(pclose(pipe), 0);
    path[strcspn(path, "\n")] = '\0';
    return strdup(path);
}

static inline hd_base_reader *test_reader(struct hd_op *op, const char *path,
                                          enum hd_base_file_format format)
{
    hd_base_reader *reader;
    size_t n;
    uint8_t *bytes = test_bytes(path, &n);
    hd_input_file *file;

    ASSERT_OK(op, hd_input_file_of_bytes(op, bytes, n, &file));
    free(bytes);
    ASSERT_OK(op, hd_base_reader_open(op, file, format, &reader));
    return reader;
}

/* All rows, which are few, as one batch. */
static inline void test_read_all(struct hd_op *op, hd_base_reader *reader, struct ArrowArray *out)
{
    struct ArrowArray none;
    hd_base_batches *batches;

    ASSERT_OK(op, hd_base_reader_read(op, reader, NULL, &batches));
    ASSERT_OK(op, hd_base_batches_next(op, batches, out));
    assert_int_equal(hd_base_batches_next(op, batches, &none), HUDI_END);
    hd_base_batches_close(batches);
}

static inline const struct hd_view *test_column(const struct hd_view *rows, const char *name)
{
    for (int64_t i = 0; i < rows->n_children; i++)
        if (strcmp(rows->children[i].name, name) == 0)
            return &rows->children[i];
    fail_msg("no column %s", name);
    return NULL;
}

static inline void assert_text(const struct hd_view *view, int64_t row, const char *expected)
{
    assert_false(hd_view_is_null(view, row));
    const struct hd_slice got = hd_view_bytes(view, row);

    assert_int_equal(got.size, strlen(expected));
    assert_memory_equal(got.data, expected, got.size);
}

#endif
