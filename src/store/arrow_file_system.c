/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Object stores and HDFS through Arrow. What they lack against a disk: no locks, so that concurrent
 * writers need a lock provider elsewhere; on object stores an exclusive create is a look before a
 * put (two writers at the same moment both succeed: again the lock), and a rename copies. A file is
 * whole and durable when it is closed, and folders need no sync.
 */
#include <string.h>

#include "store/arrow_cpp/file_system.h"
#include "store/file_system_ops.h"

struct arrow_fs {
    hd_file_system fs;
    void *self;
    char *scheme;
    char *prefix;
};

static void *self_of(hd_file_system *fs)
{
    return ((struct arrow_fs *)fs)->self;
}

/* ---- files -------------------------------------------------------------------------------- */

struct arrow_input {
    hd_input_file file;
    void *self;
};

static hudi_status input_read_at(struct hd_op *op, hd_input_file *file, uint64_t offset, void *into,
                                 uint64_t n)
{
    return hd_arrow_input_read_at(op, ((struct arrow_input *)file)->self, offset, into, n);
}

static void input_close(hd_input_file *file)
{
    hd_arrow_input_close(((struct arrow_input *)file)->self);
    hd_input_file_release(file);
}

static const struct hd_input_file_ops INPUT_OPS = {input_read_at, input_close};

static hudi_status arrow_open_input(struct hd_op *op, hd_file_system *fs, const char *path,
                                    hd_input_file **out)
{
    uint64_t size;
    void *self;

    HD_TRY(hd_arrow_input_open(op, self_of(fs), path, &size, &self));
    const hudi_status status =
        hd_input_file_init(op, sizeof(struct arrow_input), &INPUT_OPS, path, size, out);
    if (status != HUDI_OK)
        hd_arrow_input_close(self);
    else
        ((struct arrow_input *)*out)->self = self;
    return status;
}

struct arrow_output {
    hd_output_file file;
    void *self;
    hd_file_system *fs;
    bool appends;
};

static hudi_status output_write(struct hd_op *op, hd_output_file *file, const void *bytes,
                                uint64_t n)
{
    return hd_arrow_output_write(op, ((struct arrow_output *)file)->self, bytes, n);
}

static hudi_status output_sync(struct hd_op *op, hd_output_file *file)
{
    (void)op;
    (void)file;
    return HUDI_OK; /* by closing */
}

static hudi_status output_close(struct hd_op *op, hd_output_file *file)
{
    const hudi_status status = hd_arrow_output_close(op, ((struct arrow_output *)file)->self);

    hd_output_file_release(file);
    return status;
}

/* In an object store nothing has become visible yet, elsewhere a part. Arrow cannot cut a file
 * back: what was appended stays. */
static void output_abort(hd_output_file *file, bool keep)
{
    struct arrow_output *self = (struct arrow_output *)file;
    struct hd_op quiet;

    hd_arrow_output_abort(self->self);
    if (!keep && !self->appends && !self->fs->put_is_atomic) {
        hd_op_init(&quiet);
        (void)hd_arrow_fs_delete_file(&quiet, self_of(self->fs), file->path);
        hd_op_clear(&quiet);
    }
    hd_output_file_release(file);
}

static const struct hd_output_file_ops OUTPUT_OPS = {output_write, output_sync, output_close,
                                                     output_abort};

typedef hudi_status open_call(struct hd_op *op, void *self, const char *path, void **out);

static hudi_status open_file(struct hd_op *op, hd_file_system *fs, const char *path,
                             open_call *open, hd_output_file **out)
{
    hd_output_file *file;

    HD_TRY(hd_output_file_init(op, sizeof(struct arrow_output), &OUTPUT_OPS, path, &file));
    struct arrow_output *self = (struct arrow_output *)file;
    self->fs = fs;
    const hudi_status status = open(op, self_of(fs), path, &self->self);
    if (status != HUDI_OK) {
        hd_output_file_release(file);
        return status;
    }
    *out = file;
    return HUDI_OK;
}

static hudi_status arrow_open_output(struct hd_op *op, hd_file_system *fs, const char *path,
                                     bool exclusive, hd_output_file **out)
{
    struct hd_arrow_info info;

    if (exclusive) {
        const hudi_status found = hd_arrow_fs_stat(op, self_of(fs), path, &info);
        if (found != HUDI_NOT_FOUND)
            return found == HUDI_OK ? HUDI_EXISTS : found;
    }
    return open_file(op, fs, path, hd_arrow_output_open, out);
}

static hudi_status arrow_open_append(struct hd_op *op, hd_file_system *fs, const char *path,
                                     uint64_t size_bytes, hd_output_file **out)
{
    struct hd_arrow_info info;

    HD_TRY(hd_arrow_fs_stat(op, self_of(fs), path, &info));
    if (info.is_dir || info.size_bytes != size_bytes)
        return HUDI_CONFLICT;
    HD_TRY(open_file(op, fs, path, hd_arrow_output_append, out));
    ((struct arrow_output *)*out)->appends = true;
    return HUDI_OK;
}

/* ---- names -------------------------------------------------------------------------------- */

static hudi_status arrow_stat(struct hd_op *op, hd_file_system *fs, const char *path,
                              struct hd_file_info *out)
{
    struct hd_arrow_info info;

    HD_TRY(hd_arrow_fs_stat(op, self_of(fs), path, &info));
    *out = (struct hd_file_info){
        .size_bytes = info.size_bytes, .modified_ms = info.modified_ms, .is_dir = info.is_dir};
    return HUDI_OK;
}

struct listing {
    struct hd_arena *arena;
    struct hd_file_info *infos;
    size_t n;
    size_t capacity;
};

static hudi_status add_entry(struct hd_op *op, void *argument, const char *name,
                             const struct hd_arrow_info *info)
{
    struct listing *to = argument;
    char *copy;

    HD_TRY(hd_grow(op, &to->infos, &to->capacity, to->n + 1, sizeof *to->infos));
    HD_TRY(hd_arena_strdup(op, to->arena, name, &copy));
    to->infos[to->n++] = (struct hd_file_info){.name = copy,
                                               .size_bytes = info->size_bytes,
                                               .modified_ms = info->modified_ms,
                                               .is_dir = info->is_dir};
    return HUDI_OK;
}

static hudi_status arrow_list(struct hd_op *op, hd_file_system *fs, const char *dir,
                              struct hd_arena *arena, struct hd_file_info **out, size_t *n)
{
    struct listing listing = {.arena = arena};
    hudi_status status = HUDI_OK;

    HD_TRY_OUT(hd_arrow_fs_list(op, self_of(fs), dir, &listing, add_entry));
    HD_TRY_OUT(hd_arena_array(op, arena, listing.n + 1, sizeof **out, out));
    if (listing.n > 0)
        memcpy(*out, listing.infos, listing.n * sizeof *listing.infos);
    hd_file_info_sort(*out, listing.n);
    *n = listing.n;
out:
    hd_free(op, listing.infos);
    return status;
}

static hudi_status arrow_rename(struct hd_op *op, hd_file_system *fs, const char *from,
                                const char *to, bool replace)
{
    struct hd_arrow_info info;

    if (!replace) {
        const hudi_status found = hd_arrow_fs_stat(op, self_of(fs), to, &info);
        if (found != HUDI_NOT_FOUND)
            return found == HUDI_OK ? HUDI_EXISTS : found;
    }
    return hd_arrow_fs_rename(op, self_of(fs), from, to);
}

static hudi_status arrow_delete_file(struct hd_op *op, hd_file_system *fs, const char *path)
{
    return hd_arrow_fs_delete_file(op, self_of(fs), path);
}

static hudi_status arrow_delete_tree(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    return hd_arrow_fs_delete_tree(op, self_of(fs), dir);
}

static hudi_status arrow_make_dirs(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    const hudi_status status = hd_arrow_fs_make_dirs(op, self_of(fs), dir);

    if (status == HUDI_NOT_FOUND)
        return hd_fail(op, HUDI_IO, "a file is where a folder should be");
    return status;
}

static hudi_status arrow_sync_dir(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    (void)op;
    (void)fs;
    (void)dir;
    return HUDI_OK;
}

static void arrow_free(hd_file_system *fs)
{
    struct arrow_fs *self = (struct arrow_fs *)fs;

    hd_arrow_fs_free(self->self);
    hd_free(NULL, self->scheme);
    hd_free(NULL, self->prefix);
    hd_free(NULL, self);
}

static const struct hd_file_system_ops ARROW_OPS = {
    .stat = arrow_stat,
    .list = arrow_list,
    .open_input = arrow_open_input,
    .open_output = arrow_open_output,
    .open_append = arrow_open_append,
    .rename = arrow_rename,
    .delete_file = arrow_delete_file,
    .delete_tree = arrow_delete_tree,
    .make_dirs = arrow_make_dirs,
    .sync_dir = arrow_sync_dir,
    .free = arrow_free,
};

/* "s3://bucket/key": prefix "s3:/" before the path "/bucket/key"; "hdfs://host/key": "hdfs://host"
 * before "/key". */
static hudi_status set_names(struct hd_op *op, struct arrow_fs *fs, const char *uri)
{
    const size_t n_scheme = strcspn(uri, ":");
    const char *path = hd_arrow_fs_path(fs->self);
    const char *query = strchr(uri, '?');
    size_t n = query == NULL ? strlen(uri) : (size_t)(query - uri);

    HD_TRY(hd_strndup(op, uri, n_scheme, &fs->scheme));
    while (n > n_scheme + 1 && uri[n - 1] == '/')
        n--;
    const size_t n_path = strlen(path);
    if (n > n_path && strncmp(uri + n - n_path, path, n_path) == 0)
        return hd_strndup(op, uri, n - n_path, &fs->prefix);
    return hd_asprintf(op, &fs->prefix, "%s:/", fs->scheme);
}

hudi_status hd_arrow_file_system_new(struct hd_op *op, const char *uri, hd_file_system **out,
                                     char **out_path)
{
    hudi_status status = HUDI_OK;
    struct arrow_fs *fs;

    HD_TRY(hd_alloc(op, sizeof *fs, &fs));
    HD_TRY_OUT(hd_arrow_fs_open(op, uri, &fs->self));
    HD_TRY_OUT(set_names(op, fs, uri));
    HD_TRY_OUT(hd_strdup(op, hd_arrow_fs_path(fs->self), out_path));
    fs->fs = (hd_file_system){.ops = &ARROW_OPS,
                              .scheme = fs->scheme,
                              .uri_prefix = fs->prefix,
                              .has_crc = false,
                              .put_is_atomic = strncmp(fs->scheme, "hdfs", 4) != 0 &&
                                               strcmp(fs->scheme, "arrow+file") != 0};
    *out = &fs->fs;
    return HUDI_OK;
out:
    if (fs->self != NULL)
        hd_arrow_fs_free(fs->self);
    hd_free(op, fs->scheme);
    hd_free(op, fs->prefix);
    hd_free(op, fs);
    return status;
}
