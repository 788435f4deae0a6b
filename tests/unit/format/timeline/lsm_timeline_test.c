/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* The archive of a real table of version 8, whole and damaged. */
#include <stdlib.h>
#include <string.h>

#include "format/timeline/archived_timeline.h"
#include "support/fault.h"
#include "support/golden.h"
#include "support/table.h"

#define TABLE "spark-1.0.2-archived-cow"
#define FOLDER ".hoodie/timeline/history"
#define NEWEST FOLDER "/manifest_4"
#define FIRST_FILE FOLDER "/20261130144043799_20261130144047237_0.parquet"

struct scene {
    struct hd_op *op;
    struct test_table table;
};

static hudi_status load(struct scene *scene, const char *from, const char *to,
                        struct hd_archived_timeline *out)
{
    return hd_archived_timeline_load(scene->op, scene->table.fs, scene->table.path,
                                     &scene->table.config, from, to, out);
}

static void put(struct scene *scene, const char *file, const void *bytes, size_t n)
{
    char *path;

    test_must(scene->op, hd_path_join(scene->op, scene->table.path, file, &path));
    test_must(scene->op, hd_fs_replace(scene->op, scene->table.fs, path, bytes, n));
    hd_free(scene->op, path);
}

static void get(struct scene *scene, const char *file, uint8_t **bytes, size_t *n)
{
    char *path;

    test_must(scene->op, hd_path_join(scene->op, scene->table.path, file, &path));
    test_must(scene->op, hd_fs_read_file(scene->op, scene->table.fs, path, 1 << 20, bytes, n));
    hd_free(scene->op, path);
}

static void open_scene(struct hd_op *op, struct scene *scene)
{
    hd_file_system *disk;
    char *unpacked = test_golden_unpack(TABLE), *disk_path, *folder;
    struct hd_arena arena = {0};
    struct hd_file_info *infos;
    size_t n_infos;

    scene->op = op;
    test_table_open(op, &scene->table, "lsm", 8, "p");
    scene->table.config.archive_folder = FOLDER;
    test_must(op, hd_fs_open(op, unpacked, &disk, &disk_path));
    test_must(op, hd_path_join(op, disk_path, FOLDER, &folder));
    test_must(op, hd_fs_list(op, disk, folder, &arena, &infos, &n_infos));
    assert_int_equal(n_infos, 4 + 3 + 1); /* files, manifests, _version_ */
    for (size_t i = 0; i < n_infos; i++) {
        char *path, *to;
        uint8_t *bytes;
        size_t n;

        test_must(op, hd_path_join(op, folder, infos[i].name, &path));
        test_must(op, hd_fs_read_file(op, disk, path, 1 << 20, &bytes, &n));
        test_must(op, hd_path_join(op, FOLDER, infos[i].name, &to));
        test_table_put(&scene->table, to, "");
        put(scene, to, bytes, n);
        hd_free(op, to);
        hd_free(op, path);
        hd_free(op, bytes);
    }
    hd_arena_clear(&arena);
    hd_free(op, folder);
    hd_free(op, disk_path);
    hd_fs_free(disk);
    test_golden_remove(unpacked);
}

static void close_scene(struct scene *scene)
{
    test_table_close(&scene->table);
}

static void expect_instants(struct scene *scene, size_t n)
{
    struct hd_archived_timeline archive;

    test_must(scene->op, load(scene, NULL, NULL, &archive));
    assert_int_equal(archive.n_instants, n);
    hd_archived_timeline_clear(&archive);
}

static void expect_failure(struct scene *scene, hudi_status status, const char *words)
{
    struct hd_archived_timeline archive;

    assert_int_equal(load(scene, NULL, NULL, &archive), status);
    assert_int_equal(archive.n_instants, 0);
    assert_non_null(strstr(hudi_error_message(scene->op->error), words));
    hd_op_clear_error(scene->op);
}

/* ---- tests -------------------------------------------------------------------------------- */

static void instants_have_their_completion_times_and_commits(void **state)
{
    static const struct {
        const char *time, *completion, *action;
    } FIRST[] = {{"20261130144043799", "20261130144046731", "commit"},
                 {"20261130144047237", "20261130144051368", "commit"},
                 {"20261130144052016", "20261130144055333", "commit"},
                 {"20261130144056460", "20261130144100640", "commit"},
                 {"20261130144100924", "20261130144102409", "clean"}};
    struct scene scene;
    struct hd_archived_timeline archive;

    open_scene(*state, &scene);
    test_must(*state, load(&scene, NULL, NULL, &archive));
    assert_int_equal(archive.n_instants, 12);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(FIRST); i++) {
        const struct hd_archived_instant *const instant = &archive.instants[i];

        assert_string_equal(instant->time, FIRST[i].time);
        assert_string_equal(instant->completion_time, FIRST[i].completion);
        assert_string_equal(instant->action, FIRST[i].action);
        assert_int_equal(instant->state, HD_COMPLETED);
        assert_int_equal(instant->has_commit, strcmp(FIRST[i].action, "commit") == 0);
        if (instant->has_commit) {
            assert_int_equal(instant->commit.n_stats, 2);
            assert_string_equal(instant->commit.operation_type, "UPSERT");
        }
    }
    hd_archived_timeline_clear(&archive);
    close_scene(&scene);
}

static void content_is_read_for_the_times_that_are_wanted(void **state)
{
    static const struct {
        const char *from, *to;
        size_t n_commits;
    } CASES[] = {{NULL, NULL, 8},
                 {NULL, "", 0},
                 {"20261130144047237", NULL, 6},
                 {NULL, "20261130144047237", 2},
                 {"20261130144043799", "20261130144052016", 2},
                 {"9", NULL, 0}};
    struct scene scene;

    open_scene(*state, &scene);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(CASES); i++) {
        struct hd_archived_timeline archive;
        size_t n = 0;

        test_must(*state, load(&scene, CASES[i].from, CASES[i].to, &archive));
        assert_int_equal(archive.n_instants, 12);
        for (size_t k = 0; k < archive.n_instants; k++)
            n += archive.instants[k].has_commit;
        assert_int_equal(n, CASES[i].n_commits);
        hd_archived_timeline_clear(&archive);
    }
    close_scene(&scene);
}

static void the_newest_manifest_counts_where_no_version_is_said(void **state)
{
    struct scene scene;

    open_scene(*state, &scene);
    put(&scene, FOLDER "/_version_", "3", 1);
    expect_instants(&scene, 8);
    put(&scene, FOLDER "/_version_", "x", 1);
    expect_instants(&scene, 12);
    test_table_remove(&scene.table, FOLDER "/_version_");
    expect_instants(&scene, 12);
    put(&scene, FOLDER "/manifest_5.tmp", "x", 1);
    expect_instants(&scene, 12);
    test_table_remove(&scene.table, NEWEST);
    expect_instants(&scene, 8);
    test_table_remove(&scene.table, FOLDER "/manifest_3");
    test_table_remove(&scene.table, FOLDER "/manifest_2");
    expect_instants(&scene, 0);
    close_scene(&scene);
}

static void what_is_gone_or_damaged_is_an_error(void **state)
{
    static const char *const MANIFESTS[] = {"",
                                            "{}",
                                            "{\"files\":1}",
                                            "{\"files\":[{}]}",
                                            "{\"files\":[{\"fileName\":\"../x\"}]}",
                                            "{\"files\":[{\"fileName\":\"\"}]}"};
    struct scene scene;
    uint8_t *bytes;
    size_t n;

    open_scene(*state, &scene);
    get(&scene, NEWEST, &bytes, &n);
    for (size_t i = 0; i < HD_ARRAY_LENGTH(MANIFESTS); i++) {
        put(&scene, NEWEST, MANIFESTS[i], strlen(MANIFESTS[i]));
        expect_failure(&scene, HUDI_CORRUPT, "");
    }
    put(&scene, NEWEST, bytes, n);
    hd_free(scene.op, bytes);
    get(&scene, FIRST_FILE, &bytes, &n);
    test_table_remove(&scene.table, FIRST_FILE);
    expect_failure(&scene, HUDI_NOT_FOUND, "20261130144043799_20261130144047237_0.parquet");
    put(&scene, FIRST_FILE, "PAR1", 4);
    expect_failure(&scene, HUDI_CORRUPT, "");
    put(&scene, FIRST_FILE, bytes, n);
    expect_instants(&scene, 12);
    put(&scene, FOLDER "/_version_", "9", 1);
    expect_failure(&scene, HUDI_NOT_FOUND, "manifest_9");
    hd_free(scene.op, bytes);
    close_scene(&scene);
}

/* Never a crash, and never instants that are not in the table. */
static void every_cut_and_many_flips_of_a_file_are_survived(void **state)
{
    struct scene scene;
    struct hd_archived_timeline archive;
    uint8_t *bytes;
    size_t n;

    open_scene(*state, &scene);
    get(&scene, FIRST_FILE, &bytes, &n);
    for (size_t i = 0; i < n; i += 5) {
        put(&scene, FIRST_FILE, bytes, i);
        expect_failure(&scene, HUDI_CORRUPT, "");
    }
    for (size_t i = 0; i < n; i += 7) {
        bytes[i] ^= (uint8_t)(1 << (i % 8));
        put(&scene, FIRST_FILE, bytes, n);
        bytes[i] ^= (uint8_t)(1 << (i % 8));
        if (load(&scene, NULL, NULL, &archive) != HUDI_OK)
            hd_op_clear_error(scene.op);
        else
            assert_true(archive.n_instants <= 12);
        hd_archived_timeline_clear(&archive);
    }
    hd_free(scene.op, bytes);
    close_scene(&scene);
}

static void every_fault_is_passed_up(void **state)
{
    struct hd_op *op = *state;
    struct scene scene;
    hudi_status status = HUDI_INTERNAL;

    open_scene(op, &scene);
    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_archived_timeline archive;

        test_fault_arm(op, nth);
        status = load(&scene, NULL, NULL, &archive);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(op));
        test_fault_disarm(op);
        hd_archived_timeline_clear(&archive);
    }
    close_scene(&scene);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_op_setup, test_op_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(instants_have_their_completion_times_and_commits),
        TEST(content_is_read_for_the_times_that_are_wanted),
        TEST(the_newest_manifest_counts_where_no_version_is_said),
        TEST(what_is_gone_or_damaged_is_an_error),
        TEST(every_cut_and_many_flips_of_a_file_are_survived),
        TEST(every_fault_is_passed_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
