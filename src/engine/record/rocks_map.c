/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/rocks_map.h"

#ifdef HD_HAVE_ROCKSDB

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rocksdb/c.h>

#include "base/cursor.h"
#include "base/str.h"
#include "engine/record/disk_record.h"

/*
 * Values are records (disk_record.h), which have their own checksum and compression.
 *
 * Keys only grow and nothing is overwritten, so there is no log to recover from and nothing that
 * compaction could gain.
 */
#define NAME_PREFIX "hudi-ROCKS_DB-"
#define LOCK_SUFFIX ".lock"
#define GROUP_BYTES 2048u
#define WRITE_BUFFER_BYTES ((size_t)16 << 20)
#define BLOCK_BYTES (4u << 10)
#define READ_AT_ONCE 256u
#define KEY_BYTES 8u

struct rocks_map {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_block_based_table_options_t *table_options;
    rocksdb_writeoptions_t *write_options;
    rocksdb_readoptions_t *read_options;
    rocksdb_column_family_handle_t *family; /* the only one */
    char *folder;                           /* of all such stores */
    char *name;                             /* of this one's folder there */
    int lock;
    bool compress;
    uint64_t n_groups;
    uint64_t n_bytes; /* of all values */
    struct hd_str value;
};

bool hd_rocks_map_available(void)
{
    return true;
}

/* Takes `message`. */
static hudi_status fail_rocks(struct hd_op *op, const struct rocks_map *r, char *message)
{
    const bool corrupt = strncmp(message, "Corruption", 10) == 0;
    const hudi_status status =
        corrupt ? hd_fail(op, HUDI_CORRUPT, "RocksDB of spilled records: %s", message)
                : hd_fail(op, HUDI_IO, "RocksDB of spilled records: %s", message);

    rocksdb_free(message);
    return hd_fail_path(op, status, r->folder);
}

/* ---- folder and lock ---------------------------------------------------------------------- */

/* The folder `name` with the files in it; there are no folders below. No link is followed. */
static void delete_folder(int parent, const char *name)
{
    const int file = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *const dir = file < 0 ? NULL : fdopendir(file);

    if (dir == NULL) {
        if (file >= 0)
            close(file);
        return;
    }
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        unlinkat(dirfd(dir), e->d_name, 0);
    closedir(dir);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* Delete the store that `lock_name` stands for if its process is gone. */
static void delete_if_left(int parent, const char *lock_name)
{
    char name[NAME_MAX + 1];
    const size_t length = strlen(lock_name) - strlen(LOCK_SUFFIX);
    struct stat info;

    memcpy(name, lock_name, length);
    name[length] = '\0';
    const int lock = openat(parent, lock_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0)
        return;
    if (fstat(lock, &info) == 0 && info.st_uid == geteuid() &&
        flock(lock, LOCK_EX | LOCK_NB) == 0) {
        delete_folder(parent, name);
        unlinkat(parent, lock_name, 0);
    }
    close(lock);
}

/* What dead processes left is deleted as well as it goes. */
static void delete_left_ones(const char *folder)
{
    DIR *const dir = opendir(folder);

    if (dir == NULL)
        return;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        const struct hd_slice name = hd_slice_text(e->d_name);
        if (hd_slice_starts_with(name, NAME_PREFIX) && hd_slice_ends_with(name, LOCK_SUFFIX) &&
            name.size > strlen(NAME_PREFIX) + strlen(LOCK_SUFFIX))
            delete_if_left(dirfd(dir), e->d_name);
    }
    closedir(dir);
}

/* A lock file that is there and ours; another process may delete it before it is locked. */
static hudi_status make_lock(struct hd_op *op, struct rocks_map *r)
{
    char uuid[HD_UUID_BYTES], *path;
    struct stat info;

    for (;;) {
        hd_random_uuid(op, uuid);
        hd_free(op, r->name);
        HD_TRY(hd_asprintf(op, &r->name, NAME_PREFIX "%s", uuid));
        HD_TRY(hd_asprintf(op, &path, "%s/%s" LOCK_SUFFIX, r->folder, r->name));
        r->lock = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        const int error = errno;
        hd_free(op, path);
        if (r->lock < 0 && error == EEXIST)
            continue;
        if (r->lock < 0)
            return hd_fail_path(op, hd_fail_errno(op, error, "lock of spilled records"), r->folder);
        if (flock(r->lock, LOCK_EX) != 0 || fstat(r->lock, &info) != 0)
            return hd_fail_path(op, hd_fail_errno(op, errno, "lock of spilled records"), r->folder);
        if (info.st_nlink > 0)
            return HUDI_OK;
        close(r->lock);
        r->lock = -1;
    }
}

static void delete_files(struct rocks_map *r)
{
    const int parent = open(r->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char lock_name[NAME_MAX + 1];

    if (parent < 0)
        return;
    delete_folder(parent, r->name);
    snprintf(lock_name, sizeof lock_name, "%s" LOCK_SUFFIX, r->name);
    unlinkat(parent, lock_name, 0);
    close(parent);
}

/* ---- open, close -------------------------------------------------------------------------- */

static void close_store(struct hd_op *op, void *store)
{
    struct rocks_map *const r = store;

    if (r == NULL)
        return;
    if (r->family != NULL)
        rocksdb_column_family_handle_destroy(r->family);
    if (r->db != NULL)
        rocksdb_close(r->db);
    if (r->options != NULL)
        rocksdb_options_destroy(r->options);
    if (r->table_options != NULL)
        rocksdb_block_based_options_destroy(r->table_options);
    if (r->write_options != NULL)
        rocksdb_writeoptions_destroy(r->write_options);
    if (r->read_options != NULL)
        rocksdb_readoptions_destroy(r->read_options);
    if (r->lock >= 0) {
        delete_files(r);
        close(r->lock);
    }
    hd_str_clear(&r->value);
    hd_free(op, r->folder);
    hd_free(op, r->name);
    hd_free(op, r);
}

static void set_options(struct rocks_map *r)
{
    r->options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(r->options, 1);
    rocksdb_options_set_error_if_exists(r->options, 1);
    rocksdb_options_set_compression(r->options, rocksdb_no_compression);
    rocksdb_options_set_write_buffer_size(r->options, WRITE_BUFFER_BYTES);
    rocksdb_options_set_max_write_buffer_number(r->options, 3);
    rocksdb_options_set_disable_auto_compactions(r->options, 1);
    rocksdb_options_set_level0_slowdown_writes_trigger(r->options, 1 << 20);
    rocksdb_options_set_level0_stop_writes_trigger(r->options, 1 << 20);
    rocksdb_options_set_info_log_level(r->options, 4); /* fatal */
    rocksdb_options_set_stats_dump_period_sec(r->options, 0);
    rocksdb_options_set_stats_persist_period_sec(r->options, 0);
    rocksdb_options_set_allow_mmap_reads(r->options, 1);

    r->table_options = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_size(r->table_options, BLOCK_BYTES);
    /* Files are mapped and not compressed: a cache of blocks would hold what is there already. */
    rocksdb_block_based_options_set_no_block_cache(r->table_options, 1);
    rocksdb_options_set_block_based_table_factory(r->options, r->table_options);

    r->write_options = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(r->write_options, 1);
    r->read_options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_verify_checksums(r->read_options, 0); /* ours are */
}

static hudi_status open_store(struct hd_op *op, const char *folder, bool compress, void **out)
{
    struct rocks_map *r;
    static const char *const FAMILY = "default";
    char *path = NULL, *message = NULL;
    hudi_status status;

    *out = NULL;
    HD_TRY(hd_alloc(op, sizeof *r, &r));
    r->lock = -1;
    r->compress = compress;
    HD_TRY_OUT(hd_op_fault_point(op, "open"));
    HD_TRY_OUT(hd_strdup(op, folder, &r->folder));
    delete_left_ones(folder);
    HD_TRY_OUT(make_lock(op, r));
    HD_TRY_OUT(hd_asprintf(op, &path, "%s/%s", folder, r->name));
    set_options(r);
    const rocksdb_options_t *const options = r->options;
    r->db =
        rocksdb_open_column_families(r->options, path, 1, &FAMILY, &options, &r->family, &message);
    if (message != NULL) {
        status = fail_rocks(op, r, message);
        goto out;
    }
    *out = r;
    r = NULL;
out:
    hd_free(op, path);
    close_store(op, r);
    return status;
}

/* ---- append ------------------------------------------------------------------------------- */

static void store_be(char *to, uint64_t value, unsigned n_bytes)
{
    for (unsigned i = 0; i < n_bytes; i++)
        to[i] = (char)(value >> 8 * (n_bytes - 1 - i));
}

static hudi_status append(struct hd_op *op, void *store, const struct hd_disk_group *group)
{
    struct rocks_map *const r = store;
    char key[KEY_BYTES], *message = NULL;

    HD_TRY(hd_op_fault_point(op, "write"));
    r->value.size = 0;
    HD_TRY(hd_disk_record_append(op, group, r->compress, &r->value));
    store_be(key, r->n_groups, KEY_BYTES);
    rocksdb_put(r->db, r->write_options, key, sizeof key, r->value.data, r->value.size, &message);
    if (message != NULL)
        return fail_rocks(op, r, message);
    r->n_groups++;
    r->n_bytes += r->value.size;
    return HUDI_OK;
}

/* ---- read --------------------------------------------------------------------------------- */

struct reading {
    struct hd_op *op;
    const struct rocks_map *store;
    hd_disk_group_visit visit;
    void *self;
    struct hd_disk_record_reader reader;
};

static hudi_status take_value(struct reading *r, struct hd_cursor in, size_t i)
{
    struct hd_disk_group group;
    const hudi_status status = hd_disk_record_decode(r->op, &r->reader, in, &group);

    if (status != HUDI_OK)
        return hd_fail_path(r->op, status, r->store->folder);
    return r->visit(r->op, r->self, i, &group);
}

/* At most READ_AT_ONCE groups. `first` counts the ones before. */
static hudi_status read_some(struct reading *r, const uint64_t *groups, size_t n, size_t first)
{
    char bytes[READ_AT_ONCE][KEY_BYTES], *messages[READ_AT_ONCE];
    const char *keys[READ_AT_ONCE];
    size_t sizes[READ_AT_ONCE];
    rocksdb_pinnableslice_t *values[READ_AT_ONCE];
    hudi_status status = HUDI_OK;

    for (size_t i = 0; i < n; i++) {
        store_be(bytes[i], groups[i], KEY_BYTES);
        keys[i] = bytes[i];
        sizes[i] = KEY_BYTES;
        values[i] = NULL;
        messages[i] = NULL;
    }
    rocksdb_batched_multi_get_cf(r->store->db, r->store->read_options, r->store->family, n, keys,
                                 sizes, values, messages, true);
    for (size_t i = 0; i < n; i++) {
        size_t size = 0;

        if (messages[i] != NULL && status == HUDI_OK)
            status = fail_rocks(r->op, r->store, messages[i]);
        else if (messages[i] != NULL)
            rocksdb_free(messages[i]);
        else if (values[i] == NULL && status == HUDI_OK)
            status = hd_fail(r->op, HUDI_CORRUPT, "RocksDB lost group %" PRIu64 " of %" PRIu64,
                             groups[i], r->store->n_groups);
        if (values[i] == NULL)
            continue;
        const char *const data = rocksdb_pinnableslice_value(values[i], &size);
        if (status == HUDI_OK)
            status = take_value(r, hd_cursor_over(data, size, 0), first + i);
        rocksdb_pinnableslice_destroy(values[i]);
    }
    return status;
}

static hudi_status read_store(struct hd_op *op, const void *store, const uint64_t *groups, size_t n,
                              hd_disk_group_visit visit, void *self)
{
    struct reading r = {.op = op, .store = store, .visit = visit, .self = self};
    hudi_status status = HUDI_OK;

    for (size_t i = 0; i < n && status == HUDI_OK; i += READ_AT_ONCE) {
        const size_t n_here = n - i < READ_AT_ONCE ? n - i : READ_AT_ONCE;

        HD_TRY_OUT(hd_op_fault_point(op, "read"));
        HD_TRY_OUT(read_some(&r, groups + i, n_here, i));
    }
out:
    hd_disk_record_reader_clear(op, &r.reader);
    return status;
}

static uint64_t disk_bytes(const void *store)
{
    return ((const struct rocks_map *)store)->n_bytes;
}

static uint64_t memory_bytes(const void *store)
{
    const struct rocks_map *const r = store;
    const uint64_t buffers =
        r->n_bytes < 3 * WRITE_BUFFER_BYTES ? r->n_bytes : 3 * WRITE_BUFFER_BYTES;
    return buffers + r->value.capacity;
}

const struct hd_disk_store_ops hd_rocks_map_ops = {
    .open = open_store,
    .close = close_store,
    .append = append,
    .read = read_store,
    .disk_bytes = disk_bytes,
    .memory_bytes = memory_bytes,
    .group_bytes = GROUP_BYTES,
};

#else

bool hd_rocks_map_available(void)
{
    return false;
}

static hudi_status open_store(struct hd_op *op, const char *folder, bool compress, void **out)
{
    (void)folder, (void)compress;
    *out = NULL;
    return hd_fail(op, HUDI_NOT_IMPLEMENTED, "this build is without RocksDB");
}

const struct hd_disk_store_ops hd_rocks_map_ops = {.open = open_store};

#endif
