/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local disk. Interrupted and partial system calls are continued; what a disk refuses (full, read
 * only, not permitted) comes out as the kernel's own words with the path.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file_system_ops.h"

#define BUFFER_BYTES 65536u
#define MAX_TREE_DEPTH 256

/* As many bytes as one call of read or write takes; the kernel stops at 2 GiB anyway. */
#define MAX_CALL_BYTES (1u << 30)

static hudi_status open_fd(struct hd_op *op, const char *path, int flags, int *out)
{
    int fd;

    do
        fd = open(path, flags | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    *out = fd;
    if (fd >= 0)
        return HUDI_OK;
    if (errno == ENOENT || errno == ENOTDIR)
        return HUDI_NOT_FOUND;
    if (errno == EEXIST)
        return HUDI_EXISTS;
    return hd_fail_errno(op, errno, "cannot open %s", path);
}

static hudi_status sync_fd(struct hd_op *op, int fd, const char *path)
{
    int rc;

    do
        rc = fsync(fd);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? HUDI_OK : hd_fail_errno(op, errno, "cannot sync %s", path);
}

/* ---- input -------------------------------------------------------------------------------- */

struct posix_input {
    hd_input_file file;
    int fd;
};

static hudi_status input_read_at(struct hd_op *op, hd_input_file *file, uint64_t offset, void *into,
                                 uint64_t n)
{
    const int fd = ((struct posix_input *)file)->fd;
    uint8_t *at = into;

    while (n > 0) {
        const size_t want = n > MAX_CALL_BYTES ? MAX_CALL_BYTES : (size_t)n;
        const ssize_t got = pread(fd, at, want, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return hd_fail_errno(op, errno, "cannot read %zu bytes at byte %" PRIu64, want, offset);
        if (got == 0)
            return hd_fail(op, HUDI_CORRUPT, "file ends at byte %" PRIu64 ", it had %" PRIu64,
                           offset, file->size);
        at += got;
        offset += (uint64_t)got;
        n -= (uint64_t)got;
    }
    return HUDI_OK;
}

static void input_close(hd_input_file *file)
{
    (void)close(((struct posix_input *)file)->fd);
    hd_input_file_release(file);
}

static const struct hd_input_file_ops INPUT_OPS = {input_read_at, input_close};

hudi_status hd_posix_input_of(struct hd_op *op, int fd, const char *path, uint64_t n_bytes,
                              hd_input_file **out)
{
    HD_TRY(hd_input_file_init(op, sizeof(struct posix_input), &INPUT_OPS, path, n_bytes, out));
    ((struct posix_input *)*out)->fd = fd;
    return HUDI_OK;
}

static hudi_status posix_open_input(struct hd_op *op, hd_file_system *fs, const char *path,
                                    hd_input_file **out)
{
    hudi_status status;
    struct stat info;
    int fd;

    (void)fs;
    HD_TRY(open_fd(op, path, O_RDONLY, &fd));
    if (fstat(fd, &info) != 0)
        status = hd_fail_errno(op, errno, "cannot stat %s", path);
    else if (S_ISDIR(info.st_mode))
        status = hd_fail(op, HUDI_IO, "is a folder, not a file: %s", path);
    else
        status = hd_posix_input_of(op, fd, path, (uint64_t)info.st_size, out);
    if (status != HUDI_OK)
        (void)close(fd);
    return status;
}

/* ---- output ------------------------------------------------------------------------------- */

struct posix_output {
    hd_output_file file;
    int fd;
    size_t n_buffered;
    uint8_t buffer[BUFFER_BYTES];
    bool is_regular; /* else a device or pipe: never synced, never unlinked */
    bool appends;    /* to a file that had `start` bytes */
    uint64_t start;
};

static hudi_status write_all(struct hd_op *op, int fd, const uint8_t *bytes, uint64_t n)
{
    while (n > 0) {
        const size_t want = n > MAX_CALL_BYTES ? MAX_CALL_BYTES : (size_t)n;
        const ssize_t done = write(fd, bytes, want);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return hd_fail_errno(op, errno, "cannot write %zu bytes", want);
        if (done == 0)
            return hd_fail(op, HUDI_IO, "disk took none of %zu bytes", want);
        bytes += done;
        n -= (uint64_t)done;
    }
    return HUDI_OK;
}

static hudi_status output_flush(struct hd_op *op, struct posix_output *self)
{
    const size_t n = self->n_buffered;

    self->n_buffered = 0;
    return write_all(op, self->fd, self->buffer, n);
}

static hudi_status output_write(struct hd_op *op, hd_output_file *file, const void *bytes,
                                uint64_t n)
{
    struct posix_output *self = (struct posix_output *)file;

    if (n > BUFFER_BYTES - self->n_buffered)
        HD_TRY(output_flush(op, self));
    if (n >= BUFFER_BYTES)
        return write_all(op, self->fd, bytes, n);
    memcpy(self->buffer + self->n_buffered, bytes, (size_t)n);
    self->n_buffered += (size_t)n;
    return HUDI_OK;
}

static hudi_status output_sync(struct hd_op *op, hd_output_file *file)
{
    struct posix_output *self = (struct posix_output *)file;

    HD_TRY(output_flush(op, self));
    return self->is_regular ? sync_fd(op, self->fd, file->path) : HUDI_OK;
}

static hudi_status output_close(struct hd_op *op, hd_output_file *file)
{
    struct posix_output *self = (struct posix_output *)file;
    hudi_status status = output_flush(op, self);

    /* After EINTR the descriptor is gone on Linux; other failures are of writes not yet done. */
    if (close(self->fd) != 0 && errno != EINTR)
        HD_KEEP(hd_fail_errno(op, errno, "cannot close"));
    hd_output_file_release(file);
    return status;
}

static void output_abort(hd_output_file *file, bool keep)
{
    const struct posix_output *self = (struct posix_output *)file;

    if (!keep && self->appends && ftruncate(self->fd, (off_t)self->start) != 0) {
        /* What is left is of a write that failed: its rollback says so. */
    }
    (void)close(self->fd);
    if (!keep && self->is_regular && !self->appends)
        (void)unlink(file->path);
    hd_output_file_release(file);
}

static const struct hd_output_file_ops OUTPUT_OPS = {output_write, output_sync, output_close,
                                                     output_abort};

static hudi_status posix_open_output(struct hd_op *op, hd_file_system *fs, const char *path,
                                     bool exclusive, hd_output_file **out)
{
    struct stat info;
    int fd;

    (void)fs;
    HD_TRY(open_fd(op, path, O_WRONLY | O_CREAT | (exclusive ? O_EXCL : O_TRUNC), &fd));
    const bool is_regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    const hudi_status status =
        hd_output_file_init(op, sizeof(struct posix_output), &OUTPUT_OPS, path, out);
    if (status != HUDI_OK) {
        (void)close(fd);
        if (is_regular)
            (void)unlink(path);
        return status;
    }
    ((struct posix_output *)*out)->fd = fd;
    ((struct posix_output *)*out)->is_regular = is_regular;
    return HUDI_OK;
}

static hudi_status posix_open_append(struct hd_op *op, hd_file_system *fs, const char *path,
                                     uint64_t size_bytes, hd_output_file **out)
{
    hudi_status status = HUDI_OK;
    struct stat info;
    int fd;

    (void)fs;
    HD_TRY(open_fd(op, path, O_WRONLY | O_APPEND, &fd));
    if (fstat(fd, &info) != 0)
        status = hd_fail_errno(op, errno, "cannot stat %s", path);
    else if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size != size_bytes)
        status = HUDI_CONFLICT;
    if (status == HUDI_OK)
        status = hd_output_file_init(op, sizeof(struct posix_output), &OUTPUT_OPS, path, out);
    if (status != HUDI_OK) {
        (void)close(fd);
        return status;
    }
    struct posix_output *const self = (struct posix_output *)*out;
    self->fd = fd;
    self->is_regular = self->appends = true;
    self->start = size_bytes;
    return HUDI_OK;
}

/* ---- names -------------------------------------------------------------------------------- */

static void fill_info(const struct stat *info, struct hd_file_info *out)
{
    out->is_dir = S_ISDIR(info->st_mode);
    out->size_bytes = out->is_dir ? 0 : (uint64_t)info->st_size;
    out->modified_ms =
        (int64_t)info->st_mtim.tv_sec * 1000 + (int64_t)info->st_mtim.tv_nsec / 1000000;
}

static hudi_status posix_stat(struct hd_op *op, hd_file_system *fs, const char *path,
                              struct hd_file_info *out)
{
    struct stat info;

    (void)fs;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR ? HUDI_NOT_FOUND
                                                   : hd_fail_errno(op, errno, "cannot stat");
    fill_info(&info, out);
    return HUDI_OK;
}

static bool is_dot(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* What the entry's type says, where it says something: links and some file systems do not. */
static bool info_of_type(unsigned char type, struct hd_file_info *out)
{
    out->is_dir = type == DT_DIR;
    return type == DT_DIR || type == DT_REG;
}

static hudi_status list_entries(struct hd_op *op, DIR *dir, bool names_only, struct hd_arena *arena,
                                struct hd_file_info **infos, size_t *n)
{
    size_t capacity = 0;

    for (;;) {
        struct hd_file_info entry_info = {0};
        struct stat info;
        char *name;

        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (entry == NULL)
            return errno == 0 ? HUDI_OK : hd_fail_errno(op, errno, "cannot list folder");
        if (is_dot(entry->d_name))
            continue;
        if (!names_only || !info_of_type(entry->d_type, &entry_info)) {
            if (fstatat(dirfd(dir), entry->d_name, &info, 0) != 0) {
                if (errno == ENOENT)
                    continue; /* deleted since, or a link to nothing */
                return hd_fail_errno(op, errno, "cannot stat %s", entry->d_name);
            }
            fill_info(&info, &entry_info);
        }
        HD_TRY(hd_arena_strdup(op, arena, entry->d_name, &name));
        entry_info.name = name;
        HD_TRY(hd_grow(op, infos, &capacity, *n + 1, sizeof **infos));
        (*infos)[(*n)++] = entry_info;
    }
}

static hudi_status open_dir(struct hd_op *op, const char *path, int extra_flags, DIR **out)
{
    int fd;

    *out = NULL;
    HD_TRY(open_fd(op, path, O_RDONLY | O_DIRECTORY | extra_flags, &fd));
    *out = fdopendir(fd);
    if (*out == NULL) {
        const int error = errno;
        (void)close(fd);
        return hd_fail_errno(op, error, "cannot list folder");
    }
    return HUDI_OK;
}

static hudi_status list_folder(struct hd_op *op, const char *path, bool names_only,
                               struct hd_arena *arena, struct hd_file_info **out, size_t *n)
{
    hudi_status status = HUDI_OK;
    struct hd_file_info *infos = NULL;
    size_t n_infos = 0;
    DIR *dir;

    HD_TRY(open_dir(op, path, 0, &dir));
    HD_TRY_OUT(list_entries(op, dir, names_only, arena, &infos, &n_infos));
    HD_TRY_OUT(hd_arena_array(op, arena, n_infos + 1, sizeof **out, out));
    if (n_infos > 0)
        memcpy(*out, infos, n_infos * sizeof *infos);
    hd_file_info_sort(*out, n_infos);
    *n = n_infos;
out:
    hd_free(op, infos);
    (void)closedir(dir);
    return status;
}

static hudi_status posix_list(struct hd_op *op, hd_file_system *fs, const char *path,
                              struct hd_arena *arena, struct hd_file_info **out, size_t *n)
{
    (void)fs;
    return list_folder(op, path, false, arena, out, n);
}

static hudi_status posix_list_names(struct hd_op *op, hd_file_system *fs, const char *path,
                                    struct hd_arena *arena, struct hd_file_info **out, size_t *n)
{
    (void)fs;
    return list_folder(op, path, true, arena, out, n);
}

/* rename() that does not replace, where the file system lacks RENAME_NOREPLACE: a hard link fails
 * when the name is taken. Folders cannot be linked; for them the check before has to do. */
static int rename_by_link(const char *from, const char *to)
{
    struct stat info;

    if (lstat(from, &info) != 0)
        return -1;
    if (S_ISDIR(info.st_mode)) {
        if (lstat(to, &info) == 0) {
            errno = EEXIST;
            return -1;
        }
        return rename(from, to);
    }
    if (link(from, to) != 0)
        return -1;
    return unlink(from);
}

static hudi_status posix_rename(struct hd_op *op, hd_file_system *fs, const char *from,
                                const char *to, bool replace)
{
    int rc;

    (void)fs;
    if (replace) {
        rc = rename(from, to);
    } else {
        rc = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
        if (rc != 0 && (errno == ENOSYS || errno == EINVAL || errno == ENOTSUP))
            rc = rename_by_link(from, to);
    }
    if (rc == 0)
        return HUDI_OK;
    if (errno == EEXIST)
        return HUDI_EXISTS;
    return errno == ENOENT ? HUDI_NOT_FOUND : hd_fail_errno(op, errno, "cannot rename %s", from);
}

static hudi_status posix_delete_file(struct hd_op *op, hd_file_system *fs, const char *path)
{
    (void)fs;
    if (unlink(path) == 0)
        return HUDI_OK;
    return errno == ENOENT || errno == ENOTDIR ? HUDI_NOT_FOUND
                                               : hd_fail_errno(op, errno, "cannot delete");
}

/* Links are removed, never followed. Names are collected first: deleting while reading a folder
 * may skip some. */
static hudi_status delete_below(struct hd_op *op, const char *path, int depth)
{
    hudi_status status = HUDI_OK;
    struct hd_arena arena = {0};
    char *child = NULL;
    size_t n = 0, capacity = 0;
    char **names = NULL;
    DIR *dir;

    if (depth > MAX_TREE_DEPTH)
        return hd_fail(op, HUDI_IO, "folders nested more than %d deep", MAX_TREE_DEPTH);
    HD_TRY(open_dir(op, path, O_NOFOLLOW, &dir));
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (is_dot(entry->d_name))
            continue;
        HD_TRY_OUT(hd_grow(op, &names, &capacity, n + 1, sizeof *names));
        HD_TRY_OUT(hd_arena_strdup(op, &arena, entry->d_name, &names[n]));
        n++;
    }
    for (size_t i = 0; i < n; i++) {
        hd_free(op, child);
        child = NULL;
        HD_TRY_OUT(hd_path_join(op, path, names[i], &child));
        HD_TRY_OUT(hd_op_fault_point(op, "delete"));
        if (unlink(child) == 0 || errno == ENOENT)
            continue;
        if (errno != EISDIR) {
            status = hd_fail_errno(op, errno, "cannot delete %s", child);
            goto out;
        }
        HD_TRY_OUT(delete_below(op, child, depth + 1));
        if (rmdir(child) != 0 && errno != ENOENT) {
            status = hd_fail_errno(op, errno, "cannot delete %s", child);
            goto out;
        }
    }
out:
    hd_free(op, child);
    hd_free(op, names);
    hd_arena_clear(&arena);
    (void)closedir(dir);
    return status == HUDI_NOT_FOUND ? HUDI_OK : status;
}

static hudi_status posix_delete_tree(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    (void)fs;
    if (unlink(dir) == 0)
        return HUDI_OK;
    if (errno == ENOENT || errno == ENOTDIR)
        return HUDI_NOT_FOUND;
    if (errno != EISDIR)
        return hd_fail_errno(op, errno, "cannot delete");
    HD_TRY(delete_below(op, dir, 0));
    if (rmdir(dir) != 0 && errno != ENOENT)
        return hd_fail_errno(op, errno, "cannot delete");
    return HUDI_OK;
}

static hudi_status posix_sync_dir(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    int fd;

    (void)fs;
    HD_TRY(open_fd(op, dir, O_RDONLY | O_DIRECTORY, &fd));
    const hudi_status status = sync_fd(op, fd, dir);
    (void)close(fd);
    return status;
}

static hudi_status posix_make_dirs(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    hudi_status status = HUDI_OK;
    struct stat info;
    char *parent = NULL;

    if (stat(dir, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return HUDI_OK;
        return hd_fail(op, HUDI_IO, "a file is where a folder should be");
    }
    if (errno != ENOENT)
        return hd_fail_errno(op, errno, "cannot make folder %s", dir);
    HD_TRY(hd_path_parent(op, dir, &parent));
    if (mkdir(dir, 0777) != 0) {
        int error = errno;
        if (error == ENOENT && strcmp(parent, dir) != 0) {
            HD_TRY_OUT(posix_make_dirs(op, fs, parent));
            error = mkdir(dir, 0777) == 0 ? 0 : errno;
        }
        if (error != 0 && error != EEXIST) {
            status = hd_fail_errno(op, error, "cannot make folder %s", dir);
            goto out;
        }
    }
    HD_TRY_OUT(hd_op_fault_point(op, "sync"));
    HD_TRY_OUT(posix_sync_dir(op, fs, parent));
out:
    hd_free(op, parent);
    return status;
}

/* ---- locks -------------------------------------------------------------------------------- */

struct posix_lock {
    struct hd_fs_lock lock;
    int fd;
};

static void posix_unlock(struct hd_fs_lock *lock)
{
    (void)close(((struct posix_lock *)lock)->fd);
    hd_free(NULL, lock);
}

static const struct hd_fs_lock_ops LOCK_OPS = {posix_unlock};

/* Locks of the open file description: they hold between threads too, and end with the descriptor.
 * flock() where the file system knows no such locks. */
static int lock_fd(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc = fcntl(fd, F_OFD_SETLK, &whole);

    if (rc != 0 && (errno == EINVAL || errno == ENOLCK || errno == ENOTSUP))
        rc = flock(fd, LOCK_EX | LOCK_NB);
    return rc;
}

static hudi_status posix_try_lock(struct hd_op *op, hd_file_system *fs, const char *path,
                                  struct hd_fs_lock **out)
{
    hudi_status status = HUDI_OK;
    struct posix_lock *lock = NULL;
    int fd;

    (void)fs;
    HD_TRY(open_fd(op, path, O_RDWR | O_CREAT, &fd));
    if (lock_fd(fd) != 0) {
        if (errno == EAGAIN || errno == EACCES || errno == EINTR)
            status = HUDI_CONFLICT;
        else
            status = hd_fail_errno(op, errno, "cannot lock");
        goto out;
    }
    HD_TRY_OUT(hd_alloc(op, sizeof *lock, &lock));
    *lock = (struct posix_lock){.lock.ops = &LOCK_OPS, .fd = fd};
    *out = &lock->lock;
    fd = -1;
out:
    if (fd >= 0)
        (void)close(fd);
    return status;
}

/* ---- the file system ---------------------------------------------------------------------- */

static void posix_free(hd_file_system *fs)
{
    hd_free(NULL, fs);
}

static const struct hd_file_system_ops POSIX_OPS = {
    .stat = posix_stat,
    .list = posix_list,
    .list_names = posix_list_names,
    .open_input = posix_open_input,
    .open_output = posix_open_output,
    .open_append = posix_open_append,
    .rename = posix_rename,
    .delete_file = posix_delete_file,
    .delete_tree = posix_delete_tree,
    .make_dirs = posix_make_dirs,
    .sync_dir = posix_sync_dir,
    .try_lock = posix_try_lock,
    .free = posix_free,
};

hudi_status hd_posix_file_system_new(struct hd_op *op, hd_file_system **out)
{
    hd_file_system *fs;

    HD_TRY(hd_alloc(op, sizeof *fs, &fs));
    *fs = (hd_file_system){
        .ops = &POSIX_OPS, .scheme = "file", .uri_prefix = "file:", .has_crc = true};
    *out = fs;
    return HUDI_OK;
}
