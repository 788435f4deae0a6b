/* SPDX-License-Identifier: Apache-2.0 */
#include "support/written_table.h"

#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void must(hudi_status status, hudi_error *error)
{
    if (status != HUDI_OK)
        fail_msg("%s", hudi_error_message(error));
}

static void set_option(hudi_options *options, const char *key, const char *value)
{
    hudi_error *error = NULL;

    must(hudi_options_set(options, key, value, &error), error);
}

static void set_pairs(hudi_options *options, const char *const *pairs)
{
    for (; pairs != NULL && *pairs != NULL; pairs++) {
        char key[128];
        const char *const equals = strchr(*pairs, '=');

        snprintf(key, sizeof key, "%.*s", (int)(equals - *pairs), *pairs);
        set_option(options, key, equals + 1);
    }
}

static void open_table(struct written_table *table, const char *partition_fields,
                       const char *const *pairs)
{
    static const char COLUMNS[] = "k string not null\nv string\np string\n";
    hudi_options *options = NULL;
    hudi_error *error = NULL;
    struct ArrowSchema schema;

    *table = (struct written_table){0};
    test_folder_make(table->folder);
    snprintf(table->path, sizeof table->path, "%s/t", table->folder);
    must(hudi_options_new(&options, &error), error);
    set_option(options, "libhudi.threads", "2");
    set_pairs(options, pairs);
    must(hudi_context_new(options, &table->context, &error), error);
    set_option(options, "hoodie.table.recordkey.fields", "k");
    set_option(options, "hoodie.table.name", "t");
    if (partition_fields != NULL)
        set_option(options, "hoodie.table.partition.fields", partition_fields);
    must(hudi_schema_parse(COLUMNS, strlen(COLUMNS), &schema, &error), error);
    must(hudi_table_create(table->context, table->path, &schema, options, &error), error);
    hudi_options_free(options);
}

void written_table_open(struct written_table *table, const char *const *options)
{
    open_table(table, NULL, options);
}

void written_table_open_partitioned(struct written_table *table, const char *const *options)
{
    open_table(table, "p", options);
}

void written_table_close(struct written_table *table)
{
    hudi_context_free(table->context);
    test_folder_remove(table->folder);
}

static void make_rows(const char *path, const char *partition, int first, int n, const char *value)
{
    FILE *const file = fopen(path, "w");

    assert_non_null(file);
    for (int i = first; i < first + n; i++)
        fprintf(file, "{\"k\":\"k%d\",\"v\":\"%s %d\",\"p\":\"%s\"}\n", i, value, i, partition);
    assert_int_equal(fclose(file), 0);
}

hudi_write *written_table_begin(struct written_table *table, const char *operation,
                                const char *partition, int first, int n, const char *value)
{
    hudi_options *options = NULL;
    hudi_table *open = NULL;
    hudi_write *write = NULL;
    hudi_error *error = NULL;
    struct ArrowSchema schema;
    struct ArrowArrayStream rows;
    char path[96];

    snprintf(path, sizeof path, "%s/rows.jsonl", table->folder);
    make_rows(path, partition, first, n, value);
    must(hudi_options_new(&options, &error), error);
    set_option(options, "hoodie.datasource.write.operation", operation);
    must(hudi_table_open(table->context, table->path, NULL, &open, &error), error);
    must(hudi_table_schema(open, &schema, &error), error);
    must(hudi_rows_open(table->context, path, NULL, &schema, &rows, &error), error);
    must(hudi_write_begin(open, options, &write, &error), error);
    must(hudi_write_stream(write, &rows, NULL, &error), error);
    schema.release(&schema);
    hudi_table_free(open);
    hudi_options_free(options);
    return write;
}

void written_table_write(struct written_table *table, const char *operation, const char *partition,
                         int first, int n, const char *value)
{
    hudi_write *const write = written_table_begin(table, operation, partition, first, n, value);
    hudi_error *error = NULL;

    must(hudi_write_commit(write, NULL, &error), error);
}

/* ---- files ---------------------------------------------------------------------------------- */

#define PATH_BYTES 512

static char *next_buffer(void)
{
    static char buffers[4][PATH_BYTES];
    static unsigned next;

    return buffers[next++ % 4];
}

const char *written_table_file(const struct written_table *table, const char *name)
{
    char *const path = next_buffer();

    snprintf(path, PATH_BYTES, "%s/%s", table->path, name);
    return path;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *written_table_find(const struct written_table *table, const char *folder,
                               const char *ending, int i)
{
    char *names[256], *path = NULL;
    int n = 0;
    DIR *const dir = opendir(written_table_file(table, folder));

    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const size_t length = strlen(entry->d_name);

        if (length < strlen(ending) || strcmp(entry->d_name + length - strlen(ending), ending) != 0)
            continue;
        assert_true(n < 256);
        names[n++] = strdup(entry->d_name);
    }
    closedir(dir);
    qsort(names, (size_t)n, sizeof *names, compare_names);
    if (i < n) {
        path = next_buffer();
        snprintf(path, PATH_BYTES, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", names[i]);
    }
    for (int at = 0; at < n; at++)
        free(names[at]);
    return path;
}

char *written_table_read(const struct written_table *table, const char *name, size_t *n)
{
    FILE *const file = fopen(written_table_file(table, name), "rb");
    struct stat info;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    char *const bytes = malloc((size_t)info.st_size + 1);
    assert_non_null(bytes);
    *n = fread(bytes, 1, (size_t)info.st_size, file);
    assert_int_equal(*n, info.st_size);
    bytes[*n] = '\0';
    fclose(file);
    return bytes;
}

void written_table_put(const struct written_table *table, const char *name, const void *bytes,
                       size_t n)
{
    FILE *const file = fopen(written_table_file(table, name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

void written_table_copy(const struct written_table *table, const char *from, const char *to)
{
    size_t n;
    char *const bytes = written_table_read(table, from, &n);

    written_table_put(table, to, bytes, n);
    free(bytes);
}

void written_table_remove(const struct written_table *table, const char *name)
{
    assert_int_equal(unlink(written_table_file(table, name)), 0);
}

void written_table_make_folder(const struct written_table *table, const char *name)
{
    assert_int_equal(mkdir(written_table_file(table, name), 0755), 0);
}

void written_table_replace(const struct written_table *table, const char *name, const char *after,
                           const char *what, const char *with)
{
    size_t n;
    char *const text = written_table_read(table, name, &n);
    char *start = strstr(text, after);

    assert_non_null(start);
    start = strstr(start + strlen(after), what);
    assert_non_null(start);
    const size_t before = (size_t)(start - text), n_with = strlen(with), n_what = strlen(what);
    char *const changed = malloc(n + n_with + 1);
    assert_non_null(changed);
    memcpy(changed, text, before);
    memcpy(changed + before, with, n_with);
    memcpy(changed + before + n_with, start + n_what, n - before - n_what);
    written_table_put(table, name, changed, n - n_what + n_with);
    free(changed);
    free(text);
}

void written_table_set_number(const struct written_table *table, const char *name,
                              const char *member, int64_t value)
{
    size_t n;
    char *const text = written_table_read(table, name, &n);
    char quoted[64], old[32], new[32];

    snprintf(quoted, sizeof quoted, "\"%s\" :", member);
    const char *const at = strstr(text, quoted);
    assert_non_null(at);
    snprintf(old, sizeof old, "%" PRId64, (int64_t)strtoll(at + strlen(quoted), NULL, 10));
    snprintf(new, sizeof new, "%" PRId64, value);
    free(text);
    written_table_replace(table, name, quoted, old, new);
}
