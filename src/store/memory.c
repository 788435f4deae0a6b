/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system of tests. Folders and files are nodes; a folder has the entries of now and those
 * of its last sync, a file its bytes of now and those of its last sync; a crash makes the latter
 * the former. Invariants:
 *  1. A node lives as long as an entry (of now or of a sync) or an open file refers to it.
 *  2. Everything under a store is guarded by its lock; the list of stores by REGISTRY_LOCK, which
 *     is taken first.
 */
#include "store/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "store/file_system_ops.h"

struct node;

struct entry {
    char *name;
    struct node *node;
};

struct folder {
    struct entry *entries; /* sorted by name */
    size_t n;
    size_t capacity;
};

struct content {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
};

struct node {
    uint32_t n_references;
    bool is_dir;
    bool locked;
    int64_t modified_ms;
    struct folder now;    /* folders */
    struct folder synced; /* folders */
    struct content bytes; /* files */
    struct content synced_bytes;
};

struct store {
    struct store *next;
    char *name;
    char *uri_prefix;
    uint32_t n_handles;
    pthread_mutex_t lock;
    struct node *top;
    uint64_t used_bytes;
    uint64_t capacity_bytes;
};

struct memory_fs {
    hd_file_system fs;
    struct store *store;
};

static pthread_mutex_t REGISTRY_LOCK = PTHREAD_MUTEX_INITIALIZER;
static struct store *stores;

static struct store *store_of(const hd_file_system *fs)
{
    return ((const struct memory_fs *)fs)->store;
}

/* ---- nodes and folders -------------------------------------------------------------------- */

static hudi_status node_new(struct hd_op *op, bool is_dir, struct node **out)
{
    HD_TRY(hd_alloc(op, sizeof **out, out));
    (*out)->n_references = 1;
    (*out)->is_dir = is_dir;
    (*out)->modified_ms = (int64_t)hd_now_ms(op);
    return HUDI_OK;
}

static void node_release(struct node *node);

static void folder_clear(struct folder *folder)
{
    for (size_t i = 0; i < folder->n; i++) {
        hd_free(NULL, folder->entries[i].name);
        node_release(folder->entries[i].node);
    }
    hd_free(NULL, folder->entries);
    *folder = (struct folder){0};
}

static void node_release(struct node *node)
{
    if (--node->n_references > 0)
        return;
    folder_clear(&node->now);
    folder_clear(&node->synced);
    hd_free(NULL, node->bytes.bytes);
    hd_free(NULL, node->synced_bytes.bytes);
    hd_free(NULL, node);
}

/* Where `name` is or would be. */
static size_t folder_position(const struct folder *folder, struct hd_slice name, bool *found)
{
    size_t low = 0, high = folder->n;

    *found = false;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = hd_slice_compare(hd_slice_text(folder->entries[middle].name), name);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Takes over one reference to `node`, on success only. */
static hudi_status folder_put(struct hd_op *op, struct folder *folder, struct hd_slice name,
                              struct node *node)
{
    bool found;
    char *copy;
    const size_t at = folder_position(folder, name, &found);

    if (found) {
        node_release(folder->entries[at].node);
        folder->entries[at].node = node;
        return HUDI_OK;
    }
    HD_TRY(
        hd_grow(op, &folder->entries, &folder->capacity, folder->n + 1, sizeof *folder->entries));
    HD_TRY(hd_strndup(op, name.data, name.size, &copy));
    memmove(folder->entries + at + 1, folder->entries + at,
            (folder->n - at) * sizeof *folder->entries);
    folder->entries[at] = (struct entry){copy, node};
    folder->n++;
    return HUDI_OK;
}

static void folder_remove(struct folder *folder, size_t at)
{
    hd_free(NULL, folder->entries[at].name);
    node_release(folder->entries[at].node);
    folder->n--;
    memmove(folder->entries + at, folder->entries + at + 1,
            (folder->n - at) * sizeof *folder->entries);
}

static hudi_status folder_copy(struct hd_op *op, const struct folder *from, struct folder *to)
{
    struct folder copy = {0};

    for (size_t i = 0; i < from->n; i++) {
        const hudi_status status =
            folder_put(op, &copy, hd_slice_text(from->entries[i].name), from->entries[i].node);
        if (status != HUDI_OK) {
            folder_clear(&copy);
            return status;
        }
        from->entries[i].node->n_references++;
    }
    folder_clear(to);
    *to = copy;
    return HUDI_OK;
}

/* The node of a path, or NULL. */
static struct node *find(const struct store *store, const char *path, size_t n)
{
    struct node *node = store->top;
    const char *const end = path + n;

    while (node != NULL) {
        bool found;
        while (path < end && *path == '/')
            path++;
        if (path == end)
            return node;
        size_t length = 0;
        while (path + length < end && path[length] != '/')
            length++;
        if (!node->is_dir)
            return NULL;
        const size_t at = folder_position(&node->now, hd_slice_of(path, length), &found);
        node = found ? node->now.entries[at].node : NULL;
        path += length;
    }
    return NULL;
}

/* The folder a path is in (NULL when missing) and where its name is there. */
static struct node *find_parent(const struct store *store, const char *path, struct hd_slice *name,
                                size_t *at, bool *found)
{
    const char *last = hd_path_name(path);
    struct node *parent = find(store, path, (size_t)(last - path));

    *name = hd_slice_text(last);
    if (parent == NULL || !parent->is_dir || name->size == 0)
        return NULL;
    *at = folder_position(&parent->now, *name, found);
    return parent;
}

/* ---- input -------------------------------------------------------------------------------- */

struct memory_input {
    hd_input_file file;
    struct store *store;
    struct node *node;
};

static hudi_status input_read_at(struct hd_op *op, hd_input_file *file, uint64_t offset, void *into,
                                 uint64_t n)
{
    const struct memory_input *self = (const struct memory_input *)file;
    hudi_status status = HUDI_OK;

    pthread_mutex_lock(&self->store->lock);
    if (offset + n > self->node->bytes.size)
        status = hd_fail(op, HUDI_CORRUPT, "file has %zu bytes now, it had %" PRIu64,
                         self->node->bytes.size, file->size);
    else
        memcpy(into, self->node->bytes.bytes + offset, (size_t)n);
    pthread_mutex_unlock(&self->store->lock);
    return status;
}

static void input_close(hd_input_file *file)
{
    struct memory_input *self = (struct memory_input *)file;

    pthread_mutex_lock(&self->store->lock);
    node_release(self->node);
    pthread_mutex_unlock(&self->store->lock);
    hd_input_file_release(file);
}

static const struct hd_input_file_ops INPUT_OPS = {input_read_at, input_close};

static hudi_status memory_open_input(struct hd_op *op, hd_file_system *fs, const char *path,
                                     hd_input_file **out)
{
    struct store *store = store_of(fs);
    hudi_status status;

    pthread_mutex_lock(&store->lock);
    struct node *node = find(store, path, strlen(path));
    if (node == NULL)
        status = HUDI_NOT_FOUND;
    else if (node->is_dir)
        status = hd_fail(op, HUDI_IO, "is a folder, not a file: %s", path);
    else
        status = hd_input_file_init(op, sizeof(struct memory_input), &INPUT_OPS, path,
                                    node->bytes.size, out);
    if (status == HUDI_OK) {
        ((struct memory_input *)*out)->store = store;
        ((struct memory_input *)*out)->node = node;
        node->n_references++;
    }
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* ---- output ------------------------------------------------------------------------------- */

struct memory_output {
    hd_output_file file;
    hd_file_system *fs;
    struct store *store;
    struct node *node;
    char *own_path; /* `file.path` may be gone when closing */
};

static hudi_status output_write(struct hd_op *op, hd_output_file *file, const void *bytes,
                                uint64_t n)
{
    const struct memory_output *self = (const struct memory_output *)file;
    struct store *store = self->store;
    struct content *content = &self->node->bytes;
    hudi_status status = HUDI_OK;

    pthread_mutex_lock(&store->lock);
    if (n > store->capacity_bytes - store->used_bytes) {
        status = hd_fail_errno(op, ENOSPC, "cannot write %" PRIu64 " bytes", n);
        goto out;
    }
    HD_TRY_OUT(hd_grow(op, &content->bytes, &content->capacity, content->size + (size_t)n, 1));
    memcpy(content->bytes + content->size, bytes, (size_t)n);
    content->size += (size_t)n;
    store->used_bytes += n;
    self->node->modified_ms = (int64_t)hd_now_ms(op);
out:
    pthread_mutex_unlock(&store->lock);
    return status;
}

static hudi_status output_sync(struct hd_op *op, hd_output_file *file)
{
    const struct memory_output *self = (const struct memory_output *)file;
    struct content *now = &self->node->bytes, *synced = &self->node->synced_bytes;
    hudi_status status = HUDI_OK;

    pthread_mutex_lock(&self->store->lock);
    HD_TRY_OUT(hd_grow(op, &synced->bytes, &synced->capacity, now->size, 1));
    if (now->size > 0)
        memcpy(synced->bytes, now->bytes, now->size);
    synced->size = now->size;
out:
    pthread_mutex_unlock(&self->store->lock);
    return status;
}

static void output_release(struct memory_output *self)
{
    pthread_mutex_lock(&self->store->lock);
    node_release(self->node);
    pthread_mutex_unlock(&self->store->lock);
    hd_free(NULL, self->own_path);
    hd_output_file_release(&self->file);
}

static hudi_status output_close(struct hd_op *op, hd_output_file *file)
{
    (void)op;
    output_release((struct memory_output *)file);
    return HUDI_OK;
}

static void output_abort(hd_output_file *file, bool keep)
{
    struct memory_output *self = (struct memory_output *)file;
    struct hd_slice name;
    size_t at;
    bool found;

    if (!keep) {
        pthread_mutex_lock(&self->store->lock);
        struct node *parent = find_parent(self->store, self->own_path, &name, &at, &found);
        if (parent != NULL && found && parent->now.entries[at].node == self->node) {
            self->store->used_bytes -= self->node->bytes.size;
            folder_remove(&parent->now, at);
        }
        pthread_mutex_unlock(&self->store->lock);
    }
    output_release(self);
}

static const struct hd_output_file_ops OUTPUT_OPS = {output_write, output_sync, output_close,
                                                     output_abort};

/* The node to write to, in its folder; with a reference for the caller. */
static hudi_status create_node(struct hd_op *op, struct store *store, const char *path,
                               bool exclusive, struct node **out)
{
    struct hd_slice name;
    struct node *node;
    size_t at;
    bool found;
    struct node *parent = find_parent(store, path, &name, &at, &found);

    if (parent == NULL)
        return HUDI_NOT_FOUND;
    if (found) {
        node = parent->now.entries[at].node;
        if (exclusive)
            return HUDI_EXISTS;
        if (node->is_dir)
            return hd_fail(op, HUDI_IO, "is a folder, not a file: %s", path);
        store->used_bytes -= node->bytes.size;
        node->bytes.size = 0;
    } else {
        HD_TRY(node_new(op, false, &node));
        const hudi_status status = folder_put(op, &parent->now, name, node);
        if (status != HUDI_OK) {
            node_release(node);
            return status;
        }
    }
    node->n_references++;
    *out = node;
    return HUDI_OK;
}

static hudi_status memory_open_output(struct hd_op *op, hd_file_system *fs, const char *path,
                                      bool exclusive, hd_output_file **out)
{
    struct store *store = store_of(fs);
    hudi_status status = HUDI_OK;
    hd_output_file *file = NULL;
    struct node *node = NULL;
    char *own_path = NULL;

    pthread_mutex_lock(&store->lock);
    HD_TRY_OUT(hd_strdup(op, path, &own_path));
    HD_TRY_OUT(hd_output_file_init(op, sizeof(struct memory_output), &OUTPUT_OPS, path, &file));
    HD_TRY_OUT(create_node(op, store, path, exclusive, &node));
    struct memory_output *self = (struct memory_output *)file;
    self->fs = fs;
    self->store = store;
    self->node = node;
    self->own_path = own_path;
    *out = file;
    file = NULL;
    own_path = NULL;
out:
    pthread_mutex_unlock(&store->lock);
    hd_free(op, own_path);
    if (file != NULL)
        hd_output_file_release(file);
    return status;
}

/* ---- names -------------------------------------------------------------------------------- */

static void fill_info(const struct node *node, struct hd_file_info *out)
{
    out->is_dir = node->is_dir;
    out->size_bytes = node->is_dir ? 0 : node->bytes.size;
    out->modified_ms = node->modified_ms;
}

static hudi_status memory_stat(struct hd_op *op, hd_file_system *fs, const char *path,
                               struct hd_file_info *out)
{
    struct store *store = store_of(fs);

    (void)op;
    pthread_mutex_lock(&store->lock);
    const struct node *node = find(store, path, strlen(path));
    if (node != NULL)
        fill_info(node, out);
    pthread_mutex_unlock(&store->lock);
    return node == NULL ? HUDI_NOT_FOUND : HUDI_OK;
}

static hudi_status memory_list(struct hd_op *op, hd_file_system *fs, const char *dir,
                               struct hd_arena *arena, struct hd_file_info **out, size_t *n)
{
    struct store *store = store_of(fs);
    hudi_status status = HUDI_OK;

    pthread_mutex_lock(&store->lock);
    const struct node *node = find(store, dir, strlen(dir));
    if (node == NULL || !node->is_dir) {
        status = HUDI_NOT_FOUND;
        goto out;
    }
    const struct folder *folder = &node->now;
    HD_TRY_OUT(hd_arena_array(op, arena, folder->n + 1, sizeof **out, out));
    for (size_t i = 0; i < folder->n; i++) {
        char *name;
        HD_TRY_OUT(hd_arena_strdup(op, arena, folder->entries[i].name, &name));
        (*out)[i].name = name;
        fill_info(folder->entries[i].node, &(*out)[i]);
    }
    *n = folder->n;
out:
    pthread_mutex_unlock(&store->lock);
    return status;
}

static hudi_status memory_rename(struct hd_op *op, hd_file_system *fs, const char *from,
                                 const char *to, bool replace)
{
    struct store *store = store_of(fs);
    struct hd_slice from_name, to_name;
    hudi_status status = HUDI_OK;
    size_t from_at, to_at;
    bool from_found, to_found;

    pthread_mutex_lock(&store->lock);
    struct node *from_parent = find_parent(store, from, &from_name, &from_at, &from_found);
    struct node *to_parent = find_parent(store, to, &to_name, &to_at, &to_found);
    if (from_parent == NULL || !from_found || to_parent == NULL) {
        status = HUDI_NOT_FOUND;
        goto out;
    }
    if (to_found && !replace) {
        status = HUDI_EXISTS;
        goto out;
    }
    struct node *node = from_parent->now.entries[from_at].node;
    if (to_found && to_parent->now.entries[to_at].node == node)
        goto out; /* onto itself */
    const uint64_t replaced_bytes = to_found ? to_parent->now.entries[to_at].node->bytes.size : 0;
    HD_TRY_OUT(folder_put(op, &to_parent->now, to_name, node));
    node->n_references++;
    store->used_bytes -= replaced_bytes;
    from_at = folder_position(&from_parent->now, from_name, &from_found);
    folder_remove(&from_parent->now, from_at);
out:
    pthread_mutex_unlock(&store->lock);
    return status;
}

static hudi_status memory_delete_file(struct hd_op *op, hd_file_system *fs, const char *path)
{
    struct store *store = store_of(fs);
    hudi_status status = HUDI_OK;
    struct hd_slice name;
    size_t at;
    bool found;

    pthread_mutex_lock(&store->lock);
    struct node *parent = find_parent(store, path, &name, &at, &found);
    if (parent == NULL || !found) {
        status = HUDI_NOT_FOUND;
    } else if (parent->now.entries[at].node->is_dir) {
        status = hd_fail_errno(op, EISDIR, "cannot delete");
    } else {
        store->used_bytes -= parent->now.entries[at].node->bytes.size;
        folder_remove(&parent->now, at);
    }
    pthread_mutex_unlock(&store->lock);
    return status;
}

static uint64_t tree_bytes(const struct node *node)
{
    uint64_t n_bytes = node->bytes.size;

    for (size_t i = 0; i < node->now.n; i++)
        n_bytes += tree_bytes(node->now.entries[i].node);
    return n_bytes;
}

/* A fault half-way leaves some of the files: one fault point each, and one for the folder. */
static hudi_status delete_below(struct hd_op *op, struct store *store, struct node *node)
{
    while (node->now.n > 0) {
        struct node *child = node->now.entries[node->now.n - 1].node;
        HD_TRY(hd_op_fault_point(op, "delete"));
        if (child->is_dir)
            HD_TRY(delete_below(op, store, child));
        store->used_bytes -= tree_bytes(child);
        folder_remove(&node->now, node->now.n - 1);
    }
    return HUDI_OK;
}

static hudi_status memory_delete_tree(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    struct store *store = store_of(fs);
    hudi_status status = HUDI_OK;
    struct hd_slice name;
    size_t at;
    bool found;

    pthread_mutex_lock(&store->lock);
    struct node *parent = find_parent(store, dir, &name, &at, &found);
    if (parent == NULL || !found) {
        status =
            parent == NULL && name.size == 0 ? delete_below(op, store, store->top) : HUDI_NOT_FOUND;
        goto out;
    }
    HD_TRY_OUT(delete_below(op, store, parent->now.entries[at].node));
    store->used_bytes -= tree_bytes(parent->now.entries[at].node);
    folder_remove(&parent->now, at);
out:
    pthread_mutex_unlock(&store->lock);
    return status;
}

static hudi_status memory_make_dirs(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    struct store *store = store_of(fs);
    hudi_status status = HUDI_OK;
    const char *at = dir;

    pthread_mutex_lock(&store->lock);
    struct node *node = store->top;
    for (;;) {
        bool found;
        at += strspn(at, "/");
        const struct hd_slice name = hd_slice_of(at, strcspn(at, "/"));
        if (name.size == 0)
            break;
        at += name.size;
        const size_t position = folder_position(&node->now, name, &found);
        if (!found) {
            struct node *child;
            HD_TRY_OUT(node_new(op, true, &child));
            status = folder_put(op, &node->now, name, child);
            if (status != HUDI_OK) {
                node_release(child);
                goto out;
            }
            HD_TRY_OUT(hd_op_fault_point(op, "sync"));
            HD_TRY_OUT(folder_put(op, &node->synced, name, child));
            child->n_references++;
            node = child;
            continue;
        }
        node = node->now.entries[position].node;
        if (!node->is_dir) {
            status = hd_fail(op, HUDI_IO, "a file is where a folder should be");
            goto out;
        }
    }
out:
    pthread_mutex_unlock(&store->lock);
    return status;
}

static hudi_status memory_sync_dir(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    struct store *store = store_of(fs);

    pthread_mutex_lock(&store->lock);
    struct node *node = find(store, dir, strlen(dir));
    const hudi_status status =
        node == NULL || !node->is_dir ? HUDI_NOT_FOUND : folder_copy(op, &node->now, &node->synced);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* ---- locks -------------------------------------------------------------------------------- */

struct memory_lock {
    struct hd_fs_lock lock;
    struct store *store;
    struct node *node;
};

static void memory_unlock(struct hd_fs_lock *lock)
{
    struct memory_lock *self = (struct memory_lock *)lock;

    pthread_mutex_lock(&self->store->lock);
    self->node->locked = false;
    node_release(self->node);
    pthread_mutex_unlock(&self->store->lock);
    hd_free(NULL, self);
}

static const struct hd_fs_lock_ops LOCK_OPS = {memory_unlock};

static hudi_status memory_try_lock(struct hd_op *op, hd_file_system *fs, const char *path,
                                   struct hd_fs_lock **out)
{
    struct store *store = store_of(fs);
    struct memory_lock *lock = NULL;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_alloc(op, sizeof *lock, &lock));
    pthread_mutex_lock(&store->lock);
    struct node *node = find(store, path, strlen(path));
    if (node == NULL)
        HD_TRY_OUT(create_node(op, store, path, false, &node));
    else
        node->n_references++;
    if (node->locked) {
        node_release(node);
        status = HUDI_CONFLICT;
        goto out;
    }
    node->locked = true;
    *lock = (struct memory_lock){{&LOCK_OPS}, store, node};
    *out = &lock->lock;
    lock = NULL;
out:
    pthread_mutex_unlock(&store->lock);
    hd_free(op, lock);
    return status;
}

/* ---- the file system ---------------------------------------------------------------------- */

static void memory_free(hd_file_system *fs)
{
    struct store *store = store_of(fs);

    pthread_mutex_lock(&REGISTRY_LOCK);
    store->n_handles--;
    pthread_mutex_unlock(&REGISTRY_LOCK);
    hd_free(NULL, fs);
}

static const struct hd_file_system_ops MEMORY_OPS = {
    .stat = memory_stat,
    .list = memory_list,
    .open_input = memory_open_input,
    .open_output = memory_open_output,
    .rename = memory_rename,
    .delete_file = memory_delete_file,
    .delete_tree = memory_delete_tree,
    .make_dirs = memory_make_dirs,
    .sync_dir = memory_sync_dir,
    .try_lock = memory_try_lock,
    .free = memory_free,
};

static void store_free(struct store *store)
{
    if (store->top != NULL)
        node_release(store->top);
    hd_free(NULL, store->name);
    hd_free(NULL, store->uri_prefix);
    (void)pthread_mutex_destroy(&store->lock);
    hd_free(NULL, store);
}

static hudi_status store_new(struct hd_op *op, const char *name, struct store **out)
{
    hudi_status status = HUDI_OK;
    struct store *store;

    HD_TRY(hd_alloc(op, sizeof *store, &store));
    (void)pthread_mutex_init(&store->lock, NULL);
    store->capacity_bytes = UINT64_MAX;
    HD_TRY_OUT(hd_strdup(op, name, &store->name));
    HD_TRY_OUT(hd_asprintf(op, &store->uri_prefix, "memory:%s", name));
    HD_TRY_OUT(node_new(op, true, &store->top));
    *out = store;
    store = NULL;
out:
    if (store != NULL)
        store_free(store);
    return status;
}

hudi_status hd_memory_file_system_open(struct hd_op *op, const char *name, hd_file_system **out)
{
    hudi_status status = HUDI_OK;
    struct memory_fs *fs = NULL;

    *out = NULL;
    pthread_mutex_lock(&REGISTRY_LOCK);
    struct store *store = stores;
    while (store != NULL && strcmp(store->name, name) != 0)
        store = store->next;
    HD_TRY_OUT(hd_alloc(op, sizeof *fs, &fs));
    if (store == NULL) {
        HD_TRY_OUT(store_new(op, name, &store));
        store->next = stores;
        stores = store;
    }
    store->n_handles++;
    *fs = (struct memory_fs){.fs = {.ops = &MEMORY_OPS,
                                    .scheme = "memory",
                                    .uri_prefix = store->uri_prefix,
                                    .has_crc = true},
                             .store = store};
    *out = &fs->fs;
    fs = NULL;
out:
    pthread_mutex_unlock(&REGISTRY_LOCK);
    hd_free(op, fs);
    return status;
}

/* A node may be met again by another name; the second time changes nothing. */
static hudi_status crash_node(struct hd_op *op, struct node *node)
{
    node->locked = false;
    if (!node->is_dir) {
        node->bytes.size = 0;
        HD_TRY(hd_grow(op, &node->bytes.bytes, &node->bytes.capacity, node->synced_bytes.size, 1));
        if (node->synced_bytes.size > 0)
            memcpy(node->bytes.bytes, node->synced_bytes.bytes, node->synced_bytes.size);
        node->bytes.size = node->synced_bytes.size;
        return HUDI_OK;
    }
    HD_TRY(folder_copy(op, &node->synced, &node->now));
    for (size_t i = 0; i < node->now.n; i++)
        HD_TRY(crash_node(op, node->now.entries[i].node));
    return HUDI_OK;
}

hudi_status hd_memory_crash(struct hd_op *op, hd_file_system *fs)
{
    struct store *store = store_of(fs);

    pthread_mutex_lock(&store->lock);
    const hudi_status status = crash_node(op, store->top);
    store->used_bytes = tree_bytes(store->top);
    pthread_mutex_unlock(&store->lock);
    return status;
}

void hd_memory_set_capacity(hd_file_system *fs, uint64_t n_bytes)
{
    struct store *store = store_of(fs);

    pthread_mutex_lock(&store->lock);
    store->capacity_bytes = n_bytes < store->used_bytes ? store->used_bytes : n_bytes;
    pthread_mutex_unlock(&store->lock);
}

void hd_memory_drop(const char *name)
{
    pthread_mutex_lock(&REGISTRY_LOCK);
    for (struct store **at = &stores; *at != NULL; at = &(*at)->next) {
        struct store *store = *at;
        if (strcmp(store->name, name) != 0)
            continue;
        if (store->n_handles == 0) {
            *at = store->next;
            store_free(store);
        }
        break;
    }
    pthread_mutex_unlock(&REGISTRY_LOCK);
}
