/* SPDX-License-Identifier: Apache-2.0 */

#include "support/golden.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define GOLDEN HD_SOURCE_DIR "/tests/golden/"

static char *format(const char *pattern, const char *a, const char *b)
{
    char *text = NULL;

    assert_true(asprintf(&text, pattern, a, b) >= 0);
    return text;
}

static void run(char *command)
{
    assert_int_equal(system(command), 0);
    free(command);
}

char *test_golden_unpack(const char *name)
{
    const char *const tmp = getenv("TMPDIR");
    char *folder = format("%s/hudi-golden-%s", tmp != NULL ? tmp : "/tmp", "XXXXXX");

    assert_non_null(mkdtemp(folder));
    char *archive = format(GOLDEN "%s.tar.gz%s", name, "");
    run(format("tar -xzf '%s' -C '%s'", archive, folder));
    char *path = format("%s/%s", folder, name);
    assert_int_equal(access(path, R_OK), 0);
    free(archive);
    free(folder);
    return path;
}

void test_golden_remove(char *table_path)
{
    if (table_path == NULL)
        return;
    *strrchr(table_path, '/') = '\0'; /* the folder around it */
    run(format("rm -rf '%s'%s", table_path, ""));
    free(table_path);
}

char *test_golden_file(const char *name, const char *suffix, size_t *n_bytes)
{
    char *path = format(GOLDEN "%s%s", name, suffix);
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
    fclose(file);
    free(path);
    if (n_bytes != NULL)
        *n_bytes = (size_t)size;
    return text;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **test_golden_names(const char *prefix)
{
    static const char SUFFIX[] = ".tar.gz";
    DIR *dir = opendir(GOLDEN);
    char **names = calloc(1, sizeof *names);
    size_t n = 0;

    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const size_t size = strlen(entry->d_name);

        if (size < sizeof SUFFIX || strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
            strcmp(entry->d_name + size - strlen(SUFFIX), SUFFIX) != 0)
            continue;
        names = realloc(names, (n + 2) * sizeof *names);
        assert_non_null(names);
        names[n] = strndup(entry->d_name, size - strlen(SUFFIX));
        names[++n] = NULL;
    }
    closedir(dir);
    if (n > 0)
        qsort(names, n, sizeof *names, compare_names);
    return names;
}

void test_golden_free_names(char **names)
{
    for (size_t i = 0; names[i] != NULL; i++)
        free(names[i]);
    free(names);
}
