/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>

#include "format/table/table_config.h"
#include "store/memory.h"
#include "support/fault.h"

#define TABLE "/t"
#define FILE_PATH TABLE "/.hoodie/hoodie.properties"
#define BACKUP_PATH FILE_PATH ".backup"

/* An empty store of its own for each test; the clock stands, so waiting takes no time. */
static hd_file_system *open_store(struct hd_op *op)
{
    hd_file_system *fs;

    hd_memory_drop("config");
    assert_int_equal(hd_memory_file_system_open(op, "config", &fs), HUDI_OK);
    test_clock_set(op, 1796046966623);
    return fs;
}

static void write_file(struct hd_op *op, hd_file_system *fs, const char *path, const char *text)
{
    if (text == NULL) {
        const hudi_status status = hd_fs_delete_file(op, fs, path);

        assert_true(status == HUDI_OK || status == HUDI_NOT_FOUND);
        return;
    }
    assert_int_equal(hd_fs_make_dirs(op, fs, TABLE "/.hoodie"), HUDI_OK);
    assert_int_equal(hd_fs_replace(op, fs, path, text, strlen(text)), HUDI_OK);
}

static bool exists(struct hd_op *op, hd_file_system *fs, const char *path)
{
    struct hd_file_info info;
    const hudi_status status = hd_fs_stat(op, fs, path, &info);

    assert_true(status == HUDI_OK || status == HUDI_NOT_FOUND);
    return status == HUDI_OK;
}

static void make_config(struct hd_op *op, const char *version, struct hd_table_config *out)
{
    struct hd_options options = {0};

    assert_int_equal(hd_options_set(op, &options, "hoodie.table.name", "t"), HUDI_OK);
    assert_int_equal(hd_options_set(op, &options, "hoodie.table.recordkey.fields", "id"), HUDI_OK);
    assert_int_equal(hd_options_set(op, &options, "hoodie.write.table.version", version), HUDI_OK);
    assert_int_equal(hd_table_config_for_create(op, &options, NULL, out), HUDI_OK);
    hd_options_clear(&options);
}

static void creates_the_folders_and_the_file_of_a_table(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_store(op);
    static const char *const folders[2][7] = {
        {".hoodie/.aux/.bootstrap/.partitions", ".hoodie/.aux/.bootstrap/.fileids", ".hoodie/.temp",
         ".hoodie/.schema", ".hoodie/archived", NULL, NULL},
        {".hoodie/.aux/.bootstrap/.partitions", ".hoodie/.aux/.bootstrap/.fileids", ".hoodie/.temp",
         ".hoodie/.schema", ".hoodie/timeline", ".hoodie/timeline/history", NULL},
    };
    static const char *const versions[2] = {"6", "9"};

    for (int i = 0; i < 2; i++) {
        struct hd_table_config config, loaded;
        char path[128];

        assert_int_equal(hd_fs_delete_tree(op, fs, TABLE), HUDI_OK);
        make_config(op, versions[i], &config);
        assert_int_equal(hd_table_create(op, fs, TABLE, &config), HUDI_OK);
        for (const char *const *folder = folders[i]; *folder != NULL; folder++) {
            snprintf(path, sizeof path, TABLE "/%s", *folder);
            assert_true(exists(op, fs, path));
        }
        assert_int_equal(hd_table_config_load(op, fs, TABLE, &loaded), HUDI_OK);
        assert_string_equal(loaded.name, "t");
        assert_int_equal(loaded.properties.n_entries, config.properties.n_entries);
        assert_int_equal(hd_table_create(op, fs, TABLE, &config), HUDI_EXISTS);
        assert_string_equal(hudi_error_message(op->error), "there is a Hudi table at /t");
        hd_op_clear_error(op);
        hd_table_config_clear(&loaded);
        hd_table_config_clear(&config);
    }
    hd_fs_free(fs);
}

/* After a crash at any point there is a whole table or none, and creating it again works. */
static void a_crash_while_creating_leaves_a_table_or_none(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_store(op);
    struct hd_table_config config, loaded;
    bool done = false;

    make_config(op, "8", &config);
    for (int nth = 1; !done; nth++) {
        assert_int_equal(hd_fs_delete_tree(op, fs, TABLE), HUDI_OK);
        test_fault_arm_sticky(op, nth);
        const hudi_status status = hd_table_create(op, fs, TABLE, &config);

        done = !test_fault_fired(op);
        assert_int_equal(status == HUDI_OK, done);
        test_fault_disarm(op);
        hd_op_clear_error(op);
        assert_int_equal(hd_memory_crash(op, fs), HUDI_OK);
        const hudi_status again = hd_table_create(op, fs, TABLE, &config);

        assert_true(again == HUDI_OK || again == HUDI_EXISTS);
        assert_false(done && again == HUDI_OK);
        hd_op_clear_error(op);
        assert_int_equal(hd_table_config_load(op, fs, TABLE, &loaded), HUDI_OK);
        hd_table_config_clear(&loaded);
    }
    hd_table_config_clear(&config);
    hd_fs_free(fs);
}

#define OLD "hoodie.table.name=t\nhoodie.table.version=6\nhoodie.table.checksum=498511606\nk=old\n"
#define NEW "hoodie.table.name=t\nhoodie.table.version=6\nhoodie.table.checksum=498511606\nk=new\n"
#define CUT "hoodie.table.name=t2\nhoodie.table.version=6\nhoodie.table.checksum=498511606\n"

static void says_when_there_is_no_table(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_store(op);
    struct hd_table_config config;

    assert_int_equal(hd_table_config_load(op, fs, TABLE, &config), HUDI_NOT_FOUND);
    assert_string_equal(hudi_error_message(op->error), "no Hudi table at /t");
    hd_op_clear_error(op);
    assert_int_equal(hd_fs_make_dirs(op, fs, TABLE "/.hoodie"), HUDI_OK);
    assert_int_equal(hd_table_config_load(op, fs, TABLE, &config), HUDI_NOT_FOUND);
    assert_string_equal(hudi_error_message(op->error),
                        "no Hudi table at /t: .hoodie has no hoodie.properties");
    hd_op_clear_error(op);
    write_file(op, fs, FILE_PATH, CUT);
    assert_int_equal(hd_table_config_load(op, fs, TABLE, &config), HUDI_CORRUPT);
    assert_non_null(strstr(hudi_error_message(op->error), "hoodie.table.checksum is 498511606"));
    assert_string_equal(hudi_error_path(op->error), FILE_PATH);
    hd_op_clear_error(op);
    write_file(op, fs, FILE_PATH, "");
    assert_int_equal(hd_table_config_load(op, fs, TABLE, &config), HUDI_CORRUPT);
    hd_op_clear_error(op);
    hd_fs_free(fs);
}

static const char *value_of_k(struct hd_op *op, hd_file_system *fs, struct hd_table_config *config)
{
    if (hd_table_config_load(op, fs, TABLE, config) != HUDI_OK)
        fail_msg("%s", hudi_error_message(op->error));
    assert_null(op->error);
    return hd_properties_get(&config->properties, "k");
}

/* What Java leaves when it dies after each of its steps. */
static void reads_and_repairs_what_a_java_writer_left(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_store(op);
    static const struct {
        const char *properties, *backup, *k;
    } cases[] = {
        {OLD, NULL, "old"},    {OLD, OLD, "old"},  {NULL, OLD, "old"},
        {"", OLD, "old"},      {CUT, OLD, "old"},  {"hoodie.table.na", OLD, "old"},
        {NEW, OLD, "new"},     {NEW, NULL, "new"}, {OLD, "hoodie.table.ver", "old"},
        {OLD, "\\u12", "old"},
    };
    static const struct hd_property change = {"added", "1"};

    for (size_t i = 0; i < HD_ARRAY_LENGTH(cases); i++) {
        struct hd_table_config config;

        write_file(op, fs, FILE_PATH, cases[i].properties);
        write_file(op, fs, BACKUP_PATH, cases[i].backup);
        assert_string_equal(value_of_k(op, fs, &config), cases[i].k);
        assert_null(hd_properties_get(&config.properties, "added"));
        assert_int_equal(hd_table_config_update(op, fs, TABLE, &config, &change, 1), HUDI_OK);
        assert_string_equal(hd_properties_get(&config.properties, "added"), "1");
        assert_string_equal(hd_properties_get(&config.properties, "k"), cases[i].k);
        assert_false(exists(op, fs, BACKUP_PATH));
        hd_table_config_clear(&config);
    }
    hd_fs_free(fs);
}

static void a_change_writes_adds_removes_and_keeps_unknown_keys(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_store(op);
    struct hd_table_config config;
    const struct hd_property changes[] = {
        {"hoodie.table.metadata.partitions", "files,column_stats"},
        {"k", NULL},
        {"hoodie.table.name", "t2"},
    };
    uint8_t *bytes;
    size_t n;

    write_file(op, fs, FILE_PATH, OLD "unknown=x y\n");
    assert_string_equal(value_of_k(op, fs, &config), "old");
    assert_int_equal(
        hd_table_config_update(op, fs, TABLE, &config, changes, HD_ARRAY_LENGTH(changes)), HUDI_OK);
    assert_true(config.metadata_table);
    assert_string_equal(config.name, "t2");
    hd_table_config_clear(&config);
    assert_int_equal(hd_fs_read_file(op, fs, FILE_PATH, 4096, &bytes, &n), HUDI_OK);
    /* zlib's CRC-32 of ".t2" */
    assert_string_equal((char *)bytes, "#Updated at 2026-11-30T13:56:06.623Z\n"
                                       "#Mon Nov 30 13:56:06 UTC 2026\n"
                                       "hoodie.table.name=t2\n"
                                       "hoodie.table.version=6\n"
                                       "hoodie.table.checksum=1310089098\n"
                                       "unknown=x y\n"
                                       "hoodie.table.metadata.partitions=files,column_stats\n");
    hd_free(op, bytes);
    hd_fs_free(fs);
}

static void refuses_a_change_that_makes_no_table(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_store(op);
    struct hd_table_config config;
    const struct hd_property change = {"hoodie.table.type", "NONE"};

    write_file(op, fs, FILE_PATH, OLD);
    assert_string_equal(value_of_k(op, fs, &config), "old");
    assert_int_equal(hd_table_config_update(op, fs, TABLE, &config, &change, 1), HUDI_CORRUPT);
    hd_op_clear_error(op);
    assert_string_equal(config.name, "t"); /* still the old one */
    hd_table_config_clear(&config);
    assert_string_equal(value_of_k(op, fs, &config), "old");
    assert_false(exists(op, fs, BACKUP_PATH));
    hd_table_config_clear(&config);
    hd_fs_free(fs);
}

/* Stop after each step, with and without losing what was not synced: the table reads as before or
 * as after, hoodie.properties itself is always whole, and the next change goes through. */
static void crash_while_changing(struct hd_op *op, bool power_loss)
{
    hd_file_system *fs = open_store(op);
    const struct hd_property change = {"k", "new"}, next = {"next", "1"};
    bool done = false, seen_old = false, seen_new = false;

    for (int nth = 1; !done; nth++) {
        struct hd_table_config config;

        assert_int_equal(hd_fs_delete_tree(op, fs, TABLE), HUDI_OK); /* with what crashes left */
        write_file(op, fs, FILE_PATH, OLD);
        assert_string_equal(value_of_k(op, fs, &config), "old");
        test_fault_arm_sticky(op, nth);
        const hudi_status status = hd_table_config_update(op, fs, TABLE, &config, &change, 1);

        done = !test_fault_fired(op);
        assert_int_equal(status == HUDI_OK, done);
        test_fault_disarm(op);
        hd_op_clear_error(op);
        hd_table_config_clear(&config);
        if (power_loss)
            assert_int_equal(hd_memory_crash(op, fs), HUDI_OK);

        assert_true(exists(op, fs, FILE_PATH));
        const char *k = value_of_k(op, fs, &config);

        seen_old = seen_old || strcmp(k, "old") == 0;
        seen_new = seen_new || strcmp(k, "new") == 0;
        assert_true(strcmp(k, "old") == 0 || strcmp(k, "new") == 0);
        assert_true(!done || strcmp(k, "new") == 0);
        assert_int_equal(hd_table_config_update(op, fs, TABLE, &config, &next, 1), HUDI_OK);
        assert_false(exists(op, fs, BACKUP_PATH));
        hd_table_config_clear(&config);
    }
    assert_true(seen_old && seen_new);
    hd_fs_free(fs);
}

static void a_killed_change_leaves_the_old_or_the_new(void **state)
{
    crash_while_changing(*state, false);
}

static void a_change_cut_off_by_power_loss_leaves_the_old_or_the_new(void **state)
{
    crash_while_changing(*state, true);
}

static void survives_every_fault_of_loading(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_store(op);
    hudi_status status = HUDI_INTERNAL;

    write_file(op, fs, BACKUP_PATH, OLD);
    write_file(op, fs, FILE_PATH, CUT);
    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_table_config config;

        test_fault_arm(op, nth);
        status = hd_table_config_load(op, fs, TABLE, &config);
        if (status == HUDI_OK && test_fault_fired(op))
            status = HUDI_INTERNAL; /* it looked again, after a fault of one attempt */
        assert_true(status == HUDI_OK || test_fault_fired(op));
        hd_table_config_clear(&config);
    }
    hd_fs_free(fs);
}

/* Without a type Hudi reads a merge-on-read table as copy-on-write. */
static void a_table_without_a_type_is_what_its_timeline_says(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_store(op);
    struct hd_table_config config;

    write_file(op, fs, FILE_PATH, OLD);
    value_of_k(op, fs, &config);
    assert_int_equal(config.type, HD_COPY_ON_WRITE);
    hd_table_config_clear(&config);
    write_file(op, fs, TABLE "/.hoodie/20261130135604110.deltacommit", "{}");
    value_of_k(op, fs, &config);
    assert_int_equal(config.type, HD_MERGE_ON_READ);
    hd_table_config_clear(&config);
    hd_fs_free(fs);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, test_op_setup, test_op_teardown)
    const struct CMUnitTest tests[] = {
        TEST(creates_the_folders_and_the_file_of_a_table),
        TEST(a_crash_while_creating_leaves_a_table_or_none),
        TEST(says_when_there_is_no_table),
        TEST(reads_and_repairs_what_a_java_writer_left),
        TEST(a_change_writes_adds_removes_and_keeps_unknown_keys),
        TEST(refuses_a_change_that_makes_no_table),
        TEST(a_killed_change_leaves_the_old_or_the_new),
        TEST(a_change_cut_off_by_power_loss_leaves_the_old_or_the_new),
        TEST(survives_every_fault_of_loading),
        TEST(a_table_without_a_type_is_what_its_timeline_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
