/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/write/global_sort.h"

#include "unit/arrow/arrow_testing.h"

static struct ArrowSchema number = FIELD("l", "n");
static struct ArrowSchema *columns[] = {&number};
static const struct ArrowSchema record = PARENT("+s", "", columns);

/* A row of partition `partition` whose column is `value`. */
static void add(struct hd_op *op, hd_global_sort *sort, uint32_t partition, const char *key,
                int64_t value)
{
    const struct hd_view column = {
        .type = {.id = HD_TYPE_INT64}, .name = "n", .length = 1, .values = &value};

    OK(hd_global_sort_add(op, sort, partition, hd_slice_text(key), &column, 1, 0));
}

/* All rows: partition:key=value, each. */
static void read_all(struct hd_op *op, hd_global_sort *sort, struct hd_str *out)
{
    const struct ArrowSchema text = FIELD("u", "key");
    hudi_status status;

    for (;;) {
        struct hd_shared_array *records;
        struct ArrowArray keys;
        struct hd_arena arena = {0};
        struct hd_view key, row;
        uint32_t partition;

        status = hd_global_sort_next(op, sort, &partition, &records, &keys);
        if (status == HUDI_END)
            break;
        OK(status);
        OK(hd_view_open(op, &arena, &text, &keys, &key));
        OK(hd_view_open(op, &arena, &record, hd_shared_array_get(records), &row));
        assert_int_equal(key.length, row.length);
        for (int64_t i = 0; i < key.length; i++)
            OK(hd_str_printf(op, out, "%u:%.*s=%lld ", partition, (int)hd_view_bytes(&key, i).size,
                             (const char *)hd_view_bytes(&key, i).data,
                             (long long)hd_view_i64(&row.children[0], i)));
        hd_array_clear(&keys);
        hd_shared_array_free(records);
        hd_arena_clear(&arena);
    }
}

static void gives_runs_as_one_order(void **state)
{
    struct hd_op *op = *state;
    hd_global_sort *sort;
    struct hd_str rows = {0};

    OK(hd_global_sort_new(op, &record, true, NULL, &sort));
    OK(hd_global_sort_begin_run(op, sort));
    add(op, sort, 0, "b", 1);
    add(op, sort, 0, "d", 2);
    add(op, sort, 2, "a", 3);
    OK(hd_global_sort_begin_run(op, sort));
    OK(hd_global_sort_begin_run(op, sort));
    add(op, sort, 0, "a", 4);
    add(op, sort, 0, "b", 5);
    add(op, sort, 0, "bb", 6);
    add(op, sort, 1, "z", 7);
    OK(hd_global_sort_finish(op, sort));
    read_all(op, sort, &rows);
    assert_string_equal(hd_str_text(&rows), "0:a=4 0:b=1 0:b=5 0:bb=6 0:d=2 1:z=7 2:a=3 ");
    hd_global_sort_free(op, sort);
    hd_str_clear(&rows);
}

/* More runs than are merged at a time: equal keys keep the order in which they came. */
static void merges_many_runs_in_passes(void **state)
{
    enum { N_RUNS = 3 * HD_GLOBAL_SORT_FAN_IN + 5 };
    struct hd_op *op = *state;
    hd_global_sort *sort;
    struct hd_str rows = {0}, expected = {0};
    char key[16];

    OK(hd_global_sort_new(op, &record, true, NULL, &sort));
    for (int run = 0; run < N_RUNS; run++) {
        OK(hd_global_sort_begin_run(op, sort));
        snprintf(key, sizeof key, "k%05d", run * 7919 % N_RUNS);
        add(op, sort, 0, key, run);
        add(op, sort, 1, "same", run);
    }
    OK(hd_global_sort_finish(op, sort));
    read_all(op, sort, &rows);
    for (int i = 0; i < N_RUNS; i++) {
        int run = 0;
        while (run * 7919 % N_RUNS != i)
            run++;
        OK(hd_str_printf(op, &expected, "0:k%05d=%d ", i, run));
    }
    for (int run = 0; run < N_RUNS; run++)
        OK(hd_str_printf(op, &expected, "1:same=%d ", run));
    assert_string_equal(hd_str_text(&rows), hd_str_text(&expected));
    hd_global_sort_free(op, sort);
    hd_str_clear(&rows);
    hd_str_clear(&expected);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        const int64_t value = 5;
        const struct hd_view column = {
            .type = {.id = HD_TYPE_INT64}, .name = "n", .length = 1, .values = &value};
        struct hd_shared_array *records = NULL;
        struct ArrowArray keys = {0};
        hd_global_sort *sort = NULL;
        uint32_t partition;

        test_fault_arm(op, nth);
        status = hd_global_sort_new(op, &record, true, NULL, &sort);
        for (int run = 0; run < 3 && status == HUDI_OK; run++) {
            status = hd_global_sort_begin_run(op, sort);
            if (status == HUDI_OK)
                status = hd_global_sort_add(op, sort, 0, hd_slice_text("k"), &column, 1, 0);
        }
        if (status == HUDI_OK)
            status = hd_global_sort_finish(op, sort);
        if (status == HUDI_OK)
            status = hd_global_sort_next(op, sort, &partition, &records, &keys);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        hd_shared_array_free(records);
        hd_array_clear(&keys);
        hd_global_sort_free(op, sort);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gives_runs_as_one_order),
        TEST(merges_many_runs_in_passes),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
