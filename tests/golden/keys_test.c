/* SPDX-License-Identifier: Apache-2.0 */
/* The record keys and partition paths in the base files of the tables that Hudi wrote, made again
 * from the rows beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arrow/array.h"
#include "arrow/schema.h"
#include "arrow/view.h"
#include "codec/json.h"
#include "engine/record/key_generator.h"
#include "format/table/table_schema.h"
#include "store/base_file.h"
#include "store/file_system.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

struct check {
    struct hd_op *op;
    const char *name;
    hd_file_system *fs;
    struct hd_table_config config;
    struct hd_options options;
    int64_t n_rows;
    int64_t n_wrong;
};

/* The key generator's own options are not all in the table's properties. */
static void take_options(struct check *c)
{
    size_t n;
    char *text = test_golden_file(c->name, ".json", &n);
    hd_json *document;
    struct hd_json_iter iter = {0};
    struct hd_slice key;
    const hd_json *value;

    test_must(c->op, hd_json_parse(c->op, hd_slice_of(text, n), &document));
    while (hd_json_next(hd_json_member(document, "options"), &iter, &key, &value)) {
        struct hd_slice string;

        if (!hd_json_is_string(value) ||
            !(hd_slice_starts_with(key, "hoodie.keygen.") ||
              hd_slice_equal(key, hd_slice_text("hoodie.datasource.write.partitionpath.field"))))
            continue;
        test_must(c->op, hd_json_as_string(c->op, value, "option", &string));
        test_must(c->op, hd_properties_set(c->op, &c->options.set, (const char *)key.data,
                                           (const char *)string.data));
    }
    hd_json_free(document);
    free(text);
}

static bool has_fields(const struct ArrowSchema *schema, const char *const *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t size = strcspn(fields[i], ".");
        bool found = false;

        for (int64_t k = 0; k < schema->n_children; k++)
            found |= strlen(schema->children[k]->name) == size &&
                     memcmp(schema->children[k]->name, fields[i], size) == 0;
        if (!found)
            return false;
    }
    return true;
}

static void complain(struct check *c, const char *what, int64_t row, struct hd_slice stored,
                     struct hd_slice made)
{
    if (c->n_wrong++ < 5)
        print_error("%s: %s of row %lld is \"%.*s\", made \"%.*s\"\n", c->name, what,
                    (long long)row, (int)stored.size, (const char *)stored.data, (int)made.size,
                    (const char *)made.data);
}

static void compare_batch(struct check *c, const struct ArrowSchema *schema,
                          const struct ArrowArray *batch, const struct hd_view *view)
{
    const struct hd_view *keys = &view->children[hd_schema_find(schema, HD_META_RECORD_KEY)];
    const struct hd_view *paths = &view->children[hd_schema_find(schema, HD_META_PARTITION_PATH)];
    const struct ArrowSchema text = {.format = "u", .name = "key"};
    enum hd_complex_encoding encoding = HD_COMPLEX_WITH_FIELD;
    struct hd_partition_set partitions = {0};
    struct hd_arena arena = {0};
    struct hd_keys made = {0};
    hd_key_generator *generator;
    struct hd_view made_keys;
    int64_t n_seen;

    if (c->config.key_generator == HD_KEYGEN_COMPLEX && c->config.n_record_key_fields == 1)
        test_must(c->op, hd_complex_encoding_detect(c->op, c->config.record_key_fields[0], keys,
                                                    &n_seen, &encoding));
    test_must(c->op,
              hd_key_generator_new(c->op, &c->config, &c->options, schema, encoding, &generator));
    test_must(c->op, hd_key_generator_apply(c->op, generator, batch, &arena, &partitions, &made));
    if (made.n_failures > 0)
        fail_msg("%s: row %lld: %s", c->name, (long long)made.failures[0].row,
                 made.failures[0].reason);
    test_must(c->op, hd_view_open(c->op, &arena, &text, &made.record_keys, &made_keys));
    for (int64_t i = 0; i < view->length; i++) {
        const struct hd_slice path = hd_partition_set_path(&partitions, made.partitions[i]);

        if (!hd_slice_equal(hd_view_bytes(keys, i), hd_view_bytes(&made_keys, i)))
            complain(c, "key", i, hd_view_bytes(keys, i), hd_view_bytes(&made_keys, i));
        if (!hd_slice_equal(hd_view_bytes(paths, i), path))
            complain(c, "partition", i, hd_view_bytes(paths, i), path);
    }
    c->n_rows += view->length;
    hd_keys_clear(c->op, &made);
    hd_key_generator_free(generator);
    hd_map_clear(&partitions.paths);
    hd_arena_clear(&arena);
}

static void check_file(struct check *c, const char *path, enum hd_base_file_format format)
{
    hd_input_file *file;
    hd_base_reader *reader;
    hd_base_batches *batches;
    const struct hd_base_read_options all = {0};
    struct ArrowArray batch;
    hudi_status status;

    test_must(c->op, hd_fs_open_input(c->op, c->fs, path, &file));
    test_must(c->op, hd_base_reader_open(c->op, file, format, &reader));
    const struct ArrowSchema *schema = hd_base_reader_schema(reader);

    if (hd_schema_find(schema, HD_META_RECORD_KEY) >= 0 &&
        has_fields(schema, c->config.record_key_fields, c->config.n_record_key_fields) &&
        has_fields(schema, c->config.partition_fields, c->config.n_partition_fields)) {
        test_must(c->op, hd_base_reader_read(c->op, reader, &all, &batches));
        while ((status = hd_base_batches_next(c->op, batches, &batch)) == HUDI_OK) {
            struct hd_arena arena = {0};
            struct hd_view view;

            test_must(c->op, hd_view_open(c->op, &arena, schema, &batch, &view));
            compare_batch(c, schema, &batch, &view);
            hd_arena_clear(&arena);
            hd_array_clear(&batch);
        }
        assert_int_equal(status, HUDI_END);
        hd_base_batches_close(batches);
    }
    hd_base_reader_close(reader);
}

static bool ends_with(const char *text, const char *end)
{
    return hd_slice_ends_with(hd_slice_text(text), end);
}

static void check_folder(struct check *c, const char *folder)
{
    struct hd_arena arena = {0};
    struct hd_file_info *entries;
    size_t n;

    test_must(c->op, hd_fs_list(c->op, c->fs, folder, &arena, &entries, &n));
    for (size_t i = 0; i < n; i++) {
        char *path;

        if (entries[i].name[0] == '.' || entries[i].size_bytes == 0)
            if (!entries[i].is_dir || entries[i].name[0] == '.')
                continue;
        test_must(c->op, hd_path_join(c->op, folder, entries[i].name, &path));
        if (entries[i].is_dir)
            check_folder(c, path);
        else if (ends_with(path, ".parquet"))
            check_file(c, path, HD_BASE_FILE_PARQUET);
        else if (ends_with(path, ".orc"))
            check_file(c, path, HD_BASE_FILE_ORC);
        hd_free(c->op, path);
    }
    hd_arena_clear(&arena);
}

/* Damaged on purpose, or without keys of its columns. */
static bool is_left_out(const char *name)
{
    return strstr(name, "damage") != NULL;
}

static int64_t check_case(struct hd_op *op, const char *name)
{
    struct check c = {.op = op, .name = name};
    char *table = test_golden_unpack(name);
    char *path;

    test_must(op, hd_fs_open(op, table, &c.fs, &path));
    test_must(op, hd_table_config_load(op, c.fs, path, &c.config));
    if (c.config.n_record_key_fields > 0 && c.config.populate_meta_fields &&
        c.config.key_generator != HD_KEYGEN_USER) {
        take_options(&c);
        check_folder(&c, path);
    }
    if (c.n_wrong > 0)
        fail_msg("%s: %lld keys or partitions are others", name, (long long)c.n_wrong);
    hd_options_clear(&c.options);
    hd_table_config_clear(&c.config);
    hd_free(op, path);
    hd_fs_free(c.fs);
    test_golden_remove(table);
    return c.n_rows;
}

static void keys_and_partitions_are_those_that_hudi_wrote(void **state)
{
    struct hd_op *op = *state;
    char **names = test_golden_names("");
    int64_t n_rows = 0;
    int n_tables = 0;

    for (char **name = names; *name != NULL; name++) {
        if (is_left_out(*name))
            continue;
        const int64_t rows = check_case(op, *name);

        n_rows += rows;
        n_tables += rows > 0;
    }
    test_golden_free_names(names);
    print_message("%lld rows of %d tables\n", (long long)n_rows, n_tables);
    assert_true(n_tables > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_and_partitions_are_those_that_hudi_wrote,
                                        test_op_setup, test_op_teardown),
    };

    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
