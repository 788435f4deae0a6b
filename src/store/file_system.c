/* SPDX-License-Identifier: Apache-2.0 */
#include "store/file_system.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/file_system_ops.h"
#include "store/memory.h"

#define MAX_TEMPORARY_NAMES 1000 /* tried before giving up */

/* ---- paths -------------------------------------------------------------------------------- */

const char *hd_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

hudi_status hd_path_parent(struct hd_op *op, const char *path, char **out)
{
    const char *name = hd_path_name(path);
    size_t n = (size_t)(name - path);

    if (n > 1)
        n--; /* the slash, unless it is the top */
    return hd_strndup(op, path, n, out);
}

hudi_status hd_path_join(struct hd_op *op, const char *a, const char *b, char **out)
{
    const size_t n = strlen(a);

    if (n == 0 || *b == '\0')
        return hd_strdup(op, n == 0 ? b : a, out);
    return hd_asprintf(op, out, "%s%s%s", a, a[n - 1] == '/' ? "" : "/", b);
}

static int compare_names(const void *a, const void *b)
{
    const struct hd_file_info *x = a, *y = b;

    return strcmp(x->name, y->name);
}

void hd_file_info_sort(struct hd_file_info *infos, size_t n)
{
    if (n > 1)
        qsort(infos, n, sizeof *infos, compare_names);
}

/* "/a//b/./c/" -> "/a/b/c". ".." stays: only the kernel knows what it means after a link. */
static void tidy_path(char *path)
{
    const char *from = path;
    char *to = path;

    while (*from != '\0') {
        while (*from == '/')
            from++;
        const size_t n = strcspn(from, "/");
        if (n > 0 && !(n == 1 && *from == '.')) {
            *to++ = '/';
            memmove(to, from, n);
            to += n;
        }
        from += n;
    }
    if (to == path)
        *to++ = '/';
    *to = '\0';
}

/* Bytes of the scheme before ":", 0 when there is none. One letter is no scheme, and neither is
 * what follows a slash: "./a:b" is a path. */
static size_t scheme_length(const char *uri)
{
    size_t n = 0;

    if (!isalpha((unsigned char)uri[0]))
        return 0;
    while (isalnum((unsigned char)uri[n]) || uri[n] == '+' || uri[n] == '-' || uri[n] == '.')
        n++;
    return uri[n] == ':' && n > 1 ? n : 0;
}

static hudi_status absolute_path(struct hd_op *op, const char *path, char **out)
{
    char cwd[PATH_MAX] = "";

    if (path[0] != '/' && getcwd(cwd, sizeof cwd) == NULL)
        return hd_fail_errno(op, errno, "no current folder to resolve %s in", path);
    HD_TRY(hd_asprintf(op, out, "%s/%s", cwd, path));
    tidy_path(*out);
    return HUDI_OK;
}

/* ---- opening ------------------------------------------------------------------------------ */

static hudi_status open_local(struct hd_op *op, const char *path, hd_file_system **out,
                              char **out_path)
{
    hudi_status status = HUDI_OK;
    char *absolute = NULL;

    if (*path == '\0')
        return hd_fail(op, HUDI_INVALID, "an empty path names no table");
    HD_TRY_OUT(absolute_path(op, path, &absolute));
    HD_TRY_OUT(hd_posix_file_system_new(op, out));
    *out_path = absolute;
    absolute = NULL;
out:
    hd_free(op, absolute);
    return status;
}

/* memory:NAME/path */
static hudi_status open_memory(struct hd_op *op, const char *rest, hd_file_system **out,
                               char **out_path)
{
    hudi_status status = HUDI_OK;
    char *name = NULL, *path = NULL;
    const size_t n = strcspn(rest, "/");

    if (n == 0)
        return hd_fail(op, HUDI_INVALID, "memory: without a name");
    HD_TRY_OUT(hd_strndup(op, rest, n, &name));
    HD_TRY_OUT(hd_asprintf(op, &path, "/%s", rest + n));
    tidy_path(path);
    HD_TRY_OUT(hd_memory_file_system_open(op, name, out));
    *out_path = path;
    path = NULL;
out:
    hd_free(op, name);
    hd_free(op, path);
    return status;
}

hudi_status hd_fs_open(struct hd_op *op, const char *uri, hd_file_system **out, char **out_path)
{
    const size_t n = scheme_length(uri);
    const char *rest = uri + n + 1;

    *out = NULL;
    *out_path = NULL;
    if (n == 0)
        return open_local(op, uri, out, out_path);
    if (n == 4 && strncmp(uri, "file", n) == 0) {
        if (strncmp(rest, "//", 2) == 0) { /* an authority, empty or this host */
            const size_t host = strcspn(rest + 2, "/");
            if (host != 0 && !(host == 9 && strncmp(rest + 2, "localhost", host) == 0))
                return hd_fail(op, HUDI_INVALID, "%s: a file URI of another host", uri);
            rest += 2 + host;
        }
        return open_local(op, rest, out, out_path);
    }
    if (n == 6 && strncmp(uri, "memory", n) == 0)
        return open_memory(op, rest, out, out_path);
    return hd_arrow_file_system_new(op, uri, out, out_path);
}

void hd_fs_free(hd_file_system *fs)
{
    if (fs != NULL)
        fs->ops->free(fs);
}

const char *hd_fs_scheme(const hd_file_system *fs)
{
    return fs->scheme;
}

hudi_status hd_fs_uri(struct hd_op *op, const hd_file_system *fs, const char *path, char **out)
{
    return hd_asprintf(op, out, "%s%s", fs->uri_prefix, path);
}

/* ---- dispatch ----------------------------------------------------------------------------- */

/* An unexpected failure names its file; documented outcomes have no error to name it in. */
static hudi_status with_path(struct hd_op *op, hudi_status status, const char *path)
{
    return status == HUDI_OK || op->error == NULL ? status : hd_fail_path(op, status, path);
}

hudi_status hd_fs_stat(struct hd_op *op, hd_file_system *fs, const char *path,
                       struct hd_file_info *out)
{
    *out = (struct hd_file_info){0};
    HD_TRY(hd_op_fault_point(op, "stat"));
    HD_TRY(with_path(op, fs->ops->stat(op, fs, path, out), path));
    out->name = hd_path_name(path);
    return HUDI_OK;
}

hudi_status hd_fs_list(struct hd_op *op, hd_file_system *fs, const char *dir,
                       struct hd_arena *arena, struct hd_file_info **out, size_t *n)
{
    *out = NULL;
    *n = 0;
    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(hd_op_fault_point(op, "list"));
    return with_path(op, fs->ops->list(op, fs, dir, arena, out, n), dir);
}

hudi_status hd_fs_list_names(struct hd_op *op, hd_file_system *fs, const char *dir,
                             struct hd_arena *arena, struct hd_file_info **out, size_t *n)
{
    if (fs->ops->list_names == NULL)
        return hd_fs_list(op, fs, dir, arena, out, n);
    *out = NULL;
    *n = 0;
    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(hd_op_fault_point(op, "list"));
    return with_path(op, fs->ops->list_names(op, fs, dir, arena, out, n), dir);
}

static hudi_status open_input(struct hd_op *op, hd_file_system *fs, const char *path,
                              hd_input_file **out)
{
    *out = NULL;
    HD_TRY(hd_op_fault_point(op, "open"));
    return with_path(op, fs->ops->open_input(op, fs, path, out), path);
}

hudi_status hd_fs_open_input(struct hd_op *op, hd_file_system *fs, const char *path,
                             hd_input_file **out)
{
    const hudi_status status = open_input(op, fs, path, out);

    if (status == HUDI_NOT_FOUND && op->error == NULL)
        return hd_fail_path(op, hd_fail(op, status, "no such file: %s", path), path);
    return status;
}

hudi_status hd_fs_read_file(struct hd_op *op, hd_file_system *fs, const char *path,
                            uint64_t max_bytes, uint8_t **out, size_t *n)
{
    hudi_status status = HUDI_OK;
    hd_input_file *file = NULL;
    uint8_t *bytes = NULL;

    *out = NULL;
    *n = 0;
    HD_TRY(open_input(op, fs, path, &file));
    const uint64_t size = hd_input_file_size(file);
    if (size > max_bytes) {
        status = hd_fail(op, HUDI_CORRUPT,
                         "file of %" PRIu64 " bytes, more than the %" PRIu64 " it may have", size,
                         max_bytes);
        goto out;
    }
    HD_TRY_OUT(hd_alloc_raw(op, (size_t)size + 1, 1, &bytes));
    HD_TRY_OUT(hd_input_file_read_at(op, file, 0, bytes, size));
    bytes[size] = 0;
    *out = bytes;
    *n = (size_t)size;
    bytes = NULL;
out:
    hd_free(op, bytes);
    hd_input_file_close(file);
    return with_path(op, status, path);
}

/* Remove the `.NAME.crc` that Hadoop would check NAME against. */
static hudi_status drop_crc(struct hd_op *op, hd_file_system *fs, const char *path)
{
    hudi_status status = HUDI_OK;
    char *crc = NULL;
    const char *name = hd_path_name(path);

    if (!fs->has_crc)
        return HUDI_OK;
    HD_TRY(hd_op_fault_point(op, "delete"));
    HD_TRY(hd_asprintf(op, &crc, "%.*s.%s.crc", (int)(name - path), path, name));
    status = with_path(op, fs->ops->delete_file(op, fs, crc), crc);
    hd_free(op, crc);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

static hudi_status open_output(struct hd_op *op, hd_file_system *fs, const char *path,
                               bool exclusive, hd_output_file **out)
{
    *out = NULL;
    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(hd_op_fault_point(op, "create"));
    HD_TRY(with_path(op, fs->ops->open_output(op, fs, path, exclusive, out), path));
    (*out)->faults = op->faults;
    return HUDI_OK;
}

hudi_status hd_fs_open_output(struct hd_op *op, hd_file_system *fs, const char *path,
                              bool exclusive, hd_output_file **out)
{
    hudi_status status = open_output(op, fs, path, exclusive, out);

    if (status == HUDI_EXISTS && op->error == NULL)
        return hd_fail_path(op, hd_fail(op, status, "file exists already: %s", path), path);
    if (status == HUDI_NOT_FOUND && op->error == NULL)
        return hd_fail_path(op, hd_fail(op, HUDI_IO, "no folder to create the file in: %s", path),
                            path);
    if (status == HUDI_OK) {
        status = drop_crc(op, fs, path);
        if (status != HUDI_OK) {
            hd_output_file_abort(*out);
            *out = NULL;
        }
    }
    return status;
}

bool hd_fs_can_append(const hd_file_system *fs)
{
    return fs->ops->open_append != NULL && !fs->put_is_atomic;
}

hudi_status hd_fs_open_append(struct hd_op *op, hd_file_system *fs, const char *path,
                              uint64_t size_bytes, hd_output_file **out)
{
    *out = NULL;
    if (!hd_fs_can_append(fs))
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "files of %s cannot be written on", fs->scheme);
    HD_TRY(hd_op_check_cancel(op));
    HD_TRY(drop_crc(op, fs, path));
    HD_TRY(hd_op_fault_point(op, "append"));
    HD_TRY(with_path(op, fs->ops->open_append(op, fs, path, size_bytes, out), path));
    (*out)->faults = op->faults;
    (*out)->position = size_bytes;
    return HUDI_OK;
}

hudi_status hd_fs_delete_file(struct hd_op *op, hd_file_system *fs, const char *path)
{
    HD_TRY(drop_crc(op, fs, path));
    HD_TRY(hd_op_fault_point(op, "delete"));
    return with_path(op, fs->ops->delete_file(op, fs, path), path);
}

static hudi_status rename_file(struct hd_op *op, hd_file_system *fs, const char *from,
                               const char *to, bool replace)
{
    HD_TRY(hd_op_fault_point(op, "rename"));
    return with_path(op, fs->ops->rename(op, fs, from, to, replace), to);
}

bool hd_fs_shows_whole_files(const hd_file_system *fs)
{
    return fs->put_is_atomic;
}

hudi_status hd_fs_rename(struct hd_op *op, hd_file_system *fs, const char *from, const char *to)
{
    struct hd_file_info info;
    hudi_status status = hd_fs_stat(op, fs, to, &info);

    if (status == HUDI_OK)
        status = HUDI_EXISTS;
    else if (status == HUDI_NOT_FOUND)
        status = drop_crc(op, fs, to);
    if (status == HUDI_OK)
        status = rename_file(op, fs, from, to, false);
    if (status == HUDI_OK)
        status = drop_crc(op, fs, from);
    if (op->error != NULL)
        return status;
    if (status == HUDI_EXISTS)
        return hd_fail_path(op, hd_fail(op, status, "file exists already: %s", to), to);
    if (status == HUDI_NOT_FOUND)
        return hd_fail_path(op, hd_fail(op, status, "no such file: %s", from), from);
    return status;
}

hudi_status hd_fs_delete_tree(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    HD_TRY(hd_op_fault_point(op, "delete"));
    const hudi_status status = with_path(op, fs->ops->delete_tree(op, fs, dir), dir);

    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

hudi_status hd_fs_make_dirs(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    HD_TRY(hd_op_fault_point(op, "mkdir"));
    return with_path(op, fs->ops->make_dirs(op, fs, dir), dir);
}

hudi_status hd_fs_sync_dir(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    HD_TRY(hd_op_fault_point(op, "sync"));
    const hudi_status status = with_path(op, fs->ops->sync_dir(op, fs, dir), dir);

    if (status == HUDI_NOT_FOUND && op->error == NULL)
        return hd_fail_path(op, hd_fail(op, HUDI_IO, "no such folder: %s", dir), dir);
    return status;
}

/* ---- files in one visible step ------------------------------------------------------------ */

/*
 * The temporary name holds nothing of the final one: some readers of Hudi take every name that
 * *contains* ".parquet" for a base file and every name that contains ".log" for a log file, and an
 * instant starts with a digit. ".tmp-{uuid}" is none of them.
 */
static hudi_status temporary_path(struct hd_op *op, const char *path, char **out)
{
    char uuid[HD_UUID_BYTES];

    hd_random_uuid(op, uuid);
    return hd_asprintf(op, out, "%.*s" HD_TEMPORARY_PREFIX "%s", (int)(hd_path_name(path) - path),
                       path, uuid);
}

/* A new file for what is to become `path`; another process with the same random sequence (a copy of
 * this one) may have taken the name. */
static hudi_status create_temporary(struct hd_op *op, hd_file_system *fs, const char *path,
                                    char **temporary, hd_output_file **out)
{
    for (int left = MAX_TEMPORARY_NAMES;; left--) {
        HD_TRY(temporary_path(op, path, temporary));
        const hudi_status status = open_output(op, fs, *temporary, true, out);
        if (status != HUDI_EXISTS || left == 0)
            return status;
        hd_free(op, *temporary);
        *temporary = NULL;
    }
}

/* Write and close; a file that fails is gone. */
static hudi_status fill(struct hd_op *op, hd_output_file *file, const void *bytes, size_t n)
{
    const hudi_status status = hd_output_file_write(op, file, bytes, n);

    if (status != HUDI_OK) {
        hd_output_file_abort(file);
        return status;
    }
    return hd_output_file_close(op, file, true);
}

/* Remove a temporary file after a failure, keeping that failure; after a crash it stays. */
static void discard(struct hd_op *op, hd_file_system *fs, const char *path)
{
    if (op->faults == NULL || !op->faults->fired || !op->faults->sticky) {
        struct hd_op quiet;

        hd_op_init_child(&quiet, op);
        quiet.faults = NULL;
        (void)fs->ops->delete_file(&quiet, fs, path);
        hd_op_clear(&quiet);
    }
}

static hudi_status put_whole(struct hd_op *op, hd_file_system *fs, const char *path, bool replace,
                             const void *bytes, size_t n)
{
    hudi_status status = HUDI_OK;
    char *temporary = NULL, *dir = NULL;
    hd_output_file *file;
    bool written = false;

    HD_TRY(hd_op_check_cancel(op));
    if (fs->put_is_atomic) {
        HD_TRY(open_output(op, fs, path, !replace, &file));
        return fill(op, file, bytes, n);
    }
    HD_TRY_OUT(hd_path_parent(op, path, &dir));
    HD_TRY_OUT(create_temporary(op, fs, path, &temporary, &file));
    written = true;
    HD_TRY_OUT(fill(op, file, bytes, n));
    HD_TRY_OUT(drop_crc(op, fs, path));
    HD_TRY_OUT(rename_file(op, fs, temporary, path, replace));
    written = false;
    HD_TRY_OUT(hd_fs_sync_dir(op, fs, dir));
out:
    if (written)
        discard(op, fs, temporary);
    hd_free(op, temporary);
    hd_free(op, dir);
    if (status == HUDI_NOT_FOUND && op->error == NULL)
        return hd_fail_path(op, hd_fail(op, HUDI_IO, "no folder to create the file in: %s", path),
                            path);
    return status;
}

hudi_status hd_fs_publish(struct hd_op *op, hd_file_system *fs, const char *path, const void *bytes,
                          size_t n)
{
    struct hd_file_info info;
    const hudi_status status = hd_fs_stat(op, fs, path, &info);

    /* The common loser of a race is told before it writes and before the winner's `.crc` goes. */
    if (status == HUDI_OK)
        return HUDI_EXISTS;
    if (status != HUDI_NOT_FOUND)
        return status;
    return put_whole(op, fs, path, false, bytes, n);
}

hudi_status hd_fs_replace(struct hd_op *op, hd_file_system *fs, const char *path, const void *bytes,
                          size_t n)
{
    return put_whole(op, fs, path, true, bytes, n);
}

/* ---- locks -------------------------------------------------------------------------------- */

hudi_status hd_fs_lock(struct hd_op *op, hd_file_system *fs, const char *path, uint64_t wait_ms,
                       struct hd_fs_lock **out)
{
    const uint64_t started_ms = hd_now_ms(op);
    uint64_t pause_ms = 1;

    *out = NULL;
    if (fs->ops->try_lock == NULL)
        return hd_fail(op, HUDI_NOT_IMPLEMENTED, "file locks on a store of scheme %s", fs->scheme);
    for (;;) {
        HD_TRY(hd_op_check_cancel(op));
        HD_TRY(hd_op_fault_point(op, "lock"));
        const hudi_status status = with_path(op, fs->ops->try_lock(op, fs, path, out), path);
        if (status == HUDI_NOT_FOUND && op->error == NULL)
            return hd_fail_path(op, hd_fail(op, HUDI_IO, "no folder for the lock file: %s", path),
                                path);
        if (status != HUDI_CONFLICT || op->error != NULL)
            return status;
        const uint64_t waited_ms = hd_now_ms(op) - started_ms;
        if (waited_ms >= wait_ms) {
            (void)hd_fail(op, HUDI_CONFLICT,
                          "lock is held by another process, waited %" PRIu64 " ms", waited_ms);
            (void)hd_fail_path(op, HUDI_CONFLICT, path);
            return hd_fail_retriable(op, HUDI_CONFLICT);
        }
        if (pause_ms > wait_ms - waited_ms)
            pause_ms = wait_ms - waited_ms;
        hd_sleep_ms(op, pause_ms);
        pause_ms = pause_ms < 32 ? pause_ms * 2 : 50;
    }
}

void hd_fs_unlock(struct hd_fs_lock *lock)
{
    if (lock != NULL)
        lock->ops->unlock(lock);
}
