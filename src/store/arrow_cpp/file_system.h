/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_ARROW_CPP_FILE_SYSTEM_H
#define HD_STORE_ARROW_CPP_FILE_SYSTEM_H

/*
 * Arrow's file systems (file_system.cc) for store/arrow_file_system.c, readable by C and C++ like
 * bridge.h. Paths are as hd_file_system has them, "/bucket/key". Not found is HUDI_NOT_FOUND
 * without an error.
 */

#include "bridge.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hd_arrow_info {
    uint64_t size_bytes;
    int64_t modified_ms;
    bool is_dir;
};

/** HUDI_NOT_IMPLEMENTED when Arrow has no file system of that scheme. */
hudi_status hd_arrow_fs_open(struct hd_op *op, const char *uri, void **self);
void hd_arrow_fs_free(void *self);
/** The path of the URI; belongs to `self`. */
const char *hd_arrow_fs_path(const void *self);

hudi_status hd_arrow_fs_stat(struct hd_op *op, void *self, const char *path,
                             struct hd_arrow_info *out);

/** Calls `entry` for each until it fails. */
hudi_status hd_arrow_fs_list(struct hd_op *op, void *self, const char *dir, void *argument,
                             hudi_status (*entry)(struct hd_op *op, void *argument,
                                                  const char *name,
                                                  const struct hd_arrow_info *info));

hudi_status hd_arrow_input_open(struct hd_op *op, void *self, const char *path, uint64_t *size,
                                void **out);
hudi_status hd_arrow_input_read_at(struct hd_op *op, void *file, uint64_t offset, void *into,
                                   uint64_t n);
void hd_arrow_input_close(void *file);

hudi_status hd_arrow_output_open(struct hd_op *op, void *self, const char *path, void **out);
/** Behind what is in the file. */
hudi_status hd_arrow_output_append(struct hd_op *op, void *self, const char *path, void **out);
hudi_status hd_arrow_output_write(struct hd_op *op, void *file, const void *bytes, uint64_t n);
/** Frees `file` in any case. */
hudi_status hd_arrow_output_close(struct hd_op *op, void *file);
void hd_arrow_output_abort(void *file);

hudi_status hd_arrow_fs_rename(struct hd_op *op, void *self, const char *from, const char *to);
hudi_status hd_arrow_fs_delete_file(struct hd_op *op, void *self, const char *path);
hudi_status hd_arrow_fs_delete_tree(struct hd_op *op, void *self, const char *path);
hudi_status hd_arrow_fs_make_dirs(struct hd_op *op, void *self, const char *path);

#ifdef __cplusplus
}
#endif
#endif
