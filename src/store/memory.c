/* SPDX-License-Identifier: Apache-2.0 */
/* The file system of tests; see memory_node.h for how it is built. */
#include "store/memory.h"

#include <errno.h>
#include <string.h>

#include "store/memory_node.h"

static pthread_mutex_t REGISTRY_LOCK = PTHREAD_MUTEX_INITIALIZER;
static struct memory_store *stores;

/* ---- names -------------------------------------------------------------------------------- */

static void fill_info(const struct memory_node *node, struct hd_file_info *out)
{
    out->is_dir = node->is_dir;
    out->size_bytes = node->is_dir ? 0 : node->bytes.size;
    out->modified_ms = node->modified_ms;
}

static hudi_status memory_stat(struct hd_op *op, hd_file_system *fs, const char *path,
                               struct hd_file_info *out)
{
    struct memory_store *store = hd_memory_store_of(fs);

    (void)op;
    pthread_mutex_lock(&store->lock);
    const struct memory_node *node = hd_memory_find(store, path, strlen(path));
    if (node != NULL)
        fill_info(node, out);
    pthread_mutex_unlock(&store->lock);
    return node == NULL ? HUDI_NOT_FOUND : HUDI_OK;
}

static hudi_status memory_list(struct hd_op *op, hd_file_system *fs, const char *dir,
                               struct hd_arena *arena, struct hd_file_info **out, size_t *n)
{
    struct memory_store *store = hd_memory_store_of(fs);
    hudi_status status = HUDI_OK;

    pthread_mutex_lock(&store->lock);
    const struct memory_node *node = hd_memory_find(store, dir, strlen(dir));
    if (node == NULL || !node->is_dir) {
        status = HUDI_NOT_FOUND;
        goto out;
    }
    const struct memory_folder *folder = &node->now;
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
    struct memory_store *store = hd_memory_store_of(fs);
    struct hd_slice from_name, to_name;
    hudi_status status = HUDI_OK;
    size_t from_at, to_at;
    bool from_found, to_found;

    pthread_mutex_lock(&store->lock);
    struct memory_node *from_parent =
        hd_memory_find_parent(store, from, &from_name, &from_at, &from_found);
    struct memory_node *to_parent = hd_memory_find_parent(store, to, &to_name, &to_at, &to_found);
    if (from_parent == NULL || !from_found || to_parent == NULL) {
        status = HUDI_NOT_FOUND;
        goto out;
    }
    if (to_found && !replace) {
        status = HUDI_EXISTS;
        goto out;
    }
    struct memory_node *node = from_parent->now.entries[from_at].node;
    if (to_found && to_parent->now.entries[to_at].node == node)
        goto out; /* onto itself */
    const uint64_t replaced_bytes = to_found ? to_parent->now.entries[to_at].node->bytes.size : 0;
    HD_TRY_OUT(hd_memory_folder_put(op, &to_parent->now, to_name, node));
    node->n_references++;
    store->used_bytes -= replaced_bytes;
    from_at = hd_memory_folder_position(&from_parent->now, from_name, &from_found);
    hd_memory_folder_remove(&from_parent->now, from_at);
out:
    pthread_mutex_unlock(&store->lock);
    return status;
}

static hudi_status memory_delete_file(struct hd_op *op, hd_file_system *fs, const char *path)
{
    struct memory_store *store = hd_memory_store_of(fs);
    hudi_status status = HUDI_OK;
    struct hd_slice name;
    size_t at;
    bool found;

    pthread_mutex_lock(&store->lock);
    struct memory_node *parent = hd_memory_find_parent(store, path, &name, &at, &found);
    if (parent == NULL || !found) {
        status = HUDI_NOT_FOUND;
    } else if (parent->now.entries[at].node->is_dir) {
        status = hd_fail_errno(op, EISDIR, "cannot delete");
    } else {
        store->used_bytes -= parent->now.entries[at].node->bytes.size;
        hd_memory_folder_remove(&parent->now, at);
    }
    pthread_mutex_unlock(&store->lock);
    return status;
}

static uint64_t tree_bytes(const struct memory_node *node)
{
    uint64_t n_bytes = node->bytes.size;

    for (size_t i = 0; i < node->now.n; i++)
        n_bytes += tree_bytes(node->now.entries[i].node);
    return n_bytes;
}

/* A fault half-way leaves some of the files: one fault point each, and one for the folder. */
static hudi_status delete_below(struct hd_op *op, struct memory_store *store,
                                struct memory_node *node)
{
    while (node->now.n > 0) {
        struct memory_node *child = node->now.entries[node->now.n - 1].node;
        HD_TRY(hd_op_fault_point(op, "delete"));
        if (child->is_dir)
            HD_TRY(delete_below(op, store, child));
        store->used_bytes -= tree_bytes(child);
        hd_memory_folder_remove(&node->now, node->now.n - 1);
    }
    return HUDI_OK;
}

static hudi_status memory_delete_tree(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    struct memory_store *store = hd_memory_store_of(fs);
    hudi_status status = HUDI_OK;
    struct hd_slice name;
    size_t at;
    bool found;

    pthread_mutex_lock(&store->lock);
    struct memory_node *parent = hd_memory_find_parent(store, dir, &name, &at, &found);
    if (parent == NULL || !found) {
        status =
            parent == NULL && name.size == 0 ? delete_below(op, store, store->top) : HUDI_NOT_FOUND;
        goto out;
    }
    HD_TRY_OUT(delete_below(op, store, parent->now.entries[at].node));
    store->used_bytes -= tree_bytes(parent->now.entries[at].node);
    hd_memory_folder_remove(&parent->now, at);
out:
    pthread_mutex_unlock(&store->lock);
    return status;
}

static hudi_status memory_make_dirs(struct hd_op *op, hd_file_system *fs, const char *dir)
{
    struct memory_store *store = hd_memory_store_of(fs);
    hudi_status status = HUDI_OK;
    const char *at = dir;

    pthread_mutex_lock(&store->lock);
    struct memory_node *node = store->top;
    for (;;) {
        bool found;
        at += strspn(at, "/");
        const struct hd_slice name = hd_slice_of(at, strcspn(at, "/"));
        if (name.size == 0)
            break;
        at += name.size;
        const size_t position = hd_memory_folder_position(&node->now, name, &found);
        if (!found) {
            struct memory_node *child;
            HD_TRY_OUT(hd_memory_node_new(op, true, &child));
            status = hd_memory_folder_put(op, &node->now, name, child);
            if (status != HUDI_OK) {
                hd_memory_node_release(child);
                goto out;
            }
            HD_TRY_OUT(hd_op_fault_point(op, "sync"));
            HD_TRY_OUT(hd_memory_folder_put(op, &node->synced, name, child));
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
    struct memory_store *store = hd_memory_store_of(fs);

    pthread_mutex_lock(&store->lock);
    struct memory_node *node = hd_memory_find(store, dir, strlen(dir));
    const hudi_status status = node == NULL || !node->is_dir
                                   ? HUDI_NOT_FOUND
                                   : hd_memory_folder_copy(op, &node->now, &node->synced);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* ---- locks -------------------------------------------------------------------------------- */

struct memory_lock {
    struct hd_fs_lock lock;
    struct memory_store *store;
    struct memory_node *node;
};

static void memory_unlock(struct hd_fs_lock *lock)
{
    struct memory_lock *self = (struct memory_lock *)lock;

    pthread_mutex_lock(&self->store->lock);
    self->node->locked = false;
    hd_memory_node_release(self->node);
    pthread_mutex_unlock(&self->store->lock);
    hd_free(NULL, self);
}

static const struct hd_fs_lock_ops LOCK_OPS = {memory_unlock};

static hudi_status memory_try_lock(struct hd_op *op, hd_file_system *fs, const char *path,
                                   struct hd_fs_lock **out)
{
    struct memory_store *store = hd_memory_store_of(fs);
    struct memory_lock *lock = NULL;
    hudi_status status = HUDI_OK;

    HD_TRY(hd_alloc(op, sizeof *lock, &lock));
    pthread_mutex_lock(&store->lock);
    struct memory_node *node = hd_memory_find(store, path, strlen(path));
    if (node == NULL)
        HD_TRY_OUT(hd_memory_create_node(op, store, path, false, &node));
    else
        node->n_references++;
    if (node->locked) {
        hd_memory_node_release(node);
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
    struct memory_store *store = hd_memory_store_of(fs);

    pthread_mutex_lock(&REGISTRY_LOCK);
    store->n_handles--;
    pthread_mutex_unlock(&REGISTRY_LOCK);
    hd_free(NULL, fs);
}

static const struct hd_file_system_ops MEMORY_OPS = {
    .stat = memory_stat,
    .list = memory_list,
    .open_input = hd_memory_open_input,
    .open_output = hd_memory_open_output,
    .open_append = hd_memory_open_append,
    .rename = memory_rename,
    .delete_file = memory_delete_file,
    .delete_tree = memory_delete_tree,
    .make_dirs = memory_make_dirs,
    .sync_dir = memory_sync_dir,
    .try_lock = memory_try_lock,
    .free = memory_free,
};

static void store_free(struct memory_store *store)
{
    if (store->top != NULL)
        hd_memory_node_release(store->top);
    hd_free(NULL, store->name);
    hd_free(NULL, store->uri_prefix);
    (void)pthread_mutex_destroy(&store->lock);
    hd_free(NULL, store);
}

static hudi_status store_new(struct hd_op *op, const char *name, struct memory_store **out)
{
    hudi_status status = HUDI_OK;
    struct memory_store *store;

    HD_TRY(hd_alloc(op, sizeof *store, &store));
    (void)pthread_mutex_init(&store->lock, NULL);
    store->capacity_bytes = UINT64_MAX;
    HD_TRY_OUT(hd_strdup(op, name, &store->name));
    HD_TRY_OUT(hd_asprintf(op, &store->uri_prefix, "memory:%s", name));
    HD_TRY_OUT(hd_memory_node_new(op, true, &store->top));
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
    struct memory_store *store = stores;
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
static hudi_status crash_node(struct hd_op *op, struct memory_node *node)
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
    HD_TRY(hd_memory_folder_copy(op, &node->synced, &node->now));
    for (size_t i = 0; i < node->now.n; i++)
        HD_TRY(crash_node(op, node->now.entries[i].node));
    return HUDI_OK;
}

hudi_status hd_memory_crash(struct hd_op *op, hd_file_system *fs)
{
    struct memory_store *store = hd_memory_store_of(fs);

    pthread_mutex_lock(&store->lock);
    const hudi_status status = crash_node(op, store->top);
    store->used_bytes = tree_bytes(store->top);
    pthread_mutex_unlock(&store->lock);
    return status;
}

void hd_memory_set_capacity(hd_file_system *fs, uint64_t n_bytes)
{
    struct memory_store *store = hd_memory_store_of(fs);

    pthread_mutex_lock(&store->lock);
    store->capacity_bytes = n_bytes < store->used_bytes ? store->used_bytes : n_bytes;
    pthread_mutex_unlock(&store->lock);
}

void hd_memory_drop(const char *name)
{
    pthread_mutex_lock(&REGISTRY_LOCK);
    for (struct memory_store **at = &stores; *at != NULL; at = &(*at)->next) {
        struct memory_store *store = *at;
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
