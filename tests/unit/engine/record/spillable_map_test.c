/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: threads */
#include "spillable_map_testing.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pool.h"

/* One suite for all places where records can be. */
static const struct place {
    const char *name;
    uint64_t memory_bytes;
    enum hd_disk_map_type disk_map;
    bool compress;
} PLACES[] = {
    {"all in memory", UINT64_MAX, HD_DISK_MAP_BITCASK, true},
    {"BitCask, compressed", 0, HD_DISK_MAP_BITCASK, true},
    {"BitCask, plain", 0, HD_DISK_MAP_BITCASK, false},
    {"some in memory, some in BitCask", 20000, HD_DISK_MAP_BITCASK, true},
#ifdef HD_HAVE_ROCKSDB
    {"RocksDB, compressed", 0, HD_DISK_MAP_ROCKS_DB, true},
    {"some in memory, some in RocksDB", 20000, HD_DISK_MAP_ROCKS_DB, false},
#endif
};
static const struct place *place; /* of the group that runs */

static char folder[64];

static hd_spillable_map *new_map_of(struct hd_op *op, bool keep_all)
{
    hd_spillable_map *map;
    const struct hd_spillable_map_options options = {.schema = &test_schema,
                                                     .memory_bytes = place->memory_bytes,
                                                     .disk_map = place->disk_map,
                                                     .compress = place->compress,
                                                     .folder = folder,
                                                     .keep_all = keep_all};

    OK(hd_spillable_map_new(op, &options, &map));
    return map;
}

static hd_spillable_map *new_map(struct hd_op *op)
{
    return new_map_of(op, false);
}

/* Put all of the records, which tells their entries. */
static void put(struct hd_op *op, hd_spillable_map *map, const struct test_record *records,
                size_t n, const struct hd_spillable_map_resolve *resolve, int64_t *entries)
{
    struct test_batch batch = test_batch(op, records, n);

    OK(hd_spillable_map_put(op, map, &batch.root.children[0], batch.spaces, batch.shared, NULL,
                            (int64_t)n, resolve, entries));
    test_batch_clear(&batch);
}

static void assert_get(struct hd_op *op, const hd_spillable_map *map, const int64_t *entries,
                       const struct test_record *records, size_t n)
{
    struct ArrowArray array;

    OK(hd_spillable_map_get(op, map, entries, (int64_t)n, &array));
    test_assert_records(op, &array, records, n);
    hd_array_clear(&array);
}

/* ---- the basics --------------------------------------------------------------------------- */

static void an_empty_map_has_nothing(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op);
    const struct test_record record = {.key = 1};
    struct test_batch batch = test_batch(op, &record, 1);
    struct ArrowArray array;
    int64_t entry = 7;

    assert_int_equal(hd_spillable_map_length(map), 0);
    hd_spillable_map_find(map, 0, &batch.root.children[0], 0, 1, &entry);
    assert_int_equal(entry, -1);
    OK(hd_spillable_map_get(op, map, NULL, 0, &array));
    assert_int_equal(array.length, 0);
    assert_int_equal(array.n_children, TEST_COLUMNS);
    hd_array_clear(&array);
    OK(hd_spillable_map_put(op, map, &batch.root.children[0], NULL, batch.shared, NULL, 0, NULL,
                            NULL));
    assert_int_equal(hd_spillable_map_length(map), 0);
    assert_int_equal(hd_spillable_map_disk_bytes(map), 0);
    test_batch_clear(&batch);
    hd_spillable_map_free(op, map);
    hd_spillable_map_free(op, NULL);
}

static void entries_are_numbered_in_order_of_arrival(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op);
    const struct test_record records[] = {{5, 0, 1, 1}, {3, 0, 1, 2}, {5, 0, 2, 3},
                                          {0, 0, 1, 4}, {3, 0, 1, 5}, {9, 0, 0, 6}};
    const int64_t wanted[] = {0, 1, 0, 2, 1, 3};
    int64_t entries[6], found[6];

    put(op, map, records, 6, NULL, entries);
    assert_memory_equal(entries, wanted, sizeof wanted);
    assert_int_equal(hd_spillable_map_length(map), 4);
    assert_int_equal(hd_spillable_map_key(map, 2).size, 0);
    char text[64];
    const int n = test_key_text(9, text);
    assert_int_equal(hd_spillable_map_key(map, 3).size, n);
    assert_memory_equal(hd_spillable_map_key(map, 3).data, text, (size_t)n);

    struct test_batch batch = test_batch(op, records, 6);
    hd_spillable_map_find(map, 0, &batch.root.children[0], 1, 5, found);
    assert_memory_equal(found, wanted + 1, 5 * sizeof *wanted);
    test_batch_clear(&batch);
    /* Without a rule the last one stays. */
    const struct test_record last[] = {records[2], records[4], records[3], records[5], records[2]};
    assert_get(op, map, (const int64_t[]){0, 1, 2, 3, 0}, last, 5);
    hd_spillable_map_free(op, map);
}

/* Asked of each entry: the one before it of its key, and whether it is the newest. */
static void assert_versions(const hd_spillable_map *map, const int64_t *older, const bool *newest,
                            size_t n)
{
    assert_int_equal(hd_spillable_map_length(map), n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(hd_spillable_map_older(map, (int64_t)i), older[i]);
        assert_int_equal(hd_spillable_map_is_newest(map, (int64_t)i), newest[i]);
    }
}

static void all_records_of_a_key_are_kept_where_that_is_wanted(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map_of(op, true);
    const struct test_record records[] = {{5, 0, 1, 1}, {3, 0, 1, 2}, {5, 0, 2, 3}, {5, 1, 1, 4}};
    const struct test_record later[] = {{3, 0, 2, 5}, {5, 0, 3, 6}};
    const int64_t wanted[] = {0, 1, 2, 3}, wanted_later[] = {4, 5};
    const int64_t older[] = {-1, -1, 0, -1, 1, 2};
    const bool newest[] = {true, true, true, true, true, true};
    const bool superseded[] = {false, false, false, true, true, true};
    int64_t entries[4], found[2];

    put(op, map, records, 2, NULL, entries);
    assert_versions(map, older, newest, 2);
    put(op, map, records + 2, 2, NULL, entries + 2);
    assert_memory_equal(entries, wanted, sizeof wanted);
    put(op, map, later, 2, NULL, entries);
    assert_memory_equal(entries, wanted_later, sizeof wanted_later);
    assert_versions(map, older, superseded, 6);

    struct test_batch batch = test_batch(op, later, 2);
    hd_spillable_map_find(map, 0, &batch.root.children[0], 0, 2, found);
    assert_memory_equal(found, wanted_later, sizeof wanted_later);
    const struct test_record all[] = {records[0], records[1], records[2],
                                      records[3], later[0],   later[1]};
    assert_get(op, map, (const int64_t[]){0, 1, 2, 3, 4, 5}, all, 6);
    test_batch_clear(&batch);
    hd_spillable_map_free(op, map);
}

static void equal_keys_of_different_spaces_are_different(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op);
    const struct test_record before[] = {{1, 0, 1, 1}};
    const struct test_record records[] = {
        {1, 1, 2, 2}, {1, 0, 3, 3}, {1, 4000000000u, 4, 4}, {1, 1, 5, 5}};
    const int64_t wanted[] = {1, 0, 2, 1};
    int64_t entries[4], found;
    struct test_batch batch = test_batch(op, before, 1);

    OK(hd_spillable_map_put(op, map, &batch.root.children[0], NULL, batch.shared, NULL, 1, NULL,
                            NULL)); /* the first puts know of one space only */
    put(op, map, records, 4, NULL, entries);
    assert_memory_equal(entries, wanted, sizeof wanted);
    assert_int_equal(hd_spillable_map_space(map, 0), 0);
    assert_int_equal(hd_spillable_map_space(map, 1), 1);
    assert_int_equal(hd_spillable_map_space(map, 2), 4000000000u);
    hd_spillable_map_find(map, 4000000000u, &batch.root.children[0], 0, 1, &found);
    assert_int_equal(found, 2);
    hd_spillable_map_find(map, 7, &batch.root.children[0], 0, 1, &found);
    assert_int_equal(found, -1);
    const struct test_record last[] = {records[1], records[3], records[2]};
    assert_get(op, map, (const int64_t[]){0, 1, 2}, last, 3);
    test_batch_clear(&batch);
    hd_spillable_map_free(op, map);
}

static void a_put_takes_the_rows_it_is_told(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op);
    const struct test_record records[] = {{1, 0, 1, 1}, {2, 0, 2, 2}, {3, 0, 3, 3}, {4, 0, 4, 4}};
    struct test_batch batch = test_batch(op, records, 4);
    const int64_t rows[] = {3, 1};
    int64_t entries[2];

    OK(hd_spillable_map_put(op, map, &batch.root.children[0], batch.spaces, batch.shared, rows, 2,
                            NULL, entries));
    assert_int_equal(hd_spillable_map_length(map), 2);
    assert_get(op, map, entries, (const struct test_record[]){records[3], records[1]}, 2);
    test_batch_clear(&batch);
    hd_spillable_map_free(op, map);
}

static void keys_are_given_as_an_array(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op);
    const struct test_record records[] = {{30, 0, 1, 1}, {0, 0, 2, 2}, {31, 0, 3, 3}};
    static struct ArrowSchema field = FIELD("u", "key");
    struct ArrowArray array;
    struct hd_arena arena = {0};
    struct hd_view view;
    char text[64];

    put(op, map, records, 3, NULL, NULL);
    OK(hd_spillable_map_keys(op, map, (const int64_t[]){2, 1, 2}, 3, &array));
    OK(hd_view_open(op, &arena, &field, &array, &view));
    assert_int_equal(view.length, 3);
    const struct hd_slice wanted = hd_slice_of(text, (size_t)test_key_text(31, text));
    assert_true(hd_slice_equal(hd_view_bytes(&view, 0), wanted));
    assert_int_equal(hd_view_bytes(&view, 1).size, 0);
    assert_true(hd_slice_equal(hd_view_bytes(&view, 2), wanted));
    hd_array_clear(&array);
    hd_arena_clear(&arena);
    hd_spillable_map_free(op, map);
}

static void null_keys_and_foreign_entries_are_refused(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map = new_map(op);
    struct ArrowArray array =
        test_array(op, &test_schema, "[(\"k\", 1, null, null, 1), (null, 1, null, null, 1)]");
    struct hd_shared_array *shared;
    struct hd_arena arena = {0};
    struct hd_view root;
    int64_t found[2];

    OK(hd_shared_array_new(op, &array, &shared));
    OK(hd_view_open(op, &arena, &test_schema, hd_shared_array_get(shared), &root));
    assert_int_equal(
        hd_spillable_map_put(op, map, &root.children[0], NULL, shared, NULL, 2, NULL, NULL),
        HUDI_INVALID);
    assert_non_null(strstr(hudi_error_message(op->error), "key of row 1 is null"));
    hd_op_clear_error(op);
    assert_int_equal(hd_spillable_map_length(map), 0);
    assert_int_equal(hd_spillable_map_put(op, map, &root.children[0], NULL, shared,
                                          (const int64_t[]){2}, 1, NULL, NULL),
                     HUDI_INVALID);
    hd_op_clear_error(op);
    OK(hd_spillable_map_put(op, map, &root.children[0], NULL, shared, NULL, 1, NULL, NULL));
    hd_spillable_map_find(map, 0, &root.children[0], 0, 2, found);
    assert_int_equal(found[0], 0);
    assert_int_equal(found[1], -1);
    assert_int_equal(hd_spillable_map_get(op, map, (const int64_t[]){1}, 1, &array), HUDI_INVALID);
    assert_null(array.release);
    hd_op_clear_error(op);
    assert_int_equal(hd_spillable_map_keys(op, map, (const int64_t[]){-1}, 1, &array),
                     HUDI_INVALID);
    hd_shared_array_free(shared);
    hd_arena_clear(&arena);
    hd_spillable_map_free(op, map);
}

/* ---- random work against an oracle ---------------------------------------------------------- */

/* The rule: a higher first version replaces, an equal one gives the new second half of the columns,
 * a lower one is dropped. */
static bool replace(void *self, const struct hd_view *old_columns, int64_t old_row,
                    const struct hd_view *new_columns, int64_t new_row, bool *columns)
{
    const int64_t old = hd_view_i64(&old_columns[1], old_row);
    const int64_t new = hd_view_i64(&new_columns[1], new_row);

    ++*(int *)self;
    assert_true(hd_slice_equal(hd_view_bytes(&old_columns[0], old_row),
                               hd_view_bytes(&new_columns[0], new_row)));
    *columns = new == old;
    return new > old;
}

static bool take_new(void *self, int32_t column, const struct hd_view *old_columns, int64_t old_row,
                     const struct hd_view *new_columns, int64_t new_row)
{
    (void)self, (void)old_columns, (void)old_row, (void)new_columns, (void)new_row;
    return column >= 3;
}

#define N_KEYS 500u
#define N_SPACES 3u

struct oracle {
    struct test_record records[N_KEYS * N_SPACES]; /* by key and space */
    int64_t entries[N_KEYS * N_SPACES];            /* -1: not there */
    int64_t n;
};

static void oracle_put(struct oracle *oracle, const struct test_record *r, bool rule, int64_t entry)
{
    const size_t i = r->key * N_SPACES + r->space;
    struct test_record *const old = &oracle->records[i];

    if (oracle->entries[i] < 0) {
        assert_int_equal(entry, oracle->n);
        oracle->entries[i] = oracle->n++;
        *old = *r;
    } else if (!rule || r->first > old->first) {
        *old = *r;
    } else if (r->first == old->first) {
        old->second = r->second;
    }
    assert_int_equal(entry, oracle->entries[i]);
}

static void check_find(struct hd_op *op, const hd_spillable_map *map, const struct oracle *oracle)
{
    static struct test_record all[N_KEYS];
    static int64_t found[N_KEYS];
    const uint32_t space = (uint32_t)(hd_random_u64(op) % N_SPACES);

    for (uint32_t key = 0; key < N_KEYS; key++)
        all[key] = (struct test_record){.key = key};
    struct test_batch batch = test_batch(op, all, N_KEYS);
    hd_spillable_map_find(map, space, &batch.root.children[0], 0, N_KEYS, found);
    for (uint32_t key = 0; key < N_KEYS; key++)
        assert_int_equal(found[key], oracle->entries[key * N_SPACES + space]);
    test_batch_clear(&batch);
}

/* Some of the entries in random order, or all in order. */
static void check_get(struct hd_op *op, const hd_spillable_map *map, const struct oracle *oracle)
{
    static int64_t entries[N_KEYS * N_SPACES], wanted[N_KEYS * N_SPACES];
    static struct test_record by_entry[N_KEYS * N_SPACES], records[N_KEYS * N_SPACES];
    const uint64_t n_all = (uint64_t)oracle->n;
    const bool all = hd_random_u64(op) % 4 == 0;
    const uint64_t n = all ? n_all : n_all == 0 ? 0 : hd_random_u64(op) % (n_all < 50 ? n_all : 50);

    for (size_t i = 0; i < N_KEYS * N_SPACES; i++) {
        if (oracle->entries[i] >= 0)
            by_entry[oracle->entries[i]] = oracle->records[i];
    }
    for (uint64_t i = 0; i < n; i++) {
        wanted[i] = (int64_t)(all ? i : hd_random_u64(op) % n_all);
        entries[i] = wanted[i];
        records[i] = by_entry[wanted[i]];
    }
    assert_get(op, map, entries, records, n);
}

static void random_work_matches_an_oracle(void **state)
{
    struct hd_op *op = *state;
    static struct oracle oracle;
    static struct test_record records[300];
    static int64_t entries[300];
    int n_asked = 0;
    const struct hd_spillable_map_resolve rule = {replace, take_new, &n_asked};
    hd_spillable_map *map = new_map(op);
    const char *given = getenv("TEST_SEED");

    op->random_state[0] = given == NULL ? hd_now_ms(op) : strtoull(given, NULL, 10);
    print_message("seed %llu, %s\n", (unsigned long long)op->random_state[0], place->name);
    memset(&oracle, 0, sizeof oracle);
    memset(oracle.entries, 0xff, sizeof oracle.entries);
    for (int step = 0; step < 300; step++) {
        const size_t n = hd_random_u64(op) % 3 == 0 ? 1 : hd_random_u64(op) % 300;
        /* Few keys at first, so that they often recur within a batch. */
        const uint32_t n_keys = step < 100 ? 20 : N_KEYS;
        const bool ruled = hd_random_u64(op) % 4 != 0;

        for (size_t i = 0; i < n; i++) {
            const uint64_t r = hd_random_u64(op);
            records[i] = (struct test_record){(uint32_t)r % n_keys, (uint32_t)(r >> 32) % N_SPACES,
                                              (uint32_t)(r >> 40) % 8, (uint32_t)(r >> 50)};
        }
        put(op, map, records, n, ruled ? &rule : NULL, entries);
        for (size_t i = 0; i < n; i++)
            oracle_put(&oracle, &records[i], ruled, entries[i]);
        assert_int_equal(hd_spillable_map_length(map), oracle.n);
        check_get(op, map, &oracle);
        if (step % 20 == 0)
            check_find(op, map, &oracle);
    }
    assert_true(n_asked > 1000);
    if (place->memory_bytes == 0)
        assert_int_equal(hd_spillable_map_spilled_rows(map), oracle.n);
    if (place->memory_bytes == UINT64_MAX)
        assert_int_equal(hd_spillable_map_disk_bytes(map), 0);
    hd_spillable_map_free(op, map);
}

/* ---- faults ------------------------------------------------------------------------------- */

#define N_OLD 60u
#define N_NEW 80u

/* Records 0 .. N_OLD - 1, then the second half of them in other versions, some of them twice and
 * some only by half, and new ones. */
static void fault_records(struct test_record old[N_OLD], struct test_record new[N_NEW])
{
    for (uint32_t i = 0; i < N_OLD; i++)
        old[i] = (struct test_record){i, i % 2, 5, i};
    for (uint32_t i = 0; i < N_NEW; i++) {
        const uint32_t key = N_OLD / 2 + i % (N_NEW / 2 + 10);
        new[i] = (struct test_record){key, key % 2, 4 + i % 4, 100 + i};
    }
}

static hudi_status put_and_get(struct hd_op *op, hd_spillable_map *map,
                               const struct test_batch *batch, int64_t n,
                               const struct hd_spillable_map_resolve *rule, int64_t *entries)
{
    struct ArrowArray array;

    HD_TRY(hd_spillable_map_put(op, map, &batch->root.children[0], batch->spaces, batch->shared,
                                NULL, n, rule, entries));
    HD_TRY(hd_spillable_map_get(op, map, entries, n, &array));
    hd_array_clear(&array);
    return HUDI_OK;
}

static void a_put_that_fails_changes_nothing(void **state)
{
    struct hd_op *op = *state;
    struct test_record old[N_OLD], new[N_NEW];
    int64_t entries[N_NEW], old_entries[N_OLD], found[N_NEW];
    int n_asked = 0;
    const struct hd_spillable_map_resolve rule = {replace, take_new, &n_asked};
    hudi_status status = HUDI_INTERNAL;
    struct test_batch batch;
    const int step = place->disk_map == HD_DISK_MAP_ROCKS_DB ? 7 : 1; /* it opens slowly */

    fault_records(old, new);
    batch = test_batch(op, new, N_NEW);
    for (int nth = 1; status != HUDI_OK; nth += step) {
        hd_spillable_map *map = new_map(op);
        put(op, map, old, N_OLD, NULL, old_entries);
        const int64_t n_spilled = hd_spillable_map_spilled_rows(map);
        test_fault_arm(op, nth);
        status = put_and_get(op, map, &batch, N_NEW, &rule, entries);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        hd_op_clear_error(op);
        if (hd_spillable_map_length(map) == N_OLD) {
            assert_get(op, map, old_entries, old, N_OLD);
            assert_int_equal(hd_spillable_map_spilled_rows(map), n_spilled);
            hd_spillable_map_find(map, 0, &batch.root.children[0], 0, N_NEW, found);
            for (uint32_t i = 0; i < N_NEW; i++)
                assert_int_equal(
                    found[i], new[i].key < N_OLD &&new[i].space == 0 ? (int64_t) new[i].key : -1);
            OK(put_and_get(op, map, &batch, N_NEW, &rule, entries)); /* and it can be tried again */
        }
        static struct oracle oracle;
        memset(&oracle, 0, sizeof oracle);
        memset(oracle.entries, 0xff, sizeof oracle.entries);
        for (uint32_t i = 0; i < N_OLD; i++)
            oracle_put(&oracle, &old[i], false, old_entries[i]);
        for (uint32_t i = 0; i < N_NEW; i++)
            oracle_put(&oracle, &new[i], true, entries[i]);
        for (int i = 0; i < 3; i++)
            check_get(op, map, &oracle);
        hd_spillable_map_free(op, map);
    }
    test_batch_clear(&batch);
}

static void a_put_beside_older_records_that_fails_changes_nothing(void **state)
{
    struct hd_op *op = *state;
    struct test_record old[N_OLD], new[N_NEW];
    int64_t entries[N_NEW], old_entries[N_OLD];
    hudi_status status = HUDI_INTERNAL;
    const int step = place->disk_map == HD_DISK_MAP_ROCKS_DB ? 7 : 1; /* it opens slowly */

    fault_records(old, new);
    struct test_batch batch = test_batch(op, new, N_NEW);
    for (int nth = 1; status != HUDI_OK; nth += step) {
        hd_spillable_map *map = new_map_of(op, true);

        put(op, map, old, N_OLD, NULL, old_entries);
        test_fault_arm(op, nth);
        status = put_and_get(op, map, &batch, N_NEW, NULL, entries);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        hd_op_clear_error(op);
        if (hd_spillable_map_length(map) == N_OLD) {
            for (int64_t i = 0; i < N_OLD; i++) {
                assert_true(hd_spillable_map_is_newest(map, i));
                assert_int_equal(hd_spillable_map_older(map, i), -1);
            }
            OK(put_and_get(op, map, &batch, N_NEW, NULL, entries));
        }
        assert_int_equal(hd_spillable_map_length(map), N_OLD + N_NEW);
        assert_get(op, map, old_entries, old, N_OLD);
        assert_get(op, map, entries, new, N_NEW);
        for (uint32_t i = 0; i < N_NEW; i++) /* keys come in turns of 50, the first 30 are known */
            assert_int_equal(hd_spillable_map_older(map, entries[i]),
                             i >= 50  ? entries[i - 50]
                             : i < 30 ? old_entries[N_OLD / 2 + i]
                                      : -1);
        hd_spillable_map_free(op, map);
    }
    test_batch_clear(&batch);
}

static void new_and_free_survive_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;
    hd_spillable_map *map;
    const struct hd_spillable_map_options options = {.schema = &test_schema,
                                                     .memory_bytes = place->memory_bytes,
                                                     .disk_map = place->disk_map,
                                                     .compress = place->compress,
                                                     .folder = folder};

    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        status = hd_spillable_map_new(op, &options, &map);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_true(status == HUDI_OK || map == NULL);
    }
    hd_spillable_map_free(op, map);
}

/* ---- threads ------------------------------------------------------------------------------ */

struct shared_map {
    hd_spillable_map *map;
    const struct oracle *oracle;
};

static hudi_status look(struct hd_op *op, void *argument, size_t i)
{
    const struct shared_map *const s = argument;
    const struct test_record record = s->oracle->records[(i * 7 + 1) % N_KEYS * N_SPACES];
    struct test_batch batch = test_batch(op, &record, 1);
    int64_t entry[3] = {-1};
    struct ArrowArray array;

    hd_spillable_map_find(s->map, 0, &batch.root.children[0], 0, 1, entry);
    assert_int_equal(entry[0], s->oracle->entries[record.key * N_SPACES]);
    entry[1] = entry[2] = entry[0];
    OK(hd_spillable_map_get(op, s->map, entry, 3, &array));
    test_assert_records(op, &array, (const struct test_record[]){record, record, record}, 3);
    hd_array_clear(&array);
    test_batch_clear(&batch);
    return HUDI_OK;
}

static void several_threads_may_look_at_once(void **state)
{
    struct hd_op *op = *state;
    static struct oracle oracle;
    static struct test_record records[N_KEYS];
    static int64_t entries[N_KEYS];
    hd_spillable_map *map = new_map(op);
    struct shared_map shared = {map, &oracle};
    hd_pool *pool;

    memset(&oracle, 0, sizeof oracle);
    memset(oracle.entries, 0xff, sizeof oracle.entries);
    for (uint32_t i = 0; i < N_KEYS; i++)
        records[i] = (struct test_record){i, 0, i, i + 1};
    put(op, map, records, N_KEYS, NULL, entries);
    for (uint32_t i = 0; i < N_KEYS; i++)
        oracle_put(&oracle, &records[i], false, entries[i]);
    OK(hd_pool_new(op, 4, &pool));
    OK(hd_pool_each(op, pool, 400, look, &shared));
    hd_pool_free(pool);
    hd_spillable_map_free(op, map);
}

/* ---- groups ------------------------------------------------------------------------------- */

static int run_place(const struct place *p)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_map_has_nothing),
        TEST(entries_are_numbered_in_order_of_arrival),
        TEST(all_records_of_a_key_are_kept_where_that_is_wanted),
        TEST(equal_keys_of_different_spaces_are_different),
        TEST(a_put_takes_the_rows_it_is_told),
        TEST(keys_are_given_as_an_array),
        TEST(null_keys_and_foreign_entries_are_refused),
        TEST(random_work_matches_an_oracle),
        TEST(a_put_that_fails_changes_nothing),
        TEST(a_put_beside_older_records_that_fails_changes_nothing),
        TEST(new_and_free_survive_every_fault),
        TEST(several_threads_may_look_at_once),
    };

    place = p;
    return cmocka_run_group_tests_name(p->name, tests, NULL, NULL);
}

int main(void)
{
    int failed = 0;

    snprintf(folder, sizeof folder, "/tmp/hudi-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    for (size_t i = 0; i < HD_ARRAY_LENGTH(PLACES); i++)
        failed += run_place(&PLACES[i]);
    if (rmdir(folder) != 0) {
        print_error("%s is not empty\n", folder);
        failed++;
    }
    return failed;
}
