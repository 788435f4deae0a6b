/* SPDX-License-Identifier: Apache-2.0 */
/* What only a real disk and real processes show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/store/store_testing.h"

static char folder[32];

static hd_file_system *open_folder(struct hd_op *op)
{
    hd_file_system *fs;
    char *path;

    strcpy(folder, "/tmp/hudi-posix-XXXXXX");
    assert_non_null(mkdtemp(folder));
    ASSERT_OK(op, hd_fs_open(op, folder, &fs, &path));
    hd_free(op, path);
    return fs;
}

static void close_folder(struct hd_op *op, hd_file_system *fs)
{
    ASSERT_OK(op, hd_fs_delete_tree(op, fs, folder));
    hd_fs_free(fs);
}

static const char *at(const char *name)
{
    static char path[4][64];
    static int next;

    snprintf(path[++next % 4], sizeof path[0], "%s/%s", folder, name);
    return path[next % 4];
}

/* A killed holder gives the lock back, whatever it was doing. */
static void a_lock_ends_with_its_process(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_folder(op);
    struct hd_fs_lock *lock;
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (hd_fs_lock(op, fs, at("lock"), 0, &lock) == HUDI_OK && write(ready[1], "x", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(hd_fs_lock(op, fs, at("lock"), 30, &lock), HUDI_CONFLICT);
    hd_op_clear_error(op);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    ASSERT_OK(op, hd_fs_lock(op, fs, at("lock"), 1000, &lock));
    hd_fs_unlock(lock);
    close(ready[0]);
    close(ready[1]);
    close_folder(op, fs);
}

static void deleting_a_tree_does_not_follow_links(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_folder(op);
    struct hd_file_info info;

    ASSERT_OK(op, hd_fs_make_dirs(op, fs, at("kept")));
    ASSERT_OK(op, hd_fs_replace(op, fs, at("kept/f"), "x", 1));
    ASSERT_OK(op, hd_fs_make_dirs(op, fs, at("tree")));
    assert_int_equal(symlink(at("kept"), at("tree/link")), 0);
    assert_int_equal(symlink("/nowhere", at("tree/broken")), 0);
    ASSERT_OK(op, hd_fs_delete_tree(op, fs, at("tree")));
    assert_int_equal(hd_fs_stat(op, fs, at("tree"), &info), HUDI_NOT_FOUND);
    ASSERT_OK(op, hd_fs_stat(op, fs, at("kept/f"), &info));
    close_folder(op, fs);
}

/* A limit on file sizes stands for a full disk: the write stops half-way. */
static void a_write_that_the_disk_refuses_is_an_error(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_folder(op);
    const struct rlimit small = {.rlim_cur = 100000, .rlim_max = RLIM_INFINITY};
    struct rlimit old;
    struct hd_file_info info;
    char *bytes = calloc(1, 300000);

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const hudi_status status = hd_fs_publish(op, fs, at("f"), bytes, 300000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, HUDI_IO);
    assert_non_null(strstr(hudi_error_message(op->error), "ile too large"));
    assert_non_null(strstr(hudi_error_path(op->error), HD_TEMPORARY_PREFIX));
    hd_op_clear_error(op);
    assert_int_equal(hd_fs_stat(op, fs, at("f"), &info), HUDI_NOT_FOUND);
    free(bytes);
    close_folder(op, fs);
}

/* Two processes publish the same name over and over: one wins each time, and its content stays. */
static void one_publisher_wins(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_folder(op);
    int n_won = 0, code;
    const pid_t child = fork();

    for (int i = 0; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.commit", i);
        const hudi_status status =
            hd_fs_publish(op, fs, at(name), child == 0 ? "child" : "parent", child == 0 ? 5 : 6);
        assert_true(status == HUDI_OK || (status == HUDI_EXISTS && op->error == NULL));
        n_won += status == HUDI_OK;
    }
    if (child == 0)
        _exit(n_won);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    assert_int_equal(n_won + WEXITSTATUS(code), 100);
    int n_parents = 0;
    for (int i = 0; i < 100; i++) {
        char name[32];
        uint8_t *bytes;
        size_t n;
        snprintf(name, sizeof name, "%d.commit", i);
        ASSERT_OK(op, hd_fs_read_file(op, fs, at(name), 10, &bytes, &n));
        n_parents += strcmp((char *)bytes, "parent") == 0;
        hd_free(op, bytes);
    }
    assert_int_equal(n_parents, n_won);
    close_folder(op, fs);
}

static void refuses_what_permissions_refuse(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_folder(op);

    if (geteuid() != 0) { /* root may do anything */
        assert_int_equal(chmod(folder, 0500), 0);
        assert_int_equal(hd_fs_publish(op, fs, at("f"), "x", 1), HUDI_IO);
        assert_non_null(strstr(hudi_error_message(op->error), "ermission denied"));
        hd_op_clear_error(op);
        assert_int_equal(chmod(folder, 0700), 0);
    }
    assert_int_equal(hd_fs_publish(op, fs, "/proc/hudi", "x", 1), HUDI_IO);
    hd_op_clear_error(op);
    close_folder(op, fs);
}

/* Root that writes to /dev/null keeps its /dev/null. */
static void what_is_no_file_is_neither_synced_nor_deleted(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs = open_folder(op);
    hd_output_file *file;
    struct stat info;

    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    const int reader = open(at("pipe"), O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    ASSERT_OK(op, hd_fs_open_output(op, fs, at("pipe"), false, &file));
    ASSERT_OK(op, hd_output_file_write(op, file, "abc", 3));
    ASSERT_OK(op, hd_output_file_close(op, file, true));
    ASSERT_OK(op, hd_fs_open_output(op, fs, at("pipe"), false, &file));
    hd_output_file_abort(file);
    assert_int_equal(stat(at("pipe"), &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(close(reader), 0);
    close_folder(op, fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_lock_ends_with_its_process),
        TEST(deleting_a_tree_does_not_follow_links),
        TEST(a_write_that_the_disk_refuses_is_an_error),
        TEST(one_publisher_wins),
        TEST(refuses_what_permissions_refuse),
        TEST(what_is_no_file_is_neither_synced_nor_deleted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
