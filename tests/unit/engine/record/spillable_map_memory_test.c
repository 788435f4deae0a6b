/* SPDX-License-Identifier: Apache-2.0 */
/* What stays in memory, what goes to disk, and what is let go. */
#include "spillable_map_testing.h"

#include "base/map.h"
#include "engine/record/spillable_map_internal.h"

static hd_spillable_map *new_map(struct hd_op *op, uint64_t memory_bytes)
{
    hd_spillable_map *map;
    const struct hd_spillable_map_options options = {
        .schema = &test_schema, .memory_bytes = memory_bytes, .disk_map = HD_DISK_MAP_BITCASK};

    OK(hd_spillable_map_new(op, &options, &map));
    return map;
}

/* Records `first` .. `first + n` - 1, all in one version. */
static void put_range(struct hd_op *op, hd_spillable_map *map, uint32_t first, uint32_t n,
                      uint32_t version)
{
    struct test_record *records;

    OK(hd_alloc_array(op, n, sizeof *records, &records));
    for (uint32_t i = 0; i < n; i++)
        records[i] = (struct test_record){first + i, 0, version, version};
    struct test_batch batch = test_batch(op, records, n);
    OK(hd_spillable_map_put(op, map, &batch.root.children[0], NULL, batch.shared, NULL, n, NULL,
                            NULL));
    test_batch_clear(&batch);
    hd_free(op, records);
}

/* Entries `first` .. `first + n` - 1 are the keys of the same number, in one version. */
static void assert_range(struct hd_op *op, const hd_spillable_map *map, uint32_t first, uint32_t n,
                         uint32_t version)
{
    struct test_record *records;
    int64_t *entries;
    struct ArrowArray array;

    OK(hd_alloc_array(op, n, sizeof *records, &records));
    OK(hd_alloc_array(op, n, sizeof *entries, &entries));
    for (uint32_t i = 0; i < n; i++) {
        records[i] = (struct test_record){first + i, 0, version, version};
        entries[i] = first + i;
    }
    OK(hd_spillable_map_get(op, map, entries, n, &array));
    test_assert_records(op, &array, records, n);
    hd_array_clear(&array);
    hd_free(op, records);
    hd_free(op, entries);
}

static void records_beyond_the_memory_go_to_disk(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op, 50000);

    put_range(op, map, 0, 100, 1);
    assert_int_equal(hd_spillable_map_spilled_rows(map), 0);
    put_range(op, map, 100, 900, 1);
    const int64_t n_spilled = hd_spillable_map_spilled_rows(map);
    assert_in_range(n_spilled, 300, 899);
    assert_in_range(map->record_bytes, 40000, 50000);
    put_range(op, map, 1000, 500, 1); /* what is in memory stays there */
    assert_in_range(hd_spillable_map_spilled_rows(map), n_spilled + 490, n_spilled + 500);
    assert_true(map->record_bytes <= 50000);
    assert_true(hd_spillable_map_memory_bytes(map) >= map->record_bytes);
    assert_range(op, map, 0, 1500, 1);
    hd_spillable_map_free(op, map);
}

static void a_record_in_memory_is_replaced_in_memory(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op, 30000);

    put_range(op, map, 0, 1000, 1);
    const int64_t n_spilled = hd_spillable_map_spilled_rows(map);
    assert_in_range(n_spilled, 1, 999);
    put_range(op, map, 0, 20, 2);
    assert_true(hd_spillable_map_spilled_rows(map) <= n_spilled);
    for (uint32_t i = 0; i < 20; i++)
        assert_false(hd_map_on_disk(map->locations[i]));
    assert_range(op, map, 0, 20, 2);
    assert_range(op, map, 20, 980, 1);
    hd_spillable_map_free(op, map);
}

static void a_record_on_disk_is_replaced_in_memory_when_there_is_room(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op, 0);

    put_range(op, map, 0, 100, 1);
    assert_int_equal(hd_spillable_map_spilled_rows(map), 100);
    map->memory_bytes = 1 << 20;
    put_range(op, map, 0, 40, 2);
    assert_int_equal(hd_spillable_map_spilled_rows(map), 60);
    assert_range(op, map, 0, 40, 2);
    assert_range(op, map, 40, 60, 1);
    hd_spillable_map_free(op, map);
}

static void dead_rows_are_let_go(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op, UINT64_MAX);

    put_range(op, map, 0, 1000, 0);
    for (uint32_t version = 1; version <= 200; version++) {
        /* A tenth of the keys fewer each time, so that each batch keeps a few live rows. */
        put_range(op, map, version % 10 * 100, 1000 - version % 10 * 100, version);
        if (version % 20 == 0)
            assert_range(op, map, 900, 100, version);
    }
    assert_in_range(map->held_rows, 1000, 8000);
    assert_in_range(map->array_bytes, map->record_bytes, 8 * map->record_bytes);
    assert_int_equal(map->live_rows, 1000);
    assert_range(op, map, 900, 100, 200);
    hd_spillable_map_free(op, map);
}

static void many_small_puts_share_few_batches(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op, UINT64_MAX);

    for (uint32_t i = 0; i < 2000; i++)
        put_range(op, map, i, 1, 1);
    assert_true(map->n_sources - map->n_free_sources < 70);
    assert_int_equal(map->live_rows, 2000);
    assert_range(op, map, 0, 2000, 1);
    for (uint32_t i = 0; i < 500; i++)
        put_range(op, map, i % 7, 1, 2);
    assert_true(map->n_sources - map->n_free_sources < 70);
    assert_range(op, map, 0, 7, 2);
    assert_range(op, map, 7, 1993, 1);
    hd_spillable_map_free(op, map);
}

static void few_rows_of_a_large_batch_do_not_hold_it(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op, UINT64_MAX);
    static struct test_record records[2000];
    const int64_t rows[] = {5, 1999};

    for (uint32_t i = 0; i < 2000; i++)
        records[i] = (struct test_record){i, 0, 1, 1};
    struct test_batch batch = test_batch(op, records, 2000);
    OK(hd_spillable_map_put(op, map, &batch.root.children[0], NULL, batch.shared, rows, 2, NULL,
                            NULL));
    assert_int_equal(map->held_rows, 2);
    assert_true(map->array_bytes < 2000);
    test_batch_clear(&batch);
    hd_spillable_map_free(op, map);
}

static void keys_beyond_the_budget_are_refused(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op, UINT64_MAX);

    put_range(op, map, 0, 1000, 1);
    test_budget_limit(op, 100000);
    struct test_record records[3000];
    for (uint32_t i = 0; i < 3000; i++)
        records[i] = (struct test_record){i, 0, 2, 2};
    struct test_batch batch = test_batch(op, records, 3000);
    assert_int_equal(hd_spillable_map_put(op, map, &batch.root.children[0], NULL, batch.shared,
                                          NULL, 3000, NULL, NULL),
                     HUDI_NO_MEMORY);
    assert_non_null(strstr(hudi_error_message(op->error), "keys of a spillable map need"));
    hd_op_clear_error(op);
    assert_int_equal(hd_spillable_map_length(map), 1000);
    assert_range(op, map, 0, 1000, 1);
    test_budget_limit(op, UINT64_MAX);
    OK(hd_spillable_map_put(op, map, &batch.root.children[0], NULL, batch.shared, NULL, 3000, NULL,
                            NULL));
    assert_range(op, map, 0, 3000, 2);
    test_batch_clear(&batch);
    hd_spillable_map_free(op, map);
}

static void a_key_put_many_times_in_one_batch_is_one_entry(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op, 0);
    static struct test_record records[5000];

    for (uint32_t i = 0; i < 5000; i++)
        records[i] = (struct test_record){i % 2, 0, i, i};
    struct test_batch batch = test_batch(op, records, 5000);
    OK(hd_spillable_map_put(op, map, &batch.root.children[0], NULL, batch.shared, NULL, 5000, NULL,
                            NULL));
    assert_int_equal(hd_spillable_map_length(map), 2);
    assert_int_equal(hd_spillable_map_spilled_rows(map), 2);
    assert_range(op, map, 0, 1, 4998);
    assert_range(op, map, 1, 1, 4999);
    test_batch_clear(&batch);
    hd_spillable_map_free(op, map);
}

static void a_cancelled_put_changes_nothing(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op, 0);
    hd_atomic_bool cancelled = true;
    const struct test_record record = {.key = 1};
    struct test_batch batch = test_batch(op, &record, 1);

    op->cancelled = &cancelled;
    assert_int_equal(hd_spillable_map_put(op, map, &batch.root.children[0], NULL, batch.shared,
                                          NULL, 1, NULL, NULL),
                     HUDI_CANCELLED);
    assert_int_equal(hd_spillable_map_length(map), 0);
    op->cancelled = NULL;
    hd_op_clear_error(op);
    test_batch_clear(&batch);
    hd_spillable_map_free(op, map);
}

/* The longest run of taken slots: what a look-up goes through at most. */
static size_t longest_run(const struct hd_key_index *index)
{
    const size_t n_slots = (size_t)1 << index->n_slot_bits;
    size_t run = 0, longest = 0;

    for (size_t i = 0; i < 2 * n_slots && run < n_slots; i++) {
        run = index->slots[i % n_slots].entry_plus_1 == 0 ? 0 : run + 1;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Whoever has more keys than fit puts them in parts by their hash. */
static void keys_of_a_part_of_all_hashes_are_spread_like_any(void **state)
{
    enum { N = 40000 };
    static const struct {
        uint64_t mask, value;
    } parts[] = {
        {0, 0},
        {UINT64_C(1) << 63, 0},
        {UINT64_C(1) << 63, UINT64_C(1) << 63},
        {UINT64_C(31) << 59, UINT64_C(5) << 59},
        {UINT64_C(31) << 32, UINT64_C(5) << 32},
        {31, 5},
    };
    struct hd_op *op = *state;

    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        hd_spillable_map *map = new_map(op, UINT64_MAX);
        struct test_record *records;
        uint32_t n = 0;
        char text[64];

        OK(hd_alloc_array(op, N, sizeof *records, &records));
        for (uint32_t key = 0; n < N; key++) {
            const size_t size = (size_t)test_key_text(key, text);
            if ((hd_hash_bytes(text, size) & parts[p].mask) == parts[p].value)
                records[n++] = (struct test_record){.key = key};
        }
        struct test_batch batch = test_batch(op, records, N);
        OK(hd_spillable_map_put(op, map, &batch.root.children[0], NULL, batch.shared, NULL, N, NULL,
                                NULL));
        assert_int_equal(hd_spillable_map_length(map), N);
        /* Two thirds of the slots at most: some dozens, where half the slots alone would be one. */
        assert_in_range(longest_run(&map->index), 1, 400);
        test_batch_clear(&batch);
        hd_free(op, records);
        hd_spillable_map_free(op, map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(records_beyond_the_memory_go_to_disk),
        TEST(a_record_in_memory_is_replaced_in_memory),
        TEST(a_record_on_disk_is_replaced_in_memory_when_there_is_room),
        TEST(dead_rows_are_let_go),
        TEST(many_small_puts_share_few_batches),
        TEST(few_rows_of_a_large_batch_do_not_hold_it),
        TEST(keys_beyond_the_budget_are_refused),
        TEST(a_key_put_many_times_in_one_batch_is_one_entry),
        TEST(a_cancelled_put_changes_nothing),
        TEST(keys_of_a_part_of_all_hashes_are_spread_like_any),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
