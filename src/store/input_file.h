/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HD_STORE_INPUT_FILE_H
#define HD_STORE_INPUT_FILE_H

#include <stdint.h>

#include "base/op.h"

/** An open file of fixed size. Reads may come from several threads at once. */
typedef struct hd_input_file hd_input_file;

uint64_t hd_input_file_size(const hd_input_file *file);
const char *hd_input_file_path(const hd_input_file *file);

/** Exactly `n` bytes at `offset`; HUDI_CORRUPT when the file ends before, HUDI_IO. */
hudi_status hd_input_file_read_at(struct hd_op *op, hd_input_file *file, uint64_t offset,
                                  void *into, uint64_t n);

/** Takes NULL. */
void hd_input_file_close(hd_input_file *file);

/** A file over bytes in memory (copied), for tests and fuzzers. */
hudi_status hd_input_file_of_bytes(struct hd_op *op, const void *bytes, size_t n,
                                   hd_input_file **out);

/** `n` bytes of `file` from `offset` on, as a file with the same path. `file` is borrowed: it must
 * outlive the window. @return HUDI_CORRUPT when the file has not that many */
hudi_status hd_input_file_window(struct hd_op *op, hd_input_file *file, uint64_t offset, uint64_t n,
                                 hd_input_file **out);

#endif
