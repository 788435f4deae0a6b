/* SPDX-License-Identifier: Apache-2.0 */
/* What is particular to the RocksDB store; the rest is in spillable_map_test.c. */
#include "engine/record/rocks_map.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spillable_map_testing.h"

static char folder[64];

static const struct hd_spillable_map_options OPTIONS = {
    .schema = &test_schema, .memory_bytes = 0, .disk_map = HD_DISK_MAP_ROCKS_DB, .folder = folder};

static hudi_status spill(struct hd_op *op, hd_spillable_map *map)
{
    const struct test_record record = {.key = 1};
    struct test_batch batch = test_batch(op, &record, 1);
    const hudi_status status = hd_spillable_map_put(op, map, &batch.root.children[0], NULL,
                                                    batch.shared, NULL, 1, NULL, NULL);

    test_batch_clear(&batch);
    return status;
}

static void a_build_without_it_says_so(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map;

    if (hd_rocks_map_available())
        skip();
    assert_int_equal(hd_spillable_map_new(op, &OPTIONS, &map), HUDI_NOT_IMPLEMENTED);
    assert_null(map);
    assert_non_null(strstr(hudi_error_message(op->error), "without RocksDB"));
}

static void make_file(const char *name, int *out)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_CREAT | O_RDWR, 0600);
    assert_true(file >= 0);
    if (out != NULL)
        *out = file;
    else
        close(file);
}

static bool exists(const char *name)
{
    char path[256];
    struct stat info;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return lstat(path, &info) == 0;
}

static void make_folder(const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void remove_name(const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(remove(path), 0);
}

static void what_dead_processes_left_is_deleted_and_nothing_else(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *map;
    int lock;

    if (!hd_rocks_map_available())
        skip();
    make_folder("hudi-ROCKS_DB-dead");
    make_file("hudi-ROCKS_DB-dead/000001.sst", NULL);
    make_file("hudi-ROCKS_DB-dead.lock", NULL);
    make_folder("hudi-ROCKS_DB-live");
    make_file("hudi-ROCKS_DB-live/000001.sst", NULL);
    make_file("hudi-ROCKS_DB-live.lock", &lock);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    make_folder("hudi-ROCKS_DB-unlocked");
    make_folder("other");
    make_file("other/file", NULL);
    make_file("other.lock", NULL);
    char target[256], link[256]; /* a link is not followed */
    snprintf(target, sizeof target, "%s/other", folder);
    snprintf(link, sizeof link, "%s/hudi-ROCKS_DB-link", folder);
    assert_int_equal(symlink(target, link), 0);
    make_file("hudi-ROCKS_DB-link.lock", NULL);

    OK(hd_spillable_map_new(op, &OPTIONS, &map));
    assert_true(exists("hudi-ROCKS_DB-dead")); /* nothing before the first spill */
    OK(spill(op, map));
    hd_spillable_map_free(op, map);
    assert_false(exists("hudi-ROCKS_DB-dead"));
    assert_false(exists("hudi-ROCKS_DB-dead.lock"));
    assert_true(exists("hudi-ROCKS_DB-live/000001.sst"));
    assert_true(exists("hudi-ROCKS_DB-live.lock"));
    assert_true(exists("hudi-ROCKS_DB-unlocked"));
    assert_true(exists("other/file"));
    assert_true(exists("other.lock"));

    close(lock); /* its process dies */
    OK(hd_spillable_map_new(op, &OPTIONS, &map));
    OK(spill(op, map));
    assert_false(exists("hudi-ROCKS_DB-live"));
    hd_spillable_map_free(op, map);
    remove_name("hudi-ROCKS_DB-link");
    remove_name("hudi-ROCKS_DB-unlocked");
    remove_name("other/file");
    remove_name("other");
    remove_name("other.lock");
}

static void two_maps_do_not_meet(void **state)
{
    struct hd_op *op = *state;
    hd_spillable_map *maps[2];
    struct ArrowArray array;
    const int64_t entry = 0;
    const struct test_record record = {.key = 1};

    if (!hd_rocks_map_available())
        skip();
    for (int i = 0; i < 2; i++) {
        OK(hd_spillable_map_new(op, &OPTIONS, &maps[i]));
        OK(spill(op, maps[i]));
    }
    hd_spillable_map_free(op, maps[0]);
    OK(hd_spillable_map_get(op, maps[1], &entry, 1, &array));
    test_assert_records(op, &array, &record, 1);
    hd_array_clear(&array);
    hd_spillable_map_free(op, maps[1]);
}

static void a_folder_that_is_none_is_told(void **state)
{
    struct hd_op *op = *state;
    struct hd_spillable_map_options options = OPTIONS;
    hd_spillable_map *map;

    if (!hd_rocks_map_available())
        skip();
    options.folder = "/dev/null/folder";
    OK(hd_spillable_map_new(op, &options, &map));
    assert_int_equal(spill(op, map), HUDI_IO);
    assert_string_equal(hudi_error_path(op->error), "/dev/null/folder");
    assert_int_equal(hd_spillable_map_length(map), 0);
    hd_spillable_map_free(op, map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_build_without_it_says_so),
        TEST(what_dead_processes_left_is_deleted_and_nothing_else),
        TEST(two_maps_do_not_meet),
        TEST(a_folder_that_is_none_is_told),
    };

    snprintf(folder, sizeof folder, "/tmp/hudi-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (rmdir(folder) != 0);
}
