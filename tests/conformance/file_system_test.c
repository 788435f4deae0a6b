/* SPDX-License-Identifier: Apache-2.0 */
/* What file_system.h promises, run over every implementation that works without a network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/file_system.h"
#include "store/memory.h"
#include "support/fault.h"

struct fixture {
    struct hd_op *op;
    hd_file_system *fs;
    char *root;
    bool posix;
};

static int open_fixture(struct fixture *self, const char *uri, bool posix)
{
    void *op;

    if (test_op_setup(&op) != 0)
        return -1;
    self->op = op;
    self->posix = posix;
    if (hd_fs_open(self->op, uri, &self->fs, &self->root) != HUDI_OK)
        return -1;
    return hd_fs_make_dirs(self->op, self->fs, self->root) == HUDI_OK ? 0 : -1;
}

static int setup_posix(void **state)
{
    struct fixture *self = calloc(1, sizeof *self);
    char folder[] = "/tmp/hudi-fs-XXXXXX";

    *state = self;
    return self == NULL || mkdtemp(folder) == NULL ? -1 : open_fixture(self, folder, true);
}

static int setup_memory(void **state)
{
    struct fixture *self = calloc(1, sizeof *self);

    *state = self;
    return self == NULL ? -1 : open_fixture(self, "memory:conformance/table", false);
}

/* Arrow's local disk stands for what Arrow carries; it has no locks, checksums and folder syncs. */
static int setup_arrow(void **state)
{
    struct fixture *self = calloc(1, sizeof *self);
    char folder[] = "arrow+file:/tmp/hudi-fs-XXXXXX";

    *state = self;
    return self == NULL || mkdtemp(strchr(folder, '/')) == NULL ? -1
                                                                : open_fixture(self, folder, true);
}

static int teardown(void **state)
{
    struct fixture *self = *state;
    void *op = self->op;

    test_fault_disarm(self->op);
    hd_op_clear_error(self->op);
    if (hd_fs_delete_tree(self->op, self->fs, self->root) != HUDI_OK)
        return -1;
    hd_fs_free(self->fs);
    hd_free(self->op, self->root);
    hd_memory_drop("conformance");
    free(self);
    return test_op_teardown(&op);
}

/* A path below the root, in one of a few static buffers. */
static const char *at(const struct fixture *self, const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", self->root, name);
    return path;
}

static void assert_content(const struct fixture *self, const char *path, const char *expected)
{
    uint8_t *bytes;
    size_t n;

    assert_int_equal(hd_fs_read_file(self->op, self->fs, path, 1 << 20, &bytes, &n), HUDI_OK);
    assert_int_equal(n, strlen(expected));
    assert_string_equal((const char *)bytes, expected);
    hd_free(self->op, bytes);
}

static bool exists(const struct fixture *self, const char *path)
{
    struct hd_file_info info;
    const hudi_status status = hd_fs_stat(self->op, self->fs, path, &info);

    assert_true(status == HUDI_OK || status == HUDI_NOT_FOUND);
    return status == HUDI_OK;
}

static size_t count(const struct fixture *self, const char *dir)
{
    struct hd_arena arena = {0};
    struct hd_file_info *infos;
    size_t n;

    assert_int_equal(hd_fs_list(self->op, self->fs, dir, &arena, &infos, &n), HUDI_OK);
    hd_arena_clear(&arena);
    return n;
}

static void put(const struct fixture *self, const char *path, const char *text)
{
    assert_int_equal(hd_fs_replace(self->op, self->fs, path, text, strlen(text)), HUDI_OK);
}

static void writes_in_pieces_and_reads_anywhere(void **state)
{
    const struct fixture *self = *state;
    const char *path = at(self, "data");
    hd_output_file *out;
    hd_input_file *in;
    uint8_t *expected = malloc(300000), *got = malloc(300000);
    uint64_t written = 0;

    for (size_t i = 0; i < 300000; i++)
        expected[i] = (uint8_t)(i * 7 + i / 251);
    assert_int_equal(hd_fs_open_output(self->op, self->fs, path, true, &out), HUDI_OK);
    assert_string_equal(hd_output_file_path(out), path);
    for (uint64_t piece = 1; written < 300000; piece = piece * 3 + 1) {
        if (piece > 300000 - written)
            piece = 300000 - written;
        assert_int_equal(hd_output_file_write(self->op, out, expected + written, piece), HUDI_OK);
        written += piece;
        assert_int_equal(hd_output_file_position(out), written);
    }
    assert_int_equal(hd_output_file_close(self->op, out, true), HUDI_OK);

    assert_int_equal(hd_fs_open_input(self->op, self->fs, path, &in), HUDI_OK);
    assert_int_equal(hd_input_file_size(in), 300000);
    assert_int_equal(hd_input_file_read_at(self->op, in, 0, got, 300000), HUDI_OK);
    assert_memory_equal(got, expected, 300000);
    assert_int_equal(hd_input_file_read_at(self->op, in, 65530, got, 12), HUDI_OK);
    assert_memory_equal(got, expected + 65530, 12);
    assert_int_equal(hd_input_file_read_at(self->op, in, 300000, got, 0), HUDI_OK);
    assert_int_equal(hd_input_file_read_at(self->op, in, 299999, got, 2), HUDI_CORRUPT);
    hd_op_clear_error(self->op);
    assert_int_equal(hd_input_file_read_at(self->op, in, UINT64_MAX, got, 2), HUDI_CORRUPT);
    hd_input_file_close(in);
    free(expected);
    free(got);
}

static void tells_missing_from_present(void **state)
{
    const struct fixture *self = *state;
    struct hd_arena arena = {0};
    struct hd_file_info info, *infos;
    hd_input_file *in;
    uint8_t *bytes;
    size_t n;

    assert_int_equal(hd_fs_stat(self->op, self->fs, at(self, "no"), &info), HUDI_NOT_FOUND);
    assert_int_equal(hd_fs_stat(self->op, self->fs, at(self, "no/no"), &info), HUDI_NOT_FOUND);
    assert_int_equal(hd_fs_list(self->op, self->fs, at(self, "no"), &arena, &infos, &n),
                     HUDI_NOT_FOUND);
    assert_int_equal(hd_fs_read_file(self->op, self->fs, at(self, "no"), 10, &bytes, &n),
                     HUDI_NOT_FOUND);
    assert_int_equal(hd_fs_delete_file(self->op, self->fs, at(self, "no")), HUDI_NOT_FOUND);
    assert_int_equal(hd_fs_delete_tree(self->op, self->fs, at(self, "no")), HUDI_OK);
    assert_null(self->op->error);
    assert_int_equal(hd_fs_open_input(self->op, self->fs, at(self, "no"), &in), HUDI_NOT_FOUND);
    assert_string_equal(hudi_error_path(self->op->error), at(self, "no"));
    hd_op_clear_error(self->op);
    assert_int_equal(hd_fs_open_input(self->op, self->fs, self->root, &in), HUDI_IO);
    hd_arena_clear(&arena);
}

static void lists_by_name_with_sizes(void **state)
{
    const struct fixture *self = *state;
    static const char *const names[] = {"b", "a.parquet", "Z", ".hidden", "a"};
    static const char *const sorted[] = {".hidden", "Z", "a", "a.parquet", "b", "dir"};
    struct hd_arena arena = {0};
    struct hd_file_info *infos;
    size_t n;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(names); i++)
        put(self, at(self, names[i]), names[i]);
    assert_int_equal(hd_fs_make_dirs(self->op, self->fs, at(self, "dir/below")), HUDI_OK);
    put(self, at(self, "dir/below/x"), "x");
    assert_int_equal(hd_fs_list(self->op, self->fs, self->root, &arena, &infos, &n), HUDI_OK);
    assert_int_equal(n, HD_ARRAY_LENGTH(sorted));
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(infos[i].name, sorted[i]);
        assert_int_equal(infos[i].is_dir, strcmp(sorted[i], "dir") == 0);
        assert_int_equal(infos[i].size_bytes, infos[i].is_dir ? 0 : strlen(sorted[i]));
        assert_true(infos[i].modified_ms > 1500000000000);
    }
    assert_int_equal(hd_fs_list_names(self->op, self->fs, self->root, &arena, &infos, &n), HUDI_OK);
    assert_int_equal(n, HD_ARRAY_LENGTH(sorted));
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(infos[i].name, sorted[i]);
        assert_int_equal(infos[i].is_dir, strcmp(sorted[i], "dir") == 0);
    }
    assert_int_equal(hd_fs_list_names(self->op, self->fs, at(self, "no"), &arena, &infos, &n),
                     HUDI_NOT_FOUND);
    assert_null(self->op->error);
    hd_arena_clear(&arena);
}

static void publishes_once(void **state)
{
    const struct fixture *self = *state;
    const char *path = at(self, "20240101.commit");

    assert_int_equal(hd_fs_publish(self->op, self->fs, path, "one", 3), HUDI_OK);
    assert_int_equal(hd_fs_publish(self->op, self->fs, path, "two", 3), HUDI_EXISTS);
    assert_null(self->op->error);
    assert_content(self, path, "one");
    assert_int_equal(count(self, self->root), 1);
    assert_int_equal(hd_fs_publish(self->op, self->fs, at(self, "empty"), NULL, 0), HUDI_OK);
    assert_content(self, at(self, "empty"), "");
    assert_int_equal(hd_fs_publish(self->op, self->fs, at(self, "no/x"), "x", 1), HUDI_IO);
}

static void replaces_old_content(void **state)
{
    const struct fixture *self = *state;
    const char *path = at(self, "hoodie.properties");

    assert_int_equal(hd_fs_replace(self->op, self->fs, path, "one", 3), HUDI_OK);
    assert_int_equal(hd_fs_replace(self->op, self->fs, path, "two!", 4), HUDI_OK);
    assert_content(self, path, "two!");
    assert_int_equal(count(self, self->root), 1);
}

static void creates_exclusively_or_truncates(void **state)
{
    const struct fixture *self = *state;
    const char *path = at(self, "file");
    hd_output_file *out;

    put(self, path, "long content");
    assert_int_equal(hd_fs_open_output(self->op, self->fs, path, true, &out), HUDI_EXISTS);
    hd_op_clear_error(self->op);
    assert_content(self, path, "long content");
    assert_int_equal(hd_fs_open_output(self->op, self->fs, path, false, &out), HUDI_OK);
    assert_int_equal(hd_output_file_write(self->op, out, "x", 1), HUDI_OK);
    assert_int_equal(hd_output_file_close(self->op, out, false), HUDI_OK);
    assert_content(self, path, "x");
    assert_int_equal(hd_fs_open_output(self->op, self->fs, at(self, "no/x"), true, &out), HUDI_IO);
}

static void an_aborted_file_is_gone(void **state)
{
    const struct fixture *self = *state;
    hd_output_file *out;

    assert_int_equal(hd_fs_open_output(self->op, self->fs, at(self, "f"), true, &out), HUDI_OK);
    assert_int_equal(hd_output_file_write(self->op, out, "x", 1), HUDI_OK);
    hd_output_file_abort(out);
    assert_false(exists(self, at(self, "f")));
    hd_output_file_abort(NULL);
}

static hudi_status append(const struct fixture *self, const char *path, uint64_t size,
                          const char *text)
{
    hd_output_file *out;

    HD_TRY(hd_fs_open_append(self->op, self->fs, path, size, &out));
    assert_int_equal(hd_output_file_position(out), size);
    const hudi_status status = hd_output_file_write(self->op, out, text, strlen(text));
    if (status != HUDI_OK) {
        hd_output_file_abort(out);
        return status;
    }
    assert_int_equal(hd_output_file_position(out), size + strlen(text));
    return hd_output_file_close(self->op, out, true);
}

static void writes_on_behind_what_is_there(void **state)
{
    const struct fixture *self = *state;
    const char *path = at(self, "f");
    hd_output_file *out;

    assert_true(hd_fs_can_append(self->fs));
    put(self, path, "");
    assert_int_equal(append(self, path, 0, "one"), HUDI_OK);
    assert_int_equal(append(self, path, 3, " two"), HUDI_OK);
    assert_content(self, path, "one two");
    assert_int_equal(append(self, path, 3, "!"), HUDI_CONFLICT);
    assert_int_equal(append(self, path, 8, "!"), HUDI_CONFLICT);
    assert_int_equal(append(self, at(self, "no"), 0, "!"), HUDI_NOT_FOUND);
    assert_false(exists(self, at(self, "no")));
    hd_op_clear_error(self->op);
    assert_content(self, path, "one two");
    if (hd_fs_scheme(self->fs)[0] == 'a')
        return; /* Arrow cannot cut a file back */
    assert_int_equal(hd_fs_open_append(self->op, self->fs, path, 7, &out), HUDI_OK);
    assert_int_equal(hd_output_file_write(self->op, out, " three", 6), HUDI_OK);
    hd_output_file_abort(out);
    assert_content(self, path, "one two");
}

/* A failure leaves the old content, a crash that and perhaps a part of the new behind it. */
static void appending_survives_every_fault(void **state)
{
    const struct fixture *self = *state;
    const char *path = at(self, "f");

    for (int sticky = 0; sticky < 2; sticky++) {
        hudi_status status = HUDI_INTERNAL;

        for (int nth = 1; status != HUDI_OK; nth++) {
            uint8_t *bytes;
            size_t n;

            put(self, path, "old");
            if (sticky)
                test_fault_arm_sticky(self->op, nth);
            else
                test_fault_arm(self->op, nth);
            status = append(self, path, 3, " new");
            test_fault_disarm(self->op);
            hd_op_clear_error(self->op);
            if (sticky && !self->posix)
                assert_int_equal(hd_memory_crash(self->op, self->fs), HUDI_OK);
            assert_int_equal(hd_fs_read_file(self->op, self->fs, path, 9, &bytes, &n), HUDI_OK);
            assert_memory_equal(bytes, "old", 3);
            assert_true(status == HUDI_OK ? n == 7 : n == 3 || (sticky && n <= 7));
            hd_free(self->op, bytes);
            assert_true(nth < 100);
        }
    }
}

static void renames_without_replacing(void **state)
{
    const struct fixture *self = *state;

    put(self, at(self, "a"), "a");
    put(self, at(self, "b"), "b");
    assert_int_equal(hd_fs_rename(self->op, self->fs, at(self, "a"), at(self, "b")), HUDI_EXISTS);
    hd_op_clear_error(self->op);
    assert_content(self, at(self, "a"), "a");
    assert_content(self, at(self, "b"), "b");
    assert_int_equal(hd_fs_rename(self->op, self->fs, at(self, "a"), at(self, "c")), HUDI_OK);
    assert_false(exists(self, at(self, "a")));
    assert_content(self, at(self, "c"), "a");
    assert_int_equal(hd_fs_rename(self->op, self->fs, at(self, "no"), at(self, "d")),
                     HUDI_NOT_FOUND);
    hd_op_clear_error(self->op);
    assert_int_equal(hd_fs_make_dirs(self->op, self->fs, at(self, "dir")), HUDI_OK);
    put(self, at(self, "dir/x"), "x");
    assert_int_equal(hd_fs_rename(self->op, self->fs, at(self, "dir"), at(self, "moved")), HUDI_OK);
    assert_content(self, at(self, "moved/x"), "x");
}

static void makes_and_deletes_trees(void **state)
{
    const struct fixture *self = *state;

    assert_int_equal(hd_fs_make_dirs(self->op, self->fs, at(self, "a/b/c")), HUDI_OK);
    assert_int_equal(hd_fs_make_dirs(self->op, self->fs, at(self, "a/b/c")), HUDI_OK);
    put(self, at(self, "a/b/c/x"), "x");
    put(self, at(self, "a/y"), "y");
    assert_int_equal(hd_fs_make_dirs(self->op, self->fs, at(self, "a/y/z")), HUDI_IO);
    hd_op_clear_error(self->op);
    assert_int_equal(hd_fs_delete_file(self->op, self->fs, at(self, "a/b")), HUDI_IO);
    hd_op_clear_error(self->op);
    assert_int_equal(hd_fs_sync_dir(self->op, self->fs, at(self, "a/b")), HUDI_OK);
    assert_int_equal(hd_fs_sync_dir(self->op, self->fs, at(self, "a/no")), HUDI_IO);
    hd_op_clear_error(self->op);
    assert_int_equal(hd_fs_delete_tree(self->op, self->fs, at(self, "a")), HUDI_OK);
    assert_false(exists(self, at(self, "a")));
    assert_true(exists(self, self->root));
}

/* Hadoop verifies NAME against .NAME.crc: one that is about old content must not survive it. */
static void drops_stale_checksums(void **state)
{
    const struct fixture *self = *state;
    const char *crc = at(self, ".f.crc");
    hd_output_file *out;

    put(self, crc, "old");
    assert_int_equal(hd_fs_publish(self->op, self->fs, at(self, "f"), "1", 1), HUDI_OK);
    assert_false(exists(self, crc));
    put(self, crc, "old");
    assert_int_equal(hd_fs_publish(self->op, self->fs, at(self, "f"), "1", 1), HUDI_EXISTS);
    assert_true(exists(self, crc));
    assert_int_equal(hd_fs_replace(self->op, self->fs, at(self, "f"), "2", 1), HUDI_OK);
    assert_false(exists(self, crc));
    put(self, crc, "old");
    assert_int_equal(hd_fs_open_output(self->op, self->fs, at(self, "f"), false, &out), HUDI_OK);
    assert_int_equal(hd_output_file_close(self->op, out, true), HUDI_OK);
    assert_false(exists(self, crc));
    put(self, crc, "old");
    assert_int_equal(hd_fs_open_append(self->op, self->fs, at(self, "f"), 0, &out), HUDI_OK);
    assert_false(exists(self, crc));
    assert_int_equal(hd_output_file_close(self->op, out, true), HUDI_OK);
    put(self, crc, "old");
    assert_int_equal(hd_fs_delete_file(self->op, self->fs, at(self, "f")), HUDI_OK);
    assert_false(exists(self, crc));
}

static void limits_what_it_reads_whole(void **state)
{
    const struct fixture *self = *state;
    uint8_t *bytes;
    size_t n;

    put(self, at(self, "f"), "12345");
    assert_int_equal(hd_fs_read_file(self->op, self->fs, at(self, "f"), 4, &bytes, &n),
                     HUDI_CORRUPT);
    assert_string_equal(hudi_error_message(self->op->error),
                        "file of 5 bytes, more than the 4 it may have");
    assert_string_equal(hudi_error_path(self->op->error), at(self, "f"));
    assert_null(bytes);
}

static void one_holder_has_the_lock(void **state)
{
    const struct fixture *self = *state;
    struct hd_fs_lock *first, *second;

    assert_int_equal(hd_fs_lock(self->op, self->fs, at(self, "lock"), 0, &first), HUDI_OK);
    assert_int_equal(hd_fs_lock(self->op, self->fs, at(self, "lock"), 20, &second), HUDI_CONFLICT);
    assert_true(hudi_error_retriable(self->op->error));
    hd_op_clear_error(self->op);
    assert_null(second);
    hd_fs_unlock(first);
    assert_int_equal(hd_fs_lock(self->op, self->fs, at(self, "lock"), 0, &second), HUDI_OK);
    hd_fs_unlock(second);
    assert_true(exists(self, at(self, "lock")));
}

static void stops_when_cancelled(void **state)
{
    const struct fixture *self = *state;
    const _Atomic(bool) cancelled = true;
    struct hd_fs_lock *lock;

    self->op->cancelled = &cancelled;
    assert_int_equal(hd_fs_publish(self->op, self->fs, at(self, "f"), "x", 1), HUDI_CANCELLED);
    assert_int_equal(hd_fs_lock(self->op, self->fs, at(self, "lock"), 0, &lock), HUDI_CANCELLED);
    self->op->cancelled = NULL;
    assert_false(exists(self, at(self, "f")));
}

static void names_the_uri_of_a_path(void **state)
{
    const struct fixture *self = *state;
    hd_file_system *again;
    char *uri, *path;

    assert_int_equal(hd_fs_uri(self->op, self->fs, at(self, "p/f"), &uri), HUDI_OK);
    assert_int_equal(strncmp(uri, self->posix ? "file:/tmp/" : "memory:conformance/", 10), 0);
    assert_string_equal(hd_fs_scheme(self->fs), self->posix ? "file" : "memory");
    assert_int_equal(hd_fs_open(self->op, uri, &again, &path), HUDI_OK);
    assert_string_equal(path, at(self, "p/f"));
    hd_fs_free(again);
    hd_free(self->op, path);
    hd_free(self->op, uri);
}

/* Any single failure leaves the name free or whole, and no litter that a reader could mistake. */
static void publishing_survives_every_fault(void **state)
{
    struct fixture *self = *state;
    const char *path = at(self, "f");
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        test_fault_arm(self->op, nth);
        status = hd_fs_publish(self->op, self->fs, path, "whole", 5);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(self->op));
        test_fault_disarm(self->op);
        hd_op_clear_error(self->op);
        if (exists(self, path)) {
            assert_content(self, path, "whole");
            assert_int_equal(count(self, self->root), 1);
            assert_int_equal(hd_fs_delete_file(self->op, self->fs, path), HUDI_OK);
        } else {
            assert_int_equal(count(self, self->root), 0);
        }
        assert_true(nth < 100);
    }
}

/* After a crash at any point the old or the new content is there, and litter is only temporary. */
static void replacing_survives_a_crash_anywhere(void **state)
{
    struct fixture *self = *state;
    const char *path = at(self, "f");
    hudi_status status = HUDI_INTERNAL;
    bool saw_old = false, saw_litter = false;

    for (int nth = 1; status != HUDI_OK; nth++) {
        put(self, path, "old");
        test_fault_arm_sticky(self->op, nth);
        status = hd_fs_replace(self->op, self->fs, path, "new", 3);
        test_fault_disarm(self->op);
        hd_op_clear_error(self->op);
        if (!self->posix)
            assert_int_equal(hd_memory_crash(self->op, self->fs), HUDI_OK);

        struct hd_arena arena = {0};
        struct hd_file_info *infos;
        size_t n, n_bytes;
        uint8_t *bytes;
        assert_int_equal(hd_fs_read_file(self->op, self->fs, path, 9, &bytes, &n_bytes), HUDI_OK);
        assert_true(strcmp((char *)bytes, "old") == 0 || strcmp((char *)bytes, "new") == 0);
        if (status == HUDI_OK)
            assert_string_equal((char *)bytes, "new");
        saw_old |= strcmp((char *)bytes, "old") == 0;
        hd_free(self->op, bytes);
        assert_int_equal(hd_fs_list(self->op, self->fs, self->root, &arena, &infos, &n), HUDI_OK);
        for (size_t i = 0; i < n; i++) {
            if (strcmp(infos[i].name, "f") == 0)
                continue;
            assert_int_equal(strncmp(infos[i].name, HD_TEMPORARY_PREFIX, 5), 0);
            saw_litter = true;
        }
        hd_arena_clear(&arena);
        assert_true(nth < 100);
    }
    assert_true(saw_old);
    assert_true(saw_litter || !self->posix);
}

static void reading_and_listing_survive_every_fault(void **state)
{
    struct fixture *self = *state;
    hudi_status status = HUDI_INTERNAL;

    for (int nth = 1; status != HUDI_OK; nth++) {
        struct hd_arena arena = {0};
        struct hd_file_info *infos;
        uint8_t *bytes = NULL;
        size_t n;

        assert_int_equal(hd_fs_make_dirs(self->op, self->fs, at(self, "d/e")), HUDI_OK);
        put(self, at(self, "d/e/f"), "text");
        test_fault_arm(self->op, nth);
        status = hd_fs_list(self->op, self->fs, at(self, "d/e"), &arena, &infos, &n);
        if (status == HUDI_OK)
            status = hd_fs_read_file(self->op, self->fs, at(self, "d/e/f"), 9, &bytes, &n);
        if (status == HUDI_OK)
            status = hd_fs_make_dirs(self->op, self->fs, at(self, "x/y"));
        if (status == HUDI_OK)
            status = hd_fs_delete_tree(self->op, self->fs, at(self, "d"));
        test_fault_disarm(self->op);
        hd_op_clear_error(self->op);
        assert_int_equal(status == HUDI_OK, !test_fault_fired(self->op));
        hd_free(self->op, bytes);
        hd_arena_clear(&arena);
        assert_true(nth < 100);
    }
    assert_false(exists(self, at(self, "d")));
}

static void refuses_schemes_that_nothing_carries(void **state)
{
    struct hd_op *op = *state;
    hd_file_system *fs;
    char *path;

    assert_int_equal(hd_fs_open(op, "ftp://host/table", &fs, &path), HUDI_NOT_IMPLEMENTED);
    assert_string_equal(hudi_error_message(op->error), "store of scheme ftp: not in this build");
    assert_null(fs);
    hd_op_clear_error(op);
    assert_int_equal(hd_fs_open(op, "file://elsewhere/table", &fs, &path), HUDI_INVALID);
    hd_op_clear_error(op);
    assert_int_equal(hd_fs_open(op, "memory:", &fs, &path), HUDI_INVALID);
    hd_op_clear_error(op);
    assert_int_equal(hd_fs_open(op, "", &fs, &path), HUDI_INVALID);
}

static void opens_paths_and_file_uris(void **state)
{
    struct hd_op *op = *state;
    static const char *const same[] = {"/tmp/a/b", "/tmp//a/./b/", "file:/tmp/a/b",
                                       "file:///tmp/a/b", "file://localhost/tmp/a/b"};
    char cwd[512], expected[600], *path;
    hd_file_system *fs;

    for (size_t i = 0; i < HD_ARRAY_LENGTH(same); i++) {
        assert_int_equal(hd_fs_open(op, same[i], &fs, &path), HUDI_OK);
        assert_string_equal(path, "/tmp/a/b");
        hd_fs_free(fs);
        hd_free(op, path);
    }
    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(expected, sizeof expected, "%s/t:1", cwd);
    assert_int_equal(hd_fs_open(op, "./t:1", &fs, &path), HUDI_OK);
    assert_string_equal(path, expected);
    hd_fs_free(fs);
    hd_free(op, path);
}

#define ON_ALL(test) {"arrow: " #test, test, setup_arrow, teardown, NULL}, ON_BOTH(test)

#define ON_BOTH(test)                                                                              \
    {"posix: " #test, test, setup_posix, teardown, NULL},                                          \
    {                                                                                              \
        "memory: " #test, test, setup_memory, teardown, NULL                                       \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refuses_schemes_that_nothing_carries, test_op_setup,
                                        test_op_teardown),
        cmocka_unit_test_setup_teardown(opens_paths_and_file_uris, test_op_setup, test_op_teardown),
        ON_ALL(writes_in_pieces_and_reads_anywhere),
        ON_ALL(tells_missing_from_present),
        ON_ALL(lists_by_name_with_sizes),
        ON_ALL(publishes_once),
        ON_ALL(replaces_old_content),
        ON_ALL(creates_exclusively_or_truncates),
        ON_ALL(an_aborted_file_is_gone),
        ON_ALL(writes_on_behind_what_is_there),
        ON_BOTH(appending_survives_every_fault),
        ON_ALL(renames_without_replacing),
        ON_BOTH(makes_and_deletes_trees),
        ON_BOTH(drops_stale_checksums),
        ON_ALL(limits_what_it_reads_whole),
        ON_BOTH(one_holder_has_the_lock),
        ON_BOTH(stops_when_cancelled),
        ON_BOTH(names_the_uri_of_a_path),
        ON_ALL(publishing_survives_every_fault),
        ON_ALL(replacing_survives_a_crash_anywhere),
        ON_ALL(reading_and_listing_survive_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
