/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the file system in memory, open for reading and writing. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "store/memory_node.h"

/* ---- input -------------------------------------------------------------------------------- */

struct memory_input {
    hd_input_file file;
    struct memory_store *store;
    struct memory_node *node;
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
    hd_memory_node_release(self->node);
    pthread_mutex_unlock(&self->store->lock);
    hd_input_file_release(file);
}

static const struct hd_input_file_ops INPUT_OPS = {input_read_at, input_close};

hudi_status hd_memory_open_input(struct hd_op *op, hd_file_system *fs, const char *path,
                                 hd_input_file **out)
{
    struct memory_store *store = hd_memory_store_of(fs);
    hudi_status status;

    pthread_mutex_lock(&store->lock);
    struct memory_node *node = hd_memory_find(store, path, strlen(path));
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
    struct memory_store *store;
    struct memory_node *node;
    char *own_path; /* `file.path` may be gone when closing */
    bool appends;   /* to a file that had `start` bytes */
    size_t start;
};

static hudi_status output_write(struct hd_op *op, hd_output_file *file, const void *bytes,
                                uint64_t n)
{
    const struct memory_output *self = (const struct memory_output *)file;
    struct memory_store *store = self->store;
    struct memory_content *content = &self->node->bytes;
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
    struct memory_content *now = &self->node->bytes, *synced = &self->node->synced_bytes;
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
    hd_memory_node_release(self->node);
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

static void cut_back(const struct memory_output *self)
{
    pthread_mutex_lock(&self->store->lock);
    self->store->used_bytes -= self->node->bytes.size - self->start;
    self->node->bytes.size = self->start;
    pthread_mutex_unlock(&self->store->lock);
}

static void output_abort(hd_output_file *file, bool keep)
{
    struct memory_output *self = (struct memory_output *)file;
    struct hd_slice name;
    size_t at;
    bool found;

    if (!keep && self->appends) {
        cut_back(self);
    } else if (!keep) {
        pthread_mutex_lock(&self->store->lock);
        struct memory_node *parent =
            hd_memory_find_parent(self->store, self->own_path, &name, &at, &found);
        if (parent != NULL && found && parent->now.entries[at].node == self->node) {
            self->store->used_bytes -= self->node->bytes.size;
            hd_memory_folder_remove(&parent->now, at);
        }
        pthread_mutex_unlock(&self->store->lock);
    }
    output_release(self);
}

static const struct hd_output_file_ops OUTPUT_OPS = {output_write, output_sync, output_close,
                                                     output_abort};

/* An output to a node that is still to be set. */
static hudi_status output_new(struct hd_op *op, hd_file_system *fs, const char *path,
                              struct memory_output **out)
{
    hd_output_file *file;
    char *own_path;

    HD_TRY(hd_strdup(op, path, &own_path));
    const hudi_status status =
        hd_output_file_init(op, sizeof(struct memory_output), &OUTPUT_OPS, path, &file);
    if (status != HUDI_OK) {
        hd_free(op, own_path);
        return status;
    }
    *out = (struct memory_output *)file;
    (*out)->fs = fs;
    (*out)->store = hd_memory_store_of(fs);
    (*out)->own_path = own_path;
    return HUDI_OK;
}

static void output_drop(struct hd_op *op, struct memory_output *self)
{
    hd_free(op, self->own_path);
    hd_output_file_release(&self->file);
}

hudi_status hd_memory_open_output(struct hd_op *op, hd_file_system *fs, const char *path,
                                  bool exclusive, hd_output_file **out)
{
    struct memory_store *store = hd_memory_store_of(fs);
    struct memory_output *self;

    HD_TRY(output_new(op, fs, path, &self));
    pthread_mutex_lock(&store->lock);
    const hudi_status status = hd_memory_create_node(op, store, path, exclusive, &self->node);
    pthread_mutex_unlock(&store->lock);
    if (status != HUDI_OK) {
        output_drop(op, self);
        return status;
    }
    *out = &self->file;
    return HUDI_OK;
}

hudi_status hd_memory_open_append(struct hd_op *op, hd_file_system *fs, const char *path,
                                  uint64_t size_bytes, hd_output_file **out)
{
    struct memory_store *store = hd_memory_store_of(fs);
    hudi_status status = HUDI_OK;
    struct memory_output *self;

    HD_TRY(output_new(op, fs, path, &self));
    pthread_mutex_lock(&store->lock);
    struct memory_node *const node = hd_memory_find(store, path, strlen(path));
    if (node == NULL)
        status = HUDI_NOT_FOUND;
    else if (node->is_dir || node->bytes.size != size_bytes)
        status = HUDI_CONFLICT;
    else
        node->n_references++;
    pthread_mutex_unlock(&store->lock);
    if (status != HUDI_OK) {
        output_drop(op, self);
        return status;
    }
    self->node = node;
    self->appends = true;
    self->start = (size_t)size_bytes;
    *out = &self->file;
    return HUDI_OK;
}
