/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow/cast.h"
#include "arrow_testing.h"

/*
 * Layouts that only foreign arrays have. The arrays are loans: buffers on the stack, release() only
 * marks. Each has one row before and one behind those that count.
 */

static void release_loan(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    }
    if (array->dictionary != NULL && array->dictionary->release != NULL)
        array->dictionary->release(array->dictionary);
    array->release = NULL;
}

/* Rows 1, 2, 3 of 5; row 2 of the whole is null. */
static const uint8_t VALIDITY[] = {0x1b};

static struct ArrowArray loan(const void **buffers, int64_t n_buffers)
{
    return (struct ArrowArray){.length = 3,
                               .null_count = -1,
                               .offset = 1,
                               .n_buffers = n_buffers,
                               .buffers = buffers,
                               .release = release_loan};
}

static void assert_canonical(struct hd_op *op, const struct ArrowSchema *field,
                             const struct ArrowArray *array, const char *type, const char *rows)
{
    struct ArrowArray taken = *array, out;
    struct ArrowSchema schema;
    struct hd_str text = {0};

    OK(hd_canonical_schema(op, field, &schema));
    OK(hd_type_describe(op, &schema, &text));
    assert_string_equal(hd_str_text(&text), type);
    hd_str_clear(&text);
    OK(hd_cast(op, field, &taken, &schema, HD_CAST_CANONICAL, &out));
    ASSERT_ARRAY(&schema, &out, rows);
    hd_array_clear(&out);
    hd_schema_clear(&schema);
}

static void assert_invalid(struct hd_op *op, const struct ArrowSchema *field,
                           const struct ArrowArray *array, const char *message)
{
    struct ArrowArray taken = *array, out;
    struct ArrowSchema schema;

    OK(hd_canonical_schema(op, field, &schema));
    assert_int_equal(hd_cast(op, field, &taken, &schema, HD_CAST_CANONICAL, &out), HUDI_INVALID);
    assert_string_equal(hudi_error_message(op->error), message);
    assert_null(out.release);
    hd_op_clear_error(op);
    hd_schema_clear(&schema);
}

static void widens_small_numbers(void **state)
{
    static const int8_t C[] = {0, -128, 0, 127, 0};
    static const uint8_t CU[] = {0, 255, 0, 127, 0};
    static const int16_t S[] = {0, -32768, 0, 5, 0};
    static const uint16_t SU[] = {0, 65535, 0, 5, 0};
    static const uint32_t IU[] = {0, 4294967295, 0, 5, 0};
    static const uint16_t E[] = {0, 0x3e00, 0, 0x8001, 0}; /* 1.5, -2^-24 */
    static const int64_t DATE[] = {0, -1, 0, 86400000, 0};
    static const int32_t TIME[] = {0, 86399, 0, 1, 0};
    static const int64_t SECONDS[] = {0, -1, INT64_MAX, 5, 0};
    static const int32_t D32[] = {0, -12345, 0, 5, 0};
    static const int64_t D64[] = {0, -12345, 0, 5, 0};
    static const int64_t D256[] = {0, 0, 0, 0, -5, -1, -1, -1, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0};
    static const struct {
        const char *format;
        const void *values;
        const char *type, *rows;
    } CASES[] = {
        {"c", C, "int32", "[-128, null, 127]"},
        {"C", CU, "int32", "[255, null, 127]"},
        {"s", S, "int32", "[-32768, null, 5]"},
        {"S", SU, "int32", "[65535, null, 5]"},
        {"I", IU, "int64", "[4294967295, null, 5]"},
        {"e", E, "float", "[1.5, null, -5.96046448e-08]"},
        {"tdm", DATE, "date32[day]", "[-1, null, 1]"},
        {"tts", TIME, "time32[ms]", "[86399000, null, 1000]"},
        {"tss:UTC", SECONDS, "timestamp[ms, UTC]", "[-1000, null, 5000]"},
        {"d:5,2,32", D32, "decimal(5, 2)", "[-12345, null, 5]"},
        {"d:5,2,64", D64, "decimal(5, 2)", "[-12345, null, 5]"},
        {"d:38,2,256", D256, "decimal(38, 2)", "[-5, null, 7]"},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        const struct ArrowSchema field = FIELD(CASES[i].format, "a");
        const void *buffers[] = {VALIDITY, CASES[i].values};
        const struct ArrowArray array = loan(buffers, 2);

        assert_canonical(op, &field, &array, CASES[i].type, CASES[i].rows);
    }
}

static void refuses_numbers_past_the_canonical_type(void **state)
{
    static const int32_t TIME[] = {0, 2147484, 0, 0};
    static const int64_t SECONDS[] = {0, INT64_MAX, 0, 0}, DATE[] = {0, INT64_MAX, 0, 0};
    static const int32_t D32[] = {0, 100000, 0, 0};
    struct hd_op *op = *state;
    const struct ArrowSchema tts = FIELD("tts", "a"), tss = FIELD("tss:", "a");
    const struct ArrowSchema tdm = FIELD("tdm", "a"), d32 = FIELD("d:5,2,32", "a");
    const void *buffers[] = {NULL, TIME};
    const struct ArrowArray array = loan(buffers, 2);

    assert_invalid(op, &tts, &array, "column \"a\" row 0: 2147484 is out of range");
    buffers[1] = SECONDS;
    assert_invalid(op, &tss, &array, "column \"a\" row 0: 9223372036854775807 is out of range");
    buffers[1] = DATE;
    assert_invalid(op, &tdm, &array, "column \"a\" row 0: 9223372036854775807 is out of range");
    buffers[1] = D32;
    assert_invalid(op, &d32, &array, "column \"a\" row 0: has more than 5 digits");
}

static void tells_rows_past_the_canonical_type(void **state)
{
    static const int32_t TIME[] = {0, 2147484, 5, 2147483};
    static const int32_t D32[] = {0, 100000, -5, 99999};
    struct hd_op *op = *state;
    const struct ArrowSchema fields[] = {FIELD("tts", "a"), FIELD("d:5,2,32", "a")};
    static const char *const REASONS[] = {"column \"a\": 2147484 is out of range",
                                          "column \"a\": has more than 5 digits"};

    for (int i = 0; i < 2; i++) {
        const void *buffers[] = {NULL, i == 0 ? TIME : D32};
        struct ArrowArray array = loan(buffers, 2), out;
        struct ArrowSchema schema;
        struct hd_misfits misfits = {0};

        OK(hd_canonical_schema(op, &fields[i], &schema));
        OK(hd_cast_rows(op, &fields[i], &array, &schema, HD_CAST_CANONICAL, &misfits, &out));
        ASSERT_ARRAY(&schema, &out, i == 0 ? "[0, 5000, 2147483000]" : "[0, -5, 99999]");
        assert_int_equal(misfits.n, 1);
        assert_int_equal(misfits.list[0].row, 0);
        assert_string_equal(misfits.list[0].reason, REASONS[i]);
        hd_misfits_clear(op, &misfits);
        hd_array_clear(&out);
        hd_schema_clear(&schema);
    }
}

static void shortens_large_strings(void **state)
{
    struct hd_op *op = *state;
    int64_t offsets[] = {7, 8, 10, 10, 13, 14};
    const void *buffers[] = {VALIDITY, offsets, "-------?ab123?"};
    const struct ArrowArray array = loan(buffers, 3);
    const struct ArrowSchema text = FIELD("U", "a"), bytes = FIELD("Z", "a");

    assert_canonical(op, &text, &array, "string", "[\"ab\", null, \"123\"]");
    assert_canonical(op, &bytes, &array, "binary", "[\"ab\", null, \"123\"]");
    offsets[2] = 11;
    assert_invalid(op, &text, &array, "column \"a\" has offsets that fall");
    offsets[2] = 10;
    offsets[4] = INT64_C(1) << 40;
    assert_invalid(op, &text, &array, "column \"a\" 3 rows hold more than 2 GiB");
}

struct string_view {
    int32_t size;
    union {
        char in_place[12];
        struct {
            char prefix[4];
            int32_t buffer, offset;
        } far;
    };
};

static void copies_string_views(void **state)
{
    struct hd_op *op = *state;
    struct string_view views[] = {
        {.size = -1},
        {.size = 12, .in_place = "in the view!"},
        {.size = 99999, .far = {"", 9, 9}},       /* null */
        {.size = 12, .in_place = "twelve bytes"}, /* the most that lies in place */
        {.size = -1},
    };
    int64_t sizes[] = {3, 15};
    const void *buffers[] = {VALIDITY, views, "abc", "..elsewhere 013", sizes};
    const struct ArrowArray array = loan(buffers, 5);
    const struct ArrowSchema text = FIELD("vu", "a"), bytes = FIELD("vz", "a");

    assert_canonical(op, &text, &array, "string", "[\"in the view!\", null, \"twelve bytes\"]");
    views[3] = (struct string_view){.size = 13, .far = {"else", 1, 2}};
    assert_canonical(op, &bytes, &array, "binary", "[\"in the view!\", null, \"elsewhere 013\"]");
    sizes[1] = 14;
    assert_invalid(op, &text, &array, "column \"a\" row 2 is outside its buffers");
    sizes[1] = 15;
    views[3].far.buffer = 2;
    assert_invalid(op, &text, &array, "column \"a\" row 2 is outside its buffers");
    views[3].far.buffer = -1;
    assert_invalid(op, &text, &array, "column \"a\" row 2 is outside its buffers");
    views[3].far.buffer = 1;
    views[3].far.offset = -1;
    assert_invalid(op, &text, &array, "column \"a\" row 2 is outside its buffers");
}

static void decodes_dictionaries_of_any_index_width(void **state)
{
    static const int8_t C[] = {9, 1, -1, 0, 9};
    static const uint8_t CU[] = {9, 1, 255, 0, 9};
    static const int16_t S[] = {9, 1, -1, 0, 9};
    static const int32_t I[] = {9, 1, -1, 0, 9};
    static const int64_t L[] = {9, 1, -1, 0, 9};
    static const struct {
        const char *format;
        const void *indices;
    } CASES[] = {{"c", C}, {"C", CU}, {"s", S}, {"S", S}, {"i", I}, {"I", I}, {"l", L}, {"L", L}};
    static const int64_t OFFSETS[] = {0, 2, 3};
    struct hd_op *op = *state;
    const void *words_buffers[] = {NULL, OFFSETS, "xxy"};
    struct ArrowArray words = {
        .length = 2, .n_buffers = 3, .buffers = words_buffers, .release = release_loan};
    struct ArrowSchema values = FIELD("U", "");

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct ArrowSchema field = FIELD(CASES[i].format, "a");
        const void *buffers[] = {VALIDITY, CASES[i].indices};
        struct ArrowArray array = loan(buffers, 2), dictionary = words;

        field.dictionary = &values;
        array.dictionary = &dictionary;
        assert_canonical(op, &field, &array, "string", "[\"y\", null, \"xx\"]");
        dictionary = words;
        dictionary.length = 1;
        assert_invalid(op, &field, &array, "column \"a\" row 0 has the index 1 of 1 values");
    }
}

/* Whether an entry converts matters only for entries that a row names. */
static void converts_only_the_values_that_rows_name(void **state)
{
    static const int32_t OFFSETS[] = {0, 2, 5}, INDICES[] = {1, 0, 1, 0, 1};
    struct hd_op *op = *state;
    const void *words_buffers[] = {NULL, OFFSETS, "42bad"}, *buffers[] = {VALIDITY, INDICES};
    struct ArrowArray words = {
        .length = 2, .n_buffers = 3, .buffers = words_buffers, .release = release_loan};
    struct ArrowArray array = loan(buffers, 2), out;
    struct ArrowSchema values = FIELD("u", ""), field = FIELD("i", "a");
    const struct ArrowSchema to = FIELD("i", "a");

    field.dictionary = &values;
    array.dictionary = &words;
    OK(hd_cast(op, &field, &array, &to, HD_CAST_INPUT, &out));
    ASSERT_ARRAY(&to, &out, "[42, null, 42]");
    hd_array_clear(&out);
}

static void turns_other_lists_into_lists(void **state)
{
    static const int8_t ITEMS[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int64_t LARGE[] = {0, 2, 4, 6, 6, 8};
    static const int32_t STARTS[] = {0, 6, 99, 1, 0}, SIZES[] = {1, 2, 99, 3, 1};
    static const int64_t LARGE_STARTS[] = {0, 6, 99, 1, 0}, LARGE_SIZES[] = {1, 2, 99, 3, 1};
    struct hd_op *op = *state;
    const void *item_buffers[] = {NULL, ITEMS};
    const struct ArrowArray items = {
        .length = 10, .n_buffers = 2, .buffers = item_buffers, .release = release_loan};
    struct ArrowSchema item = FIELD("c", "item");
    struct ArrowSchema *of_list[] = {&item};
    const struct {
        const char *format;
        const void *buffers[3];
        int64_t n_buffers;
        const char *rows;
    } cases[] = {
        {"+L", {VALIDITY, LARGE}, 2, "[[2, 3], null, []]"},
        {"+w:2", {VALIDITY}, 1, "[[2, 3], null, [6, 7]]"},
        {"+vl", {VALIDITY, STARTS, SIZES}, 3, "[[6, 7], null, [1, 2, 3]]"},
        {"+vL", {VALIDITY, LARGE_STARTS, LARGE_SIZES}, 3, "[[6, 7], null, [1, 2, 3]]"},
    };

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        const struct ArrowSchema list = PARENT(cases[i].format, "a", of_list);
        const void *buffers[3];
        struct ArrowArray child = items, *children[] = {&child};

        memcpy(buffers, cases[i].buffers, sizeof buffers);
        struct ArrowArray array = loan(buffers, cases[i].n_buffers);
        array.n_children = 1;
        array.children = children;
        assert_canonical(op, &list, &array, "list<item: int32>", cases[i].rows);
        child = items;
        child.length = 3;
        assert_invalid(op, &list, &array, "column \"a\" row 0 is outside its child");
    }
}

static void refuses_types_without_a_canonical_form(void **state)
{
    static const struct {
        const char *format, *message;
    } CASES[] = {
        {"L", "column \"a\" is of the type uint64"},
        {"tDs", "column \"a\" is of the type duration[s]"},
        {"tin", "column \"a\" is of the type month_day_nano_interval"},
        {"d:39,2,256", "column \"a\" is of the type decimal(39, 2)"},
        {"d:10,-2", "column \"a\" is of the type decimal(10, -2)"},
        {"+ud:", "column \"a\" is of the type union<>"},
    };
    struct hd_op *op = *state;
    struct ArrowSchema out;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct ArrowSchema field = FIELD(CASES[i].format, "a");

        assert_int_equal(hd_canonical_schema(op, &field, &out), HUDI_NOT_IMPLEMENTED);
        assert_string_equal(hudi_error_message(op->error), CASES[i].message);
        assert_null(out.release);
        hd_op_clear_error(op);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(widens_small_numbers),
        TEST(refuses_numbers_past_the_canonical_type),
        TEST(tells_rows_past_the_canonical_type),
        TEST(shortens_large_strings),
        TEST(copies_string_views),
        TEST(decodes_dictionaries_of_any_index_width),
        TEST(converts_only_the_values_that_rows_name),
        TEST(turns_other_lists_into_lists),
        TEST(refuses_types_without_a_canonical_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
