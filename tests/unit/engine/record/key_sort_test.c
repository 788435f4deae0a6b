/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/schema.h"
#include "engine/index/key_sort.h"
#include "engine/record/key_range.h"
#include "support/fault.h"

/* A map that holds the keys, without columns to speak of. */
static hd_spillable_map *map_of(struct hd_op *op, const char *const *keys, size_t n)
{
    const struct hd_type text = {.id = HD_TYPE_STRING}, number = {.id = HD_TYPE_INT32};
    struct ArrowSchema field, schema;
    struct ArrowArray key_array, column, batch;
    struct hd_shared_array *shared;
    struct hd_arena arena = {0};
    struct hd_view view;
    hd_builder *builder;
    hd_spillable_map *map;

    assert_int_equal(hd_schema_init_field(op, &field, "key", &text, false), HUDI_OK);
    assert_int_equal(hd_builder_new(op, &field, &builder), HUDI_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(hd_builder_append_bytes(op, builder, hd_slice_text(keys[i])), HUDI_OK);
    assert_int_equal(hd_builder_finish(op, builder, &key_array), HUDI_OK);
    hd_builder_free(builder);
    assert_int_equal(hd_schema_init_struct(op, &schema, "", false, 1), HUDI_OK);
    assert_int_equal(hd_schema_init_field(op, schema.children[0], "n", &number, false), HUDI_OK);
    assert_int_equal(hd_builder_new(op, schema.children[0], &builder), HUDI_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(hd_builder_append_integer(op, builder, (int64_t)i), HUDI_OK);
    assert_int_equal(hd_builder_finish(op, builder, &column), HUDI_OK);
    hd_builder_free(builder);
    assert_int_equal(hd_array_struct(op, &column, 1, (int64_t)n, &batch), HUDI_OK);
    assert_int_equal(hd_shared_array_new(op, &batch, &shared), HUDI_OK);
    assert_int_equal(hd_view_open(op, &arena, &field, &key_array, &view), HUDI_OK);
    const struct hd_spillable_map_options options = {.schema = &schema, .memory_bytes = UINT64_MAX};
    assert_int_equal(hd_spillable_map_new(op, &options, &map), HUDI_OK);
    assert_int_equal(
        hd_spillable_map_put(op, map, &view, NULL, shared, NULL, (int64_t)n, NULL, NULL), HUDI_OK);
    hd_shared_array_free(shared);
    hd_array_clear(&key_array);
    hd_schema_clear(&field);
    hd_schema_clear(&schema);
    hd_arena_clear(&arena);
    return map;
}

static void check_sorted(struct hd_op *op, const char *const *keys, size_t n, bool same_order)
{
    hd_spillable_map *map = map_of(op, keys, n);
    const int64_t n_entries = hd_spillable_map_length(map);
    int64_t *entries = calloc((size_t)n_entries, sizeof *entries);
    bool *seen = calloc((size_t)n_entries, sizeof *seen), same;

    for (int64_t i = 0; i < n_entries; i++)
        entries[i] = i;
    assert_int_equal(hd_sort_entries_by_key(op, map, entries, n_entries, &same), HUDI_OK);
    assert_int_equal(same, same_order);
    for (int64_t i = 0; i < n_entries; i++) {
        assert_false(seen[entries[i]]);
        seen[entries[i]] = true;
        if (i > 0)
            assert_true(hd_key_compare(hd_spillable_map_key(map, entries[i - 1]),
                                       hd_spillable_map_key(map, entries[i])) < 0);
    }
    free(entries);
    free(seen);
    hd_spillable_map_free(op, map);
}

static void sorts_few_keys(void **state)
{
    static const char *const KEYS[] = {"b", "a", "ab", "", "abc", "aa"};

    check_sorted(*state, KEYS, HD_ARRAY_LENGTH(KEYS), true);
}

/* U+FF5E stands before U+1F600 by bytes and behind it by UTF-16 units. */
static void sorts_as_java_does_where_bytes_differ(void **state)
{
    static const char *const KEYS[] = {"k\xef\xbd\x9e", "k\xf0\x9f\x98\x80", "kz"};

    check_sorted(*state, KEYS, HD_ARRAY_LENGTH(KEYS), false);
}

/* Longer than the prefix of eight bytes, with ties in it, and enough for the radix sort. */
static void sorts_many_keys_with_a_common_prefix(void **state)
{
    enum { N = 5000 };
    static char texts[N][40];
    const char *keys[N];

    for (int i = 0; i < N; i++) {
        snprintf(texts[i], sizeof texts[i], "table/key-%04d-%s%05d", i % 7, i % 3 ? "tail" : "t",
                 (i * 7919) % N);
        keys[i] = texts[i];
    }
    check_sorted(*state, keys, N, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sorts_few_keys, test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(sorts_as_java_does_where_bytes_differ, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(sorts_many_keys_with_a_common_prefix, test_op_setup,
                                        test_op_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
