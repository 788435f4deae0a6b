/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/row_codec.h"

#include "unit/arrow/arrow_testing.h"

/* A column of every type, and lists, maps and structs within each other. */
static struct ArrowSchema item = FIELD("l", "item");
static struct ArrowSchema *items[] = {&item};
static struct ArrowSchema inner_list = PARENT("+l", "item", items);
static struct ArrowSchema *inner_lists[] = {&inner_list};
static struct ArrowSchema map_fields[] = {FIELD("u", "key"), PARENT("+l", "value", items)};
static struct ArrowSchema *map_children[] = {&map_fields[0], &map_fields[1]};
static struct ArrowSchema entries = PARENT("+s", "entries", map_children);
static struct ArrowSchema *map_entries[] = {&entries};
static struct ArrowSchema struct_fields[] = {FIELD("i", "x"), FIELD("u", "y"),
                                             PARENT("+m", "z", map_entries)};
static struct ArrowSchema *struct_children[] = {&struct_fields[0], &struct_fields[1],
                                                &struct_fields[2]};
static struct ArrowSchema fields[] = {FIELD("b", "bool"),
                                      FIELD("i", "int"),
                                      FIELD("l", "long"),
                                      FIELD("f", "float"),
                                      FIELD("g", "double"),
                                      FIELD("u", "string"),
                                      FIELD("z", "binary"),
                                      FIELD("w:3", "fixed"),
                                      FIELD("d:38,4", "decimal"),
                                      FIELD("tdD", "date"),
                                      FIELD("ttm", "time_ms"),
                                      FIELD("ttu", "time_us"),
                                      FIELD("tsu:UTC", "timestamp"),
                                      FIELD("n", "null"),
                                      PARENT("+l", "lists", inner_lists),
                                      PARENT("+m", "map", map_entries),
                                      PARENT("+s", "struct", struct_children)};
#define N_FIELDS 17
static struct ArrowSchema *children[N_FIELDS];
static struct ArrowSchema schema = {
    .format = "+s", .name = "", .n_children = N_FIELDS, .children = children};

#define ROW_1                                                                                      \
    "(true, -2147483648, 9223372036854775807, 1.5, -2.25, \"text\", \"\", \"abc\", "               \
    "-170141183460469231731687303715884105727, -719162, 86399999, 86399999999, -1, null, "         \
    "[[1, null], null, []], [(\"k\", [7]), (\"l\", null)], (5, \"y\", [(\"m\", [])]))"
#define ROW_2                                                                                      \
    "(null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, "  \
    "null, null)"
#define ROW_3                                                                                      \
    "(false, 0, 0, 0, 0, \"\", \"b\", \"\x01\x02\x03\", 0, 0, 0, 0, 0, null, [], [], (null, "      \
    "null, null))"
#define ROWS "[" ROW_1 ", " ROW_2 ", " ROW_3 "]"

struct rows {
    struct ArrowArray array;
    struct hd_arena arena;
    struct hd_view view;
};

static struct rows open_rows(struct hd_op *op, const struct ArrowSchema *root,
                             struct ArrowArray array)
{
    struct rows out = {.array = array};

    OK(hd_view_open(op, &out.arena, root, &out.array, &out.view));
    return out;
}

static void close_rows(struct rows *rows)
{
    hd_arena_clear(&rows->arena);
    hd_array_clear(&rows->array);
}

static struct hd_str encode(struct hd_op *op, const struct rows *rows, int64_t row)
{
    struct hd_str out = {0};

    OK(hd_row_encode(op, rows->view.children, rows->view.n_children, row, &out));
    return out;
}

static void set_up_schema(void)
{
    for (int i = 0; i < N_FIELDS; i++)
        children[i] = &fields[i];
}

/* ---- what it gives back --------------------------------------------------------------------- */

static void check_round_trip(struct hd_op *op, struct ArrowArray array)
{
    struct rows rows = open_rows(op, &schema, array);
    struct hd_str bytes = {0};
    struct ArrowArray back;
    hd_builder *b;

    for (int64_t i = 0; i < rows.view.length; i++)
        OK(hd_row_encode(op, rows.view.children, N_FIELDS, i, &bytes));
    struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 0);
    OK(hd_builder_new(op, &schema, &b));
    for (int64_t i = 0; i < rows.view.length; i++)
        OK(hd_row_decode(op, &schema, &in, b));
    assert_int_equal(hd_cursor_left(&in), 0);
    OK(hd_builder_finish(op, b, &back));
    ASSERT_ARRAY(&schema, &back, ROWS);
    hd_array_clear(&back);
    hd_builder_free(b);
    hd_str_clear(&bytes);
    close_rows(&rows);
}

static void every_type_comes_back(void **state)
{
    struct hd_op *op = *state;

    check_round_trip(op, test_array(op, &schema, ROWS));
}

static void rows_of_a_slice_are_those_of_the_slice(void **state)
{
    struct hd_op *op = *state;
    struct ArrowArray array = test_array(op, &schema, ROWS);

    check_round_trip(op, test_shifted(op, &schema, &array));
}

static void nan_and_negative_zero_keep_their_bits(void **state)
{
    struct hd_op *op = *state;
    static struct ArrowSchema two[] = {FIELD("f", "f"), FIELD("g", "g")};
    static struct ArrowSchema *pair[] = {&two[0], &two[1]};
    static struct ArrowSchema root = PARENT("+s", "", pair);
    static const uint32_t BITS_32[] = {0x7fc00001, 0x80000000};
    static const uint64_t BITS_64[] = {0xfff8000000000123, 0x8000000000000000};
    hd_builder *b, *back;
    struct ArrowArray array, again;

    OK(hd_builder_new(op, &root, &b));
    for (int i = 0; i < 2; i++) {
        float f;
        double g;
        memcpy(&f, &BITS_32[i], sizeof f);
        memcpy(&g, &BITS_64[i], sizeof g);
        OK(hd_builder_append_double(op, hd_builder_child(b, 0), (double)f));
        OK(hd_builder_append_double(op, hd_builder_child(b, 1), g));
        OK(hd_builder_append_valid(op, b));
    }
    OK(hd_builder_finish(op, b, &array));
    hd_builder_free(b);
    struct rows rows = open_rows(op, &root, array);
    OK(hd_builder_new(op, &root, &back));
    for (int64_t i = 0; i < 2; i++) {
        struct hd_str bytes = encode(op, &rows, i);
        struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 0);
        OK(hd_row_decode(op, &root, &in, back));
        hd_str_clear(&bytes);
    }
    OK(hd_builder_finish(op, back, &again));
    assert_memory_equal(again.children[0]->buffers[1], BITS_32, sizeof BITS_32);
    assert_memory_equal(again.children[1]->buffers[1], BITS_64, sizeof BITS_64);
    hd_builder_free(back);
    hd_array_clear(&again);
    close_rows(&rows);
}

static void the_bytes_are_those_of_the_header(void **state)
{
    struct hd_op *op = *state;
    static struct ArrowSchema five[] = {FIELD("i", "i"), FIELD("u", "s"), FIELD("b", "b"),
                                        PARENT("+l", "l", items), PARENT("+m", "m", map_entries)};
    static struct ArrowSchema *columns[] = {&five[0], &five[1], &five[2], &five[3], &five[4]};
    static struct ArrowSchema root = PARENT("+s", "", columns);
    struct rows rows = open_rows(op, &root,
                                 test_array(op, &root,
                                            "[(258, \"ab\", null, [null, 1], [(\"k\", null)]), "
                                            "(null, null, true, null, null)]"));
    static const uint8_t FIRST[] = {0x1b,               /* all but column 2 */
                                    2,    1,    0,   0, /* 258 */
                                    2,    'a',  'b',    /* */
                                    2,    0x02,         /* two items, the second there */
                                    1,    0,    0,   0,  0, 0, 0, 0, /* */
                                    1,    0x00, 1,   'k'};           /* one entry without a value */
    static const uint8_t SECOND[] = {0x04, 1};
    struct hd_str first = encode(op, &rows, 0), second = encode(op, &rows, 1);

    assert_int_equal(first.size, sizeof FIRST);
    assert_memory_equal(first.data, FIRST, sizeof FIRST);
    assert_int_equal(second.size, sizeof SECOND);
    assert_memory_equal(second.data, SECOND, sizeof SECOND);
    hd_str_clear(&first);
    hd_str_clear(&second);
    close_rows(&rows);
}

static void a_dictionary_is_written_as_its_strings(void **state)
{
    struct hd_op *op = *state;
    struct hd_arena arena = {0};
    struct ArrowSchema field;
    struct ArrowArray array;
    struct hd_view view;
    struct hd_str bytes = {0};

    OK(hd_schema_init_dictionary(op, &field, "d", true));
    OK(hd_array_constant_dictionary(op, hd_slice_text("word"), 3, &array));
    OK(hd_view_open(op, &arena, &field, &array, &view));
    OK(hd_row_encode(op, &view, 1, 2, &bytes));
    assert_int_equal(bytes.size, 6);
    assert_memory_equal(bytes.data, "\x01\x04word", 6);
    hd_str_clear(&bytes);
    hd_array_clear(&array);
    hd_schema_clear(&field);
    hd_arena_clear(&arena);
}

/* ---- what it refuses ------------------------------------------------------------------------ */

static void a_null_key_of_a_map_is_refused(void **state)
{
    struct hd_op *op = *state;
    static struct ArrowSchema one = PARENT("+m", "m", map_entries);
    static struct ArrowSchema *columns[] = {&one};
    static struct ArrowSchema root = PARENT("+s", "", columns);
    struct rows rows = open_rows(op, &root, test_array(op, &root, "[([(null, [1])])]"));
    struct hd_str bytes = {0};

    OK(hd_str_append_text(op, &bytes, "before"));
    assert_int_equal(hd_row_encode(op, rows.view.children, 1, 0, &bytes), HUDI_INVALID);
    assert_string_equal(hd_str_text(&bytes), "before");
    hd_str_clear(&bytes);
    close_rows(&rows);
}

static hudi_status decode_alone(struct hd_op *op, const void *bytes, size_t n, hd_builder *b)
{
    uint8_t *const copy = malloc(n + 1); /* so that the sanitizer sees the end */
    struct hd_cursor in = hd_cursor_over(memcpy(copy, bytes, n), n, 0);
    const int64_t before = hd_builder_length(b);
    const hudi_status status = hd_row_decode(op, &schema, &in, b);

    assert_int_equal(hd_builder_length(b), before + (status == HUDI_OK));
    for (int64_t i = 0; i < N_FIELDS; i++)
        assert_int_equal(hd_builder_length(hd_builder_child(b, i)), before + (status == HUDI_OK));
    hd_op_clear_error(op);
    free(copy);
    return status;
}

static void every_cut_is_corrupt(void **state)
{
    struct hd_op *op = *state;
    struct rows rows = open_rows(op, &schema, test_array(op, &schema, ROWS));
    hd_builder *b;

    OK(hd_builder_new(op, &schema, &b));
    for (int64_t row = 0; row < 3; row++) {
        struct hd_str bytes = encode(op, &rows, row);
        for (size_t n = 0; n < bytes.size; n++)
            assert_int_equal(decode_alone(op, bytes.data, n, b), HUDI_CORRUPT);
        assert_int_equal(decode_alone(op, bytes.data, bytes.size, b), HUDI_OK);
        hd_str_clear(&bytes);
    }
    struct ArrowArray back;
    OK(hd_builder_finish(op, b, &back));
    ASSERT_ARRAY(&schema, &back, ROWS);
    hd_array_clear(&back);
    hd_builder_free(b);
    close_rows(&rows);
}

static void every_changed_byte_gives_a_row_or_is_corrupt(void **state)
{
    struct hd_op *op = *state;
    struct rows rows = open_rows(op, &schema, test_array(op, &schema, ROWS));
    struct hd_str bytes = encode(op, &rows, 0);
    struct ArrowArray back;
    struct hd_arena arena = {0};
    struct hd_view view;
    int n_corrupt = 0;
    hd_builder *b;

    OK(hd_builder_new(op, &schema, &b));
    for (size_t i = 0; i < bytes.size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes.data[i] = (char)(bytes.data[i] ^ 1 << bit);
            const hudi_status status = decode_alone(op, bytes.data, bytes.size, b);
            assert_true(status == HUDI_OK || status == HUDI_CORRUPT);
            n_corrupt += status == HUDI_CORRUPT;
            bytes.data[i] = (char)(bytes.data[i] ^ 1 << bit);
        }
    }
    assert_true(n_corrupt > 50);
    OK(hd_builder_finish(op, b, &back));
    OK(hd_view_open(op, &arena, &schema, &back, &view));
    OK(hd_view_validate(op, &view));
    hd_array_clear(&back);
    hd_arena_clear(&arena);
    hd_builder_free(b);
    hd_str_clear(&bytes);
    close_rows(&rows);
}

static void counts_beyond_the_bytes_allocate_nothing(void **state)
{
    struct hd_op *op = *state;
    /* Column 14, a list, of 2^62 items; then a string of 2^63 bytes in column 5. */
    static const uint8_t LIST[] = {0,    0x40, 0,    0x80, 0x80, 0x80, 0x80,
                                   0x80, 0x80, 0x80, 0x80, 0x40, 0xff};
    static const uint8_t STRING[] = {0x20, 0,    0,    0x80, 0x80, 0x80, 0x80,
                                     0x80, 0x80, 0x80, 0x80, 0x80, 1};
    static const uint8_t TWO[] = {1, 0, 0, 2};      /* a bool */
    static const uint8_t NOTHING[] = {0, 0x20, 0};  /* a value of the null column */
    static const uint8_t EIGHTEEN[] = {0, 0, 0x02}; /* an 18th column */
    hd_builder *b;

    OK(hd_builder_new(op, &schema, &b));
    const uint64_t before = hd_builder_bytes(b);
    assert_int_equal(decode_alone(op, LIST, sizeof LIST, b), HUDI_CORRUPT);
    assert_int_equal(decode_alone(op, STRING, sizeof STRING, b), HUDI_CORRUPT);
    assert_int_equal(decode_alone(op, TWO, sizeof TWO, b), HUDI_CORRUPT);
    assert_int_equal(decode_alone(op, NOTHING, sizeof NOTHING, b), HUDI_CORRUPT);
    assert_int_equal(decode_alone(op, EIGHTEEN, sizeof EIGHTEEN, b), HUDI_CORRUPT);
    assert_true(hd_builder_bytes(b) - before < 100000);
    hd_builder_free(b);
}

static void every_fault_leaves_all_as_it_was(void **state)
{
    struct hd_op *op = *state;
    struct rows rows = open_rows(op, &schema, test_array(op, &schema, ROWS));
    hudi_status status = HUDI_INTERNAL;
    struct hd_str bytes = {0};
    hd_builder *b;

    for (int nth = 1; status != HUDI_OK; nth++) {
        hd_str_clear(&bytes);
        test_fault_arm(op, nth);
        status = hd_row_encode(op, rows.view.children, N_FIELDS, 0, &bytes);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_true(status == HUDI_OK || bytes.size == 0);
    }
    test_fault_disarm(op);
    status = HUDI_INTERNAL;
    for (int nth = 1; status != HUDI_OK; nth++) {
        OK(hd_builder_new(op, &schema, &b));
        struct hd_cursor in = hd_cursor_over(bytes.data, bytes.size, 0);
        test_fault_arm(op, nth);
        status = hd_row_decode(op, &schema, &in, b);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_int_equal(hd_builder_length(b), status == HUDI_OK);
        test_fault_disarm(op);
        hd_op_clear_error(op);
        hd_builder_free(b);
    }
    hd_str_clear(&bytes);
    close_rows(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_type_comes_back),
        TEST(rows_of_a_slice_are_those_of_the_slice),
        TEST(nan_and_negative_zero_keep_their_bits),
        TEST(the_bytes_are_those_of_the_header),
        TEST(a_dictionary_is_written_as_its_strings),
        TEST(a_null_key_of_a_map_is_refused),
        TEST(every_cut_is_corrupt),
        TEST(every_changed_byte_gives_a_row_or_is_corrupt),
        TEST(counts_beyond_the_bytes_allocate_nothing),
        TEST(every_fault_leaves_all_as_it_was),
    };

    set_up_schema();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
