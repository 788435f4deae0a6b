/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_FILE_SYSTEM_H
#define HD_STORE_FILE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/op.h"
#include "base/str.h"
#include "store/input_file.h"
#include "store/output_file.h"

/**
 * Where tables live. Implementations: posix.c (local disk), memory.c (tests: fault injection, crash
 * that drops what was not synced), arrow_cpp/file_system.cc (s3, gs, abfs, hdfs). Paths are
 * absolute within the file system, "/" separated, without trailing slash. All calls may be made
 * from several threads at once.
 *
 * Durability: a file is durable after hd_output_file_close() with sync, its name after
 * hd_fs_sync_dir() of its folder; hd_fs_publish(), hd_fs_replace() and hd_fs_make_dirs() include
 * both.
 *
 * Hadoop's local file system keeps a checksum `.NAME.crc` beside NAME and verifies it on read:
 * whatever writes, replaces or deletes NAME here removes a stale `.NAME.crc` with it.
 */
typedef struct hd_file_system hd_file_system;

struct hd_file_info {
    const char *name; /* last part of the path */
    uint64_t size_bytes;
    int64_t modified_ms; /* wall clock, since the epoch */
    bool is_dir;
};

/** Temporary files of hd_fs_publish() and hd_fs_replace() are called this and a UUID. One that a
 * dead process left behind is nothing to any reader and may be deleted. */
#define HD_TEMPORARY_PREFIX ".tmp-"

/** The file system of a URI or local path, and the path within it (in a fresh string).
 * "memory:NAME" is the in-memory one of that name, "file:" or no scheme the local disk (made
 * absolute).
 * @return HUDI_NOT_IMPLEMENTED for a scheme that this build does not carry, naming it. */
hudi_status hd_fs_open(struct hd_op *op, const char *uri, hd_file_system **out, char **out_path);
void hd_fs_free(hd_file_system *fs);

/** "file", "memory", "s3", ...; Hudi's rules depend on it (appending, marker types). */
const char *hd_fs_scheme(const hd_file_system *fs);

/** The full URI of a path ("file:/a/b"), as Hudi writes it into plans. Fresh string. */
hudi_status hd_fs_uri(struct hd_op *op, const hd_file_system *fs, const char *path, char **out);

/** @return HUDI_NOT_FOUND (no error set). `name` points into `path`. */
hudi_status hd_fs_stat(struct hd_op *op, hd_file_system *fs, const char *path,
                       struct hd_file_info *out);

/** Entries of a folder sorted by name, in the arena. HUDI_NOT_FOUND (no error set) when absent. */
hudi_status hd_fs_list(struct hd_op *op, hd_file_system *fs, const char *dir,
                       struct hd_arena *arena, struct hd_file_info **out, size_t *n);

/** As hd_fs_list(), but sizes and times may be 0: for walking folders. Local disk knows what is a
 * folder without looking at each file. */
hudi_status hd_fs_list_names(struct hd_op *op, hd_file_system *fs, const char *dir,
                             struct hd_arena *arena, struct hd_file_info **out, size_t *n);

/** @return HUDI_NOT_FOUND with an error that names the file. */
hudi_status hd_fs_open_input(struct hd_op *op, hd_file_system *fs, const char *path,
                             hd_input_file **out);

/** The whole file, at most `max_bytes` (HUDI_CORRUPT beyond), with a NUL behind it. HUDI_NOT_FOUND
 * sets no error. Free with hd_free(). */
hudi_status hd_fs_read_file(struct hd_op *op, hd_file_system *fs, const char *path,
                            uint64_t max_bytes, uint8_t **out, size_t *n);

/** A new file; HUDI_EXISTS when `exclusive` and there is one, else it is truncated. */
hudi_status hd_fs_open_output(struct hd_op *op, hd_file_system *fs, const char *path,
                              bool exclusive, hd_output_file **out);

/** Whether files that are there can be written on. Object stores cannot. */
bool hd_fs_can_append(const hd_file_system *fs);

/** A file that is there and has `size_bytes` bytes, to write behind them: what is written shows
 * piece by piece. hd_output_file_position() starts there; hd_output_file_abort() takes away what
 * was written, where the store can. @return HUDI_CONFLICT (no error set) when it has another size;
 * HUDI_NOT_FOUND (no error set); HUDI_NOT_IMPLEMENTED where hd_fs_can_append() says no */
hudi_status hd_fs_open_append(struct hd_op *op, hd_file_system *fs, const char *path,
                              uint64_t size_bytes, hd_output_file **out);

/** Create a file with content in one visible step (temporary name, sync, rename without replacing,
 * folder sync); HUDI_EXISTS (no error set) when the name is taken, and nothing is changed. Readers
 * see all of it or nothing. */
hudi_status hd_fs_publish(struct hd_op *op, hd_file_system *fs, const char *path, const void *bytes,
                          size_t n);

/** Write a file's new content in one visible step, replacing an old one. */
hudi_status hd_fs_replace(struct hd_op *op, hd_file_system *fs, const char *path, const void *bytes,
                          size_t n);

/** Whether a new file shows only when it is closed, and then whole: no need to write it under
 * another name first. */
bool hd_fs_shows_whole_files(const hd_file_system *fs);

/** @return HUDI_EXISTS when `to` exists (nothing changed), HUDI_NOT_FOUND. */
hudi_status hd_fs_rename(struct hd_op *op, hd_file_system *fs, const char *from, const char *to);

/** HUDI_NOT_FOUND (no error set) when there was nothing. */
hudi_status hd_fs_delete_file(struct hd_op *op, hd_file_system *fs, const char *path);

/** A folder and all below it; HUDI_OK when absent. */
hudi_status hd_fs_delete_tree(struct hd_op *op, hd_file_system *fs, const char *dir);

/** With parents; HUDI_OK when there already. New names are durable. */
hudi_status hd_fs_make_dirs(struct hd_op *op, hd_file_system *fs, const char *dir);

hudi_status hd_fs_sync_dir(struct hd_op *op, hd_file_system *fs, const char *dir);

/**
 * An exclusive lock on `path` (made when missing, never deleted) that ends with the process however
 * it dies: the kernel's on local disk. Waits up to `wait_ms`.
 * @return HUDI_CONFLICT (retriable) when another holder kept it; HUDI_NOT_IMPLEMENTED on stores
 *         without such locks.
 */
struct hd_fs_lock;
hudi_status hd_fs_lock(struct hd_op *op, hd_file_system *fs, const char *path, uint64_t wait_ms,
                       struct hd_fs_lock **out);
void hd_fs_unlock(struct hd_fs_lock *lock);

/** "a" + "b" -> "a/b"; an empty part adds no slash. Fresh string. */
hudi_status hd_path_join(struct hd_op *op, const char *a, const char *b, char **out);

#endif
