/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <string.h>

#include "format/log/log_block.h"
#include "format/log/log_writer.h"
#include "support/fault.h"
#include "support/table.h"

/* A log file group, and the names that were announced for it. */
struct scene {
    struct test_table table;
    struct hd_log_target target;
    char announced[512];
    bool early; /* a file was there before it was announced */
};

static hudi_status note_name(struct hd_op *op, void *self, const char *file_name)
{
    struct scene *scene = self;
    char path[128];

    (void)op;
    snprintf(path, sizeof path, "p/%s", file_name);
    scene->early |= test_table_has(&scene->table, path);
    strcat(strcat(scene->announced, file_name), " ");
    return HUDI_OK;
}

static void open_scene(struct hd_op *op, struct scene *scene, const char *name)
{
    *scene = (struct scene){0};
    test_table_open(op, &scene->table, name, 6, "p");
    test_table_put(&scene->table, "p/.hoodie_partition_metadata", "");
    scene->target = (struct hd_log_target){.fs = scene->table.fs,
                                           .table_path = scene->table.path,
                                           .partition_path = "p",
                                           .file_id = "f-0",
                                           .instant = "001",
                                           .writer = "20240101000000001",
                                           .write_token = "1-2-3",
                                           .first_version = 2,
                                           .max_bytes = 1000,
                                           .announce = note_name,
                                           .self = scene};
}

static void append(struct hd_op *op, hd_log_writer *writer, const char *bytes,
                   struct hd_log_append *out)
{
    const size_t half = strlen(bytes) / 2;
    const struct hd_slice parts[] = {hd_slice_of(bytes, half), hd_slice_text(bytes + half)};

    test_must(op, hd_log_writer_append(op, writer, parts, HD_ARRAY_LENGTH(parts), out));
}

static void expect_file(struct scene *scene, const char *file, const char *wanted)
{
    struct hd_op *op = scene->table.op;
    uint8_t *bytes;
    char *path;
    size_t n;

    test_must(op, hd_path_join(op, scene->table.path, file, &path));
    test_must(op, hd_fs_read_file(op, scene->table.fs, path, 10000, &bytes, &n));
    assert_string_equal((const char *)bytes, wanted);
    hd_free(op, bytes);
    hd_free(op, path);
}

static size_t count_files(struct scene *scene)
{
    struct hd_op *op = scene->table.op;
    struct hd_arena arena = {0};
    struct hd_file_info *files;
    char *path;
    size_t n;

    test_must(op, hd_path_join(op, scene->table.path, "p", &path));
    test_must(op, hd_fs_list(op, scene->table.fs, path, &arena, &files, &n));
    hd_arena_clear(&arena);
    hd_free(op, path);
    return n - 1; /* the metafile */
}

static void groups_of_blocks_go_to_one_file_until_it_is_full(void **state)
{
    struct hd_op *op = *state;
    struct scene scene;
    struct hd_log_append first, second, third;
    hd_log_writer *writer;

    open_scene(op, &scene, "log_writer1");
    scene.target.max_bytes = 9;
    test_must(op, hd_log_writer_open(op, &scene.target, &writer));
    append(op, writer, "aaaaa", &first);
    append(op, writer, "bbbbb", &second); /* past the limit */
    append(op, writer, "c", &third);
    assert_string_equal(first.file_name, ".f-0_001.log.2_1-2-3");
    assert_string_equal(first.path, "p/.f-0_001.log.2_1-2-3");
    assert_int_equal(first.version, 2);
    assert_int_equal(first.offset, 0);
    assert_int_equal(first.size_bytes, 5);
    assert_string_equal(second.path, "p/.f-0_001.log.2_1-2-3");
    assert_int_equal(second.offset, 5);
    assert_int_equal(second.size_bytes, 5);
    assert_string_equal(third.path, "p/.f-0_001.log.3_1-2-3");
    assert_int_equal(third.version, 3);
    assert_int_equal(third.offset, 0);
    test_must(op, hd_log_writer_close(op, writer));
    expect_file(&scene, "p/.f-0_001.log.2_1-2-3", "aaaaabbbbb");
    expect_file(&scene, "p/.f-0_001.log.3_1-2-3", "c");
    assert_int_equal(count_files(&scene), 2);
    assert_string_equal(scene.announced, ".f-0_001.log.2_1-2-3 .f-0_001.log.3_1-2-3 ");
    assert_false(scene.early);
    test_table_close(&scene.table);
}

static void a_file_has_its_name_only_once_it_is_whole(void **state)
{
    struct hd_op *op = *state;
    struct scene scene;
    struct hd_log_append at;
    hd_log_writer *writer;

    open_scene(op, &scene, "log_writer2");
    test_must(op, hd_log_writer_open(op, &scene.target, &writer));
    assert_int_equal(count_files(&scene), 0); /* nothing before the first group */
    append(op, writer, "aaaaa", &at);
    assert_false(test_table_has(&scene.table, at.path));
    assert_int_equal(count_files(&scene), 1); /* the temporary one */
    test_must(op, hd_log_writer_close(op, writer));
    assert_true(test_table_has(&scene.table, "p/.f-0_001.log.2_1-2-3"));
    assert_int_equal(count_files(&scene), 1);
    test_table_close(&scene.table);
}

static void a_version_that_is_taken_is_passed_over(void **state)
{
    struct hd_op *op = *state;
    struct scene scene;
    struct hd_log_append at;
    hd_log_writer *writer;

    open_scene(op, &scene, "log_writer3");
    test_table_put(&scene.table, "p/.f-0_001.log.2_1-2-3", "old");
    test_must(op, hd_log_writer_open(op, &scene.target, &writer));
    append(op, writer, "aaaaa", &at);
    assert_int_equal(at.version, 3);
    test_must(op, hd_log_writer_close(op, writer));
    expect_file(&scene, "p/.f-0_001.log.2_1-2-3", "old");
    expect_file(&scene, "p/.f-0_001.log.3_1-2-3", "aaaaa");
    assert_string_equal(scene.announced, ".f-0_001.log.3_1-2-3 ");
    test_table_close(&scene.table);
}

static void a_name_that_is_taken_meanwhile_is_a_conflict_and_stays(void **state)
{
    struct hd_op *op = *state;
    struct scene scene;
    struct hd_log_append at;
    hd_log_writer *writer;

    open_scene(op, &scene, "log_writer4");
    test_must(op, hd_log_writer_open(op, &scene.target, &writer));
    append(op, writer, "aaaaa", &at);
    test_table_put(&scene.table, "p/.f-0_001.log.2_1-2-3", "theirs");
    assert_int_equal(hd_log_writer_close(op, writer), HUDI_CONFLICT);
    assert_non_null(op->error);
    hd_op_clear_error(op);
    expect_file(&scene, "p/.f-0_001.log.2_1-2-3", "theirs");
    assert_int_equal(count_files(&scene), 1);
    test_table_close(&scene.table);
}

static void an_aborted_writer_leaves_the_files_it_filled(void **state)
{
    struct hd_op *op = *state;
    struct scene scene;
    struct hd_log_append at;
    hd_log_writer *writer;

    open_scene(op, &scene, "log_writer5");
    scene.target.max_bytes = 2;
    test_must(op, hd_log_writer_open(op, &scene.target, &writer));
    append(op, writer, "aaaaa", &at);
    scene.target.max_bytes = 1000;
    append(op, writer, "b", &at);
    hd_log_writer_abort(op, writer);
    hd_log_writer_abort(op, NULL);
    expect_file(&scene, "p/.f-0_001.log.2_1-2-3", "aaaaa");
    assert_int_equal(count_files(&scene), 1);
    test_table_close(&scene.table);
}

static hudi_status write_two(struct hd_op *op, const struct scene *scene)
{
    const struct hd_slice part = hd_slice_text("aaaaa");
    struct hd_log_append at;
    hd_log_writer *writer;

    HD_TRY(hd_log_writer_open(op, &scene->target, &writer));
    for (int i = 0; i < 2; i++) {
        const hudi_status status = hd_log_writer_append(op, writer, &part, 1, &at);

        if (status != HUDI_OK) {
            hd_log_writer_abort(op, writer);
            return status;
        }
    }
    return hd_log_writer_close(op, writer);
}

/* ---- written on ----------------------------------------------------------------------------- */

#define LAST ".f-0_001.log.1_9-9-9"

static void put_bytes(struct scene *scene, const char *file, struct hd_slice bytes)
{
    struct hd_op *op = scene->table.op;
    char *path;

    test_must(op, hd_path_join(op, scene->table.path, file, &path));
    test_must(op, hd_fs_replace(op, scene->table.fs, path, bytes.data, bytes.size));
    hd_free(op, path);
}

/* What is in a file, to be cleared. */
static struct hd_str get_bytes(struct scene *scene, const char *file)
{
    struct hd_op *op = scene->table.op;
    struct hd_str out = {0};
    uint8_t *bytes;
    char *path;
    size_t n;

    test_must(op, hd_path_join(op, scene->table.path, file, &path));
    test_must(op, hd_fs_read_file(op, scene->table.fs, path, 10000, &bytes, &n));
    test_must(op, hd_str_append(op, &out, bytes, n));
    hd_free(op, bytes);
    hd_free(op, path);
    return out;
}

static void make_block(struct hd_op *op, struct hd_str *out)
{
    const struct hd_log_header_entry header = {HD_LOG_INSTANT_TIME, hd_slice_text("001")};
    const struct hd_slice content = hd_slice_text("content");

    test_must(op, hd_log_block_encode(op, HD_LOG_DELETE, &header, 1, &content, 1, out));
}

static void groups_go_behind_what_the_newest_file_has(void **state)
{
    struct hd_op *op = *state;
    struct scene scene;
    struct hd_str block = {0};
    struct hd_log_append first, second, third;
    hd_log_writer *writer;

    make_block(op, &block);
    const size_t n = block.size;
    open_scene(op, &scene, "log_writer7");
    put_bytes(&scene, "p/" LAST, hd_str_slice(&block));
    scene.target.last_file = LAST;
    scene.target.max_bytes = n + 9;
    test_must(op, hd_log_writer_open(op, &scene.target, &writer));
    append(op, writer, "aaaaa", &first);
    append(op, writer, "bbbbb", &second); /* past the limit */
    append(op, writer, "c", &third);
    assert_string_equal(first.file_name, LAST);
    assert_string_equal(first.path, "p/" LAST);
    assert_int_equal(first.version, 1);
    assert_int_equal(first.offset, n);
    assert_int_equal(first.size_bytes, 5);
    assert_string_equal(second.path, "p/" LAST);
    assert_int_equal(second.offset, n + 5);
    assert_string_equal(third.path, "p/.f-0_001.log.2_1-2-3");
    assert_int_equal(third.offset, 0);
    test_must(op, hd_log_writer_close(op, writer));
    test_must(op, hd_str_append_text(op, &block, "aaaaabbbbb"));
    struct hd_str bytes = get_bytes(&scene, "p/" LAST);
    assert_true(hd_slice_equal(hd_str_slice(&bytes), hd_str_slice(&block)));
    expect_file(&scene, "p/.f-0_001.log.2_1-2-3", "c");
    assert_string_equal(scene.announced, LAST " .f-0_001.log.2_1-2-3 ");
    hd_str_clear(&bytes);
    hd_str_clear(&block);
    test_table_close(&scene.table);
}

/* The newest file has these bytes: a group goes to a new one, and it stays as it is. */
static void expect_left_alone(struct hd_op *op, struct hd_slice bytes, uint64_t max_bytes)
{
    struct scene scene;
    struct hd_log_append at;
    hd_log_writer *writer;

    open_scene(op, &scene, "log_writer8");
    if (bytes.data != NULL)
        put_bytes(&scene, "p/" LAST, bytes);
    scene.target.last_file = LAST;
    scene.target.max_bytes = max_bytes;
    test_must(op, hd_log_writer_open(op, &scene.target, &writer));
    append(op, writer, "aaaaa", &at);
    assert_string_equal(at.path, "p/.f-0_001.log.2_1-2-3");
    assert_int_equal(at.offset, 0);
    test_must(op, hd_log_writer_close(op, writer));
    assert_string_equal(scene.announced, ".f-0_001.log.2_1-2-3 ");
    if (bytes.data != NULL) {
        struct hd_str now = get_bytes(&scene, "p/" LAST);

        assert_true(hd_slice_equal(hd_str_slice(&now), bytes));
        hd_str_clear(&now);
    }
    test_table_close(&scene.table);
}

static void nothing_goes_behind_a_torn_block_or_into_a_full_file(void **state)
{
    struct hd_op *op = *state;
    struct hd_str blocks = {0};

    make_block(op, &blocks);
    const size_t one = blocks.size;
    make_block(op, &blocks);
    for (size_t n = 1; n < blocks.size; n++) {
        if (n != one)
            expect_left_alone(op, hd_slice_of(blocks.data, n), 100000);
    }
    expect_left_alone(op, hd_str_slice(&blocks), blocks.size - 1);
    expect_left_alone(op, hd_slice_of(NULL, 0), 100000);   /* it was cleaned */
    test_must(op, hd_str_append_text(op, &blocks, "#HU")); /* less than a magic: the end */
    expect_left_alone(op, hd_str_slice(&blocks), 100000);
    hd_str_clear(&blocks);
}

static void a_file_that_is_written_on_is_cut_back_on_failure(void **state)
{
    struct hd_op *op = *state;
    struct scene scene;
    struct hd_str block = {0};
    hudi_status status = HUDI_INTERNAL;

    make_block(op, &block);
    open_scene(op, &scene, "log_writer9");
    scene.target.announce = NULL;
    scene.target.last_file = LAST;
    for (int nth = 1; status != HUDI_OK; nth++) {
        put_bytes(&scene, "p/" LAST, hd_str_slice(&block));
        test_fault_arm(op, nth);
        status = write_two(op, &scene);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        struct hd_str now = get_bytes(&scene, "p/" LAST);
        assert_int_equal(now.size, block.size + (status == HUDI_OK ? 10 : 0));
        assert_memory_equal(now.data, block.data, block.size);
        hd_str_clear(&now);
        assert_false(test_table_has(&scene.table, "p/.f-0_001.log.2_1-2-3"));
    }
    hd_str_clear(&block);
    test_table_close(&scene.table);
}

static void a_frame_is_what_an_encoded_block_has_around_its_content(void **state)
{
    struct hd_op *op = *state;
    const struct hd_log_header_entry header = {HD_LOG_INSTANT_TIME, hd_slice_text("001")};
    const struct hd_slice content = hd_slice_text("content");
    struct hd_str whole = {0}, head = {0}, tail = {0};

    test_must(op, hd_log_block_encode(op, HD_LOG_DELETE, &header, 1, &content, 1, &whole));
    test_must(op, hd_log_block_frame(op, HD_LOG_DELETE, &header, 1, content.size, &head, &tail));
    test_must(op, hd_str_append(op, &head, content.data, content.size));
    test_must(op, hd_str_append(op, &head, tail.data, tail.size));
    assert_true(hd_slice_equal(hd_str_slice(&head), hd_str_slice(&whole)));
    head.size = 0;
    assert_int_equal(
        hd_log_block_frame(op, HD_LOG_DELETE, &header, 1, UINT64_C(1) << 31, &head, &tail),
        HUDI_INVALID);
    hd_op_clear_error(op);
    hd_str_clear(&whole);
    hd_str_clear(&head);
    hd_str_clear(&tail);
}

static void no_fault_leaves_a_torn_file(void **state)
{
    struct hd_op *op = *state;
    struct scene scene;
    hudi_status status = HUDI_INTERNAL;

    open_scene(op, &scene, "log_writer6");
    scene.target.announce = NULL;
    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(op, nth);
        status = write_two(op, &scene);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        if (test_table_has(&scene.table, "p/.f-0_001.log.2_1-2-3")) {
            expect_file(&scene, "p/.f-0_001.log.2_1-2-3", "aaaaaaaaaa");
            test_table_remove(&scene.table, "p/.f-0_001.log.2_1-2-3");
        }
    }
    test_table_close(&scene.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(groups_of_blocks_go_to_one_file_until_it_is_full,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(a_file_has_its_name_only_once_it_is_whole, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(a_version_that_is_taken_is_passed_over, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(a_name_that_is_taken_meanwhile_is_a_conflict_and_stays,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(an_aborted_writer_leaves_the_files_it_filled, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(a_frame_is_what_an_encoded_block_has_around_its_content,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(groups_go_behind_what_the_newest_file_has, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(nothing_goes_behind_a_torn_block_or_into_a_full_file,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_written_on_is_cut_back_on_failure,
                                        test_op_setup, test_op_teardown),
        cmocka_unit_test_setup_teardown(no_fault_leaves_a_torn_file, test_op_setup,
                                        test_op_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
