/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_FILE_SYSTEM_OPS_H
#define HD_STORE_FILE_SYSTEM_OPS_H

#include "store/file_system.h"

/*
 * What an implementation of file_system.h fills in; for src/store alone. file_system.c dispatches,
 * puts a fault point before each call (so implementations have none, but for the loops inside
 * delete_tree and make_dirs), names the path in errors, and builds publish and replace from these
 * steps. Here HUDI_NOT_FOUND and HUDI_EXISTS never come with an error.
 */

struct hd_input_file_ops {
    /** `offset + n` is within the file's size. */
    hudi_status (*read_at)(struct hd_op *op, hd_input_file *file, uint64_t offset, void *into,
                           uint64_t n);
    /** Release what the implementation holds, and the struct itself. */
    void (*close)(hd_input_file *file);
};

/* First member of each implementation's own struct. */
struct hd_input_file {
    const struct hd_input_file_ops *ops;
    uint64_t size;
    char *path;
};

struct hd_output_file_ops {
    hudi_status (*write)(struct hd_op *op, hd_output_file *file, const void *bytes, uint64_t n);
    hudi_status (*sync)(struct hd_op *op, hd_output_file *file);
    /** Flush and close; releases the struct whatever it returns. */
    hudi_status (*close)(struct hd_op *op, hd_output_file *file);
    /** Close, delete (of one that was written on: cut back) unless `keep` (a simulated crash),
     * release the struct. */
    void (*abort)(hd_output_file *file, bool keep);
};

struct hd_output_file {
    const struct hd_output_file_ops *ops;
    uint64_t position;
    char *path;
    struct hd_faults *faults; /* of the op that opened it: abort has none */
};

struct hd_fs_lock_ops {
    void (*unlock)(struct hd_fs_lock *lock);
};

struct hd_fs_lock {
    const struct hd_fs_lock_ops *ops;
};

struct hd_file_system_ops {
    hudi_status (*stat)(struct hd_op *op, hd_file_system *fs, const char *path,
                        struct hd_file_info *out);
    hudi_status (*list)(struct hd_op *op, hd_file_system *fs, const char *dir,
                        struct hd_arena *arena, struct hd_file_info **out, size_t *n);
    /** Sizes and times are not wanted. NULL: `list` does it. */
    hudi_status (*list_names)(struct hd_op *op, hd_file_system *fs, const char *dir,
                              struct hd_arena *arena, struct hd_file_info **out, size_t *n);
    hudi_status (*open_input)(struct hd_op *op, hd_file_system *fs, const char *path,
                              hd_input_file **out);
    hudi_status (*open_output)(struct hd_op *op, hd_file_system *fs, const char *path,
                               bool exclusive, hd_output_file **out);
    /** HUDI_CONFLICT without an error when it has another size. NULL: files cannot be written on.
     */
    hudi_status (*open_append)(struct hd_op *op, hd_file_system *fs, const char *path,
                               uint64_t size_bytes, hd_output_file **out);
    /** `replace`: an old `to` gives way in the same step, else it is HUDI_EXISTS. */
    hudi_status (*rename)(struct hd_op *op, hd_file_system *fs, const char *from, const char *to,
                          bool replace);
    hudi_status (*delete_file)(struct hd_op *op, hd_file_system *fs, const char *path);
    hudi_status (*delete_tree)(struct hd_op *op, hd_file_system *fs, const char *dir);
    hudi_status (*make_dirs)(struct hd_op *op, hd_file_system *fs, const char *dir);
    hudi_status (*sync_dir)(struct hd_op *op, hd_file_system *fs, const char *dir);
    /** One attempt; HUDI_CONFLICT without an error when held. NULL: no locks here. */
    hudi_status (*try_lock)(struct hd_op *op, hd_file_system *fs, const char *path,
                            struct hd_fs_lock **out);
    void (*free)(hd_file_system *fs);
};

struct hd_file_system {
    const struct hd_file_system_ops *ops;
    const char *scheme;     /* static or the implementation's */
    const char *uri_prefix; /* what stands before a path in a URI: "file:", "memory:NAME" */
    bool has_crc;           /* Hadoop keeps `.NAME.crc` here */
    bool put_is_atomic;     /* object store: a file appears whole when closed, no rename needed */
};

/** Local disk; paths are the system's own. */
hudi_status hd_posix_file_system_new(struct hd_op *op, hd_file_system **out);

/** A file system of Arrow for the scheme of `uri` (s3, gs, abfs, hdfs, ...; "arrow+file" is its
 * local disk, for tests), and the path in it. @return HUDI_NOT_IMPLEMENTED naming a scheme that the
 * Arrow at hand does not carry */
hudi_status hd_arrow_file_system_new(struct hd_op *op, const char *uri, hd_file_system **out,
                                     char **out_path);

/** An input file's struct of `n_bytes` with the path copied, ops set. */
hudi_status hd_input_file_init(struct hd_op *op, size_t n_bytes,
                               const struct hd_input_file_ops *ops, const char *path, uint64_t size,
                               hd_input_file **out);
void hd_input_file_release(hd_input_file *file);

hudi_status hd_output_file_init(struct hd_op *op, size_t n_bytes,
                                const struct hd_output_file_ops *ops, const char *path,
                                hd_output_file **out);
void hd_output_file_release(hd_output_file *file);

/** An open file of the local disk; `fd` is taken on success. */
hudi_status hd_posix_input_of(struct hd_op *op, int fd, const char *path, uint64_t n_bytes,
                              hd_input_file **out);

/** Last part of a path. */
const char *hd_path_name(const char *path);

/** The folder a path is in ("/" for the top). Fresh string. */
hudi_status hd_path_parent(struct hd_op *op, const char *path, char **out);

/** Sort entries by name, as hd_fs_list() promises. */
void hd_file_info_sort(struct hd_file_info *infos, size_t n);

#endif
