/* SPDX-License-Identifier: Apache-2.0 */
#include "store/memory_node.h"

#include <string.h>

hudi_status hd_memory_node_new(struct hd_op *op, bool is_dir, struct memory_node **out)
{
    HD_TRY(hd_alloc(op, sizeof **out, out));
    (*out)->n_references = 1;
    (*out)->is_dir = is_dir;
    (*out)->modified_ms = (int64_t)hd_now_ms(op);
    return HUDI_OK;
}

static void folder_clear(struct memory_folder *folder)
{
    for (size_t i = 0; i < folder->n; i++) {
        hd_free(NULL, folder->entries[i].name);
        hd_memory_node_release(folder->entries[i].node);
    }
    hd_free(NULL, folder->entries);
    *folder = (struct memory_folder){0};
}

void hd_memory_node_release(struct memory_node *node)
{
    if (--node->n_references > 0)
        return;
    folder_clear(&node->now);
    folder_clear(&node->synced);
    hd_free(NULL, node->bytes.bytes);
    hd_free(NULL, node->synced_bytes.bytes);
    hd_free(NULL, node);
}

size_t hd_memory_folder_position(const struct memory_folder *folder, struct hd_slice name,
                                 bool *found)
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

hudi_status hd_memory_folder_put(struct hd_op *op, struct memory_folder *folder,
                                 struct hd_slice name, struct memory_node *node)
{
    bool found;
    char *copy;
    const size_t at = hd_memory_folder_position(folder, name, &found);

    if (found && at < folder->n) {
        hd_memory_node_release(folder->entries[at].node);
        folder->entries[at].node = node;
        return HUDI_OK;
    }
    HD_TRY(
        hd_grow(op, &folder->entries, &folder->capacity, folder->n + 1, sizeof *folder->entries));
    HD_TRY(hd_strndup(op, name.data, name.size, &copy));
    memmove(folder->entries + at + 1, folder->entries + at,
            (folder->n - at) * sizeof *folder->entries);
    folder->entries[at] = (struct memory_entry){copy, node};
    folder->n++;
    return HUDI_OK;
}

void hd_memory_folder_remove(struct memory_folder *folder, size_t at)
{
    hd_free(NULL, folder->entries[at].name);
    hd_memory_node_release(folder->entries[at].node);
    folder->n--;
    memmove(folder->entries + at, folder->entries + at + 1,
            (folder->n - at) * sizeof *folder->entries);
}

hudi_status hd_memory_folder_copy(struct hd_op *op, const struct memory_folder *from,
                                  struct memory_folder *to)
{
    struct memory_folder copy = {0};

    for (size_t i = 0; i < from->n; i++) {
        const hudi_status status = hd_memory_folder_put(
            op, &copy, hd_slice_text(from->entries[i].name), from->entries[i].node);
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

struct memory_node *hd_memory_find(const struct memory_store *store, const char *path, size_t n)
{
    struct memory_node *node = store->top;
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
        const size_t at = hd_memory_folder_position(&node->now, hd_slice_of(path, length), &found);
        node = found ? node->now.entries[at].node : NULL;
        path += length;
    }
    return NULL;
}

struct memory_node *hd_memory_find_parent(const struct memory_store *store, const char *path,
                                          struct hd_slice *name, size_t *at, bool *found)
{
    const char *last = hd_path_name(path);
    struct memory_node *parent = hd_memory_find(store, path, (size_t)(last - path));

    *name = hd_slice_text(last);
    if (parent == NULL || !parent->is_dir || name->size == 0)
        return NULL;
    *at = hd_memory_folder_position(&parent->now, *name, found);
    return parent;
}

hudi_status hd_memory_create_node(struct hd_op *op, struct memory_store *store, const char *path,
                                  bool exclusive, struct memory_node **out)
{
    struct hd_slice name;
    struct memory_node *node;
    size_t at;
    bool found;
    struct memory_node *parent = hd_memory_find_parent(store, path, &name, &at, &found);

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
        node->modified_ms = (int64_t)hd_now_ms(op);
    } else {
        HD_TRY(hd_memory_node_new(op, false, &node));
        const hudi_status status = hd_memory_folder_put(op, &parent->now, name, node);
        if (status != HUDI_OK) {
            hd_memory_node_release(node);
            return status;
        }
    }
    node->n_references++;
    *out = node;
    return HUDI_OK;
}
