/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/avro.h"
#include "codec/avro_value.h"
#include "format/timeline/restore_plan.h"
#include "format/timeline/rollback_plan.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"
#include "unit/format/timeline/plan_testing.h"

#define GOLDEN_TIMELINE "/.hoodie/timeline/20261130142103332"

static struct hd_str golden_file(struct hd_op *op, const char *suffix)
{
    char *const table = test_golden_unpack("spark-1.1.1-savepoint-restore");
    struct hd_str out = {0};
    hd_file_system *fs;
    char *fs_path, *path;
    uint8_t *bytes;
    size_t n;

    test_must(op, hd_fs_open(op, table, &fs, &fs_path));
    test_must(op, hd_asprintf(op, &path, "%s%s%s", fs_path, GOLDEN_TIMELINE, suffix));
    test_must(op, hd_fs_read_file(op, fs, path, 1 << 20, &bytes, &n));
    test_must(op, hd_str_append(op, &out, bytes, n));
    hd_free(op, bytes);
    hd_free(op, path);
    hd_free(op, fs_path);
    hd_fs_free(fs);
    test_golden_remove(table);
    return out;
}

/* The bytes of a container's one record. */
static struct hd_str record_of(struct hd_op *op, const struct hd_str *file)
{
    struct hd_avro_container container;
    struct hd_cursor records;
    struct hd_str out = {0};
    uint64_t n;

    test_must(op, hd_avro_container_open(op, hd_str_slice(file), &container));
    test_must(op, hd_avro_container_next(op, &container, &records, &n));
    test_must(op, hd_str_append(op, &out, records.at, hd_cursor_left(&records)));
    hd_avro_container_clear(&container);
    return out;
}

static void a_plan_is_written_as_hudi_writes_it(void **state)
{
    struct hd_op *op = *state;
    struct hd_str real = golden_file(op, ".restore.requested"), ours = {0};
    struct hd_restore_plan plan;

    test_must(op, hd_restore_plan_decode(op, hd_str_slice(&real), &plan));
    assert_string_equal(plan.target, "20261130142025868");
    assert_int_equal(plan.n_steps, 2);
    assert_string_equal(plan.steps[0].time, "20261130142049243");
    assert_string_equal(plan.steps[1].action, "commit");
    test_must(op, hd_restore_plan_encode(op, &plan, &ours));
    plan_expect_java_strings(hd_str_slice(&ours));
    struct hd_str wanted = record_of(op, &real), made = record_of(op, &ours);
    assert_int_equal(made.size, wanted.size);
    assert_memory_equal(made.data, wanted.data, wanted.size);
    for (size_t n = 0; n < ours.size; n++) {
        struct hd_restore_plan cut;

        assert_int_equal(hd_restore_plan_decode(op, hd_slice_of(ours.data, n), &cut), HUDI_CORRUPT);
        hd_op_clear_error(op);
    }
    hd_restore_plan_clear(&plan);
    hd_str_clear(&wanted);
    hd_str_clear(&made);
    hd_str_clear(&real);
    hd_str_clear(&ours);
}

/* Hudi's map of rollbacks comes in another order; what is in it is compared. */
static void the_result_holds_each_rollback_by_its_instant(void **state)
{
    struct hd_op *op = *state;
    struct hd_restore_step steps[] = {{"005", "commit"}, {"004", "replacecommit"}};
    const struct hd_restore_plan plan = {.target = "003", .steps = steps, .n_steps = 2};
    const char *files[] = {"/t/p/f_0-1-0_005.parquet"};
    struct hd_rollback_request request = {.partition_path = "p",
                                          .file_id = "",
                                          .latest_base_instant = "",
                                          .files = files,
                                          .n_files = 1};
    const struct hd_rollback_plan rollback = {
        .target_time = "005", .target_action = "commit", .requests = &request, .n_requests = 1};
    struct hd_str rolled_back = {0}, out = {0};
    struct hd_arena arena = {0};
    struct hd_avro_value record;
    const struct hd_avro_value *map;
    struct hd_slice text;

    test_must(op, hd_rollback_metadata_encode(op, &rollback, "007", 3, &rolled_back));
    const struct hd_slice rollbacks[] = {hd_str_slice(&rolled_back), {NULL, 0}};
    test_must(op, hd_restore_metadata_encode(op, &plan, rollbacks, "006", 12, &out));
    plan_expect_java_strings(hd_str_slice(&out));
    test_must(op, hd_avro_read_single(op, &arena, hd_str_slice(&out), &record));
    test_must(op, hd_avro_get_string(op, &record, "startRestoreTime", &text));
    assert_true(hd_slice_equal(text, hd_slice_text("006")));
    test_must(op, hd_avro_find_container(op, &record, "hoodieRestoreMetadata", HD_AVRO_MAP, &map));
    const struct hd_avro_value *const of_005 = hd_avro_value_lookup(map, "005");
    assert_int_equal(of_005->n_items, 1);
    test_must(op, hd_avro_get_string(op, &of_005->items[0], "startRollbackTime", &text));
    assert_true(hd_slice_equal(text, hd_slice_text("007")));
    assert_int_equal(hd_avro_value_lookup(map, "004")->n_items, 0);
    hd_arena_clear(&arena);
    hd_str_clear(&rolled_back);
    hd_str_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plan_is_written_as_hudi_writes_it, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(the_result_holds_each_rollback_by_its_instant,
                                        test_op_setup, test_op_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
