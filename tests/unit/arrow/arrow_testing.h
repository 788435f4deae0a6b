/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_ARROW_TESTING_H
#define TEST_ARROW_TESTING_H

#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/gather.h"
#include "arrow/schema.h"
#include "arrow/view.h"
#include "support/fault.h"

/*
 * Arrays as text, both ways: rows in brackets, `null`, numbers (integers behind dates, times and
 * decimals), `true`, strings and bytes in double quotes, lists in brackets, structs in parentheses
 * by place, maps as lists of pairs: [1, null], [[1], []], [(1, "a"), null], [[("k", 1)]].
 */

/* Fields are literals: nothing to release. */
#define FIELD(format_, name_)                                                                      \
    {                                                                                              \
        .format = (format_), .name = (name_), .flags = ARROW_FLAG_NULLABLE                         \
    }
#define PARENT(format_, name_, children_)                                                          \
    {                                                                                              \
        .format = (format_), .name = (name_), .flags = ARROW_FLAG_NULLABLE,                        \
        .n_children = (int64_t)HD_ARRAY_LENGTH(children_), .children = (children_)                 \
    }

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

#define OK(expression) test_ok(op, (expression), #expression, __LINE__)

static inline void test_ok(struct hd_op *op, hudi_status status, const char *what, int line)
{
    if (status != HUDI_OK)
        print_error("line %d: %s: %s: %s\n", line, what, hudi_status_name(status),
                    op->error == NULL ? "no error" : hudi_error_message(op->error));
    assert_int_equal(status, HUDI_OK);
}

/* ---- text to array --------------------------------------------------------------------------- */

static inline const char *test_skip(const char *at)
{
    while (*at == ' ' || *at == ',')
        at++;
    return at;
}

static inline const char *test_append(struct hd_op *op, hd_builder *b, const char *at);

static inline const char *test_append_children(struct hd_op *op, hd_builder *b, const char *at)
{
    const struct hd_type *type = hd_builder_type(b);

    if (type->id == HD_TYPE_STRUCT) {
        assert_int_equal(*at++, '(');
        for (int64_t i = 0; *(at = test_skip(at)) != ')'; i++)
            at = test_append(op, hd_builder_child(b, i), at);
    } else {
        assert_int_equal(*at++, '[');
        while (*(at = test_skip(at)) != ']') {
            if (type->id == HD_TYPE_LIST) {
                at = test_append(op, hd_builder_child(b, 0), at);
                continue;
            }
            assert_int_equal(*at++, '(');
            at = test_append(op, hd_builder_child(b, 0), test_skip(at));
            at = test_append(op, hd_builder_child(b, 1), test_skip(at));
            assert_int_equal(*at++, ')');
        }
    }
    OK(hd_builder_append_valid(op, b));
    return at + 1;
}

static inline const char *test_append(struct hd_op *op, hd_builder *b, const char *at)
{
    char *end = NULL;

    if (strncmp(at, "null", 4) == 0) {
        OK(hd_builder_append_null(op, b));
        return at + 4;
    }
    switch (hd_builder_type(b)->id) {
    case HD_TYPE_STRUCT:
    case HD_TYPE_LIST:
    case HD_TYPE_MAP:
        return test_append_children(op, b, at);
    case HD_TYPE_STRING:
    case HD_TYPE_BINARY:
    case HD_TYPE_FIXED_BINARY:
        assert_int_equal(*at, '"');
        end = strchr(at + 1, '"');
        OK(hd_builder_append_bytes(op, b, hd_slice_of(at + 1, (size_t)(end - at - 1))));
        return end + 1;
    case HD_TYPE_FLOAT:
    case HD_TYPE_DOUBLE:
        OK(hd_builder_append_double(op, b, strtod(at, &end)));
        return end;
    case HD_TYPE_DECIMAL: {
        const bool negative = *at == '-';
        hd_int128 value = 0;
        for (at += negative; isdigit((unsigned char)*at); at++)
            value = value * 10 + (*at - '0');
        OK(hd_builder_append_decimal(op, b, negative ? -value : value));
        return at;
    }
    case HD_TYPE_BOOL:
        OK(hd_builder_append_integer(op, b, *at == 't'));
        return at + (*at == 't' ? 4 : 5);
    default:
        OK(hd_builder_append_integer(op, b, strtoll(at, &end, 10)));
        assert_ptr_not_equal(end, at);
        return end;
    }
}

static inline struct ArrowArray test_array(struct hd_op *op, const struct ArrowSchema *field,
                                           const char *text)
{
    hd_builder *b;
    struct ArrowArray out;

    OK(hd_builder_new(op, field, &b));
    assert_int_equal(*text++, '[');
    while (*(text = test_skip(text)) != ']')
        text = test_append(op, b, text);
    OK(hd_builder_finish(op, b, &out));
    hd_builder_free(b);
    return out;
}

/* ---- array to text --------------------------------------------------------------------------- */

static inline void test_print_row(struct hd_op *op, const struct hd_view *v, int64_t row,
                                  struct hd_str *out);

static inline void test_print_rows(struct hd_op *op, const struct hd_view *v, int64_t first,
                                   int64_t n, struct hd_str *out)
{
    OK(hd_str_append_char(op, out, '['));
    for (int64_t i = 0; i < n; i++) {
        OK(hd_str_append_text(op, out, i == 0 ? "" : ", "));
        test_print_row(op, v, first + i, out);
    }
    OK(hd_str_append_char(op, out, ']'));
}

static inline void test_print_decimal(struct hd_op *op, hd_int128 value, struct hd_str *out)
{
    char text[48], *at = text + sizeof text;
    hd_uint128 size = value < 0 ? -(hd_uint128)value : (hd_uint128)value;

    *--at = '\0';
    do
        *--at = (char)('0' + (int)(size % 10));
    while ((size /= 10) != 0);
    OK(hd_str_printf(op, out, "%s%s", value < 0 ? "-" : "", at));
}

static inline void test_print_row(struct hd_op *op, const struct hd_view *v, int64_t row,
                                  struct hd_str *out)
{
    int64_t n;

    assert_in_range(row, 0, v->length - 1);
    if (hd_view_is_null(v, row)) {
        OK(hd_str_append_text(op, out, "null"));
        return;
    }
    switch (v->type.id) {
    case HD_TYPE_STRUCT:
        OK(hd_str_append_char(op, out, '('));
        for (int64_t i = 0; i < v->n_children; i++) {
            OK(hd_str_append_text(op, out, i == 0 ? "" : ", "));
            test_print_row(op, &v->children[i], row, out);
        }
        OK(hd_str_append_char(op, out, ')'));
        return;
    case HD_TYPE_LIST:
    case HD_TYPE_MAP: {
        const int64_t first = hd_view_list(v, row, &n);
        test_print_rows(op, &v->children[0], first, n, out);
        return;
    }
    case HD_TYPE_STRING:
    case HD_TYPE_BINARY:
    case HD_TYPE_FIXED_BINARY:
    case HD_TYPE_DICTIONARY: {
        const struct hd_slice bytes = hd_view_bytes(v, row);
        OK(hd_str_printf(op, out, "\"%.*s\"", (int)bytes.size, (const char *)bytes.data));
        return;
    }
    case HD_TYPE_DECIMAL:
        test_print_decimal(op, hd_decimal_load(hd_view_bytes(v, row).data), out);
        return;
    case HD_TYPE_BOOL:
        OK(hd_str_append_text(op, out, hd_view_bool(v, row) ? "true" : "false"));
        return;
    case HD_TYPE_FLOAT:
        OK(hd_str_printf(op, out, "%.9g", (double)hd_view_float(v, row)));
        return;
    case HD_TYPE_DOUBLE:
        OK(hd_str_printf(op, out, "%.17g", hd_view_double(v, row)));
        return;
    default:
        OK(hd_str_printf(op, out, "%" PRId64, hd_view_integer(v, row)));
    }
}

/* The array has these rows, and a null count that is right or unknown. */
#define ASSERT_ARRAY(field, array, text) test_assert_array(op, field, array, text, __LINE__)

static inline void test_assert_array(struct hd_op *op, const struct ArrowSchema *field,
                                     const struct ArrowArray *array, const char *text, int line)
{
    struct hd_arena arena = {0};
    struct hd_view view;
    struct hd_str out = {0};
    int64_t n_nulls = 0;

    OK(hd_view_open(op, &arena, field, array, &view));
    OK(hd_view_validate(op, &view));
    test_print_rows(op, &view, 0, view.length, &out);
    if (strcmp(hd_str_text(&out), text) != 0)
        print_error("line %d: %s\n", line, hd_str_text(&out));
    assert_string_equal(hd_str_text(&out), text);
    for (int64_t i = 0; i < view.length; i++)
        n_nulls += hd_view_is_null(&view, i);
    if (array->null_count != -1)
        assert_int_equal(array->null_count, n_nulls);
    hd_str_clear(&out);
    hd_arena_clear(&arena);
}

/* ---- offsets everywhere ---------------------------------------------------------------------- */

/*
 * The same rows with three rows before and two behind them that the array's offset and length leave
 * out, in the array and in every child below it. Takes `array` over.
 */
static inline struct ArrowArray test_shifted(struct hd_op *op, const struct ArrowSchema *field,
                                             struct ArrowArray *array)
{
    const struct hd_run runs[] = {
        {HD_RUN_NULLS, 0, 3}, {0, 0, (uint32_t)array->length}, {HD_RUN_NULLS, 0, 2}};
    const struct ArrowArray *sources[] = {array};
    struct ArrowArray wide, out;
    const int64_t length = array->length;

    OK(hd_gather(op, field, sources, 1, runs, 3, &wide));
    hd_array_clear(array);
    for (int64_t i = 0; i < field->n_children; i++) {
        struct ArrowArray child = test_shifted(op, field->children[i], wide.children[i]);
        hd_array_move(&child, wide.children[i]);
    }
    OK(hd_array_slice(op, &wide, 3, length, &out));
    return out;
}

#endif
