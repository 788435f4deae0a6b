/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/record/key_range.h"
#include "service/layout_key.h"
#include "support/fault.h"
#include "support/table.h"

/* A view of `n` numbers, of which the first is null. */
static struct hd_view view_of(enum hd_type_id id, const void *values, int64_t n)
{
    static const uint8_t NOT_THE_FIRST[16] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                              0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

    return (struct hd_view){
        .type = {.id = id}, .length = n, .values = values, .validity = NOT_THE_FIRST};
}

/* Keys of rows that are in order are, too. */
static void expect_ascending(struct hd_op *op, const struct hd_view *columns, size_t n)
{
    struct hd_str last = {0}, next = {0};

    for (int64_t i = 0; i < columns->length; i++) {
        next.size = 0;
        test_must(op, hd_layout_key(op, HD_LAYOUT_LINEAR, columns, n, i, &next));
        if (i > 0)
            assert_true(hd_key_compare(hd_str_slice(&last), hd_str_slice(&next)) < 0);
        const struct hd_str swap = last;
        last = next;
        next = swap;
    }
    hd_str_clear(&last);
    hd_str_clear(&next);
}

static void linear_keys_are_in_the_order_of_values(void **state)
{
    static const int64_t LONGS[] = {0, INT64_MIN, -256, -1, 0, 1, 255, 256, INT64_MAX};
    static const int32_t INTS[] = {0, INT32_MIN, -1, 0, 1, INT32_MAX};
    static const double DOUBLES[] = {0, -INFINITY, -1e300, -1.5, 0.0, 5e-324, 1.5, INFINITY, NAN};
    struct hd_view view = view_of(HD_TYPE_INT64, LONGS, HD_ARRAY_LENGTH(LONGS));

    expect_ascending(*state, &view, 1);
    view = view_of(HD_TYPE_INT32, INTS, HD_ARRAY_LENGTH(INTS));
    expect_ascending(*state, &view, 1);
    view = view_of(HD_TYPE_DOUBLE, DOUBLES, HD_ARRAY_LENGTH(DOUBLES));
    expect_ascending(*state, &view, 1);
}

static void texts_are_in_the_order_of_their_bytes(void **state)
{
    static const char TEXT[] = "\0"
                               "a"
                               "a\0"
                               "a\0b"
                               "aa"
                               "b"
                               "\xc3\xa9"
                               "\xef\xbc\xa1"
                               "\xf0\x90\x80\x80";
    static const int32_t OFFSETS[] = {0, 0, 1, 2, 4, 7, 9, 10, 12, 15, 19};
    static const int64_t SECOND[] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    struct hd_view columns[2] = {view_of(HD_TYPE_STRING, OFFSETS, 10),
                                 view_of(HD_TYPE_INT64, SECOND, 10)};

    columns[0].data = (const uint8_t *)TEXT;
    expect_ascending(*state, columns, 1);
    expect_ascending(*state, columns, 2); /* the first column decides */
}

#define SIDE 8 /* of a square of cells, in the highest bits of both columns */

struct cell {
    struct hd_str key;
    int x, y;
};

static int compare_cells(const void *a, const void *b)
{
    return hd_key_compare(hd_str_slice(&((const struct cell *)a)->key),
                          hd_str_slice(&((const struct cell *)b)->key));
}

/* All cells in the order of a curve. */
static void sort_cells(struct hd_op *op, enum hd_layout layout, struct cell cells[SIDE * SIDE])
{
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int64_t x = (int64_t)(((uint64_t)(i / SIDE) << 61) ^ (UINT64_C(1) << 63));
        const int64_t y = (int64_t)(((uint64_t)(i % SIDE) << 61) ^ (UINT64_C(1) << 63));
        const struct hd_view columns[2] = {
            {.type = {.id = HD_TYPE_INT64}, .length = 1, .values = &x},
            {.type = {.id = HD_TYPE_INT64}, .length = 1, .values = &y}};

        cells[i] = (struct cell){.x = i / SIDE, .y = i % SIDE};
        test_must(op, hd_layout_key(op, layout, columns, 2, 0, &cells[i].key));
    }
    qsort(cells, SIDE * SIDE, sizeof *cells, compare_cells);
}

static void clear_cells(struct cell cells[SIDE * SIDE])
{
    for (int i = 0; i < SIDE * SIDE; i++)
        hd_str_clear(&cells[i].key);
}

static void neighbours_on_the_hilbert_curve_are_neighbours(void **state)
{
    struct cell cells[SIDE * SIDE];

    sort_cells(*state, HD_LAYOUT_HILBERT, cells);
    for (int i = 1; i < SIDE * SIDE; i++)
        assert_int_equal(abs(cells[i].x - cells[i - 1].x) + abs(cells[i].y - cells[i - 1].y), 1);
    clear_cells(cells);
}

static void z_order_goes_through_squares(void **state)
{
    struct cell cells[SIDE * SIDE];

    sort_cells(*state, HD_LAYOUT_Z_ORDER, cells);
    for (int i = 0; i < SIDE * SIDE; i++) {
        int x = 0, y = 0;

        for (int bit = 0; bit < 3; bit++) {
            y |= (i >> (2 * bit) & 1) << bit;
            x |= (i >> (2 * bit + 1) & 1) << bit;
        }
        assert_int_equal(cells[i].x, x);
        assert_int_equal(cells[i].y, y);
    }
    clear_cells(cells);
}

static void layouts_have_names(void **state)
{
    enum hd_layout layout;

    (void)state;
    assert_true(hd_layout_parse("Z-Order", &layout) && layout == HD_LAYOUT_Z_ORDER);
    assert_true(hd_layout_parse(NULL, &layout) && layout == HD_LAYOUT_LINEAR);
    assert_false(hd_layout_parse("peano", &layout));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(linear_keys_are_in_the_order_of_values),
        TEST(texts_are_in_the_order_of_their_bytes),
        TEST(neighbours_on_the_hilbert_curve_are_neighbours),
        TEST(z_order_goes_through_squares),
        TEST(layouts_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
