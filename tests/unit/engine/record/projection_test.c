/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/projection.h"
#include "record_testing.h"

static hd_projection *make(struct hd_op *op, struct test_schema *target, struct test_schema *file,
                           const char *const *names, enum hd_cast_rule rule)
{
    hd_projection *projection = NULL;

    OK(hd_projection_new(op, &target->root, &file->root, names, rule, &projection));
    return projection;
}

/* Rows of the columns that the projection asks for. */
static struct ArrowArray read_file(struct hd_op *op, const hd_projection *projection,
                                   struct test_schema *file, const char *rows)
{
    struct ArrowSchema wanted;
    struct ArrowArray array;
    int32_t n;
    const int32_t *columns = hd_projection_file_columns(projection, &n);

    OK(hd_schema_select(op, &file->root, columns, n, &wanted));
    array = test_array(op, &wanted, rows);
    hd_schema_clear(&wanted);
    return array;
}

static void columns_are_found_by_name_promoted_and_put_in_order(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema file_fields[] = {FIELD("u", "a"), FIELD("i", "b"), FIELD("u", "unused")};
    struct ArrowSchema target_fields[] = {FIELD("l", "b"), FIELD("u", "new"), FIELD("u", "a")};
    struct test_schema file, target;
    struct ArrowArray out;
    int32_t n;

    test_schema_init(&file, file_fields, 3);
    test_schema_init(&target, target_fields, 3);
    hd_projection *projection = make(op, &target, &file, NULL, HD_CAST_WIDEN);
    const int32_t *columns = hd_projection_file_columns(projection, &n);

    assert_int_equal(n, 2);
    assert_int_equal(columns[0], 1);
    assert_int_equal(columns[1], 0);
    assert_false(hd_projection_is_identity(projection));
    struct ArrowArray batch = read_file(op, projection, &file, "[(1, \"x\"), (null, \"y\")]");

    OK(hd_projection_apply(op, projection, &batch, &out));
    assert_null(batch.release);
    ASSERT_ARRAY(&target.root, &out, "[(1, null, \"x\"), (null, null, \"y\")]");
    hd_array_clear(&out);
    batch = read_file(op, projection, &file, "[(1, \"x\"), (null, \"y\")]");

    struct ArrowSchema wanted;
    OK(hd_schema_select(op, &file.root, columns, n, &wanted));
    batch = test_shifted(op, &wanted, &batch);
    hd_schema_clear(&wanted);
    OK(hd_projection_apply(op, projection, &batch, &out));
    ASSERT_ARRAY(&target.root, &out, "[(1, null, \"x\"), (null, null, \"y\")]");
    hd_array_clear(&out);
    hd_projection_free(projection);
}

static void equal_columns_are_handed_through(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema fields[] = {FIELD("u", "a"), FIELD("i", "b")};
    struct test_schema file, target;
    struct ArrowArray out;

    test_schema_init(&file, fields, 2);
    test_schema_init(&target, fields, 2);
    hd_projection *projection = make(op, &target, &file, NULL, HD_CAST_WIDEN);

    assert_true(hd_projection_is_identity(projection));
    struct ArrowArray batch = test_array(op, &file.root, "[(\"x\", 1)]");
    const void *buffer = batch.children[0]->buffers[2];

    OK(hd_projection_apply(op, projection, &batch, &out));
    assert_ptr_equal(out.children[0]->buffers[2], buffer);
    hd_array_clear(&out);
    hd_projection_free(projection);
}

static void nothing_in_common_reads_nothing_but_rows(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema file_fields[] = {FIELD("u", "a")};
    struct ArrowSchema target_fields[] = {FIELD("u", "b"), FIELD("i", "c")};
    struct test_schema file, target;
    struct ArrowArray out, batch;
    int32_t n;

    test_schema_init(&file, file_fields, 1);
    test_schema_init(&target, target_fields, 2);
    hd_projection *projection = make(op, &target, &file, NULL, HD_CAST_WIDEN);

    hd_projection_file_columns(projection, &n);
    assert_int_equal(n, 0);
    OK(hd_array_struct(op, NULL, 0, 3, &batch));
    OK(hd_projection_apply(op, projection, &batch, &out));
    ASSERT_ARRAY(&target.root, &out, "[(null, null), (null, null), (null, null)]");
    hd_array_clear(&out);
    hd_projection_free(projection);
}

static void names_of_the_file_come_before_those_of_the_target(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema file_fields[] = {FIELD("g", "score"), FIELD("u", "extra")};
    struct ArrowSchema target_fields[] = {FIELD("g", "points"), FIELD("u", "extra")};
    const char *names[] = {"score", NULL};
    struct test_schema file, target;
    struct ArrowArray out;

    test_schema_init(&file, file_fields, 2);
    test_schema_init(&target, target_fields, 2);
    hd_projection *projection = make(op, &target, &file, names, HD_CAST_READ);
    struct ArrowArray batch = read_file(op, projection, &file, "[(0.25)]");

    OK(hd_projection_apply(op, projection, &batch, &out));
    ASSERT_ARRAY(&target.root, &out, "[(0.25, null)]");
    hd_array_clear(&out);
    hd_projection_free(projection);
}

static void a_column_asked_for_twice_is_read_once(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema file_fields[] = {FIELD("i", "a")};
    struct ArrowSchema target_fields[] = {FIELD("i", "a"), FIELD("l", "a")};
    struct test_schema file, target;
    struct ArrowArray out;
    int32_t n;

    test_schema_init(&file, file_fields, 1);
    test_schema_init(&target, target_fields, 2);
    hd_projection *projection = make(op, &target, &file, NULL, HD_CAST_WIDEN);

    hd_projection_file_columns(projection, &n);
    assert_int_equal(n, 1);
    struct ArrowArray batch = test_array(op, &file.root, "[(5)]");

    OK(hd_projection_apply(op, projection, &batch, &out));
    ASSERT_ARRAY(&target.root, &out, "[(5, 5)]");
    hd_array_clear(&out);
    hd_projection_free(projection);
}

static void lossy_types_and_missing_required_columns_are_refused(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema file_fields[] = {FIELD("l", "a")};
    struct ArrowSchema target_fields[] = {FIELD("i", "a")};
    struct test_schema file, target;
    hd_projection *projection;

    test_schema_init(&file, file_fields, 1);
    test_schema_init(&target, target_fields, 1);
    assert_int_equal(
        hd_projection_new(op, &target.root, &file.root, NULL, HD_CAST_WIDEN, &projection),
        HUDI_SCHEMA);
    assert_non_null(strstr(hudi_error_message(op->error), "a"));
    hd_op_clear_error(op);
    target_fields[0] = (struct ArrowSchema){.format = "i", .name = "b"};
    assert_int_equal(
        hd_projection_new(op, &target.root, &file.root, NULL, HD_CAST_WIDEN, &projection),
        HUDI_SCHEMA);
    assert_string_equal(hudi_error_message(op->error), "column \"b\" is required and not there");
    assert_null(projection);
}

static void running_out_of_memory_anywhere_is_reported(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema file_fields[] = {FIELD("u", "a"), FIELD("i", "b")};
    struct ArrowSchema target_fields[] = {FIELD("l", "b"), FIELD("u", "new"), FIELD("u", "a")};
    struct test_schema file, target;
    struct ArrowArray out = {0};
    hudi_status status = HUDI_INTERNAL;

    test_schema_init(&file, file_fields, 2);
    test_schema_init(&target, target_fields, 3);
    struct ArrowSchema read_fields[] = {FIELD("i", "b"), FIELD("u", "a")};
    struct test_schema read;
    test_schema_init(&read, read_fields, 2);
    for (int nth = 1; status != HUDI_OK; nth++) {
        hd_projection *projection = NULL;

        test_fault_disarm(op);
        hd_op_clear_error(op);
        struct ArrowArray batch = test_array(op, &read.root, "[(1, \"x\")]");

        test_fault_arm(op, nth);
        status = hd_projection_new(op, &target.root, &file.root, NULL, HD_CAST_WIDEN, &projection);
        if (status == HUDI_OK) {
            status = hd_projection_apply(op, projection, &batch, &out);
            assert_null(batch.release);
        }
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        assert_int_equal(status == HUDI_OK, out.release != NULL);
        hd_array_clear(&batch);
        hd_projection_free(projection);
    }
    test_fault_disarm(op);
    ASSERT_ARRAY(&target.root, &out, "[(1, null, \"x\")]");
    hd_array_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(columns_are_found_by_name_promoted_and_put_in_order),
        TEST(equal_columns_are_handed_through),
        TEST(nothing_in_common_reads_nothing_but_rows),
        TEST(names_of_the_file_come_before_those_of_the_target),
        TEST(a_column_asked_for_twice_is_read_once),
        TEST(lossy_types_and_missing_required_columns_are_refused),
        TEST(running_out_of_memory_anywhere_is_reported),
    };

    return cmocka_run_group_tests_name("projection", tests, NULL, NULL);
}
