/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_testing.h"

static hudi_status build(struct hd_op *op, struct ArrowSchema *out)
{
    const struct hd_type decimal = {.id = HD_TYPE_DECIMAL, .precision = 10, .scale = 2};
    const struct hd_type at = {.id = HD_TYPE_TIMESTAMP, .unit = HD_UNIT_MICRO, .utc = true};
    hudi_status status;

    HD_TRY(hd_schema_init_struct(op, out, "", false, 4));
    HD_TRY_OUT(hd_schema_init_field(op, out->children[0], "price", &decimal, true));
    HD_TRY_OUT(hd_schema_init_list(op, out->children[1], "times", true));
    HD_TRY_OUT(hd_schema_init_field(op, out->children[1]->children[0], "item", &at, false));
    HD_TRY_OUT(hd_schema_init_map(op, out->children[2], "tags", false));
    HD_TRY_OUT(hd_schema_init_field(op, out->children[2]->children[0]->children[1], "value",
                                    &decimal, true));
    HD_TRY_OUT(hd_schema_init_dictionary(op, out->children[3], "file", true));
    return HUDI_OK;
out:
    hd_schema_clear(out);
    return status;
}

static void assert_described(struct hd_op *op, const struct ArrowSchema *field, const char *text)
{
    struct hd_str out = {0};

    OK(hd_type_describe(op, field, &out));
    assert_string_equal(hd_str_text(&out), text);
    hd_str_clear(&out);
}

#define DESCRIPTION                                                                                \
    "struct<price: decimal(10, 2), times: list<item: timestamp[us, UTC]>, "                        \
    "tags: map<string, decimal(10, 2)>, file: dictionary<string>>"

static void builds_nested_schemas_and_copies_them(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema schema, copy;

    OK(build(op, &schema));
    assert_described(op, &schema, DESCRIPTION);
    OK(hd_schema_copy(op, &schema, &copy));
    assert_true(hd_type_equal(&schema, &copy));
    hd_schema_clear(&schema);
    assert_null(schema.release);
    assert_described(op, &copy, DESCRIPTION);
    assert_true(hd_schema_nullable(copy.children[1]));
    assert_false(hd_schema_nullable(copy.children[1]->children[0]));
    assert_false(hd_schema_nullable(copy.children[2]));
    hd_schema_clear(&copy);
}

static void a_child_that_was_moved_out_outlives_its_parent(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema schema;

    OK(build(op, &schema));
    struct ArrowSchema list = *schema.children[1];
    schema.children[1]->release = NULL;
    hd_schema_clear(&schema);
    assert_described(op, &list, "list<item: timestamp[us, UTC]>");
    hd_schema_clear(&list);
}

static void copies_under_another_name_with_metadata(void **state)
{
    /* one pair: "ab" -> "c" */
    static const char METADATA[] = "\1\0\0\0\2\0\0\0ab\1\0\0\0c";
    struct hd_op *op = *state;
    const struct ArrowSchema from = {
        .format = "tsu:Asia/Tokyo", .name = "x", .metadata = METADATA, .flags = 2};
    struct ArrowSchema copy;

    OK(hd_schema_copy_as(op, &from, "y", false, &copy));
    assert_string_equal(copy.name, "y");
    assert_string_equal(copy.format, "tsu:Asia/Tokyo");
    assert_false(hd_schema_nullable(&copy));
    assert_memory_equal(copy.metadata, METADATA, sizeof METADATA - 1);
    hd_schema_clear(&copy);
}

static void selects_columns_in_the_order_asked_for(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema schema, some;
    const int32_t columns[] = {2, 0}, wrong[] = {0, 4};

    OK(build(op, &schema));
    OK(hd_schema_select(op, &schema, columns, 2, &some));
    assert_described(op, &some, "struct<tags: map<string, decimal(10, 2)>, price: decimal(10, 2)>");
    assert_int_equal(hd_schema_find(&some, "price"), 1);
    assert_int_equal(hd_schema_find(&some, "times"), -1);
    hd_schema_clear(&some);
    assert_int_equal(hd_schema_select(op, &schema, wrong, 2, &some), HUDI_INVALID);
    assert_null(some.release);
    hd_schema_clear(&schema);
}

static void survives_every_fault(void **state)
{
    struct hd_op *op = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct ArrowSchema schema, copy = {0};

        test_fault_arm(op, nth);
        status = build(op, &schema);
        if (status == HUDI_OK)
            status = hd_schema_copy(op, &schema, &copy);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_int_equal(status == HUDI_OK, copy.release != NULL);
        hd_schema_clear(&schema);
        hd_schema_clear(&copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(builds_nested_schemas_and_copies_them),
        TEST(a_child_that_was_moved_out_outlives_its_parent),
        TEST(copies_under_another_name_with_metadata),
        TEST(selects_columns_in_the_order_asked_for),
        TEST(survives_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
