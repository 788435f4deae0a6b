/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_MEMORY_H
#define HD_STORE_MEMORY_H

#include <stdint.h>

#include "base/op.h"
#include "store/file_system.h"

/**
 * A file system in memory, for tests: "memory:NAME/path". All handles of one name see the same
 * files; they live until hd_memory_drop() or the end of the process. It is as strict about
 * durability as a disk may be: content counts from the file's last sync, names from the last sync
 * of their folder. Faults are injected through the op, as everywhere.
 */
hudi_status hd_memory_file_system_open(struct hd_op *op, const char *name, hd_file_system **out);

/**
 * The machine loses power: every folder goes back to the names it had when it was last synced,
 * every file to its bytes of that time (none, if never), locks are gone. Files still open write
 * into the void.
 */
hudi_status hd_memory_crash(struct hd_op *op, hd_file_system *fs);

/** Writes that would take the store beyond `n_bytes` of current content fail as on a full disk. */
void hd_memory_set_capacity(hd_file_system *fs, uint64_t n_bytes);

/** Forget the files of `name`; its handles must be freed already. */
void hd_memory_drop(const char *name);

#endif
