/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_MEMORY_NODE_H
#define HD_STORE_MEMORY_NODE_H

/*
 * The nodes of the file system in memory, for memory*.c alone. Folders and files are nodes; a
 * folder has the entries of now and those of its last sync, a file its bytes of now and those of
 * its last sync; a crash makes the latter the former. Invariants:
 *  1. A node lives as long as an entry (of now or of a sync) or an open file refers to it.
 *  2. Everything under a store is guarded by its lock; the list of stores by memory.c's, which is
 *     taken first.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"
#include "base/str.h"
#include "store/file_system_ops.h"

struct memory_node;

struct memory_entry {
    char *name;
    struct memory_node *node;
};

struct memory_folder {
    struct memory_entry *entries; /* sorted by name */
    size_t n;
    size_t capacity;
};

struct memory_content {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
};

struct memory_node {
    uint32_t n_references;
    bool is_dir;
    bool locked;
    int64_t modified_ms;
    struct memory_folder now;    /* folders */
    struct memory_folder synced; /* folders */
    struct memory_content bytes; /* files */
    struct memory_content synced_bytes;
};

struct memory_store {
    struct memory_store *next;
    char *name;
    char *uri_prefix;
    uint32_t n_handles;
    pthread_mutex_t lock;
    struct memory_node *top;
    uint64_t used_bytes;
    uint64_t capacity_bytes;
};

struct memory_fs {
    hd_file_system fs;
    struct memory_store *store;
};

static inline struct memory_store *hd_memory_store_of(const hd_file_system *fs)
{
    return ((const struct memory_fs *)fs)->store;
}

/** With one reference. */
hudi_status hd_memory_node_new(struct hd_op *op, bool is_dir, struct memory_node **out);
/** Give back a reference. */
void hd_memory_node_release(struct memory_node *node);

/** Where `name` is or would be. */
size_t hd_memory_folder_position(const struct memory_folder *folder, struct hd_slice name,
                                 bool *found);
/** Takes over one reference to `node`, on success only; an entry of that name gives way. */
hudi_status hd_memory_folder_put(struct hd_op *op, struct memory_folder *folder,
                                 struct hd_slice name, struct memory_node *node);
void hd_memory_folder_remove(struct memory_folder *folder, size_t at);
hudi_status hd_memory_folder_copy(struct hd_op *op, const struct memory_folder *from,
                                  struct memory_folder *to);

/** The node of the first `n` bytes of a path, or NULL. */
struct memory_node *hd_memory_find(const struct memory_store *store, const char *path, size_t n);
/** The folder a path is in (NULL when missing) and where its name is there. */
struct memory_node *hd_memory_find_parent(const struct memory_store *store, const char *path,
                                          struct hd_slice *name, size_t *at, bool *found);

/** The file to write to, empty, in its folder; with a reference for the caller. HUDI_EXISTS,
 * HUDI_NOT_FOUND without an error. */
hudi_status hd_memory_create_node(struct hd_op *op, struct memory_store *store, const char *path,
                                  bool exclusive, struct memory_node **out);

/* Of struct hd_file_system_ops, in memory_files.c. */
hudi_status hd_memory_open_input(struct hd_op *op, hd_file_system *fs, const char *path,
                                 hd_input_file **out);
hudi_status hd_memory_open_output(struct hd_op *op, hd_file_system *fs, const char *path,
                                  bool exclusive, hd_output_file **out);
hudi_status hd_memory_open_append(struct hd_op *op, hd_file_system *fs, const char *path,
                                  uint64_t size_bytes, hd_output_file **out);

#endif
