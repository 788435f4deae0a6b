/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/engine/rows_testing.h"

#include "engine/slice/log_floats.h"

static void floats_are_widened_where_doubles_are_wanted(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema file, wanted, expected;
    bool changed = false;

    test_schema(op,
                "a float\nb float\nc struct<x:float,y:float>\nd array<struct<z:float>>\n"
                "e map<string,float>\n",
                &file);
    test_schema(op,
                "b double\na float\nc struct<y:double,x:float,w:double>\n"
                "d array<struct<z:double>>\ne map<string,double>\n",
                &wanted);
    test_schema(op,
                "a float\nb double\nc struct<x:float,y:double>\nd array<struct<z:double>>\n"
                "e map<string,double>\n",
                &expected);
    struct ArrowSchema understood;
    test_must(op, hd_schema_copy(op, &file, &understood));
    test_must(op, hd_log_widen_floats(op, &file, &understood, &wanted, &changed));
    assert_true(changed);
    assert_true(hd_type_equal(&file, &expected));
    hd_schema_clear(&understood);

    changed = false;
    test_must(op, hd_schema_copy(op, &file, &understood));
    test_must(op, hd_log_widen_floats(op, &file, &understood, &wanted, &changed));
    assert_false(changed);
    assert_true(hd_type_equal(&file, &expected));
    hd_schema_clear(&understood);
    hd_schema_clear(&file);
    hd_schema_clear(&wanted);
    hd_schema_clear(&expected);
}

/* The field has another name in the table: its place says which one it is. */
static void renamed_fields_are_found_by_their_place(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema file, understood, wanted, expected;
    bool changed = false;

    test_schema(op, "c struct<x:float,y:float>\n", &file);
    test_schema(op, "c struct<y:float,new_y:float>\n", &understood);
    test_schema(op, "c struct<y:float,new_y:double>\n", &wanted);
    test_schema(op, "c struct<x:float,y:double>\n", &expected);
    test_must(op, hd_log_widen_floats(op, &file, &understood, &wanted, &changed));
    assert_true(changed);
    assert_true(hd_type_equal(&file, &expected));
    hd_schema_clear(&file);
    hd_schema_clear(&understood);
    hd_schema_clear(&wanted);
    hd_schema_clear(&expected);
}

static void records_are_rewritten_where_something_became_a_string(void **state)
{
    static const struct {
        const char *file, *table;
        bool rewritten;
    } CELLS[] = {
        {"a int\n", "a bigint\n", false},
        {"a int\n", "a string\n", true},
        {"a int\n", "b string\n", false},
        {"a float\n", "a double\n", false},
        {"a binary\n", "a string\n", true},
        {"a string\n", "a binary\n", false},
        {"a string\n", "a string\n", false},
        {"a date\n", "a string\n", true},
        {"a boolean\nb date\n", "a boolean\nb date\nc string\n", false},
        {"a struct<x:int,y:double>\n", "a struct<y:string>\n", true},
        {"a struct<x:int,y:string>\n", "a struct<y:string,x:bigint>\n", false},
        {"a array<bigint>\n", "a array<string>\n", true},
        {"a map<string,int>\n", "a map<string,string>\n", true},
        {"a map<string,int>\n", "a map<string,bigint>\n", false},
    };
    struct hd_op *op = *state;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(CELLS); i++) {
        struct ArrowSchema file, table;

        test_schema(op, CELLS[i].file, &file);
        test_schema(op, CELLS[i].table, &table);
        assert_int_equal(hd_log_is_rewritten(&file, &table), CELLS[i].rewritten);
        hd_schema_clear(&file);
        hd_schema_clear(&table);
    }
}

static void every_fault_is_passed_up(void **state)
{
    struct hd_op *op = *state;
    struct ArrowSchema file, understood, wanted;
    hudi_status status = HUDI_INTERNAL;

    test_schema(op, "c struct<x:float,y:float>\nd float\n", &understood);
    test_schema(op, "c struct<x:double,y:double>\nd double\n", &wanted);
    for (int nth = 1; status != HUDI_OK; nth++) {
        bool changed = false;

        test_must(op, hd_schema_copy(op, &understood, &file));
        test_fault_arm(op, nth);
        status = hd_log_widen_floats(op, &file, &understood, &wanted, &changed);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        hd_schema_clear(&file);
    }
    hd_schema_clear(&understood);
    hd_schema_clear(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_widened_where_doubles_are_wanted),
        cmocka_unit_test(renamed_fields_are_found_by_their_place),
        cmocka_unit_test(records_are_rewritten_where_something_became_a_string),
        cmocka_unit_test(every_fault_is_passed_up),
    };

    return cmocka_run_group_tests(tests, test_op_setup, test_op_teardown);
}
